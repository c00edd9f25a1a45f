//! Requests for code that are on their way to the first level: the read address buffer, the streaming buffer that its lines wait in, and
//! what the second level of code does with them. Rules and sources are in `docs/notes/fabric-ia64.md`.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::super::tally::Tally;
use super::super::{Source, small, time};
use vm_pmu_arch::feed::Signal;

/// Places of the read address buffer. All but the one of what is fetched can hold prefetches.
const READS: usize = 8;
const AHEAD: usize = READS - 1;
/// Lines that the second level of code waits for.
const FILLS: usize = 8;
/// Clocks in which a line comes from the third level.
const HANDOVER: u64 = 4;

/// A line of the first level that was asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    line: u64,
    /// The place is taken from this clock on, until the line is here.
    from: u64,
    until: u64,
    /// It was asked for in this clock.
    asked: u64,
    /// It goes round in the second level up to this clock.
    circles: u64,
    ahead: bool,
}

/// Where a line is that the first level does not have.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Asked {
    pub(in super::super) line: u64,
    pub(in super::super) source: Source,
    /// Clocks from the look-up to the line.
    pub(in super::super) latency: u64,
    pub(in super::super) ahead: bool,
}

/// A line of the second level on its way to it, and when it is there.
pub(in super::super) type Fill = (u64, u64);

/// The signals of a request that was fetched and of one that was prefetched.
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
pub(in super::super) struct Code {
    reads: [Read; READS],
    fills: [Fill; FILLS],
    /// When all reads are done.
    last: u64,
    /// The clocks before this one have been counted.
    counted: u64,
    /// The first clock in which the prefetch pipeline can take another line.
    next: u64,
}

impl Code {
    pub(in super::super) const fn new() -> Code {
        const NONE: Read = Read { line: 0, from: 0, until: 0, asked: 0, circles: 0, ahead: false };
        Code { reads: [NONE; READS], fills: [(0, 0); FILLS], last: 0, counted: 0, next: 0 }
    }

    /// Clock `now` has come: counts those before it in which the read address buffer was full, or had one place left.
    #[inline]
    pub(in super::super) fn pass(&mut self, now: u64, tally: &mut Tally) {
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

    /// `line` is fetched in clock `now`, and the first level has it, or will: if it is on its way, returns when it is here.
    #[inline]
    pub(in super::super) fn meet(&mut self, line: u64, now: u64, tally: &mut Tally) -> Option<u64> {
        if self.last <= now {
            return None;
        }
        let read = self.reads.iter().find(|read| read.line == line && read.until > now)?;
        tally.add(Signal::ReadAddressBufferHits, 1);
        tally.add(Signal::InstructionCacheMisses, 1);
        // The request becomes one of what is fetched, and is looked up at once, though it may have been before.
        if read.circles > now {
            count(CIRCLES, false, 1, tally);
        } else if read.asked < now {
            tally.add(Signal::L2InstructionSpeculativeAborts, 1);
        }
        Some(read.until)
    }

    /// `line` is fetched, and nothing waits for it. Counts whether it comes from the streaming buffer: a line goes from there to the first
    /// level in the first clock in which that is not read, the last of which was before `quiet`.
    #[inline]
    pub(in super::super) fn stream(&self, line: u64, quiet: u64, tally: &mut Tally) {
        if self.last >= quiet && self.reads.iter().any(|read| read.line == line && read.ahead && read.until >= quiet) {
            tally.add(Signal::StreamingBufferHits, 1);
        }
    }

    /// The first clock in which another line can be prefetched.
    fn room_ahead(&self) -> u64 {
        let mut ends = self.reads.map(|read| if read.ahead { read.until } else { 0 });
        ends.sort_unstable();
        // The last but six of them: before, seven are taken.
        ends.get(READS - AHEAD).copied().unwrap_or(0)
    }

    /// A stream begins behind a line that is fetched in clock `now`.
    pub(in super::super) fn begin(&mut self, now: u64) {
        self.next = self.next.max(now + 1);
    }

    /// The stream ends, in clock `now`: until then it may have waited for a place.
    pub(in super::super) fn end(&mut self, now: u64, tally: &mut Tally) {
        let waited = self.room_ahead().min(now).saturating_sub(self.next);
        tally.add(Signal::InstructionPrefetchStallCycles, waited);
        self.next = self.next.max(now);
    }

    /// Whether a stream has taken another line before clock `now`.
    pub(in super::super) fn has_gone_on(&self, now: u64) -> bool {
        self.next.max(self.room_ahead()) < now
    }

    /// The clock in which the prefetch pipeline takes the next line: of a stream as soon as it can, else not before `from`.
    pub(in super::super) fn take_ahead(&mut self, from: u64, tally: &mut Tally) -> u64 {
        let wanted = self.next.max(from);
        let at = wanted.max(self.room_ahead());
        tally.add(Signal::InstructionPrefetchStallCycles, at - wanted);
        self.next = at + 1;
        at
    }

    /// A line that the first level does not have is asked for in clock `at`. `takes` says when the third level takes a request for a line of
    /// the second, from a clock on, beside those under way. `second` is the latency of the second level. Returns when the line is here.
    pub(in super::super) fn request(
        &mut self,
        asked: &Asked,
        at: u64,
        second: u64,
        takes: impl Fn(u64, u64, &[Fill]) -> u64,
        tally: &mut Tally,
    ) -> u64 {
        let (outer, ahead, asked_at) = (asked.line >> 1, asked.ahead, at);
        let (mut at, mut circles) = (at, 0);
        let found = asked.source == Source::Second;
        if let Some((_, here)) = self.fills.iter().find(|(line, here)| *line == outer && *here > at).copied() {
            if found {
                // It is looked up again whenever a line comes, until it is its own.
                let others = self.fills.iter().filter(|(line, other)| *line != outer && (at + 1..here).contains(other)).count();
                count(CIRCLES, ahead, 1 + others as u64, tally);
                (at, circles) = (here, here);
            } else {
                // A snoop has taken the line away before it came.
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
            // A prefetch that has waited for the place has it from the one before.
            let from = if place.until > asked_at { place.from } else { asked_at };
            *place = Read { line: asked.line, from, until: here, asked: asked_at, circles, ahead };
        }
        self.last = self.last.max(here);
        here
    }

    /// The second level has a line, which would be here at `here`. It gives up in favour of lines that come from the third then.
    fn read(&self, ahead: bool, here: u64, tally: &mut Tally) -> u64 {
        let mut here = here;
        for _ in 0..FILLS {
            let Some((_, comes)) = self.fills.iter().find(|(_, comes)| (*comes..*comes + HANDOVER).contains(&here)) else { break };
            count(CONFLICTS, ahead, 1, tally);
            here = comes + HANDOVER;
        }
        here
    }

    pub(in super::super) fn save(&self, writer: &mut Writer) {
        for read in &self.reads {
            writer.words(&[read.line, read.from, read.until, read.asked, read.circles, u64::from(read.ahead)]);
        }
        self.fills.iter().for_each(|(line, here)| writer.words(&[*line, *here]));
        writer.words(&[self.counted, self.next]);
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
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

    /// Clocks of the second level, of memory.
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

        /// A line is asked for in clock `at`; the third level takes it at once.
        fn ask(&mut self, line: u64, source: Source, ahead: bool, at: u64) -> u64 {
            let latency = if source == Source::Second { SECOND } else { MEMORY };
            self.code.request(&Asked { line, source, latency, ahead }, at, SECOND, |_, at, _| at, &mut self.tally)
        }

        /// A stream of lines of memory, two of which make one of the second level.
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
        // In clocks 101 to 107, one each; the first is here at 301.
        for line in 0..7 {
            let at = front.code.take_ahead(0, &mut front.tally);
            assert_eq!(at, 101 + line);
            front.ask(2 * line, Source::Memory, true, at);
        }
        assert!(!front.code.has_gone_on(301));
        assert!(front.code.has_gone_on(302));
        assert_eq!(front.code.take_ahead(0, &mut front.tally), 301);
        // Of clocks 108 to 301 all but the last.
        assert_eq!(front.get(Signal::InstructionPrefetchStallCycles), 193);
    }

    #[test]
    fn a_stream_that_ends_has_waited_until_then() {
        let mut front = Front::new();
        front.code.begin(100);
        front.stream(0..14);
        // The seventh line was asked for in 107, and the next one in 301, when the first was here: 193 clocks. The others of each pair came with it,
        // seven clocks later, at 308: eight to fourteen could not be asked for before.
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
        // Eight are taken from 150 up to 301; seven from 107 on, and until the second one is here at 302.
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
        // Line 2 is here at 300. Line 3, its other half, is looked up at once, and then.
        assert_eq!(front.ask(2, Source::Memory, true, 100), 300);
        assert_eq!(front.ask(3, Source::Second, false, 103), 307);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculates), 1);
        assert_eq!(front.get(Signal::L2InstructionPrefetchRecirculates), 0);
    }

    #[test]
    fn what_goes_round_is_looked_up_when_any_line_comes() {
        let mut front = Front::new();
        front.ask(2, Source::Memory, true, 100);
        // Lines 8 and 12 come before it, line 16 after it.
        for (line, at) in [(8, 50), (12, 60), (16, 102)] {
            front.ask(line, Source::Memory, true, at);
        }
        front.ask(3, Source::Second, true, 103);
        // At once, and when lines 8 and 12 come at 250 and 260.
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
        // The second level does not have it any more.
        assert_eq!(front.ask(3, Source::Memory, false, 150), 350);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculatesMissed), 1);
        assert_eq!(front.get(Signal::L2InstructionDemandRecirculates), 0);
    }

    #[test]
    fn a_request_that_is_refused_is_sent_again_every_seven_clocks() {
        let mut front = Front::new();
        let asked = Asked { line: 2, source: Source::Memory, latency: MEMORY, ahead: false };
        // Refused at 100 and 107, taken at 114.
        let here = front.code.request(&asked, 100, SECOND, |_, at, _| at + 10, &mut front.tally);
        assert_eq!(here, 114 + MEMORY);
        assert_eq!(front.get(Signal::L2InstructionDemandRejects), 2);
    }

    #[test]
    fn a_read_gives_way_to_a_line_that_comes() {
        let mut front = Front::new();
        // It comes in clocks 300 to 303.
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
        // The front end last read nothing before the line came, and in the clock after it did.
        front.code.stream(2, here, &mut front.tally);
        assert_eq!(front.get(Signal::StreamingBufferHits), 1);
        front.code.stream(2, here + 1, &mut front.tally);
        front.code.stream(4, here, &mut front.tally);
        assert_eq!(front.get(Signal::StreamingBufferHits), 1);
    }
}
