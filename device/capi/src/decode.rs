//! Decoding of instructions: registers, class, branch and accesses, by their bytes.

use std::ffi::c_char;

use vm_pmu::companion::Register;
use vm_pmu::decode::{Access, Decoded, Description, MOST_ACCESSES, MOST_REGISTERS, Mode, Undecoded, decode};

use crate::cpu::VmPmuGrowth;
use crate::instruction::{
    KINDS, VM_PMU_ACCESS_LOCKED, VM_PMU_INSTRUCTION_FLOATING_POINT, VM_PMU_INSTRUCTION_OPERATION, VM_PMU_INSTRUCTION_PACKED,
    VM_PMU_INSTRUCTION_TAKEN, VM_PMU_INSTRUCTION_UPPER, VmPmuInstruction,
};
use crate::machine::part;
use crate::pointer::{Growing, fill, fillable, list, offer, offerable, writable};
use crate::status::{Failure, VmPmuStatus, guarded, misuse};
use crate::vocabulary::{BRANCHES, UNITS, number, pick};

/// How bytes are read: an instruction set, and a mode of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum VmPmuCodeMode {
    /// x86, code of 16 bits.
    X86Bits16 = 0,
    /// x86, code of 32 bits.
    X86Bits32 = 1,
    /// x86, code of 64 bits.
    X86Bits64 = 2,
    /// POWER, with words in little-endian order (MSR.LE is 1).
    PowerLittleEndian = 3,
    /// POWER, with words in big-endian order.
    PowerBigEndian = 4,
}

/// The most registers of a decoded instruction.
pub const VM_PMU_MOST_DECODED_REGISTERS: usize = 10;

/// The most signals that vm_pmu_decode_signals() lists of an instruction.
pub const VM_PMU_MOST_DECODED_SIGNALS: usize = 16;

/// The most accesses of a decoded instruction that are listed.
pub const VM_PMU_MOST_DECODED_ACCESSES: usize = 8;

const _: () = assert!(VM_PMU_MOST_DECODED_REGISTERS == MOST_REGISTERS && VM_PMU_MOST_DECODED_ACCESSES == MOST_ACCESSES);

/// In VmPmuDecoded::flags: its transfer goes to VmPmuInstruction::target whenever it is taken. Without it, the bytes have no target.
pub const VM_PMU_DECODED_TARGET: u8 = 1 << 0;
/// In VmPmuDecoded::flags: its transfer depends on a condition.
pub const VM_PMU_DECODED_CONDITIONAL: u8 = 1 << 1;
/// In VmPmuDecoded::flags: it makes its accesses any number of times, such as a string instruction with a REP prefix. Each iteration is reported
/// as an instruction of its own.
pub const VM_PMU_DECODED_REPEATS: u8 = 1 << 2;

/// An access to memory, as the bytes of an instruction tell it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuDecodedAccess {
    /// Its size in bytes. One of more than 255 is reported in parts.
    pub bytes: u16,
    /// VmPmuAccessKind.
    pub kind: u8,
    /// VM_PMU_ACCESS_LOCKED, or 0.
    pub flags: u8,
}

/// The facts that the bytes of an instruction tell besides a VmPmuInstruction, and the room for the lists of that. It stays where it is for as long as the
/// VmPmuInstruction is used.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuDecoded {
    /// sizeof(VmPmuDecoded).
    pub size: usize,
    /// The registers: VmPmuInstruction's three lists are in here.
    pub registers: [u16; 10],
    /// The accesses, loads before stores: access_count of them.
    pub accesses: [VmPmuDecodedAccess; 8],
    /// How many accesses.
    pub access_count: u8,
    /// VM_PMU_DECODED_...
    pub flags: u8,
    /// VmPmuUnit: the unit that executes it, for VmPmuRecord::unit; not known of x86.
    pub unit: u8,
}

// SAFETY: `repr(C)`, `size` first; integers.
unsafe impl Growing for VmPmuDecoded {
    const NAME: &'static str = "VmPmuDecoded";
    const FIRST: usize = std::mem::offset_of!(VmPmuDecoded, flags) + 1;
}

/// The instruction at the start of `count` bytes.
///
/// # Safety
/// So many bytes are at `bytes`.
unsafe fn decoded(mode: u32, bytes: *const u8, count: usize, address: u64) -> Result<Decoded, Failure> {
    let mode = pick(&Mode::ALL, u8::try_from(mode).unwrap_or(u8::MAX), "mode")?;
    // SAFETY: the caller's promise.
    let bytes = unsafe { list(bytes, count, "the bytes of the instruction") }?;
    decode(bytes, mode, address).map_err(|why| {
        let status = if why == Undecoded::LeftOut { VmPmuStatus::ErrorUnsupported } else { VmPmuStatus::ErrorInstruction };
        misuse(status, why.to_string())
    })
}

/// Decodes the instruction at the start of `count` bytes, whose first is at the virtual address `address`, as the VmPmuCodeMode `mode` says. 15 bytes
/// are always enough for x86, 4 for POWER. An emulator calls this once for each instruction that it translates.
///
/// Fills `instruction`, whose size is set, so that vm_pmu_follow() and vm_pmu_cpu_execute() can be given it: its length, class, micro-operations,
/// registers, kind of transfer and the like. What only the execution tells is then set by the caller: `physical`, `next_page`, the accesses with their
/// addresses, `target` without VM_PMU_DECODED_TARGET, and VM_PMU_INSTRUCTION_TAKEN with VM_PMU_DECODED_CONDITIONAL; of others it is set. The lists of
/// registers are in `decoded`, whose size is set too.
///
/// Registers have these numbers. x86: 0 to 15 the general ones in the order of their encoding (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15),
/// 16 the status flags, 17 the direction flag, 18 to 23 ES, CS, SS, DS, FS, GS, from 24 on x87's stack, from 32 on MMX, from 40 on XMM0 to XMM31,
/// from 72 on masks, from 80 on CR, from 96 on DR. POWER: 0 to 31 GPRs, from 32 on VSR 0 to 63, from 96 on the fields of CR, 104 the carry, 105 the
/// overflow of XER, 106 LR, 107 CTR, 108 TAR, 109 FPSCR.
///
/// VM_PMU_STATUS_ERROR_INSTRUCTION if no instruction is there, or not all of it; nothing is filled then.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_decode(
    mode: u32,
    bytes: *const u8,
    count: usize,
    address: u64,
    instruction: *mut VmPmuInstruction,
    decoded: *mut VmPmuDecoded,
) -> VmPmuStatus {
    guarded(|| {
        writable(instruction, VmPmuInstruction::NAME)?;
        writable(decoded, VmPmuDecoded::NAME)?;
        // SAFETY: the caller's promise: both may be written, and their sizes are set.
        unsafe {
            fillable(instruction)?;
            fillable(decoded)?;
        }
        // SAFETY: the caller's promise.
        let found = unsafe { self::decoded(mode, bytes, count, address) }?;
        let description = found.description();
        // SAFETY: a struct is there; no reference to its inside is made.
        let registers = unsafe { &raw const (*decoded).registers }.cast::<u16>();
        // SAFETY: both are there, with their sizes.
        unsafe {
            fill(decoded, told(&found))?;
            fill(instruction, converted(description, address, registers))
        }
    })
}

/// The description for a caller in C, whose registers are at `registers` in the order of the lists.
fn converted(description: &Description, address: u64, registers: *const u16) -> VmPmuInstruction {
    let operands = &description.operands;
    let mut place = registers;
    let mut part = |list: &[Register]| {
        let first = if list.is_empty() { std::ptr::null() } else { place };
        place = place.wrapping_add(list.len());
        (first, list.len() as u8)
    };
    let (addresses, reads, writes) = (part(operands.addresses()), part(operands.reads()), part(operands.writes()));
    let taken = description.branch.is_some_and(|branch| !branch.is_conditional());
    let flags = [
        (true, VM_PMU_INSTRUCTION_OPERATION),
        (operands.packed, VM_PMU_INSTRUCTION_PACKED),
        (operands.upper, VM_PMU_INSTRUCTION_UPPER),
        (description.floating_point, VM_PMU_INSTRUCTION_FLOATING_POINT),
        (taken, VM_PMU_INSTRUCTION_TAKEN),
    ];
    VmPmuInstruction {
        size: size_of::<VmPmuInstruction>(),
        address,
        physical: 0,
        next_page: 0,
        target: description.branch.and_then(|branch| branch.target).unwrap_or(0),
        accesses: std::ptr::null(),
        access_count: 0,
        flags: flags.into_iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag),
        bytes: description.length,
        micro_ops: description.micro_ops,
        instruction_class: operands.class as u8,
        segment_loads: description.segment_loads,
        branch: number(&BRANCHES, &description.branch.map(|branch| branch.kind)),
        slot: 0,
        bundle: [0; 2],
        function_state: 0,
        address_registers: addresses.0,
        read_registers: reads.0,
        written_registers: writes.0,
        address_register_count: addresses.1,
        read_register_count: reads.1,
        written_register_count: writes.1,
        width: operands.width,
        elements: operands.elements as u8,
        prefixes: operands.prefixes,
    }
}

/// The rest of the description.
fn told(found: &Decoded) -> VmPmuDecoded {
    let description = found.description();
    let operands = &description.operands;
    let mut registers = [0; MOST_REGISTERS];
    let listed = operands.addresses().iter().chain(operands.reads()).chain(operands.writes());
    registers.iter_mut().zip(listed).for_each(|(place, register)| *place = register.0);
    let mut accesses = [VmPmuDecodedAccess { bytes: 0, kind: 0, flags: 0 }; MOST_ACCESSES];
    accesses.iter_mut().zip(description.accesses()).for_each(|(place, access)| *place = access_of(access));
    let flags = [
        (description.branch.is_some_and(|branch| branch.target.is_some()), VM_PMU_DECODED_TARGET),
        (description.branch.is_some_and(|branch| branch.is_conditional()), VM_PMU_DECODED_CONDITIONAL),
        (description.repeats, VM_PMU_DECODED_REPEATS),
    ];
    VmPmuDecoded {
        size: size_of::<VmPmuDecoded>(),
        registers,
        accesses,
        access_count: description.accesses().len() as u8,
        flags: flags.into_iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag),
        unit: number(&UNITS, &found.unit()),
    }
}

fn access_of(access: &Access) -> VmPmuDecodedAccess {
    let flags = if access.locked { VM_PMU_ACCESS_LOCKED } else { 0 };
    VmPmuDecodedAccess { bytes: access.bytes, kind: number(&KINDS, &access.kind), flags }
}

/// Lists what the instruction at the start of `count` bytes adds to signals of the part of this name whenever it retires, as far as its bytes
/// determine it: retired instructions and micro-operations, branches by kind, loads and stores, floating point, vectors, moves and system
/// instructions by class. A translator adds these up for each block, and the signals are supplied without following anything.
///
/// Of a conditional branch it lists no direction, and nothing that a cache, a translation buffer or a reservation decides. Writes at most `capacity` of
/// them to `signals`, no signal twice, and to `length`, which may be null, how many there are: VM_PMU_MOST_DECODED_SIGNALS
/// is room for all.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_decode_signals(
    part: *const c_char,
    mode: u32,
    bytes: *const u8,
    count: usize,
    address: u64,
    signals: *mut VmPmuGrowth,
    capacity: u32,
    length: *mut u32,
) -> VmPmuStatus {
    guarded(|| {
        if capacity != 0 {
            writable(signals, "where the signals are to be written")?;
        }
        offerable(length, "where their number is to be written")?;
        // SAFETY: the caller's promise.
        let (part, found) = unsafe { (self::part(part)?, decoded(mode, bytes, count, address)?) };
        let mut listed = 0;
        found.signals(part, |signal, amount| {
            if listed < capacity {
                let growth = VmPmuGrowth { signal: signal.number().into(), amount: u32::try_from(amount).unwrap_or(u32::MAX) };
                // SAFETY: `capacity` of them may be written there, by the caller's promise.
                unsafe { signals.wrapping_add(usize::try_from(listed).unwrap_or(0)).write(growth) };
            }
            listed += 1;
        });
        // SAFETY: the caller's promise.
        unsafe { offer(length, listed, "where their number is to be written") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::operation;

    #[test]
    fn modes_have_the_numbers_of_the_library() {
        let numbers = [
            VmPmuCodeMode::X86Bits16,
            VmPmuCodeMode::X86Bits32,
            VmPmuCodeMode::X86Bits64,
            VmPmuCodeMode::PowerLittleEndian,
            VmPmuCodeMode::PowerBigEndian,
        ];
        let modes = [Mode::X86Bits16, Mode::X86Bits32, Mode::X86Bits64, Mode::PowerLittleEndian, Mode::PowerBigEndian];
        assert!(numbers.iter().enumerate().all(|(index, number)| *number as usize == index));
        assert_eq!(Mode::ALL, modes);
    }

    #[test]
    #[cfg(all(feature = "k8", feature = "power9"))]
    fn what_is_filled_is_taken_for_what_the_bytes_say() {
        // lock cmpxchg [rbx+rcx*2],rdx; movhps xmm0,[rbx]; nop; xvadddp; mtcrf 255,r3
        let rows: [(VmPmuCodeMode, &[u8]); 5] = [
            (VmPmuCodeMode::X86Bits64, &[0xF0, 0x48, 0x0F, 0xB1, 0x14, 0x4B]),
            (VmPmuCodeMode::X86Bits64, &[0x0F, 0x16, 0x03]),
            (VmPmuCodeMode::X86Bits64, &[0x90]),
            (VmPmuCodeMode::PowerBigEndian, &[0xF0, 0x22, 0x1B, 0x00]),
            (VmPmuCodeMode::PowerBigEndian, &[0x7C, 0x6F, 0xF1, 0x20]),
        ];
        for (mode, bytes) in rows {
            // SAFETY: every pattern of bits is a value of both.
            let (mut instruction, mut decoded): (VmPmuInstruction, VmPmuDecoded) = unsafe { std::mem::zeroed() };
            (instruction.size, decoded.size) = (size_of::<VmPmuInstruction>(), size_of::<VmPmuDecoded>());
            // SAFETY: so many bytes, and two structs with their sizes.
            let status = unsafe { vm_pmu_decode(mode as u32, bytes.as_ptr(), bytes.len(), 0x1000, &raw mut instruction, &raw mut decoded) };
            assert_eq!(status, VmPmuStatus::Ok);
            let found = decode(bytes, Mode::ALL[mode as usize], 0x1000).expect("the same bytes");
            // SAFETY: the registers are in `decoded`.
            let taken = unsafe { operation(&instruction) }.map_err(|_| ());
            assert_eq!(taken, Ok(Some(found.description().operation())));
        }
    }
}
