//! The event-address registers: PMC37 with PMD34 and 35, PMC40 with PMD32, 33 and 36 (3.3.8 and 3.3.9).

use vm_pmu_arch::feed::{BranchKind, DataSource, Memory, Record, Traits, Translation};

use crate::ia64::{Amount, Loads};

/// PMD32 to PMD36, where they are known, and the load that is followed.
pub(super) struct Addresses {
    pub(super) pmd: [Option<u64>; 5],
    loads: Loads,
    /// When a miss was captured last.
    captured: Option<u128>,
}

/// Bits of PMD33.stat, for a translation that is not in the first level.
const fn status(translation: Translation) -> Option<u64> {
    match translation {
        Translation::Hit(2) => Some(0b01),
        Translation::Walk => Some(0b10),
        Translation::Fault => Some(0b11),
        _ => None,
    }
}

impl Addresses {
    pub(super) fn new() -> Addresses {
        Addresses { pmd: [Some(0); 5], loads: Loads::new(), captured: None }
    }

    /// A PMD, 32 to 36.
    fn put(&mut self, pmd: usize, value: Option<u64>) {
        self.pmd[pmd - 32] = value;
    }

    /// The bits that a PMD has.
    pub(super) const fn kept(pmd: usize) -> u64 {
        match pmd {
            33 => 0xFFFF,
            34 => !0b1_1100,
            35 => 0x1FFF,
            _ => u64::MAX,
        }
    }

    /// Everything freezes: a load that was followed is not any more.
    pub(super) fn stop(&mut self) {
        self.loads.stop();
        self.captured = None;
    }

    /// What captures would have left is not known.
    pub(super) fn forget(&mut self) {
        self.pmd = [None; 5];
        self.loads.forget();
    }

    /// The I-EAR sees an instruction of its range: how often it captures.
    pub(super) fn fetch(&mut self, pmc37: u64, record: &Record) -> Amount {
        let Some(fetch) = record.fetch.filter(|fetch| !fetch.prefetch) else { return Some(0) };
        let line = fetch.address & !0x1F;
        let umask = pmc37 >> 5 & 0xFF;
        match pmc37 >> 12 & 3 {
            0b00 => {
                // Bits 7:5 choose those served by the second level, the walker, and faults.
                let Some(status) = status(fetch.translation).filter(|status| umask >> (status - 1) & 1 != 0) else { return Some(0) };
                self.put(34, Some(line | status));
                // Undefined.
                self.put(35, None);
                Some(1)
            }
            0b01 => Some(0),
            _ => {
                let least = match umask {
                    0x40..=0x7F => Some(0),
                    0xFF => Some(4),
                    0xFE => Some(8),
                    0xFC => Some(16),
                    0xF8 => Some(32),
                    0xF0 => Some(128),
                    0xE0 => Some(256),
                    0xC0 => Some(1024),
                    0x80 => Some(4096),
                    0 if fetch.pending => Some(0),
                    _ => None,
                };
                if !fetch.cache_miss || least.is_none_or(|least| fetch.latency < least) {
                    return Some(0);
                }
                let latency = u64::from(fetch.latency);
                self.put(34, Some(line | 1));
                self.put(35, Some(latency & 0xFFF | u64::from(latency > 0xFFF) << 12));
                Some(1)
            }
        }
    }

    /// The D-EAR sees an instruction, tagged or not, at `now`: how often it captures.
    pub(super) fn data(&mut self, pmc40: u64, record: &Record, tagged: bool, now: u128) -> Amount {
        let umask = pmc40 >> 16 & 0xF;
        match pmc40 >> 7 & 3 {
            0b00 => self.load(umask, record, tagged, now),
            0b01 => self.translation(umask, record, tagged),
            _ => self.check(record, tagged),
        }
    }

    /// A load, of which one is followed at a time (3.3.9.1).
    fn load(&mut self, umask: u64, record: &Record, tagged: bool, now: u128) -> Amount {
        let traits = record.sample.traits;
        let Some(memory) = record.memory.filter(|memory| memory.load && !traits.contains(Traits::PAGE_WALKER)) else { return Some(0) };
        // What nothing lets through is not followed either (D190).
        if !tagged {
            return Some(0);
        }
        let hit = matches!(memory.source, DataSource::Cache(0 | 1) | DataSource::StoreForward);
        let is_miss = !hit || traits.intersects(Traits::FLOATING_POINT | Traits::SEMAPHORE);
        // Of a hit this is known after a cycle.
        let end = now + u128::from(if is_miss { memory.latency.max(1) } else { 1 });
        let is_followed = self.loads.follow(now, end);
        if !is_miss || umask > 10 || memory.latency < 4 << umask || is_followed == Some(false) {
            return Some(0);
        }
        if is_followed.is_none() {
            self.forget();
            return None;
        }
        if self.captured.is_some_and(|captured| now < captured + 7) {
            return Some(0);
        }
        self.captured = Some(now);
        let latency = u64::from(memory.latency);
        self.put(33, Some(latency & 0x1FFF | u64::from(latency > 0x1FFF) << 13 | 0b01 << 14));
        self.put(32, Some(memory.address));
        self.locate(record);
        Some(1)
    }

    /// An access whose translation is not in the first level (3.3.9.2).
    fn translation(&mut self, umask: u64, record: &Record, tagged: bool) -> Amount {
        let traits = record.sample.traits;
        let Some(memory) = record.memory else { return Some(0) };
        // Stores and floating-point operations never miss the first level; nor do semaphores, which its cache does not serve.
        let misses_first = |memory: &Memory| memory.load && !memory.store && !traits.contains(Traits::FLOATING_POINT);
        let Some(status) = status(memory.translation).filter(|status| *status != 0b01 || misses_first(&memory)) else { return Some(0) };
        if !tagged || umask >> status & 1 == 0 {
            return Some(0);
        }
        // The section speaks of loads and stores, and not of lfetch.
        if !memory.load && !memory.store {
            self.forget();
            return None;
        }
        self.put(32, Some(memory.address));
        // The latency is undefined.
        self.put(33, Some(status << 14));
        self.locate(record);
        Some(1)
    }

    /// An advanced load's check that fails (3.3.9.3).
    fn check(&mut self, record: &Record, tagged: bool) -> Amount {
        let is_check = record.memory.is_some() || matches!(record.branch, Some(branch) if branch.kind == BranchKind::FailedCheck);
        if !tagged || !is_check || !record.sample.traits.contains(Traits::ADVANCED_CHECK_FAILED) {
            return Some(0);
        }
        // The address is undefined.
        self.put(32, None);
        self.put(33, Some(0b01 << 14));
        self.locate(record);
        Some(1)
    }

    /// PMD36: where the instruction is (Table 3-22).
    fn locate(&mut self, record: &Record) {
        let traits = record.sample.traits;
        let second = traits.contains(Traits::SECOND_BUNDLE);
        let window = (record.address & !0xF).wrapping_sub(if second { 16 } else { 0 });
        // A bundle has slots 0 to 2.
        let place = window | 1 << 3 | u64::from(second) << 2 | u64::from(record.slot.min(2));
        self.put(36, Some(if traits.contains(Traits::REGISTER_STACK) { 0 } else { place }));
    }
}
