//! Programs for a Montecito core of one or two threads, on the model and on its reference: both must show the same. A program for which they
//! do not is printed as a litmus file.
#![no_main]

#[path = "shared/compared.rs"]
mod compared;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("montecito", |bytes| Litmus::arbitrary(program::part("montecito"), bytes), compared::agrees);
