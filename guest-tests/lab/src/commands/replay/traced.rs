//! A recording as a trace and as a timeline.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;
use vm_pmu::litmus::Litmus;
use vm_pmu_board::trace::{Choice, Keep, Replayed, Tracer, Until, replay};

use crate::commands::render;
use crate::commands::run::{Drawn, TimelineArguments, TraceArguments};
use crate::dialect::select;
use crate::error::Error;
use crate::output::Output;

/// A recording that was done again, and what of it is shown.
pub struct Traced {
    part: vm_pmu::Part,
    /// What came of it.
    pub replayed: Replayed,
    drawn: Option<Drawn>,
}

/// A recording for programs.
#[derive(Serialize)]
struct Whole {
    file: String,
    pmu: &'static str,
    same: bool,
    statements: usize,
    observations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trace: Vec<Value>,
}

#[derive(Serialize)]
struct Difference {
    line: usize,
    message: String,
}

/// What is chosen of a recording.
///
/// # Errors
/// It is not known, or a recording does not have it.
pub fn choice(tracing: &TraceArguments, pmu: &str) -> Result<Choice, Error> {
    let choice = tracing.choice(pmu)?;
    if choice.keep == Keep::AroundFailure || choice.until == Some(Until::Failure) {
        return Err(Error::usage("a recording has no checks of a guest: choose with --trace-until REG=VALUE or overflow, or --trace-last"));
    }
    Ok(choice)
}

/// Does `program` again, and keeps and draws of it what is asked for.
///
/// # Errors
/// What is asked for is not known or not in a recording, or the timeline cannot be written.
pub fn trace(program: &Litmus, tracing: &TraceArguments, drawing: &TimelineArguments) -> Result<Traced, Error> {
    let pmu = program.part.name();
    let choice = choice(tracing, pmu)?;
    let threads = program.packages.saturating_mul(program.threads);
    if let Some(thread) = choice.thread.filter(|thread| *thread >= threads) {
        return Err(Error::usage(format!("there is no thread {thread} to trace: the recording has {threads}, counted from 0")));
    }
    let drawn = drawing.draw(pmu)?;
    let tracer = Tracer::new(choice).with_listener(drawn.as_ref().map(Drawn::listener));
    let tracer = tracer.with_registers(select::registers(program.part));
    let replayed = replay(program, &tracer).map_err(|failure| Error::usage(failure.to_string()))?;
    Ok(Traced { part: program.part, replayed, drawn })
}

impl Traced {
    /// Shows the trace, and says what is in the timeline.
    ///
    /// # Errors
    /// The output or the timeline cannot be written.
    pub fn show(&self, output: &mut Output<'_>) -> Result<(), Error> {
        if let Some(drawn) = &self.drawn {
            output.line(2, &drawn.end()?)?;
        }
        if !self.replayed.trace.is_empty() {
            if self.drawn.is_some() {
                writeln!(output)?;
            }
            writeln!(output, "Register accesses and interrupts")?;
            render::trace(self.part.name(), &self.replayed.trace.iter().collect::<Vec<_>>(), true, |_| None, output)?;
            writeln!(output)?;
        }
        Ok(())
    }

    /// Prints all of it for programs.
    ///
    /// # Errors
    /// The output or the timeline cannot be written.
    pub fn json(&self, file: String, output: &mut Output<'_>) -> Result<(), Error> {
        if let Some(drawn) = &self.drawn {
            drawn.end()?;
        }
        let entry = |entry| {
            let mut value = serde_json::to_value(render::Entry::new(Some(self.part), entry))?;
            if let Value::Object(fields) = &mut value {
                // A recording has none.
                fields.remove("address");
            }
            Ok(value)
        };
        let trace: Result<Vec<Value>, serde_json::Error> = self.replayed.trace.iter().map(entry).collect();
        let Replayed { done, checked, difference, .. } = &self.replayed;
        output.json(&Whole {
            file,
            pmu: self.part.name(),
            same: difference.is_none(),
            statements: *done,
            observations: *checked,
            difference: difference.as_ref().map(|failure| Difference { line: failure.line, message: failure.message.clone() }),
            trace: trace?,
        })
    }
}
