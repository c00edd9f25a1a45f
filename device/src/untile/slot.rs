//! A box behind its lock, and what can be read of it without the lock.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};

use spin::Mutex;
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::knl::untile::{Domain, Unit, UnitId};

use super::NEVER;

/// A box.
#[derive(Debug)]
pub(super) struct Slot {
    unit: Mutex<Unit>,
    /// The total of each clock at which something is due, in the order of [`Domain::ALL`].
    deadlines: [AtomicU64; 3],
    enabled: AtomicBool,
    listens: AtomicBool,
    /// A counter listens to the mesh stop.
    listens_to_mesh: AtomicBool,
    /// There are overflows that have not been reported to the UBox.
    unreported: AtomicBool,
}

impl Slot {
    pub(super) fn new(id: UnitId) -> Slot {
        Slot {
            unit: Mutex::new(Unit::new(id.kind())),
            deadlines: [const { AtomicU64::new(NEVER) }; 3],
            enabled: AtomicBool::new(false),
            listens: AtomicBool::new(false),
            listens_to_mesh: AtomicBool::new(false),
            unreported: AtomicBool::new(false),
        }
    }

    /// Does `work`. An overflow from it stays in the box until it is [taken](Slot::take_overflows), and is due meanwhile.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Unit) -> T) -> T {
        let mut unit = self.unit.lock();
        let value = work(&mut unit);
        self.update(&unit);
        value
    }

    /// The overflows, for the UBox, whose lock is held.
    pub(super) fn take_overflows(&self) -> u8 {
        if self.has_overflows() { self.with(Unit::take_overflows) } else { 0 }
    }

    pub(super) fn has_overflows(&self) -> bool {
        self.unreported.load(Acquire)
    }

    fn update(&self, unit: &Unit) {
        for (domain, deadline) in Domain::ALL.into_iter().zip(&self.deadlines) {
            deadline.store(unit.deadline(domain).unwrap_or(NEVER), Release);
        }
        self.enabled.store(unit.is_enabled(), Release);
        self.listens.store(unit.listens(), Release);
        self.listens_to_mesh.store(unit.listens_to_mesh(), Release);
        self.unreported.store(unit.has_overflows(), Release);
    }

    pub(super) fn deadline(&self, domain: Domain) -> u64 {
        self.deadlines.get(domain.index()).map_or(NEVER, |deadline| deadline.load(Acquire))
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.load(Acquire)
    }

    pub(super) fn listens(&self) -> bool {
        self.listens.load(Acquire)
    }

    pub(super) fn listens_to_mesh(&self) -> bool {
        self.listens_to_mesh.load(Acquire)
    }
}
