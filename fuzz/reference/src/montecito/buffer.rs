//! PMD48 to 63, PMD38 and PMD39: the sixteen entries of the trace and of the IP-EAR (3.3.10).

use crate::ia64::Ring;

/// One entry, where it is known.
#[derive(Clone, Copy)]
struct Entry {
    address: Option<u64>,
    /// Its four bits in PMD39.
    nibble: Option<u64>,
}

impl Entry {
    const UNKNOWN: Entry = Entry { address: None, nibble: None };
}

pub(super) struct Buffer {
    ring: Ring<Entry, 16>,
}

/// Where PMD39 has the bits of an entry: 48, 56, 49, 57 and so on.
const fn place(entry: usize) -> usize {
    4 * if entry < 8 { 2 * entry } else { 2 * (entry - 8) + 1 }
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer { ring: Ring::new(Entry { address: Some(0), nibble: Some(0) }) }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, address: Option<u64>, nibble: u64) {
        if self.ring.push(Entry { address, nibble: Some(nibble) }).is_none() {
            self.forget();
        }
    }

    /// Changes the last entry.
    pub(super) fn amend(&mut self, change: impl Fn(u64, u64) -> (u64, u64)) {
        let Some(last) = self.ring.last() else { return self.forget() };
        if let (Some(address), Some(nibble)) = (last.address, last.nibble) {
            let (address, nibble) = change(address, nibble);
            *last = Entry { address: Some(address), nibble: Some(nibble) };
        }
    }

    /// What was entered is not known.
    pub(super) fn forget(&mut self) {
        self.ring.forget(Entry::UNKNOWN);
    }

    /// PMD38, 39 and 48 to 63.
    pub(super) fn read(&self, pmd: usize) -> Option<u64> {
        match pmd {
            38 => self.ring.index.map(|(next, full)| next as u64 | u64::from(full) << 5),
            39 => (0..16).try_fold(0, |bits, entry| Some(bits | self.ring.entries[entry].nibble? << place(entry))),
            _ => self.ring.entries[pmd - 48].address,
        }
    }

    pub(super) fn write(&mut self, pmd: usize, value: u64) {
        match pmd {
            38 => self.ring.index = Some(((value & 0xF) as usize, value >> 5 & 1 != 0)),
            39 => (0..16).for_each(|entry| self.ring.entries[entry].nibble = Some(value >> place(entry) & 0xF)),
            _ => self.ring.entries[pmd - 48].address = Some(value),
        }
    }
}
