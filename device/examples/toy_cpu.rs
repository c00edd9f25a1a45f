//! A CPU of six instructions, with the PMU of an AMD K8: all that attaching one takes.
//!
//! Its guest counts the instructions that it retires, is interrupted every hundred of them, and looks in the handler how far it has come.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

use vm_pmu::topology::Builder;
use vm_pmu::{Context, Signal};

/// What the CPU can do. It has one register, the sum.
#[derive(Clone, Copy)]
enum Op {
    /// Add to the sum.
    Add(u64),
    /// Jump to an address if the sum is below a limit.
    JumpBelow(u64, usize),
    /// Write a model-specific register.
    Wrmsr(u32, u64),
    /// Read a counter, and note it with the sum.
    Rdpmc(u32),
    /// Return from an interrupt.
    Return,
    /// Halt for good.
    Halt,
}

const PERF_EVT_SEL_0: u32 = 0xC001_0000;
const PERF_CTR_0: u32 = 0xC001_0004;
/// Retired instructions; OS, INT, EN.
const RETIRED_INSTRUCTIONS: u64 = 0x0052_00C0;
const EVERY_HUNDRED: u64 = 0u64.wrapping_sub(100);

const GUEST: [Op; 8] = [
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Wrmsr(PERF_EVT_SEL_0, RETIRED_INSTRUCTIONS),
    Op::Add(1),
    Op::JumpBelow(150, 2),
    Op::Halt,
    // The interrupt handler.
    Op::Rdpmc(0),
    Op::Wrmsr(PERF_CTR_0, EVERY_HUNDRED),
    Op::Return,
];
const HANDLER: usize = 5;

// The CPU and its PMU begin here.
fn execute() -> Result<Vec<(u64, u64)>, Box<dyn Error>> {
    let pending = AtomicBool::new(false);
    let machine = Builder::new("k8").ok_or("no such part")?.build(|_thread, _counter| pending.store(true, Ordering::Release));
    let pmu = machine.thread(0).ok_or("no such thread")?;
    let (mut at, mut sum, mut interrupted, mut notes) = (0, 0, None, Vec::new());
    pmu.set_context(Context::x86(0, 0x202, 0)); // privilege level 0, interrupts on
    let mut demand = pmu.demand();
    while let Some(op) = GUEST.get(at) {
        at += 1;
        match *op {
            Op::Add(amount) => sum += amount,
            Op::JumpBelow(limit, target) if sum < limit => at = target,
            Op::JumpBelow(..) => {}
            Op::Wrmsr(number, value) => pmu.wrmsr(number, value)?,
            Op::Rdpmc(number) => notes.push((sum, pmu.rdpmc(number)?)),
            Op::Return => at = interrupted.take().unwrap_or(at),
            Op::Halt => break,
        }
        if demand.epoch() != pmu.epoch() {
            demand = pmu.demand();
        }
        if demand.wants(Signal::InstructionsRetired) {
            pmu.totals().add(Signal::InstructionsRetired, 1);
        }
        pmu.totals().add(Signal::Cycles, 1);
        if pmu.due() {
            pmu.check();
        }
        if interrupted.is_none() && pending.swap(false, Ordering::Acquire) {
            interrupted = Some(std::mem::replace(&mut at, HANDLER));
        }
    }
    Ok(notes)
}
// The CPU and its PMU end here.

/// Runs the guest. Returns what is printed.
pub(crate) fn run() -> Result<String, Box<dyn Error>> {
    let line = |(sum, counter): &(u64, u64)| format!("interrupt after {sum} additions, counter 0 reads {counter}\n");
    Ok(execute()?.iter().map(line).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run()?);
    Ok(())
}
