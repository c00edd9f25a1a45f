//! What the catalogue of in-memory counters lists.

/// Which events of the nest are described, by the source that reports them. An event that is never reported reads as zero. If it is left
/// out instead, the operating system refuses to count it. Of cores and threads, the events of signals are described, and those without a
/// signal with [`All`](Told::All) only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Told {
    /// All of them: the embedder injects those that nobody else reports.
    #[default]
    All,
    /// Those that the nest, a companion or an embedder's PCI devices report: in addition what passes host bridges.
    ByHostBridges,
    /// Those that the nest or a companion reports: clocks, counts of updates, and what moves between caches and memory.
    ByCompanion,
    /// Those that the nest itself reports: clocks and counts of updates.
    ByNest,
}

/// Which counters to describe, whatever chips there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImcCatalogue {
    /// Whether the postings of the flexible mode are described in addition to those of the default mode, as units called `..._flexible`.
    /// Only the units of the current mode count.
    pub flexible: bool,
    /// Whether the cores post their counters where PDBAR says.
    pub core: bool,
    /// Whether the threads post theirs where LDBAR says. Linux does not use them unless cores post theirs.
    pub thread: bool,
    /// Which events are described.
    pub told: Told,
}

impl ImcCatalogue {
    /// The nest in the default mode with all of its events.
    pub const NEST: ImcCatalogue = ImcCatalogue { flexible: false, core: false, thread: false, told: Told::All };
}
