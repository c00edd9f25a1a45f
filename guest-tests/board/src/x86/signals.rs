//! From a step of the interpreter to signals.

use vm_pmu::arch::feed::{BranchKind, Demand, Pace, Signal, SignalSet};
use vm_pmu::cpu::Counts;
use vm_pmu::decode::branch_signal;

use vm_pmu_engines::x86::{SegmentSet, Step, StepKind};

/// Micro-operations of a taken interrupt or exception.
const DELIVERY_OPS: u64 = 8;

/// Whether the interpreter knows `signal`; what it does not know stays at zero.
#[must_use]
pub fn supplies(signal: Signal) -> bool {
    ALWAYS.contains(&signal) || GROUPS.iter().any(|(_, signals)| signals.contains(&signal))
}

/// The pace that the interpreter and Unicorn promise: a step is a cycle, of most signals it adds one at most, and no block has an interrupt
/// or an exception in it.
#[must_use]
pub fn pace() -> Pace {
    let known = GROUPS.iter().flat_map(|(_, signals)| *signals);
    let single = known.copied().filter(|signal| !SEVERAL.contains(signal)).collect::<SignalSet>();
    Pace::default().single(single).between_blocks(SignalSet::from_iter([Signal::InterruptsTaken, Signal::ExceptionsTaken]))
}

/// Those of which a step may add more than one.
const SEVERAL: &[Signal] = &[
    Signal::MicroOpsRetired,
    Signal::MicrocodedOpsRetired,
    Signal::DataCacheAccesses,
    Signal::MisalignedAccesses,
    Signal::InstructionFetches,
    Signal::LineSplitLoads,
    Signal::LineSplitStores,
    Signal::LockedLoads,
];

/// What is added in any case.
const ALWAYS: &[Signal] = &[Signal::Cycles, Signal::HaltedCycles];

/// Signals that are tested together, one bit each.
mod group {
    pub(super) const RETIREMENT: u32 = 1;
    pub(super) const MASKED: u32 = 2;
    pub(super) const BRANCHES: u32 = 4;
    pub(super) const MEMORY: u32 = 8;
    pub(super) const SEGMENTS: u32 = 16;
    pub(super) const CLASSES: u32 = 32;
    pub(super) const FETCHES: u32 = 64;
    pub(super) const BREAKPOINTS: u32 = 128;
    pub(super) const LINES: u32 = 256;
    pub(super) const CLOCKS: u32 = 512;
}

const GROUPS: &[(u32, &[Signal])] = &[
    (
        group::RETIREMENT,
        &[
            Signal::InstructionsRetired,
            Signal::MicroOpsRetired,
            Signal::MicrocodedOpsRetired,
            Signal::ExceptionsTaken,
            Signal::InterruptsTaken,
        ],
    ),
    (
        group::MASKED,
        &[
            Signal::InterruptsMaskedCycles,
            Signal::InterruptsMaskedEntries,
            Signal::InterruptsMaskedPendingCycles,
            Signal::InterruptsMaskedPendingEntries,
        ],
    ),
    (
        group::BRANCHES,
        &[
            Signal::BranchesRetired,
            Signal::BranchesTaken,
            Signal::ConditionalBranchesTaken,
            Signal::ConditionalBranchesNotTaken,
            Signal::DirectJumps,
            Signal::IndirectJumps,
            Signal::DirectCalls,
            Signal::IndirectCalls,
            Signal::NearReturns,
            Signal::FarTransfers,
        ],
    ),
    (group::MEMORY, &[Signal::Loads, Signal::Stores, Signal::DataCacheAccesses, Signal::MisalignedAccesses]),
    (group::SEGMENTS, SEGMENTS),
    (
        group::CLASSES,
        &[
            Signal::CpuidInstructions,
            Signal::CacheLineFlushes,
            Signal::LockedInstructions,
            Signal::PrefetchesForLoad,
            Signal::PrefetchesForStore,
            Signal::PrefetchesNonTemporal,
            Signal::X87Instructions,
            Signal::MmxInstructions,
            Signal::PackedSseInstructions,
            Signal::ScalarSseInstructions,
            Signal::FloatingPointIdleCycles,
            Signal::ScalarVectorOpsRetired,
            Signal::PackedVectorOpsRetired,
        ],
    ),
    (group::FETCHES, &[Signal::InstructionFetches]),
    (group::BREAKPOINTS, BREAKPOINTS),
    (group::LINES, &[Signal::LineSplitLoads, Signal::LineSplitStores, Signal::LockedLoads, Signal::SelfModifyingCodeRestarts]),
    (group::CLOCKS, &[Signal::ReferenceCycles, Signal::CoreActiveCycles, Signal::CoreActiveReferenceCycles]),
];

/// Bytes of a cache line.
const LINE: u64 = 64;

/// In the order of the bits of a [`SegmentSet`].
const SEGMENTS: &[Signal] = &[
    Signal::SegmentLoadsEs,
    Signal::SegmentLoadsCs,
    Signal::SegmentLoadsSs,
    Signal::SegmentLoadsDs,
    Signal::SegmentLoadsFs,
    Signal::SegmentLoadsGs,
];

/// By the number of the debug register.
const BREAKPOINTS: &[Signal] =
    &[Signal::BreakpointMatches0, Signal::BreakpointMatches1, Signal::BreakpointMatches2, Signal::BreakpointMatches3];

/// Turns steps into signals.
#[derive(Clone, Debug, Default)]
pub(super) struct Signals {
    /// The groups with a signal that is demanded.
    groups: u32,
    /// An interrupt was pending with RFLAGS.IF clear in the last step, and began to be in this one.
    pending: bool,
    began_pending: bool,
    /// The 16-byte piece of code that was fetched last, unless a transfer threw it away.
    piece: Option<u64>,
    /// Pieces fetched in this step.
    fetched: u64,
    /// Cycles of this step that moved the core's clock on.
    core: u64,
}

impl Signals {
    /// Reads a new demand.
    pub(super) fn update(&mut self, demand: &Demand) {
        let wanted = |(_, signals): &&(u32, &[Signal])| signals.iter().any(|signal| demand.wants(*signal));
        self.groups = GROUPS.iter().filter(wanted).fold(0, |groups, (group, _)| groups | group);
    }

    /// What lasts from step to step: whether an interrupt is pending, and the piece of code that was fetched last.
    pub(super) fn lasting(&self) -> (bool, Option<u64>) {
        (self.pending, self.piece)
    }

    /// Continues from what [`Signals::lasting`] was.
    pub(super) fn go_on(&mut self, pending: bool, piece: Option<u64>) {
        (self.pending, self.piece) = (pending, piece);
    }

    /// Keeps track of what lasts from step to step, counted or not.
    #[inline]
    pub(super) fn track(&mut self, step: &Step) {
        let pending = step.interrupts_masked && step.interrupt_pending;
        self.began_pending = pending && !self.pending;
        self.pending = pending;
        if self.groups & group::FETCHES != 0 {
            self.track_fetches(step);
        } else {
            self.piece = None;
        }
    }

    /// Whether an interrupt was pending with RFLAGS.IF clear in the last step.
    pub(super) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Some steps were not tracked, while no fetches were wanted.
    pub(super) fn jump(&mut self) {
        self.piece = None;
    }

    /// The core's clock moves on by `cycles` in this step.
    #[inline]
    pub(super) fn move_core(&mut self, cycles: u64) {
        self.core = cycles;
    }

    fn track_fetches(&mut self, step: &Step) {
        self.fetched = 0;
        if matches!(step.kind, StepKind::Interrupt { .. } | StepKind::Nmi) {
            self.piece = None;
            return;
        }
        let first = step.rip >> 4;
        let last = step.rip.wrapping_add(u64::from(step.instruction.length.max(1)) - 1) >> 4;
        self.fetched = u64::from(self.piece != Some(first)) + u64::from(first != last);
        let transferred = step.branch.is_some_and(|branch| branch.taken);
        self.piece = (!transferred).then_some(last);
    }

    /// Adds what `step` did. Cycles, and what holds in them, may be added elsewhere.
    #[inline]
    pub(super) fn add(&self, step: &Step, entered_mask: bool, sink: &Counts<'_>) {
        let cycles = if sink.is_timed() { 0 } else { u64::from(step.cycles) };
        sink.add(Signal::Cycles, cycles);
        let has = |group| self.groups & group != 0;
        if has(group::RETIREMENT) {
            retirement(step, sink);
        }
        if has(group::MASKED) {
            self.masked(step, cycles, entered_mask, sink);
        }
        if has(group::BRANCHES) {
            branches(step, sink);
        }
        if has(group::MEMORY) {
            memory(step, sink);
        }
        if has(group::SEGMENTS) {
            for (bit, signal) in SEGMENTS.iter().enumerate() {
                sink.add(*signal, u64::from(step.segment_loads.contains(SegmentSet(1 << bit))));
            }
        }
        if has(group::CLASSES) {
            classes(step, sink);
        }
        if has(group::FETCHES) {
            sink.add(Signal::InstructionFetches, self.fetched);
        }
        if has(group::LINES) {
            lines(step, sink);
        }
        if has(group::CLOCKS) {
            sink.add(Signal::ReferenceCycles, cycles);
            sink.add(Signal::CoreActiveCycles, self.core);
            sink.add(Signal::CoreActiveReferenceCycles, self.core);
        }
        if has(group::BREAKPOINTS) {
            for (number, signal) in BREAKPOINTS.iter().enumerate() {
                sink.add(*signal, u64::from(step.breakpoints >> number & 1));
            }
        }
    }

    /// The states that hold in every cycle of `step`.
    pub(super) fn states(&self, step: &Step) -> impl Iterator<Item = Signal> {
        let states = [
            Some(Signal::ReferenceCycles),
            step.interrupts_masked.then_some(Signal::InterruptsMaskedCycles),
            self.pending.then_some(Signal::InterruptsMaskedPendingCycles),
        ];
        states.into_iter().flatten()
    }

    fn masked(&self, step: &Step, cycles: u64, entered_mask: bool, sink: &Counts<'_>) {
        if step.interrupts_masked {
            sink.add(Signal::InterruptsMaskedCycles, cycles);
            sink.add(Signal::InterruptsMaskedEntries, u64::from(entered_mask));
        }
        if self.pending {
            sink.add(Signal::InterruptsMaskedPendingCycles, cycles);
            sink.add(Signal::InterruptsMaskedPendingEntries, u64::from(self.began_pending));
        }
    }
}

#[inline]
fn retirement(step: &Step, sink: &Counts<'_>) {
    let (signal, ops) = match step.kind {
        StepKind::Instruction | StepKind::SoftwareInterrupt { .. } => {
            (Some(Signal::InstructionsRetired), u64::from(step.instruction.micro_ops))
        }
        StepKind::Iteration => (None, u64::from(step.instruction.micro_ops)),
        StepKind::Interrupt { .. } | StepKind::Nmi => (Some(Signal::InterruptsTaken), DELIVERY_OPS),
        StepKind::Exception { .. } => (Some(Signal::ExceptionsTaken), DELIVERY_OPS),
    };
    if let Some(signal) = signal {
        sink.add(signal, 1);
    }
    sink.add(Signal::MicroOpsRetired, ops);
    let delivered = matches!(step.kind, StepKind::Interrupt { .. } | StepKind::Nmi | StepKind::Exception { .. });
    if delivered || step.instruction.is_microcode() {
        sink.add(Signal::MicrocodedOpsRetired, ops);
    }
}

fn branches(step: &Step, sink: &Counts<'_>) {
    // The transfer of an interrupt or exception is no instruction's.
    let Some(branch) = step.branch.filter(|_| step.retired()) else { return };
    let signal = match branch_signal(branch.kind) {
        Some(signal) => signal,
        None if branch.taken => Signal::ConditionalBranchesTaken,
        None => Signal::ConditionalBranchesNotTaken,
    };
    sink.add(signal, 1);
    if branch.kind == BranchKind::Far {
        return;
    }
    sink.add(Signal::BranchesRetired, 1);
    sink.add(Signal::BranchesTaken, u64::from(branch.taken));
}

fn memory(step: &Step, sink: &Counts<'_>) {
    if step.retired() {
        sink.add(Signal::Loads, u64::from(step.loads != 0));
        sink.add(Signal::Stores, u64::from(step.stores != 0));
    }
    sink.add(Signal::MisalignedAccesses, u64::from(step.misaligned));
    let (mut pieces, mut crossing) = (0, 0);
    for access in step.accesses() {
        let touched = ((access.address & 7) + u64::from(access.size)).div_ceil(8);
        crossing += u64::from(touched > u64::from(access.size).div_ceil(8));
        pieces += touched;
    }
    let unlisted = (u64::from(step.loads) + u64::from(step.stores)).saturating_sub(step.accesses().len() as u64);
    let unlisted_crossing = u64::from(step.misaligned).saturating_sub(crossing).min(unlisted);
    let prefetched = u64::from(step.touched.is_some() && step.instruction.facts.prefetch.is_some());
    sink.add(Signal::DataCacheAccesses, pieces + unlisted + unlisted_crossing + prefetched);
}

fn lines(step: &Step, sink: &Counts<'_>) {
    for access in step.accesses() {
        let split = access.address % LINE + u64::from(access.size) > LINE;
        sink.add(if access.is_write { Signal::LineSplitStores } else { Signal::LineSplitLoads }, u64::from(split));
        sink.add(Signal::LockedLoads, u64::from(access.locked && !access.is_write));
    }
    sink.add(Signal::SelfModifyingCodeRestarts, u64::from(step.code_written));
}

fn classes(step: &Step, sink: &Counts<'_>) {
    let facts = &step.instruction.facts;
    if !step.retired() || facts.simd.is_none() {
        sink.add(Signal::FloatingPointIdleCycles, u64::from(step.cycles));
    }
    if step.retired() {
        facts.signals(|signal, amount| {
            sink.add(signal, amount);
        });
    }
}
