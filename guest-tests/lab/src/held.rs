//! A machine that is held between two steps: what a debugger and the live view run a guest by.
//!
//! The interpreters take steps alone. How often they are stopped makes no difference to a guest: counts are those of a run in one go.

mod machines;

pub(crate) use machines::{Ia64, Power, X86};

use std::fmt::Debug;
use std::sync::Arc;

use vm_pmu::Part;
use vm_pmu::arch::access::{Address, Fault};
use vm_pmu::arch::feed::Context;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::irq::InterruptLine;
use vm_pmu::topology::{self, Thread};
use vm_pmu_board::Lines;
use vm_pmu_board::trace::{self, Value};

use crate::report::Register;
use crate::symbols::Symbols;

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The status that the guest ended with, if it ended by itself.
    pub status: Option<u8>,
    /// The same in words.
    pub words: String,
}

/// Where a thread is, between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The address of its next instruction.
    pub address: u64,
    /// Instructions that it has retired.
    pub instructions: u64,
    /// Cycles that have passed for it.
    pub cycles: u64,
    /// What its PMU knows of it.
    pub context: Context,
    /// Whether its PMU is frozen; `None` of a part whose counters stop one by one.
    pub frozen: Option<bool>,
}

/// A machine between two steps.
pub trait Held {
    /// Takes a step of the thread whose turn it is: an instruction, an interrupt or an exception. Says how the run has ended, if it has.
    fn step(&mut self) -> Option<Stop>;

    /// Lets time pass until a thread can take a step, and says which takes the next one.
    ///
    /// # Errors
    /// How the run has ended, if it has: nothing can take a step.
    fn prepare(&mut self) -> Result<usize, Stop>;

    /// The PMUs.
    fn pmus(&self) -> &topology::Machine<Lines>;

    /// How many threads the guest has.
    fn threads(&self) -> usize;

    /// The address of a thread's next instruction, instructions that it has retired, and cycles that have passed for it.
    fn place(&self, thread: usize) -> Option<(u64, u64, u64)>;

    /// Writes a register of a thread's PMU as the most privileged software would.
    ///
    /// # Errors
    /// The fault that such software would get; then nothing is written.
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault>;

    /// The part.
    fn part(&self) -> Part {
        self.pmus().part()
    }

    /// Where a thread is.
    fn seen(&self, thread: usize) -> Option<Seen> {
        let (address, instructions, cycles) = self.place(thread)?;
        let thread = self.pmus().thread(thread)?;
        Some(Seen { address, instructions, cycles, context: thread.context(), frozen: trace::frozen(&thread.state()) })
    }

    /// The registers of a thread's PMU, each once, without those of boxes.
    fn pmu_registers(&self, thread: usize) -> Vec<&'static RegisterDescription> {
        self.pmus().thread(thread).map(|thread| trace::sampled(&thread)).unwrap_or_default()
    }

    /// Puts what `registers` hold into `values`.
    fn update(&self, thread: usize, registers: &[&'static RegisterDescription], values: &mut Vec<Value>) {
        if let Some(thread) = self.pmus().thread(thread) {
            trace::update(&thread, registers, values);
        }
    }
}

/// Somebody who runs a machine step by step.
pub trait Drive: Debug + Send + Sync {
    /// The guest's file says this of its addresses.
    fn begin(&self, _symbols: &Symbols) {}

    /// Runs a machine for at most `steps`.
    fn drive(&self, machine: &mut dyn Held, steps: u64) -> Driven;
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driven {
    /// The run has ended, by itself or at the limit of steps.
    Ended,
    /// The machine is let go, and so many steps are left.
    Released(u64),
    /// The run is over before its end, in these words.
    Killed(&'static str),
}

/// Somebody whom several owners share. Two are equal if they are the same.
#[derive(Clone, Debug)]
pub struct Driver(pub Arc<dyn Drive>);

impl PartialEq for Driver {
    fn eq(&self, other: &Driver) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Driver {}

/// The registers of thread `index`, as far as it may read them now.
pub(crate) fn registers<L: InterruptLine>(index: usize, thread: &Thread<'_, L>) -> Vec<Register> {
    let shown = |register: &&RegisterDescription| match register.address {
        Address::Rdpmc(_) => false,
        // By their privileged numbers: those of problem state show the same.
        Address::Spr(768..=783) => false,
        _ => true,
    };
    let value = |register: &RegisterDescription| {
        let value = thread.look(register.address).ok()?;
        Some(Register { thread: index, name: register.name.to_owned(), value })
    };
    thread.registers().iter().filter(shown).filter_map(value).collect()
}
