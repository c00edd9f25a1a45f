//! 64-bit x86: Unicorn executes the instructions of the interpreter's machine.
//!
//! # Who does what
//!
//! The board, which is the interpreter's, fetches each instruction, delivers interrupts and exceptions through the guest's tables, has the
//! local APIC, time, halting and everything outside the processor. Unicorn executes ordinary instructions: moves, arithmetic, near
//! transfers, strings, vector moves, with its own translation of addresses on the guest's page tables, and its own translated code. The
//! module `division` lists what it does not execute.
//!
//! An instruction that raises an exception in Unicorn, or accesses something other than RAM, has changed nothing: the board executes it
//! then, so a fault has the code and the addresses that the architecture wants, and a device sees one access.
//!
//! # Step by step, or a block at one go
//!
//! Where an observer must be notified of each instruction (records are wanted, a companion follows, a deadline is near), Unicorn executes
//! one instruction at a time, and its hooks report the accesses. Otherwise blocks run at one go, one after the other without leaving
//! Unicorn: a block takes its instructions off a [`Countdown`] that the observer has filled, and is not entered where they do not fit. What
//! else it adds is worked out when it is first seen ([`Facts`](crate::blocks::Facts)).

mod block;
mod division;
mod learn;
mod processor;
mod tap;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use unicorn_engine::uc_error;
use vm_pmu::Countdown;

use self::learn::learn;
use self::processor::{Pace, Processor};
use self::tap::{Pause, Tap};
use crate::memory::Memory;
use crate::x86::executor::Executor;
use crate::x86::executor::inside::{Core, Decoded, Fault, Op, RFLAGS_TRAP, Stop, canonical, execute};
use crate::x86::{CpuView, Machine, Observer};

/// Counts of what each part executed, on all CPUs of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Instructions that Unicorn executed one at a time.
    pub single: u64,
    /// Instructions that Unicorn executed in blocks.
    pub in_blocks: u64,
    /// Blocks that ran at one go.
    pub blocks: u64,
    /// Instructions that the board executed.
    pub on_board: u64,
}

/// Has Unicorn execute the instructions of `machine`, which must not have run. Its CPUs take turns; [`Mode::Parallel`] is not for it. The
/// tally of each run is available after it.
///
/// [`Mode::Parallel`]: crate::x86::Mode::Parallel
///
/// ```
/// use std::sync::Arc;
/// use vm_pmu_engines::x86::{Config, EmptyBus, Exit, Image, Limits, Machine, Unobserved};
/// use vm_pmu_engines::unicorn::x86::execute_with_unicorn;
///
/// // MOV EAX, 7, then OUT F4h, AL.
/// let image = Image::raw(0x10_0000, vec![0xB8, 7, 0, 0, 0, 0xE6, 0xF4]);
/// let mut machine = Machine::new(&Config::default(), &image, Arc::new(EmptyBus), |_| Unobserved)?;
/// let tallies = execute_with_unicorn(&mut machine)?;
/// assert_eq!(machine.run(Limits::NONE), Exit::Status { cpu: 0, status: 7 });
/// // Ports are the board's.
/// assert_eq!(tallies.get().on_board, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The error of Unicorn.
pub fn execute_with_unicorn<O: Observer>(machine: &mut Machine<O>) -> Result<Tallies, UnicornError> {
    let tallies = Tallies::default();
    machine.executed_by(|_, memory| {
        let unicorn = Unicorn::new(memory, &tallies)?;
        Ok::<Box<dyn Executor<O>>, UnicornError>(Box::new(unicorn))
    })?;
    Ok(tallies)
}

/// Why Unicorn cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnicornError(uc_error);

impl From<uc_error> for UnicornError {
    fn from(error: uc_error) -> UnicornError {
        UnicornError(error)
    }
}

impl fmt::Display for UnicornError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unicorn refuses to make a processor: {:?}", self.0)
    }
}

impl std::error::Error for UnicornError {}

/// The tally of a machine, as it grows.
#[derive(Clone, Debug, Default)]
pub struct Tallies(Arc<[AtomicU64; 4]>);

impl Tallies {
    /// The tally so far.
    #[must_use]
    pub fn get(&self) -> Tally {
        let [single, in_blocks, blocks, on_board] = &*self.0;
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Tally { single: value(single), in_blocks: value(in_blocks), blocks: value(blocks), on_board: value(on_board) }
    }

    fn add(&self, tally: Tally) {
        let [single, in_blocks, blocks, on_board] = &*self.0;
        for (count, more) in [(single, tally.single), (in_blocks, tally.in_blocks), (blocks, tally.blocks), (on_board, tally.on_board)] {
            if more != 0 {
                count.fetch_add(more, Ordering::Relaxed);
            }
        }
    }
}

/// The executor of one CPU: an emulator for each level and pace, of which one runs at a time.
struct Unicorn {
    memory: Arc<Memory>,
    stepwise: [Processor; 2],
    /// Made when they are first wanted: a machine of several CPUs never does.
    blocks: [Option<Processor>; 2],
    tallies: Tallies,
}

/// Which of two emulators is that of a privilege level.
fn level(core: &Core) -> usize {
    usize::from(core.cpl == 3)
}

impl Unicorn {
    fn new(memory: &Arc<Memory>, tallies: &Tallies) -> Result<Unicorn, uc_error> {
        let stepwise = [Processor::new(memory, 0, Pace::Stepwise)?, Processor::new(memory, 3, Pace::Stepwise)?];
        Ok(Unicorn { memory: Arc::clone(memory), stepwise, blocks: [None, None], tallies: tallies.clone() })
    }

    /// Executes one instruction. `None` where the board must: nothing has changed then.
    fn step(&mut self, core: &mut Core, decoded: &Decoded) -> Result<Option<()>, uc_error> {
        let Some(processor) = self.stepwise.get_mut(level(core)) else { return Ok(None) };
        processor.take_over(core)?;
        processor.refresh(core.rip, core.step.physical, &self.memory)?;
        processor.tap().begin();
        let (rip, stopped) = processor.run(core.rip, Some(1))?;
        // If only the fetch of the next instruction fails, this one is complete, and the failure belongs to the next. An instruction that
        // would overwrite code that Unicorn has translated with it is begun anew, and is still where it was.
        let complete = if division::is_transfer(decoded) { !stopped || rip != core.rip } else { rip == core.next };
        if !complete || !canonical(rip) {
            return Ok(None);
        }
        conclude(core, decoded, rip, processor.tap());
        processor.give_back(core);
        if decoded.info.facts.simd.is_some() {
            processor.give_vectors_back(core)?;
        }
        Ok(Some(()))
    }

    /// Runs blocks within the countdown; how many instructions they had.
    fn run_blocks<O: Observer>(&mut self, core: &mut Core, observer: &mut O, countdown: Countdown) -> Result<u32, uc_error> {
        let Some(place) = self.blocks.get_mut(level(core)) else { return Ok(0) };
        let processor = match place {
            Some(processor) => processor,
            None => place.insert(Processor::new(&self.memory, core.cpl, Pace::Blocks)?),
        };
        processor.take_over(core)?;
        processor.tap().start(countdown, observer.edition());
        let before = core.rip;
        let result = run_on(processor, core, observer);
        let tap = processor.tap();
        let (blocks, done) = (std::mem::take(&mut tap.whole), tap.countdown.taken());
        self.tallies.add(Tally { in_blocks: done, blocks, ..Tally::default() });
        result?;
        if done != 0 {
            let after = std::mem::replace(&mut core.rip, before);
            observer.ran(&tap.countdown, &tap.sums, &CpuView::new(core));
            core.rip = after;
            core.cycles = core.cycles.wrapping_add(done);
        }
        // Not more than the countdown had.
        Ok(u32::try_from(done).unwrap_or(u32::MAX))
    }
}

/// Runs blocks on one emulator, until one comes that must not, and leaves the CPU in the state they left.
fn run_on<O: Observer>(processor: &mut Processor, core: &mut Core, observer: &mut O) -> Result<(), uc_error> {
    let mut rip = core.rip;
    if !processor.tap().is_worth_it(rip) {
        return Ok(());
    }
    loop {
        processor.tap().begin();
        let (next, stopped) = processor.run(rip, None)?;
        rip = next;
        let tap = processor.tap();
        if stopped || tap.cut {
            // In the middle of a block, or after it.
            if let Some(facts) = tap.interrupted(rip).and_then(|steps| observer.facts(steps)) {
                tap.sums.add(&facts);
            }
        } else {
            tap.settle(rip);
        }
        let Pause::Unknown { address, size } = tap.pause else { break };
        if !meet(processor, core, observer, address, size)? {
            break;
        }
    }
    core.rip = rip;
    processor.give_back(core);
    processor.give_vectors_back(core)
}

/// Gets to know a block; whether it was new.
fn meet<O: Observer>(processor: &mut Processor, core: &Core, observer: &O, address: u64, size: u32) -> Result<bool, uc_error> {
    let Some(physical) = core.page_walk(address).map(|walk| walk.physical) else { return Ok(false) };
    processor.refresh(address, physical, &core.shared.memory)?;
    let learned = learn(core, observer, address, physical, size);
    if let Some(stop) = learned.stop.filter(|stop| *stop != address) {
        processor.stop_at(stop, (address, size))?;
    }
    processor.tap().learn(address, learned.block);
    Ok(true)
}

/// What an instruction did that Unicorn executed, for the step and for where execution continues. The registers are still those before it.
fn conclude(core: &mut Core, decoded: &Decoded, rip: u64, tap: &Tap) {
    let together = matches!(decoded.op, Op::MovX | Op::XorX);
    let mut counts = [0; 2];
    for seen in tap.accesses() {
        let count = &mut counts[usize::from(seen.is_write)];
        *count += 1;
        let again = *count > 1;
        // Unicorn moves a vector in halves.
        if together && again {
            continue;
        }
        let size = if together { 16 } else { seen.size };
        let address = division::address(core, decoded, seen.is_write, again);
        core.record(address, seen.physical, size, seen.is_write, decoded.info.facts.locked);
    }
    core.step.code_written |= tap.code_written;
    if division::is_conditional(decoded) {
        let taken = rip != core.next;
        core.branch(learn::kind(decoded), taken, core.next.wrapping_add(decoded.immediate));
    } else if division::is_transfer(decoded) {
        core.branch(learn::kind(decoded), true, rip);
    }
}

impl<O: Observer> Executor<O> for Unicorn {
    fn execute(&mut self, core: &mut Core, decoded: &Decoded, observer: &mut O) -> Result<(), Fault> {
        let aligned = !division::must_be_aligned(decoded) || core.linear(decoded).is_multiple_of(16);
        if division::is_executed(decoded) && aligned && core.rflags & RFLAGS_TRAP == 0 {
            // Should Unicorn fail where it must not, the board continues.
            if let Ok(Some(())) = self.step(core, decoded) {
                self.tallies.add(Tally { single: 1, ..Tally::default() });
                return Ok(());
            }
        }
        self.tallies.add(Tally { on_board: 1, ..Tally::default() });
        execute(core, decoded, observer)
    }

    fn run(&mut self, core: &mut Core, observer: &mut O, most: u32) -> u32 {
        if core.matching || core.rflags & RFLAGS_TRAP != 0 {
            return 0;
        }
        let Some(countdown) = observer.headroom(&CpuView::new(core)) else { return 0 };
        countdown.limit(most.into());
        self.run_blocks(core, observer, countdown).unwrap_or_else(|_| {
            // How far it got is unknown.
            core.stop(Stop::Executor { rip: core.rip, reason: "Unicorn refused to go on".to_owned() });
            0
        })
    }
}
