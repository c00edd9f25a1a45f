//! Events in a box, the contents of its queues, and the requests at a CHA.

use super::boxes::Kind;
use super::clocks::Clocks;
use super::counter::{BoxCounter, WIDTH};
use super::registers::{ChaFilter0, ChaFilter1};
use super::selects::{
    RXR_INSERTS, RXR_OCCUPANCY, SF_LOOKUP, SF_LOOKUP_ANY, TOR_HIT, TOR_INSERTS, TOR_MISS, TOR_OCCUPANCY, goes_on, selected,
};
use super::setting::{Choice, Input};
use super::transaction::Transaction;
use super::unit::Unit;

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
    #[inline]
    pub fn add(&mut self, select: u8, umask: u8, amount: u64) -> Option<bool> {
        let is_lookup = self.kind == Kind::Cha && select == SF_LOOKUP;
        if !self.is_plain || is_lookup || amount > WIDTH.mask() {
            return None;
        }
        let mut taken = false;
        if !self.is_frozen() {
            for ((taking, choice), counter) in self.takings.iter().zip(&self.choices).zip(&mut self.counters) {
                if taking.takes(choice, select, umask) {
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
        let is_lookup = self.kind == Kind::Cha && select == SF_LOOKUP;
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
        if self.kind != Kind::Cha || queue.0 != TOR_OCCUPANCY {
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
        let entry = self.entry(transaction);
        let mut taken = false;
        if stage != Stage::Leaves {
            taken |= self.each(now, |choice, queue| entry.arrives(choice, queue), |counter, counts| counter.inject(1, 1, counts));
        }
        let in_table = |choice: &Choice, queue: (u8, u8)| entry.is_in_table(choice, queue);
        taken
            | match stage {
                Stage::Served { clocks } => self.each(now, in_table, |counter, counts| counter.inject(1, clocks, counts)),
                Stage::Enters | Stage::Leaves => self.each(now, in_table, |counter, _| {
                    counter.set_level(counter.level.saturating_add_signed(change));
                    false
                }),
            }
    }

    /// A request at a CHA that is [served](Stage::Served) in so many clocks, if all that it does is to add to counters, as for
    /// [`add`](Unit::add). Returns whether a counter counts it; `None`, and counts nothing, if it must be [reported](Unit::transact) with the
    /// time.
    ///
    /// ```
    /// use vm_pmu_arch::knl::untile::{Clocks, Kind, Transaction, Unit, UnitRegister};
    ///
    /// let mut cha = Unit::new(Kind::Cha);
    /// // TOR_OCCUPANCY, requests of tiles by their hits and misses.
    /// cha.write(UnitRegister::CounterControl(0), 0x0040_3136, &Clocks::default());
    /// assert_eq!(cha.serve(&Transaction::default(), 200), Some(true));
    /// assert_eq!(cha.read(UnitRegister::Counter(0), &Clocks::default()), 200);
    /// ```
    pub fn serve(&mut self, transaction: &Transaction, clocks: u64) -> Option<bool> {
        if !self.is_plain || self.kind != Kind::Cha || clocks > WIDTH.mask() {
            return None;
        }
        let mut taken = false;
        if !self.is_frozen() {
            let entry = self.entry(transaction);
            for ((choice, queue), counter) in self.choices.iter().zip(&self.queues).zip(&mut self.counters) {
                if !choice.takes_events || !is_of_requests(choice.select) {
                    continue;
                }
                if entry.arrives(choice, *queue) {
                    counter.count.add(1, WIDTH);
                    taken = true;
                }
                if entry.is_in_table(choice, *queue) {
                    counter.count.add(clocks, WIDTH);
                    taken = true;
                }
            }
        }
        Some(taken)
    }

    fn entry<'a>(&self, transaction: &'a Transaction) -> Entry<'a> {
        let [filter0, filter1] = self.filters;
        Entry { kind: self.kind, transaction, filter0: ChaFilter0::written(filter0), filter1: ChaFilter1::written(filter1) }
    }
}

/// Whether requests alone make a CHA count something by this select.
fn is_of_requests(select: u8) -> bool {
    matches!(select, RXR_OCCUPANCY | RXR_INSERTS | SF_LOOKUP | TOR_INSERTS | TOR_OCCUPANCY)
}

/// A request at a CHA with these filters.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    kind: Kind,
    transaction: &'a Transaction,
    filter0: ChaFilter0,
    filter1: ChaFilter1,
}

impl Entry<'_> {
    fn passes(&self, choice: &Choice) -> bool {
        !choice.by_thread || self.transaction.is_of(self.filter0)
    }

    /// Whether a counter counts that it comes.
    fn arrives(&self, choice: &Choice, queue: (u8, u8)) -> bool {
        let transaction = self.transaction;
        let is_counted = match selected(self.kind, choice, queue) {
            RXR_OCCUPANCY => queue.1 == transaction.source.ingress_bit() && queue.1 != 0,
            RXR_INSERTS => choice.umask & transaction.source.ingress_bit() != 0,
            SF_LOOKUP => counts_lookup(choice.umask, 1 | transaction.lookup.bits()) && transaction.is_in_state(self.filter0),
            TOR_INSERTS => is_chosen(transaction, choice.umask, self.filter1),
            _ => false,
        };
        is_counted && self.passes(choice)
    }

    /// Whether a counter follows it in the table.
    fn is_in_table(&self, choice: &Choice, queue: (u8, u8)) -> bool {
        choice.input == Input::Queue
            && queue.0 == TOR_OCCUPANCY
            && is_chosen(self.transaction, queue.1, self.filter1)
            && self.passes(choice)
    }
}

/// Whether a counter of the table with this unit mask takes the request: by the queue it came through, its answer, and filter 1.
fn is_chosen(transaction: &Transaction, umask: u8, filter1: ChaFilter1) -> bool {
    let answer = if transaction.hit { TOR_HIT } else { TOR_MISS };
    umask & transaction.source.table_bits() != 0 && umask & answer != 0 && transaction.passes(filter1)
}

/// Whether SF_LOOKUP with unit mask `chosen` counts a look-up of unit mask `lookup`: bit 0 must be set, and the kind's bit or that of
/// any kind (table 5-16).
fn counts_lookup(chosen: u8, lookup: u8) -> bool {
    chosen & 1 != 0 && chosen & (lookup | SF_LOOKUP_ANY) & !1 != 0
}

/// Whether a counter takes what is told of `select` and `umask`; COUNTER0_OCCUPANCY takes what the queue has that it follows.
fn follows(kind: Kind, choice: &Choice, queue: (u8, u8), select: u8, umask: u8) -> bool {
    let followed = if goes_on(kind, choice, queue) { choice.of_queue(queue.0, queue.1) } else { *choice };
    followed.admits(select, umask)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::boxes::UnitRegister;
    use super::super::transaction::Source;
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

    /// A control of an event of requests or of another one, plain or not, and a unit mask.
    fn control() -> impl Strategy<Value = u64> {
        let select = prop_oneof![Just(0x11u64), Just(0x13), Just(0x1F), Just(0x34), Just(0x35), Just(0x36), Just(0x00), Just(0xA6)];
        // No more than enabled mostly; or edges, a thread, overflows, a threshold.
        let more = prop_oneof![8 => Just(0u64), 1 => prop_oneof![Just(1u64 << 18), Just(1 << 19), Just(1 << 20), Just(2 << 24)]];
        (select, any::<u8>(), prop_oneof![4 => Just(1u64), 1 => Just(0)], more)
            .prop_map(|(select, umask, enabled, more)| select | u64::from(umask) << 8 | enabled << 22 | more)
    }

    proptest! {
        #[test]
        fn any_event_that_is_added_leaves_what_an_injected_one_leaves(
            kind in prop::sample::select(&Kind::ALL[..]),
            controls in prop::array::uniform4((0u64..256, any::<u8>(), prop_oneof![4 => Just(1u64), 1 => Just(0)])),
            events in prop::collection::vec((0usize..4, any::<u8>(), 1u64..400), 1..20),
        ) {
            let at = |uclk| Clocks { uclk, ..Clocks::default() };
            let mut added = Unit::new(kind);
            for (number, (select, umask, enabled)) in controls.into_iter().enumerate() {
                added.write(UnitRegister::CounterControl(number as u8), select | u64::from(umask) << 8 | enabled << 22, &at(0));
            }
            let mut injected = added.clone();
            for (number, (counter, umask, amount)) in events.into_iter().enumerate() {
                let (select, now) = (controls[counter].0 as u8, at(7 * number as u64));
                let taken = injected.inject(select, umask, 1, amount, &now);
                match added.add(select, umask, amount) {
                    Some(counted) => prop_assert_eq!(counted, taken),
                    None => prop_assert_eq!(added.inject(select, umask, 1, amount, &now), taken),
                }
            }
            prop_assert_eq!(added.state(&at(999)), injected.state(&at(999)));
        }

        #[test]
        fn a_request_that_is_served_leaves_what_one_that_is_reported_with_the_time_leaves(
            controls in prop::array::uniform4(control()),
            filters in prop_oneof![3 => Just((0u64, 0x3Bu64)), 1 => any::<(u32, u32)>().prop_map(|(first, second)| (first.into(), second.into()))],
            requests in prop::collection::vec((0usize..4, any::<bool>(), any::<bool>(), 1u64..400), 1..8),
            frozen in prop_oneof![5 => Just(0u64), 1 => Just(1u64 << 8)],
        ) {
            let at = |uclk| Clocks { uclk, ..Clocks::default() };
            let mut served = Unit::new(Kind::Cha);
            for (number, control) in controls.into_iter().enumerate() {
                served.write(UnitRegister::CounterControl(number as u8), control, &at(0));
            }
            served.write(UnitRegister::Filter(0), filters.0, &at(0));
            served.write(UnitRegister::Filter(1), filters.1, &at(0));
            served.write(UnitRegister::Control, frozen, &at(0));
            let mut reported = served.clone();
            for (number, (source, hit, near_memory, clocks)) in requests.into_iter().enumerate() {
                let source = [Source::Irq, Source::Prq, Source::Ipq, Source::Eviction][source];
                let request = Transaction { source, hit, near_memory, ..Transaction::default() };
                let now = at(7 * number as u64);
                let taken = reported.transact(&request, Stage::Served { clocks }, &now);
                match served.serve(&request, clocks) {
                    Some(counted) => prop_assert_eq!(counted, taken),
                    None => prop_assert_eq!(served.transact(&request, Stage::Served { clocks }, &now), taken),
                }
            }
            prop_assert_eq!(served.state(&at(99)), reported.state(&at(99)));
        }
    }
}
