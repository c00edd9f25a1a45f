//! What a command requests of the code that runs guests.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use vm_pmu_board::beside::{Found, Plan};

use crate::metrics;
use crate::report::Report;
use crate::runner::Options;

/// A guest that a [`Runner`] knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GuestInfo {
    /// Its name.
    pub name: String,
    /// The PMU that it drives. A guest for several PMUs is there once for each.
    pub pmu: String,
    /// How many hardware threads it runs on.
    pub threads: usize,
    /// What it shows, in one line.
    pub summary: String,
}

/// Which guest to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guest {
    /// One that the runner knows.
    Named(String),
    /// An ELF file.
    File(PathBuf),
}

impl Guest {
    /// The name, or the path.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Guest::Named(name) => name.clone(),
            Guest::File(path) => path.display().to_string(),
        }
    }
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRequest {
    /// The PMU's name; one that the registry knows.
    pub pmu: String,
    /// The guest.
    pub guest: Guest,
    /// The engine's name; one that the runner knows.
    pub engine: String,
    /// How it is run.
    pub options: Options,
}

/// Whoever can run guests.
pub trait Runner {
    /// The guests that it knows by name.
    fn guests(&self) -> Vec<GuestInfo>;

    /// The names of its engines.
    fn engines(&self) -> Vec<&'static str> {
        vec!["interpreter"]
    }

    /// Whether an engine executes guests for a PMU; those that it does not are left out of `all`.
    fn executes(&self, _engine: &str, _pmu: &str) -> bool {
        true
    }

    /// Runs a guest.
    ///
    /// # Errors
    /// Why the guest could not be run, in one line; that it ran and failed is in the report.
    fn run(&self, request: &RunRequest) -> Result<Report, String>;

    /// Runs a guest, and counts the codes of each of `runs` in addition to what the guest itself programs. Returns the counts of each
    /// run, in the order of its codes. All threads' counts are added up.
    ///
    /// # Errors
    /// Why the guest could not be run, or why nothing can be counted in addition, in one line.
    fn count(&self, request: &RunRequest, _runs: &[metrics::Run]) -> Result<(Report, Vec<Vec<u64>>), String> {
        Err(format!("the engine {} counts only what the guest programs: leave out `--metric`", request.engine))
    }

    /// As [`count`](Runner::count), with each event on its counter: for parts whose events are chosen by a counter's own register.
    ///
    /// # Errors
    /// Why the guest could not be run, or why nothing can be counted in addition, in one line.
    fn count_placed(&self, request: &RunRequest, _runs: &[Vec<metrics::Placed>]) -> Result<(Report, Vec<Vec<u64>>), String> {
        Err(format!("the engine {} counts only what the guest programs on {}: leave out `--metric`", request.engine, request.pmu))
    }

    /// Runs a guest with a PMU of the same part beside the guest's own, which counts by `plan`. Returns what it found of each thread.
    ///
    /// # Errors
    /// Why the guest could not be run, or why nothing can be counted from outside, in one line.
    fn observe(&self, request: &RunRequest, _plan: &Arc<Plan>) -> Result<(Report, Vec<Found>), String> {
        Err(format!("the engine {} counts only what the guest programs", request.engine))
    }
}

/// A runner that knows no guest.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGuests;

impl Runner for NoGuests {
    fn guests(&self) -> Vec<GuestInfo> {
        Vec::new()
    }

    fn run(&self, _request: &RunRequest) -> Result<Report, String> {
        Err("this build has no engine".to_owned())
    }
}
