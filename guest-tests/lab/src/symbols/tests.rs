//! Files are made here byte by byte: the gABI's headers (ELF-64 Object File Format 1.5), DWARF's line programs (DWARF 5, section 6.2.5).

use proptest::prelude::*;

use super::{Place, Symbols};

const X86_64: u16 = 62;
const POWER: u16 = 21;
const IA_64: u16 = 50;

const FUNCTION: u8 = 0x12;
const LABEL: u8 = 0;

/// Where code lies.
const TEXT: u64 = 0x1_0000;

/// A section in the making.
#[derive(Default)]
struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    bytes: Vec<u8>,
    link: u32,
    /// Bytes of an entry.
    entry: u64,
}

/// An ELF executable in the making: its code is 0x100 bytes at [`TEXT`].
struct File {
    machine: u16,
    flags: u32,
    big_endian: bool,
    sections: Vec<Section>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
}

impl File {
    fn new(machine: u16) -> File {
        let text = Section { name: ".text", kind: 1, flags: 6, address: TEXT, bytes: vec![0; 0x100], ..Section::default() };
        File { machine, flags: 0, big_endian: false, sections: vec![text], symbols: vec![0; 24], strings: vec![0] }
    }

    fn put(&self, bytes: &mut Vec<u8>, value: u64, size: usize) {
        let little = value.to_le_bytes();
        if self.big_endian {
            bytes.extend(little[..size].iter().rev());
        } else {
            bytes.extend(&little[..size]);
        }
    }

    /// A symbol of section `section`, counted from 1.
    fn symbol(mut self, name: &str, info: u8, other: u8, section: u16, value: u64, size: u64) -> File {
        let mut bytes = std::mem::take(&mut self.symbols);
        self.put(&mut bytes, self.strings.len() as u64, 4);
        bytes.extend([info, other]);
        self.put(&mut bytes, section.into(), 2);
        self.put(&mut bytes, value, 8);
        self.put(&mut bytes, size, 8);
        self.symbols = bytes;
        self.strings.extend(name.bytes());
        self.strings.push(0);
        self
    }

    fn section(mut self, name: &'static str, address: u64, bytes: Vec<u8>) -> File {
        let flags = if address == 0 { 0 } else { 3 };
        self.sections.push(Section { name, kind: 1, flags, address, bytes, ..Section::default() });
        self
    }

    fn bytes(mut self) -> Vec<u8> {
        let strings = std::mem::take(&mut self.strings);
        let symbols = std::mem::take(&mut self.symbols);
        let link = self.sections.len() as u32 + 2;
        self.sections.push(Section { name: ".symtab", kind: 2, bytes: symbols, link, entry: 24, ..Section::default() });
        self.sections.push(Section { name: ".strtab", kind: 3, bytes: strings, ..Section::default() });
        let mut names = vec![0];
        let mut placed = Vec::new();
        let mut contents: Vec<u8> = Vec::new();
        for name in self.sections.iter().map(|section| section.name).chain([".shstrtab"]) {
            placed.push(names.len() as u64);
            names.extend(name.bytes());
            names.push(0);
        }
        self.sections.push(Section { name: ".shstrtab", kind: 3, bytes: names, ..Section::default() });
        // The header, then one program header.
        let begin = 64 + 56;
        let mut headers = vec![0; 64];
        for (Section { kind, flags, address, bytes, link, entry, .. }, name) in self.sections.iter().zip(placed) {
            self.put(&mut headers, name, 4);
            self.put(&mut headers, (*kind).into(), 4);
            for value in [*flags, *address, (begin + contents.len()) as u64, bytes.len() as u64] {
                self.put(&mut headers, value, 8);
            }
            self.put(&mut headers, (*link).into(), 4);
            self.put(&mut headers, 0, 4);
            self.put(&mut headers, 1, 8);
            self.put(&mut headers, *entry, 8);
            contents.extend(bytes);
        }
        let mut file = vec![0x7f, b'E', b'L', b'F', 2, if self.big_endian { 2 } else { 1 }, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        self.put(&mut file, 2, 2);
        self.put(&mut file, self.machine.into(), 2);
        self.put(&mut file, 1, 4);
        self.put(&mut file, TEXT, 8);
        self.put(&mut file, 64, 8);
        self.put(&mut file, (begin + contents.len()) as u64, 8);
        self.put(&mut file, self.flags.into(), 4);
        for value in [64, 56, 1, 64, self.sections.len() as u64 + 1, self.sections.len() as u64] {
            self.put(&mut file, value, 2);
        }
        self.put(&mut file, 1, 4);
        self.put(&mut file, 5, 4);
        for value in [begin as u64, TEXT, TEXT, 0x100, 0x100, 1] {
            self.put(&mut file, value, 8);
        }
        file.extend(contents);
        file.extend(headers);
        file
    }

    fn read(self) -> Symbols {
        Symbols::of(&self.bytes()).unwrap()
    }
}

fn shown(symbols: &Symbols, address: u64) -> String {
    symbols.at(address).map_or_else(|| "-".to_owned(), |place| place.to_string())
}

/// A line program of version 4: two folders' files, rows at 0, 4 and 8 bytes from `start`, and an end after 12.
fn version_4(start: u64) -> Vec<u8> {
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend(b"lib\0\0");
    header.extend(b"main.c\0\0\0\0");
    header.extend(b"spin.h\0\x01\0\0\0");
    let mut program = vec![0, 9, 2];
    program.extend(start.to_le_bytes());
    // Line 10 (advance by 9), a row; 4 bytes on, line 12, a row; 4 bytes on, file 2, line 3 (advance by -9), a row; 4 bytes on, the end.
    program.extend([3, 9, 1, 2, 4, 3, 2, 1, 2, 4, 4, 2, 3, 0x77, 1, 2, 4, 0, 1, 1]);
    let mut rest = vec![4, 0];
    rest.extend((header.len() as u32).to_le_bytes());
    rest.extend(header);
    rest.extend(program);
    let mut whole = (rest.len() as u32).to_le_bytes().to_vec();
    whole.extend(rest);
    whole
}

/// A line program of version 5, of one file in the folder where the compiler ran, both named in `.debug_line_str`: line 7 for 16 bytes.
fn version_5(start: u64) -> Vec<u8> {
    // A folder is a path of form line_strp; a file has the folder's index, as udata, too.
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.extend([1, 1, 0x1f, 1, 0, 0, 0, 0]);
    header.extend([2, 1, 0x1f, 2, 0x0f, 1, 6, 0, 0, 0, 0]);
    let mut program = vec![0, 9, 2];
    program.extend(start.to_le_bytes());
    // File 0, line 7, a row; 16 bytes on, the end.
    program.extend([4, 0, 3, 6, 1, 2, 16, 0, 1, 1]);
    let mut rest = vec![5, 0, 8, 0];
    rest.extend((header.len() as u32).to_le_bytes());
    rest.extend(header);
    rest.extend(program);
    let mut whole = (rest.len() as u32).to_le_bytes().to_vec();
    whole.extend(rest);
    whole
}

fn two_functions() -> File {
    File::new(X86_64).symbol("first", FUNCTION, 0, 1, TEXT, 0x10).symbol("second", FUNCTION, 0, 1, TEXT + 0x20, 0x10)
}

#[test]
fn an_address_in_a_function_is_its_symbol_and_the_bytes_from_it() {
    let symbols = two_functions().read();
    assert_eq!(symbols.at(TEXT + 0x2f), Some(Place { symbol: Some("second".to_owned()), offset: 0xf, file: None, line: None }));
}

#[test]
fn a_functions_first_instruction_has_no_offset() {
    assert_eq!(shown(&two_functions().read(), TEXT), "first");
}

#[test]
fn what_no_function_covers_has_no_symbol() {
    assert_eq!(two_functions().read().at(TEXT + 0x10), None);
}

#[test]
fn what_lies_before_the_first_function_has_no_symbol() {
    assert_eq!(two_functions().read().at(TEXT - 1), None);
}

#[test]
fn the_last_address_of_all_has_no_symbol() {
    assert_eq!(two_functions().read().at(u64::MAX), None);
}

#[test]
fn a_label_without_size_reaches_to_the_next_symbol() {
    let symbols = File::new(X86_64).symbol("_start", LABEL, 0, 1, TEXT, 0).symbol("loop", LABEL, 0, 1, TEXT + 8, 0).read();
    assert_eq!((shown(&symbols, TEXT + 7), shown(&symbols, TEXT + 9)), ("_start+0x7".to_owned(), "loop+0x1".to_owned()));
}

#[test]
fn the_last_label_without_size_reaches_to_the_end_of_its_section() {
    let symbols = File::new(X86_64).symbol("_start", LABEL, 0, 1, TEXT, 0).read();
    assert_eq!((shown(&symbols, TEXT + 0xff), shown(&symbols, TEXT + 0x100)), ("_start+0xff".to_owned(), "-".to_owned()));
}

#[test]
fn after_a_label_with_a_size_the_function_around_it_goes_on() {
    let symbols = File::new(X86_64).symbol("outer", FUNCTION, 0, 1, TEXT, 0x80).symbol("inner", FUNCTION, 0, 1, TEXT + 0x10, 8).read();
    assert_eq!((shown(&symbols, TEXT + 0x17), shown(&symbols, TEXT + 0x18)), ("inner+0x7".to_owned(), "outer+0x18".to_owned()));
}

#[test]
fn of_two_names_a_function_is_told_before_a_label() {
    let symbols = File::new(X86_64).symbol("mark", LABEL, 0, 1, TEXT, 0).symbol("main", FUNCTION, 0, 1, TEXT, 0x10).read();
    assert_eq!(shown(&symbols, TEXT + 4), "main+0x4");
}

#[test]
fn data_is_no_code() {
    let symbols = File::new(X86_64).section(".data", TEXT + 0x1000, vec![0; 16]).symbol("table", LABEL, 0, 2, TEXT + 0x1000, 16).read();
    assert_eq!(symbols.at(TEXT + 0x1004), None);
}

#[test]
fn a_symbol_is_found_by_name() {
    assert_eq!(two_functions().read().address_of("second"), Some(TEXT + 0x20));
}

// 64-bit ELF V2 ABI Specification, Power Architecture 1.5, section 3.4.1: st_other 0x60 puts the local entry two instructions behind.
#[test]
fn the_local_entry_of_power_lies_behind_the_symbol() {
    let file = File { flags: 2, ..File::new(POWER) };
    assert_eq!(shown(&file.symbol("main", FUNCTION, 0x60, 1, TEXT + 0x40, 0x20).read(), TEXT + 0x48), "main+0x8");
}

// 64-bit PowerPC ELF ABI Supplement 1.9, section 3.2.5: entry point, TOC base, environment.
#[test]
fn a_descriptor_of_powers_first_abi_names_the_code_it_leads_to() {
    let mut descriptor = (TEXT + 0x40).to_be_bytes().to_vec();
    descriptor.extend([0; 16]);
    let file = File { big_endian: true, flags: 1, ..File::new(POWER) };
    let file = file.section(".opd", TEXT + 0x1000, descriptor);
    assert_eq!(shown(&file.symbol("main", FUNCTION, 0, 2, TEXT + 0x1000, 0x20).read(), TEXT + 0x44), "main+0x4");
}

#[test]
fn a_slot_of_ia_64_is_told_from_its_bundle() {
    let symbols = File::new(IA_64).symbol("_start", FUNCTION, 0, 1, TEXT, 0x20).read();
    assert_eq!(shown(&symbols, TEXT + 0x12), "_start+0x12");
}

#[test]
fn a_row_of_the_line_table_reaches_to_the_next() {
    let symbols = File::new(X86_64).section(".debug_line", 0, version_4(TEXT)).read();
    assert_eq!((shown(&symbols, TEXT + 3), shown(&symbols, TEXT + 4)), ("(main.c:10)".to_owned(), "(main.c:12)".to_owned()));
}

#[test]
fn a_file_of_another_folder_is_told_with_it() {
    let symbols = File::new(X86_64).section(".debug_line", 0, version_4(TEXT)).read();
    assert_eq!(shown(&symbols, TEXT + 8), "(lib/spin.h:3)");
}

#[test]
fn after_the_end_of_a_sequence_there_is_no_line() {
    let symbols = File::new(X86_64).section(".debug_line", 0, version_4(TEXT)).read();
    assert_eq!(symbols.at(TEXT + 12), None);
}

#[test]
fn lines_of_code_that_the_linker_dropped_are_left_out() {
    let symbols = File::new(X86_64).section(".debug_line", 0, version_4(0)).read();
    assert_eq!(symbols.at(4), None);
}

#[test]
fn line_tables_of_version_5_name_their_files_in_a_section_of_their_own() {
    let file = two_functions().section(".debug_line", 0, version_5(TEXT)).section(".debug_line_str", 0, b"/home\0own.c\0".to_vec());
    assert_eq!(shown(&file.read(), TEXT + 0xf), "first+0xf (own.c:7)");
}

#[test]
fn a_second_program_is_read_after_one_that_is_malformed() {
    let mut programs = version_4(TEXT);
    // The opcodes' base, which must not be 0.
    programs[15] = 0;
    programs.extend(version_4(TEXT + 0x40));
    let symbols = File::new(X86_64).section(".debug_line", 0, programs).read();
    assert_eq!(shown(&symbols, TEXT + 0x40), "(main.c:10)");
}

#[test]
fn a_stripped_file_has_no_symbols_and_is_no_error() {
    assert!(File::new(X86_64).read().is_empty());
}

#[test]
fn what_is_no_elf_file_is_refused() {
    assert!(Symbols::of(b"#!/bin/sh").unwrap_err().to_string().starts_with("not a 64-bit ELF file: "));
}

/// A file with everything that is read.
fn whole(big_endian: bool) -> Vec<u8> {
    let file = File { big_endian, flags: 1, ..File::new(POWER) };
    file.section(".opd", TEXT + 0x1000, vec![1; 24])
        .section(".debug_line", 0, [version_4(TEXT), version_5(TEXT + 0x40)].concat())
        .section(".debug_line_str", 0, b"/home\0own.c\0".to_vec())
        .symbol("first", FUNCTION, 0, 1, TEXT, 0x10)
        .symbol("second", FUNCTION, 0, 2, TEXT + 0x1000, 0x10)
        .bytes()
}

#[test]
fn a_file_cut_off_anywhere_is_read_without_panic() {
    for bytes in [whole(false), whole(true)] {
        for length in 0..bytes.len() {
            if let Ok(symbols) = Symbols::of(&bytes[..length]) {
                let _ = symbols.at(TEXT + 4);
            }
        }
    }
}

proptest! {
    #[test]
    fn a_file_with_wrong_bytes_is_read_without_panic(
        big_endian in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        address in any::<u64>(),
    ) {
        let mut bytes = whole(big_endian);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(symbols) = Symbols::of(&bytes) {
            let _ = (symbols.at(address), symbols.at(TEXT + 4));
        }
    }
}
