//! Litmus files: run from files and folders, and made smaller.

use std::fs;

use super::{json, mistake, pmulab, shown};

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
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("fails.litmus: line 6: MSR C001_0004h gave 0xffffffffffff, expected 0x1"), "{text}");
}

const TABLE: &str = "\
pmu: k8
section: AMD BKDG 10.1

for n, value in
  0, 5
  3, 6
do
  title: Counter {n} keeps {value}

  write PerfCtr{n} {value}
  read PerfCtr{n} = {value}
end
";

#[test]
fn a_file_of_several_programs_has_a_line_for_each() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("table.litmus"), TABLE).unwrap();
    let text = shown(&["litmus", folder.path().to_str().unwrap()]);
    let titles: Vec<&str> = text.lines().filter_map(|line| line.split_once(".litmus: ")).map(|(_, title)| title).collect();
    assert_eq!(titles, ["Counter 0 keeps 5", "Counter 3 keeps 6"]);
    assert!(text.ends_with("1 litmus file with 2 rules: 2 ok, 0 failed; 2 expectations met\n"), "{text}");
}

#[test]
fn the_program_of_a_file_that_fails_is_made_smaller_without_loops() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.litmus");
    // Of the second row alone the value that is read is wrong.
    fs::write(&file, TABLE.replace("3, 6", "3, 9").replace("= {value}", "= 5")).unwrap();
    let text = shown(&["litmus", "shrink", file.to_str().unwrap()]);
    let expected = "title: Counter 3 keeps 9\npmu: k8\nsection: AMD BKDG 10.1\n\nwrite PerfCtr3 0x9\nread PerfCtr3 = 0x5\n";
    assert_eq!(text, expected);
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
    let lines: Vec<&str> = errors.lines().collect();
    assert!(lines[0].starts_with("pmulab: ") && lines[0].contains("a.litmus:4:1: `frobnicate` is not a statement"), "{errors}");
    assert_eq!(lines[1..3], ["    4 | frobnicate", "      | ^^^^^^^^^^"]);
    assert!(lines[3].contains("c.litmus: it is no text in UTF-8; a litmus file begins ") && lines.len() == 4, "{errors}");
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
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("64 packages of 64 threads are too many: 1024 threads are the most\n"), "{errors}");
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

/// A folder with a file that passes, one that fails and one that is none.
fn mixed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a-passes.litmus"), PASSES).unwrap();
    let fails = PASSES.replace("= 0xffff_ffff_ffff", "= 0x1").replace("10.1", "10.2").replace("PerfCtr0", "PerfCtr1");
    fs::write(folder.path().join("b-fails.litmus"), fails).unwrap();
    fs::write(folder.path().join("c-wrong.litmus"), PASSES.replace("write PerfCtr0 -1", "write PerfCtr9 x\nwait")).unwrap();
    folder
}

/// The ends of the names of the files that a command with these arguments runs.
fn run(folder: &tempfile::TempDir, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["litmus", folder.path().to_str().unwrap(), "--format", "json"], arguments].concat();
    let all: serde_json::Value = serde_json::from_slice(&pmulab(&arguments).stdout).unwrap();
    let name = |file: &serde_json::Value| file["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    all.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn json_has_what_became_of_each_file() {
    let folder = mixed();
    let output = pmulab(&["litmus", folder.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(2), ""));
    let all: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |at: usize, key: &str| all[at][key].clone();
    assert_eq!((of(0, "outcome"), of(0, "expectations"), of(0, "pmu")), ("ok".into(), 1.into(), "k8".into()));
    assert_eq!((of(0, "title"), of(0, "section")), ("A counter keeps 48 bits".into(), "AMD BKDG 10.1".into()));
    let failure = serde_json::json!({ "line": 6, "message": "MSR C001_0005h gave 0xffffffffffff, expected 0x1" });
    assert_eq!((of(1, "outcome"), of(1, "failure")), ("failed".into(), failure));
    // Of `write PerfCtr9 x` the register is the first mistake.
    let mistakes = of(2, "mistakes");
    let place = |at: usize| (mistakes[at]["line"].as_u64(), mistakes[at]["column"].as_u64(), mistakes[at]["length"].as_u64());
    assert_eq!((of(2, "outcome"), of(2, "title")), ("not understood".into(), serde_json::Value::Null));
    assert_eq!((place(0), place(1)), ((Some(5), Some(7), Some(8)), (Some(6), Some(1), Some(4))));
}

#[test]
fn files_are_chosen_by_name_section_register_and_failure() {
    let folder = mixed();
    assert_eq!(run(&folder, &["--name", "FAILS"]), ["b-fails.litmus"]);
    assert_eq!(run(&folder, &["--name", "48 bits"]), ["a-passes.litmus", "b-fails.litmus"], "by the title too");
    assert_eq!(run(&folder, &["--section", "bkdg 10.2"]), ["b-fails.litmus"]);
    assert_eq!(run(&folder, &["--register", "perfctr0"]), ["a-passes.litmus"]);
    assert_eq!(run(&folder, &["--register", "msr:0xc0010005"]), ["b-fails.litmus"]);
    assert_eq!(run(&folder, &["--failures"]), ["b-fails.litmus", "c-wrong.litmus"]);
    assert_eq!(run(&folder, &["--pmu", "k8", "--register", "PerfCtr1"]), ["b-fails.litmus"]);
    let path = folder.path().to_str().unwrap();
    assert_eq!(mistake(&["litmus", path, "--name", "none"]), "none of 3 litmus files fits what was asked for");
    assert!(mistake(&["litmus", path, "--register", "PerfCtrl0"]).ends_with("did you mean PerfCtr0, PerfCtr1 or PerfCtr2?"));
}

#[test]
fn without_a_path_the_suite_is_run() {
    let text = shown(&["litmus", "--pmu", "k8", "--register", "PerfEvtSel3", "--name", "keeps"]);
    assert!(text.lines().next().is_some_and(|line| line.starts_with("ok      k8/")), "{text}");
    let all = json(&["litmus", "--pmu", "k8", "--section", "BKDG 10.1", "--format", "json"]);
    assert!(all.as_array().unwrap().iter().all(|file| file["outcome"] == "ok" && file["section"].as_str().unwrap().contains("BKDG 10.1")));
}

#[test]
fn a_file_is_begun_by_options_and_parses() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new.litmus");
    let path = file.to_str().unwrap();
    let arguments = ["litmus", "new", path, "--pmu", "k8", "--title", "A rule", "--section", "AMD BKDG 10.1"];
    shown(&[&arguments[..], &["--statement", "write PerfCtr0 3", "--statement", "read PerfCtr0 = 3"]].concat());
    let expected = "title: A rule\npmu: k8\nsection: AMD BKDG 10.1\n\nwrite PerfCtr0 3\nread PerfCtr0 = 3\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert!(mistake(&arguments).ends_with("is there already"));
    assert!(shown(&["litmus", path]).ends_with("1 litmus file: 1 ok, 0 failed; 1 expectation met\n"));
}

#[test]
fn a_file_is_begun_by_answers() {
    let folder = tempfile::tempdir().unwrap();
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let file = folder.path().join(format!("{pmu}.litmus"));
        let mut command = assert_cmd::Command::cargo_bin("pmulab").unwrap();
        let answers = format!("{pmu}\nA rule\nA section\n\n");
        command.args(["litmus", "new", file.to_str().unwrap()]).write_stdin(answers).assert().success();
        // Without a statement there is one that is true.
        assert!(shown(&["litmus", file.to_str().unwrap()]).ends_with("1 ok, 0 failed; 1 expectation met\n"), "{pmu}");
    }
    let file = folder.path().join("none.litmus");
    let unanswered = mistake(&["litmus", "new", file.to_str().unwrap(), "--pmu", "k8"]);
    assert_eq!(unanswered, "there is no answer: give --title");
    let wrong = ["--pmu", "k8", "--title", "T", "--section", "S", "--statement", "wait"];
    assert!(
        mistake(&[&["litmus", "new", file.to_str().unwrap()][..], &wrong].concat()).starts_with("--statement: `wait` is not a statement")
    );
    assert!(!file.exists());
}
