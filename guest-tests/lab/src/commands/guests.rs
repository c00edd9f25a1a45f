//! `pmulab guests`: the guests there are.

use std::io::Write;

use clap::Args;
use vm_pmu::Part;

use crate::commands::PASSED;
use crate::commands::format::Format;
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;
use crate::request::Runner;
use crate::text;

/// Arguments of `pmulab guests`.
#[derive(Debug, Args)]
pub struct GuestsArguments {
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Lists the guests, those of each part together.
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
        writeln!(output, "this build has no guests; `pmulab run FILE` runs an ELF file")?;
        return Ok(PASSED);
    }
    let mut pmus: Vec<&str> = Vec::new();
    for guest in &guests {
        if !pmus.contains(&guest.pmu.as_str()) {
            pmus.push(&guest.pmu);
        }
    }
    let names = text::widest(guests.iter().map(|guest| guest.name.as_str()));
    for pmu in pmus {
        let of_pmu: Vec<_> = guests.iter().filter(|guest| guest.pmu == pmu).collect();
        let title = Part::named(pmu).map_or_else(String::new, |part| format!(": {}", part.catalogue().title));
        output.line(2, &format!("{}{title}, {}", output.name(pmu), counted(of_pmu.len(), "guest")))?;
        for guest in of_pmu {
            let threads = if guest.threads == 1 { String::new() } else { format!(" ({} threads)", guest.threads) };
            let said = format!("{}{threads}", guest.summary);
            output.lines(text::hanging(&format!("  {}", guest.name), names + 4, &said, output.width))?;
        }
        writeln!(output)?;
    }
    output.line(0, "Run one with `pmulab run NAME --pmu PMU`, or every one with `pmulab run all`.")?;
    Ok(PASSED)
}
