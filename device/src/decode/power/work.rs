//! The effects of an instruction, as far as its word determines them.

use vm_pmu_arch::feed::{BranchKind, ExecutionUnit};

use super::op::Op;
use super::register::spr;
use super::word::Word;

/// The main effect of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Category {
    /// Fixed-point arithmetic, logic, shifts and compares; moves to and from registers of the unit.
    #[default]
    Fixed,
    /// Floating point, scalar or of vectors, but not its loads and stores.
    Floating,
    /// Vectors of integers, and moves of elements within vectors.
    Vector,
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

/// The form of a branch. `rfid`, `sc` and `rfebb` are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchForm {
    /// How it finds its target.
    pub through: Through,
    /// Whether it depends on a bit of the condition register.
    pub on_condition: bool,
    /// Whether it counts the count register down.
    pub on_count: bool,
    /// LK=1: the address of the next instruction goes to the link register, taken or not.
    pub link: bool,
    /// The BH field of `bclr`, `bcctr` and `bctar`; 0 of others.
    pub hint: u8,
}

impl BranchForm {
    /// Whether it depends on a condition or on the count register.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.on_condition || self.on_count
    }

    /// Whether the hint field makes it a return from a subroutine: `bclr` with BH=0.
    #[must_use]
    pub fn is_return(&self) -> bool {
        self.through == Through::Lr && self.hint == 0
    }

    /// Its kind. One that depends on a condition is conditional, wherever it goes.
    #[must_use]
    pub fn kind(&self) -> BranchKind {
        match (self.through, self.link) {
            _ if self.is_conditional() => BranchKind::Conditional,
            (Through::Immediate, false) => BranchKind::DirectJump,
            (Through::Immediate, true) => BranchKind::DirectCall,
            (_, true) => BranchKind::IndirectCall,
            (_, false) if self.is_return() => BranchKind::Return,
            (_, false) => BranchKind::IndirectJump,
        }
    }
}

/// The form of the branch that `op` is, if it is one.
#[inline]
#[must_use]
pub fn branch_form(op: Op, w: Word) -> Option<BranchForm> {
    let through = match op {
        Op::B | Op::Bc => Through::Immediate,
        Op::Bclr => Through::Lr,
        Op::Bcctr => Through::Ctr,
        Op::Bctar => Through::Tar,
        _ => return None,
    };
    let conditions = if op == Op::B { 0b1_0100 } else { w.rt() };
    Some(BranchForm {
        through,
        on_condition: conditions & 0b1_0000 == 0,
        on_count: conditions & 0b0_0100 == 0,
        link: w.record(),
        hint: if through == Through::Immediate { 0 } else { (w.rb() & 3) as u8 },
    })
}

/// Where the branch `op` at `address` goes, if its word has the target, of 64 bits.
#[inline]
#[must_use]
pub fn direct_target(op: Op, w: Word, address: u64) -> Option<u64> {
    let displacement = match op {
        Op::B => w.li(),
        Op::Bc => w.ds(),
        _ => return None,
    };
    Some(if w.absolute() { displacement } else { address.wrapping_add(displacement) })
}

/// The barriers: `sync` and its like.
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

/// The barrier that an instruction is, if it is one.
#[must_use]
pub fn barrier(op: Op, w: Word) -> Option<Barrier> {
    Some(match op {
        Op::Sync => match w.0 >> 21 & 3 {
            0 => Barrier::Heavyweight,
            1 => Barrier::Lightweight,
            _ => Barrier::PageTable,
        },
        Op::Eieio => Barrier::Eieio,
        Op::Isync => Barrier::Instruction,
        _ => return None,
    })
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

/// The values of TH that describe or control a stream (Book II, 4.3.2).
const STREAMS: [usize; 3] = [0b01000, 0b01010, 0b01011];

/// Why an instruction names a cache block or a translation, if it does.
#[must_use]
pub fn touch(op: Op, w: Word) -> Option<Touch> {
    Some(match op {
        Op::Dcbt | Op::Dcbtst if STREAMS.contains(&w.rt()) => Touch::Stream,
        Op::Dcbt => Touch::Load,
        Op::Dcbtst => Touch::Store,
        Op::Icbt => Touch::Execute,
        Op::Dcbf | Op::Dcbst => Touch::Flush,
        Op::Icbi => Touch::InstructionBlock,
        Op::Tlbie => Touch::Translation,
        Op::Tlbiel => Touch::LocalTranslation,
        Op::Slbie | Op::Slbia | Op::Slbieg => Touch::Segment,
        _ => return None,
    })
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

/// The work of scalar floating point on the first 32 registers, if `op` is such. Comparing, selecting and changing the sign are operations of one
/// flop; moves, roundings and conversions are none (POWER9 PMU User's Guide, Table 5-4, PM_1FLOP_CMPL).
#[must_use]
pub fn scalar_work(op: Op) -> Option<Floating> {
    let work = match op {
        Op::Fadd | Op::Fadds | Op::Fsub | Op::Fsubs | Op::Fmul | Op::Fmuls => Work::One,
        Op::Fcmpu | Op::Fcmpo | Op::Fsel | Op::Fabs | Op::Fnabs | Op::Fneg => Work::One,
        Op::Fmr | Op::Frsp | Op::Fcfid | Op::Fctid | Op::Fctidz | Op::Fctiwz | Op::Mffs | Op::Mtfsf => return Some(Floating::Move),
        Op::Fmadd | Op::Fmadds | Op::Fmsub | Op::Fmsubs | Op::Fnmadd | Op::Fnmadds | Op::Fnmsub | Op::Fnmsubs => Work::Fused,
        Op::Fdiv | Op::Fdivs | Op::Fsqrt | Op::Fsqrts => Work::Divide,
        _ => return None,
    };
    Some(Floating::Math { work, single: is_single(op), vector: false })
}

/// Whether the scalar arithmetic of `op` is of single precision.
#[must_use]
pub fn is_single(op: Op) -> bool {
    matches!(op, Op::Fadds | Op::Fsubs | Op::Fmuls | Op::Fdivs | Op::Fsqrts)
        || matches!(op, Op::Fmadds | Op::Fmsubs | Op::Fnmadds | Op::Fnmsubs)
}

/// The work on vectors of floating-point numbers, if `op` has a name of its own and is such.
#[must_use]
pub fn vector_work(op: Op) -> Option<Floating> {
    let (work, single) = match op {
        Op::Xvadddp => (Work::One, false),
        Op::Xvaddsp => (Work::One, true),
        Op::Xvmaddadp => (Work::Fused, false),
        Op::Xvmaddasp => (Work::Fused, true),
        Op::Xvdivdp | Op::Xvsqrtdp => (Work::Divide, false),
        Op::Xvdivsp | Op::Xvsqrtsp => (Work::Divide, true),
        _ => return None,
    };
    Some(Floating::Math { work, single, vector: true })
}

/// Whether `op` works on whole vectors.
#[must_use]
pub fn is_vector(op: Op) -> bool {
    matches!(op, Op::Lxvd2x | Op::Stxvd2x) || vector_work(op).is_some()
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

/// The marks of an instruction.
#[inline]
#[must_use]
pub fn marks(op: Op, w: Word) -> Marks {
    match op {
        Op::And => Marks { probe: matches!(w.0, 0x7C00_0038 | 0x7C21_0838), ..Marks::default() },
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr | Op::Bctar => Marks { long_latency: w.record(), ..Marks::default() },
        Op::Mtspr if w.spr() == spr::CTR => Marks { count_register: true, long_latency: true, ..Marks::default() },
        Op::Mulli | Op::Mullw | Op::Mulld | Op::Mulhd | Op::Mulhdu | Op::Mulhw | Op::Mulhwu | Op::Maddld | Op::Maddhd | Op::Maddhdu => {
            Marks { multiply: true, long_latency: true, ..Marks::default() }
        }
        Op::Divd | Op::Divdu | Op::Divde | Op::Divdeu | Op::Divw | Op::Divwu | Op::Divwe | Op::Divweu => DIVISION,
        Op::Modsd | Op::Modud | Op::Modsw | Op::Moduw => DIVISION,
        Op::Fdiv | Op::Fdivs | Op::Fsqrt | Op::Fsqrts | Op::Xvdivdp | Op::Xvdivsp | Op::Xvsqrtdp | Op::Xvsqrtsp => {
            Marks { long_latency: true, ..Marks::default() }
        }
        _ => Marks::default(),
    }
}

const DIVISION: Marks = Marks { divide: true, long_latency: true, probe: false, multiply: false, count_register: false };

/// The main effect of an instruction.
#[inline]
#[must_use]
pub fn category(op: Op, w: Word) -> Category {
    match op {
        Op::B | Op::Bc | Op::Bclr | Op::Bcctr | Op::Bctar => Category::Branch,
        Op::Lbarx | Op::Lharx | Op::Lwarx | Op::Ldarx | Op::Lxvd2x => Category::Load,
        Op::Stbcx | Op::Sthcx | Op::Stwcx | Op::Stdcx | Op::Stxvd2x | Op::Dcbz => Category::Store,
        Op::Crand | Op::Crandc | Op::Creqv | Op::Crnand | Op::Crnor | Op::Cror | Op::Crorc | Op::Crxor | Op::Mcrf => Category::Condition,
        Op::Sync | Op::Eieio | Op::Isync => Category::Synchronize,
        Op::Dcbf | Op::Dcbst | Op::Dcbt | Op::Dcbtst | Op::Icbi | Op::Icbt => Category::Cache,
        Op::Tbegin | Op::Tend | Op::Tcheck | Op::Tsr | Op::Treclaim | Op::Trechkpt => Category::Transaction,
        Op::Tabort | Op::Tabortdc | Op::Tabortdci | Op::Tabortwc | Op::Tabortwci => Category::Transaction,
        Op::Mfspr | Op::Mtspr if matches!(w.spr(), spr::XER | spr::LR | spr::CTR | spr::TAR) => Category::Fixed,
        Op::Mfspr | Op::Mtspr | Op::Mftb | Op::Mfbhrbe | Op::Clrbhrb | Op::Mfimc | Op::Mtimc => Category::SpecialRegister,
        Op::Attn | Op::Sc | Op::Mfmsr | Op::Mtmsr | Op::Mtmsrd | Op::Rfid | Op::Hrfid | Op::Rfebb | Op::Stop | Op::Wait => Category::System,
        Op::Tlbie | Op::Tlbiel | Op::Tlbsync | Op::Slbie | Op::Slbia | Op::Slbieg | Op::Slbsync => Category::System,
        Op::Vector | Op::Vsx => Category::Vector,
        op => match super::access::load_store(op) {
            Some(access) if access.store => Category::Store,
            Some(_) => Category::Load,
            None if scalar_work(op).or(vector_work(op)).is_some() => Category::Floating,
            None => Category::Fixed,
        },
    }
}

/// The unit that executes an instruction of this category, which may be a barrier.
#[must_use]
pub fn unit(category: Category, barrier: Option<Barrier>) -> ExecutionUnit {
    match category {
        Category::Load | Category::Store | Category::Cache => ExecutionUnit::LoadStore,
        Category::Branch => ExecutionUnit::Branch,
        Category::Floating | Category::Vector => ExecutionUnit::VectorScalar,
        Category::Synchronize if barrier == Some(Barrier::Instruction) => ExecutionUnit::Fetch,
        Category::Synchronize => ExecutionUnit::LoadStore,
        _ => ExecutionUnit::FixedPoint,
    }
}

/// Whether an instruction aborts a transaction: `tabort.` in one of its forms, or `treclaim.`, whatever its effect is.
#[must_use]
pub fn aborts(op: Op) -> bool {
    matches!(op, Op::Tabort | Op::Tabortdc | Op::Tabortdci | Op::Tabortwc | Op::Tabortwci | Op::Treclaim)
}
