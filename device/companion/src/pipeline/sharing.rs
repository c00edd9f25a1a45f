//! The threads of a core: their turns and their shared resources.

use alloc::boxed::Box;
use core::fmt::Debug;

use super::boxed;
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::account::bits;
use crate::pipeline::resources::saving::time;
use crate::profile::Microarchitecture;

/// The most threads of a core that compete with each other.
pub(crate) const THREADS: usize = 8;
/// Number of stalls of a thread that the others of its core know of.
const STALLS: usize = 16;
/// Cycles from the allocation of an operation that can be issued at once to its completion.
const COMPLETION: u64 = 2;

/// The last cycles in which a thread could not allocate, as known to the other threads of its core, in cycles of the core.
#[derive(Clone, Copy, Debug)]
struct Stalls {
    /// The first cycle of each stall, and the one after its last.
    runs: [(u64, u64); STALLS],
    next: usize,
    /// The end of the last of them.
    end: u64,
}

impl Stalls {
    const NONE: Stalls = Stalls { runs: [(0, 0); STALLS], next: 0, end: 0 };

    /// Returns whether the thread is known to have been unable to allocate in cycle `at`.
    #[inline]
    fn has(&self, at: u64) -> bool {
        at < self.end && self.runs.iter().any(|(from, until)| (*from..*until).contains(&at))
    }
}

/// The state that the threads of a core share.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// The followed threads, one bit each, and the cycle of the core that each has reached; 0 for threads that are not followed.
    followed: u8,
    clocks: [u64; THREADS],
    stalls: [Stalls; THREADS],
    /// Cycles that a thread may lag behind.
    lag: u64,
    /// The units that the threads share.
    pub(super) of_part: PartShared,
}

impl Sharing {
    /// Returns the shared state of a core.
    pub(crate) fn new(model: Microarchitecture) -> Sharing {
        let (lag, of_part) = (super::lag(model).unwrap_or(0), PartShared::new(model));
        Sharing { followed: 0, clocks: [0; THREADS], stalls: [Stalls::NONE; THREADS], lag, of_part }
    }

    fn is_followed(&self, thread: usize) -> bool {
        self.followed >> (thread % THREADS) & 1 == 1
    }

    /// Returns the latest cycle that any thread has reached.
    fn newest(&self) -> u64 {
        self.clocks.iter().copied().fold(0, u64::max)
    }

    /// Returns the cycle that the slowest followed thread has reached. At least one thread must be followed.
    fn oldest(&self) -> u64 {
        bits(u64::from(self.followed)).filter_map(|thread| self.clocks.get(thread)).copied().fold(u64::MAX, u64::min)
    }

    /// Removes a thread that is no longer followed, or halted.
    pub(crate) fn leave(&mut self, thread: usize) {
        if let (Some(clock), Some(stalls)) = (self.clocks.get_mut(thread), self.stalls.get_mut(thread)) {
            (*clock, *stalls) = (0, Stalls::NONE);
            self.followed &= !(1 << thread);
        }
    }

    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.word(self.newest());
        for (thread, (clock, stalls)) in self.clocks.iter().zip(&self.stalls).enumerate() {
            writer.words(&[u64::from(self.is_followed(thread)), *clock, stalls.next as u64]);
            stalls.runs.iter().for_each(|(from, until)| writer.words(&[*from, *until]));
        }
        self.of_part.save(writer);
    }

    pub(crate) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        let now = Some(reader.word()?).filter(|now| *now <= 1 << 62).ok_or(Damaged)?;
        self.followed = 0;
        for (thread, (clock, stalls)) in self.clocks.iter_mut().zip(&mut self.stalls).enumerate() {
            self.followed |= ((reader.word()? & 1) as u8) << thread;
            *clock = time(reader, now)?;
            stalls.next = usize::try_from(reader.word()?).ok().filter(|next| *next < STALLS).ok_or(Damaged)?;
            for run in &mut stalls.runs {
                *run = (time(reader, now)?, time(reader, now)?);
            }
            stalls.end = stalls.runs.iter().map(|run| run.1).max().unwrap_or(0);
        }
        self.of_part.load(reader, now)
    }
}

/// The units that the threads of a core share, as the pipeline of one part models them.
pub(super) trait SharedState: Clone + Debug + Sized {
    /// Returns the state of an idle core.
    fn new() -> Self;

    /// Returns the state, if `shared` is of this part.
    fn of(_shared: &mut PartShared) -> Option<&mut Box<Self>> {
        None
    }

    /// Saves it.
    fn save(&self, writer: &mut Writer);

    /// Loads it. `now` is the cycle that the core has reached.
    fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged>;
}

/// No shared state: the threads of a core do not compete.
pub(super) type Unshared = ();

impl SharedState for () {
    fn new() {}

    fn save(&self, _writer: &mut Writer) {}

    fn load(&mut self, _reader: &mut Reader<'_>, _now: u64) -> Result<(), Damaged> {
        Ok(())
    }
}

macro_rules! shared {
    ($( $(#[$doc:meta])+ $feature:literal: $variant:ident = $module:ident::$pipeline:ident, $numbers:ident::$profile:ident; )+) => {
        /// The shared state of the threads of a core, of any part.
        #[derive(Clone, Debug)]
        pub(super) enum PartShared {
            $( #[cfg(feature = $feature)] $variant(Box<super::$module::Shared>), )+
        }

        impl PartShared {
            fn new(model: Microarchitecture) -> PartShared {
                match model {
                    $( #[cfg(feature = $feature)] Microarchitecture::$variant => PartShared::$variant(boxed(SharedState::new)), )+
                }
            }

            fn save(&self, writer: &mut Writer) {
                match self {
                    $( #[cfg(feature = $feature)] PartShared::$variant(shared) => shared.save(writer), )+
                }
            }

            fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
                match self {
                    $( #[cfg(feature = $feature)] PartShared::$variant(shared) => shared.load(reader, now), )+
                }
            }
        }
    };
}

for_each_part!(shared);

/// The thread that executes an instruction, and the threads of its core.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    thread: usize,
    /// The shared state, and the running threads, one bit each, if others run.
    together: Option<(&'a mut Sharing, u32)>,
    /// Cycles of the core minus cycles of the thread.
    offset: &'a mut u64,
}

impl<'a> Turn<'a> {
    pub(super) fn new(thread: usize, together: Option<(&'a mut Sharing, u32)>, offset: &'a mut u64) -> Turn<'a> {
        Turn { thread, together, offset }
    }

    /// Returns the threads for a pipeline that counts in cycles of its thread and is at cycle `at`.
    #[inline]
    pub(super) fn threads(self, at: u64) -> Threads<'a> {
        match self.together {
            Some((sharing, running)) => Threads::new(sharing, self.thread, running, at, self.offset),
            None => Threads::ALONE,
        }
    }

    /// Returns the threads for a pipeline that counts in cycles of its core and is at cycle `at`, and the number of cycles that it has to skip.
    #[inline]
    pub(super) fn on_core_time(self, at: u64) -> (u64, Threads<'a>) {
        match self.together {
            Some((sharing, running)) => Threads::on_core_time(sharing, self.thread, running, at),
            None => (0, Threads::ALONE),
        }
    }
}

/// The running threads of a core as seen by one of them. Its own cycles are those of its pipeline. They are fewer than those of the core,
/// since they stand still while the thread is halted.
#[derive(Debug)]
pub(super) struct Threads<'a> {
    sharing: Option<&'a mut Sharing>,
    /// The running threads, in the order of their turns.
    order: [u8; THREADS],
    count: usize,
    /// The place of this thread in the order.
    own: usize,
    /// Cycles of the core minus cycles of the thread.
    offset: u64,
}

impl<'a> Threads<'a> {
    /// A thread that has its core to itself.
    pub(super) const ALONE: Threads<'static> = Threads { sharing: None, order: [0; THREADS], count: 1, own: 0, offset: 0 };

    /// Returns the view of thread `thread` among the `running` threads, one bit each. Its pipeline is at cycle `at`. `offset` increases if
    /// the others have run ahead.
    pub(super) fn new(sharing: &'a mut Sharing, thread: usize, running: u32, at: u64, offset: &mut u64) -> Threads<'a> {
        let (mut order, mut count) = ([0; THREADS], 0);
        let mut left = running & ((1 << THREADS) - 1) | 1 << (thread % THREADS);
        let own = (left & ((1 << (thread % THREADS)) - 1)).count_ones() as usize;
        while left != 0 {
            if let Some(place) = order.get_mut(count) {
                *place = left.trailing_zeros() as u8;
            }
            (left, count) = (left & (left - 1), count + 1);
        }
        let newest = sharing.newest();
        let earliest = if sharing.is_followed(thread) { newest.saturating_sub(sharing.lag) } else { newest };
        if let Some(clock) = sharing.clocks.get_mut(thread) {
            *offset = (*offset).max(earliest.saturating_sub(at));
            *clock = at + *offset;
            sharing.followed |= 1 << thread;
        }
        Threads { sharing: Some(sharing), order, count, own, offset: *offset }
    }

    /// Returns the threads for a pipeline that counts in cycles of its core, and the number of cycles that it has to skip.
    pub(super) fn on_core_time(sharing: &'a mut Sharing, thread: usize, running: u32, at: u64) -> (u64, Threads<'a>) {
        let mut missed = 0;
        let threads = Threads::new(sharing, thread, running, at, &mut missed);
        (missed, Threads { offset: 0, ..threads })
    }

    /// Returns the number of this thread in its core.
    pub(super) fn number(&self) -> usize {
        self.order.get(self.own).copied().map_or(0, usize::from)
    }

    /// Returns whether other threads of the core may know of this one.
    pub(super) fn are_several(&self) -> bool {
        self.sharing.is_some()
    }

    /// Returns the number of running threads.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the cycles of the core minus those of the thread.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the state that the threads share; `None` if this thread is alone.
    #[inline]
    pub(super) fn shared<S: SharedState>(&mut self) -> Option<&mut Box<S>> {
        self.sharing.as_mut().and_then(|sharing| S::of(&mut sharing.of_part))
    }

    /// Returns the first cycle, `at` or later, in which this thread has its turn to allocate. Threads that are known to stall are skipped.
    #[inline]
    pub(super) fn turn(&self, at: u64) -> u64 {
        if self.count <= 1 { at } else { self.turn_after(at, 0) }
    }

    /// Returns the first cycle, `at` or later, in which this thread has its turn to complete: the turns of operations that are issued as
    /// soon as they are allocated.
    #[inline]
    pub(super) fn turn_to_complete(&self, at: u64) -> u64 {
        if self.count <= 1 { at } else { self.turn_after(at, COMPLETION) }
    }

    #[inline]
    fn turn_after(&self, at: u64, delay: u64) -> u64 {
        let first = at.saturating_add(self.offset);
        // Usually this thread already has its turn.
        if first.saturating_sub(delay) % self.count as u64 == self.own as u64 { at } else { self.turn_behind(at, delay) }
    }

    #[inline(never)]
    fn turn_behind(&self, at: u64, delay: u64) -> u64 {
        let first = at.saturating_add(self.offset);
        let mine = (0..self.count as u64).find(|later| self.has_turn(first + later, delay)).unwrap_or(0);
        at.saturating_add(mine)
    }

    fn has_turn(&self, at: u64, delay: u64) -> bool {
        let first = (at.saturating_sub(delay) % self.count as u64) as usize;
        let mut place = first;
        for _ in 0..self.count {
            if place == self.own {
                return true;
            }
            let other = self.order.get(place).map_or(0, |number| usize::from(*number));
            let stalls =
                |sharing: &&mut Sharing| sharing.is_followed(other) && sharing.stalls.get(other).is_some_and(|stalls| stalls.has(at));
            if !self.sharing.as_ref().is_some_and(stalls) {
                return false;
            }
            place = if place + 1 == self.count { 0 } else { place + 1 };
        }
        true
    }

    /// Records that this thread cannot allocate from cycle `from` up to `until`.
    pub(super) fn stalls(&mut self, from: u64, until: u64) {
        let offset = self.offset;
        let number = self.number();
        if from < until
            && let Some(stalls) = self.sharing.as_mut().and_then(|sharing| sharing.stalls.get_mut(number))
        {
            if let Some(run) = stalls.runs.get_mut(stalls.next) {
                *run = (from + offset, until + offset);
            }
            stalls.next = (stalls.next + 1) % STALLS;
            stalls.end = stalls.end.max(until + offset);
        }
    }

    /// Records that this thread has reached cycle `at`. Returns the cycle of the core before which no thread makes any request.
    pub(super) fn reaches(&mut self, at: u64) -> u64 {
        let clock = at + self.offset;
        let number = self.number();
        let Some(sharing) = &mut self.sharing else { return clock };
        if let Some(place) = sharing.clocks.get_mut(number) {
            *place = clock;
        }
        sharing.oldest().max(sharing.newest().saturating_sub(sharing.lag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a thread of a core of four; `running` has those that run, one bit each.
    fn threads<'a>(sharing: &'a mut Sharing, thread: usize, running: u32, offset: &mut u64) -> Threads<'a> {
        let at = sharing.clocks[thread];
        Threads::new(sharing, thread, running, at, offset)
    }

    #[test]
    fn threads_take_turns() {
        let mut sharing = Sharing::new(Microarchitecture::Knl);
        let turns = |thread| {
            let threads = threads(&mut sharing, thread, 0b1101, &mut 0);
            [0, 1, 2, 3, 4].map(|at| threads.turn(at))
        };
        assert_eq!([0, 2, 3].map(turns), [[0, 3, 3, 3, 6], [1, 1, 4, 4, 4], [2, 2, 2, 5, 5]]);
    }

    #[test]
    fn a_thread_that_stalls_is_passed_over() {
        let mut sharing = Sharing::new(Microarchitecture::Knl);
        threads(&mut sharing, 0, 0b11, &mut 0).stalls(10, 14);
        let other = threads(&mut sharing, 1, 0b11, &mut 0);
        assert_eq!([8, 10, 11, 12, 14].map(|at| other.turn(at)), [9, 10, 11, 12, 15]);
    }

    #[test]
    fn a_thread_alone_has_every_turn() {
        let mut sharing = Sharing::new(Microarchitecture::Knl);
        let threads = threads(&mut sharing, 3, 0b1000, &mut 0);
        assert_eq!([0, 1, 2].map(|at| threads.turn(at)), [0, 1, 2]);
    }

    #[test]
    fn a_thread_that_begins_is_where_the_others_are() {
        let (mut sharing, mut offset) = (Sharing::new(Microarchitecture::Knl), 0);
        threads(&mut sharing, 0, 0b11, &mut 0).reaches(1000);
        assert_eq!(Threads::new(&mut sharing, 1, 0b11, 40, &mut offset).offset(), 960);
    }

    #[test]
    fn a_thread_is_not_far_behind_the_others() {
        let (mut sharing, mut offset) = (Sharing::new(Microarchitecture::Knl), 0);
        threads(&mut sharing, 0, 0b11, &mut 0);
        Threads::new(&mut sharing, 1, 0b11, 0, &mut offset).reaches(100);
        for (ahead, expected) in [(300, 0), (500, 500 - 256 - 100)] {
            threads(&mut sharing, 0, 0b11, &mut 0).reaches(ahead);
            assert_eq!(Threads::new(&mut sharing, 1, 0b11, 100, &mut offset).offset(), expected);
        }
    }

    #[test]
    fn no_thread_asks_for_a_cycle_before_the_slowest() {
        let mut sharing = Sharing::new(Microarchitecture::Knl);
        threads(&mut sharing, 0, 0b11, &mut 0).reaches(100);
        let mut offset = 0;
        let mut other = Threads::new(&mut sharing, 1, 0b11, 120, &mut offset);
        assert_eq!([other.reaches(150), other.reaches(1000)], [100, 1000 - 256]);
    }
}
