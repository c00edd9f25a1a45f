//! Knights Landing: its thread's registers and those of its boxes.

use super::{json, mistake, shown, writes_of};

#[test]
fn units_of_knights_landing_have_selects_of_their_own() {
    let rows = json(&["list", "--pmu", "knl", "--format", "json"]);
    let rows = rows.as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    let place = |name: &str| (of(name)["unit"].clone(), of(name)["select"].clone(), of(name)["counters"].clone());
    assert_eq!(place("WPQ.INSERTS"), ("edc-eclk".into(), 2.into(), serde_json::json!([0, 1, 2, 3])));
    assert_eq!(place("EDC_HIT_MISS"), ("edc-uclk".into(), 2.into(), serde_json::json!([0, 1, 2, 3])));
    assert_eq!((&of("OFFCORE_RESP")["extent"], &of("CORE_REJECT_L2Q")["extent"]), (&"tile".into(), &"core".into()));
    assert_eq!((&of("INST_RETIRED.ANY")["fixed"], &of("INST_RETIRED.ANY")["counters"]), (&true.into(), &serde_json::json!([2])));
    assert_eq!((&of("TOR_OCCUPANCY")["level"], &of("TOR_OCCUPANCY")["filter"]), (&true.into(), &"opcode".into()));
    let any = rows.iter().filter(|row| row["any_thread"] == true && !row["umask"].is_null());
    assert_eq!(any.count(), 5, "section 1.2.1");
}

#[test]
fn classes_of_branches_are_the_signals_of_their_unit_masks() {
    let rows = json(&["list", "--pmu", "knl", "--search", "BR_INST_RETIRED.CALL", "--format", "json"]);
    assert_eq!(rows[1]["signals"], serde_json::json!(["direct_calls", "indirect_calls"]));
}

#[test]
fn what_needs_one_counter_of_a_box_says_which() {
    let text = shown(&["list", "--pmu", "knl", "--unit", "cha"]);
    let line = |name: &str| text.lines().find(|line| line.contains(&format!(" {name} "))).unwrap().to_owned();
    assert!(line("TOR_OCCUPANCY").ends_with("counter 0"), "{text}");
    assert!(!line("TOR_INSERTS").contains("counter"), "{text}");
    let tile = shown(&["list", "--pmu", "knl", "--unit", "tile"]);
    assert!(tile.lines().any(|line| line.contains("INST_RETIRED ") && !line.contains("counter")), "{tile}");
}

#[test]
fn a_thread_of_knights_landing_is_written_in_the_drivers_order() {
    let writes = writes_of("knl", &["BR_INST_RETIRED.CALL:u:int:period=1000", "INST_RETIRED.ANY", "CPU_CLK_UNHALTED.THREAD:k:any"]);
    let expected = [
        ("IA32_PERF_GLOBAL_CTRL", 0),
        ("IA32_A_PMC0", (1 << 40) - 1000),
        // F9h, USR, INT, EN.
        ("IA32_PERFEVTSEL0", 0x51_f9c4),
        ("IA32_FIXED_CTR0", 0),
        ("IA32_FIXED_CTR1", 0),
        // Counter 0 at both levels; counter 1 at level 0, for every thread.
        ("IA32_FIXED_CTR_CTRL", 0x53),
        ("IA32_PERF_GLOBAL_CTRL", 0x3_0000_0001),
    ];
    assert_eq!(writes, expected.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn selects_of_knights_landing_are_those_worked_out_by_hand() {
    let select = |event: &str| {
        let writes = writes_of("knl", &[event]);
        writes.into_iter().find(|(name, _)| name.starts_with("IA32_PERFEVTSEL")).unwrap().1
    };
    assert_eq!(select("INST_RETIRED.ANY_P:u:inv:c=16"), 0x10c1_00c0, "what Linux counts precise cycles by");
    assert_eq!(select("CPU_CLK_UNHALTED.THREAD_P:any"), 0x63_003c);
    assert_eq!(select("PAGE_WALKS.D_SIDE_WALKS:k"), 0x46_0105, "walks are the edges of their cycles");
    assert_eq!(select("BR_INST_RETIRED:CALL:RETURN"), 0x43_f1c4, "F9h and F7h leave out what neither counts");
    assert_eq!(select("BR_INST_RETIRED"), 0x43_00c4);
    assert_eq!(select("ICACHE.HIT:MISSES"), 0x43_0380);
    assert_eq!(select("0x2e:0x41"), 0x43_412e);
    assert_eq!(select("L2_REQUESTS.LLC_REFERENCES"), 0x43_4f2e, "an alias");
}

#[test]
fn requests_are_chosen_by_the_names_of_table_1_1() {
    // The manual's first combination, and writes of parts of lines, which PMC1 alone can count.
    let first = "OFFCORE_RESP.OFFCORE_RESP_0:rsp=DEMAND_DATA_RD+DRAM_NEAR+DRAM_FAR+SNOOP_NONE+NO_SNOOP_NEEDED";
    let writes = writes_of("knl", &["OFFCORE_RESP.OFFCORE_RESP_1:rsp=PARTIAL_WRITES+ANY_RESPONSE", first]);
    let value = |name: &str| writes.iter().find(|(register, _)| register == name).map(|(_, value)| *value);
    assert_eq!(value("MSR_OFFCORE_RESP0"), Some(0x1_8180_0001));
    assert_eq!(value("MSR_OFFCORE_RESP1"), Some(0x1_0100));
    assert_eq!((value("IA32_PERFEVTSEL0"), value("IA32_PERFEVTSEL1")), (Some(0x43_01b7), Some(0x43_02b7)));
}

#[test]
fn a_box_of_knights_landing_is_reset_set_up_and_released() {
    let writes = writes_of("knl", &["cha0::TOR_INSERTS.IRQ:opc0=0x182:tid=0x1d", "cha0::RxR_INSERTS.IRQ"]);
    let expected = [
        ("CHA0_MSR_PMON_BOX_CTL", 0x1_0003),
        ("CHA0_MSR_PMON_BOX_CTL", 0x1_0100),
        // Thread 5 of tile 3; the bits that are always set, and opcode 182h from bit 9 up.
        ("PERF_UNIT_CTL_CHA_0", 0x1d),
        ("PERF_UNIT_CTL_1_CHA_0", 0x3_0423),
        ("CHA0_MSR_PMON_CTL0", 0x48_3135),
        ("CHA0_MSR_PMON_CTL1", 0x40_0113),
        ("CHA0_MSR_PMON_BOX_CTL", 0x1_0000),
    ];
    assert_eq!(writes, expected.map(|(name, value)| (name.to_owned(), value)));
}

#[test]
fn boxes_behind_pci_are_written_by_bus_device_and_function() {
    let encoded = json(&["encode", "--pmu", "knl", "--format", "json", "mc-dclk5::CAS.ALL:period=0x100000000", "edc-eclk0::FIXED"]);
    let writes: Vec<(&str, u64)> = encoded
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|event| event["writes"].as_array().unwrap())
        .map(|write| (write["address"].as_str().unwrap(), write["value"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("pci:255:9.4:0xb30", 0x1_0003),
        ("pci:255:9.4:0xb30", 0x1_0100),
        // 2^48 - 2^32, the upper doubleword first.
        ("pci:255:9.4:0xb04", 0xffff),
        ("pci:255:9.4:0xb00", 0),
        ("pci:255:9.4:0xb20", 0x40_0303),
        ("pci:255:9.4:0xb30", 0),
        ("pci:255:24.2:0xa30", 0x1_0003),
        ("pci:255:24.2:0xa30", 0x1_0100),
        ("pci:255:24.2:0xa44", 1),
        ("pci:255:24.2:0xa30", 0),
    ];
    assert_eq!(writes, expected);
    assert_eq!((&encoded[0]["counter"], &encoded[1]["counter"]), (&0.into(), &4.into()));
}

#[test]
fn a_name_of_a_box_and_of_its_mesh_stop_goes_by_the_unit_mask() {
    let control = |event: &str| writes_of("knl", &[event]).into_iter().find(|(name, _)| name == "CHA0_MSR_PMON_CTL0").unwrap().1;
    assert_eq!(control("cha0::RxR_INSERTS.IRQ") & 0xff, 0x13);
    assert_eq!(control("cha0::RxR_INSERTS.AK_BNC") & 0xff, 0xb1);
}

#[test]
fn what_one_counter_takes_moves_the_others() {
    let encoded = json(&["encode", "--pmu", "knl", "--format", "json", "cha3::TOR_INSERTS.IRQ", "cha3::TOR_OCCUPANCY.IRQ"]);
    assert_eq!((&encoded[0]["counter"], &encoded[1]["counter"]), (&1.into(), &0.into()));
}

#[test]
fn what_knights_landing_cannot_count_is_one_line() {
    let of = |events: &[&str]| mistake(&[&["encode", "--pmu", "knl"], events].concat());
    assert!(of(&["INST_RETIRED.ANY_P:any"]).starts_with("INST_RETIRED.ANY_P has no AnyThread; it is for "));
    assert!(of(&["0xc0", "0xc2:0x10", "0xc4"]).starts_with("3 events are too many: a thread has 2 general counters"));
    assert_eq!(of(&["INST_RETIRED.ANY:e"]), "INST_RETIRED.ANY is counted by a fixed counter, which has no edge");
    assert_eq!(of(&["OFFCORE_RESP"]), "say which unit mask of OFFCORE_RESP: there are OFFCORE_RESP_0 and OFFCORE_RESP_1");
    let offcore = |rsp: &str| of(&[&format!("OFFCORE_RESP.OFFCORE_RESP_0:{rsp}")]);
    assert!(offcore("rsp=DEMAND_DATA_RD+DRAM_NEAR").ends_with("DRAM_NEAR asks for a snoop response, bits 31 to 37"));
    assert!(offcore("rsp=PARTIAL_WRITES+ANY_RESPONSE").ends_with("count OFFCORE_RESP_1"));
    assert!(offcore("rsp=DEMAND_DATA_RD+OUTSTANDING:pmc=1").ends_with("it can in IA32_PMC0"));
    assert!(of(&["INST_RETIRED.ANY_P:rsp=1"]).ends_with("that is for OFFCORE_RESP_0 and OFFCORE_RESP_1"));
    assert_eq!(of(&["TOR_INSERTS.IRQ"]), "TOR_INSERTS is an event of cha: say of which box, as cha0::TOR_INSERTS");
    assert!(of(&["cha38::TOR_INSERTS.IRQ"]).starts_with("no box is called `cha38`: did you mean cha"));
    assert_eq!(of(&["cha::TOR_INSERTS.IRQ"]), "there are 38 boxes of cha: say which, as cha0::TOR_INSERTS");
    assert!(of(&["cha0::TOR_OCCUPANCY.IRQ:pmc=2"]).ends_with("cannot be counted in counter 2; it can in 0"));
    assert!(of(&["cha0::TOR_INSERTS.IRQ:opc0=1", "cha0::TOR_OCCUPANCY.IRQ:opc0=2"]).starts_with("the events of a CHA share filter 1"));
    assert!(of(&["cha0::RxR_INSERTS.IRQ:opc0=1"]).starts_with("RxR_INSERTS cannot be filtered by opcode"));
    assert!(of(&["irp::FIXED"]).starts_with("irp has no fixed counter"));
    for wrong in ["::X", "cha0::", "cha0::0x100", "cha0::0x35:u", "pcu::0x80:0x3f", "0xb7:1", "mc-dclk0::CAS:tid=1"] {
        of(&[wrong]);
    }
}

#[test]
fn registers_of_knights_landing_are_said_field_by_field() {
    let text = shown(&[
        "decode",
        "--pmu",
        "knl",
        "IA32_PERFEVTSEL0=0x7300c4",
        "IA32_FIXED_CTR_CTRL=0xd3",
        "MSR_OFFCORE_RESP0=0x800001",
        "IA32_PERF_GLOBAL_CTRL=0x800000000",
    ]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "BR_INST_RETIRED:ALL_BRANCHES:uk:int:any",
        "means nothing for this event",
        "INST_RETIRED.ANY:uk CPU_CLK_UNHALTED.THREAD:k:int:any",
        "OFFCORE_RESP:OFFCORE_RESP_0:rsp=DEMAND_DATA_RD+DRAM_NEAR",
        "counts nothing without a snoop",
        "reserved bit 35 is set: the write is refused",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}

#[test]
fn registers_of_boxes_are_found_by_their_addresses() {
    let text = shown(&[
        "decode",
        "--pmu",
        "knl",
        "msr:0xe02=0x483135",
        "pci:255:31.2:0xa20=0x400101",
        "msr:0x701=0x8",
        "PERF_UNIT_CTL_CHA_4=0x1d",
    ]);
    for part in [
        "CHA0_MSR_PMON_CTL1 (MSR 0000_0E02h) = 0x483135   cha0::TOR_INSERTS:IRQ:tid",
        "edc-eclk7::RPQ:INSERTS",
        "CHA 0",
        "thread 1 of core 1 of tile 3",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}
