//! When something becomes visible to the guest.

use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

use super::cells::Layout;
use super::set::Bits;
use super::{Signal, SignalSet, Totals, Vocabulary};
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

/// The total of each [`Signal`] at which the model must be serviced, one cell per signal that the part has, in the order of [`Totals`].
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
pub struct Deadlines<C: ?Sized = [AtomicU64]> {
    horizon: AtomicU64,
    pace: Pace,
    layout: Layout,
    /// A cell for each signal. Behind them are, for signals that a counter may count beyond its thread, the further of the two deadlines, and
    /// one bit each, set where the deadline from elsewhere is the nearer one; and one bit for each signal that has a deadline.
    cells: C,
}

impl Deadlines<[AtomicU64; Vocabulary::Every.deadline_cells()]> {
    /// No deadline for any signal, for an embedder of this pace. Every signal may have one.
    #[must_use]
    pub const fn new(pace: Pace) -> Self {
        Deadlines::of(Vocabulary::Every, pace)
    }
}

impl<const CELLS: usize> Deadlines<[AtomicU64; CELLS]> {
    /// No deadline for any signal of `vocabulary`, for an embedder of this pace. `CELLS` is its number of
    /// [cells of deadlines](Vocabulary::deadline_cells).
    #[must_use]
    pub const fn of(vocabulary: Vocabulary, pace: Pace) -> Self {
        let layout = vocabulary.layout();
        let mut cells = [const { AtomicU64::new(Deadlines::NEVER) }; CELLS];
        if let Some((_, mut bits)) = cells.split_at_mut_checked(layout.flags()) {
            while let [word, others @ ..] = bits {
                *word = AtomicU64::new(0);
                bits = others;
            }
        }
        Deadlines { horizon: AtomicU64::new(Deadlines::NEVER), pace, layout, cells }
    }
}

impl Deadlines {
    /// The deadline of a signal that nothing waits for.
    pub const NEVER: u64 = u64::MAX;

    /// The offset of the horizon, in bytes from the start: for generated code that compares with it.
    pub const HORIZON_OFFSET: usize = core::mem::offset_of!(Deadlines<[AtomicU64; 0]>, horizon);

    /// The offset of the deadlines, in bytes from the start: they are in the order of [`Vocabulary::cell`], 8 bytes each.
    pub const CELLS_OFFSET: usize = core::mem::offset_of!(Deadlines<[AtomicU64; 0]>, cells);

    /// The total of `signal` at which the model must be serviced.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, signal: Signal) -> u64 {
        self.find(signal).map_or(Self::NEVER, |(cell, _)| cell.load(Relaxed))
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
        self.pace.between_blocks.iter().any(|signal| self.reached(signal, totals))
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
        for signal in self.armed() {
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

    /// The signals that have a deadline.
    fn armed(&self) -> impl Iterator<Item = Signal> {
        let words = self.cells.get(self.layout.armed()..).unwrap_or_default().iter().map(|word| word.load(Relaxed)).enumerate();
        let cells = words.flat_map(|(index, word)| Bits(word).map(move |bit| index * 64 + bit));
        cells.filter_map(|cell| self.layout.signal(cell))
    }

    /// Brings the thread's own deadline of `signal` down to `total`, if it is later.
    #[inline]
    pub fn lower_own(&self, signal: Signal, total: u64, totals: &Totals) {
        self.change(signal, Change::Lower, total, totals);
    }

    /// Sets the thread's own deadline of `signal`, whatever it was.
    #[inline]
    pub fn set_own(&self, signal: Signal, total: u64, totals: &Totals) {
        self.change(signal, Change::Own, total, totals);
    }

    /// The thread's own deadline of `signal`, for code that changes it.
    #[must_use]
    pub fn own(&self, signal: Signal) -> u64 {
        self.both(signal).0
    }

    /// Sets the deadline of `signal` for counters elsewhere that cover this thread, whatever it was. A signal that no counter of the part
    /// counts beyond its thread has none.
    pub fn set_wide(&self, signal: Signal, total: u64, totals: &Totals) {
        self.change(signal, Change::Wide, total, totals);
    }

    /// The deadline of `signal` for counters elsewhere that cover this thread, for code that changes it.
    #[must_use]
    pub fn wide(&self, signal: Signal) -> u64 {
        self.both(signal).1
    }

    /// The two deadlines of `signal`: the thread's own, and that of counters elsewhere.
    fn both(&self, signal: Signal) -> (u64, u64) {
        let Some((cell, number)) = self.find(signal) else { return (Self::NEVER, Self::NEVER) };
        self.second(number).map_or((cell.load(Relaxed), Self::NEVER), |second| second.both(cell))
    }

    /// Changes one of the two deadlines. The nearer one is the signal's deadline, and may bring the horizon nearer.
    fn change(&self, signal: Signal, change: Change, total: u64, totals: &Totals) {
        let Some((cell, number)) = self.find(signal) else { return };
        let second = self.second(number);
        let before = second.as_ref().map_or((cell.load(Relaxed), Self::NEVER), |second| second.both(cell));
        let (own, wide) = match change {
            Change::Own => (total, before.1),
            Change::Lower => (total.min(before.0), before.1),
            Change::Wide => (before.0, total),
        };
        if (own, wide) == before {
            return;
        }
        let mut deadline = own;
        if let Some(second) = second {
            second.further.store(own.max(wide), Relaxed);
            mark(second.flags, second.number, wide < own);
            deadline = own.min(wide);
        }
        cell.store(deadline, Relaxed);
        if let Some(word) = self.cells.get(self.layout.armed() + number / 64) {
            mark(word, number, deadline != Self::NEVER);
        }
        if deadline != Self::NEVER {
            self.bring_near(signal, deadline, totals);
        }
    }

    /// The cell of `signal`, and its number.
    #[inline]
    fn find(&self, signal: Signal) -> Option<(&AtomicU64, usize)> {
        let number = self.layout.cell(signal)?;
        Some((self.cells.get(number)?, number))
    }

    /// The second deadline of a cell, if a counter may count its signal beyond the thread.
    #[inline]
    fn second(&self, cell: usize) -> Option<Second<'_>> {
        let number = self.layout.wide_number(cell)?;
        let further = self.cells.get(self.layout.cells() + number)?;
        Some(Second { number, further, flags: self.cells.get(self.layout.flags() + number / 64)? })
    }

    /// Brings the horizon nearer if it is beyond this deadline of `signal`.
    #[inline]
    fn bring_near(&self, signal: Signal, deadline: u64, totals: &Totals) {
        // The pace is read first: if another thread's totals grow meanwhile, the horizon is nearer than it must be, never further.
        let pace = totals.get(self.pace.signal);
        let horizon = pace.saturating_add(self.pace.until(signal, deadline.saturating_sub(totals.get(signal))));
        if horizon < self.horizon.load(Relaxed) {
            self.horizon.store(horizon, Relaxed);
        }
    }
}

impl<const CELLS: usize> Deref for Deadlines<[AtomicU64; CELLS]> {
    type Target = Deadlines;

    #[inline(always)]
    fn deref(&self) -> &Deadlines {
        self
    }
}

impl Default for Deadlines<[AtomicU64; Vocabulary::Every.deadline_cells()]> {
    fn default() -> Self {
        Deadlines::new(Pace::default())
    }
}

/// The deadline that is changed.
#[derive(Clone, Copy)]
enum Change {
    /// The thread's own.
    Own,
    /// The thread's own, if it is later.
    Lower,
    /// That of counters elsewhere.
    Wide,
}

/// The second deadline of a signal.
struct Second<'a> {
    number: usize,
    /// The further deadline.
    further: &'a AtomicU64,
    /// The word with the bit that says whether the deadline from elsewhere is the nearer one.
    flags: &'a AtomicU64,
}

impl Second<'_> {
    /// Both deadlines: the thread's own, and that of counters elsewhere. The nearer one is in `cell`.
    #[inline]
    fn both(&self, cell: &AtomicU64) -> (u64, u64) {
        let (nearer, further) = (cell.load(Relaxed), self.further.load(Relaxed));
        if self.flags.load(Relaxed) >> (self.number % 64) & 1 == 1 { (further, nearer) } else { (nearer, further) }
    }
}

/// Sets or clears bit `number % 64` of a word.
#[inline]
fn mark(word: &AtomicU64, number: usize, holds: bool) {
    let (bits, bit) = (word.load(Relaxed), 1 << (number % 64));
    word.store(if holds { bits | bit } else { bits & !bit }, Relaxed);
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
