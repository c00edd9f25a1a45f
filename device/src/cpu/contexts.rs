//! Contexts whose counts add up: a change among them is reported later.
//!
//! Most changes of the context, such as system calls, only stop and start counters. While
//! [`Thread::contexts_add_up`](crate::topology::Thread::contexts_add_up) holds, it makes no difference in which order the PMU learns what was
//! executed in each. So the amounts of each context are kept, and reported together before the PMU is called for another reason.

use vm_pmu_arch::feed::{Context, Signal, SignalSet, Totals};

use crate::irq::InterruptLine;
use crate::topology::Thread;

/// The most contexts among which a CPU changes without a call.
const MOST: usize = 4;

/// The most signals that blocks add by code of their own, in addition to those of the countdown.
const SEPARATE: usize = 4;

/// What was executed in a context and has not been reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amounts {
    pub(super) instructions: u64,
    pub(super) paired: u64,
    separate: [u64; SEPARATE],
}

impl Amounts {
    fn is_empty(&self) -> bool {
        self.instructions == 0 && self.paired == 0 && self.separate == [0; SEPARATE]
    }
}

/// The contexts that were reported since a register was last accessed.
#[derive(Clone, Debug)]
pub(super) struct Contexts {
    known: [(Context, Amounts); MOST],
    count: usize,
    /// The one that the CPU is in, and the one that the PMU is in.
    current: usize,
    reported: usize,
    /// The signals that blocks add to the totals themselves; `None` if they are too many.
    separate: Option<([Signal; SEPARATE], usize)>,
    /// What their totals were when the CPU came into a context that is not reported.
    base: [u64; SEPARATE],
    /// Whether anything is unreported.
    postponed: bool,
}

impl Contexts {
    pub(super) fn new() -> Contexts {
        Contexts {
            known: [(Context::RESET, Amounts::default()); MOST],
            count: 0,
            current: 0,
            reported: 0,
            separate: None,
            base: [0; SEPARATE],
            postponed: false,
        }
    }

    /// From now on blocks add these signals to the totals themselves; `None` if changes of the context may not wait at all.
    pub(super) fn set_separate(&mut self, signals: Option<&SignalSet>) {
        self.separate = signals.and_then(|signals| {
            let mut list = [Signal::Cycles; SEPARATE];
            let mut count = 0;
            for signal in signals.iter() {
                *list.get_mut(count)? = signal;
                count += 1;
            }
            Some((list, count))
        });
    }

    #[inline]
    pub(super) fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// Whether the CPU is in a context that the PMU does not know of.
    #[inline]
    pub(super) fn is_unreported(&self) -> bool {
        self.current != self.reported
    }

    /// Forgets the known contexts, which may be out of date, with what is unreported of them. The PMU is in `context`, and so is the CPU.
    pub(super) fn forget(&mut self, context: Context) {
        (self.count, self.postponed) = (0, false);
        self.enter(context, u64::MAX);
    }

    /// The CPU and the PMU are in `context`. Those known before stay so, unless this one does not fit among them. `sensitivity` is what
    /// contexts are told apart by.
    pub(super) fn enter(&mut self, context: Context, sensitivity: u64) {
        let place = self.place_of(&context, sensitivity);
        let alike = self.known.first().is_some_and(|(first, _)| are_alike(first, &context));
        let place = place.unwrap_or(if alike && self.count < MOST { self.count } else { 0 });
        if place >= self.count {
            self.count = place + 1;
        } else if place == 0 && !alike {
            self.count = 1;
        }
        if let Some(entry) = self.known.get_mut(place) {
            *entry = (context, Amounts::default());
        }
        (self.current, self.reported) = (place, place);
    }

    fn place_of(&self, context: &Context, sensitivity: u64) -> Option<usize> {
        self.known.iter().take(self.count).position(|(known, _)| is_the_same(known, context, sensitivity))
    }

    /// The CPU goes on in `context`, and the PMU need not learn of it yet, if it is among the known ones. Everything that was executed in the one
    /// before has been [kept](Contexts::keep) or added to the totals.
    pub(super) fn find(&self, context: &Context, sensitivity: u64) -> Option<usize> {
        self.separate.as_ref().and_then(|_| self.place_of(context, sensitivity))
    }

    /// The CPU is in context `place` now.
    pub(super) fn postpone(&mut self, place: usize, totals: &Totals) {
        if let Some((list, count)) = &self.separate {
            for (base, signal) in self.base.iter_mut().zip(list).take(*count) {
                *base = totals.get(*signal);
            }
        }
        (self.current, self.postponed) = (place, true);
    }

    /// Keeps what was executed in a context that is not reported. What blocks have added to the totals is subtracted again: no other thread
    /// counts it, as contexts add up only where all counters are the thread's own.
    pub(super) fn keep(&mut self, instructions: u64, paired: u64, totals: &Totals) {
        let Some((_, amounts)) = self.known.get_mut(self.current) else { return };
        amounts.instructions += instructions;
        amounts.paired += paired;
        if let Some((list, count)) = &self.separate {
            for ((amount, base), signal) in amounts.separate.iter_mut().zip(self.base).zip(list).take(*count) {
                let added = totals.get(*signal).wrapping_sub(base);
                *amount += added;
                totals.add(*signal, 0u64.wrapping_sub(added));
            }
        }
    }

    /// Reports every context with its amounts, the current one last. `add` adds those that the countdown knows.
    pub(super) fn report<L: InterruptLine>(&mut self, thread: Thread<'_, L>, add: impl Fn(&Amounts)) {
        self.postponed = false;
        let first = self.current + 1;
        for number in first..first + self.count {
            let place = number % self.count;
            let Some((context, amounts)) = self.known.get_mut(place) else { continue };
            if amounts.is_empty() && place != self.current {
                continue;
            }
            let amounts = core::mem::take(amounts);
            if place != self.reported {
                self.reported = place;
                thread.set_context(*context);
            }
            add(&amounts);
            if let Some((list, count)) = self.separate {
                for (signal, amount) in list.into_iter().zip(amounts.separate).take(count) {
                    thread.totals().add(signal, amount);
                }
            }
        }
    }
}

/// Whether two contexts differ at most in what decides which counters count.
#[inline]
fn are_alike(one: &Context, other: &Context) -> bool {
    let Context { privilege: _, machine_state: _, halted, foreground, control, time_base } = *one;
    (halted, foreground, control, time_base) == (other.halted, other.foreground, other.control, other.time_base)
}

/// Whether the same counters count in both, as far as `sensitivity` tells.
#[inline]
pub(super) fn is_the_same(one: &Context, other: &Context, sensitivity: u64) -> bool {
    are_alike(one, other)
        && (one.machine_state ^ other.machine_state) & sensitivity == 0
        && (one.privilege == other.privilege || sensitivity == 0)
}
