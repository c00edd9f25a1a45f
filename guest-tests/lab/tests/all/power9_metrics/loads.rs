//! Metrics of where loads find their lines, how far their requests go, and how their addresses are translated.

use super::program::{Before, Lines, Program, Tree};
use super::{check, metric};

/// Three chips, two in a group, whose memories follow each other, 8 MiB each: the first is the core's, the second in its group, the third
/// not.
const CHIPS: usize = 3;
const CHIPS_PER_GROUP: usize = 2;
/// Three lines, so that nothing is fetched ahead.
const APART: u64 = 3 * 128;

/// 32 loads from two lines that the data cache has.
const FIRST: Lines = Lines { first: 0x58_0800, number: 32, apart: 8 };
/// Sixteen lines of one set of the second level, which has eight ways. Read in turn, each is in the third level when its turn comes.
const THIRD: Lines = Lines { first: 0x60_0000, number: 16, apart: 64 << 10 };
const LOCAL: Lines = Lines { first: 0x74_0000, number: 64, apart: APART };
const REMOTE: Lines = Lines { first: 0x90_0000, number: 32, apart: APART };
const DISTANT: Lines = Lines { first: 0x1D8_0000, number: 16, apart: APART };
/// The last load that leaves the chip's caches before, so that the first request is expected within the chip.
const NEAR: Lines = Lines { first: 0x77_0000, number: 1, apart: 0 };

fn places() -> Program {
    let memory = [LOCAL, REMOTE, DISTANT, NEAR].map(Before::Flush);
    let loads = [Before::Load(THIRD), Before::Load(THIRD), Before::Load(NEAR), Before::Load(FIRST)];
    let all = [FIRST, THIRD, LOCAL, REMOTE, DISTANT];
    Program {
        before: memory.into_iter().chain(loads).collect(),
        loads: all.into_iter().flat_map(Lines::each).collect(),
        chips: CHIPS,
        chips_per_group: CHIPS_PER_GROUP,
        tree: None,
    }
}

#[test]
fn loads_from_every_kind_of_memory_are_in_the_metrics_of_sources() {
    let program = places();
    let instructions = program.instructions();
    // Of 160 loads 32 hit, and 16, 64, 32 and 16 come from the third level, the own chip, another of the group and one beyond.
    let per_hundred = |loads: f64| loads * 100.0 / instructions;
    let of_reloads = |loads: f64| loads * 100.0 / 128.0;
    let right = [
        ("L1_LD_Miss_Ratio", 128.0 / 160.0 * 100.0),
        ("L1_LD_Miss_Rate", per_hundred(128.0)),
        ("L2_LD_Miss_Rate", per_hundred(128.0)),
        ("L3_LD_Miss_Rate", per_hundred(112.0)),
        ("dL1_Reload_FROM_L2", 0.0),
        ("dL1_Reload_FROM_L3", of_reloads(16.0)),
        ("dL1_Reload_FROM_LMEM", of_reloads(64.0)),
        ("dL1_Reload_FROM_RMEM", of_reloads(32.0)),
        ("dL1_Reload_FROM_DMEM", of_reloads(16.0)),
        ("dL1_Reload_FROM_LMEM_Rate", per_hundred(64.0)),
        ("dL1_Reload_FROM_RMEM_Rate", per_hundred(32.0)),
        ("dL1_Reload_FROM_DMEM_Rate", per_hundred(16.0)),
        ("MEM_LOCALITY", 64.0 / 112.0 * 100.0),
        ("LD_LMEM_PER_LD_RMEM", 2.0),
        ("LD_LMEM_PER_LD_DMEM", 4.0),
        ("LD_LMEM_PER_LD_MEM", 64.0 / 48.0),
        ("LD_RMEM_PER_LD_DMEM", 2.0),
    ];
    check(&program.counts(&right.map(|(name, _)| metric(name))), &[], &right);
}

#[test]
fn requests_to_the_group_and_beyond_are_in_the_metrics_of_pumps() {
    // A request goes as far as the last one had to, and again, farther, if that is not enough: the first of those for the group and the
    // first of those beyond it are sent twice. So 33 go to the group, the last of them too near, and 16 to the system.
    let right = [("L2_Node_Pumps", 33.0 / 49.0 * 100.0), ("L2_Sys_Pumps", 16.0 / 49.0 * 100.0)];
    check(&places().counts(&right.map(|(name, _)| metric(name))), &[], &right);
}

#[test]
fn pages_that_are_not_in_the_buffers_are_in_the_metrics_of_translation() {
    // 128 pages of 64 KiB, twice what the ERAT has, so that each is gone when its turn comes. The TLB has all but five that are forgotten.
    const PAGES: u64 = 128;
    const FORGOTTEN: u64 = 5;
    const PAGE: u64 = 64 << 10;
    let pages = Lines { first: 0x60_0000, number: PAGES, apart: PAGE + 128 };
    let forgotten = Lines { first: pages.first, number: FORGOTTEN, apart: 7 * pages.apart };
    let before = vec![Before::Load(pages), Before::Forget(forgotten)];
    let program = Program { before, loads: pages.each().collect(), chips: 1, chips_per_group: 0, tree: None };
    let (loads, misses) = (PAGES as f64, FORGOTTEN as f64);
    let per_hundred = |number: f64| number * 100.0 / program.instructions();
    let right = [
        ("DERAT_Miss_Rate", per_hundred(loads)),
        ("DERAT_64K_Miss_Rate", per_hundred(loads)),
        ("DERAT_64K_Miss_Ratio", 1.0),
        ("DERAT_4K_Miss_Ratio", 0.0),
        ("DERAT_16M_Miss_Ratio", 0.0),
        ("DTLB_Miss_Rate", per_hundred(misses)),
        ("DERAT_MISS_RELOAD", misses * 100.0 / loads),
    ];
    check(&program.counts(&right.map(|(name, _)| metric(name))), &[], &right);
}

/// Where the tree is: tables of partitions and processes, the root, and the tables of the second to the fourth level.
const TABLES: u64 = 0x1D0_0000;
const PROCESSES: u64 = 0x1000;
const ROOT: u64 = 0x1_0000;
const SECOND: u64 = 0x2_0000;
const CODE: u64 = 0x2_1000;
const DATA: u64 = 0x2_2000;
const PAGES: u64 = 0x2_3000;
const TABLES_END: u64 = 0x2_4000;
/// Where the loads' pages are, by effective and by real address.
const EFFECTIVE: u64 = 1 << 30;
const REAL: u64 = 0x60_0000;
const KIB4: u64 = 4 << 10;
const MIB2: u64 = 2 << 20;
/// Pages, and how many of their entries are in a line.
const SMALL: u64 = 64;
const ENTRIES: u64 = 128 / 8;

/// A tree for the process 0 of the host (Power ISA 3.0B, Book III, 5.7.10): all memory is where it is, by pages of 2 MiB, and small pages
/// are from EFFECTIVE on.
fn tree() -> Tree {
    const VALID: u64 = 1 << 63;
    const PAGE: u64 = VALID | 1 << 62 | 0x180 | 7;
    /// A tree of 52 bits, 13 of them for the root; a table with nine bits of address.
    const WHOLE: u64 = 1 << 62 | 5 << 5 | 13;
    const NINE: u64 = 9;
    let mut tables = vec![0; TABLES_END as usize];
    let mut put = |table: u64, index: u64, entry: u64| {
        let at = (table + index * 8) as usize;
        tables[at..at + 8].copy_from_slice(&entry.to_be_bytes());
    };
    put(0, 1, TABLES + PROCESSES);
    put(PROCESSES, 0, WHOLE | (TABLES + ROOT));
    put(ROOT, 0, VALID | (TABLES + SECOND) | NINE);
    put(SECOND, 0, VALID | (TABLES + CODE) | NINE);
    put(SECOND, EFFECTIVE >> 30, VALID | (TABLES + DATA) | NINE);
    (0..16).for_each(|page| put(CODE, page, PAGE | (page * MIB2)));
    put(DATA, 0, VALID | (TABLES + PAGES) | NINE);
    (0..SMALL).for_each(|page| put(PAGES, page, PAGE | (REAL + page * KIB4)));
    Tree { tables, address: TABLES, distance: REAL.wrapping_sub(EFFECTIVE) }
}

#[test]
fn entries_that_walks_read_are_in_the_metrics_of_page_tables() {
    // The buffers of translations are empty when problem state begins. Every page has a walk, whose last entry is in memory for the first
    // page of sixteen and in the second level for the others: a line has sixteen entries.
    let entries = Lines { first: TABLES + PAGES, number: SMALL / ENTRIES, apart: 128 };
    let loads: Vec<u64> = (0..SMALL).map(|page| EFFECTIVE + page * KIB4 + page % 32 * 128).collect();
    let program = Program { before: vec![Before::Flush(entries)], loads, chips: 1, chips_per_group: 0, tree: Some(tree()) };
    let (walks, memory) = (SMALL as f64, entries.number as f64);
    let per_hundred = |number: f64| number * 100.0 / program.instructions();
    let right = [
        ("DTLB_Miss_Rate", per_hundred(walks)),
        ("DERAT_MISS_RELOAD", 100.0),
        ("DERAT_4K_Miss_Ratio", 1.0),
        ("PTEG_FROM_L2", (walks - memory) * 100.0 / walks),
        ("PTEG_FROM_L3", 0.0),
        ("PTEG_FROM_LMEM", memory * 100.0 / walks),
        ("PTEG_FROM_RMEM", 0.0),
        ("PTEG_FROM_LMEM_Rate", per_hundred(memory)),
        ("L2_PTEG_Miss_Rate", per_hundred(memory)),
        ("L3_PTEG_Miss_Rate", per_hundred(memory)),
    ];
    check(&program.counts(&right.map(|(name, _)| metric(name))), &[], &right);
}
