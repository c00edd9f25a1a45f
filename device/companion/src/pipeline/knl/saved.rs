//! Save and restore of the pipeline.

use super::{KnlPipeline, KnlPort};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::redirect::Redirect;
use crate::pipeline::resources::saving::time;
use crate::pipeline::resources::sequence::Sequence;

impl KnlPipeline {
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.at);
        self.account.save(writer);
        let port = self.port.map_or(0, |port| 1 | u64::from(port.vector) << 1 | (port.number as u64) << 2);
        writer.words(&[u64::from(self.open), port]);
        self.front.save(writer);
        Redirect::save(self.redirect, writer);
        self.registers.save(writer);
        self.units.save(writer);
        self.reorder.save(writer);
        self.integer.iter().for_each(|entries| entries.save(writer));
        self.vector.iter().for_each(|entries| entries.save(writer));
        self.memory.save(writer);
        writer.word(self.divider);
        self.divisions.save(writer);
        self.completed.save(writer);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = reader.word()?;
        if now > 1 << 62 {
            return Err(Damaged);
        }
        self.at = now;
        self.account.load(reader)?;
        let (open, port) = (reader.word()?, reader.word()?);
        if open > 1 || port > 7 {
            return Err(Damaged);
        }
        self.open = open == 1;
        self.port = (port & 1 == 1).then_some(KnlPort { vector: port >> 1 & 1 == 1, number: usize::from(port >> 2 == 1) });
        self.front.load(reader, now)?;
        self.redirect = Redirect::load(reader, now)?;
        self.registers.load(reader, now)?;
        self.units.load(reader, now)?;
        self.reorder.load(reader, now)?;
        for entries in &mut self.integer {
            entries.load(reader, now)?;
        }
        for entries in &mut self.vector {
            entries.load(reader, now)?;
        }
        self.memory.load(reader, now)?;
        self.divider = time(reader, now)?;
        self.divisions.load(reader, now)?;
        self.completed = Sequence::load(reader, now)?;
        Ok(())
    }
}
