/*
 * Declarations that the files of the PMU under TCG share.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef ACCEL_TCG_PMU_INTERNAL_H
#define ACCEL_TCG_PMU_INTERNAL_H

#include "accel/tcg/pmu-target.h"
#include "exec/translator.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "qom/object.h"
#include "tcg/tcg.h"
#if __has_include("hw/core/qdev.h")
#include "hw/core/qdev.h"
#else
#include "hw/qdev-core.h"
#endif

/* The offset of a field of CPUState for generated code. */
#define AT(field) ((intptr_t)offsetof(CPUState, field) - (intptr_t)sizeof(CPUState))

#define TYPE_TCG_PMU "tcg-pmu"
OBJECT_DECLARE_SIMPLE_TYPE(TcgPmu, TCG_PMU)

/* The PMUs of a machine: its child "pmu". */
struct TcgPmu {
    DeviceState parent_obj;
    TcgBridge *bridge;
    TcgPmuTarget target;
    CPUState **cpus;
    uint32_t cpu_count;
    /* The machine's state, while it is saved or loaded. */
    uint8_t *bytes;
    uint32_t length;
    /* The guest's time when tcg_pmu_elapsed() was called last, in nanoseconds. */
    int64_t last;
    /* The file for a recording, or null, and the most statements in it: the properties `record` and `record-most`. */
    char *record;
    uint64_t record_most;
    /* Who makes the cycles of a CPU that is followed: "instructions" or "companion". */
    char *time;
    Notifier exit;
    /* tcg_pmu_observe_devices() */
    TcgPmuTransferred transferred;
    TcgPmuLoaded loaded;
    void *observer;
    /* The blocks that are described to the library, VmPmuBlock, until all blocks are discarded. */
    GPtrArray *blocks;
    QemuMutex blocks_lock;
};

/* The longest instruction, in bytes. */
#define TCG_PMU_LONGEST 15

/* The code of the current instruction, and what is behind it as far as it is in its pages. Returns how many bytes. */
size_t tcg_pmu_code(const DisasContextBase *db, uint8_t bytes[TCG_PMU_LONGEST]);
/* Code that appends the block to the CPU's trace, after its entry. */
void tcg_pmu_gen_follow(DisasContextBase *db);
/* Code that appends an access after it was made. */
void tcg_pmu_gen_follow_access(DisasContextBase *db, TCGTemp *address, TCGArg mmu_index, MemOp memop, bool store, bool locked);
/* Describes the instruction that has just been translated to the library. */
void tcg_pmu_follow_instruction(DisasContextBase *db);
/* TcgBridgeHost::translate; its user is a TcgPmu, and a space an index of QEMU's translation buffers. */
void tcg_pmu_translate(void *user, uint32_t number, uint8_t space, TcgBridgePage *page);
/* VmPmuCompanionOptions::walk, nested and host; their user is a TcgPmu. */
void tcg_pmu_walk(void *user, uint32_t number, uint64_t address, VmPmuWalk *walk);
bool tcg_pmu_nested(void *user, uint32_t number, uint64_t address, VmPmuGuestWalk *guest);
void tcg_pmu_host(void *user, uint32_t number, uint64_t real, VmPmuHostWalk *host);

#endif
