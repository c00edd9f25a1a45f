//! The kit of the repository that builds and boots an emulator.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::Error;
use crate::files;
use crate::output::Output;

/// The folder of the kit in the repository.
const FOLDER: &str = "device/qemu";

/// The kit for QEMU.
pub(super) struct Kit(PathBuf);

impl Kit {
    /// The kit in `given`, in the repository in which the program is called, or in that from which it was built.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn find(given: Option<&Path>) -> Result<Kit, Error> {
        let is_kit = |folder: &PathBuf| folder.join("boot").is_file();
        if let Some(folder) = given {
            let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            return Some(absolute).filter(is_kit).map(Kit).ok_or_else(|| {
                Error::usage(format!("{} is not the kit for QEMU: it has no `boot`; in the repository it is {FOLDER}", folder.display()))
            });
        }
        files::in_repository(FOLDER, is_kit).map(Kit).ok_or_else(|| {
            Error::usage(format!(
                "the kit for QEMU is not installed with pmulab: call it in the repository, or say with --kit where {FOLDER} is"
            ))
        })
    }

    /// The newest emulator that the kit has built, if it has.
    pub(super) fn built(&self, program: &str) -> bool {
        let builds = self.0.join("../../target/qemu/build");
        let folders = std::fs::read_dir(builds).into_iter().flatten().flatten();
        folders
            .filter(|folder| !folder.file_name().to_string_lossy().ends_with("-plain"))
            .any(|folder| folder.path().join(program).is_file())
    }

    /// Builds a version, and returns where `program` is.
    ///
    /// # Errors
    /// It could not be built: the kit has said why.
    pub(super) fn build(&self, version: &str, program: &str) -> Result<PathBuf, Error> {
        let built = self.command("build").arg(version).stderr(Stdio::inherit()).output().map_err(|error| self.unusable(&error))?;
        let printed = String::from_utf8_lossy(&built.stdout);
        let path = printed.lines().map(PathBuf::from).find(|path| path.file_name().is_some_and(|name| name == program));
        path.filter(|_| built.status.success()).ok_or_else(|| Error::usage(format!("the kit built no {program} of QEMU {version}")))
    }

    /// Boots a guest, and shows what it prints as it comes. An empty line is the last one, if there is any.
    ///
    /// # Errors
    /// The kit could not be started, or the output cannot be written.
    pub(super) fn boot(&self, words: &[String], output: &mut Output<'_>) -> Result<ExitStatus, Error> {
        let mut booted = self.command("boot").args(words).stdout(Stdio::piped()).spawn().map_err(|error| self.unusable(&error))?;
        let mut console = BufReader::new(booted.stdout.take().ok_or_else(|| Error::usage("the guest has no console"))?);
        let mut line = Vec::new();
        let mut is_apart = true;
        while console.read_until(b'\n', &mut line)? != 0 {
            // What the guest prints need not be text.
            write!(output, "{}", String::from_utf8_lossy(&line))?;
            output.flush()?;
            is_apart = line.trim_ascii().is_empty();
            line.clear();
        }
        if !is_apart {
            writeln!(output)?;
        }
        Ok(booted.wait()?)
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join(name));
        command.stdin(Stdio::null());
        command
    }

    fn unusable(&self, error: &std::io::Error) -> Error {
        Error::usage(format!("the kit in {} cannot be started: {error}", self.0.display()))
    }
}
