//! Pipelines: when each instruction is dispatched, issued, finished and completed, and what each cycle was lost to.
//!
//! A pipeline takes the executed instructions in one pass, without stepping through cycles: each of an instruction's times is the latest of
//! those at which something that it needs becomes free. Time passes at dispatch. A cycle is reported when an instruction is dispatched
//! after it, since nothing can change it afterwards; instructions in flight are reported before they have completed.
//! `docs/notes/pipelines.md` has the plan, and one note a part the rules.

mod account;
mod k8;
mod knl;
mod memory;
mod ports;
mod queue;
mod redirect;
mod registers;
mod sequence;

use super::bytes::{Damaged, Reader, Writer};
use super::instruction::{Access, AccessKind, Instruction};
use super::profile::Microarchitecture;
use super::tally::Tally;
use account::States;
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

    /// Whether it reaches into a second line of 64 bytes.
    fn splits(&self) -> bool {
        self.address % 64 + u64::from(self.size) > 64
    }
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
        translation: 0,
        walk: 0,
        line: 0,
        continuation: Continuation::Sequential,
    };

    fn touches(&self) -> &[Touch] {
        self.touches.get(..self.count).unwrap_or(&[])
    }

    /// The next instruction begins.
    fn clear(&mut self) {
        self.count = 0;
        (self.translation, self.walk, self.line) = (0, 0, 0);
        self.continuation = Continuation::Sequential;
    }
}

/// The core of one part.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is part of one box a thread, and is never moved")]
enum Core {
    K8(k8::Core),
    Knl(knl::Core),
}

impl Core {
    fn account(&self) -> &States {
        match self {
            Core::K8(core) => &core.account,
            Core::Knl(core) => &core.account,
        }
    }

    fn account_mut(&mut self) -> &mut States {
        match self {
            Core::K8(core) => &mut core.account,
            Core::Knl(core) => &mut core.account,
        }
    }
}

/// The signals of the states of a part, and those of its events.
fn signals(model: Microarchitecture) -> (&'static [Signal], &'static [Signal]) {
    match model {
        Microarchitecture::K8 => (&k8::STATES, &k8::EVENTS),
        Microarchitecture::Knl => (&knl::STATES, &knl::EVENTS),
    }
}

/// The pipeline of a thread.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    core: Core,
    found: Found,
    /// The signals of its states, in their order.
    states: &'static [Signal],
    /// The states that are demanded, one bit each.
    wanted: u64,
}

impl Pipeline {
    /// An empty pipeline.
    pub(super) fn new(model: Microarchitecture) -> Pipeline {
        let core = match model {
            Microarchitecture::K8 => Core::K8(k8::Core::new()),
            Microarchitecture::Knl => Core::Knl(knl::Core::new()),
        };
        Pipeline { core, found: Found::NONE, states: signals(model).0, wanted: 0 }
    }

    /// Whether this pipeline supplies `signal`.
    pub(super) fn supplies(model: Microarchitecture, signal: Signal) -> bool {
        let (states, events) = signals(model);
        signal == Signal::Cycles || states.contains(&signal) || events.contains(&signal)
    }

    /// Sets the demanded signals and whether the pipeline keeps time. Cycles that have not been reported are dropped. While time stands
    /// still, so does the pipeline: what is in flight goes on afterwards.
    pub(super) fn sync(&mut self, runs: bool, wants: impl Fn(Signal) -> bool) {
        self.wanted = self.states.iter().enumerate().fold(0, |wanted, (number, state)| wanted | u64::from(wants(*state)) << number);
        let account = self.core.account_mut();
        account.clear();
        if !runs {
            account.last = None;
        }
    }

    /// The code of the instruction is here later: by so many cycles for a translation, and by so many for a line.
    pub(super) fn fetched(&mut self, translation: u32, walked: bool, line: u32) {
        let found = &mut self.found;
        found.translation = found.translation.saturating_add(translation);
        found.walk = found.walk.saturating_add(if walked { translation } else { 0 });
        found.line = found.line.saturating_add(line);
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
        match &mut self.core {
            Core::K8(core) => core.execute(instruction, &self.found, tally),
            Core::Knl(core) => core.execute(instruction, &self.found, tally),
        }
        self.found.clear();
    }

    /// How many cycles have not been reported.
    pub(super) fn unreported(&self) -> u64 {
        self.core.account().passed()
    }

    /// Removes cycles in which the same states hold: how many, and these states, for [`states`](Pipeline::states).
    pub(super) fn next(&mut self) -> Option<(u64, u64)> {
        self.core.account_mut().next(self.wanted)
    }

    /// The signals of `states`.
    pub(super) fn states(&self, states: u64) -> impl Iterator<Item = Signal> + use<> {
        self.states.iter().enumerate().filter(move |(number, _)| states >> number & 1 == 1).map(|(_, state)| *state)
    }

    /// Whether `state` held in the last cycle, if one has passed.
    pub(super) fn holds(&self, state: Signal) -> Option<bool> {
        let states = self.core.account().last?;
        Some(self.states(states).any(|held| held == state))
    }

    pub(super) fn save(&self, writer: &mut Writer) {
        match &self.core {
            Core::K8(core) => core.save(writer),
            Core::Knl(core) => core.save(writer),
        }
    }

    pub(super) fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        match &mut self.core {
            Core::K8(core) => core.load(reader)?,
            Core::Knl(core) => core.load(reader)?,
        }
        self.found = Found::NONE;
        Ok(())
    }
}

/// Reads a number of at most `limit`.
fn small(reader: &mut Reader<'_>, limit: usize) -> Result<u8, Damaged> {
    u8::try_from(reader.word()?).ok().filter(|value| usize::from(*value) <= limit).ok_or(Damaged)
}

/// Reads a cycle: not much later than `now`.
fn time(reader: &mut Reader<'_>, now: u64) -> Result<u64, Damaged> {
    Some(reader.word()?).filter(|time| *time <= now.saturating_add(1 << 40)).ok_or(Damaged)
}
