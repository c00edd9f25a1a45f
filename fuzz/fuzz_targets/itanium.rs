//! Arbitrary sequences of register accesses, feeds, records, changes of context and injections on a first Itanium: the contract must hold.
//! A sequence that breaks it is printed as a litmus file.
#![no_main]

#[path = "shared/contract.rs"]
mod contract;
#[path = "shared/program.rs"]
mod program;

use vm_pmu::litmus::Litmus;

program::program_target!("itanium", |bytes| Litmus::arbitrary(program::part("itanium"), bytes), contract::contract);
