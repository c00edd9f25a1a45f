//! The companion of one CPU: what the interpreter reports to it.

use vm_pmu::companion::{Access, AccessKind, Class, Instruction, Invalidation, PageTables, Transfer, Walk};

use super::Pmu;
use crate::Lines;
use vm_pmu_engines::x86::{Access as StepAccess, CpuView, Invalidation as Forgotten, Prefetch, SegmentSet, Step, StepKind};

/// Bytes of a page: what is contiguous in physical memory.
const PAGE: u64 = 4096;

/// The most accesses of a step: each of those that it lists in two parts, and what a prefetch names.
const MOST: usize = 13;

/// A CPU whose companion follows it, and how much memory is not a device's.
pub(super) struct Followed<'p, 'a> {
    pub(super) pmu: &'p mut Pmu<'a, Lines>,
    pub(super) ram: u64,
}

impl Followed<'_, '_> {
    /// Reports a step to the companion.
    pub(super) fn execute(mut self, step: &Step, cpu: &CpuView<'_>) {
        match (step.accesses(), step.touched) {
            ([], None) => self.report(step, cpu, &[]),
            ([access], None) if together(access) => {
                let streaming = step.instruction.facts.streaming;
                let access = self.kind(whole(access), access, streaming);
                self.report(step, cpu, &[access]);
            }
            _ => self.execute_several(step, cpu),
        }
    }

    fn execute_several(&mut self, step: &Step, cpu: &CpuView<'_>) {
        let mut list = [Access::default(); MOST];
        let mut count = 0;
        let streaming = step.instruction.facts.streaming;
        for access in step.accesses() {
            for part in parts(access, cpu).into_iter().flatten() {
                push(&mut list, &mut count, self.kind(part, access, streaming));
            }
        }
        if let Some(touched) = step.touched.filter(|touched| touched.physical < self.ram) {
            let kind = match step.instruction.facts.prefetch {
                Some(Prefetch::Nta) => AccessKind::PrefetchOnce,
                Some(Prefetch::Write) => AccessKind::PrefetchStore,
                Some(_) => AccessKind::PrefetchLoad,
                None => AccessKind::Flush,
            };
            push(
                &mut list,
                &mut count,
                Access { address: touched.address, physical: touched.physical, size: 1, kind, ..Access::default() },
            );
        }
        self.report(step, cpu, list.get(..count).unwrap_or(&[]));
    }

    fn kind(&self, part: Access, access: &StepAccess, streaming: bool) -> Access {
        let kind = match (access.is_write, streaming) {
            (false, _) => AccessKind::Load,
            (true, false) => AccessKind::Store,
            (true, true) => AccessKind::StreamingStore,
        };
        Access { kind, locked: access.locked, uncached: part.physical >= self.ram, ..part }
    }

    fn report(&mut self, step: &Step, cpu: &CpuView<'_>, accesses: &[Access]) {
        let taken = matches!(step.kind, StepKind::Interrupt { .. } | StepKind::Nmi | StepKind::Exception { .. });
        let instruction = Instruction {
            address: step.rip,
            physical: step.physical,
            // A step that is an interrupt did not fetch the interrupted instruction.
            length: if taken { 0 } else { step.instruction.length },
            next_page: next_page(step, cpu),
            micro_ops: step.instruction.micro_ops,
            class: if taken { Class::Exception } else { step.instruction.operands.class },
            operation: (!taken).then(|| step.instruction.operands.operation()),
            floating_point: step.instruction.facts.simd.is_some(),
            segment_loads: segment_loads(step.segment_loads),
            accesses,
            transfer: step.branch.map(|branch| Transfer { kind: branch.kind, taken: branch.taken, target: branch.target }),
            bundle: None,
        };
        self.pmu.execute(&instruction, &mut Tables(cpu));
    }
}

/// The translations that a step forgets.
pub(super) fn forgotten(step: &Step) -> Option<Invalidation> {
    step.invalidation.map(|forgotten| match forgotten {
        Forgotten::All => Invalidation::All,
        Forgotten::NonGlobal => Invalidation::NonGlobal,
        Forgotten::Page(address) => Invalidation::Page(address),
    })
}

/// The guest's page tables.
struct Tables<'a, 'b>(&'a CpuView<'b>);

impl PageTables for Tables<'_, '_> {
    fn walk(&mut self, address: u64) -> Walk {
        let Some(walk) = self.0.page_walk(address) else { return Walk::direct(12) };
        let [first, second, third, fourth] = walk.entries;
        Walk { entries: [first, second, third, fourth, 0], levels: walk.levels, page_bits: walk.page_bits, global: walk.global }
    }
}

/// Where an instruction continues that crosses into a page which does not follow in physical memory.
fn next_page(step: &Step, cpu: &CpuView<'_>) -> Option<u64> {
    let left = PAGE - step.rip % PAGE;
    if u64::from(step.instruction.length) <= left {
        return None;
    }
    let next = cpu.page_walk(step.rip.wrapping_add(left))?.physical;
    (next != step.physical.wrapping_add(left)).then_some(next)
}

fn push(list: &mut [Access; MOST], count: &mut usize, access: Access) {
    if let Some(place) = list.get_mut(*count) {
        *place = access;
        *count += 1;
    }
}

fn whole(access: &StepAccess) -> Access {
    Access { address: access.address, physical: access.physical, size: access.size, ..Access::default() }
}

/// Whether an access lies in one page.
fn together(access: &StepAccess) -> bool {
    u64::from(access.size) <= PAGE - access.address % PAGE
}

/// An access as one that lies together in physical memory, or as two.
fn parts(access: &StepAccess, cpu: &CpuView<'_>) -> [Option<Access>; 2] {
    let whole = whole(access);
    if together(access) {
        return [Some(whole), None];
    }
    let left = PAGE - access.address % PAGE;
    let next = access.address.wrapping_add(left);
    let physical = cpu.page_walk(next).map_or(access.physical + left, |walk| walk.physical);
    if physical == access.physical + left {
        return [Some(whole), None];
    }
    let size = access.size - left as u8;
    [Some(Access { size: left as u8, ..whole }), Some(Access { address: next, physical, size, ..whole })]
}

/// Loads of a segment register that take their time: those of CS are part of a far transfer.
fn segment_loads(loads: SegmentSet) -> u8 {
    (loads.0 & !SegmentSet::CS.0).count_ones() as u8
}
