//! POWER9's cores and nests and their references agree on the suite and on arbitrary programs.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use vm_pmu::litmus::Litmus;

use super::common;

#[test]
fn the_suite_of_power9_agrees() {
    let (programs, agreed) = common::suite("power9");
    println!("{programs} programs: {agreed:?}");
    assert!(programs > 800 && agreed.reads > 20_000 && agreed.nests > 40_000, "{programs} programs: {agreed:?}");
}

#[test]
fn of_arbitrary_programs_of_power9_most_is_known() {
    let agreed = common::programs("power9", 300);
    println!("{agreed:?}");
    assert!(agreed.reads > 10 * agreed.unknown_reads && agreed.reads > 3_000, "{agreed:?}");
}

#[test]
fn of_arbitrary_programs_of_the_nest_most_is_known() {
    let agreed = common::programs_of(Litmus::arbitrary_nest, 300);
    println!("{agreed:?}");
    assert!(agreed.nests > 10 * agreed.unknown_nests && agreed.nests > 50_000 && agreed.left_out == 0, "{agreed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(3), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_power9_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees("power9", &bytes).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    // Each has hundreds of slots.
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(3), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_the_nest_agree(bytes in prop::collection::vec(any::<u8>(), 16..2000)) {
        common::agrees_of(Litmus::arbitrary_nest, &bytes).map_err(TestCaseError::fail)?;
    }
}
