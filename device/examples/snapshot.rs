//! A running machine is saved to a file in its middle and restored into a new one. Both go on, and agree.
//!
//! Its guest counts the instructions that it retires and is interrupted every hundred of them. The file begins with what the CPU itself
//! remembers, in whatever form an emulator has for that; the PMU's snapshot is the rest of it.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fs, process};

use vm_pmu::irq::InterruptLine;
use vm_pmu::snapshot::SnapshotError;
use vm_pmu::topology::{Builder, Machine};
use vm_pmu::{Context, Demand, Fault, Signal};

/// What the CPU can do. It has one register, the sum.
#[derive(Clone, Copy)]
enum Op {
    /// Add to the sum.
    Add(u64),
    /// Jump to an address if the sum is below a limit.
    JumpBelow(u64, u64),
    /// Write a model-specific register.
    Wrmsr(u32, u64),
    /// Read a counter, and note it with the sum.
    Rdpmc(u32),
    /// Return from an interrupt.
    Return,
}

const PERF_EVT_SEL_0: u32 = 0xC001_0000;
const PERF_CTR_0: u32 = 0xC001_0004;
/// Retired instructions; OS, INT, EN.
const RETIRED_INSTRUCTIONS: u64 = 0x0052_00C0;
const EVERY_HUNDRED: u64 = 0u64.wrapping_sub(100);

const GUEST: [Op; 7] = [
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Wrmsr(PERF_EVT_SEL_0, RETIRED_INSTRUCTIONS),
    Op::Add(1),
    Op::JumpBelow(200, 2),
    // The interrupt handler.
    Op::Rdpmc(0),
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Return,
];
const HANDLER: u64 = 4;

/// The interrupt controller: one request, which the CPU has not taken yet.
#[derive(Clone, Default)]
struct Pending(Arc<AtomicBool>);

impl InterruptLine for Pending {
    fn raise(&self, _thread: usize, _counter: u32) {
        self.0.store(true, Ordering::Release);
    }
}

/// The CPU and its PMU.
struct Toy {
    machine: Machine<Pending>,
    demand: Demand,
    at: u64,
    sum: u64,
    /// Where the handler returns to.
    interrupted: Option<u64>,
    /// The sum and the counter at each interrupt, for us to see.
    notes: Vec<(u64, u64)>,
}

/// Why no machine could be made of a file.
#[derive(Debug)]
enum LoadError {
    /// It has fewer bytes than the CPU's part of it takes.
    Short(usize),
    /// The PMU refuses the rest.
    Pmu(SnapshotError),
}

impl Display for LoadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Short(bytes) => write!(formatter, "a saved CPU takes {CPU} bytes and the file has {bytes}"),
            LoadError::Pmu(error) => Display::fmt(error, formatter),
        }
    }
}

impl Error for LoadError {}

/// The bytes that the CPU's own part of a file takes: four numbers.
const CPU: usize = 32;

impl Toy {
    fn new() -> Result<Toy, Box<dyn Error>> {
        let machine = Builder::new("k8")?.build(Pending::default())?;
        let mut toy = Toy { machine, demand: Demand::default(), at: 0, sum: 0, interrupted: None, notes: Vec::new() };
        let pmu = toy.machine.thread(0).ok_or("no such thread")?;
        pmu.set_context(Context::x86(0, 0x202, 0)); // privilege level 0, interrupts on
        toy.demand = pmu.demand();
        Ok(toy)
    }

    /// Executes so many instructions, or fewer if the guest comes to its end.
    fn execute(&mut self, instructions: u64) -> Result<(), Fault> {
        let Some(pmu) = self.machine.thread(0) else { return Ok(()) };
        for _ in 0..instructions {
            if self.at == HANDLER && self.interrupted.is_none() {
                break; // the guest's end is before its handler
            }
            let Some(op) = GUEST.get(self.at as usize) else { break };
            self.at += 1;
            match *op {
                Op::Add(amount) => self.sum += amount,
                Op::JumpBelow(limit, target) if self.sum < limit => self.at = target,
                Op::JumpBelow(..) => {}
                Op::Wrmsr(number, value) => pmu.x86().wrmsr(number, value)?,
                Op::Rdpmc(number) => self.notes.push((self.sum, pmu.x86().rdpmc(number)?)),
                Op::Return => self.at = self.interrupted.take().unwrap_or(self.at),
            }
            if self.demand.epoch() != pmu.epoch() {
                self.demand = pmu.demand();
            }
            if self.demand.wants(Signal::InstructionsRetired) {
                pmu.totals().add(Signal::InstructionsRetired, 1);
            }
            pmu.totals().add(Signal::Cycles, 1);
            if pmu.due() {
                pmu.check();
            }
            if self.interrupted.is_none() && self.machine.line().0.swap(false, Ordering::Acquire) {
                self.interrupted = Some(std::mem::replace(&mut self.at, HANDLER));
            }
        }
        Ok(())
    }

    /// Between two instructions: everything that the machine remembers.
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        // The PMU comes first. An interrupt that comes due by saving is in the controller then, which is saved after it.
        let pmu = self.machine.save()?;
        let pending = u64::from(self.machine.line().0.load(Ordering::Acquire));
        let cpu = [self.at, self.sum, self.interrupted.unwrap_or(u64::MAX), pending];
        Ok(cpu.into_iter().flat_map(u64::to_le_bytes).chain(pmu).collect())
    }

    /// Makes the machine go on from there, or stay as it is.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let (cpu, pmu) = bytes.split_at_checked(CPU).ok_or(LoadError::Short(bytes.len()))?;
        // The PMU may refuse, and nothing is changed if it does.
        self.machine.load(pmu).map_err(LoadError::Pmu)?;
        let mut numbers = cpu.chunks_exact(8).map(|bytes| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        let mut next = || numbers.next().unwrap_or_default();
        (self.at, self.sum) = (next(), next());
        self.interrupted = Some(next()).filter(|address| *address != u64::MAX);
        self.machine.line().0.store(next() != 0, Ordering::Release);
        // What was translated for the demand before is not for this one.
        self.demand = self.machine.thread(0).map(|pmu| pmu.demand()).unwrap_or_default();
        Ok(())
    }
}

/// Saves a machine in its middle into `file`, and goes on in two. Returns what is printed.
fn go_on_from(file: &Path) -> Result<String, Box<dyn Error>> {
    let mut first = Toy::new()?;
    first.execute(130)?;
    fs::write(file, first.save()?)?;
    let mut text = format!("saved after {} additions and {} interrupt\n", first.sum, first.notes.len());
    first.notes.clear();

    let bytes = fs::read(file)?;
    let mut second = Toy::new()?;
    second.load(&bytes)?;
    for toy in [&mut first, &mut second] {
        toy.execute(u64::MAX)?;
        for (sum, counter) in &toy.notes {
            text += &format!("interrupt after {sum} additions, counter 0 reads {counter}\n");
        }
        text += &format!("ended after {} additions\n", toy.sum);
    }
    let agree = first.notes == second.notes && first.save()? == second.save()?;
    text += if agree { "both agree\n" } else { "they do not agree\n" };

    // What a file says that was written to a full disk.
    let before = second.save()?;
    for (place, length) in [("at its end", bytes.len() - 1), ("in the PMU's part", CPU + 10), ("in the CPU's part", CPU - 1)] {
        match second.load(bytes.get(..length).unwrap_or_default()) {
            Ok(()) => text += &format!("cut {place}: loaded\n"),
            Err(error) => text += &format!("cut {place}: {error}\n"),
        }
    }
    text += if second.save()? == before { "nothing has changed\n" } else { "something has changed\n" };
    Ok(text)
}

/// Runs it with a file of its own, which is gone afterwards. Returns what is printed.
pub(crate) fn run() -> Result<String, Box<dyn Error>> {
    let file: PathBuf = env::temp_dir().join(format!("vm-pmu-toy-{}.saved", process::id()));
    let text = go_on_from(&file);
    let removed = fs::remove_file(&file);
    let text = text?;
    removed?;
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run()?);
    Ok(())
}
