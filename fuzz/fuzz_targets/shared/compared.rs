//! The oracle that compares a model with its reference.

use vm_pmu::litmus::Litmus;
use vm_pmu_compare::{compare, tells_cycles_of_a_halted_thread};

/// Whether model and reference agree. A disagreement is shown by as small a program as can be found.
pub(crate) fn agrees(program: &Litmus) -> Result<(), String> {
    if tells_cycles_of_a_halted_thread(program) {
        return Ok(());
    }
    let Err(disagreement) = compare(program) else { return Ok(()) };
    let small = program.shrink(|smaller| !tells_cycles_of_a_halted_thread(smaller) && compare(smaller).is_err());
    let disagreement = compare(&small).err().unwrap_or(disagreement);
    Err(format!("model and reference disagree\n{disagreement}"))
}
