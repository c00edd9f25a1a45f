//! What of each part is tested.

use super::{json, mistake, shown};

#[test]
fn every_part_has_rules_registers_fields_events_and_sections() {
    let all = json(&["conformance", "--format", "json"]);
    let all = all.as_array().unwrap();
    let names: Vec<&str> = all.iter().filter_map(|one| one["pmu"].as_str()).collect();
    assert_eq!(names, ["k8", "knl", "power9", "itanium", "montecito"]);
    for one in all {
        let number = |key: &str, what: &str| one[key][what].as_u64().unwrap();
        let words: u64 = ["exact", "approximate", "embedder", "injected"].iter().map(|word| number("fidelity", word)).sum();
        assert_eq!(words, number("selected", "all"), "{}", one["pmu"]);
        for key in ["registers", "fields", "selected"] {
            assert!(0 < number(key, "covered") && number(key, "covered") <= number(key, "all"), "{} {key}", one["pmu"]);
        }
        assert!(!one["rules"].as_array().unwrap().is_empty() && !one["sections"].as_array().unwrap().is_empty());
        assert_eq!(one["not_modelled"]["injected"].as_array().unwrap().len() as u64, number("fidelity", "injected"));
    }
}

#[test]
fn each_program_of_a_litmus_file_is_one_rule() {
    let all = json(&["conformance", "--format", "json"]);
    let rules = |one: &serde_json::Value| -> usize {
        one["rules"].as_array().unwrap().iter().map(|cited| cited["rules"].as_array().unwrap().len()).sum()
    };
    let counted: usize = all.as_array().unwrap().iter().map(rules).sum();
    let programs = |(_, text)| vm_pmu::litmus::Case::of_file(text).unwrap().len();
    assert_eq!(counted, vm_pmu_lab::suite::texts().map(programs).sum::<usize>());
}

#[test]
fn one_part_is_shown_with_its_sections() {
    let text = shown(&["conformance", "--pmu", "k8"]);
    // AMD BKDG 10.2: four PerfEvtSel and four PerfCtr.
    assert!(text.contains("\n  registers    8 of 8 accessed\n"), "{text}");
    assert!(text.contains("\n  10.2.1.6 "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(mistake(&["conformance", "--pmu", "k9"]).starts_with("no PMU is called `k9`"));
}
