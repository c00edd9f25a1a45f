//! The outputs of a PMU: interrupt requests, levels, pins, and notice of a missed deadline.
//!
//! [`Flags`] is a line for an emulator that polls between instructions: one flag per thread. For monitors built on rust-vmm there are
//! `TriggerLine` (feature `vm-superio`) and `EventFdLine` (feature `eventfd`, on Linux).

#[cfg(all(feature = "eventfd", any(target_os = "linux", target_os = "android")))]
mod eventfd;
mod flags;
#[cfg(any(feature = "vm-superio", all(feature = "eventfd", any(target_os = "linux", target_os = "android"))))]
mod noise;
#[cfg(any(feature = "vm-superio", all(feature = "eventfd", any(target_os = "linux", target_os = "android"))))]
mod requests;
#[cfg(feature = "vm-superio")]
mod trigger;

#[cfg(all(feature = "eventfd", any(target_os = "linux", target_os = "android")))]
pub use eventfd::EventFdLine;
pub use flags::Flags;
#[cfg(feature = "vm-superio")]
pub use trigger::TriggerLine;

use alloc::sync::Arc;

use vm_pmu_arch::alert::Lines;

/// The receiver of a PMU's requests. Any `Fn(usize, u32)` is one: its arguments are the thread and the counter. An [`Arc`] of one is one
/// too, for emulators that also hold their interrupt controllers elsewhere.
///
/// It is called on the host thread that noticed the event, with no lock held: it may call the machine again.
///
/// ```
/// use vm_pmu::irq::InterruptLine;
///
/// struct LocalApics;
///
/// impl InterruptLine for LocalApics {
///     fn raise(&self, thread: usize, _counter: u32) {
///         // Deliver what the performance-counter entry of this thread's local vector table says.
///         let _ = thread;
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no interrupt line",
    note = "pass a closure `|thread: usize, counter: u32| ...`, `irq::Flags`, `irq::Unconnected`, an `Arc` of a line, or implement \
            `InterruptLine` for a type of your own that holds what it needs"
)]
pub trait InterruptLine {
    /// Counter `counter` of hardware thread `thread` requests its interrupt, once. On x86 the embedder delivers it as the
    /// performance-counter entry of the thread's local APIC says: a fixed vector or an NMI, or nothing while it is masked.
    ///
    /// On IA-64 it makes the vector of the thread's PMV register (CR73) pending in its external interrupt controller, unless PMV.m masks
    /// it: a request that comes while it is masked is lost. One request means that monitoring froze, however many counters overflowed
    /// together: `counter` is one of them, by the number of its PMD, and the guest reads all of them in PMC0.
    fn raise(&self, thread: usize, counter: u32);

    /// The lines of thread `thread` that stay raised until the guest acts now have these levels. On POWER the embedder takes the interrupt
    /// while `lines.interrupt` holds and MSR\[EE] allows, and the event-based branch while `lines.event_based_branch` holds and BESCR\[GE]
    /// and problem state allow. The same levels may be reported twice. The last report is valid, and
    /// [`Thread::lines`](crate::topology::Thread::lines) returns it.
    fn lines(&self, thread: usize, lines: Lines) {
        let _ = (thread, lines);
    }

    /// The pins in `pins`, one bit each, toggled at least once. [`Thread::pin_toggles`](crate::topology::Thread::pin_toggles) returns how
    /// often.
    ///
    /// On IA-64 bit n is the external notification of PMDn: the counter overflowed with `ev` set in PMCn, whether or not it interrupts.
    /// Most embedders have no device to notify.
    fn pins(&self, thread: usize, pins: u32) {
        let _ = (thread, pins);
    }

    /// An interrupt was due `events` events ago: the embedder passed a deadline, or one instruction brought several events.
    fn late(&self, thread: usize, events: u64) {
        let _ = (thread, events);
    }

    /// How many threads it takes requests of; `None`, the default, of any number. A machine with more threads is
    /// [refused](crate::topology::BuildError::Lines).
    fn threads(&self) -> Option<usize> {
        None
    }
}

impl<F: Fn(usize, u32)> InterruptLine for F {
    fn raise(&self, thread: usize, counter: u32) {
        self(thread, counter);
    }
}

impl<L: InterruptLine + ?Sized> InterruptLine for Arc<L> {
    fn raise(&self, thread: usize, counter: u32) {
        (**self).raise(thread, counter);
    }

    fn lines(&self, thread: usize, lines: Lines) {
        (**self).lines(thread, lines);
    }

    fn pins(&self, thread: usize, pins: u32) {
        (**self).pins(thread, pins);
    }

    fn late(&self, thread: usize, events: u64) {
        (**self).late(thread, events);
    }

    fn threads(&self) -> Option<usize> {
        (**self).threads()
    }
}

/// A line that leads nowhere, for PMUs that are only read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unconnected;

impl InterruptLine for Unconnected {
    fn raise(&self, _thread: usize, _counter: u32) {}
}
