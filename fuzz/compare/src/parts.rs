//! What depends on the part: which reference it has.

use vm_pmu::Part;
use vm_pmu::litmus::{ContextField, Litmus};
use vm_pmu_reference::{Reference, Shared, itanium, k8, knl, montecito, power9, untile};

/// The reference of one package of the program's machine, if the part has one.
#[must_use]
pub fn reference(litmus: &Litmus) -> Option<Box<dyn Reference>> {
    let Litmus { part, threads, shared_counters, .. } = litmus;
    match part.name() {
        "k8" => Some(Box::new(k8::K8::new(part.revision_letter(), *threads, *shared_counters))),
        "itanium" => Some(Box::new(itanium::Itanium::new(*threads))),
        "montecito" => Some(Box::new(montecito::Montecito::new(*threads))),
        "power9" => Some(Box::new(power9::Power9::new(1, *threads))),
        "knl" => Some(Box::new(knl::Knl::new(*threads))),
        _ => None,
    }
}

/// The reference of the boxes that all packages share, if the part has such.
#[must_use]
pub(crate) fn shared(litmus: &Litmus) -> Option<Box<dyn Shared>> {
    (litmus.part.name() == "knl").then(|| Box::new(untile::Untile::new()) as Box<dyn Shared>)
}

/// The changes of a context by which every register can be read.
pub(crate) fn topmost(part: Part) -> Vec<(ContextField, u64)> {
    let words: &[(&str, u64)] = match part.name() {
        "power9" => &[("hv", 1), ("pr", 0)],
        "itanium" | "montecito" => &[("cpl", 0), ("sp", 0)],
        _ => &[("privilege", 0)],
    };
    words.iter().filter_map(|(word, value)| Some((ContextField::from_word(part, word)?, *value))).collect()
}
