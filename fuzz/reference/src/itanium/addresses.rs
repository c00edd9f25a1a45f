//! The event-address registers: PMC10 with PMD0 and 1, PMC11 with PMD2, 3 and 17 (6.2.7; docs/notes/itanium.md 1.5, 1.6 and 2.6).

use vm_pmu_arch::feed::{DataSource, Record, Traits, Translation};

use super::bits::canonical;
use crate::ia64::{Amount, Loads};

/// The most that 11:0 of PMD1 and PMD3 can hold.
const MOST_LATENCY: u64 = 0xFFF;

/// What the captures left, where it is known.
pub(super) struct Addresses {
    /// PMD0 and 1.
    pub(super) fetch: [Option<u64>; 2],
    /// PMD2, 3 and 17.
    pub(super) data: [Option<u64>; 3],
    loads: Loads,
}

impl Addresses {
    pub(super) const fn new() -> Addresses {
        Addresses { fetch: [Some(0); 2], data: [Some(0); 3], loads: Loads::new() }
    }

    /// A load that was followed is not any more.
    pub(super) const fn stop(&mut self) {
        self.loads.stop();
    }

    /// What captures would have left is not known.
    pub(super) const fn forget(&mut self) {
        (self.fetch, self.data) = ([None; 2], [None; 3]);
        self.loads.forget();
    }

    /// The I-EAR sees an instruction of its range: how often it captures.
    pub(super) fn fetch(&mut self, pmc10: u64, record: &Record) -> u128 {
        let Some(fetch) = record.fetch.filter(|fetch| !fetch.prefetch) else { return 0 };
        let umask = pmc10 >> 16 & 0xF;
        let (tlb, latency) = if pmc10 >> 7 & 1 == 0 {
            // 4 to 4096 cycles; other codes capture nothing.
            if !fetch.cache_miss || umask > 10 || fetch.latency < 4 << umask {
                return 0;
            }
            (0, u64::from(fetch.latency).min(MOST_LATENCY))
        } else {
            match fetch.translation {
                Translation::Walk if umask & 0b0100 != 0 => (0, 0),
                Translation::Fault if umask & 0b1000 != 0 => (1, 0),
                _ => return 0,
            }
        };
        self.fetch = [Some(canonical(fetch.address & !0x1F) | tlb << 1 | 1), Some(latency)];
        1
    }

    /// The D-EAR sees an instruction that has the data tag, at `now`: how often it captures.
    pub(super) fn data(&mut self, pmc11: u64, record: &Record, now: u128) -> Amount {
        let umask = pmc11 >> 16 & 0xF;
        let Some(memory) = record.memory else { return Some(0) };
        let state = if pmc11 >> 7 & 1 == 0 {
            match self.load(umask, record, now) {
                Some(true) => u64::from(memory.latency).min(MOST_LATENCY),
                Some(false) => return Some(0),
                None => {
                    self.data = [None; 3];
                    return None;
                }
            }
        } else {
            // Any reference, by what resolved it (M54).
            let level = match memory.translation {
                Translation::Hit(2) => 1,
                Translation::Walk => 2,
                Translation::Fault => 3,
                _ => return Some(0),
            };
            if umask >> level & 1 == 0 {
                return Some(0);
            }
            level << 62
        };
        // A bundle has slots 0 to 2.
        let place = canonical(record.address & !0xF) | u64::from(record.slot.min(2)) << 2 | 1;
        let has_none = record.sample.traits.contains(Traits::REGISTER_STACK);
        self.data = [Some(canonical(memory.address)), Some(state), Some(if has_none { 0 } else { place })];
        Some(1)
    }

    /// Whether a load is captured, of which one is followed at a time.
    fn load(&mut self, umask: u64, record: &Record, now: u128) -> Option<bool> {
        let traits = record.sample.traits;
        let Some(memory) = record.memory.filter(|memory| memory.load && !traits.contains(Traits::PAGE_WALKER)) else { return Some(false) };
        // What cannot be captured is not followed (D190), nor is anything while the unit mask captures nothing.
        // libpfm's codes: 7 is as 8 (M54).
        let least = match umask {
            0..=6 => 4 << umask,
            7 | 8 => 512,
            9 => 1024,
            10 => 2048,
            _ => return Some(false),
        };
        let hit = matches!(memory.source, DataSource::Cache(0 | 1) | DataSource::StoreForward);
        // The first level serves neither floating-point registers nor semaphores (M54).
        let is_miss = !hit || traits.intersects(Traits::FLOATING_POINT | Traits::SEMAPHORE);
        let is_followed = self.loads.follow(now, now + u128::from(if is_miss { memory.latency.max(1) } else { 1 }));
        if is_miss && memory.latency >= least { is_followed } else { Some(false) }
    }
}
