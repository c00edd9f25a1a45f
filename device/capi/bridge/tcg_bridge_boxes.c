/*
 * Reports to boxes what the companion of a bridge supplies: see tcg_bridge_boxes.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_boxes.h"
#include "tcg_bridge_internal.h"

/* The number of threads of a tile. */
#define THREADS 8

/* Bytes of a line. */
#define LINE 64

static const struct {
  const char *first;
  uint32_t count;
  uint64_t demand;
} units[TCG_BRIDGE_UNITS] = {
    {"edc-uclk0", 8, TCG_BRIDGE_PLACES},
    {"edc-eclk0", 8, TCG_BRIDGE_PLACES},
    {"mc-dclk0", 6, TCG_BRIDGE_PLACES},
    {"cha0", 38, TCG_BRIDGE_REQUESTS},
};

/* For vm_pmu_companion_take_places(). */
static void inject_place(void *user, const VmPmuPlace *place) {
  TcgBridge *bridge = user;
  uint32_t box;
  uint8_t select, umask;
  if (vm_pmu_box_of_place(place, &box, &select, &umask) != VM_PMU_STATUS_OK) return;
  /* One per clock: neither a channel nor a controller does more. */
  vm_pmu_box_inject(bridge->machine, box, select, umask, 1, place->amount, NULL);
}

static void take_places(TcgBridge *bridge) {
  if ((VM_PMU_LOAD(&bridge->uncore_demand) & TCG_BRIDGE_PLACES) != 0) vm_pmu_companion_take_places(bridge->companion, inject_place, bridge);
}

/* For vm_pmu_cpu_observe_requests(). */
static void report_request(void *user, const VmPmuRequest *request) {
  const TcgBridgeCpu *cpu = user;
  const TcgBridge *bridge = cpu->bridge;
  uint32_t cha = 0;
  vm_pmu_companion_home(bridge->companion, request->physical, &cha);
  vm_pmu_box_request(bridge->machine, cha, request, cpu->number / THREADS, cpu->number % THREADS, NULL);
}

static void report_device(TcgBridge *bridge, const VmPmuDeviceRequest *request, uint64_t modified) {
  uint64_t end = request->physical + request->bytes, line = request->physical - request->physical % LINE;
  if ((VM_PMU_LOAD(&bridge->uncore_demand) & TCG_BRIDGE_REQUESTS) == 0) return;
  for (; line < end; line += LINE, modified >>= 1) {
    bool whole = line >= request->physical && end - line >= LINE;
    uint32_t cha = 0, access = VM_PMU_DEVICE_ACCESS_READ;
    if (request->operation == VM_PMU_DEVICE_OPERATION_WRITE) access = whole ? VM_PMU_DEVICE_ACCESS_WRITE : VM_PMU_DEVICE_ACCESS_PARTIAL_WRITE;
    vm_pmu_companion_home(bridge->companion, line, &cha);
    vm_pmu_box_device(bridge->machine, cha, access, line, (modified & 1) != 0);
  }
}

void tcg_bridge_boxes_interrupt(TcgBridge *bridge, uint64_t address) {
  uint32_t cha = 0;
  if ((VM_PMU_LOAD(&bridge->uncore_demand) & TCG_BRIDGE_REQUESTS) == 0) return;
  vm_pmu_companion_home(bridge->companion, address, &cha);
  vm_pmu_box_device(bridge->machine, cha, VM_PMU_DEVICE_ACCESS_INTERRUPT, address, false);
}

/* Reads what the boxes demand, and sets up the companion for it. Returns whether it has changed. */
static bool update_demand(TcgBridge *bridge) {
  uint64_t demand = 0, before = VM_PMU_LOAD(&bridge->uncore_demand);
  uint32_t unit, box;
  bool mesh = false;
  vm_pmu_boxes_listen_to_mesh(bridge->machine, &mesh);
  demand |= mesh ? TCG_BRIDGE_REQUESTS : 0;
  for (unit = 0; unit < TCG_BRIDGE_UNITS; unit++) {
    for (box = 0; box < units[unit].count; box++) {
      bool listens = false;
      vm_pmu_box_listens(bridge->machine, bridge->first_boxes[unit] + box, &listens);
      demand |= listens ? units[unit].demand : 0;
    }
  }
  if (demand == before) return false;
  if (((demand ^ before) & TCG_BRIDGE_PLACES) != 0) vm_pmu_companion_watch_places(bridge->companion, (demand & TCG_BRIDGE_PLACES) != 0);
  VM_PMU_STORE(&bridge->uncore_demand, demand);
  return true;
}

static void loaded(TcgBridge *bridge) { update_demand(bridge); }

static const TcgBridgeUncore uncore = {take_places, loaded, report_device};

bool tcg_bridge_boxes_begin(TcgBridge *bridge) {
  bool counting;
  uint32_t unit, number;
  if (vm_pmu_boxes_count(bridge->machine, &counting) != VM_PMU_STATUS_OK) return false;
  for (unit = 0; unit < TCG_BRIDGE_UNITS; unit++) vm_pmu_box_named(units[unit].first, &bridge->first_boxes[unit]);
  if (bridge->companion == NULL || bridge->uncore != NULL) return true;
  bridge->uncore = &uncore;
  for (number = 0; number < bridge->cpu_count; number++) {
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    vm_pmu_cpu_observe_requests(cpu->cpu, report_request, cpu);
  }
  return true;
}

void tcg_bridge_boxes_advance(TcgBridge *bridge, uint64_t cycles) {
  take_places(bridge);
  vm_pmu_boxes_advance(bridge->machine, cycles);
}

void tcg_bridge_boxes_written(TcgBridge *bridge) {
  if (bridge->uncore != NULL && update_demand(bridge)) tcg_bridge_kick_all(bridge);
}
