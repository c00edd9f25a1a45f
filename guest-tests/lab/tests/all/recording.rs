//! Recordings by the program: made, replayed, cut and compared.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

fn pmulab(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::cargo_bin("pmulab").expect("the program").current_dir(folder).args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
}

/// A folder with the recording of a guest.
fn recorded(pmu: &str, guest: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (status, output, errors) = pmulab(folder.path(), &["run", "--pmu", pmu, "--guest", guest, "--record", "a.litmus"]);
    assert_eq!(status, 0, "{output}{errors}");
    assert!(!output.contains("; left out: "), "{output}");
    let statements =
        fs::read_to_string(folder.path().join("a.litmus")).expect("a recording").lines().skip_while(|line| !line.is_empty()).count();
    assert!(statements > 50, "{statements} lines");
    folder
}

fn is_the_same_again(pmu: &str, guest: &str) {
    let folder = recorded(pmu, guest);
    let (status, output, _) = pmulab(folder.path(), &["replay", "a.litmus"]);
    assert_eq!(status, 0, "{output}");
    assert!(output.starts_with("the same: "), "{output}");
}

#[test]
fn a_guest_of_the_k8_is_the_same_again() {
    is_the_same_again("k8", "overflow");
}

#[test]
fn a_guest_of_knights_landing_is_the_same_again() {
    is_the_same_again("knl", "overflow");
}

#[test]
fn messages_of_the_mesh_are_the_same_again() {
    is_the_same_again("knl", "mesh-routes");
}

#[test]
fn what_a_core_posts_is_the_same_again() {
    is_the_same_again("power9", "core-collection");
}

#[test]
fn a_guest_of_power9_is_the_same_again() {
    is_the_same_again("power9", "overflow");
}

#[test]
fn a_guest_of_the_first_itanium_is_the_same_again() {
    is_the_same_again("itanium", "overflow");
}

#[test]
fn a_guest_of_montecito_is_the_same_again() {
    is_the_same_again("montecito", "ip-ear");
}

#[test]
fn the_first_difference_is_shown_with_the_lines_before_it() {
    let folder = recorded("k8", "count");
    let file = folder.path().join("a.litmus");
    let text = fs::read_to_string(&file).expect("a recording");
    let (before, _) = text.split_once("read PerfCtr0 = 0x46\n").expect("the guest reads it");
    let line = before.lines().count() + 1;
    fs::write(&file, text.replacen("read PerfCtr0 = 0x46", "read PerfCtr0 = 0x47", 1)).expect("written");
    let (status, output, _) = pmulab(folder.path(), &["replay", "a.litmus", "--context", "1"]);
    assert_eq!(status, 1, "{output}");
    let words = output.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" that showed the same: MSR C001_0004h gave 0x46, expected 0x47 "), "{output}");
    assert!(output.ends_with(&format!("> {line:>7}  read PerfCtr0 = 0x47\n")), "{output}");
}

#[test]
fn a_stretch_begins_with_what_was_there() {
    let folder = recorded("k8", "count");
    let cut = ["replay", "a.litmus", "--from", "read PerfCtr0 = 0x46", "--to", "write PerfCtr1", "--output", "b.litmus"];
    let (status, output, errors) = pmulab(folder.path(), &cut);
    assert_eq!(status, 0, "{output}{errors}");
    let stretch = fs::read_to_string(folder.path().join("b.litmus")).expect("the stretch");
    let statements: Vec<&str> = stretch.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
    assert_eq!(statements.first(), Some(&"read PerfCtr0 = 0x46"));
    assert!(statements.iter().all(|line| !line.starts_with("write")), "{statements:?}");
    assert_eq!(pmulab(folder.path(), &["litmus", "b.litmus"]).0, 0);
}

#[test]
fn a_stretch_that_is_not_there_is_refused() {
    let folder = recorded("k8", "count");
    let (status, _, errors) = pmulab(folder.path(), &["replay", "a.litmus", "--from", "write MMCR0"]);
    assert_eq!(status, 2);
    assert_eq!(
        errors,
        "pmulab: no statement there begins with `write MMCR0`: give a line's number, or its first words as they are in the file\n"
    );
}

#[test]
fn recordings_that_differ_in_a_write_are_told_apart() {
    let folder = recorded("k8", "count");
    let text = fs::read_to_string(folder.path().join("a.litmus")).expect("a recording");
    fs::write(folder.path().join("b.litmus"), text.replacen("write PerfEvtSel0 0x4200c0", "write PerfEvtSel0 0x4300c0", 1))
        .expect("written");
    let (status, output, _) = pmulab(folder.path(), &["diff", "a.litmus", "b.litmus", "--context", "0"]);
    assert_eq!(status, 1, "{output}");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.ends_with("write PerfEvtSel0 0x4200c0") && line.starts_with('-')).count(), 1, "{output}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("write PerfEvtSel0 0x4300c0") && line.starts_with('+')).count(), 1, "{output}");
    assert_eq!(lines.len(), 5, "{output}");
    assert_eq!(pmulab(folder.path(), &["diff", "a.litmus", "a.litmus"]).0, 0);
}

#[test]
fn a_difference_is_told_to_programs_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, statements: &str| {
        let text = format!("title: T\npmu: k8\nsection: S\nrecording: yes\n\n{statements}");
        fs::write(folder.path().join(name), text).expect("written");
    };
    write("a.litmus", "write PerfCtr0 0x5\nread PerfCtr0 = 0x5\n");
    write("b.litmus", "write PerfCtr0 0x6\nread PerfCtr0 = 0x5\n");
    let diff = |other: &str| {
        let (status, output, errors) = pmulab(folder.path(), &["diff", "a.litmus", other, "--format", "json"]);
        assert_eq!(errors, "");
        (status, serde_json::from_str::<serde_json::Value>(&output).expect("JSON"))
    };
    let line = |left: Option<u32>, right: Option<u32>, of: &str, statement: &str| serde_json::json!({"number": [left, right], "of": of, "statement": statement});
    let stretch = [
        line(Some(1), None, "left", "write PerfCtr0 0x5"),
        line(None, Some(1), "right", "write PerfCtr0 0x6"),
        line(Some(2), Some(2), "both", "read PerfCtr0 = 0x5"),
    ];
    let expected = serde_json::json!({
        "left": "a.litmus", "right": "b.litmus", "pmu": "k8", "same": false, "lines": [2, 2], "differences": 1, "stretches": [stretch],
    });
    assert_eq!(diff("b.litmus"), (1, expected));
    let (status, same) = diff("a.litmus");
    assert_eq!((status, &same["same"], &same["stretches"]), (0, &true.into(), &serde_json::json!([])));
}

#[test]
fn a_recording_of_several_guests_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (status, _, errors) =
        pmulab(folder.path(), &["run", "--pmu", "k8", "--guest", "count", "--guest", "filter", "--record", "a.litmus"]);
    assert_eq!((status, errors.as_str()), (2, "pmulab: a recording is of one guest: name one\n"));
}
