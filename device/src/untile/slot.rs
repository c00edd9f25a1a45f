//! A box behind its lock, and what can be read of it without the lock.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use spin::Mutex;
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::knl::untile::{Domain, Kind, Unit, UnitId};

use super::NEVER;

/// The selects of a box's counters in one word: four of eight bits, then a bit for each that is there.
#[derive(Clone, Copy, Debug, Default)]
struct Selects(u64);

impl Selects {
    /// The most counters of a box.
    const MOST: usize = 4;

    fn of(unit: &Unit) -> Selects {
        let there = unit.selects().take(Selects::MOST).enumerate().filter_map(|(number, select)| Some((number, select?)));
        Selects(there.fold(0, |word, (number, select)| word | u64::from(select) << (8 * number) | 1 << (8 * Selects::MOST + number)))
    }

    fn contains(self, select: u8) -> bool {
        let is = |number: usize| self.0 >> (8 * Selects::MOST + number) & 1 != 0 && (self.0 >> (8 * number)) as u8 == select;
        (0..Selects::MOST).any(is)
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

    /// Does `work`. An overflow from it stays in the box until it is [taken](Slot::take_overflows), and is due meanwhile. `on_mesh` is the
    /// number of boxes that count messages of the mesh.
    pub(super) fn with<T>(&self, on_mesh: &AtomicU32, work: impl FnOnce(&mut Unit) -> T) -> T {
        let mut unit = self.unit.lock();
        let value = work(&mut unit);
        self.update(&unit);
        self.note_mesh(&unit, on_mesh);
        value
    }

    /// The overflows, for the UBox, whose lock is held.
    pub(super) fn take_overflows(&self, on_mesh: &AtomicU32) -> u8 {
        if self.has_overflows() { self.with(on_mesh, Unit::take_overflows) } else { 0 }
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
        self.selects.store(Selects::of(unit).0, Release);
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
        self.listens() && Selects(self.selects.load(Acquire)).contains(select)
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
