/*
 * vm-pmu: the events and signals, by name and in words.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_CATALOGUE_H
#define VM_PMU_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu.h"

// In VmPmuEvent::flags: the entry is a unit mask of an event, and umask has its bits.
#define VM_PMU_EVENT_UMASK (1 << 0)

// In VmPmuEvent::flags: a fixed counter counts it, which counts nothing else.
#define VM_PMU_EVENT_FIXED (1 << 1)

// In VmPmuEvent::flags: it is posted into memory, at offset bytes from the start of its region.
#define VM_PMU_EVENT_POSTED (1 << 2)

// How closely the count of an event matches that of the real part.
enum VmPmuFidelity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Known from the executed instructions, and an engine of this project supplies it.
  VM_PMU_FIDELITY_EXACT = 0,
  // A component of this project, such as the companion, supplies it, with a difference that VmPmuEvent::rule names.
  VM_PMU_FIDELITY_APPROXIMATE = 1,
  // No signal describes it: vm_pmu_inject() reports it.
  VM_PMU_FIDELITY_INJECTED = 2,
  // A signal or a record describes it, but only an embedder can supply that. Ranks between Approximate and Injected.
  VM_PMU_FIDELITY_EMBEDDER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFidelity VmPmuFidelity;
#else
typedef uint32_t VmPmuFidelity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A text that lives as long as the program. It does not end with a zero byte: print it with "%.*s".
typedef struct {
  // Its bytes, UTF-8.
  const char *bytes;
  // Their number.
  size_t length;
} VmPmuText;

// An event of a part, or one unit mask of an event.
typedef struct {
  // sizeof(VmPmuEvent).
  size_t size;
  // Its name: EVENT, or EVENT.MASK.
  VmPmuText name;
  // The unit of the part that it belongs to.
  VmPmuText unit;
  // What it counts, in one line.
  VmPmuText summary;
  // How the count differs from the real part's, if it is not exact.
  VmPmuText rule;
  // The section of the manual.
  VmPmuText section;
  // The numbers of the signals whose sum it is: signal_count of them, which live as long as the program.
  const uint16_t *signals;
  // How many there are.
  uint32_t signal_count;
  // VM_PMU_EVENT_...
  uint32_t flags;
  // The event select; for a posted event its offset.
  uint32_t select;
  // The unit mask, with VM_PMU_EVENT_UMASK.
  uint32_t umask;
  // The offset at which it is posted, with VM_PMU_EVENT_POSTED.
  uint32_t offset;
  // The counters that can count it, one bit each, by number.
  uint32_t counters;
  // The most increments in one cycle.
  uint32_t max_per_cycle;
  // VmPmuFidelity.
  uint32_t fidelity;
} VmPmuEvent;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes to `name` the name of part `number`, counted from 0. VM_PMU_STATUS_ERROR_RANGE when there are no more.
VmPmuStatus vm_pmu_part_name(uint32_t number, VmPmuText *name);

// Fills `event` with entry `number` of the catalogue of the part of this name, counted from 0: each event is followed by its unit masks.
// VM_PMU_STATUS_ERROR_RANGE when there are no more.
VmPmuStatus vm_pmu_event(const char *part, uint32_t number, VmPmuEvent *event);

// Fills `event` with the event or unit mask of this name, EVENT or EVENT.MASK, in upper or lower case; an event may be named by an alias.
VmPmuStatus vm_pmu_event_named(const char *part, const char *name, VmPmuEvent *event);

// Writes to `number` the number of the signal of this name, such as "instructions_retired".
VmPmuStatus vm_pmu_signal_named(const char *name, uint32_t *number);

// Writes to `name` and `summary` the name and the description of signal `number`.
VmPmuStatus vm_pmu_signal(uint32_t number, VmPmuText *name, VmPmuText *summary);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* VM_PMU_CATALOGUE_H */
