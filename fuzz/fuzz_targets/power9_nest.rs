//! Arbitrary sequences about the nest of POWER9 chips: events, slots, the control block, the guest's own stores, holes in memory, calls,
//! saving. However cycles are divided and whether or not the machine is saved on the way, memory and counters must end the same. A sequence
//! that breaks that is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("power9", Litmus::arbitrary_nest, contract::contract);
