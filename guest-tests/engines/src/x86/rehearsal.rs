//! What an instruction is about to do, found out without doing it.

/// A store that is not performed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// Its physical address.
    pub(crate) address: u64,
    /// Bytes: 1 to 16, all in one page.
    pub(crate) size: u8,
    /// What is stored.
    pub(crate) value: u128,
}

/// In a rehearsal an instruction translates, loads and computes, but neither stores nor reaches a device. The rehearsal keeps what it would
/// store, and that it would reach a device.
#[derive(Debug, Default)]
pub(crate) struct Rehearsal {
    /// Instructions may be rehearsed. Then no translation marks a page as RAM, so that every access takes the slow path, which checks for a
    /// rehearsal.
    pub(crate) possible: bool,
    /// One is under way.
    pub(crate) under_way: bool,
    /// The instruction would reach a device.
    pub(crate) device: bool,
    /// What it would store, in order.
    pub(crate) stores: Vec<Store>,
}

impl Rehearsal {
    /// Begins one.
    pub(crate) fn begin(&mut self) {
        self.under_way = true;
        self.device = false;
        self.stores.clear();
    }

    /// Ends it. What it found stays until the next begins.
    pub(crate) fn end(&mut self) {
        self.under_way = false;
    }
}
