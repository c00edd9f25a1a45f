//! Arbitrary sequences about the nest of POWER9 chips: events, slots, the control block, the guest's own stores, holes in memory, calls,
//! saving. However cycles are divided and whether or not the machine is saved on the way, memory and counters must end the same. A sequence
//! that breaks that is printed as a litmus file.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use vm_pmu::litmus::Litmus;

fuzz_target!(|bytes: &[u8]| {
    let Ok(litmus) = Litmus::arbitrary_nest(&mut Unstructured::new(bytes)) else { return };
    if let Err(broken) = litmus.try_contract() {
        panic!("the contract is broken: {broken}");
    }
});
