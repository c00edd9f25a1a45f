//! Whether every link within the book leads somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The links of the book in `folder` that lead to no file, or to no place in their file, a line each.
///
/// Links to other hosts are not followed.
///
/// # Errors
/// A file of the book cannot be read.
pub fn broken(folder: &Path) -> io::Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    let mut files = BTreeSet::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(folder.join(&within))? {
            let entry = entry?;
            let name = within.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                if name.extension().is_some_and(|extension| extension == "html" || extension == "svg") {
                    pages.insert(name.clone(), fs::read_to_string(entry.path())?);
                }
                files.insert(name);
            }
        }
    }
    Ok(check(&pages, &files))
}

/// A page that a server shows at any address, so its links are not relative to its place.
const ANYWHERE: &str = "404.html";

fn check(pages: &BTreeMap<PathBuf, String>, files: &BTreeSet<PathBuf>) -> Vec<String> {
    let places: BTreeMap<&Path, BTreeSet<String>> =
        pages.iter().map(|(name, text)| (name.as_path(), values(text, &["id", "name"]).collect())).collect();
    let mut broken = Vec::new();
    for (name, text) in pages.iter().filter(|(name, _)| *name != Path::new(ANYWHERE)) {
        for link in values(text, &["href", "src"]) {
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { Some(name.clone()) } else { resolved(name, path) };
            let target = target.filter(|target| files.contains(target));
            let leads =
                target.is_some_and(|target| place.is_empty() || places.get(target.as_path()).is_some_and(|places| places.contains(place)));
            if !leads {
                broken.push(format!("{}: {link}", name.display()));
            }
        }
    }
    broken.dedup();
    broken
}

/// What a relative link of the page `name` leads to, or nothing if that is outside the folder that names are relative to.
pub(super) fn resolved(name: &Path, link: &str) -> Option<PathBuf> {
    let mut target = name.parent()?.to_owned();
    for component in Path::new(&decoded(link)).components() {
        match component {
            Component::Normal(part) => target.push(part),
            Component::CurDir => {}
            Component::ParentDir if target.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target)
}

/// The values of these attributes in the tags of a page.
pub(super) fn values<'a>(text: &'a str, attributes: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    let tags = text.split('<').skip(1).filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag);
    tags.flat_map(move |tag| {
        attributes.iter().filter_map(move |attribute| {
            let (_, behind) = tag.split_once(&format!(" {attribute}=\""))?;
            Some(decoded(&behind.split('"').next()?.replace("&amp;", "&")))
        })
    })
}

/// A link with its `%` and two digits as the letters that they stand for.
fn decoded(link: &str) -> String {
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.unwrap_or(*first));
        rest = &more[if value.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_places() {
        let page = |links: &[&str]| links.iter().map(|link| format!("<a href=\"{link}\">x</a>")).collect::<String>();
        let good = page(&["b.html", "b.html#here", "#top", "sub/c.html#a%20b", "https://host.example/x", "p.svg"]) + "<h1 id=\"top\">";
        let bad = page(&["gone.html", "b.html#gone", "#gone", "../a.html", "sub/p.svg"]);
        let pages = BTreeMap::from([
            (PathBuf::from("a.html"), good),
            (PathBuf::from("b.html"), "<h2 class=\"x\" id=\"here\">".to_owned() + &bad),
            (PathBuf::from("sub/c.html"), "<i id=\"a b\"></i>".to_owned() + &page(&["../a.html"])),
            (PathBuf::from("404.html"), page(&["anything"])),
        ]);
        let files = pages.keys().cloned().chain([PathBuf::from("p.svg")]).collect();
        let broken = check(&pages, &files);
        assert_eq!(broken, ["b.html: gone.html", "b.html: b.html#gone", "b.html: #gone", "b.html: ../a.html", "b.html: sub/p.svg"]);
    }
}
