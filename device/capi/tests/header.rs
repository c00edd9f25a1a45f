//! The checked-in files of the header are those generated from the sources.

#[path = "../header/mod.rs"]
mod header;

use header::PIECES;

#[test]
fn the_header_has_no_marks_of_rustdoc() {
    for piece in PIECES {
        let made = piece.text().expect("the header can be made");
        for mark in ["# Safety", "# Errors", "# Panics", "\\[", "[`", "```"] {
            let line = made.lines().find(|line| line.contains(mark));
            assert_eq!(line, None, "{}.h: {mark}", piece.name);
        }
    }
}

#[test]
fn the_header_is_that_of_the_sources() {
    for piece in PIECES {
        let made = piece.text().expect("the header can be made");
        let kept = std::fs::read_to_string(piece.place()).expect("the header is checked in");
        let first = made.lines().zip(kept.lines()).enumerate().find(|(_, (made, kept))| made != kept);
        let (name, hint) = (piece.name, "if the interface was changed on purpose: cargo run -p vm-pmu-capi --example header");
        assert!(first.is_none(), "{name}.h differs from its sources: {first:?}; {hint}");
        assert_eq!(made.lines().count(), kept.lines().count(), "{name}.h and its sources differ in length; {hint}");
    }
}
