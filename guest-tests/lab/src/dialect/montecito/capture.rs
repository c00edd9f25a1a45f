//! PMC37 and PMC40, where events say what is to be captured (Montecito manual, sections 3.3.7 and 3.3.8).

use vm_pmu::arch::access::Address;
use vm_pmu::arch::montecito::{Pmc37, Pmc40};

use super::LIMITS;
use crate::dialect::ia64::captures::{Captured, Captures, Choice};
use crate::dialect::ia64::words::Words;
use crate::error::Error;

/// What PMC37 captures, in the words of libpfm4: mode 0 is translation misses, 1 cache misses by bits 12:5 (tables 3-16 and 3-18).
const FETCHES: [Choice; 17] = [
    Choice::new("CACHE_RAB", 1, 0x00),
    Choice::new("CACHE_LAT0", 1, 0x40),
    Choice::new("CACHE_LAT4", 1, 0xFF),
    Choice::new("CACHE_LAT8", 1, 0xFE),
    Choice::new("CACHE_LAT16", 1, 0xFC),
    Choice::new("CACHE_LAT32", 1, 0xF8),
    Choice::new("CACHE_LAT128", 1, 0xF0),
    Choice::new("CACHE_LAT256", 1, 0xE0),
    Choice::new("CACHE_LAT1024", 1, 0xC0),
    Choice::new("CACHE_LAT4096", 1, 0x80),
    Choice::new("TLB_L2TLB", 0, 1),
    Choice::new("TLB_VHPT", 0, 2),
    Choice::new("TLB_FAULT", 0, 4),
    Choice::new("TLB_L2TLB_OR_VHPT", 0, 3),
    Choice::new("TLB_L2TLB_OR_FAULT", 0, 5),
    Choice::new("TLB_VHPT_OR_FAULT", 0, 6),
    Choice::new("TLB_ALL", 0, 7),
];
/// What PMC40 captures: mode 0 is cache misses by their least latency, 1 translation misses, 2 the ALAT (tables 3-21 and 3-23).
const ACCESSES: [Choice; 19] = [
    Choice::new("CACHE_LAT4", 0, 0),
    Choice::new("CACHE_LAT8", 0, 1),
    Choice::new("CACHE_LAT16", 0, 2),
    Choice::new("CACHE_LAT32", 0, 3),
    Choice::new("CACHE_LAT64", 0, 4),
    Choice::new("CACHE_LAT128", 0, 5),
    Choice::new("CACHE_LAT256", 0, 6),
    Choice::new("CACHE_LAT512", 0, 7),
    Choice::new("CACHE_LAT1024", 0, 8),
    Choice::new("CACHE_LAT2048", 0, 9),
    Choice::new("CACHE_LAT4096", 0, 10),
    Choice::new("TLB_L2DTLB", 1, 2),
    Choice::new("TLB_VHPT", 1, 4),
    Choice::new("TLB_FAULT", 1, 8),
    Choice::new("TLB_L2DTLB_OR_VHPT", 1, 6),
    Choice::new("TLB_L2DTLB_OR_FAULT", 1, 10),
    Choice::new("TLB_VHPT_OR_FAULT", 1, 12),
    Choice::new("TLB_ALL", 1, 14),
    Choice::new("ALAT", 2, 0),
];
/// Bit 13 of PMC37: cache misses.
const OF_CACHE: u8 = 0b10;

/// The writes for what is captured.
///
/// # Errors
/// There is no such capture, or two events ask for different ones.
pub(super) fn writes<'a>(asked: impl Iterator<Item = (&'a str, &'a Words)>) -> Result<Vec<(Address, u64)>, Error> {
    let mut kept = Captures::default();
    for (event, words) in asked {
        let Some(ear) = &words.ear else { continue };
        match kept.add(event, ear, &FETCHES, &ACCESSES)? {
            Captured::Fetches(Choice { mode, umask, .. }) => {
                let mut pmc = Pmc37::default();
                pmc.set_plm(words.levels());
                pmc.set_pm(words.pm);
                pmc.set_umask(umask & 0x7F);
                pmc.set_ct(if mode == 1 { OF_CACHE | umask >> 7 } else { 0 });
                kept.write(Address::Pmc(37), pmc.bits())?;
            }
            Captured::Accesses(Choice { mode, umask, .. }) => {
                let mut pmc = Pmc40::default();
                pmc.set_plm(words.levels());
                pmc.set_pm(words.pm);
                pmc.set_mode(mode);
                pmc.set_umask(umask);
                pmc.set_ism(words.ism.unwrap_or(LIMITS.ism));
                kept.write(Address::Pmc(40), pmc.bits())?;
            }
        }
    }
    Ok(kept.writes)
}
