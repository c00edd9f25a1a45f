/*
 * Reports to the nests of POWER9's chips what the companion of a bridge moves: see tcg_bridge_nest.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_nest.h"
#include "tcg_bridge_internal.h"

void tcg_bridge_nest_flush(TcgBridge *bridge) {
  if (bridge->traffic != NULL) vm_pmu_traffic_flush(bridge->traffic, bridge->companion, bridge->platform);
}

/* Sets up the companion for what the engines need. Returns whether that has changed. */
static bool update_demand(TcgBridge *bridge) {
  uint64_t before = VM_PMU_LOAD(&bridge->uncore_demand), demand;
  bool watches = false;
  vm_pmu_traffic_sync(bridge->traffic, bridge->companion, bridge->platform, &watches);
  demand = watches ? TCG_BRIDGE_PLACES : 0;
  VM_PMU_STORE(&bridge->uncore_demand, demand);
  return demand != before;
}

static void loaded(TcgBridge *bridge) { update_demand(bridge); }

/* The companion itself adds up what devices move. */
static const TcgBridgeUncore uncore = {tcg_bridge_nest_flush, loaded, NULL};

VmPmuTraffic *tcg_bridge_nest_begin(TcgBridge *bridge, const VmPmuPlatform *platform) {
  if (bridge->companion == NULL || vm_pmu_traffic_create(bridge->companion, platform, &bridge->traffic) != VM_PMU_STATUS_OK) return NULL;
  bridge->platform = platform;
  bridge->uncore = &uncore;
  return bridge->traffic;
}

void tcg_bridge_nest_sync(TcgBridge *bridge) {
  if (bridge->traffic != NULL && update_demand(bridge)) tcg_bridge_kick_all(bridge);
}
