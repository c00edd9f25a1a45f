//! One request that left a core's own caches, and how it was served.

/// What a request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum RequestKind {
    /// A line to read data from, for a load.
    DataRead,
    /// The same, for a prefetch by the first-level data cache itself.
    DataReadPrefetch,
    /// A line for a prefetch instruction that reads.
    SoftwarePrefetch,
    /// A line to write, for a store.
    Ownership,
    /// A line to write, for a prefetch: of the second level, or an instruction that announces a store.
    OwnershipPrefetch,
    /// A line to execute.
    Code,
    /// A line to execute, for a prefetch of the second level.
    CodePrefetch,
    /// Part of a line is read: uncacheable or write-combining memory.
    PartialRead,
    /// Part of a line is written: uncacheable, write-through or write-protected memory.
    PartialWrite,
    /// Uncacheable instructions.
    UncacheableCode,
    /// The bus is locked, or a locked access is split between lines.
    BusLock,
    /// A whole line that was combined from streaming stores.
    FullStreamingStore,
    /// Part of a line that was combined from streaming stores.
    PartialStreamingStore,
    /// A modified line that a cache gave up and writes back.
    WriteBack,
    /// A line to execute, for a prefetch by the first-level instruction cache itself: code that is fetched ahead.
    CodeReadPrefetch,
}

impl RequestKind {
    /// Every kind.
    pub const ALL: [RequestKind; 15] = [
        RequestKind::DataRead,
        RequestKind::DataReadPrefetch,
        RequestKind::SoftwarePrefetch,
        RequestKind::Ownership,
        RequestKind::OwnershipPrefetch,
        RequestKind::Code,
        RequestKind::CodePrefetch,
        RequestKind::PartialRead,
        RequestKind::PartialWrite,
        RequestKind::UncacheableCode,
        RequestKind::BusLock,
        RequestKind::FullStreamingStore,
        RequestKind::PartialStreamingStore,
        RequestKind::WriteBack,
        RequestKind::CodeReadPrefetch,
    ];

    /// Its word in litmus files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RequestKind::DataRead => "data-read",
            RequestKind::DataReadPrefetch => "data-read-prefetch",
            RequestKind::SoftwarePrefetch => "software-prefetch",
            RequestKind::Ownership => "ownership",
            RequestKind::OwnershipPrefetch => "ownership-prefetch",
            RequestKind::Code => "code",
            RequestKind::CodeReadPrefetch => "code-read-prefetch",
            RequestKind::CodePrefetch => "code-prefetch",
            RequestKind::PartialRead => "partial-read",
            RequestKind::PartialWrite => "partial-write",
            RequestKind::UncacheableCode => "uncacheable-code",
            RequestKind::BusLock => "bus-lock",
            RequestKind::FullStreamingStore => "full-streaming-store",
            RequestKind::PartialStreamingStore => "partial-streaming-store",
            RequestKind::WriteBack => "write-back",
        }
    }

    /// Whether data comes back for it.
    #[must_use]
    pub const fn brings_data(self) -> bool {
        !matches!(
            self,
            RequestKind::PartialWrite
                | RequestKind::BusLock
                | RequestKind::FullStreamingStore
                | RequestKind::PartialStreamingStore
                | RequestKind::WriteBack
        )
    }
}

/// The state in which a cache of the same cluster had the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum HeldAs {
    /// Modified.
    Modified,
    /// Exclusive.
    Exclusive,
    /// Shared.
    Shared,
    /// Shared, and the cache that supplies it (forward).
    Forward,
}

/// Where the data of a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Supplier {
    /// There is no data, or its source is not known.
    #[default]
    Unknown,
    /// A cache of the same cluster (on Knights Landing: tile), which had the line in this state.
    OwnCluster(HeldAs),
    /// A cache of another cluster.
    OtherCluster {
        /// It is far away: in another quadrant of the mesh.
        far: bool,
    },
    /// Memory on the package (MCDRAM).
    NearMemory {
        /// It is far away: in another quadrant of the mesh.
        far: bool,
    },
    /// Memory outside the package (DDR).
    Memory {
        /// It is far away: in another quadrant of the mesh.
        far: bool,
    },
    /// No memory: a device.
    Device,
}

/// How other caches were snooped for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Snoop {
    /// No other cache was snooped.
    #[default]
    None,
    /// No other cache had to be snooped.
    NotNeeded,
    /// A cache of another cluster had the line and forwarded it.
    Forwarded,
    /// A cache of another cluster had the line modified.
    Modified,
}

/// One request that left a core's own caches, reported where [`Records::requests`](super::Records) asks for it.
///
/// ```
/// use vm_pmu_arch::feed::{Request, RequestKind, Snoop, Supplier};
///
/// let request = Request { supplier: Supplier::Memory { far: false }, latency: 182, ..Request::of(RequestKind::DataRead) };
/// assert!(request.kind.brings_data());
/// assert_eq!(request.snoop, Snoop::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Request {
    /// What it asked for.
    pub kind: RequestKind,
    /// Where the data came from.
    pub supplier: Supplier,
    /// How other caches were snooped.
    pub snoop: Snoop,
    /// From the request to the data, in cycles of the thread's clock; 0 if not known.
    pub latency: u32,
    /// The physical address of the line.
    pub physical: u64,
    /// The cluster (on Knights Landing: tile) whose cache had the line, if it was [another](Supplier::OtherCluster) and is known.
    pub holder: Option<u16>,
    /// The physical address of the line that a memory-side cache gave up for this one, if it did and that is known.
    pub displaced: Option<u64>,
}

impl Request {
    /// A request of this kind, of which nothing else is known.
    #[must_use]
    pub const fn of(kind: RequestKind) -> Request {
        Request { kind, supplier: Supplier::Unknown, snoop: Snoop::None, latency: 0, physical: 0, holder: None, displaced: None }
    }
}
