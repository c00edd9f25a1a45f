//! The graphics aperture: addresses that a northbridge relocates page by page, with a buffer of translations (BIOS and Kernel Developer's
//! Guide for the K8, section 10.2.1.7, event EEh).
//!
//! Each node relocates accesses that enter the machine there. Its tables are not read: a relocated access goes to the memory of its own
//! address.

use vm_pmu_arch::feed::Signal;

use crate::bytes::{Damaged, Reader, Writer};
use crate::fabric::{FabricState, System};
use crate::tally::Tally;

/// Translations per buffer. No figure is public for the K8; this one was chosen because chip sets of its time had it.
const ENTRIES: usize = 16;
/// Bits of an address within a page.
const PAGE_BITS: u32 = 12;

/// The origin of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Core,
    Device,
}

/// The translations that a node caches, most recently used first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApertureBuffer {
    /// Page numbers plus one; 0 for an empty entry.
    pages: [u64; ENTRIES],
}

impl ApertureBuffer {
    /// Looks a page up, and adds it. Returns whether it was there.
    fn look_up(&mut self, page: u64) -> bool {
        let known = self.pages.iter().position(|known| *known == page.wrapping_add(1));
        if let Some(used) = self.pages.get_mut(..=known.unwrap_or(ENTRIES - 1)) {
            used.rotate_right(1);
        }
        if let Some(first) = self.pages.first_mut() {
            *first = page.wrapping_add(1);
        }
        known.is_some()
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&self.pages);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        reader.words(&mut self.pages)
    }
}

impl System {
    /// Relocates an access that enters the machine at `package`, if it is in the aperture. `tally` is that of the package.
    #[inline]
    pub(super) fn relocate(&self, shared: &mut FabricState, package: usize, physical: u64, by: By, tally: &mut Tally) {
        let Some((first, bytes)) = self.layout.aperture else { return };
        if physical.wrapping_sub(first) >= bytes {
            return;
        }
        tally.add(if by == By::Core { Signal::ApertureAccesses } else { Signal::DeviceApertureAccesses }, 1);
        let has = shared.relocated.get_mut(package).is_some_and(|buffer| buffer.look_up(physical >> PAGE_BITS));
        tally.add(Signal::ApertureMisses, u64::from(!has));
    }

    pub(super) fn relocate_line(&self, shared: &mut FabricState, package: usize, outer: u64, tally: &mut Tally) {
        self.relocate(shared, package, outer << self.profile.caches.outer_line_bits.min(63), By::Core, tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seventeenth_page_takes_the_place_of_the_one_used_longest_ago() {
        let mut buffer = ApertureBuffer::default();
        assert!(!(0..16).any(|page| buffer.look_up(page)));
        assert!(buffer.look_up(0));
        assert!(!buffer.look_up(16));
        // Page 1 had been used longest ago.
        assert!(buffer.look_up(0));
        assert!(!buffer.look_up(1));
    }
}
