//! Flushes of the pipeline, and the number of their bubbles.

use crate::bytes::{Damaged, Reader, Writer};

/// Maximum number of bubbles that are kept.
const MOST: u64 = 1 << 44;
/// Maximum number of bubbles that pass at once.
const PASSED: u64 = 960;

/// The cause of a step without a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) enum Flush {
    /// A mispredicted branch.
    Branch,
    /// An exception, or another restart of the pipeline.
    Exception,
}

/// The pending flush before the next executed instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipeline) struct Pending {
    flush: Option<(Flush, u64)>,
}

impl Pending {
    /// Adds a flush of `bubbles` bubbles. Exceptions add up; a mispredicted branch after another flush costs nothing more.
    pub(in crate::pipeline) fn add(&mut self, flush: Flush, bubbles: u64) {
        self.flush = match (flush, self.flush) {
            (Flush::Branch, Some(pending)) => Some(pending),
            (Flush::Exception, Some((Flush::Exception, before))) => Some((Flush::Exception, before.saturating_add(bubbles).min(MOST))),
            _ => Some((flush, bubbles)),
        };
    }

    pub(in crate::pipeline) fn is_some(&self) -> bool {
        self.flush.is_some()
    }

    /// Takes the flush: its kind, and its bubbles.
    pub(in crate::pipeline) fn take(&mut self) -> Option<(Flush, u64)> {
        self.flush.take().map(|(flush, bubbles)| (flush, bubbles.min(PASSED)))
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        let (flush, bubbles) = self.flush.map_or((0, 0), |(flush, bubbles)| (1 + flush as u64, bubbles));
        writer.words(&[flush, bubbles]);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let (flush, bubbles) = (reader.word()?, reader.word()?);
        self.flush = match flush {
            _ if bubbles > MOST => return Err(Damaged),
            0 => None,
            1 => Some((Flush::Branch, bubbles)),
            2 => Some((Flush::Exception, bubbles)),
            _ => return Err(Damaged),
        };
        Ok(())
    }
}
