//! One box: its counters and their controls, freezing, overflow.

use super::boxes::{Kind, UnitRegister};
use super::counter::{BoxCounter, Setting, WIDTH};
use super::registers::{
    BoxControl, BoxStatus, ChaFilter0, ChaFilter1, CounterControl, FixedControl, PcuCounterControl, PcuFilter, UboxCounterControl,
    UboxFilter, UboxFixedControl,
};
use super::setting::{COUNTER0_OCCUPANCY, Choice, Input};
use super::transaction::Transaction;
use crate::counter::Counter;

/// How many general counters a box has at most.
const COUNTERS: usize = 4;

/// CHA: entries of a queue (11h), and how many came into it (13h).
const INGRESS_OCCUPANCY: u8 = 0x11;
const INGRESS_INSERTS: u8 = 0x13;
/// CHA: looks into the snoop filter.
const FILTER_LOOKUP: u8 = 0x34;
/// CHA: what came into the table of requests (35h), and what is in it (36h).
const TABLE_INSERTS: u8 = 0x35;
const TABLE_OCCUPANCY: u8 = 0x36;
/// The bits of their unit masks that choose what a cache answered and what memory did.
const TABLE_HIT: u8 = 0x10;
const TABLE_MISS: u8 = 0x20;

/// The bit of SF_LOOKUP's unit mask that stands for any kind.
const LOOKUP_ANY: u8 = 0x10;

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// It comes into the table of requests.
    Enters,
    /// It leaves the table.
    Leaves,
    /// It comes, and will have left after so many clocks: for an embedder that does not follow it.
    Served {
        /// The clocks.
        clocks: u64,
    },
}

/// One box.
///
/// Every call says what the box's clock has come to, in clocks that never run back; what happened before the call is counted first.
///
/// ```
/// use vm_pmu_arch::knl::untile::{Kind, Unit, UnitRegister};
///
/// let mut channel = Unit::new(Kind::McDclk);
/// // CAS (03h), reads and writes, enabled.
/// channel.write(UnitRegister::CounterControl(0), 0x0040_0303, 0);
/// assert!(channel.happen(0x03, 0x01, 1, 7, 100));
/// assert_eq!(channel.read(UnitRegister::Counter(0), 100), 7);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    kind: Kind,
    control: BoxControl,
    status: BoxStatus,
    controls: [u64; COUNTERS],
    counters: [BoxCounter; COUNTERS],
    choices: [Choice; COUNTERS],
    /// The queue that each counter followed last: a select and a unit mask.
    queues: [(u8, u8); COUNTERS],
    fixed_control: u64,
    fixed: BoxCounter,
    filters: [u64; 2],
    /// Every box is frozen.
    all_frozen: bool,
    /// An overflow that the UBox has not been told of yet, one bit each as in the status.
    untold: u8,
    /// What the clock had come to when the box was last looked at.
    seen: u64,
}

/// What a box remembers, in the terms of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UnitState {
    /// The box's control.
    pub control: u64,
    /// The box's status.
    pub status: u64,
    /// The controls of the counters.
    pub controls: [u64; COUNTERS],
    /// The counters.
    pub counters: [u64; COUNTERS],
    /// The control of the fixed counter.
    pub fixed_control: u64,
    /// The fixed counter.
    pub fixed: u64,
    /// The filters.
    pub filters: [u64; 2],
    /// How many entries the queue has that each counter follows.
    pub levels: [u64; COUNTERS],
    /// The queue that each counter followed last: a select and a unit mask.
    pub queues: [(u8, u8); COUNTERS],
    /// For how many clocks to come each counter has something beside the level.
    pub busy: [u64; COUNTERS],
    /// What each counter's edge detector saw last.
    pub was: [bool; COUNTERS],
    /// Every box is frozen.
    pub all_frozen: bool,
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
            choices: [Choice::default(); COUNTERS],
            queues: [(0, 0); COUNTERS],
            fixed_control: 0,
            fixed: BoxCounter { level: 1, most: 1, ..BoxCounter::default() },
            filters: [0; 2],
            all_frozen: false,
            untold: 0,
            seen: 0,
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

    /// Whether something that happens in the box may matter to a counter: what clocks alone do not tell.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.choices.iter().zip(&self.counters).any(|(choice, counter)| {
            choice.input == Input::Queue && (choice.select, choice.umask) != (0, 0)
                || choice.input == Input::Events && counter.setting.enabled
        })
    }

    fn is_frozen(&self) -> bool {
        self.all_frozen || self.control.frz()
    }

    /// The bit of general counter `number` in the status.
    fn status_bit(&self, number: usize) -> u8 {
        1 << ((number + usize::from(self.kind.has_fixed())) & 7)
    }

    /// A counter wrapped that was to tell.
    fn overflow(&mut self, bit: u8) {
        self.status = BoxStatus::written(self.status.bits() | u64::from(bit));
        self.untold |= bit;
    }

    /// Counts up to `now`.
    fn advance(&mut self, now: u64) {
        let clocks = now.saturating_sub(self.seen);
        self.seen = self.seen.max(now);
        if clocks == 0 {
            return;
        }
        let runs = !self.is_frozen();
        let mut told = 0;
        for number in 0..self.kind.counters() {
            let bit = self.status_bit(number);
            if let Some(counter) = self.counters.get_mut(number) {
                let counts = runs && counter.setting.enabled;
                if counter.pass(clocks, counts) && counter.setting.ov_en {
                    told |= bit;
                }
            }
        }
        let counts = runs && self.fixed.setting.enabled;
        if self.fixed.pass(clocks, counts) && self.fixed.setting.ov_en {
            told |= 1;
        }
        if told != 0 {
            self.overflow(told);
        }
    }

    /// What the clock will have come to when a counter wraps that is to tell, if nothing else happens; nothing if none does. Until an overflow
    /// has been [taken](Unit::take_overflows) it is now.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        if self.untold != 0 {
            return Some(self.seen);
        }
        if self.is_frozen() {
            return None;
        }
        let general = self.counters.iter().take(self.kind.counters());
        let fixed = self.kind.has_fixed().then_some(&self.fixed);
        let waiting = general.chain(fixed).filter(|counter| counter.setting.enabled && counter.setting.ov_en);
        waiting.filter_map(BoxCounter::clocks_to_wrap).min().map(|clocks| self.seen.saturating_add(clocks))
    }

    /// Whether there are overflows that the UBox has not been told of.
    #[must_use]
    pub fn has_overflows(&self) -> bool {
        self.untold != 0
    }

    /// The overflows that the UBox has not been told of: bit 0 is the fixed counter's where the box has one. They are told once.
    pub fn take_overflows(&mut self) -> u8 {
        core::mem::take(&mut self.untold)
    }

    /// Counts up to `now`, with what becomes due.
    pub fn service(&mut self, now: u64) {
        self.advance(now);
    }

    /// Freezes or releases the box with all the others.
    pub fn set_all_frozen(&mut self, frozen: bool, now: u64) {
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
    pub fn read(&mut self, register: UnitRegister, now: u64) -> u64 {
        self.advance(now);
        if !self.has(register) {
            return 0;
        }
        match register {
            UnitRegister::Control => self.control.bits(),
            UnitRegister::Status => self.status.bits(),
            UnitRegister::CounterControl(number) => self.controls.get(usize::from(number)).copied().unwrap_or(0),
            UnitRegister::Counter(number) => self.counters.get(usize::from(number)).map_or(0, |counter| counter.count.value()),
            UnitRegister::FixedControl => self.fixed_control,
            UnitRegister::Fixed => self.fixed.count.value(),
            UnitRegister::Filter(number) => self.filters.get(usize::from(number)).copied().unwrap_or(0),
        }
    }

    /// Writes a register. Reserved bits are ignored; so is a register that the box does not have.
    pub fn write(&mut self, register: UnitRegister, value: u64, now: u64) {
        self.advance(now);
        if !self.has(register) {
            return;
        }
        match register {
            UnitRegister::Control => self.write_control(value),
            UnitRegister::Status => self.status = BoxStatus::written(self.status.bits() & !value),
            UnitRegister::CounterControl(number) => self.write_counter_control(usize::from(number), value),
            UnitRegister::Counter(number) => self.set_count(usize::from(number), value),
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

    /// Counter `number` does from now on what its control says.
    fn choose(&mut self, number: usize, bits: u64) {
        let choice = Choice::of(self.kind, number, bits);
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
        let follows = (choice.select, choice.umask);
        let keeps = choice.select == COUNTER0_OCCUPANCY && self.kind == Kind::Cha;
        match choice.input {
            Input::Clock => counter.set_level(1),
            Input::Nothing | Input::Events => counter.set_level(0),
            Input::Queue if keeps && before.input == Input::Queue => {}
            Input::Queue if before.input == Input::Queue && *queue == follows && before.by_thread == choice.by_thread => {}
            Input::Queue => {
                counter.set_level(0);
                *queue = follows;
            }
        }
        let inputs =
            |choice: &Choice| (choice.input, choice.select, choice.umask, Setting { enabled: true, ov_en: true, ..choice.setting });
        if inputs(&choice) != inputs(&before) || choice.setting.enabled != before.setting.enabled {
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

    fn write_filter(&mut self, number: u8, value: u64) {
        let written = match (self.kind, number) {
            (Kind::Cha, 0) => ChaFilter0::written(value).bits(),
            (Kind::Cha, _) => ChaFilter1::written(value).bits(),
            (Kind::Pcu, _) => PcuFilter::written(value).bits(),
            _ => UboxFilter::written(value).bits(),
        };
        if let Some(filter) = self.filters.get_mut(usize::from(number)) {
            *filter = written;
        }
    }

    /// Does `each` to every counter that `chooses` it, `now`; returns whether one did.
    fn each(&mut self, now: u64, chooses: impl Fn(&Choice, (u8, u8)) -> bool, each: impl Fn(&mut BoxCounter, bool) -> bool) -> bool {
        self.advance(now);
        let runs = !self.is_frozen();
        let (mut taken, mut told) = (false, 0);
        for number in 0..self.kind.counters() {
            let bit = self.status_bit(number);
            let (Some(choice), Some(queue), Some(counter)) =
                (self.choices.get(number), self.queues.get(number), self.counters.get_mut(number))
            else {
                continue;
            };
            if choice.input == Input::Nothing || !chooses(choice, *queue) {
                continue;
            }
            let counts = runs && choice.setting.enabled;
            taken |= counts;
            if each(counter, counts) && choice.setting.ov_en {
                told |= bit;
            }
        }
        if told != 0 {
            self.overflow(told);
        }
        taken
    }

    /// Something of event `select` and sub-event `umask` happens: `each` in every one of the next `clocks` clocks. Nobody's thread did it: a
    /// counter that asks for one's (tid_en) counts [requests](Unit::transact) only. A look into the snoop filter finds the line in one of
    /// the states that filter 0 names. Returns whether a counter counts it.
    pub fn happen(&mut self, select: u8, umask: u8, each: u64, clocks: u64, now: u64) -> bool {
        let kind = self.kind;
        let states = ChaFilter0::written(self.filters[0]);
        let in_a_state = states.sf_s() || states.sf_e() || states.sf_m();
        let admits = |choice: &Choice| match (kind, select) {
            (Kind::Cha, FILTER_LOOKUP) => choice.select == select && in_a_state && looks_for(choice.umask, umask),
            _ => choice.admits(kind, select, umask),
        };
        self.each(
            now,
            |choice, _| choice.input != Input::Clock && !choice.by_thread && admits(choice),
            |counter, counts| counter.happen(each, clocks, counts),
        )
    }

    /// The queue of event `select` and sub-event `umask` has `change` entries more than before; it never has fewer than none. Returns
    /// whether a counter follows it.
    pub fn change_queue(&mut self, select: u8, umask: u8, change: i64, now: u64) -> bool {
        let kind = self.kind;
        self.each(
            now,
            |choice, queue| choice.input == Input::Queue && !choice.by_thread && follows(kind, choice, queue, select, umask),
            |counter, _| {
                counter.set_level(counter.level.saturating_add_signed(change));
                false
            },
        )
    }

    /// A request at a CHA; any other box has none. Returns whether a counter counts it.
    pub fn transact(&mut self, transaction: &Transaction, stage: Stage, now: u64) -> bool {
        if self.kind != Kind::Cha {
            return false;
        }
        let [filter0, filter1] = self.filters;
        let (filter0, filter1) = (ChaFilter0::written(filter0), ChaFilter1::written(filter1));
        let of_thread = transaction.is_of(filter0);
        let is_chosen = |umask: u8| {
            let answer = if transaction.hit { TABLE_HIT } else { TABLE_MISS };
            umask & transaction.source.table_bits() != 0 && umask & answer != 0 && transaction.passes(filter1)
        };
        let arrives = |choice: &Choice| match choice.select {
            INGRESS_OCCUPANCY => choice.umask == transaction.source.ingress_bit() && choice.umask != 0,
            INGRESS_INSERTS => choice.umask & transaction.source.ingress_bit() != 0,
            FILTER_LOOKUP => looks_for(choice.umask, 1 | transaction.lookup.bits()) && transaction.is_in_state(filter0),
            TABLE_INSERTS => is_chosen(choice.umask),
            _ => false,
        };
        let is_in_table = |queue: (u8, u8)| queue.0 == TABLE_OCCUPANCY && is_chosen(queue.1);
        let passes = |choice: &Choice| !choice.by_thread || of_thread;
        let mut taken = false;
        if stage != Stage::Leaves {
            taken |= self.each(now, |choice, _| passes(choice) && arrives(choice), |counter, counts| counter.happen(1, 1, counts));
        }
        let in_table = |choice: &Choice, queue: (u8, u8)| choice.input == Input::Queue && passes(choice) && is_in_table(queue);
        taken
            | match stage {
                Stage::Served { clocks } => self.each(now, in_table, |counter, counts| counter.happen(1, clocks, counts)),
                Stage::Enters | Stage::Leaves => {
                    let change = if stage == Stage::Enters { 1 } else { -1 };
                    self.each(now, in_table, |counter, _| {
                        counter.set_level(counter.level.saturating_add_signed(change));
                        false
                    })
                }
            }
    }

    /// What the box remembers, with everything counted up to `now`.
    pub fn state(&mut self, now: u64) -> UnitState {
        self.advance(now);
        UnitState {
            control: self.control.bits(),
            status: self.status.bits(),
            controls: self.controls,
            counters: self.counters.map(|counter| counter.count.value()),
            fixed_control: self.fixed_control,
            fixed: self.fixed.count.value(),
            filters: self.filters,
            levels: self.counters.map(|counter| counter.level),
            queues: self.queues,
            busy: self.counters.map(|counter| counter.busy),
            was: self.counters.map(|counter| counter.was),
            all_frozen: self.all_frozen,
        }
    }

    /// The box of `kind` that remembers `state` and counts from `now` on. Bits that no register keeps are dropped.
    #[must_use]
    pub fn from_state(kind: Kind, state: &UnitState, now: u64) -> Unit {
        let mut unit = Unit::new(kind);
        unit.seen = now;
        for (number, control) in (0u8..).zip(state.controls) {
            unit.write(UnitRegister::CounterControl(number), control & !(EMPTY_QUEUE | RESET_COUNTER), now);
            unit.write(UnitRegister::Counter(number), state.counters.get(usize::from(number)).copied().unwrap_or(0), now);
        }
        unit.write(UnitRegister::Control, state.control & !(RESET_CONTROLS | RESET_COUNTERS), now);
        unit.write(UnitRegister::FixedControl, state.fixed_control & !RESET_FIXED, now);
        unit.write(UnitRegister::Fixed, state.fixed, now);
        for (number, filter) in (0u8..).zip(state.filters) {
            unit.write(UnitRegister::Filter(number), filter, now);
        }
        unit.status = BoxStatus::written(state.status);
        unit.all_frozen = state.all_frozen;
        unit.queues = state.queues;
        for (number, counter) in unit.counters.iter_mut().enumerate() {
            if unit.choices.get(number).is_some_and(|choice| choice.input == Input::Queue) {
                counter.level = state.levels.get(number).copied().unwrap_or(0);
            }
            counter.busy = state.busy.get(number).copied().unwrap_or(0);
            counter.was = state.was.get(number).copied().unwrap_or(false);
        }
        unit
    }
}

/// Whether a look of the kind `happened` is what SF_LOOKUP with unit mask `chosen` counts: bit 0 must be set, and a kind or any (table 5-16).
fn looks_for(chosen: u8, happened: u8) -> bool {
    chosen & 1 != 0 && chosen & (happened | LOOKUP_ANY) & !1 != 0
}

/// Whether the queue of `select` and `umask` is the one that a counter follows.
fn follows(kind: Kind, choice: &Choice, queue: (u8, u8), select: u8, umask: u8) -> bool {
    let followed = if choice.select == COUNTER0_OCCUPANCY && kind == Kind::Cha && queue != (0, 0) {
        Choice { select: queue.0, umask: queue.1, ..*choice }
    } else {
        *choice
    };
    followed.admits(kind, select, umask)
}

/// Box control, bit 0: rst_ctrl.
const RESET_CONTROLS: u64 = 1 << 0;
/// Box control, bit 1: rst_ctrs.
const RESET_COUNTERS: u64 = 1 << 1;
/// Counter control, bit 16: q_occ_rst.
const EMPTY_QUEUE: u64 = 1 << 16;
/// Counter control, bit 17: rst.
const RESET_COUNTER: u64 = 1 << 17;
/// Fixed control, bit 19: rst.
const RESET_FIXED: u64 = 1 << 19;
