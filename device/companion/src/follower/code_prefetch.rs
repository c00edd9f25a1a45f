//! Code prefetches of an Itanium's follower, and requests to its caches of code. Rules and sources are in `docs/notes/fabric-ia64.md`.

use vm_pmu_arch::feed::{Fetch, FetchSource, Signal, Translation};

use crate::bundle::Bundle;
use crate::bus;
use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::{Ask, Level};
use crate::follower::{Follower, SMALLEST_PAGE};
use crate::instruction::Instruction;
use crate::pipeline::Source;
use crate::translation::{CODE, PageTables};

/// The bit of a physical address that marks memory as not cached.
const UNCACHEABLE: u64 = 1 << 63;

/// Returns the signal that counts if a snoop takes the line while it is looked up.
pub(crate) fn conflict(ask: Ask) -> Signal {
    match ask {
        Ask::FetchAhead => Signal::L2InstructionPrefetchConflictsMissed,
        _ => Signal::L2InstructionDemandConflictsMissed,
    }
}

/// The lines behind the target of a branch that requests them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum CodeStream {
    /// No stream is followed.
    #[default]
    Off,
    /// The stream begins behind the line that is fetched next.
    Begins,
    /// The line with this number is requested next.
    At(u64),
}

impl CodeStream {
    pub(super) fn save(self, writer: &mut Writer) {
        writer.words(&match self {
            CodeStream::Off => [0, 0],
            CodeStream::Begins => [1, 0],
            CodeStream::At(line) => [2, line],
        });
    }

    pub(super) fn load(reader: &mut Reader<'_>) -> Result<CodeStream, Damaged> {
        match (reader.word()?, reader.word()?) {
            (0, _) => Ok(CodeStream::Off),
            (1, _) => Ok(CodeStream::Begins),
            (2, line) => Ok(CodeStream::At(line)),
            _ => Err(Damaged),
        }
    }
}

impl Follower<'_> {
    /// Ends the stream because a branch of `bundle` was taken, and begins another if the branch asks for it.
    #[inline]
    pub(super) fn turn_stream(&mut self, bundle: Option<&Bundle>) {
        let many = self.memory && bundle.and_then(Bundle::branch).is_some_and(|branch| branch.many);
        self.end_stream();
        if many {
            self.stream = CodeStream::Begins;
        }
    }

    #[inline]
    pub(super) fn end_stream(&mut self) {
        if matches!(self.stream, CodeStream::At(_))
            && let Some(pipeline) = self.pipeline.as_mut().filter(|_| self.pipelined)
        {
            pipeline.ends_stream(&mut self.tally);
        }
        self.stream = CodeStream::Off;
    }

    /// Begins a stream in `line`, where the fetcher is, if one is due.
    #[inline]
    pub(super) fn begin_stream(&mut self, line: u64) {
        if self.stream == CodeStream::Begins {
            self.stream = self.stream_behind(line);
            if let Some(pipeline) = self.pipeline() {
                pipeline.begins_stream();
            }
        }
    }

    /// Returns a stream whose last line was this one. It ends with its page, because the translation of the next may be missing.
    fn stream_behind(&self, line: u64) -> CodeStream {
        let page_bits = SMALLEST_PAGE.saturating_sub(u32::from(self.system.profile.caches.line_bits));
        let next = line.wrapping_add(1);
        if next >> page_bits == line >> page_bits { CodeStream::At(next) } else { CodeStream::Off }
    }

    /// Requests the lines of the stream: without a clock, the line behind the one that is fetched.
    #[cold]
    pub(super) fn prefetch_stream(&mut self) {
        while let CodeStream::At(line) = self.stream {
            let asks = match self.pipeline.as_ref().filter(|_| self.pipelined) {
                Some(pipeline) => pipeline.stream_has_gone_on(),
                None => self.line.is_some_and(|(fetched, _)| line <= fetched.wrapping_add(1)),
            };
            if !asks {
                return;
            }
            self.tally.add(Signal::InstructionStreamPrefetches, 1);
            self.prefetch_code(line, true);
            self.stream = self.stream_behind(line);
        }
    }

    /// Prefetches the line of a branch target that a `brp` names, if its physical address is known.
    #[inline]
    pub(super) fn prefetch_target(&mut self, instruction: &Instruction<'_>, bundle: &Bundle) {
        if let Some(target) = bundle.presaged(instruction.address).filter(|_| self.memory) {
            let near = target >> SMALLEST_PAGE == instruction.address >> SMALLEST_PAGE;
            let untranslated = instruction.address == instruction.physical;
            if near || untranslated {
                let distance = target.wrapping_sub(instruction.address);
                let physical = instruction.physical.wrapping_add(distance);
                self.prefetch_code(physical >> self.system.profile.caches.line_bits.min(63), false);
            }
        }
    }

    /// Prefetches `line`, of a stream or not.
    #[cold]
    fn prefetch_code(&mut self, line: u64, streams: bool) {
        self.tally.add(Signal::InstructionPrefetches, 1);
        let (level, source, latency) = self.ask(Ask::FetchAhead, line);
        let from = (level != Some(Level::First)).then(|| (Source::of(level, source), latency));
        if let Some(pipeline) = self.pipeline.as_mut().filter(|_| self.pipelined) {
            pipeline.prefetches_code(line, from, streams, &mut self.tally);
        }
        // Fetched code does not wait for it on the bus.
        self.carry(false);
    }

    /// Snoops the caches of code of the own core too, for a flush of line `outer`.
    pub(super) fn snoop_own_code(&mut self, outer: u64) {
        if let Some(cluster) = self.home {
            let found = cluster.lock().has_second_code(outer);
            self.tally.add(Signal::InstructionCacheSnoops, 1);
            self.tally.add(Signal::L2InstructionSnoopHits, u64::from(found));
        }
    }

    pub(super) fn is_uncacheable(&self, instruction: &Instruction<'_>) -> bool {
        instruction.physical & UNCACHEABLE != 0 && self.system.profile.pipeline.is_ia64()
    }

    /// Fetches a piece that is not cached: no cache keeps it, so each piece is a request of its own.
    #[cold]
    pub(super) fn fetch_uncacheable(&mut self, instruction: &Instruction<'_>, tables: &mut impl PageTables) {
        let costs = self.system.profile.costs;
        let caches = &self.system.profile.caches;
        let (line_bits, outer_bits) = (caches.line_bits.min(63), caches.outer_line_bits.min(63));
        let (translation, cost) = self.translate(CODE, instruction.address, tables);
        let tally = &mut self.tally;
        for signal in [
            Signal::InstructionFetches,
            Signal::InstructionCacheMisses,
            Signal::InstructionPairsReceived,
            Signal::L2InstructionUncacheableReads,
        ] {
            tally.add(signal, 1);
        }
        let physical = instruction.physical & !UNCACHEABLE;
        bus::count_uncacheable(physical, physical >> outer_bits, false, tally);
        let latency = u32::from(costs.memory);
        self.outcome.fetch_source = FetchSource::Beyond;
        let (address, whole) = (instruction.address, cost.saturating_add(latency));
        self.outcome.fetch = Some(Fetch { address, cache_miss: true, pending: false, prefetch: false, latency: whole, translation });
        if let Some(pipeline) = self.pipeline() {
            let line = latency.saturating_sub(u32::from(costs.first));
            pipeline.fetched(cost, translation == Translation::Walk, line, Some(Source::Memory));
            pipeline.looks_up(instruction.physical >> line_bits);
        }
        self.end_stream();
        self.line = None;
        self.piece.enter(instruction.address);
    }
}
