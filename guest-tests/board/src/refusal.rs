//! Why a machine with everything attached to it cannot continue from a saved state.

use std::fmt;

use vm_pmu::snapshot::SnapshotError;

use vm_pmu_engines::{ia64, power};

/// Why a machine with everything attached to it cannot continue from a saved state. Nothing is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The engine of POWER refuses its part.
    Power(power::RestoreError),
    /// The engine of IA-64 refuses its part.
    Ia64(ia64::RestoreError),
    /// The PMUs, a chip or the companion refuse theirs.
    Snapshot(SnapshotError),
    /// Something was saved in another number than the machine has.
    Count {
        /// What it is, in the plural.
        what: &'static str,
        /// How many were saved.
        saved: usize,
        /// How many the machine has.
        target: usize,
    },
    /// There is not one interrupt line a thread, or one has other counters.
    Lines,
    /// What was counted on one thread was saved as another's.
    Ledger {
        /// The number of the thread that was saved.
        saved: usize,
        /// The number of the thread that was to be restored from it.
        target: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Power(error) => error.fmt(f),
            Self::Ia64(error) => error.fmt(f),
            Self::Snapshot(error) => error.fmt(f),
            Self::Count { what, saved, target } => {
                write!(f, "{saved} {what} were saved and the machine has {target}: make one with as many")
            }
            Self::Lines => f.write_str("the saved interrupt lines must be one a thread, each with 32 counters"),
            Self::Ledger { saved, target } => {
                write!(f, "the counts of thread {saved} were saved where those of thread {target} belong: keep the threads in their order")
            }
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Power(error) => Some(error),
            Self::Ia64(error) => Some(error),
            Self::Snapshot(error) => Some(error),
            _ => None,
        }
    }
}

impl From<power::RestoreError> for Refusal {
    fn from(error: power::RestoreError) -> Refusal {
        Refusal::Power(error)
    }
}

impl From<ia64::RestoreError> for Refusal {
    fn from(error: ia64::RestoreError) -> Refusal {
        Refusal::Ia64(error)
    }
}

impl From<SnapshotError> for Refusal {
    fn from(error: SnapshotError) -> Refusal {
        Refusal::Snapshot(error)
    }
}

/// Whether as many were saved as the machine has.
pub(super) fn count(what: &'static str, saved: usize, target: usize) -> Result<(), Refusal> {
    if saved == target { Ok(()) } else { Err(Refusal::Count { what, saved, target }) }
}
