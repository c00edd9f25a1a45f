//! The companion of one CPU: what the interpreter reports to it.

use vm_pmu::companion::{Access, AccessKind, Class, Guest, Host, Instruction, Invalidation, PageTables, Transfer, Walk};
use vm_pmu::decode::power::{Operands, Word, is_transient, operands};

use super::Pmu;
use crate::Lines;
use vm_pmu_engines::power::registers::{msr, spr};
use vm_pmu_engines::power::{Category, CpuView, DEVICES, Step, Touch, Transaction, TreeWalk};

/// Bytes of an instruction.
const LENGTH: u8 = 4;
/// Micro-operations of an instruction.
const OPERATIONS: u8 = 1;
/// The binary logarithm of the pages that addresses are taken to lie in while no tree translates them: Linux has pages of 64 KiB.
const PAGE_BITS: u8 = 16;

/// `tlbie`: bit 14, PRS, and bit 15, R: the translation is of a process, and of a radix tree.
const PROCESS_SCOPED: u32 = 1 << (31 - 14);
const RADIX: u32 = 1 << (31 - 15);

/// The trees as a CPU has them in the state `state` (MSR).
struct Tables<'a, 'b> {
    cpu: &'a CpuView<'b>,
    state: u64,
}

fn told(walk: &TreeWalk) -> Walk {
    let [first, second, third, fourth] = walk.entries;
    Walk { entries: [first, second, third, fourth, 0], levels: walk.levels, page_bits: walk.page_bits, global: false }
}

impl PageTables for Tables<'_, '_> {
    fn walk(&mut self, address: u64) -> Walk {
        self.cpu.radix_walk(address, self.state).map_or(Walk::direct(PAGE_BITS), |found| told(&found.walk))
    }

    fn nested(&mut self, address: u64) -> Option<Guest> {
        let found = self.cpu.radix_walk(address, self.state).filter(|found| found.guest)?;
        Some(Guest { process_entry: found.process_entry, walk: told(&found.walk), real: found.walk.real })
    }

    fn host(&mut self, real: u64) -> Host {
        let walk = self.cpu.partition_walk(real);
        walk.map_or(Host { walk: Walk::direct(PAGE_BITS), physical: real }, |walk| Host { walk: told(&walk), physical: walk.real })
    }
}

impl Tables<'_, '_> {
    /// Where a cache block is that an instruction names.
    fn physical(&mut self, address: u64) -> u64 {
        match self.cpu.radix_walk(address, self.state) {
            Some(found) if found.guest => self.host(found.walk.real).physical,
            Some(found) => found.walk.real,
            None => address,
        }
    }
}

/// Whether an instruction writes a register that chooses the trees.
fn chooses_trees(encoding: u32) -> bool {
    let moves = encoding >> 26 == 31 && encoding >> 1 & 0x3FF == 467;
    let number = (encoding >> 16 & 31 | (encoding >> 11 & 31) << 5) as u16;
    moves && matches!(number, spr::PIDR | spr::LPIDR | spr::LPCR | spr::PTCR)
}

/// Whether addresses are translated otherwise in one state (MSR) than in another.
pub(super) fn translates_otherwise(before: u64, now: u64) -> bool {
    (before ^ now) & (msr::HV | msr::IR | msr::DR) != 0
}

/// Whether an instruction loads and reserves: `lbarx`, `lharx`, `lwarx` or `ldarx`.
fn reserves(encoding: u32) -> bool {
    encoding >> 26 == 31 && matches!(encoding >> 1 & 0x3FF, 20 | 52 | 84 | 116)
}

/// Reports a step to the companion.
pub(super) fn execute(pmu: &mut Pmu<'_, Lines>, step: &Step, cpu: &CpuView<'_>) {
    let mut tables = Tables { cpu, state: step.msr };
    let mut list = [Access::default(); 2];
    let mut count = 0;
    let mut push = |access: Access| {
        if let Some(place) = list.get_mut(count) {
            *place = access;
            count += 1;
        }
    };
    if let Some(access) = step.access {
        let kind = if access.store { AccessKind::Store } else { AccessKind::Load };
        let locked = !access.store && reserves(step.encoding);
        let uncached = access.real >= DEVICES;
        push(Access { address: access.address, physical: access.real, size: access.size, kind, locked, uncached });
    }
    if let Some(touched) = step.touched {
        let kind = match touched.why {
            Touch::Load if is_transient(Word(step.encoding)) => Some(AccessKind::PrefetchOnce),
            Touch::Load => Some(AccessKind::PrefetchLoad),
            Touch::Store => Some(AccessKind::PrefetchStore),
            Touch::Flush => Some(AccessKind::Flush),
            _ => None,
        };
        if let Some(kind) = kind {
            let physical = tables.physical(touched.address);
            push(Access { address: touched.address, physical, size: 1, kind, ..Access::default() });
        }
    }
    let operands = operands(step.encoding);
    let class = operands.map_or(Class::Simple, |operands| operands.class);
    let class = match (class, step.transaction) {
        (Class::TransactionBegin, Some(Transaction::NestedBegin)) => Class::NestedTransactionBegin,
        (Class::TransactionEnd, Some(Transaction::NestedEnd)) => Class::NestedTransactionEnd,
        _ => class,
    };
    let instruction = Instruction {
        address: step.address,
        physical: step.real,
        length: LENGTH,
        next_page: None,
        micro_ops: OPERATIONS,
        class,
        operation: operands.as_ref().map(Operands::operation),
        floating_point: step.category == Category::Floating,
        segment_loads: 0,
        accesses: list.get(..count).unwrap_or(&[]),
        transfer: step.branch.map(|branch| Transfer { kind: branch.form.kind(), taken: branch.taken, target: branch.target }),
        bundle: None,
    };
    pmu.execute(&instruction, &mut tables);
}

/// Reports to the companion which translations are forgotten.
pub(super) fn forget(pmu: &mut Pmu<'_, Lines>, step: &Step, cpu: &CpuView<'_>) {
    if chooses_trees(step.encoding) && cpu.translates() {
        pmu.invalidate(Invalidation::All);
    }
    if let Some(touched) = step.touched.filter(|touched| matches!(touched.why, Touch::Translation | Touch::LocalTranslation)) {
        let of_host = step.encoding & (PROCESS_SCOPED | RADIX) == RADIX;
        let page = if cpu.translates() { touched.address & !0xFFF } else { touched.address };
        pmu.invalidate(if of_host { Invalidation::HostPage(page) } else { Invalidation::Page(page) });
    }
}
