//! What passes between a guest and its PMU, noted while a step is taken.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use vm_pmu::arch::model::RegisterDescription;
use vm_pmu_board::trace::{Sample, Sink};

use crate::report::{Action, Trace};

/// What passed, and what the register holds behind it where one was written.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub(super) entry: Trace,
    pub(super) after: Option<u64>,
}

/// The sink of a run: it keeps what passed until it is taken.
#[derive(Debug, Default)]
pub(super) struct Watch {
    kept: Mutex<Kept>,
    is_new: AtomicBool,
}

#[derive(Debug, Default)]
struct Kept {
    passed: Vec<Passed>,
    /// The threads of which it is known whether they are frozen.
    known: BTreeSet<usize>,
}

impl Kept {
    /// Whether an entry says nothing new. Contexts change often, and the view shows the last one by itself. What is said first of
    /// a thread's freeze is how it begins.
    fn is_left_out(&mut self, entry: &Trace) -> bool {
        match entry.action {
            Action::Context { .. } => true,
            Action::Freeze { written, .. } => self.known.insert(entry.thread) && !written,
            _ => false,
        }
    }
}

impl Watch {
    /// Takes what has passed since the last time.
    pub(super) fn take(&self) -> Vec<Passed> {
        if self.is_new.swap(false, Ordering::Relaxed) { std::mem::take(&mut self.lock().passed) } else { Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The register whose value an access of `name` shows: POWER's problem state has names of its own, and Knights Landing has further ones for
/// writes of the full width.
pub(super) fn counter_of(name: &str) -> &str {
    match name {
        "IA32_A_PMC0" => "IA32_PMC0",
        "IA32_A_PMC1" => "IA32_PMC1",
        name => name.strip_prefix('U').unwrap_or(name),
    }
}

impl Sink for Watch {
    fn begin(&self, _thread: usize, _registers: &[&'static RegisterDescription]) {}

    fn tell(&self, entry: &Trace) {
        let mut kept = self.lock();
        if !kept.is_left_out(entry) {
            kept.passed.push(Passed { entry: entry.clone(), after: None });
            self.is_new.store(true, Ordering::Relaxed);
        }
    }

    fn sample(&self, sample: &Sample<'_>) {
        let mut kept = self.lock();
        let Some(Passed { entry: Trace { thread, action: Action::Write { register, .. }, .. }, after: after @ None }) =
            kept.passed.last_mut()
        else {
            return;
        };
        if *thread == sample.thread {
            let name = counter_of(register);
            *after = sample.values.iter().find(|one| one.register.name == name).map(|one| one.value);
        }
    }

    fn every(&self) -> u64 {
        u64::MAX
    }
}
