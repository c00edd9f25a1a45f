//! The instructions that reach a PMU's registers, by the name the guest knows them by.

use vm_pmu_arch::access::{Address, Fault};

use crate::irq::InterruptLine;
use crate::topology::Thread;

impl<L: InterruptLine> Thread<'_, L> {
    /// RDMSR: the value of model-specific register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    pub fn rdmsr(&self, number: u32) -> Result<u64, Fault> {
        self.read(Address::Msr(number))
    }

    /// WRMSR: writes `value` to model-specific register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    pub fn wrmsr(&self, number: u32, value: u64) -> Result<(), Fault> {
        self.write(Address::Msr(number), value)
    }

    /// RDPMC: the counter that `ecx` names.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    pub fn rdpmc(&self, ecx: u32) -> Result<u64, Fault> {
        self.read(Address::Rdpmc(ecx))
    }
}
