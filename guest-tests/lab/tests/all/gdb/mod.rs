//! The port for `gdb`: by a client of its protocol (Debugging with GDB, appendix E), and by `gdb` itself where it is.

mod cpus;
mod programs;
mod session;

use std::fs;
use std::process::Command;

use crate::elf::elf;
use session::{BSP, CODE, Session};

/// Counts ten instructions and overflows: PerfCtr0 = -10, PerfEvtSel0 = retired instructions with OS, INT and EN; a jump to itself.
const OVERFLOWING: [u8; 33] = [
    0xb9, 0x04, 0x00, 0x01, 0xc0, // 00 mov ecx, 0xC0010004
    0xb8, 0xf6, 0xff, 0xff, 0xff, // 05 mov eax, -10
    0xba, 0xff, 0xff, 0xff, 0xff, // 0A mov edx, -1
    0x0f, 0x30, // 0F wrmsr
    0xb9, 0x00, 0x00, 0x01, 0xc0, // 11 mov ecx, 0xC0010000
    0xb8, 0xc0, 0x00, 0x52, 0x00, // 16 mov eax, 0x5200C0
    0x31, 0xd2, // 1B xor edx, edx
    0x0f, 0x30, // 1D wrmsr
    0xeb, 0xfe, // 1F jmp 1F
];

/// Ends with status 0.
const ENDING: [u8; 5] = [0x90, 0x31, 0xc0, 0xe6, 0xf4]; // nop; xor eax, eax; out F4h, al

/// An exception that nothing handles.
const FAULTING: [u8; 2] = [0x0f, 0x0b]; // ud2

/// PMC1 = GPR 3 (li 3, 5; mtspr 787, 3), and a branch to itself.
const POWER: [u32; 3] = [0x3860_0005, 0x7c73_c3a6, 0x4800_0000];

/// A frame with r32 and r33, which get AR.PFS and 77; PMC4 = 2; a branch to itself.
const IA64: [u8; 64] = [
    0x01, 0x00, 0x09, 0x04, 0x80, 0x05, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x04,
    0x00, // alloc r32=ar.pfs,0,2,0,0; nop; nop
    0x09, 0x08, 0x35, 0x01, 0x00, 0x24, 0xe0, 0x20, 0x00, 0x00, 0x48, 0xe0, 0x21, 0x00, 0x00,
    0x90, // mov r33=77; mov r14=4; mov r15=2
    0x09, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x78, 0x38, 0x08, 0x08, 0x00, 0x00, 0x00, 0x04, 0x00, // nop; mov pmc[r14]=r15; nop
    0x11, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, // nop; nop; br.cond here
];
#[test]
fn a_guest_waits_at_its_entry() {
    assert_eq!(Session::of_x86(&ENDING).rip(), CODE);
}

#[test]
fn memory_is_read() {
    assert_eq!(Session::of_x86(&ENDING).ask("m400000,5"), "9031c0e6f4");
}

#[test]
fn memory_that_is_not_there_is_refused() {
    assert!(Session::of_x86(&ENDING).ask("m100000000000,1").starts_with('E'));
}

#[test]
fn memory_is_written() {
    let mut session = Session::of_x86(&ENDING);
    assert_eq!((session.ask("M400000,1:f4"), session.ask("m400000,1")), ("OK".to_owned(), "f4".to_owned()));
}

#[test]
fn registers_are_written() {
    let mut session = Session::of_x86(&ENDING);
    let all = session.ask("g").replace('x', "0");
    // RBX is the second.
    let changed = format!("{}8877665544332211{}", &all[..16], &all[32..]);
    assert_eq!(session.ask(&format!("G{changed}")), "OK");
    assert_eq!(session.register(8), 0x1122_3344_5566_7788);
}

#[test]
fn a_step_is_one_instruction() {
    let mut session = Session::of_x86(&OVERFLOWING);
    assert_eq!(session.ask("vCont;s:p1.1"), "T05thread:01;");
    assert_eq!(session.rip(), CODE + 5);
}

#[test]
fn a_breakpoint_stops_before_its_instruction() {
    let mut session = Session::of_x86(&OVERFLOWING);
    assert_eq!(session.ask("Z0,400011,1"), "OK");
    assert!(session.ask("vCont;c:p1.-1").starts_with("T05"));
    assert_eq!(session.rip(), CODE + 0x11);
}

#[test]
fn a_cpu_that_is_moved_to_another_breakpoint_stops_there() {
    let mut session = Session::of_x86(&OVERFLOWING);
    [5, 0x11].into_iter().for_each(|offset| assert_eq!(session.ask(&format!("Z0,{:x},1", CODE + offset)), "OK"));
    session.ask("vCont;c:p1.-1");
    let all = session.ask("g").replace('x', "0");
    session.ask(&format!("G{}1100400000000000{}", &all[..256], &all[272..]));
    assert!(session.ask("vCont;c:p1.-1").starts_with("T05"));
    assert_eq!(session.rip(), CODE + 0x11);
}

#[test]
fn a_breakpoint_that_is_gone_stops_nothing() {
    let mut session = Session::of_x86(&ENDING);
    session.ask("Z0,400001,1");
    session.ask("z0,400001,1");
    assert_eq!(session.ask("vCont;c:p1.-1"), "W00");
}

#[test]
fn a_guest_that_ends_is_told_with_its_status() {
    let mut session = Session::of_x86(&ENDING);
    assert_eq!(session.ask("vCont;c:p1.-1"), "W00");
    assert_eq!(session.ending(), "ended with status 0 and reported no checks\nPASS");
}

#[test]
fn a_guest_stops_before_an_access_to_its_pmu() {
    let mut session = Session::of_x86(&OVERFLOWING);
    session.monitor("stop access");
    session.ask("vCont;c:p1.-1");
    assert_eq!(session.rip(), CODE + 0xf);
    assert_eq!(session.monitor("why"), "the next instruction writes PerfCtr0\n");
}

#[test]
fn a_guest_stops_before_an_access_to_one_register() {
    let mut session = Session::of_x86(&OVERFLOWING);
    session.monitor("stop access PerfEvtSel0");
    session.ask("vCont;c:p1.-1");
    assert_eq!(session.rip(), CODE + 0x1d);
}

// The counter is at -10. The WRMSR that enables it is counted, and then nine jumps.
#[test]
fn a_guest_stops_after_an_overflow() {
    let mut session = Session::of_x86(&OVERFLOWING);
    session.monitor("stop overflow");
    session.ask("vCont;c:p1.-1");
    assert!(session.monitor("pmu").contains("PerfCtr0 = 0x0\n"));
    assert_eq!(session.monitor("why"), "a counter has overflowed and asked for an interrupt\n");
}

#[test]
fn a_register_that_there_is_not_is_refused_with_those_near_it() {
    let mut session = Session::of_x86(&ENDING);
    let commands = session.monitor("help");
    assert!(commands.starts_with("monitor stop access ") && commands.lines().count() == 6, "{commands}");
    assert_eq!(session.monitor("bogus word"), format!("`monitor bogus word` is no command. There are:\n{commands}"));
    let said = session.monitor("stop access PerfCtr");
    assert!(said.starts_with("The PMU has no register `PerfCtr`: did you mean PerfCtr0"), "{said}");
}

#[test]
fn a_machine_that_cannot_continue_stops_there_before_it_ends() {
    let mut session = Session::of_x86(&FAULTING);
    assert_eq!(session.ask("vCont;c:p1.-1"), "T0bthread:01;");
    assert_eq!(session.ask("vCont;c:p1.-1"), "X09");
}

#[test]
fn a_limit_of_steps_stops_a_guest() {
    let mut session = Session::new(62, &OVERFLOWING, &["--pmu", "k8", "--steps", "3"]);
    session.ask("vCont;c:p1.-1");
    assert_eq!(session.monitor("why"), "the limit of steps was reached\n");
}

#[test]
fn a_debugger_that_lets_go_leaves_the_guest_running() {
    let mut session = Session::of_x86(&ENDING);
    assert_eq!(session.ask("D"), "OK");
    assert_eq!(session.ending(), "ended with status 0 and reported no checks\nPASS");
}

#[test]
fn a_debugger_can_end_a_guest() {
    let mut session = Session::of_x86(&OVERFLOWING);
    session.send("k");
    assert_eq!(session.ending(), "gdb ended it\nFAIL");
}

#[test]
fn a_guest_of_power_stops_before_an_access_to_its_pmu() {
    let code: Vec<u8> = POWER.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut session = Session::new(21, &code, &["--pmu", "power9"]);
    session.monitor("stop access PMC1");
    session.ask("vCont;c:p1.-1");
    // GPR 3, and the address after 32 registers of either kind.
    assert_eq!((session.register(24), session.register(512)), (5, CODE + 4));
}

// PMC1 is 3 instructions from being negative. The mtspr that starts it is counted, and then two no-operations.
#[test]
fn a_guest_of_power_stops_after_an_overflow() {
    let lis = |register: u32, value: u32| 15 << 26 | register << 21 | value;
    let mtspr = |number: u32, register: u32| 31 << 26 | register << 21 | (number & 31) << 16 | (number >> 5) << 11 | 467 << 1;
    let addi = 14 << 26 | 3 << 21 | 3 << 16 | 0xFFFD;
    let ori = 24 << 26 | 4 << 21 | 4 << 16 | 0x8000;
    let nop = 24 << 26;
    // PMC1 := 0x7FFFFFFD; MMCR1: 02h on PMC1; MMCR0: PMAE and PMC1CE.
    let program =
        [lis(3, 0x8000), addi, mtspr(787, 3), lis(4, 0x200), mtspr(798, 4), lis(4, 0x400), ori, mtspr(795, 4), nop, nop, nop, nop];
    let code: Vec<u8> = program.into_iter().flat_map(u32::to_le_bytes).collect();
    let mut session = Session::new(21, &code, &["--pmu", "power9"]);
    session.monitor("stop overflow");
    session.ask("vCont;c:p1.-1");
    assert_eq!(session.register(512), CODE + 4 * 10);
    assert!(session.monitor("pmu").contains("PMC1 = 0x80000000\n"));
    assert_eq!(session.monitor("why"), "a counter has overflowed and asked for an interrupt\n");
}

#[test]
fn a_step_of_ia_64_is_one_slot() {
    let mut session = Session::new(50, &IA64, &["--pmu", "montecito"]);
    assert_eq!(session.bundle(), (CODE, 0));
    session.ask("vCont;s:p1.1");
    assert_eq!(session.bundle(), (CODE, 1));
}

#[test]
fn a_breakpoint_of_ia_64_is_at_a_slot() {
    let mut session = Session::new(50, &IA64, &["--pmu", "itanium"]);
    assert_eq!(session.ask("Z0,400012,0"), "OK");
    assert!(session.ask("vCont;c:p1.-1").starts_with("T05"));
    assert_eq!(session.bundle(), (CODE + 0x10, 2));
    assert_eq!(session.register(14 * 8), 4);
}

#[test]
fn a_guest_of_ia_64_stops_before_an_access_to_its_pmu() {
    for pmu in ["itanium", "montecito"] {
        let mut session = Session::new(50, &IA64, &["--pmu", pmu]);
        session.monitor("stop access");
        session.ask("vCont;c:p1.-1");
        assert_eq!(session.bundle(), (CODE + 0x20, 1), "{pmu}");
        assert_eq!(session.monitor("why"), "the next instruction writes PMC4\n");
    }
}

#[test]
fn the_frame_of_ia_64_is_read_where_it_belongs_in_memory() {
    let mut session = Session::new(50, &IA64, &["--pmu", "montecito"]);
    session.ask("Z0,400020,0");
    session.ask("vCont;c:p1.-1");
    // gdb takes AR.BSP for the end of the frame, whose last register is r33.
    let last = session.register(BSP) - 8;
    assert_eq!(session.ask(&format!("m{last:x},8")), "4d00000000000000");
    assert!(session.ask(&format!("M{last:x},1:00")).starts_with('E'), "a register is not written through memory");
}

#[test]
fn what_cannot_be_written_of_ia_64_is_refused() {
    let mut session = Session::new(50, &IA64, &["--pmu", "montecito"]);
    let all = session.ask("g");
    let with = |at: usize| format!("G{}0700000000000000{}", &all[..2 * at], &all[2 * at + 16..]);
    // r20, and the significand of f6.
    assert_eq!(session.ask(&with(20 * 8)), "OK");
    assert_eq!(session.register(20 * 8), 7);
    assert!(session.ask(&with(128 * 8 + 6 * 16)).starts_with('E'));
}
#[test]
fn a_run_that_is_saved_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(62, CODE, &ENDING)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pmulab"));
    let output = command.args(["run", "--gdb", "127.0.0.1:0", "--save-at", "3", "--guest"]).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("a guest that gdb runs is not saved: leave out `--save-at`\n"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_address_where_nothing_can_wait_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(62, CODE, &ENDING)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(["run", "--gdb", "nowhere", "--guest"]).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no debugger can be waited for at `nowhere`, where 127.0.0.1:1234 could stand: "), "{said}");
}
