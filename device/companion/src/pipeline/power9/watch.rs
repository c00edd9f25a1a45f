//! Occupancy of the core's queues and units in each cycle (PP50, PP51). Cycles are counted 64 at a time, once no thread can change them any
//! more.

use alloc::boxed::Box;

use super::occupancy::{Occupancy, WORD};
use super::signals::STATE_COUNT;
use super::{Power9State, SLICES};
use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::time;

/// Number of threads of a core.
const THREADS: usize = 4;
/// Number of words of counted cycles that are kept for threads that lag behind.
const HISTORY: usize = 16;
/// Maximum number of words that are counted together. Beyond it, the thread has not been followed.
const MOST: u64 = 1 << 12;

/// The watched queues and units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum WatchedQueue {
    /// The issue queues together.
    Issue,
    /// The recirculation queues.
    Recirculation0,
    Recirculation1,
    /// The slices of the store queue.
    Stores0,
    Stores1,
    Stores2,
    Stores3,
    /// The queue between the store queue and the second level.
    SecondStores,
    /// Barriers in that queue.
    Barriers,
    /// Missed loads.
    Misses,
    /// Finished loads of slices 0 and 1, and of slices 2 and 3.
    Finished0,
    Finished1,
    /// Busy units: fixed-point, floating-point and decimal.
    Fixed,
    Float,
    Decimal,
    /// Machines of the second and third level: the first of each kind, and the sampled one.
    SecondReadFirst,
    SecondReadSample,
    SecondCastoutFirst,
    SecondCastoutSample,
    ThirdReadFirst,
    ThirdReadSample,
    ThirdPrefetchFirst,
    ThirdPrefetchSample,
    ThirdCastoutFirst,
    ThirdCastSample,
    SecondSnoopFirst,
    SecondSnoopSample,
    ThirdSnoopFirst,
    ThirdSnoopSample,
    ThirdInjectFirst,
    ThirdInjectSample,
}

const QUEUES: usize = WatchedQueue::ThirdInjectSample as usize + 1;

impl WatchedQueue {
    /// Returns the recirculation queue of a slice.
    pub(super) fn recirculation(slice: usize) -> WatchedQueue {
        if slice & 1 == 0 { WatchedQueue::Recirculation0 } else { WatchedQueue::Recirculation1 }
    }

    /// Returns the store queue of a slice.
    pub(super) fn stores(slice: usize) -> WatchedQueue {
        [WatchedQueue::Stores0, WatchedQueue::Stores1, WatchedQueue::Stores2, WatchedQueue::Stores3]
            .get(slice)
            .copied()
            .unwrap_or(WatchedQueue::Stores0)
    }

    /// Returns the queue of finished loads of a slice.
    pub(super) fn finished(slice: usize) -> WatchedQueue {
        if slice < SLICES / 2 { WatchedQueue::Finished0 } else { WatchedQueue::Finished1 }
    }
}

/// The watched resources of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Own {
    /// Its missed loads.
    Misses,
    /// Its use of the first entry of the store queue, the load queue and the miss queue.
    StoreEntry,
    LoadEntry,
    MissEntry,
}

const OWN: usize = Own::MissEntry as usize + 1;

/// The first state of the whole core, and the first of a thread. Those of the core lie on both sides of a thread's.
const CORE_FIRST: usize = Power9State::IssueQueueLow as usize;
const OWN_FIRST: usize = Power9State::MissQueueEmpty as usize;
const CORE: usize = STATE_COUNT - CORE_FIRST - OWN;

/// The states in 64 cycles, one bit per cycle.
#[derive(Clone, Copy, Debug)]
struct Word {
    core: [u64; CORE],
    own: [[u64; OWN]; THREADS],
}

impl Word {
    const NONE: Word = Word { core: [0; CORE], own: [[0; OWN]; THREADS] };
}

/// The queues and units of a core.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Whether anything has been demanded.
    pub(super) active: bool,
    /// The first cycle that has not been counted: a multiple of 64.
    begin: u64,
    /// One for each [`WatchedQueue`], and one per thread for each [`Own`]. Made in place: together they are 160 KB, too much for a stack.
    queues: Box<[Occupancy]>,
    own: Box<[[Occupancy; OWN]]>,
    history: [Word; HISTORY],
}

impl Watch {
    pub(super) fn new() -> Watch {
        Watch {
            active: false,
            begin: 0,
            queues: (0..QUEUES).map(|_| Occupancy::new()).collect(),
            own: (0..THREADS).map(|_| [const { Occupancy::new() }; OWN]).collect(),
            history: [Word::NONE; HISTORY],
        }
    }

    /// Starts watching in cycle `now`.
    #[cold]
    pub(super) fn start(&mut self, now: u64) {
        self.clear();
        self.active = true;
        self.begin = now - now % WORD;
    }

    /// Clears all entries and all knowledge of earlier cycles.
    fn clear(&mut self) {
        self.occupancies_mut().for_each(|occupancy| *occupancy = Occupancy::new());
        self.history = [Word::NONE; HISTORY];
    }

    /// Takes an entry of `queue` from cycle `from` up to cycle `until`.
    #[inline]
    pub(super) fn take(&mut self, queue: WatchedQueue, from: u64, until: u64) {
        if self.active
            && let Some(occupancy) = self.queues.get_mut(queue as usize)
        {
            occupancy.take(from, until, self.begin);
        }
    }

    /// Takes an entry of a resource of thread `thread`, likewise.
    #[inline]
    pub(super) fn take_own(&mut self, thread: usize, own: Own, from: u64, until: u64) {
        if self.active
            && let Some(occupancy) = self.own.get_mut(thread).and_then(|queues| queues.get_mut(own as usize))
        {
            occupancy.take(from, until, self.begin);
        }
    }

    /// Whether there is a word to count before cycle `now`, before which nothing changes any more.
    #[inline]
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.active && now >= self.begin + WORD
    }

    /// Returns the first cycle that has not been counted.
    pub(super) fn begin(&self) -> u64 {
        self.begin
    }

    /// Counts the next word. Returns the first cycle after it.
    pub(super) fn count(&mut self, now: u64) -> u64 {
        if now - self.begin > MOST * WORD {
            self.start(now);
            return self.begin;
        }
        let mut word = Word::NONE;
        let Word { core, own } = &mut word;
        let mut set = |state: usize, bits: u64| {
            if let Some(cell) = core.get_mut(state) {
                *cell |= bits;
            }
        };
        let (mut full, mut stores_empty, mut empty) = (u64::MAX, u64::MAX, 0);
        let mut no_misses = 0;
        for (number, queue) in self.queues.iter_mut().enumerate() {
            let (mut slice_full, mut slice_empty) = (0, 0);
            queue.count(self.begin, |level, bits| match number {
                ISSUE => {
                    set(0, if level <= ISSUE_LOW { bits } else { 0 });
                    set(1, if level >= ISSUE_HIGH { bits } else { 0 });
                }
                RECIRCULATION0 | RECIRCULATION1 => {
                    let class = match level {
                        ..=3 => 0,
                        4..=6 => 1,
                        7..=9 => 2,
                        _ => 3,
                    };
                    set(2 + 4 * (number - RECIRCULATION0) + class, bits);
                }
                STORES0..=STORES3 => {
                    slice_full |= if level >= SLICE { bits } else { 0 };
                    slice_empty |= if level <= 0 { bits } else { 0 };
                }
                MISSES => {
                    no_misses |= if level <= 0 { bits } else { 0 };
                    set(13, if level >= SLICE { bits } else { 0 });
                }
                SECOND_STORES => set(14, if level >= SLICE { bits } else { 0 }),
                FINISHED0 | FINISHED1 => set(15 + number - FINISHED0, if level >= FINISHED { bits } else { 0 }),
                FIXED => {
                    set(17, if level >= SLICES as i32 { bits } else { 0 });
                    set(if level <= 0 { 18 } else { 19 }, bits);
                }
                FLOAT => set(20, if level >= SLICES as i32 { bits } else { 0 }),
                DECIMAL => set(21, if level >= 1 { bits } else { 0 }),
                MACHINES.. => set(23 + number - MACHINES, if level >= 1 { bits } else { 0 }),
                _ => set(22, if level >= 1 { bits } else { 0 }),
            });
            if (STORES0..=STORES3).contains(&number) {
                full &= slice_full;
                stores_empty &= slice_empty;
                empty |= slice_empty;
            }
        }
        set(10, full);
        set(11, empty);
        set(12, stores_empty & no_misses);
        for (states, queues) in own.iter_mut().zip(self.own.iter_mut()) {
            for (number, (state, queue)) in states.iter_mut().zip(queues).enumerate() {
                // For its misses, the empty state is counted.
                let is_empty = number == Own::Misses as usize;
                queue.count(self.begin, |level, bits| *state |= if (level <= 0) == is_empty { bits } else { 0 });
            }
        }
        if let Some(place) = self.history.get_mut((self.begin / WORD) as usize % HISTORY) {
            *place = word;
        }
        self.begin += WORD;
        self.begin
    }

    /// Passes to `each`, for each number of a state that `thread` sees, the number of counted cycles from `from` up to `until` in which it holds.
    pub(super) fn held(&self, thread: usize, from: u64, until: u64, mut each: impl FnMut(usize, u64)) {
        let mut at = from.max(self.begin.saturating_sub(HISTORY as u64 * WORD));
        let until = until.min(self.begin);
        while at < until {
            let next = (at - at % WORD + WORD).min(until);
            let mask = u64::MAX >> (WORD - (next - at)) << (at % WORD);
            if let Some(word) = self.history.get((at / WORD) as usize % HISTORY) {
                let own = word.own.get(thread).map_or(&[] as &[u64], |own| own);
                let core = (CORE_FIRST..OWN_FIRST).chain(OWN_FIRST + OWN..STATE_COUNT).zip(&word.core);
                core.chain((OWN_FIRST..).zip(own)).for_each(|(state, bits)| each(state, u64::from((bits & mask).count_ones())));
            }
            at = next;
        }
    }

    fn occupancies(&self) -> impl Iterator<Item = &Occupancy> {
        self.queues.iter().chain(self.own.iter().flatten())
    }

    fn occupancies_mut(&mut self) -> impl Iterator<Item = &mut Occupancy> {
        self.queues.iter_mut().chain(self.own.iter_mut().flatten())
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        writer.words(&[u64::from(self.active), self.begin]);
        if !self.active {
            return;
        }
        self.occupancies().for_each(|occupancy| occupancy.save(writer));
        for word in &self.history {
            writer.words(&word.core);
            word.own.iter().for_each(|own| writer.words(own));
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        self.clear();
        self.active = reader.word()? & 1 == 1;
        self.begin = time(reader, now)?;
        if !self.begin.is_multiple_of(WORD) {
            return Err(Damaged);
        }
        if !self.active {
            return Ok(());
        }
        for occupancy in self.occupancies_mut() {
            occupancy.load(reader, now)?;
        }
        for word in &mut self.history {
            reader.words(&mut word.core)?;
            for own in &mut word.own {
                reader.words(own)?;
            }
        }
        Ok(())
    }
}

const ISSUE: usize = WatchedQueue::Issue as usize;
const RECIRCULATION0: usize = WatchedQueue::Recirculation0 as usize;
const RECIRCULATION1: usize = WatchedQueue::Recirculation1 as usize;
const STORES0: usize = WatchedQueue::Stores0 as usize;
const STORES3: usize = WatchedQueue::Stores3 as usize;
const SECOND_STORES: usize = WatchedQueue::SecondStores as usize;
const MISSES: usize = WatchedQueue::Misses as usize;
const FINISHED0: usize = WatchedQueue::Finished0 as usize;
const FINISHED1: usize = WatchedQueue::Finished1 as usize;
const FIXED: usize = WatchedQueue::Fixed as usize;
const FLOAT: usize = WatchedQueue::Float as usize;
const DECIMAL: usize = WatchedQueue::Decimal as usize;
const MACHINES: usize = WatchedQueue::SecondReadFirst as usize;

/// Issue queue thresholds: few entries, and many.
const ISSUE_LOW: i32 = 8;
const ISSUE_HIGH: i32 = 36;
/// Number of entries of a slice of the store queue, of the queue behind it, and of the miss queue.
const SLICE: i32 = 16;
/// Number of entries of a queue of finished loads.
const FINISHED: i32 = 32;
