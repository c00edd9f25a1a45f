//! Cores that share memory, and how they run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::alat::Alat;
use super::cpu::Cpu;
use super::observer::{CpuView, Observer};
use super::registers::cr;
use super::state::{Core, Shared, Stop};
use super::threads::{Outcome, Threads};
use super::unimplemented::Unimplemented;
use crate::image::{Image, ImageError};
use crate::memory::{Memory, MemoryError};
use crate::turn::Turn;

/// The most cores of a machine.
pub const MAX_CORES: usize = 4;
/// The most threads of a core.
pub const MAX_THREADS: usize = 2;
/// Bytes of the stack that each thread starts with: its backing store grows up from the bottom, its memory stack down from the top.
pub const STACK_SIZE: u64 = 0x8000;

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes of RAM, a multiple of 4096.
    pub ram: u64,
    /// How many cores, 1 to [`MAX_CORES`].
    pub cores: usize,
    /// How many threads each core has, 1 or 2.
    pub threads: usize,
    /// Cycles that a thread may stay in the foreground while the other one could run.
    pub quantum: u64,
    /// How many of its 32 entries the ALAT has in a set: a power of two.
    pub alat_ways: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { ram: 16 << 20, cores: 1, threads: 1, quantum: 4096, alat_ways: 32 }
    }
}

/// Why a machine cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MachineError {
    /// The number of cores is not 1 to [`MAX_CORES`], or that of their threads not 1 to [`MAX_THREADS`].
    Threads {
        /// The number of cores asked for.
        cores: usize,
        /// The number of threads asked for.
        threads: usize,
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
            Self::Threads { cores, threads } => {
                write!(f, "{cores} cores of {threads} threads: a machine has 1 to {MAX_CORES}, each of 1 to {MAX_THREADS}")
            }
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
    /// Steps of all threads together: instructions, and interruptions taken.
    pub steps: u64,
    /// Cycles of any one core, counted from its start.
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The guest stored its status to [`EXIT`](super::EXIT).
    Status {
        /// The thread that did.
        cpu: usize,
        /// The status.
        status: u8,
    },
    /// Every thread halted and nothing inside the machine can wake one.
    Waiting,
    /// A limit was reached; the machine can run on.
    Limit,
    /// An observer asked to stop; the machine can run on.
    Observer {
        /// The thread it observes.
        cpu: usize,
    },
    /// A thread came to an instruction that the architecture has and the engine does not.
    Unimplemented {
        /// The thread that did.
        cpu: usize,
        /// The instruction.
        instruction: Unimplemented,
    },
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { cpu, status } => write!(f, "CPU {cpu} exited with status {status}"),
            Self::Waiting => write!(f, "every CPU waits with nothing to wake it"),
            Self::Limit => write!(f, "a limit was reached"),
            Self::Observer { cpu } => write!(f, "the observer of CPU {cpu} stopped the machine"),
            Self::Unimplemented { cpu, instruction } => write!(f, "CPU {cpu} came to {instruction}"),
        }
    }
}

/// Cores and RAM. The cores run in turn, an instruction each; the threads of a core take turns as [`Config::quantum`] and the
/// [module](super#threads) say.
///
/// Every thread starts at the image's entry at privilege level 0 with register bank 1, interruption collection, interrupts and
/// translation off. r8 holds its number, r9 the number of threads, r10 the end of usable RAM, r12 the top of its memory stack, bspstore
/// the bottom of its backing store. The frame is empty, RSC is 0, and the interval timer and the performance monitor vectors are masked.
pub struct Machine<O> {
    pub(super) cores: Vec<Threads<O>>,
    threads: usize,
    pub(super) shared: Arc<Shared>,
    /// The position of the machine in the turn of its cores.
    pub(super) turn: Turn,
}

impl<O> fmt::Debug for Machine<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("cores", &self.cores.len()).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl<O: Observer> Machine<O> {
    /// Makes a machine, loads the image, and gives each thread an observer.
    ///
    /// # Errors
    ///
    /// A variant of [`MachineError`]: a bad configuration, or an image that does not fit.
    pub fn new(config: &Config, image: &Image, mut observer: impl FnMut(usize) -> O) -> Result<Self, MachineError> {
        let Config { cores, threads, ram, quantum, alat_ways } = *config;
        if !(1..=MAX_CORES).contains(&cores) || !(1..=MAX_THREADS).contains(&threads) {
            return Err(MachineError::Threads { cores, threads });
        }
        let memory = Arc::new(Memory::new(ram)?);
        let all = cores * threads;
        let usable = ram.checked_sub(STACK_SIZE * all as u64).ok_or(MachineError::TooSmall { ram })?;
        image.load(&memory, usable)?;
        let shared = Arc::new(Shared { memory, console: Mutex::new(Vec::new()) });
        let mut cpu = |index: usize| {
            let top = ram - STACK_SIZE * index as u64;
            let mut core = Core::new(index, top - STACK_SIZE, Arc::clone(&shared));
            core.alat = Alat::of_ways(alat_ways);
            core.ip = image.entry & !15;
            core.general[8] = index as u64;
            core.general[9] = all as u64;
            core.general[10] = usable;
            // Below the top there is the scratch area that a caller owes its callee.
            core.general[12] = top - 16;
            core.cr[cr::LID] = (index as u64) << 24;
            core.cr[cr::ITV] = 1 << 16;
            core.cr[cr::PMV] = 1 << 16;
            core.cr[cr::CMCV] = 1 << 16;
            Cpu { core, observer: observer(index) }
        };
        let cores = (0..cores)
            .map(|core| {
                let cpus = (0..threads).map(|thread| cpu(core * threads + thread)).collect();
                Threads::new(cpus, quantum)
            })
            .collect();
        Ok(Self { cores, threads, shared, turn: Turn::default() })
    }

    /// Runs until something ends it. A machine that can continue does so from where it stopped, even in the middle of a turn of its cores:
    /// how often it is stopped makes no difference.
    pub fn run(&mut self, limits: Limits) -> Exit {
        for cpu in self.cores.iter_mut().flat_map(|core| &mut core.cpus) {
            cpu.core.stop = None;
            cpu.announce();
        }
        let mut steps = limits.steps;
        loop {
            while let Some(core) = self.cores.get_mut(self.turn.began.len()) {
                let began = core.clock;
                // A run of no steps goes on to where one would be taken.
                if steps == 0 && limits.steps != 0 || began >= limits.cycles {
                    return Exit::Limit;
                }
                match core.turn(steps != 0) {
                    Outcome::Ready => return Exit::Limit,
                    Outcome::Ran(step) => {
                        steps -= u64::from(step);
                        self.turn.did(began, core.clock);
                    }
                    Outcome::Idle => self.turn.waits(began, core.deadline()),
                }
                if let Some(exit) = self.after(self.turn.began.len() - 1) {
                    return exit;
                }
            }
            let passed = self.turn.cycles();
            for (core, began) in self.cores.iter_mut().zip(&self.turn.began) {
                core.idle_until(began.saturating_add(passed.unwrap_or(0)));
            }
            self.turn.update();
            if passed.is_none() {
                return Exit::Waiting;
            }
        }
    }

    /// Reports what a thread of core `index` stored to the other threads, and checks whether the run ends.
    fn after(&mut self, index: usize) -> Option<Exit> {
        let threads = self.threads;
        let mut exit = None;
        for thread in 0..threads {
            let core = &mut self.cores[index].cpus[thread].core;
            let cpu = core.index;
            exit = exit.or(match core.stop.take() {
                Some(Stop::Status(status)) => Some(Exit::Status { cpu, status }),
                Some(Stop::Observer) => Some(Exit::Observer { cpu }),
                Some(Stop::Unimplemented(instruction)) => Some(Exit::Unimplemented { cpu, instruction: *instruction }),
                None => None,
            });
            if core.stores.is_empty() {
                continue;
            }
            let mut stores = std::mem::take(&mut core.stores);
            for other in self.cores.iter_mut().flat_map(|core| &mut core.cpus).filter(|other| other.core.index != cpu) {
                stores.iter().for_each(|(physical, size)| other.core.alat.stored(*physical, *size));
            }
            // The room is kept for the next step's.
            stores.clear();
            self.cores[index].cpus[thread].core.stores = stores;
        }
        exit
    }

    fn find(&self, index: usize) -> Option<&Cpu<O>> {
        self.cores.get(index / self.threads)?.cpus.get(index % self.threads)
    }

    /// The thread that takes the next step, after a run of no steps that ended at its limit.
    #[must_use]
    pub fn next_cpu(&self) -> usize {
        let core = self.turn.began.len();
        core * self.threads + self.cores.get(core).map_or(0, |core| core.foreground)
    }

    /// How many threads there are, of all cores.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cores.len() * self.threads
    }

    /// The state of a thread, if there is one of that number.
    #[must_use]
    pub fn cpu(&self, index: usize) -> Option<CpuView<'_>> {
        self.find(index).map(|cpu| CpuView::new(&cpu.core))
    }

    /// The observer of a thread.
    #[must_use]
    pub fn observer(&self, index: usize) -> Option<&O> {
        self.find(index).map(|cpu| &cpu.observer)
    }

    /// The observer of a thread, to change it between runs.
    pub fn observer_mut(&mut self, index: usize) -> Option<&mut O> {
        let threads = self.threads;
        self.cores.get_mut(index / threads)?.cpus.get_mut(index % threads).map(|cpu| &mut cpu.observer)
    }

    /// The observers of all threads in their order, to change them between runs.
    pub fn observers_mut(&mut self) -> impl Iterator<Item = &mut O> {
        self.cores.iter_mut().flat_map(|core| &mut core.cpus).map(|cpu| &mut cpu.observer)
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
