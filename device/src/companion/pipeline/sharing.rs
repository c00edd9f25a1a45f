//! The threads of a core: whose turn it is, and what they share.

use alloc::boxed::Box;

use super::super::bytes::{Damaged, Reader, Writer};
use super::super::profile::Microarchitecture;
use super::{boxed, knl, power9, time};

/// The most threads of a core that compete with each other.
pub(in super::super) const THREADS: usize = 8;
/// Cycles that a thread may be behind those of its core that have run ahead. What is further behind is taken for so much later.
const LAG: u64 = 256;
/// The same on POWER9, where a load from another package takes 650.
const LAG_POWER9: u64 = 768;
/// The stalls of a thread that the others of its core know of.
const STALLS: usize = 16;
/// From the allocation of an operation that can be issued at once to its completion.
const COMPLETION: u64 = 2;

/// What the other threads of the core know of a thread, in cycles of the core.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Whether it is followed.
    followed: bool,
    /// The cycle that it has reached.
    clock: u64,
    /// The last cycles in which it could not allocate: the first, and the one after the last.
    stalls: [(u64, u64); STALLS],
    next: usize,
}

impl Place {
    const NONE: Place = Place { followed: false, clock: 0, stalls: [(0, 0); STALLS], next: 0 };

    /// Whether it is known that it could not allocate in cycle `at`.
    fn stalls_at(&self, at: u64) -> bool {
        self.followed && self.stalls.iter().any(|(from, until)| (*from..*until).contains(&at))
    }
}

/// What the threads of a core have in common.
#[derive(Clone, Debug)]
pub(in super::super) struct Sharing {
    places: [Place; THREADS],
    /// Cycles that a thread may be behind.
    lag: u64,
    pub(super) units: Option<Box<knl::Units>>,
    pub(super) power9: Option<Box<power9::Shared>>,
}

impl Sharing {
    /// Of a core without a model of what its threads share, nothing.
    pub(in super::super) fn new(model: Microarchitecture) -> Sharing {
        let units = (model == Microarchitecture::Knl).then(|| boxed(knl::Units::new));
        let power9 = (model == Microarchitecture::Power9).then(|| boxed(power9::Shared::new));
        let lag = if power9.is_some() { LAG_POWER9 } else { LAG };
        Sharing { places: [Place::NONE; THREADS], lag, units, power9 }
    }

    /// The thread is no longer followed, or halted.
    pub(in super::super) fn leave(&mut self, thread: usize) {
        if let Some(place) = self.places.get_mut(thread) {
            *place = Place::NONE;
        }
    }

    pub(in super::super) fn save(&self, writer: &mut Writer) {
        let now = self.places.iter().map(|place| place.clock).max().unwrap_or(0);
        writer.word(now);
        for place in &self.places {
            writer.words(&[u64::from(place.followed), place.clock, place.next as u64]);
            place.stalls.iter().for_each(|(from, until)| writer.words(&[*from, *until]));
        }
        if let Some(units) = &self.units {
            units.save(writer);
        }
        if let Some(shared) = &self.power9 {
            shared.save(writer);
        }
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = Some(reader.word()?).filter(|now| *now <= 1 << 62).ok_or(Damaged)?;
        for place in &mut self.places {
            place.followed = reader.word()? & 1 == 1;
            place.clock = time(reader, now)?;
            place.next = usize::try_from(reader.word()?).ok().filter(|next| *next < STALLS).ok_or(Damaged)?;
            for stall in &mut place.stalls {
                *stall = (time(reader, now)?, time(reader, now)?);
            }
        }
        if let Some(units) = &mut self.units {
            units.load(reader, now)?;
        }
        match &mut self.power9 {
            Some(shared) => shared.load(reader, now),
            None => Ok(()),
        }
    }
}

/// The running threads of a core as one of them sees them. Its own cycles are those of its pipeline, which are fewer than those of the core:
/// they stand while the thread is halted.
#[derive(Debug)]
pub(super) struct Threads<'a> {
    sharing: Option<&'a mut Sharing>,
    /// The threads that run, in the order of their turns.
    order: [u8; THREADS],
    count: usize,
    /// The place of this one in the order.
    own: usize,
    /// What the core's cycles have more than its own.
    offset: u64,
}

impl<'a> Threads<'a> {
    /// A thread that has its core to itself.
    pub(super) const ALONE: Threads<'static> = Threads { sharing: None, order: [0; THREADS], count: 1, own: 0, offset: 0 };

    /// Thread `thread`, among those that run, one bit each. Its pipeline is at cycle `at`; `offset` is moved if the others have run ahead.
    pub(super) fn new(sharing: &'a mut Sharing, thread: usize, running: u32, at: u64, offset: &mut u64) -> Threads<'a> {
        let (mut order, mut count, mut own) = ([0; THREADS], 0, 0);
        for number in (0..THREADS).filter(|number| running >> number & 1 == 1 || *number == thread) {
            if number == thread {
                own = count;
            }
            if let Some(place) = order.get_mut(count) {
                *place = number as u8;
            }
            count += 1;
        }
        let newest = sharing.places.iter().filter(|place| place.followed).map(|place| place.clock).max().unwrap_or(0);
        if let Some(place) = sharing.places.get_mut(thread) {
            let earliest = if place.followed { newest.saturating_sub(sharing.lag) } else { newest };
            *offset = (*offset).max(earliest.saturating_sub(at));
            (place.followed, place.clock) = (true, at + *offset);
        }
        Threads { sharing: Some(sharing), order, count, own, offset: *offset }
    }

    /// The same for a pipeline that keeps the cycles of its core: how many of them it has to leave out, and the threads.
    pub(super) fn on_core_time(sharing: &'a mut Sharing, thread: usize, running: u32, at: u64) -> (u64, Threads<'a>) {
        let mut missed = 0;
        let threads = Threads::new(sharing, thread, running, at, &mut missed);
        (missed, Threads { offset: 0, ..threads })
    }

    /// The number of this thread in its core.
    pub(super) fn number(&self) -> usize {
        self.order.get(self.own).copied().map_or(0, usize::from)
    }

    /// Whether others of the core may know of this one.
    pub(super) fn are_several(&self) -> bool {
        self.sharing.is_some()
    }

    /// How many threads run.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What the core's cycles have more than the thread's own.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// What the threads share; `None` if this one is alone.
    pub(super) fn units(&mut self) -> Option<&mut knl::Units> {
        self.sharing.as_mut().and_then(|sharing| sharing.units.as_deref_mut())
    }

    /// What the threads of a POWER9 core share.
    pub(super) fn shared(&mut self) -> Option<&mut Box<power9::Shared>> {
        self.sharing.as_mut().and_then(|sharing| sharing.power9.as_mut())
    }

    /// The first cycle, `at` or later, in which this thread has its turn to allocate. Threads that are known to stall are passed over.
    #[inline]
    pub(super) fn turn(&self, at: u64) -> u64 {
        if self.count <= 1 { at } else { self.turn_after(at, 0) }
    }

    /// The same for completion: the turns of operations that are issued as soon as they have been allocated.
    #[inline]
    pub(super) fn turn_to_complete(&self, at: u64) -> u64 {
        if self.count <= 1 { at } else { self.turn_after(at, COMPLETION) }
    }

    fn turn_after(&self, at: u64, delay: u64) -> u64 {
        let first = at.saturating_add(self.offset);
        let mine = (0..self.count as u64).find(|later| self.has_turn(first + later, delay)).unwrap_or(0);
        at.saturating_add(mine)
    }

    fn has_turn(&self, at: u64, delay: u64) -> bool {
        let first = (at.saturating_sub(delay) % self.count as u64) as usize;
        for later in 0..self.count {
            let place = (first + later) % self.count;
            if place == self.own {
                return true;
            }
            let other = self.order.get(place).and_then(|number| self.sharing.as_ref()?.places.get(usize::from(*number)));
            if !other.is_some_and(|other| other.stalls_at(at)) {
                return false;
            }
        }
        true
    }

    /// This thread cannot allocate from cycle `from` up to `until`.
    pub(super) fn stalls(&mut self, from: u64, until: u64) {
        let offset = self.offset;
        if from < until
            && let Some(place) = self.place()
        {
            if let Some(stall) = place.stalls.get_mut(place.next) {
                *stall = (from + offset, until + offset);
            }
            place.next = (place.next + 1) % STALLS;
        }
    }

    /// This thread has reached cycle `at`. Returns the cycle of the core before which no thread asks for anything.
    pub(super) fn reaches(&mut self, at: u64) -> u64 {
        let clock = at + self.offset;
        if let Some(place) = self.place() {
            place.clock = clock;
        }
        let Some(sharing) = &self.sharing else { return clock };
        let clocks = || sharing.places.iter().filter(|place| place.followed).map(|place| place.clock);
        let newest = clocks().max().unwrap_or(clock);
        clocks().min().unwrap_or(clock).max(newest.saturating_sub(sharing.lag))
    }

    fn place(&mut self) -> Option<&mut Place> {
        let own = self.order.get(self.own).copied()?;
        self.sharing.as_mut()?.places.get_mut(usize::from(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core of four threads of which `running` run, one bit each.
    fn threads<'a>(sharing: &'a mut Sharing, thread: usize, running: u32, offset: &mut u64) -> Threads<'a> {
        let at = sharing.places[thread].clock;
        Threads::new(sharing, thread, running, at, offset)
    }

    #[test]
    fn threads_take_turns() {
        let mut sharing = Sharing::new(Microarchitecture::K8);
        let turns = |thread| {
            let threads = threads(&mut sharing, thread, 0b1101, &mut 0);
            [0, 1, 2, 3, 4].map(|at| threads.turn(at))
        };
        assert_eq!([0, 2, 3].map(turns), [[0, 3, 3, 3, 6], [1, 1, 4, 4, 4], [2, 2, 2, 5, 5]]);
    }

    #[test]
    fn a_thread_that_stalls_is_passed_over() {
        let mut sharing = Sharing::new(Microarchitecture::K8);
        threads(&mut sharing, 0, 0b11, &mut 0).stalls(10, 14);
        let other = threads(&mut sharing, 1, 0b11, &mut 0);
        assert_eq!([8, 10, 11, 12, 14].map(|at| other.turn(at)), [9, 10, 11, 12, 15]);
    }

    #[test]
    fn a_thread_alone_has_every_turn() {
        let mut sharing = Sharing::new(Microarchitecture::K8);
        let threads = threads(&mut sharing, 3, 0b1000, &mut 0);
        assert_eq!([0, 1, 2].map(|at| threads.turn(at)), [0, 1, 2]);
    }

    #[test]
    fn a_thread_that_begins_is_where_the_others_are() {
        let (mut sharing, mut offset) = (Sharing::new(Microarchitecture::K8), 0);
        threads(&mut sharing, 0, 0b11, &mut 0).reaches(1000);
        assert_eq!(Threads::new(&mut sharing, 1, 0b11, 40, &mut offset).offset(), 960);
    }

    #[test]
    fn a_thread_is_not_far_behind_the_others() {
        let (mut sharing, mut offset) = (Sharing::new(Microarchitecture::K8), 0);
        threads(&mut sharing, 0, 0b11, &mut 0);
        Threads::new(&mut sharing, 1, 0b11, 0, &mut offset).reaches(100);
        for (ahead, expected) in [(300, 0), (500, 500 - LAG - 100)] {
            threads(&mut sharing, 0, 0b11, &mut 0).reaches(ahead);
            assert_eq!(Threads::new(&mut sharing, 1, 0b11, 100, &mut offset).offset(), expected);
        }
    }

    #[test]
    fn no_thread_asks_for_a_cycle_before_the_slowest() {
        let mut sharing = Sharing::new(Microarchitecture::K8);
        threads(&mut sharing, 0, 0b11, &mut 0).reaches(100);
        let mut offset = 0;
        let mut other = Threads::new(&mut sharing, 1, 0b11, 120, &mut offset);
        assert_eq!([other.reaches(150), other.reaches(1000)], [100, 1000 - 256]);
    }
}
