use crate::feed::{Context, Feed};
use crate::model::Model;

/// A part whose embedder may report some changes of context late, or more cheaply than by [`Model::set_context`].
///
/// A guest changes its privilege level at every system call and masks interrupts in between. A part with this capability says which of
/// those changes it needs to know, and takes the others with little work.
pub trait LazyContexts: Model {
    /// Takes over the thread's new context if only this thread's own counters depend on the change: some stop and some start, but the
    /// demand stays as it is, and no alert is raised. Where another thread follows what the thread [shares](crate::model::SharedState),
    /// `observed` is true, and that must not change either.
    ///
    /// Returns whether it did. If not, counters have at most been brought up to date, and [`Model::set_context`] must be called.
    fn change_quietly(&mut self, context: &Context, observed: bool, feed: &impl Feed) -> bool;

    /// The bits of [`Context::machine_state`] that must be reported by [`Model::set_context`] when they change, until the demand changes.
    /// All bits are set where the privilege level must be reported and no bit represents it. A change of other bits, or of the level
    /// where no bit is set, may wait until the next call except [`Model::service`] and [`Model::record`]. Changes of the other fields are
    /// always reported.
    fn sensitivity(&self) -> u64 {
        u64::MAX
    }

    /// Whether the order of contexts makes no difference until the next deadline, because counts of each context add up. An embedder may
    /// then report everything in one context at once, and after it everything in another.
    ///
    /// This holds for contexts that were reported since the last register access and that differ only in the privilege level and in
    /// [`Context::machine_state`]. Ask after [`Model::set_context`] or [`change_quietly`](LazyContexts::change_quietly); any other call
    /// may make it untrue.
    fn contexts_add_up(&self) -> bool {
        false
    }
}
