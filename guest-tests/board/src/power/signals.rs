//! From a step of the POWER interpreter to signals.

use vm_pmu::arch::feed::{Pace, Signal, SignalSet};
use vm_pmu::cpu::Counts;
use vm_pmu::decode::branch_signal;
use vm_pmu::decode::power::{RETIREMENT, barrier_signal, floating_signals, touch_signal};

use vm_pmu_engines::power::{Category, Conditional, Conflict, Failure, Step, Taken, Touch, Transaction};

/// Whether the interpreter knows `signal`; what it does not know stays at zero.
#[must_use]
pub fn supplies(signal: Signal) -> bool {
    SUPPLIED.contains(&signal)
}

/// The pace that the engine and Unicorn promise: a step is a cycle, of most signals it adds one at most, and no block has an interrupt or
/// an exception in it. How fast the time base goes is the machine's.
#[must_use]
pub fn pace() -> Pace {
    let single = SUPPLIED.iter().copied().filter(|signal| !super::TICKING.contains(signal) && !AMOUNTS.contains(signal));
    let between = SignalSet::from_iter([Signal::InterruptsTaken, Signal::ExceptionsTaken]);
    Pace::default().single(single.collect::<SignalSet>()).between_blocks(between)
}

const SUPPLIED: &[Signal] = &[
    Signal::Cycles,
    Signal::TimeBaseTicks,
    Signal::InstructionsRetired,
    Signal::InstructionsDispatched,
    Signal::MicroOpsRetired,
    Signal::MicroOpsDispatched,
    Signal::RetirementCycles,
    Signal::InterruptsTaken,
    Signal::ExceptionsTaken,
    Signal::BranchesRetired,
    Signal::BranchesTaken,
    Signal::BranchesBackward,
    Signal::ConditionalBranchesTaken,
    Signal::ConditionalBranchesNotTaken,
    Signal::DirectJumps,
    Signal::IndirectJumps,
    Signal::DirectCalls,
    Signal::IndirectCalls,
    Signal::NearReturns,
    Signal::Loads,
    Signal::Stores,
    Signal::PrefetchesForLoad,
    Signal::PrefetchesForStore,
    Signal::CacheLineFlushes,
    Signal::LoadReserves,
    Signal::StoreConditionals,
    Signal::StoreConditionalsFailed,
    Signal::StoreConditionalsSucceeded,
    Signal::IntegerOps,
    Signal::FloatingPointOperations,
    Signal::FloatingPointScalarOps,
    Signal::FloatingPointScalarFusedOps,
    Signal::FloatingPointScalarDivides,
    Signal::FloatingPointSingleOps,
    Signal::FloatingPointDoubleOps,
    Signal::FloatingPointVectorDoubleOps,
    Signal::FloatingPointVectorDoubleFusedOps,
    Signal::FloatingPointVectorSingleOps,
    Signal::FloatingPointVectorSingleFusedOps,
    Signal::FloatingPointVectorDoubleDivides,
    Signal::FloatingPointVectorSingleDivides,
    Signal::FloatingPointMoves,
    Signal::VectorOps,
    Signal::VectorLoads,
    Signal::VectorStores,
    Signal::BarriersFull,
    Signal::BarriersLight,
    Signal::BarriersTranslation,
    Signal::ContextSynchronizations,
    Signal::TranslationInvalidations,
    Signal::TranslationInvalidationsReceived,
    Signal::UtilizationTicks,
    Signal::ScaledUtilizationTicks,
    Signal::ProbeInstructions,
    Signal::MatchedInstructions,
    Signal::LongLatencyInstructions,
    Signal::TransactionsBegun,
    Signal::TransactionsCommitted,
    Signal::TransactionsAborted,
    Signal::TransactionsAbortedCapacity,
    Signal::TransactionAbortInstructions,
    Signal::NestedTransactionBegins,
    Signal::NestedTransactionEnds,
    Signal::TransactionsSuspended,
    Signal::TransactionsResumed,
    Signal::TransactionsAbortedNonTransactional,
    Signal::TransactionsAbortedTransactional,
    Signal::TransactionsAbortedSelf,
    Signal::TransactionsAbortedTranslation,
    Signal::TransactionsDisallowedSlice0,
    Signal::TransactionsDisallowedSlice1,
    Signal::TransactionsDisallowedSlice2,
    Signal::TransactionsDisallowedSlice3,
    Signal::LoadsAbortingTransactions,
    Signal::StoresAbortingTransactions,
    Signal::TransactionalStoresAbortingOthers,
    Signal::TransactionalLoadsInConflict,
    Signal::TransactionalStoresInConflict,
    Signal::TransactionInstructionsPassed,
    Signal::TransactionCyclesPassed,
    Signal::FusedDisplacements,
    Signal::FusedConstants,
    Signal::SoftwareStreamsBegun,
];

/// What a commit adds any number of.
const AMOUNTS: [Signal; 2] = [Signal::TransactionInstructionsPassed, Signal::TransactionCyclesPassed];

/// The signal of an interrupt that is taken: asynchronous ones, and those that an instruction brings.
pub(super) fn interruption(taken: Taken) -> Signal {
    match taken {
        Taken::Interrupt(0x500 | 0x900 | 0x980 | 0xA00 | 0xE60 | 0xE80 | 0xEA0 | 0xF00) => Signal::InterruptsTaken,
        _ => Signal::ExceptionsTaken,
    }
}

/// Adds what `step` did, except cycles and ticks. `matches` is whether the match array matches it.
pub(super) fn add(step: &Step, matches: bool, sink: &Counts<'_>) {
    for signal in RETIREMENT.into_iter().chain([Signal::RetirementCycles]) {
        sink.add(signal, 1);
    }
    sink.add(Signal::MatchedInstructions, u64::from(matches));
    sink.add(Signal::ProbeInstructions, u64::from(step.marks.probe));
    sink.add(Signal::LongLatencyInstructions, u64::from(step.marks.long_latency));
    if let Some(what) = step.transaction {
        transaction(what, step, sink);
    }
    if let Some(conflict) = step.conflict {
        sink.add(conflicting(conflict, step.access.is_some_and(|access| access.store)), 1);
    }
    sink.add(Signal::TransactionAbortInstructions, u64::from(step.aborts));
    match step.category {
        Category::Branch => branch(step, sink),
        Category::Fixed => sink.add(Signal::IntegerOps, 1),
        Category::Floating => floating_signals(step.floating, |signal, amount| {
            sink.add(signal, amount);
        }),
        Category::Load | Category::Store => memory(step, sink),
        _ => others(step, sink),
    }
}

/// Whatever the instruction is: a store may be the one that undoes its transaction.
fn transaction(what: Transaction, step: &Step, sink: &Counts<'_>) {
    match what {
        Transaction::Begin => sink.add(Signal::TransactionsBegun, 1),
        Transaction::Commit => {
            let (instructions, cycles) = step.passed.unwrap_or_default();
            sink.add(Signal::TransactionsCommitted, 1);
            sink.add(Signal::TransactionInstructionsPassed, instructions);
            sink.add(Signal::TransactionCyclesPassed, cycles);
        }
        Transaction::Abort => {
            sink.add(Signal::TransactionsAborted, 1);
            if let Some(why) = step.failure {
                sink.add(failed(why, step), 1);
            }
        }
        Transaction::NestedBegin => sink.add(Signal::NestedTransactionBegins, 1),
        Transaction::NestedEnd => sink.add(Signal::NestedTransactionEnds, 1),
        Transaction::Suspend => sink.add(Signal::TransactionsSuspended, 1),
        Transaction::Resume => sink.add(Signal::TransactionsResumed, 1),
        Transaction::Other => {}
    }
}

fn failed(why: Failure, step: &Step) -> Signal {
    const DISALLOWED: [Signal; 4] = [
        Signal::TransactionsDisallowedSlice0,
        Signal::TransactionsDisallowedSlice1,
        Signal::TransactionsDisallowedSlice2,
        Signal::TransactionsDisallowedSlice3,
    ];
    match why {
        Failure::Footprint => Signal::TransactionsAbortedCapacity,
        Failure::SelfInduced => Signal::TransactionsAbortedSelf,
        Failure::NonTransactional => Signal::TransactionsAbortedNonTransactional,
        Failure::Transactional => Signal::TransactionsAbortedTransactional,
        Failure::Translation => Signal::TransactionsAbortedTranslation,
        // The slice of an address is that of its doubleword.
        Failure::Disallowed => {
            let doubleword = step.touched.map_or(0, |touched| touched.address >> 3);
            DISALLOWED.get(doubleword as usize % DISALLOWED.len()).copied().unwrap_or(Signal::TransactionsDisallowedSlice0)
        }
    }
}

fn conflicting(conflict: Conflict, stores: bool) -> Signal {
    match (conflict, stores) {
        (Conflict::CausedOutside, false) => Signal::LoadsAbortingTransactions,
        (Conflict::CausedOutside, true) => Signal::StoresAbortingTransactions,
        // A load within a transaction fails itself.
        (Conflict::CausedInside, _) => Signal::TransactionalStoresAbortingOthers,
        (Conflict::Met, false) => Signal::TransactionalLoadsInConflict,
        (Conflict::Met, true) => Signal::TransactionalStoresInConflict,
    }
}

/// What a branch adds by being one.
pub(super) fn branch(step: &Step, sink: &Counts<'_>) {
    let Some(branch) = step.branch else { return };
    let signal = match branch_signal(branch.form.kind()) {
        Some(signal) => signal,
        None if branch.taken => Signal::ConditionalBranchesTaken,
        None => Signal::ConditionalBranchesNotTaken,
    };
    sink.add(signal, 1);
    sink.add(Signal::BranchesRetired, 1);
    sink.add(Signal::BranchesTaken, u64::from(branch.taken));
    sink.add(Signal::BranchesBackward, u64::from(branch.target < step.address));
}

fn memory(step: &Step, sink: &Counts<'_>) {
    // A stcx. that failed stored nothing.
    let stored = step.conditional != Some(Conditional::Failed);
    sink.add(if step.category == Category::Load { Signal::Loads } else { Signal::Stores }, u64::from(stored));
    sink.add(if step.category == Category::Load { Signal::VectorLoads } else { Signal::VectorStores }, u64::from(step.vector));
    match step.conditional {
        Some(outcome) => {
            sink.add(Signal::StoreConditionals, 1);
            let signal = match outcome {
                Conditional::Failed => Signal::StoreConditionalsFailed,
                Conditional::Stored => Signal::StoreConditionalsSucceeded,
            };
            sink.add(signal, 1);
        }
        None if step.access.is_some_and(|access| access.reserve) => sink.add(Signal::LoadReserves, 1),
        None => {}
    }
}

fn others(step: &Step, sink: &Counts<'_>) {
    if let Some(barrier) = step.barrier {
        sink.add(barrier_signal(barrier), 1);
    }
    match step.touched.map(|touched| touched.why) {
        Some(Touch::Stream) => sink.add(Signal::SoftwareStreamsBegun, u64::from(begins_streams(step))),
        Some(why) => touch_signal(why).into_iter().for_each(|signal| sink.add(signal, 1)),
        None => {}
    }
    // dcbz is a store.
    if step.access.is_some_and(|access| access.store) {
        sink.add(Signal::Stores, 1);
    }
}

/// `dcbt` with TH=01010 and GO, bit 32 of the address: the described streams begin.
fn begins_streams(step: &Step) -> bool {
    let goes = step.touched.is_some_and(|touched| touched.address >> (63 - 32) & 1 == 1);
    step.encoding >> 21 & 0x1F == 0b01010 && goes
}
