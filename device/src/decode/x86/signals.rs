//! From the facts of an instruction to signals.

use vm_pmu_arch::feed::{BranchKind, Signal};

use super::Instruction;
use super::facts::{Facts, Prefetch, SimdClass};
use super::micro_ops::is_microcode;
use crate::companion::AccessKind;
use crate::decode::branch_signal;

/// In the order of the bits of [`Facts::segments`].
const SEGMENTS: [Signal; 6] = [
    Signal::SegmentLoadsEs,
    Signal::SegmentLoadsCs,
    Signal::SegmentLoadsSs,
    Signal::SegmentLoadsDs,
    Signal::SegmentLoadsFs,
    Signal::SegmentLoadsGs,
];

impl Facts {
    /// Passes to `add` what an instruction of these facts adds to signals by its class: CPUID, flushes, locked instructions, prefetches, and those of the
    /// floating-point and vector units.
    pub fn signals(&self, mut add: impl FnMut(Signal, u64)) {
        let prefetch = self.prefetch.map(|prefetch| match prefetch {
            Prefetch::Nta => Signal::PrefetchesNonTemporal,
            Prefetch::Write => Signal::PrefetchesForStore,
            Prefetch::T0 | Prefetch::T1 | Prefetch::T2 | Prefetch::Load => Signal::PrefetchesForLoad,
        });
        let operation = self.simd.filter(|_| !self.vector_load).and_then(|simd| match simd {
            SimdClass::PackedSse => Some(Signal::PackedVectorOpsRetired),
            SimdClass::ScalarSse => Some(Signal::ScalarVectorOpsRetired),
            SimdClass::X87 | SimdClass::Mmx => None,
        });
        let simd = self.simd.map(|simd| match simd {
            SimdClass::X87 => Signal::X87Instructions,
            SimdClass::Mmx => Signal::MmxInstructions,
            SimdClass::PackedSse => Signal::PackedSseInstructions,
            SimdClass::ScalarSse => Signal::ScalarSseInstructions,
        });
        let flags = [
            self.cpuid.then_some(Signal::CpuidInstructions),
            self.clflush.then_some(Signal::CacheLineFlushes),
            self.locked.then_some(Signal::LockedInstructions),
        ];
        flags.into_iter().chain([prefetch, operation, simd]).flatten().for_each(|signal| add(signal, 1));
    }
}

pub(super) fn add(instruction: &Instruction, mut add: impl FnMut(Signal, u64)) {
    let Instruction { description, facts } = instruction;
    let micro_ops = u64::from(description.micro_ops);
    add(Signal::InstructionsRetired, 1);
    add(Signal::MicroOpsRetired, micro_ops);
    if is_microcode(description.micro_ops) {
        add(Signal::MicrocodedOpsRetired, micro_ops);
    }
    if let Some(branch) = description.branch {
        // A far transfer is none of the branches.
        if branch.kind != BranchKind::Far {
            add(Signal::BranchesRetired, 1);
            if branch.kind != BranchKind::Conditional {
                add(Signal::BranchesTaken, 1);
            }
        }
        branch_signal(branch.kind).into_iter().for_each(|signal| add(signal, 1));
    }
    let makes = |wanted: &[AccessKind]| !description.repeats && description.accesses().iter().any(|access| wanted.contains(&access.kind));
    if makes(&[AccessKind::Load]) {
        add(Signal::Loads, 1);
    }
    if makes(&[AccessKind::Store, AccessKind::StreamingStore]) {
        add(Signal::Stores, 1);
    }
    let named = SEGMENTS.iter().enumerate().filter(|(bit, _)| facts.segments >> bit & 1 != 0);
    named.for_each(|(_, signal)| add(*signal, 1));
    facts.signals(add);
}
