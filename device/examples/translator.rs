//! A machine of translated blocks with the PMU of an AMD K8, counted by a countdown: a block takes its instructions off at its entry and
//! counts nothing else, and yet its guest is interrupted every hundred events.
//!
//! The guest looks in its handler how far it has come. At the end it faults in the middle of a block.

use std::collections::HashMap;
use std::error::Error;

use vm_pmu::irq::Flags;
use vm_pmu::{Builder, Countdown, Cpu as Pmu, Pace, Signal, SignalSet};

/// What the CPU can do. It has one register, the sum.
#[derive(Clone, Copy)]
enum Op {
    /// Add 1 to the sum.
    Add,
    /// Nothing.
    Nop,
    /// Jump to an address if the sum is below a limit.
    JumpBelow(u64, usize),
    /// Write a model-specific register.
    Wrmsr(u32, u64),
    /// Read a counter, and note it with the sum.
    Rdpmc(u32),
    /// Fault.
    Undefined,
    /// Go back to what an interrupt or a fault left, beyond so many instructions.
    Return(usize),
    /// Halt for good.
    Halt,
}

const PERF_EVT_SEL_0: u32 = 0xC001_0000;
const PERF_EVT_SEL_1: u32 = 0xC001_0001;
const PERF_CTR_0: u32 = 0xC001_0004;
/// Retired instructions, to which exceptions and interrupts belong; OS, INT, EN.
const RETIRED_INSTRUCTIONS: u64 = 0x0052_00C0;
/// Retired branches, to which exceptions and interrupts belong; OS, EN.
const RETIRED_BRANCHES: u64 = 0x0042_00C2;
const EVERY_HUNDRED: u64 = 0u64.wrapping_sub(100);

const GUEST: [Op; 16] = [
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Wrmsr(PERF_EVT_SEL_1, RETIRED_BRANCHES),
    Op::Wrmsr(PERF_EVT_SEL_0, RETIRED_INSTRUCTIONS),
    Op::Add,
    Op::Nop,
    Op::Add,
    Op::JumpBelow(150, 3),
    Op::Add,
    Op::Undefined,
    Op::Rdpmc(1),
    Op::Halt,
    // The interrupt handler, which is not interrupted.
    Op::Rdpmc(0),
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Return(0),
    // The handler of faults.
    Op::Rdpmc(0),
    Op::Return(1),
];
const ON_INTERRUPT: usize = 11;
const ON_FAULT: usize = 14;

/// A translated block: all that its execution needs to know of the PMU is a constant.
struct Block {
    ops: &'static [Op],
    takes: u64,
}

/// Takes instructions off, that is, what so many of them take off.
fn takes(ops: &[Op]) -> u64 {
    let branches = ops.iter().filter(|op| matches!(op, Op::JumpBelow(..))).count();
    Countdown::takes(ops.len() as u32, branches as u32)
}

/// The block of at most `most` instructions at an address. A transfer of control is the last of its block, and so is an access to a register.
fn translate(at: usize, most: u32) -> Block {
    let rest = GUEST.get(at..).unwrap_or_default();
    let ends = |op: &Op| matches!(op, Op::JumpBelow(..) | Op::Wrmsr(..) | Op::Rdpmc(_) | Op::Return(_) | Op::Halt);
    let length = rest.iter().position(ends).map_or(rest.len(), |last| last + 1);
    let ops = &rest[..length.min(most as usize)];
    Block { ops, takes: takes(ops) }
}

/// What was read: the sum, the counter and its value.
type Note = (u64, u32, u64);

struct Cpu<'a> {
    pmu: Pmu<'a, Flags>,
    /// Where it is, and how its sum stands.
    at: usize,
    sum: u64,
    halted: bool,
    /// The addresses that handlers go back to.
    left: Vec<usize>,
    notes: Vec<Note>,
}

impl Cpu<'_> {
    /// Goes to a handler, which counts as an event, and takes a cycle.
    fn deliver(&mut self, handler: usize, event: Signal) {
        self.left.push(self.at);
        self.at = handler;
        self.pmu.retire(&[event], 1);
    }

    /// Executes a block that was entered.
    fn execute(&mut self, ops: &[Op]) -> Result<(), Box<dyn Error>> {
        for (index, op) in ops.iter().enumerate() {
            let mut next = self.at + 1;
            match *op {
                Op::Add => self.sum += 1,
                Op::Nop => {}
                Op::JumpBelow(limit, target) => next = if self.sum < limit { target } else { next },
                Op::Wrmsr(number, value) => self.pmu.access(|pmu| pmu.x86().wrmsr(number, value))?,
                Op::Rdpmc(number) => {
                    let value = self.pmu.access(|pmu| pmu.x86().rdpmc(number))?;
                    self.notes.push((self.sum, number, value));
                }
                Op::Undefined => {
                    // This instruction and those behind it have been taken off, and were not executed.
                    self.pmu.take_back(takes(&ops[index..]));
                    self.deliver(ON_FAULT, Signal::ExceptionsTaken);
                    return Ok(());
                }
                Op::Return(beyond) => next = self.left.pop().unwrap_or_default() + beyond,
                Op::Halt => self.halted = true,
            }
            self.at = next;
        }
        Ok(())
    }
}

fn execute() -> Result<Vec<Note>, Box<dyn Error>> {
    // An instruction is a cycle, and adds one at most to what else is counted.
    let single =
        SignalSet::from_iter([Signal::InstructionsRetired, Signal::BranchesRetired, Signal::ExceptionsTaken, Signal::InterruptsTaken]);
    let builder = Builder::new("k8")?.pace(Pace::default().single(single));
    let machine = builder.supplies(single).build(Flags::new(1))?;
    let countdown = Countdown::new().paired(Signal::BranchesRetired);
    let pmu = Pmu::with_countdown(machine.thread(0).ok_or("no such thread")?, countdown);
    let mut cpu = Cpu { pmu, at: 0, sum: 0, halted: false, left: Vec::new(), notes: Vec::new() };
    let mut translated = HashMap::new();
    let mut most = u32::MAX;
    while !cpu.halted {
        // An interrupt waits until the handler has returned.
        if cpu.left.is_empty() && cpu.pmu.take_interrupt() {
            cpu.deliver(ON_INTERRUPT, Signal::InterruptsTaken);
        }
        let block = translated.entry((cpu.at, most)).or_insert_with(|| translate(cpu.at, most));
        if cpu.pmu.enter(block.takes) {
            most = u32::MAX;
            cpu.execute(block.ops)?;
        } else {
            // The rest of it comes with the next block. Interrupts come first.
            most = cpu.pmu.refill(block.ops.len() as u32);
        }
    }
    Ok(cpu.notes)
}

/// Runs the guest. Returns what is printed.
pub(crate) fn run() -> Result<String, Box<dyn Error>> {
    // A counter has 48 bits, of which the uppermost is the sign.
    let line =
        |(sum, number, value): &(u64, u32, u64)| format!("after {sum} additions counter {number} reads {}\n", (*value << 16) as i64 >> 16);
    Ok(execute()?.iter().map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run()?);
    Ok(())
}
