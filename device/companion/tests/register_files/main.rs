//! What counters of real register files make of a follower's events.

mod flushes;
mod injection;
mod nested;
mod northbridge;
mod samples;
#[path = "../../src/tests/streams.rs"]
#[allow(dead_code, reason = "the tests of the crate use the rest")]
mod streams;

use vm_pmu::{Machine, Signal};
use vm_pmu_arch::feed::{BranchKind, Demand, Records, SignalSet};
use vm_pmu_companion::{
    Access, AccessKind, Builder, Class, Companion, Elements, Follower, Instruction, Operation, PageTables, Register, Transfer, Walk,
};

use streams::{Noise, Tables, everything, follow, load, store};

/// A machine whose totals take the followers' events.
struct Rig {
    machine: Machine<fn(usize, u32)>,
}

impl Rig {
    fn new(part: &str, packages: usize, threads: usize) -> Rig {
        let line: fn(usize, u32) = |_, _| {};
        Rig { machine: vm_pmu::Builder::new(part).unwrap().every_signal().packages(packages).threads(threads).build(line).unwrap() }
    }

    fn run(&self, follower: &mut Follower<'_>, instruction: &Instruction<'_>) {
        follower.execute(instruction, &mut Tables);
        self.deliver(follower);
    }

    fn deliver(&self, follower: &mut Follower<'_>) {
        follower.deliver(&self.machine.thread(follower.number()).unwrap(), &[], |_| {});
    }

    fn get(&self, thread: usize, signal: Signal) -> u64 {
        self.machine.thread(thread).unwrap().totals().get(signal)
    }
}
