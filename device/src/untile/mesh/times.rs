//! When everything at every stop is free next, in clocks of the untile.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::plan::{COLUMNS, ROWS, Stop};

/// Entries of a queue, chosen.
pub(super) const ENTRIES: usize = 8;
/// Words of a queue: when each of its entries leaves, the first first, and up to when the cycles in which it is full have been counted.
const QUEUE: usize = ENTRIES + 1;
/// Credits of an agent for a transgress, chosen.
const CREDITS: usize = 4;

/// Something of a stop that is free at some time.
#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// A queue for the vertical rings, by the bit of its agent and ring in unit masks.
    Vertical(usize),
    /// A queue for the horizontal rings, by ring.
    Horizontal(usize),
    /// A queue of what comes from the mesh, by its bit in unit masks.
    Ingress(usize),
    /// Credits of an agent, by their event and by row.
    Credits(usize, usize),
    /// A link that leaves the stop: horizontal or not, by ring, and by direction and polarity.
    Link(bool, usize, usize),
    /// What takes messages out of the ingress, by ring.
    Taker(usize),
    /// The end of throttling of the rings, horizontal or not.
    Throttle(bool),
    /// The last acknowledge that set out upwards or downwards.
    Acknowledge(usize),
}

const VERTICAL: usize = 0;
const HORIZONTAL: usize = VERTICAL + 7 * QUEUE;
const INGRESS: usize = HORIZONTAL + 4 * QUEUE;
const CREDIT: usize = INGRESS + 7 * QUEUE;
const LINK: usize = CREDIT + 4 * ROWS as usize * CREDITS;
const TAKER: usize = LINK + 2 * 4 * 4;
const THROTTLE: usize = TAKER + 4;
const ACKNOWLEDGE: usize = THROTTLE + 2;
const WORDS: usize = ACKNOWLEDGE + 2;

impl At {
    const fn place(self) -> (usize, usize) {
        match self {
            At::Vertical(bit) => (VERTICAL + bit * QUEUE, QUEUE),
            At::Horizontal(ring) => (HORIZONTAL + ring * QUEUE, QUEUE),
            At::Ingress(bit) => (INGRESS + bit * QUEUE, QUEUE),
            At::Credits(event, row) => (CREDIT + (event * ROWS as usize + row) * CREDITS, CREDITS),
            At::Link(horizontal, ring, way) => (LINK + (horizontal as usize * 4 + ring) * 4 + way, 1),
            At::Taker(ring) => (TAKER + ring, 1),
            At::Throttle(horizontal) => (THROTTLE + horizontal as usize, 1),
            At::Acknowledge(way) => (ACKNOWLEDGE + way, 1),
        }
    }
}

/// How long an entry was in a queue, and the cycles that it adds to those in which the queue was not empty, and full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) occupied: u64,
    pub(super) not_empty: u64,
    pub(super) full: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Times(Box<[u64]>);

impl Times {
    pub(super) fn new() -> Times {
        Times(vec![0; WORDS * usize::from(ROWS) * usize::from(COLUMNS)].into_boxed_slice())
    }

    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.0)
    }

    fn words(&mut self, stop: Stop, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        let first = stop.index() * WORDS + first;
        self.0.get_mut(first..first + count).unwrap_or_default()
    }

    /// When it is free: a queue or credits when the next entry leaves after which one is free.
    pub(super) fn free(&mut self, stop: Stop, at: At) -> u64 {
        self.words(stop, at).first().copied().unwrap_or(0)
    }

    /// When the last entry of a queue leaves.
    pub(super) fn last(&mut self, stop: Stop, at: At) -> u64 {
        self.words(stop, at).get(ENTRIES - 1).copied().unwrap_or(0)
    }

    /// It is free from `until` on, if not later.
    pub(super) fn hold(&mut self, stop: Stop, at: At, until: u64) {
        self.words(stop, at).first_mut().into_iter().for_each(|time| *time = until.max(*time));
    }

    /// Takes a credit that comes back at `until`.
    pub(super) fn take(&mut self, stop: Stop, at: At, until: u64) {
        let credits = self.words(stop, at);
        credits.first_mut().into_iter().for_each(|time| *time = until);
        credits.sort_unstable();
    }

    /// An entry is in a queue from `enters` until `leaves`, which is not before the last one's end.
    pub(super) fn stay(&mut self, stop: Stop, at: At, enters: u64, leaves: u64) -> Stay {
        let Some((counted, queue)) = self.words(stop, at).split_last_mut() else { return Stay::default() };
        let last = queue.last().copied().unwrap_or(0);
        // With this entry the queue is full until the first of the others leaves.
        let full_until = queue.get(1).copied().unwrap_or(0);
        let full = full_until.saturating_sub(enters.max(*counted));
        *counted = full_until.max(*counted);
        if !queue.is_empty() {
            queue.rotate_left(1);
        }
        queue.last_mut().into_iter().for_each(|time| *time = leaves);
        Stay { occupied: leaves.saturating_sub(enters), not_empty: leaves.saturating_sub(enters.max(last)), full }
    }

    /// What is not free yet at `now`: where, and how long.
    pub(super) fn save(&self, now: u64) -> Vec<(u32, u64)> {
        let busy = self.0.iter().enumerate().filter(|(_, time)| **time > now);
        busy.filter_map(|(place, time)| Some((u32::try_from(place).ok()?, time - now))).collect()
    }

    pub(super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.0.fill(0);
        for (place, ahead) in saved {
            self.0.get_mut(*place as usize).into_iter().for_each(|time| *time = now.saturating_add(*ahead));
        }
    }
}
