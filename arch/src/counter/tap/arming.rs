//! When a tap must be serviced: its deadlines.

use super::Tap;
use crate::counter::gate::{Detector, Gate, Question, Threshold};
use crate::feed::{Feed, Kind, Scope, Signal, SignalSet};

/// A deadline is far with so many events left to it: most stays at another privilege level are shorter.
const FAR: u64 = 1 << 12;

/// With fewer events left to the overflow, each event that comes between blocks is served when it comes: that saves checks of the blocks.
const NEAR: u64 = 1 << 20;

impl Tap {
    /// Asks to be serviced when the counter has grown by `remaining` since it was last folded; with `None` only as far as the gate
    /// itself needs it.
    ///
    /// Several sources share what remains, so that together they cannot overrun it.
    #[inline]
    pub fn arm(&self, feed: &impl Feed, remaining: Option<u64>) {
        match remaining {
            Some(remaining) if self.is_lone() => {
                let ([signal, ..], [base, ..]) = (self.signals, self.bases);
                feed.arm(signal, self.scope, base, remaining.max(1));
            }
            remaining => self.arm_all(feed, remaining),
        }
    }

    fn arm_all(&self, feed: &impl Feed, remaining: Option<u64>) {
        if self.needs_cycles()
            && let Some(states) = feed.steady(self.clock())
        {
            if let Some(cycles) = self.steady_cycles(states, feed, remaining) {
                feed.arm(Signal::Cycles, self.clock(), self.cycles, cycles.max(1));
            }
            if self.gate != Gate::Sum {
                return;
            }
        } else if self.needs_single_cycles(feed) {
            feed.arm(Signal::Cycles, self.clock(), self.cycles, 1);
        }
        match (self.gate, remaining) {
            // Where it follows no single cycles, either every cycle to come is counted or none is.
            (Gate::Cycles(threshold), Some(remaining)) if threshold.met(0) => {
                feed.arm(Signal::Cycles, self.clock(), self.cycles, remaining)
            }
            (Gate::Cycles(_) | Gate::Edges(_) | Gate::Falls | Gate::Both | Gate::BothFall, _) => {}
            (Gate::Outside | Gate::Always, Some(remaining)) => feed.arm(Signal::Cycles, self.clock(), self.cycles, remaining),
            (Gate::Sum, Some(remaining)) => {
                let shares = self.shares(feed, remaining);
                for (signal, base) in self.sources().filter(|(signal, _)| feed.supplies(*signal)) {
                    let share = if self.is_served_singly(feed, signal, remaining) {
                        feed.total(signal, self.scope).wrapping_sub(base).saturating_add(1)
                    } else if signal.is_rare() {
                        shares.rare
                    } else {
                        shares.common
                    };
                    feed.arm(signal, self.scope, base, share);
                }
            }
            (Gate::Shut, _) | (_, None) => {}
        }
    }

    /// How many cycles may pass unseen while each is spent in `states` and has no event, until the counter has grown by `remaining`, or
    /// a cycle is not like the one before; any number if `None`.
    fn steady_cycles(&self, states: &SignalSet, feed: &impl Feed, remaining: Option<u64>) -> Option<u64> {
        if self.gate == Gate::Always {
            return remaining;
        }
        let is_folded = feed.total(Signal::Cycles, self.clock()) == self.cycles
            && self.sources().all(|(signal, base)| feed.total(signal, self.scope) == base);
        if !is_folded {
            return Some(1);
        }
        let Detector { open, second, stay, was_met, question } = self.detector;
        let holds = |signal: Signal| states.contains(signal);
        if self.gate == Gate::Outside {
            let is_inside = self.signals().iter().any(|signal| signal.kind() == Kind::State && holds(*signal));
            return remaining.filter(|_| !is_inside).map(|remaining| remaining.saturating_add(stay));
        }
        let gate = if self.pulses { Gate::Cycles(Threshold::ANY) } else { self.gate };
        let met = self.met_in(gate, holds, u64::from(stay != 0));
        if (open, second) != (0, 0) || question != Question::None || was_met != met {
            return Some(1);
        }
        let counted = match gate {
            Gate::Cycles(_) | Gate::Both if met && self.pulses => Some(1),
            Gate::Cycles(_) | Gate::Both if met => remaining,
            _ => None,
        };
        let injected = (stay != 0).then_some(stay);
        counted.into_iter().chain(injected).min()
    }

    /// The signals that it follows, each with its total when it was last folded.
    fn sources(&self) -> impl Iterator<Item = (Signal, u64)> {
        self.signals().iter().copied().zip(self.bases)
    }

    /// Whether each event of a source is served when it comes, so that the source needs no share of what remains. That is free for a
    /// source that never grows within a block. Far from the overflow the services would be wasted.
    fn is_served_singly(&self, feed: &impl Feed, signal: Signal, remaining: u64) -> bool {
        remaining < NEAR && self.scope == Scope::Thread && feed.comes_between_blocks(signal)
    }

    /// Divides what remains among the sources that are supplied and not served singly: a sixteenth for each rare one, the rest among the
    /// others; all alike where there are only rare ones. The shares add up to no more than what remains, except that each source has at
    /// least one event.
    fn shares(&self, feed: &impl Feed, remaining: u64) -> Shares {
        let (mut rare, mut common, mut grown) = (0u64, 0u64, 0u64);
        for (signal, base) in self.sources().filter(|(signal, _)| feed.supplies(*signal)) {
            if self.is_served_singly(feed, signal, remaining) {
                grown = grown.saturating_add(feed.total(signal, self.scope).wrapping_sub(base));
            } else if signal.is_rare() {
                rare += 1;
            } else {
                common += 1;
            }
        }
        let remaining = remaining.saturating_sub(grown);
        match (rare, common) {
            (rare, 0) => Shares { rare: (remaining / rare.max(1)).max(1), common: 1 },
            (rare, common) => {
                let small = remaining / 16;
                Shares { rare: small.max(1), common: (remaining.saturating_sub(small.saturating_mul(rare)) / common.max(1)).max(1) }
            }
        }
    }

    /// Whether its deadlines move with every fold: those of single cycles, and of several sources or arrays that share what remains.
    #[must_use]
    #[inline]
    pub fn is_restless(&self) -> bool {
        self.is_per_cycle() || self.gate == Gate::Outside || self.len > 1 || self.scope != Scope::Thread
    }

    /// Whether its deadlines may stay while the counter is stopped with `remaining` events left to count. When it continues, after a
    /// [skip](Tap::skip), they are nearer than they must be, never further. Near deadlines are better cancelled: they would soon cause a
    /// service for nothing.
    ///
    /// This holds where the deadlines wait only for the events that remain, in the tap's own thread. All growth of a source brings its
    /// deadline nearer, counted or not. Only what was counted reduces what remains.
    #[must_use]
    #[inline]
    pub fn may_linger(&self, remaining: u64) -> bool {
        remaining >= FAR && matches!(self.gate, Gate::Sum) && !self.pulses && self.scope == Scope::Thread
    }

    /// Whether it counts the sum of what its own thread does, so that the order of events makes no difference.
    #[must_use]
    #[inline]
    pub fn adds_up(&self) -> bool {
        matches!(self.gate, Gate::Sum | Gate::Shut) && !self.pulses && self.scope == Scope::Thread
    }

    /// Whether this tap and `other` may have asked for a deadline of the same signal. It may wrongly be true, but never wrongly false.
    #[must_use]
    #[inline]
    pub fn may_share(&self, other: &Tap) -> bool {
        self.reach & other.reach != 0
    }

    /// A bit for each signal of which this tap may ask for a deadline; some share a bit.
    #[must_use]
    #[inline]
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// Cancels everything that [`arm`](Tap::arm) asked for.
    #[inline]
    pub fn disarm(&self, feed: &impl Feed) {
        if self.is_lone() {
            let [signal, ..] = self.signals;
            feed.disarm(signal, self.scope);
            return;
        }
        for signal in self.signals() {
            feed.disarm(*signal, self.scope);
        }
        if self.needs_cycles() {
            feed.disarm(Signal::Cycles, self.clock());
        }
    }
}

/// How much each source of a tap may grow before the next service.
struct Shares {
    rare: u64,
    common: u64,
}
