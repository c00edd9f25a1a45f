//! What each counter counts: a function of all configuration registers (3.3.3, 4.8.2, 4.8.4).

use vm_pmu_arch::event::{AllThreads, CounterSet, Entry, MONTECITO, UnitMask};

use super::registers::Registers;

/// L2D_OZQ_CANCELS0 and L2D_OZQ_CANCELS1, of which one may be measured at any time (M61).
const CANCELS: [u32; 2] = [0xE0, 0xE2];

/// What a counter counts.
pub(super) struct Choice {
    pub(super) event: &'static Entry,
    /// The unit masks that it selects, or the event.
    pub(super) entries: Vec<&'static Entry>,
    pub(super) umask: u32,
    /// It counts for both threads.
    pub(super) all: bool,
}

fn event(registers: &Registers, counter: usize) -> Option<(&'static Entry, &'static [Entry])> {
    MONTECITO.select(registers.select(counter))
}

/// The set of a counter's event.
fn set(registers: &Registers, counter: usize) -> CounterSet {
    event(registers, counter).map_or(CounterSet::None, |(event, _)| event.set)
}

/// The counter whose register selects set, unit mask and .all of second-level data events in another (4.8.4).
const fn master(counter: usize) -> Option<usize> {
    match counter {
        4 | 5 | 8 => Some(4),
        6 | 7 | 9 => Some(6),
        _ => None,
    }
}

/// Whether a counter can count its event, among the others.
fn countable(registers: &Registers, counter: usize) -> Option<(&'static Entry, &'static [Entry])> {
    let (event, masks) = event(registers, counter)?;
    let is_selected = match event.set {
        CounterSet::None => true,
        CounterSet::L1Data(_) => set(registers, 5) == event.set,
        CounterSet::L2Data(_) => master(counter).is_some_and(|master| set(registers, master) == event.set),
    };
    (event.counters >> counter & 1 != 0 && is_selected).then_some((event, masks))
}

/// Whether two counters measure events that exclude each other.
fn conflicts(registers: &Registers) -> bool {
    CANCELS.iter().all(|select| {
        (4..16)
            .any(|counter| registers.measures(counter) && countable(registers, counter).is_some_and(|(event, _)| event.select == *select))
    })
}

/// What a counter counts, if anything.
pub(super) fn choice(registers: &Registers, counter: usize) -> Option<Choice> {
    let (event, masks) = countable(registers, counter)?;
    if CANCELS.contains(&event.select) && conflicts(registers) {
        return None;
    }
    let governing = match event.set {
        CounterSet::L2Data(_) => master(counter)?,
        _ => counter,
    };
    let umask = registers.umask(governing);
    let entries: Vec<&Entry> = match event.shape {
        UnitMask::None => vec![event],
        // Each bit adds its sub-event; a name of several bits is their sum.
        UnitMask::Set => masks.iter().filter(|mask| mask.umask.is_some_and(|own| own.count_ones() == 1 && umask & own == own)).collect(),
        shape => masks.iter().filter(|mask| mask.is_chosen_by(umask, shape)).collect(),
    };
    // PMC10 to PMC15 keep the bit without effect (M19). Some unit masks lack what their event has (4.8.4).
    let all = match entries.first().map_or(event.all_threads, |entry| entry.all_threads) {
        _ if counter >= 10 => false,
        AllThreads::Always => true,
        AllThreads::Never => false,
        AllThreads::Chosen => registers.all(governing),
    };
    Some(Choice { event, entries, umask, all })
}

impl Choice {
    /// The entries that an injection reaches: those of its own row of the table (M27). `None` is not known.
    pub(super) fn reached_by(&self, umask: u32) -> Option<Vec<&'static Entry>> {
        let shape = self.event.shape;
        match shape {
            UnitMask::None => Some(self.entries.clone()),
            UnitMask::Ordinal => Some(self.entries.iter().copied().filter(|entry| entry.is_chosen_by(umask, shape)).collect()),
            // A row of several bits names a sum, and is no row of its own.
            _ if umask.count_ones() > 1 => None,
            _ if shape.admits(self.umask, umask) => Some(self.entries.iter().copied().take(1).collect()),
            _ => Some(Vec::new()),
        }
    }
}
