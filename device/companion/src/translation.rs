//! Translation buffers and page-table walks.

use alloc::boxed::Box;
use alloc::vec::Vec;

use vm_pmu_arch::feed::DataSource;

use crate::bytes::{Damaged, Reader, Writer};
use crate::profile::{BufferGeometry, Replacement, Translation as Geometry};
use crate::sets::{Changed, Sets};

/// The page-table walk that an embedder reports for an address whose translation no buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
    /// Physical addresses of the table entries that lead to the page, root first.
    pub entries: [u64; 5],
    /// Number of these entries.
    pub levels: u8,
    /// Bits of an address within the page.
    pub page_bits: u8,
    /// Whether the translation survives [`Invalidation::NonGlobal`].
    pub global: bool,
}

impl Walk {
    /// Returns the walk for a page of this size for which no table is read.
    #[must_use]
    pub const fn direct(page_bits: u8) -> Walk {
        Walk { entries: [0; 5], levels: 0, page_bits, global: false }
    }

    /// Returns the physical addresses that a walk reads, root first.
    #[must_use]
    pub fn entries(&self) -> &[u64] {
        self.entries.get(..usize::from(self.levels)).unwrap_or(&self.entries)
    }
}

/// The tables of a guest whose real addresses are translated by the tables of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guest {
    /// The guest real address of the entry of its process table, which a walk reads before the root; `None` if there is none.
    pub process_entry: Option<u64>,
    /// The guest's walk; the addresses of its entries are guest real addresses. For a guest that does not translate, it is
    /// [`direct`](Walk::direct), with a page of all address bits, so that the host's page decides.
    pub walk: Walk,
    /// The guest real address of the virtual address.
    pub real: u64,
}

/// The translation of a guest real address by the tables of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// The host's walk; the addresses of its entries are physical.
    pub walk: Walk,
    /// The physical address of the guest real address.
    pub physical: u64,
}

/// The guest's page tables. They are walked only when no translation buffer holds an address.
///
/// An embedder whose guests have one tree implements only [`walk`](PageTables::walk). One that runs guests under a host reports both trees,
/// by [`nested`](PageTables::nested) and [`host`](PageTables::host): each entry of the guest's tables then needs a translation of its own.
///
/// ```
/// use vm_pmu::companion::{Guest, Host, PageTables, Walk};
///
/// /// Pages of 64 KiB of a guest that has one table, at 1 MiB, in memory that a host maps 4 GiB higher, with pages of 2 MiB.
/// struct Tables;
///
/// impl PageTables for Tables {
///     fn walk(&mut self, _address: u64) -> Walk {
///         Walk::direct(16)
///     }
///
///     fn nested(&mut self, address: u64) -> Option<Guest> {
///         let entries = [0x10_0000 + (address >> 16) * 8, 0, 0, 0, 0];
///         Some(Guest { process_entry: None, walk: Walk { entries, levels: 1, ..Walk::direct(16) }, real: address })
///     }
///
///     fn host(&mut self, real: u64) -> Host {
///         Host { walk: Walk { entries: [0x2000 + (real >> 21) * 8, 0, 0, 0, 0], levels: 1, ..Walk::direct(21) }, physical: real + (4 << 30) }
///     }
/// }
///
/// assert_eq!(Tables.host(Tables.nested(0x1_2345).unwrap().real).physical, 0x1_0001_2345);
/// ```
pub trait PageTables {
    /// Returns the table entries that lead to the page of the virtual address `address`.
    fn walk(&mut self, address: u64) -> Walk;

    /// Returns the guest's tables for the virtual address `address`, if a host translates the guest's real addresses; otherwise
    /// [`walk`](PageTables::walk) reports everything. Called when the first level of translation buffers misses.
    fn nested(&mut self, address: u64) -> Option<Guest> {
        let _ = address;
        None
    }

    /// Returns the host's tables for the guest real address `real`. Called for addresses that [`nested`](PageTables::nested) returned. By
    /// default each address maps to itself, in pages of 4 KiB for which no table is read.
    fn host(&mut self, real: u64) -> Host {
        Host { walk: Walk::direct(12), physical: real }
    }
}

/// Page tables for an embedder without its own: every page has this many bits, and no table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untranslated(pub u8);

impl PageTables for Untranslated {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk::direct(self.0)
    }
}

/// Translations that the processor invalidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invalidation {
    /// All of the core.
    All,
    /// All except those of global pages.
    NonGlobal,
    /// The translation of the page with this virtual address.
    Page(u64),
    /// The host's translation of the page with this guest real address, and everything derived from the host's translations.
    HostPage(u64),
}

/// Flags of an entry.
const PRESENT: u64 = 1;
/// The entry is a piece of a larger page: of less than 1 GiB, of less than 16 GiB, or of more.
const PIECE: u64 = 6;
const PIECE_BELOW_1G: u64 = 2;
const PIECE_BELOW_16G: u64 = 4;
const PIECE_OF_16G: u64 = 6;
const GLOBAL: u64 = 8;

/// A bit of the thread number in the key of a translation: set for guest real addresses.
const OF_HOST: u8 = 0x20;
/// A bit in the key of a page-table entry: set for a guest's tables.
const OF_GUEST: u64 = 1 << 56;

/// Bits of an address within the largest page that is held in pieces. Invalidating a page invalidates all pieces within this distance.
const LARGEST_CUT: u32 = 30;

/// The page of a translation that missed the first level: the binary logarithm of its size, or 0, and the source of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Page {
    pub(crate) bits: u8,
    pub(crate) source: DataSource,
    pub(crate) prefetched: bool,
}

/// Returns the flags of a piece of a page of this size.
fn piece_of(page_bits: u8) -> u64 {
    match page_bits {
        ..30 => PIECE_BELOW_1G,
        30..34 => PIECE_BELOW_16G,
        34.. => PIECE_OF_16G,
    }
}

/// Returns the size of the page whose translation is held in `word` with pages of `bits`.
fn whole(word: u64, bits: u8) -> u8 {
    match word & PIECE {
        PIECE_BELOW_1G if bits < 21 => 21,
        PIECE_BELOW_1G => 24,
        PIECE_BELOW_16G => 30,
        PIECE_OF_16G => 34,
        _ => bits,
    }
}

#[derive(Clone, Debug)]
struct TranslationBuffer {
    sets: Sets,
    page_bits: &'static [u8],
    pieces: bool,
}

impl TranslationBuffer {
    fn new(geometry: &BufferGeometry) -> TranslationBuffer {
        let sets = Sets::new(u64::from(geometry.entries), geometry.ways, Replacement::LeastRecentlyUsed, 1);
        TranslationBuffer { sets, page_bits: geometry.page_bits, pieces: geometry.pieces }
    }

    /// Returns the set index and the key of `address` in pages of `bits`, where `size` is the number of the page size.
    fn place(address: u64, bits: u8, size: usize, thread: u8) -> (u64, u64) {
        let page = address >> (bits & 63);
        (page, (page & ((1 << 52) - 1)) << 8 | u64::from(thread & 0x3F) << 2 | size as u64 & 3)
    }

    #[inline]
    fn touch(&mut self, address: u64, thread: u8) -> Option<(Walk, u8)> {
        self.page_bits.iter().enumerate().find_map(|(size, bits)| {
            let (index, key) = TranslationBuffer::place(address, *bits, size, thread);
            self.sets.touch(index, key).map(|word| (Walk { global: word & GLOBAL != 0, ..Walk::direct(*bits) }, whole(word, *bits)))
        })
    }

    /// Returns the set and the key of a translation, and marks it as used.
    #[inline]
    fn find(&mut self, address: u64, thread: u8) -> Option<(u64, u64)> {
        self.page_bits.iter().enumerate().find_map(|(size, bits)| {
            let (index, key) = TranslationBuffer::place(address, *bits, size, thread);
            self.sets.touch(index, key).map(|_| (self.sets.number(index), key))
        })
    }

    /// Returns the size in which it holds a page: the page's own, or the largest piece.
    fn fitting(&self, page_bits: u8) -> Option<(usize, u8)> {
        let fits = |bits: u8| bits == page_bits || self.pieces && bits < page_bits;
        self.page_bits.iter().copied().enumerate().rev().find(|(_, bits)| fits(*bits))
    }

    /// Adds the translation of `address`, if it holds pages of that size. Returns the number and the size of the page whose translation it
    /// replaces, if it replaces one.
    fn fill(&mut self, address: u64, thread: u8, walk: &Walk) -> Option<(u64, u8)> {
        let (size, bits) = self.fitting(walk.page_bits)?;
        let (index, key) = TranslationBuffer::place(address, bits, size, thread);
        let global = if walk.global { GLOBAL } else { 0 };
        let piece = if bits < walk.page_bits { piece_of(walk.page_bits) } else { 0 };
        let replaced = self.sets.put(index, key << 4 | PRESENT | piece | global);
        let bits = self.page_bits.get((replaced >> 4 & 3) as usize)?;
        (replaced != 0).then_some((replaced >> 12, *bits))
    }

    fn forget(&mut self, what: Invalidation, thread: u8) {
        match what {
            Invalidation::All => self.sets.discard(|_| true),
            Invalidation::NonGlobal => self.sets.discard(|word| word & GLOBAL == 0),
            Invalidation::Page(address) | Invalidation::HostPage(address) => {
                for (size, bits) in self.page_bits.iter().enumerate() {
                    let (index, key) = TranslationBuffer::place(address, *bits, size, thread);
                    self.sets.remove(index, key);
                }
                let sizes = self.page_bits;
                self.sets.discard(|word| {
                    let (page, size) = (word >> 12, (word >> 4 & 3) as usize);
                    let near = sizes.get(size).is_some_and(|bits| {
                        page >> LARGEST_CUT.saturating_sub(u32::from(*bits)) == address >> LARGEST_CUT & ((1 << 52) - 1)
                    });
                    word & PIECE != 0 && near && (word >> 6) as u8 & OF_HOST == thread & OF_HOST
                });
            }
        }
    }
}

/// One level: parallel buffers, for different page sizes.
#[derive(Clone, Debug)]
struct BufferLevel {
    buffers: Box<[TranslationBuffer]>,
    /// The buffer that hit last, which is tried first. A translation is in only one of them, so the result is the same.
    last: usize,
    /// The bits of an address within the smallest page.
    bits: u8,
    /// The last two translations found in the buffer that hit last, until anything but the order of use changes.
    recent: [Option<Recent>; 2],
    /// Whether anything else has changed since this was last read, and the smallest pages whose translations were lost.
    changed: bool,
    lost: Changed,
}

/// A translation that was found: the smallest page that was asked for, its thread, its set, and its key. The most recent one is the first
/// of its set. The one before is another first of its set, or the second if both are in the same set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recent {
    page: u64,
    thread: u8,
    set: u64,
    key: u64,
}

impl Recent {
    #[inline]
    fn is(this: Option<Recent>, page: u64, thread: u8) -> bool {
        this.is_some_and(|this| this.page == page && this.thread == thread)
    }
}

impl BufferLevel {
    fn new(geometry: &[BufferGeometry]) -> BufferLevel {
        let bits = geometry.iter().flat_map(|buffer| buffer.page_bits).copied().min().unwrap_or(0).min(63);
        BufferLevel {
            buffers: geometry.iter().map(TranslationBuffer::new).collect::<Vec<_>>().into_boxed_slice(),
            last: 0,
            bits,
            recent: [None; 2],
            changed: false,
            lost: Changed::NOTHING,
        }
    }

    /// Whether it has a translation. Marks it as used.
    #[inline]
    fn finds(&mut self, address: u64, thread: u8) -> bool {
        Recent::is(self.recent[0], address >> self.bits, thread) || self.find(address, thread)
    }

    #[inline(never)]
    fn find(&mut self, address: u64, thread: u8) -> bool {
        let page = address >> self.bits;
        let [last, before] = self.recent;
        if let (Some(first), Some(second)) = (last, before)
            && Recent::is(before, page, thread)
        {
            if first.set == second.set
                && let Some(buffer) = self.buffers.get_mut(self.last)
            {
                buffer.sets.swap_first(second.set);
            }
            self.recent = [before, last];
            return true;
        }
        let buffer = self.last;
        let Some((set, key)) = self.search(|buffer| buffer.find(address, thread)) else { return false };
        // One translation may cover several of the smallest pages.
        let other = if last.is_some_and(|last| last.key == key) { before } else { last };
        self.recent = [Some(Recent { page, thread, set, key }), other.filter(|_| self.last == buffer)];
        true
    }

    #[inline]
    fn touch(&mut self, address: u64, thread: u8) -> Option<(Walk, u8)> {
        self.search(|buffer| buffer.touch(address, thread))
    }

    /// Returns the first result of `find` among the buffers.
    #[inline]
    fn search<T>(&mut self, find: impl Fn(&mut TranslationBuffer) -> Option<T>) -> Option<T> {
        if let Some(found) = self.buffers.get_mut(self.last).and_then(&find) {
            return Some(found);
        }
        let last = self.last;
        let others = self.buffers.iter_mut().enumerate().filter(|(number, _)| *number != last);
        let (number, found) = others.into_iter().find_map(|(number, buffer)| find(buffer).map(|found| (number, found)))?;
        self.last = number;
        Some(found)
    }

    /// Puts a translation into the buffer with the largest pages that fit. Returns whether there is one.
    fn fill(&mut self, address: u64, thread: u8, walk: &Walk) -> bool {
        self.recent = [None; 2];
        self.changed = true;
        let best = |buffer: &TranslationBuffer| buffer.fitting(walk.page_bits).map(|(_, bits)| bits);
        let most = self.buffers.iter().filter_map(best).max();
        let Some(buffer) = self.buffers.iter_mut().find(|buffer| most.is_some() && best(buffer) == most) else { return false };
        match buffer.fill(address, thread, walk) {
            Some((page, bits)) if bits == self.bits => self.lost.push(page),
            Some(_) => self.lost = Changed::TOO_MUCH,
            None => {}
        }
        true
    }
}

/// The translation buffers of one core.
#[derive(Clone, Debug)]
pub(crate) struct Translations {
    first: [BufferLevel; 2],
    second: [BufferLevel; 2],
    shared_second: bool,
    upper: Option<Sets>,
}

/// The indices of the sides: translations of code, and of data.
pub(crate) const CODE: usize = 0;
pub(crate) const DATA: usize = 1;

impl Translations {
    pub(crate) fn new(geometry: &Geometry) -> Translations {
        let upper = (geometry.walk_entries > 0)
            .then(|| Sets::new(u64::from(geometry.walk_entries), geometry.walk_entries, Replacement::LeastRecentlyUsed, 1));
        Translations {
            first: [BufferLevel::new(geometry.instruction[0]), BufferLevel::new(geometry.data[0])],
            second: [BufferLevel::new(geometry.instruction[1]), BufferLevel::new(geometry.data[1])],
            shared_second: geometry.shared_second,
            upper,
        }
    }

    fn second(&mut self, side: usize) -> Option<&mut BufferLevel> {
        let side = if self.shared_second { DATA } else { side };
        self.second.get_mut(side)
    }

    /// Whether the first level has a translation. Marks it as used.
    #[inline]
    pub(crate) fn find_first(&mut self, side: usize, address: u64, thread: u8) -> bool {
        self.first.get_mut(side).is_some_and(|level| level.finds(address, thread))
    }

    /// Returns the address bits within the smallest page that the first level of a side supports.
    pub(crate) fn first_bits(&self, side: usize) -> u8 {
        self.first.get(side).map_or(0, |level| level.bits)
    }

    /// Whether the first-level translations of a side have changed since this was last called. If so, returns the smallest pages whose
    /// translations were lost.
    pub(crate) fn take_changed(&mut self, side: usize) -> Option<Changed> {
        let level = self.first.get_mut(side).filter(|level| level.changed)?;
        level.changed = false;
        Some(core::mem::replace(&mut level.lost, Changed::NOTHING))
    }

    /// Looks a translation up in the second level. Also returns the binary logarithm of the size of the whole page. The caller puts the
    /// translation into the first level by [`fill_first`](Self::fill_first).
    #[inline]
    pub(crate) fn find_second(&mut self, side: usize, address: u64, thread: u8) -> Option<(Walk, u8)> {
        self.second(side)?.touch(address, thread)
    }

    /// Looks up the translation of a guest real address in the second level.
    pub(crate) fn find_host(&mut self, real: u64, thread: u8) -> Option<(Walk, u8)> {
        self.find_second(DATA, real, thread | OF_HOST)
    }

    /// Puts a translation into the first level. Returns whether that holds pages of this size.
    pub(crate) fn fill_first(&mut self, side: usize, address: u64, thread: u8, walk: &Walk) -> bool {
        self.first.get_mut(side).is_some_and(|level| level.fill(address, thread, walk))
    }

    pub(crate) fn fill_second(&mut self, side: usize, address: u64, thread: u8, walk: &Walk) {
        if let Some(level) = self.second(side) {
            level.fill(address, thread, walk);
        }
    }

    pub(crate) fn fill_host(&mut self, real: u64, thread: u8, walk: &Walk) {
        self.fill_second(DATA, real, thread | OF_HOST, walk);
    }

    /// Puts a translation into both levels. Returns whether the first holds pages of this size.
    pub(crate) fn fill(&mut self, side: usize, address: u64, thread: u8, walk: &Walk) -> bool {
        self.fill_second(side, address, thread, walk);
        self.fill_first(side, address, thread, walk)
    }

    /// Returns the key of a page-table entry in the page-walk cache. Entries of a guest have guest real addresses.
    fn key(entry: u64, of_guest: bool) -> u64 {
        entry >> 3 & (OF_GUEST - 1) | if of_guest { OF_GUEST } else { 0 }
    }

    /// Returns the index of the first entry of a walk that must be read; those above it are cached. Caches the upper entries of this walk.
    pub(crate) fn shorten(&mut self, walk: &Walk, of_guest: bool) -> usize {
        let Some(upper) = self.upper.as_mut() else { return 0 };
        let above = walk.entries().split_last().map_or(&[][..], |(_, above)| above);
        let known = |level: &usize| above.get(*level).is_some_and(|entry| upper.touch(0, Self::key(*entry, of_guest)).is_some());
        let begin = (0..above.len()).rev().find(known).map_or(0, |level| level + 1);
        for entry in above.iter().skip(begin) {
            upper.insert(0, Self::key(*entry, of_guest) << 4 | PRESENT);
        }
        begin
    }

    /// Caches an entry of a table that leads to a tree. Returns whether it was cached already.
    pub(crate) fn learn(&mut self, entry: u64, of_guest: bool) -> bool {
        let Some(upper) = self.upper.as_mut() else { return false };
        let key = Self::key(entry, of_guest);
        let known = upper.touch(0, key).is_some();
        if !known {
            upper.insert(0, key << 4 | PRESENT);
        }
        known
    }

    pub(crate) fn forget(&mut self, what: Invalidation, thread: u8) {
        let of_host = matches!(what, Invalidation::HostPage(_));
        for level in &mut self.first {
            // The first level holds the combined translations of both trees.
            let what = if of_host { Invalidation::All } else { what };
            level.recent = [None; 2];
            (level.changed, level.lost) = (true, Changed::TOO_MUCH);
            level.buffers.iter_mut().for_each(|buffer| buffer.forget(what, thread));
        }
        for level in &mut self.second {
            let thread = if of_host { thread | OF_HOST } else { thread };
            level.buffers.iter_mut().for_each(|buffer| buffer.forget(what, thread));
        }
        if let Some(upper) = self.upper.as_mut() {
            upper.discard(|_| true);
        }
    }

    fn sets(&self) -> impl Iterator<Item = &Sets> {
        self.first.iter().chain(&self.second).flat_map(|level| level.buffers.iter().map(|buffer| &buffer.sets)).chain(&self.upper)
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        self.sets().for_each(|sets| sets.save(writer));
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.first.iter_mut().for_each(|level| (level.recent, level.changed, level.lost) = ([None; 2], true, Changed::TOO_MUCH));
        let levels = self.first.iter_mut().chain(&mut self.second);
        for sets in levels.flat_map(|level| level.buffers.iter_mut().map(|buffer| &mut buffer.sets)).chain(&mut self.upper) {
            sets.load(reader)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts;

    /// Returns what the buffers find and hold after a stream of 20,000 accesses. Without `remembers`, they look up every page instead of
    /// reusing the last one.
    fn stream(geometry: &Geometry, remembers: bool) -> (Vec<bool>, Vec<u8>) {
        let (mut translations, mut state) = (Translations::new(geometry), 9u64);
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut found = Vec::new();
        let mut address = 0;
        for _ in 0..20_000 {
            if draw(3) == 0 {
                let bits: u8 = [12, 16, 21, 30][draw(4) as usize];
                address = u64::from(bits) << 40 | draw(90) << bits;
            }
            let (side, thread, bits) = (draw(2) as usize, draw(2) as u8, (address >> 40) as u8);
            let held = translations.find_first(side, address + draw(1 << 13), thread);
            found.push(held);
            match draw(200) {
                0 => translations.forget(Invalidation::Page(address), thread),
                1 => translations.forget(Invalidation::NonGlobal, thread),
                _ if !held => _ = translations.fill(side, address, thread, &Walk { global: draw(4) == 0, ..Walk::direct(bits) }),
                _ => {}
            }
            if !remembers {
                translations.first.iter_mut().for_each(|level| level.recent = [None; 2]);
            }
        }
        let mut writer = Writer(Vec::new());
        translations.save(&mut writer);
        (found, writer.0)
    }

    #[test]
    fn the_page_that_was_found_last_is_found_again_as_if_it_were_looked_up() {
        for profile in parts::ALL {
            assert!(stream(&profile.translation, true) == stream(&profile.translation, false), "{}", profile.name);
        }
    }
}
