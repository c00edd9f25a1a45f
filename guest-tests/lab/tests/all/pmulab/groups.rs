//! Events that cannot be counted together: the reason, and groups.

use serde_json::Value;

use super::{json, mistake, shown};

/// The events of each group, as they were asked for.
fn groups(pmu: &str, events: &[&str]) -> Vec<Vec<String>> {
    let all = json(&[&["encode", "--pmu", pmu, "--format", "json", "--groups"], events].concat());
    let asked =
        |group: &Value| group["events"].as_array().unwrap().iter().map(|event| event["asked"].as_str().unwrap().to_owned()).collect();
    all.as_array().unwrap().iter().map(asked).collect()
}

#[test]
fn events_that_need_one_counter_are_named_with_it() {
    // The upper digit of a code of POWER9 is its counter: 10002h and 1001Eh are of PMC1.
    assert_eq!(
        mistake(&["encode", "--pmu", "power9", "0x30012", "0x10002", "0x1001e"]),
        "0x10002 and 0x1001e both need PMC1; `--groups` spreads them"
    );
    for pmu in ["itanium", "montecito"] {
        let line = mistake(&["encode", "--pmu", pmu, "0x12:pmc=4", "0x08:pmc=4"]);
        assert!(line.ends_with(" both need PMC4; `--groups` spreads them"), "{line}");
    }
    let line = mistake(&["encode", "--pmu", "knl", "0xc0:pmc=0", "0xc4:pmc=0"]);
    assert!(line.ends_with(" both need counter 0; `--groups` spreads them"), "{line}");
}

#[test]
fn an_event_is_in_the_first_group_that_takes_it() {
    // PMC1, PMC1, PMC3, PMC3, PMC2: the second of each counter is apart.
    let expected = [vec!["0x10002", "0x30012", "0x20010"], vec!["0x1001e", "0x30004"]];
    assert_eq!(groups("power9", &["0x10002", "0x1001e", "0x30012", "0x30004", "0x20010"]), expected);
    // Four counters.
    assert_eq!(groups("k8", &["0x76", "0xc0", "0xc1", "0xc2", "0xc4"]), [vec!["0x76", "0xc0", "0xc1", "0xc2"], vec!["0xc4"]]);
    // Two general counters, and the fixed ones of their own.
    let events = ["0xc0", "BR_INST_RETIRED.CALL", "BR_INST_RETIRED.JCC", "INST_RETIRED.ANY"];
    let expected = [vec!["0xc0", "BR_INST_RETIRED.CALL", "INST_RETIRED.ANY"], vec!["BR_INST_RETIRED.JCC"]];
    assert_eq!(groups("knl", &events), expected);
    for pmu in ["itanium", "montecito"] {
        // Cycles and instructions, both on PMC4.
        let events = ["0x12:pmc=4", "0x08:pmc=4", "NOPS_RETIRED"];
        assert_eq!(groups(pmu, &events), [vec![events[0], events[2]], vec![events[1]]], "{pmu}");
    }
}

#[test]
fn an_event_that_needs_another_beside_it_is_put_there() {
    // POWER9 PMU UG 5.16: an event of the L2 needs one of its group at PMC4; 16880h and 46880h are of one group.
    assert_eq!(groups("power9", &["0x16880", "0x20010", "0x46880"]), [vec!["0x16880", "0x20010", "0x46880"]]);
}

#[test]
fn alerts_by_interrupt_and_by_branch_are_apart() {
    // P25: with MMCR0[EBE] there is never an interrupt.
    assert_eq!(
        mistake(&["encode", "--pmu", "power9", "PM_CYC:int:ebb"]),
        "`int` and `ebb` exclude each other: MMCR0[EBE] makes every alert a branch"
    );
    assert_eq!(
        mistake(&["encode", "--pmu", "power9", "0x20010:int", "0x30012:ebb"]),
        "`0x20010:int` and `0x30012:ebb` exclude each other: MMCR0[EBE] makes every alert a branch; `--groups` spreads them"
    );
    assert_eq!(groups("power9", &["0x20010:int", "0x30012:ebb"]), [vec!["0x20010:int"], vec!["0x30012:ebb"]]);
}

#[test]
fn each_group_has_its_writes_and_its_reason() {
    let text = shown(&["encode", "--pmu", "power9", "--groups", "0x10002", "0x1001e"]);
    assert!(text.starts_with("Group 1 of 2: 0x10002\n\nMMCR0 (SPR 795) = 0x80000000\n"), "{text}");
    assert!(text.contains("\n\nGroup 2 of 2: 0x1001e\n  (0x10002 and 0x1001e both need PMC1)\n\nMMCR0 (SPR 795) = 0x80000000\n"), "{text}");
    let one = shown(&["encode", "--pmu", "k8", "--groups", "0x76"]);
    assert!(one.starts_with("Group 1 of 1: 0x76\n\nPerfEvtSel0 "), "{one}");
}

#[test]
fn an_event_that_cannot_be_counted_alone_is_no_matter_of_groups() {
    assert!(!mistake(&["encode", "--pmu", "k8", "0x76", "CPU_CLK_UNHALTD"]).contains("--groups"));
    assert!(mistake(&["encode", "--pmu", "k8", "--groups", "0x76", "CPU_CLK_UNHALTD"]).ends_with("did you mean CPU_CLK_UNHALTED?"));
}

#[test]
fn a_letter_twice_and_a_code_without_its_0x_are_refused() {
    for pmu in ["k8", "knl", "power9", "itanium", "montecito"] {
        let event = if pmu == "power9" { "0x1001e:kk" } else { "0x12:kk" };
        assert!(mistake(&["encode", "--pmu", pmu, event]).ends_with("`kk` has a letter twice: did you mean k?"), "{pmu}");
        assert!(mistake(&["encode", "--pmu", pmu, "1001e"]).ends_with("has no event `1001e`: a code is written as 0x1001e"), "{pmu}");
    }
}
