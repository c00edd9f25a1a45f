//! Programs for the nests of POWER9 chips, on the model and on its reference: events, slots, the control block, the guest's own stores,
//! holes in memory, calls, saving. Both must show the same and leave the same in memory. A program for which they do not is printed as a
//! litmus file.
#![no_main]

#[path = "shared/compared.rs"]
mod compared;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("power9", Litmus::arbitrary_nest, compared::agrees);
