//! The made pages of the book are those that the project's data makes now.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn the_made_pages_of_the_book_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let book = root.join("../../docs/src");
    let pages = vm_pmu_book::pages(&root.join("../litmus"), &root.join("../../docs/pictures"), &book).expect("their sources can be read");
    for (name, text) in pages {
        let file = book.join(&name);
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

/// The pages of the book, and what packages and folders say of themselves.
fn read_on_the_web() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = ["README.md", "arch/README.md", "device/README.md", "device/capi/README.md", "CONTRIBUTING.md"];
    let pages = fs::read_dir(root.join("docs/src")).expect("the book has pages").map(|entry| entry.expect("it can be read").path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let files = own.into_iter().map(|name| root.join(name)).chain(pages);
    files.map(|file| (file.clone(), fs::read_to_string(&file).expect("it can be read"))).collect()
}

#[test]
fn pages_are_complete_without_mdbook() {
    for (file, text) in read_on_the_web() {
        assert!(!text.contains("{{#"), "{} takes something in: let it quote the file", file.display());
    }
}

#[test]
fn programs_are_shown_with_every_line() {
    for (file, text) in read_on_the_web() {
        for program in text.split("```rust").skip(1).filter_map(|rest| rest.split("\n```").next()) {
            let hidden = program.lines().find(|line| line.trim_start() == "#" || line.trim_start().starts_with("# "));
            assert_eq!(hidden, None, "{}", file.display());
        }
    }
}
