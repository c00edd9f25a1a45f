//! The K8: a PerfEvtSel for each of four counters (AMD BKDG sections 10.1 and 10.2).

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{self, Entry};
use vm_pmu::arch::feed::Scope;
use vm_pmu::arch::k8::{COUNTERS, PerfCtr, PerfEvtSel, Register, Revision, Slot};
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use super::x86::words::{Limits, Modifiers, Words};
use super::x86::{self, Event, RESERVED};
use super::{Dialect, Programming, Write};
use crate::dialect::names::Names;
use crate::dialect::select::{self, Request};
use crate::error::Error;

/// The K8's dialect.
pub(super) struct K8;

/// What the part has.
const LIMITS: Limits = Limits { bits: 48, any_thread: false };

/// Every modifier, for suggestions.
const MODIFIERS: [&str; 14] = ["u", "k", "uk", "nouk", "e", "edge", "i", "inv", "int", "pc", "noen", "c=1", "cmask=1", "period=100000"];
/// What a mistaken modifier of an event without unit masks is answered with.
const THERE_ARE: &str = "u, k, e, i, c=N, int, pc, noen, period=N";

/// What Linux's driver counts: `amd_perfmon_event_map` and `amd_hw_cache_event_ids` of arch/x86/events/amd/core.c, unit masks as there.
const GENERIC: &[(&str, &str)] = &[
    ("cycles", "CPU_CLK_UNHALTED"),
    ("instructions", "RETIRED_INSTRUCTIONS"),
    ("cache-references", "REQUESTS_TO_L2:INSTRUCTIONS:DATA:TLB_WALK"),
    ("cache-misses", "L2_CACHE_MISS"),
    ("branches", "RETIRED_BRANCH_INSTRUCTIONS"),
    ("branch-misses", "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS"),
    ("stalled-cycles-frontend", "DECODER_EMPTY"),
    ("stalled-cycles-backend", "DISPATCH_STALLS"),
    ("L1-dcache-loads", "DATA_CACHE_ACCESSES"),
    ("L1-dcache-load-misses", "DATA_CACHE_MISSES:0x01"),
    ("L1-dcache-prefetches", "DATA_PREFETCHES.ATTEMPTED"),
    ("L1-dcache-prefetch-misses", "DATA_PREFETCHES.CANCELLED"),
    ("L1-icache-loads", "INSTRUCTION_CACHE_FETCHES"),
    ("L1-icache-load-misses", "INSTRUCTION_CACHE_MISSES"),
    ("L1-icache-prefetches", "PREFETCH_INSTRUCTIONS_DISPATCHED.LOAD"),
    ("LLC-loads", "REQUESTS_TO_L2:INSTRUCTIONS:DATA"),
    ("LLC-load-misses", "L2_CACHE_MISS:INSTRUCTIONS:DATA"),
    ("LLC-stores", "L2_FILL_WRITEBACK.L2_FILLS"),
    ("dTLB-loads", "DATA_CACHE_ACCESSES"),
    ("dTLB-load-misses", "L1_DTLB_AND_L2_DTLB_MISS:0x07"),
    ("iTLB-loads", "INSTRUCTION_CACHE_FETCHES"),
    ("iTLB-load-misses", "0x85:0x03"),
    ("branch-loads", "RETIRED_BRANCH_INSTRUCTIONS"),
    ("branch-load-misses", "RETIRED_MISPREDICTED_BRANCH_INSTRUCTIONS"),
    ("node-loads", "0xe9:0xb8"),
    ("node-load-misses", "0xe9:0x98"),
];

/// What libpfm4 has from later manuals of the family.
const ALSO: &[(&str, &str)] = &[
    ("THERMAL_STATUS_AND_ECC_ERRORS:CLKS_CPU_ACTIVE", "THERMAL_STATUS_AND_ECC_ERRORS:0x01"),
    ("THERMAL_STATUS_AND_ECC_ERRORS:CLKS_CPU_INACTIVE", "THERMAL_STATUS_AND_ECC_ERRORS:0x02"),
    ("THERMAL_STATUS_AND_ECC_ERRORS:CLKS_DIE_TEMP_TOO_HIGH", "THERMAL_STATUS_AND_ECC_ERRORS:0x04"),
    ("THERMAL_STATUS_AND_ECC_ERRORS:CLKS_TEMP_THRESHOLD_EXCEEDED", "THERMAL_STATUS_AND_ECC_ERRORS:0x08"),
];

/// Whether perf or libpfm4 calls the PMU so; libpfm4 has one for each group of revisions.
fn is_pmu(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "cpu" || name == "amd64_k8" || name.strip_prefix("amd64_k8_rev").is_some_and(|letter| letter.len() == 1)
}

impl Dialect for K8 {
    fn manual(&self) -> &'static str {
        "AMD BKDG"
    }

    fn unit_title(&self, unit: &str) -> &'static str {
        match unit {
            "core" => "what each core counts for itself",
            "nb" => "the northbridge and its links, which the cores of a package share",
            _ => "",
        }
    }

    fn names(&self) -> Names {
        Names { pmu: |name| is_pmu(name).then(String::new), generic: GENERIC, also: ALSO, ..Names::NONE }
    }

    fn modifiers(&self, _event: &Entry) -> &'static str {
        THERE_ARE
    }

    fn label(&self, register: &RegisterDescription, field: &Field, value: u64) -> Option<String> {
        let select = event_select(register, value)?;
        match field.name {
            "EVENT_SELECT" => entry(select).map(|(event, _)| event.name.to_owned()),
            "UNIT_MASK" => Some(mask_words(select).join(" + ")).filter(|names| !names.is_empty()),
            _ => None,
        }
    }

    fn meaning(&self, register: &RegisterDescription, field: &Field, value: u64) -> String {
        let is_set = field.of(value) != 0;
        match (event_select(register, value), field.name) {
            (Some(select), "EVENT_SELECT") => event_meaning(select),
            (Some(select), "UNIT_MASK") => mask_meaning(select),
            (Some(select), "CNT_MASK") => threshold_meaning(select),
            (Some(select), "INV") if is_set && select.cnt_mask() == 0 => "means nothing while CNT_MASK is 0".to_owned(),
            (None, "CTR") => x86::counter_meaning(field.of(value), LIMITS.bits),
            _ if is_set => field.summary.trim().to_owned(),
            _ => String::new(),
        }
    }

    fn notation(&self, register: &RegisterDescription, value: u64) -> Option<String> {
        event_select(register, value).filter(|select| select.bits() != 0).map(notation)
    }

    fn encode(&self, part: Part, requests: &[Request<'_>]) -> Result<Vec<Programming>, Error> {
        let Part::K8(revision) = part else { return Err(Error::usage(format!("{} is no K8", part.name()))) };
        if requests.len() > COUNTERS {
            return Err(Error::usage(format!("{} events are too many: {} has {COUNTERS} counters", requests.len(), part.name())));
        }
        Slot::ALL.into_iter().zip(requests).map(|(slot, request)| program(part, revision, slot, request)).collect()
    }
}

/// The select that `register` holds, if it is one.
fn event_select(register: &RegisterDescription, value: u64) -> Option<PerfEvtSel> {
    match register.address {
        Address::Msr(number) => match Register::from_msr(number)? {
            Register::PerfEvtSel(_) => Some(PerfEvtSel::written(value)),
            Register::PerfCtr(_) => None,
        },
        _ => None,
    }
}

fn entry(select: PerfEvtSel) -> Option<Event> {
    event::K8.select(u32::from(select.event_select()))
}

/// The bits of the unit masks that the manual's tables have.
fn listed_bits<'a>(masks: impl IntoIterator<Item = &'a Entry>) -> u32 {
    masks.into_iter().filter(|mask| mask.listed).filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit)
}

/// The names of the unit masks in `select`; bits without a name as a number.
fn mask_words(select: PerfEvtSel) -> Vec<String> {
    entry(select).map_or_else(Vec::new, |event| x86::mask_words(event, select.unit_mask().into()))
}

fn event_meaning(select: PerfEvtSel) -> String {
    match entry(select) {
        Some((event, _)) if event.since.is_empty() => format!("{}: {}", event.name, event.summary),
        Some((event, _)) => format!("{}: {} From revision {} on.", event.name, event.summary, event.since),
        None => RESERVED.to_owned(),
    }
}

fn mask_meaning(select: PerfEvtSel) -> String {
    entry(select).map_or_else(String::new, |event| x86::mask_meaning(event, select.unit_mask().into()))
}

/// The most that a clock can add.
fn most_per_clock(select: PerfEvtSel) -> u32 {
    x86::most_per_clock(entry(select), select.unit_mask().into(), event::K8.max_per_cycle)
}

fn threshold_meaning(select: PerfEvtSel) -> String {
    x86::threshold_meaning(most_per_clock(select), select.cnt_mask().into(), select.inv())
}

/// The event, unit masks and modifiers that make `select`.
fn notation(select: PerfEvtSel) -> String {
    let mut words = Vec::new();
    let (event, masks) = match entry(select) {
        Some((event, masks)) => (event.name.to_owned(), masks),
        None => (format!("{:#04x}", select.event_select()), &[] as &[Entry]),
    };
    words.push(event);
    let umask = u32::from(select.unit_mask());
    let default = listed_bits(masks.iter().filter(|mask| Revision::default().has(mask)));
    match mask_words(select) {
        _ if umask == default => {}
        names if names.is_empty() => words.push(format!("{umask:#04x}")),
        names => words.extend(names),
    }
    words.extend(modifiers(select).words());
    words.join(":")
}

/// The modifiers in `select`, in addition to its event and unit mask.
fn modifiers(select: PerfEvtSel) -> Modifiers {
    Modifiers {
        user: select.usr(),
        kernel: select.os(),
        edge: select.e(),
        invert: select.inv(),
        interrupt: select.int(),
        pin: select.pc(),
        any_thread: false,
        enabled: select.en(),
        at_least: select.cnt_mask(),
    }
}

/// The select with these words.
fn selecting(event: u8, umask: u8, words: &Modifiers) -> PerfEvtSel {
    let mut select = PerfEvtSel::default();
    select.set_event_select(event);
    select.set_unit_mask(umask);
    select.set_usr(words.user);
    select.set_os(words.kernel);
    select.set_e(words.edge);
    select.set_pc(words.pin);
    select.set_int(words.interrupt);
    select.set_en(words.enabled);
    select.set_inv(words.invert);
    select.set_cnt_mask(words.at_least);
    select
}

/// What is said about an event or unit mask that came later.
fn lack(entry: &Entry, revision: Revision) -> String {
    format!("{} came with revision {}; revision {} lacks it", entry.name, entry.since, revision.letter())
}

fn program(part: Part, revision: Revision, slot: Slot, request: &Request<'_>) -> Result<Programming, Error> {
    let selected = select::event(part, request.event)?;
    let number = u8::try_from(selected.select)
        .map_err(|_| Error::usage(format!("`{}` is not an event select of {}: it has 8 bits", request.event, part.name())))?;
    let mut notes = Vec::new();
    match selected.entry {
        None => notes.push(RESERVED.to_owned()),
        Some((event, _)) if revision.has(event) => {}
        // A code is taken as it is: a driver may well select what the part lacks.
        Some((event, _)) if select::raw(request.event).is_some() => notes.push(lack(event, revision)),
        Some((event, _)) => return Err(Error::usage(lack(event, revision))),
    }
    let masks = selected.entry.map_or(&[] as &[Entry], |(_, masks)| masks);
    let mut words = Words::default();
    for word in &request.words {
        if !take(&mut words, word, masks, revision)? {
            let event = selected.entry.map_or(request.event, |(event, _)| event.name);
            return Err(x86::unknown_word(event, word, masks, &MODIFIERS, THERE_ARE));
        }
    }
    let umask = words.umask.unwrap_or_else(|| every_mask(masks, revision, &mut notes));
    let select = selecting(number, umask, &words.modifiers());
    advise(&mut notes, &words, slot, select, selected.entry);
    let counter = words.period.map(|period| (Register::PerfCtr(slot), PerfCtr::written(period.wrapping_neg()).bits()));
    let writes = counter.into_iter().chain([(Register::PerfEvtSel(slot), select.bits())]);
    Ok(Programming {
        event: Some(select).filter(|select| select.bits() != 0).map(notation),
        counter: slot.index() as u32,
        writes: writes.filter_map(|(register, value)| write(part, register, value)).collect(),
        notes,
        warnings: Vec::new(),
    })
}

/// Takes a unit mask or a modifier; whether `word` was one.
fn take(words: &mut Words, word: &str, masks: &[Entry], revision: Revision) -> Result<bool, Error> {
    let bits = match (masks.iter().find(|mask| mask.is_called(word)), select::raw(word)) {
        (Some(mask), _) if !revision.has(mask) => return Err(Error::usage(lack(mask, revision))),
        (Some(mask), _) => u64::from(mask.umask.unwrap_or(0)),
        (None, Some(bits)) => bits,
        // As in libpfm4: what is counted where no unit mask was given.
        (None, None) if word.eq_ignore_ascii_case("all") && !masks.is_empty() => u64::from(every_mask(masks, revision, &mut Vec::new())),
        (None, None) => return words.modify(word, &LIMITS).map_err(Error::usage),
    };
    let bits = u8::try_from(bits).map_err(|_| Error::usage(format!("`{word}` is not a unit mask: it has 8 bits")))?;
    words.umask = Some(words.umask.unwrap_or(0) | bits);
    Ok(true)
}

/// What is counted where no unit mask was given.
fn every_mask(masks: &[Entry], revision: Revision, notes: &mut Vec<String>) -> u8 {
    let had: Vec<&Entry> = masks.iter().filter(|mask| mask.listed && revision.has(mask)).collect();
    let all = listed_bits(had.iter().copied());
    match had.len() {
        0 => {}
        1 => notes.push(format!("no unit mask was given: the only one, {all:#04x}, is set")),
        many => notes.push(format!("no unit mask was given: all {many} are set, {all:#04x}")),
    }
    // A unit mask of the catalogue is a bit of eight.
    (all & 0xff) as u8
}

/// A write to the register of `part` that is `wanted`.
fn write(part: Part, wanted: Register, value: u64) -> Option<Write> {
    let is_wanted =
        |register: &&RegisterDescription| matches!(register.address, Address::Msr(number) if Register::from_msr(number) == Some(wanted));
    select::registers(part).iter().find(is_wanted).map(|register| Write { register, value })
}

/// Notes on what may surprise.
fn advise(notes: &mut Vec<String>, words: &Words, slot: Slot, select: PerfEvtSel, entry: Option<Event>) {
    if let Some(event) = entry {
        x86::advise_on_mask(event, select.unit_mask().into(), notes);
        if event.0.scope == Scope::Package {
            notes.push(format!("the package shares it: while enabled, no other core can use its counter {}", slot.index()));
        }
    }
    words.advise(most_per_clock(select), notes);
}
