//! The machines of the second and third level that serve the core (PP74 to PP76).

use super::watch::{Watch, WatchedQueue};
use super::{SECOND_LEVEL, THIRD_LEVEL};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::Source;
use crate::pipeline::resources::memory::Misses;
use crate::pipeline::resources::saving::{number, pick, time};
use crate::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// Cycles from the launch of an access to its data, or to the detection of its miss (PP29).
pub(super) const PASS: u64 = 4;
/// Cycles for which one machine is sampled before the next: 16 cycles of the caches, which run at half the clock.
const WINDOW: u64 = 32;
/// Cycles of a line between the second level and the third, and from there to memory.
const BETWEEN: u64 = THIRD_LEVEL - SECOND_LEVEL;
const TO_MEMORY: u64 = 340;
/// Maximum number of cycles for which work is sampled.
const LONGEST: u64 = 1 << 16;
/// Maximum number of lines leaving a level that are tracked for one instruction.
pub(super) const MOST: u32 = 16;

/// Machines of one kind, as the cycles from which each is free again.
#[derive(Clone, Debug)]
struct Machines<const COUNT: usize> {
    free: [u64; COUNT],
}

impl<const COUNT: usize> Machines<COUNT> {
    const fn new() -> Self {
        Machines { free: [0; COUNT] }
    }

    /// Starts work at cycle `at` for `cycles` on the free machine with the lowest number. If none is free, the machine that is free first
    /// starts when it is free. Returns whether one was free.
    fn work(&mut self, at: u64, cycles: u64, first: Option<WatchedQueue>, sample: WatchedQueue, watch: &mut Watch) -> bool {
        let free = self.free.iter().position(|until| *until <= at);
        let number = free.or_else(|| (0..COUNT).min_by_key(|number| self.free.get(*number))).unwrap_or(0);
        let Some(until) = self.free.get_mut(number) else { return true };
        let from = at.max(*until);
        *until = from + cycles;
        if watch.active {
            if let Some(first) = first.filter(|_| number == 0) {
                watch.take(first, from, *until);
            }
            let end = from + cycles.min(LONGEST);
            // The number of the window in which this machine is sampled next.
            let (now, count) = (from / WINDOW, COUNT as u64);
            let mut window = now + (number as u64 + count - now % count) % count;
            while window * WINDOW < end {
                watch.take(sample, from.max(window * WINDOW), end.min((window + 1) * WINDOW));
                window += count;
            }
        }
        free.is_some()
    }

    fn save(&self, writer: &mut Writer) {
        writer.words(&self.free);
    }

    fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.free.iter_mut().try_for_each(|until| time(reader, now).map(|at| *until = at))
    }
}

/// Kinds of requests to the second level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Load,
    Fetch,
    Store,
}

/// All machines. They do not influence the times of the requests.
#[derive(Clone, Debug)]
pub(super) struct CacheMachines {
    reads: Machines<16>,
    castouts: Machines<16>,
    third_reads: Machines<16>,
    prefetches: Machines<32>,
    third_castins: Machines<16>,
    third_castouts: Machines<16>,
    snoops: Machines<8>,
    third_snoops: Machines<16>,
    injections: Machines<8>,
    /// The lines that prefetch machines are fetching.
    pub(super) coming: Misses<32, Source>,
}

impl CacheMachines {
    pub(super) fn new() -> CacheMachines {
        CacheMachines {
            reads: Machines::new(),
            castouts: Machines::new(),
            third_reads: Machines::new(),
            prefetches: Machines::new(),
            third_castins: Machines::new(),
            third_castouts: Machines::new(),
            snoops: Machines::new(),
            third_snoops: Machines::new(),
            injections: Machines::new(),
            coming: Misses::new(),
        }
    }

    /// PP74: handles a request that reaches the second level in cycle `at`, and whose line arrives from `source` after `cycles`.
    pub(super) fn read(&mut self, asking: Asking, at: u64, cycles: u64, source: Source, watch: &mut Watch, tally: &mut Tally) {
        let started = self.reads.work(at, cycles, Some(WatchedQueue::SecondReadFirst), WatchedQueue::SecondReadSample, watch);
        let without = match asking {
            Asking::Load => Signal::LoadsWithoutMachine,
            Asking::Fetch => Signal::FetchesWithoutMachine,
            Asking::Store => Signal::StoresWithoutMachine,
        };
        tally.add(without, u64::from(!started));
        if source == Source::Third {
            // The last of the cycles are those of the third level.
            let last = BETWEEN.min(cycles);
            self.third_reads.work(at + cycles - last, last, Some(WatchedQueue::ThirdReadFirst), WatchedQueue::ThirdReadSample, watch);
        }
    }

    /// PP76: handles a prefetch of `line` from beyond the third level, sent in cycle `at`.
    pub(super) fn prefetch(&mut self, line: u64, at: u64, cycles: u64, source: Source, watch: &mut Watch) {
        self.prefetches.work(at, cycles, Some(WatchedQueue::ThirdPrefetchFirst), WatchedQueue::ThirdPrefetchSample, watch);
        self.coming.request_tagged(line, at, cycles, source);
    }

    /// PP75: handles lines that leave the second level and the third.
    pub(super) fn cast_out(&mut self, second: u32, third: u32, at: u64, watch: &mut Watch, tally: &mut Tally) {
        for _ in 0..second {
            let started = self.castouts.work(at, BETWEEN, Some(WatchedQueue::SecondCastoutFirst), WatchedQueue::SecondCastoutSample, watch);
            tally.add(Signal::CastoutsWithoutMachine, u64::from(!started));
            self.third_castins.work(at, BETWEEN, None, WatchedQueue::ThirdCastSample, watch);
        }
        for _ in 0..third {
            self.third_castouts.work(at + BETWEEN, TO_MEMORY, Some(WatchedQueue::ThirdCastoutFirst), WatchedQueue::ThirdCastSample, watch);
        }
    }

    /// PP89: handles snoops of others that have found lines in the second level and in the third.
    pub(super) fn snoop(&mut self, second: u32, third: u32, at: u64, watch: &mut Watch) {
        for _ in 0..second {
            self.snoops.work(at, SECOND_LEVEL, Some(WatchedQueue::SecondSnoopFirst), WatchedQueue::SecondSnoopSample, watch);
        }
        for _ in 0..third {
            self.third_snoops.work(at, THIRD_LEVEL, Some(WatchedQueue::ThirdSnoopFirst), WatchedQueue::ThirdSnoopSample, watch);
        }
    }

    /// PP93: handles lines that devices have put into the third level.
    pub(super) fn inject(&mut self, lines: u32, at: u64, watch: &mut Watch) {
        for _ in 0..lines {
            self.injections.work(at, THIRD_LEVEL, Some(WatchedQueue::ThirdInjectFirst), WatchedQueue::ThirdInjectSample, watch);
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.reads.save(writer);
        self.castouts.save(writer);
        self.third_reads.save(writer);
        self.prefetches.save(writer);
        self.third_castins.save(writer);
        self.third_castouts.save(writer);
        self.snoops.save(writer);
        self.third_snoops.save(writer);
        self.injections.save(writer);
        self.coming.save(writer);
        self.coming.tags.iter().for_each(|source| writer.word(number(&Source::ALL, source)));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.reads.load(reader, now)?;
        self.castouts.load(reader, now)?;
        self.third_reads.load(reader, now)?;
        self.prefetches.load(reader, now)?;
        self.third_castins.load(reader, now)?;
        self.third_castouts.load(reader, now)?;
        self.snoops.load(reader, now)?;
        self.third_snoops.load(reader, now)?;
        self.injections.load(reader, now)?;
        self.coming.load(reader, now)?;
        self.coming.tags.iter_mut().try_for_each(|tag| pick(&Source::ALL, reader).map(|source| *tag = source))
    }
}
