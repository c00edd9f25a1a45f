//! The program of the book's chapter compiles and does what it says.

mod support;

use std::path::Path;
use std::process::Command;

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
    compiler.args(["-std=c11", "-Wall", "-Werror", "-I"]).arg(root().join("include")).arg(&place).arg(folder.join("libvm_pmu.so.0"));
    succeed(compiler.arg("-o").arg(&binary));
    let output = succeed(Command::new(&binary).env("LD_LIBRARY_PATH", &folder));
    assert_eq!(output.stdout, b"3\n");
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
        compiler.args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I"]).arg(root().join("include")).arg(&place);
        succeed(&mut compiler);
    }
}
