//! A cache of translations.

use super::saved::Translation;
use crate::memory::PAGE;

/// Physical-address bits.
pub(crate) const PHYSICAL_BITS: u32 = 40;

/// What an access needs; also what a TLB entry grants.
pub(crate) mod grant {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITE: u8 = 2;
    pub(crate) const EXECUTE: u8 = 4;
    /// Shift from the supervisor bits to the user bits.
    pub(crate) const USER_SHIFT: u8 = 3;
    /// All of these bits.
    pub(crate) const RIGHTS: u8 = 0x3f;
    /// The page is RAM.
    pub(crate) const RAM: u8 = 1 << 6;
}

#[derive(Clone, Copy)]
struct Entry {
    page: u64,
    frame: u64,
    epoch: u32,
    grants: u8,
}

const ENTRIES: usize = 1024;

/// A direct-mapped cache of translations of 4 KiB pieces.
pub(crate) struct Tlb {
    entries: Box<[Entry; ENTRIES]>,
    epoch: u32,
}

impl Tlb {
    pub(crate) fn new() -> Self {
        let empty = Entry { page: 0, frame: 0, epoch: 0, grants: 0 };
        Self { entries: Box::new([empty; ENTRIES]), epoch: 1 }
    }

    /// Forgets every translation.
    pub(crate) fn flush(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.entries.iter_mut().for_each(|e| e.epoch = 0);
            self.epoch = 1;
        }
    }

    /// The translation of `va`, if it is known to grant `bits`.
    #[inline]
    pub(super) fn lookup(&self, va: u64, bits: u8) -> Option<Physical> {
        let page = va >> 12;
        let entry = &self.entries[page as usize & (ENTRIES - 1)];
        let known = entry.page == page && entry.epoch == self.epoch && entry.grants & bits == bits;
        known.then_some(Physical { address: entry.frame | va & (PAGE - 1), ram: entry.grants & grant::RAM != 0 })
    }

    /// Remembers that the page of `va` is at `frame`, and what it grants.
    pub(super) fn fill(&mut self, va: u64, frame: u64, grants: u8) {
        let page = va >> 12;
        self.entries[page as usize & (ENTRIES - 1)] = Entry { page, frame, epoch: self.epoch, grants };
    }

    /// What is remembered.
    pub(crate) fn translations(&self) -> Vec<Translation> {
        let known = self.entries.iter().filter(|entry| entry.epoch == self.epoch);
        known.map(|entry| Translation { page: entry.page, frame: entry.frame / PAGE, grants: entry.grants & grant::RIGHTS }).collect()
    }

    /// Changes when translations were forgotten.
    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }
}

/// A translated address.
#[derive(Clone, Copy)]
pub(crate) struct Physical {
    pub(crate) address: u64,
    pub(crate) ram: bool,
}
