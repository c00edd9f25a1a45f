//! `pmulab guests`: the guests there are.

use std::io::Write;

use crate::commands::PASSED;
use crate::commands::cli::{Format, GuestsArguments};
use crate::error::Error;
use crate::output::Output;
use crate::request::Runner;
use crate::text;

/// Lists the guests.
///
/// # Errors
/// The output cannot be written.
pub fn guests(arguments: &GuestsArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let guests = runner.guests();
    if arguments.format == Format::Json {
        output.json(&guests)?;
        return Ok(PASSED);
    }
    if guests.is_empty() {
        writeln!(output, "this build has no guests; `pmulab run --guest FILE` runs an ELF file")?;
        return Ok(PASSED);
    }
    let names = text::widest(guests.iter().map(|guest| guest.name.as_str())).max(5);
    let pmus = text::widest(guests.iter().map(|guest| guest.pmu.as_str())).max(3);
    writeln!(output, "{:<names$}  {:<pmus$}  threads  what it shows", "guest", "pmu")?;
    for guest in &guests {
        let lead = format!("{:<names$}  {:<pmus$}  {:>7}", guest.name, guest.pmu, guest.threads);
        for line in text::hanging(&lead, names + pmus + 13, &guest.summary, output.width) {
            writeln!(output, "{line}")?;
        }
    }
    writeln!(output, "\nRun one with `pmulab run --guest NAME`, or every one with `--guest all`.")?;
    Ok(PASSED)
}
