//! `pmulab litmus`: runs litmus files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use vm_pmu::litmus::Litmus;

use crate::commands::cli::{LitmusArguments, LitmusCommand};
use crate::commands::{FAILED, PASSED, USAGE};
use crate::error::Error;
use crate::files;
use crate::number::counted;
use crate::output::Output;
use crate::suggest;

/// How the name of a litmus file ends.
const EXTENSION: &str = "litmus";

/// Runs litmus files, one line each. A file that cannot be read or understood has its line among the errors and the others still run.
///
/// # Errors
/// A path leads nowhere, or the output cannot be written.
pub fn litmus(arguments: &LitmusArguments, output: &mut Output<'_>, errors: &mut dyn Write) -> Result<u8, Error> {
    if let Some(LitmusCommand::Shrink { file }) = &arguments.command {
        return shrink(file, output);
    }
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, &mut files)?;
    }
    let (mut passed, mut failed, mut wrong, mut checked) = (0, 0, 0, 0);
    for file in &files {
        let name = file.display();
        let litmus = match read(file) {
            Ok(litmus) => litmus,
            Err(error) => {
                wrong += 1;
                error.tell(errors);
                continue;
            }
        };
        match litmus.run() {
            Ok(expectations) => {
                passed += 1;
                checked += expectations;
                writeln!(output, "ok      {name}: {}", litmus.title)?;
            }
            Err(failure) => {
                failed += 1;
                writeln!(output, "FAILED  {name}: {failure}")?;
            }
        }
    }
    let mut words = vec![format!("{}: {passed} ok", counted(files.len(), "litmus file")), format!("{failed} failed")];
    if wrong > 0 {
        words.push(format!("{wrong} not understood"));
    }
    writeln!(output, "{}; {}", words.join(", "), counted(checked, "expectation") + " met")?;
    Ok(match (wrong, failed) {
        (0, 0) => PASSED,
        (0, _) => FAILED,
        _ => USAGE,
    })
}

/// The program of a file.
pub(super) fn read(file: &Path) -> Result<Litmus, Error> {
    let text = files::read_text(file).map_err(|error| error.to_string());
    let litmus = text.and_then(|text| text.parse().map_err(|error: vm_pmu::litmus::ParseError| error.to_string()));
    litmus.map_err(|error| Error::usage(format!("{}: {error}", file.display())))
}

/// Prints a smaller file in which the same expectation sees the same, or which still breaks the contract.
fn shrink(file: &Path, output: &mut Output<'_>) -> Result<u8, Error> {
    if !file.exists() {
        return Err(missing(file));
    }
    let litmus = read(file)?;
    let small = match litmus.run() {
        Err(failure) => litmus.shrink(|smaller| smaller.run() == Err(failure.clone())),
        Ok(_) if litmus.try_contract().is_err() => litmus.shrink(|smaller| smaller.try_contract().is_err()),
        Ok(expectations) => {
            let met = counted(expectations, "expectation") + " met";
            return Err(Error::usage(format!("{}: nothing fails in it: {met}, and all embedders see the same", file.display())));
        }
    };
    write!(output, "{small}")?;
    Ok(PASSED)
}

/// Adds `path`, or the litmus files in it and below it in the order of their names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if !path.is_dir() {
        if !path.exists() {
            return Err(missing(path));
        }
        files.push(path.to_owned());
        return Ok(());
    }
    let before = files.len();
    descend(path, files)?;
    if files.len() == before {
        return Err(Error::usage(format!("{} holds no file that ends in .{EXTENSION}", path.display())));
    }
    Ok(())
}

fn descend(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |error: std::io::Error| Error::usage(format!("cannot read {}: {error}", folder.display()));
    let mut entries = fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder is not followed: it may lead back here.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            descend(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == EXTENSION) {
            files.push(path);
        }
    }
    Ok(())
}

/// The mistake of naming a file that is not there.
#[must_use]
pub fn missing(path: &Path) -> Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let hint = suggest::did_you_mean(&name, names.iter().map(String::as_str), "");
    Error::usage(format!("no file or folder `{}`{hint}", path.display()))
}
