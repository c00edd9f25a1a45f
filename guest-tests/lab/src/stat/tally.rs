//! What came of counting.

use std::sync::Arc;

use vm_pmu_board::beside::{Found, Plan};

use super::Grouping;
use crate::report::Report;
use crate::request::{RunRequest, Runner};

/// The counts of an event, one of each repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The counts, scaled up where groups took turns; nothing where the event never had its turn.
    pub counts: Vec<f64>,
    /// The share of the time in which it was counted, from 0 to 1.
    pub share: f64,
    /// The cycles in which it was counted, of all threads, in the last repetition.
    pub cycles: u64,
}

impl Tally {
    /// The mean of the counts.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.counts.is_empty()).then(|| self.counts.iter().sum::<f64>() / self.counts.len() as f64)
    }

    /// The standard deviation of the mean, in parts of it; 0 for a single count.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let (Some(mean), repeats) = (self.mean(), self.counts.len() as f64) else { return 0.0 };
        if repeats < 2.0 || mean == 0.0 {
            return 0.0;
        }
        let squares: f64 = self.counts.iter().map(|count| (count - mean).powi(2)).sum();
        (squares / (repeats - 1.0) / repeats).sqrt() / mean
    }
}

/// A guest and what was counted of it.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The report of the last run.
    pub report: Report,
    /// One of each event.
    pub tallies: Vec<Tally>,
    /// How often the guest ran in one repetition.
    pub runs: usize,
    /// Cycles of all threads in the last run.
    pub cycles: u64,
}

/// Counts the events of `grouping` in runs of `request`, `repeats` times. With `turns`, all groups take turns of so many cycles in one run;
/// otherwise each has a run, in which it counts from the beginning to the end.
///
/// # Errors
/// Why the guest could not be run, in one line.
pub fn measure(
    request: &RunRequest,
    runner: &dyn Runner,
    grouping: &Grouping,
    turns: Option<u64>,
    repeats: usize,
) -> Result<Measured, String> {
    let plans: Vec<Arc<Plan>> = match turns {
        Some(cycles) if grouping.groups.len() > 1 => vec![Arc::new(Plan::Multiplex { groups: grouping.groups.clone(), cycles })],
        _ => grouping.groups.iter().cloned().map(Plan::Count).map(Arc::new).collect(),
    };
    let mut measured = Measured { runs: plans.len(), ..Measured::default() };
    measured.tallies = vec![Tally::default(); grouping.events.len()];
    for _ in 0..repeats.max(1) {
        let mut first = 0;
        for plan in &plans {
            let (report, found) = runner.observe(request, plan)?;
            let groups = first..first + plan.groups().len();
            measured.cycles = found.iter().map(|thread| thread.cycles).sum();
            for (event, tally) in grouping.events.iter().zip(&mut measured.tallies).filter(|(event, _)| groups.contains(&event.place.0)) {
                add(tally, &found, event.place.0 - first, event.place.1);
            }
            first = groups.end;
            let failed_before = !measured.report.passed && !measured.report.ending.is_empty();
            if !failed_before {
                measured.report = report;
            }
        }
    }
    Ok(measured)
}

/// Adds what a run found of the event at a place of a group.
fn add(tally: &mut Tally, found: &[Found], group: usize, place: usize) {
    let (mut scaled, mut counted, mut counting, mut cycles) = (0.0, false, 0, 0);
    for thread in found {
        let count = thread.counts.get(group).and_then(|counts| counts.get(place)).copied().unwrap_or(0);
        let in_turn = thread.counting.get(group).copied().unwrap_or(0);
        // A group that alone has counted from the beginning to the end is not scaled, even where no time passed.
        let factor = if thread.counting.len() == 1 || in_turn == 0 { 1.0 } else { thread.cycles as f64 / in_turn as f64 };
        counted |= thread.counting.len() == 1 || in_turn != 0;
        scaled += count as f64 * factor;
        counting += in_turn;
        cycles += thread.cycles;
    }
    if counted {
        tally.counts.push(scaled);
    }
    let alone = found.iter().all(|thread| thread.counting.len() == 1);
    tally.share = if alone || cycles == 0 { 1.0 } else { counting as f64 / cycles as f64 };
    tally.cycles = counting;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_turns_are_scaled_thread_by_thread() {
        // 30 in 100 of 400 cycles, and 5 in 300 of 300.
        let thread = |count, counting, cycles| Found {
            counts: vec![vec![0], vec![count]],
            counting: vec![cycles - counting, counting],
            cycles,
            ..Found::default()
        };
        let mut tally = Tally::default();
        add(&mut tally, &[thread(30, 100, 400), thread(5, 300, 300)], 1, 0);
        assert_eq!(tally, Tally { counts: vec![125.0], share: 400.0 / 700.0, cycles: 400 });
    }

    #[test]
    fn an_event_that_never_had_its_turn_has_no_count() {
        let found = Found { counts: vec![vec![7], vec![0]], counting: vec![10, 0], cycles: 10, ..Found::default() };
        let mut tally = Tally::default();
        add(&mut tally, &[found], 1, 0);
        assert_eq!((tally.mean(), tally.share), (None, 0.0));
    }

    #[test]
    fn the_deviation_is_that_of_the_mean() {
        // The mean of 8 and 12 is 10, the deviation of the sample the root of 8, that of the mean 2.
        let tally = Tally { counts: vec![8.0, 12.0], ..Tally::default() };
        assert_eq!(tally.mean(), Some(10.0));
        assert!((tally.deviation() - 0.2).abs() < 1e-12);
    }
}
