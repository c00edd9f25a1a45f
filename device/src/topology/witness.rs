//! Who watches what is done with a machine: each call before it acts, and what it showed. (Feature `recording`.)

use alloc::boxed::Box;
use core::any::Any;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Context, NestedStep, Record, Request, Signal, SignalSet, Totals};
use vm_pmu_arch::model::{Occurrence, Reset};

use super::Machine;
use crate::irq::InterruptLine;
use crate::untile::{DeviceAccess, Domain, Message, Stage, Transaction, UnitId};
use vm_pmu_arch::lock::Mutex;

/// A call, by what it asks of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call<'c> {
    /// The PMU counts up to now.
    Service,
    /// Something that the machine remembers is saved, for which it counts up to now.
    Save,
    Read(Address),
    Write(Address, u64),
    /// A context follows another.
    Context(&'c Context, &'c Context),
    Inject(Occurrence, u64),
    InjectPackage(Occurrence, u64),
    Record(&'c Record),
    Request(&'c Request),
    Nested(&'c NestedStep),
    /// Of the states that were asked for the first are known, and the second hold.
    Levels(&'c SignalSet, &'c SignalSet),
    /// So many cycles pass, in each of which these states hold, without a deadline if `quietly`.
    Cycles {
        cycles: u64,
        states: &'c [Signal],
        quietly: bool,
    },
    Reset(Reset),
    WatchPins(u32),
    PinToggles(u32),
    Boxes(BoxesCall<'c>),
    Collection(CollectionCall),
    /// One of which only the number is kept.
    Other,
}

/// A call about what a package posts into memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CollectionCall {
    Init(u64),
    Start,
    Stop,
    SetInterval(u64),
    Advance(u64),
    Post,
    /// The event with this offset occurs in the thread.
    Inject(u32, u64),
}

/// A call about the boxes that all threads share.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BoxesCall<'c> {
    Tick(Domain, u64),
    /// All clocks, in step.
    TickAll(u64),
    /// Cycles of the CPUs, at the machine's frequencies.
    Pass(u64),
    Happen {
        unit: UnitId,
        select: u8,
        umask: u8,
        each: u64,
        clocks: u64,
    },
    ChangeQueue {
        unit: UnitId,
        select: u8,
        umask: u8,
        change: i64,
    },
    SetQueue {
        unit: UnitId,
        select: u8,
        umask: u8,
        level: u64,
    },
    Transact(u8, &'c Transaction, Stage),
    Carry(&'c Message),
    /// The messages of a request, with its tile and its home.
    CarryRequest(&'c Request, u8, u8),
    Device {
        access: DeviceAccess,
        physical: Option<u64>,
        home: u8,
        hit: bool,
    },
    PciRead(PciPlace),
    PciWrite(PciPlace, u32),
    Reset,
}

/// Bytes of configuration space: bus, device, function, offset, size.
pub(crate) type PciPlace = (u8, u8, u8, u16, u8);

/// What a call showed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shown<'s> {
    Read(Result<u64, Fault>),
    Written(Result<(), Fault>),
    Toggles(u64),
    Pci(u32),
    /// What was added to memory, and where memory refused it.
    Posted(&'s [(u64, u64)], &'s [u64]),
}

/// Something that a machine tells its line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told {
    /// A counter of a thread requests an interrupt.
    Raised(usize, u32),
    /// These pins of a thread toggled.
    Pins(usize, u32),
    /// The lines of a thread have these levels.
    Lines(usize, Lines),
}

/// What a witness may look at.
pub(crate) trait Sources {
    /// Threads of a package.
    fn package_threads(&self) -> usize;
    /// The totals of a thread.
    fn totals(&self, thread: usize) -> Option<&Totals>;
    /// Those of the devices of a package.
    fn device_totals(&self, package: usize) -> Option<&Totals>;
}

/// Who watches.
pub(crate) trait Witness: Any + Send {
    /// A call about `thread` begins. Returns its place, if what it will show is of interest.
    fn call(&mut self, thread: usize, call: Call<'_>, sources: &dyn Sources) -> Option<usize>;
    /// The call at `place` showed this.
    fn shown(&mut self, place: usize, shown: Shown<'_>);
    /// The machine tells its line something, in a call that has begun.
    fn told(&mut self, told: Told);
    /// The machine remembers something else from now on.
    fn restored(&mut self);
}

/// The place of a machine's witness.
#[derive(Default)]
pub(super) struct Seat {
    is_taken: AtomicBool,
    witness: Mutex<Option<Box<dyn Witness>>>,
}

impl Seat {
    fn with<T>(&self, work: impl FnOnce(&mut dyn Witness) -> T) -> Option<T> {
        if !self.is_taken.load(Acquire) {
            return None;
        }
        self.witness.lock().as_deref_mut().map(work)
    }
}

impl<L: InterruptLine> Sources for Machine<L> {
    fn package_threads(&self) -> usize {
        self.per_package
    }

    fn totals(&self, thread: usize) -> Option<&Totals> {
        self.cores.get(thread).map(|core| &*core.source.totals)
    }

    fn device_totals(&self, package: usize) -> Option<&Totals> {
        self.packages.get(package).map(|package| &*package.devices.totals)
    }
}

impl<L: InterruptLine> Machine<L> {
    /// Makes `witness` watch from now on, instead of any other.
    pub(crate) fn seat(&self, witness: Box<dyn Witness>) {
        *self.seat.witness.lock() = Some(witness);
        self.seat.is_taken.store(true, Release);
    }

    /// Ends the watching. Returns the witness.
    pub(crate) fn unseat(&self) -> Option<Box<dyn Witness>> {
        self.seat.is_taken.store(false, Release);
        self.seat.witness.lock().take()
    }

    /// Whether counters stay usable while another thread uses them for the package's unit.
    pub(crate) fn shares_counters(&self) -> bool {
        self.lenient
    }

    /// Whether somebody watches.
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.seat.is_taken.load(Relaxed)
    }

    /// A call about thread `number` begins. Returns its place, if somebody watches.
    #[inline]
    pub(super) fn watched(&self, number: usize, call: Call<'_>) -> Option<usize> {
        if self.is_watched() { self.seat.with(|witness| witness.call(number, call, self)).flatten() } else { None }
    }

    /// The call at `place` showed this.
    #[inline]
    pub(super) fn showed<'s>(&self, place: Option<usize>, shown: impl FnOnce() -> Shown<'s>) {
        if let Some(place) = place {
            self.seat.with(|witness| witness.shown(place, shown()));
        }
    }

    /// The machine tells its line something.
    #[inline]
    pub(super) fn tells(&self, told: impl FnOnce() -> Told) {
        if self.is_watched() {
            self.seat.with(|witness| witness.told(told()));
        }
    }

    /// The machine remembers something else from now on.
    pub(super) fn is_restored(&self) {
        self.seat.with(|witness| witness.restored());
    }
}
