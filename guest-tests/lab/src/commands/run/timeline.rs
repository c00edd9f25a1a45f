//! The timeline of a run, as the command line asks for it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::commands::render;
use crate::dialect::{boxes, select};
use crate::error::Error;
use crate::number::{counted, grouped};
use crate::request::RunRequest;
use crate::timeline::{Changes, Form, Timeline};
use vm_pmu_board::trace::Listener;

/// Arguments about the timeline.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Timeline")]
pub struct TimelineArguments {
    /// Draw the run over time into this file: trace events for Perfetto if its name ends with .json, a value change dump if it ends with .vcd
    #[arg(long, value_name = "FILE.json|FILE.vcd")]
    pub timeline: Option<PathBuf>,
    /// The form of the timeline, whatever its name ends with
    #[arg(long, value_enum, value_name = "FORM", requires = "timeline")]
    pub timeline_format: Option<FormName>,
    /// Take the values of counters at least every COUNT instructions of each CPU
    #[arg(long, value_name = "COUNT", default_value_t = 1000, requires = "timeline", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeline_every: u64,
}

/// A form of timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormName {
    /// Chrome's trace events
    Chrome,
    /// A value change dump
    Vcd,
}

/// A timeline, and the file that it goes to.
pub struct Drawn {
    timeline: Arc<Timeline>,
    path: PathBuf,
}

impl TimelineArguments {
    fn form(&self, path: &Path) -> Result<Form, Error> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match (self.timeline_format, ending.as_deref()) {
            (Some(FormName::Chrome), _) | (None, Some("json")) => Ok(Form::Chrome),
            (Some(FormName::Vcd), _) | (None, Some("vcd")) => Ok(Form::Vcd),
            (None, _) => {
                let path = path.display();
                Err(Error::usage(format!("`{path}` ends neither with .json nor with .vcd: add `--timeline-format chrome` or `vcd`")))
            }
        }
    }

    /// Says what is wrong with them, before anything runs.
    ///
    /// # Errors
    /// The form is not known.
    pub fn check(&self) -> Result<(), Error> {
        self.timeline.as_deref().map_or(Ok(()), |path| self.form(path).map(drop))
    }

    /// Begins the timeline of `requests`, of which there is one, if one is wanted.
    ///
    /// # Errors
    /// There are several runs, the form is not known, or the file cannot be written.
    pub(super) fn begin(&self, requests: &mut [RunRequest]) -> Result<Option<Drawn>, Error> {
        let Some(path) = &self.timeline else { return Ok(None) };
        self.form(path)?;
        let [request] = requests else { return Err(Error::usage("a timeline is of one run: name one")) };
        let drawn = self.draw(&request.pmu)?;
        request.options.listener = drawn.as_ref().map(Drawn::listener);
        Ok(drawn)
    }

    /// Begins the timeline of a run of `pmu`, if one is wanted.
    ///
    /// # Errors
    /// The form is not known, or the file cannot be written.
    pub fn draw(&self, pmu: &str) -> Result<Option<Drawn>, Error> {
        let Some(path) = &self.timeline else { return Ok(None) };
        let form = self.form(path)?;
        let part = select::part(pmu)?;
        let file = File::create(path).map_err(|error| unwritten(path, &error))?;
        let changes: Changes =
            Box::new(move |action| render::changes(part, action).unwrap_or_default().iter().map(render::Change::shown).collect());
        let timeline = Arc::new(
            Timeline::new(form, self.timeline_every, changes, BufWriter::new(file)).with_registers(boxes::registers(part).collect()),
        );
        Ok(Some(Drawn { timeline, path: path.clone() }))
    }
}

impl Drawn {
    /// Who follows the run.
    #[must_use]
    pub fn listener(&self) -> Listener {
        Listener(Arc::clone(&self.timeline) as Arc<_>)
    }

    /// Ends the timeline, and says in a line what is in it.
    ///
    /// # Errors
    /// It could not be written.
    pub fn end(&self) -> Result<String, Error> {
        let finished = self.timeline.finish().map_err(|error| unwritten(&self.path, &error))?;
        let mut line = format!("Timeline: {} accesses, interrupts and changes in {}", grouped(finished.entries), self.path.display());
        if finished.late != 0 {
            let late = usize::try_from(finished.late).unwrap_or(usize::MAX);
            line.push_str(&format!("; {} shown late, as the CPUs were too far apart", counted(late, "change")));
        }
        Ok(line)
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Error {
    Error::usage(format!("{} cannot be written: {error}", path.display()))
}
