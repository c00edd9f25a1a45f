//! The litmus files of the repository, for the tests that run all of them.

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

/// The files of a folder of the suite, with all below it, and the program of each: "k8", or "" for all.
pub(super) fn of_suite(folder: &str) -> Vec<(String, Litmus)> {
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-tests/litmus").join(folder), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no litmus file of {folder}");
    let read = |path: PathBuf| {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let program = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, program)
    };
    paths.into_iter().map(read).collect()
}
