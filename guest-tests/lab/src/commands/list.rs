//! `pmulab list`: the catalogue.

use std::io::Write;

use clap::Args;
use serde::Serialize;
use vm_pmu::arch::event::{Collection, Entry, Fidelity};
use vm_pmu::arch::registry::Part;

use crate::commands::PASSED;
use crate::commands::format::RowsFormat;
use crate::dialect::names;
use crate::dialect::select;
use crate::dialect::{self, Dialect};
use crate::entries::driven;
use crate::entries::known::{Embedder, Known};
use crate::entries::placing;
use crate::error::Error;
use crate::number::counted;
use crate::output::Output;
use crate::{suggest, text};

/// Arguments of `pmulab list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Only the events of this PMU
    #[arg(long)]
    pub pmu: Option<String>,
    /// Only the events of this unit of the part
    #[arg(long)]
    pub unit: Option<String>,
    /// Only events with this text in their name, aliases, signals or summary
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Also events that only the prose of the manual names, not its tables
    #[arg(long)]
    pub all: bool,
    /// The words of how well an event counts are those that hold there
    #[arg(long, value_enum, default_value_t, value_name = "EMBEDDER")]
    pub on: Embedder,
    /// In the table, also the signals that drive an event and how an approximate count differs
    #[arg(long, short)]
    pub long: bool,
    /// The form of output
    #[arg(long, value_enum, default_value_t)]
    pub format: RowsFormat,
}

/// An event, or one unit mask of an event, in the form that programs read. What does not apply is null.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The PMU's name.
    pub pmu: &'static str,
    /// The unit of the part.
    pub unit: &'static str,
    /// `EVENT` or `EVENT.MASK`.
    pub name: &'static str,
    /// The event select.
    pub select: u32,
    /// The unit mask.
    pub umask: Option<u32>,
    /// The event code of a PMU whose codes are more than a select.
    pub code: Option<u64>,
    /// Where the count is posted in memory, in bytes from the start of the region.
    pub offset: Option<u64>,
    /// The numbers of the counters that take it.
    pub counters: Vec<u32>,
    /// The most increments in one cycle.
    pub max_per_cycle: u32,
    /// `exact`, `approximate`, `embedder` or `injected`; of an event with unit masks, the best of theirs.
    pub fidelity: &'static str,
    /// The manual and its section.
    pub source: String,
    /// What it counts.
    pub summary: &'static str,
    /// The signals whose sum it is; of an event with unit masks, those of all of them.
    pub signals: Vec<&'static str>,
    /// How an approximate count differs.
    pub rule: Option<&'static str>,
    /// `events`, `cycles` or `bytes`.
    pub counts: &'static str,
    /// The first revision of the part that has it.
    pub since: Option<&'static str>,
    /// To which thread an occurrence belongs: `active`, `causal`, `floating` or `self-floating`.
    pub kind: Option<&'static str>,
    /// The set that it can only be counted with, `l1d:2` or `l2d:0`.
    pub set: Option<String>,
    /// What can constrain it: `IAR`, `DAR`, `OPC`.
    pub qualifiers: Vec<&'static str>,
    /// The channel that constrains it, if not the first: `prefetch` or `request`.
    pub channel: Option<&'static str>,
    /// Whether a counter counts it for every thread, if not as its register says: `always` or `never`.
    pub all_threads: Option<&'static str>,
    /// Whether it can be constrained to states of cache lines.
    pub by_line_state: bool,
    /// What the event is of, if not the thread: `core` or `tile`.
    pub extent: Option<&'static str>,
    /// Whether a counter may count it for every thread of the core (AnyThread).
    pub any_thread: bool,
    /// Whether it has a counter that counts nothing else.
    pub fixed: bool,
    /// Whether it is a level that is added up in every cycle.
    pub level: bool,
    /// The filter that narrows it: `state` or `opcode`.
    pub filter: Option<&'static str>,
    /// The modes of the nest's collection that post it: `default`, `flexible` or `both`.
    pub collection: Option<&'static str>,
    /// Its other names, each as [`encode`](crate::commands::encode) takes it: the catalogue's and those that tools have for it.
    pub aliases: Vec<String>,
    /// The words of all of its unit masks, each once, the best first; its own, if it has none.
    pub fidelities: Vec<&'static str>,
}

/// An event and those of its unit masks that are shown.
struct Group {
    event: &'static Entry,
    masks: Vec<&'static Entry>,
}

/// The events of one PMU that are shown.
struct Chapter {
    part: Part,
    dialect: &'static dyn Dialect,
    known: Known,
    groups: Vec<Group>,
}

/// Lists events.
///
/// # Errors
/// The PMU or the unit is unknown, or the output cannot be written.
pub fn list(arguments: &ListArguments, output: &mut Output<'_>) -> Result<u8, Error> {
    let parts = parts(arguments)?;
    if let Some(unit) = &arguments.unit {
        check_unit(unit, &parts)?;
    }
    let chapters: Vec<Chapter> = parts.into_iter().map(|part| chapter(part, arguments)).collect();
    let rows = || chapters.iter().flat_map(Chapter::rows);
    match arguments.format {
        RowsFormat::Json => output.json(&rows().collect::<Vec<_>>())?,
        RowsFormat::Csv => csv(rows(), output)?,
        RowsFormat::Table => table(&chapters, arguments, output)?,
    }
    Ok(PASSED)
}

/// The parts whose events are listed: those that the embedder has.
fn parts(arguments: &ListArguments) -> Result<Vec<Part>, Error> {
    let (there, others): (Vec<Part>, Vec<Part>) =
        select::parts(arguments.pmu.as_deref())?.into_iter().partition(|part| arguments.on.has(*part));
    match others.first() {
        Some(part) if there.is_empty() => {
            Err(Error::usage(format!("QEMU has no PMU of {}: it has those of k8, knl and power9", part.name())))
        }
        _ => Ok(there),
    }
}

fn check_unit(unit: &str, parts: &[Part]) -> Result<(), Error> {
    let mut units: Vec<&str> = parts.iter().flat_map(|part| part.catalogue().entries).map(|entry| entry.unit).collect();
    units.sort_unstable();
    units.dedup();
    if units.iter().any(|known| known.eq_ignore_ascii_case(unit)) {
        return Ok(());
    }
    let hint = suggest::did_you_mean(unit, units.iter().copied(), &suggest::there_are(units.iter().copied()));
    Err(Error::usage(format!("no unit is called `{unit}`{hint}")))
}

fn chapter(part: Part, arguments: &ListArguments) -> Chapter {
    let catalogue = part.catalogue();
    let text = arguments.search.as_deref().unwrap_or_default().to_ascii_lowercase();
    let is_shown = |entry: &Entry| entry.listed || arguments.all;
    let groups = catalogue.events().filter(|event| arguments.unit.as_ref().is_none_or(|unit| event.unit.eq_ignore_ascii_case(unit)));
    let groups = groups.filter_map(|event| {
        // An event that matches comes with all of its unit masks, a unit mask with its event.
        let whole = matches(part, event, &text);
        let masks = catalogue.masks(event).iter().filter(|mask| is_shown(mask) && (whole || matches(part, mask, &text)));
        let masks: Vec<&Entry> = masks.collect();
        (is_shown(event) && (whole || !masks.is_empty())).then_some(Group { event, masks })
    });
    Chapter { part, dialect: dialect::of(part), known: Known::on(arguments.on, part), groups: groups.collect() }
}

/// The other names of an event or of a unit mask, with the event's name before those of a unit mask.
fn aliases(part: Part, entry: &Entry) -> Vec<String> {
    let own = entry.aliases.iter().map(|alias| match entry.umask {
        Some(_) => format!("{}.{alias}", entry.event_name()),
        None => (*alias).to_owned(),
    });
    own.chain(names::others(part, entry).map(str::to_owned)).collect()
}

/// The names by which a search finds an entry: its own, its aliases and its signals.
fn known(part: Part, entry: &'static Entry) -> impl Iterator<Item = String> {
    let signals = entry.signals.iter().map(|signal| signal.name().to_owned());
    std::iter::once(entry.name.to_owned()).chain(aliases(part, entry)).chain(signals)
}

fn matches(part: Part, entry: &Entry, text: &str) -> bool {
    let has = |word: &str| word.to_ascii_lowercase().contains(text);
    has(entry.name)
        || has(entry.summary)
        || aliases(part, entry).iter().any(|alias| has(alias))
        || entry.signals.iter().any(|signal| has(signal.name()))
}

impl Chapter {
    fn rows(&self) -> impl Iterator<Item = Row> {
        self.groups.iter().flat_map(|group| std::iter::once(group.event).chain(group.masks.iter().copied()).map(|entry| self.row(entry)))
    }

    fn row(&self, entry: &Entry) -> Row {
        let some = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        Row {
            pmu: self.part.name(),
            unit: entry.unit,
            name: entry.name,
            select: entry.select,
            umask: entry.umask,
            code: self.dialect.code(entry),
            offset: entry.offset.map(u64::from),
            counters: self.dialect.counters(entry),
            max_per_cycle: entry.max_per_cycle,
            fidelity: self.known.word(entry).word(),
            source: format!("{} {}", self.dialect.manual(), entry.section),
            summary: entry.summary,
            signals: driven::signals(entry, self.part.catalogue()),
            rule: some(entry.rule),
            counts: entry.counts.word(),
            since: some(entry.since),
            kind: placing::kind(entry, self.part.catalogue()),
            set: placing::set(entry),
            qualifiers: placing::qualifiers(entry),
            channel: placing::channel(entry),
            all_threads: placing::all_threads(entry),
            by_line_state: entry.by_line_state,
            extent: placing::extent(entry),
            any_thread: entry.any_thread,
            fixed: entry.fixed,
            level: entry.level,
            filter: placing::filter(entry),
            collection: entry.collection.map(Collection::word),
            aliases: aliases(self.part, entry),
            fidelities: self.known.words(entry).map(Fidelity::word).collect(),
        }
    }
}

fn spaced(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Rows with a header; the names of signals and the numbers of counters are separated by spaces.
fn csv(rows: impl Iterator<Item = Row>, output: &mut Output<'_>) -> Result<(), Error> {
    const HEADER: [&str; 30] = [
        "pmu",
        "unit",
        "name",
        "select",
        "umask",
        "code",
        "offset",
        "counters",
        "max_per_cycle",
        "fidelity",
        "source",
        "summary",
        "signals",
        "rule",
        "counts",
        "since",
        "kind",
        "set",
        "qualifiers",
        "channel",
        "all_threads",
        "by_line_state",
        "extent",
        "any_thread",
        "fixed",
        "level",
        "filter",
        "collection",
        "aliases",
        "fidelities",
    ];
    let word = |is_so: bool| if is_so { "true" } else { "false" };
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(HEADER)?;
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    for row in rows {
        writer.write_record([
            row.pmu,
            row.unit,
            row.name,
            &row.select.to_string(),
            &number(row.umask.map(u64::from)),
            &number(row.code),
            &number(row.offset),
            &spaced(&row.counters),
            &row.max_per_cycle.to_string(),
            row.fidelity,
            &row.source,
            row.summary,
            &row.signals.join(" "),
            row.rule.unwrap_or_default(),
            row.counts,
            row.since.unwrap_or_default(),
            row.kind.unwrap_or_default(),
            row.set.as_deref().unwrap_or_default(),
            &row.qualifiers.join(" "),
            row.channel.unwrap_or_default(),
            row.all_threads.unwrap_or_default(),
            word(row.by_line_state),
            row.extent.unwrap_or_default(),
            word(row.any_thread),
            word(row.fixed),
            word(row.level),
            row.filter.unwrap_or_default(),
            row.collection.unwrap_or_default(),
            &row.aliases.join(" "),
            &row.fidelities.join(" "),
        ])?;
    }
    writer.flush()?;
    Ok(())
}

/// How wide the columns of a part's events are, and what needs no column.
struct Columns {
    select: usize,
    name: usize,
    /// The counters that take some event: what all of these take has no counters in its line. Where units have their own counters,
    /// those of each unit.
    every: Vec<(&'static str, Vec<u32>)>,
}

impl Columns {
    fn of(chapter: &Chapter) -> Columns {
        let entries = || chapter.part.catalogue().entries.iter();
        let catalogue = chapter.part.catalogue();
        let units = if catalogue.units.is_empty() { &[""] } else { catalogue.units };
        let of_unit = |unit: &&'static str| {
            let members = entries().filter(|entry| (unit.is_empty() || entry.unit == *unit) && !entry.fixed);
            let mut counters: Vec<u32> = members.flat_map(|entry| chapter.dialect.counters(entry)).collect();
            counters.sort_unstable();
            counters.dedup();
            (*unit, counters)
        };
        let every = units.iter().map(of_unit).collect();
        Columns {
            select: entries().map(|entry| format!("{:#04x}", entry.select).len()).max().unwrap_or(0).max(5),
            name: text::widest(chapter.groups.iter().map(|group| group.event.name)).max(32),
            every,
        }
    }

    /// Whether an event with these counters can be in every counter that counts such events.
    fn is_everywhere(&self, event: &Entry, counters: &[u32]) -> bool {
        self.every.iter().any(|(unit, every)| (unit.is_empty() || *unit == event.unit) && every == counters)
    }
}

/// Where the text of an event begins.
const INDENT: usize = 8;
/// Room that a line leaves at least for a word: names of signals are that long.
const LONGEST_WORD: usize = 42;

fn table(chapters: &[Chapter], arguments: &ListArguments, output: &mut Output<'_>) -> Result<(), Error> {
    let mut is_first = true;
    for chapter in chapters.iter().filter(|chapter| !chapter.groups.is_empty()) {
        if !std::mem::take(&mut is_first) {
            writeln!(output)?;
        }
        let catalogue = chapter.part.catalogue();
        let masks = chapter.groups.iter().map(|group| group.masks.len()).sum();
        let count = format!("{}, {}", counted(chapter.groups.len(), "event"), counted(masks, "unit mask"));
        output.line(2, &format!("{}: {}", output.name(chapter.part.name()), catalogue.title))?;
        for line in text::wrap(&format!("{count}; from the {} ({})", catalogue.manual, chapter.dialect.manual()), output.width) {
            writeln!(output, "{line}")?;
        }
        let mut units: Vec<&str> = Vec::new();
        for group in &chapter.groups {
            if !units.contains(&group.event.unit) {
                units.push(group.event.unit);
            }
        }
        let columns = Columns::of(chapter);
        for unit in units {
            writeln!(output)?;
            output.line(2, &format!("{unit}: {}", chapter.dialect.unit_title(unit)))?;
            for group in chapter.groups.iter().filter(|group| group.event.unit == unit) {
                writeln!(output)?;
                show(chapter, group, &columns, arguments.long, output)?;
            }
        }
    }
    if is_first {
        let searched = arguments.search.as_deref().unwrap_or_default();
        let parts = chapters.iter().map(|chapter| chapter.part);
        let names: Vec<String> = parts.flat_map(|part| part.catalogue().entries.iter().flat_map(move |entry| known(part, entry))).collect();
        output.line(2, &format!("no event matches{}", suggest::did_you_mean(searched, names.iter().map(String::as_str), "")))?;
    }
    Ok(())
}

fn show(chapter: &Chapter, group: &Group, columns: &Columns, long: bool, output: &mut Output<'_>) -> Result<(), Error> {
    let event = group.event;
    let since = if event.since.is_empty() { String::new() } else { format!("  from rev. {}", event.since) };
    let counters = chapter.dialect.counters(event);
    let place = if columns.is_everywhere(event, &counters) { String::new() } else { format!("  {}", chapter.dialect.place(&counters)) };
    let head = format!(
        "  {:<select$} {:<widest$}  {:<6}  {:<11}{since}",
        format!("{:#04x}", event.select),
        event.name,
        event.counts.word(),
        words(event, &chapter.known),
        select = columns.select,
        widest = columns.name,
    );
    let whole = format!("{head}{place}");
    if text::columns(&whole) <= output.width {
        writeln!(output, "{}", whole.trim_end())?;
    } else {
        output.line(INDENT, &head)?;
        if !place.is_empty() {
            output.line(INDENT, &format!("{:INDENT$}{}", "", place.trim_start()))?;
        }
    }
    let aliases = aliases(chapter.part, event);
    let also = if aliases.is_empty() { String::new() } else { format!(" Also called {}.", aliases.join(", ")) };
    paragraph("", &format!("{}{also}", event.summary), output)?;
    if long {
        let mut restrictions = placing::sentences(event, chapter.part.catalogue());
        if let Some(offset) = event.offset {
            let modes = event.collection.map_or_else(String::new, |collection| match collection {
                Collection::Both => ", in the default and the flexible mode at an offset each".to_owned(),
                one => format!(", in the {} mode only", one.word()),
            });
            restrictions.push_str(&format!("It is posted at offset {offset:#x}{modes}."));
        }
        if !event.classes.is_empty() {
            let names: Vec<&str> = event.classes.iter().map(|class| class.name()).collect();
            restrictions.push_str(&format!(" Its unit mask leaves out, bit 0 first: {}.", names.join(", ")));
        }
        if !restrictions.is_empty() {
            paragraph("", &restrictions, output)?;
        }
        driven(chapter, event, group.masks.is_empty(), event.rule, INDENT, output)?;
    }
    let width = text::widest(group.masks.iter().filter_map(|mask| mask.mask_name()));
    for mask in &group.masks {
        let lead =
            format!("{:INDENT$}:{:<4}  {:<width$}", "", format!("{:#04x}", mask.umask.unwrap_or(0)), mask.mask_name().unwrap_or_default());
        let mut notes = Vec::new();
        let word = chapter.known.word(mask);
        if word != chapter.known.word(event) {
            notes.push(word.word().to_owned());
        }
        if mask.counts != event.counts {
            notes.push(mask.counts.word().to_owned());
        }
        if mask.since != event.since {
            notes.push(format!("from rev. {}", mask.since));
        }
        if !mask.listed {
            notes.push("not in the manual's tables".to_owned());
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let mut indent = INDENT + 7 + width + 2;
        if indent + LONGEST_WORD > output.width {
            indent = INDENT + 9;
        }
        for line in text::hanging(&lead, indent, &format!("{}{notes}", mask.summary), output.width) {
            writeln!(output, "{line}")?;
        }
        if long {
            // A unit mask does not repeat the rule of its event.
            let rule = if mask.rule == event.rule { "" } else { mask.rule };
            driven(chapter, mask, true, rule, indent, output)?;
        }
    }
    Ok(())
}

/// The word of an event, and those of its unit masks that are not so good.
fn words(event: &Entry, known: &Known) -> String {
    let best = known.word(event);
    let others: Vec<&str> = known.words(event).filter(|word| *word != best).map(Fidelity::word).collect();
    if others.is_empty() { best.word().to_owned() } else { format!("{} (some: {})", best.word(), others.join(", ")) }
}

/// What drives an entry, what reports it, and how an approximate count differs.
fn driven(chapter: &Chapter, entry: &Entry, with_signals: bool, rule: &str, indent: usize, output: &mut Output<'_>) -> Result<(), Error> {
    let mut text = match (entry.fidelity, with_signals) {
        (Fidelity::Injected, true) => "Driven by injection only.".to_owned(),
        (_, true) => {
            let signals = driven::signals(entry, chapter.part.catalogue());
            format!("Driven by {}; reported by {}.", driven::words(entry, &signals, &str::to_owned), chapter.known.of_entry(entry))
        }
        (_, false) => String::new(),
    };
    if !rule.is_empty() {
        text = format!("{text} {rule}");
    }
    for line in text::wrap(&text, output.width.saturating_sub(indent)) {
        writeln!(output, "{:indent$}{line}", "")?;
    }
    Ok(())
}

fn paragraph(lead: &str, text: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for line in text::hanging(lead, INDENT, text, output.width) {
        writeln!(output, "{line}")?;
    }
    Ok(())
}
