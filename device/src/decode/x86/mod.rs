//! x86: code of 16, 32 and 64 bits.

mod accesses;
mod branch;
mod class;
mod facts;
mod micro_ops;
mod moves;
mod opcode;
mod operands;
pub mod register;
mod shape;
mod signals;
mod vector;
mod width;

pub use facts::{Facts, Prefetch, SimdClass};
pub use micro_ops::is_microcode;
pub use operands::Operands;

use iced_x86::{Decoder, DecoderError, DecoderOptions, InstructionInfoFactory};
use vm_pmu_arch::feed::Signal;

use super::{Description, Undecoded};
use opcode::Opcode;

/// The most bytes of an instruction.
pub const LONGEST: usize = 15;

/// How wide addresses and operands are unless a prefix says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 16 bits: real mode, virtual-8086 mode, and segments of code whose descriptor has D=0.
    Bits16,
    /// 32 bits: segments of code whose descriptor has D=1.
    Bits32,
    /// 64-bit mode.
    Bits64,
}

/// An instruction of x86.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The description for a companion.
    pub description: Description,
    /// Facts besides the description.
    pub facts: Facts,
}

impl Instruction {
    /// Passes to `add` what one such instruction adds to signals as it retires, as far as its bytes determine it. Of a string instruction with a REP
    /// prefix that is what its last iteration adds, without its accesses.
    pub fn signals(&self, add: impl FnMut(Signal, u64)) {
        signals::add(self, add);
    }
}

/// Decodes the instruction at the start of `bytes`, whose first is at the instruction pointer `address`. [`LONGEST`] bytes are always enough, and
/// bytes behind the instruction do not matter.
///
/// ```
/// use vm_pmu::arch::feed::BranchKind;
/// use vm_pmu::decode::Undecoded;
/// use vm_pmu::decode::x86::{Mode, decode};
///
/// let call = decode(&[0xE8, 0xFB, 0xFF, 0xFF, 0xFF], Mode::Bits64, 0x1000).unwrap();
/// let branch = call.description.branch.unwrap();
/// assert_eq!((branch.kind, branch.target), (BranchKind::DirectCall, Some(0x1000)));
/// assert_eq!(decode(&[0xE8, 0xFB], Mode::Bits64, 0x1000), Err(Undecoded::Short));
/// ```
///
/// # Errors
///
/// [`Undecoded`]: no instruction is there, or not all of it.
pub fn decode(bytes: &[u8], mode: Mode, address: u64) -> Result<Instruction, Undecoded> {
    let bits = match mode {
        Mode::Bits16 => 16,
        Mode::Bits32 => 32,
        Mode::Bits64 => 64,
    };
    let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
    let mut decoder = Decoder::with_ip(bits, bytes, address, DecoderOptions::NONE);
    let i = decoder.decode();
    if i.is_invalid() {
        let short = decoder.last_error() == DecoderError::NoMoreBytes && bytes.len() < LONGEST;
        return Err(if short { Undecoded::Short } else { Undecoded::Invalid });
    }
    let bytes = bytes.get(..i.len()).unwrap_or(bytes);
    let opcode = Opcode::of(&i, bytes);
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(&i);
    let facts = Facts::of(&i, &opcode, used);
    let class = class::class(&i, &opcode, &facts);
    let mut description = Description {
        length: i.len() as u8,
        micro_ops: micro_ops::micro_ops(&i, class, &facts),
        operands: operands::operands(&i, class, &facts, used),
        floating_point: facts.simd.is_some(),
        segment_loads: (facts.segments & !facts::CS).count_ones() as u8,
        branch: branch::branch(&i),
        ..Description::default()
    };
    description.operands.width = width::width(&i, mode, class, &facts);
    description.operands.prefixes = opcode.prefixes;
    accesses::add(&i, &facts, used, &mut description);
    Ok(Instruction { description, facts })
}

#[cfg(test)]
mod tests;
