//! A box behind its lock, and what can be read of it without the lock.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicU32};

use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::knl::untile::{Domain, Kind, Transaction, Unit, UnitId};
use vm_pmu_arch::lock::Mutex;

use super::NEVER;

/// The selects of a box's counters that may count, in one word: four of eight bits, then the highest bit of eight for each that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Selects(u64);

impl Selects {
    /// The most counters of a box.
    const MOST: usize = 4;

    /// The bit of one that is there.
    const fn there(number: usize) -> u64 {
        0x80 << (8 * (Selects::MOST + number))
    }

    fn of(unit: &Unit) -> Selects {
        if !unit.listens() {
            return Selects::default();
        }
        let there = unit.selects().take(Selects::MOST).enumerate().filter_map(|(number, select)| Some((number, select?)));
        Selects(there.fold(0, |word, (number, select)| word | u64::from(select) << (8 * number) | Selects::there(number)))
    }

    fn each(self) -> impl Iterator<Item = u8> {
        (0..Selects::MOST).filter(move |number| self.0 & Selects::there(*number) != 0).map(move |number| (self.0 >> (8 * number)) as u8)
    }

    fn contains(self, select: u8) -> bool {
        const LOW: u32 = 0x7F7F_7F7F;
        // A byte that is equal is 0. Without carries between bytes, only that leaves the highest bit clear.
        let differs = self.0 as u32 ^ (u32::from(select) * 0x0101_0101);
        let differs = ((differs & LOW) + LOW) | differs;
        !differs & (self.0 >> 32) as u32 != 0
    }
}

/// What all boxes together count.
#[derive(Debug)]
pub(super) struct Demand {
    /// The number of boxes that count what happens in the fabric.
    on_mesh: AtomicU32,
    /// The number of counters that each select has.
    selects: [AtomicU32; 256],
    /// Which of the selects from 80h to BFh have counters. Who changes it or them has the lock.
    of_mesh: AtomicU64,
    changing: Mutex<()>,
}

/// The first of the selects that have bits.
const FIRST_OF_MESH: u8 = 0x80;

impl Demand {
    pub(super) fn new() -> Demand {
        Demand {
            on_mesh: AtomicU32::new(0),
            selects: [const { AtomicU32::new(0) }; 256],
            of_mesh: AtomicU64::new(0),
            changing: Mutex::new(()),
        }
    }

    pub(super) fn is_of_mesh(&self) -> bool {
        self.on_mesh.load(Acquire) != 0
    }

    pub(super) fn is_of(&self, select: u8) -> bool {
        self.selects.get(usize::from(select)).is_some_and(|counters| counters.load(Acquire) != 0)
    }

    /// Which of the selects from 80h to BFh have counters, one bit each.
    pub(super) fn selects_of_mesh(&self) -> u64 {
        self.of_mesh.load(Acquire)
    }

    /// The counters of a box have selects `after` in place of `before`.
    fn change(&self, before: Selects, after: Selects) {
        if before != after {
            let _changing = self.changing.lock();
            let counters = |select: u8| self.selects.get(usize::from(select));
            after.each().filter_map(counters).for_each(|counters| _ = counters.fetch_add(1, AcqRel));
            before.each().filter_map(counters).for_each(|counters| _ = counters.fetch_sub(1, AcqRel));
            let bit = |select: u8| 1u64.checked_shl(select.wrapping_sub(FIRST_OF_MESH).into()).unwrap_or(0);
            let counted = |of_mesh, select| if self.is_of(select) { of_mesh | bit(select) } else { of_mesh & !bit(select) };
            self.of_mesh.store(before.each().chain(after.each()).fold(self.selects_of_mesh(), counted), Release);
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
    #[inline]
    pub(super) fn add(&self, select: u8, umask: u8, amount: u64) -> Option<bool> {
        self.unit.lock().add(select, umask, amount)
    }

    /// The same of a request at a CHA, which is there for so many clocks.
    pub(super) fn serve(&self, transaction: &Transaction, clocks: u64) -> Option<bool> {
        self.unit.lock().serve(transaction, clocks)
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
