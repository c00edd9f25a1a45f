//! `dma`: a device behind host bridge 0 reads, fills, copies, adds, and offers lines to the caches; the bridge, the memory buffers, the
//! interconnect and the core count it.
//!
//! The bridge asks for at most 512 bytes in a read and writes at most 256 (table 6-9 counts requests). Memory and caches take lines of 128
//! bytes: line n is at port n / 2 modulo 4 of MC01 if n is even, else of MC23, and is two blocks of 64 bytes there (tables 6-3 and 6-5). So
//! the lines of a buffer that begins at a multiple of eight are at all eight ports in turn. A line that a cache has modified answers a
//! read, and memory gets it as well; written whole, it is dropped; written in part or added to, it goes to memory first. A line that is
//! offered to the caches goes into the third level of a core that has a copy, and not to memory.

use vm_pmu::arch::power9::spr;

use super::super::FC;
use super::super::fields::{mmcr0, pmc, select};
use super::cells::Cells;
use super::firmware::START;
use super::memory::each_line;
use super::posted::GROUP;
use super::{Nest, RUNNING, STATUS};
use crate::power::Kernel;
use vm_pmu_engines::dma::{DmaCommand, DmaRegister};
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::DMA;
use vm_pmu_engines::power::assemble::{AssembleError, Gpr, Label, R0, R3, R4, R5, R6, R14};

/// Bytes of a line.
const LINE: u64 = 128;
/// Lines of the buffers, and their bytes.
const LINES: u64 = 192;
const BYTES: u64 = LINES * LINE;
/// What is read, and what is written. Both begin at a line whose number is a multiple of eight.
const SOURCE: u64 = 0x60_0000;
const DESTINATION: u64 = 0x64_0000;
/// Lines of a buffer that the core holds, and bytes from one to the next: three apart, so that nothing is fetched ahead.
const HELD: u64 = 64;
const APART: u64 = LINES / HELD * LINE;
/// Bytes of a long transfer, and how often it is done.
const LONG: u64 = 64 << 10;
const TIMES: u64 = 4;
/// Additions, one after the other.
const ADDITIONS: u64 = 256;
/// Bytes of requests.
const READ_REQUEST: u64 = 512;
const PAYLOAD: u64 = 256;

/// Ports, each with a memory buffer.
const PORTS: u64 = 8;
/// Lines of a buffer at a port, and those of them that the core holds.
const AT_PORT: u64 = LINES / PORTS;
const HELD_AT_PORT: u64 = HELD / PORTS;

/// The cells: what the bridge counts, reads and writes of each memory buffer, and what is counted in units of 256.
const BRIDGE: [&str; 3] = ["PM_PHB0_DMA_RD_FROM_PCIE", "PM_PHB0_DMA_WR_FROM_PCIE", "PM_PHB0_LD_RESP_FROM_PCIE"];
const READS: u64 = BRIDGE.len() as u64;
const WRITES: u64 = READS + PORTS;
const SCALED: u64 = WRITES + PORTS;
const EVENTS: [(&str, &str); 6] = [
    ("PM_PB_", "PM_PB_EVENT_LNS_PUMP"),
    ("PM_PB_", "PM_PB_LNS_PUMP_P01"),
    ("PM_PB_", "PM_PB_INT_DATA_XFER"),
    ("PM_MCS01_", "PM_MCS01_64B_RD_DISP_PORT01"),
    ("PM_MCS01_", "PM_MCS01_64B_WR_DISP_PORT01"),
    ("PM_MCS01_", "PM_MCS01_AMO_OP_DISP_MC23_PORT01"),
];
const CELLS: u64 = SCALED + EVENTS.len() as u64;
/// The groups that post them. Of the six bridges each posting has two.
const POSTED: [(u64, u64); 4] = [(0, 1), (3 * GROUP, 3), (4 * GROUP, 1), (5 * GROUP, 1)];

/// A command with everything that it takes.
#[derive(Clone, Copy)]
struct Transfer {
    command: DmaCommand,
    bytes: u64,
    value: u64,
}

const fn transfer(command: DmaCommand, bytes: u64) -> Transfer {
    Transfer { command, bytes, value: 0x5A }
}

const READ: Transfer = transfer(DmaCommand::Read, BYTES);
const FILL: Transfer = transfer(DmaCommand::Fill, BYTES);
const PART: Transfer = transfer(DmaCommand::Fill, 8);
const COPY: Transfer = transfer(DmaCommand::Copy, BYTES);
const INJECT: Transfer = transfer(DmaCommand::Inject, BYTES);
const PART_OFFERED: Transfer = transfer(DmaCommand::Inject, 8);
const ADD: Transfer = transfer(DmaCommand::Add, 8);

/// What the core has of every third line of the buffers before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Nothing,
    Clean,
    Modified,
}

/// Where memory is accessed.
#[derive(Clone, Copy)]
enum Ports {
    /// At all ports, so many lines at each.
    All,
    /// At the first port alone.
    First,
}

/// What a transfer makes of requests through the bridge, reads and writes, and of lines at ports, read and written. `again` are the lines
/// that the core then reads from each memory buffer, if it reads again what it held.
struct Right {
    requests: [u64; 2],
    ports: Ports,
    lines: [u64; 2],
    again: u64,
}

const fn all(requests: [u64; 2], lines: [u64; 2], again: u64) -> Right {
    Right { requests, ports: Ports::All, lines, again }
}

const fn first(requests: [u64; 2], lines: [u64; 2]) -> Right {
    Right { requests, ports: Ports::First, lines, again: 0 }
}

const READ_ONCE: [u64; 2] = [BYTES / READ_REQUEST, 0];
const WRITTEN_ONCE: [u64; 2] = [0, BYTES / PAYLOAD];

const CASES: [(&str, Transfer, Held, Right); 12] = [
    ("reads", READ, Held::Nothing, all(READ_ONCE, [AT_PORT, 0], HELD_AT_PORT)),
    ("reads of what the core modified", READ, Held::Modified, all(READ_ONCE, [AT_PORT - HELD_AT_PORT, HELD_AT_PORT], 0)),
    ("writes", FILL, Held::Nothing, all(WRITTEN_ONCE, [0, AT_PORT], HELD_AT_PORT)),
    ("writes over what the core modified", FILL, Held::Modified, all(WRITTEN_ONCE, [0, AT_PORT], HELD_AT_PORT)),
    ("a write of a part", PART, Held::Nothing, first([0, 1], [0, 1])),
    // The line goes to memory, and the part after it.
    ("a write of a part of what the core modified", PART, Held::Modified, first([0, 1], [0, 2])),
    ("a copy", COPY, Held::Nothing, all([READ_ONCE[0], WRITTEN_ONCE[1]], [AT_PORT, AT_PORT], HELD_AT_PORT)),
    ("lines offered that nobody has", INJECT, Held::Nothing, all(WRITTEN_ONCE, [0, AT_PORT], HELD_AT_PORT)),
    ("lines offered that the core has", INJECT, Held::Clean, all(WRITTEN_ONCE, [0, AT_PORT - HELD_AT_PORT], 0)),
    ("lines offered that the core modified", INJECT, Held::Modified, all(WRITTEN_ONCE, [0, AT_PORT - HELD_AT_PORT], 0)),
    ("an addition", ADD, Held::Nothing, first([0, 0], [1, 1])),
    ("an addition to what the core modified", ADD, Held::Modified, first([0, 0], [1, 2])),
];

/// What the core counts of a transfer and of reading again what it held: the name and code of an event, and the count.
type Count = (&'static str, u64, u64);

const fn core_counts(refused: u64, taken: u64, third: u64, memory: u64) -> [Count; 6] {
    [
        ("PM_L2_SN_M_WR_DONE", 0x4_6886, refused),
        ("PM_L3_CINJ", 0x3_68A4, taken),
        ("PM_LD_MISS_L1", 0x4_00F0, third + memory),
        ("PM_DATA_FROM_L2", 0x1_C042, 0),
        ("PM_DATA_FROM_L3", 0x4_C042, third),
        ("PM_DATA_FROM_LMEM", 0x2_C048, memory),
    ]
}

const CORE_CASES: [(&str, Transfer, Held, [Count; 6]); 7] = [
    // What a device reads stays in the first level.
    ("reads of what the core modified", READ, Held::Modified, core_counts(0, 0, 0, 0)),
    ("writes over what the core has", FILL, Held::Clean, core_counts(0, 0, 0, HELD)),
    ("writes over what the core modified", FILL, Held::Modified, core_counts(HELD, 0, 0, HELD)),
    ("a write of a part of what the core modified", PART, Held::Modified, core_counts(1, 0, 0, 1)),
    ("lines offered that the core has", INJECT, Held::Clean, core_counts(0, HELD, HELD, 0)),
    // None is refused: the core takes them.
    ("lines offered that the core modified", INJECT, Held::Modified, core_counts(0, HELD, HELD, 0)),
    ("a part offered of a line that the core modified", PART_OFFERED, Held::Modified, core_counts(1, 0, 0, 1)),
];

struct Guest {
    k: Kernel,
    nest: Nest,
    cells: Cells,
    /// Gives the command in GPR 3; the same, and reads back whether it was refused; so often one after the other.
    command: Label,
    answered: Label,
    long: Label,
    additions: Label,
    /// Of the buffer at GPR 3: drops it from the caches, as long as a long transfer is; loads or stores what is held.
    drop: Label,
    load: Label,
    store: Label,
}

/// Code that gives the device the command in GPR 3, `times` times. With `answered`, it then reads a register.
fn command(k: &mut Kernel, name: &str, times: u64, answered: bool) -> Label {
    k.a.routine(name);
    let entry = k.a.mark();
    k.a.load(R4, times);
    k.a.mtctr(R4);
    let again = k.a.mark();
    store_register(k, DmaRegister::Command, 0, R3);
    k.a.bdnz(again);
    if answered {
        load_register(k, R4, DmaRegister::Command);
    }
    k.a.blr();
    entry
}

/// Stores to a register of the device, whose registers are little-endian; `half` is 4 for the upper half of one of 64 bits. Changes GPR 5.
fn store_register(k: &mut Kernel, register: DmaRegister, half: u64, from: Gpr) {
    k.a.load(R5, DMA + u64::from(register.offset()) + half);
    if k.a.little_endian() {
        k.a.stw(from, 0, R5);
    } else {
        k.a.stwbrx(from, R0, R5);
    }
}

/// Loads from a register of the device. Changes GPR 5.
fn load_register(k: &mut Kernel, to: Gpr, register: DmaRegister) {
    k.a.load(R5, DMA + u64::from(register.offset()));
    if k.a.little_endian() {
        k.a.lwz(to, 0, R5);
    } else {
        k.a.lwbrx(to, R0, R5);
    }
}

impl Guest {
    fn new(little_endian: bool) -> Guest {
        let mut k = Kernel::with_tree(little_endian, 1);
        let nest = Nest::new(&mut k);
        let cells = Cells::new(&mut k, CELLS, &POSTED, &nest.waiting);
        Guest {
            command: command(&mut k, "command", 1, false),
            answered: command(&mut k, "command_and_read", 1, true),
            long: command(&mut k, "long_commands", TIMES, false),
            additions: command(&mut k, "additions", ADDITIONS, false),
            drop: each_line(&mut k, "flush_lines", [LONG / LINE, LINE], |k| k.a.dcbf(R0, R3)),
            load: each_line(&mut k, "load_lines", [HELD, APART], |k| k.a.ld(R5, 0, R3)),
            store: each_line(&mut k, "store_lines", [HELD, APART], |k| k.a.std(R5, 0, R3)),
            k,
            nest,
            cells,
        }
    }

    fn find(&mut self) {
        let Guest { k, nest, cells, .. } = self;
        for name in BRIDGE {
            cells.add(k, &nest.tree, ("PM_PHB0_", name), 0, 1);
        }
        for event in ["READ_BYTES", "WRITE_BYTES"] {
            for port in 0..PORTS {
                cells.add(k, &nest.tree, (&format!("PM_MBA{port}_"), &format!("PM_MBA{port}_{event}")), 0, 1);
            }
        }
        for event in EVENTS {
            cells.add(k, &nest.tree, event, 0, 256);
        }
    }

    /// Does something with the buffer at `address`.
    fn with(&mut self, what: Label, address: u64) {
        self.k.a.load(R3, address);
        self.k.a.bl(what);
    }

    /// Has the core hold every third line of what is written, and nothing else of the buffers.
    fn hold(&mut self, held: Held, of: u64) {
        self.with(self.drop, SOURCE);
        self.with(self.drop, DESTINATION);
        if held != Held::Nothing {
            self.with(self.load, of);
        }
        if held == Held::Modified {
            self.with(self.store, of);
        }
    }

    /// Writes everything that a command takes.
    fn prepare(&mut self, transfer: &Transfer) {
        let Transfer { bytes, value, .. } = *transfer;
        let wide = [(DmaRegister::Source, SOURCE), (DmaRegister::Destination, DESTINATION), (DmaRegister::Value, value)];
        for (register, value) in wide {
            for (half, word) in [(0, value & 0xFFFF_FFFF), (4, value >> 32)] {
                self.k.a.load(R3, word);
                store_register(&mut self.k, register, half, R3);
            }
        }
        self.k.a.load(R3, bytes);
        store_register(&mut self.k, DmaRegister::Bytes, 0, R3);
    }

    fn check_register(&mut self, label: &str, register: DmaRegister, right: u64) {
        load_register(&mut self.k, R6, register);
        self.k.check_is(label, R6, right);
    }

    /// What a transfer reads or, if it reads nothing, writes.
    const fn buffer(transfer: &Transfer) -> u64 {
        match transfer.command {
            DmaCommand::Read | DmaCommand::Copy => SOURCE,
            _ => DESTINATION,
        }
    }

    fn measure(&mut self, what: Label, argument: u64) {
        self.cells.measure(&mut self.k, what, argument);
    }

    /// Checks by how much the bridge's cells and those of the memory buffers have grown.
    fn check_exact(&mut self, label: &str, bridge: [u64; 3], ports: Ports, lines: [u64; 2]) {
        for (cell, (name, right)) in (0..).zip(BRIDGE.into_iter().zip(bridge)) {
            self.cells.check(&mut self.k, &format!("{label}: {name}"), cell, right);
        }
        for ((event, cell), lines) in [("READ_BYTES", READS), ("WRITE_BYTES", WRITES)].into_iter().zip(lines) {
            for port in 0..PORTS {
                let here = matches!(ports, Ports::All) || port == 0;
                // A line is two blocks.
                let right = if here { 2 * lines } else { 0 };
                self.cells.check(&mut self.k, &format!("{label}: PM_MBA{port}_{event}"), cell + port, right);
            }
        }
    }

    /// A transfer, as the bridge and the memory buffers count it.
    fn case(&mut self, label: &str, transfer: &Transfer, held: Held, right: &Right) {
        let of = Guest::buffer(transfer);
        self.hold(held, of);
        self.prepare(transfer);
        self.measure(self.answered, transfer.command.number().into());
        let [reads, writes] = right.requests;
        self.check_exact(label, [reads, writes, 1], right.ports, right.lines);
        self.check_register(&format!("{label}: it is done"), DmaRegister::Command, 0);
        if matches!(right.ports, Ports::All) {
            self.measure(self.load, of);
            self.check_exact(&format!("{label}, the core reads"), [0; 3], Ports::All, [right.again, 0]);
        }
    }

    /// A transfer so often that what is counted in units of 256 is whole.
    fn long_case(&mut self, label: &str, what: Label, transfer: &Transfer, requests: [u64; 2], right: [u64; 6]) {
        self.hold(Held::Nothing, SOURCE);
        self.prepare(transfer);
        self.measure(what, transfer.command.number().into());
        for (cell, (name, right)) in (0..).zip(BRIDGE.into_iter().zip(requests)) {
            self.cells.check(&mut self.k, &format!("{label}: {name}"), cell, right);
        }
        for (cell, ((_, name), right)) in (SCALED..).zip(EVENTS.into_iter().zip(right)) {
            self.cells.check(&mut self.k, &format!("{label}: {name}"), cell, right);
        }
    }

    fn long_cases(&mut self) {
        let lines = TIMES * LONG / LINE;
        // Every line is a request within the chip, half of them by ports 0 and 1 of the interconnect; four are a transfer of 512 bytes.
        // Ports 0 and 1 of MC01 have a quarter of the lines, two blocks each.
        let (pumps, transfers, blocks) = (lines / 256, lines / 4 / 256, lines / 4 * 2 / 256);
        let read = [TIMES * LONG / READ_REQUEST, 0];
        let written = [0, TIMES * LONG / PAYLOAD];
        let long = |command| transfer(command, LONG);
        self.long_case("long reads", self.long, &long(DmaCommand::Read), read, [pumps, pumps / 2, transfers, blocks, 0, 0]);
        self.long_case("long writes", self.long, &long(DmaCommand::Fill), written, [pumps, pumps / 2, transfers, 0, blocks, 0]);
        // 256 requests for one line of the first port; it stays where the memory is, which reads and writes two blocks for each.
        self.long_case("additions", self.additions, &ADD, [0, 0], [1, 1, 0, 2, 2, 1]);
    }

    /// A transfer, as the core counts it, and what it then reads again.
    fn core_case(&mut self, label: &str, transfer: &Transfer, held: Held, counts: &[Count]) {
        let of = Guest::buffer(transfer);
        for (name, code, right) in counts {
            // An event of the caches goes with one of its group on the fourth counter.
            let (counter, of_caches) = (code >> 16, code >> 12 & 0xF == 6);
            let with = if of_caches && counter != 4 { vec![*code, 4 << 16 | code & 0xFFFF] } else { vec![*code] };
            self.hold(held, of);
            self.prepare(transfer);
            self.k.write(spr::MMCR1, select(&with));
            self.k.write(pmc(counter as u16), 0);
            self.k.write(spr::MMCR0, mmcr0(|_| {}));
            self.with(self.command, transfer.command.number().into());
            self.with(self.load, of);
            self.k.write(spr::MMCR0, FC);
            self.k.a.mfspr(R6, pmc(counter as u16));
            self.k.check_is(&format!("{label}: {name}"), R6, *right);
        }
    }

    /// The bytes are where they belong, and the core sees them though it had the lines.
    fn bytes(&mut self) {
        for (command, value) in [(DmaCommand::Fill, 0x11), (DmaCommand::Inject, 0x22)] {
            self.hold(Held::Modified, DESTINATION);
            self.prepare(&Transfer { command, bytes: BYTES, value });
            self.with(self.command, command.number().into());
            self.k.a.load(R5, DESTINATION + BYTES - 8);
            self.k.a.ld(R6, 0, R5);
            self.k.check_is(&format!("the bytes that command {command:?} writes"), R6, 0x0101_0101_0101_0101 * value);
        }
        self.prepare(&Transfer { command: DmaCommand::Add, bytes: 8, value: 0 });
        self.with(self.command, DmaCommand::Add.number().into());
        self.check_register("what was there before an addition", DmaRegister::Value, 0x2222_2222);
        self.prepare(&transfer(DmaCommand::Fill, 8));
        self.with(self.command, 6);
        self.check_register("a command that is none is refused", DmaRegister::Command, 1);
        self.check_register("the device says what it is", DmaRegister::Identity, 0xD3A0_1234);
    }
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut guest = Guest::new(little_endian);
    guest.k.main();
    guest.nest.open(&mut guest.k, 0);
    guest.find();
    guest.nest.firmware.nest(&mut guest.k, START, "firmware starts the nest");
    guest.k.a.addi(R3, R14, STATUS);
    guest.nest.waiting.value(&mut guest.k, RUNNING);
    guest.k.check_is("the nest posts", R3, RUNNING);
    // All code and data of the measurement are in the caches after this.
    guest.hold(Held::Modified, SOURCE);
    guest.prepare(&PART);
    for what in [guest.command, guest.answered, guest.long, guest.additions] {
        guest.measure(what, DmaCommand::Fill.number().into());
    }
    for (label, transfer, held, right) in &CASES {
        guest.case(label, transfer, *held, right);
    }
    guest.long_cases();
    for (label, transfer, held, counts) in &CORE_CASES {
        guest.core_case(label, transfer, *held, counts);
    }
    guest.bytes();
    guest.k.end_main();
    guest.k.finish()
}
