//! Moves of vector registers.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::opcode::{Map, Opcode};
use super::shape::reads_memory;

/// Whether a mnemonic writes more elements than it reads from memory.
pub(super) fn spreads(mnemonic: Mnemonic) -> bool {
    use Mnemonic as M;
    matches!(mnemonic, M::Movddup | M::Vmovddup | M::Vbroadcastss | M::Vbroadcastsd)
        || matches!(
            mnemonic,
            M::Vpbroadcastb | M::Vpbroadcastw | M::Vpbroadcastd | M::Vpbroadcastq | M::Vbroadcastf32x2 | M::Vbroadcasti32x2
        )
}

/// Whether an instruction writes the upper half of a vector register and keeps the lower one.
pub(super) fn writes_upper(i: &Instruction) -> bool {
    match i.mnemonic() {
        Mnemonic::Movhps | Mnemonic::Movhpd => i.op_kind(0) == OpKind::Register,
        Mnemonic::Movlhps => true,
        _ => false,
    }
}

/// Whether an instruction only moves a vector register, or a part of one, from or to memory or another register.
pub(super) fn is_move(i: &Instruction, opcode: &Opcode) -> bool {
    match (opcode.map, opcode.byte) {
        (Map::Of, 0x10..=0x13 | 0x16 | 0x17 | 0x28 | 0x29 | 0x2B | 0x6E | 0x6F | 0x7E | 0x7F | 0xD6 | 0xE7 | 0xF0) => true,
        // Moves of masks.
        (Map::Of, 0x90..=0x93) => opcode.extended,
        // Streaming and masked moves; broadcasts, of which those from memory are loads; compressed and expanded vectors.
        (Map::Of38, 0x2A | 0x2E | 0x2F | 0x8C | 0x8E) => true,
        (Map::Of38, 0x2C | 0x2D) => !opcode.evex && opcode.extended,
        (Map::Of38, 0x18..=0x1B | 0x58..=0x5B | 0x78 | 0x79) => reads_memory(i),
        (Map::Of38, 0x88..=0x8B | 0x90..=0x93 | 0xA0..=0xA3) => i.op_kinds().any(|kind| kind == OpKind::Memory),
        // Elements and halves to memory.
        (Map::Of3a, 0x14..=0x17 | 0x19 | 0x1B | 0x39 | 0x3B) => true,
        _ => false,
    }
}
