//! The K8: a PerfEvtSel for each of four counters (AMD BKDG sections 10.1 and 10.2).

use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::{self, Entry, Fidelity, UnitMask};
use vm_pmu_arch::feed::{Scope, Unit};
use vm_pmu_arch::k8::{COUNTERS, PerfCtr, PerfEvtSel, Register, Revision, Slot};
use vm_pmu_arch::layout::Field;
use vm_pmu_arch::model::RegisterDescription;
use vm_pmu_arch::registry::Part;

use super::{Dialect, Programming, Write};
use crate::lab::error::Error;
use crate::lab::number::{self, grouped};
use crate::lab::select::{self, Request};
use crate::lab::suggest;

/// The K8's dialect.
pub(super) struct K8;

/// The values that a counter can hold: 48 bits.
const COUNTER_RANGE: u64 = 1 << 48;

/// What is said about an event select that no event has.
const RESERVED: &str = "reserved: no event of the catalogue has this number; it counts what is injected for it";

/// Every modifier, for suggestions.
const MODIFIERS: [&str; 14] = ["u", "k", "uk", "nouk", "e", "edge", "i", "inv", "int", "pc", "noen", "c=1", "cmask=1", "period=100000"];

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

    fn revisions(&self) -> Vec<&'static str> {
        Revision::ALL.iter().map(|revision| revision.letter()).collect()
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
            (None, "CTR") => counter_meaning(field.of(value)),
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

fn entry(select: PerfEvtSel) -> Option<(&'static Entry, &'static [Entry])> {
    event::K8.select(u32::from(select.event_select()))
}

/// The bits of the unit masks that the manual's tables have.
fn listed_bits<'a>(masks: impl IntoIterator<Item = &'a Entry>) -> u32 {
    masks.into_iter().filter(|mask| mask.listed).filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit)
}

/// The names of the unit masks in `select`; bits without a name as a number.
fn mask_words(select: PerfEvtSel) -> Vec<String> {
    let Some((_, masks)) = entry(select).filter(|(_, masks)| !masks.is_empty()) else { return Vec::new() };
    let mut rest = u32::from(select.unit_mask());
    let mut words = Vec::new();
    for mask in masks {
        if let (Some(bit), Some(name)) = (mask.umask, mask.mask_name())
            && rest & bit != 0
        {
            rest &= !bit;
            words.push(name.to_owned());
        }
    }
    if rest != 0 {
        words.push(format!("{rest:#04x}"));
    }
    words
}

fn event_meaning(select: PerfEvtSel) -> String {
    match entry(select) {
        Some((event, _)) if event.since.is_empty() => format!("{}: {}", event.name, event.summary),
        Some((event, _)) => format!("{}: {} From revision {} on.", event.name, event.summary, event.since),
        None => RESERVED.to_owned(),
    }
}

fn mask_meaning(select: PerfEvtSel) -> String {
    let umask = u32::from(select.unit_mask());
    match entry(select) {
        None => String::new(),
        Some((_, [])) => "not looked at: the event has no unit masks".to_owned(),
        Some((event, _)) if umask == 0 => format!("no sub-event of {}: nothing is counted", event.name),
        Some((event, masks)) => {
            let known = masks.iter().filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit);
            let mut text = mask_words(select).join(" + ");
            if umask & !known != 0 {
                text.push_str(&format!("; {:#04x} names no sub-event", umask & !known));
            }
            if let Some(missing) = missing_group(event, masks, umask) {
                text.push_str(&format!("; {missing}"));
            }
            text
        }
    }
}

/// What an event lacks that wants one bit of each of several groups.
fn missing_group(event: &Entry, masks: &[Entry], umask: u32) -> Option<String> {
    let UnitMask::Fields { groups, .. } = event.shape else { return None };
    let group = groups.iter().find(|group| umask & **group == 0)?;
    let names: Vec<&str> =
        masks.iter().filter(|mask| mask.umask.is_some_and(|bit| bit & group != 0)).filter_map(Entry::mask_name).collect();
    Some(format!("nothing is counted without one of {}", names.join(", ")))
}

/// The most that a clock can add: 1 where a single state is counted.
fn most_per_clock(select: PerfEvtSel) -> u32 {
    let Some((event, masks)) = entry(select) else { return 3 };
    let mut picked = picked(event, masks, u32::from(select.unit_mask()));
    let is_state = picked.next().is_some_and(|first| first.counts == Unit::Cycles) && picked.next().is_none();
    if is_state { 1 } else { event.max_per_cycle }
}

fn picked(event: &'static Entry, masks: &'static [Entry], umask: u32) -> impl Iterator<Item = &'static Entry> {
    let own = masks.is_empty().then_some(event);
    own.into_iter().chain(masks.iter().filter(move |mask| mask.umask.is_some_and(|bit| bit & umask != 0)))
}

fn threshold_meaning(select: PerfEvtSel) -> String {
    let most = most_per_clock(select);
    match (u32::from(select.cnt_mask()), select.inv()) {
        (0, _) => String::new(),
        (least, false) if least > most => format!("counts clocks with at least {least}; there is none, for a clock has {most} at most"),
        (least, true) if least > most => format!("counts clocks with fewer than {least}: all of them, for a clock has {most} at most"),
        (least, false) => format!("counts clocks with at least {least}"),
        (least, true) => format!("counts clocks with fewer than {least}"),
    }
}

fn counter_meaning(count: u64) -> String {
    match count {
        0 => String::new(),
        count if count >= COUNTER_RANGE / 2 => format!("{} more until it overflows", grouped(COUNTER_RANGE - count)),
        count => grouped(count),
    }
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
    words.push(match (select.usr(), select.os()) {
        (true, true) => "uk".to_owned(),
        (true, false) => "u".to_owned(),
        (false, true) => "k".to_owned(),
        (false, false) => "nouk".to_owned(),
    });
    let flags = [(select.e(), "e"), (select.inv(), "inv"), (select.pc(), "pc"), (select.int(), "int"), (!select.en(), "noen")];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
    if select.cnt_mask() != 0 {
        words.push(format!("c={}", select.cnt_mask()));
    }
    words.join(":")
}

/// What the words after the event ask for.
#[derive(Default)]
struct Words {
    umask: Option<u8>,
    levels: Option<(bool, bool)>,
    edge: bool,
    invert: bool,
    interrupt: bool,
    pin: bool,
    disabled: bool,
    at_least: u8,
    period: Option<u64>,
}

impl Words {
    /// Takes a modifier; whether it was one.
    fn modify(&mut self, word: &str) -> Result<bool, String> {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "e" | "edge" => self.edge = true,
            "i" | "inv" => self.invert = true,
            "int" => self.interrupt = true,
            "pc" => self.pin = true,
            "noen" => self.disabled = true,
            "nouk" => self.levels = Some((false, false)),
            levels if !levels.is_empty() && levels.chars().all(|letter| matches!(letter, 'u' | 'k')) => {
                let (user, kernel) = self.levels.unwrap_or_default();
                self.levels = Some((user || levels.contains('u'), kernel || levels.contains('k')));
            }
            other => match other.split_once('=') {
                Some(("c" | "cmask", least)) => {
                    let least = number::parse(least).and_then(|least| u8::try_from(least).ok());
                    self.at_least = least.ok_or(format!("`{word}` is no counter mask: it is a number up to 255"))?;
                }
                Some(("period", period)) => {
                    let period = number::parse(period).filter(|period| (1..COUNTER_RANGE).contains(period));
                    self.period = Some(period.ok_or(format!("`{word}` is no period: it is a number from 1 to 2^48 - 1"))?);
                }
                _ => return Ok(false),
            },
        }
        Ok(true)
    }

    fn select(&self, event: u8, umask: u8) -> PerfEvtSel {
        let (user, kernel) = self.levels.unwrap_or((true, true));
        let mut select = PerfEvtSel::default();
        select.set_event_select(event);
        select.set_unit_mask(umask);
        select.set_usr(user);
        select.set_os(kernel);
        select.set_e(self.edge);
        select.set_pc(self.pin);
        select.set_int(self.interrupt);
        select.set_en(!self.disabled);
        select.set_inv(self.invert);
        select.set_cnt_mask(self.at_least);
        select
    }
}

/// What is said about an event or unit mask that came later.
fn lack(entry: &Entry, revision: Revision) -> String {
    format!("{} came with revision {}; revision {} lacks it", entry.name, entry.since, revision.letter())
}

fn program(part: Part, revision: Revision, slot: Slot, request: &Request<'_>) -> Result<Programming, Error> {
    let selected = select::event(part, request.event)?;
    let number = u8::try_from(selected.select)
        .map_err(|_| Error::usage(format!("`{}` is no event select of {}: it has 8 bits", request.event, part.name())))?;
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
            return Err(unknown_word(event, word, masks));
        }
    }
    let umask = words.umask.unwrap_or_else(|| every_mask(masks, revision, &mut notes));
    let select = words.select(number, umask);
    advise(&mut notes, &words, slot, select, selected.entry);
    let counter = words.period.map(|period| (Register::PerfCtr(slot), PerfCtr::written(period.wrapping_neg()).bits()));
    let writes = counter.into_iter().chain([(Register::PerfEvtSel(slot), select.bits())]);
    Ok(Programming {
        event: Some(select).filter(|select| select.bits() != 0).map(notation),
        counter: slot.index() as u32,
        writes: writes.filter_map(|(register, value)| write(part, register, value)).collect(),
        notes,
    })
}

/// Takes a unit mask or a modifier; whether `word` was one.
fn take(words: &mut Words, word: &str, masks: &[Entry], revision: Revision) -> Result<bool, Error> {
    let bits = match (masks.iter().find(|mask| mask.is_called(word)), select::raw(word)) {
        (Some(mask), _) if !revision.has(mask) => return Err(Error::usage(lack(mask, revision))),
        (Some(mask), _) => u64::from(mask.umask.unwrap_or(0)),
        (None, Some(bits)) => bits,
        (None, None) => return words.modify(word).map_err(Error::usage),
    };
    let bits = u8::try_from(bits).map_err(|_| Error::usage(format!("`{word}` is no unit mask: it has 8 bits")))?;
    words.umask = Some(words.umask.unwrap_or(0) | bits);
    Ok(true)
}

fn unknown_word(event: &str, word: &str, masks: &[Entry]) -> Error {
    let names = masks.iter().flat_map(|mask| mask.mask_name().into_iter().chain(mask.aliases.iter().copied()));
    let otherwise = if masks.is_empty() {
        "it has no unit masks, and modifiers are u, k, e, i, c=N, int, pc, noen, period=N".to_owned()
    } else {
        suggest::there_are(names.clone())
    };
    let hint = suggest::did_you_mean(word, names.chain(MODIFIERS), &otherwise);
    Error::usage(format!("{event} has no unit mask or modifier `{word}`{hint}"))
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
fn advise(notes: &mut Vec<String>, words: &Words, slot: Slot, select: PerfEvtSel, entry: Option<(&'static Entry, &'static [Entry])>) {
    let umask = u32::from(select.unit_mask());
    if let Some((event, masks)) = entry {
        let known = masks.iter().filter_map(|mask| mask.umask).fold(0, |bits, bit| bits | bit);
        if !masks.is_empty() && umask == 0 {
            notes.push("a unit mask of 0 counts nothing".to_owned());
        } else if !masks.is_empty() && umask & !known != 0 {
            notes.push(format!("unit mask {:#04x} names no sub-event", umask & !known));
        } else if masks.is_empty() && umask != 0 {
            notes.push("the event has no unit masks: they are not looked at".to_owned());
        }
        notes.extend(missing_group(event, masks, umask).filter(|_| umask != 0));
        let mut picked = picked(event, masks, umask).peekable();
        if picked.peek().is_some() && picked.all(|entry| entry.fidelity == Fidelity::Injected) {
            notes.push("no signal drives it: it counts only what the emulator injects".to_owned());
        }
        if event.scope == Scope::Package {
            notes.push(format!("the package shares it: while enabled, no other core can use its counter {}", slot.index()));
        }
    }
    let most = most_per_clock(select);
    match (words.at_least, words.invert) {
        (0, true) => notes.push("inv means nothing without cmask".to_owned()),
        (least, false) if u32::from(least) > most => notes.push(format!("no clock has {least} of them: {most} is the most")),
        _ => {}
    }
    if words.period.is_some() && !words.interrupt {
        notes.push("without `int` the overflow asks for no interrupt".to_owned());
    }
}
