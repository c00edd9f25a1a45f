//! The boxes that all threads of a machine share: Knights Landing's untile.
//!
//! Each box has its own lock. It is taken by an access to the box's registers, by an event in it while a counter listens, and at its
//! deadline. Ticking a clock takes none of these locks, but callers that tick take turns. The UBox has one more lock. A holder of a box's
//! lock takes none but that of what all boxes together count, whose holder takes none; a holder of the UBox's may take boxes' locks, one at a time; a caller that ticks may take the UBox's. So there is
//! no deadlock, and freezes and releases of all boxes come one after the other. An overflow stays in its box, and is due, until it is
//! reported to the UBox: no clock advances meanwhile. The fabric, which is the mesh and the agents at it, has a lock that is
//! taken before all others, by messages while a counter listens to the fabric.
//!
//! # Clocks
//!
//! There are three totals of clocks. [`advance`](crate::topology::Untile::advance) advances them at their [`Frequencies`] in relation to
//! the CPUs' clock, [`tick`](crate::topology::Untile::tick) one of them, and [`tick_all`](crate::topology::Untile::tick_all) all equally.
//! Each call stops on the way wherever a counter's overflow is due, so that freeze and interrupt come at that very clock, however many
//! clocks the call advances.

mod configuration;
mod flow;
mod frequencies;
mod home;
mod mesh;
mod port;
mod report;
mod slot;
mod write_cache;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::atomic::AtomicU64;
use vm_pmu_arch::feed::Request;
pub use vm_pmu_arch::knl::untile::{
    Clocks, Consequence, Counter48, Domain, FIRST_FUNCTIONS, FilterState, Held, HeldQueue, Kind, Lookup, PciFunction, Place, Source, Stage,
    Transaction, UNITS, Ubox, Unit, UnitId, UnitRegister, UnitState, address_of, at_msr, at_offset,
};
use vm_pmu_arch::lock::Mutex;

use crate::location::Location;
pub use configuration::Buses;
use configuration::Configuration;
use flow::{Fabric, Flow, LINE_BITS, Served};
pub use frequencies::Frequencies;
use frequencies::Ratios;
pub use mesh::{Agent, DeviceAccess, Message, Ring, Stop};
use mesh::{Class, Controllers, Home, WRITE_CACHE};
use slot::{Demand, Slot};
use vm_pmu_arch::die::{Die, Spread};

/// A clock: its total, and when something is due.
#[derive(Debug)]
struct Clock {
    total: AtomicU64,
    deadline: AtomicU64,
}

impl Clock {
    fn new() -> Clock {
        Clock { total: AtomicU64::new(0), deadline: AtomicU64::new(NEVER) }
    }
}

/// No deadline.
const NEVER: u64 = u64::MAX;

/// The tiles to interrupt, one bit each.
pub(crate) type Tiles = u64;

/// What the boxes remember.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UntileState {
    /// The UBox's control and status.
    pub ubox: [u64; 2],
    /// The boxes, in the order of [`UnitId::all`].
    pub units: Vec<UnitState>,
    /// The elapsed fraction of each clock's next tick, in units of one over the CPUs' frequency; in the order of [`Domain::ALL`].
    #[cfg_attr(feature = "serde", serde(default))]
    pub phases: [u32; 3],
    /// The command registers of the functions in configuration space: those of boxes in the same order, then [`FIRST_FUNCTIONS`].
    pub commands: Vec<u8>,
    /// What is not free in the mesh: its place, and for how many more clocks.
    #[cfg_attr(feature = "serde", serde(default))]
    pub mesh: Vec<(u32, u64)>,
    /// What is not free at the CHAs, and what their snoop filters have: place and value.
    #[cfg_attr(feature = "serde", serde(default))]
    pub homes: Vec<(u32, u64)>,
    /// What is not free in M2PCIe and the IRP, in the same way.
    #[cfg_attr(feature = "serde", serde(default))]
    pub port: Vec<(u32, u64)>,
    /// The lines of the IRP's write cache, in the same way.
    #[cfg_attr(feature = "serde", serde(default))]
    pub write_cache: Vec<(u32, u64)>,
}

/// The boxes of a machine.
#[derive(Debug)]
pub(crate) struct Boxes {
    slots: Box<[Slot]>,
    ubox: Mutex<Ubox>,
    fabric: Mutex<Fabric>,
    demand: Demand,
    /// How fast the clocks run, and their phases. A caller that advances clocks takes this lock before any other.
    ticking: Mutex<Ratios>,
    frequencies: Frequencies,
    clocks: [Clock; 3],
    configuration: Configuration,
    die: Die,
    spread: Spread,
}

/// The upper half of a model-specific register of 32 bits.
const UPPER: u64 = !0xFFFF_FFFF;

impl Boxes {
    pub(crate) fn new(buses: Buses, frequencies: Frequencies, die: Die) -> Boxes {
        Boxes {
            slots: UnitId::all().map(Slot::new).collect(),
            ubox: Mutex::new(Ubox::new()),
            fabric: Mutex::new(Fabric::new()),
            demand: Demand::new(),
            frequencies,
            ticking: Mutex::new(Ratios::new(frequencies)),
            clocks: core::array::from_fn(|_| Clock::new()),
            configuration: Configuration::new(buses),
            die,
            spread: Spread::of(&die, LINE_BITS),
        }
    }

    /// How many bytes it has allocated.
    pub(crate) fn allocated(&self) -> usize {
        size_of_val(&*self.slots) + self.configuration.footprint() + self.fabric.lock().footprint()
    }

    /// What was chosen of the die.
    pub(crate) fn die(&self) -> Die {
        self.die
    }

    /// Where its functions are.
    pub(crate) fn buses(&self) -> Buses {
        self.configuration.buses()
    }

    /// Where the functions of configuration space are.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Location> {
        self.configuration.locations()
    }

    fn clock(&self, domain: Domain) -> &Clock {
        let [uclk, eclk, dclk] = &self.clocks;
        match domain {
            Domain::Uclk => uclk,
            Domain::Eclk => eclk,
            Domain::Dclk => dclk,
        }
    }

    pub(crate) fn total(&self, domain: Domain) -> u64 {
        self.clock(domain).total.load(Acquire)
    }

    pub(crate) fn frequencies(&self) -> Frequencies {
        self.frequencies
    }

    /// The totals of all clocks.
    fn now(&self) -> Clocks {
        let [uclk, eclk, dclk] = Domain::ALL.map(|domain| self.total(domain));
        Clocks { uclk, eclk, dclk }
    }

    fn slot(&self, unit: UnitId) -> Option<&Slot> {
        self.slots.get(unit.index())
    }

    /// Whether any counter of the box listens to events in it.
    pub(crate) fn listens(&self, unit: UnitId) -> bool {
        self.slot(unit).is_some_and(Slot::listens)
    }

    /// Whether any counter of any box counts.
    pub(crate) fn is_counting(&self) -> bool {
        self.slots.iter().any(Slot::is_enabled)
    }

    /// Does `work` with a box, and reports its overflows.
    fn with<T: Default>(&self, unit: UnitId, work: impl FnOnce(&mut Unit, &Clocks) -> T) -> (T, Tiles) {
        let Some(slot) = self.slot(unit) else { return (T::default(), 0) };
        let value = self.visit(slot, work);
        let tiles = if slot.has_overflows() { self.report_overflows(&mut self.ubox.lock(), None) } else { 0 };
        (value, tiles)
    }

    /// Does `work` with a box, which changes none of its registers but counters. Reports its overflows.
    fn happen(&self, slot: &Slot, work: impl FnOnce(&mut Unit, &Clocks) -> bool) -> (bool, Tiles) {
        let (value, reports) = slot.happen(|unit| work(unit, &self.now()));
        if !reports {
            return (value, 0);
        }
        self.lower_deadlines(slot);
        (value, if slot.has_overflows() { self.report_overflows(&mut self.ubox.lock(), None) } else { 0 })
    }

    fn visit<T>(&self, slot: &Slot, work: impl FnOnce(&mut Unit, &Clocks) -> T) -> T {
        let value = slot.with(&self.demand, |unit| work(unit, &self.now()));
        self.lower_deadlines(slot);
        value
    }

    /// Makes the clocks stop where something of the box is due.
    fn lower_deadlines(&self, slot: &Slot) {
        for domain in Domain::ALL {
            let deadline = slot.deadline(domain);
            if deadline != NEVER {
                self.clock(domain).deadline.fetch_min(deadline, AcqRel);
            }
        }
    }

    /// Freezes or releases every box if `freeze` says so, and reports all overflows to the UBox. Boxes that this freezes do not overflow
    /// any more. Returns the tiles to interrupt.
    fn report_overflows(&self, ubox: &mut Ubox, freeze: Option<bool>) -> Tiles {
        let (mut tiles, mut freeze) = (0, freeze);
        // A released box may overflow at that very clock, and is frozen again; a frozen box does not overflow.
        for _ in 0..3 {
            if let Some(frozen) = freeze.take() {
                for slot in &self.slots {
                    self.visit(slot, |unit, now| unit.set_all_frozen(frozen, now));
                }
            }
            for (id, slot) in UnitId::all().zip(&self.slots) {
                let consequence = ubox.overflow(id, slot.take_overflows(&self.demand));
                tiles |= consequence.tiles;
                freeze = freeze.or(consequence.freeze);
            }
            if freeze.is_none() {
                break;
            }
        }
        tiles
    }

    /// How far a clock is from its deadline.
    fn distance(&self, domain: Domain) -> u64 {
        let clock = self.clock(domain);
        clock.deadline.load(Acquire).saturating_sub(clock.total.load(Acquire))
    }

    /// Advances a clock by `clocks`, among which nothing is due. The caller holds `ticking`.
    fn go_on(&self, domain: Domain, clocks: u64) {
        let total = &self.clock(domain).total;
        total.store(total.load(Acquire).saturating_add(clocks), Release);
    }

    /// Serves those of the clocks that have reached their deadline. Returns the tiles to interrupt.
    fn serve(&self, domains: &[Domain]) -> Tiles {
        domains.iter().filter(|domain| self.distance(**domain) == 0).fold(0, |tiles, domain| tiles | self.service(*domain))
    }

    /// Advances each of these clocks by `clocks`, in step. Returns the tiles to interrupt at the first stop on the way, and the clocks that
    /// are left.
    pub(crate) fn tick(&self, domains: &[Domain], clocks: u64) -> (Tiles, u64) {
        // No caller advances a clock beyond the deadline that another ticks up to.
        let _ticking = self.ticking.lock();
        let mut left = clocks;
        while left != 0 {
            let step = domains.iter().map(|domain| self.distance(*domain)).min().unwrap_or(left).clamp(1, left);
            // All clocks arrive there before anything that is due freezes counters.
            for domain in domains {
                self.go_on(*domain, step);
            }
            left -= step;
            let tiles = self.serve(domains);
            if tiles != 0 {
                return (tiles, left);
            }
        }
        (0, 0)
    }

    /// Lets `cycles` of the CPUs' clock go by. Each clock ticks at its own times among them. What is due is served at its very tick, with
    /// the other clocks advanced to the same time. Returns the tiles to interrupt after the first cycle in which something interrupts, and
    /// the cycles that are left.
    pub(crate) fn advance(&self, cycles: u64) -> (Tiles, u64) {
        let mut ratios = self.ticking.lock();
        let (mut end, mut tiles, mut gone) = (cycles, 0, [0; 3]);
        loop {
            let ahead = Domain::ALL.map(|domain| self.distance(domain));
            let next = ratios.first(gone, ahead, end);
            for ((domain, gone), there) in Domain::ALL.into_iter().zip(&mut gone).zip(ratios.gone_by(next)) {
                self.go_on(domain, there.saturating_sub(*gone));
                *gone = there.max(*gone);
            }
            if !next.is_stop() {
                ratios.go_on(end);
                return (tiles, cycles - end);
            }
            let found = self.serve(&Domain::ALL);
            if found != 0 && tiles == 0 {
                // The rest of this cycle still elapses.
                end = next.cycles();
            }
            tiles |= found;
        }
    }

    /// A deadline of this clock has been reached. Another caller that finds an overflow meanwhile waits for the UBox, or has reported it
    /// already.
    fn service(&self, domain: Domain) -> Tiles {
        let mut ubox = self.ubox.lock();
        let clock = self.clock(domain);
        for slot in &self.slots {
            if slot.deadline(domain) <= clock.total.load(Acquire) {
                self.visit(slot, Unit::service);
            }
        }
        let tiles = self.report_overflows(&mut ubox, None);
        // A caller that sets a nearer deadline in a slot meanwhile lowers this one afterwards; the slot's is read after this.
        clock.deadline.swap(NEVER, AcqRel);
        for slot in &self.slots {
            clock.deadline.fetch_min(slot.deadline(domain), AcqRel);
        }
        tiles
    }

    pub(crate) fn inject(&self, unit: UnitId, select: u8, umask: u8, each: u64, clocks: u64) -> (bool, Tiles) {
        match self.slot(unit) {
            Some(slot) if slot.counts(select) => self.happen(slot, |unit, now| unit.inject(select, umask, each, clocks, now)),
            _ => (false, 0),
        }
    }

    /// Counts `amount` events, or clocks, from now on. Returns the tiles to interrupt.
    #[inline(always)]
    fn count(&self, unit: UnitId, select: u8, umask: u8, amount: u64) -> Tiles {
        match self.slot(unit) {
            Some(slot) if slot.counts(select) && slot.add(select, umask, amount).is_none() => self.follow(slot, select, umask, amount),
            _ => 0,
        }
    }

    /// The same in a box whose counters do more than add.
    #[cold]
    fn follow(&self, slot: &Slot, select: u8, umask: u8, amount: u64) -> Tiles {
        self.happen(slot, |unit, now| unit.inject(select, umask, 1, amount, now)).1
    }

    pub(crate) fn change_queue(&self, unit: UnitId, select: u8, umask: u8, change: i64) -> (bool, Tiles) {
        self.with(unit, |unit, now| unit.change_queue(select, umask, change, now))
    }

    pub(crate) fn set_queue(&self, unit: UnitId, select: u8, umask: u8, level: u64) -> (bool, Tiles) {
        self.with(unit, |unit, now| unit.set_queue(select, umask, level, now))
    }

    pub(crate) fn transact(&self, cha: u8, transaction: &Transaction, stage: Stage) -> (bool, Tiles) {
        match UnitId::new(Kind::Cha, cha).and_then(|unit| self.slot(unit)) {
            // Requests that enter and leave the table are followed whether or not a counter listens.
            Some(slot) if !matches!(stage, Stage::Served { .. }) || slot.listens() => {
                let transaction = Transaction { tile: self.place(transaction.tile), ..*transaction };
                if let Stage::Served { clocks } = stage
                    && let Some(counted) = slot.serve(&transaction, clocks)
                {
                    return (counted, 0);
                }
                self.happen(slot, |unit, now| unit.transact(&transaction, stage, now))
            }
            _ => (false, 0),
        }
    }

    /// The place of tile `tile`.
    fn place(&self, tile: u8) -> u8 {
        self.die.tiles.place(tile).unwrap_or(tile)
    }

    /// Who is responsible for the line at `physical` of CHA `cha`. An embedder's own way to share lines is believed.
    fn home(&self, cha: u8, physical: Option<u64>) -> Home {
        let (line, spread) = (physical.map(|physical| physical >> LINE_BITS), &self.spread);
        let controllers = match line {
            Some(line) if spread.is_flat(line) => Controllers::Mcdram,
            _ if spread.places() == 0 => Controllers::Ddr,
            _ => Controllers::Both,
        };
        match line.filter(|line| spread.agent(*line, Kind::Cha.count().into()) == u64::from(cha)) {
            Some(line) => Home::at(cha, controllers, |count| spread.memory(line, count.into()) as u16),
            None => Home::of(cha, controllers),
        }
    }

    /// Whether any counter listens to a mesh stop, or to a box between the mesh and devices.
    pub(crate) fn listens_to_mesh(&self) -> bool {
        self.demand.is_of_mesh()
    }

    /// Whether any counter of any box may count events by `select`.
    pub(crate) fn demands(&self, select: u8) -> bool {
        self.demand.is_of(select)
    }

    /// The same for all selects from 80h to BFh, one bit each.
    fn demands_of_mesh(&self) -> u64 {
        self.demand.selects_of_mesh()
    }

    /// A message on its own.
    pub(crate) fn carry_one(&self, message: Message) -> Tiles {
        if !self.listens_to_mesh() {
            return 0;
        }
        let mut flow = Flow::new(self, Home::of(0, Controllers::default()), Class::Responses);
        flow.carry(&message, self.total(Domain::Uclk));
        flow.tiles()
    }

    /// A request of tile `tile`, for a line of CHA `home`, goes through the fabric.
    pub(crate) fn carry_request(&self, request: &Request, tile: u8, home: u8) -> Tiles {
        if !self.listens_to_mesh() {
            return 0;
        }
        let holder = request.holder.map(|holder| u16::from(self.place(u8::try_from(holder).unwrap_or(u8::MAX))));
        let mut flow = Flow::new(self, self.home(home, Some(request.physical)), Class::of(request));
        flow.request(&Request { holder, ..*request }, self.place(tile));
        flow.tiles()
    }

    /// A device does something with a line of CHA `home`, at `physical` if that is known, which a tile has modified if `hit`.
    pub(crate) fn device(&self, access: DeviceAccess, physical: Option<u64>, home: u8, hit: bool) -> Tiles {
        let (mut tiles, mut served) = (0, Served::default());
        if self.listens_to_mesh() {
            let mut flow = Flow::new(self, self.home(home, physical), Class::Responses);
            served = flow.device(access, physical, hit);
            tiles |= flow.tiles();
        }
        if let Some(irp) = UnitId::new(Kind::Irp, 0) {
            for (select, umask) in access.counted(served.owned) {
                tiles |= self.inject(irp, *select, *umask, 1, 1).1;
            }
            tiles |= self.inject(irp, WRITE_CACHE.0, WRITE_CACHE.1, 1, served.clocks).1;
        }
        tiles | self.transact(home, &access.transaction(hit), Stage::Served { clocks: served.clocks.max(1) }).1
    }

    /// What a register of a box holds.
    pub(crate) fn look(&self, unit: UnitId, register: UnitRegister) -> (u64, Tiles) {
        self.with(unit, |unit, now| unit.read(register, now))
    }

    /// Reads what is at `address`, at privilege level 0.
    pub(crate) fn read(&self, address: Address) -> (Result<u64, Fault>, Tiles) {
        match address {
            Address::Msr(number) => match at_msr(number) {
                Some(Place::Unit(unit, register)) => {
                    let (value, tiles) = self.with(unit, |unit, now| unit.read(register, now));
                    (Ok(value), tiles)
                }
                Some(Place::GlobalControl) => (Ok(self.ubox.lock().control()), 0),
                Some(Place::GlobalStatus) => (Ok(self.ubox.lock().status()), 0),
                Some(Place::Config) => (Ok(self.ubox.lock().config()), 0),
                None => (Err(Fault::Unclaimed), 0),
            },
            Address::Pci(address) => match self.configuration.at(address) {
                Some(configuration::Target::Unit(unit, register, upper)) => {
                    let (value, tiles) = self.with(unit, |unit, now| unit.read(register, now));
                    (Ok(if upper { value >> 32 } else { value & !UPPER }), tiles)
                }
                Some(configuration::Target::Header(header)) => (Ok(u64::from(self.configuration.read(header))), 0),
                None => (Err(Fault::Unclaimed), 0),
            },
            _ => (Err(Fault::Unclaimed), 0),
        }
    }

    /// Writes the bytes of `value` that `mask` covers to what is at `address`, at privilege level 0.
    pub(crate) fn write(&self, address: Address, value: u64, mask: u64) -> (Result<(), Fault>, Tiles) {
        match address {
            Address::Msr(number) => self.write_msr(number, value),
            Address::Pci(address) => match self.configuration.at(address) {
                Some(configuration::Target::Unit(unit, register, upper)) => {
                    let shift = if upper { 32 } else { 0 };
                    let (value, mask) = ((value & mask & !UPPER) << shift, (mask & !UPPER) << shift);
                    let ((), tiles) = self.with(unit, |unit, now| {
                        // The bits outside the mask keep their value. A status is cleared by ones, so zeros are written there.
                        let kept = if register == UnitRegister::Status { 0 } else { unit.read(register, now) & !mask };
                        unit.write(register, kept | value, now);
                    });
                    (Ok(()), tiles)
                }
                Some(configuration::Target::Header(header)) => {
                    self.configuration.write(header, value as u32, mask as u32);
                    (Ok(()), 0)
                }
                None => (Err(Fault::Unclaimed), 0),
            },
            _ => (Err(Fault::Unclaimed), 0),
        }
    }

    fn write_msr(&self, number: u32, value: u64) -> (Result<(), Fault>, Tiles) {
        match at_msr(number) {
            Some(Place::Unit(unit, register)) => {
                let refused = match register {
                    UnitRegister::Counter(_) | UnitRegister::Fixed => Counter48::REFUSED,
                    _ => UPPER,
                };
                if value & refused != 0 {
                    return (Err(Fault::GeneralProtection), 0);
                }
                let ((), tiles) = self.with(unit, |unit, now| unit.write(register, value, now));
                (Ok(()), tiles)
            }
            Some(Place::GlobalControl) => {
                let mut ubox = self.ubox.lock();
                let freeze = ubox.write_control(value);
                (Ok(()), self.report_overflows(&mut ubox, freeze))
            }
            Some(Place::GlobalStatus) => {
                self.ubox.lock().write_status(value);
                (Ok(()), 0)
            }
            Some(Place::Config) => (Err(Fault::GeneralProtection), 0),
            None => (Err(Fault::Unclaimed), 0),
        }
    }

    /// Brings every register to its value after power-on.
    pub(crate) fn reset(&self) {
        let mut fabric = self.fabric.lock();
        fabric.mesh.load(&[], 0);
        fabric.homes.load(&[], 0);
        fabric.port.load(&[], 0);
        fabric.cache.load(&[], 0);
        let mut ubox = self.ubox.lock();
        *ubox = Ubox::new();
        for (id, slot) in UnitId::all().zip(&self.slots) {
            let now = self.now();
            slot.with(&self.demand, |unit| *unit = Unit::from_state(id.kind(), &Unit::new(id.kind()).state(&now), &now));
        }
        self.configuration.reset();
    }

    /// Makes every box count up to now, whatever its deadline.
    #[cfg(feature = "litmus")]
    pub(crate) fn service_all(&self) -> Tiles {
        self.service_each(&mut self.ubox.lock())
    }

    fn service_each(&self, ubox: &mut Ubox) -> Tiles {
        for slot in &self.slots {
            self.visit(slot, Unit::service);
        }
        self.report_overflows(ubox, None)
    }

    /// What everything remembers, and the tiles to interrupt for overflows that were due.
    pub(crate) fn state(&self) -> (UntileState, Tiles) {
        let fabric = self.fabric.lock();
        let ratios = self.ticking.lock();
        let mut ubox = self.ubox.lock();
        // What is due is reported before anything is copied.
        let tiles = self.service_each(&mut ubox);
        let units = self.slots.iter().map(|slot| self.visit(slot, Unit::state)).collect();
        let (phases, commands, now) = (ratios.phases(), self.configuration.commands(), self.total(Domain::Uclk));
        let (mesh, homes, port) = (fabric.mesh.save(now), fabric.homes.save(now), fabric.port.save(now));
        let write_cache = fabric.cache.save(now);
        (UntileState { ubox: ubox.state(), units, phases, commands, mesh, homes, port, write_cache }, tiles)
    }

    /// Remembers `state` instead. Returns whether it fits.
    pub(crate) fn restore(&self, state: &UntileState) -> bool {
        if state.units.len() != UNITS || !self.configuration.set_commands(&state.commands) {
            return false;
        }
        let (mut fabric, now) = (self.fabric.lock(), self.total(Domain::Uclk));
        fabric.mesh.load(&state.mesh, now);
        fabric.homes.load(&state.homes, now);
        fabric.port.load(&state.port, now);
        fabric.cache.load(&state.write_cache, now);
        let mut ratios = self.ticking.lock();
        ratios.set_phases(state.phases);
        let mut ubox = self.ubox.lock();
        *ubox = Ubox::from_state(state.ubox);
        for ((id, slot), state) in UnitId::all().zip(&self.slots).zip(&state.units) {
            slot.with(&self.demand, |unit| *unit = Unit::from_state(id.kind(), state, &self.now()));
            self.lower_deadlines(slot);
        }
        true
    }
}
