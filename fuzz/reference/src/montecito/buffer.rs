//! PMD48 to 63, PMD38 and PMD39: the sixteen entries of the trace and of the IP-EAR (3.3.10).

/// The entries, where they are known.
pub(super) struct Buffer {
    entries: [Option<u64>; 16],
    /// The four bits of each entry in PMD39.
    nibbles: [Option<u64>; 16],
    /// ebi and full.
    index: Option<(usize, bool)>,
}

/// Where PMD39 has the bits of an entry: 48, 56, 49, 57 and so on.
const fn place(entry: usize) -> usize {
    4 * if entry < 8 { 2 * entry } else { 2 * (entry - 8) + 1 }
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer { entries: [Some(0); 16], nibbles: [Some(0); 16], index: Some((0, false)) }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: Option<u64>, nibble: u64) {
        let Some((next, full)) = self.index else { return self.forget() };
        (self.entries[next], self.nibbles[next]) = (entry, Some(nibble));
        self.index = Some(((next + 1) % 16, full || next == 15));
    }

    /// Changes the last entry.
    pub(super) fn amend(&mut self, change: impl Fn(u64, u64) -> (u64, u64)) {
        let Some((next, _)) = self.index else { return self.forget() };
        let last = (next + 15) % 16;
        if let (Some(entry), Some(nibble)) = (self.entries[last], self.nibbles[last]) {
            let (entry, nibble) = change(entry, nibble);
            (self.entries[last], self.nibbles[last]) = (Some(entry), Some(nibble));
        }
    }

    /// What was entered is not known.
    pub(super) fn forget(&mut self) {
        *self = Buffer { entries: [None; 16], nibbles: [None; 16], index: None };
    }

    /// PMD38, 39 and 48 to 63.
    pub(super) fn read(&self, pmd: usize) -> Option<u64> {
        match pmd {
            38 => self.index.map(|(next, full)| next as u64 | u64::from(full) << 5),
            39 => (0..16).try_fold(0, |bits, entry| Some(bits | self.nibbles[entry]? << place(entry))),
            _ => self.entries[pmd - 48],
        }
    }

    pub(super) fn write(&mut self, pmd: usize, value: u64) {
        match pmd {
            38 => self.index = Some(((value & 0xF) as usize, value >> 5 & 1 != 0)),
            39 => self.nibbles = core::array::from_fn(|entry| Some(value >> place(entry) & 0xF)),
            _ => self.entries[pmd - 48] = Some(value),
        }
    }
}
