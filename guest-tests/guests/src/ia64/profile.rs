//! `profile`: profiles of where loads miss and where code loops, of samples of the data event-address registers and of the trace buffer,
//! as perfmon takes them.

use super::chain::{Chain, SECOND};
use super::data_ear::count_captures;
use super::facts::Part;
use super::trace::{ALL, Filters};
use super::{Kernel, own};
use vm_pmu_engines::ia64::assemble::*;
use vm_pmu_engines::ia64::registers::{psr, vector};

/// The vector of the performance monitor's interrupt.
const VECTOR: u8 = 0x50;
/// Captures from one sample to the next.
const PERIOD: u64 = 8;
/// Samples of unknown places.
const STRAY: i64 = own(0);
/// Samples whose data were none of the chain's.
const OTHER_DATA: i64 = own(1);
/// Not 0 while the trace buffer is sampled.
const TRACES: i64 = own(2);
/// Samples of each place, from here on.
const HITS: i64 = own(4);
/// Samples of the trace buffer of each loop, from here on.
const LOOPS: i64 = own(8);

/// A place that loads, how often it misses, and how often its loop branches back.
struct Place {
    label: &'static str,
    misses: u64,
    turns: u64,
}

/// Each takes whole periods, so that no sample is in doubt.
const PLACES: [Place; 3] = [
    Place { label: "alpha", misses: 10 * PERIOD, turns: 7 * PERIOD },
    Place { label: "beta", misses: 25 * PERIOD, turns: 2 * PERIOD },
    Place { label: "gamma", misses: 5 * PERIOD, turns: 30 * PERIOD },
];

/// Bundles of no-operations after each load, so that loads stay apart.
const APART: usize = 8;

/// User code: in turn, the places follow the chain. Returns the entry, and the bundles of their loads.
fn code(k: &mut Kernel) -> (Label, Vec<(Label, u64)>) {
    let entry = k.a.mark();
    let mut loads = Vec::new();
    for place in &PLACES {
        k.a.routine(&format!("{}_misses", place.label));
        k.a.load(R17, place.misses - 1);
        k.a.put(mov_to_ar_i(Ar::LC, R17));
        let again = k.a.mark();
        loads.push((again, k.a.address()));
        // The first load misses, the one after it hits.
        k.a.bundle(Template::MMI_S, [nop(0), ld8(R16, R16), nop(0)]);
        k.nops(APART);
        k.a.put(ld8(R18, R19));
        k.nops(APART);
        k.a.put(br_cloop(again));
    }
    k.system_call();
    (entry, loads)
}

/// User code: in turn, the loops of the places. Returns the entry, and the bundles of their branches.
fn loops(k: &mut Kernel) -> (Label, Vec<(Label, u64)>) {
    let entry = k.a.mark();
    let mut branches = Vec::new();
    for place in &PLACES {
        k.a.routine(&format!("{}_turns", place.label));
        k.a.load(R17, place.turns);
        k.a.put(mov_to_ar_i(Ar::LC, R17));
        let again = k.a.mark();
        k.nops(1);
        branches.push((again, k.a.address()));
        k.a.put(br_cloop(again));
    }
    k.system_call();
    (entry, branches)
}

/// The starting value of the counter for a sample of every eighth taken branch: Montecito counts entries, of which a branch that is taken
/// has two, the first Itanium branches.
fn before_branches(part: Part) -> u64 {
    part.before(match part {
        Part::Montecito => 2 * PERIOD,
        Part::Itanium => PERIOD,
    })
}

/// In the handler: one more sample of the place, from `hits` on, whose value r9 holds, or of an unknown place.
fn hit(k: &mut Kernel, values: impl Iterator<Item = u64>, hits: i64) {
    let found = k.a.label();
    for (number, value) in (0i64..).zip(values) {
        k.a.load(R10, value);
        k.a.put(cmp_eq(P6, P7, R9, R10));
        k.a.put(adds(R11, hits + 8 * number, R13));
        k.a.put(br_cond(found).when(P6));
    }
    k.a.put(adds(R11, STRAY, R13));
    k.a.here(found);
    k.a.put(ld8(R10, R11));
    k.a.put(adds(R10, 1, R10));
    k.a.put(st8(R11, R10));
}

/// In the handler: the last branch in the buffer, before the entry of its target; the buffer is emptied.
fn sample_trace(k: &mut Kernel, part: Part, branches: &[(Label, u64)]) {
    let (first, index, bits) = part.buffer();
    k.read_pmd(R9, index);
    k.a.put(adds(R9, -2, R9));
    k.a.put(extr_u(R9, R9, 0, bits));
    k.a.put(adds(R9, first.into(), R9));
    k.a.put(mov_from_pmd(R9, R9));
    // The bundle alone.
    k.a.put(dep_imm(R9, false, R9, 0, 4));
    hit(k, branches.iter().map(|(_, bundle)| *bundle), LOOPS);
    part.empty(k);
    k.write_pmd(4, before_branches(part));
}

/// The handler: it finds the place whose load was captured, arms the counter anew and lets monitoring continue.
fn handler(k: &mut Kernel, part: Part, loads: &[(Label, u64)], branches: &[(Label, u64)]) {
    k.handler(vector::EXTERNAL_INTERRUPT);
    k.accept_interrupt(R9);
    let [data, _, instruction] = part.data_registers();
    let (traces, known, on) = (k.a.label(), k.a.label(), k.a.label());
    k.load_own(R9, TRACES);
    k.a.put(cmp_ne(P6, P7, R9, R0));
    k.a.put(br_cond(traces).when(P6));
    k.read_pmd(R9, instruction);
    // The load is in slot 1.
    hit(k, loads.iter().map(|(_, bundle)| part.captured_instruction(*bundle, 1)), HITS);
    k.read_pmd(R9, data);
    for line in 0..SECOND.lines {
        k.a.load(R10, SECOND.line(line));
        k.a.put(cmp_eq(P6, P7, R9, R10));
        k.a.put(br_cond(known).when(P6));
    }
    k.load_own(R10, OTHER_DATA);
    k.a.put(adds(R10, 1, R10));
    k.store_own(OTHER_DATA, R10);
    k.a.here(known);
    k.write_pmd(4, part.before(PERIOD));
    k.a.put(br_cond(on));
    k.a.here(traces);
    sample_trace(k, part, branches);
    k.a.here(on);
    k.write_pmc(0, 0);
    k.a.put(srlz_d());
    k.end_interrupt();
    k.end_handler();
}

/// Checks the samples of each place and hands them back; `since` captures came after the last one, which armed the counter with `start`.
fn check(k: &mut Kernel, name: &str, places: &[(Label, u64)], cells: i64, (start, since): (u64, u64)) {
    for (number, ((label, samples), place)) in (0i64..).zip(places.iter().zip(&PLACES)) {
        k.load_own(R16, cells + 8 * number);
        k.check_is(&format!("{name} of {}", place.label), R16, *samples);
        k.a.load_address(R8, *label);
        k.load_own(R10, cells + 8 * number);
        k.sample(&format!("{name} of {}", place.label));
    }
    for (what, cell) in [("samples of other places", STRAY), ("samples of other data", OTHER_DATA)] {
        k.load_own(R16, cell);
        k.check_is(&format!("{name}: {what}"), R16, 0);
    }
    k.read_pmd(R16, 4);
    k.a.load(R17, start);
    k.a.put(sub(R16, R16, R17));
    // Bits above a counter's copy its highest one.
    k.a.put(zxt4(R16, R16));
    k.check_is(&format!("{name}: captures since the last sample"), R16, since);
}

/// Assembles it.
pub(crate) fn build(part: Part) -> Result<vm_pmu_engines::image::Image, AssembleError> {
    let mut k = Kernel::new();
    let (entry, loads) = code(&mut k);
    let (looping, branches) = loops(&mut k);
    handler(&mut k, part, &loads, &branches);
    let hot = k.reserve(64);
    k.main();
    k.monitor_vector(VECTOR);
    let chain: Chain = SECOND;
    chain.link(&mut k);
    k.user_monitors(true);
    // First a run without captures, so that the caches hold the same from then on.
    for captures in [false, true] {
        if captures {
            part.data_captures(&mut k, false, 0);
            count_captures(&mut k, part, part.before(PERIOD), true);
        }
        k.a.load(R16, chain.line(0));
        k.a.load(R19, hot);
        k.enter_user(entry, psr::I);
    }
    let places: Vec<(Label, u64)> = loads.iter().zip(&PLACES).map(|((label, _), place)| (*label, place.misses / PERIOD)).collect();
    check(&mut k, "misses", &places, HITS, (part.before(PERIOD), 0));
    k.store_own(TRACES, R13);
    part.empty(&mut k);
    part.trace(&mut k, 0b1000, Filters { tm: 0b10, ..ALL });
    k.write_pmc(4, part.counter(part.traced(), 0b1000, true));
    k.write_pmd(4, before_branches(part));
    k.enter_user(looping, psr::I);
    k.user_monitors(false);
    let places: Vec<(Label, u64)> = branches.iter().zip(&PLACES).map(|((label, _), place)| (*label, place.turns / PERIOD)).collect();
    // On Montecito the break and its target are entries too.
    let since = if part == Part::Montecito { 2 } else { 0 };
    check(&mut k, "turns", &places, LOOPS, (before_branches(part), since));
    k.end_main();
    k.finish()
}
