//! What cannot be done is refused in one line, before anything runs.

use std::fs;

use assert_cmd::Command;

use super::{mistake, shown};
use crate::elf::elf;

const LITMUS: &str = "title: T\npmu: k8\nsection: S\nrecording: yes\n\nread PerfCtr0 = 0x0\n";

/// The one line of a command in a folder with files of every kind.
fn refused(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("x86.elf", &elf(62, 0x40_0000, &[0xf4]));
    write("k8.litmus", LITMUS.as_bytes());
    write("knl.litmus", LITMUS.replace("k8", "knl").replace("PerfCtr0", "IA32_PMC0").as_bytes());
    write("run.html", b"<!DOCTYPE html>\n");
    write("run.vcd", b"$timescale 1 ns $end\n");
    write("bytes", &[0xff, 0xfe]);
    let record = ["record", "--pmu", "k8", "count"];
    Command::cargo_bin("pmulab").unwrap().args(record).current_dir(folder.path()).assert().success();
    let output = Command::cargo_bin("pmulab").unwrap().args(arguments).current_dir(folder.path()).output().unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), line.lines().count()), (Some(2), 0, 1), "{arguments:?}: {line}");
    line.trim_start_matches("pmulab: ").trim_end().to_owned()
}

#[test]
fn a_file_for_another_command_is_told_by_its_kind() {
    const ELF: &str = "it is an ELF file, which `pmulab run`, `stat`, `record` and `top` take";
    for arguments in [
        &["report", "x86.elf"][..],
        &["annotate", "x86.elf", "main"],
        &["replay", "x86.elf"],
        &["diff", "x86.elf", "k8.litmus"],
        &["diff", "k8.litmus", "x86.elf"],
        &["metrics", "--counts", "x86.elf"],
        &["litmus", "shrink", "x86.elf"],
        &["litmus", "x86.elf"],
    ] {
        let line = refused_or_not_understood(arguments);
        assert!(line.contains(ELF), "{arguments:?}: {line}");
    }
    assert_eq!(
        refused(&["report", "k8.litmus"]),
        "k8.litmus cannot be read: it is a litmus file or a recording, which `pmulab litmus`, `replay` and `diff` take; samples are what \
         `pmulab record GUEST -o FILE` writes"
    );
    assert_eq!(
        refused(&["replay", "pmulab.data"]),
        "pmulab.data: it has samples, which `pmulab report` and `annotate` take; recordings are what `pmulab run GUEST -o FILE` writes"
    );
    assert!(refused(&["metrics", "--counts", "run.html"]).contains("it is a page, which a browser shows; counts are "));
    assert!(refused(&["replay", "run.vcd"]).contains("it is a timeline"));
    assert!(refused(&["replay", "bytes"]).contains("it is no text in UTF-8; recordings are "));
    for command in ["run", "stat", "record", "top"] {
        let line = refused(&[command, "k8.litmus"]);
        assert!(line.starts_with("k8.litmus is no guest: it is a litmus file or a recording"), "{command}: {line}");
    }
}

/// As [`refused`], of a command that says how many files it did not understand.
fn refused_or_not_understood(arguments: &[&str]) -> String {
    if arguments[0] != "litmus" || arguments[1] == "shrink" {
        return refused(arguments);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x86.elf"), elf(62, 0x40_0000, &[0xf4])).unwrap();
    let output = Command::cargo_bin("pmulab").unwrap().args(arguments).current_dir(folder.path()).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn recordings_of_two_pmus_are_not_compared() {
    let line = refused(&["diff", "k8.litmus", "knl.litmus"]);
    assert_eq!(line, "k8.litmus is of k8 and knl.litmus of knl: give two recordings of one part");
}

#[test]
fn a_guest_of_the_project_has_its_own_machine() {
    let own = |option: &str, cpus: &str| format!("`{option}` is for guests from files, and count has a machine of {cpus}: leave it out");
    assert_eq!(mistake(&["run", "count", "--pmu", "k8", "--cpus", "99"]), own("--cpus", "1 CPU"));
    assert_eq!(mistake(&["run", "count", "--pmu", "power9", "--chips", "2"]), own("--chips", "1 CPU"));
    assert_eq!(mistake(&["run", "count", "--pmu", "knl", "--memory-mode", "flat"]), own("--memory-mode", "1 CPU"));
    for command in ["stat", "record", "top"] {
        assert_eq!(mistake(&[command, "count", "--pmu", "k8", "--cpus", "99"]), own("--cpus", "1 CPU"), "{command}");
    }
    assert!(mistake(&["run", "all", "--cpus", "2"]).starts_with("`--cpus` is for guests from files"));
}

#[test]
fn an_option_that_a_part_has_nothing_for_is_refused() {
    assert_eq!(mistake(&["run", "count", "--pmu", "k8", "--buffered"]), "count: `--buffered` is for guests of power9");
    assert_eq!(mistake(&["run", "count", "--pmu", "knl", "--chips-per-group", "2"]), "count: `--chips-per-group` is for guests of power9");
    assert_eq!(mistake(&["run", "count", "--pmu", "montecito", "--big-endian"]), "count: `--big-endian` is for guests of power9");
    assert_eq!(mistake(&["run", "count", "--pmu", "k8", "--chips", "0"]), "`0` is no value of `--chips <COUNT>`: write a number from 1 up");
    assert_eq!(refused(&["run", "x86.elf", "--pmu", "knl", "--chips", "2"]), "x86.elf: `--chips` is for guests of k8 and power9");
}

#[test]
fn the_range_of_cpus_is_said() {
    // The engine of x86 has local APICs with identifiers of 8 bits, of which FFh is for all.
    assert!(refused(&["run", "x86.elf", "--cpus", "256"]).ends_with("256 CPUs: a machine has 1 to 255"));
    assert!(refused(&["stat", "x86.elf", "--cpus", "0"]).ends_with("0 CPUs: a machine has 1 to 255"));
}

#[test]
fn what_is_of_one_guest_is_refused_for_several() {
    for (arguments, what) in [
        (&["--gdb"][..], "gdb runs one guest"),
        (&["-o", "a.litmus"], "a recording is of one guest"),
        (&["--timeline", "run.json"], "a timeline is of one run"),
        (&["--report", "run.html"], "a page is of one run"),
        (&["--trace", "5"], "a trace is of one guest, or in JSON"),
    ] {
        assert_eq!(mistake(&[&["run", "all"], arguments].concat()), format!("{what}: name one"));
        let two = ["run", "--pmu", "k8", "count", "filter"];
        assert_eq!(mistake(&[&two, arguments].concat()), format!("{what}: name one"));
    }
}

#[test]
fn metrics_go_with_nothing_that_they_would_leave_out() {
    for (arguments, option) in
        [(["-o", "a.litmus"], "--output <FILE>"), (["--trace", "5"], "--trace <COUNT>"), (["--trace-last", "5"], "--trace-last <COUNT>")]
    {
        let run = ["run", "--pmu", "power9", "count", "-M", "RUN_CPI"];
        let line = mistake(&[&run[..], &arguments].concat());
        assert_eq!(line, format!("`--metric <NAME|CATEGORY|all>` cannot be used with `{option}`"));
    }
}

#[test]
fn an_unknown_revision_has_those_that_there_are() {
    // AMD BKDG: revisions C, D and E.
    let line = "k8 has no revision `Z`; there are C, D and E";
    for command in ["run", "stat", "record", "top"] {
        assert_eq!(mistake(&[command, "count", "--pmu", "k8", "--revision", "Z"]), line, "{command}");
    }
    assert_eq!(mistake(&["encode", "--pmu", "k8", "0x76", "--revision", "Z"]), line);
}

#[test]
fn a_file_that_one_part_alone_executes_needs_no_pmu() {
    let folder = tempfile::tempdir().unwrap();
    // 48000000h: b . of POWER.
    fs::write(folder.path().join("power.elf"), elf(21, 0x40_0000, &0x4800_0000u32.to_le_bytes())).unwrap();
    for command in ["run", "stat"] {
        let output = Command::cargo_bin("pmulab").unwrap();
        let output = { output }.args([command, "power.elf", "--steps", "10"]).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().next().unwrap_or("").contains(" on power9"), "{command}: {text}");
    }
}

#[test]
fn older_ways_to_say_it_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = Command::cargo_bin("pmulab").unwrap().args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("run --pmu k8 --guest count --guest filter"), run("run --pmu k8 count filter"));
    assert_eq!(run("run --pmu power9 --guest count --metrics RUN_CPI"), run("run --pmu power9 count -M RUN_CPI"));
    assert_eq!(run("stat --pmu k8 --guest count"), run("stat --pmu k8 count"));
    run("run --pmu k8 count --record old.litmus");
    run("run --pmu k8 count -o new.litmus");
    assert!(run("diff old.litmus new.litmus --all").starts_with("the same in both"));
    assert_eq!(mistake(&["boot", "--on", "qemu", "--part", "z80"]), mistake(&["boot", "--on", "qemu", "--pmu", "z80"]));
    assert!(!shown(&["run", "--help"]).contains("--guest"));
}
