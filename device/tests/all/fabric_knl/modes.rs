//! What MCDRAM is used as: which controllers count and which of them the mesh asks, in each memory mode.

use super::*;
use vm_pmu::die::{MemoryKind, MemoryMode};
use vm_pmu::untile::DeviceAccess;

/// Bytes of DDR. MCDRAM that is memory begins there.
const DDR: u64 = 1 << 30;
/// The first line of MCDRAM that programs read.
const OF_MCDRAM: u64 = DDR + LINES;

fn in_mode(mode: MemoryMode) -> Layout {
    layout(2).memory_per_package(DDR).memory_mode(mode)
}

/// What `counters` count of the 64 lines from `first` on, in this mode.
fn counted_at<const N: usize>(mode: MemoryMode, first: u64, others: Option<u64>, counters: [What; N]) -> [u64; N] {
    counted_by(&in_mode(mode), first, others, counters)
}

/// Reads and writes of MCDRAM, its hits and misses as a cache, and reads and writes of DDR.
const TRAFFIC: [What; 5] = [
    (Kind::EdcEclk, 0x01, 0x01),
    (Kind::EdcEclk, 0x02, 0x01),
    (Kind::EdcUclk, 0x02, HITS | MISSES),
    (Kind::McDclk, 0x03, 0x01),
    (Kind::McDclk, 0x03, 0x02),
];

#[test]
fn bandwidth_of_flat_mcdram_is_its_queues_alone() {
    // 64 lines are read twice and written back once. Nothing is looked up, and DDR has no part in it.
    for mode in [MemoryMode::Flat, MemoryMode::HybridQuarter, MemoryMode::HybridHalf] {
        let [reads, writes, looked_up, of_ddr @ ..] = counted_at(mode, OF_MCDRAM, None, TRAFFIC);
        assert_eq!((reads * LINE, writes * LINE), (128 * LINE, 64 * LINE), "{mode:?}");
        assert_eq!((looked_up, of_ddr), (0, [0, 0]), "{mode:?}");
    }
}

#[test]
fn ddr_beside_flat_mcdram_is_read_and_written_by_itself() {
    assert_eq!(counted_at(MemoryMode::Flat, LINES, None, TRAFFIC), [0, 0, 0, 128, 64]);
}

#[test]
fn the_part_of_hybrid_mcdram_that_is_a_cache_has_the_formulas_of_the_cache() {
    // Lines as far from each other as the cache is large share a place: a quarter or half of 64 MiB.
    for (mode, cache) in [(MemoryMode::HybridQuarter, 16 << 20), (MemoryMode::HybridHalf, 32 << 20)] {
        // First reads miss what others left there, and second ones hit: section 3.1 gives 64 lines each way, as in the cache mode.
        let [reads, writes, looked_up, filled, given_up] = counted_at(mode, LINES, Some(LINES + cache), TRAFFIC);
        let [missed] = counted_at(mode, LINES, Some(LINES + cache), [(Kind::EdcUclk, 0x02, MISSES_OF_LINES)]);
        assert_eq!(((reads - missed) * LINE, (writes - filled) * LINE), (64 * LINE, 64 * LINE), "{mode:?}");
        assert_eq!((looked_up, missed, given_up), (128, 64, 0), "{mode:?}");
    }
}

#[test]
fn the_mesh_asks_the_controllers_that_have_the_line() {
    // Lines that controllers send up or down, by their queue and past it: to the tile in row 1, and in a miss from DDR to MCDRAM.
    let sent = |mode, first| {
        let [edc, edc_past, mc, mc_past] = counted_at(
            mode,
            first,
            None,
            [(Kind::EdcUclk, 0x91, 0x04), (Kind::EdcUclk, 0x9E, 0x04), (Kind::McUclk, 0x91, 0x04), (Kind::McUclk, 0x9E, 0x04)],
        );
        (edc + edc_past, mc + mc_past)
    };
    // All 128 reads, of which 64 miss a cache.
    assert_eq!(sent(MemoryMode::Cache, LINES), (128, 64));
    assert_eq!(sent(MemoryMode::HybridHalf, LINES), (128, 64));
    assert_eq!(sent(MemoryMode::Flat, LINES), (0, 128));
    assert_eq!(sent(MemoryMode::Flat, OF_MCDRAM), (128, 0));
    assert_eq!(sent(MemoryMode::HybridHalf, OF_MCDRAM), (128, 0));
}

#[test]
fn a_device_reads_from_the_memory_that_has_the_line() {
    let layout = in_mode(MemoryMode::Flat);
    let line: Line = |_thread, _counter| {};
    let (machine, companion) = (layout.pmus().build(line).unwrap(), layout.companion().unwrap().build());
    let untile = machine.untile().unwrap();
    // Requests that come to a controller by AD: into its queue, and past it.
    let kinds = [Kind::EdcUclk, Kind::McUclk];
    let came = |first: u64| {
        for (kind, (number, select)) in kinds.into_iter().flat_map(|kind| [(0, 0xB1), (1, 0xB2)].map(|counter| (kind, counter))) {
            count(&untile, kind, number, select, 0x01);
        }
        for physical in (0..64).map(|number| first + number * 0x1040) {
            untile.device_at(DeviceAccess::Read, physical, companion.home(physical) as u8, false);
            untile.tick_all(1_000);
        }
        kinds.map(|kind| sum(&untile, kind, 0) + sum(&untile, kind, 1))
    };
    assert_eq!([LINES, OF_MCDRAM].map(came), [[0, 64], [64, 0]]);
}

#[test]
fn nodes_of_mcdram_are_near_the_tiles_of_their_quadrant() {
    let layout = in_mode(MemoryMode::Flat).cluster_mode(ClusterMode::Snc4);
    let line: Line = |_thread, _counter| {};
    let (machine, companion) = (layout.pmus().build(line).unwrap(), layout.companion().unwrap().build());
    let mut program = Program::new(&machine, &companion);
    let nodes: Vec<_> = layout.die().unwrap().memory_nodes().collect();
    assert_eq!(nodes.len(), 8);
    for node in nodes {
        program.requests.clear();
        // Tile 0 is in the first quadrant.
        program.access(0, AccessKind::Load, node.first + 0x4000);
        let far = node.part != 0;
        let expected = match node.kind {
            MemoryKind::Mcdram => Supplier::NearMemory { far },
            MemoryKind::Ddr => Supplier::Memory { far },
        };
        assert_eq!(program.requests.iter().map(|request| request.supplier).collect::<Vec<_>>(), [expected], "{node:?}");
    }
}
