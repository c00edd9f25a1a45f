//! Guests of x86 that are saved, with their PMUs and everything else, and go on in a new machine.

use vm_pmu_guest_tests::guests::{self, Guest};
use vm_pmu_guest_tests::report::Report;
use vm_pmu_guest_tests::runner::{Options, run};

/// No guest needs as many steps. Everything is kept that can be.
fn options() -> Options {
    Options { limit: 3_000_000, trace: 500, ..Options::default() }
}

fn json(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

/// Where two reports differ first, if they do.
fn difference(whole: &Report, moved: &Report) -> Option<String> {
    let [whole, moved] = [whole, moved].map(json);
    let mut lines = whole.lines().zip(moved.lines()).enumerate();
    match lines.find(|(_, (whole, moved))| whole != moved) {
        Some((number, (whole, moved))) => Some(format!("line {number}: {} became {}", whole.trim(), moved.trim())),
        None => (whole != moved).then(|| "one is longer".to_owned()),
    }
}

/// Saves a guest after each of these many steps, and says where its report then differs from the one of a run that nobody saved.
fn moved(guest: &Guest, options: &Options, whole: &Report, places: impl Iterator<Item = u64>) -> Vec<String> {
    let at = |steps| {
        let moved = run(guest.pmu, guest.name, &Options { save_at: Some(steps), ..options.clone() });
        let differs = match moved {
            Ok(moved) => difference(whole, &moved)?,
            Err(error) => error.to_string(),
        };
        Some(format!("{} of {} after {steps} steps: {differs}", guest.name, guest.pmu))
    };
    places.filter_map(at).collect()
}

fn x86() -> impl Iterator<Item = &'static Guest> {
    guests::of("k8").chain(guests::of("knl"))
}

#[test]
fn every_guest_of_x86_goes_on_from_its_middle() {
    let mut failures = Vec::new();
    for guest in x86() {
        let whole = run(guest.pmu, guest.name, &options()).unwrap();
        assert!(whole.passed, "{}", guest.name);
        failures.extend(moved(guest, &options(), &whole, std::iter::once(whole.instructions / 2)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
