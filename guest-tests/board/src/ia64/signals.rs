//! From a step of the IA-64 interpreter to signals.

use vm_pmu::arch::feed::Signal;
use vm_pmu::arch::ia64::register_stack_event;
use vm_pmu::companion::Bundle;
use vm_pmu::cpu::Counts;

use vm_pmu_engines::ia64::{Access, AccessKind, Check, Class, Deferral, Gate, Step, Switch, SwitchCause, Unit};

/// Whether the interpreter knows `signal`; what it does not know stays at zero.
#[must_use]
pub fn supplies(signal: Signal) -> bool {
    SUPPLIED.contains(&signal)
}

const SUPPLIED: &[Signal] = &[
    Signal::Cycles,
    Signal::HaltedCycles,
    Signal::InstructionsRetired,
    Signal::NopsRetired,
    Signal::PredicatedOffRetired,
    Signal::RetirementCycles,
    Signal::InherentExecutionCycles,
    Signal::InterruptsTaken,
    Signal::ExceptionsTaken,
    Signal::BranchesRetired,
    Signal::BranchesTaken,
    Signal::BranchBundlesTakenSlot0,
    Signal::BranchBundlesTakenSlot1,
    Signal::BranchBundlesTakenSlot2,
    Signal::BranchBundlesNotTaken,
    Signal::MultiwayBundlesTaken,
    Signal::MultiwayBundlesNotTaken,
    Signal::Loads,
    Signal::LoadsInteger,
    Signal::Stores,
    Signal::MemoryReferences,
    Signal::RegisterStackLoads,
    Signal::RegisterStackStores,
    Signal::MisalignedLoads,
    Signal::MisalignedStores,
    Signal::UncacheableLoads,
    Signal::UncacheableStores,
    Signal::DeferredLoads,
    Signal::DeferredLoadsTranslationMiss,
    Signal::DeferredLoadsNat,
    Signal::DeferredLoadsExceptionDeferral,
    Signal::AdvancedLoadReplacementsInteger,
    Signal::AdvancedLoadReplacementsFloatingPoint,
    Signal::FloatingPointTinyResults,
    Signal::FloatingPointFlushesToZero,
    Signal::FloatingPointUnsafePassing,
    Signal::FloatingPointUnsafeTrapping,
    Signal::FloatingPointFlagChecksFailed,
    Signal::AdvancedChecksInteger,
    Signal::AdvancedChecksFloatingPoint,
    Signal::AdvancedChecksFailedInteger,
    Signal::AdvancedChecksFailedFloatingPoint,
    Signal::SpeculationChecksFailedInteger,
    Signal::SpeculationChecksFailedFloatingPoint,
    Signal::FloatingPointOperations,
    Signal::FloatingPointOperationsLow,
    Signal::FloatingPointOperationsHigh,
    Signal::AdvancedLoadReplacementsInteger,
    Signal::AdvancedLoadReplacementsFloatingPoint,
    Signal::SerializationsRetired,
    Signal::RegisterStackEvents,
    Signal::RegisterStackFrameLow,
    Signal::RegisterStackFrameMiddle,
    Signal::RegisterStackFrameHigh,
    Signal::RegisterStackDirtyLow,
    Signal::RegisterStackDirtyMiddle,
    Signal::RegisterStackDirtyHigh,
    Signal::ThreadSwitchesThirdLevelMiss,
    Signal::ThreadSwitchesTimer,
    Signal::ThreadSwitchesHint,
    Signal::ThreadSwitchesLowPower,
    Signal::ThreadSwitchesGatedLowPower,
    Signal::ThreadSwitchesGatedPipeline,
    Signal::ThreadSwitchesGatedProgress,
    Signal::ThreadSwitchGatedCycles,
    Signal::ThreadSwitchOverheadCycles,
    Signal::ThreadSwitchRegisterCycles,
    Signal::ThreadSwitchStalledCycles,
    Signal::ThreadSwitchesAfter4,
    Signal::ThreadSwitchesAfter8,
    Signal::ThreadSwitchesAfter16,
    Signal::ThreadSwitchesAfter32,
    Signal::ThreadSwitchesAfter64,
    Signal::ThreadSwitchesAfter128,
];

/// What the interpreter adds although a companion would. A companion takes an access as misaligned when it leaves its eight bytes, the
/// interpreter when it is not at a multiple of its size; and check loads that need not load are not reported to a companion.
pub(super) const KNOWN_BETTER: [Signal; 3] = [Signal::MisalignedLoads, Signal::MisalignedStores, Signal::MemoryReferences];

/// The signal of a thread that leaves the foreground. Data that returns to the other thread is the other end of a miss.
pub(super) fn switched(cause: SwitchCause) -> Signal {
    match cause {
        SwitchCause::L3Miss | SwitchCause::L3Return => Signal::ThreadSwitchesThirdLevelMiss,
        SwitchCause::TimeOut => Signal::ThreadSwitchesTimer,
        SwitchCause::Hint => Signal::ThreadSwitchesHint,
        SwitchCause::LowPower => Signal::ThreadSwitchesLowPower,
    }
}

/// The signal of what held up a change of threads.
pub(super) fn gated(gate: Gate) -> Signal {
    match gate {
        Gate::LowPower => Signal::ThreadSwitchesGatedLowPower,
        Gate::Pipeline => Signal::ThreadSwitchesGatedPipeline,
        Gate::Progress => Signal::ThreadSwitchesGatedProgress,
    }
}

/// The changes that were decided so many cycles or more after the thread completed an instruction, from 4 cycles on, twice as many each.
const AFTER: [Signal; 6] = [
    Signal::ThreadSwitchesAfter4,
    Signal::ThreadSwitchesAfter8,
    Signal::ThreadSwitchesAfter16,
    Signal::ThreadSwitchesAfter32,
    Signal::ThreadSwitchesAfter64,
    Signal::ThreadSwitchesAfter128,
];

/// Adds that a thread leaves the foreground.
pub(super) fn left(switch: &Switch, sink: &Counts<'_>) {
    sink.add(switched(switch.cause), 1);
    for (number, signal) in AFTER.into_iter().enumerate() {
        sink.add(signal, u64::from(switch.idle >= 4 << number));
    }
    sink.add(Signal::ThreadSwitchGatedCycles, switch.held);
    sink.add(Signal::ThreadSwitchOverheadCycles, switch.held);
    sink.add(Signal::ThreadSwitchRegisterCycles, switch.moving);
    sink.add(Signal::ThreadSwitchStalledCycles, switch.moving);
}

/// Adds what `step` did, except cycles and accesses of the register stack engine.
pub(super) fn add(step: &Step, sink: &Counts<'_>) {
    sink.add(Signal::InstructionsRetired, 1);
    sink.add(Signal::NopsRetired, u64::from(step.nop && step.predicate));
    sink.add(Signal::RetirementCycles, u64::from(step.first));
    // A bundle a cycle, which nothing holds back.
    sink.add(Signal::InherentExecutionCycles, u64::from(step.first));
    // Of branches predication decides whether they are taken.
    sink.add(Signal::PredicatedOffRetired, u64::from(!step.predicate && step.unit != Unit::B));
    if let Some(branch) = step.branch {
        sink.add(Signal::BranchesRetired, 1);
        sink.add(Signal::BranchesTaken, u64::from(branch.taken));
        bundle(step, branch.taken, sink);
    }
    if step.returned {
        sink.add(Signal::BranchesRetired, 1);
        sink.add(Signal::BranchesTaken, 1);
    }
    let operations = u64::from(step.floating_operations);
    sink.add(Signal::FloatingPointOperations, operations);
    // A bundle has one F slot.
    sink.add(Signal::FloatingPointOperationsLow, operations & 3);
    sink.add(Signal::FloatingPointOperationsHigh, operations >> 2);
    sink.add(Signal::SerializationsRetired, u64::from(step.serialize_instruction));
    if let Some(deferral) = step.deferred {
        deferred(step, deferral, sink);
    }
    if let Some(floating) = step.crowded {
        let [integer, float] = [Signal::AdvancedLoadReplacementsInteger, Signal::AdvancedLoadReplacementsFloatingPoint];
        sink.add(if floating { float } else { integer }, 1);
    }
    let waited = if step.float_trap == 0 { Signal::FloatingPointUnsafePassing } else { Signal::FloatingPointUnsafeTrapping };
    sink.add(waited, u64::from(step.unsafe_operand));
    sink.add(Signal::FloatingPointTinyResults, u64::from(step.tiny));
    sink.add(Signal::FloatingPointFlushesToZero, u64::from(step.flushed_to_zero));
    if let Some(access) = &step.access {
        memory(access, sink);
    }
    if let Some(check) = step.check {
        checked(check, sink);
    }
    if let Some(level) = step.stack_level.filter(|_| step.predicate || step.class == Class::RegisterStack) {
        register_stack_event(level.current, level.dirty).into_iter().for_each(|(signal, amount)| sink.add(signal, amount));
    }
}

/// Adds a speculative load that was deferred. Reasons are told of integer loads alone.
fn deferred(step: &Step, deferral: Deferral, sink: &Counts<'_>) {
    sink.add(Signal::DeferredLoads, 1);
    let integer = matches!(step.encoding >> 37, 4 | 5);
    match deferral {
        Deferral::Nat => sink.add(Signal::DeferredLoadsNat, u64::from(integer)),
        Deferral::Asked => sink.add(Signal::DeferredLoadsExceptionDeferral, u64::from(integer)),
        Deferral::Miss => sink.add(Signal::DeferredLoadsTranslationMiss, u64::from(integer)),
        Deferral::Fault => {}
    }
}

/// Adds the bundle of a branch, once it is known which of its branches leaves it.
fn bundle(step: &Step, taken: bool, sink: &Counts<'_>) {
    let branches = Bundle { words: step.bundle, ..Bundle::default() }.branches();
    if !taken && branches >> (step.slot + 1) != 0 {
        return;
    }
    let several = branches.count_ones() > 1;
    let (signal, multiway) = match (taken, step.slot) {
        (false, _) => (Signal::BranchBundlesNotTaken, Signal::MultiwayBundlesNotTaken),
        (true, 0) => (Signal::BranchBundlesTakenSlot0, Signal::MultiwayBundlesTaken),
        (true, 1) => (Signal::BranchBundlesTakenSlot1, Signal::MultiwayBundlesTaken),
        (true, _) => (Signal::BranchBundlesTakenSlot2, Signal::MultiwayBundlesTaken),
    };
    sink.add(signal, 1);
    sink.add(multiway, u64::from(several));
}

/// Adds an access, of the instruction or of the register stack engine.
pub(super) fn memory(access: &Access, sink: &Counts<'_>) {
    let (reads, writes) = match access.kind {
        AccessKind::Load | AccessKind::RegisterStackLoad => (true, false),
        AccessKind::Store | AccessKind::RegisterStackStore => (false, true),
        AccessKind::Semaphore => (true, true),
        AccessKind::Prefetch => (false, false),
        // What the table of advanced loads has is no access, but it went into the pipeline of memory.
        AccessKind::CheckHit => return sink.add(Signal::MemoryReferences, 1),
    };
    sink.add(Signal::MemoryReferences, 1);
    let stack = matches!(access.kind, AccessKind::RegisterStackLoad | AccessKind::RegisterStackStore);
    if reads {
        sink.add(if stack { Signal::RegisterStackLoads } else { Signal::Loads }, 1);
        sink.add(Signal::LoadsInteger, u64::from(!stack && !access.floating));
        sink.add(Signal::MisalignedLoads, u64::from(access.misaligned));
        sink.add(Signal::UncacheableLoads, u64::from(access.uncacheable));
    }
    if writes {
        sink.add(if stack { Signal::RegisterStackStores } else { Signal::Stores }, 1);
        sink.add(Signal::MisalignedStores, u64::from(access.misaligned));
        sink.add(Signal::UncacheableStores, u64::from(access.uncacheable));
    }
}

fn checked(check: Check, sink: &Counts<'_>) {
    if check.flags {
        return sink.add(Signal::FloatingPointFlagChecksFailed, u64::from(check.failed));
    }
    let signal = match (check.advanced, check.failed, check.floating) {
        (true, true, false) => Signal::AdvancedChecksFailedInteger,
        (true, true, true) => Signal::AdvancedChecksFailedFloatingPoint,
        (false, true, false) => Signal::SpeculationChecksFailedInteger,
        (false, true, true) => Signal::SpeculationChecksFailedFloatingPoint,
        (_, false, _) => Signal::Cycles,
    };
    if check.failed {
        sink.add(signal, 1);
    }
    if check.advanced {
        sink.add(if check.floating { Signal::AdvancedChecksFloatingPoint } else { Signal::AdvancedChecksInteger }, 1);
    }
}
