//! The catalogue that firmware in the guest takes from flash.

use std::collections::BTreeMap;

use super::driver;
use super::parsed::{Node, parse};
use vm_pmu::tree::power9::{self, ImcCatalogue, Told};
use vm_pmu::tree::vm_fdt::FdtWriter;

/// What firmware has memory for (skiboot `include/imc.h`).
const LARGEST: usize = 0x4_0000;

fn blob(catalogue: &ImcCatalogue) -> Vec<u8> {
    let mut fdt = FdtWriter::new().unwrap();
    let root = fdt.begin_node("").unwrap();
    power9::write_imc_catalogue(&mut fdt, catalogue).unwrap();
    fdt.end_node(root).unwrap();
    fdt.finish().unwrap()
}

fn tree(catalogue: &ImcCatalogue) -> Node {
    parse(&blob(catalogue))
}

/// A catalogue of the nest in the default mode.
fn nest(told: Told) -> ImcCatalogue {
    ImcCatalogue { told, ..ImcCatalogue::default() }
}

/// What firmware makes of it: the node `imc-counters`, with homes and numbers of a chip.
fn expanded(catalogue: &ImcCatalogue) -> Node {
    let mut counters = tree(catalogue);
    counters.full_name = "imc-counters".to_string();
    for unit in counters.children.iter_mut().filter(|child| child.property("offset").is_some()) {
        unit.properties.push(("base-addr".to_string(), 0x40_0000_u64.to_be_bytes().to_vec()));
        unit.properties.push(("chip-id".to_string(), 0_u32.to_be_bytes().to_vec()));
    }
    Node { full_name: String::new(), properties: Vec::new(), children: vec![counters] }
}

/// The names of each PMU's events, as a driver finds them.
fn events(catalogue: &ImcCatalogue) -> BTreeMap<String, Vec<String>> {
    let pmus = driver::probe(&expanded(catalogue)).unwrap();
    pmus.into_iter().map(|pmu| (pmu.name, pmu.events.into_iter().map(|event| event.name).collect())).collect()
}

#[test]
fn chips_are_left_to_firmware() {
    let root = tree(&ImcCatalogue { flexible: true, core: true, thread: true, told: Told::All });
    assert_eq!(root.property("compatible"), Some(b"ibm,opal-in-memory-counters\0".as_slice()));
    assert!(root.all().iter().all(|node| node.property("base-addr").is_none() && node.property("chip-id").is_none()));
}

#[test]
fn a_whole_catalogue_has_room_in_firmwares_memory() {
    assert!(blob(&ImcCatalogue { flexible: true, core: true, thread: true, told: Told::All }).len() <= LARGEST);
}

#[test]
fn what_the_nest_tells_are_its_clocks_and_its_counts_of_updates() {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
    let mut expected = BTreeMap::from([
        ("nest_update_count_imc".to_string(), own(&["Update_count_h1"])),
        ("nest_powerbus0_imc".to_string(), own(&["PM_PB_CYC", "PM_PB_CYC2"])),
    ]);
    for (link, way) in [(0, "IN"), (1, "OUT"), (2, "OUT")] {
        let clock = |half: &str| format!("PM_XLINK{link}_{way}_{half}_CYC");
        expected.insert(format!("nest_xlink{link}_imc"), vec![clock("EVEN"), clock("ODD")]);
    }
    for number in 0..6 {
        expected.insert(format!("nest_nvlink{number}_imc"), vec![format!("PM_NTL{number}_CLK_CYC")]);
        expected.insert(format!("nest_phb{number}_imc"), vec![format!("PM_PHB{number}_CYC")]);
    }
    for number in 0..8 {
        expected.insert(format!("nest_mba{number}_imc"), vec![format!("PM_MBA{number}_DRAM_CLK_CYC")]);
    }
    assert_eq!(events(&nest(Told::ByNest)), expected);
}

#[test]
fn what_a_companion_tells_is_what_moves_between_caches_and_memory() {
    let events = events(&nest(Told::ByCompanion));
    let blocks = |port: &str| ["RD_OR_WR", "RD", "WR"].map(|way| format!("PM_MCS01_64B_{way}_DISP_PORT{port}"));
    let atomics = "PM_MCS01_AMO_OP_DISP_MC23_PORT01".to_string();
    assert_eq!(events.get("nest_mcs01_imc").unwrap(), &[&blocks("01")[..], &[atomics], &blocks("23")].concat());
    let half = ["CYC", "ANY_RCMD", "DATA_COUNT", "TOTAL_UTIL"].map(|name| format!("PM_XLINK1_OUT_EVEN_{name}"));
    assert_eq!(events.get("nest_xlink1_imc").unwrap().get(..4).unwrap(), &half);
    let port = ["PM_MBA0_READ_BYTES", "PM_MBA0_WRITE_BYTES", "PM_MBA0_DRAM_CLK_CYC"];
    assert_eq!(events.get("nest_mba0_imc").unwrap(), &port);
    // Nobody tells it of devices behind a bridge, nor of an accelerator.
    assert_eq!(events.get("nest_phb0_imc").unwrap(), &["PM_PHB0_CYC"]);
    assert!(!events.contains_key("nest_nx_imc"));
}

#[test]
fn what_host_bridges_tell_is_what_passes_them() {
    let told = |told| events(&nest(told));
    let host_bridge = ["DMA_RD_FROM_PCIE", "DMA_WR_FROM_PCIE", "LD_RESP_FROM_PCIE"].map(|name| format!("PM_PHB0_{name}"));
    let mut expected = told(Told::ByCompanion);
    let events = told(Told::ByHostBridges);
    for name in &host_bridge {
        assert!(events.get("nest_phb0_imc").unwrap().contains(name), "{name}");
    }
    // Nothing else: no NVLink, no part of the NPU.
    expected.retain(|unit, _| !unit.starts_with("nest_phb"));
    let others: BTreeMap<_, _> = events.into_iter().filter(|(unit, _)| !unit.starts_with("nest_phb")).collect();
    assert_eq!(others, expected);
}

#[test]
fn a_counter_is_where_it_is_with_all_events_described() {
    let place = |told| {
        let pmus = driver::probe(&expanded(&nest(told))).unwrap();
        let pmu = pmus.into_iter().find(|pmu| pmu.name == "nest_mba0_imc").unwrap();
        let event = pmu.event("PM_MBA0_DRAM_CLK_CYC").unwrap();
        pmu.address(0, event)
    };
    // Table 6-10: 458h.
    assert_eq!(place(Told::All), Some(0x40_0000 + 0x18_0000 + 0x458));
    assert_eq!(place(Told::ByNest), place(Told::All));
}

#[test]
fn cores_and_threads_are_in_it_where_it_is_asked_for() {
    let catalogue = ImcCatalogue { core: true, thread: true, ..nest(Told::ByNest) };
    let events = events(&catalogue);
    assert!(events.contains_key("core_imc") && events.contains_key("thread_imc"));
}

#[test]
fn events_of_cores_and_threads_without_a_signal_are_described_with_all() {
    let has = |told, event: &str| {
        let events = events(&ImcCatalogue { core: true, thread: true, ..nest(told) });
        ["core_imc", "thread_imc"].map(|pmu| events.get(pmu).unwrap().contains(&event.to_string()))
    };
    for told in [Told::All, Told::ByCompanion, Told::ByNest] {
        assert_eq!(has(told, "CPM_CS_INST_USER"), [true; 2]);
        // The constant clock (N43).
        assert_eq!(has(told, "CPM_CS_32MHZ_CYC_USER"), [told == Told::All; 2]);
    }
}
