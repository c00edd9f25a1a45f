//! Records in text: what a litmus file says of one instruction.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use vm_pmu_arch::feed::{
    Branch, BranchKind, DataSource, ExecutionUnit, FabricCommand, Fetch, FetchSource, Flush, LineStates, Memory, Prediction, Record, Stage,
    Stages, StoreOutcome, Traits, Translation,
};

use super::number::number;

const KINDS: [(&str, BranchKind); 9] = [
    ("conditional", BranchKind::Conditional),
    ("direct_jump", BranchKind::DirectJump),
    ("indirect_jump", BranchKind::IndirectJump),
    ("direct_call", BranchKind::DirectCall),
    ("indirect_call", BranchKind::IndirectCall),
    ("return", BranchKind::Return),
    ("far", BranchKind::Far),
    ("exception", BranchKind::Exception),
    ("failed_check", BranchKind::FailedCheck),
];

const PREDICTIONS: [(&str, Prediction); 4] = [
    ("none", Prediction::None),
    ("right", Prediction::Right),
    ("wrong_direction", Prediction::WrongDirection),
    ("wrong_target", Prediction::WrongTarget),
];

/// All except the caches of the same core, which are `l1`, `l2` and so on.
const SOURCES: [(&str, DataSource); 19] = [
    ("unknown", DataSource::Unknown),
    ("store_forward", DataSource::StoreForward),
    ("other_core", DataSource::OtherCore { modified: false }),
    ("other_core_modified", DataSource::OtherCore { modified: true }),
    ("other_package", DataSource::OtherPackage { modified: false }),
    ("other_package_modified", DataSource::OtherPackage { modified: true }),
    ("local_memory", DataSource::LocalMemory),
    ("remote_memory", DataSource::RemoteMemory),
    ("other_l3", DataSource::OtherL3 { modified: false }),
    ("other_l3_modified", DataSource::OtherL3 { modified: true }),
    ("lent_l3", DataSource::LentL3 { modified: false }),
    ("lent_l3_modified", DataSource::LentL3 { modified: true }),
    ("distant_package", DataSource::DistantPackage { modified: false }),
    ("distant_package_modified", DataSource::DistantPackage { modified: true }),
    ("distant_memory", DataSource::DistantMemory),
    ("local_l4", DataSource::LocalL4),
    ("remote_l4", DataSource::RemoteL4),
    ("distant_l4", DataSource::DistantL4),
    ("device", DataSource::Device),
];

/// All except the hits, which are `hit1`, `hit2` and so on.
const TRANSLATIONS: [(&str, Translation); 3] =
    [("unknown", Translation::Unknown), ("walk", Translation::Walk), ("fault", Translation::Fault)];

const UNITS: [(&str, ExecutionUnit); 6] = [
    ("unknown", ExecutionUnit::Unknown),
    ("load_store", ExecutionUnit::LoadStore),
    ("branch", ExecutionUnit::Branch),
    ("fixed_point", ExecutionUnit::FixedPoint),
    ("vector_scalar", ExecutionUnit::VectorScalar),
    ("fetch", ExecutionUnit::Fetch),
];

const FETCHES: [(&str, FetchSource); 5] = [
    ("unknown", FetchSource::Unknown),
    ("l1", FetchSource::L1),
    ("l2", FetchSource::L2),
    ("l3", FetchSource::L3),
    ("beyond", FetchSource::Beyond),
];

const OUTCOMES: [(&str, StoreOutcome); 4] = [
    ("none", StoreOutcome::None),
    ("direct", StoreOutcome::Direct),
    ("completed", StoreOutcome::Completed),
    ("intervention", StoreOutcome::Intervention),
];

const COMMANDS: [(&str, FabricCommand); 5] = [
    ("none", FabricCommand::None),
    ("read", FabricCommand::Read),
    ("read_to_modify", FabricCommand::ReadToModify),
    ("claim", FabricCommand::Claim),
    ("kill", FabricCommand::Kill),
];

const FLUSHES: [(&str, Flush); 4] =
    [("none", Flush::None), ("store_hit_load", Flush::StoreHitLoad), ("alias", Flush::Alias), ("reservation", Flush::Reservation)];

const STAGES: [(&str, Stage); Stage::ALL.len()] = [
    ("decoded", Stage::Decoded),
    ("dispatched", Stage::Dispatched),
    ("issued", Stage::Issued),
    ("first_miss", Stage::FirstMiss),
    ("second_level_dispatched", Stage::SecondLevelDispatched),
    ("second_level_done", Stage::SecondLevelDone),
    ("reload", Stage::Reload),
    ("next_to_finish", Stage::NextToFinish),
    ("finished", Stage::Finished),
    ("next_to_complete", Stage::NextToComplete),
    ("completed", Stage::Completed),
    ("drained", Stage::Drained),
];

/// The keys that are not stages.
const KEYS: &str = "address, slot, encoding, cycles, branch, taken, target, prediction, load, store, touch, size, latency, source, \
                    translation, unit, traits, fetch, reload_source, walk_source, store_outcome, page, fabric, retries, tagged, scope, \
                    response, transaction, memory_busy, stages, stall, stall_reason, real_address, line_states, flush, \
                    fetch_address, fetch_miss, fetch_pending, fetch_prefetch, fetch_latency, fetch_translation";

/// The letters of the states of a cache line, in the order in which they are printed.
const STATES: [(char, LineStates); 4] =
    [('m', LineStates::MODIFIED), ('e', LineStates::EXCLUSIVE), ('s', LineStates::SHARED), ('i', LineStates::INVALID)];

/// The word's value among those of `table`.
fn choice<T: Copy>(key: &str, word: &str, table: &[(&str, T)]) -> Result<T, String> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        format!("`{key}={word}` is unknown: there are {}", names.join(", "))
    })
}

fn fitting<T: TryFrom<u64>>(key: &str, text: &str) -> Result<T, String> {
    T::try_from(number(text)?).map_err(|_| format!("`{key}={text}` does not fit into {} bits", 8 * size_of::<T>()))
}

fn yes(key: &str, text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("`{key}={text}` is neither 0 nor 1")),
    }
}

fn level(word: &str, prefix: &str) -> Option<u8> {
    word.strip_prefix(prefix)?.parse().ok()
}

/// A record as its words describe it. Anything else is as in [`Record::at`]; by default a branch is taken and an access has 8 bytes.
pub(super) fn parse(words: &[&str]) -> Result<Record, String> {
    let mut record = Record::at(0);
    let pairs: Vec<(&str, &str)> =
        words.iter().map(|word| word.split_once('=').ok_or(format!("`{word}` is not KEY=VALUE"))).collect::<Result<_, _>>()?;
    // The keys that the others refine come first, wherever they are.
    for (place, (key, value)) in pairs.iter().enumerate() {
        if pairs.iter().take(place).any(|(before, _)| before == key) {
            return Err(format!("`{key}` is said twice"));
        }
        match *key {
            "branch" => {
                let kind = choice(key, value, &KINDS)?;
                record.branch = Some(Branch { kind, taken: true, target: 0, prediction: Prediction::None });
            }
            "load" | "store" | "touch" => accessed(&mut record, key, number(value)?)?,
            "fetch_address" => record.fetch = Some(fetched(number(value)?)),
            _ => {}
        }
    }
    for (key, value) in pairs {
        detail(&mut record, key, value)?;
    }
    Ok(record)
}

fn accessed(record: &mut Record, key: &str, address: u64) -> Result<(), String> {
    let nothing =
        Memory { address, size: 8, load: false, store: false, latency: 0, source: DataSource::Unknown, translation: Translation::Unknown };
    let memory = record.memory.get_or_insert(nothing);
    if memory.address != address {
        return Err("an instruction accesses one address: what it loads and stores must be the same".into());
    }
    memory.load |= key == "load";
    memory.store |= key == "store";
    Ok(())
}

/// A fetch of which only the address is known.
fn fetched(address: u64) -> Fetch {
    Fetch { address, cache_miss: false, pending: false, prefetch: false, latency: 0, translation: Translation::Unknown }
}

fn detail(record: &mut Record, key: &str, value: &str) -> Result<(), String> {
    let sample = &mut record.sample;
    match key {
        "branch" | "load" | "store" | "touch" | "fetch_address" => {}
        "address" => record.address = number(value)?,
        "slot" => record.slot = fitting(key, value)?,
        "encoding" => record.encoding = number(value)?,
        "cycles" => record.cycles = fitting(key, value)?,
        "taken" | "target" | "prediction" => {
            let branch = record.branch.as_mut().ok_or(format!("`{key}` is said of a branch: say branch=KIND too"))?;
            match key {
                "taken" => branch.taken = yes(key, value)?,
                "target" => branch.target = number(value)?,
                _ => branch.prediction = choice(key, value, &PREDICTIONS)?,
            }
        }
        "size" | "latency" | "source" | "translation" => {
            let access = "load=ADDRESS, store=ADDRESS or touch=ADDRESS";
            let memory = record.memory.as_mut().ok_or(format!("`{key}` is said of an access to memory: say {access} too"))?;
            match key {
                "size" => memory.size = fitting(key, value)?,
                "latency" => memory.latency = fitting(key, value)?,
                "source" => {
                    memory.source = match level(value, "l") {
                        Some(level) => DataSource::Cache(level),
                        None => choice(key, value, &SOURCES).map_err(|error| format!("{error}, l1, l2 and so on"))?,
                    };
                }
                _ => memory.translation = translation(key, value)?,
            }
        }
        "fetch_miss" | "fetch_pending" | "fetch_prefetch" | "fetch_latency" | "fetch_translation" => {
            let fetch = record.fetch.as_mut().ok_or(format!("`{key}` is said of a fetch that missed: say fetch_address=ADDRESS too"))?;
            match key {
                "fetch_miss" => fetch.cache_miss = yes(key, value)?,
                "fetch_pending" => fetch.pending = yes(key, value)?,
                "fetch_prefetch" => fetch.prefetch = yes(key, value)?,
                "fetch_latency" => fetch.latency = fitting(key, value)?,
                _ => fetch.translation = translation(key, value)?,
            }
        }
        "unit" => sample.unit = choice(key, value, &UNITS)?,
        "traits" => sample.traits = traits(value)?,
        "fetch" => sample.fetch_source = choice(key, value, &FETCHES)?,
        "reload_source" => sample.reload_source = Some(fitting(key, value)?),
        "walk_source" => sample.walk_source = Some(fitting(key, value)?),
        "store_outcome" => sample.store_outcome = choice(key, value, &OUTCOMES)?,
        "page" => sample.page_bits = fitting(key, value)?,
        "fabric" => sample.fabric.command = choice(key, value, &COMMANDS)?,
        "retries" => sample.fabric.retries = fitting(key, value)?,
        "tagged" => sample.fabric.tagged_intervention = yes(key, value)?,
        "scope" => sample.fabric.scope = fitting(key, value)?,
        "response" => sample.fabric.response = fitting(key, value)?,
        "transaction" => sample.fabric.transaction = fitting(key, value)?,
        "memory_busy" => sample.fabric.memory_busy = fitting(key, value)?,
        "stages" if value == "none" => sample.stages = sample.stages.or(Some(Stages::NONE)),
        "stages" => return Err("a stage is said by its name, as in completed=90: `stages=none` says that none was reached".into()),
        "stall" => sample.stall = fitting(key, value)?,
        "stall_reason" => sample.stall_reason = fitting(key, value)?,
        "real_address" => sample.real_address = number(value)?,
        "line_states" => sample.line_states = line_states(value)?,
        "flush" => sample.flush = choice(key, value, &FLUSHES)?,
        _ => {
            let Some((_, stage)) = STAGES.iter().find(|(name, _)| *name == key) else {
                let stages: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
                return Err(format!("a record has no `{key}`: there are {KEYS} and the stages {}", stages.join(", ")));
            };
            sample.stages = Some(sample.stages.unwrap_or_default().with(*stage, fitting(key, value)?));
        }
    }
    Ok(())
}

fn translation(key: &str, text: &str) -> Result<Translation, String> {
    match level(text, "hit") {
        Some(level) => Ok(Translation::Hit(level)),
        None => choice(key, text, &TRANSLATIONS).map_err(|error| format!("{error}, hit1, hit2 and so on")),
    }
}

fn line_states(text: &str) -> Result<LineStates, String> {
    text.chars().try_fold(LineStates::empty(), |all, letter| {
        let known = STATES.iter().find(|(known, _)| *known == letter).map(|(_, state)| *state);
        known.map(|state| all | state).ok_or_else(|| format!("`line_states={text}` names no states: write some of the letters m, e, s, i"))
    })
}

fn traits(text: &str) -> Result<Traits, String> {
    let mut all = Traits::empty();
    for word in text.split('+') {
        let known = Traits::all().iter_names().find(|(name, _)| name.eq_ignore_ascii_case(word));
        all |= known.map(|(_, flag)| flag).ok_or_else(|| {
            let names: Vec<String> = Traits::all().iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect();
            format!("`{word}` is no trait: there are {}", names.join(", "))
        })?;
    }
    Ok(all)
}

fn word<T: PartialEq>(value: T, table: &[(&'static str, T)]) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("unknown", |(name, _)| name)
}

/// The printed keys of a record: every key whose value is not the default.
struct Keys(String);

impl Keys {
    fn say(&mut self, key: &str, value: impl core::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {key}={value}");
    }

    fn number<T: Into<u64>>(&mut self, key: &str, value: T) {
        let value: u64 = value.into();
        if value != 0 {
            self.say(key, value);
        }
    }

    fn address(&mut self, key: &str, value: u64) {
        if value != 0 {
            self.say(key, format_args!("{value:#x}"));
        }
    }

    fn translation(&mut self, key: &str, value: Translation) {
        match value {
            Translation::Hit(level) => self.say(key, format_args!("hit{level}")),
            other => self.choice(key, other, &TRANSLATIONS),
        }
    }

    fn choice<T: PartialEq + Default>(&mut self, key: &str, value: T, table: &[(&'static str, T)]) {
        if value != T::default() {
            self.say(key, word(value, table));
        }
    }
}

/// The record in words that [`parse`] reads back as the same, each after a blank.
pub(super) fn print(record: &Record) -> String {
    let mut keys = Keys(String::new());
    keys.say("address", format_args!("{:#x}", record.address));
    keys.number("slot", record.slot);
    keys.address("encoding", record.encoding);
    if record.cycles != 1 {
        keys.say("cycles", record.cycles);
    }
    if let Some(branch) = record.branch {
        keys.say("branch", word(branch.kind, &KINDS));
        if !branch.taken {
            keys.say("taken", 0);
        }
        keys.address("target", branch.target);
        keys.choice("prediction", branch.prediction, &PREDICTIONS);
    }
    if let Some(memory) = record.memory {
        for (key, does) in [("load", memory.load), ("store", memory.store), ("touch", !memory.load && !memory.store)] {
            if does {
                keys.say(key, format_args!("{:#x}", memory.address));
            }
        }
        if memory.size != 8 {
            keys.say("size", memory.size);
        }
        keys.number("latency", memory.latency);
        match memory.source {
            DataSource::Cache(level) => keys.say("source", format_args!("l{level}")),
            source => keys.choice("source", source, &SOURCES),
        }
        keys.translation("translation", memory.translation);
    }
    if let Some(fetch) = record.fetch {
        keys.say("fetch_address", format_args!("{:#x}", fetch.address));
        keys.number("fetch_miss", fetch.cache_miss);
        keys.number("fetch_pending", fetch.pending);
        keys.number("fetch_prefetch", fetch.prefetch);
        keys.number("fetch_latency", fetch.latency);
        keys.translation("fetch_translation", fetch.translation);
    }
    let sample = record.sample;
    keys.choice("unit", sample.unit, &UNITS);
    let traits: Vec<String> = sample.traits.iter_names().map(|(name, _)| name.to_ascii_lowercase()).collect();
    if !traits.is_empty() {
        keys.say("traits", traits.join("+"));
    }
    keys.choice("fetch", sample.fetch_source, &FETCHES);
    for (key, source) in [("reload_source", sample.reload_source), ("walk_source", sample.walk_source)] {
        if let Some(source) = source {
            keys.say(key, format_args!("{source:#x}"));
        }
    }
    keys.choice("store_outcome", sample.store_outcome, &OUTCOMES);
    keys.number("page", sample.page_bits);
    keys.choice("fabric", sample.fabric.command, &COMMANDS);
    keys.number("retries", sample.fabric.retries);
    keys.number("tagged", u8::from(sample.fabric.tagged_intervention));
    keys.number("scope", sample.fabric.scope);
    keys.number("response", sample.fabric.response);
    keys.number("transaction", sample.fabric.transaction);
    keys.number("memory_busy", sample.fabric.memory_busy);
    if let Some(stages) = sample.stages {
        if stages == Stages::NONE {
            keys.say("stages", "none");
        }
        for (name, stage) in STAGES {
            if let Some(cycles) = stages.at(stage) {
                keys.say(name, cycles);
            }
        }
    }
    keys.number("stall", sample.stall);
    keys.number("stall_reason", sample.stall_reason);
    keys.address("real_address", sample.real_address);
    keys.choice("flush", sample.flush, &FLUSHES);
    if !sample.line_states.is_empty() {
        let letters: String = STATES.iter().filter(|(_, state)| sample.line_states.contains(*state)).map(|(letter, _)| *letter).collect();
        keys.say("line_states", letters);
    }
    keys.0
}
