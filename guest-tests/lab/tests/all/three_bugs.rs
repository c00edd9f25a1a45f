//! The driver with three bugs, as the book's page tells its story: each is shown by the command that the page gives.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// The drivers, built with the page's own commands; nothing where there is no compiler.
fn drivers() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<TempDir>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if !Command::new("gcc").arg("--version").output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: there is no gcc");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["guest-tests", "docs"] {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
        }
        let page = std::fs::read_to_string(root().join("docs/src/three-bugs.md")).expect("the page");
        let (_, commands) = page.split_once("```sh\n").expect("the page has commands");
        let (commands, _) = commands.split_once("```").expect("they end");
        let output = Command::new("sh").args(["-e", "-c", commands]).current_dir(folder.path()).output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(folder)
    });
    built.as_ref().map(TempDir::path)
}

/// What `pmulab` prints, as in a terminal of 100 columns.
fn pmulab(folder: &Path, line: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(line.split(' ')).current_dir(folder).output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

/// The numbers that the test of a driver saw, by what it checks, and whether they are right.
fn checks(folder: &Path, mended: u32) -> [(u64, bool); 2] {
    let text = pmulab(folder, &format!("run --pmu knl --guest driver{mended}.elf --format json"));
    let report: serde_json::Value = serde_json::from_str(&text).expect("a report");
    [0, 1].map(|number| {
        let check = &report["checks"][number];
        let value = |name: &str| check[name].as_u64().expect("a number");
        (value("seen"), (value("least")..=value("most")).contains(&value("seen")))
    })
}

#[test]
fn each_bug_that_is_mended_leaves_the_others() {
    let Some(folder) = drivers() else { return };
    let [(samples, right), (loads, right_too)] = checks(folder, 0);
    assert!(!right && samples < 15 && !right_too && loads < 1_000, "{samples} samples, {loads} loads");
    let [(samples, right), (loads, right_too)] = checks(folder, 1);
    assert!(!right && samples < 15 && !right_too && loads > 5_300, "{samples} samples, {loads} loads");
    let [(samples, right), (loads, right_too)] = checks(folder, 2);
    assert!(!right && samples < 15 && right_too, "{samples} samples, {loads} loads");
    let [(samples, right), (loads, right_too)] = checks(folder, 3);
    assert!(right && right_too, "{samples} samples, {loads} loads");
}

#[test]
fn a_trace_names_the_event_of_the_wrong_unit_mask() {
    let Some(folder) = drivers() else { return };
    let wrong = pmulab(folder, "run --pmu knl --guest driver0.elf --trace 9 --trace-register IA32_PERFEVTSEL1");
    assert!(wrong.contains("IA32_PERFEVTSEL1 := 0x428004") && wrong.contains("MEM_UOPS_RETIRED:ALL_STORES:k"), "{wrong}");
    let right = pmulab(folder, "encode --pmu knl MEM_UOPS_RETIRED.ALL_LOADS:k");
    assert!(right.contains("0x424004"), "{right}");
}

#[test]
fn counting_from_outside_shows_that_there_were_loads() {
    let Some(folder) = drivers() else { return };
    let line = "stat --pmu knl -e MEM_UOPS_RETIRED.ALL_LOADS:k,MEM_UOPS_RETIRED.ALL_STORES:k --format json driver0.elf";
    let counted: serde_json::Value = serde_json::from_str(&pmulab(folder, line)).expect("counts");
    let [loads, stores] = [0, 1].map(|number| counted["events"][number]["count"].as_f64().expect("a number"));
    assert!(loads > 5_000.0 && stores < 1_000.0, "{loads} loads, {stores} stores");
}

#[test]
fn a_freeze_in_the_handler_is_in_the_trace_if_it_is_in_the_driver() {
    let Some(folder) = drivers() else { return };
    let froze = |mended: u32| {
        let trace = pmulab(folder, &format!("run --pmu knl --guest driver{mended}.elf --trace 8 --trace-kind interrupt,freeze"));
        trace.lines().skip_while(|line| !line.contains("the interrupt is taken")).any(|line| line.contains("  frozen  "))
    };
    assert!(!froze(1));
    assert!(froze(2));
}

#[test]
fn samples_from_outside_fall_into_the_handler_that_counts_itself() {
    let Some(folder) = drivers() else { return };
    pmulab(folder, "record --pmu knl -e MEM_UOPS_RETIRED.ALL_LOADS:k -c 100 -o loads.json driver1.elf");
    let report = pmulab(folder, "report loads.json");
    assert!(report.contains("  main ") && report.contains("  overflow "), "{report}");
}

#[test]
fn the_counter_is_written_by_the_handler_once_that_is_mended() {
    let Some(folder) = drivers() else { return };
    let writer = |mended: u32| {
        let trace = pmulab(
            folder,
            &format!(
                "run --pmu knl --guest driver{mended}.elf --trace 9 --trace-kind write,interrupt --trace-register IA32_A_PMC0 --format json"
            ),
        );
        let report: serde_json::Value = serde_json::from_str(&trace).expect("a report");
        let entries = report["trace"].as_array().expect("a trace");
        let taken = entries.iter().position(|entry| entry["action"] != "write").expect("an interrupt");
        let write = entries.iter().skip(taken).find(|entry| entry["action"] == "write").expect("a write behind it");
        let places = report["places"].as_array().expect("places");
        let place = places.iter().find(|place| place["address"] == write["address"]).expect("it has a symbol");
        place["symbol"].as_str().expect("a name").to_owned()
    };
    assert_eq!(writer(2), "main");
    assert_eq!(writer(3), "overflow");
}

#[test]
fn recordings_differ_where_the_write_has_moved() {
    let Some(folder) = drivers() else { return };
    pmulab(folder, "run --pmu knl --guest driver2.elf --record before.litmus");
    pmulab(folder, "run --pmu knl --guest driver3.elf --record after.litmus");
    let difference = pmulab(folder, "diff before.litmus after.litmus --context 2");
    assert!(difference.lines().any(|line| line.starts_with('+') && line.ends_with("write IA32_A_PMC0 0xfffffffc18")), "{difference}");
    let again = pmulab(folder, "replay after.litmus");
    assert!(again.starts_with("the same: "), "{again}");
}
