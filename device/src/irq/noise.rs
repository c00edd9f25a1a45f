//! How much is logged of what a guest can cause: it must not fill its host's log.

use core::fmt;
use core::sync::atomic::Ordering::Relaxed;

use vm_pmu_arch::atomic::AtomicU64;

/// How many messages of a kind are logged before any is left out.
const FIRST: u64 = 4;

/// A kind of message, and how many there were. The first four are logged, then the eighth, the sixteenth and so on, each with the number
/// of those that were left out before it: it takes no clock, and a guest that doubles its effort has one line more.
#[derive(Debug, Default)]
pub(super) struct Kind(AtomicU64);

impl Kind {
    /// There is one more message. Returns what to add to it if it is to be logged.
    pub(super) fn another(&self) -> Option<LeftOut> {
        let number = self.0.fetch_add(1, Relaxed).wrapping_add(1);
        if number <= FIRST { Some(LeftOut(0)) } else { number.is_power_of_two().then(|| LeftOut(number / 2 - 1)) }
    }
}

/// How many messages were left out since the last of their kind; it prints what to add to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeftOut(u64);

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => formatter.write_str(" (1 message like it was left out)"),
            more => write!(formatter, " ({more} messages like it were left out)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_four_are_logged_and_then_each_that_doubles_them() {
        let kind = Kind::default();
        let logged: std::vec::Vec<_> = (1..=40).filter_map(|number| kind.another().map(|LeftOut(more)| (number, more))).collect();
        // Of 5 to 7, of 9 to 15, of 17 to 31.
        assert_eq!(logged, [(1, 0), (2, 0), (3, 0), (4, 0), (8, 3), (16, 7), (32, 15)]);
    }
}
