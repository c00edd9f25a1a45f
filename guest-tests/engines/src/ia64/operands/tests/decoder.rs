//! Against the decoder of yaxpeax-ia64.

use std::collections::BTreeSet;

use proptest::prelude::*;
use vm_pmu::companion::{Class, Register};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_ia64::{InstDecoder, Instruction, Opcode, Operand};

use super::{APPLICATION, b, f, operands, p, step};
use crate::ia64::step::Unit;

/// A bundle with the instruction in a slot of its unit, that slot, and no-operations beside it.
fn bundle(unit: Unit, encoding: u64) -> ([u8; 16], usize) {
    const NOP: u64 = 1 << 27;
    let (template, slot) = match unit {
        Unit::M => (0x00, 0),
        Unit::I => (0x00, 1),
        Unit::F => (0x0C, 1),
        Unit::B => (0x10, 2),
        Unit::X => (0x04, 2),
    };
    let mut slots = [NOP; 3];
    slots[slot] = encoding;
    let [first, second, third] = slots.map(u128::from);
    let bits = template | first << 5 | second << 46 | third << 87;
    // The long instruction is the second of its bundle.
    (bits.to_le_bytes(), slot.min(if unit == Unit::X { 1 } else { 2 }))
}

fn number(operand: &Operand) -> Option<u16> {
    let number = match operand {
        Operand::GPRegister(register) | Operand::Memory(register) | Operand::Indirection(_, register) => u16::from(register.0),
        Operand::FloatRegister(register) => f(register.0.into()),
        Operand::PredicateRegister(register) => p(register.0.into()),
        Operand::BranchRegister(register) => b(register.0.into()),
        _ => return None,
    };
    (![0, f(0), f(1), p(0)].contains(&number)).then_some(number)
}

/// The registers that the decoder has an instruction read and write.
fn theirs(instruction: &Instruction) -> [BTreeSet<u16>; 2] {
    let mut lists = [BTreeSet::new(), BTreeSet::new()];
    lists[0].extend(number(&Operand::PredicateRegister(yaxpeax_ia64::PredicateRegister(instruction.predicate()))));
    for (index, operand) in instruction.operands().iter().enumerate() {
        let named = matches!(operand, Operand::Memory(_) | Operand::Indirection(..));
        let written = !named && instruction.last_write_index().is_some_and(|last| index <= usize::from(last));
        lists[usize::from(written)].extend(number(operand));
    }
    lists
}

fn set(registers: &[&[Register]]) -> BTreeSet<u16> {
    registers.concat().iter().map(|register| register.0).filter(|number| *number < APPLICATION).collect()
}

fn any_instruction() -> impl Strategy<Value = (Unit, u64)> {
    let units = prop::sample::select(vec![Unit::M, Unit::I, Unit::F, Unit::B, Unit::X]);
    (units, 0..1u64 << 41, any::<bool>()).prop_map(|(unit, encoding, sparse)| {
        // The extensions are often small.
        (unit, if sparse { encoding & !(0x1F << 32) } else { encoding })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(50_000) })]

    #[test]
    fn registers_are_what_another_decoder_says((unit, encoding) in any_instruction()) {
        let (bytes, slot) = bundle(unit, encoding);
        let Ok(decoded) = InstDecoder::default().decode(&mut U8Reader::new(&bytes)) else { return Ok(()) };
        let Some(instruction) = decoded.instructions().get(slot).filter(|instruction| is_right(instruction)) else { return Ok(()) };
        let found = operands(&step(unit, encoding));
        // What is reserved is executed by nobody, and no-operations have no operands.
        if found.class == Class::Nop || (found.class, found.width) == (Class::Simple, 0) {
            return Ok(());
        }
        let [read, mut written] = theirs(instruction);
        let mut ours = set(&[found.writes()]);
        // The decoder does not say that an increment changes the base.
        for base in set(&[found.addresses()]) {
            written.remove(&base);
            ours.remove(&base);
        }
        prop_assert_eq!(set(&[found.addresses(), found.reads()]), read, "read by {:#x} {}", encoding, instruction);
        prop_assert_eq!(ours, written, "written by {:#x} {}", encoding, instruction);
    }
}

/// Whether the decoder's lists are those of the manual. It does not say that calls write their branch register, takes the predicates of loops
/// for qualifying ones of `br.cloop`, `br.ctop` and `br.cexit` too and leaves out PR63, knows no single predicates of moves to and from PR, takes
/// a bit of the completer of `tf` for one of its p1, adds an increment to `ld16`, and has `invala.e` read the register whose entry it forgets.
fn is_right(instruction: &Instruction) -> bool {
    use Opcode::{
        Br_call, Br_cexit, Br_cloop, Br_ctop, Br_wexit, Br_wtop, Brown, Cyan, Invala_e_fp, Invala_e_int, Ld16, Ld16_acq, Purple, White,
    };
    use Opcode::{Tf_nz_and, Tf_nz_or, Tf_nz_or_andcm, Tf_z_nc};
    match instruction.opcode() {
        Purple | Cyan | Brown | White => false,
        Br_call | Br_cexit | Br_cloop | Br_ctop | Br_wexit | Br_wtop => false,
        Tf_nz_and | Tf_nz_or | Tf_nz_or_andcm | Tf_z_nc => false,
        Invala_e_fp | Invala_e_int | Ld16 | Ld16_acq => false,
        _ => !instruction.operands().contains(&Operand::PR),
    }
}
