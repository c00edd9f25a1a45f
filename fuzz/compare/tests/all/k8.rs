//! The K8 and its reference agree on the suite and on arbitrary programs.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::common;

#[test]
fn the_suite_of_the_k8_agrees() {
    let (programs, agreed) = common::suite("k8");
    println!("{programs} programs: {agreed:?}");
    assert!(programs > 200, "{programs} programs");
    assert_eq!((agreed.unknown_reads, agreed.unknown_interrupts, agreed.left_out), (0, 0, 0));
}

#[test]
fn of_arbitrary_programs_of_the_k8_all_is_known() {
    let agreed = common::programs("k8", 300);
    println!("{agreed:?}");
    assert!(agreed.reads > 3_000 && agreed.interrupts > 30, "{agreed:?}");
    assert!(agreed.unknown_reads * 1_000_000 <= agreed.reads, "{agreed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_the_k8_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees("k8", &bytes).map_err(TestCaseError::fail)?;
    }
}
