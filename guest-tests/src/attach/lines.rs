//! Where the PMUs' interrupt requests arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use vm_pmu::irq::InterruptLine;

use crate::report::Interrupts;

/// The most counters of a thread.
const COUNTERS: usize = 32;

#[derive(Debug)]
struct Line {
    waiting: AtomicBool,
    requested: [AtomicU64; COUNTERS],
    late: AtomicU64,
}

/// What the input of one thread remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineState {
    /// A request waits for the thread's next instruction.
    pub waiting: bool,
    /// How often each counter has asked, up to 32 of them.
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
        let line = || Line { waiting: AtomicBool::new(false), requested: [const { AtomicU64::new(0) }; COUNTERS], late: AtomicU64::new(0) };
        Lines { lines: (0..threads).map(|_| line()).collect() }
    }

    /// How often each counter asked for its interrupt; those that never did are left out.
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

    /// The most events by which an interrupt of thread `thread` came late; 0 when all came at the very event.
    #[must_use]
    pub fn latest(&self, thread: usize) -> u64 {
        self.lines.get(thread).map_or(0, |line| line.late.load(Ordering::Relaxed))
    }

    /// What the inputs remember, one a thread.
    #[must_use]
    pub fn state(&self) -> Vec<LineState> {
        let state = |line: &Line| LineState {
            waiting: line.waiting.load(Ordering::Relaxed),
            requested: line.requested.iter().map(|requested| requested.load(Ordering::Relaxed)).collect(),
            late: line.late.load(Ordering::Relaxed),
        };
        self.lines.iter().map(state).collect()
    }

    /// Goes on from what was saved; what is missing there is as at the start.
    pub fn restore(&self, state: &[LineState]) {
        let missing = LineState::default();
        for (number, line) in self.lines.iter().enumerate() {
            let state = state.get(number).unwrap_or(&missing);
            line.waiting.store(state.waiting, Ordering::Relaxed);
            line.late.store(state.late, Ordering::Relaxed);
            for (counter, requested) in line.requested.iter().enumerate() {
                requested.store(state.requested.get(counter).copied().unwrap_or(0), Ordering::Relaxed);
            }
        }
    }

    /// Whether a request waits.
    #[inline]
    pub(super) fn waits(&self, thread: usize) -> bool {
        self.lines.get(thread).is_some_and(|line| line.waiting.load(Ordering::Relaxed))
    }

    /// Takes the requests that wait.
    #[inline]
    pub(super) fn take(&self, thread: usize) -> bool {
        self.waits(thread) && self.lines.get(thread).is_some_and(|line| line.waiting.swap(false, Ordering::AcqRel))
    }
}

impl InterruptLine for Lines {
    fn raise(&self, thread: usize, counter: u32) {
        if let Some(line) = self.lines.get(thread) {
            if let Some(requested) = line.requested.get(counter as usize) {
                requested.fetch_add(1, Ordering::Relaxed);
            }
            line.waiting.store(true, Ordering::Release);
        }
    }

    fn late(&self, thread: usize, events: u64) {
        if let Some(line) = self.lines.get(thread) {
            line.late.fetch_max(events, Ordering::Relaxed);
        }
    }
}
