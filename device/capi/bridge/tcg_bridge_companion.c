/*
 * Reports what a CPU executes to the companion of a bridge: see tcg_bridge_companion.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_companion.h"
#include "tcg_bridge_internal.h"

#include <stdlib.h>
#include <string.h>

/* A trace that has more entries is reported before the next block: so much stays in the host's caches. */
#define USUAL_ENTRIES 1024

/* The memory of a trace. A host enters a block without asking for room where it must execute that before anything else, but not two of them. */
#define MOST_ENTRIES (USUAL_ENTRIES + 2 * TCG_BRIDGE_BLOCK_ENTRIES + 1)

/* The kind of an access that is none. */
#define NO_KIND 0xFF

/* No host has smaller pages. */
#define PAGE_BITS 12
#define PAGE_MASK ((UINT64_C(1) << PAGE_BITS) - 1)

bool tcg_bridge_trace_create(TcgBridgeCpu *cpu) {
  cpu->trace = &cpu->own_trace;
  if (cpu->bridge->companion == NULL) return true;
  cpu->entries = malloc(MOST_ENTRIES * sizeof *cpu->entries);
  if (cpu->entries == NULL) return false;
  tcg_bridge_trace_clear(cpu);
  tcg_bridge_trace_limit(cpu);
  return true;
}

void tcg_bridge_trace_destroy(TcgBridgeCpu *cpu) { free(cpu->entries); }

void tcg_bridge_trace_clear(TcgBridgeCpu *cpu) { cpu->trace->end = cpu->translated = cpu->entries; }

void tcg_bridge_trace_limit(TcgBridgeCpu *cpu) {
  if (cpu->following == TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_trace_clear(cpu);
  cpu->trace->limit = cpu->following == TCG_BRIDGE_FOLLOWS_BLOCKS ? cpu->entries + USUAL_ENTRIES : cpu->entries;
}

void tcg_bridge_place_trace(TcgBridgeCpu *cpu, TcgBridgeTrace *trace) {
  *trace = *cpu->trace;
  cpu->trace = trace;
}

/* ---- Addresses ---- */

static const TcgBridgePage *page_of(TcgBridgeCpu *cpu, uint64_t address, uint8_t space) {
  uint64_t number = address >> PAGE_BITS, key = number << 8 | space;
  TcgBridgePage *page = &cpu->pages[(number ^ number >> 8 ^ space) % TCG_BRIDGE_PAGES];
  if (page->key == ~key) return page; /* 0 is no page: the key of none has all bits set */
  page->key = ~key;
  page->physical = number << PAGE_BITS;
  page->flags = 0;
  if (cpu->bridge->host.translate != NULL) cpu->bridge->host.translate(cpu->bridge->user, cpu->number, space, page);
  return page;
}

static bool is_touch(const VmPmuTraced *entry) {
  uint8_t kind = vm_pmu_traced_kind(entry);
  return kind >= VM_PMU_ACCESS_KIND_PREFETCH_LOAD && kind <= VM_PMU_ACCESS_KIND_FLUSH;
}

/* Finds the physical addresses of the accesses that have none yet. */
static void translate(TcgBridgeCpu *cpu) {
  VmPmuTraced *entry;
  for (entry = cpu->translated; entry < cpu->trace->end; entry++) {
    const TcgBridgePage *page;
    if (!vm_pmu_is_traced_access(entry)) continue;
    page = page_of(cpu, entry->address, (uint8_t)(entry->what >> TCG_BRIDGE_SPACE_SHIFT));
    entry->physical = page->physical | (entry->address & PAGE_MASK);
    entry->what |= vm_pmu_traced_access(0, 0, 0, page->flags);
    /* Nothing is prefetched or flushed where nothing is cached. */
    if ((page->flags & VM_PMU_ACCESS_UNCACHED) != 0 && is_touch(entry)) entry->what |= vm_pmu_traced_access(0, NO_KIND, 0, 0);
  }
  cpu->translated = cpu->trace->end;
}

void tcg_bridge_translations_change(TcgBridgeCpu *cpu) {
  if (cpu->following == TCG_BRIDGE_FOLLOWS_NOTHING) return;
  translate(cpu);
  memset(cpu->pages, 0, sizeof cpu->pages);
}

/* ---- Reports ---- */

/* Reports the trace. `open` instructions of its last block are not executed yet. */
static void report(TcgBridgeCpu *cpu, uint64_t next, uint32_t open) {
  size_t count = (size_t)(cpu->trace->end - cpu->entries);
  translate(cpu);
  vm_pmu_cpu_execute_trace(cpu->cpu, cpu->entries, count, next);
  tcg_bridge_trace_clear(cpu);
  vm_pmu_cpu_complete_trace(cpu->cpu, open);
}

void tcg_bridge_complete(TcgBridgeCpu *cpu, uint64_t next) {
  if (cpu->trace->end == cpu->entries) return;
  report(cpu, next, 0);
  tcg_bridge_renew_if_changed(cpu);
  if (VM_PMU_LOAD(&cpu->check_needed) != 0) tcg_bridge_settle(cpu);
}

/* The last block that the trace has; null if it has been left. */
static const VmPmuTraced *last_block(const TcgBridgeCpu *cpu) {
  const VmPmuTraced *entry = cpu->trace->end;
  while (entry != cpu->entries) {
    entry--;
    if (vm_pmu_is_traced_block(entry)) return entry;
    if (!vm_pmu_is_traced_access(entry)) return NULL;
  }
  return NULL;
}

void tcg_bridge_trace_left(TcgBridgeCpu *cpu, uint32_t executed) {
  if (last_block(cpu) != NULL) tcg_bridge_append(cpu, vm_pmu_traced_left(executed), 0);
}

/* The number of the last instruction of a block. */
static uint32_t last_instruction(const VmPmuTraced *block) {
  uint32_t count = 0;
  vm_pmu_block_length((const VmPmuBlock *)(uintptr_t)block->address, &count);
  return count - 1;
}

void tcg_bridge_cancel(TcgBridgeCpu *cpu) {
  const VmPmuTraced *block = last_block(cpu);
  if (block != NULL) tcg_bridge_append(cpu, vm_pmu_traced_left(last_instruction(block)), 0);
}

void tcg_bridge_report_before_last(TcgBridgeCpu *cpu) {
  const VmPmuTraced *block = last_block(cpu);
  uint64_t address;
  uint32_t last;
  if (block == NULL) {
    if (cpu->trace->end != cpu->entries) report(cpu, 0, 0);
    return;
  }
  last = last_instruction(block);
  address = block->address;
  tcg_bridge_append(cpu, vm_pmu_traced_left(last), 0);
  report(cpu, 0, 1);
  tcg_bridge_append(cpu, vm_pmu_traced_block(last), address);
}

void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address) {
  if (cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_report_before_last(cpu);
  vm_pmu_cpu_invalidate(cpu->cpu, what, address);
}

/* ---- Devices ---- */

bool tcg_bridge_watches_devices(TcgBridge *bridge) { return atomic_load_explicit(&bridge->followed, memory_order_relaxed) != 0; }

void tcg_bridge_device(TcgBridge *bridge, uint64_t physical, uint64_t bytes, bool writes) {
  VmPmuDeviceRequest request = {.size = sizeof request, .operation = writes ? VM_PMU_DEVICE_OPERATION_WRITE : VM_PMU_DEVICE_OPERATION_READ};
  if (bridge->companion == NULL) return;
  for (; bytes != 0; bytes -= request.bytes, physical += request.bytes) {
    uint64_t modified = 0, rest = PAGE_MASK + 1 - (physical & PAGE_MASK);
    request.physical = physical;
    request.bytes = bytes < rest ? bytes : rest;
    if (vm_pmu_companion_device(bridge->companion, bridge->machine, 0, &request, &modified) != VM_PMU_STATUS_OK) return;
    if (bridge->uncore != NULL && bridge->uncore->device != NULL) bridge->uncore->device(bridge, &request, modified);
  }
}
