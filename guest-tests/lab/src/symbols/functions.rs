//! The symbols of code.

use object::read::elf::{ElfFile64, FileHeader, SectionHeader, Sym};
use object::{Endian, Endianness, SectionIndex, elf};

use vm_pmu_engines::image::Routine;

use super::{section_names, text_at};

/// The most bytes of a name. Without a bound, symbols that share one long name would take more than the file has.
const LONGEST: usize = 1024;

/// How many symbols before an address are looked at: labels inside a function do not reach as far as the function does.
const NESTED: usize = 16;

/// A symbol of code.
#[derive(Clone, Debug)]
struct Function {
    start: u64,
    /// The first address after it.
    end: u64,
    /// Whether the file says where it ends; otherwise the next symbol or the end of the section does.
    sized: bool,
    name: String,
}

/// The symbols of code, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    sorted: Vec<Function>,
}

impl Functions {
    pub(super) fn of(elf: &ElfFile64<'_, Endianness>, file: &[u8]) -> Functions {
        let endian = elf.endian();
        let sections = elf.elf_section_table();
        let Ok(table) = sections.symbols(endian, file, elf::SHT_SYMTAB) else { return Functions::default() };
        let strings = sections.section(table.string_section()).and_then(|section| section.data(endian, file)).unwrap_or_default();
        let mut found: Vec<(u8, Function)> = Vec::new();
        for symbol in table.iter() {
            let kind = symbol.st_type();
            if kind != elf::STT_FUNC && kind != elf::STT_NOTYPE {
                continue;
            }
            let index = symbol.st_shndx(endian).0;
            if index == 0 || index >= elf::SHN_LORESERVE {
                continue;
            }
            let Ok(section) = sections.section(SectionIndex(index.into())) else { continue };
            let value = symbol.st_value(endian);
            let start = match descriptor(elf, section, value, file) {
                Some(start) => start,
                None if section.sh_flags(endian).contains(elf::SHF_EXECINSTR) => value,
                None => continue,
            };
            let Some(name) = text_at(strings, symbol.st_name(endian) as usize, LONGEST) else { continue };
            let size = symbol.st_size(endian);
            let end = if size != 0 {
                start.saturating_add(size)
            } else if start == value {
                section.sh_addr(endian).saturating_add(section.sh_size(endian))
            } else {
                u64::MAX
            };
            // Of several names for one address the first is a function's, and one that other files know.
            let rank = 2 * u8::from(kind != elf::STT_FUNC) + u8::from(symbol.st_bind() == elf::STB_LOCAL);
            found.push((rank, Function { start, end, sized: size != 0, name: name.to_owned() }));
        }
        found.sort_by_key(|(rank, function)| (function.start, *rank));
        let mut sorted: Vec<Function> = found.into_iter().map(|(_, function)| function).collect();
        sorted.dedup_by_key(|function| function.start);
        for index in 1..sorted.len() {
            let next = sorted[index].start;
            let before = &mut sorted[index - 1];
            if !before.sized {
                before.end = before.end.min(next);
            }
        }
        Functions { sorted }
    }

    pub(super) fn of_routines(routines: &[Routine]) -> Functions {
        let function = |routine: &Routine| Function { start: routine.start, end: routine.end, sized: true, name: routine.name.clone() };
        let mut sorted: Vec<Function> = routines.iter().map(function).collect();
        sorted.sort_by_key(|function| function.start);
        Functions { sorted }
    }

    /// The symbol that an address belongs to, and the bytes from it.
    pub(super) fn at(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.sorted.partition_point(|function| function.start <= address);
        let before = self.sorted.get(..after)?.iter().rev().take(NESTED);
        let function = before.into_iter().find(|function| address < function.end)?;
        Some((&function.name, address - function.start))
    }

    pub(super) fn address_of(&self, name: &str) -> Option<u64> {
        self.sorted.iter().find(|function| function.name == name).map(|function| function.start)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }
}

/// The first instruction of the function whose descriptor lies at `address` of `section`, if that is the descriptors' section of POWER's
/// first ELF ABI (64-bit PowerPC ELF ABI Supplement 1.9, section 3.2.5): the first doubleword of a descriptor.
fn descriptor(elf: &ElfFile64<'_, Endianness>, section: &elf::SectionHeader64<Endianness>, address: u64, file: &[u8]) -> Option<u64> {
    let endian = elf.endian();
    if elf.elf_header().e_machine(endian) != elf::EM_PPC64 {
        return None;
    }
    if text_at(section_names(elf, file), section.sh_name(endian) as usize, LONGEST) != Some(".opd") {
        return None;
    }
    let offset = usize::try_from(address.checked_sub(section.sh_addr(endian))?).ok()?;
    let bytes = section.data(endian, file).ok()?.get(offset..)?.first_chunk()?;
    Some(endian.read_u64(*bytes))
}
