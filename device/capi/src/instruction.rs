//! An executed instruction as a caller in C reports it.

use vm_pmu::companion::{Access, AccessKind, Class, Elements, Operation, Register};

use crate::pointer::{Growing, list};
use crate::status::{Failure, argument};
use crate::vocabulary::pick;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuAccessKind {
    /// It reads.
    Load = 0,
    /// It writes.
    Store = 1,
    /// It writes around the caches, through the write-combining buffers.
    StreamingStore = 2,
    /// It prefetches a line that will be read.
    PrefetchLoad = 3,
    /// It prefetches a line that will be written.
    PrefetchStore = 4,
    /// It prefetches a line that will be read once.
    PrefetchOnce = 5,
    /// It drives a line out of every cache.
    Flush = 6,
    /// The register stack engine reads.
    RegisterStackLoad = 7,
    /// The register stack engine writes.
    RegisterStackStore = 8,
}

pub(crate) const KINDS: [AccessKind; 9] = [
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

/// What an instruction does. It decides which units it needs, and for how long.
///
/// An access to memory is no class of its own: an addition that reads memory is Simple with a VmPmuAccess. Only what merely moves between a
/// register and memory is a Load or a Store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuClass {
    /// Integer arithmetic, logic, comparison or move that takes a cycle, apart from accesses.
    Simple = 0,
    /// A division of unsigned integers.
    Divide = 1,
    /// One that waits until the stores before it are done.
    Fence = 2,
    /// One that waits until everything before it is done, and restarts the pipeline.
    Serializing = 3,
    /// Not an instruction: an interrupt or exception that is taken.
    Exception = 4,
    /// It does nothing.
    Nop = 5,
    /// It reads memory into a register.
    Load = 6,
    /// It writes a register to memory.
    Store = 7,
    /// It pushes a value onto the stack.
    Push = 8,
    /// It pops a value from the stack.
    Pop = 9,
    /// A jump.
    Branch = 10,
    /// A call of a procedure.
    Call = 11,
    /// A return from a procedure.
    Return = 12,
    /// The address of a memory operand, of two sources without scaling at most.
    Address = 13,
    /// The address of a memory operand, of three sources or with scaling.
    AddressScaled = 14,
    /// A shift or rotation.
    Shift = 15,
    /// A rotation through the carry.
    RotateThroughCarry = 16,
    /// A shift of two registers.
    DoubleShift = 17,
    /// It tests and changes one bit.
    BitTest = 18,
    /// It looks for the first or last bit that is set, or counts zeros.
    BitScan = 19,
    /// It counts the bits that are set.
    PopulationCount = 20,
    /// It exchanges two operands.
    Exchange = 21,
    /// It compares, and exchanges if equal; or a conditional store of a reservation.
    CompareExchange = 22,
    /// A multiplication of integers.
    Multiply = 23,
    /// A multiplication of integers whose product has both halves.
    WideMultiply = 24,
    /// A division of signed integers.
    SignedDivide = 25,
    /// An iteration of a string instruction.
    String = 26,
    /// One of the system: registers of control, tables, translations.
    System = 27,
    /// One in microcode that no other class describes.
    Microcode = 28,
    /// Addition or subtraction of floating-point numbers.
    FloatAdd = 29,
    /// Multiplication of floating-point numbers.
    FloatMultiply = 30,
    /// Multiplication and addition in one.
    FloatMultiplyAdd = 31,
    /// Division of floating-point numbers.
    FloatDivide = 32,
    /// Square root.
    FloatSquareRoot = 33,
    /// Comparison of floating-point numbers, with a result in flags or in a condition register.
    FloatCompare = 34,
    /// Conversion between formats, or between integers and floating-point numbers.
    FloatConvert = 35,
    /// Move, sign or selection of floating-point or vector registers.
    FloatMove = 36,
    /// An estimate of a reciprocal or of its square root.
    FloatEstimate = 37,
    /// Decimal or quad-precision arithmetic.
    Decimal = 38,
    /// Vector arithmetic or logic of integers.
    Vector = 39,
    /// Vector multiplication of integers.
    VectorMultiply = 40,
    /// It moves elements within vectors.
    VectorPermute = 41,
    /// A step of encryption or of a checksum.
    Crypto = 42,
    /// A move from a general to a floating-point or vector register.
    ToVector = 43,
    /// A move from a floating-point or vector to a general register.
    FromVector = 44,
    /// Extension of a narrower integer by its sign or by zeros.
    Extend = 45,
    /// A move that a condition decides on.
    ConditionalMove = 46,
    /// Addition or subtraction of integers with a carry or borrow from before.
    AddWithCarry = 47,
    /// It orders accesses, and waits for none.
    LightFence = 48,
    /// It orders accesses to devices, and waits until the stores before it are done.
    DeviceFence = 49,
    /// It invalidates translations in every processor.
    TranslationInvalidation = 50,
    /// It invalidates segments in every processor, or waits until that is done.
    SegmentInvalidation = 51,
    /// It pastes a line to an accelerator.
    Paste = 52,
    /// It begins a transaction.
    TransactionBegin = 53,
    /// It begins a transaction within another.
    NestedTransactionBegin = 54,
    /// It ends the outermost transaction.
    TransactionEnd = 55,
    /// It ends a transaction within another.
    NestedTransactionEnd = 56,
    /// It writes the floating-point status and control register.
    StatusWrite = 57,
    /// It cleans or invalidates a line of a cache.
    CacheBlock = 58,
    /// It reads a special register of the load/store unit.
    MemoryRegister = 59,
}

pub(crate) const CLASSES: [Class; 60] = [
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

/// In VmPmuAccess::flags: it is part of a locked read-modify-write.
pub const VM_PMU_ACCESS_LOCKED: u8 = 1 << 0;
/// In VmPmuAccess::flags: it goes to a device, or to memory that is not cached.
pub const VM_PMU_ACCESS_UNCACHED: u8 = 1 << 1;

/// One access to memory. One that crosses into a page that is not contiguous in physical memory is reported as two.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuAccess {
    /// The virtual address.
    pub address: u64,
    /// The physical address of the first byte.
    pub physical: u64,
    /// Its size in bytes.
    pub bytes: u8,
    /// VmPmuAccessKind.
    pub kind: u8,
    /// VM_PMU_ACCESS_...
    pub flags: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// In VmPmuInstruction::flags: it is one of the floating-point or vector unit.
pub const VM_PMU_INSTRUCTION_FLOATING_POINT: u32 = 1 << 0;
/// In VmPmuInstruction::flags: its transfer left the next sequential address.
pub const VM_PMU_INSTRUCTION_TAKEN: u32 = 1 << 1;
/// In VmPmuInstruction::flags: it crosses into a page that does not follow in physical memory, whose address is next_page.
pub const VM_PMU_INSTRUCTION_NEXT_PAGE: u32 = 1 << 2;

/// In VmPmuInstruction::flags: the fields from address_registers on say what it works on. Without it, it is taken to need the result of
/// the instruction before, and its own to be ready a cycle later.
pub const VM_PMU_INSTRUCTION_OPERATION: u32 = 1 << 3;
/// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it works on several elements at once.
pub const VM_PMU_INSTRUCTION_PACKED: u32 = 1 << 4;

/// In VmPmuInstruction::flags: it is one of IA-64, with its bundle and slot.
pub const VM_PMU_INSTRUCTION_BUNDLE: u32 = 1 << 5;
/// In VmPmuInstruction::flags: it is a taken call or return, whose function_state is told.
pub const VM_PMU_INSTRUCTION_FUNCTION_STATE: u32 = 1 << 6;

/// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it writes the upper half of a vector register, and keeps the lower one.
pub const VM_PMU_INSTRUCTION_UPPER: u32 = 1 << 7;

/// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: the floating-point unit has to see whether it raises an exception, as an
/// operand's exponent is near the end of its range.
pub const VM_PMU_INSTRUCTION_MAY_TRAP: u32 = 1 << 8;

/// All flags of an instruction.
pub(crate) const FLAGS: u32 = VM_PMU_INSTRUCTION_FLOATING_POINT
    | VM_PMU_INSTRUCTION_TAKEN
    | VM_PMU_INSTRUCTION_NEXT_PAGE
    | VM_PMU_INSTRUCTION_OPERATION
    | VM_PMU_INSTRUCTION_PACKED
    | VM_PMU_INSTRUCTION_BUNDLE
    | VM_PMU_INSTRUCTION_FUNCTION_STATE
    | VM_PMU_INSTRUCTION_UPPER
    | VM_PMU_INSTRUCTION_MAY_TRAP;

/// What the elements of an operand of the floating-point or vector unit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmPmuElements {
    /// Not told.
    Untold = 0,
    /// Integers, of whatever width.
    Integers = 1,
    /// Floating-point numbers of single precision.
    Singles = 2,
    /// Floating-point numbers of double precision.
    Doubles = 3,
}

/// One executed instruction, or an interrupt or exception that was taken.
///
/// Registers have numbers of the embedder's choice below 512; flags, condition fields and predicates are registers too. A register that
/// always reads the same is left out.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuInstruction {
    /// sizeof(VmPmuInstruction).
    pub size: usize,
    /// Its virtual address.
    pub address: u64,
    /// Its physical address.
    pub physical: u64,
    /// The physical address of the next page, with VM_PMU_INSTRUCTION_NEXT_PAGE.
    pub next_page: u64,
    /// Where its transfer went, or would have gone.
    pub target: u64,
    /// What it accesses, in order; null if nothing.
    pub accesses: *const VmPmuAccess,
    /// How many accesses: VM_PMU_MOST_ACCESSES at most.
    pub access_count: usize,
    /// VM_PMU_INSTRUCTION_...
    pub flags: u32,
    /// Its length in bytes; 0 if nothing was fetched.
    pub bytes: u8,
    /// How many slots of a cycle it takes; 0 is one.
    pub micro_ops: u8,
    /// VmPmuClass.
    pub instruction_class: u8,
    /// How many segment registers it loads.
    pub segment_loads: u8,
    /// VmPmuBranch: its kind of control transfer.
    pub branch: u8,
    /// The slot of its bundle, 0 to 2, with VM_PMU_INSTRUCTION_BUNDLE; a long instruction is in slot 1.
    pub slot: u8,
    /// The 16 bytes of its bundle as two little-endian words, with VM_PMU_INSTRUCTION_BUNDLE.
    pub bundle: [u64; 2],
    /// AR.PFS as a taken call left it or a taken return found it, with VM_PMU_INSTRUCTION_FUNCTION_STATE.
    pub function_state: u64,
    /// The registers that addresses are computed from; null if there are none.
    pub address_registers: *const u16,
    /// The other registers that it reads, also where it writes a part and the rest is kept; null if there are none.
    pub read_registers: *const u16,
    /// The registers that it writes; null if there are none.
    pub written_registers: *const u16,
    /// How many address_registers.
    pub address_register_count: u8,
    /// How many read_registers.
    pub read_register_count: u8,
    /// How many written_registers.
    pub written_register_count: u8,
    /// The width of its operands in bytes: of the whole vector where there are several elements, 10 for x87's extended numbers; 0 if it has
    /// none.
    pub width: u8,
    /// VmPmuElements: of its result, or of its sources if it has none.
    pub elements: u8,
    /// How many legacy prefixes it has, on x86.
    pub prefixes: u8,
}

// SAFETY: `repr(C)`, `size` first; integers, and pointers that are checked before use.
unsafe impl Growing for VmPmuInstruction {
    const NAME: &'static str = "VmPmuInstruction";
    const FIRST: usize = std::mem::offset_of!(VmPmuInstruction, branch) + 1;
}

/// The most accesses of one instruction: report longer ones in parts.
pub const VM_PMU_MOST_ACCESSES: usize = 64;

pub(crate) fn access(given: &VmPmuAccess) -> Result<Access, Failure> {
    let unknown = given.flags & !(VM_PMU_ACCESS_LOCKED | VM_PMU_ACCESS_UNCACHED);
    if unknown != 0 || given.reserved != [0; 5] {
        return Err(argument(format!("an access sets what this library does not know (flags {unknown:#x}): it must be zero")));
    }
    Ok(Access {
        address: given.address,
        physical: given.physical,
        size: given.bytes,
        kind: pick(&KINDS, given.kind, "the kind of an access")?,
        locked: given.flags & VM_PMU_ACCESS_LOCKED != 0,
        uncached: given.flags & VM_PMU_ACCESS_UNCACHED != 0,
    })
}

/// What an instruction works on, if it says so.
///
/// # Safety
/// Each pointer to registers that is not null points to as many as the field with their number says.
pub(crate) unsafe fn operation(given: &VmPmuInstruction) -> Result<Option<Operation<'_>>, Failure> {
    if given.flags & VM_PMU_INSTRUCTION_OPERATION == 0 {
        return Ok(None);
    }
    // SAFETY: the caller's promise; a register is laid out as its number.
    let registers = |first: *const u16, count: u8, what| unsafe { list(first.cast::<Register>(), usize::from(count), what) };
    Ok(Some(Operation {
        width: given.width,
        packed: given.flags & VM_PMU_INSTRUCTION_PACKED != 0,
        elements: pick(&Elements::ALL, given.elements, "elements")?,
        upper: given.flags & VM_PMU_INSTRUCTION_UPPER != 0,
        may_trap: given.flags & VM_PMU_INSTRUCTION_MAY_TRAP != 0,
        prefixes: given.prefixes,
        addresses: registers(given.address_registers, given.address_register_count, "address_registers")?,
        reads: registers(given.read_registers, given.read_register_count, "read_registers")?,
        writes: registers(given.written_registers, given.written_register_count, "written_registers")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> VmPmuInstruction {
        // SAFETY: every pattern of bits is a value.
        unsafe { std::mem::zeroed() }
    }

    #[test]
    fn what_it_works_on_counts_with_its_flag_only() {
        let (addresses, reads, writes) = ([3, 7], [0], [0, 16, 511]);
        let mut given = VmPmuInstruction {
            flags: VM_PMU_INSTRUCTION_OPERATION | VM_PMU_INSTRUCTION_PACKED | VM_PMU_INSTRUCTION_UPPER,
            address_registers: addresses.as_ptr(),
            address_register_count: 2,
            read_registers: reads.as_ptr(),
            read_register_count: 1,
            written_registers: writes.as_ptr(),
            written_register_count: 3,
            width: 16,
            elements: VmPmuElements::Doubles as u8,
            prefixes: 2,
            ..given()
        };
        // SAFETY: as many registers are there.
        let told = unsafe { operation(&given) }.map_err(|_| ());
        let operation_of = Operation {
            width: 16,
            packed: true,
            elements: Elements::Doubles,
            upper: true,
            may_trap: false,
            prefixes: 2,
            addresses: &[Register(3), Register(7)],
            reads: &[Register(0)],
            writes: &[Register(0), Register(16), Register(511)],
        };
        assert_eq!(told, Ok(Some(operation_of)));
        given.flags = 0;
        // SAFETY: the same.
        assert_eq!(unsafe { operation(&given) }.map_err(|_| ()), Ok(None));
    }

    #[test]
    fn numbers_stand_for_what_the_header_says() {
        assert_eq!(KINDS[VmPmuAccessKind::StreamingStore as usize], AccessKind::StreamingStore);
        assert_eq!(KINDS[VmPmuAccessKind::Flush as usize], AccessKind::Flush);
        assert_eq!(KINDS[VmPmuAccessKind::RegisterStackStore as usize], AccessKind::RegisterStackStore);
        assert_eq!(CLASSES[VmPmuClass::Exception as usize], Class::Exception);
        assert_eq!(CLASSES[VmPmuClass::FromVector as usize], Class::FromVector);
    }

    #[test]
    fn classes_have_the_numbers_of_the_companion() {
        assert!(CLASSES.iter().enumerate().all(|(number, class)| *class as usize == number));
        assert_eq!(CLASSES.len(), VmPmuClass::MemoryRegister as usize + 1);
    }
}
