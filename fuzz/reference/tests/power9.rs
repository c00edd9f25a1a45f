//! Model and reference of POWER9 agree on every read, fault and line, in the litmus files and in arbitrary programs.

mod comparison;

use proptest::prelude::*;
use vm_pmu::litmus::{Litmus, Step};
use vm_pmu_reference::Reference;
use vm_pmu_reference::power9::Power9;

fn reference(program: &Litmus) -> Box<dyn Reference> {
    Box::new(Power9::new(program.packages, program.threads))
}

/// The nest posts into memory, and belongs to no core.
fn is_of_cores(program: &Litmus) -> bool {
    !program.steps.iter().any(|(_, step)| matches!(step, Step::Nest(_)))
}

#[test]
fn the_litmus_files_look_the_same_to_model_and_reference() {
    comparison::compare_files("power9", is_of_cores, reference);
}

proptest! {
    // Dropping statements shrinks a program better than dropping bytes.
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn an_arbitrary_program_looks_the_same_to_model_and_reference(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        comparison::compare_bytes("power9", &bytes, reference).map_err(TestCaseError::fail)?;
    }
}
