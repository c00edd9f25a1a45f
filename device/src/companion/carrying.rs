//! What the bus carries for an instruction reaches the pipeline, which knows when.

use super::bus::Carried;
use super::follower::Follower;

impl Follower<'_> {
    /// The instruction has been fetched, or has made an access, or has written something out.
    #[inline]
    pub(super) fn carry(&mut self, fetched: bool) {
        if !self.tally.carried.is_none() {
            self.carry_some(fetched);
        }
    }

    #[cold]
    fn carry_some(&mut self, fetched: bool) {
        let carried = core::mem::replace(&mut self.tally.carried, Carried::NONE);
        if let Some(pipeline) = self.pipeline() {
            pipeline.carried(carried, fetched);
        }
    }
}
