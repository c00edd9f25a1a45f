//! Requests for code in flight to the first level: the read address buffer, the streaming buffer in which its lines wait, and the second
//! level of code. Rules and sources are in `docs/notes/fabric-ia64.md`.

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::Source;
use crate::pipeline::resources::saving::{small, time};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// Entries of the read address buffer. All but one, which is for fetches, can hold prefetches.
const READS: usize = 8;
const AHEAD: usize = READS - 1;
/// Number of lines that the second level of code can wait for.
const FILLS: usize = 8;
/// Clocks in which a line comes from the third level.
const HANDOVER: u64 = 4;

/// A requested line of the first level.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    line: u64,
    /// The clocks from which the entry is taken, and in which the line arrives.
    from: u64,
    until: u64,
    /// The clock in which it was requested.
    asked: u64,
    /// The clock up to which it recirculates in the second level.
    circles: u64,
    ahead: bool,
}

/// The location of a line that the first level does not have.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct CodeSource {
    pub(in crate::pipeline) line: u64,
    pub(in crate::pipeline) source: Source,
    /// Clocks from the look-up to the arrival of the line.
    pub(in crate::pipeline) latency: u64,
    pub(in crate::pipeline) ahead: bool,
}

/// A line in flight to the second level, and the clock of its arrival.
pub(in crate::pipeline) type CodeFill = (u64, u64);

/// The signals of a fetch request and of a prefetch request.
type Pair = [Signal; 2];

const CIRCLES: Pair = [Signal::L2InstructionDemandRecirculates, Signal::L2InstructionPrefetchRecirculates];
const CIRCLES_MISSED: Pair = [Signal::L2InstructionDemandRecirculatesMissed, Signal::L2InstructionPrefetchRecirculatesMissed];
const REJECTS: Pair = [Signal::L2InstructionDemandRejects, Signal::L2InstructionPrefetchRejects];
const CONFLICTS: Pair = [Signal::L2InstructionDemandConflicts, Signal::L2InstructionPrefetchConflicts];

fn count(pair: Pair, ahead: bool, amount: u64, tally: &mut Tally) {
    let [fetched, prefetched] = pair;
    tally.add(if ahead { prefetched } else { fetched }, amount);
}

/// The requests of a front end.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Code {
    reads: [Read; READS],
    fills: [CodeFill; FILLS],
    /// The clock in which all reads are done.
    last: u64,
    /// The first clock that has not been counted.
    counted: u64,
    /// The first clock in which the prefetch pipeline can accept another line.
    next: u64,
}

impl Code {
    pub(in crate::pipeline) const fn new() -> Code {
        const NONE: Read = Read { line: 0, from: 0, until: 0, asked: 0, circles: 0, ahead: false };
        Code { reads: [NONE; READS], fills: [(0, 0); FILLS], last: 0, counted: 0, next: 0 }
    }

    /// Advances to clock `now`: counts the earlier clocks in which the read address buffer was full, or had one entry left.
    #[inline]
    pub(in crate::pipeline) fn pass(&mut self, now: u64, tally: &mut Tally) {
        if self.counted < self.last {
            self.count_full(now, tally);
        }
        self.counted = self.counted.max(now);
    }

    #[cold]
    fn count_full(&mut self, now: u64, tally: &mut Tally) {
        while self.counted < now.min(self.last) {
            let clock = self.counted;
            let changes = self.reads.iter().flat_map(|read| [read.from, read.until]).filter(|change| *change > clock);
            let until = changes.min().unwrap_or(now).min(now);
            let taken = self.reads.iter().filter(|read| read.from <= clock && clock < read.until).count();
            tally.add(Signal::ReadAddressBufferFullCycles, if taken == READS { until - clock } else { 0 });
            tally.add(Signal::ReadAddressBufferNearlyFullCycles, if taken >= AHEAD { until - clock } else { 0 });
            self.counted = until;
        }
    }

    /// Handles a fetch of `line` in clock `now` that hits the first level, or will. If the line is in flight, returns the clock of its
    /// arrival.
    #[inline]
    pub(in crate::pipeline) fn meet(&mut self, line: u64, now: u64, tally: &mut Tally) -> Option<u64> {
        if self.last <= now {
            return None;
        }
        let read = self.reads.iter().find(|read| read.line == line && read.until > now)?;
        tally.add(Signal::ReadAddressBufferHits, 1);
        tally.add(Signal::InstructionCacheMisses, 1);
        // The request becomes a fetch and is looked up at once, even if it was before.
        if read.circles > now {
            count(CIRCLES, false, 1, tally);
        } else if read.asked < now {
            tally.add(Signal::L2InstructionSpeculativeAborts, 1);
        }
        Some(read.until)
    }

    /// Handles a fetch of `line` for which nothing waits. Counts whether it comes from the streaming buffer: a line moves from there to the
    /// first level in the first clock in which that level is not read. The last such clock was before `quiet`.
    #[inline]
    pub(in crate::pipeline) fn stream(&self, line: u64, quiet: u64, tally: &mut Tally) {
        if self.last >= quiet && self.reads.iter().any(|read| read.line == line && read.ahead && read.until >= quiet) {
            tally.add(Signal::StreamingBufferHits, 1);
        }
    }

    /// Returns the first clock in which another line can be prefetched.
    fn room_ahead(&self) -> u64 {
        let mut ends = self.reads.map(|read| if read.ahead { read.until } else { 0 });
        ends.sort_unstable();
        // The last but six of them: before that, seven are taken.
        ends.get(READS - AHEAD).copied().unwrap_or(0)
    }

    /// Begins a stream after a line that is fetched in clock `now`.
    pub(in crate::pipeline) fn begin(&mut self, now: u64) {
        self.next = self.next.max(now + 1);
    }

    /// Ends the stream in clock `now`. Until then it may have waited for an entry.
    pub(in crate::pipeline) fn end(&mut self, now: u64, tally: &mut Tally) {
        let waited = self.room_ahead().min(now).saturating_sub(self.next);
        tally.add(Signal::InstructionPrefetchStallCycles, waited);
        self.next = self.next.max(now);
    }

    /// Whether a stream has requested another line before clock `now`.
    pub(in crate::pipeline) fn has_gone_on(&self, now: u64) -> bool {
        self.next.max(self.room_ahead()) < now
    }

    /// Returns when the prefetch pipeline accepts the next line: for a stream as soon as it can, otherwise not before `from`.
    pub(in crate::pipeline) fn take_ahead(&mut self, from: u64, tally: &mut Tally) -> u64 {
        let wanted = self.next.max(from);
        let at = wanted.max(self.room_ahead());
        tally.add(Signal::InstructionPrefetchStallCycles, at - wanted);
        self.next = at + 1;
        at
    }

    /// Requests a line that the first level does not have in clock `at`. `takes` returns when the third level accepts a request for a line
    /// of the second, from a clock on, beside those in flight. `second` is the latency of the second level. Returns when the line arrives.
    pub(in crate::pipeline) fn request(
        &mut self,
        asked: &CodeSource,
        at: u64,
        second: u64,
        takes: impl Fn(u64, u64, &[CodeFill]) -> u64,
        tally: &mut Tally,
    ) -> u64 {
        let (outer, ahead, asked_at) = (asked.line >> 1, asked.ahead, at);
        let (mut at, mut circles) = (at, 0);
        let found = asked.source == Source::Second;
        if let Some((_, here)) = self.fills.iter().find(|(line, here)| *line == outer && *here > at).copied() {
            if found {
                // It is looked up again whenever a line arrives, until its own does.
                let others = self.fills.iter().filter(|(line, other)| *line != outer && (at + 1..here).contains(other)).count();
                count(CIRCLES, ahead, 1 + others as u64, tally);
                (at, circles) = (here, here);
            } else {
                // A snoop has taken the line away before it arrived.
                count(CIRCLES_MISSED, ahead, 1, tally);
            }
        }
        let here = if found {
            self.read(ahead, at + second, tally)
        } else {
            let taken = takes(outer, at, &self.fills);
            let again = taken.saturating_sub(at).div_ceil(second.max(1));
            count(REJECTS, ahead, again, tally);
            let here = at + again * second + asked.latency;
            if let Some(place) = self.fills.iter_mut().min_by_key(|(_, here)| *here) {
                *place = (outer, here);
            }
            here
        };
        if let Some(place) = self.reads.iter_mut().min_by_key(|read| read.until) {
            // A prefetch that has waited for the entry takes it over from the previous one.
            let from = if place.until > asked_at { place.from } else { asked_at };
            *place = Read { line: asked.line, from, until: here, asked: asked_at, circles, ahead };
        }
        self.last = self.last.max(here);
        here
    }

    /// Reads a line of the second level, which would arrive at `here`. The read gives way to lines that arrive from the third level then.
    fn read(&self, ahead: bool, here: u64, tally: &mut Tally) -> u64 {
        let mut here = here;
        for _ in 0..FILLS {
            let Some((_, comes)) = self.fills.iter().find(|(_, comes)| (*comes..*comes + HANDOVER).contains(&here)) else { break };
            count(CONFLICTS, ahead, 1, tally);
            here = comes + HANDOVER;
        }
        here
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        for read in &self.reads {
            writer.words(&[read.line, read.from, read.until, read.asked, read.circles, u64::from(read.ahead)]);
        }
        self.fills.iter().for_each(|(line, here)| writer.words(&[*line, *here]));
        writer.words(&[self.counted, self.next]);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for read in &mut self.reads {
            *read = Read {
                line: reader.word()?,
                from: time(reader, now)?,
                until: time(reader, now)?,
                asked: time(reader, now)?,
                circles: time(reader, now)?,
                ahead: small(reader, 1)? == 1,
            };
        }
        for fill in &mut self.fills {
            *fill = (reader.word()?, time(reader, now)?);
        }
        (self.counted, self.next) = (time(reader, now)?, time(reader, now)?);
        self.last = self.reads.iter().map(|read| read.until).max().unwrap_or(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latency of the second level, and of memory, in clocks.
    const SECOND: u64 = 7;
    const MEMORY: u64 = 200;

    struct Front {
        code: Code,
        tally: Tally,
    }

    impl Front {
        fn new() -> Front {
            Front { code: Code::new(), tally: Tally::new() }
        }

        /// Requests a line in clock `at`; the third level accepts it at once.
        fn ask(&mut self, line: u64, source: Source, ahead: bool, at: u64) -> u64 {
            let latency = if source == Source::Second { SECOND } else { MEMORY };
            self.code.request(&CodeSource { line, source, latency, ahead }, at, SECOND, |_, at, _| at, &mut self.tally)
        }

        /// Streams lines of memory; two of them make one of the second level.
        fn stream(&mut self, lines: core::ops::Range<u64>) {
            for line in lines {
                let at = self.code.take_ahead(0, &mut self.tally);
                self.ask(line, if line % 2 == 0 { Source::Memory } else { Source::Second }, true, at);
            }
        }

        fn get(&self, signal: Signal) -> u64 {
            self.tally.get(signal)
        }
    }

    #[test]
    fn a_stream_waits_for_the_first_of_seven_places() {
        let mut front = Front::new();
        front.code.begin(100);
        // In clocks 101 to 107, one each; the first arrives at 301.
        for line in 0..7 {
            let at = front.code.take_ahead(0, &mut front.tally);
            assert_eq!(at, 101 + line);
            front.ask(2 * line, Source::Memory, true, at);
        }
        assert!(!front.code.has_gone_on(301));
        assert!(front.code.has_gone_on(302));
        assert_eq!(front.code.take_ahead(0, &mut front.tally), 301);
        // All of clocks 108 to 301 but the last.
        assert_eq!(front.get(Signal::InstructionPrefetchStallCycles), 193);
    }

    #[test]
    fn a_stream_that_ends_has_waited_until_then() {
        let mut front = Front::new();
        front.code.begin(100);
        front.stream(0..14);
        // The seventh line was requested in 107, and the next one in 301, when the first arrived: 193 clocks. The others of each pair came
        // with it, seven clocks later, at 308: eight to fourteen could not be requested before.
        let before = front.get(Signal::InstructionPrefetchStallCycles);
        let (next, room) = (front.code.next, front.code.room_ahead());
        assert!(next < room);
        front.code.end(room - 1, &mut front.tally);
        assert_eq!(front.get(Signal::InstructionPrefetchStallCycles), before + room - 1 - next);
    }

    #[test]
    fn a_buffer_with_one_place_left_is_nearly_full() {
        let mut front = Front::new();
        for line in 0..7 {
            front.ask(2 * line, Source::Memory, true, 101 + line);
        }
        // Another line is fetched meanwhile.
        front.code.pass(150, &mut front.tally);
        front.ask(100, Source::Memory, false, 150);
        front.code.pass(1_000, &mut front.tally);
        // Eight are taken from 150 up to 301; seven from 107 on, until the second one arrives at 302.
        assert_eq!(front.get(Signal::ReadAddressBufferFullCycles), 151);
        assert_eq!(front.get(Signal::ReadAddressBufferNearlyFullCycles), 195);
    }

    #[test]
    fn a_fetch_of_a_line_on_its_way_waits_and_is_looked_up_in_vain() {
        let mut front = Front::new();
        let here = front.ask(6, Source::Memory, true, 100);
        assert_eq!(front.code.meet(6, 150, &mut front.tally), Some(here));
        assert_eq!(front.code.meet(7, 150, &mut front.tally), None);
        assert_eq!(front.code.meet(6, here, &mut front.tally), None);
        for signal in [Signal::ReadAddressBufferHits, Signal::InstructionCacheMisses, Signal::L2InstructionSpeculativeAborts] {
            assert_eq!(front.get(signal), 1, "{}", signal.name());
        }
    }

    #[test]
    fn the_other_half_of_a_line_on_its_way_goes_round_until_it_comes() {
        let mut front = Front::new();
        // Line 2 arrives at 300. Line 3, its other half, is looked up at once, and again then.
        assert_eq!(front.ask(2, Source::Memory, true, 100), 300);
        assert_eq!(front.ask(3, Source::Second, false, 103), 307);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculates), 1);
        assert_eq!(front.get(Signal::L2InstructionPrefetchRecirculates), 0);
    }

    #[test]
    fn what_goes_round_is_looked_up_when_any_line_comes() {
        let mut front = Front::new();
        front.ask(2, Source::Memory, true, 100);
        // Lines 8 and 12 arrive before it, line 16 after it.
        for (line, at) in [(8, 50), (12, 60), (16, 102)] {
            front.ask(line, Source::Memory, true, at);
        }
        front.ask(3, Source::Second, true, 103);
        // At once, and when lines 8 and 12 arrive at 250 and 260.
        assert_eq!(front.get(Signal::L2InstructionPrefetchRecirculates), 3);
    }

    #[test]
    fn a_prefetch_that_goes_round_does_so_once_more_when_it_is_fetched() {
        let mut front = Front::new();
        front.ask(2, Source::Memory, true, 100);
        front.ask(3, Source::Second, true, 103);
        assert_eq!(front.code.meet(3, 150, &mut front.tally), Some(307));
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculates), 1);
        assert_eq!(front.get(Signal::L2InstructionSpeculativeAborts), 0);
    }

    #[test]
    fn a_line_that_was_taken_away_on_its_way_is_missed_again() {
        let mut front = Front::new();
        front.ask(2, Source::Memory, true, 100);
        // The second level no longer has it.
        assert_eq!(front.ask(3, Source::Memory, false, 150), 350);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculatesMissed), 1);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculates), 0);
    }

    #[test]
    fn a_request_that_is_refused_is_sent_again_every_seven_clocks() {
        let mut front = Front::new();
        let asked = CodeSource { line: 2, source: Source::Memory, latency: MEMORY, ahead: false };
        // Rejected at 100 and 107, accepted at 114.
        let here = front.code.request(&asked, 100, SECOND, |_, at, _| at + 10, &mut front.tally);
        assert_eq!(here, 114 + MEMORY);
        assert_eq!(front.get(Signal::L2InstructionDemandRejects), 2);
    }

    #[test]
    fn a_read_gives_way_to_a_line_that_comes() {
        let mut front = Front::new();
        // It arrives in clocks 300 to 303.
        front.ask(2, Source::Memory, true, 100);
        assert_eq!(front.ask(20, Source::Second, false, 292), 299);
        assert_eq!(front.get(Signal::L2InstructionDemandConflicts), 0);
        assert_eq!(front.ask(30, Source::Second, false, 293), 304);
        assert_eq!(front.ask(40, Source::Second, true, 296), 304);
        assert_eq!(front.ask(50, Source::Second, true, 297), 304);
        assert_eq!(front.get(Signal::L2InstructionDemandConflicts), 1);
        assert_eq!(front.get(Signal::L2InstructionPrefetchConflicts), 1);
    }

    #[test]
    fn a_prefetched_line_is_in_the_streaming_buffer_until_the_first_level_is_not_read() {
        let mut front = Front::new();
        let here = front.ask(2, Source::Second, true, 100);
        // The front end last read before the line arrived, and in the clock after.
        front.code.stream(2, here, &mut front.tally);
        assert_eq!(front.get(Signal::StreamingBufferHits), 1);
        front.code.stream(2, here + 1, &mut front.tally);
        front.code.stream(4, here, &mut front.tally);
        assert_eq!(front.get(Signal::StreamingBufferHits), 1);
    }
}
