//! The instruction event-address registers: PMC10, PMD0, PMD1 (sections 6.2.7.1 to 6.2.7.3).

use super::file::{Captures, implemented};
use super::registers::{Pmc10, Pmd0, Pmd1};
use crate::feed::{Fetch, Translation};

/// The most cycles that the register shows.
const MOST_LATENCY: u32 = (1 << 12) - 1;
/// The highest unit mask of cache misses that captures any: 4096 cycles and more.
const LAST_STEP: u8 = 10;
/// Bits of the unit mask of translation misses.
const WALKER: u8 = 1 << 2;
const SOFTWARE: u8 = 1 << 3;

/// Whether the settings of `pmc10` leave anything to capture, at the levels that it names.
pub(super) fn captures_anything(pmc10: Pmc10) -> bool {
    if pmc10.tlb() { pmc10.umask() & (WALKER | SOFTWARE) != 0 } else { pmc10.umask() <= LAST_STEP }
}

/// Captures what `pmc10` asks for of a demand fetch that its monitor and the address range admit. Returns whether it did.
pub(super) fn capture(pmc10: Pmc10, fetch: &Fetch, captures: &mut Captures) -> bool {
    if fetch.prefetch || !captures_anything(pmc10) {
        return false;
    }
    let (latency, by_software) = if pmc10.tlb() {
        match fetch.translation {
            Translation::Walk if pmc10.umask() & WALKER != 0 => (0, false),
            Translation::Fault if pmc10.umask() & SOFTWARE != 0 => (0, true),
            _ => return false,
        }
    } else if fetch.cache_miss && fetch.latency >= 4 << pmc10.umask() {
        (fetch.latency, false)
    } else {
        return false;
    };
    let mut address = Pmd0::default();
    address.set_v(true);
    address.set_tlb(by_software);
    address.set_line(implemented(fetch.address) >> 5);
    let mut taken = Pmd1::default();
    taken.set_latency(latency.min(MOST_LATENCY) as u16);
    (captures.fetch_address, captures.fetch_latency) = (address, taken);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn miss(latency: u32) -> Fetch {
        Fetch { address: 0x1234_5678, cache_miss: true, pending: false, prefetch: false, latency, translation: Translation::Hit(1) }
    }

    fn configured(tlb: bool, umask: u8) -> Pmc10 {
        let mut pmc10 = Pmc10::default();
        pmc10.set_tlb(tlb);
        pmc10.set_umask(umask);
        pmc10
    }

    #[test]
    fn a_miss_as_long_as_the_step_is_captured_with_its_line() {
        let mut captures = Captures::default();
        assert!(!capture(configured(false, 2), &miss(15), &mut captures));
        assert!(capture(configured(false, 2), &miss(16), &mut captures));
        assert_eq!((captures.read(0), captures.read(1)), (0x1234_5661, 16));
    }

    #[test]
    fn a_latency_beyond_the_register_is_shown_as_its_most() {
        let mut captures = Captures::default();
        assert!(capture(configured(false, 10), &miss(4096), &mut captures));
        assert_eq!(captures.read(1), 4095);
    }

    #[test]
    fn unit_masks_above_the_last_step_capture_no_cache_miss() {
        for umask in 11..16 {
            assert!(!capture(configured(false, umask), &miss(1 << 20), &mut Captures::default()), "{umask}");
        }
    }

    #[test]
    fn a_translation_miss_is_captured_by_what_served_it() {
        let served = |translation, umask| {
            let mut captures = Captures::default();
            let fetch = Fetch { translation, cache_miss: false, ..miss(9) };
            capture(configured(true, umask), &fetch, &mut captures).then(|| (captures.read(0) & 0b11, captures.read(1)))
        };
        assert_eq!(served(Translation::Walk, 0b0100), Some((0b01, 0)));
        assert_eq!(served(Translation::Fault, 0b1000), Some((0b11, 0)));
        assert_eq!(served(Translation::Fault, 0b0111), None);
        assert_eq!(served(Translation::Hit(2), 0b1111), None);
    }

    #[test]
    fn a_prefetch_is_not_captured() {
        let prefetch = Fetch { prefetch: true, ..miss(100) };
        assert!(!capture(configured(false, 0), &prefetch, &mut Captures::default()));
    }
}
