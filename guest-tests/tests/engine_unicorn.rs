//! Guests of x86 on Unicorn: what they show is what they show on the interpreter.
#![cfg(feature = "unicorn")]

use vm_pmu_guest_tests::guests;
use vm_pmu_guest_tests::report::Report;
use vm_pmu_guest_tests::runner::{Engine, Options, run};

/// The report of a guest, without the engine's name.
fn report(pmu: &str, guest: &str, engine: Engine, companion: bool) -> Report {
    let options = Options { engine, companion, ..Options::default() };
    let report = run(pmu, guest, &options).unwrap_or_else(|error| panic!("{pmu} {guest} on {engine}: {error}"));
    Report { engine: String::new(), ..report }
}

/// Both engines run the guest to its end, and their reports are equal in every line.
fn agrees(pmu: &str, guest: &str) {
    let known = guests::named(pmu, guest).unwrap_or_else(|| panic!("{pmu} has no guest {guest}"));
    for companion in [true, false] {
        if known.needs_companion && !companion {
            continue;
        }
        let [interpreted, translated] = [Engine::Interp, Engine::Unicorn].map(|engine| report(pmu, guest, engine, companion));
        assert!(interpreted.passed, "{pmu} {guest} on the interpreter: {}", interpreted.ending);
        let lines = |report: &Report| format!("{report:#?}");
        let (expected, got) = (lines(&interpreted), lines(&translated));
        for (expected, got) in expected.lines().zip(got.lines()) {
            assert_eq!(got, expected, "{pmu} {guest}, companion {companion}: {}", translated.ending);
        }
        assert_eq!(got.len(), expected.len(), "{pmu} {guest}");
    }
}

macro_rules! guests {
    ($($pmu:ident { $($guest:ident),* $(,)? })*) => {
        $(mod $pmu {
            $(#[test]
            fn $guest() {
                super::agrees(stringify!($pmu), &stringify!($guest).replace('_', "-"));
            })*

            pub(super) const NAMES: &[&str] = &[$(stringify!($guest)),*];
        })*

        #[test]
        fn every_guest_of_x86_is_here() {
            for (pmu, names) in [$((stringify!($pmu), $pmu::NAMES)),*] {
                let mut named: Vec<String> = names.iter().map(|name| name.replace('_', "-")).collect();
                let mut known: Vec<&str> = guests::of(pmu).map(|guest| guest.name).collect();
                named.sort();
                known.sort();
                assert_eq!(named, known, "{pmu}");
            }
        }
    };
}

guests! {
    k8 {
        count, filter, overflow, profile, edge_mask, northbridge, user_rdpmc, hostile, linux_probe, nmi_watchdog, two_cpus, chase, stride,
        page_stride, branches, call_depth, code, false_sharing, self_modifying,
    }
    knl {
        probe, count, filter, branches, global_control, overflow, freeze, profile, linux_driver, nmi_watchdog, user_rdpmc, hostile,
        any_thread, tile, offcore, latency, pci_probe, linux_uncore, untile_clocks, thresholds, mesh_events, global_freeze, likwid_groups,
        untile_eight_cpus, untile_hostile, mcdram_bandwidth, mc_cas, edc_queues, cha_filter, tor_occupancy,
    }
}
