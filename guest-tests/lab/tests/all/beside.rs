//! A PMU beside the guest's own: it counts as the guest's own does, and the guest sees no difference.

use std::sync::Arc;

use vm_pmu_board::beside::{Found, Plan};
use vm_pmu_board::trace::Choice;
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Options, observe, run};
use vm_pmu_lab::stat::group;

/// Guests of every part, with one thread and with several, with the companion's clock and without it.
const GUESTS: [(&str, &str); 12] = [
    ("k8", "count"),
    ("k8", "profile"),
    ("k8", "false-sharing"),
    ("knl", "filter"),
    ("knl", "any-thread"),
    ("knl", "clock"),
    ("power9", "count"),
    ("power9", "four-threads"),
    ("power9", "sample"),
    ("itanium", "count"),
    ("montecito", "privilege"),
    ("montecito", "two-threads"),
];

fn observed(pmu: &str, guest: &str, plan: Plan) -> (Report, Vec<Found>) {
    observe(pmu, guest, &Options::default(), &Arc::new(plan)).expect("the guest runs")
}

/// The counts of `events` in a guest of one thread.
fn counts(pmu: &str, guest: &str, events: &[&str]) -> (Report, Vec<u64>) {
    let part = vm_pmu::Part::named(pmu).expect("known");
    let events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
    let mut grouping = group(part, &events).expect("countable");
    assert_eq!(grouping.groups.len(), 1, "they are counted together");
    let (report, found) = observed(pmu, guest, Plan::Count(grouping.groups.remove(0)));
    (report, found[0].counts[0].clone())
}

#[test]
fn programmed_alike_it_ends_in_the_state_of_the_guests_own() {
    for (pmu, guest) in GUESTS {
        let (report, found) = observed(pmu, guest, Plan::Repeat);
        assert!(report.passed, "{pmu} {guest}: {}", report.ending);
        assert!(found.iter().all(|thread| thread.is_alike), "{pmu} {guest}");
    }
}

#[test]
fn the_guest_and_its_own_pmu_see_no_difference() {
    for (pmu, guest) in GUESTS {
        let alone = run(pmu, guest, &Options { trace: Choice::first(100), ..Options::default() }).expect("the guest runs");
        let grouping = group(vm_pmu::Part::named(pmu).expect("known"), &["cycles".to_owned()]).expect("countable");
        let plan = Arc::new(Plan::Multiplex { groups: [grouping.groups.clone(), grouping.groups].concat(), cycles: 100 });
        let options = Options { trace: Choice::first(100), ..Options::default() };
        let (beside, _) = observe(pmu, guest, &options, &plan).expect("the guest runs");
        let text = |report: &Report| serde_json::to_string_pretty(report).expect("reports are text");
        assert_eq!(text(&beside), text(&alone), "{pmu} {guest}");
    }
}

#[test]
fn instructions_are_those_that_the_engine_has_executed() {
    for (pmu, guest, event) in [
        ("k8", "stride", "RETIRED_INSTRUCTIONS"),
        ("knl", "latency", "INST_RETIRED.ANY"),
        ("power9", "latency", "PM_INST_CMPL"),
        ("itanium", "branches", "IA64_INST_RETIRED.ALL"),
        ("montecito", "branches", "IA64_INST_RETIRED.THIS"),
    ] {
        let (report, counts) = counts(pmu, guest, &[event]);
        assert_eq!(counts, [report.instructions], "{pmu} {guest}");
    }
}

#[test]
fn levels_of_privilege_add_up_to_all() {
    for (pmu, guest, events) in [
        ("k8", "filter", ["instructions:u", "instructions:k", "instructions"]),
        ("montecito", "privilege", ["IA64_INST_RETIRED.THIS:u", "IA64_INST_RETIRED.THIS:k", "IA64_INST_RETIRED.THIS"]),
    ] {
        let (_, counts) = counts(pmu, guest, &events);
        assert!(counts[0] != 0 && counts[1] != 0, "{pmu}: {counts:?}");
        assert_eq!(counts[0] + counts[1], counts[2], "{pmu}");
    }
}

#[test]
fn turns_lose_nothing_of_an_event_that_is_in_both_groups() {
    for (pmu, guest, event) in
        [("k8", "filter", "instructions"), ("power9", "count", "PM_INST_CMPL"), ("montecito", "privilege", "IA64_INST_RETIRED.THIS")]
    {
        let (_, whole) = counts(pmu, guest, &[event]);
        let grouping = group(vm_pmu::Part::named(pmu).expect("known"), &[event.to_owned()]).expect("countable");
        let groups = [grouping.groups.clone(), grouping.groups].concat();
        let (_, found) = observed(pmu, guest, Plan::Multiplex { groups, cycles: 37 });
        let found = &found[0];
        assert!(found.counting.iter().all(|cycles| *cycles != 0), "{pmu}: both had turns");
        assert_eq!(found.counts[0][0] + found.counts[1][0], whole[0], "{pmu}");
        assert_eq!(found.counting[0] + found.counting[1], found.cycles, "{pmu}");
    }
}
