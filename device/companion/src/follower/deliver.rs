//! The delivery of a follower's events to the totals.

use vm_pmu_arch::feed::Signal;

use crate::follower::Follower;
use crate::outcome::Outcome;
use crate::pmu::Pmu;

/// Maximum number of states that hold in a cycle: those of the pipeline and those of the embedder.
const MOST: usize = 64;

/// Cycles in which a link sends a doubleword: 16 bits on both edges of 1 GHz, with a core of 2 GHz.
const CYCLES_OF_SLOT: u64 = 2;

/// Idle slots of links are counted after this many cycles, because counting takes the lock that clusters share.
const IDLE_CYCLES: u64 = 512;

impl Follower<'_> {
    /// Adds everything since the last call to the thread's totals, servicing the PMU at each deadline on the way. Returns the cycles that
    /// elapsed: 0 unless the companion [keeps time](Follower::keeps_time).
    ///
    /// Cycles come first, then events. The cycles are those that dispatch took since the last call, often 0, because several instructions
    /// are dispatched together. `events` is called with the outcome of the last instruction, after the companion's events have been added.
    /// It adds the events that the embedder knows itself, reports the instruction's record if one is wanted, and compares the deadlines of
    /// its events, in this order. While there are [`requests`](Follower::requests), it does not compare deadlines: `deliver` reports the
    /// requests after the closure and then compares every deadline, so that no freeze comes before a request of the same instruction.
    /// Deadlines of the companion's events are always served at the end. `held` contains up to 48 states of the embedder, such as masked
    /// interrupts, that hold in all of these cycles.
    ///
    /// When called after each instruction, this is exact to the cycle. When called after several, their events are reported as one step.
    pub fn deliver(&mut self, thread: &(impl Pmu + ?Sized), held: &[Signal], events: impl FnOnce(&Outcome)) -> u64 {
        let passed = if self.pipelined { self.play_pipeline(thread, held) } else { 0 };
        self.outcome.cycles = self.pipelined.then(|| u32::try_from(passed).unwrap_or(u32::MAX));
        if self.counts_idle {
            self.count_idle_links_after(passed);
        }
        if self.pipelined
            && let Some(pipeline) = &mut self.pipeline
        {
            pipeline.settle_bus(&mut self.tally);
        }
        if self.is_active() {
            if self.system.has_worked_abroad(self.package) {
                self.system.report_work_abroad(self.package, Some(&mut self.tally));
            }
            self.tally.report(thread.totals());
        }
        events(&self.outcome);
        if !self.requests.is_empty() {
            self.report_requests(thread);
        }
        self.report_nested(thread);
        if self.is_active() && self.tally.signals().iter().any(|signal| thread.reached(*signal)) {
            thread.service();
        }
        passed
    }

    /// Counts the idle slots of the package's links in the cycles that passed.
    fn count_idle_links_after(&mut self, passed: u64) {
        self.link_cycles = self.link_cycles.saturating_add(passed);
        if self.link_cycles >= IDLE_CYCLES {
            let slots = self.link_cycles / CYCLES_OF_SLOT;
            self.link_cycles %= CYCLES_OF_SLOT;
            self.system.idle_links(self.package, slots, &mut self.tally);
        }
    }

    /// Reports the requests that left the core's caches to the PMU. All events are in the totals by then, so every deadline is compared,
    /// including the embedder's.
    fn report_requests(&mut self, thread: &(impl Pmu + ?Sized)) {
        self.requests.all().iter().for_each(|request| thread.request(request));
        self.requests.clear();
        if self.demand.signals().iter().any(|signal| thread.reached(signal)) {
            thread.service();
        }
    }

    fn report_nested(&mut self, thread: &(impl Pmu + ?Sized)) {
        let Some(steps) = self.nested.as_mut().filter(|steps| !steps.is_empty()) else { return };
        steps.all().for_each(|step| thread.nested(step));
        steps.clear();
    }

    /// Adds the cycles of the pipeline. Cycles with the same states are added together.
    fn play_pipeline(&mut self, thread: &(impl Pmu + ?Sized), held: &[Signal]) -> u64 {
        let mut passed = 0;
        let Some(pipeline) = &mut self.pipeline else { return 0 };
        while let Some((cycles, states)) = pipeline.next() {
            passed += cycles;
            if states.is_empty() && held.is_empty() {
                thread.advance(cycles, &[Signal::Cycles]);
                continue;
            }
            let mut list = [Signal::Cycles; MOST];
            let mut count = 1;
            let held = held.iter().copied().filter(|signal| self.demand.wants(*signal));
            for (signal, place) in states.signals().filter(|signal| self.demand.wants(*signal)).chain(held).zip(list.iter_mut().skip(1)) {
                *place = signal;
                count += 1;
            }
            thread.advance(cycles, list.get(..count).unwrap_or(&[]));
        }
        passed
    }
}
