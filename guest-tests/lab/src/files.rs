//! Files that a user names, which are read up to a size, as a device file may have no end, and those of the repository.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

/// The most bytes that are read.
const MOST: u64 = 64 << 20;

/// How much of a file tells what it is.
const BEGINNING: usize = 4096;

/// What a file is, told by how it begins: which commands take it is said to those who gave it to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Elf,
    Litmus,
    Profile,
    Page,
    Timeline,
}

impl FileKind {
    /// The kind of a file with these bytes, if it is one of those that the program reads or writes.
    pub(crate) fn of(bytes: &[u8]) -> Option<FileKind> {
        if bytes.starts_with(b"\x7fELF") {
            return Some(FileKind::Elf);
        }
        let beginning = String::from_utf8_lossy(bytes.get(..BEGINNING).unwrap_or(bytes));
        let text = beginning.trim_start();
        let has = |key: &str| text.starts_with('{') && text.contains(key);
        match text {
            _ if text.starts_with("<!DOCTYPE html>") => Some(FileKind::Page),
            _ if text.starts_with("$date") || text.starts_with("$version") || text.starts_with("$timescale") => Some(FileKind::Timeline),
            _ if has("\"traceEvents\"") => Some(FileKind::Timeline),
            _ if has("\"samples\"") && has("\"period\"") => Some(FileKind::Profile),
            _ if text.lines().take_while(|line| !line.is_empty()).any(|line| line.starts_with("pmu:")) => Some(FileKind::Litmus),
            _ => None,
        }
    }

    /// What it is, and who takes it.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            FileKind::Elf => "it is an ELF file, which `pmulab run`, `stat`, `record` and `top` take",
            FileKind::Litmus => "it is a litmus file or a recording, which `pmulab litmus`, `replay` and `diff` take",
            FileKind::Profile => "it has samples, which `pmulab report` and `annotate` take",
            FileKind::Page => "it is a page, which a browser shows",
            FileKind::Timeline => "it is a timeline, which Perfetto or a viewer of waveforms shows",
        }
    }
}

/// The text that a file has which should be of the kind `wanted`; of a file that is of another kind, what it is and what is `right`.
pub(crate) fn read_kind(path: &Path, wanted: Option<FileKind>, right: &str) -> Result<String> {
    let bytes = read(path)?;
    let other = FileKind::of(&bytes).filter(|kind| Some(*kind) != wanted);
    match (other, String::from_utf8(bytes)) {
        (Some(kind), _) => Err(Error::new(ErrorKind::InvalidData, format!("{}; {right}", kind.told()))),
        (None, Ok(text)) => Ok(text),
        (None, Err(_)) => Err(Error::new(ErrorKind::InvalidData, format!("it is no text in UTF-8; {right}"))),
    }
}

/// The first bytes of a file.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BEGINNING as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the file has.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    take(File::open(path)?)
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
    fn files_are_told_apart_by_how_they_begin() {
        for (text, kind) in [
            ("\x7fELF\x02\x01", Some(FileKind::Elf)),
            ("title: T\npmu: k8\nsection: S\n\nread PerfCtr0 = 0\n", Some(FileKind::Litmus)),
            ("{\"version\":1,\"period\":7,\"samples\":[]}", Some(FileKind::Profile)),
            ("<!DOCTYPE html>\n", Some(FileKind::Page)),
            ("{\"traceEvents\":[]}", Some(FileKind::Timeline)),
            ("$timescale 1 ns $end\n", Some(FileKind::Timeline)),
            ("{\"PM_CYC\": 1}", None),
            ("PM_CYC,1\n", None),
        ] {
            assert_eq!(FileKind::of(text.as_bytes()), kind, "{text}");
        }
        assert_eq!(FileKind::of(&[0xff, 0xfe]), None);
    }

    #[test]
    fn what_fits_is_read() {
        assert_eq!(take(&b"abc"[..]).unwrap(), b"abc");
    }
}
