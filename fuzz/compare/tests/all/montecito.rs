//! Montecito and its reference agree on the suite and on arbitrary programs.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::common;

#[test]
fn the_suite_of_montecito_agrees() {
    let (programs, agreed) = common::suite("montecito");
    println!("{programs} programs: {agreed:?}");
    assert!(programs > 490 && agreed.reads > 20_000, "{programs} programs: {agreed:?}");
}

#[test]
fn of_arbitrary_programs_of_montecito_most_is_known() {
    let agreed = common::programs("montecito", 300);
    println!("{agreed:?}");
    assert!(agreed.reads > 10 * agreed.unknown_reads && agreed.reads > 3_000, "{agreed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(5), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_montecito_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees("montecito", &bytes).map_err(TestCaseError::fail)?;
    }
}
