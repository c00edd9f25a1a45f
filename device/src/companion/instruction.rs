//! What an embedder reports of an instruction that it executed.

use vm_pmu_arch::feed::BranchKind;

use super::bundle::Bundle;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AccessKind {
    /// It reads.
    #[default]
    Load,
    /// It writes.
    Store,
    /// It writes around the caches, through the write-combining buffers.
    StreamingStore,
    /// It prefetches a line that will be read.
    PrefetchLoad,
    /// It prefetches a line that will be written.
    PrefetchStore,
    /// It prefetches a line that will be read once.
    PrefetchOnce,
    /// It drives a line out of every cache.
    Flush,
    /// The register stack engine reads.
    RegisterStackLoad,
    /// The register stack engine writes.
    RegisterStackStore,
}

impl AccessKind {
    /// Every kind, in their order.
    pub const ALL: [AccessKind; AccessKind::RegisterStackStore as usize + 1] = [
        AccessKind::Load,
        AccessKind::Store,
        AccessKind::StreamingStore,
        AccessKind::PrefetchLoad,
        AccessKind::PrefetchStore,
        AccessKind::PrefetchOnce,
        AccessKind::Flush,
        AccessKind::RegisterStackLoad,
        AccessKind::RegisterStackStore,
    ];

    /// Whether it reads what a register is given.
    #[inline]
    pub(super) fn loads(self) -> bool {
        matches!(self, AccessKind::Load | AccessKind::RegisterStackLoad)
    }
}

/// One access to memory. One that crosses into a page that is not contiguous in physical memory is reported as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The virtual address.
    pub address: u64,
    /// The physical address of the first byte.
    pub physical: u64,
    /// Its size in bytes.
    pub size: u8,
    /// What it does.
    pub kind: AccessKind,
    /// It is part of a locked read-modify-write.
    pub locked: bool,
    /// It goes to a device, or to memory that is not cached.
    pub uncached: bool,
}

/// What an instruction does. It decides which units it needs, and for how long.
///
/// An embedder that cannot tell says [`Simple`](Class::Simple). An access to memory is not a class of its own: an addition that reads memory
/// is [`Simple`](Class::Simple) with an [`Access`]; only what merely moves between a register and memory is a [`Load`](Class::Load) or a
/// [`Store`](Class::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Class {
    /// Integer arithmetic, logic, comparison or move that takes a cycle, apart from accesses.
    #[default]
    Simple,
    /// A division of unsigned integers.
    Divide,
    /// One that waits until the stores before it are done.
    Fence,
    /// One that waits until everything before it is done, and restarts the pipeline.
    Serializing,
    /// Not an instruction: an interrupt or exception that is taken.
    Exception,
    /// It does nothing.
    Nop,
    /// It reads memory into a register.
    Load,
    /// It writes a register to memory.
    Store,
    /// It pushes a value onto the stack.
    Push,
    /// It pops a value from the stack.
    Pop,
    /// A jump.
    Branch,
    /// A call of a procedure.
    Call,
    /// A return from a procedure.
    Return,
    /// The address of a memory operand, of two sources without scaling at most.
    Address,
    /// The address of a memory operand, of three sources or with scaling.
    AddressScaled,
    /// A shift or rotation.
    Shift,
    /// A rotation through the carry.
    RotateThroughCarry,
    /// A shift of two registers.
    DoubleShift,
    /// It tests and changes one bit.
    BitTest,
    /// It looks for the first or last bit that is set, or counts zeros.
    BitScan,
    /// It counts the bits that are set.
    PopulationCount,
    /// It exchanges two operands.
    Exchange,
    /// It compares, and exchanges if equal; or a conditional store of a reservation.
    CompareExchange,
    /// A multiplication of integers.
    Multiply,
    /// A multiplication of integers whose product has both halves.
    WideMultiply,
    /// A division of signed integers.
    SignedDivide,
    /// An iteration of a string instruction.
    String,
    /// One of the system: registers of control, tables, translations.
    System,
    /// One in microcode that no other class describes.
    Microcode,
    /// Addition or subtraction of floating-point numbers.
    FloatAdd,
    /// Multiplication of floating-point numbers.
    FloatMultiply,
    /// Multiplication and addition in one.
    FloatMultiplyAdd,
    /// Division of floating-point numbers.
    FloatDivide,
    /// Square root.
    FloatSquareRoot,
    /// Comparison of floating-point numbers, with a result in flags or in a condition register.
    FloatCompare,
    /// Conversion between formats, or between integers and floating-point numbers.
    FloatConvert,
    /// Move, sign or selection of floating-point or vector registers.
    FloatMove,
    /// An estimate of a reciprocal or of its square root.
    FloatEstimate,
    /// Decimal or quad-precision arithmetic.
    Decimal,
    /// Vector arithmetic or logic of integers.
    Vector,
    /// Vector multiplication of integers.
    VectorMultiply,
    /// It moves elements within vectors.
    VectorPermute,
    /// A step of encryption or of a checksum.
    Crypto,
    /// A move from a general to a floating-point or vector register.
    ToVector,
    /// A move from a floating-point or vector to a general register.
    FromVector,
    /// Extension of a narrower integer by its sign or by zeros.
    Extend,
    /// A move that a condition decides on.
    ConditionalMove,
    /// Addition or subtraction of integers with a carry or borrow from before.
    AddWithCarry,
    /// It orders accesses, and waits for none.
    LightFence,
    /// It orders accesses to devices, and waits until the stores before it are done.
    DeviceFence,
    /// It invalidates translations in every processor.
    TranslationInvalidation,
    /// It invalidates segments in every processor, or waits until that is done.
    SegmentInvalidation,
    /// It pastes a line to an accelerator.
    Paste,
    /// It begins a transaction.
    TransactionBegin,
    /// It begins a transaction within another.
    NestedTransactionBegin,
    /// It ends the outermost transaction.
    TransactionEnd,
    /// It ends a transaction within another.
    NestedTransactionEnd,
    /// It writes the floating-point status and control register.
    StatusWrite,
    /// It cleans or invalidates a line of a cache.
    CacheBlock,
    /// It reads a special register of the load/store unit.
    MemoryRegister,
}

impl Class {
    /// Every class, in their order.
    pub const ALL: [Class; Class::MemoryRegister as usize + 1] = [
        Class::Simple,
        Class::Divide,
        Class::Fence,
        Class::Serializing,
        Class::Exception,
        Class::Nop,
        Class::Load,
        Class::Store,
        Class::Push,
        Class::Pop,
        Class::Branch,
        Class::Call,
        Class::Return,
        Class::Address,
        Class::AddressScaled,
        Class::Shift,
        Class::RotateThroughCarry,
        Class::DoubleShift,
        Class::BitTest,
        Class::BitScan,
        Class::PopulationCount,
        Class::Exchange,
        Class::CompareExchange,
        Class::Multiply,
        Class::WideMultiply,
        Class::SignedDivide,
        Class::String,
        Class::System,
        Class::Microcode,
        Class::FloatAdd,
        Class::FloatMultiply,
        Class::FloatMultiplyAdd,
        Class::FloatDivide,
        Class::FloatSquareRoot,
        Class::FloatCompare,
        Class::FloatConvert,
        Class::FloatMove,
        Class::FloatEstimate,
        Class::Decimal,
        Class::Vector,
        Class::VectorMultiply,
        Class::VectorPermute,
        Class::Crypto,
        Class::ToVector,
        Class::FromVector,
        Class::Extend,
        Class::ConditionalMove,
        Class::AddWithCarry,
        Class::LightFence,
        Class::DeviceFence,
        Class::TranslationInvalidation,
        Class::SegmentInvalidation,
        Class::Paste,
        Class::TransactionBegin,
        Class::NestedTransactionBegin,
        Class::TransactionEnd,
        Class::NestedTransactionEnd,
        Class::StatusWrite,
        Class::CacheBlock,
        Class::MemoryRegister,
    ];

    /// Whether it waits for something of its own, or is no instruction.
    #[inline]
    pub(super) fn writes_out(self) -> bool {
        matches!(self, Class::Fence | Class::Serializing | Class::Exception)
    }
}

/// A register. Its number is the embedder's choice, so long as two instructions that give the same number mean the same register.
///
/// Flags, condition fields and predicates are registers too. A register that always reads the same, such as IA-64's r0, is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Register(pub u16);

impl Register {
    /// How many registers are distinguished. A greater number is taken modulo this one.
    pub const COUNT: usize = 512;
}

/// What the elements of an operand of the floating-point or vector unit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Elements {
    /// The embedder does not tell.
    #[default]
    Untold,
    /// Integers, of whatever width.
    Integers,
    /// Floating-point numbers of single precision.
    Singles,
    /// Floating-point numbers of double precision.
    Doubles,
}

impl Elements {
    /// Every kind, in their order.
    pub const ALL: [Elements; Elements::Doubles as usize + 1] =
        [Elements::Untold, Elements::Integers, Elements::Singles, Elements::Doubles];
}

/// What an instruction works on: the width of its operands and the registers that it reads and writes.
///
/// ```
/// use vm_pmu::companion::{Class, Instruction, Operation, Register};
///
/// // ADD RAX, RBX: the embedder gives RAX number 0, RBX number 3 and the flags number 16.
/// let (rax, rbx, flags) = (Register(0), Register(3), Register(16));
/// let add = Operation { width: 8, reads: &[rax, rbx], writes: &[rax, flags], ..Operation::default() };
/// let instruction = Instruction { address: 0x1000, physical: 0x1000, length: 3, operation: Some(add), ..Instruction::default() };
/// assert_eq!(instruction.class, Class::Simple);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Operation<'a> {
    /// The width of its operands in bytes: of the whole vector where there are several elements, 10 for x87's extended numbers; 0 if it
    /// has none.
    pub width: u8,
    /// Whether it works on several elements at once.
    pub packed: bool,
    /// What the elements of its result are, or of its sources if it has none: those that its name says, also of a move or of logic.
    pub elements: Elements,
    /// Whether it writes the upper half of a vector register, and keeps the lower one.
    pub upper: bool,
    /// Whether the floating-point unit has to see whether it raises an exception, as an operand's exponent is near the end of its range.
    pub may_trap: bool,
    /// How many legacy prefixes it has, on x86, those that belong to its operation among them.
    pub prefixes: u8,
    /// The registers that addresses are computed from.
    pub addresses: &'a [Register],
    /// The other registers that it reads. A write of a part of a register reads the register too, where the rest is kept.
    pub reads: &'a [Register],
    /// The registers that it writes.
    pub writes: &'a [Register],
}

/// The control transfer of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Its kind.
    pub kind: BranchKind,
    /// Whether it left the next sequential address.
    pub taken: bool,
    /// Where it went, or would have gone.
    pub target: u64,
}

/// One executed instruction, or an interrupt or exception that was taken.
///
/// ```
/// use vm_pmu::companion::{Access, AccessKind, Instruction};
///
/// let access = Access { address: 0x8000, physical: 0x8000, size: 8, kind: AccessKind::Load, ..Access::default() };
/// let load = Instruction { address: 0x1000, physical: 0x1000, length: 4, accesses: &[access], ..Instruction::default() };
/// assert_eq!(load.micro_ops, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its virtual address.
    pub address: u64,
    /// Its physical address.
    pub physical: u64,
    /// Its length in bytes; 0 if nothing was fetched.
    pub length: u8,
    /// The physical address of the next page, if the instruction crosses into it and it does not follow in physical memory.
    pub next_page: Option<u64>,
    /// How many slots of a cycle it takes.
    pub micro_ops: u8,
    /// What it does.
    pub class: Class,
    /// What it works on. Without it, it is taken to need the result of the instruction before, and its own to be ready a cycle later.
    pub operation: Option<Operation<'a>>,
    /// Whether it is one of the floating-point or vector unit.
    pub floating_point: bool,
    /// How many segment registers it loads.
    pub segment_loads: u8,
    /// What it accesses, in order.
    pub accesses: &'a [Access],
    /// Its control transfer, if it is one.
    pub transfer: Option<Transfer>,
    /// Its bundle, on IA-64. Without it branches are predicted by their kind alone, and signals of bundles stay at zero. Where only
    /// [branches are followed](super::Follower::follows_accesses), it is reported of `brp` too.
    pub bundle: Option<Bundle>,
}

impl Default for Instruction<'_> {
    fn default() -> Self {
        Instruction {
            address: 0,
            physical: 0,
            length: 0,
            next_page: None,
            micro_ops: 1,
            class: Class::Simple,
            operation: None,
            floating_point: false,
            segment_loads: 0,
            accesses: &[],
            transfer: None,
            bundle: None,
        }
    }
}
