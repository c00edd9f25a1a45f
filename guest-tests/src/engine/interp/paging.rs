//! Four-level paging and the software TLB.

use super::fault::{Fault, vector};
use super::flags::{CR0_WP, EFER_NXE};
use super::memory::PAGE;
use super::state::Core;

const PRESENT: u64 = 1 << 0;
const WRITE: u64 = 1 << 1;
const USER: u64 = 1 << 2;
const ACCESSED: u64 = 1 << 5;
const DIRTY: u64 = 1 << 6;
const LARGE: u64 = 1 << 7;
const NO_EXECUTE: u64 = 1 << 63;

/// Physical-address bits.
pub(crate) const PHYSICAL_BITS: u32 = 40;
const FRAME: u64 = ((1 << PHYSICAL_BITS) - 1) & !(PAGE - 1);
// Bits from MAXPHYADDR to 51.
const RESERVED: u64 = ((1 << 52) - 1) & !((1 << PHYSICAL_BITS) - 1);

/// What an access needs; also what a TLB entry grants.
pub(crate) mod grant {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITE: u8 = 2;
    pub(crate) const EXECUTE: u8 = 4;
    /// Shift from the supervisor bits to the user bits.
    pub(crate) const USER_SHIFT: u8 = 3;
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
        let empty = Entry {
            page: 0,
            frame: 0,
            epoch: 0,
            grants: 0,
        };
        Self {
            entries: Box::new([empty; ENTRIES]),
            epoch: 1,
        }
    }

    /// Forgets every translation.
    pub(crate) fn flush(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.entries.iter_mut().for_each(|e| e.epoch = 0);
            self.epoch = 1;
        }
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

impl Core {
    /// Translates `va` for an access at the current privilege.
    #[inline]
    pub(crate) fn translate(&mut self, va: u64, need: u8) -> Result<Physical, Fault> {
        self.translate_as(va, need, self.cpl == 3)
    }

    /// Translates `va` for an access with user or supervisor rights.
    #[inline]
    pub(crate) fn translate_as(
        &mut self,
        va: u64,
        need: u8,
        user: bool,
    ) -> Result<Physical, Fault> {
        let page = va >> 12;
        let entry = &self.tlb.entries[page as usize & (ENTRIES - 1)];
        let bits = if user {
            need << grant::USER_SHIFT
        } else {
            need
        };
        if entry.page == page && entry.epoch == self.tlb.epoch && entry.grants & bits == bits {
            return Ok(Physical {
                address: entry.frame | va & (PAGE - 1),
                ram: entry.grants & grant::RAM != 0,
            });
        }
        self.walk(va, need, user)
    }

    #[cold]
    fn walk(&mut self, va: u64, need: u8, user: bool) -> Result<Physical, Fault> {
        if (((va << 16) as i64) >> 16) as u64 != va {
            return Err(Fault::NonCanonical);
        }
        let nxe = self.msrs.efer & EFER_NXE != 0;
        let wp = self.cr0 & CR0_WP != 0;
        let memory = std::sync::Arc::clone(&self.shared.memory);
        let mut code = u16::from(need & grant::WRITE != 0) << 1 | u16::from(user) << 2;
        if need & grant::EXECUTE != 0 && nxe {
            code |= 1 << 4;
        }
        let mut table = self.cr3 & FRAME;
        let mut rights = WRITE | USER;
        let mut no_execute = false;
        for level in (0..4u32).rev() {
            let shift = 12 + 9 * level;
            let at = table + ((va >> shift) & 0x1ff) * 8;
            let entry = memory.read(at, 8);
            if entry & PRESENT == 0 {
                return Err(self.page_fault(va, code));
            }
            let large = level != 0 && entry & LARGE != 0;
            let low = if large {
                ((1u64 << shift) - 1) & !0x1fff
            } else {
                0
            };
            let bad_large = level == 3 && entry & LARGE != 0;
            if entry & (RESERVED | low) != 0 || bad_large || !nxe && entry & NO_EXECUTE != 0 {
                return Err(self.page_fault(va, code | 1 | 1 << 3));
            }
            rights &= entry;
            no_execute |= entry & NO_EXECUTE != 0;
            if level != 0 && !large {
                if entry & ACCESSED == 0 {
                    memory.update(at, 8, |e| (e | ACCESSED, ()));
                }
                table = entry & FRAME;
                continue;
            }
            let mut grants = grant::READ;
            if rights & WRITE != 0 || !wp {
                grants |= grant::WRITE;
            }
            if !no_execute {
                grants |= grant::EXECUTE;
            }
            if rights & USER != 0 {
                let allowed = if rights & WRITE != 0 {
                    grants
                } else {
                    grants & !grant::WRITE
                };
                grants |= allowed << grant::USER_SHIFT;
            }
            let bits = if user {
                need << grant::USER_SHIFT
            } else {
                need
            };
            if grants & bits != bits {
                return Err(self.page_fault(va, code | 1));
            }
            let writes = need & grant::WRITE != 0;
            let marks = if writes { ACCESSED | DIRTY } else { ACCESSED };
            if entry & marks != marks {
                memory.update(at, 8, |e| (e | marks, ()));
            }
            if (entry | marks) & DIRTY == 0 {
                // The first write must come here to set the dirty bit.
                grants &= !(grant::WRITE | grant::WRITE << grant::USER_SHIFT);
            }
            let offset = (1u64 << shift) - 1;
            let address = entry & FRAME & !offset | va & offset;
            return Ok(self.fill(va, address, grants));
        }
        Err(self.page_fault(va, code))
    }

    fn fill(&mut self, va: u64, address: u64, mut grants: u8) -> Physical {
        let frame = address & !(PAGE - 1);
        let ram = frame < self.shared.memory.size() && !self.is_apic(frame);
        if ram {
            grants |= grant::RAM;
        }
        let page = va >> 12;
        let epoch = self.tlb.epoch;
        self.tlb.entries[page as usize & (ENTRIES - 1)] = Entry {
            page,
            frame,
            epoch,
            grants,
        };
        Physical { address, ram }
    }

    fn page_fault(&mut self, va: u64, code: u16) -> Fault {
        self.cr2 = va;
        Fault::with(vector::PF, code)
    }

    /// Whether a physical page is the local APIC's.
    pub(crate) fn is_apic(&self, frame: u64) -> bool {
        let base = self.msrs.apic_base;
        base & 1 << 11 != 0 && base & FRAME == frame & FRAME
    }
}
