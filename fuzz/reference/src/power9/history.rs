//! The branch history, as far as it is known: whether it is empty.

/// The branch history rolling buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct History {
    /// Something may have been entered.
    used: bool,
}

impl History {
    pub(super) fn enter(&mut self) {
        self.used = true;
    }

    pub(super) fn clear(&mut self) {
        self.used = false;
    }

    /// Entry `number`. Beyond the 32 entries there is nothing (P35).
    pub(super) fn read(&self, number: u16) -> Option<u64> {
        (!self.used || number >= 32).then_some(0)
    }
}
