/*
 * The performance monitoring unit of a POWER9 CPU under TCG, by libvm_pmu, for the rest of the target.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TARGET_PPC_PMU_H
#define TARGET_PPC_PMU_H

#include "accel/tcg/pmu.h"

/* Where a branch finds its target. */
typedef enum PpcPmuTarget {
    PPC_PMU_DIRECT,
    PPC_PMU_LINK_REGISTER,
    PPC_PMU_OTHER_REGISTER,
} PpcPmuTarget;

#if defined(CONFIG_VM_PMU) && !defined(CONFIG_USER_ONLY) && defined(TARGET_PPC64)

/* Whether the CPU may have pmu=on, before any other part of it is made. */
bool ppc_pmu_fits(PowerPCCPU *cpu, Error **errp);
/* pmu=on: gives the CPU its PMU, before its registers are made. */
bool ppc_pmu_attach(PowerPCCPU *cpu, Error **errp);
/* The CPU's registers have been made: connects those of the PMU to it. */
void ppc_pmu_route(CPUPPCState *env);
/* Reads an entry of BHRB from the PMU, or clears it: true if the CPU has this PMU. */
bool ppc_pmu_mfbhrbe(CPUPPCState *env, uint32_t entry, uint64_t *value, uintptr_t ra);
bool ppc_pmu_clrbhrb(CPUPPCState *env, uintptr_t ra);

/* MSR is about to become `value`. */
void ppc_pmu_msr(CPUPPCState *env, target_ulong value);
/* The CPU has halted, or another part of the PMU's context has changed. */
void ppc_pmu_sync(CPUState *cs);
/* Interrupt `interrupt`, PPC_INTERRUPT_..., is about to be delivered. */
void ppc_pmu_deliver(CPUPPCState *env, int interrupt);
/* Exception `exception`, POWERPC_EXCP_..., is about to be taken; it is not an interrupt. */
void ppc_pmu_exception(CPUState *cs, int exception);
/* Exception `exception` is raised without unwinding. */
void ppc_pmu_not_completed(CPUPPCState *env, uint32_t exception);
/* The event-based branch is taken: BESCR.GE is cleared. */
void ppc_pmu_branched(CPUPPCState *env);
/* rfebb: BESCR.GE becomes `enabled`. True if the CPU has this PMU. */
bool ppc_pmu_rfebb(CPUPPCState *env, bool enabled);

/* The library's machine of a CPU with this PMU, and the number of its core there. */
struct VmPmuMachine *ppc_pmu_machine(CPUState *cs);
uint32_t ppc_pmu_core(CPUState *cs);
/* What the CPU has executed is counted, and what is demanded of it is looked at again. Called between blocks. */
void ppc_pmu_settle(CPUState *cs);
/* Whether the CPU's core posts to memory. */
bool ppc_pmu_posts(CPUState *cs);
/* Posts to memory what the threads of the CPU's core have counted, as far as they have settled. */
void ppc_pmu_post(CPUState *cs);

/* The translator calls these for branches: for each branch with its kind, and where it is taken. */
void ppc_pmu_gen_branch(struct DisasContextBase *db, PpcPmuTarget target, bool link, bool conditional);
void ppc_pmu_gen_taken(struct DisasContextBase *db);
/* A conditional branch is not taken. */
void ppc_pmu_gen_not_taken(struct DisasContextBase *db, PpcPmuTarget target);
/* A store-conditional has set this field of CR. */
void ppc_pmu_gen_conditional_store(struct DisasContextBase *db, struct TCGTemp *field);
/* Raises a facility unavailable interrupt; it is in misc_helper.c. */
G_NORETURN void ppc_pmu_raise_facility(CPUPPCState *env, bool hypervisor, uint32_t sprn, uint32_t cause, uintptr_t ra);

#else

static inline bool ppc_pmu_fits(PowerPCCPU *cpu, Error **errp) { return true; }
static inline bool ppc_pmu_attach(PowerPCCPU *cpu, Error **errp) { return true; }
static inline void ppc_pmu_route(CPUPPCState *env) { }
static inline bool ppc_pmu_mfbhrbe(CPUPPCState *env, uint32_t entry, uint64_t *value, uintptr_t ra) { return false; }
static inline bool ppc_pmu_clrbhrb(CPUPPCState *env, uintptr_t ra) { return false; }
static inline void ppc_pmu_msr(CPUPPCState *env, target_ulong value) { }
static inline void ppc_pmu_sync(CPUState *cs) { }
static inline void ppc_pmu_deliver(CPUPPCState *env, int interrupt) { }
static inline void ppc_pmu_exception(CPUState *cs, int exception) { }
static inline void ppc_pmu_not_completed(CPUPPCState *env, uint32_t exception) { }
static inline void ppc_pmu_branched(CPUPPCState *env) { }
static inline bool ppc_pmu_rfebb(CPUPPCState *env, bool enabled) { return false; }
static inline void ppc_pmu_gen_branch(struct DisasContextBase *db, PpcPmuTarget target, bool link, bool conditional) { }
static inline void ppc_pmu_gen_taken(struct DisasContextBase *db) { }
static inline void ppc_pmu_gen_not_taken(struct DisasContextBase *db, PpcPmuTarget target) { }
static inline void ppc_pmu_gen_conditional_store(struct DisasContextBase *db, struct TCGTemp *field) { }

#endif

#endif
