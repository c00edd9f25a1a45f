//! What a page shows over time of the counters that CPUs share: what the guest reads of them, and without a difference to the run.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use assert_cmd::Command;
use serde_json::Value;
use vm_pmu::untile::{Kind, UnitId};
use vm_pmu_board::trace::Listener;
use vm_pmu_lab::page::{Boxes, Nests, Watch};
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Options, run};

fn watched(pmu: &str, guest: &str) -> (Report, Boxes, Nests) {
    let watch = Arc::new(Watch::default());
    let options = Options { listener: Some(Listener(Arc::clone(&watch) as Arc<_>)), ..Options::default() };
    let report = run(pmu, guest, &options).unwrap();
    assert!(report.passed, "{pmu} {guest}: {}", report.ending);
    let (_, boxes, nests) = watch.finish();
    (report, boxes, nests)
}

/// The values that a counter took.
fn values(boxes: &Boxes, unit: UnitId, counter: Option<u8>) -> Vec<u64> {
    let number = boxes.counters.iter().position(|one| (one.unit, one.counter) == (unit, counter)).unwrap();
    boxes.looks.moments.values(number).into_iter().map(|(_, value)| value).collect()
}

#[test]
fn counters_of_channels_end_at_what_the_guest_reads() {
    let (report, boxes, _) = watched("knl", "mc-cas");
    let channels: Vec<UnitId> = (0..6).map(|number| UnitId::new(Kind::McDclk, number).unwrap()).collect();
    let last = |unit, counter| *values(&boxes, unit, Some(counter)).last().unwrap();
    // The guest's last measurement is of 512 stores past the caches, each of which drives a newer line out to DDR and reads nothing. Counter
    // 0 counts reads, 1 writes and 2 both.
    let sums = [0, 1, 2].map(|counter| channels.iter().map(|unit| last(*unit, counter)).sum::<u64>());
    assert_eq!(sums, [0, 512, 512]);
    for (number, unit) in channels.iter().enumerate() {
        let name = format!("streaming stores that drive newer lines out: MC DCLK {number}, both together");
        let check = report.checks.iter().find(|check| check.name == name).unwrap();
        assert_eq!(last(*unit, 2), check.seen, "{name}");
    }
    // These are all that the guest enables.
    assert_eq!(boxes.counters.len(), 18);
}

#[test]
fn a_counter_is_seen_at_its_highest_before_the_guest_clears_it() {
    let (report, boxes, _) = watched("knl", "mc-cas");
    for number in 0..6 {
        // Of all measurements, the fifth has most of both: each load drives a line out that was written.
        let name = format!("loads that drive newer lines out of MCDRAM: MC DCLK {number}, both together");
        let check = report.checks.iter().find(|check| check.name == name).unwrap();
        let values = values(&boxes, UnitId::new(Kind::McDclk, number).unwrap(), Some(2));
        assert_eq!(values.iter().max(), Some(&check.seen), "{name}");
    }
}

#[test]
fn a_guest_that_enables_no_box_has_no_counters_of_boxes() {
    let (_, boxes, _) = watched("knl", "freeze");
    assert!(boxes.counters.is_empty() && boxes.looks.moments.kept.is_empty());
}

#[test]
fn cells_of_a_nest_end_at_what_memory_holds() {
    let (report, _, nests) = watched("power9", "nest-memory");
    let values = |number| nests.looks.moments.values(number).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
    let last: BTreeMap<&str, u64> =
        nests.events.iter().enumerate().map(|(number, (_, event))| (event.as_str(), *values(number).last().unwrap())).collect();
    let posted: BTreeMap<&str, u64> = report.posted.iter().map(|posted| (posted.event.as_str(), posted.count)).collect();
    assert_eq!(last, posted);
    // A buffer has 512 of the 4,096 lines, each two blocks. The guest writes its lines back twice, once before it checks anything.
    assert_eq!(last["PM_MBA1_WRITE_BYTES"], 2 * 2 * 512);
}

#[test]
fn a_page_makes_no_difference_to_the_guest() {
    let folder = tempfile::tempdir().unwrap();
    let said = |pmu: &str, guest: &str, more: &[&str]| {
        let arguments = ["run", "--pmu", pmu, "--guest", guest, "--format", "json"];
        let output = Command::cargo_bin("pmulab").unwrap().args(arguments).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{pmu} {guest}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for (pmu, guest) in [
        ("knl", "mc-cas"),
        ("knl", "linux-uncore"),
        ("knl", "untile-clocks"),
        ("knl", "thresholds"),
        ("knl", "global-freeze"),
        ("knl", "mesh-routes"),
        ("knl", "tor-occupancy"),
        ("knl", "edc-queues"),
        ("knl", "untile-eight-cpus"),
        ("knl", "dma"),
        ("power9", "nest-memory"),
        ("power9", "nest-linux"),
        ("k8", "northbridge"),
        ("k8", "profile"),
        ("power9", "overflow"),
        ("montecito", "two-threads"),
    ] {
        let page = folder.path().join("run.html");
        assert_eq!(said(pmu, guest, &["--report", page.to_str().unwrap()]), said(pmu, guest, &[]), "{pmu} {guest}");
    }
}

#[test]
fn a_recording_of_a_run_with_a_page_replays_alike() {
    let folder = tempfile::tempdir().unwrap();
    let (page, recording) = (folder.path().join("run.html"), folder.path().join("run.litmus"));
    let run = ["run", "--pmu", "knl", "--guest", "mc-cas", "--record"];
    let mut command = Command::cargo_bin("pmulab").unwrap();
    command.args(run).arg(&recording).arg("--report").arg(&page).assert().success();
    assert!(fs::metadata(&page).unwrap().len() != 0);
    Command::cargo_bin("pmulab").unwrap().arg("replay").arg(&recording).assert().success();
}
