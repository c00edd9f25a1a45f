//! What a box's queues hold, and which of its states hold, whether a counter follows them or not: a counter that begins while entries are
//! there counts them.

use super::transaction::Transaction;

/// How many queues and states of a box can hold something at once. All the levels of a box and its mesh stop are fewer (chapters 5 to 8).
const QUEUES: usize = 64;

/// How many requests the table of a CHA keeps. More than Max Inc, 28, count in no clock (TOR_OCCUPANCY).
const TABLE: usize = 32;

/// A queue that holds something, or a state that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HeldQueue {
    /// The event select that it is reported by.
    pub select: u8,
    /// The unit mask that it is reported by.
    pub umask: u8,
    /// Its entries; 0 marks a free place.
    pub level: u64,
}

/// What a box holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Held {
    #[cfg_attr(feature = "serde", serde(with = "packed"))]
    queues: [HeldQueue; QUEUES],
    #[cfg_attr(feature = "serde", serde(with = "packed"))]
    table: [Option<Transaction>; TABLE],
}

impl Default for Held {
    fn default() -> Held {
        Held::EMPTY
    }
}

impl Held {
    /// Nothing is in any queue.
    pub const EMPTY: Held = Held { queues: [HeldQueue { select: 0, umask: 0, level: 0 }; QUEUES], table: [None; TABLE] };

    /// The queues that hold something.
    pub(super) fn queues(&self) -> impl Iterator<Item = &HeldQueue> {
        self.queues.iter().filter(|queue| queue.level != 0)
    }

    /// The requests in the table.
    pub(super) fn table(&self) -> impl Iterator<Item = &Transaction> {
        self.table.iter().flatten()
    }

    /// The entries of the queue of this select and unit mask.
    pub(super) fn level(&self, (select, umask): (u8, u8)) -> u64 {
        self.queues().find(|queue| (queue.select, queue.umask) == (select, umask)).map_or(0, |queue| queue.level)
    }

    /// The queue of this select and unit mask has `change` entries more. A queue for which there is no place is forgotten. Returns how
    /// many it has more: none leave that are not there.
    pub(super) fn change(&mut self, (select, umask): (u8, u8), change: i64) -> i64 {
        let is_it = |queue: &HeldQueue| queue.level != 0 && (queue.select, queue.umask) == (select, umask);
        let place = self.queues.iter().position(is_it).or_else(|| self.queues.iter().position(|queue| queue.level == 0));
        let Some(queue) = place.and_then(|place| self.queues.get_mut(place)) else { return 0 };
        let before = queue.level;
        let level = before.saturating_add_signed(change);
        *queue = if level == 0 { HeldQueue::default() } else { HeldQueue { select, umask, level } };
        level.wrapping_sub(before).cast_signed()
    }

    /// A request enters the table. One for which there is no place would wait, and is forgotten. Returns how many entries there are more.
    pub(super) fn enter(&mut self, transaction: &Transaction) -> i64 {
        let Some(place) = self.table.iter_mut().find(|place| place.is_none()) else { return 0 };
        *place = Some(*transaction);
        1
    }

    /// A request leaves the table. Returns how many entries there are more: none leaves that is not there.
    pub(super) fn leave(&mut self, transaction: &Transaction) -> i64 {
        let Some(place) = self.table.iter_mut().find(|place| place.as_ref() == Some(transaction)) else { return 0 };
        *place = None;
        -1
    }

    /// The same with the free places moved to the end, as it is saved.
    pub(super) fn packed(&self) -> Held {
        let mut packed = Held::EMPTY;
        for (place, queue) in packed.queues.iter_mut().zip(self.queues()) {
            *place = *queue;
        }
        for (place, entry) in packed.table.iter_mut().zip(self.table()) {
            *place = Some(*entry);
        }
        packed
    }
}

/// An array of which only what is used is saved.
#[cfg(feature = "serde")]
mod packed {
    use core::fmt;
    use core::marker::PhantomData;

    use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
    use serde::ser::{Serialize, SerializeSeq, Serializer};

    pub(super) fn serialize<S: Serializer, T: Serialize + Default + PartialEq, const N: usize>(
        all: &[T; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let used = || all.iter().filter(|one| **one != T::default());
        let mut sequence = to.serialize_seq(Some(used().count()))?;
        for one in used() {
            sequence.serialize_element(one)?;
        }
        sequence.end()
    }

    struct Used<T, const N: usize>(PhantomData<T>);

    impl<'a, T: Deserialize<'a> + Copy + Default, const N: usize> Visitor<'a> for Used<T, N> {
        type Value = [T; N];

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(formatter, "no more than {N}")
        }

        fn visit_seq<A: SeqAccess<'a>>(self, mut sequence: A) -> Result<[T; N], A::Error> {
            let mut all = [T::default(); N];
            for place in &mut all {
                match sequence.next_element()? {
                    Some(one) => *place = one,
                    None => return Ok(all),
                }
            }
            match sequence.next_element::<T>()? {
                Some(_) => Err(A::Error::invalid_length(N.saturating_add(1), &self)),
                None => Ok(all),
            }
        }
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>, T: Deserialize<'a> + Copy + Default, const N: usize>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        from.deserialize_seq(Used(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_no_fewer_entries_than_none() {
        let mut held = Held::EMPTY;
        held.change((0x07, 0), -5);
        held.change((0x07, 0), 3);
        held.change((0x07, 1), 2);
        assert_eq!([held.level((0x07, 0)), held.level((0x07, 1)), held.level((0x08, 0))], [3, 2, 0]);
        held.change((0x07, 0), -9);
        assert_eq!(held.queues().count(), 1);
    }

    #[test]
    fn a_request_that_leaves_is_the_one_that_came() {
        let (mut held, request) = (Held::EMPTY, Transaction::default());
        held.enter(&request);
        held.enter(&request);
        held.leave(&Transaction { opcode: 1, ..request });
        assert_eq!(held.table().count(), 2);
        held.leave(&request);
        assert_eq!(held.table().count(), 1);
    }

    #[test]
    fn what_there_is_no_place_for_is_forgotten() {
        let mut held = Held::EMPTY;
        for umask in 0..100 {
            held.change((0x90, umask), 1);
            held.enter(&Transaction { opcode: umask.into(), ..Transaction::default() });
        }
        assert_eq!((held.queues().count(), held.table().count()), (QUEUES, TABLE));
        held.change((0x90, 0), -1);
        held.change((0x90, 99), 4);
        assert_eq!(held.level((0x90, 99)), 4);
    }

    #[test]
    fn what_is_saved_says_the_same_without_gaps() {
        let mut held = Held::EMPTY;
        for umask in 1..4 {
            held.change((0x90, umask), 1);
            held.enter(&Transaction { opcode: umask.into(), ..Transaction::default() });
        }
        held.change((0x90, 1), -1);
        held.leave(&Transaction { opcode: 1, ..Transaction::default() });
        let packed = held.packed();
        assert!(packed.queues().eq(packed.queues.iter().take(2)));
        assert!(packed.table().map(|entry| entry.opcode).eq([2, 3]));
        assert_eq!(packed.packed(), packed);
    }
}
