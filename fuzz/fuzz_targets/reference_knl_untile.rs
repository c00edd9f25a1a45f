//! Programs for the boxes of Knights Landing, on the model and on its reference: both must show the same. A program for which they do not is
//! printed as a litmus file.
#![no_main]

#[path = "shared/compared.rs"]
mod compared;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("knl", Litmus::arbitrary_untile, compared::agrees);
