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
    sharing: Mutex<Sharing>,
}

impl Core {
    pub(super) fn new(model: Option<Microarchitecture>) -> Core {
        Core { running: AtomicU32::new(0), sharing: Mutex::new(Sharing::new(model)) }
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

    /// Thread `thread` executes something. What it shares with others that run, and all that run, one bit each; `None` if it is alone.
    #[inline]
    pub(super) fn together(&self, thread: usize) -> Option<(MutexGuard<'_, Sharing>, u32)> {
        let mut running = self.running.load(Relaxed);
        if thread < THREADS && running >> thread & 1 == 0 {
            running = self.running.fetch_or(1 << thread, Relaxed) | 1 << thread;
        }
        if thread >= THREADS || running & !(1 << thread) == 0 {
            return None;
        }
        Some((self.sharing.lock(), running))
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.word(u64::from(self.running.load(Relaxed)));
        self.sharing.lock().save(writer);
    }

    pub(super) fn load(&self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let running = u32::try_from(reader.word()?).ok().filter(|running| running >> THREADS == 0).ok_or(Damaged)?;
        self.running.store(running, Relaxed);
        self.sharing.lock().load(reader)
    }
}
