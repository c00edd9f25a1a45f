//! The catalogue: what each PMU can count, and what drives it.
//!
//! The build makes the tables from the data files in `arch/events/`. It checks that names and encodings are unique, that every signal
//! exists, and that each approximate event states its rule.

mod drive;
mod encoding;
#[cfg(test)]
mod itanium;
#[cfg(test)]
mod knl;
mod metric;
#[cfg(test)]
mod montecito;
mod nested;
mod placing;
#[cfg(test)]
mod power9_nest;
mod reasons;

pub use drive::{Amount, Drive, Internal, Reloads, Test, When};
pub(crate) use encoding::{Encoded, Encoding, Encodings, Event, Row};
pub use metric::*;
pub use nested::NestedEvent;
pub use placing::{AllThreads, Attribution, Channel, CoherenceFilter, CounterSet, Extent, Initiator, Qualifiers};
pub use reasons::{Reason, Reasons};

use encoding::{Lists, NO_MASK, Properties};

use crate::feed::{FabricCommand, Flush, Scope, Signal, Stage, Traits, Unit};

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// How nearly the count of an event matches that of the real part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fidelity {
    /// An emulator that executes instructions knows the number, and an engine of this project reports it: no occurrence is missing, and
    /// nothing else counts.
    Exact,
    /// An engine, the companion or the model itself makes it, with a difference that the entry's rule states.
    Approximate,
    /// A signal or a record describes it, which only an embedder can supply: nothing in this project makes it.
    Embedder,
    /// No signal describes it; the embedder injects it by its encoding.
    Injected,
}

impl Fidelity {
    /// Every word, the best first.
    pub const ALL: [Fidelity; 4] = [Fidelity::Exact, Fidelity::Approximate, Fidelity::Embedder, Fidelity::Injected];

    /// The word in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Fidelity::Exact => "exact",
            Fidelity::Approximate => "approximate",
            Fidelity::Embedder => "embedder",
            Fidelity::Injected => "injected",
        }
    }
}

/// The modes of POWER9's nest collection that post an event: the groups of the POWER9 PMU User's Guide, section 6.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collection {
    /// The default mode only: group 0.
    Default,
    /// The flexible mode only: group 1.
    Flexible,
    /// Either, each at a separate offset: group 2.
    Both,
}

impl Collection {
    /// The word in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Collection::Default => "default",
            Collection::Flexible => "flexible",
            Collection::Both => "both",
        }
    }
}

/// The fields of a unit mask that has one bit of each to choose.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    /// The groups of bits.
    pub groups: &'static [u32],
    /// The occurrences that the part knows: one bit of each group.
    pub known: &'static [u32],
}

/// What the unit mask of an event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitMask {
    /// Nothing: it is ignored.
    None,
    /// A set: each bit adds the sub-event of that bit. A unit mask of several bits names their sum. If it has signals, they report
    /// the sum alone, and count where all of its bits are chosen.
    Set,
    /// A set whose members overlap: an occurrence counts once if the mask has any of its bits.
    Union,
    /// A number that names one sub-event; bits of it may be ignored, see [`Entry::is_chosen_by`].
    Ordinal,
    /// Groups of bits. An occurrence that the part knows counts when the mask has its bit in every group.
    Fields(&'static Fields),
    /// A set whose bits exclude: an occurrence counts if the mask has none of its bits.
    Excluding,
    /// A set, and bits that qualify it: an occurrence must have each qualifying bit that the mask has.
    Gated {
        /// The bits that qualify.
        gate: u32,
    },
}

impl UnitMask {
    /// Whether a counter programmed with `programmed` counts an occurrence described by `occurred`.
    ///
    /// For a set or an excluding one, `occurred` is the bit of the sub-event; for a union, the bits of all it belongs to; for fields, one
    /// bit a group; for a gated set, the bit of the sub-event and those that qualify it.
    #[must_use]
    pub fn admits(self, programmed: u32, occurred: u32) -> bool {
        match self {
            UnitMask::None => true,
            UnitMask::Set | UnitMask::Union => programmed & occurred != 0,
            UnitMask::Ordinal => programmed == occurred,
            UnitMask::Excluding => programmed & occurred == 0,
            UnitMask::Gated { gate } => programmed & occurred & !gate != 0 && programmed & gate & !occurred == 0,
            UnitMask::Fields(Fields { groups, known }) => {
                known.contains(&occurred) && groups.iter().all(|group| programmed & occurred & group != 0)
            }
        }
    }
}

/// An event, or one unit mask of an event.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: `EVENT`, or `EVENT.MASK`.
    pub name: &'static str,
    /// Names other tools know it by; of a unit mask, without the event's.
    pub aliases: &'static [&'static str],
    /// The unit of the part it belongs to.
    pub unit: &'static str,
    /// The event select; of an event that is posted to memory, its offset.
    pub select: u32,
    /// Where its count is posted, in bytes from the start of the region in memory: a multiple of 8. `None` where a counter is
    /// programmed.
    pub offset: Option<u32>,
    /// The modes of POWER9's nest collection in which it is posted (POWER9 PMU User's Guide, section 6.2); `None` outside the
    /// nest.
    pub collection: Option<Collection>,
    /// The unit mask, if the entry is one.
    pub umask: Option<u32>,
    /// The bits of a programmed unit mask that do not matter for it, where the event's unit mask is a number.
    pub ignored: u32,
    /// What the unit mask of the event means; `None` in the entry of a unit mask.
    pub shape: UnitMask,
    /// The counters that take it, one bit each, by their numbers.
    pub counters: u32,
    /// The set of events that it can only be counted with, where the part has such sets.
    pub set: CounterSet,
    /// To which thread an occurrence belongs, where threads take turns in a core.
    pub attribution: Attribution,
    /// Which thread or device began what it counts, where the part distinguishes them.
    pub initiator: Initiator,
    /// Whether a counter may count it for every thread of the core.
    pub all_threads: AllThreads,
    /// The qualifiers that can constrain it.
    pub qualifiers: Qualifiers,
    /// The channel of address ranges that constrains it.
    pub channel: Channel,
    /// Whether it can be constrained to cache lines in chosen states.
    pub by_line_state: bool,
    /// The most increments in one cycle.
    pub max_per_cycle: u32,
    /// Which threads it counts: its own, those of the core, or the package.
    pub scope: Scope,
    /// Which threads it counts for, where several share a unit.
    pub extent: Extent,
    /// Whether a counter may count it for every thread of the core, if its register says so (AnyThread).
    pub any_thread: bool,
    /// Whether it has a fixed counter. Its unit mask is then the number by which tools name it.
    pub fixed: bool,
    /// Whether it is a level that is added in every cycle.
    pub level: bool,
    /// The filter register that applies to it.
    pub filter: CoherenceFilter,
    /// The signals that the bits of an [excluding](UnitMask::Excluding) unit mask exclude, bit 0 first.
    pub classes: &'static [Signal],
    /// The unit of an increment.
    pub counts: Unit,
    /// How nearly the count matches the real part's. Of an event with unit masks it is the best of theirs.
    pub fidelity: Fidelity,
    /// The signals whose sum it is.
    pub signals: &'static [Signal],
    /// The signals whose sum is the number of times its state was entered, where there are such.
    pub edges: &'static [Signal],
    /// What makes the count, where it is not the sum of the signals.
    pub drive: Drive,
    /// The conditions on the thread's state that must all hold for it to count.
    pub when: &'static [When],
    /// The cache whose reloads it counts. The guest chooses whether prefetches are among them.
    pub reloads: Reloads,
    /// The signals that are added when all reloads are counted.
    pub prefetches: &'static [Signal],
    /// How the count differs, where it is not exact.
    pub rule: &'static str,
    /// What it counts, in one line.
    pub summary: &'static str,
    /// The section of the manual.
    pub section: &'static str,
    /// The first revision of the part that has it, or nothing.
    pub since: &'static str,
    /// Whether the manual's tables have it; what only the manual's prose names is not listed.
    pub listed: bool,
}

impl Entry {
    /// Whether a counter programmed with the unit mask `programmed` counts this sub-event; an event without its own unit mask is always
    /// counted.
    ///
    /// `shape` is that of the event. A sub-event of several bits of a set is one name for them: it is counted with all of them.
    ///
    /// ```
    /// use vm_pmu_arch::event;
    ///
    /// let (event, masks) = event::MONTECITO.select(0x58).unwrap();
    /// let chosen = masks.iter().filter(|mask| mask.is_chosen_by(0b1101, event.shape));
    /// assert!(chosen.map(|mask| mask.name).eq(["ALAT_CAPACITY_MISS.INT"]));
    /// ```
    #[must_use]
    pub fn is_chosen_by(&self, programmed: u32, shape: UnitMask) -> bool {
        is_chosen(self.umask, self.ignored, programmed, shape)
    }

    /// The event's own name, without that of a unit mask.
    #[must_use]
    pub fn event_name(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }

    /// The name of the unit mask, if the entry is one.
    #[must_use]
    pub fn mask_name(&self) -> Option<&'static str> {
        self.name.split_once('.').map(|(_, mask)| mask)
    }

    /// Whether both are one event of one unit, without their unit masks.
    fn is_same_event(&self, other: &Entry) -> bool {
        (self.name, self.unit, self.select, self.fixed) == (other.name, other.unit, other.select, other.fixed)
    }

    /// Whether `name` is its name or an alias, whatever the case.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let own = self.mask_name().unwrap_or(self.name);
        own.eq_ignore_ascii_case(name)
            || self.name.eq_ignore_ascii_case(name)
            || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }
}

/// Whether the unit mask `programmed` chooses the sub-event whose unit mask is `own`. In an ordinal the bits `ignored` do not matter.
fn is_chosen(own: Option<u32>, ignored: u32, programmed: u32, shape: UnitMask) -> bool {
    match (own, shape) {
        (None, _) => true,
        (Some(own), UnitMask::Ordinal | UnitMask::Excluding) => programmed & !ignored == own,
        (Some(own), _) => programmed & own == own,
    }
}

/// The bits of a select in a key of the index. The number of its unit is above them.
const SELECT_BITS: u32 = 24;
/// The highest select.
const MAX_SELECT: u32 = (1 << SELECT_BITS) - 1;

/// Every event of one PMU: each event is followed by its unit masks.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// The PMU's name.
    pub pmu: &'static str,
    /// The part's name.
    pub title: &'static str,
    /// The manual that the entries come from.
    pub manual: &'static str,
    /// The most increments in one cycle, of any event.
    pub max_per_cycle: u32,
    /// The units that have selects and names of their own, the thread's first; empty where all share one space.
    pub units: &'static [&'static str],
    /// What the models know of the entries.
    pub(crate) encodings: &'static Encodings,
    /// The entries.
    pub entries: &'static [Entry],
}

impl Catalogue {
    /// The catalogue of a part that has nothing to select.
    #[must_use]
    pub const fn without_events(pmu: &'static str, title: &'static str, manual: &'static str) -> Catalogue {
        Catalogue { pmu, title, manual, max_per_cycle: 1, units: &[], encodings: const { &Encodings::NONE }, entries: &[] }
    }

    /// What the part's manual computes from counts; nothing where it has no such metrics.
    ///
    /// ```
    /// use vm_pmu_arch::event;
    ///
    /// assert!(event::MONTECITO.metrics().iter().any(|metric| metric.name == "IA64_IPC"));
    /// assert!(event::K8.metrics().is_empty());
    /// ```
    #[must_use]
    pub fn metrics(&self) -> &'static [Metric] {
        metric::metrics_of(self.pmu)
    }

    /// The events, without their unit masks.
    pub fn events(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.entries.iter().filter(|entry| entry.umask.is_none())
    }

    /// The event with this select, of up to 24 bits, in a unit that has selects of its own, and its unit masks; `unit` counts through
    /// [`units`](Catalogue::units). What is posted has its offset for a select.
    ///
    /// ```
    /// use vm_pmu_arch::event::POWER9;
    ///
    /// let nest = POWER9.units.iter().position(|unit| *unit == "nest").unwrap();
    /// assert_eq!(POWER9.select_in(nest as u16, 0x80).unwrap().0.name, "PM_PB_CYC");
    /// ```
    #[must_use]
    pub fn select_in(&self, unit: u16, select: u32) -> Option<(&'static Entry, &'static [Entry])> {
        self.encodings.select_in(unit, select).and_then(|event| self.entries_of(event))
    }

    /// The event with this select, of up to 24 bits, and its unit masks; where units have selects of their own, that of the thread.
    #[must_use]
    pub fn select(&self, select: u32) -> Option<(&'static Entry, &'static [Entry])> {
        self.encodings.select(select).and_then(|event| self.entries_of(event))
    }

    /// The first of the selects that the event with this one has. An event may be [injected](crate::model::Model::inject) by any of them.
    #[must_use]
    pub fn first_select(&self, select: u32) -> u32 {
        self.encodings.first_select(select)
    }

    fn entries_of(&self, event: Event) -> Option<(&'static Entry, &'static [Entry])> {
        let (first, end) = event.span();
        self.entries.get(first..end)?.split_first()
    }

    /// The event with this name, whatever the case.
    ///
    /// ```
    /// use vm_pmu_arch::event;
    ///
    /// let event = event::K8.event_named("cpu_clk_unhalted").unwrap();
    /// assert_eq!(event.select, 0x76);
    /// ```
    #[must_use]
    pub fn event_named(&self, name: &str) -> Option<&'static Entry> {
        self.events_named(name).next()
    }

    /// The events with this name, whatever the case. Several units may have one of the same name; `unit::name` is that of one unit.
    fn events_named<'n>(&self, name: &'n str) -> impl Iterator<Item = &'static Entry> + use<'n> {
        let (unit, name) = name.split_once("::").map_or((None, name), |(unit, name)| (Some(unit), name));
        let is_of = move |entry: &&Entry| unit.is_none_or(|unit| entry.unit.eq_ignore_ascii_case(unit));
        self.events().filter(is_of).filter(move |entry| entry.is_called(name))
    }

    /// The event or unit mask with this name, `EVENT` or `EVENT.MASK`, whatever the case; an event may be called by an alias.
    ///
    /// ```
    /// use vm_pmu_arch::event;
    ///
    /// assert_eq!(event::MONTECITO.named("l2i_reads.miss.dmnd").unwrap().umask, Some(0b1001));
    /// assert_eq!(event::MONTECITO.named("BRANCH_EVENT").unwrap().name, "ETB_EVENT");
    /// ```
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'static Entry> {
        match name.split_once('.') {
            Some((event, mask)) if self.event_named(event).is_some() => {
                self.events_named(event).find_map(|event| self.masks(event).iter().find(|entry| entry.is_called(mask)))
            }
            _ => self.event_named(name),
        }
    }

    /// The words of `event`, each once, the best first: its own, or those of the unit masks that the manual's tables have.
    ///
    /// ```
    /// use vm_pmu_arch::event::{Fidelity, KNL};
    ///
    /// let event = KNL.event_named("MACHINE_CLEARS").unwrap();
    /// assert!(KNL.fidelities(event).any(|word| word == event.fidelity) && KNL.fidelities(event).any(|word| word == Fidelity::Embedder));
    /// ```
    pub fn fidelities(&self, event: &Entry) -> impl Iterator<Item = Fidelity> + use<> {
        let (own, masks) = (event.fidelity, if event.umask.is_none() { self.masks(event) } else { &[] });
        let has = move |word: Fidelity| word == own || masks.iter().any(|mask| mask.listed && mask.fidelity == word);
        Fidelity::ALL.into_iter().filter(move |word| has(*word))
    }

    /// The unit masks of `event`.
    #[must_use]
    pub fn masks(&self, event: &Entry) -> &'static [Entry] {
        match self.select(event.select) {
            Some((found, masks)) if found.is_same_event(event) => masks,
            // Another event has the select too.
            _ => {
                let after = self.entries.iter().position(|entry| entry.is_same_event(event)).and_then(|at| self.entries.get(at + 1..));
                let rest = after.unwrap_or(&[]);
                let end = rest.iter().position(|entry| entry.umask.is_none()).unwrap_or(rest.len());
                rest.get(..end).unwrap_or(&[])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_k8_has_the_events_and_unit_masks_of_its_manual() {
        let listed = || K8.entries.iter().filter(|entry| entry.listed);
        assert_eq!(listed().filter(|entry| entry.umask.is_none()).count(), 87);
        assert_eq!(listed().filter(|entry| entry.umask.is_some()).count(), 123);
    }

    #[test]
    fn a_set_admits_each_of_its_bits() {
        assert!(UnitMask::Set.admits(0b110, 0b010));
        assert!(!UnitMask::Set.admits(0b110, 0b001));
        assert!(!UnitMask::Set.admits(0, 0b001));
    }

    #[test]
    fn an_ordinal_admits_itself_only() {
        assert!(UnitMask::Ordinal.admits(3, 3));
        assert!(!UnitMask::Ordinal.admits(3, 1));
        assert!(UnitMask::Ordinal.admits(0, 0));
    }

    #[test]
    fn fields_admit_a_known_occurrence_with_a_bit_in_every_group() {
        let fields = UnitMask::Fields(&Fields { groups: &[0b0011, 0b1100], known: &[0b0101, 0b1010] });
        assert!(fields.admits(0b1111, 0b0101));
        assert!(!fields.admits(0b0111, 0b1010), "no bit of the second group");
        assert!(!fields.admits(0b1111, 0b1001), "not known");
    }

    #[test]
    fn a_gate_asks_the_occurrence_for_its_bit() {
        let gated = UnitMask::Gated { gate: 0b1000 };
        assert!(gated.admits(0b0011, 0b0001));
        assert!(gated.admits(0b0011, 0b1001), "what the mask does not ask for does not matter");
        assert!(gated.admits(0b1011, 0b1001));
        assert!(!gated.admits(0b1011, 0b0001));
        assert!(!gated.admits(0b1000, 0b1001), "no bit of the set");
    }

    #[test]
    fn an_event_without_unit_masks_admits_whatever_is_programmed() {
        assert!(UnitMask::None.admits(0x47, 0));
    }

    #[test]
    fn every_event_is_found_by_its_select_with_its_unit_masks() {
        for event in K8.events() {
            let (found, masks) = K8.select(event.select).expect("it is in the index");
            assert_eq!(found.name, event.name);
            assert!(masks.iter().all(|mask| mask.select == event.select && mask.umask.is_some()));
        }
        assert!(K8.select(0xFF).is_none());
        assert!(K8.select(0x1_0000).is_none());
    }
}
