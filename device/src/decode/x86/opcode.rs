//! The opcode of an instruction: its map and its byte, which the vector units' three encodings share.

use iced_x86::{EncodingKind, Instruction};

/// Where the opcode is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Map {
    /// One byte.
    One,
    /// 0F.
    Of,
    /// 0F 38.
    Of38,
    /// 0F 3A.
    Of3a,
    /// 0F 0F, 3DNow!, and XOP: the mnemonic alone tells them apart.
    Other,
}

/// The opcode of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opcode {
    pub(super) map: Map,
    pub(super) byte: u8,
    /// It has the EVEX prefix, with which some bytes mean something else.
    pub(super) evex: bool,
    /// It has the VEX prefix or EVEX.
    pub(super) extended: bool,
    /// How many legacy prefixes it has.
    pub(super) prefixes: u8,
}

impl Opcode {
    /// The opcode of `i`, whose bytes are `bytes`.
    pub(super) fn of(i: &Instruction, bytes: &[u8]) -> Opcode {
        let prefixes = bytes.iter().take_while(|byte| is_prefix(**byte)).count();
        let rest = bytes.get(prefixes..).unwrap_or(&[]);
        let at = |index: usize| rest.get(index).copied().unwrap_or(0);
        let encoding = i.encoding();
        let (map, byte) = match encoding {
            EncodingKind::VEX if at(0) == 0xC5 => (Map::Of, at(2)),
            EncodingKind::VEX => (numbered(at(1) & 0x1F), at(3)),
            EncodingKind::EVEX => (numbered(at(1) & 7), at(4)),
            EncodingKind::Legacy => {
                // REX: in other modes 40 to 4F are INC and DEC, which no other opcode follows.
                let skipped = usize::from(i.code_size() == iced_x86::CodeSize::Code64 && at(0) & 0xF0 == 0x40);
                match [at(skipped), at(skipped + 1), at(skipped + 2)] {
                    [0x0F, 0x38, byte] => (Map::Of38, byte),
                    [0x0F, 0x3A, byte] => (Map::Of3a, byte),
                    [0x0F, byte, _] => (Map::Of, byte),
                    [byte, ..] => (Map::One, byte),
                }
            }
            _ => (Map::Other, 0),
        };
        let evex = encoding == EncodingKind::EVEX;
        Opcode { map, byte, evex, extended: evex || encoding == EncodingKind::VEX, prefixes: prefixes as u8 }
    }
}

fn numbered(number: u8) -> Map {
    match number {
        1 => Map::Of,
        2 => Map::Of38,
        3 => Map::Of3a,
        _ => Map::Other,
    }
}

fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0xF0 | 0xF2 | 0xF3 | 0x26 | 0x2E | 0x36 | 0x3E | 0x64..=0x67)
}
