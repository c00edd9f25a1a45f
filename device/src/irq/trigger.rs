//! Interrupt requests through the `Trigger` of `vm-superio`.

use vm_pmu_arch::alert::Lines;
use vm_superio::Trigger;

use super::InterruptLine;
use super::requests::Requests;

/// An interrupt line that fires one `Trigger` of the crate `vm-superio` per thread, as that crate's serial port does.
///
/// Every request triggers once. On POWER a line stays raised until the guest acts: there its rise triggers, and the CPU then polls
/// [`Thread::lines`](crate::topology::Thread::lines). An event-based branch is not an interrupt: the CPU polls for it there.
///
/// A trigger that fails does not disturb the PMU: the request is lost, as it is when no controller takes it. This is counted, and logged as
/// a warning.
///
/// ```
/// use std::convert::Infallible;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use vm_pmu::irq::TriggerLine;
/// use vm_pmu::topology::Builder;
/// use vm_superio::Trigger;
///
/// #[derive(Default)]
/// struct LocalApic(AtomicBool);
///
/// impl Trigger for LocalApic {
///     type E = Infallible;
///
///     fn trigger(&self) -> Result<(), Infallible> {
///         self.0.store(true, Ordering::Release);
///         Ok(())
///     }
/// }
///
/// let line = TriggerLine::new((0..2).map(|_| LocalApic::default()));
/// let machine = Builder::new("k8").unwrap().threads(2).build(line).unwrap();
/// let cpu = machine.thread(1).unwrap();
/// cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(1)).unwrap();
/// cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
/// cpu.totals().add(vm_pmu::Signal::InstructionsRetired, 1);
/// cpu.check();
/// assert!(machine.line().trigger(1).unwrap().0.load(Ordering::Acquire));
/// assert_eq!(machine.line().failures(1), 0);
/// ```
#[derive(Debug)]
pub struct TriggerLine<T> {
    requests: Requests<T>,
}

impl<T: Trigger> TriggerLine<T> {
    /// One trigger per thread, in the order of the threads' numbers; a machine with more threads is refused.
    pub fn new(triggers: impl IntoIterator<Item = T>) -> TriggerLine<T> {
        TriggerLine { requests: Requests::new(triggers) }
    }

    /// The trigger of thread `thread`; `None` if it has none.
    #[must_use]
    pub fn trigger(&self, thread: usize) -> Option<&T> {
        self.requests.target(thread)
    }

    /// How many requests of thread `thread` were lost because its trigger failed.
    #[must_use]
    pub fn failures(&self, thread: usize) -> u64 {
        self.requests.failures(thread)
    }
}

impl<T: Trigger> InterruptLine for TriggerLine<T> {
    fn raise(&self, thread: usize, _counter: u32) {
        self.requests.advance(thread, T::trigger);
    }

    fn lines(&self, thread: usize, lines: Lines) {
        self.requests.level(thread, lines.interrupt, T::trigger);
    }

    fn threads(&self) -> Option<usize> {
        Some(self.requests.threads())
    }
}
