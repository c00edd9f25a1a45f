//! CPUs that share memory, and how they run.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::apic::PerformanceMask;
use super::boot::Layout;
use super::bus::MachineBus;
use super::cpu::{Cpu, Wait};
use super::executor::Executor;
use super::fault::Stop;
use super::mailbox::{Interrupter, Woken};
use super::observer::{CpuView, Observer};
use super::pci::DMA_UNIT;
use super::saved::Turn;
use super::state::{Core, Shared};
use crate::dma::Dma;
use crate::image::{Image, ImageError};
use crate::memory::{Memory, MemoryError};

/// How the CPUs of a machine share host threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All on the calling thread, in turn, each for a quantum of steps. Deterministic.
    RoundRobin {
        /// Steps a turn; 0 counts as 1.
        quantum: u32,
    },
    /// One host thread each. Time is each CPU's own.
    Parallel,
}

impl Default for Mode {
    fn default() -> Self {
        Self::RoundRobin { quantum: 1 }
    }
}

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bytes of RAM.
    pub ram: u64,
    /// How many CPUs, 1 to 255.
    pub cpus: usize,
    /// How they run.
    pub mode: Mode,
    /// Whether the performance-counter LVT entry masks itself.
    pub performance_mask: PerformanceMask,
    /// Ranges of addresses CPL 3 may access from the start, rounded outward to 2 MiB pages.
    pub user: Vec<Range<u64>>,
    /// Whether there is a device at [`DMA_FUNCTION`](super::DMA_FUNCTION) that accesses RAM by itself.
    pub dma: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { ram: 16 << 20, cpus: 1, mode: Mode::default(), performance_mask: PerformanceMask::default(), user: Vec::new(), dma: false }
    }
}

/// Why a machine cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MachineError {
    /// The number of CPUs is not 1 to 255.
    Cpus {
        /// The number asked for.
        cpus: usize,
    },
    /// RAM is too small for the engine's own tables and stacks.
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
            Self::Cpus { cpus } => write!(f, "{cpus} CPUs: a machine has 1 to 255"),
            Self::TooSmall { ram } => {
                write!(f, "{ram:#x} bytes of RAM do not hold the engine's tables and stacks")
            }
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
    /// Steps of all CPUs together: instructions, REP iterations, interrupts and exceptions taken.
    /// In parallel mode up to 256 a CPU may be left when the limit ends the run.
    pub steps: u64,
    /// Cycles of any one CPU, counted from its start, halted ones included.
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
    /// The guest wrote its status to port F4h.
    Status {
        /// The CPU that did.
        cpu: usize,
        /// The status.
        status: u8,
    },
    /// Every CPU is halted and nothing inside the machine can wake one.
    Halted,
    /// A limit was reached; the machine can run on.
    Limit,
    /// An observer asked to stop; the machine can run on.
    Observer {
        /// The CPU it observes.
        cpu: usize,
    },
    /// The engine cannot continue.
    Failed {
        /// The CPU it happened on.
        cpu: usize,
        /// Why.
        stop: Stop,
    },
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { cpu, status } => write!(f, "CPU {cpu} exited with status {status}"),
            Self::Halted => write!(f, "every CPU is halted with nothing to wake it"),
            Self::Limit => write!(f, "a limit was reached"),
            Self::Observer { cpu } => write!(f, "the observer of CPU {cpu} stopped the machine"),
            Self::Failed { cpu, stop } => write!(f, "CPU {cpu}: {stop}"),
        }
    }
}

/// How a run ended that `stop` ended.
pub(crate) fn exit_of(cpu: usize, stop: Stop) -> Exit {
    match stop {
        Stop::Status(status) => Exit::Status { cpu, status },
        Stop::Observer => Exit::Observer { cpu },
        stop => Exit::Failed { cpu, stop },
    }
}

/// CPUs, RAM and a bus.
///
/// Every CPU starts at the image's entry in 64-bit mode at CPL 0 with interrupts disabled, paging
/// on and at least the first 4 GiB mapped to themselves by 2 MiB pages. RDI holds its APIC ID, RSI
/// the number of CPUs, RDX the end of usable RAM, RSP the top of its own stack. The descriptor
/// table is that of [`selector`](super::selector), TR is loaded with a task-state segment that has
/// RSP0 and IST1; there is no IDT. Upper-level page-table entries allow CPL 3, the 2 MiB entries do
/// not unless [`Config::user`] says so.
pub struct Machine<O> {
    cpus: Vec<Cpu<O>>,
    shared: Arc<Shared>,
    mode: Mode,
    turn: Turn,
}

impl<O> fmt::Debug for Machine<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").field("cpus", &self.cpus.len()).field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl<O: Observer> Machine<O> {
    /// Makes a machine, loads the image, and gives each CPU an observer.
    ///
    /// # Errors
    ///
    /// A variant of [`MachineError`]: a bad configuration, or an image that does not fit.
    pub fn new(
        config: &Config,
        image: &Image,
        bus: Arc<dyn MachineBus>,
        mut observer: impl FnMut(usize) -> O,
    ) -> Result<Self, MachineError> {
        if !(1..=255).contains(&config.cpus) {
            return Err(MachineError::Cpus { cpus: config.cpus });
        }
        let memory = Arc::new(Memory::new(config.ram)?);
        let layout = Layout::new(config.ram, config.cpus).ok_or(MachineError::TooSmall { ram: config.ram })?;
        image.load(&memory, layout.usable)?;
        layout.write(&memory, &config.user)?;
        let shared = Arc::new(Shared {
            memory,
            bus,
            interrupter: Interrupter::new(config.cpus),
            console: Mutex::new(Vec::new()),
            configuration_address: AtomicU32::new(0),
            dma: config.dma.then(|| Dma::new(DMA_UNIT)),
        });
        let cpus = (0..config.cpus)
            .map(|index| {
                let mut core = Core::new(index, Arc::clone(&shared), config.performance_mask);
                layout.start(&mut core, image.entry);
                Cpu::new(core, observer(index))
            })
            .collect();
        Ok(Self { cpus, shared, mode: config.mode, turn: Turn::default() })
    }

    /// Runs until something ends it.
    pub fn run(&mut self, limits: Limits) -> Exit {
        for cpu in &mut self.cpus {
            cpu.begin();
        }
        match self.mode {
            Mode::RoundRobin { quantum } => self.run_in_turn(quantum.max(1), limits),
            Mode::Parallel => {
                self.turn = Turn::default();
                self.run_parallel(limits)
            }
        }
    }

    /// Has another executor execute the instructions of each CPU of a machine that has not run; `executor` makes it from the CPU's number
    /// and the RAM.
    #[cfg_attr(not(any(feature = "unicorn", feature = "kvm")), expect(dead_code, reason = "the interpreter executes by itself"))]
    pub(crate) fn executed_by<X>(
        &mut self,
        mut executor: impl FnMut(usize, &Arc<Memory>) -> Result<Box<dyn Executor<O>>, X>,
    ) -> Result<(), X> {
        for (index, cpu) in self.cpus.iter_mut().enumerate() {
            cpu.executed_by(executor(index, &self.shared.memory)?);
        }
        Ok(())
    }

    /// How the CPUs share host threads.
    #[cfg_attr(not(feature = "kvm"), expect(dead_code, reason = "only KVM asks"))]
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The CPUs, what they share, and whose turn it is.
    pub(crate) fn parts(&self) -> (&[Cpu<O>], &Shared, &Turn) {
        (&self.cpus, &self.shared, &self.turn)
    }

    /// The same, to change them between runs.
    pub(crate) fn parts_mut(&mut self) -> (&mut [Cpu<O>], &Shared, &mut Turn) {
        (&mut self.cpus, &self.shared, &mut self.turn)
    }

    fn run_in_turn(&mut self, quantum: u32, limits: Limits) -> Exit {
        let mut steps = limits.steps;
        // Turns make no difference to a CPU that is alone.
        let alone = self.cpus.len() == 1;
        let quantum = if alone { 4096 } else { quantum };
        let mut turn = std::mem::take(&mut self.turn);
        turn.began.resize(self.cpus.len(), 0);
        loop {
            if let Some(exit) = self.round(&mut turn, quantum, &mut steps, limits.cycles) {
                self.turn = turn;
                return exit;
            }
            let Turn { began, running, ran, wake, .. } = std::mem::take(&mut turn);
            turn.began = began;
            let passed = match (running, wake) {
                (true, _) if alone => continue,
                (true, _) => ran,
                (false, Some(n)) => n,
                (false, None) if self.shared.interrupter.any_full() => continue,
                (false, None) => return Exit::Halted,
            };
            for (index, began) in turn.began.iter().enumerate() {
                if let Some(exit) = self.elapse(index, began.saturating_add(passed), limits) {
                    return exit;
                }
            }
        }
    }

    /// Gives each CPU from the turn's on its steps. If the machine stops meanwhile, the turn records where.
    fn round(&mut self, turn: &mut Turn, quantum: u32, steps: &mut u64, cycles: u64) -> Option<Exit> {
        while let Some(cpu) = self.cpus.get_mut(turn.cpu) {
            let began = &mut turn.began[turn.cpu];
            // A CPU that has taken steps continues its turn.
            if turn.taken == 0 {
                *began = cpu.core.cycles;
                let wait = cpu.wait();
                if wait != Wait::Running {
                    if let Wait::Cycles(n) = wait {
                        turn.wake = Some(turn.wake.map_or(n, |w| w.min(n)));
                    }
                    turn.cpu += 1;
                    continue;
                }
                turn.running = true;
            }
            while turn.taken < quantum && !cpu.core.halted {
                if *steps == 0 || cpu.core.cycles >= cycles {
                    return Some(Exit::Limit);
                }
                let most = u64::from(quantum - turn.taken).min(*steps).min(cycles - cpu.core.cycles);
                let done = cpu.advance(u32::try_from(most).unwrap_or(u32::MAX));
                *steps -= u64::from(done);
                turn.taken += done;
                if let Some(stop) = cpu.core.stop.take() {
                    return Some(exit_of(turn.cpu, *stop));
                }
            }
            turn.ran = turn.ran.max(cpu.core.cycles.saturating_sub(*began));
            turn.taken = 0;
            turn.cpu += 1;
        }
        None
    }

    /// Keeps a halted CPU halted until cycle `until`, in pieces its observer agrees with.
    fn elapse(&mut self, index: usize, until: u64, limits: Limits) -> Option<Exit> {
        let cpu = &mut self.cpus[index];
        while cpu.core.halted {
            let left = until.saturating_sub(cpu.core.cycles);
            if left == 0 {
                break;
            }
            match cpu.wait() {
                Wait::Running => break,
                Wait::Cycles(limit) => cpu.elapse(left.min(limit)),
                Wait::Others => cpu.elapse(left),
            }
        }
        if let Some(stop) = cpu.core.stop.take() {
            return Some(exit_of(index, *stop));
        }
        (cpu.core.halted && cpu.core.cycles >= limits.cycles).then_some(Exit::Limit)
    }

    fn run_parallel(&mut self, limits: Limits) -> Exit {
        let budget = AtomicU64::new(limits.steps);
        let result: Mutex<Option<Exit>> = Mutex::new(None);
        let interrupter = &self.shared.interrupter;
        interrupter.set_stopping(false);
        std::thread::scope(|scope| {
            for cpu in &mut self.cpus {
                scope.spawn(|| {
                    if let Some(exit) = run_alone(cpu, interrupter, &budget, limits.cycles) {
                        let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
                        result.get_or_insert(exit);
                        drop(result);
                        interrupter.set_stopping(true);
                    }
                });
            }
        });
        result.into_inner().unwrap_or_else(PoisonError::into_inner).unwrap_or(Exit::Limit)
    }

    /// The CPU that takes the next step, after a run of no steps that ended at its limit. Of a machine whose CPUs run at the same time this
    /// means nothing.
    #[must_use]
    pub fn next_cpu(&self) -> usize {
        self.turn.cpu
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

    /// The observers of all CPUs, in order, to change them between runs.
    pub fn observers_mut(&mut self) -> impl Iterator<Item = &mut O> {
        self.cpus.iter_mut().map(|cpu| &mut cpu.observer)
    }

    /// Guest RAM.
    #[must_use]
    pub fn memory(&self) -> &Arc<Memory> {
        &self.shared.memory
    }

    /// What raises interrupts at the CPUs, for devices.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        self.shared.interrupter.clone()
    }

    /// What the guest wrote to port E9h, at most the first MiB.
    #[must_use]
    pub fn console(&self) -> Vec<u8> {
        self.shared.console.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Steps a parallel CPU takes from the common budget at a time.
const CHUNK: u64 = 256;

fn take(budget: &AtomicU64) -> u64 {
    let taken = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - left.min(CHUNK))).unwrap_or(0);
    taken.min(CHUNK)
}

/// Runs one CPU on its own thread until it, or another, stops the machine.
fn run_alone<O: Observer>(cpu: &mut Cpu<O>, interrupter: &Interrupter, budget: &AtomicU64, cycles: u64) -> Option<Exit> {
    let index = cpu.core.index;
    let mut left = 0;
    let end = loop {
        if interrupter.stopping() {
            break None;
        }
        match cpu.wait() {
            Wait::Running => {}
            Wait::Cycles(n) => {
                cpu.elapse(n);
                if cpu.core.cycles >= cycles {
                    break Some(Exit::Limit);
                }
                continue;
            }
            Wait::Others => match interrupter.sleep(index) {
                Woken::Now => continue,
                Woken::Never => break Some(Exit::Halted),
            },
        }
        for _ in 0..64 {
            if left == 0 {
                left = take(budget);
                if left == 0 {
                    break;
                }
            }
            cpu.step();
            left -= 1;
            if cpu.core.halted || cpu.core.stop.is_some() {
                break;
            }
        }
        if let Some(stop) = cpu.core.stop.take() {
            break Some(exit_of(index, *stop));
        }
        if left == 0 && budget.load(Ordering::Relaxed) == 0 || cpu.core.cycles >= cycles {
            break Some(Exit::Limit);
        }
    };
    budget.fetch_add(left, Ordering::Relaxed);
    end
}
