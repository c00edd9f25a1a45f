//! The companion of one CPU: what the interpreter reports to it.

use vm_pmu::companion::{Access, AccessKind, Class, Follower, Instruction, Invalidation, PageTables, Transfer, Walk};

use super::record::kind;
use vm_pmu_engines::power::{Class as StepClass, Operands, Step, Touch, Transaction, operands};

/// Bytes of an instruction.
const LENGTH: u8 = 4;
/// Micro-operations of an instruction.
const OPERATIONS: u8 = 1;
/// The binary logarithm of the pages that addresses are taken to lie in: the engine translates nothing, and Linux has pages of 64 KiB.
const PAGE_BITS: u8 = 16;

/// A follower.
#[derive(Debug)]
pub(super) struct Following<'a> {
    pub(super) follower: Follower<'a>,
}

/// Every address is its own.
struct Identity;

impl PageTables for Identity {
    fn walk(&mut self, _address: u64) -> Walk {
        Walk::direct(PAGE_BITS)
    }
}

/// Whether an instruction loads and reserves: `lbarx`, `lharx`, `lwarx` or `ldarx`.
fn reserves(encoding: u32) -> bool {
    encoding >> 26 == 31 && matches!(encoding >> 1 & 0x3FF, 20 | 52 | 84 | 116)
}

impl<'a> Following<'a> {
    pub(super) fn new(follower: Follower<'a>) -> Following<'a> {
        Following { follower }
    }

    /// Reports a step to the follower.
    pub(super) fn execute(&mut self, step: &Step) {
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
            push(Access { address: access.address, physical: access.real, size: access.size, kind, locked, ..Access::default() });
        }
        if let Some(touched) = step.touched {
            let kind = match touched.why {
                Touch::Load => Some(AccessKind::PrefetchLoad),
                Touch::Store => Some(AccessKind::PrefetchStore),
                Touch::Flush => Some(AccessKind::Flush),
                _ => None,
            };
            if let Some(kind) = kind {
                push(Access { address: touched.address, physical: touched.address, size: 1, kind, ..Access::default() });
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
            floating_point: step.class == StepClass::Floating,
            segment_loads: 0,
            accesses: list.get(..count).unwrap_or(&[]),
            transfer: step.branch.map(|branch| Transfer { kind: kind(&branch), taken: branch.taken, target: branch.target }),
            bundle: None,
        };
        self.follower.execute(&instruction, &mut Identity);
    }

    /// Reports to the follower which translations are forgotten.
    pub(super) fn forget(&mut self, step: &Step) {
        if let Some(touched) = step.touched.filter(|touched| matches!(touched.why, Touch::Translation | Touch::LocalTranslation)) {
            self.follower.invalidate(Invalidation::Page(touched.address));
        }
    }
}
