//! A machine as one thread's model sees it.

use vm_pmu_arch::feed::{Deadlines, Feed, Scope, Signal};

use super::{Core, Package, Source};

/// One thread, the others of its package, and the package's devices.
pub(super) struct View<'a> {
    own: &'a Source,
    members: &'a [Core],
    package: &'a Package,
}

impl<'a> View<'a> {
    pub(super) fn new(own: &'a Core, members: &'a [Core], package: &'a Package) -> View<'a> {
        View { own: &own.source, members, package }
    }

    fn sources(&self) -> impl Iterator<Item = &'a Source> + use<'a> {
        self.members.iter().map(|core| &core.source).chain([&self.package.devices])
    }

    /// Drops the thread's own deadline of `signal`.
    pub(super) fn forget(&self, signal: Signal) {
        self.disarm(signal, Scope::Thread);
    }
}

impl Feed for View<'_> {
    #[inline]
    fn total(&self, signal: Signal, scope: Scope) -> u64 {
        match scope {
            Scope::Thread | Scope::Core => self.own.totals.get(signal),
            Scope::Package => self.sources().fold(0, |sum, source| sum.wrapping_add(source.totals.get(signal))),
        }
    }

    fn arm(&self, signal: Signal, scope: Scope, allowance: u64) {
        match scope {
            Scope::Thread | Scope::Core => {
                let _changing = self.own.changing.lock();
                let deadline = self.own.totals.get(signal).saturating_add(allowance);
                self.own.deadlines.set_own(signal, deadline.min(self.own.deadlines.own(signal)));
            }
            Scope::Package => {
                let share = (allowance / (self.members.len() as u64 + 1)).max(1);
                let mut wide = self.package.wide.lock();
                for source in self.sources() {
                    let _changing = source.changing.lock();
                    let deadline = source.totals.get(signal).saturating_add(share);
                    source.deadlines.set_wide(signal, deadline.min(source.deadlines.wide(signal)));
                }
                wide.insert(signal);
            }
        }
    }

    fn disarm(&self, signal: Signal, scope: Scope) {
        match scope {
            Scope::Thread | Scope::Core => {
                let _changing = self.own.changing.lock();
                self.own.deadlines.set_own(signal, Deadlines::NEVER);
            }
            // Another thread's counter may wait for the same: a deadline too near is dropped when it is reached.
            Scope::Package => {}
        }
    }
}
