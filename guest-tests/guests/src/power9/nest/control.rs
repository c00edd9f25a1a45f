//! `nest-control`: the control block, cell by cell (docs/notes/power9-nest.md, N14 to N22).

use super::posted::{GROUP, TAIL, load_double, store_double};
use super::{COMMAND, IN_FORCE, INITIALIZING, MODE, NEST_UNIT, Nest, PAUSE, PAUSED, RESUME, RUNNING, SPEED, STATUS, UNITS};
use crate::power::Kernel;
use vm_pmu_engines::image::Image;
use vm_pmu_engines::power::assemble::{AssembleError, Gpr, R3, R4, R5, R14, R15, R16, R17, R18};

/// The cell of PM_PB_CYC, and the flexible mode's from the start of the region.
const PB_CYC: i64 = 0x80;
const FLEXIBLE: u64 = 0x1_0000;
/// The units of table 6-10.
const GUIDE: u64 = 0xFFFF_8073_F007_E000;
/// PHB 0: bit 30.
const PHB0: u64 = 1 << (63 - 30);
/// Invalid statuses of a speed and of a mode, and an invalid command.
const BAD_SPEED: u64 = 3;
const BAD_MODE: u64 = 4;
const NO_COMMAND: u64 = 9;
const CLEAR: u64 = 3;
const GROUPS: u64 = 7;
/// Updates of group 1 over which its clock is compared: 64 slots at speed 0, eight rounds through the engine's states.
const UPDATES: u64 = 32;
/// Turns of a loop of one instruction that take eight slots.
const EIGHT_SLOTS: u64 = 8000;

struct Guest {
    k: Kernel,
    nest: Nest,
}

impl Guest {
    fn set(&mut self, cell: i64, value: u64) {
        self.k.a.load(R3, value);
        store_double(&mut self.k, R3, cell, R14);
    }

    fn check_cell(&mut self, label: &str, cell: i64, right: u64) {
        load_double(&mut self.k, R3, cell, R14);
        self.k.check_is(label, R3, right);
    }

    /// Waits until a cell of the control block holds `value`, and checks that it does.
    fn comes(&mut self, label: &str, cell: i64, value: u64) {
        self.k.a.addi(R3, R14, cell);
        self.nest.waiting.value(&mut self.k, value);
        self.k.check_is(label, R3, value);
    }

    /// Gives a command, and waits until it is taken.
    fn command(&mut self, label: &str, command: u64) {
        self.set(COMMAND, command);
        self.comes(&format!("{label}: the command is taken"), COMMAND, 0);
    }

    /// Writes a cell, and waits until the counters have been programmed anew.
    fn configure(&mut self, label: &str, cell: i64, value: u64) {
        self.set(cell, value);
        self.comes(&format!("{label}: programs the counters"), STATUS, INITIALIZING);
        self.comes(&format!("{label}: posts again"), STATUS, RUNNING);
    }

    fn pause_for(&mut self, turns: u64) {
        self.k.a.load(R3, turns);
        self.k.a.mtctr(R3);
        let again = self.k.a.mark();
        self.k.a.bdnz(again);
    }

    /// Waits for updates of the group that begins `first` bytes into the region.
    fn updates(&mut self, first: u64, times: u64) {
        self.k.a.load(R3, first);
        self.k.a.add(R3, R3, R15);
        self.nest.waiting.updates(&mut self.k, times);
    }

    /// GPR `to` becomes what is posted `offset` bytes into the region.
    fn posted(&mut self, to: Gpr, offset: u64) {
        self.k.a.load(R5, offset);
        self.k.a.add(R5, R5, R15);
        load_double(&mut self.k, to, 0, R5);
    }

    /// The sum of all counts of updates does not change over eight slots.
    fn stands_still(&mut self, label: &str) {
        self.sum_of_updates();
        self.k.a.mr(R17, R16);
        self.pause_for(EIGHT_SLOTS);
        self.sum_of_updates();
        self.k.check_same(&format!("{label}: nothing is posted"), R16, R17);
    }

    fn sum_of_updates(&mut self) {
        self.k.a.load(R16, 0);
        for first in [0, FLEXIBLE] {
            for group in 0..GROUPS {
                for offset in [0, TAIL as u64] {
                    self.posted(R3, first + GROUP * group + offset);
                    self.k.a.add(R16, R16, R3);
                }
            }
        }
    }

    /// By how much PM_PB_CYC of the mode at `first` grows over `updates` updates of group 1.
    fn check_clock(&mut self, label: &str, first: u64, updates: u64, least: u64, most: u64) {
        self.updates(first, 1);
        self.posted(R17, first + PB_CYC as u64);
        self.updates(first, updates);
        self.posted(R18, first + PB_CYC as u64);
        self.k.a.subf(R18, R17, R18);
        self.k.check(&format!("{label}: PM_PB_CYC over {updates} updates"), R18, least, most);
    }

    fn begin(&mut self) {
        let found = [("status", STATUS, PAUSED), ("command", COMMAND, 0), ("speed", SPEED, 0), ("units", UNITS, GUIDE)];
        for (name, cell, right) in found.into_iter().chain([("mode", MODE, 0), ("mode in force", IN_FORCE, 0)]) {
            self.check_cell(&format!("firmware leaves the {name}"), cell, right);
        }
        self.stands_still("firmware has paused the engine");
        self.k.check_is("nothing has been posted", R16, 0);
    }

    /// 64 slots: 32 of group 1 and 3, every second of group 2's 32 is counted, eight of the others.
    fn rates(&mut self) {
        let heads = self.k.reserve(8 * GROUPS);
        self.updates(0, 1);
        self.k.a.load(R18, heads);
        for group in 0..GROUPS {
            self.posted(R3, GROUP * group);
            self.k.a.std(R3, 8 * group as i64, R18);
        }
        self.updates(0, UPDATES);
        for (group, right) in (0..GROUPS).zip([32, 16, 32, 8, 8, 8, 8]) {
            self.k.a.load(R18, heads);
            self.posted(R3, GROUP * group);
            self.k.a.ld(R4, 8 * group as i64, R18);
            self.k.a.subf(R3, R4, R3);
            self.k.check_is(&format!("updates of group {} in 64 slots", group + 1), R3, right);
        }
    }

    fn running(&mut self) {
        self.command("resume", RESUME);
        self.check_cell("resume: the engine posts", STATUS, RUNNING);
        // 64 slots of 500 cycles are 32000, in units of 256.
        self.check_clock("speed 0", 0, UPDATES, 125, 125);
        self.rates();
        for group in 0..GROUPS {
            self.updates(GROUP * group, 1);
            self.k.check(&format!("group {} is whole", group + 1), R3, 1, 1 << 20);
        }
        // Two slots an update are 2000 cycles of the core: 250 ticks of the time base, and a little for the loop that waits.
        self.updates(0, 1);
        self.k.a.mftb(R17);
        self.updates(0, UPDATES);
        self.k.a.mftb(R18);
        self.k.a.subf(R18, R17, R18);
        self.k.check("speed 0: ticks in 32 updates", R18, 7995, 8005);
        // What the guest stores in a cell stays, and is added to.
        self.updates(0, 1);
        self.k.a.load(R4, 1_000_000);
        store_double(&mut self.k, R4, PB_CYC, R15);
        self.updates(0, UPDATES);
        self.posted(R3, PB_CYC as u64);
        self.k.check_is("what is posted is added to what the cell held", R3, 1_000_125);
    }

    fn commands(&mut self) {
        self.command("pause", PAUSE);
        self.check_cell("pause: the engine waits", STATUS, PAUSED);
        self.stands_still("pause");
        self.command("resume again", RESUME);
        self.check_cell("resume again: the engine posts", STATUS, RUNNING);
        self.updates(0, 2);
        self.k.check("resume again: group 1 is posted", R3, 1, 1 << 20);
        self.set(COMMAND, NO_COMMAND);
        self.updates(0, 4);
        self.k.check("a command that is none stops nothing", R3, 1, 1 << 20);
        self.check_cell("a command that is none stays", COMMAND, NO_COMMAND);
        self.check_cell("a command that is none: status", STATUS, RUNNING);
        self.command("clear", CLEAR);
        self.comes("clear: posts again", STATUS, RUNNING);
        self.posted(R3, 0);
        self.k.check("clear: updates of group 1 begin anew", R3, 0, 1);
        self.posted(R3, PB_CYC as u64);
        // Four slots program, one or two bring the first posting: 1500 cycles at most.
        self.k.check("clear: PM_PB_CYC begins anew", R3, 0, 1500 >> 8);
    }

    fn speeds(&mut self) {
        self.configure("speed 1", SPEED, 1);
        self.posted(R3, 0);
        self.k.check("speed 1: updates begin anew", R3, 0, 1);
        self.check_clock("speed 1", 0, UPDATES, 250, 250);
        // From speed 4 on the prescaler has 16 bits: 14 updates of ten slots are 70000 cycles.
        self.configure("speed 4", SPEED, 4);
        self.check_clock("speed 4", 0, 14, 1, 2);
        self.set(SPEED, 12);
        self.comes("speed 12 is none", STATUS, BAD_SPEED);
        self.stands_still("speed 12");
        self.configure("back to speed 0", SPEED, 0);
        self.check_clock("back to speed 0", 0, UPDATES, 125, 125);
    }

    fn modes(&mut self) {
        self.set(MODE, 7);
        self.comes("mode 7 is none", STATUS, BAD_MODE);
        self.stands_still("mode 7");
        self.configure("flexible mode", MODE, 1);
        self.check_cell("flexible mode is in force", IN_FORCE, 1);
        self.posted(R16, 0);
        self.check_clock("flexible mode", FLEXIBLE, UPDATES, 125, 125);
        self.posted(R3, 0);
        self.k.check_same("flexible mode: the default postings stand still", R3, R16);
        self.posted(R3, FLEXIBLE + 2 * GROUP);
        self.k.check_is("flexible mode: nothing of group 3", R3, 0);
        self.configure("default mode", MODE, 0);
        self.check_cell("default mode is in force", IN_FORCE, 0);
        self.posted(R16, FLEXIBLE);
        self.check_clock("default mode", 0, UPDATES, 125, 125);
        self.posted(R3, FLEXIBLE);
        self.k.check_same("default mode: the flexible postings stand still", R3, R16);
    }

    /// Without host bridge 0 its clock is stopped, and that of host bridge 1 continues.
    fn units(&mut self) {
        let clocks = self.k.reserve(16);
        for (number, cell) in [(0, 0), (1, 8)] {
            self.nest.tree.unit(&mut self.k, NEST_UNIT, &format!("PM_PHB{number}_"));
            self.nest.tree.event(&mut self.k, &format!("PM_PHB{number}_CYC"), 0);
            self.k.a.load(R5, clocks);
            self.k.a.std(R3, cell, R5);
            // An event of a counter without prescaler.
            self.k.check_is(&format!("the scale of PM_PHB{number}_CYC"), R4, 1);
        }
        self.configure("without PHB0", UNITS, GUIDE & !PHB0);
        // Of three pairs one is posted each time; six postings of group 4 are two of each.
        self.updates(3 * GROUP, 6);
        self.clocks_of(clocks, [R17, R18]);
        self.updates(3 * GROUP, 6);
        self.clocks_of(clocks, [R3, R16]);
        self.k.a.subf(R16, R18, R16);
        self.k.check_same("without PHB0: PM_PHB0_CYC stands still", R3, R17);
        // 48 slots of 500 cycles, at the nest's frequency.
        self.k.check_is("without PHB0: PM_PHB1_CYC", R16, 24000);
        self.configure("with PHB0", UNITS, GUIDE);
        self.updates(3 * GROUP, 6);
        self.clocks_of(clocks, [R17, R18]);
        self.updates(3 * GROUP, 6);
        self.clocks_of(clocks, [R16, R18]);
        self.k.a.subf(R16, R17, R16);
        self.k.check_is("with PHB0: PM_PHB0_CYC", R16, 24000);
    }

    fn clocks_of(&mut self, clocks: u64, to: [Gpr; 2]) {
        for (register, cell) in to.into_iter().zip([0, 8]) {
            self.k.a.load(R5, clocks);
            self.k.a.ld(R5, cell, R5);
            load_double(&mut self.k, register, 0, R5);
        }
    }
}

pub(super) fn build(little_endian: bool) -> Result<Image, AssembleError> {
    let mut k = Kernel::with_tree(little_endian, 1);
    let nest = Nest::new(&mut k);
    k.main();
    nest.open(&mut k, 0);
    let mut guest = Guest { k, nest };
    guest.begin();
    guest.running();
    guest.commands();
    guest.speeds();
    guest.modes();
    guest.units();
    guest.k.end_main();
    guest.k.finish()
}
