//! Ctrl-C: a guest that runs ends with its report, and everything else at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The status of a program that a signal has ended.
const ENDED: i32 = 128 + SIGINT;

#[derive(Debug, Default)]
struct Flags {
    /// Somebody wants the run to end.
    requested: Arc<AtomicBool>,
    /// The program ends at the signal.
    at_once: Arc<AtomicBool>,
}

static FLAGS: OnceLock<Flags> = OnceLock::new();

/// Has Ctrl-C end a guest that runs, with its report. Without a guest, and at the second time, it ends the program.
///
/// # Errors
/// The host does not let signals be handled.
pub fn listen() -> io::Result<()> {
    let flags = FLAGS.get_or_init(Flags::default);
    flags.at_once.store(true, Ordering::Relaxed);
    flag::register_conditional_shutdown(SIGINT, ENDED, Arc::clone(&flags.at_once))?;
    // Behind the first: the second signal finds it set.
    flag::register(SIGINT, Arc::clone(&flags.at_once))?;
    flag::register(SIGINT, Arc::clone(&flags.requested))?;
    Ok(())
}

/// Whether somebody has pressed Ctrl-C while a guest ran.
#[must_use]
pub fn is_requested() -> bool {
    FLAGS.get().is_some_and(|flags| flags.requested.load(Ordering::Relaxed))
}

/// A guest runs as long as this is there.
#[derive(Debug)]
pub(crate) struct Running(());

impl Running {
    /// A guest begins to run.
    pub(crate) fn begin() -> Running {
        set_at_once(is_requested());
        Running(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        set_at_once(true);
    }
}

fn set_at_once(at_once: bool) {
    if let Some(flags) = FLAGS.get() {
        flags.at_once.store(at_once, Ordering::Relaxed);
    }
}
