//! Counting whole blocks with one subtraction each.

use core::cell::Cell;

use vm_pmu_arch::feed::{Signal, SignalSet, Totals};

use crate::irq::InterruptLine;
use crate::topology::Thread;

/// The most signals that an embedder can name.
const MOST_NAMED: usize = 6;

/// The most signals that grow with instructions: instructions, cycles and those that are named.
const MOST_SIGNALS: usize = 2 + MOST_NAMED;

/// The bits of the cell that count the paired signal.
const PAIRED: u64 = (1 << Countdown::SHIFT) - 1;

/// How many instructions a CPU may execute before its PMU must be called, for an emulator that executes blocks.
///
/// A block subtracts its instructions at its entry ([`enter`](Self::enter)), and is not entered if fewer are left. That is one subtraction
/// and a branch that is rarely taken, whatever is counted. What has been subtracted is added to the [`Totals`] when the PMU is called: the
/// instructions, and for every other signal that [grows with them](Self::with) a multiple of them. The budget comes from the thread's
/// horizon, so a deadline within a block is met by executing less of it, and an overflow comes at its very instruction.
///
/// | when | call |
/// | --- | --- |
/// | a block is entered | [`enter`](Self::enter), or the same in generated code on the [`cell`](Self::cell) |
/// | it does not fit | [`refill`](Self::refill) serves deadlines and returns how many of its instructions to execute as a separate block |
/// | the PMU is called | [`ask`](Self::ask) around it: register accesses, contexts, other additions to totals |
/// | a record is reported | [`settle`](Self::settle) before it; the next block calls the PMU, and a deadline is served then |
/// | a block is left before its end | [`take_back`](Self::take_back) what was not executed |
/// | another thread changed what this one counts | [`sync`](Self::sync) |
/// | an interrupt is chosen between blocks, and nothing is [`left`](Self::left) | [`sync`](Self::sync): a deadline's interrupt may come first |
///
/// Signals that neither grow with instructions nor are [paired](Self::paired) are added to the totals when they occur, as without a
/// countdown. The embedder's [`Pace`](crate::Pace) must be one of the signals that grow with instructions, and what the embedder guarantees
/// of it must hold. If it is not one of them, every instruction is executed singly.
///
/// ```
/// use vm_pmu::irq::Flags;
/// use vm_pmu::topology::Builder;
/// use vm_pmu::{Countdown, Pace, Signal, SignalSet};
///
/// // An instruction is a cycle, so the deadline of either is the horizon.
/// let pace = Pace::default().single(SignalSet::only(Signal::InstructionsRetired));
/// let machine = Builder::new("k8").unwrap().pace(pace).build(Flags::new(1)).unwrap();
/// let pmu = machine.thread(0).unwrap();
/// let countdown = Countdown::new();
///
/// // The guest enables PerfCtr0: cycles, with an interrupt after 25. The WRMSR is the last of a block of three.
/// let block = Countdown::takes(3, 0);
/// if !countdown.enter(block) {
///     assert_eq!(countdown.refill(pmu, 3), 3);
///     assert!(countdown.enter(block));
/// }
/// countdown.ask(pmu, Countdown::takes(1, 0), |pmu| {
///     pmu.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(25)).unwrap();
///     pmu.x86().wrmsr(0xC001_0000, 0x0052_0076).unwrap();
/// });
///
/// // Then blocks of ten instructions. The WRMSR is counted, so the interrupt comes after the fourth instruction of the third block.
/// let mut executed = 1;
/// while !machine.line().take(0) {
///     let mut instructions = 10;
///     while !countdown.enter(Countdown::takes(instructions, 0)) {
///         instructions = countdown.refill(pmu, instructions);
///         if machine.line().is_set(0) {
///             instructions = 0; // the handler comes first
///         }
///     }
///     executed += instructions;
/// }
/// assert_eq!(executed, 25);
/// assert_eq!(countdown.ask(pmu, 0, |pmu| pmu.x86().rdpmc(0)), Ok(0));
/// ```
///
/// A countdown belongs to one CPU and is used on one host thread at a time. It is not part of a saved state: [`settle`](Self::settle) it
/// before, and continue with a new one.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Countdown {
    /// How many instructions are left, above the bits of the paired signal.
    left: Cell<u64>,
    /// How many instructions were left when those subtracted were last added to the totals.
    filled: Cell<u64>,
    /// The signals that grow with each instruction, and by how much.
    growing: [(Signal, u32); MOST_SIGNALS],
    count: usize,
    paired: Option<Signal>,
}

/// What was taken out of a countdown: instructions and the amount of the paired signal, and how much of both stays in it, as it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drained {
    pub(crate) instructions: u64,
    pub(crate) paired: u64,
    pub(crate) open: (u64, u64),
}

impl Countdown {
    /// The lowest bit of the number of instructions in the [cell](Self::cell). Below it the [paired](Self::paired) signal is counted. What
    /// a block of up to 512 instructions subtracts is a constant of 31 bits, which fits into an instruction of most hosts.
    pub const SHIFT: u32 = 21;

    /// The offset of the [cell](Self::cell) in bytes.
    pub const CELL_OFFSET: usize = core::mem::offset_of!(Countdown, left);

    /// The most instructions that can be left, and so the most of a block: with three per instruction, the paired signal does not outgrow
    /// its bits.
    pub const MOST: u64 = 1 << (Self::SHIFT - 2);

    /// A countdown of instructions, each of which is one cycle. Nothing is left: the first block calls the PMU.
    #[must_use]
    pub const fn new() -> Countdown {
        let mut growing = [(Signal::Cycles, 1); MOST_SIGNALS];
        growing[0] = (Signal::InstructionsRetired, 1);
        Countdown { left: Cell::new(0), filled: Cell::new(0), growing, count: 2, paired: None }
    }

    /// A countdown of instructions, each of which also adds these amounts to these signals, six at most. An instruction is one
    /// [cycle](Signal::Cycles) unless the amounts say otherwise. If a signal is named twice, the last amount holds.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::{Countdown, Signal};
    ///
    /// // Two cycles an instruction, at four ticks of the reference clock each.
    /// let countdown = Countdown::with([(Signal::Cycles, 2), (Signal::ReferenceCycles, 8)]);
    /// let machine = Builder::new("knl").unwrap().build(|_, _| {}).unwrap();
    /// let pmu = machine.thread(0).unwrap();
    /// assert_eq!(countdown.refill(pmu, 5), 5);
    /// assert!(countdown.enter(Countdown::takes(5, 0)));
    /// assert_eq!(countdown.settle(pmu), 5);
    /// assert_eq!(pmu.totals().get(Signal::InstructionsRetired), 5);
    /// assert_eq!(pmu.totals().get(Signal::Cycles), 10);
    /// assert_eq!(pmu.totals().get(Signal::ReferenceCycles), 40);
    /// ```
    ///
    /// A seventh signal does not compile:
    ///
    /// ```compile_fail,E0080
    /// use vm_pmu::{Countdown, Signal};
    ///
    /// Countdown::with([(Signal::ReferenceCycles, 1); 7]);
    /// ```
    #[must_use]
    pub fn with<const N: usize>(amounts: [(Signal, u32); N]) -> Countdown {
        const { assert!(N <= MOST_NAMED, "a countdown has room for six signals in addition to instructions and cycles") };
        let mut countdown = Countdown::new();
        for (signal, amount) in amounts {
            let known = countdown.growing.iter().take(countdown.count).position(|(of, _)| *of == signal);
            let place = known.unwrap_or(countdown.count);
            if let Some(entry) = countdown.growing.get_mut(place) {
                *entry = (signal, amount);
                countdown.count = countdown.count.max(place + 1);
            }
        }
        countdown
    }

    /// Counts `signal` in the low bits of the cell. Its sum in a block must be known when the block is made, and no instruction may add
    /// more than 3. It is usually the branches. It costs a block nothing.
    ///
    /// ```
    /// use vm_pmu::topology::Builder;
    /// use vm_pmu::{Countdown, Signal};
    ///
    /// let countdown = Countdown::new().paired(Signal::BranchesRetired);
    /// let machine = Builder::new("k8").unwrap().build(|_, _| {}).unwrap();
    /// let pmu = machine.thread(0).unwrap();
    /// countdown.refill(pmu, 7);
    /// assert!(countdown.enter(Countdown::takes(7, 1)));
    /// assert_eq!(countdown.settle(pmu), 7);
    /// assert_eq!(pmu.totals().get(Signal::BranchesRetired), 1);
    /// ```
    #[must_use]
    pub const fn paired(mut self, signal: Signal) -> Countdown {
        self.paired = Some(signal);
        self
    }

    /// What a block of so many instructions subtracts at its entry. Together they add `paired` to the paired signal, each 3 at most. A
    /// constant of the block. At most [`MOST`](Self::MOST) instructions.
    #[must_use]
    #[inline(always)]
    pub const fn takes(instructions: u32, paired: u32) -> u64 {
        ((instructions as u64) << Self::SHIFT).wrapping_sub(paired as u64)
    }

    /// The number of instructions in `takes`, and the amount of the paired signal.
    const fn parts(takes: u64) -> (u64, u64) {
        let instructions = takes.wrapping_add(PAIRED) >> Self::SHIFT;
        (instructions, (instructions << Self::SHIFT).wrapping_sub(takes))
    }

    /// The cell that blocks subtract their instructions from. Generated code subtracts [what the block takes](Self::takes), leaves for
    /// [`refill`](Self::refill) if the difference is negative as a signed number, and otherwise stores it.
    #[must_use]
    #[inline(always)]
    pub fn cell(&self) -> &Cell<u64> {
        &self.left
    }

    /// Subtracts a block, and returns whether it may be executed. If not, nothing is subtracted.
    #[must_use]
    #[inline(always)]
    pub fn enter(&self, takes: u64) -> bool {
        let left = self.left.get().wrapping_sub(takes);
        if (left as i64) < 0 {
            return false;
        }
        self.left.set(left);
        true
    }

    /// Subtracts what is executed whether it fits or not: the instruction that started the counting, in a block without
    /// [`enter`](Self::enter). If this reaches a deadline, no block can be entered before the PMU has been called.
    #[inline]
    pub fn spend(&self, takes: u64) {
        self.left.set(self.left.get().wrapping_sub(takes));
    }

    /// A block was left before its end: gives back the instructions that were not executed, as [`takes`](Self::takes) returned for them.
    /// What has been added to the totals stays there.
    #[inline]
    pub fn take_back(&self, takes: u64) {
        let (instructions, paired) = Self::parts(takes);
        let instructions = instructions.min(self.taken());
        let paired = paired.min(self.left.get() & PAIRED);
        self.left.set(self.left.get().wrapping_add(instructions << Self::SHIFT).wrapping_sub(paired));
    }

    /// How many instructions may be entered before the PMU must be called.
    #[must_use]
    #[inline]
    pub fn left(&self) -> u64 {
        u64::try_from(self.left.get() as i64 >> Self::SHIFT).unwrap_or(0)
    }

    /// How many instructions have been subtracted and are not in the totals yet.
    #[must_use]
    #[inline]
    pub fn taken(&self) -> u64 {
        self.filled.get().wrapping_sub((self.left.get() as i64 >> Self::SHIFT) as u64)
    }

    /// Leaves no more than `most` instructions, for an embedder that must stop for its own reasons. Those already subtracted stay so.
    pub fn limit(&self, most: u64) {
        let excess = self.left().saturating_sub(most);
        self.left.set(self.left.get().wrapping_sub(excess << Self::SHIFT));
        self.filled.set(self.filled.get().wrapping_sub(excess));
    }

    /// Leaves `instructions`, [`MOST`](Self::MOST) at most, without calling a PMU: for an emulator that executes the same blocks while
    /// nothing is counted. Those already subtracted stay so.
    pub fn grant(&self, instructions: u64) {
        let (taken, instructions) = (self.taken(), instructions.min(Self::MOST));
        self.left.set(instructions << Self::SHIFT | self.left.get() & PAIRED);
        self.filled.set(taken.wrapping_add(instructions));
    }

    /// A block of `instructions` does not fit: adds what has been subtracted to the totals, serves deadlines, and leaves as many as the
    /// horizon allows. Returns how many of the instructions to enter, as a separate block if they are fewer: such a block fits, and no
    /// deadline comes before the last of them. Poll for interrupts before it is entered, as one may have been raised.
    ///
    /// If not even one fits, as when the pace does not grow with instructions, one is allowed.
    pub fn refill<L: InterruptLine>(&self, thread: Thread<'_, L>, instructions: u32) -> u32 {
        self.sync(thread);
        if self.left() < u64::from(instructions) {
            // The deadline of a counter that was stopped for a time is nearer than it must be.
            self.ask(thread, 0, |thread| {
                thread.service();
                thread.check();
            });
        }
        if self.left() == 0 {
            self.grant(1);
        }
        instructions.min(u32::try_from(self.left()).unwrap_or(u32::MAX))
    }

    /// Does `work` with the PMU: an access to a register, a change of the context, an addition to totals. Before it, everything that has
    /// been subtracted is added to the totals, except the last part, which is `open`, and deadlines are served. After it, the budget is
    /// that of the new horizon.
    ///
    /// `open` is what [`takes`](Self::takes) returns for the instructions that were entered and come after the work. For an instruction
    /// that accesses a register these are itself and those after it in its block; between blocks `open` is 0. An instruction that may bring
    /// deadlines nearer, such as a write or a change of the context, must be the last of its block.
    pub fn ask<L: InterruptLine, T>(&self, thread: Thread<'_, L>, open: u64, work: impl FnOnce(Thread<'_, L>) -> T) -> T {
        let open = self.flush(thread.totals(), open);
        thread.check_if_due();
        let answer = work(thread);
        thread.check_if_due();
        self.fill(thread, open, 0);
        answer
    }

    /// Adds what has been subtracted to the totals, serves deadlines and leaves as many instructions as the horizon allows. Call it between
    /// blocks, after another thread has changed what this thread counts or when it interrupts: its [epoch](Thread::epoch) has moved. Call it
    /// also before one of several pending interrupts is chosen, if nothing is [`left`](Self::left): the last instruction may have reached
    /// a deadline.
    pub fn sync<L: InterruptLine>(&self, thread: Thread<'_, L>) {
        self.ask(thread, 0, |_| ());
    }

    /// Adds what has been subtracted to the totals, and leaves nothing: the next block calls the PMU. Returns the number of instructions
    /// added. No deadline is served, for an embedder that continues one instruction at a time, adds to totals itself, or saves the machine.
    pub fn settle<L: InterruptLine>(&self, thread: Thread<'_, L>) -> u64 {
        let taken = self.taken();
        if taken != 0 {
            self.flush(thread.totals(), 0);
        }
        self.left.set(0);
        self.filled.set(0);
        taken
    }

    /// Adds what has been subtracted to the totals, except the last part, which is `open`. Returns the [parts](Self::parts) of `open`.
    #[inline]
    fn flush(&self, totals: &Totals, open: u64) -> (u64, u64) {
        let drained = self.drain(open);
        self.add(drained.instructions, drained.paired, totals, false);
        drained.open
    }

    /// Whether nothing is left, and nothing has been subtracted.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.left.get() == 0 && self.filled.get() == 0
    }

    /// Takes out what has been subtracted, except the last part, which is `open`. What is left stays so.
    #[inline]
    pub(crate) fn drain(&self, open: u64) -> Drained {
        let (instructions, paired) = Self::parts(open);
        let (taken, counted) = (self.taken(), self.left.get() & PAIRED);
        let open = (instructions.min(taken), paired.min(counted));
        self.left.set(self.left.get() & !PAIRED | open.1);
        self.filled.set(self.filled.get().wrapping_sub(taken - open.0));
        Drained { instructions: taken - open.0, paired: counted - open.1, open }
    }

    /// Takes the oldest of what was subtracted out, as far as it is there: an instruction, which is a branch or not. Adds it where somebody else
    /// makes the cycles.
    #[cfg(feature = "companion")]
    #[inline]
    pub(crate) fn retire_oldest(&self, branch: bool, totals: &Totals) {
        if self.taken() == 0 {
            return;
        }
        let paired = u64::from(branch && self.paired == Some(Signal::BranchesRetired)).min(self.left.get() & PAIRED);
        self.left.set(self.left.get().wrapping_sub(paired));
        self.filled.set(self.filled.get().wrapping_sub(1));
        self.add(1, paired, totals, true);
    }

    /// Adds what so many instructions grow, and this amount of the paired signal. With `timed`, somebody else makes the cycles, and with them what
    /// [grows as they do](Self::clocks).
    #[inline]
    pub(crate) fn add(&self, instructions: u64, paired: u64, totals: &Totals, timed: bool) {
        if instructions != 0 {
            for (signal, amount) in self.growing.iter().take(self.count) {
                if !timed || *signal != Signal::Cycles && !self.is_clock(*signal, *amount) {
                    totals.add(*signal, instructions.wrapping_mul(u64::from(*amount)));
                }
            }
        }
        if let Some(signal) = self.paired.filter(|_| paired != 0) {
            totals.add(signal, paired);
        }
    }

    /// Whether a signal other than cycles grows as they do.
    fn is_clock(&self, signal: Signal, amount: u32) -> bool {
        !matches!(signal, Signal::Cycles | Signal::InstructionsRetired) && u64::from(amount) == self.amount(Signal::Cycles)
    }

    /// The signals that grow as cycles do.
    #[cfg(feature = "companion")]
    pub(crate) fn clocks(&self) -> impl Iterator<Item = Signal> {
        self.growing.iter().take(self.count).filter(|(signal, amount)| self.is_clock(*signal, *amount)).map(|(signal, _)| *signal)
    }

    /// The signals that it counts.
    pub(crate) fn counted(&self) -> SignalSet {
        let growing = self.growing.iter().take(self.count).map(|(signal, _)| *signal);
        growing.chain(self.paired).collect()
    }

    /// Leaves what the horizon allows but for `reserve` instructions, minus the open ones, which are subtracted already.
    #[inline]
    pub(crate) fn fill<L: InterruptLine>(&self, thread: Thread<'_, L>, open: (u64, u64), reserve: u64) {
        self.leave(self.room(thread).saturating_sub(reserve), open);
    }

    /// Leaves so many instructions, minus the open ones, which are subtracted already.
    #[inline]
    pub(crate) fn leave(&self, room: u64, (instructions, paired): (u64, u64)) {
        let left = room.saturating_sub(instructions).min(Self::MOST);
        self.left.set(left << Self::SHIFT | paired);
        self.filled.set(left + instructions);
    }

    /// The fewest instructions that bring the pace to the horizon: no deadline comes before the last of them.
    #[inline]
    pub(crate) fn room<L: InterruptLine>(&self, thread: Thread<'_, L>) -> u64 {
        let room = thread.room();
        match self.amount(thread.deadlines().pace().signal) {
            0 => 0,
            1 => room,
            amount => room.div_ceil(amount),
        }
    }

    /// How much an instruction adds to `signal`.
    fn amount(&self, signal: Signal) -> u64 {
        self.growing.iter().take(self.count).find(|(of, _)| *of == signal).map_or(0, |(_, amount)| u64::from(*amount))
    }
}

impl Default for Countdown {
    fn default() -> Self {
        Countdown::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irq::Flags;
    use crate::topology::{Builder, Machine};
    use crate::{Context, Pace, SignalSet};

    /// A K8 whose PerfCtr0 interrupts after `cycles`.
    fn machine(cycles: u64) -> Machine<Flags> {
        let pace = Pace::default().single(SignalSet::only(Signal::InstructionsRetired));
        let machine = Builder::new("k8").unwrap().pace(pace).build(Flags::new(1)).unwrap();
        let thread = machine.thread(0).unwrap();
        thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(cycles)).unwrap();
        thread.x86().wrmsr(0xC001_0000, 0x0052_0076).unwrap();
        machine
    }

    #[test]
    fn a_block_that_is_too_long_is_cut_at_the_deadline() {
        let machine = machine(10);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new());
        assert_eq!(countdown.refill(thread, 7), 7);
        assert!(countdown.enter(Countdown::takes(7, 0)));
        assert!(!countdown.enter(Countdown::takes(7, 0)));
        assert_eq!(countdown.refill(thread, 7), 3);
        assert!(countdown.enter(Countdown::takes(3, 0)));
        assert!(!machine.line().take(0), "the three have not been added");
        countdown.sync(thread);
        assert!(machine.line().take(0));
    }

    #[test]
    fn a_block_is_not_cut_where_a_deadline_was_before_its_counter_stood_still() {
        let pace = Pace::default().single(SignalSet::only(Signal::InstructionsRetired));
        let machine = Builder::new("k8").unwrap().pace(pace).build(Flags::new(1)).unwrap();
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new());
        let run = |instructions| {
            assert_eq!(countdown.refill(thread, instructions), instructions);
            assert!(countdown.enter(Countdown::takes(instructions, 0)));
        };
        // PerfCtr0 interrupts after 10,000 cycles of level 3.
        thread.x86().wrmsr(0xC001_0004, 0u64.wrapping_sub(10_000)).unwrap();
        thread.x86().wrmsr(0xC001_0000, 0x0051_0076).unwrap();
        thread.set_context(Context::x86(3, 0x202, 0));
        run(1000);
        countdown.ask(thread, 0, |thread| thread.set_context(Context::x86(0, 0x202, 0)));
        run(500);
        countdown.ask(thread, 0, |thread| thread.set_context(Context::x86(3, 0x202, 0)));
        run(8400);
        // 600 are left, 100 of them before the old deadline.
        run(200);
        countdown.sync(thread);
        assert_eq!(countdown.left(), 400);
    }

    #[test]
    fn nothing_is_entered_behind_a_deadline_before_it_is_served() {
        let machine = machine(4);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new());
        countdown.refill(thread, 4);
        assert!(countdown.enter(Countdown::takes(4, 0)));
        assert!(!countdown.enter(Countdown::takes(1, 0)));
    }

    #[test]
    fn instructions_of_several_cycles_come_to_a_deadline_within_the_last_of_them() {
        let machine = machine(10);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::with([(Signal::Cycles, 3)]));
        // 3, 6, 9 and 12 cycles.
        assert_eq!(countdown.refill(thread, 100), 4);
        assert!(countdown.enter(Countdown::takes(4, 0)));
        countdown.sync(thread);
        assert!(machine.line().take(0));
        assert_eq!(thread.totals().get(Signal::Cycles), 12);
    }

    #[test]
    fn what_was_not_executed_of_a_block_is_not_told() {
        let machine = machine(1000);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new().paired(Signal::BranchesRetired));
        countdown.refill(thread, 9);
        assert!(countdown.enter(Countdown::takes(9, 4)));
        countdown.take_back(Countdown::takes(5, 3));
        assert_eq!(countdown.settle(thread), 4);
        assert_eq!(thread.totals().get(Signal::BranchesRetired), 1);
    }

    #[test]
    fn no_more_can_be_taken_back_than_was_taken_off_and_not_told() {
        let machine = machine(1000);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new().paired(Signal::BranchesRetired));
        countdown.refill(thread, 9);
        assert!(countdown.enter(Countdown::takes(9, 2)));
        countdown.sync(thread);
        countdown.take_back(Countdown::takes(5, 1));
        assert_eq!((countdown.taken(), countdown.left()), (0, 991));
    }

    #[test]
    fn open_instructions_are_told_with_those_that_follow() {
        let machine = machine(1000);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new().paired(Signal::BranchesRetired));
        countdown.refill(thread, 9);
        assert!(countdown.enter(Countdown::takes(9, 3)));
        let told = countdown.ask(thread, Countdown::takes(4, 1), |pmu| {
            [Signal::InstructionsRetired, Signal::BranchesRetired].map(|signal| pmu.totals().get(signal))
        });
        assert_eq!(told, [5, 2]);
        assert_eq!((countdown.taken(), countdown.left()), (4, 991));
        assert!(countdown.enter(Countdown::takes(2, 0)));
        assert_eq!(countdown.settle(thread), 6);
        assert_eq!(thread.totals().get(Signal::BranchesRetired), 3);
    }

    #[test]
    fn the_instruction_that_began_the_counting_is_counted() {
        let machine = machine(3);
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new());
        countdown.sync(thread);
        countdown.spend(Countdown::takes(1, 0));
        assert_eq!(countdown.left(), 2);
        countdown.spend(Countdown::takes(3, 0));
        assert_eq!((countdown.left(), countdown.taken()), (0, 4), "they were executed");
        assert!(!countdown.enter(Countdown::takes(1, 0)));
    }

    #[test]
    fn a_pace_that_does_not_grow_with_instructions_goes_singly() {
        let machine = Builder::new("k8").unwrap().pace(Pace::new(Signal::HaltedCycles, 4)).build(Flags::new(1)).unwrap();
        let (thread, countdown) = (machine.thread(0).unwrap(), Countdown::new());
        assert_eq!(countdown.refill(thread, 50), 1);
        assert!(countdown.enter(Countdown::takes(1, 0)));
        assert!(!countdown.enter(Countdown::takes(1, 0)));
    }

    #[test]
    fn a_limit_takes_nothing_off() {
        let countdown = Countdown::new();
        countdown.grant(100);
        assert!(countdown.enter(Countdown::takes(10, 0)));
        countdown.limit(30);
        assert_eq!((countdown.left(), countdown.taken()), (30, 10));
        countdown.limit(50);
        assert_eq!((countdown.left(), countdown.taken()), (30, 10));
    }

    #[test]
    fn the_paired_signal_does_not_reach_the_instructions_in_the_largest_budget() {
        let countdown = Countdown::new().paired(Signal::MicroOpsRetired);
        countdown.grant(u64::MAX);
        let block = Countdown::takes(512, 3 * 512);
        let entered = (0..=Countdown::MOST).take_while(|_| countdown.enter(block)).count() as u64;
        assert_eq!(entered * 512, Countdown::MOST);
        assert_eq!(countdown.taken(), Countdown::MOST);
    }
}
