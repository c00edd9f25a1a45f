//! Save and restore of the pipeline.

use super::dispersal::ItaniumWindow;
use super::{ItaniumPipeline, OPERATIONS};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};

impl ItaniumPipeline {
    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.clock);
        self.track.save(writer);
        self.flight.save(writer);
        writer.words(&[u64::from(self.open), u64::from(self.split), self.operations]);
        self.window.save(writer);
        self.course.save(writer);
        writer.words(&[self.dispersed, self.ready]);
        self.flush.save(writer);
        self.front.save(writer);
        self.values.save(writer);
        self.memory.save(writer);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = Some(reader.word()?).filter(|clock| *clock <= 1 << 62).ok_or(Damaged)?.max(1);
        self.clock = now;
        self.track.load(reader)?;
        self.flight.load(reader, now)?;
        (self.open, self.split) = (small(reader, 1)? == 1, small(reader, 1)? == 1);
        self.operations = u64::from(small(reader, OPERATIONS)?);
        self.window = ItaniumWindow::load(reader)?;
        self.course.load(reader)?;
        self.dispersed = time(reader, now)?;
        self.ready = time(reader, now)?;
        self.flush.load(reader)?;
        self.front.load(reader, now)?;
        self.values.load(reader, now)?;
        self.memory.load(reader, now)
    }
}
