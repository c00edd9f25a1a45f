//! The AMD K8: four counters of 48 bits a core, and a northbridge that the cores of a package share.
//!
//! BIOS and Kernel Developer's Guide, sections 10.1 and 10.2. What they leave open is decided in `docs/src/decisions`, K1 to K22; how an
//! instruction divides into clocks is the contract of [`vm_pmu_arch::feed`].

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::{self, Entry, UnitMask};
use vm_pmu_arch::feed::{Context, Kind, Record, Signal, Unit};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use crate::clocks::amount_of;
use crate::detector::Detector;

const COUNTERS: usize = 4;
/// PerfEvtSel0 is MSR C001_0000h (section 10.2), PerfCtr0 is MSR C001_0004h (section 10.1).
const FIRST_SELECT: u32 = 0xC001_0000;
const FIRST_COUNTER: u32 = 0xC001_0004;
/// Bits 47:0 of a counter (section 10.1).
const COUNTER_BITS: u32 = 48;
/// Bits 31:0 of a select but bit 21 (section 10.2, K1).
const SELECT_KEPT: u64 = 0xFFFF_FFFF & !(1 << 21);
/// The most events in a clock (CNT_MASK, item a).
const MOST: u64 = 3;
/// The first event of the northbridge (K11).
const FIRST_NORTHBRIDGE: u64 = 0xE0;

/// The paths of event E9h (section 10.2.1.7): the unit mask that each needs, and what counts it.
const PATHS: [(u32, Signal); 10] = [
    (0xA8, Signal::MemoryRequestsLocal),
    (0xA4, Signal::IoRequestsLocal),
    (0xA2, Signal::DeviceMemoryRequestsLocal),
    (0xA1, Signal::DeviceIoRequestsLocal),
    (0x98, Signal::MemoryRequestsRemote),
    (0x94, Signal::IoRequestsRemote),
    (0x92, Signal::DeviceMemoryRequestsRemote),
    (0x91, Signal::DeviceIoRequestsRemote),
    (0x64, Signal::IoRequestsFromRemote),
    (0x61, Signal::DeviceIoRequestsFromRemote),
];

/// PerfEvtSel (section 10.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Select(u64);

impl Select {
    fn event(self) -> u64 {
        self.0 & 0xFF
    }
    fn unit_mask(self) -> u32 {
        (self.0 >> 8 & 0xFF) as u32
    }
    fn user(self) -> bool {
        self.0 >> 16 & 1 == 1
    }
    fn system(self) -> bool {
        self.0 >> 17 & 1 == 1
    }
    fn edge(self) -> bool {
        self.0 >> 18 & 1 == 1
    }
    /// PC: the pin toggles at overflows only.
    fn pin_at_overflow(self) -> bool {
        self.0 >> 19 & 1 == 1
    }
    fn interrupt(self) -> bool {
        self.0 >> 20 & 1 == 1
    }
    fn enabled(self) -> bool {
        self.0 >> 22 & 1 == 1
    }
    fn inverted(self) -> bool {
        self.0 >> 23 & 1 == 1
    }
    fn mask(self) -> u64 {
        self.0 >> 24 & 0xFF
    }
    fn is_northbridge(self) -> bool {
        self.event() >= FIRST_NORTHBRIDGE
    }
    /// Whether the counter looks at single clocks (CNT_MASK, items a and b, and E).
    fn looks_at_clocks(self) -> bool {
        self.edge() || self.mask() != 0
    }
    /// Whether it takes clocks with fewer events than CNT_MASK (K5).
    fn counts_fewer(self) -> bool {
        self.inverted() && self.mask() != 0
    }
    /// What decides the level: all but USR, OS, PC, INT and EN.
    fn connection(self) -> u64 {
        self.0 & !(0b01_1011 << 16 | 1 << 22)
    }
    /// Whether a clock with so many events is one that counts (CNT_MASK and INV; K5, K7).
    fn compares(self, events: u64) -> bool {
        match self.mask() {
            0 => events > 0,
            mask => (events >= mask) != self.inverted(),
        }
    }
}

/// What a select means.
#[derive(Debug, Default)]
struct Meaning {
    /// What adds up to the count.
    signals: Vec<Signal>,
    /// What counts the entries into the state, if the part tells them.
    entries: Vec<Signal>,
    /// The most that one clock can have.
    most: u64,
    /// Whether it is one state, so that CNT_MASK 1 takes the same clocks as CNT_MASK 0.
    is_lone_state: bool,
}

impl Meaning {
    /// Whether an edge counter counts the entries that the part tells, and looks at no clocks.
    fn counts_entries(&self, select: Select) -> bool {
        !self.entries.is_empty() && select.mask() <= 1 && !select.counts_fewer()
    }

    /// Whether CNT_MASK 1 takes the clocks that CNT_MASK 0 does (D175).
    fn is_plain(&self, select: Select) -> bool {
        self.is_lone_state && select.mask() == 1 && !select.inverted()
    }

    /// Whether the counter takes the clocks outside one state.
    fn is_outside(&self, select: Select) -> bool {
        self.is_lone_state && select.mask() == 1 && select.inverted() && !select.edge()
    }
}

#[derive(Clone, Debug, Default)]
struct Counter {
    value: u64,
    select: Select,
    detector: Detector,
    /// How often its pin has toggled.
    toggles: u64,
}

#[derive(Clone, Debug, Default)]
struct Core {
    context: Context,
    counters: [Counter; COUNTERS],
    /// The pins that somebody looks at, one bit each.
    watched: u32,
    /// The states of its last clock, if there has been one.
    holding: Option<Vec<Signal>>,
}

/// The PMUs of one package.
#[derive(Debug)]
pub struct K8 {
    /// The letter of the revision.
    revision: &'static str,
    cores: Vec<Core>,
    /// Which core holds the counters of each number for the northbridge (section 10.2, K10).
    holders: [Option<usize>; COUNTERS],
    /// Whether a held counter still counts events of its own core.
    shared: bool,
    interrupts: Vec<(usize, u32)>,
}

impl K8 {
    /// A package of so many cores after power came on. With `shared` a counter that another core holds for the northbridge counts events
    /// of its own core.
    #[must_use]
    pub fn new(revision: &'static str, cores: usize, shared: bool) -> K8 {
        K8 { revision, cores: vec![Core::default(); cores], holders: [None; COUNTERS], shared, interrupts: Vec::new() }
    }

    fn has(&self, entry: &Entry) -> bool {
        entry.since <= self.revision
    }

    /// The event and its unit masks, if this revision has it; otherwise the select is reserved (K20).
    fn event(&self, select: u32) -> Option<(&'static Entry, Vec<&'static Entry>)> {
        let (event, masks) = event::K8.select(select)?;
        self.has(event).then(|| (event, masks.iter().filter(|mask| self.has(mask)).collect()))
    }

    fn meaning(&self, select: Select) -> Meaning {
        let Some((event, masks)) = self.event(select.event() as u32) else {
            return Meaning { most: MOST, ..Meaning::default() };
        };
        if let UnitMask::Fields(_) = event.shape {
            let has = |(path, _): &&(u32, Signal)| select.unit_mask() & path == *path;
            let signals = PATHS.iter().filter(has).map(|(_, signal)| *signal).collect();
            return Meaning { signals, most: MOST, ..Meaning::default() };
        }
        let chosen = masks.into_iter().filter(|mask| mask.is_chosen_by(select.unit_mask(), event.shape));
        let entries: Vec<&Entry> = if event.shape == UnitMask::None { vec![event] } else { chosen.collect() };
        let all = |list: fn(&Entry) -> &'static [Signal]| {
            let mut signals: Vec<Signal> = entries.iter().flat_map(|entry| list(entry)).copied().collect();
            signals.sort_unstable();
            signals.dedup();
            signals
        };
        let states = entries.iter().filter(|entry| entry.counts == Unit::Cycles).count();
        let most = if states > 0 && states == entries.len() { (states as u64).min(MOST) } else { MOST };
        let is_lone_state = states == 1 && entries.len() == 1;
        Meaning { signals: all(|entry| entry.signals), entries: all(|entry| entry.edges), most, is_lone_state }
    }

    /// Whether the other cores leave this counter to its own, for what it selects: the northbridge is counted by its holder (section 10.2).
    fn is_free(&self, core: usize, number: usize) -> bool {
        let holder = self.holders[number];
        match self.cores[core].counters[number].select.is_northbridge() {
            true => holder == Some(core),
            false => self.shared || holder.is_none_or(|holder| holder == core),
        }
    }

    /// Whether the counter counts now: EN, the privilege level, the clock (section 10.2).
    fn counts(&self, core: usize, number: usize) -> bool {
        let Core { context, counters, .. } = &self.cores[core];
        let select = counters[number].select;
        let level = if context.privilege == 0 { select.system() } else { select.user() };
        select.enabled() && level && !context.halted && self.is_free(core, number)
    }

    /// How much of the selection is there at rest: states hold, events do not.
    fn at_rest(&self, core: usize, meaning: &Meaning) -> u64 {
        let Core { context, holding, .. } = &self.cores[core];
        let holds = |signal: &&Signal| match **signal {
            Signal::InterruptsMaskedCycles => !context.interrupts_enabled(),
            signal if signal.is_clock() => true,
            signal => match holding {
                Some(holding) => holding.contains(&signal),
                None => signal.resting(),
            },
        };
        (meaning.signals.iter().filter(|signal| signal.kind() == Kind::State).filter(holds).count() as u64).min(meaning.most)
    }

    /// Adds to a counter, which overflows when it wraps (section 10.1).
    fn add(&mut self, core: usize, number: usize, amount: u64) {
        let counter = &mut self.cores[core].counters[number];
        let sum = counter.value + amount;
        counter.value = sum & (u64::MAX >> (64 - COUNTER_BITS));
        if counter.select.pin_at_overflow() {
            counter.toggles += sum >> COUNTER_BITS;
        }
        if sum >> COUNTER_BITS != 0 && counter.select.interrupt() {
            self.interrupts.push((core, number as u32));
        }
    }

    /// A step in which `signals` came and, for the counter's own core, `clocks` ended.
    fn step(&mut self, core: usize, number: usize, signals: &[(Signal, u64)], clocks: u64) {
        let select = self.cores[core].counters[number].select;
        let meaning = self.meaning(select);
        let counts = self.counts(core, number);
        let of = |kind: Kind| meaning.signals.iter().filter(move |signal| signal.kind() == kind);
        let events: u64 =
            meaning.signals.iter().filter(|signal| signal.kind() != Kind::State).map(|signal| amount_of(signals, *signal)).sum();
        let states: Vec<u64> = of(Kind::State).map(|state| amount_of(signals, *state).min(clocks)).collect();
        let detector = &mut self.cores[core].counters[number].detector;
        let outside = meaning.is_outside(select).then(|| detector.outside(clocks, states.iter().sum()));
        let (rises, mut satisfied) = detector.pass(clocks, events, &states, |events| select.compares(events.min(meaning.most)));
        if let Some((outside, stay)) = outside {
            (satisfied, detector.stay) = (outside, stay);
        }
        let adds_up = !select.edge() && (select.mask() == 0 || meaning.is_plain(select));
        let amount = match (select.edge(), select.mask()) {
            (true, _) if meaning.counts_entries(select) => meaning.entries.iter().map(|signal| amount_of(signals, *signal)).sum(),
            (true, _) => rises,
            (false, _) if adds_up => events + states.iter().sum::<u64>(),
            (false, _) => satisfied,
        };
        if counts {
            self.add(core, number, amount);
            // All events of one clock are one increment (K17).
            self.toggle(core, number, if adds_up { satisfied } else { amount });
        }
    }

    /// The counter was incremented in so many clocks, which its pin shows with PC clear.
    fn toggle(&mut self, core: usize, number: usize, increments: u64) {
        let watched = self.cores[core].watched >> number & 1 == 1;
        let counter = &mut self.cores[core].counters[number];
        if watched && !counter.select.pin_at_overflow() {
            counter.toggles += increments;
        }
    }

    /// Begins to look at what is selected, as a counter does that is enabled.
    fn start(&mut self, core: usize, number: usize) {
        let select = self.cores[core].counters[number].select;
        let level = select.compares(self.at_rest(core, &self.meaning(select)));
        self.cores[core].counters[number].detector = Detector::at(level);
    }

    /// A counter that did not count and does now: what its open clock has came at a level that it does not count.
    fn begin(&mut self, core: usize, number: usize, counted: bool) {
        if !counted && self.counts(core, number) {
            self.cores[core].counters[number].detector.forget_open();
        }
    }

    /// Gives each number to a core that counts the northbridge with it: whoever has it keeps it, and the first that waits is next (K10).
    /// Counters that this stops or lets go begin anew (K21).
    fn arbitrate(&mut self) {
        for number in 0..COUNTERS {
            let claims = |core: &Core| core.counters[number].select.enabled() && core.counters[number].select.is_northbridge();
            let free: Vec<bool> = (0..self.cores.len()).map(|core| self.is_free(core, number)).collect();
            let kept = self.holders[number].filter(|holder| claims(&self.cores[*holder]));
            self.holders[number] = kept.or_else(|| self.cores.iter().position(claims));
            for (core, was_free) in free.into_iter().enumerate() {
                if self.is_free(core, number) != was_free {
                    self.start(core, number);
                }
            }
        }
    }

    fn select(&mut self, core: usize, number: usize, select: Select) {
        let Counter { select: old, detector: Detector { level, .. }, .. } = self.cores[core].counters[number];
        // A state is as the last clock compared it, where clocks are looked at; between occurrences an event is a static 0. Where entries are
        // counted, the state itself is looked at.
        let meaning = self.meaning(old);
        let is_of_events = !meaning.signals.is_empty() && meaning.signals.iter().all(|signal| signal.kind() != Kind::State);
        let is_static = is_of_events || meaning.counts_entries(old);
        let was = if is_static { old.compares(self.at_rest(core, &meaning)) } else { level };
        // A detector runs in edge count mode, in a counter that counts at some level (D174).
        // What takes or gives up the northbridge begins anew (K21, D174).
        let same_arbiter = old.is_northbridge() == select.is_northbridge();
        let detected = old.enabled() && old.edge() && (old.user() || old.system()) && same_arbiter && self.is_free(core, number);
        let counted = self.counts(core, number);
        self.cores[core].counters[number].select = select;
        self.begin(core, number, counted);
        if old.enabled() != select.enabled() || old.connection() != select.connection() {
            self.start(core, number);
            // The false edge of section 10.2 (K7).
            let rises = !was && self.cores[core].counters[number].detector.level;
            if detected && select.edge() && rises && self.counts(core, number) {
                self.add(core, number, 1);
                self.toggle(core, number, 1);
            }
        } else if old.pin_at_overflow() != select.pin_at_overflow() {
            self.restart_pin(core, number);
        }
        self.arbitrate();
    }

    /// Where events add up only the pin looks at single clocks, from now on.
    fn restart_pin(&mut self, core: usize, number: usize) {
        let select = self.cores[core].counters[number].select;
        let is_plain = !select.edge() && self.meaning(select).is_plain(select);
        if !select.looks_at_clocks() || is_plain {
            self.cores[core].counters[number].detector.forget_open();
        }
    }

    /// Which register an MSR is: of a counter's number, whether its select.
    fn register(number: u32) -> Option<(usize, bool)> {
        match number {
            FIRST_SELECT..FIRST_COUNTER => Some(((number - FIRST_SELECT) as usize, true)),
            FIRST_COUNTER..0xC001_0008 => Some(((number - FIRST_COUNTER) as usize, false)),
            _ => None,
        }
    }

    fn look(&self, thread: usize, address: Address) -> Result<u64, Fault> {
        let Core { context, counters, .. } = &self.cores[thread];
        match address {
            Address::Msr(number) => {
                let (counter, is_select) = K8::register(number).ok_or(Fault::Unclaimed)?;
                let Counter { value, select, .. } = &counters[counter];
                let shown = if is_select { select.0 } else { *value };
                if context.privilege == 0 { Ok(shown) } else { Err(Fault::GeneralProtection) }
            }
            // Level 0, or CR4.PCE; ECX names one of the four (K9).
            Address::Rdpmc(index) => {
                let allowed = context.privilege == 0 || context.rdpmc_enabled();
                counters.get(index as usize).filter(|_| allowed).map(|counter| counter.value).ok_or(Fault::GeneralProtection)
            }
            _ => Err(Fault::Unclaimed),
        }
    }
}

impl Reference for K8 {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        let Address::Msr(msr) = address else { return Err(Fault::Unclaimed) };
        let (number, is_select) = K8::register(msr).ok_or(Fault::Unclaimed)?;
        if self.cores[thread].context.privilege != 0 {
            return Err(Fault::GeneralProtection);
        }
        if is_select {
            self.select(thread, number, Select(value & SELECT_KEPT));
        } else {
            self.cores[thread].counters[number].value = value & (u64::MAX >> (64 - COUNTER_BITS));
        }
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        Some(self.look(thread, address))
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], _record: &Record) {
        let clocks = amount_of(signals, Signal::Cycles);
        for core in 0..self.cores.len() {
            for number in 0..COUNTERS {
                let northbridge = self.cores[core].counters[number].select.is_northbridge();
                match core == thread {
                    true if !self.cores[core].context.halted => self.step(core, number, signals, clocks),
                    false if northbridge && !self.cores[core].context.halted => self.step(core, number, signals, 0),
                    _ => {}
                }
            }
        }
        if clocks > 0 {
            let states = signals.iter().filter(|(signal, amount)| signal.kind() == Kind::State && *amount > 0);
            self.cores[thread].holding = Some(states.map(|(signal, _)| *signal).collect());
        }
    }

    fn devices(&mut self, signals: &[(Signal, u64)]) {
        for core in 0..self.cores.len() {
            for number in 0..COUNTERS {
                if self.cores[core].counters[number].select.is_northbridge() && !self.cores[core].context.halted {
                    self.step(core, number, signals, 0);
                }
            }
        }
    }

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        for core in 0..self.cores.len() {
            for number in 0..COUNTERS {
                let select = self.cores[core].counters[number].select;
                let reaches = core == thread || select.is_northbridge();
                if reaches && u64::from(occurrence.select) == select.event() && self.counts(core, number) {
                    self.inject_into(core, number, occurrence.umask, amount);
                }
            }
        }
    }

    fn watch_pins(&mut self, thread: usize, pins: u32) {
        let before = core::mem::replace(&mut self.cores[thread].watched, pins);
        for number in (0..COUNTERS).filter(|number| (before ^ pins) >> number & 1 == 1) {
            self.restart_pin(thread, number);
        }
    }

    fn pin_toggles(&mut self, thread: usize, pin: u32) -> Option<u64> {
        Some(self.cores[thread].counters.get(pin as usize).map_or(0, |counter| counter.toggles))
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let counted: Vec<bool> = (0..COUNTERS).map(|number| self.counts(thread, number)).collect();
        self.cores[thread].context = context;
        for (number, counted) in counted.into_iter().enumerate() {
            self.begin(thread, number, counted);
        }
    }

    fn reset(&mut self, thread: usize, reset: Reset) {
        let core = &mut self.cores[thread];
        core.context = Context::RESET;
        for counter in &mut core.counters {
            // A warm reset keeps the counts (K16).
            let value = if reset == Reset::Warm { counter.value } else { 0 };
            *counter = Counter { value, ..Counter::default() };
        }
        self.arbitrate();
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let mut taken = core::mem::take(&mut self.interrupts);
        taken.sort_unstable();
        Some(taken)
    }
}

impl K8 {
    /// An occurrence of the counter's event with these bits of the unit mask.
    fn inject_into(&mut self, core: usize, number: usize, umask: u32, amount: u64) {
        let select = self.cores[core].counters[number].select;
        let (admitted, state) = match self.event(select.event() as u32) {
            // A reserved select has a unit mask if one is written (K20).
            None => (select.unit_mask() == 0 && umask == 0 || select.unit_mask() & umask != 0, false),
            Some((event, masks)) => {
                let named = masks.iter().filter(|mask| mask.umask.is_some_and(|own| own & umask & select.unit_mask() != 0));
                let state = match event.shape {
                    UnitMask::None => event.counts == Unit::Cycles,
                    _ => named.clone().count() > 0 && named.clone().all(|mask| mask.counts == Unit::Cycles),
                };
                let admitted = match event.shape {
                    UnitMask::None => true,
                    UnitMask::Fields(_) => PATHS.iter().any(|(path, _)| *path == umask && select.unit_mask() & path == *path),
                    _ => select.unit_mask() & umask != 0,
                };
                (admitted, state)
            }
        };
        if !admitted {
            return;
        }
        let meaning = self.meaning(select);
        if select.edge() && meaning.counts_entries(select) {
            // One entry, however long (K7).
            let one = u64::from(amount > 0);
            self.add(core, number, one);
            self.toggle(core, number, one);
            return;
        }
        if !select.looks_at_clocks() || (!select.edge() && meaning.is_plain(select)) {
            self.add(core, number, amount);
        }
        let detector = &mut self.cores[core].counters[number].detector;
        let place = if state { &mut detector.stay } else { &mut detector.open };
        *place = place.saturating_add(amount);
    }
}
