//! Code fetches and address translations of a follower.

use vm_pmu_arch::feed::{Fetch, FetchSource, Signal, Translation};

use crate::block::Run;
use crate::caches::hit_log::Local;
use crate::caches::{Ask, Level};
use crate::follower::fast_path::OutcomeContent;
use crate::follower::{Follower, SMALLEST_PAGE};
use crate::instruction::Instruction;
use crate::pipeline::Source;
use crate::signals;
use crate::translation::{CODE, Page, PageTables};

/// The piece of code that the fetcher read last, unless a transfer discarded it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodePiece {
    /// Bits of an address within a piece, 63 at most.
    bits: u32,
    begin: u64,
    /// One more than its size in bytes; 0 if it was discarded.
    reach: u64,
}

impl CodePiece {
    /// Returns no piece, of code whose pieces have this many bits of an address.
    pub(super) const fn none(bits: u32) -> CodePiece {
        CodePiece { bits, begin: 0, reach: 0 }
    }

    /// Whether so many bytes of code from an address on lie in it.
    #[inline]
    fn has(&self, address: u64, length: u64) -> bool {
        address.wrapping_sub(self.begin) < self.reach.saturating_sub(length)
    }

    #[inline]
    pub(super) fn number(&self) -> Option<u64> {
        (self.reach != 0).then_some(self.begin >> self.bits)
    }

    #[inline]
    pub(super) fn enter(&mut self, address: u64) {
        self.set(Some(address >> self.bits));
    }

    #[inline]
    pub(super) fn set(&mut self, number: Option<u64>) {
        self.begin = number.unwrap_or_default() << self.bits;
        self.reach = number.map_or(0, |_| (1 << self.bits) + 1);
    }
}

impl Follower<'_> {
    /// Whether the fetcher reads anything for an instruction: it does not lie in the piece that was read last.
    #[inline]
    pub(super) fn is_fetched(&self, instruction: &Instruction<'_>) -> bool {
        !self.piece.has(instruction.address, u64::from(instruction.length)) && instruction.length != 0
    }

    /// Whether code of at least one byte lies in a line, given with the number of its virtual page.
    #[inline]
    fn lies_in(&self, Run { address, physical, length }: Run, (line, page): (u64, u64)) -> bool {
        let line_bits = self.system.profile.caches.line_bits.min(63);
        let more = length - 1;
        let lines = physical >> line_bits ^ line | physical.wrapping_add(more) >> line_bits ^ line;
        let pages = address >> SMALLEST_PAGE ^ page | address.wrapping_add(more) >> SMALLEST_PAGE ^ page;
        lines | pages == 0
    }

    /// Whether the fetcher reads nothing but pieces of the line that is being executed for instructions that only compute. If so, it has
    /// read them.
    #[inline]
    pub(super) fn passes(&mut self, run: Run) -> bool {
        if run.length == 0 || self.piece.has(run.address, run.length) {
            return true;
        }
        let passes = self.nothing_arrives() && self.line.is_some_and(|line| self.lies_in(run, line));
        if passes {
            self.fetch_pieces(run.address, run.address.wrapping_add(run.length - 1));
        }
        passes
    }

    /// Returns the lines that an instruction which has a length begins and ends in, with the number of their virtual page, if the fetcher finds
    /// both: each is being executed, or is in the first level with its translation. While time is kept, both must be the same.
    #[inline]
    pub(super) fn finds_lines(&mut self, instruction: &Instruction<'_>) -> Option<[(u64, u64); 2]> {
        let line_bits = self.system.profile.caches.line_bits.min(63);
        let Instruction { address, physical, .. } = *instruction;
        let more = u64::from(instruction.length) - 1;
        let place = |more: u64| (physical.wrapping_add(more) >> line_bits, address.wrapping_add(more) >> SMALLEST_PAGE);
        let (begins, ends) = (place(0), place(more));
        let is_usual = begins == ends || begins.1 == ends.1 && !self.pipelined;
        let finds = instruction.next_page.is_none()
            && is_usual
            && (self.line == Some(begins) || self.finds_code(address, begins.0))
            && (begins == ends || self.finds_code(address.wrapping_add(more), ends.0));
        finds.then_some([begins, ends])
    }

    /// Whether the first level has a line of code, and the translation of an address in it.
    #[inline]
    fn finds_code(&mut self, address: u64, line: u64) -> bool {
        self.local.is_some_and(|local| self.found.code_again(local, line, address) || self.looks_up_code(local, line, address))
    }

    /// Looks up a line of code with the lock of the cluster.
    #[inline(never)]
    fn looks_up_code(&mut self, local: &Local, line: u64, address: u64) -> bool {
        let Some(cluster) = self.home else { return false };
        let mut caches = cluster.lock_for(self.core, self.finder);
        let hits = caches.hits_code(self.core, line, (self.thread, address));
        if hits {
            self.found.find_code(local.changes(), address, line);
        }
        hits
    }

    /// Reads the pieces of an instruction that the fetcher has found in these lines.
    #[inline]
    pub(super) fn fetch_found(&mut self, instruction: &Instruction<'_>, [begins, ends]: [(u64, u64); 2]) {
        self.fetch_pieces_of(instruction);
        self.go_on_in(begins);
        self.go_on_in(ends);
    }

    /// Goes on in a line that has been found.
    #[inline]
    fn go_on_in(&mut self, line: (u64, u64)) {
        if self.line != Some(line) {
            self.line = Some(line);
            self.tally.add(Signal::InstructionCacheHits, 1);
            self.outcome.fetch_source = FetchSource::L1;
            self.told = OutcomeContent::Other;
            if self.system.profile.pipeline.is_ia64()
                && let Some(pipeline) = self.pipeline()
            {
                pipeline.looks_up(line.0);
            }
        }
    }

    /// Whether an instruction that has a length lies in the line that is being executed, and nothing pending arrives with it.
    #[inline]
    pub(super) fn goes_on_in_line(&self, instruction: &Instruction<'_>) -> bool {
        let Some(line) = self.line else { return false };
        let Instruction { address, physical, length, next_page, .. } = *instruction;
        let run = Run { address, physical, length: u64::from(length) };
        next_page.is_none() && self.lies_in(run, line) && self.is_quiet(instruction)
    }

    /// Whether `goes_on_in_line` holds. If so, the fetcher reads the pieces of the instruction.
    #[inline(never)]
    pub(super) fn goes_on_in_another_piece(&mut self, instruction: &Instruction<'_>) -> bool {
        let goes_on = self.goes_on_in_line(instruction);
        if goes_on {
            self.fetch_pieces_of(instruction);
        }
        goes_on
    }

    /// Reads the pieces of an instruction that lies in one page.
    #[inline]
    pub(super) fn fetch_pieces_of(&mut self, instruction: &Instruction<'_>) {
        let end = instruction.address.wrapping_add(u64::from(instruction.length) - 1);
        self.fetch_pieces(instruction.address, end);
    }

    /// Reads the pieces between two bytes of an instruction.
    #[inline]
    pub(super) fn fetch_pieces(&mut self, address: u64, end: u64) {
        let (first, last) = (address >> self.piece.bits, end >> self.piece.bits);
        let fetched = u64::from(self.piece.number() != Some(first)) + u64::from(first != last);
        self.piece.set(Some(last));
        self.tally.add(Signal::InstructionFetches, fetched);
    }

    pub(super) fn fetch(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        let caches = &self.system.profile.caches;
        if self.is_uncacheable(instruction) {
            return self.fetch_uncacheable(instruction, tables);
        }
        let end = instruction.address.wrapping_add(u64::from(instruction.length) - 1);
        self.fetch_pieces(instruction.address, end);
        let line_bits = caches.line_bits.min(63);
        let physical_end = match instruction.next_page {
            Some(next) => next | end & ((1 << SMALLEST_PAGE) - 1),
            None => instruction.physical.wrapping_add(u64::from(instruction.length) - 1),
        };
        // One line can be code of several pages, each with its own translation.
        let place = |address: u64, physical: u64| (physical >> line_bits, address >> SMALLEST_PAGE);
        let (begins, ends) = (place(instruction.address, instruction.physical), place(end, physical_end));
        if self.line != Some(begins) {
            self.fetch_line(begins, instruction.address, tables);
        }
        if begins != ends {
            self.fetch_line(ends, end, tables);
        }
        self.begin_stream(ends.0);
    }

    fn fetch_line(&mut self, (line, page): (u64, u64), address: u64, tables: &mut impl PageTables) {
        let costs = self.system.profile.costs;
        let (translation, cost) = self.translate(CODE, address, tables);
        // It was requested when the line before it began.
        let ahead = self.line.is_some_and(|(before, _)| before.checked_add(1) == Some(line));
        let kept = self.requests.all().len();
        let (level, source, latency) = self.ask(Ask::Fetch, line);
        if ahead {
            self.requests.fetched_ahead(kept);
        }
        let missed = level != Some(Level::First);
        if core::mem::take(&mut self.prefetched) {
            let third = level == Some(Level::Third);
            self.tally.add(if third { Signal::FetchesFromL3Prefetched } else { Signal::FetchesFromL2Prefetched }, 1);
        }
        if matches!(self.outcome.fetch_source, FetchSource::Unknown | FetchSource::L1) {
            self.outcome.fetch_source = match level {
                Some(Level::First) => FetchSource::L1,
                Some(Level::Third) => FetchSource::L3,
                Some(Level::Second | Level::Sibling) => FetchSource::L2,
                None => FetchSource::Beyond,
            };
        }
        if self.outcome.fetch.is_none() && (missed || translation != Translation::Hit(1)) {
            let latency = cost.saturating_add(latency);
            self.outcome.fetch = Some(Fetch { address, cache_miss: missed, pending: false, prefetch: false, latency, translation });
        }
        let latency = if level == Some(Level::First) { 0 } else { latency.saturating_sub(u32::from(costs.first)) };
        if let Some(pipeline) = self.pipeline() {
            let source = missed.then(|| Source::of(level, source));
            pipeline.fetched(cost, translation == Translation::Walk, latency, source);
            pipeline.looks_up(line);
        }
        self.line = Some((line, page));
    }

    /// Translates `address`. Returns where the translation was found, and its cost in cycles.
    pub(super) fn translate(&mut self, side: usize, address: u64, tables: &mut impl PageTables) -> (Translation, u32) {
        let Some((cluster, local)) = self.home.zip(self.local) else { return (Translation::Unknown, 0) };
        let held = {
            let mut cluster = cluster.lock_for(self.core, self.finder);
            cluster.cores.get_mut(self.core).map(|caches| caches.translations.find_first(side, address, self.thread))
        };
        self.page = Page::default();
        match held {
            Some(true) => {
                self.found.translate(local, side, address);
                return (Translation::Hit(1), 0);
            }
            Some(false) => {}
            None => return (Translation::Unknown, 0),
        }
        if let Some(guest) = tables.nested(address) {
            return self.translate_nested(side, address, &guest, tables);
        }
        let found = self.buffers(|buffers, thread| {
            let (walk, bits) = buffers.find_second(side, address, thread)?;
            Some((bits, buffers.fill_first(side, address, thread, &walk)))
        });
        let Some((bits, held)) = found.flatten() else {
            return (Translation::Walk, self.walk(side, address, tables));
        };
        if held {
            self.found.translate(local, side, address);
        }
        self.page.bits = bits;
        self.count_translation(side, bits, false);
        (Translation::Hit(2), u32::from(self.system.profile.costs.second_translation))
    }

    fn walk(&mut self, side: usize, address: u64, tables: &mut impl PageTables) -> u32 {
        let walk = tables.walk(address);
        self.page.bits = walk.page_bits;
        self.count_translation(side, walk.page_bits, true);
        let begin = self.buffers(|buffers, _| buffers.shorten(&walk, false)).unwrap_or(0);
        self.tally.add(Signal::WalkCacheMisses, u64::from(begin == 0 && walk.levels > 1));
        if let Some(hit) = begin.checked_sub(1).and_then(|level| signals::WALK_CACHE_HITS.get(level)) {
            self.tally.add(*hit, 1);
        }
        let mut cost = u32::from(self.system.profile.costs.walk);
        let last = walk.entries().len().saturating_sub(1);
        for (depth, entry) in walk.entries().iter().enumerate().skip(begin) {
            cost += self.read_entry(side, Some((depth, depth == last)), *entry);
        }
        let held = self.buffers(|buffers, thread| buffers.fill(side, address, thread, &walk));
        if let Some(local) = self.local.filter(|_| held == Some(true)) {
            self.found.translate(local, side, address);
        }
        cost
    }
}
