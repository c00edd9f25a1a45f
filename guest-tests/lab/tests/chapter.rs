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
    std::os::unix::fs::symlink(root().join("guest-tests"), folder.path().join("guest-tests")).expect("a link");
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

/// Whether a line is that of a page, in which `...` stands for any text.
fn is_line(shown: &str, printed: &str) -> bool {
    match shown.split_once("...") {
        Some((begin, end)) => printed.len() + 3 >= shown.len() && printed.starts_with(begin) && printed.ends_with(end),
        None => shown.trim_end() == printed.trim_end(),
    }
}

/// The first line of a page that is not printed there; a line `...` stands for any lines. Empty lines do not matter.
fn first_missing<'s>(shown: &'s str, printed: &str) -> Option<&'s str> {
    let mut printed = printed.lines().filter(|line| !line.trim().is_empty());
    let mut may_skip = false;
    for line in shown.lines().filter(|line| !line.trim().is_empty()) {
        if line.trim() == "..." {
            may_skip = true;
            continue;
        }
        let found = if may_skip {
            printed.any(|printed| is_line(line, printed))
        } else {
            printed.next().is_some_and(|printed| is_line(line, printed))
        };
        if !found {
            return Some(line);
        }
        may_skip = false;
    }
    printed.next().filter(|_| !may_skip).map(|_| "(no more)")
}

/// Runs every command of a page's texts that begins with `$ pmulab`.
fn commands_print_what_is_shown(page: &str) {
    let text = fs::read_to_string(root().join("docs/src").join(page)).expect("the page");
    let folder = folder();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_pmulab"));
    let path = format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let mut tried = 0;
    for block in text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).filter(|block| block.starts_with("$ ")) {
        for command in format!("\n{block}").split("\n$ ").skip(1) {
            let (line, shown) = command.split_once('\n').unwrap_or((command, ""));
            change_recordings(folder.path());
            let output = Command::new("sh").args(["-c", &format!("{line} 2>&1")]).current_dir(folder.path()).env("PATH", &path).output();
            let output = output.expect("a shell");
            let printed = String::from_utf8(output.stdout).expect("text");
            tried += 1;
            if shown.trim().is_empty() {
                assert!(output.status.success(), "{page}: `{line}` fails:\n{printed}");
                continue;
            }
            let missing = first_missing(shown, &printed);
            assert!(missing.is_none(), "{page}: `{line}` does not print {missing:?}, but\n{printed}");
        }
    }
    assert!(tried > 0, "{page} has no command");
}

#[test]
fn a_line_that_is_not_printed_is_found() {
    assert_eq!(first_missing("a\n...\nc\n", "a\nb\nb\n\nc\n"), None);
    assert_eq!(first_missing("a\nc\n", "a\nb\nc\n"), Some("c"));
    assert_eq!(first_missing("a\n", "a\nb\n"), Some("(no more)"));
    assert_eq!(first_missing("x ... z\n", "x y z\n"), None);
    assert_eq!(first_missing("x ... z\n", "x y\n"), Some("x ... z"));
}

#[test]
fn commands_of_the_chapter_of_the_program_print_what_it_shows() {
    commands_print_what_is_shown("pmulab.md");
}

#[test]
fn commands_of_the_chapter_of_embedding_print_what_it_shows() {
    commands_print_what_is_shown("embedding.md");
}

#[test]
fn commands_of_the_chapters_of_parts_print_what_they_show() {
    ["knights-landing.md", "itanium.md", "montecito.md"].into_iter().for_each(commands_print_what_is_shown);
}
