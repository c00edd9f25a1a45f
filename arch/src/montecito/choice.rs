//! What a counter's register selects: a function of all of them, since some events are counted in some counters only, and some of them
//! only together with others.
//!
//! Montecito manual, sections 3.3.3, 4.8.2 and 4.8.4. Where the manual leaves a count undefined, the counter counts nothing.

use super::file::Configuration;
use super::registers::{COUNTERS, Pmc};
use crate::event::{self, AllThreads, CounterSet, Event};
use crate::feed::LineStates;
use crate::ia64::{Choice, FIRST, InstructionSets, Monitor, Selected};

/// The first of the banked counters, which stand still while their thread is in the background (section 3.3.2).
const FIRST_BANKED: usize = 10;
/// The counter whose event chooses the set of events of the first-level data cache.
const L1_DATA_MASTER: usize = 5;

/// L2D_OZQ_CANCELS0 and L2D_OZQ_CANCELS1: one of them is measured at a time (section 4.15, their notes).
const CANCELS: [u8; 2] = [0xE0, 0xE2];

/// The counter whose event chooses the set of events of the second-level data cache, and their unit mask, for counter `number`.
const fn l2_data_master(number: usize) -> Option<usize> {
    match number {
        4 | 5 | 8 => Some(4),
        6 | 7 | 9 => Some(6),
        _ => None,
    }
}

/// When a counter counts.
pub(super) fn monitor(pmc: Pmc) -> Monitor {
    Monitor { plm: pmc.plm(), pm: pmc.pm(), sets: InstructionSets::only(pmc.ism()) }
}

fn event(pmc: Pmc) -> Option<Event> {
    event::MONTECITO.encodings.select(u32::from(pmc.es()))
}

/// What counter `number` counts: nothing where the restrictions forbid it.
pub(super) fn selected(configuration: &Configuration, number: usize) -> Selected {
    choice(configuration, number).map_or_else(Selected::default, |choice| Selected::new(event::MONTECITO.encodings, choice))
}

/// What counter `number` selects where it may be counted, and the register that has its unit mask.
fn placed(configuration: &Configuration, number: usize) -> Option<(Event, Pmc)> {
    let own = configuration.counter(number);
    let selected = event(own)?;
    let properties = selected.itself().properties();
    let set_of = |number| event(configuration.counter(number)).map(|event| event.itself().properties().set);
    let master = match properties.set {
        CounterSet::None => own,
        set @ CounterSet::L1Data(_) => {
            (set_of(L1_DATA_MASTER) == Some(set)).then_some(())?;
            own
        }
        set @ CounterSet::L2Data(_) => {
            let master = l2_data_master(number)?;
            (set_of(master) == Some(set)).then_some(())?;
            configuration.counter(master)
        }
    };
    (properties.counters >> number & 1 == 1).then_some((selected, master))
}

/// Whether counters measure both events of which one may be measured, `own` being a register that selects the one.
fn is_excluded(configuration: &Configuration, own: Pmc) -> bool {
    let other = match CANCELS {
        [one, other] if own.es() == one => other,
        [other, one] if own.es() == one => other,
        _ => return false,
    };
    (FIRST..).take(COUNTERS).any(|number| {
        let pmc = configuration.counter(number);
        pmc.es() == other && monitor(pmc).can_count() && placed(configuration, number).is_some()
    })
}

fn choice(configuration: &Configuration, number: usize) -> Option<Choice> {
    let own = configuration.counter(number);
    let (event, master) = placed(configuration, number).filter(|_| !is_excluded(configuration, own))?;
    let umask = u32::from(master.umask());
    let picked = event.masks().find(|mask| mask.is_chosen_by(umask, event.shape())).unwrap_or(event.itself());
    let banked = number >= FIRST_BANKED;
    let all = match picked.properties().all_threads {
        AllThreads::Chosen => master.all(),
        AllThreads::Always => true,
        AllThreads::Never => false,
    };
    Some(Choice {
        event: u32::from(own.es()),
        umask,
        threshold: own.threshold(),
        all: all && !banked,
        states: LineStates::from_bits_truncate(own.mesi()),
        banked,
    })
}
