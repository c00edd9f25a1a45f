//! The program `pmulab`, as a user at a prompt or a script sees it.

mod boot;
mod conformance;
mod explain;
mod groups;
mod knl;
mod litmus;
mod moved;
mod nest;
mod profile;
mod refused;
mod shell;
mod stat;
mod timeline;
mod top;
mod traced;
mod width;

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn pmulab(arguments: &[&str]) -> Output {
    Command::cargo_bin("pmulab").unwrap().args(arguments).output().unwrap()
}

/// The output of a command that must succeed, with no error output.
fn shown(arguments: &[&str]) -> String {
    let output = pmulab(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&shown(arguments)).unwrap()
}

/// The one line about an error: nothing else is printed, and the status is 2.
fn mistake(arguments: &[&str]) -> String {
    let output = pmulab(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(line.lines().count(), 1, "{line}");
    line.strip_prefix("pmulab: ").expect("the line names the program").trim_end().to_owned()
}

/// The writes that count events on a PMU: register and value.
fn writes_of(pmu: &str, arguments: &[&str]) -> Vec<(String, u64)> {
    let encoded = json(&[&["encode", "--pmu", pmu, "--format", "json"], arguments].concat());
    let writes = encoded.as_array().unwrap().iter().flat_map(|event| event["writes"].as_array().unwrap());
    writes.map(|write| (write["register"].as_str().unwrap().to_owned(), write["value"].as_u64().unwrap())).collect()
}

mod list {
    use super::*;

    const KEYS: [&str; 30] = [
        "pmu",
        "unit",
        "name",
        "select",
        "umask",
        "code",
        "offset",
        "counters",
        "max_per_cycle",
        "fidelity",
        "source",
        "summary",
        "signals",
        "rule",
        "counts",
        "since",
        "kind",
        "set",
        "qualifiers",
        "channel",
        "all_threads",
        "by_line_state",
        "extent",
        "any_thread",
        "fixed",
        "level",
        "filter",
        "collection",
        "aliases",
        "fidelities",
    ];

    #[test]
    fn json_has_every_event_and_every_unit_mask_of_the_k8() {
        let rows = json(&["list", "--pmu", "k8", "--format", "json"]);
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.iter().filter(|row| row["umask"].is_null()).count(), 87);
        assert_eq!(rows.iter().filter(|row| row["umask"].is_u64()).count(), 123);
    }

    #[test]
    fn json_has_the_keys_in_their_order() {
        let text = shown(&["list", "--pmu", "k8", "--search", "cpu_clk_unhalted", "--format", "json"]);
        let keys: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    \"")?.split('"').next()).collect();
        assert_eq!(keys, KEYS);
        let rows: Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!([{
            "pmu": "k8", "unit": "core", "name": "CPU_CLK_UNHALTED", "select": 0x76, "umask": null, "code": null, "offset": null,
            "counters": [0, 1, 2, 3], "max_per_cycle": 3, "fidelity": "exact", "source": "AMD BKDG 10.2.1.6",
            "summary": rows[0]["summary"], "signals": ["cycles"], "rule": null, "counts": "cycles", "since": null,
            "kind": null, "set": null, "qualifiers": [], "channel": null, "all_threads": null, "by_line_state": false,
            "extent": null, "any_thread": false, "fixed": false, "level": false, "filter": null, "collection": null,
            "aliases": ["cycles"], "fidelities": ["exact"],
        }]);
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_word_of_an_event_is_that_of_the_emulator_that_is_asked_for() {
        let word = |on: &str, pmu: &str, name: &str| {
            let rows = json(&["list", "--pmu", pmu, "--all", "--on", on, "--format", "json"]);
            rows.as_array().unwrap().iter().find(|row| row["name"] == name).map(|row| row["fidelity"].as_str().unwrap().to_owned()).unwrap()
        };
        let words = |pmu, name| ["lab", "engine", "qemu", "qemu-time"].map(|on| word(on, pmu, name));
        assert_eq!(words("k8", "DISPATCH_STALLS"), ["approximate", "embedder", "embedder", "approximate"]);
        assert_eq!(words("k8", "DATA_CACHE_MISSES"), ["approximate", "embedder", "approximate", "approximate"]);
        assert_eq!(words("knl", "COHERENT_OP_ESEL.RDCUR"), ["approximate", "embedder", "approximate", "approximate"]);
        assert_eq!(words("power9", "PM_STCX_FAIL"), ["exact"; 4]);
        assert_eq!(words("power9", "PM_RDXTLB_ANY_NSTD_ACC"), ["approximate", "embedder", "approximate", "approximate"]);
        assert_eq!(words("power9", "PM_PHB0_DMA_RD_FROM_PCIE"), ["approximate", "embedder", "approximate", "approximate"]);
        assert_eq!(words("power9", "PM_MCS01_AMO_OP_DISP_MC23_PORT01"), ["approximate", "embedder", "embedder", "embedder"]);
        assert_eq!(words("power9", "PM_PB_CYC"), ["approximate"; 4]);
        assert_eq!(words("power9", "CPM_CS_INST_USER"), ["exact"; 4]);
        assert_eq!(words("power9", "CPM_CS_FROM_L3_LDATA"), ["approximate", "embedder", "approximate", "approximate"]);
    }

    #[test]
    fn a_part_that_qemu_does_not_have_is_refused() {
        let refused = mistake(&["list", "--pmu", "montecito", "--on", "qemu"]);
        assert_eq!(refused, "QEMU has no PMU of montecito: it has those of k8, knl and power9");
    }

    #[test]
    fn events_of_power9_have_unit_core_and_their_code() {
        let rows = json(&["list", "--pmu", "power9", "--unit", "core", "--format", "json"]);
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 1157);
        assert!(rows.iter().all(|row| row["unit"] == "core" && row["code"].is_u64() && row["umask"].is_null()));
        let cycles = rows.iter().find(|row| row["code"] == 0x100f0).unwrap();
        assert_eq!((&cycles["name"], &cycles["counters"]), (&"PM_CYC".into(), &serde_json::json!([1])));
        let anywhere = rows.iter().find(|row| row["code"] == 0xe880).unwrap();
        assert_eq!(anywhere["counters"], serde_json::json!([1, 2, 3, 4]));
    }

    #[test]
    fn events_of_the_nest_have_an_offset_and_no_code() {
        let rows = json(&["list", "--pmu", "power9", "--unit", "nest", "--format", "json"]);
        let rows = rows.as_array().unwrap();
        assert!(rows.iter().all(|row| row["offset"] == row["select"] && row["code"].is_null() && row["counters"] == serde_json::json!([])));
        assert_eq!(rows.iter().filter(|row| row["offset"].as_u64() < Some(0x1_0000)).count(), 149, "table 6-10");
        let clock: Vec<_> = rows.iter().filter(|row| row["name"] == "PM_PB_CYC").map(|row| (&row["offset"], &row["collection"])).collect();
        assert_eq!(clock, [(&0x80.into(), &"both".into()), (&0x1_0080.into(), &"both".into())]);
    }

    #[test]
    fn nothing_is_programmed_for_what_is_posted() {
        let encoded =
            json(&["encode", "--pmu", "power9", "--format", "json", "nest::PM_PB_CYC", "PM_INST_CMPL", "nest_mcs01_imc/event=0xd0/"]);
        assert_eq!((&encoded[0]["event"], &encoded[0]["writes"]), (&"nest_powerbus0_imc/event=0x80/".into(), &serde_json::json!([])));
        assert!(encoded[1]["writes"].as_array().is_some_and(|writes| !writes.is_empty()));
        assert_eq!(encoded[2]["event"], "nest_mcs01_imc/event=0xd0/");
    }

    #[test]
    fn alternatives_of_one_name_are_all_listed() {
        let rows = json(&["list", "--pmu", "power9", "--search", "PM_INST_CMPL", "--format", "json"]);
        let codes = rows.as_array().unwrap().iter().filter(|row| row["name"] == "PM_INST_CMPL").map(|row| row["code"].as_u64().unwrap());
        assert_eq!(codes.collect::<Vec<_>>(), [0x10002, 0x100fe, 0x20002, 0x30002, 0x40002]);
    }

    #[test]
    fn the_long_list_says_what_drives_an_event_that_no_signal_drives() {
        let long = |text: &str| shown(&["list", "--pmu", "power9", "--long", "--search", text]);
        assert!(long("PM_MRK_INST_CMPL").contains("Driven by the sampled instruction: it completed; reported by records."));
        assert!(long("PM_THRESH_MET").contains("Driven by the threshold was reached; reported by model."));
        assert!(long("PM_RUN_CYC").contains("Driven by cycles while CTRL[RUN] is 1; reported by"));
    }

    #[test]
    fn an_event_is_driven_by_what_drives_its_unit_masks() {
        let rows = json(&["list", "--search", "DATA_CACHE_REFILLS_FROM_SYSTEM", "--format", "json"]);
        assert_eq!(rows[0]["signals"].as_array().unwrap().len(), 5);
        assert_eq!(rows[2]["name"], "DATA_CACHE_REFILLS_FROM_SYSTEM.SHARED");
        assert_eq!(rows[2]["signals"], serde_json::json!(["data_cache_refills_system_shared"]));
    }

    #[test]
    fn the_long_list_says_what_reports_an_event() {
        let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let long = |text: &str| words(shown(&["list", "--long", "--search", text]));
        assert!(long("DATA_CACHE_MISSES").contains("reported by companion. Work begun on a wrong path"));
        assert!(long("CPU_CLK_UNHALTED").contains("reported by engine or companion."));
        assert!(long("data_cache_refills_system_invalid").contains("reported by embedder."));
    }

    #[test]
    fn what_the_tables_of_the_manual_lack_is_shown_on_request() {
        assert!(!shown(&["list"]).contains("L2_WRITEBACKS"));
        assert!(shown(&["list", "--all"]).contains("L2_WRITEBACKS"));
    }

    #[test]
    fn the_names_of_other_tools_are_found() {
        let aliases = |pmu: &str, name: &str| {
            let rows = json(&["list", "--pmu", pmu, "--format", "json"]);
            rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["aliases"].clone()
        };
        assert_eq!(aliases("power9", "PM_DTLB_MISS"), serde_json::json!(["dTLB-load-misses"]));
        let misses = aliases("knl", "L2_REQUESTS.MISS");
        for name in ["L2_REQUESTS.LLC_MISSES", "cache-misses", "LLC_MISSES"] {
            assert!(misses.as_array().unwrap().contains(&name.into()), "{misses}");
        }
        assert!(shown(&["list", "--pmu", "montecito", "--search", "cycles"]).contains("CPU_OP_CYCLES"));
    }

    #[test]
    fn csv_has_a_header_and_as_many_rows_as_json() {
        let text = shown(&["list", "--pmu", "k8", "--format", "csv"]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap(), &KEYS.to_vec());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().unwrap();
        assert_eq!(rows.len(), 87 + 123);
        let row = rows.iter().find(|row| &row[2] == "DATA_CACHE_REFILLS.L2_SHARED").unwrap();
        assert_eq!((&row[3], &row[4], &row[5], &row[7], &row[12]), ("66", "2", "", "0 1 2 3", "data_cache_refills_l2_shared"));
        assert!(rows.iter().any(|row| row[11].contains(',')), "some summary has a comma, and is quoted");
    }

    #[test]
    fn units_and_texts_narrow_the_list() {
        let of = |rows: Value, key: &str| rows.as_array().unwrap().iter().map(|row| row[key].clone()).collect::<Vec<_>>();
        let units = of(json(&["list", "--unit", "NB", "--format", "json"]), "unit");
        assert!(!units.is_empty() && units.iter().all(|unit| unit == "nb"));
        let names = of(json(&["list", "--search", "upstream_writes", "--format", "json"]), "name");
        assert_eq!(names, ["PROBE", "PROBE.UPSTREAM_WRITES"], "a unit mask comes with its event");
        assert_eq!(shown(&["list", "--search", "no such text"]), "no event matches\n");
        assert_eq!(shown(&["list", "--pmu", "k8", "--search", "cpu_clk_unhatled"]), "no event matches: did you mean CPU_CLK_UNHALTED?\n");
        assert_eq!(shown(&["list", "--search", "no such text", "--format", "json"]), "[]\n");
    }

    #[test]
    fn the_table_fits_in_a_hundred_columns() {
        for arguments in [&["list", "--all", "--long"][..], &["list"]] {
            for line in shown(arguments).lines() {
                assert!(line.chars().count() <= 100, "{line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }

    #[test]
    fn unknown_names_are_answered_with_what_there_is() {
        assert_eq!(mistake(&["list", "--pmu", "z80"]), "no PMU is called `z80`; there are k8, knl, power9, itanium and montecito");
        assert_eq!(mistake(&["list", "--pmu", "power8"]), "no PMU is called `power8`: did you mean power9?");
        assert_eq!(mistake(&["list", "--unit", "cores"]), "no unit is called `cores`: did you mean core or core-imc?");
    }
}

mod encode {
    use super::*;

    /// The writes that count an event: register and value.
    fn writes(arguments: &[&str]) -> Vec<(String, u64)> {
        writes_of("k8", arguments)
    }

    fn select(event: &str) -> u64 {
        writes(&[event])[0].1
    }

    #[test]
    fn selects_are_those_worked_out_by_hand() {
        // EN is bit 22, INV 23, INT 20, PC 19, E 18, OS 17, USR 16; CNT_MASK from bit 24, UNIT_MASK from bit 8.
        assert_eq!(select("CPU_CLK_UNHALTED:uk:int"), 0x53_0076);
        assert_eq!(select("cpu_clk_unhalted"), 0x43_0076);
        assert_eq!(select("0x76:u:int"), 0x51_0076);
        assert_eq!(select("DATA_CACHE_REFILLS:L2_SHARED"), 0x43_0242);
        assert_eq!(select("DATA_CACHE_REFILLS_FROM_SYSTEM:SHARED:MODIFIED:k"), 0x42_1243);
        assert_eq!(select("DATA_CACHE_REFILLS_FROM_SYSTEM.SHARED:u"), 0x41_0243);
        assert_eq!(select("DATA_CACHE_REFILLS:0x0a"), 0x43_0a42);
        assert_eq!(select("INTERRUPTS_MASKED_CYCLES:e"), 0x47_00cd);
        assert_eq!(select("RETIRED_UOPS:c=1:i:k"), 0x01c2_00c1);
        assert_eq!(select("RETIRED_UOPS:cmask=3:inv:edge:k:u"), 0x03c7_00c1);
        assert_eq!(select("RETIRED_UOPS:pc:noen:nouk"), 0x08_00c1);
        assert_eq!(select("DR0_BREAKPOINTS"), 0x43_00dc, "an alias");
    }

    #[test]
    fn without_unit_masks_all_that_the_revision_has_are_counted() {
        assert_eq!(select("DATA_CACHE_REFILLS"), 0x43_1f42);
        assert_eq!(select("L2_FILL_WRITEBACK"), 0x43_017f, "the unlisted unit mask is not among them");
        assert_eq!(writes(&["PROBE", "--revision", "C"])[0].1, 0x43_3fec);
        assert_eq!(writes(&["PROBE", "--revision", "d"])[0].1, 0x43_7fec);
        let text = shown(&["encode", "--pmu", "k8", "DATA_CACHE_REFILLS"]);
        assert!(text.contains("no unit mask was given: all 5 are set, 0x1f"), "{text}");
    }

    #[test]
    fn events_take_the_counters_in_order_and_a_period_comes_first() {
        let expected = [("PerfCtr0", 0xffff_ffff_ff9c), ("PerfEvtSel0", 0x53_0076), ("PerfEvtSel1", 0x43_00c0)];
        let expected = expected.map(|(register, value)| (register.to_owned(), value));
        assert_eq!(writes(&["CPU_CLK_UNHALTED:int:period=100", "RETIRED_INSTRUCTIONS"]), expected);
        assert_eq!(writes(&["0xc0:period=0xffff_ffff_ffff"])[0].1, 1);
    }

    #[test]
    fn the_table_names_the_register_its_address_and_its_fields() {
        let text = shown(&["encode", "--pmu", "k8", "CPU_CLK_UNHALTED:uk:int"]);
        let expected = "PerfEvtSel0 (MSR C001_0000h) = 0x530076\n    EVENT_SELECT=0x76 (CPU_CLK_UNHALTED), USR, OS, INT, EN\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn power9_is_stopped_set_up_and_started() {
        let encoded = json(&["encode", "--pmu", "power9", "--format", "json", "PM_INST_CMPL:u:int:period=1000", "PM_RUN_CYC"]);
        let encoded = encoded.as_array().unwrap();
        let writes: Vec<(&str, u64)> = encoded
            .iter()
            .flat_map(|event| event["writes"].as_array().unwrap())
            .map(|write| (write["register"].as_str().unwrap(), write["value"].as_u64().unwrap()))
            .collect();
        // FC; nothing sampled; PMC1SEL = 02h; FC1S and FC1H, bits 0 and 6; 80000000h - 1000; PMAE, FCECE and PMC1CE.
        let expected = [
            ("MMCR0", 0x8000_0000),
            ("MMCRA", 0),
            ("MMCR1", 0x0200_0000),
            ("MMCR2", 1 << 63 | 1 << 57),
            ("PMC1", 0x7fff_fc18),
            ("PMC6", 0),
            ("MMCR0", 0x0600_8000),
        ];
        assert_eq!(writes, expected);
        assert_eq!(encoded[0]["event"], "PM_INST_CMPL:pmc=1:u:int:period=1000");
        assert_eq!((&encoded[0]["counter"], &encoded[1]["counter"]), (&1.into(), &6.into()));
    }

    #[test]
    fn power9_samples_after_everything_else_is_set() {
        // Figure 5-2: MARK, SAMPLE 5 << 2 and THRESH_CTL 34h, THRESH_SEL 1 make MMCRA 13451h.
        let encoded = json(&["encode", "--pmu", "power9", "--format", "json", "0x34340401e0"]);
        let writes = encoded[0]["writes"].as_array().unwrap();
        let mmcra = writes.iter().filter(|write| write["register"] == "MMCRA").map(|write| write["value"].as_u64().unwrap());
        assert_eq!(mmcra.collect::<Vec<_>>(), [0x1_3450, 0x1_3451]);
        assert_eq!(writes.last().unwrap()["register"], "MMCRA");
    }

    #[test]
    fn an_event_of_several_codes_goes_where_the_others_leave_room() {
        let encoded = json(&["encode", "--pmu", "power9", "--format", "json", "PM_INST_CMPL", "PM_CYC:pmc=1", "PM_RUN_INST_CMPL"]);
        let counters: Vec<u64> = encoded.as_array().unwrap().iter().map(|event| event["counter"].as_u64().unwrap()).collect();
        assert_eq!(counters, [2, 1, 5]);
    }

    #[test]
    fn montecito_stands_still_while_it_is_set_up() {
        let writes = writes_of("montecito", &["IA64_INST_RETIRED:u:oi:period=1000", "CPU_OP_CYCLES.ALL:uk"]);
        let expected = [("PMC0", 1), ("PMD4", (1 << 47) - 1000), ("PMC4", 0x0200_0828), ("PMD5", 0), ("PMC5", 0x0200_1209), ("PMC0", 0)];
        assert_eq!(writes, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn a_range_of_code_takes_the_registers_that_drivers_write() {
        let event = "LOADS_RETIRED:u:code=0x4000000000001000+0x1000";
        let writes = writes_of("montecito", &[event]);
        let value = |name: &str| writes.iter().find(|(register, _)| register == name).map(|(_, value)| *value);
        assert_eq!(value("IBR0"), Some(0x4000_0000_0000_1000));
        assert_eq!(value("IBR1"), Some(0x08FF_FFFF_FFFF_F000));
        assert_eq!(value("PMC32"), Some(0x000F_01FF_FFFF_FFFF));
        assert_eq!(value("PMC38"), Some(0xDB4));
        assert_eq!(value("PMC41"), Some(0x2078_FEFE_FEEE));
        assert_eq!(value("PMC5"), Some(0x0200_CD08), "its set is that of PMC5");
    }

    #[test]
    fn states_of_lines_are_all_if_none_is_named() {
        let pmc = |event: &str| writes_of("montecito", &[event])[2].1;
        assert_eq!(pmc("L3_READS.ALL.ALL:u"), 0x7A0F_DD08);
        assert_eq!(pmc("L3_READS.ALL.ALL:u:mesi=M"), 0x420F_DD08);
    }

    #[test]
    fn what_montecito_cannot_count_is_one_line() {
        let mistake = |events: &[&str]| mistake(&[&["encode", "--pmu", "montecito"], events].concat());
        assert!(mistake(&["LOADS_RETIRED", "STORES_RETIRED"]).contains("cannot be counted together"));
        assert!(mistake(&["CPU_OP_CYCLES_HALTED:pmc=4"]).ends_with("it can in PMC10"));
        assert!(mistake(&["CPU_OP_CYCLES.ALL:code=0x1000+0x100:period=0"]).contains("is not a period"));
        assert!(mistake(&["L2D_OZQ_CANCELS0.RECIRC", "L2D_OZQ_CANCELS1.ANY"]).contains("cannot be counted together"));
    }

    #[test]
    fn the_first_itanium_sees_27_bits_of_an_encoding() {
        // Bits 26:13 are left out; bit 27 of the pattern is bit 13 of the 27, and they begin at bit 33 of the register.
        let event = "IA64_INST_RETIRED.PMC8:u:opcode=0x8000000/0x1fff7ffffff/m";
        let writes = writes_of("itanium", &[event]);
        let matcher = writes.iter().find(|(register, _)| register == "PMC8").map(|(_, value)| *value);
        assert_eq!(matcher, Some(1 << 63 | 1 << 46 | 0x07FF_DFFF << 3));
    }

    #[test]
    fn what_power9_cannot_count_is_one_line() {
        let of = |events: &[&str]| mistake(&[&["encode", "--pmu", "power9"], events].concat());
        assert!(of(&["PM_INST_COMPL"]).starts_with("power9 has no event `PM_INST_COMPL`: did you mean PM_INST_CMPL, "));
        assert!(of(&["PM_L2_ST"]).ends_with("of the L2 or L3 cache needs an event of its group at PMC4, such as 0x46880"));
        assert!(of(&["0x10002", "0x1001e"]).ends_with("both need PMC1; `--groups` spreads them"));
        assert_eq!(of(&["PM_INST_CMPL:pmc=5"]), "`PM_INST_CMPL` cannot be counted on PMC5; it can on PMC1, PMC2, PMC3, PMC4");
        assert!(of(&["PM_CYC:perod=5"]).contains("no modifier `perod=5`: did you mean period="));
        for wrong in ["0x7001e", "0x10000000000002", "PM_CYC:pmc=0", "PM_CYC:period=0", "PM_CYC:period=0x80000001", "PM_CYC::u", ":u"] {
            of(&[wrong]);
        }
    }

    #[test]
    fn mistakes_are_one_line_with_the_nearest_names() {
        let of = |events: &[&str]| mistake(&[&["encode", "--pmu", "k8"], events].concat());
        assert_eq!(of(&["CPU_CLK_UNHALTD"]), "k8 has no event `CPU_CLK_UNHALTD`: did you mean CPU_CLK_UNHALTED?");
        assert_eq!(of(&["DATA_CACHE_REFILLS:SHARED"]), "DATA_CACHE_REFILLS has no unit mask or modifier `SHARED`: did you mean L2_SHARED?");
        assert!(of(&["xyzzy"]).ends_with("`pmulab list --pmu k8` shows them"));
        assert_eq!(of(&["0x76", "0x76", "0x76", "0x76", "0x76"]), "5 events are too many: k8 has 4 counters; `--groups` spreads them");
        assert!(of(&["SIZED_BLOCKS", "--revision", "C"]).contains("came with revision D"));
        assert!(of(&["PROBE:UPSTREAM_WRITES", "--revision", "C"]).contains("came with revision D"));
        assert!(of(&["0x76", "--revision", "Z"]).contains("there are C, D and E"));
        for wrong in ["0x100", "0x76:0x100", "0x76:c=256", "0x76:period=0", "0x76:period=0x1000000000000", "0x76::k", ":k", "", "0x"] {
            of(&[wrong]);
        }
    }
}

mod decode {
    use super::*;

    #[test]
    fn a_select_is_said_field_by_field() {
        let decoded = json(&["decode", "--pmu", "k8", "perfevtsel0=0x530242", "--format", "json"]);
        let register = &decoded[0];
        assert_eq!(register["event"], "DATA_CACHE_REFILLS:L2_SHARED:uk:int");
        assert_eq!(register["address"], "msr:0xc0010000");
        let field = |name: &str| register["fields"].as_array().unwrap().iter().find(|field| field["name"] == name).unwrap();
        assert_eq!(field("EVENT_SELECT")["value"], 0x42);
        assert_eq!((&field("UNIT_MASK")["high"], &field("UNIT_MASK")["low"]), (&15.into(), &8.into()));
        assert_eq!(field("UNIT_MASK")["meaning"], "L2_SHARED");
        assert_eq!((&field("INT")["value"], &field("INV")["value"]), (&1.into(), &0.into()));
        assert_eq!(register["warnings"], serde_json::json!([]));
    }

    #[test]
    fn reserved_bits_that_are_set_are_flagged() {
        let text = shown(&["decode", "--pmu", "k8", "PerfEvtSel3=0x7300c0", "msr:0xc0010004=-3"]);
        assert!(text.contains("PerfEvtSel3 (MSR C001_0003h) = 0x7300c0   RETIRED_INSTRUCTIONS:uk:int\n"), "{text}");
        assert!(text.contains("reserved bit 21 is set: reads back as 0"), "{text}");
        assert!(text.contains("3 more until it overflows"), "{text}");
        assert!(text.contains("reserved bits 48-63 are set: read back as 0"), "{text}");
    }

    #[test]
    fn bits_of_power9_are_numbered_from_the_most_significant() {
        let text = shown(&["decode", "--pmu", "power9", "MMCR1=0xC000800040000000", "spr:787=0x7ffffff0", "MMCR0=0x80000000"]);
        assert!(text.contains("    0:3  PMC1UNIT      0xc  part of the event's code\n"), "{text}");
        assert!(text.contains("     16  DC_RLD_QUAL     1  reloads of the data cache count prefetches too\n"), "{text}");
        assert!(text.contains("  33:63  CTRDATA  0x7ffffff0  16 more until it is negative\n"), "{text}");
        assert!(text.contains("     32  FC         1  freeze counters\n"), "{text}");
        let decoded = json(&["decode", "--pmu", "power9", "UMMCR2=0x6000000000000000", "--format", "json"]);
        let field = &decoded[0]["fields"][0];
        assert_eq!((&field["name"], &field["bits"], &field["high"]), (&"C1".into(), &"0:8".into(), &63.into()));
        assert_eq!(field["meaning"], "FC1P: not in problem state with MSR[HV] = 1; FC1PC: as said");
        let reserved = shown(&["decode", "--pmu", "power9", "MMCRA=0x30000000000"]);
        assert!(reserved.contains("reserved bits 22-23 are set"), "{reserved}");
    }

    #[test]
    fn a_sampled_instruction_is_said_in_words() {
        // LDST 4 and DATA_SRC 3; A_XLATE_SRC 1; DERAT_MISS; ICACHE 2; TYPE 1.
        let value = 3u64 << 53 | 1 << 15 | 2 << 12 | 1 << 7 | 1 << 4 | 4 << 1 | 1;
        let decoded = json(&["decode", "--pmu", "power9", &format!("SIER={value:#x}"), "--format", "json"]);
        let meaning = |name: &str| {
            let fields = decoded[0]["fields"].as_array().unwrap();
            fields.iter().find(|field| field["name"] == name).unwrap()["meaning"].as_str().unwrap().to_owned()
        };
        let said = ["TYPE", "ICACHE", "LDST", "DATA_SRC", "A_XLATE_SRC"].map(meaning);
        assert_eq!(said, ["load", "the second level", "memory", "memory of a remote chip", "the TLB"]);
    }

    #[test]
    fn a_counter_of_montecito_is_said_field_by_field() {
        let text = shown(&["decode", "--pmu", "montecito", "PMC4=0x02000869", "PMC0=0x11", "PMC38=0xdb4"]);
        for part in
            ["IA64_INST_RETIRED.THIS:uk:pm:oi", "privilege levels 0 and 3", "PSR.pp is 1", "PMD4 has overflowed", "IBRP0 constrains"]
        {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        assert!(!text.contains("Reserved"), "the fixed bits of PMC38 are as they must be:\n{text}");
    }

    #[test]
    fn mistakes_are_one_line_with_the_nearest_names() {
        let of = |register: &str| mistake(&["decode", "--pmu", "k8", register]);
        assert_eq!(of("PerfCtrl0=1"), "k8 has no register `PerfCtrl0`: did you mean PerfCtr0, PerfCtr1 or PerfCtr2?");
        assert!(of("msr:0x10=1").starts_with("k8 has no register `msr:0x10`; there are PerfEvtSel0, "));
        assert_eq!(of("0xc0010000=1"), "k8 has no register `0xc0010000`: write an address as msr:0xc0010000");
        assert!(of("PerfCtr0").contains("is not REG=VALUE"));
        assert!(of("PerfCtr0=ten").contains("is not a 64-bit number"));
        assert_eq!(of("PerfEvtSel0=53007f"), "`53007f` is not a 64-bit number: did you mean 0x53007f?");
        assert!(of("msr:x=1").contains("is not an address"));
    }

    #[test]
    fn a_number_that_looks_like_hexadecimal_is_refused_where_it_is_no_count() {
        // 530,076 is 8169Ch.
        assert_eq!(
            mistake(&["decode", "--pmu", "k8", "PerfEvtSel0=530076"]),
            "`530076` has decimal digits alone, and PerfEvtSel0 has fields: did you mean PerfEvtSel0=0x530076? The decimal number is \
             PerfEvtSel0=0x8169c"
        );
        for plain in [&["k8", "PerfEvtSel0=64"][..], &["k8", "PerfCtr0=530076"], &["power9", "PMC1=530076"], &["montecito", "PMD4=530076"]]
        {
            let (pmu, value) = (plain[0], plain[1]);
            assert!(!shown(&["decode", "--pmu", pmu, value]).is_empty(), "{value}");
        }
    }
}

#[test]
fn a_command_line_that_makes_no_sense_has_status_2_and_help_has_0() {
    for arguments in [&["frobnicate"][..], &["run"], &["list", "--format", "xml"], &["encode", "--pmu", "k8"], &["decode"]] {
        assert_eq!(pmulab(arguments).status.code(), Some(2), "{arguments:?}");
    }
    for arguments in [&["--help"][..], &["--version"], &["encode", "--help"]] {
        assert_eq!(pmulab(arguments).status.code(), Some(0), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    use std::process::Stdio;
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("pmulab"))
        .args(["list", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_stack_of_cycles_of_the_demonstration_adds_up() {
    let text = shown(&[]);
    // Tenths of a percent, after the cause.
    let share = |line: &str| -> u64 {
        let (before, _) = line.split_once(" %").unwrap();
        before.rsplit(' ').next().unwrap().replace('.', "").parse().unwrap()
    };
    let (rows, rest) = text.split_once("counters do:").and_then(|(_, chart)| chart.split_once("together")).unwrap();
    let shares: Vec<u64> = rows.lines().filter(|line| line.contains('%')).map(share).collect();
    assert!(shares.len() > 5, "{rows}");
    assert_eq!(shares.iter().sum::<u64>(), 1000, "{rows}");
    assert!(rest.trim_start().starts_with("100.0 %"), "{rest}");
    // The guest loads from memory, and most of its cycles go there.
    assert!(rows.trim_start().lines().next().unwrap().ends_with("LSU_STALL_CPI"), "{rows}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
