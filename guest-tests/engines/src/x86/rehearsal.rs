//! What an instruction is about to do, found out without doing it.

/// A store that is about to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    /// Its physical address.
    pub(crate) address: u64,
    /// Bytes: 1 to 16, all in one page.
    pub(crate) size: u8,
    /// What is stored.
    pub(crate) value: u128,
}

/// A rehearsal lets an instruction translate, load and compute, but neither store nor reach a device. What it would store is kept, and
/// that it would reach a device.
#[derive(Debug, Default)]
pub(crate) struct Rehearsal {
    /// Instructions may be rehearsed. Then no translation says of a page that it is RAM, so that every access comes the slow way, where
    /// a rehearsal is looked for.
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
