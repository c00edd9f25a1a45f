//! Completions of a core's threads while others of them stall (PP53).

use crate::bytes::{Damaged, Reader, Writer};
use crate::pipeline::resources::saving::{small, time};

/// Number of threads of a core.
const THREADS: usize = 4;
/// Number of remembered cycles of completions, and of remembered stalls of a thread. Events farther apart are not matched.
const CYCLES: usize = 512;
const STALLS: usize = 64;

/// The last completions of a thread, and its last stalls.
#[derive(Clone, Debug)]
struct Thread {
    /// A cycle and the number of instructions completed in it, at the cycle's number modulo [`CYCLES`].
    completed: [(u64, u8); CYCLES],
    /// The first cycle of each stall, and the one after its last.
    stalls: [(u64, u64); STALLS],
    next: usize,
    /// Unreported number of instructions of other threads that completed while it stalled.
    others: u64,
}

impl Thread {
    const NONE: Thread = Thread { completed: [(0, 0); CYCLES], stalls: [(0, 0); STALLS], next: 0, others: 0 };

    fn completed_in(&self, at: u64) -> u64 {
        let cell = self.completed.get(at as usize % CYCLES).filter(|(cycle, _)| *cycle == at);
        cell.map_or(0, |(_, count)| u64::from(*count))
    }

    /// Whether it stalls in cycle `at`. Stalls were entered in order.
    fn stalls_in(&self, at: u64) -> bool {
        let newest_first = (1..=STALLS).filter_map(|back| self.stalls.get((self.next + STALLS - back) % STALLS));
        newest_first.take_while(|(_, until)| *until > at).any(|(from, _)| *from <= at)
    }
}

/// The progress of each thread. Each pair of a stalled cycle and a completion is counted when the second of them becomes known.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    threads: [Thread; THREADS],
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress { threads: [Thread::NONE; THREADS] }
    }

    /// Records that thread `thread` completes an instruction in cycle `at`.
    pub(super) fn completes(&mut self, thread: usize, at: u64) {
        for (number, other) in self.threads.iter_mut().enumerate() {
            if number != thread {
                other.others += u64::from(other.stalls_in(at));
            } else if let Some(cell) = other.completed.get_mut(at as usize % CYCLES) {
                *cell = (at, if cell.0 == at { cell.1.saturating_add(1) } else { 1 });
            }
        }
    }

    /// Records that thread `thread` stalls from cycle `from` up to `until`.
    pub(super) fn stalls(&mut self, thread: usize, from: u64, until: u64) {
        if from >= until {
            return;
        }
        let mut others = 0;
        for at in from.max(until.saturating_sub(CYCLES as u64))..until {
            others += self
                .threads
                .iter()
                .enumerate()
                .filter(|(number, _)| *number != thread)
                .map(|(_, other)| other.completed_in(at))
                .sum::<u64>();
        }
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.others += others;
            if let Some(stall) = thread.stalls.get_mut(thread.next) {
                *stall = (from, until);
            }
            thread.next = (thread.next + 1) % STALLS;
        }
    }

    /// Returns how many instructions of others completed while `thread` stalled, since the last call.
    pub(super) fn take(&mut self, thread: usize) -> u64 {
        self.threads.get_mut(thread).map_or(0, |thread| core::mem::take(&mut thread.others))
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        for thread in &self.threads {
            thread.completed.iter().for_each(|(at, count)| writer.words(&[*at, u64::from(*count)]));
            thread.stalls.iter().for_each(|(from, until)| writer.words(&[*from, *until]));
            writer.words(&[thread.next as u64, thread.others]);
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>, now: u64) -> Result<(), Damaged> {
        for thread in &mut self.threads {
            for cell in &mut thread.completed {
                *cell = (time(reader, now)?, small(reader, 255)?);
            }
            for stall in &mut thread.stalls {
                *stall = (time(reader, now)?, time(reader, now)?);
            }
            thread.next = usize::from(small(reader, STALLS - 1)?);
            thread.others = Some(reader.word()?).filter(|others| *others <= 1 << 40).ok_or(Damaged)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_meets_a_stall_whichever_is_known_first() {
        let mut progress = Progress::new();
        progress.completes(1, 10);
        progress.completes(1, 10);
        progress.completes(1, 20);
        progress.stalls(0, 8, 20);
        assert_eq!(progress.take(0), 2);
        [19, 20, 7].into_iter().for_each(|at| progress.completes(2, at));
        assert_eq!([progress.take(0), progress.take(0), progress.take(1)], [1, 0, 0]);
    }

    #[test]
    fn an_earlier_stall_is_found_behind_later_ones() {
        let mut progress = Progress::new();
        [(0, 5), (7, 9), (20, 30)].into_iter().for_each(|(from, until)| progress.stalls(3, from, until));
        [4, 6, 8, 25].into_iter().for_each(|at| progress.completes(0, at));
        assert_eq!(progress.take(3), 3);
    }

    #[test]
    fn what_a_thread_completes_itself_is_not_counted() {
        let mut progress = Progress::new();
        progress.stalls(0, 0, 10);
        progress.completes(0, 5);
        assert_eq!(progress.take(0), 0);
    }
}
