//! Requests of a thread to the machines of the second and third level.

use super::machines::{Asking, MOST, PASS};
use super::{Power9Pipeline, SECOND_LEVEL, SharedUnits, StageTimes};
use crate::pipeline::{Findings, Source};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// Whether lines have left the caches, were requested by the prefetcher, snooped by others, or put into the third level.
#[inline]
pub(super) fn moves_lines(found: &Findings) -> bool {
    found.castouts != (0, 0) || found.snooped != (0, 0) || found.injected != 0 || found.prefetched != 0
}

impl Power9Pipeline {
    /// Handles the lines that an instruction evicted from the caches, those that it made the prefetcher request, and those that others have
    /// snooped or put into the third level since.
    #[cold]
    pub(super) fn follow_lines(&mut self, found: &Findings, times: &StageTimes, tally: &mut Tally) {
        let SharedUnits { machines, watch, .. } = &mut *self.shared;
        let (second, third) = found.castouts;
        machines.snoop(found.snooped.0.min(MOST), found.snooped.1.min(MOST), times.dispatched, watch);
        machines.inject(found.injected.min(MOST), times.dispatched, watch);
        machines.cast_out(second.min(MOST), third.min(MOST), times.finished, watch, tally);
        for prefetch in found.prefetches() {
            machines.prefetch(prefetch.line, times.issued + PASS, u64::from(prefetch.latency), prefetch.source, watch);
        }
    }

    /// PP37, PP38, PP74: handles a fetch of code that misses the first level, reaches the second in cycle `at` and takes `cycles` from
    /// there. Returns the extra cycles that it takes.
    pub(super) fn read_code(&mut self, line: u64, at: u64, cycles: u64, source: Source, tally: &mut Tally) -> u64 {
        let SharedUnits { machines, watch, misses, written_lines, fetched_lines, .. } = &mut *self.shared;
        let (stored, other) = (written_lines.pending(line, at), misses.pending(line, at).max(fetched_lines.pending(line, at)));
        let busy = stored.max(other);
        let coming = machines.coming.pending(line, at).filter(|_| busy.is_none());
        // Of several, the store counts, as for loads.
        tally.add(Signal::FetchesBehindStore, u64::from(stored.is_some()));
        tally.add(Signal::FetchesBehindOther, u64::from(stored.is_none() && other.is_some()));
        tally.add(Signal::ReadsBehindPrefetch, u64::from(coming.is_some()));
        let until = match (busy, coming) {
            (Some(until), _) => until + SECOND_LEVEL,
            (None, Some(until)) => until,
            (None, None) => at,
        };
        let more = until.saturating_sub(at + cycles);
        machines.read(Asking::Fetch, at, cycles + more, source, watch, tally);
        if source != Source::Second && busy.is_none() {
            fetched_lines.request_tagged(line, at, cycles + more, at);
        }
        more
    }
}
