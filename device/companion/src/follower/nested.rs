//! Nested translation: a guest's tables, whose entries lie at guest real addresses, under the tables of its host.

use alloc::boxed::Box;

use vm_pmu_arch::feed::{GuestLevel, NestedStep, NestedWalk, PageSize, Signal, Translation};

use crate::caches::{Ask, Level};
use crate::follower::Follower;
use crate::signals;
use crate::translation::{CODE, Guest, PageTables, Translations, Walk};

/// Number of steps that a follower keeps between two deliveries: an instruction whose code, and each of two accesses, crosses pages makes
/// six translations, of at most six steps each.
pub(crate) const MOST: usize = 48;

/// The levels of the guest's tables, root first.
const LEVELS: [GuestLevel; 4] = [GuestLevel::Level1, GuestLevel::Level2, GuestLevel::Level3, GuestLevel::Level4];

/// The steps of nested translations since they were last reported.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// Each step with the number of what needed the translation: 0 for the code of the instruction, its accesses from 1 on.
    list: [(NestedStep, u8); MOST],
    count: usize,
    /// Number of steps whose walker is set.
    settled: usize,
    lost: u64,
}

impl Steps {
    pub(super) fn new() -> Box<Steps> {
        Box::new(Steps { list: [(NestedStep::Walk(NestedWalk::of(GuestLevel::Final)), 0); MOST], count: 0, settled: 0, lost: 0 })
    }

    fn push(&mut self, step: NestedStep, place: u8) {
        match self.list.get_mut(self.count) {
            Some(cell) => {
                *cell = (step, place);
                self.count += 1;
            }
            None => self.lost = self.lost.saturating_add(1),
        }
    }

    /// Sets the walkers of the steps of an executed instruction. Bit n of `second` says that walker 1 had the walk that place n needed.
    pub(super) fn settle(&mut self, second: u32) {
        for (step, place) in self.list.iter_mut().take(self.count).skip(self.settled) {
            if let NestedStep::Walk(walk) = step {
                walk.walker = (second >> (*place & 31) & 1) as u8;
            }
        }
        self.settled = self.count;
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &NestedStep> {
        self.list.iter().take(self.count).map(|(step, _)| step)
    }

    pub(super) fn clear(&mut self) {
        (self.count, self.settled) = (0, 0);
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

impl Follower<'_> {
    /// Calls `act` with the core's translation buffers.
    pub(super) fn buffers<T>(&mut self, act: impl FnOnce(&mut Translations, u8) -> T) -> Option<T> {
        let home = self.home?;
        let mut cluster = home.lock_for(self.core, self.finder);
        let done = cluster.cores.get_mut(self.core).map(|caches| act(&mut caches.translations, self.thread));
        home.settle(&mut cluster, self.core, &mut self.found);
        done
    }

    fn step(&mut self, step: NestedStep) {
        let place = self.pipeline().map_or(0, |pipeline| pipeline.accesses());
        if let Some(steps) = self.nested.as_mut().filter(|_| self.demand.records().nested) {
            steps.push(step, place);
        }
    }

    /// Translates `address`, which missed the first level. Returns where the translation was found, and its cost in cycles.
    pub(super) fn translate_nested(
        &mut self,
        side: usize,
        address: u64,
        guest: &Guest,
        tables: &mut impl PageTables,
    ) -> (Translation, u32) {
        let translates = guest.walk.levels != 0;
        let found = self.buffers(|buffers, thread| {
            let page = buffers.find_second(side, address, thread).map(|(_, bits)| bits);
            let page = if translates { page } else { Some(guest.walk.page_bits) };
            (page, page.and_then(|_| buffers.find_host(guest.real, thread)))
        });
        let (page, host) = found.unwrap_or_default();
        if let Some(page) = page.filter(|_| translates) {
            self.step(NestedStep::First { guest: PageSize::of_bits(page), host: host.map(|(_, bits)| PageSize::of_bits(bits)) });
        }
        if let (Some(page), Some((_, host))) = (page, host) {
            let bits = page.min(host);
            self.page.bits = bits;
            self.count_translation(side, bits, false);
            let held = Walk { page_bits: bits, ..guest.walk };
            self.buffers(|buffers, thread| buffers.fill_first(side, address, thread, &held));
            return (Translation::Hit(2), u32::from(self.system.profile.costs.second_translation));
        }
        let (mut cost, mut bits) = (0, page.unwrap_or(guest.walk.page_bits));
        if page.is_none() {
            cost += self.walk_guest(side, guest, tables);
        }
        let last = self.translate_real(side, GuestLevel::Final, guest.real, page.is_none(), tables);
        bits = bits.min(last.bits);
        // The time that a walk takes beside its reads comes at its end.
        let beside = u32::from(self.system.profile.costs.walk);
        let mut walk = last.walk;
        let phases = walk.cycles.get_mut(..NestedWalk::ENTRY).unwrap_or(&mut []);
        let ends = phases.iter().rposition(|cycles| *cycles != 0).unwrap_or(NestedWalk::LOOK_UP);
        if let Some(cycles) = phases.get_mut(ends) {
            *cycles += beside;
        }
        cost += walk.cycles.iter().sum::<u32>();
        self.step(NestedStep::Walk(walk));
        self.page.bits = bits;
        self.count_translation(side, bits, true);
        let (whole, held) = (guest.walk, Walk { page_bits: bits, ..guest.walk });
        self.buffers(|buffers, thread| {
            buffers.fill_first(side, address, thread, &held);
            if translates {
                buffers.fill_second(side, address, thread, &whole);
            }
        });
        (Translation::Walk, cost)
    }

    /// Reads the guest's tables from the first entry that the page-walk cache lacks.
    fn walk_guest(&mut self, side: usize, guest: &Guest, tables: &mut impl PageTables) -> u32 {
        let begin = self.buffers(|buffers, _| buffers.shorten(&guest.walk, true)).unwrap_or(0);
        self.tally.add(Signal::WalkCacheMisses, u64::from(begin == 0 && guest.walk.levels > 1));
        if let Some(hit) = begin.checked_sub(1).and_then(|level| signals::WALK_CACHE_HITS.get(level)) {
            self.tally.add(*hit, 1);
        }
        let mut cost = 0;
        if begin == 0
            && let Some(entry) = guest.process_entry
            && self.buffers(|buffers, _| buffers.learn(entry, true)) == Some(false)
        {
            cost += self.read_guest(side, GuestLevel::Process, entry, None, tables);
        }
        let last = guest.walk.entries().len().saturating_sub(1);
        for (depth, entry) in guest.walk.entries().iter().enumerate().skip(begin) {
            let level = LEVELS.get(depth).copied().unwrap_or(GuestLevel::Level4);
            cost += self.read_guest(side, level, *entry, Some((depth, depth == last)), tables);
        }
        cost
    }

    /// Reads an entry of the guest's tables, once its address is translated.
    fn read_guest(
        &mut self,
        side: usize,
        level: GuestLevel,
        entry: u64,
        place: Option<(usize, bool)>,
        tables: &mut impl PageTables,
    ) -> u32 {
        let mut translated = self.translate_real(side, level, entry, true, tables);
        let latency = self.read_entry(side, place, translated.physical);
        if let Some(cycles) = translated.walk.cycles.get_mut(NestedWalk::ENTRY) {
            *cycles = latency;
        }
        self.step(NestedStep::Walk(translated.walk));
        translated.walk.cycles.iter().sum()
    }

    /// Translates a guest real address in a walker, which looks it up first unless the access did so.
    fn translate_real(&mut self, side: usize, level: GuestLevel, real: u64, looks_up: bool, tables: &mut impl PageTables) -> Translated {
        let mut walk = NestedWalk { looked_up: looks_up, ..NestedWalk::of(level) };
        let told = tables.host(real);
        let mut bits = told.walk.page_bits;
        if looks_up {
            walk.cycles[NestedWalk::LOOK_UP] = u32::from(self.system.profile.costs.second_translation);
            if let Some((_, whole)) = self.buffers(|buffers, thread| buffers.find_host(real, thread)).flatten() {
                walk.host = Some(PageSize::of_bits(whole));
                bits = whole;
            }
        }
        if walk.host.is_none() {
            let begin = self.buffers(|buffers, _| buffers.shorten(&told.walk, false)).unwrap_or(0);
            walk.known = begin as u8;
            let last = told.walk.entries().len().saturating_sub(1);
            for (depth, entry) in told.walk.entries().iter().enumerate().skip(begin) {
                let latency = self.read_entry(side, Some((depth, depth == last)), *entry);
                if let Some(cycles) = walk.cycles.get_mut(1 + depth.min(3)) {
                    *cycles += latency;
                }
            }
            self.buffers(|buffers, thread| buffers.fill_host(real, thread, &told.walk));
        }
        Translated { physical: told.physical, bits, walk }
    }

    /// Counts an access that missed the first level, and whether the tables were `walked` for it.
    pub(super) fn count_translation(&mut self, side: usize, bits: u8, walked: bool) {
        let code = side == CODE;
        signals::count_page(code, bits, walked, &mut self.tally);
        let counted: &[Signal] = match (code, walked) {
            (true, true) => {
                &[Signal::InstructionTlbL2Misses, Signal::InstructionTlbMissesAll, Signal::InstructionWalks, Signal::InstructionWalkFills]
            }
            (false, true) => &[Signal::DataTlbL2Misses, Signal::DataTlbMissesAll, Signal::DataWalks, Signal::DataWalkFills],
            (true, false) => &[Signal::InstructionTlbL1Misses, Signal::InstructionTlbMissesAll, Signal::TranslationL2Hits],
            (false, false) => &[Signal::DataTlbL1Misses, Signal::DataTlbMissesAll, Signal::TranslationL2Hits],
        };
        counted.iter().for_each(|signal| self.tally.add(*signal, 1));
    }

    /// Reads a page-table entry. `place` is its depth below the root and whether it is the last, if it is part of a tree. Returns the
    /// cycles.
    pub(super) fn read_entry(&mut self, side: usize, place: Option<(usize, bool)>, physical: u64) -> u32 {
        let line_bits = self.system.profile.caches.line_bits.min(63);
        let (level, source, latency) = self.ask(Ask::Walk, physical >> line_bits);
        self.page.source = signals::count_read(side == CODE, place, level, source, &mut self.tally);
        self.page.prefetched = core::mem::take(&mut self.prefetched);
        if self.page.prefetched
            && let Some((_, last)) = place
        {
            let signal = match (side, level) {
                (CODE, Some(Level::Third)) => Some(Signal::InstructionWalksFromL3Prefetched),
                (CODE, _) => Some(Signal::InstructionWalksFromL2Prefetched),
                (_, Some(Level::Third)) => last.then_some(Signal::DataWalkLeavesFromL3Prefetched),
                (_, _) => last.then_some(Signal::DataWalkLeavesFromL2Prefetched),
            };
            signal.into_iter().for_each(|signal| self.tally.add(signal, 1));
        }
        latency
    }
}

struct Translated {
    physical: u64,
    /// The binary logarithm of the size of the host's page.
    bits: u8,
    walk: NestedWalk,
}
