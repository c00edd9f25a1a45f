//! Save, restore, migrate: machines, chips and companions as self-describing bytes.
//!
//! [`Machine::save`](crate::topology::Machine::save) takes everything that the machine's PMUs remember, with the boxes they share and what
//! their packages post into memory; [`Machine::load`](crate::topology::Machine::load) makes a machine of the same part and shape continue
//! from there. With the feature `memory` a [`Chip`](crate::memory::Chip) and the
//! [`Translations`](crate::memory::Translations) of its NPU do the same, with the feature `companion` a
//! [`Companion`](crate::companion::Companion).
//!
//! ```
//! use vm_pmu::topology::Builder;
//! use vm_pmu::Signal;
//!
//! let builder = Builder::new("k8").unwrap().threads(2);
//! let old = builder.build(|_thread, _counter| {}).unwrap();
//! old.thread(1).unwrap().x86().wrmsr(0xC001_0000, 0x0042_00C0).unwrap();
//! old.thread(1).unwrap().totals().add(Signal::InstructionsRetired, 5);
//! let bytes = old.save().unwrap();
//!
//! let new = builder.build(|_thread, _counter| {}).unwrap();
//! new.load(&bytes).unwrap();
//! new.thread(1).unwrap().totals().add(Signal::InstructionsRetired, 2);
//! assert_eq!(new.thread(1).unwrap().x86().rdpmc(0), Ok(7));
//! ```
//!
//! # All or nothing
//!
//! A snapshot that is cut short, changed, too long, or of something else is refused with a [`SnapshotError`], and the target is unchanged.
//! A checksum detects accidental changes; it is not a signature. Forged bytes with a right checksum either load or are refused, and do no
//! other harm: the work is bounded by the length of the bytes, and a length that no target of that shape could have is refused before they
//! are read. The machine must not run while it is saved or loaded.
//!
//! # The bytes
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `VMPMUSNP` |
//! | 4 | the version of the form, [`FORMAT_VERSION`] when written |
//! | 1 | what it is of: [`Kind`] |
//! | 1, and as many | the length of the part's name, and the name |
//! | 1, and as many | the length of the revision's letter, and the letter |
//! | 8, and as many | the length of the content, and the content |
//! | 4 | CRC-32 (IEEE 802.3) of all bytes before |
//!
//! Numbers are little-endian. The content of a machine, a chip or translations is CBOR (RFC 8949) with every field under its name: the public `State`
//! structs, as serde writes them. That of a companion is what [`Companion::save`](crate::companion::Companion::save) returns.
//!
//! # What a later version reads
//!
//! - Every change of the content, or of what a field means, raises [`FORMAT_VERSION`], except a new field that is left out while it has its
//!   default: a library that does not know it ignores it. A version reads all earlier ones.
//! - A new field has a default: its value in a machine that never used the feature of the field.
//! - A removed field is skipped. A renamed field is read under its old name too.
//! - A snapshot of a later version is refused, with both numbers ([`SnapshotError::Version`]).
//! - The tests keep snapshots of every part in each version. They load them, and fail when what is written changes within a version.
//! - The content of a companion has [its own version](crate::companion::STATE_VERSION), and is read in that version only. With another
//!   version start with cold caches instead: registers do not depend on it.

mod content;
mod envelope;
mod error;
mod extensions;
mod machine;

#[cfg(feature = "memory")]
mod chip;
#[cfg(feature = "companion")]
mod companion;
#[cfg(feature = "memory")]
mod translations;

#[cfg(feature = "companion")]
pub use companion::CompanionSnapshot;
pub use error::SnapshotError;

/// The version of the form that is written. Those from 1 up to it are read.
pub const FORMAT_VERSION: u32 = 6;

/// What a snapshot is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A [`Machine`](crate::topology::Machine); 1 in the bytes.
    Machine,
    /// A chip's nest; 2 in the bytes.
    Chip,
    /// A companion; 3 in the bytes.
    Companion,
    /// The translations of a POWER9's NPU; 4 in the bytes.
    Translations,
}

impl Kind {
    const fn number(self) -> u8 {
        match self {
            Kind::Machine => 1,
            Kind::Chip => 2,
            Kind::Companion => 3,
            Kind::Translations => 4,
        }
    }

    const fn of_number(number: u8) -> Option<Kind> {
        match number {
            1 => Some(Kind::Machine),
            2 => Some(Kind::Chip),
            3 => Some(Kind::Companion),
            4 => Some(Kind::Translations),
            _ => None,
        }
    }
}

impl core::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Kind::Machine => "a machine",
            Kind::Chip => "a chip",
            Kind::Companion => "a companion",
            Kind::Translations => "translations",
        })
    }
}
