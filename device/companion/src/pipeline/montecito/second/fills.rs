//! Lines that the second level has requested, and their use of its data array.

use super::operation::{OperationKind, PARTS, QueuedOperation, banks_of};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{number, pick, small, time};

/// Maximum number of lines in flight, each with the line that it displaces (M 2.3.3.2).
pub(super) const FILLS: usize = 16;

/// A line in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct DataFill {
    /// Whether the entry is taken, until the line is written.
    pub(super) taken: bool,
    /// Whether its first part has arrived.
    pub(super) came: bool,
    /// Whether a store is merged into it.
    pub(super) writes: bool,
    /// Whether the operation that requested it is an acquire.
    pub(super) acquires: bool,
    /// Whether the line that it displaces is modified.
    evicts: bool,
    pub(super) line: u64,
    /// The part that is needed first.
    part: u64,
    /// Number and kind of the operation that requested it.
    pub(super) number: u64,
    pub(super) kind: OperationKind,
    /// The clocks in which that operation looked up the line, the line is requested, and its first part arrives.
    pub(super) looked: u64,
    from: u64,
    pub(super) arrival: u64,
}

impl DataFill {
    /// Returns when its entry is free.
    pub(super) fn until(&self) -> u64 {
        self.arrival + PARTS
    }

    fn is_missing(&self) -> bool {
        self.taken && !self.came
    }
}

/// The lines in flight.
#[derive(Clone, Debug)]
pub(super) struct Fills {
    pub(super) all: [DataFill; FILLS],
}

impl Fills {
    pub(super) fn new() -> Fills {
        Fills { all: [DataFill::default(); FILLS] }
    }

    pub(super) fn has_room(&self) -> bool {
        self.all.iter().any(|fill| !fill.taken)
    }

    /// Returns whether all entries are taken, and whether all have a line to write back.
    pub(super) fn are_full(&self) -> (bool, bool) {
        (self.all.iter().all(|fill| fill.taken), self.all.iter().all(|fill| fill.taken && fill.evicts))
    }

    /// Returns the fill of a line in flight.
    pub(super) fn find(&self, line: u64) -> Option<&DataFill> {
        self.all.iter().find(|fill| fill.is_missing() && fill.line == line)
    }

    /// Returns the fills that operations before `number` wait for.
    pub(super) fn before(&self, number: u64) -> impl Iterator<Item = &DataFill> {
        self.all.iter().filter(move |fill| fill.is_missing() && fill.number < number)
    }

    /// Requests a line in clock `now` for an operation that looked it up in clock `looked`.
    pub(super) fn ask(&mut self, operation: &QueuedOperation, number: u64, looked: u64, now: u64) {
        let Some(place) = self.all.iter_mut().find(|fill| !fill.taken) else { return };
        *place = DataFill {
            taken: true,
            came: false,
            writes: operation.kind.writes(),
            acquires: operation.order.acquires(),
            evicts: operation.evicts,
            line: operation.line(),
            part: operation.part(),
            number,
            kind: operation.kind,
            looked,
            from: now,
            // A request from L1D is made in the next clock.
            arrival: (now + operation.latency).saturating_sub(1).max(now + 1),
        };
    }

    /// Returns the next clock in which any fill advances.
    pub(super) fn next(&self) -> Option<u64> {
        let taken = self.all.iter().filter(|fill| fill.taken);
        taken.map(|fill| if fill.came { fill.until() } else { fill.arrival }).min()
    }

    /// Returns the banks that lines are written to in clock `now`.
    pub(super) fn written(&self, now: u64) -> u16 {
        let moving = self.all.iter().filter(|fill| fill.taken && (fill.arrival..fill.until()).contains(&now));
        moving.fold(0, |banks, fill| banks | banks_of(fill.line, fill.part + now - fill.arrival))
    }

    /// Returns the banks that are read for write-backs in clock `now`.
    pub(super) fn read(&self, now: u64) -> u16 {
        let moving = self.all.iter().filter(|fill| fill.taken && fill.evicts && (fill.from..fill.from + PARTS).contains(&now));
        moving.fold(0, |banks, fill| banks | banks_of(fill.line, now - fill.from))
    }

    /// Whether a line that arrives in clock `now` merges the data of stores.
    pub(super) fn merge(&self, now: u64) -> bool {
        self.all.iter().any(|fill| fill.taken && fill.writes && fill.arrival == now)
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        for fill in &self.all {
            let flags = [fill.taken, fill.came, fill.writes, fill.acquires, fill.evicts];
            let flags = flags.iter().rev().fold(0, |flags, flag| flags << 1 | u64::from(*flag));
            writer.words(&[flags, fill.line, fill.part, fill.number, number(&OperationKind::ALL, &fill.kind)]);
            writer.words(&[fill.looked, fill.from, fill.arrival]);
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for fill in &mut self.all {
            let flags = small(reader, 0b1_1111)?;
            let flag = |bit: u32| flags >> bit & 1 == 1;
            *fill = DataFill {
                taken: flag(0),
                came: flag(1),
                writes: flag(2),
                acquires: flag(3),
                evicts: flag(4),
                line: reader.word()?,
                part: u64::from(small(reader, PARTS as usize - 1)?),
                number: reader.word()?,
                kind: pick(&OperationKind::ALL, reader)?,
                looked: time(reader, now)?,
                from: time(reader, now)?,
                arrival: time(reader, now)?,
            };
        }
        Ok(())
    }
}
