//! The unwind tables of an IA-64 file (Software Conventions and Runtime Architecture Guide, section 11.3).
//!
//! Entries and what they point to are offsets from the beginning of the segment that the table is in. Whatever an entry claims beyond that
//! segment is not read: the time and the memory grow with the file and no faster.

use object::read::elf::{ElfFile64, ProgramHeader, SectionHeader};
use object::{Endianness, elf};

use vm_pmu_board::ia64::{MOST_DESCRIPTORS, Procedure, Procedures};

/// An entry: where a procedure begins, where it ends, and where its information block is.
const ENTRY: usize = 24;

/// The most tables. A linker makes one.
const MOST_TABLES: usize = 64;

/// The procedures in the tables of a file; none if it has no tables.
pub(crate) fn procedures(file: Vec<u8>) -> Option<Procedures> {
    let found = entries(&file)?;
    Some(Procedures::new(file, found))
}

fn entries(file: &[u8]) -> Option<Vec<Procedure>> {
    let elf = ElfFile64::<Endianness>::parse(file).ok()?;
    let endian = elf.endian();
    let segments: Vec<Segment<'_>> = elf
        .elf_program_headers()
        .iter()
        .filter(|header| header.p_type(endian) == elf::PT_LOAD)
        .filter_map(|header| {
            Some(Segment {
                start: header.p_vaddr(endian),
                offset: usize::try_from(header.p_offset(endian)).ok()?,
                bytes: header.data(endian, file).ok()?,
            })
        })
        .collect();
    let mut found = Vec::new();
    let mut is_there = false;
    let is_table = |section: &&elf::SectionHeader64<Endianness>| section.sh_type(endian) == elf::SHT_IA_64_UNWIND;
    for section in elf.elf_section_table().iter().filter(is_table).take(MOST_TABLES) {
        let Ok(table) = section.data(endian, file) else { continue };
        let Some(segment) = segments.iter().find(|segment| segment.has(section.sh_addr(endian))) else { continue };
        is_there = true;
        found.extend(table.as_chunks::<ENTRY>().0.iter().filter_map(|entry| segment.procedure(entry)));
        // Sections may share their bytes. A table is no longer than its file.
        if found.len() > file.len() / ENTRY {
            return None;
        }
    }
    is_there.then_some(found)
}

/// A segment, as far as the file has it.
struct Segment<'a> {
    start: u64,
    offset: usize,
    bytes: &'a [u8],
}

impl Segment<'_> {
    fn has(&self, address: u64) -> bool {
        address.checked_sub(self.start).is_some_and(|offset| offset < self.bytes.len() as u64)
    }

    fn procedure(&self, entry: &[u8; ENTRY]) -> Option<Procedure> {
        let word = |index: usize| entry.as_chunks::<8>().0.get(index).map(|bytes| u64::from_le_bytes(*bytes));
        let (start, end) = (self.start.checked_add(word(0)?)?, self.start.checked_add(word(1)?)?);
        let block = word(2)?;
        // A procedure with nothing to tell has no block.
        let descriptors = if block == 0 { Some(0..0) } else { self.descriptors(block) };
        (start < end).then_some(Procedure { start, end, descriptors })
    }

    /// The descriptors of an information block: a doubleword with the version at bits 63:48 and their doublewords at 31:0, then they.
    fn descriptors(&self, block: u64) -> Option<std::ops::Range<usize>> {
        let block = usize::try_from(block).ok()?;
        let header = u64::from_le_bytes(*self.bytes.get(block..)?.first_chunk::<8>()?);
        let bytes = usize::try_from(header & 0xFFFF_FFFF).ok()?.checked_mul(8)?;
        if header >> 48 != VERSION || bytes > MOST_DESCRIPTORS {
            return None;
        }
        let start = block.checked_add(8)?;
        self.bytes.get(start..start.checked_add(bytes)?)?;
        Some(self.offset.checked_add(start)?..self.offset.checked_add(start + bytes)?)
    }
}

/// The version of information blocks.
const VERSION: u64 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where the segment of [`file`] lies, in memory and in the file.
    const START: u64 = 0x10_0000;
    const OFFSET: usize = 0x80;

    /// A file with one segment, at whose end is the unwind table: `before` it, then entries (section 11.3: three doublewords each).
    fn file(before: &[u8], entries: &[[u64; 3]]) -> Vec<u8> {
        let table: Vec<u8> = entries.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let segment = (before.len() + table.len()) as u64;
        let sections = OFFSET as u64 + segment;
        let mut bytes = Vec::new();
        let mut put = |words: &[(u64, usize)]| {
            for (value, size) in words {
                bytes.extend_from_slice(&value.to_le_bytes()[..*size]);
            }
        };
        // ELF64, little-endian: an executable (2) of IA-64 (50) with a program header at 40h and three section headers at the end.
        put(&[(0x0001_0102_464C_457F, 8), (0, 8), (2, 2), (50, 2), (1, 4), (START, 8), (0x40, 8), (sections, 8), (0, 4)]);
        put(&[(64, 2), (56, 2), (1, 2), (64, 2), (3, 2), (2, 2)]);
        // PT_LOAD (1), readable and executable.
        put(&[(1, 4), (5, 4), (OFFSET as u64, 8), (START, 8), (START, 8), (segment, 8), (segment, 8), (16, 8), (0, 8)]);
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(&table);
        // No section, one of the type SHT_IA_64_UNWIND, with SHF_ALLOC, and one of strings (SHT_STRTAB), which is empty.
        bytes.extend([0; 64]);
        let place = [START + before.len() as u64, (OFFSET + before.len()) as u64, table.len() as u64, 0, 8, 0];
        bytes.extend([0u32.to_le_bytes(), 0x7000_0001u32.to_le_bytes()].concat());
        bytes.extend([2].into_iter().chain(place).flat_map(u64::to_le_bytes));
        bytes.extend([[0; 4], 3u32.to_le_bytes()].concat());
        bytes.extend([0; 56]);
        bytes
    }

    /// An information block of version 1 with one doubleword of descriptors.
    const BLOCK: [u8; 16] = [1, 0, 0, 0, 0, 0, 1, 0, 0x21, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn entries_are_offsets_from_their_segment() {
        // 16 bytes of code, then the block.
        let before = [&[0; 16], &BLOCK[..]].concat();
        let found = entries(&file(&before, &[[0, 16, 16]])).unwrap();
        // The descriptors are behind the doubleword at the beginning of the block.
        let descriptors = Some(OFFSET + 24..OFFSET + 32);
        assert_eq!(found, [Procedure { start: START, end: START + 16, descriptors }]);
    }

    #[test]
    fn an_entry_without_a_block_is_of_a_procedure_that_keeps_nothing() {
        let found = entries(&file(&[0; 16], &[[0, 16, 0]])).unwrap();
        assert_eq!(found[0].descriptors, Some(0..0));
    }

    #[test]
    fn blocks_of_other_versions_or_beyond_the_segment_are_not_read() {
        let mut other = BLOCK;
        other[6] = 2;
        let mut long = BLOCK;
        long[0] = 200;
        for before in [other, long] {
            let before = [&[0; 16], &before[..]].concat();
            assert_eq!(entries(&file(&before, &[[0, 16, 16]])).unwrap()[0].descriptors, None);
        }
        for block in [0x1000, u64::MAX] {
            assert_eq!(entries(&file(&[0; 16], &[[0, 16, block]])).unwrap()[0].descriptors, None);
        }
    }

    #[test]
    fn a_file_without_tables_has_no_procedures() {
        assert_eq!(entries(&file(&[0; 16], &[])[..OFFSET + 16]), None);
        assert_eq!(entries(b"no file"), None);
    }

    #[test]
    fn an_entry_that_ends_before_it_begins_is_none() {
        assert_eq!(entries(&file(&[0; 16], &[[16, 0, 0], [0, u64::MAX, 0]])), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_file_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = procedures(bytes);
        }

        #[test]
        fn a_damaged_file_is_read_as_far_as_it_goes(at in 0usize..400, value in any::<u8>(), cut in 0usize..400) {
            let mut bytes = file(&[&[0; 16], &BLOCK[..]].concat(), &[[0, 16, 16], [0, 16, 0]]);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            bytes.truncate(cut.max(64));
            let length = bytes.len();
            for procedure in entries(&bytes).unwrap_or_default() {
                prop_assert!(procedure.descriptors.is_none_or(|range| range.end <= length));
            }
        }
    }
}
