//! Random sampling: which instructions are eligible, and the choice among them (chapter 2, appendix A.6).

use super::Mmcra;
use super::marked::Life;
use crate::feed::{BranchKind, ExecutionUnit, Prediction, Signal, Traits};

/// What random sampling chooses among: the rows of Table A-5, by MMCRA\[RAND_SAMP_MODE] and MMCRA\[RAND_SAMP_ELIG].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eligible {
    /// Nothing: sampling is continuous, or the codes are reserved or in no row.
    Nothing,
    /// Mode 00, 000: every instruction.
    Instructions,
    /// Mode 00, 001: what the load/store unit executes.
    LoadsAndStores,
    /// Mode 00, 010: ProbeNops.
    Probes,
    /// Mode 00, 100: what matches the instruction match CAM.
    Matched,
    /// Mode 00, 101: loads.
    Loads,
    /// Mode 00, 110: operations of long latency.
    LongLatency,
    /// Mode 00, 111: stores.
    Stores,
    /// Mode 01, 000: loads that the data cache does not have.
    LoadMisses,
    /// Mode 01, 100: larx and stcx.
    Reservations,
    /// Mode 10, 000: mispredicted branches.
    Mispredicted,
    /// Mode 10, 001: branches whose direction was mispredicted.
    MispredictedDirection,
    /// Mode 10, 010: branches whose target was mispredicted.
    MispredictedTarget,
    /// Mode 10, 011: taken branches.
    Taken,
    /// Mode 10, 100: branches whose outcome differs from the last time.
    NonRepeating,
    /// Mode 10, 101: branches that need a prediction.
    Predicted,
}

impl Eligible {
    /// What this MMCRA makes eligible.
    pub(super) fn of(mmcra: Mmcra) -> Eligible {
        if !mmcra.sample_enable() {
            return Eligible::Nothing;
        }
        match (mmcra.rand_samp_mode(), mmcra.rand_samp_elig()) {
            (0b00, 0b000) => Eligible::Instructions,
            (0b00, 0b001) => Eligible::LoadsAndStores,
            (0b00, 0b010) => Eligible::Probes,
            (0b00, 0b100) => Eligible::Matched,
            (0b00, 0b101) => Eligible::Loads,
            (0b00, 0b110) => Eligible::LongLatency,
            (0b00, 0b111) => Eligible::Stores,
            (0b01, 0b000) => Eligible::LoadMisses,
            (0b01, 0b100) => Eligible::Reservations,
            (0b10, 0b000) => Eligible::Mispredicted,
            (0b10, 0b001) => Eligible::MispredictedDirection,
            (0b10, 0b010) => Eligible::MispredictedTarget,
            (0b10, 0b011) => Eligible::Taken,
            (0b10, 0b100) => Eligible::NonRepeating,
            (0b10, 0b101) => Eligible::Predicted,
            _ => Eligible::Nothing,
        }
    }

    /// The signals whose sum grows by at least one with every eligible instruction. [`Eligible::admits`] decides about a single
    /// instruction: the signals may count more than the eligible ones, and one instruction twice.
    pub(super) fn signals(self) -> &'static [Signal] {
        match self {
            Eligible::Nothing => &[],
            Eligible::Instructions => &[Signal::InstructionsRetired],
            // Software prefetches are routed to the load/store unit too.
            Eligible::LoadsAndStores => &[Signal::Loads, Signal::Stores, Signal::PrefetchesForLoad, Signal::PrefetchesForStore],
            Eligible::Probes => &[Signal::ProbeInstructions],
            Eligible::Matched => &[Signal::MatchedInstructions],
            Eligible::Loads => &[Signal::Loads],
            Eligible::LongLatency => &[Signal::LongLatencyInstructions],
            Eligible::Stores => &[Signal::Stores],
            Eligible::LoadMisses => &[Signal::DataCacheLoadMisses],
            Eligible::Reservations => &[Signal::LoadReserves, Signal::StoreConditionals],
            Eligible::Mispredicted => &[Signal::BranchesMispredicted],
            Eligible::MispredictedDirection => {
                &[Signal::ConditionalBranchesTakenMispredicted, Signal::ConditionalBranchesNotTakenMispredicted]
            }
            Eligible::MispredictedTarget => {
                &[Signal::IndirectJumpsMispredicted, Signal::IndirectCallsMispredicted, Signal::NearReturnsMispredicted]
            }
            Eligible::Taken => &[Signal::BranchesTaken],
            // No signal distinguishes repeating branches from others: every branch is a candidate, and its record decides.
            Eligible::NonRepeating => &[Signal::BranchesRetired],
            Eligible::Predicted => &[
                Signal::ConditionalBranchesTaken,
                Signal::ConditionalBranchesNotTaken,
                Signal::IndirectJumps,
                Signal::IndirectCalls,
                Signal::NearReturns,
            ],
        }
    }

    /// Whether this very instruction is eligible.
    pub(super) fn admits(self, life: &Life<'_>) -> bool {
        let branch = life.record().branch.filter(|branch| !branch.kind.is_far());
        match self {
            Eligible::Nothing => false,
            Eligible::Instructions => true,
            Eligible::LoadsAndStores => life.load() || life.store() || life.unit() == ExecutionUnit::LoadStore,
            Eligible::Probes => life.is(Traits::PROBE),
            Eligible::Matched => life.is(Traits::MATCHED),
            Eligible::Loads => life.load(),
            Eligible::LongLatency => life.is(Traits::LONG_LATENCY | Traits::DIVIDE) || life.links(),
            Eligible::Stores => life.store(),
            Eligible::LoadMisses => life.reload_source().is_some(),
            Eligible::Reservations => life.is(Traits::RESERVE | Traits::CONDITIONAL),
            Eligible::Mispredicted => branch.is_some() && life.mispredicted(),
            Eligible::MispredictedDirection => branch.is_some() && life.prediction() == Prediction::WrongDirection,
            Eligible::MispredictedTarget => branch.is_some() && life.prediction() == Prediction::WrongTarget,
            Eligible::Taken => branch.is_some_and(|branch| branch.taken),
            Eligible::NonRepeating => branch.is_some() && life.is(Traits::NONREPEATING),
            Eligible::Predicted => branch.is_some_and(|branch| !matches!(branch.kind, BranchKind::DirectJump | BranchKind::DirectCall)),
        }
    }

    /// Whether every eligible instruction is sampled, and no choice is made: software puts ProbeNops, and instructions that match, where
    /// it wants a sample (section 2.4.1; Table 2-1 has random sampling of matches as a separate case).
    fn without_choice(self) -> bool {
        matches!(self, Eligible::Probes | Eligible::Matched)
    }
}

/// The state of the sampling machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Machine {
    /// Nothing is chosen.
    #[default]
    Idle,
    /// A choice was made.
    Start {
        /// Eligible instructions up to the chosen one, that one included; 0 if its record is due.
        left: u32,
    },
}

/// The choice of the instruction that is sampled.
///
/// The manual does not say how the hardware chooses; here the number of eligible instructions up to the next sample is drawn uniformly
/// from 1 to 64. So no period of the guest's code falls in step with the samples, and a sample comes every 32 instructions or so. The
/// numbers follow from the generator's state alone: the same run takes the same samples, and a restored run continues with them.
///
/// An instruction is executed at once and reported with its whole life, so that no state is needed in which one is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sampler {
    /// The state of the generator; 0 is taken as [`Sampler::SEED`].
    pub random: u64,
    /// The machine.
    pub machine: Machine,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler { random: Self::SEED, machine: Machine::Idle }
    }
}

impl Sampler {
    /// The generator's state at reset: 2 to the power of 64 divided by the golden ratio, which has its bits well mixed.
    pub const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

    /// The farthest that a choice lies ahead.
    pub const FARTHEST: u32 = 64;

    /// How many eligible instructions lie between the last sample and the next, that one included: 1 where no choice is made, else 1 to
    /// [`Sampler::FARTHEST`].
    pub(super) fn draw(&mut self, eligible: Eligible) -> u32 {
        if eligible.without_choice() {
            return 1;
        }
        // xorshift64*, of which the upper bits are the good ones: shift by 12, 25 and 27, then multiply.
        let mut state = if self.random == 0 { Self::SEED } else { self.random };
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.random = state;
        let upper = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> (u64::BITS - Self::FARTHEST.trailing_zeros());
        u32::try_from(upper).unwrap_or(0).saturating_add(1)
    }

    /// Makes a choice, if none is made yet and something is eligible.
    pub(super) fn start(&mut self, eligible: Eligible) {
        if self.machine == Machine::Idle && eligible != Eligible::Nothing {
            self.machine = Machine::Start { left: self.draw(eligible) };
        }
    }

    /// Eligible instructions until the record of the chosen one is wanted, at least 1; `None` while nothing is chosen.
    pub(super) fn until_sample(&self) -> Option<u32> {
        match self.machine {
            Machine::Idle => None,
            Machine::Start { left } => Some(left.max(1)),
        }
    }

    /// Advances by `occurrences` eligible instructions. Returns whether the chosen one was among them.
    ///
    /// If the chosen instruction is not admitted after all, nothing changes: the next one that is admitted will be the sample.
    pub(super) fn advance(&mut self, occurrences: u64) -> bool {
        let Machine::Start { left } = &mut self.machine else { return false };
        *left = left.saturating_sub(u32::try_from(occurrences).unwrap_or(u32::MAX));
        *left == 0
    }

    /// The chosen instruction was sampled.
    pub(super) fn sampled(&mut self) {
        self.machine = Machine::Idle;
    }

    /// What MMCRA\[SAMPLE_RESET] does: a choice that was made is dropped; without one there is no effect.
    pub(super) fn reset(&mut self) {
        self.machine = Machine::Idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Branch, DataSource, Memory, Record, Sample, Translation};
    extern crate std;
    use std::vec::Vec;

    fn mmcra(mode: u8, elig: u8) -> Mmcra {
        let mut mmcra = Mmcra::written(1);
        mmcra.set_rand_samp_mode(mode);
        mmcra.set_rand_samp_elig(elig);
        mmcra
    }

    #[test]
    fn eligibility_is_that_of_table_a_5() {
        use Eligible::*;
        let rows = [
            [Instructions, LoadsAndStores, Probes, Nothing, Matched, Loads, LongLatency, Stores],
            [LoadMisses, Nothing, Nothing, Nothing, Reservations, Nothing, Nothing, Nothing],
            [Mispredicted, MispredictedDirection, MispredictedTarget, Taken, NonRepeating, Predicted, Nothing, Nothing],
            [Nothing; 8],
        ];
        for (mode, row) in (0..).zip(rows) {
            for (elig, expected) in (0..).zip(row) {
                assert_eq!(Eligible::of(mmcra(mode, elig)), expected, "mode {mode}, {elig}");
            }
        }
        assert_eq!(Eligible::of(Mmcra::default()), Nothing);
    }

    #[test]
    fn what_is_eligible_has_a_signal() {
        for mode in 0..4 {
            for elig in 0..8 {
                let eligible = Eligible::of(mmcra(mode, elig));
                assert_eq!(eligible.signals().is_empty(), eligible == Eligible::Nothing, "{eligible:?}");
            }
        }
    }

    /// The classes that an instruction belongs to, as (mode, code).
    fn classes(record: &Record) -> Vec<(u8, u8)> {
        let all = (0..3).flat_map(|mode| (0..8).map(move |elig| (mode, elig)));
        all.filter(|(mode, elig)| {
            let mmcra = mmcra(*mode, *elig);
            Eligible::of(mmcra).admits(&Life::new(record, mmcra))
        })
        .collect()
    }

    fn access(load: bool, source: DataSource) -> Record {
        let translation = Translation::Unknown;
        let memory = Memory { address: 0, size: 8, load, store: !load, latency: 0, source, translation };
        Record { memory: Some(memory), ..Record::at(0) }
    }

    fn of_traits(traits: Traits) -> Record {
        Record { sample: Sample { traits, ..Sample::default() }, ..Record::at(0) }
    }

    fn branch(kind: BranchKind, taken: bool, prediction: Prediction) -> Record {
        Record { branch: Some(Branch { kind, taken, target: 0, prediction }), ..Record::at(0) }
    }

    #[test]
    fn an_instruction_belongs_to_its_classes() {
        assert_eq!(classes(&Record::at(0)), [(0, 0)]);
        assert_eq!(classes(&access(true, DataSource::Cache(1))), [(0, 0), (0, 1), (0, 5)]);
        assert_eq!(classes(&access(true, DataSource::Cache(2))), [(0, 0), (0, 1), (0, 5), (1, 0)]);
        assert_eq!(classes(&access(false, DataSource::Cache(2))), [(0, 0), (0, 1), (0, 7)]);
        assert_eq!(classes(&of_traits(Traits::PROBE)), [(0, 0), (0, 2)]);
        assert_eq!(classes(&of_traits(Traits::MATCHED)), [(0, 0), (0, 4)]);
        assert_eq!(classes(&of_traits(Traits::LONG_LATENCY)), [(0, 0), (0, 6)]);
        assert_eq!(classes(&of_traits(Traits::DIVIDE)), [(0, 0), (0, 6)]);
        assert_eq!(classes(&of_traits(Traits::RESERVE)), [(0, 0), (1, 4)]);
        assert_eq!(classes(&of_traits(Traits::CONDITIONAL)), [(0, 0), (1, 4)]);
    }

    #[test]
    fn a_software_prefetch_goes_to_the_load_store_unit() {
        let prefetch = Record { sample: Sample { unit: ExecutionUnit::LoadStore, ..Sample::default() }, ..Record::at(0) };
        assert_eq!(classes(&prefetch), [(0, 0), (0, 1)]);
    }

    #[test]
    fn a_branch_belongs_to_its_classes() {
        use BranchKind::{Conditional, DirectCall, DirectJump, Far, IndirectJump};
        use Prediction::{None, Right, WrongDirection, WrongTarget};
        assert_eq!(classes(&branch(Conditional, false, Right)), [(0, 0), (2, 5)]);
        assert_eq!(classes(&branch(Conditional, false, WrongDirection)), [(0, 0), (2, 0), (2, 1), (2, 5)]);
        assert_eq!(classes(&branch(IndirectJump, true, WrongTarget)), [(0, 0), (2, 0), (2, 2), (2, 3), (2, 5)]);
        assert_eq!(classes(&branch(DirectJump, true, None)), [(0, 0), (2, 3)]);
        assert_eq!(classes(&branch(DirectCall, true, None)), [(0, 0), (0, 6), (2, 3)]);
        assert_eq!(classes(&branch(Far, true, None)), [(0, 0)]);
        let mut unusual = branch(Conditional, false, Right);
        unusual.sample.traits = Traits::NONREPEATING;
        assert_eq!(classes(&unusual), [(0, 0), (2, 4), (2, 5)]);
    }

    #[test]
    fn probes_and_matches_are_all_sampled() {
        let mut sampler = Sampler::default();
        assert_eq!(sampler.draw(Eligible::Probes), 1);
        assert_eq!(sampler.draw(Eligible::Matched), 1);
        assert_eq!(sampler, Sampler::default());
    }

    #[test]
    fn choices_are_spread_over_one_to_sixty_four() {
        let mut sampler = Sampler::default();
        let mut seen = [0u32; 65];
        for _ in 0..64_000 {
            seen[sampler.draw(Eligible::Instructions) as usize] += 1;
        }
        assert_eq!(seen[0], 0);
        // A thousand each are expected; five standard deviations are about 160.
        assert!(seen[1..].iter().all(|count| (840..1160).contains(count)), "{seen:?}");
    }

    #[test]
    fn the_same_state_makes_the_same_choices() {
        let draws = |mut sampler: Sampler| (0..100).map(|_| sampler.draw(Eligible::Instructions)).collect::<Vec<_>>();
        assert_eq!(draws(Sampler::default()), draws(Sampler::default()));
        // One shift of 1: by 12 and 27 nothing, by 25 the bit 25; the product's upper six bits are those of
        // 0x2545F4914F6CDD1D * 0x2000001 = 0x47E4_CE4B_896C_DD1D (modulo 2 to the power of 64), 010001b.
        let mut one = Sampler { random: 1, machine: Machine::Idle };
        assert_eq!(one.draw(Eligible::Instructions), 0b010001 + 1);
        assert_eq!(one.random, 0x200_0001);
        assert_eq!(draws(Sampler { random: 0, ..Sampler::default() }), draws(Sampler::default()));
    }

    #[test]
    fn the_chosen_one_comes_after_those_before_it() {
        let mut sampler = Sampler { machine: Machine::Start { left: 3 }, ..Sampler::default() };
        assert_eq!(sampler.until_sample(), Some(3));
        assert!(!sampler.advance(2));
        assert!(sampler.advance(1));
        // Not admitted after all: the next one.
        assert_eq!(sampler.until_sample(), Some(1));
        assert!(sampler.advance(1));
        sampler.sampled();
        assert_eq!((sampler.machine, sampler.until_sample()), (Machine::Idle, None));
        assert!(!sampler.advance(100));
    }

    #[test]
    fn a_choice_is_made_once_and_dropped_by_a_reset() {
        let mut sampler = Sampler::default();
        sampler.start(Eligible::Nothing);
        assert_eq!(sampler.machine, Machine::Idle);
        sampler.start(Eligible::Instructions);
        let chosen = sampler;
        sampler.start(Eligible::Instructions);
        assert_eq!(sampler, chosen);
        sampler.reset();
        assert_eq!(sampler.machine, Machine::Idle);
        sampler.reset();
        assert_eq!(sampler.machine, Machine::Idle);
    }

    #[test]
    fn more_than_a_choice_going_by_makes_it_due() {
        let mut sampler = Sampler { machine: Machine::Start { left: 64 }, ..Sampler::default() };
        assert!(sampler.advance(u64::MAX));
    }
}
