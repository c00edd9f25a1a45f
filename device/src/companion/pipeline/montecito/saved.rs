//! Save and restore of the pipeline.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::saving::{number, pick};
use super::super::{small, time};
use super::dispersal::Window;
use super::group::Group;
use super::rows::Producer;
use super::{Core, EXCEPTION, Flush, Value};

impl Core {
    pub(in super::super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.clock, self.step]);
        self.track.save(writer);
        self.groups.iter().for_each(|group| group.save(writer));
        writer.words(&[u64::from(self.filled), u64::from(self.open)]);
        self.window.save(writer);
        let (address, next) = self.last.unwrap_or_default();
        writer.words(&[self.dispersed, u64::from(self.last.is_some()), address, u64::from(next), self.ready]);
        let (flush, bubbles) = self.flush.map_or((0, 0), |(flush, bubbles)| (1 + flush as u64, bubbles));
        writer.words(&[flush, bubbles]);
        self.front.save(writer);
        self.values.iter().for_each(|value| writer.words(&[number(&Producer::ALL, &value.producer), value.at]));
        self.memory.save(writer);
        writer.word(self.stack);
        self.switching.save(writer);
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let most = |word: u64, most: u64| if word <= most { Ok(word) } else { Err(Damaged) };
        let now = most(reader.word()?, 1 << 62)?;
        self.clock = now.max(1);
        self.step = most(reader.word()?, 1 << 62)?;
        self.track.load(reader)?;
        for group in &mut self.groups {
            *group = Group::load(reader, now)?;
        }
        self.filled = small(reader, 0xFF)?;
        self.open = small(reader, 1)? == 1;
        self.window = Window::load(reader)?;
        self.dispersed = time(reader, now)?;
        let (there, address, next) = (reader.word()?, reader.word()?, small(reader, 3)?);
        self.last = (there & 1 == 1).then_some((most(address, u64::MAX >> 4)?, next));
        self.ready = time(reader, now)?;
        let (flush, bubbles) = (reader.word()?, most(reader.word()?, EXCEPTION << 40)?);
        self.flush = match flush {
            0 => None,
            1 => Some((Flush::Branch, bubbles)),
            2 => Some((Flush::Exception, bubbles)),
            _ => return Err(Damaged),
        };
        self.front.load(reader, now)?;
        for value in &mut self.values {
            *value = Value { producer: pick(&Producer::ALL, reader)?, at: time(reader, now)? };
        }
        self.memory.load(reader, now)?;
        self.stack = time(reader, now)?;
        self.switching.load(reader, now)
    }
}
