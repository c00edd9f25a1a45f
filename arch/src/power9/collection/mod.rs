//! A POWER9 core that writes what it counts into the guest's memory, and each of its threads likewise.
//!
//! The guide describes the nest's collection only; names, offsets, registers and scale are those of public firmware, device trees and drivers
//! (`docs/notes/power9-nest.md`, N28 to N31 and N40 to N49).
//!
//! - The core posts to [`SIZE`] bytes at PDBAR, a register that host firmware writes; a thread posts to as many bytes at its
//!   [LDBAR](super::Ldbar), while that is enabled. Each event has a cell of 8 bytes, at the offset that the catalogue has for it in the
//!   units `core-imc` and `thread-imc`.
//! - A cell grows by one for [`SCALE`] events; the rest waits for the next posting. The core's cells are sums of its threads.
//! - Events are counted in the state of the thread at their time: [`Collection::follow`] must be called at every change.
//! - Nothing is counted and nothing posted while the engine is stopped.
//!
//! ```
//! use core::cell::RefCell;
//! use vm_pmu_arch::feed::{Signal, Totals};
//! use vm_pmu_arch::memory::Memory;
//! use vm_pmu_arch::power9::collection::{Collection, SIZE, ThreadState};
//!
//! /// Memory of the core alone, from address 0 on.
//! struct Ram(RefCell<Vec<u64>>);
//! impl Memory for Ram {
//!     type Error = u64;
//!     fn load(&self, address: u64) -> Result<u64, u64> {
//!         self.0.borrow().get(address as usize / 8).copied().ok_or(address)
//!     }
//!     fn store(&self, address: u64, value: u64) -> Result<(), u64> {
//!         *self.0.borrow_mut().get_mut(address as usize / 8).ok_or(address)? = value;
//!         Ok(())
//!     }
//!     fn add(&self, address: u64, amount: u64) -> Result<(), u64> {
//!         self.store(address, self.load(address)?.wrapping_add(amount))
//!     }
//! }
//!
//! let memory = Ram(RefCell::new(vec![0; SIZE as usize / 8]));
//! let (mut core, totals) = (Collection::new(), Totals::new());
//! core.init(0, &|_| None);
//! core.start();
//! core.follow(0, ThreadState::default(), &totals);
//! totals.add(Signal::InstructionsRetired, 1300);
//! core.post(&|thread| (thread == 0).then_some(&totals), &memory).ok().unwrap();
//! // CPM_INST: two times 512, and 276 that wait.
//! assert_eq!(memory.load(0x20), Ok(2));
//! ```

mod lane;
mod posting;
mod state;
#[cfg(test)]
mod tests;

pub use lane::ThreadState;
pub use posting::Posting;
pub use state::{LaneState, State};

use super::Ldbar;
pub use super::registers::ADDRESS;
use crate::event::{self, Encoded, Row};
use crate::feed::{SignalSet, Totals};
use lane::Lane;

/// The bytes that a core or a thread has in memory.
pub const SIZE: u64 = 0x2000;

/// The threads of a core, at most.
pub const THREADS: usize = 4;

/// The events for which a cell grows by one.
pub const SCALE: u64 = 512;

/// The cycles of the core from one posting to the next, unless the embedder says otherwise: 500 us at 4 GHz, as often as the nest's engine.
pub const DEFAULT_INTERVAL: u64 = 2_000_000;

/// How many events a core posts.
pub const CORE_EVENTS: usize = 249;

/// How many events a thread posts.
pub const THREAD_EVENTS: usize = 61;

/// The events of a unit, in the order of their offsets.
#[derive(Clone, Copy)]
enum Posts {
    /// What a core posts.
    Core,
    /// What a thread posts.
    Thread,
}

impl Posts {
    fn rows(self) -> &'static [Row] {
        event::POWER9.encodings.of_unit(match self {
            Posts::Core => "core-imc",
            Posts::Thread => "thread-imc",
        })
    }

    /// Each event with its offset, in bytes.
    fn events(self) -> impl Iterator<Item = (u32, Encoded)> {
        self.rows().iter().map(|row| (row.select(), event::POWER9.encodings.event(row).itself()))
    }

    /// The position of the event with this offset.
    fn position(self, offset: u32) -> Option<usize> {
        self.rows().binary_search_by_key(&offset, |row| row.select()).ok()
    }
}

/// The totals of a core's threads, by their number in the core.
pub type TotalsOf<'f, 't> = &'f dyn Fn(usize) -> Option<&'t Totals>;

/// One core's collection.
#[derive(Clone, Debug)]
pub struct Collection {
    /// PDBAR, once it has been written.
    memory: Option<u64>,
    running: bool,
    interval: u64,
    /// The cycles to the next posting.
    until: u64,
    lanes: [Lane; THREADS],
    /// What is not yet in the core's memory, in single events.
    owed: [u64; CORE_EVENTS],
}

impl Default for Collection {
    fn default() -> Collection {
        Collection::new()
    }
}

impl Collection {
    /// A core's collection as power-on leaves it: stopped, with no memory.
    #[must_use]
    pub const fn new() -> Collection {
        Collection {
            memory: None,
            running: false,
            interval: DEFAULT_INTERVAL,
            until: DEFAULT_INTERVAL,
            lanes: [const { Lane::new() }; THREADS],
            owed: [0; CORE_EVENTS],
        }
    }

    /// The signals that events of a core or a thread follow: what an embedder reports while the engine runs.
    #[must_use]
    pub fn signals() -> SignalSet {
        let mut signals = SignalSet::EMPTY;
        Posts::Core.events().flat_map(|(_, event)| event.signals()).for_each(|signal| signals.insert(*signal));
        signals
    }

    /// PDBAR: where the core's memory begins, in bytes, once it has been written.
    #[must_use]
    pub const fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Whether the engine runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// The cycles of the core from one posting to the next.
    #[must_use]
    pub const fn interval(&self) -> u64 {
        self.interval
    }

    /// Posts every so many cycles of the core from now on, at least one.
    pub fn set_interval(&mut self, cycles: u64) {
        self.interval = cycles.max(1);
        self.until = self.interval;
    }

    /// The cycles of the core to the next posting.
    #[must_use]
    pub const fn until_posting(&self) -> u64 {
        self.until
    }

    /// PDBAR is written: the core posts to memory at `address` from now on, of which [`ADDRESS`] is kept. The engine stops, and what the core
    /// had not posted is dropped, as it belongs to other memory. What the threads had not posted is kept, as by [`stop`](Collection::stop).
    pub fn init(&mut self, address: u64, totals: TotalsOf<'_, '_>) {
        self.fold(totals);
        self.memory = Some(address & ADDRESS);
        self.owed = [0; CORE_EVENTS];
        self.halt();
    }

    /// The engine starts. Each thread counts from the [`follow`](Collection::follow) on that comes next.
    pub fn start(&mut self) {
        if !self.running {
            self.running = true;
            self.until = self.interval;
        }
    }

    /// The engine stops. What was counted up to now and not posted is kept until it has been started again.
    pub fn stop(&mut self, totals: TotalsOf<'_, '_>) {
        self.fold(totals);
        self.halt();
    }

    fn halt(&mut self) {
        self.running = false;
        self.lanes.iter_mut().for_each(Lane::leave);
    }

    /// Thread `number` of the core is in `state` from now on: what it counted before, it counted in its state before. A core has four threads;
    /// others are not counted.
    pub fn follow(&mut self, number: usize, state: ThreadState, totals: &Totals) {
        if let Some(lane) = self.lanes.get_mut(number).filter(|_| self.running) {
            lane.follow(state, totals, &mut self.owed);
        }
    }

    /// Counts everything up to now.
    fn fold(&mut self, totals: TotalsOf<'_, '_>) {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if let Some(totals) = totals(number) {
                lane.fold(totals, &mut self.owed);
            }
        }
    }

    /// Something that no signal tells happened `amount` times in thread `number`: the event that is posted at `offset`. Of an event that has cells for
    /// states of its own, each that applies is told. Returns whether there is such an event and the engine runs.
    pub fn inject(&mut self, number: usize, offset: u32, amount: u64) -> bool {
        let Some(cell) = Posts::Core.position(offset).and_then(|index| self.owed.get_mut(index)).filter(|_| self.running) else {
            return false;
        };
        *cell = cell.saturating_add(amount);
        if let (Some(lane), Some(index)) = (self.lanes.get_mut(number), Posts::Thread.position(offset)) {
            lane.inject(index, amount);
        }
        true
    }
}
