//! A run drawn over time, in forms that viewers of others read: Chrome's trace events, and value change dumps.
//!
//! A [`Timeline`] is the [`Sink`] of a run. It writes as the run goes, so that its memory does not grow with the run; time is in cycles of each
//! thread.

mod chrome;
mod vcd;

use std::fmt::{self, Debug};
use std::io::{self, Write};
use std::sync::Mutex;

use vm_pmu::arch::layout::{Field, FieldAccess};
use vm_pmu::arch::model::RegisterDescription;

use crate::report::{Action, Trace};
use vm_pmu_board::trace::{Sample, Sink};

/// A form of timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Chrome's trace events as JSON, which Perfetto and `chrome://tracing` open.
    Chrome,
    /// A value change dump (IEEE 1364, clause 18), which GTKWave and Surfer open.
    Vcd,
}

/// Says what fields a write changed, a text each.
pub type Changes = Box<dyn Fn(&Action) -> Vec<String> + Send>;

/// What came of a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// How many accesses, interrupts and other changes it has.
    pub entries: u64,
    /// How many changes of a value change dump are shown later than they were, because one thread was too far ahead of another.
    pub late: u64,
}

/// Writes one form.
trait Writer: Send {
    /// A thread has these registers.
    fn begin(&mut self, thread: usize, registers: &[&'static RegisterDescription]) -> io::Result<()>;

    /// The machine has these registers in addition to those of its threads.
    fn around(&mut self, _registers: Vec<&'static RegisterDescription>) {}

    /// Something passed.
    fn entry(&mut self, entry: &Trace) -> io::Result<()>;

    /// The registers of a thread.
    fn sample(&mut self, sample: &Sample<'_>) -> io::Result<()>;

    /// The run is over. Returns how many changes are late.
    fn finish(&mut self) -> io::Result<u64>;
}

struct State {
    writer: Box<dyn Writer>,
    entries: u64,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl State {
    fn attempt(&mut self, write: impl FnOnce(&mut dyn Writer) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = write(&mut *self.writer).err();
        }
    }
}

/// A timeline that is being written.
pub struct Timeline {
    state: Mutex<State>,
    every: u64,
}

impl Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline").field("every", &self.every).finish_non_exhaustive()
    }
}

impl Timeline {
    /// A timeline in the form `form`, with the values of counters at least every `every` instructions, and with what `changes` says of writes
    /// where the form has texts.
    #[must_use]
    pub fn new(form: Form, every: u64, changes: Changes, output: impl Write + Send + 'static) -> Timeline {
        let writer: Box<dyn Writer> = match form {
            Form::Chrome => Box::new(chrome::Chrome::new(changes, output)),
            Form::Vcd => Box::new(vcd::Dump::new(output)),
        };
        Timeline { state: Mutex::new(State { writer, entries: 0, error: None }), every: every.max(1) }
    }

    /// The same of a machine that has `registers` in addition to those of its threads: boxes that these share.
    #[must_use]
    pub fn with_registers(self, registers: Vec<&'static RegisterDescription>) -> Timeline {
        self.lock().writer.around(registers);
        self
    }

    /// The run is over: writes what is still held back.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(&self) -> io::Result<Finished> {
        let mut state = self.lock();
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(Finished { late: state.writer.finish()?, entries: state.entries }),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Sink for Timeline {
    fn begin(&self, thread: usize, registers: &[&'static RegisterDescription]) {
        self.lock().attempt(|writer| writer.begin(thread, registers));
    }

    fn tell(&self, entry: &Trace) {
        let mut state = self.lock();
        state.entries += 1;
        state.attempt(|writer| writer.entry(entry));
    }

    fn sample(&self, sample: &Sample<'_>) {
        self.lock().attempt(|writer| writer.sample(sample));
    }

    fn every(&self) -> u64 {
        self.every
    }
}

/// The fields of a register that are not reserved.
fn own_fields(register: &RegisterDescription) -> impl Iterator<Item = &'static Field> {
    let reserved = |field: &&Field| matches!(field.access, FieldAccess::Reserved | FieldAccess::MustBeZero) || field.name == "Reserved";
    register.fields.iter().filter(move |field| !reserved(field))
}

/// The bits of a register up to the highest that is not reserved.
fn width(register: &RegisterDescription) -> u32 {
    own_fields(register).map(|field| u32::from(field.high) + 1).max().unwrap_or(64)
}

/// The bits of a register that are not reserved.
pub(crate) fn bits(register: &RegisterDescription) -> u64 {
    own_fields(register).fold(0, |bits, field| bits | field.mask())
}

/// The field of a counter that has the count, by its name in the parts' manuals; none of another register.
pub(crate) fn count_field(register: &RegisterDescription) -> Option<&'static Field> {
    register.fields.iter().find(|field| matches!(field.name, "CTR" | "CTRDATA" | "count"))
}

/// Whether a register is a counter.
pub(crate) fn is_counter(register: &RegisterDescription) -> bool {
    count_field(register).is_some()
}
