//! The catalogue of POWER9's nest against chapter 6 of the guide.

extern crate std;
use std::collections::BTreeSet;
use std::vec::Vec;

use super::*;

/// Table 6-10, group after group, as it is printed.
const TABLE_6_10: [&[(u32, &str)]; 7] = [
    &[
        (0x0, "Update_count_h1"),
        (0x8, "PM_PB_EVENT_VG_PUMP"),
        (0x10, "PM_PB_EVENT_LNS_PUMP"),
        (0x18, "PM_PB_EVENT_GROUP_PUMP"),
        (0x20, "PM_PB_EVENT_RNS_PUMP"),
        (0x28, "PM_PB_EVENT_RTY_VG_PUMP"),
        (0x30, "PM_PB_EVENT_RTY_LNS_PUMP"),
        (0x38, "PM_PB_EVENT_RTY_GROUP_PUMP"),
        (0x40, "PM_PB_EVENT_RTY_RNS_PUMP"),
        (0x48, "PM_MCS23_64B_RD_OR_WR_DISP_PORT01"),
        (0x50, "PM_MCS23_64B_RD_DISP_PORT01"),
        (0x58, "PM_MCS23_64B_WR_DISP_PORT01"),
        (0x60, "PM_MCS23_AMO_OP_DISPPORT01"),
        (0x68, "PM_MCS23_64B_RD_OR_WR_DISP_PORT23"),
        (0x70, "PM_MCS23_64B_RD_DISP_PORT23"),
        (0x78, "PM_MCS23_64B_WR_DISP_PORT23"),
        (0x80, "PM_PB_CYC"),
        (0x88, "PM_PB_VG_PUMP_P01"),
        (0x90, "PM_PB_LNS_PUMP_P01"),
        (0x98, "PM_PB_GROUP_PUMP_P01"),
        (0xA0, "PM_PB_RNS_PUMP_P01"),
        (0xA8, "PM_PB_INT_DATA_XFER"),
        (0xB0, "PM_PB_EXT_DATA_XFER"),
        (0xB8, "PM_PB_NNS_PUMP"),
        (0xC0, "PM_PB_RTY_NNS_PUMP_P01"),
        (0xC8, "PM_MCS01_64B_RD_OR_WR_DISP_PORT01"),
        (0xD0, "PM_MCS01_64B_RD_DISP_PORT01"),
        (0xD8, "PM_MCS01_64B_WR_DISP_PORT01"),
        (0xE0, "PM_MCS01_AMO_OP_DISP_MC23_PORT01"),
        (0xE8, "PM_MCS01_64B_RD_OR_WR_DISP_PORT23"),
        (0xF0, "PM_MCS01_64B_RD_DISP_PORT23"),
        (0xF8, "PM_MCS01_64B_WR_DISP_PORT23"),
        (0x100, "PM_PB_CYC2"),
    ],
    &[
        (0x118, "PM_XLINK1_OUT_EVEN_CYC"),
        (0x120, "PM_XLINK1_OUT_EVEN_ANY_RCMD"),
        (0x128, "PM_XLINK1_OUT_EVEN_DATA_COUNT"),
        (0x130, "PM_XLINK1_OUT_EVEN_TOTAL_UTIL"),
        (0x138, "PM_XLINK1_OUT_ODD_CYC"),
        (0x140, "PM_XLINK1_OUT_ODD_ANY_RCMD"),
        (0x148, "PM_XLINK1_OUT_ODD_DATA_COUNT"),
        (0x150, "PM_XLINK1_OUT_ODD_TOTAL_UTIL"),
        (0x158, "PM_XLINK0_IN_EVEN_CYC"),
        (0x160, "PM_XLINK0_IN_EVEN_ANY_RCMD"),
        (0x168, "PM_XLINK0_IN_EVEN_DATA_COUNT"),
        (0x170, "PM_XLINK0_IN_EVEN_TOTAL_UTIL"),
        (0x178, "PM_XLINK0_IN_ODD_CYC"),
        (0x180, "PM_XLINK0_IN_ODD_ANY_RCMD"),
        (0x188, "PM_XLINK0_IN_ODD_DATA_COUNT"),
        (0x190, "PM_XLINK0_IN_ODD_TOTAL_UTIL"),
        (0x198, "PM_XLINK2_OUT_EVEN_CYC"),
        (0x1A0, "PM_XLINK2_OUT_EVEN_ANY_RCMD"),
        (0x1A8, "PM_XLINK2_OUT_EVEN_DATA_COUNT"),
        (0x1B0, "PM_XLINK2_OUT_EVEN_TOTAL_UTIL"),
        (0x1B8, "PM_XLINK2_OUT_ODD_CYC"),
        (0x1C0, "PM_XLINK2_OUT_ODD_ANY_RCMD"),
        (0x1C8, "PM_XLINK2_OUT_ODD_DATA_COUNT"),
        (0x1D0, "PM_XLINK2_OUT_ODD_TOTAL_UTIL"),
    ],
    &[
        (0x228, "PM_NTL0_CLK_CYC"),
        (0x230, "PM_NTL0_TX_DATA_FLIT"),
        (0x238, "PM_NTL0_RX_ANY_FLIT"),
        (0x240, "PM_NTL0_RX_DATA_FLIT"),
        (0x248, "PM_NTL1_CLK_CYC"),
        (0x250, "PM_NTL1_TX_DATA_FLIT"),
        (0x258, "PM_NTL1_RX_ANY_FLIT"),
        (0x260, "PM_NTL1_RX_DATA_FLIT"),
        (0x268, "PM_NTL2_CLK_CYC"),
        (0x270, "PM_NTL2_TX_DATA_FLIT"),
        (0x278, "PM_NTL2_RX_ANY_FLIT"),
        (0x280, "PM_NTL2_RX_DATA_FLIT"),
        (0x288, "PM_NTL3_CLK_CYC"),
        (0x290, "PM_NTL3_TX_DATA_FLIT"),
        (0x298, "PM_NTL3_RX_ANY_FLIT"),
        (0x2A0, "PM_NTL3_RX_DATA_FLIT"),
        (0x2A8, "PM_NTL4_CLK_CYC"),
        (0x2B0, "PM_NTL4_TX_DATA_FLIT"),
        (0x2B8, "PM_NTL4_RX_ANY_FLIT"),
        (0x2C0, "PM_NTL4_RX_DATA_FLIT"),
        (0x2C8, "PM_NTL5_CLK_CYC"),
        (0x2D0, "PM_NTL5_TX_DATA_FLIT"),
        (0x2D8, "PM_NTL5_RX_ANY_FLIT"),
        (0x2E0, "PM_NTL5_RX_DATA_FLIT"),
        (0x2E8, "PM_ATS_TCE_TRANS_REQ"),
        (0x2F0, "PM_ATS_TCE_MISS"),
        (0x2F8, "PM_ATS_NO_TRANS_TCE"),
        (0x300, "PM_ATS_CACHE_RERUN"),
        (0x308, "PM_XTS_ATR_DEMAND_CHECKOUT_MISS"),
        (0x310, "PM_XTS_ATR_DEMAND_CHECKOUT"),
        (0x318, "PM_XTS_ATSD_TLBI_RCV"),
        (0x320, "PM_XTS_ATSD_SENT"),
    ],
    &[
        (0x338, "PM_PHB0_CYC"),
        (0x340, "PM_PHB0_DMA_RD_FROM_PCIE"),
        (0x348, "PM_PHB0_DMA_WR_FROM_PCIE"),
        (0x350, "PM_PHB0_LD_RESP_FROM_PCIE"),
        (0x358, "PM_PHB1_CYC"),
        (0x360, "PM_PHB1_DMA_RD_FROM_PCIE"),
        (0x368, "PM_PHB1_DMA_WR_FROM_PCIE"),
        (0x370, "PM_PHB1_LD_RESP_FROM_PCIE"),
        (0x378, "PM_PHB2_CYC"),
        (0x380, "PM_PHB2_DMA_RD_FROM_PCIE"),
        (0x388, "PM_PHB2_DMA_WR_FROM_PCIE"),
        (0x390, "PM_PHB2_LD_RESP_FROM_PCIE"),
        (0x398, "PM_PHB3_CYC"),
        (0x3A0, "PM_PHB3_DMA_RD_FROM_PCIE"),
        (0x3A8, "PM_PHB3_DMA_WR_FROM_PCIE"),
        (0x3B0, "PM_PHB3_LD_RESP_FROM_PCIE"),
        (0x3B8, "PM_PHB4_CYC"),
        (0x3C0, "PM_PHB4_DMA_RD_FROM_PCIE"),
        (0x3C8, "PM_PHB4_DMA_WR_FROM_PCIE"),
        (0x3D0, "PM_PHB4_LD_RESP_FROM_PCIE"),
        (0x3D8, "PM_PHB5_CYC"),
        (0x3E0, "PM_PHB5_DMA_RD_FROM_PCIE"),
        (0x3E8, "PM_PHB5_DMA_WR_FROM_PCIE"),
        (0x3F0, "PM_PHB5_LD_RESP_FROM_PCIE"),
    ],
    &[
        (0x448, "PM_MBA0_READ_BYTES"),
        (0x450, "PM_MBA0_WRITE_BYTES"),
        (0x458, "PM_MBA0_DRAM_CLK_CYC"),
        (0x460, "PM_MBA1_READ_BYTES"),
        (0x468, "PM_MBA1_WRITE_BYTES"),
        (0x470, "PM_MBA1_DRAM_CLK_CYC"),
        (0x478, "PM_MBA2_READ_BYTES"),
        (0x480, "PM_MBA2_WRITE_BYTES"),
        (0x488, "PM_MBA2_DRAM_CLK_CYC"),
        (0x490, "PM_MBA3_READ_BYTES"),
        (0x498, "PM_MBA3_WRITE_BYTES"),
        (0x4A0, "PM_MBA3_DRAM_CLK_CYC"),
    ],
    &[
        (0x558, "PM_MBA4_READ_BYTES"),
        (0x560, "PM_MBA4_WRITE_BYTES"),
        (0x568, "PM_MBA4_DRAM_CLK_CYC"),
        (0x570, "PM_MBA5_READ_BYTES"),
        (0x578, "PM_MBA5_WRITE_BYTES"),
        (0x580, "PM_MBA5_DRAM_CLK_CYC"),
        (0x588, "PM_MBA6_READ_BYTES"),
        (0x590, "PM_MBA6_WRITE_BYTES"),
        (0x598, "PM_MBA6_DRAM_CLK_CYC"),
        (0x5A0, "PM_MBA7_READ_BYTES"),
        (0x5A8, "PM_MBA7_WRITE_BYTES"),
        (0x5B0, "PM_MBA7_DRAM_CLK_CYC"),
    ],
    &[
        (0x668, "PM_NPCQ0_CREQ_BRICK0"),
        (0x670, "PM_NPCQ0_DOWNGRADE_REQ_BRICK0"),
        (0x678, "PM_NPCQ0_CREQ_BRICK1"),
        (0x680, "PM_NPCQ0_DOWNGRADE_REQ_BRICK1"),
        (0x688, "PM_NPCQ1_CREQ_BRICK0"),
        (0x690, "PM_NPCQ1_DOWNGRADE_REQ_BRICK0"),
        (0x698, "PM_NPCQ1_CREQ_BRICK1"),
        (0x6A0, "PM_NPCQ1_DOWNGRADE_REQ_BRICK1"),
        (0x6A8, "PM_NPCQ2_CREQ_BRICK0"),
        (0x6B0, "PM_NPCQ2_DOWNGRADE_REQ_BRICK0"),
        (0x6B8, "PM_NPCQ2_CREQ_BRICK1"),
        (0x6C0, "PM_NPCQ2_DOWNGRADE_REQ_BRICK1"),
    ],
];

/// Where the flexible mode posts.
const FLEXIBLE: u32 = 0x1_0000;

fn nest() -> impl Iterator<Item = &'static Entry> {
    POWER9.events().filter(|event| event.unit == "nest")
}

fn unit(name: &str) -> u16 {
    POWER9.units.iter().position(|unit| *unit == name).expect("it is a unit") as u16
}

fn at(offset: u32) -> &'static Entry {
    POWER9.select_in(unit("nest"), offset).expect("something is posted there").0
}

#[test]
fn every_row_of_table_6_10_is_at_its_offset() {
    for (offset, printed) in TABLE_6_10.into_iter().flatten().copied() {
        let event = at(offset);
        assert!(event.is_called(printed), "{offset:#x} is {}, not {printed}", event.name);
        assert_eq!((event.offset, event.listed), (Some(offset), true), "{printed}");
    }
}

#[test]
fn the_default_mode_posts_nothing_that_table_6_10_does_not_have() {
    let printed: BTreeSet<u32> = TABLE_6_10.into_iter().flatten().map(|(offset, _)| *offset).collect();
    let listed = nest().filter(|event| event.listed && event.select < FLEXIBLE);
    assert!(listed.map(|event| event.select).collect::<Vec<_>>().into_iter().eq(printed));
}

#[test]
fn groups_have_the_rows_of_the_sheets() {
    let rows = TABLE_6_10.map(<[_]>::len);
    assert_eq!(rows, [32 + 1, 24, 32, 24, 12, 12, 12]);
    assert_eq!(rows.iter().sum::<usize>(), 149);
    for (group, rows) in (0u32..).zip(rows) {
        let cells = group * 0x110..(group + 1) * 0x110;
        assert_eq!(nest().filter(|event| event.listed && cells.contains(&event.select)).count(), rows, "group {}", group + 1);
    }
}

#[test]
fn units_that_the_guide_leaves_out_fill_the_free_cells() {
    let unlisted: Vec<u32> = nest().filter(|event| !event.listed).map(|event| event.select).collect();
    let first = [0x1D8, 0x4A8, 0x4E8, 0x5B8, 0x5F8, 0x6C8, 0x708];
    let expected: Vec<u32> = first.into_iter().flat_map(|first| (0..8).map(move |cell| first + 8 * cell)).collect();
    assert_eq!(unlisted, expected);
    assert!(nest().filter(|event| !event.listed).all(|event| event.fidelity == Fidelity::Injected));
}

#[test]
fn numbers_of_capp_are_those_of_the_guide() {
    assert_eq!(at(0x6C8).name, "PM_CAPP0_CYC_A");
    assert_eq!(at(0x740).name, "PM_CAPP1_XPT_MSG_SENT_TSIZE_GT_64_LE_128");
}

#[test]
fn the_flexible_mode_has_the_events_of_groups_1_and_2() {
    let flexible = |from: u32, to: u32| nest().filter(move |event| (FLEXIBLE + from..FLEXIBLE + to).contains(&event.select)).count();
    // The count of updates, eight pumps, three transfers, two clocks and twice the six events of table 6-4.
    assert_eq!(flexible(0, 0x110), 1 + 8 + 3 + 2 + 2 * 6);
    // Both halves of three links with the four events of table 6-8.
    assert_eq!(flexible(0x110, 0x220), 2 * 3 * 4);
    assert_eq!(flexible(0x220, 0x440), 0);
    // Four ports each with the four events of table 6-6.
    assert_eq!(flexible(0x440, 0x550), 4 * 4);
    assert_eq!(flexible(0x550, 0x660), 4 * 4);
    assert_eq!(flexible(0x660, 0x770), 0);
}

#[test]
fn events_of_the_flexible_mode_stand_in_the_cells_of_their_counters() {
    for (offset, name) in [
        (0x1_0000, "Update_count_h1"),
        (0x1_0020, "PM_PB_EVENT_RNS_PUMP"),
        (0x1_0040, "PM_PB_EVENT_RTY_RNS_PUMP"),
        (0x1_0048, "PM_MCS23_RRTO_DISP_PORT01"),
        (0x1_0060, "PM_MCS23_PF_DISP_PORT01"),
        (0x1_0070, "PM_MCS23_128B_SPEC_RD_PORT23"),
        (0x1_0080, "PM_PB_CYC"),
        (0x1_00B8, "PM_PB_EVENT_DATA_XFER"),
        (0x1_00D0, "PM_MCS01_HPCWR_DISP_PORT01"),
        (0x1_00E8, "PM_MCS01_64B_SPEC_RD_PORT23"),
        (0x1_0118, "PM_XLINK1_OUT_EVEN_CYC"),
        (0x1_0180, "PM_XLINK0_IN_ODD_CMD_UTIL"),
        (0x1_01C8, "PM_XLINK2_OUT_ODD_DHDR_DATA_UTIL"),
        (0x1_0468, "PM_MBA1_CYC"),
        (0x1_04C0, "PM_MBA3_CAS_WRITE"),
        (0x1_0558, "PM_MBA4_CYC"),
        (0x1_05D0, "PM_MBA7_CAS_WRITE"),
    ] {
        assert_eq!(at(offset).name, name, "{offset:#x}");
    }
}

#[test]
fn a_collection_says_which_modes_have_an_event_of_the_name() {
    for event in nest() {
        let in_mode = |flexible: bool| nest().any(|other| other.name == event.name && (other.select >= FLEXIBLE) == flexible);
        let expected = match (in_mode(false), in_mode(true)) {
            (true, true) => Collection::Both,
            (true, false) => Collection::Default,
            (false, _) => Collection::Flexible,
        };
        assert_eq!(event.collection, Some(expected), "{} at {:#x}", event.name, event.select);
    }
}

#[test]
fn a_name_is_that_of_the_default_mode_first() {
    for (name, offset) in [("PM_PB_CYC", 0x80), ("nest::PM_XLINK0_IN_ODD_CYC", 0x178), ("PM_MBA7_CAS_READ", 0x1_05C8)] {
        assert_eq!(POWER9.event_named(name).and_then(|event| event.offset), Some(offset), "{name}");
    }
}

#[test]
fn an_offset_is_no_code_of_the_core() {
    assert!(POWER9.select(0x48).is_none());
    assert!(POWER9.select(1 << 24 | 0x80).is_none(), "a unit's number is no part of a select");
    let (core, _) = POWER9.select(0x1_001E).expect("the guide has the code");
    assert_eq!((core.unit, core.offset, core.collection), ("core", None, None));
    assert!(POWER9.events().filter(|event| event.unit == "core").all(|event| event.offset.is_none()));
}

#[test]
fn what_is_posted_has_no_counter_to_choose() {
    assert!(nest().all(|event| event.counters == 0 && event.scope == Scope::Package && event.offset == Some(event.select)));
}

#[test]
fn clocks_are_exact_and_traffic_is_by_rule() {
    let driven = |internal: Internal| nest().filter(move |event| event.listed && event.drive == Drive::Internal(internal));
    // Twice in the fabric, six halves of X links in each mode; six NVLinks, six PHB, eight DIMM clocks in each mode.
    assert_eq!(driven(Internal::Clock).count(), 2 * 2 + 2 * 6 + 6 + 6 + 2 * 8);
    assert!(driven(Internal::Clock).all(|event| event.fidelity == Fidelity::Approximate && event.counts == Unit::Cycles));
    // Six blocks of 64 bytes a memory controller, atomic operations, and three kinds of requests; pumps of three scopes, in both modes and by
    // two ports; transfers within the chip and beyond in both modes, and all of them in one; six events of the halves of three links; reads and
    // writes of eight ports, their column accesses, and activations.
    let fabric = 3 * 3 + 2 * 2 + 1 + 6 * 6;
    assert_eq!(driven(Internal::Request).count(), 2 * (6 + 1 + 3) + fabric + (2 + 2 + 1) * 8);
    // Six bridges, links and bricks; four events of each translation.
    assert_eq!(driven(Internal::Device).count(), 6 * (3 + 3 + 2) + 2 * 4);
    let approximate = |event: &Entry| event.fidelity == Fidelity::Approximate && event.counts == Unit::Events;
    assert!(driven(Internal::Request).chain(driven(Internal::Device)).all(approximate));
    assert!(driven(Internal::Posting).map(|event| event.select).eq([0, FLEXIBLE]));
}

#[test]
fn spellings_of_the_guide_and_of_other_catalogues_are_found() {
    for (spelling, offset) in [
        ("PM_MCS23_AMO_OP_DISP_PORT01", 0x60),
        ("PM_MCS01_AMO_OP_DISP_PORT01", 0xE0),
        ("PM_PB_EVENT_INTERNAL_DATA_XFER", 0xA8),
        ("PM_MCS01_128B_RD_DISP_PORT01", 0xD0),
        ("PM_MCS23_128B_WR_DISP_PORT23", 0x78),
        ("PM_MBA0_CKE_COUNT", 0x458),
        ("PM_MBA7_CLK_CYC", 0x5B0),
        ("PM_PHB5_CYC_CNT", 0x3D8),
    ] {
        assert_eq!(POWER9.event_named(spelling).and_then(|event| event.offset), Some(offset), "{spelling}");
    }
}

#[test]
fn no_spelling_means_two_cells_of_one_mode() {
    let mut seen = BTreeSet::new();
    for event in nest() {
        for name in core::iter::once(&event.name).chain(event.aliases) {
            assert!(seen.insert((event.select >= FLEXIBLE, *name)), "{name}");
        }
    }
}
