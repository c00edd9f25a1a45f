//! Pairs of instructions that the decoder makes one (PP81).

use vm_pmu::arch::feed::Signal;

use vm_pmu::cpu::Counts;

/// Primary opcodes.
const ADDI: u32 = 14;
const ADDIS: u32 = 15;
const ORI: u32 = 24;
const EXTENDED: u32 = 31;
const LWZ: u32 = 32;
const LBZ: u32 = 34;
const STW: u32 = 36;
const STB: u32 = 38;
const LHZ: u32 = 40;
const LHA: u32 = 42;
const STH: u32 = 44;
const LFS: u32 = 48;
const LFD: u32 = 50;
const STFS: u32 = 52;
const STFD: u32 = 54;
const LD: u32 = 58;
const STD: u32 = 62;
/// Extended opcodes of loads of vectors with an index: lvx, lxvd2x, lxvw4x, lxvdsx.
const INDEXED: [u32; 4] = [103, 844, 780, 332];

/// The fields of an instruction.
#[derive(Clone, Copy)]
struct Fields(u32);

impl Fields {
    fn opcode(self) -> u32 {
        self.0 >> 26
    }

    /// The first register: of most instructions the target, of logical ones the source.
    fn first(self) -> u32 {
        self.0 >> 21 & 31
    }

    fn second(self) -> u32 {
        self.0 >> 16 & 31
    }

    fn third(self) -> u32 {
        self.0 >> 11 & 31
    }

    fn extended(self) -> u32 {
        self.0 >> 1 & 0x3FF
    }

    /// Whether it loads or stores at a displacement from a base that it leaves alone, and whether it loads a general register.
    fn displaced(self) -> Option<bool> {
        match (self.opcode(), self.0 & 3) {
            (LWZ | LBZ | LHZ | LHA, _) | (LD, 0 | 2) => Some(true),
            (STW | STB | STH | LFS | LFD | STFS | STFD, _) | (STD, 0) => Some(false),
            _ => None,
        }
    }
}

/// What the decoder makes of two instructions in sequence.
fn fused(first: u32, second: u32) -> Option<Signal> {
    let (first, second) = (Fields(first), Fields(second));
    let target = first.first();
    let same = second.first() == target && second.second() == target;
    match (first.opcode(), second.opcode()) {
        (ADDIS, ORI | ADDI) if first.second() == 0 && same && target != 0 => Some(Signal::FusedConstants),
        // The base has no other use if the load replaces it; what loads no general register leaves it.
        (ADDIS, _) => {
            let replaces = second.displaced()?;
            (target != 0 && second.second() == target && (!replaces || same)).then_some(Signal::FusedDisplacements)
        }
        (ADDI, EXTENDED) if INDEXED.contains(&second.extended()) => {
            (second.third() == target && second.second() != 0).then_some(Signal::FusedDisplacements)
        }
        _ => None,
    }
}

/// Adds what two instructions in sequence make together, as far as it is wanted.
#[inline]
pub(super) fn add(first: u32, second: u32, sink: &Counts<'_>) {
    if (sink.wants(Signal::FusedDisplacements) || sink.wants(Signal::FusedConstants))
        && let Some(signal) = fused(first, second)
    {
        sink.add(signal, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn displaced(opcode: u32, first: u32, second: u32) -> u32 {
        opcode << 26 | first << 21 | second << 16 | 0x10
    }

    #[test]
    fn a_shifted_addition_and_an_access_at_its_result_are_one() {
        let addis = displaced(ADDIS, 9, 2);
        let pairs = [(LD, 9, 9), (LD, 10, 9), (LFD, 1, 9), (STD, 3, 9), (STD, 3, 8)];
        let expected = [true, false, true, true, false];
        assert_eq!(pairs.map(|(opcode, first, second)| fused(addis, displaced(opcode, first, second)).is_some()), expected);
    }

    #[test]
    fn an_update_form_stays_apart() {
        // ldu is ld with 1 in its lowest bits, lwzu has an opcode of its own.
        let addis = displaced(ADDIS, 9, 2);
        assert_eq!([displaced(LD, 9, 9) | 1, displaced(LWZ + 1, 9, 9)].map(|second| fused(addis, second)), [None, None]);
    }

    #[test]
    fn a_constant_of_two_halves_is_one() {
        let lis = displaced(ADDIS, 9, 0);
        assert_eq!(fused(lis, displaced(ORI, 9, 9)), Some(Signal::FusedConstants));
        assert_eq!(fused(lis, displaced(ORI, 9, 8)), None);
        assert_eq!(fused(displaced(ADDIS, 9, 2), displaced(ORI, 9, 9)), None);
    }

    #[test]
    fn an_addition_gives_an_indexed_load_of_a_vector_its_displacement() {
        // lxvd2x of register 1 at base 6 and index 9, and at no base.
        let load = |base: u32| EXTENDED << 26 | 1 << 21 | base << 16 | 9 << 11 | 844 << 1;
        assert_eq!([6, 0].map(|base| fused(displaced(ADDI, 9, 0), load(base))), [Some(Signal::FusedDisplacements), None]);
    }
}
