//! What words mean.

use serde_json::Value;

use super::{json, mistake, shown};

fn meanings(arguments: &[&str]) -> Vec<Value> {
    let all = json(&[&["explain", "--format", "json"], arguments].concat());
    all.as_array().unwrap().iter().flat_map(|word| word["meanings"].as_array().unwrap().clone()).collect()
}

/// The PMUs and names of what a word means, of one kind.
fn named(kind: &str, word: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    meanings(&[word]).iter().filter(|one| one["kind"] == kind).map(|one| (text(&one["pmu"]), text(&one["name"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(pmu, name)| ((*pmu).to_owned(), (*name).to_owned())).collect()
}

#[test]
fn a_register_has_its_fields_access_section_and_tests() {
    // AMD BKDG 10.2: bit 22 is EN, 31-24 CNT_MASK; RDMSR and WRMSR are for level 0.
    let register = &meanings(&["PerfEvtSel0"])[0];
    assert_eq!((&register["address"], &register["section"]), (&"msr:0xc0010000".into(), &"AMD BKDG 10.2".into()));
    let fields = register["fields"].as_array().unwrap();
    let bits = |name: &str| fields.iter().find(|field| field["name"] == name).map(|field| field["bits"].clone());
    assert_eq!((bits("EN"), bits("CNT_MASK")), (Some("22".into()), Some("31..24".into())));
    let access: Vec<&Value> = register["access"].as_array().unwrap().iter().map(|access| &access["write"]).collect();
    assert_eq!(access, [&Value::from("allowed"), &Value::from("#GP")]);
    assert!(register["litmus"].as_array().unwrap().iter().any(|file| file["file"] == "k8/clearing-en-takes-no-request-back.litmus"));
}

#[test]
fn a_register_is_found_by_its_address_too() {
    assert_eq!(named("register", "msr:0xc1"), pairs(&[("knl", "IA32_PMC0")]));
    assert_eq!(named("register", "795"), pairs(&[("power9", "MMCR0")]));
    assert_eq!(named("register", "pmd4"), pairs(&[("itanium", "PMD4"), ("montecito", "PMD4")]));
    assert_eq!(named("register", "PMC9"), pairs(&[("itanium", "PMC9"), ("montecito", "PMC9")]));
}

#[test]
fn a_field_is_found_as_drivers_write_it() {
    // POWER9 PMU UG appendix A.3: bit 59 of MMCR0, counted from the most significant, freezes PMC5 and PMC6.
    for word in ["FC56", "FC5-6", "MMCR0.FC56", "MMCR0[FC5-6]"] {
        let field = &meanings(&[word])[0];
        assert_eq!((&field["kind"], &field["name"], &field["bits"]), (&"field".into(), &"FC5-6".into(), &"59".into()), "{word}");
        assert_eq!(field["mask"], "0x10", "{word}");
    }
}

#[test]
fn an_event_is_found_by_code_and_by_the_names_of_tools() {
    // POWER9 PMU UG 5.13: 1001Eh is PM_CYC on PMC1.
    assert_eq!(named("event", "0x1001e"), pairs(&[("power9", "PM_CYC")]));
    assert_eq!(named("event", "r1001e"), pairs(&[("power9", "PM_CYC")]));
    // What the parts' drivers in Linux count for it; libpfm4 for the IA-64 parts.
    let cycles = [
        ("k8", "CPU_CLK_UNHALTED"),
        ("knl", "CPU_CLK_UNHALTED.THREAD"),
        ("power9", "PM_CYC"),
        ("itanium", "CPU_CYCLES"),
        ("montecito", "CPU_OP_CYCLES.ALL"),
    ];
    assert_eq!(named("event", "cycles"), pairs(&cycles));
    assert_eq!(named("event", "PM_LD_MISS_L1"), pairs(&[("power9", "PM_LD_MISS_L1")]));
    assert_eq!(named("event", "INST_RETIRED.ANY"), pairs(&[("knl", "INST_RETIRED.ANY")]));
}

#[test]
fn an_event_says_what_drives_and_qualifies_it() {
    let event = &meanings(&["--pmu", "k8", "CPU_CLK_UNHALTED"])[0];
    assert_eq!(event["signals"], serde_json::json!(["cycles"]));
    assert_eq!(event["modifiers"], "u, k, e, i, c=N, int, pc, noen, period=N");
    assert_eq!((&event["names"], &event["perf"]), (&serde_json::json!(["cycles"]), &"r0076".into()));
    assert_eq!((&event["section"], &event["fidelity"]), (&"AMD BKDG 10.2.1.6".into(), &"exact".into()));
}

#[test]
fn a_signal_has_what_it_drives_on_each_pmu() {
    let all = meanings(&["loads"]);
    let signal = all.iter().find(|one| one["kind"] == "signal").unwrap();
    let drives = signal["drives"].as_array().unwrap();
    let of = |pmu: &str| drives.iter().find(|driven| driven["pmu"] == pmu).map(|driven| driven["events"].clone());
    assert_eq!((of("k8"), of("itanium")), (None, Some(serde_json::json!(["LOADS_RETIRED"]))));
}

#[test]
fn the_value_of_a_select_leads_to_what_it_selects() {
    // 530076h: event 76h, USR, OS, INT, EN. Knights Landing has no event 76h.
    let all = meanings(&["0x530076"]);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((&all[0]["register"], &all[0]["selects"]), (&"PerfEvtSel0".into(), &"CPU_CLK_UNHALTED:uk:int".into()));
}

#[test]
fn many_meanings_have_a_line_each() {
    let text = shown(&["explain", "cycles"]);
    assert!(text.starts_with("`cycles` has 6 meanings:\n  CPU_CLK_UNHALTED: an event of k8 (core), 0x76\n"), "{text}");
    assert!(text.contains("\n  cycles: a signal, number 0\n"), "{text}");
}

#[test]
fn a_word_without_a_meaning_is_answered_by_the_nearest() {
    assert!(mistake(&["explain", "PM_LD_MISS_L2"]).contains(": did you mean PM_LD_MISS_L1"));
    assert!(mistake(&["explain", "530076"]).ends_with("`530076`: did you mean 0x530076?"));
    assert_eq!(mistake(&["explain", "MMCR0=4"]), "`MMCR0=4` is a register and its value: write `pmulab decode --pmu PMU MMCR0=4`");
}

#[test]
fn events_and_unit_masks_of_every_part_are_explained() {
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let rows = json(&["list", "--pmu", pmu, "--format", "json"]);
        let names: Vec<&str> = rows.as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).step_by(7).collect();
        let found = json(&[&["explain", "--pmu", pmu, "--format", "json"], names.as_slice()].concat());
        for (word, name) in found.as_array().unwrap().iter().zip(names) {
            assert!(word["meanings"].as_array().unwrap().iter().any(|one| one["name"] == name), "{pmu}: {name}");
        }
    }
}

#[test]
fn what_a_chip_posts_has_its_offsets_and_its_litmus_files() {
    // Table 6-10 of the guide: PM_PB_CYC is posted at 80h, and in the flexible mode 10000h further.
    let event = &meanings(&["PM_PB_CYC"])[0];
    assert_eq!((&event["codes"][0]["code"], &event["codes"][1]["code"]), (&0x80.into(), &0x1_0080.into()));
    let text = shown(&["explain", "PM_PB_CYC"]);
    assert!(text.contains("\n  posted at   0x80, 0x10080\n") && !text.contains("counted by"), "{text}");
}

#[test]
fn a_bit_within_a_field_is_found_by_the_name_that_decode_prints() {
    // POWER9 PMU UG appendix A.5: FC4H is the seventh of the nine bits of PMC4, which begin at bit 27 of MMCR2: bit 33, counted from the
    // most significant. FC1S is bit 0.
    for (word, bits, mask) in [("FC4H", "33", "0x40000000"), ("FC1S", "0", "0x8000000000000000"), ("FC6TA", "53", "0x400")] {
        let field = &meanings(&[word])[0];
        assert_eq!((&field["name"], &field["bits"], &field["mask"]), (&word.into(), &bits.into(), &mask.into()), "{word}");
        assert_eq!(field["registers"], serde_json::json!(["MMCR2", "UMMCR2"]), "{word}");
    }
    assert_eq!(meanings(&["FC4H"])[0]["set"], "FC4H: not in hypervisor state");
    assert!(mistake(&["explain", "FC4Q"]).contains("did you mean FC4"));
}

#[test]
fn every_field_that_decode_prints_is_explained() {
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let part = vm_pmu::Part::named(pmu).unwrap();
        let registers = vm_pmu_lab::dialect::select::registers(part);
        let values: Vec<String> = registers.iter().map(|register| format!("{}=0xffffffffffffffff", register.name)).collect();
        let decoded =
            json(&[&["decode", "--pmu", pmu, "--format", "json"], &values.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
        let fields = decoded.as_array().unwrap().iter().flat_map(|register| register["fields"].as_array().unwrap());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let shown = fields.filter(|field| field["reserved"] == false);
        // POWER9 says of the bits within a field `NAME: MEANING; ...`.
        let within = |field: &Value| -> Vec<String> {
            let said = text(&field["meaning"]);
            let is_name = |word: &&str| word.starts_with("FC") && word.chars().all(|letter| letter.is_ascii_alphanumeric());
            said.split("; ").filter_map(|part| part.split_once(": ")).map(|(name, _)| name).filter(is_name).map(str::to_owned).collect()
        };
        let names: std::collections::BTreeSet<String> =
            shown.flat_map(|field| [vec![text(&field["name"])], within(field)].concat()).collect();
        if pmu == "power9" {
            assert!(names.contains("FC1P") && names.contains("FC6TA"), "{names:?}");
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let explained = json(&[&["explain", "--pmu", pmu, "--format", "json"], &names[..]].concat());
        for word in explained.as_array().unwrap() {
            assert!(word["meanings"].as_array().unwrap().iter().any(|one| one["kind"] == "field"), "{pmu}: {}", word["word"]);
        }
    }
}
