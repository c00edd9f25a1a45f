//! PMUs in addition to the guest's own: they count what the same thread does, and the guest knows nothing of them.

use serde::{Deserialize, Serialize};
use vm_pmu::arch::access::Address;
use vm_pmu::arch::atomic::AtomicU64;
use vm_pmu::arch::feed::{Context, Deadlines, Feed, Pace, Record, Scope, Signal, SignalSet, Totals, Vocabulary};
use vm_pmu::arch::model::{Model, Shared, SharedState};
use vm_pmu::arch::power9::encode::Encoding;
use vm_pmu::arch::power9::{COUNTERS, Msr, Power9, Revision, State, spr};
use vm_pmu_engines::power::Step;

use super::{Cpu, record};

/// What the deadlines are compared with: no signal grows by more in a cycle.
const PACE: Pace = Pace::new(Signal::Cycles, 16);

/// Instructions after which counts are taken from counters of 32 bits: none takes 250 cycles on average.
const SETTLE: u64 = 1 << 24;

/// The PMUs of one thread, each programmed for good.
#[derive(Debug, Default)]
pub struct ExtraPmus {
    units: Vec<Unit>,
}

#[derive(Debug)]
struct Unit {
    pmu: Power9,
    deadlines: Deadlines<[AtomicU64; Vocabulary::Power9.deadline_cells()]>,
    held: [u32; COUNTERS],
    counts: [u64; COUNTERS],
}

/// The state of one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraPmuState {
    /// The PMU.
    pub pmu: State,
    /// What PMC1 to PMC6 held when their counts were last taken.
    pub held: [u32; COUNTERS],
    /// What they have counted up to then.
    pub counts: [u64; COUNTERS],
}

/// The thread's totals with deadlines of a unit's own.
struct View<'a> {
    totals: &'a Totals,
    deadlines: &'a Deadlines,
}

impl Feed for View<'_> {
    fn total(&self, signal: Signal, _scope: Scope) -> u64 {
        self.totals.get(signal)
    }

    fn arm(&self, signal: Signal, _scope: Scope, base: u64, allowance: u64) {
        self.deadlines.lower_own(signal, base.saturating_add(allowance), self.totals);
    }

    fn disarm(&self, signal: Signal, _scope: Scope) {
        self.deadlines.set_own(signal, Deadlines::NEVER, self.totals);
    }
}

impl ExtraPmus {
    /// A PMU for each of `encodings`, on thread `number` of `threads`, whose totals are `totals`.
    #[must_use]
    pub fn new(encodings: &[Encoding], number: usize, threads: usize, totals: &Totals) -> ExtraPmus {
        let shared = Shared { thread: number as u8, threads: threads as u8, ..Shared::ALONE };
        let unit = |encoding: &Encoding| {
            let mut pmu = Power9::new(Revision::default());
            let deadlines = Deadlines::of(Vocabulary::Power9, PACE);
            let feed = View { totals, deadlines: &deadlines };
            pmu.set_shared(shared, &feed);
            // A new PMU is in hypervisor state, where all of these can be written.
            for (register, value) in [(spr::MMCR1, encoding.mmcr1), (spr::MMCRA, encoding.mmcra), (spr::MMCR0, 0)] {
                let written = pmu.write(Address::Spr(register), value, &feed);
                debug_assert!(written.is_ok(), "the hypervisor may write SPR {register}");
            }
            Unit { pmu, deadlines, held: [0; COUNTERS], counts: [0; COUNTERS] }
        };
        ExtraPmus { units: encodings.iter().map(unit).collect() }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// What the thread must report to them.
    #[must_use]
    pub fn signals(&self) -> SignalSet {
        self.units.iter().fold(SignalSet::EMPTY, |signals, unit| signals.union(unit.pmu.demand().signals()))
    }

    /// The thread's new state.
    pub(super) fn set_context(&mut self, context: Context, totals: &Totals) {
        for Unit { pmu, deadlines, .. } in &mut self.units {
            pmu.set_context(context, &View { totals, deadlines });
        }
    }

    /// An instruction has been added to the totals.
    pub(super) fn step(&mut self, totals: &Totals, record: impl Fn() -> Record) {
        for unit in &mut self.units {
            if unit.deadlines.due(totals) && unit.deadlines.update_horizon(totals) {
                let feed = View { totals, deadlines: &unit.deadlines };
                if unit.pmu.demand().records().at_deadline {
                    unit.pmu.record(&record(), &feed);
                }
                unit.pmu.service(&feed);
                unit.deadlines.update_horizon(totals);
            }
        }
    }

    /// The state of each of them.
    #[must_use]
    pub fn states(&mut self, totals: &Totals) -> Vec<ExtraPmuState> {
        let state = |unit: &mut Unit| {
            let pmu = unit.pmu.state(&View { totals, deadlines: &unit.deadlines });
            ExtraPmuState { pmu, held: unit.held, counts: unit.counts }
        };
        self.units.iter_mut().map(state).collect()
    }

    /// Continues from the saved state of as many PMUs, on a thread whose totals are `totals`.
    pub fn restore(&mut self, states: &[ExtraPmuState], totals: &Totals) {
        for (unit, state) in self.units.iter_mut().zip(states) {
            unit.deadlines = Deadlines::of(Vocabulary::Power9, PACE);
            unit.pmu = Power9::from_state(&state.pmu, &View { totals, deadlines: &unit.deadlines });
            (unit.held, unit.counts) = (state.held, state.counts);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Takes what the counters have grown by; to be called before 2^32 events of any kind have occurred since the last time.
    pub(super) fn settle(&mut self, totals: &Totals) {
        for Unit { pmu, deadlines, held, counts } in &mut self.units {
            let state = pmu.state(&View { totals, deadlines });
            for ((held, count), value) in held.iter_mut().zip(counts).zip(state.counters) {
                *count += u64::from(value.wrapping_sub(*held));
                *held = value;
            }
        }
    }

    /// What PMC1 to PMC6 of each PMU have counted.
    pub fn counts(&self) -> impl Iterator<Item = [u64; COUNTERS]> + use<'_> {
        self.units.iter().map(|unit| unit.counts)
    }
}

impl Cpu<'_> {
    /// Has `extra_pmus` count what the thread does, whatever the guest programs.
    pub fn count_extra_pmus(&mut self, extra_pmus: ExtraPmus) {
        self.extra_pmus = extra_pmus;
        self.watch(self.extra_pmus.signals());
    }

    /// The PMUs in addition to the guest's own.
    #[must_use]
    pub fn extra_pmus(&self) -> &ExtraPmus {
        &self.extra_pmus
    }

    /// Services the PMUs in addition to the guest's own after a step.
    pub(super) fn count_step_in_extra_pmus(&mut self, step: &Step) {
        let record = || {
            let mut record = record::record(step);
            self.pmu.follower().into_iter().for_each(|follower| follower.outcome().refine(&mut record));
            record
        };
        self.extra_pmus.step(self.pmu.thread().totals(), record);
        if self.instructions.is_multiple_of(SETTLE) {
            self.extra_pmus.settle(self.pmu.thread().totals());
        }
    }
}

/// Hypervisor state, for the end of a run.
#[must_use]
pub(super) fn hypervisor() -> Msr {
    let mut msr = Msr::default();
    msr.set_hv(true);
    msr
}
