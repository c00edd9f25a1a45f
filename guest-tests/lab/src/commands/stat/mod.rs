//! `pmulab stat`: counts events of a guest from outside.

mod arguments;
mod render;

pub use arguments::StatArguments;

use crate::commands::format::Format;
use crate::commands::{FAILED, PASSED, metrics};
use crate::error::Error;
use crate::output::Output;
use crate::request::Runner;
use crate::runner::Engine;
use crate::stat::{group, measure, usual};

/// Counts events of a guest, and shows them as `perf stat` does.
///
/// # Errors
/// A PMU, guest, event or metric is unknown, an event cannot be counted, the guest could not be run, or the output cannot be written.
pub fn stat(arguments: &StatArguments, runner: &dyn Runner, output: &mut Output<'_>) -> Result<u8, Error> {
    let (part, request) = arguments.guest.request(Engine::default().name(), runner)?;
    let mut events: Vec<String> = arguments.events.iter().flat_map(|text| separated(text)).collect();
    if events.is_empty() && arguments.metrics.is_empty() {
        events = usual(part);
    }
    let grouping = group(part, &events)?;
    if arguments.multiplex.is_some() && grouping.groups.len() > 1 && grouping.has_boxes() {
        return Err(Error::usage("boxes are the machine's, and take no turns with a thread: leave out `--multiplex`"));
    }
    let title = request.guest.title();
    let refused = |why: String| Error::usage(format!("{title}: {why}"));
    let repeats = usize::try_from(arguments.repeat).unwrap_or(1);
    let measured = measure(&request, runner, &grouping, arguments.multiplex, repeats).map_err(refused)?;
    let computed = if arguments.metrics.is_empty() { None } else { Some(metrics::measure(&arguments.metrics, &request, runner)?) };
    let shown = render::Shown::new(part, &request, &grouping, &measured, computed.as_ref(), arguments);
    match (&arguments.separator, arguments.format) {
        (Some(separator), _) => shown.fields(separator, output)?,
        (None, Format::Json) => output.json(&shown)?,
        (None, Format::Table) => shown.table(output)?,
    }
    let passed = computed.as_ref().is_none_or(|computed| computed.passed) && (grouping.groups.is_empty() || measured.report.passed);
    Ok(if passed { PASSED } else { FAILED })
}

/// The events of a list with commas. A comma within the slashes of a perf event separates its terms.
fn separated(text: &str) -> Vec<String> {
    let mut within = false;
    let parts = text.split(|letter: char| {
        within ^= letter == '/';
        letter == ',' && !within
    });
    parts.map(str::trim).filter(|event| !event.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_events_but_not_the_terms_of_one() {
        assert_eq!(separated("cycles:u,branches, ,PM_CYC"), ["cycles:u", "branches", "PM_CYC"]);
        assert_eq!(separated("cpu/event=0xc0,umask=1/,cycles"), ["cpu/event=0xc0,umask=1/", "cycles"]);
    }
}
