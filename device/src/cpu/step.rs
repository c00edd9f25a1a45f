//! What a CPU did, as its emulator tells it.

use vm_pmu_arch::feed::{Demand, Occasion, Record, Signal, Totals};

#[cfg(feature = "companion")]
use crate::companion::Outcome;

/// An instruction that a CPU completed, or another step of it, such as an interrupt that it took: what [`Cpu::complete`](super::Cpu::complete)
/// asks of it.
///
/// ```
/// use vm_pmu::cpu::{Counts, Step};
/// use vm_pmu::irq::Unconnected;
/// use vm_pmu::{Builder, Cpu, Signal};
///
/// /// An instruction of one cycle.
/// struct Executed {
///     loads: u64,
/// }
///
/// impl Step for Executed {
///     fn count(&self, counts: &Counts<'_>) {
///         counts.add(Signal::InstructionsRetired, 1);
///         counts.add(Signal::DataCacheAccesses, self.loads);
///         counts.add(Signal::Cycles, 1);
///     }
/// }
///
/// let machine = Builder::new("k8").unwrap().build(Unconnected).unwrap();
/// let mut cpu = Cpu::new(machine.thread(0).unwrap());
/// cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0042_0040)).unwrap(); // PerfEvtSel0: accesses to the data cache, OS, EN
/// cpu.complete(&Executed { loads: 2 });
/// assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(2));
/// ```
pub trait Step {
    /// Adds what the emulator knows of the step. It may add signals that nobody wants; [`Counts::wants`] says which it can leave out.
    fn count(&self, counts: &Counts<'_>);

    /// States of the emulator that hold in every cycle of the step, such as masked interrupts, 48 at most: asked for where the companion makes
    /// the cycles. Then [`count`](Step::count) does not add them.
    fn states(&self) -> impl Iterator<Item = Signal> {
        core::iter::empty()
    }

    /// What may cause its record to be wanted. What it fetched, the companion knows.
    fn occasion(&self) -> Occasion {
        Occasion::default()
    }

    /// Its record, as far as the emulator knows it. `None` for a step that is no instruction, and for an emulator that reports none.
    fn record(&self) -> Option<Record> {
        None
    }

    /// Adds to its record what the companion knows.
    #[cfg(feature = "companion")]
    fn refine(&self, record: &mut Record, outcome: &Outcome) {
        outcome.refine(record);
    }
}

/// Where a step adds what it did: the totals of its thread, as far as they are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'c> {
    wanted: &'c Demand,
    totals: &'c Totals,
    timed: bool,
}

impl<'c> Counts<'c> {
    /// Counts that go to `totals` as far as they are `wanted`. With `timed`, somebody else adds the cycles.
    #[must_use]
    #[inline]
    pub fn new(wanted: &'c Demand, totals: &'c Totals, timed: bool) -> Counts<'c> {
        Counts { wanted, totals, timed }
    }

    /// Whether the emulator must add to `signal`.
    #[must_use]
    #[inline]
    pub fn wants(&self, signal: Signal) -> bool {
        self.wanted.wants(signal)
    }

    /// Adds `amount` to `signal`, if it is wanted.
    #[inline]
    pub fn add(&self, signal: Signal, amount: u64) {
        if amount != 0 && self.wants(signal) {
            self.totals.add(signal, amount);
        }
    }

    /// Whether the companion makes the cycles, and with them whatever holds for a number of cycles.
    #[must_use]
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.timed
    }
}

/// Signals that occurred once each, in so many cycles.
pub(super) struct Retired<'s> {
    pub(super) signals: &'s [Signal],
    pub(super) cycles: u64,
}

impl Step for Retired<'_> {
    fn count(&self, counts: &Counts<'_>) {
        self.signals.iter().for_each(|signal| counts.add(*signal, 1));
        if !counts.is_timed() {
            counts.add(Signal::Cycles, self.cycles);
        }
    }
}
