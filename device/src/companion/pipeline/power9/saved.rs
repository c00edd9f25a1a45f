//! Save and restore of the pipeline.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::saving::{pick, small, time};
use super::reasons::{REASONS, Reason};
use super::{Blocked, Core};

impl Core {
    pub(in super::super) fn save(&self, writer: &mut Writer) {
        let group = &self.group;
        writer.words(&[group.at, u64::from(group.count), u64::from(group.branches)]);
        group.used.iter().for_each(|each| writer.word(u64::from(*each)));
        group.restricted.iter().for_each(|each| writer.word(u64::from(*each)));
        self.account.save(writer);
        self.reasons.save(writer);
        writer.words(&[self.fetched, u64::from(self.block.is_some()), self.block.unwrap_or(0), self.restart, self.front as u64]);
        self.buffer.save(writer);
        self.targets.save(writer);
        self.window.save(writer);
        self.registers.save(writer);
        writer.words(&[self.unowned, self.completed, self.blocked.reason as u64, self.blocked.until]);
        self.stores.save(writer);
        self.shared.save(writer);
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
        self.registers.load(reader, now)?;
        self.unowned = time(reader, now)?;
        self.completed = time(reader, now)?;
        self.blocked = Blocked { reason: pick(&Reason::ALL, reader)?, until: time(reader, now)? };
        self.stores.load(reader, now)?;
        self.shared.load(reader, now)
    }
}
