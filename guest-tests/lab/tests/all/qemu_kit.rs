//! The book's chapter on QEMU names every place of the kit in `device/qemu`, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The entry in the first column of each row of the table under a heading of the chapter.
fn table(heading: &str) -> BTreeSet<String> {
    let chapter = fs::read_to_string(root().join("docs/src/attach-qemu.md")).expect("the chapter is there");
    let section = chapter.split_once(heading).expect("the chapter has the section").1;
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).expect("a path in code").to_owned()).collect()
}

/// The files below a folder, as paths in QEMU's tree.
fn below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = format!("{prefix}{}", path.file_name().expect("it has a name").to_string_lossy());
        if path.is_dir() {
            below(&path, &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

/// The files of the bridge, as the kit puts them into QEMU's tree.
fn bridge() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    below(&root().join("device/capi/bridge"), "", &mut names);
    let folder = |name: &String| if name.ends_with(".h") { "include/accel/tcg" } else { "accel/tcg" };
    names.iter().map(|name| format!("{}/{name}", folder(name))).collect()
}

#[test]
fn the_chapter_names_the_files_that_fragments_are_put_into() {
    let mut files = BTreeSet::new();
    let mut lists = BTreeSet::new();
    below(&root().join("device/qemu/fragments"), "", &mut lists);
    for name in lists {
        let fragments = fs::read_to_string(root().join("device/qemu/fragments").join(name)).expect("it is there");
        // A file, or a list of them where versions differ.
        let named = fragments.lines().filter_map(|line| line.strip_prefix("file = ")).flat_map(|value| value.split('"').skip(1).step_by(2));
        files.extend(named.map(str::to_owned));
    }
    assert_eq!(table("### Fragments in QEMU's files\n"), files);
}

#[test]
fn the_chapter_names_the_files_that_the_kit_adds() {
    let mut files = bridge();
    below(&root().join("device/qemu/source"), "", &mut files);
    assert_eq!(table("### Files of the kit\n"), files);
}
