//! Tests the contract: a program that is executed in several manners must have the same results in all of them.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use spin::Mutex;
use vm_pmu_arch::access::Fault;
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Deadlines, Demand, Occasion, Pace, Record, Signal, SignalSet, Totals};
use vm_pmu_arch::layout::FieldAccess;
use vm_pmu_arch::model::Model;

use super::dialect::Dialect;
use super::levels::Levels;
use super::{ContextField, Litmus, Step, nest, untile};
use crate::irq::InterruptLine;
use crate::topology::{BuildError, Builder, Machine, Thread};
use crate::untile::UnitId;

/// How an embedder of the trial compares deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// It reports the record of every instruction, wanted or not, and services every thread after it.
    Always,
    /// It compares each signal that an instruction adds to. It reports records where the demand asks for them, as do those below.
    Signals,
    /// As `Signals`, and it reports only what is demanded.
    Demanded,
    /// As `Demanded`, and it supplies only the signals that the program ever adds to.
    Supplied,
    /// It compares the pace with the horizon, once per instruction.
    Horizon,
    /// As `Signals`, and it is saved and restored into a new machine after every statement.
    Restored,
}

const MANNERS: [Manner; 6] = [Manner::Always, Manner::Signals, Manner::Demanded, Manner::Supplied, Manner::Horizon, Manner::Restored];

impl Manner {
    fn builder(self, litmus: &Litmus) -> Builder {
        match self {
            Manner::Supplied => litmus.builder().supplies(litmus.added()),
            Manner::Horizon => {
                let between = SignalSet::from_iter([Signal::InterruptsTaken, Signal::ExceptionsTaken]);
                litmus.builder().pace(Pace::default().single(SignalSet::only(Signal::InstructionsRetired)).between_blocks(between))
            }
            Manner::Always | Manner::Signals | Manner::Demanded | Manner::Restored => litmus.builder(),
        }
    }

    /// Whether it reports only what is demanded.
    fn leaves_out(self) -> bool {
        matches!(self, Manner::Demanded | Manner::Supplied)
    }
}

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

/// Interrupt requests: the thread and its counter.
#[derive(Default)]
struct Requests(Mutex<Vec<(usize, u32)>>);

impl InterruptLine for Requests {
    fn raise(&self, thread: usize, counter: u32) {
        self.0.lock().push((thread, counter));
    }
}

/// What a statement showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    value: Option<Result<u64, Fault>>,
    requests: Vec<(usize, u32)>,
    pins: Option<u64>,
    /// The levels of each thread's lines.
    lines: Vec<Lines>,
    /// What a statement about the nest showed, and a digest of all chips and their memory.
    nest: Option<(nest::Seen, u64)>,
}

struct Subject {
    manner: Manner,
    machine: Machine<Requests>,
    chips: nest::Chips,
    levels: Levels,
    current: usize,
}

impl Litmus {
    /// Executes the program with embedders of every manner. All must observe the same values, faults and interrupts at the same
    /// instruction, whether they service the model always or only at deadlines, supply every signal or only those that the program adds to,
    /// and whether or not they are saved and restored on the way. Reserved bits must read as zero. Expectations in the program are ignored.
    ///
    /// # Errors
    /// The first difference.
    pub fn try_contract(&self) -> Result<(), Box<Broken>> {
        let subjects: Result<Vec<_>, _> = MANNERS.into_iter().map(|manner| Subject::new(manner, self)).collect();
        let refused = |refused: BuildError| Box::new(Broken { message: refused.to_string(), litmus: self.clone() });
        let mut subjects = subjects.map_err(refused)?;
        let mut reported = Litmus { steps: Vec::new(), ..self.clone() };
        let mut lines = Vec::new();
        let program = self.steps.iter().map(|(_, step)| step.clone()).chain(self.ending()).map(|step| (step, true));
        // Boxes have many registers, and saving a machine after each of them would show nothing more.
        let program = program.chain(self.ending_of_boxes().into_iter().map(|step| (step, false)));
        for (step, restores) in program.flat_map(|(step, restores)| split(&step).into_iter().map(move |step| (step, restores))) {
            let Some((reference, others)) = subjects.split_first_mut() else { break };
            let expected = reference.obey(self, &step, restores);
            self.add_outcome(&mut reported, &step, &expected, &lines, reference.current);
            for subject in others {
                let seen = subject.obey(self, &step, restores);
                if seen != expected {
                    let message = format!("{:?} saw {seen:?}, {:?} saw {expected:?}", subject.manner, reference.manner);
                    return Err(Box::new(Broken { message, litmus: reported }));
                }
            }
            if let Some(message) = self.reserved_bits(&reference.machine, &step, &expected) {
                return Err(Box::new(Broken { message, litmus: reported }));
            }
            lines = expected.lines;
        }
        Ok(())
    }

    /// The signals that statements add to, and the states that hold at rest. For an embedder that does not supply such a state it never
    /// holds, which would be another program.
    fn added(&self) -> SignalSet {
        let signals = self.steps.iter().flat_map(|(_, step)| match step {
            Step::Feed(_, signals) | Step::Record(_, _, signals) | Step::Devices(signals) => signals.as_slice(),
            _ => &[],
        });
        let resting = Signal::all().filter(|signal| signal.resting() && !signal.is_clock());
        signals.map(|(signal, _)| *signal).chain(resting).collect()
    }

    /// At the end every register of every thread is read.
    fn ending(&self) -> Vec<Step> {
        let registers = self.part.build().registers();
        let dialect = Dialect::of(self.part);
        let of_thread = |number| {
            let privileged = [Step::Thread(number), Step::Context(dialect.topmost.to_vec())];
            let addresses = registers.iter().map(|register| register.address).chain(dialect.more.iter().copied());
            privileged.into_iter().chain(addresses.map(|address| Step::Read(address, Ok(0))))
        };
        (0..self.packages * self.threads).flat_map(of_thread).collect()
    }

    /// Then every register of every box that the program uses.
    fn ending_of_boxes(&self) -> Vec<Step> {
        let mut units: Vec<UnitId> = self.steps.iter().filter_map(|(_, step)| untile::unit_of(step)).collect();
        units.sort_unstable();
        units.dedup();
        units.into_iter().flat_map(untile::registers).map(|address| Step::Read(address, Ok(0))).collect()
    }

    /// Whether it is about boxes at all.
    fn is_about_boxes(&self) -> bool {
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
            (Step::Pin(pin, _), _) => add(Step::Pin(*pin, seen.pins.unwrap_or(0))),
            (step, _) => add(step.clone()),
        }
        let mut expect = |thread: usize, step: Step| [Step::Thread(thread), step, Step::Thread(current)].into_iter().for_each(&mut add);
        for (thread, lines) in seen.lines.iter().enumerate() {
            if before.get(thread).copied().unwrap_or_default() != *lines {
                expect(thread, Step::Lines(*lines));
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
    fn reserved_bits(&self, machine: &Machine<Requests>, step: &Step, seen: &Seen) -> Option<String> {
        let (Step::Read(address, _), Some(Ok(value))) = (step, seen.value) else { return None };
        let registers = machine.thread(0)?.registers();
        let register = registers.iter().find(|register| register.address == *address)?;
        let zero = value & !(Dialect::of(self.part).not_zero)(*address);
        let field = register.fields.iter().find(|field| field.access == FieldAccess::Reserved && field.of(zero) != 0)?;
        Some(format!("{} reads as {value:#x}: reserved bits {}:{} are not zero", register.name, field.high, field.low))
    }
}

/// A repeated feed is one instruction at a time: interrupts are compared after each.
fn split(step: &Step) -> Vec<Step> {
    match step {
        Step::Feed(times, signals) => (0..(*times).min(4096)).map(|_| Step::Feed(1, signals.clone())).collect(),
        Step::Request(times, request) => (0..(*times).min(4096)).map(|_| Step::Request(1, *request)).collect(),
        Step::Record(times, record, signals) => (0..(*times).min(4096)).map(|_| Step::Record(1, record.clone(), signals.clone())).collect(),
        Step::Interrupts(_)
        | Step::Lines(_)
        | Step::Late(_)
        | Step::Pins(_)
        | Step::Demand(..)
        | Step::Records(_)
        | Step::Match(_)
        | Step::Epoch(_)
        | Step::Deadline(..) => Vec::new(),
        step => vec![step.clone()],
    }
}

impl Subject {
    fn new(manner: Manner, litmus: &Litmus) -> Result<Subject, BuildError> {
        let machine = manner.builder(litmus).build(Requests::default())?;
        let (chips, levels) = (nest::Chips::new(litmus.packages, litmus.threads), Levels::new(machine.threads(), litmus.added()));
        Ok(Subject { manner, machine, chips, levels, current: 0 })
    }

    fn obey(&mut self, litmus: &Litmus, step: &Step, restores: bool) -> Seen {
        let mut seen = Seen::default();
        match step {
            Step::Thread(number) => self.current = *number % self.machine.threads().max(1),
            Step::Save => self.save(litmus),
            Step::Untile(step) => {
                let access = match self.manner {
                    Manner::Always => untile::Access::Single,
                    Manner::Demanded | Manner::Supplied => untile::Access::Demanded,
                    Manner::Horizon => untile::Access::Parts,
                    Manner::Signals | Manner::Restored => untile::Access::Whole,
                };
                seen.value = self.machine.untile().map(|boxes| Ok(untile::act(boxes, step, access)));
            }
            Step::Nest(step) => {
                let access = match self.manner {
                    Manner::Always => nest::Access::Single,
                    Manner::Horizon => nest::Access::Parts,
                    Manner::Signals | Manner::Demanded | Manner::Supplied | Manner::Restored => nest::Access::Whole,
                };
                // A step that cannot be executed fails in every manner.
                let shown = nest::act(&mut self.chips, step, access).unwrap_or(nest::Seen::Nothing);
                seen.nest = Some((shown, self.chips.digest()));
            }
            step => {
                if let Some(thread) = self.machine.thread(self.current) {
                    act(&self.machine, thread, self.manner, step, &mut seen);
                    self.levels.note(self.current, step);
                    self.levels.supply(&self.machine);
                }
            }
        }
        if self.manner == Manner::Restored && restores {
            self.save(litmus);
        }
        seen.requests = core::mem::take(&mut *self.machine.line().0.lock());
        seen.requests.sort_unstable();
        seen.lines.extend((0..self.machine.threads()).filter_map(|number| self.machine.thread(number)).map(|thread| thread.lines()));
        seen
    }

    fn save(&mut self, litmus: &Litmus) {
        // The same part and as many threads: neither machine nor state can be refused.
        let Ok(next) = self.manner.builder(litmus).build(Requests::default()) else { return };
        if litmus.is_about_boxes() {
            let _ = untile::move_boxes(&self.machine, &next);
        }
        let _ = next.restore(&self.machine.states());
        next.line().0.lock().append(&mut self.machine.line().0.lock());
        self.machine = next;
        self.chips.save();
    }
}

fn act(machine: &Machine<Requests>, thread: Thread<'_, Requests>, manner: Manner, step: &Step, seen: &mut Seen) {
    match step {
        Step::Context(fields) => {
            let dialect = Dialect::of(machine.part());
            let ticks = thread.totals().get(Signal::TimeBaseTicks);
            let change = |context, (field, value): &(ContextField, u64)| dialect.change(context, *field, *value, ticks);
            thread.set_context(fields.iter().fold(thread.context(), change));
        }
        Step::Write(address, value, _) => seen.value = Some(thread.write(*address, *value).map(|()| 0)),
        Step::Read(address, _) => seen.value = Some(thread.read(*address)),
        Step::Feed(_, signals) => execute(machine, thread, manner, &Record::at(0), signals),
        Step::Record(_, record, signals) => execute(machine, thread, manner, record, signals),
        Step::Request(_, request) => {
            if manner == Manner::Always || thread.demand().records().requests {
                thread.request(request);
            }
        }
        Step::Nested(step) => {
            if manner == Manner::Always || thread.demand().records().nested {
                thread.nested(step);
            }
        }
        Step::Devices(signals) => {
            let package = thread.package();
            if let Some(devices) = machine.devices(package) {
                let demand = if manner.leaves_out() { machine.device_demand(package) } else { None };
                report(&devices.totals, signals, demand);
                if manner == Manner::Always || signals.iter().any(|(signal, _)| devices.deadlines.reached(*signal, &devices.totals)) {
                    machine.service_devices(package);
                }
            }
        }
        Step::Inject(occurrence, amount) => {
            thread.inject(*occurrence, *amount);
        }
        Step::Watch(pins) => thread.watch_pins(*pins),
        Step::Pin(pin, _) => seen.pins = Some(thread.pin_toggles(*pin)),
        Step::Reset(reset) => thread.reset(*reset),
        Step::Thread(_)
        | Step::Save
        | Step::Untile(_)
        | Step::Nest(_)
        | Step::Interrupts(_)
        | Step::Lines(_)
        | Step::Late(_)
        | Step::Pins(_)
        | Step::Demand(..)
        | Step::Records(_)
        | Step::Match(_)
        | Step::Epoch(_)
        | Step::Deadline(..) => {}
    }
}

/// Adds the signals; with a demand, only those that it names. Ticks of the time base are always reported: the time base is their total and
/// an offset.
fn report(totals: &Totals, signals: &[(Signal, u64)], demand: Option<Demand>) {
    for (signal, amount) in signals {
        if *signal == Signal::TimeBaseTicks || demand.is_none_or(|demand| demand.wants(*signal)) {
            totals.add(*signal, *amount);
        }
    }
}

/// One instruction: its signals, its record, its deadlines.
fn execute(machine: &Machine<Requests>, thread: Thread<'_, Requests>, manner: Manner, record: &Record, signals: &[(Signal, u64)]) {
    let deadlines: &Deadlines = thread.deadlines();
    let demand = thread.demand();
    report(thread.totals(), signals, manner.leaves_out().then_some(demand));
    let report_record = |reached: bool| {
        if demand.records().wants(reached, Occasion::of(record)) {
            thread.record(record);
        }
    };
    match manner {
        Manner::Always => {
            thread.record(record);
            (0..machine.threads()).filter_map(|number| machine.thread(number)).for_each(|thread| thread.service());
        }
        Manner::Signals | Manner::Demanded | Manner::Supplied | Manner::Restored => {
            let reached = signals.iter().any(|(signal, _)| thread.reached(*signal));
            report_record(reached);
            if reached {
                thread.service();
            }
        }
        Manner::Horizon => {
            let pace = deadlines.pace();
            let grown =
                |wanted: Signal| signals.iter().filter(|(signal, _)| *signal == wanted).fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
            let allowed = grown(pace.signal).saturating_mul(u64::from(pace.most));
            let most = |signal: Signal| if pace.single.contains(signal) { grown(pace.signal) } else { allowed };
            let kept = signals.iter().all(|(signal, _)| pace.between_blocks.contains(*signal) || grown(*signal) <= most(*signal));
            let due = !kept || thread.due() || deadlines.due_between(thread.totals());
            // Only the check knows whether a deadline was reached: one record too many does no harm.
            report_record(due);
            if due {
                thread.check();
            }
        }
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
        let seen: Vec<Seen> = litmus.steps.iter().map(|(_, step)| subject.obey(&litmus, step, true)).collect();
        assert_eq!(seen.last().and_then(|seen| seen.value), Some(Ok(2)));
    }
}
