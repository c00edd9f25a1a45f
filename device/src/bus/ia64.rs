//! The instructions of IA-64: moves from and to indexed register files (Itanium Architecture Software Developer's Manual, volume 3, mov
//! indirect register). The index is a whole general register, whose bits 7:0 name the register.
//!
//! The embedder first checks for a NaT in a source register, and for PSR.vm.

use vm_pmu_arch::access::{Address, Fault};

use super::view;
use crate::irq::InterruptLine;

/// What an index register names.
const fn named(index: u64) -> u8 {
    (index & 0xFF) as u8
}

view! {
    /// The PMU's registers as IA-64's instructions reach them, at the privilege level of the thread's [context](crate::Context).
    ///
    /// ```
    /// use vm_pmu::arch::montecito::Pmc;
    /// use vm_pmu::irq::Unconnected;
    /// use vm_pmu::{Builder, Context, Fault, Signal};
    ///
    /// let machine = Builder::new("montecito").unwrap().build(Unconnected).unwrap();
    /// let thread = machine.thread(0).unwrap();
    /// // PSR.up.
    /// thread.set_context(Context::ia64(1 << 2, 0));
    /// let registers = thread.ia64();
    /// // IA64_INST_RETIRED at every privilege level.
    /// let mut pmc = Pmc::default();
    /// pmc.set_plm(0b1111);
    /// pmc.set_es(0x08);
    /// pmc.set_ism(0b10);
    /// registers.mov_to_pmc(4, pmc.bits()).unwrap();
    /// thread.totals().add(Signal::InstructionsRetired, 3);
    /// assert_eq!(registers.mov_from_pmd(4), Ok(3));
    /// // PSR.cpl is 3.
    /// thread.set_context(Context::ia64(3 << 32 | 1 << 2, 0));
    /// assert_eq!(registers.mov_from_dbr(0), Err(Fault::PrivilegedOperation));
    /// ```
    Ia64Registers,
    /// The registers as IA-64's instructions reach them.
    ia64
}

impl<L: InterruptLine> Ia64Registers<'_, L> {
    /// `mov r1 = pmc[r3]`: the performance monitor configuration register that bits 7:0 of `index` name; 0 where there is none.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index.
    #[inline]
    pub fn mov_from_pmc(&self, index: u64) -> Result<u64, Fault> {
        self.0.read(Address::Pmc(named(index)))
    }

    /// `mov pmc[r3] = r2`: writes `value` to the performance monitor configuration register that bits 7:0 of `index` name; where there is
    /// none, nothing happens.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; then nothing is written.
    #[inline]
    pub fn mov_to_pmc(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Pmc(named(index)), value)
    }

    /// `mov r1 = pmd[r3]`: the performance monitor data register that bits 7:0 of `index` name; 0 where there is none. Allowed at every
    /// privilege level; above level 0 what PSR.sp or a privileged monitor (PMC.pm) hides reads as 0.
    ///
    /// # Errors
    /// The [`Fault`] to deliver, as for every access. The Itanium processors have none here.
    #[inline]
    pub fn mov_from_pmd(&self, index: u64) -> Result<u64, Fault> {
        self.0.read(Address::Pmd(named(index)))
    }

    /// `mov pmd[r3] = r2`: writes `value` to the performance monitor data register that bits 7:0 of `index` name; where there is none,
    /// nothing happens.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; then nothing is written.
    #[inline]
    pub fn mov_to_pmd(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Pmd(named(index)), value)
    }

    /// `mov r1 = ibr[r3]`: the instruction breakpoint register that bits 7:0 of `index` name. It belongs to the debugger, and the
    /// performance monitor matches addresses with it: the PMU keeps it for both.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; [`Fault::ReservedRegisterField`] for an index
    /// beyond the registers of the part.
    #[inline]
    pub fn mov_from_ibr(&self, index: u64) -> Result<u64, Fault> {
        self.0.read(Address::Ibr(named(index)))
    }

    /// `mov ibr[r3] = r2`: writes `value` to the instruction breakpoint register that bits 7:0 of `index` name. The embedder raises the
    /// debug faults that it asks for.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Ia64Registers::mov_from_ibr); then nothing is written.
    #[inline]
    pub fn mov_to_ibr(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Ibr(named(index)), value)
    }

    /// `mov r1 = dbr[r3]`: the data breakpoint register that bits 7:0 of `index` name, which the PMU keeps as it keeps those for
    /// instructions.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Ia64Registers::mov_from_ibr).
    #[inline]
    pub fn mov_from_dbr(&self, index: u64) -> Result<u64, Fault> {
        self.0.read(Address::Dbr(named(index)))
    }

    /// `mov dbr[r3] = r2`: writes `value` to the data breakpoint register that bits 7:0 of `index` name.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Ia64Registers::mov_from_ibr); then nothing is written.
    #[inline]
    pub fn mov_to_dbr(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.0.write(Address::Dbr(named(index)), value)
    }
}
