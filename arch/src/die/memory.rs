//! What MCDRAM is used as, and which memory an operating system finds where.

use super::Die;

/// What MCDRAM is used as (Sodani and others, Knights Landing, Hot Chips 2015 and IEEE Micro 2016). Firmware chooses it when the machine starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MemoryMode {
    /// All of it is a cache of DDR, which has no addresses.
    #[default]
    Cache,
    /// All of it is memory, at addresses of its own above those of DDR.
    Flat,
    /// Hybrid: a quarter of it is a cache of DDR, and the rest is memory.
    HybridQuarter,
    /// Hybrid: half of it is a cache of DDR, and half is memory.
    HybridHalf,
}

impl MemoryMode {
    /// Every mode.
    pub const ALL: [MemoryMode; 4] = [MemoryMode::Cache, MemoryMode::Flat, MemoryMode::HybridQuarter, MemoryMode::HybridHalf];

    /// Its name in text.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MemoryMode::Cache => "cache",
            MemoryMode::Flat => "flat",
            MemoryMode::HybridQuarter => "hybrid-quarter",
            MemoryMode::HybridHalf => "hybrid-half",
        }
    }

    /// How many quarters of MCDRAM are a cache.
    const fn quarters(self) -> u64 {
        match self {
            MemoryMode::Cache => 4,
            MemoryMode::Flat => 0,
            MemoryMode::HybridQuarter => 1,
            MemoryMode::HybridHalf => 2,
        }
    }
}

/// What a node of memory consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// DDR: the node has the tiles of its part of the die.
    Ddr,
    /// MCDRAM: the node has no tiles.
    Mcdram,
}

/// A node of memory: what a memory map and the SRAT of ACPI say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryNode {
    /// What it consists of.
    pub kind: MemoryKind,
    /// Its first address.
    pub first: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The part of the die that has it, among as many as the [mode](super::ClusterMode::nodes) has nodes.
    pub part: u8,
}

impl Die {
    /// How many bytes of MCDRAM are a cache.
    #[must_use]
    pub const fn cached(&self) -> u64 {
        self.mcdram / 4 * self.mode.quarters()
    }

    /// How many bytes of MCDRAM are memory.
    #[must_use]
    pub const fn flat(&self) -> u64 {
        self.mcdram - self.cached()
    }

    /// The nodes of memory, in the order of their numbers: those of DDR, then those of MCDRAM, as Linux numbers them. An emulator gives its guest
    /// memory at these addresses, and nodes in its SRAT.
    ///
    /// ```
    /// use vm_pmu_arch::die::{ClusterMode, Die, MemoryKind, MemoryMode};
    ///
    /// // 96 GiB of DDR and 16 GiB of MCDRAM, in four parts: nodes 4 to 7 are MCDRAM.
    /// let die = Die { cluster: ClusterMode::Snc4, mode: MemoryMode::Flat, memory: 96 << 30, mcdram: 16 << 30, ..Die::default() };
    /// let nodes: Vec<_> = die.memory_nodes().collect();
    /// assert_eq!(nodes.len(), 8);
    /// assert_eq!((nodes[5].kind, nodes[5].first, nodes[5].bytes, nodes[5].part), (MemoryKind::Mcdram, 100 << 30, 4 << 30, 1));
    /// ```
    pub fn memory_nodes(&self) -> impl Iterator<Item = MemoryNode> {
        let parts = self.cluster.nodes();
        let all = [(MemoryKind::Ddr, 0, self.memory), (MemoryKind::Mcdram, self.memory, self.flat())];
        all.into_iter().filter(|(.., bytes)| *bytes != 0).flat_map(move |(kind, first, bytes)| {
            let each = bytes / u64::from(parts);
            (0..parts).map(move |part| MemoryNode { kind, first: first + each * u64::from(part), bytes: each, part })
        })
    }
}
