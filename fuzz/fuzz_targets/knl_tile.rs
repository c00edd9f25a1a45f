//! Arbitrary sequences of register accesses, feeds, requests that leave the caches, changes of context and injections on the threads of
//! a Knights Landing tile: the contract must hold. A sequence that breaks it is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("knl", |bytes| Litmus::arbitrary(program::part("knl"), bytes), contract::contract);
