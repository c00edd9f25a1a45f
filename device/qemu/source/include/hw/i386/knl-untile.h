/*
 * Knights Landing's untile: the boxes of its PMU that are in PCI configuration space.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef HW_I386_KNL_UNTILE_H
#define HW_I386_KNL_UNTILE_H

#include "hw/pci/pci_bus.h"

#if defined(CONFIG_VM_PMU) && defined(CONFIG_TCG)

/* Puts the boxes onto the machine's root bus and a separate root bus, if the PMU of its CPUs has boxes. */
void knl_untile_create(PCIBus *root);

#else

static inline void knl_untile_create(PCIBus *root) { }

#endif

#endif
