//! The signals of sources that few machines have: third levels of others, fourth levels, packages of other groups.

use vm_pmu_arch::feed::{DataSource, Signal};

/// The purpose for which a line was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Load,
    Fetch,
    /// A page-table entry for code.
    CodeEntry,
    /// The last page-table entry of a walk for data.
    DataLeaf,
}

/// Each source, and its signals in the order of the purposes.
const PLACES: [(DataSource, [Signal; 4]); 10] = [
    (
        DataSource::OtherL3 { modified: false },
        [
            Signal::LoadsFromOtherL3Clean,
            Signal::FetchesFromOtherL3Clean,
            Signal::InstructionWalksFromOtherL3Clean,
            Signal::DataWalkLeavesFromOtherL3Clean,
        ],
    ),
    (
        DataSource::OtherL3 { modified: true },
        [
            Signal::LoadsFromOtherL3Modified,
            Signal::FetchesFromOtherL3Modified,
            Signal::InstructionWalksFromOtherL3Modified,
            Signal::DataWalkLeavesFromOtherL3Modified,
        ],
    ),
    (
        DataSource::LentL3 { modified: false },
        [
            Signal::LoadsFromLentL3Clean,
            Signal::FetchesFromLentL3Clean,
            Signal::InstructionWalksFromLentL3Clean,
            Signal::DataWalkLeavesFromLentL3Clean,
        ],
    ),
    (
        DataSource::LentL3 { modified: true },
        [
            Signal::LoadsFromLentL3Modified,
            Signal::FetchesFromLentL3Modified,
            Signal::InstructionWalksFromLentL3Modified,
            Signal::DataWalkLeavesFromLentL3Modified,
        ],
    ),
    (
        DataSource::DistantPackage { modified: false },
        [
            Signal::LoadsFromDistantPackageClean,
            Signal::FetchesFromDistantPackageClean,
            Signal::InstructionWalksFromDistantPackageClean,
            Signal::DataWalkLeavesFromDistantPackageClean,
        ],
    ),
    (
        DataSource::DistantPackage { modified: true },
        [
            Signal::LoadsFromDistantPackageModified,
            Signal::FetchesFromDistantPackageModified,
            Signal::InstructionWalksFromDistantPackageModified,
            Signal::DataWalkLeavesFromDistantPackageModified,
        ],
    ),
    (
        DataSource::LocalL4,
        [Signal::LoadsFromLocalL4, Signal::FetchesFromLocalL4, Signal::InstructionWalksFromLocalL4, Signal::DataWalkLeavesFromLocalL4],
    ),
    (
        DataSource::RemoteL4,
        [Signal::LoadsFromRemoteL4, Signal::FetchesFromRemoteL4, Signal::InstructionWalksFromRemoteL4, Signal::DataWalkLeavesFromRemoteL4],
    ),
    (
        DataSource::DistantL4,
        [
            Signal::LoadsFromDistantL4,
            Signal::FetchesFromDistantL4,
            Signal::InstructionWalksFromDistantL4,
            Signal::DataWalkLeavesFromDistantL4,
        ],
    ),
    (
        DataSource::DistantMemory,
        [
            Signal::LoadsFromDistantMemory,
            Signal::FetchesFromDistantMemory,
            Signal::InstructionWalksFromDistantMemory,
            Signal::DataWalkLeavesFromDistantMemory,
        ],
    ),
];

/// Returns the signal of a line that was read from one of these sources.
pub(crate) fn signal(purpose: Purpose, source: DataSource) -> Option<Signal> {
    let (_, signals) = PLACES.iter().find(|(place, _)| *place == source)?;
    signals.get(purpose as usize).copied()
}

/// Returns the signal of all fourth levels and of memory of other groups, if `source` is one of these.
pub(super) fn farther_memory(purpose: Purpose, source: DataSource) -> Option<Signal> {
    let one = matches!(source, DataSource::LocalL4 | DataSource::RemoteL4 | DataSource::DistantL4 | DataSource::DistantMemory);
    match purpose {
        Purpose::Load if one => Some(Signal::LoadsFromL4AndDistantMemory),
        Purpose::Fetch if one => Some(Signal::FetchesFromL4AndDistantMemory),
        _ => None,
    }
}

/// Whether `signal` is one of these.
pub(crate) fn contains(signal: Signal) -> bool {
    let together = matches!(signal, Signal::LoadsFromL4AndDistantMemory | Signal::FetchesFromL4AndDistantMemory);
    together || PLACES.iter().any(|(_, signals)| signals.contains(&signal))
}
