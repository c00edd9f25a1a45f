//! Helpers for saved pipelines.

use crate::bytes::{Damaged, Reader};

/// Reads a cycle, which must not be much later than `now`.
pub(in crate::pipeline) fn time(reader: &mut Reader<'_>, now: u64) -> Result<u64, Damaged> {
    Some(reader.word()?).filter(|time| *time <= now.saturating_add(1 << 40)).ok_or(Damaged)
}

/// Reads one of a few choices, by number.
pub(in crate::pipeline) fn pick<T: Copy>(all: &[T], reader: &mut Reader<'_>) -> Result<T, Damaged> {
    let number = usize::try_from(reader.word()?).map_err(|_| Damaged)?;
    all.get(number).copied().ok_or(Damaged)
}

/// Returns the number by which [`pick`] finds `value`.
pub(in crate::pipeline) fn number<T: PartialEq>(all: &[T], value: &T) -> u64 {
    all.iter().position(|each| each == value).unwrap_or(0) as u64
}

/// Reads a number of at most `limit`.
pub(in crate::pipeline) fn small(reader: &mut Reader<'_>, limit: usize) -> Result<u8, Damaged> {
    u8::try_from(reader.word()?).ok().filter(|value| usize::from(*value) <= limit).ok_or(Damaged)
}
