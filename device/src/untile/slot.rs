//! A box behind its lock, and what may be known of it without.

use core::sync::atomic::Ordering::{Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};

use spin::Mutex;
use vm_pmu_arch::knl::untile::{Unit, UnitId};

use super::NEVER;

/// A box.
#[derive(Debug)]
pub(super) struct Slot {
    unit: Mutex<Unit>,
    /// What its clock will have come to when something is due.
    deadline: AtomicU64,
    enabled: AtomicBool,
    listens: AtomicBool,
}

impl Slot {
    pub(super) fn new(id: UnitId) -> Slot {
        Slot {
            unit: Mutex::new(Unit::new(id.kind())),
            deadline: AtomicU64::new(NEVER),
            enabled: AtomicBool::new(false),
            listens: AtomicBool::new(false),
        }
    }

    /// Does `work`; returns what it returns, and the overflows that the UBox must be told of.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Unit) -> T) -> (T, u8) {
        let mut unit = self.unit.lock();
        let value = work(&mut unit);
        self.renew(&unit);
        (value, unit.take_overflows())
    }

    /// Puts something else in the place of the box.
    pub(super) fn replace(&self, work: impl FnOnce(&mut Unit)) {
        let mut unit = self.unit.lock();
        work(&mut unit);
        self.renew(&unit);
    }

    fn renew(&self, unit: &Unit) {
        self.deadline.store(unit.deadline().unwrap_or(NEVER), Release);
        self.enabled.store(unit.is_enabled(), Release);
        self.listens.store(unit.listens(), Release);
    }

    pub(super) fn deadline(&self) -> u64 {
        self.deadline.load(Acquire)
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.load(Acquire)
    }

    pub(super) fn listens(&self) -> bool {
        self.listens.load(Acquire)
    }
}
