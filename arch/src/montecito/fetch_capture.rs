//! The instruction event-address registers: PMC37, PMD34, PMD35 (section 3.3.8).

use super::file::Captures;
use super::registers::{Pmc37, Pmd34, Pmd35};
use crate::feed::{Fetch, Translation};

/// Latencies from here on do not fit.
const LATENCY_LIMIT: u32 = 1 << 12;

/// Captures what `pmc37` asks for of a demand fetch that its monitor and the address range of channel 0 admit. Returns whether it did.
pub(super) fn capture(pmc37: Pmc37, fetch: &Fetch, captures: &mut Captures) -> bool {
    if fetch.prefetch {
        return false;
    }
    let (stat, latency) = if pmc37.is_cache() {
        if !fetch.cache_miss || !is_slow(pmc37.cache_umask(), fetch) {
            return false;
        }
        (0b01, fetch.latency)
    } else {
        let (bit, stat) = match fetch.translation {
            Translation::Hit(2) => (0, 0b01),
            Translation::Walk => (1, 0b10),
            Translation::Fault => (2, 0b11),
            Translation::Hit(_) | Translation::Unknown => return false,
        };
        if pmc37.ct() != 0 || pmc37.umask() >> bit & 1 == 0 {
            return false;
        }
        (stat, 0)
    };
    let mut address = Pmd34::default();
    address.set_stat(stat);
    address.set_line(fetch.address >> 5);
    let mut taken = Pmd35::default();
    taken.set_latency((latency % LATENCY_LIMIT) as u16);
    taken.set_overflow(latency >= LATENCY_LIMIT);
    (captures.fetch_address, captures.fetch_latency) = (address, taken);
    true
}

/// Whether the unit mask chooses the miss (Table 3-16). Masks that are not in the table choose none.
fn is_slow(umask: u8, fetch: &Fetch) -> bool {
    let least = match umask {
        0x40..=0x7F => return true,
        0x00 => return fetch.pending,
        0xFF => 4,
        0xFE => 8,
        0xFC => 16,
        0xF8 => 32,
        0xF0 => 128,
        0xE0 => 256,
        0xC0 => 1024,
        0x80 => 4096,
        _ => return false,
    };
    fetch.latency >= least
}
