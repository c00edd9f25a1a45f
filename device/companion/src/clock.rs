//! The source of cycles.

/// The source of cycles: the clock that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Clock {
    /// The embedder's: it adds [`Signal::Cycles`](vm_pmu_arch::feed::Signal::Cycles) itself, and the companion reports only events.
    #[default]
    Embedder,
    /// The companion's: its [pipeline](crate::Profile::pipeline) decides how many cycles an instruction takes and why. The embedder adds no
    /// cycles while the companion is [active](crate::Follower::is_active).
    Companion,
}
