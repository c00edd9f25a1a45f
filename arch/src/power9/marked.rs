//! The life of one sampled instruction, as the events of section 5.10 and SIER ask about it.

use super::Mmcra;
use crate::event::{Amount, Test};
use crate::feed::{
    BranchKind, DataSource, ExecutionUnit, FetchSource, Memory, Prediction, Record, Stage, StoreOutcome, Traits, Translation,
};

/// What sampling is set to: MMCRA\[RAND_SAMP_MODE].
const INSTRUCTION_SAMPLING: u8 = 0;

/// One sampled instruction: what its record says, and what follows from the rest of the record where it says nothing.
///
/// An embedder that executes an instruction at once gives no stages. Then everything up to next-to-complete is at cycle 0, what waits
/// for data or the end at the larger of the instruction's cycles and its latency, and what a store does in the second-level cache at
/// its completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life<'a> {
    record: &'a Record,
    instruction_sampling: bool,
    reload_source: Option<u8>,
}

impl<'a> Life<'a> {
    /// The life that `record` tells, sampled as `mmcra` says.
    pub(super) fn new(record: &'a Record, mmcra: Mmcra) -> Life<'a> {
        let instruction_sampling = mmcra.rand_samp_mode() == INSTRUCTION_SAMPLING;
        Life { record, instruction_sampling, reload_source: reload_source(record) }
    }

    /// The record.
    pub(super) fn record(&self) -> &'a Record {
        self.record
    }

    /// Whether it was chosen by instruction sampling, and not after an event.
    pub(super) fn by_instruction_sampling(&self) -> bool {
        self.instruction_sampling
    }

    /// Whether it has one of these traits.
    pub(super) fn is(&self, traits: Traits) -> bool {
        self.record.sample.traits.intersects(traits)
    }

    /// Whether it completed.
    pub(super) fn completed(&self) -> bool {
        self.at(Stage::Completed).is_some()
    }

    /// Whether it read memory.
    pub(super) fn load(&self) -> bool {
        self.memory(|memory| memory.load)
    }

    /// Whether it wrote memory.
    pub(super) fn store(&self) -> bool {
        self.memory(|memory| memory.store)
    }

    /// The unit that executed it.
    pub(super) fn unit(&self) -> ExecutionUnit {
        match self.record.sample.unit {
            ExecutionUnit::Unknown if self.record.branch.is_some() => ExecutionUnit::Branch,
            ExecutionUnit::Unknown if self.record.memory.is_some() => ExecutionUnit::LoadStore,
            ExecutionUnit::Unknown => ExecutionUnit::FixedPoint,
            stated => stated,
        }
    }

    /// The 5-bit code of what reloaded the data cache for it (Table A-6); `None` if nothing did.
    pub(super) fn reload_source(&self) -> Option<u8> {
        self.reload_source
    }

    /// The same code for the page-table entry that was loaded for it.
    pub(super) fn walk_source(&self) -> Option<u8> {
        self.record.sample.walk_source.map(|code| code & 0x1F)
    }

    /// Whether the ERAT did not have its data address.
    pub(super) fn first_translation_miss(&self) -> bool {
        self.is(Traits::FIRST_TRANSLATION_MISS | Traits::TRANSLATION_MISS)
            || self.memory(|memory| match memory.translation {
                Translation::Unknown => false,
                Translation::Hit(level) => level >= 2,
                Translation::Walk | Translation::Fault => true,
            })
    }

    /// Whether the TLB did not have it either.
    pub(super) fn translation_miss(&self) -> bool {
        self.is(Traits::TRANSLATION_MISS) || self.memory(|memory| matches!(memory.translation, Translation::Walk | Translation::Fault))
    }

    /// Whether it took its data from an older store.
    pub(super) fn store_forwarded(&self) -> bool {
        self.is(Traits::STORE_FORWARDED) || self.memory(|memory| memory.source == DataSource::StoreForward)
    }

    /// Whether it left the next sequential address.
    pub(super) fn taken(&self) -> bool {
        self.record.branch.is_some_and(|branch| branch.taken)
    }

    /// What the predictor made of it.
    pub(super) fn prediction(&self) -> Prediction {
        self.record.branch.map_or(Prediction::None, |branch| branch.prediction)
    }

    /// Whether its direction or target was predicted wrongly.
    pub(super) fn mispredicted(&self) -> bool {
        matches!(self.prediction(), Prediction::WrongDirection | Prediction::WrongTarget)
    }

    /// Whether it writes the link register.
    pub(super) fn links(&self) -> bool {
        let call = self.record.branch.is_some_and(|branch| matches!(branch.kind, BranchKind::DirectCall | BranchKind::IndirectCall));
        call || self.is(Traits::LINK)
    }

    /// When it reached `stage`, in cycles of its thread from when it was marked; `None` if it did not.
    pub(super) fn at(&self, stage: Stage) -> Option<u32> {
        let discarded = self.is(Traits::DISCARDED);
        match stage {
            // Sampling after an event marks an instruction that was decoded long ago.
            Stage::Decoded if !self.instruction_sampling => None,
            Stage::Completed if discarded => None,
            _ => self.record.sample.stages.map_or_else(|| self.default_at(stage), |stages| stages.at(stage)),
        }
    }

    /// The first and the last cycle in which it reached a stage.
    pub(super) fn lifetime(&self) -> Option<(u32, u32)> {
        let reached = || Stage::ALL.into_iter().filter_map(|stage| self.at(stage));
        Some((reached().min()?, reached().max()?))
    }

    /// Whether `test` holds of it.
    pub(super) fn holds(&self, test: &Test) -> bool {
        let sample = &self.record.sample;
        match *test {
            Test::Marked => true,
            Test::Reached(stage) => self.at(stage).is_some(),
            Test::Load => self.load(),
            Test::Store => self.store(),
            Test::LoadStore => self.unit() == ExecutionUnit::LoadStore,
            Test::Branch => self.unit() == ExecutionUnit::Branch,
            Test::Fixed => self.unit() == ExecutionUnit::FixedPoint,
            Test::VectorScalar => self.unit() == ExecutionUnit::VectorScalar,
            Test::Is(traits) => self.is(traits),
            Test::Link => self.links(),
            Test::Taken => self.taken(),
            Test::Backward => self.record.branch.is_some_and(|branch| branch.target < self.record.address),
            Test::Mispredicted => self.mispredicted(),
            Test::FetchMiss => {
                self.instruction_sampling && matches!(sample.fetch_source, FetchSource::L2 | FetchSource::L3 | FetchSource::Beyond)
            }
            Test::FetchBeyond => self.instruction_sampling && sample.fetch_source == FetchSource::Beyond,
            Test::Source(codes) => among(self.reload_source(), codes),
            Test::WalkSource(codes) => among(self.walk_source(), codes),
            Test::FirstTranslationMiss => self.first_translation_miss(),
            Test::TranslationMiss => self.translation_miss(),
            Test::Page(bits) => sample.page_bits == bits,
            Test::StoreForwarded => self.store_forwarded(),
            Test::StoreIntervention => sample.store_outcome == StoreOutcome::Intervention,
            Test::Fabric(command) => sample.fabric.command == command,
            Test::TaggedIntervention => sample.fabric.tagged_intervention,
        }
    }

    /// What `amount` comes to for it.
    pub(super) fn amount(&self, amount: Amount) -> u64 {
        let sample = &self.record.sample;
        let cycles = match amount {
            Amount::One => 1,
            Amount::Latency if sample.stages.is_none() => self.at(Stage::Reload).map_or(0, |_| self.latency()),
            Amount::Latency => self.between(Stage::FirstMiss, Stage::Reload),
            Amount::Exposed => {
                let missed = self.between(Stage::FirstMiss, Stage::Reload);
                // Next to complete after the reload: none of the latency was exposed.
                self.at(Stage::NextToComplete).map_or(0, |_| missed.min(self.between(Stage::NextToComplete, Stage::Reload)))
            }
            Amount::Stall if sample.stages.is_none() && sample.stall == 0 => {
                self.at(Stage::Completed).map_or(0, |completed| completed.saturating_sub(1))
            }
            Amount::Stall => sample.stall,
            Amount::NextToComplete => self.between(Stage::NextToComplete, Stage::Completed),
            Amount::InFlight => {
                self.at(Stage::Completed).zip(self.lifetime()).map_or(0, |(completed, (first, _))| completed.saturating_sub(first))
            }
            Amount::SecondLevelMachine => self.between(Stage::SecondLevelDispatched, Stage::SecondLevelDone),
            Amount::Drain => self.between(Stage::Drained, Stage::SecondLevelDispatched),
            Amount::Retries => u32::from(sample.fabric.retries),
        };
        u64::from(cycles)
    }

    /// What an event of these tests adds for it.
    pub(super) fn adds(&self, tests: &[Test], amount: Amount) -> u64 {
        if tests.iter().all(|test| self.holds(test)) { self.amount(amount) } else { 0 }
    }

    /// Whether a counter of that event had counted for it and takes back what it counted: there is an amount, but the tests fail.
    pub(super) fn kept_back(&self, tests: &[Test], amount: Amount) -> bool {
        self.amount(amount) != 0 && !tests.iter().all(|test| self.holds(test))
    }

    fn memory(&self, holds: impl FnOnce(&Memory) -> bool) -> bool {
        self.record.memory.as_ref().is_some_and(holds)
    }

    fn latency(&self) -> u32 {
        self.record.memory.map_or(0, |memory| memory.latency)
    }

    /// The cycles from one stage to another; 0 if one of them was not reached, or the other way round.
    fn between(&self, from: Stage, to: Stage) -> u32 {
        self.at(from).zip(self.at(to)).map_or(0, |(from, to)| to.saturating_sub(from))
    }

    /// [`Life::at`] where the embedder has no pipeline.
    fn default_at(&self, stage: Stage) -> Option<u32> {
        let end = self.record.cycles.max(self.latency());
        let missed = self.reload_source.is_some();
        let stored = self.store() && !self.is(Traits::DISCARDED);
        let machine = stored && self.record.sample.store_outcome != StoreOutcome::Direct;
        match stage {
            Stage::Decoded | Stage::Dispatched | Stage::NextToFinish | Stage::NextToComplete => Some(0),
            Stage::Issued => (self.unit() != ExecutionUnit::Fetch).then_some(0),
            Stage::FirstMiss => missed.then_some(0),
            Stage::SecondLevelDispatched if missed => Some(0),
            Stage::SecondLevelDone | Stage::Reload if missed => Some(end),
            Stage::SecondLevelDispatched | Stage::SecondLevelDone => machine.then_some(end),
            Stage::Reload => None,
            Stage::Finished | Stage::Completed => Some(end),
            Stage::Drained => stored.then_some(end),
        }
    }
}

/// The code of what reloaded the data cache: as stated, else what the source of the data comes to. A store reloads nothing, and neither
/// the first level, an older store nor a device fills a line.
fn reload_source(record: &Record) -> Option<u8> {
    let memory = record.memory.filter(|memory| memory.load)?;
    if let Some(code) = record.sample.reload_source {
        return Some(code & 0x1F);
    }
    match memory.source {
        DataSource::Cache(2) => Some(0x00),
        DataSource::Cache(3) => Some(0x04),
        DataSource::OtherPackage { modified } => Some(0x14 | u8::from(modified)),
        DataSource::OtherCore { modified } => Some(0x18 | u8::from(modified)),
        DataSource::LocalMemory => Some(0x1B),
        DataSource::RemoteMemory => Some(0x1D),
        DataSource::Unknown | DataSource::StoreForward | DataSource::Cache(_) | DataSource::Device => None,
    }
}

/// Whether `code` is one of `codes`, one bit each.
fn among(code: Option<u8>, codes: u32) -> bool {
    code.is_some_and(|code| codes >> (code & 0x1F) & 1 == 1)
}
