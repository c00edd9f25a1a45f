//! What a model has to tell its embedder.

/// What became visible outside the registers since the embedder last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "an interrupt that is not delivered is lost"]
pub struct Alerts {
    /// Counters whose overflow asks for an interrupt, one bit each. Each asks once per overflow.
    pub interrupts: u32,
    /// Counters that overflowed, one bit each, whether they ask for an interrupt or not.
    pub overflows: u32,
    /// Pins that toggled, one bit each.
    pub pins: u32,
    /// How many events ago the oldest of the interrupts was due: 0 when the deadline was met at the very event. One instruction may
    /// bring several events at once.
    pub late: u64,
}

impl Alerts {
    /// Whether there is nothing to tell.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.interrupts == 0 && self.overflows == 0 && self.pins == 0
    }

    /// Adds what `more` tells.
    pub fn merge(&mut self, more: Alerts) {
        self.interrupts |= more.interrupts;
        self.overflows |= more.overflows;
        self.pins |= more.pins;
        self.late = self.late.max(more.late);
    }
}
