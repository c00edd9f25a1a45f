//! What the litmus files of the repository expect comes true.
//!
//! Nothing but this crate is built for it, so it is the first test that a changed rule meets.

mod files;
#[cfg(all(feature = "recording", feature = "arbitrary"))]
mod recording;

/// Runs every file of a PMU's folder.
fn comes_true(pmu: &str) {
    let programs = files::of_suite(pmu);
    let (mut failures, mut checked) = (Vec::new(), 0);
    for (name, case) in &programs {
        let title = &case.litmus.title;
        match case.run() {
            Ok(0) => failures.push(format!("{name}: {title}: it expects nothing")),
            Ok(expectations) => checked += expectations,
            Err(failure) => failures.push(format!("{name}:{}: {} [{title}, {}]", failure.line, failure.message, case.litmus.section)),
        }
    }
    println!("{} programs, {checked} expectations", programs.len());
    assert!(failures.is_empty(), "{} of {} programs do not come true:\n{}", failures.len(), programs.len(), failures.join("\n"));
}

#[test]
fn every_file_of_the_k8_comes_true() {
    comes_true("k8");
}

#[test]
fn every_file_of_knights_landing_comes_true() {
    comes_true("knl");
}

#[test]
fn every_file_of_power9_comes_true() {
    comes_true("power9");
}

#[test]
fn every_file_of_the_first_itanium_comes_true() {
    comes_true("itanium");
}

#[test]
fn every_file_of_montecito_comes_true() {
    comes_true("montecito");
}
