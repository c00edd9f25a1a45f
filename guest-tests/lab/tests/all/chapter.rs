//! The commands of the book's pages print what the pages show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

const HEADER: &str = "title: T\npmu: k8\nsection: S\n\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// A folder with the files that the commands of the pages read.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["guest-tests", "docs"] {
        std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("counts.csv", "PM_RUN_CYC,1500\nPM_RUN_INST_CMPL,1000\n");
    write("wrong.litmus", &format!("{HEADER}write PerfCtr9 -1\nread PerfCtr0 = ten\n"));
    write("failing.litmus", &format!("{HEADER}write PerfCtr0 5\nread PerfCtr0 = 6\n"));
    folder
}

/// Files that are a recording but for one line.
fn change_recordings(folder: &Path) {
    let Ok(recording) = fs::read_to_string(folder.join("count.litmus")) else { return };
    let write = |name: &str, text: String| fs::write(folder.join(name), text).expect("written");
    write("bug.litmus", recording.replacen("read PerfCtr0 = 0x46", "read PerfCtr0 = 0x47", 1));
    write("old.litmus", recording.clone());
    write("new.litmus", recording.replace("write PerfEvtSel0 0x200c0", "write PerfEvtSel0 0x0"));
}

/// Whose numbers stand in what is printed.
#[derive(Clone, Copy)]
enum Numbers {
    /// They are always the same.
    Fixed,
    /// A compiler chose addresses and instructions.
    OfCompiler,
}

/// A line without what a compiler chooses: numbers, the widths of columns, the lengths of bars.
fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    let mut in_number = false;
    for letter in line.chars().filter(|letter| !('\u{2580}'..='\u{259f}').contains(letter)) {
        let goes_on = in_number && (letter.is_ascii_hexdigit() || matches!(letter, 'x' | ',' | '.'));
        in_number = goes_on || letter.is_ascii_digit();
        match letter {
            _ if goes_on => {}
            _ if in_number => text.push('#'),
            ' ' if text.is_empty() || text.ends_with(' ') => {}
            _ => text.push(letter),
        }
    }
    text.trim_end().to_owned()
}

/// Whether a line is that of a page, in which `...` stands for any text.
fn is_line(shown: &str, printed: &str, numbers: Numbers) -> bool {
    if matches!(numbers, Numbers::OfCompiler) {
        return is_line(&without_numbers(shown), &without_numbers(printed), Numbers::Fixed);
    }
    match shown.split_once("...") {
        Some((begin, end)) => printed.len() + 3 >= shown.len() && printed.starts_with(begin) && printed.ends_with(end),
        None => shown.trim_end() == printed.trim_end(),
    }
}

/// The first line of a page that is not printed there; a line `...` stands for any lines. Empty lines do not matter.
fn first_missing<'s>(shown: &'s str, printed: &str, numbers: Numbers) -> Option<&'s str> {
    let mut printed = printed.lines().filter(|line| !line.trim().is_empty());
    let mut may_skip = false;
    for line in shown.lines().filter(|line| !line.trim().is_empty()) {
        if line.trim() == "..." {
            may_skip = true;
            continue;
        }
        let found = if may_skip {
            printed.any(|printed| is_line(line, printed, numbers))
        } else {
            printed.next().is_some_and(|printed| is_line(line, printed, numbers))
        };
        if !found {
            return Some(line);
        }
        may_skip = false;
    }
    printed.next().filter(|_| !may_skip).map(|_| "(no more)")
}

fn text_of(page: &str) -> String {
    fs::read_to_string(root().join("docs/src").join(page)).expect("the page")
}

/// Whether a command succeeds there, and what it prints.
fn shell(folder: &Path, line: &str) -> (bool, String) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_pmulab"));
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-e", "-c", &format!("exec 2>&1\n{line}")]).current_dir(folder).env("PATH", &path).output();
    let output = output.expect("a shell");
    (output.status.success(), String::from_utf8(output.stdout).expect("text"))
}

/// Whether there is this compiler; if not, prints that the test named `test` is skipped.
fn has(compiler: &str, test: &str) -> bool {
    let found = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: {test}, as there is no {compiler}");
    }
    found
}

/// Whether there is a compiler for guests of x86-64; if not, prints that the test named `test` is skipped.
fn has_compiler(test: &str) -> bool {
    cfg!(target_arch = "x86_64") && has("gcc", test)
}

/// Runs every command of a page's texts that begins with `$ pmulab`.
fn commands_print_what_is_shown(page: &str) {
    commands_of(page, folder().path(), Numbers::Fixed);
}

fn commands_of(page: &str, folder: &Path, numbers: Numbers) {
    let text = text_of(page);
    let mut tried = 0;
    for block in text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).filter(|block| block.starts_with("$ ")) {
        for command in format!("\n{block}").split("\n$ ").skip(1) {
            let (line, shown) = command.split_once('\n').unwrap_or((command, ""));
            change_recordings(folder);
            let (succeeds, printed) = shell(folder, line);
            tried += 1;
            if shown.trim().is_empty() {
                assert!(succeeds, "{page}: `{line}` fails:\n{printed}");
                continue;
            }
            let missing = first_missing(shown, &printed, numbers);
            assert!(missing.is_none(), "{page}: `{line}` does not print {missing:?}, but\n{printed}");
        }
    }
    assert!(tried > 0, "{page} has no command");
}

#[test]
fn a_line_that_is_not_printed_is_found() {
    let first_missing = |shown, printed| first_missing(shown, printed, Numbers::Fixed);
    assert_eq!(first_missing("a\n...\nc\n", "a\nb\nb\n\nc\n"), None);
    assert_eq!(first_missing("a\nc\n", "a\nb\nc\n"), Some("c"));
    assert_eq!(first_missing("a\n", "a\nb\n"), Some("(no more)"));
    assert_eq!(first_missing("x ... z\n", "x y z\n"), None);
    assert_eq!(first_missing("x ... z\n", "x y\n"), Some("x ... z"));
}

#[test]
fn only_numbers_are_a_compiler_s() {
    let (shown, printed) = ("  1,026  write; at main+0x7a (a.c:3)  ██▍\n", " 99  write; at main+0x1c (a.c:27)   █\n");
    assert_eq!(first_missing(shown, printed, Numbers::OfCompiler), None);
    assert_eq!(first_missing(shown, printed, Numbers::Fixed), Some(shown.trim_end()));
    assert_eq!(first_missing(shown, " 99  write\n", Numbers::OfCompiler), Some(shown.trim_end()));
}

#[test]
fn commands_of_the_chapter_of_the_program_print_what_it_shows() {
    commands_print_what_is_shown("pmulab.md");
}

#[test]
fn commands_of_the_chapters_of_embedding_print_what_they_show() {
    commands_print_what_is_shown("embedding-parts.md");
}

#[test]
fn commands_of_the_chapters_of_parts_print_what_they_show() {
    ["knights-landing.md", "itanium.md", "montecito.md"].into_iter().for_each(commands_print_what_is_shown);
}

#[test]
fn commands_of_the_page_of_three_bugs_print_what_it_shows() {
    if has_compiler("commands_of_the_page_of_three_bugs_print_what_it_shows") {
        story_is_true("three-bugs.md");
    }
}

#[test]
fn commands_of_the_page_of_a_storm_print_what_it_shows() {
    if has("powerpc64le-linux-gnu-gcc", "commands_of_the_page_of_a_storm_print_what_it_shows") {
        story_is_true("storm.md");
    }
}

/// Builds the drivers of a page as its first commands do, and runs the others.
fn story_is_true(page: &str) {
    let (folder, text) = (folder(), text_of(page));
    let (_, build) = text.split_once("```sh\n").expect("the page builds the drivers");
    let (build, _) = build.split_once("```").expect("the commands end");
    let (succeeds, printed) = shell(folder.path(), build);
    assert!(succeeds, "{printed}");
    commands_of(page, folder.path(), Numbers::OfCompiler);
}

/// The blocks of a page, with their languages.
fn blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'))
}

#[test]
fn commands_of_the_first_hour_print_what_it_shows() {
    if !has_compiler("commands_of_the_first_hour_print_what_it_shows") {
        return;
    }
    let (folder, text) = (folder(), text_of("first-hour.md"));
    let change = |name: &str, from: &str, to: &str| {
        let file = folder.path().join("target/hour").join(name);
        let before = fs::read_to_string(&file).expect("the page has made it");
        assert!(before.contains(from), "{name} has no `{from}`");
        fs::write(&file, before.replace(from, to)).expect("written");
    };
    let (mut command, mut wrong_line) = (String::new(), None);
    let mut shown = 0;
    for (language, block) in blocks(&text) {
        match language {
            "sh" => {
                for line in block.lines().filter(|line| *line != "cargo test") {
                    command = line.replace("cargo run --release -- ", "pmulab ").replace("cargo run --release", "pmulab");
                    if !command.starts_with("pmulab") {
                        let (succeeds, printed) = shell(folder.path(), &command);
                        assert!(succeeds, "`{line}` fails:\n{printed}");
                    }
                }
            }
            "text" if block.starts_with("title:") => {
                fs::write(folder.path().join("target/hour/period.litmus"), block).expect("written");
            }
            "text" => {
                if block.starts_with("ok ") {
                    change("period.litmus", "write PerfCtr0 3\n", "write PerfCtr0 -3\n");
                }
                let numbers = if command.contains("hour/driver") { Numbers::OfCompiler } else { Numbers::Fixed };
                let (_, printed) = shell(folder.path(), &command);
                let missing = first_missing(block, &printed, numbers);
                assert!(missing.is_none(), "`{command}` does not print {missing:?}, but\n{printed}");
                shown += 1;
            }
            _ => match (wrong_line, block.lines().count()) {
                (None, 1) => wrong_line = Some(block),
                (Some(wrong), 1) => change("driver.c", wrong, block),
                _ => {}
            },
        }
    }
    assert!(shown > 7, "the page shows {shown} outputs");
}
