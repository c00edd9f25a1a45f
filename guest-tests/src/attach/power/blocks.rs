//! Blocks that run at one go: what they add, and whether the PMU lets them.

use vm_pmu::arch::feed::{Demand, Records, Signal, SignalSet, Totals};

use super::signals::{self, Sink};
use super::{Cpu, tell};
use crate::engine::power::Step;
use crate::engine::unicorn::power::Blocks;

/// What steps add to the totals, but for cycles and ticks, and what the match array makes of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    amounts: Box<[(Signal, u64)]>,
}

impl Sums {
    fn of(steps: impl IntoIterator<Item = Step>) -> Sums {
        let mut demand = Demand::default();
        demand.replace(SignalSet::ALL, false, Records::NONE);
        let totals = Totals::new();
        steps.into_iter().for_each(|step| signals::add(&step, false, &Sink { demand: &demand, totals: &totals }));
        let amounts = Signal::all().map(|signal| (signal, totals.get(signal)));
        Sums { amounts: amounts.filter(|(_, amount)| *amount != 0).collect() }
    }

    fn get(&self, signal: Signal) -> u64 {
        self.amounts.iter().find(|(of, _)| *of == signal).map_or(0, |(_, amount)| *amount)
    }
}

/// The same branch, taken or not, backwards.
fn variant(branch: &Step, taken: bool) -> Step {
    let backward = |branch| crate::engine::power::Branch { taken, target: 0, ..branch };
    Step { branch: branch.branch.map(backward), ..*branch }
}

impl Cpu<'_> {
    /// Whether every instruction is told by itself. Branches are told in any case, as they stand at the ends of blocks.
    fn tells_each(&self) -> bool {
        let records = self.demand.records();
        let each = records.memory || records.fetches || records.every;
        let active = self.companion.as_ref().is_some_and(|following| following.follower.is_active());
        each || active || self.demand.per_cycle() || !self.beside.is_empty()
    }

    /// How far `signal` goes in `count` instructions at most.
    fn goes(&self, signal: Signal, count: u64, sums: &Sums, branch: Option<&Sums>) -> u64 {
        match signal {
            Signal::Cycles | Signal::MatchedInstructions => count,
            Signal::TimeBaseTicks | Signal::UtilizationTicks | Signal::ScaledUtilizationTicks => {
                self.ticks_in(self.cycles + count) - self.ticks
            }
            _ => sums.get(signal) + branch.map_or(0, |branch| branch.get(signal)),
        }
    }

    /// Adds what a block did, as far as it is demanded.
    fn add_block(&self, steps: &[Step], sums: &Sums, branch: Option<&Step>) {
        if self.followed.is_empty() {
            return;
        }
        let count = steps.len() as u64;
        let sink = Sink { demand: &self.own, totals: self.thread.totals() };
        sink.add(Signal::Cycles, count);
        sums.amounts.iter().for_each(|(signal, amount)| sink.add(*signal, *amount));
        let matches = |step: &Step| self.matched.is_some_and(|(value, mask)| u64::from(step.encoding) & mask == value);
        if let Some(branch) = branch {
            signals::add(branch, false, &sink);
        }
        let matched = if self.matched.is_some() { steps.iter().filter(|step| matches(step)).count() as u64 } else { 0 };
        sink.add(Signal::MatchedInstructions, matched);
    }
}

impl Blocks for Cpu<'_> {
    type Sums = Sums;

    fn sums(&self, steps: &[Step]) -> Sums {
        Sums::of(steps.iter().copied())
    }

    fn most(&self, branch: &Step) -> Sums {
        let [taken, not] = [true, false].map(|taken| Sums::of([variant(branch, taken)]));
        let amounts = Signal::all().map(|signal| (signal, taken.get(signal).max(not.get(signal))));
        Sums { amounts: amounts.filter(|(_, amount)| *amount != 0).collect() }
    }

    fn fits(&mut self, count: u64, sums: &Sums, branch: Option<&Sums>) -> bool {
        self.keep_up();
        if self.tells_each() || self.firmware.is_some_and(|firmware| self.cycles + count >= firmware.next_look()) {
            return false;
        }
        let (deadlines, totals) = (self.thread.deadlines(), self.thread.totals());
        self.followed.iter().all(|signal| self.goes(*signal, count, sums, branch) < deadlines.distance(*signal, totals))
    }

    fn ran(&mut self, steps: &[Step], sums: &Sums, branch: Option<&Step>) {
        let count = steps.len() as u64;
        self.instructions += count;
        if let Some(last) = steps.last() {
            self.last = last.address;
        }
        self.tick(count);
        self.add_block(steps, sums, branch);
        if let Some(branch) = branch {
            tell(branch, false, self.demand.records(), None, &self.thread);
        }
    }
}
