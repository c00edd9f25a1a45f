//! What an instruction works on, by iced-x86's tables and its own operation.

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register as Name, RflagsBits};
use vm_pmu::companion::{Class, Elements, Register};

use super::op::{Decoded, Op, Operand};
use super::registers::{Operands, register};
use super::state::ZERO;

const FLAGS: Register = Register(register::FLAGS);
const DIRECTION: Register = Register(register::DIRECTION);

/// The flags that are one register.
const STATUS: u32 = RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::PF | RflagsBits::CF;

/// What an instruction works on, with its operands as [`refine`](super::mnemonic::refine) completed them.
pub(crate) fn operands(i: &Instruction, d: &Decoded) -> Operands {
    let mut operands = Operands::new(class(d), width(d));
    operands.packed = matches!(d.op, Op::MovX | Op::XorX);
    operands.elements = elements(i, d);
    if operands.class == Class::Nop {
        return operands;
    }
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(i);
    let implied = info.used_memory().iter().flat_map(|memory| [memory.base(), memory.index(), memory.segment()]);
    // The address that LEA or a prefetch only computes is of no access.
    let named = d.has_memory().then(|| [i.memory_base(), i.memory_index()]);
    for name in implied.chain(named.into_iter().flatten()).filter(|name| addresses(*name)) {
        number_of(name).into_iter().for_each(|register| operands.address(register));
    }
    for used in info.used_registers() {
        let name = used.register();
        let Some(register) = number_of(name) else { continue };
        // The rest of the register is kept.
        let partial = name.is_gpr() && name.size() <= 2;
        let (reads, writes) = match used.access() {
            OpAccess::Read | OpAccess::CondRead => (true, false),
            OpAccess::Write => (partial, true),
            OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
            OpAccess::None | OpAccess::NoMemAccess => (false, false),
        };
        if reads {
            operands.read(register);
        }
        if writes {
            operands.write(register);
        }
    }
    // A vector register that is combined with itself waits for its former value all the same.
    if d.op == Op::XorX {
        number_of(i.op_register(0)).into_iter().for_each(|register| operands.read(register));
    }
    for (flags, register) in [(STATUS, FLAGS), (RflagsBits::DF, DIRECTION)] {
        if i.rflags_read() & flags != 0 {
            operands.read(register);
        }
        if i.rflags_modified() & flags != 0 {
            operands.write(register);
        }
    }
    operands
}

/// What the elements are that a vector instruction names.
fn elements(i: &Instruction, d: &Decoded) -> Elements {
    match i.mnemonic() {
        Mnemonic::Movaps | Mnemonic::Movups | Mnemonic::Movntps | Mnemonic::Xorps => Elements::Singles,
        Mnemonic::Movapd | Mnemonic::Movupd | Mnemonic::Movntpd | Mnemonic::Xorpd => Elements::Doubles,
        _ if matches!(d.op, Op::MovX | Op::XorX | Op::MovXLow | Op::MovXFromGpr | Op::MovXToGpr) => Elements::Integers,
        _ => Elements::Untold,
    }
}

/// How many legacy prefixes an instruction begins with.
pub(crate) fn prefixes(bytes: &[u8]) -> u8 {
    let is_prefix = |byte: &&u8| matches!(**byte, 0xF0 | 0xF2 | 0xF3 | 0x26 | 0x2E | 0x36 | 0x3E | 0x64..=0x67);
    bytes.iter().take_while(is_prefix).count() as u8
}

/// Whether an address depends on this register: the bases of four of the segments are 0.
fn addresses(name: Name) -> bool {
    name.is_gpr() || name.is_vector_register() || matches!(name, Name::FS | Name::GS)
}

fn number_of(name: Name) -> Option<Register> {
    let first = match name {
        _ if name.is_gpr() => return Some(Register(register::GENERAL + name.full_register().number() as u16)),
        _ if name.is_segment_register() => register::SEGMENTS,
        _ if name.is_st() => register::X87,
        _ if name.is_mm() => register::MMX,
        _ if name.is_vector_register() => register::VECTORS,
        _ if name.is_k() => register::MASKS,
        _ if name.is_cr() => register::CONTROL,
        _ if name.is_dr() => register::DEBUG,
        _ => return None,
    };
    Some(Register(first + name.number() as u16))
}

fn class(d: &Decoded) -> Class {
    match d.op {
        Op::Mov | Op::MovFromSeg => moved(d, Class::Simple),
        Op::Movnti => Class::Store,
        Op::Movzx | Op::Movsx => Class::Extend,
        Op::Lea => address(d),
        Op::Xchg | Op::Xadd => Class::Exchange,
        Op::Cmpxchg | Op::Cmpxchg8b | Op::Cmpxchg16b => Class::CompareExchange,
        Op::Push | Op::PushSeg => Class::Push,
        Op::Pop | Op::Leave => Class::Pop,
        Op::Cmov => Class::ConditionalMove,
        Op::Adc | Op::Sbb => Class::AddWithCarry,
        Op::Add
        | Op::Or
        | Op::And
        | Op::Sub
        | Op::Xor
        | Op::Cmp
        | Op::Test
        | Op::Inc
        | Op::Dec
        | Op::Neg
        | Op::Not
        | Op::Andn
        | Op::Bt
        | Op::Set
        | Op::Bswap
        | Op::Movbe
        | Op::Cbw
        | Op::Cwd
        | Op::Lahf
        | Op::Sahf
        | Op::Clc
        | Op::Stc
        | Op::Cmc => Class::Simple,
        Op::Mul | Op::ImulOne => Class::WideMultiply,
        Op::Imul | Op::Imul3 => Class::Multiply,
        Op::Div => Class::Divide,
        Op::Idiv => Class::SignedDivide,
        Op::Shl | Op::Shr | Op::Sar | Op::Rol | Op::Ror => Class::Shift,
        // By one bit they are as simple as other shifts.
        Op::Rcl | Op::Rcr if d.src == Operand::Imm && d.immediate == 1 => Class::Shift,
        Op::Rcl | Op::Rcr => Class::RotateThroughCarry,
        Op::Shld | Op::Shrd => Class::DoubleShift,
        Op::Bts | Op::Btr | Op::Btc => Class::BitTest,
        Op::Bsf | Op::Bsr | Op::Lzcnt | Op::Tzcnt => Class::BitScan,
        Op::Popcnt => Class::PopulationCount,
        Op::Jcc | Op::Jmp | Op::JmpIndirect | Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz => Class::Branch,
        Op::Call | Op::CallIndirect => Class::Call,
        Op::Ret => Class::Return,
        Op::Movs | Op::Stos | Op::Lods | Op::Scas | Op::Cmps | Op::Ins | Op::Outs => Class::String,
        Op::Nop | Op::UnitNop => Class::Nop,
        Op::Fence => Class::Fence,
        // Those of `InstructionClass::Serializing`.
        Op::Cpuid
        | Op::Iret
        | Op::MovToCr
        | Op::MovToDr
        | Op::Wrmsr
        | Op::Lgdt
        | Op::Lidt
        | Op::Lldt
        | Op::Ltr
        | Op::Wbinvd
        | Op::Invlpg => Class::Serializing,
        Op::Hlt
        | Op::Cli
        | Op::Sti
        | Op::Clts
        | Op::Swapgs
        | Op::Rdtsc
        | Op::Rdtscp
        | Op::Rdpid
        | Op::Rdmsr
        | Op::Rdpmc
        | Op::In
        | Op::Out
        | Op::Sgdt
        | Op::Sidt
        | Op::Sldt
        | Op::Str
        | Op::Lmsw
        | Op::Smsw
        | Op::MovFromCr
        | Op::MovFromDr
        | Op::MovToSeg
        | Op::PopSeg
        | Op::Rdfsbase
        | Op::Rdgsbase
        | Op::Wrfsbase
        | Op::Wrgsbase => Class::System,
        // It takes the way of a load, without a result.
        Op::Prefetch => Class::Load,
        Op::MovX | Op::MovXLow => moved(d, Class::FloatMove),
        Op::MovXToGpr => moved(d, Class::FromVector),
        Op::MovXFromGpr => moved(d, Class::ToVector),
        Op::XorX => Class::Vector,
        Op::Pushf
        | Op::Popf
        | Op::Xlat
        | Op::Cld
        | Op::Std
        | Op::Enter
        | Op::JmpFar
        | Op::CallFar
        | Op::Retf
        | Op::Int
        | Op::Int3
        | Op::Into
        | Op::Ud
        | Op::Syscall
        | Op::Sysret
        | Op::Sysenter
        | Op::Sysexit
        | Op::Pause
        | Op::Clflush
        | Op::Unsupported => Class::Microcode,
    }
}

/// The class of a move, which has its own between registers.
fn moved(d: &Decoded, registers: Class) -> Class {
    match (d.dst, d.src) {
        (Operand::Mem, _) => Class::Store,
        (_, Operand::Mem) => Class::Load,
        _ => registers,
    }
}

fn address(d: &Decoded) -> Class {
    let sources = [d.base != ZERO, d.index != ZERO, d.displacement != 0];
    let three = sources.iter().all(|source| *source);
    if three || d.index != ZERO && d.scale != 0 { Class::AddressScaled } else { Class::Address }
}

fn width(d: &Decoded) -> u8 {
    match d.op {
        Op::Jcc | Op::Jmp | Op::Loop | Op::Loope | Op::Loopne | Op::Jrcxz => 0,
        Op::Clc | Op::Stc | Op::Cmc | Op::Cld | Op::Std | Op::Cli | Op::Sti | Op::Clts => 0,
        Op::Nop | Op::UnitNop | Op::Pause | Op::Fence | Op::Hlt | Op::Prefetch | Op::Clflush | Op::Invlpg | Op::Wbinvd => 0,
        Op::Cpuid | Op::Rdtsc | Op::Rdtscp | Op::Rdmsr | Op::Wrmsr | Op::Rdpmc | Op::Swapgs => 0,
        Op::Int | Op::Int3 | Op::Into | Op::Ud | Op::Syscall | Op::Sysret | Op::Sysenter | Op::Sysexit => 0,
        Op::Call | Op::CallIndirect | Op::JmpIndirect | Op::Ret => 8,
        Op::MovXFromGpr => d.source_size,
        _ => d.size,
    }
}

#[cfg(test)]
mod tests;
