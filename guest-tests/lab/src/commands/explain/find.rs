//! What a word means on a part.

use std::cell::OnceCell;

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::feed::Kind;
use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::{Part, Signal};

use super::meaning::{
    Code, Driven, EventMeaning, FieldMeaning, FieldRow, Meaning, MetricMeaning, POSTED, RegisterMeaning, SelectMeaning, SignalMeaning,
    Tested, UnitMask,
};
use super::{access, names_of};
use crate::commands::encode;
use crate::dialect::{self, names, sections, select};
use crate::entries::known::Known;
use crate::entries::{driven, placing};
use crate::number;
use crate::suite::{File, Index};

/// A field that a word names: one of a register's layout, or one within such a field.
struct Found {
    fields: &'static [Field],
    outer: &'static Field,
    name: String,
    field: Field,
    /// The registers that have it.
    members: Vec<&'static RegisterDescription>,
}

/// A part, and what is known of it.
pub(super) struct Place {
    part: Part,
    known: OnceCell<Known>,
    index: OnceCell<Index>,
}

impl Place {
    pub(super) fn new(part: Part) -> Place {
        Place { part, known: OnceCell::new(), index: OnceCell::new() }
    }

    /// What reports the signals of the part.
    fn known(&self) -> &Known {
        self.known.get_or_init(|| Known::of(self.part))
    }

    /// The litmus files about the part. They are parsed where a word means something here.
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of_suite(self.part))
    }

    /// Everything that `word` means here, registers first.
    pub(super) fn meanings(&self, word: &str) -> Vec<Meaning> {
        let mut found: Vec<Meaning> = self.registers(word).into_iter().map(|register| self.register(register)).collect();
        found.extend(self.events(word));
        found.extend(self.fields(word));
        found.extend(self.select(word));
        let metrics = self.part.catalogue().metrics().iter().filter(|metric| metric.name.eq_ignore_ascii_case(word));
        found.extend(metrics.map(|metric| {
            Meaning::Metric(MetricMeaning {
                pmu: self.part.name(),
                name: metric.name,
                summary: metric.summary,
                unit: metric.unit,
                formula: metric.formula,
                section: format!("{} {}", dialect::of(self.part).manual(), metric.table),
            })
        }));
        found
    }

    /// The registers that a word names: by name, by an address, or by the number of an address.
    fn registers(&self, word: &str) -> Vec<&'static RegisterDescription> {
        let registers = select::registers(self.part).iter();
        if let Some((space, text)) = word.split_once(':') {
            let address = select::address(space, text).ok().flatten();
            return registers.filter(|register| Some(register.address) == address).collect();
        }
        let number = number::parse(word);
        let is_numbered = |register: &&RegisterDescription| match register.address {
            Address::Msr(address) => number == Some(address.into()),
            Address::Spr(address) => number == Some(address.into()),
            _ => false,
        };
        registers.filter(|register| register.name.eq_ignore_ascii_case(word) || is_numbered(register)).collect()
    }

    fn register(&self, register: &'static RegisterDescription) -> Meaning {
        let numbering = dialect::of(self.part).numbering();
        let mut fields: Vec<&Field> = register.fields.iter().collect();
        fields.sort_by_key(|field| numbering.bit(field.low));
        let alike = select::registers(self.part).iter().filter(|other| other.fields == register.fields && other.name != register.name);
        Meaning::Register(RegisterMeaning {
            pmu: self.part.name(),
            name: register.name,
            address: select::address_word(register.address),
            place: register.address.to_string(),
            fields: fields.into_iter().map(|field| self.row(field.name.to_owned(), field)).collect(),
            alike: alike.map(|other| other.name).collect(),
            access: access::of(self.part, register),
            section: sections::of(self.part, register),
            litmus: tested(self.index().of_register(register.address), register.name),
        })
    }

    fn row(&self, name: String, field: &Field) -> FieldRow {
        let access = match field.access {
            _ if field.name == "Reserved" && field.access == FieldAccess::ReadWrite => "kept without effect",
            FieldAccess::ReadWrite => "read-write",
            FieldAccess::ReadOnly => "read-only",
            FieldAccess::Reserved => "reserved",
            FieldAccess::MustBeZero => "must be zero",
        };
        let bits = dialect::of(self.part).numbering().field(field.high, field.low);
        FieldRow { name, bits, access, summary: field.summary.trim() }
    }

    /// The fields that a word names, alone or behind the name of a register; those of registers of one layout are one.
    fn fields(&self, word: &str) -> Vec<Meaning> {
        let (owner, name) = match word.strip_suffix(']').and_then(|word| word.split_once('[')).or_else(|| word.rsplit_once('.')) {
            Some((owner, name)) => (Some(owner), name),
            None => (None, word),
        };
        let dialect = dialect::of(self.part);
        let mut found: Vec<Found> = Vec::new();
        for register in
            select::registers(self.part).iter().filter(|register| owner.is_none_or(|owner| register.name.eq_ignore_ascii_case(owner)))
        {
            for outer in register.fields.iter().filter(|field| field.name != "Reserved") {
                let all = std::iter::once((outer.name.to_owned(), *outer)).chain(dialect.within(register, outer));
                for (name, field) in all.filter(|(other, _)| key(other) == key(name)) {
                    match found.iter_mut().find(|one| one.fields == register.fields && one.field == field) {
                        Some(one) => one.members.push(register),
                        None => found.push(Found { fields: register.fields, outer, name, field, members: vec![register] }),
                    }
                }
            }
        }
        let meaning = |Found { outer, name, field, members, .. }: Found| {
            let first = *members.first()?;
            let set = if field.high == field.low { dialect.meaning(first, outer, field.mask()) } else { String::new() };
            let files = members.iter().flat_map(|register| self.index().of_field(register.address, &field));
            Some(Meaning::Field(FieldMeaning {
                pmu: self.part.name(),
                registers: members.iter().map(|register| register.name).collect(),
                set: if set == field.summary.trim() { String::new() } else { set },
                mask: format!("{:#x}", field.mask()),
                section: sections::of(self.part, first),
                litmus: tested(files, &name),
                field: self.row(name, &field),
            }))
        };
        found.into_iter().filter_map(meaning).collect()
    }

    /// The events that a word names or is the code of.
    fn events(&self, word: &str) -> Vec<Meaning> {
        let catalogue = self.part.catalogue();
        let (unit, plain) = word.split_once("::").map_or((None, word), |(unit, plain)| (Some(unit), plain));
        let mut entries: Vec<&'static Entry> = match code(plain) {
            Some(code) => self.of_code(code),
            None => {
                let of_unit = |entry: &&Entry| unit.is_none_or(|unit| entry.unit.eq_ignore_ascii_case(unit));
                let is_called = |entry: &&Entry| match (entry.umask, plain.split_once('.')) {
                    (None, _) => entry.is_called(plain),
                    (Some(_), Some((event, mask))) => entry.event_name().eq_ignore_ascii_case(event) && entry.is_called(mask),
                    (Some(_), None) => false,
                };
                catalogue.entries.iter().filter(of_unit).filter(is_called).collect()
            }
        };
        let mut taken = None;
        if entries.is_empty() && code(plain).is_none() {
            entries.extend(names::entry(self.part, word));
            // A name of another tool can be an event with several unit masks.
            taken = names::taken(self.part, word).ok().map(|taken| taken.text.into_owned()).filter(|text| text.contains(':'));
        }
        let mut groups: Vec<Vec<&'static Entry>> = Vec::new();
        for entry in entries {
            match groups.iter_mut().find(|group| group.iter().any(|other| (other.unit, other.name) == (entry.unit, entry.name))) {
                Some(group) => group.push(entry),
                None => groups.push(vec![entry]),
            }
        }
        groups.into_iter().filter_map(|group| self.event(&group, taken.clone())).collect()
    }

    /// The events with a code: a select, perf's unit mask above a select, or the part's own form of a code.
    fn of_code(&self, code: u64) -> Vec<&'static Entry> {
        let entries = self.part.catalogue().entries.iter();
        match self.part {
            Part::K8(_) | Part::Knl(_) if code <= 0xFF => {
                entries.filter(|entry| entry.umask.is_none() && !entry.fixed && u64::from(entry.select) == code).collect()
            }
            Part::K8(_) | Part::Knl(_) if code <= 0xFFFF => {
                let (umask, select) = (Some((code >> 8) as u32), code & 0xFF);
                let of_select: Vec<&Entry> = entries.filter(|entry| !entry.fixed && u64::from(entry.select) == select).collect();
                let exact: Vec<&Entry> = of_select.iter().copied().filter(|entry| entry.umask == umask).collect();
                // Several bits of a unit mask have no name together.
                if exact.is_empty() { of_select.into_iter().filter(|entry| entry.umask.is_none()).collect() } else { exact }
            }
            Part::K8(_) | Part::Knl(_) => Vec::new(),
            Part::Itanium(_) | Part::Montecito(_) => {
                entries.filter(|entry| entry.umask.is_none() && u64::from(entry.select) == code).collect()
            }
            Part::Power9(_) => {
                let listed: Vec<&Entry> = entries.filter(|entry| u64::from(entry.select) == code).collect();
                if !listed.is_empty() {
                    return listed;
                }
                // A code with further fields, or of another counter, is what MMCR1 then selects.
                let program = encode::program(self.part, &[format!("{code:#x}")]).unwrap_or_default();
                let event = program.into_iter().next().and_then(|one| one.event).unwrap_or_default();
                event.split(':').next().and_then(|name| self.part.catalogue().event_named(name)).into_iter().collect()
            }
        }
    }

    fn event(&self, group: &[&'static Entry], taken: Option<String>) -> Option<Meaning> {
        let entry = *group.first()?;
        let catalogue = self.part.catalogue();
        let dialect = dialect::of(self.part);
        let code = |entry: &&'static Entry| Code {
            code: dialect.code(entry).unwrap_or_else(|| {
                let above = if self.part.cpuid().is_some() && !entry.fixed { entry.umask.unwrap_or(0) } else { 0 };
                u64::from(above) << 8 | u64::from(entry.select)
            }),
            place: if entry.offset.is_some() { POSTED.to_owned() } else { dialect.place(&dialect.counters(entry)) },
        };
        // Every code of a name counts the same: a name that was asked for by one has them all.
        let all = catalogue.entries.iter().filter(|other| (other.unit, other.name, other.umask) == (entry.unit, entry.name, entry.umask));
        let masks = if entry.umask.is_none() { catalogue.masks(entry) } else { &[] };
        let signals = driven::signals(entry, catalogue);
        let words = driven::words(entry, &signals, &str::to_owned);
        let reported = match self.known().of_entry(entry) {
            none if none.is_empty() => self.known().by(&signals.iter().filter_map(|name| Signal::from_name(name)).collect::<Vec<_>>()),
            some => some,
        };
        let also = entry.aliases.iter().map(|alias| match entry.umask {
            Some(_) => format!("{}.{alias}", entry.event_name()),
            None => (*alias).to_owned(),
        });
        Some(Meaning::Event(EventMeaning {
            pmu: self.part.name(),
            unit: entry.unit,
            name: entry.name,
            taken,
            fixed: entry.fixed,
            codes: all.map(|entry| code(&entry)).collect(),
            summary: entry.summary,
            counts: entry.counts.word(),
            fidelity: entry.fidelity.word(),
            driven_by: match (words.is_empty(), reported.is_empty()) {
                (true, _) if entry.fidelity == Fidelity::Injected => "injection only: no signal describes it".to_owned(),
                (true, true) => "what its unit masks say".to_owned(),
                (true, false) => reported,
                (false, true) => words,
                (false, false) => format!("{words}; reported by {reported}"),
            },
            signals,
            rule: Some(entry.rule).filter(|rule| !rule.is_empty()),
            unit_masks: masks
                .iter()
                .filter_map(|mask| Some(UnitMask { umask: mask.umask?, name: mask.mask_name()?, summary: mask.summary }))
                .collect(),
            restrictions: placing::sentences(entry, catalogue),
            modifiers: dialect.modifiers(entry),
            section: format!("{} {}", dialect.manual(), entry.section),
            names: names::others(self.part, entry).map(str::to_owned).chain(also).collect(),
            perf: self.perf(entry),
            litmus: tested(self.index().of_event((entry.unit, entry.name)), entry.name),
        }))
    }

    /// How perf selects an entry by its code, in the drivers that Linux has.
    fn perf(&self, entry: &Entry) -> Option<String> {
        let umask = entry.umask.unwrap_or(0);
        match self.part {
            Part::K8(_) => Some(format!("r{umask:02x}{:02x}", entry.select)),
            Part::Knl(_) if entry.unit == "tile" && !entry.fixed => Some(format!("r{umask:02x}{:02x}", entry.select)),
            Part::Knl(_) if entry.unit == "tile" => Some(format!("cpu/event={:#x},umask={umask:#x}/", entry.select)),
            Part::Knl(_) => {
                let pmu = match entry.unit {
                    "edc-uclk" => "edc_uclk",
                    "edc-eclk" => "edc_eclk",
                    "mc-uclk" => "imc_uclk",
                    "mc-dclk" => "imc",
                    "cms" => "cha",
                    unit => unit,
                };
                Some(format!("uncore_{pmu}/event={:#x},umask={umask:#x}/", entry.select))
            }
            Part::Power9(_) if entry.offset.is_some() => None,
            Part::Power9(_) => Some(format!("r{:x}", entry.select)),
            Part::Itanium(_) | Part::Montecito(_) => None,
        }
    }

    /// The value of an event select.
    fn select(&self, word: &str) -> Vec<Meaning> {
        let name = match self.part {
            Part::K8(_) => "PerfEvtSel0",
            Part::Knl(_) => "IA32_PERFEVTSEL0",
            _ => return Vec::new(),
        };
        let Some(value) = code(word).filter(|value| (0x1_0000..1 << 32).contains(value)) else { return Vec::new() };
        let Ok(register) = select::register(self.part, name) else { return Vec::new() };
        let address = |register: &RegisterDescription| matches!(register.address, Address::Msr(number) if u64::from(number) == value);
        // A select without its enable, with reserved bits or with another register's address is hardly meant.
        let is_select = value >> 21 & 1 == 0 && value >> 22 & 1 == 1 && !select::registers(self.part).iter().any(address);
        let Some(selects) = dialect::of(self.part).notation(register, value).filter(|text| is_select && !text.starts_with("0x")) else {
            return Vec::new();
        };
        vec![Meaning::Select(SelectMeaning { pmu: self.part.name(), register: name, value: format!("{value:#x}"), selects })]
    }

    /// What a signal drives here, and the litmus files that report it.
    fn driven(&self, signal: Signal) -> (Driven, Vec<Tested>) {
        let entries = self.part.catalogue().entries.iter().filter(|entry| driven::sources(entry).contains(&signal));
        let mut events: Vec<&str> = entries.map(|entry| entry.name).collect();
        events.dedup();
        let driven = Driven { pmu: self.part.name(), reported_by: self.known().by(&[signal]), events };
        (driven, tested(self.index().of_signal(signal), signal.name()))
    }
}

/// What a signal drives in each of `places`; nothing if no signal has the name.
pub(super) fn signal(places: &[Place], word: &str) -> Option<Meaning> {
    let signal = Signal::from_name(&word.to_ascii_lowercase())?;
    let (drives, litmus): (Vec<_>, Vec<_>) = places.iter().map(|place| place.driven(signal)).unzip();
    Some(Meaning::Signal(SignalMeaning {
        name: signal.name(),
        number: signal.number().into(),
        summary: signal.summary(),
        of: match signal.kind() {
            Kind::Event => "event",
            Kind::State => "state",
            Kind::Level => "level",
        },
        drives: drives.into_iter().filter(|driven| !driven.events.is_empty()).collect(),
        litmus: litmus.concat(),
    }))
}

/// What spellings of a field's name have in common: drivers write FC56 for FC5-6.
fn key(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The number of a code: `0x76`, `r00c0` as perf has it, or digits.
fn code(word: &str) -> Option<u64> {
    let raw = word.strip_prefix('r').filter(|digits| !digits.is_empty()).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    raw.or_else(|| number::parse(word))
}

/// Files, those whose name or title has the name of what they test before others.
fn tested<'a>(files: impl Iterator<Item = &'a File>, name: &str) -> Vec<Tested> {
    let name = key(name);
    let mut all: Vec<Tested> = files
        .map(|file| Tested { file: file.path.clone(), title: file.litmus.title.clone(), section: file.litmus.section.clone() })
        .collect();
    all.sort_by_cached_key(|one| (!key(&format!("{} {}", one.file, one.title)).contains(&name), one.file.clone()));
    all.dedup();
    all
}

/// Every name that a word can be, for suggestions.
pub(super) fn known_names(places: &[Place]) -> Vec<String> {
    let mut names: Vec<String> = places.iter().flat_map(|place| names_of(place.part)).collect();
    names.extend(Signal::all().map(|signal| signal.name().to_owned()));
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_is_parsed_where_a_word_means_something() {
        // POWER9 PMU UG appendix A.3 has FC5-6; AMD's BKDG does not.
        let places = ["k8", "power9"].map(|name| Place::new(Part::named(name).unwrap()));
        let meanings = places.each_ref().map(|place| place.meanings("FC5-6").len());
        assert_eq!((meanings, places.each_ref().map(|place| place.index.get().is_some())), ([0, 1], [false, true]));
    }
}
