//! Pages that quote files of the repository, so that they can be read without the book.
//!
//! The block behind a line `<!-- quotes FILE -->` is the text of that file, whose path is relative to the page. `FILE:NAME` quotes what stands in it between
//! lines with `ANCHOR: NAME` and `ANCHOR_END: NAME`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- quotes ";
const END: &str = " -->\n";
const FENCE: &str = "```";

/// Every page in the folder that quotes files: its name, and its text with what they say now.
pub(super) fn pages(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&file)?;
            if text.contains(BEGIN) {
                let current = current(&text, |path| fs::read_to_string(folder.join(path)))
                    .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
                pages.push((PathBuf::from(file.file_name().unwrap_or_default()), current));
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The text of a page, in which each block that quotes a file is what `read` returns of it.
fn current(page: &str, read: impl Fn(&str) -> io::Result<String>) -> io::Result<String> {
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut pieces = page.split(BEGIN);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(END).ok_or_else(|| wrong(format!("`{BEGIN}` has no end")))?;
        let block = rest.split_once(FENCE).and_then(|(before, block)| Some((before, block.split_once('\n')?)));
        let (before, (language, block)) = block.ok_or_else(|| wrong(format!("no block quotes {name}")))?;
        let (_, after) =
            block.split_once(&format!("\n{FENCE}")).ok_or_else(|| wrong(format!("the block that quotes {name} has no end")))?;
        let (path, anchor) = name.split_once(':').map_or((name, None), |(path, anchor)| (path, Some(anchor)));
        let file = read(path)?;
        let quoted = match anchor {
            Some(anchor) => part(&file, anchor).ok_or_else(|| wrong(format!("{path} has no part {anchor}")))?,
            None => file,
        };
        let quoted = quoted.trim_end();
        text.push_str(&format!("{BEGIN}{name}{END}{before}{FENCE}{language}\n{quoted}\n{FENCE}{after}"));
    }
    Ok(text)
}

/// What stands between the marks of an anchor, without the marks of others, and as far to the left as they are.
fn part(file: &str, anchor: &str) -> Option<String> {
    let is = |line: &str, mark: &str| line.trim_end().ends_with(&format!(" {mark}: {anchor}"));
    let mut lines = file.lines().skip_while(|line| !is(line, "ANCHOR"));
    let indent = lines.next()?.split("//").next()?;
    let lines = lines.take_while(|line| !is(line, "ANCHOR_END")).filter(|line| !line.contains("// ANCHOR"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "one\n  // ANCHOR: a\n  two\n\n  // ANCHOR: b\n    three\n  // ANCHOR_END: b\n  // ANCHOR_END: a\nfour\n";

    fn read(path: &str) -> io::Result<String> {
        (path == "x.rs").then(|| FILE.to_owned()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn quoted(page: &str) -> Result<String, String> {
        current(page, read).map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_of_a_file_takes_the_place_of_what_was_quoted_before() {
        let page = |quoted: &str| format!("Text.\n\n<!-- quotes x.rs:a -->\n\n```rust,ignore\n{quoted}\n```\n\nMore.\n");
        assert_eq!(quoted(&page("old\nlines")), Ok(page("two\n\n  three")));
        assert_eq!(quoted(&page("")), Ok(page("two\n\n  three")));
    }

    #[test]
    fn each_block_quotes_its_own_file() {
        let page = "<!-- quotes x.rs:b -->\n```c\n\n```\n<!-- quotes x.rs:a -->\n```\n\n```\n";
        assert_eq!(
            quoted(page),
            Ok("<!-- quotes x.rs:b -->\n```c\n  three\n```\n<!-- quotes x.rs:a -->\n```\ntwo\n\n  three\n```\n".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_quoted_is_named() {
        let page = |name: &str| format!("<!-- quotes {name} -->\n\n```\n\n```\n");
        assert_eq!(quoted(&page("x.rs:c")), Err("x.rs has no part c".to_owned()));
        assert!(quoted(&page("gone.rs")).is_err());
        assert_eq!(quoted("<!-- quotes x.rs -->\n"), Err("no block quotes x.rs".to_owned()));
    }
}
