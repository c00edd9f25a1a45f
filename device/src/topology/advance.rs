//! Steps of a thread that add to its totals and service its deadlines on the way.

use vm_pmu_arch::feed::{Kind, Signal, SignalSet};

use super::Thread;
use super::view::Steady;
use crate::irq::InterruptLine;

/// So few cycles are served one by one: promising them would need one service more.
const FEW_CYCLES: u64 = 8;

impl<L: InterruptLine> Thread<'_, L> {
    /// The processor completed an instruction or another step: adds one to each of `signals` and `cycles` to the cycles, and services the
    /// PMU if a deadline has been reached. A signal that occurred twice is named twice. Signals that are not demanded may be named too.
    ///
    /// This is the shortest way for an interpreter. One that counts whole blocks adds to the [totals](Thread::totals) itself.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::Signal;
    ///
    /// let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
    /// let pmu = machine.thread(0).unwrap();
    /// pmu.x86().wrmsr(0xC001_0000, 0x0042_00C0).unwrap(); // PerfEvtSel0: retired instructions, OS, EN
    /// pmu.x86().wrmsr(0xC001_0001, 0x0042_0076).unwrap(); // PerfEvtSel1: cycles, OS, EN
    /// pmu.retire(&[Signal::InstructionsRetired, Signal::BranchesRetired, Signal::BranchesTaken], 3);
    /// assert_eq!([pmu.x86().rdpmc(0), pmu.x86().rdpmc(1)], [Ok(1), Ok(3)]);
    /// ```
    #[inline]
    pub fn retire(&self, signals: &[Signal], cycles: u64) {
        for signal in signals {
            self.totals().add(*signal, 1);
        }
        if cycles == 1 {
            self.totals().add(Signal::Cycles, 1);
        } else {
            self.advance(cycles, &[Signal::Cycles]);
        }
        self.check_if_due();
    }

    /// Advances the thread by `cycles`, with all of `states` holding in each of them: adds to their totals and services the PMU at every
    /// deadline on the way. For an emulator whose instructions take several cycles; [`Signal::Cycles`] is one of the states.
    ///
    /// It takes as long as the overflows and pins that become visible on the way, however many cycles it is and whatever counters do with
    /// single cycles. Signals that are no states would be events in every cycle: with one of them single cycles are served one by one.
    pub fn advance(&self, cycles: u64, states: &[Signal]) {
        #[cfg(feature = "recording")]
        self.watched_cycles(cycles, states);
        let may_promise = cycles > FEW_CYCLES && states.iter().all(|signal| signal.kind() == Kind::State);
        let states_of_all = if may_promise { SignalSet::from_iter(states.iter().copied()) } else { SignalSet::EMPTY };
        let steady = Steady { states: &states_of_all, member: self.core.member };
        let mut left = cycles;
        let mut has_promised = false;
        while left != 0 {
            let room = states.iter().map(|signal| self.deadlines().distance(*signal, self.totals())).min().unwrap_or(u64::MAX);
            let now = room.clamp(1, left);
            for signal in states {
                self.totals().add(*signal, now);
            }
            left -= now;
            if states.iter().any(|signal| self.reached(*signal)) {
                let promises = may_promise && left > FEW_CYCLES;
                has_promised |= promises;
                self.service_steadily(promises.then_some(steady));
            }
        }
        if has_promised {
            // What comes next may be anything.
            self.service();
            if !self.package.wide.lock().is_empty() {
                self.machine.service_owners(self.package(), None);
            }
        }
    }
}
