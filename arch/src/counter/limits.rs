//! What a counter is built for; the catalogue is checked against it when it is made.

/// The most signals that one counter can add up.
pub const MAX_SOURCES: usize = 10;
