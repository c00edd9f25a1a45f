//! The state of the processor that decides what is counted and which accesses are allowed.

/// What a model must know of a hardware thread's state. It is changed by a call, not with every event.
///
/// The words `machine_state` and `control` are the processor's own registers, so an embedder hands over what it has and the model
/// reads the bits its manual names:
///
/// | processor | `privilege` | `machine_state` | `control` |
/// | --- | --- | --- | --- |
/// | x86-64 | CPL | RFLAGS | CR4 |
/// | POWER | 0 hypervisor, 1 privileged, 3 problem state | MSR | [`ThreadControl`](crate::power9::ThreadControl): CTRL and more |
/// | IA-64 | PSR.cpl | PSR | DCR |
///
/// ```
/// use vm_pmu_arch::feed::Context;
///
/// let user = Context::x86(3, 1 << 9, 0);
/// assert_eq!(user.privilege, 3);
/// assert!(user.interrupts_enabled() && !user.rdpmc_enabled());
/// assert!(!user.halted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Context {
    /// The privilege level: 0 is the most privileged.
    pub privilege: u8,
    /// The thread's clock is stopped (HLT, STPCLK): the thread counts nothing. On IA-64 only events of its clock stop, and
    /// POWER9 does not look at it. An embedder tells no [`Cycles`](crate::feed::Signal::Cycles) of the thread meanwhile.
    pub halted: bool,
    /// The core executes this thread, where threads take turns.
    pub foreground: bool,
    /// RFLAGS, MSR or PSR.
    pub machine_state: u64,
    /// CR4, CTRL or DCR.
    pub control: u64,
    /// The value of the guest's time base, less the total of [`Signal::TimeBaseTicks`](crate::feed::Signal::TimeBaseTicks). That total is
    /// always kept, demanded or not. An embedder that leaves ticks out sets the context again before it adds more.
    pub time_base: u64,
}

/// RFLAGS.IF, bit 9: maskable interrupts are enabled (AMD64 Architecture Programmer's Manual, volume 2, section 3.1.6).
const RFLAGS_IF: u64 = 1 << 9;

/// CR4.PCE, bit 8: RDPMC is allowed at every privilege level (the same, section 3.1.3).
const CR4_PCE: u64 = 1 << 8;

/// PSR.cpl, bits 33:32: the current privilege level (Itanium Architecture Software Developer's Manual, volume 2, section 3.3.2).
const PSR_CPL: u32 = 32;

/// MSR\[HV], bit 3: hypervisor state (Power ISA 3.0 Book III, section 3.2.1).
const MSR_HV: u64 = 1 << (63 - 3);

/// MSR\[PR], bit 49: problem state (the same section).
const MSR_PR: u64 = 1 << (63 - 49);

const fn with_bit(register: u64, bit: u64, set: bool) -> u64 {
    if set { register | bit } else { register & !bit }
}

impl Context {
    /// The context of a processor after reset: most privileged, running, in the foreground, all bits clear.
    pub const RESET: Context = Context { privilege: 0, halted: false, foreground: true, machine_state: 0, control: 0, time_base: 0 };

    /// The context of a running x86-64 processor with this CPL, RFLAGS and CR4.
    #[must_use]
    pub const fn x86(cpl: u8, rflags: u64, cr4: u64) -> Context {
        Context { privilege: cpl & 3, machine_state: rflags, control: cr4, ..Context::RESET }
    }

    /// The context of a POWER processor with this MSR and this [`ThreadControl`](crate::power9::ThreadControl) word.
    #[must_use]
    pub const fn power(msr: u64, control: u64) -> Context {
        let privilege = match (msr & MSR_PR != 0, msr & MSR_HV != 0) {
            (true, _) => 3,
            (false, true) => 0,
            (false, false) => 1,
        };
        Context { privilege, machine_state: msr, control, ..Context::RESET }
    }

    /// The context of a running IA-64 processor with this PSR and this DCR, in the foreground.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Context;
    ///
    /// // PSR.cpl is 3.
    /// assert_eq!(Context::ia64(3 << 32, 0).privilege, 3);
    /// ```
    #[must_use]
    pub const fn ia64(psr: u64, dcr: u64) -> Context {
        Context { privilege: (psr >> PSR_CPL) as u8 & 3, machine_state: psr, control: dcr, ..Context::RESET }
    }

    /// The same context in the foreground of its core, or not.
    #[must_use]
    pub const fn with_foreground(self, foreground: bool) -> Context {
        Context { foreground, ..self }
    }

    /// On x86: whether maskable interrupts are enabled, RFLAGS.IF.
    #[must_use]
    pub const fn interrupts_enabled(&self) -> bool {
        self.machine_state & RFLAGS_IF != 0
    }

    /// On x86: whether RDPMC is allowed at every privilege level, CR4.PCE.
    #[must_use]
    pub const fn rdpmc_enabled(&self) -> bool {
        self.control & CR4_PCE != 0
    }

    /// The same context with RFLAGS.IF set or clear.
    #[must_use]
    pub const fn with_interrupts_enabled(self, enabled: bool) -> Context {
        Context { machine_state: with_bit(self.machine_state, RFLAGS_IF, enabled), ..self }
    }

    /// The same context with CR4.PCE set or clear.
    #[must_use]
    pub const fn with_rdpmc_enabled(self, enabled: bool) -> Context {
        Context { control: with_bit(self.control, CR4_PCE, enabled), ..self }
    }

    /// The same context with its clock stopped or running.
    #[must_use]
    pub const fn with_halted(self, halted: bool) -> Context {
        Context { halted, ..self }
    }
}

impl Default for Context {
    fn default() -> Self {
        Context::RESET
    }
}
