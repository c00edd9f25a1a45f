//! The PMU that a follower delivers to.

use vm_pmu_arch::feed::{NestedStep, Request, Signal, Totals};

/// The PMU of a thread, to which a [`Follower`](crate::Follower) delivers. The threads of `vm-pmu` are such PMUs, and so are [`Totals`] alone, for a
/// thread whose events are added up and interrupt nobody.
///
/// ```
/// use vm_pmu::arch::feed::Totals;
/// use vm_pmu::companion::{Access, Builder, Instruction, Untranslated};
/// use vm_pmu::{Demand, Records, Signal, SignalSet};
///
/// let mut demand = Demand::default();
/// demand.replace(SignalSet::only(Signal::DataCacheMisses), false, Records::NONE);
/// let companion = Builder::new("k8").unwrap().build();
/// let mut follower = companion.follower(0).unwrap();
/// follower.sync(&demand);
/// let load = Access { address: 0x8000, physical: 0x8000, size: 8, ..Access::default() };
/// follower.execute(&Instruction { accesses: &[load], ..Instruction::default() }, &mut Untranslated(12));
/// let totals = Totals::new();
/// follower.deliver(&*totals, &[], |_| {});
/// assert_eq!(totals.get(Signal::DataCacheMisses), 1);
/// ```
pub trait Pmu {
    /// Returns the thread's totals.
    fn totals(&self) -> &Totals;

    /// Whether `signal` has reached its deadline.
    fn reached(&self, signal: Signal) -> bool;

    /// Serves the deadlines that have been reached.
    fn service(&self);

    /// Adds `cycles` in each of which these states hold, serving deadlines on the way.
    fn advance(&self, cycles: u64, states: &[Signal]);

    /// Takes a request that left the core's caches.
    fn request(&self, request: &Request);

    /// Takes a step of a translation by two trees.
    fn nested(&self, step: &NestedStep);
}

impl Pmu for Totals {
    #[inline]
    fn totals(&self) -> &Totals {
        self
    }

    #[inline]
    fn reached(&self, _signal: Signal) -> bool {
        false
    }

    fn service(&self) {}

    #[inline]
    fn advance(&self, cycles: u64, states: &[Signal]) {
        for state in states {
            self.add(*state, cycles);
        }
    }

    fn request(&self, _request: &Request) {}

    fn nested(&self, _step: &NestedStep) {}
}
