//! What a machine has in addition to its CPUs: the boxes of its untile, their clocks, and what reaches them.
//!
//! - The untile's three clocks tick by the cycles of the furthest CPU of the machine, in the ratios of the machine's frequencies, and only
//!   while some counter of a box counts. They are stopped while every CPU is halted. Where CPUs run in parallel, none passes a cycle before
//!   the boxes have counted all clocks up to there, whichever CPU ran through them: see [`UntileClock`].
//! - What the companion's memory does at each place is reported to that EDC's and that channel's boxes. Requests that leave a tile go to
//!   the CHA that [`Companion::home`] names, and stay in its table of requests for as long as they took, in clocks of the untile.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use vm_pmu::arch::access::PciAddress;
use vm_pmu::arch::feed::Request;
use vm_pmu::companion::Companion;
use vm_pmu::pci::Location;
use vm_pmu::topology::{Machine, Untile};
use vm_pmu::untile::{Domain, Kind, Place, Stage, Transaction, UnitId, UnitRegister, at_offset};

use super::untile_samples::{BoxSamples, Written};
use super::{ConfigurationSpace, Lines, UntileClock};
use crate::trace::{Bytes, Listener};
use vm_pmu_engines::x86::PciFunction;

/// The boxes of a machine in PCI configuration space.
#[derive(Debug)]
pub struct Boxes {
    machine: Arc<Machine<Lines>>,
    /// It changes with every write that may change what a box counts.
    revision: AtomicU32,
    clock: UntileClock,
    /// The accesses of each CPU that no trace has yet, if one is made.
    accesses: OnceLock<Box<[Mutex<Vec<Configured>>]>>,
    /// What follows the counters, if somebody does.
    samples: OnceLock<Option<BoxSamples>>,
}

/// An access to configuration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Configured {
    /// The doubleword.
    pub(super) address: PciAddress,
    /// What it held before, and what was written into it; none of a read.
    pub(super) written: Option<(u64, u64)>,
    /// What was read, in its place in the doubleword.
    pub(super) read: u64,
}

impl Boxes {
    /// The boxes of `machine`.
    #[must_use]
    pub fn new(machine: Arc<Machine<Lines>>) -> Boxes {
        Boxes { machine, revision: AtomicU32::new(0), clock: UntileClock::new(), accesses: OnceLock::new(), samples: OnceLock::new() }
    }

    /// The clock of the boxes, in the cycles of the furthest CPU.
    #[must_use]
    pub fn clock(&self) -> &UntileClock {
        &self.clock
    }

    /// A register of a box may have been written.
    fn touch(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Notes what CPUs access in configuration space from now on.
    fn note_accesses(&self) {
        self.accesses.get_or_init(|| (0..self.machine.threads()).map(|_| Mutex::default()).collect());
    }

    /// Where accesses of CPU `cpu` to the function at `at` are noted, if they are and something is there.
    fn of_cpu(&self, cpu: usize, untile: &Untile<'_, Lines>, at: PciFunction) -> Option<&Mutex<Vec<Configured>>> {
        let here = |there: &Location| (there.bus, there.device, there.function) == (at.bus, at.device, at.function);
        self.accesses.get()?.get(cpu).filter(|_| untile.functions().any(|there| here(&there)))
    }

    fn samples(&self) -> Option<&BoxSamples> {
        self.samples.get()?.as_ref()
    }

    fn revision(&self) -> u32 {
        self.revision.load(Ordering::Acquire)
    }
}

impl ConfigurationSpace for Boxes {
    fn read(&self, cpu: usize, at: PciFunction, offset: u16, size: u8) -> u32 {
        let Some(untile) = self.machine.untile() else { return u32::MAX };
        let value = untile.pci_read(at.bus, at.device, at.function, offset, size);
        if let Some(made) = self.of_cpu(cpu, &untile, at) {
            let bytes = bytes(at, offset, size);
            lock(made).push(Configured { address: bytes.address, written: None, read: bytes.read(value) });
        }
        value
    }

    fn write(&self, cpu: usize, at: PciFunction, offset: u16, size: u8, value: u32) {
        let Some(untile) = self.machine.untile() else { return };
        if let Some(made) = self.of_cpu(cpu, &untile, at) {
            let before = untile.pci_look(at.bus, at.device, at.function, offset & !3, 4).into();
            let bytes = bytes(at, offset, size);
            lock(made).push(Configured { address: bytes.address, written: Some((before, bytes.written(before, value))), read: 0 });
        }
        let sampled = self.samples().zip(written_at(at, offset));
        if let Some((samples, written)) = sampled {
            samples.before_write(&untile, written);
        }
        untile.pci_write(at.bus, at.device, at.function, offset, size, value);
        self.touch();
        if let Some((samples, written)) = sampled {
            samples.after_write(&untile, written);
        }
    }
}

/// `size` bytes of a function from `offset` on.
fn bytes(at: PciFunction, offset: u16, size: u8) -> Bytes {
    Bytes::at(PciAddress { bus: at.bus, device: at.device, function: at.function, offset }, size)
}

/// The register of a box at `offset` of a function. Where boxes are on other buses, it may be that of none, which is harmless for a look.
fn written_at(at: PciFunction, offset: u16) -> Option<Written> {
    let unit = UnitId::all().find(|unit| unit.pci().is_some_and(|pci| (pci.device, pci.function) == (at.device, at.function)))?;
    let (register, upper) = at_offset(unit.kind(), offset & !3)?;
    let half = matches!(register, UnitRegister::Counter(_) | UnitRegister::Fixed).then_some(upper);
    Some(Written { place: Place::Unit(unit, register), half })
}

fn lock(made: &Mutex<Vec<Configured>>) -> MutexGuard<'_, Vec<Configured>> {
    made.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The boxes as one CPU's glue drives them.
#[derive(Clone, Debug)]
pub(super) struct CpuBoxes<'a> {
    boxes: Arc<Boxes>,
    untile: Untile<'a, Lines>,
    companion: Option<&'a Companion>,
    revision: u32,
    /// The CPU's tile, and its number there.
    tile: u8,
    thread: u8,
    /// Some counter counts.
    counts: bool,
    /// Some counter of a CHA or of a mesh stop listens.
    requests: bool,
    /// Some counter of a mesh stop listens.
    mesh: bool,
    /// Some counter of a memory controller listens.
    memory: bool,
}

impl<'a> CpuBoxes<'a> {
    /// For CPU `cpu`; `untile` are the boxes of the same machine.
    pub(super) fn new(boxes: Arc<Boxes>, untile: Untile<'a, Lines>, companion: Option<&'a Companion>, cpu: usize) -> CpuBoxes<'a> {
        let (tile, thread) = (u8::try_from(cpu / 8).unwrap_or(u8::MAX), (cpu % 8) as u8);
        let mut cpu_boxes =
            CpuBoxes { boxes, untile, companion, revision: 0, tile, thread, counts: false, requests: false, mesh: false, memory: false };
        cpu_boxes.update();
        cpu_boxes
    }

    /// Notes what CPUs access in configuration space from now on.
    pub(super) fn note_accesses(&self) {
        self.boxes.note_accesses();
    }

    /// What this CPU has accessed there since the last call.
    pub(super) fn take_accesses(&self) -> Vec<Configured> {
        let cpu = usize::from(self.tile) * 8 + usize::from(self.thread);
        self.boxes.accesses.get().and_then(|all| all.get(cpu)).map_or_else(Vec::new, |made| std::mem::take(&mut *lock(made)))
    }

    /// Has `listener` follow the counters from now on, if it wants to.
    pub(super) fn follow(&self, listener: &Listener) {
        self.boxes.samples.get_or_init(|| BoxSamples::new(listener, &self.untile));
    }

    /// The registers are those of another run.
    pub(super) fn scan(&self) {
        if let Some(samples) = self.boxes.samples() {
            samples.scan(&self.untile);
        }
    }

    /// This CPU has come to `cycle`.
    pub(super) fn step(&self, cycle: u64) {
        if let Some(samples) = self.boxes.samples() {
            samples.step(&self.untile, cycle.max(self.boxes.clock.now()));
        }
    }

    /// The run is over.
    pub(super) fn close(&self) {
        if let Some(samples) = self.boxes.samples() {
            samples.sample(&self.untile);
        }
    }

    /// The register at `place` is about to be written.
    pub(super) fn before_write(&self, place: Place) {
        if let Some(samples) = self.boxes.samples() {
            samples.before_write(&self.untile, Written::whole(place));
        }
    }

    /// Whether a register may have been written since the last [`update`](CpuBoxes::update).
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.revision != self.boxes.revision()
    }

    /// The register at `place` may have been written.
    pub(super) fn touch(&self, place: Place) {
        self.boxes.touch();
        if let Some(samples) = self.boxes.samples() {
            samples.after_write(&self.untile, Written::whole(place));
        }
    }

    /// Reads what counts.
    pub(super) fn update(&mut self) {
        self.revision = self.boxes.revision();
        self.counts = self.untile.is_counting();
        let listens = |kinds: &[Kind]| UnitId::all().any(|unit| kinds.contains(&unit.kind()) && self.untile.listens(unit));
        self.mesh = self.untile.listens_to_mesh();
        self.requests = self.mesh || listens(&[Kind::Cha]);
        self.memory = listens(&[Kind::EdcUclk, Kind::EdcEclk, Kind::McDclk]);
        if let Some(companion) = self.companion {
            companion.watch_places(self.memory);
        }
    }

    /// Whether some counter must be notified of each step.
    pub(super) fn is_busy(&self) -> bool {
        self.counts
    }

    /// Whether the companion must report requests, whatever the CPU's own PMU asks for.
    pub(super) fn wants_requests(&self) -> bool {
        self.requests
    }

    /// These requests left the tile.
    pub(super) fn request(&self, requests: &[Request]) {
        let Some(companion) = self.companion.filter(|_| self.requests) else { return };
        for request in requests {
            if let Some(transaction) = Transaction::of(request, self.tile, self.thread) {
                let cha = u8::try_from(companion.home(request.physical)).unwrap_or(0);
                let clocks = self.untile.frequencies().clocks(Domain::Uclk, request.latency.into());
                self.untile.transact(cha, &transaction, Stage::Served { clocks });
                if self.mesh {
                    self.untile.carry_request(request, self.tile, cha);
                }
            }
        }
    }

    /// The CPU ran from `start`, of its own clock, for so many cycles: memory's activity is reported, and the clocks advance.
    #[inline]
    pub(super) fn advance(&self, start: u64, cycles: u64) {
        if self.counts {
            self.go_on(start, cycles);
        }
    }

    fn go_on(&self, start: u64, cycles: u64) {
        if let Some(companion) = self.companion.filter(|companion| companion.has_places()) {
            companion.take_places(|place, signal, amount| {
                if let Some((unit, select, umask)) = place.event(signal) {
                    self.untile.inject(unit, select, umask, 1, amount);
                }
            });
        }
        self.boxes.clock.run(start, cycles, |cycles| self.untile.advance(cycles));
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::Part;
    use vm_pmu::topology::Builder;

    use super::*;

    /// The IRP, and the control of its counter 0.
    const IRP: PciFunction = PciFunction { bus: 0, device: 5, function: 6 };
    const CTL0: u16 = 0xD8;

    fn boxes() -> Arc<Boxes> {
        let part = Part::named("knl").expect("a part");
        let machine = Builder::of(part).packages(1).threads(8).build(Lines::new(8)).expect("a machine");
        let boxes = Boxes::new(Arc::new(machine));
        boxes.note_accesses();
        Arc::new(boxes)
    }

    fn made(boxes: &Boxes, cpu: usize) -> Vec<Configured> {
        boxes.accesses.get().and_then(|all| all.get(cpu)).map_or_else(Vec::new, |made| std::mem::take(&mut *lock(made)))
    }

    #[test]
    fn a_part_of_a_doubleword_is_noted_in_its_place() {
        let boxes = boxes();
        boxes.write(3, IRP, CTL0, 4, 0x0040_0007);
        boxes.write(3, IRP, CTL0 + 1, 1, 0x02);
        assert_eq!(boxes.read(3, IRP, CTL0 + 2, 2), 0x40);
        let address = PciAddress { bus: 0, device: 5, function: 6, offset: CTL0 };
        let noted = [
            Configured { address, written: Some((0, 0x0040_0007)), read: 0 },
            Configured { address, written: Some((0x0040_0007, 0x0040_0207)), read: 0 },
            Configured { address, written: None, read: 0x0040_0000 },
        ];
        assert_eq!((made(&boxes, 3), made(&boxes, 0)), (noted.to_vec(), Vec::new()));
    }

    #[test]
    fn a_function_that_is_not_there_is_not_noted() {
        let boxes = boxes();
        assert_eq!(boxes.read(0, PciFunction { bus: 7, device: 1, function: 0 }, 0, 4), u32::MAX);
        assert_eq!(made(&boxes, 0), []);
    }
}
