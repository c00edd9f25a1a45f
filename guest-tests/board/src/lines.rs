//! Where the PMUs' interrupt requests arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use vm_pmu::irq::InterruptLine;

use crate::report::Interrupts;

/// The most counters of a thread.
const COUNTERS: usize = 32;

#[derive(Debug)]
struct Line {
    waiting: AtomicBool,
    /// The counters whose requests wait, one bit each.
    asked: AtomicU32,
    requested: [AtomicU64; COUNTERS],
    late: AtomicU64,
}

/// The state of an interrupt line of [`Lines`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineState {
    /// A request waits for the CPU's next instruction.
    pub waiting: bool,
    /// The counters whose requests wait, one bit each.
    pub asked: u32,
    /// How often each counter asked, 32 of them.
    pub requested: Vec<u64>,
    /// The most events by which a request came late.
    pub late: u64,
}

/// The performance-counter inputs of a machine's local APICs: requests wait here until their CPU's next instruction.
#[derive(Clone, Debug)]
pub struct Lines {
    lines: Arc<[Line]>,
}

impl Lines {
    /// The inputs of `threads` local APICs.
    #[must_use]
    pub fn new(threads: usize) -> Lines {
        let line = || Line {
            waiting: AtomicBool::new(false),
            asked: AtomicU32::new(0),
            requested: [const { AtomicU64::new(0) }; COUNTERS],
            late: AtomicU64::new(0),
        };
        Lines { lines: (0..threads).map(|_| line()).collect() }
    }

    /// How often each counter requested its interrupt; those that never did are left out.
    #[must_use]
    pub fn requested(&self) -> Vec<Interrupts> {
        let mut list = Vec::new();
        for (thread, line) in self.lines.iter().enumerate() {
            for (counter, requested) in (0u32..).zip(&line.requested) {
                let requested = requested.load(Ordering::Relaxed);
                if requested != 0 {
                    list.push(Interrupts { thread, counter, requested });
                }
            }
        }
        list
    }

    /// Counters ask by a level, one bit each, which no CPU takes from here.
    pub(super) fn note(&self, thread: usize, counters: u32) {
        let Some(line) = self.lines.get(thread) else { return };
        for (_, requested) in line.requested.iter().enumerate().filter(|(counter, _)| counters >> counter & 1 == 1) {
            requested.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The most events by which an interrupt of thread `thread` came late; 0 when all came at the very event.
    #[must_use]
    pub fn latest(&self, thread: usize) -> u64 {
        self.lines.get(thread).map_or(0, |line| line.late.load(Ordering::Relaxed))
    }

    /// The state of each line.
    #[must_use]
    pub fn states(&self) -> Vec<LineState> {
        let state = |line: &Line| LineState {
            waiting: line.waiting.load(Ordering::Acquire),
            asked: line.asked.load(Ordering::Relaxed),
            requested: line.requested.iter().map(|requested| requested.load(Ordering::Relaxed)).collect(),
            late: line.late.load(Ordering::Relaxed),
        };
        self.lines.iter().map(state).collect()
    }

    /// Whether these lines can have `states`: as many, each of as many counters.
    #[must_use]
    pub fn fit(&self, states: &[LineState]) -> bool {
        states.len() == self.lines.len() && states.iter().all(|state| state.requested.len() == COUNTERS)
    }

    /// Restores the state of each line from `states`, which [`fit`](Lines::fit).
    pub fn go_on(&self, states: &[LineState]) {
        for (line, state) in self.lines.iter().zip(states) {
            line.asked.store(state.asked, Ordering::Relaxed);
            line.waiting.store(state.waiting, Ordering::Release);
            line.late.store(state.late, Ordering::Relaxed);
            for (requested, saved) in line.requested.iter().zip(&state.requested) {
                requested.store(*saved, Ordering::Relaxed);
            }
        }
    }

    /// Whether a request waits.
    #[inline]
    pub(super) fn waits(&self, thread: usize) -> bool {
        self.lines.get(thread).is_some_and(|line| line.waiting.load(Ordering::Relaxed))
    }

    /// Takes the requests that wait: the counters that made them, one bit each.
    #[inline]
    pub(super) fn take(&self, thread: usize) -> Option<u32> {
        let line = self.lines.get(thread).filter(|line| line.waiting.load(Ordering::Relaxed))?;
        line.waiting.swap(false, Ordering::AcqRel).then(|| line.asked.swap(0, Ordering::Relaxed))
    }
}

impl InterruptLine for Lines {
    fn raise(&self, thread: usize, counter: u32) {
        if let Some(line) = self.lines.get(thread) {
            if let Some(requested) = line.requested.get(counter as usize) {
                requested.fetch_add(1, Ordering::Relaxed);
            }
            line.asked.fetch_or(1u32.checked_shl(counter).unwrap_or(0), Ordering::Relaxed);
            line.waiting.store(true, Ordering::Release);
        }
    }

    fn late(&self, thread: usize, events: u64) {
        if let Some(line) = self.lines.get(thread) {
            line.late.fetch_max(events, Ordering::Relaxed);
        }
    }
}
