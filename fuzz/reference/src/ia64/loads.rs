//! Which loads a data event-address register follows: one at a time, the next one drawn (M35, D190).

/// The load that is followed.
pub(crate) struct Loads {
    /// When it is over.
    busy: Option<u128>,
    /// Loads were passed over meanwhile.
    skipped: bool,
    /// Loads to pass over before another one is followed.
    pass: u16,
    /// What the choice is drawn from; `None` where that is not known.
    draws: Option<u16>,
}

impl Loads {
    pub(crate) const fn new() -> Loads {
        Loads { busy: None, skipped: false, pass: 0, draws: Some(0xACE1) }
    }

    /// A load that was followed is not any more.
    pub(crate) const fn stop(&mut self) {
        self.busy = None;
    }

    /// Which loads are followed is not known any more.
    pub(crate) const fn forget(&mut self) {
        self.draws = None;
    }

    /// Whether a load that comes `now`, and is over at `end`, is followed.
    pub(crate) fn follow(&mut self, now: u128, end: u128) -> Option<bool> {
        let draws = self.draws?;
        if self.busy.is_some_and(|end| now < end) {
            self.skipped = true;
            return Some(false);
        }
        self.busy = None;
        if core::mem::take(&mut self.skipped) {
            let drawn = draws >> 1 ^ if draws & 1 != 0 { 0xB400 } else { 0 };
            (self.draws, self.pass) = (Some(drawn), drawn & 3);
        }
        let follows = self.pass == 0;
        self.pass = self.pass.saturating_sub(1);
        if follows {
            self.busy = Some(end);
        }
        Some(follows)
    }
}
