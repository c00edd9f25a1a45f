/*
 * Reports what a CPU executes to the companion of a bridge: for hosts that have no caches, translation buffers and predictors, and set
 * TcgBridgeOptions::companion. Copy tcg_bridge_companion.h and tcg_bridge_companion.c along with the rest.
 *
 * Instructions are also followed for POWER's branch history, while the guest reads it. A host that wants taken branches recorded sets
 * VM_PMU_RECORDS_TAKEN_BRANCHES in TcgBridgeOptions::records, and need not report them itself.
 *
 * While TcgBridgeCpu::following is 0, none of these functions need be called. While it is not 0, each block with counting code has one
 * instruction. Call these functions in this order:
 *
 *     tcg_bridge_begin(cpu, &instruction)      before the block's entry: completes the previous instruction, and begins this one
 *     the block's entry; if the instruction is not executed after all, tcg_bridge_cancel(cpu)
 *     the instruction; after each of its accesses, tcg_bridge_access(cpu, &access)
 *     if it faults, tcg_bridge_cancel(cpu)
 *
 * Code that leaves the blocks for another reason calls tcg_bridge_complete() first: before an interrupt is taken, before the context is
 * reported, before the state is saved. An unconditional branch is always taken. A conditional branch is taken if the next instruction is
 * not the one after it in memory.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_COMPANION_H
#define TCG_BRIDGE_COMPANION_H

#include "tcg_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The CPU begins an instruction, and the previous one is complete. All fields of `instruction` are filled in except its size, its accesses
 * and its branch's target. VM_PMU_INSTRUCTION_TAKEN is set for an unconditional branch; calls and returns may be conditional.
 */
void tcg_bridge_begin(TcgBridgeCpu *cpu, const VmPmuInstruction *instruction);
/* The current instruction has made an access. */
void tcg_bridge_access(TcgBridgeCpu *cpu, const VmPmuAccess *access);
/* The current instruction is complete, and the CPU continues at `next`. Does nothing if no instruction has begun. */
void tcg_bridge_complete(TcgBridgeCpu *cpu, uint64_t next);
/* The current instruction is not executed. */
void tcg_bridge_cancel(TcgBridgeCpu *cpu);
/* The CPU invalidates translations: `what` is a VmPmuForgotten, `address` an address in the page if it is one page. */
void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
