//! What a machine has in addition to its CPUs: the boxes of its untile, their clocks, and what reaches them.
//!
//! - The untile's three clocks tick by the cycles of the furthest CPU of the machine, in the ratios of the machine's frequencies, and only
//!   while some counter of a box counts. They are stopped while every CPU is halted. Where CPUs run in parallel, none passes a cycle before
//!   the boxes have counted all clocks up to there, whichever CPU ran through them: see [`UntileClock`].
//! - What the companion's memory does at each place is reported to that EDC's and that channel's boxes. Requests that leave a tile go to
//!   the CHA that [`Companion::home`] names, and stay in its table of requests for as long as they took, in clocks of the untile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use vm_pmu::arch::feed::Request;
use vm_pmu::companion::Companion;
use vm_pmu::topology::{Machine, Untile};
use vm_pmu::untile::{Domain, Kind, Stage, Transaction, UnitId};

use super::{ConfigurationSpace, Lines, UntileClock};
use vm_pmu_engines::x86::PciFunction;

/// The boxes of a machine in PCI configuration space.
#[derive(Debug)]
pub struct Boxes {
    machine: Arc<Machine<Lines>>,
    /// It changes with every write that may change what a box counts.
    revision: AtomicU32,
    clock: UntileClock,
}

impl Boxes {
    /// The boxes of `machine`.
    #[must_use]
    pub fn new(machine: Arc<Machine<Lines>>) -> Boxes {
        Boxes { machine, revision: AtomicU32::new(0), clock: UntileClock::new() }
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

    fn revision(&self) -> u32 {
        self.revision.load(Ordering::Acquire)
    }
}

impl ConfigurationSpace for Boxes {
    fn read(&self, at: PciFunction, offset: u16, size: u8) -> u32 {
        self.machine.untile().map_or(u32::MAX, |untile| untile.pci_read(at.bus, at.device, at.function, offset, size))
    }

    fn write(&self, at: PciFunction, offset: u16, size: u8, value: u32) {
        if let Some(untile) = self.machine.untile() {
            untile.pci_write(at.bus, at.device, at.function, offset, size, value);
            self.touch();
        }
    }
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

    /// Whether a register may have been written since the last [`update`](CpuBoxes::update).
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.revision != self.boxes.revision()
    }

    /// A register of a box may have been written.
    pub(super) fn touch(&self) {
        self.boxes.touch();
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
