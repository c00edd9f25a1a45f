//! The entries of a trace buffer, with the index of the next one.

/// `N` entries.
pub(crate) struct Ring<E, const N: usize> {
    pub(crate) entries: [E; N],
    /// The next entry, and whether the index has wrapped; `None` where that is not known.
    pub(crate) index: Option<(usize, bool)>,
}

impl<E: Copy, const N: usize> Ring<E, N> {
    pub(crate) const fn new(entry: E) -> Ring<E, N> {
        Ring { entries: [entry; N], index: Some((0, false)) }
    }

    /// What was entered is not known: each entry may be anything, which `entry` stands for.
    pub(crate) const fn forget(&mut self, entry: E) {
        (self.entries, self.index) = ([entry; N], None);
    }

    /// Adds an entry, if the index is known.
    pub(crate) fn push(&mut self, entry: E) -> Option<()> {
        let (next, full) = self.index?;
        self.entries[next] = entry;
        self.index = Some(((next + 1) % N, full || next == N - 1));
        Some(())
    }

    /// The last entry, if the index is known.
    pub(crate) fn last(&mut self) -> Option<&mut E> {
        self.index.map(|(next, _)| &mut self.entries[(next + N - 1) % N])
    }
}
