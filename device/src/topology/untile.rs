//! The boxes of a machine, as an emulator and its devices access them.

use vm_pmu_arch::access::{Address, Fault, PciAddress};
use vm_pmu_arch::feed::Request;
use vm_pmu_arch::registry::Part;

use super::extension::{Extension, Packages, as_type};
#[cfg(feature = "recording")]
use super::witness::{BoxesCall, Call, Shown};
use super::{BuildError, Machine};
use crate::irq::InterruptLine;
use crate::location::Location;
use crate::untile::{
    Boxes, Buses, DeviceAccess, Domain, Frequencies, Message, Stage, Transaction, UnitId, UnitRegister, UntileState, at_msr,
};
use vm_pmu_arch::die::Die;

impl Extension for Boxes {
    fn footprint(&self) -> usize {
        size_of::<Self>() + self.allocated()
    }

    fn has(&self, address: Address) -> bool {
        match address {
            Address::Msr(number) => at_msr(number).is_some(),
            address => matches!(address, Address::Pci(_)),
        }
    }

    fn read(&self, address: Address) -> (Result<u64, Fault>, Packages) {
        Boxes::read(self, address)
    }

    fn write(&self, address: Address, value: u64) -> (Result<(), Fault>, Packages) {
        Boxes::write(self, address, value, u64::MAX)
    }
}

/// How boxes are built.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) buses: Option<Buses>,
    pub(super) frequencies: Option<Frequencies>,
    pub(super) die: Option<Die>,
}

impl Options {
    /// The boxes of a machine.
    pub(super) fn build(self) -> Boxes {
        Boxes::new(self.buses.unwrap_or_default(), self.frequencies.unwrap_or_default(), self.die.unwrap_or_default())
    }

    /// Checks that the part has what was chosen.
    pub(super) fn check(self, part: Part) -> Result<(), BuildError> {
        if part.shape().has_untile {
            return Ok(());
        }
        self.buses.map_or(Ok(()), |_| Err(BuildError::Buses(part)))?;
        self.frequencies.map_or(Ok(()), |_| Err(BuildError::Frequencies(part)))?;
        self.die.map_or(Ok(()), |_| Err(BuildError::Die(part)))
    }
}

impl<L: InterruptLine> Machine<L> {
    /// The boxes that all threads share, on parts that have them: Knights Landing's untile, where a package is a tile.
    #[must_use]
    pub fn untile(&self) -> Option<Untile<'_, L>> {
        as_type(self.extension.as_deref()).map(|boxes| Untile { machine: self, boxes })
    }
}

/// The boxes of a machine: [`Machine::untile`].
///
/// ```
/// use vm_pmu::topology::Builder;
/// use vm_pmu::untile::{Domain, Kind, UnitId};
///
/// let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
/// let untile = machine.untile().unwrap();
/// // The first channel of the first memory controller, bus FFh, device 8, function 2: CAS reads in counter 0.
/// assert_eq!(untile.pci_read(0xFF, 8, 2, 0, 4), 0x7843_8086);
/// untile.pci_write(0xFF, 8, 2, 0xB20, 4, 0x0040_0103);
/// let channel = UnitId::new(Kind::McDclk, 0).unwrap();
/// untile.inject(channel, 0x03, 0x01, 1, 5);
/// untile.tick(Domain::Dclk, 100);
/// assert_eq!(untile.pci_read(0xFF, 8, 2, 0xB00, 4), 5);
/// ```
pub struct Untile<'a, L> {
    machine: &'a Machine<L>,
    boxes: &'a Boxes,
}

impl<L> core::fmt::Debug for Untile<'_, L> {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Untile").field("machine", self.machine).finish_non_exhaustive()
    }
}

impl<L> Clone for Untile<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Untile<'_, L> {}

impl<'a, L: InterruptLine> Untile<'a, L> {
    /// Whether any counter of any box counts: while none does, clocks need not advance.
    #[must_use]
    pub fn is_counting(&self) -> bool {
        self.boxes.is_counting()
    }

    /// Whether any counter of the box counts [injected](Untile::inject) events. While none does, they need not be injected, and requests
    /// that are [served](Stage::Served) at once need not be reported. Changes of queues, and requests that enter and leave, are always
    /// reported.
    #[must_use]
    #[inline]
    pub fn listens(&self, unit: UnitId) -> bool {
        self.boxes.listens(unit)
    }

    /// So many cycles of the CPUs' clock went by: each of the three clocks ticks as often as the machine's [frequencies](Untile::frequencies)
    /// say, exactly, however the cycles are cut. Whatever overflows on the way does so, and freezes the boxes, at its own tick; interrupts are
    /// delivered at the end of the cycle in which that is. Where several host threads let cycles go by, each as far as its CPU has come, take
    /// the amount and call this under one lock: else a clock may be counted long after another CPU has gone by it.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::Domain;
    ///
    /// let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// // A CPU at 1.4 GHz, UCLK at 1.7, ECLK at 0.9, DCLK at 1.2.
    /// untile.advance(10);
    /// untile.advance(4);
    /// assert_eq!(Domain::ALL.map(|domain| untile.clocks(domain)), [17, 9, 12]);
    /// ```
    pub fn advance(&self, cycles: u64) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Pass(cycles)));
        let mut left = cycles;
        while left != 0 {
            let tiles;
            (tiles, left) = self.boxes.advance(left);
            self.machine.interrupt_packages(tiles);
        }
    }

    /// How fast the clocks run in relation to the CPUs', as set by the builder.
    #[must_use]
    pub fn frequencies(&self) -> Frequencies {
        self.boxes.frequencies()
    }

    /// What the builder chose of the [die](super::Builder::die).
    #[must_use]
    pub fn die(&self) -> Die {
        self.boxes.die()
    }

    /// The [buses](super::Builder::buses) of the functions, as set by the builder.
    #[must_use]
    pub fn buses(&self) -> Buses {
        self.boxes.buses()
    }

    /// Advances one clock by `clocks`, for an embedder that keeps the clocks itself. Each overflow on the way comes at its own clock: its
    /// interrupts are delivered there, before the rest of the clocks.
    pub fn tick(&self, domain: Domain, clocks: u64) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Tick(domain, clocks)));
        let mut left = clocks;
        while left != 0 {
            let tiles;
            (tiles, left) = self.boxes.tick(&[domain], left);
            self.machine.interrupt_packages(tiles);
        }
    }

    /// Advances all three clocks by `clocks`, in step: what an overflow freezes has counted up to the clock of the overflow. For an
    /// embedder whose clocks run equally fast.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::Domain;
    ///
    /// let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// untile.tick_all(100);
    /// assert_eq!(Domain::ALL.map(|domain| untile.clocks(domain)), [100; 3]);
    /// ```
    pub fn tick_all(&self, clocks: u64) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::TickAll(clocks)));
        let mut left = clocks;
        while left != 0 {
            let tiles;
            (tiles, left) = self.boxes.tick(&Domain::ALL, left);
            self.machine.interrupt_packages(tiles);
        }
    }

    /// How far a clock has advanced.
    #[must_use]
    pub fn clocks(&self, domain: Domain) -> u64 {
        self.boxes.total(domain)
    }

    /// Event `select` with sub-event `umask` occurs in a box, `each` times in every one of the next `clocks` clocks. Returns whether a
    /// counter counts it.
    pub fn inject(&self, unit: UnitId, select: u8, umask: u8, each: u64, clocks: u64) -> bool {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Happen { unit, select, umask, each, clocks }));
        self.deliver(self.boxes.inject(unit, select, umask, each, clocks))
    }

    /// The queue of event `select` and sub-event `umask` of a box has `change` entries more than before; a state (of cycles) that begins or
    /// ends is one more or less. Always report it, as a counter that starts later counts the entries that are there. An embedder that did
    /// not report it can correct the level with [`set_queue`](Untile::set_queue). Returns whether a counter follows it.
    pub fn change_queue(&self, unit: UnitId, select: u8, umask: u8, change: i64) -> bool {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::ChangeQueue { unit, select, umask, change }));
        self.deliver(self.boxes.change_queue(unit, select, umask, change))
    }

    /// The queue of event `select` and sub-event `umask` of a box has `level` entries, whatever was reported before. Returns whether a
    /// counter follows it.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::{Domain, UnitId};
    ///
    /// let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// let irp = UnitId::named("irp").unwrap();
    /// untile.set_queue(irp, 0x07, 0, 3);
    /// // BL_INGRESS_OCCUPANCY_DRS_ESEL in counter 0, bus 0, device 5, function 6: the three entries are there already.
    /// untile.pci_write(0, 5, 6, 0xD8, 4, 0x0040_0007);
    /// untile.tick(Domain::Uclk, 10);
    /// assert_eq!(untile.pci_read(0, 5, 6, 0xA0, 4), 30);
    /// ```
    pub fn set_queue(&self, unit: UnitId, select: u8, umask: u8, level: u64) -> bool {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::SetQueue { unit, select, umask, level }));
        self.deliver(self.boxes.set_queue(unit, select, umask, level))
    }

    /// Reports a request at a CHA. Always report that it enters and that it leaves. Returns whether a counter counts it.
    pub fn transact(&self, cha: u8, transaction: &Transaction, stage: Stage) -> bool {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Transact(cha, transaction, stage)));
        self.deliver(self.boxes.transact(cha, transaction, stage))
    }

    /// Whether any counter of any box listens to its mesh stop, or one of M2PCIe or the IRP to the box. While none does, messages need not be reported.
    #[must_use]
    pub fn listens_to_mesh(&self) -> bool {
        self.boxes.listens_to_mesh()
    }

    /// A message crosses the mesh from now on. Its route, its waits and what the stops count of it follow from the floor plan and from what
    /// crosses the mesh already.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::{Agent, Message, Ring, Stop, UnitId};
    ///
    /// let machine = Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// // CHA 3 is below CHA 0: VERT_RING_AD_IN_USE of its mesh stop, all ways, in counter 0.
    /// let [above, below] = ["cha0", "cha3"].map(|name| Stop::of(UnitId::named(name).unwrap()).unwrap());
    /// let [control, counter] = [0xE01 + 3 * 12, 0xE08 + 3 * 12].map(vm_pmu::Address::Msr);
    /// untile.write(control, 0x0040_0FA6).unwrap();
    /// untile.carry(&Message { from: above, agent: Agent::Cores, to: below, ring: Ring::Ad });
    /// assert_eq!(untile.read(counter), Ok(1));
    /// ```
    pub fn carry(&self, message: &Message) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Carry(message)));
        self.machine.interrupt_packages(self.boxes.carry_one(*message));
    }

    /// The messages that a request of tile `tile`, for a line that CHA `home` orders, makes in the mesh. It is in addition to
    /// [`transact`](Untile::transact).
    pub fn carry_request(&self, request: &Request, tile: u8, home: u8) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::CarryRequest(request, tile, home)));
        self.machine.interrupt_packages(self.boxes.carry_request(request, tile, home));
    }

    /// A device reads or writes in a line that CHA `home` orders; a tile has the line modified if `hit`. The request comes to the CHA by PRQ,
    /// its messages cross the mesh, and M2PCIe and the IRP count it. Caches learn of it by
    /// [`device_access`](crate::companion::Companion::device_access).
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::DeviceAccess;
    ///
    /// let machine = Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// // TRANSACTIONS_COUNT_ESEL of the IRP, reads, in counter 0: bus 0, device 5, function 6.
    /// untile.pci_write(0, 5, 6, 0xD8, 4, 0x0040_0116);
    /// untile.device(DeviceAccess::Read, 7, false);
    /// assert_eq!(untile.pci_read(0, 5, 6, 0xA0, 4), 1);
    /// ```
    pub fn device(&self, access: DeviceAccess, home: u8, hit: bool) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Device { access, physical: None, home, hit }));
        self.machine.interrupt_packages(self.boxes.device(access, None, home, hit));
    }

    /// The same for the line at `physical`: the CHA then knows requests for the same line, and the tile that has it from its snoop filter.
    pub fn device_at(&self, access: DeviceAccess, physical: u64, home: u8, hit: bool) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Device { access, physical: Some(physical), home, hit }));
        self.machine.interrupt_packages(self.boxes.device(access, Some(physical), home, hit));
    }

    /// Reads what is at `address`: a model-specific register or a dword of configuration space.
    ///
    /// # Errors
    /// [`Fault::Unclaimed`] when the untile has nothing there.
    pub fn read(&self, address: Address) -> Result<u64, Fault> {
        #[cfg(feature = "recording")]
        let place = self.machine.watched(0, Call::Read(address));
        let read = self.deliver(self.boxes.read(address));
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Read(read));
        read
    }

    /// Writes what is at `address`: a model-specific register or a dword of configuration space.
    ///
    /// # Errors
    /// [`Fault::Unclaimed`] when the untile has nothing there; [`Fault::GeneralProtection`] for bits that a model-specific register
    /// refuses, and for a register that is read only.
    pub fn write(&self, address: Address, value: u64) -> Result<(), Fault> {
        #[cfg(feature = "recording")]
        let place = self.machine.watched(0, Call::Write(address, value));
        let written = self.deliver(self.boxes.write(address, value, u64::MAX));
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Written(written));
        written
    }

    /// Where the functions of configuration space are: those of boxes, and those that an operating system must find before it probes for
    /// boxes.
    ///
    /// ```
    /// use vm_pmu::pci::Location;
    /// use vm_pmu::topology::Builder;
    ///
    /// let machine = Builder::new("knl").unwrap().build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// assert!(untile.functions().any(|at| at == Location { bus: 0xFF, device: 8, function: 2 }));
    /// assert!(untile.functions().all(|at| untile.pci_read(at.bus, at.device, at.function, 0, 2) == 0x8086));
    /// ```
    pub fn functions(&self) -> impl Iterator<Item = Location> + 'a {
        self.boxes.functions()
    }

    /// A read of `size` bytes (1, 2 or 4) of configuration space, as on a bus: all ones where no function is.
    #[must_use]
    pub fn pci_read(&self, bus: u8, device: u8, function: u8, offset: u16, size: u8) -> u32 {
        let Some(of) = dword(bus, device, function, offset, size) else { return u32::MAX };
        #[cfg(feature = "recording")]
        let place = self.machine.watched(0, Call::Boxes(BoxesCall::PciRead((bus, device, function, offset, size))));
        let value = self.part_of(of);
        #[cfg(feature = "recording")]
        self.machine.showed(place, || Shown::Pci(value));
        value
    }

    /// Reads configuration space for who looks at the machine from outside, as a debugger does: the same as
    /// [`pci_read`](Untile::pci_read), but no recording has it among what the guest did.
    #[must_use]
    pub fn pci_look(&self, bus: u8, device: u8, function: u8, offset: u16, size: u8) -> u32 {
        dword(bus, device, function, offset, size).map_or(u32::MAX, |of| self.part_of(of))
    }

    /// Reads a register of a box for who looks at the machine from outside, whole and wherever it is; zero if the box does not have it. No
    /// recording has it among what the guest did.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::untile::{Domain, Kind, UnitId, UnitRegister};
    ///
    /// let machine = Builder::new("knl").unwrap().threads(8).build(|_thread, _counter| {}).unwrap();
    /// let untile = machine.untile().unwrap();
    /// // CHA 3 counts the untile's clock.
    /// machine.thread(0).unwrap().x86().wrmsr(0xE25, 0x0040_0000).unwrap();
    /// untile.tick(Domain::Uclk, 40);
    /// assert_eq!(untile.look(UnitId::new(Kind::Cha, 3).unwrap(), UnitRegister::Counter(0)), 40);
    /// ```
    #[must_use]
    pub fn look(&self, unit: UnitId, register: UnitRegister) -> u64 {
        self.deliver(self.boxes.look(unit, register))
    }

    /// These bits of a doubleword.
    fn part_of(&self, (address, shift, mask): (PciAddress, u32, u32)) -> u32 {
        let value = self.deliver(self.boxes.read(Address::Pci(address))).unwrap_or(u64::MAX);
        (value >> shift) as u32 & mask
    }

    /// A write of `size` bytes (1, 2 or 4) of configuration space, as on a bus: ignored where no function is.
    pub fn pci_write(&self, bus: u8, device: u8, function: u8, offset: u16, size: u8, value: u32) {
        if let Some((address, shift, mask)) = dword(bus, device, function, offset, size) {
            #[cfg(feature = "recording")]
            self.machine.watched(0, Call::Boxes(BoxesCall::PciWrite((bus, device, function, offset, size), value)));
            let (value, mask) = (u64::from(value & mask) << shift, u64::from(mask) << shift);
            // No function answers: the bus drops the write.
            let _ = self.deliver(self.boxes.write(Address::Pci(address), value, mask));
        }
    }

    /// Brings every register to its value after power-on, when every queue is empty.
    pub fn reset(&self) {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Boxes(BoxesCall::Reset));
        self.boxes.reset();
    }

    /// What the boxes remember, with everything counted up to now.
    #[must_use]
    pub fn state(&self) -> UntileState {
        #[cfg(feature = "recording")]
        self.machine.watched(0, Call::Save);
        self.deliver(self.boxes.state())
    }

    /// Makes the boxes remember `state` instead. Returns whether it fits; a state that does not changes nothing.
    #[must_use]
    pub fn restore(&self, state: &UntileState) -> bool {
        #[cfg(feature = "recording")]
        self.machine.is_restored();
        self.boxes.restore(state)
    }

    /// Makes every box count up to now, whatever its deadline.
    #[cfg(feature = "litmus")]
    pub(crate) fn service(&self) {
        self.machine.interrupt_packages(self.boxes.service_all());
    }

    fn deliver<T>(&self, (value, tiles): (T, u64)) -> T {
        self.machine.interrupt_packages(tiles);
        value
    }
}

/// The dword around `size` bytes at `offset`, how far they are shifted in it, and their mask before the shift. `None` for an access that no
/// bus makes.
fn dword(bus: u8, device: u8, function: u8, offset: u16, size: u8) -> Option<(PciAddress, u32, u32)> {
    let mask = match size {
        1 => 0xFF,
        2 => 0xFFFF,
        4 => u32::MAX,
        _ => return None,
    };
    if !offset.is_multiple_of(u16::from(size)) {
        return None;
    }
    Some((PciAddress { bus, device, function, offset: offset & !3 }, u32::from(offset & 3) * 8, mask))
}
