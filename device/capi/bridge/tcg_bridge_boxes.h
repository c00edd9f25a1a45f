/*
 * The boxes of Knights Landing's untile, behind a bridge. They count what the bridge's companion does in memory and requests from other
 * tiles. Copy tcg_bridge_boxes.h and tcg_bridge_boxes.c along with those of the companion. The host puts the boxes' registers where its bus
 * has them, by vm_pmu_pci_read() and the like, or tcg_bridge_write() for those behind MSRs.
 *
 * All CPUs are followed only while some counter counts an event of a memory controller's channel, of an MCDRAM controller, of a CHA, or of a
 * stop of the mesh, among them M2PCIe and the IRP. What memory did is injected into the boxes when their clocks are advanced; requests when a
 * trace is reported; and what tcg_bridge_device() reports at once.
 *
 * Only one of these functions may run at a time: call them under a lock. TcgBridgeHost::kick is needed: it is called for every CPU.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_BOXES_H
#define TCG_BRIDGE_BOXES_H

#include "tcg_bridge.h"

#include <vm_pmu_boxes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* To be called before any CPU runs. Returns whether the bridge's part has boxes. Further calls have no effect. */
bool tcg_bridge_boxes_begin(TcgBridge *bridge);
/* To be called before registers of boxes are accessed. `cycles` cycles of the CPUs' clock have elapsed since the last call. */
void tcg_bridge_boxes_advance(TcgBridge *bridge, uint64_t cycles);
/* A device or the I/O APIC sends an interrupt as a message, which is a write to `address`. */
void tcg_bridge_boxes_interrupt(TcgBridge *bridge, uint64_t address);
/* Registers of boxes may have been written or reset. */
void tcg_bridge_boxes_written(TcgBridge *bridge);

#ifdef __cplusplus
}
#endif

#endif
