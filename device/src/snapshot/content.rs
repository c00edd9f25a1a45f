//! The content of machines and chips: CBOR, every field under its name.

use alloc::vec::Vec;

use cbor4ii::core::dec::Read;
use cbor4ii::core::utils::SliceReader;
use cbor4ii::serde::{Deserializer, to_vec};
use serde::{Deserialize, Serialize};

use super::SnapshotError;

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    // What is written has nothing that CBOR could not hold: it fails by memory alone.
    to_vec(Vec::new(), value).map_err(|_| SnapshotError::OutOfMemory)
}

/// Reads a value that takes all of `bytes`.
pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, SnapshotError> {
    let mut deserializer = Deserializer::new(SliceReader::new(bytes));
    let value = T::deserialize(&mut deserializer).map_err(|_| SnapshotError::Content)?;
    let mut rest = deserializer.into_inner();
    let more = rest.fill(1).map_err(|_| SnapshotError::Content)?;
    if more.as_ref().is_empty() { Ok(value) } else { Err(SnapshotError::Content) }
}
