//! The checked-in header is the one generated from the sources.

#[path = "../header/mod.rs"]
mod header;

#[test]
fn the_header_has_no_marks_of_rustdoc() {
    let made = header::header().expect("the header can be made");
    for mark in ["# Safety", "# Errors", "# Panics", "\\[", "[`", "```"] {
        let line = made.lines().find(|line| line.contains(mark));
        assert_eq!(line, None, "{mark}");
    }
}

#[test]
fn the_header_is_that_of_the_sources() {
    let made = header::header().expect("the header can be made");
    let kept = std::fs::read_to_string(header::place()).expect("the header is checked in");
    let first = made.lines().zip(kept.lines()).enumerate().find(|(_, (made, kept))| made != kept);
    let hint = "if the interface was changed on purpose: cargo run -p vm-pmu-capi --example header";
    assert!(first.is_none(), "vm_pmu.h differs from its sources: {first:?}; {hint}");
    assert_eq!(made.lines().count(), kept.lines().count(), "vm_pmu.h and its sources differ in length; {hint}");
}
