//! `pmulab top`, without a terminal and on one.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{mistake, pmulab, shown};
use crate::elf::elf;

#[test]
fn frames_are_text_of_at_most_the_size() {
    let text = shown(&["top", "profile", "--pmu", "k8", "--frames", "3", "--every", "500", "--size", "80x24"]);
    let frames: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert_eq!(frames.len(), 3, "{text}");
    for (number, frame) in frames.iter().enumerate() {
        let steps = ["500", "1,000", "1,500"][number];
        assert!(frame.starts_with(&format!(" profile on k8   step {steps}\n")), "{frame}");
        assert!(frame.lines().count() <= 24 && frame.lines().all(|line| line.chars().count() <= 80), "{frame}");
    }
}

#[test]
fn frames_of_two_runs_are_the_same() {
    for (pmu, guest) in [("knl", "any-thread"), ("power9", "four-threads"), ("itanium", "overflow"), ("montecito", "overflow")] {
        let once = || shown(&["top", guest, "--pmu", pmu, "--frames", "2", "--every", "3000", "--size", "120x40"]);
        assert_eq!(once(), once(), "{pmu}");
    }
}

#[test]
fn a_guest_that_ends_has_its_result_in_the_last_line() {
    // The guest takes 4,041 instructions.
    let text = shown(&["top", "count", "--pmu", "k8", "--frames", "10"]);
    assert_eq!(text.lines().last(), Some("all 64 checks passed"), "{text}");
    assert_eq!(text.matches(" count on k8   step ").count(), 5, "{text}");
}

#[test]
fn a_run_that_does_not_end_fails() {
    let output = pmulab(&["top", "count", "--pmu", "k8", "--frames", "10", "--steps", "1500"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("not done after 1,500 steps: --steps allows more\n"));
}

#[test]
fn a_file_is_shown_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin.elf");
    // jmp to itself.
    std::fs::write(&path, elf(62, 0x40_0000, &[0xeb, 0xfe])).unwrap();
    let text = shown(&["top", path.to_str().unwrap(), "--frames", "1", "--every", "7"]);
    assert!(text.starts_with(" spin.elf on k8   step 7\n instruction 7   cycle "), "{text}");
}

#[test]
fn without_a_terminal_the_line_says_what_to_use_instead() {
    let line = mistake(&["top", "count", "--pmu", "k8"]);
    assert_eq!(line, "there is no terminal to show the view on: add `--frames COUNT`, which prints frames as text");
}

#[test]
fn engines_that_do_not_stop_between_steps_are_refused() {
    for engine in ["kvm", "unicorn"] {
        let line = mistake(&["top", "count", "--pmu", "k8", "--frames", "1", "--engine", engine]);
        let built = line.contains("only the interpreter stops between steps: leave out `--engine`");
        assert!(built || line.contains(&format!("this build has no engine `{engine}`")), "{line}");
    }
}

#[test]
fn unknown_guests_and_sizes_are_refused() {
    let line = mistake(&["top", "cuont", "--pmu", "k8", "--frames", "1"]);
    assert!(line.contains("no guest or file is called `cuont`: did you mean count"), "{line}");
    let output = pmulab(&["top", "count", "--pmu", "k8", "--frames", "1", "--size", "8x8"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("write 40x10 to 400x200, for example 80x24"));
}

#[test]
fn on_a_terminal_keys_step_and_leave() {
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: on_a_terminal_keys_step_and_leave, as there is no script");
        return;
    }
    let command = format!("stty cols 80 rows 24; TERM=xterm {} top count --pmu k8", env!("CARGO_BIN_EXE_pmulab"));
    let mut child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Keys wait in the terminal until the view reads them.
    child.stdin.as_mut().unwrap().write_all(b"sq").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    let (first, later) = text.split_once("quit").expect("the line of keys is the last of the first frame");
    assert!(first.contains("count on k8   step 0   paused"), "{text}");
    // Of a later frame the terminal gets the cells alone that differ: after a step, one instruction and one cycle.
    assert!(later.contains("H1"), "{text}");
}
