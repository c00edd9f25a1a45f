//! Why a snapshot was not made or not loaded.

use alloc::string::String;

use super::{FORMAT_VERSION, Kind};

/// Why a snapshot was not made or not loaded. The target is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin as a snapshot does.
    NotASnapshot,
    /// They are of a version that cannot be read.
    Version {
        /// The version that they state.
        saved: u32,
    },
    /// They end within the header.
    Cut {
        /// How many bytes there are.
        given: u64,
    },
    /// There are fewer or more bytes than the snapshot says.
    Length {
        /// How many bytes it states, including the header.
        stated: u64,
        /// How many there are.
        given: u64,
    },
    /// There are more bytes than any snapshot of the target has.
    Oversized {
        /// How many bytes there are.
        given: u64,
        /// How many there are at most.
        most: u64,
    },
    /// The bytes were changed.
    Checksum {
        /// The checksum that they state.
        stated: u32,
        /// Their checksum.
        computed: u32,
    },
    /// They are of something else.
    Kind {
        /// What they are of, if this version knows it.
        saved: Option<Kind>,
        /// What they were to be loaded into.
        target: Kind,
    },
    /// They are of another part, or another revision of it.
    Part {
        /// The name and the revision's letter that were saved.
        saved: (String, String),
        /// Those of the target.
        target: (String, String),
    },
    /// They are of a machine with another number of packages or threads.
    Shape {
        /// The saved numbers of packages and of threads per package.
        saved: (u64, u64),
        /// Those of the target.
        target: (u64, u64),
    },
    /// They are of another chip.
    ChipId {
        /// The number of the chip that was saved.
        saved: u32,
        /// That of the target.
        target: u32,
    },
    /// The content is not what such a target remembers.
    Content,
    /// There is no memory for the bytes.
    OutOfMemory,
    /// The companion's error in reading its own form.
    #[cfg(feature = "companion")]
    Companion(crate::companion::RestoreError),
}

impl core::fmt::Display for SnapshotError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            SnapshotError::NotASnapshot => formatter.write_str("these bytes are no snapshot: pass what saving returned"),
            SnapshotError::Version { saved } => {
                write!(formatter, "the snapshot has version {saved} and this library reads versions 1 to {FORMAT_VERSION}")
            }
            SnapshotError::Cut { given } => {
                write!(formatter, "{given} bytes were given, which end before they say what they are: pass all that `save` returned")
            }
            SnapshotError::Length { stated, given } => {
                write!(formatter, "the snapshot is {stated} bytes long and {given} were given: pass all that `save` returned and no more")
            }
            SnapshotError::Oversized { given, most } => {
                write!(formatter, "{given} bytes were given and a snapshot of this target has at most {most}")
            }
            SnapshotError::Checksum { stated, computed } => {
                write!(formatter, "the checksum says {stated:08x} and the bytes have {computed:08x}: they were changed since `save`")
            }
            SnapshotError::Kind { saved: Some(saved), target } => {
                write!(formatter, "the snapshot is of {saved} and was to be loaded into {target}")
            }
            SnapshotError::Kind { saved: None, target } => {
                write!(formatter, "the snapshot is of something unknown here and was to be loaded into {target}")
            }
            SnapshotError::Part { saved, target } => {
                let ((name, letter), (own, revision)) = (saved, target);
                let [between, among] = [letter, revision].map(|letter| if letter.is_empty() { "" } else { " revision " });
                // What was saved can be any text, with ends of lines in it.
                let (name, letter) = (name.escape_debug(), letter.escape_debug());
                write!(
                    formatter,
                    "the snapshot is of {name}{between}{letter} and the target is {own}{among}{revision}: build one of the same part"
                )
            }
            SnapshotError::Shape { saved: (packages, threads), target: (own, each) } => {
                write!(
                    formatter,
                    "{packages} packages of {threads} threads were saved and the machine has {own} of {each}: build one with as many"
                )
            }
            SnapshotError::ChipId { saved, target } => {
                write!(formatter, "the snapshot is of chip {saved} and was to be loaded into chip {target}")
            }
            SnapshotError::Content => {
                formatter.write_str("the content is none that `save` writes for this target: pass what saving returned")
            }
            SnapshotError::OutOfMemory => formatter.write_str("there is no memory for the snapshot"),
            #[cfg(feature = "companion")]
            SnapshotError::Companion(error) => error.fmt(formatter),
        }
    }
}

impl core::error::Error for SnapshotError {}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    #[test]
    fn a_part_whose_name_has_several_lines_is_refused_in_one() {
        let names = |name: &str| (String::from(name), String::new());
        let refused = SnapshotError::Part { saved: names("a\nb"), target: names("k8") };
        assert_eq!(refused.to_string(), "the snapshot is of a\\nb and the target is k8: build one of the same part");
    }
}
