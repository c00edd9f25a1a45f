//! The PMU as a whole: what an overflow that has not been served freezes.

use super::*;
use crate::feed::{Lone, Signal};

/// PMC fields: level 0 and EM instructions; oi; all.
const COUNTS: u64 = 0x0200_0001;
const OI: u64 = 1 << 5;
const ALL: u64 = 1 << 26;
const RETIRED: u64 = 0x08 << 8;
const SERIALIZATIONS: u64 = 0x53 << 8;
/// CPU_CPL_CHANGES.ALL.
const LEVEL_CHANGES: u64 = 0xF << 16 | 0x13 << 8;

const SERIALIZATION: Occurrence = Occurrence { select: 0x53, umask: 0 };

/// A thread with user monitors enabled, which has retired the instruction at which PMD4 overflows and was not served. PMC5 is `other`.
fn overflowed(other: u64) -> (Lone, Montecito) {
    let (thread, mut pmu) = (Lone::new(), Montecito::new(Revision::default()));
    pmu.set_context(Context::ia64(1 << 2, 0), &thread);
    let writes = [(Address::Pmd(4), (1 << 47) - 1), (Address::Pmc(4), COUNTS | RETIRED | OI), (Address::Pmc(5), COUNTS | other)];
    for (address, value) in writes {
        assert_eq!(pmu.write(address, value, &thread), Ok(()));
    }
    thread.totals.add(Signal::InstructionsRetired, 1);
    (thread, pmu)
}

fn is_untouched(mut pmu: Montecito, thread: &Lone) -> bool {
    pmu.read(Address::Pmd(5), thread) == Ok(0)
}

#[test]
fn what_was_counted_before_an_injection_freezes_before_it() {
    let (thread, mut pmu) = overflowed(SERIALIZATIONS);
    assert!(!pmu.inject(SERIALIZATION, 1, &thread));
    assert!(is_untouched(pmu, &thread));
}

#[test]
fn what_was_counted_before_an_injection_into_the_other_thread_freezes_before_it() {
    let (thread, mut pmu) = overflowed(SERIALIZATIONS | ALL);
    let tags = pmu.injection_tags();
    assert!(!pmu.inject_from_sibling(SERIALIZATION, 1, tags, &thread));
    assert!(is_untouched(pmu, &thread));
}

#[test]
fn what_was_counted_before_a_change_of_the_other_thread_freezes_before_it() {
    let (thread, mut pmu) = overflowed(LEVEL_CHANGES | ALL);
    pmu.notify(None, Made::change_of_level(0, 3).to_word(), &thread);
    assert!(is_untouched(pmu, &thread));
}
