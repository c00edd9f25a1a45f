//! `pmulab completions` and `pmulab man`: what a shell and `man` have of the program.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::commands::PASSED;
use crate::error::Error;
use crate::output::Output;

/// The program's name.
const NAME: &str = "pmulab";

/// Arguments of `pmulab completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `pmulab man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder for a page of each command; without one, the page of the program is printed
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Prints the completions of a shell.
///
/// # Errors
/// The output cannot be written.
pub fn completions(arguments: &CompletionsArguments, program: &mut Command, output: &mut Output<'_>) -> Result<u8, Error> {
    // The generator panics if it cannot write: it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, program, NAME, &mut script);
    output.write_all(&script)?;
    Ok(PASSED)
}

/// Prints the manual page, or writes one of each command.
///
/// # Errors
/// The folder is none, or a page cannot be written.
pub fn man(arguments: &ManArguments, program: Command, output: &mut Output<'_>) -> Result<u8, Error> {
    match &arguments.folder {
        None => clap_mangen::Man::new(program).render(output)?,
        Some(folder) => write(folder, program, output)?,
    }
    Ok(PASSED)
}

fn write(folder: &Path, program: Command, output: &mut Output<'_>) -> Result<(), Error> {
    if !folder.is_dir() {
        return Err(Error::usage(format!("`{}` is no folder", folder.display())));
    }
    let written = clap_mangen::generate_to(program, folder);
    written.map_err(|error| Error::usage(format!("cannot write into {}: {error}", folder.display())))?;
    writeln!(output, "{}: pages of section 1; `man {}` shows the first", folder.display(), folder.join("pmulab.1").display())?;
    Ok(())
}
