//! Pipelines: the cycles in which each instruction is dispatched, issued, finished and completed, and the cause of each lost cycle.
//!
//! A pipeline takes the executed instructions in one pass, without stepping through cycles. Each time of an instruction is the latest of
//! the times at which the resources it needs become free. Time passes at dispatch. A cycle is reported when an instruction is dispatched
//! after it, since nothing can change it afterwards; instructions in flight are reported before they have completed.
//! `docs/notes/pipelines.md` has the plan, and one note for each part has the rules.

#[macro_use]
mod dispatch;

mod bus;
mod code;
pub(crate) mod cores;
#[cfg(any(feature = "itanium", feature = "montecito"))]
mod ia64;
#[cfg(feature = "itanium")]
mod itanium;
#[cfg(feature = "k8")]
mod k8;
#[cfg(feature = "knl")]
mod knl;
#[cfg(feature = "montecito")]
mod montecito;
mod part;
#[cfg(feature = "power9")]
mod power9;
mod resources;
mod sharing;
mod short;
mod touch;

use alloc::boxed::Box;

use crate::bus_traffic::BusTraffic;
use crate::bytes::{Damaged, Reader, Writer};
use crate::instruction::{Access, Instruction};
use crate::outcome::Outcome;
use crate::profile::Microarchitecture;
use crate::tally::Tally;
use dispatch::PartPipeline;
use part::{Demanded, Part};
use resources::account;
use sharing::Turn;
pub(super) use sharing::{Sharing, THREADS};
#[cfg(test)]
pub(super) use short::takes_the_long_way;
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

/// The place at which execution continues after an instruction.
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
struct Findings {
    touches: [Touch; MOST],
    count: usize,
    /// Cycles until its code arrives, beyond a hit of the first level: for translations, for the walks among them, and for lines.
    translation: u32,
    walk: u32,
    line: u32,
    /// Source of its code, if the first level did not have it.
    code: Option<Source>,
    /// Bus traffic for its code, and for the instruction itself apart from its accesses.
    fetched: BusTraffic,
    carried: BusTraffic,
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

impl Findings {
    const NONE: Findings = Findings {
        touches: [Touch::NONE; MOST],
        count: 0,
        translation: 0,
        walk: 0,
        line: 0,
        code: None,
        fetched: BusTraffic::NONE,
        carried: BusTraffic::NONE,
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
        (self.fetched, self.carried) = (BusTraffic::NONE, BusTraffic::NONE);
        self.prefetched = 0;
        self.castouts = (0, 0);
        self.written_back = 0;
        self.snooped = (0, 0);
        self.injected = 0;
        self.continuation = Continuation::Sequential;
    }

    /// Prepares for the next instruction after one for which nothing but an access was found.
    #[inline]
    fn clear_short(&mut self) {
        (self.count, self.continuation) = (0, Continuation::Sequential);
    }

    fn prefetches(&self) -> &[Prefetch] {
        self.prefetches.get(..self.prefetched).unwrap_or(&[])
    }
}

impl Microarchitecture {
    /// Whether the part has local APICs.
    #[inline]
    pub(crate) fn is_x86(self) -> bool {
        of_model!(self, Of => Of::IS_X86)
    }

    /// Whether the part is of IA-64.
    #[inline]
    pub(crate) fn is_ia64(self) -> bool {
        of_model!(self, Of => Of::IS_IA64)
    }

    /// Whether one answer of a package to a snoop is made of those of its cores, and counted.
    pub(crate) fn joins_answers(self) -> bool {
        of_model!(self, Of => Of::JOINS_ANSWERS)
    }
}

/// Returns the maximum number of cycles that a thread may lag behind others of its core, if they compete.
fn lag(model: Microarchitecture) -> Option<u64> {
    of_model!(model, Of => Of::LAG)
}

/// Whether the threads of a core compete in this pipeline.
pub(super) fn competes(model: Microarchitecture) -> bool {
    lag(model).is_some()
}

/// Consecutive cycles in which the same holds: the overlapping states, one bit each, and the signals of the one reason of each cycle if the
/// part has reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CycleStates {
    states: u64,
    of: &'static [Signal],
    reason: &'static [Signal],
}

impl CycleStates {
    /// Returns states without a reason.
    #[inline]
    fn of(states: u64, of: &'static [Signal]) -> CycleStates {
        CycleStates { states, of, reason: &[] }
    }

    /// Whether nothing holds.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.states == 0 && self.reason.is_empty()
    }

    /// Returns the signals that hold.
    #[inline]
    pub(super) fn signals(self) -> impl Iterator<Item = Signal> {
        let states = account::bits(self.states).filter_map(move |number| self.of.get(number));
        states.chain(self.reason).copied()
    }
}

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    of_part: PartPipeline,
    /// Cycles of the core minus cycles of the thread.
    offset: u64,
    found: Findings,
    /// The signals of its states, in order.
    states: &'static [Signal],
    /// Demanded states, one bit each.
    wanted: u64,
}

/// Makes a value in a box. It is not inlined, so that a caller that makes several values does not hold all of them in its stack frame.
#[inline(never)]
pub(super) fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::new(make())
}

impl Pipeline {
    /// Returns an empty pipeline.
    pub(super) fn new(model: Microarchitecture) -> Pipeline {
        let states = of_model!(model, Of => Of::STATES);
        Pipeline { of_part: PartPipeline::new(model), offset: 0, found: Findings::NONE, states, wanted: 0 }
    }

    /// Whether this pipeline supplies `signal`.
    pub(super) fn supplies(model: Microarchitecture, signal: Signal) -> bool {
        let (states, events, more) = of_model!(model, Of => (Of::STATES, Of::EVENTS, <Of as Part>::supplies(signal)));
        signal == Signal::Cycles || states.contains(&signal) || events.contains(&signal) || more
    }

    /// Sets the demanded signals (`wants`), whether the pipeline keeps time (`runs`), and whether `records` ask for the outcome of each
    /// instruction. Unreported cycles are dropped. While time stands still, so does the pipeline: instructions in flight continue
    /// afterwards.
    pub(super) fn sync(&mut self, runs: bool, records: bool, wants: impl Fn(Signal) -> bool) {
        self.wanted = self.states.iter().enumerate().fold(0, |wanted, (number, state)| wanted | u64::from(wants(*state)) << number);
        let demanded = Demanded { states: self.wanted, runs, records, wants: &wants };
        each!(&mut self.of_part, part => part.sync(&demanded));
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
        each!(&self.of_part, part => part.walkers())
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
        if each!(&mut self.of_part, part => part.data_taken(line)) {
            tally.add(Signal::MemoryOrderingFlushes, 1);
        }
    }

    /// Records that another processor took the line of code that is being executed. If anything is in flight, it is executed again.
    pub(super) fn code_taken(&mut self, tally: &mut Tally) {
        if each!(&mut self.of_part, part => part.code_taken()) {
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
        let turn = Turn::new(thread, together, &mut self.offset);
        each!(&mut self.of_part, part => Part::execute(&mut **part, instruction, &self.found, turn, tally));
        self.found.clear();
    }

    /// Stores the outcome of the last executed instruction in `outcome`.
    pub(super) fn tell(&self, outcome: &mut Outcome) {
        each!(&self.of_part, part => part.tell(outcome));
    }

    /// Removes consecutive cycles in which the same holds. Returns their number and what holds.
    pub(super) fn next(&mut self) -> Option<(u64, CycleStates)> {
        each!(&mut self.of_part, part => Part::next(&mut **part, self.wanted))
    }

    /// Returns whether `state` held in the last cycle, if a cycle has passed.
    pub(super) fn holds(&self, state: Signal) -> Option<bool> {
        let last = each!(&self.of_part, part => part.last())?;
        Some(last.signals().any(|held| held == state))
    }

    /// Sets whether misses of the third level are reported in the cycles in which they are known.
    pub(super) fn watch(&mut self, watched: bool) {
        each!(&mut self.of_part, part => part.watch(watched));
    }

    /// Limits the number of cycles that are reported from now on.
    pub(super) fn report_at_most(&mut self, cycles: Option<u64>) {
        each!(&mut self.of_part, part => part.report_at_most(cycles));
    }

    /// Returns the next miss of the third level, once all cycles up to it have been reported.
    pub(super) fn third_level_miss(&mut self) -> Option<ThirdLevelMiss> {
        each!(&mut self.of_part, part => part.third_level_miss())
    }

    /// Returns the number of cycles since an instruction last completed, if the pipeline knows it.
    pub(super) fn idle(&self) -> Option<u64> {
        each!(&self.of_part, part => Part::idle(&**part))
    }

    /// Resumes the thread after `background` cycles in the background.
    pub(super) fn resume(&mut self, background: u64, tally: &mut Tally) {
        each!(&mut self.of_part, part => part.resume(background.min(LONGEST), tally));
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        each!(&self.of_part, part => part.save(writer));
        writer.word(self.offset);
        writer.word(each!(&self.of_part, part => part.saved_reason()));
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        each!(&mut self.of_part, part => part.load(reader))?;
        self.offset = Some(reader.word()?).filter(|offset| *offset <= 1 << 62).ok_or(Damaged)?;
        let reason = reader.word()?;
        each!(&mut self.of_part, part => part.load_reason(reason))?;
        self.found = Findings::NONE;
        Ok(())
    }
}
