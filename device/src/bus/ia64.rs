//! The instructions of IA-64: moves from and to indexed register files (Itanium Architecture Software Developer's Manual, volume 3, mov
//! indirect register). The index is a whole general register, whose bits 7:0 name the register.
//!
//! The embedder first checks for a NaT in a source register, and for PSR.vm.

use vm_pmu_arch::access::{Address, Fault};

use crate::irq::InterruptLine;
use crate::topology::Thread;

/// What an index register names.
const fn named(index: u64) -> u8 {
    (index & 0xFF) as u8
}

impl<L: InterruptLine> Thread<'_, L> {
    /// `mov r1 = pmc[r3]`: the performance monitor configuration register that bits 7:0 of `index` name; 0 where there is none.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index.
    pub fn mov_from_pmc(&self, index: u64) -> Result<u64, Fault> {
        self.read(Address::Pmc(named(index)))
    }

    /// `mov pmc[r3] = r2`: writes `value` to the performance monitor configuration register that bits 7:0 of `index` name; where there is
    /// none, nothing happens.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; then nothing is written.
    pub fn mov_to_pmc(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.write(Address::Pmc(named(index)), value)
    }

    /// `mov r1 = pmd[r3]`: the performance monitor data register that bits 7:0 of `index` name; 0 where there is none. Allowed at every
    /// privilege level; above level 0 what PSR.sp or a privileged monitor (PMC.pm) hides reads as 0.
    ///
    /// # Errors
    /// The [`Fault`] to deliver, as for every access. The Itanium processors have none here.
    pub fn mov_from_pmd(&self, index: u64) -> Result<u64, Fault> {
        self.read(Address::Pmd(named(index)))
    }

    /// `mov pmd[r3] = r2`: writes `value` to the performance monitor data register that bits 7:0 of `index` name; where there is none,
    /// nothing happens.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; then nothing is written.
    pub fn mov_to_pmd(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.write(Address::Pmd(named(index)), value)
    }

    /// `mov r1 = ibr[r3]`: the instruction breakpoint register that bits 7:0 of `index` name. It belongs to the debugger, and the
    /// performance monitor matches addresses with it: the PMU keeps it for both.
    ///
    /// # Errors
    /// [`Fault::PrivilegedOperation`] at a privilege level above 0, whatever the index; [`Fault::ReservedRegisterField`] for an index
    /// beyond the registers of the part.
    pub fn mov_from_ibr(&self, index: u64) -> Result<u64, Fault> {
        self.read(Address::Ibr(named(index)))
    }

    /// `mov ibr[r3] = r2`: writes `value` to the instruction breakpoint register that bits 7:0 of `index` name. The embedder raises the
    /// debug faults that it asks for.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Thread::mov_from_ibr); then nothing is written.
    pub fn mov_to_ibr(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.write(Address::Ibr(named(index)), value)
    }

    /// `mov r1 = dbr[r3]`: the data breakpoint register that bits 7:0 of `index` name, which the PMU keeps as it keeps those for
    /// instructions.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Thread::mov_from_ibr).
    pub fn mov_from_dbr(&self, index: u64) -> Result<u64, Fault> {
        self.read(Address::Dbr(named(index)))
    }

    /// `mov dbr[r3] = r2`: writes `value` to the data breakpoint register that bits 7:0 of `index` name.
    ///
    /// # Errors
    /// As [`mov_from_ibr`](Thread::mov_from_ibr); then nothing is written.
    pub fn mov_to_dbr(&self, index: u64, value: u64) -> Result<(), Fault> {
        self.write(Address::Dbr(named(index)), value)
    }
}
