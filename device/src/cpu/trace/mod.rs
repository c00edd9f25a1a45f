//! Traces of translated blocks: what a CPU has executed since it last reported to the companion.
//!
//! A translator makes a [`Block`] of everything that it knows of a block before it is executed. Generated code writes the rest into a buffer: an
//! entry for the block, and one for each access to memory. [`Cpu::execute_trace`] takes many blocks in one call.

use vm_pmu_arch::feed::{Branch, ExecutionUnit, Memory, Occasion, Record, Records, Sample, Signal};

use super::{Counts, Cpu, MOST_STATES, Observer, Step};
use crate::companion::{Access, AccessKind, Block, Class, Follower, Instruction, PageTables, Transfer};
use crate::countdown::Countdown;
use crate::irq::InterruptLine;
use crate::topology::Thread;

/// More than an instruction of up to four accesses adds to any signal that the companion makes: with its fetch it is in ten lines at most, whose
/// pages a nested walk of at most 24 entries finds.
pub(super) const MOST_EVENTS: u64 = 256;

/// More than an instruction of up to four accesses, each of which waits for others, takes cycles.
const MOST_CYCLES: u64 = 4096;

/// The accesses of an instruction that are reported together.
const MOST_ACCESSES: usize = 64;

/// An entry of a trace.
///
/// Generated code writes the first two fields, of which `what` is a constant of the block. Its bits 56 to 63 belong to the embedder, which may keep
/// there how it translates the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Traced {
    /// The kind of the entry in bits 0 and 1; the number of an instruction in bits 32 to 55; and of an access its kind in bits 8 to 15, its
    /// size in bytes in bits 16 to 23, and its flags in bits 24 to 31.
    pub what: u64,
    /// The virtual address of an access; what [`Blocks`] know a block by.
    pub address: u64,
    /// The physical address of an access.
    pub physical: u64,
}

/// A block is entered, at the instruction of this number.
const BLOCK: u64 = 0;
/// The instruction of this number has made an access.
const ACCESS: u64 = 1;
/// The block was left after so many of its instructions.
const LEFT: u64 = 2;
const KINDS: u64 = 3;

const KIND: u32 = 8;
const SIZE: u32 = 16;
const FLAGS: u32 = 24;
const NUMBER: u32 = 32;
const NUMBERS: u64 = 0xFF_FFFF;

impl Traced {
    /// In bits 24 to 31 of an access: it is part of a locked read-modify-write.
    pub const LOCKED: u64 = 1;
    /// In bits 24 to 31 of an access: it goes to a device, or to memory that is not cached.
    pub const UNCACHED: u64 = 2;

    /// A block is entered at its instruction number `first`, which is 0 unless a part of it has been reported before.
    #[must_use]
    pub const fn block(address: u64, first: u32) -> Traced {
        Traced { what: BLOCK | (first as u64 & NUMBERS) << NUMBER, address, physical: 0 }
    }

    /// Instruction `number` of the block has made an access. The accesses of an instruction come in order.
    #[must_use]
    pub const fn access(number: u32, access: &Access) -> Traced {
        let locked = if access.locked { Traced::LOCKED } else { 0 };
        let flags = if access.uncached { locked | Traced::UNCACHED } else { locked };
        let shape = (access.kind as u64) << KIND | (access.size as u64) << SIZE | flags << FLAGS;
        Traced { what: ACCESS | shape | (number as u64 & NUMBERS) << NUMBER, address: access.address, physical: access.physical }
    }

    /// The block was left after `executed` of its instructions; accesses of others are not part of what was executed.
    #[must_use]
    pub const fn left(executed: u32) -> Traced {
        Traced { what: LEFT | (executed as u64 & NUMBERS) << NUMBER, address: 0, physical: 0 }
    }

    #[inline(always)]
    fn number(&self) -> usize {
        (self.what >> NUMBER & NUMBERS) as usize
    }

    /// The access of an entry, unless its kind is none.
    #[inline(always)]
    fn of_access(&self) -> Option<Access> {
        let kind = *AccessKind::ALL.get((self.what >> KIND & 0xFF) as usize)?;
        let flag = |flag: u64| self.what >> FLAGS & flag != 0;
        Some(Access {
            address: self.address,
            physical: self.physical,
            size: (self.what >> SIZE) as u8,
            kind,
            locked: flag(Traced::LOCKED),
            uncached: flag(Traced::UNCACHED),
        })
    }
}

/// The blocks of a translator.
pub trait Blocks {
    /// Returns the block that [`Traced::address`] names, if there is one.
    fn block(&self, address: u64) -> Option<&Block>;
}

impl Blocks for [Block] {
    #[inline]
    fn block(&self, address: u64) -> Option<&Block> {
        usize::try_from(address).ok().and_then(|number| self.get(number))
    }
}

/// The block that is being executed.
struct Current<'b> {
    block: &'b Block,
    /// The first instruction that the follower has not got.
    next: usize,
}

/// The accesses of an instruction that is not complete.
struct Pending {
    number: usize,
    accesses: [Access; MOST_ACCESSES],
    count: usize,
}

impl Pending {
    fn all(&self) -> &[Access] {
        self.accesses.get(..self.count).unwrap_or(&[])
    }
}

/// Where the instructions of a trace go.
struct Execution<'e, 'a, L, T> {
    follower: &'e mut Follower<'a>,
    observer: &'e mut Observer<'a>,
    tables: &'e mut T,
    thread: Thread<'a, L>,
    pending: Pending,
    countdown: &'e Countdown,
    /// The emulator's states that hold in each cycle, if the companion makes the cycles.
    held: Option<&'e [Signal]>,
    /// Whether the instruction that was executed last is a branch, until it is delivered.
    last: Option<bool>,
}

/// The last instruction of a trace, whose record is wanted if it reaches a deadline.
struct Last(Option<Record>);

impl Step for Last {
    fn count(&self, _counts: &Counts<'_>) {}

    fn occasion(&self) -> Occasion {
        self.0.as_ref().map_or(Occasion::default(), Occasion::of)
    }

    fn record(&self) -> Option<Record> {
        self.0
    }
}

/// Returns what is known of an instruction before the companion adds to it.
fn record_of(instruction: &Instruction<'_>) -> Record {
    let branch = instruction.transfer.map(|Transfer { kind, taken, target }| Branch::new(kind, taken, target));
    let stores = |access: &Access| access.kind == AccessKind::Store;
    let memory = instruction.accesses.first().map(|first| Memory {
        load: !instruction.accesses.iter().all(stores),
        store: instruction.accesses.iter().any(stores),
        ..Memory::load(first.address, first.size)
    });
    let sample = Sample { unit: unit_of(instruction.class), ..Sample::default() };
    Record { branch, memory, sample, ..Record::at(instruction.address) }
}

/// Returns the unit of POWER that executes instructions of this class, unless their branch or access says it.
fn unit_of(class: Class) -> ExecutionUnit {
    match class {
        Class::FloatAdd
        | Class::FloatMultiply
        | Class::FloatMultiplyAdd
        | Class::FloatDivide
        | Class::FloatSquareRoot
        | Class::FloatCompare
        | Class::FloatConvert
        | Class::FloatMove
        | Class::FloatEstimate
        | Class::Decimal
        | Class::Vector
        | Class::VectorMultiply
        | Class::VectorPermute
        | Class::Crypto => ExecutionUnit::VectorScalar,
        _ => ExecutionUnit::Unknown,
    }
}

impl<L: InterruptLine> Cpu<'_, L> {
    /// Reports the blocks that the CPU has executed since the last call to the companion. `tables` are walked when no translation buffer holds an
    /// address. Only while it [is followed](Cpu::is_followed); all of them were [entered](Cpu::enter), and
    /// [`complete_trace`](Cpu::complete_trace) comes next.
    ///
    /// The last block is complete, and the CPU goes on at `next`, unless its entry that it was [left](Traced::left) comes last. An entry that
    /// names no block or no instruction is left out.
    ///
    /// Call both before anything else is reported: before [`refill`](Cpu::refill) and [`access`](Cpu::access), before the context changes, before
    /// an interrupt is taken, and before the machine is saved. What is counted is what single instructions count: a countdown has room for no
    /// more instructions than reach no deadline of the companion's signals. If the companion makes the cycles, the signals of the countdown
    /// that grow with instructions as much as cycles do hold in each of them.
    ///
    /// ```
    /// use vm_pmu::companion::{self, Access, Block, Instruction, Untranslated};
    /// use vm_pmu::cpu::Traced;
    /// use vm_pmu::irq::Flags;
    /// use vm_pmu::{Builder, Countdown, Cpu, SignalSet};
    ///
    /// let machine = Builder::new("k8").unwrap().build(Flags::new(1)).unwrap();
    /// let companion = companion::Builder::new("k8").unwrap().build();
    /// let mut cpu = Cpu::new(machine.thread(0).unwrap());
    /// cpu.follow(companion.follower(0).unwrap(), SignalSet::EMPTY);
    /// // PerfEvtSel0: DATA_CACHE_MISSES, OS, EN.
    /// cpu.access(|pmu| pmu.x86().wrmsr(0xC001_0000, 0x0042_0041)).unwrap();
    ///
    /// // Two instructions, of which the first loads: once when they are translated.
    /// let mut block = Block::new();
    /// for address in [0x1000, 0x1004] {
    ///     block.push(&Instruction { address, physical: address, length: 4, ..Instruction::default() });
    /// }
    /// let blocks = [block];
    ///
    /// // Each time when they are executed.
    /// let mut trace = Vec::new();
    /// for address in [0x8000, 0x8008, 0x9000] {
    ///     if !cpu.enter(Countdown::takes(2, 0)) {
    ///         assert_eq!(cpu.refill(2), 2);
    ///         assert!(cpu.enter(Countdown::takes(2, 0)));
    ///     }
    ///     trace.push(Traced::block(0, 0));
    ///     trace.push(Traced::access(0, &Access { address, physical: address, size: 8, ..Access::default() }));
    /// }
    /// cpu.execute_trace(&trace, 0x1008, &blocks[..], &mut Untranslated(12));
    /// cpu.complete_trace(0);
    /// assert_eq!(cpu.access(|pmu| pmu.x86().rdpmc(0)), Ok(2));
    /// ```
    pub fn execute_trace<B: Blocks + ?Sized>(&mut self, trace: &[Traced], next: u64, blocks: &B, tables: &mut impl PageTables) {
        if !self.is_followed() {
            return;
        }
        let recorded = self.demand.records().at_deadline || !self.follows_between();
        let mut states = [Signal::Cycles; MOST_STATES];
        let count = self.clocks(&mut states);
        let held = self.is_timed().then(|| states.get(..count).unwrap_or(&[]));
        let Some(follower) = &mut self.follower else { return };
        let pending = Pending { number: 0, accesses: [Access::default(); MOST_ACCESSES], count: 0 };
        let observer = &mut self.observer;
        let mut execution =
            Execution { follower, observer, tables, thread: self.thread, pending, countdown: &self.countdown, held, last: None };
        let mut current: Option<Current<'_>> = None;
        for entry in trace {
            match entry.what & KINDS {
                ACCESS => {
                    if let (Some(current), Some(access)) = (&mut current, entry.of_access()) {
                        execution.access(current, entry.number(), access);
                    }
                }
                BLOCK => {
                    let block = blocks.block(entry.address).filter(|block| !block.is_empty());
                    if let Some(current) = &mut current {
                        execution.complete(current, block.map_or(next, Block::address));
                    }
                    execution.pending.count = 0;
                    current = block.map(|block| Current { block, next: entry.number() });
                }
                LEFT => {
                    // After all of its instructions it is complete.
                    if let Some(mut left) = current.take_if(|current| entry.number() < current.block.len()) {
                        execution.execute_to(&mut left, entry.number());
                        execution.pending.count = 0;
                    }
                }
                _ => {}
            }
        }
        self.traced = match &mut current {
            Some(current) if recorded => execution.complete_last(current, next),
            Some(current) => {
                execution.complete(current, next);
                None
            }
            None => None,
        };
    }

    /// [Completes](Cpu::complete) the instructions of a trace: adds what they count, reports the record of the last one where it is wanted, and
    /// serves deadlines. `open` of the instructions that were entered are not executed yet: 1 at an access to a register within a block.
    pub fn complete_trace(&mut self, open: u32) {
        if !self.is_followed() {
            return;
        }
        let last = Last(self.traced.take());
        let (_, open) = self.settle_to(open);
        if self.is_stale() {
            self.update_demand();
        }
        self.deliver(&last);
        if self.in_blocks {
            self.thread.check_if_due();
            if self.is_stale() {
                self.update_demand();
            }
            self.fill(open);
        }
    }

    /// Whether a trace may have several instructions at the moment: the companion follows the CPU, and nothing is wanted of each
    /// instruction before the next is entered. If not, [`refill`](Cpu::refill) enters instructions one by one while the CPU is followed.
    #[must_use]
    pub fn traces_blocks(&self) -> bool {
        self.is_followed() && !self.demand.per_cycle() && self.follows_between()
    }

    /// How many instructions may be entered before the companion must have got them: none of them reaches a deadline of its signals. 0 if it must
    /// have each before the next is entered.
    pub(super) fn trace_room(&self) -> u64 {
        if !self.is_followed() {
            return u64::MAX;
        }
        if !self.traces_blocks() {
            return 0;
        }
        let distance = |signal: Signal| self.thread.deadlines().distance(signal, self.thread.totals());
        let room = |signal: Signal, most: u64| match distance(signal) {
            u64::MAX => u64::MAX,
            far => far.saturating_sub(1) / most,
        };
        let requests = if self.demand.records().requests { self.thread.request_room() / MOST_EVENTS } else { u64::MAX };
        if !self.is_timed() {
            return self.made.iter().map(|signal| room(signal, MOST_EVENTS)).min().unwrap_or(u64::MAX).min(requests);
        }
        // Cycles may be more than instructions, or fewer: nothing follows from the horizon.
        let made = self.made.iter().map(|signal| room(signal, MOST_CYCLES));
        let own = self.own.signals().iter().map(|signal| match signal {
            Signal::InstructionsRetired => distance(signal),
            _ => room(signal, MOST_CYCLES),
        });
        made.chain(own).min().unwrap_or(u64::MAX).min(requests)
    }

    /// Whether nothing is wanted of instructions that reach no deadline but what they count.
    fn follows_between(&self) -> bool {
        Records { at_deadline: false, requests: false, ..self.demand.records() }.is_none()
    }
}

impl<L: InterruptLine, T: PageTables> Execution<'_, '_, L, T> {
    /// Executes everything before instruction `end`, with the pending accesses if they are of one of these.
    #[inline]
    fn execute_to(&mut self, current: &mut Current<'_>, end: usize) {
        let end = end.min(current.block.len());
        if self.pending.count != 0 && self.pending.number < end {
            let number = self.pending.number;
            self.pass_over(current, number);
            self.execute(current, number, None);
        }
        self.pass_over(current, end);
    }

    #[inline]
    fn pass_over(&mut self, current: &mut Current<'_>, end: usize) {
        if current.next >= end {
            return;
        }
        if self.held.is_none() {
            self.retire();
            self.follower.pass_over(current.block, current.next..end, self.tables);
        } else {
            for number in current.next..end {
                self.retire();
                self.follower.execute_within(current.block, number, &[], None, self.tables);
                self.last = Some(false);
            }
        }
        current.next = end;
    }

    /// Executes instruction `number` with the pending accesses.
    #[inline]
    fn execute(&mut self, current: &mut Current<'_>, number: usize, transfer: Option<Transfer>) {
        self.retire();
        self.follower.execute_within(current.block, number, self.pending.all(), transfer, self.tables);
        (current.next, self.pending.count) = (number + 1, 0);
        self.last = Some(transfer.is_some());
    }

    /// Delivers the requests and the cycles of the instruction before, which reaches no deadline. The last instruction of a trace is
    /// [completed](Cpu::complete_trace).
    #[inline]
    fn retire(&mut self) {
        // With cycles, those of an instruction go together, when its cycles are delivered.
        if !self.follower.requests().is_empty() && (self.held.is_none() || self.last.is_some()) {
            self.report_requests();
        }
        if let (Some(held), Some(branch)) = (self.held, self.last.take()) {
            self.countdown.retire_oldest(branch, self.thread.totals());
            self.follower.deliver(&self.thread, held, |_| {});
        }
    }

    #[cold]
    fn report_requests(&mut self) {
        self.observer.take(self.follower);
        if self.held.is_none() {
            self.follower.requests().iter().for_each(|request| self.thread.request(request));
            self.follower.drop_requests();
        }
    }

    /// Instruction `number` makes an access.
    #[inline]
    fn access(&mut self, current: &mut Current<'_>, number: usize, access: Access) {
        if number < current.next || number >= current.block.len() {
            return;
        }
        if self.pending.count != 0 && self.pending.number != number {
            if number < self.pending.number {
                return;
            }
            self.execute_to(current, number);
        }
        self.pending.number = number;
        if self.pending.count == MOST_ACCESSES {
            // What it has accessed so far goes first.
            self.pass_over(current, number);
            self.retire();
            self.follower.execute_within(current.block, number, self.pending.all(), None, self.tables);
            self.pending.count = 0;
        }
        if let Some(place) = self.pending.accesses.get_mut(self.pending.count) {
            *place = access;
            self.pending.count += 1;
        }
    }

    /// The block is complete, and the CPU goes on at `next`. No record is wanted of its last instruction.
    #[inline]
    fn complete(&mut self, current: &mut Current<'_>, next: u64) {
        let last = current.block.len() - 1;
        self.execute_to(current, last);
        if current.next == last {
            self.execute(current, last, current.block.transfer_to(next));
        }
        self.pending.count = 0;
    }

    /// The same for a block whose last instruction may be recorded. Returns what is known of that.
    fn complete_last(&mut self, current: &mut Current<'_>, next: u64) -> Option<Record> {
        let last = current.block.len() - 1;
        self.execute_to(current, last);
        if current.next != last {
            return None;
        }
        self.retire();
        let instruction = current.block.instruction(last)?;
        let instruction = Instruction { accesses: self.pending.all(), transfer: current.block.transfer_to(next), ..instruction };
        self.follower.execute(&instruction, self.tables);
        current.next = last + 1;
        Some(record_of(&instruction))
    }
}

#[cfg(test)]
mod tests;
