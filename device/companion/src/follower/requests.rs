//! The requests that a thread made since they were last reported.

use vm_pmu_arch::feed::{HeldAs, Request, RequestKind, Snoop, Supplier};

use crate::caches::Ask;
use crate::caches::line::LineState;

/// Number of requests that a follower keeps between two deliveries.
///
/// No instruction of two accesses makes more, whatever it misses. Its code is in two lines and pages, and so is each access: six walks of
/// at most five entries, six lines, four prefetches, and each of these 40 evicts at most one line. A locked access that crosses lines adds
/// the bus lock, and all write-combining buffers, at most 16, are written out: 97 in all.
pub(crate) const MOST: usize = 128;

/// A list of a fixed size.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    list: [Request; MOST],
    count: usize,
    pub(super) wanted: bool,
    lost: u64,
}

impl Requests {
    pub(super) const fn new() -> Requests {
        Requests { list: [Request::of(RequestKind::DataRead); MOST], count: 0, wanted: false, lost: 0 }
    }

    pub(super) fn push(&mut self, request: Request) {
        if !self.wanted {
            return;
        }
        match self.list.get_mut(self.count) {
            Some(place) => {
                *place = request;
                self.count += 1;
            }
            None => self.lost = self.lost.saturating_add(1),
        }
    }

    /// Marks the lines of code among the requests from number `first` on as fetched ahead.
    pub(super) fn fetched_ahead(&mut self, first: usize) {
        for request in self.list.iter_mut().take(self.count).skip(first).filter(|request| request.kind == RequestKind::Code) {
            request.kind = RequestKind::CodeReadPrefetch;
        }
    }

    #[inline]
    pub(super) fn all(&self) -> &[Request] {
        self.list.get(..self.count).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

/// Returns the kind of a request for a line, by its reason.
pub(crate) fn kind(ask: Ask) -> RequestKind {
    match ask {
        // A walk reads its tables as a load does.
        Ask::Load | Ask::Walk => RequestKind::DataRead,
        Ask::Store => RequestKind::Ownership,
        Ask::Fetch => RequestKind::Code,
        Ask::FetchAhead => RequestKind::CodeReadPrefetch,
        Ask::PrefetchLoad | Ask::PrefetchOnce => RequestKind::SoftwarePrefetch,
        Ask::PrefetchStore | Ask::HardwareStore => RequestKind::OwnershipPrefetch,
        Ask::Hardware => RequestKind::DataReadPrefetch,
    }
}

/// Returns the supplier if the own cluster had the line in this state.
pub(crate) fn own(state: LineState) -> Supplier {
    Supplier::OwnCluster(match state {
        LineState::Modified | LineState::Owned => HeldAs::Modified,
        LineState::Exclusive => HeldAs::Exclusive,
        LineState::Forward => HeldAs::Forward,
        LineState::Shared | LineState::Invalid => HeldAs::Shared,
    })
}

/// Returns the snoop of other caches if another cluster, or memory, supplied: section 1.2.4 of the Knights Landing manual.
pub(crate) fn snoop(supplier: Supplier, modified: bool) -> Snoop {
    match supplier {
        Supplier::OtherCluster { .. } if modified => Snoop::Modified,
        Supplier::OtherCluster { .. } => Snoop::Forwarded,
        Supplier::NearMemory { far: true } | Supplier::Memory { far: true } => Snoop::NotNeeded,
        _ => Snoop::None,
    }
}
