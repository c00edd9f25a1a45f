//! The registers of one thread, and what its instructions do to them, one step at a time.

mod alerts;
mod sampling;
mod thresholds;

use vm_pmu_arch::alert::Lines;
use vm_pmu_arch::event::{Drive, Entry, Internal, Reloads, When};
use vm_pmu_arch::feed::{Context, Kind, Record, Signal};
use vm_pmu_arch::model::Occurrence;

use crate::clocks::amount_of as of;

use super::bits::{mmcr0, mmcr1, state};
use super::edges::Falls;
use super::history::History;
use super::selection::{Chosen, chosen, reaches};
use alerts::Excuse;
use sampling::{Followed, Sampled, marked};
use thresholds::{Threshold, threshold_event};

/// What a thread sees of its core.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    /// MMCRC freezes the thread.
    pub(super) frozen: bool,
    /// How many threads the core has.
    pub(super) threads: usize,
    /// How many of them run.
    pub(super) running: usize,
}

/// What is counted at once.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) signals: &'a [(Signal, u64)],
    /// The instruction, if it is one.
    pub(super) record: Option<&'a Record>,
}

/// What a counter is to add.
#[derive(Clone, Copy)]
pub(super) enum Add {
    Known(u128),
    Unknown,
}

impl Add {
    pub(super) fn amount(self) -> Option<u128> {
        match self {
            Add::Known(amount) => Some(amount),
            Add::Unknown => None,
        }
    }

    pub(super) fn plus(self, other: Add) -> Add {
        match (self, other) {
            (Add::Known(one), Add::Known(other)) => Add::Known(one + other),
            _ => Add::Unknown,
        }
    }
}

/// The performance monitor of one thread. A register that is not known is `None`.
pub(super) struct Thread {
    pub(super) context: Context,
    /// The ticks of the time base since power-on.
    ticks: u64,
    pub(super) counters: [Option<u32>; 6],
    /// Counters that passed through a negative value in the step that is being counted.
    pub(super) passed: [bool; 6],
    /// Counters that were not negative on the way, in that step.
    pub(super) wrapped: [bool; 6],
    pub(super) mmcr0: u64,
    /// What the processor changes in MMCR0 is not known: FC, PMAE, PMAO, PMAOQ, TRIGGER.
    pub(super) lost: bool,
    pub(super) mmcr1: u64,
    pub(super) mmcr2: u64,
    pub(super) mmcra: u64,
    pub(super) siar: Option<u64>,
    pub(super) sdar: Option<u64>,
    pub(super) sier: Option<u64>,
    pub(super) bescr: Option<u64>,
    pub(super) imc: u64,
    /// The address of in-memory collection, which this reference only keeps.
    pub(super) ldbar: u64,
    pub(super) history: History,
    pub(super) excuse: Excuse,
    pub(super) followed: Followed,
    /// Whether random sampling chooses the instruction that is being counted.
    pub(super) sampled: Sampled,
    /// Of PMC1 to PMC4 those that counted when MMCR1 was written, until that cycle is over: they do not count (note 1 of A.4; P17). `None`
    /// is not known.
    pub(super) suspended: [Option<bool>; 4],
    /// What PMC1 to PMC4 count by MMCR1.
    pub(super) chosen: [Chosen; 4],
    pub(super) threshold: Threshold,
    /// What PMC1 to PMC4 have seen of single clocks.
    falls: [Falls; 4],
}

/// Whether the register file finds by itself that an event occurs, from what it is told of other things.
fn is_made(entry: &Entry) -> bool {
    matches!(entry.drive, Drive::Internal(internal) if !matches!(internal, Internal::Nested(_)))
}

impl Thread {
    pub(super) fn new() -> Thread {
        Thread {
            context: Context::RESET,
            ticks: 0,
            counters: [Some(0); 6],
            passed: [false; 6],
            wrapped: [false; 6],
            mmcr0: mmcr0::FC,
            lost: false,
            mmcr1: 0,
            mmcr2: 0,
            mmcra: 0,
            siar: Some(0),
            sdar: Some(0),
            sier: Some(0),
            bescr: Some(0),
            imc: 0,
            ldbar: 0,
            history: History::default(),
            excuse: Excuse::default(),
            followed: Followed::default(),
            sampled: Sampled::No,
            suspended: [Some(false); 4],
            chosen: [Chosen::Off, Chosen::Off, Chosen::Off, Chosen::Off],
            threshold: Threshold::new(),
            falls: [Falls::new(); 4],
        }
    }

    /// FC is set and everything else zero; the run latch is off, and the time base goes on (P11).
    pub(super) fn reset(&mut self) {
        let time_base = self.context.time_base;
        *self = Thread { ticks: self.ticks, ..Thread::new() };
        self.context.time_base = time_base;
    }

    /// A write of MMCR1 as a whole.
    pub(super) fn select(&mut self, value: u64) {
        self.mmcr1 = value & mmcr1::KEPT;
        self.chosen = [0, 1, 2, 3].map(|number| chosen(self.mmcr1, number));
    }

    /// PMC1 to PMC4, those that count now, are suspended for a cycle.
    pub(super) fn suspend(&mut self, around: &Surroundings) {
        self.suspended = [0, 1, 2, 3].map(|number| self.frozen(number, around).map(|frozen| !frozen));
    }

    /// The cycle of a write of MMCR1 is over.
    pub(super) fn resume(&mut self) {
        self.suspended = [Some(false); 4];
    }

    /// Something was written or has changed around the counters: how that meets the clock that is open is not known.
    pub(super) fn doubt_falls(&mut self) {
        self.falls.iter_mut().for_each(Falls::doubt);
    }

    /// Whether counter `number` counts PM_CYC, by any of its codes (P16).
    pub(super) fn counts_cycles(&self, number: u32) -> bool {
        matches!(self.chosen.get(number as usize), Some(Chosen::Sum(entries)) if entries.iter().any(|entry| entry.name == "PM_CYC"))
    }

    /// Whether some counter counts the overflows of counter `source`: then its bit 0 is data (A.1).
    pub(super) fn is_lower_part(&self, source: usize) -> bool {
        self.chosen.iter().any(|chosen| matches!(chosen, Chosen::Carries(of) if *of == source))
    }

    /// Whether counter `number` counts something of which the reference knows nothing even between instructions.
    fn counts_untold(&self, number: usize) -> bool {
        match self.chosen.get(number) {
            Some(Chosen::Sum(entries)) => entries.iter().any(|entry| matches!(entry.drive, Drive::Internal(Internal::Nested(_)))),
            // What they are the cycles of may be told by no signal.
            Some(Chosen::Cycles) => true,
            _ => false,
        }
    }

    /// The levels of the thread's lines (A.3, EBE and PMAO; P25).
    pub(super) fn lines(&self) -> Option<Lines> {
        let asks = self.mmcr0 & mmcr0::PMAO != 0;
        let branch = self.mmcr0 & mmcr0::EBE != 0;
        (!self.lost).then_some(Lines { interrupt: asks && !branch, event_based_branch: asks && branch })
    }

    /// How often the bit that TBSEL selects turns from 0 to 1 while the time base grows by `ticks`.
    fn transitions(&self, ticks: u64) -> u64 {
        let half = match mmcr0::tbsel(self.mmcr0) {
            0 => 1u128 << 16,
            1 => 1 << 12,
            2 => 1 << 8,
            _ => 1,
        };
        let start = u128::from(self.context.time_base.wrapping_add(self.ticks));
        let turns = |value: u128| (value + half) / (2 * half);
        (turns(start + u128::from(ticks)) - turns(start)) as u64
    }

    /// Whether the thread is in a state in which an event counts.
    pub(super) fn when(&self, when: When, around: &Surroundings) -> bool {
        let (msr, control) = (self.context.machine_state, self.context.control);
        match when {
            When::Run => self.runs(),
            When::Hypervisor => self.hv() && !self.pr(),
            When::HypervisorBit => self.hv(),
            When::Problem => self.pr(),
            When::Privileged => !self.pr(),
            When::Supervisor => !self.hv() && !self.pr(),
            When::Application => !self.hv() && self.pr(),
            When::Adjunct => self.hv() && self.pr(),
            When::ExternalDisabled => msr & state::EE == 0,
            When::ExternalPending => msr & state::EE == 0 && control & state::PENDING != 0,
            When::Transactional => state::ts(msr) == 0b10,
            When::Suspended => state::ts(msr) == 0b01,
            When::Radix => control & state::RADIX != 0,
            When::Hashed => control & state::RADIX == 0,
            When::Priority(lower) => matches!(state::priority(control), own if own == u64::from(lower) || own == u64::from(lower) + 1),
            When::AnyRun => around.running > 0,
            When::AllRun => around.running == around.threads,
            When::Running(count) => around.running == usize::from(count),
            When::SingleThread => around.threads == 1,
            When::TwoThreads => around.threads == 2,
            When::FourThreads => around.threads == 4,
        }
    }

    /// What one entry of the catalogue adds in a step with these signals.
    fn amount(&self, entry: &Entry, step: Step<'_>, suspended: bool, around: &Surroundings) -> Add {
        let Step { signals, record } = step;
        if !entry.when.iter().all(|when| self.when(*when, around)) {
            return Add::Known(0);
        }
        match entry.drive {
            Drive::Signals => {
                let qualifier = match entry.reloads {
                    Reloads::None => 0,
                    Reloads::Data => mmcr1::DC_RLD_QUAL,
                    Reloads::Instruction => mmcr1::IC_RLD_QUAL,
                };
                let prefetches = if self.mmcr1 & qualifier != 0 { entry.prefetches } else { &[] };
                let counted = entry.signals.iter().chain(prefetches);
                Add::Known(counted.map(|signal| u128::from(told(*signal, signals, suspended))).sum())
            }
            // No instruction is sampled.
            Drive::Sampled { .. } | Drive::Internal(Internal::Rewind(_) | Internal::Saved(_)) if self.sampled == Sampled::No => {
                Add::Known(0)
            }
            Drive::Sampled { tests, amount } if self.sampled == Sampled::Yes && !suspended => {
                record.and_then(|record| marked(record, tests, amount)).map_or(Add::Unknown, Add::Known)
            }
            // Counted once the threshold counter has seen the step.
            _ if threshold_event(entry).is_some() => Add::Known(0),
            Drive::Internal(Internal::Suspended | Internal::Never) => Add::Known(0),
            Drive::Internal(Internal::TimeBaseBit) if suspended => Add::Known(0),
            Drive::Internal(Internal::TimeBaseBit) => Add::Known(u128::from(self.transitions(of(signals, Signal::TimeBaseTicks)))),
            _ => Add::Unknown,
        }
    }

    /// The falling edges of a step that counter `number` counts, of what these entries are.
    fn fallen(&mut self, number: usize, entries: &[&Entry], signals: &[(Signal, u64)], around: &Surroundings) -> Add {
        // What it sees while it does not count, or in the cycle of a write, may matter to the next clock.
        if self.suspended[number] != Some(false) || self.frozen(number as u32, around) != Some(false) {
            self.falls[number].doubt();
            return Add::Unknown;
        }
        let sources: Vec<Signal> = entries.iter().flat_map(|entry| entry.signals).copied().collect();
        self.falls[number].step(&sources, signals).map_or(Add::Unknown, |falls| Add::Known(falls.into()))
    }

    /// What each counter adds by itself in a step.
    fn additions(&mut self, step: Step<'_>, around: &Surroundings) -> [Add; 6] {
        let signals = step.signals;
        [0, 1, 2, 3, 4, 5].map(|number: usize| match self.chosen.get(number).cloned() {
            Some(Chosen::Falls(entries)) => self.fallen(number, &entries, signals, around),
            Some(Chosen::Off | Chosen::Carries(_)) => Add::Known(0),
            Some(Chosen::Sum(entries)) => {
                let sum = |suspended| {
                    let amounts = entries.iter().map(|entry| self.amount(entry, step, suspended, around));
                    amounts.fold(Add::Known(0), Add::plus)
                };
                match (self.suspended[number], sum(true), sum(false)) {
                    (Some(true), lost, _) => lost,
                    (Some(false), _, told) => told,
                    (None, _, Add::Known(0)) => Add::Known(0),
                    (None, ..) => Add::Unknown,
                }
            }
            Some(Chosen::Cycles) => Add::Unknown,
            None if number == 4 => Add::Known(u128::from(of(signals, Signal::InstructionsRetired))),
            None => Add::Known(u128::from(of(signals, Signal::Cycles))),
        })
    }

    /// Adds to the counters, and to those that count their overflows. A carry into a counter that stands still is lost. Returns what each counter
    /// has counted.
    fn add(&mut self, mut additions: [Add; 6], around: &Surroundings) -> [Add; 6] {
        let mut grown = [Add::Known(0); 6];
        let frozen = [0, 1, 2, 3, 4, 5].map(|number| self.frozen(number, around));
        // Five counters in a row are the longest chain; in a ring a carry goes round once (P12).
        for _ in 0..5 {
            let mut carries = [Add::Known(0); 6];
            for (number, addition) in additions.iter().enumerate() {
                if frozen[number] == Some(true) || matches!(addition, Add::Known(0)) {
                    continue;
                }
                grown[number] = grown[number].plus(frozen[number].map_or(Add::Unknown, |_| *addition));
                let sum = match (self.counters[number], addition, frozen[number]) {
                    (Some(value), Add::Known(amount), Some(_)) => Some((value, u128::from(value) + amount)),
                    _ => None,
                };
                self.counters[number] = sum.map(|(_, sum)| sum as u32);
                self.passed[number] |= sum.is_some_and(|(value, sum)| {
                    // From a value that is not negative through all that are, or once round.
                    let next = if value < 0x8000_0000 { 0x8000_0000 } else { 0x1_8000_0000 };
                    sum >= next
                });
                self.wrapped[number] |= sum.is_some_and(|(_, sum)| sum >> 32 != 0);
                carries[number] = sum.map_or(Add::Unknown, |(_, sum)| Add::Known(sum >> 32));
            }
            additions = [Add::Known(0); 6];
            for (number, chosen) in self.chosen.iter().enumerate() {
                if let Chosen::Carries(source) = chosen {
                    additions[number] = match (self.suspended[number], carries[*source]) {
                        (Some(true), _) | (_, Add::Known(0)) => Add::Known(0),
                        (Some(false), carries) => carries,
                        (None, _) => Add::Unknown,
                    };
                }
            }
        }
        grown
    }

    /// Adds to the counters, and then what the threshold counter makes of that.
    fn count(&mut self, additions: [Add; 6], step: Step<'_>, around: &Surroundings) {
        let grown = self.add(additions, around);
        let by_threshold = self.count_threshold(grown, step, around);
        let grown = self.add(by_threshold, around);
        self.doubt_threshold(&grown);
    }

    /// One step in which signals grow; with the record of its instruction, if there was one.
    pub(super) fn step(&mut self, signals: &[(Signal, u64)], record: Option<&Record>, around: &Surroundings) {
        let event = self.transitions(of(signals, Signal::TimeBaseTicks)) > 0 && self.mmcr0 & mmcr0::TBEE != 0;
        self.sampled = record.map_or(Sampled::No, |record| self.samples(record, signals));
        let step = Step { signals, record };
        let additions = self.additions(step, around);
        self.count(additions, step, around);
        self.ticks = self.ticks.wrapping_add(of(signals, Signal::TimeBaseTicks));
        if of(signals, Signal::Cycles) > 0 {
            self.resume();
        }
        if let Some(record) = record {
            self.follow(record, signals);
        }
        let (alerted, lost) = self.alerted(|thread| thread.settle(event, around));
        self.capture(record, alerted, lost);
    }

    /// An event that no signal describes.
    pub(super) fn inject(&mut self, occurrence: Occurrence, amount: u64, around: &Surroundings) {
        self.falls.iter_mut().for_each(Falls::inject);
        let additions = [0, 1, 2, 3, 4, 5].map(|number: usize| {
            if number >= 4 || amount == 0 || !reaches(self.mmcr1, number as u32, occurrence.select) {
                return Add::Known(0);
            }
            match (self.suspended[number], &self.chosen[number]) {
                (Some(true), _) => Add::Known(0),
                // What the register file makes itself is not injected.
                (_, Chosen::Sum(entries)) if entries.iter().any(|entry| is_made(entry)) => Add::Known(0),
                // Whoever injects an event whose condition does not hold contradicts what it told of the thread.
                (Some(false), Chosen::Sum(entries))
                    if entries.iter().all(|entry| entry.when.iter().all(|when| self.when(*when, around))) =>
                {
                    Add::Known(u128::from(amount))
                }
                _ => Add::Unknown,
            }
        });
        self.count(additions, Step { signals: &[], record: None }, around);
        let (alerted, lost) = self.alerted(|thread| thread.settle(false, around));
        self.capture(None, alerted, lost);
    }

    /// Looks at the conditions where no instruction was executed.
    pub(super) fn settle_access(&mut self, around: &Surroundings) {
        let (alerted, lost) = self.alerted(|thread| thread.settle(false, around));
        self.capture_by_access(alerted, lost);
    }

    /// Does something and says whether it made an alert, and whether that is no longer known.
    fn alerted(&mut self, act: impl FnOnce(&mut Thread)) -> (bool, bool) {
        let (enabled, lost) = (self.mmcr0 & mmcr0::PMAE != 0, self.lost);
        act(self);
        (enabled && !self.lost && self.mmcr0 & mmcr0::PMAE == 0, lost || self.lost)
    }

    /// Forgets counters that count what the reference is not told, if they can count now.
    pub(super) fn forget_untold(&mut self, around: &Surroundings) {
        for number in 0..4 {
            if self.counts_untold(number) && self.frozen(number as u32, around) != Some(true) {
                self.counters[number] = None;
                self.forget_threshold_of(number);
            }
        }
    }
}

/// How often a signal is counted. In the cycle after a write of MMCR1 nothing is: events fall into the first cycle of a step, the cycles of
/// a state are the last ones.
fn told(signal: Signal, signals: &[(Signal, u64)], suspended: bool) -> u64 {
    let amount = of(signals, signal);
    if !suspended {
        return amount;
    }
    let rest = of(signals, Signal::Cycles).saturating_sub(1);
    match signal.kind() {
        Kind::State => amount.min(rest),
        _ if signal == Signal::Cycles => rest,
        _ => 0,
    }
}
