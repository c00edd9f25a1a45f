//! What a counter's register selects. Events that come more than three times a cycle are counted by PMC/PMD4 and 5 only; elsewhere they
//! count nothing.

use super::file::Configuration;
use super::registers::Pmc;
use crate::event;
use crate::feed::LineStates;
use crate::ia64::{Choice, InstructionSets, Monitor, Selected};

/// The instruction sets that `ism` leaves: bit 0 shuts IA-64 out, bit 1 IA-32.
pub(super) const fn sets(ism: u8) -> InstructionSets {
    InstructionSets::Of([ism & 0b01 == 0, ism & 0b10 == 0])
}

/// When a counter counts.
pub(super) fn monitor(pmc: Pmc) -> Monitor {
    Monitor { plm: pmc.plm(), pm: pmc.pm(), sets: sets(pmc.ism()) }
}

/// What counter `number` counts.
pub(super) fn selected(configuration: &Configuration, number: usize) -> Selected {
    let pmc = configuration.counter(number);
    let event = u32::from(pmc.es());
    let is_allowed =
        event::ITANIUM.encodings.select(event).is_some_and(|event| event.itself().properties().counters >> (number & 31) & 1 == 1);
    if !is_allowed {
        return Selected::default();
    }
    let choice =
        Choice { event, umask: u32::from(pmc.umask()), threshold: pmc.threshold(), all: false, states: LineStates::all(), banked: false };
    Selected::new(event::ITANIUM.encodings, choice)
}
