//! Every guest, by name.

use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Engine, Options, run};

fn on(engine: Engine, guest: &str, big_endian: bool) -> Report {
    run(
        "power9",
        guest,
        &Options { engine, big_endian, trace: vm_pmu_board::trace::Choice::first(100_000), limit: 100_000_000, ..Options::default() },
    )
    .expect("the engine runs it")
}

/// The parts of a report by name, except the engine's name.
pub(crate) fn parts(report: Report) -> serde_json::Map<String, serde_json::Value> {
    let report = Report { engine: String::new(), ..report };
    let serde_json::Value::Object(parts) = serde_json::to_value(report).expect("a report is JSON") else { panic!("a report is an object") };
    parts
}

/// Runs a guest in both byte orders on both engines.
fn same(guest: &str) {
    for big_endian in [false, true] {
        let order = if big_endian { "big-endian" } else { "little-endian" };
        let unicorn = on(Engine::Unicorn, guest, big_endian);
        assert_eq!(unicorn.engine, "unicorn");
        assert!(unicorn.passed, "{guest}, {order}: {}", unicorn.ending);
        let own = parts(on(Engine::Interpreter, guest, big_endian));
        for (name, part) in parts(unicorn) {
            assert_eq!(Some(&part), own.get(&name), "{guest}, {order}: {name}");
        }
    }
}

macro_rules! guests {
    ($($test:ident $guest:literal;)*) => {
        $(
            #[test]
            fn $test() {
                same($guest);
            }
        )*

        #[test]
        fn no_guest_is_forgotten() {
            let named = [$($guest),*];
            let missing: Vec<_> = vm_pmu_guests::of("power9").map(|guest| guest.name).filter(|name| !named.contains(name)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    };
}

guests! {
    count_shows_the_same "count";
    freeze_matrix_shows_the_same "freeze-matrix";
    overflow_shows_the_same "overflow";
    trigger_chain_shows_the_same "trigger-chain";
    masked_shows_the_same "masked";
    four_threads_shows_the_same "four-threads";
    linux_driver_shows_the_same "linux-driver";
    access_shows_the_same "access";
    ebb_shows_the_same "ebb";
    sample_shows_the_same "sample";
    probe_shows_the_same "probe";
    branch_history_shows_the_same "branch-history";
    latency_shows_the_same "latency";
    measured_shows_the_same "measured";
    nested_walks_shows_the_same "nested-walks";
    hostile_shows_the_same "hostile";
    nest_memory_shows_the_same "nest-memory";
    dma_shows_the_same "dma";
    nest_control_shows_the_same "nest-control";
    nest_linux_shows_the_same "nest-linux";
    core_collection_shows_the_same "core-collection";
}
