//! The traffic that an access causes on the front-side bus of an Itanium: an amount for each kind of work, and the lines.

use crate::bytes::{Damaged, Reader, Writer};

/// Bus clocks for a line of 128 bytes.
pub(crate) const LINE_CLOCKS: u64 = 128 / (2 * 16);

/// The work that a transaction of a core causes on the bus and its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Work {
    /// BRL and BRIL.
    LineReads,
    /// BIL.
    Invalidations,
    /// BRP, and reads of I/O.
    PartialReads,
    /// BWP and writes of I/O that nobody waits for.
    Posted,
    /// BWL.
    LineWrites,
    /// BWP of combined stores.
    Pieces,
    /// Clean castouts.
    Castouts,
    /// No transaction: hits in the third level.
    ThirdHits,
}

/// Kinds of work, and bits for the amount of each. Amounts saturate.
const WORKS: [Work; 8] = [
    Work::LineReads,
    Work::Invalidations,
    Work::PartialReads,
    Work::Posted,
    Work::LineWrites,
    Work::Pieces,
    Work::Castouts,
    Work::ThirdHits,
];
const WORK_BITS: u32 = 7;
const MOST_WORK: u64 = (1 << WORK_BITS) - 1;
/// Position in the same word of the place of its lines.
const PLACE_SHIFT: u32 = WORK_BITS * WORKS.len() as u32;
pub(crate) const PLACES: usize = 64;

/// The lines that a core makes the bus carry for one access: the one that it requests, the one that it writes, and the one that it casts
/// out. If there are several of a kind, none is known, because nothing tells which transaction has which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) asked: u64,
    pub(crate) written: u64,
    pub(crate) cast_out: u64,
}

impl Lines {
    /// No line; no line has this number.
    pub(crate) const UNKNOWN: u64 = u64::MAX;
    pub(crate) const NONE: Lines = Lines { asked: Lines::UNKNOWN, written: Lines::UNKNOWN, cast_out: Lines::UNKNOWN };
}

/// The amount of each kind of [`Work`] that a core has made the bus do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BusTraffic(u64);

impl BusTraffic {
    pub(crate) const NONE: BusTraffic = BusTraffic(0);

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn add(&mut self, work: Work, amount: u64) {
        let more = amount.min(MOST_WORK - self.count(work));
        self.0 += more << (WORK_BITS * work as u32);
    }

    /// Returns it with its lines at this place.
    pub(crate) fn at(self, place: usize) -> BusTraffic {
        BusTraffic(self.without_lines().0 | ((place % PLACES + 1) as u64) << PLACE_SHIFT)
    }

    /// Returns the place of its lines, if they are kept.
    pub(crate) fn place(self) -> Option<usize> {
        ((self.0 >> PLACE_SHIFT) as usize).checked_sub(1)
    }

    fn without_lines(self) -> BusTraffic {
        BusTraffic(self.0 & ((1 << PLACE_SHIFT) - 1))
    }

    /// Adds the work of others. The lines of several are not known.
    pub(crate) fn join(&mut self, other: BusTraffic) {
        if self.is_none() {
            *self = other;
        } else if !other.is_none() {
            *self = self.without_lines();
            WORKS.into_iter().for_each(|work| self.add(work, other.count(work)));
        }
    }

    pub(crate) fn count(self, work: Work) -> u64 {
        self.0 >> (WORK_BITS * work as u32) & MOST_WORK
    }

    pub(crate) fn save(self, writer: &mut Writer) {
        writer.word(self.0);
    }

    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<BusTraffic, Damaged> {
        Ok(BusTraffic(Some(reader.word()?).filter(|word| word >> PLACE_SHIFT <= PLACES as u64).ok_or(Damaged)?))
    }
}
