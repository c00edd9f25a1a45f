//! What a configuration register selects, and how its counter is connected to it.

use crate::counter::{Gate, Tap, Threshold};
use crate::event::{Attribution, Channel, Drive, Encoded, Encodings, Event, Initiator, Internal, Qualifiers, UnitMask};
use crate::feed::{Context, Kind, LineStates, Scope, Signal};
use crate::model::Occurrence;

/// What makes a counter grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    /// Nothing: the part has no such event, or not there.
    #[default]
    Nothing,
    /// Signals, and what is injected.
    Signals,
    /// The model itself.
    Internal(Internal),
}

/// What constrains a counter to some of the occurrences of its event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Qualifier {
    /// By what the event can be constrained.
    pub(crate) by: Qualifiers,
    /// The channel of address ranges that does so.
    pub(crate) channel: Channel,
    /// The tag that retired instructions are counted by: a number that the unit mask chose.
    pub(crate) tag: Option<u8>,
    /// The states of cache lines that are counted, where not all are.
    pub(crate) states: Option<LineStates>,
}

/// The fields of a configuration register that choose what is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Event select.
    pub(crate) event: u32,
    /// Unit mask.
    pub(crate) umask: u32,
    /// Cycles with more events than this count one each; 0 counts events.
    pub(crate) threshold: u8,
    /// Both threads of the core are counted.
    pub(crate) all: bool,
    /// The states of cache lines that are counted.
    pub(crate) states: LineStates,
    /// The counter stands still while its thread does not run.
    pub(crate) banked: bool,
}

/// When a selected event counts, in addition to the conditions of its monitor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Presence {
    /// Only in the foreground.
    foreground: bool,
    /// Only while the thread's clock runs.
    unhalted: bool,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selected {
    event: Option<Event>,
    /// The first of the event's selects.
    first: u32,
    choice: Choice,
    pub(crate) source: Source,
    pub(crate) qualifier: Qualifier,
    presence: Presence,
}

impl PartialEq for Selected {
    fn eq(&self, other: &Selected) -> bool {
        // One choice, where the part allows it, is always of one event.
        (self.choice, self.source) == (other.choice, other.source)
    }
}

impl Qualifier {
    /// Whether no range, opcode or state of a line could constrain it.
    pub(crate) fn is_free(self) -> bool {
        let by_tags = self.by.contains(Qualifiers::INSTRUCTION_ADDRESS) || self.by.contains(Qualifiers::DATA_ADDRESS);
        !by_tags && self.tag.is_none() && self.states.is_none()
    }
}

impl Selected {
    /// What `choice` selects from `encodings`.
    pub(crate) fn new(encodings: &'static Encodings, choice: Choice) -> Selected {
        let event = encodings.select(choice.event);
        let mut selected = Selected { event, first: encodings.first_select(choice.event), choice, ..Selected::default() };
        let Some(first) = selected.picked().next().map(Encoded::properties) else { return selected };
        selected.source = selected.made_by();
        selected.qualifier = Qualifier { by: first.qualifiers, channel: first.channel, tag: None, states: None };
        match selected.source {
            Source::Internal(Internal::TaggedInstructions(channel)) => selected.qualifier.tag = Some(channel),
            Source::Internal(Internal::QualifiedCycles) => selected.qualifier.tag = Some(0),
            _ => {}
        }
        if first.by_line_state && choice.states != LineStates::all() {
            selected.qualifier.states = Some(choice.states);
            if choice.states.is_empty() {
                selected.source = Source::Nothing;
            }
        }
        let causal = first.attribution == Attribution::Causal && !choice.all;
        selected.presence = Presence { foreground: choice.banked || causal, unhalted: selected.follows_the_clock() };
        selected
    }

    /// The entries that the unit mask picks.
    fn picked(&self) -> impl Iterator<Item = Encoded> + use<> {
        let umask = self.choice.umask;
        let shape = self.event.map_or(UnitMask::None, Event::shape);
        // A name for several bits of a set is not a separate member, unless it alone has signals.
        let is_bit = |entry: Encoded| entry.umask().is_none_or(u32::is_power_of_two);
        let is_driven = |mask: Encoded| !mask.signals().is_empty() || mask.properties().drive != Drive::Signals;
        let masks = || self.event.into_iter().flat_map(Event::masks);
        let by_bits = matches!(shape, UnitMask::Set | UnitMask::Union) && masks().any(|mask| is_bit(mask) && is_driven(mask));
        let is_picked = move |entry: &Encoded| (!by_bits || is_bit(*entry)) && entry.is_chosen_by(umask, shape);
        self.event.into_iter().flat_map(Event::members).filter(is_picked)
    }

    /// What makes the count of the picked entries.
    fn made_by(&self) -> Source {
        let mut source = Source::Signals;
        for entry in self.picked() {
            let Drive::Internal(internal) = entry.properties().drive else { continue };
            source = match (source, internal) {
                (Source::Internal(Internal::PrivilegeChange(levels)), Internal::PrivilegeChange(more)) => {
                    Source::Internal(Internal::PrivilegeChange(levels | more))
                }
                _ => Source::Internal(internal),
            };
        }
        source
    }

    /// Whether it counts cycles of the clock that runs.
    fn follows_the_clock(&self) -> bool {
        match self.source {
            Source::Internal(Internal::QualifiedCycles) => true,
            Source::Signals => self.counts_clocks(),
            _ => false,
        }
    }

    /// Whether it counts cycles of the thread, those of a halt too: they are its own, whatever their type.
    fn is_of_a_clock(&self) -> bool {
        let of_a_halt = || self.picked().any(|entry| entry.signals().contains(&Signal::HaltedCycles));
        self.counts_clocks() || self.followed() == Some(Signal::Cycles) || of_a_halt()
    }

    /// Whether it counts the core's clock.
    fn counts_clocks(&self) -> bool {
        self.picked().any(|entry| entry.signals().contains(&Signal::Cycles))
    }

    /// The signals that the model's own count follows, where it follows one.
    fn followed(&self) -> Option<Signal> {
        match self.source {
            Source::Internal(Internal::TaggedInstructions(_)) => Some(Signal::InstructionsRetired),
            Source::Internal(Internal::QualifiedCycles) => Some(Signal::Cycles),
            _ => None,
        }
    }

    /// Which threads it counts. Events that an instruction can constrain belong to threads. The clock of a thread is its own while no
    /// other thread runs.
    fn scope(&self, open: bool, alone: bool) -> Scope {
        match (self.choice.all, self.is_of_a_clock()) {
            (true, _) if !open && !alone => Scope::Threads,
            _ if !open => Scope::Thread,
            (true, true) if alone => Scope::Thread,
            (true, true) => Scope::Threads,
            (true, false) => self.surroundings(),
            (false, false) if self.picked().any(|entry| entry.properties().attribution == Attribution::Causal) => self.surroundings(),
            (false, _) => Scope::Thread,
        }
    }

    /// Which threads it counts when it counts more than its own. For transactions the unit mask says which of them may have begun one.
    fn surroundings(&self) -> Scope {
        match self.picked().next().map(Encoded::properties).map(|entry| (entry.initiator, entry.attribution)) {
            Some((Initiator::Other, _)) => Scope::Devices,
            Some((Initiator::Either, _) | (Initiator::Own, Attribution::Active | Attribution::Floating)) => Scope::Threads,
            _ => Scope::Package,
        }
    }

    /// The gate that the threshold asks for. A threshold that no cycle can exceed shuts it.
    fn gate(&self) -> Gate {
        let most = self.picked().map(|entry| if entry.is_of_cycles() { 1 } else { entry.properties().max_per_cycle }).max().unwrap_or(0);
        match self.choice.threshold {
            0 => Gate::Sum,
            threshold if u32::from(threshold) >= most => Gate::Shut,
            threshold => Gate::Cycles(Threshold { at_least: threshold + 1, inverted: false }),
        }
    }

    /// Connects `tap` to what is selected. It is `open` while nothing constrains it, and `alone` while no other thread of the core runs.
    pub(crate) fn connect(&self, tap: &mut Tap, open: bool, alone: bool) {
        let gate = if self.source == Source::Nothing { Gate::Shut } else { self.gate() };
        tap.rewire(gate, self.scope(open, alone));
        if gate == Gate::Shut {
            return;
        }
        match self.followed() {
            Some(signal) => tap.connect(signal),
            None => self.picked().flat_map(Encoded::signals).for_each(|signal| tap.connect(*signal)),
        }
    }

    /// Whether signals count it, and not the model itself.
    pub(crate) fn is_tapped(&self) -> bool {
        match self.source {
            Source::Nothing => false,
            Source::Signals => true,
            Source::Internal(_) => self.followed().is_some(),
        }
    }

    /// What the model itself counts for it, unless a threshold forbids it.
    pub(crate) fn internal(&self) -> Option<Internal> {
        match self.source {
            Source::Internal(internal) if !self.is_tapped() && self.gate() != Gate::Shut => Some(internal),
            _ => None,
        }
    }

    /// Whether it counts in this context, if its monitor permits.
    pub(crate) fn is_present(&self, context: &Context) -> bool {
        self.source != Source::Nothing && (context.foreground || !self.presence.foreground) && !(self.presence.unhalted && context.halted)
    }

    /// Whether both threads of the core are counted.
    pub(crate) fn counts_all(&self) -> bool {
        self.choice.all
    }

    /// Whether it counts events of the core's other thread: of both threads, or of neither in particular.
    pub(crate) fn counts_siblings(&self) -> bool {
        self.source != Source::Nothing && self.scope(true, false) != Scope::Thread
    }

    /// Whether an occurrence, under the [first](Encodings::first_select) of its event's codes, is what is selected, and if so whether it
    /// is an event or a cycle of a state.
    pub(crate) fn admits(&self, occurrence: Occurrence) -> Option<Kind> {
        let event = self.event?;
        if self.first != occurrence.select || self.source == Source::Nothing {
            return None;
        }
        let admitted = match event.shape() {
            _ if !event.has_masks() => true,
            UnitMask::Ordinal => self.picked().any(|entry| entry.is_chosen_by(occurrence.umask, UnitMask::Ordinal)),
            shape => shape.admits(self.choice.umask, occurrence.umask),
        };
        let kind = if self.picked().any(Encoded::is_of_cycles) { Kind::State } else { Kind::Event };
        admitted.then_some(kind)
    }
}
