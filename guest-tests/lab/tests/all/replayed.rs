//! Traces and timelines of recordings: the same accesses, in the same order and with the same values, as in the run that was recorded.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn pmulab(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::cargo_bin("pmulab").expect("the program").current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
}

/// What a command prints in JSON.
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (status, output, errors) = pmulab(folder, arguments);
    assert_eq!(status, 0, "{errors}");
    serde_json::from_str(&output).expect("JSON")
}

/// The entries of a trace but for their places, and for when interrupts are taken, which a recording does not say.
fn entries(trace: &Value) -> Vec<String> {
    let keys = ["thread", "action", "register", "value", "before", "wrote", "counters", "frozen", "changed"];
    let entry = |entry: &Value| keys.map(|key| entry[key].to_string()).join(" ");
    trace["trace"].as_array().expect("a trace").iter().filter(|entry| entry["action"] != "taken").map(entry).collect()
}

/// Records a guest, and compares the trace of the run with that of the recording.
fn is_traced_alike(pmu: &str, guest: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["run", "--pmu", pmu, "--guest", guest, "--record", "a.litmus", "--trace", "100000", "--format", "json"];
    let run = entries(&json(folder.path(), &run));
    let replayed = entries(&json(folder.path(), &["replay", "a.litmus", "--trace", "100000", "--format", "json"]));
    let first = run.iter().zip(&replayed).position(|(run, replayed)| run != replayed);
    assert_eq!(first.map(|first| (&run[first], &replayed[first])), None, "entry {first:?} of {}", run.len());
    assert_eq!(run.len(), replayed.len());
    assert!(run.len() > 50, "{} entries", run.len());
}

#[test]
fn a_recording_of_the_k8_is_traced_like_the_run() {
    is_traced_alike("k8", "count");
}

#[test]
fn a_recording_with_interrupts_of_the_k8_is_traced_like_the_run() {
    is_traced_alike("k8", "nmi-watchdog");
}

#[test]
fn a_recording_of_two_threads_is_traced_like_the_run() {
    is_traced_alike("k8", "two-cpus");
}

#[test]
fn a_recording_of_knights_landing_is_traced_like_the_run() {
    is_traced_alike("knl", "freeze");
}

#[test]
fn a_recording_with_boxes_in_configuration_space_is_traced_like_the_run() {
    is_traced_alike("knl", "linux-uncore");
}

#[test]
fn a_recording_of_power9_is_traced_like_the_run() {
    is_traced_alike("power9", "ebb");
}

#[test]
fn a_recording_of_the_first_itanium_is_traced_like_the_run() {
    is_traced_alike("itanium", "overflow");
}

#[test]
fn a_recording_of_montecito_is_traced_like_the_run() {
    is_traced_alike("montecito", "ip-ear");
}

/// The accesses of a timeline as trace events: the process and what it says.
fn drawn(file: &Path) -> Vec<String> {
    let events: Value = serde_json::from_slice(&fs::read(file).expect("a timeline")).expect("JSON");
    let accesses = events["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "i" && event["tid"] == 1);
    accesses.map(|event| format!("{} {}", event["pid"], event["name"])).collect()
}

#[test]
fn a_timeline_of_a_recording_has_the_accesses_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["run", "--pmu", "power9", "--guest", "overflow", "--record", "a.litmus", "--timeline", "run.json"];
    assert_eq!(pmulab(folder.path(), &run).0, 0);
    let (status, output, errors) = pmulab(folder.path(), &["replay", "a.litmus", "--timeline", "replay.json"]);
    assert_eq!(status, 0, "{output}{errors}");
    assert!(output.starts_with("Timeline: ") && output.contains("\nthe same: "), "{output}");
    let run = drawn(&folder.path().join("run.json"));
    assert!(run.len() > 50, "{} accesses", run.len());
    assert_eq!(run, drawn(&folder.path().join("replay.json")));
}

/// The registers that a value change dump gives values.
fn dumped(file: &Path) -> BTreeSet<String> {
    let mut parser = vcd::Parser::new(std::io::BufReader::new(fs::File::open(file).expect("a dump")));
    let header = parser.parse_header().expect("a header");
    let last = parser.map(|command| command.expect("a command")).fold(0, |last, command| match command {
        vcd::Command::Timestamp(time) => {
            assert!(time >= last, "{time} behind {last}");
            time
        }
        _ => last,
    });
    assert!(last > 0, "no time passes");
    let module = header.items.iter().find_map(|item| if let vcd::ScopeItem::Scope(scope) = item { Some(scope) } else { None });
    let names = |item: &vcd::ScopeItem| if let vcd::ScopeItem::Var(var) = item { Some(var.reference.clone()) } else { None };
    module.expect("a module").items.iter().filter_map(names).collect()
}

#[test]
fn a_value_change_dump_of_a_recording_has_the_registers_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = ["run", "--pmu", "knl", "--guest", "freeze", "--record", "a.litmus", "--timeline", "run.vcd"];
    assert_eq!(pmulab(folder.path(), &run).0, 0);
    assert_eq!(pmulab(folder.path(), &["replay", "a.litmus", "--timeline", "replay.vcd"]).0, 0);
    assert_eq!(dumped(&folder.path().join("run.vcd")), dumped(&folder.path().join("replay.vcd")));
}

/// A recording by hand: what is fed, and three accesses.
const RECORDING: &str = "title: T\npmu: k8\nsection: S\nrecording: yes\n\nwrite PerfCtr0 0x5\nfeed instructions_retired=100\nread PerfCtr0 = 0x5\nread PerfCtr1 = 0x0\n";

fn by_hand(arguments: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.litmus"), RECORDING).expect("written");
    pmulab(folder.path(), &[&["replay", "a.litmus"], arguments].concat())
}

#[test]
fn time_is_what_was_fed_and_accesses_are_apart() {
    let (status, output, errors) = by_hand(&["--trace", "9", "--format", "json"]);
    assert_eq!(status, 0, "{errors}");
    let shown: Value = serde_json::from_str(&output).expect("JSON");
    let time = |entry: &Value| (entry["instruction"].as_u64(), entry["cycle"].as_u64());
    let times: Vec<_> = shown["trace"].as_array().expect("a trace").iter().map(time).collect();
    assert_eq!(times, [(Some(0), Some(0)), (Some(100), Some(100)), (Some(100), Some(101))]);
}

#[test]
fn a_recording_has_no_addresses() {
    let (_, output, _) = by_hand(&["--trace", "9", "--format", "json"]);
    let shown: Value = serde_json::from_str(&output).expect("JSON");
    assert!(shown["trace"].as_array().expect("a trace").iter().all(|entry| entry.get("address").is_none()), "{output}");
}

#[test]
fn a_stretch_is_traced_alone() {
    let (status, output, errors) = by_hand(&["--trace", "9", "--from", "read PerfCtr1"]);
    assert_eq!(status, 0, "{errors}");
    assert!(output.contains("PerfCtr1 reads 0x0") && !output.contains("PerfCtr0"), "{output}");
}

#[test]
fn a_trace_ends_before_the_first_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.litmus"), RECORDING.replace("PerfCtr0 = 0x5", "PerfCtr0 = 0x6")).expect("written");
    let (status, output, _) = pmulab(folder.path(), &["replay", "a.litmus", "--trace", "9"]);
    assert_eq!(status, 1, "{output}");
    assert!(output.contains("PerfCtr0 := 0x5") && !output.contains("PerfCtr1 reads"), "{output}");
    assert!(output.contains("the first difference after 2 statements that showed the same: "), "{output}");
}

#[test]
fn what_a_recording_does_not_have_is_refused() {
    let (status, _, errors) = by_hand(&["--trace-around-failure", "3"]);
    let right = "choose with --trace-until REG=VALUE or overflow, or --trace-last";
    assert_eq!((status, errors), (2, format!("pmulab: a recording has no checks of a guest: {right}\n")));
    let (status, _, errors) = by_hand(&["--trace", "3", "--trace-thread", "1"]);
    assert_eq!((status, errors.as_str()), (2, "pmulab: there is no thread 1 to trace: the recording has 1, counted from 0\n"));
}
