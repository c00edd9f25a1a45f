//! What passes between a guest and its PMU: kept for a report, and told to who follows the run.
//!
//! Each thread has a recorder. It does nothing, and costs a comparison a step, unless a [`Tracer`] wants something of its thread.

mod choice;
mod configuration;
mod registers;
mod replay;
mod sink;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use vm_pmu::State;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::Context;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::Thread;

pub use choice::{Checks, Choice, Keep, Kind, Kinds, Tracer, Until};
pub(crate) use configuration::Bytes;
pub(crate) use registers::raised;
pub use registers::{frozen, sampled, update};
pub use replay::{Replayed, replay};
pub use sink::{BoxCount, Listener, Sample, Sink, Value};

use crate::report::{Action, Trace};

/// Where a thread is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Instructions that it has retired.
    pub(super) instruction: u64,
    /// Cycles that have passed for it.
    pub(super) cycle: u64,
    /// The address of the instruction, or of the next one.
    pub(super) address: u64,
}

/// What is known of a thread's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Surrounding {
    privilege: u8,
    halted: bool,
    foreground: bool,
    process: Option<u64>,
}

impl Surrounding {
    /// That of a context, in the address space or process `process`, where the part says which it is.
    pub(super) fn of(context: &Context, process: Option<u64>) -> Surrounding {
        Surrounding { privilege: context.privilege, halted: context.halted, foreground: context.foreground, process }
    }
}

/// The state of a trace, between two instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceState {
    kept: Vec<Trace>,
    /// What ends a trace has happened on some thread.
    over: bool,
    /// After a check that failed, how many entries are kept yet.
    left: Option<usize>,
    ended: bool,
    /// An interrupt was asked for and has not been taken.
    asked: bool,
    frozen: Option<bool>,
    surrounding: Option<Surrounding>,
}

/// What follows one thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder {
    tracer: Tracer,
    thread: usize,
    kept: VecDeque<Trace>,
    left: Option<usize>,
    ended: bool,
    asked: bool,
    frozen: Option<bool>,
    surrounding: Option<Surrounding>,
    /// The part's PMU freezes as a whole.
    freezes: bool,
    /// The epoch of the demand when the PMU was last looked at; what freezes it changes what it demands, except on POWER9.
    epoch: Option<u32>,
    place: Place,
    active: bool,
    registers: Vec<&'static RegisterDescription>,
    values: Vec<Value>,
    /// After how many instructions the next sample is due.
    due: u64,
}

impl Recorder {
    pub(super) fn new<L: InterruptLine>(tracer: &Tracer, thread: &Thread<'_, L>) -> Recorder {
        let mut recorder = Recorder { tracer: tracer.clone(), thread: thread.number(), ..Recorder::default() };
        if let Some(listener) = &tracer.listener {
            recorder.registers = registers::sampled(thread);
            listener.0.begin(recorder.thread, &recorder.registers);
        }
        recorder.update_activity();
        if recorder.active {
            let state = thread.state();
            recorder.freezes = registers::freezes(&state);
            // Who follows the run is told at the first step.
            recorder.frozen = registers::frozen(&state).filter(|_| tracer.listener.is_none());
        }
        recorder
    }

    fn update_activity(&mut self) {
        let choice = &self.tracer.choice;
        let keeps = choice.most != 0 && !self.ended && choice.thread.is_none_or(|thread| thread == self.thread);
        self.active = keeps || self.tracer.listener.is_some() || (self.tracer.checks.is_some() && !self.tracer.is_over());
    }

    pub(super) fn kept(&self) -> Vec<Trace> {
        // Of a guest none of whose checks failed there is nothing around one.
        let around = self.tracer.choice.keep == Keep::AroundFailure;
        if around && self.left.is_none() && !self.tracer.is_over() { Vec::new() } else { self.kept.iter().cloned().collect() }
    }

    pub(super) fn state(&self) -> TraceState {
        let kept = self.kept.iter().cloned().collect();
        let Recorder { left, ended, asked, frozen, surrounding, .. } = *self;
        TraceState { kept, over: self.tracer.is_over(), left, ended, asked, frozen, surrounding }
    }

    /// Continues from what another was.
    pub(super) fn go_on(&mut self, state: &TraceState) {
        let Choice { most, keep, .. } = self.tracer.choice;
        let most = if keep == Keep::AroundFailure { most.saturating_mul(2).saturating_add(1) } else { most };
        self.kept = state.kept.iter().take(most).cloned().collect();
        if state.over {
            self.tracer.end();
        }
        (self.left, self.ended, self.asked) = (state.left, state.ended, state.asked);
        (self.frozen, self.surrounding) = (state.frozen, state.surrounding);
        self.due = 0;
        self.update_activity();
    }

    /// Whether anything of the thread is wanted.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Who follows the run, if somebody does.
    pub(super) fn listener(&self) -> Option<&Listener> {
        self.tracer.listener.as_ref()
    }

    /// Whether each step must be told by itself, as its stores matter.
    #[inline]
    pub(super) fn needs_stores(&self) -> bool {
        self.active && self.tracer.checks.is_some()
    }

    /// Where the thread was when it was last told of.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// The thread has come to `place`.
    #[inline]
    pub(super) fn move_to(&mut self, place: Place) {
        self.place = place;
    }

    /// What a register holds before it is written.
    pub(super) fn before<L: InterruptLine>(&self, thread: &Thread<'_, L>, address: Address) -> Option<u64> {
        if self.active { registers::value(thread, address) } else { None }
    }

    /// An access at `place`, as it ended: `wrote` is what was written.
    pub(super) fn access<L: InterruptLine>(
        &mut self,
        thread: &Thread<'_, L>,
        place: Place,
        address: Address,
        (before, wrote): (Option<u64>, Option<u64>),
        answer: Result<u64, Fault>,
    ) {
        if !self.active {
            return;
        }
        self.place = place;
        let after = if wrote.is_some() { registers::value(thread, address) } else { None };
        if let Some(action) = registers::access(self.tracer.registers(thread), address, (before, after), wrote, answer) {
            self.note(thread, action);
        }
        if wrote.is_some() {
            self.look(thread, true);
        }
    }

    /// Counters ask for an interrupt.
    pub(super) fn interrupt<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, counters: u32) {
        if self.active {
            self.asked = true;
            self.look(thread, false);
            let counters = (0..u32::BITS).filter(|counter| counters >> counter & 1 == 1).collect();
            self.note(thread, Action::Interrupt { counters });
        }
    }

    /// Nobody knows when the interrupt that was asked for is taken: who follows the run is told so at once, and nothing is kept of it.
    pub(super) fn leave_open<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        if self.active && std::mem::take(&mut self.asked) {
            self.place.cycle = self.place.cycle.saturating_add(1);
            self.tell(thread, Action::Taken);
        }
    }

    /// An interrupt of the PMU is taken before the instruction at `address`.
    pub(super) fn taken<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: u64) {
        if self.active {
            self.asked = false;
            self.place.address = address;
            self.note(thread, Action::Taken);
        }
    }

    /// The thread's context is `surrounding`.
    pub(super) fn surround<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, surrounding: Surrounding) {
        if self.active && self.surrounding != Some(surrounding) {
            self.surrounding = Some(surrounding);
            let Surrounding { privilege, halted, foreground, process } = surrounding;
            self.note(thread, Action::Context { privilege, halted, foreground, process });
        }
    }

    /// A store of `size` bytes is done.
    pub(super) fn stored<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, address: u64, size: u64) {
        let failed =
            self.tracer.checks.as_ref().filter(|_| self.active && !self.tracer.is_over()).and_then(|checks| checks.stored(address, size));
        if let Some(action) = failed {
            self.note(thread, action);
        }
    }

    /// A step is complete: sees whether the PMU froze in it, and whether a sample is due.
    pub(super) fn step<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        self.look(thread, false);
        if self.place.instruction >= self.due {
            self.sample(thread);
        }
    }

    fn look<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, written: bool) {
        let epoch = Some(thread.epoch());
        if !self.freezes || (epoch == self.epoch && !written) {
            return;
        }
        let state = thread.state();
        self.epoch = epoch.filter(|_| !matches!(state, State::Power9(_)));
        let frozen = registers::frozen(&state);
        let before = std::mem::replace(&mut self.frozen, frozen);
        if frozen != before {
            let entry = self.tell(thread, Action::Freeze { frozen: frozen.unwrap_or(false), written });
            if before.is_some() {
                self.keep(entry);
            }
        }
    }

    fn sample<L: InterruptLine>(&mut self, thread: &Thread<'_, L>) {
        let Some(listener) = &self.tracer.listener else {
            self.due = u64::MAX;
            return;
        };
        registers::update(thread, &self.registers, &mut self.values);
        let Place { instruction, cycle, .. } = self.place;
        self.due = instruction.saturating_add(listener.0.every());
        listener.0.sample(&Sample { thread: self.thread, instruction, cycle, values: &self.values });
    }

    /// Tells of `action`, and keeps it as far as it is wanted.
    fn note<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, action: Action) {
        let entry = self.tell(thread, action);
        self.keep(entry);
    }

    fn tell<L: InterruptLine>(&mut self, thread: &Thread<'_, L>, action: Action) -> Trace {
        let Place { instruction, cycle, address } = self.place;
        let entry = Trace { thread: self.thread, instruction, cycle, address, action };
        if let Some(listener) = &self.tracer.listener {
            listener.0.tell(&entry);
            self.sample(thread);
        }
        entry
    }

    fn keep(&mut self, entry: Trace) {
        let Choice { most, keep, thread, .. } = self.tracer.choice;
        let failed = matches!(entry.action, Action::Check { .. });
        let mine = thread.is_none_or(|thread| thread == self.thread);
        if most == 0 || self.ended {
            self.end_if(failed);
            return;
        }
        let around = keep == Keep::AroundFailure;
        if around && self.left.is_none() && self.tracer.is_over() {
            self.left = Some(most);
        }
        if !around && self.tracer.is_over() {
            self.ended = true;
            self.update_activity();
            return;
        }
        let ends = self.tracer.choice.ends(&entry.action);
        let wanted = ends || (failed && self.left.is_none()) || (!failed && self.tracer.choice.wants(&entry.action));
        if wanted && mine {
            self.store(entry, failed && around);
        }
        if ends {
            self.ended = true;
        }
        self.end_if(ends || (failed && around));
        self.update_activity();
    }

    /// Puts `entry` where it belongs; `middle` is a check around which the trace is.
    fn store(&mut self, entry: Trace, middle: bool) {
        let Choice { most, keep, .. } = self.tracer.choice;
        match (keep, self.left) {
            (Keep::First, _) => {
                self.kept.push_back(entry);
                self.ended |= self.kept.len() >= most;
            }
            (Keep::AroundFailure, None) if middle => {
                self.kept.push_back(entry);
                self.left = Some(most);
            }
            (Keep::AroundFailure, Some(left)) => {
                self.kept.push_back(entry);
                self.left = Some(left.saturating_sub(1));
                self.ended |= left <= 1;
            }
            (Keep::Last | Keep::AroundFailure, _) => {
                if self.kept.len() >= most {
                    self.kept.pop_front();
                }
                self.kept.push_back(entry);
            }
        }
    }

    fn end_if(&self, ends: bool) {
        if ends {
            self.tracer.end();
        }
    }
}
