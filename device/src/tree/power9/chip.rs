//! The chips, and their memory.

use alloc::vec::Vec;

use vm_fdt::FdtReserveEntry;

use super::Error;

/// Where a chip's region begins in its home memory, in bytes (`docs/notes/power9-nest.md`, Memory).
pub(super) const REGION: u32 = 0x18_0000;
/// How long the region is, in bytes.
pub(super) const REGION_SIZE: u32 = 0x4_0000;
/// Where the control block begins in the region, in bytes.
pub(super) const CONTROL_BLOCK: u32 = 0x3_FC00;

/// The most chips: a PIR has 7 bits for the number of a chip (N26).
const MAX_CHIPS: usize = 128;
/// The register by which a chip finds its home memory has bits 8:43 of the address (skiboot `hw/homer.c`).
const HOME_BITS: u64 = 0x00FF_FFFF_FFF0_0000;

/// A POWER9 chip whose nest counters are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its number, as a PIR has it in bits 8 and up: 0 to 127.
    pub id: u32,
    /// The guest physical address of its home memory, a multiple of 1 MiB; the region into which it posts is 256 KiB at 180000h from there.
    pub home: u64,
    /// The units that it has, a bit each, bit 0 the most significant: as the control block has it (`docs/notes/power9-nest.md`, N12).
    pub availability: u64,
}

impl Chip {
    /// The units of the guide's table 6-10, and no other.
    pub const TABLE_6_10: u64 = 0xFFFF_8073_F007_E000;

    /// A chip with the units of table 6-10.
    #[must_use]
    pub const fn new(id: u32, home: u64) -> Chip {
        Chip { id, home, availability: Chip::TABLE_6_10 }
    }
}

/// Checks that `chips` can be chips of one machine.
pub(super) fn check(chips: &[Chip]) -> Result<(), Error> {
    if chips.is_empty() {
        return Err(Error::NoChips);
    }
    if chips.len() > MAX_CHIPS {
        return Err(Error::TooManyChips(chips.len()));
    }
    let mut seen: Vec<Chip> = Vec::with_capacity(chips.len());
    for chip in chips {
        if chip.id as usize >= MAX_CHIPS {
            return Err(Error::ChipNumber(chip.id));
        }
        if chip.home & !HOME_BITS != 0 {
            return Err(Error::Home { chip: chip.id, home: chip.home });
        }
        if seen.iter().any(|other| other.id == chip.id) {
            return Err(Error::SameNumber(chip.id));
        }
        if let Some(other) = seen.iter().find(|other| other.home == chip.home) {
            return Err(Error::SameHome { chip: other.id, other: chip.id });
        }
        seen.push(*chip);
    }
    Ok(())
}

/// The memory that an operating system must not use as its own, for the writer's list of reservations: each chip's region.
///
/// # Errors
///
/// What is wrong with the chips, see [`Error`].
///
/// ```
/// use vm_pmu::tree::power9::{self, Chip, Error};
///
/// assert_eq!(power9::reservations(&[Chip::new(0, 0x10_0000)]).unwrap().len(), 1);
/// assert_eq!(power9::reservations(&[Chip::new(0, 0x1234)]), Err(Error::Home { chip: 0, home: 0x1234 }));
/// ```
pub fn reservations(chips: &[Chip]) -> Result<Vec<FdtReserveEntry>, Error> {
    check(chips)?;
    let region = |chip: &Chip| FdtReserveEntry::new(chip.home + u64::from(REGION), u64::from(REGION_SIZE)).map_err(Error::from);
    chips.iter().map(region).collect()
}
