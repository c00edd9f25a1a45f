//! The totals of the nest: one growing number per event.

use core::sync::atomic::Ordering::Relaxed;

use super::place::{Bank, CELLS, DEFAULT_BANKS, FLEXIBLE, FLEXIBLE_BANKS};
use super::unit::ClockDomain;
use crate::atomic::AtomicU64;
use crate::event;
use crate::numbered::numbered;

/// How many totals there are: one per cell of both modes.
pub const TOTALS: usize = 2 * CELLS;

/// What the counter of a cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// There is no counter.
    Nothing,
    /// A clock.
    Clock(ClockDomain),
    /// The event of that cell.
    Event(u16),
}

const fn entered(mut sources: [Source; TOTALS], banks: &[Bank]) -> [Source; TOTALS] {
    let mut rest = banks;
    while let [bank, more @ ..] = rest {
        let mut counter = 0;
        while counter < bank.counters() {
            let cell = index_of(bank.offset_of(counter));
            if bank.is_used(counter) {
                sources[cell as usize] = match bank.clock(counter) {
                    Some(domain) => Source::Clock(domain),
                    None if bank.is_of_both(counter) => Source::Event(cell - CELLS as u16),
                    None => Source::Event(cell),
                };
            }
            counter += 1;
        }
        rest = more;
    }
    sources
}

static SOURCES: [Source; TOTALS] = entered(entered([Source::Nothing; TOTALS], &DEFAULT_BANKS), &FLEXIBLE_BANKS);

/// The place of the cell at `offset` among those of both modes.
pub(super) const fn index_of(offset: u32) -> u16 {
    if offset < FLEXIBLE { (offset / 8) as u16 } else { CELLS as u16 + ((offset - FLEXIBLE) / 8) as u16 }
}

/// What the counter posted at `index` counts.
pub(super) fn source(index: u16) -> Source {
    SOURCES.get(usize::from(index)).copied().unwrap_or(Source::Nothing)
}

/// An event that the embedder reports, named by where its counter is posted.
///
/// ```
/// use vm_pmu_arch::power9::nest::Event;
///
/// let event = Event::named("PM_PHB2_DMA_RD_FROM_PCIE").unwrap();
/// assert_eq!(event.offset(), 0x380);
/// assert_eq!(Event::at(0x380), Some(event));
/// // Clocks are counted by themselves.
/// assert_eq!(Event::at(0x80), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "u32", into = "u32"))]
pub struct Event(u16);

numbered!(Event, u32, "event of the nest", Event::at, Event::offset, Event::all());

impl Event {
    /// The event whose counter is posted `offset` bytes from the start of the region; `None` if none is, or if it counts a clock.
    ///
    /// What is counted in both modes is one event, with the offset of the default mode.
    #[must_use]
    pub fn at(offset: u32) -> Option<Event> {
        let cells = match offset.checked_sub(FLEXIBLE) {
            Some(flexible) => flexible,
            None => offset,
        };
        if !offset.is_multiple_of(8) || cells >= 8 * CELLS as u32 {
            return None;
        }
        match source(index_of(offset)) {
            Source::Event(index) => Some(Event(index)),
            Source::Clock(_) | Source::Nothing => None,
        }
    }

    /// The event of this name in the catalogue's unit `nest`, whatever the case; `None` for what is not there, for clocks and for counts of
    /// updates. A name that both modes have is the default mode's.
    #[must_use]
    pub fn named(name: &str) -> Option<Event> {
        let is_it = |entry: &&event::Entry| entry.unit == "nest" && entry.is_called(name);
        event::POWER9.entries.iter().find(is_it).and_then(|entry| entry.offset).and_then(Event::at)
    }

    /// The offset at which it is posted, in bytes from the start of the region.
    #[must_use]
    pub const fn offset(self) -> u32 {
        match (self.0 as usize).checked_sub(CELLS) {
            Some(flexible) => FLEXIBLE + 8 * flexible as u32,
            None => 8 * self.0 as u32,
        }
    }

    /// Every event.
    pub fn all() -> impl Iterator<Item = Event> {
        (0..TOTALS as u16).filter(|index| source(*index) == Source::Event(*index)).map(Event)
    }
}

/// The totals of a chip, one growing number per [`Event`].
///
/// Any host thread may add at any time: devices, links and the companion each add to their own events. The counters are read when they
/// are posted.
#[derive(Debug)]
pub struct Totals {
    cells: [AtomicU64; TOTALS],
}

impl Totals {
    /// Totals that are all zero.
    #[must_use]
    pub const fn new() -> Totals {
        Totals { cells: [const { AtomicU64::new(0) }; TOTALS] }
    }

    /// Adds `amount` occurrences of an event.
    #[inline]
    pub fn add(&self, event: Event, amount: u64) {
        if let Some(cell) = self.cells.get(usize::from(event.0)) {
            cell.fetch_add(amount, Relaxed);
        }
    }

    /// How often an event has occurred.
    #[must_use]
    pub fn get(&self, event: Event) -> u64 {
        self.at(event.0)
    }

    pub(super) fn at(&self, index: u16) -> u64 {
        self.cells.get(usize::from(index)).map_or(0, |cell| cell.load(Relaxed))
    }

    /// All of them, to be saved.
    #[must_use]
    pub fn snapshot(&self) -> [u64; TOTALS] {
        core::array::from_fn(|index| self.at(index as u16))
    }

    /// Sets all of them to what was saved.
    pub fn restore(&self, saved: &[u64; TOTALS]) {
        for (cell, total) in self.cells.iter().zip(saved) {
            cell.store(*total, Relaxed);
        }
    }
}

impl Default for Totals {
    fn default() -> Self {
        Totals::new()
    }
}
