//! From an event select to what the counter is connected to.
//!
//! Chapter 2 of the manual; the counter mask, inversion and edge detection as Intel's Software Developer's Manual has them (volume 3,
//! chapter 18).

use super::registers::PerfEvtSel;
use crate::counter::{Gate, Tap, Threshold};
use crate::event::{self, Encoded, Event, Extent, UnitMask};
use crate::feed::{Kind, Scope, Signal, SignalSet};
use crate::model::Occurrence;
use crate::x86::{Comparison, Feeding};

/// OFFCORE_RESP, the event that the registers of this name describe.
const OFFCORE_RESP: u8 = 0xB7;

/// PAGE_WALKS, whose states exclude each other.
const PAGE_WALKS: u8 = 0x05;

/// Which threads a counter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// Its own thread's.
    #[default]
    Own,
    /// The sum of every thread of the core.
    CoreSum,
    /// The core's clock, while some thread of it runs.
    CoreClock,
    /// Events of the core, whichever of its threads counts them.
    Core,
    /// The requests of the tile.
    Tile,
}

impl Reach {
    /// Whether other threads matter.
    pub(super) fn is_wide(self) -> bool {
        self != Reach::Own
    }
}

/// What a general counter selects, taken apart.
#[derive(Clone, Copy)]
pub(super) struct Selection {
    select: PerfEvtSel,
    /// The event and its unit masks, unless the part has none of this number: a reserved event counts what is injected for it.
    event: Option<Event>,
}

impl Selection {
    pub(super) fn new(select: PerfEvtSel) -> Selection {
        Selection { select, event: event::KNL.encodings.select(u32::from(select.event_select())) }
    }

    fn shape(&self) -> UnitMask {
        self.event.map_or(UnitMask::None, Event::shape)
    }

    /// The entries that the unit mask picks: the event itself when it has no unit masks. Of a name for several bits of a set the bits
    /// alone are picked.
    fn picked(&self) -> impl Iterator<Item = Encoded> + use<> {
        let umask = u32::from(self.select.umask());
        let shape = self.shape();
        let is_picked = move |entry: &Encoded| match shape {
            UnitMask::Set | UnitMask::Union => entry.umask().is_none_or(|own| own & umask != 0 && own.is_power_of_two()),
            shape => entry.is_chosen_by(umask, shape),
        };
        self.event.into_iter().flat_map(Event::members).filter(is_picked)
    }

    /// Whether it counts the requests that a register describes.
    pub(super) fn is_offcore(&self) -> bool {
        self.select.event_select() == OFFCORE_RESP
    }

    /// The registers that describe what it counts: bit 0 for MSR_OFFCORE_RESP0, bit 1 for MSR_OFFCORE_RESP1.
    pub(super) fn offcore_registers(&self) -> u8 {
        match self.select.umask() {
            umask @ 1..=2 if self.is_offcore() => umask,
            _ => 0,
        }
    }

    /// Which threads it counts.
    pub(super) fn reach(&self) -> Reach {
        let any = self.select.any_thread() && self.picked().any(|entry| entry.properties().any_thread);
        match self.event.map_or(Extent::Thread, |event| event.itself().properties().extent) {
            Extent::Tile => Reach::Tile,
            Extent::Core => Reach::Core,
            Extent::Thread if any => Reach::CoreClock,
            Extent::Thread => Reach::Own,
        }
    }

    fn comparison(&self) -> Comparison {
        Comparison { cnt_mask: self.select.cmask(), inverted: self.select.inv(), edge: self.select.e() }
    }

    /// Connects the counter to what is selected, by the given clock. Returns whether the sources count how often a state is entered.
    pub(super) fn connect(&self, tap: &mut Tap, clock: Clock) -> bool {
        let (gate, feeding) = self.comparison().gate(self.lone_state(), self.most());
        let gate = match (self.reach(), gate) {
            // A core of one thread has the clock of that thread.
            (Reach::CoreClock, gate) if clock == Clock::Thread => gate,
            // What holds in every cycle of the core is its clock; a clock is never outside itself, and does not rise.
            (Reach::CoreClock, Gate::Always) => Gate::Sum,
            (Reach::CoreClock, Gate::Outside | Gate::Edges(_)) => Gate::Shut,
            (_, gate) => gate,
        };
        tap.rewire(gate, Scope::Thread);
        if gate != Gate::Shut && gate != Gate::Always {
            self.sources(feeding, |signal| tap.connect(clock.of(signal)));
        }
        feeding == Feeding::Entries
    }

    /// The most increments in a cycle: sub-events of a set add up, and the requests of a tile have no bound.
    fn most(&self) -> u32 {
        let of_event = self.event.map_or(event::KNL.encodings.max_per_cycle, |event| event.itself().properties().max_per_cycle);
        match (self.reach(), self.shape()) {
            (Reach::Tile, _) => u32::MAX,
            (_, UnitMask::Set | UnitMask::Gated { .. }) => of_event.saturating_mul(self.picked().count() as u32),
            _ => of_event,
        }
    }

    /// For a selection that is 0 or 1 in a cycle: whether signals count how often it is entered. Several states at once, or events, can be
    /// more than 1. Page walks exclude each other.
    fn lone_state(&self) -> Option<bool> {
        let mut picked = self.picked();
        let first = picked.next().filter(|entry| entry.is_of_cycles())?;
        let are_exclusive = self.select.event_select() == PAGE_WALKS;
        picked.all(|_| are_exclusive).then_some(!first.edges().is_empty())
    }

    fn sources(&self, feeding: Feeding, mut connect: impl FnMut(Signal)) {
        if let Some(event) = self.event.filter(|event| event.shape() == UnitMask::Excluding) {
            let umask = self.select.umask();
            let classes = event.itself().properties().lists.classes;
            classes.iter().enumerate().filter(|(bit, _)| umask >> (bit & 7) & 1 == 0).for_each(|(_, class)| connect(*class));
            return;
        }
        for entry in self.picked() {
            let signals = if feeding == Feeding::Entries { entry.edges() } else { entry.signals() };
            signals.iter().for_each(|signal| connect(*signal));
        }
    }

    /// The states that it selects, except the clocks, which run.
    pub(super) fn unknown_states(&self) -> SignalSet {
        let states = self.picked().flat_map(Encoded::signals).filter(|signal| signal.kind() == Kind::State);
        let mut unknown = SignalSet::EMPTY;
        states.filter(|signal| !signal.is_clock()).for_each(|signal| unknown.insert(*signal));
        unknown
    }

    /// The level that the edge detector sees while exactly these states hold and no event occurs.
    pub(super) fn level(&self, holds: impl Fn(Signal) -> bool) -> bool {
        let states = self.picked().flat_map(Encoded::signals).filter(|signal| signal.kind() == Kind::State);
        let level = states.filter(|signal| holds(**signal)).count() as u64;
        self.comparison().threshold().unwrap_or(Threshold::ANY).met(level)
    }

    /// Whether the occurrence is selected, and if so whether it is an event or a cycle of a state.
    pub(super) fn admits(&self, occurrence: Occurrence) -> Option<Kind> {
        let umask = u32::from(self.select.umask());
        if u32::from(self.select.event_select()) != occurrence.select {
            return None;
        }
        let Some(event) = self.event else {
            return (umask == occurrence.umask || umask & occurrence.umask != 0).then_some(Kind::Event);
        };
        event.shape().admits(umask, occurrence.umask).then(|| {
            let sub = event.masks().find(|mask| mask.umask().is_some_and(|own| own & occurrence.umask & umask != 0));
            sub.unwrap_or(event.itself()).kind()
        })
    }
}

/// Which clock a counter of cycles follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The thread's.
    Thread,
    /// That of a core of several threads.
    Core,
}

impl Clock {
    /// The signal of this clock that replaces the thread's `signal`.
    pub(super) fn of(self, signal: Signal) -> Signal {
        match (self, signal) {
            (Clock::Core, Signal::Cycles) => Signal::CoreActiveCycles,
            (Clock::Core, Signal::ReferenceCycles) => Signal::CoreActiveReferenceCycles,
            _ => signal,
        }
    }
}
