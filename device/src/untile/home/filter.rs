//! The snoop filter: which tile has which line, as the agent has learned from requests.
//!
//! Its size is not public. Chosen: 2,048 lines of each agent, in 128 sets of 16 ways that replace the line used longest ago, so that a machine
//! is built and saved fast: all agents together have an eighth of what the second levels of all tiles can hold. A tag of 24 bits tells the
//! lines of 128 GiB apart.

use alloc::boxed::Box;
use alloc::vec;

use vm_pmu_arch::feed::RequestKind;
use vm_pmu_arch::knl::untile::FilterState;

const SETS: usize = 128;
pub(super) const WAYS: usize = 16;
const TAG: u32 = 8;
const TILE: u32 = 2;

/// What the filter has of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Holds {
    /// Its number: the address without the bits of the line.
    pub(in super::super) line: u64,
    /// The tile that asked for it last.
    pub(in super::super) tile: u8,
    /// As what.
    pub(in super::super) state: FilterState,
}

/// What a request does to a line of the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Seeks {
    /// A tile reads it.
    Read,
    /// A tile takes it, to write.
    Own,
    /// A tile gives it up.
    GiveUp,
    /// It is written to memory past the caches.
    Stream,
    /// Memory asks for its data; who has it keeps it unmodified.
    Clean,
}

impl Seeks {
    /// What a tile's request does.
    pub(in super::super) const fn of(kind: RequestKind) -> Option<Seeks> {
        match kind {
            RequestKind::DataRead
            | RequestKind::DataReadPrefetch
            | RequestKind::SoftwarePrefetch
            | RequestKind::Code
            | RequestKind::CodePrefetch
            | RequestKind::CodeReadPrefetch => Some(Seeks::Read),
            RequestKind::Ownership | RequestKind::OwnershipPrefetch => Some(Seeks::Own),
            RequestKind::WriteBack => Some(Seeks::GiveUp),
            RequestKind::FullStreamingStore | RequestKind::PartialStreamingStore => Some(Seeks::Stream),
            RequestKind::PartialRead | RequestKind::PartialWrite | RequestKind::UncacheableCode | RequestKind::BusLock => None,
        }
    }

    /// Whether the line is in the filter afterwards.
    pub(in super::super) const fn allocates(self) -> bool {
        matches!(self, Seeks::Read | Seeks::Own)
    }
}

/// The snoop filters of all agents. A word for each line, from the one used last to the one used longest ago in each set: tag, tile and
/// state; 0 is none.
#[derive(Clone, Debug)]
pub(in super::super) struct Filter {
    words: Box<[u32]>,
    /// A line may be in it. Without one there is nothing to look for when it is saved or cleared.
    used: bool,
}

/// The set of a line: lines are spread over agents by a hash, so the lowest bits serve.
pub(super) const fn set(line: u64) -> usize {
    line as usize % SETS
}

const fn state(word: u32) -> FilterState {
    match word & 3 {
        0 => FilterState::Invalid,
        1 => FilterState::Shared,
        2 => FilterState::Exclusive,
        _ => FilterState::Modified,
    }
}

fn word(line: u64, tile: u8, state: FilterState) -> u32 {
    let code = match state {
        FilterState::Invalid => return 0,
        FilterState::Shared => 1,
        FilterState::Exclusive => 2,
        FilterState::Modified => 3,
    };
    tag(line) << TAG | u32::from(tile & 63) << TILE | code
}

fn tag(line: u64) -> u32 {
    (line / SETS as u64) as u32 & (u32::MAX >> TAG)
}

fn holds(word: u32, set: usize) -> Option<Holds> {
    let line = u64::from(word >> TAG) * SETS as u64 + set as u64;
    (word != 0).then(|| Holds { line, tile: (word >> TILE) as u8 & 63, state: state(word) })
}

/// Which of the ways of a set has a line of this tag.
#[inline]
fn way_of(ways: &[u32], tag: u32) -> Option<usize> {
    let is_of = |word: u32| word != 0 && word >> TAG == tag;
    // A host compares all of them at once, which mostly is all there is to do.
    let is_there = ways.iter().fold(false, |found, word| found | is_of(*word));
    if is_there { ways.iter().position(|word| is_of(*word)) } else { None }
}

impl Filter {
    pub(super) fn new(agents: usize) -> Filter {
        Filter { words: vec![0; agents * SETS * WAYS].into_boxed_slice(), used: false }
    }

    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.words)
    }

    fn ways(&mut self, home: u8, line: u64) -> &mut [u32] {
        let first = (usize::from(home) * SETS + set(line)) * WAYS;
        self.words.get_mut(first..first + WAYS).unwrap_or_default()
    }

    /// What the filter of agent `home` has of `line`.
    pub(in super::super) fn look_up(&self, home: u8, line: u64) -> Option<Holds> {
        let first = (usize::from(home) * SETS + set(line)) * WAYS;
        let ways = self.words.get(first..first + WAYS).unwrap_or_default();
        way_of(ways, tag(line)).and_then(|way| ways.get(way)).and_then(|word| holds(*word, set(line)))
    }

    /// Whether a set is full.
    pub(super) fn is_full(&self, home: u8, line: u64) -> bool {
        let first = (usize::from(home) * SETS + set(line)) * WAYS;
        self.words.get(first..first + WAYS).is_some_and(|ways| ways.iter().all(|word| *word != 0))
    }

    /// A request of `tile` for `line`. Returns what had to make room.
    pub(in super::super) fn change(&mut self, home: u8, line: u64, tile: u8, seeks: Seeks) -> Option<Holds> {
        let (set, tag) = (set(line), tag(line));
        self.used = true;
        let ways = self.ways(home, line);
        let found = way_of(ways, tag);
        let before = found.and_then(|way| ways.get(way)).and_then(|word| holds(*word, set));
        let after = match (seeks, before) {
            (Seeks::Read, None) => word(line, tile, FilterState::Exclusive),
            (Seeks::Read, Some(before)) if before.tile == tile => word(line, tile, before.state),
            (Seeks::Read, Some(_)) => word(line, tile, FilterState::Shared),
            (Seeks::Own, _) => word(line, tile, FilterState::Modified),
            // Another tile's copy stays.
            (Seeks::GiveUp, Some(before)) if before.tile != tile => word(line, before.tile, before.state),
            (Seeks::Clean, Some(before)) => word(line, before.tile, FilterState::Shared),
            (Seeks::GiveUp | Seeks::Stream | Seeks::Clean, _) => 0,
        };
        let last = ways.len().saturating_sub(1);
        let victim = match found {
            Some(_) => None,
            None if seeks.allocates() => ways.get(last).and_then(|word| holds(*word, set)),
            None => return None,
        };
        // What was used comes first; an empty place goes to the end.
        let way = found.unwrap_or(last);
        if after == 0 {
            ways.get_mut(way..).unwrap_or_default().rotate_left(1);
            ways.last_mut().into_iter().for_each(|word| *word = 0);
        } else {
            ways.get_mut(..=way).unwrap_or_default().copy_within(..way, 1);
            ways.first_mut().into_iter().for_each(|word| *word = after);
        }
        victim
    }

    pub(super) fn save(&self) -> impl Iterator<Item = (usize, u64)> {
        let words = if self.used { &*self.words } else { &[] };
        words.iter().enumerate().filter(|(_, word)| **word != 0).map(|(place, word)| (place, u64::from(*word)))
    }

    pub(super) fn clear(&mut self) {
        if self.used {
            self.words.fill(0);
            self.used = false;
        }
    }

    pub(super) fn load(&mut self, place: usize, value: u64) {
        self.used = true;
        if let (Some(word), Ok(value)) = (self.words.get_mut(place), u32::try_from(value)) {
            *word = value;
        }
    }
}
