//! Metrics: from counts in a file, and from a runner that only pretends to count.

use std::fs;

use serde_json::Value;
use vm_pmu_lab::metrics::Run;
use vm_pmu_lab::output::Output;
use vm_pmu_lab::report::Report;
use vm_pmu_lab::request::{GuestInfo, NoGuests, RunRequest, Runner};

/// Knows one guest, in which everything occurs ten times except run cycles, which are thirty.
struct Ten;

impl Runner for Ten {
    fn guests(&self) -> Vec<GuestInfo> {
        vec![GuestInfo { name: "ten".into(), pmu: "power9".into(), threads: 1, summary: "Does all ten times.".into() }]
    }

    fn run(&self, _: &RunRequest) -> Result<Report, String> {
        Err("it is only counted".into())
    }

    fn count(&self, request: &RunRequest, runs: &[Run]) -> Result<(Report, Vec<Vec<u64>>), String> {
        let count = |run: &Run| run.codes().iter().map(|code| if code.bits() == 0x6_00F4 { 30 } else { 10 }).collect();
        let report = Report { guest: request.guest.title(), passed: true, ..Report::default() };
        Ok((report, runs.iter().map(count).collect()))
    }
}

/// The status, what was printed, and the line about an error.
fn pmulab(runner: &dyn Runner, arguments: &[&str]) -> (u8, String, String) {
    let (mut bytes, mut errors) = (Vec::new(), Vec::new());
    let status = vm_pmu_lab::commands::main([&["pmulab"], arguments].concat(), runner, &mut Output::new(&mut bytes), &mut errors);
    (status, String::from_utf8(bytes).unwrap(), String::from_utf8(errors).unwrap())
}

fn json(runner: &dyn Runner, arguments: &[&str]) -> Value {
    serde_json::from_str(&pmulab(runner, arguments).1).unwrap()
}

#[test]
fn metrics_of_given_counts_are_computed_or_say_what_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.json");
    fs::write(&file, r#"{"PM_RUN_CYC": 300, "PM_RUN_INST_CMPL": 200, "PM_LD_MISS_L1": 1, "PM_LD_REF_L1": 0}"#).unwrap();
    let arguments = ["metrics", "--format", "json", "--counts", file.to_str().unwrap(), "RUN_CPI", "L1_LD_Miss_Ratio", "CPI"];
    let computed = json(&NoGuests, &arguments);
    assert_eq!((&computed[0]["name"], &computed[0]["value"]), (&"RUN_CPI".into(), &1.5.into()));
    assert_eq!(computed[1]["no_value"], "divides by zero");
    assert_eq!(computed[2]["no_value"], "not counted: PM_CYC, PM_INST_CMPL");
}

#[test]
fn an_event_that_the_part_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.csv");
    fs::write(&file, "PM_RUN_INST_CMPL,7\n").unwrap();
    let (status, text, _) = pmulab(&NoGuests, &["metrics", "--counts", file.to_str().unwrap(), "RC_LD_Busy"]);
    assert_eq!(status, 0);
    assert!(text.contains("the part has no PM_L2_RCLD_BUSY_RC_FULL"), "{text}");
}

/// The text of a table whose cells have been broken into lines.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_name_that_is_read_as_another_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.csv");
    fs::write(&file, "PM_RUN_INST_CMPL,200\nPM_IERAT_RELOAD,3\n").unwrap();
    let with_counts = ["metrics", "--counts", file.to_str().unwrap(), "IERAT_Miss_Rate"];
    let (_, text, _) = pmulab(&NoGuests, &with_counts);
    assert!(text.contains("1.500") && unwrapped(&text).contains("PM_IERAT_MISS read as PM_IERAT_RELOAD"), "{text}");
    let computed = json(&NoGuests, &[&with_counts[..], &["--format", "json"]].concat());
    assert_eq!(computed[0]["replaced"][0]["read_as"], "PM_IERAT_RELOAD");
    let planned = json(&NoGuests, &["metrics", "--format", "json", "IERAT_Miss_Rate"]);
    assert_eq!(planned["replaced"][0]["name"], "PM_IERAT_MISS");
    let (_, text, _) = pmulab(&NoGuests, &["metrics", "IERAT_Miss_Rate"]);
    assert!(text.contains("PM_IERAT_MISS read as PM_IERAT_RELOAD:"), "{text}");
}

#[test]
fn a_metric_that_is_named_as_an_event_is_taken_for_the_metric() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.json");
    let counts = r#"{"PM_RUN_INST_CMPL": 100, "PM_CMPLU_STALL_FXU": 10, "PM_CMPLU_STALL_DP": 20, "PM_CMPLU_STALL_DFU": 30,
        "PM_CMPLU_STALL_PM": 40, "PM_CMPLU_STALL_CRYPTO": 50, "PM_CMPLU_STALL_EXEC_UNIT": 300, "PM_CMPLU_STALL_VFXU": 60,
        "PM_CMPLU_STALL_VDP": 15}"#;
    fs::write(&file, counts).unwrap();
    let arguments = ["metrics", "--format", "json", "--counts", file.to_str().unwrap(), "SCALAR_STALL_CPI", "EXEC_UNIT_OTHER_STALL_CPI"];
    let computed = json(&NoGuests, &arguments);
    // (10 + 20 + 30 + 40 + 50) / 100, and 3 less that and less (60 + 15) / 100.
    assert_eq!((&computed[0]["value"], &computed[1]["value"]), (&1.5.into(), &0.75.into()));
}

#[test]
fn without_counts_the_runs_are_shown_with_their_registers() {
    let planned = json(&NoGuests, &["metrics", "--format", "json", "RUN_CPI", "CPI"]);
    assert_eq!(planned["runs"].as_array().unwrap().len(), 1);
    let names: Vec<&str> = planned["runs"][0]["events"].as_array().unwrap().iter().filter_map(|event| event["name"].as_str()).collect();
    for name in ["PM_RUN_CYC", "PM_RUN_INST_CMPL", "PM_CYC", "PM_INST_CMPL"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let (status, text, _) = pmulab(&NoGuests, &["metrics"]);
    assert_eq!(status, 0);
    assert!(text.contains("run 1: MMCR1 = 0x") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_run_of_a_guest_is_measured() {
    let arguments = ["run", "--guest", "ten", "--metrics", "RUN_CPI", "--metrics", "L1_LD_Miss_Ratio", "--format", "json"];
    let measured = json(&Ten, &arguments);
    let metrics = &measured[0]["metrics"];
    assert_eq!((&metrics[0]["value"], &metrics[1]["value"]), (&3.0.into(), &100.0.into()));
    let (status, text, _) = pmulab(&Ten, &["run", "--guest", "ten", "--metrics", "RUN_CPI"]);
    assert_eq!(status, 0);
    assert!(text.starts_with("PASS  ten on power9: 1 run of counters\n") && text.contains("3.000"), "{text}");
}

#[test]
fn mistakes_are_one_line() {
    let of = |arguments: &[&str]| {
        let (status, _, errors) = pmulab(&Ten, arguments);
        assert_eq!((status, errors.lines().count()), (2, 1), "{errors}");
        errors
    };
    assert!(of(&["metrics", "RUN_CPIS"]).contains("did you mean RUN_CPI"));
    assert!(of(&["metrics", "--pmu", "k8"]).contains("the manual of k8 has no metrics"));
    of(&["metrics", "--counts", "/no/such/file"]);
    of(&["run", "--guest", "ten", "--metrics", "RUN_CPIS"]);
}
