//! The made pages of the book are those that the project's data makes now.

use std::fs;
use std::path::Path;

#[test]
fn the_made_pages_of_the_book_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = vm_pmu_book::pages(&root.join("../litmus"), &root.join("../../docs/pictures")).expect("suites and drawings can be read");
    for (name, text) in pages {
        let file = root.join("../../docs/src").join(&name);
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "{} is not current: `cargo run -p vm-pmu-book` writes it anew", name.display());
    }
}

#[test]
fn the_summary_has_every_page() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let summary = fs::read_to_string(pages.join("SUMMARY.md")).expect("the book has a summary");
    for entry in fs::read_dir(pages).expect("the book has pages") {
        let name = entry.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        let is_page = name.ends_with(".md") && name != "SUMMARY.md";
        assert!(!is_page || summary.contains(&format!("({name})")), "{name} is not in SUMMARY.md, so mdbook leaves it out");
    }
}
