//! What perf, libpfm4 and Linux call events of Knights Landing.

use std::borrow::Cow;

use vm_pmu::arch::event::Entry;
use vm_pmu::arch::knl::untile::{Kind, UnitId};

use crate::dialect::names::{Form, Home, Names, generic};

/// The names.
pub(super) const NAMES: Names = Names { pmu, has_unit, home, generic: GENERIC, also: ALSO, family };

/// What Linux's driver counts: arch/x86/events/intel/core.c, whose tables for this part are `intel_perfmon_event_map`,
/// `slm_hw_cache_event_ids` and `knl_hw_cache_extra_regs`.
const GENERIC: &[(&str, &str)] = &[
    ("cycles", "CPU_CLK_UNHALTED.THREAD"),
    ("instructions", "INST_RETIRED.ANY"),
    ("cache-references", "L2_REQUESTS.REFERENCE"),
    ("cache-misses", "L2_REQUESTS.MISS"),
    ("branches", "BR_INST_RETIRED.ALL_BRANCHES"),
    ("branch-misses", "BR_MISP_RETIRED.ALL_BRANCHES"),
    ("bus-cycles", "CPU_CLK_UNHALTED.REF"),
    ("ref-cycles", "CPU_CLK_UNHALTED.REF_TSC"),
    ("L1-dcache-load-misses", "MEM_UOPS_RETIRED.L1_MISS_LOADS"),
    ("L1-icache-loads", "ICACHE.ACCESSES"),
    ("L1-icache-load-misses", "ICACHE.MISSES"),
    ("LLC-loads", "OFFCORE_RESP:rsp=0x10001"),
    ("LLC-stores", "OFFCORE_RESP:rsp=0x10002"),
    ("LLC-store-misses", "OFFCORE_RESP:rsp=0x3f81f80002"),
    ("LLC-prefetches", "OFFCORE_RESP:rsp=0x10030"),
    ("LLC-prefetch-misses", "OFFCORE_RESP:rsp=0x3f81f80030"),
    ("dTLB-load-misses", "MEM_UOPS_RETIRED.DTLB_MISS_LOADS"),
    ("iTLB-loads", "INST_RETIRED.ANY"),
    ("iTLB-load-misses", "PAGE_WALKS.I_SIDE_WALKS"),
    ("branch-loads", "BR_INST_RETIRED.ALL_BRANCHES"),
    ("branch-load-misses", "BR_MISP_RETIRED.ALL_BRANCHES"),
];

/// The events of libpfm4 that are a unit mask of the manual's.
const ALSO: &[(&str, &str)] = &[
    ("CPU_CLK_UNHALTED.REF_P", "CPU_CLK_UNHALTED.REF"),
    ("UNHALTED_CORE_CYCLES", "CPU_CLK_UNHALTED.THREAD_P"),
    ("UNHALTED_REFERENCE_CYCLES", "CPU_CLK_UNHALTED.REF_TSC"),
    ("INSTRUCTION_RETIRED", "INST_RETIRED.ANY_P"),
    ("INSTRUCTIONS_RETIRED", "INST_RETIRED.ANY_P"),
    ("LLC_REFERENCES", "L2_REQUESTS.REFERENCE"),
    ("LAST_LEVEL_CACHE_REFERENCES", "L2_REQUESTS.REFERENCE"),
    ("LLC_MISSES", "L2_REQUESTS.MISS"),
    ("LAST_LEVEL_CACHE_MISSES", "L2_REQUESTS.MISS"),
    ("BRANCH_INSTRUCTIONS_RETIRED", "BR_INST_RETIRED.ALL_BRANCHES"),
    ("MISPREDICTED_BRANCH_RETIRED", "BR_MISP_RETIRED.ALL_BRANCHES"),
];

/// The PMUs of perf and of libpfm4: the threads' is the part itself, the others are boxes.
fn pmu(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    if matches!(name.as_str(), "cpu" | "knl" | "knm") {
        return Some(String::new());
    }
    let unit = name.strip_prefix("knl_unc_").or_else(|| name.strip_prefix("knm_unc_")).or_else(|| name.strip_prefix("uncore_"))?;
    let digits = unit.len() - unit.bytes().rev().take_while(u8::is_ascii_digit).count();
    // `m2pcie` contains a digit, but not at its end.
    let (kind, number) = unit.split_at_checked(digits)?;
    let kind = match kind.trim_end_matches('_') {
        "imc" => "mc-dclk",
        "imc_uclk" => "mc-uclk",
        "edc_uclk" => "edc-uclk",
        "edc_eclk" => "edc-eclk",
        other => other,
    };
    // perf takes all boxes of a kind together if no number is given.
    [format!("{kind}{number}"), kind.to_owned(), format!("{kind}0")]
        .iter()
        .find_map(|name| UnitId::named(name))
        .map(|unit| unit.to_string())
}

fn has_unit(place: &str, unit: &str) -> bool {
    match UnitId::named(place) {
        Some(id) => unit == "cms" || id.kind().unit() == unit,
        None => place.eq_ignore_ascii_case(unit),
    }
}

/// An event of a box is counted in the first of its kind, and what every box has in the first CHA.
fn home(event: &Entry) -> Option<Home> {
    let unit = if event.unit == "cms" { "cha" } else { event.unit };
    let kind = Kind::ALL.into_iter().find(|kind| kind.unit() == unit)?;
    let first = UnitId::new(kind, 0)?;
    let warning = match kind.count() {
        1 if event.unit != "cms" => format!("{} is counted in {first}", event.name),
        _ => {
            let last = UnitId::new(kind, kind.count() - 1)?;
            let each = if event.unit == "cms" { "; every other box has it too" } else { "" };
            format!("{} is counted in {first} alone: say in which box, up to {last}::{}{each}", event.name, event.name)
        }
    };
    Some(Home { place: first.to_string(), warning })
}

fn family(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    offcore(head, words).or_else(|| on_general_counter(head, words)).or_else(|| of_libpfm(head, words)).or_else(|| of_table(head, words))
}

/// Tools count evictions among the hits and misses in the table of requests; the manual's unit masks of these names do not.
fn of_table(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    let (event, mask, rest) = match head.split_once('.') {
        Some((event, mask)) => (event, mask, words),
        None => (head, words.first()?.as_ref(), words.get(1..)?),
    };
    let event = ["TOR_INSERTS", "TOR_OCCUPANCY"].into_iter().find(|name| event.eq_ignore_ascii_case(&format!("UNC_H_{name}")))?;
    let (mask, tools) = match mask.to_ascii_uppercase().as_str() {
        "HIT" => ("HIT", "HIT_1F"),
        "MISS" => ("MISS", "MISS_2F"),
        _ => return None,
    };
    let warning =
        format!("UNC_H_{event}.{mask} is taken as perf and libpfm4 have it, evictions among them; the manual's is {event}.{mask}");
    Some(Form { text: with(&format!("{event}.{tools}"), rest), warning: Some(warning) })
}

/// Cycles and instructions that a fixed counter cannot count as asked, for which the driver takes a general one.
fn on_general_counter(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    let general = match generic::canonical(head, &[])?.0.as_str() {
        "cycles" => "CPU_CLK_UNHALTED.THREAD_P",
        "instructions" | "iTLB-loads" => "INST_RETIRED.ANY_P",
        _ => return None,
    };
    let wants_general = |word: &Cow<'_, str>| {
        let word = word.to_ascii_lowercase();
        matches!(word.as_str(), "e" | "edge" | "i" | "inv") || ["c=", "cmask=", "pmc="].iter().any(|key| word.starts_with(key))
    };
    words.iter().any(wants_general).then(|| Form { text: with(general, words), warning: None })
}

/// libpfm4 has a name that perf has for something else.
fn of_libpfm(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    let is_it = head.eq_ignore_ascii_case("INST_RETIRED") && words.first()?.eq_ignore_ascii_case("ANY");
    let warning = "INST_RETIRED:ANY is counted by its fixed counter, as perf means it; libpfm4 means a general one: INST_RETIRED:ANY_P";
    is_it.then(|| Form { text: with(head, words), warning: Some(warning.to_owned()) })
}

fn with(head: &str, words: &[Cow<'_, str>]) -> String {
    std::iter::once(head).chain(words.iter().map(AsRef::as_ref)).collect::<Vec<_>>().join(":")
}

/// The types of requests by the names of event lists: as Intel's list has them, and as libpfm4 has them.
const REQUESTS: [(&str, u64, u64); 21] = [
    ("DEMAND_DATA_RD", 0x1, 0x1),
    ("DMND_DATA_RD", 0x1, 0x1),
    ("DEMAND_RFO", 0x2, 0x2),
    ("DMND_RFO", 0x2, 0x2),
    ("DEMAND_CODE_RD", 0x4, 0x4),
    ("DMND_CODE_RD", 0x4, 0x4),
    ("PF_L2_RFO", 0x20, 0x20),
    ("PF_L2_CODE_RD", 0x40, 0x40),
    ("PARTIAL_READS", 0x80, 0x80),
    ("PARTIAL_WRITES", 0x100, 0x100),
    ("UC_CODE_READS", 0x200, 0x200),
    ("BUS_LOCKS", 0x400, 0x400),
    ("FULL_STREAMING_STORES", 0x800, 0x800),
    ("PF_SOFTWARE", 0x1000, 0x1000),
    ("PF_L1_DATA_RD", 0x2000, 0x2000),
    ("PARTIAL_STREAMING_STORES", 0x4000, 0x4000),
    ("STREAMING_STORES", 0x4800, 0x4800),
    ("ANY_REQUEST", 0x8000, 0x8000),
    ("ANY_CODE_RD", 0x44, 0x44),
    ("ANY_RFO", 0x22, 0x22),
    ("ANY_DATA_RD", 0x3091, 0x3081),
];
/// Those for which the two have different sets of requests.
const TOGETHER: [(&str, u64, u64); 2] = [("ANY_READ", 0x32f7, 0x32e7), ("ANY_PF_L2", 0x70, 0x60)];

/// Where requests are answered from, and how, by the names of event lists.
const RESPONSES: [(&str, u64); 21] = [
    ("ANY_RESPONSE", 0x1_0000),
    ("DDR_NEAR", 0x8080_0000),
    ("DDR_FAR", 0x1_0100_0000),
    ("DDR", 0x1_8180_0000),
    ("MCDRAM_NEAR", 0x8020_0000),
    ("MCDRAM_FAR", 0x1_0040_0000),
    ("MCDRAM", 0x1_8060_0000),
    ("L2_HIT_NEAR_TILE_E_F", 0x8_0008_0000),
    ("L2_HIT_NEAR_TILE_M", 0x10_0008_0000),
    ("L2_HIT_NEAR_TILE", 0x18_0018_0000),
    ("L2_HIT_FAR_TILE_E_F", 0x8_0040_0000),
    ("L2_HIT_FAR_TILE_M", 0x10_0040_0000),
    ("L2_HIT_FAR_TILE", 0x18_0040_0000),
    ("L2_HIT_THIS_TILE_M", 0x200_0000),
    ("L2_HIT_THIS_TILE_E", 0x400_0000),
    ("L2_HIT_THIS_TILE_S", 0x800_0000),
    ("L2_HIT_THIS_TILE_F", 0x1000_0000),
    ("NON_DRAM", 0x20_0002_0000),
    ("L2_MISS", 0x18_0019_0000),
    ("OUTSTANDING", 0x40_0000_0000),
    ("SUPPLIER_NONE", 0x2_0000),
];
/// The requests that Intel's list adds to ANY_REQUEST with L2_MISS.
const WITH_MISS: u64 = 0x1f8;
const ANY_REQUEST: u64 = 0x8000;
const ANY_RESPONSE: u64 = 0x1_0000;

/// Requests beyond the tile: `OFFCORE_RESPONSE.REQUEST.RESPONSE` in Intel's list, `OFFCORE_RESPONSE_0:REQUEST:RESPONSE` in libpfm4.
fn offcore(head: &str, words: &[Cow<'_, str>]) -> Option<Form> {
    let upper = head.to_ascii_uppercase();
    let rest = upper.strip_prefix("OFFCORE_RESPONSE")?;
    let (register, rest) = match rest.get(..2) {
        Some("_0") => (":OFFCORE_RESP_0", rest.get(2..)?),
        Some("_1") => (":OFFCORE_RESP_1", rest.get(2..)?),
        _ => ("", rest),
    };
    let dotted: Vec<&str> = match rest.strip_prefix('.') {
        Some(names) => names.split('.').collect(),
        None if rest.is_empty() => Vec::new(),
        None => return None,
    };
    let of_intel = !dotted.is_empty();
    let (mut requests, mut responses) = (0, 0);
    let mut take = |word: &str| {
        let word = word.to_ascii_uppercase().replace('-', "_");
        let request = REQUESTS.iter().chain(&TOGETHER).find(|(name, ..)| *name == word);
        let response = RESPONSES.iter().find(|(name, _)| *name == word);
        requests |= request.map_or(0, |(_, intel, libpfm)| if of_intel { *intel } else { *libpfm });
        responses |= response.map_or(0, |(_, bits)| *bits);
        request.is_some() || response.is_some()
    };
    let mut others = Vec::new();
    for word in &dotted {
        if !take(word) {
            return None;
        }
    }
    for word in words {
        // What chooses requests by itself is said in this program's own words.
        if word.to_ascii_uppercase().starts_with("OFFCORE_RESP") || word.to_ascii_lowercase().starts_with("rsp=") {
            return Some(Form { text: with(&format!("OFFCORE_RESP{register}"), words), warning: None });
        }
        if !take(word) {
            others.push(word.clone());
        }
    }
    if of_intel && requests == ANY_REQUEST && dotted.contains(&"L2_MISS") {
        requests |= WITH_MISS;
    }
    let bits = if requests == 0 { ANY_REQUEST } else { requests } | if responses == 0 { ANY_RESPONSE } else { responses };
    let sets = TOGETHER.iter().chain(REQUESTS.iter().filter(|(_, intel, libpfm)| intel != libpfm));
    let differs = sets.into_iter().find(|(name, intel, libpfm)| {
        let own = if of_intel { intel } else { libpfm };
        requests & 0xffff == *own && (dotted.contains(name) || words.iter().any(|word| word.eq_ignore_ascii_case(name)))
    });
    let warning = differs.map(|(name, intel, libpfm)| {
        let (whose, other, text) = if of_intel {
            ("Intel's list", libpfm, format!("OFFCORE_RESPONSE_0:{name} for libpfm4's"))
        } else {
            ("libpfm4", intel, format!("OFFCORE_RESPONSE.{name} for that of Intel's list"))
        };
        format!("{name} is the set of requests that it is in {whose}, not {other:#x}: say {text}")
    });
    Some(Form { text: with(&format!("OFFCORE_RESP{register}:rsp={bits:#x}"), &others), warning })
}
