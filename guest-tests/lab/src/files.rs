//! Files that a user names: they are read up to a size, as a device file may have no end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The most bytes that are read.
const MOST: u64 = 64 << 20;

/// What the file has.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    take(File::open(path)?)
}

/// The text that the file has.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}

fn take(file: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Error::new(ErrorKind::InvalidData, format!("it has more than {} MiB", MOST >> 20)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_refused() {
        assert_eq!(take(std::io::repeat(0)).unwrap_err().to_string(), "it has more than 64 MiB");
    }

    #[test]
    fn what_fits_is_read() {
        assert_eq!(take(&b"abc"[..]).unwrap(), b"abc");
    }
}
