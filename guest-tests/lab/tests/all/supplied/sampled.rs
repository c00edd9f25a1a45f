//! POWER9's events, counted during guests by additional PMUs of which the guests know nothing.

use std::collections::BTreeSet;

use vm_pmu::arch::event::{Amount, Drive, Entry, Fidelity, Test};
use vm_pmu::arch::feed::{FabricCommand, Traits};
use vm_pmu::arch::power9::encode::{Encoding, EventCode, Options as EncodeOptions, encode};
use vm_pmu::companion::Clock;
use vm_pmu::{Part, Signal};
use vm_pmu_lab::entries::driven;
use vm_pmu_lab::entries::known::Known;
use vm_pmu_lab::runner::{Options, count};

use super::images;

/// Guests that together reach every state and every kind of sampled instruction, and how many steps of them.
const GUESTS: [(&str, u64); 8] = [
    ("count", 10_000),
    ("freeze-matrix", 50_000),
    ("masked", 10_000),
    ("four-threads", 30_000),
    ("ebb", 20_000),
    ("sample", 40_000),
    ("latency", 100_000),
    ("branch-history", 10_000),
];

/// Codes of data that come from beyond a core and its memory: the companion reports them by the same outcome from which it makes its
/// signals of these loads, and no guest here has a second pair of cores, a second chip or buffers on its memory. They have tests of the companion.
const FAR: u32 = 0xFFFF << 0x10 & !(1 << 0x1B);

/// What needs another CPU.
const OF_OTHERS: [Signal; 9] = [
    Signal::TranslationInvalidationsReceived,
    Signal::TransactionsAbortedNonTransactional,
    Signal::TransactionsAbortedTransactional,
    Signal::TransactionsAbortedTranslation,
    Signal::LoadsAbortingTransactions,
    Signal::StoresAbortingTransactions,
    Signal::TransactionalStoresAbortingOthers,
    Signal::TransactionalLoadsInConflict,
    Signal::TransactionalStoresInConflict,
];

/// What the additional PMUs count: entries, and how they are programmed.
struct Groups {
    members: Vec<Vec<&'static Entry>>,
    encodings: Vec<Encoding>,
}

fn code(entry: &Entry) -> EventCode {
    EventCode::from_bits(entry.select.into())
}

fn together(entries: &[&Entry]) -> Option<Encoding> {
    encode(&entries.iter().map(|entry| code(entry)).collect::<Vec<_>>(), EncodeOptions::default()).ok()
}

impl Groups {
    /// As many events together as can be counted together.
    fn of(entries: impl Iterator<Item = &'static Entry>) -> Groups {
        let mut members: Vec<Vec<&'static Entry>> = Vec::new();
        for entry in entries {
            let fits = |group: &&mut Vec<&'static Entry>| together(&[group.as_slice(), &[entry]].concat()).is_some();
            match members.iter_mut().find(fits) {
                Some(group) => group.push(entry),
                None => members.push(vec![entry]),
            }
        }
        let encodings = members.iter().map(|group| together(group).unwrap_or_else(|| panic!("{} is an event", group[0].name))).collect();
        Groups { members, encodings }
    }
}

/// The pages of the engine, which has no tables: other sizes, and the places of page-table entries, have tests of the companion.
const PAGE_BITS: u8 = 16;

/// What is shown here: every sampled event, and events of signals that the engine supplies, whatever state they depend on.
fn is_of_the_engine(entry: &Entry, known: &Known) -> bool {
    match entry.drive {
        // No request goes beyond the one chip: tests of the companion.
        Drive::Sampled { amount: Amount::Retries, .. } => false,
        Drive::Sampled { tests, .. } => !tests.iter().any(|test| match test {
            Test::Source(codes) => codes & !FAR & near() == 0,
            Test::WalkSource(_) => true,
            Test::Page(bits) => *bits != PAGE_BITS,
            // What other chips share or have modified, and instructions that the engine does not execute: tests of the companion.
            Test::Fabric(FabricCommand::Claim) | Test::StoreIntervention | Test::TaggedIntervention | Test::Flushed(_) => true,
            Test::Is(traits) => traits.intersects(Traits::DECIMAL),
            _ => false,
        }),
        Drive::Signals => driven::sources(entry).iter().any(|signal| known.engine_supplies(*signal)),
        Drive::Internal(_) => false,
    }
}

/// Codes of the second and the third level and of the chip's memory.
const fn near() -> u32 {
    1 | 1 << 0x04 | 1 << 0x1B
}

#[test]
fn what_the_engine_of_power_tells_is_counted_beside_some_guest() {
    let part = Part::named("power9").unwrap();
    let known = Known::of(part);
    let core = part.catalogue().entries.iter().filter(|entry| entry.unit == "core" && entry.offset.is_none());
    // What another CPU does has tests of the board (tests/all/power_counted.rs): these guests have one CPU.
    let core = core.filter(|entry| !driven::sources(entry).iter().any(|signal| OF_OTHERS.contains(signal)));
    let made = core.filter(|entry| entry.fidelity <= Fidelity::Approximate && is_of_the_engine(entry, &known));
    let groups = Groups::of(made);
    let mut counted: BTreeSet<u32> = BTreeSet::new();
    let mut book = |counts: &[[u64; 6]]| {
        for ((group, encoding), counts) in groups.members.iter().zip(&groups.encodings).zip(counts) {
            for (index, entry) in group.iter().enumerate() {
                let counter = encoding.counter_of(index).map_or(0, usize::from);
                if counts.get(counter.wrapping_sub(1)).is_some_and(|count| *count != 0) {
                    counted.insert(entry.select);
                }
            }
        }
    };
    let options = |limit| Options { limit, ..Options::default() };
    let image = images::medley(part).unwrap();
    // With the companion's clock records have the stages of its pipeline.
    for clock in [Clock::Embedder, Clock::Companion] {
        book(&vm_pmu_lab::runner::count_image("power9", "medley", &image, clock, &options(10_000), &groups.encodings).unwrap().1);
    }
    for (guest, steps) in GUESTS {
        book(&count("power9", guest, &options(steps), &groups.encodings).unwrap().1);
    }
    let missing = groups.members.iter().flatten().filter(|entry| !counted.contains(&entry.select));
    let missing: Vec<String> = missing.map(|entry| format!("{} ({:X}h)", entry.name, entry.select)).collect();
    assert!(missing.is_empty(), "{} of {} were never counted: {missing:?}", missing.len(), groups.members.iter().flatten().count());
}
