//! What continuous sampling keeps at an alert (POWER9 PMU User's Guide, 2.1 to 2.3; decisions P28, P29).
//!
//! Random sampling draws instructions by a generator of the model's own; what it leaves in registers is not known here.

use vm_pmu_arch::feed::{DataSource, Record, Signal, Traits, Translation};

use super::bits::{mmcr0, mmcra, sier, state};
use super::thread::{Thread, of};

/// What continuous sampling has seen since PMAE was set.
#[derive(Clone, Copy, Default)]
pub(super) struct Followed {
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

impl Thread {
    /// Whether the registers are continuously loaded, PMAE left out (2.3).
    fn is_continuous(&self) -> bool {
        self.mmcra & mmcra::SAMPLE_ENABLE == 0 && self.context.machine_state & (state::SE | state::BE) == 0
    }

    /// Whether random sampling may choose an instruction (Table A-5). Of most kinds one is drawn, and which one is not known here. Every probe
    /// no-op and every matched instruction is sampled (P30), so another instruction is not.
    pub(super) fn may_sample(&self, record: &Record, signals: &[(Signal, u64)]) -> bool {
        if self.mmcra & mmcra::SAMPLE_ENABLE == 0 {
            return false;
        }
        match mmcra::eligibility(self.mmcra) {
            (0, 3) | (1, 1..=3 | 5..=7) | (2, 6..=7) | (3, _) => false,
            (0, 2) => record.sample.traits.contains(Traits::PROBE) || of(signals, Signal::ProbeInstructions) > 0,
            (0, 4) => record.sample.traits.contains(Traits::MATCHED) || of(signals, Signal::MatchedInstructions) > 0,
            _ => true,
        }
    }

    /// An instruction that continuous sampling and the branch history see.
    pub(super) fn follow(&mut self, record: &Record, signals: &[(Signal, u64)]) {
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
    pub(super) fn capture(&mut self, record: Option<&Record>, alerted: bool, lost: bool) {
        let random = self.mmcra & mmcra::SAMPLE_ENABLE != 0;
        let sampled = core::mem::take(&mut self.sampled);
        let followed = self.followed;
        if alerted {
            self.followed = Followed::default();
        }
        let enabled = self.mmcr0 & mmcr0::PMAE != 0;
        if lost || sampled && (alerted || enabled) {
            (self.siar, self.sdar, self.sier) = (None, None, None);
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
        self.sier = Some(bit(sier::MSR_PR, self.pr()) | bit(sier::MSR_HV, self.hv()));
        match followed.data {
            Data::None => {}
            Data::At(address) => self.sdar = Some(address),
            Data::Unknown => self.sdar = None,
        }
    }

    /// What an alert that a write makes leaves: SIAR and SIER describe no instruction that was executed then and stay (P28), SDAR has the
    /// address that was loaded last.
    pub(super) fn capture_by_access(&mut self, alerted: bool, lost: bool) {
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
    pub(super) fn doubt_data(&mut self) {
        if self.followed.data != Data::None {
            self.followed.data = Data::Unknown;
        }
    }

    /// Software wrote SDAR: it stays until the next access of the chosen kind.
    pub(super) fn forget_data(&mut self) {
        self.followed.data = Data::None;
    }
}
