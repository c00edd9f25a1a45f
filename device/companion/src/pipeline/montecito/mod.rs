//! The in-order pipeline of Montecito, for a thread alone on its core. Rules PM1 to PM44 and their sources are in
//! `docs/notes/pipelines-ia64.md`. The size of the ALAT (PM47) and queues that threads share (PM56) are not modelled.

mod bus;
mod dispersal;
mod front;
mod interface;
mod latencies;
mod memory;
mod saved;
mod second;
mod signals;
mod switching;
#[cfg(test)]
mod tests;

use super::ia64::branches;
use super::ia64::flight::Flight;
use super::ia64::flush::{Flush, Pending};
use super::ia64::position::ProgramPosition;
use super::ia64::readiness::{Value, Values};
use super::ia64::rows::{self, BundlePort, Consumer, Producer, ResultKind};
pub(super) use super::sharing::Unshared as Shared;
use super::{Continuation, Findings, Source};
use crate::bundle::{Bundle, Target, Template, Unit};
use crate::instruction::{Class, Instruction};
use crate::pipeline::resources::steps::{Stall, Track};
use crate::tally::Tally;
use dispersal::{MontecitoGroupEnd, MontecitoWindow};
use front::{IDLE_STATES, IdleCause, MontecitoFrontEnd};
use latencies::latency;
use memory::{DetDemand, MontecitoMemory};
use second::SecondQueue;
pub(super) use second::{SIGNALS as QUEUE, STATES as QUEUE_STATES};
pub(super) use signals::{EVENTS, STATES};
use signals::{MontecitoState, REASONS};
use switching::Switching;
use vm_pmu_arch::feed::Signal;

/// Steps from dispersal to REN, REG, EXE and DET (M1).
const REN: u64 = 1;
const REG: u64 = 2;
const EXE: u64 = 3;
const DET: u64 = 4;
/// Bubbles after a mispredicted branch, and after an exception (PM30, PM31).
const MISPREDICTION: u64 = 6;
const EXCEPTION: u64 = 15;
/// Bubbles of predicted returns, of other indirect branches, and at the end of a counted loop (M1).
const RETURN: u64 = 1;
const INDIRECT: u64 = 2;
const LOOP_END: u64 = 2;
/// A parallel result used as an address: if it is used in fewer clocks than the first number, the pipeline is flushed and the use waits for
/// the second (PM12).
const BYPASS: u64 = 4;
const NO_BYPASS: u64 = 8;
/// Cost of a bank switch (PM27).
const BANK: u64 = 6;
/// Clocks after DET until an operation that may raise an exception is known not to (PM22).
const CHECK: u64 = 2;
/// Accesses of the register stack engine per clock.
const STACK_WIDTH: u64 = 2;
/// Slots per clock.
const WIDTH: u64 = 6;

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct MontecitoPipeline {
    pub(super) track: Track,
    /// The first clock of the next step, in which the open group is.
    clock: u64,
    flight: Flight,
    /// Whether a group is being formed.
    open: bool,
    window: MontecitoWindow,
    /// The clock in which the last group was dispersed.
    dispersed: u64,
    course: ProgramPosition,
    /// The clock from which the bundle of the last instruction can be dispersed.
    ready: u64,
    flush: Pending,
    pub(super) front: MontecitoFrontEnd,
    values: Values,
    memory: MontecitoMemory,
    second: SecondQueue,
    /// The clock in which the last write of a register of the register stack engine is done.
    stack: u64,
    switching: Switching,
}

/// The clocks for which a group waits for registers.
#[derive(Clone, Copy, Debug, Default)]
struct MontecitoWaits {
    general: u64,
    general_no_load: u64,
    floating: u64,
    predicates: u64,
    special: u64,
    /// Clocks of a flush for a missing bypass.
    emptied: u64,
}

impl MontecitoWaits {
    /// Returns the longest wait.
    fn most(&self) -> u64 {
        self.general.max(self.floating).max(self.predicates).max(self.special)
    }
}

/// The clocks that the register stack takes for a group, one after the other, and those until banks are switched, in parallel.
#[derive(Clone, Copy, Debug, Default)]
struct Renaming {
    register: u64,
    spills: u64,
    fills: u64,
    loads: u64,
    bank: u64,
}

impl Renaming {
    fn most(&self) -> u64 {
        (self.register + self.spills + self.fills + self.loads).max(self.bank)
    }

    /// Takes the clocks that no earlier family has taken.
    fn hold(&self, stall: &mut Stall) {
        let first = stall.family(MontecitoState::RegisterStack as u8, self.most());
        let mut at = 0;
        for (state, clocks) in [
            (MontecitoState::StackRegister, self.register),
            (MontecitoState::Spill, self.spills),
            (MontecitoState::Fill, self.fills),
            (MontecitoState::StackLoad, self.loads),
        ] {
            stall.hold(state as u8, first.max(at), at + clocks);
            at += clocks;
        }
        stall.hold(MontecitoState::Bank as u8, first, self.bank);
    }
}

impl MontecitoPipeline {
    pub(super) fn new() -> MontecitoPipeline {
        MontecitoPipeline {
            track: Track::new(REASONS),
            clock: 1,
            flight: Flight::new(),
            open: false,
            window: MontecitoWindow::default(),
            dispersed: 0,
            course: ProgramPosition::default(),
            ready: 1,
            flush: Pending::default(),
            front: MontecitoFrontEnd::new(1),
            values: Values::new(),
            memory: MontecitoMemory::new(),
            second: SecondQueue::new(),
            stack: 0,
            switching: Switching::new(),
        }
    }

    /// Executes an instruction.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, tally: &mut Tally) {
        if instruction.class == Class::Exception {
            return self.leave(Flush::Exception, tally);
        }
        let bundle = instruction.bundle.as_ref();
        let (address, slot) = (instruction.address >> 4, bundle.map_or(0, |bundle| bundle.slot.min(2)));
        if bundle.is_some() && !self.course.follows(address, slot) {
            // The change of flow was not reported: a failed check or an interruption.
            self.leave(Flush::Exception, tally);
        }
        let enters = bundle.is_none() || self.flush.is_some() || self.course.enters(address, slot);
        if enters {
            self.empty(tally);
            let late = self.carry_code(found);
            self.ready = self.front.arrive(instruction.address, found, late, self.dispersed, &self.memory, tally);
            self.miss_code(found.code, found.line);
        }
        let decoded = bundle.map(Bundle::decoded);
        let (unit, template) = (decoded.map_or(Unit::M, |(unit, _)| unit), bundle.map_or(Template::Other, Bundle::kind));
        let row = rows::of(instruction, decoded);
        let seconds = enters && !self.window.is_empty();
        if self.open {
            if seconds && (!self.window.has_room() || self.ready > self.clock || bundle.is_none()) {
                self.close(MontecitoGroupEnd::Window, tally);
            } else if !self.window.take(row.port, unit, template, slot, seconds) {
                self.close(MontecitoGroupEnd::Implicit, tally);
            }
        }
        if !self.open {
            self.open(slot, tally);
            self.window.take(row.port, unit, template, slot, false);
        }
        if enters {
            self.front.supply(tally);
        }
        if let Some(group) = self.flight.forming() {
            group.add(instruction, found, &row);
        }
        self.turn(instruction, found, row.port, template, tally);
        if self.second.observed {
            self.second.report(tally);
        }
    }

    /// Sets whether anything of the second level's queue is counted.
    pub(super) fn observe(&mut self, observed: bool) {
        self.second.observe(observed, self.clock);
    }

    /// Prefetches a line of code, as part of a stream or not, which comes from `from`, unless the first level has it.
    pub(super) fn prefetch_code(&mut self, line: u64, from: Option<(Source, u32)>, streams: bool, tally: &mut Tally) {
        self.front.prefetch(line, from, streams, &self.memory, tally);
    }

    /// Redirects execution, and ends the group where it has to end.
    fn turn(&mut self, instruction: &Instruction<'_>, found: &Findings, port: BundlePort, template: Template, tally: &mut Tally) {
        let bundle = instruction.bundle.as_ref();
        let ends = bundle.is_none_or(Bundle::is_last);
        let stops = bundle.is_none_or(Bundle::stops_behind);
        self.course.went(instruction.address >> 4, bundle);
        let branch = bundle.and_then(Bundle::branch);
        let cut = match (stops, ends) {
            (true, _) => MontecitoGroupEnd::Stop,
            (false, true) => MontecitoGroupEnd::Window,
            (false, false) => MontecitoGroupEnd::Implicit,
        };
        let far = found.continuation == Continuation::Far || instruction.class == Class::Serializing;
        let bubbles = match branch.map(|branch| branch.target) {
            Some(Target::Return) => RETURN,
            Some(Target::Indirect) => INDIRECT,
            _ => 0,
        };
        let redirect = match found.continuation {
            _ if far => None,
            Continuation::Taken => Some((IdleCause::Bubble, bubbles, true)),
            Continuation::Resteered(cycles) => Some((IdleCause::Bubble, u64::from(cycles), true)),
            Continuation::Sequential if branch.is_some_and(|branch| branch.counted) => Some((IdleCause::Loop, LOOP_END, false)),
            _ => None,
        };
        if far || matches!(found.continuation, Continuation::Mispredicted | Continuation::Restarted) {
            self.close(cut, tally);
            let flush = if found.continuation == Continuation::Mispredicted && !far { Flush::Branch } else { Flush::Exception };
            return self.leave(flush, tally);
        }
        if let Some((cause, bubbles, taken)) = redirect {
            self.close(cut, tally);
            if taken || ends {
                self.front.turn(cause, bubbles, taken, tally);
                self.course.leave();
            }
        } else if stops {
            self.close(MontecitoGroupEnd::Stop, tally);
        } else if ends && branches::ends_behind(template, port == BundlePort::Branch) {
            self.close(MontecitoGroupEnd::Implicit, tally);
        }
    }

    /// Schedules a flush behind the last group.
    fn leave(&mut self, flush: Flush, tally: &mut Tally) {
        self.close(MontecitoGroupEnd::Implicit, tally);
        self.course.leave();
        self.flush.add(flush, if flush == Flush::Branch { MISPREDICTION } else { EXCEPTION });
    }

    /// Lets the bubbles of a flush pass.
    fn empty(&mut self, tally: &mut Tally) {
        let Some((flush, bubbles)) = self.flush.take() else { return };
        let state = if flush == Flush::Branch { MontecitoState::FlushBranch } else { MontecitoState::FlushException };
        let (mut begin, mut delivery) = (self.clock, self.clock);
        for bubble in 1..=bubbles {
            // The front end restarts after DET, and delivers in the last step.
            begin = if bubble == DET + 1 { self.clock } else { begin };
            delivery = self.clock;
            self.pass(1 << state as u8 | 1 << MontecitoState::DispersalStall as u8);
        }
        self.front.restart(begin, delivery, tally);
    }

    /// PM4: opens a group, which enters dispersal as soon as its first bundle arrives.
    fn open(&mut self, slot: u8, tally: &mut Tally) {
        while self.clock < self.ready {
            if self.flight.is_empty() {
                // Nothing is in flight that could ask for clocks.
                let clocks = self.ready - self.clock;
                self.flight.skip(clocks);
                self.clock = self.ready;
                self.starve(clocks, tally);
                return self.begin(slot);
            }
            self.starve(1, tally);
            self.pass(0);
        }
        self.begin(slot);
    }

    fn begin(&mut self, slot: u8) {
        self.open = true;
        self.window = MontecitoWindow::at(slot);
        self.dispersed = self.clock;
        self.flight.begin();
    }

    /// Counts steps in which the front end delivers nothing.
    fn starve(&mut self, clocks: u64, tally: &mut Tally) {
        tally.add(Signal::SlotsNotDispersedFrontEnd, WIDTH * clocks);
        tally.add(Signal::SlotsNotDispersed, WIDTH * clocks);
        self.report(1 << MontecitoState::Starved as u8, clocks);
    }

    /// Completes the open group.
    fn close(&mut self, end: MontecitoGroupEnd, tally: &mut Tally) {
        if !self.open {
            return;
        }
        self.open = false;
        self.window.count(end, tally);
        self.window = MontecitoWindow::default();
        self.flight.enter();
        self.pass(1 << MontecitoState::Completion as u8);
    }

    /// PM2, PM3: lets the step pass. `states` hold in its own clock, unless that is reported otherwise.
    fn pass(&mut self, states: u64) {
        let now = self.clock;
        if states != 0 {
            self.report(states, 1);
        }
        let clocks = if self.flight.is_empty() { 0 } else { self.ask(now) };
        self.clock = now + 1 + clocks;
        self.flight.advance(DET);
    }

    /// Lets the stall clocks pass that the stages ask for in the step whose first clock is `now`. Returns their number.
    fn ask(&mut self, now: u64) -> u64 {
        let asked = self.detect(now);
        let memory = asked.most();
        let group = self.flight.get(DET);
        let check = if group.is_some_and(|group| group.checks) { CHECK } else { 0 };
        if group.is_some() {
            self.switching.complete(now + memory.max(check) + 1);
        }
        let waits = self.waits(now);
        let renaming = self.rename(now);
        let stalls = memory != 0 || check != 0 || waits.most() != 0 || renaming.most() != 0;
        let clocks = if stalls { self.stall(now, (&asked, check), &waits, &renaming) } else { 0 };
        self.write(now + clocks);
        clocks
    }

    /// Lets the stall clocks of the step pass, in which the group in DET waits for its accesses or its check, that in EXE for registers, or
    /// that in REN for the register stack. Returns their number.
    #[inline(never)]
    fn stall(&mut self, now: u64, (asked, check): (&DetDemand, u64), waits: &MontecitoWaits, renaming: &Renaming) -> u64 {
        let mut stall = Stall::new();
        let memory = asked.most();
        stall.family(MontecitoState::Memory as u8, memory.max(check));
        stall.hold(MontecitoState::DataCache as u8, 0, memory);
        stall.hold(MontecitoState::FloatingPoint as u8, 0, check);
        asked.of().for_each(|(state, clocks)| stall.hold(state as u8, 0, clocks));
        let execution = waits.most();
        let flushed = execution.min(waits.emptied);
        let first = stall.family(MontecitoState::Execution as u8, execution - flushed);
        let until = stall.clocks;
        for (state, clocks) in [
            (MontecitoState::General, waits.general),
            (MontecitoState::GeneralNoLoad, waits.general_no_load),
            (MontecitoState::Floating, waits.floating),
            (MontecitoState::Predicates, waits.predicates),
            (MontecitoState::Special, waits.special),
            (MontecitoState::SpecialOrPredicates, waits.special.max(waits.predicates)),
        ] {
            stall.hold(state as u8, first, clocks.min(until));
        }
        stall.family(MontecitoState::FlushException as u8, execution);
        renaming.hold(&mut stall);
        self.front.stall(now + 1, now + 1 + stall.clocks);
        stall.play(|states, clocks| self.report(states | 1 << MontecitoState::DispersalStall as u8, clocks));
        stall.clocks
    }

    /// PM16 to PM21: handles the group in DET. Registers that its loads write are delayed as much as the loads.
    fn detect(&mut self, now: u64) -> DetDemand {
        let MontecitoPipeline { flight, memory, second, values, .. } = self;
        let Some(group) = flight.get_mut(DET) else { return DetDemand::default() };
        let asked = memory.detect(group, now);
        values.bring(group);
        if second.observed {
            second.take(group, now + asked.before());
        }
        asked
    }

    /// PM12, PM14, PM15: returns the waits of the group in EXE.
    fn waits(&self, now: u64) -> MontecitoWaits {
        let mut waits = MontecitoWaits::default();
        let Some(group) = self.flight.get(EXE) else { return waits };
        let early = |value: Value, consumer| {
            value.producer == Producer::Parallel && consumer == Consumer::Address && value.at != 0 && now < value.at + BYPASS
        };
        let latency = |value: Value, consumer| if early(value, consumer) { NO_BYPASS } else { latency(value.producer, consumer) };
        self.values.waits(group, now, latency, |wait| {
            let most = match wait.kind {
                ResultKind::Floating => &mut waits.floating,
                ResultKind::Special => &mut waits.special,
                ResultKind::Predicate => &mut waits.predicates,
                ResultKind::General => &mut waits.general,
            };
            *most = wait.clocks.max(*most);
            if wait.kind == ResultKind::General && !wait.value.producer.loads() {
                waits.general_no_load = waits.general_no_load.max(wait.clocks);
            }
            if early(wait.value, wait.consumer) {
                waits.emptied = MISPREDICTION;
            }
        });
        waits
    }

    /// Executes the group in EXE in clock `now`, and sets the times of its results.
    fn write(&mut self, now: u64) {
        let MontecitoPipeline { flight, memory, values, stack, switching, .. } = self;
        let Some(group) = flight.get_mut(EXE) else { return };
        group.executed = now;
        memory.execute(group, now);
        for reference in group.references() {
            let touch = &reference.touch;
            if touch.missed && touch.source.is_beyond() && touch.loads() {
                switching.miss(now, reference.arrival);
            }
        }
        values.write(group, now);
        if group.stack.keeps != 0 {
            *stack = (*stack).max(now + group.stack.keeps);
        }
    }

    /// PM25 to PM27: returns the demands of the group in REN.
    fn rename(&mut self, now: u64) -> Renaming {
        if self.flight.get(REN).is_none() {
            return Renaming::default();
        }
        // A write that has not been executed will execute in its own step, if nothing delays it.
        let in_flight = [(REG, 1), (EXE, 0)].map(|(steps, until)| {
            let keeps = self.flight.get(steps).map_or(0, |group| group.stack.keeps);
            if keeps == 0 { 0 } else { now + until + keeps }
        });
        let done = in_flight.into_iter().max().unwrap_or(0).max(self.stack);
        let switched = self.flight.get(REG).filter(|group| group.stack.switches).map_or(0, |group| group.renamed + BANK);
        let Some(group) = self.flight.get_mut(REN) else { return Renaming::default() };
        group.renamed = now;
        let work = group.stack;
        let clocks = |accesses: u32| u64::from(accesses).div_ceil(STACK_WIDTH);
        Renaming {
            register: if work.waits { done.saturating_sub(now) } else { 0 },
            spills: clocks(work.spills),
            fills: clocks(work.fills),
            loads: clocks(work.loads),
            bank: switched.saturating_sub(now),
        }
    }

    /// Passes clocks in which these states hold, together with the known states of the front end.
    fn report(&mut self, states: u64, clocks: u64) {
        let mut left = clocks;
        while left != 0 {
            let (cause, most) = self.front.reports.peek().unwrap_or((front::DELIVERS, left));
            let (queue, now) = if self.second.observed { self.second.hold(most.min(left)) } else { (0, most.min(left)) };
            self.front.reports.take(now);
            let idle = IDLE_STATES.get(usize::from(cause).wrapping_sub(1)).map_or(0, |state| 1 << *state as u8);
            self.track.pass(states | idle | queue << MontecitoState::Queue as u8, now);
            left -= now;
        }
    }
}
