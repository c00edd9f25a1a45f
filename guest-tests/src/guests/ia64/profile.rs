//! `profile`: a profile of where loads miss, of samples of the data event-address registers, as perfmon takes them.

use super::chain::{Chain, SECOND};
use super::data_ear::{CAPTURED, count_captures};
use super::facts::Part;
use super::{Kernel, own};
use crate::engine::itanium::assemble::*;
use crate::engine::itanium::registers::{psr, vector};

/// The vector of the performance monitor's interrupt.
const VECTOR: u8 = 0x50;
/// Captures from one sample to the next.
const PERIOD: u64 = 8;
/// Samples of places that nobody knows.
const STRAY: i64 = own(0);
/// Samples whose data were none of the chain's.
const OTHER_DATA: i64 = own(1);
/// Samples of each place, from here on.
const HITS: i64 = own(2);

/// A place that loads, and how often it misses.
struct Place {
    label: &'static str,
    misses: u64,
}

/// Each takes whole periods, so that no sample is in doubt.
const PLACES: [Place; 3] = [
    Place { label: "alpha", misses: 10 * PERIOD },
    Place { label: "beta", misses: 25 * PERIOD },
    Place { label: "gamma", misses: 5 * PERIOD },
];

/// Bundles of no-operations behind each load, so that no load comes near another.
const APART: usize = 8;

/// User code: in turn, the places follow the chain. Returns the entry, and the bundles of their loads.
fn code(k: &mut Kernel) -> (Label, Vec<(Label, u64)>) {
    let entry = k.a.mark();
    let mut loads = Vec::new();
    for place in &PLACES {
        k.a.load(R17, place.misses - 1);
        k.a.put(mov_to_ar_i(Ar::LC, R17));
        let again = k.a.mark();
        loads.push((again, k.a.address()));
        // The first load misses, the one behind it hits.
        k.a.bundle(Template::MMI_S, [nop(0), ld8(R16, R16), nop(0)]);
        k.nops(APART);
        k.a.put(ld8(R18, R19));
        k.nops(APART);
        k.a.put(br_cloop(again));
    }
    k.system_call();
    (entry, loads)
}

/// The handler: it finds the place whose load was captured, arms the counter anew and lets monitoring go on.
fn handler(k: &mut Kernel, part: Part, loads: &[(Label, u64)]) {
    k.handler(vector::EXTERNAL_INTERRUPT);
    k.accept_interrupt(R9);
    let [data, _, instruction] = part.data_registers();
    let (found, known) = (k.a.label(), k.a.label());
    k.read_pmd(R9, instruction);
    for (number, (_, bundle)) in (0i64..).zip(loads) {
        let next = k.a.label();
        // The load is in slot 1.
        k.a.load(R10, part.captured_instruction(*bundle, 1));
        k.a.put(cmp_ne(P6, P7, R9, R10));
        k.a.put(br_cond(next).when(P6));
        k.a.put(adds(R11, HITS + 8 * number, R13));
        k.a.put(br_cond(found));
        k.a.here(next);
    }
    k.a.put(adds(R11, STRAY, R13));
    k.a.here(found);
    k.a.put(ld8(R10, R11));
    k.a.put(adds(R10, 1, R10));
    k.a.put(st8(R11, R10));
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
    k.write_pmc(0, 0);
    k.a.put(srlz_d());
    k.end_interrupt();
    k.end_handler();
}

/// Assembles it.
pub(crate) fn build(part: Part) -> Result<crate::engine::image::Image, AssembleError> {
    let mut k = Kernel::new();
    let (entry, loads) = code(&mut k);
    handler(&mut k, part, &loads);
    let hot = k.reserve(64);
    k.main();
    k.monitor_vector(VECTOR);
    let chain: Chain = SECOND;
    chain.link(&mut k);
    k.user_monitors(true);
    // Once without, so that the caches have what they have from then on.
    for captures in [false, true] {
        if captures {
            part.data_captures(&mut k, false, 0);
            count_captures(&mut k, part, part.before(PERIOD), true);
        }
        k.a.load(R16, chain.line(0));
        k.a.load(R19, hot);
        k.enter_user(entry, psr::I);
    }
    k.user_monitors(false);
    for (number, ((label, _), place)) in (0i64..).zip(loads.iter().zip(&PLACES)) {
        k.load_own(R16, HITS + 8 * number);
        k.check_is(&format!("{CAPTURED} of {}", place.label), R16, place.misses / PERIOD);
        k.a.load_address(R8, *label);
        k.load_own(R10, HITS + 8 * number);
        k.sample(place.label);
    }
    for (name, cell) in [("samples of other places", STRAY), ("samples of other data", OTHER_DATA)] {
        k.load_own(R16, cell);
        k.check_is(name, R16, 0);
    }
    k.read_pmd(R16, 4);
    // The last sample armed it anew.
    k.a.load(R17, part.before(PERIOD));
    k.a.put(sub(R16, R16, R17));
    if part == Part::Itanium {
        k.a.put(zxt4(R16, R16));
    } else {
        k.a.put(extr_u(R16, R16, 0, 47));
    }
    k.check_is("captures since the last sample", R16, 0);
    k.end_main();
    k.finish()
}
