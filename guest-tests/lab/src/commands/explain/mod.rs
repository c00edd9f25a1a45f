//! `pmulab explain`: what a word of a manual, a driver or a tool means.

mod access;
pub mod arguments;
mod find;
pub mod meaning;
mod show;

use serde::Serialize;
use vm_pmu::Part;
use vm_pmu::arch::model::RegisterDescription;

use crate::commands::PASSED;
use crate::commands::format::Format;
use crate::dialect::{self, select};
use crate::error::Error;
use crate::output::Output;
use crate::{number, suggest};
use arguments::ExplainArguments;
use find::Place;
use meaning::Meaning;

/// A word and what it means.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The word.
    pub word: String,
    /// What it means, a meaning each.
    pub meanings: Vec<Meaning>,
}

/// Explains words.
///
/// # Errors
/// A PMU is unknown, a word means nothing, or the output cannot be written.
pub fn explain(arguments: &ExplainArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let places: Vec<Place> = select::parts(arguments.pmu.as_deref())?.into_iter().map(Place::new).collect();
    let explained = arguments.words.iter().map(|word| one(word, &places, arguments.pmu.as_deref())).collect::<Result<Vec<_>, _>>()?;
    match arguments.format {
        Format::Json => output.json(&explained)?,
        Format::Table => show::table(&explained, arguments.long, output)?,
    }
    Ok(PASSED)
}

fn one(word: &str, places: &[Place], pmu: Option<&str>) -> Result<Explained, Error> {
    let mut meanings: Vec<Meaning> = places.iter().flat_map(|place| place.meanings(word)).collect();
    meanings.extend(find::signal(places, word));
    if meanings.is_empty() {
        return Err(unknown(word, places, pmu));
    }
    Ok(Explained { word: word.to_owned(), meanings })
}

fn unknown(word: &str, places: &[Place], pmu: Option<&str>) -> Error {
    if let Some((register, value)) = word.split_once('=').filter(|(register, _)| !register.is_empty()) {
        return Error::usage(format!("`{word}` is a register and its value: write `pmulab decode --pmu PMU {register}={value}`"));
    }
    let whose = pmu.map_or_else(|| "no PMU has".to_owned(), |pmu| format!("{pmu} has no"));
    let what = "event, register, field, signal, metric, code or address";
    let hexadecimal = suggest::hexadecimal(word).filter(|other| places.iter().any(|place| !place.meanings(other).is_empty()));
    let hint = match hexadecimal {
        Some(other) => format!(": did you mean {other}?"),
        None if number::parse(word).is_some() => String::new(),
        None => suggest::did_you_mean(
            word,
            find::known_names(places).iter().map(String::as_str),
            "`pmulab list --search` searches summaries too",
        ),
    };
    Error::usage(if pmu.is_some() { format!("{whose} {what} `{word}`{hint}") } else { format!("{whose} an {what} `{word}`{hint}") })
}

/// The names that a part has: of registers, fields, events, unit masks and metrics, with those of other tools.
fn names_of(part: Part) -> Vec<String> {
    let registers = select::registers(part).iter();
    let fields = registers.clone().flat_map(|register| register.fields).map(|field| field.name);
    let inner = |register: &'static RegisterDescription| {
        register.fields.iter().flat_map(|field| dialect::of(part).within(register, field)).map(|(name, _)| name)
    };
    let within = registers.clone().flat_map(inner);
    let entries = part.catalogue().entries.iter().flat_map(|entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied()));
    let tools = dialect::of(part).names();
    let others = tools.generic.iter().chain(tools.also).map(|(name, _)| *name);
    let metrics = part.catalogue().metrics().iter().map(|metric| metric.name);
    let names = registers.map(|register| register.name).chain(fields).chain(entries).chain(others).chain(metrics);
    names.map(str::to_owned).chain(within).collect()
}
