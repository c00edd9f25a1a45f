/*
 * Reports what a CPU executes to the companion of a bridge: for hosts that have no caches, translation buffers and predictors, and set
 * TcgBridgeOptions::companion.
 *
 * Instructions are also followed for POWER's branch history, while the guest reads it. A host that wants taken branches recorded sets
 * VM_PMU_RECORDS_TAKEN_BRANCHES in TcgBridgeOptions::records, and need not report them itself.
 *
 * While TcgBridgeCpu::following is TCG_BRIDGE_FOLLOWS_NOTHING, none of these functions need be called. Otherwise the CPU executes blocks that
 * write a trace, and it is enough to report that now and then:
 *
 * - When a block is made, the host describes it: vm_pmu_block_create(), and vm_pmu_block_push() for each instruction. The block exists until
 *   every CPU has completed its trace. With TCG_BRIDGE_FOLLOWS_INSTRUCTIONS a block has one instruction.
 * - Its entry is not passed if the trace has no room, as if too few instructions were left: tcg_bridge_trace_fits(). After it has been passed, it
 *   appends itself: tcg_bridge_trace_block(). After each access of an instruction it appends that: tcg_bridge_trace_access(). Generated code does
 *   the same with TcgBridgeTrace, where tcg_bridge_place_trace() has put it.
 * - A block that is left before its end appends how many of its instructions were executed: tcg_bridge_trace_left().
 * - tcg_bridge_complete() reports the trace: before tcg_bridge_slow(), before an interrupt is taken, before the context is reported, before the
 *   state is saved. The host says where the CPU goes on, so a conditional branch is taken if that is not the instruction after it in memory.
 * - Accesses to registers and invalidations of translations need not be preceded by anything: they are done by the last instruction of a block.
 * - Before the host changes how it translates addresses, it calls tcg_bridge_translations_change().
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_COMPANION_H
#define TCG_BRIDGE_COMPANION_H

#include "tcg_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most entries that a block may append: its own, and 64 for each of 64 instructions. A block has no more instructions. */
#define TCG_BRIDGE_MOST_TRACED 64
#define TCG_BRIDGE_BLOCK_ENTRIES (1 + TCG_BRIDGE_MOST_TRACED * VM_PMU_MOST_ACCESSES)

/* The bits of VmPmuTraced::what that the host may use to say how an address is translated: TcgBridgeHost::translate. */
#define TCG_BRIDGE_SPACE_SHIFT 56

/* Moves what generated code uses of a CPU's trace into `trace`, which remains until the bridge is destroyed. Call it before the CPU runs. */
void tcg_bridge_place_trace(TcgBridgeCpu *cpu, TcgBridgeTrace *trace);
/* The CPU has executed what the trace has, and continues at `next`. Does nothing if the trace is empty. */
void tcg_bridge_complete(TcgBridgeCpu *cpu, uint64_t next);
/* The last block of the trace was left after `executed` of its instructions. */
void tcg_bridge_trace_left(TcgBridgeCpu *cpu, uint32_t executed);
/* The last block of the trace was left before its last instruction, which it has begun. */
void tcg_bridge_cancel(TcgBridgeCpu *cpu);
/* The host is about to forget how it has translated addresses. */
void tcg_bridge_translations_change(TcgBridgeCpu *cpu);
/*
 * The CPU invalidates translations, by the last instruction of a block or between blocks: `what` is a VmPmuForgotten, `address` an address in the
 * page if it is one page.
 */
void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address);

/* ---- Devices ---- */

/* Whether anything of devices is to be reported: some CPU is followed. */
bool tcg_bridge_watches_devices(TcgBridge *bridge);
/*
 * A device behind the first package reads or writes `bytes` bytes of memory from `physical` on. On any host thread, but on one at a time: under
 * the lock that the functions of tcg_bridge_boxes.h need too.
 */
void tcg_bridge_device(TcgBridge *bridge, uint64_t physical, uint64_t bytes, bool writes);

/* ---- The work of generated code, in C ---- */

/* Whether the trace has room for a block. If not, tcg_bridge_complete() comes before it. */
static inline bool tcg_bridge_trace_fits(const TcgBridgeCpu *cpu) { return cpu->trace->end <= cpu->trace->limit; }

static inline void tcg_bridge_append(TcgBridgeCpu *cpu, uint64_t what, uint64_t address) {
  VmPmuTraced *entry = cpu->trace->end++;
  entry->what = what;
  entry->address = address;
}

/* The block has been entered. */
static inline void tcg_bridge_trace_block(TcgBridgeCpu *cpu, const VmPmuBlock *block) {
  tcg_bridge_append(cpu, vm_pmu_traced_block(0), (uint64_t)(uintptr_t)block);
}

/* An instruction of the block has made an access: `what` is what vm_pmu_traced_access() returns for it. */
static inline void tcg_bridge_trace_access(TcgBridgeCpu *cpu, uint64_t what, uint64_t address) { tcg_bridge_append(cpu, what, address); }

#ifdef __cplusplus
}
#endif

#endif
