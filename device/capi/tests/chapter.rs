//! The program of the book's chapter compiles and does what it says.

mod headers;
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use headers::headers;
use support::{is_there, libraries, root, succeed};

fn chapter() -> String {
    std::fs::read_to_string(root().join("../../docs/src/c-interface.md")).expect("the chapter is there")
}

#[test]
fn the_program_of_the_chapter_runs() {
    if !is_there("cc", "the_program_of_the_chapter_runs") {
        return;
    }
    let chapter = chapter();
    let (_, rest) = chapter.split_once("```c\n").expect("the chapter has a program");
    let (program, _) = rest.split_once("```").expect("the program ends");
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chapter.c");
    std::fs::write(&place, program).expect("a file for the compiler can be written");
    // Linked by its file, so that the shared library may be anywhere.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chapter");
    std::fs::create_dir_all(&folder).expect("a folder for the library can be made");
    std::fs::copy(libraries().join("libvm_pmu_capi.so"), folder.join("libvm_pmu.so.0")).expect("the library can be copied");
    let binary = place.with_extension("run");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(root().join("include"))
        .arg(&place)
        .arg(folder.join("libvm_pmu.so.0"));
    succeed(compiler.arg("-o").arg(&binary));
    let output = succeed(Command::new(&binary).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(output.stdout, b"3\n");
}

/// The names in a text that begin as those of the interface do.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').filter(|word| word.starts_with("vm_pmu_"))
}

#[test]
fn the_functions_that_the_chapter_calls_inline_are_those_that_are() {
    let header = headers().concat();
    let inline: BTreeSet<&str> =
        header.lines().filter(|line| line.starts_with("static inline ")).filter_map(|line| names(line).next()).collect();
    let chapter = chapter();
    let called: BTreeSet<&str> = chapter.lines().filter_map(|line| line.split_once("inline: ")).flat_map(|(_, list)| names(list)).collect();
    assert_eq!(called, inline);
}

#[test]
fn the_functions_that_the_chapter_names_are_in_the_header() {
    let header = headers().concat();
    let known: BTreeSet<&str> = names(&header).collect();
    let chapter = chapter().replace("_...", "...");
    let is_begun = |name: &str| chapter.contains(&format!("{name}...")) && known.iter().any(|full| full.starts_with(name));
    let missing: Vec<&str> = names(&chapter).filter(|name| !known.contains(name) && !is_begun(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_chapter_and_the_readme_show_the_example() {
    let example = std::fs::read_to_string(root().join("examples/emulator/main.c")).expect("the package has it");
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the package has one");
    for text in [chapter(), readme] {
        let shown = text.split_once("```c\n").and_then(|(_, rest)| rest.split_once("```")).map(|(program, _)| program);
        assert_eq!(shown, Some(&*example));
    }
}

#[test]
fn the_functions_of_the_chapter_compile() {
    if !is_there("cc", "the_functions_of_the_chapter_compile") {
        return;
    }
    let chapter = chapter();
    let pieces: Vec<&str> = chapter.split("```c\n").skip(2).filter_map(|rest| rest.split_once("```")).map(|(piece, _)| piece).collect();
    assert!(!pieces.is_empty(), "the chapter has functions behind its program");
    for (number, piece) in pieces.into_iter().enumerate() {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chapter-{number}.c"));
        std::fs::write(&place, piece).expect("a file for the compiler can be written");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"])
            .arg(root().join("include"))
            .arg(&place);
        succeed(&mut compiler);
    }
}
