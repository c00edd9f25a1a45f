//! Programs made of arbitrary bytes, for fuzzers and property tests. Each part has a file on what its drivers do.

mod ia64;
mod itanium;
mod k8;
mod knl;
mod montecito;
mod nest;
mod power9;
mod records;
mod untile;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::{Catalogue, Drive, Entry};
use vm_pmu_arch::feed::{Kind, NestedStep, Record, Request, Signal};
use vm_pmu_arch::model::{Model, Occurrence, Reset};
use vm_pmu_arch::registry::Part;

use super::dialect::Dialect;
use super::{Beginning, ContextField, Litmus, Step};

/// The most statements of one program.
const MAX_STEPS: usize = 64;

/// How many entries of the catalogue a program mostly uses.
const FAVOURITES: usize = 4;

/// What the drivers of one part do.
struct Driver {
    /// The part.
    name: &'static str,
    /// The unit of the catalogue that the registers select events of; empty where there is one catalogue for all.
    unit: &'static str,
    /// How many threads a package may have.
    threads: &'static [usize],
    /// A register and what is written to it.
    write: fn(&Source, &mut Unstructured<'_>) -> Result<(Address, u64)>,
    /// A register that is read.
    read: fn(&Source, &mut Unstructured<'_>) -> Result<Address>,
    /// An event of the catalogue that no signal describes.
    occurrence: fn(&Source, &mut Unstructured<'_>) -> Result<Occurrence>,
    /// A record and the signals that its instruction adds to, if the part uses records.
    record: Option<RecordMaker>,
    /// A request that leaves a core's caches, if the part counts them.
    request: Option<RequestMaker>,
    /// A step of a nested translation, if the part counts them.
    nested: Option<NestedMaker>,
    /// Clocks in addition to the thread's own.
    clocks: &'static [Signal],
    /// How many pins there are.
    pins: u32,
    /// What it does first.
    opening: StepMaker,
    /// What it does in several statements.
    sequence: Option<StepMaker>,
}

/// Makes several statements.
type StepMaker = fn(&Source, &mut Unstructured<'_>) -> Result<Vec<Step>>;

/// Makes a record and the signals that its instruction adds to.
type RecordMaker = fn(&mut Unstructured<'_>) -> Result<(Record, Vec<(Signal, u64)>)>;

/// Makes a request.
type RequestMaker = fn(&mut Unstructured<'_>) -> Result<Request>;

/// Makes a step of a nested translation.
type NestedMaker = fn(&mut Unstructured<'_>) -> Result<NestedStep>;

/// One line per part.
static ALL: [&Driver; 5] = [&itanium::ITANIUM, &k8::K8, &knl::KNL, &montecito::MONTECITO, &power9::POWER9];

/// For a part whose drivers are not described.
static PLAIN: Driver = Driver {
    name: "",
    unit: "",
    threads: &[1, 2],
    write: |source, bytes| Ok((source.register(bytes)?, bytes.arbitrary()?)),
    read: |source, bytes| source.register(bytes),
    occurrence: |source, bytes| {
        let entry = source.entry(bytes)?;
        Ok(Occurrence { select: entry.select, umask: entry.umask.unwrap_or(0) })
    },
    record: Some(records::with_signals),
    request: None,
    nested: None,
    clocks: &[Signal::TimeBaseTicks],
    pins: 4,
    opening: |_, _| Ok(Vec::new()),
    sequence: None,
};

impl Driver {
    /// Whether the registers select `entry`.
    fn selects(&self, entry: &Entry) -> bool {
        self.unit.is_empty() || entry.unit == self.unit
    }
}

/// Every entry, beginning with number `start`.
fn from(entries: &'static [Entry], start: usize) -> impl Iterator<Item = &'static Entry> {
    let (before, from) = entries.split_at_checked(start).unwrap_or((&[], entries));
    from.iter().chain(before)
}

/// What a program is made from.
struct Source {
    driver: &'static Driver,
    dialect: &'static Dialect,
    catalogue: &'static Catalogue,
    addresses: Vec<Address>,
    /// The few entries that the program mostly uses, so that the events it counts do occur.
    favourites: Vec<&'static Entry>,
    threads: usize,
}

impl Source {
    /// A register of the part's list.
    fn register(&self, bytes: &mut Unstructured<'_>) -> Result<Address> {
        bytes.choose(&self.addresses).copied()
    }

    /// An entry of the catalogue, one of the favourites more often than not.
    fn entry(&self, bytes: &mut Unstructured<'_>) -> Result<&'static Entry> {
        if bytes.ratio(2, 3)? {
            return bytes.choose(&self.favourites).copied();
        }
        let start = bytes.choose_index(self.catalogue.entries.len())?;
        from(self.catalogue.entries, start).find(|entry| self.driver.selects(entry)).ok_or(arbitrary::Error::EmptyChoose)
    }
}

impl Litmus {
    /// A program for `part` from arbitrary bytes: mostly sensible, so that it reaches deep states, and at times senseless.
    ///
    /// # Errors
    /// When the bytes are used up before the program has a header.
    pub fn arbitrary(part: Part, bytes: &mut Unstructured<'_>) -> Result<Litmus> {
        let driver = ALL.iter().copied().find(|driver| driver.name == part.name()).unwrap_or(&PLAIN);
        let mut litmus = Litmus {
            title: "An arbitrary program".into(),
            section: "the contract".into(),
            part,
            packages: 1,
            threads: *bytes.choose(driver.threads)?,
            shared_counters: bytes.arbitrary::<bool>()? && part.shape().shares_counters,
            beginning: Beginning::default(),
            steps: Vec::new(),
        };
        let entries = part.catalogue().entries;
        let source = Source {
            driver,
            dialect: Dialect::of(part),
            catalogue: part.catalogue(),
            addresses: part.build().registers().iter().map(|register| register.address).collect(),
            favourites: (0..FAVOURITES).map(|_| favourite(driver, entries, bytes)).collect::<Result<_>>()?,
            threads: litmus.threads,
        };
        let mut steps = (driver.opening)(&source, bytes)?;
        while !bytes.is_empty() && steps.len() < MAX_STEPS {
            match driver.sequence {
                Some(sequence) if bytes.ratio(1, 4)? => steps.append(&mut sequence(&source, bytes)?),
                _ => steps.push(step(&source, bytes)?),
            }
        }
        litmus.steps = (1..).zip(steps).collect();
        Ok(litmus)
    }
}

/// An entry, mostly one that signals or the model itself can count.
fn favourite(driver: &Driver, entries: &'static [Entry], bytes: &mut Unstructured<'_>) -> Result<&'static Entry> {
    let start = bytes.choose_index(entries.len())?;
    let whatever = bytes.ratio(1, 4)?;
    let told = |entry: &&Entry| whatever || !entry.signals.is_empty() || entry.drive != Drive::Signals;
    from(entries, start).filter(|entry| driver.selects(entry)).find(told).ok_or(arbitrary::Error::EmptyChoose)
}

fn step(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Step> {
    Ok(match bytes.int_in_range(0..=19u8)? {
        0..=4 => {
            let (address, value) = (source.driver.write)(source, bytes)?;
            Step::Write(address, value, None)
        }
        5..=6 => Step::Read((source.driver.read)(source, bytes)?, Ok(0)),
        choice @ 7..=11 => match (source.driver.record, source.driver.request, source.driver.nested) {
            (.., Some(nested)) if choice == 7 => Step::Nested(nested(bytes)?),
            (_, Some(request), _) if choice < 9 => Step::Request(bytes.int_in_range(1..=4)?, request(bytes)?),
            (Some(record), ..) if choice < 10 => {
                let (record, brought) = record(bytes)?;
                let times = bytes.int_in_range(1..=10)?;
                let mut signals = signals(source, bytes)?;
                for (brought, least) in brought {
                    match signals.iter_mut().find(|(signal, _)| *signal == brought) {
                        Some((_, amount)) => *amount = (*amount).max(least),
                        None => signals.push((brought, least)),
                    }
                }
                Step::Record(times, Box::new(record), signals)
            }
            _ => Step::Feed(bytes.int_in_range(1..=40)?, signals(source, bytes)?),
        },
        12 => Step::Devices(signals(source, bytes)?),
        13..=14 => Step::Inject(occurrence(source, bytes)?, amount(bytes)?),
        15 => Step::Context(vec![field(source, bytes)?]),
        16 => Step::Thread(bytes.int_in_range(0..=source.threads.saturating_sub(1))?),
        17 => match bytes.int_in_range(0..=7u8)? {
            0 => Step::Reset(Reset::Cold),
            1 => Step::Reset(Reset::Warm),
            _ => Step::Save,
        },
        18 => Step::Watch(bytes.arbitrary::<u32>()? & !(u32::MAX << source.driver.pins)),
        _ => Step::Pin(bytes.int_in_range(0..=source.driver.pins)?, 0),
    })
}

/// A field of the part and a value that fits.
fn field(source: &Source, bytes: &mut Unstructured<'_>) -> Result<(ContextField, u64)> {
    let (_, field) = *bytes.choose(source.dialect.fields)?;
    let most = match field {
        ContextField::MachineState | ContextField::Control | ContextField::TimeBase => return Ok((field, bytes.arbitrary()?)),
        ContextField::Privilege => 3,
        ContextField::Halted | ContextField::Foreground => 1,
        ContextField::Part(own) => (1u64 << own.bits().min(63)) - 1,
    };
    Ok((field, bytes.int_in_range(0..=most)?))
}

/// The start value of a counter that is to overflow soon.
fn small_negative(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(u64::from(bytes.int_in_range(0..=60u8)?).wrapping_neg())
}

fn amount(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=15u8)? {
        // Several wraps of a 48-bit counter at once; the totals themselves must not wrap.
        0 => bytes.arbitrary::<u64>()? >> 14,
        1 => u64::from(bytes.arbitrary::<u16>()?),
        _ => u64::from(bytes.int_in_range(0..=4u8)?),
    })
}

/// Signals that events of the catalogue follow, cycles most often.
fn signals(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<(Signal, u64)>> {
    let mut signals = Vec::new();
    for _ in 0..bytes.int_in_range(1..=4u8)? {
        let signal = match bytes.int_in_range(0..=5u8)? {
            0 => Signal::Cycles,
            1 => Signal::InstructionsRetired,
            2 if !source.driver.clocks.is_empty() => *bytes.choose(source.driver.clocks)?,
            _ => {
                let entry = source.entry(bytes)?;
                let mut all = entry.signals.iter().chain(entry.edges);
                let count = entry.signals.len() + entry.edges.len();
                if count == 0 { Signal::Cycles } else { all.nth(bytes.choose_index(count)?).copied().unwrap_or(Signal::Cycles) }
            }
        };
        if !signals.iter().any(|(other, _)| *other == signal) {
            signals.push((signal, amount(bytes)?));
        }
    }
    limit_states(&mut signals);
    Ok(signals)
}

/// The cycles of a state are among the elapsed cycles.
pub(super) fn limit_states(signals: &mut [(Signal, u64)]) {
    let passed = signals.iter().find(|(signal, _)| *signal == Signal::Cycles).map_or(0, |(_, amount)| *amount);
    for (_, amount) in signals.iter_mut().filter(|(signal, _)| signal.kind() == Kind::State) {
        *amount = (*amount).min(passed);
    }
}

fn occurrence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    if bytes.ratio(1, 8)? {
        return Ok(Occurrence { select: bytes.arbitrary()?, umask: bytes.arbitrary()? });
    }
    (source.driver.occurrence)(source, bytes)
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::registry::NAMES;

    use super::*;

    #[test]
    fn every_part_has_a_driver() {
        for name in NAMES {
            assert!(ALL.iter().any(|driver| driver.name == *name), "{name}");
        }
    }

    /// Makes a program.
    type Maker = fn(&mut Unstructured<'_>) -> Result<Litmus>;

    /// Programs of `name` from many different bytes.
    fn programs(name: &str) -> impl Iterator<Item = Litmus> {
        let part = Part::named(name).expect("known");
        (1..=400u64).filter_map(move |seed| {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let bytes: Vec<u8> = core::iter::repeat_with(|| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (state >> 56) as u8
            })
            .take(1500)
            .collect();
            Litmus::arbitrary(part, &mut Unstructured::new(&bytes)).ok()
        })
    }

    #[test]
    fn every_register_of_every_part_is_written_and_read_by_some_program() {
        for name in NAMES {
            let part = Part::named(name).expect("known");
            let mut all: Vec<(Address, bool)> =
                part.build().registers().iter().flat_map(|register| [(register.address, false), (register.address, true)]).collect();
            for (_, step) in programs(name).flat_map(|program| program.steps) {
                match step {
                    Step::Write(address, ..) => all.retain(|missing| *missing != (address, true)),
                    Step::Read(address, _) => all.retain(|missing| *missing != (address, false)),
                    _ => {}
                }
            }
            assert!(all.is_empty(), "{name}: {all:?}");
        }
    }

    #[test]
    fn a_printed_program_reads_as_the_same() {
        for program in NAMES.iter().flat_map(|name| programs(name).take(40)) {
            let text = alloc::string::ToString::to_string(&program);
            let again: Litmus = text.parse().expect(&text);
            let steps = |litmus: &Litmus| litmus.steps.iter().map(|(_, step)| step.clone()).collect::<Vec<_>>();
            assert_eq!((steps(&again), again.threads), (steps(&program), program.threads), "{text}");
        }
    }

    #[test]
    fn a_printed_program_about_boxes_or_the_nest_reads_as_the_same() {
        for (seed, make) in (1..=400u64).flat_map(|seed| [(seed, Litmus::arbitrary_untile as Maker), (seed, Litmus::arbitrary_nest)]) {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let bytes: Vec<u8> = core::iter::repeat_with(|| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
                (state >> 56) as u8
            })
            .take(600)
            .collect();
            let program = make(&mut Unstructured::new(&bytes)).expect("bytes enough");
            let text = alloc::string::ToString::to_string(&program);
            let again: Litmus = text.parse().expect(&text);
            let steps = |litmus: &Litmus| litmus.steps.iter().map(|(_, step)| step.clone()).collect::<Vec<_>>();
            assert_eq!(steps(&again), steps(&program), "{text}");
        }
    }

    #[test]
    fn an_arbitrary_record_is_printed_as_the_same() {
        for seed in 0..=255u8 {
            let bytes: Vec<u8> = (0..200u8).map(|place| place.wrapping_mul(seed | 1).wrapping_add(seed) ^ place >> 3).collect();
            let makers: [RecordMaker; 2] = [records::with_signals, ia64::record];
            let maker = makers.into_iter().nth(usize::from(seed & 1)).expect("one of two");
            let (record, _) = maker(&mut Unstructured::new(&bytes)).expect("bytes enough");
            let step = Step::Record(1, Box::new(record), Vec::new());
            let part = Part::named("k8").expect("known");
            let program = Litmus {
                title: "t".into(),
                section: "s".into(),
                part,
                packages: 1,
                threads: 1,
                shared_counters: false,
                beginning: Beginning::default(),
                steps: vec![(1, step.clone())],
            };
            let text = alloc::string::ToString::to_string(&program);
            let again: Litmus = text.parse().expect(&text);
            assert_eq!(again.steps.first().map(|(_, again)| again), Some(&step), "{text}");
        }
    }
}
