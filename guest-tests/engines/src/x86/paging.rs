//! Four-level paging.

use super::exec::control::canonical;
use super::fault::{Fault, vector};
use super::flags::{CR0_WP, CR4_PGE, EFER_NXE};
use super::saved::Translation;
use super::state::Core;
use super::step::Invalidation;
use super::tlb::{PHYSICAL_BITS, Physical, grant};
use crate::memory::PAGE;

const PRESENT: u64 = 1 << 0;
const WRITE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
const ACCESSED: u64 = 1 << 5;
const DIRTY: u64 = 1 << 6;
const LARGE: u64 = 1 << 7;
const GLOBAL: u64 = 1 << 8;
const NO_EXECUTE: u64 = 1 << 63;

const FRAME: u64 = ((1 << PHYSICAL_BITS) - 1) & !(PAGE - 1);
// Bits from MAXPHYADDR to 51.
const RESERVED: u64 = ((1 << 52) - 1) & !((1 << PHYSICAL_BITS) - 1);

/// The table entries on the way to a page.
struct Path {
    /// Their physical addresses, root first.
    at: [u64; 4],
    /// What they hold.
    entries: [u64; 4],
    /// How many were read.
    read: usize,
    end: End,
}

/// What the last entry says.
enum End {
    /// Nothing is mapped.
    Absent,
    /// A reserved bit is set.
    Reserved,
    /// The address of a page of `1 << shift` bytes.
    Page { shift: u32 },
}

impl Path {
    /// The entries that led to another table.
    fn tables(&self) -> impl Iterator<Item = (u64, u64)> {
        self.at.into_iter().zip(self.entries).take(self.read - 1)
    }

    fn last(&self) -> (u64, u64) {
        (self.at[self.read - 1], self.entries[self.read - 1])
    }
}

fn page_address(entry: u64, va: u64, shift: u32) -> u64 {
    let offset = (1u64 << shift) - 1;
    entry & FRAME & !offset | va & offset
}

/// How the guest's page tables translate an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWalk {
    /// Physical addresses of the table entries, root first; those after [`PageWalk::levels`] are 0.
    pub entries: [u64; 4],
    /// How many entries there are: 4 for a page of 4 KiB, 3 of 2 MiB, 2 of 1 GiB.
    pub levels: u8,
    /// Address bits within the page: 12, 21 or 30.
    pub page_bits: u8,
    /// The translation outlives MOV to CR3: the last entry's G bit and CR4.PGE are set.
    pub global: bool,
    /// The physical address.
    pub physical: u64,
}

impl Core {
    /// Translates `va` for an access at the current privilege.
    #[inline]
    pub(crate) fn translate(&mut self, va: u64, need: u8) -> Result<Physical, Fault> {
        self.translate_as(va, need, self.cpl == 3)
    }

    /// Translates `va` for an access with user or supervisor rights.
    #[inline]
    pub(crate) fn translate_as(&mut self, va: u64, need: u8, user: bool) -> Result<Physical, Fault> {
        let bits = if user { need << grant::USER_SHIFT } else { need };
        match self.tlb.lookup(va, bits) {
            Some(known) => Ok(known),
            None => self.walk(va, need, user),
        }
    }

    #[cold]
    fn walk(&mut self, va: u64, need: u8, user: bool) -> Result<Physical, Fault> {
        let Some(path) = self.path(va) else {
            return Err(Fault::NonCanonical);
        };
        let mut code = u16::from(need & grant::WRITE != 0) << 1 | u16::from(user) << 2;
        if need & grant::EXECUTE != 0 && self.msrs.efer & EFER_NXE != 0 {
            code |= 1 << 4;
        }
        let memory = std::sync::Arc::clone(&self.shared.memory);
        // Tables are marked on the way to an entry, whatever that contains.
        for (at, entry) in path.tables() {
            if entry & ACCESSED == 0 {
                memory.update(at, 8, |e| (e | ACCESSED, ()));
            }
        }
        let shift = match path.end {
            End::Absent => return Err(self.page_fault(va, code)),
            End::Reserved => return Err(self.page_fault(va, code | 1 | 1 << 3)),
            End::Page { shift } => shift,
        };
        let mut grants = self.grants(&path);
        let bits = if user { need << grant::USER_SHIFT } else { need };
        if grants & bits != bits {
            return Err(self.page_fault(va, code | 1));
        }
        let (at, entry) = path.last();
        let writes = need & grant::WRITE != 0;
        let marks = if writes { ACCESSED | DIRTY } else { ACCESSED };
        if entry & marks != marks {
            memory.update(at, 8, |e| (e | marks, ()));
        }
        if (entry | marks) & DIRTY == 0 {
            // The first write must come here to set the dirty bit.
            grants &= !(grant::WRITE | grant::WRITE << grant::USER_SHIFT);
        }
        Ok(self.fill(va, page_address(entry, va, shift), grants))
    }

    /// Follows the tables to the page of `va`, changing nothing; `None` if the address is not canonical.
    fn path(&self, va: u64) -> Option<Path> {
        if !canonical(va) {
            return None;
        }
        let mut path = Path { at: [0; 4], entries: [0; 4], read: 0, end: End::Absent };
        let mut table = self.cr3 & FRAME;
        for (slot, level) in (0..4u32).rev().enumerate() {
            let shift = 12 + 9 * level;
            let at = table + ((va >> shift) & 0x1ff) * 8;
            let entry = self.shared.memory.read(at, 8);
            path.at[slot] = at;
            path.entries[slot] = entry;
            path.read = slot + 1;
            if entry & PRESENT == 0 {
                break;
            }
            let large = level != 0 && entry & LARGE != 0;
            let low = if large { ((1u64 << shift) - 1) & !0x1fff } else { 0 };
            let bad_large = level == 3 && entry & LARGE != 0;
            if entry & (RESERVED | low) != 0 || bad_large || self.msrs.efer & EFER_NXE == 0 && entry & NO_EXECUTE != 0 {
                path.end = End::Reserved;
                break;
            }
            if level == 0 || large {
                path.end = End::Page { shift };
                break;
            }
            table = entry & FRAME;
        }
        Some(path)
    }

    /// What a whole path grants, except the first write to a clean page.
    fn grants(&self, path: &Path) -> u8 {
        let entries = &path.entries[..path.read];
        let rights = entries.iter().fold(WRITE | USER, |rights, entry| rights & entry);
        let no_execute = entries.iter().any(|entry| entry & NO_EXECUTE != 0);
        let mut grants = grant::READ;
        if rights & WRITE != 0 || self.cr0 & CR0_WP == 0 {
            grants |= grant::WRITE;
        }
        if !no_execute {
            grants |= grant::EXECUTE;
        }
        if rights & USER != 0 {
            let allowed = if rights & WRITE != 0 { grants } else { grants & !grant::WRITE };
            grants |= allowed << grant::USER_SHIFT;
        }
        grants
    }

    /// Translates `va` for an access at the current privilege, without a fault and without a trace.
    pub(crate) fn peek_translation(&self, va: u64, need: u8) -> Option<u64> {
        let bits = if self.cpl == 3 { need << grant::USER_SHIFT } else { need };
        if let Some(known) = self.tlb.lookup(va, bits) {
            return Some(known.address);
        }
        let path = self.path(va)?;
        let End::Page { shift } = path.end else {
            return None;
        };
        (self.grants(&path) & bits == bits).then(|| page_address(path.last().1, va, shift))
    }

    /// How the tables translate `va`.
    pub(crate) fn page_walk(&self, va: u64) -> Option<PageWalk> {
        let path = self.path(va)?;
        let End::Page { shift } = path.end else {
            return None;
        };
        let (_, entry) = path.last();
        Some(PageWalk {
            entries: path.at,
            levels: path.read as u8,
            page_bits: shift as u8,
            global: entry & GLOBAL != 0 && self.cr4 & CR4_PGE != 0,
            physical: page_address(entry, va, shift),
        })
    }

    /// Forgets translations, whose kinds the engine's own cache does not distinguish, and reports to the observer which.
    pub(crate) fn forget(&mut self, which: Invalidation) {
        self.tlb.flush();
        self.step.invalidation = Some(which);
    }

    /// Remembers these translations and no others.
    pub(crate) fn remember(&mut self, translations: &[Translation]) {
        self.tlb.flush();
        for translation in translations {
            self.fill(translation.page << 12, translation.frame * PAGE, translation.grants);
        }
    }

    fn fill(&mut self, va: u64, address: u64, mut grants: u8) -> Physical {
        let frame = address & !(PAGE - 1);
        let ram = self.is_ram(frame) && !self.rehearsal.possible;
        if ram {
            grants |= grant::RAM;
        }
        self.tlb.fill(va, frame, grants);
        Physical { address, ram }
    }

    fn page_fault(&mut self, va: u64, code: u16) -> Fault {
        self.cr2 = va;
        Fault::with(vector::PF, code)
    }

    /// Whether a physical address is RAM's.
    pub(crate) fn is_ram(&self, address: u64) -> bool {
        address < self.shared.memory.size() && !self.is_apic(address)
    }

    /// Whether a physical page is the local APIC's.
    pub(crate) fn is_apic(&self, frame: u64) -> bool {
        let base = self.msrs.apic_base;
        base & 1 << 11 != 0 && base & FRAME == frame & FRAME
    }
}
