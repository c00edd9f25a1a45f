//! How what a follower made reaches the totals.

use vm_pmu_arch::feed::Signal;

use super::cause::Cause;
use super::follower::{Follower, Outcome};
use crate::irq::InterruptLine;
use crate::topology::Thread;

/// The most states that go by with a cycle: a dozen of a cause, and those of the embedder.
const MOST: usize = 64;

impl Follower<'_> {
    /// Tells the thread's totals what has happened since the last call, servicing the PMU at each deadline on the way, and returns the
    /// cycles that went by: 0 unless the companion [keeps time](Follower::keeps_time).
    ///
    /// In order: the cycles before the first instruction begins (waits of the fetcher), its events, the cycles after. `events` is called
    /// in the middle, with what became of the last instruction: there an embedder adds the events that it knows itself, tells the
    /// instruction's record where one is wanted, and compares the deadlines of its events. Those of the companion's events and of the
    /// cycles after are served later, so that a record is told before them. Requests that left the core's caches are told after the
    /// closure, and then every deadline is compared: where there are [`requests`](Follower::requests) the closure need not do that, and
    /// had better not, as a freeze would come before what belongs to the same instruction. `held` are states of the embedder's that hold in all of
    /// these cycles, such as masked interrupts; at most 48.
    ///
    /// Called after each instruction this is exact to the cycle. Called after several, what they made is told as one step.
    pub fn deliver<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, held: &[Signal], events: impl FnOnce(&Outcome)) -> u64 {
        let time = self.keeps_time();
        self.outcome.cycles = time.then(|| u32::try_from(self.timing.untold()).unwrap_or(u32::MAX));
        let mut passed = 0;
        if time {
            passed += self.play(false, thread, held);
        }
        if self.is_active() {
            self.tally.tell(thread.totals());
        }
        events(&self.outcome);
        if !self.requests.is_empty() {
            self.tell_requests(thread);
        }
        if self.is_active() && self.tally.told().iter().any(|signal| thread.reached(*signal)) {
            thread.service();
        }
        if time {
            passed += self.play(true, thread, held);
        }
        self.timing.told();
        passed
    }

    /// Tells the PMU what left the core's caches; then everything that happened is there, and deadlines are compared, the embedder's too.
    fn tell_requests<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        self.requests.all().iter().for_each(|request| thread.request(request));
        self.requests.clear();
        if self.demand.signals().iter().any(|signal| thread.reached(signal)) {
            thread.service();
        }
    }

    /// Lets the cycles before the events go by, or those after, cause by cause.
    fn play<L: InterruptLine>(&mut self, after: bool, thread: &Thread<'_, L>, held: &[Signal]) -> u64 {
        let mut passed = 0;
        while let Some((cause, cycles)) = if after { self.timing.after.next() } else { self.timing.before.next() } {
            passed += u64::from(cycles);
            self.timing.last = Some(cause);
            let mut states = [Signal::Cycles; MOST];
            let mut count = 1;
            let idle = (cause != Cause::FloatingPointCompletion).then_some(&Signal::FloatingPointIdleCycles);
            for signal in cause.states().into_iter().flatten().chain(idle).chain(held) {
                if self.demand.wants(*signal)
                    && let Some(place) = states.get_mut(count)
                {
                    *place = *signal;
                    count += 1;
                }
            }
            thread.advance(u64::from(cycles), states.get(..count).unwrap_or(&[]));
        }
        passed
    }
}
