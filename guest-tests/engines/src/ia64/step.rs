//! What is reported to an observer about each thing a thread did.

pub use super::bundle::Unit;
use serde::{Deserialize, Serialize};

use super::stack::Frame;

/// What an instruction mostly does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Integer arithmetic, logic, shifts, compares, and moves between registers of the application.
    #[default]
    Integer,
    /// Floating point, but not its loads and stores.
    Floating,
    /// A load, of whatever register.
    Load,
    /// A store, of whatever register.
    Store,
    /// `cmpxchg`, `xchg`, `fetchadd`.
    Semaphore,
    /// `lfetch`.
    Prefetch,
    /// A branch.
    Branch,
    /// `chk.s`, `chk.a`.
    Check,
    /// The register stack: `alloc`, `cover`, `flushrs`, `loadrs`, `clrrrb`.
    RegisterStack,
    /// `mf`, `srlz`, `sync.i`, `invala`, `fwb`, `fc`.
    Synchronize,
    /// A move from or to a control, debug, region, key or performance monitor register, PSR or CPUID.
    SystemRegister,
    /// The machine state: `rfi`, `epc`, `bsw`, `ssm`, `rsm`, `sum`, `rum`, translations, probes.
    System,
    /// `nop`, `hint`, `brp`.
    Nop,
}

/// What kind of branch it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchKind {
    /// `br.cond`, and the unconditional form.
    Conditional,
    /// `br.call`, `brl.call`.
    Call,
    /// `br.ret`.
    Return,
    /// `br.cloop`.
    CountedLoop,
    /// `br.ctop`, `br.cexit`.
    ModuloScheduledCounted,
    /// `br.wtop`, `br.wexit`.
    ModuloScheduledWhile,
}

/// A branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// What kind it is.
    pub kind: BranchKind,
    /// Whether the target is in a branch register rather than relative to IP.
    pub indirect: bool,
    /// Whether it was taken.
    pub taken: bool,
    /// Where it goes when taken.
    pub target: u64,
}

/// What kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A semaphore: a load and a store, or a `cmpxchg` whose comparison failed.
    Semaphore,
    /// `lfetch`.
    Prefetch,
    /// `ld.c` that found its entry in the ALAT and did not load.
    CheckHit,
    /// A load of the register stack engine, which belongs to no instruction's address.
    RegisterStackLoad,
    /// A store of the register stack engine.
    RegisterStackStore,
}

/// A memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What kind.
    pub kind: AccessKind,
    /// The virtual address.
    pub address: u64,
    /// The physical address.
    pub physical: u64,
    /// Bytes: 1 to 16.
    pub size: u8,
    /// Whether its register is a floating-point register.
    pub floating: bool,
    /// Whether it is not aligned to its size.
    pub misaligned: bool,
    /// Whether it is uncacheable: bit 63 of a physical address is set, or a device of the engine is accessed.
    pub uncacheable: bool,
    /// Speculative forms `.s` and `.sa`.
    pub speculative: bool,
    /// Advanced forms `.a` and `.sa`.
    pub advanced: bool,
}

/// `chk.s`, `chk.a` and `ld.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// An ALAT check (`chk.a`, `ld.c`), rather than one of a NaT (`chk.s`).
    pub advanced: bool,
    /// `ld.c`, rather than `chk`.
    pub load: bool,
    /// Its register is a floating-point register, or it is `fchkf`.
    pub floating: bool,
    /// `fchkf`, which checks flags rather than a register.
    pub flags: bool,
    /// It failed: a `chk` branches to recovery, an `ld.c` loads again.
    pub failed: bool,
    /// Where a failed `chk` continues; 0 for `ld.c`.
    pub target: u64,
}

/// The state of the register stack before an instruction that changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLevel {
    /// Registers of the current frame, 0 to 96.
    pub current: u8,
    /// Dirty registers: those of earlier frames that are not in memory yet, 0 to 96.
    pub dirty: u8,
}

/// Why a speculative load was deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// Its address was a NaT.
    Nat,
    /// PSR.ed asked for it.
    Asked,
    /// There is no memory at its address, which is a miss of the translation buffers.
    Miss,
    /// It would have faulted otherwise.
    Fault,
}

/// One retired instruction of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Address of its bundle.
    pub ip: u64,
    /// The slot, 0 to 2. A long instruction (`movl`, `brl`, `break.x`, `nop.x`) is in slot 1.
    pub slot: u8,
    /// The bundle as it is in memory: its lower half, its upper half.
    pub bundle: [u64; 2],
    /// The slot's unit. An A-type instruction has that of the slot it is in.
    pub unit: Unit,
    /// The 41 bits; of a long instruction those of slot 2, which hold the operation.
    pub encoding: u64,
    /// The 41 bits of slot 1 of a long instruction; else 0.
    pub upper: u64,
    /// The bundle where execution continues.
    pub next: u64,
    /// Whether a stop follows it in its bundle.
    pub stop: bool,
    /// Whether it is the first of its bundle to retire since the bundle was entered.
    pub first: bool,
    /// What it mostly does.
    pub class: Class,
    /// Cycles it takes unless the observer returns another number in [`Alerts::cycles`](super::Alerts::cycles): one for the first of a
    /// bundle, else none.
    pub cycles: u32,
    /// PSR when it began.
    pub psr: u64,
    /// The frame when it began. `alloc` writes to the frame that it makes, in which the registers are where they were.
    pub frame: Frame,
    /// Its qualifying predicate: false of an instruction that was predicated off.
    pub predicate: bool,
    /// A `nop`; not `hint` and not `brp`.
    pub nop: bool,
    /// The branch, if it is one, predicated off or not. `rfi` and checks are none.
    pub branch: Option<Branch>,
    /// AR.PFS as a call that was taken left it, or as a return that was taken found it.
    pub function_state: Option<u64>,
    /// `rfi`.
    pub returned: bool,
    /// The memory access.
    pub access: Option<Access>,
    /// The accesses of the register stack engine that it caused, in order.
    pub register_stack: Vec<Access>,
    /// The levels of the register stack before it, if it is `alloc`, `br.call`, `br.ret`, `cover`, `flushrs`, `loadrs` or `rfi`.
    pub stack_level: Option<StackLevel>,
    /// A check.
    pub check: Option<Check>,
    /// Why a speculative load was deferred, if it is one that was: its register got a NaT.
    pub deferred: Option<Deferral>,
    /// An advanced load, or a check load that failed, displaced the entry of another register from the table of advanced loads or took one of
    /// its last two places: whether its own register is a floating-point one.
    pub crowded: Option<bool>,
    /// Floating-point operations: 1 of a multiplication, an addition, a compare, a minimum, a conversion to an integer or an
    /// approximation, 2 of a multiplication and an addition in one, twice that of parallel forms.
    pub floating_operations: u8,
    /// The exponent of a floating-point operand lies so near the end of its range that the operation may overflow or underflow.
    pub unsafe_operand: bool,
    /// A trap of its floating-point result follows: the bits of ISR that tell an overflow or an underflow, or none.
    pub float_trap: u64,
    /// A floating-point result was tiny, and no trap of it enabled.
    pub tiny: bool,
    /// It became zero, as its status field asks.
    pub flushed_to_zero: bool,
    /// `srlz.i`.
    pub serialize_instruction: bool,
    /// `hint @pause`.
    pub pause: bool,
}

impl Step {
    pub(crate) fn begin(&mut self, ip: u64, psr: u64, frame: Frame) {
        let mut register_stack = std::mem::take(&mut self.register_stack);
        register_stack.clear();
        *self = Self { ip, psr, frame, predicate: true, register_stack, ..Self::default() };
    }

    /// The privilege level it ran at.
    #[must_use]
    pub fn cpl(&self) -> u8 {
        (self.psr >> super::registers::psr::CPL_SHIFT & 3) as u8
    }
}

/// Something a thread did between instructions, or instead of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// An interruption at this offset from IVA.
    Interruption(u16),
    /// A procedure of the firmware, by its number, ran and returned.
    Firmware(u64),
}

/// An interruption, or a call of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What was taken.
    pub taken: Taken,
    /// Address of the bundle where the thread was.
    pub ip: u64,
    /// The slot there.
    pub slot: u8,
    /// Where it continues.
    pub target: u64,
    /// PSR before.
    pub psr: u64,
    /// Whether an instruction caused it: a fault or a trap rather than an interrupt.
    pub synchronous: bool,
    /// Cycles it takes unless the observer returns another number: one.
    pub cycles: u32,
}

/// Why the threads of a core change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SwitchCause {
    /// The thread in the foreground missed the third-level cache and its urgency was the lower one.
    L3Miss,
    /// Data of the thread in the background arrived and its urgency was the higher one.
    L3Return,
    /// Its quantum ran out.
    TimeOut,
    /// `hint @pause`.
    Hint,
    /// It halted, or the other one woke while both were halted.
    LowPower,
}

/// A thread goes to the foreground or to the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Whether it goes to the foreground.
    pub foreground: bool,
    /// Why.
    pub cause: SwitchCause,
    /// Cycles from now until the other thread, or this one, runs.
    pub cycles: u32,
    /// Cycles since the thread that leaves completed an instruction.
    pub idle: u64,
    /// Cycles for which the change was held up,
    pub held: u64,
    /// and of these those for a move to a control, application or indirect register.
    pub moving: u64,
}
