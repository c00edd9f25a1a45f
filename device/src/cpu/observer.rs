//! What gets the requests of a CPU beside its PMU.

use alloc::boxed::Box;
use core::fmt;

use vm_pmu_arch::feed::{Records, Request};

use crate::companion::Follower;

type Tell<'a> = dyn FnMut(&Request) + Send + 'a;

/// The function that gets requests, if there is one, and who wants them.
#[derive(Default)]
pub(super) struct Observer<'a> {
    tell: Option<Box<Tell<'a>>>,
    is_wanted: bool,
    /// The PMU demands requests too.
    is_shared: bool,
}

impl fmt::Debug for Observer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Observer").field("is_wanted", &self.is_wanted).field("is_shared", &self.is_shared).finish_non_exhaustive()
    }
}

impl<'a> Observer<'a> {
    pub(super) fn set(&mut self, tell: impl FnMut(&Request) + Send + 'a) {
        self.tell = Some(Box::new(tell));
    }

    /// Takes over which records are watched, and which the PMU demands.
    pub(super) fn sync(&mut self, watched: Records, demanded: Records) {
        self.is_wanted = watched.requests && self.tell.is_some();
        self.is_shared = demanded.requests;
    }

    /// Takes the requests since the last delivery. Those that the PMU demands too are left to it.
    #[inline]
    pub(super) fn take(&mut self, follower: &mut Follower<'_>) {
        if !self.is_wanted || follower.requests().is_empty() {
            return;
        }
        if let Some(tell) = &mut self.tell {
            follower.requests().iter().for_each(tell);
        }
        if !self.is_shared {
            follower.drop_requests();
        }
    }
}
