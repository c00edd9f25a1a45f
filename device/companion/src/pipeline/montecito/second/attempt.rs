//! Attempts of operations at the data array, and the causes of their cancellation.

use super::counts::Count;
use super::entries::{ALL, EntryState, QueueEntry};
use super::operation::Order;
use super::{LONG, SHORT, STAGES, SecondQueue};

/// Number of ports of the data array (M 2.3.3.2).
const PORTS: u32 = 4;

/// Resources of the data array that are taken in a clock.
#[derive(Clone, Copy, Debug, Default)]
struct ArrayUse {
    ports: u32,
    banks: u16,
}

/// The cause of a cancellation, and the operation that the cancelled one then waits for.
type Cancel = (Count, Option<u64>);

impl SecondQueue {
    /// L8: issues the oldest operations of the queue that have their banks to themselves, and then those that bypass it.
    pub(super) fn access(&mut self, now: u64) {
        let mut taken = ArrayUse::default();
        for state in [EntryState::Queued, EntryState::Long, EntryState::Short] {
            while let Some((place, entry)) = self.entries.ready(state, now) {
                let banks = entry.operation.banks();
                let held = state == EntryState::Queued && (taken.ports == PORTS || taken.banks & banks != 0);
                if held {
                    self.entries.set(place, QueueEntry { at: now + 1, ..entry });
                    continue;
                }
                self.attempt(place, entry, now, &mut taken);
            }
        }
    }

    fn attempt(&mut self, place: usize, entry: QueueEntry, now: u64, taken: &mut ArrayUse) {
        let Some((count, blocker)) = self.obstacle(&entry, now, *taken) else {
            taken.ports += 1;
            taken.banks |= entry.operation.banks();
            match entry.state {
                EntryState::Short => self.count(Count::ShortBypass),
                EntryState::Long => self.count(Count::LongBypass),
                _ => {}
            }
            let passes = QueueEntry { state: EntryState::Flight, at: now + STAGES, tried: now, cancelled: false, ..entry };
            return self.entries.set(place, passes);
        };
        self.cancel(count);
        if count == Count::Acquire && self.has_sibling_acquire(&entry) {
            self.count(Count::LateSibling);
        }
        if count == Count::Release && entry.state == EntryState::Short {
            self.count(Count::LateBypass);
        }
        // L9: an operation that waits for no other takes the long bypass.
        let (state, at) = if entry.state == EntryState::Short && blocker.is_none() {
            (EntryState::Long, now + LONG - SHORT)
        } else {
            (EntryState::Queued, now + STAGES)
        };
        self.entries.set(place, QueueEntry { state, at, tried: now, cancelled: true, blocker, ..entry });
    }

    /// L10: returns the first reason that cancels an operation, in this order.
    fn obstacle(&self, entry: &QueueEntry, now: u64, taken: ArrayUse) -> Option<Cancel> {
        let operation = &entry.operation;
        if operation.order != Order::None && self.has_older(entry.number) {
            match operation.order {
                Order::Release | Order::Fence => return Some((Count::Release, Some(ALL))),
                Order::Semaphore => return Some((Count::Semaphore, Some(ALL))),
                Order::Synchronization => return Some((Count::Synchronization, Some(ALL))),
                Order::None | Order::Acquire => {}
            }
        }
        if let Some(number) = self.acquire_before(entry) {
            return Some((Count::Acquire, Some(number)));
        }
        if let Some(cancel) = self.chunk_before(entry, now) {
            return Some(cancel);
        }
        let banks = operation.banks();
        if entry.state == EntryState::Short && operation.is_misaligned() {
            return Some((Count::Recirculation, None));
        }
        let of_array = [
            (taken.ports >= PORTS, Count::Oversubscription),
            (taken.banks & banks != 0, Count::Bank),
            (self.fills.written(now) & banks != 0, if operation.kind.writes() { Count::FillStore } else { Count::Fill }),
            (self.fills.read(now) & banks != 0, Count::WriteBack),
            (operation.kind.writes() && self.fills.merge(now), Count::StoreData),
        ];
        of_array.into_iter().find(|(holds, _)| *holds).map(|(_, count)| (count, None))
    }

    /// Returns the last pending acquire before an operation.
    fn acquire_before(&self, entry: &QueueEntry) -> Option<u64> {
        let queued = self.entries.before(entry.number).filter(|each| each.operation.order.acquires()).map(|each| each.number);
        let asked = self.fills.before(entry.number).filter(|fill| fill.acquires).map(|fill| fill.number);
        queued.chain(asked).max()
    }

    /// Whether a pending acquire is of the same group.
    fn has_sibling_acquire(&self, entry: &QueueEntry) -> bool {
        let queued = self.entries.before(entry.number).any(|each| each.operation.order.acquires() && each.looked == entry.looked);
        queued || self.fills.before(entry.number).any(|fill| fill.acquires && fill.looked == entry.looked)
    }

    /// Returns the effect of the last older operation on the same chunk. A store after one that is in the array follows it there.
    fn chunk_before(&self, entry: &QueueEntry, now: u64) -> Option<Cancel> {
        let conflicting = self.entries.before(entry.number).filter(|each| each.operation.conflicts(&entry.operation));
        let last = conflicting.max_by_key(|each| each.number)?;
        let reads = entry.operation.kind.reads() && last.operation.kind.writes();
        let blocker = Some(last.number);
        let clocks = now.saturating_sub(last.tried);
        match last.state {
            EntryState::Flight if reads => Count::STAGES.get(clocks as usize).map(|stage| (*stage, blocker)),
            EntryState::Flight => None,
            _ if reads && last.cancelled && (1..STAGES).contains(&clocks) => Some((Count::CancelledStore, blocker)),
            _ => Some((Count::Release, blocker)),
        }
    }
}
