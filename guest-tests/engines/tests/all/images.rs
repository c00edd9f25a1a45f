//! ELF files of guests: those of another machine are refused as such, and no file takes more memory than it has bytes.

use proptest::prelude::*;
use vm_pmu_engines::ia64::assemble as ia64;
use vm_pmu_engines::image::{Image, ImageError, Mark, Routine};
use vm_pmu_engines::power::assemble as power;

/// `e_machine` of the three.
const X86: u16 = 62;
const POWER: u16 = 21;
const IA64: u16 = 50;

/// Where the header has the class, the byte order, the machine and the number of program headers.
const CLASS: usize = 4;
const DATA: usize = 5;
const MACHINE: usize = 18;
const COUNT: usize = 56;

/// A 64-bit, little-endian ELF executable of so many segments of the same 16 bytes.
fn elf(machine: u16, segments: u16) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // ET_EXEC, the machine, the version; the entry, the program headers, no sections, no flags.
    file.extend([2u16.to_le_bytes(), machine.to_le_bytes()].concat());
    file.extend(1u32.to_le_bytes());
    file.extend([0x1000u64, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, segments, 64, 0, 0].map(u16::to_le_bytes).concat());
    let code = 64 + 56 * u64::from(segments);
    for _ in 0..segments {
        // PT_LOAD, readable and executable: where it is in the file and in memory, its sizes, its alignment.
        file.extend([1u32, 5].map(u32::to_le_bytes).concat());
        file.extend([code, 0x1000, 0x1000, 16, 32, 16].map(u64::to_le_bytes).concat());
    }
    file.extend([0; 16]);
    file
}

/// What each part's reader makes of a file.
fn read_by_all(file: &[u8]) -> [Result<Image, ImageError>; 3] {
    [Image::elf(file), Image::power_elf(file).map(|(image, _)| image), Image::ia64_elf(file)]
}

#[test]
fn an_executable_of_the_right_machine_is_an_image() {
    for (of, machine) in [X86, POWER, IA64].into_iter().enumerate() {
        for (reader, read) in read_by_all(&elf(machine, 1)).into_iter().enumerate() {
            assert_eq!(read.is_ok(), reader == of, "machine {machine}");
        }
    }
    let image = Image::ia64_elf(&elf(IA64, 1)).unwrap();
    assert_eq!((image.entry, image.segments[0].bytes.len(), image.segments[0].size), (0x1000, 16, 32));
}

#[test]
fn an_executable_of_another_machine_is_refused_with_what_would_be_right() {
    let said = Image::ia64_elf(&elf(X86, 1)).unwrap_err().to_string();
    assert_eq!(said, "an ELF file for x86-64 (machine 62): guests of this part are for IA-64 (machine 50)");
    let said = Image::elf(&elf(0x1234, 1)).unwrap_err().to_string();
    assert_eq!(said, "an ELF file for machine 4660: guests of this part are for x86-64 (machine 62)");
}

/// [`elf`] of POWER with a section `.opd` at 2000h, of a descriptor: the code at 1234h, the TOC base 8765h, no environment.
fn with_descriptor(entry: u64) -> Vec<u8> {
    let mut file = elf(POWER, 1);
    let descriptor = file.len() as u64;
    file.extend([0x1234u64, 0x8765, 0].map(u64::to_le_bytes).concat());
    let names = file.len() as u64;
    file.extend(b"\0.opd\0");
    let headers = file.len() as u64;
    // Name, type, flags, address, place in the file, size, link, information, alignment, bytes of an entry.
    for (name, kind, address, at, size) in [(0u32, 0u32, 0u64, 0u64, 0u64), (1, 1, 0x2000, descriptor, 24), (0, 3, 0, names, 6)] {
        file.extend([name, kind].map(u32::to_le_bytes).concat());
        file.extend([0, address, at, size, 0, 0, 0].map(u64::to_le_bytes).concat());
    }
    file[24..32].copy_from_slice(&entry.to_le_bytes());
    file[40..48].copy_from_slice(&headers.to_le_bytes());
    // Three sections, of which the last has the names.
    file[60..64].copy_from_slice(&[3, 0, 2, 0]);
    file
}

#[test]
fn an_entry_that_is_a_descriptor_leads_to_its_code_and_toc_base() {
    let (image, _) = Image::power_elf(&with_descriptor(0x2000)).unwrap();
    assert_eq!((image.entry, image.toc), (0x1234, 0x8765));
}

#[test]
fn an_entry_outside_of_descriptors_is_code() {
    let (image, _) = Image::power_elf(&with_descriptor(0x1000)).unwrap();
    assert_eq!((image.entry, image.toc), (0x1000, 0));
}

#[test]
fn an_image_ends_where_its_last_segment_does() {
    let image = Image::raw(0x2000, [0; 8]).with(0x1000, [0; 16]);
    assert_eq!(image.end(), 0x2008);
}

#[test]
fn the_machine_is_said_before_class_and_byte_order() {
    let mut i386 = elf(3, 1);
    i386[CLASS] = 1;
    assert_eq!(Image::elf(&i386), Err(ImageError::WrongMachine { machine: 3, right: X86 }));
    let mut big = elf(0, 1);
    big[DATA] = 2;
    big[MACHINE..MACHINE + 2].copy_from_slice(&POWER.to_be_bytes());
    assert_eq!(Image::ia64_elf(&big), Err(ImageError::WrongMachine { machine: POWER, right: IA64 }));
}

#[test]
fn a_class_or_byte_order_that_the_engine_does_not_run_is_refused() {
    let mut small = elf(IA64, 1);
    small[CLASS] = 1;
    assert_eq!(Image::ia64_elf(&small), Err(ImageError::WrongClass));
    let mut big = elf(0, 1);
    big[DATA] = 2;
    big[MACHINE..MACHINE + 2].copy_from_slice(&IA64.to_be_bytes());
    assert_eq!(Image::ia64_elf(&big), Err(ImageError::WrongEndian));
}

#[test]
fn segments_that_share_bytes_of_the_file_are_refused() {
    // As many headers as fit, each with the same megabyte, would be 64 GiB.
    let mut file = elf(X86, 1000);
    let code = 64 + 56 * 1000;
    for header in (64..code).step_by(56) {
        file[header + 32..header + 48].copy_from_slice(&[(1u64 << 20).to_le_bytes(); 2].concat());
    }
    file.resize(code + (1 << 20), 0);
    let said = Image::elf(&file).unwrap_err().to_string();
    assert_eq!(said, "malformed ELF file: segments overlap in the file");
}

/// Each reader refuses the file in one line, or makes an image that is no larger than the file.
fn check(file: &[u8]) -> Result<(), TestCaseError> {
    for read in read_by_all(file) {
        match read {
            Ok(image) => prop_assert!(image.segments.iter().map(|segment| segment.bytes.len()).sum::<usize>() <= file.len()),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn arbitrary_bytes_are_refused_or_bounded(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes)?;
        check(&[b"\x7fELF\x02\x01\x01".as_slice(), &bytes].concat())?;
    }

    #[test]
    fn a_changed_executable_is_refused_or_bounded(
        machine in proptest::sample::select(vec![X86, POWER, IA64]),
        changes in proptest::collection::vec((0usize..64 + 2 * 56, any::<u8>()), 1..6),
        count in any::<u16>(),
        cut in 0usize..400,
    ) {
        let mut file = elf(machine, 2);
        changes.iter().for_each(|(at, byte)| file[*at] = *byte);
        check(&file)?;
        file[COUNT..COUNT + 2].copy_from_slice(&count.to_le_bytes());
        check(&file)?;
        file.truncate(cut);
        check(&file)?;
    }
}

fn mark(address: u64, name: &str) -> Mark {
    Mark { address, name: (!name.is_empty()).then(|| name.to_owned()) }
}

fn routine(start: u64, end: u64, name: &str) -> Routine {
    Routine { start, end, name: name.to_owned() }
}

#[test]
fn a_routine_reaches_to_the_next_mark_or_to_the_end_of_its_segment() {
    let image = Image::raw(0x1000, [0; 0x40]).with(0x2000, [0; 0x10]);
    let image = image.with_marks(vec![mark(0x2000, "user"), mark(0x1000, "first"), mark(0x1010, ""), mark(0x1020, "last")]);
    assert_eq!(image.routines, [routine(0x1000, 0x1010, "first"), routine(0x1020, 0x1040, "last"), routine(0x2000, 0x2010, "user")]);
}

#[test]
fn the_last_mark_at_an_address_counts() {
    let image = Image::raw(0x1000, [0; 0x40]).with_marks(vec![mark(0x1000, "block"), mark(0x1000, "main")]);
    assert_eq!(image.routines, [routine(0x1000, 0x1040, "main")]);
}

#[test]
fn a_mark_outside_of_all_segments_names_nothing() {
    assert!(Image::raw(0x1000, [0; 0x40]).with_marks(vec![mark(0x1040, "behind")]).routines.is_empty());
}

#[test]
fn both_assemblers_mark_what_comes_next() {
    let mut a = power::Assembler::new(0x1000, true);
    a.nop();
    a.routine("work");
    a.nop();
    a.end_routine();
    assert_eq!(a.marks(), [mark(0x1004, "work"), mark(0x1008, "")]);
    let mut a = ia64::Assembler::new(0x1000);
    a.put(ia64::nop(0));
    a.routine("work");
    a.put(ia64::nop(0));
    a.end_routine();
    assert_eq!(a.marks(), [mark(0x1010, "work"), mark(0x1020, "")]);
}
