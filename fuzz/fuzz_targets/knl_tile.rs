//! Arbitrary sequences of register accesses, feeds, requests that leave the caches, changes of context and injections on the threads of
//! a Knights Landing tile: the contract must hold. A sequence that breaks it is printed as a litmus file.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::Part;
use vm_pmu::litmus::Litmus;

fuzz_target!(|bytes: &[u8]| {
    let part = Part::named("knl").expect("the part is known");
    let Ok(litmus) = Litmus::arbitrary(part, &mut Unstructured::new(bytes)) else { return };
    if let Err(broken) = litmus.try_contract() {
        panic!("the contract is broken: {broken}");
    }
});
