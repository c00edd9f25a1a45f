//! Interrupts from other CPUs and devices on their way to a local APIC.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::saved::MailState;

/// What waits for one local APIC. Posting is lock-free; two fixed interrupts of one vector that
/// were not collected in between are one, as in the IRR.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    fixed: [AtomicU64; 4],
    nmi: AtomicBool,
    performance: AtomicBool,
    full: AtomicBool,
    // The logical destination registers of the owner, for senders to match.
    pub(crate) ldr: AtomicU32,
    pub(crate) dfr: AtomicU32,
}

/// What was in a mailbox.
pub(crate) struct Mail {
    /// The fixed vectors, as a 256-bit set.
    pub(crate) fixed: [u64; 4],
    pub(crate) nmi: bool,
    /// The performance-counter interrupt of the LVT.
    pub(crate) performance: bool,
}

impl Mailbox {
    /// Whether something waits.
    #[inline]
    pub(crate) fn full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn post_fixed(&self, vector: u8) {
        self.fixed[usize::from(vector >> 6)].fetch_or(1 << (vector & 63), Ordering::SeqCst);
        self.full.store(true, Ordering::SeqCst);
    }

    fn post_nmi(&self) {
        self.nmi.store(true, Ordering::SeqCst);
        self.full.store(true, Ordering::SeqCst);
    }

    fn post_performance(&self) {
        self.performance.store(true, Ordering::SeqCst);
        self.full.store(true, Ordering::SeqCst);
    }

    /// What waits, without removing it.
    pub(crate) fn waiting(&self) -> MailState {
        MailState {
            fixed: std::array::from_fn(|i| self.fixed[i].load(Ordering::SeqCst)),
            nmi: self.nmi.load(Ordering::SeqCst),
            performance: self.performance.load(Ordering::SeqCst),
        }
    }

    /// Replaces what waits by `mail`.
    pub(crate) fn replace(&self, mail: &MailState) {
        for (set, saved) in self.fixed.iter().zip(mail.fixed) {
            set.store(saved, Ordering::SeqCst);
        }
        self.nmi.store(mail.nmi, Ordering::SeqCst);
        self.performance.store(mail.performance, Ordering::SeqCst);
        self.full.store(*mail != MailState::default(), Ordering::SeqCst);
    }

    /// Takes everything.
    pub(crate) fn collect(&self) -> Mail {
        // First the flag: what is posted from here on sets it again.
        self.full.store(false, Ordering::SeqCst);
        Mail {
            fixed: std::array::from_fn(|i| self.fixed[i].swap(0, Ordering::SeqCst)),
            nmi: self.nmi.swap(false, Ordering::SeqCst),
            performance: self.performance.swap(false, Ordering::SeqCst),
        }
    }

    /// Whether a logical destination names the owner.
    pub(crate) fn matches_logical(&self, destination: u8) -> bool {
        let logical = (self.ldr.load(Ordering::Acquire) >> 24) as u8;
        if self.dfr.load(Ordering::Acquire) >> 28 == 0xf {
            destination & logical != 0
        } else {
            destination >> 4 == logical >> 4 && destination & logical & 0xf != 0
        }
    }
}

#[derive(Debug, Default)]
struct Sleepers {
    lock: Mutex<()>,
    wake: Condvar,
    count: AtomicU32,
}

#[derive(Debug)]
struct Inner {
    boxes: Box<[Mailbox]>,
    sleepers: Sleepers,
    stop: AtomicBool,
}

/// Raises interrupts at the CPUs of a machine from any thread: what a device holds.
#[derive(Clone, Debug)]
pub struct Interrupter(Arc<Inner>);

/// How a halted host thread's wait ended.
pub(crate) enum Woken {
    /// Mail, or the machine stops.
    Now,
    /// Every CPU sleeps and nothing can wake one.
    Never,
}

impl Interrupter {
    pub(crate) fn new(cpus: usize) -> Self {
        let boxes: Box<[Mailbox]> = (0..cpus).map(|_| Mailbox::default()).collect();
        for mailbox in &boxes {
            mailbox.dfr.store(u32::MAX, Ordering::Release);
        }
        Self(Arc::new(Inner { boxes, sleepers: Sleepers::default(), stop: AtomicBool::new(false) }))
    }

    /// Raises a non-maskable interrupt at CPU `cpu`; an absent CPU ignores it.
    pub fn nmi(&self, cpu: usize) {
        if let Some(mailbox) = self.0.boxes.get(cpu) {
            mailbox.post_nmi();
            self.wake();
        }
    }

    /// Raises the edge-triggered fixed interrupt `vector` at CPU `cpu`; an absent CPU ignores it.
    pub fn fixed(&self, cpu: usize, vector: u8) {
        if let Some(mailbox) = self.0.boxes.get(cpu) {
            mailbox.post_fixed(vector);
            self.wake();
        }
    }

    /// Delivers the performance-counter interrupt of CPU `cpu` as its LVT entry specifies, for counters that several CPUs share; an absent
    /// CPU ignores it. A CPU's own counters use [`Alerts`](super::Alerts) instead, which is exact to the instruction.
    pub fn performance_interrupt(&self, cpu: usize) {
        if let Some(mailbox) = self.0.boxes.get(cpu) {
            mailbox.post_performance();
            self.wake();
        }
    }

    /// How many CPUs the machine has.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.0.boxes.len()
    }

    #[inline]
    pub(crate) fn mailbox(&self, cpu: usize) -> &Mailbox {
        &self.0.boxes[cpu]
    }

    pub(crate) fn any_full(&self) -> bool {
        self.0.boxes.iter().any(|b| b.full.load(Ordering::SeqCst))
    }

    fn wake(&self) {
        if self.0.sleepers.count.load(Ordering::SeqCst) > 0 {
            let _guard = self.0.sleepers.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.sleepers.wake.notify_all();
        }
    }

    /// Whether host threads have been asked to stop.
    #[inline]
    pub(crate) fn stopping(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Lets host threads run, or asks them to stop.
    pub(crate) fn set_stopping(&self, stop: bool) {
        self.0.stop.store(stop, Ordering::SeqCst);
        self.wake();
    }

    /// Sleeps until there is mail for `cpu` or the machine stops.
    pub(crate) fn sleep(&self, cpu: usize) -> Woken {
        let sleepers = &self.0.sleepers;
        let mut guard = sleepers.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted before the mailbox is read, and senders read the count after they post: a wake-up is never lost.
        let asleep = sleepers.count.fetch_add(1, Ordering::SeqCst) + 1;
        let woken = if asleep as usize == self.cpus() && !self.any_full() {
            Woken::Never
        } else {
            while !self.0.boxes[cpu].full.load(Ordering::SeqCst) && !self.stopping() {
                guard = sleepers.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
            Woken::Now
        };
        sleepers.count.fetch_sub(1, Ordering::SeqCst);
        woken
    }
}
