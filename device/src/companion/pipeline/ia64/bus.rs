//! The front-side bus in time, as one thread sees it: when its requests, writes and castouts are sent, and how many wait in which queue.
//! Rules FB1 to FB9 are in `docs/notes/fabric-ia64.md`.

use vm_pmu_arch::feed::Signal;

use super::super::super::bus::{Carried, LINE_CLOCKS, Work};
use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::super::tally::Tally;
use super::super::queue::Ring;
use super::super::time;
use super::live::Live;
use super::waiting::{PLACES, Waiting};

/// Clocks of the bus that the request of a transaction takes, and its data if they are no line.
const REQUEST: u64 = 2;
const PART_CLOCKS: u64 = 1;
/// Requests that the request queue takes, and transactions in the in-order queue.
const REQUESTS: usize = 16;
const IN_ORDER: usize = 8;

/// How the bus of a part goes.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Timing {
    /// Clocks of the core in one of the bus.
    pub(in super::super) ratio: u64,
    /// From the execution of an access until the second level has missed it, and the third.
    pub(in super::super) second: u64,
    pub(in super::super) third: u64,
    /// How many lower bits of a number of entries are added up apart.
    pub(in super::super) low_bits: u32,
}

/// The queues, in the order of [`LIVE`].
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
enum Queue {
    Requests,
    Reads,
    Arbiter,
    Writes,
    Castouts,
    InOrder,
}

const QUEUES: usize = Queue::InOrder as usize + 1;

/// For each queue, what its numbers of entries are added up as.
const LIVE: [[Signal; 2]; QUEUES] = [
    [Signal::BusRequestQueueLow, Signal::BusRequestQueueHigh],
    [Signal::BusReadsOutstandingLow, Signal::BusReadsOutstandingHigh],
    [Signal::BusArbiterQueueLow, Signal::BusArbiterQueueHigh],
    [Signal::BusWriteQueueLow, Signal::BusWriteQueueHigh],
    [Signal::BusCastoutQueueLow, Signal::BusCastoutQueueHigh],
    [Signal::BusInOrderQueueLow, Signal::BusInOrderQueueHigh],
];

/// Whether the bus in time supplies `signal`.
pub(in super::super) fn supplies(signal: Signal) -> bool {
    signal == Signal::BusBackToBackCycles || LIVE.as_flattened().contains(&signal)
}

/// What one thread has on the bus.
#[derive(Clone, Debug)]
pub(in super::super) struct Bus {
    timing: Timing,
    /// The present clock.
    now: u64,
    /// Whether anything of it is counted.
    wanted: bool,
    /// When the next request can be sent, when all that was sent before is done, and when the last burst of data ended.
    address: u64,
    done: u64,
    burst: u64,
    requests: Ring<REQUESTS>,
    arbiter: Ring<PLACES>,
    in_order: Ring<IN_ORDER>,
    writes: Waiting,
    castouts: Waiting,
    live: [Live; QUEUES],
    /// Bursts that follow another one at once.
    bursts: Live,
    /// Up to which clock entries have been counted, and what is not reported.
    passed: u64,
    sums: [[u64; 2]; QUEUES],
    bursting: u64,
}

impl Bus {
    pub(in super::super) const fn new(timing: Timing) -> Bus {
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
            writes: Waiting::new(),
            castouts: Waiting::new(),
            live: [const { Live::new() }; QUEUES],
            bursts: Live::new(),
            passed: 0,
            sums: [[0; 2]; QUEUES],
            bursting: 0,
        }
    }

    /// An access that executes in clock `begin`, its waits for places among them, makes the bus carry `work`. Its data would come after
    /// `latency` clocks; returns how much later they come. `now` is the present clock.
    pub(in super::super) fn carry(&mut self, work: Carried, begin: u64, latency: u64, now: u64) -> u64 {
        // What could be sent before this is known goes first.
        self.now = now;
        self.drain(now);
        let sent = begin + self.timing.third + 1;
        (0..work.count(Work::ImplicitWrites)).for_each(|_| self.write_implicitly());
        let mut held = 0;
        for (kind, clocks) in [(Work::LineWrites, LINE_CLOCKS), (Work::Pieces, PART_CLOCKS)] {
            for _ in 0..work.count(kind) {
                held = self.write(sent, clocks).max(held);
            }
        }
        let mut late = 0;
        for (kind, clocks) in [(Work::LineReads, LINE_CLOCKS), (Work::Invalidations, 0), (Work::PartialReads, PART_CLOCKS)] {
            for _ in 0..work.count(kind) {
                late = self.request(begin, latency, held, clocks).max(late);
            }
        }
        (0..work.count(Work::Castouts)).for_each(|_| self.cast_out(sent));
        (0..work.count(Work::ThirdHits)).for_each(|_| self.hit_third(begin));
        (0..work.count(Work::Posted)).for_each(|_| self.post(sent));
        late
    }

    /// A request that the third level answers.
    fn hit_third(&mut self, begin: u64) {
        let queued = (begin + self.timing.second).max(self.requests.room(1));
        let answered = queued + self.timing.third - self.timing.second;
        self.requests.take_in_order(answered);
        self.enter(Queue::Requests, queued.max(self.now), answered);
    }

    /// FB2 to FB4: a request that is waited for. Returns how much later it is answered.
    fn request(&mut self, begin: u64, latency: u64, held: u64, clocks: u64) -> u64 {
        let Timing { ratio, second, third, .. } = self.timing;
        let queued = (begin + second).max(self.requests.room(1));
        let sent = (queued + third - second + 1).max(held).max(self.arbiter.room(1));
        self.drain(sent);
        let soonest = (sent + ratio).max(self.in_order.room(1));
        // Castouts go while it waits for the in-order queue.
        self.drain(soonest.saturating_sub(REQUEST * ratio));
        let issued = soonest.max(self.address);
        let waited = issued - (begin + third + 1 + ratio);
        let first = (begin + latency + waited).max(issued + REQUEST * ratio).max(self.done);
        self.address = issued + REQUEST * ratio;
        self.requests.take(first);
        self.arbiter.take(issued);
        self.enter(Queue::Requests, queued.max(self.now), first);
        self.enter(Queue::Arbiter, sent.max(self.now), issued);
        if clocks == LINE_CLOCKS {
            self.enter(Queue::Reads, sent.max(self.now), first);
        }
        // What the front end asked for ahead of time has been sent before this clock.
        self.order(issued.max(self.now), first, clocks);
        first - (begin + latency)
    }

    /// A transaction that was sent at `issued` is in the in-order queue until its data, which begin at `first`, have been on the bus.
    fn order(&mut self, issued: u64, first: u64, clocks: u64) {
        self.transfer(issued, first, clocks);
        self.in_order.take(self.done);
        self.enter(Queue::InOrder, issued, self.done);
    }

    /// FB5: data of what was sent at `issued` are on the bus from `first` on, for so many of its clocks.
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

    /// FB6: a write enters its queue when it has a place. Returns when.
    fn write(&mut self, sent: u64, clocks: u64) -> u64 {
        while self.writes.is_full() {
            self.send_write();
        }
        let at = sent.max(self.writes.room()).max(self.now);
        self.make_room(Queue::Writes, at);
        self.queue(Queue::Writes).open(at);
        self.writes.push(at, clocks);
        at
    }

    /// FB7: the answer to a snoop is data, which take a place of the write queue, and no request of this core.
    fn write_implicitly(&mut self) {
        while self.writes.is_full() {
            self.send_write();
        }
        let at = self.writes.room().max(self.now);
        let first = (at + REQUEST * self.timing.ratio).max(self.done);
        self.transfer(at, first, LINE_CLOCKS);
        self.writes.leave(self.done);
        self.enter(Queue::Writes, at, self.done);
    }

    /// FB8: a clean castout enters its queue when it has a place.
    fn cast_out(&mut self, sent: u64) {
        while self.castouts.is_full() {
            self.send_castout();
        }
        let at = sent.max(self.castouts.room()).max(self.now);
        self.make_room(Queue::Castouts, at);
        self.queue(Queue::Castouts).open(at);
        self.castouts.push(at, 0);
    }

    /// A store that nobody waits for is sent in turn with the requests.
    fn post(&mut self, sent: u64) {
        let ratio = self.timing.ratio;
        self.drain(sent);
        let issued = (sent + ratio).max(self.address).max(self.in_order.room(1));
        self.address = issued + REQUEST * ratio;
        let first = self.address.max(self.done);
        self.order(issued.max(self.now), first, PART_CLOCKS);
    }

    /// When the oldest write can be sent, and the oldest castout.
    fn next_write(&self) -> Option<u64> {
        let (at, _) = self.writes.first()?;
        Some((at + self.timing.ratio).max(self.address).max(self.in_order.room(1)))
    }

    fn next_castout(&self) -> Option<u64> {
        let (at, _) = self.castouts.first()?;
        Some((at + self.timing.ratio).max(self.address))
    }

    /// Sends the writes and castouts that can be sent up to clock `to`, in the order of these clocks.
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
        let (Some(issued), Some((_, clocks))) = (self.next_write(), self.writes.take()) else { return };
        self.address = issued + REQUEST * self.timing.ratio;
        let first = self.address.max(self.done);
        self.order(issued, first, clocks);
        self.writes.leave(self.done);
        let done = self.done;
        self.queue(Queue::Writes).close(done);
    }

    fn send_castout(&mut self) {
        let Some(issued) = self.next_castout() else { return };
        self.castouts.take();
        self.castouts.leave(issued);
        self.queue(Queue::Castouts).close(issued);
        self.address = issued + REQUEST * self.timing.ratio;
        self.enter(Queue::InOrder, issued, self.address);
    }

    fn queue(&mut self, queue: Queue) -> &mut Live {
        let [first, rest @ ..] = &mut self.live;
        (queue as usize).checked_sub(1).and_then(|number| rest.get_mut(number)).unwrap_or(first)
    }

    /// An entry is to come in clock `begin`, and perhaps others, but none before the present clock.
    fn make_room(&mut self, queue: Queue, begin: u64) {
        if self.queue(queue).is_full() {
            self.pass(begin.min(self.now));
        }
    }

    fn enter(&mut self, queue: Queue, begin: u64, end: u64) {
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

    /// The demand has changed in clock `now`; what was before is dropped.
    pub(in super::super) fn sync(&mut self, now: u64, wants: impl Fn(Signal) -> bool) {
        self.now = now;
        self.drain(now);
        self.pass(now);
        (self.sums, self.bursting) = ([[0; 2]; QUEUES], 0);
        self.wanted = wants(Signal::BusBackToBackCycles) || LIVE.as_flattened().iter().any(|signal| wants(*signal));
    }

    /// Counts what was in the queues in the clocks before `now`, if anything of it is counted.
    #[inline]
    pub(in super::super) fn settle(&mut self, now: u64, tally: &mut Tally) {
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
        tally.add(Signal::BusBackToBackCycles, self.bursting / self.timing.ratio);
        self.bursting %= self.timing.ratio;
    }

    pub(in super::super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.address, self.done, self.burst, self.passed, self.bursting]);
        writer.words(self.sums.as_flattened());
        self.requests.save(writer);
        self.arbiter.save(writer);
        self.in_order.save(writer);
        self.writes.save(writer);
        self.castouts.save(writer);
        self.live.iter().chain([&self.bursts]).for_each(|live| live.save(writer));
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for each in [&mut self.address, &mut self.done, &mut self.burst, &mut self.passed, &mut self.bursting] {
            *each = time(reader, now)?;
        }
        self.passed = self.passed.min(now);
        self.now = now;
        for sum in self.sums.as_flattened_mut() {
            *sum = time(reader, now)?;
        }
        self.requests.load(reader, now)?;
        self.arbiter.load(reader, now)?;
        self.in_order.load(reader, now)?;
        self.writes.load(reader, now)?;
        self.castouts.load(reader, now)?;
        self.live.iter_mut().chain([&mut self.bursts]).try_for_each(|live| live.load(reader, now))
    }
}
