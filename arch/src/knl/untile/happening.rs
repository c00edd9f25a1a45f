//! Events in a box, the contents of its queues, and the requests at a CHA.

use super::boxes::Kind;
use super::clocks::Clocks;
use super::counter::{BoxCounter, WIDTH};
use super::registers::{ChaFilter0, ChaFilter1};
use super::setting::{COUNTER0_OCCUPANCY, Choice, FIRST_OF_MESH, Input};
use super::transaction::Transaction;
use super::unit::Unit;

/// CHA: entries of a queue (11h), and how many came into it (13h).
const INGRESS_OCCUPANCY: u8 = 0x11;
const INGRESS_INSERTS: u8 = 0x13;
/// CHA: look-ups of the snoop filter.
const FILTER_LOOKUP: u8 = 0x34;
/// CHA: what came into the table of requests (35h), and what is in it (36h).
const TABLE_INSERTS: u8 = 0x35;
const TABLE_OCCUPANCY: u8 = 0x36;
/// The bits of their unit masks that choose requests that a cache answered, and those that memory answered.
const TABLE_HIT: u8 = 0x10;
const TABLE_MISS: u8 = 0x20;

/// The bit of SF_LOOKUP's unit mask that means any kind.
const LOOKUP_ANY: u8 = 0x10;

/// Whether a CHA counts something by this select and unit mask that no request's own entry is: it is neither of the IRQ nor of the PRQ.
pub(super) const fn is_of_agent(select: u8, umask: u8) -> bool {
    const OF_REQUESTS: u8 = 0x11;
    const OF_EVICTIONS_OR_SNOOPS: u8 = 0x0A;
    const LOOKUP_OF_SNOOP_OR_ANY: u8 = 0x18;
    match select {
        INGRESS_OCCUPANCY | INGRESS_INSERTS => umask & !OF_REQUESTS != 0,
        TABLE_INSERTS | TABLE_OCCUPANCY => umask & OF_EVICTIONS_OR_SNOOPS != 0,
        FILTER_LOOKUP => umask & LOOKUP_OF_SNOOP_OR_ANY != 0,
        _ => select != 0 && select < FIRST_OF_MESH,
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Stage {
    /// It enters the table of requests.
    Enters,
    /// It leaves the table.
    Leaves,
    /// It enters, and leaves after so many clocks: for an embedder that does not follow it.
    Served {
        /// The clocks.
        clocks: u64,
    },
}

impl Unit {
    /// Applies `each` to every counter that `chooses` selects, at `now`. Returns whether one of them counts.
    fn each(&mut self, now: &Clocks, chooses: impl Fn(&Choice, (u8, u8)) -> bool, each: impl Fn(&mut BoxCounter, bool) -> bool) -> bool {
        self.advance(now);
        let runs = !self.is_frozen();
        let (mut taken, mut overflowed) = (false, 0);
        let followed = self.choices.iter().zip(&self.queues).zip(&mut self.counters).take(self.kind.counters());
        let first = usize::from(self.kind.has_fixed());
        for (number, ((choice, queue), counter)) in followed.enumerate() {
            if choice.input == Input::Nothing || !chooses(choice, *queue) {
                continue;
            }
            let counts = runs && choice.setting.enabled;
            taken |= counts;
            if each(counter, counts) && choice.setting.ov_en {
                overflowed |= 1 << (first + number);
            }
        }
        if overflowed != 0 {
            self.overflow(overflowed);
        }
        taken
    }

    /// Adds `amount` events of select `select` and sub-event `umask`, if that is all they do: no counter of the box has a threshold, detects
    /// edges, filters threads or reports its overflow. What time adds to a counter comes to the same sum before or
    /// after, so the call needs no clocks. Returns whether a counter counts them; `None`, and adds nothing, if they must be
    /// [injected](Unit::inject).
    ///
    /// ```
    /// use vm_pmu_arch::knl::untile::{Clocks, Kind, Unit, UnitRegister};
    ///
    /// let mut cha = Unit::new(Kind::Cha);
    /// // VERT_RING_AD_IN_USE: of all four ways, and clocks in which at least two are in use.
    /// cha.write(UnitRegister::CounterControl(0), 0x0040_0FA6, &Clocks::default());
    /// assert_eq!(cha.add(0xA6, 0x01, 3), Some(true));
    /// cha.write(UnitRegister::CounterControl(1), 0x0240_0FA6, &Clocks::default());
    /// assert_eq!(cha.add(0xA6, 0x01, 3), None);
    /// assert_eq!(cha.read(UnitRegister::Counter(0), &Clocks::default()), 3);
    /// ```
    pub fn add(&mut self, select: u8, umask: u8, amount: u64) -> Option<bool> {
        let is_lookup = self.kind == Kind::Cha && select == FILTER_LOOKUP;
        if !self.is_plain || is_lookup || amount > WIDTH.mask() {
            return None;
        }
        let mut taken = false;
        if !self.is_frozen() {
            for (choice, counter) in self.choices.iter().zip(&mut self.counters) {
                if choice.select == select && choice.takes_events && choice.admits(select, umask) {
                    counter.count.add(amount, WIDTH);
                    taken = true;
                }
            }
        }
        Some(taken)
    }

    /// Injects events of select `select` and sub-event `umask`: `each` in every one of the next `clocks` clocks. They belong to no
    /// thread: a counter with a thread filter (tid_en) counts [requests](Unit::transact) only. A look-up of the snoop filter is taken to
    /// find the line in one of the states that filter 0 names. Returns whether a counter counts them.
    pub fn inject(&mut self, select: u8, umask: u8, each: u64, clocks: u64, now: &Clocks) -> bool {
        let is_lookup = self.kind == Kind::Cha && select == FILTER_LOOKUP;
        let in_a_state = is_lookup && {
            let states = ChaFilter0::written(self.filters[0]);
            states.sf_s() || states.sf_e() || states.sf_m()
        };
        let kind = self.kind;
        let admits = |choice: &Choice, queue: (u8, u8)| match is_lookup && choice.select == select {
            true => in_a_state && counts_lookup(choice.umask, umask),
            false => follows(kind, choice, queue, select, umask),
        };
        self.each(
            now,
            |choice, queue| choice.input != Input::Clock && !choice.by_thread && admits(choice, queue),
            |counter, counts| counter.inject(each, clocks, counts),
        )
    }

    /// The queue of event `select` and sub-event `umask` has `change` entries more than before; it never has fewer than none. A state
    /// that begins or ends is one entry more or less. Report every change: a counter that begins later counts the entries that are there.
    /// Returns whether a counter follows the queue.
    pub fn change_queue(&mut self, select: u8, umask: u8, change: i64, now: &Clocks) -> bool {
        let change = self.held.change((select, umask), change);
        let kind = self.kind;
        self.each(
            now,
            |choice, queue| choice.has_level() && !choice.by_thread && follows(kind, choice, queue, select, umask),
            |counter, _| {
                counter.set_level(counter.level.saturating_add_signed(change));
                false
            },
        )
    }

    /// The queue of event `select` and sub-event `umask` has `level` entries: for an embedder that did not report its changes before.
    /// Returns whether a counter follows the queue.
    pub fn set_queue(&mut self, select: u8, umask: u8, level: u64, now: &Clocks) -> bool {
        let most = i64::MAX.unsigned_abs();
        let before = self.held.level((select, umask));
        let change = level.min(most).wrapping_sub(before.min(most)).cast_signed();
        self.change_queue(select, umask, change, now)
    }

    /// The level in the box of what `choice` chooses, where it follows `queue`.
    pub(super) fn level_of(&self, choice: &Choice, queue: (u8, u8)) -> u64 {
        if !choice.has_level() {
            return 0;
        }
        let reported = self.held.queues().filter(|held| !choice.by_thread && follows(self.kind, choice, queue, held.select, held.umask));
        let reported = reported.fold(0, |sum: u64, held| sum.saturating_add(held.level));
        reported.saturating_add(self.entries(choice, queue))
    }

    /// The entries of the table that counter `number` follows.
    pub(super) fn entries_followed(&self, number: usize) -> u64 {
        match (self.choices.get(number), self.queues.get(number)) {
            (Some(choice), Some(queue)) if choice.input == Input::Queue => self.entries(choice, *queue),
            _ => 0,
        }
    }

    fn entries(&self, choice: &Choice, queue: (u8, u8)) -> u64 {
        if self.kind != Kind::Cha || queue.0 != TABLE_OCCUPANCY {
            return 0;
        }
        let [filter0, filter1] = self.filters;
        let (filter0, filter1) = (ChaFilter0::written(filter0), ChaFilter1::written(filter1));
        let chosen = |entry: &&Transaction| is_chosen(entry, queue.1, filter1) && (!choice.by_thread || entry.is_of(filter0));
        self.held.table().filter(chosen).count() as u64
    }

    /// A request at a CHA; any other box has none. Always report both that it enters and that it leaves, with the same `transaction`: a
    /// counter that begins in between counts the entries that are there. Returns whether a counter counts it.
    pub fn transact(&mut self, transaction: &Transaction, stage: Stage, now: &Clocks) -> bool {
        if self.kind != Kind::Cha {
            return false;
        }
        let change = match stage {
            Stage::Enters => self.held.enter(transaction),
            Stage::Leaves => self.held.leave(transaction),
            Stage::Served { .. } => 0,
        };
        let [filter0, filter1] = self.filters;
        let (filter0, filter1) = (ChaFilter0::written(filter0), ChaFilter1::written(filter1));
        let of_thread = transaction.is_of(filter0);
        let is_chosen = |umask: u8| is_chosen(transaction, umask, filter1);
        let kind = self.kind;
        let arrives = |choice: &Choice, queue: (u8, u8)| match selected(kind, choice, queue) {
            INGRESS_OCCUPANCY => queue.1 == transaction.source.ingress_bit() && queue.1 != 0,
            INGRESS_INSERTS => choice.umask & transaction.source.ingress_bit() != 0,
            FILTER_LOOKUP => counts_lookup(choice.umask, 1 | transaction.lookup.bits()) && transaction.is_in_state(filter0),
            TABLE_INSERTS => is_chosen(choice.umask),
            _ => false,
        };
        let is_in_table = |queue: (u8, u8)| queue.0 == TABLE_OCCUPANCY && is_chosen(queue.1);
        let passes = |choice: &Choice| !choice.by_thread || of_thread;
        let mut taken = false;
        if stage != Stage::Leaves {
            taken |=
                self.each(now, |choice, queue| passes(choice) && arrives(choice, queue), |counter, counts| counter.inject(1, 1, counts));
        }
        let in_table = |choice: &Choice, queue: (u8, u8)| choice.input == Input::Queue && passes(choice) && is_in_table(queue);
        taken
            | match stage {
                Stage::Served { clocks } => self.each(now, in_table, |counter, counts| counter.inject(1, clocks, counts)),
                Stage::Enters | Stage::Leaves => self.each(now, in_table, |counter, _| {
                    counter.set_level(counter.level.saturating_add_signed(change));
                    false
                }),
            }
    }
}

/// Whether a counter of the table with this unit mask takes the request: by the queue it came through, its answer, and filter 1.
fn is_chosen(transaction: &Transaction, umask: u8, filter1: ChaFilter1) -> bool {
    let answer = if transaction.hit { TABLE_HIT } else { TABLE_MISS };
    umask & transaction.source.table_bits() != 0 && umask & answer != 0 && transaction.passes(filter1)
}

/// Whether SF_LOOKUP with unit mask `chosen` counts a look-up of unit mask `lookup`: bit 0 must be set, and the kind's bit or that of
/// any kind (table 5-16).
fn counts_lookup(chosen: u8, lookup: u8) -> bool {
    chosen & 1 != 0 && chosen & (lookup | LOOKUP_ANY) & !1 != 0
}

/// Whether a counter takes what is told of `select` and `umask`; COUNTER0_OCCUPANCY takes what the queue has that it follows.
fn follows(kind: Kind, choice: &Choice, queue: (u8, u8), select: u8, umask: u8) -> bool {
    let followed = if goes_on(kind, choice, queue) { choice.of_queue(queue.0, queue.1) } else { *choice };
    followed.admits(select, umask)
}

/// Whether it is COUNTER0_OCCUPANCY and goes on with a queue that counter 0 followed.
fn goes_on(kind: Kind, choice: &Choice, queue: (u8, u8)) -> bool {
    choice.select == COUNTER0_OCCUPANCY && kind == Kind::Cha && queue != (0, 0)
}

/// The select of what a counter takes.
pub(super) fn selected(kind: Kind, choice: &Choice, queue: (u8, u8)) -> u8 {
    if goes_on(kind, choice, queue) { queue.0 } else { choice.select }
}

#[cfg(test)]
mod tests {
    use super::super::boxes::UnitRegister;
    use super::*;

    #[test]
    fn events_that_are_added_leave_what_injected_ones_leave() {
        const FREEZE: u64 = 1 << 8;
        let at = |uclk| Clocks { uclk, ..Clocks::default() };
        // A clock, and VERT_RING_AD_IN_USE.
        let unit = || {
            let mut unit = Unit::new(Kind::Cha);
            unit.write(UnitRegister::CounterControl(0), 0x0040_0000, &at(0));
            unit.write(UnitRegister::CounterControl(1), 0x0040_0FA6, &at(0));
            unit
        };
        let (mut added, mut injected) = (unit(), unit());
        assert_eq!(added.add(0xA6, 0x01, 3), Some(injected.inject(0xA6, 0x01, 1, 3, &at(5))));
        for unit in [&mut added, &mut injected] {
            unit.write(UnitRegister::Control, FREEZE, &at(7));
        }
        assert_eq!(added.add(0xA6, 0x01, 3), Some(injected.inject(0xA6, 0x01, 1, 3, &at(8))));
        let [added, injected] = [added, injected].map(|mut unit| unit.state(&at(9)));
        assert_eq!((added.counters, added), ([7, 3, 0, 0], injected));
    }
}
