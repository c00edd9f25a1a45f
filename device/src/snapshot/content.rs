//! The content of machines and chips: CBOR, every field under its name.

use alloc::vec::Vec;

use cbor4ii::core::dec::Read;
use cbor4ii::core::utils::SliceReader;
use cbor4ii::serde::{Deserializer, to_vec};
use serde::{Deserialize, Serialize};

use super::SnapshotError;

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, SnapshotError> {
    // CBOR can hold everything that is written: only memory can run out.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Earlier {
        first: u64,
        gone: [u64; 2],
        old: u8,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Later {
        #[serde(default)]
        new: Option<u64>,
        first: u64,
        #[serde(alias = "old")]
        renamed: u8,
    }

    #[test]
    fn a_later_form_fills_in_what_is_new_and_skips_what_is_gone() {
        let bytes = write(&Earlier { first: 5, gone: [u64::MAX; 2], old: 3 }).unwrap();
        assert_eq!(read(&bytes), Ok(Later { new: None, first: 5, renamed: 3 }));
    }

    #[test]
    fn what_has_no_default_must_be_there() {
        let bytes = write(&Later { new: Some(1), first: 5, renamed: 3 }).unwrap();
        assert_eq!(read::<Earlier>(&bytes), Err(SnapshotError::Content));
    }
}
