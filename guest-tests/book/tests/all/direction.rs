//! Packages and modules know those that the architecture lists above them, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The layers of each package, lowest first, as the architecture lists them.
fn layers() -> Vec<(String, Vec<Vec<String>>)> {
    let text = fs::read_to_string(root().join("docs/src/architecture.md")).expect("the architecture is there");
    let (_, behind) = text.split_once("```text\narch\n").expect("the list of modules is there");
    let (list, _) = behind.split_once("```").expect("the list ends");
    let mut packages: Vec<(String, Vec<Vec<String>>)> = vec![("arch".to_owned(), Vec::new())];
    for line in list.lines() {
        match line.strip_prefix("  ") {
            Some(names) => {
                let names = names.split(' ').map(str::to_owned).collect();
                packages.last_mut().expect("a package").1.push(names);
            }
            None => packages.push((line.to_owned(), Vec::new())),
        }
    }
    packages
}

/// The files of Rust below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if path.ends_with("tests") => {}
            true => files.extend(sources(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

/// What a file says to the compiler: no comments, no unit tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source");
    // Tests in a file of their own are declared anywhere.
    let (code, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
    code.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The names behind each `crate::`, and those in its braces.
fn named(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, behind) in code.match_indices("crate::").map(|(at, found)| code.split_at(at + found.len())) {
        let word = |text: &str| text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect::<String>();
        match behind.strip_prefix('{') {
            None => {
                names.insert(word(behind));
            }
            Some(list) => {
                let (list, _) = list.split_once(';').expect("an import ends");
                names.extend(list.split(',').map(|name| word(name.trim())));
            }
        }
    }
    names
}

/// The module that a file of `source` belongs to; none for the root's.
fn module(file: &Path, source: &Path) -> Option<String> {
    let below = file.strip_prefix(source).expect("a file below");
    let first = below.iter().next()?.to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main"].contains(&name)).then(|| name.to_owned())
}

/// The packages in the order of the architecture's tables, each with its folder.
fn packages() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("docs/src/architecture.md")).expect("the architecture is there");
    let (tables, _) = text.split_once("```text\n").expect("the list of modules is behind the tables");
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| `vm-pmu")?.split_once("` | `"));
    rows.map(|(name, rest)| (format!("vm-pmu{name}"), rest.split('`').next().unwrap_or("").trim_end_matches('/').to_owned())).collect()
}

/// The packages of this project that a manifest depends on. Those of its tests are no layer: a package's tests may use one above it.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut is_dependency = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_dependency = line == "[dependencies]" || line.ends_with(".dependencies]");
        } else if is_dependency && line.starts_with("vm-pmu") {
            names.extend(line.split(['.', ' ', '=']).next());
        }
    }
    names
}

/// The dependencies on packages that are not before it in the tables.
fn against_the_tables<'a>(packages: &'a [(String, String)], manifest: impl Fn(&str) -> String) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut above: BTreeSet<&'a str> = BTreeSet::new();
    for (name, folder) in packages {
        let manifest = manifest(folder);
        let others = dependencies(&manifest).into_iter().filter(|other| !above.contains(other));
        wrong.extend(others.map(|other| format!("{name} depends on {other}, which the architecture does not list above it")));
        above.insert(name);
    }
    wrong
}

#[test]
fn packages_depend_on_those_above_them_in_the_architecture_and_no_others() {
    let packages = packages();
    let folders: Vec<&str> = packages.iter().map(|(_, folder)| folder.as_str()).collect();
    assert_eq!(folders[..4], ["arch", "device/companion", "device", "device/capi"]);
    let read = |folder: &str| fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
    assert_eq!(against_the_tables(&packages, read), [""; 0]);
}

#[test]
fn a_companion_that_depended_on_the_device_would_be_found() {
    let packages = packages();
    let planted = |folder: &str| match folder {
        "device/companion" => {
            "[dependencies]\nvm-pmu-arch.workspace = true\nvm-pmu = { workspace = true }\n[dev-dependencies]\nvm-pmu-lab = \"1\"\n"
        }
        _ => "",
    };
    let wrong = against_the_tables(&packages, |folder| planted(folder).to_owned());
    assert_eq!(wrong, ["vm-pmu-companion depends on vm-pmu, which the architecture does not list above it"]);
}

#[test]
fn modules_know_those_above_them_in_the_architecture_and_no_others() {
    let mut wrong = BTreeSet::new();
    for (package, layers) in layers() {
        let source = root().join(&package).join("src");
        let layer: BTreeMap<&str, usize> =
            layers.iter().enumerate().flat_map(|(number, names)| names.iter().map(move |name| (name.as_str(), number))).collect();
        for file in sources(&source) {
            let Some(own) = module(&file, &source) else { continue };
            let Some(at) = layer.get(own.as_str()) else {
                wrong.insert(format!("{package}: the architecture does not list `{own}`"));
                continue;
            };
            let known = named(&code(&file));
            for other in known.iter().filter(|other| **other != own) {
                if layer.get(other.as_str()).is_some_and(|layer| layer >= at) {
                    wrong
                        .insert(format!("{package}: `{own}` knows `{other}`, in {}", file.strip_prefix(root()).unwrap_or(&file).display()));
                }
            }
        }
        for name in layer.keys() {
            let there = [format!("{name}.rs"), format!("{name}/mod.rs")].iter().any(|file| source.join(file).exists());
            if !there {
                wrong.insert(format!("{package}: there is no `{name}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}
