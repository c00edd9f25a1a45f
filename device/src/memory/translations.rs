//! The NPU's translation of what accelerators address, as the nest counts it.

use alloc::boxed::Box;

use vm_pmu_arch::lock::Mutex;

use super::Chip;

/// The places of ATS: requests to translate, entries that were not in the cache, entries that translate nothing, look-ups after a fetch.
const REQUESTS: u32 = 0x2E8;
const MISSES: u32 = 0x2F0;
const NOTHING: u32 = 0x2F8;
const RERUNS: u32 = 0x300;
/// The places of XTS: checkouts that missed, checkouts, invalidations received, shootdowns sent.
const CHECKOUT_MISSES: u32 = 0x308;
const CHECKOUTS: u32 = 0x310;
const INVALIDATIONS: u32 = 0x318;
const SHOOTDOWNS: u32 = 0x320;

/// Entries of the cache of translation control entries, and translations that are checked out. No size is public.
const ENTRIES: usize = 64;
/// Processes that accelerators work for.
const PROCESSES: usize = 16;

/// What a cache of translations is asked by: whose it is, and the page.
type Key = (u32, u64);

/// Entries that replace each other in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entries {
    #[cfg_attr(feature = "serde", serde(with = "vm_pmu_arch::long_array"))]
    entries: [Option<(Key, u64)>; ENTRIES],
    next: usize,
}

impl Entries {
    const EMPTY: Entries = Entries { entries: [None; ENTRIES], next: 0 };

    fn find(&self, key: Key) -> Option<u64> {
        self.entries.iter().flatten().find(|(held, _)| *held == key).map(|(_, value)| *value)
    }

    fn hold(&mut self, key: Key, value: u64) {
        let place = self.next % ENTRIES;
        self.next = (place + 1) % ENTRIES;
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = Some((key, value));
        }
    }

    fn forget(&mut self, is_it: impl Fn(Key) -> bool) {
        self.entries.iter_mut().filter(|entry| entry.is_some_and(|(key, _)| is_it(key))).for_each(|entry| *entry = None);
    }
}

/// What the NPU's translation remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TranslationsState {
    entries: Entries,
    checked_out: Entries,
    /// Processes, and for each a bit for each accelerator that works for it.
    processes: [(u32, u8); PROCESSES],
}

/// The translation that the NPU of a chip does for its accelerators.
///
/// Addresses of devices are translated by translation control entries (TCE) of their table (ATS). The NPU caches 64 of them. An address whose
/// entry it lacks waits for it, and is looked up again when it has come.
///
/// Addresses of processes are translated for the accelerators that work for them (XTS), which check the translations out. The NPU keeps 64
/// checked-out translations. When the processors invalidate a translation, it forgets what it has of it, and sends a shootdown to each
/// accelerator that works for the process.
///
/// ```
/// use vm_pmu::memory::{Chip, Event, Nest, Translations};
///
/// let chip = Chip::new(0, Nest::new(0));
/// let translations = Translations::new();
/// // Page 5 of device 1, twice: the second time its entry is in the cache.
/// for _ in 0..2 {
///     assert_eq!(translations.by_entry(&chip, 1, 5, || Some(0x77)), Some(0x77));
/// }
/// let count = |name| chip.totals().get(Event::named(name).unwrap());
/// assert_eq!([count("PM_ATS_TCE_TRANS_REQ"), count("PM_ATS_TCE_MISS")], [2, 1]);
/// ```
#[derive(Debug)]
pub struct Translations {
    state: Mutex<Box<TranslationsState>>,
}

impl Default for Translations {
    fn default() -> Self {
        Translations::new()
    }
}

impl Translations {
    /// With nothing cached and no process.
    #[must_use]
    pub fn new() -> Translations {
        let state = TranslationsState { entries: Entries::EMPTY, checked_out: Entries::EMPTY, processes: [(0, 0); PROCESSES] };
        Translations { state: Mutex::new(Box::new(state)) }
    }

    /// A device addresses a page: its real page, by the cached entry or by the one that `read` gets from the table; `None` if that translates
    /// nothing.
    pub fn by_entry(&self, chip: &Chip, device: u32, page: u64, read: impl FnOnce() -> Option<u64>) -> Option<u64> {
        chip.add_at(REQUESTS, 1);
        let cached = self.state.lock().entries.find((device, page));
        if cached.is_some() {
            return cached;
        }
        chip.add_at(MISSES, 1);
        let Some(real) = read() else {
            chip.add_at(NOTHING, 1);
            return None;
        };
        self.state.lock().entries.hold((device, page), real);
        chip.add_at(RERUNS, 1);
        Some(real)
    }

    /// The entry of a page, or with `None` every entry of the device, has changed (the host's firmware kills it).
    pub fn forget_entry(&self, device: u32, page: Option<u64>) {
        self.state.lock().entries.forget(|(of, held)| of == device && page.is_none_or(|page| page == held));
    }

    /// Accelerators work for a process, one bit each; none with 0. Returns whether there was room: 16 processes are known.
    pub fn bind(&self, process: u32, accelerators: u8) -> bool {
        let mut state = self.state.lock();
        let processes = &mut state.processes;
        let known = processes.iter().position(|(number, bits)| *number == process && *bits != 0);
        match known.or_else(|| processes.iter().position(|(_, bits)| *bits == 0)).and_then(|place| processes.get_mut(place)) {
            Some(place) => {
                *place = (process, accelerators);
                true
            }
            None => accelerators == 0,
        }
    }

    /// An accelerator asks for the translation of a page of a process: its real page, as checked out or as `walk` finds it.
    pub fn check_out(&self, chip: &Chip, process: u32, page: u64, walk: impl FnOnce() -> Option<u64>) -> Option<u64> {
        chip.add_at(CHECKOUTS, 1);
        let held = self.state.lock().checked_out.find((process, page));
        if held.is_some() {
            return held;
        }
        chip.add_at(CHECKOUT_MISSES, 1);
        let real = walk()?;
        self.state.lock().checked_out.hold((process, page), real);
        Some(real)
    }

    /// A processor invalidates the translation of a page of a process, or with `None` all of the process (tlbie). Returns the accelerators that
    /// a shootdown is sent to, one bit each.
    pub fn invalidate(&self, chip: &Chip, process: u32, page: Option<u64>) -> u8 {
        let mut state = self.state.lock();
        chip.add_at(INVALIDATIONS, 1);
        state.checked_out.forget(|(of, held)| of == process && page.is_none_or(|page| page == held));
        let accelerators = state.processes.iter().filter(|(number, _)| *number == process).fold(0, |all, (_, bits)| all | bits);
        chip.add_at(SHOOTDOWNS, u64::from(accelerators.count_ones()));
        accelerators
    }

    /// What it remembers.
    #[must_use]
    pub fn state(&self) -> Box<TranslationsState> {
        self.state.lock().clone()
    }

    /// Makes it remember `state` instead.
    pub fn restore(&self, state: &TranslationsState) {
        **self.state.lock() = *state;
    }
}

#[cfg(test)]
mod tests {
    use vm_pmu_arch::power9::nest::{Event, Nest};

    use super::*;

    fn chip() -> Chip {
        Chip::new(0, Nest::new(0))
    }

    fn counts<const N: usize>(chip: &Chip, offsets: [u32; N]) -> [u64; N] {
        offsets.map(|offset| chip.totals().get(Event::at(offset).unwrap()))
    }

    const ATS: [u32; 4] = [REQUESTS, MISSES, NOTHING, RERUNS];
    const XTS: [u32; 4] = [CHECKOUTS, CHECKOUT_MISSES, INVALIDATIONS, SHOOTDOWNS];

    #[test]
    fn an_entry_is_fetched_once_and_looked_up_again_when_it_has_come() {
        let (chip, translations) = (chip(), Translations::new());
        for page in [1, 2, 1] {
            assert_eq!(translations.by_entry(&chip, 0, page, || Some(page + 100)), Some(page + 100));
        }
        assert_eq!(translations.by_entry(&chip, 0, 3, || None), None);
        // Four requests; pages 1, 2 and 3 were not there, and 3 has no translation.
        assert_eq!(counts(&chip, ATS), [4, 3, 1, 2]);
    }

    #[test]
    fn a_killed_entry_and_one_that_has_been_replaced_are_fetched_again() {
        let (chip, translations) = (chip(), Translations::new());
        let look = |page| translations.by_entry(&chip, 0, page, || Some(page));
        look(0);
        translations.forget_entry(0, Some(0));
        look(0);
        assert_eq!(counts(&chip, [MISSES]), [2]);
        // Page 0 and 63 more fill the places after the first, which was killed, and the first; the next one replaces page 0.
        assert!((1..65).all(|page| look(page) == Some(page)));
        look(0);
        assert_eq!(counts(&chip, [MISSES]), [2 + 64 + 1]);
    }

    #[test]
    fn an_invalidation_goes_to_the_accelerators_of_its_process() {
        let (chip, translations) = (chip(), Translations::new());
        assert!(translations.bind(7, 0b101));
        for _ in 0..2 {
            translations.check_out(&chip, 7, 0x10, || Some(1));
        }
        assert_eq!(translations.invalidate(&chip, 7, Some(0x10)), 0b101);
        assert_eq!(translations.invalidate(&chip, 8, None), 0);
        translations.check_out(&chip, 7, 0x10, || Some(1));
        // Three checkouts, of which the first and the one after the invalidation missed; two invalidations, one of them for two accelerators.
        assert_eq!(counts(&chip, XTS), [3, 2, 2, 2]);
    }

    #[test]
    fn a_process_that_is_not_bound_takes_no_room() {
        let translations = Translations::new();
        assert!((0..16).all(|process| translations.bind(process, 1)));
        assert!(!translations.bind(16, 1));
        assert!(translations.bind(3, 0) && translations.bind(16, 1));
    }

    #[test]
    fn what_is_cached_is_saved() {
        let (chip, translations, other) = (chip(), Translations::new(), Translations::new());
        translations.by_entry(&chip, 0, 1, || Some(9));
        translations.check_out(&chip, 7, 2, || Some(8));
        translations.bind(7, 1);
        other.restore(&translations.state());
        assert_eq!(other.by_entry(&chip, 0, 1, || None), Some(9));
        assert_eq!(other.check_out(&chip, 7, 2, || None), Some(8));
        assert_eq!(other.invalidate(&chip, 7, None), 1);
    }
}
