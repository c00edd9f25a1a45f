//! Pages of POWER9, the locations of their entries, and lines that its prefetcher requests, worked out by hand.
//!
//! The first-level TLB has 64 entries, the second 1,024 in 256 sets of four; both hold pages of 4 KiB, 64 KiB and 2 MiB, and larger ones in
//! pieces of 2 MiB. The page-walk cache has 32 directories.

use vm_pmu_arch::feed::{DataSource, FetchSource, Translation};

use super::*;
use crate::Outcome;

/// Four-level radix tables, each a megabyte apart. Bits 40 and up of an address choose the size of its page.
struct Radix;

const TABLES: u64 = 0x7000_0000;

/// Returns the address of page `number` of this size.
fn page(bits: u8, number: u64) -> u64 {
    u64::from(bits) << 40 | number << bits
}

impl PageTables for Radix {
    fn walk(&mut self, address: u64) -> Walk {
        let page_bits = (address >> 40) as u8;
        let entry = |level: u64, shift: u64| TABLES + level * 0x10_0000 + (address >> shift) % 0x1000 * 8;
        let entries = [entry(0, 39), entry(1, 30), entry(2, 21), entry(3, 12), 0];
        let levels = match page_bits {
            ..21 => 4,
            21..30 => 3,
            30.. => 2,
        };
        Walk { entries, levels, page_bits, global: false }
    }
}

fn outcome_of(rig: &Rig, follower: &mut Follower<'_>, instruction: &Instruction<'_>) -> Outcome {
    follower.execute(instruction, &mut Radix);
    let outcome = *follower.outcome();
    rig.deliver(follower);
    outcome
}

/// Runs an instruction that needs no fetch and loads from `address`; its data is always in the same line.
fn loading(rig: &Rig, follower: &mut Follower<'_>, address: u64) -> Outcome {
    let access = Access { address, physical: 0x100_0000, size: 8, ..Access::default() };
    outcome_of(rig, follower, &Instruction { length: 0, accesses: &[access], ..Instruction::default() })
}

const ALL_SIZES: [Signal; 4] = [Signal::DataTlbMisses4k, Signal::DataTlbMisses64k, Signal::DataTlbMisses2m, Signal::DataTlbMisses1g];
const WALKED_SIZES: [Signal; 4] =
    [Signal::DataTlbL2Misses4k, Signal::DataTlbL2Misses64k, Signal::DataTlbL2Misses2m, Signal::DataTlbL2Misses1g];

#[test]
fn a_miss_is_counted_by_the_size_of_its_page() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    for (bits, times) in [(12, 1), (16, 2), (21, 3), (24, 1), (30, 2), (34, 3)] {
        for number in 0..times {
            let outcome = loading(&rig, &mut follower, page(bits, number));
            assert_eq!((outcome.translation, outcome.page_bits), (Translation::Walk, bits));
        }
    }
    // 16 MiB are counted with 2 MiB, 16 GiB with 1 GiB.
    for signals in [ALL_SIZES, WALKED_SIZES] {
        assert_eq!(signals.map(|signal| rig.get(0, signal)), [1, 2, 4, 5]);
    }
    // The last page again: it hits the first level, which does not report its size.
    let outcome = loading(&rig, &mut follower, page(34, 2));
    assert_eq!((outcome.translation, outcome.page_bits, outcome.walk_source), (Translation::Hit(1), 0, DataSource::Unknown));
}

#[test]
fn the_second_level_knows_the_size_of_a_page_that_it_holds_in_pieces() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let pages = [page(16, 0), page(24, 0), page(30, 0), page(34, 0)];
    pages.iter().for_each(|address| _ = loading(&rig, &mut follower, *address));
    // 64 pages of 4 KiB, in other sets of the second level, evict all four from the first.
    (64..128).for_each(|number| _ = loading(&rig, &mut follower, page(12, number)));
    let again = pages.map(|address| {
        let outcome = loading(&rig, &mut follower, address);
        (outcome.translation, outcome.page_bits, outcome.walk_source)
    });
    assert_eq!(again, [16, 24, 30, 34].map(|bits| (Translation::Hit(2), bits, DataSource::Unknown)));
    assert_eq!(ALL_SIZES.map(|signal| rig.get(0, signal)), [64, 2, 2, 4]);
    assert_eq!(WALKED_SIZES.map(|signal| rig.get(0, signal)), [64, 1, 1, 2]);
}

#[test]
fn code_is_counted_by_the_size_of_its_page_too() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    for (bits, times) in [(12, 3), (16, 2), (21, 1), (30, 1)] {
        for number in 0..times {
            let instruction = Instruction { address: page(bits, number), physical: 0x200_0000, length: 4, ..Instruction::default() };
            outcome_of(&rig, &mut follower, &instruction);
        }
    }
    let signals = [Signal::InstructionTlbMisses4k, Signal::InstructionTlbMisses64k, Signal::InstructionTlbMisses2m];
    assert_eq!(signals.map(|signal| rig.get(0, signal)), [3, 2, 2]);
    assert_eq!(rig.get(0, Signal::InstructionTlbMissesAll), 7);
}

#[test]
fn a_walk_goes_on_below_the_directory_that_is_known_and_says_where_its_entry_was() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let levels = |signals: &[Signal]| signals.iter().map(|signal| rig.get(0, *signal)).collect::<Vec<_>>();
    // All four levels are in memory.
    assert_eq!(loading(&rig, &mut follower, page(12, 0)).walk_source, DataSource::LocalMemory);
    let hits = [Signal::WalkCacheMisses, Signal::WalkCacheHitsLevel1, Signal::WalkCacheHitsLevel2, Signal::WalkCacheHitsLevel3];
    assert_eq!(levels(&hits), [1, 0, 0, 0]);
    assert_eq!(levels(&[Signal::WalkDirectoriesLevel1FromBeyond, Signal::WalkLeavesLevel4FromBeyond]), [1, 1]);
    assert_eq!(levels(&[Signal::DataWalkLeavesFromLocalMemory, Signal::DataWalkLeavesFromMemory]), [1, 1]);
    // The next page shares three directories, and its entry shares the line of the first's, which the second level has by now.
    assert_eq!(loading(&rig, &mut follower, page(12, 1)).walk_source, DataSource::Cache(2));
    assert_eq!(levels(&hits), [1, 0, 0, 1]);
    assert_eq!(levels(&[Signal::WalkLeavesLevel4FromL2, Signal::DataWalkLeavesFromL2]), [1, 1]);
    // 2 MiB further the directory of the third level differs, in the line of the first one; the entry is in another line.
    loading(&rig, &mut follower, page(12, 512));
    assert_eq!(levels(&hits), [1, 0, 1, 1]);
    assert_eq!(levels(&[Signal::WalkDirectoriesLevel3FromL2, Signal::WalkLeavesLevel4FromBeyond]), [1, 2]);
    // 1 GiB further so does that of the second level, in the first one's line; the others are in lines of their own.
    loading(&rig, &mut follower, page(12, 1 << 18));
    assert_eq!(levels(&hits), [1, 1, 1, 1]);
    assert_eq!(levels(&[Signal::WalkDirectoriesLevel2FromL2, Signal::WalkDirectoriesLevel1FromL2]), [1, 0]);
}

#[test]
fn walks_end_at_the_level_of_their_page() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    for (bits, times) in [(21, 2), (30, 3)] {
        (0..times).for_each(|number| _ = loading(&rig, &mut follower, page(bits, number)));
    }
    // For each size the first entry is in memory, and its neighbours are in the line that it brought.
    let signals = [
        Signal::WalkLeavesLevel3FromBeyond,
        Signal::WalkLeavesLevel3FromL2,
        Signal::WalkLeavesLevel2FromBeyond,
        Signal::WalkLeavesLevel2FromL2,
    ];
    assert_eq!(signals.map(|signal| rig.get(0, signal)), [1, 1, 1, 2]);
}

#[test]
fn an_entry_may_be_in_another_package() {
    // Each package has 256 MiB; the tables, at 1.75 GiB, belong to the second.
    let companion = Builder::new("power9").unwrap().packages(2).threads(8).memory_per_package(256 << 20).build();
    let rig = Rig::new(16);
    let mut first = follow(&companion, 0);
    assert_eq!(loading(&rig, &mut first, page(12, 0)).walk_source, DataSource::RemoteMemory);
    let places =
        [Signal::DataWalkLeavesFromLocalMemory, Signal::DataWalkLeavesFromRemoteMemory, Signal::DataWalkLeavesFromOtherPackageModified];
    assert_eq!(places.map(|signal| rig.get(0, signal)), [0, 1, 0]);
    // A thread of the second package writes the line of the next entry, so the first one's walk gets it from there.
    let entry = TABLES + 3 * 0x10_0000 + 0x80;
    let mut second = follow(&companion, 8);
    let write = Access { address: page(21, 0), physical: entry, size: 8, kind: AccessKind::Store, ..Access::default() };
    outcome_of(&rig, &mut second, &Instruction { length: 0, accesses: &[write], ..Instruction::default() });
    assert_eq!(loading(&rig, &mut first, page(12, 16)).walk_source, DataSource::OtherPackage { modified: true });
    assert_eq!(places.map(|signal| rig.get(0, signal)), [0, 1, 1]);
}

#[test]
fn an_outcome_says_where_code_came_from() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let mut fetched = |address: u64| {
        let instruction =
            Instruction { address: page(16, 0) + address, physical: 0x200_0000 + address, length: 4, ..Instruction::default() };
        outcome_of(&rig, &mut follower, &instruction).fetch_source
    };
    assert_eq!(fetched(0), FetchSource::Beyond);
    // The line is being executed.
    assert_eq!(fetched(4), FetchSource::Unknown);
    // 32 sets of eight lines: eight others of its set evict the line from the first level.
    (1..=8).for_each(|number| assert_eq!(fetched(number * 0x1000), FetchSource::Beyond));
    assert_eq!(fetched(0), FetchSource::L2);
    assert_eq!(fetched(0x8000), FetchSource::L1);
}

#[test]
fn a_prefetched_line_is_counted_where_it_came_from() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let mut read = |line: u64| {
        let access = Access { address: page(21, 0) + line * 128, physical: 0x100_0000 + line * 128, size: 8, ..Access::default() };
        outcome_of(&rig, &mut follower, &Instruction { length: 0, accesses: &[access], ..Instruction::default() });
    };
    // Of lines 0 to 5 each but the first requests the line two further: 3 to 7.
    (0..6).for_each(&mut read);
    let places = [Signal::DataPrefetchesFromL3, Signal::DataPrefetchesFromOtherCore, Signal::DataPrefetchesFromLocalMemory];
    assert_eq!(places.map(|signal| rig.get(0, signal)), [0, 0, 5]);
    // Lines 3 to 5 were first used after that.
    assert_eq!([Signal::LoadsFromL2Prefetched, Signal::LoadsFromL3Prefetched].map(|signal| rig.get(0, signal)), [3, 0]);
}

#[test]
fn the_last_reader_of_a_clean_line_gives_it() {
    let companion = Builder::new("power9").unwrap().packages(2).threads(16).memory_per_package(256 << 20).build();
    let rig = Rig::new(32);
    let places = [
        Signal::DataWalkLeavesFromRemoteMemory,
        Signal::DataWalkLeavesFromOtherCoreClean,
        Signal::DataWalkLeavesFromOtherPackageClean,
        Signal::DataWalkLeavesFromOtherCoreModified,
    ];
    let read = |number: usize| {
        let mut follower = follow(&companion, number);
        let source = loading(&rig, &mut follower, page(12, 0)).walk_source;
        (source, places.map(|signal| rig.get(number, signal)))
    };
    // The tables belong to the second package. Threads 0 and 8 are of two pairs of cores of the first package, 16 is of the second.
    assert_eq!(read(0), (DataSource::RemoteMemory, [1, 0, 0, 0]));
    assert_eq!(read(8), (DataSource::OtherCore { modified: false }, [0, 1, 0, 0]));
    assert_eq!(read(16), (DataSource::OtherPackage { modified: false }, [0, 0, 1, 0]));
}

#[test]
fn code_of_others_is_counted_by_its_state() {
    let companion = Builder::new("power9").unwrap().packages(2).threads(16).build();
    let rig = Rig::new(32);
    let fetch = |number: usize, line: u64| {
        let mut follower = follow(&companion, number);
        let instruction = Instruction { address: page(16, 0), physical: 0x200_0000 + line, length: 4, ..Instruction::default() };
        outcome_of(&rig, &mut follower, &instruction);
    };
    // Thread 0 reads one line and writes another; a pair of its package gets both, then one of the other package.
    fetch(0, 0);
    let write = Access { address: page(21, 0), physical: 0x200_0080, size: 8, kind: AccessKind::Store, ..Access::default() };
    outcome_of(&rig, &mut follow(&companion, 0), &Instruction { length: 0, accesses: &[write], ..Instruction::default() });
    fetch(8, 0);
    fetch(8, 0x80);
    let chip = [Signal::FetchesFromOtherCoreClean, Signal::FetchesFromOtherCoreModified, Signal::FetchesFromOtherCore];
    assert_eq!(chip.map(|signal| rig.get(8, signal)), [1, 1, 2]);
    outcome_of(&rig, &mut follow(&companion, 8), &Instruction { length: 0, accesses: &[write], ..Instruction::default() });
    fetch(16, 0);
    fetch(16, 0x80);
    let abroad = [Signal::FetchesFromOtherPackageClean, Signal::FetchesFromOtherPackageModified, Signal::FetchesFromOtherPackage];
    assert_eq!(abroad.map(|signal| rig.get(16, signal)), [1, 1, 2]);
}

#[test]
fn streams_of_the_prefetcher_are_begun_continued_and_given_up() {
    let companion = Builder::new("power9").unwrap().build();
    let rig = Rig::new(1);
    let mut follower = follow(&companion, 0);
    let mut read = |line: u64| {
        let access = Access { address: page(21, 0) + line * 128, physical: 0x100_0000 + line * 128, size: 8, ..Access::default() };
        outcome_of(&rig, &mut follower, &Instruction { length: 0, accesses: &[access], ..Instruction::default() });
    };
    let counts = || {
        [Signal::DataPrefetchStreamsBegun, Signal::DataPrefetchStreamHits, Signal::DataPrefetchStreamsUnused]
            .map(|signal| rig.get(0, signal))
    };
    // The second line begins a stream, and four more continue it.
    (0..6).for_each(&mut read);
    assert_eq!(counts(), [1, 4, 0]);
    // Eight streams of two lines: the eighth replaces the first one, which was useful.
    (1..=8).for_each(|stream| [0, 1].into_iter().for_each(|line| read(stream * 100 + line)));
    assert_eq!(counts(), [9, 4, 0]);
    // The ninth replaces one that was never continued.
    [900, 901].into_iter().for_each(&mut read);
    assert_eq!(counts(), [10, 4, 1]);
}
