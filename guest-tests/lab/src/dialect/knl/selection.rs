//! What IA32_PERFEVTSEL0 and 1 say.

use vm_pmu::arch::event::KNL;
use vm_pmu::arch::knl::PerfEvtSel;
use vm_pmu::arch::layout::Field;
use vm_pmu::arch::model::RegisterDescription;

use crate::dialect::x86::words::Modifiers;
use crate::dialect::x86::{self, Event, RESERVED};

/// Whether the register is one of the two.
pub(super) fn is_select(register: &RegisterDescription) -> bool {
    register.name.starts_with("IA32_PERFEVTSEL")
}

/// The event that is selected, if there is one.
pub(super) fn event(select: PerfEvtSel) -> Option<Event> {
    KNL.select(select.event_select().into())
}

/// Whether AnyThread means something for what is selected.
pub(super) fn takes_any_thread(select: PerfEvtSel) -> bool {
    event(select).is_some_and(|event| x86::picked(event, select.umask().into()).any(|entry| entry.any_thread))
}

/// The most that a clock can add.
pub(super) fn most_per_clock(select: PerfEvtSel) -> u32 {
    x86::most_per_clock(event(select), select.umask().into(), KNL.max_per_cycle)
}

pub(super) fn label(field: &Field, value: u64) -> Option<String> {
    let select = PerfEvtSel::written(value);
    let event = event(select)?;
    match field.name {
        "Event Select" => Some(event.0.name.to_owned()),
        "UMASK" => {
            Some(x86::mask_words(event, select.umask().into()).join(" + ")).filter(|names| !names.is_empty() && !names.starts_with("0x"))
        }
        _ => None,
    }
}

pub(super) fn meaning(field: &Field, value: u64) -> Option<String> {
    let select = PerfEvtSel::written(value);
    let is_set = field.of(value) != 0;
    match field.name {
        "Event Select" => Some(match event(select) {
            Some((event, _)) => format!("{}: {}", event.name, event.summary),
            None => RESERVED.to_owned(),
        }),
        "UMASK" => Some(event(select).map_or_else(String::new, |event| x86::mask_meaning(event, select.umask().into()))),
        "CMASK" => Some(x86::threshold_meaning(most_per_clock(select), select.cmask().into(), select.inv())),
        "INV" if is_set && select.cmask() == 0 => Some("means nothing while CMASK is 0".to_owned()),
        "ANY" if is_set && !takes_any_thread(select) => Some("means nothing for this event, which counts as without it".to_owned()),
        _ => None,
    }
}

/// The event, unit masks and modifiers that make the select.
pub(super) fn notation(value: u64) -> Option<String> {
    let select = PerfEvtSel::written(value);
    if select.bits() == 0 {
        return None;
    }
    let umask = u32::from(select.umask());
    let mut words = Vec::new();
    match event(select) {
        Some(event) if !event.1.is_empty() => {
            words.push(event.0.name.to_owned());
            let names = x86::mask_words(event, umask);
            words.extend(if names.is_empty() { vec![format!("{umask:#04x}")] } else { names });
        }
        other => {
            words.push(other.map_or_else(|| format!("{:#04x}", select.event_select()), |event| event.0.name.to_owned()));
            words.extend((umask != 0).then(|| format!("{umask:#04x}")));
        }
    }
    words.extend(modifiers(select).words());
    Some(words.join(":"))
}

fn modifiers(select: PerfEvtSel) -> Modifiers {
    Modifiers {
        user: select.usr(),
        kernel: select.os(),
        edge: select.e(),
        invert: select.inv(),
        interrupt: select.int(),
        pin: select.pc(),
        any_thread: select.any_thread(),
        enabled: select.en(),
        at_least: select.cmask(),
    }
}

/// The select with these words.
pub(super) fn selecting(event: u8, umask: u8, words: &Modifiers) -> PerfEvtSel {
    let mut select = PerfEvtSel::default();
    select.set_event_select(event);
    select.set_umask(umask);
    select.set_usr(words.user);
    select.set_os(words.kernel);
    select.set_e(words.edge);
    select.set_pc(words.pin);
    select.set_int(words.interrupt);
    select.set_any_thread(words.any_thread);
    select.set_en(words.enabled);
    select.set_inv(words.invert);
    select.set_cmask(words.at_least);
    select
}
