//! When everything at every stop is free next, in clocks of the untile.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::message::Ring;
use super::plan::{COLUMNS, ROWS};
use super::run::{Run, lead, length};

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

/// When everything of a stop but its links is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words([u64; WORDS]);

impl Words {
    const FREE: Words = Words([0; WORDS]);

    #[inline(always)]
    fn word(&self, place: usize) -> u64 {
        self.0.get(place).copied().unwrap_or(0)
    }

    fn several(&mut self, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        self.0.get_mut(first..first + count).unwrap_or_default()
    }

    /// When it is free: a queue or credits when the next entry leaves after which one is free.
    #[inline(always)]
    pub(super) fn free(&self, at: At) -> u64 {
        self.word(at.place().0)
    }

    /// When the last entry of a queue leaves.
    #[inline(always)]
    pub(super) fn last(&self, at: At) -> u64 {
        self.word(at.place().0 + ENTRIES - 1)
    }

    /// When all entries of a queue have left.
    #[inline(always)]
    pub(super) fn empty(&self, at: At) -> u64 {
        self.free(at).max(self.last(at))
    }

    /// It is free from `until` on, if not later.
    #[inline(always)]
    pub(super) fn hold(&mut self, at: At, until: u64) {
        if let Some(time) = self.0.get_mut(at.place().0) {
            *time = until.max(*time);
        }
    }

    /// Takes a credit that comes back at `until`.
    #[inline(always)]
    pub(super) fn take(&mut self, at: At, until: u64) {
        let credits = self.several(at);
        if let [first, second, third, last] = credits
            && *last <= until
        {
            (*first, *second, *third, *last) = (*second, *third, *last, until);
            return;
        }
        // They are in the order in which they come back: this one mostly after all others, as above.
        let mut place = 0;
        while let Some(next) = credits.get(place + 1).copied().filter(|next| *next < until) {
            credits.get_mut(place).into_iter().for_each(|time| *time = next);
            place += 1;
        }
        credits.get_mut(place).into_iter().for_each(|time| *time = until);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Times {
    /// Of each stop, all but its links.
    stops: Box<[Words]>,
    /// The links of each direction, ring and polarity along each column or row. When one of them is free is kept as the time at which a
    /// message reaches the end of the line that takes it then: what a message takes has one time at all links, which are next to each other.
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
    let length = length(horizontal);
    let (of, at) = (place / length, place % length);
    let stop = if horizontal { of * COLUMNS as usize + at } else { at * COLUMNS as usize + of };
    stop * SAVED + TAKER + kind
}

/// The time from a link to the end of its line.
const fn lead_of_link(word: usize) -> u64 {
    let (kind, place) = (word / STOPS, word % STOPS);
    let horizontal = kind >= LINKS / 2;
    lead(horizontal, kind % WAYS, place % length(horizontal))
}

/// The word of a stop's link.
const fn link(stop: usize, kind: usize) -> usize {
    let horizontal = kind >= LINKS / 2;
    let (row, column) = (stop / COLUMNS as usize, stop % COLUMNS as usize);
    let (of, at) = if horizontal { (row, column) } else { (column, row) };
    kind * STOPS + of * length(horizontal) + at
}

impl Times {
    pub(super) fn new() -> Times {
        Times { stops: vec![Words::FREE; STOPS].into_boxed_slice(), links: vec![0; LINKS * STOPS].into_boxed_slice() }
    }

    pub(super) fn footprint(&self) -> usize {
        size_of_val(&*self.stops) + size_of_val(&*self.links)
    }

    fn words(&mut self, stop: usize, at: At) -> &mut [u64] {
        let (first, count) = at.place();
        self.stops.get_mut(stop).and_then(|words| words.0.get_mut(first..first + count)).unwrap_or_default()
    }

    /// The links of a run.
    #[inline(always)]
    fn links(&mut self, run: Run, ring: Ring) -> &mut [u64] {
        let kind = (run.axis() * Ring::ALL.len() + ring.index()) * WAYS + run.way(ring);
        let first = kind * STOPS + usize::from(run.of) * length(run.horizontal) + run.first();
        self.links.get_mut(first..first + usize::from(run.hops())).unwrap_or_default()
    }

    /// Takes the slots of the links of a run for a message that leaves at `ready`, which is not late, up to the first link that is not free
    /// then. Returns how many it took.
    #[inline(always)]
    pub(super) fn take_free_links(&mut self, run: Run, ring: Ring, ready: u64) -> u8 {
        let there = ready + run.lead();
        let until = there + ring.slots();
        let mut taken = 0;
        for link in self.links(run, ring) {
            if *link > there {
                break;
            }
            *link = until;
            taken += 1;
        }
        taken
    }

    /// Takes the slots of every link of a run, of which so many are known to be `free`, for a message that leaves at `ready` or when
    /// all of them are free, but not after `end`. Returns when it leaves.
    #[cold]
    pub(super) fn take_links(&mut self, run: Run, ring: Ring, free: u8, ready: u64, end: u64) -> u64 {
        let links = self.links(run, ring);
        let latest = links.iter().skip(free.into()).copied().fold(0, u64::max).saturating_sub(run.lead());
        let leaves = latest.min(end).max(ready);
        let until = leaves.saturating_add(run.lead()).saturating_add(ring.slots());
        links.iter_mut().for_each(|link| *link = until.max(*link));
        leaves
    }

    /// Those of a stop.
    #[inline(always)]
    pub(super) fn stop(&mut self, stop: usize) -> Option<&mut Words> {
        self.stops.get_mut(stop)
    }

    /// When it is free: a queue or credits when the next entry leaves after which one is free.
    pub(super) fn free(&self, stop: usize, at: At) -> u64 {
        self.stops.get(stop).map_or(0, |words| words.free(at))
    }

    /// When the last entry of a queue leaves.
    pub(super) fn last(&self, stop: usize, at: At) -> u64 {
        self.stops.get(stop).map_or(0, |words| words.last(at))
    }

    /// It is free from `until` on, if not later.
    pub(super) fn hold(&mut self, stop: usize, at: At, until: u64) {
        if let Some(words) = self.stops.get_mut(stop) {
            words.hold(at, until);
        }
    }

    /// An entry is in a queue from `enters` until `leaves`, which is not before the last one's end.
    pub(super) fn stay(&mut self, stop: usize, at: At, enters: u64, leaves: u64) -> Stay {
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
        let stops = self.stops.iter().flat_map(|words| &words.0).enumerate().map(|(word, time)| (saved_place(word), *time));
        let links = self.links.iter().enumerate().map(|(word, time)| (saved_place_of_link(word), time.saturating_sub(lead_of_link(word))));
        let busy = stops.chain(links).filter(|(_, time)| *time > now);
        let mut saved: Vec<_> = busy.filter_map(|(place, time)| Some((u32::try_from(place).ok()?, time - now))).collect();
        saved.sort_unstable();
        saved
    }

    pub(super) fn load(&mut self, saved: &[(u32, u64)], now: u64) {
        self.stops.fill(Words::FREE);
        self.links.fill(0);
        for (place, ahead) in saved {
            let (stop, word) = (*place as usize / SAVED, *place as usize % SAVED);
            let (time, lead) = match word.checked_sub(TAKER) {
                None => (self.stops.get_mut(stop).and_then(|words| words.0.get_mut(word)), 0),
                Some(kind @ ..LINKS) => {
                    let word = link(stop, kind);
                    (self.links.get_mut(word), lead_of_link(word))
                }
                Some(rest) => (self.stops.get_mut(stop).and_then(|words| words.0.get_mut(TAKER + rest - LINKS)), 0),
            };
            time.into_iter().for_each(|time| *time = now.saturating_add(*ahead).saturating_add(lead));
        }
    }
}
