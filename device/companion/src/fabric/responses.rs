//! The counting of requests, probes and their answers.

use vm_pmu_arch::feed::{DataSource, Signal};

use crate::bus;
use crate::caches::line::LineState;
use crate::caches::{Ask, Request};
use crate::fabric::scope::Reach;
use crate::fabric::sources::{self, Purpose};
use crate::tally::Tally;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProbeResult {
    /// The package of a cluster that had it dirty.
    pub(super) dirty: Option<usize>,
    /// The distance from the requester to the farthest cluster that had it.
    pub(super) farthest: Reach,
    /// Whether any cluster but the requester had it dirty.
    pub(super) dirty_elsewhere: bool,
}

impl ProbeResult {
    /// Records the answer of a cluster of `package`, as far from the requester as `reach`.
    pub(super) fn take(&mut self, package: usize, reach: Reach, had: bool, dirty: bool) {
        if had {
            self.farthest = self.farthest.max(reach);
        }
        if dirty {
            self.dirty = Some(package);
        }
    }
}

pub(super) fn count_request(ask: Ask, request: Request, outer: u64, tally: &mut Tally) {
    tally.add(Signal::BusTransactions, 1);
    let (block, kind) = match request {
        Request::Read => (Signal::ReadBlocks, Signal::BusLineReadsData),
        Request::ReadCode => (Signal::ReadBlocksShared, Signal::BusLineReadsInstruction),
        Request::ReadModified => (Signal::ReadBlocksModified, Signal::BusOwnershipReads),
        Request::Upgrade => (Signal::ChangesToDirty, Signal::BusInvalidations),
    };
    tally.add(block, 1);
    tally.add(kind, 1);
    bus::ask(kind, outer, tally);
    bus::move_data(kind, tally);
    tally.add(Signal::LoadsBeyondL2, u64::from(ask == Ask::Load));
    tally.add(Signal::LoadsBeyondL3, u64::from(ask == Ask::Load));
    tally.add(Signal::FetchesBeyondL3, u64::from(ask == Ask::Fetch));
}

/// Returns the signal of a probe that found the line in this state, and the signal of the bus transaction that it answers.
pub(super) fn of_probe(found: LineState, request: Request) -> (Signal, Option<Signal>) {
    match (found, request) {
        (LineState::Invalid, _) => (Signal::ProbeMisses, None),
        (LineState::Modified | LineState::Owned, Request::Upgrade) => (Signal::ProbeHitsDirty, Some(Signal::BusInvalidationsHitModified)),
        (LineState::Modified | LineState::Owned, Request::ReadModified) => {
            (Signal::ProbeHitsDirtyCancelled, Some(Signal::BusOwnershipReadsHitModified))
        }
        (LineState::Modified | LineState::Owned, _) => (Signal::ProbeHitsDirtyCancelled, Some(Signal::BusReadsHitModified)),
        (_, Request::Read | Request::ReadCode) => (Signal::ProbeHitsClean, Some(Signal::BusReadsHitClean)),
        _ => (Signal::ProbeHitsClean, None),
    }
}

pub(super) fn count_response(ask: Ask, state: LineState, source: DataSource, clean: bool, tally: &mut Tally) {
    tally.add(
        match state {
            LineState::Modified => Signal::SystemReadsModified,
            LineState::Exclusive => Signal::SystemReadsExclusive,
            _ => Signal::SystemReadsShared,
        },
        1,
    );
    let (purpose, loads) = match ask {
        Ask::Load => (Purpose::Load, true),
        Ask::Fetch => (Purpose::Fetch, false),
        _ => return,
    };
    let (load, fetch) = match source {
        DataSource::OtherCore { modified: true } => (Signal::LoadsFromOtherCoreModified, Signal::FetchesFromOtherCoreModified),
        DataSource::OtherCore { modified: false } => (Signal::LoadsFromOtherCoreClean, Signal::FetchesFromOtherCoreClean),
        DataSource::OtherPackage { modified: true } => (Signal::LoadsFromOtherPackageModified, Signal::FetchesFromOtherPackageModified),
        DataSource::OtherPackage { modified: false } => (Signal::LoadsFromOtherPackageClean, Signal::FetchesFromOtherPackageClean),
        DataSource::RemoteMemory => (Signal::LoadsFromRemoteMemory, Signal::FetchesFromRemoteMemory),
        DataSource::LocalMemory if clean => (Signal::LoadsFromOtherCoreClean, Signal::FetchesFromLocalMemory),
        DataSource::LocalMemory => (Signal::LoadsFromLocalMemory, Signal::FetchesFromLocalMemory),
        _ => {
            let rare = [sources::signal(purpose, source), sources::farther_memory(purpose, source)];
            rare.into_iter().flatten().for_each(|signal| tally.add(signal, 1));
            return count_fetch(loads, source, tally);
        }
    };
    tally.add(if loads { load } else { fetch }, 1);
    count_fetch(loads, source, tally);
}

/// Counts a line of code that another cache supplied, however near and in whatever state.
fn count_fetch(loads: bool, source: DataSource, tally: &mut Tally) {
    if !loads {
        tally.add(Signal::FetchesFromOtherCore, u64::from(source.is_of_another_core()));
        tally.add(Signal::FetchesFromOtherPackage, u64::from(source.is_of_another_packages_cache()));
    }
}
