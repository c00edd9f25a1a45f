//! Resources that the threads of a core share first come, first served (PP54): units, issue queues, the history buffer, store queues,
//! misses and translations.

use super::machines::CacheMachines;
use super::progress::Progress;
use super::walkers::Walkers;
use super::watch::{Watch, WatchedQueue};
use super::way_prediction::WayPredictor;
use super::{PORTS, SLICES};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::Source;
use crate::pipeline::resources::memory::Misses;
use crate::pipeline::resources::ports::Ports;
use crate::pipeline::resources::queue::{Entries, Ring};
use crate::pipeline::resources::saving::{number, pick, small, time};

/// Of the loads or stores of a slice, one in `ENTRIES` takes the first queue entry (PP50).
pub(super) const ENTRIES: u8 = 16;

/// Whether the next user of a slice takes its first entry.
pub(super) fn first_entry(count: &mut u8, slice: usize, entries: u8) -> bool {
    let first = slice == 0 && *count == 0;
    *count = if slice == 0 { (*count + 1) % entries } else { *count };
    first
}

/// Cycles between two stores that the second level takes (PP27).
const SECOND_EVERY: u64 = 2;
/// Number of stores and flushes of all threads that are remembered.
const REMEMBERED: usize = 16;

/// Kept cycles of the ports, in words, a power of two: at least twice the maximum lag of a thread.
const PORT_WORDS: usize = 32;

/// The shared state of a core, in cycles of the core.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct SharedUnits {
    /// The slice of each superslice that takes the next operation.
    pub(super) turn: [u8; 2],
    pub(super) queues: [Entries<11, 16>; SLICES],
    pub(super) branches: Entries<16>,
    pub(super) history: Ring<128>,
    pub(super) ports: Ports<PORTS, PORT_WORDS>,
    pub(super) store_queues: [Entries<16>; SLICES],
    pub(super) second_queue: Ring<16>,
    /// The cycles in which the last store moved to the second queue, and the second level took the last one.
    pub(super) sent: u64,
    pub(super) taken: u64,
    /// The lines in flight, and their sources.
    pub(super) misses: Misses<16, Source>,
    pub(super) translations: Entries<8>,
    /// The lines that the second level fetches for stores, and since when.
    pub(super) written_lines: Misses<16, u64>,
    /// The lines that it fetches for code, one per thread, and since when.
    pub(super) fetched_lines: Misses<4, u64>,
    /// The predicted ways (PP92).
    pub(super) ways: WayPredictor,
    /// The recirculation queues, the slices of the load queue, and the queues of finished loads.
    recirculation: [Entries<12, 16>; 2],
    pub(super) loads: [Entries<16>; SLICES],
    finished: [Entries<32>; 2],
    /// Number of users of each first slice since its first entry was taken: stores, loads and misses.
    pub(super) store_entry: u8,
    pub(super) load_entry: u8,
    pub(super) miss_entry: u8,
    /// Number of stores that left the recirculation queues.
    pub(super) stores_issued: u64,
    /// The last stores: their lines, the cycles in which the second level took them, and their threads.
    stored: [(u64, u64, u8); REMEMBERED],
    next_stored: usize,
    /// The last flushes: their cycles and threads.
    flushes: [(u64, u8); REMEMBERED],
    next_flush: usize,
    pub(super) watch: Watch,
    pub(super) machines: CacheMachines,
    pub(super) walkers: Walkers,
    /// Completions and stalls of the threads.
    pub(super) progress: Progress,
}

impl SharedUnits {
    pub(in crate::pipeline) fn new() -> SharedUnits {
        SharedUnits {
            turn: [0; 2],
            queues: [Entries::new(), Entries::new(), Entries::new(), Entries::new()],
            branches: Entries::new(),
            history: Ring::new(),
            ports: Ports::new(),
            store_queues: [Entries::new(), Entries::new(), Entries::new(), Entries::new()],
            second_queue: Ring::new(),
            sent: 0,
            taken: 0,
            misses: Misses::new(),
            translations: Entries::new(),
            written_lines: Misses::new(),
            fetched_lines: Misses::new(),
            ways: WayPredictor::new(),
            recirculation: [Entries::new(), Entries::new()],
            loads: [Entries::new(), Entries::new(), Entries::new(), Entries::new()],
            finished: [Entries::new(), Entries::new()],
            store_entry: 0,
            load_entry: 0,
            miss_entry: 0,
            stores_issued: 0,
            stored: [(0, 0, 0); REMEMBERED],
            next_stored: 0,
            flushes: [(0, 0); REMEMBERED],
            next_flush: 0,
            watch: Watch::new(),
            machines: CacheMachines::new(),
            walkers: Walkers::new(),
            progress: Progress::new(),
        }
    }

    /// Returns the slice of a superslice that takes the next operation, and gives the turn to the other.
    #[inline]
    pub(super) fn next_slice(&mut self, superslice: usize) -> usize {
        let Some(turn) = self.turn.get_mut(superslice) else { return 0 };
        let slice = 2 * superslice + usize::from(*turn);
        *turn ^= 1;
        slice
    }

    /// Returns the first cycle in which an issue queue has room, or one up to `ready` in which one has: mostly that of the slice of
    /// `superslice` which takes the next operation.
    #[inline]
    pub(super) fn issue_room(&self, superslice: usize, ready: u64) -> u64 {
        let slice = 2 * superslice + usize::from(self.turn.get(superslice).is_some_and(|turn| *turn != 0));
        let own = self.queues.get(slice).map_or(0, |queue| queue.room());
        if own <= ready { own } else { self.queues.iter().fold(own, |first, queue| first.min(queue.room())) }
    }

    /// Takes several ports, each for its cycles, from the first cycle in which all are free, `earliest` or later. Returns that cycle.
    pub(super) fn take_all(&mut self, ports: &[(usize, u64)], earliest: u64) -> u64 {
        let mut at = earliest;
        // The loop ends, since all cycles beyond the kept ones are free.
        while let Some(later) = ports.iter().map(|(port, cycles)| self.ports.free(*port, at, *cycles)).find(|free| *free > at) {
            at = later;
        }
        for (port, cycles) in ports {
            self.ports.take(*port, at, *cycles);
        }
        at
    }

    /// Returns the first cycle in which the recirculation queue of a slice has room (PP25).
    #[inline]
    pub(super) fn recirculation_room(&self, slice: usize) -> u64 {
        self.recirculation.get(slice & 1).map_or(0, |queue| queue.room())
    }

    /// Keeps an access in the recirculation queue of its slice from cycle `from` to cycle `at`, in which it goes on.
    #[inline(always)]
    pub(super) fn recirculate(&mut self, slice: usize, from: u64, at: u64) {
        if let Some(queue) = self.recirculation.get_mut(slice & 1) {
            queue.take(at + 1);
        }
        self.watch.take(WatchedQueue::recirculation(slice), from, at + 1);
    }

    /// Returns the first cycle in which there is room for a finished load of a slice (PP26).
    pub(super) fn finished_room(&self, slice: usize) -> u64 {
        self.finished.get(slice / 2).map_or(0, |queue| queue.room())
    }

    /// Queues a load that finished in cycle `at` and completes before cycle `until`.
    pub(super) fn finish_load(&mut self, slice: usize, at: u64, until: u64) {
        let from = at.max(self.finished_room(slice));
        if let Some(queue) = self.finished.get_mut(slice / 2) {
            queue.take(until.max(from));
        }
        self.watch.take(WatchedQueue::finished(slice), from, until);
    }

    /// PP27: moves an operation that completes in cycle `at` to the second queue, and on to the second level. Returns the cycle of the
    /// first move.
    pub(super) fn send(&mut self, at: u64) -> u64 {
        self.sent = (at + 1).max(self.sent + 1).max(self.second_queue.room(1));
        self.taken = (self.sent + 1).max(self.taken + SECOND_EVERY);
        self.second_queue.take(self.taken + 1);
        self.watch.take(WatchedQueue::SecondStores, self.sent, self.taken + 1);
        self.sent
    }

    /// Returns when the second level has `line` for a store, if it is fetching it in cycle `at`.
    pub(super) fn written(&self, line: u64, at: u64) -> Option<u64> {
        self.written_lines.find(line, at).filter(|(_, since)| *since <= at).map(|(until, _)| until)
    }

    /// Returns when the second level has `line` for a fetch of code, if it is fetching it in cycle `at`.
    pub(super) fn fetched(&self, line: u64, at: u64) -> Option<u64> {
        self.fetched_lines.find(line, at).filter(|(_, since)| *since <= at).map(|(until, _)| until)
    }

    /// Records that the second level takes a store of `thread` to `line` in cycle `at`.
    pub(super) fn remember_store(&mut self, line: u64, at: u64, thread: usize) {
        if let Some(place) = self.stored.get_mut(self.next_stored) {
            *place = (line, at, thread as u8);
        }
        self.next_stored = (self.next_stored + 1) % REMEMBERED;
    }

    /// Whether a thread other than `thread` stored to `line` after cycle `from`, up to `until`.
    pub(super) fn is_stored(&self, line: u64, from: u64, until: u64, thread: usize) -> bool {
        self.stored.iter().any(|(of, at, by)| *of == line && usize::from(*by) != thread && *at > from && *at <= until)
    }

    /// Records that thread `thread` flushes in cycle `at`.
    pub(super) fn flush(&mut self, at: u64, thread: usize) {
        if let Some(place) = self.flushes.get_mut(self.next_flush) {
            *place = (at, thread as u8);
        }
        self.next_flush = (self.next_flush + 1) % REMEMBERED;
    }

    /// Whether a thread other than `thread` flushes in cycle `at`.
    pub(super) fn is_flushed(&self, at: u64, thread: usize) -> bool {
        self.flushes.iter().any(|(when, by)| *when == at && usize::from(*by) != thread)
    }

    /// Forgets the cycles before `now`, for which no thread asks any more.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        self.ports.forget(now);
    }

    pub(in crate::pipeline) fn save(&self, writer: &mut Writer) {
        self.turn.iter().for_each(|turn| writer.word(u64::from(*turn)));
        self.queues.iter().for_each(|queue| queue.save(writer));
        self.branches.save(writer);
        self.history.save(writer);
        self.ports.save(writer);
        self.store_queues.iter().for_each(|queue| queue.save(writer));
        self.second_queue.save(writer);
        writer.words(&[self.sent, self.taken]);
        self.misses.save(writer);
        self.misses.tags.iter().for_each(|source| writer.word(number(&Source::ALL, source)));
        self.translations.save(writer);
        self.written_lines.save(writer);
        writer.words(&self.written_lines.tags);
        self.fetched_lines.save(writer);
        writer.words(&self.fetched_lines.tags);
        self.ways.save(writer);
        self.recirculation.iter().for_each(|queue| queue.save(writer));
        self.loads.iter().for_each(|queue| queue.save(writer));
        self.finished.iter().for_each(|queue| queue.save(writer));
        [self.store_entry, self.load_entry, self.miss_entry].into_iter().for_each(|count| writer.word(u64::from(count)));
        writer.word(self.stores_issued);
        self.stored.iter().for_each(|(line, at, thread)| writer.words(&[*line, *at, u64::from(*thread)]));
        self.flushes.iter().for_each(|(at, thread)| writer.words(&[*at, u64::from(*thread)]));
        writer.words(&[self.next_stored as u64, self.next_flush as u64]);
        self.watch.save(writer);
        self.machines.save(writer);
        writer.words(&self.walkers.until);
        self.progress.save(writer);
    }

    pub(in crate::pipeline) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.turn.iter_mut().try_for_each(|turn| small(reader, 1).map(|value| *turn = value))?;
        self.queues.iter_mut().try_for_each(|queue| queue.load(reader, now))?;
        self.branches.load(reader, now)?;
        self.history.load(reader, now)?;
        self.ports.load(reader, now)?;
        self.store_queues.iter_mut().try_for_each(|queue| queue.load(reader, now))?;
        self.second_queue.load(reader, now)?;
        let times =
            |cells: &mut [u64], reader: &mut Reader<'_>| cells.iter_mut().try_for_each(|at| time(reader, now).map(|value| *at = value));
        (self.sent, self.taken) = (time(reader, now)?, time(reader, now)?);
        self.misses.load(reader, now)?;
        self.misses.tags.iter_mut().try_for_each(|tag| pick(&Source::ALL, reader).map(|source| *tag = source))?;
        self.translations.load(reader, now)?;
        self.written_lines.load(reader, now)?;
        times(&mut self.written_lines.tags, reader)?;
        self.fetched_lines.load(reader, now)?;
        times(&mut self.fetched_lines.tags, reader)?;
        self.ways.load(reader)?;
        self.recirculation.iter_mut().try_for_each(|queue| queue.load(reader, now))?;
        self.loads.iter_mut().try_for_each(|queue| queue.load(reader, now))?;
        self.finished.iter_mut().try_for_each(|queue| queue.load(reader, now))?;
        for count in [&mut self.store_entry, &mut self.load_entry, &mut self.miss_entry] {
            *count = small(reader, 15)?;
        }
        self.stores_issued = Some(reader.word()?).filter(|stores| *stores <= 1 << 62).ok_or(Damaged)?;
        for (line, at, thread) in &mut self.stored {
            (*line, *at, *thread) = (reader.word()?, time(reader, now)?, small(reader, 255)?);
        }
        for (at, thread) in &mut self.flushes {
            (*at, *thread) = (time(reader, now)?, small(reader, 255)?);
        }
        self.next_stored = usize::from(small(reader, REMEMBERED - 1)?);
        self.next_flush = usize::from(small(reader, REMEMBERED - 1)?);
        self.watch.load(reader, now)?;
        self.machines.load(reader, now)?;
        times(&mut self.walkers.until, reader)?;
        self.progress.load(reader, now)
    }
}
