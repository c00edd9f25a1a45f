//! A general counter: its value, and what it sees of single clocks.

use vm_pmu_arch::knl::untile::Kind;

use super::selection::Select;

/// Counters have 48 bits.
pub(super) const COUNT: u64 = (1 << 48) - 1;

/// A general counter.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    pub(super) select: Select,
    pub(super) value: u64,
    /// How many of the clocks to come have enough, by what was told of them (D193).
    pub(super) coming: u64,
    /// Whether the last clock was one that counts.
    pub(super) was: bool,
    /// The entries that it follows by itself, after bit 16 of its control emptied its queue.
    pub(super) own: Option<u64>,
    /// The event select and unit mask of the queue that it followed last.
    pub(super) followed: Option<(u8, u8)>,
}

/// What a counter does in the clocks to come: so much is added in each of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) rate: u64,
    pub(super) clocks: u64,
}

/// Adds to a value; returns whether it was carried out of the 48 bits.
pub(super) fn add(value: &mut u64, amount: u128) -> bool {
    let sum = u128::from(*value) + amount;
    *value = (sum & u128::from(COUNT)) as u64;
    sum > u128::from(COUNT)
}

/// In how many clocks a value is carried out that adds so much in each.
pub(super) fn distance(value: u64, rate: u64) -> Option<u64> {
    (rate != 0).then(|| (COUNT + 1 - value).div_ceil(rate))
}

impl Counter {
    /// Whether it looks at single clocks, so that what is told waits for them.
    pub(super) fn compares(&self, kind: Kind) -> bool {
        self.select.edge(kind) || self.select.threshold(kind) != 0
    }

    /// What it adds in the clocks to come, while `increment` comes in each by itself.
    pub(super) fn course(&self, kind: Kind, increment: u64) -> Course {
        let told = self.coming != 0;
        let clocks = if told { self.coming } else { u64::MAX };
        let compares = self.compares_now(kind, increment);
        match (self.select.edge(kind), self.select.threshold(kind)) {
            (true, _) if compares && !self.was => Course { rate: 1, clocks: 1 },
            (true, _) => Course { rate: 0, clocks },
            (false, 0) => Course { rate: increment, clocks },
            // What was told has been added already.
            (false, _) => Course { rate: u64::from(compares && !told), clocks },
        }
    }

    /// Whether the next clock is one that counts.
    fn compares_now(&self, kind: Kind, increment: u64) -> bool {
        if self.coming != 0 { !self.select.inverts(kind) } else { self.select.compares(kind, increment) }
    }

    /// So many clocks of its course go by, in which it counts or stands still. Returns whether the value was carried out.
    pub(super) fn pass(&mut self, kind: Kind, increment: u64, clocks: u64, counts: bool) -> bool {
        let rate = self.course(kind, increment).rate;
        self.was = self.compares_now(kind, increment);
        self.coming = self.coming.saturating_sub(clocks);
        counts && add(&mut self.value, u128::from(rate) * u128::from(clocks))
    }

    /// `each` comes in every one of the next clocks, on top of `level`, and no more than `most` in one: what is too much takes more clocks
    /// (T10). Clocks that so have enough are added when they are told (T11, T22), and are kept until they have gone by (D193). Returns
    /// whether the value was carried out.
    pub(super) fn tell(&mut self, kind: Kind, (each, clocks): (u64, u64), level: u64, most: u64, counts: bool) -> bool {
        let (full, rest) = match each > most {
            true => {
                let all = each.saturating_mul(clocks);
                (all / most, all % most)
            }
            false => (clocks, 0),
        };
        let enough = |amount: u64| self.select.is_enough(kind, level.saturating_add(amount).min(most));
        let told = if enough(each.min(most)) { full } else { 0 } + u64::from(rest != 0 && enough(rest));
        if told == 0 || enough(0) {
            return false;
        }
        self.coming = self.coming.saturating_add(told);
        let added = match (self.select.inverts(kind), self.select.edge(kind)) {
            (true, _) => 0,
            (false, false) => told,
            (false, true) => u64::from(!core::mem::replace(&mut self.was, true)),
        };
        counts && add(&mut self.value, added.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_for_a_clock_takes_more() {
        let mut counter = Counter { select: Select(1 << 24), ..Counter::default() };
        counter.tell(Kind::Cha, (5, 1), 0, 2, true);
        assert_eq!((counter.coming, counter.value), (3, 3));
    }

    #[test]
    fn a_wrap_is_reached_in_the_clock_that_carries() {
        assert_eq!((distance(COUNT, 1), distance(COUNT - 9, 4), distance(0, 0)), (Some(1), Some(3), None));
    }
}
