//! Arbitrary sequences of register accesses, feeds, requests that leave the caches, changes of context and injections: the threads of a
//! Knights Landing tile and their reference must show the same. A sequence on which they disagree is printed as a litmus file.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::Part;
use vm_pmu::litmus::Litmus;

fuzz_target!(|bytes: &[u8]| {
    let part = Part::named("knl").expect("the part is known");
    let Ok(litmus) = Litmus::arbitrary(part, &mut Unstructured::new(bytes)) else { return };
    if let Err(disagreement) = vm_pmu_compare::compare(&litmus) {
        panic!("they disagree: {disagreement}");
    }
});
