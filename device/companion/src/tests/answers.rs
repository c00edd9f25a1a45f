//! Counts derived from the geometry of the K8: 1,024 lines of 64 bytes in 512 sets of two in the first level, 16,384 in 1,024 sets of
//! sixteen in the second.

use super::*;
use crate::Untranslated;

/// Runs an instruction without page tables, so that walks read nothing.
fn run(rig: &Rig, follower: &mut Follower<'_>, instruction: &Instruction<'_>) {
    follower.execute(instruction, &mut Untranslated(12));
    rig.deliver(follower);
}

/// Returns an instruction that needs no fetch.
fn accessing(accesses: &[Access]) -> Instruction<'_> {
    Instruction { length: 0, accesses, ..Instruction::default() }
}

/// Loads every line of an array once, in an order without consecutive neighbours (17 shares no divisor with a power of two), and returns
/// the increments of the signals.
fn advance(rig: &Rig, follower: &mut Follower<'_>, bytes: u64, signals: &[Signal]) -> Vec<u64> {
    let before: Vec<u64> = signals.iter().map(|signal| rig.get(0, *signal)).collect();
    let lines = bytes / 64;
    for step in 0..lines {
        run(rig, follower, &accessing(&[load(0x100_0000 + step * 17 % lines * 64)]));
    }
    signals.iter().zip(before).map(|(signal, before)| rig.get(0, *signal) - before).collect()
}

#[test]
fn a_chase_misses_where_it_outgrows_a_level() {
    let companion = Builder::new("k8").unwrap().build();
    let signals = [Signal::DataCacheMisses, Signal::L2MissesData, Signal::DataCacheRefillsL2Exclusive, Signal::L2Fills];
    // 48 KiB fit in the first level. Of 512 KiB, sixteen lines map to each set of two: every access misses, and hits the second level,
    // which takes the displaced lines. 4 MiB exceed both: 64 lines map to each set of sixteen.
    for (bytes, right) in [(48 << 10, [0, 0, 0, 0]), (512 << 10, [8192, 0, 8192, 8192]), (4 << 20, [65536, 65536, 0, 65536u64])] {
        let rig = Rig::new(1);
        let mut follower = follow(&companion, 0);
        advance(&rig, &mut follower, bytes, &signals);
        assert_eq!(advance(&rig, &mut follower, bytes, &signals), right, "{bytes} bytes");
    }
}

#[test]
fn two_cores_that_write_one_line_take_it_from_each_other() {
    let companion = Builder::new("k8").unwrap().threads(2).build();
    let rig = Rig::new(2);
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    for _ in 0..100 {
        for follower in &mut followers {
            run(&rig, follower, &accessing(&[load(0x8000), store(0x8000)]));
        }
    }
    // The first load found no holder. Each of the other 199 found the line modified, got it shared, and had to request permission to write
    // it, which invalidated it at the owner.
    assert_eq!(rig.sum(&[Signal::DataCacheMisses]), 200);
    assert_eq!(rig.sum(&[Signal::DataCacheRefillsSystemExclusive]), 1);
    assert_eq!(rig.sum(&[Signal::DataCacheRefillsSystemShared]), 199);
    assert_eq!(rig.sum(&[Signal::ChangesToDirty]), 199);
    assert_eq!(rig.sum(&[Signal::ProbeHitsDirtyCancelled]), 199);
    assert_eq!(rig.sum(&[Signal::ProbeHitsDirty]), 199);
    assert_eq!(rig.sum(&[Signal::ProbeMisses]), 1);
    // Each line that is loaded again replaces the invalidated one: all except the first of each core.
    assert_eq!(rig.sum(&[Signal::DataCacheEvictionsInvalid]), 198);
}

#[test]
fn the_threads_of_a_tile_share_its_second_level_and_not_the_first() {
    let companion = Builder::new("knl").unwrap().threads(12).build();
    let rig = Rig::new(12);
    let misses = |thread: usize| {
        let mut follower = follow(&companion, thread);
        run(&rig, &mut follower, &accessing(&[load(0x8000)]));
        [Signal::DataCacheMisses, Signal::L2Misses].map(|signal| rig.get(thread, signal))
    };
    // Threads 0 to 3 belong to the first core, 4 to 7 to the second, 8 to 11 to the next tile.
    assert_eq!(misses(0), [1, 1]);
    assert_eq!(misses(1), [0, 0]);
    assert_eq!(misses(4), [1, 0]);
    assert_eq!(misses(7), [0, 0]);
    assert_eq!(misses(8), [1, 1]);
}

#[test]
fn the_threads_of_montecito_share_caches_and_not_translations() {
    let companion = Builder::new("montecito").unwrap().threads(2).build();
    let rig = Rig::new(2);
    for thread in 0..2 {
        run(&rig, &mut follow(&companion, thread), &accessing(&[load(0x8000)]));
    }
    assert_eq!([0, 1].map(|thread| rig.get(thread, Signal::DataCacheMisses)), [1, 0]);
    assert_eq!([0, 1].map(|thread| rig.get(thread, Signal::DataTlbL2Misses)), [1, 1]);
}

#[test]
fn a_pair_of_power9_cores_passes_lines_through_its_third_level() {
    let companion = Builder::new("power9").unwrap().threads(8).build();
    let rig = Rig::new(8);
    let mut first = follow(&companion, 0);
    // The second level has 512 sets of eight lines of 128 bytes: of nine lines 64 KiB apart the first goes to the third level.
    for number in 0..9 {
        run(&rig, &mut first, &accessing(&[load(0x100_0000 + number * 0x1_0000)]));
    }
    let mut second = follow(&companion, 4);
    run(&rig, &mut second, &accessing(&[load(0x100_0000)]));
    assert_eq!(rig.get(4, Signal::L3LoadHits), 1);
    assert_eq!(rig.get(4, Signal::LoadsFromL3), 1);
    run(&rig, &mut second, &accessing(&[load(0x100_0000 + 8 * 0x1_0000)]));
    assert_eq!(rig.get(4, Signal::LoadsFromL2), 1);
}

#[test]
fn a_load_that_misses_takes_what_its_level_takes() {
    // K8: 123 cycles from memory and 30 to open a page of DRAM; 12 from the second level.
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    // Lines 0x8000 apart are in different banks, so three pages are opened.
    let lines: Vec<u64> = (0..3).map(|number| 0x100_0000 + number * 0x8000).collect();
    for line in &lines {
        run(&rig, &mut follower, &accessing(&[load(*line)]));
        assert_eq!(follower.outcome().latency, 123 + 30);
    }
    // Three lines map to a set of two: the first is now in the second level.
    run(&rig, &mut follower, &accessing(&[load(lines[0])]));
    assert_eq!(follower.outcome().latency, 12);
    assert_eq!(follower.outcome().source, vm_pmu_arch::feed::DataSource::Cache(2));
}

#[test]
fn a_nest_of_twenty_overflows_a_stack_of_twelve_by_eight() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let transfer = |address: u64, kind, target| Instruction {
        address,
        physical: address,
        length: 5,
        transfer: Some(Transfer { kind, taken: true, target }),
        ..Instruction::default()
    };
    for depth in 0..20 {
        run(&rig, &mut follower, &transfer(0x1000 * depth, BranchKind::DirectCall, 0x1000 * (depth + 1)));
    }
    for depth in (0..20).rev() {
        run(&rig, &mut follower, &transfer(0x1000 * (depth + 1) + 0x100, BranchKind::Return, 0x1000 * depth + 5));
    }
    assert_eq!(rig.get(0, Signal::ReturnStackOverflows), 8);
    assert_eq!(rig.get(0, Signal::ReturnStackHits), 12);
    assert_eq!(rig.get(0, Signal::NearReturnsMispredicted), 8);
}

/// Touches one address in each of `count` pages, in turn. Returns the accesses that missed the first level and hit the second, and those
/// that missed both.
fn pages(companion: &Companion, count: u64, page_bits: u8, rounds: u64) -> (u64, u64) {
    let rig = Rig::new(1);
    let mut follower = follow(companion, 0);
    for number in 0..rounds * count {
        let address = 0x4000_0000 + ((number % count) << page_bits);
        follower.execute(&accessing(&[load(address)]), &mut Untranslated(page_bits));
        rig.deliver(&mut follower);
    }
    (rig.get(0, Signal::DataTlbL1Misses), rig.get(0, Signal::DataTlbL2Misses))
}

#[test]
fn translations_of_k8_are_32_small_and_8_large_and_then_512_small() {
    let k8 = Builder::new("k8").unwrap();
    assert_eq!(pages(&k8.build(), 32, 12, 3), (0, 32));
    // In turn, 33 pages evict each other from 32 entries; the second level has them all.
    assert_eq!(pages(&k8.build(), 33, 12, 3), (66, 33));
    assert_eq!(pages(&k8.build(), 512, 12, 3), (1024, 512));
    // Eight pages map to each set of four.
    assert_eq!(pages(&k8.build(), 1024, 12, 3), (0, 3072));
    assert_eq!(pages(&k8.build(), 8, 21, 3), (0, 8));
    // The second level holds no large page, whole or in pieces.
    assert_eq!(pages(&k8.build(), 16, 21, 3), (0, 48));
}

#[test]
fn forgetting_a_large_page_forgets_all_of_its_pieces() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let touch = |follower: &mut Follower<'_>, address: u64| {
        let before = rig.get(0, Signal::DataTlbL2Misses);
        follower.execute(&accessing(&[load(address)]), &mut Untranslated(21));
        rig.deliver(follower);
        rig.get(0, Signal::DataTlbL2Misses) - before
    };
    assert_eq!([0, 0x1000, 0x2000].map(|offset| touch(&mut follower, 0x4000_0000 + offset)), [1, 0, 0]);
    follower.invalidate(crate::Invalidation::Page(0x4000_1234));
    assert_eq!([0x2000, 0].map(|offset| touch(&mut follower, 0x4000_0000 + offset)), [1, 0]);
}

#[test]
fn a_store_into_the_code_that_runs_is_noticed_where_caches_are_one() {
    for name in ["k8", "knl", "itanium", "power9"] {
        let companion = Builder::new(name).unwrap().build();
        let rig = Rig::new(1);
        let mut follower = follow(&companion, 0);
        for _round in 0..5 {
            let code = Instruction { address: 0x1000, physical: 0x1000, length: 4, ..Instruction::default() };
            run(&rig, &mut follower, &Instruction { accesses: &[load(0x1010)], ..code });
            run(&rig, &mut follower, &Instruction { accesses: &[store(0x1010)], ..code });
        }
        assert_eq!(rig.get(0, Signal::SelfModifyingCodeRestarts), 5, "{name}");
        // The first fetch, and one after each restart except the last.
        assert_eq!(rig.get(0, Signal::InstructionCacheMisses), 5, "{name}");
    }
}

#[test]
fn a_dirty_line_is_written_back_once_wherever_it_went() {
    let code = Instruction { address: 0x1000, physical: 0x1000, length: 4, ..Instruction::default() };
    for profile in crate::parts::ALL {
        let companion = Builder::of(profile).build();
        let rig = Rig::new(1);
        let mut follower = follow(&companion, 0);
        run(&rig, &mut follower, &accessing(&[store(0x1000)]));
        run(&rig, &mut follower, &code);
        // Lines of the same set in every cache, as data and as code: the line leaves the first level of both.
        for number in 1..200u64 {
            let address = 0x1000 + number * 0x4_0000;
            run(&rig, &mut follower, &accessing(&[load(address)]));
            run(&rig, &mut follower, &Instruction { address, physical: address, ..code });
        }
        let flush = Access { kind: AccessKind::Flush, ..load(0x1000) };
        run(&rig, &mut follower, &accessing(&[flush]));
        assert_eq!(rig.get(0, Signal::VictimBlocks), 1, "{}", profile.name);
    }
}

#[test]
fn what_others_did_before_anything_was_counted_is_not_reported() {
    let companion = Builder::new("k8").unwrap().threads(2).build();
    let rig = Rig::new(2);
    let mut first = follow(&companion, 0);
    for number in 0..100 {
        run(&rig, &mut first, &accessing(&[load(0x1_0000 + 64 * number)]));
    }
    let mut second = follow(&companion, 1);
    run(&rig, &mut first, &accessing(&[load(0x8000)]));
    run(&rig, &mut second, &accessing(&[load(0x9000)]));
    assert_eq!(rig.get(1, Signal::L2RequestsSnoop), 1);
}

#[test]
fn an_access_over_two_pages_looks_both_up() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &accessing(&[load(0x1FFC)]));
    assert_eq!(rig.get(0, Signal::DataTlbL2Misses), 2);
    assert_eq!(rig.get(0, Signal::MisalignedAccesses), 1);
    assert_eq!(rig.get(0, Signal::DataCacheMisses), 2);
}

#[test]
fn a_device_takes_what_it_writes_and_gets_what_it_reads() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let devices = &rig.devices[0];
    let device = |size: u64, writes: bool| companion.device_access(0x8000, size, writes, devices, &everything());
    let probes = || {
        let get = |signal| devices.get(signal);
        [Signal::ProbeMisses, Signal::ProbeHitsClean, Signal::ProbeHitsDirty, Signal::ProbeHitsDirtyCancelled].map(get)
    };
    // Section 10.2.1.7 on event ECh: no cache has the line; then one has it dirty, and a read gets it from there.
    assert_eq!(device(64, false), 0);
    assert_eq!(probes(), [1, 0, 0, 0]);
    run(&rig, &mut follower, &accessing(&[store(0x8000)]));
    assert_eq!(device(64, false), 1, "the first line was modified");
    assert_eq!(probes(), [1, 0, 0, 1]);
    // A partial write of a dirty line counts as a dirty hit; a write of the whole line as a clean hit.
    device(4, true);
    assert_eq!(probes(), [1, 0, 1, 1]);
    run(&rig, &mut follower, &accessing(&[store(0x8000)]));
    device(64, true);
    assert_eq!(probes(), [1, 1, 1, 1]);
    assert_eq!([Signal::UpstreamReads, Signal::UpstreamWrites].map(|signal| devices.get(signal)), [2, 2]);
    // Both writes invalidated the line.
    assert_eq!(rig.get(0, Signal::DataCacheMisses), 2);
    run(&rig, &mut follower, &accessing(&[load(0x8000)]));
    assert_eq!(rig.get(0, Signal::DataCacheMisses), 3);
    assert_eq!(rig.get(0, Signal::DataCacheInvalidations), 2);
}

#[test]
fn code_of_several_pages_in_one_line_is_translated_for_each() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let code = |page: u64| Instruction { address: 0x100_0000 + page * 0x1000, physical: 0x5000, length: 4, ..Instruction::default() };
    // 33 pages in turn evict each other from 32 entries; the second level has them.
    for page in (0..33).chain(0..33) {
        run(&rig, &mut follower, &code(page));
    }
    assert_eq!(rig.get(0, Signal::InstructionTlbL2Misses), 33);
    assert_eq!(rig.get(0, Signal::InstructionTlbL1Misses), 33);
    assert_eq!(rig.get(0, Signal::InstructionCacheMisses), 1);
}

#[test]
fn an_instruction_over_two_pages_is_fetched_from_where_they_are() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let across = Instruction { address: 0x1FFE, physical: 0x5FFE, length: 4, next_page: Some(0x9000), ..Instruction::default() };
    run(&rig, &mut follower, &across);
    assert_eq!(rig.get(0, Signal::InstructionCacheMisses), 2);
    run(&rig, &mut follower, &Instruction { address: 0x7000, physical: 0x9010, length: 4, ..Instruction::default() });
    assert_eq!(rig.get(0, Signal::InstructionCacheMisses), 2);
}

#[test]
fn targets_2048_places_apart_take_each_others_place() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let mut jump = |address: u64, target| {
        let transfer = Some(Transfer { kind: BranchKind::IndirectJump, taken: true, target });
        let before = rig.get(0, Signal::IndirectJumpsMispredicted);
        run(&rig, &mut follower, &Instruction { address, physical: address, length: 2, transfer, ..Instruction::default() });
        rig.get(0, Signal::IndirectJumpsMispredicted) - before
    };
    // Addresses count in units of two bytes: 2,048 entries cover 4 KiB.
    assert_eq!([jump(0x1000, 0x40), jump(0x1800, 0x50), jump(0x1000, 0x40), jump(0x1800, 0x50)], [1, 1, 0, 0]);
    assert_eq!([jump(0x2000, 0x60), jump(0x1000, 0x40), jump(0x1800, 0x50)], [1, 1, 0]);
}

#[test]
fn memory_counts_for_the_package_that_has_it() {
    let rig = Rig::packages(2);
    let companion = Builder::new("k8").unwrap().packages(2).memory_per_package(1 << 20).build();
    let mut followers = [follow(&companion, 0), follow(&companion, 1)];
    // The first package reads a page of its own memory, and one of the other's.
    for address in [0x1000, 0x10_1000, 0x10_1100] {
        run(&rig, &mut followers[0], &accessing(&[load(address)]));
    }
    let pages = [Signal::DramPageHits, Signal::DramPageMisses, Signal::DramPageConflicts];
    assert_eq!(pages.map(|signal| rig.get(0, signal)), [0, 1, 0]);
    assert_eq!([Signal::LoadsFromLocalMemory, Signal::LoadsFromRemoteMemory].map(|signal| rig.get(0, signal)), [1, 2]);
    assert_eq!(rig.get(0, Signal::ProbeMisses), 1);
    // The other package's memory and probes are reported when one of its threads makes an access.
    run(&rig, &mut followers[1], &accessing(&[load(0x10_8000)]));
    assert_eq!(pages.map(|signal| rig.get(1, signal)), [1, 2, 0]);
    assert_eq!(rig.get(1, Signal::ProbeMisses), 3);
}
