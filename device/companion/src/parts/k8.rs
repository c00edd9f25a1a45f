//! AMD Athlon 64 and Opteron, revision E with 1 MiB of second-level cache.

use crate::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Prefetcher, Profile, Protocol, Replacement, SecondLevel, Translation, WritePolicy,
};

/// Fully associative: 32 translations of 4 KiB and 8 of 2 MiB, for code as for data.
const FIRST: &[BufferGeometry] = &[
    BufferGeometry { entries: 32, ways: 32, page_bits: &[12], pieces: true },
    BufferGeometry { entries: 8, ways: 8, page_bits: &[21], pieces: true },
];

/// 512 translations of 4 KiB in four ways; larger pages are not held.
const SECOND: &[BufferGeometry] = &[BufferGeometry { entries: 512, ways: 4, page_bits: &[12], pieces: false }];

/// AMD Athlon 64 and Opteron (family 0Fh), at 2 GHz with DDR-400.
pub const K8: Profile = Profile {
    name: "k8",
    title: "AMD Athlon 64 and Opteron, revision E",
    sources: &[
        "AMD Software Optimization Guide 25112, appendix A: caches (pages 252, 256, 259), branch prediction (252, 253), prefetcher (105)",
        "CPUID leaves 8000_0005h and 8000_0006h of an Opteron 248, and latencies measured on a revision E part (InstLatx64)",
        "BIOS and Kernel Developer's Guide, sections 10.2.1.3 to 10.2.1.7: what fills what, LS2, states of lines",
        "Keltcher and others, The AMD Opteron Processor for Multiprocessor Servers, IEEE Micro 2003: page descriptor cache, probes",
        "chosen: 16 open pages; one memory clock of 10 core clocks",
    ],
    cores: 1,
    threads: 1,
    caches: Caches {
        fetch_bits: 4,
        line_bits: 6,
        outer_line_bits: 6,
        instruction: CacheGeometry::lru(64 << 10, 2),
        data: CacheGeometry::lru(64 << 10, 2),
        data_write: WritePolicy::Back,
        second: SecondLevel::Unified(CacheGeometry::lru(1 << 20, 16).replaced(Replacement::Tree)),
        second_fill: Fill::Victims,
        third: None,
        protocol: Protocol::Moesi,
    },
    translation: Translation { instruction: [FIRST, SECOND], data: [FIRST, SECOND], shared_second: false, walk_entries: 24 },
    predictor: PredictorGeometry {
        direction: Direction::Global { history: 8, index: 14 },
        target_bits: 11,
        return_stack: 12,
        decoded_returns: false,
        bundles: Bundles::Absent,
    },
    costs: Costs {
        first: 3,
        second: 12,
        second_code: 0,
        second_floating: 0,
        third: 0,
        other_cluster: 150,
        memory: 123,
        remote: 40,
        distant: 40,
        near_memory: 0,
        second_translation: 7,
        walk: 10,
        bubble: 1,
    },
    pipeline: Microarchitecture::K8,
    memory: MemoryGeometry {
        page_bits: 14,
        bank_bits: 5,
        select_bits: 2,
        open_pages: 16,
        open: 30,
        close: 30,
        near_bytes: 0,
        near_controllers: 0,
        buffer_bytes: 0,
        controllers: 1,
        channels: 1,
        in_turn: false,
    },
    mesh: Mesh { quadrants: 1, agents: 1, scopes: false, hypertransport: true },
    prefetcher: Some(Prefetcher { after: 2, ahead: 2, streams: 8, within_bits: 12 }),
    write_combining: 4,
};
