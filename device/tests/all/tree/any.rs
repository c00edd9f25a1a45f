//! What holds for whatever is described.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::driver::{Domain, Pmu, probe};
use super::parsed::{Node, parse};
use super::{blob, tree};
use vm_pmu::tree::power9::{Availability, Chip, ImcCatalogue, ImcCounters, Told};

/// Chips as anybody may give them.
fn any_chips() -> impl Strategy<Value = Vec<Chip>> {
    let chip = (any::<u32>(), any::<u64>(), any::<u64>());
    prop::collection::vec(chip.prop_map(|(id, home, units)| Chip { id, home, availability: Availability(units) }), 0..6)
}

/// Chips of one machine.
fn chips() -> impl Strategy<Value = Vec<Chip>> {
    prop::collection::btree_map(0u32..128, any::<u64>(), 1..5).prop_map(|chips| {
        chips
            .into_iter()
            .map(|(id, units)| Chip { availability: Availability(units), ..Chip::new(id, u64::from(id) << 42 | 0x30_0000) })
            .collect()
    })
}

fn told() -> impl Strategy<Value = Told> {
    prop::sample::select(vec![Told::All, Told::ByHostBridges, Told::ByCompanion, Told::ByNest])
}

/// Trees of descriptions that can be written.
fn descriptions() -> impl Strategy<Value = Node> {
    let described = |(chips, [flexible, core, thread], told, first_phandle): (Vec<Chip>, [bool; 3], Told, u32)| {
        tree(&ImcCounters { chips: &chips, catalogue: ImcCatalogue { flexible, core, thread, told }, first_phandle })
    };
    (chips(), any::<[bool; 3]>(), told(), 1u32..0xFFFF_FF00).prop_map(described)
}

fn names_differ(node: &Node) -> bool {
    let names: BTreeSet<&str> = node.children.iter().map(|child| child.full_name.as_str()).collect();
    names.len() == node.children.len() && node.children.iter().all(names_differ)
}

fn events(pmus: &[Pmu]) -> Vec<(&Pmu, u32)> {
    pmus.iter().flat_map(|pmu| pmu.events.iter().map(move |event| (pmu, event.value))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_chips_are_given_the_blob_parses_or_is_refused(
        chips in any_chips(),
        parts: [bool; 3],
        told in told(),
        first_phandle: u32,
    ) {
        let [flexible, core, thread] = parts;
        if let Ok(blob) = blob(&ImcCounters { chips: &chips, catalogue: ImcCatalogue { flexible, core, thread, told }, first_phandle }) {
            parse(&blob);
        }
    }

    #[test]
    fn nodes_of_one_parent_have_different_names(root in descriptions()) {
        prop_assert!(names_differ(&root));
    }

    #[test]
    fn pmus_have_different_names(root in descriptions()) {
        let pmus = probe(&root).unwrap();
        let names: BTreeSet<&str> = pmus.iter().map(|pmu| pmu.name.as_str()).collect();
        prop_assert_eq!(names.len(), pmus.len());
    }

    #[test]
    fn events_of_one_pmu_have_different_names(root in descriptions()) {
        for pmu in probe(&root).unwrap() {
            let names: BTreeSet<&str> = pmu.events.iter().map(|event| event.name.as_str()).collect();
            prop_assert_eq!(names.len(), pmu.events.len(), "{}", pmu.name);
        }
    }

    #[test]
    fn every_counter_is_a_cell_within_the_size(root in descriptions()) {
        for (pmu, value) in events(&probe(&root).unwrap()) {
            prop_assert!(value % 8 == 0 && value + 8 <= pmu.size, "{} {value:#x}", pmu.name);
        }
    }

    #[test]
    fn no_counter_of_the_nest_is_described_twice(root in descriptions()) {
        let mut seen = BTreeSet::new();
        for (pmu, value) in events(&probe(&root).unwrap()) {
            prop_assert!(pmu.domain != Domain::Nest || seen.insert(value), "{} {value:#x}", pmu.name);
        }
    }

    #[test]
    fn no_counter_is_in_the_control_block(root in descriptions()) {
        for (pmu, value) in events(&probe(&root).unwrap()) {
            prop_assert!(value + 8 <= 0x3_FC00, "{} {value:#x}", pmu.name);
        }
    }

    #[test]
    fn every_pmu_has_events(root in descriptions()) {
        let pmus = probe(&root).unwrap();
        prop_assert!(pmus.iter().all(|pmu| !pmu.events.is_empty()));
    }
}
