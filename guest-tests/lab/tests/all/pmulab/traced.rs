//! Traces of a run.

use super::{json, mistake, shown};

fn overflow(arguments: &[&'static str]) -> Vec<&'static str> {
    [&["run", "--pmu", "k8", "--guest", "overflow"], arguments].concat()
}

/// What stands beside an access, and the line below it.
fn shown_of<'t>(text: &'t str, access: &str) -> (&'t str, &'t str) {
    let mut lines = text.lines().skip_while(|line| !line.contains(access));
    let (_, what) = lines.next().and_then(|line| line.split_once(access)).expect("the access is shown");
    (what.trim(), lines.next().expect("a line below").trim())
}

#[test]
fn a_write_shows_the_fields_that_it_changed() {
    let text = shown(&overflow(&["--trace", "2"]));
    // 5200C0h is event C0h with OS (bit 17), INT (20) and EN (22).
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, what) = words.split_once(" PerfEvtSel0 := 0x5200c0 ").expect("the access is shown");
    assert!(what.starts_with("RETIRED_INSTRUCTIONS:k:int; at main+0x"), "{text}");
    let (_, changes) = what.split_once(" EVENT_SELECT ").expect("its changes are shown");
    assert!(changes.starts_with("0x00 → 0xc0, OS 0 → 1, INT 0 → 1, EN 0 → 1 "), "{text}");
}

#[test]
fn json_has_the_values_before_and_after_and_the_changed_fields() {
    let trace = &json(&overflow(&["--trace", "2", "--format", "json"]))["trace"][1];
    assert_eq!((trace["before"].as_u64(), trace["value"].as_u64()), (Some(0), Some(0x5200C0)));
    let fields: Vec<&str> = trace["changed"].as_array().unwrap().iter().map(|change| change["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["EVENT_SELECT", "OS", "INT", "EN"]);
    assert_eq!((&trace["changed"][0]["before"], &trace["changed"][0]["after"]), (&0.into(), &0xC0.into()));
}

#[test]
fn registers_and_kinds_are_chosen() {
    let arguments = overflow(&["--trace", "3", "--trace-register", "perfctr0", "--trace-kind", "write", "--format", "json"]);
    let written = json(&arguments);
    let values: Vec<u64> = written["trace"].as_array().unwrap().iter().map(|entry| entry["value"].as_u64().unwrap()).collect();
    // It interrupts after 1, 2 and 3 instructions.
    assert_eq!(values, [1, 2, 3].map(u64::wrapping_neg));
}

#[test]
fn a_trace_ends_at_the_first_overflow() {
    let until = json(&overflow(&["--trace", "1000", "--trace-until", "overflow", "--format", "json"]));
    let actions: Vec<&str> = until["trace"].as_array().unwrap().iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["write", "write", "interrupt"]);
}

#[test]
fn what_cannot_be_chosen_is_a_mistake() {
    let said = mistake(&overflow(&["--trace", "5", "--trace-register", "PerfCtr0,PerfCtr9"]));
    assert!(said.starts_with("k8 has no register `PerfCtr9`: did you mean PerfCtr0, PerfCtr1 or PerfCtr2?"), "{said}");
    let said = mistake(&overflow(&["--trace-kind", "write"]));
    assert_eq!(said, "`--trace-kind` chooses from a trace: add `--trace COUNT` or `--trace-last COUNT`");
    let said = mistake(&overflow(&["--trace", "5", "--trace-thread", "1"]));
    assert_eq!(said, "overflow: there is no thread 1 to trace: the machine has thread 0 alone");
}

/// A run of a driver of Knights Landing's boxes, of which the IRP's registers are in configuration space.
fn uncore(arguments: &[&'static str]) -> Vec<&'static str> {
    [&["run", "--pmu", "knl", "--guest", "linux-uncore", "--trace-register", "irp"], arguments].concat()
}

#[test]
fn accesses_in_configuration_space_have_the_names_of_the_registers_there() {
    let text = shown(&uncore(&["--trace", "2"]));
    // The driver resets the box: bits 0 and 1, which read as zero, and 16.
    assert_eq!(shown_of(&text, "IRP_PCI_PMON_BOX_CTL := 0x10003 ").1, "rst_ctrl 0 → 1, rst_ctrs 0 → 1, frz_en 0 → 1");
    assert!(text.contains("IRP_PCI_PMON_BOX_CTL reads 0x10000 "), "{text}");
}

#[test]
fn a_box_stands_for_all_of_its_registers() {
    let traced = json(&uncore(&["--trace", "1000", "--format", "json"]));
    let entries = traced["trace"].as_array().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry["register"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| name.starts_with("IRP_PCI_PMON_")), "{names:?}");
    assert!(["IRP_PCI_PMON_BOX_CTL", "IRP_PCI_PMON_CTL1", "IRP_PCI_PMON_CTR1_LOW"].iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn registers_of_boxes_that_are_model_specific_have_names_too() {
    let arguments = ["run", "--pmu", "knl", "--guest", "linux-uncore", "--trace", "1", "--trace-register", "cha3"];
    assert!(shown(&arguments).contains("CHA3_MSR_PMON_BOX_CTL := 0x10003 "));
}
