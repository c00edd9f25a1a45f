//! A core: one or two threads that take turns (Montecito manual, 2.4.1).

use super::changes::{Changes, Gate, Wish};
use super::cpu::Cpu;
use super::observer::{CpuView, Observer};
use super::step::{Switch, SwitchCause};

/// Cycles from the start of a switch until the other thread runs.
pub const SWITCH_CYCLES: u32 = 15;
/// The urgency of a thread that makes progress.
const NOMINAL: u8 = 5;
/// The urgency that an interrupt gives a thread in the background.
const INTERRUPTED: u8 = 6;
/// The urgency of a thread whose quantum ran out while it made progress.
const PREEMPTED: u8 = 7;

/// What a core did in its part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Time elapsed; an instruction ran, or an interruption was taken, if the flag is set.
    Ran(bool),
    /// An instruction would run, and may not yet.
    Ready,
    /// All its threads halted.
    Idle,
}

/// One core.
pub(crate) struct Threads<O> {
    pub(crate) cpus: Vec<Cpu<O>>,
    pub(crate) foreground: usize,
    /// Cycles since the start.
    pub(crate) clock: u64,
    /// Cycles since the thread in the foreground went there.
    pub(crate) used: u64,
    pub(crate) quantum: u64,
    /// `hint @pause` was executed and its issue group has not ended.
    pub(crate) pause: bool,
    /// For each thread, whether its data is on its way.
    pub(crate) due: [bool; 2],
    pub(crate) changes: Changes,
}

impl<O: Observer> Threads<O> {
    pub(crate) fn new(mut cpus: Vec<Cpu<O>>, quantum: u64) -> Self {
        if let Some(first) = cpus.first_mut() {
            first.core.foreground = true;
        }
        Self { cpus, foreground: 0, clock: 0, used: 0, quantum: quantum.max(1), pause: false, due: [false; 2], changes: Changes::default() }
    }

    /// The thread in the foreground.
    pub(crate) fn current(&mut self) -> &mut Cpu<O> {
        &mut self.cpus[self.foreground]
    }

    /// The thread in the background, if there is one that could run.
    fn sibling(&self) -> Option<usize> {
        let other = 1 - self.foreground;
        self.cpus.get(other).filter(|cpu| cpu.core.halted.is_none()).map(|_| other)
    }

    fn urgency(&self, thread: usize) -> u8 {
        self.cpus[thread].core.urgency
    }

    pub(crate) fn elapse(&mut self, cycles: u64) {
        self.clock = self.clock.saturating_add(cycles);
        self.used = self.used.saturating_add(cycles);
        for cpu in &mut self.cpus {
            cpu.core.cycles = self.clock;
        }
    }

    /// The threads change places, after the change was held up for `held` cycles, `moving` of them for a move of a register.
    fn switch(&mut self, other: usize, cause: SwitchCause, (held, moving): (u64, u64)) {
        let outgoing = std::mem::replace(&mut self.foreground, other);
        self.pause = false;
        let idle = self.clock.saturating_sub(self.changes.completed);
        let mut own = None;
        for (thread, foreground) in [(outgoing, false), (other, true)] {
            let cpu = &mut self.cpus[thread];
            cpu.core.foreground = foreground;
            let switch = Switch { foreground, cause, cycles: SWITCH_CYCLES, idle, held, moving };
            own = cpu.observer.switched(&switch, &CpuView::new(&cpu.core));
        }
        self.changes.changed(self.clock);
        let cycles = u64::from(own.unwrap_or(SWITCH_CYCLES));
        if own.is_none() {
            self.current().observer.stalled(cycles);
        }
        self.elapse(cycles);
        self.used = 0;
    }

    /// The threads change places for `cause`, which was there in cycle `since`, unless something holds that up.
    fn change(&mut self, other: usize, cause: SwitchCause, since: u64) {
        if self.changes.wish.is_some() {
            return;
        }
        let Some((gate, until)) = self.changes.held(since, self.clock) else { return self.switch(other, cause, (0, 0)) };
        self.current().observer.gated(gate);
        self.changes.wish = Some(Wish { cause, since, gate, until });
        self.carry_out();
    }

    /// The change that was held up takes place if nothing holds it up any more.
    fn carry_out(&mut self) {
        let Some((cause, held, moving)) = self.changes.freed(self.clock) else { return };
        if let Some(other) = self.sibling() {
            self.switch(other, cause, (held, moving));
        }
    }

    /// The other thread of the core, halted.
    fn halted_sibling(&self) -> Option<usize> {
        let other = 1 - self.foreground;
        self.cpus.get(other).filter(|cpu| cpu.core.halted.is_some()).map(|_| other)
    }

    /// What became due for either thread: interrupts, and data.
    fn poll(&mut self) {
        let mut returned = None;
        for (thread, cpu) in self.cpus.iter_mut().enumerate() {
            if cpu.poll() && thread != self.foreground {
                cpu.core.urgency = cpu.core.urgency.max(INTERRUPTED);
            }
            if cpu.core.halted.is_some() {
                cpu.wake();
            }
            if self.due[thread] && cpu.core.ready <= self.clock {
                self.due[thread] = false;
                if cpu.core.urgency < NOMINAL {
                    cpu.core.urgency += 1;
                }
                returned = Some((thread, self.clock));
            }
            while let Some(at) = self.changes.returned(thread, self.clock) {
                if cpu.core.urgency < NOMINAL {
                    cpu.core.urgency += 1;
                }
                returned = Some((thread, at));
            }
        }
        if let Some(other) = self.sibling()
            && let Some((thread, at)) = returned
            && thread == other
            && self.urgency(other) > self.urgency(self.foreground)
        {
            self.change(other, SwitchCause::L3Return, at);
        }
    }

    /// Runs one instruction if it may, or advances time if there is none.
    pub(crate) fn turn(&mut self, may_step: bool) -> Outcome {
        self.poll();
        if self.current().core.halted.is_some() {
            let Some(other) = self.sibling() else { return Outcome::Idle };
            self.switch(other, SwitchCause::LowPower, (0, 0));
            return Outcome::Ran(false);
        }
        let ready = self.current().core.ready;
        if ready > self.clock {
            self.stall(ready - self.clock);
            return Outcome::Ran(false);
        }
        if !may_step {
            return Outcome::Ready;
        }
        self.current().core.change_due = self.change_due();
        let done = self.current().step();
        self.elapse(u64::from(done.cycles));
        self.changes.executed(&self.cpus[self.foreground].core.step, self.clock, done.idle);
        self.pause |= done.pause;
        if let Some(miss) = done.miss {
            let returns = self.clock.saturating_add(u64::from(miss.latency));
            let foreground = self.foreground;
            let core = &mut self.current().core;
            core.urgency = core.urgency.saturating_sub(1);
            if miss.waits {
                core.ready = returns;
                self.due[foreground] = true;
            } else {
                self.changes.await_return(foreground, returns);
            }
        }
        let missed = |core: &Self, other| done.miss.is_some() && core.urgency(core.foreground) < core.urgency(other);
        let over = self.used >= self.quantum && done.boundary;
        let Some(other) = self.sibling() else {
            if let Some(other) = self.halted_sibling() {
                let wished = missed(self, other) || self.pause || over && !self.changes.told;
                self.changes.told |= over;
                if wished {
                    self.current().observer.gated(Gate::LowPower);
                }
            }
            self.pause = false;
            self.changes.wish = None;
            return Outcome::Ran(true);
        };
        if self.changes.wish.is_some() {
            self.carry_out();
        } else if missed(self, other) {
            self.change(other, SwitchCause::L3Miss, self.clock);
        } else if self.pause && done.boundary {
            // A hint is carried out once its group has ended, and waits for nothing.
            self.switch(other, SwitchCause::Hint, (0, 0));
        } else if over {
            if done.miss.is_none() && self.changes.returns[self.foreground].is_empty() {
                self.current().core.urgency = PREEMPTED;
            }
            self.change(other, SwitchCause::TimeOut, self.clock);
        }
        Outcome::Ran(true)
    }

    /// The cycle at which the threads may change places next although nothing is executed: data of the other one returns, or the quantum ends.
    fn change_due(&self) -> Option<u64> {
        let other = self.sibling()?;
        let end = self.clock + self.quantum.saturating_sub(self.used);
        let returns = self.changes.returns[other].iter().copied();
        returns.chain([end]).filter(|at| *at > self.clock).min()
    }

    /// The thread in the foreground waits for data, up to the end of its quantum if the other one could run.
    fn stall(&mut self, cycles: u64) {
        let sibling = self.sibling();
        let left = self.quantum.saturating_sub(self.used);
        let coming =
            (0..self.cpus.len()).filter(|thread| self.due[*thread]).map(|thread| self.cpus[thread].core.ready.saturating_sub(self.clock));
        let freed = self.changes.wish.map(|wish| wish.until.saturating_sub(self.clock)).filter(|cycles| *cycles != 0);
        // A quantum that is over while a change is held up waits for that.
        let end = sibling.filter(|_| self.changes.wish.is_none()).map(|_| left);
        let piece = coming.chain(end).chain(freed).fold(cycles, u64::min);
        if piece != 0 {
            self.current().observer.stalled(piece);
            self.elapse(piece);
        }
        if let Some(other) = sibling
            && piece < cycles
            && self.used >= self.quantum
        {
            self.change(other, SwitchCause::TimeOut, self.clock);
        } else {
            self.carry_out();
        }
    }

    /// How many cycles may elapse before a halted core could wake by itself.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let threads = self.cpus.iter().flat_map(|cpu| {
            let timer = cpu.core.timer.map(|at| at.saturating_sub(self.clock));
            [timer, cpu.observer.wait_deadline()]
        });
        threads.flatten().min().map(|cycles| cycles.max(1))
    }

    /// If the core is halted, advances its time to cycle `end`, in pieces after which something may wake it.
    pub(crate) fn idle_until(&mut self, end: u64) {
        while self.clock < end && self.cpus.iter().all(|cpu| cpu.core.halted.is_some()) {
            let left = end - self.clock;
            let piece = self.deadline().map_or(left, |cycles| left.min(cycles));
            for cpu in &mut self.cpus {
                cpu.observer.waited(piece);
            }
            self.elapse(piece);
            self.poll();
        }
    }
}
