//! Guests of x86 on Unicorn: what they show is what they show on the interpreter.

use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Engine, Options, run};

/// The report of a guest, without the engine's name.
fn report(pmu: &str, guest: &str, options: &Options) -> Report {
    let engine = options.engine;
    let report = run(pmu, guest, options).unwrap_or_else(|error| panic!("{pmu} {guest} on {engine}: {error}"));
    Report { engine: String::new(), ..report }
}

/// Every line of two reports is equal.
fn equal(translated: &Report, interpreted: &Report, what: &str) {
    let [got, expected] = [translated, interpreted].map(|report| format!("{report:#?}"));
    for (got, expected) in got.lines().zip(expected.lines()) {
        assert_eq!(got, expected, "{what}: {}", translated.ending);
    }
    assert_eq!(got.len(), expected.len(), "{what}");
}

/// Both engines run the guest to its end, and their reports are equal.
fn agrees(pmu: &str, guest: &str) {
    let known = vm_pmu_guests::named(pmu, guest).unwrap_or_else(|| panic!("{pmu} has no guest {guest}"));
    for companion in [true, false] {
        if known.needs_companion && !companion {
            continue;
        }
        let options = |engine| Options { engine, companion, trace: vm_pmu_board::trace::Choice::first(200), ..Options::default() };
        let [interpreted, translated] = [Engine::Interpreter, Engine::Unicorn].map(|engine| report(pmu, guest, &options(engine)));
        assert!(interpreted.passed, "{pmu} {guest} on the interpreter: {}", interpreted.ending);
        equal(&translated, &interpreted, &format!("{pmu} {guest}, companion {companion}"));
    }
}

/// The guest begins on one engine, and continues on the other from the middle.
fn moves(pmu: &str, guest: &str) {
    let interpreted = report(pmu, guest, &Options::default());
    let middle = Some(interpreted.instructions / 2);
    for (engine, next) in [(Engine::Interpreter, Engine::Unicorn), (Engine::Unicorn, Engine::Interpreter)] {
        let moved = report(pmu, guest, &Options { engine, save_at: middle, go_on_with: Some(next), ..Options::default() });
        equal(&moved, &interpreted, &format!("{pmu} {guest} from {engine} to {next}"));
    }
}

#[test]
fn cpus_on_host_threads_of_their_own_are_refused() {
    let refused = run("k8", "two-cpus", &Options { engine: Engine::Unicorn, parallel: true, ..Options::default() }).unwrap_err();
    assert_eq!(refused.to_string(), "the engine unicorn cannot run it: its CPUs take turns: leave out `--parallel`");
}

macro_rules! guests {
    ($($pmu:ident { $($guest:ident),* $(,)? })*) => {
        $(mod $pmu {
            $(#[test]
            fn $guest() {
                super::agrees(stringify!($pmu), &stringify!($guest).replace('_', "-"));
            })*

            mod moved {
                $(#[test]
                fn $guest() {
                    super::super::moves(stringify!($pmu), &stringify!($guest).replace('_', "-"));
                })*
            }

            pub(super) const NAMES: &[&str] = &[$(stringify!($guest)),*];
        })*

        #[test]
        fn every_guest_of_x86_is_here() {
            for (pmu, names) in [$((stringify!($pmu), $pmu::NAMES)),*] {
                let mut named: Vec<String> = names.iter().map(|name| name.replace('_', "-")).collect();
                let mut known: Vec<&str> = vm_pmu_guests::of(pmu).map(|guest| guest.name).collect();
                named.sort();
                known.sort();
                assert_eq!(named, known, "{pmu}");
            }
        }
    };
}

guests! {
    k8 {
        count, filter, overflow, profile, edge_mask, northbridge, user_rdpmc, hostile, linux_probe, nmi_watchdog, two_cpus, clock, chase,
        stride, page_stride, branches, call_depth, code, dma, nodes, false_sharing, self_modifying,
    }
    knl {
        probe, count, filter, branches, global_control, overflow, freeze, profile, linux_driver, nmi_watchdog, user_rdpmc, hostile,
        clock, any_thread, tile, offcore, latency, pci_probe, linux_uncore, untile_clocks, untile_frequencies, thresholds, mesh_events,
        global_freeze, likwid_groups, untile_eight_cpus, untile_hostile, mcdram_bandwidth, mc_cas, edc_queues, cha_filter, tor_occupancy,
        dma, mesh_routes, flat_memory, hybrid_memory,
    }
}
