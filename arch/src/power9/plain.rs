//! The fast path, for what most guests program.
//!
//! Whether a counter counts depends on many things (appendix A: MMCR0, MMCR2, MMCRC, MSR, CTRL and the conditions of events), of which
//! mostly few matter. While counters do not depend on each other, and privilege alone freezes them, a change of state or an access to one
//! counter concerns few counters and leaves the others unchanged.

use super::counting::{Mask, NEGATIVE, WRAP, bit};
use super::freezing::FOUR_COUNTERS;
use super::pausing::lasting;
use super::registers::{COUNTERS, CounterFreezes, Msr, ThreadControl};
use super::threshold::ThresholdSource;
use super::{Power9, access};
use crate::counter::Gate;
use crate::feed::{Context, Feed};

/// What follows from the registers that decide what counts, until one of them is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// The bits of MSR on which anything depends.
    sensitive: u64,
    /// The bits of MMCR0 from which it follows, as [`lasting`] has them.
    pub(super) made_of: u32,
    /// Counters do not depend on each other, nor on any condition except privilege and the run latch, and nothing else is followed.
    plain: bool,
    /// The counters that then count, by MSR\[HV, PR] and CTRL\[RUN], once they have been found.
    known: [Mask; 8],
}

/// Not found yet: there are not so many counters.
const UNKNOWN: Mask = Mask::MAX;

impl Ways {
    /// Nothing is known: every change matters.
    pub(super) const UNKNOWN: Ways = Ways { sensitive: u64::MAX, made_of: 0, plain: false, known: [UNKNOWN; 8] };
}

impl Power9 {
    /// Updates what follows from the registers, after one that decides what counts has been written.
    pub(super) fn update_ways(&mut self) {
        let mmcr0 = self.mmcr0;
        let any = CounterFreezes::of((0..COUNTERS).fold(0, |bits, index| bits | self.mmcr2.freezes(index).bits()));
        let privilege = |fcs: bool, fcp: bool, fcpc: bool, fch: bool| fcs || fcp || fcpc || fch;
        let by_privilege =
            privilege(mmcr0.fcs(), mmcr0.fcp(), mmcr0.fcpc(), mmcr0.fch()) || privilege(any.fcs(), any.fcp(), any.fcpc(), any.fch());
        let mut other = Msr::default();
        other.set_pmm(mmcr0.fcm0() || mmcr0.fcm1() || any.fcm0() || any.fcm1());
        other.set_ta(mmcr0.fcta() || mmcr0.fcti() || any.fcta() || any.fcti());
        other.set_ts(if mmcr0.fcnts() || mmcr0.fcss() || mmcr0.fctm() { 0b11 } else { 0 });
        let conditional = self.units.iter().any(|unit| unit.selected.is_conditional());
        let beyond = self.units.iter().any(|unit| unit.selected.depends_on_more_than_privilege());
        let apart = self.units.iter().all(|unit| matches!(unit.tap.gate(), Gate::Sum | Gate::Shut) && unit.selected.internal().is_none());
        let alone = !self.eligible.is_connected() && ThresholdSource::of(self.mmcra) == ThresholdSource::Disabled;
        self.ways = Ways {
            sensitive: if beyond { u64::MAX } else { other.bits() | if by_privilege || conditional { privileged().bits() } else { 0 } },
            made_of: lasting(mmcr0),
            plain: apart && alone && !beyond && other.bits() == 0 && !mmcr0.tbee() && !mmcr0.trigger(),
            known: [UNKNOWN; 8],
        };
    }

    /// Whether a change to `context` affects nothing except what software may read.
    #[inline]
    pub(super) fn is_indifferent_to(&self, context: &Context) -> bool {
        let own = &self.context;
        (context.machine_state ^ own.machine_state) & self.ways.sensitive == 0
            && (context.control, context.time_base) == (own.control, own.time_base)
    }

    /// The bits of MSR that decide what counts, that a sample keeps, or that stop sampling.
    pub(super) fn sensitive_state(&self) -> u64 {
        let mut kept = privileged();
        kept.set_se(true);
        kept.set_be(true);
        let samples = self.mmcr0.pmae() || self.mmcra.sample_enable();
        self.ways.sensitive | if samples { kept.bits() } else { 0 }
    }

    /// Whether every counter that counts in one of the states reported since a register was written waits to turn negative in all of
    /// them, and counts only sums.
    #[inline]
    pub(super) fn states_add_up(&self) -> bool {
        let counting = self.counting | self.early;
        self.is_plain()
            && !self.context.halted
            && (self.counted | self.counting) & self.waiting_plainly() & !counting == 0
            && self.units.iter().all(|unit| unit.tap.adds_up())
    }

    /// Whether counters can be handled one by one.
    pub(super) fn is_plain(&self) -> bool {
        self.ways.plain && self.suspended == 0
    }

    /// The counters that count in a state, where counters are [plain](Self::is_plain).
    pub(super) fn admitted_plainly(&mut self, context: &Context) -> Mask {
        if self.mmcr0.fc() && self.mmcr0.pmcc() != FOUR_COUNTERS {
            return 0;
        }
        let msr = Msr::of(context.machine_state);
        let run = ThreadControl::of(context.control).run();
        let place = usize::from(msr.hv()) | usize::from(msr.pr()) << 1 | usize::from(run) << 2;
        match self.ways.known.get(place) {
            Some(&known) if known != UNKNOWN => known,
            _ => {
                let before = core::mem::replace(&mut self.context, *context);
                let admitted = self.admitted();
                self.context = before;
                if let Some(known) = self.ways.known.get_mut(place) {
                    *known = admitted;
                }
                admitted
            }
        }
    }

    /// Counts up to now with the counters of `which`, apart from the others. Returns whether none of them turned negative, which may need
    /// further action.
    pub(super) fn count_plainly(&mut self, which: Mask, feed: &impl Feed) -> bool {
        let mut is_quiet = true;
        for index in indices(which) {
            let Some(unit) = self.units.get_mut(index) else { continue };
            let (before, grown) = (u64::from(unit.value), unit.tap.fold(feed));
            let after = before.saturating_add(grown);
            if before < NEGATIVE && after >= NEGATIVE || after >= WRAP {
                self.grow(index, grown, &mut [0; COUNTERS]);
                is_quiet = false;
            } else {
                unit.value = after as u32;
            }
        }
        is_quiet
    }

    /// Cancels the deadlines of the counters of `which`; others that need one of them set it again.
    fn disarm_plainly(&self, which: Mask, feed: &impl Feed) {
        let mut reach = 0;
        let waiting = self.waiting_plainly();
        for index in indices(which & waiting) {
            if let Some(unit) = self.units.get(index) {
                unit.tap.disarm(feed);
                reach |= unit.tap.reach();
            }
        }
        if reach != 0 {
            let shares = |index: &usize| self.units.get(*index).is_some_and(|unit| unit.tap.reach() & reach != 0);
            let sharing = indices((self.counting | self.early) & !which & waiting).filter(shares).fold(0, |mask, index| mask | bit(index));
            self.arm_plainly(sharing, feed);
            self.arm_addresses(feed);
            self.arm_pause(feed);
        }
    }

    fn arm_plainly(&self, which: Mask, feed: &impl Feed) {
        for index in indices(which & self.waiting_plainly()) {
            if let Some(unit) = self.units.get(index) {
                unit.tap.arm(feed, Some(until_negative(unit.value)));
            }
        }
    }

    /// The counters that have a visible effect when they turn negative.
    pub(super) fn waiting_plainly(&self) -> Mask {
        if self.mmcr0.pmae() || self.mmcr0.fcece() { self.conditions_enabled() } else { 0 }
    }

    /// Changes the thread's state, and with it the counters that count. Returns whether that was all. If not, nothing has changed except
    /// that some have counted.
    pub(super) fn change_plainly(&mut self, context: &Context, feed: &impl Feed) -> bool {
        if !self.is_plain() || (context.control, context.time_base) != (self.context.control, self.context.time_base) {
            return false;
        }
        let counting = self.admitted_plainly(context);
        let (started, stopped) = (counting & !self.counting, self.counting & !counting);
        if started | stopped == 0 {
            self.context = *context;
            return true;
        }
        if !self.count_plainly(stopped, feed) {
            return false;
        }
        self.present = None;
        self.context = *context;
        self.counted |= self.counting | counting;
        self.stop_plainly(stopped, feed);
        self.start_plainly(started, feed);
        true
    }

    /// Stops the counters of `stopped`, which have counted up to now.
    pub(super) fn stop_plainly(&mut self, stopped: Mask, feed: &impl Feed) {
        self.counting &= !stopped;
        // Deadlines stay where they do no harm: states change more often than deadlines come.
        let lingers = |index: &usize| self.units.get(*index).is_some_and(|unit| unit.tap.may_linger(until_negative(unit.value)));
        let leaves = indices(stopped).filter(lingers).fold(0, |mask, index| mask | bit(index));
        self.early = self.early & !stopped | leaves;
        if stopped & !self.early != 0 {
            self.disarm_plainly(stopped & !self.early, feed);
        }
    }

    /// Lets the counters of `started` continue.
    pub(super) fn start_plainly(&mut self, started: Mask, feed: &impl Feed) {
        self.counting |= started;
        for index in indices(started) {
            if let Some(unit) = self.units.get_mut(index) {
                unit.tap.skip(feed);
            }
        }
        if started & !self.early != 0 {
            self.arm_plainly(started & !self.early, feed);
        }
    }

    /// The present value of a register, where it can be found without the counters that it does not concern.
    pub(super) fn read_plainly(&mut self, register: access::Register, feed: &impl Feed) -> Option<u64> {
        if !self.is_plain() {
            return None;
        }
        if let access::Register::Pmc(index) = register {
            return self.read_counter_plainly(index, feed);
        }
        // A register that an alert changes is current unless an alert is due.
        self.count_plainly(self.counting & self.waiting_plainly(), feed).then(|| self.value(register))
    }

    /// The present value of a counter, where it can be found without the others.
    #[inline]
    pub(super) fn read_counter_plainly(&mut self, index: usize, feed: &impl Feed) -> Option<u64> {
        let is_quiet = self.is_plain() && self.count_plainly(self.counting & bit(index), feed);
        self.units.get(index).filter(|_| is_quiet).map(|unit| u64::from(unit.value))
    }

    /// Software writes a register. Returns whether it was written; if not, nothing has changed except that counters have counted.
    pub(super) fn write_plainly(&mut self, register: access::Register, value: u64, feed: &impl Feed) -> bool {
        match register {
            access::Register::Pmc(index) => self.write_counter_plainly(index, value, feed),
            access::Register::Mmcr0 => self.write_mmcr0_plainly(value, feed),
            other => self.changes_nothing(other, value),
        }
    }

    #[inline]
    pub(super) fn write_counter_plainly(&mut self, index: usize, value: u64, feed: &impl Feed) -> bool {
        let own = bit(index);
        let was_quiet = self.is_plain() && self.count_plainly(own & self.counting, feed);
        let is_quiet = was_quiet && (self.conditions_enabled() & own == 0 || value & 0xFFFF_FFFF < NEGATIVE);
        let Some(unit) = self.units.get_mut(index).filter(|_| is_quiet) else { return false };
        unit.value = value as u32;
        self.excused &= !own;
        if (self.counting | self.early) & own != 0 {
            self.disarm_plainly(own, feed);
            self.arm_plainly(own, feed);
            self.early &= !(own & self.counting);
        }
        true
    }
}

/// How far a counter is from turning negative. From 80000000h on that is after one carry.
fn until_negative(value: u32) -> u64 {
    (NEGATIVE.wrapping_sub(u64::from(value)).wrapping_sub(1) & (WRAP - 1)) + 1
}

/// MSR\[HV] and MSR\[PR].
fn privileged() -> Msr {
    let mut msr = Msr::default();
    msr.set_hv(true);
    msr.set_pr(true);
    msr
}

/// The indices of the counters of a mask.
fn indices(mask: Mask) -> impl Iterator<Item = usize> {
    let mut left = mask;
    core::iter::from_fn(move || {
        let index = left.trailing_zeros() as usize;
        let some = left != 0;
        left &= left.wrapping_sub(1);
        some.then_some(index)
    })
}
