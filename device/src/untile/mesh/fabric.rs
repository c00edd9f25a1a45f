//! Messages on their way, and what each stop counts of them.

use alloc::vec::Vec;

use super::message::{Agent, Message, Ring};
use super::plan::{COLUMNS, ROWS, Stop};
use super::run::Run;
use super::times::{At, Times};
use crate::untile::report::Report;

/// After so many clocks a sender is starved; chosen.
pub(in super::super) const STARVED: u64 = 8;
/// How many clocks ahead anything is taken, so that a load beyond what the rings carry does not grow without bound; chosen.
pub(in super::super) const AHEAD: u64 = 4096;
/// How often a message goes round before the stop makes room for it; chosen.
const ROUNDS: usize = 4;

/// Times beyond are late: sums could be beyond the end of time.
const LATE: u64 = u64::MAX >> 1;

/// The first of the selects that have a bit in what a [report](Report::of_mesh) demands.
const FIRST: u8 = 0x80;

/// Selects of chapter 6. Those of the extended transgresses follow each select of credits.
mod select {
    pub(super) const CREDITS_ACQUIRED: [u8; 4] = [0x80, 0x84, 0x88, 0x8C];
    pub(super) const CREDITS_OCCUPANCY: [u8; 4] = [0x82, 0x86, 0x8A, 0x8E];
    pub(super) const CREDITS_STALL: [u8; 4] = [0xD0, 0xD2, 0xD4, 0xD6];
    // Of the vertical rings, and of the horizontal ones.
    pub(super) const OCCUPANCY: [u8; 2] = [0x90, 0x94];
    pub(super) const INSERTS: [u8; 2] = [0x91, 0x95];
    pub(super) const FULL: [u8; 2] = [0x92, 0x96];
    pub(super) const NOT_EMPTY: [u8; 2] = [0x93, 0x97];
    pub(super) const NACK: [u8; 2] = [0x98, 0x99];
    pub(super) const EGRESS_STARVED: [u8; 2] = [0x9A, 0x9B];
    pub(super) const ANTI_DEADLOCK: [u8; 2] = [0x9C, 0x9D];
    pub(super) const BYPASS: [u8; 2] = [0x9E, 0x9F];
    pub(super) const BOUNCES: [u8; 2] = [0xA0, 0xA1];
    pub(super) const SINK_STARVED: [u8; 2] = [0xA2, 0xA3];
    pub(super) const THROTTLED: u8 = 0xA4;
    pub(super) const FAST_ASSERTED: u8 = 0xA5;
    /// Of the vertical rings AD, AK, BL and IV; that of the horizontal ring is one further.
    pub(super) const IN_USE: [u8; 4] = [0xA6, 0xA8, 0xAA, 0xAC];
    pub(super) const ORDERING: u8 = 0xAE;
    pub(super) const INGRESS_OCCUPANCY: u8 = 0xB0;
    pub(super) const INGRESS_INSERTS: u8 = 0xB1;
    pub(super) const INGRESS_BYPASS: u8 = 0xB2;
    pub(super) const NO_CREDIT: u8 = 0xB3;
    pub(super) const BUSY: u8 = 0xB4;
}

/// The queue from which `agent` sends, and its bit in unit masks.
fn queue(horizontal: bool, agent: Agent, ring: Ring) -> (At, u8) {
    if horizontal {
        return (At::Horizontal(ring.index()), 1 << ring.index());
    }
    // The IV ring has one queue for both agents (table 6-25).
    let bit = ring.index() + if agent == Agent::Cores && ring != Ring::Iv { 4 } else { 0 };
    (At::Vertical(bit), 1 << bit)
}

/// The mesh: when everything in it is free next.
#[derive(Clone, Debug)]
pub(in super::super) struct Mesh {
    times: Times,
    /// Whether anything has been carried since all of it was free.
    is_used: bool,
}

impl Mesh {
    pub(in super::super) fn new() -> Mesh {
        Mesh { times: Times::new(), is_used: false }
    }

    pub(in super::super) fn footprint(&self) -> usize {
        self.times.footprint()
    }

    pub(in super::super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        if self.is_used { self.times.save(now) } else { Vec::new() }
    }

    pub(in super::super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        if self.is_used || !saved.is_empty() {
            self.times.load(saved, now);
        }
        self.is_used = !saved.is_empty();
    }

    /// `message` sets out at `now`. Returns when it is there.
    pub(in super::super) fn carry(&mut self, message: &Message, now: u64, report: &mut impl Report) -> u64 {
        if now > LATE {
            return self.carry_plainly(message, now, report);
        }
        // What depends on the ring and the axis is worked out for each of them by the compiler.
        match message.ring {
            Ring::Ad => self.carry_by::<true>(Ring::Ad, message, now, report),
            Ring::Ak => self.carry_by::<true>(Ring::Ak, message, now, report),
            Ring::Bl => self.carry_by::<true>(Ring::Bl, message, now, report),
            Ring::Iv => self.carry_by::<true>(Ring::Iv, message, now, report),
        }
    }

    /// The same without a look at whether all is free.
    #[inline(never)]
    pub(super) fn carry_plainly(&mut self, message: &Message, now: u64, report: &mut impl Report) -> u64 {
        self.carry_by::<false>(message.ring, message, now, report)
    }

    #[inline(always)]
    fn carry_by<const QUICK: bool>(&mut self, ring: Ring, message: &Message, now: u64, report: &mut impl Report) -> u64 {
        self.is_used = true;
        let Message { from, agent, to, .. } = *message;
        let turn = Stop { column: from.column, row: to.row };
        let (vertical, horizontal) = (Run::down(from, turn), Run::across(turn, to));
        let times = &mut self.times;
        let sent = Sent { agent, ring, row: to.row, now, wanted: report.of_mesh() };
        let mut time = now;
        let turns = horizontal.hops() != 0;
        // Requests and data hold a credit of the row in which they turn (credits are those of AD and BL only).
        let credited = turns && matches!(ring, Ring::Ad | Ring::Bl);
        let event = usize::from(agent == Agent::Cores) + if ring == Ring::Bl { 2 } else { 0 };
        let credit = At::Credits(event, usize::from(to.row));
        if credited {
            let Some(words) = times.stop(vertical.from) else { return time };
            let free = words.free(credit);
            if free > time {
                let free = free.min(sent.end()).max(time);
                Way { times, report, sent }.credit(vertical.from, event, select::CREDITS_STALL, free - time);
                time = free;
            }
            if sent.wants_credits(event) {
                Way { times, report, sent }.credit(vertical.from, event, select::CREDITS_ACQUIRED, 1);
            }
        }
        let acquired = time;
        if vertical.hops() != 0 {
            time = launch::<QUICK, _>(times, report, sent, ring, vertical, time);
            time = sink::<QUICK, _>(times, report, sent, ring, vertical, turns, time);
        }
        let mut back = time;
        if turns {
            time = launch::<QUICK, _>(times, report, sent, ring, horizontal, time);
            if vertical.hops() == 0 {
                back = time.saturating_sub(horizontal.clocks()).max(acquired);
            }
            time = sink::<QUICK, _>(times, report, sent, ring, horizontal, false, time);
        }
        if credited {
            // A credit is held for the clock in which it is taken at least.
            let back = back.max(after::<QUICK>(acquired, 1));
            if sent.wants_credits(event) {
                Way { times, report, sent }.credit(vertical.from, event, select::CREDITS_OCCUPANCY, back - acquired);
            }
            if let Some(words) = times.stop(vertical.from) {
                words.take(credit, back);
            }
        }
        time
    }
}

/// So many clocks later. In a quick way, of which all times are within some thousand clocks after one that is not late, no sum is too large.
#[inline(always)]
fn after<const QUICK: bool>(time: u64, clocks: u64) -> u64 {
    if QUICK { time + clocks } else { time.saturating_add(clocks) }
}

/// What is known of a message all along its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    agent: Agent,
    ring: Ring,
    /// The row in which it turns.
    row: u8,
    /// When it sets out.
    now: u64,
    /// What is demanded [of the mesh](Report::of_mesh).
    wanted: u64,
}

impl Sent {
    /// No time is beyond.
    fn end(self) -> u64 {
        self.now.saturating_add(AHEAD)
    }

    /// Whether any box may count an event by this select of the mesh.
    #[inline(always)]
    fn wants(self, select: u8) -> bool {
        self.wanted >> (select - FIRST) & 1 != 0
    }

    /// Whether any box counts credits by an event that is not of stalls.
    #[inline(always)]
    fn wants_credits(self, event: usize) -> bool {
        // The four selects of each event follow each other.
        self.wanted >> (4 * event) & 0xF != 0
    }
}

/// The message waits in the queue of its run until it finds free slots all along, and leaves. Returns when it is at the run's end.
#[inline(always)]
fn launch<const QUICK: bool, R: Report>(times: &mut Times, report: &mut R, sent: Sent, ring: Ring, run: Run, time: u64) -> u64 {
    let from = run.from;
    let (queue, bit) = queue(run.horizontal, sent.agent, ring);
    let Some(words) = times.stop(from) else { return time };
    let throttled = words.free(At::Throttle(run.horizontal));
    let (mut enters, mut ready) = (time, time);
    if !QUICK || words.empty(queue).max(throttled) > time {
        // A full queue takes it when the first entry leaves; it leaves after all before it.
        let (free, last) = (words.free(queue), words.last(queue));
        enters = free.min(sent.end()).max(time);
        ready = last.max(enters).max(throttled);
    }
    let way = run.way(ring);
    let up = way / 2;
    if ring == Ring::Iv && !run.horizontal {
        // A snoop does not overtake an acknowledge that went the same way before it.
        let ordered = words.free(At::Acknowledge(up)).max(ready);
        if ordered > ready {
            let umask = if up == 0 { 0x01 } else { 0x04 };
            Way { times, report, sent }.count(from, select::ORDERING, umask, ordered - ready);
            ready = ordered;
        }
    }
    if ready > enters {
        ready = ready.min(sent.end()).max(enters);
    }
    let mut leaves = ready;
    let free = if QUICK { times.take_free_links(run, ring, ready) } else { 0 };
    if free < run.hops() {
        leaves = times.take_links(run, ring, free, ready, sent.end());
    }
    // The ring is in use at every stop of the run but the first.
    let in_use = select::IN_USE.get(ring.index()).map_or(0, |select| select + u8::from(run.horizontal));
    if sent.wants(in_use) {
        pass_by(report, run, in_use, 1 << way, ring.slots());
    }
    if ring == Ring::Ak && !run.horizontal {
        times.hold(from, At::Acknowledge(up), leaves);
    }
    if leaves != enters {
        Way { times, report, sent }.waits(run, (queue, bit), enters, ready, leaves);
    } else if select::BYPASS.get(run.axis()).is_some_and(|select| sent.wants(*select)) {
        Way { times, report, sent }.pair(run, from, select::BYPASS, bit, 1);
    }
    after::<QUICK>(leaves, run.clocks())
}

/// The boxes at all stops of a run but the first count something.
#[inline(never)]
fn pass_by(report: &mut impl Report, run: Run, select: u8, umask: u8, amount: u64) {
    report.add_to_each(run.units(), select, umask, amount);
}

/// The message comes from the mesh at the end of `run`. It goes on to the horizontal rings if it `turns`, otherwise to its receiver.
/// Returns when it leaves the queue there.
#[inline(always)]
fn sink<const QUICK: bool, R: Report>(times: &mut Times, report: &mut R, sent: Sent, ring: Ring, run: Run, turns: bool, time: u64) -> u64 {
    let credited = turns && matches!(ring, Ring::Ad | Ring::Bl);
    let bit = ring.index() + if credited { 4 } else { 0 };
    let Some(words) = times.stop(run.to) else { return time };
    let (queue, taker) = (At::Ingress(bit), At::Taker(ring.index()));
    let onward = if turns { words.free(At::Horizontal(ring.index())) } else { 0 };
    if !QUICK || words.empty(queue).max(words.free(taker)).max(onward) > time {
        return Way { times, report, sent }.crowd(run, turns, bit, time);
    }
    words.hold(taker, after::<QUICK>(time, ring.slots()));
    if sent.wants(select::INGRESS_BYPASS) {
        Way { times, report, sent }.count(run.to, select::INGRESS_BYPASS, 1 << bit, 1);
    }
    time
}

/// A message that waits somewhere, or of which something is counted.
struct Way<'a, R> {
    times: &'a mut Times,
    report: &'a mut R,
    sent: Sent,
}

impl<R: Report> Way<'_, R> {
    #[inline(never)]
    fn count(&mut self, stop: usize, select: u8, umask: u8, amount: u64) {
        if amount != 0
            && self.report.demands(select)
            && let Some(unit) = Stop::unit_at(stop)
        {
            self.report.add(unit, select, umask, amount);
        }
    }

    fn pair(&mut self, run: Run, stop: usize, selects: [u8; 2], umask: u8, amount: u64) {
        if let Some(select) = selects.get(run.axis()) {
            self.count(stop, *select, umask, amount);
        }
    }

    /// Counts something of credits for the row of the message: transgresses 0 to 7 have a bit each, and one together; the last has its own.
    #[inline(never)]
    fn credit(&mut self, from: usize, event: usize, selects: [u8; 4], amount: u64) {
        let Some(select) = selects.get(event).copied() else { return };
        match self.sent.row {
            row @ 0..8 => {
                self.count(from, select, 1 << row, amount);
                self.count(from, select + 1, 0x02, amount);
            }
            _ => self.count(from, select + 1, 0x01, amount),
        }
    }

    /// The message is in its queue, which has this bit in unit masks, from `enters` on, and finds no free slots from `ready` to `leaves`.
    #[inline(never)]
    fn waits(&mut self, run: Run, (queue, bit): (At, u8), enters: u64, ready: u64, leaves: u64) {
        let (from, refused) = (run.from, leaves - ready);
        let stay = self.times.stay(from, queue, enters, leaves);
        self.pair(run, from, select::INSERTS, bit, 1);
        self.pair(run, from, select::OCCUPANCY, bit, stay.occupied);
        self.pair(run, from, select::NOT_EMPTY, bit, stay.not_empty);
        self.pair(run, from, select::FULL, bit, stay.full);
        self.pair(run, from, select::NACK, bit, refused);
        if refused > STARVED {
            self.pair(run, from, select::EGRESS_STARVED, bit, refused - STARVED);
            self.pair(run, from, select::ANTI_DEADLOCK, bit, self.sent.ring.slots());
            self.throttle(run, ready.saturating_add(STARVED), leaves);
        }
    }

    /// A starved sender makes the other stops of its column or row send nothing meanwhile.
    fn throttle(&mut self, run: Run, since: u64, until: u64) {
        self.count(run.from, select::FAST_ASSERTED, if run.horizontal { 0x02 } else { 0x01 }, until.saturating_sub(since));
        let of = run.of;
        for at in 0..if run.horizontal { COLUMNS } else { ROWS } {
            let stop = if run.horizontal { Stop { column: at, row: of } } else { Stop { row: at, column: of } }.index();
            if stop != run.from {
                let throttled = self.times.free(stop, At::Throttle(run.horizontal));
                self.count(stop, select::THROTTLED, 0, until.saturating_sub(since.max(throttled)));
                self.times.hold(stop, At::Throttle(run.horizontal), until);
            }
        }
    }

    /// The message comes from the mesh at the end of `run`, to a queue that has this bit in unit masks, where something is not free.
    #[inline(never)]
    fn crowd(&mut self, run: Run, turns: bool, bit: usize, time: u64) -> u64 {
        let (ring, stop, credited) = (self.sent.ring, run.to, bit >= 4);
        let (queue, mask) = (At::Ingress(bit), 1u8 << bit);
        let room = self.times.free(stop, queue).min(self.sent.end());
        let mut enters = time;
        if credited {
            enters = enters.max(room);
        } else {
            for round in 0..ROUNDS {
                if enters >= room {
                    break;
                }
                self.pair(run, stop, select::BOUNCES, 1 << ring.index(), 1);
                if round != 0 {
                    self.pair(run, stop, select::SINK_STARVED, 1 << ring.index(), 1);
                }
                enters = enters.saturating_add(run.round());
            }
            enters = enters.max(room);
        }
        // One message of a ring is taken at a time, whichever queue it is in.
        let own = self.times.last(stop, queue).max(enters);
        let other = if matches!(ring, Ring::Ad | Ring::Bl) { self.times.last(stop, At::Ingress(bit ^ 4)) } else { 0 };
        let taken = self.times.free(stop, At::Taker(ring.index())).max(own).min(self.sent.end()).max(enters);
        if other > enters && taken - enters > STARVED {
            self.count(stop, select::BUSY, mask, taken - enters - STARVED);
        }
        let free = if turns { self.times.free(stop, At::Horizontal(ring.index())).min(self.sent.end()) } else { 0 };
        let leaves = free.max(taken);
        if leaves - taken > STARVED {
            self.count(stop, select::NO_CREDIT, mask, leaves - taken - STARVED);
        }
        self.times.hold(stop, At::Taker(ring.index()), leaves.saturating_add(ring.slots()));
        if leaves == enters {
            self.count(stop, select::INGRESS_BYPASS, mask, 1);
        } else {
            let stay = self.times.stay(stop, queue, enters, leaves);
            self.count(stop, select::INGRESS_INSERTS, mask, 1);
            self.count(stop, select::INGRESS_OCCUPANCY, mask, stay.occupied);
        }
        leaves
    }
}
