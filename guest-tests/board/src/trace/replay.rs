//! What passes between a guest and its PMU, from a recording: the statements of a litmus file in place of an engine.
//!
//! A recording has no addresses of accesses: entries have the address 0. It does not say which instructions were retired, but which were fed, so
//! the times of entries are those of what was fed: cycles, or instructions where a statement has no cycles. Nor does it say when interrupts
//! were taken, or which address space was current.

use vm_pmu::Part;
use vm_pmu::arch::access::{Address, PciAddress};
use vm_pmu::arch::feed::Signal;
use vm_pmu::irq::InterruptLine;
use vm_pmu::litmus::{Configuration, Failure, Litmus, Step, UntileStep};
use vm_pmu::topology::Machine;

use super::{Bytes, Place, Recorder, Surrounding, Tracer, raised};
use crate::report::Trace;

/// What a recording showed.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What was kept, of one thread after the other.
    pub trace: Vec<Trace>,
    /// How many statements were executed.
    pub done: usize,
    /// How many expectations were checked.
    pub checked: usize,
    /// The first difference, at which the replay ends.
    pub difference: Option<Failure>,
}

/// The time of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// What was fed, in cycles.
    fed: u64,
    /// How much later entries are shown, so that those between which nothing was fed are not at the same time.
    behind: u64,
    /// The time of the last access.
    last: Option<u64>,
}

impl Clock {
    fn feed(&mut self, times: u64, signals: &[(Signal, u64)]) {
        let of = |wanted: Signal| signals.iter().find(|(signal, _)| *signal == wanted).map_or(0, |(_, amount)| *amount);
        let each = of(Signal::Cycles).max(of(Signal::InstructionsRetired));
        self.fed = self.fed.saturating_add(each.saturating_mul(times));
    }

    fn now(&self) -> u64 {
        self.fed.saturating_add(self.behind)
    }

    fn access(&mut self) -> u64 {
        if self.last == Some(self.now()) {
            self.behind = self.behind.saturating_add(1);
        }
        self.last = Some(self.now());
        self.now()
    }
}

/// A thread of the machine.
struct Follower {
    recorder: Recorder,
    clock: Clock,
    /// The levels of POWER's lines when they were last stated.
    lines: [bool; 2],
}

/// Does again what `program` has, and traces it.
///
/// # Errors
/// The machine cannot be built, or does not take what the program begins with.
pub fn replay(program: &Litmus, tracer: &Tracer) -> Result<Replayed, Failure> {
    let mut execution = program.begin()?;
    let machine = execution.machine();
    let begin =
        |number| Some(Follower { recorder: Recorder::new(tracer, &machine.thread(number)?), clock: Clock::default(), lines: [false; 2] });
    let mut followers: Vec<Follower> = (0..machine.threads()).filter_map(begin).collect();
    let mut difference = None;
    let shown = guest_statements(program);
    while let Some(step) = execution.next() {
        let is_shown = execution.done() < shown;
        let thread = execution.thread();
        let before = match (step, execution.machine().thread(thread), followers.get(thread)) {
            (Step::Write(address, ..), Some(thread), Some(follower)) => follower.recorder.before(&thread, *address),
            (Step::Untile(UntileStep::Write(at, _)), ..) => doubleword(execution.machine(), at),
            _ => None,
        };
        if let Err(failure) = execution.step() {
            difference = Some(failure);
            break;
        }
        if let Some(follower) = followers.get_mut(thread).filter(|_| is_shown) {
            follower.show(step, before, thread, program.part, execution.machine());
        }
    }
    let trace = followers.iter().flat_map(|follower| follower.recorder.kept()).collect();
    Ok(Replayed { trace, done: execution.done(), checked: execution.checked(), difference })
}

/// How many of the first statements of a program are about what a guest did. A recording ends with lines that say that no more interrupts were
/// asked for, and with what all registers held.
fn guest_statements(program: &Litmus) -> usize {
    let is_end = |(_, step): &(usize, Step)| matches!(step, Step::Interrupts(counters) if counters.is_empty());
    let end = program.steps.iter().rposition(is_end).filter(|_| program.beginning.is_recording);
    end.unwrap_or(program.steps.len())
}

/// The same bytes for a trace.
fn bytes(at: &Configuration) -> Bytes {
    let Configuration { bus, device, function, offset, size } = *at;
    Bytes::at(PciAddress { bus, device, function, offset }, size)
}

/// What the doubleword of an access in configuration space holds; none where no function is.
fn doubleword<L: InterruptLine>(machine: &Machine<L>, at: &Configuration) -> Option<u64> {
    let untile = machine.untile()?;
    let is_there = untile.functions().any(|there| (there.bus, there.device, there.function) == (at.bus, at.device, at.function));
    is_there.then(|| untile.pci_look(at.bus, at.device, at.function, at.offset & !3, 4).into())
}

impl Follower {
    /// The statement `step` of thread `number` was executed; a register that it wrote had held `before`.
    fn show<L: InterruptLine>(&mut self, step: &Step, before: Option<u64>, number: usize, part: Part, machine: &Machine<L>) {
        let Some(thread) = machine.thread(number) else { return };
        let instruction = thread.totals().get(Signal::InstructionsRetired);
        match step {
            Step::Feed(times, signals) | Step::Record(times, _, signals) => self.clock.feed(*times, signals),
            Step::Read(..) | Step::Write(..) | Step::Untile(UntileStep::Read(..) | UntileStep::Write(..)) => drop(self.clock.access()),
            _ => {}
        }
        let place = Place { instruction, cycle: self.clock.now(), address: 0 };
        self.recorder.move_to(place);
        match step {
            Step::Read(address, answer) => self.recorder.access(&thread, place, *address, (None, None), *answer),
            Step::Write(address, value, fault) => {
                let answer = fault.map_or(Ok(*value), Err);
                self.recorder.access(&thread, place, *address, (before, Some(*value)), answer);
            }
            Step::Untile(UntileStep::Read(at, value)) if doubleword(machine, at).is_some() => {
                let bytes = bytes(at);
                self.recorder.access(&thread, place, Address::Pci(bytes.address), (None, None), Ok(bytes.read(*value)));
            }
            Step::Untile(UntileStep::Write(at, value)) => {
                let Some(held) = before else { return };
                let wrote = bytes(at).written(held, *value);
                self.recorder.access(&thread, place, Address::Pci(bytes(at).address), (before, Some(wrote)), Ok(wrote));
            }
            // POWER's lines stay raised and are stated as such.
            Step::Interrupts(counters) if !counters.is_empty() && !matches!(part, Part::Power9(_)) => {
                let counters = counters.iter().fold(0, |set, counter| set | 1u32.checked_shl(*counter).unwrap_or(0));
                self.recorder.interrupt(&thread, counters);
                self.recorder.leave_open(&thread);
            }
            Step::Lines(lines) => {
                let lines = [lines.interrupt, lines.event_based_branch];
                let before = std::mem::replace(&mut self.lines, lines);
                if let Some(counters) = raised(before, lines, &thread.state()) {
                    self.recorder.interrupt(&thread, counters);
                }
                self.recorder.leave_open(&thread);
            }
            Step::Context(_) => self.recorder.surround(&thread, Surrounding::of(&thread.context(), None)),
            Step::Feed(..) | Step::Record(..) => self.recorder.step(&thread),
            _ => {}
        }
    }
}
