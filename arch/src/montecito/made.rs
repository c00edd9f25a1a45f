//! Events that the PMU itself derives from a record or from a change of the context, and that counters of either thread of the core may
//! count.
//!
//! Montecito manual, Table 3-6 (all); 4.15, CPU_CPL_CHANGES, DATA_EAR_EVENTS, ETB_EVENT, L1I_EAR_EVENTS.

use crate::event::Internal;

/// The events of one record, or of one change of the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// The data event-address registers captured an access.
    pub(super) data: bool,
    /// The instruction event-address registers captured a fetch.
    pub(super) fetch: bool,
    /// Entries of the trace buffer: a few.
    pub(super) entries: u64,
    /// The privilege levels that were left and entered, one bit each; none where the level stayed.
    pub(super) levels: u8,
}

impl Made {
    /// The events of a change from one privilege level to another.
    pub(super) fn change_of_level(from: u8, to: u8) -> Made {
        let levels = if from == to { 0 } else { 1 << (from & 3) | 1 << (to & 3) };
        Made { levels, ..Made::default() }
    }

    /// How many of them a counter of `internal` counts.
    pub(super) fn amount(self, internal: Internal) -> u64 {
        match internal {
            Internal::DataAddressCapture => u64::from(self.data),
            Internal::InstructionAddressCapture => u64::from(self.fetch),
            Internal::TraceEntry => self.entries,
            other => other.changes(self.levels),
        }
    }

    /// The events as a word, for the core's other thread; 0 if there are none.
    pub(super) fn to_word(self) -> u64 {
        u64::from_le_bytes([u8::from(self.data), u8::from(self.fetch), self.entries.min(255) as u8, self.levels, 0, 0, 0, 0])
    }

    /// The events of which [`to_word`](Self::to_word) made `word`.
    pub(super) fn from_word(word: u64) -> Made {
        let [data, fetch, entries, levels, ..] = word.to_le_bytes();
        Made { data: data != 0, fetch: fetch != 0, entries: u64::from(entries), levels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_thread_reads_what_was_made() {
        let captured = Made { data: true, fetch: false, entries: 2, levels: 0 };
        assert_eq!(Made::from_word(captured.to_word()), captured);
        let moved = Made::change_of_level(0, 3);
        assert_eq!(Made::from_word(moved.to_word()), moved);
        assert_eq!(moved.levels, 0b1001);
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Made::default().to_word(), 0);
        assert_eq!(Made::change_of_level(2, 2).to_word(), 0);
    }
}
