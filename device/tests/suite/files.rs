//! The litmus files of the repository, for the tests that run all of them.

use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::Case;

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

/// The programs of a folder of the suite, with all below it, each with its file: "k8", or "" for all.
pub(super) fn of_suite(folder: &str) -> Vec<(String, Case)> {
    let mut paths = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest-tests/litmus").join(folder), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no litmus file of {folder}");
    let read = |path: PathBuf| {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        let cases = Case::of_file(&text).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
        cases.into_iter().map(move |case| (name.clone(), case))
    };
    paths.into_iter().flat_map(read).collect()
}
