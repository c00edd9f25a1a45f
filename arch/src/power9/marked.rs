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
    /// The life that `record` describes, sampled as `mmcra` says.
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

    /// How it was predicted.
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

    /// Whether `test` holds for it.
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
            Test::Flushed(cause) => sample.flush == cause,
        }
    }

    /// The value of `amount` for it.
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

/// The code of what reloaded the data cache: as reported, else derived from the source of the data. A store reloads nothing, and neither
/// the first level, an older store nor a device fills a line.
fn reload_source(record: &Record) -> Option<u8> {
    let memory = record.memory.filter(|memory| memory.load)?;
    if let Some(code) = record.sample.reload_source {
        return Some(code & 0x1F);
    }
    memory.source.reload_code()
}

/// Whether `code` is one of `codes`, one bit each.
fn among(code: Option<u8>, codes: u32) -> bool {
    code.is_some_and(|code| codes >> (code & 0x1F) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Branch, Fabric, FabricCommand, Flush, Sample, Stages};
    extern crate std;
    use std::vec::Vec;

    /// Instruction sampling, and sampling after a branch's event.
    const INSTRUCTIONS: u64 = 1;
    const EVENTS: u64 = 2 << 1 | 1;

    fn in_instruction_sampling(record: &Record) -> Life<'_> {
        Life::new(record, Mmcra::written(INSTRUCTIONS))
    }

    fn holds(record: &Record, test: Test) -> bool {
        in_instruction_sampling(record).holds(&test)
    }

    fn amount(record: &Record, amount: Amount) -> u64 {
        in_instruction_sampling(record).amount(amount)
    }

    fn access(load: bool, source: DataSource) -> Record {
        let memory = Memory { address: 0x1000, size: 8, load, store: !load, latency: 250, source, translation: Translation::Unknown };
        Record { memory: Some(memory), cycles: 7, ..Record::at(0x100) }
    }

    fn with(record: Record, sample: Sample) -> Record {
        Record { sample, ..record }
    }

    fn staged(record: Record, stages: Stages) -> Record {
        with(record, Sample { stages: Some(stages), ..Sample::default() })
    }

    /// The stages of an atomic record in the order of `Stage::ALL`.
    fn stages(record: &Record) -> Vec<Option<u32>> {
        let life = in_instruction_sampling(record);
        Stage::ALL.into_iter().map(|stage| life.at(stage)).collect()
    }

    // In the order of `Stage::ALL`: decoded, dispatched, issued, first miss, second level dispatched and done, reload, next to finish,
    // finished, next to complete, completed, drained.

    #[test]
    fn a_plain_instruction_takes_its_cycles() {
        let record = Record { cycles: 7, ..Record::at(0) };
        let expected = [Some(0), Some(0), Some(0), None, None, None, None, Some(0), Some(7), Some(0), Some(7), None];
        assert_eq!(stages(&record), expected);
    }

    #[test]
    fn a_load_that_missed_waits_for_its_data() {
        let end = Some(250);
        let expected = [Some(0), Some(0), Some(0), Some(0), Some(0), end, end, Some(0), end, Some(0), end, None];
        assert_eq!(stages(&access(true, DataSource::LocalMemory)), expected);
    }

    #[test]
    fn a_load_that_hit_has_no_miss() {
        let end = Some(250);
        let expected = [Some(0), Some(0), Some(0), None, None, None, None, Some(0), end, Some(0), end, None];
        assert_eq!(stages(&access(true, DataSource::Cache(1))), expected);
    }

    #[test]
    fn a_store_goes_to_the_second_level_when_it_completes() {
        let end = Some(250);
        let expected = [Some(0), Some(0), Some(0), None, end, end, None, Some(0), end, Some(0), end, end];
        assert_eq!(stages(&access(false, DataSource::Unknown)), expected);
        let direct = with(access(false, DataSource::Unknown), Sample { store_outcome: StoreOutcome::Direct, ..Sample::default() });
        let expected = [Some(0), Some(0), Some(0), None, None, None, None, Some(0), end, Some(0), end, end];
        assert_eq!(stages(&direct), expected);
    }

    #[test]
    fn a_discarded_store_neither_completes_nor_leaves() {
        let record = with(access(false, DataSource::Unknown), Sample { traits: Traits::DISCARDED, ..Sample::default() });
        let end = Some(250);
        let expected = [Some(0), Some(0), Some(0), None, None, None, None, Some(0), end, Some(0), None, None];
        assert_eq!(stages(&record), expected);
    }

    #[test]
    fn what_the_fetch_unit_finishes_is_never_issued() {
        let record = with(Record::at(0), Sample { unit: ExecutionUnit::Fetch, ..Sample::default() });
        assert!(!holds(&record, Test::Reached(Stage::Issued)));
        assert!(holds(&record, Test::Reached(Stage::Dispatched)));
    }

    #[test]
    fn stated_stages_are_taken_as_they_are() {
        let record = staged(access(true, DataSource::LocalMemory), Stages::NONE.with(Stage::Dispatched, 3).with(Stage::Completed, 90));
        let life = in_instruction_sampling(&record);
        assert_eq!((life.at(Stage::Dispatched), life.at(Stage::Completed), life.at(Stage::FirstMiss)), (Some(3), Some(90), None));
        assert_eq!(life.lifetime(), Some((3, 90)));
    }

    #[test]
    fn only_instruction_sampling_sees_decoding_and_fetching() {
        let record = with(Record::at(0), Sample { fetch_source: FetchSource::Beyond, ..Sample::default() });
        let tests = [Test::Reached(Stage::Decoded), Test::FetchMiss, Test::FetchBeyond];
        assert!(tests.iter().all(|test| in_instruction_sampling(&record).holds(test)));
        let after_an_event = Life::new(&record, Mmcra::written(EVENTS));
        assert!(!tests.iter().any(|test| after_an_event.holds(test)));
    }

    #[test]
    fn the_unit_follows_from_the_record_unless_it_is_stated() {
        let branch = Branch { kind: BranchKind::Conditional, taken: false, target: 0, prediction: Prediction::Right };
        let branch = Record { branch: Some(branch), ..Record::at(0) };
        let units = |record: &Record| [Test::LoadStore, Test::Branch, Test::Fixed, Test::VectorScalar].map(|test| holds(record, test));
        assert_eq!(units(&access(true, DataSource::Unknown)), [true, false, false, false]);
        assert_eq!(units(&branch), [false, true, false, false]);
        assert_eq!(units(&Record::at(0)), [false, false, true, false]);
        let vector = with(Record::at(0), Sample { unit: ExecutionUnit::VectorScalar, ..Sample::default() });
        assert_eq!(units(&vector), [false, false, false, true]);
    }

    #[test]
    fn an_access_is_a_load_or_a_store() {
        let load = access(true, DataSource::Unknown);
        assert!(holds(&load, Test::Load) && !holds(&load, Test::Store));
        let store = access(false, DataSource::Unknown);
        assert!(!holds(&store, Test::Load) && holds(&store, Test::Store));
        assert!(!holds(&Record::at(0), Test::Load) && !holds(&Record::at(0), Test::Store));
    }

    #[test]
    fn a_branch_is_what_its_record_says() {
        let branch =
            |kind, taken, target, prediction| Record { branch: Some(Branch { kind, taken, target, prediction }), ..Record::at(0x100) };
        let loop_end = branch(BranchKind::Conditional, true, 0xF0, Prediction::WrongDirection);
        let tests = [Test::Taken, Test::Backward, Test::Mispredicted, Test::Link];
        assert_eq!(tests.map(|test| holds(&loop_end, test)), [true, true, true, false]);
        let call = branch(BranchKind::DirectCall, true, 0x100, Prediction::Right);
        assert_eq!(tests.map(|test| holds(&call, test)), [true, false, false, true]);
        let skipped = branch(BranchKind::Conditional, false, 0x104, Prediction::WrongTarget);
        assert_eq!(tests.map(|test| holds(&skipped, test)), [false, false, true, false]);
        let linking = with(skipped, Sample { traits: Traits::LINK, ..Sample::default() });
        assert!(holds(&linking, Test::Link));
    }

    #[test]
    fn a_source_is_the_stated_one_else_that_of_the_access() {
        let rows = [
            (DataSource::Cache(2), 0x00),
            (DataSource::Cache(3), 0x04),
            (DataSource::OtherPackage { modified: false }, 0x14),
            (DataSource::OtherPackage { modified: true }, 0x15),
            (DataSource::OtherCore { modified: false }, 0x18),
            (DataSource::OtherCore { modified: true }, 0x19),
            (DataSource::LocalMemory, 0x1B),
            (DataSource::RemoteMemory, 0x1D),
            (DataSource::OtherL3 { modified: false }, 0x10),
            (DataSource::OtherL3 { modified: true }, 0x11),
            (DataSource::LentL3 { modified: false }, 0x12),
            (DataSource::LentL3 { modified: true }, 0x13),
            (DataSource::DistantPackage { modified: false }, 0x16),
            (DataSource::DistantPackage { modified: true }, 0x17),
            (DataSource::LocalL4, 0x1A),
            (DataSource::RemoteL4, 0x1C),
            (DataSource::DistantL4, 0x1E),
            (DataSource::DistantMemory, 0x1F),
        ];
        for (source, code) in rows {
            let record = access(true, source);
            assert!(holds(&record, Test::Source(1 << code)), "{source:?}");
            assert!(!holds(&record, Test::Source(!(1 << code))), "{source:?}");
            let stated = with(record, Sample { reload_source: Some(0x07), ..Sample::default() });
            assert!(holds(&stated, Test::Source(1 << 0x07)) && !holds(&stated, Test::Source(1 << code)));
            // A store reloads nothing.
            assert!(!holds(&access(false, source), Test::Source(u32::MAX)));
        }
        for source in [DataSource::Unknown, DataSource::StoreForward, DataSource::Cache(1), DataSource::Device] {
            assert!(!holds(&access(true, source), Test::Source(u32::MAX)), "{source:?}");
        }
    }

    #[test]
    fn a_walk_has_the_source_that_is_stated() {
        let record = with(access(true, DataSource::Cache(1)), Sample { walk_source: Some(4), ..Sample::default() });
        assert!(holds(&record, Test::WalkSource(1 << 4 | 1)) && !holds(&record, Test::WalkSource(!(1 << 4))));
        assert!(!holds(&access(true, DataSource::Cache(2)), Test::WalkSource(u32::MAX)));
    }

    #[test]
    fn translation_misses_are_those_of_the_access_or_the_traits() {
        let misses = |translation, traits| {
            let mut record = with(access(true, DataSource::Cache(1)), Sample { traits, ..Sample::default() });
            record.memory = record.memory.map(|memory| Memory { translation, ..memory });
            (holds(&record, Test::FirstTranslationMiss), holds(&record, Test::TranslationMiss))
        };
        let none = Traits::empty();
        assert_eq!(misses(Translation::Unknown, none), (false, false));
        assert_eq!(misses(Translation::Hit(1), none), (false, false));
        assert_eq!(misses(Translation::Hit(2), none), (true, false));
        assert_eq!(misses(Translation::Walk, none), (true, true));
        assert_eq!(misses(Translation::Fault, none), (true, true));
        assert_eq!(misses(Translation::Hit(1), Traits::FIRST_TRANSLATION_MISS), (true, false));
        assert_eq!(misses(Translation::Hit(1), Traits::TRANSLATION_MISS), (true, true));
    }

    #[test]
    fn the_other_tests_check_what_was_reported() {
        let fabric = Fabric { command: FabricCommand::Claim, tagged_intervention: true, ..Fabric::default() };
        let sample = Sample {
            fabric,
            page_bits: 21,
            store_outcome: StoreOutcome::Intervention,
            traits: Traits::PROBE | Traits::STORE_FORWARDED,
            flush: Flush::Alias,
            ..Sample::default()
        };
        let stated = with(Record::at(0), sample);
        let tests = [
            Test::Fabric(FabricCommand::Claim),
            Test::TaggedIntervention,
            Test::Flushed(Flush::Alias),
            Test::Page(21),
            Test::StoreIntervention,
            Test::StoreForwarded,
            Test::Is(Traits::PROBE | Traits::DECIMAL),
        ];
        for test in tests {
            assert!(holds(&stated, test), "{test:?}");
            assert!(!holds(&Record::at(0), test), "{test:?}");
        }
        assert!(holds(&Record::at(0), Test::Marked));
        assert!(holds(&access(true, DataSource::StoreForward), Test::StoreForwarded));
    }

    #[test]
    fn amounts_of_a_pipeline_are_differences_of_its_stages() {
        let stages = Stages::NONE
            .with(Stage::Dispatched, 2)
            .with(Stage::FirstMiss, 10)
            .with(Stage::SecondLevelDispatched, 20)
            .with(Stage::NextToComplete, 100)
            .with(Stage::SecondLevelDone, 240)
            .with(Stage::Reload, 260)
            .with(Stage::Completed, 270);
        let fabric = Fabric { retries: 3, ..Fabric::default() };
        let sample = Sample { stages: Some(stages), stall: 150, fabric, ..Sample::default() };
        let record = with(access(true, DataSource::LocalMemory), sample);
        let rows = [
            (Amount::One, 1),
            (Amount::Latency, 250),
            (Amount::Exposed, 160),
            (Amount::Stall, 150),
            (Amount::NextToComplete, 170),
            (Amount::InFlight, 268),
            (Amount::SecondLevelMachine, 220),
            (Amount::Drain, 0),
            (Amount::Retries, 3),
        ];
        for (asked, expected) in rows {
            assert_eq!(amount(&record, asked), expected, "{asked:?}");
        }
    }

    #[test]
    fn a_latency_is_exposed_only_while_next_to_complete() {
        let at = |next| {
            let stages = Stages::NONE.with(Stage::FirstMiss, 10).with(Stage::Reload, 60).with(Stage::NextToComplete, next);
            amount(&staged(access(true, DataSource::Cache(3)), stages), Amount::Exposed)
        };
        assert_eq!((at(5), at(40), at(80)), (50, 20, 0));
    }

    #[test]
    fn a_store_waits_from_its_queue_to_the_second_level() {
        let stages = Stages::NONE.with(Stage::Drained, 30).with(Stage::SecondLevelDispatched, 75);
        assert_eq!(amount(&staged(access(false, DataSource::Unknown), stages), Amount::Drain), 45);
    }

    #[test]
    fn amounts_of_an_atomic_record_follow_from_its_cycles() {
        let missed = access(true, DataSource::LocalMemory);
        let rows = [
            (Amount::Latency, 250),
            (Amount::Exposed, 250),
            (Amount::Stall, 249),
            (Amount::NextToComplete, 250),
            (Amount::InFlight, 250),
            (Amount::SecondLevelMachine, 250),
            (Amount::Drain, 0),
        ];
        for (asked, expected) in rows {
            assert_eq!(amount(&missed, asked), expected, "{asked:?}");
        }
        // An instruction that takes longer than its access keeps the access's own latency.
        assert_eq!(amount(&Record { cycles: 400, ..missed }, Amount::Latency), 250);
        assert_eq!(amount(&access(true, DataSource::Cache(1)), Amount::Latency), 0);
    }

    #[test]
    fn an_event_adds_its_amount_when_every_test_holds() {
        let record = access(true, DataSource::LocalMemory);
        let life = in_instruction_sampling(&record);
        let passing = [Test::Load, Test::Source(1 << 0x1B)];
        let failing = [Test::Load, Test::Source(1 << 0x1D)];
        assert_eq!(life.adds(&passing, Amount::Latency), 250);
        assert_eq!(life.adds(&failing, Amount::Latency), 0);
        assert_eq!(life.adds(&[], Amount::One), 1);
        assert!(!life.kept_back(&passing, Amount::Latency));
        assert!(life.kept_back(&failing, Amount::Latency));
        assert!(!life.kept_back(&failing, Amount::Retries));
    }
}
