//! Queues of the bus, clock by clock (FB1 to FB9 of the note on the fabric).
//!
//! Clocks are those of the core, of which the bus takes 6. A request that executes in clock e is in the request queue from e + 5 on, when the
//! second level has missed it; is with the arbiter from e + 15 on, one clock after the third level has; and is sent 6 clocks later at the
//! earliest, 12 after the one before it. Data of a line are on the bus for 24 clocks.

use vm_pmu::companion::{Access, AccessKind, Profile, parts};

use super::system::{System, companion};
use super::{LINE, catalogue};

/// A page of DRAM, of bank 8, that no other work of these tests touches. Its first lines are of set 0 of each level.
pub(super) const PAGE: u64 = 0x5001_0000;
/// A line of it with which the page is opened, and those that are then asked for: all in one page of the first translation buffer.
pub(super) const OPENS: u64 = PAGE + 15 * 64;
pub(super) const ASKED: u64 = PAGE + 16 * LINE;
/// The first of the lines that fill the third level.
pub(super) const FILLED: u64 = 0x4000_0000;
/// As long as all that was asked for takes.
pub(super) const LONG: usize = 2_000;

/// What counter 4 reads more of the event of this name after `work`, which comes after `before` and when nothing is on the bus.
pub(super) fn during(part: &Profile, third: u64, name: &str, before: impl Fn(&mut System<'_>), work: impl Fn(&mut System<'_>)) -> u64 {
    let companion = companion(part, third);
    let entry = catalogue(part.name).entries.iter().find(|entry| entry.name == name).unwrap();
    let mut system = System::new(&companion, entry.select, entry.umask.unwrap_or(0));
    before(&mut system);
    system.load(0, OPENS);
    system.rest(LONG);
    let counted = system.peek();
    work(&mut system);
    system.rest(LONG);
    system.peek() - counted
}

/// Ten loads, each of which waits for the one before it: lines of an open page, so that each takes the memory's latency.
fn one_by_one(system: &mut System<'_>) {
    for number in 0..10 {
        let address = ASKED + number * LINE;
        system.again(true, &[Access { address, physical: address, size: 8, ..Access::default() }]);
    }
}

#[test]
fn the_memory_latency_of_the_manual_is_that_of_the_model() {
    let at = |name: &str| during(&parts::MONTECITO, 12 << 20, name, |_| {}, one_by_one);
    let outstanding = 8 * at("ER_MEM_READ_OUT_HI") + at("ER_MEM_READ_OUT_LO");
    let waiting = 8 * at("SI_RQ_LIVE_REQ_HI.SELF") + at("SI_RQ_LIVE_REQ_LO.SELF");
    let reads = at("BUS_MEM_READ.ALL.SELF");
    // Each is outstanding from e + 15 until e + 200, and waits for one clock of the bus.
    assert_eq!([outstanding, waiting, reads], [10 * 185, 10 * 6, 10]);
    // The formula of 4.11.2 gives what the model's latency has beyond the look-up of three levels, the clock after it and the arbiter.
    let costs = parts::MONTECITO.costs;
    let measured = (outstanding - waiting) / reads;
    assert_eq!(measured + u64::from(costs.third) + 1 + 6, u64::from(costs.memory));
}

#[test]
fn a_read_is_in_each_queue_for_its_time() {
    let at = |name: &str| during(&parts::MONTECITO, 12 << 20, name, |_| {}, one_by_one);
    // From e + 5 until e + 200; and from e + 21 until its data have passed, at e + 224.
    assert_eq!([at("ER_BRQ_LIVE_REQ_LO"), at("ER_BRQ_LIVE_REQ_HI")], [10 * 195, 0]);
    assert_eq!([at("SI_IOQ_LIVE_REQ_LO"), at("SI_IOQ_LIVE_REQ_HI")], [10 * 203, 0]);
    assert_eq!(at("BUS_B2B_DATA_CYCLES.SELF"), 0);
}

#[test]
fn reads_at_once_wait_for_the_bus_in_turn() {
    let at = |name: &str| during(&parts::MONTECITO, 12 << 20, name, |_| {}, |system| system.prefetch(ASKED, 12, LINE));
    // Line i executes in clock i. The first eight are sent at 21 + 12 i and have their data at 200 + 24 i, as the bus is busy. Then the
    // in-order queue is full, until the data of the first have passed at 224: 224, 248, 272, 296, with data at 403, 427, 451, 475.
    //
    // The arbiter has room for eight: 8 comes to it when 0 has left, at 23, and 9, 10, 11 when 1, 2, 3 leave, at 33, 45, 57.
    let first: u64 = (0..8).map(|i| 200 + 24 * i - (15 + i)).sum();
    let rest = (403 - 23) + (427 - 33) + (451 - 45) + (475 - 57);
    assert_eq!(8 * at("ER_MEM_READ_OUT_HI") + at("ER_MEM_READ_OUT_LO"), first + rest);
    let first: u64 = (0..8).map(|i| 21 + 12 * i - (15 + i)).sum();
    let rest = (224 - 23) + (248 - 33) + (272 - 45) + (296 - 57);
    // It is full from 23 on, until 4 leaves at 69 and nobody follows.
    assert_eq!(at("SI_RQ_LIVE_REQ_HI.SELF"), 69 - 23);
    assert_eq!(at("SI_RQ_LIVE_REQ_LO.SELF"), first + rest - 8 * (69 - 23));
    // The in-order queue is full from 105, when 7 is sent, until the data of 4 have passed at 320. Data take 24 clocks.
    let all = (0..8).map(|i| 224 + 24 * i - (21 + 12 * i)).sum::<u64>() + 4 * 203;
    assert_eq!(at("SI_IOQ_LIVE_REQ_HI"), 320 - 105);
    assert_eq!(at("SI_IOQ_LIVE_REQ_LO"), all - 8 * (320 - 105));
    // In the request queue from 5 + i on.
    let all = (0..8).map(|i| 200 + 24 * i - (5 + i)).sum::<u64>() + (403 - 13) + (427 - 14) + (451 - 15) + (475 - 16);
    assert_eq!(8 * at("ER_BRQ_LIVE_REQ_HI") + at("ER_BRQ_LIVE_REQ_LO"), all);
    // The data of 1 to 7 follow others at once, and so do those of 9 to 11: four clocks of the bus each.
    for who in ["SELF", "EITHER", "ANY"] {
        assert_eq!(at(&format!("BUS_B2B_DATA_CYCLES.{who}")), 4 * (7 + 3), "{who}");
    }
}

/// The third level, of 512 lines in sets of four, is filled by accesses of this kind, in other banks than that of [`PAGE`].
fn fill(system: &mut System<'_>, kind: AccessKind) {
    fill_of(system, 0, kind);
}

/// The same of another thread.
pub(super) fn fill_of(system: &mut System<'_>, number: usize, kind: AccessKind) {
    (0..512).for_each(|line| system.access_alone(number, kind, FILLED + line * LINE));
}

#[test]
fn castouts_wait_until_no_request_wants_the_bus() {
    let before = |system: &mut System<'_>| fill(system, AccessKind::Load);
    let at = |name: &str| during(&parts::MONTECITO, 64 << 10, name, before, |system| system.prefetch(ASKED, 12, LINE));
    // Each line displaces one, and its castout enters with the request, at 15 + i. They are sent when request 8 waits for the in-order
    // queue: from 117 on, 12 clocks each. The queue has eight places: castouts 8 to 11 enter when 0 to 3 have left, at 117, 129, 141, 153,
    // and go behind requests 8 to 11, at 236, 260, 284 and 308.
    let first: u64 = (0..8).map(|i| 117 + 12 * i - (15 + i)).sum();
    let rest = (236 - 117) + (260 - 129) + (284 - 141) + (308 - 153);
    // It is full from 22 on, when 7 enters, until 4 leaves at 165.
    for who in ["SELF", "EITHER"] {
        assert_eq!(at(&format!("SI_CCQ_LIVE_REQ_HI.{who}")), 165 - 22, "{who}");
        assert_eq!(at(&format!("SI_CCQ_LIVE_REQ_LO.{who}")), first + rest - 8 * (165 - 22), "{who}");
    }
    assert_eq!(at("SI_CCQ_INSERTS.SELF"), 12);
}

#[test]
fn writes_wait_for_the_reads_before_them() {
    let before = |system: &mut System<'_>| fill(system, AccessKind::Store);
    let at = |name: &str| during(&parts::MONTECITO, 64 << 10, name, before, |system| system.prefetch(ASKED, 8, LINE));
    // Each line displaces a modified one, which enters with the request, at 15 + i. The in-order queue has eight reads until 224 + 24 i, so
    // the writes are sent then, and their data follow those of the reads: from 392 + 24 i until 416 + 24 i.
    let all: u64 = (0..8).map(|i| 416 + 24 * i - (15 + i)).sum();
    for who in ["SELF", "EITHER"] {
        assert_eq!(at(&format!("SI_WRITEQ_LIVE_REQ_HI.{who}")), 416 - 22, "{who}");
        assert_eq!(at(&format!("SI_WRITEQ_LIVE_REQ_LO.{who}")), all - 8 * (416 - 22), "{who}");
    }
    // Seven reads and eight writes follow other data at once.
    assert_eq!(at("BUS_B2B_DATA_CYCLES.SELF"), 4 * (7 + 8));
    assert_eq!(at("SI_WRITEQ_INSERTS.EWB.SELF"), 8);
}

#[test]
fn a_write_queue_that_is_full_holds_up_reads() {
    let before = |system: &mut System<'_>| fill(system, AccessKind::Store);
    let at = |name: &str| during(&parts::MONTECITO, 64 << 10, name, before, |system| system.prefetch(ASKED, 9, LINE));
    // The ninth displaces a modified line as well. It has no place until the first write has left, at 416, and the read is sent to the
    // arbiter no sooner, where it waits for 6 clocks. The others wait as if it did not come.
    let first: u64 = (0..8).map(|i| 21 + 12 * i - (15 + i)).sum();
    assert_eq!(8 * at("SI_RQ_LIVE_REQ_HI.SELF") + at("SI_RQ_LIVE_REQ_LO.SELF"), first + 6);
}

#[test]
fn the_first_itanium_counts_two_bits_of_its_queues_apart() {
    let at = |name: &str| during(&parts::ITANIUM, 4 << 20, name, |_| {}, one_by_one);
    // The second level takes 6 clocks, the third 21, and memory 180: in the request queue from e + 6 until e + 180, and in the in-order
    // queue from e + 28 until e + 204.
    assert_eq!([at("BUS_BRQ_LIVE_REQ_LO"), at("BUS_BRQ_LIVE_REQ_HI"), at("BUS_BRQ_REQ_INSERTED")], [10 * 174, 0, 10]);
    assert_eq!([at("BUS_IOQ_LIVE_REQ_LO"), at("BUS_IOQ_LIVE_REQ_HI")], [10 * 176, 0]);

    // Eight at once, one in a clock: sent at 28 + 12 i, with data that have passed at 204 + 24 i.
    let at = |name: &str| during(&parts::ITANIUM, 4 << 20, name, |_| {}, |system| system.prefetch(ASKED, 8, LINE / 2));
    let all: u64 = (0..8).map(|i| 204 + 24 * i - (28 + 12 * i)).sum();
    // Four to seven of them from 64, when 3 is sent, until 300, when 4 has passed; but all eight from 112 until 204.
    let upper = (112 - 64) + 2 * (204 - 112) + (300 - 204);
    assert_eq!([at("BUS_IOQ_LIVE_REQ_LO"), at("BUS_IOQ_LIVE_REQ_HI")], [all - 4 * upper, upper]);
}
