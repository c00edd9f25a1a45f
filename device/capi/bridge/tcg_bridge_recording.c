/*
 * Starts and stops recordings: see tcg_bridge_recording.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_recording.h"
#include "tcg_bridge_internal.h"

/* What the CPUs have executed is added to the totals, which the recording begins and ends with. */
static void settle_all(TcgBridge *bridge) {
  uint32_t number;
  for (number = 0; number < bridge->cpu_count; number++) vm_pmu_cpu_sync(bridge->cpus[number].cpu);
}

bool tcg_bridge_start_recording(TcgBridge *bridge, size_t most) {
  settle_all(bridge);
  return vm_pmu_recording_start(bridge->machine, most) == VM_PMU_STATUS_OK;
}

VmPmuRecording *tcg_bridge_stop_recording(TcgBridge *bridge) {
  VmPmuRecording *recording = NULL;
  settle_all(bridge);
  vm_pmu_recording_stop(bridge->machine, &recording);
  return recording;
}
