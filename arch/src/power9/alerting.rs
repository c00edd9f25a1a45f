//! Enabled conditions and events, and their effects.
//!
//! POWER9 PMU User's Guide, appendix A.3: PMAE, FCECE, TRIGGER, PMC1CE, PMCjCE, TBEE, EBE, PMAO, PMAOQ; section 2.4.1.2 for synchronous
//! interrupts.

use super::Power9;
use super::access::Bits;
use super::counting::Mask;
use super::registers::Bescr;
use crate::alert::Lines;
use crate::feed::Feed;

impl Power9 {
    /// The enabled conditions that hold, a bit for each counter.
    pub(super) fn conditions(&self) -> Mask {
        let enabled = self.conditions_enabled();
        let negative = (0..super::COUNTERS).filter(|index| self.is_negative(*index)).fold(0, |mask, index| mask | super::bit(index));
        enabled & negative
    }

    /// Acts on the conditions that hold and on an enabled `event`, which has been counted. Returns whether a register has changed.
    ///
    /// A condition is a level: it alerts, freezes or releases as long as it holds and that is enabled. It has held where a counter turned
    /// negative and wrapped within one step. Only a condition that released the trigger does not freeze, until it has ended.
    pub(super) fn judge(&mut self, event: bool, feed: &impl Feed) -> bool {
        let passed = core::mem::take(&mut self.passed);
        let holding = self.conditions();
        let conditions = holding | passed & self.conditions_enabled();
        let exists = conditions != 0 || event;
        let released = self.mmcr0.trigger() && (exists || self.is_negative(0) || passed & 1 != 0);
        self.excused = if released { holding } else { self.excused & holding };
        let alerts = self.mmcr0.pmae() && exists;
        let may_freeze = self.mmcr0.fcece() && !self.mmcr0.trigger() && !self.mmcr0.fc();
        let freezes = may_freeze && (conditions & !self.excused != 0 || event);
        if released {
            self.mmcr0.set_trigger(false);
        }
        if freezes {
            self.mmcr0.set_fc(true);
        }
        if alerts {
            self.alert(conditions);
        }
        let changed = released || freezes || alerts;
        let pauses = freezes && !released && self.pause_at_alert(feed);
        if changed && !pauses {
            self.update_ways();
            self.resume(feed);
        }
        self.lateness = 0;
        changed
    }

    /// A performance monitor alert.
    fn alert(&mut self, conditions: Mask) {
        self.mmcr0.set_pmae(false);
        self.mmcr0.set_pmao(true);
        self.mmcr0.set_pmaoq(self.is_synchronous(conditions));
        if self.mmcr0.ebe() {
            self.bescr.set_pme(false);
            self.bescr.set_pmeo(true);
        }
        self.keep_continuous_sample();
        self.alerts.late = self.alerts.late.max(self.lateness);
    }

    /// Whether the alert is PMC1's by an event of random instruction sampling that has synchronous interrupts.
    fn is_synchronous(&self, conditions: Mask) -> bool {
        let [first, ..] = &self.units;
        conditions & 1 != 0 && self.sampling && self.mmcra.rand_samp_mode() == 0 && first.selected.is_synchronous()
    }

    /// The levels of the two requests.
    pub(super) fn lines(&self) -> Lines {
        let ebe = self.mmcr0.ebe();
        Lines { interrupt: self.mmcr0.pmao() && !ebe, event_based_branch: self.mmcr0.pmao() && ebe }
    }

    /// A write of BESCR by one of its numbers; with MMCR0\[EBE] what it does to PME and PMEO it does to PMAE and PMAO.
    pub(super) fn write_bescr(&mut self, bits: Bits, value: u64) {
        let upper = value << 32;
        let (written, named) = match bits {
            Bits::All => (value, u64::MAX),
            Bits::Set => (self.bescr.bits() | value, value),
            Bits::SetUpper => (self.bescr.bits() | upper, upper),
            Bits::Reset => (self.bescr.bits() & !value, value),
            Bits::ResetUpper => (self.bescr.bits() & !upper, upper),
        };
        self.bescr = Bescr::of(written);
        if self.mmcr0.ebe() {
            let named = Bescr::of(named);
            if named.pme() {
                self.mmcr0.set_pmae(self.bescr.pme());
            }
            if named.pmeo() {
                self.mmcr0.set_pmao(self.bescr.pmeo());
            }
        }
    }
}
