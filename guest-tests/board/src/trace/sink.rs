//! Who follows a run while it runs.

use std::fmt::Debug;
use std::sync::Arc;

use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::untile::UnitId;

use crate::report::{Posted, Trace};

/// What a register of a thread holds.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The register.
    pub register: &'static RegisterDescription,
    /// Its value.
    pub value: u64,
}

/// The values of a thread's registers at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The hardware thread.
    pub thread: usize,
    /// Instructions that it had retired.
    pub instruction: u64,
    /// Cycles that had passed for it.
    pub cycle: u64,
    /// Its registers, the same and in the same order each time.
    pub values: &'a [Value],
}

/// A counter of a box that all CPUs share, which the guest has programmed at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxCount {
    /// The box.
    pub unit: UnitId,
    /// The number of the counter; none is the fixed one.
    pub counter: Option<u8>,
    /// What its control holds, while that enables it.
    pub control: Option<u64>,
    /// What it holds.
    pub value: u64,
}

/// Takes everything that passes between a guest and its PMU, as it happens. Of each thread it comes in the order of time. Of several threads
/// one may be ahead of another.
pub trait Sink: Debug + Send + Sync {
    /// A thread begins, with these registers; also where a run goes on in a new machine.
    fn begin(&self, thread: usize, registers: &[&'static RegisterDescription]);

    /// Something passed.
    fn tell(&self, entry: &Trace);

    /// The registers as they are behind what passed, and every [`every`](Sink::every) instructions.
    fn sample(&self, sample: &Sample<'_>);

    /// After how many instructions of a thread there is a sample even if nothing passed.
    fn every(&self) -> u64;

    /// Counters of boxes as they are when all CPUs together have come to `cycle`: before and behind a write to their box, every
    /// [`every_of_boxes`](Sink::every_of_boxes) cycles, and at the end. Those of other boxes may be left out.
    fn boxes(&self, _cycle: u64, _counts: &[BoxCount]) {}

    /// What the nests of POWER9's chips have posted by `cycle`, behind a slot of their engines and at the end; what is left out is zero.
    fn posted(&self, _cycle: u64, _posted: &[Posted]) {}

    /// After how many cycles all counters of boxes that are enabled are sampled; none if nobody asks for them.
    fn every_of_boxes(&self) -> Option<u64> {
        None
    }

    /// After how many cycles what nests have posted is told again; none if nobody asks for it.
    fn every_of_nests(&self) -> Option<u64> {
        None
    }
}

/// A sink that several owners share. Two are equal if they are the same.
#[derive(Clone, Debug)]
pub struct Listener(pub Arc<dyn Sink>);

impl PartialEq for Listener {
    fn eq(&self, other: &Listener) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Listener {}
