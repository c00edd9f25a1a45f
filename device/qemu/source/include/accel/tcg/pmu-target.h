/*
 * A target's description of its performance monitoring unit, and the calls that its helpers make. System emulation only.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef ACCEL_TCG_PMU_TARGET_H
#define ACCEL_TCG_PMU_TARGET_H

#include "accel/tcg/pmu.h"
#include "accel/tcg/tcg_bridge_companion.h"

typedef struct TcgPmuTarget {
    /* The bridge's options, except those that common code fills in: user, retranslate, counting, kick, late. */
    TcgBridgeOptions options;
    /* The flags of a block that form the key of the context. */
    uint32_t key_mask;
    /* Threads of a core, for the companion; 0 for as many as cores of the part have. */
    uint32_t core_threads;
    /* The signals that an access to memory adds 1 to: a load, and a store. */
    const uint32_t *loads;
    uint32_t load_count;
    const uint32_t *stores;
    uint32_t store_count;
    /* How the code of a block with these flags is read, VmPmuCodeMode; and the signals that are counted by what its bytes say. */
    uint32_t (*code_mode)(uint32_t flags);
    const uint32_t *decoded;
    uint32_t decoded_count;
    /* Where this byte of the machine's memory is in its physical addresses; null if there is one run of memory, from 0 on. */
    uint64_t (*physical)(uint64_t offset);
    /* Fills in the table entries that lead to an address now, and the page; nothing where there are none. */
    void (*walk)(CPUState *cpu, uint64_t address, VmPmuWalk *walk);
    /* The bytes of memory of each socket, where they are not divided into nodes; 0 if all of it counts as that of the first. */
    uint64_t memory_per_package;
    /* VmPmuCompanionOptions::nested and host, if guests have a host in the machine; null if not. */
    bool (*nested)(CPUState *cpu, uint64_t address, VmPmuGuestWalk *guest);
    void (*host)(CPUState *cpu, uint64_t real, VmPmuHostWalk *host);
} TcgPmuTarget;

/* Gives a CPU its PMU; the first call makes those of the whole machine. cpu_index is known. */
bool tcg_pmu_attach(CPUState *cpu, const TcgPmuTarget *target, Error **errp);
/* The CPU is reset; warm if the power stays on. */
void tcg_pmu_reset(CPUState *cpu, bool warm);

/*
 * Calls `transferred` for what a device behind a bus reads and writes, and `loaded` when a CPU loads from registers of a device: `owner` is the
 * device, `address` its own. Both hold the big lock.
 */
typedef void (*TcgPmuTransferred)(void *opaque, Object *owner, uint64_t address, uint64_t bytes, bool writes);
typedef void (*TcgPmuLoaded)(void *opaque, Object *owner);
void tcg_pmu_observe_devices(CPUState *cpu, TcgPmuTransferred transferred, TcgPmuLoaded loaded, void *opaque);

/* The translator adds a value of 64 bits to a signal: at most what the signal is declared for. */
void tcg_pmu_gen_count_by(struct DisasContextBase *db, uint32_t signal, struct TCGTemp *amount);

/* How many units of `unit` nanoseconds of the guest's time have elapsed since the last call. One caller at a time. */
uint64_t tcg_pmu_elapsed(CPUState *cpu, uint64_t unit);

/* A guest's access by the last instruction of a block. */
TcgBridgeAnswer tcg_pmu_read(CPUState *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception);
TcgBridgeAnswer tcg_pmu_write(CPUState *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception);

/* Reports the last executed instruction to the companion; the CPU's address is that of the next. */
void tcg_pmu_complete(CPUState *cpu);

/* A helper raises an exception without unwinding: the instruction, the last of its block, does not complete. */
static inline void tcg_pmu_not_completed(CPUState *cpu)
{
    if (cpu->pmu && cpu->pmu->counting) {
        tcg_bridge_take_back(cpu->pmu, 0, 1);
        tcg_bridge_cancel(cpu->pmu);
    }
}

/* The CPU takes an interrupt (`hardware`) or an exception. */
static inline void tcg_pmu_taken(CPUState *cpu, bool hardware)
{
    if (cpu->pmu) {
        tcg_pmu_complete(cpu);
        tcg_bridge_taken(cpu->pmu, hardware);
    }
}

/* The context, apart from its key, has changed or is about to: for example the CPU halts. */
static inline void tcg_pmu_sync(CPUState *cpu)
{
    if (cpu->pmu && cpu->pmu->counting) {
        tcg_bridge_sync(cpu->pmu);
    }
}

/* Counts a signal that a helper knows of. */
static inline void tcg_pmu_count(CPUState *cpu, uint32_t signal, uint64_t amount)
{
    if (cpu->pmu && cpu->pmu->counting) {
        tcg_bridge_count(cpu->pmu, signal, amount);
    }
}

#endif
