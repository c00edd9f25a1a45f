//! The hooks of the engine.

use vm_pmu::Countdown;

use super::apic::Apic;
use super::paging::PageWalk;
use super::state::Core;
use super::step::Step;
use crate::blocks::{Facts, Sums};

/// A general-protection fault with error code 0: the result of an invalid register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gp;

/// What an observer asks for after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alerts {
    /// Deliver the performance-counter interrupt as this CPU's LVT says, before the next
    /// instruction.
    pub performance_interrupt: bool,
    /// Stop the machine with [`Exit::Observer`](super::Exit::Observer).
    pub stop: bool,
    /// How many cycles the step took, instead of [`Step::cycles`]; 0 for one that ran in parallel with the step before it. All of the
    /// engine's clocks follow. Without meaning after halted cycles.
    pub cycles: Option<u32>,
}

impl Alerts {
    /// Nothing.
    pub const NONE: Self = Self { performance_interrupt: false, stop: false, cycles: None };
    /// The performance-counter interrupt.
    pub const PERFORMANCE_INTERRUPT: Self = Self { performance_interrupt: true, ..Self::NONE };

    #[inline]
    pub(crate) fn any(self) -> bool {
        self.performance_interrupt | self.stop | self.cycles.is_some()
    }
}

/// A read-only view of one CPU.
#[derive(Clone, Copy)]
pub struct CpuView<'a> {
    core: &'a Core,
}

impl std::fmt::Debug for CpuView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuView")
            .field("index", &self.index())
            .field("rip", &format_args!("{:#x}", self.rip()))
            .field("rflags", &format_args!("{:#x}", self.rflags()))
            .field("cpl", &self.cpl())
            .field("gpr", &format_args!("{:x?}", &self.core.gpr[..16]))
            .finish_non_exhaustive()
    }
}

impl<'a> CpuView<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        Self { core }
    }

    /// Number of the CPU, which is its APIC ID.
    #[must_use]
    pub fn index(&self) -> usize {
        self.core.index
    }

    /// Current privilege level, 0 or 3 (or what the guest's descriptors say).
    #[must_use]
    pub fn cpl(&self) -> u8 {
        self.core.cpl
    }

    /// RIP; up to [`Observer::retire`] that of the current step.
    #[must_use]
    pub fn rip(&self) -> u64 {
        self.core.rip
    }

    /// RFLAGS.
    #[must_use]
    pub fn rflags(&self) -> u64 {
        self.core.rflags
    }

    /// RFLAGS.IF.
    #[must_use]
    pub fn interrupts_enabled(&self) -> bool {
        self.core.rflags & super::flags::IF != 0
    }

    /// Whether the CPU waits in HLT.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.core.halted
    }

    /// A general-purpose register by its encoding: 0 RAX, 1 RCX, 2 RDX, 3 RBX, 4 RSP, 5 RBP,
    /// 6 RSI, 7 RDI, 8 to 15 R8 to R15. Other numbers read as 0.
    #[must_use]
    pub fn gpr(&self, number: usize) -> u64 {
        if number < 16 { self.core.gpr[number] } else { 0 }
    }

    /// The low 128 bits of XMM register `number`; numbers above 15 read as 0.
    #[must_use]
    pub fn xmm(&self, number: usize) -> u128 {
        self.core.xmm.get(number).copied().unwrap_or(0)
    }

    /// A segment selector: 0 ES, 1 CS, 2 SS, 3 DS, 4 FS, 5 GS. Other numbers read as 0.
    #[must_use]
    pub fn selector(&self, number: usize) -> u16 {
        self.core.seg.get(number).map_or(0, |s| s.selector)
    }

    /// CR0.
    #[must_use]
    pub fn cr0(&self) -> u64 {
        self.core.cr0
    }

    /// CR2, the address of the last page fault.
    #[must_use]
    pub fn cr2(&self) -> u64 {
        self.core.cr2
    }

    /// CR3.
    #[must_use]
    pub fn cr3(&self) -> u64 {
        self.core.cr3
    }

    /// CR4.
    #[must_use]
    pub fn cr4(&self) -> u64 {
        self.core.cr4
    }

    /// CR8, the task priority.
    #[must_use]
    pub fn cr8(&self) -> u64 {
        self.core.apic.cr8()
    }

    /// EFER.
    #[must_use]
    pub fn efer(&self) -> u64 {
        self.core.msrs.efer
    }

    /// Cycles since the start, halted ones included. Up to [`Observer::retire`] the current step's
    /// are not in it yet.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.core.cycles
    }

    /// The time-stamp counter.
    #[must_use]
    pub fn tsc(&self) -> u64 {
        self.core.tsc()
    }

    /// How the guest's page tables translate `address`, whatever the access rights; `None` where nothing is mapped. This changes nothing:
    /// no accessed or dirty bit, no fault, no cached translation.
    #[must_use]
    pub fn page_walk(&self, address: u64) -> Option<PageWalk> {
        self.core.page_walk(address)
    }

    /// The eight bytes of RAM at `address`, as the guest's page tables translate it; `None` where there are none, or they are not aligned.
    /// This changes nothing either.
    #[must_use]
    pub fn peek(&self, address: u64) -> Option<u64> {
        let walk = self.page_walk(address).filter(|_| address.is_multiple_of(8))?;
        let mut bytes = [0; 8];
        self.core.shared.memory.read_bytes(walk.physical, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// The local APIC.
    #[must_use]
    pub fn apic(&self) -> &'a Apic {
        &self.core.apic
    }
}

/// Watches one CPU, and takes the place of its performance monitoring unit.
///
/// Order within a step: the register hook of the instruction, if any; then [`Observer::retire`];
/// then, if CPL, IF, CR4 or the halted state changed, [`Observer::context`]. A step therefore
/// belongs to the context in force when it started.
pub trait Observer: Send {
    /// RDMSR at CPL 0, before the engine's own registers. `None` leaves the access to the engine.
    fn rdmsr(&mut self, msr: u32, cpu: &CpuView<'_>) -> Option<Result<u64, Gp>> {
        let _ = (msr, cpu);
        None
    }

    /// WRMSR at CPL 0, before the engine's own registers. `None` leaves the access to the engine.
    fn wrmsr(&mut self, msr: u32, value: u64, cpu: &CpuView<'_>) -> Option<Result<(), Gp>> {
        let _ = (msr, value, cpu);
        None
    }

    /// RDPMC at any CPL: the observer itself checks CR4.PCE against the CPL.
    ///
    /// # Errors
    ///
    /// [`Gp`] raises #GP(0) in the guest.
    fn rdpmc(&mut self, ecx: u32, cpu: &CpuView<'_>) -> Result<u64, Gp> {
        let _ = (ecx, cpu);
        Err(Gp)
    }

    /// CPL, the halted state, RFLAGS.IF or CR4 changed. Also called once at the start.
    fn context(&mut self, cpu: &CpuView<'_>) {
        let _ = cpu;
    }

    /// A step is complete. Registers and memory are as the step left them, RIP and the cycles as it found them.
    #[inline]
    fn retire(&mut self, step: &Step, cpu: &CpuView<'_>) -> Alerts {
        let _ = (step, cpu);
        Alerts::NONE
    }

    /// The countdown of how many instructions may be reported together, by [`Observer::ran`]; none if each is to be reported by itself.
    /// Those instructions transfer control to no handler, access no device and no register that [`Observer::rdmsr`] and its like handle,
    /// and the context stays as it is.
    fn headroom(&mut self, cpu: &CpuView<'_>) -> Option<Countdown> {
        let _ = cpu;
        None
    }

    /// What `steps`, one after the other, add besides what the countdown counts; none if each is to be reported by itself. Their accesses
    /// are unknown, only their number is known.
    fn facts(&self, steps: &[Step]) -> Option<Facts> {
        let _ = steps;
        Some(Facts::default())
    }

    /// The edition of [`Observer::facts`]: facts of another number are no longer valid.
    fn edition(&self) -> u32 {
        0
    }

    /// Instructions ran, as many as were taken off the countdown, and their facts add up to `sums`. RIP and the cycles are as before the first.
    fn ran(&mut self, countdown: &Countdown, sums: &Sums, cpu: &CpuView<'_>) {
        let _ = (countdown, sums, cpu);
    }

    /// `cycles` cycles elapsed in HLT.
    fn halted_cycles(&mut self, cycles: u64) -> Alerts {
        let _ = cycles;
        Alerts::NONE
    }

    /// How many halted cycles may elapse before [`Observer::halted_cycles`] must be called because it could raise an alert; `None` when
    /// halted cycles never do.
    fn halt_deadline(&self) -> Option<u64> {
        None
    }
}

/// The observer that watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn headroom(&mut self, _cpu: &CpuView<'_>) -> Option<Countdown> {
        let countdown = Countdown::new();
        countdown.grant(Countdown::MOST);
        Some(countdown)
    }
}
