use crate::feed::{Feed, SignalSet};
use crate::model::{Model, Occurrence};

/// A part whose counters may count what other threads of the package do.
pub trait PackageScope: Model {
    /// The signals that counters of this thread follow beyond it: every thread within their scope must report them.
    fn package_demand(&self) -> SignalSet;

    /// Whether counters of this thread count what is [injected](PackageScope::inject_from_sibling) into another thread of the package, or
    /// the [effects](crate::model::Tagging::take_effects) of its instructions.
    fn observes_siblings(&self) -> bool {
        false
    }

    /// An event was injected into another thread of the package, which had these [tags](PackageScope::injection_tags). Counters that
    /// observe siblings count it. Returns whether a counter did.
    fn inject_from_sibling(&mut self, _occurrence: Occurrence, _amount: u64, _tags: u64, _feed: &impl Feed) -> bool {
        false
    }

    /// The tags of what is injected into this thread now, for [`inject_from_sibling`](PackageScope::inject_from_sibling). Only models of
    /// the same part understand them.
    fn injection_tags(&self) -> u64 {
        0
    }
}
