//! Why a run does not move to another machine.

use std::fmt;

use vm_pmu::snapshot::SnapshotError;
use vm_pmu_board::Refusal;

/// The version of the form of a saved run. No other is read.
pub const RUN_VERSION: u32 = 5;

/// Why a run was not saved, or does not go on from what was saved. The machine is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrateError {
    /// The bytes do not begin as a saved run does.
    NotARun,
    /// They are of a version that is not read.
    Version {
        /// The version that they say.
        saved: u32,
    },
    /// There are fewer or more bytes than they say.
    Length {
        /// How many there are.
        given: usize,
    },
    /// They were changed.
    Checksum {
        /// The checksum that they say.
        stated: u32,
        /// Their checksum.
        computed: u32,
    },
    /// Their content is not what a run of such a machine remembers.
    Content,
    /// They are of another part, or another revision of it.
    Part {
        /// The name and the revision's letter that were saved.
        saved: (String, String),
        /// Those of the machine.
        target: (String, String),
    },
    /// Something that was saved is missing in the machine, or the other way round: a companion, boxes, chips, a clock of a core.
    Shape {
        /// What.
        what: &'static str,
    },
    /// The engine refuses what it is to remember.
    Engine {
        /// Why, in one line.
        reason: String,
    },
    /// The PMUs, a chip or the companion do.
    Snapshot(SnapshotError),
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARun => f.write_str("these bytes are not a saved run: pass the bytes that were saved"),
            Self::Version { saved } => write!(f, "the run was saved in version {saved} and version {RUN_VERSION} is read"),
            Self::Length { given } => write!(f, "{given} bytes were given, and they state another length: pass all bytes that were saved"),
            Self::Checksum { stated, computed } => {
                write!(f, "the checksum says {stated:08x} and the bytes have {computed:08x}: they were changed since they were saved")
            }
            Self::Content => f.write_str("the saved run does not fit this machine: build the machine as it was"),
            Self::Part { saved: (name, letter), target: (own, revision) } => {
                // What was saved can be any text, with ends of lines in it.
                let (name, letter) = (name.escape_debug(), letter.escape_debug());
                write!(f, "the run is of {name} {letter} and the machine has {own} {revision}: build one of the same part")
            }
            Self::Shape { what } => write!(f, "the saved run and the machine differ in {what}: build the machine as it was"),
            Self::Engine { reason } => f.write_str(reason),
            Self::Snapshot(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MigrateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Snapshot(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Refusal> for MigrateError {
    fn from(refusal: Refusal) -> MigrateError {
        match refusal {
            Refusal::Snapshot(error) => MigrateError::Snapshot(error),
            refusal => MigrateError::Engine { reason: refusal.to_string() },
        }
    }
}

impl From<SnapshotError> for MigrateError {
    fn from(error: SnapshotError) -> MigrateError {
        MigrateError::Snapshot(error)
    }
}
