//! What was recorded happens again: to the litmus files of the repository, and to arbitrary programs of every part.

use arbitrary::Unstructured;
use vm_pmu::Part;
use vm_pmu::litmus::{Litmus, random_bytes};

use super::files;

/// Records a program, and runs the text of what was recorded.
fn happens_again(name: &str, litmus: &Litmus) -> Result<usize, String> {
    let recording = litmus.recorded().map_err(|failure| format!("{name}: not recorded: {failure}"))?;
    if recording.left_out != 0 {
        return Err(format!("{name}: the recording lacks {} calls", recording.left_out));
    }
    let text = recording.litmus.to_string();
    let again: Litmus = text.parse().map_err(|error| format!("{name}: {error} of\n{text}"))?;
    again.run().map_err(|failure| format!("{name}: {failure} of\n{text}"))
}

fn files_happen_again(pmu: &str) {
    let programs = files::of_suite(pmu);
    let mut failures = Vec::new();
    for (name, case) in &programs {
        let litmus = &case.litmus;
        // Nothing but statements about nests.
        if litmus.recorded().is_ok_and(|recording| recording.litmus.steps.is_empty()) {
            continue;
        }
        failures.extend(happens_again(name, litmus).err());
    }
    assert!(failures.is_empty(), "{} of {} recordings do not happen again, the first:\n{}", failures.len(), programs.len(), failures[0]);
}

fn arbitrary_programs_happen_again(pmu: &str) {
    let part = Part::named(pmu).expect("a part");
    programs_happen_again(|bytes| Litmus::arbitrary(part, bytes));
}

fn programs_happen_again(make: impl Fn(&mut Unstructured<'_>) -> arbitrary::Result<Litmus>) {
    let mut failures = Vec::new();
    for seed in 0..400 {
        let bytes = random_bytes(seed, 2000);
        let Ok(litmus) = make(&mut Unstructured::new(&bytes)) else { continue };
        failures.extend(happens_again(&format!("seed {seed}"), &litmus).err());
    }
    assert!(failures.is_empty(), "{} recordings do not happen again, the first:\n{}", failures.len(), failures[0]);
}

#[test]
fn every_file_of_the_k8_happens_again() {
    files_happen_again("k8");
}

#[test]
fn every_file_of_knights_landing_happens_again() {
    files_happen_again("knl");
}

#[test]
fn every_file_of_power9_happens_again() {
    files_happen_again("power9");
}

#[test]
fn every_file_of_the_first_itanium_happens_again() {
    files_happen_again("itanium");
}

#[test]
fn every_file_of_montecito_happens_again() {
    files_happen_again("montecito");
}

#[test]
fn arbitrary_programs_of_the_k8_happen_again() {
    arbitrary_programs_happen_again("k8");
}

#[test]
fn arbitrary_programs_of_knights_landing_happen_again() {
    arbitrary_programs_happen_again("knl");
}

#[test]
fn arbitrary_programs_of_the_boxes_happen_again() {
    programs_happen_again(Litmus::arbitrary_untile);
}

#[test]
fn arbitrary_programs_of_power9_happen_again() {
    arbitrary_programs_happen_again("power9");
}

#[test]
fn arbitrary_programs_of_the_first_itanium_happen_again() {
    arbitrary_programs_happen_again("itanium");
}

#[test]
fn arbitrary_programs_of_montecito_happen_again() {
    arbitrary_programs_happen_again("montecito");
}
