//! The contract of every model, on arbitrary programs: exact, batching never shows, whole, total.

use arbitrary::Unstructured;
use proptest::prelude::*;
use vm_pmu::Part;
use vm_pmu::litmus::Litmus;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_arbitrary_program_looks_the_same_to_every_embedder(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for name in vm_pmu::arch::registry::NAMES {
            let part = Part::named(name).expect("it is in the list");
            let Ok(litmus) = Litmus::arbitrary(part, &mut Unstructured::new(&bytes)) else { continue };
            litmus.try_contract().map_err(|broken| TestCaseError::fail(broken.to_string()))?;
        }
    }
}
