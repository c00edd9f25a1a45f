//! PMC4-7: what a generic counter counts.

use vm_pmu::arch::event::{Entry, ITANIUM};
use vm_pmu::arch::itanium::Pmc;
use vm_pmu::arch::layout::Field;

use super::LIMITS;
use crate::dialect::ia64::{chosen, fields, words};

fn selected(pmc: Pmc) -> Option<(&'static Entry, Option<&'static Entry>)> {
    chosen(&ITANIUM, pmc.es(), pmc.umask())
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
        "es" => match found {
            None => "no event has this code: nothing is counted".to_owned(),
            Some((event, _)) if event.counters >> counter & 1 == 0 => {
                format!("{}: {} PMC{counter} does not take it: nothing is counted.", event.name, event.summary)
            }
            Some((event, _)) => format!("{}: {}", event.name, event.summary),
        },
        "umask" => match found {
            Some((_, Some(mask))) => format!("{}: {}", mask.mask_name().unwrap_or_default(), mask.summary),
            Some((event, None)) if ITANIUM.masks(event).is_empty() && pmc.umask() != 0 => "ignored: the event has no unit masks".to_owned(),
            Some((event, None)) if !ITANIUM.masks(event).is_empty() => format!("no unit mask of {}: nothing is counted", event.name),
            _ => String::new(),
        },
        "threshold" => fields::threshold(field.of(value), found.map_or(7, |(event, mask)| mask.unwrap_or(event).max_per_cycle)),
        "ism" => instruction_sets(field.of(value)),
        _ => return None,
    })
}

/// The instruction sets that ism leaves.
pub(super) fn instruction_sets(ism: u64) -> String {
    match ism {
        0 => "IA-64 and IA-32",
        1 => "IA-32 only",
        2 => "IA-64 only",
        _ => "neither instruction set: off",
    }
    .to_owned()
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
    let mut text = found.map_or_else(|| format!("{:#04x}", pmc.es()), |(event, _)| event.name.to_owned());
    let has_masks = found.is_some_and(|(event, _)| !ITANIUM.masks(event).is_empty());
    match found.and_then(|(_, mask)| mask).filter(|mask| mask.umask == Some(pmc.umask().into())).and_then(Entry::mask_name) {
        Some(name) => text.push_str(&format!(".{name}")),
        None if has_masks || pmc.umask() != 0 => text.push_str(&format!(":{:#x}", pmc.umask())),
        None => {}
    }
    text.push_str(&format!(":{}", words::levels(pmc.plm())));
    for (is_set, word) in [(pmc.pm(), ":pm"), (pmc.oi(), ":oi"), (pmc.ev(), ":ev")] {
        text.push_str(if is_set { word } else { "" });
    }
    if pmc.threshold() != 0 {
        text.push_str(&format!(":threshold={}", pmc.threshold()));
    }
    if pmc.ism() != LIMITS.ism {
        text.push_str(&format!(":ism={}", pmc.ism()));
    }
    Some(text)
}
