/*
 * The nests of POWER9's chips, behind a bridge. They count what the bridge's companion does in memory, and what moves between caches, memory,
 * chips and devices. Copy tcg_bridge_nest.h and tcg_bridge_nest.c along with those of the companion. The host has the chips, of vm_pmu_posting.h,
 * and advances them.
 *
 * All CPUs are followed while the engine of a chip posts, and only then. An engine posts all counters whatever the guest reads.
 *
 * Only one of these functions may run at a time: call them under a lock. TcgBridgeHost::kick is needed: it is called for every CPU.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_NEST_H
#define TCG_BRIDGE_NEST_H

#include "tcg_bridge.h"

#include <vm_pmu_posting.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * To be called before any CPU runs: each package of the companion is a chip of `platform`, in its order. Returns what connects them, for
 * vm_pmu_traffic_moved() and vm_pmu_traffic_restore(); null if there is no companion, or no memory. Both remain until the bridge is destroyed.
 */
VmPmuTraffic *tcg_bridge_nest_begin(TcgBridge *bridge, const VmPmuPlatform *platform);
/* To be called before the platform advances: reports to the chips what has moved. */
void tcg_bridge_nest_flush(TcgBridge *bridge);
/* An engine may have been started or stopped. */
void tcg_bridge_nest_sync(TcgBridge *bridge);

#ifdef __cplusplus
}
#endif

#endif
