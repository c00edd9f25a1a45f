//! `gdb` itself, where it is installed.

use std::fs;
use std::process::Command;

use super::cpus::WAITING;
use super::session::{CODE, start};
use super::{IA64, OVERFLOWING, POWER};
use crate::elf::elf;

/// Has `gdb` execute commands on a guest; what it printed.
fn gdb(program: &str, machine: u16, code: &[u8], arguments: &[&str], commands: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(machine, CODE, code)).expect("it can be written");
    let (_guest, address) = start(&file, arguments);
    let mut command = Command::new(program);
    command.args(["-batch", "-nx", "-ex", "set confirm off", "-ex", &format!("target remote {address}")]);
    command.args(commands.iter().flat_map(|command| ["-ex", command])).arg(&file);
    let output = command.output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether there is such a program; if not, prints that the test is skipped.
fn is_there(program: &str, test: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: {test}, as there is no {program}");
    }
    found
}

#[test]
fn gdb_runs_a_guest_of_x86() {
    if !is_there("gdb", "gdb_runs_a_guest_of_x86") {
        return;
    }
    let commands = ["break *0x400011", "continue", "stepi", "print/x $rcx", "print/x $rip", "set var $rbx = 7", "print $rbx", "kill"];
    let printed = gdb("gdb", 62, &OVERFLOWING, &["--pmu", "k8"], &commands);
    for line in ["$1 = 0xc0010000", "$2 = 0x400016", "$3 = 7"] {
        assert!(printed.lines().any(|printed| printed == line), "{printed}");
    }
}

// CPU 1 is in the last turn but two of its loop when the breakpoint has been passed 47 times.
#[test]
fn gdb_runs_a_guest_of_several_cpus() {
    if !is_there("gdb", "gdb_runs_a_guest_of_several_cpus") {
        return;
    }
    let commands = ["break *0x40000d", "break *0x40001b", "ignore 1 1000", "ignore 2 47", "continue", "print $rcx", "info threads", "kill"];
    let printed = gdb("gdb", 62, &WAITING, &["--pmu", "k8", "--cpus", "2"], &commands);
    assert!(printed.contains("Thread 2 hit Breakpoint 2") && printed.contains("$1 = 2\n"), "{printed}");
    assert!(printed.contains("Thread 1.1 (CPU 0)") && printed.contains("Thread 1.2 (CPU 1)"), "{printed}");
}

#[test]
fn gdb_runs_a_guest_of_power() {
    if !is_there("gdb-multiarch", "gdb_runs_a_guest_of_power") {
        return;
    }
    let code: Vec<u8> = POWER.into_iter().flat_map(u32::to_le_bytes).collect();
    let commands = ["monitor stop access", "continue", "print $r3", "x/i $pc", "set var $lr = 9", "print $lr", "kill"];
    let printed = gdb("gdb-multiarch", 21, &code, &["--pmu", "power9"], &commands);
    assert!(printed.contains("$1 = 5") && printed.contains("mtpmc1"), "{printed}");
    assert!(printed.contains("= (void (*)()) 0x9"), "{printed}");
}

#[test]
fn gdb_runs_a_guest_of_ia_64() {
    if !is_there("gdb-multiarch", "gdb_runs_a_guest_of_ia_64") {
        return;
    }
    let commands =
        ["break *0x400020", "continue", "print $r33", "stepi", "x/i $pc", "set var $r20 = 7", "print $r20", "print/x $pc", "kill"];
    let printed = gdb("gdb-multiarch", 50, &IA64, &["--pmu", "montecito"], &commands);
    for line in ["$1 = 77", "$2 = 7", "$3 = 0x400021"] {
        assert!(printed.lines().any(|printed| printed == line), "{printed}");
    }
    assert!(printed.contains("mov pmc[r14]=r15"), "{printed}");
}
