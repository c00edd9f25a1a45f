//! When something becomes visible to the guest.

use core::sync::atomic::Ordering::Relaxed;

use super::{Signal, SignalSet, Totals};
use crate::atomic::AtomicU64;

/// The signal that sets an embedder's pace, and what the embedder promises of the others.
///
/// With such a promise one comparison per block is enough, however many signals are counted: see [`Deadlines::due`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The signal. The embedder always keeps its total, demanded or not.
    pub signal: Signal,
    /// The most that any signal grows while this one grows by one, rounded up to a power of two: 3 is taken as 4.
    pub most: u32,
    /// The signals that never grow by more than this one does, which is itself one of them.
    pub single: SignalSet,
    /// The signals that never grow within a block.
    pub between_blocks: SignalSet,
}

impl Pace {
    /// A pace of `signal`: while it grows by one, no signal grows by more than `most`.
    #[must_use]
    pub const fn new(signal: Signal, most: u32) -> Pace {
        Pace { signal, most, single: SignalSet::only(signal), between_blocks: SignalSet::EMPTY }
    }

    /// Adds signals that never grow by more than the pace does: the horizon is then such a signal's deadline itself, not a fraction of
    /// the way to it. Where an instruction costs a cycle or more, retired instructions are such a signal.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Deadlines, Pace, Signal, SignalSet, Totals};
    ///
    /// let pace = Pace::new(Signal::Cycles, 4).single(SignalSet::only(Signal::InstructionsRetired));
    /// let (totals, deadlines) = (Totals::new(), Deadlines::new(pace));
    /// deadlines.set_own(Signal::InstructionsRetired, 100_000, &totals);
    /// assert_eq!(deadlines.room(&totals), 100_000);
    /// ```
    #[must_use]
    pub fn single(self, signals: SignalSet) -> Pace {
        Pace { single: self.single.union(&signals), ..self }
    }

    /// Adds signals that never grow within a block, such as interrupts and exceptions. The horizon ignores them, so a counter of
    /// instructions and interrupts together, such as the K8's event C0h, has its deadline as the horizon. In return the embedder calls
    /// [`Deadlines::due_between`] each time it has added to one of them.
    ///
    /// ```
    /// use vm_pmu_arch::feed::{Deadlines, Pace, Signal, SignalSet, Totals};
    ///
    /// let pace = Pace::new(Signal::InstructionsRetired, 4).between_blocks(SignalSet::only(Signal::InterruptsTaken));
    /// let (totals, deadlines) = (Totals::new(), Deadlines::new(pace));
    /// deadlines.set_own(Signal::InstructionsRetired, 100_000, &totals);
    /// deadlines.set_own(Signal::InterruptsTaken, 1, &totals);
    /// assert_eq!(deadlines.room(&totals), 100_000);
    ///
    /// // An interrupt is taken between two blocks.
    /// totals.add(Signal::InterruptsTaken, 1);
    /// assert!(!deadlines.due(&totals) && deadlines.due_between(&totals));
    /// ```
    #[must_use]
    pub fn between_blocks(self, signals: SignalSet) -> Pace {
        Pace { between_blocks: self.between_blocks.union(&signals), ..self }
    }

    /// How far the pace can go while `signal` grows by at most `distance`.
    #[inline]
    fn until(&self, signal: Signal, distance: u64) -> u64 {
        // A deadline that has been reached already is due, whether anything is added or not.
        if distance != 0 && self.between_blocks.contains(signal) {
            Deadlines::NEVER
        } else if signal == self.signal || self.single.contains(signal) {
            distance
        } else {
            self.within(distance)
        }
    }

    /// How far the pace can go while nothing grows by more than `distance`.
    #[inline]
    const fn within(&self, distance: u64) -> u64 {
        distance >> (u32::BITS - self.most.saturating_sub(1).leading_zeros())
    }
}

impl Default for Pace {
    /// Cycles, and at most four events of any kind per cycle: an emulator that counts a cycle or more per instruction can promise this.
    fn default() -> Self {
        Pace::new(Signal::Cycles, 4)
    }
}

/// The total of each [`Signal`] at which the model must be serviced, one cell per signal in the order of [`Totals`].
///
/// A signal without a deadline holds [`Deadlines::NEVER`]. There are two ways to honour deadlines, and both are exact:
///
/// - **Each signal**: after an instruction, compare the total of every demanded signal with its deadline ([`reached`](Self::reached)).
/// - **One comparison per block**: compare the total of the [`Pace`] with the *horizon*, before which no deadline can come
///   ([`due`](Self::due), or [`room`](Self::room) before a block is entered). When it is due, [`update_horizon`](Self::update_horizon)
///   finds whether a deadline has been reached and moves the horizon on. A translated block that does not fit into the room is executed
///   instruction by instruction, in the first way.
///
/// A cell is the nearer of two deadlines: the thread's own, and that of counters elsewhere whose scope covers this thread. They are kept
/// separately so that each can be changed alone. Any host thread may read. Writers take turns (a lone thread, or a lock around the
/// topology).
///
/// ```
/// use vm_pmu_arch::feed::{Deadlines, Signal, Totals};
///
/// let (totals, deadlines) = (Totals::new(), Deadlines::default());
/// deadlines.set_own(Signal::Loads, 100, &totals);
/// totals.add(Signal::Loads, 99);
/// assert!(!deadlines.reached(Signal::Loads, &totals));
/// totals.add(Signal::Loads, 1);
/// assert!(deadlines.reached(Signal::Loads, &totals));
/// ```
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Deadlines {
    horizon: AtomicU64,
    pace: Pace,
    cells: [AtomicU64; Signal::COUNT],
    /// The further of the two deadlines.
    further: [AtomicU64; Signal::COUNT],
    /// The signals whose deadline from elsewhere is the nearer one, one bit each.
    wide_is_nearer: [AtomicU64; SignalSet::WORDS],
    armed: [AtomicU64; SignalSet::WORDS],
}

impl Deadlines {
    /// The deadline of a signal that nothing waits for.
    pub const NEVER: u64 = u64::MAX;

    /// The offset of the horizon, in bytes from the start: for generated code that compares with it.
    pub const HORIZON_OFFSET: usize = core::mem::offset_of!(Deadlines, horizon);

    /// The offset of the deadlines, in bytes from the start: that of signal `n` is `8 * n` bytes further.
    pub const CELLS_OFFSET: usize = core::mem::offset_of!(Deadlines, cells);

    /// No deadline for any signal, for an embedder of this pace.
    #[must_use]
    pub const fn new(pace: Pace) -> Deadlines {
        Deadlines {
            horizon: AtomicU64::new(Deadlines::NEVER),
            pace,
            cells: [const { AtomicU64::new(Deadlines::NEVER) }; Signal::COUNT],
            further: [const { AtomicU64::new(Deadlines::NEVER) }; Signal::COUNT],
            wide_is_nearer: [const { AtomicU64::new(0) }; SignalSet::WORDS],
            armed: [const { AtomicU64::new(0) }; SignalSet::WORDS],
        }
    }

    /// The total of `signal` at which the model must be serviced.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, signal: Signal) -> u64 {
        read(&self.cells, signal)
    }

    /// Whether the total of `signal` has reached its deadline.
    #[must_use]
    #[inline(always)]
    pub fn reached(&self, signal: Signal, totals: &Totals) -> bool {
        totals.get(signal) >= self.get(signal)
    }

    /// How much `signal` may grow before the model must be serviced; [`Deadlines::NEVER`] when nothing waits for it.
    #[must_use]
    #[inline]
    pub fn distance(&self, signal: Signal, totals: &Totals) -> u64 {
        match self.get(signal) {
            Self::NEVER => Self::NEVER,
            deadline => deadline.saturating_sub(totals.get(signal)),
        }
    }

    /// The embedder's pace.
    #[must_use]
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Whether `signal` never grows [within a block](Pace::between_blocks).
    #[must_use]
    #[inline]
    pub fn comes_between_blocks(&self, signal: Signal) -> bool {
        self.pace.between_blocks.contains(signal)
    }

    /// Whether the horizon has been reached. A deadline may have been reached too; [`update_horizon`](Self::update_horizon) finds out.
    #[must_use]
    #[inline(always)]
    pub fn due(&self, totals: &Totals) -> bool {
        totals.get(self.pace.signal) >= self.horizon.load(Relaxed)
    }

    /// Whether one of the signals that come [between blocks](Pace::between_blocks) has reached its deadline, which [`due`](Self::due)
    /// does not check. Call it after each addition to one of them. [`update_horizon`](Self::update_horizon) checks all deadlines.
    #[must_use]
    #[inline]
    pub fn due_between(&self, totals: &Totals) -> bool {
        let armed = self.armed.iter().zip(self.pace.between_blocks.words());
        armed.clone().any(|(armed, between)| armed.load(Relaxed) & between != 0)
            && self.armed().intersection(&self.pace.between_blocks).iter().any(|signal| self.reached(signal, totals))
    }

    /// [`due`](Self::due) for an embedder that already has the total of its pace, as [`Totals::add`] returned it: one comparison.
    #[must_use]
    #[inline(always)]
    pub fn due_at(&self, pace_total: u64) -> bool {
        pace_total >= self.horizon.load(Relaxed)
    }

    /// How far the pace may go before the horizon: a block that costs less cannot reach a deadline.
    #[must_use]
    #[inline(always)]
    pub fn room(&self, totals: &Totals) -> u64 {
        self.horizon.load(Relaxed).saturating_sub(totals.get(self.pace.signal))
    }

    /// Whether any signal has reached its deadline; if none has, the horizon moves on. Only the thread that owns the totals may call it.
    pub fn update_horizon(&self, totals: &Totals) -> bool {
        let pace = totals.get(self.pace.signal);
        let (mut horizon, mut reached) = (Self::NEVER, false);
        for signal in self.armed().iter() {
            let distance = self.distance(signal, totals);
            reached |= distance == 0;
            horizon = horizon.min(self.horizon_at(signal, distance, pace));
        }
        self.horizon.store(horizon, Relaxed);
        reached
    }

    /// The total of the pace before which `signal` cannot grow by `distance`, if the pace is at `pace` now.
    fn horizon_at(&self, signal: Signal, distance: u64, pace: u64) -> u64 {
        match distance {
            Self::NEVER => Self::NEVER,
            distance => pace.saturating_add(self.pace.until(signal, distance)),
        }
    }

    fn armed(&self) -> SignalSet {
        let mut words = [0; SignalSet::WORDS];
        for (word, cell) in words.iter_mut().zip(&self.armed) {
            *word = cell.load(Relaxed);
        }
        SignalSet::from_words(words)
    }

    /// Brings the thread's own deadline of `signal` down to `total`, if it is later.
    #[inline]
    pub fn lower_own(&self, signal: Signal, total: u64, totals: &Totals) {
        if total < self.own(signal) {
            self.set_own(signal, total, totals);
        }
    }

    /// Sets the thread's own deadline of `signal`, whatever it was.
    #[inline]
    pub fn set_own(&self, signal: Signal, total: u64, totals: &Totals) {
        if read(&self.further, signal) != Self::NEVER {
            self.settle(signal, total, self.wide(signal), totals);
        } else if self.get(signal) != total || self.is_wide_nearer(signal) {
            self.settle_alone(signal, total, totals);
        }
    }

    /// As [`set_own`](Self::set_own), where the signal has at most one of its two deadlines, which may be the wide one.
    fn settle_alone(&self, signal: Signal, total: u64, totals: &Totals) {
        if self.is_wide_nearer(signal) {
            self.settle(signal, total, self.wide(signal), totals);
            return;
        }
        write(&self.cells, signal, total);
        mark(&self.armed, signal, total != Self::NEVER);
        if total != Self::NEVER {
            self.bring_near(signal, totals);
        }
    }

    /// The thread's own deadline of `signal`, for code that changes it.
    #[must_use]
    #[inline]
    pub fn own(&self, signal: Signal) -> u64 {
        read(if self.is_wide_nearer(signal) { &self.further } else { &self.cells }, signal)
    }

    fn is_wide_nearer(&self, signal: Signal) -> bool {
        self.wide_is_nearer.get(signal.index() / 64).is_some_and(|word| word.load(Relaxed) >> (signal.index() % 64) & 1 == 1)
    }

    /// Sets the deadline of `signal` for counters elsewhere that cover this thread, whatever it was.
    pub fn set_wide(&self, signal: Signal, total: u64, totals: &Totals) {
        self.settle(signal, self.own(signal), total, totals);
    }

    /// The deadline of `signal` for counters elsewhere that cover this thread, for code that changes it.
    #[must_use]
    pub fn wide(&self, signal: Signal) -> u64 {
        read(if self.is_wide_nearer(signal) { &self.cells } else { &self.further }, signal)
    }

    /// Sets both deadlines. The nearer one is the signal's deadline, and may bring the horizon nearer.
    fn settle(&self, signal: Signal, own: u64, wide: u64, totals: &Totals) {
        let deadline = own.min(wide);
        write(&self.cells, signal, deadline);
        write(&self.further, signal, own.max(wide));
        mark(&self.wide_is_nearer, signal, wide < own);
        mark(&self.armed, signal, deadline != Self::NEVER);
        self.bring_near(signal, totals);
    }

    /// Brings the horizon nearer if it is beyond the deadline of `signal`.
    #[inline]
    fn bring_near(&self, signal: Signal, totals: &Totals) {
        // The pace is read first: if another thread's totals grow meanwhile, the horizon is nearer than it must be, never further.
        let pace = totals.get(self.pace.signal);
        let horizon = self.horizon_at(signal, self.distance(signal, totals), pace);
        if horizon < self.horizon.load(Relaxed) {
            self.horizon.store(horizon, Relaxed);
        }
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines::new(Pace::default())
    }
}

#[inline(always)]
fn read(row: &[AtomicU64; Signal::COUNT], signal: Signal) -> u64 {
    row.get(signal.index()).map_or(Deadlines::NEVER, |cell| cell.load(Relaxed))
}

fn write(row: &[AtomicU64; Signal::COUNT], signal: Signal, total: u64) {
    if let Some(cell) = row.get(signal.index()) {
        cell.store(total, Relaxed);
    }
}

/// Sets or clears the bit of `signal`.
fn mark(set: &[AtomicU64; SignalSet::WORDS], signal: Signal, holds: bool) {
    if let Some(word) = set.get(signal.index() / 64) {
        let (bits, bit) = (word.load(Relaxed), 1 << (signal.index() % 64));
        word.store(if holds { bits | bit } else { bits & !bit }, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_of_own_and_wide_is_the_deadline() {
        let (deadlines, totals) = (Deadlines::default(), Totals::new());
        deadlines.set_own(Signal::Loads, 50, &totals);
        deadlines.set_wide(Signal::Loads, 40, &totals);
        assert_eq!(deadlines.get(Signal::Loads), 40);
        deadlines.set_wide(Signal::Loads, Deadlines::NEVER, &totals);
        assert_eq!(deadlines.get(Signal::Loads), 50);
    }

    #[test]
    fn a_signal_nothing_waits_for_is_never_near() {
        let (deadlines, totals) = (Deadlines::default(), Totals::new());
        totals.add(Signal::Loads, u64::MAX - 1);
        assert!(!deadlines.reached(Signal::Loads, &totals));
        assert_eq!(deadlines.distance(Signal::Loads, &totals), Deadlines::NEVER);
        assert_eq!(deadlines.room(&totals), Deadlines::NEVER);
    }

    #[test]
    fn beyond_the_horizon_there_is_no_room() {
        let (deadlines, totals) = (Deadlines::default(), Totals::new());
        deadlines.set_own(Signal::InstructionsRetired, 1000, &totals);
        totals.add(deadlines.pace().signal, 2000);
        assert_eq!(deadlines.room(&totals), 0);
    }

    #[test]
    fn no_deadline_comes_before_the_horizon_while_the_promise_is_kept() {
        let (deadlines, totals) = (Deadlines::new(Pace::new(Signal::Cycles, 3)), Totals::new());
        deadlines.set_own(Signal::Loads, 1000, &totals);
        let mut checks = 0;
        loop {
            totals.add(Signal::Loads, 3);
            totals.add(Signal::Cycles, 1);
            if deadlines.due(&totals) {
                checks += 1;
                if deadlines.update_horizon(&totals) {
                    break;
                }
            }
            assert!(!deadlines.reached(Signal::Loads, &totals), "the deadline was passed unseen");
        }
        assert_eq!(totals.get(Signal::Loads), 1002, "the first instruction at or past 1000, in steps of three");
        assert!(checks <= 8, "{checks} checks");
    }

    /// How often an embedder that adds one of each of these signals at a time checks deadlines until that of 100,000 is reached.
    fn checks_until_100_000(pace: Pace, counted: Signal, added: &[Signal]) -> u32 {
        let (deadlines, totals) = (Deadlines::new(pace), Totals::new());
        deadlines.set_own(counted, 100_000, &totals);
        let mut checks = 0;
        loop {
            added.iter().for_each(|signal| {
                totals.add(*signal, 1);
            });
            if deadlines.due(&totals) {
                checks += 1;
                if deadlines.update_horizon(&totals) {
                    break;
                }
            }
        }
        assert_eq!(totals.get(counted), 100_000);
        checks
    }

    #[test]
    fn the_deadline_of_the_pace_itself_is_the_horizon() {
        assert_eq!(
            checks_until_100_000(Pace::new(Signal::InstructionsRetired, 4), Signal::InstructionsRetired, &[Signal::InstructionsRetired]),
            1
        );
    }

    #[test]
    fn the_deadline_of_a_signal_that_grows_no_faster_than_the_pace_is_the_horizon() {
        let added = [Signal::Cycles, Signal::InstructionsRetired];
        let pace = Pace::new(Signal::Cycles, 4);
        let single = pace.single(SignalSet::only(Signal::InstructionsRetired));
        assert_eq!(checks_until_100_000(single, Signal::InstructionsRetired, &added), 1);
        // A quarter of the way each time: 100,000 x (3/4)^n is below 4 from n = 36 on.
        assert!(checks_until_100_000(pace, Signal::InstructionsRetired, &added) > 30);
    }

    #[test]
    fn the_deadline_of_a_signal_that_comes_between_blocks_is_seen_when_it_is_asked_for() {
        let interrupts = SignalSet::only(Signal::InterruptsTaken);
        // A signal may be both between blocks and no faster than the pace.
        let (totals, deadlines) = (Totals::new(), Deadlines::new(Pace::default().single(interrupts).between_blocks(interrupts)));
        deadlines.set_own(Signal::InterruptsTaken, 2, &totals);
        assert_eq!(deadlines.room(&totals), Deadlines::NEVER);
        totals.add(Signal::InterruptsTaken, 1);
        assert!(!deadlines.due_between(&totals));
        totals.add(Signal::InterruptsTaken, 1);
        assert!(deadlines.due_between(&totals) && deadlines.update_horizon(&totals));
    }

    #[test]
    fn the_nearest_horizon_holds_whichever_deadline_it_comes_of() {
        let (deadlines, totals) = (Deadlines::new(Pace::new(Signal::Cycles, 4)), Totals::new());
        deadlines.set_own(Signal::Cycles, 500, &totals);
        deadlines.set_own(Signal::Loads, 1000, &totals);
        // Loads may grow by four a cycle: 250 cycles. The cycles themselves: 500.
        assert_eq!(deadlines.room(&totals), 250);
        totals.add(Signal::Cycles, 250);
        assert!(!deadlines.update_horizon(&totals));
        // 250 to the deadline of the cycles, and 250 in which 1000 loads may come.
        assert_eq!(deadlines.room(&totals), 250);
        totals.add(Signal::Cycles, 250);
        assert!(deadlines.update_horizon(&totals));
    }

    #[test]
    fn the_horizon_of_a_slow_signal_is_reached_in_few_checks() {
        let (deadlines, totals) = (Deadlines::new(Pace::new(Signal::Cycles, 1)), Totals::new());
        deadlines.set_own(Signal::Loads, 1_000_000, &totals);
        let mut checks = 0u32;
        for cycle in 1u64.. {
            totals.add(Signal::Cycles, 1);
            totals.add(Signal::Loads, u64::from(cycle % 4 == 0));
            if deadlines.due(&totals) {
                checks += 1;
                if deadlines.update_horizon(&totals) {
                    break;
                }
            }
        }
        assert_eq!(totals.get(Signal::Loads), 1_000_000);
        assert!(checks < 64, "{checks} checks for a million events");
    }
}
