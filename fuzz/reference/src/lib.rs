//! References: one slow model for each part, written from the sentences of its manual and not from the register files of `vm-pmu-arch`.
//!
//! A reference takes one step at a time, keeps each counter as a plain integer, and knows neither deadlines nor demand. From `vm-pmu-arch`
//! it has names alone: addresses, faults, signals, the fields of a context, and what the catalogues say of an event.

mod clocks;
mod detector;
mod ia64;
pub mod itanium;
pub mod k8;
pub mod knl;
pub mod montecito;
pub mod nest;
pub mod power9;
pub mod untile;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Context, NestedStep, Record, Request, Signal};
use vm_pmu_arch::knl::untile::{Domain, Stage, Transaction, UnitId};
use vm_pmu_arch::model::{Occurrence, Reset};

/// The PMU of one package, as its manual describes it.
pub trait Reference {
    /// What a write to a register does.
    ///
    /// # Errors
    /// The fault that the access raises, in which case nothing changes.
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault>;

    /// What a read returns, or `None` where the reference does not know.
    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>>;

    /// Whether the reference knows which writes to the register fault.
    fn knows_faults_of(&mut self, thread: usize, address: Address) -> bool {
        self.read(thread, address).is_some()
    }

    /// One instruction of a thread: everything it adds to, in one step, and what is known of it.
    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], record: &Record);

    /// A request of a thread leaves its core's caches. Returns whether the reference knows what that counts.
    fn request(&mut self, _thread: usize, _request: &Request) -> bool {
        false
    }

    /// A table walker of a thread makes a step of a nested translation. Returns whether the reference knows what that counts.
    fn nested(&mut self, _thread: usize, _step: &NestedStep) -> bool {
        false
    }

    /// Events of the package's devices, in one step.
    fn devices(&mut self, signals: &[(Signal, u64)]);

    /// Events that no signal describes, in one step.
    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64);

    /// A box that all packages share interrupts the threads of this one.
    fn interrupt_by_box(&mut self) {}

    /// Somebody looks at these pins of a thread, one bit each, and at no others.
    fn watch_pins(&mut self, _thread: usize, _pins: u32) {}

    /// How often a pin of a thread has toggled, or `None` where the reference does not know.
    fn pin_toggles(&mut self, _thread: usize, _pin: u32) -> Option<u64> {
        None
    }

    /// The state of a thread changes.
    fn set_context(&mut self, thread: usize, context: Context);

    /// A thread is reset.
    fn reset(&mut self, thread: usize, reset: Reset);

    /// The interrupts requested since the last call: thread and counter, sorted; `None` where the reference does not know.
    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>>;

    /// The levels of a thread's lines, of a part that has such; `None` where the reference does not know.
    fn lines(&mut self, _thread: usize) -> Option<Lines> {
        None
    }
}

/// The boxes that all packages of a machine share, as the manual describes them.
pub trait Shared {
    /// Whether what is at the address is theirs.
    fn has(&self, address: Address) -> bool;

    /// Every address at which they have a register.
    fn addresses(&self) -> Vec<Address>;

    /// What a write to a register does, at this privilege level.
    ///
    /// # Errors
    /// The fault that the access raises, in which case nothing changes.
    fn write(&mut self, privilege: u8, address: Address, value: u64) -> Result<(), Fault>;

    /// What a read returns, or `None` where the reference does not know.
    fn read(&mut self, privilege: u8, address: Address) -> Option<Result<u64, Fault>>;

    /// What some bytes of configuration space are, as on a bus: bus, device and function; `None` where the reference does not know.
    fn read_bus(&mut self, function: (u8, u8, u8), offset: u16, size: u8) -> Option<u32>;

    /// Writes some bytes of configuration space.
    fn write_bus(&mut self, function: (u8, u8, u8), offset: u16, size: u8, value: u32);

    /// A clock advances.
    fn tick(&mut self, domain: Domain, clocks: u64);

    /// The CPUs' clock advances, and with it all others.
    fn pass(&mut self, cycles: u64);

    /// An event occurs in a box so often in each of the next so many clocks.
    fn happen(&mut self, unit: UnitId, select: u8, umask: u8, each: u64, clocks: u64);

    /// A queue of a box has more entries, or fewer.
    fn change_queue(&mut self, unit: UnitId, select: u8, umask: u8, change: i64);

    /// A queue of a box has so many entries.
    fn set_queue(&mut self, unit: UnitId, select: u8, umask: u8, level: u64);

    /// A request at a CHA.
    fn transact(&mut self, cha: u8, request: &Transaction, stage: Stage);

    /// Everything returns to its state at power-on.
    fn reset(&mut self);

    /// The packages interrupted since the last call.
    fn take_interrupted(&mut self) -> Vec<usize>;
}
