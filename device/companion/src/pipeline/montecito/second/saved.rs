//! Save and restore of the queue.

use super::SecondQueue;
use super::entries::{EntryState, QueueEntry};
use super::operation::{OperationKind, Order, QueuedOperation};
use super::states::OPERATIONS;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{number, pick, small, time};

impl QueuedOperation {
    fn save(&self, writer: &mut Writer) {
        writer.words(&[self.place, u64::from(self.size), number(&OperationKind::ALL, &self.kind), number(&Order::ALL, &self.order)]);
        let flags = [self.uncached, self.missed, self.evicts];
        writer.words(&[flags.iter().rev().fold(0, |flags, flag| flags << 1 | u64::from(*flag)), self.latency]);
    }

    fn load(reader: &mut Reader<'_>) -> Result<QueuedOperation, Damaged> {
        let (place, size) = (reader.word()?, small(reader, 255)?);
        let (kind, order, flags) = (pick(&OperationKind::ALL, reader)?, pick(&Order::ALL, reader)?, small(reader, 0b111)?);
        let flag = |bit: u32| flags >> bit & 1 == 1;
        let latency = time(reader, 0)?;
        Ok(QueuedOperation { place, size, kind, order, uncached: flag(0), missed: flag(1), evicts: flag(2), latency })
    }
}

impl QueueEntry {
    fn save(&self, writer: &mut Writer) {
        self.operation.save(writer);
        writer.words(&[self.number, self.looked, number(&EntryState::STATES, &self.state), self.at, self.tried]);
        writer.words(&[u64::from(self.cancelled) | u64::from(self.effective) << 1, self.blocker.unwrap_or(0)]);
    }

    fn load(reader: &mut Reader<'_>, now: u64) -> Result<QueueEntry, Damaged> {
        let operation = QueuedOperation::load(reader)?;
        let (number, looked, state) = (reader.word()?, time(reader, now)?, pick(&EntryState::STATES, reader)?);
        let (at, tried, flags) = (time(reader, now)?, time(reader, now)?, small(reader, 0b11)?);
        let blocker = Some(reader.word()?).filter(|number| *number != 0);
        Ok(QueueEntry { operation, number, looked, state, at, tried, cancelled: flags & 1 == 1, effective: flags >> 1 == 1, blocker })
    }
}

impl SecondQueue {
    pub(in crate::pipeline::montecito) fn save(&self, writer: &mut Writer) {
        self.entries.all.iter().for_each(|entry| entry.save(writer));
        self.fills.save(writer);
        self.snoops.save(writer);
        writer.words(&[self.number, self.looked, self.clock, self.waiting.at, u64::from(self.waiting.count)]);
        self.waiting.operations.iter().for_each(|operation| operation.save(writer));
    }

    pub(in crate::pipeline::montecito) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for entry in &mut self.entries.all {
            *entry = QueueEntry::load(reader, now)?;
        }
        self.fills.load(reader, now)?;
        self.snoops.load(reader, now)?;
        self.number = Some(reader.word()?).filter(|number| (1..1 << 62).contains(number)).ok_or(Damaged)?;
        self.reported = now;
        (self.looked, self.clock) = (time(reader, now)?, time(reader, now)?);
        (self.waiting.at, self.waiting.count) = (time(reader, now)?, small(reader, OPERATIONS)?);
        for operation in &mut self.waiting.operations {
            *operation = QueuedOperation::load(reader)?;
        }
        let is_known = |number: u64| number < self.number;
        let entries = self.entries.all.iter().all(|entry| is_known(entry.number));
        if entries && self.fills.all.iter().all(|fill| is_known(fill.number)) { Ok(()) } else { Err(Damaged) }
    }
}
