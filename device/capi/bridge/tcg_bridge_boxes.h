/*
 * The boxes of Knights Landing's untile, behind a bridge: what its companion does in memory and asks of other tiles comes to the boxes that count
 * it. Copy tcg_bridge_boxes.h and tcg_bridge_boxes.c beside those of the companion. The host keeps the boxes' registers where its bus has them:
 * vm_pmu_pci_read() and its like, or tcg_bridge_write() for those behind MSRs.
 *
 * All CPUs are followed while some counter listens to an event of a memory controller's channel, of an MCDRAM controller or of a CHA, and only then. What
 * memory did comes to the boxes when their clocks are brought up, the requests at once.
 *
 * One call of these at a time, under a lock of the host's. TcgBridgeHost::kick is needed: it is called for every CPU.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_BOXES_H
#define TCG_BRIDGE_BOXES_H

#include "tcg_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before any CPU runs: whether the bridge's part has boxes. Does nothing the second time. */
bool tcg_bridge_boxes_begin(TcgBridge *bridge);
/* Before registers of boxes are accessed: so many cycles of the CPUs' clock have gone by since the last call. */
void tcg_bridge_boxes_advance(TcgBridge *bridge, uint64_t cycles);
/* Registers of boxes may have been written, or were reset. */
void tcg_bridge_boxes_written(TcgBridge *bridge);

#ifdef __cplusplus
}
#endif

#endif
