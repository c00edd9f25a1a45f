//! From an event select to what the counter is connected to.
//!
//! AMD BKDG section 10.2: EVENT_SELECT, UNIT_MASK, E, INV and CNT_MASK together decide which signals reach a counter and how.

use super::Revision;
use super::registers::PerfEvtSel;
use crate::counter::{Gate, Tap, Threshold};
use crate::event::{self, Encoded, Event, UnitMask};
use crate::feed::{Context, Kind, Scope, Signal, SignalSet, Supply};
use crate::model::Occurrence;
use crate::x86::{Comparison, Feeding};

/// An event select taken apart: which entries of the catalogue it names.
#[derive(Clone, Copy)]
pub(super) struct Selection {
    select: PerfEvtSel,
    /// The event, unless the part has none of this number: a reserved event counts what is injected for it.
    event: Option<Event>,
}

impl Selection {
    /// Looks the event up in the catalogue of this revision of the part.
    pub(super) fn new(select: PerfEvtSel, revision: Revision) -> Selection {
        let event = event::K8.encodings.select(u32::from(select.event_select()));
        let event = event.filter(|event| revision.has_since(event.itself().properties().since));
        Selection { select, event }
    }

    /// The entries that the unit mask picks: the event itself when it has no unit masks.
    fn picked(&self, revision: Revision) -> impl Iterator<Item = Encoded> + use<> {
        let umask = u32::from(self.select.unit_mask());
        let is_picked = move |entry: &Encoded| entry.umask().is_none_or(|bit| bit & umask != 0);
        let members = self.event.into_iter().flat_map(Event::members);
        members.filter(move |entry| is_picked(entry) && revision.has_since(entry.properties().since))
    }

    /// The signals that the unit mask picks. One of fields is a path, which counts if a bit of each group has it (E9h).
    fn wired(&self, revision: Revision, list: impl Fn(Encoded) -> &'static [Signal], mut connect: impl FnMut(Signal)) {
        let groups = match self.event.map_or(UnitMask::None, Event::shape) {
            UnitMask::Fields(fields) => fields.groups,
            _ => &[],
        };
        let in_group = |entry: &Encoded, group: u32| entry.umask().is_some_and(|bit| bit & group != 0);
        let has = |group: u32, signal| self.picked(revision).any(|entry| in_group(&entry, group) && list(entry).contains(&signal));
        // Each path is listed once in each group, so the first group has every path.
        let (first, others) = groups.split_first().map_or((u32::MAX, groups), |(first, others)| (*first, others));
        for entry in self.picked(revision).filter(|entry| groups.is_empty() || in_group(entry, first)) {
            list(entry).iter().filter(|signal| others.iter().all(|group| has(*group, **signal))).for_each(|signal| connect(*signal));
        }
    }

    /// Whether it selects an event of the northbridge, which the cores of a package share.
    pub(super) fn is_northbridge(&self) -> bool {
        self.select.event_select() >= super::FIRST_NORTHBRIDGE_EVENT
    }

    fn comparison(&self) -> Comparison {
        Comparison { cnt_mask: self.select.cnt_mask(), inverted: self.select.inv(), edge: self.select.e() }
    }

    /// Connects the counter to what is selected.
    pub(super) fn connect(&self, revision: Revision, connection: &mut Connection) {
        let (gate, feeding) = match (self.select.cnt_mask(), self.select.e()) {
            (0, false) => (Gate::Sum, Feeding::Sources),
            _ => self.gate(revision),
        };
        let thread_only = feeding == Feeding::Entries || !self.is_northbridge();
        connection.counts_entries = feeding == Feeding::Entries;
        connection.tap.rewire(gate, if thread_only { Scope::Thread } else { Scope::Package });
        if gate == Gate::Shut || gate == Gate::Always {
            return;
        }
        let list = if feeding == Feeding::Entries { Encoded::edges } else { Encoded::signals };
        self.wired(revision, list, |signal| connection.tap.connect(signal));
    }

    /// What CNT_MASK, INV and E make of the selection.
    fn gate(&self, revision: Revision) -> (Gate, Feeding) {
        let (mut picked, mut states, mut has_edges) = (0u32, 0u32, false);
        for entry in self.picked(revision) {
            picked += 1;
            states += u32::from(entry.is_of_cycles());
            has_edges = !entry.edges().is_empty();
        }
        // A state is 0 or 1 in a clock, and several are at most their number; events can be more.
        let most = event::K8.encodings.max_per_cycle;
        let only_states = states > 0 && states == picked;
        let lone_state = (only_states && states == 1).then_some(has_edges);
        self.comparison().gate(lone_state, if only_states { states.min(most) } else { most })
    }

    /// The level that the edge detector sees while only states hold: their number, compared with CNT_MASK.
    pub(super) fn level(&self, revision: Revision, holds: impl Fn(Signal) -> bool) -> bool {
        let states = self.picked(revision).flat_map(Encoded::signals).filter(|signal| signal.kind() == Kind::State);
        let level = states.filter(|signal| holds(**signal)).count() as u64;
        self.comparison().threshold().unwrap_or(Threshold::ANY).met(level)
    }

    /// Whether it selects events alone, which have no level between occurrences.
    pub(super) fn is_of_events(&self, revision: Revision) -> bool {
        let mut signals = self.picked(revision).flat_map(Encoded::signals).peekable();
        signals.peek().is_some() && signals.all(|signal| signal.kind() != Kind::State)
    }

    /// The states that it selects, except the clocks, which run, and those that the context states.
    pub(super) fn unknown_states(&self, revision: Revision) -> SignalSet {
        let states = self.picked(revision).flat_map(Encoded::signals).filter(|signal| signal.kind() == Kind::State);
        let mut unknown = SignalSet::EMPTY;
        states.filter(|signal| !signal.is_clock() && **signal != Signal::InterruptsMaskedCycles).for_each(|signal| unknown.insert(*signal));
        unknown
    }

    /// Whether the occurrence is selected, and if so whether it is an event or a cycle of a state.
    pub(super) fn admits(&self, occurrence: Occurrence) -> Option<Kind> {
        let umask = u32::from(self.select.unit_mask());
        if u32::from(self.select.event_select()) != occurrence.select {
            return None;
        }
        let Some(event) = self.event else {
            return (umask == occurrence.umask || umask & occurrence.umask != 0).then_some(Kind::Event);
        };
        event.shape().admits(umask, occurrence.umask).then(|| {
            let sub = event.masks().find(|mask| mask.umask().is_some_and(|bit| bit & occurrence.umask & umask != 0));
            sub.unwrap_or(event.itself()).kind()
        })
    }
}

/// The state that event CEh counts the clocks or the entries of. No context states it, as it does EFLAGS.IF for event CDh.
pub(super) const WAITING: Signal = Signal::InterruptsMaskedPendingCycles;

/// A counter's connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    pub(super) tap: Tap,
    /// The sources count how often a state is entered, so a stay of any length is one.
    pub(super) counts_entries: bool,
}

/// Whether the state whose cycles `signal` counts holds now, as far as the context says.
pub(super) fn holds(signal: Signal, context: &Context, supply: &Supply) -> bool {
    match signal {
        Signal::InterruptsMaskedCycles => !context.interrupts_enabled(),
        other => supply.resting(other),
    }
}
