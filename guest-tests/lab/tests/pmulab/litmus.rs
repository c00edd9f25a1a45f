//! Litmus files: run from files and folders, and made smaller.

use std::fs;

use crate::{mistake, pmulab, shown};

const PASSES: &str = "\
title: A counter keeps 48 bits
pmu: k8
section: AMD BKDG 10.1

write PerfCtr0 -1
read PerfCtr0 = 0xffff_ffff_ffff
";

#[test]
fn a_folder_is_searched_and_each_file_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("k8")).unwrap();
    fs::write(folder.path().join("k8/keeps.litmus"), PASSES).unwrap();
    fs::write(folder.path().join("notes.txt"), "no litmus file").unwrap();
    let text = shown(&["litmus", folder.path().to_str().unwrap()]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("ok ") && lines[0].ends_with("keeps.litmus: A counter keeps 48 bits"), "{text}");
    assert_eq!(lines[1..], ["1 litmus file: 1 ok, 0 failed; 1 expectation met"]);
}

#[test]
fn a_failure_names_the_line_and_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fails.litmus");
    fs::write(&file, PASSES.replace("= 0xffff_ffff_ffff", "= 0x1")).unwrap();
    let output = pmulab(&["litmus", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("FAILED "), "{text}");
    assert!(text.contains("fails.litmus: line 6: MSR C001_0004h gave 0xffffffffffff, expected 0x1"), "{text}");
}

#[test]
fn a_file_that_fails_is_made_smaller() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fails.litmus");
    let more = "write PerfCtr1 7\nsave\nread PerfCtr0 = 0x1\nread PerfCtr1 = 7\n";
    fs::write(&file, PASSES.replace("read PerfCtr0 = 0xffff_ffff_ffff\n", more)).unwrap();
    let text = shown(&["litmus", "shrink", file.to_str().unwrap()]);
    assert_eq!(
        text,
        "title: A counter keeps 48 bits\npmu: k8\nsection: AMD BKDG 10.1\n\nwrite PerfCtr0 0xffffffffffff\nread PerfCtr0 = 0x1\n"
    );
}

#[test]
fn a_file_in_which_nothing_fails_cannot_be_made_smaller() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keeps.litmus");
    fs::write(&file, PASSES).unwrap();
    let output = pmulab(&["litmus", "shrink", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.ends_with("nothing fails in it: 1 expectation met, and all embedders see the same\n"), "{errors}");
}

#[test]
fn what_is_no_litmus_file_has_its_line_and_the_others_still_run() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.litmus"), "title: A\npmu: k8\nsection: none\nfrobnicate").unwrap();
    fs::write(folder.path().join("b.litmus"), PASSES).unwrap();
    fs::write(folder.path().join("c.litmus"), [0xff, 0xfe]).unwrap();
    let output = pmulab(&["litmus", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.lines().count(), 2, "{errors}");
    assert!(errors.starts_with("pmulab: ") && errors.contains("a.litmus: line 4: "), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("3 litmus files: 1 ok, 0 failed, 2 not understood; 1 expectation met\n"), "{text}");
}

#[test]
fn a_machine_too_large_to_build_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.litmus");
    fs::write(&file, PASSES.replace("pmu: k8", "pmu: k8\npackages: 64\nthreads: 64")).unwrap();
    let output = pmulab(&["litmus", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("64 packages of 64 threads are too many: 1024 threads are the most\n"));
}

#[test]
fn a_path_that_leads_nowhere_is_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("counter.litmus"), PASSES).unwrap();
    let line = mistake(&["litmus", folder.path().join("conter.litmus").to_str().unwrap()]);
    assert!(line.ends_with(": did you mean counter.litmus?"), "{line}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert!(mistake(&["litmus", folder.path().join("empty").to_str().unwrap()]).contains("holds no file"));
}
