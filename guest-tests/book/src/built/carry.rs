//! Files of the repository that the book links to, carried into it.
//!
//! A link of a page is relative to its source, so that it works in the repository. What is outside of the pages' folder is not in the book: such
//! a file is copied into it, as plain text that every browser shows, and the link is changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::links;

/// The folder of the copies within the book.
const COPIES: &str = "files";

/// Copies to the book in `folder` what its pages link to in the repository at `root`, and changes the links. How many files were copied.
///
/// # Errors
/// A file cannot be read or written.
pub fn carry(folder: &Path, root: &Path) -> io::Result<usize> {
    let mut copied = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let page = entry?.path();
        if page.extension().is_none_or(|extension| extension != "html") {
            continue;
        }
        let mut text = fs::read_to_string(&page)?;
        let mut changed = false;
        for link in links::values(&text, &["href", "src"]).collect::<Vec<_>>() {
            let (path, _) = link.split_once('#').unwrap_or((&link, ""));
            if path.is_empty() || link.contains(':') || links::resolved(Path::new("x"), path).is_some_and(|file| folder.join(file).exists())
            {
                continue;
            }
            let Some(target) = target(root, path) else { continue };
            let new = match target {
                // Pages of the architecture and of the decisions are in the folder above, and say so.
                Target::Own(own) => link.replacen(path, &own, 1),
                Target::File(file) => {
                    let copy = format!("{COPIES}/{}.txt", file.display());
                    copied.insert(file, copy.clone());
                    copy
                }
            };
            for attribute in ["href", "src"] {
                text = text.replace(&format!(" {attribute}=\"{link}\""), &format!(" {attribute}=\"{new}\""));
            }
            changed = true;
        }
        if changed {
            fs::write(&page, text)?;
        }
    }
    for (file, copy) in &copied {
        let copy = folder.join(copy);
        fs::create_dir_all(copy.parent().unwrap_or(folder))?;
        fs::copy(root.join(file), copy)?;
    }
    Ok(copied.len())
}

#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A page or a picture of the book.
    Own(String),
    /// A file of the repository.
    File(PathBuf),
}

/// What a link leads to that is written in `docs/src`, or in `docs` for what is included from there.
fn target(root: &Path, link: &str) -> Option<Target> {
    // mdbook calls every page .html.
    let source = link.strip_suffix(".html").map_or(link.to_owned(), |name| format!("{name}.md"));
    ["docs/src/x", "docs/x"].iter().find_map(|page| {
        let file = links::resolved(Path::new(page), &source)?;
        if !root.join(&file).is_file() {
            return None;
        }
        let own = file.strip_prefix("docs/src").ok().and_then(Path::to_str);
        // What is no page mdbook copies as it is.
        let own = own.map(|name| name.strip_suffix(".md").map_or(name.to_owned(), |name| format!("{name}.html")));
        Some(own.map_or(Target::File(file), Target::Own))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_those_of_the_source() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = |path: &str| Some(Target::File(PathBuf::from(path)));
        assert_eq!(target(&root, "../../arch/src/layout.rs"), file("arch/src/layout.rs"));
        assert_eq!(target(&root, "notes/qemu.html"), file("docs/notes/qemu.md"));
        assert_eq!(target(&root, "../Cargo.toml"), file("Cargo.toml"));
        assert_eq!(target(&root, "src/litmus.html"), Some(Target::Own("litmus.html".to_owned())));
        assert_eq!(target(&root, "src/pictures/machine.svg"), Some(Target::Own("pictures/machine.svg".to_owned())));
        assert_eq!(target(&root, "gone.html"), None);
        assert_eq!(target(&root, "../../arch"), None);
        assert_eq!(target(&root, "../../../x"), None);
    }
}
