//! Intel Knights Landing: one tile.

use crate::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Prefetcher, Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};

const CODE: &[BufferGeometry] = &[BufferGeometry { entries: 48, ways: 48, page_bits: &[12], pieces: true }];
const MICRO: &[BufferGeometry] = &[BufferGeometry { entries: 64, ways: 8, page_bits: &[12], pieces: true }];
const DATA: &[BufferGeometry] = &[
    BufferGeometry { entries: 256, ways: 8, page_bits: &[12], pieces: true },
    BufferGeometry { entries: 128, ways: 8, page_bits: &[21], pieces: true },
    BufferGeometry { entries: 16, ways: 16, page_bits: &[30], pieces: true },
];

/// A tile of the Intel Xeon Phi 7250: two cores of four threads and the second level that they share, at 1.4 GHz, with MCDRAM as a
/// memory-side cache.
pub const KNL: Profile = Profile {
    name: "knl",
    title: "Intel Xeon Phi (Knights Landing), a tile",
    sources: &[
        "CPUID leaves 2 and 4 and instruction latencies of a Xeon Phi 7210 (InstLatx64, 0050671)",
        "Performance Monitoring Reference Manual, volume 2: sections 1.2 (what the tile shares) and 3 (MCDRAM as a cache)",
        "Linux, uncore_snbep.c: how many EDCs, memory controllers, channels and CHAs there are",
        "Sodani and others, Knights Landing, IEEE Micro 2016: MESIF by a distributed directory",
        "Ramos and Hoefler, IPDPS 2017, and McCalpin, 2016: latencies of the second level, other tiles, MCDRAM and DDR",
        "chosen: the predictor, the penalties of translation, the prefetcher's distance; a scaled MCDRAM of 64 MiB",
    ],
    cores: 2,
    threads: 4,
    caches: Caches {
        fetch_bits: 4,
        line_bits: 6,
        outer_line_bits: 6,
        instruction: CacheGeometry::lru(32 << 10, 8).replaced(Replacement::Tree),
        data: CacheGeometry::lru(32 << 10, 8).replaced(Replacement::Tree),
        data_write: WritePolicy::Back,
        second: SecondLevel::Unified(CacheGeometry::lru(1 << 20, 16).replaced(Replacement::Tree)),
        second_fill: Fill::Inclusive,
        third: None,
        protocol: Protocol::Mesif,
    },
    translation: Translation { instruction: [CODE, &[]], data: [MICRO, DATA], shared_second: false, walk_entries: 16 },
    predictor: PredictorGeometry {
        direction: Direction::Global { history: 12, index: 14 },
        target_bits: 8,
        return_stack: 16,
        decoded_returns: true,
        bundles: Bundles::Absent,
    },
    costs: Costs {
        first: 4,
        second: 17,
        second_code: 0,
        second_floating: 0,
        third: 0,
        other_cluster: 160,
        memory: 182,
        remote: 0,
        distant: 0,
        near_memory: 216,
        second_translation: 8,
        walk: 12,
        bubble: 1,
    },
    pipeline: Microarchitecture::Knl,
    memory: MemoryGeometry {
        page_bits: 13,
        bank_bits: 6,
        select_bits: 4,
        open_pages: 64,
        open: 20,
        close: 20,
        near_bytes: 64 << 20,
        near_controllers: 8,
        buffer_bytes: 0,
        controllers: 2,
        channels: 3,
        in_turn: false,
    },
    mesh: Mesh { quadrants: 4, agents: 38, scopes: false, hypertransport: false },
    prefetcher: Some(Prefetcher { after: 2, ahead: 4, streams: 16, within_bits: 12 }),
    write_combining: 4,
};
