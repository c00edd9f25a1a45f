//! The instructions that reach a PMU's registers, by the name the guest knows them by.

mod ia64;

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

    /// mfspr: the value of special-purpose register `number`. The number decides which privilege the guest needs: the numbers for problem
    /// state are 16 below the privileged ones.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    pub fn mfspr(&self, number: u16) -> Result<u64, Fault> {
        self.read(Address::Spr(number))
    }

    /// mtspr: writes `value` to special-purpose register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    pub fn mtspr(&self, number: u16, value: u64) -> Result<(), Fault> {
        self.write(Address::Spr(number), value)
    }

    /// mfbhrbe: entry `number` of the branch history rolling buffer, 0 being the latest.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    pub fn mfbhrbe(&self, number: u16) -> Result<u64, Fault> {
        self.read(Address::Bhrb(number))
    }

    /// clrbhrb: empties the branch history rolling buffer.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then the buffer keeps what it has.
    pub fn clrbhrb(&self) -> Result<(), Fault> {
        self.write(Address::Bhrb(0), 0)
    }

    /// mfimc: the instruction match array.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    pub fn mfimc(&self) -> Result<u64, Fault> {
        self.read(Address::Imc)
    }

    /// mtimc: writes `value` to the instruction match array. [`instruction_match`](Thread::instruction_match) returns what it now matches.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then nothing is written.
    pub fn mtimc(&self, value: u64) -> Result<(), Fault> {
        self.write(Address::Imc, value)
    }
}
