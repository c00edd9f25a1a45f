//! How a buffer of branches is written: sources, and targets, which sources may replace.

use crate::feed::Record;
use crate::ia64::instruction::slot;

/// slot of a source that was not taken.
const NOT_TAKEN: u64 = 0b11 << 2;
/// Bit 0 of an entry: a source.
const SOURCE: u64 = 1 << 0;
/// Bit 1 of an entry: of a source mispredicted, of a target valid.
const MISPREDICTED: u64 = 1 << 1;

/// What was captured last, as far as the next capture depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Last {
    /// Nothing that matters.
    #[default]
    Nothing,
    /// A branch in this slot of this bundle, which was not taken: another of the bundle makes no new entry.
    NotTaken {
        /// The bundle's address.
        bundle: u64,
        /// The slot.
        slot: u8,
    },
    /// This bundle, as a target: a source in it takes over the entry.
    Target {
        /// The bundle's address.
        bundle: u64,
    },
}

/// A circular buffer of entries, with extra bits for each where the part has them.
pub(crate) trait Buffer {
    /// Writes the next entry.
    fn push(&mut self, entry: u64, extension: u8);

    /// Writes the last entry again.
    fn replace_last(&mut self, entry: u64, extension: u8);

    /// The last entry.
    fn last(&self) -> (u64, u8);
}

/// A branch that is captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Bits 63:4 of the bundle's address, as the entry has them.
    pub(crate) bundle: u64,
    /// The direction or the target was predicted wrongly.
    pub(crate) mispredicted: bool,
    /// It was taken, to this address.
    pub(crate) target: Option<u64>,
    /// The extra bits of its entry.
    pub(crate) extension: u8,
}

/// Enters the branch of `record` and, if it was taken, its target. Returns how many entries that added.
pub(crate) fn enter(source: Source, record: &Record, last: &mut Last, buffer: &mut impl Buffer) -> u64 {
    let (bundle, slot) = (record.address & !0xF, slot(record));
    let shown = if source.target.is_some() { u64::from(slot) << 2 } else { NOT_TAKEN };
    let entry = source.bundle << 4 | shown | if source.mispredicted { MISPREDICTED } else { 0 } | SOURCE;
    let entries = match *last {
        // The source takes over the entry of the target in whose bundle it is.
        Last::Target { bundle: target } if target == bundle => {
            buffer.replace_last(entry, source.extension);
            0
        }
        // A bundle has one entry.
        Last::NotTaken { bundle: before, slot: earlier } if before == bundle && earlier < slot => {
            let (before, before_extension) = buffer.last();
            buffer.replace_last(entry | before & MISPREDICTED, source.extension | before_extension);
            0
        }
        _ => {
            buffer.push(entry, source.extension);
            1
        }
    };
    let Some(target) = source.target.map(|target| target & !0xF) else {
        *last = Last::NotTaken { bundle, slot };
        return entries;
    };
    buffer.push(target | MISPREDICTED, 0);
    *last = Last::Target { bundle: target };
    entries + 1
}
