//! `opcode`: instructions retired by what they are, in a loop whose every slot is known.

use super::Kernel;
use super::facts::{Opcodes, Part, Slots};
use vm_pmu_engines::ia64::assemble::*;

/// Turns of the loop.
const TURNS: u64 = 10;
/// Everything that is counted: a turn has five bundles. Before the first there are two no-operations after `sum`, two instructions of MLX
/// and three of the move to LC; after the last `rum`.
pub(crate) const ALL: u64 = 15 * TURNS + 2 + 2 + 3 + 1;

/// Immediates of no-operations that are to be found again.
pub(crate) const MARK: u64 = 0x15;
const OTHER_MARK: u64 = 0x2A;

/// Fields of an encoding (SDM volume 3, chapter 4): the major opcode, 40:37; the qualifying predicate, 5:0; r1 of most formats and the
/// lowest bits of a no-operation's immediate, 12:6; the type of a branch, 8:6.
const MAJOR: u64 = 0xF << 37;
const QP: u64 = 0x3F;
pub(crate) const R1_FIELD: u64 = 0x7F << 6;
const BTYPE: u64 = 0x7 << 6;
/// Loads and stores: m in 36, x6 in 35:30, x in 27.
pub(crate) const MEMORY: u64 = MAJOR | 1 << 36 | 0x3F << 30 | 1 << 27;
/// `ld8` without an increment: major opcode 4, x6 03h. `st8`: 33h.
pub(crate) const LD8: u64 = 4 << 37 | 0x03 << 30;
pub(crate) const ST8: u64 = 4 << 37 | 0x33 << 30;
/// `adds`: major opcode 8, x2a in 35:34 is 2, ve in 33 is 0.
const ADD_FIELDS: u64 = MAJOR | 0b111 << 33;
const ADDS: u64 = 8 << 37 | 0b100 << 33;
/// `nop.m` and `nop.i`: major opcode 0, and 1 in 35:27.
pub(crate) const NOP_FIELDS: u64 = MAJOR | 0x1FF << 27;
pub(crate) const NOP: u64 = 1 << 27;
/// `br.cond` and `br.cloop`: major opcode 4, types 0 and 5.
const BR_COND: u64 = 4 << 37;
const BR_CLOOP: u64 = 4 << 37 | 5 << 6;

/// What a matcher is to take, and how many instructions that is.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) slots: &'static str,
    pub(crate) value: u64,
    pub(crate) compared: u64,
    pub(crate) count: u64,
}

impl Row {
    pub(crate) fn opcodes(&self) -> Opcodes {
        Opcodes { slots: Slots::of(self.slots), value: self.value, compared: self.compared }
    }
}

const fn row(name: &'static str, slots: &'static str, value: u64, compared: u64, count: u64) -> Row {
    Row { name, slots, value, compared, count }
}

/// In a turn six instructions are in M slots, six in I slots, one in an F slot and two in B slots. Of the others the no-operation of MLX,
/// that before the move to LC, and `rum` are in M slots.
const ROWS: [Row; 21] = [
    row("everything", "mifb", 0, 0, ALL),
    row("M slots", "m", 0, 0, 6 * TURNS + 3),
    row("I slots", "i", 0, 0, 6 * TURNS + 5),
    row("F slots", "f", 0, 0, TURNS),
    row("B slots", "b", 0, 0, 2 * TURNS),
    row("M and F slots", "mf", 0, 0, 7 * TURNS + 3),
    row("no slots", "", 0, 0, 0),
    row("ld8", "m", LD8, MEMORY, 2 * TURNS),
    row("ld8 into r16", "m", LD8 | 16 << 6, MEMORY | R1_FIELD, TURNS),
    row("ld8 in I slots", "i", LD8, MEMORY, 0),
    row("adds in M slots", "m", ADDS, ADD_FIELDS, TURNS),
    row("adds in I slots", "i", ADDS, ADD_FIELDS, 2 * TURNS),
    row("adds", "mi", ADDS, ADD_FIELDS, 3 * TURNS),
    row("what p1 qualifies", "mifb", 1, QP, TURNS),
    row("what p2 qualifies", "mifb", 2, QP, 2 * TURNS),
    row("what p2 qualifies outside B slots", "mif", 2, QP, TURNS),
    // Two in the bundle of br.cloop, one and five outside the loop, in addition to the four that are marked.
    row("nop", "mi", NOP, NOP_FIELDS, 6 * TURNS + 5),
    row("marked nop", "mi", NOP | MARK << 6, NOP_FIELDS | R1_FIELD, 3 * TURNS),
    row("nop with another mark", "mi", NOP | OTHER_MARK << 6, NOP_FIELDS | R1_FIELD, TURNS),
    row("br.cond", "b", BR_COND, MAJOR | BTYPE, TURNS),
    row("br.cloop", "b", BR_CLOOP, MAJOR | BTYPE, TURNS),
];

/// The code that is counted. r4 and r5 point at data; p1 is 1 and p2 is 0.
pub(crate) fn count(k: &mut Kernel) {
    k.user_monitors(true);
    k.repeat(TURNS, |k| {
        let over = k.a.label();
        k.a.bundle(Template::MII_S, [ld8(R16, R4), adds(R17, 1, R0), nop(MARK)]);
        k.a.bundle(Template::MMI_S, [ld8(R18, R4), st8(R5, R17), adds(R17, 2, R17).when(P1)]);
        k.a.bundle(Template::MFI_S, [adds(R18, 3, R18).when(P2), fadd_d(F6, F0, F1), nop(MARK)]);
        k.a.bundle(Template::MIB_S, [nop(MARK), nop(OTHER_MARK), br_cond(over).when(P2)]);
        k.a.here(over);
    });
    k.user_monitors(false);
}

/// Has PMC4, 5 and so on count these events from 0.
pub(crate) fn select(k: &mut Kernel, part: Part, events: &[&str]) {
    for (number, event) in (4..).zip(events) {
        k.write_pmc(number, part.counter(event, 0b0001, false));
        k.write_pmd(number, 0);
    }
}

/// Checks what PMD4, 5 and so on hold.
pub(crate) fn check(k: &mut Kernel, name: &str, counts: &[u64]) {
    for (number, count) in (4..).zip(counts) {
        k.read_pmd(R16, number);
        k.check_is(&format!("{name}: PMD{number}"), R16, *count);
    }
}

/// Both matchers, and events that only the first of them qualifies; then what `more` adds.
pub(crate) fn build(part: Part, more: impl FnOnce(&mut Kernel)) -> Result<vm_pmu_engines::image::Image, AssembleError> {
    let mut k = Kernel::new();
    let data = k.reserve(16);
    k.main();
    k.a.load(R4, data);
    k.a.load(R5, data + 8);
    k.a.put(cmp_eq(P1, P2, R0, R0));
    select(&mut k, part, &[part.matched(0), part.matched(1)]);
    for (first, second) in ROWS.iter().zip(ROWS.iter().cycle().skip(1)) {
        part.match_opcodes(&mut k, 0, &first.opcodes());
        part.match_opcodes(&mut k, 1, &second.opcodes());
        select(&mut k, part, &[part.matched(0), part.matched(1)]);
        count(&mut k);
        check(&mut k, &format!("{}, and {}", first.name, second.name), &[first.count, second.count]);
    }
    // The second matcher takes nothing, which makes no difference to these.
    part.match_opcodes(&mut k, 1, &row("", "", 0, 0, 0).opcodes());
    for (row, nops, squashed) in [(&ROWS[0], 6 * TURNS + 5, TURNS), (&ROWS[17], 3 * TURNS, 0), (&ROWS[10], 0, TURNS)] {
        part.match_opcodes(&mut k, 0, &row.opcodes());
        select(&mut k, part, &["NOPS_RETIRED", "PREDICATE_SQUASHED_RETIRED"]);
        count(&mut k);
        check(&mut k, &format!("no-operations and false predicates, {}", row.name), &[nops, squashed]);
    }
    more(&mut k);
    k.end_main();
    k.finish()
}
