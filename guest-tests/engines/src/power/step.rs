//! What is reported to an observer about each thing a CPU did.

use vm_pmu::decode::power::{Barrier, BranchForm, Category, Floating, Marks, Touch};

use super::footprint::{Conflict, Failure};
use crate::dma::DmaAccess;

/// What the device that accesses RAM by itself has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceActivity {
    /// It has accessed RAM.
    Access(DmaAccess),
    /// It has answered a load from its registers.
    Answer,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its form.
    pub form: BranchForm,
    /// Whether it was taken.
    pub taken: bool,
    /// Where it goes when taken.
    pub target: u64,
}

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The effective address.
    pub address: u64,
    /// The real address.
    pub real: u64,
    /// Bytes.
    pub size: u8,
    /// A store rather than a load.
    pub store: bool,
    /// `larx`, or `stcx.` that stored.
    pub reserve: bool,
}

/// What became of a store conditional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditional {
    /// It stored.
    Stored,
    /// There was no reservation: nothing was stored.
    Failed,
}

/// A cache block or translation that an instruction names without moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The effective address.
    pub address: u64,
    /// Why.
    pub why: Touch,
}

/// The operation of a transactional memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// A transaction began, the outermost.
    Begin,
    /// A transaction ended: what it did stays.
    Commit,
    /// A transaction was undone.
    Abort,
    /// `tsr.` suspended one.
    Suspend,
    /// `tsr.` resumed one.
    Resume,
    /// A transaction began inside another.
    NestedBegin,
    /// A transaction inside another ended.
    NestedEnd,
    /// Something else, such as a suspension of what is suspended.
    Other,
}

/// One completed instruction of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The effective address.
    pub address: u64,
    /// Its real address.
    pub real: u64,
    /// Where execution continues.
    pub next: u64,
    /// The instruction.
    pub encoding: u32,
    /// What it mostly does.
    pub category: Category,
    /// Cycles it takes unless the observer returns another number in [`Alerts::cycles`](super::Alerts::cycles): one.
    pub cycles: u32,
    /// MSR when it began.
    pub msr: u64,
    /// The run latch, CTRL bit 63, when it began.
    pub run: bool,
    /// The branch, if it is one. `rfid`, `sc` and `rfebb` are none.
    pub branch: Option<Branch>,
    /// The memory access; `None` of a `stcx.` that failed.
    pub access: Option<Access>,
    /// What became of a `stcx.`.
    pub conditional: Option<Conditional>,
    /// A barrier.
    pub barrier: Option<Barrier>,
    /// A cache block or translation that was only named.
    pub touched: Option<Touched>,
    /// What a transactional memory instruction did.
    pub transaction: Option<Transaction>,
    /// Why the transaction that was undone failed, if no instruction aborted it.
    pub failure: Option<Failure>,
    /// What its access did to transactions.
    pub conflict: Option<Conflict>,
    /// Instructions of the transaction that it committed, itself included, and cycles of those before it, while the run latch was set.
    pub passed: Option<(u64, u64)>,
    /// It is `tabort.` in one of its forms, or `treclaim.`, whatever its effect was.
    pub aborts: bool,
    /// Floating-point operations.
    pub floating: Option<Floating>,
    /// It loaded or stored a vector register.
    pub vector: bool,
    /// Marks that some events depend on.
    pub marks: Marks,
}

impl Step {
    pub(crate) fn begin(&mut self, address: u64, msr: u64, run: bool) {
        *self = Step { address, msr, run, cycles: 1, ..Step::default() };
    }

    /// Whether it ran in problem state.
    #[must_use]
    pub fn problem(&self) -> bool {
        self.msr & super::registers::msr::PR != 0
    }

    /// Whether it ran with MSR bit HV set, in problem state or not.
    #[must_use]
    pub fn hypervisor_bit(&self) -> bool {
        self.msr & super::registers::msr::HV != 0
    }
}

/// Something a CPU did between instructions, or instead of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// An interrupt at this vector.
    Interrupt(u16),
    /// An event-based branch.
    EventBasedBranch,
}

/// An interrupt or event-based branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What was taken.
    pub taken: Taken,
    /// Where the CPU was: what goes to SRR0, HSRR0 or EBBRR.
    pub address: u64,
    /// Where it continues.
    pub target: u64,
    /// MSR before.
    pub msr: u64,
    /// Cycles it takes unless the observer returns another number: one.
    pub cycles: u32,
}
