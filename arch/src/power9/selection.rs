//! From MMCR1 to what a counter is connected to.
//!
//! POWER9 PMU User's Guide, appendix A.4: PMCxUNIT, PMCxCOMB and PMCxSEL together name an event; section 5.15 prints them as one code.

use super::registers::{Mmcr1, Msr, ThreadControl};
use crate::counter::{Gate, Tap};
use crate::event::{self, Amount, Drive, Encoded, Encoding, Event, Internal, NestedEvent, Test, When};
use crate::feed::{Kind, NestedStep, Scope, Signal, SignalSet};
use crate::model::{Occurrence, Shared};

/// The bits of an event code that MMCR1 has no field for: the event is of the sampled instruction (section 5.15, MARK).
const MARK: u32 = 1 << 8;
/// The part of a code that names the counter.
const COUNTER: u32 = 0xF << 16;
/// PMCxSEL: count falling edges (the guide's bit 8 of the selector).
const FALLS: u32 = 1;
/// PMCxSEL: bits that tell event bus events from direct ones, and their value (Table A-2).
const KIND: u32 = 0xC0;
const BUS: u32 = 0x80;
/// PMCxCOMB as a code has it: the second bit of the event bus.
const SECOND: u32 = 0b10 << 10;

/// How PMCxCOMB combines the two bits of the event bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Combination {
    /// One of them, or a direct event.
    #[default]
    One,
    /// Cycles in which both are on.
    And,
    /// Their sum.
    Add,
}

/// What MMCR1 selects for one counter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Selected {
    /// The selection as an event code, with the counter's number and without the falling-edge bit.
    code: u32,
    /// The entries of the first and the second bit of the event bus; of a direct event the first alone.
    entries: [Option<&'static Encoding>; 2],
    combination: Combination,
    falls: bool,
    /// Some entry counts at some conditions only.
    conditional: bool,
}

impl Selected {
    /// What `mmcr1` selects for the counter of this index, 0 to 3 for PMC1 to PMC4.
    pub(super) fn new(mmcr1: Mmcr1, index: usize) -> Selected {
        let (unit, comb, sel) = match index {
            0 => (mmcr1.pmc1unit(), mmcr1.pmc1comb(), mmcr1.pmc1sel()),
            1 => (mmcr1.pmc2unit(), mmcr1.pmc2comb(), mmcr1.pmc2sel()),
            2 => (mmcr1.pmc3unit(), mmcr1.pmc3comb(), mmcr1.pmc3sel()),
            _ => (mmcr1.pmc4unit(), mmcr1.pmc4comb(), mmcr1.pmc4sel()),
        };
        let counter = (index as u32 & 3) + 1;
        let sel = u32::from(sel);
        let place = counter << 16 | u32::from(unit) << 12;
        if sel & KIND == BUS {
            return Selected::of_bus(place | sel, u32::from(comb));
        }
        // Sel 0 is off, whatever the unit. Drivers leave other fields as they were when they release a counter.
        let code = place | u32::from(comb) << 10 | sel;
        // One event is listed by a code with the lowest bit set; any other is listed without, and the bit asks for falling edges.
        let (code, entry, falls) = match find(code) {
            Some(entry) => (code, Some(entry), false),
            None => (code & !FALLS, find(code & !FALLS), code & FALLS != 0),
        };
        let entry = entry.filter(|_| sel & !FALLS != 0);
        Selected::with(code, [entry, None], Combination::One, falls)
    }

    fn with(code: u32, entries: [Option<Encoded>; 2], combination: Combination, falls: bool) -> Selected {
        let conditional = entries.iter().flatten().any(|entry| !entry.properties().lists.when.is_empty());
        Selected { code, entries: entries.map(|entry| entry.map(Encoded::encoding)), combination, falls, conditional }
    }

    /// An event of the bus, by its code without COMB.
    fn of_bus(code: u32, comb: u32) -> Selected {
        let falls = code & FALLS != 0;
        let code = code & !FALLS;
        let (combination, entries) = match comb {
            0b00 => (Combination::One, [find(code), None]),
            0b10 => (Combination::One, [find(code | SECOND), None]),
            0b01 => (Combination::And, [find(code), find(code | SECOND)]),
            _ => (Combination::Add, [find(code), find(code | SECOND)]),
        };
        Selected::with(code | if comb == 0b10 { SECOND } else { 0 }, entries, combination, falls)
    }

    /// Connects the counter's tap. Of a sum the bits whose conditions hold, `lanes`, are connected.
    pub(super) fn connect(&self, mmcr1: Mmcr1, lanes: u8, tap: &mut Tap) {
        let gate = match (self.combination, self.falls) {
            (Combination::And, false) => Gate::Both,
            (Combination::And, true) => Gate::BothFall,
            (_, true) => Gate::Falls,
            (_, false) => Gate::Sum,
        };
        tap.rewire(gate, Scope::Thread);
        for (entry, group) in self.pair().into_iter().zip(0..) {
            if group == 1 {
                tap.begin_second();
            }
            let Some(entry) = entry else { continue };
            if self.combination == Combination::Add && lanes >> group & 1 == 0 {
                continue;
            }
            entry.signals().iter().for_each(|signal| tap.connect(*signal));
            let properties = entry.properties();
            let prefetches = match properties.reloads {
                event::Reloads::None => false,
                event::Reloads::Data => mmcr1.dc_rld_qual(),
                event::Reloads::Instruction => mmcr1.ic_rld_qual(),
            };
            if prefetches {
                properties.lists.prefetches.iter().for_each(|signal| tap.connect(*signal));
            }
        }
    }

    /// The entries, with their tables.
    fn pair(&self) -> [Option<Encoded>; 2] {
        self.entries.map(|entry| entry.map(|encoding| event::POWER9.encodings.encoded(encoding)))
    }

    fn entries(&self) -> impl Iterator<Item = Encoded> + use<> {
        self.pair().into_iter().flatten()
    }

    /// What the model makes by itself, if that is selected. All but the ticks of the threshold counter are pulses of a cycle, apart from
    /// each other: they end as often as they come.
    pub(super) fn internal(&self) -> Option<Internal> {
        let [Some(entry), None] = self.pair() else { return None };
        match entry.properties().drive {
            Drive::Internal(Internal::ThresholdAccumulated) if self.falls => None,
            Drive::Internal(internal) => Some(internal),
            _ => None,
        }
    }

    /// The events of nested translation that are selected.
    fn nested_events(&self) -> impl Iterator<Item = NestedEvent> + use<> {
        self.entries().filter_map(|entry| match entry.properties().drive {
            Drive::Internal(Internal::Nested(event)) => Some(event),
            _ => None,
        })
    }

    /// Whether steps of nested translations are counted.
    pub(super) fn follows_nested(&self) -> bool {
        self.combination != Combination::And && self.nested_events().next().is_some()
    }

    /// What a step of a nested translation adds. In which cycles of it is not told, so that no two of its events can be compared.
    pub(super) fn nested(&self, step: &NestedStep) -> u64 {
        let amounts = self.nested_events().map(|event| event.amount(step));
        match (self.combination, self.falls) {
            (Combination::And, _) => 0,
            // A phase of any length ends once.
            (_, true) => amounts.map(|amount| amount.min(1)).max().unwrap_or(0),
            (_, false) => amounts.fold(0, u64::saturating_add),
        }
    }

    /// The tests and amounts of the events of the sampled instruction that are selected.
    pub(super) fn sampled(&self) -> impl Iterator<Item = (&'static [Test], Amount)> + use<> {
        self.entries().filter_map(|entry| match entry.properties().drive {
            Drive::Sampled { tests, amount } => Some((tests, amount)),
            _ => None,
        })
    }

    /// Whether the counter counts the cycles of both bits of the event bus together.
    pub(super) fn is_both(&self) -> bool {
        self.combination == Combination::And
    }

    /// Whether PMCxSEL is not 0: an event is selected, be it one that is only injected.
    pub(super) fn is_on(&self) -> bool {
        self.code & 0xFF != 0
    }

    /// Whether the selection is an event at all, and not PMCxSEL 0.
    pub(super) fn counts_something(&self) -> bool {
        self.entries().next().is_some()
    }

    /// The signal, if the counter grows by one signal alone.
    pub(super) fn lone_signal(&self) -> Option<Signal> {
        match (self.pair(), self.falls) {
            ([Some(entry), None], false) => match entry.signals() {
                [signal] => Some(*signal),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether falling edges are counted.
    pub(super) fn falls(&self) -> bool {
        self.falls
    }

    /// Whether it counts at some conditions only.
    pub(super) fn is_conditional(&self) -> bool {
        self.conditional
    }

    /// Whether a condition is about more than privilege and the run latch, or decides what is added up.
    pub(super) fn depends_on_more_than_privilege(&self) -> bool {
        let simple = |when: &When| {
            use When::{Adjunct, Application, Hypervisor, HypervisorBit, Privileged, Problem, Run, Supervisor};
            matches!(when, Run | Hypervisor | HypervisorBit | Problem | Privileged | Supervisor | Application | Adjunct)
        };
        let is_summed = self.combination == Combination::Add && self.is_conditional();
        is_summed || self.entries().any(|entry| !entry.properties().lists.when.iter().all(simple))
    }

    /// Whether the event is PM_CYC, which counts whatever the run latch (MMCR0\[FCWAIT], note 2).
    pub(super) fn is_cycles(&self) -> bool {
        matches!(self.pair(), [Some(entry), None] if entry.signals() == [Signal::Cycles] && entry.properties().lists.when.is_empty())
    }

    /// Whether an overflow by this event may be a synchronous interrupt (section 2.4.1.2).
    pub(super) fn is_synchronous(&self) -> bool {
        SYNCHRONOUS.contains(&self.code)
    }

    /// The bits of the event bus, of a direct event the first, whose conditions hold: one bit each.
    pub(super) fn lanes(&self, msr: Msr, control: ThreadControl, shared: Shared) -> u8 {
        if !self.conditional {
            return 0b11;
        }
        let holds = |entry: Option<Encoded>| {
            entry.is_none_or(|entry| entry.properties().lists.when.iter().all(|when| holds(*when, msr, control, shared)))
        };
        let [first, second] = self.pair().map(holds);
        u8::from(first) | u8::from(second) << 1
    }

    /// Whether the counter counts while the conditions of these bits hold.
    pub(super) fn admits(&self, lanes: u8) -> bool {
        match self.combination {
            Combination::One => lanes & 1 != 0,
            Combination::And => lanes == 0b11,
            Combination::Add => lanes != 0,
        }
    }

    /// Whether a change of the conditions changes what is added up.
    pub(super) fn connects_anew(&self, before: u8, now: u8) -> bool {
        self.combination == Combination::Add && before != now
    }

    /// Adds the signals of what is selected to `set`.
    pub(super) fn demand(&self, set: &mut SignalSet) {
        self.entries().flat_map(Encoded::signals).for_each(|signal| set.insert(*signal));
    }

    /// Whether what happened is what is selected, and if so whether it is an event or a cycle of a state, and whether it is of the second
    /// bit of the event bus.
    pub(super) fn takes(&self, occurrence: Occurrence) -> Option<(Kind, bool)> {
        let occurred = occurrence.select & !MARK;
        let matches = |code: u32| occurred == code || (code & KIND == BUS && occurred == code & !COUNTER);
        let kind = |entry: Option<Encoded>| entry.map_or(Kind::Event, Encoded::kind);
        let made = self.internal().is_some_and(|internal| !matches!(internal, Internal::Nested(_)));
        if !self.is_on() || made {
            return None;
        }
        let [first, second] = self.pair();
        if matches(self.code) {
            Some((kind(first), false))
        } else if self.combination != Combination::One && matches(self.code | SECOND) {
            Some((kind(second), true))
        } else {
            None
        }
    }
}

/// The events whose interrupts are synchronous: 15150h to 1515Ch, which PMC1 alone counts.
const SYNCHRONOUS: core::ops::RangeInclusive<u32> = 0x1_5050..=0x1_505C;

/// The event of this code, whether the list has it for one counter or for all, marked or not.
fn find(code: u32) -> Option<Encoded> {
    [code, code | MARK, code & !COUNTER, code & !COUNTER | MARK]
        .into_iter()
        .find_map(|code| event::POWER9.encodings.select(code))
        .map(Event::itself)
}

/// Whether a condition holds.
pub(super) fn holds(when: When, msr: Msr, control: ThreadControl, shared: Shared) -> bool {
    let members = match 1u32.checked_shl(u32::from(shared.threads)) {
        Some(bit) => bit.wrapping_sub(1),
        None => u32::MAX,
    };
    let running = shared.running & members;
    match when {
        When::Run => control.run(),
        When::Hypervisor => msr.hv() && !msr.pr(),
        When::HypervisorBit => msr.hv(),
        When::Problem => msr.pr(),
        When::Privileged => !msr.pr(),
        When::Supervisor => !msr.hv() && !msr.pr(),
        When::Application => !msr.hv() && msr.pr(),
        When::Adjunct => msr.hv() && msr.pr(),
        When::ExternalDisabled => !msr.ee(),
        When::ExternalPending => !msr.ee() && control.external_pending(),
        When::Transactional => msr.ts() == 0b10,
        When::Suspended => msr.ts() == 0b01,
        When::Radix => control.radix(),
        When::Hashed => !control.radix(),
        When::Priority(lower) => control.priority() & !1 == lower,
        When::AnyRun => running != 0,
        When::AllRun => running == members,
        When::Running(threads) => running.count_ones() == u32::from(threads),
        When::SingleThread => shared.threads <= 1,
        When::TwoThreads => shared.threads == 2,
        When::FourThreads => shared.threads >= 3,
    }
}

#[cfg(test)]
mod tests {
    use super::{BUS, KIND, Selected};
    use crate::event::POWER9;
    use crate::feed::{Kind, Signal, SignalSet};

    /// What the beginning of a counter that the thread's state has stopped rests on: such an event has no level that could be unknown.
    #[test]
    fn what_is_counted_in_a_state_of_the_thread_has_no_state_but_clocks() {
        // By counter, unit and select.
        let codes =
            (1..=4).flat_map(|counter| (0..1 << 16).map(move |rest| counter << 16 | rest)).filter(|code| code & (KIND | 0xF00) == BUS);
        let pairs = codes.flat_map(|code| (0..4).map(move |comb| Selected::of_bus(code, comb)));
        let mut conditional = 0;
        for selected in pairs.filter(Selected::is_conditional) {
            let mut signals = SignalSet::EMPTY;
            selected.demand(&mut signals);
            assert!(signals.iter().all(|signal| signal.kind() != Kind::State || signal.is_clock()), "{:x}", selected.code);
            conditional += 1;
        }
        let single = POWER9.entries.iter().filter(|entry| entry.offset.is_none() && !entry.when.is_empty());
        for entry in single.clone() {
            assert!(entry.signals.iter().all(|signal| signal.kind() != Kind::State || signal.is_clock()), "{}", entry.name);
        }
        assert!(conditional > 10 && single.count() > 20, "{conditional} pairs");
    }

    #[test]
    fn the_one_event_of_a_counter_that_counts_cycles_at_no_condition_is_pm_cyc() {
        let of_counters = || POWER9.entries.iter().filter(|entry| entry.offset.is_none());
        let mut cycles = of_counters().filter(|entry| entry.signals == [Signal::Cycles] && entry.when.is_empty());
        assert!(cycles.all(|entry| entry.name == "PM_CYC"));
        assert_eq!(of_counters().filter(|entry| entry.name == "PM_CYC" && entry.signals != [Signal::Cycles]).count(), 0);
    }
}
