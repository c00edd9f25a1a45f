//! Snoops of a core in its clocks (FB10 to FB14 of the note on the fabric).
//!
//! Snoops of which a core learns in clock c come 12 clocks apart from c on. The third level's look-up takes 14 - 5 = 9 clocks on Montecito, and
//! 21 - 6 = 15 on the first Itanium. The bus takes an answer 24 clocks after the request, or 12 after the one before it; if it waits, then for
//! 12 clocks at a time.

use vm_pmu::companion::{Access, AccessKind, parts};

use super::LINE;
use super::in_time::{ASKED, FILLED, LONG, OPENS, during, fill_of};
use super::system::System;

/// The first thread of the second package of Montecito.
const OTHER: usize = 2;
/// Lines that nobody has.
const NOBODYS: u64 = 0x7100_0000;
/// Clocks until all that was prefetched waits in its queues.
const SOON: usize = 45;

/// The line that set 16 of the third level gives up first, which is that of [`ASKED`], and one that stays.
const GIVEN_UP: u64 = FILLED + 16 * LINE;
const KEPT: u64 = FILLED + 484 * LINE;

fn access(kind: AccessKind, address: u64) -> Access {
    Access { address, physical: address, size: 8, kind, ..Access::default() }
}

/// So many clocks pass in which a thread asks for nothing.
fn rest(system: &mut System<'_>, number: usize, clocks: usize) {
    (0..clocks).for_each(|_| system.again_by(number, true, &[]));
}

/// Another core asks for so many lines that nobody has, and the first one learns of it.
fn ask(system: &mut System<'_>, asker: usize, lines: u64) {
    (0..lines).for_each(|line| system.access_alone(asker, AccessKind::Load, NOBODYS + line * LINE));
    system.access_alone(0, AccessKind::Load, OPENS);
}

/// The owner fills its third level by accesses of this kind, and gives up eight lines. The asker then asks for one of these, for one that
/// the owner has, and for eight that nobody has. Both learn of what was done to them.
pub(super) fn meet(system: &mut System<'_>, owner: usize, asker: usize, kind: AccessKind) {
    fill_of(system, owner, kind);
    system.access_alone(owner, AccessKind::Load, OPENS);
    rest(system, owner, LONG);
    system.prefetch_by(owner, ASKED, 8, LINE);
    rest(system, owner, SOON);
    // Lines that the asker has not had before.
    let turn = u64::from(kind == AccessKind::Load);
    for line in [GIVEN_UP + turn * LINE, KEPT].into_iter().chain((0..8).map(|line| NOBODYS + (8 * turn + line) * LINE)) {
        system.access_alone(asker, AccessKind::Load, line);
    }
    for number in [owner, asker] {
        system.access_alone(number, AccessKind::Load, OPENS);
        rest(system, number, LONG);
    }
}

/// A line is prefetched, and flushed while the bus has the read.
pub(super) fn flush_on_the_bus(system: &mut System<'_>) {
    system.prefetch(ASKED, 1, LINE);
    system.again(false, &[access(AccessKind::Flush, ASKED)]);
    system.rest(LONG);
}

/// The code of the other core is there.
fn begin(system: &mut System<'_>) {
    system.access_alone(OTHER, AccessKind::Load, OPENS);
}

#[test]
fn snoops_come_one_after_the_other() {
    let at = |name: &str| during(&parts::MONTECITO, 12 << 20, name, begin, |system| ask(system, OTHER, 3));
    // Each is answered after 9 clocks, before the next one comes, and the answer waits for the bus until 24.
    assert_eq!([at("ER_SNOOPQ_REQ_LO"), at("ER_SNOOPQ_REQ_HI")], [3 * 9, 0]);
    for who in ["SELF", "EITHER"] {
        assert_eq!(at(&format!("SI_SCB_LIVE_REQ_LO.{who}")), 3 * 15, "{who}");
        assert_eq!(at(&format!("SI_SCB_LIVE_REQ_HI.{who}")), 0, "{who}");
    }
    assert_eq!(at("BUS_SNOOP_STALL_CYCLES.ANY"), 0);
}

#[test]
fn the_first_itanium_answers_three_snoops_at_once() {
    let other = 1;
    let begin = |system: &mut System<'_>| system.access_alone(other, AccessKind::Load, OPENS);
    let at = |lines: u64| during(&parts::ITANIUM, 4 << 20, "BUS_SNOOPQ_REQ", begin, |system| ask(system, other, lines));
    assert_eq!(at(3), 3 * 15);
}

/// The first core gives up eight modified lines, which fill its write queue, and another one asks for a line that it has modified, and for
/// eight that nobody has.
fn wait_for_a_place(system: &mut System<'_>, owner: usize, asker: usize) {
    system.prefetch_by(owner, ASKED, 8, LINE);
    rest(system, owner, SOON);
    system.access_alone(asker, AccessKind::Load, KEPT);
    (0..8).for_each(|line| system.access_alone(asker, AccessKind::Load, NOBODYS + line * LINE));
    system.access_alone(owner, AccessKind::Load, OPENS);
    rest(system, owner, LONG);
    system.access_alone(asker, AccessKind::Load, OPENS);
}

fn full(name: &str) -> u64 {
    let before = |system: &mut System<'_>| {
        begin(system);
        fill_of(system, 0, AccessKind::Store);
    };
    during(&parts::MONTECITO, 64 << 10, name, before, |system| wait_for_a_place(system, 0, OTHER))
}

#[test]
fn snoops_wait_behind_one_that_needs_a_place_for_its_data() {
    // The prefetches execute in clocks 0 to 7, and the load that learns of the snoops is dispatched in clock 8 + 45 - 3 = 50. The write queue has
    // eight lines, the first until 416: until then the first snoop waits. Seven come behind it, at 62 to 134, and the ninth has no place before
    // 416; it is answered at 425.
    let all: u64 = (0..8).map(|number| 416 - (50 + 12 * number)).sum::<u64>() + 9;
    assert_eq!(full("ER_SNOOPQ_REQ_HI"), 416 - 134);
    assert_eq!(full("ER_SNOOPQ_REQ_LO"), all - 8 * (416 - 134));
}

#[test]
fn answers_wait_for_the_bus_in_turn() {
    // Eight answers are there at 416. The first was due at 74: the bus waits 29 times for 12 clocks, and takes it at 422, the others at 434 to
    // 506. The ninth is there from 425 on, and taken at 518.
    let all: u64 = (0..8).map(|number| 422 + 12 * number - 416).sum::<u64>() + 518 - 425;
    // There are eight until 422, and from 425 until 434.
    let eight = (422 - 416) + (434 - 425);
    assert_eq!(full("SI_SCB_LIVE_REQ_HI.SELF"), eight);
    assert_eq!(full("SI_SCB_LIVE_REQ_LO.SELF"), all - 8 * eight);
}

#[test]
fn who_began_a_transaction_waits_for_the_answer() {
    let stalled = |name: &str, owner: usize, asker: usize| {
        let before = |system: &mut System<'_>| {
            begin(system);
            fill_of(system, owner, AccessKind::Store);
            system.access_alone(owner, AccessKind::Load, OPENS);
            rest(system, owner, LONG);
        };
        during(&parts::MONTECITO, 64 << 10, name, before, |system| wait_for_a_place(system, owner, asker))
    };
    // The second package is 200 clocks farther from the memory, so its write queue has a place at 616. The answer was due at 74: the bus waits
    // 46 times for two of its clocks.
    for who in ["SELF", "EITHER", "ANY"] {
        assert_eq!(stalled(&format!("BUS_SNOOP_STALL_CYCLES.{who}"), OTHER, 0), 92, "{who}");
    }
    // Who answers has begun nothing.
    assert_eq!(stalled("BUS_SNOOP_STALL_CYCLES.SELF", 0, OTHER), 0);
}

/// The first core gives up eight lines, and the other one asks for the first of them and for one that nobody has.
fn collisions(kind: AccessKind, name: &str) -> u64 {
    let before = |system: &mut System<'_>| {
        begin(system);
        fill_of(system, 0, kind);
    };
    during(&parts::MONTECITO, 64 << 10, name, before, |system| {
        system.prefetch(ASKED, 8, LINE);
        system.rest(SOON);
        [GIVEN_UP, NOBODYS].into_iter().for_each(|line| system.access_alone(OTHER, AccessKind::Load, line));
        system.access_alone(0, AccessKind::Load, OPENS);
    })
}

#[test]
fn a_snoop_takes_a_line_from_the_write_queue() {
    for who in ["SELF", "EITHER"] {
        for event in ["SI_WAQ_COLLISIONS", "SI_WRITEQ_INSERTS.NEWB"] {
            let name = format!("{event}.{who}");
            assert_eq!([AccessKind::Store, AccessKind::Load].map(|kind| collisions(kind, &name)), [1, 0], "{name}");
        }
    }
    // Its data follow those of the reads, as those of the write would have: the queue is as full as without the snoop.
    let all: u64 = (0..8).map(|i| 416 + 24 * i - (15 + i)).sum();
    let live = ["LO", "HI"].map(|bits| collisions(AccessKind::Store, &format!("SI_WRITEQ_LIVE_REQ_{bits}.SELF")));
    assert_eq!(live[0] + 8 * live[1], all);
}

#[test]
fn a_snoop_meets_a_clean_castout() {
    for who in ["SELF", "EITHER"] {
        let name = format!("SI_CCQ_COLLISIONS.{who}");
        assert_eq!([AccessKind::Load, AccessKind::Store].map(|kind| collisions(kind, &name)), [1, 0], "{name}");
    }
}

#[test]
fn a_flush_meets_the_read_of_its_line() {
    let at = |work: fn(&mut System<'_>)| during(&parts::MONTECITO, 12 << 20, "SI_IOQ_COLLISIONS", |_| {}, work);
    assert_eq!(at(flush_on_the_bus), 1);
    // Reads of different lines do not meet, whether two accesses or one make them.
    assert_eq!(at(|system| system.prefetch(ASKED, 2, LINE)), 0);
    assert_eq!(at(|system| system.again(true, &[access(AccessKind::Load, ASKED + LINE - 4)])), 0);
}

/// The first core does `work`, waits for so many clocks, and learns of a snoop of the line that it worked on.
fn snooped_after(name: &str, clocks: usize, before: fn(&mut System<'_>), work: fn(&mut System<'_>)) -> u64 {
    let before = |system: &mut System<'_>| {
        begin(system);
        before(system);
    };
    during(&parts::MONTECITO, 12 << 20, name, before, |system| {
        work(system);
        (0..clocks).for_each(|_| system.again(false, &[]));
        system.access_alone(OTHER, AccessKind::Load, ASKED);
        system.again(false, &[access(AccessKind::Load, OPENS)]);
    })
}

#[test]
fn a_snoop_sends_a_store_round_that_waits_in_the_second_level() {
    let store = |system: &mut System<'_>| system.again(false, &[access(AccessKind::Store, ASKED)]);
    // A store that is dispatched in clock 0 is in the queue from clock 4 on, and comes to the data array in clock 9. The core learns of the snoop
    // in the clock after the others.
    let met = [2, 4, 7, 20].map(|clocks| snooped_after("L2D_FORCE_RECIRC.SNP_OR_L3", clocks, store, store));
    assert_eq!(met, [0, 1, 1, 0]);
}

#[test]
fn a_snoop_meets_the_line_that_comes() {
    let load = |system: &mut System<'_>| system.again(false, &[access(AccessKind::Load, ASKED)]);
    // A load that is dispatched in clock 0 executes in clock 3, and its line is there in clock 203.
    let met = |name| [199, 200, 202, 204, 205].map(|clocks: usize| snooped_after(name, clocks, |_| {}, load));
    assert_eq!(met("L2D_L3ACCESS_CANCEL.P2_COV_SNP_FILL_NOSNP"), [0, 1, 1, 1, 0]);
}
