//! Arbitrary records: some of everything that an embedder can know of an instruction.

use alloc::vec;
use alloc::vec::Vec;
use arbitrary::{Result, Unstructured};
use vm_pmu_arch::feed::{
    Branch, BranchKind, DataSource, ExecutionUnit, Fabric, FabricCommand, FetchSource, Flush, LineStates, Memory, Prediction, Record,
    Sample, Signal, Stage, Stages, StoreOutcome, Traits, Translation,
};

const KINDS: [BranchKind; 7] = [
    BranchKind::Conditional,
    BranchKind::DirectJump,
    BranchKind::IndirectJump,
    BranchKind::DirectCall,
    BranchKind::IndirectCall,
    BranchKind::Return,
    BranchKind::Far,
];

const SOURCES: [DataSource; 12] = [
    DataSource::Unknown,
    DataSource::StoreForward,
    DataSource::Cache(1),
    DataSource::Cache(2),
    DataSource::Cache(3),
    DataSource::OtherCore { modified: false },
    DataSource::OtherCore { modified: true },
    DataSource::OtherPackage { modified: false },
    DataSource::OtherPackage { modified: true },
    DataSource::LocalMemory,
    DataSource::RemoteMemory,
    DataSource::Device,
];

const TRANSLATIONS: [Translation; 5] =
    [Translation::Unknown, Translation::Hit(1), Translation::Hit(2), Translation::Walk, Translation::Fault];

const UNITS: [ExecutionUnit; 6] = [
    ExecutionUnit::Unknown,
    ExecutionUnit::LoadStore,
    ExecutionUnit::Branch,
    ExecutionUnit::FixedPoint,
    ExecutionUnit::VectorScalar,
    ExecutionUnit::Fetch,
];

const FETCHES: [FetchSource; 5] = [FetchSource::Unknown, FetchSource::L1, FetchSource::L2, FetchSource::L3, FetchSource::Beyond];

const OUTCOMES: [StoreOutcome; 4] = [StoreOutcome::None, StoreOutcome::Direct, StoreOutcome::Completed, StoreOutcome::Intervention];

const COMMANDS: [FabricCommand; 5] =
    [FabricCommand::None, FabricCommand::Read, FabricCommand::ReadToModify, FabricCommand::Claim, FabricCommand::Kill];

const FLUSHES: [Flush; 4] = [Flush::None, Flush::StoreHitLoad, Flush::Alias, Flush::Reservation];

/// A record and the signals of its instruction, each once.
pub(super) fn with_signals(bytes: &mut Unstructured<'_>) -> Result<(Record, Vec<(Signal, u64)>)> {
    let record = record(bytes)?;
    let signals = signals(&record).into_iter().map(|signal| (signal, 1)).collect();
    Ok((record, signals))
}

fn record(bytes: &mut Unstructured<'_>) -> Result<Record> {
    let mut record = Record::at(address(bytes)?);
    record.encoding = u64::from(bytes.arbitrary::<u32>()?);
    record.cycles = bytes.int_in_range(0..=20)?;
    if bytes.ratio(1, 2)? {
        let kind = *bytes.choose(&KINDS)?;
        let wrong = match kind {
            BranchKind::Conditional => Prediction::WrongDirection,
            BranchKind::IndirectJump | BranchKind::IndirectCall | BranchKind::Return => Prediction::WrongTarget,
            BranchKind::DirectJump | BranchKind::DirectCall | BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck => {
                Prediction::None
            }
        };
        let prediction = *bytes.choose(&[Prediction::None, Prediction::Right, wrong])?;
        let taken = kind != BranchKind::Conditional || bytes.ratio(3, 4)?;
        record.branch = Some(Branch { kind, taken, target: address(bytes)?, prediction });
    } else if bytes.ratio(2, 3)? {
        record.memory = Some(memory(bytes)?);
    }
    if bytes.ratio(1, 3)? {
        record.sample = sample(bytes)?;
    }
    Ok(record)
}

/// The signals of an instruction with this record: an embedder that reports the record adds to them.
fn signals(record: &Record) -> Vec<Signal> {
    // Whether it is matched depends on what a program writes to the match array: one that is reported too often is no sample.
    let mut signals = vec![Signal::InstructionsRetired, Signal::MatchedInstructions];
    let sample = &record.sample;
    let called = record.branch.is_some_and(|branch| matches!(branch.kind, BranchKind::DirectCall | BranchKind::IndirectCall));
    for (holds, signal) in [
        (sample.traits.contains(Traits::PROBE), Signal::ProbeInstructions),
        (sample.traits.contains(Traits::RESERVE), Signal::LoadReserves),
        (sample.traits.contains(Traits::CONDITIONAL), Signal::StoreConditionals),
        (called || sample.traits.intersects(Traits::LONG_LATENCY | Traits::DIVIDE | Traits::LINK), Signal::LongLatencyInstructions),
        (record.memory.is_some_and(|memory| memory.load), Signal::Loads),
        (record.memory.is_some_and(|memory| memory.store), Signal::Stores),
        (record.memory.is_none() && sample.unit == ExecutionUnit::LoadStore, Signal::PrefetchesForLoad),
        (record.memory.is_some() || sample.reload_source.is_some(), Signal::DataCacheLoadMisses),
    ] {
        if holds {
            signals.push(signal);
        }
    }
    if let Some(branch) = record.branch {
        signals.push(Signal::BranchesRetired);
        if branch.taken {
            signals.push(Signal::BranchesTaken);
        }
        let (done, wrong) = match (branch.kind, branch.taken) {
            (BranchKind::Conditional, true) => (Some(Signal::ConditionalBranchesTaken), Some(Signal::ConditionalBranchesTakenMispredicted)),
            (BranchKind::Conditional, false) => {
                (Some(Signal::ConditionalBranchesNotTaken), Some(Signal::ConditionalBranchesNotTakenMispredicted))
            }
            (BranchKind::IndirectJump, _) => (Some(Signal::IndirectJumps), Some(Signal::IndirectJumpsMispredicted)),
            (BranchKind::IndirectCall, _) => (Some(Signal::IndirectCalls), Some(Signal::IndirectCallsMispredicted)),
            (BranchKind::Return, _) => (Some(Signal::NearReturns), Some(Signal::NearReturnsMispredicted)),
            (BranchKind::DirectJump | BranchKind::DirectCall, _) => (None, None),
            (BranchKind::Far | BranchKind::Exception | BranchKind::FailedCheck, _) => (None, None),
        };
        signals.extend(done);
        if matches!(branch.prediction, Prediction::WrongDirection | Prediction::WrongTarget) {
            signals.push(Signal::BranchesMispredicted);
            signals.extend(wrong);
        }
    }
    signals
}

/// Aligned as an instruction is, or any.
fn address(bytes: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if bytes.ratio(1, 8)? { bytes.arbitrary()? } else { 0xC000_0000_0000_0000 | u64::from(bytes.arbitrary::<u16>()?) << 2 })
}

fn memory(bytes: &mut Unstructured<'_>) -> Result<Memory> {
    let does: u8 = bytes.int_in_range(0..=3)?;
    Ok(Memory {
        address: address(bytes)?,
        size: *bytes.choose(&[1, 2, 4, 8, 16])?,
        load: does & 1 == 0,
        store: does != 0,
        latency: u32::from(bytes.arbitrary::<u16>()?),
        source: *bytes.choose(&SOURCES)?,
        translation: *bytes.choose(&TRANSLATIONS)?,
    })
}

fn sample(bytes: &mut Unstructured<'_>) -> Result<Sample> {
    Ok(Sample {
        unit: *bytes.choose(&UNITS)?,
        traits: Traits::from_bits_truncate(bytes.arbitrary::<u32>()? & bytes.arbitrary::<u32>()?),
        fetch_source: *bytes.choose(&FETCHES)?,
        reload_source: if bytes.ratio(1, 3)? { Some(bytes.int_in_range(0..=31)?) } else { None },
        walk_source: if bytes.ratio(1, 3)? { Some(bytes.int_in_range(0..=31)?) } else { None },
        store_outcome: *bytes.choose(&OUTCOMES)?,
        page_bits: *bytes.choose(&[0, 12, 16, 21, 24, 30, 34])?,
        fabric: Fabric {
            command: *bytes.choose(&COMMANDS)?,
            retries: bytes.int_in_range(0..=3)?,
            tagged_intervention: bytes.arbitrary()?,
            scope: bytes.int_in_range(0..=7)?,
            response: bytes.int_in_range(0..=31)?,
            transaction: bytes.int_in_range(0..=7)?,
            memory_busy: bytes.int_in_range(0..=3)?,
        },
        stages: if bytes.ratio(1, 2)? { Some(stages(bytes)?) } else { None },
        stall: u32::from(bytes.arbitrary::<u8>()?),
        stall_reason: bytes.int_in_range(0..=15)?,
        real_address: bytes.arbitrary()?,
        line_states: LineStates::from_bits_truncate(bytes.arbitrary::<u8>()?),
        flush: *bytes.choose(&FLUSHES)?,
    })
}

fn stages(bytes: &mut Unstructured<'_>) -> Result<Stages> {
    let mut stages = Stages::NONE;
    for stage in Stage::ALL {
        if bytes.arbitrary()? {
            // Long enough for thresholds of several thousand, and not always in order.
            stages = stages.with(stage, u32::from(bytes.arbitrary::<u16>()?));
        }
    }
    Ok(stages)
}
