//! What is reported to an observer about each thing a CPU did.

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

/// What an instruction mostly does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Fixed-point arithmetic, logic, shifts and compares; moves to and from registers of the unit.
    #[default]
    Fixed,
    /// Floating point, but not its loads and stores.
    Floating,
    /// A load, of whatever register.
    Load,
    /// A store, of whatever register.
    Store,
    /// Data cache blocks, prefetches, flushes and instruction cache blocks.
    Cache,
    /// A branch.
    Branch,
    /// Logic on condition register bits and fields.
    Condition,
    /// Waits until earlier storage accesses or instructions are done: `sync`, `lwsync`, `ptesync`, `eieio`, `isync`.
    Synchronize,
    /// Transactional memory.
    Transaction,
    /// A move from or to a special purpose register other than LR, CTR, XER and TAR.
    SpecialRegister,
    /// The machine state: `rfid`, `mtmsr`, `sc`, `stop`, translation look-aside buffers and segments.
    System,
}

/// How a branch finds its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// The instruction has it.
    Immediate,
    /// The link register has it.
    Lr,
    /// The count register has it.
    Ctr,
    /// The target address register has it.
    Tar,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// How it finds its target.
    pub through: Through,
    /// Whether it depends on a condition or on the count register.
    pub conditional: bool,
    /// Whether it depends on a bit of the condition register.
    pub on_condition: bool,
    /// Whether it counts the count register down.
    pub on_count: bool,
    /// LK=1: the address of the next instruction went to the link register, taken or not.
    pub link: bool,
    /// The BH field of `bclr`, `bcctr` and `bctar`; 0 of others.
    pub hint: u8,
    /// Whether it was taken.
    pub taken: bool,
    /// Where it goes when taken.
    pub target: u64,
}

impl Branch {
    /// A subroutine return according to the hint field: `bclr` with BH=0.
    #[must_use]
    pub fn is_return(&self) -> bool {
        self.through == Through::Lr && self.hint == 0
    }
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

/// What `sync` and its like wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// `sync` with L=0.
    Heavyweight,
    /// `sync` with L=1.
    Lightweight,
    /// `sync` with L=2.
    PageTable,
    /// `eieio`.
    Eieio,
    /// `isync`.
    Instruction,
}

/// A cache block or translation that an instruction names without moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The effective address.
    pub address: u64,
    /// Why.
    pub why: Touch,
}

/// Why a cache block or translation is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// `dcbt`: it will be loaded.
    Load,
    /// `dcbtst`: it will be stored to.
    Store,
    /// `dcbt` or `dcbtst` that describes or controls a stream: the address is none, or that of its first block.
    Stream,
    /// `icbt`: it will be executed.
    Execute,
    /// `dcbf` or `dcbst`.
    Flush,
    /// `icbi`.
    InstructionBlock,
    /// `tlbie`: a translation of every CPU is forgotten.
    Translation,
    /// `tlbiel`: a translation of this CPU is forgotten.
    LocalTranslation,
    /// `slbie`, `slbia` and their like: a segment is forgotten.
    Segment,
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

/// Floating-point work of an instruction (POWER9 PMU User's Guide, Table 5-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floating {
    /// No arithmetic: a move between registers, a rounding or conversion, FPSCR.
    Move,
    /// Arithmetic on numbers of one format.
    Math {
        /// The operation on each number.
        work: Work,
        /// The numbers are of single precision.
        single: bool,
        /// The operands are vectors: two numbers of double precision, or four of single precision.
        vector: bool,
    },
}

impl Floating {
    /// Whether it is a division or a square root.
    #[must_use]
    pub fn is_slow(self) -> bool {
        matches!(self, Floating::Math { work: Work::Divide, .. })
    }
}

/// An operation on each number of a floating-point instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// One flop: an addition, multiplication, comparison, selection or change of the sign.
    One,
    /// A multiplication and an addition, rounded once.
    Fused,
    /// A division or a square root.
    Divide,
}

/// Marks that some events depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `and 0,0,0` or `and 1,1,1`: the no-operations that mark a place in a program.
    pub probe: bool,
    /// Division, square root, multiplication, a move to CTR, or a branch that sets the link register.
    pub long_latency: bool,
    /// A fixed-point division.
    pub divide: bool,
    /// A fixed-point multiplication.
    pub multiply: bool,
    /// A move to CTR.
    pub count_register: bool,
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
    pub class: Class,
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
