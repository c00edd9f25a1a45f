//! Files name each other one way, within packages too: what a file takes from another, that one does not take from it, directly or by others.
//!
//! A folder's `mod.rs` is common to its files, which may name it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path within the package; empty for the root.
type Module = Vec<String>;

const PACKAGES: [&str; 11] = [
    "arch",
    "device",
    "device/capi",
    "device/companion",
    "fuzz/compare",
    "fuzz/reference",
    "guest-tests/board",
    "guest-tests/book",
    "guest-tests/engines",
    "guest-tests/guests",
    "guest-tests/lab",
];

/// The words and marks of a source, without comments, strings and what only tests have.
fn tokens(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let at = |place: usize| letters.get(place).copied().unwrap_or('\0');
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut tokens, mut place) = (Vec::new(), 0);
    while place < letters.len() {
        match (at(place), at(place + 1)) {
            ('/', '/') => place += letters[place..].iter().take_while(|letter| **letter != '\n').count(),
            ('/', '*') => {
                place += 2;
                while place < letters.len() && (at(place), at(place + 1)) != ('*', '/') {
                    place += 1;
                }
                place += 2;
            }
            ('"', _) => {
                place += 1;
                while place < letters.len() && at(place) != '"' {
                    place += if at(place) == '\\' { 2 } else { 1 };
                }
                place += 1;
            }
            ('r', '#') if at(place + 2) == '"' => {
                place += 3;
                while place < letters.len() && (at(place), at(place + 1)) != ('"', '#') {
                    place += 1;
                }
                place += 2;
            }
            // A letter in quotes; otherwise a lifetime.
            ('\'', '\\') => place += 3 + letters[place + 3..].iter().take_while(|letter| **letter != '\'').count() + 1,
            ('\'', _) if at(place + 2) == '\'' => place += 3,
            (':', ':') => {
                tokens.push("::".to_owned());
                place += 2;
            }
            (letter, _) if is_word(letter) => {
                let word: String = letters[place..].iter().take_while(|letter| is_word(**letter)).collect();
                place += word.chars().count();
                tokens.push(word);
            }
            (letter, _) => {
                if !letter.is_whitespace() {
                    tokens.push(letter.to_string());
                }
                place += 1;
            }
        }
    }
    without_tests(&tokens)
}

/// Leaves out every item behind `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut place) = (Vec::new(), 0);
    while place < tokens.len() {
        if !tokens[place..].iter().map(String::as_str).take(mark.len()).eq(mark) {
            kept.push(tokens[place].clone());
            place += 1;
            continue;
        }
        let mut depth = 0;
        while place < tokens.len() {
            let token = tokens[place].as_str();
            place += 1;
            match token {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(token, ";" | "}" | ",") {
                break;
            }
        }
    }
    kept
}

/// The paths of the tree of names behind `use`, up to its end; and where that is.
fn tree(tokens: &[String], mut place: usize, before: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(place) {
        place += 1;
        match token.as_str() {
            "{" => loop {
                place = tree(tokens, place, &path, paths);
                match tokens.get(place - 1).map(String::as_str) {
                    Some(",") => {}
                    _ => return place + 1,
                }
            },
            "," | "}" | ";" => break,
            "as" => place += 1,
            "::" => {}
            word => path.push(word.to_owned()),
        }
    }
    if path.len() > before.len() {
        paths.push(path);
    }
    place
}

/// What a file defines, what it hands on from others, and the paths that it names.
#[derive(Default)]
struct File {
    defined: BTreeSet<String>,
    handed_on: Vec<Vec<String>>,
    named: Vec<Vec<String>>,
}

fn read(text: &str) -> File {
    let tokens = tokens(text);
    let (mut file, mut place) = (File::default(), 0);
    while let Some(token) = tokens.get(place) {
        let before = place.checked_sub(1).and_then(|before| tokens.get(before)).map(String::as_str);
        match token.as_str() {
            "use" => {
                let is_public = matches!(before, Some("pub" | ")"));
                place = tree(&tokens, place + 1, &[], if is_public { &mut file.handed_on } else { &mut file.named });
                continue;
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "mod" | "macro_rules" => {
                file.defined.extend(tokens.get(place + 1).filter(|name| name.as_str() != "!").cloned());
                file.defined.extend(tokens.get(place + 2).filter(|_| token == "macro_rules").cloned());
            }
            "::" => {}
            _ if before != Some("::") && tokens.get(place + 1).is_some_and(|next| next == "::") => {
                let mut path = vec![token.clone()];
                while tokens.get(place + 1).is_some_and(|next| next == "::") {
                    path.extend(tokens.get(place + 2).cloned());
                    place += 2;
                }
                file.named.push(path);
            }
            _ => {}
        }
        place += 1;
    }
    file
}

/// The sources of a package, by module.
fn sources(folder: &Path, module: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name == "tests" {
            continue;
        }
        let mut inner = module.to_vec();
        if path.is_dir() {
            inner.push(name);
            sources(&path, &inner, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !["mod", "lib", "main"].contains(&name.as_str()) {
                inner.push(name);
            }
            found.insert(inner, fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// The files of a package and what they name of each other.
struct Package(BTreeMap<Module, File>);

impl Package {
    fn new(sources: &BTreeMap<Module, String>) -> Package {
        Package(sources.iter().map(|(module, text)| (module.clone(), read(text))).collect())
    }

    /// The path from the root, of one that `module` names.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut base = module.to_vec();
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => {}
            "super" => {
                let ups = path.iter().take_while(|word| *word == "super").count();
                base.truncate(base.len().checked_sub(ups)?);
                base.extend_from_slice(&path[ups..]);
                return Some(base);
            }
            _ => {
                base.push(first.clone());
                if !self.0.contains_key(&base) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The file that has the item at this path.
    fn file_of(&self, path: &[String], depth: usize) -> Option<Module> {
        let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, name) = (path[..length].to_vec(), path.get(length)?);
        let file = &self.0[&module];
        if depth < 5 && !file.defined.contains(name) {
            let handed = file.handed_on.iter().find(|handed| handed.last() == Some(name));
            if let Some(path) = handed.and_then(|handed| self.absolute(&module, handed)) {
                return self.file_of(&path, depth + 1).or(Some(module));
            }
        }
        Some(module)
    }

    /// The files that a file names, but for the faces of the folders that it is in.
    fn named_by(&self, module: &Module) -> BTreeSet<Module> {
        let paths = self.0[module].named.iter().filter_map(|path| self.absolute(module, path));
        paths.filter_map(|path| self.file_of(&path, 0)).filter(|other| !module.starts_with(other)).collect()
    }

    /// The files that name each other in a circle, for each circle.
    fn circles(&self) -> Vec<BTreeSet<Module>> {
        let named: BTreeMap<&Module, BTreeSet<Module>> = self.0.keys().map(|module| (module, self.named_by(module))).collect();
        let reached = |from: &Module| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(module) = open.pop() {
                open.extend(named[module].iter().filter(|other| reached.insert((*other).clone())));
            }
            reached
        };
        let reached: BTreeMap<&Module, BTreeSet<Module>> = self.0.keys().map(|module| (module, reached(module))).collect();
        let mut circles: Vec<BTreeSet<Module>> = Vec::new();
        for (module, others) in &reached {
            let circle: BTreeSet<Module> = others.iter().filter(|other| reached[other].contains(*module)).cloned().collect();
            if circle.len() > 1 && !circles.contains(&circle) {
                circles.push(circle);
            }
        }
        circles
    }
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = String::new();
    for package in PACKAGES {
        let mut files = BTreeMap::new();
        sources(&root.join(package).join("src"), &[], &mut files);
        for circle in Package::new(&files).circles() {
            let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
            found += &format!("{package}: {}\n", names.join(", "));
        }
    }
    assert!(found.is_empty(), "these files name each other in a circle:\n{found}");
}

fn package(files: &[(&str, &str)]) -> Package {
    let module = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Package::new(&files.iter().map(|(path, text)| (module(path), (*text).to_owned())).collect())
}

#[test]
fn a_planted_circle_is_found() {
    let planted = package(&[
        ("", "mod a; mod b; mod c; pub use c::Third;"),
        ("a", "use crate::b::{self, Second};\npub struct First(Second);"),
        ("b", "pub struct Second;\n#[cfg(test)]\nmod tests { use crate::a::First; }\nfn third() -> super::Third { todo!() }"),
        ("c", "/// Not [`crate::b::Second`].\npub struct Third(super::a::First);"),
    ]);
    let names: Vec<Vec<String>> = planted.circles().iter().map(|circle| circle.iter().map(|module| module.join("/")).collect()).collect();
    assert_eq!(names, [["a", "b", "c"]], "b names c by what the root hands on");
}

#[test]
fn what_only_tests_and_comments_name_is_no_circle() {
    let quiet = package(&[
        ("", "mod a; mod b;"),
        ("a", "#[cfg(test)]\nmod tests;\nuse crate::b::Second;\npub struct First(Second); const TEXT: &str = \"crate::a::First\";"),
        ("b", "//! Of [`crate::a::First`].\n#[cfg(test)]\nuse crate::a::First;\npub struct Second; // crate::a::First"),
    ]);
    assert!(quiet.circles().is_empty());
}

#[test]
fn files_may_name_the_face_of_their_folder() {
    let folder = package(&[
        ("", "mod a;"),
        ("a", "mod part; pub struct Whole(part::Part);"),
        ("a/part", "use super::Whole;\npub struct Part(Option<Box<Whole>>);"),
    ]);
    assert!(folder.circles().is_empty());
}
