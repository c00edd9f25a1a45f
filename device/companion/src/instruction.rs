//! Instructions as an embedder reports them once they are executed.

use vm_pmu_arch::feed::BranchKind;

use crate::bundle::Bundle;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AccessKind {
    /// A read.
    #[default]
    Load,
    /// A write.
    Store,
    /// A write around the caches, through the write-combining buffers.
    StreamingStore,
    /// A prefetch of a line that will be read.
    PrefetchLoad,
    /// A prefetch of a line that will be written.
    PrefetchStore,
    /// A prefetch of a line that will be read once.
    PrefetchOnce,
    /// A flush of a line from every cache.
    Flush,
    /// A read by the register stack engine.
    RegisterStackLoad,
    /// A write by the register stack engine.
    RegisterStackStore,
}

impl AccessKind {
    /// Every kind, in order.
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

    /// Whether it loads a value into a register.
    #[inline]
    pub(crate) fn loads(self) -> bool {
        matches!(self, AccessKind::Load | AccessKind::RegisterStackLoad)
    }
}

/// One access to memory. An access that crosses into a page that is not physically contiguous is reported as two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// The virtual address.
    pub address: u64,
    /// The physical address of the first byte.
    pub physical: u64,
    /// Its size in bytes.
    pub size: u8,
    /// Its kind.
    pub kind: AccessKind,
    /// Whether it is part of a locked read-modify-write.
    pub locked: bool,
    /// Whether it goes to a device, or to memory that is not cached.
    pub uncached: bool,
}

/// The class of an instruction. It determines which units the instruction needs, and for how long.
///
/// An embedder that cannot tell the class uses [`Simple`](Class::Simple). An access to memory is not a class of its own: an addition that
/// reads memory is [`Simple`](Class::Simple) with an [`Access`]. Only a plain move between a register and memory is a [`Load`](Class::Load)
/// or a [`Store`](Class::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Class {
    /// Integer arithmetic, logic, comparison or move that takes one cycle, apart from accesses.
    #[default]
    Simple,
    /// A division of unsigned integers.
    Divide,
    /// An instruction that waits until the stores before it are done.
    Fence,
    /// An instruction that waits until everything before it is done, and restarts the pipeline.
    Serializing,
    /// Not an instruction: an interrupt or exception that is taken.
    Exception,
    /// A no-op.
    Nop,
    /// A load of a register from memory.
    Load,
    /// A store of a register to memory.
    Store,
    /// A push of a value onto the stack.
    Push,
    /// A pop of a value from the stack.
    Pop,
    /// A jump.
    Branch,
    /// A call of a procedure.
    Call,
    /// A return from a procedure.
    Return,
    /// Computation of the address of a memory operand, from at most two sources without scaling.
    Address,
    /// Computation of the address of a memory operand, from three sources or with scaling.
    AddressScaled,
    /// A shift or rotation.
    Shift,
    /// A rotation through the carry.
    RotateThroughCarry,
    /// A shift of two registers.
    DoubleShift,
    /// A test and change of one bit.
    BitTest,
    /// A search for the first or last set bit, or a count of zeros.
    BitScan,
    /// A count of the set bits.
    PopulationCount,
    /// An exchange of two operands.
    Exchange,
    /// A compare and exchange, or a conditional store of a reservation.
    CompareExchange,
    /// A multiplication of integers.
    Multiply,
    /// A multiplication of integers that returns both halves of the product.
    WideMultiply,
    /// A division of signed integers.
    SignedDivide,
    /// An iteration of a string instruction.
    String,
    /// A system instruction: control registers, tables, translations.
    System,
    /// A microcoded instruction that no other class describes.
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
    /// A move of elements within vectors.
    VectorPermute,
    /// A step of encryption or of a checksum.
    Crypto,
    /// A move from a general to a floating-point or vector register.
    ToVector,
    /// A move from a floating-point or vector to a general register.
    FromVector,
    /// Extension of a narrower integer by its sign or by zeros.
    Extend,
    /// A conditional move.
    ConditionalMove,
    /// Addition or subtraction of integers with a carry or borrow as input.
    AddWithCarry,
    /// A fence that orders accesses and waits for none.
    LightFence,
    /// A fence that orders accesses to devices, and waits until the stores before it are done.
    DeviceFence,
    /// An invalidation of translations in every processor.
    TranslationInvalidation,
    /// An invalidation of segments in every processor, or a wait until that is done.
    SegmentInvalidation,
    /// A paste of a line to an accelerator.
    Paste,
    /// The beginning of a transaction.
    TransactionBegin,
    /// The beginning of a transaction within another.
    NestedTransactionBegin,
    /// The end of the outermost transaction.
    TransactionEnd,
    /// The end of a transaction within another.
    NestedTransactionEnd,
    /// A write of the floating-point status and control register.
    StatusWrite,
    /// A clean or an invalidation of a cache line.
    CacheBlock,
    /// A read of a special register of the load/store unit.
    MemoryRegister,
}

impl Class {
    /// Every class, in order.
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

    /// Whether it writes out the write-combining buffers first.
    #[inline]
    pub(crate) fn writes_out(self) -> bool {
        matches!(self, Class::Fence | Class::Serializing | Class::Exception)
    }
}

/// A register. The embedder chooses its number; two instructions that give the same number mean the same register.
///
/// Flags, condition fields and predicates are registers too. A register that always reads the same, such as IA-64's r0, is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Register(pub u16);

impl Register {
    /// Number of registers that are distinguished. A greater number is taken modulo this one.
    pub const COUNT: usize = 512;
}

/// The type of the elements of a floating-point or vector operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Elements {
    /// The embedder does not report it.
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
    /// Every type, in order.
    pub const ALL: [Elements; Elements::Doubles as usize + 1] =
        [Elements::Untold, Elements::Integers, Elements::Singles, Elements::Doubles];
}

/// The operands of an instruction: their width and the registers that it reads and writes.
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
    /// Width of its operands in bytes: of the whole vector if there are several elements, 10 for x87's extended numbers; 0 if it has none.
    pub width: u8,
    /// Whether it works on several elements at once.
    pub packed: bool,
    /// Type of the elements of its result, or of its sources if it has none: the type in its name, even for a move or for logic.
    pub elements: Elements,
    /// Whether it writes the upper half of a vector register and keeps the lower one.
    pub upper: bool,
    /// Whether the floating-point unit must check if it raises an exception, because an operand's exponent is near the end of its range.
    pub may_trap: bool,
    /// Number of legacy prefixes, on x86, including those that belong to its operation.
    pub prefixes: u8,
    /// The registers that addresses are computed from.
    pub addresses: &'a [Register],
    /// The other registers that it reads. A write of part of a register reads the register too, if the rest is kept.
    pub reads: &'a [Register],
    /// The registers that it writes.
    pub writes: &'a [Register],
}

/// The control transfer of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Its kind.
    pub kind: BranchKind,
    /// Whether execution left the sequential path.
    pub taken: bool,
    /// The address that it went to, or would have gone to.
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
    /// Physical address of the next page, if the instruction crosses into it and it is not physically contiguous.
    pub next_page: Option<u64>,
    /// Number of slots of a cycle that it takes.
    pub micro_ops: u8,
    /// Its class.
    pub class: Class,
    /// Its operation. Without one, it is assumed to need the result of the instruction before it, and to have its own result a cycle later.
    pub operation: Option<Operation<'a>>,
    /// Whether it belongs to the floating-point or vector unit.
    pub floating_point: bool,
    /// Number of segment registers that it loads.
    pub segment_loads: u8,
    /// Its accesses, in order.
    pub accesses: &'a [Access],
    /// Its control transfer, if it is one.
    pub transfer: Option<Transfer>,
    /// Its bundle, on IA-64. Without it, branches are predicted by their kind alone, and signals of bundles stay at zero. Where only
    /// [branches are followed](crate::Follower::follows_accesses), it is reported for `brp` too.
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

impl Instruction<'_> {
    /// Whether it lies outside bundles and only computes: no access, no transfer, and nothing written out.
    #[inline]
    pub(crate) fn computes(&self) -> bool {
        self.transfer.is_none() && self.bundle.is_none() && self.accesses.is_empty() && !self.class.writes_out()
    }
}
