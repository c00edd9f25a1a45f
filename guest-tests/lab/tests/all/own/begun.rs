//! What `pmulab new` begins is built and passes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::{are_there, commands, report, root, script};

fn empty() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The commands that `pmulab new` says to type next.
fn begin(folder: &Path, arguments: &str) -> String {
    let said = script(folder, &format!("pmulab new {arguments}"));
    said.lines().filter_map(|line| line.strip_prefix("  ")).map(|line| format!("{line}\n")).collect()
}

/// Runs `pmulab new`, whatever its status is.
fn new(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pmulab")).arg("new").args(arguments).current_dir(folder).output().expect("it runs")
}

/// Begins a driver of a part, does what is said to be next, and checks what was sampled: 105,000 instructions have ten periods of 10,000.
fn begin_driver(pmu: &str) {
    let folder = empty();
    let commands = begin(folder.path(), &format!("driver --pmu {pmu}"));
    let printed = script(folder.path(), &commands);
    assert!(printed.ends_with("all 3 checks passed\nPASS\n"), "{pmu}: {printed}");
    let report = report(folder.path(), &["--pmu", pmu, "--guest", "driver/driver.elf"]);
    let hits = |sample: &Value| sample["hits"].as_u64().expect("a number");
    let samples = report["samples"].as_array().expect("samples");
    assert_eq!(samples.iter().map(hits).sum::<u64>(), 10, "{pmu}: {samples:?}");
}

#[test]
fn a_driver_of_x86_passes() {
    if are_there(&["gcc", "make"], "a_driver_of_x86_passes") {
        ["k8", "knl"].into_iter().for_each(begin_driver);
    }
}

#[test]
fn a_driver_of_power9_passes() {
    if are_there(&["powerpc64le-linux-gnu-gcc", "make"], "a_driver_of_power9_passes") {
        begin_driver("power9");
    }
}

#[test]
fn the_chapters_driver_passes() {
    if are_there(&["powerpc64le-linux-gnu-gcc", "make"], "the_chapters_driver_passes") {
        let printed = script(empty().path(), &commands("### A driver with an interrupt\n"));
        assert!(printed.ends_with("PASS\n"), "{printed}");
    }
}

#[test]
fn a_driver_of_either_itanium_passes() {
    if are_there(&["ia64-linux-gnu-as", "ia64-linux-gnu-ld", "make"], "a_driver_of_either_itanium_passes") {
        ["itanium", "montecito"].into_iter().for_each(begin_driver);
    }
}

// What it prints is worked out in `device/tests/all/examples.rs`.
#[test]
fn an_emulator_in_rust_runs() {
    if !are_there(&["cargo"], "an_emulator_in_rust_runs") {
        return;
    }
    let folder = empty();
    let commands = begin(folder.path(), "emulator --rust");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("begun");
    let printed = script(
        folder.path(),
        &format!("export CARGO_NET_OFFLINE=true CARGO_TERM_QUIET=true CARGO_TARGET_DIR='{}'\n{commands}", target.display()),
    );
    assert_eq!(printed.lines().next(), Some("after 33 additions counter 0 reads 1"));
}

// The tests of the C library build and run the files.
#[test]
fn an_emulator_in_c_is_that_of_the_library() {
    let folder = empty();
    assert_eq!(begin(folder.path(), "emulator --c toy"), "cd toy\nmake run\n");
    for name in ["main.c", "Makefile"] {
        let written = fs::read_to_string(folder.path().join("toy").join(name)).expect("it was written");
        assert_eq!(written, fs::read_to_string(root().join("device/capi/examples/emulator").join(name)).expect("it is there"));
    }
}

#[test]
fn nothing_is_written_where_a_file_is_there() {
    for arguments in [["driver", "--pmu=k8", "mine"], ["emulator", "--c", "mine"]] {
        let folder = empty();
        fs::create_dir(folder.path().join("mine")).expect("a folder");
        fs::write(folder.path().join("mine/Makefile"), "all:\n").expect("it can be written");
        let output = new(folder.path(), &arguments);
        let told = "pmulab: mine/Makefile is there already: name another folder\n";
        assert_eq!((output.status.code(), str::from_utf8(&output.stderr)), (Some(2), Ok(told)));
        let files: Vec<_> = fs::read_dir(folder.path().join("mine")).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["Makefile"]);
        assert_eq!(fs::read_to_string(folder.path().join("mine/Makefile")).expect("it is there"), "all:\n");
    }
}

#[test]
fn a_driver_of_no_part_is_refused() {
    let folder = empty();
    let output = new(folder.path(), &["driver", "--pmu", "k9"]);
    assert_eq!((output.status.code(), str::from_utf8(&output.stderr).unwrap().lines().count()), (Some(2), 1));
    assert!(!folder.path().join("driver").exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_in_one_line() {
    let folder = empty();
    fs::write(folder.path().join("file"), "").expect("it can be written");
    let output = new(folder.path(), &["emulator", "--rust", "file/below"]);
    let told = str::from_utf8(&output.stderr).unwrap();
    assert!(told.starts_with("pmulab: cannot write file/below/Cargo.toml: ") && told.lines().count() == 1, "{told}");
}
