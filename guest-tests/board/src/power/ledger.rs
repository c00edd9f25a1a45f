//! What was counted over a whole run, whatever the guest did to its registers in between.

use serde::{Deserialize, Serialize};
use vm_pmu::State;
use vm_pmu::arch::event::{Drive, Entry, Fidelity};
use vm_pmu::arch::feed::{Signal, Unit};
use vm_pmu::arch::power9::encode::{EventCode, decode};
use vm_pmu::arch::power9::{COUNTERS, spr};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;
use vm_pmu::{Address, Part};

use crate::report::Count;

/// The most selections of a thread that are kept apart.
const MAX_ROWS: usize = 4096;
/// What PMC5 and PMC6 count, as codes that drivers use.
const FIXED: [u64; 2] = [0x5_00FA, 0x6_00F4];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    counter: usize,
    code: u64,
    count: u64,
}

/// The counts of one thread, by counter and by what it selected.
///
/// It reads the counters before each write of a register, so reloads, negative values and reprogramming lose nothing. If a guest selects
/// more than 4096, the rest is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    thread: usize,
    rows: Vec<Row>,
    held: [u32; COUNTERS],
    codes: [u64; COUNTERS],
}

impl Ledger {
    /// The empty ledger of thread `thread`.
    #[must_use]
    pub fn new(thread: usize) -> Ledger {
        Ledger { thread, rows: Vec::new(), held: [0; COUNTERS], codes: [0, 0, 0, 0, FIXED[0], FIXED[1]] }
    }

    /// The number of the thread.
    #[must_use]
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// Books what the counters have grown by since the last call.
    pub(super) fn settle<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        let State::Power9(state) = thread.state() else { return };
        for counter in 0..COUNTERS {
            let grown = state.counters[counter].wrapping_sub(self.held[counter]);
            self.held[counter] = state.counters[counter];
            self.book(counter, u64::from(grown));
        }
    }

    fn book(&mut self, counter: usize, grown: u64) {
        let code = self.codes[counter];
        if grown == 0 || code == 0 {
            return;
        }
        if let Some(row) = self.rows.iter_mut().find(|row| (row.counter, row.code) == (counter, code)) {
            row.count += grown;
        } else if self.rows.len() < MAX_ROWS {
            self.rows.push(Row { counter, code, count: grown });
        }
    }

    /// A register has been written: a value that was written to a counter is no count, and MMCR1 selects anew.
    pub(super) fn written<L: InterruptLine>(&mut self, address: Address, thread: &Thread<'_, L>) {
        const MMCR1: [u16; 2] = [spr::MMCR1, spr::MMCR1 - spr::PRIVILEGED];
        let Address::Spr(number) = address else { return };
        let counters = [spr::PMC1..=spr::PMC6, spr::PMC1 - spr::PRIVILEGED..=spr::PMC6 - spr::PRIVILEGED];
        if MMCR1.contains(&number) || counters.iter().any(|range| range.contains(&number)) {
            let State::Power9(state) = thread.state() else { return };
            self.held = state.counters;
            for (code, selected) in self.codes.iter_mut().zip(decode(state.mmcr1, 0)) {
                *code = selected.selection().bits();
            }
        }
    }

    /// The counts, in the order in which they first grew. Signals that the engine does not `know` are marked.
    #[must_use]
    pub fn counts(&self, part: Part, knows: &dyn Fn(Signal) -> bool) -> Vec<Count> {
        self.rows.iter().map(|row| describe(self.thread, row, part, knows)).collect()
    }
}

/// The event of a code in the list, with or without its counter's number, marked or not.
fn find(part: Part, code: u64) -> Option<&'static Entry> {
    const MARK: u64 = 1 << 8;
    let any = EventCode::from_bits(code).on_any_counter().bits();
    let found = |code: u64| u32::try_from(code).ok().and_then(|code| part.catalogue().select(code)).map(|(entry, _)| entry);
    [code, code | MARK, any, any | MARK].into_iter().find_map(found)
}

fn describe(thread: usize, row: &Row, part: Part, knows: &dyn Fn(Signal) -> bool) -> Count {
    let base = Count {
        thread,
        counter: row.counter as u32 + 1,
        event: format!("{:#07x}", row.code),
        count: row.count,
        unit: Unit::Events.word().to_owned(),
        fidelity: Fidelity::Exact.word().to_owned(),
        driven_by: String::new(),
    };
    match row.code {
        code if code == FIXED[0] => {
            Count { event: "PM_RUN_INST_CMPL".to_owned(), driven_by: Signal::InstructionsRetired.name().to_owned(), ..base }
        }
        code if code == FIXED[1] => {
            let unit = Unit::Cycles.word().to_owned();
            Count { event: "PM_RUN_CYC".to_owned(), driven_by: Signal::Cycles.name().to_owned(), unit, ..base }
        }
        code => match find(part, code).or_else(|| find(part, code & !1)) {
            None => Count { fidelity: Fidelity::Injected.word().to_owned(), driven_by: "what is injected by its code".to_owned(), ..base },
            Some(entry) => Count {
                event: if find(part, code).is_some() { entry.name.to_owned() } else { format!("{}:e", entry.name) },
                unit: entry.counts.word().to_owned(),
                fidelity: entry.fidelity.word().to_owned(),
                driven_by: driven_by(entry, knows),
                ..base
            },
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
        Drive::Sampled { .. } => "the sampled instruction".to_owned(),
        Drive::Internal(_) => "the PMU itself".to_owned(),
    };
    if entry.rule.is_empty() { drive } else { format!("{drive}: {}", entry.rule) }
}
