//! The chips, and their memory.

use alloc::vec::Vec;

use vm_fdt::FdtReserveEntry;
use vm_pmu_arch::power9::nest::{Availability, REGION, REGION_SIZE};

use super::Error;

/// The most chips: a PIR has 7 bits for the number of a chip (N26).
const MAX_CHIPS: usize = 128;
/// The register that points to a chip's home memory has bits 8:43 of the address (skiboot `hw/homer.c`).
const HOME_BITS: u64 = 0x00FF_FFFF_FFF0_0000;

/// A POWER9 chip whose nest counters are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its number, as a PIR has it in bits 8 and up: 0 to 127. The node of a processor names its chip in the property `ibm,chip-id`:
    /// without it Linux opens no event of the nest there.
    pub id: u32,
    /// The guest physical address of its home memory, a multiple of 1 MiB; the region into which it posts is 256 KiB at 180000h from there.
    pub home: u64,
    /// The units that it has.
    pub availability: Availability,
}

impl Chip {
    /// A chip with the units of the guide's table 6-10 and no others.
    #[must_use]
    pub const fn new(id: u32, home: u64) -> Chip {
        Chip { id, home, availability: Availability::GUIDE }
    }
}

#[cfg(feature = "memory")]
impl From<&crate::memory::Chip> for Chip {
    /// The description of a chip that posts.
    fn from(chip: &crate::memory::Chip) -> Chip {
        Chip { id: chip.id(), home: chip.home(), availability: chip.units() }
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
    let region = |chip: &Chip| FdtReserveEntry::new(chip.home + REGION, REGION_SIZE).map_err(Error::from);
    chips.iter().map(region).collect()
}
