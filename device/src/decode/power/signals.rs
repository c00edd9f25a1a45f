//! From the facts of an instruction to signals.

use vm_pmu_arch::feed::{BranchKind, Signal};

use super::work::{Barrier, Category, Floating, Touch, Work};
use super::{Facts, Instruction};
use crate::decode::branch_signal;

/// The signals of which every instruction adds one as it completes.
pub const RETIREMENT: [Signal; 4] =
    [Signal::InstructionsRetired, Signal::InstructionsDispatched, Signal::MicroOpsRetired, Signal::MicroOpsDispatched];

/// Passes to `add` what an instruction of the floating-point units adds.
pub fn floating_signals(floating: Option<Floating>, mut add: impl FnMut(Signal, u64)) {
    add(Signal::FloatingPointOperations, 1);
    let (work, single, vector) = match floating {
        Some(Floating::Math { work, single, vector }) => (work, single, vector),
        Some(Floating::Move) => return add(Signal::FloatingPointMoves, 1),
        None => return,
    };
    add(if single { Signal::FloatingPointSingleOps } else { Signal::FloatingPointDoubleOps }, 1);
    if vector {
        add(Signal::VectorOps, 1);
    }
    let kind = match (vector, single, work) {
        (false, _, Work::One) => Signal::FloatingPointScalarOps,
        (false, _, Work::Fused) => Signal::FloatingPointScalarFusedOps,
        (false, _, Work::Divide) => Signal::FloatingPointScalarDivides,
        (true, false, Work::One) => Signal::FloatingPointVectorDoubleOps,
        (true, false, Work::Fused) => Signal::FloatingPointVectorDoubleFusedOps,
        (true, false, Work::Divide) => Signal::FloatingPointVectorDoubleDivides,
        (true, true, Work::One) => Signal::FloatingPointVectorSingleOps,
        (true, true, Work::Fused) => Signal::FloatingPointVectorSingleFusedOps,
        (true, true, Work::Divide) => Signal::FloatingPointVectorSingleDivides,
    };
    add(kind, 1);
}

/// The signal of a barrier.
#[must_use]
pub const fn barrier_signal(barrier: Barrier) -> Signal {
    match barrier {
        Barrier::Heavyweight => Signal::BarriersFull,
        Barrier::Lightweight | Barrier::Eieio => Signal::BarriersLight,
        Barrier::PageTable => Signal::BarriersTranslation,
        Barrier::Instruction => Signal::ContextSynchronizations,
    }
}

/// The signal of a named cache block or translation. A stream begins or not by its address.
#[must_use]
pub const fn touch_signal(touch: Touch) -> Option<Signal> {
    match touch {
        Touch::Load => Some(Signal::PrefetchesForLoad),
        Touch::Store => Some(Signal::PrefetchesForStore),
        Touch::Flush => Some(Signal::CacheLineFlushes),
        Touch::Translation | Touch::LocalTranslation => Some(Signal::TranslationInvalidations),
        Touch::Stream | Touch::Execute | Touch::InstructionBlock | Touch::Segment => None,
    }
}

pub(super) fn add(instruction: &Instruction, mut add: impl FnMut(Signal, u64)) {
    let facts = &instruction.facts;
    RETIREMENT.into_iter().for_each(|signal| add(signal, 1));
    let marked = [
        (facts.marks.probe, Signal::ProbeInstructions),
        (facts.marks.long_latency, Signal::LongLatencyInstructions),
        (facts.aborts, Signal::TransactionAbortInstructions),
    ];
    marked.into_iter().filter(|(is, _)| *is).for_each(|(_, signal)| add(signal, 1));
    match facts.category {
        Category::Branch => branch(instruction, &mut add),
        Category::Fixed => add(Signal::IntegerOps, 1),
        Category::Floating => floating_signals(facts.floating, &mut add),
        Category::Vector => add(Signal::VectorOps, 1),
        Category::Load | Category::Store => memory(facts, &mut add),
        _ => {
            facts.barrier.map(barrier_signal).into_iter().for_each(|signal| add(signal, 1));
            facts.touch.and_then(touch_signal).into_iter().for_each(|signal| add(signal, 1));
        }
    }
}

fn branch(instruction: &Instruction, add: &mut impl FnMut(Signal, u64)) {
    let Some(branch) = instruction.description.branch else { return };
    add(Signal::BranchesRetired, 1);
    if let Some(signal) = branch_signal(branch.kind) {
        add(signal, 1);
    }
    if branch.kind != BranchKind::Conditional {
        add(Signal::BranchesTaken, 1);
    }
    if instruction.facts.backward {
        add(Signal::BranchesBackward, 1);
    }
}

/// A `stcx.` that fails stores nothing, which its word does not say.
fn memory(facts: &Facts, add: &mut impl FnMut(Signal, u64)) {
    let loads = facts.category == Category::Load;
    if facts.reserves {
        add(if loads { Signal::LoadReserves } else { Signal::StoreConditionals }, 1);
    }
    if loads || !facts.reserves {
        add(if loads { Signal::Loads } else { Signal::Stores }, 1);
    }
    if facts.vector {
        add(if loads { Signal::VectorLoads } else { Signal::VectorStores }, 1);
    }
}
