//! Arbitrary sequences of register accesses, feeds, changes of context and injections: the contract must hold. A sequence that breaks
//! it is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("k8", |bytes| Litmus::arbitrary(program::part("k8"), bytes), contract::contract);
