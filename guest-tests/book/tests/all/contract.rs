//! The contract of every model, on arbitrary programs: overflows are exact, batches cannot be seen, saving loses nothing, and every access has
//! an answer.

use std::fs;
use std::path::Path;

use arbitrary::Unstructured;
use proptest::prelude::*;
use vm_pmu::Part;
use vm_pmu::litmus::{Case, Litmus};

#[test]
fn every_litmus_file_looks_the_same_to_every_embedder() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus");
    for file in vm_pmu_book::litmus_files(&suites).expect("the suites can be read") {
        for case in Case::of_file(&fs::read_to_string(&file).expect("it can be read")).expect("it is a litmus file") {
            if let Err(broken) = case.litmus.try_contract() {
                panic!("{}: {broken}", file.display());
            }
        }
    }
}

/// So many programs, or as many as PROPTEST_CASES says if that is more.
const PROGRAMS: u32 = 500;

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: asked.cases.max(PROGRAMS), failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_arbitrary_program_looks_the_same_to_every_embedder(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for name in vm_pmu::arch::registry::NAMES {
            let part = Part::named(name).expect("it is in the list");
            let Ok(litmus) = Litmus::arbitrary(part, &mut Unstructured::new(&bytes)) else { continue };
            litmus.try_contract().map_err(|broken| TestCaseError::fail(broken.to_string()))?;
        }
    }

    #[test]
    fn an_arbitrary_program_of_the_boxes_looks_the_same_to_every_embedder(bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
        if let Ok(litmus) = Litmus::arbitrary_untile(&mut Unstructured::new(&bytes)) {
            litmus.try_contract().map_err(|broken| TestCaseError::fail(broken.to_string()))?;
        }
    }

    #[test]
    fn an_arbitrary_program_of_the_nest_looks_the_same_to_every_embedder(bytes in proptest::collection::vec(any::<u8>(), 0..250)) {
        if let Ok(litmus) = Litmus::arbitrary_nest(&mut Unstructured::new(&bytes)) {
            litmus.try_contract().map_err(|broken| TestCaseError::fail(broken.to_string()))?;
        }
    }
}
