//! `range`: instruction ranges by any of the pairs, data ranges, a debugger, and opcodes within ranges.

use vm_pmu::arch::itanium::{Pmc11, Pmc13};

use crate::ia64::Kernel;
use crate::ia64::facts::{Opcodes, Part, Slots};
use crate::ia64::opcode::{self, LD8, MARK, MEMORY, NOP, NOP_FIELDS, R1_FIELD};
use crate::ia64::range::{ALL, Code, IN_QUARTER, IN_USER, Instructions, QUARTER, set_data};
use vm_pmu_engines::ia64::assemble::{AssembleError, R3, R20, mov_from_psr, mov_to_psr_l, or, srlz_d, xor};
use vm_pmu_engines::ia64::registers::psr;
use vm_pmu_engines::image::Image;

const PART: Part = Part::Itanium;
const COUNTED: [&str; 2] = ["IA64_INST_RETIRED.ALL", "IA64_TAGGED_INST_RETIRED.PMC9"];
const ACCESSES: [&str; 2] = ["LOADS_RETIRED", "STORES_RETIRED"];

/// Whether every instruction is tagged, whatever its address.
fn tag_all(k: &mut Kernel, all: bool) {
    let mut pmc = Pmc13::default();
    pmc.set_ta(all);
    k.write_pmc(13, pmc.bits());
}

/// Whether every access is tagged, whatever its address.
fn pass_tags(k: &mut Kernel, all: bool) {
    let mut pmc = Pmc11::default();
    pmc.set_pt(all);
    k.write_pmc(11, pmc.bits());
}

/// PSR.db: a debugger uses the breakpoint registers. Changes r3 and r20.
fn debug(k: &mut Kernel, on: bool) {
    k.a.put(mov_from_psr(R20));
    k.a.load(R3, psr::DB);
    k.a.put(or(R20, R20, R3));
    if !on {
        k.a.put(xor(R20, R20, R3));
    }
    k.a.put(mov_to_psr_l(R20));
    k.a.put(srlz_d());
}

/// Counts two events at level 0.
fn count(k: &mut Kernel, code: &Code, name: &str, events: [&str; 2], counts: [u64; 2]) {
    opcode::select(k, PART, &events);
    code.run(k);
    opcode::check(k, name, &counts);
}

/// Pairs of IBRs that hold nothing at any level.
fn no_ranges(k: &mut Kernel) {
    for pair in 0..4 {
        Instructions::at(0, 16).plm(0).set(k, pair);
    }
}

/// Assembles it.
pub(super) fn build() -> Result<Image, AssembleError> {
    let mut k = Kernel::new();
    let code = Code::new(&mut k);
    k.main();
    instructions(&mut k, &code);
    opcodes(&mut k, &code);
    data(&mut k, &code);
    k.end_main();
    k.finish()
}

fn instructions(k: &mut Kernel, code: &Code) {
    let all = |k: &mut Kernel, name: &str, counted| count(k, code, name, COUNTED, [counted, counted]);
    all(k, "after reset", ALL);
    tag_all(k, false);
    no_ranges(k);
    all(k, "no range", 0);
    for pair in 0..4 {
        Instructions::at(code.quarter(pair.into()), QUARTER).set(k, pair);
        all(k, &format!("quarters up to {pair}"), (u64::from(pair) + 1) * IN_QUARTER);
    }
    no_ranges(k);
    Instructions::at(code.quarter(0), 2 * QUARTER).set(k, 1);
    Instructions::at(code.bundle(16), 16).set(k, 3);
    all(k, "two quarters and the return", 2 * IN_QUARTER + 3);
    // An instruction in two ranges counts once.
    Instructions::at(code.quarter(1), QUARTER).set(k, 0);
    all(k, "ranges that overlap", 2 * IN_QUARTER + 3);
    Instructions { x: true, plm: 0, ..Instructions::at(0, 16) }.set(k, 2);
    all(k, "a pair of a debugger's", 0);
    Instructions::at(0, 16).plm(0).set(k, 2);
    debug(k, true);
    all(k, "PSR.db", 0);
    tag_all(k, true);
    all(k, "PSR.db, all tagged", ALL);
    tag_all(k, false);
    debug(k, false);
    all(k, "PSR.db no more", 2 * IN_QUARTER + 3);
    no_ranges(k);
    Instructions::at(code.quarter(0), QUARTER).plm(0b1000).set(k, 0);
    Instructions::at(code.quarter(1), QUARTER).plm(0b0001).set(k, 1);
    Instructions::at(code.quarter(2), QUARTER).plm(0b1001).set(k, 2);
    all(k, "levels of ranges, at level 0", 2 * IN_QUARTER);
    k.write_pmc(4, PART.counter(COUNTED[0], 0b1000, false));
    k.write_pmd(4, 0);
    code.run_in_user(k);
    opcode::check(k, "levels of ranges, at level 3", &[2 * IN_QUARTER]);
    tag_all(k, true);
    k.write_pmd(4, 0);
    code.run_in_user(k);
    opcode::check(k, "all of level 3", &[IN_USER]);
    tag_all(k, false);
}

/// Four no-operations of each quarter are marked; quarter 0 has four loads, quarter 2 two.
fn opcodes(k: &mut Kernel, code: &Code) {
    let marked = Opcodes { slots: Slots::of("mi"), value: NOP | MARK << 6, compared: NOP_FIELDS | R1_FIELD };
    let loads = Opcodes { slots: Slots::of("m"), value: LD8, compared: MEMORY };
    PART.match_opcodes(k, 0, &marked);
    PART.match_opcodes(k, 1, &loads);
    no_ranges(k);
    for (quarters, counts) in [(&[0][..], [4, 4]), (&[0, 2], [8, 6]), (&[1, 3], [8, 0])] {
        no_ranges(k);
        for (pair, quarter) in (0..).zip(quarters) {
            Instructions::at(code.quarter(*quarter), QUARTER).set(k, pair);
        }
        count(k, code, &format!("opcodes in quarters {quarters:?}"), COUNTED, counts);
    }
    tag_all(k, true);
    count(k, code, "opcodes anywhere", COUNTED, [16, 6]);
    PART.match_opcodes(k, 0, &Opcodes::all());
    PART.match_opcodes(k, 1, &Opcodes::all());
}

/// Of six loads and as many stores two are of area 0, one is of area 1.
fn data(k: &mut Kernel, code: &Code) {
    let accesses = |k: &mut Kernel, name: &str, counts| count(k, code, name, ACCESSES, counts);
    for pair in 0..4 {
        set_data(k, pair, 0, 16);
    }
    // The first time fills the translation buffers, whose walks count as loads.
    opcode::select(k, PART, &ACCESSES);
    code.run(k);
    accesses(k, "data of every address", [6, 6]);
    pass_tags(k, false);
    accesses(k, "data of no address", [0, 0]);
    set_data(k, 0, code.area(0), 64);
    accesses(k, "area 0", [2, 2]);
    set_data(k, 3, code.area(1), 64);
    accesses(k, "areas 0 and 1", [3, 3]);
    set_data(k, 3, code.area(0), 256);
    accesses(k, "all areas", [6, 6]);
    set_data(k, 3, 0, 16);
    debug(k, true);
    accesses(k, "PSR.db", [0, 0]);
    debug(k, false);
    tag_all(k, false);
    no_ranges(k);
    Instructions::at(code.quarter(0), QUARTER).set(k, 2);
    accesses(k, "area 0 of quarter 0", [1, 0]);
    Instructions::at(code.quarter(2), QUARTER).set(k, 1);
    accesses(k, "area 0 of quarters 0 and 2", [2, 1]);
    let into_r20 = Opcodes { slots: Slots::of("m"), value: LD8 | 20 << 6, compared: MEMORY | R1_FIELD };
    PART.match_opcodes(k, 0, &into_r20);
    accesses(k, "area 0 of quarters 0 and 2 into r20", [2, 0]);
    set_data(k, 0, code.area(2), 64);
    accesses(k, "area 2 of quarters 0 and 2 into r20", [0, 0]);
    pass_tags(k, true);
    accesses(k, "quarters 0 and 2 into r20", [2, 0]);
}
