//! Pipelines: when each instruction is dispatched, issued, finished and completed, and what each cycle was lost to.
//!
//! A pipeline takes the executed instructions in one pass, without stepping through cycles: each of an instruction's times is the latest of
//! those at which something that it needs becomes free. Time passes at dispatch. A cycle is reported when an instruction is dispatched
//! after it, since nothing can change it afterwards; instructions in flight are reported before they have completed.
//! `docs/notes/pipelines.md` has the plan, and one note a part the rules.

mod account;
mod k8;
mod memory;
mod ports;
mod queue;

use super::bytes::{Damaged, Reader, Writer};
use super::instruction::{Access, AccessKind, Instruction};
use super::profile::Microarchitecture;
use super::tally::Tally;
use vm_pmu_arch::feed::Signal;

/// The accesses of one instruction that are distinguished. Those beyond lengthen the last.
const MOST: usize = 16;

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

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Touch {
    address: u64,
    /// The number of its line.
    line: u64,
    size: u8,
    kind: AccessKind,
    locked: bool,
    uncached: bool,
    /// It crosses the width of a cache access.
    misaligned: bool,
    /// Whether the first level had no line to serve it from.
    missed: bool,
    /// Whether tables were walked.
    walked: bool,
    /// What its translation takes, in cycles, beyond one from the first buffer.
    translation: u32,
    /// From issue to data, in cycles, if it missed.
    latency: u32,
}

impl Touch {
    fn new(access: &Access, line: u64) -> Touch {
        let size = access.size.max(1);
        let pieces = ((access.address & 7) + u64::from(size)).div_ceil(8);
        Touch {
            address: access.address,
            line,
            size,
            kind: access.kind,
            locked: access.locked,
            uncached: access.uncached,
            misaligned: pieces > u64::from(size).div_ceil(8),
            ..Touch::default()
        }
    }

    fn stores(&self) -> bool {
        matches!(self.kind, AccessKind::Store | AccessKind::StreamingStore | AccessKind::RegisterStackStore)
    }

    fn loads(&self) -> bool {
        matches!(self.kind, AccessKind::Load | AccessKind::RegisterStackLoad)
    }
}

/// What the companion found out about the instruction that is being executed.
#[derive(Clone, Debug)]
struct Found {
    touches: [Touch; MOST],
    count: usize,
    /// Cycles until its code is here, beyond a hit of the first level.
    fetch: u32,
    continuation: Continuation,
}

impl Found {
    const NONE: Found = Found {
        touches: [Touch {
            address: 0,
            line: 0,
            size: 0,
            kind: AccessKind::Load,
            locked: false,
            uncached: false,
            misaligned: false,
            missed: false,
            walked: false,
            translation: 0,
            latency: 0,
        }; MOST],
        count: 0,
        fetch: 0,
        continuation: Continuation::Sequential,
    };

    fn touches(&self) -> &[Touch] {
        self.touches.get(..self.count).unwrap_or(&[])
    }
}

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    core: k8::Core,
    found: Found,
    /// The states that are demanded, one bit each.
    wanted: u64,
}

impl Pipeline {
    /// An empty pipeline.
    pub(super) fn new(model: Microarchitecture) -> Pipeline {
        match model {
            Microarchitecture::K8 => Pipeline { core: k8::Core::new(), found: Found::NONE, wanted: 0 },
        }
    }

    /// Whether this pipeline supplies `signal`.
    pub(super) fn supplies(model: Microarchitecture, signal: Signal) -> bool {
        match model {
            Microarchitecture::K8 => signal == Signal::Cycles || k8::STATES.contains(&signal) || k8::EVENTS.contains(&signal),
        }
    }

    /// Sets the demanded signals and whether the pipeline keeps time. Cycles that have not been reported are dropped. While time stands
    /// still, so does the pipeline: what is in flight goes on afterwards.
    pub(super) fn sync(&mut self, runs: bool, wants: impl Fn(Signal) -> bool) {
        self.wanted = k8::STATES.iter().enumerate().fold(0, |wanted, (number, state)| wanted | u64::from(wants(*state)) << number);
        self.core.account.clear();
        if !runs {
            self.core.account.last = None;
        }
    }

    /// The code of the instruction is here `cycles` later.
    pub(super) fn fetched(&mut self, cycles: u32) {
        self.found.fetch = self.found.fetch.saturating_add(cycles);
    }

    /// The instruction makes an access, to the line with this number.
    pub(super) fn access(&mut self, access: &Access, line: u64) {
        if let Some(place) = self.found.touches.get_mut(self.found.count) {
            *place = Touch::new(access, line);
            self.found.count += 1;
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
    pub(super) fn missed(&mut self, latency: u32) {
        if let Some(touch) = self.found.touches.get_mut(self.found.count.wrapping_sub(1)) {
            touch.missed = true;
            touch.latency = touch.latency.max(latency);
        }
    }

    /// Where execution goes on. A restart gives way to a far transfer alone.
    pub(super) fn continues(&mut self, continuation: Continuation) {
        if self.found.continuation != Continuation::Restarted || continuation == Continuation::Far {
            self.found.continuation = continuation;
        }
    }

    /// The instruction has been executed.
    pub(super) fn execute(&mut self, instruction: &Instruction<'_>, tally: &mut Tally) {
        self.core.execute(instruction, &self.found, tally);
        self.found.count = 0;
        self.found.fetch = 0;
        self.found.continuation = Continuation::Sequential;
    }

    /// How many cycles have not been reported.
    pub(super) fn unreported(&self) -> u64 {
        self.core.account.passed()
    }

    /// Removes cycles in which the same states hold: how many, and these states, for [`states`](Pipeline::states).
    pub(super) fn next(&mut self) -> Option<(u64, u64)> {
        self.core.account.next(self.wanted)
    }

    /// The signals of `states`.
    pub(super) fn states(states: u64) -> impl Iterator<Item = Signal> {
        k8::STATES.iter().enumerate().filter(move |(number, _)| states >> number & 1 == 1).map(|(_, state)| *state)
    }

    /// Whether `state` held in the last cycle, if one has passed.
    pub(super) fn holds(&self, state: Signal) -> Option<bool> {
        let states = self.core.account.last?;
        Some(Pipeline::states(states).any(|held| held == state))
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        self.core.save(writer);
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.core.load(reader)?;
        self.found = Found::NONE;
        Ok(())
    }
}

/// Reads a cycle: not much later than `now`.
fn time(reader: &mut Reader<'_>, now: u64) -> Result<u64, Damaged> {
    Some(reader.word()?).filter(|time| *time <= now.saturating_add(1 << 40)).ok_or(Damaged)
}
