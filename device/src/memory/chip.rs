//! The nest of one chip, shared by host threads.

use alloc::boxed::Box;

use vm_pmu_arch::lock::Mutex;
use vm_pmu_arch::memory::Memory;
use vm_pmu_arch::power9::nest::{Command, ControlCell, Event, Nest, Passed, Setting, State, TOTALS, Totals};

/// The nest of one chip.
///
/// Any host thread may report events ([`add`](Chip::add) takes no lock). Calls that advance the time take turns.
///
/// The chip is locked while it accesses memory, because its engine obeys what it reads there before anything else happens. So memory must
/// not call the same chip, except [`add`](Chip::add): such a call does not return. It may call machines and other chips.
#[derive(Debug)]
pub struct Chip {
    id: u32,
    totals: Box<Totals>,
    nest: Mutex<Box<Nest>>,
}

/// What a chip remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChipState {
    /// The counters and the engine.
    pub nest: Box<State>,
    /// The totals of its events.
    #[cfg_attr(feature = "serde", serde(with = "boxed_array"))]
    pub totals: Box<[u64; TOTALS]>,
}

impl Chip {
    /// A chip with the number by which the device tree knows it (`chip-id`).
    #[must_use]
    pub fn new(id: u32, nest: Nest) -> Chip {
        Chip { id, totals: Box::new(Totals::new()), nest: Mutex::new(Box::new(nest)) }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its home base in bytes.
    #[must_use]
    pub fn home(&self) -> u64 {
        self.nest.lock().home()
    }

    /// The units that it has.
    #[must_use]
    pub fn units(&self) -> vm_pmu_arch::power9::nest::Availability {
        self.nest.lock().units()
    }

    /// The totals of its events.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Adds `amount` occurrences of an event.
    #[inline]
    pub fn add(&self, event: Event, amount: u64) {
        self.totals.add(event, amount);
    }

    /// Adds `amount` occurrences of the event that is posted at `offset`.
    pub(super) fn add_at(&self, offset: u32, amount: u64) {
        if amount != 0
            && let Some(event) = Event::at(offset)
        {
            self.add(event, amount);
        }
    }

    /// The cycles of the nest from one slot of its engine to the next.
    #[must_use]
    pub fn slot_cycles(&self) -> u64 {
        self.nest.lock().slot_cycles()
    }

    /// The cycles of the nest to the next slot.
    #[must_use]
    pub fn until_slot(&self) -> u64 {
        self.nest.lock().until_slot()
    }

    /// Whether the engine posts.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.nest.lock().engine().is_running()
    }

    /// Lets `cycles` of the nest go by: [`Nest::advance`].
    pub fn advance<M: Memory>(&self, cycles: u64, memory: &M) -> Passed<M::Error> {
        self.nest.lock().advance(cycles, &self.totals, memory)
    }

    /// Runs the slots after which an operating system finds the engine paused: [`Nest::boot`].
    pub fn boot<M: Memory>(&self, memory: &M) -> Passed<M::Error> {
        self.nest.lock().boot(&self.totals, memory)
    }

    /// Brings it to its state at power-on: [`Nest::reset`].
    pub fn reset(&self) {
        self.nest.lock().reset(&self.totals);
    }

    /// Posts everything at once, if the engine runs: [`Nest::post_now`].
    pub fn post_now<M: Memory>(&self, memory: &M) -> Passed<M::Error> {
        self.nest.lock().post_now(&self.totals, memory)
    }

    /// The value of the register whose first counter is posted `offset` bytes from the start of the region: [`Nest::register`].
    #[must_use]
    pub fn register(&self, offset: u32) -> Option<u64> {
        self.nest.lock().register(offset, &self.totals)
    }

    /// Programs a PMUlet: [`Nest::program_at`].
    pub fn program_at(&self, offset: u32, setting: Setting) -> bool {
        self.nest.lock().program_at(offset, setting, &self.totals)
    }

    /// The status that the engine reports in its control block.
    ///
    /// # Errors
    ///
    /// Memory has no control block at its address.
    pub fn status<M: Memory>(&self, memory: &M) -> Result<u64, M::Error> {
        memory.load(ControlCell::Status.address(self.home()))
    }

    /// Writes a command for the engine, as host firmware does. Returns whether it did: it cannot before the engine has begun, or while the
    /// engine programs the counters ([`Initializing`](vm_pmu_arch::power9::nest::Status::Initializing)).
    ///
    /// # Errors
    ///
    /// Memory has no control block at its address.
    pub fn command<M: Memory>(&self, command: Command, memory: &M) -> Result<bool, M::Error> {
        // Held during the write: a slot on another thread clears the cell after it has executed a command, and could clear this one too.
        let nest = self.nest.lock();
        command.give(nest.home(), memory)
    }

    /// What it remembers.
    #[must_use]
    pub fn state(&self) -> ChipState {
        let nest = self.nest.lock();
        ChipState { nest: Box::new(nest.state()), totals: Box::new(self.totals.snapshot()) }
    }

    /// Makes it remember `state` instead. For each event, what other threads add meanwhile is either kept or lost.
    pub fn restore(&self, state: &ChipState) {
        let mut nest = self.nest.lock();
        self.totals.restore(&state.totals);
        **nest = Nest::from_state(&state.nest);
    }
}

/// A boxed array of any length, for serde.
#[cfg(feature = "serde")]
mod boxed_array {
    use super::{Box, TOTALS};
    use serde::{Deserializer, Serializer};
    use vm_pmu_arch::long_array;

    pub(super) fn serialize<S: Serializer>(array: &[u64; TOTALS], serializer: S) -> Result<S::Ok, S::Error> {
        long_array::serialize(array, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[u64; TOTALS]>, D::Error> {
        long_array::deserialize(deserializer).map(Box::new)
    }
}

/// The blocks of `size` bytes that have any of `bytes` from `address` on.
pub(super) fn blocks(address: u64, bytes: u64, size: u64) -> u64 {
    bytes.checked_sub(1).map_or(0, |more| address.saturating_add(more) / size - address / size + 1)
}
