//! Reads the reasons for which events stay injected from the files of `events/*/`, writes `reasons.rs`.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

use crate::catalogue::{description, files_with, folders};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    pmu: String,
    /// The units whose injected events have all a reason.
    units: Vec<String>,
    #[serde(rename = "reason")]
    reasons: Vec<Reason>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    text: String,
    events: Vec<String>,
}

/// Generates the reasons of every part in the build.
pub(crate) fn generate() -> Result<(), String> {
    let mut out = String::from("static REASONS: &[(&str, Reasons)] = &[\n");
    for folder in folders()? {
        for (name, text) in files_with(&folder, "reason")? {
            let file: Reasons = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
            write_file(&mut out, &file).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    out.push_str("];\n");
    let target = Path::new(&env::var("OUT_DIR").map_err(|error| error.to_string())?).join("reasons.rs");
    fs::write(&target, out).map_err(|error| error.to_string())
}

fn write_file(out: &mut String, file: &Reasons) -> Result<(), String> {
    let mut all = String::new();
    for Reason { text, events } in &file.reasons {
        if !text.ends_with('.') || events.is_empty() {
            return Err(format!("a reason is a sentence about some events: {text}"));
        }
        write!(all, "Reason {{ text: {:?}, events: &{events:?} }}, ", description(text)).map_err(|error| error.to_string())?;
    }
    writeln!(out, "    ({:?}, Reasons {{ units: &{:?}, all: &[{all}] }}),", file.pmu, file.units).map_err(|error| error.to_string())
}
