/*
 * Cells of the guest's memory that counters are posted to, where the host finds them.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TARGET_PPC_PMU_MEMORY_H
#define TARGET_PPC_PMU_MEMORY_H

#include "qemu/atomic.h"
#include "qemu/bswap.h"

/* CPUs of the guest access the same cells. */
static inline uint64_t ppc_pmu_cell_load(const uint64_t *cell)
{
    return be64_to_cpu(qatomic_read__nocheck(cell));
}

static inline void ppc_pmu_cell_store(uint64_t *cell, uint64_t value)
{
    qatomic_set__nocheck(cell, cpu_to_be64(value));
}

static inline void ppc_pmu_cell_add(uint64_t *cell, uint64_t amount)
{
    uint64_t old, found = qatomic_read__nocheck(cell);

    do {
        old = found;
        found = qatomic_cmpxchg__nocheck(cell, old, cpu_to_be64(be64_to_cpu(old) + amount));
    } while (found != old);
}

#endif
