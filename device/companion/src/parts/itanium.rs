//! The first Itanium.

use crate::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};

/// Page sizes that a fully associative buffer holds; larger pages are held in pieces.
const PAGES: &[u8] = &[12, 14, 16, 24];
const CODE: &[BufferGeometry] = &[BufferGeometry { entries: 64, ways: 64, page_bits: PAGES, pieces: true }];
const FIRST_DATA: &[BufferGeometry] = &[BufferGeometry { entries: 32, ways: 32, page_bits: PAGES, pieces: true }];
const SECOND_DATA: &[BufferGeometry] = &[BufferGeometry { entries: 96, ways: 96, page_bits: PAGES, pieces: true }];

/// The first Itanium (Merced), at 800 MHz with 4 MiB of third-level cache.
pub const ITANIUM: Profile = Profile {
    name: "itanium",
    title: "Intel Itanium (Merced)",
    sources: &[
        "Sharangpani and Arora, Itanium Processor Microarchitecture, IEEE Micro 2000: first and second level, translation, widths",
        "Itanium Processor Microarchitecture Reference 245473: third level and latencies",
        "WikiChip, Merced: 512 entries of 4-bit local history, return stack of 8",
        "chosen: memory latency of 180 cycles, replacement, the cost of a walk",
    ],
    cores: 1,
    threads: 1,
    caches: Caches {
        fetch_bits: 5,
        line_bits: 5,
        outer_line_bits: 6,
        instruction: CacheGeometry::lru(16 << 10, 4),
        data: CacheGeometry::lru(16 << 10, 4),
        data_write: WritePolicy::Through,
        second: SecondLevel::Unified(CacheGeometry::lru(96 << 10, 6)),
        second_fill: Fill::Inclusive,
        third: Some((CacheGeometry::lru(4 << 20, 4).replaced(Replacement::NotRecentlyUsed), Fill::Inclusive)),
        protocol: Protocol::Mesi,
    },
    translation: Translation { instruction: [CODE, &[]], data: [FIRST_DATA, SECOND_DATA], shared_second: false, walk_entries: 0 },
    predictor: PredictorGeometry {
        direction: Direction::Local { history: 4, histories: 9, index: 13 },
        target_bits: 6,
        return_stack: 8,
        decoded_returns: false,
        bundles: Bundles::Stages { registers: 4 },
    },
    costs: Costs {
        first: 2,
        second: 6,
        second_code: 0,
        second_floating: 9,
        third: 21,
        other_cluster: 200,
        memory: 180,
        remote: 220,
        distant: 220,
        near_memory: 0,
        second_translation: 10,
        walk: 23,
        bubble: 2,
    },
    pipeline: Microarchitecture::Itanium,
    memory: MemoryGeometry {
        page_bits: 13,
        bank_bits: 3,
        select_bits: 2,
        open_pages: 8,
        open: 16,
        close: 16,
        near_bytes: 0,
        near_controllers: 0,
        buffer_bytes: 0,
        controllers: 1,
        channels: 1,
        in_turn: false,
    },
    mesh: Mesh { quadrants: 1, agents: 1, scopes: false, hypertransport: false },
    prefetcher: None,
    write_combining: 4,
};
