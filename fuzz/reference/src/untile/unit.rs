//! One box: its registers, what comes in it, and what its counters follow.

use std::collections::BTreeMap;

use vm_pmu_arch::knl::untile::{Domain, Kind, Stage, Transaction};

use super::counter::{self, Counter, Course};
use super::places::{self, Register};
use super::requests::{self, Filters};
use super::selection::{self, Choice, OF_COUNTER_0, Select, What};

/// Requests that a CHA's table keeps: no clock counts more than 28 (TOR_OCCUPANCY, Max Inc), and others wait.
const PLACES: usize = 32;

/// frz: the counters of the box stand still, whatever bit 16 is (N28).
const FREEZE: u32 = 1 << 8;
/// The bits of a box's control that read back (N27).
const CONTROL: u32 = FREEZE | 1 << 16 | 1 << 17;
/// What filter 0 and 1 of a CHA keep (table 1-2; bit 4 is likwid's).
const CHA_FILTERS: Filters = [0x001C_11FF, 0xDFFF_FE3B];
/// ov_en of a fixed counter.
const FIXED_FORWARDS: u32 = 1 << 20;
/// The action that clears the fixed counter of a controller.
const FIXED_RESET: u32 = 1 << 19;

/// A box.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) kind: Kind,
    pub(super) number: u8,
    counters: Vec<Counter>,
    fixed: u64,
    fixed_control: u32,
    control: u32,
    status: u32,
    filters: Filters,
    /// The entries of queues, by event select and unit mask.
    queues: BTreeMap<(u8, u8), u64>,
    /// The requests in the table.
    table: Vec<Transaction>,
    /// The bits of the status that an overflow with ov_en sets now.
    overflows: u32,
}

impl Unit {
    pub(super) fn new(kind: Kind, number: u8) -> Unit {
        Unit {
            kind,
            number,
            counters: vec![Counter::default(); places::counters(kind)],
            fixed: 0,
            fixed_control: 0,
            control: 0,
            status: 0,
            filters: [0; 2],
            queues: BTreeMap::new(),
            table: Vec::new(),
            overflows: 0,
        }
    }

    /// The bit of a general counter's overflow in the status: a fixed counter goes before.
    fn bit(&self, counter: usize) -> u32 {
        1 << (counter + usize::from(places::has_fixed(self.kind)))
    }

    /// Reports what was carried out: sets the status, and returns the bits of the global status (section 1.3 of the notes).
    pub(super) fn take_overflows(&mut self) -> u64 {
        let overflows = core::mem::take(&mut self.overflows);
        self.status |= overflows;
        let number = u32::from(self.number);
        let bit = match self.kind {
            // The fixed counter's, and that of the general ones.
            Kind::Ubox => return u64::from(overflows & 1) | u64::from(overflows >> 1 != 0) << 1,
            Kind::Pcu => 2,
            Kind::Cha => 3 + number,
            Kind::McUclk => 41 + number,
            Kind::McDclk => 41 + number / 3,
            Kind::EdcUclk | Kind::EdcEclk => 43 + number,
            Kind::M2pcie => 51,
            Kind::Irp => 52,
        };
        u64::from(overflows != 0) << bit
    }

    pub(super) fn read(&self, register: Register) -> u64 {
        match register {
            Register::Control => self.control.into(),
            Register::Status => self.status.into(),
            Register::Filter(number) => self.filters[number].into(),
            Register::Select(number) => self.counters[number].select.0.into(),
            Register::Counter(number) => self.counters[number].value,
            Register::FixedControl => self.fixed_control.into(),
            Register::Fixed => self.fixed,
        }
    }

    pub(super) fn write(&mut self, register: Register, value: u64) {
        let low = value as u32;
        match register {
            Register::Control => self.write_control(low),
            Register::Status => self.status &= !low,
            Register::Filter(number) => {
                let kept = match self.kind {
                    Kind::Cha => CHA_FILTERS[number],
                    Kind::Ubox => 0x1FF,
                    _ => u32::MAX,
                };
                let before: Vec<usize> = (0..self.counters.len()).map(|counter| self.entries(counter)).collect();
                self.filters[number] = low & kept;
                // Counters of filtered entries find those that the filter now lets through, and no rise in them (T21).
                for (counter, before) in before.into_iter().enumerate() {
                    if self.entries(counter) != before {
                        self.start(counter, None);
                    }
                }
            }
            Register::Select(number) => self.write_select(number, low),
            Register::Counter(number) => self.counters[number].value = value & counter::COUNT,
            Register::FixedControl => {
                let (kept, clears) = match self.kind {
                    Kind::Ubox => (1 << 22 | FIXED_FORWARDS, false),
                    _ => (1 | 1 << 22 | FIXED_FORWARDS, low & FIXED_RESET != 0),
                };
                self.fixed_control = low & kept;
                if clears {
                    self.fixed = 0;
                }
            }
            Register::Fixed => self.fixed = value & counter::COUNT,
        }
    }

    fn write_control(&mut self, value: u32) {
        if value & 1 != 0 {
            (0..self.counters.len()).for_each(|number| self.write_select(number, 0));
            self.fixed_control = 0;
        }
        if value & 2 != 0 {
            self.counters.iter_mut().for_each(|counter| counter.value = 0);
            self.fixed = 0;
        }
        self.control = value & CONTROL;
    }

    fn write_select(&mut self, number: usize, value: u32) {
        let select = Select(value & selection::kept(self.kind));
        let before = (self.choice(number), self.looks_at(number), self.counters[number].select, self.filters_thread(number));
        self.counters[number].select = select;
        // COUNTER0_OCCUPANCY goes on with the queue that counter 0 followed until then (T13).
        let goes_on = self.kind == Kind::Cha && number == 0 && select.event() == OF_COUNTER_0 && before.0.is_level;
        self.counters[number].followed = match before.2.event() {
            OF_COUNTER_0 => self.counters[number].followed,
            event => Some((event, before.2.unit_mask())),
        }
        .filter(|_| goes_on);
        if value & 1 << 17 != 0 {
            self.counters[number].value = 0;
        }
        if self.looks_at(number) != before.1 {
            let keeps = self.choice(number).what == before.0.what && self.filters_thread(number) == before.3;
            let own = self.counters[number].own.filter(|_| keeps);
            self.start(number, own);
        }
        // Bit 16 empties the counter's own queue. A state has none.
        if value & 1 << 16 != 0 && matches!(self.kind, Kind::Cha | Kind::Irp) && self.choice(number).is_level {
            self.counters[number].own = Some(0);
        }
    }

    /// What a counter looks at, and how: when this changes, it begins anew.
    fn looks_at(&self, number: usize) -> (What, [bool; 4], u64) {
        let select = self.counters[number].select;
        let flags = [select.enabled(), select.edge(self.kind), select.inversion(self.kind), self.filters_thread(number)];
        (self.choice(number).what, flags, select.threshold(self.kind))
    }

    /// A counter begins: it finds the entries that are there, and nothing that was told before.
    fn start(&mut self, number: usize, own: Option<u64>) {
        let counter = &mut self.counters[number];
        (counter.coming, counter.own) = (0, own);
        self.counters[number].was = self.at_rest(number);
    }

    /// Whether the clocks that come are ones that count if nothing happens.
    fn at_rest(&self, number: usize) -> bool {
        let choice = self.choice(number);
        self.counters[number].select.compares(self.kind, self.increment(number, &choice))
    }

    /// What a counter selects. COUNTER0_OCCUPANCY is what counter 0 followed before.
    fn choice(&self, number: usize) -> Choice {
        let counter = &self.counters[number];
        let choice = selection::choice(self.kind, number, counter.select);
        match (self.kind, counter.select.event(), number, counter.followed) {
            (Kind::Cha, OF_COUNTER_0, 0, Some((select, umask))) => {
                let followed = selection::choice(self.kind, number, Select(u32::from(select) | u32::from(umask) << 8));
                Choice { what: followed.what, domain: followed.domain, ..choice }
            }
            _ => choice,
        }
    }

    /// What comes in every clock by itself.
    fn level(&self, number: usize, choice: &Choice) -> u64 {
        match choice.what {
            What::Nothing => 0,
            What::Clock => 1,
            What::Code { .. } => self.counters[number].own.unwrap_or_else(|| {
                let follows = choice.stays && !self.filters_thread(number);
                let of_queue = |(select, umask): &(u8, u8)| follows && choice.what.admits(*select, *umask);
                let queues = self.queues.iter().filter(|(queue, _)| of_queue(queue));
                queues.map(|(_, level)| *level).fold(self.entries(number) as u64, u64::saturating_add)
            }),
        }
    }

    /// The entries of the table that a counter counts.
    fn entries(&self, number: usize) -> usize {
        let What::Code { select: requests::TABLE, umask, .. } = self.choice(number).what else { return 0 };
        let is_counted = |request: &&Transaction| {
            requests::stays(request, umask, self.filters) && (!self.filters_thread(number) || requests::is_of_thread(request, self.filters))
        };
        self.table.iter().filter(is_counted).count()
    }

    /// The counters that are enabled, whether or not they stand still.
    fn enabled(&self) -> Vec<usize> {
        (0..self.counters.len()).filter(|number| self.counters[*number].select.enabled()).collect()
    }

    /// Whether nothing holds the counters of the box.
    fn runs(&self, frozen: bool) -> bool {
        !frozen && self.control & FREEZE == 0
    }

    /// What comes in every clock by itself, as far as it can be added.
    fn increment(&self, number: usize, choice: &Choice) -> u64 {
        self.level(number, choice).min(choice.most)
    }

    /// Whether the fixed counter counts, which has its own enable.
    fn is_fixed_counting(&self, frozen: bool) -> bool {
        let enable = if self.kind == Kind::Ubox { 1 << 22 } else { 1 };
        places::has_fixed(self.kind) && self.runs(frozen) && self.fixed_control & enable != 0
    }

    /// In how many clocks of `domain` something changes: another increment, or an overflow that is reported.
    pub(super) fn stretch(&self, domain: Domain, frozen: bool) -> u64 {
        let mut stretch = u64::MAX;
        for number in self.enabled() {
            let (counter, choice) = (&self.counters[number], self.choice(number));
            if choice.domain == domain {
                let Course { rate, clocks } = counter.course(self.kind, self.increment(number, &choice));
                stretch = stretch.min(clocks);
                if let Some(distance) = counter::distance(counter.value, rate).filter(|_| counter.select.forwards() && self.runs(frozen)) {
                    stretch = stretch.min(distance);
                }
            }
        }
        if self.is_fixed_counting(frozen) && selection::domain(self.kind) == domain && self.fixed_control & FIXED_FORWARDS != 0 {
            stretch = stretch.min(counter::COUNT + 1 - self.fixed);
        }
        stretch
    }

    /// So many clocks of `domain` go by, no more than the stretch.
    pub(super) fn let_pass(&mut self, domain: Domain, frozen: bool, clocks: u64) {
        for number in self.enabled() {
            let choice = self.choice(number);
            if choice.domain == domain {
                let (kind, increment, counts) = (self.kind, self.increment(number, &choice), self.runs(frozen));
                let carried = self.counters[number].pass(kind, increment, clocks, counts);
                self.note(number, carried);
            }
        }
        if self.is_fixed_counting(frozen)
            && selection::domain(self.kind) == domain
            && counter::add(&mut self.fixed, clocks.into())
            && self.fixed_control & FIXED_FORWARDS != 0
        {
            self.overflows |= 1;
        }
    }

    /// Notes that a general counter was carried out.
    fn note(&mut self, number: usize, carried: bool) {
        if carried && self.counters[number].select.forwards() {
            self.overflows |= self.bit(number);
        }
    }

    /// Something comes `each` times in every one of the next clocks, in the counters that take it.
    fn happen(&mut self, frozen: bool, each: u64, clocks: u64, takes: impl Fn(What, bool) -> bool) {
        for number in self.enabled() {
            let choice = self.choice(number);
            let tid = self.filters_thread(number);
            if !takes(choice.what, tid) {
                continue;
            }
            let (kind, level, counts) = (self.kind, self.level(number, &choice), self.runs(frozen));
            let counter = &mut self.counters[number];
            let carried = match counter.compares(kind) {
                true => counter.tell(kind, (each, clocks), level, choice.most, counts),
                false => counts && counter::add(&mut counter.value, u128::from(each) * u128::from(clocks)),
            };
            self.note(number, carried);
        }
    }

    /// Something comes that is told by its event select and unit mask, and so of no thread (T12).
    pub(super) fn happen_by_code(&mut self, frozen: bool, (select, umask): (u8, u8), each: u64, clocks: u64) {
        let filters = self.filters;
        let is_lookup = self.kind == Kind::Cha && select == requests::LOOKUP;
        self.happen(frozen, each, clocks, |what, tid| match what {
            // The filter decides of a look-up whether its state is one.
            What::Code { select: requests::LOOKUP, umask: own, .. } if is_lookup => !tid && requests::is_told_lookup(own, umask, filters),
            what => !tid && what.admits(select, umask),
        });
    }

    pub(super) fn change_queue(&mut self, select: u8, umask: u8, change: i64) {
        let queue = self.queues.entry((select, umask)).or_default();
        let before = *queue;
        *queue = queue.saturating_add_signed(change);
        let (before, after) = (before, *queue);
        self.follow(before, after, |choice, tid| !tid && choice.stays && choice.what.admits(select, umask));
    }

    pub(super) fn set_queue(&mut self, select: u8, umask: u8, level: u64) {
        let before = self.queues.insert((select, umask), level).unwrap_or(0);
        self.follow(before, level, |choice, tid| !tid && choice.stays && choice.what.admits(select, umask));
    }

    /// Counters whose own queue was emptied follow a change by themselves; it never falls below nothing.
    fn follow(&mut self, before: u64, after: u64, takes: impl Fn(Choice, bool) -> bool) {
        for number in 0..self.counters.len() {
            let takes = takes(self.choice(number), self.filters_thread(number));
            if let Some(own) = self.counters[number].own.as_mut().filter(|_| takes) {
                *own = if after > before { own.saturating_add(after - before) } else { own.saturating_sub(before - after) };
            }
        }
    }

    /// Whether a counter counts only what the thread of filter 0 does.
    fn filters_thread(&self, number: usize) -> bool {
        self.counters[number].select.filters_thread() && self.kind == Kind::Cha
    }

    /// A request at a CHA (T11, T12, T21).
    pub(super) fn transact(&mut self, frozen: bool, request: &Transaction, stage: Stage) {
        let filters = self.filters;
        let of_thread = requests::is_of_thread(request, filters);
        if stage != Stage::Leaves {
            self.happen(frozen, 1, 1, |what, tid| match what {
                What::Code { select, umask, .. } => (!tid || of_thread) && requests::comes(request, select, umask, filters),
                _ => false,
            });
        }
        let stays =
            move |what: What| matches!(what, What::Code { select: requests::TABLE, umask, .. } if requests::stays(request, umask, filters));
        let (before, after) = match stage {
            Stage::Served { clocks } => {
                return self.happen(frozen, 1, clocks, |what, tid| (!tid || of_thread) && stays(what));
            }
            Stage::Enters if self.table.len() == PLACES => return,
            Stage::Enters => {
                self.table.push(*request);
                (0, 1)
            }
            Stage::Leaves => match self.table.iter().position(|entry| entry == request) {
                Some(place) => {
                    self.table.remove(place);
                    (1, 0)
                }
                None => return,
            },
        };
        self.follow(before, after, |choice, tid| (!tid || of_thread) && stays(choice.what));
    }
}
