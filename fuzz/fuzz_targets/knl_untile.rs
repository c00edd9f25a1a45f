//! Arbitrary sequences about the boxes that the threads of a Knights Landing part share: register accesses, clocks, events in a box,
//! queues, requests, saving. However clocks are divided and whether or not the machine is saved on the way, the results must be the same. A
//! sequence that breaks that is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("knl", Litmus::arbitrary_untile, contract::contract);
