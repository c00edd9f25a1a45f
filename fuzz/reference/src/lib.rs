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
pub mod power9;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Context, NestedStep, Record, Request, Signal};
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
