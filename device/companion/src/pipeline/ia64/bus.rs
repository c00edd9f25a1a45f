//! The front-side bus in time, as seen by one thread: when its requests, writes and castouts are sent, and the number of entries in each
//! queue. Rules FB1 to FB14 are in `docs/notes/fabric-ia64.md`.

use vm_pmu_arch::feed::Signal;

use super::bus_lines::{PendingLines, SentLines};
use super::bus_timing::{IN_ORDER, REQUEST, Timing};
use super::low_priority::{LowPriorityEntry, LowPriorityQueue, PLACES};
use super::queue_levels::QueueLevels;
use super::snoops::{SnoopQueue, SnoopTimes};
use crate::bus_traffic::{BusTraffic, LINE_CLOCKS, Lines, Work};
use crate::bytes::{Damaged, Reader, Writer};
use crate::caches::answered_snoops::Snoop;
use crate::pipeline::resources::queue::Ring;
use crate::pipeline::resources::saving::time;
use crate::tally::Tally;

/// Clocks of the bus that the data of a transaction take if they are less than a line.
const PART_CLOCKS: u64 = 1;
/// Capacity of the request queue.
const REQUESTS: usize = 16;

/// The queues, in the order of [`LIVE`].
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
enum BusQueue {
    Requests,
    Reads,
    Arbiter,
    Writes,
    Castouts,
    InOrder,
    Snoops,
    Answers,
}

const QUEUES: usize = BusQueue::Answers as usize + 1;

/// Signals of the summed entry counts of each queue: low bits, and the rest.
const LIVE: [[Signal; 2]; QUEUES] = [
    [Signal::BusRequestQueueLow, Signal::BusRequestQueueHigh],
    [Signal::BusReadsOutstandingLow, Signal::BusReadsOutstandingHigh],
    [Signal::BusArbiterQueueLow, Signal::BusArbiterQueueHigh],
    [Signal::BusWriteQueueLow, Signal::BusWriteQueueHigh],
    [Signal::BusCastoutQueueLow, Signal::BusCastoutQueueHigh],
    [Signal::BusInOrderQueueLow, Signal::BusInOrderQueueHigh],
    [Signal::BusSnoopQueueLow, Signal::BusSnoopQueueHigh],
    [Signal::BusSnoopAnswersLow, Signal::BusSnoopAnswersHigh],
];

/// Ways in which a transaction meets a queue entry for its line, in the order of [`MEETINGS`].
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
enum Meeting {
    Write,
    /// A write of a whole line, which the answer to the snoop replaces.
    CancelledWrite,
    Castout,
    InOrder,
}

const MEETINGS: [Signal; Meeting::InOrder as usize + 1] =
    [Signal::BusWriteCollisions, Signal::BusWritesCancelled, Signal::BusCastoutCollisions, Signal::BusInOrderCollisions];

/// Returns the signals that are counted here.
fn signals() -> impl Iterator<Item = Signal> {
    LIVE.as_flattened().iter().chain(&MEETINGS).copied().chain([Signal::BusBackToBackCycles])
}

/// Whether the bus in time supplies `signal`.
pub(in crate::pipeline) fn supplies(signal: Signal) -> bool {
    signals().any(|each| each == signal) || signal == Signal::BusSnoopStallCycles
}

/// The bus as used by one thread.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct Bus {
    timing: Timing,
    /// The current clock.
    now: u64,
    /// Whether any of its signals is counted.
    wanted: bool,
    /// The clocks in which the next request can be sent, everything sent before is done, and the last data burst ended.
    address: u64,
    done: u64,
    burst: u64,
    requests: Ring<REQUESTS>,
    arbiter: Ring<PLACES>,
    in_order: Ring<IN_ORDER>,
    writes: LowPriorityQueue,
    castouts: LowPriorityQueue,
    snoops: SnoopQueue,
    /// The lines of pending traffic, and of transactions that were sent.
    known: PendingLines,
    sent: SentLines,
    live: [QueueLevels; QUEUES],
    /// Bursts that immediately follow another one.
    bursts: QueueLevels,
    /// The clock up to which entries have been counted, and the unreported sums.
    passed: u64,
    sums: [[u64; 2]; QUEUES],
    bursting: u64,
    met: [u64; MEETINGS.len()],
}

impl Bus {
    pub(in crate::pipeline) const fn new(timing: Timing) -> Bus {
        Bus {
            timing,
            now: 0,
            wanted: false,
            address: 0,
            done: 0,
            burst: 0,
            requests: Ring::new(),
            arbiter: Ring::new(),
            in_order: Ring::new(),
            writes: LowPriorityQueue::new(),
            castouts: LowPriorityQueue::new(),
            snoops: SnoopQueue::new(),
            known: PendingLines::new(),
            sent: SentLines::new(),
            live: [const { QueueLevels::new() }; QUEUES],
            bursts: QueueLevels::new(),
            passed: 0,
            sums: [[0; 2]; QUEUES],
            bursting: 0,
            met: [0; MEETINGS.len()],
        }
    }

    /// Carries `work` for an access that executes in clock `begin`, including its waits for queue entries. Its data would arrive after
    /// `latency` clocks; returns how much later they do. `now` is the current clock.
    pub(in crate::pipeline) fn carry(&mut self, work: BusTraffic, begin: u64, latency: u64, now: u64) -> u64 {
        // Entries that could be sent before this is known go first.
        self.now = now;
        self.drain(now);
        let sent = begin + self.timing.third + 1;
        let lines = self.known.get(work.place());
        let mut held = 0;
        for (kind, clocks) in [(Work::LineWrites, LINE_CLOCKS), (Work::Pieces, PART_CLOCKS)] {
            for _ in 0..work.count(kind) {
                held = self.write(LowPriorityEntry { at: sent, clocks, line: lines.written }).max(held);
            }
        }
        let mut late = 0;
        for (kind, clocks) in [(Work::LineReads, LINE_CLOCKS), (Work::Invalidations, 0), (Work::PartialReads, PART_CLOCKS)] {
            for _ in 0..work.count(kind) {
                late = self.request(begin, latency, held, (clocks, lines.asked)).max(late);
            }
        }
        (0..work.count(Work::Castouts)).for_each(|_| self.cast_out(LowPriorityEntry { at: sent, clocks: 0, line: lines.cast_out }));
        (0..work.count(Work::ThirdHits)).for_each(|_| self.hit_third(begin));
        (0..work.count(Work::Posted)).for_each(|_| self.post(sent, lines.asked));
        late
    }

    /// Carries a request that the third level answers.
    fn hit_third(&mut self, begin: u64) {
        let queued = (begin + self.timing.second).max(self.requests.room(1));
        let answered = queued + self.timing.third - self.timing.second;
        self.requests.take_in_order(answered);
        self.enter(BusQueue::Requests, queued.max(self.now), answered);
    }

    /// FB2 to FB4: carries a request that is waited for. Returns how much later it is answered.
    fn request(&mut self, begin: u64, latency: u64, held: u64, (clocks, line): (u64, u64)) -> u64 {
        let Timing { ratio, second, third, .. } = self.timing;
        let queued = (begin + second).max(self.requests.room(1));
        let sent = (queued + third - second + 1).max(held).max(self.arbiter.room(1));
        self.drain(sent);
        let soonest = (sent + ratio).max(self.in_order.room(1));
        // Castouts are sent while it waits for the in-order queue.
        self.drain(soonest.saturating_sub(REQUEST * ratio));
        let issued = soonest.max(self.address);
        let waited = issued - (begin + third + 1 + ratio);
        let first = (begin + latency + waited).max(issued + REQUEST * ratio).max(self.done);
        self.address = issued + REQUEST * ratio;
        self.requests.take(first);
        self.arbiter.take(issued);
        self.enter(BusQueue::Requests, queued.max(self.now), first);
        self.enter(BusQueue::Arbiter, sent.max(self.now), issued);
        if clocks == LINE_CLOCKS {
            self.enter(BusQueue::Reads, sent.max(self.now), first);
        }
        // Requests that the front end made ahead of time were sent before this clock.
        self.order(issued.max(self.now), first, clocks, line);
        first - (begin + latency)
    }

    /// Keeps a transaction that was sent at `issued` in the in-order queue until its data, which begin at `first`, have been on the bus.
    fn order(&mut self, issued: u64, first: u64, clocks: u64, line: u64) {
        self.transfer(issued, first, clocks);
        self.in_order.take(self.done);
        self.send(issued, self.done, line);
    }

    /// Keeps a transaction on `line` in the in-order queue from `issued` to `done`. FB14: others in the queue may have the same line.
    fn send(&mut self, issued: u64, done: u64, line: u64) {
        self.enter(BusQueue::InOrder, issued, done);
        let met = self.sent.push(line, issued, done);
        self.meet(Meeting::InOrder, met);
    }

    fn meet(&mut self, meeting: Meeting, entries: usize) {
        if let Some(met) = self.met.get_mut(meeting as usize) {
            *met += entries as u64;
        }
    }

    /// Stores the lines of traffic that the pipeline is about to cause. Returns their place.
    pub(in crate::pipeline) fn know(&mut self, lines: Lines) -> usize {
        self.known.put(lines)
    }

    /// FB10 to FB13: handles a snoop that reaches the core in clock `now`. Returns its times.
    pub(in crate::pipeline) fn snoop(&mut self, snoop: Snoop, now: u64) -> SnoopTimes {
        self.now = now;
        let (line, timing) = (snoop.line(), self.timing);
        let arrived = self.snoops.arrive(now, &timing);
        self.drain(arrived);
        self.meet(Meeting::Castout, self.castouts.of_line(line, arrived));
        self.meet(Meeting::Write, self.writes.of_line(line, arrived));
        let looked = self.snoops.look_up(&timing);
        let cancelled = self.writes.take_whole(line, arrived).is_some();
        let answered = if cancelled {
            self.meet(Meeting::CancelledWrite, 1);
            self.transfer_implicitly(looked);
            let done = self.done;
            self.queue(BusQueue::Writes).close(done);
            looked
        } else if snoop.finds_modified() {
            self.write_implicitly(looked)
        } else {
            looked
        };
        let times = self.snoops.answer(answered, &timing);
        self.enter(BusQueue::Snoops, times.arrived, times.answered);
        if timing.joins {
            self.enter(BusQueue::Answers, times.answered, times.signed);
        }
        times
    }

    /// FB5: puts data of a transaction sent at `issued` on the bus from `first` on, for `clocks` bus clocks.
    fn transfer(&mut self, issued: u64, first: u64, clocks: u64) {
        self.done = first + clocks * self.timing.ratio;
        if clocks != 0 {
            if first == self.burst {
                if self.bursts.is_full() {
                    self.pass(issued.min(self.now));
                }
                self.bursts.enter(first, self.done);
            }
            self.burst = self.done;
        }
    }

    /// FB6: puts a write into its queue when there is room. Returns the clock of entry.
    fn write(&mut self, entry: LowPriorityEntry) -> u64 {
        while self.writes.is_full() {
            self.send_write();
        }
        let at = entry.at.max(self.writes.room()).max(self.now);
        self.make_room(BusQueue::Writes, at);
        self.queue(BusQueue::Writes).open(at);
        self.writes.push(LowPriorityEntry { at, ..entry });
        at
    }

    /// FB7: answers a snoop with data, which take a write queue entry but no request of this core. Returns the clock of entry.
    fn write_implicitly(&mut self, from: u64) -> u64 {
        while self.writes.is_full() {
            self.send_write();
        }
        let at = self.writes.room().max(from);
        self.transfer_implicitly(at);
        self.enter(BusQueue::Writes, at, self.done);
        at
    }

    fn transfer_implicitly(&mut self, at: u64) {
        let first = (at + REQUEST * self.timing.ratio).max(self.done);
        self.transfer(at, first, LINE_CLOCKS);
        self.writes.leave(self.done);
    }

    /// FB8: puts a clean castout into its queue when there is room.
    fn cast_out(&mut self, entry: LowPriorityEntry) {
        while self.castouts.is_full() {
            self.send_castout();
        }
        let at = entry.at.max(self.castouts.room()).max(self.now);
        self.make_room(BusQueue::Castouts, at);
        self.queue(BusQueue::Castouts).open(at);
        self.castouts.push(LowPriorityEntry { at, ..entry });
    }

    /// Sends a store that is not waited for, in turn with the requests.
    fn post(&mut self, sent: u64, line: u64) {
        let ratio = self.timing.ratio;
        self.drain(sent);
        let issued = (sent + ratio).max(self.address).max(self.in_order.room(1));
        self.address = issued + REQUEST * ratio;
        let first = self.address.max(self.done);
        self.order(issued.max(self.now), first, PART_CLOCKS, line);
    }

    /// Returns when the oldest write can be sent; `next_castout` does so for the oldest castout.
    fn next_write(&self) -> Option<u64> {
        let LowPriorityEntry { at, .. } = self.writes.first()?;
        Some((at + self.timing.ratio).max(self.address).max(self.in_order.room(1)))
    }

    fn next_castout(&self) -> Option<u64> {
        let LowPriorityEntry { at, .. } = self.castouts.first()?;
        Some((at + self.timing.ratio).max(self.address))
    }

    /// Sends the writes and castouts that can be sent up to clock `to`, in order.
    fn drain(&mut self, to: u64) {
        loop {
            let (write, castout) = (self.next_write().unwrap_or(u64::MAX), self.next_castout().unwrap_or(u64::MAX));
            if write.min(castout) > to {
                return;
            }
            if write <= castout {
                self.send_write();
            } else {
                self.send_castout();
            }
        }
    }

    fn send_write(&mut self) {
        let (Some(issued), Some(LowPriorityEntry { clocks, line, .. })) = (self.next_write(), self.writes.take()) else { return };
        self.address = issued + REQUEST * self.timing.ratio;
        let first = self.address.max(self.done);
        self.order(issued, first, clocks, line);
        self.writes.leave(self.done);
        let done = self.done;
        self.queue(BusQueue::Writes).close(done);
    }

    fn send_castout(&mut self) {
        let (Some(issued), Some(LowPriorityEntry { line, .. })) = (self.next_castout(), self.castouts.take()) else { return };
        self.castouts.leave(issued);
        self.queue(BusQueue::Castouts).close(issued);
        self.address = issued + REQUEST * self.timing.ratio;
        self.send(issued, self.address, line);
    }

    fn queue(&mut self, queue: BusQueue) -> &mut QueueLevels {
        let [first, rest @ ..] = &mut self.live;
        (queue as usize).checked_sub(1).and_then(|number| rest.get_mut(number)).unwrap_or(first)
    }

    /// Makes room for an entry that arrives in clock `begin`, and perhaps others, none of them before the current clock.
    fn make_room(&mut self, queue: BusQueue, begin: u64) {
        if self.queue(queue).is_full() {
            self.pass(begin.min(self.now));
        }
    }

    fn enter(&mut self, queue: BusQueue, begin: u64, end: u64) {
        self.make_room(queue, begin);
        self.queue(queue).enter(begin, end);
    }

    /// Counts the entries of the clocks up to `to`.
    fn pass(&mut self, to: u64) {
        if to <= self.passed {
            return;
        }
        let (from, bits) = (self.passed, self.timing.low_bits);
        for (live, sums) in self.live.iter_mut().zip(&mut self.sums) {
            let more = live.pass(from, to, bits);
            (sums[0], sums[1]) = (sums[0] + more[0], sums[1] + more[1]);
        }
        self.bursting += self.bursts.pass(from, to, bits)[0];
        self.passed = to;
    }

    /// Applies a changed demand in clock `now`. Earlier counts are dropped.
    pub(in crate::pipeline) fn sync(&mut self, now: u64, wants: impl Fn(Signal) -> bool) {
        self.now = now;
        self.drain(now);
        self.pass(now);
        (self.sums, self.bursting, self.met) = ([[0; 2]; QUEUES], 0, [0; MEETINGS.len()]);
        self.wanted = signals().any(wants);
    }

    /// Counts the entries of the queues in the clocks before `now`, if any of their signals is counted.
    #[inline]
    pub(in crate::pipeline) fn settle(&mut self, now: u64, tally: &mut Tally) {
        if self.wanted {
            self.report(now, tally);
        }
    }

    #[inline(never)]
    fn report(&mut self, now: u64, tally: &mut Tally) {
        self.now = now;
        self.drain(now);
        self.pass(now);
        for (signals, sums) in LIVE.iter().zip(&mut self.sums) {
            for (signal, sum) in signals.iter().zip(sums) {
                tally.add(*signal, core::mem::take(sum));
            }
        }
        for (signal, met) in MEETINGS.iter().zip(&mut self.met) {
            tally.add(*signal, core::mem::take(met));
        }
        tally.add(Signal::BusBackToBackCycles, self.bursting / self.timing.ratio);
        self.bursting %= self.timing.ratio;
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.address, self.done, self.burst, self.passed, self.bursting]);
        writer.words(self.sums.as_flattened());
        writer.words(&self.met);
        self.requests.save(writer);
        self.arbiter.save(writer);
        self.in_order.save(writer);
        self.writes.save(writer);
        self.castouts.save(writer);
        self.snoops.save(writer);
        self.known.save(writer);
        self.sent.save(writer);
        self.live.iter().chain([&self.bursts]).for_each(|live| live.save(writer));
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for each in [&mut self.address, &mut self.done, &mut self.burst, &mut self.passed, &mut self.bursting] {
            *each = time(reader, now)?;
        }
        self.passed = self.passed.min(now);
        self.now = now;
        for sum in self.sums.as_flattened_mut().iter_mut().chain(&mut self.met) {
            *sum = time(reader, now)?;
        }
        self.requests.load(reader, now)?;
        self.arbiter.load(reader, now)?;
        self.in_order.load(reader, now)?;
        self.writes.load(reader, now)?;
        self.castouts.load(reader, now)?;
        self.snoops.load(reader, now)?;
        self.known.load(reader)?;
        self.sent.load(reader, now)?;
        self.live.iter_mut().chain([&mut self.bursts]).try_for_each(|live| live.load(reader, now))
    }
}
