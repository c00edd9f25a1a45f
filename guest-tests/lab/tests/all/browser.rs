//! A browser without a window, and what it makes of a page.

use std::path::Path;
use std::process::Command;

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};

/// What a browser is started as, if there is one. Otherwise says so.
pub(crate) fn found(test: &str) -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()));
    if found.is_none() {
        eprintln!("not tried in a browser: {test}, as there is no chromium");
    }
    found
}

/// What becomes of `url` in a browser that prefers the dark or the light scheme: the document after its program has run.
pub(crate) fn document(browser: &str, folder: &Path, url: &str, dark: bool) -> String {
    let profile = folder.join("profile");
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--window-size=1400,2000",
            "--hide-scrollbars",
        ])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(url)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The value of an attribute of the document's element of this name.
pub(crate) fn attribute(document: &str, element: &str, name: &str) -> String {
    let wanted = elements(document).into_iter().find(|(one, _)| one == element).unwrap().1;
    wanted.into_iter().find(|(one, _)| one == name).map_or_else(String::new, |(_, value)| value)
}

/// The elements of a document as a browser writes it.
pub(crate) fn elements(document: &str) -> Vec<(String, Vec<(String, String)>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tokens = Tokenizer::new_with_emitter(document, emitter).filter_map(Result::ok);
    let tags = tokens.filter_map(|token| if let Token::StartTag(tag) = token { Some(tag) } else { None });
    tags.map(|tag| (text(&tag.name), tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect())).collect()
}
