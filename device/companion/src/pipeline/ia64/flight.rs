//! The groups in flight, by the steps in which they entered dispersal (PM1).

use super::group::InstructionGroup;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::small;

/// Number of groups that are kept: those in flight, and the one being formed.
const GROUPS: usize = 8;

/// Groups by step.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Flight {
    /// The next step.
    step: u64,
    groups: [InstructionGroup; GROUPS],
    /// The steps that have a group, one bit each.
    filled: u8,
}

impl Flight {
    pub(in crate::pipeline) fn new() -> Flight {
        Flight { step: 0, groups: [InstructionGroup::default(); GROUPS], filled: 0 }
    }

    /// Returns the place of the group that entered `steps` steps before the next one.
    fn place(&self, steps: u64) -> usize {
        (self.step.wrapping_sub(steps) % GROUPS as u64) as usize
    }

    fn has(&self, steps: u64) -> bool {
        self.filled >> self.place(steps) & 1 == 1
    }

    /// Returns the group that entered `steps` steps before, if there was one.
    pub(in crate::pipeline) fn get(&self, steps: u64) -> Option<&InstructionGroup> {
        self.groups.get(self.place(steps)).filter(|_| self.has(steps))
    }

    /// Returns the same group for modification.
    pub(in crate::pipeline) fn get_mut(&mut self, steps: u64) -> Option<&mut InstructionGroup> {
        let (place, has) = (self.place(steps), self.has(steps));
        self.groups.get_mut(place).filter(|_| has)
    }

    /// Returns the group being formed.
    pub(in crate::pipeline) fn forming(&mut self) -> Option<&mut InstructionGroup> {
        let place = self.place(0);
        self.groups.get_mut(place)
    }

    /// Begins a group.
    pub(in crate::pipeline) fn begin(&mut self) {
        if let Some(group) = self.forming() {
            group.clear();
        }
    }

    /// Puts the formed group into the next step.
    pub(in crate::pipeline) fn enter(&mut self) {
        self.filled |= 1 << self.place(0);
    }

    pub(in crate::pipeline) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Skips steps without a group, with nothing in flight.
    pub(in crate::pipeline) fn skip(&mut self, steps: u64) {
        self.step += steps;
    }

    /// Advances by a step. Groups that entered more than `last` steps before are removed.
    pub(in crate::pipeline) fn advance(&mut self, last: u64) {
        self.step += 1;
        self.filled &= !(1 << self.place(0)) & !(1 << self.place(last + 1));
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.word(self.step);
        self.groups.iter().for_each(|group| group.save(writer));
        writer.word(u64::from(self.filled));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.step = Some(reader.word()?).filter(|step| *step <= 1 << 62).ok_or(Damaged)?;
        for group in &mut self.groups {
            *group = InstructionGroup::load(reader, now)?;
        }
        self.filled = small(reader, 0xFF)?;
        Ok(())
    }
}
