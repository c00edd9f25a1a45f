//! POWER, as the Power ISA 3.0B has it: a POWER9.

mod access;
mod op;
mod operands;
mod operation;
mod other;
pub mod register;
mod signals;
mod word;
mod work;

pub use access::{Conversion, Form, LoadStore, load_store};
pub use op::Op;
pub use operands::{Operands, operands};
pub use operation::operation;
pub use signals::{RETIREMENT, barrier_signal, floating_signals, touch_signal};
pub use word::Word;
pub use work::{
    Barrier, BranchForm, Category, Floating, Marks, Through, Touch, Work, aborts, barrier, branch_form, category, direct_target, is_single,
    is_vector, marks, scalar_work, touch, unit, vector_work,
};

use vm_pmu_arch::feed::Signal;

use super::{Access, Branch, Description, Undecoded};
use crate::companion::{AccessKind, Class};

/// Bytes of an instruction.
const LENGTH: u8 = 4;
/// Bytes of a block of the data cache, which `dcbz` stores.
const BLOCK: u16 = 128;

/// Facts of an instruction beyond those that every instruction set has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its main effect.
    pub category: Category,
    /// Its floating-point work.
    pub floating: Option<Floating>,
    /// Its barrier.
    pub barrier: Option<Barrier>,
    /// Why it names a cache block or a translation.
    pub touch: Option<Touch>,
    /// Its form, if it is a branch.
    pub branch: Option<BranchForm>,
    /// Marks that some events depend on.
    pub marks: Marks,
    /// It loads or stores a whole vector register.
    pub vector: bool,
    /// It loads with a reservation (`larx`), or stores on the condition of one (`stcx.`).
    pub reserves: bool,
    /// It aborts a transaction.
    pub aborts: bool,
    /// Its target is below its own address.
    pub backward: bool,
}

/// An instruction of POWER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The description for a companion.
    pub description: Description,
    /// Facts besides the description.
    pub facts: Facts,
}

impl Instruction {
    /// Passes to `add` what one such instruction adds to signals as it completes, as far as its word determines it.
    pub fn signals(&self, add: impl FnMut(Signal, u64)) {
        signals::add(self, add);
    }
}

/// Decodes the instruction `word` at `address`, in 64-bit mode. A transaction is taken for an outermost one.
///
/// ```
/// use vm_pmu::arch::feed::BranchKind;
/// use vm_pmu::companion::{Class, Register};
/// use vm_pmu::decode::power;
///
/// // bne cr7, to 16 bytes before it.
/// let branch = power::decode(0x409E_FFF0, 0x1000).unwrap().description;
/// assert_eq!(branch.operands.class, Class::Branch);
/// assert_eq!(branch.operands.reads(), [Register(power::register::CONDITION + 7)]);
/// assert_eq!(branch.branch.map(|branch| (branch.kind, branch.target)), Some((BranchKind::Conditional, Some(0xFF0))));
/// ```
///
/// # Errors
///
/// [`Undecoded::Invalid`] if POWER9 has no such instruction.
pub fn decode(word: u32, address: u64) -> Result<Instruction, Undecoded> {
    let w = Word(word);
    match operation(word) {
        Some(op) if !matches!(op, Op::Vector | Op::Vsx) => known(op, w, address),
        _ => other::describe(word).map(told).ok_or(Undecoded::Invalid),
    }
}

fn description(operands: Operands) -> Description {
    Description { length: LENGTH, operands, ..Description::default() }
}

/// An instruction that has a name of its own here.
fn known(op: Op, w: Word, address: u64) -> Result<Instruction, Undecoded> {
    if load_store(op).is_some_and(|access| !access.is_valid(w)) {
        return Err(Undecoded::Invalid);
    }
    let branch = branch_form(op, w);
    // The count cannot be the target too.
    if op == Op::Bcctr && branch.is_some_and(|branch| branch.on_count) {
        return Err(Undecoded::Invalid);
    }
    let target = direct_target(op, w, address);
    let facts = Facts {
        category: category(op, w),
        floating: scalar_work(op).or(vector_work(op)),
        barrier: barrier(op, w),
        touch: touch(op, w),
        branch,
        marks: marks(op, w),
        vector: is_vector(op) && vector_work(op).is_none(),
        reserves: reserves(op),
        aborts: aborts(op),
        backward: target.is_some_and(|target| target < address),
    };
    let mut description = description(operands::of_operation(op, w));
    description.floating_point = facts.category == Category::Floating;
    description.branch = branch.map(|branch| Branch { kind: branch.kind(), target });
    if let Some(access) = accesses(op, w) {
        description.access(access);
    }
    Ok(Instruction { description, facts })
}

fn reserves(op: Op) -> bool {
    matches!(op, Op::Lbarx | Op::Lharx | Op::Lwarx | Op::Ldarx | Op::Stbcx | Op::Sthcx | Op::Stwcx | Op::Stdcx)
}

/// The access of an instruction, if it makes one. A load that reserves is part of a locked read-modify-write.
fn accesses(op: Op, w: Word) -> Option<Access> {
    if let Some(access) = load_store(op) {
        let kind = if access.store { AccessKind::Store } else { AccessKind::Load };
        return Some(Access::new(kind, access.size.into()));
    }
    let (kind, bytes) = match (op, touch(op, w)) {
        (_, Some(Touch::Load)) if is_transient(w) => (AccessKind::PrefetchOnce, 1),
        (_, Some(Touch::Load)) => (AccessKind::PrefetchLoad, 1),
        (_, Some(Touch::Store)) => (AccessKind::PrefetchStore, 1),
        (_, Some(Touch::Flush)) => (AccessKind::Flush, 1),
        (Op::Lbarx, _) => (AccessKind::Load, 1),
        (Op::Lharx, _) => (AccessKind::Load, 2),
        (Op::Lwarx, _) => (AccessKind::Load, 4),
        (Op::Ldarx, _) => (AccessKind::Load, 8),
        (Op::Stbcx, _) => (AccessKind::Store, 1),
        (Op::Sthcx, _) => (AccessKind::Store, 2),
        (Op::Stwcx, _) => (AccessKind::Store, 4),
        (Op::Stdcx, _) => (AccessKind::Store, 8),
        (Op::Lxvd2x, _) => (AccessKind::Load, 16),
        (Op::Stxvd2x, _) => (AccessKind::Store, 16),
        (Op::Dcbz, _) => (AccessKind::Store, BLOCK),
        _ => return None,
    };
    Some(Access { locked: reserves(op) && kind == AccessKind::Load, ..Access::new(kind, bytes) })
}

/// Whether a touch says that the block will not be used again: `dcbtt` (Book II, 4.3.2).
#[must_use]
pub fn is_transient(w: Word) -> bool {
    w.rt() == 0b10000
}

/// An instruction without a name of its own here.
fn told(other: other::Other) -> Instruction {
    let mut description = description(other.operands);
    description.floating_point = matches!(other.category, Category::Floating | Category::Vector);
    if let Some((stores, bytes, count)) = other.access {
        let kind = if stores { AccessKind::Store } else { AccessKind::Load };
        let access = Access { locked: other.reserves && !stores, ..Access::new(kind, bytes.into()) };
        if other.operands.class == Class::Exchange {
            description.access(Access { locked: true, ..Access::new(AccessKind::Load, bytes.into()) });
        }
        (0..count.min(32)).for_each(|_| description.access(access));
        description.repeats = count == u8::MAX;
    }
    let slow = other.floating.is_some_and(Floating::is_slow);
    let facts = Facts {
        category: other.category,
        floating: other.floating,
        marks: Marks { long_latency: slow, ..Marks::default() },
        vector: other.vector,
        reserves: other.reserves,
        ..Facts::default()
    };
    Instruction { description, facts }
}

#[cfg(test)]
mod tests;
