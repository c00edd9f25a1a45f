//! What the boxes that all CPUs share counted during a run.

use std::collections::BTreeMap;

use vm_pmu::untile::UnitId;
use vm_pmu_board::trace::BoxCount;

use super::moments::Looks;

/// All counters are first looked at after so many cycles.
const FIRST_EVERY: u64 = 10;
/// The most selections of a counter that are told apart.
pub(super) const MOST_CONTROLS: usize = 64;

/// A counter of a box that the guest programmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxCounter {
    /// The box.
    pub unit: UnitId,
    /// Its number; none is the fixed one.
    pub counter: Option<u8>,
    /// What its control held while that enabled it, each value once.
    pub controls: Vec<u64>,
}

/// What the boxes counted.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// The counters, by the numbers that moments have.
    pub counters: Vec<BoxCounter>,
    /// Their values.
    pub looks: Looks,
    numbers: BTreeMap<(UnitId, Option<u8>), usize>,
}

impl Boxes {
    pub(super) fn sample(&mut self, cycle: u64, counts: &[BoxCount]) {
        self.looks.end = self.looks.end.max(cycle);
        if counts.is_empty() {
            return;
        }
        let mut values = Vec::with_capacity(counts.len());
        for count in counts {
            let number = *self.numbers.entry((count.unit, count.counter)).or_insert(self.counters.len());
            if number == self.counters.len() {
                self.counters.push(BoxCounter { unit: count.unit, counter: count.counter, controls: Vec::new() });
            }
            let Some(counter) = self.counters.get_mut(number) else { continue };
            if let Some(control) = count.control
                && counter.controls.len() < MOST_CONTROLS
                && !counter.controls.contains(&control)
            {
                counter.controls.push(control);
            }
            values.push((number, count.value));
        }
        self.looks.add(cycle, values);
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
    use vm_pmu::untile::Kind;

    use super::super::moments::MOST_LOOKS;
    use super::*;

    fn count(counter: u8, control: u64, value: u64) -> BoxCount {
        BoxCount { unit: UnitId::new(Kind::Cha, 4).unwrap(), counter: Some(counter), control: Some(control), value }
    }

    #[test]
    fn a_counter_is_there_once_with_each_of_its_selections() {
        let mut boxes = Boxes::default();
        for (cycle, control) in [(1, 0x40_0011), (2, 0x40_0035), (3, 0x40_0011)] {
            boxes.sample(cycle, &[count(0, control, cycle), count(1, 0x40_0000, 7)]);
        }
        boxes.finish();
        let controls: Vec<&[u64]> = boxes.counters.iter().map(|one| one.controls.as_slice()).collect();
        assert_eq!(controls, [&[0x40_0011, 0x40_0035][..], &[0x40_0000]]);
        let values = |number| boxes.looks.moments.values(number).into_iter().map(|(time, value)| (time.cycle, value)).collect::<Vec<_>>();
        assert_eq!(values(0), [(1, 1), (2, 2), (3, 3)]);
        assert_eq!(values(1), [(1, 7)]);
    }

    #[test]
    fn what_does_not_count_is_looked_at_more_and_more_rarely() {
        let mut boxes = Boxes::default();
        (0..=2 * MOST_LOOKS as u64).for_each(|cycle| boxes.sample(cycle, &[count(0, 0x40_0011, 5)]));
        // The first look is a moment; of the others, twice so many as may be kept, each number of those doubles the distance.
        assert_eq!((boxes.looks.moments.all, boxes.every()), (1, 4 * FIRST_EVERY));
    }

    #[test]
    fn a_long_run_keeps_few_moments_and_the_last() {
        let mut boxes = Boxes::default();
        (0..10_000).for_each(|cycle| boxes.sample(cycle, &[count(0, 0x40_0011, 3 * cycle)]));
        boxes.finish();
        let values = boxes.looks.moments.values(0);
        assert!(values.len() <= MOST_LOOKS + 1, "{}", values.len());
        assert!(values.iter().all(|(time, value)| *value == 3 * time.cycle));
        assert_eq!(values.last().map(|(time, _)| time.cycle), Some(9_999));
    }
}
