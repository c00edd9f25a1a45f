//! What the nests of POWER9's chips posted during a run.

use std::collections::BTreeMap;

use vm_pmu_board::report::Posted;

use super::moments::Looks;

/// The nests are first looked at after so many cycles of a core.
const FIRST_EVERY: u64 = 1000;

/// What the nests posted.
#[derive(Clone, Debug, Default)]
pub struct Nests {
    /// Chips and events, by the numbers that moments have.
    pub events: Vec<(u32, String)>,
    /// What their cells held, in events.
    pub looks: Looks,
    numbers: BTreeMap<(u32, String), usize>,
}

impl Nests {
    pub(super) fn sample(&mut self, cycle: u64, posted: &[Posted]) {
        self.looks.end = self.looks.end.max(cycle);
        // What is not told is zero.
        let mut held = vec![0; self.events.len()];
        for Posted { chip, event, count } in posted {
            let key = (*chip, event.clone());
            let number = *self.numbers.entry(key).or_insert_with_key(|key| {
                self.events.push(key.clone());
                held.push(0);
                self.events.len() - 1
            });
            if let Some(one) = held.get_mut(number) {
                *one = *count;
            }
        }
        if !held.is_empty() {
            self.looks.add(cycle, held.into_iter().enumerate());
        }
    }

    /// After how many cycles the next look is due.
    pub(super) fn every(&self) -> u64 {
        self.looks.every(FIRST_EVERY)
    }

    pub(super) fn finish(&mut self) {
        self.looks.moments.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_is_cleared_is_zero() {
        let mut nests = Nests::default();
        let posted = |event: &str, count| Posted { chip: 8, event: event.to_owned(), count };
        nests.sample(1000, &[posted("PM_PB_CYC", 4096)]);
        nests.sample(2000, &[posted("PM_PB_CYC", 8192), posted("PM_PB_CYC2", 64)]);
        nests.sample(3000, &[]);
        nests.finish();
        assert_eq!(nests.events, [(8, "PM_PB_CYC".to_owned()), (8, "PM_PB_CYC2".to_owned())]);
        let values = |number| nests.looks.moments.values(number).into_iter().map(|(time, value)| (time.cycle, value)).collect::<Vec<_>>();
        assert_eq!(values(0), [(1000, 4096), (2000, 8192), (3000, 0)]);
        assert_eq!(values(1), [(2000, 64), (3000, 0)]);
    }
}
