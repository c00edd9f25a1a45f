//! A machine as one thread's model sees it.

use core::cell::RefCell;

use vm_pmu_arch::feed::{Deadlines, Feed, Scope, Signal, SignalSet, Supply, Totals};

use super::{Core, Package, Source};
use vm_pmu_arch::lock::MutexGuard;

/// A thread spends every cycle until the next call in these states, and has no event in any of them.
#[derive(Clone, Copy)]
pub(super) struct Steady<'a> {
    pub(super) states: &'a SignalSet,
    /// The number of the thread in its package.
    pub(super) member: usize,
}

/// One thread, the others of its package, and the package's devices.
pub(super) struct View<'a> {
    own: &'a Core,
    members: &'a [Core],
    package: &'a Package,
    supply: &'a Supply,
    /// What cycles are like until the next call, where that is promised.
    steady: Option<Steady<'a>>,
    /// The right to change the thread's own deadlines, from the first change to the end of the call.
    changing: RefCell<Option<MutexGuard<'a, ()>>>,
}

impl<'a> View<'a> {
    pub(super) fn new(own: &'a Core, members: &'a [Core], package: &'a Package, supply: &'a Supply) -> View<'a> {
        View { own, members, package, supply, steady: None, changing: RefCell::new(None) }
    }

    /// With this promise, where there is one.
    pub(super) fn with_steady(self, steady: Option<Steady<'a>>) -> View<'a> {
        View { steady, ..self }
    }

    /// The sources within `scope`.
    fn sources(&self, scope: Scope) -> impl Iterator<Item = &'a Source> + use<'a> {
        let own = (scope == Scope::Thread).then_some(&self.own.source);
        let chosen = match scope {
            Scope::Package | Scope::Threads => u32::MAX,
            Scope::Members(members) => members,
            Scope::Thread | Scope::Devices => 0,
        };
        let is_chosen = move |number: usize| chosen == u32::MAX || number < 32 && chosen >> number & 1 == 1;
        let members = if chosen == 0 { &[] } else { self.members };
        let devices = matches!(scope, Scope::Package | Scope::Devices).then_some(&self.package.devices);
        let members = members.iter().enumerate().filter(move |(number, _)| is_chosen(*number));
        own.into_iter().chain(members.map(|(_, core)| &core.source)).chain(devices)
    }

    /// The thread's own deadlines, locked for a change.
    #[inline]
    fn own_deadlines(&self) -> (&'a Deadlines, &'a Totals) {
        self.changing.borrow_mut().get_or_insert_with(|| self.own.source.changing.lock());
        (&self.own.source.deadlines, &self.own.source.totals)
    }
}

impl Feed for View<'_> {
    #[inline]
    fn total(&self, signal: Signal, scope: Scope) -> u64 {
        match scope {
            Scope::Thread => self.own.source.totals.get(signal),
            scope => self.sources(scope).fold(0, |sum, source| sum.wrapping_add(source.totals.get(signal))),
        }
    }

    #[inline]
    fn arm(&self, signal: Signal, scope: Scope, base: u64, allowance: u64) {
        if !self.supplies(signal) {
            return;
        }
        match scope {
            Scope::Thread => {
                let (deadlines, totals) = self.own_deadlines();
                deadlines.lower_own(signal, base.saturating_add(allowance), totals);
            }
            scope => {
                // Two locks of the same kind are never held at once.
                self.changing.replace(None);
                let used = self.total(signal, scope).wrapping_sub(base);
                let share = (allowance.saturating_sub(used) / self.sources(scope).count().max(1) as u64).max(1);
                let mut wide = self.package.wide.lock();
                for source in self.sources(scope) {
                    let _changing = source.changing.lock();
                    let deadline = source.totals.get(signal).saturating_add(share);
                    source.deadlines.set_wide(signal, deadline.min(source.deadlines.wide(signal)), &source.totals);
                }
                wide.insert(signal);
            }
        }
    }

    #[inline]
    fn disarm(&self, signal: Signal, scope: Scope) {
        // In a wider scope another counter may need the same deadline: one that is too near is dropped when it is reached.
        if scope == Scope::Thread && self.supplies(signal) {
            let (deadlines, totals) = self.own_deadlines();
            deadlines.set_own(signal, Deadlines::NEVER, totals);
        }
    }

    #[inline]
    fn supply(&self) -> &Supply {
        self.supply
    }

    #[inline]
    fn comes_between_blocks(&self, signal: Signal) -> bool {
        self.own.source.deadlines.comes_between_blocks(signal)
    }

    #[inline]
    fn steady(&self, clock: Scope) -> Option<&SignalSet> {
        // Threads that take turns have one clock, which the thread of the promise drives.
        let steady = self.steady.filter(|steady| clock != Scope::Thread || steady.member == self.own.member)?;
        Some(steady.states)
    }
}
