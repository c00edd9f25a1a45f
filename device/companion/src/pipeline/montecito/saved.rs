//! Save and restore of the pipeline.

use super::MontecitoPipeline;
use super::dispersal::MontecitoWindow;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};

impl MontecitoPipeline {
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.clock);
        self.track.save(writer);
        self.flight.save(writer);
        writer.word(u64::from(self.open));
        self.window.save(writer);
        self.course.save(writer);
        writer.words(&[self.dispersed, self.ready]);
        self.flush.save(writer);
        self.front.save(writer);
        self.values.save(writer);
        self.memory.save(writer);
        self.second.save(writer);
        writer.word(self.stack);
        self.switching.save(writer);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let most = |word: u64, most: u64| if word <= most { Ok(word) } else { Err(Damaged) };
        let now = most(reader.word()?, 1 << 62)?;
        self.clock = now.max(1);
        self.track.load(reader)?;
        self.flight.load(reader, now)?;
        self.open = small(reader, 1)? == 1;
        self.window = MontecitoWindow::load(reader)?;
        self.course.load(reader)?;
        self.dispersed = time(reader, now)?;
        self.ready = time(reader, now)?;
        self.flush.load(reader)?;
        self.front.load(reader, now)?;
        self.values.load(reader, now)?;
        self.memory.load(reader, now)?;
        self.second.load(reader, self.clock)?;
        self.stack = time(reader, now)?;
        self.switching.load(reader, now)
    }
}
