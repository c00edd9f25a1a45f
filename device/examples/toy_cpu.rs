//! A CPU of eight instructions, with the PMU of an AMD K8: all that attaching one takes, faults, levels and interrupts included.
//!
//! Its kernel counts what level 3 does, is interrupted every hundred events, and looks in the handler how far its program has come. At the
//! end the program reads a counter itself, which it may not: RDPMC faults without CR4.PCE.

use std::error::Error;

use vm_pmu::irq::Flags;
use vm_pmu::{Builder, Context, Cpu, Fault, Signal};

/// What the CPU can do. It has one register, the sum.
#[derive(Clone, Copy)]
enum Op {
    /// Add to the sum.
    Add(u64),
    /// Load from memory.
    Load,
    /// Jump to an address if the sum is below a limit.
    JumpBelow(u64, usize),
    /// Write a model-specific register.
    Wrmsr(u32, u64),
    /// Read a counter, and note it with the sum.
    Rdpmc(u32),
    /// Go to an address at level 3.
    Enter(usize),
    /// Go back to what an interrupt or a fault left, beyond so many instructions.
    Return(usize),
    /// Halt for good.
    Halt,
}

const EFER: u32 = 0xC000_0080;
const PERF_EVT_SEL_0: u32 = 0xC001_0000;
const PERF_CTR_0: u32 = 0xC001_0004;
/// Retired instructions, to which exceptions and interrupts belong; USR, INT, EN.
const RETIRED_INSTRUCTIONS: u64 = 0x0051_00C0;
const EVERY_HUNDRED: u64 = 0u64.wrapping_sub(100);

const GUEST: [Op; 14] = [
    Op::Wrmsr(EFER, 0x501),
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Wrmsr(PERF_EVT_SEL_0, RETIRED_INSTRUCTIONS),
    Op::Enter(4),
    // The program.
    Op::Load,
    Op::Add(1),
    Op::JumpBelow(150, 4),
    Op::Rdpmc(0),
    Op::Halt,
    // The interrupt handler.
    Op::Rdpmc(0),
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Return(0),
    // The handler of general-protection faults.
    Op::Rdpmc(0),
    Op::Return(1),
];
const ON_INTERRUPT: usize = 9;
const ON_FAULT: usize = 12;

const ANY: &[Signal] = &[Signal::InstructionsRetired];
const LOAD: &[Signal] = &[Signal::InstructionsRetired, Signal::Loads, Signal::DataCacheAccesses];
const TAKEN: &[Signal] = &[Signal::InstructionsRetired, Signal::BranchesRetired, Signal::BranchesTaken, Signal::ConditionalBranchesTaken];
const NOT_TAKEN: &[Signal] = &[Signal::InstructionsRetired, Signal::BranchesRetired, Signal::ConditionalBranchesNotTaken];
const FAR: &[Signal] = &[Signal::InstructionsRetired, Signal::FarTransfers];

fn execute() -> Result<Vec<(u64, u64)>, Box<dyn Error>> {
    let machine = Builder::new("k8")?.build(Flags::new(1))?;
    let mut pmu = Cpu::new(machine.thread(0).ok_or("no such thread")?);
    let (mut at, mut level, mut sum) = (0, 0, 0);
    let (mut left, mut notes) = (Vec::new(), Vec::new());
    while let Some(op) = GUEST.get(at) {
        let (mut next, mut new_level) = (at + 1, level);
        let done = match *op {
            Op::Add(amount) => {
                sum += amount;
                Ok(ANY)
            }
            Op::Load => Ok(LOAD),
            Op::JumpBelow(limit, target) if sum < limit => {
                next = target;
                Ok(TAKEN)
            }
            Op::JumpBelow(..) => Ok(NOT_TAKEN),
            Op::Wrmsr(number, value) => match pmu.access(|pmu| pmu.x86().wrmsr(number, value)) {
                // The CPU's own register.
                Err(Fault::Unclaimed) if number == EFER && level == 0 => Ok(ANY),
                answer => answer.map(|()| ANY),
            },
            Op::Rdpmc(number) => pmu.access(|pmu| pmu.x86().rdpmc(number)).map(|value| {
                notes.push((sum, value));
                ANY
            }),
            Op::Enter(target) => {
                (next, new_level) = (target, 3);
                Ok(FAR)
            }
            Op::Return(beyond) => {
                let (from, of) = left.pop().unwrap_or((at, level));
                (next, new_level) = (from + beyond, of);
                Ok(FAR)
            }
            Op::Halt => break,
        };
        // What happened belongs to the level at which it began.
        pmu.retire(done.unwrap_or(&[Signal::ExceptionsTaken]), 1);
        let mut handler = done.is_err().then_some((ON_FAULT, at));
        // The kernel of this guest runs with interrupts masked, its program does not.
        if level == 3 && handler.is_none() && pmu.take_interrupt() {
            pmu.retire(&[Signal::InterruptsTaken], 1);
            handler = Some((ON_INTERRUPT, next));
        }
        if let Some((address, from)) = handler {
            left.push((from, new_level));
            (next, new_level) = (address, 0);
        }
        at = next;
        if level != new_level {
            level = new_level;
            pmu.set_context(Context::x86(level, 0x202, 0)); // RFLAGS with IF, CR4 without PCE
        }
    }
    Ok(notes)
}

/// Runs the guest. Returns what is printed.
pub(crate) fn run() -> Result<String, Box<dyn Error>> {
    // A counter has 48 bits, of which the uppermost is the sign.
    let line = |(sum, counter): &(u64, u64)| format!("after {sum} additions counter 0 reads {}\n", (*counter << 16) as i64 >> 16);
    Ok(execute()?.iter().map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run()?);
    Ok(())
}
