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
    /// Of each agent.
    times: Box<[[u64; WORDS]]>,
    /// The line of each entry of the tables, which are in the order in which they leave.
    lines: Box<[u64]>,
    pub(in super::super) filter: Filter,
}

impl Homes {
    pub(in super::super) fn new() -> Homes {
        Homes {
            times: vec![[0; WORDS]; AGENTS].into_boxed_slice(),
            lines: vec![0; AGENTS * ENTRIES].into_boxed_slice(),
            filter: Filter::new(AGENTS),
        }
    }

    pub(in super::super) fn footprint(&self) -> usize {
        size_of_val(&*self.times) + size_of_val(&*self.lines) + self.filter.footprint()
    }

    pub(super) fn words(&mut self, home: u8, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        self.times.get_mut(usize::from(home)).and_then(|times| times.get_mut(first..first + count)).unwrap_or_default()
    }

    /// The times of something, in their order.
    #[inline]
    pub(super) fn times(&self, home: u8, at: At) -> &[u64] {
        let (first, count) = at.place();
        self.times.get(usize::from(home)).and_then(|times| times.get(first..first + count)).unwrap_or_default()
    }

    /// Whether it, or one of several, is free at `time`.
    #[inline]
    pub(super) fn is_free(&self, home: u8, at: At, time: u64) -> bool {
        self.times(home, at).iter().any(|free| *free <= time)
    }

    /// Whether no entry of the table is there after `time`.
    #[inline]
    pub(super) fn is_empty(&self, home: u8, time: u64) -> bool {
        self.times(home, At::Table).last().is_none_or(|leaves| *leaves <= time)
    }

    /// When it, or the first of several, is free.
    pub(super) fn free(&self, home: u8, at: At) -> u64 {
        let times = self.times(home, at);
        match at {
            At::Table => times.first().copied().unwrap_or(0),
            _ => times.iter().copied().min().unwrap_or(0),
        }
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
        let of_lines = usize::from(home) * ENTRIES;
        let table = self.words(home, At::Table);
        // The first to leave makes room for it. It goes behind those that leave before it, mostly to the end.
        let behind = table.iter().skip(1).rev().take_while(|time| **time > until).count();
        let end = table.len().saturating_sub(behind);
        put(table, end, until);
        put(self.lines.get_mut(of_lines..of_lines + ENTRIES).unwrap_or_default(), end, line);
    }

    /// Entries of the table, those that have left among them.
    fn table(&self, home: u8) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let of_lines = usize::from(home) * ENTRIES;
        let times = self.times(home, At::Table);
        let lines = self.lines.get(of_lines..of_lines + ENTRIES).unwrap_or_default();
        times.iter().copied().zip(lines.iter().copied())
    }

    /// Entries of the table that are there after `time`, the last to leave first: when each leaves, and its line.
    pub(super) fn entries(&self, home: u8, time: u64) -> impl Iterator<Item = (u64, u64)> {
        self.table(home).rev().take_while(move |(leaves, _)| *leaves > time)
    }

    /// Brings the entries of the tables into their order.
    fn sort(&mut self) {
        for home in 0..Kind::Cha.count() {
            let of_lines = usize::from(home) * ENTRIES;
            let mut entries = [(0, 0); ENTRIES];
            entries.iter_mut().zip(self.table(home)).for_each(|(place, entry)| *place = entry);
            entries.sort_by_key(|(leaves, _)| *leaves);
            self.words(home, At::Table).iter_mut().zip(entries).for_each(|(time, (leaves, _))| *time = leaves);
            let lines = self.lines.get_mut(of_lines..of_lines + ENTRIES).unwrap_or_default();
            lines.iter_mut().zip(entries).for_each(|(place, (_, line))| *place = line);
        }
    }

    /// What is not free yet at `now`: where, and how long; and what the tables and snoop filters have.
    pub(in super::super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        let busy = self.times.iter().flatten().enumerate().filter(|(_, time)| **time > now).map(|(place, time)| (place, time - now));
        let lines = self.lines.iter().enumerate().filter(|(_, line)| **line != 0).map(|(place, line)| (LINES + place, *line));
        let held = self.filter.save().map(|(place, entry)| (FILTERS + place, entry));
        busy.chain(lines).chain(held).filter_map(|(place, value)| Some((u32::try_from(place).ok()?, value))).collect()
    }

    pub(in super::super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.times.fill([0; WORDS]);
        self.lines.fill(0);
        self.filter.clear();
        for (place, value) in saved {
            let place = *place as usize;
            if let Some(time) = self.times.get_mut(place / WORDS).and_then(|times| times.get_mut(place % WORDS)) {
                *time = now.saturating_add(*value);
            } else if let Some(line) = place.checked_sub(LINES).and_then(|place| self.lines.get_mut(place)) {
                *line = *value;
            } else if let Some(place) = place.checked_sub(FILTERS) {
                self.filter.load(place, *value);
            }
        }
        self.sort();
    }
}

/// Takes the first word away and puts another before place `end`.
fn put(words: &mut [u64], end: usize, word: u64) {
    if let Some(before) = words.get_mut(..end) {
        if end > 1 {
            before.copy_within(1.., 0);
        }
        before.last_mut().into_iter().for_each(|place| *place = word);
    }
}
