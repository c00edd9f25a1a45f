//! What the dialects of the IA-64 parts share: words after an event, places for events, and what their common fields say.

pub(super) mod captures;
pub(super) mod fields;
pub(super) mod names;
pub(super) mod place;
pub(super) mod ranges;
pub(super) mod words;

use vm_pmu::arch::access::Address;
use vm_pmu::arch::event::{Catalogue, Entry};
use vm_pmu::arch::model::RegisterDescription;
use vm_pmu::arch::registry::Part;

use super::{Write, unsupplied_note};
use crate::dialect::select;
use words::Limits;

/// The manual's name for what a bit of a privilege level mask is: the most privileged level, and that of applications.
pub(super) const KERNEL: u8 = 0b0001;
pub(super) const USER: u8 = 0b1000;

/// The headings of the units of the catalogues.
pub(super) fn unit_title(unit: &str) -> &'static str {
    match unit {
        "basic" => "instructions and cycles",
        "dispersal" => "how the slots of bundles reach execution units",
        "execution" => "what completes: operations, speculation, privilege",
        "stall" => "why nothing completes in a cycle",
        "branch" => "branches and their prediction",
        "l1i" => "the first-level instruction cache and prefetching",
        "l1d" => "the first-level data cache",
        "l2" => "the second-level cache",
        "l2i" => "the second-level instruction cache",
        "l2d" => "the second-level data cache and its queue",
        "l3" => "the third-level cache",
        "system" => "what system software sees",
        "tlb" => "translation buffers and the page walker",
        "bus" => "the system interface and the bus",
        "rse" => "the register stack engine",
        "thread" => "switches between the threads of a core",
        _ => "",
    }
}

/// The number of the register, if it configures a counter of `limits`.
pub(super) fn counter_of(register: &RegisterDescription, limits: &Limits) -> Option<u32> {
    match register.address {
        Address::Pmc(number) => Some(u32::from(number)).filter(|number| limits.counters.contains(number)),
        _ => None,
    }
}

/// A write to the register at `address`.
pub(super) fn write(part: Part, address: Address, value: u64) -> Option<Write> {
    select::registers(part).iter().find(|register| register.address == address).map(|register| Write { register, value })
}

/// The event with this select, and the unit mask of it that `umask` chooses, if there are such.
pub(super) fn chosen(catalogue: &Catalogue, es: u8, umask: u8) -> Option<(&'static Entry, Option<&'static Entry>)> {
    let (indexed, _) = catalogue.select(es.into())?;
    // Another event may have the code too, with the one unit mask that is its plain form.
    let plain = |event: &&Entry| matches!(catalogue.masks(event), [only] if only.umask == Some(umask.into()));
    let event = catalogue.events().filter(|event| event.select == u32::from(es)).find(plain).unwrap_or(indexed);
    let masks = catalogue.masks(event);
    // A name may mean several bits of a set: the one with most of them is the best name.
    let picked = masks.iter().filter(|mask| mask.is_chosen_by(umask.into(), event.shape));
    Some((event, picked.max_by_key(|mask| mask.umask.unwrap_or(0).count_ones())))
}

/// The note about an event that only an embedder can report.
pub(super) fn injected(picked: &Entry) -> Option<String> {
    unsupplied_note(picked.fidelity).map(str::to_owned)
}
