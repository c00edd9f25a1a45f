//! POWER on Unicorn: blocks of plain instructions run in Unicorn, at one go where the performance monitor agrees.
//!
//! An [`Emulation`] executes a [`Machine`] of the project's own engine in another way. What only computes, moves data or branches runs in
//! Unicorn, a block at a time: from where the CPU is up to the next branch, or to the next instruction of another kind. The machine does
//! the rest as usual: the machine state and its interrupts, special purpose registers, reservations, transactions, the time base, devices,
//! and the turns that CPUs take.
//!
//! An observer of such a machine implements [`Blocks`] in addition to [`Observer`]: it works out what a block adds when the block is first
//! seen, takes its instructions off a countdown before it runs, and adds its sums after it. Where they do not fit, or every instruction is
//! to be reported, a block of one instruction runs, and the observer is notified of it as on the project's own engine
//! ([`Observer::retire`]). With several CPUs, which take turns, all blocks have one instruction.
//!
//! # What Unicorn 2.1.5 does for 64-bit POWER, and what it does not
//!
//! - 64-bit and 32-bit mode and both byte orders work: MSR.SF and LE are obeyed where they are written through its interface.
//! - Its processor is its newest one. When a 64-bit processor is asked for by its number, the number is taken for that of a 32-bit one.
//! - It never comes to hypervisor state: its reset leaves MSR.HV at 0 and nothing can set it. Without HV real mode has no memory, so
//!   addresses go through its *virtual* translation buffer, filled by a hook here, in which every address is its own.
//! - Its interface does not reach SPRs other than LR and CTR, and XER is without its arithmetic bits. Moves of SPRs are the machine's; XER
//!   is moved by `mfxer` and `mtxer` in a page made for this.
//! - An exception of an instruction stops it after that instruction, an access that the translation refuses stops it before it. Either way
//!   the instruction is completed by the machine.
//! - `tbegin.` always fails, reservations know nothing of other CPUs, and there is no performance monitor: all of these are the machine's.
//! - An address to stop at makes it forget the translation there each time. Runs end by their count instead.
//! - What others write to memory does not reach what it has translated: a block's words are compared before it runs.
//!
//! The observer's view of a CPU has the general purpose registers of the last instruction that the machine completed itself, until the run
//! ends.

mod block;
mod plain;
mod processor;

use std::fmt;

use unicorn_engine::uc_error;
use vm_pmu::decode::power::{LoadStore, Through, Word};

use crate::power::cpu::Cpu;
use crate::power::exec::Then;
use crate::power::registers::msr;
use crate::power::state::Core;
use crate::power::{Access, Exit, Limits, Machine, Observer, Step};
use block::Block;
use processor::{MOVES, Processor};

/// An observer of a CPU whose blocks may run at one go.
pub trait Blocks: Observer {
    /// What steps add together.
    type Sums;

    /// What `steps` add. The accesses and what was touched are not known; none of them is a branch.
    fn sums(&self, steps: &[Step]) -> Self::Sums;

    /// Whether so many instructions can run at one go: nothing is due among them, and none of them has to be reported singly. If so they
    /// are counted.
    fn enter(&mut self, instructions: u32) -> bool;

    /// The instructions that were entered last are not counted: they did not all complete.
    fn take_back(&mut self, instructions: u32);

    /// `steps` ran at one go, the last of them `branch` if there is one, and all others add `sums`.
    fn ran(&mut self, steps: &[Step], sums: &Self::Sums, branch: Option<&Step>);

    /// A run has ended: what was counted is evaluated.
    fn settle(&mut self);
}

/// Why there is no emulation, or none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// RAM is so large that nothing is left for Unicorn's own page.
    Ram {
        /// Bytes of RAM.
        ram: u64,
    },
    /// Unicorn refused something.
    Unicorn {
        /// Unicorn's message.
        reason: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ram { ram } => write!(f, "{ram:#x} bytes of RAM: at most {MOVES:#x}"),
            Self::Unicorn { reason } => write!(f, "Unicorn says: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<uc_error> for Refusal {
    fn from(error: uc_error) -> Self {
        Self::Unicorn { reason: format!("{error:?}") }
    }
}

/// Who executed how many instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// Blocks of more than one instruction that ran at one go in Unicorn, as far as an instruction that did not complete there.
    pub blocks: u64,
    /// The instructions in them.
    pub in_blocks: u64,
    /// Instructions that ran in Unicorn one by one.
    pub alone: u64,
    /// Steps of the machine: instructions that it completed, interrupts and event-based branches.
    pub machine: u64,
}

/// Unicorns that execute the CPUs of a machine, one for each.
///
/// ```
/// use vm_pmu_engines::power::assemble::{Assembler, R3, R4};
/// use vm_pmu_engines::power::{Config, EXIT, Exit, Image, Limits, Machine, Unobserved};
/// use vm_pmu_engines::unicorn::power::Emulation;
///
/// let mut a = Assembler::new(0x1000, true);
/// a.load(R3, 6);
/// a.mulli(R3, R3, 7);
/// a.load(R4, EXIT);
/// a.stb(R3, 0, R4);
/// let image = Image::raw(0x1000, a.finish().unwrap());
/// let mut machine = Machine::new(&Config::default(), &image, |_| Unobserved).unwrap();
/// let mut emulation = Emulation::new(&machine).unwrap();
/// let exit = emulation.run(&mut machine, Limits::steps(100)).unwrap();
/// assert_eq!(exit, Exit::Status { cpu: 0, status: 42 });
/// // The store to the device is the machine's.
/// assert_eq!(emulation.shares().machine, 1);
/// ```
#[derive(Debug)]
pub struct Emulation<O: Blocks> {
    executors: Vec<Executor<O::Sums>>,
}

#[derive(Debug)]
struct Executor<S> {
    processor: Processor,
    blocks: block::Blocks<S>,
    /// No other CPU takes turns with this one.
    single: bool,
    shares: Shares,
}

impl<O: Blocks> Emulation<O> {
    /// Unicorns for the CPUs of `machine`, on its memory.
    ///
    /// # Errors
    ///
    /// [`Refusal`], where Unicorn cannot be made.
    pub fn new(machine: &Machine<O>) -> Result<Self, Refusal> {
        let ram = machine.memory().size();
        if ram > MOVES {
            return Err(Refusal::Ram { ram });
        }
        let single = machine.cpus() == 1;
        let executor = || {
            let processor = Processor::new(machine.memory())?;
            Ok(Executor { processor, blocks: block::Blocks::default(), single, shares: Shares::default() })
        };
        Ok(Self { executors: (0..machine.cpus()).map(|_| executor()).collect::<Result<_, uc_error>>()? })
    }

    /// Runs `machine`, which this was made for, until something ends it. The machine can be run on by itself afterwards, or saved.
    ///
    /// # Errors
    ///
    /// [`Refusal`], if Unicorn gave up: the machine is then where it did so.
    pub fn run(&mut self, machine: &mut Machine<O>, limits: Limits) -> Result<Exit, Refusal> {
        let mut refused = None;
        let executors = &mut self.executors;
        let exit = machine.run_with(limits, |index, cpu, most| {
            let Some(executor) = executors.get_mut(index).filter(|_| refused.is_none()) else { return most };
            executor.turn(cpu, most).unwrap_or_else(|error| {
                refused = Some(error);
                // Ends the run.
                u64::MAX
            })
        });
        for (executor, cpu) in self.executors.iter_mut().zip(machine.each_cpu()) {
            executor.processor.take_back(&mut cpu.core)?;
            cpu.observer.settle();
        }
        refused.map_or(Ok(exit), |error| Err(error.into()))
    }

    /// How much each has executed so far.
    #[must_use]
    pub fn shares(&self) -> Shares {
        self.executors.iter().fold(Shares::default(), |sum, Executor { shares, .. }| Shares {
            blocks: sum.blocks + shares.blocks,
            in_blocks: sum.in_blocks + shares.in_blocks,
            alone: sum.alone + shares.alone,
            machine: sum.machine + shares.machine,
        })
    }
}

impl<S> Executor<S> {
    /// A turn of at most `most` steps; returns how many it had.
    fn turn<O: Blocks<Sums = S>>(&mut self, cpu: &mut Cpu<O>, most: u64) -> Result<u64, uc_error> {
        if !cpu.attend() {
            // Transactions can be undone, and traced instructions are followed by interrupts.
            if cpu.core.msr & (msr::TS | msr::SE | msr::BE) == 0
                && let Some(steps) = self.plain(cpu, most)?
            {
                return Ok(steps);
            }
            self.processor.take_back(&mut cpu.core)?;
            cpu.instruction();
        }
        self.shares.machine += 1;
        Ok(1)
    }

    /// Has Unicorn execute what is at the CPU's address; does nothing if it is not for Unicorn, or does not complete there.
    fn plain<O: Blocks<Sums = S>>(&mut self, cpu: &mut Cpu<O>, most: u64) -> Result<Option<u64>, uc_error> {
        let Cpu { core, observer } = cpu;
        let found = self.blocks.at(core, |steps| observer.sums(steps));
        if let Some(end) = found.changed {
            self.processor.forget(core.pc, end)?;
        }
        let Some(block) = found.block else { return Ok(None) };
        self.processor.load_registers(core)?;
        let count = block.steps.len() as u32;
        let whole = self.single && (2..=most).contains(&count.into()) && observer.enter(count);
        if whole { self.whole(cpu, &block) } else { self.alone(cpu, &block) }
    }

    /// Runs a block at one go, or its instructions up to one that does not complete.
    fn whole<O: Blocks<Sums = S>>(&mut self, cpu: &mut Cpu<O>, block: &Block<S>) -> Result<Option<u64>, uc_error> {
        let count = block.steps.len();
        let (done, at) = self.processor.run(cpu.core.pc, count, (block.changes_xer[1], block.floating[1]))?;
        if done < count {
            cpu.observer.take_back(count as u32);
            for step in block.steps.iter().take(done) {
                let core = &mut cpu.core;
                core.step = Step { msr: core.msr, run: core.run(), ..*step };
                core.next = core.effective(step.next);
                cpu.complete(Then::Untraced);
            }
            self.shares.blocks += u64::from(done != 0);
            self.shares.in_blocks += done as u64;
            return Ok((done != 0).then_some(done as u64));
        }
        let branch = match block.steps.last() {
            Some(last) if last.branch.is_some() => Some(self.branched(*last, &cpu.core, at)?),
            _ => None,
        };
        let core = &mut cpu.core;
        core.pc = at;
        core.next = at;
        core.cycles = core.cycles.saturating_add(count as u64);
        cpu.observer.ran(&block.steps, &block.sums, branch.as_ref());
        self.shares.blocks += 1;
        self.shares.in_blocks += count as u64;
        Ok(Some(count as u64))
    }

    /// Runs the first instruction of a block.
    fn alone<O: Blocks<Sums = S>>(&mut self, cpu: &mut Cpu<O>, block: &Block<S>) -> Result<Option<u64>, uc_error> {
        let Some(first) = block.steps.first() else { return Ok(None) };
        let core = &mut cpu.core;
        let mut step = Step { msr: core.msr, run: core.run(), ..*first };
        let word = Word(step.encoding);
        if let Some(form) = &block.access {
            let address = core.effective(self.sum(form, word)?);
            step.access = Some(Access { address, real: Core::real(address), size: form.size, store: form.store, reserve: false });
        } else if let Some(touched) = &mut step.touched {
            let base = if word.ra() == 0 { 0 } else { self.processor.gpr(word.ra())? };
            touched.address = core.effective(base.wrapping_add(self.processor.gpr(word.rb())?));
        }
        let (done, at) = self.processor.run(core.pc, 1, (block.changes_xer[0], block.floating[0]))?;
        if done == 0 {
            return Ok(None);
        }
        if step.branch.is_some() {
            step = self.branched(step, core, at)?;
        }
        if let Some(access) = step.access.filter(|access| access.store) {
            core.shared.lose_reservations(core.index, access.real);
            core.shared.lose_reservations(core.index, access.real + u64::from(access.size) - 1);
        }
        core.step = step;
        core.next = at;
        cpu.complete(Then::Next);
        self.shares.alone += 1;
        Ok(Some(1))
    }

    fn sum(&mut self, access: &LoadStore, word: Word) -> Result<u64, uc_error> {
        let mut registers = [0; 32];
        for number in [word.ra(), word.rb()] {
            registers[number] = self.processor.gpr(number)?;
        }
        Ok(access.sum(word, |number| registers[number]))
    }

    /// What became of the branch of `step`, after which Unicorn is at `at`.
    fn branched(&mut self, step: Step, core: &Core, at: u64) -> Result<Step, uc_error> {
        let Some(mut branch) = step.branch else { return Ok(step) };
        let word = Word(step.encoding);
        let (cr, lr, ctr) = self.processor.branch_registers()?;
        if branch.form.is_conditional() {
            // A branch leaves CR alone and has counted CTR down.
            let counted = !branch.form.on_count || (core.effective(ctr) != 0) != (word.rt() & 0b0_0010 != 0);
            let held = !branch.form.on_condition || (cr >> (31 - word.ra()) & 1 != 0) == (word.rt() & 0b0_1000 != 0);
            branch.taken = counted && held;
        }
        branch.target = core.effective(match branch.form.through {
            _ if branch.taken => at,
            Through::Immediate | Through::Tar => branch.target,
            Through::Lr => lr & !3,
            Through::Ctr => ctr & !3,
        });
        Ok(Step { branch: Some(branch), next: at, ..step })
    }
}

impl Blocks for crate::power::Unobserved {
    type Sums = ();

    fn sums(&self, _steps: &[Step]) {}

    fn enter(&mut self, _instructions: u32) -> bool {
        true
    }

    fn take_back(&mut self, _instructions: u32) {}

    fn ran(&mut self, _steps: &[Step], (): &(), _branch: Option<&Step>) {}

    fn settle(&mut self) {}
}
