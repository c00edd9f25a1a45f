//! Conditions and events, what they freeze and release, and alerts (POWER9 PMU User's Guide, A.3; decisions P22 to P27).

use super::{Surroundings, Thread};
use crate::power9::bits::{bescr, mmcr0};

/// The conditions that released TRIGGER and have held since: they do not freeze (P23). `None` where it is not known which.
#[derive(Clone, Copy)]
pub(in crate::power9) struct Excuse(Option<[bool; 6]>);

impl Default for Excuse {
    fn default() -> Excuse {
        Excuse(Some([false; 6]))
    }
}

impl Thread {
    /// Whether each counter is an enabled counter-negative condition; `None` where that is not known.
    fn conditions(&self) -> [Option<bool>; 6] {
        [0, 1, 2, 3, 4, 5].map(|number: usize| {
            let enable = if number == 0 { mmcr0::PMC1CE } else { mmcr0::PMCJCE };
            let outside = number >= 4 && self.without_fixed();
            if self.mmcr0 & enable == 0 || outside { Some(false) } else { self.negative(number) }
        })
    }

    /// Whether a counter is negative. In the lower part of a chain bit 0 is data (P12).
    fn negative(&self, number: usize) -> Option<bool> {
        if self.is_lower_part(number) {
            return Some(false);
        }
        self.counters[number].map(|value| value >> 31 != 0 || self.passed[number])
    }

    /// Looks at all conditions after a step or an access; `event` is an enabled event of the time base.
    pub(in crate::power9) fn settle(&mut self, event: bool, around: &Surroundings) {
        self.forget_untold(around);
        let conditions = self.conditions();
        let first = self.negative(0);
        if let Some(excused) = &mut self.excuse.0 {
            for (excused, wrapped) in excused.iter_mut().zip(&self.wrapped) {
                *excused &= !wrapped;
            }
        }
        (self.passed, self.wrapped) = ([false; 6], [false; 6]);
        self.decide(event, conditions, first);
    }

    fn decide(&mut self, event: bool, conditions: [Option<bool>; 6], first: Option<bool>) {
        let certain = event || conditions.contains(&Some(true));
        let possible = certain || conditions.contains(&None);
        let has = |register: u64, bit: u64| register & bit != 0;
        let released = has(self.mmcr0, mmcr0::TRIGGER);
        // An excuse ends with its condition.
        if let Some(excused) = &mut self.excuse.0 {
            for (excused, condition) in excused.iter_mut().zip(&conditions) {
                *excused &= *condition == Some(true);
            }
        } else if !possible {
            self.excuse = Excuse::default();
        }
        if self.lost {
            return self.lose(possible);
        }
        let waits = released && (first.is_none() || possible) || has(self.mmcr0, mmcr0::PMAE | mmcr0::FCECE) && possible;
        let sure = certain || !possible && first.is_some();
        if waits && !sure && !(released && first == Some(true) && !possible) {
            return self.lose(true);
        }
        // Whether an alert is synchronous depends on the counter that is not known.
        if certain && has(self.mmcr0, mmcr0::PMAE) {
            if conditions[0].is_none() {
                return self.lose(true);
            }
            self.alert();
        }
        if released {
            if certain || first == Some(true) {
                self.mmcr0 &= !mmcr0::TRIGGER;
                // What was negative on the way alone does not hold any more.
                let holds =
                    |(number, condition): (usize, &Option<bool>)| condition.map(|holds| holds && self.negative(number) == Some(true));
                let known: Option<Vec<bool>> = conditions.iter().enumerate().map(holds).collect();
                self.excuse = Excuse(known.and_then(|known| known.try_into().ok()));
            }
        } else if has(self.mmcr0, mmcr0::FCECE) && !has(self.mmcr0, mmcr0::FC) {
            let Some(excused) = self.excuse.0 else {
                return if event {
                    self.mmcr0 |= mmcr0::FC
                } else if possible {
                    self.lose(true)
                };
            };
            let freezes = |(condition, excused): (&Option<bool>, &bool)| *condition == Some(true) && !excused;
            if event || conditions.iter().zip(&excused).any(freezes) {
                self.mmcr0 |= mmcr0::FC;
            } else if conditions.contains(&None) {
                self.lose(true);
            }
        }
    }

    /// PMAE turns 0 and PMAO 1; with EBE, BESCR says the same.
    fn alert(&mut self) {
        self.mmcr0 = self.mmcr0 & !(mmcr0::PMAE | mmcr0::PMAOQ) | mmcr0::PMAO;
        if self.mmcr0 & mmcr0::EBE != 0 {
            self.bescr = self.bescr.map(|value| value & !bescr::PME | bescr::PMEO);
        }
    }

    /// From here on it is not known what the processor made of MMCR0.
    fn lose(&mut self, may_alert: bool) {
        self.lost = true;
        if may_alert {
            self.excuse = Excuse(None);
            if self.mmcr0 & mmcr0::EBE != 0 {
                self.bescr = None;
            }
        }
    }
}
