//! The book lists every file that masks an index of a guest, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Whether the file calls one of the functions that make an index valid.
fn masks(text: &str) -> bool {
    let imports = |line: &&str| line.contains("access::");
    let names = ["chosen", "chosen_mut", "masked"];
    let is_name = |word: &str| names.contains(&word.trim());
    text.lines().filter(imports).any(|line| line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(is_name))
}

#[test]
fn the_book_lists_the_files_that_mask_indices_of_guests() {
    let page = fs::read_to_string(root().join("docs/src/worst-cases.md")).expect("the page");
    let (_, list) = page.split_once("## Indices that a guest chooses").expect("the list");
    let cells = list.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = cells.map(str::to_owned).collect();
    let files = ["arch/src", "device/companion/src", "device/src"].into_iter().flat_map(|folder| sources(&root().join(folder)));
    let masking = files.filter(|file| !file.ends_with("access/index.rs") && masks(&fs::read_to_string(file).expect("a source")));
    let shown = |file: PathBuf| file.strip_prefix(root()).expect("a file below").display().to_string();
    assert_eq!(masking.map(shown).collect::<BTreeSet<String>>(), listed);
}
