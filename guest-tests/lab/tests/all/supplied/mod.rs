//! What every event states about its sources against what makes them, and whether each declared source really makes its signals.
//!
//! What the companion says it makes is compared with streams in its own tests (`device/companion/src/tests/invariants.rs`), in both
//! directions. Here are the engines, the records of the engine of POWER, requests, and what models make by themselves.

mod far;
mod grown;
mod images;
mod posted;
mod requests;
mod sampled;
mod shown;

use std::collections::BTreeSet;

use vm_pmu::arch::event::{Entry, Fidelity};
use vm_pmu::arch::registry::NAMES;
use vm_pmu::{Part, Signal};
use vm_pmu_lab::entries::driven;
use vm_pmu_lab::entries::known::Known;

use grown::Grown;

/// Every entry of every part, with what is known of the part.
fn each(mut check: impl FnMut(Part, &Known, &'static Entry)) {
    for name in NAMES {
        let part = Part::named(name).unwrap();
        let known = Known::of(part);
        part.catalogue().entries.iter().for_each(|entry| check(part, &known, entry));
    }
}

/// Events that remain an embedder's although a part of what drives them is supplied, since the larger part is not: of transactions on the
/// bus of less than a line, only invalidations are supplied.
fn lacks_its_substance(entry: &Entry) -> bool {
    entry.name.starts_with("BUS_MEMORY.LT_128BYTE.")
}

#[test]
fn the_word_of_every_event_is_what_supplies_it() {
    let mut wrong = Vec::new();
    each(|part, known, entry| {
        let warranted = known.warrants(entry);
        // An event whose signals are exact may still be approximate, by the rule that it states.
        let is_right = match entry.fidelity {
            Fidelity::Approximate => warranted <= Fidelity::Approximate,
            Fidelity::Embedder if lacks_its_substance(entry) => warranted >= Fidelity::Approximate,
            word => word == warranted,
        };
        if !is_right {
            wrong.push(format!("{} {} {}: {}, but {}", part.name(), entry.unit, entry.name, entry.fidelity.word(), warranted.word()));
        }
    });
    assert!(wrong.is_empty(), "{} of\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_rule_names_what_only_an_embedder_tells() {
    const BEGIN: &str = "Only an embedder tells ";
    let mut wrong = Vec::new();
    each(|part, known, entry| {
        // The signals of an event with unit masks are theirs.
        let left_out = if entry.fidelity == Fidelity::Approximate { known.left_out(entry) } else { Vec::new() };
        let names: Vec<&str> = left_out.into_iter().map(Signal::name).collect();
        let right = if names.is_empty() { String::new() } else { format!("{BEGIN}{}.", names.join(", ")) };
        let said = entry.rule.find(BEGIN).map_or("", |at| &entry.rule[at..]);
        let is_event_of_masks = entry.umask.is_none() && !part.catalogue().masks(entry).is_empty();
        if said != right && !is_event_of_masks {
            wrong.push(format!("{} {}: `{said}` instead of `{right}`", part.name(), entry.name));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_event_has_the_best_word_of_its_unit_masks() {
    each(|part, _, entry| {
        let masks = if entry.umask.is_none() { part.catalogue().masks(entry) } else { &[] };
        let listed = masks.iter().filter(|mask| mask.listed).map(|mask| mask.fidelity).min();
        let best = listed.or_else(|| masks.iter().map(|mask| mask.fidelity).min());
        assert_eq!(best.unwrap_or(entry.fidelity), entry.fidelity, "{} {}", part.name(), entry.name);
    });
}

#[test]
fn the_readme_counts_the_words_of_each_part() {
    const PARTS: [(&str, &str); 5] = [
        ("k8", "AMD K8"),
        ("knl", "Knights Landing, tile and untile"),
        ("power9", "POWER9, core and nest"),
        ("itanium", "the first Itanium"),
        ("montecito", "Montecito"),
    ];
    let text = include_str!("../../../../../README.md");
    for (name, title) in PARTS {
        let entries = || Part::named(name).unwrap().catalogue().entries.iter().filter(|entry| entry.listed);
        let counts = Fidelity::ALL.map(|word| entries().filter(|entry| entry.fidelity == word).count().to_string());
        let row = format!("| {title} | {} |", counts.join(" | "));
        assert!(text.contains(&row), "the README lacks `{row}`");
    }
}

/// The signals that events of the part name and that the engine declares as supplied.
fn said_of_the_engine(part: Part) -> BTreeSet<Signal> {
    let known = Known::of(part);
    let of = |entry: &'static Entry| {
        driven::sources(entry).into_iter().chain(entry.edges.iter().copied()).chain(entry.prefetches.iter().copied())
    };
    part.catalogue().entries.iter().flat_map(of).filter(|signal| known.engine_supplies(*signal)).collect()
}

#[test]
fn what_an_engine_says_it_supplies_grows_in_some_guest() {
    for name in NAMES {
        let part = Part::named(name).unwrap();
        let said = said_of_the_engine(part);
        let grown = Grown::of(part, &said);
        let missing: Vec<&str> = said.iter().filter(|signal| !grown.has(**signal)).map(|signal| signal.name()).collect();
        assert!(missing.is_empty(), "{name}: {missing:?} grew in no guest");
    }
}
