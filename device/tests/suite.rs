//! What the litmus files of the repository expect comes true.
//!
//! Nothing but this crate is built for it, so it is the first test that a changed rule meets.

use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::Litmus;

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            paths.push(path);
        }
    }
}

/// Runs every file of a PMU's folder.
fn comes_true(pmu: &str) {
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-tests/litmus").join(pmu), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no litmus file of {pmu}");
    let (mut failures, mut checked) = (Vec::new(), 0);
    for path in &paths {
        let shown = path.display();
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{shown}: {error}"));
        let litmus: Litmus = text.parse().unwrap_or_else(|error| panic!("{shown}: {error}"));
        match litmus.run() {
            Ok(0) => failures.push(format!("{shown}: it expects nothing")),
            Ok(expectations) => checked += expectations,
            Err(failure) => failures.push(format!("{shown}:{}: {} [{}]", failure.line, failure.message, litmus.section)),
        }
    }
    println!("{} files, {checked} expectations", paths.len());
    assert!(failures.is_empty(), "{} of {} files do not come true:\n{}", failures.len(), paths.len(), failures.join("\n"));
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
