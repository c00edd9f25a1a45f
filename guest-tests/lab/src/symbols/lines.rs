//! The lines of the source, from the programs of `.debug_line` (DWARF 5, section 6.2).
//!
//! They are read one after another, not through the entries of `.debug_info`: many of those can lead to one program, and a file that says so
//! would take longer than its size warrants.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineProgramHeader, Reader, RunTimeEndian};
use object::read::elf::{ElfFile64, ProgramHeader, SectionHeader};
use object::{Endianness, elf};

use super::{section_names, text_at};

/// The most bytes of one program. A header's entry takes many times its bytes of the file, as long as the program is read.
const LONGEST_PROGRAM: usize = 4 << 20;

/// The most bytes of a file's name with its folder.
const LONGEST_NAME: usize = 4096;

/// The most bytes of all names: many can be made of one string.
const NAMES: usize = 16 << 20;

/// The most segments of code. Each line is looked for in them.
const SEGMENTS: usize = 64;

/// The code from one row of a line table to the next.
#[derive(Clone, Debug)]
struct Range {
    start: u64,
    end: u64,
    file: Option<Arc<str>>,
    line: Option<u64>,
}

/// The lines, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    sorted: Vec<Range>,
}

/// The names that were made of a program's files.
type Names = HashMap<u64, Option<Arc<str>>>;

type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// The sections that have to do with lines.
struct Sections<'a> {
    line: DebugLine<Bytes<'a>>,
    line_str: &'a [u8],
    str: &'a [u8],
    /// Bytes of names that may still be made.
    names: usize,
}

impl Lines {
    pub(super) fn of(elf: &ElfFile64<'_, Endianness>, file: &[u8]) -> Lines {
        let endian = match elf.endian() {
            Endianness::Little => RunTimeEndian::Little,
            Endianness::Big => RunTimeEndian::Big,
        };
        let bytes = |name| section(elf, file, name).unwrap_or_default();
        let programs = EndianSlice::new(bytes(".debug_line"), endian);
        let mut sections =
            Sections { line: DebugLine::from(programs), line_str: bytes(".debug_line_str"), str: bytes(".debug_str"), names: NAMES };
        // What a linker dropped lies at address 0 in the tables, where most files have no code.
        let code = code(elf);
        let mut sorted = Vec::new();
        let mut offset = 0;
        while let Some(length) = length_at(programs, offset) {
            if length <= LONGEST_PROGRAM {
                // What of a program is malformed is left out, with what follows in it.
                let _ = sections.program(offset, &code, &mut sorted);
            }
            let Some(next) = offset.checked_add(length) else { break };
            offset = next;
        }
        sorted.sort_by_key(|range: &Range| range.start);
        Lines { sorted }
    }

    /// The file and the line of an address.
    pub(super) fn at(&self, address: u64) -> Option<(Option<&str>, Option<u64>)> {
        let after = self.sorted.partition_point(|range| range.start <= address);
        let range = self.sorted.get(after.checked_sub(1)?).filter(|range| address < range.end)?;
        Some((range.file.as_deref(), range.line))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

impl<'a> Sections<'a> {
    /// The ranges of the program at `offset`, those that begin in `code`.
    fn program(&mut self, offset: usize, code: &[(u64, u64)], ranges: &mut Vec<Range>) -> gimli::Result<()> {
        // Versions that do not say have addresses of the class of the file.
        let program = self.line.program(DebugLineOffset(offset), 8, None, None)?;
        let mut rows = program.rows();
        let mut names = Names::default();
        // Where the last row began, and of which file and line it is.
        let mut open: Option<(u64, u64, Option<u64>)> = None;
        while let Some((header, row)) = rows.next_row()? {
            let end = row.address();
            if let Some((start, file, line)) = open.take().filter(|(start, ..)| *start < end)
                && code.iter().any(|(first, last)| (*first..=*last).contains(&start))
            {
                let file = self.named(header, file, &mut names);
                ranges.push(Range { start, end, file, line });
            }
            if !row.end_sequence() {
                open = Some((row.address(), row.file_index(), row.line().map(Into::into)));
            }
        }
        Ok(())
    }

    /// The name of a file of a program; `names` has those that were made.
    fn named(&mut self, header: &LineProgramHeader<Bytes<'a>>, file: u64, names: &mut Names) -> Option<Arc<str>> {
        let entry = header.file(file)?;
        if let Some(name) = names.get(&file) {
            return name.clone();
        }
        let name = self.text(entry.path_name());
        // Folder 0 is where the compiler ran, and the others are as it was told them.
        let folder = if entry.directory_index() == 0 { None } else { entry.directory(header).and_then(|folder| self.text(folder)) };
        let whole = match (folder, name) {
            (Some(folder), Some(name)) if !name.starts_with('/') => Some(format!("{folder}/{name}")),
            (_, name) => name.map(str::to_owned),
        };
        let whole = whole.filter(|whole| whole.len() <= self.names);
        self.names -= whole.as_ref().map_or(0, String::len);
        let whole = whole.map(Arc::from);
        names.insert(file, whole.clone());
        whole
    }

    fn text(&self, value: AttributeValue<Bytes<'a>>) -> Option<&'a str> {
        match value {
            AttributeValue::String(text) => std::str::from_utf8(text.slice()).ok().filter(|text| text.len() <= LONGEST_NAME),
            AttributeValue::DebugLineStrRef(at) => text_at(self.line_str, at.0, LONGEST_NAME),
            AttributeValue::DebugStrRef(at) => text_at(self.str, at.0, LONGEST_NAME),
            _ => None,
        }
    }
}

/// The first and the last address of each segment of code, as far as files have so many.
fn code(elf: &ElfFile64<'_, Endianness>) -> Vec<(u64, u64)> {
    let endian = elf.endian();
    let loaded = |program: &&elf::ProgramHeader64<Endianness>| {
        program.p_type(endian) == elf::PT_LOAD && program.p_flags(endian).contains(elf::PF_X) && program.p_memsz(endian) != 0
    };
    let range = |program: &elf::ProgramHeader64<Endianness>| {
        let first = program.p_vaddr(endian);
        (first, first.saturating_add(program.p_memsz(endian) - 1))
    };
    elf.elf_program_headers().iter().filter(loaded).take(SEGMENTS).map(range).collect()
}

/// The bytes of the program at `offset`, with its length, which is of one of DWARF's two formats (section 7.4).
fn length_at(bytes: Bytes<'_>, offset: usize) -> Option<usize> {
    let mut rest = EndianSlice::new(bytes.slice().get(offset..)?, bytes.endian());
    let before = rest.len();
    let (length, _) = rest.read_initial_length().ok()?;
    (before - rest.len()).checked_add(length)
}

/// The bytes of the section of this name, if they are not compressed.
fn section<'a>(elf: &ElfFile64<'_, Endianness>, file: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let endian = elf.endian();
    let names = section_names(elf, file);
    let wanted = |section: &&elf::SectionHeader64<Endianness>| text_at(names, section.sh_name(endian) as usize, name.len()) == Some(name);
    let section = elf.elf_section_table().iter().find(wanted)?;
    if section.sh_flags(endian).contains(elf::SHF_COMPRESSED) { None } else { section.data(endian, file).ok() }
}
