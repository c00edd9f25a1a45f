//! What a model reports to its embedder.

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
    /// The levels of the lines that stay raised until the guest acts, if one has changed. A model that was restored from a state has them
    /// in its first alerts, if one is raised.
    pub lines: Option<Lines>,
    /// The demand, or what the thread wants of other threads of its package, may have changed.
    pub renewed: bool,
}

/// Requests that persist: each holds until the guest takes its cause away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Lines {
    /// POWER: a performance monitor interrupt exists. It is taken, at vector F00h, when MSR\[EE] allows.
    pub interrupt: bool,
    /// POWER: a performance monitor event-based exception exists. The event-based branch is taken when BESCR\[GE] and problem state
    /// allow.
    pub event_based_branch: bool,
}

impl Alerts {
    /// Whether there is nothing to report outside the machine.
    #[must_use]
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.interrupts == 0 && self.overflows == 0 && self.pins == 0 && self.lines.is_none()
    }

    /// Adds what `more` has.
    pub fn merge(&mut self, more: Alerts) {
        self.interrupts |= more.interrupts;
        self.overflows |= more.overflows;
        self.pins |= more.pins;
        self.late = self.late.max(more.late);
        self.lines = more.lines.or(self.lines);
        self.renewed |= more.renewed;
    }
}
