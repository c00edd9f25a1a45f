//! What the registers of a box say.

use vm_pmu::arch::event::CoherenceFilter;
use vm_pmu::arch::knl::untile::{ChaFilter0, CounterControl, Kind, Place, UnitId, UnitRegister};
use vm_pmu::arch::layout::Field;

use super::registers::{Located, writable};
use super::words::LIMITS;
use super::{event, events, most_per_clock};
use crate::dialect::x86;
use crate::number::grouped;

/// The box and the control, if the register controls a general counter.
fn control(located: Located, value: u64) -> Option<(UnitId, CounterControl)> {
    match located.place {
        Place::Unit(unit, UnitRegister::CounterControl(_)) => Some((unit, CounterControl::written(value & writable(unit.kind())))),
        _ => None,
    }
}

/// The name that a field holds.
pub(in super::super) fn label(located: Located, field: &Field, value: u64) -> Option<String> {
    let (unit, control) = control(located, value)?;
    let event = event(unit.kind(), control.ev_sel())?;
    match field.name {
        "ev_sel" => Some(event.0.name.to_owned()),
        "umask" => {
            Some(x86::mask_words(event, control.umask().into()).join(" + ")).filter(|names| !names.is_empty() && !names.starts_with("0x"))
        }
        _ => None,
    }
}

/// What a field says, where that is more than its summary.
pub(in super::super) fn meaning(located: Located, field: &Field, value: u64) -> Option<String> {
    let is_set = field.of(value) != 0;
    if let Some((unit, control)) = control(located, value) {
        return of_control(unit.kind(), control, field, is_set);
    }
    match (located.place, field.name) {
        (Place::Unit(_, UnitRegister::Counter(_) | UnitRegister::Fixed), _) if located.high => {
            is_set.then(|| grouped(field.of(value) << 32))
        }
        (Place::Unit(unit, UnitRegister::Counter(_) | UnitRegister::Fixed), _) => {
            Some(if unit.kind().is_pci() { grouped(field.of(value)) } else { x86::counter_meaning(field.of(value), LIMITS.bits) })
        }
        (Place::Unit(unit, UnitRegister::Filter(0)), "ThreadID") if unit.kind() == Kind::Cha => {
            let filter = ChaFilter0::written(value);
            let thread = filter.thread_id();
            Some(format!("thread {} of core {} of tile {}, where a control has tid_en", thread & 3, thread >> 2, filter.tile_id()))
        }
        (Place::Unit(unit, UnitRegister::Status), "ov") if is_set => Some(overflowed(unit.kind(), field.of(value))),
        (Place::GlobalStatus, "ov_c") if is_set => Some(format!("CHA {}", listed(field.of(value)))),
        (Place::GlobalStatus, "ov_m") if is_set => Some(format!("memory controller {}", listed(field.of(value)))),
        (Place::GlobalStatus, "ov_e") if is_set => Some(format!("EDC {}", listed(field.of(value)))),
        (Place::GlobalControl, "pmi_core_sel") if is_set => Some(format!("an overflow interrupts tile {}", listed(field.of(value)))),
        (Place::Config, "num_c") => Some(format!("{} CHAs", field.of(value))),
        _ => None,
    }
}

fn of_control(kind: Kind, control: CounterControl, field: &Field, is_set: bool) -> Option<String> {
    let event = event(kind, control.ev_sel()).filter(|_| kind != Kind::Pcu);
    let umask = u32::from(control.umask());
    match field.name {
        "ev_sel" => Some(match event {
            Some((event, _)) => format!("{}: {}", event.name, event.summary),
            None => x86::RESERVED.to_owned(),
        }),
        "umask" => Some(event.map_or_else(String::new, |event| x86::mask_meaning(event, umask))),
        "thresh" if kind != Kind::Pcu => {
            let most = most_per_clock(kind, control.ev_sel(), control.umask());
            Some(x86::threshold_meaning(most, control.thresh().into(), control.invert()))
        }
        "invert" if is_set && control.thresh() == 0 => Some("means nothing while thresh is 0".to_owned()),
        "tid_en" if is_set && kind != Kind::Cha => Some("kept; the box filters no threads".to_owned()),
        _ => None,
    }
}

/// Which counters of a box overflowed.
fn overflowed(kind: Kind, bits: u64) -> String {
    let first = u64::from(kind.has_fixed());
    let one = |bit: u64| if bit < first { "the fixed counter".to_owned() } else { format!("counter {}", bit - first) };
    let names: Vec<String> = (0..5).filter(|bit| bits >> bit & 1 == 1).map(one).collect();
    format!("{} overflowed", names.join(" and "))
}

/// The numbers of the bits that are set.
fn listed(bits: u64) -> String {
    let numbers: Vec<String> = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| bit.to_string()).collect();
    numbers.join(", ")
}

/// The event that the register counts, as `pmulab encode` takes it.
pub(in super::super) fn notation(located: Located, value: u64) -> Option<String> {
    let Place::Unit(unit, register) = located.place else { return None };
    match register {
        UnitRegister::FixedControl => {
            let enable = if unit.kind() == Kind::Ubox { 1 << 22 } else { 1 };
            let interrupt = if value >> 20 & 1 == 1 { ":int" } else { "" };
            (value & enable != 0).then(|| format!("{unit}::FIXED{interrupt}"))
        }
        UnitRegister::CounterControl(_) => {
            let (unit, control) = control(located, value)?;
            // What compares cores in the power control unit has no words.
            let is_said = control.bits() != 0 && (unit.kind() != Kind::Pcu || control.thresh() < 0x40);
            is_said.then(|| said(unit, control))
        }
        _ => None,
    }
}

/// The event, unit masks and modifiers that make a control.
pub(super) fn said(unit: UnitId, control: CounterControl) -> String {
    let umask = u32::from(control.umask());
    let mut words = Vec::new();
    match event(unit.kind(), control.ev_sel()).filter(|_| unit.kind() != Kind::Pcu) {
        Some(event) => {
            // The box and its mesh stop share some names: then the number says which.
            let first = events(unit.kind()).find(|other| other.is_called(event.0.name));
            let is_first = first.is_some_and(|other| other.select == event.0.select && other.unit == event.0.unit);
            words.push(if is_first { event.0.name.to_owned() } else { format!("{:#04x}", control.ev_sel()) });
            let names = x86::mask_words(event, umask);
            let is_plain = event.1.is_empty() && umask == 0;
            words.extend(if names.is_empty() && !is_plain { vec![format!("{umask:#04x}")] } else { names });
        }
        None => {
            words.push(format!("{:#04x}", control.ev_sel()));
            words.extend((umask != 0).then(|| format!("{umask:#04x}")));
        }
    }
    let flags = [
        (control.edge_det(), "e"),
        (control.invert(), "inv"),
        (control.tid_en() && unit.kind() == Kind::Cha, "tid"),
        (control.ov_en(), "int"),
        (!control.en(), "noen"),
    ];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
    if control.thresh() != 0 {
        words.push(format!("c={}", control.thresh()));
    }
    format!("{unit}::{}", words.join(":"))
}

/// Whether a filter of the CHA applies to what is counted.
pub(super) fn filtered_by(kind: Kind, select: u8) -> CoherenceFilter {
    event(kind, select).map_or(CoherenceFilter::None, |(event, _)| event.filter)
}
