//! Guests for POWER9's nest: counters that post themselves into memory (docs/notes/power9-nest.md).
//!
//! They find the counters by the device tree, as Linux does, and start and stop them by calls of host firmware. A slot of the posting
//! engine comes every 500 cycles of the nest, which are 1000 of a core.

mod cells;
mod control;
mod core_collection;
mod dma;
mod firmware;
mod linux;
mod memory;
mod posted;
mod tree;

use crate::power::Kernel;
use firmware::Firmware;
use posted::Waiting;
use tree::Walker;
use vm_pmu_engines::power::assemble::{R3, R14, R15};

/// Cells of the control block: status, command, speed, units, mode, mode in force.
const STATUS: i64 = 0;
const COMMAND: i64 = 8;
const SPEED: i64 = 0x10;
const UNITS: i64 = 0x18;
const MODE: i64 = 0x20;
const IN_FORCE: i64 = 0x28;

/// The states of the engine.
const INITIALIZING: u64 = 0;
const RUNNING: u64 = 1;
const PAUSED: u64 = 2;
/// Its commands.
const RESUME: u64 = 1;
const PAUSE: u64 = 2;

/// The type of a unit of the nest.
const NEST_UNIT: u64 = 0x10;

/// The code that these guests share.
struct Nest {
    tree: Walker,
    firmware: Firmware,
    waiting: Waiting,
}

impl Nest {
    fn new(k: &mut Kernel) -> Nest {
        Nest { tree: Walker::new(k), firmware: Firmware::new(k), waiting: Waiting::new(k) }
    }

    /// Opens the tree and finds the way into firmware, the region of the chip of index `chip` (GPR 15) and its control block (GPR 14).
    fn open(&self, k: &mut Kernel, chip: u64) {
        self.tree.open(k);
        self.firmware.open(k, &self.tree);
        self.tree.unit(k, NEST_UNIT, "PM_PB_");
        self.tree.region(k, chip, Some("cb_offset"));
        k.a.mr(R14, R3);
        self.tree.region(k, chip, None);
        k.a.mr(R15, R3);
    }
}

super::super::guests! {
    "power9" Power;
    "nest-memory" 1/1 companion memory "finds the nest's counters in the device tree, starts them, moves known lines and reads what was posted";
    "nest-control" 1/1 steps control "drives the nest's engine by its control block: pause, resume, clear, speed, mode, and invalid values";
    "dma" 1/1 companion dma "has a device read, write, copy, add and offer lines to the caches, and counts it at its bridge, in memory and in the core";
    "nest-linux" 4/2 steps linux "opens and closes events of two nests as Linux's driver does";
    "core-collection" 2/1 steps core_collection "has a core and its threads post what they count in problem state and outside it";
}
