//! Streams with a known answer, and invariants of every stream.

mod answers;
mod bundles;
mod code;
mod identities;
mod invariants;
mod links;
mod pages;
mod places;
mod probes;
mod remembered_hits;
mod requests;
mod rules;
mod scope;
mod second;
mod short;
mod stalls;
mod streams;
mod threads;

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::feed::{BranchKind, Demand, Records, Signal, SignalSet, Totals};

use super::{
    Access, AccessKind, Builder, Class, Companion, Elements, Follower, Instruction, Operation, PageTables, Register, Transfer, Walk,
};
use streams::{Noise, Tables, everything, follow, load, store};

/// The totals of a machine's threads and of the devices of its packages.
struct Rig {
    threads: Vec<Box<Totals>>,
    devices: Vec<Box<Totals>>,
}

fn totals() -> Box<Totals> {
    Box::new(Totals::new())
}

impl Rig {
    /// Returns a package of so many threads.
    fn new(threads: usize) -> Rig {
        Rig { threads: (0..threads).map(|_| totals()).collect(), devices: Vec::from([totals()]) }
    }

    /// Returns packages of one thread each.
    fn packages(packages: usize) -> Rig {
        let of_packages = || (0..packages).map(|_| totals()).collect();
        Rig { threads: of_packages(), devices: of_packages() }
    }

    fn run(&self, follower: &mut Follower<'_>, instruction: &Instruction<'_>) {
        follower.execute(instruction, &mut Tables);
        self.deliver(follower);
    }

    fn deliver(&self, follower: &mut Follower<'_>) {
        follower.deliver(&*self.threads[follower.number()], &[], |_| {});
    }

    fn get(&self, thread: usize, signal: Signal) -> u64 {
        self.threads[thread].get(signal)
    }

    /// Sums over all threads.
    fn sum(&self, signals: &[Signal]) -> u64 {
        self.threads.iter().flat_map(|totals| signals.iter().map(|signal| totals.get(*signal))).sum()
    }

    fn all(&self) -> Vec<u64> {
        self.threads.iter().flat_map(|totals| Signal::all().map(|signal| totals.get(signal))).collect()
    }
}
