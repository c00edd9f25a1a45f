//! What was counted over a whole run, whatever the guest did to its registers in between.

use std::collections::HashMap;

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::feed::{Signal, Unit};
use vm_pmu::arch::k8::{PerfEvtSel, Register as K8Register, Slot};
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;

use super::saved::{LedgerState, RowState};
use crate::report::Count;

/// The bits of PerfEvtSel that select what is counted: all except PC, INT and EN.
const SELECTION: u64 = 0xFF87_FFFF;
/// The values of a counter.
const MASK: u64 = (1 << 48) - 1;

/// The most selections of a thread that are kept apart.
const MAX_ROWS: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Row {
    counter: usize,
    /// `None` for all that came when the ledger was full.
    selection: Option<u64>,
    count: u64,
}

/// The counts of one thread, by counter and by what it selected.
///
/// It reads a counter before and after each write of it or of its select, so reloads with negative values, wraps and reprogramming lose
/// nothing. A selection is listed once it was enabled. If a guest selects more than 4096, the rest is one row a counter.
#[derive(Clone, Debug)]
pub struct Ledger {
    thread: usize,
    rows: Vec<Row>,
    /// Where each counter's selection is.
    places: HashMap<(usize, Option<u64>), usize>,
    /// What each counter held when it was last read.
    held: [u64; 4],
    /// The row each counter adds to.
    open: [Option<usize>; 4],
}

impl Ledger {
    /// The empty ledger of thread `thread`.
    #[must_use]
    pub fn new(thread: usize) -> Ledger {
        Ledger { thread, rows: Vec::new(), places: HashMap::new(), held: [0; 4], open: [None; 4] }
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> LedgerState {
        let row = |row: &Row| RowState { counter: row.counter, selection: row.selection, count: row.count };
        LedgerState { rows: self.rows.iter().map(row).collect(), held: self.held, open: self.open }
    }

    /// Continues from the state of another of the same thread, which [is possible](LedgerState::is_possible).
    pub fn go_on(&mut self, state: &LedgerState) {
        let row = |row: &RowState| Row { counter: row.counter, selection: row.selection, count: row.count };
        self.rows = state.rows.iter().map(row).collect();
        self.places = self.rows.iter().enumerate().map(|(number, row)| ((row.counter, row.selection), number)).collect();
        (self.held, self.open) = (state.held, state.open);
    }

    fn slot(msr: u32) -> Option<Slot> {
        match K8Register::from_msr(msr)? {
            K8Register::PerfEvtSel(slot) | K8Register::PerfCtr(slot) => Some(slot),
        }
    }

    fn counter<L: InterruptLine>(slot: Slot, thread: &Thread<'_, L>) -> Option<u64> {
        thread.look(Address::Msr(K8Register::PERF_CTR0 + slot.index() as u32)).ok()
    }

    /// Books what the counter has grown by since it was last read.
    fn settle<L: InterruptLine>(&mut self, slot: Slot, thread: &Thread<'_, L>) {
        let Some(value) = Self::counter(slot, thread) else { return };
        let grown = value.wrapping_sub(self.held[slot.index()]) & MASK;
        self.held[slot.index()] = value;
        if let Some(row) = self.open[slot.index()].and_then(|row| self.rows.get_mut(row)) {
            row.count = row.count.wrapping_add(grown);
        }
    }

    /// The row of a selection; a new one if it is enabled for the first time.
    fn row(&mut self, counter: usize, selection: u64, enabled: bool) -> Option<usize> {
        if let Some(row) = self.places.get(&(counter, Some(selection))) {
            return Some(*row);
        }
        if !enabled {
            return None;
        }
        let selection = (self.rows.len() < MAX_ROWS).then_some(selection);
        let rows = &mut self.rows;
        Some(*self.places.entry((counter, selection)).or_insert_with(|| {
            rows.push(Row { counter, selection, count: 0 });
            rows.len() - 1
        }))
    }

    /// To be called before a write of `msr`.
    pub fn before<L: InterruptLine>(&mut self, msr: u32, thread: &Thread<'_, L>) {
        if let Some(slot) = Self::slot(msr) {
            self.settle(slot, thread);
        }
    }

    /// To be called after a write of `msr`.
    pub fn after<L: InterruptLine>(&mut self, msr: u32, thread: &Thread<'_, L>) {
        match K8Register::from_msr(msr) {
            Some(K8Register::PerfCtr(slot)) => {
                if let Some(value) = Self::counter(slot, thread) {
                    self.held[slot.index()] = value;
                }
            }
            Some(K8Register::PerfEvtSel(slot)) => {
                let Ok(select) = thread.look(Address::Msr(msr)) else { return };
                self.open[slot.index()] = self.row(slot.index(), select & SELECTION, PerfEvtSel::written(select).en());
                // A change of event with the counter enabled can count an edge at once.
                self.settle(slot, thread);
            }
            None => {}
        }
    }

    /// To be called at the end, with the thread in ring 0.
    pub fn close<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        for slot in Slot::ALL {
            self.settle(slot, thread);
        }
    }

    /// The counts, in the order in which they were first selected. Signals that the engine does not `know` are marked.
    #[must_use]
    pub fn counts(&self, part: vm_pmu::Part, knows: &dyn Fn(Signal) -> bool) -> Vec<Count> {
        self.rows.iter().map(|row| describe(self.thread, row, part, knows)).collect()
    }
}

fn describe(thread: usize, row: &Row, part: vm_pmu::Part, knows: &dyn Fn(Signal) -> bool) -> Count {
    let Some(selection) = row.selection else {
        return Count {
            thread,
            counter: row.counter as u32,
            event: "further selections".to_owned(),
            count: row.count,
            unit: Unit::Events.word().to_owned(),
            fidelity: Fidelity::Injected.word().to_owned(),
            driven_by: "whatever the guest selected".to_owned(),
        };
    };
    let select = PerfEvtSel::written(selection);
    let found = part.catalogue().select(u32::from(select.event_select()));
    let umask = u32::from(select.unit_mask());
    let (mut name, picked) = match found {
        None => (format!("{:#04x}:{umask:#04x}", select.event_select()), Vec::new()),
        Some((event, [])) => (event.name.to_owned(), vec![event]),
        Some((event, masks)) => {
            let picked: Vec<&'static Entry> = masks.iter().filter(|mask| mask.umask.is_some_and(|bit| bit & umask != 0)).collect();
            let mut name = event.name.to_owned();
            for mask in picked.iter().filter_map(|mask| mask.mask_name()) {
                name = name + ":" + mask;
            }
            let named = picked.iter().filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit);
            if umask & !named != 0 || picked.is_empty() {
                name += &format!(":{:#04x}", umask & !named);
            }
            (name, picked)
        }
    };
    if select.usr() || select.os() {
        name.push(':');
        name.push_str(if select.usr() { "u" } else { "" });
        name.push_str(if select.os() { "k" } else { "" });
    }
    for (set, modifier) in [(select.e(), ":e"), (select.inv(), ":i")] {
        name.push_str(if set { modifier } else { "" });
    }
    if select.cnt_mask() != 0 {
        name += &format!(":c={}", select.cnt_mask());
    }
    let unit = match picked.first() {
        _ if select.e() => Unit::Events,
        _ if select.cnt_mask() != 0 => Unit::Cycles,
        Some(entry) => entry.counts,
        None => Unit::Events,
    };
    let fidelity = picked.iter().map(|entry| entry.fidelity).max().unwrap_or(Fidelity::Injected);
    Count {
        thread,
        counter: row.counter as u32,
        event: name,
        count: row.count,
        unit: unit.word().to_owned(),
        fidelity: fidelity.word().to_owned(),
        driven_by: driven_by(select, &picked, fidelity, knows),
    }
}

/// The signals or the rule; a signal that the engine does not know is named as such, so that its zero misleads nobody.
fn driven_by(select: PerfEvtSel, picked: &[&'static Entry], fidelity: Fidelity, knows: &dyn Fn(Signal) -> bool) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut rules: Vec<&str> = Vec::new();
    for entry in picked {
        let signals = if select.e() && !entry.edges.is_empty() { entry.edges } else { entry.signals };
        names.extend(signals.iter().map(|signal| source(*signal, knows)));
        if !entry.rule.is_empty() && !rules.contains(&entry.rule) {
            rules.push(entry.rule);
        }
    }
    let signals = names.join(" + ");
    match fidelity {
        Fidelity::Exact => signals,
        _ if signals.is_empty() => "what is injected by its encoding".to_owned(),
        _ if rules.is_empty() => signals,
        _ => format!("{signals}: {}", rules.join(" ")),
    }
}

fn source(signal: Signal, knows: &dyn Fn(Signal) -> bool) -> String {
    if knows(signal) { signal.name().to_owned() } else { format!("{} (not known to this engine)", signal.name()) }
}
