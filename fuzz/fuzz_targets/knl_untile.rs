//! Arbitrary sequences about the boxes that the threads of a Knights Landing part share: register accesses, clocks, events in a box,
//! queues, requests, saving. However clocks are divided and whether or not the machine is saved on the way, the results must be the same. A
//! sequence that breaks that is printed as a litmus file.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::litmus::Litmus;

fuzz_target!(|bytes: &[u8]| {
    let Ok(litmus) = Litmus::arbitrary_untile(&mut Unstructured::new(bytes)) else { return };
    if let Err(broken) = litmus.try_contract() {
        panic!("the contract is broken: {broken}");
    }
});
