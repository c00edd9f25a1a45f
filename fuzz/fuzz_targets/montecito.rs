//! Arbitrary sequences of register accesses, feeds, records, changes of context and injections on a Montecito core of one or two threads:
//! the contract must hold. A sequence that breaks it is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("montecito", |bytes| Litmus::arbitrary(program::part("montecito"), bytes), contract::contract);
