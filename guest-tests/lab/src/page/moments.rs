//! Moments of a run, thinned as it grows.

use std::collections::BTreeMap;

use crate::report::{Action, Trace};

/// A point in the time of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Instructions that it had retired.
    pub instruction: u64,
    /// Cycles that had passed for it.
    pub cycle: u64,
}

impl From<&Trace> for Time {
    fn from(entry: &Trace) -> Time {
        Time { instruction: entry.instruction, cycle: entry.cycle }
    }
}

/// A moment: what passed, and what changed since the moment before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub time: Time,
    /// The address of the instruction, where something passed.
    pub address: u64,
    /// What passed; nothing where values alone were looked at.
    pub action: Option<Action>,
    /// The registers or counters that changed, by their numbers, and their values.
    pub changes: BTreeMap<usize, u64>,
}

/// Moments in the order of time. Of too many every second is left out, again and again; what it changed, the next one changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Those that are kept; the first changes everything.
    pub kept: Vec<Moment>,
    /// How many there were.
    pub all: u64,
    /// One of so many is kept, once the run has ended.
    pub stride: u64,
    /// What things were seen to hold last, by their numbers.
    last: Vec<Option<u64>>,
    /// The last moment as long as it is left out, with what all changed that are left out before it.
    pending: Moment,
    /// There is such a moment.
    is_pending: bool,
}

impl Moments {
    /// A moment at which `values` were seen, each with its number. One in which nothing passed and nothing changed is none; returns whether
    /// it is one. At most `most` are kept.
    pub(super) fn add(&mut self, time: Time, passed: Option<Trace>, values: impl IntoIterator<Item = (usize, u64)>, most: usize) -> bool {
        let moment = &mut self.pending;
        for (number, value) in values {
            if self.last.len() <= number {
                self.last.resize(number + 1, None);
            }
            if self.last[number].replace(value) != Some(value) {
                moment.changes.insert(number, value);
            }
        }
        if passed.is_none() && moment.changes.is_empty() && self.all != 0 {
            return false;
        }
        moment.time = time;
        (moment.address, moment.action) = passed.map_or((0, None), |entry| (entry.address, Some(entry.action)));
        let number = self.all;
        self.all += 1;
        if number.is_multiple_of(self.stride.max(1)) {
            self.kept.push(std::mem::take(&mut self.pending));
            self.is_pending = false;
            if self.kept.len() > most {
                self.halve();
            }
        } else {
            self.is_pending = true;
        }
        true
    }

    fn halve(&mut self) {
        self.stride = self.stride.max(1) * 2;
        let mut left_out: Option<Moment> = None;
        let mut kept = Vec::with_capacity(self.kept.len() / 2 + 1);
        for (number, mut moment) in std::mem::take(&mut self.kept).into_iter().enumerate() {
            if number % 2 == 1 {
                left_out = Some(moment);
                continue;
            }
            if let Some(before) = left_out.take() {
                let newer = std::mem::replace(&mut moment.changes, before.changes);
                moment.changes.extend(newer);
            }
            kept.push(moment);
        }
        if let Some(last) = left_out {
            (self.pending, self.is_pending) = (last, true);
        }
        self.kept = kept;
    }

    /// The run is over: the last moment is kept in any case.
    pub(super) fn finish(&mut self) {
        if std::mem::take(&mut self.is_pending) {
            self.kept.push(std::mem::take(&mut self.pending));
        }
        self.stride = self.stride.max(1);
    }

    /// The values that one thing took.
    #[must_use]
    pub fn values(&self, number: usize) -> Vec<(Time, u64)> {
        self.kept.iter().filter_map(|moment| Some((moment.time, *moment.changes.get(&number)?))).collect()
    }
}
/// The most moments of counters that CPUs share. A chart is hardly wider in pixels.
pub(super) const MOST_LOOKS: usize = 1024;

/// Looks at counters that CPUs share, and what they showed, in cycles of the CPU that was furthest.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// What they showed.
    pub moments: Moments,
    /// The last cycle that was told.
    pub end: u64,
    /// Looks that showed nothing new.
    idle: u64,
}

impl Looks {
    /// The counters held `values` at `cycle`, each with its number.
    pub(super) fn add(&mut self, cycle: u64, values: impl IntoIterator<Item = (usize, u64)>) {
        if !self.moments.add(Time { instruction: 0, cycle }, None, values, MOST_LOOKS) {
            self.idle += 1;
        }
    }

    /// After how many cycles the next look is due, where the second one was after `first`: rarer the longer a run is, whether or not something
    /// counts in it.
    pub(super) fn every(&self, first: u64) -> u64 {
        let idle = (self.idle / MOST_LOOKS as u64).min(40);
        self.moments.stride.max(1).saturating_mul(first << idle)
    }
}
