//! Knights Landing's catalogue against counts made by hand from the manual.

extern crate std;
use std::collections::BTreeSet;
use std::vec::Vec;

use super::*;

/// The events of `unit` that the manual has and that have a select.
fn events(unit: &'static str) -> impl Iterator<Item = &'static Entry> {
    KNL.events().filter(move |event| event.unit == unit && !event.fixed && event.listed)
}

/// The unit masks of `unit` that the manual has, for events with a select.
fn masks(unit: &'static str) -> impl Iterator<Item = &'static Entry> {
    KNL.entries.iter().filter(move |entry| entry.umask.is_some() && entry.unit == unit && !entry.fixed && entry.listed)
}

fn named(name: &str) -> &'static Entry {
    KNL.named(name).expect("the manual has it")
}

fn unit(name: &str) -> u16 {
    KNL.units.iter().position(|unit| *unit == name).expect("it is a unit") as u16
}

/// The event with this select and its unit masks, in a box.
fn at(name: &str, select: u32) -> (&'static Entry, &'static [Entry]) {
    KNL.select_in(unit(name), select).expect("the manual has it")
}

#[test]
fn the_tile_has_the_selects_of_tables_2_3_to_2_22() {
    let selects: BTreeSet<u32> = events("tile").map(|event| event.select).collect();
    let expected = [0x03, 0x04, 0x05, 0x2E, 0x30, 0x31, 0x3C, 0x80, 0x86, 0xB7, 0xC0, 0xC2, 0xC3, 0xC4, 0xC5, 0xCA, 0xCB, 0xCD, 0xE6, 0xE7];
    assert_eq!(expected.len(), 20);
    assert!(selects.iter().eq(&expected));
    assert_eq!(events("tile").count(), 20);
}

#[test]
fn the_tile_has_the_unit_masks_of_tables_2_3_to_2_22() {
    let printed = [
        (0x03, 8),
        (0x04, 8),
        (0x05, 6),
        (0x2E, 2),
        (0x30, 1),
        (0x31, 1),
        (0x3C, 2),
        (0x80, 3),
        (0x86, 1),
        (0xB7, 2),
        (0xC0, 1),
        (0xC2, 4),
        (0xC3, 4),
        (0xC4, 9),
        (0xC5, 9),
        (0xCA, 4),
        (0xCB, 2),
        (0xCD, 1),
        (0xE6, 3),
        (0xE7, 1),
    ];
    assert_eq!(printed.iter().map(|(_, rows)| rows).sum::<usize>(), 72);
    for (select, rows) in printed {
        let (event, masks) = KNL.select(select).expect("the manual has it");
        let listed = masks.iter().filter(|mask| mask.listed).count();
        // Six rows of PAGE_WALKS have three codes.
        let codes = if select == 0x05 { 3 } else { rows };
        assert_eq!(listed, codes, "{}", event.name);
    }
}

#[test]
fn what_only_the_text_or_the_lists_of_tools_have_is_not_listed() {
    let unlisted = |unit: &'static str| KNL.entries.iter().filter(move |entry| !entry.listed && entry.unit == unit);
    let codes = |unit| unlisted(unit).filter_map(|entry| Some((entry.name, entry.select, entry.umask?))).collect::<Vec<_>>();
    assert_eq!(
        codes("tile"),
        [
            ("L2_PREFETCHER.ALLOC_XQ", 0x3E, 0x04),
            ("CPU_CLK_UNHALTED.REF_P", 0x3C, 0x02),
            ("OFFCORE_REQUESTS.DEMAND_DATA_RD", 0xB0, 0x01),
            ("OFFCORE_REQUESTS.DEMAND_RFO", 0xB0, 0x02),
            ("OFFCORE_REQUESTS.DEMAND_CODE_RD", 0xB0, 0x04),
            ("OFFCORE_REQUESTS.ALL_DATA_RD", 0xB0, 0x08),
            ("UOPS_RETIRED.X87", 0xC2, 0x02),
            ("UOPS_RETIRED.MUL", 0xC2, 0x04),
            ("UOPS_RETIRED.DIV", 0xC2, 0x08),
            ("NO_ALLOC_CYCLES.NOT_DELIVERED", 0xCA, 0x90),
        ]
    );
    assert_eq!(codes("edc-uclk"), [("EDC_HIT_MISS.MISS_GARBAGE", 0x02, 0x20)]);
    let rejects = 0x18..=0x2F;
    assert_eq!(
        codes("cha").into_iter().filter(|(_, select, _)| !rejects.contains(select)).collect::<Vec<_>>(),
        [
            ("CACHE_LINES_VICTIMIZED.M_STATE", 0x37, 0x01),
            ("CACHE_LINES_VICTIMIZED.E_STATE", 0x37, 0x02),
            ("CACHE_LINES_VICTIMIZED.S_STATE", 0x37, 0x04),
            ("CACHE_LINES_VICTIMIZED.F_STATE", 0x37, 0x08),
            ("CACHE_LINES_VICTIMIZED.LOCAL", 0x37, 0x20),
            ("CACHE_LINES_VICTIMIZED.REMOTE", 0x37, 0x80),
            ("TOR_INSERTS.HIT_1F", 0x35, 0x1F),
            ("TOR_INSERTS.MISS_2F", 0x35, 0x2F),
            ("TOR_INSERTS.LOC_ALL", 0x35, 0x37),
            ("TOR_OCCUPANCY.HIT_1F", 0x36, 0x1F),
            ("TOR_OCCUPANCY.MISS_2F", 0x36, 0x2F),
            ("TOR_OCCUPANCY.LOC_ALL", 0x36, 0x37),
        ]
    );
    assert_eq!(
        codes("cms"),
        [
            ("EGRESS_VERT_ADS_USED.IV_AG0", 0x9C, 0x08),
            ("EGRESS_HORZ_ADS_USED.IV", 0x9D, 0x08),
            ("FAST_ASSERTED.VERT_00", 0xA5, 0x00),
            ("VERT_RING_IV_IN_USE.UP_ODD", 0xAC, 0x02),
            ("VERT_RING_IV_IN_USE.DN_ODD", 0xAC, 0x08),
            ("HORZ_RING_IV_IN_USE.LEFT_ODD", 0xAD, 0x02),
            ("HORZ_RING_IV_IN_USE.RIGHT_ODD", 0xAD, 0x08),
        ]
    );
}

#[test]
fn tables_2_1_and_2_2_are_on_fixed_counters() {
    let fixed: Vec<_> = KNL
        .entries
        .iter()
        .filter(|entry| entry.fixed && entry.umask.is_some())
        .map(|entry| (entry.name, entry.umask, entry.counters, entry.signals))
        .collect();
    assert_eq!(
        fixed,
        [
            ("CPU_CLK_UNHALTED.THREAD", Some(2), 0b0_1000, [Signal::Cycles].as_slice()),
            ("CPU_CLK_UNHALTED.REF_TSC", Some(3), 0b1_0000, &[Signal::ReferenceCycles]),
            ("INST_RETIRED.ANY", Some(1), 0b0_0100, &[Signal::InstructionsRetired]),
        ]
    );
    assert!(KNL.select(0x00).is_none(), "they have no select");
}

#[test]
fn a_name_without_a_unit_mask_is_that_of_the_general_counters() {
    assert_eq!(named("INST_RETIRED").select, 0xC0);
    assert_eq!(named("CPU_CLK_UNHALTED").select, 0x3C);
    assert_eq!(named("INST_RETIRED.ANY_P").select, 0xC0);
    assert!(named("INST_RETIRED.ANY").fixed);
}

#[test]
fn boxes_have_the_events_and_unit_masks_of_chapters_3_4_7_and_8() {
    for (boxes, count, rows) in
        [(["edc-uclk", "edc-eclk"].as_slice(), 5, 7), (&["mc-uclk", "mc-dclk"], 3, 3), (&["m2pcie"], 4, 24), (&["irp"], 20, 20)]
    {
        assert_eq!(boxes.iter().map(|unit| events(unit).count()).sum::<usize>(), count, "{boxes:?}");
        assert_eq!(boxes.iter().map(|unit| masks(unit).count()).sum::<usize>(), rows, "{boxes:?}");
    }
}

#[test]
fn names_have_the_codes_of_the_tables() {
    for (name, unit, select, umask) in [
        ("RECYCLEQ.LD_SPLITS", "tile", 0x03, 0x08),
        ("MEM_UOPS_RETIRED.HITM", "tile", 0x04, 0x20),
        ("PAGE_WALKS.I_SIDE_WALKS", "tile", 0x05, 0x02),
        ("L2_REQUESTS.MISS", "tile", 0x2E, 0x41),
        ("UOPS_RETIRED.PACKED_SIMD", "tile", 0xC2, 0x40),
        ("BR_INST_RETIRED.FAR_BRANCH", "tile", 0xC4, 0xBF),
        ("BR_MISP_RETIRED.NON_RETURN_IND", "tile", 0xC5, 0xEB),
        ("NO_ALLOC_CYCLES.ALL", "tile", 0xCA, 0x7F),
        ("RS_FULL_STALL.ALL", "tile", 0xCB, 0x1F),
        ("EDC_HIT_MISS.MISS_INVALID", "edc-uclk", 0x02, 0x10),
        ("WPQ.INSERTS", "edc-eclk", 0x02, 0x01),
        ("CAS.WRITES", "mc-dclk", 0x03, 0x02),
        ("TxC_INSERTS.AK_CRD_1", "m2pcie", 0x24, 0x80),
        ("TxC_CYCLES_FULL.BL_1", "m2pcie", 0x25, 0x20),
        ("COHERENT_OP_ESEL.WBMTOI", "irp", 0x13, 0x40),
        ("SNOOP_RESPONSES_ESEL.SNPINV", "irp", 0x17, 0x40),
    ] {
        let entry = named(name);
        assert_eq!((entry.unit, entry.select, entry.umask), (unit, select, Some(umask)), "{name}");
    }
}

#[test]
fn names_of_event_lists_find_those_of_the_manual() {
    for (list, manual) in [
        ("UNC_E_EDC_ACCESS.HIT_DIRTY", "EDC_HIT_MISS.HIT_DIRTY"),
        ("UNC_E_RPQ_INSERTS", "RPQ"),
        ("UNC_M_CAS_COUNT.RD", "CAS.READS"),
        ("UNC_M_D_CLOCKTICKS", "DCLK_TICKS"),
        ("UNC_M2P_INGRESS_CYCLES_NE.CBO_NCS", "RxR_CYCLES_NE.CBO_NCS"),
        ("L2_REQUESTS.LLC_MISSES", "L2_REQUESTS.MISS"),
    ] {
        assert_eq!(named(list).name, manual, "{list}");
    }
}

#[test]
fn one_select_is_another_event_in_another_box() {
    assert_eq!(at("tile", 0x03).0.name, "RECYCLEQ");
    assert_eq!(at("edc-uclk", 0x02).0.name, "EDC_HIT_MISS");
    assert_eq!(at("edc-eclk", 0x02).0.name, "WPQ");
    assert_eq!(at("mc-dclk", 0x03).0.name, "CAS");
    assert_eq!(at("irp", 0x03).0.name, "BL_INGRESS_ALLOCATIONS_NCS_ESEL");
    assert!(KNL.select_in(unit("m2pcie"), 0x00).is_none(), "M2PCIe counts no clock");
}

#[test]
fn codes_that_the_tables_leave_out_are_no_events() {
    for (name, select) in [("tile", 0x3F), ("tile", 0x28), ("edc-uclk", 0x01), ("mc-uclk", 0x03), ("irp", 0x0B), ("irp", 0x14)] {
        assert!(KNL.select_in(unit(name), select).is_none(), "{name} {select:#x}");
    }
}

#[test]
fn counters_are_those_of_the_manual() {
    for (name, counters) in
        [("tile", 0b11), ("edc-uclk", 0b1111), ("edc-eclk", 0b1111), ("mc-uclk", 0b1111), ("mc-dclk", 0b1111), ("irp", 0b11)]
    {
        assert!(events(name).chain(masks(name)).all(|entry| entry.counters == counters), "{name}");
    }
    let m2pcie: Vec<_> = events("m2pcie").map(|event| (event.select, event.counters)).collect();
    assert_eq!(m2pcie, [(0x10, 0b1111), (0x23, 0b11), (0x24, 0b1111), (0x25, 0b1111)]);
}

#[test]
fn any_thread_is_allowed_where_section_1_2_1_says() {
    let allowed: BTreeSet<_> =
        KNL.entries.iter().filter(|entry| entry.any_thread && entry.listed).filter_map(|entry| entry.umask.map(|_| entry.name)).collect();
    let expected =
        ["CPU_CLK_UNHALTED.REF", "CPU_CLK_UNHALTED.REF_TSC", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.THREAD_P", "INST_RETIRED.ANY"];
    assert!(allowed.into_iter().eq(expected));
}

#[test]
fn two_events_look_beyond_their_thread() {
    let wider: Vec<_> = events("tile").filter(|event| event.extent != Extent::Thread).map(|event| (event.select, event.extent)).collect();
    assert_eq!(wider, [(0x31, Extent::Core), (0xB7, Extent::Tile)]);
}

/// The bits of the classes that a counter with the unit mask of `name` counts.
fn classes(name: &str) -> u32 {
    let entry = named(name);
    let shape = KNL.select(entry.select).expect("it has a select").0.shape;
    let umask = entry.umask.expect("it is a unit mask");
    (0..8).map(|bit| 1u32 << bit).filter(|bit| shape.admits(umask, *bit)).sum()
}

#[test]
fn unit_masks_of_branches_leave_classes_out() {
    const TAKEN: u32 = 1;
    const DIRECT_CALL: u32 = 2;
    const INDIRECT_CALL: u32 = 4;
    const RETURN: u32 = 8;
    const INDIRECT_JUMP: u32 = 0x10;
    const FAR: u32 = 0x40;
    const NOT_TAKEN: u32 = 0x80;
    for (mask, counted) in [
        ("ALL_BRANCHES", 0xFF),
        ("JCC", TAKEN | NOT_TAKEN),
        ("TAKEN_JCC", TAKEN),
        ("CALL", DIRECT_CALL | INDIRECT_CALL),
        ("REL_CALL", DIRECT_CALL),
        ("IND_CALL", INDIRECT_CALL),
        ("RETURN", RETURN),
        ("NON_RETURN_IND", INDIRECT_CALL | INDIRECT_JUMP),
        ("FAR_BRANCH", FAR),
    ] {
        assert_eq!(classes(&std::format!("BR_INST_RETIRED.{mask}")), counted, "{mask}");
        assert_eq!(classes(&std::format!("BR_MISP_RETIRED.{mask}")), counted, "{mask}");
    }
}

#[test]
fn each_class_of_branches_has_a_signal() {
    use Signal as S;
    assert_eq!(
        named("BR_INST_RETIRED").classes,
        [
            S::ConditionalBranchesTaken,
            S::DirectCalls,
            S::IndirectCalls,
            S::NearReturns,
            S::IndirectJumps,
            S::DirectJumps,
            S::FarTransfers,
            S::ConditionalBranchesNotTaken,
        ]
    );
    assert_eq!(named("BR_MISP_RETIRED").classes.len(), 8);
}

#[test]
fn cycles_and_times_of_walks_share_codes() {
    for (cycles, walks, umask) in [("D_SIDE_CYCLES", "D_SIDE_WALKS", 1), ("I_SIDE_CYCLES", "I_SIDE_WALKS", 2), ("CYCLES", "WALKS", 3)] {
        let [cycles, walks] = [cycles, walks].map(|mask| named(&std::format!("PAGE_WALKS.{mask}")));
        assert_eq!(cycles.name, walks.name);
        assert_eq!(cycles.umask, Some(umask));
        assert_eq!(cycles.counts, Unit::Cycles);
        assert_eq!(cycles.signals.len(), cycles.edges.len());
    }
}

#[test]
fn codes_that_are_no_sets_count_as_they_are_alone() {
    for select in [0x2E, 0x30, 0x31, 0x3C, 0xB7, 0xC0, 0xCA, 0xCB] {
        assert_eq!(KNL.select(select).map(|(event, _)| event.shape), Some(UnitMask::Ordinal), "{select:#x}");
    }
    for select in [0x03, 0x04, 0x05, 0x80, 0xC2, 0xC3] {
        assert_eq!(KNL.select(select).map(|(event, _)| event.shape), Some(UnitMask::Set), "{select:#x}");
    }
    assert_eq!(at("edc-eclk", 0x01).0.shape, UnitMask::Ordinal);
    assert_eq!(at("mc-dclk", 0x03).0.shape, UnitMask::Set);
}

#[test]
fn both_bits_are_all_fetches_and_all_columns() {
    for (whole, parts) in [
        ("ICACHE.ACCESSES", ["ICACHE.HIT", "ICACHE.MISSES"]),
        ("CAS.ALL", ["CAS.READS", "CAS.WRITES"]),
        ("PAGE_WALKS.CYCLES", ["PAGE_WALKS.D_SIDE_CYCLES", "PAGE_WALKS.I_SIDE_CYCLES"]),
    ] {
        let sum: Vec<Signal> = parts.iter().flat_map(|part| named(part).signals).copied().collect();
        assert_eq!(named(whole).signals, sum, "{whole}");
        assert_eq!(named(whole).umask, Some(3));
    }
}

#[test]
fn section_3_1_computes_with_what_the_companion_tells() {
    use Signal as S;
    for (name, signal) in [
        ("RPQ.INSERTS", S::NearMemoryReads),
        ("WPQ.INSERTS", S::NearMemoryWrites),
        ("EDC_HIT_MISS.HIT_CLEAN", S::MemorySideCacheHitsClean),
        ("EDC_HIT_MISS.HIT_DIRTY", S::MemorySideCacheHitsModified),
        ("EDC_HIT_MISS.MISS_CLEAN", S::MemorySideCacheMissesClean),
        ("EDC_HIT_MISS.MISS_DIRTY", S::MemorySideCacheMissesModified),
        ("EDC_HIT_MISS.MISS_INVALID", S::MemorySideCacheMissesInvalid),
        ("CAS.READS", S::MemoryReads),
    ] {
        assert_eq!(named(name).signals, [signal], "{name}");
    }
}

#[test]
fn clocks_are_the_boxes_own() {
    for (name, clocks) in [("edc-uclk", 1), ("edc-eclk", 1), ("mc-uclk", 1), ("mc-dclk", 1), ("m2pcie", 0), ("irp", 1)] {
        let own: Vec<_> = events(name).filter(|event| event.drive == Drive::Internal(Internal::Clock)).collect();
        assert_eq!(own.len(), clocks, "{name}");
        assert!(own.iter().all(|event| event.select == 0 && event.fidelity == Fidelity::Approximate));
    }
}

#[test]
fn increments_in_a_cycle_are_those_of_the_manual() {
    for name in ["edc-uclk", "edc-eclk", "mc-uclk", "mc-dclk", "m2pcie"] {
        assert!(events(name).chain(masks(name)).all(|entry| entry.max_per_cycle == 1), "{name}");
    }
    let more: Vec<_> = events("irp").filter(|event| event.max_per_cycle != 1).map(|event| (event.select, event.max_per_cycle)).collect();
    assert_eq!(more, [(0x07, 16), (0x08, 10), (0x09, 10), (0x0A, 2), (0x0D, 8), (0x12, 128), (0x13, 2), (0x17, 2)]);
}

#[test]
fn occupancies_of_the_irp_are_levels() {
    assert!(events("irp").filter(|event| event.level).map(|event| event.select).eq([0x07, 0x08, 0x09, 0x0D, 0x12]));
    assert!(["tile", "edc-uclk", "edc-eclk", "mc-uclk", "mc-dclk", "m2pcie"].into_iter().flat_map(events).all(|event| !event.level));
}

#[test]
fn a_source_qualifies_the_types_of_transactions() {
    let shape = at("irp", 0x16).0.shape;
    assert!(shape.admits(0x03, 0x02), "a write, of any source");
    assert!(shape.admits(0x43, 0x42), "a write of the selected source");
    assert!(!shape.admits(0x43, 0x02), "of another source");
    assert!(!shape.admits(0x40, 0x42), "no type is chosen");
}

#[test]
fn answers_to_snoops_count_with_an_answer_and_a_kind() {
    let shape = at("irp", 0x17).0.shape;
    assert!(shape.admits(0x18, 0x18), "a modified line for a snoop for code");
    assert!(shape.admits(0x7F, 0x24));
    assert!(!shape.admits(0x0F, 0x18), "no kind is chosen");
    assert!(!shape.admits(0x28, 0x18), "another kind");
}

#[test]
fn a_cycle_of_two_queues_is_one_of_m2pcie() {
    for (select, shape) in [(0x10, UnitMask::Union), (0x23, UnitMask::Union), (0x24, UnitMask::Set), (0x25, UnitMask::Union)] {
        assert_eq!(at("m2pcie", select).0.shape, shape, "{select:#x}");
    }
}
