//! Freezes that soon end.
//!
//! An alert freezes all counters, and its handler releases them a few hundred instructions later (MMCR0\[FC], appendix A.3). The demand
//! and the deadlines would change twice, and an emulator would have to handle both changes. So the demand is kept for a while during the
//! freeze: the embedder continues to report what no counter counts. If the counters are still frozen after that, a deadline removes the
//! demand.

use super::Power9;
use super::access::Register;
use super::freezing::FOUR_COUNTERS;
use super::registers::Mmcr0;
use crate::feed::{Feed, Scope, Signal};

/// For how many events the demand is kept during a freeze: longer than a handler takes, but short for a guest that has stopped counting.
const PATIENCE: u64 = 1 << 20;

/// When all counters were frozen with the demand kept: a signal that is reported, and its total then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    signal: Signal,
    since: u64,
}

/// The bits of MMCR0 that decide what the counters count while FC is 0, and what is demanded for them. The upper 32 bits of MMCR0 are not
/// defined.
pub(super) fn lasting(mmcr0: Mmcr0) -> u32 {
    let mut kept = mmcr0;
    kept.set_fc(false);
    kept.set_pmao(false);
    kept.set_pmaoq(false);
    kept.set_ebe(false);
    kept.set_bhrba(false);
    kept.set_pmcc(0);
    kept.bits() as u32
}

impl Power9 {
    /// Writes MMCR0 if the write does no more than freeze or release the counters. Returns whether it was written. If not, nothing has
    /// changed except that counters have counted.
    pub(super) fn write_mmcr0_plainly(&mut self, value: u64, feed: &impl Feed) -> bool {
        let (before, after) = (self.mmcr0, Mmcr0::written(value));
        let has_six = before.pmcc() != FOUR_COUNTERS && after.pmcc() != FOUR_COUNTERS;
        let may_be = self.is_plain() && has_six && !after.trigger() && !after.tbee();
        if !may_be || !self.count_plainly(self.counting, feed) {
            return false;
        }
        let waiting = self.waiting_plainly();
        self.mmcr0 = after;
        let is_done = self.conditions() == 0
            && match (before.fc(), after.fc()) {
                // Branches are recorded from here on, frozen or not.
                (_, true) if after.pmae() && !before.pmae() => false,
                (true, true) => true,
                (false, true) => self.pause(feed),
                (true, false) => self.unfreeze(before, feed),
                (false, false) => false,
            };
        if is_done {
            self.excused = 0;
            self.counted = 0;
            if self.waiting_plainly() != waiting {
                // A deadline that nothing would move must not stay.
                self.rearm(feed);
            }
        } else {
            self.mmcr0 = before;
        }
        is_done
    }

    /// Stops all counters and keeps the demand. Returns false, and does nothing, if the demand has no signal to measure time by.
    fn pause(&mut self, feed: &impl Feed) -> bool {
        let reported = |signal: &Signal| self.demand.wants(*signal);
        let Some(signal) = [Signal::InstructionsRetired, Signal::Cycles].into_iter().find(reported) else { return false };
        self.pause = Some(Pause { signal, since: feed.total(signal, Scope::Thread) });
        self.stop_plainly(self.counting, feed);
        self.arm_pause(feed);
        true
    }

    /// Keeps the demand when an alert or an enabled condition has set FC and every counter has counted. Returns false if it does not;
    /// then nothing has changed.
    pub(super) fn pause_at_alert(&mut self, feed: &impl Feed) -> bool {
        let may_be = self.is_plain() && self.mmcr0.fc() && self.mmcr0.pmcc() != FOUR_COUNTERS;
        may_be && self.pause(feed)
    }

    /// Lets the counters continue as before FC. Returns false if they count something else now; then nothing has changed.
    fn unfreeze(&mut self, before: Mmcr0, feed: &impl Feed) -> bool {
        if self.pause.is_none() || lasting(self.mmcr0) != self.ways.made_of {
            return false;
        }
        if !before.pmae() {
            self.addresses.fold(feed);
        }
        self.pause = None;
        let context = self.context;
        let counting = self.admitted_plainly(&context);
        self.start_plainly(counting, feed);
        self.arm_addresses(feed);
        true
    }

    /// Arms the deadline that removes the demand.
    pub(super) fn arm_pause(&self, feed: &impl Feed) {
        if let Some(Pause { signal, since }) = self.pause {
            feed.arm(signal, Scope::Thread, since, PATIENCE);
        }
    }

    /// Whether the demand is kept during a freeze, and still for less than `PATIENCE`.
    pub(super) fn is_pausing(&self, feed: &impl Feed) -> bool {
        self.pause.is_some_and(|Pause { signal, since }| feed.total(signal, Scope::Thread).wrapping_sub(since) < PATIENCE)
    }

    /// Whether a write to a control register changes nothing: the register has that value, and all counters are frozen.
    pub(super) fn changes_nothing(&self, register: Register, value: u64) -> bool {
        let only_selects = match register {
            Register::Mmcr1 | Register::Mmcr2 => true,
            Register::Mmcra => !self.mmcra.sample_enable(),
            _ => false,
        };
        only_selects && self.is_plain() && self.mmcr0.fc() && self.counting == 0 && value == self.value(register)
    }
}
