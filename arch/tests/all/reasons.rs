//! Events that stay injected have a reason each, and no reason is out of date.

use vm_pmu_arch::event::{Entry, Fidelity};
use vm_pmu_arch::registry::{NAMES, Part};

#[test]
fn every_injected_event_of_the_listed_units_has_one_reason() {
    let mut wrong = Vec::new();
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        let Some(reasons) = part.catalogue().reasons() else { continue };
        let is_covered = |entry: &&Entry| entry.fidelity == Fidelity::Injected && reasons.units.contains(&entry.unit);
        for entry in part.catalogue().entries.iter().filter(is_covered) {
            let count = reasons.all.iter().filter(|reason| reason.is_of(entry)).count();
            if count != 1 {
                wrong.push(format!("{part} {}: {count}", entry.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} without one reason:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_name_with_a_reason_is_of_an_injected_event() {
    let mut wrong = Vec::new();
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        for reason in part.catalogue().reasons().into_iter().flat_map(|reasons| reasons.all) {
            for name in reason.events {
                let alone = vm_pmu_arch::event::Reason { text: "", events: std::slice::from_ref(name) };
                if !part.catalogue().entries.iter().any(|entry| alone.is_of(entry)) {
                    wrong.push(format!("{part} {name}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
