//! The boxes of the untile: their registers by name, what these say, and the writes that count events in them (chapters 3 to 8).

mod meaning;
mod program;
mod registers;
mod words;

pub(super) use meaning::{label, meaning, notation};
pub(super) use program::{encode, unit_of};
pub(super) use registers::{all, located};
pub(super) use words::THERE_ARE;

use vm_pmu::arch::event::{Entry, KNL};
use vm_pmu::arch::knl::untile::{Kind, UnitId};

use crate::dialect::x86::Event;

/// The first select of the mesh stop that every box has.
const FIRST_OF_MESH: u8 = 0x80;

/// The word before an event that a box counts, and the event.
pub(super) fn boxed(event: &str) -> Option<(&str, &str)> {
    event.split_once("::").filter(|(unit, _)| !unit.eq_ignore_ascii_case("tile"))
}

/// The names of the units whose events a box of `kind` counts.
fn units(kind: Kind) -> [&'static str; 2] {
    [kind.unit(), "cms"]
}

/// The events that a box of `kind` counts, its own first.
fn events(kind: Kind) -> impl Iterator<Item = &'static Entry> {
    let of_unit = |unit| KNL.events().filter(move |event| event.unit == unit);
    units(kind).into_iter().flat_map(of_unit)
}

/// The event with this select in a box of `kind`.
fn event(kind: Kind, select: u8) -> Option<Event> {
    let [own, mesh] = units(kind);
    let unit = if select >= FIRST_OF_MESH { mesh } else { own };
    let rank = KNL.units.iter().position(|other| *other == unit)?;
    KNL.select_in(u16::try_from(rank).ok()?, select.into())
}

/// What a clock can add at most.
fn most_per_clock(kind: Kind, select: u8, umask: u8) -> u32 {
    /// Of what is no event nothing is known.
    const MOST: u32 = 255;
    crate::dialect::x86::most_per_clock(event(kind, select), umask.into(), MOST)
}

/// The boxes, for a message: each kind with its first and last.
fn there_are() -> String {
    let one = |kind: Kind| {
        let of = |number| UnitId::new(kind, number).map_or_else(String::new, |unit| unit.to_string());
        if kind.count() == 1 { of(0) } else { format!("{} to {}", of(0), of(kind.count() - 1)) }
    };
    crate::suggest::there_are(Kind::ALL.map(one).iter().map(String::as_str))
}
