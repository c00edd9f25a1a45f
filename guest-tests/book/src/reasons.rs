//! The page of the events that no model knows, and why.

use std::fmt::Write as _;

use vm_pmu::Part;
use vm_pmu::arch::event::{Entry, Fidelity, Reasons};
use vm_pmu::arch::registry::NAMES;

use vm_pmu_lab::dialect;

use super::cell;

pub(super) fn page() -> String {
    let mut page = String::from(
        "# Events that stay injected\n\nNo signal describes these events, so neither [the companion](companion.md) nor an engine can make \
         them; an embedder that knows more [injects](embedding-parts.md#9-inject-events-without-a-signal) them. Each has one reason. The lists \
         are of the units named, in the words of the parts' own catalogues; other units have events that stay injected too.\n",
    );
    for part in NAMES.iter().filter_map(|name| Part::named(name)) {
        if let Some(reasons) = part.catalogue().reasons() {
            page.push_str(&section(part, reasons));
        }
    }
    page
}

fn section(part: Part, reasons: &Reasons) -> String {
    let catalogue = part.catalogue();
    let entries = || catalogue.entries.iter().filter(|entry| entry.listed && reasons.units.contains(&entry.unit));
    let injected = entries().filter(|entry| entry.fidelity == Fidelity::Injected).count();
    let units: Vec<String> = reasons.units.iter().map(|unit| format!("`{unit}`")).collect();
    let mut text = format!(
        "\n## {}\n\n{injected} of the {} events and unit masks of {}.\n\n| reason | number | events |\n| --- | ---: | --- |\n",
        catalogue.title,
        entries().count(),
        units.join(", "),
    );
    for reason in reasons.all {
        let of: Vec<&Entry> = entries().filter(|entry| reason.is_of(entry)).collect();
        if !of.is_empty() {
            let names: Vec<String> = of.iter().map(|entry| named(part, entry)).collect();
            let _ = writeln!(text, "| {} | {} | {} |", cell(reason.text), of.len(), names.join(", "));
        }
    }
    text
}

/// The name of an event, with its code where several have the name.
fn named(part: Part, entry: &Entry) -> String {
    let alone = part.catalogue().entries.iter().filter(|other| other.unit == entry.unit && other.name == entry.name).count() == 1;
    match dialect::of(part).code(entry).filter(|_| !alone) {
        Some(code) => format!("`{}` ({code:X}h)", cell(entry.name)),
        None => format!("`{}`", cell(entry.name)),
    }
}
