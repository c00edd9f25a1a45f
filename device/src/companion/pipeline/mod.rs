//! Pipelines: when each instruction is dispatched, issued, finished and completed, and what each cycle was lost to.
//!
//! A pipeline takes the executed instructions in one pass, without stepping through cycles: each of an instruction's times is the latest of
//! those at which something that it needs becomes free. Time passes at dispatch. A cycle is reported when an instruction is dispatched
//! after it, since nothing can change it afterwards; instructions in flight are reported before they have completed.
//! `docs/notes/pipelines.md` has the plan, and one note a part the rules.

mod absent;
mod account;
mod ahead;
mod bus;
mod code;
mod ia64;
mod itanium;
mod k8;
mod knl;
mod memory;
mod montecito;
mod ports;
mod power9;
mod queue;
mod reasons;
mod redirect;
mod registers;
mod saving;
mod sequence;
mod sharing;
mod short;
mod steps;
mod touch;

use alloc::boxed::Box;

use super::bus::Carried;
use super::bytes::{Damaged, Reader, Writer};
use super::instruction::{Access, Instruction};
use super::outcome::Outcome;
use super::profile::Microarchitecture;
use super::tally::Tally;
use account::States;
use saving::{small, time};
use sharing::Threads;
pub(super) use sharing::{Sharing, THREADS};
#[cfg(test)]
pub(super) use short::takes_the_long_way;
use steps::Track;
pub(super) use touch::Source;
use touch::Touch;
use vm_pmu_arch::feed::Signal;

/// The accesses of one instruction that are distinguished. Those beyond lengthen the last.
const MOST: usize = 16;

/// The longest time in the background that is told apart from a longer one.
const LONGEST: u64 = 1 << 32;

/// A miss of the third-level cache, at the cycle at which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThirdLevelMiss {
    /// Cycles until its data come.
    pub returns: u64,
}

/// Where execution goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Continuation {
    /// In sequence.
    #[default]
    Sequential,
    /// At a target that was predicted.
    Taken,
    /// At a target that the decoder found, so many cycles later.
    Resteered(u16),
    /// On another path than the predicted one.
    Mispredicted,
    /// The pipeline starts again behind the instruction, once it has completed.
    Restarted,
    /// At the target of a far transfer, or in a handler.
    Far,
}

/// The prefetches of one instruction that are distinguished.
const PREFETCHES: usize = 4;

/// A line that the prefetcher of data asked for.
#[derive(Clone, Copy, Debug)]
struct Prefetch {
    line: u64,
    /// Cycles until it is here.
    latency: u32,
    source: Source,
}

/// What the companion found out about the instruction that is being executed.
#[derive(Clone, Debug)]
struct Found {
    touches: [Touch; MOST],
    count: usize,
    /// Cycles until its code is here, beyond a hit of the first level: for translations, those of walks among them, and for lines.
    translation: u32,
    walk: u32,
    line: u32,
    /// Where its code comes from, if the first level did not have it.
    code: Option<Source>,
    /// What the bus carries for its code, and for it apart from its accesses.
    fetched: Carried,
    carried: Carried,
    /// The line of code that is looked up, if it is another one than before, and whether a stream of prefetches begins behind it.
    code_line: Option<u64>,
    begins_stream: bool,
    /// What the prefetcher of data asked memory and other caches for meanwhile.
    prefetches: [Prefetch; PREFETCHES],
    prefetched: usize,
    /// How many lines left the second level meanwhile, and how many the third.
    castouts: (u32, u32),
    /// How many of those of the second level were modified.
    written_back: u32,
    /// How many lines snoops of others found in the second level since, and how many in the third.
    snooped: (u32, u32),
    /// How many lines devices have put into the third level since.
    injected: u32,
    continuation: Continuation,
}

impl Found {
    const NONE: Found = Found {
        touches: [Touch::NONE; MOST],
        count: 0,
        translation: 0,
        walk: 0,
        line: 0,
        code: None,
        fetched: Carried::NONE,
        carried: Carried::NONE,
        code_line: None,
        begins_stream: false,
        prefetches: [Prefetch { line: 0, latency: 0, source: Source::Memory }; PREFETCHES],
        prefetched: 0,
        castouts: (0, 0),
        written_back: 0,
        snooped: (0, 0),
        injected: 0,
        continuation: Continuation::Sequential,
    };

    fn touches(&self) -> &[Touch] {
        self.touches.get(..self.count).unwrap_or(&[])
    }

    /// Cycles until its code is here, beyond a hit of the first level.
    #[inline]
    fn delay(&self) -> u64 {
        u64::from(self.translation) + u64::from(self.line)
    }

    /// The next instruction begins.
    fn clear(&mut self) {
        self.count = 0;
        (self.translation, self.walk, self.line) = (0, 0, 0);
        (self.code, self.code_line, self.begins_stream) = (None, None, false);
        (self.fetched, self.carried) = (Carried::NONE, Carried::NONE);
        self.prefetched = 0;
        self.castouts = (0, 0);
        self.written_back = 0;
        self.snooped = (0, 0);
        self.injected = 0;
        self.continuation = Continuation::Sequential;
    }

    fn prefetches(&self) -> &[Prefetch] {
        self.prefetches.get(..self.prefetched).unwrap_or(&[])
    }
}

macro_rules! cores {
    ($( $feature:literal: $variant:ident = $module:ident; )+) => {
        $(
            #[cfg(feature = $feature)]
            type $variant = Box<$module::Core>;
            #[cfg(not(feature = $feature))]
            type $variant = absent::Absent<$module::Core>;
        )+

        /// The core of one part, in as much memory as it needs.
        #[derive(Clone, Debug)]
        enum Core {
            $( $variant($variant), )+
        }

        impl Core {
            fn new(model: Microarchitecture) -> Core {
                match model {
                    $( #[cfg(feature = $feature)] Microarchitecture::$variant => Core::$variant(boxed($module::Core::new)), )+
                }
            }
        }

        /// The signals of the states of a part, and those of its events.
        fn signals(model: Microarchitecture) -> (&'static [Signal], &'static [Signal]) {
            match model {
                $( #[cfg(feature = $feature)] Microarchitecture::$variant => (&$module::STATES, &$module::EVENTS), )+
            }
        }
    };
}

cores! {
    "k8": K8 = k8;
    "knl": Knl = knl;
    "power9": Power9 = power9;
    "montecito": Montecito = montecito;
    "itanium": Itanium = itanium;
}

impl Core {
    /// The account of a part that keeps one of states.
    fn account_mut(&mut self) -> Option<&mut States> {
        match self {
            Core::K8(core) => Some(&mut core.account),
            Core::Knl(core) => Some(&mut core.account),
            Core::Power9(_) | Core::Montecito(_) | Core::Itanium(_) => None,
        }
    }

    /// The track of a part that moves in steps.
    fn track_mut(&mut self) -> Option<&mut Track> {
        match self {
            Core::Montecito(core) => Some(&mut core.track),
            Core::Itanium(core) => Some(&mut core.track),
            Core::K8(_) | Core::Knl(_) | Core::Power9(_) => None,
        }
    }

    /// The states of the last cycle that was reported.
    fn last(&self) -> Option<u64> {
        match self {
            Core::K8(core) => core.account.last,
            Core::Knl(core) => core.account.last,
            Core::Power9(core) => core.account.last,
            Core::Montecito(core) => core.track.last,
            Core::Itanium(core) => core.track.last,
        }
    }
}

/// Whether the threads of a core compete in this pipeline.
pub(super) fn competes(model: Microarchitecture) -> bool {
    model.is_knl() || model.is_power9()
}

/// Cycles in which the same holds: what overlaps, one bit for each state, and the one reason of each cycle, where the part has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    states: u64,
    reason: Option<u8>,
    of: &'static [Signal],
}

impl Held {
    /// Whether nothing holds.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.states == 0 && self.reason.is_none()
    }

    /// The signals that hold.
    #[inline]
    pub(super) fn signals(self) -> impl Iterator<Item = Signal> {
        let reason = self.reason.map_or(&[] as &[Signal], power9::signals_of);
        let states = account::bits(self.states).filter_map(move |number| self.of.get(number));
        states.chain(reason).copied()
    }
}

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    core: Core,
    /// What the core's cycles have more than the thread's own.
    offset: u64,
    found: Found,
    /// The signals of its states, in their order.
    states: &'static [Signal],
    /// The states that are demanded, one bit each.
    wanted: u64,
    /// Whether any reason of a cycle is demanded.
    reasons_wanted: bool,
    /// The reason of the last cycle that was reported.
    last_reason: Option<u8>,
}

/// Makes a value in a box. It is not inlined, so that the stack frame of a caller that makes several does not hold them all.
#[inline(never)]
pub(super) fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

impl Pipeline {
    /// An empty pipeline.
    pub(super) fn new(model: Microarchitecture) -> Pipeline {
        Pipeline {
            core: Core::new(model),
            offset: 0,
            found: Found::NONE,
            states: signals(model).0,
            wanted: 0,
            reasons_wanted: false,
            last_reason: None,
        }
    }

    /// Whether this pipeline supplies `signal`.
    pub(super) fn supplies(model: Microarchitecture, signal: Signal) -> bool {
        let (states, events) = signals(model);
        let more = model.is_power9() && power9::has_reason_of(signal)
            || model.is_montecito() && (montecito::QUEUE.contains(&signal) || ia64::bus::supplies(signal))
            || model.is_itanium() && itanium::bus::supplies(signal);
        signal == Signal::Cycles || states.contains(&signal) || events.contains(&signal) || more
    }

    /// Sets the demanded signals, whether the pipeline keeps time, and whether records ask what became of each instruction. Cycles that have not been reported are dropped. While time stands
    /// still, so does the pipeline: what is in flight goes on afterwards.
    pub(super) fn sync(&mut self, runs: bool, told: bool, wants: impl Fn(Signal) -> bool) {
        self.wanted = self.states.iter().enumerate().fold(0, |wanted, (number, state)| wanted | u64::from(wants(*state)) << number);
        self.reasons_wanted = matches!(self.core, Core::Power9(_)) && power9::reason_signals().any(&wants);
        if let Core::Power9(core) = &mut self.core {
            let passed = core.account.passed();
            core.reasons.take(passed);
            core.account.clear();
            core.account.last = core.account.last.filter(|_| runs);
            core.watches = power9::is_watched(self.wanted);
            core.predicts = power9::WAY_PREDICTION_MISSES.iter().any(|signal| wants(*signal));
            core.told = told;
            core.quiet = core.is_quiet();
        }
        match &mut self.core {
            Core::Montecito(core) => {
                core.sync_bus(&wants);
                core.observe(montecito::QUEUE.iter().chain(&montecito::QUEUE_STATES).any(|signal| wants(*signal)));
            }
            Core::Itanium(core) => core.sync_bus(&wants),
            Core::K8(_) | Core::Knl(_) | Core::Power9(_) => {}
        }
        if let Some(track) = self.core.track_mut() {
            track.clear();
            track.last = track.last.filter(|_| runs);
        }
        if let Some(account) = self.core.account_mut() {
            account.clear();
            account.last = account.last.filter(|_| runs);
        }
        self.last_reason = self.last_reason.filter(|_| runs);
    }

    /// The code of the instruction is here later: by so many cycles for a translation, and by so many for a line, from beyond the first
    /// level if a source is named.
    pub(super) fn fetched(&mut self, translation: u32, walked: bool, line: u32, source: Option<Source>) {
        let found = &mut self.found;
        found.translation = found.translation.saturating_add(translation);
        found.walk = found.walk.saturating_add(if walked { translation } else { 0 });
        found.line = found.line.saturating_add(line);
        found.code = source.or(found.code);
    }

    /// The instruction makes an access, to the line with this number.
    pub(super) fn access(&mut self, access: &Access, line: u64) {
        if let Some(place) = self.found.touches.get_mut(self.found.count) {
            *place = Touch::new(access, line);
            self.found.count += 1;
        }
    }

    /// How many accesses the instruction has made so far.
    pub(super) fn accesses(&self) -> u8 {
        self.found.count as u8
    }

    /// Which table walker had the walks of the last instruction: bit 0 is that for its code, bit n that for its access n, set for the second
    /// walker.
    pub(super) fn walkers(&self) -> u32 {
        match &self.core {
            Core::Power9(core) => core.second_walker,
            _ => 0,
        }
    }

    /// The translation of the present access takes `cycles`.
    pub(super) fn translated(&mut self, cycles: u32, walked: bool) {
        if let Some(touch) = self.found.touches.get_mut(self.found.count.wrapping_sub(1)) {
            touch.translation = touch.translation.saturating_add(cycles);
            touch.walked |= walked;
        }
    }

    /// The data of the present access, or the permission to write them, come from beyond the first level after `latency` cycles.
    pub(super) fn missed(&mut self, latency: u32, source: Source) {
        if let Some(touch) = self.found.touches.get_mut(self.found.count.wrapping_sub(1)) {
            if !touch.missed || latency > touch.latency {
                touch.source = source;
            }
            touch.missed = true;
            touch.latency = touch.latency.max(latency);
        }
    }

    /// The prefetcher of data asked for `line`, which no cache of the core has, and which is here after `latency` cycles.
    pub(super) fn prefetched(&mut self, line: u64, latency: u32, source: Source) {
        if let Some(place) = self.found.prefetches.get_mut(self.found.prefetched) {
            *place = Prefetch { line, latency, source };
            self.found.prefetched += 1;
        }
    }

    /// So many lines left the second level because of the instruction, so many of them modified, and so many the third.
    pub(super) fn cast_out(&mut self, second: u32, modified: u32, third: u32) {
        self.found.castouts = (second, third);
        self.found.written_back = modified;
    }

    /// Snoops of other clusters have found so many lines in the second level, and in the third.
    pub(super) fn snooped(&mut self, second: u32, third: u32) {
        self.found.snooped = (self.found.snooped.0.saturating_add(second), self.found.snooped.1.saturating_add(third));
    }

    /// Devices have put so many lines into the third level.
    pub(super) fn injected(&mut self, lines: u32) {
        self.found.injected = self.found.injected.saturating_add(lines);
    }

    /// Another core took `line` to write it. If a load of it is ahead of its turn, what follows from that load on is executed anew.
    pub(super) fn data_taken(&mut self, line: u64, tally: &mut Tally) {
        let restarts = match &mut self.core {
            Core::K8(core) => core.data_taken(line),
            Core::Knl(core) => core.data_taken(line),
            _ => false,
        };
        if restarts {
            tally.add(Signal::MemoryOrderingFlushes, 1);
        }
    }

    /// Another processor took the line of code that is being executed. If anything is in flight, it is executed anew.
    pub(super) fn code_taken(&mut self, tally: &mut Tally) {
        if let Core::K8(core) = &mut self.core
            && core.code_taken()
        {
            tally.add(Signal::InstructionStreamRestarts, 1);
        }
    }

    /// Where execution goes on. A restart gives way to a far transfer alone.
    pub(super) fn continues(&mut self, continuation: Continuation) {
        if self.found.continuation != Continuation::Restarted || continuation == Continuation::Far {
            self.found.continuation = continuation;
        }
    }

    /// The instruction has been executed, by thread `thread` of a core. If others of it run, `together` has what they share, and the
    /// threads that run, one bit each.
    #[inline(never)]
    pub(super) fn execute(
        &mut self,
        instruction: &Instruction<'_>,
        thread: usize,
        together: Option<(&mut Sharing, u32)>,
        tally: &mut Tally,
    ) {
        match &mut self.core {
            Core::K8(core) => core.execute(instruction, &self.found, tally),
            Core::Knl(core) => {
                let mut threads = match together {
                    Some((sharing, running)) => Threads::new(sharing, thread, running, core.now(), &mut self.offset),
                    None => Threads::ALONE,
                };
                core.execute(instruction, &self.found, &mut threads, tally);
            }
            Core::Power9(core) => {
                let mut threads = match together {
                    Some((sharing, running)) => {
                        let (missed, threads) = Threads::on_core_time(sharing, thread, running, core.now());
                        core.shift(missed);
                        threads
                    }
                    None => Threads::ALONE,
                };
                core.execute(instruction, &self.found, &mut threads, tally);
            }
            Core::Montecito(core) => core.execute(instruction, &self.found, tally),
            Core::Itanium(core) => core.execute(instruction, &self.found, tally),
        }
        self.found.clear();
    }

    /// Tells what became of the instruction that was executed last.
    pub(super) fn tell(&self, outcome: &mut Outcome) {
        if let Core::Power9(core) = &self.core {
            core.tell(outcome);
        }
    }

    /// Removes cycles in which the same holds: how many, and what.
    pub(super) fn next(&mut self) -> Option<(u64, Held)> {
        let Core::Power9(core) = &mut self.core else {
            let (cycles, states) = match &mut self.core {
                Core::Montecito(core) => core.next(self.wanted),
                Core::Itanium(core) => core.track.next(self.wanted),
                core => core.account_mut()?.next(self.wanted),
            }?;
            return Some((cycles, Held { states, reason: None, of: self.states }));
        };
        let (reason, most) = core.reasons.peek().unwrap_or((0, u64::MAX));
        let most = if self.reasons_wanted { most } else { u64::MAX };
        let (cycles, states) = core.account.next_within(self.wanted, most)?;
        core.reasons.take(cycles);
        self.last_reason = Some(reason);
        Some((cycles, Held { states, reason: self.reasons_wanted.then_some(reason), of: self.states }))
    }

    /// Whether `state` held in the last cycle, if one has passed.
    pub(super) fn holds(&self, state: Signal) -> Option<bool> {
        let states = self.core.last()?;
        Some(Held { states, reason: self.last_reason, of: self.states }.signals().any(|held| held == state))
    }

    /// Has misses of the third level told at the cycles at which they are known, or no longer.
    pub(super) fn watch(&mut self, watched: bool) {
        if let Core::Montecito(core) = &mut self.core {
            core.watch(watched);
        }
    }

    /// Reports so many cycles at most from now on.
    pub(super) fn report_at_most(&mut self, cycles: Option<u64>) {
        if let Core::Montecito(core) = &mut self.core {
            core.report_at_most(cycles);
        }
    }

    /// The next miss of the third level, once all cycles up to it have been reported.
    pub(super) fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        let Core::Montecito(core) = &mut self.core else { return None };
        core.third_level_miss()
    }

    /// Cycles since instructions completed, if the pipeline knows.
    pub(super) fn idle(&self) -> Option<u64> {
        let Core::Montecito(core) = &self.core else { return None };
        Some(core.idle())
    }

    /// The thread comes back after so many cycles in the background.
    pub(super) fn resume(&mut self, background: u64, tally: &mut Tally) {
        if let Core::Montecito(core) = &mut self.core {
            core.resume(background.min(LONGEST), tally);
        }
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        match &self.core {
            Core::K8(core) => core.save(writer),
            Core::Knl(core) => core.save(writer),
            Core::Power9(core) => core.save(writer),
            Core::Montecito(core) => core.save(writer),
            Core::Itanium(core) => core.save(writer),
        }
        writer.word(self.offset);
        writer.word(self.last_reason.map_or(0, |reason| u64::from(reason) + 1));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        match &mut self.core {
            Core::K8(core) => core.load(reader)?,
            Core::Knl(core) => core.load(reader)?,
            Core::Power9(core) => core.load(reader)?,
            Core::Montecito(core) => core.load(reader)?,
            Core::Itanium(core) => core.load(reader)?,
        }
        self.offset = Some(reader.word()?).filter(|offset| *offset <= 1 << 62).ok_or(Damaged)?;
        self.last_reason = match reader.word()? {
            0 => None,
            reason if reason <= power9::REASONS as u64 => Some((reason - 1) as u8),
            _ => return Err(Damaged),
        };
        self.found = Found::NONE;
        Ok(())
    }
}
