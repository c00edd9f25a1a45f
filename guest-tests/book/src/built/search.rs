//! The search index, with each word once.
//!
//! For each section the index has three fields, in this order: title, body, headings above. mdbook's indexer carries the words of a field on into
//! those after it, which doubles the file. What was carried on is known exactly, so it is taken out again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Number, Value};

const BEFORE: &str = "window.search = Object.assign(window.search, JSON.parse('";
const BEHIND: &str = "'));";
/// What the first line of a trimmed index says, so that none is trimmed twice.
const TRIMMED: &str = "// Each field has its own words alone.\n";

/// Trims the search index of the book in `folder`, and returns its size in bytes.
///
/// # Errors
/// The folder has no index, or one of another form.
pub fn trim(folder: &Path) -> io::Result<u64> {
    let file = index(folder)?;
    let text = fs::read_to_string(&file)?;
    if text.starts_with(TRIMMED) {
        return Ok(text.len() as u64);
    }
    let text = trimmed(&text).ok_or_else(|| io::Error::other(format!("{} has not the form that mdbook 0.5 gives it", file.display())))?;
    fs::write(&file, &text)?;
    Ok(text.len() as u64)
}

fn index(folder: &Path) -> io::Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("searchindex")) {
            return Ok(path);
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{} has no search index", folder.display())))
}

fn trimmed(text: &str) -> Option<String> {
    let quoted = text.trim_end().strip_prefix(BEFORE)?.strip_suffix(BEHIND)?;
    let mut search: Value = serde_json::from_str(&unquoted(quoted)).ok()?;
    let fields = search.get_mut("index")?.get_mut("index")?.as_object_mut()?;
    // From the last to the second: what is subtracted is still as mdbook wrote it.
    for (field, carried) in [("breadcrumbs", "body"), ("body", "title")] {
        let carried = fields.get(carried)?.get("root")?.clone();
        subtract(fields.get_mut(field)?.get_mut("root")?.as_object_mut()?, carried.as_object());
    }
    let title = fields.get_mut("title")?.get_mut("root")?.as_object_mut()?;
    subtract(title, None);
    let quoted = search.to_string().replace('\\', "\\\\").replace('\'', "\\'");
    Some(format!("{TRIMMED}{BEFORE}{quoted}{BEHIND}"))
}

/// The text that a JavaScript string in single quotes stands for.
fn unquoted(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

/// Takes the occurrences of `carried` out of the tree of letters at `node`. Whether anything is left of it.
fn subtract(node: &mut Map<String, Value>, carried: Option<&Map<String, Value>>) -> bool {
    let below = |node: Option<&Map<String, Value>>, key: &str| node?.get(key)?.as_object().cloned();
    let carried_documents = below(carried, "docs").unwrap_or_default();
    let mut left = 0;
    if let Some(documents) = node.get_mut("docs").and_then(Value::as_object_mut) {
        documents.retain(|document, entry| {
            let count = occurrences(entry) - carried_documents.get(document).map_or(0.0, occurrences);
            // Three digits are enough to put results in order.
            let root = (count.sqrt() * 1000.0).round() / 1000.0;
            let number = if root.fract() == 0.0 { Some(Number::from(root as u64)) } else { Number::from_f64(root) };
            *entry = Value::from_iter([("tf", number)]);
            count > 0.0
        });
        left = documents.len();
    }
    node.insert("df".to_owned(), Value::from(left));
    node.retain(|key, child| {
        // Letters are single, so these two are none.
        key == "df" || key == "docs" || child.as_object_mut().is_some_and(|child| subtract(child, below(carried, key).as_ref()))
    });
    left > 0 || node.len() > 2
}

/// How often a word occurs; the index has the square root.
fn occurrences(entry: &Value) -> f64 {
    entry.get("tf").and_then(Value::as_f64).map_or(0.0, |root| (root * root).round())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_field_keeps_its_own_words_alone() {
        // In section 0 the title is "a", the body "a ab'" and the heading above "b".
        let search = json!({"index": {"index": {
            "title": {"root": {"df": 0, "docs": {}, "a": {"df": 1, "docs": {"0": {"tf": 1.0}}}}},
            "body": {"root": {"df": 0, "docs": {},
                "a": {"df": 1, "docs": {"0": {"tf": 2f64.sqrt()}}, "b": {"df": 0, "docs": {}, "'": {"df": 1, "docs": {"0": {"tf": 1.0}}}}}}},
            "breadcrumbs": {"root": {"df": 0, "docs": {},
                "a": {"df": 1, "docs": {"0": {"tf": 2f64.sqrt()}}, "b": {"df": 0, "docs": {}, "'": {"df": 1, "docs": {"0": {"tf": 1.0}}}}},
                "b": {"df": 1, "docs": {"0": {"tf": 1.0}}}}},
        }}});
        let written = format!("{BEFORE}{}{BEHIND}", search.to_string().replace('\\', "\\\\").replace('\'', "\\'"));
        let trimmed = trimmed(&written).expect("it has the form");
        let quoted = trimmed.strip_prefix(TRIMMED).and_then(|text| text.strip_prefix(BEFORE)).and_then(|text| text.strip_suffix(BEHIND));
        let fields: Value = serde_json::from_str(&unquoted(quoted.expect("it has the form"))).expect("it is JSON");
        let once = json!({"df": 1, "docs": {"0": {"tf": 1}}});
        assert_eq!(
            fields["index"]["index"],
            json!({
                "title": {"root": {"df": 0, "docs": {}, "a": once}},
                "body": {"root": {"df": 0, "docs": {}, "a": {"df": 1, "docs": {"0": {"tf": 1}}, "b": {"df": 0, "docs": {}, "'": once}}}},
                "breadcrumbs": {"root": {"df": 0, "docs": {}, "b": once}},
            })
        );
    }

    #[test]
    fn another_form_is_refused() {
        assert_eq!(trimmed("window.search = {}"), None);
    }
}
