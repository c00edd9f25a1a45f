//! What surrounds the content: its kind, its length and its checksum.

use alloc::string::String;
use alloc::vec::Vec;

use super::{FORMAT_VERSION, Kind, SnapshotError};

const MAGIC: &[u8; 8] = b"VMPMUSNP";

/// The checksum at the end.
const CHECKSUM: usize = 4;

/// The most bytes around a content: two names of 255 bytes.
const MOST: usize = MAGIC.len() + 4 + 1 + 2 * 256 + 8 + CHECKSUM;

/// The version of the form in which the snapshot was written.
#[cfg(feature = "memory")]
pub(super) fn version_of(bytes: &[u8]) -> Option<u32> {
    bytes.strip_prefix(MAGIC)?.first_chunk().map(|version| u32::from_le_bytes(*version))
}

/// What a snapshot is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'a> {
    pub(super) kind: Kind,
    pub(super) part: &'a str,
    pub(super) revision: &'a str,
}

impl Identity<'_> {
    /// A snapshot with this identity and `content`.
    pub(super) fn wrap(&self, content: &[u8]) -> Result<Vec<u8>, SnapshotError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(MOST + content.len()).map_err(|_| SnapshotError::OutOfMemory)?;
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.push(self.kind.number());
        for name in [self.part, self.revision] {
            // No part's name is longer. The name of an embedder's own profile may be: it is cut.
            let (length, name) = known(name);
            bytes.push(length);
            bytes.extend_from_slice(name);
        }
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(content);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// The content of a snapshot. Its identity must match this one, and its content have `most` bytes at most.
    pub(super) fn unwrap<'b>(&self, bytes: &'b [u8], most: usize) -> Result<&'b [u8], SnapshotError> {
        let given = bytes.len() as u64;
        let rest = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotASnapshot)?;
        let (version, rest) = rest.split_first_chunk().ok_or(SnapshotError::Cut { given })?;
        let version = u32::from_le_bytes(*version);
        // The bytes that follow may differ in another version.
        if version == 0 || version > FORMAT_VERSION {
            return Err(SnapshotError::Version { saved: version });
        }
        let header = Header::read(rest).ok_or(SnapshotError::Cut { given })?;
        let before = bytes.len() - header.rest.len();
        let stated = header.length.saturating_add((before + CHECKSUM) as u64);
        if stated != given {
            return Err(SnapshotError::Length { stated, given });
        }
        let most = most.saturating_add(before + CHECKSUM) as u64;
        if given > most {
            self.compare(&header)?;
            return Err(SnapshotError::Oversized { given, most });
        }
        let (body, checksum) = bytes.split_last_chunk().ok_or(SnapshotError::Cut { given })?;
        let (stated, computed) = (u32::from_le_bytes(*checksum), crc32fast::hash(body));
        if stated != computed {
            return Err(SnapshotError::Checksum { stated, computed });
        }
        self.compare(&header)?;
        body.get(before..).ok_or(SnapshotError::Content)
    }

    /// Checks that the snapshot has this identity.
    fn compare(&self, header: &Header<'_>) -> Result<(), SnapshotError> {
        if header.kind != self.kind.number() {
            return Err(SnapshotError::Kind { saved: Kind::of_number(header.kind), target: self.kind });
        }
        if (header.part, header.revision) == (known(self.part).1, known(self.revision).1) {
            return Ok(());
        }
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Err(SnapshotError::Part { saved: (text(header.part), text(header.revision)), target: (self.part.into(), self.revision.into()) })
    }
}

/// A name as it is saved: its length, 255 at most, and that many of its bytes.
fn known(name: &str) -> (u8, &[u8]) {
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    (length, name.as_bytes().get(..usize::from(length)).unwrap_or_default())
}

/// What is between the version and the content.
struct Header<'a> {
    kind: u8,
    part: &'a [u8],
    revision: &'a [u8],
    length: u64,
    /// The content and the checksum.
    rest: &'a [u8],
}

impl Header<'_> {
    fn read(bytes: &[u8]) -> Option<Header<'_>> {
        let name = |bytes| -> Option<(&[u8], &[u8])> {
            let (length, rest): (&u8, &[u8]) = <[u8]>::split_first(bytes)?;
            rest.split_at_checked(usize::from(*length))
        };
        let (kind, rest) = bytes.split_first()?;
        let (part, rest) = name(rest)?;
        let (revision, rest) = name(rest)?;
        let (length, rest) = rest.split_first_chunk()?;
        Some(Header { kind: *kind, part, revision, length: u64::from_le_bytes(*length), rest })
    }
}
