//! A run in stretches, so that it ends in time, or when somebody wants it to, and shows how far it is.

use std::time::{Duration, Instant};

use super::{Options, RunError};
use crate::interrupt::{self, Running};
use crate::number::grouped;
use crate::progress::Progress;

/// The steps of a stretch: some tenths of a second.
const STRETCH: u64 = 1 << 19;

/// Why a run was given up before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// It had taken so many steps as it may.
    Steps,
    /// It had taken as long as it may.
    Time,
    /// Somebody wanted it to end, after so many steps.
    Interrupted(u64),
}

impl GivenUp {
    /// The same in words.
    pub(super) fn told(self, options: &Options) -> String {
        match self {
            GivenUp::Steps => format!("not done after {}: --steps allows more", options.steps()),
            GivenUp::Time => format!("not done after {} s: --seconds allows more", options.seconds),
            GivenUp::Interrupted(steps) => format!("interrupted after {} steps", grouped(steps)),
        }
    }
}

/// Has `run` take at most `steps`, a stretch at a time. It returns `limit` where it has taken all of a stretch. Returns how the run has
/// ended, and why it was given up if that is `limit`.
pub(super) fn paced<E: PartialEq>(
    options: &Options,
    steps: u64,
    limit: &E,
    mut run: impl FnMut(u64) -> Result<E, RunError>,
) -> Result<(E, Option<GivenUp>), RunError> {
    let _running = Running::begin();
    let longest = Duration::from_secs(options.seconds);
    let began = Instant::now();
    let mut progress = Progress::new("steps", 0);
    let mut taken = 0;
    loop {
        let stretch = STRETCH.min(steps - taken);
        let exit = run(stretch)?;
        if exit != *limit {
            return Ok((exit, None));
        }
        taken += stretch;
        let given_up = match () {
            () if taken >= steps => GivenUp::Steps,
            () if interrupt::is_requested() => GivenUp::Interrupted(taken),
            () if began.elapsed() >= longest => GivenUp::Time,
            () => {
                progress.tell(|| format!("{} steps in {} s; Ctrl-C ends the run", grouped(taken), began.elapsed().as_secs()));
                continue;
            }
        };
        progress.finish();
        return Ok((exit, Some(given_up)));
    }
}
