//! The runner of this build: its guests, and the engines that execute them.

use std::sync::Arc;

use vm_pmu::Part;
use vm_pmu::arch::power9::COUNTERS;
use vm_pmu::arch::power9::encode::{self, Encoding};

use crate::metrics::{Placed, Run};
use crate::report::Report;
use crate::request::{Guest, GuestInfo, RunRequest, Runner};
use crate::runner::{self, Engine, RunError};
use crate::stat::placed;
use vm_pmu_board::beside::{Found, Plan};
use vm_pmu_guests as guests;

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
        Engine::built().map(Engine::name).collect()
    }

    fn executes(&self, engine: &str, pmu: &str) -> bool {
        Engine::named(engine).is_none_or(|engine| engine.executes(pmu))
    }

    fn run(&self, request: &RunRequest) -> Result<Report, String> {
        runner::run(&request.pmu, &name(&request.guest), &options(request)?).map_err(said)
    }

    fn count(&self, request: &RunRequest, runs: &[Run]) -> Result<(Report, Vec<Vec<u64>>), String> {
        let encodings: Result<Vec<_>, _> = runs.iter().map(|run| run.encoding(encode::Options::default())).collect();
        let encodings = encodings.map_err(|refusal| refusal.to_string())?;
        let (report, counts) = runner::count(&request.pmu, &name(&request.guest), &options(request)?, &encodings).map_err(said)?;
        let of = |(run, (encoding, counters)): (&Run, (&Encoding, &[u64; COUNTERS]))| -> Vec<u64> {
            let count = |index| encoding.counter_of(index).and_then(|counter| counters.get(usize::from(counter) - 1)).copied();
            (0..run.counted.len()).map(|index| count(index).unwrap_or(0)).collect()
        };
        Ok((report, runs.iter().zip(encodings.iter().zip(&counts)).map(of).collect()))
    }

    fn observe(&self, request: &RunRequest, plan: &Arc<Plan>) -> Result<(Report, Vec<Found>), String> {
        runner::observe(&request.pmu, &name(&request.guest), &options(request)?, plan).map_err(said)
    }

    fn count_placed(&self, request: &RunRequest, runs: &[Vec<Placed>]) -> Result<(Report, Vec<Vec<u64>>), String> {
        let part = Part::named(&request.pmu).ok_or_else(|| format!("there is no PMU `{}`", request.pmu))?;
        let mut whole = None;
        let mut counts = Vec::with_capacity(runs.len());
        for run in runs {
            let (report, counted) = placed::count(part, run, &|plan| self.observe(request, plan))?;
            whole.get_or_insert(report);
            counts.push(counted);
        }
        let report = whole.map_or_else(|| self.run(request), Ok)?;
        Ok((report, counts))
    }
}

/// How the request has the guest run.
fn options(request: &RunRequest) -> Result<runner::Options, String> {
    let engine = Engine::named(&request.engine).ok_or_else(|| format!("there is no engine `{}`", request.engine))?;
    Ok(runner::Options { engine, ..request.options.clone() })
}

/// What the runner knows a guest by.
fn name(guest: &Guest) -> String {
    match guest {
        Guest::Named(name) => name.clone(),
        // A path without a separator must not be taken for the name of a guest.
        Guest::File(path) if path.components().count() == 1 => format!("./{}", path.display()),
        Guest::File(path) => path.display().to_string(),
    }
}

/// What is said of a guest that could not be run.
fn said(error: RunError) -> String {
    match error {
        // The message already begins with the path.
        RunError::Unreadable { error, .. } => format!("it cannot be read: {error}"),
        RunError::BadImage { error, .. } => format!("it is not a guest: {}", runner::refused(&error)),
        error => error.to_string(),
    }
}
