//! What was counted over a whole run, whatever the guest did to its registers in between.

use serde::{Deserialize, Serialize};
use vm_pmu::State;
use vm_pmu::arch::event::{Drive, Entry};
use vm_pmu::arch::feed::{Signal, Unit};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;
use vm_pmu::{Address, Part};

use crate::report::Count;

/// The most selections of a thread that are kept apart.
const MAX_ROWS: usize = 4096;
/// The number of the first counter.
const FIRST: u32 = 4;
/// The most counters of a thread.
const COUNTERS: usize = 12;

/// What a counter counts: event select and unit mask.
type Code = (u8, u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    counter: u32,
    code: Code,
    count: u64,
}

/// The counts of one thread, by counter and by what it selected.
///
/// It reads the counters before each write of a register, so reloads and reprogramming lose nothing. If a guest selects more than 4096, the
/// rest is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    thread: usize,
    rows: Vec<Row>,
    held: [u64; COUNTERS],
    codes: [Code; COUNTERS],
}

/// The counts and codes of a thread, and the values that a counter can hold.
struct Seen {
    counts: [u64; COUNTERS],
    codes: [Code; COUNTERS],
    range: u64,
}

impl Seen {
    fn of<L: InterruptLine>(thread: &Thread<'_, L>) -> Option<Seen> {
        match thread.state() {
            State::Montecito(state) => {
                let codes = state.configuration.counters.map(|pmc| (pmc.es(), pmc.umask()));
                Some(Seen { counts: state.counts, codes, range: 1 << 47 })
            }
            State::Itanium(state) => {
                let mut seen = Seen { counts: [0; COUNTERS], codes: [(0, 0); COUNTERS], range: 1 << 32 };
                for (count, held) in seen.counts.iter_mut().zip(state.counts) {
                    *count = held;
                }
                for (code, pmc) in seen.codes.iter_mut().zip(state.configuration.counters) {
                    *code = (pmc.es(), pmc.umask());
                }
                Some(seen)
            }
            _ => None,
        }
    }
}

impl Ledger {
    /// The empty ledger of thread `thread`.
    #[must_use]
    pub fn new(thread: usize) -> Ledger {
        Ledger { thread, rows: Vec::new(), held: [0; COUNTERS], codes: [(0, 0); COUNTERS] }
    }

    /// The number of the thread.
    #[must_use]
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// Books what the counters have grown by since the last call.
    pub(super) fn settle<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        let Some(seen) = Seen::of(thread) else { return };
        for (index, count) in seen.counts.into_iter().enumerate() {
            let grown = count.wrapping_sub(self.held[index]) & (seen.range - 1);
            self.held[index] = count;
            self.book(index, grown);
        }
    }

    fn book(&mut self, index: usize, grown: u64) {
        let (counter, code) = (index as u32 + FIRST, self.codes[index]);
        if grown == 0 {
            return;
        }
        if let Some(row) = self.rows.iter_mut().find(|row| (row.counter, row.code) == (counter, code)) {
            row.count += grown;
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push(Row { counter, code, count: grown });
        }
    }

    /// A register has been written: a value that was written to a counter is no count, and the selection may be new.
    pub(super) fn written<L: InterruptLine>(&mut self, address: Address, thread: &Thread<'_, L>) {
        if let (Address::Pmc(_) | Address::Pmd(_), Some(seen)) = (address, Seen::of(thread)) {
            (self.held, self.codes) = (seen.counts, seen.codes);
        }
    }

    /// The counts, in the order in which they first grew. Signals that the engine does not `know` are marked.
    #[must_use]
    pub fn counts(&self, part: Part, knows: &dyn Fn(Signal) -> bool) -> Vec<Count> {
        self.rows.iter().map(|row| describe(self.thread, row, part, knows)).collect()
    }
}

fn describe(thread: usize, row: &Row, part: Part, knows: &dyn Fn(Signal) -> bool) -> Count {
    let (select, umask) = row.code;
    let found = part.catalogue().select(u32::from(select)).map(|(event, masks)| {
        let mask = masks.iter().find(|mask| mask.is_chosen_by(u32::from(umask), event.shape));
        (mask.unwrap_or(event), masks.is_empty() || mask.is_some())
    });
    let base = Count {
        thread,
        counter: row.counter,
        event: format!("{select:#04x}.{umask:#x}"),
        count: row.count,
        unit: Unit::Events.word().to_owned(),
        fidelity: vm_pmu::arch::event::Fidelity::Injected.word().to_owned(),
        driven_by: "what is injected by its code".to_owned(),
    };
    match found {
        None => base,
        Some((entry, listed)) => Count {
            event: if listed { entry.name.to_owned() } else { format!("{}, unit mask {umask:#x}", entry.name) },
            unit: entry.counts.word().to_owned(),
            fidelity: entry.fidelity.word().to_owned(),
            driven_by: driven_by(entry, knows),
            ..base
        },
    }
}

/// The signals or the rule; a signal that the engine does not know is named as such, so that its zero misleads nobody.
fn driven_by(entry: &Entry, knows: &dyn Fn(Signal) -> bool) -> String {
    let source = |signal: &Signal| {
        if knows(*signal) { signal.name().to_owned() } else { format!("{} (not known to this engine)", signal.name()) }
    };
    let drive = match entry.drive {
        Drive::Signals if entry.signals.is_empty() => return "what is injected by its code".to_owned(),
        Drive::Signals => entry.signals.iter().map(source).collect::<Vec<_>>().join(" + "),
        Drive::Sampled { .. } | Drive::Internal(_) => "the PMU itself".to_owned(),
    };
    if entry.rule.is_empty() { drive } else { format!("{drive}: {}", entry.rule) }
}
