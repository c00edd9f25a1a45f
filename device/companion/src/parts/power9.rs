//! POWER9: a pair of SMT4 cores.

use crate::{
    BufferGeometry, Bundles, CacheGeometry, Caches, Costs, Direction, Fill, MemoryGeometry, Mesh, Microarchitecture, PredictorGeometry,
    Prefetcher, Profile, Protocol, SecondLevel, Translation, WritePolicy,
};

/// The effective-to-real address translation: pages of 4 KiB, 64 KiB and 2 MiB.
const ERAT: &[BufferGeometry] = &[BufferGeometry { entries: 64, ways: 64, page_bits: &[12, 16, 21], pieces: true }];
/// The translation lookaside buffer, for code and data.
const TLB: &[BufferGeometry] = &[BufferGeometry { entries: 1024, ways: 4, page_bits: &[12, 16, 21], pieces: true }];

/// Two POWER9 cores of four threads, and the second and third level that they share, at 3.8 GHz.
pub const POWER9: Profile = Profile {
    name: "power9",
    title: "IBM POWER9, a pair of SMT4 cores",
    sources: &[
        "POWER9 Performance Monitor Unit User's Guide, sections 5.6 to 5.8 (sources of data, ERAT, TLB, page-walk caches)",
        "cache sizes and ways as the firmware's device tree has them (open-power hostboot, issue 154)",
        "GCC and LLVM scheduling models of POWER9: load-to-use of 4, eight streams",
        "POWER9 Performance Monitor Unit User's Guide, section 6.2.3 (two memory controllers of four ports)",
        "Linux, mmu-hash.h: sets of the TLB",
        "POWER9 Processor User's Manual: store-through first level, third level of victims, latencies of second and third level",
        "POWER9 Performance Monitor Unit User's Guide, table A-6: clean lines that caches of other cores and chips give; that the last reader gives one is chosen, as in MESIF",
        "POWER9 Performance Monitor Unit User's Guide, tables 6-3 and A-6: a memory buffer for each port, and the L4 in it",
        "AnandTech, Assessing IBM's POWER8, part 1 (2016): memory buffers of 16 MiB, which answer in 56 ns",
        "chosen: two links to another group, twice the cycles of one; L4 caches mapped directly",
        "chosen: lines by turns to controllers and ports, latencies beyond the pair, the page-walk cache of 32 entries, a global predictor of 11 outcomes in place of the real three",
    ],
    cores: 2,
    threads: 4,
    caches: Caches {
        fetch_bits: 5,
        line_bits: 7,
        outer_line_bits: 7,
        instruction: CacheGeometry::lru(32 << 10, 8),
        data: CacheGeometry::lru(32 << 10, 8),
        data_write: WritePolicy::Through,
        second: SecondLevel::Unified(CacheGeometry::lru(512 << 10, 8)),
        second_fill: Fill::Inclusive,
        third: Some((CacheGeometry::lru(10 << 20, 20), Fill::Victims)),
        protocol: Protocol::Mesif,
    },
    translation: Translation { instruction: [ERAT, TLB], data: [ERAT, TLB], shared_second: true, walk_entries: 32 },
    predictor: PredictorGeometry {
        direction: Direction::Global { history: 11, index: 14 },
        target_bits: 9,
        return_stack: 32,
        decoded_returns: false,
        bundles: Bundles::Absent,
    },
    costs: Costs {
        first: 4,
        second: 15,
        second_code: 0,
        second_floating: 0,
        third: 36,
        other_cluster: 100,
        memory: 340,
        remote: 310,
        distant: 620,
        near_memory: 213,
        second_translation: 13,
        walk: 20,
        bubble: 2,
    },
    pipeline: Microarchitecture::Power9,
    memory: MemoryGeometry {
        page_bits: 13,
        bank_bits: 6,
        select_bits: 4,
        open_pages: 64,
        open: 50,
        close: 50,
        near_bytes: 0,
        near_controllers: 0,
        buffer_bytes: 16 << 20,
        controllers: 2,
        channels: 4,
        in_turn: true,
    },
    mesh: Mesh { quadrants: 1, agents: 1, scopes: true, hypertransport: false },
    prefetcher: Some(Prefetcher { after: 2, ahead: 2, streams: 8, within_bits: 16 }),
    write_combining: 4,
};
