//! The runner of this build: its guests, and the engines that execute them.

use super::run::{Guest, GuestInfo, RunRequest, Runner};
use crate::guests;
use crate::report::Report;
use crate::runner::{self, RunError};

/// Runs the project's guests, and ELF files, on the engines that this build has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engines;

impl Runner for Engines {
    fn guests(&self) -> Vec<GuestInfo> {
        let info = |guest: &guests::Guest| GuestInfo {
            name: guest.name.to_owned(),
            pmu: guest.pmu.to_owned(),
            threads: guest.cpus,
            summary: guest.summary.to_owned(),
        };
        guests::all().map(info).collect()
    }

    fn engines(&self) -> Vec<&'static str> {
        vec!["interp"]
    }

    fn run(&self, request: &RunRequest) -> Result<Report, String> {
        let name = match &request.guest {
            Guest::Named(name) => name.clone(),
            // A path without a separator must not be taken for the name of a guest.
            Guest::File(path) if path.components().count() == 1 => format!("./{}", path.display()),
            Guest::File(path) => path.display().to_string(),
        };
        runner::run(&request.pmu, &name, &request.options).map_err(|error| match error {
            // The path stands before the message already.
            RunError::Unreadable { error, .. } => format!("it cannot be read: {error}"),
            RunError::BadImage { error, .. } => format!("it is not a guest: {error}"),
            error => error.to_string(),
        })
    }
}
