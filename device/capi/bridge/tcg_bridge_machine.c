/*
 * Makes the PMUs of a bridge, saves them and loads them: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void raised(void *user, uint32_t thread, uint32_t counter) {
  TcgBridge *bridge = user;
  (void)counter;
  if (bridge->host.interrupt != NULL) bridge->host.interrupt(bridge->user, thread);
  VM_PMU_STORE(&bridge->cpus[thread].check_needed, 1);
}

static void lines_changed(void *user, uint32_t thread, uint32_t levels) {
  TcgBridge *bridge = user;
  TcgBridgeCpu *cpu = &bridge->cpus[thread];
  if (levels != 0 && cpu->records_branches != 0 && cpu->history_patience != 0) {
    cpu->history_patience -= 1;
    /* An epoch other than the current one, so that the demand is read again. */
    if (cpu->history_patience == 0) VM_PMU_STORE(&cpu->demand.epoch, VM_PMU_LOAD(&cpu->demand.epoch) - 1);
  }
  if (bridge->host.lines != NULL) bridge->host.lines(bridge->user, thread, levels);
  VM_PMU_STORE(&cpu->check_needed, 1);
}

static void was_late(void *user, uint32_t thread, uint64_t events) {
  TcgBridge *bridge = user;
  if (bridge->host.late != NULL) bridge->host.late(bridge->user, thread, events);
}

static TcgBridge *refuse(TcgBridge *bridge, char *why, size_t why_size, const char *reason) {
  if (why_size > 0) snprintf(why, why_size, "%s", reason);
  tcg_bridge_destroy(bridge);
  return NULL;
}

static void insert(uint64_t set[VM_PMU_SIGNAL_WORDS], uint32_t signal) { set[signal / 64] |= UINT64_C(1) << (signal % 64); }

/* Makes the companion. Adds the signals that it supplies to the `count` signals at `supplied`. Returns false if it cannot be made. */
static bool create_companion(TcgBridge *bridge, const TcgBridgeOptions *options, uint32_t *supplied, uint32_t *count) {
  VmPmuCompanionOptions companion = *options->companion;
  uint32_t made[64 * VM_PMU_SIGNAL_WORDS];
  uint32_t number, made_count = 0;
  if (companion.packages == 0 && companion.threads == 0) {
    companion.packages = options->packages;
    companion.threads = options->threads;
  }
  if (vm_pmu_companion_create(options->part, &companion, &bridge->companion) != VM_PMU_STATUS_OK ||
      vm_pmu_companion_supplied(options->part, companion.clock, made, 64 * VM_PMU_SIGNAL_WORDS, &made_count) != VM_PMU_STATUS_OK) {
    return false;
  }
  for (number = 0; number < made_count; number++) {
    insert(bridge->companion_signals, made[number]);
    insert(bridge->companion_only, made[number]);
    if (*count != 0) supplied[(*count)++] = made[number];
  }
  bridge->is_timed = companion.clock == VM_PMU_CLOCK_OWNER_COMPANION;
  for (number = 0; number < options->supplied_count; number++) {
    if (bridge->is_timed && supplied[number] == VM_PMU_SIGNAL_CYCLES) continue;
    bridge->companion_only[supplied[number] / 64] &= ~(UINT64_C(1) << (supplied[number] % 64));
  }
  return true;
}

/* The signals that only tcg_bridge_taken() counts. */
static const uint32_t between_blocks[] = {VM_PMU_SIGNAL_INTERRUPTS_TAKEN, VM_PMU_SIGNAL_EXCEPTIONS_TAKEN};

/* Attaches CPU `number` to its PMU. Returns why it cannot be, or null. */
static const char *attach(TcgBridge *bridge, uint32_t number) {
  VmPmuGrowth growing[TCG_BRIDGE_MOST_CLOCKS];
  VmPmuCpuOptions made = {.size = sizeof(VmPmuCpuOptions)};
  TcgBridgeCpu *cpu = &bridge->cpus[number];
  uint32_t clock;
  cpu->bridge = bridge;
  cpu->number = number;
  cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
  cpu->cells.size = sizeof cpu->cells;
  cpu->demand.size = sizeof cpu->demand;
  vm_pmu_cells(bridge->machine, number, &cpu->cells);
  vm_pmu_demand(bridge->machine, number, &cpu->demand);
  bridge->demands[number] = cpu->demand;
  cpu->totals = cpu->cells.total_cells;
  if (bridge->paired_signal >= cpu->cells.signals) return "paired_signal is a number that no signal has";
  for (clock = 0; clock < bridge->clock_count; clock++) {
    if (bridge->clocks[clock] >= cpu->cells.signals) return "with_cycles has a number that no signal has";
    growing[clock].signal = bridge->clocks[clock];
    growing[clock].amount = 1;
  }
  made.growing = growing;
  made.growing_count = bridge->clock_count;
  made.paired_signal = bridge->paired_signal;
  made.companion = bridge->companion;
  if (vm_pmu_cpu_create(bridge->machine, number, &made, &cpu->cpu) != VM_PMU_STATUS_OK) return "a CPU cannot be attached to its PMU";
  vm_pmu_cpu_countdown(cpu->cpu, &cpu->countdown);
  if (!tcg_bridge_trace_create(cpu)) return "there is no memory for the trace of a CPU";
  tcg_bridge_choose(cpu);
  return NULL;
}

TcgBridge *tcg_bridge_create(const TcgBridgeOptions *options, char *why, size_t why_size) {
  VmPmuOptions machine = {.size = sizeof(VmPmuOptions)};
  TcgBridge *bridge;
  uint32_t packages, number;
  char reason[200];
  uint32_t single[1 + TCG_BRIDGE_MOST_CLOCKS + TCG_BRIDGE_MOST_SINGLE] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED};
  uint32_t supplied[2 * 64 * VM_PMU_SIGNAL_WORDS], supplied_count = options->supplied_count;
  if (options->with_cycles_count > TCG_BRIDGE_MOST_CLOCKS) return refuse(NULL, why, why_size, "with_cycles_count is more than 4");
  if (supplied_count > 64 * VM_PMU_SIGNAL_WORDS) return refuse(NULL, why, why_size, "supplied_count is more than there are signals");
  for (number = 0; number < supplied_count; number++) {
    supplied[number] = options->supplied[number];
    if (supplied[number] >= 64 * VM_PMU_SIGNAL_WORDS) return refuse(NULL, why, why_size, "supplied has a number that no signal has");
  }
  if (options->single_count > TCG_BRIDGE_MOST_SINGLE) return refuse(NULL, why, why_size, "single_count is more than 64");
  for (number = 0; number < options->with_cycles_count; number++) single[1 + number] = options->with_cycles[number];
  for (number = 0; number < options->single_count; number++) single[1 + options->with_cycles_count + number] = options->single[number];
  if (vm_pmu_abi() != VM_PMU_ABI) return refuse(NULL, why, why_size, "libvm_pmu has another interface than vm_pmu.h: compile again");
  if (options->host.context == NULL) return refuse(NULL, why, why_size, "TcgBridgeHost::context is null: it must be a function");
  bridge = calloc(1, sizeof *bridge);
  if (bridge == NULL) return refuse(NULL, why, why_size, "there is no memory for the bridge");
  atomic_flag_clear(&bridge->renewing);
  bridge->host = options->host;
  bridge->user = options->user;
  bridge->paired_signal = options->paired_signal;
  for (number = 0; number < options->with_cycles_count; number++) bridge->clocks[number] = options->with_cycles[number];
  bridge->clock_count = options->with_cycles_count;
  if (options->host.record != NULL) bridge->supplied_records = options->records != 0 ? options->records : UINT32_MAX;
  bridge->masks_entry = options->part != NULL && strcmp(options->part, "knl") == 0;

  if (options->companion != NULL && !create_companion(bridge, options, supplied, &supplied_count)) {
    vm_pmu_last_error(reason, sizeof reason);
    return refuse(bridge, why, why_size, reason);
  }
  machine.revision = options->revision;
  machine.packages = options->packages;
  machine.threads = options->threads;
  machine.pace_signal = VM_PMU_SIGNAL_CYCLES;
  machine.pace_most = options->most != 0 ? options->most : 4;
  machine.pace_single = single;
  machine.pace_single_count = 1 + options->with_cycles_count + options->single_count;
  machine.pace_between_blocks = between_blocks;
  machine.pace_between_blocks_count = sizeof between_blocks / sizeof *between_blocks;
  machine.supplied = supplied;
  machine.supplied_count = supplied_count;
  machine.records = options->host.record != NULL ? options->records : VM_PMU_RECORDS_NEVER;
  if (options->companion != NULL && machine.records != 0) {
    machine.records = (options->host.record != NULL ? options->records : 0) | TCG_BRIDGE_COMPANION_RECORDS;
  }
  if (options->companion != NULL) {
    /* The die of the companion. */
    machine.tiles = options->companion->tiles;
    machine.cluster_mode = options->companion->cluster_mode;
    machine.memory_mode = options->companion->memory_mode;
    machine.mcdram = options->companion->mcdram;
    machine.memory = options->companion->memory_per_package;
  }
  machine.user = bridge;
  machine.raise = raised;
  machine.lines = lines_changed;
  machine.late = was_late;
  if (vm_pmu_machine_create(options->part, &machine, &bridge->machine) != VM_PMU_STATUS_OK ||
      vm_pmu_machine_shape(bridge->machine, &packages, &bridge->cpu_count, NULL) != VM_PMU_STATUS_OK) {
    vm_pmu_last_error(reason, sizeof reason);
    return refuse(bridge, why, why_size, reason);
  }
  bridge->cpus = calloc(bridge->cpu_count, sizeof *bridge->cpus);
  bridge->demands = calloc(bridge->cpu_count, sizeof *bridge->demands);
  if (bridge->cpus == NULL || bridge->demands == NULL) return refuse(bridge, why, why_size, "there is no memory for the CPUs");
  for (number = 0; number < bridge->cpu_count; number++) {
    const char *refusal = attach(bridge, number);
    if (refusal != NULL) return refuse(bridge, why, why_size, refusal);
  }
  return bridge;
}

void tcg_bridge_destroy(TcgBridge *bridge) {
  uint32_t number;
  if (bridge == NULL) return;
  for (number = 0; bridge->cpus != NULL && number < bridge->cpu_count; number++) {
    vm_pmu_cpu_destroy(bridge->cpus[number].cpu);
    tcg_bridge_trace_destroy(&bridge->cpus[number]);
  }
  vm_pmu_companion_destroy(bridge->companion);
  vm_pmu_machine_destroy(bridge->machine);
  free(bridge->demands);
  free(bridge->cpus);
  free(bridge);
}

TcgBridgeCpu *tcg_bridge_cpu(TcgBridge *bridge, uint32_t number) { return number < bridge->cpu_count ? &bridge->cpus[number] : NULL; }

VmPmuMachine *tcg_bridge_machine(TcgBridge *bridge) { return bridge->machine; }

VmPmuCompanion *tcg_bridge_companion(TcgBridge *bridge) { return bridge->companion; }

void tcg_bridge_place(TcgBridgeCpu *cpu, uint64_t *countdown) {
  if (vm_pmu_cpu_place(cpu->cpu, countdown) == VM_PMU_STATUS_OK) cpu->countdown = countdown;
}

/* ---- Saving ---- */

/* A saved state is the length of the machine's bytes, lowest byte first, then these bytes, then those of the companion if there is one. */
#define LENGTH_BYTES 8

uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length) {
  VmPmuSnapshot *machine = NULL, *companion = NULL;
  const uint8_t *bytes = NULL, *more = NULL;
  size_t more_length = 0;
  uint8_t *copy = NULL;
  uint32_t number;
  for (number = 0; number < bridge->cpu_count; number++) vm_pmu_cpu_sync(bridge->cpus[number].cpu);
  if (bridge->uncore != NULL) bridge->uncore->save(bridge);
  if (vm_pmu_save(bridge->machine, &machine) == VM_PMU_STATUS_OK && vm_pmu_snapshot_bytes(machine, &bytes, length) == VM_PMU_STATUS_OK &&
      (bridge->companion == NULL || (vm_pmu_companion_save(bridge->companion, &companion) == VM_PMU_STATUS_OK &&
                                     vm_pmu_snapshot_bytes(companion, &more, &more_length) == VM_PMU_STATUS_OK))) {
    copy = malloc(LENGTH_BYTES + *length + more_length);
  }
  if (copy != NULL) {
    for (number = 0; number < LENGTH_BYTES; number++) copy[number] = (uint8_t)((uint64_t)*length >> 8 * number);
    memcpy(copy + LENGTH_BYTES, bytes, *length);
    if (more_length != 0) memcpy(copy + LENGTH_BYTES + *length, more, more_length);
    *length += LENGTH_BYTES + more_length;
  }
  vm_pmu_snapshot_destroy(companion);
  vm_pmu_snapshot_destroy(machine);
  return copy;
}

bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length) {
  uint64_t machine = 0;
  uint32_t number;
  if (length < LENGTH_BYTES) return false;
  for (number = 0; number < LENGTH_BYTES; number++) machine |= (uint64_t)bytes[number] << 8 * number;
  bytes += LENGTH_BYTES;
  length -= LENGTH_BYTES;
  if (machine > length || (machine == length) != (bridge->companion == NULL)) return false;
  if (vm_pmu_load(bridge->machine, bytes, (size_t)machine) != VM_PMU_STATUS_OK) return false;
  if (bridge->companion != NULL) vm_pmu_companion_load(bridge->companion, bytes + machine, length - (size_t)machine);
  if (bridge->uncore != NULL) bridge->uncore->load(bridge);
  for (number = 0; number < bridge->cpu_count; number++) {
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    uint32_t levels = 0;
    tcg_bridge_restored(cpu);
    vm_pmu_lines(bridge->machine, number, &levels);
    lines_changed(bridge, number, levels);
  }
  return true;
}
