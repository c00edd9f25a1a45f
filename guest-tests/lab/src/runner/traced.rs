//! What the runner traces of a machine.

use std::sync::{Arc, OnceLock};

use vm_pmu::arch::registry::Part;

use super::{Options, RunError};
use crate::dialect::select;
use crate::report::Action;
use vm_pmu_board::trace::{Checks, Tracer};
use vm_pmu_engines::memory::Memory;
use vm_pmu_guests::protocol;

/// The checks that a guest reports in a machine's memory, once there is one.
#[derive(Debug, Default)]
struct Reported(OnceLock<Arc<Memory>>);

impl Checks for Reported {
    fn stored(&self, address: u64, size: u64) -> Option<Action> {
        let memory = self.0.get()?;
        let protocol::Check { name, seen, least, most } =
            protocol::failure(|address, bytes| memory.read_bytes(address, bytes).is_ok(), address, size)?;
        Some(Action::Check { name, seen, least, most })
    }
}

/// What is traced, and where the guest's checks are found.
#[derive(Debug)]
pub(super) struct Traced {
    pub(super) tracer: Tracer,
    reported: Option<Arc<Reported>>,
}

impl Traced {
    /// What `options` trace of a machine of `part`.
    pub(super) fn new(part: Part, options: &Options) -> Traced {
        let reported = options.trace.looks_at_checks().then(Arc::<Reported>::default);
        let checks = reported.clone().map(|reported| reported as Arc<dyn Checks>);
        let tracer = Tracer::new(options.trace.clone()).with_listener(options.listener.clone()).with_checks(checks);
        Traced { tracer: tracer.with_registers(select::registers(part)), reported }
    }

    /// The machine was made, with `memory`.
    pub(super) fn begin(&self, memory: &Arc<Memory>) {
        if let Some(reported) = &self.reported {
            let _ = reported.0.set(Arc::clone(memory));
        }
    }
}

/// # Errors
/// [`RunError::NoThread`], where the thread that is to be traced is none of `cpus`.
pub(super) fn check(options: &Options, cpus: usize) -> Result<(), RunError> {
    match options.trace.thread {
        Some(thread) if thread >= cpus => Err(RunError::NoThread { thread, threads: cpus }),
        _ => Ok(()),
    }
}
