//! The description of a modelled CPU: sizes, ways, policies, latencies.

/// The policy by which a set chooses the entry to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Replacement {
    /// The least recently used entry.
    LeastRecentlyUsed,
    /// A binary tree of pointers away from the most recently used entries; the number of ways is a power of two, at most 32.
    Tree,
    /// The first entry not used since all others were; at most 32 ways.
    NotRecentlyUsed,
    /// Any entry, drawn from the seeded generator.
    Random,
}

/// A cache's size and shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheGeometry {
    /// Capacity in bytes.
    pub bytes: u64,
    /// Ways per set.
    pub ways: u32,
    /// The replacement policy.
    pub replacement: Replacement,
}

impl CacheGeometry {
    /// Returns the geometry of a cache that replaces the least recently used entry.
    #[must_use]
    pub const fn lru(bytes: u64, ways: u32) -> CacheGeometry {
        CacheGeometry { bytes, ways, replacement: Replacement::LeastRecentlyUsed }
    }

    /// Returns this geometry with another replacement policy.
    #[must_use]
    pub const fn replaced(self, replacement: Replacement) -> CacheGeometry {
        CacheGeometry { replacement, ..self }
    }
}

/// The way in which a level beyond the first is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Only with lines that the previous level evicts; a line that moves up leaves.
    Victims,
    /// With every line on its way up; a line evicted here leaves the previous levels too.
    Inclusive,
}

/// The effect of a store on the first-level data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WritePolicy {
    /// The line is brought in and written in the cache.
    Back,
    /// The second level is written. The first is updated on a hit, and not filled on a miss.
    Through,
}

/// The second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecondLevel {
    /// One cache for code and data.
    Unified(CacheGeometry),
    /// One cache for each; both are filled on the way up.
    Split {
        /// Geometry of the cache of code.
        instruction: CacheGeometry,
        /// Geometry of the cache of data.
        data: CacheGeometry,
    },
}

/// The states that a line can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Modified, exclusive, shared. A modified line that another cluster reads is written back to memory.
    Mesi,
    /// Also forward: of the clusters that have a clean line, the one that read it last forwards it. A modified line that another cluster
    /// reads is written back to memory.
    Mesif,
    /// Also owned: a modified line that another cluster reads stays, and is written back when it is evicted.
    Moesi,
}

/// The caches of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caches {
    /// Bits of an address within the piece that one fetch reads.
    pub fetch_bits: u8,
    /// Bits of an address within a line of the first level.
    pub line_bits: u8,
    /// Bits of an address within a line of the further levels. Such lines move between clusters and memory.
    pub outer_line_bits: u8,
    /// The first-level instruction cache of each core.
    pub instruction: CacheGeometry,
    /// The first-level data cache of each core.
    pub data: CacheGeometry,
    /// The write policy of the data cache.
    pub data_write: WritePolicy,
    /// The second level of the cluster.
    pub second: SecondLevel,
    /// The way in which the second level is filled.
    pub second_fill: Fill,
    /// The third level of the cluster, if it has one, and the way in which it is filled.
    pub third: Option<(CacheGeometry, Fill)>,
    /// The states of a line.
    pub protocol: Protocol,
}

/// A translation buffer, or a part of one, for some page sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferGeometry {
    /// Number of translations that it holds.
    pub entries: u32,
    /// Ways per set; equal to `entries` if it is fully associative.
    pub ways: u32,
    /// Page sizes that it holds, as bits of an address within the page, ascending, at most four.
    pub page_bits: &'static [u8],
    /// Whether it holds larger pages too, in pieces of the largest of these sizes.
    pub pieces: bool,
}

/// The translation buffers of a core. A level without a buffer is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Translation {
    /// Buffers for code: first and second level.
    pub instruction: [&'static [BufferGeometry]; 2],
    /// Buffers for data: first and second level.
    pub data: [&'static [BufferGeometry]; 2],
    /// Whether code uses the second level of data.
    pub shared_second: bool,
    /// Number of upper-level table entries that are cached for walks; 0 for none.
    pub walk_entries: u32,
}

impl Translation {
    /// Whether page tables are radix trees as on POWER: with pages of 64 KiB, and a cache of their directories.
    pub(crate) fn is_radix(&self) -> bool {
        self.walk_entries > 0 && self.data[0].iter().any(|buffer| buffer.page_bits.contains(&16))
    }
}

/// The prediction of a conditional branch's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Two-bit counters, selected by the outcomes of the last branches and by the address.
    Global {
        /// Number of the core's last conditional branches whose outcomes select a counter.
        history: u8,
        /// Bits of the index, including the history's: there are 2 to that power counters.
        index: u8,
    },
    /// Two-bit counters, selected by the branch's own last outcomes and by the address.
    Local {
        /// Number of the branch's last outcomes that select a counter.
        history: u8,
        /// Bits of the address that select the branch's history.
        histories: u8,
        /// Bits of the index, including the history's.
        index: u8,
    },
}

/// The prediction of the branches of bundles. An embedder reports [the bundle](crate::Bundle) of each branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bundles {
    /// The processor has no bundles.
    Absent,
    /// One predictor. Branches of a bundle behind the one that it predicts taken are not predicted.
    Single,
    /// Three stages: target address registers; tables, remembered targets and the return stack; and the branch's own encoding.
    Stages {
        /// Number of target address registers, at most 8.
        registers: u8,
    },
}

/// The branch predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredictorGeometry {
    /// The prediction of directions.
    pub direction: Direction,
    /// Binary logarithm of the number of targets that are remembered.
    pub target_bits: u8,
    /// Entries of the return address stack, at most 64.
    pub return_stack: u8,
    /// Whether the decoder finds a return without a remembered target and then asks the return stack.
    pub decoded_returns: bool,
    /// The prediction of the branches of bundles.
    pub bundles: Bundles,
}

macro_rules! microarchitectures {
    ($( $(#[$doc:meta])+ $feature:literal: $variant:ident = $pipeline:ident::$type:ident, $numbers:ident::$profile:ident; )+) => {
        /// A pipeline that the companion models. Sizes, units and latencies are part of the model. A build has only those of its parts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Microarchitecture {
            $( $(#[$doc])+ #[cfg(feature = $feature)] $variant, )+
        }
    };
}

for_each_part!(microarchitectures);

/// The costs of caches, memory and translation, in cycles. The costs of units are part of the [pipeline](Microarchitecture).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Costs {
    /// First level: from a load to the use of its data.
    pub first: u16,
    /// Second level.
    pub second: u16,
    /// Second level of code, if that differs; else 0.
    pub second_code: u16,
    /// Second level, for a load of a floating-point register, if the first level does not serve such loads; else 0. The numbers of
    /// [`ia64_register`](crate::ia64_register) identify such a load. Its outcome has this latency; caches and time behave as for other
    /// loads.
    pub second_floating: u16,
    /// Third level.
    pub third: u16,
    /// Another cluster's cache in the package.
    pub other_cluster: u16,
    /// The package's memory, if the page is open.
    pub memory: u16,
    /// Additional cost of another package.
    pub remote: u16,
    /// Additional cost of a package of another group, if packages are in [groups](crate::Builder::packages_per_group).
    pub distant: u16,
    /// The package's near memory, if it has any.
    pub near_memory: u16,
    /// Additional cost of a translation from the second level.
    pub second_translation: u16,
    /// A page-table walk, in addition to reading its entries.
    pub walk: u16,
    /// A taken branch that the predictor did not know.
    pub bubble: u16,
}

/// The memory of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryGeometry {
    /// Bits of an address within an open DRAM page, across all channels.
    pub page_bits: u8,
    /// Number of bits that select the bank: those above the page's.
    pub bank_bits: u8,
    /// Number of those bits, from the lowest up, that select a bank within one chip select.
    pub select_bits: u8,
    /// Number of pages that can be open at once.
    pub open_pages: u8,
    /// Cycles of the core's clock to open a page.
    pub open: u16,
    /// Cycles of the core's clock to close one.
    pub close: u16,
    /// Bytes of a direct-mapped memory-side cache, a power of two; 0 for none.
    pub near_bytes: u64,
    /// Number of controllers of that cache's memory, among which lines are spread; at most 64.
    pub near_controllers: u8,
    /// Bytes that the buffer of a channel holds as a fourth level, if the memory is [buffered](crate::Builder::buffered); 0 for a part
    /// without such buffers.
    pub buffer_bytes: u64,
    /// Number of DRAM controllers, among which lines are spread; at most 16.
    pub controllers: u8,
    /// Channels per controller; at most 16.
    pub channels: u8,
    /// Whether consecutive lines go to controllers and channels in turn: the lowest bits of a line's number select its controller, those
    /// above select its channel. Otherwise a hash of the whole address spreads them.
    pub in_turn: bool,
}

/// The mesh that joins the clusters of a package. Lines, memory and clusters belong to quadrants. Each line belongs to an agent that orders
/// accesses to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// Number of quadrants. Anything in another quadrant than the requester is far. 1 for a package without quadrants.
    pub quadrants: u8,
    /// Number of agents among which lines are spread.
    pub agents: u16,
    /// Whether requests are broadcast to the package, to its group or to all packages. How far the next one goes is then predicted.
    pub scopes: bool,
    /// Whether packages are nodes joined by HyperTransport links, each with a northbridge, which sees sized commands and accesses of
    /// devices.
    pub hypertransport: bool,
}

impl MemoryGeometry {
    /// Returns this memory with a buffer on each channel.
    pub(crate) fn buffered(self) -> MemoryGeometry {
        if self.buffer_bytes == 0 {
            return self;
        }
        let channels = self.controllers.max(1).saturating_mul(self.channels.max(1));
        MemoryGeometry { near_bytes: self.buffer_bytes.saturating_mul(u64::from(channels)), near_controllers: channels, ..self }
    }

    /// Whether the cache in front of DRAM consists of the buffers of its channels.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.buffer_bytes != 0 && self.near_bytes != 0
    }
}

/// The data prefetcher. It follows adjacent lines that missed one after the other, and fetches into the second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prefetcher {
    /// Number of adjacent missed lines, ascending or descending, that begin a stream.
    pub after: u8,
    /// Number of lines that it fetches beyond the last of them.
    pub ahead: u8,
    /// Number of streams that it follows, at most 16.
    pub streams: u8,
    /// Bits of an address within a block; a stream stops at the end of the block.
    pub within_bits: u8,
}

/// A modelled CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The name of the part, as in the registry and in `pmulab`.
    pub name: &'static str,
    /// A description of the CPU.
    pub title: &'static str,
    /// The sources of the numbers.
    pub sources: &'static [&'static str],
    /// Number of cores that share a second level.
    pub cores: u8,
    /// Threads per core.
    pub threads: u8,
    /// The caches.
    pub caches: Caches,
    /// The translation buffers.
    pub translation: Translation,
    /// The branch predictor.
    pub predictor: PredictorGeometry,
    /// The costs of accesses and translations.
    pub costs: Costs,
    /// The pipeline that keeps time with [`Clock::Companion`](crate::Clock::Companion).
    pub pipeline: Microarchitecture,
    /// The memory of a package.
    pub memory: MemoryGeometry,
    /// The mesh that joins the clusters of a package.
    pub mesh: Mesh,
    /// The data prefetcher, if there is one.
    pub prefetcher: Option<Prefetcher>,
    /// Write-combining buffers per thread, at most 16.
    pub write_combining: u8,
}

impl CacheGeometry {
    fn in_range(self) -> CacheGeometry {
        let ways = self.ways.clamp(1, 64);
        let marks = matches!(self.replacement, Replacement::Tree | Replacement::NotRecentlyUsed);
        let replacement = if marks && ways > 32 { Replacement::LeastRecentlyUsed } else { self.replacement };
        CacheGeometry { bytes: self.bytes.min(1 << 28), ways, replacement }
    }
}

impl Profile {
    /// Clamps every number to a possible one, so that an embedder's own profile is bounded, whatever its numbers.
    pub(crate) fn in_range(mut self) -> Profile {
        self.cores = self.cores.clamp(1, 64);
        self.threads = self.threads.clamp(1, 64);
        let caches = &mut self.caches;
        caches.line_bits = caches.line_bits.clamp(4, 12);
        // A second level of victims has the line size of the first.
        let most = if caches.second_fill == Fill::Victims { caches.line_bits } else { caches.line_bits + 3 };
        caches.outer_line_bits = caches.outer_line_bits.clamp(caches.line_bits, most);
        caches.fetch_bits = caches.fetch_bits.min(caches.line_bits);
        caches.instruction = caches.instruction.in_range();
        caches.data = caches.data.in_range();
        caches.second = match (caches.second_fill, caches.second) {
            (Fill::Inclusive, SecondLevel::Split { instruction, data }) => {
                SecondLevel::Split { instruction: instruction.in_range(), data: data.in_range() }
            }
            (_, SecondLevel::Unified(geometry) | SecondLevel::Split { data: geometry, .. }) => SecondLevel::Unified(geometry.in_range()),
        };
        // No third level follows a second level of victims.
        let third = caches.third.filter(|_| caches.second_fill == Fill::Inclusive);
        caches.third = third.map(|(geometry, fill)| (geometry.in_range(), fill));
        let predictor = &mut self.predictor;
        predictor.direction = match predictor.direction {
            Direction::Global { history, index } => Direction::Global { history: history.min(32), index: index.min(24) },
            Direction::Local { history, histories, index } => {
                Direction::Local { history: history.min(8), histories: histories.min(24), index: index.min(24) }
            }
        };
        predictor.target_bits = predictor.target_bits.min(24);
        let memory = &mut self.memory;
        memory.near_bytes = memory.near_bytes.min(1 << 32);
        memory.buffer_bytes = memory.buffer_bytes.min(1 << 28);
        memory.near_controllers = memory.near_controllers.clamp(u8::from(memory.near_bytes != 0), 64);
        memory.controllers = memory.controllers.clamp(1, 16);
        memory.channels = memory.channels.clamp(1, 16);
        self.mesh = Mesh { quadrants: self.mesh.quadrants.max(1), agents: self.mesh.agents.max(1), ..self.mesh };
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, parts};

    #[test]
    fn the_modelled_cpus_are_what_they_say() {
        for profile in parts::ALL {
            assert_eq!(profile.in_range(), **profile, "{}", profile.name);
        }
    }

    #[test]
    fn a_cpu_that_cannot_be_is_brought_to_one_that_can() {
        let mut strange = parts::MONTECITO;
        strange.cores = 0;
        strange.caches.line_bits = 0;
        strange.caches.outer_line_bits = 255;
        strange.caches.data.ways = 0;
        strange.caches.instruction.bytes = u64::MAX;
        strange.caches.instruction.ways = 1 << 20;
        strange.predictor.return_stack = 255;
        strange.predictor.target_bits = 255;
        strange.memory.open_pages = 0;
        assert!(Builder::of(&strange).build().follower(0).is_some());
    }
}
