//! Programs as bytes and back: what a fuzzer keeps. A statement takes about ten bytes.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use vm_pmu_arch::feed::{Kind, LineStates, Record, Signal};
use vm_pmu_arch::registry::Part;

use super::dialect::{ContextField, Dialect};
use super::{Beginning, Litmus, Step, collection, nest, untile};

/// The most statements of a program that a fuzzer runs.
const MOST_STEPS: usize = 256;
/// The most instructions, requests and the like of one.
const MOST_REPETITIONS: u64 = 8192;
/// The most threads of its machine.
const MOST_THREADS: usize = 16;
/// Totals do not wrap, so all amounts together stay below this.
const MOST_EVENTS: u64 = 1 << 62;

/// Why bytes are no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// They end too early, or a number among them names nothing.
    Bytes,
    /// The part has no such revision, or its machine cannot look like this.
    Machine,
    /// There are too many statements, or together they take too long.
    Length,
    /// The statement with this number, from 0, names what the part or the machine lacks, or has more cycles of a state than elapse.
    Statement(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Bytes => formatter.write_str("the bytes do not encode a program"),
            DecodeError::Machine => formatter.write_str("the part has no such revision, or no machine of it has as many threads"),
            DecodeError::Length => write!(
                formatter,
                "the program is too long: {MOST_STEPS} statements, {MOST_REPETITIONS} repetitions and {MOST_EVENTS:#x} events are the most"
            ),
            DecodeError::Statement(number) => {
                write!(formatter, "statement {number} names what the machine lacks, or has more cycles of a state than elapse")
            }
        }
    }
}

impl core::error::Error for DecodeError {}

/// The machine of a program.
#[derive(Serialize, Deserialize)]
struct Machine<'a> {
    /// The letter of the part's revision.
    revision: &'a str,
    packages: usize,
    threads: usize,
    shared_counters: bool,
    is_recording: bool,
}

impl Litmus {
    /// The program as bytes, without title, section and part.
    ///
    /// ```
    /// use vm_pmu::litmus::Litmus;
    ///
    /// let text = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 1\nread PerfCtr0 = 1\n";
    /// let litmus: Litmus = text.parse().unwrap();
    /// let bytes = litmus.to_bytes();
    /// assert!(bytes.len() < 30);
    /// let again = Litmus::from_bytes(litmus.part, &bytes).unwrap();
    /// assert_eq!(again.run(), Ok(1));
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let machine = Machine {
            revision: self.part.revision_letter(),
            packages: self.packages,
            threads: self.threads,
            shared_counters: self.shared_counters,
            is_recording: self.beginning.is_recording,
        };
        let steps: Vec<&Step> = self.steps.iter().map(|(_, step)| step).collect();
        // A list grows as it must, and nothing here refuses to be written.
        postcard::to_allocvec(&(machine, steps)).unwrap_or_default()
    }

    /// The program for `part` that [`Litmus::to_bytes`] made these bytes of, its statements numbered from 1.
    ///
    /// # Errors
    /// [`DecodeError`] for bytes that are none, or none that a fuzzer should run.
    pub fn from_bytes(part: Part, bytes: &[u8]) -> Result<Litmus, DecodeError> {
        let (machine, steps): (Machine<'_>, Vec<Step>) = postcard::from_bytes(bytes).map_err(|_| DecodeError::Bytes)?;
        let mut litmus = Litmus {
            title: "A program of a fuzzer".into(),
            section: "the contract".into(),
            part: part.revision(machine.revision).ok_or(DecodeError::Machine)?,
            packages: machine.packages,
            threads: machine.threads,
            shared_counters: machine.shared_counters,
            beginning: Beginning { is_recording: machine.is_recording, ..Beginning::default() },
            steps: (1..).zip(steps).collect(),
        };
        litmus.admit()?;
        Ok(litmus)
    }

    /// Checks that a fuzzer should run the program. A field of the context becomes the one that its part calls by this name.
    ///
    /// # Errors
    /// [`DecodeError`], with the first reason.
    pub(super) fn admit(&mut self) -> Result<(), DecodeError> {
        let threads = self.packages.checked_mul(self.threads).filter(|threads| *threads <= MOST_THREADS);
        let threads = threads.filter(|_| self.builder().check().is_ok()).ok_or(DecodeError::Machine)?;
        if self.steps.len() > MOST_STEPS {
            return Err(DecodeError::Length);
        }
        let (mut repetitions, mut events) = (0u64, 0u64);
        let shape = self.part.shape();
        for (number, (_, step)) in self.steps.iter_mut().enumerate() {
            let is_said = match step {
                Step::Thread(thread) => *thread < threads,
                Step::Context(fields) => fields.iter_mut().all(|field| settle(self.part, field)),
                Step::Feed(_, signals) | Step::Devices(signals) => !signals.is_empty() && adds_up(signals),
                Step::Record(_, record, signals) => adds_up(signals) && is_known(record),
                Step::Untile(step) => shape.has_untile && untile::can_be_said(step),
                Step::Nest(step) => shape.has_nest && nest::can_be_said(step),
                Step::Collection(_) => shape.has_nest,
                _ => true,
            };
            if !is_said {
                return Err(DecodeError::Statement(number));
            }
            let (times, each) = step.work();
            repetitions = repetitions.saturating_add(times);
            events = events.saturating_add(each.saturating_mul(times));
        }
        if repetitions > MOST_REPETITIONS || events > MOST_EVENTS { Err(DecodeError::Length) } else { Ok(()) }
    }

    /// The program without the statements that only state what must be observed. The contract's trial leaves them out as well.
    #[must_use]
    pub fn without_expectations(&self) -> Litmus {
        let steps = self.steps.iter().filter(|(_, step)| !step.is_expectation());
        let steps = steps.map(|(line, step)| {
            let step = match step {
                Step::Read(address, _) => Step::Read(*address, Ok(0)),
                Step::Write(address, value, _) => Step::Write(*address, *value, None),
                Step::Collection(step) => Step::Collection(collection::outcome(step, &[])),
                step => step.clone(),
            };
            (*line, step)
        });
        Litmus { steps: steps.collect(), ..self.clone() }
    }
}

/// Makes the field that of the part with the same name; returns whether there is one with room for the value.
fn settle(part: Part, (field, value): &mut (ContextField, u64)) -> bool {
    if let ContextField::Part(own) = *field {
        let Some(found) = Dialect::of(part).field(own.word()) else { return false };
        *field = found;
    }
    match *field {
        ContextField::Privilege => *value < 4,
        // A flag takes the lowest bit of any value.
        ContextField::Part(own) if own.bits() > 1 => own.bits() > 63 || *value >> own.bits() == 0,
        _ => true,
    }
}

/// Whether each signal is there once, and no state of the thread holds for more cycles than pass. Other clocks are faster or run without it,
/// and while a thread is halted no cycle of it passes.
fn adds_up(signals: &[(Signal, u64)]) -> bool {
    let passed = signals.iter().find(|(signal, _)| *signal == Signal::Cycles).map_or(0, |(_, amount)| *amount);
    let is_once = |place: usize, signal: Signal| !signals.iter().take(place).any(|(other, _)| *other == signal);
    signals.iter().enumerate().all(|(place, (signal, amount))| is_once(place, *signal) && (!is_of_the_clock(*signal) || *amount <= passed))
}

/// Whether it holds in cycles of the thread's own clock.
fn is_of_the_clock(signal: Signal) -> bool {
    let is_of_another = matches!(signal, Signal::HaltedCycles | Signal::CoreActiveCycles | Signal::CoreActiveReferenceCycles);
    signal.kind() == Kind::State && !signal.is_clock() && !is_of_another
}

/// Whether the record's states of lines have names.
fn is_known(record: &Record) -> bool {
    LineStates::all().contains(record.sample.line_states)
}

/// As a number: those that every part has, then those of the parts in the order of their dialects.
impl Serialize for ContextField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = ContextField::every().position(|field| field == *self).unwrap_or(0);
        serializer.serialize_u8(number as u8)
    }
}

impl<'de> Deserialize<'de> for ContextField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ContextField, D::Error> {
        let number = u8::deserialize(deserializer)?;
        ContextField::every().nth(number.into()).ok_or_else(|| de::Error::custom("no field of a context has this number"))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn program(steps: &str) -> Litmus {
        alloc::format!("title: t\npmu: k8\nsection: s\nthreads: 2\n{steps}").parse().expect("a litmus file")
    }

    fn refused(steps: &str) -> Option<DecodeError> {
        let litmus = program(steps);
        Litmus::from_bytes(litmus.part, &litmus.to_bytes()).err()
    }

    #[test]
    fn every_field_of_every_context_keeps_its_name() {
        for field in ContextField::every() {
            let bytes = postcard::to_allocvec(&field).expect("it can be written");
            assert_eq!(postcard::from_bytes::<ContextField>(&bytes), Ok(field), "{field:?}");
        }
    }

    #[test]
    fn a_field_of_another_part_is_refused() {
        let power: Litmus = "title: t\npmu: power9\nsection: s\ncontext pmm=1\n".parse().expect("a litmus file");
        let k8 = Part::named("k8").expect("known");
        let foreign = Litmus { part: k8, ..power };
        assert_eq!(Litmus::from_bytes(k8, &foreign.to_bytes()), Err(DecodeError::Statement(0)));
    }

    #[test]
    fn a_thread_that_the_machine_lacks_is_refused() {
        assert_eq!((refused("thread 1\n"), refused("thread 2\n")), (None, Some(DecodeError::Statement(0))));
    }

    #[test]
    fn cycles_of_a_state_that_has_more_of_them_than_pass_are_refused() {
        assert_eq!(refused("feed cycles=2 interrupts_masked_cycles=2\n"), None);
        assert_eq!(refused("feed cycles=2 interrupts_masked_cycles=3\n"), Some(DecodeError::Statement(0)));
    }

    #[test]
    fn a_program_whose_totals_would_wrap_is_refused() {
        assert_eq!(refused("repeat 4 feed cycles=0x1000000000000000\n"), None);
        assert_eq!(refused("repeat 5 feed cycles=0x1000000000000000\n"), Some(DecodeError::Length));
    }

    #[test]
    fn a_program_that_repeats_too_often_is_refused() {
        assert_eq!((refused("repeat 8192 feed cycles=1\n"), refused("repeat 8193 feed cycles=1\n")), (None, Some(DecodeError::Length)));
    }

    #[test]
    fn a_revision_is_kept() {
        let litmus: Litmus = "title: t\npmu: k8\nrevision: C\nsection: s\nsave\n".parse().expect("a litmus file");
        let again = Litmus::from_bytes(Part::named("k8").expect("known"), &litmus.to_bytes()).expect("a program");
        assert_eq!(again.part.to_string(), litmus.part.to_string());
    }

    #[test]
    fn what_is_only_expected_is_left_out() {
        let litmus = program("write PerfCtr0 1\ninterrupts none\nread PerfCtr0 = 1\n").without_expectations();
        let steps: Vec<&Step> = litmus.steps.iter().map(|(_, step)| step).collect();
        assert!(matches!(steps.as_slice(), [Step::Write(..), Step::Read(_, Ok(0))]), "{steps:?}");
    }
}
