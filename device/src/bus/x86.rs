//! The instructions of x86: RDMSR, WRMSR and RDPMC.

use vm_pmu_arch::access::{Address, Fault};

use super::view;
use crate::irq::InterruptLine;

view! {
    /// The PMU's registers as x86's instructions reach them, at the privilege level of the thread's [context](crate::Context).
    ///
    /// ```
    /// use vm_pmu::irq::Unconnected;
    /// use vm_pmu::{Builder, Context, Fault, Signal};
    ///
    /// let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
    /// let thread = machine.thread(0).unwrap();
    /// let registers = thread.x86();
    /// // PerfEvtSel0: retired instructions, with EN, OS and USR.
    /// registers.wrmsr(0xC001_0000, 0x0043_00C0).unwrap();
    /// thread.totals().add(Signal::InstructionsRetired, 3);
    /// assert_eq!((registers.rdmsr(0xC001_0004), registers.rdpmc(0)), (Ok(3), Ok(3)));
    /// // The time stamp counter is the emulator's.
    /// assert_eq!(registers.rdmsr(0x10), Err(Fault::Unclaimed));
    /// // CPL 3.
    /// thread.set_context(Context::x86(3, 0x202, 0));
    /// assert_eq!(registers.rdmsr(0xC001_0004), Err(Fault::GeneralProtection));
    /// ```
    X86Registers,
    /// The registers as x86's instructions reach them.
    x86
}

impl<L: InterruptLine> X86Registers<'_, L> {
    /// RDMSR: the value of model-specific register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    #[inline]
    pub fn rdmsr(&self, number: u32) -> Result<u64, Fault> {
        self.0.read(Address::Msr(number))
    }

    /// WRMSR: writes `value` to model-specific register `number`.
    ///
    /// # Errors
    /// The [`Fault`] to deliver; [`Fault::Unclaimed`] when the register is not the PMU's.
    #[inline]
    pub fn wrmsr(&self, number: u32, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Msr(number), value)
    }

    /// RDPMC: the counter that `ecx` names.
    ///
    /// # Errors
    /// The [`Fault`] to deliver.
    #[inline]
    pub fn rdpmc(&self, ecx: u32) -> Result<u64, Fault> {
        self.0.read(Address::Rdpmc(ecx))
    }
}
