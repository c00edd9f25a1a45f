//! The data event-address registers: PMC11, PMD2, PMD3, PMD17 (section 6.2.7.4).

use super::file::{Captures, implemented};
use super::registers::{Pmc11, Pmd3, Pmd17};
use crate::feed::{Record, Traits, Translation};
use crate::ia64::{LoadTracker, slot};

/// The most cycles that the register shows.
const MOST_LATENCY: u32 = (1 << 12) - 1;
/// Bits of the unit mask of translation misses: which sources are captured.
const SOURCES: u8 = 0b1110;

/// The least latency of a cache miss that `umask` captures, if it captures any: the codes of public drivers. There is a gap below 512
/// cycles, so 7, which no driver uses, is taken as the code that continues the row.
const fn least_latency(umask: u8) -> Option<u32> {
    match umask {
        0..=7 => Some(4 << umask),
        8..=10 => Some(2 << umask),
        _ => None,
    }
}

/// Whether the settings of `pmc11` leave anything to capture, at the levels that it names.
pub(super) fn captures_anything(pmc11: Pmc11) -> bool {
    if pmc11.tlb() { pmc11.umask() & SOURCES != 0 } else { least_latency(pmc11.umask()).is_some() }
}

/// What there is to capture of an access.
struct Capture {
    address: u64,
    latency: u32,
    level: u8,
}

/// Captures what `pmc11` asks for of an access that its monitor and the data tag admit. Returns whether it did.
pub(super) fn capture(pmc11: Pmc11, record: &Record, tracker: &mut LoadTracker, captures: &mut Captures) -> bool {
    let found = if pmc11.tlb() { translation_miss(pmc11.umask(), record) } else { cache_miss(pmc11.umask(), record, tracker) };
    let Some(found) = found else { return false };
    let mut state = Pmd3::default();
    state.set_latency(found.latency.min(MOST_LATENCY) as u16);
    state.set_level(found.level);
    captures.data_address = implemented(found.address);
    captures.data_state = state;
    captures.instruction = instruction(record);
    true
}

/// PMD17: the instruction, if the access has one.
fn instruction(record: &Record) -> Pmd17 {
    let mut register = Pmd17::default();
    if !record.sample.traits.contains(Traits::REGISTER_STACK) {
        register.set_vl(true);
        register.set_slot(slot(record));
        register.set_bundle(implemented(record.address) >> 4);
    }
    register
}

fn cache_miss(umask: u8, record: &Record, tracker: &mut LoadTracker) -> Option<Capture> {
    let least = least_latency(umask)?;
    let memory = tracker.follow(record)?;
    (memory.latency >= least).then_some(Capture { address: memory.address, latency: memory.latency, level: 0 })
}

/// Any reference that the first-level buffer missed.
fn translation_miss(umask: u8, record: &Record) -> Option<Capture> {
    let memory = record.memory?;
    let level = match memory.translation {
        Translation::Hit(2) => 1,
        Translation::Walk => 2,
        Translation::Fault => 3,
        _ => return None,
    };
    (umask >> level & 1 == 1).then_some(Capture { address: memory.address, latency: 0, level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{DataSource, Memory};

    fn access(latency: u32, translation: Translation) -> Record {
        let memory = Memory { address: 0xC000_0000, size: 8, load: true, store: false, latency, source: DataSource::Cache(2), translation };
        Record { memory: Some(memory), slot: 1, ..Record::at(0x2000_0000_0000_1230) }
    }

    fn configured(tlb: bool, umask: u8) -> Pmc11 {
        let mut pmc11 = Pmc11::default();
        pmc11.set_tlb(tlb);
        pmc11.set_umask(umask);
        pmc11
    }

    fn captured(pmc11: Pmc11, record: &Record) -> Option<Captures> {
        let mut captures = Captures::default();
        capture(pmc11, record, &mut LoadTracker::default(), &mut captures).then_some(captures)
    }

    #[test]
    fn the_steps_of_latency_are_those_of_the_drivers() {
        let steps = [0, 1, 2, 3, 4, 5, 6, 8, 9, 10].map(least_latency);
        assert_eq!(steps, [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048].map(Some));
        assert_eq!(least_latency(15), None);
    }

    #[test]
    fn a_miss_is_captured_with_its_data_and_its_instruction() {
        let captures = captured(configured(false, 3), &access(32, Translation::Hit(1))).expect("it is long enough");
        assert_eq!(captures.read(2), 0xC000_0000);
        assert_eq!(captures.read(3), 32);
        assert_eq!(captures.read(17), 0x2000_0000_0000_1235);
    }

    #[test]
    fn a_miss_shorter_than_the_step_is_not_captured() {
        assert!(captured(configured(false, 3), &access(31, Translation::Hit(1))).is_none());
    }

    #[test]
    fn a_latency_beyond_the_register_is_shown_as_its_most() {
        let captures = captured(configured(false, 10), &access(1 << 13, Translation::Hit(1))).expect("it is long enough");
        assert_eq!(captures.read(3), 4095);
    }

    #[test]
    fn a_translation_miss_shows_what_served_it() {
        let level = |translation, umask| captured(configured(true, umask), &access(50, translation)).map(|captures| captures.read(3));
        assert_eq!(level(Translation::Hit(2), 0b0010), Some(1 << 62));
        assert_eq!(level(Translation::Walk, 0b0100), Some(2 << 62));
        assert_eq!(level(Translation::Fault, 0b1000), Some(3 << 62));
        assert_eq!(level(Translation::Fault, 0b0111), None);
        assert_eq!(level(Translation::Hit(1), 0b1111), None);
    }

    #[test]
    fn an_access_of_the_register_stack_has_no_instruction() {
        let mut record = access(40, Translation::Hit(1));
        record.sample.traits = Traits::REGISTER_STACK;
        let captures = captured(configured(false, 0), &record).expect("it is long enough");
        assert_eq!((captures.read(2), captures.read(17)), (0xC000_0000, 0));
    }
}
