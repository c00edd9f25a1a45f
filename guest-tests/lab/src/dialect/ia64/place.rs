//! Counters for events that are counted together.

use vm_pmu::arch::event::CounterSet;

use crate::dialect::matching::matched;

/// What an event asks of its counter.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Want {
    /// The counters that take it, one bit each.
    pub counters: u32,
    /// Those of them that count it rightly whichever thread runs.
    pub rightly: u32,
    /// The set that it can be counted with.
    pub set: CounterSet,
    /// What events of a set of the second level share: the unit mask, and whether both threads are counted.
    pub shared: (u8, bool),
}

/// The counters that share what PMC4 selects of the second-level data cache, and those that share what PMC6 does; the first bit leads.
const TRIOS: [(u32, u32); 2] = [(1 << 4, 1 << 4 | 1 << 5 | 1 << 8), (1 << 6, 1 << 6 | 1 << 7 | 1 << 9)];
/// The counter that chooses the set of the first-level data cache.
const L1_LEADER: u32 = 1 << 5;

/// A counter for each of `wants`, in their order, if there are enough.
pub(in super::super) fn place(wants: &[Want]) -> Option<Vec<u32>> {
    let all = |which: fn(&Want) -> u32| wants.iter().map(which).collect::<Vec<u32>>();
    with_leaders(wants, &all(|want| want.rightly)).or_else(|| with_leaders(wants, &all(|want| want.counters)))
}

/// `PMC4-9`, or the numbers one by one.
pub(in super::super) fn named(counters: u32) -> String {
    let numbers: Vec<u32> = (0..u32::BITS).filter(|number| counters >> number & 1 == 1).collect();
    match numbers.as_slice() {
        [] => "none".to_owned(),
        [only] => format!("PMC{only}"),
        [first, .., last] if last - first + 1 == numbers.len() as u32 => format!("PMC{first}-{last}"),
        many => format!("PMC{}", many.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The groups of the second level, each by the place of its first member.
pub(in super::super) fn groups(wants: &[Want]) -> Vec<(CounterSet, (u8, bool))> {
    let mut groups = Vec::new();
    for want in wants.iter().filter(|want| matches!(want.set, CounterSet::L2Data(_))) {
        if !groups.contains(&(want.set, want.shared)) {
            groups.push((want.set, want.shared));
        }
    }
    groups
}

/// Tries every choice of events that lead a set.
fn with_leaders(wants: &[Want], allowed: &[u32]) -> Option<Vec<u32>> {
    let first: Vec<usize> = at(wants, |want| matches!(want.set, CounterSet::L1Data(_)));
    let groups: Vec<Vec<usize>> = groups(wants).into_iter().map(|group| at(wants, |want| (want.set, want.shared) == group)).collect();
    if groups.len() > TRIOS.len() {
        return None;
    }
    let orders: &[[usize; 2]] = &[[0, 1], [1, 0]];
    for order in orders {
        let mut narrowed = allowed.to_vec();
        for (group, trio) in groups.iter().zip(order) {
            group.iter().for_each(|index| narrowed[*index] &= TRIOS[*trio].1);
        }
        for leaders in choices(&first, &groups) {
            let mut fixed = narrowed.clone();
            let mut leaders = leaders.into_iter();
            if !first.is_empty()
                && let Some(leader) = leaders.next()
            {
                fixed[leader] &= L1_LEADER;
            }
            for (leader, trio) in leaders.zip(order) {
                fixed[leader] &= TRIOS[*trio].0;
            }
            if let Some(placed) = matched(&fixed) {
                return Some(placed);
            }
        }
    }
    None
}

fn at(wants: &[Want], is_meant: impl Fn(&Want) -> bool) -> Vec<usize> {
    (0..wants.len()).filter(|index| is_meant(&wants[*index])).collect()
}

/// Every choice of one member of each list that has any.
fn choices(first: &[usize], groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let lists = std::iter::once(first).chain(groups.iter().map(Vec::as_slice)).filter(|list| !list.is_empty());
    lists.fold(vec![Vec::new()], |chosen, list| {
        chosen.iter().flat_map(|before| list.iter().map(|one| before.iter().copied().chain([*one]).collect())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = 0xFFF0;
    const LOWER: u32 = 0x03F0;

    fn free(counters: u32) -> Want {
        Want { counters, rightly: counters, set: CounterSet::None, shared: (0, false) }
    }

    fn of(set: CounterSet, umask: u8) -> Want {
        Want { counters: LOWER, rightly: LOWER, set, shared: (umask, false) }
    }

    #[test]
    fn events_take_the_lowest_counters_in_their_order() {
        assert_eq!(place(&[free(ALL), free(ALL)]), Some(vec![4, 5]));
    }

    #[test]
    fn what_only_one_counter_takes_moves_the_others() {
        assert_eq!(place(&[free(ALL), free(1 << 4), free(1 << 10)]), Some(vec![5, 4, 10]));
    }

    #[test]
    fn one_of_a_set_of_the_first_level_is_on_pmc5() {
        let set = CounterSet::L1Data(2);
        assert_eq!(place(&[free(ALL), Want { counters: ALL, rightly: ALL, ..of(set, 0) }]), Some(vec![4, 5]));
    }

    #[test]
    fn a_group_of_the_second_level_has_its_leader_and_two_more() {
        let one = of(CounterSet::L2Data(3), 1);
        assert_eq!(place(&[one; 3]), Some(vec![4, 5, 8]));
        assert_eq!(place(&[one; 4]), None);
    }

    #[test]
    fn a_second_group_is_led_by_pmc6() {
        let (one, other) = (of(CounterSet::L2Data(3), 1), of(CounterSet::L2Data(3), 2));
        assert_eq!(place(&[one, other]), Some(vec![4, 6]));
        assert_eq!(place(&[one, other, of(CounterSet::L2Data(4), 1)]), None);
    }

    #[test]
    fn a_group_of_three_leaves_pmc5_to_the_first_level() {
        let (first, second) = (of(CounterSet::L1Data(0), 0), of(CounterSet::L2Data(3), 1));
        let placed = place(&[second, second, second, first]).unwrap();
        assert_eq!(placed, [6, 7, 9, 5]);
    }

    #[test]
    fn what_the_background_would_spoil_takes_an_upper_counter_only_for_want_of_a_lower_one() {
        let floating = Want { rightly: LOWER, ..free(ALL) };
        assert_eq!(place(&[free(ALL), floating]), Some(vec![5, 4]));
        assert_eq!(place(&[floating; 7]), Some(vec![4, 5, 6, 7, 8, 9, 10]));
    }

    #[test]
    fn there_are_no_more_than_the_counters() {
        assert_eq!(place(&[free(ALL); 13]), None);
    }
}
