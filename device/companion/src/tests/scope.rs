//! Sources beyond a pair of cores of POWER9, and the scopes of requests, worked out by hand.
//!
//! Four chips in groups of two, each with 256 MiB of buffered memory, two pairs of cores, and one more whose third level is lent. Chip 0
//! has threads 0 to 15; 8 is the first of the second pair. Chips 1 and 2, the latter in the other group, begin with 16 and 32.
//!
//! A line comes from another pair in 100 cycles, from a buffer in 213, from DRAM in 340, and in 50 more if its page has to be opened; a
//! chip of the group adds 310, one of the other 620.

use vm_pmu_arch::feed::DataSource;

use super::*;
use crate::{Outcome, RestoreError};

/// Bytes of memory per chip.
const MEMORY: u64 = 256 << 20;
/// Distance of lines of one set of the second level, of eight ways, and of the third, of twenty.
const SET: u64 = 512 << 10;

/// One entry for every page, in one location; or pages without tables.
struct OneEntry(Option<u64>);

impl PageTables for OneEntry {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk { entries: [self.0.unwrap_or(0), 0, 0, 0, 0], levels: u8::from(self.0.is_some()), ..Walk::direct(16) }
    }
}

fn builder() -> Builder {
    let builder = Builder::new("power9").unwrap().packages(4).packages_per_group(2).threads(16);
    builder.memory_per_package(MEMORY).buffered().lent_clusters(1)
}

struct Chips {
    companion: Companion,
    rig: Rig,
}

impl Chips {
    fn new() -> Chips {
        Chips { companion: builder().build(), rig: Rig::new(64) }
    }

    fn run(&self, follower: &mut Follower<'_>, table: Option<u64>, instruction: &Instruction<'_>) -> Outcome {
        follower.execute(instruction, &mut OneEntry(table));
        let outcome = *follower.outcome();
        self.rig.deliver(follower);
        outcome
    }

    /// Makes an access on thread `number`.
    fn access(&self, number: usize, kind: AccessKind, physical: u64) -> Outcome {
        let access = Access { kind, ..load(physical) };
        self.run(&mut follow(&self.companion, number), None, &Instruction { length: 0, accesses: &[access], ..Instruction::default() })
    }

    fn load(&self, number: usize, physical: u64) -> Outcome {
        self.access(number, AccessKind::Load, physical)
    }

    /// Reads `lines` other lines of the set on the pair of thread `number`.
    fn crowd(&self, number: usize, physical: u64, lines: u64) {
        (1..=lines).for_each(|line| {
            self.load(number, physical + line * SET);
        });
    }

    fn counts<const N: usize>(&self, number: usize, signals: [Signal; N]) -> [u64; N] {
        signals.map(|signal| self.rig.get(number, signal))
    }

    /// Brings a line of chip 0 to the given source for thread 0. Returns its address and the cycles that a load of it then takes.
    fn place(&self, source: DataSource) -> (u64, u32) {
        let line = 0x40_0000;
        let prepare = |number, modified: bool| {
            self.access(number, if modified { AccessKind::Store } else { AccessKind::Load }, line);
        };
        match source {
            DataSource::OtherL3 { modified } => {
                prepare(8, modified);
                self.crowd(8, line, 8);
                (line, 100)
            }
            DataSource::LentL3 { modified } => {
                prepare(8, modified);
                self.crowd(8, line, 28);
                (line, 100)
            }
            DataSource::OtherCore { modified } => {
                prepare(8, modified);
                (line, 100)
            }
            DataSource::OtherPackage { modified } => {
                prepare(16, modified);
                (line, 410)
            }
            DataSource::DistantPackage { modified } => {
                prepare(32, modified);
                (line, 720)
            }
            DataSource::LocalMemory => (line, 390),
            DataSource::RemoteMemory => (line + MEMORY, 700),
            DataSource::DistantMemory => (line + 2 * MEMORY, 1010),
            _ => {
                let (chip, cycles) = match source {
                    DataSource::LocalL4 => (0, 213),
                    DataSource::RemoteL4 => (1, 523),
                    _ => (2, 833),
                };
                // The buffer keeps lines that it has read.
                self.load(8, line + chip * MEMORY);
                self.access(8, AccessKind::Flush, line + chip * MEMORY);
                (line + chip * MEMORY, cycles)
            }
        }
    }
}

/// The signals of a source for loads, lines of code, entries for code, and last entries for data.
macro_rules! of_place {
    ($loads:ident, $fetches:ident, $code:ident, $data:ident) => {
        [Signal::$loads, Signal::$fetches, Signal::$code, Signal::$data]
    };
}

/// Every source beyond a pair, and its signals.
const PLACES: [(DataSource, [Signal; 4]); 16] = {
    use DataSource::*;
    [
        (
            OtherCore { modified: false },
            of_place!(
                LoadsFromOtherCoreClean,
                FetchesFromOtherCoreClean,
                InstructionWalksFromOtherCoreClean,
                DataWalkLeavesFromOtherCoreClean
            ),
        ),
        (
            OtherCore { modified: true },
            of_place!(
                LoadsFromOtherCoreModified,
                FetchesFromOtherCoreModified,
                InstructionWalksFromOtherCoreModified,
                DataWalkLeavesFromOtherCoreModified
            ),
        ),
        (
            OtherL3 { modified: false },
            of_place!(LoadsFromOtherL3Clean, FetchesFromOtherL3Clean, InstructionWalksFromOtherL3Clean, DataWalkLeavesFromOtherL3Clean),
        ),
        (
            OtherL3 { modified: true },
            of_place!(
                LoadsFromOtherL3Modified,
                FetchesFromOtherL3Modified,
                InstructionWalksFromOtherL3Modified,
                DataWalkLeavesFromOtherL3Modified
            ),
        ),
        (
            LentL3 { modified: false },
            of_place!(LoadsFromLentL3Clean, FetchesFromLentL3Clean, InstructionWalksFromLentL3Clean, DataWalkLeavesFromLentL3Clean),
        ),
        (
            LentL3 { modified: true },
            of_place!(
                LoadsFromLentL3Modified,
                FetchesFromLentL3Modified,
                InstructionWalksFromLentL3Modified,
                DataWalkLeavesFromLentL3Modified
            ),
        ),
        (
            OtherPackage { modified: false },
            of_place!(
                LoadsFromOtherPackageClean,
                FetchesFromOtherPackageClean,
                InstructionWalksFromOtherPackageClean,
                DataWalkLeavesFromOtherPackageClean
            ),
        ),
        (
            OtherPackage { modified: true },
            of_place!(
                LoadsFromOtherPackageModified,
                FetchesFromOtherPackageModified,
                InstructionWalksFromOtherPackageModified,
                DataWalkLeavesFromOtherPackageModified
            ),
        ),
        (
            DistantPackage { modified: false },
            of_place!(
                LoadsFromDistantPackageClean,
                FetchesFromDistantPackageClean,
                InstructionWalksFromDistantPackageClean,
                DataWalkLeavesFromDistantPackageClean
            ),
        ),
        (
            DistantPackage { modified: true },
            of_place!(
                LoadsFromDistantPackageModified,
                FetchesFromDistantPackageModified,
                InstructionWalksFromDistantPackageModified,
                DataWalkLeavesFromDistantPackageModified
            ),
        ),
        (
            LocalMemory,
            of_place!(LoadsFromLocalMemory, FetchesFromLocalMemory, InstructionWalksFromLocalMemory, DataWalkLeavesFromLocalMemory),
        ),
        (
            RemoteMemory,
            of_place!(LoadsFromRemoteMemory, FetchesFromRemoteMemory, InstructionWalksFromRemoteMemory, DataWalkLeavesFromRemoteMemory),
        ),
        (
            DistantMemory,
            of_place!(LoadsFromDistantMemory, FetchesFromDistantMemory, InstructionWalksFromDistantMemory, DataWalkLeavesFromDistantMemory),
        ),
        (LocalL4, of_place!(LoadsFromLocalL4, FetchesFromLocalL4, InstructionWalksFromLocalL4, DataWalkLeavesFromLocalL4)),
        (RemoteL4, of_place!(LoadsFromRemoteL4, FetchesFromRemoteL4, InstructionWalksFromRemoteL4, DataWalkLeavesFromRemoteL4)),
        (DistantL4, of_place!(LoadsFromDistantL4, FetchesFromDistantL4, InstructionWalksFromDistantL4, DataWalkLeavesFromDistantL4)),
    ]
};

/// Returns thread 0's counts of all sources, for one purpose.
fn of_purpose(chips: &Chips, purpose: usize) -> Vec<u64> {
    PLACES.iter().map(|(_, signals)| chips.rig.get(0, signals[purpose])).collect()
}

/// Asserts that for a purpose only the signal of `source` has counted, once.
fn counted_alone(chips: &Chips, purpose: usize, source: DataSource) {
    let expected: Vec<u64> = PLACES.iter().map(|(place, _)| u64::from(*place == source)).collect();
    assert_eq!(of_purpose(chips, purpose), expected, "{source:?}, purpose {purpose}");
}

#[test]
fn a_load_is_told_and_counted_where_its_line_was() {
    for (source, _) in PLACES {
        let chips = Chips::new();
        let (line, cycles) = chips.place(source);
        let outcome = chips.load(0, line);
        assert_eq!((outcome.source, outcome.latency), (source, cycles));
        counted_alone(&chips, 0, source);
    }
}

#[test]
fn a_line_of_code_is_counted_where_it_was() {
    for (source, _) in PLACES {
        let chips = Chips::new();
        let (line, _) = chips.place(source);
        let fetch = Instruction { address: line, physical: line, length: 4, ..Instruction::default() };
        chips.run(&mut follow(&chips.companion, 0), None, &fetch);
        counted_alone(&chips, 1, source);
        let together = [Signal::FetchesFromOtherCore, Signal::FetchesFromOtherPackage];
        let expected = [source.is_of_another_core(), source.is_of_another_packages_cache()].map(u64::from);
        assert_eq!(chips.counts(0, together), expected, "{source:?}");
    }
}

#[test]
fn an_entry_for_code_is_counted_where_it_was() {
    for (source, _) in PLACES {
        let chips = Chips::new();
        let (entry, _) = chips.place(source);
        let fetch = Instruction { address: 0x7000_0000, physical: 0x80, length: 4, ..Instruction::default() };
        chips.run(&mut follow(&chips.companion, 0), Some(entry), &fetch);
        counted_alone(&chips, 2, source);
    }
}

#[test]
fn an_entry_for_data_is_told_and_counted_where_it_was() {
    for (source, _) in PLACES {
        let chips = Chips::new();
        let (entry, _) = chips.place(source);
        let access = Access { address: 0x7000_0000, physical: 0x80, size: 8, ..Access::default() };
        let reads = Instruction { length: 0, accesses: &[access], ..Instruction::default() };
        let outcome = chips.run(&mut follow(&chips.companion, 0), Some(entry), &reads);
        assert_eq!((outcome.walk_source, outcome.walk_code()), (source, source.reload_code()));
        counted_alone(&chips, 3, source);
    }
}

/// Returns the scope and retries of thread 0's loads of lines in the memory of these chips.
fn loads_from(chips: &Chips, homes: &[u64]) -> Vec<(u8, u8)> {
    let line = |(number, home): (u64, &u64)| home * MEMORY + number * 0x1_0000;
    let outcomes = (1..).zip(homes).map(|line_of| chips.load(0, line(line_of)));
    outcomes.map(|outcome| (outcome.scope, outcome.retries)).collect()
}

#[test]
fn a_load_is_asked_as_far_as_the_one_before_it_had_to_be() {
    let chips = Chips::new();
    // First the chip; then each time the scope of the previous load. Chip 1 is of the group, chip 2 is not.
    let went = loads_from(&chips, &[0, 1, 1, 0, 2, 2, 1, 2]);
    assert_eq!(went, [(1, 0), (4, 1), (2, 0), (5, 0), (6, 2), (3, 0), (7, 0), (6, 1)]);
    let scopes = [
        Signal::LoadScopeChipRight,
        Signal::LoadScopeGroupRight,
        Signal::LoadScopeSystemRight,
        Signal::LoadScopeGroupGrown,
        Signal::LoadScopeGroupWide,
        Signal::LoadScopeSystemGrown,
        Signal::LoadScopeSystemWide,
        Signal::LoadScopeWrong,
    ];
    assert_eq!(chips.counts(0, scopes), [1, 1, 1, 1, 1, 2, 1, 5]);
}

#[test]
fn a_second_level_counts_its_guesses_and_each_time_that_it_asks() {
    let chips = Chips::new();
    loads_from(&chips, &[0, 1, 1, 0, 2, 2, 1, 2]);
    // The chip was guessed for loads 1, 2 and 5; the group for 3, 4 and 8; the system for 6 and 7.
    let guesses = [
        Signal::L2GuessChipRight,
        Signal::L2GuessChipWrong,
        Signal::L2GuessGroupRight,
        Signal::L2GuessGroupWrong,
        Signal::L2GuessSystemRight,
        Signal::L2GuessSystemWrong,
    ];
    assert_eq!(chips.counts(0, guesses), [1, 2, 1, 2, 1, 1]);
    // Loads 1, 2, 5; 2, 3, 4, 5, 8; 5, 6, 7, 8.
    assert_eq!(chips.counts(0, [Signal::L2PumpsChip, Signal::L2PumpsGroup, Signal::L2PumpsSystem]), [3, 5, 4]);
    assert_eq!(chips.counts(0, [Signal::L2RetriesLoads, Signal::L2RetriesStores]), [4, 0]);
}

#[test]
fn fetches_and_entries_have_predictions_of_their_own() {
    let chips = Chips::new();
    loads_from(&chips, &[2]);
    let mut thread = follow(&chips.companion, 0);
    // Code and its entry are in chips 1 and 0.
    for number in 0..2 {
        let address = 0x7000_0000 + number * 0x10_0000;
        let fetch = Instruction { address, physical: MEMORY + 0x10_0000 * number, length: 4, ..Instruction::default() };
        chips.run(&mut thread, Some(0x20_0000 + 0x1_0000 * number), &fetch);
    }
    assert_eq!(chips.counts(0, [Signal::FetchScopeGroupGrown, Signal::FetchScopeGroupRight, Signal::FetchScopeWrong]), [1, 1, 1]);
    assert_eq!(chips.counts(0, [Signal::WalkScopeChipRight, Signal::WalkScopeWrong]), [2, 0]);
}

#[test]
fn a_store_reaches_every_copy() {
    let chips = Chips::new();
    let line = 0x40_0000;
    // Chip 2 and then chip 0 read it: the claim has to reach the other group.
    chips.load(32, line);
    chips.load(0, line);
    let outcome = chips.access(0, AccessKind::Store, line);
    assert_eq!((outcome.scope, outcome.retries), (6, 2));
    assert_eq!(chips.counts(0, [Signal::L2RetriesStores]), [2]);
}

#[test]
fn the_prefetcher_has_a_prediction_of_its_own() {
    let chips = Chips::new();
    // Each run of six lines begins with one whose number is a multiple of four. From the second on, each requests the line two further: 3
    // to 7.
    let mut thread = follow(&chips.companion, 0);
    for (run, home) in (1..).zip([1, 0, 2, 1, 2]) {
        let first = home * MEMORY + run * 0x10_0000;
        for line in 0..6 {
            let access = load(first + line * 128);
            chips.run(&mut thread, None, &Instruction { length: 0, accesses: &[access], ..Instruction::default() });
        }
    }
    let guesses = [
        Signal::PrefetchGuessChipRight,
        Signal::PrefetchGuessChipWrong,
        Signal::PrefetchGuessGroupRight,
        Signal::PrefetchGuessGroupWide,
        Signal::PrefetchGuessGroupNarrow,
        Signal::PrefetchGuessSystemRight,
        Signal::PrefetchGuessSystemWrong,
    ];
    // Of the five of each run: chip, wrongly, then the group; the group, too wide, then the chip; the chip, wrongly, then the system; the
    // system, wrongly, then the group; the group, too narrow, then the system.
    assert_eq!(chips.counts(0, guesses), [4, 2, 8, 1, 1, 8, 1]);
    // The first of each run is for line 3, which is odd. It asks chip and group; group; chip, group and system; system; group and system.
    // Lines 4 and 6 are even, 5 and 7 odd, and ask once, in runs 1 and 4 the group, in 2 the chip, in 3 and 5 the system.
    let pumps = [
        Signal::PrefetchPumpsChipEven,
        Signal::PrefetchPumpsChipOdd,
        Signal::PrefetchPumpsGroupEven,
        Signal::PrefetchPumpsGroupOdd,
        Signal::PrefetchPumpsSystemEven,
        Signal::PrefetchPumpsSystemOdd,
    ];
    assert_eq!(chips.counts(0, pumps), [2, 4, 4, 8, 4, 7]);
    // Retries: once for the first run, twice for the third, once for the fifth, each at port 3.
    let retries = [Signal::PrefetchRetriesPort0, Signal::PrefetchRetriesPort1, Signal::PrefetchRetriesPort2, Signal::PrefetchRetriesPort3];
    assert_eq!(chips.counts(0, retries), [0, 0, 0, 4]);
}

const CASTOUTS: [Signal; 6] = [
    Signal::L3CastoutsMemoryEven,
    Signal::L3CastoutsMemoryOdd,
    Signal::L3CastoutsLateralDataEven,
    Signal::L3CastoutsLateralDataOdd,
    Signal::L3CastoutsLateralNoDataEven,
    Signal::L3CastoutsLateralNoDataOdd,
];

#[test]
fn a_third_level_gives_lines_up_to_those_that_are_lent() {
    for (line, odd) in [(0x40_0000, 0), (0x40_0080, 1)] {
        let chips = Chips::new();
        // The set has room for 28 of 29 lines: the second level's eight and the third's twenty.
        chips.load(8, line);
        chips.crowd(8, line, 28);
        let mut expected = [0; 6];
        expected[2 + odd] = 1;
        assert_eq!(chips.counts(8, CASTOUTS), expected);
        // A reader of the line from there evicts it too, but its data are still there.
        assert_eq!(chips.load(0, line).source, DataSource::LentL3 { modified: false });
        chips.crowd(0, line + 0x1000_0000 / 2, 28);
        let mut expected = [0; 6];
        expected[4 + odd] = 1;
        assert_eq!(chips.counts(0, CASTOUTS), expected);
    }
}

#[test]
fn a_snoop_is_counted_by_what_it_finds() {
    let found = |prepare: &dyn Fn(&Chips), kind| {
        let chips = Chips { companion: Builder::new("power9").unwrap().threads(16).build(), rig: Rig::new(16) };
        let mut followed = follow(&chips.companion, 8);
        prepare(&chips);
        let before = crate::caches::reported_events::FINDINGS.map(|signal| chips.rig.get(8, signal));
        chips.access(0, kind, 0x40_0000);
        // Requests to the second pair count with its next access.
        let access = load(0x80_0000);
        chips.run(&mut followed, None, &Instruction { length: 0, accesses: &[access], ..Instruction::default() });
        let after = crate::caches::reported_events::FINDINGS.map(|signal| chips.rig.get(8, signal));
        [0, 1, 2, 3, 4, 5].map(|number| after[number] - before[number])
    };
    let second = |kind| {
        move |chips: &Chips| {
            chips.access(8, kind, 0x40_0000);
        }
    };
    let third = |kind| {
        move |chips: &Chips| {
            chips.access(8, kind, 0x40_0000);
            chips.crowd(8, 0x40_0000, 8);
        }
    };
    let (read, write) = (AccessKind::Load, AccessKind::Store);
    // Modified in the second level, read and written; shared there and written, with the forwarder's copy elsewhere.
    assert_eq!(found(&second(write), read), [1, 0, 0, 0, 1, 0]);
    assert_eq!(found(&second(write), write), [0, 1, 0, 0, 1, 0]);
    let shared = |chips: &Chips| {
        chips.load(8, 0x40_0000);
        chips.load(0, 0x40_0000);
        chips.load(8, 0x80_0000);
    };
    assert_eq!(found(&shared, write), [0, 0, 1, 0, 1, 0]);
    // Only in the third; exclusive, read; shared, written. And nowhere.
    assert_eq!(found(&third(read), read), [0, 0, 0, 1, 0, 0]);
    let shared = |chips: &Chips| {
        third(read)(chips);
        chips.load(0, 0x40_0000);
        chips.load(8, 0x80_0000);
    };
    assert_eq!(found(&shared, write), [0, 0, 0, 1, 0, 1]);
    assert_eq!(found(&|_: &Chips| {}, read), [0, 0, 0, 0, 1, 0]);
}

#[test]
fn without_lent_levels_lines_go_to_memory() {
    let chips = Chips { companion: Builder::new("power9").unwrap().threads(16).build(), rig: Rig::new(16) };
    for line in [0x40_0000, 0x40_0080] {
        chips.access(0, AccessKind::Store, line);
        chips.crowd(0, line, 29);
    }
    // Of 30 lines of each set two are evicted, one of which is modified.
    assert_eq!(chips.counts(0, CASTOUTS), [2, 2, 0, 0, 0, 0]);
    assert_eq!(chips.counts(0, [Signal::MemoryWrites]), [2]);
}

#[test]
fn a_buffer_writes_what_it_gives_up_newer() {
    let chips = Chips::new();
    // 128 MiB of buffers: lines this far apart share a place. The line is written to its buffer, read from there, and evicted for another.
    let (line, other) = (0x40_0000, 0x40_0000 + (128 << 20));
    chips.access(0, AccessKind::Store, line);
    chips.access(0, AccessKind::Flush, line);
    assert_eq!(chips.load(0, line).source, DataSource::LocalL4);
    assert_eq!(chips.counts(0, [Signal::MemoryReads, Signal::MemoryWrites]), [1, 0]);
    assert_eq!(chips.load(0, other).source, DataSource::LocalMemory);
    assert_eq!(chips.counts(0, [Signal::MemoryReads, Signal::MemoryWrites]), [2, 1]);
}

#[test]
fn places_and_predictions_are_saved_and_another_machine_is_refused() {
    let chips = Chips::new();
    loads_from(&chips, &[0, 2]);
    chips.place(DataSource::LentL3 { modified: true });
    let followers: Vec<_> = (0..64).map(|number| chips.companion.follower(number).unwrap()).collect();
    let saved = chips.companion.save(&followers.iter().collect::<Vec<_>>()).unwrap();

    let restore = |builder: Builder| {
        let other = Chips { companion: builder.build(), rig: Rig::new(64) };
        let mut followers: Vec<_> = (0..64).map(|number| other.companion.follower(number).unwrap()).collect();
        let result = other.companion.restore(&saved, &mut followers.iter_mut().collect::<Vec<_>>());
        drop(followers);
        result.map(|()| other)
    };
    let other = restore(builder()).unwrap();
    // The last load went to the other group.
    assert_eq!(other.load(0, 0x50_0000).scope, 7);
    assert_eq!(other.load(0, 0x40_0000).source, DataSource::LentL3 { modified: true });
    for builder in [builder().packages_per_group(1), builder().lent_clusters(2)] {
        assert_eq!(restore(builder).err(), Some(RestoreError::Shape));
    }
}

#[test]
fn a_part_of_one_group_without_buffers_has_none_of_these_places() {
    let chips =
        Chips { companion: Builder::new("power9").unwrap().packages(4).threads(16).memory_per_package(MEMORY).build(), rig: Rig::new(64) };
    assert_eq!(chips.load(0, 2 * MEMORY).source, DataSource::RemoteMemory);
    chips.access(0, AccessKind::Flush, 2 * MEMORY);
    assert_eq!(chips.load(0, 2 * MEMORY).source, DataSource::RemoteMemory);
}

// Chip 2 is alone in its group. Its request goes to chip 0, which has the same place in the other group and passes it to chip 1.
#[test]
fn a_request_goes_to_every_group_though_the_last_has_fewer_chips() {
    let chips = Chips { companion: builder().packages(3).build(), rig: Rig::new(48) };
    chips.companion.watch_places(true);
    assert_eq!(chips.load(32, 0).source, DataSource::DistantMemory);
    let mut links = [(0, 0); 3];
    chips.companion.take_interconnects(|chip, did| {
        let [link, ..] = &did.links;
        links[chip] = (link.sent.iter().map(|sent| sent.commands).sum(), link.received.iter().map(|received| received.commands).sum());
    });
    assert_eq!(links, [(1, 0), (0, 1), (0, 0)]);
}
