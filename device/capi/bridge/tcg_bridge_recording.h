/*
 * Records what is done with the PMUs of a bridge, as the text of a litmus file: `pmulab replay` does the same again. Copy
 * tcg_bridge_recording.h and tcg_bridge_recording.c along with the rest, and build the library with the feature `litmus`.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_RECORDING_H
#define TCG_BRIDGE_RECORDING_H

#include "tcg_bridge.h"

#include <vm_pmu_litmus.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts to record, up to `most` statements. A recording that was started before and not stopped is dropped. To be called while no CPU
 * executes; after tcg_bridge_load() too, as nothing is recorded of a machine from where it was loaded. Returns false if it cannot be
 * started: vm_pmu_last_error() says why.
 */
bool tcg_bridge_start_recording(TcgBridge *bridge, size_t most);
/*
 * Stops recording, while no CPU executes. Returns what was recorded, for vm_pmu_recording_text() and vm_pmu_recording_destroy(); null if
 * nothing was. The host's functions may be called.
 */
VmPmuRecording *tcg_bridge_stop_recording(TcgBridge *bridge);

#ifdef __cplusplus
}
#endif

#endif
