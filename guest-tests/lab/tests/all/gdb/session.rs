//! A client of `gdb`'s remote protocol, and the guest that it talks to.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::elf::elf;

/// Where the guests lie.
pub(super) const CODE: u64 = 0x40_0000;
/// Where registers of IA-64 begin: 128 general registers of 8 bytes, 128 floating-point ones of 16, 64 predicates, 8 branch registers and two
/// that only gdb has, and the predicates at once are before ip, then come psr, cfm and the application registers, AR.BSP being the 17th.
const IP: usize = 128 * 8 + 128 * 16 + (64 + 8 + 2 + 1) * 8;
pub(super) const BSP: usize = IP + (3 + 17) * 8;
/// Instructions that all CPUs have executed, by the first line of a report: "guest on k8, 215 instructions executed by ...".
pub(super) fn instructions(report: &str) -> u64 {
    let words: Vec<&str> = report.lines().next().unwrap_or("").split(' ').collect();
    let at = words.iter().position(|word| *word == "instructions").unwrap_or_else(|| panic!("{report}"));
    words[at - 1].replace(',', "").parse().expect("a number")
}
/// A guest that waits for a debugger. Nothing of it is left after a test.
pub(super) struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A guest, and a debugger's connection to it.
pub(super) struct Session {
    guest: Guest,
    stream: TcpStream,
    _folder: TempDir,
}

/// Starts a guest with `arguments`; where it waits.
pub(super) fn start(file: &Path, arguments: &[&str]) -> (Guest, String) {
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
    pub(super) fn new(machine: u16, code: &[u8], arguments: &[&str]) -> Session {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("guest.elf");
        fs::write(&file, elf(machine, CODE, code)).expect("it can be written");
        let (guest, address) = start(&file, arguments);
        let stream = TcpStream::connect(&address).unwrap_or_else(|error| panic!("{address}: {error}"));
        stream.set_nodelay(true).expect("it can be set");
        Session { guest, stream, _folder: folder }
    }

    pub(super) fn of_x86(code: &[u8]) -> Session {
        Session::new(62, code, &["--pmu", "k8"])
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("an answer");
        byte[0]
    }

    /// Sends a packet, which needs no answer.
    pub(super) fn send(&mut self, text: &str) {
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

    pub(super) fn ask(&mut self, text: &str) -> String {
        self.send(text);
        self.answer()
    }

    /// What a command of `monitor` prints.
    pub(super) fn monitor(&mut self, command: &str) -> String {
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
    pub(super) fn register(&mut self, at: usize) -> u64 {
        let all = self.ask("g");
        u64::from_str_radix(&all[2 * at..2 * at + 16], 16).expect("a register").swap_bytes()
    }

    /// Of IA-64, the address of the next bundle and the slot of the next instruction, PSR.ri.
    pub(super) fn bundle(&mut self) -> (u64, u64) {
        (self.register(IP), self.register(IP + 8) >> 41 & 3)
    }

    pub(super) fn rip(&mut self) -> u64 {
        self.register(128)
    }

    /// Chooses the CPU whose registers are read.
    pub(super) fn choose(&mut self, cpu: usize) {
        assert_eq!(self.ask(&format!("Hgp1.{}", cpu + 1)), "OK");
    }

    /// Goes on from a breakpoint as `gdb` does: without it for a step of this CPU alone.
    pub(super) fn step_over(&mut self, cpu: usize, breakpoint: u64) {
        self.ask(&format!("z0,{breakpoint:x},1"));
        assert_eq!(self.ask(&format!("vCont;s:p1.{}", cpu + 1)), format!("T05thread:{:02};", cpu + 1));
        self.ask(&format!("Z0,{breakpoint:x},1"));
    }

    /// Instructions that all CPUs have executed, by the first line of what the run printed after its end.
    pub(super) fn instructions(mut self) -> u64 {
        let mut printed = String::new();
        self.guest.0.stdout.as_mut().expect("it is piped").read_to_string(&mut printed).expect("text");
        instructions(&printed)
    }

    /// The last lines of what the run printed, after the debugger has ended it or let it go.
    pub(super) fn ending(mut self) -> String {
        let mut printed = String::new();
        self.guest.0.stdout.as_mut().expect("it is piped").read_to_string(&mut printed).expect("text");
        let lines: Vec<&str> = printed.lines().rev().take(2).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}
