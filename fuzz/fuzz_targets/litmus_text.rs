//! Arbitrary text as a litmus file: it is refused in one line, or each of its programs prints as a file that reads the same, and runs without
//! a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vm_pmu::litmus::{Case, Litmus, Step};

/// How many programs of a file are looked at.
const PROGRAMS: usize = 16;

fuzz_target!(|text: &str| Case::of_file(text).into_iter().flatten().take(PROGRAMS).for_each(|case| check(&case)));

fn check(case: &Case) {
    let litmus = &case.litmus;
    let again: Litmus = litmus.to_string().parse().expect("what is printed can be read");
    let steps = |litmus: &Litmus| litmus.steps.iter().map(|(_, step)| step.clone()).collect::<Vec<_>>();
    assert_eq!(steps(litmus), steps(&again));
    let times = |step: &Step| match step {
        Step::Feed(times, _) | Step::Record(times, ..) | Step::Request(times, _) => *times,
        _ => 0,
    };
    let repeated: u64 = litmus.steps.iter().map(|(_, step)| times(step)).fold(0, u64::saturating_add);
    if litmus.packages * litmus.threads <= 8 && repeated < 10_000 {
        let _ = case.run();
    }
}
