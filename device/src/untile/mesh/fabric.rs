//! Messages on their way, and what each stop counts of them.

use alloc::vec::Vec;

use vm_pmu_arch::knl::untile::UnitId;

use super::message::{Agent, Message, Ring};
use super::plan::{BELOW, COLUMNS, ROWS, Stop, clocks_of_hop};
use super::times::{At, Line, Times};
use crate::untile::report::Report;

/// After so many clocks a sender is starved; chosen.
pub(in super::super) const STARVED: u64 = 8;
/// How many clocks ahead anything is taken, so that a load beyond what the rings carry does not grow without bound; chosen.
pub(in super::super) const AHEAD: u64 = 4096;
/// How often a message goes round before the stop makes room for it; chosen.
const ROUNDS: usize = 4;

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

/// A straight run of a message: along the vertical rings, or the horizontal ones.
#[derive(Clone, Copy, Debug)]
struct Run {
    horizontal: bool,
    from: Stop,
    to: Stop,
    /// The coordinates of its ends.
    ends: (u8, u8),
}

impl Run {
    fn down(from: Stop, to: Stop) -> Run {
        Run { horizontal: false, from, to, ends: (from.row, to.row) }
    }

    fn across(from: Stop, to: Stop) -> Run {
        Run { horizontal: true, from, to, ends: (from.column, to.column) }
    }

    /// Its place in pairs of selects.
    fn axis(self) -> usize {
        usize::from(self.horizontal)
    }

    fn hops(self) -> u8 {
        self.ends.0.abs_diff(self.ends.1)
    }

    /// Whether it goes up or left.
    fn is_first_way(self) -> bool {
        self.ends.1 < self.ends.0
    }

    /// The boxes at its stops but the first.
    fn units(self) -> impl Iterator<Item = UnitId> {
        let (step, from, back) = (if self.horizontal { 1 } else { BELOW }, self.from.index(), self.is_first_way());
        let at = move |hop: usize| if back { from.saturating_sub(hop * step) } else { from + hop * step };
        (1..=usize::from(self.hops())).filter_map(move |hop| Stop::unit_at(at(hop)))
    }

    /// Its bit among even and odd slots up or left, and even and odd slots down or right. Slots are even or odd by the row or column where
    /// they end, which is chosen. The IV ring has no odd ones (tables 6-52 and 6-53).
    fn way(self, ring: Ring) -> usize {
        let odd = usize::from(self.ends.1 & 1) * usize::from(ring != Ring::Iv);
        odd + if self.is_first_way() { 0 } else { 2 }
    }

    /// The clocks of a hop.
    fn clocks(self) -> u64 {
        clocks_of_hop(self.horizontal)
    }

    /// The clocks around the whole ring: there and back.
    fn round(self) -> u64 {
        2 * self.clocks() * u64::from(if self.horizontal { COLUMNS } else { ROWS })
    }

    /// The queue from which `agent` sends.
    fn queue(self, agent: Agent, ring: Ring) -> (At, u8) {
        if self.horizontal {
            return (At::Horizontal(ring.index()), 1 << ring.index());
        }
        // The IV ring has one queue for both agents (table 6-25).
        let bit = ring.index() + if agent == Agent::Cores && ring != Ring::Iv { 4 } else { 0 };
        (At::Vertical(bit), 1 << bit)
    }
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
        self.is_used = true;
        // What depends on the ring and the axis is worked out for each of them by the compiler.
        match message.ring {
            Ring::Ad => self.carry_by(Ring::Ad, message, now, report),
            Ring::Ak => self.carry_by(Ring::Ak, message, now, report),
            Ring::Bl => self.carry_by(Ring::Bl, message, now, report),
            Ring::Iv => self.carry_by(Ring::Iv, message, now, report),
        }
    }

    #[inline(always)]
    fn carry_by(&mut self, ring: Ring, message: &Message, now: u64, report: &mut impl Report) -> u64 {
        let Message { from, agent, to, .. } = *message;
        let turn = Stop { column: from.column, row: to.row };
        let (vertical, horizontal) = (Run::down(from, turn), Run::across(turn, to));
        let mut way = Way { times: &mut self.times, report, agent, ring, row: to.row, end: now.saturating_add(AHEAD) };
        let mut time = now;
        let turns = horizontal.hops() != 0;
        // Requests and data hold a credit of the row in which they turn (credits are those of AD and BL only).
        let credit = (turns && matches!(ring, Ring::Ad | Ring::Bl)).then(|| {
            let event = usize::from(agent == Agent::Cores) + if ring == Ring::Bl { 2 } else { 0 };
            (event, At::Credits(event, usize::from(to.row)))
        });
        if let Some((event, at)) = credit {
            let free = way.times.free(from, at).min(way.end).max(time);
            way.credit(from, event, select::CREDITS_STALL, free - time);
            way.credit(from, event, select::CREDITS_ACQUIRED, 1);
            time = free;
        }
        let acquired = time;
        if vertical.hops() != 0 {
            time = way.launch(ring, vertical, time);
            time = way.sink(ring, vertical, turns, time);
        }
        let mut back = time;
        if turns {
            time = way.launch(ring, horizontal, time);
            if vertical.hops() == 0 {
                back = time.saturating_sub(u64::from(horizontal.hops()) * horizontal.clocks()).max(acquired);
            }
            time = way.sink(ring, horizontal, false, time);
        }
        if let Some((event, at)) = credit {
            // A credit is held for the clock in which it is taken at least.
            let back = back.max(acquired.saturating_add(1));
            way.credit(from, event, select::CREDITS_OCCUPANCY, back - acquired);
            way.times.take(from, at, back);
        }
        time
    }
}

/// A message on its way.
struct Way<'a, R> {
    times: &'a mut Times,
    report: &'a mut R,
    agent: Agent,
    ring: Ring,
    /// The row in which it turns.
    row: u8,
    /// No time is beyond.
    end: u64,
}

impl<R: Report> Way<'_, R> {
    fn count(&mut self, stop: Stop, select: u8, umask: u8, amount: u64) {
        if amount != 0
            && self.report.demands(select)
            && let Some(unit) = stop.unit()
        {
            self.report.add(unit, select, umask, amount);
        }
    }

    fn pair(&mut self, run: Run, stop: Stop, selects: [u8; 2], umask: u8, amount: u64) {
        if let Some(select) = selects.get(run.axis()) {
            self.count(stop, *select, umask, amount);
        }
    }

    /// Counts something of credits for the row of the message: transgresses 0 to 7 have a bit each, and one together; the last has its own.
    fn credit(&mut self, from: Stop, event: usize, selects: [u8; 4], amount: u64) {
        let Some(select) = selects.get(event).copied() else { return };
        if amount == 0 || !(self.report.demands(select) || self.report.demands(select + 1)) {
            return;
        }
        match self.row {
            row @ 0..8 => {
                self.count(from, select, 1 << row, amount);
                self.count(from, select + 1, 0x02, amount);
            }
            _ => self.count(from, select + 1, 0x01, amount),
        }
    }

    /// The message waits in the queue of its run until it finds free slots all along, and leaves. Returns when it is at the run's end.
    #[inline(always)]
    fn launch(&mut self, ring: Ring, run: Run, time: u64) -> u64 {
        let from = run.from;
        let (queue, bit) = run.queue(self.agent, ring);
        let (way, clocks) = (run.way(ring), run.clocks());
        // A full queue takes it when the first entry leaves; it leaves after all before it.
        let enters = self.times.free(from, queue).min(self.end).max(time);
        let mut ready = self.times.last(from, queue).max(enters).max(self.times.free(from, At::Throttle(run.horizontal)));
        let up = way / 2;
        if ring == Ring::Iv && !run.horizontal {
            // A snoop does not overtake an acknowledge that went the same way before it.
            let ordered = self.times.free(from, At::Acknowledge(up)).max(ready);
            self.count(from, select::ORDERING, if up == 0 { 0x01 } else { 0x04 }, ordered - ready);
            ready = ordered;
        }
        ready = ready.min(self.end).max(enters);
        let leaves = self.take_slots(ring, run, way, ready);
        self.in_use(ring, run, way);
        if ring == Ring::Ak && !run.horizontal {
            self.times.hold(from, At::Acknowledge(up), leaves);
        }
        if leaves == enters {
            self.pair(run, from, select::BYPASS, bit, 1);
        } else {
            self.waits(run, (queue, bit), enters, ready, leaves);
        }
        leaves.saturating_add(u64::from(run.hops()) * clocks)
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
            self.pair(run, from, select::ANTI_DEADLOCK, bit, self.ring.slots());
            self.throttle(run, ready.saturating_add(STARVED), leaves);
        }
    }

    /// Takes free slots of every link of a run, from `ready` on. Returns when the message leaves.
    #[inline(always)]
    fn take_slots(&mut self, ring: Ring, run: Run, way: usize, ready: u64) -> u64 {
        let (from, to) = run.ends;
        let of = if run.horizontal { run.from.row } else { run.from.column };
        let line = Line { horizontal: run.horizontal, ring: ring.index(), way, of };
        self.times.take_links(line, from, to, ring.slots(), ready, self.end)
    }

    /// The ring is in use at every stop of a run but the first.
    #[inline(always)]
    fn in_use(&mut self, ring: Ring, run: Run, way: usize) {
        let Some(select) = select::IN_USE.get(ring.index()).map(|select| select + u8::from(run.horizontal)) else { return };
        if self.report.demands(select) {
            let slots = ring.slots();
            run.units().for_each(|unit| self.report.add(unit, select, 1 << way, slots));
        }
    }

    /// A starved sender makes the other stops of its column or row send nothing meanwhile.
    fn throttle(&mut self, run: Run, since: u64, until: u64) {
        self.count(run.from, select::FAST_ASSERTED, if run.horizontal { 0x02 } else { 0x01 }, until.saturating_sub(since));
        for at in 0..if run.horizontal { COLUMNS } else { ROWS } {
            let stop = if run.horizontal { Stop { column: at, ..run.from } } else { Stop { row: at, ..run.from } };
            if stop != run.from {
                let throttled = self.times.free(stop, At::Throttle(run.horizontal));
                self.count(stop, select::THROTTLED, 0, until.saturating_sub(since.max(throttled)));
                self.times.hold(stop, At::Throttle(run.horizontal), until);
            }
        }
    }

    /// The message comes from the mesh at the end of `run`. It goes on to the horizontal rings if it `turns`, otherwise to its receiver.
    /// Returns when it leaves the queue there.
    #[inline(always)]
    fn sink(&mut self, ring: Ring, run: Run, turns: bool, time: u64) -> u64 {
        let stop = run.to;
        let credited = turns && matches!(ring, Ring::Ad | Ring::Bl);
        let bit = ring.index() + if credited { 4 } else { 0 };
        let (queue, mask) = (At::Ingress(bit), 1u8 << bit);
        let room = self.times.free(stop, queue).min(self.end);
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
        let taken = self.times.free(stop, At::Taker(ring.index())).max(own).min(self.end).max(enters);
        if other > enters && taken - enters > STARVED {
            self.count(stop, select::BUSY, mask, taken - enters - STARVED);
        }
        let free = if turns { self.times.free(stop, At::Horizontal(ring.index())).min(self.end) } else { 0 };
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
