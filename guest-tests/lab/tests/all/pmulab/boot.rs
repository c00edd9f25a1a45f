//! `pmulab boot`, with a stand-in for the kit.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// Prints its arguments, and writes the file after `--record`: PerfCtr0 is written and read.
const BOOT: &str = r#"#!/bin/sh
echo "boot: $*"
while [ $# -gt 0 ]; do
    [ "$1" = --record ] && printf 'title: T\npmu: k8\nsection: S\nrecording: yes\n\nwrite PerfCtr0 0x5\nread PerfCtr0 = 0x5\n' > "$2"
    shift
done
exit "${STATUS:-0}"
"#;

const BUILD: &str = "#!/bin/sh\nprintf '/built/%s/qemu-system-x86_64\\n/built/%s/qemu-system-ppc64\\n' \"$1\" \"$1\"\n";

/// A repository with a kit, which has built QEMU for x86.
fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let kit = folder.path().join("device/qemu");
    fs::create_dir_all(&kit).unwrap();
    for (name, text) in [("boot", BOOT), ("build", BUILD)] {
        fs::write(kit.join(name), text).unwrap();
        fs::set_permissions(kit.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let built = folder.path().join("target/qemu/build/10.0.13");
    fs::create_dir_all(&built).unwrap();
    fs::write(built.join("qemu-system-x86_64"), "").unwrap();
    folder
}

fn boot(folder: &Path, arguments: &[&str], status: &str) -> Output {
    let mut command = Command::cargo_bin("pmulab").unwrap();
    command.current_dir(folder).env("STATUS", status).args(["boot", "--on", "qemu"]).args(arguments).output().unwrap()
}

/// What a boot that succeeds shows.
fn booted(arguments: &[&str]) -> String {
    let output = boot(repository().path(), arguments, "0");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = boot(repository().path(), arguments, "0");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn without_a_command_perf_counts_a_loop() {
    let text = booted(&["--part", "k8"]);
    assert_eq!(text.lines().next(), Some("boot: k8 --timeout 120 -- perf stat -e instructions:u,branches:u,cycles:u loop"));
}

#[test]
fn what_follows_the_dashes_is_the_guests_command() {
    let text = booted(&["--part", "knl", "--cpus", "2", "--seconds", "30", "--", "perf", "stat", "-e", "r3c", "true"]);
    assert_eq!(text.lines().next(), Some("boot: knl --timeout 30 --smp 2 -- perf stat -e r3c true"));
}

#[test]
fn a_recording_is_written_and_shows_the_same_again() {
    let folder = repository();
    let output = boot(folder.path(), &["--part", "k8", "--record", "a.litmus"], "0");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" --record a.litmus --record-most 1000000 -- "), "{text}");
    assert!(text.ends_with("Recorded 2 statements in a.litmus; a replay shows the same, 1 observation.\n"), "{text}");
    assert!(folder.path().join("a.litmus").exists());
}

#[test]
fn the_accesses_of_the_guest_are_traced() {
    let text = booted(&["--part", "k8", "--trace", "10"]);
    let entries: Vec<&str> = text.lines().filter(|line| line.contains("PerfCtr0 ")).map(str::trim).collect();
    assert_eq!(entries, ["0  PerfCtr0 := 0x5                   5", "0  PerfCtr0 reads 0x5"]);
}

#[test]
fn the_timeline_is_drawn_from_the_recording() {
    let folder = repository();
    let output = boot(folder.path(), &["--part", "k8", "--timeline", "a.json"], "0");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Timeline: 2 accesses, interrupts and changes in a.json\n"), "{output:?}");
    let drawn: serde_json::Value = serde_json::from_slice(&fs::read(folder.path().join("a.json")).unwrap()).unwrap();
    let accesses: Vec<&str> = drawn["traceEvents"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["ph"] == "i")
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    assert_eq!(accesses, ["PerfCtr0 := 0x5", "PerfCtr0 reads 0x5"]);
}

#[test]
fn a_command_that_fails_is_a_failure() {
    let output = boot(repository().path(), &["--part", "k8"], "3");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("the guest's command ended with status 3\n"), "{output:?}");
}

#[test]
fn a_guest_that_could_not_be_run_is_a_mistake() {
    assert_eq!(boot(repository().path(), &["--part", "k8"], "125").status.code(), Some(2));
}

#[test]
fn qemu_is_built_if_it_is_not_there() {
    let output = boot(repository().path(), &["--part", "power9"], "0");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.starts_with("pmulab: QEMU is not built yet; the kit builds it now, which takes "), "{errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("boot: power9 --timeout 120 --qemu /built/stable/qemu-system-ppc64 -- "), "{text}");
}

#[test]
fn a_version_is_built() {
    let text = booted(&["--part", "k8", "--version", "newest"]);
    assert!(text.contains(" --qemu /built/newest/qemu-system-x86_64 -- "), "{text}");
}

#[test]
fn parts_without_an_emulator_are_refused() {
    for part in ["itanium", "montecito"] {
        let right = format!("choose k8, knl or power9, or run a guest with `pmulab run FILE --pmu {part}`");
        assert_eq!(refused(&["--part", part]), format!("pmulab: QEMU has no IA-64, so {part} cannot be booted: {right}\n"));
    }
}

#[test]
fn a_folder_without_the_emulator_is_refused() {
    assert_eq!(refused(&["--part", "k8", "--qemu-dir", "device"]), "pmulab: device has no qemu-system-x86_64\n");
}

#[test]
fn a_folder_without_a_kit_is_refused() {
    let right = "it has no `boot`; in the repository it is device/qemu";
    assert_eq!(refused(&["--part", "k8", "--kit", "target"]), format!("pmulab: target is not the kit for QEMU: {right}\n"));
}

#[test]
fn what_cannot_be_traced_or_drawn_is_refused_before_the_guest_boots() {
    assert!(
        refused(&["--part", "k8", "--trace", "1", "--trace-register", "PerfCtr7"]).starts_with("pmulab: k8 has no register `PerfCtr7`")
    );
    assert!(refused(&["--part", "k8", "--timeline", "a.txt"]).starts_with("pmulab: `a.txt` ends neither with .json nor with .vcd"));
    assert!(refused(&["--part", "k8", "--trace-around-failure", "3"]).starts_with("pmulab: a recording has no checks of a guest"));
}
