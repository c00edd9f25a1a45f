//! The processor status register, as far as performance monitors use it.

use crate::layout::layout;

layout! {
    /// PSR, the processor status register (Itanium Architecture Software Developer's Manual, volume 2, section 3.3.2; Montecito manual,
    /// Figure 3-10). [`Context::machine_state`](crate::feed::Context::machine_state) holds it.
    ///
    /// ```
    /// use vm_pmu_arch::feed::Context;
    /// use vm_pmu_arch::ia64::Psr;
    ///
    /// let mut psr = Psr::default();
    /// psr.set_up(true);
    /// psr.set_cpl(3);
    /// assert_eq!(Context::ia64(psr.bits(), 0).privilege, 3);
    /// ```
    pub struct Psr {
        /// user monitors are enabled
        "up" => up / set_up: bool = 2;
        /// interruptions collect their state
        "ic" => ic / set_ic: bool = 13;
        /// external interrupts are taken
        "i" => i / set_i: bool = 14;
        /// reads of PMDs at levels above 0 return zero
        "sp" => sp / set_sp: bool = 20;
        /// privileged monitors are enabled
        "pp" => pp / set_pp: bool = 21;
        /// breakpoint registers raise debug faults
        "db" => db / set_db: bool = 24;
        /// current privilege level
        "cpl" => cpl / set_cpl: u8 = 33..32;
        /// instructions are of IA-32
        "is" => is / set_is: bool = 34;
    }
}

impl Psr {
    /// The register that holds `bits`, including those that do not matter here.
    #[must_use]
    pub const fn of(bits: u64) -> Psr {
        Psr(bits)
    }
}
