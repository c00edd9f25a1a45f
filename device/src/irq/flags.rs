//! A flag for each thread.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, Ordering};

use super::InterruptLine;

/// One flag per thread, raised by its PMU's requests: a line for emulators that poll between instructions.
///
/// Several requests between two polls are one interrupt, as they are one bit of a local APIC's request register. Levels, pins and missed
/// deadlines are not kept: [`Thread::lines`](crate::topology::Thread::lines) and
/// [`Thread::pin_toggles`](crate::topology::Thread::pin_toggles) return the first two.
///
/// ```
/// use vm_pmu::irq::Flags;
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8").unwrap().threads(2).build(Flags::new(2)).unwrap();
/// let pmu = machine.thread(1).unwrap();
/// pmu.x86().wrmsr(0xC001_0004, u64::MAX).unwrap(); // PerfCtr0: minus 1
/// pmu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap(); // PerfEvtSel0: retired instructions, OS, INT, EN
/// pmu.retire(&[vm_pmu::Signal::InstructionsRetired], 1);
/// assert!(!machine.line().take(0));
/// assert!(machine.line().take(1));
/// assert!(!machine.line().take(1), "taken once");
/// ```
#[derive(Debug)]
pub struct Flags(Box<[AtomicBool]>);

impl Flags {
    /// The flags of `threads` threads, counted through all packages. A machine with more threads is refused.
    #[must_use]
    pub fn new(threads: usize) -> Flags {
        Flags((0..threads).map(|_| AtomicBool::new(false)).collect())
    }

    /// Whether thread `thread` has requested an interrupt since the last call; lowers its flag. `false` for a thread without one.
    #[must_use = "what is taken and not delivered is lost"]
    pub fn take(&self, thread: usize) -> bool {
        // Most calls find nothing, and a load costs less than an exchange.
        self.0.get(thread).is_some_and(|flag| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Acquire))
    }

    /// Raises the flag of thread `thread`, as its PMU does: for requests that were pending in a saved machine. Returns whether the thread
    /// has one.
    pub fn set(&self, thread: usize) -> bool {
        let flag = self.0.get(thread);
        if let Some(flag) = flag {
            flag.store(true, Ordering::Release);
        }
        flag.is_some()
    }

    /// Whether the flag of thread `thread` is raised, without lowering it. `false` for a thread without one.
    #[must_use]
    pub fn is_set(&self, thread: usize) -> bool {
        self.0.get(thread).is_some_and(|flag| flag.load(Ordering::Acquire))
    }
}

impl InterruptLine for Flags {
    fn raise(&self, thread: usize, _counter: u32) {
        self.set(thread);
    }

    fn threads(&self) -> Option<usize> {
        Some(self.0.len())
    }
}
