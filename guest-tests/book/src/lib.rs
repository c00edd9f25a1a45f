//! The pages of the book that are made from the project's own data: signals, events, modelled CPUs, conformance.
#![forbid(unsafe_code)]

pub mod built;
mod conformance;
mod cpus;
mod live;
mod metrics;
mod pictures;
mod posted;
mod quoted;
mod reasons;
mod registers;
mod units;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use vm_pmu::Part;
use vm_pmu::Signal;
use vm_pmu::arch::event::Entry;
use vm_pmu::arch::feed::Kind;
use vm_pmu::arch::registry::NAMES;

use vm_pmu_lab::dialect;
use vm_pmu_lab::entries::driven;
use vm_pmu_lab::entries::known::Known;
use vm_pmu_lab::entries::placing;

/// Every made page and picture: its file within `docs/src` and its text. `suites` is the folder of the litmus suites, `drawings` that of the
/// pictures' texts, `book` that of the pages, some of which quote files.
///
/// # Errors
/// When a litmus file cannot be read or understood, or a drawing, a page or what it quotes cannot be read.
pub fn pages(suites: &Path, drawings: &Path, book: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let mut pages = vec![(PathBuf::from("signals.md"), signals()), (PathBuf::from("conformance.md"), conformance::page(suites)?)];
    pages.push((PathBuf::from("companion-cpus.md"), cpus::page()));
    pages.push((PathBuf::from("live-events.md"), live::page()));
    pages.push((PathBuf::from("injected-events.md"), reasons::page()));
    pages.extend(metrics::pages());
    pages.extend(registers::pages());
    pages.extend(pictures::pages(drawings)?);
    pages.extend(quoted::pages(book)?);
    pages.push((PathBuf::from("power9-groups.md"), metrics::groups()));
    pages.extend(posted::page().map(|page| (PathBuf::from("power9-nest-events.md"), page)));
    pages.extend(
        NAMES.iter().filter_map(|name| Part::named(name)).map(|part| (PathBuf::from(format!("{}-events.md", part.name())), events(part))),
    );
    Ok(pages)
}

/// The meaning of the words about an event's count.
const WORDS: &str = "Each event has one of four words. *Exact*: an engine of this project reports it, and the count is that of the part. \
                     *Approximate*: an engine, the companion or the model makes it by the rule that follows. *Embedder*: there is a signal or a record for it, which \
                     nothing in this project supplies. *Injected*: there is no signal for it; an embedder injects it. An event with unit masks has the best word of them.";

/// A cell of a table, with its bars escaped.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn signals() -> String {
    let mut page = String::from(
        "# Signals\n\nWhat an emulator, or a companion model, can report. A part has the signals of *every part* and its own; others are \
         ignored. *Event* signals count occurrences, *state* signals the cycles of a condition, *level* signals a level summed over cycles.\n\n\
         | number | signal | kind | of | what it counts |\n| ---: | --- | --- | --- | --- |\n",
    );
    for signal in Signal::all() {
        let kind = match signal.kind() {
            Kind::Event => "event",
            Kind::State => "state",
            Kind::Level => "level",
        };
        let _ = writeln!(
            page,
            "| {} | `{}` | {kind} | {} | {} |",
            signal.number(),
            signal.name(),
            signal.section().word(),
            cell(signal.summary())
        );
    }
    page
}

fn events(part: Part) -> String {
    let dialect = dialect::of(part);
    let catalogue = part.catalogue();
    if catalogue.entries.iter().any(|entry| dialect.code(entry).is_some()) {
        coded_events(part)
    } else if catalogue.units.is_empty() {
        selected_events(part)
    } else {
        units::page(part)
    }
}

/// The events of a part whose events have a code each, and no unit masks.
fn coded_events(part: Part) -> String {
    let catalogue = part.catalogue();
    let dialect = dialect::of(part);
    let listed = || catalogue.entries.iter().filter(|entry| entry.listed && entry.offset.is_none());
    let mut page = format!(
        "# Events of {}\n\nThe {} event codes of the {}; several codes of one name count the same on different counters. An event counts \
         at most {} in a cycle. {WORDS}\n\n*Reported by* names the source: the *engine*, the \
         [*companion*](companion.md), an *embedder* with a finer model, the *records* of sampled instructions, or the *model* itself.\n",
        catalogue.title,
        listed().count(),
        catalogue.manual,
        catalogue.max_per_cycle,
    );
    let known = Known::of(part);
    let mut section = "";
    for entry in listed() {
        if entry.section != section {
            section = entry.section;
            let _ = write!(
                page,
                "\n## Section {section}\n\n| code | counters | event | counts | {COUNTS} |\n| ---: | --- | --- | --- | --- |\n"
            );
        }
        let also = entry.aliases.iter().map(|alias| format!(" (`{alias}`)")).collect::<String>();
        let _ = writeln!(
            page,
            "| {:X}h | {} | `{}`{also} | {} | {} |",
            dialect.code(entry).unwrap_or_default(),
            dialect.place(&dialect.counters(entry)),
            entry.name,
            entry.counts.word(),
            account(entry, &known, entry.summary),
        );
    }
    page
}

/// The events of a part that has selects and unit masks.
fn selected_events(part: Part) -> String {
    let catalogue = part.catalogue();
    let most = catalogue.entries.iter().map(|entry| entry.max_per_cycle).max().unwrap_or(catalogue.max_per_cycle);
    let mut page = format!(
        "# Events of {}\n\nFrom the {}. An event counts at most {} in a cycle. {WORDS}\n\n*Reported by* names \
         the source of the signals in this project: the *engine*, which executes guests, or its [*companion*](companion.md), with the \
         companion's clock. An *embedder* with a finer model reports what neither knows; without one the event does not count.\n\n",
        catalogue.title, catalogue.manual, most,
    );
    let restricted = placing::has_any(catalogue);
    if restricted {
        page.push_str(
            "*Where* lists the counters, the set and the type of an event, and after *by* what can constrain it: the address of the \
             instruction (IAR), of the data (DAR), the opcode (OPC), and the channel if it is not the first.\n\n",
        );
    }
    let (place, rule) = if restricted { (" where |", " --- |") } else { ("", "") };
    let _ = write!(page, "| select | mask | event |{place} counts | {COUNTS} |\n| --- | --- | --- |{rule} --- | --- |\n");
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
            "| {:02X}h | {mask} | {name} |{} {} | {} |",
            entry.select,
            if restricted { restrictions(part, entry) } else { String::new() },
            entry.counts.word(),
            account(entry, &known, &format!("{}{since}", entry.summary)),
        );
    }
    page
}

/// The cell about where an event is counted and what constrains it; a unit mask has what its event has not.
fn restrictions(part: Part, entry: &Entry) -> String {
    let catalogue = part.catalogue();
    let dialect = dialect::of(part);
    let event = catalogue.event_named(entry.event_name()).unwrap_or(entry);
    let kind = |entry: &Entry| placing::kind(entry, catalogue).map(str::to_owned);
    let all = |entry: &Entry| placing::all_threads(entry).map(|word| format!("both threads {word}"));
    let by = |entry: &Entry| {
        let mut words: Vec<String> = placing::qualifiers(entry).into_iter().map(str::to_owned).collect();
        words.extend(placing::channel(entry).map(|channel| format!("{channel} channel")));
        words.extend(entry.by_line_state.then(|| "MESI".to_owned()));
        words.join(", ")
    };
    let is_mask = entry.umask.is_some();
    let mut places = Vec::new();
    if !is_mask {
        places.push(dialect.place(&dialect.counters(entry)));
        places.extend(placing::set(entry).map(|set| format!("set {set}")));
    }
    if !is_mask || kind(entry) != kind(event) {
        places.extend(kind(entry));
    }
    places.extend(all(entry));
    let (by, by_event) = (by(entry), by(event));
    let said = is_mask && by == by_event;
    if !by.is_empty() && !said {
        places.push(format!("by {by}"));
    }
    format!(" {} |", places.join(", "))
}

/// The head of the column of [`account`].
const COUNTS: &str = "what it counts, and how";

/// What an entry counts and, in small letters below it, how well, by which signals and what reports them. One column of this is readable
/// where three are too wide.
fn account(entry: &Entry, known: &Known, summary: &str) -> String {
    let driver = driver(entry);
    let period = if driver.ends_with('.') { "" } else { "." };
    let source = known.of_entry(entry);
    let source = if source.is_empty() || source == entry.fidelity.word() { String::new() } else { format!(" Reported by: {source}.") };
    format!("{}<br><small>{}{period}{source}</small>", cell(summary), cell(&driver))
}

fn driver(entry: &Entry) -> String {
    let names: Vec<&str> = driven::sources(entry).iter().map(|signal| signal.name()).collect();
    let signals = driven::words(entry, &names, &|name| format!("`{name}`"));
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
