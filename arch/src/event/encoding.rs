//! What a model must know of the events that its part counts: the catalogue without names and texts.
//!
//! The build makes these tables from the same data as the catalogue. A program that asks for no name links these alone.

#![cfg_attr(not(every_part), allow(dead_code, reason = "what parts share is partly unused where one of them is missing"))]

use core::fmt;

use super::{
    AllThreads, Attribution, Channel, CoherenceFilter, CounterSet, Drive, Extent, Initiator, MAX_SELECT, Qualifiers, Reloads, SELECT_BITS,
    UnitMask, When, is_chosen,
};
use crate::access::chosen;
use crate::feed::{Kind, Signal, Unit};

/// The events of one part.
#[derive(Debug)]
pub(crate) struct Encodings {
    /// The most increments in one cycle, of any event.
    pub(crate) max_per_cycle: u32,
    /// The units that have selects of their own, the thread's first; empty where all share one space.
    pub(crate) units: &'static [&'static str],
    /// The position in `rows` of each select from 0 to 255, counted from 1; 0 for a select without an event.
    pub(super) direct: &'static [u16; 256],
    /// One row a select, in the order of the keys.
    pub(super) rows: &'static [Row],
    /// Each further key of an event with its first key, in the order of the former.
    pub(super) also: &'static [(u32, u32)],
    /// Each event, followed by its unit masks; at the same positions as in the catalogue.
    pub(super) encodings: &'static [Encoding],
    /// The properties of the encodings.
    pub(super) properties: &'static [Properties],
    /// The signals of the encodings.
    pub(super) signals: &'static [Signal],
}

/// The position of one event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The number of the unit in bits 31:24, the select below.
    pub(super) key: u32,
    /// The position of the event among the encodings.
    pub(super) first: u16,
    /// How many unit masks follow it.
    pub(super) masks: u16,
}

/// An event, or one unit mask of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding {
    /// The unit mask, or [`NO_MASK`].
    pub(super) umask: u16,
    /// The position of its properties.
    pub(super) properties: u16,
    /// The position of its first signal. Its edges follow its signals.
    pub(super) first_signal: u16,
    /// How many signals it has.
    pub(super) signals: u8,
    /// How many edges it has.
    pub(super) edges: u8,
}

/// The unit mask of an encoding that is not of one.
pub(super) const NO_MASK: u16 = u16::MAX;

/// What several encodings have in common. Each combination is stored once. The fields are those of [`Entry`](super::Entry).
#[derive(Debug)]
pub(crate) struct Properties {
    pub(crate) shape: UnitMask,
    pub(crate) ignored: u16,
    pub(crate) counters: u32,
    pub(crate) set: CounterSet,
    pub(crate) attribution: Attribution,
    pub(crate) initiator: Initiator,
    pub(crate) all_threads: AllThreads,
    pub(crate) qualifiers: Qualifiers,
    pub(crate) channel: Channel,
    pub(crate) by_line_state: bool,
    pub(crate) max_per_cycle: u32,
    pub(crate) extent: Extent,
    pub(crate) any_thread: bool,
    pub(crate) level: bool,
    pub(crate) filter: CoherenceFilter,
    pub(crate) counts: Unit,
    pub(crate) reloads: Reloads,
    pub(crate) drive: Drive,
    pub(crate) lists: &'static Lists,
    pub(crate) since: &'static str,
}

/// The lists among the properties, which most encodings have empty.
#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) classes: &'static [Signal],
    pub(crate) when: &'static [When],
    pub(crate) prefetches: &'static [Signal],
}

/// An event that a select names.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    part: &'static Encodings,
    row: &'static Row,
}

/// An event or one of its unit masks.
#[derive(Clone, Copy)]
pub(crate) struct Encoded {
    part: &'static Encodings,
    encoding: &'static Encoding,
}

impl Encodings {
    /// No events.
    pub(super) const NONE: Encodings =
        Encodings { max_per_cycle: 1, units: &[], direct: &[0; 256], rows: &[], also: &[], encodings: &[], properties: &[], signals: &[] };

    /// The event with this select, of up to 24 bits, in a unit that has selects of its own.
    pub(crate) fn select_in(&'static self, unit: u16, select: u32) -> Option<Event> {
        let unit = u32::from(u8::try_from(unit).ok()?);
        (select <= MAX_SELECT).then_some(unit << SELECT_BITS | select).and_then(|key| self.at_key(key))
    }

    /// The event with this select, of up to 24 bits; where units have selects of their own, that of the thread.
    pub(crate) fn select(&'static self, select: u32) -> Option<Event> {
        self.select_in(0, select)
    }

    /// The first select of the thread's event that has this one; any other number is returned unchanged.
    pub(crate) fn first_select(&self, select: u32) -> u32 {
        let at = self.also.binary_search_by_key(&select, |(also, _)| *also).ok();
        at.and_then(|at| self.also.get(at)).map_or(select, |(_, first)| *first)
    }

    /// The events of a unit, in the order of their selects.
    pub(crate) fn of_unit(&'static self, unit: &str) -> &'static [Row] {
        let Some(rank) = self.units.iter().position(|other| *other == unit) else { return &[] };
        let is_before = |row: &Row, end: usize| ((row.key >> SELECT_BITS) as usize) < end;
        let [start, end] = [rank, rank + 1].map(|end| self.rows.partition_point(|row| is_before(row, end)));
        self.rows.get(start..end).unwrap_or(&[])
    }

    /// The event of a row.
    pub(crate) fn event(&'static self, row: &'static Row) -> Event {
        Event { part: self, row }
    }

    /// One of these encodings, joined with its tables.
    pub(crate) fn encoded(&'static self, encoding: &'static Encoding) -> Encoded {
        Encoded { part: self, encoding }
    }

    fn at_key(&'static self, key: u32) -> Option<Event> {
        let at = match usize::try_from(key).ok().and_then(|key| chosen(self.direct, key)) {
            Some(place) => usize::from(*place).checked_sub(1)?,
            None => self.rows.binary_search_by_key(&key, |row| row.key).ok()?,
        };
        self.rows.get(at).map(|row| self.event(row))
    }
}

impl Row {
    /// The select, in its unit.
    pub(crate) const fn select(&self) -> u32 {
        self.key & MAX_SELECT
    }
}

impl Event {
    /// The position of the event in the catalogue, and of what follows its unit masks.
    pub(super) fn span(self) -> (usize, usize) {
        let first = usize::from(self.row.first);
        (first, first + 1 + usize::from(self.row.masks))
    }

    /// Whether it has unit masks.
    pub(crate) const fn has_masks(self) -> bool {
        self.row.masks != 0
    }

    /// The event itself.
    pub(crate) fn itself(self) -> Encoded {
        self.part.encoded(self.part.encodings.get(self.span().0).unwrap_or(const { &Encoding::NONE }))
    }

    /// Its unit masks.
    pub(crate) fn masks(self) -> impl Iterator<Item = Encoded> + use<> {
        let (first, end) = self.span();
        self.part.encodings.get(first + 1..end).unwrap_or(&[]).iter().map(move |encoding| self.part.encoded(encoding))
    }

    /// Its unit masks, or the event itself where it has none.
    pub(crate) fn members(self) -> impl Iterator<Item = Encoded> + use<> {
        let itself = (!self.has_masks()).then(|| self.itself());
        itself.into_iter().chain(self.masks())
    }

    /// What the unit mask means.
    pub(crate) fn shape(self) -> UnitMask {
        self.itself().properties().shape
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:#x})", self.row.key)
    }
}

impl Encoding {
    const NONE: Encoding = Encoding { umask: NO_MASK, properties: 0, first_signal: 0, signals: 0, edges: 0 };
}

impl Encoded {
    /// Its row alone. [`Encodings::encoded`] joins it with its tables again.
    pub(crate) const fn encoding(self) -> &'static Encoding {
        self.encoding
    }

    /// The unit mask, if it is one.
    pub(crate) fn umask(self) -> Option<u32> {
        (self.encoding.umask != NO_MASK).then_some(u32::from(self.encoding.umask))
    }

    /// The signals whose sum it is.
    pub(crate) fn signals(self) -> &'static [Signal] {
        self.list(0, self.encoding.signals)
    }

    /// The signals whose sum is the number of times its state was entered.
    pub(crate) fn edges(self) -> &'static [Signal] {
        self.list(self.encoding.signals, self.encoding.edges)
    }

    fn list(self, from: u8, length: u8) -> &'static [Signal] {
        let start = usize::from(self.encoding.first_signal) + usize::from(from);
        self.part.signals.get(start..start + usize::from(length)).unwrap_or(&[])
    }

    /// Everything else.
    pub(crate) fn properties(self) -> &'static Properties {
        self.part.properties.get(usize::from(self.encoding.properties)).unwrap_or(const { &Properties::NONE })
    }

    /// Whether it counts cycles.
    pub(crate) fn is_of_cycles(self) -> bool {
        self.properties().counts == Unit::Cycles
    }

    /// Whether an occurrence is an event or a cycle of a state.
    pub(crate) fn kind(self) -> Kind {
        if self.is_of_cycles() { Kind::State } else { Kind::Event }
    }

    /// Whether a counter programmed with the unit mask `programmed` counts it: see [`Entry::is_chosen_by`](super::Entry::is_chosen_by).
    pub(crate) fn is_chosen_by(self, programmed: u32, shape: UnitMask) -> bool {
        is_chosen(self.umask(), u32::from(self.properties().ignored), programmed, shape)
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Encoded({:?}, {:?})", self.umask(), self.signals())
    }
}

impl Properties {
    /// Those of an event that nothing drives.
    const NONE: Properties = Properties {
        shape: UnitMask::None,
        ignored: 0,
        counters: 0,
        set: CounterSet::None,
        attribution: Attribution::Active,
        initiator: Initiator::Own,
        all_threads: AllThreads::Chosen,
        qualifiers: Qualifiers::empty(),
        channel: Channel::Demand,
        by_line_state: false,
        max_per_cycle: 0,
        extent: Extent::Thread,
        any_thread: false,
        level: false,
        filter: CoherenceFilter::None,
        counts: Unit::Events,
        reloads: Reloads::None,
        drive: Drive::Signals,
        lists: &Lists::NONE,
        since: "",
    };
}

impl Lists {
    pub(super) const NONE: Lists = Lists { classes: &[], when: &[], prefetches: &[] };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Catalogue;
    use crate::registry::{NAMES, Part};

    fn catalogues() -> impl Iterator<Item = &'static Catalogue> {
        NAMES.iter().filter_map(|name| Part::named(name)).map(Part::catalogue)
    }

    #[test]
    fn every_encoding_is_at_the_position_of_its_entry() {
        for catalogue in catalogues() {
            let part = catalogue.encodings;
            assert_eq!(part.encodings.len(), catalogue.entries.len(), "{}", catalogue.pmu);
            for (encoding, entry) in part.encodings.iter().zip(catalogue.entries) {
                let encoded = part.encoded(encoding);
                let own = encoded.properties();
                assert_eq!(encoded.umask(), entry.umask, "{}", entry.name);
                assert_eq!((encoded.signals(), encoded.edges()), (entry.signals, entry.edges), "{}", entry.name);
                assert_eq!(
                    (own.shape, own.counts, own.drive, own.since),
                    (entry.shape, entry.counts, entry.drive, entry.since),
                    "{}",
                    entry.name
                );
                assert_eq!(
                    (own.counters, own.set, own.max_per_cycle, u32::from(own.ignored), own.reloads, own.level),
                    (entry.counters, entry.set, entry.max_per_cycle, entry.ignored, entry.reloads, entry.level),
                    "{}",
                    entry.name
                );
                assert_eq!(
                    (own.attribution, own.initiator, own.all_threads, own.qualifiers, own.channel, own.by_line_state),
                    (entry.attribution, entry.initiator, entry.all_threads, entry.qualifiers, entry.channel, entry.by_line_state),
                    "{}",
                    entry.name
                );
                assert_eq!((own.extent, own.any_thread, own.filter), (entry.extent, entry.any_thread, entry.filter), "{}", entry.name);
                assert_eq!(
                    (own.lists.when, own.lists.classes, own.lists.prefetches),
                    (entry.when, entry.classes, entry.prefetches),
                    "{}",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn every_select_leads_to_an_event_that_has_it_and_to_its_unit_masks() {
        for catalogue in catalogues() {
            let part = catalogue.encodings;
            for row in part.rows {
                let (first, end) = part.event(row).span();
                let [event, masks @ ..] = &catalogue.entries[first..end] else { panic!("{row:?} has no event") };
                assert!(event.umask.is_none() && masks.iter().all(|mask| mask.umask.is_some()), "{}", event.name);
                assert!(row.key >> SELECT_BITS != 0 || part.first_select(row.select()) == event.select, "{}", event.name);
            }
        }
    }

    #[test]
    fn a_second_select_of_an_event_leads_to_the_first() {
        let part = Encodings { also: &[(0x10, 0x08), (0x20, 0x09)], ..Encodings::NONE };
        assert_eq!([0x10, 0x20, 0x08, 0x30].map(|select| part.first_select(select)), [0x08, 0x09, 0x08, 0x30]);
    }
}
