//! The accesses to memory that an instruction makes.

use iced_x86::{Instruction, InstructionInfo, MemorySize, OpAccess};

use super::class::is_string;
use super::facts::{Facts, Prefetch};
use crate::companion::AccessKind;
use crate::decode::{Access, Description};

/// Lists the accesses, loads before stores.
pub(super) fn add(i: &Instruction, facts: &Facts, used: &InstructionInfo, description: &mut Description) {
    let named = match facts.prefetch {
        Some(Prefetch::Nta) => Some(AccessKind::PrefetchOnce),
        Some(Prefetch::Write) => Some(AccessKind::PrefetchStore),
        Some(_) => Some(AccessKind::PrefetchLoad),
        None => facts.clflush.then_some(AccessKind::Flush),
    };
    if let Some(kind) = named {
        return description.access(Access::new(kind, 1));
    }
    let stores = if facts.streaming { AccessKind::StreamingStore } else { AccessKind::Store };
    for (kind, makes) in [(AccessKind::Load, reads as fn(OpAccess) -> bool), (stores, writes)] {
        for memory in used.used_memory().iter().filter(|memory| makes(memory.access())) {
            // Of repeated accesses the size in all is unknown.
            let size = if memory.memory_size() == MemorySize::Unknown { i.memory_size() } else { memory.memory_size() };
            let bytes = u16::try_from(size.size()).unwrap_or(u16::MAX);
            description.access(Access { kind, bytes, locked: facts.locked });
        }
    }
    description.repeats = is_string(i) && (i.has_rep_prefix() || i.has_repne_prefix()) || i.is_vsib();
}

fn reads(access: OpAccess) -> bool {
    matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}
