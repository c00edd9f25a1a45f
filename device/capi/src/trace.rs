//! Traces of translated blocks: what a CPU has executed since it last reported to its companion.

use std::cell::UnsafeCell;

use vm_pmu::companion::Block;
use vm_pmu::cpu::{Blocks, Traced};

use crate::cpu::{VmPmuCpu, cpu};
use crate::follow::converted;
use crate::handle::{self, Handle};
use crate::instruction::{VM_PMU_ACCESS_LOCKED, VM_PMU_ACCESS_UNCACHED, VmPmuInstruction};
use crate::pointer::{borrow, list, put, writable};
use crate::status::{VmPmuStatus, argument, guarded};

/// The instructions of a translated block: everything about them that does not change from one execution to the next. Callers only get pointers to
/// it.
pub struct VmPmuBlock {
    /// Written by vm_pmu_block_push() alone.
    block: UnsafeCell<Block>,
}

impl Handle for VmPmuBlock {
    const KIND: &'static str = "a block";
}

impl std::fmt::Debug for VmPmuBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VmPmuBlock").finish_non_exhaustive()
    }
}

/// Makes a block without instructions, when a translator makes one.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_block_create(block: *mut *mut VmPmuBlock) -> VmPmuStatus {
    guarded(|| {
        writable(block, "where the block is to be written")?;
        let made = handle::hand_out(VmPmuBlock { block: UnsafeCell::new(Block::new()) });
        // SAFETY: the caller's promise.
        unsafe { put(block, made, "where the block is to be written") }
    })
}

/// Adds an instruction to a block, before any trace has the block. Its accesses are left out, and so is where its branch goes. Only the last
/// instruction has a branch; VM_PMU_INSTRUCTION_TAKEN says that it is always taken.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_block_push(block: *mut VmPmuBlock, instruction: *const VmPmuInstruction) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { borrow(block, "the block") }?.block.get();
        // SAFETY: the same; no trace has the block yet, so nobody else uses it.
        unsafe { converted(instruction, |known| (*place).push(known)) }
    })
}

/// Writes to `count` how many instructions a block has.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_block_length(block: *const VmPmuBlock, count: *mut u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise; nothing is added to the block at the same time.
        let length = unsafe { (*borrow(block, "the block")?.block.get()).len() };
        // SAFETY: the same.
        unsafe { put(count, u32::try_from(length).unwrap_or(u32::MAX), "where the number is to be written") }
    })
}

/// Destroys a block, which no trace that is still to be reported has. Null is allowed and does nothing.
///
/// # Safety
/// The rules for pointers at the top of the header hold; a block is one that vm_pmu_block_create() made and that has not been destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_block_destroy(block: *mut VmPmuBlock) -> VmPmuStatus {
    guarded(|| handle::destroy(block))
}

/// An entry of a trace: VmPmuTraced::what is made by vm_pmu_traced_block(), vm_pmu_traced_access() or vm_pmu_traced_left(), and is a constant of
/// generated code. Its bits 56 to 63 belong to the emulator.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct VmPmuTraced {
    /// What it is.
    pub what: u64,
    /// Of a block the VmPmuBlock, as a number; the virtual address of an access.
    pub address: u64,
    /// The physical address of an access.
    pub physical: u64,
}

const _: () = {
    assert!(size_of::<VmPmuTraced>() == size_of::<Traced>() && align_of::<VmPmuTraced>() == align_of::<Traced>());
    assert!(std::mem::offset_of!(VmPmuTraced, what) == std::mem::offset_of!(Traced, what));
    assert!(std::mem::offset_of!(VmPmuTraced, address) == std::mem::offset_of!(Traced, address));
    assert!(std::mem::offset_of!(VmPmuTraced, physical) == std::mem::offset_of!(Traced, physical));
    assert!(VM_PMU_ACCESS_LOCKED as u64 == Traced::LOCKED && VM_PMU_ACCESS_UNCACHED as u64 == Traced::UNCACHED);
};

/// The blocks of a caller, by their addresses.
struct ByAddress;

impl Blocks for ByAddress {
    #[inline]
    fn block(&self, address: u64) -> Option<&Block> {
        let pointer = std::ptr::with_exposed_provenance::<VmPmuBlock>(usize::try_from(address).ok()?);
        // SAFETY: the caller of vm_pmu_cpu_execute_trace() promises that the blocks of a trace live, and that nothing is added to them.
        unsafe { borrow(pointer, "a block of the trace").ok().map(|whole| &*whole.block.get()) }
    }
}

/// Reports to its companion the blocks that a CPU has executed since the last call: `count` entries at `trace`, while vm_pmu_cpu_is_followed().
/// vm_pmu_cpu_complete_trace() comes next. Each block that was entered has an entry, followed by those of the accesses that its instructions have made, in
/// order, and by one that says after which of them it was left, if it was not executed to its end.
///
/// The last block is complete, and the CPU goes on at `next`, unless it was left. An entry that names no instruction of its block is left out.
///
/// Call both before anything else of the CPU is reported: before vm_pmu_cpu_refill(), vm_pmu_cpu_read() and vm_pmu_cpu_write(), before the context
/// changes, before an interrupt is taken, before translations are invalidated, and before the machine is saved.
///
/// # Safety
/// The rules for pointers at the top of the header hold, and each block of the trace was made by vm_pmu_block_create() and lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_execute_trace(cpu: *mut VmPmuCpu, trace: *const VmPmuTraced, count: usize, next: u64) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise; both structs are laid out alike.
        let (mut cpu, trace) = unsafe { (self::cpu(cpu)?, list(trace.cast::<Traced>(), count, "the trace")?) };
        let (companion, thread) =
            cpu.companion().ok_or_else(|| argument("the CPU has no companion: VmPmuCpuOptions::companion gives it one"))?;
        cpu.execute_trace(trace, next, &ByAddress, &mut companion.tables(thread));
        Ok(())
    })
}

/// The instructions of a trace are complete: adds what they count, reports the record of the last one where it is wanted, and serves deadlines.
/// `open` of the instructions that the countdown has are not executed yet: 1 at an access to a register, which is the last instruction of its
/// block.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_complete_trace(cpu: *mut VmPmuCpu, open: u32) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { self::cpu(cpu) }?.complete_trace(open);
        Ok(())
    })
}

/// Writes to `whole` whether blocks of several instructions can be traced at the moment: the companion follows the CPU, and needs no instruction
/// before the next one is entered. If not, enter instructions one by one while it follows.
///
/// # Safety
/// The rules for pointers at the top of the header hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vm_pmu_cpu_traces_blocks(cpu: *const VmPmuCpu, whole: *mut bool) -> VmPmuStatus {
    guarded(|| {
        // SAFETY: the caller's promise.
        let answer = unsafe { self::cpu(cpu) }?.traces_blocks();
        // SAFETY: the same.
        unsafe { put(whole, answer, "where the answer is to be written") }
    })
}
