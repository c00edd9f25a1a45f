//! What the threads of a core share, first come, first served (PP54): units, issue queues, the history buffer, queues of stores, misses and
//! translations.

use super::super::super::bytes::{Damaged, Reader, Writer};
use super::super::Source;
use super::super::memory::Misses;
use super::super::ports::Ports;
use super::super::queue::{Entries, Ring};
use super::super::saving::{number, pick, small, time};
use super::progress::Progress;
use super::{PORTS, SLICES};

/// Cycles of the ports that are kept, in words: twice as many as a thread may be behind another.
const PORT_WORDS: usize = 24;

/// The shared part of a core. Its cycles are those of the core.
#[derive(Clone, Debug)]
pub(in super::super) struct Shared {
    /// The slice of each superslice whose turn it is to take an operation.
    pub(super) turn: [u8; 2],
    pub(super) queues: [Entries<11>; SLICES],
    pub(super) branches: Entries<16>,
    pub(super) history: Ring<128>,
    pub(super) ports: Ports<PORTS, PORT_WORDS>,
    pub(super) store_queues: [Entries<16>; SLICES],
    pub(super) second_queue: Ring<16>,
    /// When the last store moved to the second queue, and when the second level took the last one.
    pub(super) sent: u64,
    pub(super) taken: u64,
    /// The lines on their way, and where they come from.
    pub(super) misses: Misses<16, Source>,
    pub(super) translations: Entries<8>,
    /// What the threads have completed, and when they stalled.
    pub(super) progress: Progress,
}

impl Shared {
    pub(in super::super) fn new() -> Shared {
        Shared {
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
            progress: Progress::new(),
        }
    }

    /// The slice of a superslice that takes its next operation.
    pub(super) fn next_slice(&mut self, superslice: usize) -> usize {
        let slice = self.turn.get_mut(superslice).map_or(0, |turn| {
            *turn ^= 1;
            usize::from(*turn ^ 1)
        });
        2 * superslice + slice
    }

    /// Takes several ports, each for its cycles, from the first cycle in which all are free, `earliest` or later.
    pub(super) fn take_all(&mut self, ports: &[(usize, u64)], earliest: u64) -> u64 {
        let mut at = earliest;
        // What lies beyond the cycles that are kept is free, so this ends.
        while let Some(later) = ports.iter().map(|(port, cycles)| self.ports.free(*port, at, *cycles)).find(|free| *free > at) {
            at = later;
        }
        for (port, cycles) in ports {
            self.ports.take(*port, at, *cycles);
        }
        at
    }

    /// No thread asks for a cycle before `now` any more.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        self.ports.forget(now);
    }

    pub(in super::super) fn save(&self, writer: &mut Writer) {
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
        self.progress.save(writer);
    }

    pub(in super::super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for turn in &mut self.turn {
            *turn = small(reader, 1)?;
        }
        for queue in &mut self.queues {
            queue.load(reader, now)?;
        }
        self.branches.load(reader, now)?;
        self.history.load(reader, now)?;
        self.ports.load(reader, now)?;
        for queue in &mut self.store_queues {
            queue.load(reader, now)?;
        }
        self.second_queue.load(reader, now)?;
        self.sent = time(reader, now)?;
        self.taken = time(reader, now)?;
        self.misses.load(reader, now)?;
        for source in &mut self.misses.tags {
            *source = pick(&Source::ALL, reader)?;
        }
        self.translations.load(reader, now)?;
        self.progress.load(reader, now)
    }
}
