//! The UBox's control of all boxes: which overflowed, which tiles are interrupted, what is frozen.

use super::boxes::{CHAS, UnitId};
use super::registers::{GlobalControl, GlobalStatus};

/// What follows from an overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a freeze that nobody carries out is lost"]
pub struct Consequence {
    /// Every box is to be frozen, or released.
    pub freeze: Option<bool>,
    /// The tiles whose threads are to be interrupted, one bit each.
    pub tiles: u64,
}

/// The registers 700h to 702h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ubox {
    control: GlobalControl,
    status: GlobalStatus,
}

impl Ubox {
    /// As power-on leaves it: nothing has overflowed, no tile is interrupted.
    #[must_use]
    pub fn new() -> Ubox {
        Ubox::default()
    }

    /// U_MSR_PMON_GLOBAL_CTL.
    #[must_use]
    pub fn control(&self) -> u64 {
        self.control.bits()
    }

    /// Writes U_MSR_PMON_GLOBAL_CTL. Returns whether every box is to be frozen, or released: frz_all takes precedence over unfrz_all.
    /// Without either, only the kept bits change.
    #[must_use = "a freeze that nobody carries out is lost"]
    pub fn write_control(&mut self, value: u64) -> Option<bool> {
        self.control = GlobalControl::written(value);
        match (value & FREEZE != 0, value & UNFREEZE != 0) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    /// U_MSR_PMON_GLOBAL_STATUS.
    #[must_use]
    pub fn status(&self) -> u64 {
        self.status.bits()
    }

    /// Writes U_MSR_PMON_GLOBAL_STATUS: a one clears its bit.
    pub fn write_status(&mut self, value: u64) {
        self.status = GlobalStatus::written(self.status.bits() & !value);
    }

    /// U_MSR_PMON_CONFIG.
    #[must_use]
    pub fn config(&self) -> u64 {
        u64::from(CHAS)
    }

    /// The box reports overflows, as [`Unit::take_overflows`](super::Unit::take_overflows) returns them. The first since its bit was
    /// cleared freezes every box and interrupts the chosen tiles; a later one finds the bit set and does nothing.
    pub fn overflow(&mut self, unit: UnitId, overflows: u8) -> Consequence {
        if overflows == 0 {
            return Consequence::default();
        }
        let bits = if matches!(unit.kind(), super::Kind::Ubox) {
            // Its fixed counter has a separate bit.
            let fixed = u64::from(overflows & 1);
            fixed | if overflows & !1 != 0 { 1 << unit.status_bit() } else { 0 }
        } else {
            1 << unit.status_bit()
        };
        let new = bits & !self.status.bits();
        self.status = GlobalStatus::written(self.status.bits() | bits);
        if new == 0 {
            return Consequence::default();
        }
        Consequence { freeze: Some(true), tiles: self.control.pmi_core_sel() }
    }

    /// What it remembers: the control and the status.
    #[must_use]
    pub fn state(&self) -> [u64; 2] {
        [self.control.bits(), self.status.bits()]
    }

    /// The UBox that remembers `state`. Bits that no register keeps are dropped.
    #[must_use]
    pub fn from_state(state: [u64; 2]) -> Ubox {
        let [control, status] = state;
        Ubox { control: GlobalControl::written(control), status: GlobalStatus::written(status) }
    }
}

/// Bit 63, frz_all.
const FREEZE: u64 = 1 << 63;
/// Bit 61, unfrz_all.
const UNFREEZE: u64 = 1 << 61;
