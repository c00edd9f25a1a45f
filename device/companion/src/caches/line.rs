//! A line of a cache, in one word.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum LineState {
    /// The line was invalidated; its way is free.
    Invalid = 0,
    /// Others may have it too. Memory or an owner has its content.
    Shared = 1,
    /// Shared, and this holder is the one that answers.
    Forward = 2,
    /// No other cluster has it. Memory has its content.
    Exclusive = 3,
    /// Others may have it too. It must be written back when it is evicted.
    Owned = 4,
    /// No other cluster has it. It must be written back when it is evicted.
    Modified = 5,
}

impl LineState {
    pub(super) fn from_bits(bits: u64) -> LineState {
        match bits & 7 {
            1 => LineState::Shared,
            2 => LineState::Forward,
            3 | PREFETCHED => LineState::Exclusive,
            4 => LineState::Owned,
            5 => LineState::Modified,
            _ => LineState::Invalid,
        }
    }

    /// Whether the line must be written back when it is evicted.
    pub(crate) fn dirty(self) -> bool {
        matches!(self, LineState::Owned | LineState::Modified)
    }

    /// Whether the line may be written without a request.
    pub(crate) fn writable(self) -> bool {
        matches!(self, LineState::Exclusive | LineState::Modified)
    }

    /// Whether its holder forwards it, if the protocol forwards clean lines.
    pub(crate) fn passed_on(self) -> bool {
        matches!(self, LineState::Exclusive | LineState::Forward)
    }

    /// Returns the state after another reader has got the line.
    pub(crate) fn shared(self) -> LineState {
        match self {
            LineState::Modified | LineState::Owned => LineState::Owned,
            LineState::Exclusive | LineState::Forward | LineState::Shared => LineState::Shared,
            LineState::Invalid => LineState::Invalid,
        }
    }
}

/// A line's number (60 bits), its state (3 bits), and whether it leaves for memory instead of the next level (1 bit). Zero is an empty way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Line(pub(crate) u64);

const BYPASS: u64 = 8;
/// A value in place of the state: exclusive, brought in by the prefetcher and not used since. POWER calls this state Mepf.
const PREFETCHED: u64 = 6;

impl Line {
    pub(crate) fn new(number: u64, state: LineState) -> Line {
        Line(number << 4 | state as u64)
    }

    pub(crate) fn number(self) -> u64 {
        self.0 >> 4
    }

    pub(crate) fn state(self) -> LineState {
        LineState::from_bits(self.0)
    }

    pub(super) fn with_state(self, state: LineState) -> Line {
        Line(self.0 & !7 | state as u64)
    }

    /// Marks the line so that the next level does not keep it when it is evicted.
    pub(super) fn bypassing(self) -> Line {
        Line(self.0 | BYPASS)
    }

    /// Marks the line as brought in by the prefetcher and not used yet. Only an exclusive line can be marked.
    pub(crate) fn prefetched(self) -> Line {
        if self.state() == LineState::Exclusive { Line(self.0 & !7 | PREFETCHED) } else { self }
    }

    pub(super) fn is_prefetched(self) -> bool {
        self.0 & 7 == PREFETCHED
    }

    pub(super) fn bypasses(self) -> bool {
        self.0 & BYPASS != 0
    }
}

/// Whether a line belongs to the second of a third level's two ports, to which lines go in turn.
pub(crate) fn is_odd(outer: u64) -> bool {
    outer & 1 == 1
}
