//! Pipelines: the cycles in which each instruction is dispatched, issued, finished and completed, and the cause of each lost cycle.
//!
//! A pipeline takes the executed instructions in one pass, without stepping through cycles. Each time of an instruction is the latest of
//! the times at which the resources it needs become free. Time passes at dispatch. A cycle is reported when an instruction is dispatched
//! after it, since nothing can change it afterwards; instructions in flight are reported before they have completed.
//! `docs/notes/pipelines.md` has the plan, and one note for each part has the rules.

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

/// Maximum number of accesses that are tracked for one instruction. Further accesses lengthen the last one.
const MOST: usize = 16;

/// The longest time in the background that is distinguished from a longer one.
const LONGEST: u64 = 1 << 32;

/// A miss of the third-level cache, reported in the cycle in which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThirdLevelMiss {
    /// Cycles until the data arrive.
    pub returns: u64,
}

/// Where execution continues after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Continuation {
    /// In sequence.
    #[default]
    Sequential,
    /// At a correctly predicted target.
    Taken,
    /// At a target that the decoder found, after this many cycles.
    Resteered(u16),
    /// On another path than the predicted one.
    Mispredicted,
    /// Behind the instruction: the pipeline restarts there once the instruction has completed.
    Restarted,
    /// At the target of a far transfer, or in a handler.
    Far,
}

/// Maximum number of prefetches that are tracked for one instruction.
const PREFETCHES: usize = 4;

/// A line that the data prefetcher requested.
#[derive(Clone, Copy, Debug)]
struct Prefetch {
    line: u64,
    /// Cycles until the line arrives.
    latency: u32,
    source: Source,
}

/// Everything the companion found out about the instruction that is being executed.
#[derive(Clone, Debug)]
struct Found {
    touches: [Touch; MOST],
    count: usize,
    /// Cycles until its code arrives, beyond a hit of the first level: for translations, for the walks among them, and for lines.
    translation: u32,
    walk: u32,
    line: u32,
    /// Source of its code, if the first level did not have it.
    code: Option<Source>,
    /// Bus traffic for its code, and for the instruction itself apart from its accesses.
    fetched: Carried,
    carried: Carried,
    /// The line of code that is looked up, if it differs from the previous one, and whether a stream of prefetches begins behind it.
    code_line: Option<u64>,
    begins_stream: bool,
    /// Lines that the data prefetcher requested from memory and other caches during the instruction.
    prefetches: [Prefetch; PREFETCHES],
    prefetched: usize,
    /// Number of lines that left the second level and the third level during the instruction.
    castouts: (u32, u32),
    /// Number of modified lines among those that left the second level.
    written_back: u32,
    /// Number of lines that snoops of others have since found in the second level and in the third.
    snooped: (u32, u32),
    /// Number of lines that devices have since put into the third level.
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

    /// Returns the cycles until its code arrives, beyond a hit of the first level.
    #[inline]
    fn delay(&self) -> u64 {
        u64::from(self.translation) + u64::from(self.line)
    }

    /// Prepares for the next instruction.
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

        /// The core of one part, in only as much memory as that part needs.
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

        /// Returns the signals of a part's states and those of its events.
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
    /// Returns the account of states, if the part keeps one.
    fn account_mut(&mut self) -> Option<&mut States> {
        match self {
            Core::K8(core) => Some(&mut core.account),
            Core::Knl(core) => Some(&mut core.account),
            Core::Power9(_) | Core::Montecito(_) | Core::Itanium(_) => None,
        }
    }

    /// Returns the track, if the part moves in steps.
    fn track_mut(&mut self) -> Option<&mut Track> {
        match self {
            Core::Montecito(core) => Some(&mut core.track),
            Core::Itanium(core) => Some(&mut core.track),
            Core::K8(_) | Core::Knl(_) | Core::Power9(_) => None,
        }
    }

    /// Returns the states of the last cycle that was reported.
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

/// Consecutive cycles in which the same states hold: the overlapping states, one bit each, and the one reason of each cycle if the part has
/// reasons.
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

    /// Returns the signals that hold.
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
    /// Cycles of the core minus cycles of the thread.
    offset: u64,
    found: Found,
    /// The signals of its states, in order.
    states: &'static [Signal],
    /// Demanded states, one bit each.
    wanted: u64,
    /// Whether any reason of a cycle is demanded.
    reasons_wanted: bool,
    /// The reason of the last cycle that was reported.
    last_reason: Option<u8>,
}

/// Makes a value in a box. It is not inlined, so that a caller that makes several values does not hold all of them in its stack frame.
#[inline(never)]
pub(super) fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

impl Pipeline {
    /// Returns an empty pipeline.
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

    /// Sets the demanded signals (`wants`), whether the pipeline keeps time (`runs`), and whether records ask for the outcome of each
    /// instruction (`told`). Unreported cycles are dropped. While time stands still, so does the pipeline: instructions in flight continue
    /// afterwards.
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

    /// Delays the code of the instruction: by `translation` cycles for a translation, and by `line` cycles for a line, which comes from
    /// beyond the first level if `source` is given.
    pub(super) fn fetched(&mut self, translation: u32, walked: bool, line: u32, source: Option<Source>) {
        let found = &mut self.found;
        found.translation = found.translation.saturating_add(translation);
        found.walk = found.walk.saturating_add(if walked { translation } else { 0 });
        found.line = found.line.saturating_add(line);
        found.code = source.or(found.code);
    }

    /// Adds an access of the instruction, to the line with number `line`.
    pub(super) fn access(&mut self, access: &Access, line: u64) {
        if let Some(place) = self.found.touches.get_mut(self.found.count) {
            *place = Touch::new(access, line);
            self.found.count += 1;
        }
    }

    /// Returns the number of accesses that the instruction has made so far.
    pub(super) fn accesses(&self) -> u8 {
        self.found.count as u8
    }

    /// Returns which table walker served the walks of the last instruction. Bit 0 is for its code and bit n for its access n; a set bit
    /// means the second walker.
    pub(super) fn walkers(&self) -> u32 {
        match &self.core {
            Core::Power9(core) => core.second_walker,
            _ => 0,
        }
    }

    /// Adds `cycles` to the translation of the current access.
    pub(super) fn translated(&mut self, cycles: u32, walked: bool) {
        if let Some(touch) = self.found.touches.get_mut(self.found.count.wrapping_sub(1)) {
            touch.translation = touch.translation.saturating_add(cycles);
            touch.walked |= walked;
        }
    }

    /// Records that the data of the current access, or the permission to write them, come from beyond the first level after `latency`
    /// cycles.
    pub(super) fn missed(&mut self, latency: u32, source: Source) {
        if let Some(touch) = self.found.touches.get_mut(self.found.count.wrapping_sub(1)) {
            if !touch.missed || latency > touch.latency {
                touch.source = source;
            }
            touch.missed = true;
            touch.latency = touch.latency.max(latency);
        }
    }

    /// Records that the data prefetcher requested `line`, which no cache of the core has and which arrives after `latency` cycles.
    pub(super) fn prefetched(&mut self, line: u64, latency: u32, source: Source) {
        if let Some(place) = self.found.prefetches.get_mut(self.found.prefetched) {
            *place = Prefetch { line, latency, source };
            self.found.prefetched += 1;
        }
    }

    /// Records how many lines left the second level because of the instruction, how many of those were modified, and how many left the
    /// third level.
    pub(super) fn cast_out(&mut self, second: u32, modified: u32, third: u32) {
        self.found.castouts = (second, third);
        self.found.written_back = modified;
    }

    /// Records how many lines snoops of other clusters have found in the second level and in the third.
    pub(super) fn snooped(&mut self, second: u32, third: u32) {
        self.found.snooped = (self.found.snooped.0.saturating_add(second), self.found.snooped.1.saturating_add(third));
    }

    /// Records that devices have put `lines` lines into the third level.
    pub(super) fn injected(&mut self, lines: u32) {
        self.found.injected = self.found.injected.saturating_add(lines);
    }

    /// Records that another core took `line` to write it. If a load of the line is ahead of its turn, execution restarts from that load.
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

    /// Records that another processor took the line of code that is being executed. If anything is in flight, it is executed again.
    pub(super) fn code_taken(&mut self, tally: &mut Tally) {
        if let Core::K8(core) = &mut self.core
            && core.code_taken()
        {
            tally.add(Signal::InstructionStreamRestarts, 1);
        }
    }

    /// Sets where execution continues. Only a far transfer overrides a restart.
    pub(super) fn continues(&mut self, continuation: Continuation) {
        if self.found.continuation != Continuation::Restarted || continuation == Continuation::Far {
            self.found.continuation = continuation;
        }
    }

    /// Executes the instruction on thread `thread` of a core. If other threads of the core run, `together` has their shared state and the
    /// running threads, one bit each.
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

    /// Stores the outcome of the last executed instruction in `outcome`.
    pub(super) fn tell(&self, outcome: &mut Outcome) {
        if let Core::Power9(core) = &self.core {
            core.tell(outcome);
        }
    }

    /// Removes consecutive cycles in which the same states hold. Returns their number and the states.
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

    /// Returns whether `state` held in the last cycle, if a cycle has passed.
    pub(super) fn holds(&self, state: Signal) -> Option<bool> {
        let states = self.core.last()?;
        Some(Held { states, reason: self.last_reason, of: self.states }.signals().any(|held| held == state))
    }

    /// Sets whether misses of the third level are reported in the cycles in which they are known.
    pub(super) fn watch(&mut self, watched: bool) {
        if let Core::Montecito(core) = &mut self.core {
            core.watch(watched);
        }
    }

    /// Limits the number of cycles that are reported from now on.
    pub(super) fn report_at_most(&mut self, cycles: Option<u64>) {
        if let Core::Montecito(core) = &mut self.core {
            core.report_at_most(cycles);
        }
    }

    /// Returns the next miss of the third level, once all cycles up to it have been reported.
    pub(super) fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        let Core::Montecito(core) = &mut self.core else { return None };
        core.third_level_miss()
    }

    /// Returns the number of cycles since an instruction last completed, if the pipeline knows it.
    pub(super) fn idle(&self) -> Option<u64> {
        let Core::Montecito(core) = &self.core else { return None };
        Some(core.idle())
    }

    /// Resumes the thread after `background` cycles in the background.
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
