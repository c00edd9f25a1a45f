//! Reads `events/*.toml` and the events in the folder beside each, checks them, writes `catalogue.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

use crate::drive;
use crate::encoding::{self, Tables};
use crate::limits::MAX_SOURCES;
use crate::placing::{self, All, Attribution, Channel, Extent, Filter, Initiator, Qualifier};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    pmu: String,
    title: String,
    manual: String,
    counters: u32,
    /// The number of the first counter.
    #[serde(default)]
    first: u32,
    max_per_cycle: u32,
    /// Several events may have the same name: alternatives with selects of their own.
    #[serde(default)]
    alternatives: bool,
    /// The units that have selects and names of their own, the thread's first; one space for all where there are none.
    #[serde(default)]
    units: Vec<String>,
    #[serde(rename = "event")]
    events: Vec<Event>,
}

/// More events of a PMU, in a separate file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct More {
    #[serde(rename = "event")]
    events: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    name: String,
    #[serde(default)]
    alias: Vec<String>,
    select: Option<u32>,
    /// Where its count is posted, in bytes from the start of the region: it has no other select.
    offset: Option<u32>,
    /// The modes of the nest's collection that post it.
    collection: Option<Collection>,
    /// Other selects of the same event.
    #[serde(default)]
    also: Vec<u32>,
    /// Another event has the select too, and is found by it.
    #[serde(default)]
    within: bool,
    unit: String,
    section: String,
    /// The numbers of the counters that take it, where those are not all.
    #[serde(default)]
    counters: Vec<u32>,
    /// The set of events that can be counted together, as `l1d:0`.
    #[serde(default)]
    set: String,
    max_per_cycle: Option<u32>,
    #[serde(default)]
    kind: Attribution,
    #[serde(default)]
    qualifiers: Vec<Qualifier>,
    #[serde(default)]
    channel: Channel,
    #[serde(default)]
    all: All,
    #[serde(default)]
    scope: Extent,
    /// A counter may count it for every thread of the core.
    #[serde(default)]
    any_thread: bool,
    /// Its unit masks are what the counters without a select count.
    #[serde(default)]
    fixed: bool,
    /// A level: its amount is added in every cycle.
    #[serde(default)]
    level: bool,
    /// The filter registers that apply to it.
    #[serde(default)]
    filters: Vec<Filter>,
    /// The signals that the bits of an excluding unit mask leave out, bit 0 first.
    #[serde(default)]
    classes: Vec<String>,
    /// It counts lines in chosen states.
    #[serde(default)]
    mesi: bool,
    #[serde(default)]
    counts: Counts,
    fidelity: Fidelity,
    #[serde(default)]
    signals: Vec<String>,
    #[serde(default)]
    edges: Vec<String>,
    /// The states of its signals exclude each other, so their cycles add up.
    #[serde(default)]
    exclusive: bool,
    /// `data` or `instruction`: the cache whose reloads it counts, by demand or all.
    #[serde(default)]
    reloads: String,
    /// The signals added when all reloads are counted.
    #[serde(default)]
    prefetches: Vec<String>,
    #[serde(default)]
    when: String,
    #[serde(default)]
    sampled: Vec<String>,
    #[serde(default)]
    amount: String,
    #[serde(default)]
    internal: String,
    #[serde(default)]
    rule: String,
    summary: String,
    #[serde(default)]
    since: String,
    #[serde(default = "yes")]
    listed: bool,
    umask: Option<Shape>,
    #[serde(default)]
    fields: Vec<u32>,
    #[serde(default)]
    known: Vec<u32>,
    /// The bits of a gated unit mask that qualify its others.
    #[serde(default)]
    gate: u32,
    #[serde(default, rename = "mask")]
    masks: Vec<Mask>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mask {
    name: String,
    #[serde(default)]
    alias: Vec<String>,
    value: u32,
    /// The bits that may be anything.
    #[serde(default)]
    ignore: u32,
    #[serde(default)]
    initiator: Initiator,
    all: Option<All>,
    any_thread: Option<bool>,
    /// The numbers of the counters that take it, if not as its event.
    #[serde(default)]
    counters: Vec<u32>,
    /// By what it can be constrained, if not as its event.
    qualifiers: Option<Vec<Qualifier>>,
    #[serde(default)]
    internal: String,
    counts: Option<Counts>,
    fidelity: Option<Fidelity>,
    #[serde(default)]
    signals: Vec<String>,
    #[serde(default)]
    edges: Vec<String>,
    rule: Option<String>,
    summary: String,
    since: Option<String>,
    #[serde(default = "yes")]
    listed: bool,
}

impl Event {
    /// What finds it in its unit: its select, or its offset.
    fn select(&self) -> u32 {
        self.select.or(self.offset).unwrap_or(0)
    }

    /// The word of one of its unit masks.
    fn fidelity_of(&self, mask: &Mask) -> Fidelity {
        mask.fidelity.unwrap_or(self.fidelity)
    }

    /// Its own word, or the best of its unit masks, of those that are listed if some are.
    fn best(&self) -> Fidelity {
        let of = |listed: bool| self.masks.iter().filter(|mask| mask.listed || !listed).map(|mask| self.fidelity_of(mask)).min();
        of(true).or_else(|| of(false)).unwrap_or(self.fidelity)
    }
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Collection {
    Default,
    Flexible,
    Both,
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Counts {
    #[default]
    Events,
    Cycles,
    Bytes,
}

/// From the best to the worst.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
enum Fidelity {
    Exact,
    Approximate,
    Embedder,
    Injected,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Shape {
    None,
    Set,
    Union,
    Ordinal,
    Fields,
    Excluding,
    Gated,
}

/// A signal's variant and whether it counts the cycles of a state, by its name.
type Vocabulary = BTreeMap<String, (String, bool)>;

/// Generates the tables of every data file.
pub(crate) fn generate() -> Result<(), String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?);
    let signals = vocabulary(&root.join("src/feed/vocabulary.rs"))?;
    let mut paths: Vec<_> = fs::read_dir(root.join("events"))
        .map_err(|error| format!("events: {error}"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    if !paths.iter().any(|path| is_wanted(path)) {
        let parts: Vec<_> = paths.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
        return Err(format!("there is no part in this build: enable at least one of the features {}", parts.join(", ")));
    }
    // What parts share is partly unused where one of them is missing.
    println!("cargo::rustc-check-cfg=cfg(every_part)");
    if paths.iter().all(|path| is_wanted(path)) {
        println!("cargo::rustc-cfg=every_part");
    }
    let mut out = String::new();
    for path in paths.iter().filter(|path| is_wanted(path)) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        let mut file: File = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        file.events.extend(more_events(&path.with_extension(""))?);
        write_file(&mut out, &file, &signals).map_err(|error| format!("{name}: {error}"))?;
    }
    let target = Path::new(&env::var("OUT_DIR").map_err(|error| error.to_string())?).join("catalogue.rs");
    fs::write(&target, out).map_err(|error| error.to_string())
}

/// Whether a feature is enabled.
pub(crate) fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some()
}

/// Whether the part that a data file or a folder is of is in this build: its feature has its name.
fn is_wanted(path: &Path) -> bool {
    path.file_stem().and_then(|name| name.to_str()).is_some_and(has_feature)
}

/// The folders of the parts that are in this build, in the order of their names.
pub(crate) fn folders() -> Result<Vec<PathBuf>, String> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(|error| error.to_string())?).join("events");
    let mut folders: Vec<_> = fs::read_dir(&root)
        .map_err(|error| format!("events: {error}"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir() && is_wanted(path))
        .collect();
    folders.sort();
    Ok(folders)
}

/// A text for people, or nothing where the build leaves such texts out.
pub(crate) fn description(text: &str) -> &str {
    if has_feature("descriptions") { text } else { "" }
}

/// The events in the files of a folder, if there is one: those with tables of events, in the order of their names.
fn more_events(folder: &Path) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    for (name, text) in files_with(folder, "event")? {
        let more: More = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        events.extend(more.events);
    }
    Ok(events)
}

/// The data files of a folder that have tables called `key`, with their names and in the order of these; none where there is no folder.
pub(crate) fn files_with(folder: &Path, key: &str) -> Result<Vec<(String, String)>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let wrong = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut paths: Vec<_> = fs::read_dir(folder)
        .map_err(|error| wrong(folder, &error))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| wrong(&path, &error))?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| wrong(&path, &error))?;
        if table.contains_key(key) {
            files.push((path.display().to_string(), text));
        }
    }
    Ok(files)
}

/// The bits of a select in a key of the index. The number of its unit is above them.
const SELECT_BITS: u32 = 24;

/// What finds an event of a unit in the index.
fn key(rank: u32, select: u32) -> u32 {
    rank << SELECT_BITS | select
}

/// The signals by name: the vocabulary is one `Name = "word": Kind Unit` a line.
fn vocabulary(path: &Path) -> Result<Vocabulary, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("vocabulary: {error}"))?;
    let pairs = text.lines().filter_map(|line| {
        let (variant, rest) = line.trim().split_once(" = \"")?;
        let (word, rest) = rest.split_once('"')?;
        Some((word.to_owned(), (variant.to_owned(), rest.contains(": State"))))
    });
    Ok(pairs.collect())
}

fn write_file(out: &mut String, file: &File, vocabulary: &Vocabulary) -> Result<(), String> {
    let mut names = BTreeSet::new();
    let mut selects = BTreeSet::new();
    let mut entries = String::new();
    let mut tables = Tables::default();
    let (mut index, mut also) = (Vec::new(), Vec::new());
    let mut position = 0usize;
    for event in &file.events {
        let rank = placing::rank(&file.units, &event.unit).map_err(|error| format!("{}: {error}", event.name))?;
        let selects_it = |select: &u32| (key(rank, *select), position, event.masks.len());
        index.extend(Some(&event.select()).filter(|_| !event.within && !event.fixed).into_iter().chain(&event.also).map(selects_it));
        also.extend(event.also.iter().map(|select| (key(rank, *select), key(rank, event.select()))));
        position += 1 + event.masks.len();
        if file.alternatives {
            names.clear();
        }
        let shape = check_event(event, rank, &mut names, &mut selects).map_err(|error| format!("{}: {error}", event.name))?;
        write_entry(&mut entries, &mut tables, file, event, None, shape, vocabulary).map_err(|error| format!("{}: {error}", event.name))?;
        for mask in &event.masks {
            let name = format!("{}.{}", event.name, mask.name);
            write_entry(&mut entries, &mut tables, file, event, Some(mask), Shape::None, vocabulary)
                .map_err(|error| format!("{name}: {error}"))?;
        }
    }
    index.sort_unstable();
    also.sort_unstable();
    let constant = file.pmu.to_uppercase();
    tables.write(out, &constant, &index, &also, file.max_per_cycle, &file.units)?;
    writeln!(
        out,
        "/// The events of {title}.\npub static {constant}: Catalogue = Catalogue {{ pmu: {pmu:?}, title: {title:?}, manual: {manual:?}, \
         max_per_cycle: {max}, units: &{units:?}, encodings: &{constant}_ENCODINGS, entries: &[\n{entries}] }};",
        pmu = file.pmu,
        title = file.title,
        manual = file.manual,
        max = file.max_per_cycle,
        units = file.units,
    )
    .map_err(|error| error.to_string())
}

fn check_event<'a>(
    event: &'a Event,
    rank: u32,
    names: &mut BTreeSet<(u32, bool, &'a str)>,
    selects: &mut BTreeSet<u32>,
) -> Result<Shape, String> {
    for name in std::iter::once(&event.name).chain(&event.alias) {
        if !names.insert((rank, event.fixed, name)) {
            return Err(format!("the name {name} is taken"));
        }
    }
    check_place(event)?;
    if event.within {
        if !selects.contains(&key(rank, event.select())) {
            return Err(format!("no event before it has select {:#x}", event.select()));
        }
    } else if !event.fixed
        && let Some(taken) = std::iter::once(&event.select()).chain(&event.also).find(|select| !selects.insert(key(rank, **select)))
    {
        return Err(format!("select {taken:#x} is taken"));
    }
    let shape = event.umask.unwrap_or(if event.masks.is_empty() { Shape::None } else { Shape::Set });
    if (shape == Shape::Fields) == event.fields.is_empty() || (shape == Shape::Fields) == event.known.is_empty() {
        return Err("`fields` and `known` go with umask = \"fields\"".into());
    }
    if let Some(odd) = event.known.iter().find(|known| event.fields.iter().any(|group| (*known & group).count_ones() != 1)) {
        return Err(format!("known occurrence {odd:#x} does not have one bit of each group"));
    }
    let mut mask_names = BTreeSet::new();
    for (index, mask) in event.masks.iter().enumerate() {
        let overlaps = |other: &Mask| (other.value ^ mask.value) & !(other.ignore | mask.ignore) == 0;
        let is_named = std::iter::once(&mask.name).chain(&mask.alias).any(|name| !mask_names.insert(name));
        if is_named || event.masks.iter().take(index).any(overlaps) {
            return Err(format!("unit mask {} is there twice", mask.name));
        }
        check_mask(event, mask, shape)?;
    }
    if (shape == Shape::Gated) == (event.gate == 0) {
        return Err("`gate` goes with umask = \"gated\"".into());
    }
    if (shape == Shape::Excluding) == event.classes.is_empty() || event.classes.len() > 8 {
        return Err("up to eight `classes` go with umask = \"excluding\"".into());
    }
    if !event.masks.is_empty() && !event.signals.is_empty() {
        return Err("an event with unit masks is driven by its unit masks".into());
    }
    let of_masks = event.masks.iter().map(|mask| mask.signals.len());
    let most = match shape {
        Shape::Ordinal => of_masks.max().unwrap_or(0),
        Shape::Fields => check_paths(event)?,
        _ => of_masks.sum(),
    };
    let sources = most.max(event.signals.len());
    if sources > MAX_SOURCES {
        return Err(format!("{sources} signals, and a counter takes {MAX_SOURCES}"));
    }
    Ok(shape)
}

/// Whether each signal of fields is a path: it is listed at one bit of each group. Returns how many there are.
fn check_paths(event: &Event) -> Result<usize, String> {
    let of = |group: u32| event.masks.iter().filter(move |mask| mask.value & group != 0).flat_map(|mask| &mask.signals);
    let all: BTreeSet<_> = event.masks.iter().flat_map(|mask| &mask.signals).collect();
    match all.iter().find(|signal| event.fields.iter().any(|group| of(*group).filter(|other| other == *signal).count() != 1)) {
        Some(signal) => Err(format!("{signal} is not listed at one bit of each group")),
        None => Ok(all.len()),
    }
}

/// Whether an event has a select or an offset, and what goes with it.
fn check_place(event: &Event) -> Result<(), String> {
    if event.select.is_some() == event.offset.is_some() {
        return Err("an event has either a select or an offset".into());
    }
    if std::iter::once(&event.select()).chain(&event.also).any(|select| select >> SELECT_BITS != 0) {
        return Err(format!("a select has {SELECT_BITS} bits"));
    }
    match event.offset {
        None if event.collection.is_some() => Err("`collection` goes with an offset".into()),
        Some(offset) if offset % 8 != 0 => Err(format!("{offset:#x} is not in steps of 8 bytes")),
        Some(_) if !event.masks.is_empty() || !event.also.is_empty() || !event.counters.is_empty() || event.within || event.fixed => {
            Err("what is posted has an offset, and neither a counter to choose nor unit masks".into())
        }
        _ => Ok(()),
    }
}

fn check_mask(event: &Event, mask: &Mask, shape: Shape) -> Result<(), String> {
    let is_single = mask.value.is_power_of_two();
    let is_code = matches!(shape, Shape::Ordinal | Shape::Excluding);
    if shape == Shape::Fields && !is_single {
        let all = event.fields.iter().fold(0, |bits, group| bits | group);
        let is_whole = event.fields.iter().all(|group| mask.value & group != 0) && mask.value & !all == 0;
        return if is_whole { Ok(()) } else { Err(format!("unit mask {:#x} does not have a bit of each group, and no other", mask.value)) };
    }
    if mask.value > 0xff || !(is_code || is_single || matches!(shape, Shape::Set | Shape::Union | Shape::Gated)) {
        return Err(format!("unit mask {:#x} is not one bit of eight", mask.value));
    }
    if mask.ignore != 0 && (shape != Shape::Ordinal || mask.ignore & mask.value != 0) {
        return Err(format!("{}: what is ignored is 0 in the value of an ordinal", mask.name));
    }
    let single = event.masks.iter().filter(|other| other.value.is_power_of_two()).fold(0, |bits, other| bits | other.value);
    if !is_code && (mask.value == 0 || mask.value & !single != 0) {
        return Err(format!("{}: several bits of a set are unit masks of their own", mask.name));
    }
    Ok(())
}

fn write_entry(
    out: &mut String,
    tables: &mut Tables,
    file: &File,
    event: &Event,
    mask: Option<&Mask>,
    shape: Shape,
    vocabulary: &Vocabulary,
) -> Result<(), String> {
    let variants = |list: &Vec<String>| -> Result<Vec<String>, String> {
        let variant =
            |name| vocabulary.get(name).map(|(variant, _)| format!("Signal::{variant}")).ok_or(format!("no signal is called {name}"));
        list.iter().map(variant).collect()
    };
    let list = |variants: &[String]| format!("&[{}]", variants.join(", "));
    let fidelity = mask.map_or_else(|| event.best(), |mask| event.fidelity_of(mask));
    let driven = mask.map_or(&event.signals, |mask| &mask.signals);
    let edges = mask.map_or(&event.edges, |mask| &mask.edges);
    // The rule of an event is that of its unit masks, whatever the best of them is.
    let needs_none = |fidelity| matches!(fidelity, Fidelity::Exact | Fidelity::Injected);
    let rule = match mask {
        Some(mask) if !needs_none(fidelity) => mask.rule.as_deref().unwrap_or(&event.rule),
        None if !needs_none(fidelity) || event.masks.iter().any(|mask| !needs_none(event.fidelity_of(mask))) => &event.rule,
        _ => "",
    };
    let summary = mask.map_or(&event.summary, |mask| &mask.summary);
    let by_classes = !event.classes.is_empty();
    let by_masks = (mask.is_none() && !event.masks.is_empty()) || by_classes;
    let internal = mask.map_or(&event.internal, |mask| &mask.internal);
    let by_itself = !event.sampled.is_empty() || !internal.is_empty();
    match fidelity {
        _ if by_classes && (!driven.is_empty() || by_itself) => return Err("classes drive every unit mask".into()),
        _ if by_itself && (!driven.is_empty() || by_masks || event.sampled.is_empty() == internal.is_empty()) => {
            return Err("signals, unit masks, `sampled` and `internal` exclude each other".into());
        }
        Fidelity::Injected if by_itself => return Err("what is injected only is neither sampled nor internal".into()),
        Fidelity::Approximate if rule.is_empty() && !by_masks => return Err("what is approximate says by which rule".into()),
        _ if by_itself => {}
        Fidelity::Injected if !driven.is_empty() => return Err("what is injected only has no signals".into()),
        Fidelity::Injected => {}
        _ if driven.is_empty() && !by_masks => return Err("what is driven names its signals".into()),
        _ => {}
    }
    let counts = mask.and_then(|mask| mask.counts).unwrap_or(event.counts);
    if let Some(name) = driven.iter().find(|name| vocabulary.get(*name).is_some_and(|(_, state)| *state != (counts == Counts::Cycles))) {
        return Err(format!("{name} and the entry do not count the same: cycles or events"));
    }
    if counts == Counts::Cycles && driven.len() > 1 && !event.exclusive {
        return Err("several states at once are several sub-events".into());
    }
    if let Some(name) = edges.iter().find(|name| vocabulary.get(*name).is_some_and(|(_, state)| *state)) {
        return Err(format!("{name} does not count how often a state is entered"));
    }
    if edges.len() > MAX_SOURCES {
        return Err(format!("{} edges, and a counter takes {MAX_SOURCES}", edges.len()));
    }
    if summary.is_empty() || !summary.ends_with('.') {
        return Err("a summary is a sentence".into());
    }
    let name = mask.map_or(event.name.clone(), |mask| format!("{}.{}", event.name, mask.name));
    let named = mask.map(|mask| &mask.counters).filter(|counters| !counters.is_empty()).unwrap_or(&event.counters);
    // A posted event needs no counter, and grows by one a cycle unless it says more.
    let is_posted = event.offset.is_some();
    let counters = if is_posted { 0 } else { placing::counters(file.first, file.counters, named)? };
    let most = event.max_per_cycle.unwrap_or(if is_posted { 1 } else { file.max_per_cycle });
    let all = mask.and_then(|mask| mask.all).unwrap_or(event.all);
    let initiator = mask.map(|mask| mask.initiator).unwrap_or_default();
    let kind = if mask.is_some() { event.kind.of_mask(initiator) } else { event.kind };
    let shape = match shape {
        Shape::Fields => format!("Fields(&Fields {{ groups: &{:?}, known: &{:?} }})", event.fields, event.known),
        Shape::Gated => format!("Gated {{ gate: {:#x} }}", event.gate),
        shape => format!("{shape:?}"),
    };
    let ignored = mask.map_or(0, |mask| mask.ignore);
    let drive = match (event.sampled.is_empty(), internal.is_empty()) {
        (false, _) => drive::sampled(&event.sampled, &event.amount)?,
        (true, false) => drive::internal(internal)?,
        (true, true) => "Drive::Signals".to_owned(),
    };
    let reloads = match event.reloads.as_str() {
        "" => "None",
        "data" => "Data",
        "instruction" => "Instruction",
        word => return Err(format!("reloads are of `data` or `instruction`, not of {word}")),
    };
    let since = mask.and_then(|mask| mask.since.as_deref()).unwrap_or(&event.since);
    // What both tables have.
    let shared = format!(
        "shape: UnitMask::{shape}, ignored: {ignored:#x}, counters: {counters:#x}, set: {set}, attribution: Attribution::{kind:?}, \
         initiator: Initiator::{initiator:?}, all_threads: AllThreads::{all:?}, qualifiers: {qualifiers}, channel: Channel::{channel:?}, \
         by_line_state: {mesi}, max_per_cycle: {most}, extent: Extent::{extent:?}, any_thread: {any_thread}, level: {level}, \
         filter: CoherenceFilter::{filter}, counts: Unit::{counts:?}, reloads: Reloads::{reloads}, drive: {drive}, since: {since:?}",
        set = placing::set(&event.set)?,
        qualifiers = placing::qualifiers(mask.and_then(|mask| mask.qualifiers.as_ref()).unwrap_or(&event.qualifiers)),
        channel = event.channel,
        mesi = event.mesi,
        extent = event.scope,
        any_thread = mask.and_then(|mask| mask.any_thread).unwrap_or(event.any_thread),
        level = event.level,
        filter = placing::filter(&event.filters)?,
    );
    let lists = format!(
        "classes: {}, when: {}, prefetches: {}",
        list(&variants(&event.classes)?),
        drive::when(&event.when)?,
        list(&variants(&event.prefetches)?),
    );
    let (signals, edges) = (variants(driven)?, variants(edges)?);
    writeln!(
        out,
        "    Entry {{ name: {name:?}, aliases: &{alias:?}, unit: {unit:?}, select: {select:#x}, offset: {offset:?}, collection: {collection}, \
         umask: {umask}, {shared}, {lists}, scope: Scope::{scope}, fidelity: Fidelity::{fidelity:?}, fixed: {fixed}, signals: {own_signals}, \
         edges: {own_edges}, rule: {rule:?}, summary: {summary:?}, section: {section:?}, listed: {listed} }},",
        alias = mask.map_or(&event.alias, |mask| &mask.alias),
        unit = event.unit,
        select = event.select(),
        offset = event.offset,
        collection = event.collection.map_or("None".to_owned(), |collection| format!("Some(Collection::{collection:?})")),
        umask = mask.map_or("None".to_owned(), |mask| format!("Some({:#x})", mask.value)),
        scope = match event.unit.as_str() {
            "nb" | "nest" => "Package",
            "core-imc" => "Threads",
            _ => "Thread",
        },
        fixed = event.fixed,
        own_signals = list(&signals),
        own_edges = list(&edges),
        rule = description(rule),
        summary = description(summary),
        section = description(&event.section),
        listed = mask.map_or(event.listed, |mask| mask.listed),
    )
    .map_err(|error| error.to_string())?;
    tables.push(&encoding::Entry { umask: mask.map(|mask| mask.value), signals, edges, properties: shared, lists })
}
