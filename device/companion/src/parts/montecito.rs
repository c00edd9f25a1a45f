//! Montecito, the dual-core Itanium 2.

use crate::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};

const FIRST: &[BufferGeometry] = &[BufferGeometry { entries: 32, ways: 32, page_bits: &[12], pieces: true }];
const SECOND: &[BufferGeometry] = &[BufferGeometry { entries: 128, ways: 128, page_bits: &[12, 14, 16, 24], pieces: true }];

/// Montecito, at 1.6 GHz with 12 MiB of third-level cache for each core. The two threads of a core share its caches and its translation
/// buffers, whose entries carry the thread's number.
pub const MONTECITO: Profile = Profile {
    name: "montecito",
    title: "Intel Itanium 2 (Montecito)",
    sources: &[
        "Dual-Core Update to the Itanium 2 Processor Reference Manual, table 2-9 (caches), table 2-8 (latencies), section 2.4.3 (what threads share), 2.5 (no path between cores)",
        "7-cpu, Itanium 2: translation buffers, penalty of the second level",
        "Itanium 2 Processor Reference Manual 251110: not-recently-used replacement, return stack of 8",
        "chosen: the third level holds what the second has; a walk of 25 cycles with its entry in the second level",
    ],
    cores: 1,
    threads: 2,
    caches: Caches {
        fetch_bits: 5,
        line_bits: 6,
        outer_line_bits: 7,
        instruction: CacheGeometry::lru(16 << 10, 4),
        data: CacheGeometry::lru(16 << 10, 4),
        data_write: WritePolicy::Through,
        second: SecondLevel::Split {
            instruction: CacheGeometry::lru(1 << 20, 8).replaced(Replacement::NotRecentlyUsed),
            data: CacheGeometry::lru(256 << 10, 8).replaced(Replacement::NotRecentlyUsed),
        },
        second_fill: Fill::Inclusive,
        third: Some((CacheGeometry::lru(12 << 20, 12).replaced(Replacement::NotRecentlyUsed), Fill::Inclusive)),
        protocol: Protocol::Mesi,
    },
    translation: Translation { instruction: [FIRST, SECOND], data: [FIRST, SECOND], shared_second: false, walk_entries: 0 },
    predictor: PredictorGeometry {
        direction: Direction::Local { history: 4, histories: 10, index: 14 },
        target_bits: 10,
        return_stack: 8,
        decoded_returns: false,
        bundles: Bundles::Single,
    },
    costs: Costs {
        first: 1,
        second: 5,
        second_code: 7,
        second_floating: 6,
        third: 14,
        other_cluster: 225,
        memory: 200,
        remote: 200,
        distant: 200,
        near_memory: 0,
        second_translation: 4,
        walk: 20,
        bubble: 1,
    },
    pipeline: Microarchitecture::Montecito,
    memory: MemoryGeometry {
        page_bits: 13,
        bank_bits: 4,
        select_bits: 2,
        open_pages: 16,
        open: 24,
        close: 24,
        near_bytes: 0,
        near_controllers: 0,
        buffer_bytes: 0,
        controllers: 1,
        channels: 1,
        in_turn: false,
    },
    mesh: Mesh { quadrants: 1, agents: 1, scopes: false, hypertransport: false },
    prefetcher: None,
    // Four per core, for both threads.
    write_combining: 2,
};
