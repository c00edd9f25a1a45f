//! The in-order pipeline of the first Itanium. Rules PI1 to PI31 and their sources are in `docs/notes/pipelines-ia64.md`. Behaviour that
//! depends on the operands of floating-point operations (PI31) is not modelled.

pub(super) mod bus;
mod dispersal;
mod front;
mod interface;
mod latencies;
mod memory;
mod rows;
mod saved;
mod signals;
#[cfg(test)]
mod tests;

use super::ia64::flight::Flight;
use super::ia64::flush::{Flush, Pending};
use super::ia64::position::ProgramPosition;
use super::ia64::readiness::{Value, Values};
use super::ia64::rows::{Consumer, Producer};
pub(super) use super::sharing::Unshared as Shared;
use super::{Continuation, Findings};
use crate::bundle::{Bundle, Template, Unit};
use crate::instruction::{Class, Instruction};
use crate::pipeline::resources::steps::{Stall, Track};
use crate::tally::Tally;
use dispersal::{ItaniumGroupEnd, ItaniumWindow};
use front::ItaniumFrontEnd;
use latencies::{BYPASS, latency};
use memory::ItaniumMemory;
use rows::ItaniumPort;
use signals::{EMPTY, ItaniumState, REASONS};
pub(super) use signals::{EVENTS, STATES};
use vm_pmu_arch::feed::Signal;

/// Steps from dispersal to REN, EXE and DET (I1).
const REN: u64 = 1;
const EXE: u64 = 4;
const DET: u64 = 5;
/// Bubbles after a mispredicted branch, and after an exception (PI20).
const MISPREDICTION: u64 = 9;
const EXCEPTION: u64 = 12;
/// Clocks that a parallel result takes to reach another unit that asks for it too soon (PI16).
const NO_BYPASS: u64 = 10;
/// Accesses of the register stack engine per clock.
const STACK_WIDTH: u64 = 2;
/// Upper bound on the floating-point operations of a group, whatever bundles an embedder reports: four in each of six slots.
const OPERATIONS: usize = 24;

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct ItaniumPipeline {
    pub(super) track: Track,
    /// The first clock of the next step, in which the open group is.
    clock: u64,
    flight: Flight,
    /// Whether a group is being formed.
    open: bool,
    window: ItaniumWindow,
    /// Whether an implicit stop ended the previous group (PI12).
    split: bool,
    /// Number of floating-point operations of the group being formed.
    operations: u64,
    /// The clock in which the last group was dispersed.
    dispersed: u64,
    course: ProgramPosition,
    /// The clock from which the bundle of the last instruction can be dispersed.
    ready: u64,
    flush: Pending,
    pub(super) front: ItaniumFrontEnd,
    values: Values,
    memory: ItaniumMemory,
}

/// The clocks for which a group waits for registers.
#[derive(Clone, Copy, Debug, Default)]
struct ItaniumWaits {
    /// Clocks for the data of loads.
    loads: u64,
    /// Clocks for a parallel result that another unit asked for too soon.
    flushed: u64,
    /// Clocks for any register.
    all: u64,
}

impl ItaniumPipeline {
    pub(super) fn new() -> ItaniumPipeline {
        ItaniumPipeline {
            track: Track::new(REASONS),
            clock: 1,
            flight: Flight::new(),
            open: false,
            window: ItaniumWindow::default(),
            split: false,
            operations: 0,
            dispersed: 0,
            course: ProgramPosition::default(),
            ready: 1,
            flush: Pending::default(),
            front: ItaniumFrontEnd::new(1),
            values: Values::new(),
            memory: ItaniumMemory::new(),
        }
    }

    /// Executes an instruction.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, found: &Findings, tally: &mut Tally) {
        if instruction.class == Class::Exception {
            return self.leave(Flush::Exception, tally);
        }
        let bundle = instruction.bundle.as_ref();
        let (number, slot) = (instruction.address >> 4, bundle.map_or(0, |bundle| bundle.slot.min(2)));
        if bundle.is_some() && !self.course.follows(number, slot) {
            // The change of flow was not reported: a failed check or an interruption.
            self.leave(Flush::Exception, tally);
        }
        let enters = bundle.is_none() || self.flush.is_some() || self.course.enters(number, slot);
        if enters {
            self.empty(tally);
            let late = self.carry_code(found);
            self.ready = self.front.arrive(instruction.address, found, late, self.dispersed, tally);
        }
        let decoded = bundle.map(Bundle::decoded);
        let ((unit, word), template) = (decoded.unwrap_or((Unit::M, 0)), bundle.map_or(Template::Other, Bundle::kind));
        let (port, row) = rows::of(instruction, decoded);
        if self.open {
            let seconds = enters && !self.window.is_empty();
            if seconds && (!self.window.has_room() || self.ready > self.clock || bundle.is_none()) {
                self.close(ItaniumGroupEnd::Window, tally);
            } else if !self.window.take(port, unit, template, slot, seconds) {
                self.close(ItaniumGroupEnd::Implicit, tally);
            }
        }
        if !self.open {
            self.open(tally);
            self.window.take(port, unit, template, slot, false);
        }
        self.operations += rows::operations(instruction, unit, word);
        if let Some(group) = self.flight.forming() {
            group.add(instruction, found, &row);
        }
        self.turn(instruction, found, port, template, tally);
    }

    /// Redirects execution, and ends the group where it has to end.
    fn turn(&mut self, instruction: &Instruction<'_>, found: &Findings, port: ItaniumPort, template: Template, tally: &mut Tally) {
        let bundle = instruction.bundle.as_ref();
        let stops = bundle.is_none_or(Bundle::stops_behind);
        self.course.went(instruction.address >> 4, bundle);
        let end = if stops { ItaniumGroupEnd::Stop } else { ItaniumGroupEnd::Window };
        let taken = match found.continuation {
            Continuation::Taken => Some(0),
            Continuation::Resteered(bubbles) => Some(bubbles),
            _ => None,
        };
        if found.continuation == Continuation::Far || instruction.class == Class::Serializing {
            self.close(end, tally);
            self.leave(Flush::Exception, tally);
        } else if matches!(found.continuation, Continuation::Mispredicted | Continuation::Restarted) {
            self.close(end, tally);
            self.leave(if found.continuation == Continuation::Restarted { Flush::Exception } else { Flush::Branch }, tally);
        } else if let Some(bubbles) = taken {
            self.close(end, tally);
            self.front.turn(u64::from(bubbles));
            self.course.leave();
        } else if stops {
            self.close(ItaniumGroupEnd::Stop, tally);
        } else if bundle.is_none_or(Bundle::is_last) && ItaniumWindow::ends_behind(template, port) {
            self.close(ItaniumGroupEnd::Implicit, tally);
        }
    }

    /// PI20: schedules a flush behind the last group.
    fn leave(&mut self, flush: Flush, tally: &mut Tally) {
        self.close(ItaniumGroupEnd::Window, tally);
        self.course.leave();
        tally.add(Signal::FlushesOther, 1);
        self.flush.add(flush, if flush == Flush::Branch { MISPREDICTION } else { EXCEPTION });
    }

    /// Lets the bubbles of a flush pass.
    fn empty(&mut self, tally: &mut Tally) {
        let Some((flush, bubbles)) = self.flush.take() else { return };
        let state = if flush == Flush::Branch { ItaniumState::FlushBranch } else { ItaniumState::FlushException };
        let mut last = self.clock;
        for _ in 0..bubbles {
            last = self.clock;
            self.pass(1 << state as u8, tally);
        }
        // The first group after them can be dispersed in the next clock.
        self.front.restart(last);
        self.split = false;
    }

    /// PI4: opens a group, which enters dispersal as soon as its first bundle arrives.
    fn open(&mut self, tally: &mut Tally) {
        while self.clock < self.ready && !self.flight.is_empty() {
            self.starve(1);
            self.pass(0, tally);
        }
        if let Some(clocks) = self.ready.checked_sub(self.clock) {
            // Nothing is in flight that could ask for clocks.
            self.starve(clocks);
            self.flight.skip(clocks);
            self.clock = self.ready;
        }
        self.open = true;
        self.window = ItaniumWindow::default();
        self.operations = 0;
        self.dispersed = self.clock;
        self.flight.begin();
    }

    /// PI21, PI25, PI26: counts clocks in which the front end delivers nothing.
    fn starve(&mut self, clocks: u64) {
        let mut left = clocks;
        let ItaniumPipeline { front, track, .. } = self;
        for (from, to, cause) in front.causes(self.clock, self.clock + clocks) {
            let state = EMPTY.get(usize::from(cause)).copied().unwrap_or(ItaniumState::EmptyBubble);
            track.pass(1 << state as u8, to - from);
            left = left.saturating_sub(to - from);
        }
        track.pass(1 << ItaniumState::EmptyBubble as u8, left);
    }

    /// Completes the open group.
    fn close(&mut self, end: ItaniumGroupEnd, tally: &mut Tally) {
        if !self.open {
            return;
        }
        self.open = false;
        self.window.count(end, tally);
        // PI29
        tally.add(Signal::FloatingPointOperationsLow, self.operations & 3);
        tally.add(Signal::FloatingPointOperationsHigh, self.operations >> 2);
        let state = if self.split { ItaniumState::Limited } else { ItaniumState::Inherent };
        self.split = end == ItaniumGroupEnd::Implicit;
        self.flight.enter();
        self.pass(1 << state as u8 | 1 << ItaniumState::Completion as u8, tally);
    }

    /// PI2, PI3: lets the step pass. `states` hold in its own clock, unless that is reported otherwise.
    fn pass(&mut self, states: u64, tally: &mut Tally) {
        let now = self.clock;
        self.track.pass(states, u64::from(states != 0));
        let clocks = if self.flight.is_empty() { 0 } else { self.ask(now, tally) };
        self.clock = now + 1 + clocks;
        self.flight.advance(DET);
    }

    /// Lets the stall clocks pass that the stages ask for in the step whose first clock is `now`. Returns their number.
    fn ask(&mut self, now: u64, tally: &mut Tally) -> u64 {
        let memory = self.detect(now);
        let waits = self.waits(now, now + memory);
        let renames = self.renames();
        tally.add(Signal::FlushesBypass, u64::from(waits.flushed != 0));
        let stalls = memory != 0 || waits.all != 0 || renames != 0;
        let clocks = if stalls { self.stall(memory, &waits, renames) } else { 0 };
        self.write(now + clocks);
        clocks
    }

    /// Lets the stall clocks of the step pass, in which the group in DET waits for its accesses, that in EXE for registers, or that in REN
    /// for the register stack. Returns their number.
    #[inline(never)]
    fn stall(&mut self, memory: u64, waits: &ItaniumWaits, renames: u64) -> u64 {
        let mut stall = Stall::new();
        stall.family(ItaniumState::Memory as u8, memory);
        stall.family(ItaniumState::FlushException as u8, waits.flushed);
        stall.family(ItaniumState::Memory as u8, waits.loads);
        stall.family(ItaniumState::Execution as u8, waits.all);
        stall.family(ItaniumState::RegisterStack as u8, renames);
        stall.play(|states, clocks| self.track.pass(states, clocks));
        stall.clocks
    }

    /// PI15, PI17: handles the group in DET. Registers that its loads write are delayed as much as the loads.
    fn detect(&mut self, now: u64) -> u64 {
        let ItaniumPipeline { flight, memory, values, .. } = self;
        let Some(group) = flight.get_mut(DET) else { return 0 };
        let asked = memory.detect(group, now);
        values.bring(group);
        asked
    }

    /// PI13, PI14, PI16: returns the waits of the group in EXE from clock `now` on. It could execute in clock `executes`.
    fn waits(&self, now: u64, executes: u64) -> ItaniumWaits {
        let mut waits = ItaniumWaits::default();
        let Some(group) = self.flight.get(EXE) else { return waits };
        let early = |value: Value, consumer| {
            let other = !matches!(consumer, Consumer::Parallel | Consumer::Written);
            value.producer == Producer::Parallel && other && value.at != 0 && executes < value.at + BYPASS
        };
        let latency = |value: Value, consumer| if early(value, consumer) { NO_BYPASS } else { latency(value.producer, consumer) };
        self.values.waits(group, now, latency, |wait| {
            waits.all = wait.clocks.max(waits.all);
            if wait.value.producer.loads() {
                waits.loads = wait.clocks.max(waits.loads);
            }
            if early(wait.value, wait.consumer) {
                waits.flushed = wait.clocks.max(waits.flushed);
            }
        });
        waits
    }

    /// Executes the group in EXE in clock `now`, and sets the times of its results.
    fn write(&mut self, now: u64) {
        let ItaniumPipeline { flight, memory, values, .. } = self;
        let Some(group) = flight.get_mut(EXE) else { return };
        group.executed = now;
        memory.execute(group, now);
        values.write(group, now);
    }

    /// PI18: returns the clocks that the group in REN asks for.
    fn renames(&self) -> u64 {
        let Some(work) = self.flight.get(REN).map(|group| group.stack) else { return 0 };
        [work.spills, work.fills, work.loads].iter().map(|accesses| u64::from(*accesses).div_ceil(STACK_WIDTH)).sum()
    }
}
