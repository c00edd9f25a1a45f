//! Reports to an embedder that switches threads, and the resumption of a thread.

use super::*;

/// Clocks from execution until a load's third-level miss is known, and to the first group after a thread switch.
const KNOWN: u64 = 14;

/// Runs a load from memory, its use, and four more bundles. The load executes in clock 4, three after its dispersal.
fn waits() -> Bench {
    let mut bench = Bench::new();
    bench.core.watch(true);
    bench.first(load(R4, &[], missed(0x1000, MEMORY, Source::Memory)));
    bench.first(add(R5, R4));
    bench.w(4);
    bench
}

/// Takes the reportable clocks. Returns their number, and in how many a general register is waited for.
fn report(bench: &mut Bench) -> (u64, u64) {
    let (mut all, mut general) = (0, 0);
    while let Some((clocks, states)) = bench.core.next(u64::MAX) {
        all += clocks;
        general += if states >> MontecitoState::General as u8 & 1 == 1 { clocks } else { 0 };
    }
    (all, general)
}

#[test]
fn k24_a_miss_is_known_fourteen_clocks_after_the_load_executed() {
    let mut bench = waits();
    // The use was dispersed in clock 2, and has been in EXE since 5: that clock is its step's own, and 13 stall clocks follow, up to 18.
    assert_eq!(bench.core.unreported(), 4 + KNOWN);
    assert_eq!(bench.core.third_level_miss(), None);
    assert_eq!(report(&mut bench), (4 + KNOWN, 13));
    // The group of the load completed in clock 6.
    assert_eq!(bench.core.idle(), 12);
    assert_eq!(bench.core.third_level_miss(), Some(ThirdLevelMiss { returns: u64::from(MEMORY) - KNOWN }));
    assert_eq!(bench.core.third_level_miss(), None);
    // Threads are not switched: 186 of the 199 clocks of the wait are left.
    assert_eq!(report(&mut bench).1, 186);
}

#[test]
fn what_a_thread_waits_for_goes_on_in_the_background() {
    // After 100 clocks and the 15 of the switch 71 are left; after 1000 none.
    for (background, left) in [(100, 71), (1000, 0)] {
        let mut bench = waits();
        report(&mut bench);
        bench.core.third_level_miss();
        bench.core.resume(background, &mut bench.tally);
        bench.w(2);
        let answer = bench.finish();
        assert_eq!((answer.state(MontecitoState::General), answer.state(MontecitoState::FlushException)), (left, 15), "{background}");
        // Of eight groups five had been dispersed before the pipeline stopped.
        assert_eq!(answer.state(MontecitoState::Completion), 3);
    }
}

#[test]
fn no_more_is_reported_than_is_wanted() {
    let mut bench = waits();
    bench.core.report_at_most(Some(10));
    assert_eq!(report(&mut bench), (10, 5));
    bench.core.report_at_most(None);
    assert_eq!(report(&mut bench), (KNOWN - 6, KNOWN - 6));
    bench.core.watch(false);
    assert!(report(&mut bench).0 > 180);
}

#[test]
fn a_miss_of_code_is_known_too() {
    let mut bench = Bench::new();
    bench.core.watch(true);
    (bench.found.line, bench.found.code) = (200, Some(Source::Memory));
    bench.w(2);
    report(&mut bench);
    let miss = bench.core.third_level_miss().unwrap();
    assert!((180..=190).contains(&miss.returns), "{}", miss.returns);
}

/// Latency of a walk whose entry comes from memory.
const WALK: u32 = 20 + MEMORY;

#[test]
fn the_walks_of_one_group_keep_a_thread_from_completing_one_after_the_other() {
    let load = || load(R4, &[], translated(WALK, true));
    let store = || Slot { touch: Some(Touch { translation: WALK, walked: true, ..touch(0x6000, AccessKind::Store) }), ..store(0x6000) };
    // Two loads; two stores in addition; the spills of an `alloc` in two pages instead of one store.
    for (walks, stores, spills) in [(2, 0, 0), (4, 2, 0), (5, 1, 2)] {
        let mut bench = Bench::new();
        bench.core.watch(true);
        bench.w(1);
        for spill in 0..spills {
            bench.found.touches[spill] = Touch { translation: WALK, walked: true, ..touch(0, AccessKind::RegisterStackStore) };
        }
        bench.found.count = spills;
        let optional = |number| if stores >= number { store() } else { plain(NOP) };
        let first = if spills == 0 { optional(2) } else { plain(ALLOC) };
        bench.bundle(MMI, [first, load(), plain(NOP)]);
        bench.bundle(MMI | STOP, [load(), optional(1), plain(NOP)]);
        bench.w(8);
        // The bundle W, dispersed in clock 1, completes in clock 6, when the group reaches DET.
        let waited = u64::from(walks * WALK);
        bench.core.report_at_most(Some(6 + waited));
        report(&mut bench);
        assert_eq!(bench.core.idle(), waited, "{walks}");
    }
}
