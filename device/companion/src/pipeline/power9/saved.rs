//! Save and restore of the pipeline.

use super::flushes::WARY;
use super::reasons::{REASONS, Reason};
use super::{Blocked, Power9Pipeline, Turned};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{pick, small, time};

impl Power9Pipeline {
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
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
        writer.words(&[self.unowned, self.completed, self.blocked.reason as u64, self.blocked.until, self.blocked.last as u64]);
        self.stores.save(writer);
        writer.word(self.turned as u64);
        writer.words(&self.wary.addresses);
        let flags = [self.behind_invalidation, self.stalled, self.watches];
        writer.words(&[self.wary.next as u64, self.reserving, self.ended, self.invalidated]);
        flags.iter().for_each(|flag| writer.word(u64::from(*flag)));
        writer.words(&[self.counted, self.absent.0, self.absent.1, self.stores_seen]);
        self.shared.save(writer);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
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
        self.blocked = Blocked { reason: pick(&Reason::ALL, reader)?, until: time(reader, now)?, last: pick(&Reason::ALL, reader)? };
        if self.blocked.until == 0 && self.blocked.last != self.blocked.reason {
            return Err(Damaged);
        }
        self.stores.load(reader, now)?;
        self.turned = pick(&Turned::ALL, reader)?;
        reader.words(&mut self.wary.addresses)?;
        self.wary.next = usize::from(small(reader, WARY - 1)?);
        for at in [&mut self.reserving, &mut self.ended, &mut self.invalidated] {
            *at = time(reader, now)?;
        }
        for flag in [&mut self.behind_invalidation, &mut self.stalled, &mut self.watches] {
            *flag = small(reader, 1)? == 1;
        }
        for at in [&mut self.counted, &mut self.absent.0, &mut self.absent.1, &mut self.stores_seen] {
            *at = time(reader, now)?;
        }
        self.shared.load(reader, now)?;
        self.quiet = self.is_quiet();
        Ok(())
    }
}
