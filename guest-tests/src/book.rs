//! The pages of the book that are made from the project's own data: signals, events, modelled CPUs, conformance.

mod cpus;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use vm_pmu::Part;
use vm_pmu::Signal;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::feed::Kind;
use vm_pmu::arch::registry::NAMES;
use vm_pmu::litmus::Litmus;

use crate::known::Known;

/// Every made page: its file within `docs/src` and its text. `suites` is the folder of the litmus suites.
///
/// # Errors
/// When a litmus file cannot be read or understood.
pub fn pages(suites: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut pages = vec![(PathBuf::from("signals.md"), signals()), (PathBuf::from("conformance.md"), conformance(suites)?)];
    pages.push((PathBuf::from("companion-cpus.md"), cpus::page()));
    pages.extend(
        NAMES.iter().filter_map(|name| Part::named(name)).map(|part| (PathBuf::from(format!("{}-events.md", part.name())), events(part))),
    );
    Ok(pages)
}

/// A cell of a table: no bar of its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn signals() -> String {
    let mut page = String::from(
        "# Signals\n\nWhat an emulator, or a companion model, can report. The number is the cell in `Totals`. *Event* signals count what \
         happens, *state* signals the cycles of a condition, *level* signals a level summed over cycles.\n\n| number | signal | kind | what it counts |\n| ---: | --- | --- | --- |\n",
    );
    for signal in Signal::all() {
        let kind = match signal.kind() {
            Kind::Event => "event",
            Kind::State => "state",
            Kind::Level => "level",
        };
        let _ = writeln!(page, "| {} | `{}` | {kind} | {} |", signal.index(), signal.name(), cell(signal.summary()));
    }
    page
}

fn events(part: Part) -> String {
    let catalogue = part.catalogue();
    let mut page = format!(
        "# Events of {}\n\nFrom the {}. An event counts at most {} in a cycle. What is *exact* is known to every emulator that executes \
         instructions; what is *approximate* says how it differs; what is *injected* no signal describes.\n\n*Told by* says who in this \
         project reports the signals: the *engine*, which executes guests, or the [*companion*](companion.md) beside it, with its clock. What \
         neither knows is an *embedder's* with a finer model to report, and stands still without one.\n\n",
        catalogue.title, catalogue.manual, catalogue.max_per_cycle,
    );
    page.push_str(
        "| select | mask | event | counts | driven by | told by | what it counts |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let known = Known::of(part);
    let mut rule = "";
    for entry in catalogue.entries.iter().filter(|entry| entry.listed) {
        // A unit mask that shares its event's rule does not repeat it.
        let shared = entry.umask.is_some() && entry.rule == rule;
        let entry = &Entry { rule: if shared { "" } else { entry.rule }, ..*entry };
        if entry.umask.is_none() {
            rule = entry.rule;
        }
        let mask = entry.umask.map_or(String::new(), |mask| format!("{mask:02X}h"));
        let name = entry.mask_name().map_or(format!("`{}`", entry.name), |mask| format!("`:{mask}`"));
        let since =
            if entry.since.is_empty() || entry.umask.is_some() { String::new() } else { format!(" Revision {} and later.", entry.since) };
        let _ = writeln!(
            page,
            "| {:02X}h | {mask} | {name} | {} | {} | {} | {}{since} |",
            entry.select,
            entry.counts.word(),
            cell(&driver(entry)),
            known.by(entry.signals),
            cell(entry.summary),
        );
    }
    page
}

fn driver(entry: &Entry) -> String {
    let signals = entry.signals.iter().map(|signal| format!("`{}`", signal.name())).collect::<Vec<_>>().join(" + ");
    match (signals.is_empty(), entry.rule) {
        (true, "") => entry.fidelity.word().to_owned(),
        (false, "") => format!("{}: {signals}", entry.fidelity.word()),
        (true, rule) => format!("{}. {rule}", entry.fidelity.word()),
        (false, rule) => format!("{}: {signals}. {rule}", entry.fidelity.word()),
    }
}

/// The litmus files below `folder`, in the order of their paths.
///
/// # Errors
/// When a folder cannot be read.
pub fn litmus_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "litmus") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn conformance(suites: &Path) -> io::Result<String> {
    let mut rows: Vec<(String, String, String, String)> = Vec::new();
    for file in litmus_files(suites)? {
        let name = file.strip_prefix(suites).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let litmus: Litmus =
            fs::read_to_string(&file)?.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("{name}: {error}")))?;
        rows.push((litmus.part.name().to_owned(), litmus.section, litmus.title, name));
    }
    rows.sort();
    let mut page = format!(
        "# Conformance\n\nEach rule of a manual, and each habit of a driver that a model relies on, has a litmus file: {} in all. `cargo test` \
         runs every one; `pmulab litmus guest-tests/litmus` shows them.\n",
        rows.len()
    );
    let mut part = String::new();
    for (pmu, section, title, name) in rows {
        if pmu != part {
            let _ = write!(page, "\n## {pmu}\n\n| source | rule | file |\n| --- | --- | --- |\n");
            part = pmu;
        }
        let _ = writeln!(page, "| {} | {} | `{name}` |", cell(&section), cell(&title));
    }
    Ok(page)
}
