//! A request or an answer passes an agent's pipeline, and is rejected and tried again until all is free that it needs. One of each queue
//! passes in a clock, which is chosen.

use super::agents::{At, Credit, Homes};
use super::filter::{self, Seeks, WAYS};
use crate::untile::mesh::{AHEAD, STARVED};

/// What is rejected is tried again every so many clocks; chosen.
const AGAIN: u64 = 8;
/// For how many reasons after each other something is rejected at most; chosen.
const REASONS: usize = 8;

/// A queue of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Queue {
    /// IRQ: requests of tiles.
    Irq,
    /// IPQ: snoops of memory controllers.
    Ipq,
    /// ISMQ: answers of memory, devices and of tiles that asked.
    Ismq,
    /// ISMQ: answers to snoops, which pass beside the others; that is chosen.
    Snooped,
    /// PRQ: requests of devices.
    Prq,
}

/// Selects of chapter 5.
mod select {
    pub(super) const OCCUPANCY: u8 = 0x11;
    pub(super) const INSERTS: u8 = 0x13;
    pub(super) const STARVED: u8 = 0x14;
    pub(super) const ISMQ_REJECT: u8 = 0x24;
    pub(super) const REQUEST_RETRY: u8 = 0x2A;
    pub(super) const ISMQ_RETRY: u8 = 0x2C;
    pub(super) const OTHER_RETRY: u8 = 0x2E;
}

/// Bits of the second of two selects of rejects (tables 5-5, 5-7, 5-9, 5-12 and 5-15).
const ANY: u8 = 0x01;

impl Queue {
    const fn index(self) -> usize {
        match self {
            Queue::Irq => 0,
            Queue::Ipq => 1,
            Queue::Ismq => 2,
            Queue::Prq => 3,
            Queue::Snooped => 4,
        }
    }

    /// Its bit in table 5-3, and in tables 5-1 and 5-2 but for the ISMQ.
    const fn bit(self) -> u8 {
        match self {
            Queue::Irq => 0x01,
            Queue::Ipq => 0x04,
            Queue::Ismq | Queue::Snooped => 0x08,
            Queue::Prq => 0x10,
        }
    }

    /// The bit of the queue of its rejected entries in tables 5-1 and 5-2, if it is counted.
    const fn rejected_bit(self) -> Option<u8> {
        match self {
            Queue::Irq => Some(0x02),
            Queue::Prq => Some(0x20),
            Queue::Ipq | Queue::Ismq | Queue::Snooped => None,
        }
    }

    pub(in super::super) const fn is_of_answers(self) -> bool {
        matches!(self, Queue::Ismq | Queue::Snooped)
    }

    /// The selects of its rejects and of the first retries of what was rejected. The second of each pair is one further; the ISMQ has none.
    const fn rejects(self) -> (u8, u8) {
        match self {
            Queue::Irq => (0x18, select::REQUEST_RETRY),
            Queue::Prq => (0x20, select::REQUEST_RETRY),
            Queue::Ipq => (0x22, select::REQUEST_RETRY),
            Queue::Ismq | Queue::Snooped => (select::ISMQ_REJECT, select::ISMQ_RETRY),
        }
    }
}

/// Why something is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// No credit, or no place in the queue to a ring.
    Credit(Credit),
    /// The victim that it needs cannot be evicted: too many are.
    Victim,
    /// Other requests have all ways of its set.
    Way,
    /// No snoop can be sent.
    Snoop,
    /// Another request has its line.
    Address,
}

/// What a request needs to enter the table, or an answer to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in super::super) struct Needs {
    /// For the message that it makes the agent send.
    pub(in super::super) credit: Option<Credit>,
    /// The line that it asks for, and what it does to the snoop filter; an answer has its entry already.
    pub(in super::super) line: Option<(u64, Option<Seeks>)>,
}

impl Homes {
    /// Something that needs `needs` comes into a queue of agent `home` at `arrives`. `report` gets selects, unit masks and numbers of clocks
    /// or events. Returns when it has passed.
    #[inline]
    pub(in super::super) fn pass(&mut self, home: u8, queue: Queue, arrives: u64, needs: &Needs, report: impl FnMut(u8, u8, u64)) -> u64 {
        if !self.passes_at_once(home, queue, arrives, needs) {
            return self.pass_in_turn(home, queue, arrives, needs, report);
        }
        self.words(home, At::Passed(queue.index())).fill(arrives.saturating_add(1));
        arrives
    }

    /// Whether it waits for nothing. That what is in the table is not in its way is not looked for.
    #[inline]
    fn passes_at_once(&self, home: u8, queue: Queue, arrives: u64, needs: &Needs) -> bool {
        let is_free = |at| self.is_free(home, at, arrives);
        let has_line = |(_, seeks): (u64, Option<Seeks>)| {
            self.is_empty(home, arrives) && (!seeks.is_some_and(Seeks::allocates) || is_free(At::Evictions))
        };
        is_free(At::Passed(queue.index()))
            && (queue.is_of_answers() || self.free(home, At::Table) <= arrives)
            && needs.line.is_none_or(has_line)
            && needs.credit.is_none_or(|credit| is_free(At::Credits(credit)))
    }

    /// The same as [`pass`](Homes::pass), whatever it waits for.
    pub(super) fn pass_in_turn(&mut self, home: u8, queue: Queue, arrives: u64, needs: &Needs, mut report: impl FnMut(u8, u8, u64)) -> u64 {
        let end = arrives.saturating_add(AHEAD);
        let passed = self.free(home, At::Passed(queue.index()));
        let mut time = passed.min(end).max(arrives);
        if passed > arrives && time - arrives > STARVED {
            let since = self.free(home, At::Starved(queue.index())).max(arrives.saturating_add(STARVED));
            report(select::STARVED, queue.bit(), time.saturating_sub(since));
            self.words(home, At::Starved(queue.index())).fill(time);
        }
        if !queue.is_of_answers() {
            // Who waits for the table is not rejected.
            time = self.free(home, At::Table).min(end).max(time);
            report(select::OCCUPANCY, queue.bit(), time - arrives);
        }
        self.words(home, At::Passed(queue.index())).fill(time.saturating_add(1));
        let first = time;
        let (rejects, retries) = queue.rejects();
        for reasons in 0..REASONS {
            let Some((reason, until)) = self.lacks(home, queue, needs, time) else { break };
            let tries = until.min(end).saturating_sub(time).div_ceil(AGAIN);
            if reasons == 0 {
                count(rejects, queue.is_of_answers(), reason, 1, &mut report);
                count(retries, queue.is_of_answers(), reason, 1, &mut report);
            }
            count(select::OTHER_RETRY, false, reason, tries - u64::from(reasons == 0 && tries != 0), &mut report);
            time = time.saturating_add(tries.saturating_mul(AGAIN));
        }
        if time > first
            && let Some(bit) = queue.rejected_bit()
        {
            report(select::INSERTS, bit, 1);
            report(select::OCCUPANCY, bit, time - first);
        }
        time
    }

    /// What is not free at `time`, and until when.
    fn lacks(&self, home: u8, queue: Queue, needs: &Needs, time: u64) -> Option<(Reason, u64)> {
        if let Some((line, seeks)) = needs.line {
            if let Some((leaves, _)) = self.entries(home, time).find(|(_, other)| *other == line) {
                return Some((Reason::Address, leaves));
            }
            if seeks.is_some_and(Seeks::allocates) {
                // Each of the set's requests has a way.
                let of_set = || self.entries(home, time).filter(|(_, other)| filter::set(*other) == filter::set(line));
                let is_new = || self.filter.look_up(home, line).is_none();
                if of_set().count() >= WAYS && is_new() {
                    return Some((Reason::Way, of_set().map(|(leaves, _)| leaves).min().unwrap_or(time)));
                }
                let evicts = self.free(home, At::Evictions);
                if evicts > time && is_new() && self.filter.is_full(home, line) {
                    return Some((Reason::Victim, evicts));
                }
            }
        }
        let credit = needs.credit?;
        let free = self.free(home, At::Credits(credit));
        // Table 5-8 has no IV ring for the IPQ: there it is a snoop that is not allowed (table 5-9).
        let reason = if queue == Queue::Ipq && credit == Credit::Iv { Reason::Snoop } else { Reason::Credit(credit) };
        (free > time).then_some((reason, free))
    }
}

/// Counts a reason at `first`, the first of two selects, so many `times`.
fn count(first: u8, is_answer: bool, reason: Reason, times: u64, report: &mut impl FnMut(u8, u8, u64)) {
    let bit = match reason {
        Reason::Credit(credit) => {
            report(first, 1 << credit.index(), times);
            ANY
        }
        Reason::Victim => 0x08,
        Reason::Way => 0x20,
        Reason::Snoop => 0x40,
        Reason::Address => 0x80,
    };
    // Answers have no second select.
    if !is_answer {
        report(first + 1, bit, times);
    }
}
