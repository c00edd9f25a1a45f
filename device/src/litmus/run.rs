//! Executes a litmus file.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::feed::{Deadlines, Occasion, Record, Signal, SignalSet};
use vm_pmu_arch::lock::Mutex;

use super::dialect::Dialect;
use super::levels::Levels;
use super::print::{pin_numbers, which};
use super::{Case, ContextField, Litmus, Step, beginning, collection, nest, untile};
use crate::irq::InterruptLine;
use crate::topology::{Builder, Machine, Thread};

/// The first expectation that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its line in the file; 0 for the file as a whole.
    pub line: usize,
    /// What was observed, and what was expected.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => formatter.write_str(&self.message),
            line => write!(formatter, "line {line}: {}", self.message),
        }
    }
}

impl core::error::Error for Failure {}

/// The most repetitions of one statement: a file cannot run forever.
const MAX_REPEAT: u64 = 10_000_000;

/// What the threads requested.
pub(crate) struct Requests {
    threads: Vec<Mutex<Asked>>,
}

/// Requests of a thread that are kept without an allocation: no statement needs one, which `tests/limits/allocation.rs` relies on.
const KEPT: usize = 16;

struct Asked {
    counters: Vec<u32>,
    pins: u32,
    late: u64,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { counters: Vec::with_capacity(KEPT), pins: 0, late: 0 }
    }
}

impl InterruptLine for Requests {
    fn raise(&self, thread: usize, counter: u32) {
        if let Some(asked) = self.threads.get(thread) {
            asked.lock().counters.push(counter);
        }
    }

    fn pins(&self, thread: usize, pins: u32) {
        if let Some(asked) = self.threads.get(thread) {
            asked.lock().pins |= pins;
        }
    }

    fn late(&self, thread: usize, events: u64) {
        if let Some(asked) = self.threads.get(thread) {
            let mut asked = asked.lock();
            asked.late = asked.late.max(events);
        }
    }
}

impl Litmus {
    /// Runs the file on a new machine and returns how many expectations it checked.
    ///
    /// # Errors
    /// The first expectation that failed.
    pub fn run(&self) -> Result<usize, Failure> {
        self.run_to_failure().map_err(|(_, failure)| failure)
    }

    /// Runs the file; a failure comes with the place of its statement.
    fn run_to_failure(&self) -> Result<usize, (usize, Failure)> {
        let mut run = Run::new(self).map_err(|failure| (0, failure))?;
        for (place, (line, step)) in self.steps.iter().enumerate() {
            run.execute(*line, step).map_err(|failure| (place, failure))?;
        }
        Ok(run.checked)
    }

    pub(crate) fn builder(&self) -> Builder {
        let builder = Builder::of(self.part).packages(self.packages).threads(self.threads);
        self.beginning.build(if self.shared_counters { builder.share_counters() } else { builder })
    }
}

impl Case {
    /// [Runs](Litmus::run) the program. A failure says which values the loops around its line have.
    ///
    /// ```
    /// use vm_pmu::litmus::Case;
    ///
    /// let text = "title: T\npmu: k8\nsection: S\n\nfor n in 0 to 3 do\nwrite PerfCtr{n} {n}\nread PerfCtr{n} = 2\nend\n";
    /// let failure = Case::of_file(text).unwrap()[0].run().unwrap_err();
    /// assert_eq!(failure.to_string(), "line 7: MSR C001_0004h gave 0x0, expected 0x2 (with n=0)");
    /// ```
    ///
    /// # Errors
    /// The first expectation that failed.
    pub fn run(&self) -> Result<usize, Failure> {
        self.litmus.run_to_failure().map_err(|(place, failure)| {
            let row = self.rows.iter().take_while(|(first, _)| *first <= place).last().and_then(|(_, row)| row.as_ref());
            match row {
                Some(row) => Failure { message: format!("{} (with {row})", failure.message), ..failure },
                None => failure,
            }
        })
    }
}

/// A program that runs.
pub(crate) struct Run<'a> {
    litmus: &'a Litmus,
    pub(crate) machine: Machine<Requests>,
    /// The epochs of the threads' demands when they were last looked at.
    known: Vec<u32>,
    chips: nest::Chips,
    levels: Levels,
    /// The thread that statements are about.
    pub(super) current: usize,
    pub(super) checked: usize,
}

impl<'a> Run<'a> {
    /// The machine of a program before its first statement.
    pub(crate) fn new(litmus: &'a Litmus) -> Result<Run<'a>, Failure> {
        let machine = build(litmus)?;
        litmus.beginning.load(&machine).map_err(|message| Failure { line: 0, message })?;
        Ok(Run {
            litmus,
            known: epochs(&machine),
            chips: nest::Chips::new(litmus.packages, litmus.threads),
            levels: Levels::new(machine.threads(), SignalSet::ALL),
            machine,
            current: 0,
            checked: 0,
        })
    }

    /// Executes the statement of this line.
    pub(crate) fn execute(&mut self, line: usize, step: &Step) -> Result<(), Failure> {
        let failure = |message: String| Failure { line, message };
        match step {
            Step::Thread(number) if *number < self.machine.threads() => self.current = *number,
            Step::Thread(number) => {
                return Err(failure(format!("there is no thread {number}: the machine has {}", self.machine.threads())));
            }
            Step::Save => {
                let next = build(self.litmus)?;
                move_over(&self.machine, &next).map_err(failure)?;
                self.machine = next;
                self.known = epochs(&self.machine);
                self.chips.save();
            }
            Step::Epoch(expected) => {
                let now = epochs(&self.machine);
                if (now.get(self.current) != self.known.get(self.current)) != *expected {
                    let word = |moved| if moved { "has moved" } else { "is the same" };
                    return Err(failure(format!("the epoch of the demand {}, expected that it {}", word(!expected), word(*expected))));
                }
                if let (Some(known), Some(now)) = (self.known.get_mut(self.current), now.get(self.current)) {
                    *known = *now;
                }
                self.checked += 1;
            }
            Step::Nest(step) => self.checked += usize::from(nest::obey(&mut self.chips, step).map_err(failure)?),
            step => {
                let thread = self.machine.thread(self.current).ok_or_else(|| failure("the machine has no thread".into()))?;
                let feeds_records = !self.litmus.beginning.is_recording;
                self.checked += usize::from(obey(&self.machine, thread, step, feeds_records).map_err(failure)?);
                if !self.litmus.beginning.is_recording {
                    self.levels.note(self.current, step);
                    self.levels.supply(&self.machine);
                }
            }
        }
        Ok(())
    }
}

fn build(litmus: &Litmus) -> Result<Machine<Requests>, Failure> {
    let requests = Requests { threads: (0..litmus.packages * litmus.threads).map(|_| Mutex::default()).collect() };
    litmus.builder().build(requests).map_err(|refused| Failure { line: 0, message: refused.to_string() })
}

fn epochs(machine: &Machine<Requests>) -> Vec<u32> {
    (0..machine.threads()).filter_map(|number| machine.thread(number)).map(|thread| thread.demand().epoch()).collect()
}

/// Moves every thread of `from` to `to`, with the requests that have not been checked yet.
fn move_over(from: &Machine<Requests>, to: &Machine<Requests>) -> Result<(), String> {
    carry(from, to)?;
    for (old, new) in from.line().threads.iter().zip(&to.line().threads) {
        core::mem::swap(&mut *old.lock(), &mut *new.lock());
    }
    Ok(())
}

/// Makes `to` remember what `from` remembers: as bytes.
#[cfg(feature = "snapshot")]
fn carry(from: &Machine<Requests>, to: &Machine<Requests>) -> Result<(), String> {
    from.save().and_then(|bytes| to.load(&bytes)).map_err(|error| error.to_string())
}

/// Makes `to` remember what `from` remembers.
#[cfg(not(feature = "snapshot"))]
fn carry(from: &Machine<Requests>, to: &Machine<Requests>) -> Result<(), String> {
    // Saving the boxes can make overflows due, which interrupt threads.
    if !untile::move_boxes(from, to) {
        return Err("the boxes of one machine do not fit into the other".into());
    }
    to.restore(&from.states()).map_err(|error| error.to_string())?;
    collection::move_all(from, to);
    Ok(())
}

/// Executes one step of `thread`; returns whether it checked something. What is fed has records where some are wanted if `feeds_records`.
fn obey(machine: &Machine<Requests>, thread: Thread<'_, Requests>, step: &Step, feeds_records: bool) -> Result<bool, String> {
    match step {
        Step::Thread(_) | Step::Save | Step::Epoch(_) | Step::Nest(_) => return Ok(false),
        Step::Context(fields) => {
            let dialect = Dialect::of(machine.part());
            let ticks = thread.totals().get(Signal::TimeBaseTicks);
            let change = |context, (field, value): &(ContextField, u64)| dialect.change(context, *field, *value, ticks);
            thread.set_context(fields.iter().fold(thread.context(), change));
            return Ok(false);
        }
        Step::Write(address, value, expected) => {
            let expected = expected.map_or(Ok(()), Err);
            return same(*address, thread.write(*address, *value), expected, |()| "no fault".into()).map(|()| expected.is_err());
        }
        Step::Read(address, expected) => same(*address, thread.read(*address), *expected, |value| format!("{value:#x}"))?,
        Step::Feed(times, _) | Step::Record(times, ..) | Step::Request(times, _) if *times > MAX_REPEAT => {
            return Err(format!("{times} repetitions are too many: {MAX_REPEAT} is the most"));
        }
        Step::Feed(times, signals) => {
            execute(thread, *times, feeds_records.then_some(&Record::at(0)), signals);
            return Ok(false);
        }
        Step::Record(times, record, signals) => {
            execute(thread, *times, Some(record), signals);
            return Ok(false);
        }
        Step::Request(times, request) => {
            for _ in 0..*times {
                if thread.demand().records().requests {
                    thread.request(request);
                }
            }
            return Ok(false);
        }
        Step::Nested(step) => {
            if thread.demand().records().nested {
                thread.nested(step);
            }
            return Ok(false);
        }
        Step::Devices(signals) => {
            let package = thread.package();
            if let Some(devices) = machine.devices(package) {
                for (signal, amount) in signals {
                    devices.totals.add(*signal, *amount);
                }
                if signals.iter().any(|(signal, _)| devices.deadlines.reached(*signal, &devices.totals)) {
                    machine.service_devices(package);
                }
            }
            return Ok(false);
        }
        Step::Inject(occurrence, amount) => {
            thread.inject(*occurrence, *amount);
            return Ok(false);
        }
        Step::InjectPackage(occurrence, amount) => {
            machine.inject_package(thread.package(), *occurrence, *amount);
            return Ok(false);
        }
        Step::Levels(levels) => {
            beginning::supply(thread, levels);
            return Ok(false);
        }
        Step::Interrupts(expected) => {
            let asked = asked(machine, thread, |asked| asked.counters.drain(..).collect::<Vec<_>>());
            if asked != *expected {
                return Err(format!("counters {asked:?} requested an interrupt, expected {expected:?}"));
            }
        }
        Step::Lines(expected) => {
            let lines = thread.lines();
            if lines != *expected {
                let word = |lines: Lines| format!("interrupt={} branch={}", u8::from(lines.interrupt), u8::from(lines.event_based_branch));
                return Err(format!("the levels are {}, expected {}", word(lines), word(*expected)));
            }
        }
        Step::Late(expected) => {
            let late = asked(machine, thread, |asked| core::mem::take(&mut asked.late));
            if late != *expected {
                return Err(format!("an interrupt was {late} events late, expected {expected}"));
            }
        }
        Step::Watch(pins) => {
            thread.watch_pins(*pins);
            return Ok(false);
        }
        Step::Pins(expected) => {
            let pins = asked(machine, thread, |asked| core::mem::take(&mut asked.pins));
            if pins != *expected {
                let word = |pins: u32| if pins == 0 { " none".to_owned() } else { pin_numbers(pins) };
                return Err(format!("the pins that toggled are{}, expected{}", word(pins), word(*expected)));
            }
        }
        Step::Pin(pin, expected) => {
            let toggles = thread.pin_toggles(*pin);
            if toggles != *expected {
                return Err(format!("pin {pin} toggled {toggles} times, expected {expected}"));
            }
        }
        Step::Demand(expected, per_cycle) => check_demand(thread, expected, *per_cycle)?,
        Step::Records(expected) => {
            let records = thread.demand().records();
            if records != *expected {
                return Err(format!("records are wanted of [{}], expected [{}]", which(records).trim(), which(*expected).trim()));
            }
        }
        Step::Match(expected) => {
            let matched = thread.instruction_match();
            if matched != *expected {
                let word = |matched: Option<(u64, u64)>| matched.map_or("none".to_owned(), |(value, mask)| format!("{value:#x} {mask:#x}"));
                return Err(format!("the instructions to match are {}, expected {}", word(matched), word(*expected)));
            }
        }
        Step::Deadline(signal, expected) => {
            let distance = match thread.deadlines().distance(*signal, thread.totals()) {
                Deadlines::NEVER => None,
                distance => Some(distance),
            };
            if distance != *expected {
                let word = |distance: Option<u64>| distance.map_or("never".to_owned(), |distance| format!("in {distance}"));
                return Err(format!("the deadline of {} is {}, expected {}", signal.name(), word(distance), word(*expected)));
            }
        }
        Step::Reset(reset) => {
            thread.reset(*reset);
            return Ok(false);
        }
        Step::Untile(step) => return untile::obey(machine, step),
        Step::Collection(step) => return collection::obey(machine, &thread, step),
    }
    Ok(true)
}

fn asked<T: Default>(machine: &Machine<Requests>, thread: Thread<'_, Requests>, take: impl FnOnce(&mut Asked) -> T) -> T {
    machine.line().threads.get(thread.number()).map_or_else(T::default, |asked| take(&mut asked.lock()))
}

fn check_demand(thread: Thread<'_, Requests>, expected: &[Signal], per_cycle: bool) -> Result<(), String> {
    let demand = thread.demand();
    let names = |signals: &mut dyn Iterator<Item = Signal>| signals.map(Signal::name).collect::<Vec<_>>().join(" ");
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    if !demand.signals().iter().eq(sorted.iter().copied()) {
        return Err(format!("demanded are [{}], expected [{}]", names(&mut demand.signals().iter()), names(&mut sorted.into_iter())));
    }
    if demand.per_cycle() != per_cycle {
        let word = |per_cycle| if per_cycle { "looks at single cycles" } else { "does not look at single cycles" };
        return Err(format!("the demand {}, expected that it {}", word(demand.per_cycle()), word(per_cycle)));
    }
    Ok(())
}

/// Executes `times` instructions: all signals of each, then its record if one is wanted, then the deadlines.
fn execute(thread: Thread<'_, Requests>, times: u64, record: Option<&Record>, signals: &[(Signal, u64)]) {
    let record = record.map(|record| (record, Occasion::of(record)));
    let look = || (thread.epoch(), thread.demand().records());
    let (mut epoch, mut wanted) = look();
    for _ in 0..times {
        for (signal, amount) in signals {
            thread.totals().add(*signal, *amount);
        }
        let reached = signals.iter().any(|(signal, _)| thread.reached(*signal));
        if let Some((record, _)) = record.filter(|(_, occasion)| wanted.wants(reached, *occasion)) {
            thread.record(record);
        }
        if reached {
            thread.service();
        }
        if epoch != thread.epoch() {
            (epoch, wanted) = look();
        }
    }
}

fn same<T: PartialEq>(
    address: Address,
    seen: Result<T, Fault>,
    expected: Result<T, Fault>,
    word: impl Fn(&T) -> String,
) -> Result<(), String> {
    if seen == expected {
        return Ok(());
    }
    let word = |result: &Result<T, Fault>| match result {
        Ok(value) => word(value),
        Err(fault) => fault.word().to_owned(),
    };
    Err(format!("{address} gave {}, expected {}", word(&seen), word(&expected)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_those_that_toggled_since_they_were_asked_for() {
        let header = "title: t\npmu: k8\nsection: s\nthreads: 2\n";
        // PC is clear: the pin of each counter toggles at every increment. Retired instructions, OS, EN.
        let counts = "write PerfEvtSel0 0x4200c0\nwrite PerfEvtSel2 0x4200c0\nwatch 0x5\npins none\n";
        let steps = "feed instructions_retired=1 cycles=1\npins 0 2\npins none\nthread 1\npins none\n";
        let litmus: Litmus = alloc::format!("{header}{counts}{steps}").parse().expect("a litmus file");
        assert_eq!(litmus.run(), Ok(4));
    }
}
