//! The threads of a Knights Landing tile: two general and three fixed counters each, architectural performance monitoring, version 3.
//!
//! Performance Monitoring Reference Manual, volume 2, chapters 1 and 2. Volume 1, which has the registers, is not available: addresses,
//! layouts and faults are those of `docs/notes/knights-landing-drivers.md`, N1 to N16, and what both leave open is T1 to T7 and T18 of
//! `docs/src/decisions`. The boxes of the untile have their own reference, [`crate::untile`].

mod registers;
mod requests;
mod selection;

use vm_pmu_arch::access::{Address, Fault};
use vm_pmu_arch::event::UnitMask;
use vm_pmu_arch::feed::{Context, Kind, Record, Request, Signal, Unit};
use vm_pmu_arch::model::{Occurrence, Reset};

use crate::Reference;
use crate::clocks::amount_of;
use crate::detector::Detector;
use registers::{Register, register};
use selection::{Meaning, Reach, Select};

/// The general counters; the fixed ones follow.
const GENERAL: usize = 2;
const COUNTERS: usize = 5;
/// Counters have 40 bits (N1).
const COUNT: u64 = (1 << 40) - 1;
/// IA32_DEBUGCTL, FREEZE_PERFMON_ON_PMI.
const FREEZE: u64 = 1 << 12;
/// The status bit of an overflow outside the tile.
const BY_BOX: u64 = 1 << 61;
/// The most threads of a core.
const CORE: usize = 4;

#[derive(Clone, Debug)]
struct Thread {
    context: Context,
    selects: [Select; GENERAL],
    counters: [u64; COUNTERS],
    detectors: [Detector; GENERAL],
    fixed_control: u64,
    global_control: u64,
    status: u64,
    debug_control: u64,
    misc_enable: u64,
    offcore: [u64; 2],
    /// The states of its last cycle, if there has been one.
    holding: Option<Vec<Signal>>,
    /// An overflow that asked for an interrupt has come, and the counters are to freeze.
    freezes: bool,
    doubt: Doubt,
}

/// What is not known of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Doubt {
    /// The counters that look at single cycles of a kind that is not known.
    selections: [bool; GENERAL],
    /// The counters for whose selection something has come since they began to look at it, at whatever level.
    told: [bool; GENERAL],
    /// The counters whose values are not known.
    values: [bool; COUNTERS],
    /// The bits of IA32_PERF_GLOBAL_STATUS that are not known.
    status: u64,
    /// Whether it is not known if the counters are frozen: then nothing is.
    everything: bool,
}

impl Default for Thread {
    /// After power-on the general counters are let count (N7).
    fn default() -> Thread {
        Thread {
            context: Context::RESET,
            selects: [Select::default(); GENERAL],
            counters: [0; COUNTERS],
            detectors: [Detector::default(); GENERAL],
            fixed_control: 0,
            global_control: 0b11,
            status: 0,
            debug_control: 0,
            misc_enable: registers::MISC_ENABLE,
            offcore: [0; 2],
            holding: None,
            freezes: false,
            doubt: Doubt::default(),
        }
    }
}

/// The bit of a counter in the global registers.
fn global_bit(counter: usize) -> u64 {
    if counter < GENERAL { 1 << counter } else { 1 << (32 + counter - GENERAL) }
}

impl Thread {
    /// The four bits of a fixed counter: OS, USR, AnyThread, PMI.
    fn fixed(&self, counter: usize) -> u64 {
        self.fixed_control >> (4 * (counter - GENERAL)) & 0xF
    }

    /// Whether the counter is enabled, by its own control and globally.
    fn is_enabled(&self, counter: usize) -> bool {
        let own = if counter < GENERAL { self.selects[counter].enabled() } else { self.fixed(counter) & 0b11 != 0 };
        own && self.global_control & global_bit(counter) != 0
    }

    /// Whether the counter counts at this privilege level.
    fn counts_level(&self, counter: usize, privilege: u8) -> bool {
        let (system, user) = if counter < GENERAL {
            (self.selects[counter].system(), self.selects[counter].user())
        } else {
            (self.fixed(counter) & 1 != 0, self.fixed(counter) & 2 != 0)
        };
        if privilege == 0 { system } else { user }
    }

    /// Adds to a counter; a wrap sets its status bit, and may ask for an interrupt. Returns whether it asked.
    fn add(&mut self, counter: usize, amount: u64) -> bool {
        let sum = u128::from(self.counters[counter]) + u128::from(amount);
        self.counters[counter] = sum as u64 & COUNT;
        if sum <= u128::from(COUNT) {
            return false;
        }
        self.status |= global_bit(counter);
        let asks = if counter < GENERAL { self.selects[counter].interrupt() } else { self.fixed(counter) & 8 != 0 };
        self.freezes |= asks && self.debug_control & FREEZE != 0;
        asks
    }

    /// A counter whose value is not known may have wrapped. Returns whether it could have asked for an interrupt.
    fn doubt_wrap(&mut self, counter: usize) -> bool {
        let asks = counter < GENERAL && self.selects[counter].interrupt();
        self.doubt.status |= global_bit(counter);
        self.doubt.everything |= asks && self.debug_control & FREEZE != 0;
        asks
    }
}

/// The threads of one tile.
#[derive(Debug)]
pub struct Knl {
    threads: Vec<Thread>,
    interrupts: Vec<(usize, u32)>,
    /// Whether a counter that is not known could have asked for an interrupt since they were last taken.
    doubts_interrupts: bool,
}

impl Knl {
    /// A tile of so many threads after power came on.
    #[must_use]
    pub fn new(threads: usize) -> Knl {
        Knl { threads: vec![Thread::default(); threads], interrupts: Vec::new(), doubts_interrupts: false }
    }

    fn meaning(&self, thread: usize, counter: usize) -> Meaning {
        let core = self.threads.len().min(CORE);
        match counter < GENERAL {
            true => selection::meaning(self.threads[thread].selects[counter], core),
            false => selection::fixed(counter - GENERAL, self.threads[thread].fixed(counter) & 4 != 0, core),
        }
    }

    /// Whether a counter of `owner` counts what `teller` does.
    fn counts(&self, owner: usize, counter: usize, reach: Reach, teller: usize) -> bool {
        let same_core = owner / CORE == teller / CORE;
        let (own, other) = (&self.threads[owner], &self.threads[teller].context);
        let at_level = own.counts_level(counter, other.privilege);
        let runs = |thread: &Thread| !thread.context.halted && own.counts_level(counter, thread.context.privilege);
        own.is_enabled(counter)
            && match reach {
                Reach::Thread => owner == teller && at_level && !other.halted,
                Reach::Sum => same_core && at_level && !other.halted,
                // Some thread of the core runs at such a level (T4).
                Reach::Clock => same_core && self.threads.chunks(CORE).nth(owner / CORE).is_some_and(|core| core.iter().any(runs)),
                Reach::Rejects => same_core && at_level,
                Reach::Requests(_) => at_level,
            }
    }

    fn add(&mut self, thread: usize, counter: usize, amount: u64) {
        if amount != 0 && self.threads[thread].doubt.values[counter] {
            self.doubts_interrupts |= self.threads[thread].doubt_wrap(counter);
        }
        if self.threads[thread].add(counter, amount) {
            self.interrupts.push((thread, counter as u32));
        }
    }

    /// After everything of one step was counted, what asked for it freezes (T5).
    fn freeze(&mut self) {
        for thread in &mut self.threads {
            if core::mem::take(&mut thread.freezes) {
                thread.global_control = 0;
            }
        }
    }

    /// A general counter of `owner` that is enabled, in a step of `teller`.
    fn step(&mut self, owner: usize, counter: usize, teller: usize, signals: &[(Signal, u64)]) {
        let meaning = self.meaning(owner, counter);
        let counts = self.counts(owner, counter, meaning.reach, teller);
        let select = self.threads[owner].selects[counter];
        let own = owner == teller && !self.threads[owner].context.halted;
        let clocks = if own { amount_of(signals, Signal::Cycles) } else { 0 };
        let reaches = counts || (meaning.reach == Reach::Thread && own);
        let amounts = |state: bool| -> Vec<u64> {
            let of_kind = meaning.signals.iter().filter(|signal| (signal.kind() == Kind::State) == state);
            of_kind.map(|signal| if reaches { amount_of(signals, *signal) } else { 0 }).collect()
        };
        let (states, events) = (amounts(true), amounts(false).iter().sum::<u64>());
        // States of one selection exclude each other, so they follow each other (T7).
        let states = if meaning.is_state { vec![states.iter().sum()] } else { states };
        let detector = &mut self.threads[owner].detectors[counter];
        let is_outside = meaning.is_state && select.mask() == 1 && select.counts_fewer() && !select.edge();
        // States are told with the cycles that they are part of (D7): which cycle one is in that comes alone is not known.
        let is_alone = is_outside && states.iter().sum::<u64>() > clocks;
        let outside = is_outside.then(|| detector.outside(clocks, states.iter().sum()));
        let (rises, mut satisfied) = detector.pass(clocks, events, &states, |events| select.compares(events.min(meaning.most)));
        if let Some((outside, stay)) = outside {
            (satisfied, detector.stay) = (outside, stay);
        }
        let amount = match (select.edge(), select.mask()) {
            (true, 0 | 1) if !meaning.entries.is_empty() && !select.counts_fewer() => {
                meaning.entries.iter().map(|signal| amount_of(signals, *signal)).sum()
            }
            (true, _) => rises,
            (false, 0) => events + states.iter().sum::<u64>(),
            (false, 1) if meaning.is_state && !select.counts_fewer() => states.iter().sum(),
            (false, _) => satisfied,
        };
        let of_all = meaning.signals.iter().any(|signal| amount_of(signals, *signal) != 0);
        self.threads[owner].doubt.told[counter] |= of_all;
        self.doubt(owner, counter, meaning.reach, own, is_alone);
        let counts_cycles = matches!(meaning.reach, Reach::Rejects | Reach::Requests(_)) && own && (select.user() || select.system());
        if counts || counts_cycles {
            self.add(owner, counter, amount);
        }
    }

    /// What is not known: where a counter inverts a state, which cycles those of the state are that come alone (`is_alone`). And of cycles of
    /// events of the core and the tile no source says whose level decides whether a cycle counts, once there is one, nor which cycles a
    /// core's clock is compared in, nor what cycles of a halted thread are.
    fn doubt(&mut self, owner: usize, counter: usize, reach: Reach, own: bool, is_alone: bool) {
        let thread = &mut self.threads[owner];
        let select = thread.selects[counter];
        let by_level = select.user() != select.system();
        let is_unclear = match reach {
            Reach::Thread | Reach::Sum => is_alone,
            Reach::Clock => select.edge() || select.counts_fewer(),
            Reach::Rejects | Reach::Requests(_) => {
                let compares = select.edge() || select.mask() != 0;
                let has_events = thread.doubt.told[counter] || select.counts_fewer();
                compares && has_events && (by_level || !own && thread.context.halted)
            }
        };
        let doubt = &mut thread.doubt;
        doubt.selections[counter] |= is_unclear;
        if doubt.selections[counter] {
            doubt.values[counter] = true;
            self.doubts_interrupts |= thread.doubt_wrap(counter);
        }
        self.doubts_interrupts |= self.threads[owner].doubt.everything;
    }

    /// How much of the selection is there at rest: states hold, events do not.
    fn at_rest(&self, thread: usize, meaning: &Meaning) -> u64 {
        let holds = |signal: &&Signal| match &self.threads[thread].holding {
            _ if signal.is_clock() => true,
            Some(holding) => holding.contains(signal),
            None => signal.resting(),
        };
        let states = meaning.signals.iter().filter(|signal| signal.kind() == Kind::State).filter(holds).count() as u64;
        states.min(meaning.most)
    }

    /// A general counter begins to look at what it selects.
    fn start(&mut self, thread: usize, counter: usize) {
        let select = self.threads[thread].selects[counter];
        let level = select.compares(self.at_rest(thread, &self.meaning(thread, counter)));
        self.threads[thread].detectors[counter] = Detector::at(level);
        self.threads[thread].doubt.selections[counter] = false;
        self.threads[thread].doubt.told[counter] = false;
    }

    /// Changes a register of a thread; counters that it enables or turns to something else begin anew.
    fn change(&mut self, thread: usize, change: impl FnOnce(&mut Thread)) {
        let look = |thread: &Thread| {
            [0, 1].map(|counter| {
                let select = thread.selects[counter];
                (thread.is_enabled(counter), select.connection(), select.user() || select.system())
            })
        };
        let before = look(&self.threads[thread]);
        let counted = self.counted(thread);
        change(&mut self.threads[thread]);
        let after = look(&self.threads[thread]);
        for counter in 0..GENERAL {
            if before[counter] != after[counter] {
                self.start(thread, counter);
            }
        }
        self.begin(thread, counted);
    }

    /// Which general counters count what their own thread does.
    fn counted(&self, thread: usize) -> [bool; GENERAL] {
        [0, 1].map(|counter| self.counts(thread, counter, Reach::Thread, thread))
    }

    /// Counters that did not count and do now: what their open cycle has came at a level that they do not count.
    fn begin(&mut self, thread: usize, counted: [bool; GENERAL]) {
        for (counter, counted) in counted.into_iter().enumerate() {
            let reach = self.meaning(thread, counter).reach;
            if reach == Reach::Thread && !counted && self.counts(thread, counter, reach, thread) {
                self.threads[thread].detectors[counter].forget_open();
            }
        }
    }

    /// Whether what a register shows is not known.
    fn doubts(&self, thread: usize, address: Address) -> bool {
        let doubt = &self.threads[thread].doubt;
        let counter = match address {
            Address::Rdpmc(index) => Some(if index < GENERAL as u32 { index as usize } else { GENERAL + (index & 3) as usize }),
            Address::Msr(number) => match register(number) {
                Some(Register::Counter(counter) | Register::FullWidth(counter)) => Some(counter),
                Some(Register::Status) => return doubt.everything || doubt.status != 0,
                Some(Register::GlobalControl) => return doubt.everything,
                _ => return false,
            },
            _ => return false,
        };
        doubt.everything || counter.is_some_and(|counter| doubt.values[counter])
    }

    /// An injected occurrence reaches a general counter that counts it.
    fn inject_into(&mut self, owner: usize, counter: usize, umask: u32, amount: u64) {
        let select = self.threads[owner].selects[counter];
        let (admitted, state) = match selection::event_of(select.event()) {
            None => (select.unit_mask() == umask || select.unit_mask() & umask != 0, false),
            Some((event, masks)) => {
                let admitted = match event.shape {
                    UnitMask::None => true,
                    UnitMask::Ordinal => select.unit_mask() == umask,
                    UnitMask::Excluding => select.unit_mask() & umask == 0,
                    _ => select.unit_mask() & umask != 0,
                };
                (
                    admitted,
                    event.counts == Unit::Cycles || masks.iter().any(|mask| mask.umask == Some(umask) && mask.counts == Unit::Cycles),
                )
            }
        };
        if !admitted || amount == 0 {
            return;
        }
        let meaning = self.meaning(owner, counter);
        match (select.edge(), select.mask()) {
            (true, 0 | 1) if !meaning.entries.is_empty() && !select.counts_fewer() => self.add(owner, counter, 1),
            (false, 0) => self.add(owner, counter, amount),
            (false, 1) if meaning.is_state && !select.counts_fewer() => self.add(owner, counter, amount),
            _ => {
                let detector = &mut self.threads[owner].detectors[counter];
                let place = if state { &mut detector.stay } else { &mut detector.open };
                *place = place.saturating_add(amount);
                self.threads[owner].doubt.told[counter] = true;
            }
        }
    }
}

impl Reference for Knl {
    fn write(&mut self, thread: usize, address: Address, value: u64) -> Result<(), Fault> {
        let Address::Msr(number) = address else { return Err(Fault::Unclaimed) };
        let register = register(number).ok_or(Fault::Unclaimed)?;
        if self.threads[thread].context.privilege != 0 {
            return Err(Fault::GeneralProtection);
        }
        let kept = register.kept(value).ok_or(Fault::GeneralProtection)?;
        self.change(thread, |thread| match register {
            Register::Counter(counter) | Register::FullWidth(counter) => {
                thread.counters[counter] = kept;
                thread.doubt.values[counter] = false;
            }
            Register::Select(counter) => thread.selects[counter] = Select(kept),
            Register::FixedControl => thread.fixed_control = kept,
            Register::GlobalControl => thread.global_control = kept,
            Register::OverflowControl => {
                thread.status &= !kept;
                thread.doubt.status &= !kept;
            }
            Register::DebugControl => thread.debug_control = kept,
            Register::MiscEnable => thread.misc_enable = kept,
            Register::Offcore(number) => thread.offcore[number] = kept,
            Register::Status | Register::Capabilities | Register::LastBranch => {}
        });
        Ok(())
    }

    fn read(&mut self, thread: usize, address: Address) -> Option<Result<u64, Fault>> {
        let own = &self.threads[thread];
        let shown = match address {
            Address::Msr(number) => match register(number) {
                None => return Some(Err(Fault::Unclaimed)),
                Some(_) if own.context.privilege != 0 => return Some(Err(Fault::GeneralProtection)),
                Some(Register::Counter(counter) | Register::FullWidth(counter)) => own.counters[counter],
                Some(Register::Select(counter)) => own.selects[counter].0,
                Some(Register::FixedControl) => own.fixed_control,
                Some(Register::GlobalControl) => own.global_control,
                Some(Register::Status) => own.status,
                Some(Register::OverflowControl | Register::LastBranch) => 0,
                Some(Register::DebugControl) => own.debug_control,
                Some(Register::MiscEnable) => own.misc_enable,
                Some(Register::Offcore(number)) => own.offcore[number],
                Some(Register::Capabilities) => registers::CAPABILITIES,
            },
            // Level 0, or CR4.PCE; bit 30 is for the fixed counters (N14).
            Address::Rdpmc(index) => {
                let allowed = own.context.privilege == 0 || own.context.rdpmc_enabled();
                let counter = match index {
                    0 | 1 => Some(index as usize),
                    0x4000_0000..=0x4000_0002 => Some(GENERAL + (index & 3) as usize),
                    _ => None,
                };
                match counter.filter(|_| allowed) {
                    Some(counter) => own.counters[counter],
                    None => return Some(Err(Fault::GeneralProtection)),
                }
            }
            _ => return Some(Err(Fault::Unclaimed)),
        };
        (!self.doubts(thread, address)).then_some(Ok(shown))
    }

    fn instruction(&mut self, thread: usize, signals: &[(Signal, u64)], _record: &Record) {
        for owner in 0..self.threads.len() {
            for counter in 0..COUNTERS {
                if counter < GENERAL {
                    if self.threads[owner].is_enabled(counter) {
                        self.step(owner, counter, thread, signals);
                    }
                    continue;
                }
                let meaning = self.meaning(owner, counter);
                if self.counts(owner, counter, meaning.reach, thread) {
                    let amount = meaning.signals.iter().map(|signal| amount_of(signals, *signal)).sum();
                    self.add(owner, counter, amount);
                }
            }
        }
        self.freeze();
        if amount_of(signals, Signal::Cycles) > 0 {
            let states = signals.iter().filter(|(signal, amount)| signal.kind() == Kind::State && *amount > 0);
            self.threads[thread].holding = Some(states.map(|(signal, _)| *signal).collect());
        }
    }

    fn request(&mut self, thread: usize, request: &Request) -> bool {
        for owner in 0..self.threads.len() {
            for counter in 0..GENERAL {
                let Reach::Requests(register) = self.meaning(owner, counter).reach else { continue };
                if self.counts(owner, counter, Reach::Requests(register), thread) {
                    let amount = requests::amount(self.threads[owner].offcore[register], register, counter, request);
                    let select = self.threads[owner].selects[counter];
                    if select.edge() || select.mask() != 0 {
                        self.threads[owner].doubt.told[counter] = true;
                        self.threads[owner].detectors[counter].open += amount;
                    } else {
                        self.add(owner, counter, amount);
                    }
                }
            }
        }
        self.freeze();
        true
    }

    /// The devices of a tile are in boxes.
    fn devices(&mut self, _signals: &[(Signal, u64)]) {}

    fn inject(&mut self, thread: usize, occurrence: Occurrence, amount: u64) {
        for owner in 0..self.threads.len() {
            for counter in 0..COUNTERS {
                // What is injected is told of a thread, even if it is cycles of its core (D176).
                let reach = match self.meaning(owner, counter).reach {
                    Reach::Clock => Reach::Sum,
                    reach => reach,
                };
                if !self.counts(owner, counter, reach, thread) {
                    continue;
                }
                if counter >= GENERAL {
                    // By the numbers of tools: select 00h, unit masks 1 to 3.
                    if occurrence.select == 0 && occurrence.umask as usize == counter - GENERAL + 1 {
                        self.add(owner, counter, amount);
                    }
                } else if occurrence.select == self.threads[owner].selects[counter].event() {
                    self.inject_into(owner, counter, occurrence.umask, amount);
                }
            }
        }
        self.freeze();
    }

    /// Every thread's status has bit 61, and its interrupt is the one after those of its counters (N12, N15, T8).
    fn interrupt_by_box(&mut self) {
        for (number, thread) in self.threads.iter_mut().enumerate() {
            thread.status |= BY_BOX;
            thread.freezes |= thread.debug_control & FREEZE != 0;
            self.interrupts.push((number, COUNTERS as u32));
        }
        self.freeze();
    }

    fn set_context(&mut self, thread: usize, context: Context) {
        let counted = self.counted(thread);
        self.threads[thread].context = context;
        self.begin(thread, counted);
    }

    fn reset(&mut self, thread: usize, reset: Reset) {
        let own = &mut self.threads[thread];
        match reset {
            Reset::Cold => *own = Thread { holding: own.holding.take(), ..Thread::default() },
            // INIT leaves the PMU and clears IA32_DEBUGCTL (section 1.3 of the notes).
            Reset::Warm => {
                own.debug_control = 0;
                self.set_context(thread, Context::RESET);
            }
        }
    }

    fn take_interrupts(&mut self) -> Option<Vec<(usize, u32)>> {
        let mut taken = core::mem::take(&mut self.interrupts);
        taken.sort_unstable();
        let known = !core::mem::take(&mut self.doubts_interrupts) && !self.threads.iter().any(|thread| thread.doubt.everything);
        known.then_some(taken)
    }
}
