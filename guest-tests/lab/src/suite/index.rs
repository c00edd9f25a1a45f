//! Which litmus files access a register, set a field, select an event or report a signal.

use std::cell::OnceCell;
use std::collections::HashMap;

use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::event::{Entry, KNL};
use vm_pmu::arch::knl::untile::UnitId;
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::litmus::{NestStep, Step, UntileStep};
use vm_pmu::{Part, Signal};

use super::File;
use crate::dialect::{self, select};

/// An event or a unit mask: its unit and its name. What has several codes is one event.
pub type Key = (&'static str, &'static str);

/// The places of files, ascending.
type Places = Vec<usize>;

/// What the files of a suite about one part cover.
#[derive(Debug)]
pub struct Index {
    part: Part,
    files: Vec<File>,
    accessed: Accessed,
    /// Which files select events takes longest to find out, and not everybody asks for it.
    events: OnceCell<HashMap<Key, Places>>,
}

/// What files access and report.
#[derive(Debug, Default)]
struct Accessed {
    registers: HashMap<Address, Places>,
    /// By the highest and the lowest bit of a field.
    fields: HashMap<(Address, u8, u8), Places>,
    signals: HashMap<Signal, Places>,
}

impl Index {
    /// What `files` cover of `part`; all are about it.
    #[must_use]
    pub fn new(part: Part, files: Vec<File>) -> Index {
        let registers = registers(part);
        let mut accessed = Accessed::default();
        for (place, step) in steps(&files) {
            accessed.note(part, &registers, step, place);
        }
        Index { part, files, accessed, events: OnceCell::new() }
    }

    /// What the suite that the program carries covers of `part`.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu::arch::access::Address;
    /// use vm_pmu_lab::suite::Index;
    ///
    /// let index = Index::of_suite(Part::named("k8").unwrap());
    /// assert!(index.of_register(Address::Msr(0xC001_0004)).next().is_some());
    /// ```
    #[must_use]
    pub fn of_suite(part: Part) -> Index {
        Index::new(part, super::files(part))
    }

    /// The part.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// The files.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }

    fn at<'a>(&'a self, places: Option<&'a Places>) -> impl Iterator<Item = &'a File> {
        places.into_iter().flatten().filter_map(|place| self.files.get(*place))
    }

    /// The files that read or write the register at an address. RDPMC reads a counter.
    pub fn of_register(&self, address: Address) -> impl Iterator<Item = &File> {
        self.at(self.accessed.registers.get(&address))
    }

    /// The files that write a value other than zero into a field of the register at an address, or read one out of it.
    pub fn of_field(&self, address: Address, field: &Field) -> impl Iterator<Item = &File> {
        self.at(self.accessed.fields.get(&(address, field.high, field.low)))
    }

    /// The files that select an event or unit mask, have it occur without a signal, or look at the cell to which it is posted.
    pub fn of_event(&self, key: Key) -> impl Iterator<Item = &File> {
        let events = self.events.get_or_init(|| {
            let mut selected = Selected::new(self.part);
            steps(&self.files).for_each(|(place, step)| selected.note(step, place));
            selected.events
        });
        self.at(events.get(&key))
    }

    /// The files that report a signal, or ask what is demanded of it.
    pub fn of_signal(&self, signal: Signal) -> impl Iterator<Item = &File> {
        self.at(self.accessed.signals.get(&signal))
    }
}

/// The statements of files, each with the place of its file.
fn steps(files: &[File]) -> impl Iterator<Item = (usize, &Step)> {
    files.iter().enumerate().flat_map(|(place, file)| file.litmus.steps.iter().map(move |(_, step)| (place, step)))
}

/// The registers of a part by their addresses.
fn registers(part: Part) -> HashMap<Address, &'static RegisterDescription> {
    select::registers(part).iter().map(|register| (register.address, register)).collect()
}

/// The address of the register that a statement accesses, and the value, where one is written or read.
fn access(part: Part, step: &Step) -> Option<(Address, Option<u64>)> {
    let (address, value) = match step {
        Step::Write(address, value, _) => (*address, Some(*value)),
        Step::Read(address, value) => (*address, value.ok()),
        Step::Untile(UntileStep::Read(place, value) | UntileStep::Write(place, value)) => {
            let offset = place.offset & !3;
            let address = Address::Pci(PciAddress { bus: place.bus, device: place.device, function: place.function, offset });
            (address, Some(u64::from(*value) << (8 * (place.offset & 3))))
        }
        _ => return None,
    };
    Some((behind(part, address), value))
}

impl Accessed {
    fn note(&mut self, part: Part, registers: &HashMap<Address, &'static RegisterDescription>, step: &Step, place: usize) {
        match step {
            Step::Feed(_, signals) | Step::Record(_, _, signals) | Step::Devices(signals) => {
                signals.iter().for_each(|(signal, _)| note(&mut self.signals, *signal, place));
            }
            Step::Demand(signals, _) => signals.iter().for_each(|signal| note(&mut self.signals, *signal, place)),
            Step::Deadline(signal, _) => note(&mut self.signals, *signal, place),
            _ => {}
        }
        let Some((address, value)) = access(part, step) else { return };
        let Some(register) = registers.get(&address) else { return };
        note(&mut self.registers, address, place);
        let Some(value) = value else { return };
        for field in register.fields.iter().filter(|field| field.of(value) != 0) {
            note(&mut self.fields, (address, field.high, field.low), place);
            for (_, inner) in dialect::of(part).within(register, field).iter().filter(|(_, inner)| inner.of(value) != 0) {
                note(&mut self.fields, (address, inner.high, inner.low), place);
            }
        }
    }
}

/// Which files select which events, while it is found out.
struct Selected {
    part: Part,
    events: HashMap<Key, Places>,
    registers: HashMap<Address, &'static RegisterDescription>,
    /// The events and unit masks by their names in small letters: a unit mask is `event.mask`.
    names: HashMap<String, Vec<Key>>,
    /// The events and unit masks of each code: an event can have two names.
    twins: HashMap<Code, Vec<Key>>,
    /// What values of registers select.
    selected: HashMap<(Address, u64), Vec<Key>>,
}

impl Selected {
    fn new(part: Part) -> Selected {
        let mut names: HashMap<String, Vec<Key>> = HashMap::new();
        let twins = twins(part);
        for entry in part.catalogue().entries {
            let keys = names.entry(entry.name.to_ascii_lowercase()).or_default();
            for key in twins.get(&code(entry)).into_iter().flatten() {
                if !keys.contains(key) {
                    keys.push(*key);
                }
            }
        }
        Selected { part, events: HashMap::new(), registers: registers(part), names, twins, selected: HashMap::new() }
    }

    fn note(&mut self, step: &Step, place: usize) {
        match step {
            Step::Inject(occurrence, _) => self.occurs(self.part.catalogue().select(occurrence.select), occurrence.umask, place),
            Step::Untile(
                UntileStep::Happen { unit, select, umask, .. }
                | UntileStep::Queue { unit, select, umask, .. }
                | UntileStep::SetQueue { unit, select, umask, .. },
            ) => self.occurs(in_box(*unit, *select), u32::from(*umask), place),
            Step::Nest(NestStep::Happen(event, _)) => self.posted(event.offset(), place),
            Step::Nest(NestStep::Register(cell, _)) => self.posted(*cell, place),
            _ => {}
        }
        let Some((address, Some(value))) = access(self.part, step) else { return };
        let Some(register) = self.registers.get(&address).copied() else { return };
        if !self.selected.contains_key(&(address, value)) {
            let keys = self.selects(register, value);
            self.selected.insert((address, value), keys);
        }
        for key in self.selected.get(&(address, value)).into_iter().flatten() {
            note(&mut self.events, *key, place);
        }
    }

    /// What is posted to a cell of the nest's region occurs, or is looked at.
    fn posted(&mut self, offset: u32, place: usize) {
        let found = self.part.catalogue().events().find(|entry| entry.unit == "nest" && entry.offset == Some(offset));
        self.occurs(found.map(|entry| (entry, &[] as &[Entry])), 0, place);
    }

    fn occurs(&mut self, found: Option<(&'static Entry, &'static [Entry])>, umask: u32, place: usize) {
        let Some((event, masks)) = found else { return };
        let of_mask = masks.iter().find(|mask| mask.umask == Some(umask));
        for entry in [Some(event), of_mask].into_iter().flatten() {
            for key in self.twins.get(&code(entry)).into_iter().flatten() {
                note(&mut self.events, *key, place);
            }
        }
    }

    /// The events and unit masks that a register selects while it holds a value.
    fn selects(&self, register: &RegisterDescription, value: u64) -> Vec<Key> {
        let notation = dialect::of(self.part).notation(register, value).unwrap_or_default();
        let mut keys = Vec::new();
        for text in notation.split(' ') {
            let (place, plain) = text.split_once("::").map_or((None, text), |(place, plain)| (Some(place), plain));
            let mut words = plain.split(':');
            let whole = words.next().unwrap_or_default().to_ascii_lowercase();
            let event = whole.split('.').next().unwrap_or_default().to_owned();
            let masks = words.map(|word| format!("{event}.{}", word.to_ascii_lowercase()));
            for name in [event.clone(), whole].into_iter().chain(masks) {
                let found = self.names.get(&name).into_iter().flatten().filter(|(unit, _)| is_at(place, unit));
                for key in found {
                    if !keys.contains(key) {
                        keys.push(*key);
                    }
                }
            }
        }
        keys
    }
}

/// What programs an entry: its unit, select, unit mask and whether that is on a fixed counter.
type Code = (&'static str, u32, Option<u32>, bool);

fn code(entry: &Entry) -> Code {
    (entry.unit, entry.select, entry.umask, entry.fixed)
}

/// The events and unit masks of each code.
fn twins(part: Part) -> HashMap<Code, Vec<Key>> {
    let mut twins: HashMap<Code, Vec<Key>> = HashMap::new();
    for entry in part.catalogue().entries {
        let keys = twins.entry(code(entry)).or_default();
        if !keys.contains(&(entry.unit, entry.name)) {
            keys.push((entry.unit, entry.name));
        }
    }
    twins
}

fn note<K: std::hash::Hash + Eq>(map: &mut HashMap<K, Places>, key: K, place: usize) {
    let places = map.entry(key).or_default();
    // Files are gone through in their order.
    if places.last() != Some(&place) {
        places.push(place);
    }
}

/// Whether events of `unit` are counted at the box that stands before an event; without one the thread counts.
fn is_at(place: Option<&str>, unit: &str) -> bool {
    match place {
        None => !KNL.units.contains(&unit) || unit == "tile",
        Some(place) => match UnitId::named(place) {
            Some(id) => unit == "cms" || id.kind().unit() == unit,
            None => place.eq_ignore_ascii_case(unit),
        },
    }
}

/// The event with this select in a box: selects from 80h up are those of the mesh stop.
fn in_box(unit: UnitId, select: u8) -> Option<(&'static Entry, &'static [Entry])> {
    let name = if select >= 0x80 { "cms" } else { unit.kind().unit() };
    let rank = KNL.units.iter().position(|other| *other == name)?;
    KNL.select_in(u16::try_from(rank).ok()?, select.into())
}

/// The register that an access by another instruction leads to: RDPMC names counters by their index.
fn behind(part: Part, address: Address) -> Address {
    const FIXED: u32 = 1 << 30;
    match (part, address) {
        (Part::K8(_), Address::Rdpmc(index)) => Address::Msr(0xC001_0004u32.saturating_add(index)),
        (Part::Knl(_), Address::Rdpmc(index)) if index & FIXED == 0 => Address::Msr(0xC1u32.saturating_add(index)),
        (Part::Knl(_), Address::Rdpmc(index)) => Address::Msr(0x309u32.saturating_add(index & !FIXED)),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title: T\npmu: k8\nsection: S\n\nwrite PerfEvtSel0 0x5302e0\nread rdpmc:1 = 0\nfeed cycles=1\ninject 0x76 2\n";

    fn index() -> Index {
        let part = Part::named("k8").unwrap();
        Index::new(part, vec![File { path: "k8/t.litmus".to_owned(), litmus: TEXT.parse().unwrap() }])
    }

    #[test]
    fn registers_are_those_that_are_accessed_by_whatever_instruction() {
        let index = index();
        let accessed = |number| index.of_register(Address::Msr(number)).count();
        assert_eq!([0xC001_0000, 0xC001_0001, 0xC001_0004, 0xC001_0005].map(accessed), [1, 0, 0, 1]);
    }

    #[test]
    fn fields_are_those_that_hold_something() {
        let index = index();
        // 5302e0h: event E0h, unit mask 02h, USR, OS, INT, EN; neither E nor INV.
        let register = select::register(Part::named("k8").unwrap(), "PerfEvtSel0").unwrap();
        let set = |low: u8| {
            let field = register.fields.iter().find(|field| field.low == low).unwrap();
            index.of_field(register.address, field).count()
        };
        assert_eq!([0, 8, 16, 17, 18, 20, 22, 23].map(set), [1, 1, 1, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn events_are_those_that_are_selected_or_occur() {
        let index = index();
        let part = Part::named("k8").unwrap();
        let (event, masks) = part.catalogue().select(0xE0).unwrap();
        let (second, other) = (masks.iter().find(|mask| mask.umask == Some(2)), masks.iter().find(|mask| mask.umask == Some(1)));
        let count = |entry: &Entry| index.of_event((entry.unit, entry.name)).count();
        assert_eq!((count(event), second.map(count), other.map(count)), (1, Some(1), Some(0)));
        assert_eq!(index.of_event(("core", "CPU_CLK_UNHALTED")).count(), 1);
    }

    #[test]
    fn an_event_with_two_names_is_selected_by_both() {
        // Itanium: select 08h is IA64_INST_RETIRED, and with unit mask 3 also IA64_TAGGED_INST_RETIRED.PMC8.
        let text = "title: T\npmu: itanium\nsection: S\n\nwrite PMC4 0x00030801\n";
        let part = Part::named("itanium").unwrap();
        let index = Index::new(part, vec![File { path: "itanium/t.litmus".to_owned(), litmus: text.parse().unwrap() }]);
        for name in ["IA64_INST_RETIRED", "IA64_TAGGED_INST_RETIRED", "IA64_TAGGED_INST_RETIRED.PMC8"] {
            assert_eq!(index.of_event(("basic", name)).count(), 1, "{name}");
        }
        assert_eq!(index.of_event(("basic", "IA64_TAGGED_INST_RETIRED.PMC9")).count(), 0);
    }

    #[test]
    fn signals_are_those_that_are_reported() {
        assert_eq!(index().of_signal(Signal::Cycles).count(), 1);
        assert_eq!(index().of_signal(Signal::BranchesRetired).count(), 0);
    }
}
