//! Save and restore of the pipeline.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::Source;
use super::super::saving::{number, pick, small, time};
use super::reasons::{REASONS, Reason};
use super::{Blocked, Core};

impl Core {
    pub(in super::super) fn save(&self, writer: &mut Writer) {
        let group = &self.group;
        writer.words(&[group.at, u64::from(group.count), u64::from(group.branches)]);
        group.used.iter().chain(&group.turn).for_each(|each| writer.word(u64::from(*each)));
        group.restricted.iter().for_each(|each| writer.word(u64::from(*each)));
        self.account.save(writer);
        self.reasons.save(writer);
        writer.words(&[self.fetched, u64::from(self.block.is_some()), self.block.unwrap_or(0), self.restart, self.front as u64]);
        self.buffer.save(writer);
        self.targets.save(writer);
        self.window.save(writer);
        self.history.save(writer);
        self.queues.iter().for_each(|queue| queue.save(writer));
        self.branches.save(writer);
        self.registers.save(writer);
        self.ports.save(writer);
        writer.words(&[self.unowned, self.completed, self.blocked.reason as u64, self.blocked.until]);
        self.stores.save(writer);
        self.store_queues.iter().for_each(|queue| queue.save(writer));
        self.second_queue.save(writer);
        writer.words(&[self.sent, self.taken]);
        self.misses.save(writer);
        self.misses.tags.iter().for_each(|source| writer.word(number(&Source::ALL, source)));
        self.translations.save(writer);
        writer.words(&self.walkers.until);
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = Some(reader.word()?).filter(|now| *now <= 1 << 62).ok_or(Damaged)?;
        let group = &mut self.group;
        group.at = now;
        group.count = small(reader, 6)?;
        group.branches = small(reader, 2)?;
        for used in &mut group.used {
            *used = small(reader, 3)?;
        }
        for turn in &mut group.turn {
            *turn = small(reader, 1)?;
        }
        for restricted in &mut group.restricted {
            *restricted = small(reader, 1)? == 1;
        }
        self.account.load(reader)?;
        self.reasons.load(reader, REASONS)?;
        self.fetched = time(reader, now)?;
        let (there, block) = (reader.word()?, reader.word()?);
        self.block = (there & 1 == 1).then_some(block);
        self.restart = time(reader, now)?;
        self.front = pick(&Reason::ALL, reader)?;
        self.buffer.load(reader, now)?;
        self.targets.load(reader, now)?;
        self.window.load(reader, now)?;
        self.history.load(reader, now)?;
        for queue in &mut self.queues {
            queue.load(reader, now)?;
        }
        self.branches.load(reader, now)?;
        self.registers.load(reader, now)?;
        self.ports.load(reader, now)?;
        self.unowned = time(reader, now)?;
        self.completed = time(reader, now)?;
        self.blocked = Blocked { reason: pick(&Reason::ALL, reader)?, until: time(reader, now)? };
        self.stores.load(reader, now)?;
        for queue in &mut self.store_queues {
            queue.load(reader, now)?;
        }
        self.second_queue.load(reader, now)?;
        self.sent = time(reader, now)?;
        self.taken = time(reader, now)?;
        self.misses.load(reader, now)?;
        for source in &mut self.misses.tags {
            *source = pick(&Source::ALL, reader)?;
        }
        self.translations.load(reader, now)?;
        for until in &mut self.walkers.until {
            *until = time(reader, now)?;
        }
        Ok(())
    }
}
