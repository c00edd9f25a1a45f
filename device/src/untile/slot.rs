//! A box behind its lock, and what can be read of it without the lock.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use crate::lock::Mutex;
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::knl::untile::{Domain, Kind, Unit, UnitId};

use super::NEVER;

/// The selects of a box's counters that may count, in one word: four of eight bits, then a bit for each that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Selects(u64);

impl Selects {
    /// The most counters of a box.
    const MOST: usize = 4;

    fn of(unit: &Unit) -> Selects {
        if !unit.listens() {
            return Selects::default();
        }
        let there = unit.selects().take(Selects::MOST).enumerate().filter_map(|(number, select)| Some((number, select?)));
        Selects(there.fold(0, |word, (number, select)| word | u64::from(select) << (8 * number) | 1 << (8 * Selects::MOST + number)))
    }

    fn each(self) -> impl Iterator<Item = u8> {
        (0..Selects::MOST)
            .filter(move |number| self.0 >> (8 * Selects::MOST + number) & 1 != 0)
            .map(move |number| (self.0 >> (8 * number)) as u8)
    }

    fn contains(self, select: u8) -> bool {
        let [first, second, third, fourth, there, ..] = self.0.to_le_bytes();
        let is = |each: u8, bit: u8| each == select && there & bit != 0;
        is(first, 1) | is(second, 2) | is(third, 4) | is(fourth, 8)
    }
}

/// What all boxes together count.
#[derive(Debug)]
pub(super) struct Demand {
    /// The number of boxes that count what happens in the fabric.
    on_mesh: AtomicU32,
    /// The number of counters that each select has.
    selects: [AtomicU32; 256],
}

impl Demand {
    pub(super) fn new() -> Demand {
        Demand { on_mesh: AtomicU32::new(0), selects: [const { AtomicU32::new(0) }; 256] }
    }

    pub(super) fn is_of_mesh(&self) -> bool {
        self.on_mesh.load(Acquire) != 0
    }

    pub(super) fn is_of(&self, select: u8) -> bool {
        self.selects.get(usize::from(select)).is_some_and(|counters| counters.load(Acquire) != 0)
    }

    /// The counters of a box have selects `after` in place of `before`.
    fn change(&self, before: Selects, after: Selects) {
        if before != after {
            let counters = |select: u8| self.selects.get(usize::from(select));
            after.each().filter_map(counters).for_each(|counters| _ = counters.fetch_add(1, AcqRel));
            before.each().filter_map(counters).for_each(|counters| _ = counters.fetch_sub(1, AcqRel));
        }
    }
}

/// A box.
#[derive(Debug)]
pub(super) struct Slot {
    unit: Mutex<Unit>,
    /// The total of each clock at which something is due, in the order of [`Domain::ALL`].
    deadlines: [AtomicU64; 3],
    enabled: AtomicBool,
    listens: AtomicBool,
    /// The selects that may count, as [`Selects`] has them.
    selects: AtomicU64,
    /// A counter counts what happens in the fabric: at the mesh stop, in a CHA but for single requests, or of M2PCIe or the IRP.
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
            selects: AtomicU64::new(Selects::default().0),
            listens_to_mesh: AtomicBool::new(false),
            unreported: AtomicBool::new(false),
        }
    }

    /// Does `work`. An overflow from it stays in the box until it is [taken](Slot::take_overflows), and is due meanwhile.
    pub(super) fn with<T>(&self, demand: &Demand, work: impl FnOnce(&mut Unit) -> T) -> T {
        let mut unit = self.unit.lock();
        let value = work(&mut unit);
        self.update(&unit);
        self.enabled.store(unit.is_enabled(), Release);
        self.listens.store(unit.listens(), Release);
        let selects = Selects::of(&unit);
        demand.change(Selects(self.selects.swap(selects.0, AcqRel)), selects);
        self.note_mesh(&unit, &demand.on_mesh);
        value
    }

    /// Does `work`, which changes no control. Returns whether a counter reports its overflows: otherwise nothing that is kept beside the
    /// box can have changed.
    pub(super) fn happen<T>(&self, work: impl FnOnce(&mut Unit) -> T) -> (T, bool) {
        let mut unit = self.unit.lock();
        let value = work(&mut unit);
        let reports = unit.reports_overflows();
        if reports {
            self.update(&unit);
        }
        (value, reports)
    }

    /// Adds events to counters, if that is all they do. Nothing that is kept beside the box changes.
    pub(super) fn add(&self, select: u8, umask: u8, amount: u64) -> Option<bool> {
        self.unit.lock().add(select, umask, amount)
    }

    /// The overflows, for the UBox, whose lock is held.
    pub(super) fn take_overflows(&self, demand: &Demand) -> u8 {
        if self.has_overflows() { self.with(demand, Unit::take_overflows) } else { 0 }
    }

    pub(super) fn has_overflows(&self) -> bool {
        self.unreported.load(Acquire)
    }

    fn update(&self, unit: &Unit) {
        for (domain, deadline) in Domain::ALL.into_iter().zip(&self.deadlines) {
            deadline.store(unit.deadline(domain).unwrap_or(NEVER), Release);
        }
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

    /// Whether an event by `select` may matter to a counter.
    pub(super) fn counts(&self, select: u8) -> bool {
        Selects(self.selects.load(Acquire)).contains(select)
    }

    /// Keeps the number of boxes that count messages of the mesh.
    fn note_mesh(&self, unit: &Unit, on_mesh: &AtomicU32) {
        let listens =
            unit.listens_to_mesh() || unit.listens_to_agent() || matches!(unit.kind(), Kind::M2pcie | Kind::Irp) && unit.listens();
        // The box is locked, so that each change is counted once.
        match (self.listens_to_mesh.swap(listens, AcqRel), listens) {
            (false, true) => on_mesh.fetch_add(1, AcqRel),
            (true, false) => on_mesh.fetch_sub(1, AcqRel),
            _ => 0,
        };
    }
}
