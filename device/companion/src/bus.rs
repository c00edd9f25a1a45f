//! Transactions of the front-side bus of Itanium processors.
//!
//! The names of its kinds: BRL reads a line, BRIL reads it to write it, BIL only takes it from others; BWL writes a line; BRP and BWP read
//! and write a part; BRC reads a line that others keep. `docs/notes/fabric-ia64.md` has the rules.

use core::ops::Range;

use vm_pmu_arch::feed::Signal;

use crate::bus_traffic::{LINE_CLOCKS, Lines, Work};
use crate::tally::Tally;

/// The physical addresses whose accesses are I/O transactions: 64 MiB below 2^44, a chosen value.
const PORTS: Range<u64> = 0x0FFF_FC00_0000..0x1000_0000_0000;

/// Size in bytes of the largest pieces in which combined stores are written.
const PIECE: u32 = 32;

pub(crate) fn count_uncacheable(physical: u64, line: u64, stores: bool, tally: &mut Tally) {
    let signal = match (PORTS.contains(&physical), stores) {
        (true, false) => Signal::BusIoReads,
        (true, true) => Signal::BusIoWrites,
        (false, false) => Signal::BusPartialReads,
        (false, true) => Signal::BusPartialWrites,
    };
    transact(signal, line, tally);
}

/// Counts a transaction of this kind on `line`.
pub(crate) fn transact(kind: Signal, line: u64, tally: &mut Tally) {
    ask(kind, line, tally);
    count_transaction(kind, tally);
}

/// Records the work of a transaction of this kind on `line`.
pub(crate) fn ask(kind: Signal, line: u64, tally: &mut Tally) {
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
pub(crate) fn move_data(kind: Signal, tally: &mut Tally) {
    let clocks = match kind {
        Signal::BusInvalidations | Signal::BusCleanCastouts => 0,
        Signal::BusPartialReads | Signal::BusPartialWrites | Signal::BusIoReads | Signal::BusIoWrites => 1,
        _ => LINE_CLOCKS,
    };
    tally.add(Signal::BusDataCycles, clocks);
}

/// Counts a write-combining buffer that is written out: as one line, or in aligned pieces of 32, 16 and up to 8 bytes.
/// `mask` has a bit for each byte that is written; it is `None` for a whole line.
pub(crate) fn count_combined(line: u64, mask: Option<u128>, tally: &mut Tally) {
    let Some(mask) = mask else { return transact(Signal::BusLineWrites, line, tally) };
    know(Work::Pieces, line, tally);
    let bytes = |from: u32, size: u32| (mask >> from.min(127)) as u64 & ((1 << size) - 1);
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
pub(crate) enum AgentOperation {
    /// A read of all of it, which keeps nothing: BRC.
    Current,
    /// A read of a part, which keeps the line: BRL.
    Read,
    /// A write of all of it: BIL, then BWL.
    Overwrite,
    /// A write of a part, or a change: BRIL, then BWL.
    Change,
}

impl AgentOperation {
    /// Returns the transfer by which a device reads or writes in a line, or all of it.
    pub(crate) fn of(writes: bool, whole: bool) -> AgentOperation {
        match (writes, whole) {
            (false, true) => AgentOperation::Current,
            (false, false) => AgentOperation::Read,
            (true, true) => AgentOperation::Overwrite,
            (true, false) => AgentOperation::Change,
        }
    }

    pub(crate) fn count(self, line: u64, tally: &mut Tally) {
        let (first, second) = match self {
            AgentOperation::Current => (Signal::BusCurrentReads, None),
            AgentOperation::Read => (Signal::BusLineReadsData, None),
            AgentOperation::Overwrite => (Signal::BusInvalidations, Some(Signal::BusLineWrites)),
            AgentOperation::Change => (Signal::BusOwnershipReads, Some(Signal::BusLineWrites)),
        };
        [Some(first), second].into_iter().flatten().for_each(|signal| transact(signal, line, tally));
    }

    /// Returns the signal that counts if a processor has the line modified.
    pub(crate) fn modified(self) -> Option<Signal> {
        match self {
            AgentOperation::Current => None,
            AgentOperation::Read => Some(Signal::BusReadsHitModified),
            AgentOperation::Overwrite => Some(Signal::BusInvalidationsHitModified),
            AgentOperation::Change => Some(Signal::BusOwnershipReadsHitModified),
        }
    }
}
