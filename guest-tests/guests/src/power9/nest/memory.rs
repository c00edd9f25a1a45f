//! `nest-memory`: known traffic between caches and memory, as the nest counts and posts it.
//!
//! A line of 128 bytes that is read or written is two blocks of 64 bytes (tables 6-3 and 6-5). Line n belongs to controller n modulo 2, MC01
//! or MC23, and there to port n / 2 modulo 4. Lines three apart, so that nothing is fetched ahead, go to all eight ports equally often.

use super::cells::Cells;
use super::firmware::{START, STOP};
use super::posted::{GROUP, TAIL, load_double};
use super::{Nest, PAUSED, RUNNING, STATUS};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, Gpr, Label, R0, R3, R4, R5, R7, R14, R15, R16, R17, R18};

/// Lines that are moved, and bytes from one to the next.
const LINES: u64 = 4096;
const STRIDE: u64 = 3 * 128;
/// Where the lines are: five areas, one after the other.
const AREAS: u64 = 0x60_0000;
const AREA: u64 = LINES * STRIDE;
/// Ports, each with a memory buffer.
const PORTS: u64 = 8;
/// Blocks of 64 bytes at each port: two of each of its lines.
const BLOCKS: u64 = 2 * LINES / PORTS;
/// Counts of a counter of two ports, which counts to 256 first.
const COUNTS: u64 = 2 * BLOCKS / 256;
/// Lines of one set of L2 and of L3, for how many of them these have room, 8 and 20, and bytes from one to the next; all are at port 0 of
/// MC01. They are apart from the chip's region, the firmware and the other lines.
const CONFLICTING: u64 = 40;
const ROOM: u64 = 8 + 20;
const SETS: u64 = 512 << 10;
const CONFLICTS: u64 = AREAS + 0x6_0C00;
/// Lines three apart, so that nothing is fetched ahead, and lines of one set.
const SPREAD: [u64; 2] = [LINES, STRIDE];
const TOGETHER: [u64; 2] = [CONFLICTING, SETS];
/// The cells that are watched: reads and writes of each buffer, and three events of each pair of ports.
const CELLS: u64 = 2 * PORTS + 12;
/// The groups that post them: those of the controllers, and of the buffers of either.
const POSTED: [(u64, u64); 3] = [(0, 1), (4 * GROUP, 1), (5 * GROUP, 1)];
/// Turns of a loop of one instruction in which slots come.
const SLOTS: u64 = 20_000;

/// The events of two ports of a pair of controllers.
const CONTROLLERS: [&str; 3] = ["64B_RD_OR_WR_DISP", "64B_RD_DISP", "64B_WR_DISP"];

/// What is moved.
#[derive(Clone, Copy)]
struct Traffic {
    load: Label,
    store: Label,
    flush: Label,
    cast_out: Label,
    flush_set: Label,
}

struct Guest {
    k: Kernel,
    nest: Nest,
    traffic: Traffic,
    cells: Cells,
}

impl Guest {
    fn new(little_endian: bool) -> Guest {
        let mut k = Kernel::with_tree(little_endian, 1);
        let nest = Nest::new(&mut k);
        let traffic = Traffic {
            load: each_line(&mut k, "load_lines", SPREAD, |k| k.a.ld(R5, 0, R3)),
            store: each_line(&mut k, "store_lines", SPREAD, |k| k.a.std(R5, 0, R3)),
            flush: each_line(&mut k, "flush_lines", SPREAD, |k| k.a.dcbf(R0, R3)),
            cast_out: each_line(&mut k, "store_set", TOGETHER, |k| k.a.std(R5, 0, R3)),
            flush_set: each_line(&mut k, "flush_set", TOGETHER, |k| k.a.dcbf(R0, R3)),
        };
        let cells = Cells::new(&mut k, CELLS, &POSTED, &nest.waiting);
        Guest { k, nest, traffic, cells }
    }

    /// Measures what `what` moves of the area of this number.
    fn measure(&mut self, what: Label, area: u64) {
        self.measure_at(what, AREAS + AREA * area);
    }

    fn measure_at(&mut self, what: Label, address: u64) {
        self.cells.measure(&mut self.k, what, address);
    }

    /// When stored to in turn, lines of a set that has no room for all push each other out, modified: each is read again and another one
    /// written.
    fn cast_out(&mut self) {
        // From the second round on none is there when its turn comes; what else was in the set is gone.
        for _ in 0..4 {
            self.measure_at(self.traffic.cast_out, CONFLICTS);
        }
        self.check_first_port("lines are cast out", CONFLICTING, CONFLICTING);
        // Those that are still there are modified.
        self.measure_at(self.traffic.flush_set, CONFLICTS);
        self.check_first_port("what the set still has is flushed", 0, ROOM);
    }

    /// Checks how many lines the first memory buffer has read and written, and that the others have none.
    fn check_first_port(&mut self, label: &str, reads: u64, writes: u64) {
        for (event, first, lines) in [("READ_BYTES", 0, reads), ("WRITE_BYTES", PORTS, writes)] {
            for port in 0..PORTS {
                let right = if port == 0 { 2 * lines } else { 0 };
                self.cells.check(&mut self.k, &format!("{label}: PM_MBA{port}_{event}"), first + port, right);
            }
        }
    }

    /// Finds the cells.
    fn find(&mut self) {
        let Guest { k, nest, cells, .. } = self;
        for event in ["READ_BYTES", "WRITE_BYTES"] {
            for port in 0..PORTS {
                cells.add(k, &nest.tree, (&format!("PM_MBA{port}_"), &format!("PM_MBA{port}_{event}")), 0, 1);
            }
        }
        for pair in ["01", "23"] {
            for ports in ["01", "23"] {
                for event in CONTROLLERS {
                    cells.add(k, &nest.tree, (&format!("PM_MCS{pair}_"), &format!("PM_MCS{pair}_{event}_PORT{ports}")), 0, 256);
                }
            }
        }
    }

    /// Checks by how much the cells have grown: each buffer's reads and writes, and what two ports count.
    fn check(&mut self, label: &str, reads: u64, writes: u64) {
        let mut cells = Vec::new();
        for (event, right) in [("READ_BYTES", reads), ("WRITE_BYTES", writes)] {
            cells.extend((0..PORTS).map(|port| (format!("PM_MBA{port}_{event}"), right * BLOCKS)));
        }
        for (pair, ports) in [("01", "01"), ("01", "23"), ("23", "01"), ("23", "23")] {
            for (event, right) in CONTROLLERS.into_iter().zip([reads + writes, reads, writes]) {
                cells.push((format!("PM_MCS{pair}_{event}_PORT{ports}"), right * COUNTS));
            }
        }
        for (cell, (name, right)) in (0..).zip(cells) {
            self.cells.check(&mut self.k, &format!("{label}: {name}"), cell, right);
        }
    }

    fn status(&mut self, label: &str, right: u64) {
        self.k.a.addi(R3, R14, STATUS);
        self.nest.waiting.value(&mut self.k, right);
        self.k.check_is(label, R3, right);
    }

    /// While stopped, nothing is posted whatever is moved, and every group is whole.
    fn stopped(&mut self) {
        self.nest.firmware.nest(&mut self.k, STOP, "firmware stops the nest");
        self.status("the nest is paused", PAUSED);
        self.groups(R17);
        self.cells.keep_before(&mut self.k);
        self.k.a.load(R3, AREAS + AREA * 3);
        self.k.a.bl(self.traffic.load);
        self.k.a.load(R3, SLOTS);
        self.k.a.mtctr(R3);
        let again = self.k.a.mark();
        self.k.a.bdnz(again);
        self.cells.keep_after(&mut self.k);
        self.groups(R16);
        self.k.check_same("paused: no group is posted", R16, R17);
        for cell in [0, PORTS, 2 * PORTS] {
            self.cells.kept(&mut self.k, cell, [R16, R3]);
            self.k.check_same(&format!("paused: cell {cell} stands still"), R3, R16);
        }
    }

    /// The sum of all groups' counts of updates; those at head and tail are the same.
    fn groups(&mut self, to: Gpr) {
        self.k.a.load(R18, 0);
        for group in 0..7 {
            load_double(&mut self.k, R3, (GROUP * group) as i64, R15);
            load_double(&mut self.k, R7, (GROUP * group) as i64 + TAIL, R15);
            self.k.a.add(R18, R18, R3);
            self.k.check_same(&format!("group {} is whole", group + 1), R3, R7);
        }
        self.k.a.mr(to, R18);
    }
}

/// Code that does `body` for each of so many lines from GPR 3 on, so many bytes apart.
pub(super) fn each_line(k: &mut Kernel, name: &str, [lines, stride]: [u64; 2], body: impl Fn(&mut Kernel)) -> Label {
    k.a.routine(name);
    let entry = k.a.mark();
    k.a.load(R4, lines);
    k.a.mtctr(R4);
    k.a.load(R4, stride);
    k.a.load(R5, 1);
    let again = k.a.mark();
    body(k);
    k.a.add(R3, R3, R4);
    k.a.bdnz(again);
    k.a.sync();
    k.a.blr();
    entry
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut guest = Guest::new(little_endian);
    guest.k.main();
    guest.nest.open(&mut guest.k, 0);
    guest.find();
    guest.nest.firmware.nest(&mut guest.k, START, "firmware starts the nest");
    guest.status("the nest posts", RUNNING);
    let Traffic { load, store, flush, .. } = guest.traffic;
    // All code and data of the measurement are in the caches after this.
    for what in [load, store, flush] {
        guest.measure(what, 0);
    }
    guest.measure(load, 1);
    guest.check("lines never touched are loaded", 1, 0);
    guest.measure(load, 1);
    guest.check("the same lines again", 0, 0);
    guest.measure(store, 1);
    guest.check("the lines are stored to", 0, 0);
    guest.measure(flush, 1);
    guest.check("the lines are flushed", 0, 1);
    guest.measure(store, 2);
    guest.check("lines never touched are stored to", 1, 0);
    guest.cast_out();
    guest.stopped();
    guest.nest.firmware.nest(&mut guest.k, START, "firmware starts the nest again");
    guest.status("the nest posts again", RUNNING);
    guest.measure(load, 0);
    guest.measure(load, 4);
    guest.check("started again, lines are loaded", 1, 0);
    guest.k.end_main();
    guest.k.finish()
}
