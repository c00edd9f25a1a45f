//! The oracle that compares embedders with each other.

use std::cell::RefCell;

use vm_pmu::litmus::{Litmus, Trial};

thread_local! {
    /// Machines are used again: building them takes longer than most programs.
    static TRIAL: RefCell<Trial> = RefCell::default();
}

/// Whether the program keeps the contract. A violation is shown by as small a program as can be found.
pub(crate) fn contract(program: &Litmus) -> Result<(), String> {
    let Err(broken) = TRIAL.with_borrow_mut(|trial| trial.contract(program)) else { return Ok(()) };
    let small = program.shrink(|smaller| smaller.try_contract().is_err());
    // If only machines that were used before differ, the program as a whole is what there is to show.
    let broken = small.try_contract().err().unwrap_or(broken);
    Err(format!("the contract is broken: {broken}"))
}
