use crate::feed::Feed;
use crate::model::Model;

/// A part whose threads are interrupted by counters that belong to no thread.
pub trait UncoreInterrupts: Model {
    /// A counter outside all threads overflowed, and this thread is one of those to be interrupted.
    fn raise_uncore_interrupt(&mut self, feed: &impl Feed);
}
