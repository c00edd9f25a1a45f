/*
 * In-memory collection of POWER9's cores and threads, by libvm_pmu.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef PPC_PNV_CORE_PMU_H
#define PPC_PNV_CORE_PMU_H

#include "hw/ppc/pnv_chip.h"

#ifdef CONFIG_VM_PMU
/* pmu=on: gives the cores of a chip, which have been made, the registers of their collection. */
bool pnv_core_pmu_create(PnvChip *chip, Error **errp);
#else
static inline bool pnv_core_pmu_create(PnvChip *chip, Error **errp) { return true; }
#endif

#endif
