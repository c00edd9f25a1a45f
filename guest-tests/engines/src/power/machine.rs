//! CPUs that share memory, and how they run.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use super::cpu::{Cpu, Wait};
use super::devices::DMA_UNIT;
use super::footprint::Footprints;
use super::observer::{CpuView, Observer};
use super::registers::spr;
use super::state::{Core, Shared, Stop, TimeBase};
use crate::dma::Dma;
use crate::image::{Image, ImageError};
use crate::memory::{Memory, MemoryError};
use crate::turn::Turn;

/// The most CPUs of a machine.
pub const MAX_CPUS: usize = 8;
/// Bytes of the stack that each CPU starts with.
pub const STACK_SIZE: u64 = 0x4000;

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes of RAM, a multiple of 4096.
    pub ram: u64,
    /// How many CPUs, 1 to [`MAX_CPUS`].
    pub cpus: usize,
    /// Whether the CPUs start, and take interrupts, in little-endian mode: MSR.LE, LPCR.ILE and HID0.HILE.
    pub little_endian: bool,
    /// How often the time base ticks.
    pub time_base: TimeBase,
    /// What the CPUs find in their registers.
    pub entry: Entry,
    /// PIR of each CPU, with its chip, core and thread; a CPU without one has its number there.
    pub pirs: Vec<u32>,
}

/// What the CPUs find in their registers when they start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entry {
    /// GPR 3 holds the CPU's number, GPR 4 the number of CPUs, GPR 5 the end of usable RAM. GPR 12 holds the entry's address, from which a
    /// function of the second ELF ABI makes its TOC base; GPR 2 holds that of a file of the first ABI.
    #[default]
    Plain,
    /// What firmware hands over: GPR 3 holds the address of the device tree, GPR 6 the magic number of ePAPR, GPR 7 the bytes of RAM, GPR 8
    /// and 9 the base and the entry of the firmware; GPR 4 and 5 are 0.
    DeviceTree {
        /// The real address of the tree.
        tree: u64,
        /// The real address of the firmware's memory.
        base: u64,
        /// The real address that calls of the firmware branch to.
        firmware: u64,
    },
}

/// The number in GPR 6 that announces a device tree (ePAPR 1.1, 5.4).
const EPAPR: u64 = 0x6550_4150;

impl Default for Config {
    fn default() -> Self {
        Self { ram: 16 << 20, cpus: 1, little_endian: true, time_base: TimeBase::default(), entry: Entry::Plain, pirs: Vec::new() }
    }
}

/// Why a machine cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MachineError {
    /// The number of CPUs is not 1 to [`MAX_CPUS`].
    Cpus {
        /// The number asked for.
        cpus: usize,
    },
    /// RAM is too small for the stacks.
    TooSmall {
        /// Bytes of RAM.
        ram: u64,
    },
    /// RAM could not be made.
    Memory(MemoryError),
    /// The image could not be loaded.
    Image(ImageError),
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpus { cpus } => write!(f, "{cpus} CPUs: a machine has 1 to {MAX_CPUS}"),
            Self::TooSmall { ram } => write!(f, "{ram:#x} bytes of RAM do not hold the stacks"),
            Self::Memory(e) => e.fmt(f),
            Self::Image(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for MachineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory(e) => Some(e),
            Self::Image(e) => Some(e),
            _ => None,
        }
    }
}

impl From<MemoryError> for MachineError {
    fn from(e: MemoryError) -> Self {
        Self::Memory(e)
    }
}

impl From<ImageError> for MachineError {
    fn from(e: ImageError) -> Self {
        Self::Image(e)
    }
}

/// When to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of all CPUs together: instructions, and interrupts and event-based branches taken.
    pub steps: u64,
    /// Cycles of any one CPU, counted from its start.
    pub cycles: u64,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { steps: u64::MAX, cycles: u64::MAX };

    /// A limit on steps only.
    #[must_use]
    pub fn steps(steps: u64) -> Self {
        Self { steps, ..Self::NONE }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The guest stored its status to [`EXIT`](super::EXIT).
    Status {
        /// The CPU that did.
        cpu: usize,
        /// The status.
        status: u8,
    },
    /// Every CPU waits and nothing inside the machine can wake one.
    Waiting,
    /// A limit was reached; the machine can run on.
    Limit,
    /// An observer asked to stop; the machine can run on.
    Observer {
        /// The CPU it observes.
        cpu: usize,
    },
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { cpu, status } => write!(f, "CPU {cpu} exited with status {status}"),
            Self::Waiting => write!(f, "every CPU waits with nothing to wake it"),
            Self::Limit => write!(f, "a limit was reached"),
            Self::Observer { cpu } => write!(f, "the observer of CPU {cpu} stopped the machine"),
        }
    }
}

/// CPUs and RAM. The CPUs run in turn, an instruction each.
///
/// Every CPU starts at the image's entry in 64-bit hypervisor state with MSR.ME set and interrupts, floating point and translation off. GPR
/// 1 holds the top of its own stack, and [`Entry`] defines the others. FSCR has TAR and DSCR, HFSCR all facilities, PPR normal priority;
/// the run latch is off.
pub struct Machine<O> {
    pub(super) cpus: Vec<Cpu<O>>,
    pub(super) shared: Arc<Shared>,
    /// The position of the machine in a turn.
    pub(super) turn: Turn,
}

impl<O> fmt::Debug for Machine<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("cpus", &self.cpus.len()).finish_non_exhaustive()
    }
}

impl<O: Observer> Machine<O> {
    /// Makes a machine, loads the image, and gives each CPU an observer.
    ///
    /// # Errors
    ///
    /// A variant of [`MachineError`]: a bad configuration, or an image that does not fit.
    pub fn new(config: &Config, image: &Image, mut observer: impl FnMut(usize) -> O) -> Result<Self, MachineError> {
        if !(1..=MAX_CPUS).contains(&config.cpus) {
            return Err(MachineError::Cpus { cpus: config.cpus });
        }
        let memory = Arc::new(Memory::new(config.ram)?);
        let stacks = STACK_SIZE * config.cpus as u64;
        let usable = config.ram.checked_sub(stacks).ok_or(MachineError::TooSmall { ram: config.ram })?;
        image.load(&memory, usable)?;
        let reservations = (0..config.cpus).map(|_| AtomicU64::new(0)).collect();
        let footprints = Footprints::new(config.cpus);
        let shared = Arc::new(Shared {
            memory,
            console: Mutex::new(Vec::new()),
            reservations,
            footprints,
            time_base: config.time_base,
            dma: Dma::new(DMA_UNIT),
        });
        let cpus = (0..config.cpus)
            .map(|index| {
                let mut core = Core::new(index, config.little_endian, Arc::clone(&shared));
                core.pc = image.entry & !3;
                // Below the top there is room for the frame that a caller owes its callee.
                core.gpr[1] = config.ram - STACK_SIZE * index as u64 - 0x80;
                if let Some(pir) = config.pirs.get(index) {
                    core.spr[usize::from(spr::PIR)] = u64::from(*pir);
                }
                match config.entry {
                    Entry::Plain => {
                        core.gpr[3..=5].copy_from_slice(&[index as u64, config.cpus as u64, usable]);
                        (core.gpr[2], core.gpr[12]) = (image.toc, core.pc);
                    }
                    Entry::DeviceTree { tree, base, firmware } => {
                        core.gpr[3] = tree;
                        core.gpr[6..=9].copy_from_slice(&[EPAPR, config.ram, base, firmware]);
                    }
                }
                Cpu { core, observer: observer(index) }
            })
            .collect();
        Ok(Self { cpus, shared, turn: Turn::default() })
    }

    /// Runs until something ends it. A machine that can continue does so from where it stopped, even in the middle of a turn: how often it
    /// is stopped makes no difference.
    pub fn run(&mut self, limits: Limits) -> Exit {
        self.run_with(limits, |_, cpu, _| {
            cpu.step();
            1
        })
    }

    /// The same with another executor: `turn` gives the CPU of a number its turn, which takes at least one step and at most as many as the
    /// argument allows, and returns how many.
    pub(crate) fn run_with(&mut self, limits: Limits, mut turn: impl FnMut(usize, &mut Cpu<O>, u64) -> u64) -> Exit {
        for cpu in &mut self.cpus {
            cpu.core.stop = None;
            cpu.announce();
        }
        let mut steps = limits.steps;
        loop {
            while let Some(cpu) = self.cpus.get_mut(self.turn.began.len()) {
                let began = cpu.core.cycles;
                match cpu.wait() {
                    Wait::Running => {}
                    Wait::Cycles(cycles) => {
                        self.turn.waits(began, Some(cycles));
                        continue;
                    }
                    Wait::Forever => {
                        self.turn.waits(began, None);
                        continue;
                    }
                }
                if steps == 0 || cpu.core.cycles >= limits.cycles {
                    return Exit::Limit;
                }
                steps = steps.saturating_sub(turn(cpu.core.index, cpu, steps.min(limits.cycles - cpu.core.cycles)));
                self.turn.did(began, cpu.core.cycles);
                let index = cpu.core.index;
                match cpu.core.stop.take() {
                    Some(Stop::Status(status)) => return Exit::Status { cpu: index, status },
                    Some(Stop::Observer) => return Exit::Observer { cpu: index },
                    None => {}
                }
            }
            let exit = match self.turn.cycles() {
                Some(cycles) => self.elapse(cycles, limits),
                None => Some(Exit::Waiting),
            };
            // With the limit on cycles reached, some CPUs may still have to spend the rest of the turn's cycles.
            if exit != Some(Exit::Limit) {
                self.turn.update();
            }
            if let Some(exit) = exit {
                return exit;
            }
        }
    }

    /// Advances the CPUs that wait to `cycles` cycles after the turn began, in pieces their observers agree with.
    fn elapse(&mut self, cycles: u64, limits: Limits) -> Option<Exit> {
        for (cpu, began) in self.cpus.iter_mut().zip(&self.turn.began) {
            let mut left = began.saturating_add(cycles).saturating_sub(cpu.core.cycles);
            while left != 0 {
                let piece = match cpu.wait() {
                    Wait::Running => break,
                    Wait::Cycles(most) => left.min(most),
                    Wait::Forever => left,
                };
                cpu.elapse(piece);
                left -= piece;
            }
            if cpu.core.waiting && cpu.core.cycles >= limits.cycles {
                return Some(Exit::Limit);
            }
        }
        None
    }

    /// The CPUs themselves.
    #[cfg(feature = "unicorn")]
    pub(crate) fn each_cpu(&mut self) -> &mut [Cpu<O>] {
        &mut self.cpus
    }

    /// The CPU that takes the next step, after a run of no steps that ended at its limit.
    #[must_use]
    pub fn next_cpu(&self) -> usize {
        self.turn.began.len()
    }

    /// How many CPUs there are.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The state of a CPU, if there is one of that number.
    #[must_use]
    pub fn cpu(&self, index: usize) -> Option<CpuView<'_>> {
        self.cpus.get(index).map(|cpu| CpuView::new(&cpu.core))
    }

    /// The observer of a CPU.
    #[must_use]
    pub fn observer(&self, index: usize) -> Option<&O> {
        self.cpus.get(index).map(|cpu| &cpu.observer)
    }

    /// The observer of a CPU, to change it between runs.
    pub fn observer_mut(&mut self, index: usize) -> Option<&mut O> {
        self.cpus.get_mut(index).map(|cpu| &mut cpu.observer)
    }

    /// The observers of all CPUs in their order, to change them between runs.
    pub fn observers_mut(&mut self) -> impl Iterator<Item = &mut O> {
        self.cpus.iter_mut().map(|cpu| &mut cpu.observer)
    }

    /// Guest RAM.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        &self.shared.memory
    }

    /// What the guest stored to [`CONSOLE`](super::CONSOLE), at most the first MiB.
    #[must_use]
    pub fn console(&self) -> Vec<u8> {
        self.shared.console.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
