//! The instructions of the Power ISA: mfspr and mtspr, those of the branch history rolling buffer, and those of POWER9's instruction match array.

use vm_pmu_arch::access::{Address, Fault};

use super::view;
use crate::irq::InterruptLine;

view! {
    /// The PMU's registers as POWER's instructions reach them, at the privilege of the thread's [context](crate::Context).
    ///
    /// ```
    /// use vm_pmu::arch::power9::spr;
    /// use vm_pmu::irq::Unconnected;
    /// use vm_pmu::{Builder, Context, Signal};
    ///
    /// let machine = Builder::new("power9").unwrap().build(Unconnected).unwrap();
    /// let thread = machine.thread(0).unwrap();
    /// // MSR[HV], and a run latch of 1.
    /// thread.set_context(Context::power(1 << 60, 1));
    /// let registers = thread.power();
    /// // Nothing is frozen: PMC5 counts instructions.
    /// registers.mtspr(spr::MMCR0, 0).unwrap();
    /// thread.totals().add(Signal::InstructionsRetired, 3);
    /// assert_eq!(registers.mfspr(spr::PMC1 + 4), Ok(3));
    /// registers.clrbhrb().unwrap();
    /// assert_eq!(registers.mfbhrbe(0), Ok(0));
    /// ```
    PowerRegisters,
    /// The registers as POWER's instructions reach them.
    power
}

impl<L: InterruptLine> PowerRegisters<'_, L> {
    /// mfspr: the value of special-purpose register `number`. The number decides which privilege the guest needs: the numbers for problem
    /// state are 16 below the privileged ones.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    #[inline]
    pub fn mfspr(&self, number: u16) -> Result<u64, Fault> {
        self.0.read(Address::Spr(number))
    }

    /// mtspr: writes `value` to special-purpose register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    #[inline]
    pub fn mtspr(&self, number: u16, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Spr(number), value)
    }

    /// mfbhrbe: entry `number` of the branch history rolling buffer, 0 being the latest.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    #[inline]
    pub fn mfbhrbe(&self, number: u16) -> Result<u64, Fault> {
        self.0.read(Address::Bhrb(number))
    }

    /// clrbhrb: empties the branch history rolling buffer.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then the buffer keeps what it has.
    #[inline]
    pub fn clrbhrb(&self) -> Result<(), Fault> {
        self.0.write(Address::Bhrb(0), 0)
    }

    /// mfimc: the instruction match array.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    #[inline]
    pub fn mfimc(&self) -> Result<u64, Fault> {
        self.0.read(Address::Imc)
    }

    /// mtimc: writes `value` to the instruction match array. [`Thread::instruction_match`](crate::Thread::instruction_match) returns what it
    /// now matches.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; then nothing is written.
    #[inline]
    pub fn mtimc(&self, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Imc, value)
    }
}
