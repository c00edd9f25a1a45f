//! The cores of a machine: which of their threads run, and what these share.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use spin::{Mutex, MutexGuard};

use super::bytes::{Damaged, Reader, Writer};
use super::pipeline::{Sharing, THREADS};
use super::profile::Microarchitecture;

/// A core whose threads may compete.
#[derive(Debug)]
pub(super) struct Core {
    /// The threads that run, one bit each.
    running: AtomicU32,
    /// The threads that have run while they were followed, one bit each.
    known: AtomicU32,
    sharing: Mutex<Sharing>,
}

impl Core {
    pub(super) fn new(model: Microarchitecture) -> Core {
        Core { running: AtomicU32::new(0), known: AtomicU32::new(0), sharing: Mutex::new(Sharing::new(model)) }
    }

    /// Whether thread `thread` runs.
    pub(super) fn set_running(&self, thread: usize, runs: bool) {
        if thread >= THREADS {
            return;
        }
        if runs {
            self.running.fetch_or(1 << thread, Relaxed);
        } else {
            self.running.fetch_and(!(1 << thread), Relaxed);
            self.leave(thread);
        }
    }

    /// Thread `thread`, which runs or not, is no longer followed.
    pub(super) fn leave(&self, thread: usize) {
        self.sharing.lock().leave(thread);
    }

    /// Thread `thread` executes something. What it shares with others, and all that run, one bit each; `None` if none of them runs, nor has
    /// been followed before: then it may go on again, and meets what this one does meanwhile.
    #[inline]
    pub(super) fn together(&self, thread: usize) -> Option<(MutexGuard<'_, Sharing>, u32)> {
        let mut running = self.running.load(Relaxed);
        if thread < THREADS && running >> thread & 1 == 0 {
            running = self.running.fetch_or(1 << thread, Relaxed) | 1 << thread;
        }
        if thread >= THREADS {
            return None;
        }
        let mut known = self.known.load(Relaxed);
        if known >> thread & 1 == 0 {
            known = self.known.fetch_or(1 << thread, Relaxed);
        }
        if (running | known) & !(1 << thread) == 0 {
            return None;
        }
        Some((self.sharing.lock(), running))
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[u64::from(self.running.load(Relaxed)), u64::from(self.known.load(Relaxed))]);
        self.sharing.lock().save(writer);
    }

    pub(super) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        for threads in [&self.running, &self.known] {
            threads.store(u32::try_from(reader.word()?).ok().filter(|threads| threads >> THREADS == 0).ok_or(Damaged)?, Relaxed);
        }
        self.sharing.lock().load(reader)
    }
}
