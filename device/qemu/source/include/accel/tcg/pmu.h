/*
 * The performance monitoring unit of a CPU under TCG, for translator, main loop and targets.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef ACCEL_TCG_PMU_H
#define ACCEL_TCG_PMU_H

#include "hw/core/cpu.h"
#include "exec/memop.h"
#include "exec/translation-block.h"

struct DisasContextBase;
struct TCGOp;
struct TCGTemp;

#if defined(CONFIG_VM_PMU) && !defined(CONFIG_USER_ONLY)

/* ---- When a block is translated ---- */

/* The entry of a block that counts. Returns what gen_tb_start() does. */
struct TCGOp *tcg_pmu_gen_start(struct DisasContextBase *db, uint32_t cflags);
/* The block has all its instructions: what its entry subtracts is known. */
void tcg_pmu_gen_end(struct DisasContextBase *db);
/*
 * Code that counts what the bytes of the current instruction say that it adds to signals. To be called where an instruction that leaves the block
 * cannot fault any more, on each of its paths; for the others tcg_pmu_end_instruction() does it.
 */
void tcg_pmu_gen_decoded(struct DisasContextBase *db);
/* An instruction has been translated. */
void tcg_pmu_end_instruction(struct DisasContextBase *db);
/* The instruction invalidates translations: it is the last of a block that is followed. */
void tcg_pmu_end_block(struct DisasContextBase *db);
/* Code that adds 1 to a signal, VM_PMU_SIGNAL_..., if something follows it. To be called after code that may fault. */
void tcg_pmu_gen_count(struct DisasContextBase *db, uint32_t signal);
/* Code for an instruction that does a part of its work and will be executed again: it is not retired yet. */
void tcg_pmu_gen_not_retired(struct DisasContextBase *db);
/* The instruction, the last of its block, is a branch: VM_PMU_BRANCH_... */
void tcg_pmu_branch(struct DisasContextBase *db, uint32_t kind, bool conditional);
/* An instruction that may prefetch or flush the line of an address, of which QEMU does nothing. */
void tcg_pmu_gen_touch(struct DisasContextBase *db, struct TCGTemp *address, uint64_t mmu_index);
/*
 * Code for an access to memory has just been made. If records or the companion need it, `address` still has its value: a load has another
 * target then.
 */
void tcg_pmu_gen_access(struct TCGTemp *address, uint64_t mmu_index, MemOp memop, bool store);
/* The same for a load and a store of the same place. */
void tcg_pmu_gen_atomic(struct TCGTemp *address, uint64_t mmu_index, MemOp memop, bool locked);

/* ---- In the main loop ---- */

/* The slow path of tcg_pmu_context(): something is counted and the context changes to that of this key. */
void tcg_pmu_change_context(CPUState *cpu, uint32_t key);
/* The CPU continues in blocks with these flags. */
static inline void tcg_pmu_context(CPUState *cpu, uint32_t flags)
{
    if (unlikely(cpu->tcg_cflags & CF_PMU) && unlikely((flags & cpu->pmu_key_mask) != *cpu->pmu_key)) {
        tcg_pmu_change_context(cpu, flags & cpu->pmu_key_mask);
    }
}
/* The slow path of tcg_pmu_before_interrupt(): something is counted. */
void tcg_pmu_serve(CPUState *cpu);
/* The CPU is about to choose an interrupt. If the last instruction has reached a deadline, the PMU's is pending now. */
static inline void tcg_pmu_before_interrupt(CPUState *cpu)
{
    if (unlikely(cpu->tcg_cflags & CF_PMU)) {
        tcg_pmu_serve(cpu);
    }
}
/* Whether the block was not entered because a deadline is due. If so, sets up the next one. */
bool tcg_pmu_expired(CPUState *cpu, TranslationBlock *tb);
/* The block was left before the last `insns_left` of its instructions. */
void tcg_pmu_restore(CPUState *cpu, TranslationBlock *tb, int insns_left);
/* All blocks are about to be discarded. No CPU runs. */
void tcg_pmu_discard_blocks(void);

/* ---- Devices ---- */

/* Something other than a CPU reads or writes so many bytes of the region, from `offset` on. */
void tcg_pmu_device(MemoryRegion *region, uint64_t offset, uint64_t bytes, bool writes);
/* It does so in an address space of its own, as devices of a bus do. */
void tcg_pmu_transfer(AddressSpace *space, uint64_t address, uint64_t bytes, bool writes);
/* A CPU loads from registers of a device. */
void tcg_pmu_device_load(MemoryRegion *region);

/* ---- Translations ---- */

/* QEMU is about to forget how it translates addresses of the CPU. */
void tcg_pmu_translations_change(CPUState *cpu);
/* The guest has invalidated its translations; those of global pages too if `global`. */
void tcg_pmu_forget_all(CPUState *cpu, bool global);
void tcg_pmu_forget_page(CPUState *cpu, vaddr address);

#else

static inline struct TCGOp *tcg_pmu_gen_start(struct DisasContextBase *db, uint32_t cflags)
{
    return NULL;
}

static inline void tcg_pmu_gen_end(struct DisasContextBase *db) { }
static inline void tcg_pmu_gen_decoded(struct DisasContextBase *db) { }
static inline void tcg_pmu_end_instruction(struct DisasContextBase *db) { }
static inline void tcg_pmu_end_block(struct DisasContextBase *db) { }
static inline void tcg_pmu_gen_count(struct DisasContextBase *db, uint32_t signal) { }
static inline void tcg_pmu_gen_not_retired(struct DisasContextBase *db) { }
static inline void tcg_pmu_branch(struct DisasContextBase *db, uint32_t kind, bool conditional) { }
static inline void tcg_pmu_gen_touch(struct DisasContextBase *db, struct TCGTemp *address, uint64_t mmu_index) { }
static inline void tcg_pmu_gen_access(struct TCGTemp *address, uint64_t mmu_index, MemOp memop, bool store) { }
static inline void tcg_pmu_gen_atomic(struct TCGTemp *address, uint64_t mmu_index, MemOp memop, bool locked) { }
static inline void tcg_pmu_context(CPUState *cpu, uint32_t flags) { }
static inline void tcg_pmu_before_interrupt(CPUState *cpu) { }
static inline bool tcg_pmu_expired(CPUState *cpu, TranslationBlock *tb) { return false; }
static inline void tcg_pmu_restore(CPUState *cpu, TranslationBlock *tb, int insns_left) { }
static inline void tcg_pmu_discard_blocks(void) { }
static inline void tcg_pmu_device(MemoryRegion *region, uint64_t offset, uint64_t bytes, bool writes) { }
static inline void tcg_pmu_transfer(AddressSpace *space, uint64_t address, uint64_t bytes, bool writes) { }
static inline void tcg_pmu_device_load(MemoryRegion *region) { }
static inline void tcg_pmu_translations_change(CPUState *cpu) { }
static inline void tcg_pmu_forget_all(CPUState *cpu, bool global) { }
static inline void tcg_pmu_forget_page(CPUState *cpu, vaddr address) { }

#endif

#endif
