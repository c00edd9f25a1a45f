//! Traces of translated blocks: what a CPU has executed since it last reported to the companion.
//!
//! A translator makes a [`Block`] of everything that it knows of a block before it is executed. Generated code writes the rest into a buffer: an
//! entry for the block, and one for each access to memory. [`Cpu::execute_trace`] takes many blocks in one call.

use vm_pmu_arch::feed::{Branch, Memory, Occasion, Record, Records, Signal};

use super::{Counts, Cpu, Step};
use crate::companion::{Access, AccessKind, Block, Follower, Instruction, PageTables, Transfer};
use crate::irq::InterruptLine;

/// More than an instruction of up to four accesses adds to any signal that the companion makes: with its fetch it is in ten lines at most, whose
/// pages a nested walk of at most 24 entries finds.
pub(super) const MOST_EVENTS: u64 = 256;

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
    Record { branch, memory, ..Record::at(instruction.address) }
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
    /// more instructions than reach no deadline of the companion's signals.
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
        let Some(follower) = &mut self.follower else { return };
        let mut pending = Pending { number: 0, accesses: [Access::default(); MOST_ACCESSES], count: 0 };
        let mut current: Option<Current<'_>> = None;
        for entry in trace {
            match entry.what & KINDS {
                ACCESS => {
                    if let (Some(current), Some(access)) = (&mut current, entry.of_access()) {
                        current.access(follower, &mut pending, entry.number(), access, tables);
                    }
                }
                BLOCK => {
                    let block = blocks.block(entry.address).filter(|block| !block.is_empty());
                    if let Some(current) = &mut current {
                        current.complete(follower, &mut pending, block.map_or(next, Block::address), tables);
                    }
                    pending.count = 0;
                    current = block.map(|block| Current { block, next: entry.number() });
                }
                LEFT => {
                    if let Some(mut current) = current.take() {
                        current.execute_to(follower, &mut pending, entry.number(), tables);
                    }
                    pending.count = 0;
                }
                _ => {}
            }
        }
        self.traced = None;
        if let Some(current) = &mut current {
            if recorded {
                self.traced = current.complete_last(follower, &mut pending, next, tables);
            } else {
                current.complete(follower, &mut pending, next, tables);
            }
        }
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

    /// Whether a trace may have several instructions at the moment: the companion follows the CPU, makes no cycles, and nothing is wanted of each
    /// instruction before the next is entered. If not, [`refill`](Cpu::refill) enters instructions one by one while the CPU is followed.
    #[must_use]
    pub fn traces_blocks(&self) -> bool {
        self.is_followed() && !self.is_timed() && !self.demand.per_cycle() && self.follows_between()
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
        let nearest = self.made.iter().map(distance).min().unwrap_or(u64::MAX);
        if nearest == u64::MAX { nearest } else { nearest.saturating_sub(1) / MOST_EVENTS }
    }

    /// Whether nothing is wanted of instructions that reach no deadline but what they count.
    fn follows_between(&self) -> bool {
        Records { at_deadline: false, ..self.demand.records() }.is_none()
    }
}

impl Current<'_> {
    /// Executes everything before instruction `end`, with the pending accesses if they are of one of these.
    #[inline]
    fn execute_to(&mut self, follower: &mut Follower<'_>, pending: &mut Pending, end: usize, tables: &mut impl PageTables) {
        let end = end.min(self.block.len());
        if pending.count != 0 && pending.number < end {
            let number = pending.number;
            self.pass_over(follower, number, tables);
            follower.execute_within(self.block, number, pending.all(), None, tables);
            self.next = number + 1;
            pending.count = 0;
        }
        self.pass_over(follower, end, tables);
    }

    #[inline]
    fn pass_over(&mut self, follower: &mut Follower<'_>, end: usize, tables: &mut impl PageTables) {
        if self.next < end {
            follower.pass_over(self.block, self.next..end, tables);
            self.next = end;
        }
    }

    /// Instruction `number` makes an access.
    #[inline]
    fn access(&mut self, follower: &mut Follower<'_>, pending: &mut Pending, number: usize, access: Access, tables: &mut impl PageTables) {
        if number < self.next || number >= self.block.len() {
            return;
        }
        if pending.count != 0 && pending.number != number {
            if number < pending.number {
                return;
            }
            self.execute_to(follower, pending, number, tables);
        }
        pending.number = number;
        if pending.count == MOST_ACCESSES {
            // What it has accessed so far goes first.
            self.pass_over(follower, number, tables);
            follower.execute_within(self.block, number, pending.all(), None, tables);
            pending.count = 0;
        }
        if let Some(place) = pending.accesses.get_mut(pending.count) {
            *place = access;
            pending.count += 1;
        }
    }

    /// The block is complete, and the CPU goes on at `next`. No record is wanted of its last instruction.
    #[inline]
    fn complete(&mut self, follower: &mut Follower<'_>, pending: &mut Pending, next: u64, tables: &mut impl PageTables) {
        let last = self.block.len() - 1;
        self.execute_to(follower, pending, last, tables);
        if self.next == last {
            follower.execute_within(self.block, last, pending.all(), self.block.transfer_to(next), tables);
            self.next = last + 1;
        }
        pending.count = 0;
    }

    /// The same for a block whose last instruction may be recorded. Returns what is known of that.
    fn complete_last(
        &mut self,
        follower: &mut Follower<'_>,
        pending: &mut Pending,
        next: u64,
        tables: &mut impl PageTables,
    ) -> Option<Record> {
        let last = self.block.len() - 1;
        self.execute_to(follower, pending, last, tables);
        if self.next != last {
            return None;
        }
        let instruction = self.block.instruction(last)?;
        let instruction = Instruction { accesses: pending.all(), transfer: self.block.transfer_to(next), ..instruction };
        follower.execute(&instruction, tables);
        self.next = last + 1;
        Some(record_of(&instruction))
    }
}

#[cfg(test)]
mod tests;
