//! Guests that are the same on every x86 part, and what they must know of a part.
//!
//! Each part has that in its `part.rs`, and lists the guests with `for_part!`.

pub(crate) mod clock;
pub(crate) mod nmi_watchdog;
pub(crate) mod profile;
pub(crate) mod ticker;
pub(crate) mod user_rdpmc;

use iced_x86::code_asm::{rax, rcx, rdx};

use crate::runtime::{APIC_EOI, APIC_LVT_PERFORMANCE, Built, Kernel, LVT_NMI};

/// In the selection of a counter: count ring 3, count ring 0, interrupt at an overflow, count at all.
pub(crate) const USR: u64 = 1 << 16;
pub(crate) const OS: u64 = 1 << 17;
pub(crate) const INT: u64 = 1 << 20;
pub(crate) const EN: u64 = 1 << 22;

/// The event of retired instructions.
pub(crate) const INSTRUCTIONS: u64 = 0xC0;

/// A part.
pub(crate) struct Part {
    /// The MSR of the selection of counter 0; those of other counters follow.
    pub(crate) select: u32,
    /// The MSR of counter 0; those of other counters follow.
    pub(crate) counter: u32,
    /// How many bits a counter has.
    pub(crate) width: u32,
    /// Where overflows are shown. A part that shows them also masks the entry of the local vector table when it delivers.
    pub(crate) status: Option<Status>,
    /// What `clock` counts.
    pub(crate) clock: clock::Cycles,
    /// What `nmi-watchdog` uses.
    pub(crate) watchdog: nmi_watchdog::Watchdog,
    /// What `user-rdpmc` reads.
    pub(crate) rdpmc: user_rdpmc::Rdpmc,
}

/// The registers of overflows, with a bit for each counter.
pub(crate) struct Status {
    /// The MSR that shows them.
    pub(crate) shown: u32,
    /// The MSR that clears what is written as one.
    pub(crate) clear: u32,
}

impl Part {
    /// The value of a counter that wraps after `n`.
    pub(crate) const fn before_overflow(&self, n: u64) -> u64 {
        n.wrapping_neg() & (u64::MAX >> (64 - self.width))
    }

    /// Enables counter `n`: the WRMSR is the first instruction it counts.
    pub(crate) fn enable(&self, k: &mut Kernel, n: u32, select: u64) -> Built<()> {
        k.wrmsr(self.select + n, select | EN)
    }

    /// Disables counter `n`: it counts the three instructions that load the registers of the WRMSR, not the WRMSR.
    pub(crate) fn disable(&self, k: &mut Kernel, n: u32, select: u64) -> Built<()> {
        k.wrmsr(self.select + n, select & !EN)
    }

    /// Has the entry of the local vector table deliver NMIs again, where delivery masks it. Two instructions there, else none.
    pub(crate) fn unmask(&self, k: &mut Kernel) -> Built<()> {
        if self.status.is_some() { k.apic(APIC_LVT_PERFORMANCE, LVT_NMI) } else { Ok(()) }
    }
}

/// The end of a handler for `vector` that began by pushing RAX, RCX and RDX: an NMI needs no end-of-interrupt.
pub(crate) fn leave(k: &mut Kernel, vector: u8) -> Built<()> {
    if vector != 2 {
        k.apic(APIC_EOI, 0)?;
    }
    k.a.pop(rdx)?;
    k.a.pop(rcx)?;
    k.a.pop(rax)?;
    k.a.iretq()
}

/// Gives a part the guests of these modules.
macro_rules! for_part {
    ($($module:ident)+) => {
        $(
            mod $module {
                use crate::runtime::Built;
                use vm_pmu_engines::x86::Image;

                pub(super) fn build() -> Built<Image> {
                    crate::x86::$module::build(&super::PART)
                }
            }
        )+
    };
}
pub(crate) use for_part;
