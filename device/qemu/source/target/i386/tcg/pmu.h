/*
 * The performance monitoring unit of an x86 CPU under TCG, for its helpers.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TARGET_I386_TCG_PMU_H
#define TARGET_I386_TCG_PMU_H

#include "accel/tcg/pmu.h"

/* The kinds of near branches. */
typedef enum X86PmuBranch {
    X86_PMU_CONDITIONAL,
    X86_PMU_DIRECT_JUMP,
    X86_PMU_INDIRECT_JUMP,
    X86_PMU_DIRECT_CALL,
    X86_PMU_INDIRECT_CALL,
    X86_PMU_RETURN,
} X86PmuBranch;

#if defined(CONFIG_VM_PMU) && !defined(CONFIG_USER_ONLY)

/* pmu=on: gives the CPU the PMU of its family and model. */
bool x86_pmu_attach(CPUState *cs, Error **errp);
/* RESET, or INIT if warm. */
void x86_pmu_reset(CPUState *cs, bool warm);
/* The machine of libvm_pmu with the boxes in configuration space, their clocks advanced up to now; null if the CPU's PMU has none. */
struct VmPmuMachine *x86_pmu_boxes(CPUState *cs);
/* A register of the boxes has been written. */
void x86_pmu_boxes_written(CPUState *cs);
/* A device or the I/O APIC sends an interrupt by a write to this address. */
void x86_pmu_interrupt_message(uint64_t address);
/* Leaf 0Ah. */
void x86_pmu_cpuid(CPUState *cs, uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* The instructions: true if the register is the PMU's, and the access done. `ra` is GETPC(). */
bool x86_pmu_rdmsr(CPUX86State *env, uintptr_t ra);
bool x86_pmu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra);
bool x86_pmu_rdpmc(CPUX86State *env, uintptr_t ra);

/* An interrupt, or an exception that no instruction asked for, is taken. */
void x86_pmu_taken(CPUX86State *env, bool hardware);
/* An exception is raised without unwinding. */
void x86_pmu_not_completed(CPUX86State *env);
/* The CPU has halted. */
void x86_pmu_halted(CPUX86State *env);

/* A far transfer has been completed. */
void x86_pmu_far(CPUX86State *env);

/* The translator calls these for branches, on the path where it is taken and on the one where it is not. */
void x86_pmu_gen_taken(struct DisasContextBase *db, X86PmuBranch kind);
void x86_pmu_gen_not_taken(struct DisasContextBase *db);

#else

static inline bool x86_pmu_attach(CPUState *cs, Error **errp) { return true; }
static inline void x86_pmu_reset(CPUState *cs, bool warm) { }
static inline void x86_pmu_interrupt_message(uint64_t address) { }
static inline void x86_pmu_cpuid(CPUState *cs, uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx) { }
static inline bool x86_pmu_rdmsr(CPUX86State *env, uintptr_t ra) { return false; }
static inline bool x86_pmu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra) { return false; }
static inline bool x86_pmu_rdpmc(CPUX86State *env, uintptr_t ra) { return false; }
static inline void x86_pmu_taken(CPUX86State *env, bool hardware) { }
static inline void x86_pmu_not_completed(CPUX86State *env) { }
static inline void x86_pmu_halted(CPUX86State *env) { }
static inline void x86_pmu_far(CPUX86State *env) { }
static inline void x86_pmu_gen_taken(struct DisasContextBase *db, X86PmuBranch kind) { }
static inline void x86_pmu_gen_not_taken(struct DisasContextBase *db) { }

#endif

#endif
