//! How a follower fetches code and translates addresses.

use vm_pmu_arch::feed::{DataSource, Fetch, FetchSource, Signal, Translation};

use super::cause::Cause;
use super::cluster::{Ask, Level};
use super::follower::{Follower, SMALLEST_PAGE};
use super::instruction::Instruction;
use super::pipeline::Source;
use super::signals;
use super::translation::{CODE, Found, Page, PageTables};

impl Follower<'_> {
    /// The fetcher reads the pieces that an instruction lies in.
    pub(super) fn fetch(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        let caches = &self.system.profile.caches;
        let bits = caches.fetch_bits.min(63);
        let end = instruction.address.wrapping_add(u64::from(instruction.length) - 1);
        let (first, last) = (instruction.address >> bits, end >> bits);
        let fetched = u64::from(self.piece != Some(first)) + u64::from(first != last);
        if fetched == 0 {
            return;
        }
        self.piece = Some(last);
        self.tally.add(Signal::InstructionFetches, fetched);
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
    }

    fn fetch_line(&mut self, (line, page): (u64, u64), address: u64, tables: &mut impl PageTables) {
        let costs = self.system.profile.costs;
        let (translation, cost) = self.translate(CODE, address, tables);
        match translation {
            Translation::Hit(2) => self.timing.fetched(Cause::FetchTranslation, cost, &mut self.tally),
            Translation::Walk => self.timing.fetched(Cause::FetchWalk, cost, &mut self.tally),
            _ => {}
        }
        // Requested when the line before it began.
        let ahead = self.line.is_some_and(|(before, _)| before.checked_add(1) == Some(line));
        let kept = self.requests.all().len();
        let (level, source, latency) = self.ask(Ask::Fetch, line);
        if ahead {
            self.requests.fetched_ahead(kept);
        }
        let cause = match (level, source) {
            (Some(Level::Second), _) => Cause::FetchSecond,
            (Some(Level::Third), _) => Cause::FetchThird,
            _ => Cause::FetchMemory,
        };
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
        self.timing.fetched(cause, latency, &mut self.tally);
        if let Some(pipeline) = self.pipeline() {
            let source = missed.then(|| Source::of(level, source));
            pipeline.fetched(cost, translation == Translation::Walk, latency, source);
        }
        self.line = Some((line, page));
    }

    /// Translates `address`; returns where the translation was found, and its cost in cycles.
    pub(super) fn translate(&mut self, side: usize, address: u64, tables: &mut impl PageTables) -> (Translation, u32) {
        let costs = &self.system.profile.costs;
        let Some(cluster) = self.system.clusters.get(self.cluster) else { return (Translation::Unknown, 0) };
        let found = {
            let mut cluster = cluster.lock();
            let Some(caches) = cluster.cores.get_mut(self.core) else { return (Translation::Unknown, 0) };
            let found = caches.translations.find(side, address, self.thread);
            if let Found::Second(walk, _) = found {
                caches.translations.fill_first(side, address, self.thread, &walk);
            }
            found
        };
        self.page = Page::default();
        match found {
            Found::First => (Translation::Hit(1), 0),
            Found::Second(_, bits) => {
                self.page.bits = bits;
                signals::count_page(side == CODE, bits, false, &mut self.tally);
                self.tally.add(if side == CODE { Signal::InstructionTlbL1Misses } else { Signal::DataTlbL1Misses }, 1);
                self.tally.add(if side == CODE { Signal::InstructionTlbMissesAll } else { Signal::DataTlbMissesAll }, 1);
                self.tally.add(Signal::TranslationL2Hits, 1);
                (Translation::Hit(2), u32::from(costs.second_translation))
            }
            Found::Nowhere => (Translation::Walk, self.walk(side, address, tables)),
        }
    }

    fn walk(&mut self, side: usize, address: u64, tables: &mut impl PageTables) -> u32 {
        let counted = if side == CODE {
            [Signal::InstructionTlbL2Misses, Signal::InstructionTlbMissesAll, Signal::InstructionWalks, Signal::InstructionWalkFills]
        } else {
            [Signal::DataTlbL2Misses, Signal::DataTlbMissesAll, Signal::DataWalks, Signal::DataWalkFills]
        };
        counted.into_iter().for_each(|signal| self.tally.add(signal, 1));
        let walk = tables.walk(address);
        self.page.bits = walk.page_bits;
        signals::count_page(side == CODE, walk.page_bits, true, &mut self.tally);
        let line_bits = self.system.profile.caches.line_bits.min(63);
        let begin = self.system.clusters.get(self.cluster).map_or(0, |cluster| {
            let mut cluster = cluster.lock();
            cluster.cores.get_mut(self.core).map_or(0, |caches| caches.translations.shorten(&walk))
        });
        self.tally.add(Signal::WalkCacheMisses, u64::from(begin == 0 && walk.levels > 1));
        if let Some(hit) = begin.checked_sub(1).and_then(|level| signals::WALK_CACHE_HITS.get(level)) {
            self.tally.add(*hit, 1);
        }
        let mut cost = u32::from(self.system.profile.costs.walk);
        let last = walk.entries().len().saturating_sub(1);
        for (depth, entry) in walk.entries().iter().enumerate().skip(begin) {
            let (level, source, latency) = self.ask(Ask::Walk, entry >> line_bits);
            let (signal, leaf) = match (side, level, source) {
                (CODE, Some(Level::Third), _) => (Signal::InstructionWalksFromL3, None),
                (CODE, Some(_), _) => (Signal::InstructionWalksFromL2, None),
                (CODE, None, DataSource::OtherCore { .. }) => (Signal::InstructionWalksFromOtherCore, None),
                (CODE, None, _) => (Signal::InstructionWalksFromMemory, None),
                (_, Some(Level::Third), _) => (Signal::DataWalksFromL3, Some(Signal::DataWalkLeavesFromL3)),
                (_, Some(_), _) => (Signal::DataWalksFromL2, Some(Signal::DataWalkLeavesFromL2)),
                (_, None, DataSource::OtherCore { .. }) => (Signal::DataWalksFromOtherCore, Some(Signal::DataWalkLeavesFromOtherCore)),
                (_, None, _) => (Signal::DataWalksFromMemory, Some(Signal::DataWalkLeavesFromMemory)),
            };
            self.tally.add(signal, 1);
            let source = if level == Some(Level::Sibling) { DataSource::Cache(2) } else { source };
            signals::count_entry(side == CODE, depth, depth == last, source, &mut self.tally);
            self.page.source = source;
            self.page.prefetched = core::mem::take(&mut self.prefetched);
            if self.page.prefetched {
                let signal = match (side, level) {
                    (CODE, Some(Level::Third)) => Some(Signal::InstructionWalksFromL3Prefetched),
                    (CODE, _) => Some(Signal::InstructionWalksFromL2Prefetched),
                    (_, Some(Level::Third)) => Some(Signal::DataWalkLeavesFromL3Prefetched).filter(|_| depth == last),
                    (_, _) => Some(Signal::DataWalkLeavesFromL2Prefetched).filter(|_| depth == last),
                };
                signal.into_iter().for_each(|signal| self.tally.add(signal, 1));
            }
            match leaf {
                Some(leaf) if depth == last => self.tally.add(leaf, 1),
                None if depth < last => self.tally.add(Signal::InstructionWalkDirectories, 1),
                _ => {}
            }
            cost += latency;
        }
        if let Some(cluster) = self.system.clusters.get(self.cluster)
            && let Some(caches) = cluster.lock().cores.get_mut(self.core)
        {
            caches.translations.fill(side, address, self.thread, &walk);
        }
        cost
    }
}
