//! What continuous sampling keeps at an alert, and what probe no-ops and matched instructions leave and count, which are all sampled
//! (POWER9 PMU User's Guide, chapter 2; decisions P28 to P30).
//!
//! Other random sampling draws instructions by a generator of the model's own; what it leaves in registers is not known here.

use vm_pmu_arch::event::{Amount, Test};
use vm_pmu_arch::feed::{DataSource, ExecutionUnit, Record, Signal, Traits, Translation};

use super::Thread;
use crate::clocks::amount_of as of;
use crate::power9::bits::{mmcr0, mmcra, sier, state};

/// What continuous sampling has seen since PMAE was set.
#[derive(Clone, Copy, Default)]
pub(in crate::power9) struct Followed {
    data: Data,
    /// An instruction was followed.
    any: bool,
}

/// The last data address of the kind that SDAR_MODE chooses.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Data {
    #[default]
    None,
    At(u64),
    Unknown,
}

/// Whether random sampling chooses an instruction.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::power9) enum Sampled {
    /// It does not.
    #[default]
    No,
    /// It may.
    Maybe,
    /// It does.
    Yes,
}

/// What a sampled instruction adds by these tests; `None` where it is not known here.
pub(in crate::power9) fn marked(record: &Record, tests: &[Test], amount: Amount) -> Option<u128> {
    let holds = |test: &Test| match test {
        Test::Marked => Some(true),
        Test::Load => Some(record.memory.is_some_and(|memory| memory.load)),
        Test::Store => Some(record.memory.is_some_and(|memory| memory.store)),
        Test::Is(traits) => Some(record.sample.traits.intersects(*traits)),
        _ => None,
    };
    let holding: Vec<_> = tests.iter().map(holds).collect();
    match amount {
        _ if holding.contains(&Some(false)) => Some(0),
        Amount::One if !holding.contains(&None) => Some(1),
        _ => None,
    }
}

/// The code of SIER's TYPE (A.7). The two kinds that are printed as 101 have 101 and 110.
fn type_of(record: &Record) -> u64 {
    if let Some(memory) = record.memory.filter(|memory| memory.load || memory.store) {
        return if memory.load { 0b001 } else { 0b010 };
    }
    match record.sample.unit {
        ExecutionUnit::Branch => 0b011,
        ExecutionUnit::VectorScalar => 0b100,
        ExecutionUnit::FixedPoint => 0b101,
        ExecutionUnit::Fetch => 0b110,
        ExecutionUnit::LoadStore => 0b000,
        // What the record has decides.
        ExecutionUnit::Unknown if record.branch.is_some() => 0b011,
        ExecutionUnit::Unknown if record.memory.is_some() => 0b000,
        ExecutionUnit::Unknown => 0b101,
    }
}

impl Thread {
    /// Whether the registers are continuously loaded, PMAE left out (2.3).
    fn is_continuous(&self) -> bool {
        self.mmcra & mmcra::SAMPLE_ENABLE == 0 && self.context.machine_state & (state::SE | state::BE) == 0
    }

    /// Whether random sampling chooses an instruction (Table A-5). Of most kinds one is drawn, and which one is not known here. Every probe
    /// no-op and every matched instruction is sampled (P30), so another instruction is not.
    pub(in crate::power9) fn samples(&self, record: &Record, signals: &[(Signal, u64)]) -> Sampled {
        if self.mmcra & mmcra::SAMPLE_ENABLE == 0 {
            return Sampled::No;
        }
        let (kind, signal) = match mmcra::eligibility(self.mmcra) {
            (0, 3) | (1, 1..=3 | 5..=7) | (2, 6..=7) | (3, _) => return Sampled::No,
            (0, 2) => (Traits::PROBE, Signal::ProbeInstructions),
            (0, 4) => (Traits::MATCHED, Signal::MatchedInstructions),
            _ => return Sampled::Maybe,
        };
        // The record and the signals of the instruction must say the same.
        match (record.sample.traits.contains(kind), of(signals, signal)) {
            (false, 0) => Sampled::No,
            (true, 1) => Sampled::Yes,
            _ => Sampled::Maybe,
        }
    }

    /// An instruction that continuous sampling and the branch history see.
    pub(in crate::power9) fn follow(&mut self, record: &Record, signals: &[(Signal, u64)]) {
        let enabled = self.mmcr0 & mmcr0::PMAE != 0;
        if !self.frozen_by_privilege() {
            if self.lost && record.branch.is_some_and(|branch| branch.taken) {
                self.history.lose();
            } else if enabled {
                self.history.enter(record, self.mmcra);
            }
        }
        if !enabled && !self.lost || !self.is_continuous() {
            return;
        }
        self.followed.any = true;
        let memory = record.memory;
        // The record and the signals of the instruction must say the same.
        let (said, grew) = match mmcra::sdar_mode(self.mmcra) {
            0 => (false, false),
            1 => (
                memory.is_some_and(|memory| !matches!(memory.translation, Translation::Unknown)),
                of(signals, Signal::DataTlbMissesAll) > 0,
            ),
            2 => (
                memory.is_some_and(|memory| memory.load && memory.source != DataSource::Cache(1)),
                of(signals, Signal::DataCacheLoadMisses) > 0,
            ),
            _ => (memory.is_some_and(|memory| memory.store), of(signals, Signal::Stores) > 0),
        };
        let stores = mmcra::sdar_mode(self.mmcra) == 3;
        match (said, grew, memory) {
            (false, false, _) => {}
            // Only while PMAE is set, which must be known (2.3).
            (true, true, Some(memory)) if stores && !self.lost => self.followed.data = Data::At(memory.address),
            _ => self.followed.data = Data::Unknown,
        }
    }

    /// What an alert leaves in SIAR, SDAR and SIER; `lost` is whether it is unknown that there was one.
    pub(in crate::power9) fn capture(&mut self, record: Option<&Record>, alerted: bool, lost: bool) {
        let random = self.mmcra & mmcra::SAMPLE_ENABLE != 0;
        let sampled = core::mem::take(&mut self.sampled);
        let followed = self.followed;
        if alerted {
            self.followed = Followed::default();
        }
        let enabled = self.mmcr0 & mmcr0::PMAE != 0;
        let loads = alerted || enabled;
        if lost || sampled == Sampled::Maybe && loads {
            (self.siar, self.sdar, self.sier) = (None, None, None);
            return;
        }
        if let (Sampled::Yes, true, Some(record)) = (sampled, loads, record) {
            // SIAR is of the last one that completed (2.1), SDAR of the last that had data.
            let completed = !record.sample.traits.contains(Traits::DISCARDED);
            self.siar = completed.then_some(record.address);
            if let Some(memory) = record.memory {
                self.sdar = completed.then_some(memory.address);
            }
            self.sier = None;
            return;
        }
        // With random sampling they are of the last sampled instruction (2.1).
        if !alerted || random {
            return;
        }
        let Some(record) = record else {
            (self.siar, self.sdar, self.sier) = (None, None, None);
            return;
        };
        if !self.is_continuous() {
            // The registers stand still since tracing began.
            if followed.any {
                (self.siar, self.sdar, self.sier) = (None, None, None);
            }
            return;
        }
        self.siar = Some(record.address);
        let bit = |bit: u64, set: bool| if set { bit } else { 0 };
        self.sier = Some(bit(sier::MSR_PR, self.pr()) | bit(sier::MSR_HV, self.hv()) | (type_of(record) * sier::TYPE));
        match followed.data {
            Data::None => {}
            Data::At(address) => self.sdar = Some(address),
            Data::Unknown => self.sdar = None,
        }
    }

    /// What an alert that a write makes leaves: SIAR and SIER describe no instruction that was executed then and stay (P28), SDAR has the
    /// address that was loaded last.
    pub(in crate::power9) fn capture_by_access(&mut self, alerted: bool, lost: bool) {
        let followed = self.followed;
        if alerted {
            self.followed = Followed::default();
        }
        match followed.data {
            _ if lost && (alerted || self.mmcr0 & mmcr0::PMAE != 0) => (self.siar, self.sdar, self.sier) = (None, None, None),
            Data::At(address) if alerted && self.is_continuous() => self.sdar = Some(address),
            Data::At(_) | Data::Unknown if alerted => self.sdar = None,
            _ => {}
        }
    }

    /// PMAE was written, or SDAR_MODE: what was followed before may not count.
    pub(in crate::power9) fn doubt_data(&mut self) {
        if self.followed.data != Data::None {
            self.followed.data = Data::Unknown;
        }
    }

    /// Software wrote SDAR: it stays until the next access of the chosen kind.
    pub(in crate::power9) fn forget_data(&mut self) {
        self.followed.data = Data::None;
    }
}
