//! The nodes themselves: names, properties, phandles.

use super::parsed::{Node, parse};
use super::{EVERYTHING, HOME, driver, nest_with, tree};
use vm_pmu::tree::power9::{self, Availability, Chip, ImcCatalogue, ImcCounters};
use vm_pmu::tree::vm_fdt::FdtWriter;

fn counters(root: &Node) -> &Node {
    root.child("imc-counters").unwrap()
}

fn cells(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

#[test]
fn the_node_of_the_counters_has_what_firmware_gives_it() {
    let root = nest_with(Availability::GUIDE);
    let expected = [
        ("compatible", b"ibm,opal-in-memory-counters\0".to_vec()),
        ("#address-cells", cells(&[1])),
        ("#size-cells", cells(&[1])),
        ("version-id", cells(&[0x20])),
    ];
    assert_eq!(counters(&root).properties, expected.map(|(name, value)| (name.to_string(), value)));
}

#[test]
fn a_unit_of_the_nest_has_what_firmware_gives_it() {
    let chips = [Chip::new(0, 0x1234_5670_0000), Chip::new(2, 0x40_0000)];
    let root = tree(&ImcCounters { first_phandle: 0x50, ..ImcCounters::of(&chips) });
    let expected = [
        ("compatible", b"ibm,imc-counters\0".to_vec()),
        ("events-prefix", b"PM_PB_\0".to_vec()),
        ("scale", b"256\0".to_vec()),
        ("reg", cells(&[8, 8])),
        ("events", cells(&[0x50])),
        ("type", cells(&[0x10])),
        ("size", cells(&[0x4_0000])),
        ("offset", cells(&[0x18_0000])),
        ("cb_offset", cells(&[0x3_FC00])),
        ("base-addr", cells(&[0x1234, 0x5670_0000, 0, 0x40_0000])),
        ("chip-id", cells(&[0, 2])),
    ];
    let unit = counters(&root).child("powerbus0@8").unwrap();
    assert_eq!(unit.properties, expected.map(|(name, value)| (name.to_string(), value)));
}

#[test]
fn a_unit_of_the_cores_has_no_memory_of_its_own() {
    let chips = [Chip { availability: Availability(0), ..Chip::new(0, HOME) }];
    let catalogue = ImcCatalogue { core: true, thread: true, ..ImcCatalogue::NEST };
    let root = tree(&ImcCounters { catalogue, ..ImcCounters::of(&chips) });
    // The count of updates has the first phandle.
    for (name, kind, events) in [("core@18", 4, 2), ("thread@18", 1, 3)] {
        let expected = [
            ("compatible", b"ibm,imc-counters\0".to_vec()),
            ("events-prefix", b"CPM_\0".to_vec()),
            ("scale", b"512\0".to_vec()),
            ("reg", cells(&[0x18, 8])),
            ("events", cells(&[events])),
            ("type", cells(&[kind])),
            ("size", cells(&[0x2000])),
        ];
        let unit = counters(&root).child(name).unwrap();
        assert_eq!(unit.properties, expected.map(|(name, value)| (name.to_string(), value)), "{name}");
    }
}

#[test]
fn an_event_has_its_name_without_the_prefix_and_its_place_from_the_units() {
    let root = nest_with(Availability::GUIDE);
    // PM_PB_CYC at 80h, and the unit at 8.
    let event = counters(&root).child("powerbus0-events").unwrap().child("event@78").unwrap();
    assert_eq!(event.property("event-name"), Some(&b"CYC\0"[..]));
    assert_eq!(event.property("reg"), Some(&cells(&[0x78, 8])[..]));
    assert!(event.property("desc").is_some_and(|text| text.len() > 10));
}

#[test]
fn units_are_at_the_addresses_of_their_first_events() {
    let root = nest_with(EVERYTHING);
    let names = [
        "powerbus0@8",
        "update_count@0",
        "mcs23@48",
        "mcs01@c8",
        "xlink1@118",
        "xlink0@158",
        "xlink2@198",
        "nx@1d8",
        "nvlink0@228",
        "nvlink1@248",
        "nvlink2@268",
        "nvlink3@288",
        "nvlink4@2a8",
        "nvlink5@2c8",
        "ats@2e8",
        "xts@308",
        "phb0@338",
        "phb1@358",
        "phb2@378",
        "phb3@398",
        "phb4@3b8",
        "phb5@3d8",
        "mba0@448",
        "mba1@460",
        "mba2@478",
        "mba3@490",
        "mba4@558",
        "mba5@570",
        "mba6@588",
        "mba7@5a0",
        "alink0@4a8",
        "alink1@4e8",
        "alink2@5b8",
        "alink3@5f8",
        "npcq0@668",
        "npcq1@688",
        "npcq2@6a8",
        "capp0@6c8",
        "capp1@708",
    ];
    for name in names {
        assert!(counters(&root).child(name).is_some(), "{name}");
    }
}

/// The name of what firmware would remove: the first node below with this name before its address.
fn removed_by_name<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    node.all().into_iter().skip(1).find(|node| node.name() == name)
}

#[test]
fn firmware_that_removes_units_by_name_finds_these() {
    let root = nest_with(EVERYTHING);
    // skiboot's `nest_pmus_p9`, less what has no counters of its own in the default mode.
    let groups = [("powerbus", 1), ("mba", 8), ("xlink", 3), ("phb", 6), ("capp", 2), ("alink", 4), ("nvlink", 6)];
    let numbered = groups.into_iter().flat_map(|(name, count)| (0..count).map(move |number| format!("{name}{number}")));
    for name in numbered.chain(["nx".to_string()]) {
        let node = removed_by_name(counters(&root), &name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(node.property("compatible"), Some(&b"ibm,imc-counters\0"[..]), "{name}");
    }
    for number in 0..8 {
        assert_eq!(removed_by_name(counters(&root), &format!("mcs{number}")), None, "single ones are removed always");
    }
}

#[test]
fn the_fabric_is_first_as_its_node_is_where_the_control_block_is_read() {
    let root = nest_with(EVERYTHING);
    assert_eq!(driver::probe(&root).unwrap()[0].name, "nest_powerbus0_imc");
}

#[test]
fn phandles_are_taken_from_the_first_free_one_on() {
    let mut fdt = FdtWriter::new().unwrap();
    let root = fdt.begin_node("").unwrap();
    fdt.property_phandle(6).unwrap();
    let chips = [Chip { availability: Availability(0), ..Chip::new(0, HOME) }];
    let next = power9::write_imc_counters(&mut fdt, &ImcCounters { first_phandle: 7, ..ImcCounters::of(&chips) });
    // The count of updates is all that a chip without units has.
    assert_eq!(next, Ok(8));
    fdt.end_node(root).unwrap();
    let root = parse(&fdt.finish().unwrap());
    let handles: Vec<_> = root.all().into_iter().filter_map(|node| node.property("phandle")).collect();
    assert_eq!(handles, [cells(&[6]), cells(&[7])]);
}

#[test]
fn each_unit_takes_a_phandle() {
    let chips = [Chip { availability: EVERYTHING, ..Chip::new(0, HOME) }];
    let next = |flexible| {
        let mut fdt = FdtWriter::new().unwrap();
        power9::write_imc_counters(
            &mut fdt,
            &ImcCounters { catalogue: ImcCatalogue { flexible, ..ImcCatalogue::NEST }, ..ImcCounters::of(&chips) },
        )
    };
    // Fabric, 2 pairs of memory controllers, 3 X links, NX, 6 NVLinks, 2 of translation, 6 PHBs, 8 MBAs, 4 A links, 3 NPCQs, 2 CAPPs, and
    // the count of updates.
    assert_eq!(next(false), Ok(1 + 39));
    // And of the flexible mode the fabric, memory controllers, X links, MBAs and the count.
    assert_eq!(next(true), Ok(1 + 39 + 15));
}

#[test]
fn the_regions_are_reserved() {
    let chips = [Chip::new(0, HOME), Chip::new(1, 0x40_0000)];
    let mut fdt = FdtWriter::new_with_mem_reserv(&power9::reservations(&chips).unwrap()).unwrap();
    let root = fdt.begin_node("").unwrap();
    fdt.end_node(root).unwrap();
    let tree = device_tree::DeviceTree::load(&fdt.finish().unwrap()).unwrap();
    // The list ends with an empty one.
    assert_eq!(tree.reserved, [(HOME + 0x18_0000, 0x4_0000), (0x58_0000, 0x4_0000), (0, 0)]);
}

/// A tree with the features of the processor, and what `write` puts among them.
fn features(write: impl FnOnce(&mut FdtWriter)) -> Node {
    let mut fdt = FdtWriter::new().unwrap();
    let root = fdt.begin_node("").unwrap();
    let cpus = fdt.begin_node("cpus").unwrap();
    let features = fdt.begin_node("ibm,powerpc-cpu-features").unwrap();
    fdt.property_u32("isa", power9::ISA).unwrap();
    fdt.property_string("compatible", "ibm,powerpc-cpu-features").unwrap();
    write(&mut fdt);
    fdt.end_node(features).unwrap();
    fdt.end_node(cpus).unwrap();
    fdt.end_node(root).unwrap();
    parse(&fdt.finish().unwrap())
}

#[test]
fn an_operating_system_turns_the_cores_pmu_on() {
    assert!(driver::enables_the_core_pmu(&features(|fdt| power9::write_performance_monitor(fdt).unwrap())));
    assert!(!driver::enables_the_core_pmu(&features(|_| ())));
}

#[test]
fn the_cores_pmu_has_the_properties_that_firmware_gives_it() {
    let root = features(|fdt| power9::write_performance_monitor(fdt).unwrap());
    let node = root.children[0].children[0].child("performance-monitor-power9").unwrap();
    let expected = [("isa", cells(&[3000])), ("usable-privilege", cells(&[6])), ("hv-support", cells(&[0])), ("os-support", cells(&[0]))];
    assert_eq!(node.properties, expected.map(|(name, value)| (name.to_string(), value)));
}

#[test]
fn a_processor_has_its_version() {
    let mut fdt = FdtWriter::new().unwrap();
    let root = fdt.begin_node("").unwrap();
    let cpu = fdt.begin_node("PowerPC,POWER9@0").unwrap();
    power9::write_cpu_version(&mut fdt, 0x004E_1203).unwrap();
    fdt.end_node(cpu).unwrap();
    fdt.end_node(root).unwrap();
    assert_eq!(parse(&fdt.finish().unwrap()).children[0].property("cpu-version"), Some(&cells(&[0x004E_1203])[..]));
}
