//! Files that a user names, which are read up to a size, as a device file may have no end, and those of the repository.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

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

/// What is at `path` in the repository in which the program is called, or in that from which it was built, if it is there by `is_there`.
pub(crate) fn in_repository(path: &str, is_there: impl Fn(&PathBuf) -> bool) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.ancestors().map(Path::to_owned).chain([built]).map(|folder| folder.join(path)).find(is_there)
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
