/*
 * What a dynamic translator needs between itself and vm_pmu.h: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct TcgBridge {
  VmPmuMachine *machine;
  TcgBridgeHost host;
  void *user;
  TcgBridgeCpu *cpus;
  uint32_t cpu_count;
  uint64_t access_cycles;
  /* The part's local APIC sets the mask of its entry when it delivers by it. */
  bool masks_entry;
  /* The signals of the slots, the first two included. */
  uint32_t signals[TCG_BRIDGE_SLOTS];
  uint32_t slot_count;
  /* What translated blocks add, or must once they are retranslated; taken together for all CPUs, as they may share blocks. */
  uint64_t wanted[VM_PMU_SIGNAL_WORDS];
  uint64_t records;
  /* The records that the host tells. */
  uint32_t tells;
  /* The demand of each CPU when it was looked at last. Only with `renewing` held, which is for as long as that takes. */
  VmPmuDemand *demands;
  atomic_flag renewing;
};

/* Records of instructions that end their block, and of those that may be anywhere in it. */
#define LAST_RECORDS (VM_PMU_RECORDS_TAKEN_BRANCHES | VM_PMU_RECORDS_BRANCHES)
#define SINGLE_RECORDS (VM_PMU_RECORDS_MEMORY | VM_PMU_RECORDS_FETCHES | VM_PMU_RECORDS_EVERY)

/* ---- A machine ---- */

static void raised(void *user, uint32_t thread, uint32_t counter) {
  TcgBridge *bridge = user;
  (void)counter;
  if (bridge->host.interrupt != NULL) bridge->host.interrupt(bridge->user, thread);
  VM_PMU_STORE(&bridge->cpus[thread].look, 1);
}

static void lines_changed(void *user, uint32_t thread, uint32_t levels) {
  TcgBridge *bridge = user;
  if (bridge->host.lines != NULL) bridge->host.lines(bridge->user, thread, levels);
  VM_PMU_STORE(&bridge->cpus[thread].look, 1);
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

TcgBridge *tcg_bridge_create(const TcgBridgeOptions *options, char *why, size_t why_size) {
  VmPmuOptions machine = {sizeof(VmPmuOptions)};
  TcgBridge *bridge;
  uint32_t packages, number;
  char reason[200];
  if (vm_pmu_abi() != VM_PMU_ABI) return refuse(NULL, why, why_size, "libvm_pmu has another interface than vm_pmu.h: compile again");
  if (options->host.context == NULL) return refuse(NULL, why, why_size, "TcgBridgeHost::context is null: it must be a function");
  if (options->sum_count > TCG_BRIDGE_SLOTS - 2) return refuse(NULL, why, why_size, "sum_count is more than TCG_BRIDGE_SLOTS - 2");
  bridge = calloc(1, sizeof *bridge);
  if (bridge == NULL) return refuse(NULL, why, why_size, "there is no memory for the bridge");
  atomic_flag_clear(&bridge->renewing);
  bridge->host = options->host;
  bridge->user = options->user;
  bridge->access_cycles = options->access_cycles != 0 ? options->access_cycles : 1;
  bridge->signals[TCG_BRIDGE_SLOT_PACE] = VM_PMU_SIGNAL_CYCLES;
  bridge->signals[TCG_BRIDGE_SLOT_INSTRUCTIONS] = VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED;
  for (number = 0; number < options->sum_count; number++) bridge->signals[2 + number] = options->sums[number];
  bridge->slot_count = 2 + options->sum_count;
  if (options->host.record != NULL) bridge->tells = options->records != 0 ? options->records : UINT32_MAX;
  bridge->masks_entry = options->part != NULL && strcmp(options->part, "knl") == 0;

  machine.revision = options->revision;
  machine.packages = options->packages;
  machine.threads = options->threads;
  machine.pace_signal = VM_PMU_SIGNAL_CYCLES;
  machine.pace_most = options->most;
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
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    cpu->bridge = bridge;
    cpu->number = number;
    cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
    cpu->cells.size = sizeof cpu->cells;
    cpu->demand.size = sizeof cpu->demand;
    vm_pmu_cells(bridge->machine, number, &cpu->cells);
    vm_pmu_demand(bridge->machine, number, &cpu->demand);
    bridge->demands[number] = cpu->demand;
    cpu->totals = cpu->cells.totals;
    cpu->horizon = cpu->cells.horizon;
  }
  for (number = 0; number < bridge->slot_count; number++) {
    if (bridge->signals[number] >= bridge->cpus->cells.signals) {
      return refuse(bridge, why, why_size, "sums has a number that no signal has");
    }
  }
  return bridge;
}

void tcg_bridge_destroy(TcgBridge *bridge) {
  if (bridge == NULL) return;
  vm_pmu_machine_destroy(bridge->machine);
  free(bridge->demands);
  free(bridge->cpus);
  free(bridge);
}

TcgBridgeCpu *tcg_bridge_cpu(TcgBridge *bridge, uint32_t number) { return number < bridge->cpu_count ? &bridge->cpus[number] : NULL; }

VmPmuMachine *tcg_bridge_machine(TcgBridge *bridge) { return bridge->machine; }

uint32_t tcg_bridge_signal(const TcgBridge *bridge, uint32_t slot) { return bridge->signals[slot]; }

/* ---- Demand ---- */

/* Looks at the demand of every CPU that has another. What is no longer wanted stays, unless it is to be forgotten. */
static void renew(TcgBridge *bridge, bool forget) {
  uint64_t wanted[VM_PMU_SIGNAL_WORDS] = {0};
  uint64_t records = 0;
  bool more = false;
  uint32_t number, word;
  while (atomic_flag_test_and_set_explicit(&bridge->renewing, memory_order_acquire)) {
  }
  for (number = 0; number < bridge->cpu_count; number++) {
    VmPmuDemand *demand = &bridge->demands[number];
    uint32_t epoch = demand->epoch;
    vm_pmu_epoch(bridge->machine, number, &epoch);
    if (epoch != demand->epoch) vm_pmu_demand(bridge->machine, number, demand);
    for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) wanted[word] |= demand->signals[word];
    records |= demand->records & bridge->tells & (LAST_RECORDS | SINGLE_RECORDS);
  }
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t before = VM_PMU_LOAD(&bridge->wanted[word]);
    more |= (wanted[word] & ~before) != 0;
    VM_PMU_STORE(&bridge->wanted[word], forget ? wanted[word] : before | wanted[word]);
  }
  more |= VM_PMU_LOAD(&bridge->records) != records;
  VM_PMU_STORE(&bridge->records, records);
  atomic_flag_clear_explicit(&bridge->renewing, memory_order_release);
  if (more) {
    if (bridge->host.retranslate != NULL) bridge->host.retranslate(bridge->user);
    for (number = 0; number < bridge->cpu_count; number++) VM_PMU_STORE(&bridge->cpus[number].look, 1);
  }
}

static void renew_if_changed(TcgBridgeCpu *cpu) {
  uint32_t epoch = cpu->demand.epoch;
  vm_pmu_epoch(cpu->bridge->machine, cpu->number, &epoch);
  if (epoch == cpu->demand.epoch) return;
  vm_pmu_demand(cpu->bridge->machine, cpu->number, &cpu->demand);
  renew(cpu->bridge, false);
}

void tcg_bridge_trim(TcgBridge *bridge) {
  uint32_t number;
  for (number = 0; number < bridge->cpu_count; number++) tcg_bridge_settle(&bridge->cpus[number]);
  renew(bridge, true);
}

uint32_t tcg_bridge_limit(const TcgBridge *bridge) { return VM_PMU_LOAD(&bridge->records) & SINGLE_RECORDS ? 1 : UINT32_MAX; }

bool tcg_bridge_always(const TcgBridge *bridge) { return VM_PMU_LOAD(&bridge->records) != 0; }

bool tcg_bridge_wants(const TcgBridge *bridge, uint32_t signal) {
  return signal < 64 * VM_PMU_SIGNAL_WORDS && (VM_PMU_LOAD(&bridge->wanted[signal / 64]) >> (signal % 64) & 1) != 0;
}

/* ---- Blocks ---- */

void tcg_bridge_block_begin(TcgBridgeBlock *block, const TcgBridge *bridge, uint32_t key) {
  uint32_t slot;
  memset(block, 0, sizeof *block);
  block->key = key;
  block->always = tcg_bridge_always(bridge);
  /* The pace is always kept, and instructions with it: the one that starts a counter is the first that it counts. */
  block->slots = 1 << TCG_BRIDGE_SLOT_PACE | 1 << TCG_BRIDGE_SLOT_INSTRUCTIONS;
  for (slot = 2; slot < bridge->slot_count; slot++) {
    if (tcg_bridge_wants(bridge, bridge->signals[slot])) block->slots |= UINT32_C(1) << slot;
  }
}

static bool add_part(TcgBridgeBlock *block, uint32_t slot, uint64_t amount) {
  if (block->part_count == block->part_capacity) {
    uint32_t capacity = block->part_capacity != 0 ? 2 * block->part_capacity : 16;
    TcgBridgePart *parts = realloc(block->parts, capacity * sizeof *parts);
    if (parts == NULL) return false;
    block->parts = parts;
    block->part_capacity = capacity;
  }
  block->parts[block->part_count].instruction = block->instructions - 1;
  block->parts[block->part_count].slot = slot;
  block->parts[block->part_count].amount = amount;
  block->part_count += 1;
  block->sums[slot] += amount;
  return true;
}

bool tcg_bridge_block_instruction(TcgBridgeBlock *block, uint64_t cycles) {
  block->instructions += 1;
  return add_part(block, TCG_BRIDGE_SLOT_PACE, cycles) && add_part(block, TCG_BRIDGE_SLOT_INSTRUCTIONS, 1);
}

bool tcg_bridge_block_add(TcgBridgeBlock *block, const TcgBridge *bridge, uint32_t signal, uint64_t amount) {
  uint32_t slot;
  for (slot = 0; slot < bridge->slot_count; slot++) {
    if (bridge->signals[slot] == signal && (block->slots >> slot & 1) != 0) return add_part(block, slot, amount);
  }
  return true;
}

uint32_t tcg_bridge_block_fit(const TcgBridgeBlock *block, uint64_t room) {
  uint64_t cost = 0;
  uint32_t part;
  for (part = 0; part < block->part_count; part++) {
    if (block->parts[part].slot != TCG_BRIDGE_SLOT_PACE) continue;
    cost += block->parts[part].amount;
    if (cost > room) return block->parts[part].instruction != 0 ? block->parts[part].instruction : 1;
  }
  return block->instructions;
}

void tcg_bridge_block_emit(const TcgBridgeBlock *block, const TcgBridge *bridge, void *user,
                           void (*emit)(void *user, uint32_t slot, uint32_t signal, uint64_t amount)) {
  uint32_t slot;
  for (slot = 0; slot < bridge->slot_count; slot++) {
    if (block->slots >> slot & 1) emit(user, slot, bridge->signals[slot], block->sums[slot]);
  }
}

void tcg_bridge_block_free(TcgBridgeBlock *block) {
  free(block->parts);
  memset(block, 0, sizeof *block);
}

/* ---- Execution ---- */

static void tell_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = {sizeof(VmPmuContext)};
  cpu->key = cpu->bridge->host.context(cpu->bridge->user, cpu->number, &context);
  vm_pmu_set_context(cpu->bridge->machine, cpu->number, &context);
}

static bool reached(const TcgBridgeCpu *cpu) {
  uint32_t signal;
  for (signal = 0; signal < cpu->cells.signals; signal++) {
    if (vm_pmu_wants(&cpu->demand, signal) && vm_pmu_reached(&cpu->cells, signal)) return true;
  }
  return false;
}

/* Tells the instruction that was completed last, once, if its record is wanted: after its signals, before the deadline. */
static void tell_record(TcgBridgeCpu *cpu) {
  const TcgBridge *bridge = cpu->bridge;
  VmPmuRecord record = {sizeof(VmPmuRecord)};
  uint64_t completed = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  uint32_t asked = cpu->demand.records & bridge->tells;
  bool news = completed != cpu->told;
  cpu->told = completed;
  if (!news || (asked & (LAST_RECORDS | SINGLE_RECORDS | VM_PMU_RECORDS_AT_DEADLINE)) == 0) return;
  if ((asked & (LAST_RECORDS | SINGLE_RECORDS)) == 0 && !reached(cpu)) return;
  if (bridge->host.record(bridge->user, cpu->number, &record)) vm_pmu_record(bridge->machine, cpu->number, &record);
}

static void serve(TcgBridgeCpu *cpu) {
  tell_record(cpu);
  if (vm_pmu_due(&cpu->cells)) vm_pmu_check(cpu->bridge->machine, cpu->number);
}

uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint64_t cost, uint32_t instructions, uint32_t key) {
  uint64_t room;
  serve(cpu);
  if (key != cpu->key) tell_context(cpu);
  renew_if_changed(cpu);
  if (VM_PMU_LOAD(&cpu->look)) {
    VM_PMU_STORE(&cpu->look, 0);
    return TCG_BRIDGE_LOOK;
  }
  room = vm_pmu_room(&cpu->cells);
  if (cost <= room || instructions <= 1) return TCG_BRIDGE_GO;
  return room != 0 ? room : 1;
}

bool tcg_bridge_look(TcgBridgeCpu *cpu) {
  bool look = VM_PMU_LOAD(&cpu->look) != 0;
  if (look) VM_PMU_STORE(&cpu->look, 0);
  return look;
}

void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed) {
  uint32_t part;
  memset(cpu->open, 0, sizeof cpu->open);
  for (part = 0; part < block->part_count && block->parts[part].instruction < executed; part++) {
    cpu->open[block->parts[part].slot] += block->parts[part].amount;
  }
}

static void subtract(uint64_t *cell, uint64_t amount) { *cell -= amount < *cell ? amount : *cell; }

void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint32_t instructions) {
  subtract(&cpu->open[TCG_BRIDGE_SLOT_PACE], instructions);
  subtract(&cpu->open[TCG_BRIDGE_SLOT_INSTRUCTIONS], instructions);
}

void tcg_bridge_settle(TcgBridgeCpu *cpu) {
  uint32_t slot;
  for (slot = 0; slot < cpu->bridge->slot_count; slot++) {
    vm_pmu_add(&cpu->cells, cpu->bridge->signals[slot], cpu->open[slot]);
    cpu->open[slot] = 0;
  }
}

void tcg_bridge_sync(TcgBridgeCpu *cpu) {
  tcg_bridge_settle(cpu);
  serve(cpu);
  tell_context(cpu);
  renew_if_changed(cpu);
}

/* ---- Registers ---- */

static TcgBridgeAnswer answer(VmPmuStatus status, uint32_t space, TcgBridgeException *exception) {
  exception->vector = 0;
  exception->code = 0;
  if (status == VM_PMU_STATUS_OK) return TCG_BRIDGE_DONE;
  switch (status) {
  case VM_PMU_STATUS_FAULT_NO_OPERATION: return TCG_BRIDGE_NOTHING;
  case VM_PMU_STATUS_FAULT_GENERAL_PROTECTION: exception->vector = 13; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_PERFORMANCE_MONITOR: exception->vector = 0xF60, exception->code = 3; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_BRANCH_HISTORY: exception->vector = 0xF60, exception->code = 4; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_EVENT_BASED_BRANCH: exception->vector = 0xF60, exception->code = 7; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_PERFORMANCE_MONITOR: exception->vector = 0xF80, exception->code = 3; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_BRANCH_HISTORY: exception->vector = 0xF80, exception->code = 4; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_EVENT_BASED_BRANCH: exception->vector = 0xF80, exception->code = 7; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_EMULATION_ASSISTANCE: exception->vector = 0xE40; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_PRIVILEGED_INSTRUCTION: exception->vector = 0x700; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_PRIVILEGED_OPERATION: exception->vector = 0x5400, exception->code = 0x10; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_RESERVED_REGISTER_FIELD: exception->vector = 0x5400, exception->code = 0x30; return TCG_BRIDGE_RAISE;
  default: break;
  }
  /* Unclaimed; or misuse, as a register of another architecture is. */
  if (status <= VM_PMU_STATUS_FAULT_UNCLAIMED) return TCG_BRIDGE_NOT_OURS;
  /* A fault of a later library. */
  if (space == VM_PMU_SPACE_MSR || space == VM_PMU_SPACE_RDPMC) {
    exception->vector = 13;
  } else if (space <= VM_PMU_SPACE_IMC) {
    exception->vector = 0xE40;
  } else {
    exception->vector = 0x5400, exception->code = 0x30;
  }
  return TCG_BRIDGE_RAISE;
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

/* One access, a write if `read` is null, between what is before the accessing instruction and that instruction itself. */
static VmPmuStatus access_register(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *read, uint64_t value) {
  const VmPmuMachine *machine = cpu->bridge->machine;
  uint64_t cycles = least(cpu->open[TCG_BRIDGE_SLOT_PACE], cpu->bridge->access_cycles);
  uint64_t instructions = least(cpu->open[TCG_BRIDGE_SLOT_INSTRUCTIONS], 1);
  VmPmuStatus status;
  cpu->open[TCG_BRIDGE_SLOT_PACE] -= cycles;
  cpu->open[TCG_BRIDGE_SLOT_INSTRUCTIONS] -= instructions;
  tcg_bridge_settle(cpu);
  tell_context(cpu);
  status = read != NULL ? vm_pmu_read(machine, cpu->number, space, number, read) : vm_pmu_write(machine, cpu->number, space, number, value);
  cpu->open[TCG_BRIDGE_SLOT_PACE] = cycles;
  cpu->open[TCG_BRIDGE_SLOT_INSTRUCTIONS] = instructions;
  return status;
}

TcgBridgeAnswer tcg_bridge_read(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception) {
  return answer(access_register(cpu, space, number, value, 0), space, exception);
}

TcgBridgeAnswer tcg_bridge_write(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception) {
  VmPmuStatus status = access_register(cpu, space, number, NULL, value);
  if (status == VM_PMU_STATUS_OK) {
    renew_if_changed(cpu); /* what the access brought to this CPU */
    renew(cpu->bridge, false); /* and to the others of its package */
  }
  return answer(status, space, exception);
}

void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm) {
  memset(cpu->open, 0, sizeof cpu->open);
  vm_pmu_reset(cpu->bridge->machine, cpu->number, warm);
  cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
  renew(cpu->bridge, false);
}

/* ---- Interrupts ---- */

TcgBridgeDelivery tcg_bridge_lvt(const TcgBridge *bridge, uint32_t *entry, bool software_enabled, uint8_t *vector) {
  uint32_t was = *entry, mode = was >> 8 & 7;
  if (!software_enabled || (was >> 16 & 1) != 0) return TCG_BRIDGE_DELIVER_NOTHING;
  if (bridge->masks_entry) *entry |= UINT32_C(1) << 16;
  *vector = (uint8_t)was;
  if (mode == 4) return TCG_BRIDGE_DELIVER_NMI;
  return mode == 0 && *vector >= 16 ? TCG_BRIDGE_DELIVER_VECTOR : TCG_BRIDGE_DELIVER_NOTHING;
}

bool tcg_bridge_pmv(uint64_t pmv, uint8_t *vector) {
  *vector = (uint8_t)pmv;
  return (pmv >> 16 & 1) == 0;
}

void tcg_bridge_taken(TcgBridgeCpu *cpu, bool hardware) {
  tcg_bridge_settle(cpu);
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) tell_context(cpu); /* it was halted, and is no longer */
  tcg_bridge_count(cpu, hardware ? VM_PMU_SIGNAL_INTERRUPTS_TAKEN : VM_PMU_SIGNAL_EXCEPTIONS_TAKEN, 1);
  tcg_bridge_count(cpu, VM_PMU_SIGNAL_CYCLES, 1);
  serve(cpu);
  renew_if_changed(cpu);
}

/* ---- Halting ---- */

uint64_t tcg_bridge_sleep(TcgBridgeCpu *cpu, const uint32_t *signals, uint32_t count) {
  uint64_t nearest = VM_PMU_NEVER;
  uint32_t index;
  for (index = 0; index < count; index++) {
    uint64_t deadline = VM_PMU_LOAD(cpu->cells.deadlines + signals[index]);
    uint64_t total = VM_PMU_LOAD(cpu->totals + signals[index]);
    if (deadline != VM_PMU_NEVER) nearest = least(nearest, deadline > total ? deadline - total : 0);
  }
  return nearest;
}

void tcg_bridge_pass(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count) {
  tcg_bridge_settle(cpu);
  vm_pmu_pass(cpu->bridge->machine, cpu->number, cycles, signals, count);
  renew_if_changed(cpu);
}

/* ---- Saving ---- */

uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length) {
  VmPmuSnapshot *snapshot = NULL;
  const uint8_t *bytes = NULL;
  uint8_t *copy = NULL;
  uint32_t number;
  for (number = 0; number < bridge->cpu_count; number++) {
    tcg_bridge_settle(&bridge->cpus[number]);
    serve(&bridge->cpus[number]);
  }
  if (vm_pmu_save(bridge->machine, &snapshot) == VM_PMU_STATUS_OK && vm_pmu_snapshot_bytes(snapshot, &bytes, length) == VM_PMU_STATUS_OK) {
    copy = malloc(*length);
    if (copy != NULL) memcpy(copy, bytes, *length);
  }
  vm_pmu_snapshot_destroy(snapshot);
  return copy;
}

bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length) {
  uint32_t number;
  if (vm_pmu_load(bridge->machine, bytes, length) != VM_PMU_STATUS_OK) return false;
  for (number = 0; number < bridge->cpu_count; number++) {
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    uint32_t levels = 0;
    memset(cpu->open, 0, sizeof cpu->open);
    cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
    vm_pmu_lines(bridge->machine, number, &levels);
    lines_changed(bridge, number, levels);
  }
  renew(bridge, false);
  return true;
}
