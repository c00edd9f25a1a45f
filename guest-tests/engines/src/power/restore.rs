//! Saves the state of a machine, and restores it.

use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::checkpoint::Checkpoint;
use super::exec::has_spr;
use super::footprint::BLOCK;
use super::machine::Machine;
use super::observer::Observer;
use super::registers::{msr, spr};
use super::saved::{CpuState, Saved};
use super::state::{CONSOLE_LIMIT, Core, TimeBase};
use super::transaction::MOST;
use crate::pages;

/// Why a machine cannot continue from a saved state. The machine is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The machine has another number of CPUs.
    Cpus {
        /// How many were saved.
        saved: usize,
        /// How many the machine has.
        target: usize,
    },
    /// The machine has more RAM, or less.
    Ram {
        /// Bytes of RAM that were saved.
        saved: u64,
        /// Bytes of RAM of the machine.
        target: u64,
    },
    /// A page is outside RAM, there twice, or out of order.
    Pages,
    /// Its time base ticks otherwise.
    TimeBase {
        /// The rate that was saved.
        saved: TimeBase,
        /// The machine's.
        target: TimeBase,
    },
    /// The console holds more than 1 MiB.
    Console {
        /// How many bytes it holds.
        bytes: usize,
    },
    /// More CPUs have had their parts of the turn than there are.
    Turn {
        /// How many.
        began: usize,
    },
    /// A CPU is in an impossible state.
    Cpu {
        /// Its number.
        cpu: usize,
        /// What is wrong with it.
        why: BadCpu,
    },
}

/// Why a CPU's state is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadCpu {
    /// The address of the next instruction is no multiple of 4.
    Address {
        /// The address.
        pc: u64,
    },
    /// MSR has bits that no POWER9 has.
    MachineState {
        /// MSR.
        msr: u64,
    },
    /// The transaction state in MSR and the checkpoint do not go together.
    Transaction {
        /// MSR.
        msr: u64,
        /// Whether there is a checkpoint.
        checkpoint: bool,
    },
    /// No transaction returns to such a checkpoint: its depth is 0, or it undoes more than transactions store, or undoes it outside memory.
    Checkpoint,
    /// A register of this number is not saved, or is saved by another number.
    Register {
        /// The number.
        number: u16,
    },
    /// It is another processor.
    Version {
        /// PVR as it was saved.
        saved: u64,
        /// That of the machine.
        target: u64,
    },
    /// The reserved block begins at no multiple of 128.
    Reservation {
        /// Where it begins.
        address: u64,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpus { saved, target } => write!(f, "{saved} CPUs were saved and the machine has {target}: make one with as many"),
            Self::Ram { saved, target } => {
                write!(f, "{saved:#x} bytes of RAM were saved and the machine has {target:#x}: make one with as many")
            }
            Self::Pages => f.write_str("the saved pages must be inside RAM and in ascending order, each once"),
            Self::TimeBase { saved, target } => write!(
                f,
                "a time base of {} ticks in {} cycles was saved and the machine has {} in {}: make one of the same rate",
                saved.ticks, saved.cycles, target.ticks, target.cycles
            ),
            Self::Console { bytes } => write!(f, "{bytes} bytes of console were saved: a machine keeps at most {CONSOLE_LIMIT}"),
            Self::Turn { began } => write!(f, "{began} CPUs have had their parts of a turn: at most as many have as there are"),
            Self::Cpu { cpu, why } => write!(f, "CPU {cpu} was saved in an impossible state: {why}"),
        }
    }
}

impl fmt::Display for BadCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { pc } => write!(f, "its next instruction is at {pc:#x}, and instructions begin at multiples of 4"),
            Self::MachineState { msr } => write!(f, "MSR is {msr:#018x}, and only the bits of {:#018x} can be set", msr::ALL),
            Self::Transaction { msr, checkpoint } => {
                let has = if *checkpoint { "a" } else { "no" };
                write!(f, "MSR is {msr:#018x} and it has {has} checkpoint: there is one where MSR.TS is 1 or 2, and only there")
            }
            Self::Checkpoint => {
                write!(f, "no transaction goes back to its checkpoint: it is 1 deep or more and undoes at most {MOST} bytes of RAM")
            }
            Self::Register { number } => write!(f, "SPR {number} is not kept by this number"),
            Self::Version { saved, target } => write!(f, "PVR is {saved:#010x}, and the machine's is {target:#010x}"),
            Self::Reservation { address } => write!(f, "it reserves a block at {address:#x}, and blocks begin at multiples of {BLOCK}"),
        }
    }
}

impl std::error::Error for RestoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Cpu { why, .. } => Some(why),
            _ => None,
        }
    }
}

impl std::error::Error for BadCpu {}

/// Whether [`CpuState::sprs`] has a register by this number: not if the register has a second number that is used there, or a field.
fn kept(number: u16) -> bool {
    let elsewhere = matches!(
        number,
        spr::XER
            | spr::LR
            | spr::CTR
            | spr::DSCR_USER
            | spr::CTRL_READ
            | spr::SPRG3_USER
            | spr::TEXASRU
            | spr::TB
            | spr::TBU
            | spr::TBL_WRITE..=spr::TBU40
            | spr::BESCRS..=spr::BESCRRU
            | 808..=811
            | spr::PPR32
    );
    has_spr(number) && !elsewhere
}

impl CpuState {
    fn of(core: &Core) -> CpuState {
        let reservation = core.shared.reservations.get(core.index).map_or(0, |reservation| reservation.load(Ordering::Relaxed));
        CpuState {
            gpr: core.gpr,
            fpr: core.fpr,
            vectors: core.vectors.clone(),
            fpscr: core.fpscr,
            cr: core.cr,
            lr: core.lr,
            ctr: core.ctr,
            xer: core.xer,
            msr: core.msr,
            pc: core.pc,
            time_base: core.time_base(),
            cycles: core.cycles,
            sprs: (0..).zip(core.spr.iter().copied()).filter(|(_, value)| *value != 0).collect(),
            waiting: core.waiting,
            reservation: (reservation != 0).then_some(reservation & !(BLOCK - 1)),
            transaction: core.checkpoint.clone().map(|mut checkpoint| {
                checkpoint.footprint = core.shared.footprints.get(core.index).unwrap_or_default();
                checkpoint
            }),
        }
    }

    /// Whether `core` can be in this state.
    fn check(&self, core: &Core) -> Result<(), BadCpu> {
        if !self.pc.is_multiple_of(4) {
            return Err(BadCpu::Address { pc: self.pc });
        }
        if self.msr & !msr::ALL != 0 {
            return Err(BadCpu::MachineState { msr: self.msr });
        }
        let (state, checkpoint) = (self.msr & msr::TS, self.transaction.is_some());
        if state == msr::TS || (state != 0) != checkpoint {
            return Err(BadCpu::Transaction { msr: self.msr, checkpoint });
        }
        let ram = core.shared.memory.size();
        let fits = |checkpoint: &Checkpoint| {
            checkpoint.depth != 0
                && checkpoint.footprint.undo.len() <= MOST
                && checkpoint.footprint.undo.iter().all(|(real, _)| *real < ram)
        };
        if self.transaction.as_deref().is_some_and(|checkpoint| !fits(checkpoint)) {
            return Err(BadCpu::Checkpoint);
        }
        if let Some(number) = self.sprs.keys().copied().find(|number| !kept(*number)) {
            return Err(BadCpu::Register { number });
        }
        let (saved, target) = (self.sprs.get(&spr::PVR).copied().unwrap_or(0), core.peek_spr(spr::PVR));
        if saved != target {
            return Err(BadCpu::Version { saved, target });
        }
        match self.reservation.filter(|address| !address.is_multiple_of(BLOCK)) {
            Some(address) => Err(BadCpu::Reservation { address }),
            None => Ok(()),
        }
    }

    /// Puts `core` into this state, which has been checked.
    fn put(&self, core: &mut Core) {
        let CpuState { gpr, fpr, vectors, fpscr, cr, lr, ctr, xer, msr, pc, time_base, cycles, sprs, waiting, reservation, transaction } =
            self;
        (core.gpr, core.fpr, core.fpscr) = (*gpr, *fpr, *fpscr);
        core.vectors.clone_from(vectors);
        (core.cr, core.lr, core.ctr, core.xer) = (*cr, *lr, *ctr, *xer);
        (core.msr, core.pc, core.next) = (*msr, *pc, *pc);
        core.spr.fill(0);
        for (number, value) in sprs {
            if let Some(register) = core.spr.get_mut(usize::from(*number)) {
                *register = *value;
            }
        }
        core.cycles = *cycles;
        core.set_time_base(*time_base);
        core.waiting = *waiting;
        core.checkpoint.clone_from(transaction);
        core.shared.footprints.set(core.index, transaction.as_ref().map(|checkpoint| checkpoint.footprint.clone()));
        core.stop = None;
        // Every run begins by reporting the context to the observer.
        core.context_changed = false;
        if let Some(place) = core.shared.reservations.get(core.index) {
            place.store(reservation.map_or(0, |address| address | 1), Ordering::Relaxed);
        }
    }
}

impl<O: Observer> Machine<O> {
    /// The complete state of the machine; to be called between two runs. Observers save their own state.
    ///
    /// A machine that is restored from it continues as this one does, instruction by instruction. An instruction is decoded from memory
    /// whenever it runs, and nothing is translated: there is no cache to save.
    ///
    /// ```
    /// use vm_pmu_engines::power::assemble::{Assembler, R3, R4};
    /// use vm_pmu_engines::power::{Config, EXIT, Exit, Image, Limits, Machine, Unobserved};
    ///
    /// let mut a = Assembler::new(0x1000, true);
    /// a.load(R3, 7);
    /// a.load(R4, EXIT);
    /// a.stb(R3, 0, R4);
    /// let image = Image::raw(0x1000, a.finish().unwrap());
    /// let make = || Machine::new(&Config::default(), &image, |_| Unobserved).unwrap();
    ///
    /// let mut first = make();
    /// assert_eq!(first.run(Limits::steps(1)), Exit::Limit);
    /// let mut second = make();
    /// second.restore(&first.save()).unwrap();
    /// assert_eq!(second.run(Limits::NONE), Exit::Status { cpu: 0, status: 7 });
    /// ```
    #[must_use]
    pub fn save(&self) -> Saved {
        Saved {
            ram: self.shared.memory.size(),
            cpus: self.cpus.iter().map(|cpu| CpuState::of(&cpu.core)).collect(),
            turn: self.turn.clone(),
            pages: self.shared.memory.pages(),
            console: self.console(),
            time_base: self.shared.time_base,
            dma: self.shared.dma.state(),
        }
    }

    /// Continues from a saved state, all of it or nothing; to be called between two runs. Observers are left as they are: restore them too.
    ///
    /// # Errors
    ///
    /// [`RestoreError`], and nothing is changed.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        let (count, target) = (saved.cpus.len(), self.cpus.len());
        if count != target {
            return Err(RestoreError::Cpus { saved: count, target });
        }
        if saved.time_base != self.shared.time_base {
            return Err(RestoreError::TimeBase { saved: saved.time_base, target: self.shared.time_base });
        }
        if saved.console.len() > CONSOLE_LIMIT {
            return Err(RestoreError::Console { bytes: saved.console.len() });
        }
        let began = saved.turn.began.len();
        if began > target {
            return Err(RestoreError::Turn { began });
        }
        let ram = self.shared.memory.size();
        if saved.ram != ram {
            return Err(RestoreError::Ram { saved: saved.ram, target: ram });
        }
        if !pages::fit(saved.pages.iter().map(|page| page.number), ram) {
            return Err(RestoreError::Pages);
        }
        for (cpu, (state, target)) in saved.cpus.iter().zip(&self.cpus).enumerate() {
            state.check(&target.core).map_err(|why| RestoreError::Cpu { cpu, why })?;
        }
        self.shared.memory.replace(&saved.pages);
        self.shared.console.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&saved.console);
        for (state, target) in saved.cpus.iter().zip(&mut self.cpus) {
            state.put(&mut target.core);
        }
        self.shared.dma.set_state(saved.dma);
        self.turn.clone_from(&saved.turn);
        Ok(())
    }
}
