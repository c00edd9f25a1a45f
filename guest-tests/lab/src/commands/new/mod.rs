//! `pmulab new`: begins a driver or an emulator, with the files that the book shows.

pub mod arguments;
mod driver;
mod emulator;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::commands::PASSED;
use crate::error::Error;
use crate::output::Output;
use crate::text;
use arguments::{NewArguments, What};

/// A file of what is begun: its path in the folder, and its text.
type File<'a> = (&'a str, &'a str);

/// Writes what is begun, and says what to type next.
///
/// # Errors
/// The PMU is unknown, a file is there already, or one cannot be written.
pub fn new(arguments: &NewArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    match &arguments.what {
        What::Driver(arguments) => driver::begin(arguments, output)?,
        What::Emulator(arguments) => emulator::begin(arguments, output)?,
    }
    Ok(PASSED)
}

/// Writes files into a folder, none if one of them is there.
fn write(folder: &Path, files: &[File<'_>]) -> Result<(), Error> {
    if let Some(path) = files.iter().map(|(path, _)| folder.join(path)).find(|path| path.symlink_metadata().is_ok()) {
        return Err(Error::usage(format!("{} is there already: name another folder", path.display())));
    }
    for (path, text) in files {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| file.write_all(text.as_bytes()))
        });
        written.map_err(|error| Error::usage(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(())
}

/// Writes `words`, broken to the width of the output, and below them what to type.
fn tell(words: &str, commands: &[String], output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::wrap(words, output.width) {
        writeln!(output, "{line}")?;
    }
    for command in commands {
        writeln!(output, "  {command}")?;
    }
    Ok(())
}
