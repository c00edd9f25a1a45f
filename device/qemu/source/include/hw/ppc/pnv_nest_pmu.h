/*
 * The performance monitoring unit of a POWER9 chip's nest, by libvm_pmu.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef PPC_PNV_NEST_PMU_H
#define PPC_PNV_NEST_PMU_H

#include "hw/ppc/pnv_chip.h"
#include "hw/ppc/pnv_homer.h"

#ifdef CONFIG_VM_PMU
/* pmu=on: gives a chip the PMU of its nest, when its cores have been made and its HOMER is mapped, and moves its HOMER into its memory. */
bool pnv_nest_pmu_create(PnvChip *chip, PnvHomer *homer, Error **errp);
#else
static inline bool pnv_nest_pmu_create(PnvChip *chip, PnvHomer *homer, Error **errp) { return true; }
#endif

#endif
