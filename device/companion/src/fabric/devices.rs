//! Accesses of devices to memory, and to each other.

use vm_pmu_arch::feed::{Demand, Signal, Totals};

use crate::Companion;
use crate::bus::AgentOperation;
use crate::fabric::gart::By;
use crate::fabric::hypertransport::Transaction;
use crate::fabric::memory::{PackageMemory, Traffic};
use crate::fabric::scope::Reach;
use crate::fabric::signals;
use crate::fabric::sized_commands::{self, LinePiece, SizedWrites};
use crate::fabric::{FabricState, System};
use crate::profile::Protocol;
use crate::tally::Tally;

/// Maximum number of bytes per access.
const MOST: u64 = 4096;

/// The operation of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DeviceOperation {
    /// A read.
    #[default]
    Read,
    /// A read to refresh a display.
    DisplayRead,
    /// A write.
    Write,
    /// An atomic operation, done at the memory.
    Atomic,
    /// A write that offers whole lines to the caches: a third level of victims whose cores have a copy takes the line instead of memory.
    /// Elsewhere it is a [`Write`](DeviceOperation::Write).
    Inject,
}

impl DeviceOperation {
    /// Every operation, in order.
    pub const ALL: [DeviceOperation; DeviceOperation::Inject as usize + 1] =
        [DeviceOperation::Read, DeviceOperation::DisplayRead, DeviceOperation::Write, DeviceOperation::Atomic, DeviceOperation::Inject];

    const fn writes(self) -> bool {
        matches!(self, DeviceOperation::Write | DeviceOperation::Atomic | DeviceOperation::Inject)
    }

    const fn signal(self) -> Signal {
        match self {
            DeviceOperation::Read => Signal::UpstreamReads,
            DeviceOperation::DisplayRead => Signal::UpstreamDisplayReads,
            DeviceOperation::Write | DeviceOperation::Atomic | DeviceOperation::Inject => Signal::UpstreamWrites,
        }
    }
}

/// An access by a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct DeviceRequest {
    /// The package that the device is behind.
    pub package: usize,
    /// The physical address of the first byte.
    pub physical: u64,
    /// Its size in bytes. At most 4,096 are taken: report a longer transfer in parts.
    pub size: u64,
    /// Its operation.
    pub operation: DeviceOperation,
}

impl Companion {
    /// Reads or writes physical memory, or [I/O](crate::Builder::io_range) of another device, for a device: caches drop lines that it
    /// writes, and answer its reads. The events that `demand` names are added to `totals`: pass those of the
    /// `Machine::device_demand` and `Machine::devices` of
    /// its package. Call `Machine::check_devices` afterwards if a deadline may have been
    /// reached. One host thread at a time may call it for a package. Each line counts as an access. Returns which of the lines some cache
    /// had modified: bit 0 for the first.
    ///
    /// ```
    /// use vm_pmu::companion::{Builder, DeviceOperation, DeviceRequest};
    /// use vm_pmu::{Signal, topology};
    ///
    /// let machine = topology::Builder::new("k8").unwrap().build(|_thread, _counter| {}).unwrap();
    /// // E9h, requests of devices of this node to its own memory.
    /// machine.thread(0).unwrap().x86().wrmsr(0xC001_0000, 0x0043_A2E9).unwrap();
    /// let companion = Builder::new("k8").unwrap().build();
    /// let reads = DeviceRequest { physical: 0x8000, size: 128, operation: DeviceOperation::Read, ..DeviceRequest::default() };
    /// companion.device(&reads, &machine.devices(0).unwrap().totals, &machine.device_demand(0).unwrap());
    /// assert_eq!(machine.thread(0).unwrap().x86().rdpmc(0), Ok(2));
    /// ```
    pub fn device(&self, request: &DeviceRequest, totals: &Totals, demand: &Demand) -> u64 {
        self.device_at(Some(request.package), request, totals, demand)
    }

    /// Reads or writes `size` bytes of physical memory from `physical` on, for a device. It is [`device`](Companion::device) for a device
    /// behind the package that has the memory.
    pub fn device_access(&self, physical: u64, size: u64, writes: bool, totals: &Totals, demand: &Demand) -> u64 {
        let operation = if writes { DeviceOperation::Write } else { DeviceOperation::Read };
        self.device_at(None, &DeviceRequest { package: 0, physical, size, operation }, totals, demand)
    }

    /// Performs an atomic operation of a device at the memory that has `physical`: caches lose the line. Its events are reported like those
    /// of [`device_access`](Companion::device_access). Returns whether a cache had the line modified.
    pub fn device_atomic(&self, physical: u64, totals: &Totals, demand: &Demand) -> bool {
        self.device_at(None, &DeviceRequest { package: 0, physical, size: 1, operation: DeviceOperation::Atomic }, totals, demand) != 0
    }

    fn device_at(&self, package: Option<usize>, request: &DeviceRequest, totals: &Totals, demand: &Demand) -> u64 {
        let DeviceRequest { physical, size, operation, .. } = *request;
        let (mut tally, mut modified) = (Tally::new(), 0);
        tally.update(demand, signals::of_devices);
        let bits = self.system.profile.caches.outer_line_bits;
        let lines = (MOST >> bits.clamp(6, 12)) as usize;
        for (number, piece) in LinePiece::of(physical, size, bits).take(if size == 0 { 0 } else { lines }).enumerate() {
            tally.add(operation.signal(), 1);
            modified |= u64::from(self.system.device(package, piece, operation, &mut tally)) << number;
        }
        tally.report(totals);
        modified
    }
}

impl System {
    /// Accesses a piece of a line, for a device behind `package`, or behind the one that has the memory. Returns whether a cache had the
    /// line modified.
    fn device(&self, package: Option<usize>, piece: LinePiece, operation: DeviceOperation, tally: &mut Tally) -> bool {
        let bits = self.profile.caches.outer_line_bits.min(63);
        let (outer, line) = (piece.physical >> bits, 1 << bits);
        let home = self.home(outer);
        let package = package.map_or(home, |package| package.min(self.layout.packages.saturating_sub(1)));
        match operation {
            DeviceOperation::Write | DeviceOperation::Inject => SizedWrites::of(piece, line).count(tally),
            DeviceOperation::Atomic => tally.add(Signal::SizedReadModifyWrites, 1),
            DeviceOperation::Read | DeviceOperation::DisplayRead => sized_commands::count_read(piece, tally),
        }
        let mut shared = self.shared.lock();
        self.relocate(&mut shared, package, piece.physical, By::Device, tally);
        let linked = self.counts_links(Some(tally));
        let read = if matches!(operation, DeviceOperation::Write | DeviceOperation::Inject) { 0 } else { piece.doublewords() };
        if linked {
            self.answer_device(&mut shared, package, read, tally);
        }
        if let Some(target) = self.io_of_device(piece.physical) {
            if linked {
                let written = if operation.writes() { piece.stored_doublewords() } else { 0 };
                self.reach_device(&mut shared, package, target, written, read, tally);
            }
            self.device_to_io(&mut shared, package, target, tally);
            return false;
        }
        tally.add(if home == package { Signal::DeviceMemoryRequestsLocal } else { Signal::DeviceMemoryRequestsRemote }, 1);
        let whole = piece.size == line;
        self.at(&mut shared, package, home, tally, |_, tally| match operation {
            DeviceOperation::Write | DeviceOperation::Inject => SizedWrites::of(piece, line).count_target(tally),
            DeviceOperation::Atomic => {}
            DeviceOperation::Read | DeviceOperation::DisplayRead => sized_commands::count_read_target(piece, tally),
        });
        let owner = self.device_to_memory(&mut shared, package, outer, whole, operation, tally);
        if !linked {
            return owner.is_some();
        }
        let transaction = Transaction { source: package, target: home, written: 0, read, owner };
        match operation {
            DeviceOperation::Write | DeviceOperation::Inject => SizedWrites::data(whole, piece.mask(line)).for_each(|written| {
                let owner = owner.filter(|_| !whole);
                self.transact(&mut shared, &Transaction { written, read: 0, owner, ..transaction }, tally);
            }),
            DeviceOperation::Atomic => {
                self.transact(&mut shared, &Transaction { written: piece.doublewords(), ..transaction }, tally);
            }
            DeviceOperation::Read | DeviceOperation::DisplayRead => self.transact(&mut shared, &transaction, tally),
        }
        owner.is_some()
    }

    /// Counts an access of a device behind `package` to one behind `target`.
    fn device_to_io(&self, shared: &mut FabricState, package: usize, target: usize, tally: &mut Tally) {
        if package == target {
            return tally.add(Signal::DeviceIoRequestsLocal, 1);
        }
        tally.add(Signal::DeviceIoRequestsRemote, 1);
        self.at(shared, package, target, tally, |_, tally| tally.add(Signal::DeviceIoRequestsFromRemote, 1));
    }

    /// Accesses line `outer` for a device behind `package`. No cluster is the requester, so all are probed. Returns the package of a cache
    /// that had the line dirty.
    fn device_to_memory(
        &self,
        shared: &mut FabricState,
        package: usize,
        outer: u64,
        whole: bool,
        operation: DeviceOperation,
        tally: &mut Tally,
    ) -> Option<usize> {
        let home = self.home(outer);
        let (writes, atomic) = (operation.writes(), operation == DeviceOperation::Atomic);
        // An atomic operation needs the line, however much of it is written.
        let whole = whole && !atomic;
        let transfer = if atomic { AgentOperation::Change } else { AgentOperation::of(writes, whole) };
        transfer.count(outer, tally);
        let taker = if whole && operation == DeviceOperation::Inject { self.accept_injection(outer) } else { None };
        let probe = |_: &mut PackageMemory, tally: &mut Tally| {
            if writes {
                self.take_everywhere(taker.map(|(number, _)| number), package, outer, whole, tally)
            } else {
                self.read_everywhere(package, outer, transfer == AgentOperation::Current, tally)
            }
        };
        let found = self.at(shared, package, home, tally, probe).unwrap_or_default();
        if let Some(signal) = transfer.modified().filter(|_| writes && found.dirty_elsewhere) {
            tally.add(signal, 1);
        }
        let taken = taker.map_or(Reach::Chip, |(number, _)| self.reach(package, self.package(number)));
        self.begins(shared, package, outer, found.farthest.max(taken).max(self.reach(package, home)));
        if atomic {
            self.asks(shared, outer, |asked| asked.atomics = asked.atomics.wrapping_add(1));
        } else if writes && !whole {
            self.asks(shared, outer, |asked| asked.partly_written = asked.partly_written.wrapping_add(1));
        }
        if let Some((number, modified)) = taker {
            let to = self.package(number);
            self.carries(shared, package, to, outer);
            self.inject(shared, number, outer, tally);
            return found.dirty.or(modified.then_some(to));
        }
        match (writes, atomic) {
            // The operation is done where the memory is, and its line stays there.
            (_, true) => {}
            (true, _) => self.carries(shared, package, home, outer),
            (false, _) => self.carries(shared, found.dirty.unwrap_or(home), package, outer),
        }
        // A line that is written back moves to memory as well. Without an owned state, memory gets the line that is read.
        let owned = self.profile.caches.protocol == Protocol::Moesi;
        let written_back = if writes { !whole } else { !owned };
        if let Some(holder) = found.dirty.filter(|_| written_back) {
            self.carries(shared, holder, home, outer);
        }
        let (dirty, write_back, stream) = (found.dirty.is_some(), Traffic::WriteBack, Traffic::Stream);
        let traffic: [Option<Traffic>; 3] = match (writes, atomic) {
            (_, true) => [dirty.then_some(write_back), Some(Traffic::Read), Some(stream)],
            (true, _) => [(dirty && !whole).then_some(write_back), None, Some(stream)],
            // The holder supplies the line instead of memory.
            (false, _) => [(dirty && !owned).then_some(write_back), (!dirty).then_some(Traffic::Read), None],
        };
        self.at(shared, package, home, tally, |memory, tally| {
            traffic.into_iter().flatten().for_each(|traffic| _ = self.moves(memory, outer, traffic, tally));
        });
        found.dirty
    }
}
