//! The K8 and its reference agree on the suite and on arbitrary programs.

mod common;

use proptest::prelude::*;

#[test]
fn the_suite_of_the_k8_agrees() {
    let (files, agreed) = common::suite("k8");
    println!("{files} files: {agreed:?}");
    assert!(files > 200, "{files} files");
    assert_eq!((agreed.unknown_reads, agreed.unknown_interrupts, agreed.left_out), (0, 0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_programs_of_the_k8_agree(bytes in prop::collection::vec(any::<u8>(), 16..1500)) {
        common::agrees("k8", &bytes).map_err(TestCaseError::fail)?;
    }
}
