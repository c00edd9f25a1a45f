//! PMC4-15: what a generic counter counts (Montecito manual, Table 3-6).

use vm_pmu::arch::event::{AllThreads, CounterSet, Entry, MONTECITO};
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::montecito::Pmc;

use super::LIMITS;
use crate::dialect::ia64::{chosen, fields, words};

/// The first counter that does not count while its thread is in the background.
pub(super) const FIRST_BANKED: u32 = 10;
/// Every state of a cache line.
pub(super) const EVERY_STATE: u8 = 0b1111;

pub(super) fn selected(pmc: Pmc) -> Option<(&'static Entry, Option<&'static Entry>)> {
    chosen(&MONTECITO, pmc.es(), pmc.umask())
}

pub(super) fn label(field: &Field, value: u64) -> Option<String> {
    let (event, mask) = selected(Pmc::written(value))?;
    match field.name {
        "es" => Some(event.name.to_owned()),
        "umask" => mask.and_then(Entry::mask_name).map(str::to_owned),
        _ => None,
    }
}

/// What a field of the register of counter `counter` says.
pub(super) fn meaning(counter: u32, field: &Field, value: u64) -> Option<String> {
    let pmc = Pmc::written(value);
    let found = selected(pmc);
    Some(match field.name {
        "plm" => fields::levels(field.of(value), "counts"),
        "pm" if pmc.plm() == 0 => String::new(),
        "pm" => fields::privileged(field.of(value), "counts"),
        "es" => select_meaning(counter, found),
        "umask" => mask_meaning(pmc, found),
        "threshold" => fields::threshold(field.of(value), found.map_or(7, |(event, mask)| mask.unwrap_or(event).max_per_cycle)),
        "ism" if pmc.ism() == LIMITS.ism => "as it must be".to_owned(),
        "ism" => "only 10 is defined: nothing is counted".to_owned(),
        "all" => all_meaning(counter, pmc, found),
        "MESI" => state_meaning(pmc, found),
        _ => return None,
    })
}

fn select_meaning(counter: u32, found: Option<(&'static Entry, Option<&'static Entry>)>) -> String {
    let Some((event, _)) = found else { return "no event has this code: nothing is counted".to_owned() };
    let mut text = format!("{}: {}", event.name, event.summary);
    if event.counters >> counter & 1 == 0 {
        text.push_str(&format!(" PMC{counter} does not take it: nothing is counted."));
    }
    match event.set {
        CounterSet::L1Data(set) if counter != 5 => text.push_str(&format!(" PMC5 must select an event of set {set} too.")),
        CounterSet::L2Data(set) if !matches!(counter, 4 | 6) => {
            let leader = if matches!(counter, 5 | 8) { 4 } else { 6 };
            text.push_str(&format!(" PMC{leader} must select an event of set {set} too, and its umask and all count here."));
        }
        _ => {}
    }
    text
}

fn mask_meaning(pmc: Pmc, found: Option<(&'static Entry, Option<&'static Entry>)>) -> String {
    match found {
        None => String::new(),
        Some((_, Some(mask))) => format!("{}: {}", mask.mask_name().unwrap_or_default(), mask.summary),
        Some((event, None)) if MONTECITO.masks(event).is_empty() => {
            if pmc.umask() == 0 {
                String::new()
            } else {
                "ignored: the event has no unit masks".to_owned()
            }
        }
        Some((event, None)) => format!("no unit mask of {}: nothing is counted", event.name),
    }
}

fn all_meaning(counter: u32, pmc: Pmc, found: Option<(&'static Entry, Option<&'static Entry>)>) -> String {
    let threads = found.map_or(AllThreads::Chosen, |(event, mask)| mask.unwrap_or(event).all_threads);
    match (pmc.all(), threads) {
        (_, AllThreads::Always) => "both threads of the core, whatever it holds".to_owned(),
        (false, _) => String::new(),
        (true, _) if counter >= FIRST_BANKED => format!("no effect: PMC{counter} counts its own thread"),
        (true, AllThreads::Never) => "no effect: the event is counted for one thread only".to_owned(),
        (true, AllThreads::Chosen) => "both threads of the core".to_owned(),
    }
}

fn state_meaning(pmc: Pmc, found: Option<(&'static Entry, Option<&'static Entry>)>) -> String {
    match (pmc.mesi(), found.is_some_and(|(event, _)| event.by_line_state)) {
        (0, false) => String::new(),
        (_, false) => "ignored: the event does not depend on states of lines".to_owned(),
        (0, true) => "lines in no state: nothing is counted".to_owned(),
        (EVERY_STATE, true) => "lines in any state".to_owned(),
        (states, true) => format!("lines in the states {}", words::letters(states)),
    }
}

/// The event, unit mask and modifiers that make `value`.
pub(super) fn notation(value: u64) -> Option<String> {
    let pmc = Pmc::written(value);
    let mut idle = pmc;
    idle.set_ism(0);
    if idle.bits() == 0 {
        return None;
    }
    let found = selected(pmc);
    // An event's second code is written as a number: its name means the first.
    let named = found.filter(|(event, _)| event.select == u32::from(pmc.es()));
    let mut text = named.map_or_else(|| format!("{:#04x}", pmc.es()), |(event, _)| event.name.to_owned());
    let has_masks = found.is_some_and(|(event, _)| !MONTECITO.masks(event).is_empty());
    match found.and_then(|(_, mask)| mask).filter(|mask| mask.umask == Some(pmc.umask().into())).and_then(Entry::mask_name) {
        Some(name) => text.push_str(&format!(".{name}")),
        None if has_masks || pmc.umask() != 0 => text.push_str(&format!(":{:#x}", pmc.umask())),
        None => {}
    }
    text.push_str(&format!(":{}", words::levels(pmc.plm())));
    for (is_set, word) in [(pmc.pm(), ":pm"), (pmc.oi(), ":oi"), (pmc.ev(), ":ev"), (pmc.all(), ":all")] {
        text.push_str(if is_set { word } else { "" });
    }
    if pmc.threshold() != 0 {
        text.push_str(&format!(":threshold={}", pmc.threshold()));
    }
    let usual = if found.is_some_and(|(event, _)| event.by_line_state) { EVERY_STATE } else { 0 };
    if pmc.mesi() != usual {
        text.push_str(&format!(":mesi={}", words::letters(pmc.mesi())));
    }
    if pmc.ism() != LIMITS.ism {
        text.push_str(&format!(":ism={}", pmc.ism()));
    }
    Some(text)
}
