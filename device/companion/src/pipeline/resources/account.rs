//! Number of cycles that have passed, and number of them in which each state held.

use crate::bytes::{Damaged, Reader, Writer};

/// The account of a pipeline.
pub(in crate::pipeline) type States = Account<16>;

/// The account of a part whose queues are watched.
pub(in crate::pipeline) type ManyStates = Account<64>;

/// Cycles that have not been reported. A cycle can have several states, unless they exclude each other.
///
/// The account knows how many cycles each state has, not which ones: cycles that pass together are reported with the longest state last. If
/// a state has more cycles than pass, the rest fall in later cycles.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Account<const STATES: usize> {
    passed: u64,
    /// Cycles of each state among the passed ones.
    held: [u64; STATES],
    /// Pending cycles of each state.
    coming: [u64; STATES],
    /// States with a nonzero `held`, one bit each.
    some_held: u64,
    /// States with a nonzero `coming`, one bit each.
    some_coming: u64,
    /// The states that exclude each other, one bit each.
    exclusive: u64,
    /// Cycles that have passed since everything was last reported.
    total: u64,
    /// The states of the last reported cycle, whether they were wanted or not.
    pub(in crate::pipeline) last: Option<u64>,
}

impl<const STATES: usize> Account<STATES> {
    /// Returns an account in which no cycle has two of the states in `exclusive`, one bit each.
    pub(in crate::pipeline) const fn new(exclusive: u64) -> Self {
        Account { passed: 0, held: [0; STATES], coming: [0; STATES], some_held: 0, some_coming: 0, exclusive, total: 0, last: None }
    }

    /// Makes `state` hold for `cycles`, starting with the next cycle that passes.
    #[inline]
    pub(in crate::pipeline) fn hold(&mut self, state: usize, cycles: u64) {
        if cycles != 0
            && let Some(coming) = self.coming.get_mut(state)
        {
            *coming += cycles;
            self.some_coming |= 1 << state;
        }
    }

    /// Lets `cycles` pass.
    #[inline]
    pub(in crate::pipeline) fn pass(&mut self, cycles: u64) {
        if cycles == 0 {
            return;
        }
        self.passed += cycles;
        self.total += cycles;
        for state in bits(self.some_coming) {
            if let (Some(held), Some(coming)) = (self.held.get_mut(state), self.coming.get_mut(state)) {
                let now = cycles.min(*coming);
                *coming -= now;
                *held += now;
                self.some_coming &= !(u64::from(*coming == 0) << state);
                self.some_held |= 1 << state;
            }
        }
    }

    /// Lets `cycles` pass. `state` holds in `held` of them, without a call of [`hold`](Account::hold).
    #[inline]
    pub(in crate::pipeline) fn pass_holding(&mut self, cycles: u64, state: usize, held: u64) {
        self.pass(cycles);
        if held != 0
            && let Some(cell) = self.held.get_mut(state)
        {
            *cell += held;
            self.some_held |= 1 << state;
        }
    }

    /// Returns the number of unreported cycles.
    pub(in crate::pipeline) fn passed(&self) -> u64 {
        self.passed
    }

    /// Removes cycles in which the same states of `wanted` (one bit each) hold. Returns the number of cycles and these states.
    #[inline]
    pub(in crate::pipeline) fn next(&mut self, wanted: u64) -> Option<(u64, u64)> {
        self.next_within(wanted, u64::MAX)
    }

    /// Removes at most `most` cycles, otherwise as [`next`](Account::next).
    #[inline]
    pub(in crate::pipeline) fn next_within(&mut self, wanted: u64, most: u64) -> Option<(u64, u64)> {
        if self.passed == 0 {
            return None;
        }
        let mut states = self.some_held & wanted;
        // Only the first of the exclusive states; the others come after.
        let exclusive = states & self.exclusive;
        states &= !(exclusive & exclusive.wrapping_sub(1));
        let mut cycles = self.passed.min(most);
        for held in bits(states).filter_map(|state| self.held.get(state)) {
            cycles = cycles.min(*held);
        }
        for state in bits(states) {
            if let Some(held) = self.held.get_mut(state) {
                *held -= cycles;
                self.some_held &= !(u64::from(*held == 0) << state);
            }
        }
        self.passed -= cycles;
        if self.passed == 0 {
            // Of the unwanted states, those that held all the time.
            let whole = |state: &usize| self.held.get(*state).is_some_and(|held| *held == self.total);
            self.last = Some(bits(self.some_held & !wanted).filter(whole).fold(states, |last, state| last | 1 << state));
            self.clear();
        }
        Some((cycles, states))
    }

    /// Drops the passed cycles, which have been reported or are of no interest.
    #[inline]
    pub(in crate::pipeline) fn clear(&mut self) {
        self.passed = 0;
        self.total = 0;
        for state in bits(self.some_held) {
            if let Some(held) = self.held.get_mut(state) {
                *held = 0;
            }
        }
        self.some_held = 0;
    }

    /// Drops the unreported cycles. While time stands still, no cycle is the last.
    pub(in crate::pipeline) fn sync(&mut self, runs: bool) {
        self.clear();
        self.last = self.last.filter(|_| runs);
    }

    /// Saves the pending cycles; the passed ones are reported before.
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&self.coming);
        writer.words(&[u64::from(self.last.is_some()), self.last.unwrap_or(0)]);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.clear();
        reader.words(&mut self.coming)?;
        let (there, last) = (reader.word()?, reader.word()?);
        self.last = (there & 1 == 1).then_some(last);
        self.some_coming = self.coming.iter().enumerate().fold(0, |some, (state, coming)| some | u64::from(*coming != 0) << state);
        if self.coming.iter().any(|coming| *coming > 1 << 40) { Err(Damaged) } else { Ok(()) }
    }
}

/// Returns the numbers of the set bits.
#[inline]
pub(in crate::pipeline) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_overlap_are_reported_together() {
        let mut account = Account::<3>::new(0);
        account.hold(0, 10);
        account.hold(1, 4);
        account.pass(10);
        assert_eq!(account.next(7), Some((4, 0b011)));
        assert_eq!(account.next(7), Some((6, 0b001)));
        assert_eq!(account.next(7), None);
    }

    #[test]
    fn the_last_cycle_has_the_states_that_nobody_wants_too() {
        let mut account = Account::<3>::new(0);
        account.hold(0, 10);
        account.hold(1, 4);
        account.hold(2, 10);
        account.pass(10);
        while account.next(0b011).is_some() {}
        assert_eq!(account.last, Some(0b101));
    }

    #[test]
    fn states_that_exclude_each_other_are_reported_one_after_the_other() {
        let mut account = Account::<3>::new(0b011);
        [3, 4, 8].into_iter().enumerate().for_each(|(state, cycles)| account.hold(state, cycles));
        account.pass(8);
        assert_eq!(core::array::from_fn(|_| account.next(7)), [Some((3, 0b101)), Some((4, 0b110)), Some((1, 0b100)), None]);
    }

    #[test]
    fn a_state_goes_on_in_the_cycles_to_come() {
        let mut account = Account::<1>::new(0);
        account.hold(0, 5);
        account.pass(2);
        assert_eq!(account.next(1), Some((2, 1)));
        account.pass(4);
        assert_eq!(account.next(1), Some((3, 1)));
        assert_eq!(account.next(1), Some((1, 0)));
    }

    #[test]
    fn cycles_that_pass_together_have_the_states_of_those_that_pass_apart() {
        let run = |together: bool| {
            let (mut account, mut sums) = (Account::<2>::new(0), [0; 3]);
            for (hold, pass) in [(7, 3), (0, 1), (2, 9), (1, 1)] {
                account.hold(1, hold);
                account.pass(pass);
                while !together && let Some((cycles, states)) = account.next(3) {
                    sums[states as usize] += cycles;
                }
            }
            while let Some((cycles, states)) = account.next(3) {
                sums[states as usize] += cycles;
            }
            sums
        };
        assert_eq!(run(true), run(false));
    }
}
