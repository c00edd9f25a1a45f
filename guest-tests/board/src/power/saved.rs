//! What is attached to a machine of the engine, saved and restored with it.

use serde::{Deserialize, Serialize};
use vm_pmu::companion::{Companion, Follower};
use vm_pmu::snapshot::{CompanionSnapshot, SnapshotError};
use vm_pmu::topology;

use super::{Cpu, ExtraPmuState, Firmware, FirmwareState, Ledger};
use crate::refusal::{Refusal, count};
use crate::trace::TraceState;
use crate::{Deliveries, LineState, Lines, Usage};
use vm_pmu_engines::power::{self, Machine};

/// The state of everything other than the engine, between two instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The PMUs and what cores post into memory: [`topology::Machine::save`].
    pub pmus: Vec<u8>,
    /// How often counters asked for an interrupt, one entry a thread.
    pub lines: Vec<LineState>,
    /// The state between each CPU and its PMU.
    pub cpus: Vec<CpuState>,
    /// The companion, if there is one: [`CompanionSnapshot::save_snapshot`].
    pub companion: Option<Vec<u8>>,
    /// Host firmware and the nests of the chips, if there are such.
    pub firmware: Option<FirmwareState>,
}

/// The state between a CPU and its PMU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuState {
    /// Cycles reported to the PMU so far.
    pub cycles: u64,
    /// Ticks of the time base reported so far.
    pub ticks: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// The address of the last of them.
    pub last: u64,
    /// What was counted.
    pub ledger: Ledger,
    /// The interrupts that were taken.
    pub deliveries: Deliveries,
    /// The levels of the lines of interrupts and event-based branches when they were last looked at.
    pub raised: [bool; 2],
    /// What the guest did with its counters.
    pub usage: Usage,
    /// What has passed between the guest and the PMU, as far as it was kept.
    pub trace: TraceState,
    /// The PMUs in addition to the guest's own.
    pub extra_pmus: Vec<ExtraPmuState>,
}

/// A machine of the engine, and everything attached to it.
#[derive(Debug)]
pub struct Rig<'r, 'a> {
    /// The machine; the observer of each of its CPUs is an attached one.
    pub machine: &'r mut Machine<Cpu<'a>>,
    /// The PMUs, one a CPU.
    pub pmus: &'r topology::Machine<Lines>,
    /// The companion whose followers the CPUs have.
    pub companion: Option<&'r Companion>,
    /// The firmware that the CPUs call, booted.
    pub firmware: Option<&'r Firmware<'a>>,
}

impl Cpu<'_> {
    fn state(&mut self) -> CpuState {
        CpuState {
            cycles: self.cycles,
            ticks: self.ticks,
            instructions: self.instructions,
            last: self.last,
            ledger: self.ledger.clone(),
            deliveries: self.deliveries.clone(),
            raised: self.lines,
            usage: self.usage.clone(),
            trace: self.trace.state(),
            extra_pmus: self.extra_pmus.states(self.pmu.thread().totals()),
        }
    }

    /// Whether this CPU can continue from `state`.
    fn check(&self, state: &CpuState) -> Result<(), Refusal> {
        count("PMUs besides the guest's own", state.extra_pmus.len(), self.extra_pmus.len())?;
        let (saved, target) = (state.ledger.thread(), self.ledger.thread());
        if saved == target { Ok(()) } else { Err(Refusal::Ledger { saved, target }) }
    }

    /// Continues from `state`, with a PMU that has been restored to the same point.
    fn resume(&mut self, state: &CpuState) {
        (self.cycles, self.ticks) = (state.cycles, state.ticks);
        (self.instructions, self.last) = (state.instructions, state.last);
        self.ledger = state.ledger.clone();
        (self.deliveries, self.lines, self.usage) = (state.deliveries.clone(), state.raised, state.usage.clone());
        self.trace.go_on(&state.trace);
        self.extra_pmus.restore(&state.extra_pmus, self.pmu.thread().totals());
        self.check_bescr();
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
    /// [`SnapshotError`]: there is no memory for it, or the CPUs do not have the followers of all of the companion's threads.
    pub fn save(&mut self) -> Result<(power::Saved, Attached), SnapshotError> {
        // Counters that are folded by saving may post: so this comes before memory is saved. It also reports to the chips what the
        // companion has for them.
        let pmus = self.pmus.save()?;
        let firmware = self.firmware.map(Firmware::state).transpose()?;
        let cpus = self.machine.observers_mut().map(Cpu::state).collect();
        let followers = (0..self.machine.cpus()).filter_map(|index| self.machine.observer(index)?.follower());
        let companion = self.companion.map(|companion| companion.save_snapshot(&followers.collect::<Vec<_>>())).transpose()?;
        let attached = Attached { pmus, lines: self.pmus.line().states(), cpus, companion, firmware };
        Ok((self.machine.save(), attached))
    }

    /// Continues from a saved state, all of it or nothing; to be called between two runs.
    ///
    /// # Errors
    /// [`Refusal`], and nothing is changed.
    pub fn restore(&mut self, machine: &power::Saved, saved: &Attached) -> Result<(), Refusal> {
        let cpus: Vec<&Cpu<'_>> = (0..self.machine.cpus()).filter_map(|index| self.machine.observer(index)).collect();
        count("CPUs", saved.cpus.len(), cpus.len())?;
        for (cpu, state) in cpus.iter().zip(&saved.cpus) {
            cpu.check(state)?;
        }
        if !self.pmus.line().fit(&saved.lines) {
            return Err(Refusal::Lines);
        }
        count("companions", usize::from(saved.companion.is_some()), usize::from(self.companion.is_some()))?;
        count("chips", chips(saved.firmware.as_ref()), self.firmware.map_or(0, |firmware| firmware.platform().chips().len()))?;
        let (before, attached) = self.save()?;
        let put = self.put(machine, saved);
        if put.is_err() {
            self.put(&before, &attached)?;
        }
        put
    }

    /// Restores each part; stops at the first that refuses.
    fn put(&mut self, machine: &power::Saved, saved: &Attached) -> Result<(), Refusal> {
        self.machine.restore(machine)?;
        self.pmus.load(&saved.pmus)?;
        self.pmus.line().go_on(&saved.lines);
        if let (Some(firmware), Some(state)) = (self.firmware, &saved.firmware) {
            firmware.restore(state)?;
        }
        // The demand is known once PMUs and chips are restored, and the followers read it.
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

fn chips(firmware: Option<&FirmwareState>) -> usize {
    firmware.map_or(0, |state| state.chips.len())
}
