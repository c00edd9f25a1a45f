//! The rules of levels, walks and time, each by an example worked out by hand.

use super::*;
use crate::{Clock, Invalidation, Untranslated};

/// Runs an instruction without page tables.
fn run(rig: &Rig, follower: &mut Follower<'_>, instruction: &Instruction<'_>) {
    follower.execute(instruction, &mut Untranslated(12));
    rig.deliver(follower);
}

/// Returns an instruction that needs no fetch.
fn accessing(accesses: &[Access]) -> Instruction<'_> {
    Instruction { length: 0, accesses, ..Instruction::default() }
}

fn code(address: u64) -> Instruction<'static> {
    Instruction { address, physical: address, length: 4, ..Instruction::default() }
}

/// Loads lines that displace the line of 0x8000 from its set of two in the K8's data cache.
fn displace(rig: &Rig, follower: &mut Follower<'_>) {
    for number in 1..=2 {
        run(rig, follower, &accessing(&[load(0x8000 + number * 0x8000)]));
    }
}

#[test]
fn a_store_to_a_line_from_the_second_level_makes_it_modified() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &accessing(&[load(0x8000)]));
    displace(&rig, &mut follower);
    run(&rig, &mut follower, &accessing(&[store(0x8000)]));
    assert_eq!(rig.get(0, Signal::DataCacheRefillsL2Exclusive), 1);
    displace(&rig, &mut follower);
    let before = rig.get(0, Signal::DataCacheRefillsL2Modified);
    run(&rig, &mut follower, &accessing(&[load(0x8000)]));
    assert_eq!(rig.get(0, Signal::DataCacheRefillsL2Modified) - before, 1);
}

#[test]
fn a_line_read_once_leaves_without_the_second_level() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &accessing(&[Access { kind: AccessKind::PrefetchOnce, ..load(0x8000) }]));
    displace(&rig, &mut follower);
    assert_eq!(rig.get(0, Signal::DataCacheEvictionsExclusive), 1);
    assert_eq!(rig.get(0, Signal::L2Fills), 0);
}

#[test]
fn a_store_takes_the_line_from_the_other_core_of_a_tile() {
    let companion = Builder::new("knl").unwrap().threads(8).build();
    let rig = Rig::new(8);
    let (mut first, mut other) = (follow(&companion, 0), follow(&companion, 4));
    run(&rig, &mut first, &accessing(&[load(0x8000)]));
    run(&rig, &mut other, &accessing(&[store(0x8000)]));
    run(&rig, &mut first, &accessing(&[load(0x8000)]));
    assert_eq!(rig.get(0, Signal::DataCacheMisses), 2);
    // The tile had it all along.
    assert_eq!(rig.get(0, Signal::LoadsFromL2), 1);
}

#[test]
fn a_load_of_what_the_other_core_of_a_tile_has_modified_is_told_apart() {
    // Known answer B21 of docs/notes/pipelines-x86.md.
    let companion = Builder::new("knl").unwrap().threads(8).build();
    let rig = Rig::new(8);
    let (mut first, mut other) = (follow(&companion, 0), follow(&companion, 4));
    run(&rig, &mut first, &accessing(&[store(0x8000)]));
    run(&rig, &mut other, &accessing(&[load(0x8000)]));
    assert_eq!([Signal::LoadsFromSiblingCoreModified, Signal::LoadsFromL2].map(|signal| rig.get(4, signal)), [1, 1]);
    // Both now have it shared: a load of a line that the other has only read does not count.
    run(&rig, &mut first, &accessing(&[load(0x9000)]));
    run(&rig, &mut other, &accessing(&[load(0x9000)]));
    assert_eq!([Signal::LoadsFromSiblingCoreModified, Signal::LoadsFromL2].map(|signal| rig.get(4, signal)), [1, 2]);
}

#[test]
fn what_the_third_level_gives_up_is_written_if_the_second_has_it_newer() {
    // Montecito: twelve ways of lines 1 MiB apart. Stores only go to the second level, so the third displaces the line all the same.
    let companion = Builder::new("montecito").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &accessing(&[load(0x8000)]));
    for number in 1..=12u64 {
        run(&rig, &mut follower, &accessing(&[store(0x8000)]));
        run(&rig, &mut follower, &accessing(&[load(0x8000 + (number << 20))]));
    }
    assert_eq!(rig.get(0, Signal::L3Evictions), 1);
    assert_eq!(rig.get(0, Signal::VictimBlocks), 1);
}

#[test]
fn a_line_goes_back_to_the_third_level_once_for_each_time_it_was_written() {
    // Montecito: eight ways of the second level, lines 32 KiB apart, which lie in different sets of the third.
    let companion = Builder::new("montecito").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &accessing(&[store(0x8000)]));
    for _round in 0..3 {
        for number in 1..=16 {
            run(&rig, &mut follower, &accessing(&[load(0x8000 + number * 0x8000)]));
        }
        run(&rig, &mut follower, &accessing(&[load(0x8000)]));
    }
    assert_eq!(rig.get(0, Signal::L3WritebackHits), 1);
}

#[test]
fn a_walk_begins_below_what_it_remembers() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let reads = |follower: &mut Follower<'_>, address: u64| {
        let before = rig.get(0, Signal::L2RequestsWalk);
        follower.execute(&accessing(&[load(address)]), &mut Tables);
        rig.deliver(follower);
        rig.get(0, Signal::L2RequestsWalk) - before
    };
    // Four levels; the next page shares the upper three; one 2 MiB on shares two.
    assert_eq!([0x8000, 0x9000, 0x20_8000].map(|address| reads(&mut follower, address)), [4, 1, 2]);
    follower.invalidate(Invalidation::Page(0x9000));
    assert_eq!(reads(&mut follower, 0x9000), 4);
}

#[test]
fn the_entry_that_a_walk_ends_on_is_told_from_those_above_it() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let leaves =
        [Signal::DataWalkLeavesFromL2, Signal::DataWalkLeavesFromL3, Signal::DataWalkLeavesFromOtherCore, Signal::DataWalkLeavesFromMemory];
    let all = [Signal::DataWalksFromL2, Signal::DataWalksFromL3, Signal::DataWalksFromOtherCore, Signal::DataWalksFromMemory];
    let mut reported = |instruction: &Instruction<'_>| {
        let before = [rig.sum(&leaves), rig.sum(&all), rig.get(0, Signal::InstructionWalkDirectories)];
        follower.execute(instruction, &mut Tables);
        rig.deliver(&mut follower);
        [rig.sum(&leaves) - before[0], rig.sum(&all) - before[1], rig.get(0, Signal::InstructionWalkDirectories) - before[2]]
    };
    // Four levels; a page that only shares the root; the page next to it, which shares all three directories.
    assert_eq!(reported(&accessing(&[load(0x8000)])), [1, 4, 0]);
    assert_eq!(reported(&accessing(&[load(0x7F_8020_8000)])), [1, 3, 0]);
    assert_eq!(reported(&accessing(&[load(0x7F_8020_9000)])), [1, 1, 0]);
    // The same for code, elsewhere below the root.
    assert_eq!(reported(&code(0x12_3020_8000)), [0, 0, 2]);
    assert_eq!(reported(&code(0x12_3020_9000)), [0, 0, 0]);
}

#[test]
fn global_translations_outlive_what_forgets_the_others() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let misses = |follower: &mut Follower<'_>, address: u64| {
        let before = rig.get(0, Signal::DataTlbL2Misses);
        follower.execute(&accessing(&[load(address)]), &mut Tables);
        rig.deliver(follower);
        rig.get(0, Signal::DataTlbL2Misses) - before
    };
    // Bit 29 of an address makes its page global.
    let pages = [0x8000, 0x2000_8000];
    assert_eq!(pages.map(|address| misses(&mut follower, address)), [1, 1]);
    follower.invalidate(Invalidation::NonGlobal);
    assert_eq!(pages.map(|address| misses(&mut follower, address)), [1, 0]);
    follower.invalidate(Invalidation::All);
    assert_eq!(pages.map(|address| misses(&mut follower, address)), [1, 1]);
}

#[test]
fn loads_alone_miss_translations_of_loads() {
    let companion = Builder::new("knl").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let misses = |follower: &mut Follower<'_>, access: Access| {
        let signals = [Signal::LoadTlbMissesAll, Signal::LoadTlbL2Misses];
        let before = signals.map(|signal| rig.get(0, signal));
        run(&rig, follower, &accessing(&[access]));
        let after = signals.map(|signal| rig.get(0, signal));
        [after[0] - before[0], after[1] - before[1]]
    };
    assert_eq!(misses(&mut follower, store(0x8000)), [0, 0]);
    assert_eq!(misses(&mut follower, load(0x9000)), [1, 1]);
    assert_eq!(misses(&mut follower, load(0x9040)), [0, 0]);
    // Eight sets of eight in the first level: eight more pages of the same set evict this one, and the second level has it.
    for number in 1..=8 {
        run(&rig, &mut follower, &accessing(&[store(0x9000 + (number << 15))]));
    }
    assert_eq!(misses(&mut follower, load(0x9080)), [1, 0]);
}

#[test]
fn a_taken_branch_fetches_anew() {
    let companion = Builder::new("k8").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let transfer = Some(Transfer { kind: BranchKind::DirectJump, taken: true, target: 0x1000 });
    for _ in 0..3 {
        run(&rig, &mut follower, &Instruction { transfer, ..code(0x1000) });
    }
    assert_eq!(rig.get(0, Signal::InstructionFetches), 3);
    run(&rig, &mut follower, &code(0x1000));
    run(&rig, &mut follower, &code(0x1004));
    assert_eq!(rig.get(0, Signal::InstructionFetches), 4);
}

#[test]
fn code_that_another_core_writes_is_fetched_again() {
    let companion = Builder::new("k8").unwrap().threads(2).build();
    let rig = Rig::new(2);
    let (mut first, mut other) = (follow(&companion, 0), follow(&companion, 1));
    run(&rig, &mut first, &code(0x1000));
    run(&rig, &mut other, &accessing(&[store(0x1020)]));
    // Intervening events are reported with an access.
    run(&rig, &mut first, &accessing(&[load(0x9000)]));
    run(&rig, &mut first, &code(0x1010));
    assert_eq!(rig.get(0, Signal::InstructionCacheMisses), 2);
    assert_eq!(rig.get(0, Signal::InstructionCacheInvalidations), 1);
}

#[test]
fn the_states_of_the_last_cycle_are_those_that_hold() {
    let companion = Builder::new("k8").unwrap().clock(Clock::Companion).build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    assert_eq!(follower.holds(Signal::DispatchStallCycles), None, "no cycle has gone by");
    // Three integer operations take a cycle. One floating-point operation among many completes in one of the cycles.
    let integer = Instruction { operation: Some(Operation::default()), ..accessing(&[]) };
    let floating = Instruction { class: Class::FloatAdd, floating_point: true, ..integer };
    let mut seen = [false; 2];
    for number in 0..60 {
        let before = [Signal::Cycles, Signal::FloatingPointIdleCycles].map(|signal| rig.get(0, signal));
        run(&rig, &mut follower, if number == 10 { &floating } else { &integer });
        let after = [Signal::Cycles, Signal::FloatingPointIdleCycles].map(|signal| rig.get(0, signal));
        if after[0] - before[0] == 1 {
            let idle = after[1] != before[1];
            assert_eq!(follower.holds(Signal::FloatingPointIdleCycles), Some(idle));
            seen[usize::from(idle)] = true;
        }
    }
    assert_eq!(seen, [true; 2]);
    assert_eq!(follower.holds(Signal::DispatchStallCycles), Some(false));
    assert_eq!(follower.holds(Signal::InterruptsMaskedCycles), None, "the embedder's");
}

#[test]
fn without_time_no_state_is_known() {
    let companion = Builder::new("k8").unwrap().clock(Clock::Embedder).build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    run(&rig, &mut follower, &Instruction { class: Class::Serializing, ..code(0x1000) });
    assert_eq!(follower.holds(Signal::DispatchStallCycles), None);
}
