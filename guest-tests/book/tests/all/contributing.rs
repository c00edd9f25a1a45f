//! What `CONTRIBUTING.md` points at is there.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text() -> String {
    fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the page is there")
}

/// Words of placeholders.
const PLACEHOLDERS: [&str; 1] = ["NAME"];
/// What a command makes that the page names: a clean checkout does not have it.
const BUILT: [&str; 1] = ["docs/book"];

#[test]
fn its_paths_are_there() {
    let text = text();
    let quoted = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let linked = text.split("](").skip(1).filter_map(|behind| behind.split([')', '#']).next());
    let is_path =
        |word: &&str| word.contains('/') && !word.contains(' ') && !PLACEHOLDERS.iter().any(|placeholder| word.contains(placeholder));
    let is_built = |path: &&str| BUILT.contains(&path.trim_end_matches('/'));
    let missing: Vec<&str> = quoted.chain(linked).filter(is_path).filter(|path| !is_built(path) && !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The first block of code of this language.
fn example(language: &str) -> String {
    let text = text();
    let (_, behind) = text.split_once(&format!("```{language}\n")).expect("an example of it");
    behind.split("```").next().unwrap_or_default().to_owned()
}

#[test]
fn its_entry_of_an_event_is_one_of_the_k8() {
    let events = fs::read_to_string(root().join("arch/events/k8.toml")).expect("the events are there");
    assert!(events.contains(&example("toml")));
}

#[test]
fn its_litmus_file_comes_true() {
    let litmus: vm_pmu::litmus::Litmus = example("text").parse().expect("a litmus file");
    litmus.run().expect("it comes true");
}
