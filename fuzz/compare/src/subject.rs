//! The machine, and an ordinary embedder of it: it adds signals, reports records where they are wanted, and serves deadlines.

use std::sync::{Mutex, PoisonError};

use vm_pmu::arch::feed::{Context, Kind, Occasion, Record, Signal};
use vm_pmu::irq::InterruptLine;
use vm_pmu::litmus::{Litmus, Step};
use vm_pmu::topology::{Builder, Machine, Thread};

use crate::{Seen, boxes};

/// Interrupt requests: the thread and its counter.
#[derive(Default)]
struct Requests(Mutex<Vec<(usize, u32)>>);

impl Requests {
    fn take(&self) -> Vec<(usize, u32)> {
        core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl InterruptLine for Requests {
    fn raise(&self, thread: usize, counter: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((thread, counter));
    }
}

/// A machine that executes a program.
pub(crate) struct Subject {
    machine: Machine<Requests>,
    /// The states of each thread's last cycle, if there has been one.
    levels: Vec<Option<Vec<Signal>>>,
    /// The ticks of the time base that each thread told to machines before this one.
    earlier_ticks: Vec<u64>,
    current: usize,
}

fn build(litmus: &Litmus) -> Option<Machine<Requests>> {
    let builder = Builder::of(litmus.part).packages(litmus.packages).threads(litmus.threads);
    let builder = if litmus.shared_counters { builder.share_counters() } else { builder };
    builder.build(Requests::default()).ok()
}

impl Subject {
    pub(crate) fn new(litmus: &Litmus) -> Option<Subject> {
        let machine = build(litmus)?;
        let threads = machine.threads();
        Some(Subject { levels: vec![None; threads], earlier_ticks: vec![0; threads], machine, current: 0 })
    }

    /// The thread that executes.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// The context of the thread after `step`.
    fn context_after(&self, step: &Step) -> Context {
        let Some(thread) = self.machine.thread(self.current) else { return Context::RESET };
        let Step::Context(fields) = step else { return thread.context() };
        let ticks = thread.totals().get(Signal::TimeBaseTicks);
        let part = self.machine.part();
        fields.iter().fold(thread.context(), |context, (field, value)| field.set(part, context, *value, ticks))
    }

    /// The same for a reference, which goes on when the machine is saved: the time base is relative to all ticks.
    pub(crate) fn context_of_reference_after(&self, step: &Step) -> Context {
        let context = self.context_after(step);
        let earlier = self.earlier_ticks.get(self.current).copied().unwrap_or(0);
        Context { time_base: context.time_base.wrapping_sub(earlier), ..context }
    }

    pub(crate) fn obey(&mut self, litmus: &Litmus, step: &Step) -> Seen {
        let mut value = None;
        match step {
            Step::Thread(number) => self.current = number % self.machine.threads().max(1),
            Step::Save => self.save(litmus),
            Step::Untile(step) => value = self.machine.untile().and_then(|untile| boxes::act(untile, step)).map(Ok),
            step => {
                let context = self.context_after(step);
                if let Some(thread) = self.machine.thread(self.current) {
                    match step {
                        Step::Write(address, written, _) => value = Some(thread.write(*address, *written).map(|()| 0)),
                        Step::Read(address, _) => value = Some(thread.read(*address)),
                        Step::Pin(pin, _) => value = Some(Ok(thread.pin_toggles(*pin))),
                        Step::Context(_) => thread.set_context(context),
                        step => act(&self.machine, thread, step),
                    }
                }
            }
        }
        self.note(step);
        self.supply_levels();
        let mut interrupts = self.machine.line().take();
        interrupts.sort_unstable();
        let threads = (0..self.machine.threads()).filter_map(|number| self.machine.thread(number));
        Seen { value, interrupts: Some(interrupts), lines: threads.map(|thread| Some(thread.lines())).collect() }
    }

    /// Moves everything to a new machine.
    fn save(&mut self, litmus: &Litmus) {
        let Some(next) = build(litmus) else { return };
        let loaded = self.machine.save().and_then(|bytes| next.load(&bytes));
        if loaded.is_ok() {
            for (number, earlier) in self.earlier_ticks.iter_mut().enumerate() {
                let ticks = self.machine.thread(number).map_or(0, |thread| thread.totals().get(Signal::TimeBaseTicks));
                *earlier = earlier.wrapping_add(ticks);
            }
            self.machine = next;
        }
    }

    /// The cycles of a state are the last of a step, so a state with any cycles holds at its end.
    fn note(&mut self, step: &Step) {
        let (Step::Feed(_, signals) | Step::Record(_, _, signals)) = step else { return };
        let holds = |(signal, amount): &(Signal, u64)| signal.kind() == Kind::State && *amount != 0;
        if let Some(level) = self.levels.get_mut(self.current) {
            let states: Vec<Signal> = signals.iter().filter(|pair| holds(pair)).map(|(signal, _)| *signal).collect();
            if states.contains(&Signal::Cycles) {
                *level = Some(states);
            }
        }
    }

    fn supply_levels(&self) {
        for (number, level) in self.levels.iter().enumerate() {
            if let Some(thread) = self.machine.thread(number).filter(|thread| thread.demand().asks_levels()) {
                thread.supply_levels(|state| level.as_ref().map(|holding| holding.contains(&state)));
            }
        }
    }
}

fn act(machine: &Machine<Requests>, thread: Thread<'_, Requests>, step: &Step) {
    match step {
        Step::Feed(_, signals) => execute(thread, &Record::at(0), signals),
        Step::Record(_, record, signals) => execute(thread, record, signals),
        Step::Request(_, request) if thread.demand().records().requests => thread.request(request),
        Step::Nested(step) if thread.demand().records().nested => thread.nested(step),
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
        }
        Step::Inject(occurrence, amount) => {
            thread.inject(*occurrence, *amount);
        }
        Step::Watch(pins) => thread.watch_pins(*pins),
        Step::Reset(reset) => thread.reset(*reset),
        _ => {}
    }
}

/// One instruction: its signals, its record if one is wanted, its deadlines.
fn execute(thread: Thread<'_, Requests>, record: &Record, signals: &[(Signal, u64)]) {
    for (signal, amount) in signals {
        thread.totals().add(*signal, *amount);
    }
    let reached = signals.iter().any(|(signal, _)| thread.reached(*signal));
    if thread.demand().records().wants(reached, Occasion::of(record)) {
        thread.record(record);
    }
    if reached {
        thread.service();
    }
}
