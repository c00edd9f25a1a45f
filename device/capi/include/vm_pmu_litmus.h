/*
 * vm-pmu: litmus files, and recordings.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_LITMUS_H
#define VM_PMU_LITMUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu.h"

// A recording, as text. Callers only get pointers to it.
typedef struct VmPmuRecording VmPmuRecording;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Replays a litmus file, the `length` bytes at `text`, on a separate machine. Writes to `checked`, which may be null, how many
// expectations it checked.
//
// VM_PMU_STATUS_ERROR_LITMUS_TEXT when the file cannot be read, VM_PMU_STATUS_ERROR_LITMUS_FAILED when an expectation failed;
// vm_pmu_last_error() then returns its line, what was observed, and what was expected.
VmPmuStatus vm_pmu_litmus_run(const char *text, size_t length, uint64_t *checked);

// Starts to record what is done with the machine, up to `most` statements: accesses, what is fed, contexts, injections, records and
// requests, and what the guest sees. An earlier recording that was not stopped is dropped. A recording allocates memory as it grows, and
// every call takes longer.
//
// VM_PMU_STATUS_ERROR_SNAPSHOT when what the machine remembers cannot be saved: the recording begins with it.
VmPmuStatus vm_pmu_recording_start(const VmPmuMachine *machine, size_t most);

// Stops recording, and writes to `recording` what was recorded. It lives until vm_pmu_recording_destroy().
//
// VM_PMU_STATUS_ERROR_ARGUMENT when the machine does not record.
VmPmuStatus vm_pmu_recording_stop(const VmPmuMachine *machine, VmPmuRecording **recording);

// Writes to `text` and `length` where the text of the recording is, a litmus file without a byte of value 0 at its end, and how many bytes it
// has. They are valid until the recording is destroyed. Writes to `left_out`, which may be null, how many calls it lacks, for which litmus
// files have no statement, and to `is_cut`, which may be null, whether it ends early.
VmPmuStatus vm_pmu_recording_text(const VmPmuRecording *recording,
                                  const char **text,
                                  size_t *length,
                                  uint64_t *left_out,
                                  bool *is_cut);

// Destroys a recording. Null is allowed and does nothing.
VmPmuStatus vm_pmu_recording_destroy(VmPmuRecording *recording);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* VM_PMU_LITMUS_H */
