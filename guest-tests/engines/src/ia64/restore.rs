//! Saves the state of a machine, and restores it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::PoisonError;

use super::alat::{AdvancedLoad, ENTRIES, Target};
use super::bundle::Bundle;
use super::float::Float;
use super::machine::Machine;
use super::observer::Observer;
use super::registers::{ar, psr};
use super::saved::{CoreState, Saved, StackState, ThreadState};
use super::stack::{RegisterStack, STACKED};
use super::state::{CONSOLE_LIMIT, Core, Halt, PHYSICAL};
use super::threads::Threads;
use crate::pages;

/// Why a machine cannot continue from a saved state. The machine is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The machine has another number of cores.
    Cores {
        /// How many were saved.
        saved: usize,
        /// How many the machine has.
        target: usize,
    },
    /// Its cores have another number of threads.
    Threads {
        /// How many were saved.
        saved: usize,
        /// How many a core of the machine has.
        target: usize,
    },
    /// The machine has more RAM, or less.
    Ram {
        /// Bytes of RAM that were saved.
        saved: u64,
        /// Bytes of RAM of the machine.
        target: u64,
    },
    /// Its threads have another quantum.
    Quantum {
        /// The cycles that were saved.
        saved: u64,
        /// Those of the machine.
        target: u64,
    },
    /// A page is outside RAM, there twice, or out of order.
    Pages,
    /// There is more text than a console keeps.
    Console {
        /// Bytes of it.
        bytes: usize,
    },
    /// More cores have had their parts of the turn than there are.
    Turn {
        /// How many.
        began: usize,
    },
    /// The thread in a core's foreground does not exist.
    Foreground {
        /// The number that the thread has in its core.
        thread: usize,
    },
    /// A thread is in an impossible state.
    Thread {
        /// Its number in the machine.
        thread: usize,
        /// What is wrong with it.
        why: BadThread,
    },
}

/// Why a thread's state is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadThread {
    /// Bundles begin at multiples of 16.
    Address {
        /// The address of the bundle.
        ip: u64,
    },
    /// PSR has bits that no processor has, or names slot 3.
    ProcessorStatus {
        /// PSR.
        psr: u64,
    },
    /// The bundle that runs has a reserved template, or none of its instructions has run.
    Bundle,
    /// r0, f0, f1 or p0 does not have its constant value, or a floating-point register is wider than 82 bits, or there are not 128.
    Constant,
    /// The frame is impossible, or more registers are in the file than it has.
    Stack,
    /// An application register of this number is not saved, or is in another field.
    ApplicationRegister {
        /// The number.
        number: u8,
    },
    /// A control register of this number is not saved, or is in another field.
    ControlRegister {
        /// The number.
        number: u8,
    },
    /// The advanced load address table has more than 32 entries, two of one register, or one that no load makes.
    AdvancedLoads,
    /// A reserved interrupt vector is requested or in service, or CR.TPR has bits that do not exist.
    Interrupts,
    /// The urgency is more than 7.
    Urgency {
        /// The urgency.
        urgency: u8,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cores { saved, target } => write!(f, "{saved} cores were saved and the machine has {target}: make one with as many"),
            Self::Threads { saved, target } => {
                write!(f, "a core of {saved} threads was saved and the machine's have {target}: make one with as many")
            }
            Self::Ram { saved, target } => {
                write!(f, "{saved:#x} bytes of RAM were saved and the machine has {target:#x}: make one with as many")
            }
            Self::Quantum { saved, target } => {
                write!(f, "a quantum of {saved} cycles was saved and the machine's is {target}: make one with the same")
            }
            Self::Pages => f.write_str("the saved pages must be inside RAM and in ascending order, each once"),
            Self::Console { bytes } => write!(f, "{bytes} bytes of console text were saved: a console keeps {CONSOLE_LIMIT}"),
            Self::Turn { began } => write!(f, "{began} cores have had their parts of a turn: at most as many have as there are"),
            Self::Foreground { thread } => write!(f, "thread {thread} of a core is in its foreground, and there is no such thread"),
            Self::Thread { thread, why } => write!(f, "thread {thread} was saved in an impossible state: {why}"),
        }
    }
}

impl fmt::Display for BadThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { ip } => write!(f, "its next bundle is at {ip:#x}, and bundles begin at multiples of 16"),
            Self::ProcessorStatus { psr } => {
                write!(f, "PSR is {psr:#018x}, and only the bits of {:#018x} can be set, with 0 to 2 in ri", psr::ALL)
            }
            Self::Bundle => f.write_str("the bundle that runs must have a template that is not reserved, and slot 1 or 2 for next"),
            Self::Constant => {
                f.write_str("r0 and f0 are 0, f1 is 1, p0 is set, r0 is no NaT, and 128 floating-point registers have 17 bits of exponent")
            }
            Self::Stack => write!(f, "the frame marker must be a legal one, and the frame and what is dirty fit into {STACKED} registers"),
            Self::ApplicationRegister { number } => write!(f, "AR{number} is not kept by this number"),
            Self::ControlRegister { number } => write!(f, "CR{number} is not kept by this number"),
            Self::AdvancedLoads => write!(f, "at most {ENTRIES} advanced loads hold, each of another register, of 16 bytes at most"),
            Self::Interrupts => f.write_str("vectors 1 and 3 to 15 are never requested or in service, and CR.TPR has mic and mmi alone"),
            Self::Urgency { urgency } => write!(f, "its urgency is {urgency}, and 7 is the most"),
        }
    }
}

impl std::error::Error for RestoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread { why, .. } => Some(why),
            _ => None,
        }
    }
}

impl std::error::Error for BadThread {}

/// Whether an application register is among [`ThreadState::ars`].
fn application(number: u8) -> bool {
    matches!(number, 0..=7 | 16 | 21 | 24..=30 | 32 | 36 | 40 | 64..=66)
}

/// Whether a control register is among [`ThreadState::crs`].
fn control(number: u8) -> bool {
    matches!(number, 0..=2 | 8 | 16 | 17 | 19..=27 | 64 | 72..=74 | 80 | 81)
}

/// The vectors that are never requested.
const RESERVED_VECTORS: u64 = 0xFFFA;
/// The bits of CR.TPR: mic and mmi.
const TASK_PRIORITY: u64 = 0x1_00F0;
/// The exponent of a floating-point register.
const EXPONENT: u32 = 0x1_FFFF;

fn map(registers: &[u64]) -> BTreeMap<u8, u64> {
    (0..).zip(registers.iter().copied()).filter(|(_, value)| *value != 0).collect()
}

fn fill(registers: &mut [u64], values: &BTreeMap<u8, u64>) {
    for (number, register) in (0..).zip(registers) {
        *register = values.get(&number).copied().unwrap_or(0);
    }
}

impl StackState {
    fn of(stack: &RegisterStack) -> StackState {
        StackState {
            registers: (0..STACKED).map(|physical| stack.get(physical)).collect(),
            bottom: stack.bottom,
            cfm: stack.cfm(),
            dirty: stack.dirty,
            clean: stack.clean,
            bsp: stack.bsp,
            bspstore: stack.bspstore,
            rnat: stack.rnat,
        }
    }

    /// The stack in this state, if that is possible.
    fn stack(&self) -> Option<RegisterStack> {
        let mut stack = RegisterStack::new(self.bsp);
        let legal = stack.set_cfm(self.cfm) && stack.cfm() == self.cfm && self.registers.len() == STACKED && self.bottom < STACKED;
        // A fault in the middle of a return leaves more clean registers than there is room for besides the frame.
        if !legal || self.dirty > STACKED - stack.sof || self.clean > STACKED {
            return None;
        }
        for (physical, (value, nat)) in self.registers.iter().enumerate() {
            stack.set(physical, *value, *nat);
        }
        (stack.bottom, stack.dirty, stack.clean) = (self.bottom, self.dirty, self.clean);
        (stack.bspstore, stack.rnat) = (self.bspstore, self.rnat);
        Some(stack)
    }
}

/// Whether a load can have made the entry.
fn possible(load: &AdvancedLoad) -> bool {
    let register = match load.target {
        Target::General(number) => number != 0,
        Target::Floating(number) => (2..128).contains(&number),
    };
    register && load.physical <= PHYSICAL && (1..=16).contains(&load.size)
}

impl ThreadState {
    fn of(core: &Core) -> ThreadState {
        ThreadState {
            general: core.general,
            general_nats: core.general_nats,
            bank: core.bank,
            bank_nats: core.bank_nats,
            stack: StackState::of(&core.stack),
            floating: core.floating.to_vec(),
            predicates: core.predicates,
            br: core.br,
            ars: map(&core.ar[..]),
            crs: map(&core.cr[..]),
            rr: core.rr,
            pkr: core.pkr,
            ibr: core.ibr,
            dbr: core.dbr,
            psr: core.psr_now(),
            ip: core.ip,
            bundle: (!core.arrived).then_some(core.bundle.words),
            previous: core.previous,
            alat: core.alat.entries().copied().collect(),
            tpr: core.sapic.tpr,
            requested: core.sapic.requested,
            in_service: core.sapic.serviced,
            itc: core.peek_ar(ar::ITC),
            timer: core.timer,
            halted: core.halted.and_then(|halt| halt.pmc0),
            halted_alone: core.halted.is_some_and(|halt| halt.pmc0.is_none()),
            urgency: core.urgency,
            ready: core.ready,
            firmware_called: core.firmware_called,
        }
    }

    /// The slot of the next instruction.
    fn slot(&self) -> u8 {
        ((self.psr & psr::RI) >> psr::RI_SHIFT) as u8
    }

    /// Whether a thread can be in this state.
    fn check(&self) -> Result<(), BadThread> {
        if !self.ip.is_multiple_of(16) {
            return Err(BadThread::Address { ip: self.ip });
        }
        if self.psr & !psr::ALL != 0 || self.slot() > 2 {
            return Err(BadThread::ProcessorStatus { psr: self.psr });
        }
        let running = |[low, high]: [u64; 2]| self.slot() != 0 && Bundle::new(low, high).is_some();
        if !self.bundle.is_none_or(running) {
            return Err(BadThread::Bundle);
        }
        let constants = self.floating.get(..2) == Some(&[Float::ZERO, Float::ONE]) && self.floating.len() == 128;
        let wide = self.floating.iter().any(|register| register.exponent > EXPONENT);
        if !constants || wide || self.general[0] != 0 || self.general_nats & 1 != 0 || self.predicates & 1 == 0 || self.bank_nats >> 16 != 0
        {
            return Err(BadThread::Constant);
        }
        if self.stack.stack().is_none() {
            return Err(BadThread::Stack);
        }
        if let Some(number) = self.ars.keys().copied().find(|number| !application(*number)) {
            return Err(BadThread::ApplicationRegister { number });
        }
        if let Some(number) = self.crs.keys().copied().find(|number| !control(*number)) {
            return Err(BadThread::ControlRegister { number });
        }
        let twice = |(place, load): (usize, &AdvancedLoad)| self.alat.iter().skip(place + 1).any(|other| other.target == load.target);
        if self.alat.len() > ENTRIES || !self.alat.iter().all(possible) || self.alat.iter().enumerate().any(twice) {
            return Err(BadThread::AdvancedLoads);
        }
        if (self.requested[0] | self.in_service[0]) & RESERVED_VECTORS != 0 || self.tpr & !TASK_PRIORITY != 0 {
            return Err(BadThread::Interrupts);
        }
        if self.urgency > 7 { Err(BadThread::Urgency { urgency: self.urgency }) } else { Ok(()) }
    }

    /// Puts a thread of a core that is at cycle `cycles` into this state, which has been checked.
    fn put(&self, core: &mut Core, cycles: u64) {
        (core.general, core.general_nats) = (self.general, self.general_nats);
        (core.bank, core.bank_nats) = (self.bank, self.bank_nats);
        if let Some(stack) = self.stack.stack() {
            core.stack = stack;
        }
        for (register, value) in core.floating.iter_mut().zip(&self.floating) {
            *register = *value;
        }
        (core.predicates, core.br) = (self.predicates, self.br);
        fill(&mut core.ar[..], &self.ars);
        fill(&mut core.cr[..], &self.crs);
        (core.rr, core.pkr, core.ibr, core.dbr) = (self.rr, self.pkr, self.ibr, self.dbr);
        // Not by what also changes the bank of registers.
        core.psr = self.psr & !psr::RI;
        (core.ip, core.ri, core.previous) = (self.ip, self.slot(), self.previous);
        let running = self.bundle.and_then(|[low, high]| Bundle::new(low, high));
        core.arrived = running.is_none();
        core.bundle = running.unwrap_or_default();
        core.alat = core.alat.with(&self.alat);
        (core.sapic.tpr, core.sapic.requested, core.sapic.serviced) = (self.tpr, self.requested, self.in_service);
        (core.cycles, core.itc_offset, core.timer) = (cycles, self.itc.wrapping_sub(cycles), self.timer);
        core.halted = (self.halted.is_some() || self.halted_alone).then_some(Halt { pmc0: self.halted });
        (core.urgency, core.ready, core.firmware_called) = (self.urgency, self.ready, self.firmware_called);
        core.stores.clear();
        core.stop = None;
        // Every run begins by telling the observer the context.
        core.context_changed = false;
    }
}

impl CoreState {
    fn of<O>(core: &Threads<O>) -> CoreState {
        CoreState {
            threads: core.cpus.iter().map(|cpu| ThreadState::of(&cpu.core)).collect(),
            foreground: core.foreground,
            cycles: core.clock,
            used: core.used,
            pause: core.pause,
            due: core.due,
            changes: core.changes.clone(),
        }
    }

    fn put<O>(&self, core: &mut Threads<O>) {
        (core.foreground, core.clock, core.used) = (self.foreground, self.cycles, self.used);
        (core.pause, core.due, core.changes) = (self.pause, self.due, self.changes.restored());
        for (number, (state, cpu)) in self.threads.iter().zip(&mut core.cpus).enumerate() {
            state.put(&mut cpu.core, self.cycles);
            cpu.core.foreground = number == self.foreground;
        }
    }
}

impl<O: Observer> Machine<O> {
    /// The complete state of the machine; to be called between two runs. Observers save their own state.
    ///
    /// A machine that is restored from it continues as this one does, instruction by instruction. Only the bundle that runs is decoded
    /// ahead, and nothing is translated: there is no cache to save.
    ///
    /// ```
    /// use vm_pmu_engines::ia64::assemble::{Assembler, R14, R15, mov_imm, st1};
    /// use vm_pmu_engines::ia64::{Config, EXIT, Exit, Image, Limits, Machine, Unobserved};
    ///
    /// let mut a = Assembler::new(0x1000);
    /// a.put(mov_imm(R15, 7));
    /// a.load(R14, EXIT);
    /// a.put(st1(R14, R15));
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
            quantum: self.cores.first().map_or(0, |core| core.quantum),
            cores: self.cores.iter().map(CoreState::of).collect(),
            turn: self.turn.clone(),
            pages: self.shared.memory.pages(),
            console: self.console(),
        }
    }

    /// Continues from a saved state, all of it or nothing; to be called between two runs. Observers are left as they are: restore them too.
    ///
    /// # Errors
    ///
    /// [`RestoreError`], and nothing is changed.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), RestoreError> {
        self.check(saved)?;
        self.shared.memory.replace(&saved.pages);
        self.shared.console.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&saved.console);
        for (state, core) in saved.cores.iter().zip(&mut self.cores) {
            state.put(core);
        }
        self.turn.clone_from(&saved.turn);
        Ok(())
    }

    /// Whether the machine can continue from the saved state.
    fn check(&self, saved: &Saved) -> Result<(), RestoreError> {
        let (count, target) = (saved.cores.len(), self.cores.len());
        if count != target {
            return Err(RestoreError::Cores { saved: count, target });
        }
        let ram = self.shared.memory.size();
        if saved.ram != ram {
            return Err(RestoreError::Ram { saved: saved.ram, target: ram });
        }
        let began = saved.turn.began.len();
        if began > target {
            return Err(RestoreError::Turn { began });
        }
        if saved.console.len() > CONSOLE_LIMIT {
            return Err(RestoreError::Console { bytes: saved.console.len() });
        }
        if !pages::fit(saved.pages.iter().map(|page| page.number), ram) {
            return Err(RestoreError::Pages);
        }
        let mut number = 0;
        for (state, core) in saved.cores.iter().zip(&self.cores) {
            let (count, target) = (state.threads.len(), core.cpus.len());
            if count != target {
                return Err(RestoreError::Threads { saved: count, target });
            }
            if saved.quantum != core.quantum {
                return Err(RestoreError::Quantum { saved: saved.quantum, target: core.quantum });
            }
            if state.foreground >= target {
                return Err(RestoreError::Foreground { thread: state.foreground });
            }
            for thread in &state.threads {
                thread.check().map_err(|why| RestoreError::Thread { thread: number, why })?;
                number += 1;
            }
        }
        Ok(())
    }
}
