//! Arbitrary sequences of register accesses, feeds, records, changes of context and injections on a first Itanium: the contract must hold.
//! A sequence that breaks it is printed as a litmus file.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::Part;
use vm_pmu::litmus::Litmus;

fuzz_target!(|bytes: &[u8]| {
    let part = Part::named("itanium").expect("the part is known");
    let Ok(litmus) = Litmus::arbitrary(part, &mut Unstructured::new(bytes)) else { return };
    if let Err(broken) = litmus.try_contract() {
        panic!("the contract is broken: {broken}");
    }
});
