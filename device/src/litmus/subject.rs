//! Embedders of the trial: how each compares deadlines, reports and restores.

use alloc::vec::Vec;

use vm_pmu_arch::access::Fault;
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Deadlines, Demand, Occasion, Pace, Record, Signal, SignalSet, Totals};
use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::registry::{Part, State};

use super::dialect::Dialect;
use super::levels::Levels;
use super::{ContextField, Litmus, Posted, Step, beginning, collection, nest, untile};
use crate::irq::InterruptLine;
use crate::topology::{BuildError, Builder, Machine, Thread};
use crate::untile::UntileState;

/// How an embedder of the trial compares deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
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

pub(super) const MANNERS: [Manner; 6] =
    [Manner::Always, Manner::Signals, Manner::Demanded, Manner::Supplied, Manner::Horizon, Manner::Restored];

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

/// Interrupt requests: the thread and its counter.
#[derive(Default)]
pub(super) struct Requests(Mutex<Vec<(usize, u32)>>);

impl InterruptLine for Requests {
    fn raise(&self, thread: usize, counter: u32) {
        self.0.lock().push((thread, counter));
    }
}

/// What a statement showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) value: Option<Result<u64, Fault>>,
    pub(super) requests: Vec<(usize, u32)>,
    pub(super) pins: Option<u64>,
    /// The levels of each thread's lines; none if no line of any thread is raised.
    pub(super) lines: Vec<Lines>,
    /// What a statement about the nest showed, and a digest of all chips and their memory.
    pub(super) nest: Option<(nest::Seen, u64)>,
    /// What was added to memory, each address once.
    pub(super) posted: Vec<(u64, u64)>,
}

/// What a machine was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Built {
    part: Part,
    packages: usize,
    threads: usize,
    shared_counters: bool,
    supplied: SignalSet,
}

impl Built {
    fn of(manner: Manner, litmus: &Litmus) -> Built {
        let supplied = if manner == Manner::Supplied { litmus.added() } else { SignalSet::ALL };
        let Litmus { part, packages, threads, shared_counters, .. } = *litmus;
        Built { part, packages, threads, shared_counters, supplied }
    }
}

/// An embedder with its machine.
pub(super) struct Subject {
    manner: Manner,
    built: Built,
    machine: Machine<Requests>,
    /// The machine that the state goes to when it is saved.
    spare: Option<Machine<Requests>>,
    /// What a new machine remembers.
    power_on: (Vec<State>, Option<UntileState>),
    /// Whether the program is about boxes, which move with the machine then.
    has_boxes: bool,
    /// Whether any program so far was: then neither machine's boxes are new.
    had_boxes: bool,
    /// Whether the program has statements about collections, which move with the machine then.
    has_collections: bool,
    /// Whether any program so far had: then neither machine's collections are new.
    had_collections: bool,
    chips: nest::Chips,
    /// The program says itself which instructions have records, and which levels hold.
    is_recording: bool,
    levels: Levels,
    current: usize,
    /// How often the machines may be used again before their totals could wrap.
    left: u64,
}

/// How many programs a machine may run, each of which adds at most [`ONE_PROGRAM`] to a total.
const PROGRAMS: u64 = 1 << 10;
/// After a program that adds more, the machine is not used again.
const ONE_PROGRAM: u64 = 1 << 52;

impl Subject {
    /// An embedder that has not done anything.
    pub(super) fn new(manner: Manner, litmus: &Litmus) -> Result<Subject, BuildError> {
        let builder = manner.builder(litmus);
        let machine = builder.build(Requests::default())?;
        let spare = saves(manner, litmus).then(|| builder.build(Requests::default())).transpose()?;
        let boxes = machine.untile().map(|boxes| boxes.state());
        Ok(Subject {
            manner,
            built: Built::of(manner, litmus),
            power_on: (machine.states(), boxes),
            machine,
            spare,
            has_boxes: litmus.is_about_boxes(),
            had_boxes: false,
            has_collections: has_collections(litmus),
            had_collections: false,
            chips: nest::Chips::new(litmus.packages, litmus.threads),
            is_recording: litmus.beginning.is_recording,
            levels: Levels::new(litmus.packages * litmus.threads, litmus.added()),
            current: 0,
            left: PROGRAMS,
        })
    }

    /// Whether its machine is what the program needs.
    pub(super) fn can_execute(&self, litmus: &Litmus) -> bool {
        let has_spare = self.spare.is_some() || !saves(self.manner, litmus);
        self.left != 0 && has_spare && self.built == Built::of(self.manner, litmus)
    }

    /// Makes it an embedder that has not done anything. What its machines did before stays in their totals.
    pub(super) fn renew(&mut self, litmus: &Litmus) {
        let (states, boxes) = &self.power_on;
        self.had_boxes |= self.has_boxes;
        self.has_boxes = litmus.is_about_boxes();
        if let (true, Some(state), Some(untile)) = (self.had_boxes && self.has_boxes, boxes, self.machine.untile()) {
            let _ = untile.restore(state);
        }
        // They are of this very machine.
        let _ = self.machine.restore(states);
        self.had_collections |= self.has_collections;
        self.has_collections = has_collections(litmus);
        if self.had_collections {
            collection::renew(&self.machine);
        }
        self.machine.line().0.lock().clear();
        self.chips = nest::Chips::new(litmus.packages, litmus.threads);
        self.is_recording = litmus.beginning.is_recording;
        self.levels = Levels::new(litmus.packages * litmus.threads, litmus.added());
        self.current = 0;
    }

    /// It has executed `litmus`.
    pub(super) fn used(&mut self, litmus: &Litmus) {
        self.left = if litmus.events() > ONE_PROGRAM { 0 } else { self.left.saturating_sub(1) };
    }

    /// Executes the statement once, and restores afterwards if it should.
    pub(super) fn obey(&mut self, step: &Step, restores: bool) -> Seen {
        let mut seen = Seen::default();
        match step {
            Step::Thread(number) => self.current = *number % self.machine.threads().max(1),
            Step::Save => self.save(),
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
            Step::Collection(step) => {
                let access = match self.manner {
                    Manner::Always => nest::Access::Single,
                    Manner::Horizon => nest::Access::Parts,
                    Manner::Signals | Manner::Demanded | Manner::Supplied | Manner::Restored => nest::Access::Whole,
                };
                let thread = self.machine.thread(self.current);
                let added = thread.and_then(|thread| collection::act(&self.machine, &thread, step, access));
                seen.posted = Posted::default().with(&added.unwrap_or_default()).added;
            }
            step => {
                if let Some(thread) = self.machine.thread(self.current) {
                    match step {
                        Step::Feed(_, signals) if self.is_recording => execute(&self.machine, thread, self.manner, None, signals),
                        step => act(&self.machine, thread, self.manner, step, &mut seen),
                    }
                    if !self.is_recording {
                        self.levels.note(self.current, step);
                        self.levels.supply(&self.machine);
                    }
                }
            }
        }
        if self.manner == Manner::Restored && restores {
            self.save();
        }
        seen.requests = core::mem::take(&mut *self.machine.line().0.lock());
        seen.requests.sort_unstable();
        let lines = || (0..self.machine.threads()).filter_map(|number| self.machine.thread(number)).map(|thread| thread.lines());
        if lines().any(|lines| lines != Lines::default()) {
            seen.lines.extend(lines());
        }
        seen
    }

    /// The other machine goes on, whatever it was before: what a machine was before it is restored must not matter.
    fn save(&mut self) {
        let Some(next) = &mut self.spare else { return };
        if self.has_boxes {
            let _ = untile::move_boxes(&self.machine, next);
        }
        // The same part and as many threads: the states are not refused.
        let _ = next.restore(&self.machine.states());
        if self.has_collections || self.had_collections {
            collection::move_all(&self.machine, next);
        }
        // What the other machine does as it is restored is not the program's.
        let mut requests = next.line().0.lock();
        requests.clear();
        requests.append(&mut self.machine.line().0.lock());
        drop(requests);
        core::mem::swap(&mut self.machine, next);
        self.chips.save();
    }
}

/// Whether an embedder of this kind restores its machine while it executes the program.
fn saves(manner: Manner, litmus: &Litmus) -> bool {
    manner == Manner::Restored || litmus.steps.iter().any(|(_, step)| *step == Step::Save)
}

/// Whether the program has statements about collections.
fn has_collections(litmus: &Litmus) -> bool {
    litmus.steps.iter().any(|(_, step)| matches!(step, Step::Collection(_)))
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
        Step::Feed(_, signals) => execute(machine, thread, manner, Some(&Record::at(0)), signals),
        Step::Record(_, record, signals) => execute(machine, thread, manner, Some(record), signals),
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
        Step::InjectPackage(occurrence, amount) => {
            machine.inject_package(thread.package(), *occurrence, *amount);
        }
        Step::Levels(levels) => beginning::supply(thread, levels),
        Step::Watch(pins) => thread.watch_pins(*pins),
        Step::Pin(pin, _) => seen.pins = Some(thread.pin_toggles(*pin)),
        Step::Reset(reset) => thread.reset(*reset),
        Step::Thread(_)
        | Step::Save
        | Step::Untile(_)
        | Step::Nest(_)
        | Step::Collection(_)
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

/// One instruction: its signals, its record if it has one, its deadlines.
fn execute(machine: &Machine<Requests>, thread: Thread<'_, Requests>, manner: Manner, record: Option<&Record>, signals: &[(Signal, u64)]) {
    let deadlines: &Deadlines = thread.deadlines();
    let demand = thread.demand();
    report(thread.totals(), signals, manner.leaves_out().then_some(demand));
    let report_record = |reached: bool| {
        if let Some(record) = record.filter(|record| demand.records().wants(reached, Occasion::of(record))) {
            thread.record(record);
        }
    };
    match manner {
        Manner::Always => {
            record.into_iter().for_each(|record| thread.record(record));
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
