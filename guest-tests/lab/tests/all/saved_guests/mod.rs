//! Guests of POWER and IA-64 that are saved in the middle and continue in a new machine: nothing in their report shows it.

mod again;
mod refused;
mod rigs;

use vm_pmu::arch::power9::encode::{self, EventCode, RUN_CYCLES, RUN_INSTRUCTIONS, encode};
use vm_pmu_guests::Guest;
use vm_pmu_lab::report::Report;
use vm_pmu_lab::runner::{Options, RunError, count, run};

/// Keeps the exchanges between a guest and its PMU, so that they are compared too.
fn options() -> Options {
    Options { trace: vm_pmu_board::trace::Choice::first(4000), limit: 100_000_000, ..Options::default() }
}

fn text(report: &Report) -> String {
    serde_json::to_string_pretty(report).expect("a report is text")
}

/// Compares a run that is saved after each of `parts` hundredths of its instructions with one that is not.
fn goes_on(guest: &Guest, options: &Options, parts: &[u64]) {
    let whole = run(guest.pmu, guest.name, options).expect("runs");
    assert!(whole.passed, "{} {}: {}", guest.pmu, guest.name, whole.ending);
    for part in parts {
        let steps = whole.instructions * part / 100;
        let options = Options { save_at: Some(steps), ..options.clone() };
        let report = run(guest.pmu, guest.name, &options).unwrap_or_else(|error| panic!("{} {}: {error}", guest.pmu, guest.name));
        let (before, after) = (text(&whole), text(&report));
        for (line, (one, other)) in before.lines().zip(after.lines()).enumerate() {
            assert_eq!(one, other, "{} {} saved after {steps} steps, line {line} of its report", guest.pmu, guest.name);
        }
        assert_eq!(before.len(), after.len(), "{} {} saved after {steps} steps", guest.pmu, guest.name);
    }
}

fn all_of(pmu: &str, options: &Options, parts: &[u64]) -> usize {
    vm_pmu_guests::of(pmu).map(|guest| goes_on(guest, options, parts)).count()
}

#[test]
fn every_guest_of_power9_goes_on_from_its_middle() {
    assert!(all_of("power9", &options(), &[50]) >= 19);
}

#[test]
fn every_guest_of_power9_goes_on_from_its_middle_big_endian() {
    assert!(all_of("power9", &Options { big_endian: true, ..options() }, &[37]) >= 19);
}

#[test]
fn every_guest_of_montecito_goes_on_from_its_middle() {
    assert!(all_of("montecito", &options(), &[50]) >= 16);
}

#[test]
fn every_guest_of_itanium_goes_on_from_its_middle() {
    assert!(all_of("itanium", &options(), &[50]) >= 13);
}

#[test]
fn guests_of_several_cpus_go_on_from_anywhere() {
    for guest in vm_pmu_guests::all().filter(|guest| ["power9", "montecito"].contains(&guest.pmu) && guest.cpus > 1) {
        goes_on(guest, &options(), &[1, 13, 62, 88, 99]);
    }
}

#[test]
fn guests_without_a_companion_go_on_from_their_middle() {
    for (pmu, name) in [("power9", "overflow"), ("montecito", "overflow"), ("itanium", "overflow")] {
        let guest = vm_pmu_guests::named(pmu, name).expect("a guest");
        goes_on(guest, &Options { companion: false, ..options() }, &[20, 50, 80]);
    }
}

#[test]
fn a_guest_that_has_ended_is_not_saved() {
    let guest = vm_pmu_guests::named("power9", "count").expect("a guest");
    let error = run(guest.pmu, guest.name, &Options { save_at: Some(50_000_000), ..options() }).expect_err("it is over");
    assert!(matches!(error, RunError::EndedEarly { .. }), "{error}");
}

#[test]
fn what_is_counted_beside_a_guest_goes_on_with_it() {
    let cycles = EventCode::from_bits(0x1_001E);
    let attached = [encode(&[cycles, RUN_INSTRUCTIONS, RUN_CYCLES], encode::Options::default()).expect("an encoding")];
    for name in ["count", "measured", "four-threads"] {
        let (whole, counts) = count("power9", name, &options(), &attached).expect("runs");
        let options = Options { save_at: Some(whole.instructions / 2), ..options() };
        let (report, again) = count("power9", name, &options, &attached).expect("runs");
        assert_eq!(text(&whole), text(&report), "{name}");
        assert_eq!(counts, again, "{name}");
        assert!(counts.iter().flatten().any(|count| *count != 0), "{name}");
    }
}
