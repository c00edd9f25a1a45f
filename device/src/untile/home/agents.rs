//! When everything at every agent is free next, in clocks of the untile.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use vm_pmu_arch::knl::untile::Kind;

use super::filter::Filter;

/// Entries of the table of requests: Max Inc of TOR_OCCUPANCY.
pub(super) const ENTRIES: usize = 28;
/// The most credits of a class, and the places of a queue to the mesh; chosen.
pub(super) const CREDITS: usize = 4;
/// Credits for data, of which a line is two transfers, and for answers; chosen.
const FEW: usize = 2;
/// Evictions of the snoop filter that are under way at once; chosen.
const EVICTIONS: usize = 2;
/// Queues: IRQ, IPQ, ISMQ, PRQ, and snoops' answers in the ISMQ.
const QUEUES: usize = 5;

/// What a message of an agent needs: a credit of its class, or a place in the queue to the ring. In the order of the bits of the tables of
/// rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Credit {
    /// A request by AD.
    AdRequest,
    /// An answer by AD.
    AdResponse,
    /// An answer with data.
    BlResponse,
    /// A line that is written back.
    BlWriteBack,
    /// A non-coherent request with data.
    BlBypass,
    /// A non-coherent request without data.
    BlStandard,
    /// A place in the queue to the AK ring.
    Ak,
    /// A place in the queue to the IV ring.
    Iv,
}

impl Credit {
    /// Every one.
    pub(super) const ALL: [Credit; 8] = [
        Credit::AdRequest,
        Credit::AdResponse,
        Credit::BlResponse,
        Credit::BlWriteBack,
        Credit::BlBypass,
        Credit::BlStandard,
        Credit::Ak,
        Credit::Iv,
    ];

    /// How many there are.
    const fn count(self) -> usize {
        if matches!(self, Credit::AdRequest | Credit::Ak | Credit::Iv) { CREDITS } else { FEW }
    }

    pub(super) const fn index(self) -> usize {
        match self {
            Credit::AdRequest => 0,
            Credit::AdResponse => 1,
            Credit::BlResponse => 2,
            Credit::BlWriteBack => 3,
            Credit::BlBypass => 4,
            Credit::BlStandard => 5,
            Credit::Ak => 6,
            Credit::Iv => 7,
        }
    }
}

/// Something of an agent that is free at some time.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// The last entry of a queue has passed.
    Passed(usize),
    /// Up to when the cycles of starvation in a queue have been counted.
    Starved(usize),
    /// Credits of a class.
    Credits(Credit),
    /// Evictions under way.
    Evictions,
    /// Entries of the table.
    Table,
}

const PASSED: usize = 0;
const STARVED: usize = PASSED + QUEUES;
const CREDIT: usize = STARVED + QUEUES;
const EVICTION: usize = CREDIT + Credit::ALL.len() * CREDITS;
const TABLE: usize = EVICTION + EVICTIONS;
const WORDS: usize = TABLE + ENTRIES;
const AGENTS: usize = Kind::Cha.count() as usize;
/// Places of what is saved: times, then the lines in the tables, then the snoop filters.
const LINES: usize = AGENTS * WORDS;
const FILTERS: usize = LINES + AGENTS * ENTRIES;

impl At {
    const fn place(self) -> (usize, usize) {
        match self {
            At::Passed(queue) => (PASSED + queue, 1),
            At::Starved(queue) => (STARVED + queue, 1),
            At::Credits(credit) => (CREDIT + credit.index() * CREDITS, credit.count()),
            At::Evictions => (EVICTION, EVICTIONS),
            At::Table => (TABLE, ENTRIES),
        }
    }
}

/// The agents.
#[derive(Clone, Debug)]
pub(in super::super) struct Homes {
    times: Box<[u64]>,
    /// The line of each entry of the tables.
    lines: Box<[u64]>,
    pub(in super::super) filter: Filter,
}

impl Homes {
    pub(in super::super) fn new() -> Homes {
        Homes {
            times: vec![0; AGENTS * WORDS].into_boxed_slice(),
            lines: vec![0; AGENTS * ENTRIES].into_boxed_slice(),
            filter: Filter::new(AGENTS),
        }
    }

    pub(in super::super) fn footprint(&self) -> usize {
        size_of_val(&*self.times) + size_of_val(&*self.lines) + self.filter.footprint()
    }

    pub(super) fn words(&mut self, home: u8, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        let first = usize::from(home) * WORDS + first;
        self.times.get_mut(first..first + count).unwrap_or_default()
    }

    /// When it, or the first of several, is free.
    pub(super) fn free(&mut self, home: u8, at: At) -> u64 {
        self.words(home, at).iter().copied().min().unwrap_or(0)
    }

    /// Takes the one that is free first until `until`.
    pub(super) fn take(&mut self, home: u8, at: At, until: u64) {
        self.words(home, at).iter_mut().min().into_iter().for_each(|time| *time = until);
    }

    /// A message of the agent had its credit until `until`.
    pub(in super::super) fn hold(&mut self, home: u8, credit: Credit, until: u64) {
        self.take(home, At::Credits(credit), until);
    }

    /// A victim of the snoop filter is being evicted until `until`.
    pub(in super::super) fn evicts(&mut self, home: u8, until: u64) {
        self.take(home, At::Evictions, until);
    }

    /// An entry of the table has `line` until `until`.
    pub(in super::super) fn stay(&mut self, home: u8, line: u64, until: u64) {
        let table = self.words(home, At::Table);
        let Some(entry) = table.iter().enumerate().min_by_key(|(_, time)| **time).map(|(entry, _)| entry) else { return };
        table.get_mut(entry).into_iter().for_each(|time| *time = until);
        let entry = usize::from(home) * ENTRIES + entry;
        self.lines.get_mut(entry).into_iter().for_each(|place| *place = line);
    }

    /// Entries of the table that are there after `time`: when each leaves, and its line.
    pub(super) fn entries(&self, home: u8, time: u64) -> impl Iterator<Item = (u64, u64)> {
        let (first, of_lines) = (usize::from(home) * WORDS + TABLE, usize::from(home) * ENTRIES);
        let times = self.times.get(first..first + ENTRIES).unwrap_or_default();
        let lines = self.lines.get(of_lines..of_lines + ENTRIES).unwrap_or_default();
        times.iter().copied().zip(lines.iter().copied()).filter(move |(leaves, _)| *leaves > time)
    }

    /// What is not free yet at `now`: where, and how long; and what the tables and snoop filters have.
    pub(in super::super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        let busy = self.times.iter().enumerate().filter(|(_, time)| **time > now).map(|(place, time)| (place, time - now));
        let lines = self.lines.iter().enumerate().filter(|(_, line)| **line != 0).map(|(place, line)| (LINES + place, *line));
        let held = self.filter.save().map(|(place, entry)| (FILTERS + place, entry));
        busy.chain(lines).chain(held).filter_map(|(place, value)| Some((u32::try_from(place).ok()?, value))).collect()
    }

    pub(in super::super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.times.fill(0);
        self.lines.fill(0);
        self.filter.clear();
        for (place, value) in saved {
            let place = *place as usize;
            if let Some(time) = self.times.get_mut(place) {
                *time = now.saturating_add(*value);
            } else if let Some(line) = place.checked_sub(LINES).and_then(|place| self.lines.get_mut(place)) {
                *line = *value;
            } else if let Some(place) = place.checked_sub(FILTERS) {
                self.filter.load(place, *value);
            }
        }
    }
}
