//! Transactions of the front-side bus of Itanium processors.
//!
//! The names of its kinds: BRL reads a line, BRIL reads it to write it, BIL only takes it from others; BWL writes a line; BRP and BWP read
//! and write a part; BRC reads a line that others keep. `docs/notes/fabric-ia64.md` has the rules.

use core::ops::Range;

use vm_pmu_arch::feed::Signal;

use super::bytes::{Damaged, Reader, Writer};
use super::streams::Written;
use super::tally::Tally;

/// The physical addresses whose accesses are I/O transactions: 64 MiB below 2^44, a chosen value.
const PORTS: Range<u64> = 0x0FFF_FC00_0000..0x1000_0000_0000;

/// Bus clocks for a line of 128 bytes.
pub(super) const LINE_CLOCKS: u64 = 128 / (2 * 16);

/// Size in bytes of the largest pieces in which combined stores are written.
const PIECE: u32 = 32;

pub(super) fn count_uncacheable(physical: u64, line: u64, stores: bool, tally: &mut Tally) {
    let signal = match (PORTS.contains(&physical), stores) {
        (true, false) => Signal::BusIoReads,
        (true, true) => Signal::BusIoWrites,
        (false, false) => Signal::BusPartialReads,
        (false, true) => Signal::BusPartialWrites,
    };
    transact(signal, line, tally);
}

/// The work that a transaction of a core causes on the bus and its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Work {
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
pub(super) const PLACES: usize = 64;

/// The lines that a core makes the bus carry for one access: the one that it requests, the one that it writes, and the one that it casts
/// out. If there are several of a kind, none is known, because nothing tells which transaction has which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) asked: u64,
    pub(super) written: u64,
    pub(super) cast_out: u64,
}

impl Lines {
    /// No line; no line has this number.
    pub(super) const UNKNOWN: u64 = u64::MAX;
    pub(super) const NONE: Lines = Lines { asked: Lines::UNKNOWN, written: Lines::UNKNOWN, cast_out: Lines::UNKNOWN };
}

/// The amount of each kind of [`Work`] that a core has made the bus do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried(u64);

impl Carried {
    pub(super) const NONE: Carried = Carried(0);

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn add(&mut self, work: Work, amount: u64) {
        let more = amount.min(MOST_WORK - self.count(work));
        self.0 += more << (WORK_BITS * work as u32);
    }

    /// Returns it with its lines at this place.
    pub(super) fn at(self, place: usize) -> Carried {
        Carried(self.without_lines().0 | ((place % PLACES + 1) as u64) << PLACE_SHIFT)
    }

    /// Returns the place of its lines, if they are kept.
    pub(super) fn place(self) -> Option<usize> {
        ((self.0 >> PLACE_SHIFT) as usize).checked_sub(1)
    }

    fn without_lines(self) -> Carried {
        Carried(self.0 & ((1 << PLACE_SHIFT) - 1))
    }

    /// Adds the work of others. The lines of several are not known.
    pub(super) fn join(&mut self, other: Carried) {
        if self.is_none() {
            *self = other;
        } else if !other.is_none() {
            *self = self.without_lines();
            WORKS.into_iter().for_each(|work| self.add(work, other.count(work)));
        }
    }

    pub(super) fn count(self, work: Work) -> u64 {
        self.0 >> (WORK_BITS * work as u32) & MOST_WORK
    }

    pub(super) fn save(self, writer: &mut Writer) {
        writer.word(self.0);
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<Carried, Damaged> {
        Ok(Carried(Some(reader.word()?).filter(|word| word >> PLACE_SHIFT <= PLACES as u64).ok_or(Damaged)?))
    }
}

/// Counts a transaction of this kind on `line`.
pub(super) fn transact(kind: Signal, line: u64, tally: &mut Tally) {
    ask(kind, line, tally);
    count_transaction(kind, tally);
}

/// Records the work of a transaction of this kind on `line`.
pub(super) fn ask(kind: Signal, line: u64, tally: &mut Tally) {
    let work = match kind {
        Signal::BusLineReadsData | Signal::BusLineReadsInstruction | Signal::BusOwnershipReads => Work::LineReads,
        Signal::BusInvalidations => Work::Invalidations,
        Signal::BusPartialReads | Signal::BusIoReads => Work::PartialReads,
        Signal::BusLineWrites => Work::LineWrites,
        Signal::BusCleanCastouts => Work::Castouts,
        _ => Work::Posted,
    };
    know(work, line, tally);
    tally.carried.add(work, 1);
}

/// Records that the next transaction for `work` is on `line`.
fn know(work: Work, line: u64, tally: &mut Tally) {
    let (kinds, known): (&[Work], _) = match work {
        Work::LineWrites | Work::Pieces => (&[Work::LineWrites, Work::Pieces], &mut tally.lines.written),
        Work::Castouts => (&[Work::Castouts], &mut tally.lines.cast_out),
        _ => (&[Work::LineReads, Work::Invalidations, Work::PartialReads, Work::Posted], &mut tally.lines.asked),
    };
    let is_first = kinds.iter().all(|kind| tally.carried.count(*kind) == 0);
    *known = if is_first || *known == line { line } else { Lines::UNKNOWN };
}

fn count_transaction(kind: Signal, tally: &mut Tally) {
    tally.add(kind, 1);
    tally.add(Signal::BusTransactions, 1);
    move_data(kind, tally);
}

/// Counts the bus clocks in which a transaction of this kind has data on the bus, which moves 16 bytes twice per clock.
pub(super) fn move_data(kind: Signal, tally: &mut Tally) {
    let clocks = match kind {
        Signal::BusInvalidations | Signal::BusCleanCastouts => 0,
        Signal::BusPartialReads | Signal::BusPartialWrites | Signal::BusIoReads | Signal::BusIoWrites => 1,
        _ => LINE_CLOCKS,
    };
    tally.add(Signal::BusDataCycles, clocks);
}

/// Counts a write-combining buffer that is written out: as one line, or in aligned pieces of 32, 16 and up to 8 bytes.
pub(super) fn count_combined(written: &Written, tally: &mut Tally) {
    if written.whole {
        return transact(Signal::BusLineWrites, written.line, tally);
    }
    know(Work::Pieces, written.line, tally);
    let bytes = |from: u32, size: u32| (written.mask >> from.min(127)) as u64 & ((1 << size) - 1);
    let mut count = |signal| {
        tally.add(signal, 1);
        tally.carried.add(Work::Pieces, 1);
        count_transaction(Signal::BusPartialWrites, tally);
    };
    for begin in (0..u128::BITS).step_by(PIECE as usize) {
        if bytes(begin, PIECE) == u64::from(u32::MAX) {
            count(Signal::CombinedWrites32);
            continue;
        }
        for half in [begin, begin + 16] {
            if bytes(half, 16) == u64::from(u16::MAX) {
                count(Signal::CombinedWrites16);
                continue;
            }
            if bytes(half, 8) != 0 {
                count(Signal::CombinedWrites8Even);
            }
            if bytes(half + 8, 8) != 0 {
                count(Signal::CombinedWrites8Odd);
            }
        }
    }
}

/// An operation on a line by an agent that is no processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// A read of all of it, which keeps nothing: BRC.
    Current,
    /// A read of a part, which keeps the line: BRL.
    Read,
    /// A write of all of it: BIL, then BWL.
    Overwrite,
    /// A write of a part, or a change: BRIL, then BWL.
    Change,
}

impl Transfer {
    /// Returns the transfer by which a device reads or writes in a line, or all of it.
    pub(super) fn of(writes: bool, whole: bool) -> Transfer {
        match (writes, whole) {
            (false, true) => Transfer::Current,
            (false, false) => Transfer::Read,
            (true, true) => Transfer::Overwrite,
            (true, false) => Transfer::Change,
        }
    }

    pub(super) fn count(self, line: u64, tally: &mut Tally) {
        let (first, second) = match self {
            Transfer::Current => (Signal::BusCurrentReads, None),
            Transfer::Read => (Signal::BusLineReadsData, None),
            Transfer::Overwrite => (Signal::BusInvalidations, Some(Signal::BusLineWrites)),
            Transfer::Change => (Signal::BusOwnershipReads, Some(Signal::BusLineWrites)),
        };
        [Some(first), second].into_iter().flatten().for_each(|signal| transact(signal, line, tally));
    }

    /// Returns the signal that counts if a processor has the line modified.
    pub(super) fn modified(self) -> Option<Signal> {
        match self {
            Transfer::Current => None,
            Transfer::Read => Some(Signal::BusReadsHitModified),
            Transfer::Overwrite => Some(Signal::BusInvalidationsHitModified),
            Transfer::Change => Some(Signal::BusOwnershipReadsHitModified),
        }
    }
}
