//! What a build has of the parts: those whose features are on, and nothing of the others. These tests hold for every choice of features.

use vm_pmu_arch::registry::{NAMES, Part, left_out};

/// The parts in the order of the registry, with whether they are in this build.
const PARTS: [(&str, bool); 5] = [
    ("k8", cfg!(feature = "k8")),
    ("knl", cfg!(feature = "knl")),
    ("power9", cfg!(feature = "power9")),
    ("itanium", cfg!(feature = "itanium")),
    ("montecito", cfg!(feature = "montecito")),
];

#[test]
fn the_names_are_those_of_the_parts_that_are_there() {
    assert!(NAMES.iter().copied().eq(PARTS.iter().filter(|(_, there)| *there).map(|(name, _)| *name)));
}

#[test]
fn a_part_that_is_left_out_is_unknown_by_name() {
    for (name, there) in PARTS {
        assert_eq!(Part::named(name).is_some(), there, "{name}");
    }
}

#[test]
fn a_part_that_is_left_out_names_its_feature() {
    for (name, there) in PARTS {
        assert_eq!(left_out(name), (!there).then_some(name));
    }
    assert_eq!(left_out("z80"), None);
}

#[test]
fn a_part_has_its_events_whatever_the_others() {
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        let catalogue = part.catalogue();
        assert_eq!(catalogue.pmu, part.name());
        assert!(catalogue.events().count() > 80, "{part}");
        assert!(catalogue.events().all(|event| catalogue.named(event.name).is_some()), "{part}");
    }
}

#[test]
fn events_are_described_only_where_the_build_has_descriptions() {
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        for entry in part.catalogue().entries {
            assert!(!entry.name.is_empty() && !entry.unit.is_empty());
            assert_eq!(!entry.summary.is_empty(), cfg!(feature = "descriptions"), "{}", entry.name);
            assert!(cfg!(feature = "descriptions") || (entry.rule.is_empty() && entry.section.is_empty()), "{}", entry.name);
        }
        for metric in part.catalogue().metrics() {
            assert_eq!(!metric.summary.is_empty(), cfg!(feature = "descriptions"), "{}", metric.name);
        }
    }
}

#[test]
fn what_only_some_parts_have_is_reported_of_them_alone() {
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        assert_eq!(part.shape().has_untile, part.name() == "knl");
        assert_eq!(part.shape().has_nest, part.name() == "power9");
        assert_eq!(part.shape().posts_to_memory, part.name() == "power9");
        assert_eq!(part.cpuid().is_some(), ["k8", "knl"].contains(&part.name()));
    }
}
