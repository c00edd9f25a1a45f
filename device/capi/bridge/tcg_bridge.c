/*
 * The code between a dynamic translator and vm_pmu.h: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

#include <stdlib.h>
#include <string.h>

#define PAIRED_MASK ((UINT64_C(1) << TCG_BRIDGE_SHIFT) - 1)

/* ---- Blocks ---- */

void tcg_bridge_block_begin(TcgBridgeBlock *block) { memset(block, 0, sizeof *block); }

void tcg_bridge_block_instruction(TcgBridgeBlock *block) {
  block->instructions += 1;
  block->takes += UINT64_C(1) << TCG_BRIDGE_SHIFT;
}

bool tcg_bridge_block_paired(TcgBridgeBlock *block, uint32_t amount) {
  TcgBridgePart part = {block->instructions - 1, amount};
  if (block->part_count == block->part_capacity) {
    uint32_t capacity = block->part_capacity != 0 ? 2 * block->part_capacity : 16;
    TcgBridgePart *parts = realloc(block->parts, capacity * sizeof *parts);
    if (parts == NULL) return false;
    block->parts = parts;
    block->part_capacity = capacity;
  }
  block->parts[block->part_count++] = part;
  block->takes -= amount;
  return true;
}

void tcg_bridge_block_free(TcgBridgeBlock *block) {
  free(block->parts);
  memset(block, 0, sizeof *block);
}

/* ---- Contexts ---- */

/* Reports the last completed instruction if it reached a deadline: after its signals, before the deadline is served. */
static void report_reached(TcgBridgeCpu *cpu) {
  VmPmuRecord record = {.size = sizeof(VmPmuRecord)};
  bool wanted = false;
  vm_pmu_cpu_wants_record(cpu->cpu, &wanted);
  if (wanted && cpu->bridge->host.record(cpu->bridge->user, cpu->number, &record)) vm_pmu_cpu_record(cpu->cpu, &record);
}

static inline void report_record(TcgBridgeCpu *cpu) {
  if ((cpu->demand.records & cpu->bridge->supplied_records & VM_PMU_RECORDS_AT_DEADLINE) == 0) return;
  if ((int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT <= 0) report_reached(cpu);
}

/* Keeps a context by its key. */
static void remember(TcgBridgeCpu *cpu, const VmPmuContext *context) {
  uint32_t index;
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) return;
  for (index = 0; index < cpu->context_count && cpu->contexts[index].key != cpu->key; index++) {
  }
  if (index == TCG_BRIDGE_CONTEXTS) index = 0;
  if (index >= cpu->context_count) cpu->context_count = index + 1;
  cpu->contexts[index].key = cpu->key;
  cpu->contexts[index].context = *context;
}

static VmPmuContext read_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = {.size = sizeof(VmPmuContext)};
  cpu->key = cpu->bridge->host.context(cpu->bridge->user, cpu->number, &context);
  remember(cpu, &context);
  return context;
}

void tcg_bridge_report_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = read_context(cpu);
  vm_pmu_cpu_set_context(cpu->cpu, &context);
}

bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key) {
  uint32_t index;
  if (key == cpu->key || !cpu->counting) return false;
  if (cpu->key != TCG_BRIDGE_KEY_UNKNOWN && vm_pmu_sensitivity(&cpu->cells) == 0) {
    cpu->key = key; /* no counter depends on it: the next access reports the context first */
    return VM_PMU_LOAD(&cpu->check_needed) != 0;
  }
  report_record(cpu);
  for (index = 0; index < cpu->context_count && cpu->contexts[index].key != key; index++) {
  }
  if (index < cpu->context_count) {
    cpu->key = key;
    vm_pmu_cpu_set_context(cpu->cpu, &cpu->contexts[index].context);
  } else {
    tcg_bridge_report_context(cpu);
  }
  tcg_bridge_renew_if_changed(cpu);
  return VM_PMU_LOAD(&cpu->check_needed) != 0;
}

/* ---- Execution ---- */

bool tcg_bridge_reached(const TcgBridgeCpu *cpu) {
  uint32_t word, signal;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t left = cpu->demand.signals[word];
    for (signal = 64 * word; left != 0; signal++, left >>= 1) {
      if ((left & 1) != 0 && vm_pmu_reached(&cpu->cells, signal)) return true;
    }
  }
  return false;
}

uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint32_t instructions) {
  uint32_t allowed = 0;
  /* Perhaps it has stayed so for long enough. */
  if (cpu->stays_followed) tcg_bridge_choose_again(cpu);
  report_record(cpu);
  do {
    vm_pmu_cpu_refill(cpu->cpu, instructions, &allowed);
  } while (tcg_bridge_renew_if_changed(cpu));
  if (tcg_bridge_poll_interrupt(cpu)) return TCG_BRIDGE_INTERRUPT;
  return allowed == instructions ? TCG_BRIDGE_GO : allowed;
}

bool tcg_bridge_due(TcgBridgeCpu *cpu) {
  report_record(cpu);
  vm_pmu_check(cpu->bridge->machine, cpu->number);
  tcg_bridge_renew_if_changed(cpu);
  return tcg_bridge_poll_interrupt(cpu);
}

void tcg_bridge_before_interrupt(TcgBridgeCpu *cpu) {
  if (!cpu->counting || (int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT > 0) return;
  report_record(cpu);
  vm_pmu_cpu_sync(cpu->cpu);
}

bool tcg_bridge_poll_interrupt(TcgBridgeCpu *cpu) {
  bool needed = VM_PMU_LOAD(&cpu->check_needed) != 0;
  if (needed) VM_PMU_STORE(&cpu->check_needed, 0);
  return needed;
}

void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  uint32_t part;
  left += (uint64_t)(block->instructions - executed) << TCG_BRIDGE_SHIFT;
  for (part = block->part_count; part != 0 && block->parts[part - 1].instruction >= executed; part--) {
    left -= block->parts[part - 1].amount;
  }
  VM_PMU_STORE(cpu->countdown, left);
}

void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint64_t takes, uint32_t instructions) {
  if (instructions != 0) vm_pmu_cpu_take_back(cpu->cpu, tcg_bridge_takes(instructions, (uint32_t)(-takes & PAIRED_MASK)));
}

void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record) {
  record->size = sizeof *record;
  vm_pmu_cpu_record(cpu->cpu, record);
  tcg_bridge_renew_if_changed(cpu);
}

void tcg_bridge_open(TcgBridgeCpu *cpu) { VM_PMU_STORE(cpu->countdown, VM_PMU_LOAD(cpu->countdown) - tcg_bridge_takes(1, 0)); }

void tcg_bridge_settle(TcgBridgeCpu *cpu) { vm_pmu_cpu_settle(cpu->cpu, NULL); }

static void nothing(void *user) { (void)user; }

void tcg_bridge_resume(TcgBridgeCpu *cpu) {
  cpu->context_count = 0;
  vm_pmu_cpu_access(cpu->cpu, nothing, NULL);
  tcg_bridge_renew_if_changed(cpu);
  if (VM_PMU_LOAD(&cpu->check_needed) != 0) tcg_bridge_settle(cpu);
}

void tcg_bridge_sync(TcgBridgeCpu *cpu) {
  if (cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_report_before_last(cpu);
  report_record(cpu);
  vm_pmu_cpu_sync(cpu->cpu);
  tcg_bridge_report_context(cpu);
  tcg_bridge_renew_if_changed(cpu);
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
  /* Unclaimed; or misuse, such as a register of another architecture. */
  if (status <= VM_PMU_STATUS_FAULT_UNCLAIMED) return TCG_BRIDGE_NOT_OURS;
  /* A fault that a later library has added. */
  if (space == VM_PMU_SPACE_MSR || space == VM_PMU_SPACE_RDPMC) {
    exception->vector = 13;
  } else if (space <= VM_PMU_SPACE_IMC) {
    exception->vector = 0xE40;
  } else {
    exception->vector = 0x5400, exception->code = 0x30;
  }
  return TCG_BRIDGE_RAISE;
}

/* One access, a write if `read` is null. */
static VmPmuStatus access_register(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *read, uint64_t value) {
  VmPmuContext context;
  VmPmuStatus status;
  if (cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_report_before_last(cpu);
  context = read_context(cpu);
  vm_pmu_cpu_refresh_context(cpu->cpu, &context);
  if (read != NULL) {
    status = vm_pmu_cpu_read(cpu->cpu, space, number, read);
  } else {
    status = vm_pmu_cpu_write(cpu->cpu, space, number, value);
    cpu->context_count = 0;
  }
  tcg_bridge_renew_if_changed(cpu);
  if (space == VM_PMU_SPACE_BHRB && status == VM_PMU_STATUS_OK) {
    cpu->history_patience = TCG_BRIDGE_HISTORY_PATIENCE;
    tcg_bridge_choose_again(cpu);
  }
  return status;
}

TcgBridgeAnswer tcg_bridge_read(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception) {
  return answer(access_register(cpu, space, number, value, 0), space, exception);
}

TcgBridgeAnswer tcg_bridge_write(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception) {
  VmPmuStatus status = access_register(cpu, space, number, NULL, value);
  if (status == VM_PMU_STATUS_OK) tcg_bridge_kick_others(cpu);
  return answer(status, space, exception);
}

void tcg_bridge_restored(TcgBridgeCpu *cpu) {
  cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
  cpu->context_count = 0;
  tcg_bridge_trace_clear(cpu);
  vm_pmu_cpu_restored(cpu->cpu);
  tcg_bridge_renew_if_changed(cpu);
}

void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm) {
  tcg_bridge_settle(cpu);
  vm_pmu_reset(cpu->bridge->machine, cpu->number, warm);
  tcg_bridge_restored(cpu);
  tcg_bridge_kick_others(cpu);
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
  uint32_t signals[1 + TCG_BRIDGE_MOST_CLOCKS] = {hardware ? VM_PMU_SIGNAL_INTERRUPTS_TAKEN : VM_PMU_SIGNAL_EXCEPTIONS_TAKEN};
  bool timed = cpu->bridge->is_timed && cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING;
  uint32_t clock;
  if (!cpu->counting) return;
  /* A deadline that the last instruction has reached is served first. */
  report_record(cpu);
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) {
    /* It was halted, and runs again. */
    vm_pmu_cpu_sync(cpu->cpu);
    tcg_bridge_report_context(cpu);
  }
  if (timed) {
    /* Its pipeline drains; how many cycles that takes, it says. */
    VmPmuInstruction taken = {.size = sizeof(VmPmuInstruction), .instruction_class = VM_PMU_CLASS_EXCEPTION};
    vm_pmu_cpu_execute(cpu->cpu, &taken);
  }
  for (clock = 0; clock < cpu->bridge->clock_count; clock++) signals[1 + clock] = cpu->bridge->clocks[clock];
  vm_pmu_cpu_retire(cpu->cpu, signals, timed ? 1 : 1 + cpu->bridge->clock_count, 1);
  tcg_bridge_renew_if_changed(cpu);
}

/* ---- Halting ---- */

uint64_t tcg_bridge_sleep(TcgBridgeCpu *cpu, const uint32_t *signals, uint32_t count) {
  uint64_t nearest = VM_PMU_NEVER;
  vm_pmu_cpu_until(cpu->cpu, signals, count, &nearest);
  return nearest;
}

void tcg_bridge_advance(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count) {
  vm_pmu_cpu_advance(cpu->cpu, cycles, signals, count);
  tcg_bridge_renew_if_changed(cpu);
}
