//! Timing of a core's answers to snoops of others, and of the bus's wait for them. Rules FB10 to FB12 are in `docs/notes/fabric-ia64.md`.

use super::bus_timing::{REQUEST, Timing};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::queue::Ring;
use crate::pipeline::resources::saving::time;

/// Entries of the snoop queue and of the snoop coalescing buffer (M: pages of ER_SNOOPQ_REQ and SI_SCB_LIVE_REQ).
pub(super) const SNOOPS: usize = 8;
/// Bus clocks from a request until its answers are due.
const PHASE: u64 = 4;

/// The snoops of a core in time.
#[derive(Clone, Debug)]
pub(super) struct SnoopQueue {
    /// The clocks in which the last snoop arrived, was answered, and had its answer taken by the bus.
    arrived: u64,
    answered: u64,
    signed: u64,
    queue: Ring<SNOOPS>,
    buffer: Ring<SNOOPS>,
}

/// The times of a snoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pipeline) struct SnoopTimes {
    pub(in crate::pipeline) arrived: u64,
    pub(super) answered: u64,
    pub(super) signed: u64,
    /// Bus clocks for which the answer was waited for.
    pub(in crate::pipeline) stalled: u64,
}

impl SnoopQueue {
    pub(super) const fn new() -> SnoopQueue {
        SnoopQueue { arrived: 0, answered: 0, signed: 0, queue: Ring::new(), buffer: Ring::new() }
    }

    /// FB10: returns when the next snoop arrives, which the core sees in clock `now`.
    pub(super) fn arrive(&mut self, now: u64, timing: &Timing) -> u64 {
        let room = self.queue.room_within(1, timing.snoops);
        self.arrived = (self.arrived + REQUEST * timing.ratio).max(now).max(room);
        self.arrived
    }

    /// FB11: returns when its answer is known, if it needs no entry for data.
    pub(super) fn look_up(&self, timing: &Timing) -> u64 {
        (self.arrived + timing.third - timing.second).max(self.answered).max(self.buffer.room(1))
    }

    /// FB12: answers it, and passes the answer to the bus.
    pub(super) fn answer(&mut self, answered: u64, timing: &Timing) -> SnoopTimes {
        let step = REQUEST * timing.ratio;
        let due = (self.arrived + PHASE * timing.ratio).max(self.signed + step);
        // The bus waits for two of its clocks at a time.
        let waits = answered.saturating_sub(due).div_ceil(step);
        (self.answered, self.signed) = (answered, due + waits * step);
        self.queue.take(answered);
        self.buffer.take(self.signed);
        SnoopTimes { arrived: self.arrived, answered, signed: self.signed, stalled: waits * REQUEST }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[self.arrived, self.answered, self.signed]);
        self.queue.save(writer);
        self.buffer.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for each in [&mut self.arrived, &mut self.answered, &mut self.signed] {
            *each = time(reader, now)?;
        }
        self.queue.load(reader, now)?;
        self.buffer.load(reader, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six core clocks per bus clock; a look-up takes 14 - 5 = 9.
    const TIMING: Timing = Timing { ratio: 6, second: 5, third: 14, low_bits: 3, snoops: 8, joins: true };

    fn follow(snoops: &mut SnoopQueue, now: u64) -> SnoopTimes {
        snoops.arrive(now, &TIMING);
        let looked = snoops.look_up(&TIMING);
        snoops.answer(looked, &TIMING)
    }

    #[test]
    fn snoops_come_one_after_the_other_and_are_answered_in_time() {
        let mut snoops = SnoopQueue::new();
        // Two bus clocks apart; answered after 9 clocks, and taken by the bus after 24.
        for number in 0..3 {
            let arrived = 100 + 12 * number;
            let times = SnoopTimes { arrived, answered: arrived + 9, signed: arrived + 24, stalled: 0 };
            assert_eq!(follow(&mut snoops, 100), times);
        }
    }

    #[test]
    fn the_bus_waits_for_a_late_answer_in_steps_of_two_clocks() {
        let mut snoops = SnoopQueue::new();
        snoops.arrive(100, &TIMING);
        // Due at 124, and 26 clocks late: three times 12, six clocks of the bus.
        assert_eq!(snoops.answer(150, &TIMING), SnoopTimes { arrived: 100, answered: 150, signed: 160, stalled: 6 });
        // The next one is answered no sooner, but its bus phase is two clocks later, so it is in time.
        assert_eq!(follow(&mut snoops, 100), SnoopTimes { arrived: 112, answered: 150, signed: 172, stalled: 0 });
    }

    #[test]
    fn a_snoop_waits_for_a_place_in_the_queue() {
        let mut snoops = SnoopQueue::new();
        snoops.arrive(100, &TIMING);
        snoops.answer(500, &TIMING);
        (0..7).for_each(|_| _ = follow(&mut snoops, 100));
        // All eight entries are taken until 500.
        assert_eq!(snoops.arrive(100, &TIMING), 500);
    }
}
