//! Who runs a machine step by step, if somebody does.

use super::{Engine, Options, RunError};
use crate::debug::{self, Debuggee};
use crate::held::{Driven, Held};

/// Has the driver that is chosen run a machine; nothing if none is.
fn drive(held: &mut dyn Held, options: &Options, steps: u64) -> Option<Driven> {
    options.driver.as_ref().map(|driver| driver.0.drive(held, steps))
}

/// The same, or a debugger, of a machine that one can look at. Returns the machine too.
pub(super) fn debug<D: Debuggee>(mut held: D, options: &Options, steps: u64) -> Result<(Option<Driven>, D), RunError> {
    match &options.gdb {
        Some(address) => debug::serve(address, held, steps).map(|(driven, held)| (Some(driven), held)).map_err(RunError::Debug),
        None => Ok((drive(&mut held, options, steps), held)),
    }
}

/// # Errors
/// [`RunError::NotStepped`] for what cannot be run step by step.
pub(super) fn check(options: &Options) -> Result<(), RunError> {
    let against = [
        (options.engine != Engine::Interpreter, "only the interpreter stops between steps: leave out `--engine`"),
        (options.parallel, "CPUs that run at the same time do not stop between steps: leave out `--parallel`"),
        (options.save_at.is_some(), "a guest that is run step by step is not saved: leave out `--save-at`"),
    ];
    match against.into_iter().find(|(holds, _)| *holds && options.driver.is_some()) {
        Some((_, reason)) => Err(RunError::NotStepped { reason }),
        None => Ok(()),
    }
}
