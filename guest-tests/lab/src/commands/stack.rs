//! The stack of cycles of a guest, as a bar chart.

use std::io::Write as _;

use crate::commands::metrics;
use crate::error::Error;
use crate::output::Output;
use crate::request::{RunRequest, Runner};
use crate::text;

/// What the cycles of a POWER9 thread go to: the metric of table 5-18 of its guide, and what the cycles are. Each cycle is in one of them.
pub(super) const CAUSES: [(&str, &str); 10] = [
    ("NTC_FIN_CPI", "an instruction finishes"),
    ("NTC_ALL_FIN_CPI", "all have finished, and complete"),
    ("LSU_STALL_CPI", "a load or store is waited for"),
    ("EXEC_UNIT_STALL_CPI", "an execution unit is waited for"),
    ("BRU_STALL_CPI", "a branch is waited for"),
    ("NTC_DISP_FIN_STALL_CPI", "what needs no unit is waited for"),
    ("ISSUE_HOLD_CPI", "not issued yet"),
    ("ICT_NOSLOT_CYC_CPI", "nothing in flight"),
    ("THRD_STALL_CPI", "a barrier, an exception or a flush"),
    ("NTC_FLUSH_STALL_CPI", "the oldest is flushed itself"),
];

/// The columns of the longest bar.
const WIDTH: usize = 30;

/// Counts the stack of cycles of a guest of POWER9, and draws it. Returns the cycles of an instruction.
///
/// # Errors
/// The guest could not be run, an event that the stack needs was not counted, or the output cannot be written.
pub(super) fn draw(request: &RunRequest, runner: &dyn Runner, output: &mut Output<'_>) -> Result<f64, Error> {
    let values = metrics::values(&CAUSES.map(|(metric, _)| metric), request, runner)?;
    let shares = shares(&values);
    let most = shares.iter().copied().max().unwrap_or(0);
    let width = text::widest(CAUSES.iter().map(|(_, cause)| *cause));
    // Beside a bar stand the cause, the share and the metric.
    let metrics = text::widest(CAUSES.iter().map(|(metric, _)| *metric));
    let room = output.width.saturating_sub(width + metrics + 13).min(WIDTH);
    let mut rows: Vec<_> = CAUSES.iter().zip(&shares).filter(|(_, share)| **share != 0).collect();
    rows.sort_by_key(|(_, share)| std::cmp::Reverse(**share));
    for ((metric, cause), share) in rows {
        let bar = text::bar(*share, most, room);
        writeln!(output, "  {cause:<width$}  {:3}.{} %  {bar:<room$}  {metric}", share / 10, share % 10)?;
    }
    let sum: u64 = shares.iter().sum();
    writeln!(output, "  {:<width$}  {:3}.{} %", "together", sum / 10, sum % 10)?;
    Ok(values.iter().sum())
}

/// Shares of a whole in tenths of a percent, which add up to 1,000: what rounding down leaves goes to those that it took most from. Nothing
/// has no shares.
fn shares(values: &[f64]) -> Vec<u64> {
    let whole: f64 = values.iter().sum();
    if whole <= 0.0 {
        return vec![0; values.len()];
    }
    let exact: Vec<f64> = values.iter().map(|value| value * 1000.0 / whole).collect();
    let mut shares: Vec<u64> = exact.iter().map(|share| share.floor() as u64).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| exact[*other].fract().total_cmp(&exact[*one].fract()));
    let left = 1000u64.saturating_sub(shares.iter().sum()) as usize;
    order.into_iter().take(left).for_each(|place| shares[place] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        // 333.3 each; the first gets what is left.
        assert_eq!(shares(&[1.0, 1.0, 1.0]), [334, 333, 333]);
        // 166.7 and 833.3.
        assert_eq!(shares(&[0.5, 2.5]), [167, 833]);
    }

    #[test]
    fn nothing_has_no_shares() {
        assert_eq!(shares(&[0.0, 0.0]), [0, 0]);
    }
}
