//! The cores of a machine: the threads that run, and the state that these share.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use vm_pmu_arch::lock::{Mutex, MutexGuard};

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::{Sharing, THREADS};
use crate::profile::Microarchitecture;

/// A core whose threads may compete.
#[derive(Debug)]
pub(crate) struct Core {
    /// The threads that run, and those that have run while they were followed.
    threads: AtomicU32,
    sharing: Mutex<Sharing>,
}

/// Position of the bits of the threads that have run while they were followed.
const KNOWN: u32 = 16;
const _: () = assert!(THREADS <= KNOWN as usize, "each half has a bit for each thread");

/// Returns the bit of thread `thread` among the threads that run.
const fn running(thread: usize) -> u32 {
    1 << thread
}

/// Returns its bit among the threads that have run while they were followed.
const fn known(thread: usize) -> u32 {
    running(thread) << KNOWN
}

/// Returns the threads that run, one bit each.
const fn all_running(threads: u32) -> u32 {
    threads & ((1 << KNOWN) - 1)
}

/// Returns the threads that have run while they were followed, one bit each.
const fn all_known(threads: u32) -> u32 {
    threads >> KNOWN
}

impl Core {
    pub(crate) fn new(model: Microarchitecture) -> Core {
        Core { threads: AtomicU32::new(0), sharing: Mutex::new(Sharing::new(model)) }
    }

    pub(crate) fn set_running(&self, thread: usize, runs: bool) {
        if thread >= THREADS {
            return;
        }
        if runs {
            self.threads.fetch_or(running(thread), Relaxed);
        } else {
            self.threads.fetch_and(!running(thread), Relaxed);
            self.leave(thread);
        }
    }

    /// Records that thread `thread`, running or not, is no longer followed.
    pub(crate) fn leave(&self, thread: usize) {
        self.sharing.lock().leave(thread);
    }

    /// Records that thread `thread` executes something. Returns what it shares with others, and all threads that run, one bit each; `None` if
    /// no other runs or has been followed before. One that has been followed may resume, and meets what this one does meanwhile.
    #[inline]
    pub(crate) fn together(&self, thread: usize) -> Option<(MutexGuard<'_, Sharing>, u32)> {
        let own = Core::alone(thread);
        if thread >= THREADS || self.is_alone(own) {
            return None;
        }
        let mut threads = self.threads.load(Relaxed);
        if threads & own != own {
            threads = self.threads.fetch_or(own, Relaxed) | own;
        }
        (threads != own).then(|| (self.sharing.lock(), all_running(threads)))
    }

    /// Whether only one thread runs and has run while it was followed: the one with this [`alone`](Core::alone).
    #[inline]
    pub(crate) fn is_alone(&self, alone: u32) -> bool {
        self.threads.load(Relaxed) == alone
    }

    /// Returns the value of `threads` while thread `thread` is alone.
    pub(crate) const fn alone(thread: usize) -> u32 {
        if thread < THREADS { running(thread) | known(thread) } else { u32::MAX }
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        let threads = self.threads.load(Relaxed);
        writer.words(&[u64::from(all_running(threads)), u64::from(all_known(threads))]);
        self.sharing.lock().save(writer);
    }

    pub(crate) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let [running, known] = [reader.word()?, reader.word()?];
        if (running | known) >> THREADS != 0 {
            return Err(Damaged);
        }
        self.threads.store(running as u32 | (known as u32) << KNOWN, Relaxed);
        self.sharing.lock().load(reader)
    }
}
