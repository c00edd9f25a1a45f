//! Loads and stores in the load/store queues of the K8.

use super::{K8Pipeline, MacroOperation};
use crate::pipeline::Touch;
use crate::pipeline::resources::memory::Store;

/// Cycles from an access to the use of its data (PK19).
const ACCESS: u64 = 2;
/// Cycles from a store's data to those of a load that forwards them (PK22), by the kind of store and load.
const FORWARD: u64 = 8;
const FORWARD_MODIFIED: u64 = 6;
const FORWARD_NARROW: u64 = 9;
/// Cycles from a store's data to those of a load that cannot forward them (PK23).
const NO_FORWARD: u64 = 25;

/// A store that is written after its operation completes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    /// The cycle in which its address and its data are known.
    pub(super) ready: u64,
    /// The cycle in which its operation completes.
    pub(super) completed: u64,
    /// Whether its operation has read memory.
    pub(super) modifies: bool,
}

impl K8Pipeline {
    /// Sends an access through LS1 and, if it stores or misses, LS2. Returns when a load has its data.
    #[inline(always)]
    pub(super) fn load_store(&mut self, touch: &Touch, address: u64) -> u64 {
        let mut at = 0;
        let places = touch.size.div_ceil(8).clamp(1, 2) + u8::from(touch.misaligned);
        for _ in 0..places {
            // PK17: in program order.
            at = self.access.next(address + 1, 2);
        }
        // A line that hits the first level may still be in flight.
        let coming = self.misses.pending(touch.line, address + 1).is_some();
        let held = touch.stores() || touch.missed || touch.uncached || touch.walked || coming;
        if held && self.second_queue.room() > at {
            // PK20: LS2 is full, and everything behind waits.
            at = self.second_queue.room();
            self.access.delay(at);
        }
        let translation = u64::from(touch.translation);
        let translated = if touch.walked {
            let begin = self.walker.max(at);
            self.walker = begin + translation;
            begin - at + translation
        } else {
            translation
        };
        for _ in 0..touch.size.div_ceil(8).clamp(1, 2) {
            self.first_queue.take(at + 1);
        }
        if touch.stores() {
            return at + translated;
        }
        let mut here = at + ACCESS + translated;
        if touch.uncached {
            here = at.max(self.stores.written) + u64::from(touch.latency) + translated;
        } else if touch.missed || coming {
            let from = at + translated;
            here = match self.misses.pending(touch.line, from) {
                Some(until) => until.max(here),
                None if !touch.missed => here,
                None => self.misses.request(touch.line, from, u64::from(touch.latency).saturating_sub(1)),
            };
        }
        if touch.loads() {
            here = self.forwarded(touch, at, here);
            self.ahead.push(touch.line, here);
        }
        if held {
            self.hold_second(at, here);
        }
        if touch.loads() { here } else { at + 1 }
    }

    /// Keeps an access in LS2 from `at` to `until`.
    fn hold_second(&mut self, at: u64, until: u64) {
        self.second_queue.take(until);
        self.second_full.add(at, self.second_queue.room());
    }

    /// PK22, PK23: returns when a load has its data if an older store to the same bytes is pending.
    fn forwarded(&self, load: &Touch, at: u64, here: u64) -> u64 {
        let Some(store) = self.stores.find(load.address, load.size, at) else { return here };
        if load.address == store.address && load.size <= store.size && !load.misaligned && !store.misaligned {
            let delay = match load.size {
                1 | 2 => FORWARD_NARROW,
                _ if store.modifies => FORWARD_MODIFIED,
                _ => FORWARD,
            };
            return here.max(store.ready + delay);
        }
        (store.written + 3).max(store.ready + NO_FORWARD).max(here)
    }

    /// Returns when the line of a store is present: now, if it hits.
    #[inline]
    fn line_of(&mut self, touch: &Touch, at: u64) -> u64 {
        let at = at + u64::from(touch.translation);
        let pending = self.misses.pending(touch.line, at);
        if !touch.missed && !touch.uncached {
            return pending.unwrap_or(at);
        }
        pending.unwrap_or_else(|| self.misses.request(touch.line, at, u64::from(touch.latency).saturating_sub(1)))
    }

    /// Returns when a locked operation, whose turn it is, may write its line.
    pub(super) fn permission(&mut self, operation: &MacroOperation, turn: u64) -> u64 {
        let mut from = turn;
        for number in operation.touches.0..operation.touches.1 {
            let Some(touch) = self.line.touches.get(usize::from(number)).copied().filter(Touch::stores) else { continue };
            from = from.max(self.line_of(&touch, self.access.at));
        }
        from
    }

    /// PK21: writes a store.
    #[inline(always)]
    pub(super) fn write(&mut self, touch: &Touch, writing: &Writing) {
        let Writing { ready, completed, modifies } = *writing;
        let at = self.access.at;
        // A locked operation completes when it has written.
        let earliest = if touch.locked { completed } else { self.line_of(touch, at).max(completed + 1) };
        let written = self.written.next(earliest, 2);
        self.hold_second(at, written + 1);
        let Touch { address, size, misaligned, .. } = *touch;
        self.stores.push(Store { address, size, misaligned, modifies, ready, written, ..Store::default() });
    }
}
