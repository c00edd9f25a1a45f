//! The port for `gdb`: by a client of its protocol (Debugging with GDB, appendix E), and by `gdb` itself where it is.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Where the guests lie.
const CODE: u64 = 0x40_0000;

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

/// A 64-bit little-endian ELF executable of one segment at [`CODE`].
fn elf(machine: u16, code: &[u8]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([2u16, machine].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    file.extend([CODE, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(2u32.to_le_bytes());
    file.extend([64u16, 56, 1, 64, 0, 0].map(u16::to_le_bytes).concat());
    file.extend([1u32, 5].map(u32::to_le_bytes).concat());
    file.extend([120, CODE, CODE, code.len() as u64, code.len() as u64, 16].map(u64::to_le_bytes).concat());
    file.extend(code);
    file
}

/// A guest that waits for a debugger. Nothing of it is left after a test.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A guest, and a debugger's connection to it.
struct Session {
    guest: Guest,
    stream: TcpStream,
    _folder: TempDir,
}

/// Starts a guest with `arguments`; where it waits.
fn start(file: &Path, arguments: &[&str]) -> (Guest, String) {
    let guest = Command::new(env!("CARGO_BIN_EXE_pmulab"))
        .args(["run", "--gdb", "127.0.0.1:0", "--guest"])
        .arg(file)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut guest = Guest(guest);
    let mut line = String::new();
    BufReader::new(guest.0.stderr.as_mut().expect("it is piped")).read_line(&mut line).expect("a line");
    let address = line.trim_end_matches(['`', '\n']).rsplit(' ').next().expect("an address").to_owned();
    (guest, address)
}

impl Session {
    fn new(machine: u16, code: &[u8], arguments: &[&str]) -> Session {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("guest.elf");
        fs::write(&file, elf(machine, code)).expect("it can be written");
        let (guest, address) = start(&file, arguments);
        let stream = TcpStream::connect(&address).unwrap_or_else(|error| panic!("{address}: {error}"));
        Session { guest, stream, _folder: folder }
    }

    fn of_x86(code: &[u8]) -> Session {
        Session::new(62, code, &["--pmu", "k8"])
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("an answer");
        byte[0]
    }

    /// Sends a packet, which needs no answer.
    fn send(&mut self, text: &str) {
        let sum = text.bytes().fold(0u8, u8::wrapping_add);
        write!(self.stream, "${text}#{sum:02x}").expect("it is sent");
        assert_eq!(self.byte(), b'+', "{text}");
    }

    /// The next packet, with runs expanded.
    fn answer(&mut self) -> String {
        assert_eq!(self.byte(), b'$');
        let mut text = String::new();
        loop {
            match self.byte() {
                b'#' => break,
                // The byte before, as many times more as this one says.
                b'*' => {
                    let times = usize::from(self.byte() - 29);
                    let last = text.pop().expect("something is repeated");
                    text.extend(std::iter::repeat_n(last, times + 1));
                }
                byte => text.push(byte.into()),
            }
        }
        let _ = (self.byte(), self.byte());
        self.stream.write_all(b"+").expect("it is sent");
        text
    }

    fn ask(&mut self, text: &str) -> String {
        self.send(text);
        self.answer()
    }

    /// What a command of `monitor` prints.
    fn monitor(&mut self, command: &str) -> String {
        let hex: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.send(&format!("qRcmd,{hex}"));
        let mut printed = String::new();
        loop {
            let answer = self.answer();
            let Some(text) = answer.strip_prefix('O').filter(|text| *text != "K") else {
                assert_eq!(answer, "OK");
                return printed;
            };
            let digits = text.as_bytes().chunks(2).map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap());
            printed.extend(digits.map(char::from));
        }
    }

    /// The register whose bytes begin at `at`, of a little-endian machine.
    fn register(&mut self, at: usize) -> u64 {
        let all = self.ask("g");
        u64::from_str_radix(&all[2 * at..2 * at + 16], 16).expect("a register").swap_bytes()
    }

    fn rip(&mut self) -> u64 {
        self.register(128)
    }

    /// The last lines of what the run printed, after the debugger has ended it or let it go.
    fn ending(mut self) -> String {
        let mut printed = String::new();
        self.guest.0.stdout.as_mut().expect("it is piped").read_to_string(&mut printed).expect("text");
        let lines: Vec<&str> = printed.lines().rev().take(2).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

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
    assert_eq!(session.ask("vCont;s:p1.-1"), "S05");
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
    let said = Session::of_x86(&ENDING).monitor("stop access PerfCtr");
    assert!(said.starts_with("The PMU has no register `PerfCtr`: did you mean PerfCtr0"), "{said}");
}

#[test]
fn a_machine_that_cannot_continue_stops_there_before_it_ends() {
    let mut session = Session::of_x86(&FAULTING);
    assert_eq!(session.ask("vCont;c:p1.-1"), "S0b");
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

#[test]
fn what_a_debugger_cannot_run_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, arguments, reason) in [
        (50, ["--pmu", "montecito"], "gdb runs guests of x86 and POWER: leave out `--gdb`"),
        (62, ["--cpus", "2"], "gdb runs guests of one CPU alone"),
        (62, ["--save-at", "3"], "a guest that gdb runs is not saved: leave out `--save-at`"),
    ] {
        let file = folder.path().join("guest.elf");
        fs::write(&file, elf(machine, &ENDING)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pmulab"));
        let output = command.args(["run", "--gdb", "127.0.0.1:0", "--guest"]).arg(&file).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.ends_with(&format!("{reason}\n")), "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn an_address_where_nothing_can_wait_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(62, &ENDING)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pmulab")).args(["run", "--gdb", "nowhere", "--guest"]).arg(&file).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no debugger can be waited for at `nowhere`, where 127.0.0.1:1234 could stand: "), "{said}");
}

/// Has `gdb` execute commands on a guest; what it printed.
fn gdb(program: &str, machine: u16, code: &[u8], arguments: &[&str], commands: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.elf");
    fs::write(&file, elf(machine, code)).expect("it can be written");
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
