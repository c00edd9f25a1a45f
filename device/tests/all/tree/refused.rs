//! What cannot be described, and that nothing is written of it.

use super::{HOME, blob};
use vm_pmu::tree::power9::{self, Availability, Chip, Error, ImcCounters};
use vm_pmu::tree::vm_fdt::{self, FdtWriter};

/// What is said of these chips, by both functions that take them.
fn refusal(chips: &[Chip]) -> Error {
    let error = blob(&ImcCounters::of(chips)).unwrap_err();
    assert_eq!(power9::reservations(chips).unwrap_err(), error);
    error
}

#[test]
fn a_machine_has_a_chip() {
    assert_eq!(refusal(&[]), Error::NoChips);
}

#[test]
fn a_chip_number_has_seven_bits() {
    assert!(blob(&ImcCounters::of(&[Chip::new(127, HOME)])).is_ok());
    assert_eq!(refusal(&[Chip::new(128, HOME)]), Error::ChipNumber(128));
}

#[test]
fn there_are_no_more_chips_than_numbers() {
    let chips: Vec<Chip> = (0..129).map(|id| Chip::new(id, u64::from(id) << 22)).collect();
    assert!(blob(&ImcCounters::of(&chips[..128])).is_ok());
    assert_eq!(refusal(&chips), Error::TooManyChips(129));
}

#[test]
fn a_number_names_one_chip() {
    assert_eq!(refusal(&[Chip::new(3, 0), Chip::new(3, 0x40_0000)]), Error::SameNumber(3));
}

#[test]
fn a_home_belongs_to_one_chip() {
    assert_eq!(refusal(&[Chip::new(3, HOME), Chip::new(4, HOME)]), Error::SameHome { chip: 3, other: 4 });
}

#[test]
fn home_memory_begins_at_a_mebibyte() {
    assert_eq!(refusal(&[Chip::new(0, 0x10_0008)]), Error::Home { chip: 0, home: 0x10_0008 });
    assert_eq!(refusal(&[Chip::new(0, 0x8_0000)]), Error::Home { chip: 0, home: 0x8_0000 });
}

#[test]
fn home_memory_is_where_an_address_of_56_bits_reaches() {
    assert!(blob(&ImcCounters::of(&[Chip::new(0, 0x00FF_FFFF_FFF0_0000)])).is_ok());
    assert_eq!(refusal(&[Chip::new(0, 1 << 56)]), Error::Home { chip: 0, home: 1 << 56 });
}

/// The counters of a chip without units, which need one phandle.
fn with_first_phandle(first_phandle: u32) -> Result<Vec<u8>, Error> {
    blob(&ImcCounters { first_phandle, ..ImcCounters::of(&[Chip { availability: Availability(0), ..Chip::new(0, HOME) }]) })
}

#[test]
fn phandles_are_neither_0_nor_all_ones() {
    assert_eq!(with_first_phandle(0), Err(Error::Phandles { first: 0, needed: 1 }));
    assert!(with_first_phandle(0xFFFF_FFFE).is_ok());
    assert_eq!(with_first_phandle(0xFFFF_FFFF), Err(Error::Phandles { first: 0xFFFF_FFFF, needed: 1 }));
}

#[test]
fn a_taken_phandle_is_the_writers_own_error() {
    let mut fdt = FdtWriter::new().unwrap();
    fdt.begin_node("").unwrap();
    fdt.property_phandle(1).unwrap();
    let written = power9::write_imc_counters(&mut fdt, &ImcCounters::of(&[Chip::new(0, HOME)]));
    assert_eq!(written, Err(Error::Fdt(vm_fdt::Error::DuplicatePhandle)));
    assert_eq!(fdt.finish(), Err(vm_fdt::Error::UnclosedNode));
}

#[test]
fn a_refused_description_leaves_the_tree_as_it_was() {
    let write = |describe: bool| {
        let mut fdt = FdtWriter::new().unwrap();
        let root = fdt.begin_node("").unwrap();
        if describe {
            power9::write_imc_counters(&mut fdt, &ImcCounters::of(&[])).unwrap_err();
        }
        fdt.property_u32("after", 1).unwrap();
        fdt.end_node(root).unwrap();
        fdt.finish().unwrap()
    };
    assert_eq!(write(true), write(false));
}

#[test]
fn an_architected_version_is_not_a_processors() {
    let mut fdt = FdtWriter::new().unwrap();
    fdt.begin_node("PowerPC,POWER9@0").unwrap();
    assert_eq!(power9::write_cpu_version(&mut fdt, 0x0F00_0005), Err(Error::NotPower9(0x0F00_0005)));
    assert_eq!(power9::write_cpu_version(&mut fdt, 0x004D_0200), Err(Error::NotPower9(0x004D_0200)));
}

#[test]
fn a_property_without_a_node_is_the_writers_own_error() {
    let mut fdt = FdtWriter::new().unwrap();
    assert_eq!(power9::write_cpu_version(&mut fdt, 0x004E_1203), Err(Error::Fdt(vm_fdt::Error::PropertyBeforeBeginNode)));
}

#[test]
fn an_error_says_what_is_wrong() {
    let text = |error: Error| error.to_string();
    assert!(text(Error::Home { chip: 5, home: 0x1234 }).contains("chip 5 begins at 0x1234"));
    assert!(text(Error::Phandles { first: 0x10, needed: 33 }).contains("33 phandles"));
    assert!(text(Error::NotPower9(0x0F00_0005)).contains("0x0f000005"));
    assert!(text(Error::Fdt(vm_fdt::Error::DuplicatePhandle)).contains("Duplicate phandle"));
}
