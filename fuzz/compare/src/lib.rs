//! Runs a program on a machine and on the references of its packages, statement by statement, and compares what they show: values, faults,
//! pins, interrupts and the memory of nests after each statement, and at the end every register of every thread.

mod boxes;
mod nest;
mod parts;
mod subject;

use std::fmt;

use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::alert::Lines;
use vm_pmu::arch::feed::{Context, Record, Signal};
use vm_pmu::arch::model::Model;
use vm_pmu::litmus::{ContextField, Litmus, Step, UntileStep};
use vm_pmu_reference::{Reference, Shared};

pub use parts::reference;
use subject::Subject;

/// The most repetitions of one statement that are compared.
const MOST_REPETITIONS: u64 = 4096;

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Reads whose values or faults were compared, those at the end among them.
    pub reads: usize,
    /// Writes whose faults were compared.
    pub writes: usize,
    /// Pins whose toggles were compared.
    pub pins: usize,
    /// Interrupts that both requested.
    pub interrupts: usize,
    /// Levels of lines that were compared, those of each thread after each statement.
    pub lines: usize,
    /// Statements about the nests of chips whose results were compared, and the memory behind them.
    pub nests: usize,
    /// Reads that the reference did not know.
    pub unknown_reads: usize,
    /// Statements after which the reference did not know what was requested.
    pub unknown_interrupts: usize,
    /// Statements about nests whose results the reference did not know.
    pub unknown_nests: usize,
    /// Statements left out: the part has no reference, or the reference cannot follow the first of them.
    pub left_out: usize,
}

impl std::ops::AddAssign for Agreed {
    fn add_assign(&mut self, other: Agreed) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.pins += other.pins;
        self.interrupts += other.interrupts;
        self.lines += other.lines;
        self.nests += other.nests;
        self.unknown_reads += other.unknown_reads;
        self.unknown_interrupts += other.unknown_interrupts;
        self.unknown_nests += other.unknown_nests;
        self.left_out += other.left_out;
    }
}

/// The first difference, and the program that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// What the machine showed.
    pub model: String,
    /// What the reference showed.
    pub reference: String,
    /// The program up to there, with what the reference showed as the last expectation.
    pub litmus: Litmus,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the model: {}\nthe reference: {}\n\n{}", self.model, self.reference, self.litmus)
    }
}

impl std::error::Error for Disagreement {}

/// What a statement showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The result of an access; `None` where there was none, or where it is not known.
    value: Option<Result<u64, Fault>>,
    /// The requests of all threads, sorted; `None` where they are not known.
    interrupts: Option<Vec<(usize, u32)>>,
    /// The levels of each thread's lines, where they are known.
    lines: Vec<Option<Lines>>,
}

/// Whether the program tells cycles of a thread whose clock stands still, which no embedder does. What edge detectors make of such cycles is
/// no rule of any part.
#[must_use]
pub fn tells_cycles_of_a_halted_thread(litmus: &Litmus) -> bool {
    let mut halted = vec![false; litmus.packages * litmus.threads];
    let mut current = 0;
    litmus.steps.iter().any(|(_, step)| {
        match step {
            Step::Thread(number) => current = number % halted.len().max(1),
            Step::Reset(_) => halted.fill(false),
            Step::Context(fields) => {
                let last = fields.iter().rev().find(|(field, _)| *field == ContextField::Halted);
                if let (Some((_, value)), Some(halted)) = (last, halted.get_mut(current)) {
                    *halted = *value != 0;
                }
            }
            Step::Feed(_, signals) | Step::Record(_, _, signals) if halted.get(current) == Some(&true) => {
                return signals.iter().any(|(signal, amount)| *signal == Signal::Cycles && *amount != 0);
            }
            _ => {}
        }
        false
    })
}

/// Runs `litmus` on a machine and on references of its packages. Expectations in the program are ignored.
///
/// # Errors
/// The first difference.
pub fn compare(litmus: &Litmus) -> Result<Agreed, Box<Disagreement>> {
    compare_with(litmus, reference)
}

fn compare_with(litmus: &Litmus, reference: impl Fn(&Litmus) -> Option<Box<dyn Reference>>) -> Result<Agreed, Box<Disagreement>> {
    let mut agreed = Agreed::default();
    let references: Option<Vec<Box<dyn Reference>>> = (0..litmus.packages).map(|_| reference(litmus)).collect();
    let (Some(packages), Some(mut subject)) = (references, Subject::new(litmus)) else {
        return Ok(Agreed { left_out: litmus.steps.len(), ..agreed });
    };
    let mut references = References { packages, shared: parts::shared(litmus), threads: litmus.threads };
    let mut program = Litmus { steps: Vec::new(), ..litmus.clone() };
    let steps = litmus.steps.iter().flat_map(|(_, step)| split(step)).chain(nest::ending(litmus)).chain(ending(litmus));
    let steps = steps.chain(references.ending(litmus));
    let mut steps = steps.collect::<Vec<_>>().into_iter();
    let mut nests = nest::Both::new(litmus);
    while let Some(step) = steps.next() {
        match &step {
            Step::Nest(step) => {
                nests.compare(step, &mut program, &mut agreed)?;
                continue;
            }
            Step::Save => nests.save(),
            // What no reference models: messages of the mesh, and what cores post.
            Step::Untile(step) if boxes::is_beyond(step) => continue,
            Step::Collection(_) => continue,
            _ => {}
        }
        let context = subject.context_of_reference_after(&step);
        let Some(expected) = references.obey(&step, subject.current(), context) else {
            agreed.left_out = 1 + steps.len();
            return Ok(agreed);
        };
        let seen = subject.obey(litmus, &step);
        add(&mut program, &step, &expected, subject.current());
        if expected.value.is_some() && seen.value != expected.value {
            let word = |seen: &Seen| word(&seen.value);
            return Err(Box::new(Disagreement { model: word(&seen), reference: word(&expected), litmus: program }));
        }
        if expected.interrupts.is_some() && seen.interrupts != expected.interrupts {
            let word = |seen: &Seen| format!("interrupts (thread, counter) {:?}", seen.interrupts.as_deref().unwrap_or_default());
            return Err(Box::new(Disagreement { model: word(&seen), reference: word(&expected), litmus: program }));
        }
        for (thread, (seen, expected)) in seen.lines.iter().zip(&expected.lines).enumerate() {
            if expected.is_some() && seen != expected {
                let word = |lines: &Option<Lines>| format!("lines of thread {thread} {lines:?}");
                return Err(Box::new(Disagreement { model: word(seen), reference: word(expected), litmus: program }));
            }
        }
        agreed.lines += expected.lines.iter().flatten().count();
        match (&step, expected.value) {
            (Step::Read(..) | Step::Untile(UntileStep::Read(..)), Some(_)) => agreed.reads += 1,
            (Step::Read(..) | Step::Untile(UntileStep::Read(..)), None) => agreed.unknown_reads += 1,
            (Step::Write(..), Some(_)) => agreed.writes += 1,
            (Step::Pin(..), Some(_)) => agreed.pins += 1,
            _ => {}
        }
        match expected.interrupts {
            Some(interrupts) => agreed.interrupts += interrupts.len(),
            None => agreed.unknown_interrupts += 1,
        }
    }
    Ok(agreed)
}

fn word(value: &Option<Result<u64, Fault>>) -> String {
    match value {
        None => "nothing".into(),
        Some(Ok(value)) => format!("{value:#x}"),
        Some(Err(fault)) => fault.word().into(),
    }
}

/// A repeated statement is one instruction at a time. What a file expects is not executed.
fn split(step: &Step) -> Vec<Step> {
    let times = |times: u64, one: Step| (0..times.min(MOST_REPETITIONS)).map(|_| one.clone()).collect();
    match step {
        Step::Feed(n, signals) => times(*n, Step::Feed(1, signals.clone())),
        Step::Record(n, record, signals) => times(*n, Step::Record(1, record.clone(), signals.clone())),
        Step::Request(n, request) => times(*n, Step::Request(1, *request)),
        step if step.is_expectation() => Vec::new(),
        step => vec![step.clone()],
    }
}

/// At the end every register of every thread is read.
fn ending(litmus: &Litmus) -> Vec<Step> {
    let registers: Vec<Address> = litmus.part.build().registers().iter().map(|register| register.address).collect();
    let privileged = |thread| [Step::Thread(thread), Step::Context(parts::topmost(litmus.part))];
    let of_thread = |thread| privileged(thread).into_iter().chain(registers.iter().map(|address| Step::Read(*address, Ok(0))));
    (0..litmus.packages * litmus.threads).flat_map(of_thread).collect()
}

/// Adds a statement to the program that is shown, with what the reference saw as its expectation.
fn add(program: &mut Litmus, step: &Step, seen: &Seen, current: usize) {
    let mut push = |step: Step| program.steps.push((program.steps.len() + 1, step));
    push(match (step, &seen.value) {
        (Step::Read(address, _), Some(value)) => Step::Read(*address, *value),
        (Step::Write(address, value, _), Some(result)) => Step::Write(*address, *value, result.err()),
        (Step::Pin(pin, _), Some(Ok(toggles))) => Step::Pin(*pin, *toggles),
        (Step::Untile(UntileStep::Read(place, _)), Some(Ok(value))) => Step::Untile(UntileStep::Read(*place, *value as u32)),
        (step, _) => step.clone(),
    });
    let interrupts = seen.interrupts.as_deref().unwrap_or_default();
    let mut threads: Vec<usize> = interrupts.iter().map(|(thread, _)| *thread).collect();
    threads.dedup();
    for thread in threads {
        let own = interrupts.iter().filter(|(other, _)| *other == thread).map(|(_, counter)| *counter).collect();
        [Step::Thread(thread), Step::Interrupts(own), Step::Thread(current)].into_iter().for_each(&mut push);
    }
}

/// The references of a machine, one for each package.
struct References {
    packages: Vec<Box<dyn Reference>>,
    /// What all packages share.
    shared: Option<Box<dyn Shared>>,
    /// How many threads a package has.
    threads: usize,
}

impl References {
    /// Executes a statement of thread `current`, whose context it changes to `context`; `None` if no reference can follow it.
    fn obey(&mut self, step: &Step, current: usize, context: Context) -> Option<Seen> {
        let (number, thread) = (current / self.threads, current % self.threads);
        let package = self.packages.get_mut(number)?;
        let mut value = None;
        if let Some(shared) = self.shared.as_mut().filter(|shared| boxes::concerns(shared.as_ref(), step)) {
            value = boxes::tell(shared.as_mut(), context.privilege, step);
            for number in shared.take_interrupted() {
                if let Some(package) = self.packages.get_mut(number) {
                    package.interrupt_by_box();
                }
            }
        } else {
            match step {
                Step::Write(address, written, _) => {
                    let is_known = package.knows_faults_of(thread, *address);
                    let written = package.write(thread, *address, *written).map(|()| 0);
                    value = is_known.then_some(written);
                }
                Step::Read(address, _) => value = package.read(thread, *address),
                Step::Feed(_, signals) => package.instruction(thread, signals, &Record::at(0)),
                Step::Record(_, record, signals) => package.instruction(thread, signals, record),
                Step::Request(_, request) if !package.request(thread, request) => return None,
                Step::Devices(signals) => package.devices(signals),
                Step::Watch(pins) => package.watch_pins(thread, *pins),
                Step::Pin(pin, _) => value = package.pin_toggles(thread, *pin).map(Ok),
                Step::Inject(occurrence, amount) => package.inject(thread, *occurrence, *amount),
                Step::Context(_) => package.set_context(thread, context),
                Step::Reset(reset) => package.reset(thread, *reset),
                Step::Nested(step) if !package.nested(thread, step) => return None,
                Step::Untile(_) | Step::Nest(_) | Step::Collection(_) | Step::InjectPackage(..) | Step::Levels(_) => return None,
                _ => {}
            }
        }
        let lines = self.packages.iter_mut().flat_map(|package| (0..self.threads).map(|thread| package.lines(thread))).collect();
        Some(Seen { value, interrupts: self.take_interrupts(), lines })
    }

    /// At the end every register that packages share is read, too, if the program concerns any of them.
    fn ending(&self, litmus: &Litmus) -> Vec<Step> {
        let Some(shared) = self.shared.as_deref() else { return Vec::new() };
        let is_concerned = litmus.steps.iter().any(|(_, step)| boxes::concerns(shared, step));
        let addresses = if is_concerned { shared.addresses() } else { Vec::new() };
        addresses.into_iter().map(|address| Step::Read(address, Ok(0))).collect()
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let mut all = Some(Vec::new());
        for (number, package) in self.packages.iter_mut().enumerate() {
            match (package.take_interrupts(), &mut all) {
                (Some(own), Some(all)) => all.extend(own.into_iter().map(|(thread, counter)| (number * self.threads + thread, counter))),
                _ => all = None,
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu::arch::feed::Request;
    use vm_pmu::arch::model::{Occurrence, Reset};

    use super::*;

    /// A reference that knows one thing, and that is wrong: RDPMC reads 1.
    struct Wrong;

    impl Reference for Wrong {
        fn write(&mut self, _thread: usize, _address: Address, _value: u64) -> Result<(), Fault> {
            Ok(())
        }
        fn read(&mut self, _thread: usize, address: Address) -> Option<Result<u64, Fault>> {
            matches!(address, Address::Rdpmc(_)).then_some(Ok(1))
        }
        fn instruction(&mut self, _thread: usize, _signals: &[(Signal, u64)], _record: &Record) {}
        fn request(&mut self, _thread: usize, _request: &Request) -> bool {
            false
        }
        fn devices(&mut self, _signals: &[(Signal, u64)]) {}
        fn inject(&mut self, _thread: usize, _occurrence: Occurrence, _amount: u64) {}
        fn set_context(&mut self, _thread: usize, _context: Context) {}
        fn reset(&mut self, _thread: usize, _reset: Reset) {}
        fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
            None
        }
    }

    fn litmus(part: &str, steps: &str) -> Litmus {
        format!("title: t\npmu: {part}\nsection: s\n\n{steps}").parse().expect("a litmus file")
    }

    #[test]
    fn a_difference_is_shown_with_the_program_up_to_it() {
        let program = litmus("k8", "feed cycles=1\nread rdpmc:0 = 0\nfeed cycles=2\n");
        let disagreement = compare_with(&program, |_| Some(Box::new(Wrong))).expect_err("it is wrong");
        assert_eq!((disagreement.model.as_str(), disagreement.reference.as_str()), ("0x0", "0x1"));
        assert!(disagreement.to_string().ends_with("feed cycles=1\nread rdpmc:0x0 = 0x1\n"), "{disagreement}");
    }

    #[test]
    fn what_a_reference_does_not_know_is_counted_and_not_compared() {
        let agreed = compare_with(&litmus("k8", "read PerfCtr0 = 7\n"), |_| Some(Box::new(Wrong))).expect("nothing is known");
        // The statement itself, and at the end eight registers.
        assert_eq!((agreed.reads, agreed.unknown_reads), (0, 9));
    }

    #[test]
    fn what_follows_a_statement_that_a_reference_cannot_follow_is_left_out() {
        let agreed = compare_with(&litmus("knl", "request data-read\nread rdpmc:0 = 0\n"), |_| Some(Box::new(Wrong)));
        assert_eq!(agreed.map(|agreed| (agreed.reads, agreed.left_out > 2)), Ok((0, true)));
    }

    #[test]
    fn cycles_of_a_halted_thread_are_found() {
        let tells = |steps| tells_cycles_of_a_halted_thread(&litmus("k8", steps));
        assert!(tells("context halted=1\nfeed cycles=1\n"));
        assert!(!tells("context halted=1\nfeed instructions_retired=1\ncontext halted=0\nfeed cycles=1\n"));
    }

    #[test]
    fn a_part_without_a_reference_is_left_out() {
        let agreed = compare_with(&litmus("k8", "read PerfCtr0 = 0\n"), |_| None);
        assert_eq!(agreed, Ok(Agreed { left_out: 1, ..Agreed::default() }));
    }
}
