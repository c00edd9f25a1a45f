//! The units whose counters are posted: their names, scales and events.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use vm_pmu_arch::event::{Drive, Entry, Internal, POWER9};
use vm_pmu_arch::power9::nest::{self, Availability, Bank, DEFAULT_BANKS, FLEXIBLE, FLEXIBLE_BANKS, Kind, Prescaler, Width};

use super::catalogue::{ImcCatalogue, Told};

/// What posts, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Domain {
    /// The nest of a chip, into the chip's home memory.
    Nest,
    /// A core, where its PDBAR says.
    Core,
    /// A thread, where its LDBAR says.
    Thread,
}

/// How many events a count of a core is worth, and the offset of the counters in its memory, in bytes (N30).
const CORE_SCALE: u32 = 512;
const CORE_BASE: u32 = 0x18;
/// The prefix of names of events of cores and threads.
const CORE_PREFIX: &str = "CPM_";
/// The prefix of names of counts of updates.
const UPDATES_PREFIX: &str = "Update_count_";

/// An event as its node has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Its name without the unit's prefix.
    pub(super) name: &'static str,
    /// The offset at which it is posted, in bytes from the unit's base.
    pub(super) reg: u32,
    /// What it counts.
    pub(super) summary: &'static str,
}

/// Events that belong together, as two nodes have them.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The node's name before its address: firmware finds a unit to remove by it, and an operating system names the PMU after it.
    pub(super) name: String,
    /// The prefix of the names of its events.
    pub(super) prefix: Cow<'static, str>,
    /// How many events one count is worth.
    pub(super) scale: u32,
    /// What posts it.
    pub(super) domain: Domain,
    /// Where it begins in memory, in bytes.
    pub(super) base: u32,
    /// Its events.
    pub(super) events: Vec<Event>,
}

impl Unit {
    /// The unit whose events are those of `posted` that begin with its prefix. It starts at `base`, or else at the first of them; `None` if
    /// it has no events.
    fn of(posted: &[Posted], name: String, prefix: Cow<'static, str>, scale: u32, domain: Domain, base: Option<u32>) -> Option<Unit> {
        let own = || posted.iter().filter_map(|(entry, offset)| Some((entry, *offset, entry.name.strip_prefix(&*prefix)?)));
        let first = own().map(|(_, offset, _)| offset).min()?;
        let base = base.unwrap_or(first);
        let event = |(entry, offset, name): (&&'static Entry, u32, &'static str)| {
            Some(Event { name, reg: offset.checked_sub(base)?, summary: entry.summary })
        };
        let events = own().filter_map(event).collect();
        Some(Unit { name, prefix, scale, domain, base, events })
    }
}

/// An event of the catalogue and where it is posted, in bytes.
type Posted = (&'static Entry, u32);

/// The events of a unit of the catalogue.
fn posted(unit: &str) -> Vec<Posted> {
    POWER9.events().filter(|entry| entry.unit == unit).filter_map(|entry| Some((entry, entry.offset?))).collect()
}

/// Whether an event of the nest is reported by the sources in `told`.
fn is_told(entry: &Entry, told: Told) -> bool {
    match (told, entry.drive) {
        (Told::All, _) | (_, Drive::Internal(Internal::Clock | Internal::Posting)) => true,
        (Told::ByHostBridges | Told::ByCompanion, Drive::Internal(Internal::Request)) => true,
        (Told::ByHostBridges, Drive::Internal(Internal::Device)) => entry.name.starts_with("PM_PHB"),
        (Told::ByHostBridges | Told::ByCompanion | Told::ByNest, _) => false,
    }
}

/// Whether an event of a core or a thread is reported by the sources in `told`.
fn is_signalled(entry: &Entry, told: Told) -> bool {
    told == Told::All || !entry.signals.is_empty()
}

/// The number after a unit's name; empty where there is only one.
fn number(unit: nest::Unit) -> Cow<'static, str> {
    match (unit.kind, unit.number) {
        (Kind::Mcs, 0) => Cow::Borrowed("01"),
        (Kind::Mcs, _) => Cow::Borrowed("23"),
        (kind, _) if kind.instances() == 1 => Cow::Borrowed(""),
        (_, number) => Cow::Owned(format!("{number}")),
    }
}

/// The name by which firmware knows a unit; of ATS, XTS and NPCQ, which it does not name, the guide's.
fn name(unit: nest::Unit) -> String {
    match unit.kind {
        Kind::Pb => String::from("powerbus0"),
        Kind::Ntl => format!("nvlink{}", number(unit)),
        kind => format!("{}{}", kind.name().to_ascii_lowercase(), number(unit)),
    }
}

/// How many events one count of a bank is worth, at the speeds 0 to 3 (N5, N10).
fn scale(bank: &Bank) -> u32 {
    let prescaler = match bank.width {
        Width::Prescaled => Prescaler::By8.bits(),
        Width::Counter48 | Width::Counter32 => 0,
    };
    1 << (prescaler + bank.pulse_bits(0))
}

/// The units of banks that some chip has, in the order of the banks, with `suffix` after their names; then the counts of updates, which
/// every chip posts.
fn nest_units(availabilities: &[Availability], banks: &[Bank], posted: &[Posted], suffix: &str, units: &mut Vec<Unit>) {
    let mut seen: Vec<nest::Unit> = Vec::new();
    for bank in banks {
        let is_there = availabilities.iter().any(|units| units.has(bank.unit));
        if !is_there || seen.contains(&bank.unit) {
            continue;
        }
        seen.push(bank.unit);
        let prefix = Cow::Owned(format!("PM_{}{}_", bank.unit.kind.name(), number(bank.unit)));
        units.extend(Unit::of(posted, format!("{}{suffix}", name(bank.unit)), prefix, scale(bank), Domain::Nest, None));
    }
    units.extend(Unit::of(posted, format!("update_count{suffix}"), Cow::Borrowed(UPDATES_PREFIX), 1, Domain::Nest, None));
}

/// The units to describe, in the order of their nodes. The fabric is first: some readers take the control block from the first node of a
/// chip's unit.
pub(super) fn units(catalogue: &ImcCatalogue, availabilities: &[Availability]) -> Vec<Unit> {
    let told = posted("nest").into_iter().filter(|(entry, _)| is_told(entry, catalogue.told));
    let (default, flexible): (Vec<Posted>, Vec<Posted>) = told.partition(|(_, offset)| *offset < FLEXIBLE);
    let mut units = Vec::new();
    nest_units(availabilities, &DEFAULT_BANKS, &default, "", &mut units);
    if catalogue.flexible {
        nest_units(availabilities, &FLEXIBLE_BANKS, &flexible, "_flexible", &mut units);
    }
    let mut core = |name: &str, catalogued: &str, domain: Domain| {
        let prefix = Cow::Borrowed(CORE_PREFIX);
        let told: Vec<Posted> = posted(catalogued).into_iter().filter(|(entry, _)| is_signalled(entry, catalogue.told)).collect();
        units.extend(Unit::of(&told, String::from(name), prefix, CORE_SCALE, domain, Some(CORE_BASE)));
    };
    if catalogue.core {
        core("core", "core-imc", Domain::Core);
    }
    if catalogue.thread {
        core("thread", "thread-imc", Domain::Thread);
    }
    units
}
