//! What of a part is tested and how: rules, registers, fields and events, and what is not modelled.
//!
//! The command `pmulab conformance` and the book's page show the same.

use serde::Serialize;
use vm_pmu::Part;
use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::layout::{Field, FieldAccess};

use crate::dialect::select;
use crate::suite::{File, Index};

/// What of one part is tested.
#[derive(Clone, Debug, Serialize)]
pub struct Conformance {
    /// The PMU.
    pub pmu: &'static str,
    /// The part.
    pub title: &'static str,
    /// The rules with a litmus file, by the section that they cite.
    pub rules: Vec<Cited>,
    /// The registers that a litmus file reads or writes.
    pub registers: Covered,
    /// The fields that a litmus file sets, or sees set. Registers of one layout have their fields together.
    pub fields: Covered,
    /// The events and unit masks that a litmus file selects, or that occur in one.
    pub selected: Covered,
    /// The events and unit masks of the manual's tables, by how nearly they count what the part does.
    pub fidelity: Counts,
    /// The same by the section of the manual, in its order.
    pub sections: Vec<Section>,
    /// What no signal describes, and what nothing in this project supplies.
    pub not_modelled: NotModelled,
}

/// The rules that cite a section.
#[derive(Clone, Debug, Serialize)]
pub struct Cited {
    /// The section of a manual, or another source.
    pub section: String,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// A rule with its litmus file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Rule {
    /// The rule.
    pub title: String,
    /// Its file within the suite.
    pub file: String,
}

/// How many of some things litmus files have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// How many there are.
    pub all: usize,
    /// How many are covered.
    pub covered: usize,
    /// The others.
    pub missing: Vec<String>,
}

/// How many events and unit masks are of each word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Counted as the part does.
    pub exact: usize,
    /// Counted by a rule that comes near.
    pub approximate: usize,
    /// Counted if an embedder supplies a signal or a record.
    pub embedder: usize,
    /// Counted if an embedder injects it.
    pub injected: usize,
}

/// The events of a section of the manual.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The section.
    pub section: &'static str,
    /// By how nearly they count.
    #[serde(flatten)]
    pub fidelity: Counts,
    /// How many of them a litmus file selects.
    pub selected: usize,
}

/// The names of the events and unit masks that no engine or companion counts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NotModelled {
    /// There is a signal or a record, which only an embedder supplies.
    pub embedder: Vec<&'static str>,
    /// There is no signal.
    pub injected: Vec<&'static str>,
}

impl Covered {
    fn note(&mut self, name: &str, is_covered: bool) {
        self.all += 1;
        if is_covered {
            self.covered += 1;
        } else {
            self.missing.push(name.to_owned());
        }
    }
}

impl Counts {
    fn note(&mut self, fidelity: Fidelity) {
        *match fidelity {
            Fidelity::Exact => &mut self.exact,
            Fidelity::Approximate => &mut self.approximate,
            Fidelity::Embedder => &mut self.embedder,
            Fidelity::Injected => &mut self.injected,
        } += 1;
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> usize {
        self.exact + self.approximate + self.embedder + self.injected
    }
}

impl Conformance {
    /// What `index` has of its part.
    ///
    /// ```
    /// use vm_pmu::Part;
    /// use vm_pmu_lab::conformance::Conformance;
    /// use vm_pmu_lab::suite::Index;
    ///
    /// let found = Conformance::of(&Index::of_suite(Part::named("k8").unwrap()));
    /// assert_eq!((found.registers.all, found.registers.covered), (8, 8));
    /// ```
    #[must_use]
    pub fn of(index: &Index) -> Conformance {
        let part = index.part();
        let mut found = Conformance {
            pmu: part.name(),
            title: part.catalogue().title,
            rules: cited(index.files()),
            registers: Covered::default(),
            fields: fields(part, index),
            selected: Covered::default(),
            fidelity: Counts::default(),
            sections: Vec::new(),
            not_modelled: NotModelled::default(),
        };
        for register in select::registers(part) {
            found.registers.note(register.name, index.of_register(register.address).next().is_some());
        }
        for entry in listed(part) {
            let is_selected = index.of_event((entry.unit, entry.name)).next().is_some();
            found.selected.note(entry.name, is_selected);
            found.fidelity.note(entry.fidelity);
            match entry.fidelity {
                Fidelity::Embedder => found.not_modelled.embedder.push(entry.name),
                Fidelity::Injected => found.not_modelled.injected.push(entry.name),
                Fidelity::Exact | Fidelity::Approximate => {}
            }
            let at = found.sections.iter().position(|section| section.section == entry.section).unwrap_or_else(|| {
                found.sections.push(Section { section: entry.section, fidelity: Counts::default(), selected: 0 });
                found.sections.len() - 1
            });
            if let Some(section) = found.sections.get_mut(at) {
                section.fidelity.note(entry.fidelity);
                section.selected += usize::from(is_selected);
            }
        }
        found.selected.missing.dedup();
        found
    }
}

/// The events and unit masks that the manual's tables have.
fn listed(part: Part) -> impl Iterator<Item = &'static Entry> {
    part.catalogue().entries.iter().filter(|entry| entry.listed)
}

/// The rules of files, by their sections.
fn cited(files: &[File]) -> Vec<Cited> {
    let mut rows: Vec<(String, Rule)> = files
        .iter()
        .map(|file| (file.litmus.section.clone(), Rule { title: file.litmus.title.clone(), file: file.path.clone() }))
        .collect();
    rows.sort();
    let mut sections: Vec<Cited> = Vec::new();
    for (section, rule) in rows {
        match sections.last_mut().filter(|last| last.section == section) {
            Some(last) => last.rules.push(rule),
            None => sections.push(Cited { section, rules: vec![rule] }),
        }
    }
    sections
}

/// The fields that have a meaning, once for each layout.
fn fields(part: Part, index: &Index) -> Covered {
    let mut layouts: Vec<(&'static [Field], Vec<&'static vm_pmu::arch::model::RegisterDescription>)> = Vec::new();
    for register in select::registers(part) {
        match layouts.iter_mut().find(|(fields, _)| *fields == register.fields) {
            Some((_, members)) => members.push(register),
            None => layouts.push((register.fields, vec![register])),
        }
    }
    let mut covered = Covered::default();
    for (fields, members) in layouts {
        let Some(first) = members.first() else { continue };
        let means = |field: &&Field| field.name != "Reserved" && matches!(field.access, FieldAccess::ReadWrite | FieldAccess::ReadOnly);
        for field in fields.iter().filter(means) {
            let is_set = members.iter().any(|register| index.of_field(register.address, field).next().is_some());
            covered.note(&format!("{}.{}", first.name, field.name), is_set);
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conformance(texts: &[(&str, &str)]) -> Conformance {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), litmus: text.parse().unwrap() };
        Conformance::of(&Index::new(Part::named("k8").unwrap(), texts.iter().map(file).collect()))
    }

    const ONE: &str = "title: B\npmu: k8\nsection: 10.1\n\nwrite PerfEvtSel0 0x400076\n";
    const OTHER: &str = "title: A\npmu: k8\nsection: 10.1\n\nread PerfCtr0 = 0\n";

    #[test]
    fn rules_stand_below_the_section_that_they_cite() {
        let found = conformance(&[("k8/b.litmus", ONE), ("k8/a.litmus", OTHER), ("k8/c.litmus", &ONE.replace("10.1", "10.0"))]);
        let rules: Vec<(&str, Vec<&str>)> = found
            .rules
            .iter()
            .map(|cited| (cited.section.as_str(), cited.rules.iter().map(|rule| rule.title.as_str()).collect()))
            .collect();
        assert_eq!(rules, [("10.0", vec!["B"]), ("10.1", vec!["A", "B"])]);
    }

    #[test]
    fn registers_are_covered_by_an_access_and_fields_by_a_value() {
        let found = conformance(&[("k8/b.litmus", ONE), ("k8/a.litmus", OTHER)]);
        assert_eq!((found.registers.all, found.registers.covered), (8, 2));
        // AMD BKDG 10.2: ten fields of PerfEvtSel, of which 400076h sets EVENT_SELECT and EN; CTR of PerfCtr is read as zero.
        assert_eq!((found.fields.all, found.fields.covered), (11, 2));
        assert!(found.fields.missing.iter().any(|field| field == "PerfEvtSel0.USR"), "{:?}", found.fields);
    }

    #[test]
    fn every_event_has_one_word_and_is_selected_or_not() {
        let found = conformance(&[("k8/b.litmus", ONE)]);
        // AMD BKDG 10.2.1: 87 events and 123 unit masks.
        assert_eq!((found.fidelity.all(), found.selected.all), (87 + 123, 87 + 123));
        assert_eq!(found.selected.covered, 1);
        let sum: usize = found.sections.iter().map(|section| section.fidelity.all()).sum();
        assert_eq!(sum, found.selected.all);
        assert_eq!(found.not_modelled.injected.len(), found.fidelity.injected);
    }
}
