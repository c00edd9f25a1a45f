//! What all drivers of IA-64 processors do: records of bundles and slots, ranges and encodings that match them, threads that take turns.

use alloc::vec;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::access::Address;
use vm_pmu_arch::event::Entry;
use vm_pmu_arch::feed::{
    Branch, BranchKind, DataSource, ExecutionUnit, Fetch, LineStates, Memory, Prediction, Record, Signal, Traits, Translation,
};
use vm_pmu_arch::model::Occurrence;

use super::Source;
use crate::litmus::{ContextField, Step};

/// The bits of an instruction's encoding.
const ENCODING: u64 = (1 << 41) - 1;

const UNITS: [ExecutionUnit; 5] =
    [ExecutionUnit::Unknown, ExecutionUnit::LoadStore, ExecutionUnit::Branch, ExecutionUnit::FixedPoint, ExecutionUnit::VectorScalar];

const KINDS: [BranchKind; 9] = [
    BranchKind::Conditional,
    BranchKind::DirectJump,
    BranchKind::IndirectJump,
    BranchKind::DirectCall,
    BranchKind::IndirectCall,
    BranchKind::Return,
    BranchKind::Far,
    BranchKind::Exception,
    BranchKind::FailedCheck,
];

const PREDICTIONS: [Prediction; 4] = [Prediction::None, Prediction::Right, Prediction::WrongDirection, Prediction::WrongTarget];

const TRANSLATIONS: [Translation; 5] =
    [Translation::Unknown, Translation::Hit(1), Translation::Hit(2), Translation::Walk, Translation::Fault];

const SOURCES: [DataSource; 6] = [
    DataSource::Unknown,
    DataSource::Cache(1),
    DataSource::Cache(2),
    DataSource::Cache(3),
    DataSource::OtherCore { modified: true },
    DataSource::LocalMemory,
];

/// The address of a bundle: one of few, so that ranges and traces match it, or any.
pub(super) fn bundle(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let place = bytes.int_in_range(0..=0x3Fu64)? << 4;
    Ok(if bytes.ratio(1, 12)? { bytes.arbitrary::<u64>()? & !15 } else { 0x4000_0000_0000_0000 | place })
}

/// The address of data: one of few, or any.
pub(super) fn data(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let place = bytes.int_in_range(0..=0x3Fu64)? << 3;
    Ok(if bytes.ratio(1, 12)? { bytes.arbitrary()? } else { 0x6000_0000_0000_0000 | place })
}

/// An encoding: of few major opcodes with few other bits, or any.
pub(super) fn encoding(bytes: &mut Unstructured<'_>) -> Result<u64> {
    let opcode = *bytes.choose(&[0u64, 1, 4, 5, 8, 0xC])? << 37;
    let rest = bytes.int_in_range(0..=7u64)? << 6 | bytes.int_in_range(0..=3u64)?;
    Ok(if bytes.ratio(1, 10)? { bytes.arbitrary::<u64>()? & ENCODING } else { opcode | rest })
}

/// The bits of an encoding that a matcher ignores: all, all except the major opcode, few, or any.
pub(super) fn left_out(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match bytes.int_in_range(0..=4u8)? {
        0 | 1 => ENCODING >> 4,
        2 => ENCODING,
        3 => 7 << 6 | 3,
        _ => bytes.arbitrary::<u64>()? & ENCODING,
    })
}

/// The value of an address register of a pair, or of its mask register: few ignored bits, levels, seldom a debugger's request.
pub(super) fn breakpoint(bytes: &mut Unstructured<'_>, index: u8, address: fn(&mut Unstructured<'_>) -> Result<u64>) -> Result<u64> {
    if index & 1 == 0 {
        return address(bytes);
    }
    let mask = ((1u64 << 56) - 1) & (u64::MAX << bytes.int_in_range(0..=11u32)?);
    let debugger = if bytes.ratio(1, 12)? { bytes.int_in_range(1..=3u64)? } else { 0 };
    Ok(mask | levels(bytes)? << 56 | debugger << 62)
}

/// Privilege levels: mostly all.
pub(super) fn levels(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if bytes.ratio(1, 4)? { bytes.int_in_range(0..=15)? } else { 15 })
}

/// Now and then `value`, else 0.
pub(super) fn seldom(bytes: &mut Unstructured<'_>, one_in: u32, value: u64) -> Result<u64> {
    Ok(if bytes.ratio(1, one_in)? { value } else { 0 })
}

/// Now and then some of the bits of `mask`, else 0.
pub(super) fn seldom_of(bytes: &mut Unstructured<'_>, one_in: u32, mask: u64) -> Result<u64> {
    Ok(if bytes.ratio(1, one_in)? { bytes.arbitrary::<u64>()? & mask } else { 0 })
}

/// The event select and the unit mask of a favourite, or of an entry that `fits`, or of any if none does.
pub(super) fn selection(source: &Source, bytes: &mut Unstructured<'_>, fits: impl Fn(&Entry) -> bool) -> Result<(u64, u64)> {
    if bytes.ratio(1, 2)? {
        let entry = bytes.choose(&source.favourites)?;
        return Ok((u64::from(entry.select), u64::from(entry.umask.unwrap_or(0))));
    }
    let entries = source.catalogue.entries;
    let start = bytes.choose_index(entries.len())?;
    let mut from = entries.iter().cycle().skip(start).take(entries.len());
    let chosen = from.clone().find(|entry| fits(entry)).or_else(|| from.next());
    Ok(chosen.map_or((0, 0), |entry| (u64::from(entry.select), u64::from(entry.umask.unwrap_or(0)))))
}

/// An event of the catalogue, with bits of its unit mask that may not matter.
pub(super) fn occurrence(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Occurrence> {
    let entry = source.entry(bytes)?;
    let umask = if bytes.ratio(1, 4)? { bytes.int_in_range(0..=15)? } else { entry.umask.unwrap_or(0) };
    Ok(Occurrence { select: entry.select, umask })
}

/// The record and the signals of an instruction: its cycles, and an instruction unless the record is of something else.
pub(super) fn record(bytes: &mut Unstructured<'_>) -> Result<(Record, Vec<(Signal, u64)>)> {
    let mut record = Record::at(bundle(bytes)?);
    record.slot = bytes.int_in_range(0..=2)?;
    record.encoding = encoding(bytes)?;
    record.cycles = bytes.int_in_range(0..=20)?;
    record.sample.unit = *bytes.choose(&UNITS)?;
    for one in Traits::SECOND_BUNDLE.union(Traits::FLUSHED).iter() {
        record.sample.traits.set(one, bytes.ratio(1, 3)?);
    }
    match bytes.int_in_range(0..=5u8)? {
        0..=1 => record.branch = Some(branch(bytes)?),
        2..=4 => {
            record.memory = Some(memory(bytes)?);
            let kinds = Traits::ADVANCED_CHECK_FAILED | Traits::FLOATING_POINT | Traits::SEMAPHORE | Traits::REGISTER_STACK;
            for one in (kinds | Traits::PAGE_WALKER | Traits::FIRST_TRANSLATION_MISS | Traits::TRANSLATION_MISS).iter() {
                record.sample.traits.set(one, bytes.ratio(1, 6)?);
            }
            record.sample.line_states = LineStates::from_bits_truncate(1 << bytes.int_in_range(0..=3u8)?);
        }
        _ => {}
    }
    if bytes.ratio(1, 3)? {
        record.fetch = Some(fetch(bytes)?);
    }
    let mut signals = vec![(Signal::Cycles, u64::from(record.cycles))];
    if !record.sample.traits.intersects(Traits::REGISTER_STACK | Traits::PAGE_WALKER) {
        signals.push((Signal::InstructionsRetired, 1));
    }
    Ok((record, signals))
}

fn branch(bytes: &mut Unstructured<'_>) -> Result<Branch> {
    let kind = *bytes.choose(&KINDS)?;
    let taken = kind != BranchKind::Conditional || bytes.ratio(3, 4)?;
    Ok(Branch { kind, taken, target: bundle(bytes)?, prediction: *bytes.choose(&PREDICTIONS)? })
}

/// Cycles near the steps of the captures' thresholds, and beyond the range of their registers.
fn latency(bytes: &mut Unstructured<'_>) -> Result<u32> {
    let step = 4u32 << bytes.int_in_range(0..=12u32)?;
    Ok(if bytes.ratio(1, 6)? { 0 } else { step - u32::from(bytes.int_in_range(0..=2u8)?) })
}

fn memory(bytes: &mut Unstructured<'_>) -> Result<Memory> {
    let does: u8 = bytes.int_in_range(0..=3)?;
    Ok(Memory {
        address: data(bytes)?,
        size: *bytes.choose(&[1, 2, 4, 8, 16])?,
        load: does != 1,
        store: does == 1 || does == 2,
        latency: latency(bytes)?,
        source: *bytes.choose(&SOURCES)?,
        translation: *bytes.choose(&TRANSLATIONS)?,
    })
}

fn fetch(bytes: &mut Unstructured<'_>) -> Result<Fetch> {
    Ok(Fetch {
        address: bundle(bytes)?,
        cache_miss: bytes.ratio(3, 4)?,
        pending: bytes.ratio(1, 4)?,
        prefetch: bytes.ratio(1, 4)?,
        latency: latency(bytes)?,
        translation: *bytes.choose(&TRANSLATIONS)?,
    })
}

/// A statement that sets these fields of the context.
fn context(source: &Source, fields: &[(&str, u64)]) -> Step {
    let known = |(word, value): &(&str, u64)| source.dialect.field(word).map(|field| (field, *value));
    Step::Context(fields.iter().filter_map(known).collect::<Vec<(ContextField, u64)>>())
}

/// Mostly enables monitoring in every thread; the first thread runs.
pub(super) fn opening(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for thread in (0..source.threads).rev() {
        if source.threads > 1 {
            steps.push(Step::Thread(thread));
        }
        let (up, pp) = (u64::from(bytes.ratio(7, 8)?), u64::from(bytes.ratio(7, 8)?));
        steps.push(context(source, &[("up", up), ("pp", pp), ("foreground", u64::from(thread == 0))]));
    }
    Ok(steps)
}

/// Another thread of the core runs from here on; with one thread, its level and enables change together.
pub(super) fn turn(source: &Source, bytes: &mut Unstructured<'_>) -> Result<Vec<Step>> {
    if source.threads < 2 || bytes.ratio(1, 4)? {
        let level = *bytes.choose(&[0, 0, 1, 3, 3])?;
        return Ok(vec![context(source, &[("cpl", level), ("up", u64::from(bytes.ratio(3, 4)?)), ("pp", u64::from(bytes.ratio(3, 4)?))])]);
    }
    let next = bytes.int_in_range(0..=source.threads - 1)?;
    let others = (0..source.threads).filter(|thread| *thread != next);
    let leave = others.flat_map(|thread| [Step::Thread(thread), context(source, &[("foreground", 0)])]);
    Ok(leave.chain([Step::Thread(next), context(source, &[("foreground", 1)])]).collect())
}

/// Statements at level 0, as of a driver's handler.
pub(super) fn privileged(source: &Source, steps: impl IntoIterator<Item = Step>) -> Vec<Step> {
    [context(source, &[("cpl", 0)])].into_iter().chain(steps).collect()
}

/// A write of each register, with values from `value`.
pub(super) fn writes(
    source: &Source,
    bytes: &mut Unstructured<'_>,
    addresses: &[Address],
    value: fn(&Source, &mut Unstructured<'_>, Address) -> Result<u64>,
) -> Result<Vec<Step>> {
    let write = |address: &Address| Ok(Step::Write(*address, value(source, bytes, *address)?, None));
    addresses.iter().map(write).collect::<Result<Vec<Step>>>().map(|steps| privileged(source, steps))
}

/// Any index of any file.
pub(super) fn any(bytes: &mut Unstructured<'_>) -> Result<Address> {
    let index = if bytes.ratio(1, 3)? { bytes.arbitrary()? } else { bytes.int_in_range(0..=64)? };
    Ok(match bytes.int_in_range(0..=5u8)? {
        0..=1 => Address::Pmc(index),
        2..=3 => Address::Pmd(index),
        4 => Address::Ibr(index),
        _ => Address::Dbr(index),
    })
}
