//! Signals of memory, of northbridges and of devices.

use vm_pmu_arch::feed::Signal;

use crate::fabric::hypertransport::OF_LINKS;

/// Signals that a package's memory and its probes supply, for any requester.
pub(crate) const OF_MEMORY: &[Signal] = &[
    Signal::ProbeMisses,
    Signal::ProbeHitsClean,
    Signal::ProbeHitsDirty,
    Signal::ProbeHitsDirtyCancelled,
    Signal::BusReadsHitClean,
    Signal::BusReadsHitModified,
    Signal::BusOwnershipReadsHitModified,
    Signal::BusInvalidationsHitModified,
    Signal::DramPageHits,
    Signal::DramPageMisses,
    Signal::DramPageConflicts,
    Signal::DramPageTableOverflows,
    Signal::DramTurnaroundsChipSelect,
    Signal::DramTurnaroundsReadToWrite,
    Signal::DramTurnaroundsWriteToRead,
    Signal::MemoryReads,
    Signal::MemoryWrites,
    Signal::NearMemoryReads,
    Signal::NearMemoryWrites,
    Signal::MemorySideCacheHitsClean,
    Signal::MemorySideCacheHitsModified,
    Signal::MemorySideCacheMissesClean,
    Signal::MemorySideCacheMissesModified,
    Signal::MemorySideCacheMissesInvalid,
];

/// Signals of a northbridge that cores cause.
pub(crate) const OF_NORTHBRIDGE: &[Signal] = &[
    Signal::MemoryRequestsLocal,
    Signal::MemoryRequestsRemote,
    Signal::IoRequestsLocal,
    Signal::IoRequestsRemote,
    Signal::IoRequestsFromRemote,
    Signal::SizedWritesNonPostedBytes,
    Signal::SizedWritesNonPostedDoublewords,
    Signal::SizedWritesPostedBytes,
    Signal::SizedWritesPostedDoublewords,
    Signal::SizedReadsBytes,
    Signal::SizedReadsDoublewords,
    Signal::SizedWritesOf32,
    Signal::SizedWritesOf64,
    Signal::ApertureAccesses,
    Signal::ApertureMisses,
];

/// Signals of a northbridge that only devices cause.
pub(crate) const OF_DEVICES: &[Signal] = &[
    Signal::UpstreamDisplayReads,
    Signal::DeviceApertureAccesses,
    Signal::DeviceMemoryRequestsLocal,
    Signal::DeviceMemoryRequestsRemote,
    Signal::DeviceIoRequestsLocal,
    Signal::DeviceIoRequestsRemote,
    Signal::DeviceIoRequestsFromRemote,
    Signal::SizedReadModifyWrites,
    Signal::SizedReadsOf32,
    Signal::SizedReadsOf64,
];

/// Signals of a package's northbridge for requesters in other packages, apart from its memory.
pub(crate) const FOR_OTHERS: &[Signal] = &[
    Signal::IoRequestsFromRemote,
    Signal::DeviceIoRequestsFromRemote,
    Signal::SizedWritesOf32,
    Signal::SizedWritesOf64,
    Signal::SizedReadsOf32,
    Signal::SizedReadsOf64,
];

/// Returns the signals that a package can supply for requesters in other packages.
pub(crate) fn abroad() -> impl Iterator<Item = Signal> {
    OF_MEMORY.iter().chain(FOR_OTHERS).chain(OF_LINKS.as_flattened()).copied()
}

/// Signals that an access by a device supplies on every part, apart from memory.
pub(crate) const ON_THE_BUS: [Signal; 9] = [
    Signal::BusDataCycles,
    Signal::BusTransactions,
    Signal::UpstreamReads,
    Signal::UpstreamWrites,
    Signal::BusCurrentReads,
    Signal::BusLineReadsData,
    Signal::BusOwnershipReads,
    Signal::BusInvalidations,
    Signal::BusLineWrites,
];

/// Whether an access by a device supplies `signal`.
pub(crate) fn of_devices(signal: Signal) -> bool {
    [&ON_THE_BUS, OF_MEMORY, OF_NORTHBRIDGE, OF_DEVICES, OF_LINKS.as_flattened()].iter().any(|signals| signals.contains(&signal))
}
