//! The form of a snapshot, written down a second time.

/// The CRC-32 of IEEE 802.3, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

/// Where the content begins.
pub(crate) fn content_at(bytes: &[u8]) -> usize {
    let part = usize::from(bytes[13]);
    let revision = usize::from(bytes[14 + part]);
    15 + part + revision + 8
}

/// The snapshot with another content, its length and its checksum put right.
pub(crate) fn with_content(bytes: &[u8], content: &[u8]) -> Vec<u8> {
    let at = content_at(bytes);
    let mut other = bytes[..at].to_vec();
    other[at - 8..].copy_from_slice(&(content.len() as u64).to_le_bytes());
    other.extend_from_slice(content);
    signed(other)
}

/// Its content.
pub(crate) fn content(bytes: &[u8]) -> &[u8] {
    &bytes[content_at(bytes)..bytes.len() - 4]
}

/// The bytes with their checksum behind them.
pub(crate) fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend_from_slice(&crc32(&bytes).to_le_bytes());
    bytes
}

#[test]
fn the_checksum_is_that_of_ieee_802_3() {
    // The check value of that CRC is the one of these nine digits.
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
}
