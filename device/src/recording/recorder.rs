//! From calls to statements.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::mem::{replace, take};

use vm_pmu_arch::feed::{Signal, Totals};

use super::Recording;
use crate::irq::InterruptLine;
use crate::litmus::{CollectionStep, Configuration, Litmus, MeshStep, Posted, Step, UntileStep, changes};
use crate::topology::Machine;
use crate::topology::witness::{BoxesCall, Call, CollectionCall, PciPlace, Shown, Sources, Told, Witness};

/// The most repetitions of one statement; a litmus file may have ten times as many.
const MOST_TIMES: u64 = 1_000_000;

/// The totals of a thread, or of the devices of a package, as far as they are stated.
#[derive(Clone, Debug)]
struct Known(Box<[u64]>);

impl Known {
    fn of(totals: &Totals) -> Known {
        Known(Signal::all().map(|signal| totals.get(signal)).collect())
    }

    /// What has been added since.
    fn added(&mut self, totals: &Totals) -> Vec<(Signal, u64)> {
        let grown = |(signal, known): (Signal, &mut u64)| {
            let total = totals.get(signal);
            let amount = total.wrapping_sub(replace(known, total));
            (amount != 0).then_some((signal, amount))
        };
        Signal::all().zip(&mut self.0).filter_map(grown).collect()
    }

    /// The total of `signal` will have grown by `amount`, which is stated already.
    fn pass(&mut self, signal: Signal, amount: u64) {
        if let Some(known) = self.0.get_mut(usize::from(signal.number())) {
            *known = known.wrapping_add(amount);
        }
    }
}

/// Writes down what is done with a machine.
#[derive(Debug)]
pub(super) struct Recorder {
    recording: Recording,
    /// The most statements.
    most: usize,
    /// The thread that statements are about.
    current: usize,
    threads: Vec<Known>,
    devices: Vec<Known>,
    /// What the machine told its line since the last statement.
    told: Vec<Told>,
}

impl Recorder {
    /// Writes into `litmus`, a program for this machine without statements, at most `most` of them.
    pub(super) fn new<L: InterruptLine>(litmus: Litmus, most: usize, machine: &Machine<L>) -> Recorder {
        let threads = (0..machine.threads()).filter_map(|thread| machine.totals(thread));
        let devices = (0..machine.packages()).filter_map(|package| machine.device_totals(package));
        Recorder {
            recording: Recording { litmus, left_out: 0, is_cut: false },
            most,
            current: 0,
            threads: threads.map(Known::of).collect(),
            devices: devices.map(Known::of).collect(),
            told: Vec::new(),
        }
    }

    /// Adds a statement about `thread`; returns its place, if there is room for it.
    pub(super) fn say(&mut self, thread: usize, step: Step) -> Option<usize> {
        if thread != self.current {
            self.current = thread;
            self.push(Step::Thread(thread));
        }
        self.push(step)
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        let steps = &mut self.recording.litmus.steps;
        let place = steps.len();
        if self.recording.is_cut || place >= self.most {
            self.recording.is_cut = true;
            return None;
        }
        steps.push((place + 1, step));
        Some(place)
    }

    /// States what the machine told its line.
    fn state_told(&mut self) {
        let mut rest = take(&mut self.told).into_iter().peekable();
        while let Some(told) = rest.next() {
            match told {
                Told::Raised(thread, counter) => {
                    let mut counters = vec![counter];
                    while let Some(Told::Raised(_, next)) = rest.next_if(|next| matches!(next, Told::Raised(other, _) if *other == thread))
                    {
                        counters.push(next);
                    }
                    self.say(thread, Step::Interrupts(counters));
                }
                Told::Pins(thread, mut pins) => {
                    while let Some(Told::Pins(_, more)) = rest.next_if(|next| matches!(next, Told::Pins(other, _) if *other == thread)) {
                        pins |= more;
                    }
                    self.say(thread, Step::Pins(pins));
                }
                Told::Lines(thread, lines) => {
                    let is_last = !rest.clone().any(|later| matches!(later, Told::Lines(other, _) if other == thread));
                    if is_last {
                        self.say(thread, Step::Lines(lines));
                    }
                }
            }
        }
    }

    /// States what was told and, of the package of `thread`, fed. What was fed to the thread `but` is left for another statement.
    fn state_fed(&mut self, thread: usize, but: Option<usize>, sources: &dyn Sources) {
        self.state_told();
        let package = thread.checked_div(sources.package_threads()).unwrap_or(0);
        if let (Some(known), Some(totals)) = (self.devices.get_mut(package), sources.device_totals(package)) {
            let added = known.added(totals);
            if !added.is_empty() {
                self.say(thread, Step::Devices(added));
            }
        }
        // The thread itself comes last: it is the one that has just done something.
        let first = package * sources.package_threads();
        let others = (first..first + sources.package_threads()).filter(|other| *other != thread);
        for number in others.chain([thread]).filter(|number| Some(*number) != but) {
            let added = self.added(number, sources);
            if !added.is_empty() {
                self.say(number, Step::Feed(1, added));
            }
        }
    }

    /// What was added to the totals of `thread` since that was last stated.
    fn added(&mut self, thread: usize, sources: &dyn Sources) -> Vec<(Signal, u64)> {
        match (self.threads.get_mut(thread), sources.totals(thread)) {
            (Some(known), Some(totals)) => known.added(totals),
            _ => Vec::new(),
        }
    }

    /// Cycles that each have one of each of `states`, or two where one is named twice.
    fn state_cycles(&mut self, thread: usize, cycles: u64, states: &[Signal]) {
        let mut each: Vec<(Signal, u64)> = Vec::new();
        for state in states {
            match each.iter_mut().find(|(signal, _)| signal == state) {
                Some((_, amount)) => *amount += 1,
                None => each.push((*state, 1)),
            }
        }
        let mut left = cycles;
        while left != 0 {
            let times = left.min(MOST_TIMES);
            self.say(thread, Step::Feed(times, each.clone()));
            left -= times;
        }
        if let Some(known) = self.threads.get_mut(thread) {
            each.iter().for_each(|(signal, amount)| known.pass(*signal, amount.saturating_mul(cycles)));
        }
    }

    /// The machine is watched no more.
    pub(super) fn end<L: InterruptLine>(&mut self, machine: &Machine<L>) {
        if self.is_cut() {
            return;
        }
        for package in 0..machine.packages() {
            self.state_fed(package * machine.package_threads(), None, machine);
        }
        for thread in 0..machine.threads() {
            self.say(thread, Step::Interrupts(Vec::new()));
        }
    }

    /// Whether it takes no more.
    pub(super) fn is_cut(&self) -> bool {
        self.recording.is_cut
    }

    /// The program so far.
    pub(super) fn litmus(&self) -> &Litmus {
        &self.recording.litmus
    }

    /// What was recorded.
    pub(super) fn finish(self) -> Recording {
        self.recording
    }

    /// The statement of a call, if it has one of its own.
    fn statement(&self, call: Call<'_>, ticks: u64) -> Option<Step> {
        Some(match call {
            Call::Service | Call::Cycles { .. } | Call::Record(_) | Call::Other => return None,
            Call::Save => Step::Save,
            Call::Read(address) => Step::Read(address, Ok(0)),
            Call::Write(address, value) => Step::Write(address, value, None),
            Call::Context(from, to) => {
                let changes = changes(self.recording.litmus.part, *from, *to, ticks);
                return (!changes.is_empty()).then_some(Step::Context(changes));
            }
            Call::Inject(occurrence, amount) => Step::Inject(occurrence, amount),
            Call::InjectPackage(occurrence, amount) => Step::InjectPackage(occurrence, amount),
            Call::Request(request) => Step::Request(1, *request),
            Call::Nested(step) => Step::Nested(*step),
            Call::Levels(known, _) if known.is_empty() => return None,
            Call::Levels(known, holding) => Step::Levels(known.iter().map(|state| (state, holding.contains(state))).collect()),
            Call::Reset(reset) => Step::Reset(reset),
            Call::WatchPins(pins) => Step::Watch(pins),
            Call::PinToggles(pin) => Step::Pin(pin, 0),
            Call::Collection(call) => Step::Collection(match call {
                CollectionCall::Init(address) => CollectionStep::Init(address),
                CollectionCall::Start => CollectionStep::Start,
                CollectionCall::Stop => CollectionStep::Stop,
                CollectionCall::SetInterval(cycles) => CollectionStep::Interval(cycles),
                CollectionCall::Advance(cycles) => CollectionStep::Pass(cycles, Posted::default()),
                CollectionCall::Post => CollectionStep::Post(Posted::default()),
                CollectionCall::Inject(offset, amount) => CollectionStep::Inject(offset, amount),
            }),
            Call::Boxes(call) => Step::Untile(match call {
                BoxesCall::Tick(domain, clocks) => UntileStep::Tick(domain, clocks),
                BoxesCall::TickAll(clocks) => UntileStep::TickAll(clocks),
                BoxesCall::Pass(cycles) => UntileStep::Pass(cycles),
                BoxesCall::Happen { unit, select, umask, each, clocks } => UntileStep::Happen { unit, select, umask, each, clocks },
                BoxesCall::ChangeQueue { unit, select, umask, change } => UntileStep::Queue { unit, select, umask, change },
                BoxesCall::SetQueue { unit, select, umask, level } => UntileStep::SetQueue { unit, select, umask, level },
                BoxesCall::Transact(cha, transaction, stage) => UntileStep::Transact(cha, Box::new(*transaction), stage),
                BoxesCall::Carry(message) => UntileStep::Mesh(MeshStep::of(message)?),
                BoxesCall::CarryRequest(request, tile, home) => {
                    UntileStep::Mesh(MeshStep::Request { tile, home, request: Box::new(*request) })
                }
                BoxesCall::Device { access, physical, home, hit } => UntileStep::Mesh(MeshStep::Device { access, physical, home, hit }),
                BoxesCall::PciRead(place) => UntileStep::Read(configuration(place), 0),
                BoxesCall::PciWrite(place, value) => UntileStep::Write(configuration(place), value),
                BoxesCall::Reset => UntileStep::Reset,
            }),
        })
    }
}

fn configuration((bus, device, function, offset, size): PciPlace) -> Configuration {
    Configuration { bus, device, function, offset, size }
}

impl Witness for Recorder {
    fn call(&mut self, thread: usize, call: Call<'_>, sources: &dyn Sources) -> Option<usize> {
        // A call about a package that does not exist does nothing.
        if self.is_cut() || thread >= self.threads.len() {
            return None;
        }
        match call {
            Call::Other => self.recording.left_out += 1,
            // It is stated with what comes.
            Call::Cycles { quietly: true, .. } => {}
            Call::Cycles { cycles, states, .. } => {
                self.state_fed(thread, None, sources);
                self.state_cycles(thread, cycles, states);
            }
            Call::Record(record) => {
                self.state_fed(thread, Some(thread), sources);
                let added = self.added(thread, sources);
                self.say(thread, Step::Record(1, Box::new(*record), added));
            }
            call => {
                self.state_fed(thread, None, sources);
                let ticks = sources.totals(thread).map_or(0, |totals| totals.get(Signal::TimeBaseTicks));
                let step = self.statement(call, ticks)?;
                // The parts of a machine are saved one after the other.
                let is_saved = step == Step::Save && self.recording.litmus.steps.last().is_some_and(|(_, last)| *last == Step::Save);
                return if is_saved { None } else { self.say(thread, step) };
            }
        }
        None
    }

    fn shown(&mut self, place: usize, shown: Shown<'_>) {
        let Some((_, step)) = self.recording.litmus.steps.get_mut(place) else { return };
        match (step, shown) {
            (Step::Read(_, value), Shown::Read(read)) => *value = read,
            (Step::Write(_, _, fault), Shown::Written(written)) => *fault = written.err(),
            (Step::Pin(_, toggles), Shown::Toggles(seen)) => *toggles = seen,
            (Step::Untile(UntileStep::Read(_, value)), Shown::Pci(read)) => *value = read,
            (Step::Collection(CollectionStep::Pass(_, posted) | CollectionStep::Post(posted)), Shown::Posted(added, refused)) => {
                *posted = Posted { added: added.to_vec(), refused: refused.to_vec() };
            }
            _ => {}
        }
    }

    fn told(&mut self, told: Told) {
        self.told.push(told);
    }

    fn restored(&mut self) {
        self.recording.is_cut = true;
    }
}
