//! What a driver finds, against table 6-10 of the guide.

use super::driver::{Domain, Pmu, probe};
use super::{EVERYTHING, HOME, pmus_with, tree};
use vm_pmu::tree::power9::{Availability, Chip, ImcCatalogue, ImcCounters};

fn table_6_10() -> Vec<Pmu> {
    pmus_with(Availability::GUIDE)
}

/// The event with the name that the table prints, and its PMU.
fn find<'p>(pmus: &'p [Pmu], name: &str) -> Option<(&'p Pmu, &'p super::driver::Event)> {
    pmus.iter().find_map(|pmu| Some((pmu, pmu.event(name)?)))
}

#[test]
fn every_offset_of_table_6_10_is_described_once() {
    // The sheets' runs of offsets, without those that are printed as free.
    let runs = [0..=0x100, 0x118..=0x1D0, 0x228..=0x320, 0x338..=0x3F0, 0x448..=0x4A0, 0x558..=0x5B0, 0x668..=0x6C0];
    let printed: Vec<u32> = runs.into_iter().flat_map(|run| run.step_by(8)).collect();
    assert_eq!(printed.len(), 149);
    let mut described: Vec<u32> = table_6_10().iter().flat_map(|pmu| &pmu.events).map(|event| event.value).collect();
    described.sort_unstable();
    assert_eq!(described, printed);
}

#[test]
fn events_have_the_names_and_offsets_of_table_6_10() {
    let pmus = table_6_10();
    let printed = [
        ("Update_count_h1", 0x0, "nest_update_count_imc"),
        ("PM_PB_EVENT_VG_PUMP", 0x8, "nest_powerbus0_imc"),
        ("PM_PB_EVENT_RTY_RNS_PUMP", 0x40, "nest_powerbus0_imc"),
        ("PM_MCS23_64B_RD_OR_WR_DISP_PORT01", 0x48, "nest_mcs23_imc"),
        ("PM_MCS23_64B_WR_DISP_PORT23", 0x78, "nest_mcs23_imc"),
        ("PM_PB_CYC", 0x80, "nest_powerbus0_imc"),
        ("PM_PB_INT_DATA_XFER", 0xA8, "nest_powerbus0_imc"),
        ("PM_PB_RTY_NNS_PUMP_P01", 0xC0, "nest_powerbus0_imc"),
        ("PM_MCS01_64B_RD_DISP_PORT01", 0xD0, "nest_mcs01_imc"),
        ("PM_MCS01_64B_WR_DISP_PORT23", 0xF8, "nest_mcs01_imc"),
        ("PM_PB_CYC2", 0x100, "nest_powerbus0_imc"),
        ("PM_XLINK1_OUT_EVEN_CYC", 0x118, "nest_xlink1_imc"),
        ("PM_XLINK0_IN_EVEN_CYC", 0x158, "nest_xlink0_imc"),
        ("PM_XLINK0_IN_ODD_TOTAL_UTIL", 0x190, "nest_xlink0_imc"),
        ("PM_XLINK2_OUT_ODD_TOTAL_UTIL", 0x1D0, "nest_xlink2_imc"),
        ("PM_NTL0_CLK_CYC", 0x228, "nest_nvlink0_imc"),
        ("PM_NTL3_RX_DATA_FLIT", 0x2A0, "nest_nvlink3_imc"),
        ("PM_NTL5_RX_DATA_FLIT", 0x2E0, "nest_nvlink5_imc"),
        ("PM_ATS_TCE_TRANS_REQ", 0x2E8, "nest_ats_imc"),
        ("PM_ATS_CACHE_RERUN", 0x300, "nest_ats_imc"),
        ("PM_XTS_ATR_DEMAND_CHECKOUT_MISS", 0x308, "nest_xts_imc"),
        ("PM_XTS_ATSD_SENT", 0x320, "nest_xts_imc"),
        ("PM_PHB0_CYC", 0x338, "nest_phb0_imc"),
        ("PM_PHB2_DMA_WR_FROM_PCIE", 0x388, "nest_phb2_imc"),
        ("PM_PHB5_LD_RESP_FROM_PCIE", 0x3F0, "nest_phb5_imc"),
        ("PM_MBA0_READ_BYTES", 0x448, "nest_mba0_imc"),
        ("PM_MBA3_DRAM_CLK_CYC", 0x4A0, "nest_mba3_imc"),
        ("PM_MBA4_READ_BYTES", 0x558, "nest_mba4_imc"),
        ("PM_MBA7_DRAM_CLK_CYC", 0x5B0, "nest_mba7_imc"),
        ("PM_NPCQ0_CREQ_BRICK0", 0x668, "nest_npcq0_imc"),
        ("PM_NPCQ1_CREQ_BRICK0", 0x688, "nest_npcq1_imc"),
        ("PM_NPCQ2_DOWNGRADE_REQ_BRICK1", 0x6C0, "nest_npcq2_imc"),
    ];
    for (name, offset, pmu) in printed {
        let (found, event) = find(&pmus, name).unwrap_or_else(|| panic!("{name} is not described"));
        assert_eq!((event.value, found.name.as_str()), (offset, pmu), "{name}");
    }
}

#[test]
fn units_have_as_many_events_as_cells() {
    let pmus = table_6_10();
    let events = |name: &str| pmus.iter().find(|pmu| pmu.name == name).unwrap_or_else(|| panic!("{name}")).events.len();
    assert_eq!(events("nest_update_count_imc"), 1);
    // Five of the eight centralised PMUlets hold 18 of the fabric's events and 7 of each pair of memory controllers.
    assert_eq!(events("nest_powerbus0_imc"), 18);
    assert_eq!((events("nest_mcs01_imc"), events("nest_mcs23_imc")), (7, 7));
    for link in 0..3 {
        assert_eq!(events(&format!("nest_xlink{link}_imc")), 8);
        assert_eq!(events(&format!("nest_npcq{link}_imc")), 4);
    }
    for port in 0..6 {
        assert_eq!(events(&format!("nest_nvlink{port}_imc")), 4);
        assert_eq!(events(&format!("nest_phb{port}_imc")), 4);
    }
    for port in 0..8 {
        assert_eq!(events(&format!("nest_mba{port}_imc")), 3);
    }
    assert_eq!((events("nest_ats_imc"), events("nest_xts_imc")), (4, 4));
    // Fabric, count of updates, 2 memory controllers, 3 X links, 6 NVLinks, 2 of translation, 6 PHBs, 8 MBAs, 3 NPCQs.
    assert_eq!(pmus.len(), 32);
}

#[test]
fn a_count_is_worth_what_its_prescaler_and_its_bus_make_of_it() {
    for pmu in pmus_with(EVERYTHING) {
        let scale = match pmu.name.trim_start_matches("nest_").trim_end_matches("_imc") {
            "update_count" => "1",
            name if name.starts_with("phb") || name.starts_with("mba") => "1",
            name if name.starts_with("xlink") || name.starts_with("alink") => "4096",
            _ => "256",
        };
        for event in &pmu.events {
            assert_eq!((event.scale.as_deref(), event.unit.as_deref()), (Some(scale), None), "{}", event.name);
        }
    }
}

#[test]
fn a_counter_is_where_the_home_memory_the_region_and_the_table_put_it() {
    let chips = [Chip::new(0, HOME), Chip::new(8, 0x202_0000_0000)];
    let pmus = probe(&tree(&ImcCounters::of(&chips))).unwrap();
    let (pmu, event) = find(&pmus, "PM_MBA0_READ_BYTES").unwrap();
    assert_eq!(pmu.address(0, event), Some(0x2_0018_0448));
    assert_eq!(pmu.address(8, event), Some(0x202_0018_0448));
    assert_eq!(pmu.address(1, event), None, "there is no chip 1");
}

#[test]
fn the_control_block_is_in_every_chips_home_memory() {
    let chips = [Chip::new(3, 0), Chip::new(1, 0x40_0000)];
    for pmu in probe(&tree(&ImcCounters::of(&chips))).unwrap() {
        let found: Vec<_> = pmu.memory.iter().map(|memory| (memory.chip, memory.control)).collect();
        assert_eq!(found, [(3, 0x1B_FC00), (1, 0x5B_FC00)], "{}", pmu.name);
    }
}

#[test]
fn a_unit_that_any_chip_has_is_described_for_all() {
    let bare = Chip { availability: Availability(0), ..Chip::new(0, 0) };
    // Bit 30: PHB 0.
    let with_phb = Chip { availability: Availability(1 << 33), ..Chip::new(1, 0x40_0000) };
    let pmus = probe(&tree(&ImcCounters::of(&[bare, with_phb]))).unwrap();
    let names: Vec<&str> = pmus.iter().map(|pmu| pmu.name.as_str()).collect();
    assert_eq!(names, ["nest_phb0_imc", "nest_update_count_imc"]);
    assert!(pmus.iter().all(|pmu| pmu.memory.len() == 2));
}

/// The PMUs of a chip with nothing but the unit at this bit.
fn with_bit(number: u32) -> Vec<String> {
    let pmus = pmus_with(Availability(1 << (63 - number)));
    let short = |pmu: &Pmu| pmu.name.trim_start_matches("nest_").trim_end_matches("_imc").to_string();
    pmus.iter().map(short).filter(|name| name != "update_count").collect()
}

#[test]
fn each_bit_of_the_availability_brings_its_unit() {
    let bits = [
        (0, "powerbus0"),
        (9, "mba0"),
        (16, "mba7"),
        (25, "xlink0"),
        (26, "xlink1"),
        (27, "xlink2"),
        (30, "phb0"),
        (35, "phb5"),
        (36, "nx"),
        (37, "capp0"),
        (38, "capp1"),
        (41, "alink0"),
        (44, "alink3"),
    ];
    for (bit, name) in bits {
        assert_eq!(with_bit(bit), [name], "bit {bit}");
    }
}

#[test]
fn bits_of_units_without_counters_bring_nothing() {
    // MCS 4 to 7, Centaurs, MCD, VAS, INT, and what is reserved.
    for bit in (5..=8).chain(17..=24).chain(28..=29).chain(39..=40).chain(51..=63) {
        assert_eq!(with_bit(bit), [""; 0], "bit {bit}");
    }
}

#[test]
fn memory_controllers_come_in_pairs() {
    assert_eq!((with_bit(1), with_bit(2)), (vec!["mcs01".to_string()], vec!["mcs01".to_string()]));
    assert_eq!((with_bit(3), with_bit(4)), (vec!["mcs23".to_string()], vec!["mcs23".to_string()]));
}

#[test]
fn an_nvlink_brings_translation_and_the_queue_of_its_pair() {
    assert_eq!(with_bit(45), ["nvlink0", "ats", "xts", "npcq0"]);
    assert_eq!(with_bit(48), ["nvlink3", "ats", "xts", "npcq1"]);
    assert_eq!(with_bit(50), ["nvlink5", "ats", "xts", "npcq2"]);
}

/// The PMUs that are not the nest's.
fn beside_the_nest(core: bool, thread: bool) -> Vec<Pmu> {
    let chips = [Chip::new(0, HOME)];
    let pmus =
        probe(&tree(&ImcCounters { catalogue: ImcCatalogue { core, thread, ..ImcCatalogue::NEST }, ..ImcCounters::of(&chips) })).unwrap();
    pmus.into_iter().filter(|pmu| pmu.domain != Domain::Nest).collect()
}

#[test]
fn cores_and_threads_are_described_where_it_is_asked_for() {
    // Memory is the operating system's to choose.
    let found = |core, thread| {
        let pmus = beside_the_nest(core, thread);
        pmus.into_iter().map(|pmu| (pmu.name, pmu.domain, pmu.size, pmu.memory.len())).collect::<Vec<_>>()
    };
    let core = ("core_imc".to_string(), Domain::Core, 0x2000, 0);
    let thread = ("thread_imc".to_string(), Domain::Thread, 0x2000, 0);
    assert_eq!(found(false, false), []);
    assert_eq!(found(true, false), std::slice::from_ref(&core));
    assert_eq!(found(true, true), [core, thread]);
    assert_eq!(found(false, true), [], "a driver has no use for threads alone");
}

#[test]
fn events_of_cores_and_threads_have_the_public_names_and_offsets() {
    let pmus = beside_the_nest(true, true);
    let [core, thread] = &pmus[..] else { panic!("{} PMUs", pmus.len()) };
    assert_eq!((core.events.len(), thread.events.len()), (249, 61));
    let at = |pmu: &Pmu, name| pmu.event(name).map(|event| (event.value, event.scale.clone().unwrap()));
    let printed = [("CPM_PCYC", 0x18), ("CPM_INST", 0x20), ("CPM_CCYC", 0x98), ("CPM_CS_PCYC_USER", 0x1018), ("CPM_CS_INST_USER", 0x1020)];
    for (name, offset) in printed {
        assert_eq!(at(core, name), Some((offset, "512".to_string())), "{name}");
    }
    assert_eq!(at(thread, "CPM_CS_PCYC_USER"), Some((0x1018, "512".to_string())));
    assert_eq!(at(thread, "CPM_PCYC"), None);
}

#[test]
fn the_flexible_modes_postings_are_described_where_they_are_asked_for() {
    let chips = [Chip::new(0, HOME)];
    let pmus =
        probe(&tree(&ImcCounters { catalogue: ImcCatalogue { flexible: true, ..ImcCatalogue::NEST }, ..ImcCounters::of(&chips) })).unwrap();
    let at = |pmu: &str, event: &str| {
        let pmu = pmus.iter().find(|own| own.name == pmu).unwrap_or_else(|| panic!("{pmu}"));
        pmu.event(event).map(|event| (event.value, event.scale.clone().unwrap()))
    };
    // Table 6-2 has it for both modes, table 6-6 for the flexible one alone; that block begins at 10000h.
    assert_eq!(at("nest_powerbus0_imc", "PM_PB_EVENT_VG_PUMP"), Some((0x8, "256".to_string())));
    assert_eq!(at("nest_powerbus0_flexible_imc", "PM_PB_EVENT_VG_PUMP"), Some((0x1_0008, "256".to_string())));
    assert_eq!(at("nest_mba0_flexible_imc", "PM_MBA0_CYC"), Some((0x1_0448, "256".to_string())));
    assert_eq!(at("nest_mba0_imc", "PM_MBA0_CYC"), None);
    let values = pmus.iter().flat_map(|pmu| &pmu.events).map(|event| event.value);
    assert_eq!(values.filter(|value| *value < 0x1_0000).count(), 149);
}
