//! Counters for events of which each allows some.

/// A counter for each, out of those allowed; what has the least choice is placed first, and the lowest counter is taken.
pub(super) fn matched(allowed: &[u32]) -> Option<Vec<u32>> {
    let mut order: Vec<usize> = (0..allowed.len()).collect();
    order.sort_by_key(|index| allowed[*index].count_ones());
    let mut owner: [Option<usize>; 32] = [None; 32];
    for index in order {
        if !seat(index, allowed, &mut owner, &mut 0) {
            return None;
        }
    }
    (0..allowed.len()).map(|index| owner.iter().position(|one| *one == Some(index)).map(|counter| counter as u32)).collect()
}

/// Finds a counter for `index`, moving others only if none is free; `seen` are the counters that were tried.
fn seat(index: usize, allowed: &[u32], owner: &mut [Option<usize>; 32], seen: &mut u32) -> bool {
    let mine = |counter: &usize| allowed[index] >> counter & 1 == 1;
    if let Some(counter) = (0..32usize).filter(mine).find(|counter| owner[*counter].is_none()) {
        owner[counter] = Some(index);
        return true;
    }
    for counter in (0..32usize).filter(mine) {
        if *seen >> counter & 1 == 1 {
            continue;
        }
        *seen |= 1 << counter;
        if owner[counter].is_none_or(|other| seat(other, allowed, owner, seen)) {
            owner[counter] = Some(index);
            return true;
        }
    }
    false
}

/// The first two that each need the same one counter.
pub(super) fn rivals(allowed: impl IntoIterator<Item = u32>) -> Option<(usize, usize)> {
    let allowed: Vec<u32> = allowed.into_iter().collect();
    let rival =
        |(at, one): (usize, &u32)| allowed.iter().take(at).position(|other| one.count_ones() == 1 && one == other).map(|first| (first, at));
    allowed.iter().enumerate().find_map(rival)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_least_choice_is_placed_first() {
        assert_eq!(matched(&[0b11, 0b01]), Some(vec![1, 0]));
        assert_eq!(matched(&[0b11, 0b11]), Some(vec![0, 1]));
    }

    #[test]
    fn others_move_for_what_finds_no_counter_free() {
        // The third finds 0 and 1 taken: the first moves to 1, for which the second moves to 2.
        assert_eq!(matched(&[0b011, 0b110, 0b011]), Some(vec![1, 2, 0]));
    }

    #[test]
    fn rivals_need_the_same_one_counter() {
        assert_eq!(rivals([0b11, 0b10, 0b01, 0b10]), Some((1, 3)));
        assert_eq!(rivals([0b11, 0b11, 0b01]), None);
    }

    #[test]
    fn there_may_be_too_few() {
        assert_eq!(matched(&[0b01, 0b01]), None);
        assert_eq!(matched(&[]), Some(Vec::new()));
    }
}
