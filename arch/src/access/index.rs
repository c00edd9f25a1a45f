//! Indices that a guest chooses.
//!
//! A processor that predicts a comparison wrongly goes on with an index that the comparison refuses, and what it then loads leaves traces
//! in the caches that another program can find. So an index that a guest chooses is made valid without a branch before it is used, as well
//! as compared: whatever is predicted, nothing beyond the array is loaded.
//!
//! The compiler must not conclude from the comparison that the arithmetic changes nothing, and leave it out. [`black_box`] takes from it
//! what it knows of the index. No compiler promises that, but code without assembly language can do no better.

use core::hint::black_box;

/// `index` if it is below `len`, else 0, by arithmetic alone.
///
/// ```
/// use vm_pmu_arch::access::masked;
///
/// assert_eq!([0, 3, 4, usize::MAX].map(|index| masked(index, 4)), [0, 3, 0, 0]);
/// ```
#[must_use]
#[inline]
pub const fn masked(index: usize, len: usize) -> usize {
    let index = black_box(index);
    // Nothing is longer than half the address space: the top bit tells an index beyond the last from others.
    let last = len.wrapping_sub(1);
    let beyond = (index | last.wrapping_sub(index)).cast_signed() >> (usize::BITS - 1);
    index & !beyond.cast_unsigned()
}

/// The cell that a guest chooses by `index`, if there is one.
///
/// ```
/// use vm_pmu_arch::access::chosen;
///
/// assert_eq!(chosen(&[5, 6], 1), Some(&6));
/// assert_eq!(chosen(&[5, 6], 2), None);
/// ```
#[must_use]
#[inline]
pub fn chosen<T>(cells: &[T], index: usize) -> Option<&T> {
    if index < cells.len() { cells.get(masked(index, cells.len())) } else { None }
}

/// As [`chosen`], to be changed.
#[must_use]
#[inline]
pub fn chosen_mut<T>(cells: &mut [T], index: usize) -> Option<&mut T> {
    let len = cells.len();
    if index < len { cells.get_mut(masked(index, len)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_index_stays_where_it_is_valid_and_is_0_elsewhere(index: usize, near in 0..70usize, len in 0..64usize) {
            for index in [index, near, near.wrapping_neg(), isize::MAX as usize - near] {
                prop_assert_eq!(masked(index, len), if index < len { index } else { 0 });
            }
        }

        #[test]
        fn a_chosen_cell_is_that_of_its_index(index in 0..70usize, len in 0..64usize) {
            let mut cells = [0; 64];
            (0..).zip(&mut cells).for_each(|(number, cell)| *cell = number);
            let cells = &mut cells[..len];
            let expected = if index < len { Some(index) } else { None };
            prop_assert_eq!(chosen(cells, index).copied(), expected);
            prop_assert_eq!(chosen_mut(cells, index).copied(), expected);
        }
    }

    #[test]
    fn the_longest_array_has_every_index_below_its_length() {
        let len = isize::MAX as usize;
        assert_eq!([0, len - 1, len, usize::MAX].map(|index| masked(index, len)), [0, len - 1, 0, 0]);
    }
}
