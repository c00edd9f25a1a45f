//! What lies at an address of a guest: the symbol, and the line of the source. A file has both, a guest of this project the names of its
//! routines.
//!
//! Files of every machine are read. One that claims more than it has, or more than anybody compiles, gives fewer symbols or none: the
//! time and the memory grow with the file and no faster.

mod functions;
mod lines;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{Endianness, SectionIndex};
use serde::{Deserialize, Serialize};
use vm_pmu_engines::image::Image;

use crate::files;
use functions::Functions;
use lines::Lines;

/// What lies at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The symbol that the address belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Bytes from the symbol to the address. A function of POWER whose ABI has two entries begins at its global one.
    pub offset: u64,
    /// The source file, as the compiler named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl fmt::Display for Place {
    /// `symbol+offset (file:line)`, each as far as it is known; the file without its folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(symbol) = &self.symbol {
            f.write_str(symbol)?;
            if self.offset != 0 {
                write!(f, "+{:#x}", self.offset)?;
            }
        }
        let space = if self.symbol.is_some() { " " } else { "" };
        let file = self.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
        match (file, self.line) {
            (Some(file), Some(line)) => write!(f, "{space}({file}:{line})"),
            (Some(file), None) => write!(f, "{space}({file})"),
            _ => Ok(()),
        }
    }
}

/// Why a file has no symbols to give.
#[derive(Debug)]
#[non_exhaustive]
pub enum SymbolsError {
    /// The file could not be read.
    Unreadable {
        /// Its path.
        path: String,
        /// What the host said.
        error: std::io::Error,
    },
    /// It is no ELF file of 64 bits, or its headers lie outside of it.
    NotElf {
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for SymbolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => write!(f, "{path} cannot be read: {error}"),
            Self::NotElf { reason } => write!(f, "not a 64-bit ELF file: {reason}"),
        }
    }
}

impl std::error::Error for SymbolsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            Self::NotElf { .. } => None,
        }
    }
}

/// The symbols and lines of a guest. A file that was stripped has none, which is no error.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    functions: Functions,
    lines: Lines,
}

impl Symbols {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`SymbolsError`], where it cannot be read or is no ELF file.
    pub fn load(path: &Path) -> Result<Symbols, SymbolsError> {
        let bytes = files::read(path).map_err(|error| SymbolsError::Unreadable { path: path.display().to_string(), error })?;
        Symbols::of(&bytes)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// [`SymbolsError::NotElf`], where they are no ELF file of 64 bits.
    pub fn of(file: &[u8]) -> Result<Symbols, SymbolsError> {
        let refused = |error: object::read::Error| SymbolsError::NotElf { reason: error.to_string() };
        let elf = ElfFile64::<Endianness>::parse(file).map_err(refused)?;
        Ok(Symbols { functions: Functions::of(&elf, file), lines: Lines::of(&elf, file) })
    }

    /// The routines of an image that an assembler of this project has made.
    #[must_use]
    pub fn of_image(image: &Image) -> Symbols {
        Symbols { functions: Functions::of_routines(&image.routines), lines: Lines::default() }
    }

    /// The routines of the guest of this name, of POWER in one byte order; none if there is no such guest.
    #[must_use]
    pub fn of_guest(pmu: &str, name: &str, little_endian: bool) -> Symbols {
        let image = vm_pmu_guests::named(pmu, name).and_then(|guest| guest.image(little_endian).ok());
        image.map(|image| Symbols::of_image(&image)).unwrap_or_default()
    }

    /// What lies at an address, as far as the file says anything.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Place> {
        let function = self.functions.at(address);
        let line = self.lines.at(address);
        if function.is_none() && line.is_none() {
            return None;
        }
        let (symbol, offset) = function.map_or((None, 0), |(name, offset)| (Some(name.to_owned()), offset));
        let (file, line) = line.map_or((None, None), |(file, line)| (file.map(str::to_owned), line));
        Some(Place { symbol, offset, file, line })
    }

    /// Where the symbol of this name lies: a function's first instruction.
    #[must_use]
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.functions.address_of(name)
    }

    /// Whether the file names nothing, for example because it was stripped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.lines.is_empty()
    }
}

/// The strings that sections are named in.
fn section_names<'a>(elf: &ElfFile64<'_, Endianness>, file: &'a [u8]) -> &'a [u8] {
    let endian = elf.endian();
    let index = SectionIndex(elf.elf_header().e_shstrndx(endian).0.into());
    elf.elf_section_table().section(index).and_then(|section| section.data(endian, file)).unwrap_or_default()
}

/// The string of `table` at `offset`, without what follows its zero; `None` for one that is not there, is empty, has more than `most` bytes
/// or is not UTF-8.
fn text_at(table: &[u8], offset: usize, most: usize) -> Option<&str> {
    let rest = table.get(offset..)?;
    let within = rest.get(..=most).unwrap_or(rest);
    let end = within.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&within[..end]).ok().filter(|text| !text.is_empty())
}
