//! What is attached to a machine of the engine, saved and restored with it.

use serde::{Deserialize, Serialize};
use vm_pmu::companion::{Companion, Follower};
use vm_pmu::snapshot::{CompanionSnapshot, SnapshotError};
use vm_pmu::topology;

use super::{BREAKPOINTS, Cpu, Ledger};
use crate::refusal::{Refusal, count};
use crate::trace::TraceState;
use crate::{Deliveries, LineState, Lines, Usage};
use vm_pmu_engines::ia64::{self, Machine};

/// The state of everything other than the engine, between two instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The PMUs: [`topology::Machine::save`].
    pub pmus: Vec<u8>,
    /// Where their interrupt requests arrive, one a thread.
    pub lines: Vec<LineState>,
    /// The state between each thread and its PMU.
    pub cpus: Vec<CpuState>,
    /// The companion, if there is one: [`CompanionSnapshot::save_snapshot`].
    pub companion: Option<Vec<u8>>,
}

/// The state between a thread and its PMU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuState {
    /// IBR0 to IBR7 and DBR0 to DBR7 as the PMU knows them.
    pub breakpoints: [u64; BREAKPOINTS],
    /// The PMU knows the thread in the foreground.
    pub foreground: bool,
    /// The cycle of the core at which the thread left the foreground.
    #[serde(default)]
    pub left: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// What was counted.
    pub ledger: Ledger,
    /// The interrupts of the PMU that were taken.
    pub deliveries: Deliveries,
    /// One was asked for and has not been taken.
    pub asked: bool,
    /// What the guest did with its counters.
    pub usage: Usage,
    /// What has passed between the guest and the PMU, as far as it was kept.
    pub trace: TraceState,
}

/// A machine of the engine, and everything attached to it.
#[derive(Debug)]
pub struct Rig<'r, 'a> {
    /// The machine; the observer of each of its threads is an attached one.
    pub machine: &'r mut Machine<Cpu<'a>>,
    /// The PMUs, one a thread.
    pub pmus: &'r topology::Machine<Lines>,
    /// Where their interrupt requests arrive.
    pub lines: &'r Lines,
    /// The companion whose followers the threads have.
    pub companion: Option<&'r Companion>,
}

impl Cpu<'_> {
    fn state(&self) -> CpuState {
        CpuState {
            breakpoints: self.breakpoints,
            foreground: self.foreground,
            left: self.left,
            instructions: self.instructions,
            ledger: self.ledger.clone(),
            deliveries: self.deliveries.clone(),
            asked: self.asked,
            usage: self.usage.clone(),
            trace: self.trace.state(),
        }
    }

    /// Whether this thread can continue from `state`.
    fn check(&self, state: &CpuState) -> Result<(), Refusal> {
        let (saved, target) = (state.ledger.thread(), self.ledger.thread());
        if saved == target { Ok(()) } else { Err(Refusal::Ledger { saved, target }) }
    }

    /// Continues from `state`, with a PMU that has been restored to the same point.
    fn resume(&mut self, state: &CpuState) {
        (self.breakpoints, self.foreground) = (state.breakpoints, state.foreground);
        (self.left, self.instructions) = (state.left, state.instructions);
        self.ledger = state.ledger.clone();
        (self.deliveries, self.asked, self.usage) = (state.deliveries.clone(), state.asked, state.usage.clone());
        self.trace.go_on(&state.trace);
        self.pmu.restored();
        self.keep_up();
    }

    fn follower(&self) -> Option<&Follower<'_>> {
        self.pmu.follower()
    }
}

impl Rig<'_, '_> {
    /// The complete state of the machine and of what is attached to it; to be called between two runs.
    ///
    /// # Errors
    /// [`SnapshotError`]: there is no memory for it, or the threads do not have the followers of all of the companion's threads.
    pub fn save(&mut self) -> Result<(ia64::Saved, Attached), SnapshotError> {
        // Saving may make an interrupt due: so this comes before its line is saved.
        let pmus = self.pmus.save()?;
        let cpus = (0..self.machine.cpus()).filter_map(|index| self.machine.observer(index)).map(Cpu::state).collect();
        let followers = (0..self.machine.cpus()).filter_map(|index| self.machine.observer(index)?.follower());
        let companion = self.companion.map(|companion| companion.save_snapshot(&followers.collect::<Vec<_>>())).transpose()?;
        let attached = Attached { pmus, lines: self.lines.states(), cpus, companion };
        Ok((self.machine.save(), attached))
    }

    /// Continues from a saved state, all of it or nothing; to be called between two runs.
    ///
    /// # Errors
    /// [`Refusal`], and nothing is changed.
    pub fn restore(&mut self, machine: &ia64::Saved, saved: &Attached) -> Result<(), Refusal> {
        let cpus: Vec<&Cpu<'_>> = (0..self.machine.cpus()).filter_map(|index| self.machine.observer(index)).collect();
        count("threads", saved.cpus.len(), cpus.len())?;
        for (cpu, state) in cpus.iter().zip(&saved.cpus) {
            cpu.check(state)?;
        }
        count("companions", usize::from(saved.companion.is_some()), usize::from(self.companion.is_some()))?;
        if !self.lines.fit(&saved.lines) {
            return Err(Refusal::Lines);
        }
        let (before, attached) = self.save()?;
        let put = self.put(machine, saved);
        if put.is_err() {
            self.put(&before, &attached)?;
        }
        put
    }

    /// Restores each part; stops at the first that refuses.
    fn put(&mut self, machine: &ia64::Saved, saved: &Attached) -> Result<(), Refusal> {
        self.machine.restore(machine)?;
        self.pmus.load(&saved.pmus)?;
        // After the PMUs, which may repeat requests while they are restored.
        self.lines.go_on(&saved.lines);
        // The demand is known once the PMUs are restored, and the followers read it.
        for (cpu, state) in self.machine.observers_mut().zip(&saved.cpus) {
            cpu.resume(state);
        }
        if let (Some(companion), Some(bytes)) = (self.companion, &saved.companion) {
            let followers = self.machine.observers_mut().filter_map(|cpu| cpu.pmu.follower_mut());
            companion.load_snapshot(bytes, &mut followers.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}
