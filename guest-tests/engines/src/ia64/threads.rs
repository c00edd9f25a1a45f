//! A core: one or two threads that take turns (Montecito manual, 2.4.1).

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
}

impl<O: Observer> Threads<O> {
    pub(crate) fn new(mut cpus: Vec<Cpu<O>>, quantum: u64) -> Self {
        if let Some(first) = cpus.first_mut() {
            first.core.foreground = true;
        }
        Self { cpus, foreground: 0, clock: 0, used: 0, quantum: quantum.max(1), pause: false, due: [false; 2] }
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

    fn switch(&mut self, other: usize, cause: SwitchCause) {
        let outgoing = std::mem::replace(&mut self.foreground, other);
        self.pause = false;
        for (thread, foreground) in [(outgoing, false), (other, true)] {
            let cpu = &mut self.cpus[thread];
            cpu.core.foreground = foreground;
            cpu.observer.switched(&Switch { foreground, cause, cycles: SWITCH_CYCLES }, &CpuView::new(&cpu.core));
        }
        self.current().observer.stalled(u64::from(SWITCH_CYCLES));
        self.elapse(u64::from(SWITCH_CYCLES));
        self.used = 0;
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
                returned = Some(thread);
            }
        }
        if let Some(other) = self.sibling()
            && returned == Some(other)
            && self.urgency(other) > self.urgency(self.foreground)
        {
            self.switch(other, SwitchCause::L3Return);
        }
    }

    /// Runs one instruction, or advances time if there is none.
    pub(crate) fn turn(&mut self) -> Outcome {
        self.poll();
        if self.current().core.halted.is_some() {
            let Some(other) = self.sibling() else { return Outcome::Idle };
            self.switch(other, SwitchCause::LowPower);
            return Outcome::Ran(false);
        }
        let ready = self.current().core.ready;
        if ready > self.clock {
            self.stall(ready - self.clock);
            return Outcome::Ran(false);
        }
        let done = self.current().step();
        self.elapse(u64::from(done.cycles));
        self.pause |= done.pause;
        if let Some(miss) = done.miss {
            let ready = self.clock.saturating_add(u64::from(miss.latency));
            let core = &mut self.current().core;
            core.ready = ready;
            core.urgency = core.urgency.saturating_sub(1);
            self.due[self.foreground] = true;
        }
        let Some(other) = self.sibling() else {
            self.pause = false;
            return Outcome::Ran(true);
        };
        if done.miss.is_some() && self.urgency(self.foreground) < self.urgency(other) {
            self.switch(other, SwitchCause::L3Miss);
        } else if self.pause && done.boundary {
            self.switch(other, SwitchCause::Hint);
        } else if self.used >= self.quantum && done.boundary {
            if done.miss.is_none() {
                self.current().core.urgency = PREEMPTED;
            }
            self.switch(other, SwitchCause::TimeOut);
        }
        Outcome::Ran(true)
    }

    /// The thread in the foreground waits for data, up to the end of its quantum if the other one could run.
    fn stall(&mut self, cycles: u64) {
        let sibling = self.sibling();
        let left = self.quantum.saturating_sub(self.used);
        let coming =
            (0..self.cpus.len()).filter(|thread| self.due[*thread]).map(|thread| self.cpus[thread].core.ready.saturating_sub(self.clock));
        let piece = coming.chain(sibling.map(|_| left)).fold(cycles, u64::min);
        if piece != 0 {
            self.current().observer.stalled(piece);
            self.elapse(piece);
        }
        if let Some(other) = sibling
            && piece < cycles
            && self.used >= self.quantum
        {
            self.switch(other, SwitchCause::TimeOut);
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
