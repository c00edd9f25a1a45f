//! The capture of retired instruction pointers: PMC42 in mode 100, in the registers of the trace buffer (section 3.3.10.2).

use super::file::Captures;
use super::registers::RetiredEntry;
use crate::feed::{BranchKind, Prediction, Record, Traits};
use crate::ia64::{Buffer, slot};

/// mode of PMC42: capture execution traces.
pub(super) const TRACE: u8 = 0b000;
/// mode of PMC42: capture retired instruction pointers.
pub(super) const RETIRED: u8 = 0b100;

/// The elapsed cycles saturate here: six bits.
const MOST_ELAPSED: u64 = 63;
/// Bits of an entry's extension (Table 3-33): the high two of the elapsed cycles in 3:2.
const FLUSH: u8 = 1 << 1;
const EARLY: u8 = 1 << 0;

/// How far the capture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// It waits for its monitor to be enabled.
    #[default]
    Off,
    /// It captures.
    On,
    /// Monitoring froze; it captures for so many more cycles.
    Delayed(u64),
}

/// The machine that captures retired instruction pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Retirement {
    /// How far it is.
    pub phase: Phase,
    /// Cycles since the last entry, or since it began.
    pub elapsed: u64,
    /// The pipeline was flushed since the last entry.
    pub flushed: bool,
    /// Bundle and slot of the instruction that retired last.
    pub last: Option<(u64, u8)>,
}

impl Retirement {
    /// Whether it captures.
    pub(super) fn is_on(&self) -> bool {
        self.phase != Phase::Off
    }

    /// Begins to capture.
    pub(super) fn begin(&mut self) {
        *self = Retirement { phase: Phase::On, ..Retirement::default() };
    }

    /// Monitoring has frozen. With no delay the last entry follows at once.
    pub(super) fn freeze(&mut self, delay: u8, captures: &mut Captures) {
        if self.phase == Phase::On {
            self.phase = Phase::Delayed(u64::from(delay));
            self.end_if_due(captures);
        }
    }

    /// Advances by `cycles`. If the delay of a freeze ends in them, the last entry is written.
    pub(super) fn advance(&mut self, cycles: u64, captures: &mut Captures) {
        if self.phase == Phase::Off {
            return;
        }
        self.elapsed = self.elapsed.saturating_add(cycles);
        if let Phase::Delayed(left) = &mut self.phase {
            let over = cycles.saturating_sub(*left);
            *left = left.saturating_sub(cycles);
            self.elapsed = self.elapsed.saturating_sub(over);
            self.end_if_due(captures);
        }
    }

    /// The delay is over: one last entry, for which the processor need not retire anything.
    fn end_if_due(&mut self, captures: &mut Captures) {
        if self.phase == Phase::Delayed(0) {
            let address = self.last.map_or(0, |(bundle, _)| bundle);
            self.enter(address, captures);
            self.phase = Phase::Off;
        }
    }

    /// The monitor is no longer enabled, or the thread goes to the background: one entry says how much of `delay` was left.
    pub(super) fn freeze_early(&mut self, delay: u8, captures: &mut Captures) {
        let left = match self.phase {
            Phase::Off => return,
            Phase::On => u64::from(delay),
            Phase::Delayed(left) => left,
        };
        let address = self.last.map_or(0, |(bundle, _)| bundle);
        let mut entry = self.entry(address);
        entry.set_low(left.min(0xFF) as u8);
        captures.push(entry.bits(), self.extension() | EARLY);
        self.phase = Phase::Off;
    }

    /// Monitoring goes on. If that is within the delay, nothing has been missed, and the next entry follows the last one.
    pub(super) fn thaw(&mut self) {
        if matches!(self.phase, Phase::Delayed(_)) {
            self.phase = Phase::On;
        }
    }

    /// Ends without an entry.
    pub(super) fn stop(&mut self) {
        self.phase = Phase::Off;
    }

    /// An instruction retires. Returns how many entries that added: one for each bundle.
    pub(super) fn retire(&mut self, record: &Record, captures: &mut Captures) -> u64 {
        if self.phase == Phase::Off {
            return 0;
        }
        let place = (record.address & !0xF, slot(record));
        let goes_on = self.last.is_some_and(|last| last.0 == place.0 && last.1 < place.1);
        // Accesses of the register stack engine or the page walker retire nothing.
        let engine = record.sample.traits.intersects(Traits::REGISTER_STACK | Traits::PAGE_WALKER);
        let retires = !engine && record.branch.is_none_or(|branch| branch.kind != BranchKind::Exception);
        let entries = u64::from(retires && !goes_on);
        if entries != 0 {
            self.enter(place.0, captures);
        }
        if retires {
            self.last = Some(place);
        }
        let wrong = |prediction| matches!(prediction, Prediction::WrongDirection | Prediction::WrongTarget);
        let branch_flushes = record.branch.is_some_and(|branch| branch.kind.is_far() || wrong(branch.prediction));
        self.flushed |= branch_flushes || record.sample.traits.contains(Traits::FLUSHED);
        entries
    }

    fn entry(&self, address: u64) -> RetiredEntry {
        let mut entry = RetiredEntry::default();
        entry.set_cycl((self.elapsed.min(MOST_ELAPSED) & 0xF) as u8);
        entry.set_high(address >> 12);
        entry.set_low((address >> 4) as u8);
        entry
    }

    fn extension(&self) -> u8 {
        let high = (self.elapsed.min(MOST_ELAPSED) >> 4) as u8;
        high << 2 | if self.flushed { FLUSH } else { 0 }
    }

    fn enter(&mut self, address: u64, captures: &mut Captures) {
        captures.push(self.entry(address).bits(), self.extension());
        self.elapsed = 0;
        self.flushed = false;
    }
}
