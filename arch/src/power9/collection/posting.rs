//! What one posting adds to memory, apart from the collection: memory is the embedder's, and may want the collection meanwhile.

use super::lane::Lane;
use super::{CORE_EVENTS, Collection, Posts, SCALE, THREAD_EVENTS, THREADS, TotalsOf};
use crate::memory::Memory;
use crate::power9::nest::Passed;

/// Whole steps for the cells of one core or thread.
#[derive(Clone, Debug)]
struct Steps<const N: usize> {
    /// Where its memory begins.
    start: u64,
    steps: [u64; N],
}

impl<const N: usize> Steps<N> {
    /// Takes the whole steps out of what is `owed`.
    fn draw(start: u64, owed: &mut [u64; N]) -> Steps<N> {
        let mut steps = [0; N];
        for (steps, owed) in steps.iter_mut().zip(owed) {
            *steps = *owed / SCALE;
            *owed %= SCALE;
        }
        Steps { start, steps }
    }

    /// Adds them to the cells of these events. What memory refuses stays.
    fn write<M: Memory>(&mut self, posts: Posts, memory: &M, passed: &mut Passed<M::Error>) {
        for (row, steps) in posts.rows().iter().zip(&mut self.steps) {
            if *steps != 0 && !passed.take(memory.add(self.start.wrapping_add(u64::from(row.select())), *steps)) {
                *steps = 0;
            }
        }
    }

    /// What was refused is owed again, if it still is to this memory.
    fn put_back(&self, start: u64, owed: &mut [u64; N]) {
        if start == self.start {
            for (owed, steps) in owed.iter_mut().zip(&self.steps) {
                *owed = owed.saturating_add(steps.saturating_mul(SCALE));
            }
        }
    }
}

/// What one posting adds to memory: [drawn](Collection::draw) from a collection, [written](Posting::write), and
/// [put back](Collection::put_back) for what memory refused. In between the collection is not needed.
#[derive(Clone, Debug)]
pub struct Posting {
    late: u64,
    core: Option<Steps<CORE_EVENTS>>,
    lanes: [Option<Steps<THREAD_EVENTS>>; THREADS],
}

impl Posting {
    /// Adds everything to `memory`. Whatever it refuses is told in what is returned, and kept here.
    pub fn write<M: Memory>(&mut self, memory: &M) -> Passed<M::Error> {
        let mut passed = Passed { slots: 1, late: self.late, ..Passed::new() };
        if let Some(core) = &mut self.core {
            core.write(Posts::Core, memory, &mut passed);
        }
        for lane in self.lanes.iter_mut().flatten() {
            lane.write(Posts::Thread, memory, &mut passed);
        }
        passed
    }
}

impl Collection {
    /// Takes what has been counted up to now out, to be posted; `None` while the engine does not run.
    pub fn draw(&mut self, totals: TotalsOf<'_, '_>) -> Option<Posting> {
        if !self.running {
            return None;
        }
        self.fold(totals);
        let core = self.memory.map(|start| Steps::draw(start, &mut self.owed));
        let drawn = |lane: &mut Lane| lane.accumulates().then(|| Steps::draw(lane.memory, &mut lane.owed));
        Some(Posting { late: 0, core, lanes: self.lanes.each_mut().map(drawn) })
    }

    /// Advances the core by `cycles`, and takes out what is to be posted if that comes due. Of several postings one is made, which has what
    /// all would have had.
    pub fn draw_due(&mut self, cycles: u64, totals: TotalsOf<'_, '_>) -> Option<Posting> {
        if !self.running {
            return None;
        }
        let Some(beyond) = cycles.checked_sub(self.until) else {
            self.until -= cycles;
            return None;
        };
        let step = self.interval.max(1);
        self.until = step - beyond % step;
        self.draw(totals).map(|posting| Posting { late: beyond / step, ..posting })
    }

    /// What memory refused of `posting` is owed again, except to memory that the core or the thread has left since.
    pub fn put_back(&mut self, posting: &Posting) {
        if let (Some(core), Some(start)) = (&posting.core, self.memory) {
            core.put_back(start, &mut self.owed);
        }
        for (lane, drawn) in self.lanes.iter_mut().zip(&posting.lanes) {
            if let Some(drawn) = drawn {
                drawn.put_back(lane.memory, &mut lane.owed);
            }
        }
    }

    /// Advances the core by `cycles`, and posts if that comes due: [`draw_due`](Collection::draw_due), written at once.
    ///
    /// Whatever memory refuses is told in what is returned, and kept for the next time.
    pub fn advance<M: Memory>(&mut self, cycles: u64, totals: TotalsOf<'_, '_>, memory: &M) -> Passed<M::Error> {
        let drawn = self.draw_due(cycles, totals);
        self.write(drawn, memory)
    }

    /// Posts everything that has been counted up to now, if the engine runs.
    pub fn post<M: Memory>(&mut self, totals: TotalsOf<'_, '_>, memory: &M) -> Passed<M::Error> {
        let drawn = self.draw(totals);
        self.write(drawn, memory)
    }

    fn write<M: Memory>(&mut self, drawn: Option<Posting>, memory: &M) -> Passed<M::Error> {
        let Some(mut posting) = drawn else { return Passed::new() };
        let passed = posting.write(memory);
        self.put_back(&posting);
        passed
    }
}
