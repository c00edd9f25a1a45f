//! Tests the contract: a program that is executed in several manners must have the same results in all of them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Signal, SignalSet};
use vm_pmu_arch::layout::FieldAccess;
use vm_pmu_arch::model::{Model, RegisterDescription};

use super::dialect::Dialect;
use super::subject::{MANNERS, Manner, Seen, Subject};
use super::{Litmus, Step, collection, nest, untile};
use crate::untile::UnitId;

/// A violation of the contract: the first difference, and the program that shows it, as a litmus file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What was observed.
    pub message: String,
    /// The program up to there, with what the finest embedder observed as expectations.
    pub litmus: Litmus,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n\n{}", self.message, self.litmus)
    }
}

impl core::error::Error for Broken {}

/// A statement of a trial, with how it is repeated.
#[derive(Clone, Copy)]
struct Statement<'a> {
    step: &'a Step,
    /// How often: each time is compared.
    times: u64,
    /// Whether an embedder that is saved and restored on the way is so after it.
    restores: bool,
}

impl Statement<'_> {
    /// The most repetitions of one statement.
    const MOST: u64 = 4096;

    fn of(step: &Step, restores: bool) -> Statement<'_> {
        let times = match step {
            Step::Feed(times, _) | Step::Request(times, _) | Step::Record(times, ..) => (*times).min(Statement::MOST),
            step => u64::from(!step.is_expectation()),
        };
        Statement { step, times, restores }
    }

    /// Whether to restore after repetition `number`, from 0: after the first four, the last, and where the number of repetitions is a power
    /// of two.
    fn restores_after(&self, number: u64) -> bool {
        self.restores && (number < 4 || (number + 1).is_power_of_two() || number + 1 == self.times)
    }
}

/// Embedders whose machines are used again for the next program, for a fuzzer that runs many.
///
/// ```
/// use vm_pmu::litmus::{Litmus, Trial};
///
/// let program: Litmus = "title: t\npmu: k8\nsection: s\nwrite PerfCtr0 1\nread PerfCtr0 = 1\n".parse().unwrap();
/// let mut trial = Trial::new();
/// assert!(trial.contract(&program).is_ok());
/// assert!(trial.contract(&program).is_ok());
/// ```
#[derive(Default)]
pub struct Trial {
    /// In the order of [`MANNERS`].
    subjects: [Option<Subject>; MANNERS.len()],
}

impl fmt::Debug for Trial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Trial").finish_non_exhaustive()
    }
}

impl Trial {
    /// Embedders without machines: the first program builds them.
    #[must_use]
    pub fn new() -> Trial {
        Trial::default()
    }

    /// As [`Litmus::try_contract`]. Machines that executed other programs must do what new ones do.
    ///
    /// # Errors
    /// The first difference.
    pub fn contract(&mut self, litmus: &Litmus) -> Result<(), Box<Broken>> {
        let ending = litmus.ending();
        // Boxes have many registers, and so have threads: saving a machine after each of them would show nothing more.
        let program: Vec<Statement<'_>> = litmus
            .steps
            .iter()
            .map(|(_, step)| Statement::of(step, true))
            .chain(ending.iter().map(|step| Statement::of(step, false)))
            .collect();
        let mut expected = Vec::new();
        let registers = litmus.part.build().registers();
        let mut finest: Option<Manner> = None;
        for (manner, subject) in MANNERS.into_iter().zip(&mut self.subjects) {
            let mut place = 0;
            let played = play(manner, subject, litmus, &program, |step, seen| {
                place += 1;
                let Some(finest) = finest else {
                    let reserved = litmus.reserved_bits(registers, step, &seen);
                    expected.push(seen);
                    return reserved.map_or(Ok(()), Err);
                };
                match expected.get(place - 1) {
                    Some(expected) if *expected == seen => Ok(()),
                    expected => Err(format!("{manner:?} saw {seen:?}, {finest:?} saw {expected:?}")),
                }
            });
            if let Err(message) = played {
                // What a broken program leaves is not trusted.
                *subject = None;
                return Err(litmus.report(message, &program, expected.get(..place).unwrap_or(&expected)));
            }
            finest = finest.or(Some(manner));
        }
        Ok(())
    }
}

/// Executes the program; `look` gets what each repetition of each statement showed, and can end it.
fn play(
    manner: Manner,
    kept: &mut Option<Subject>,
    litmus: &Litmus,
    program: &[Statement<'_>],
    mut look: impl FnMut(&Step, Seen) -> Result<(), String>,
) -> Result<(), String> {
    let renewed = kept.take().filter(|subject| subject.can_execute(litmus));
    let mut subject = match renewed {
        Some(mut subject) => {
            subject.renew(litmus);
            subject
        }
        None => Subject::new(manner, litmus).map_err(|refused| refused.to_string())?,
    };
    for statement in program {
        for number in 0..statement.times {
            look(statement.step, subject.obey(statement.step, statement.restores_after(number)))?;
        }
    }
    subject.used(litmus);
    *kept = Some(subject);
    Ok(())
}

impl Litmus {
    /// Executes the program with embedders of every manner. All must observe the same values, faults and interrupts at the same
    /// instruction, whether they service the model always or only at deadlines, supply every signal or only those that the program adds to,
    /// and whether or not they are saved and restored on the way. Reserved bits must read as zero. Expectations in the program are ignored.
    ///
    /// # Errors
    /// The first difference.
    pub fn try_contract(&self) -> Result<(), Box<Broken>> {
        Trial::new().contract(self)
    }

    /// The violation, with the program as far as `seen` goes.
    fn report(&self, message: String, program: &[Statement<'_>], seen: &[Seen]) -> Box<Broken> {
        let mut reported = Litmus { steps: Vec::new(), ..self.clone() };
        let (mut lines, mut current) = (&[] as &[Lines], 0);
        let steps = program.iter().flat_map(|statement| core::iter::repeat_n(statement.step, statement.times as usize));
        for (step, seen) in steps.zip(seen) {
            if let Step::Thread(number) = step {
                current = number % (self.packages * self.threads).max(1);
            }
            self.add_outcome(&mut reported, &once(step), seen, lines, current);
            lines = &seen.lines;
        }
        Box::new(Broken { message, litmus: reported })
    }

    /// The signals that statements add to, and the states that hold at rest. For an embedder that does not supply such a state it never
    /// holds, which would be another program.
    pub(super) fn added(&self) -> SignalSet {
        let signals = self.steps.iter().flat_map(|(_, step)| match step {
            Step::Feed(_, signals) | Step::Record(_, _, signals) | Step::Devices(signals) => signals.as_slice(),
            _ => &[],
        });
        let resting = Signal::all().filter(|signal| signal.resting() && !signal.is_clock());
        signals.map(|(signal, _)| *signal).chain(resting).collect()
    }

    /// At the end every register of every thread is read, and every register of every box that the program uses.
    fn ending(&self) -> Vec<Step> {
        let registers = self.part.build().registers();
        let dialect = Dialect::of(self.part);
        let of_thread = |number| {
            let privileged = [Step::Thread(number), Step::Context(dialect.topmost.to_vec())];
            let addresses = registers.iter().map(|register| register.address).chain(dialect.more.iter().copied());
            privileged.into_iter().chain(addresses.map(|address| Step::Read(address, Ok(0))))
        };
        let mut units: Vec<UnitId> = self.steps.iter().filter_map(|(_, step)| untile::unit_of(step)).collect();
        units.sort_unstable();
        units.dedup();
        let of_boxes = units.into_iter().flat_map(untile::registers).map(|address| Step::Read(address, Ok(0)));
        (0..self.packages * self.threads).flat_map(of_thread).chain(of_boxes).collect()
    }

    /// Whether it is about boxes at all.
    pub(super) fn is_about_boxes(&self) -> bool {
        self.steps.iter().any(|(_, step)| untile::concerns(step))
    }

    /// Adds a step, with what was observed as its expectation; the lines had the levels `before`.
    fn add_outcome(&self, litmus: &mut Litmus, step: &Step, seen: &Seen, before: &[Lines], current: usize) {
        let mut add = |step: Step| litmus.steps.push((litmus.steps.len() + 1, step));
        match (step, seen.value) {
            (Step::Nest(step), _) => add(Step::Nest(seen.nest.map_or_else(|| step.clone(), |(seen, _)| nest::outcome(step, seen)))),
            (Step::Read(address, _), Some(value)) => add(Step::Read(*address, value)),
            (Step::Write(address, value, _), Some(result)) => add(Step::Write(*address, *value, result.err())),
            (Step::Untile(step), Some(Ok(value))) => add(Step::Untile(untile::outcome(step, value))),
            (Step::Collection(step), _) => add(Step::Collection(collection::outcome(step, &seen.posted))),
            (Step::Pin(pin, _), _) => add(Step::Pin(*pin, seen.pins.unwrap_or(0))),
            (step, _) => add(step.clone()),
        }
        let mut expect = |thread: usize, step: Step| [Step::Thread(thread), step, Step::Thread(current)].into_iter().for_each(&mut add);
        for thread in 0..self.packages * self.threads {
            let of_thread = |lines: &[Lines]| lines.get(thread).copied().unwrap_or_default();
            if of_thread(before) != of_thread(&seen.lines) {
                expect(thread, Step::Lines(of_thread(&seen.lines)));
            }
        }
        for thread in 0..self.packages * self.threads {
            let counters: Vec<u32> = seen.requests.iter().filter(|(owner, _)| *owner == thread).map(|(_, counter)| *counter).collect();
            if !counters.is_empty() {
                expect(thread, Step::Interrupts(counters));
            }
        }
    }

    /// The first reserved bits that a read showed as ones.
    fn reserved_bits(&self, registers: &[RegisterDescription], step: &Step, seen: &Seen) -> Option<String> {
        let (Step::Read(address, _), Some(Ok(value))) = (step, seen.value) else { return None };
        let register = registers.iter().find(|register| register.address == *address)?;
        let zero = value & !(Dialect::of(self.part).not_zero)(*address);
        let field = register.fields.iter().find(|field| field.access == FieldAccess::Reserved && field.of(zero) != 0)?;
        Some(format!("{} reads as {value:#x}: reserved bits {}:{} are not zero", register.name, field.high, field.low))
    }
}

/// The statement, once.
fn once(step: &Step) -> Step {
    match step {
        Step::Feed(_, signals) => Step::Feed(1, signals.clone()),
        Step::Request(_, request) => Step::Request(1, *request),
        Step::Record(_, record, signals) => Step::Record(1, record.clone(), signals.clone()),
        step => step.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_rests_at_its_level_is_the_same_to_every_embedder_before_a_cycle_has_passed() {
        let steps = "write PerfEvtSel0 0xc20001\nwrite PerfEvtSel0 0xffcfffdf\nread PerfCtr0 = 0\n";
        let litmus: Litmus = format!("title: t\npmu: k8\nsection: s\n{steps}").parse().expect("a litmus file");
        litmus.try_contract().expect("all see the same");
    }

    #[test]
    fn the_devices_of_a_trial_are_those_of_the_thread_s_package() {
        let header = "title: t\npmu: k8\nsection: s\npackages: 2\n";
        let steps = "thread 1\nwrite PerfEvtSel0 0x4201e0\ndevices dram_page_hits=2\nread PerfCtr0 = 2\n";
        let text = format!("{header}{steps}");
        let litmus: Litmus = text.parse().expect("a litmus file");
        let mut subject = Subject::new(Manner::Signals, &litmus).expect("a K8");
        let seen: Vec<Seen> = litmus.steps.iter().map(|(_, step)| subject.obey(step, true)).collect();
        assert_eq!(seen.last().and_then(|seen| seen.value), Some(Ok(2)));
    }

    #[test]
    fn boxes_of_an_earlier_program_are_new_again_after_one_without_boxes() {
        let read = |steps: &str| -> Litmus { format!("title: t\npmu: knl\nsection: s\n{steps}").parse().expect("a litmus file") };
        let with_boxes = read("write ubox.ctl0 0x2000000\nread ubox.ctl0 = 0\n");
        let mut trial = Trial::new();
        for program in [&with_boxes, &read("save\n"), &read("read ubox.ctl0 = 0\n"), &with_boxes] {
            trial.contract(program).expect("a machine that was used does what a new one does");
        }
    }
}
