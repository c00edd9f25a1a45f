//! Knights Landing, its threads and its boxes, and the references agree on the suite and on arbitrary programs.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use vm_pmu::litmus::Litmus;

use super::common;

#[test]
fn the_suite_of_knights_landing_agrees() {
    let (programs, agreed) = common::suite("knl");
    println!("{programs} programs: {agreed:?}");
    assert!(programs > 400, "{programs} programs");
    assert_eq!((agreed.unknown_reads, agreed.left_out), (0, 0));
}

#[test]
fn of_arbitrary_programs_of_knights_landing_most_is_known() {
    let agreed = common::programs("knl", 300);
    println!("{agreed:?}");
    assert!(agreed.reads > 3_000 && agreed.interrupts > 30, "{agreed:?}");
    assert!(agreed.unknown_reads * 20 <= agreed.reads, "{agreed:?}");
}

#[test]
fn of_arbitrary_programs_of_the_untile_all_is_known() {
    let agreed = common::programs_of(Litmus::arbitrary_untile, 300);
    println!("{agreed:?}");
    assert!(agreed.reads > 100_000 && agreed.interrupts > 20, "{agreed:?}");
    assert_eq!((agreed.unknown_reads, agreed.unknown_interrupts, agreed.left_out), (0, 0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(2), max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_knights_landing_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees("knl", &bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn arbitrary_programs_of_the_untile_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees_of(Litmus::arbitrary_untile, &bytes).map_err(TestCaseError::fail)?;
    }
}
