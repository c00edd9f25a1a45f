//! Guests of several CPUs: these are threads of the debugger.

use std::fs;
use std::process::Command;

use super::IA64;
use super::session::{CODE, Session, instructions};
use crate::elf::elf;

/// CPU 0 waits until CPU 1 has counted to 50 and stored 1 at 500000h, and ends the run.
pub(super) const WAITING: [u8; 42] = [
    0x48, 0x85, 0xff, // 00 test rdi, rdi
    0x75, 0x0f, // 03 jnz 14
    0x83, 0x3c, 0x25, 0x00, 0x00, 0x50, 0x00, 0x00, // 05 cmp dword [500000], 0
    0x74, 0xf6, // 0D je 05
    0x31, 0xc0, // 0F xor eax, eax
    0xe6, 0xf4, // 11 out F4h, al
    0x90, // 13 nop
    0xb9, 0x32, 0x00, 0x00, 0x00, // 14 mov ecx, 50
    0xff, 0xc9, // 19 dec ecx
    0x75, 0xfc, // 1B jnz 19
    0xc7, 0x04, 0x25, 0x00, 0x00, 0x50, 0x00, 0x01, 0x00, 0x00, 0x00, // 1D mov dword [500000], 1
    0xeb, 0xfe, // 28 jmp 28
];
/// The second CPU writes PMC1; the first branches to itself. A thread's number is in GPR 3 (cmpdi 3, 0; bne +8; b 0; mtspr 787, 3; b 0).
const SECOND_WRITES: [u32; 5] = [0x2c23_0000, 0x4082_0008, 0x4800_0000, 0x7c73_c3a6, 0x4800_0000];
#[test]
fn cpus_are_threads() {
    let mut session = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]);
    assert_eq!(session.ask("qfThreadInfo"), "m01,02");
}

#[test]
fn each_cpu_has_its_registers() {
    let mut session = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]);
    // RDI, the sixth, is the CPU's number.
    for cpu in [0, 1] {
        session.choose(cpu);
        assert_eq!(session.register(5 * 8), cpu as u64);
    }
}

#[test]
fn a_breakpoint_stops_the_cpu_that_comes_to_it() {
    let mut session = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]);
    session.ask("Z0,40001d,1");
    assert!(session.ask("vCont;c:p1.-1").starts_with("T05thread:02;"));
    session.choose(1);
    // It has counted to the end.
    assert_eq!((session.rip(), session.register(2 * 8)), (CODE + 0x1d, 0));
}

#[test]
fn a_step_is_of_the_cpu_that_is_named() {
    let mut session = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]);
    assert_eq!(session.ask("vCont;s:p1.2;c:p1.-1"), "T05thread:02;");
    session.choose(1);
    assert_eq!(session.rip(), CODE + 3);
}

// CPU 1 comes to the end of its loop fifty times.
#[test]
fn a_cpu_that_steps_from_a_breakpoint_misses_none_of_another() {
    let mut session = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]);
    let places = [CODE + 0x0d, CODE + 0x1b];
    for place in places {
        session.ask(&format!("Z0,{place:x},1"));
    }
    let mut hits = [0, 0];
    loop {
        let answer = session.ask("vCont;c:p1.-1");
        if answer == "W00" {
            break;
        }
        let cpu = usize::from(answer.starts_with("T05thread:02;"));
        hits[cpu] += 1;
        session.step_over(cpu, places[cpu]);
    }
    assert_eq!(hits[1], 50);
}

// CPU 0 waits for CPU 1, so that every other order of their steps would take it another number of turns.
#[test]
fn breakpoints_change_nothing_of_the_turns_of_cpus() {
    let arguments = ["--pmu", "k8", "--cpus", "2"];
    let mut session = Session::new(62, &WAITING, &arguments);
    let place = CODE + 0x1b;
    session.ask(&format!("Z0,{place:x},1"));
    while session.ask("vCont;c:p1.-1") != "W00" {
        session.step_over(1, place);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(62, CODE, &WAITING)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(["run", "--guest"]).arg(&file).args(arguments).output().unwrap();
    assert_eq!(session.instructions(), instructions(&String::from_utf8(output.stdout).unwrap()));
}

#[test]
fn an_access_tells_which_cpu_stops_before_it() {
    let code: Vec<u8> = SECOND_WRITES.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut session = Session::new(21, &code, &["--pmu", "power9", "--cpus", "2"]);
    session.monitor("stop access");
    assert!(session.ask("vCont;c:p1.-1").starts_with("T05thread:02;"));
    assert_eq!(session.monitor("why"), "CPU 1: the next instruction writes PMC1\n");
}

#[test]
fn the_pmu_of_each_cpu_is_shown() {
    let said = Session::new(62, &WAITING, &["--pmu", "k8", "--cpus", "2"]).monitor("pmu");
    let headings: Vec<&str> = said.lines().filter(|line| line.starts_with("CPU")).collect();
    assert_eq!(headings, ["CPU 0:", "CPU 1:"]);
}

#[test]
fn threads_of_an_ia_64_core_are_stepped_singly() {
    let mut session = Session::new(50, &IA64, &["--pmu", "montecito", "--cpus", "2"]);
    assert_eq!(session.ask("vCont;s:p1.2;c:p1.-1"), "T05thread:02;");
    session.choose(1);
    assert_eq!(session.bundle(), (CODE, 1));
}
