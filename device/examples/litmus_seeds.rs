//! Writes the programs of litmus files as the bytes that a fuzzer starts from, one folder for each fuzz target.
//!
//! ```text
//! cargo run --release -p vm-pmu --all-features --example litmus_seeds -- guest-tests/litmus fuzz/corpus
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::{Litmus, Step};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [suite, out] = arguments.as_slice() else {
        return Err("write the folder of the litmus files, and the folder that the seeds go to".into());
    };
    let mut written: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in files(suite)? {
        let litmus: Litmus = fs::read_to_string(&file)?.parse().map_err(|error| format!("{}: {error}", file.display()))?;
        let target = target(&litmus);
        let bytes = litmus.without_expectations().to_bytes();
        let (seeds, left_out) = written.entry(target).or_default();
        if Litmus::from_bytes(litmus.part, &bytes).is_err() {
            *left_out += 1;
            continue;
        }
        let folder = out.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(file.file_stem().unwrap_or_default()), bytes)?;
        *seeds += 1;
    }
    for (target, (seeds, left_out)) in written {
        println!("{target}: {seeds} seeds, {left_out} files left out, as too long or against a rule of feeds");
    }
    Ok(())
}

/// The target whose programs the file is one of.
fn target(litmus: &Litmus) -> &'static str {
    let has = |wanted: fn(&Step) -> bool| litmus.steps.iter().any(|(_, step)| wanted(step));
    match litmus.part.name() {
        "knl" if has(|step| matches!(step, Step::Untile(_))) => "knl_untile",
        "knl" => "knl_tile",
        "power9" if has(|step| matches!(step, Step::Nest(_))) => "power9_nest",
        name => name_of(name),
    }
}

/// The name of a part whose target has the same.
fn name_of(name: &str) -> &'static str {
    vm_pmu::arch::registry::NAMES.iter().find(|known| **known == name).copied().unwrap_or_default()
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
