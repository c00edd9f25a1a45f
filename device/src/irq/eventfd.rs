//! Interrupt requests through event file descriptors.

use std::io::{self, ErrorKind};

use vm_pmu_arch::alert::Lines;
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

use super::InterruptLine;
use super::requests::Requests;

/// An interrupt line that writes to one event file descriptor (`EventFd` of the crate `vmm-sys-util`) per thread.
///
/// Every request adds 1. On POWER a line stays raised until the guest acts: there its rise adds 1, and the CPU then polls
/// [`Thread::lines`](crate::topology::Thread::lines). An event-based branch is not an interrupt: the CPU polls for it there.
///
/// The host thread that runs the CPU reads the descriptor, or polls it with others. Requests that are not read yet become one: an interrupt
/// is either pending or not. If a descriptor cannot be written, the request is lost; this is counted, and logged as a warning.
///
/// ```
/// use vm_pmu::Signal;
/// use vm_pmu::irq::EventFdLine;
/// use vm_pmu::topology::Builder;
///
/// let machine = Builder::new("k8").unwrap().threads(2).build(EventFdLine::create(2)?).unwrap();
/// let cpu = machine.thread(1).unwrap();
/// cpu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(1)).unwrap();
/// cpu.x86().wrmsr(0xC001_0000, 0x0052_00C0).unwrap();
/// let eventfd = machine.line().eventfd(1).unwrap();
/// assert!(eventfd.read().is_err(), "nothing is pending, and it does not block");
/// cpu.totals().add(Signal::InstructionsRetired, 1);
/// cpu.check();
/// assert_eq!(eventfd.read()?, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct EventFdLine {
    requests: Requests<EventFd>,
}

impl EventFdLine {
    /// One descriptor per thread, in the order of the threads' numbers; a machine with more threads is refused. They should be made with `EFD_NONBLOCK`: without it a descriptor
    /// blocks the CPU once its sum is at its maximum.
    pub fn new(eventfds: impl IntoIterator<Item = EventFd>) -> EventFdLine {
        EventFdLine { requests: Requests::new(eventfds) }
    }

    /// A new descriptor for each of so many threads, non-blocking and closed on exec.
    ///
    /// # Errors
    /// The error of the system, for example when too many descriptors are open.
    pub fn create(threads: usize) -> io::Result<EventFdLine> {
        let eventfds = (0..threads).map(|_| EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)).collect::<io::Result<std::vec::Vec<_>>>()?;
        Ok(EventFdLine::new(eventfds))
    }

    /// The descriptor of thread `thread`; `None` if it has none.
    #[must_use]
    pub fn eventfd(&self, thread: usize) -> Option<&EventFd> {
        self.requests.target(thread)
    }

    /// How many requests of thread `thread` were lost because its descriptor could not be written.
    #[must_use]
    pub fn failures(&self, thread: usize) -> u64 {
        self.requests.failures(thread)
    }
}

impl InterruptLine for EventFdLine {
    fn raise(&self, thread: usize, _counter: u32) {
        self.requests.advance(thread, add_one);
    }

    fn lines(&self, thread: usize, lines: Lines) {
        self.requests.level(thread, lines.interrupt, add_one);
    }

    fn threads(&self) -> Option<usize> {
        Some(self.requests.threads())
    }
}

/// Makes a request pending. If the sum is at its maximum, requests are pending already.
fn add_one(eventfd: &EventFd) -> io::Result<()> {
    match eventfd.write(1) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        outcome => outcome,
    }
}
