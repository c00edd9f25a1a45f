//! Where an event is counted, whose it is, and what can constrain it, in words.

use vm_pmu::arch::event::{AllThreads, Attribution, Catalogue, Channel, CoherenceFilter, CounterSet, Entry, Extent, Qualifiers};

/// Whether the part has such restrictions at all.
#[must_use]
pub fn has_any(catalogue: &Catalogue) -> bool {
    catalogue.entries.iter().any(|entry| !entry.qualifiers.is_empty())
}

/// The type of an event: to which thread an occurrence belongs; nothing on parts whose threads do not take turns.
///
/// ```
/// use vm_pmu::arch::event::{K8, MONTECITO};
/// use vm_pmu_lab::entries::placing::kind;
///
/// let event = MONTECITO.event_named("L3_READS").unwrap();
/// assert_eq!(kind(event, &MONTECITO), Some("floating"));
/// assert_eq!(kind(K8.event_named("CPU_CLK_UNHALTED").unwrap(), &K8), None);
/// ```
#[must_use]
pub fn kind(entry: &Entry, catalogue: &Catalogue) -> Option<&'static str> {
    let take_turns = catalogue.entries.iter().any(|entry| entry.attribution != Attribution::Active);
    take_turns.then_some(match entry.attribution {
        Attribution::Active => "active",
        Attribution::Causal => "causal",
        Attribution::Floating => "floating",
        Attribution::SelfFloating => "self-floating",
    })
}

/// The set that the event can only be counted with: `l1d:2`, `l2d:0`.
#[must_use]
pub fn set(entry: &Entry) -> Option<String> {
    match entry.set {
        CounterSet::None => None,
        CounterSet::L1Data(set) => Some(format!("l1d:{set}")),
        CounterSet::L2Data(set) => Some(format!("l2d:{set}")),
    }
}

/// By what it can be constrained: `IAR`, `DAR`, `OPC`, as the manuals call them.
#[must_use]
pub fn qualifiers(entry: &Entry) -> Vec<&'static str> {
    let named = [(Qualifiers::INSTRUCTION_ADDRESS, "IAR"), (Qualifiers::DATA_ADDRESS, "DAR"), (Qualifiers::OPCODE, "OPC")];
    named.iter().filter(|(qualifier, _)| entry.qualifiers.contains(*qualifier)).map(|(_, name)| *name).collect()
}

/// The channel that constrains it, where that is not the first: `prefetch` or `request`.
#[must_use]
pub fn channel(entry: &Entry) -> Option<&'static str> {
    match entry.channel {
        Channel::Demand => None,
        Channel::Prefetch => Some("prefetch"),
        Channel::Request => Some("request"),
    }
}

/// What `all` does to it, where that is not what its register says: `always` or `never`.
#[must_use]
pub fn all_threads(entry: &Entry) -> Option<&'static str> {
    match entry.all_threads {
        AllThreads::Chosen => None,
        AllThreads::Always => Some("always"),
        AllThreads::Never => Some("never"),
    }
}

/// What an event is of, where that is more than its thread: `core` or `tile`.
///
/// ```
/// use vm_pmu::arch::event::KNL;
/// use vm_pmu_lab::entries::placing::extent;
///
/// assert_eq!(extent(KNL.event_named("OFFCORE_RESP").unwrap()), Some("tile"));
/// assert_eq!(extent(KNL.event_named("INST_RETIRED").unwrap()), None);
/// ```
#[must_use]
pub fn extent(entry: &Entry) -> Option<&'static str> {
    match entry.extent {
        Extent::Thread => None,
        Extent::Core => Some("core"),
        Extent::Tile => Some("tile"),
    }
}

/// The filter of a coherence agent that narrows it: `state` (of the snoop filter, in filter 0) or `opcode` (filter 1).
#[must_use]
pub fn filter(entry: &Entry) -> Option<&'static str> {
    match entry.filter {
        CoherenceFilter::None => None,
        CoherenceFilter::State => Some("state"),
        CoherenceFilter::Opcode => Some("opcode"),
    }
}

/// All of it in a sentence or two; nothing on parts without restrictions.
#[must_use]
pub fn sentences(entry: &Entry, catalogue: &Catalogue) -> String {
    let mut said = Vec::new();
    if let Some(kind) = kind(entry, catalogue) {
        let set = set(entry).map_or_else(String::new, |set| format!(", of set {set}"));
        said.push(format!("It is {kind}{set}."));
    }
    let names = qualifiers(entry);
    if !names.is_empty() {
        let through = channel(entry).map_or_else(String::new, |channel| format!(", by the channel of its {channel}"));
        said.push(format!("{} constrain it{through}.", names.join(", ")));
    }
    if entry.by_line_state {
        said.push("MESI chooses states of lines.".to_owned());
    }
    match entry.all_threads {
        AllThreads::Chosen => {}
        AllThreads::Always => said.push("It always counts for both threads.".to_owned()),
        AllThreads::Never => said.push("It cannot count for both threads together.".to_owned()),
    }
    if let Some(extent) = extent(entry) {
        said.push(format!("Every thread that counts it counts for the whole {extent}."));
    }
    if entry.any_thread {
        said.push("AnyThread counts it for every thread of the core.".to_owned());
    }
    if entry.level {
        said.push("It is a level, added up in every clock.".to_owned());
    }
    match entry.filter {
        CoherenceFilter::None => {}
        CoherenceFilter::State => said.push("The states in filter 0 narrow it.".to_owned()),
        CoherenceFilter::Opcode => said.push("Filter 1 narrows it.".to_owned()),
    }
    said.join(" ")
}
