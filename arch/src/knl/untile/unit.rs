//! One box: its counters and their controls, freezing, overflow.

use super::boxes::{Domain, Kind, UnitRegister};
use super::clocks::Clocks;
use super::counter::{BoxCounter, Setting, WIDTH};
use super::held::Held;
use super::registers::{
    BoxControl, BoxStatus, ChaFilter0, ChaFilter1, CounterControl, FixedControl, PcuCounterControl, PcuFilter, UboxCounterControl,
    UboxFilter, UboxFixedControl,
};
use super::selects::{is_of_agent, selected};
use super::setting::{COUNTER0_OCCUPANCY, Choice, FIRST_OF_MESH, Input, Taking};
use crate::access::{chosen, chosen_mut, masked};
use crate::counter::Counter;

/// How many general counters a box has at most.
pub(super) const COUNTERS: usize = 4;

/// One box.
///
/// Every call takes the present clocks, which never run backwards. Everything before the call is counted first. A counter follows the
/// clock of its box, or UCLK where it chooses an event of the mesh stop (select 80h and above, chapter 6).
///
/// ```
/// use vm_pmu_arch::knl::untile::{Clocks, Kind, Unit, UnitRegister};
///
/// let mut channel = Unit::new(Kind::McDclk);
/// // DCLK ticks (00h) and CLOCKTICKS of the mesh stop (C0h), enabled.
/// channel.write(UnitRegister::CounterControl(0), 0x0040_0000, &Clocks::default());
/// channel.write(UnitRegister::CounterControl(1), 0x0040_00C0, &Clocks::default());
/// let now = Clocks { uclk: 17, eclk: 9, dclk: 12 };
/// assert_eq!(channel.read(UnitRegister::Counter(0), &now), 12);
/// assert_eq!(channel.read(UnitRegister::Counter(1), &now), 17);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub(super) kind: Kind,
    pub(super) control: BoxControl,
    pub(super) status: BoxStatus,
    pub(super) controls: [u64; COUNTERS],
    pub(super) counters: [BoxCounter; COUNTERS],
    pub(super) choices: [Choice; COUNTERS],
    /// What each choice takes of events.
    pub(super) takings: [Taking; COUNTERS],
    /// Events only add to counters.
    pub(super) is_plain: bool,
    /// The queue that each counter followed last: a select and a unit mask.
    pub(super) queues: [(u8, u8); COUNTERS],
    pub(super) fixed_control: u64,
    pub(super) fixed: BoxCounter,
    pub(super) filters: [u64; 2],
    /// What queues hold and which states hold, counted or not.
    pub(super) held: Held,
    /// Every box is frozen.
    pub(super) all_frozen: bool,
    /// Overflows that have not been reported to the UBox yet, one bit each as in the status.
    unreported: u8,
    /// The clocks up to which the box has counted.
    pub(super) seen: Clocks,
}

impl Unit {
    /// A box as power-on leaves it: every register zero, nothing frozen.
    #[must_use]
    pub fn new(kind: Kind) -> Unit {
        let mut unit = Unit {
            kind,
            control: BoxControl::default(),
            status: BoxStatus::default(),
            controls: [0; COUNTERS],
            counters: [BoxCounter::default(); COUNTERS],
            choices: core::array::from_fn(|number| Choice::of(kind, number, 0)),
            takings: [Taking::default(); COUNTERS],
            is_plain: true,
            queues: [(0, 0); COUNTERS],
            fixed_control: 0,
            fixed: BoxCounter { level: 1, most: 1, ..BoxCounter::default() },
            filters: [0; 2],
            held: Held::EMPTY,
            all_frozen: false,
            unreported: 0,
            seen: Clocks::default(),
        };
        for number in 0..COUNTERS {
            unit.choose(number, 0);
        }
        unit
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether a counter of the box counts, or would if nothing were frozen.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.fixed.setting.enabled || self.counters.iter().any(|counter| counter.setting.enabled)
    }

    /// Whether an event that is [injected](Unit::inject) into the box may matter to a counter. Changes of queues are always reported.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.choices.iter().zip(&self.counters).any(|(choice, counter)| {
            choice.input == Input::Queue && (choice.select, choice.umask) != (0, 0)
                || choice.input == Input::Events && counter.setting.enabled
        })
    }

    /// The selects of the general counters, in their order: of COUNTER0_OCCUPANCY that of the queue that it follows, and `None` for one
    /// that counts a clock. An event by any other select changes nothing when it is [injected](Unit::inject).
    ///
    /// ```
    /// use vm_pmu_arch::knl::untile::{Clocks, Kind, Unit, UnitRegister};
    ///
    /// let mut cha = Unit::new(Kind::Cha);
    /// // TOR_INSERTS, 35h, in counter 1; the others have event 0, which is the clock of the box.
    /// cha.write(UnitRegister::CounterControl(1), 0x0040_3135, &Clocks::default());
    /// assert_eq!(cha.selects().collect::<Vec<_>>(), [None, Some(0x35), None, None]);
    /// ```
    pub fn selects(&self) -> impl Iterator<Item = Option<u8>> {
        let own = |(choice, queue): (&Choice, &(u8, u8))| (choice.input != Input::Clock).then(|| selected(self.kind, choice, *queue));
        self.choices.iter().zip(&self.queues).map(own)
    }

    /// Whether an event of its mesh stop that is [injected](Unit::inject) may matter to a counter.
    #[must_use]
    pub fn listens_to_mesh(&self) -> bool {
        self.kind != Kind::Pcu
            && self.choices.iter().zip(&self.counters).any(|(choice, counter)| {
                counter.setting.enabled && choice.select >= FIRST_OF_MESH && matches!(choice.input, Input::Events | Input::Queue)
            })
    }

    /// Whether a counter of a CHA counts what a request does there beyond its own [entry](Unit::transact): rejects and retries, snoops of
    /// memory controllers, evictions.
    #[must_use]
    pub fn listens_to_agent(&self) -> bool {
        self.kind == Kind::Cha
            && self.choices.iter().zip(&self.counters).any(|(choice, counter)| {
                counter.setting.enabled && matches!(choice.input, Input::Events | Input::Queue) && is_of_agent(choice.select, choice.umask)
            })
    }

    #[inline]
    pub(super) fn is_frozen(&self) -> bool {
        self.all_frozen || self.control.frz()
    }

    /// The bit of general counter `number` in the status.
    pub(super) fn status_bit(&self, number: usize) -> u8 {
        1 << ((number + usize::from(self.kind.has_fixed())) & 7)
    }

    /// A counter that reports its overflows wrapped.
    pub(super) fn overflow(&mut self, bit: u8) {
        self.status = BoxStatus::written(self.status.bits() | u64::from(bit));
        self.unreported |= bit;
    }

    /// The clock that general counter `number` follows.
    fn domain(&self, number: usize) -> Domain {
        self.choices.get(number).map_or(self.kind.domain(), |choice| choice.domain)
    }

    /// Counts up to `now`.
    pub(super) fn advance(&mut self, now: &Clocks) {
        if self.seen == *now {
            return;
        }
        let passed = now.since(&self.seen);
        self.seen = self.seen.plus(&passed);
        if !self.fixed.setting.enabled && self.counters.iter().all(BoxCounter::is_still) {
            return;
        }
        let runs = !self.is_frozen();
        let mut overflowed = 0;
        for number in 0..self.kind.counters() {
            let (bit, clocks) = (self.status_bit(number), passed.of(self.domain(number)));
            if let Some(counter) = self.counters.get_mut(number) {
                let counts = runs && counter.setting.enabled;
                if clocks != 0 && counter.advance(clocks, counts) && counter.setting.ov_en {
                    overflowed |= bit;
                }
            }
        }
        let (counts, clocks) = (runs && self.fixed.setting.enabled, passed.of(self.kind.domain()));
        if clocks != 0 && self.fixed.advance(clocks, counts) && self.fixed.setting.ov_en {
            overflowed |= 1;
        }
        if overflowed != 0 {
            self.overflow(overflowed);
        }
    }

    /// The count of clock `domain` at which a counter that follows it and reports its overflows wraps, if nothing else happens; `None` if
    /// none does. Until an overflow has been [taken](Unit::take_overflows) it is the present count, for every clock.
    #[must_use]
    pub fn deadline(&self, domain: Domain) -> Option<u64> {
        let seen = self.seen.of(domain);
        if self.unreported != 0 {
            return Some(seen);
        }
        if self.is_frozen() {
            return None;
        }
        let of_clock = (0..self.kind.counters()).filter(|number| self.domain(*number) == domain);
        let general = of_clock.filter_map(|number| self.counters.get(number));
        let fixed = (self.kind.has_fixed() && self.kind.domain() == domain).then_some(&self.fixed);
        let waiting = general.chain(fixed).filter(|counter| counter.setting.enabled && counter.setting.ov_en);
        waiting.filter_map(BoxCounter::clocks_to_wrap).min().map(|clocks| seen.saturating_add(clocks))
    }

    /// Whether a counter that counts reports its overflows, or an overflow waits to be [taken](Unit::take_overflows). Otherwise the box has
    /// no [deadline](Unit::deadline), whatever happens in it.
    #[must_use]
    pub fn reports_overflows(&self) -> bool {
        let reports = |counter: &BoxCounter| counter.setting.enabled && counter.setting.ov_en;
        self.unreported != 0 || reports(&self.fixed) || self.counters.iter().any(reports)
    }

    /// Whether there are overflows that have not been reported to the UBox.
    #[must_use]
    pub fn has_overflows(&self) -> bool {
        self.unreported != 0
    }

    /// The overflows that have not been reported to the UBox: bit 0 is the fixed counter's where the box has one. They are returned once.
    pub fn take_overflows(&mut self) -> u8 {
        core::mem::take(&mut self.unreported)
    }

    /// Counts up to `now`, with what becomes due.
    pub fn service(&mut self, now: &Clocks) {
        self.advance(now);
    }

    /// Freezes or releases the box together with all others.
    pub fn set_all_frozen(&mut self, frozen: bool, now: &Clocks) {
        self.advance(now);
        self.all_frozen = frozen;
    }

    /// Whether an embedder can ask for `register`: a box of this kind has it.
    #[must_use]
    pub fn has(&self, register: UnitRegister) -> bool {
        match register {
            UnitRegister::Control => self.kind != Kind::Ubox,
            UnitRegister::Status => true,
            UnitRegister::CounterControl(number) | UnitRegister::Counter(number) => usize::from(number) < self.kind.counters(),
            UnitRegister::FixedControl | UnitRegister::Fixed => self.kind.has_fixed(),
            UnitRegister::Filter(number) => match self.kind {
                Kind::Cha => number < 2,
                Kind::Pcu | Kind::Ubox => number == 0,
                _ => false,
            },
        }
    }

    /// Reads a register; one that the box does not have reads as zero.
    #[must_use]
    pub fn read(&mut self, register: UnitRegister, now: &Clocks) -> u64 {
        self.advance(now);
        if !self.has(register) {
            return 0;
        }
        match register {
            UnitRegister::Control => self.control.bits(),
            UnitRegister::Status => self.status.bits(),
            UnitRegister::CounterControl(number) => chosen(&self.controls, usize::from(number)).copied().unwrap_or(0),
            UnitRegister::Counter(number) => chosen(&self.counters, usize::from(number)).map_or(0, |counter| counter.count.value()),
            UnitRegister::FixedControl => self.fixed_control,
            UnitRegister::Fixed => self.fixed.count.value(),
            UnitRegister::Filter(number) => chosen(&self.filters, usize::from(number)).copied().unwrap_or(0),
        }
    }

    /// Writes a register. Reserved bits are ignored; so is a register that the box does not have.
    pub fn write(&mut self, register: UnitRegister, value: u64, now: &Clocks) {
        self.advance(now);
        if !self.has(register) {
            return;
        }
        match register {
            UnitRegister::Control => self.write_control(value),
            UnitRegister::Status => self.status = BoxStatus::written(self.status.bits() & !value),
            UnitRegister::CounterControl(number) => self.write_counter_control(masked(usize::from(number), COUNTERS), value),
            UnitRegister::Counter(number) => self.set_count(masked(usize::from(number), COUNTERS), value),
            UnitRegister::FixedControl => self.write_fixed_control(value),
            UnitRegister::Fixed => self.fixed.count = Counter::new(value, WIDTH),
            UnitRegister::Filter(number) => self.write_filter(number, value),
        }
    }

    fn write_control(&mut self, value: u64) {
        if value & RESET_CONTROLS != 0 {
            for number in 0..COUNTERS {
                self.choose(number, 0);
            }
            self.set_fixed_control(0);
        }
        if value & RESET_COUNTERS != 0 {
            for counter in self.counters.iter_mut().chain([&mut self.fixed]) {
                counter.count = Counter::default();
            }
        }
        self.control = BoxControl::written(value);
    }

    fn write_counter_control(&mut self, number: usize, value: u64) {
        let empties = value & EMPTY_QUEUE != 0 && matches!(self.kind, Kind::Cha | Kind::Irp);
        let written = match self.kind {
            Kind::Pcu => PcuCounterControl::written(value).bits(),
            Kind::Ubox => UboxCounterControl::written(value).bits(),
            _ => CounterControl::written(value).bits(),
        };
        self.choose(number, written);
        if let Some(counter) = self.counters.get_mut(number) {
            if value & RESET_COUNTER != 0 {
                counter.count = Counter::default();
            }
            if empties && self.choices.get(number).is_some_and(|choice| choice.input == Input::Queue) {
                counter.set_level(0);
            }
        }
    }

    /// Counter `number` follows its control from now on. The queue that it follows keeps its entries.
    fn choose(&mut self, number: usize, bits: u64) {
        let choice = Choice::of(self.kind, number, bits);
        let follows = (choice.select, choice.umask);
        let level = self.level_of(&choice, follows);
        let kept = self.queues.get(number).map_or(0, |queue| self.level_of(&choice, *queue));
        let (Some(control), Some(own), Some(queue), Some(counter)) =
            (self.controls.get_mut(number), self.choices.get_mut(number), self.queues.get_mut(number), self.counters.get_mut(number))
        else {
            return;
        };
        *control = bits;
        let before = core::mem::replace(own, choice);
        if choice == before {
            return;
        }
        (counter.setting, counter.most) = (choice.setting, choice.most);
        self.is_plain = self.choices.iter().all(|choice| choice.is_plain);
        self.takings = self.choices.each_ref().map(Taking::of);
        let keeps = choice.select == COUNTER0_OCCUPANCY && self.kind == Kind::Cha;
        let is_same_thread = before.by_thread == choice.by_thread;
        match choice.input {
            Input::Clock => counter.set_level(1),
            Input::Nothing => counter.set_level(0),
            Input::Events if before.input == Input::Events && (before.select, before.umask) == follows && is_same_thread => {}
            Input::Events => counter.set_level(level),
            Input::Queue if before.input == Input::Queue && (keeps || *queue == follows) && is_same_thread => {}
            Input::Queue if keeps && before.input == Input::Queue => counter.set_level(kept),
            Input::Queue => {
                counter.set_level(level);
                *queue = follows;
            }
        }
        let inputs =
            |choice: &Choice| (choice.input, choice.select, choice.umask, Setting { enabled: true, ov_en: true, ..choice.setting });
        if inputs(&choice) != inputs(&before) || choice.setting.enabled != before.setting.enabled || !is_same_thread {
            counter.settle();
        }
    }

    fn write_fixed_control(&mut self, value: u64) {
        self.set_fixed_control(value);
        if value & RESET_FIXED != 0 && self.kind != Kind::Ubox {
            self.fixed.count = Counter::default();
        }
    }

    fn set_fixed_control(&mut self, value: u64) {
        let (bits, enabled, ov_en) = if self.kind == Kind::Ubox {
            let control = UboxFixedControl::written(value);
            (control.bits(), control.en(), control.ov_en())
        } else {
            let control = FixedControl::written(value);
            (control.bits(), control.en(), control.ov_en())
        };
        self.fixed_control = bits;
        self.fixed.setting = Setting { enabled, ov_en, ..Setting::default() };
    }

    fn set_count(&mut self, number: usize, value: u64) {
        if let Some(counter) = self.counters.get_mut(number) {
            counter.count = Counter::new(value, WIDTH);
        }
    }

    /// Writes a filter. Counters of the table's entries count those that pass the new filter from now on.
    fn write_filter(&mut self, number: u8, value: u64) {
        let written = match (self.kind, number) {
            (Kind::Cha, 0) => ChaFilter0::written(value).bits(),
            (Kind::Cha, _) => ChaFilter1::written(value).bits(),
            (Kind::Pcu, _) => PcuFilter::written(value).bits(),
            _ => UboxFilter::written(value).bits(),
        };
        let before: [u64; COUNTERS] = core::array::from_fn(|counter| self.entries_followed(counter));
        if let Some(filter) = chosen_mut(&mut self.filters, usize::from(number)) {
            *filter = written;
        }
        for (counter, before) in before.into_iter().enumerate() {
            let after = self.entries_followed(counter);
            if let Some(counter) = self.counters.get_mut(counter).filter(|_| after != before) {
                counter.set_level(counter.level.saturating_sub(before).saturating_add(after));
                counter.settle();
            }
        }
    }
}

/// Box control, bit 0: rst_ctrl.
pub(super) const RESET_CONTROLS: u64 = 1 << 0;
/// Box control, bit 1: rst_ctrs.
pub(super) const RESET_COUNTERS: u64 = 1 << 1;
/// Counter control, bit 16: q_occ_rst.
pub(super) const EMPTY_QUEUE: u64 = 1 << 16;
/// Counter control, bit 17: rst.
pub(super) const RESET_COUNTER: u64 = 1 << 17;
/// Fixed control, bit 19: rst.
pub(super) const RESET_FIXED: u64 = 1 << 19;
