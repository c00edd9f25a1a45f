//! Model and reference of the first Itanium agree on every read, fault and interrupt, in the litmus files and in arbitrary programs.

mod comparison;

use proptest::prelude::*;
use vm_pmu::litmus::Litmus;
use vm_pmu_reference::Reference;
use vm_pmu_reference::itanium::Itanium;

fn reference(program: &Litmus) -> Box<dyn Reference> {
    Box::new(Itanium::new(program.packages * program.threads))
}

#[test]
fn the_litmus_files_look_the_same_to_model_and_reference() {
    comparison::compare_files("itanium", |_| true, reference);
}

proptest! {
    // Dropping statements shrinks a program better than dropping bytes.
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_arbitrary_program_looks_the_same_to_model_and_reference(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        comparison::compare_bytes("itanium", &bytes, reference).map_err(TestCaseError::fail)?;
    }
}
