//! Who follows a run while it runs.

use std::fmt::Debug;
use std::sync::Arc;

use vm_pmu::arch::model::RegisterDescription;

use crate::report::Trace;

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
