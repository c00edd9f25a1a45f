use crate::feed::Feed;
use crate::model::Model;

/// A part where a counter that one thread uses for a shared unit is taken from the other threads of the package.
///
/// The embedder collects the [claims](Arbitration::claims) of all threads, decides which thread holds which counter, and reports that to
/// each thread by [`set_grants`](Arbitration::set_grants).
pub trait Arbitration: Model {
    /// The counters, one bit each, that select an event of a unit shared beyond the thread.
    fn claims(&self) -> u32;

    /// The shared counters that the thread holds, one bit each.
    fn granted(&self) -> u32;

    /// Sets which shared counters the thread holds (`granted`), and which of its counters the claim of another thread makes useless
    /// (`blocked`), one bit each.
    fn set_grants(&mut self, granted: u32, blocked: u32, feed: &impl Feed);
}
