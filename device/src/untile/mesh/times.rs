//! When everything at every stop is free next, in clocks of the untile.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::message::Ring;
use super::plan::{COLUMNS, ROWS, Stop, clocks_of_hop};

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
const TAKER: usize = CREDIT + 4 * ROWS as usize * CREDITS;
const THROTTLE: usize = TAKER + 4;
const ACKNOWLEDGE: usize = THROTTLE + 2;
const WORDS: usize = ACKNOWLEDGE + 2;
/// Links that leave a stop: for each axis and ring, one for each direction and polarity.
const LINKS: usize = 2 * 4 * WAYS;
const WAYS: usize = 4;
const STOPS: usize = ROWS as usize * COLUMNS as usize;
/// What is saved has the words of each stop together: links are between credits and takers.
const SAVED: usize = WORDS + LINKS;

impl At {
    const fn place(self) -> (usize, usize) {
        match self {
            At::Vertical(bit) => (VERTICAL + bit * QUEUE, QUEUE),
            At::Horizontal(ring) => (HORIZONTAL + ring * QUEUE, QUEUE),
            At::Ingress(bit) => (INGRESS + bit * QUEUE, QUEUE),
            At::Credits(event, row) => (CREDIT + (event * ROWS as usize + row) * CREDITS, CREDITS),
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

/// The links of one direction, ring and polarity along a column or a row. When one of them is free is kept as the time at which a message
/// reaches the end of the line that takes it then: what a message takes has one time at all links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) horizontal: bool,
    pub(super) ring: usize,
    /// By direction and polarity.
    pub(super) way: usize,
    /// The column, or the row.
    pub(super) of: u8,
}

impl Line {
    const fn length(horizontal: bool) -> usize {
        if horizontal { COLUMNS as usize } else { ROWS as usize }
    }

    /// Whether the first of its two directions is its own: up or left.
    const fn is_first_way(way: usize) -> bool {
        way < WAYS / 2
    }

    /// How long a message takes from stop `at` to the end of the line.
    const fn lead(horizontal: bool, way: usize, at: usize) -> u64 {
        let hops = if Line::is_first_way(way) { at } else { Line::length(horizontal) - 1 - at };
        hops as u64 * clocks_of_hop(horizontal)
    }

    /// Its first word and their number. Links that a message passes are next to each other.
    fn place(self) -> (usize, usize) {
        let length = Line::length(self.horizontal);
        let kind = (usize::from(self.horizontal) * Ring::ALL.len() + self.ring) * WAYS + self.way;
        (kind * STOPS + usize::from(self.of) * length, length)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Times {
    /// Of each stop, all but its links.
    stops: Box<[u64]>,
    links: Box<[u64]>,
}

/// The place of a word of `stops` in what is saved.
const fn saved_place(word: usize) -> usize {
    let (stop, word) = (word / WORDS, word % WORDS);
    stop * SAVED + if word < TAKER { word } else { word + LINKS }
}

/// The same of a word of `links`.
const fn saved_place_of_link(word: usize) -> usize {
    let (kind, place) = (word / STOPS, word % STOPS);
    let horizontal = kind >= LINKS / 2;
    let length = Line::length(horizontal);
    let (of, at) = (place / length, place % length);
    let stop = if horizontal { of * COLUMNS as usize + at } else { at * COLUMNS as usize + of };
    stop * SAVED + TAKER + kind
}

/// The time from a link to the end of its line.
const fn lead_of_link(word: usize) -> u64 {
    let (kind, place) = (word / STOPS, word % STOPS);
    let horizontal = kind >= LINKS / 2;
    Line::lead(horizontal, kind % WAYS, place % Line::length(horizontal))
}

/// The word of a stop's link.
const fn link(stop: usize, kind: usize) -> usize {
    let horizontal = kind >= LINKS / 2;
    let (row, column) = (stop / COLUMNS as usize, stop % COLUMNS as usize);
    let (of, at) = if horizontal { (row, column) } else { (column, row) };
    kind * STOPS + of * Line::length(horizontal) + at
}

impl Times {
    pub(super) fn new() -> Times {
        Times { stops: vec![0; WORDS * STOPS].into_boxed_slice(), links: vec![0; LINKS * STOPS].into_boxed_slice() }
    }

    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.stops) + size_of_val(&*self.links)
    }

    fn words(&mut self, stop: Stop, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        let first = stop.index() * WORDS + first;
        self.stops.get_mut(first..first + count).unwrap_or_default()
    }

    /// Takes `slots` slots of every link between stops `from` and `to` of a line, for a message that leaves at `ready` or when all of them are
    /// free, but not after `end`. Returns when it leaves.
    #[inline(always)]
    pub(super) fn take_links(&mut self, line: Line, from: u8, to: u8, slots: u64, ready: u64, end: u64) -> u64 {
        // A link leaves each stop but the last.
        let (first, last) = if from < to { (from, to) } else { (to + 1, from + 1) };
        let (start, _) = line.place();
        let links = self.links.get_mut(start + usize::from(first)..start + usize::from(last)).unwrap_or_default();
        let lead = Line::lead(line.horizontal, line.way, from.into());
        let free = links.iter().copied().fold(0, u64::max).saturating_sub(lead);
        let leaves = free.min(end).max(ready);
        let until = leaves.saturating_add(lead).saturating_add(slots);
        links.iter_mut().for_each(|link| *link = until.max(*link));
        leaves
    }

    fn word(&self, stop: Stop, at: At, place: usize) -> u64 {
        self.stops.get(stop.index() * WORDS + at.place().0 + place).copied().unwrap_or(0)
    }

    /// When it is free: a queue or credits when the next entry leaves after which one is free.
    pub(super) fn free(&self, stop: Stop, at: At) -> u64 {
        self.word(stop, at, 0)
    }

    /// When the last entry of a queue leaves.
    pub(super) fn last(&self, stop: Stop, at: At) -> u64 {
        self.word(stop, at, ENTRIES - 1)
    }

    /// It is free from `until` on, if not later.
    pub(super) fn hold(&mut self, stop: Stop, at: At, until: u64) {
        if let Some(time) = self.stops.get_mut(stop.index() * WORDS + at.place().0) {
            *time = until.max(*time);
        }
    }

    /// Takes a credit that comes back at `until`.
    pub(super) fn take(&mut self, stop: Stop, at: At, until: u64) {
        let credits = self.words(stop, at);
        // They are in the order in which they come back: this one mostly after all others.
        let mut place = 0;
        while let Some(next) = credits.get(place + 1).copied().filter(|next| *next < until) {
            credits.get_mut(place).into_iter().for_each(|time| *time = next);
            place += 1;
        }
        credits.get_mut(place).into_iter().for_each(|time| *time = until);
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
        let stops = self.stops.iter().enumerate().map(|(word, time)| (saved_place(word), *time));
        let links = self.links.iter().enumerate().map(|(word, time)| (saved_place_of_link(word), time.saturating_sub(lead_of_link(word))));
        let busy = stops.chain(links).filter(|(_, time)| *time > now);
        let mut saved: Vec<_> = busy.filter_map(|(place, time)| Some((u32::try_from(place).ok()?, time - now))).collect();
        saved.sort_unstable();
        saved
    }

    pub(super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.stops.fill(0);
        self.links.fill(0);
        for (place, ahead) in saved {
            let (stop, word) = (*place as usize / SAVED, *place as usize % SAVED);
            let (time, lead) = match word.checked_sub(TAKER) {
                None => (self.stops.get_mut(stop * WORDS + word), 0),
                Some(kind @ ..LINKS) => {
                    let word = link(stop, kind);
                    (self.links.get_mut(word), lead_of_link(word))
                }
                Some(rest) => (self.stops.get_mut(stop * WORDS + TAKER + rest - LINKS), 0),
            };
            time.into_iter().for_each(|time| *time = now.saturating_add(*ahead).saturating_add(lead));
        }
    }
}
