//! Why a description is refused.

use core::fmt;

/// Why nothing, or not all, was written.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no chip to describe.
    NoChips,
    /// There are this many chips. 128 is the most.
    TooManyChips(usize),
    /// A chip's number has more than 7 bits, and does not fit in a PIR.
    ChipNumber(u32),
    /// Two chips have this number.
    SameNumber(u32),
    /// A chip's home memory does not begin at a multiple of 1 MiB, or lies above 2^56.
    Home {
        /// The chip's number.
        chip: u32,
        /// The given start of its home memory.
        home: u64,
    },
    /// Two chips have the same home memory.
    SameHome {
        /// The number of the one.
        chip: u32,
        /// The number of the other.
        other: u32,
    },
    /// Phandles run from 1 to FFFFFFFEh, and too few are left from the given one on.
    Phandles {
        /// The first that was given.
        first: u32,
        /// How many are needed.
        needed: u32,
    },
    /// This is not the processor version of a POWER9, whose bits 0:15 are 004Eh.
    NotPower9(u32),
    /// The writer failed. What it has written up to there is not a valid tree.
    Fdt(vm_fdt::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoChips => write!(formatter, "there is no chip: a POWER9 has at least one"),
            Error::TooManyChips(chips) => write!(formatter, "{chips} chips are more than the 128 that a PIR can number"),
            Error::ChipNumber(chip) => write!(formatter, "the chip number {chip} has more than the 7 bits that a PIR has for it"),
            Error::SameNumber(chip) => write!(formatter, "two chips have the number {chip}"),
            Error::Home { chip, home } => {
                write!(formatter, "the home memory of chip {chip} begins at {home:#x}: it must be a multiple of 1 MiB below 2^56")
            }
            Error::SameHome { chip, other } => write!(formatter, "chips {chip} and {other} have the same home memory"),
            Error::Phandles { first, needed } => {
                write!(formatter, "{needed} phandles are needed, and from {first:#x} there are not as many")
            }
            Error::NotPower9(version) => write!(formatter, "{version:#010x} is not the processor version of a POWER9 (004Exxxxh)"),
            Error::Fdt(error) => write!(formatter, "the device tree cannot be written: {error}"),
        }
    }
}

// Without the standard library the writer's error cannot be a `source`: it is in the text.
impl core::error::Error for Error {}

impl From<vm_fdt::Error> for Error {
    fn from(error: vm_fdt::Error) -> Error {
        Error::Fdt(error)
    }
}
