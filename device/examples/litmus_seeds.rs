//! Writes the programs of litmus files as the bytes that a fuzzer starts from, one folder for each fuzz target.
//!
//! ```text
//! cargo run --release -p vm-pmu --all-features --example litmus_seeds -- guest-tests/litmus fuzz/corpus
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::{Case, Litmus, ParseError, Step};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [suite, out] = arguments.as_slice() else {
        return Err("write the folder of the litmus files, and the folder that the seeds go to".into());
    };
    let mut written: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in files(suite)? {
        let wrong = |errors: Vec<ParseError>| errors.first().map(|error| format!("{}: {error}", file.display())).unwrap_or_default();
        for (place, Case { litmus, .. }) in Case::of_file(&fs::read_to_string(&file)?).map_err(wrong)?.into_iter().enumerate() {
            let target = target(&litmus);
            let bytes = litmus.without_expectations().to_bytes();
            let (seeds, left_out) = written.entry(target).or_default();
            if Litmus::from_bytes(litmus.part, &bytes).is_err() {
                *left_out += 1;
                continue;
            }
            let folder = out.join(target);
            fs::create_dir_all(&folder)?;
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            fs::write(folder.join(if place == 0 { name.into_owned() } else { format!("{name}-{}", place + 1) }), bytes)?;
            *seeds += 1;
        }
    }
    for (target, (seeds, left_out)) in written {
        println!("{target}: {seeds} seeds, {left_out} programs left out, as too long or against a rule of feeds");
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
