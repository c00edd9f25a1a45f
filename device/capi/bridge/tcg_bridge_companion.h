/*
 * Tells the companion of a bridge what a CPU executes: for hosts that have no caches, translation buffers and predictors of their own, and give
 * TcgBridgeOptions::companion. Copy tcg_bridge_companion.h and tcg_bridge_companion.c beside the rest.
 *
 * Instructions are followed, too, for POWER's branch history, while the guest looks at it: a host that has the record of taken branches told gives
 * VM_PMU_RECORDS_TAKEN_BRANCHES among TcgBridgeOptions::records, and need not tell them itself.
 *
 * While TcgBridgeCpu::following is 0, none of these functions need be called. While it is not, each block with counting code has one
 * instruction, and before its entry takes it off the countdown:
 *
 *     tcg_bridge_begin(cpu, &instruction)      completes the instruction before it, whose successor is now known, and begins this one
 *     its entry, by the countdown; if the instruction is not executed after all, tcg_bridge_cancel(cpu)
 *     the instruction; for each of its accesses, when it has been made, tcg_bridge_access(cpu, &access)
 *     if it faults, tcg_bridge_cancel(cpu)
 *
 * What leaves the blocks for another reason calls tcg_bridge_complete() first: before an interrupt is taken, before the context is told, before
 * everything is saved. A branch without a condition is always taken; one with a condition if the next instruction is not the one behind it.
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
 * The CPU comes to an instruction, and the one before it is complete. All of `instruction` is filled in but its size, its accesses and its branch's
 * target. VM_PMU_INSTRUCTION_TAKEN is set for a branch that has no condition: calls and returns may have one.
 */
void tcg_bridge_begin(TcgBridgeCpu *cpu, const VmPmuInstruction *instruction);
/* The instruction that has begun makes an access. */
void tcg_bridge_access(TcgBridgeCpu *cpu, const VmPmuAccess *access);
/* The instruction that has begun is complete, and the CPU goes on at `next`. Does nothing if none has begun. */
void tcg_bridge_complete(TcgBridgeCpu *cpu, uint64_t next);
/* The instruction that has begun is not executed. */
void tcg_bridge_cancel(TcgBridgeCpu *cpu);
/* The CPU forgets translations: VmPmuForgotten, and for one page an address in it. */
void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address);

#ifdef __cplusplus
}
#endif

#endif
