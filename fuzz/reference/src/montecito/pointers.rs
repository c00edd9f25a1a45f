//! The IP-EAR: addresses of retired bundles, and the cycles between them (3.3.10.2).

use vm_pmu_arch::feed::{BranchKind, Prediction, Record, Traits};

use super::buffer::Buffer;
use crate::ia64::Amount;

/// The state of the IP-EAR.
pub(super) struct Pointers {
    /// Whether it runs; `None` where that, or what it has seen, is not known.
    running: Option<bool>,
    /// The cycles left of the delay, after a freeze.
    remaining: Option<u64>,
    /// What retired last: its address and slot.
    last: Option<(u64, u8)>,
    /// Cycles since the last entry.
    elapsed: u128,
    /// The pipeline was flushed since the last entry.
    flushed: bool,
}

impl Pointers {
    pub(super) fn new() -> Pointers {
        Pointers { running: Some(false), remaining: None, last: None, elapsed: 0, flushed: false }
    }

    /// Whether it surely does not run.
    pub(super) fn is_off(&self) -> bool {
        self.running == Some(false)
    }

    /// It may have begun, ended or gone on.
    pub(super) fn forget(&mut self) {
        self.running = None;
    }

    /// Adds an entry of what retired last; `early` is what is left of the delay at an early freeze.
    fn push(&mut self, early: Option<u64>, buffer: &mut Buffer) {
        let cycles = self.elapsed.min(63) as u64;
        let entry = self.last.map(|(address, _)| {
            let address = address >> 4 & !(0xF << 60);
            let address = early.map_or(address, |delay| address & !0xFF | delay & 0xFF);
            cycles << 60 | address
        });
        buffer.push(entry, cycles >> 4 << 2 | u64::from(self.flushed) << 1 | u64::from(early.is_some()));
        (self.elapsed, self.flushed) = (0, false);
    }

    /// It begins anew, if it may run.
    pub(super) fn begin(&mut self, may_run: bool) {
        *self = Pointers { running: Some(may_run), ..Pointers::new() };
    }

    /// An instruction: how many entries it makes.
    pub(super) fn instruction(&mut self, record: &Record, cycles: u64, buffer: &mut Buffer) -> Amount {
        match self.running {
            Some(true) => {}
            Some(false) => return Some(0),
            None => {
                buffer.forget();
                return None;
            }
        }
        if let Some(remaining) = self.remaining {
            if cycles >= remaining {
                // The delay ends first: one last entry.
                self.elapsed += u128::from(remaining);
                self.end(buffer);
                return Some(1);
            }
            self.remaining = Some(remaining - cycles);
        }
        self.elapsed += u128::from(cycles);
        let traits = record.sample.traits;
        let branch = record.branch;
        let retires = !traits.intersects(Traits::REGISTER_STACK | Traits::PAGE_WALKER)
            && !branch.is_some_and(|branch| branch.kind == BranchKind::Exception);
        let (bundle, slot) = (record.address & !0xF, record.slot.min(2));
        let is_new = !matches!(self.last, Some((own, before)) if own == bundle && before < slot);
        if retires {
            self.last = Some((bundle, slot));
            if is_new {
                self.push(None, buffer);
            }
        }
        self.flushed |= traits.contains(Traits::FLUSHED)
            || branch.is_some_and(|branch| {
                branch.kind.is_far() || matches!(branch.prediction, Prediction::WrongDirection | Prediction::WrongTarget)
            });
        Some(u128::from(retires && is_new))
    }

    fn end(&mut self, buffer: &mut Buffer) {
        self.push(None, buffer);
        (self.running, self.remaining) = (Some(false), None);
    }

    /// Everything freezes. Returns whether that makes an entry, or may.
    pub(super) fn freeze(&mut self, delay: u64, buffer: &mut Buffer) -> bool {
        match self.running {
            Some(true) if self.remaining.is_some() => false,
            Some(true) if delay == 0 => {
                self.end(buffer);
                true
            }
            Some(true) => {
                self.remaining = Some(delay);
                false
            }
            Some(false) => false,
            None => {
                buffer.forget();
                true
            }
        }
    }

    /// Everything goes on.
    pub(super) fn unfreeze(&mut self, may_run: bool) {
        match self.running {
            Some(true) => self.remaining = None,
            Some(false) => self.begin(may_run),
            None if may_run => {}
            None => self.begin(false),
        }
    }

    /// PSR or a switch of threads disables it. Returns whether that makes an entry, or may.
    pub(super) fn disable(&mut self, delay: u64, buffer: &mut Buffer) -> bool {
        match self.running {
            Some(true) => self.push(Some(self.remaining.unwrap_or(delay)), buffer),
            Some(false) => return false,
            None => buffer.forget(),
        }
        (self.running, self.remaining) = (Some(false), None);
        true
    }
}
