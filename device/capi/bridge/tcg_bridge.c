/*
 * The code between a dynamic translator and vm_pmu.h: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

#include <stdlib.h>
#include <string.h>

#define PAIRED_MASK ((UINT64_C(1) << TCG_BRIDGE_SHIFT) - 1)
/* The largest value of the countdown in instructions: with 3 for each of them, the paired signal does not exceed its bits. */
#define MOST_BUDGET (UINT64_C(1) << (TCG_BRIDGE_SHIFT - 2))

/* ---- The countdown ---- */

static void add_cycles(TcgBridgeCpu *cpu, uint64_t cycles) {
  uint32_t clock;
  for (clock = 0; clock < cpu->bridge->clock_count; clock++) vm_pmu_add(&cpu->cells, cpu->bridge->clocks[clock], cycles);
}

static void add_executed(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t paired) {
  if (cpu->bridge->paired_signal != 0) vm_pmu_add(&cpu->cells, cpu->bridge->paired_signal, paired);
  vm_pmu_add(&cpu->cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
  add_cycles(cpu, instructions);
}

/* How many subtracted instructions are neither in the totals nor in the amounts of a context. `left` is the countdown. */
static uint64_t taken_off(const TcgBridgeCpu *cpu, uint64_t left) {
  return (cpu->filled >> TCG_BRIDGE_SHIFT) - (uint64_t)((int64_t)left >> TCG_BRIDGE_SHIFT);
}

/*
 * Adds what was executed in an unreported context to the amounts of that context, except for the last `open` instructions, which add
 * nothing to the paired signal. What blocks have added to the totals is subtracted again. No other thread counts it: contexts add up only
 * where all counters are the thread's own.
 */
static void keep_unreported(TcgBridgeCpu *cpu, uint64_t open) {
  TcgBridgeContext *context = &cpu->contexts[cpu->context_index];
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  uint32_t number;
  context->instructions += taken_off(cpu, left) - open;
  context->paired += left & PAIRED_MASK;
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
  for (number = 0; number < cpu->separate_count; number++) {
    uint64_t *total = cpu->totals + cpu->separate[number];
    context->separate[number] += VM_PMU_LOAD(total) - cpu->separate_base[number];
    VM_PMU_STORE(total, cpu->separate_base[number]);
  }
}

static bool has_unreported(const TcgBridgeCpu *cpu, const TcgBridgeContext *context) {
  uint64_t any = context->instructions | context->paired;
  uint32_t number;
  for (number = 0; number < cpu->separate_count; number++) any |= context->separate[number];
  return any != 0;
}

static void add_unreported(TcgBridgeCpu *cpu, TcgBridgeContext *context) {
  uint32_t number;
  add_executed(cpu, context->instructions, context->paired);
  context->instructions = 0;
  context->paired = 0;
  for (number = 0; number < cpu->separate_count; number++) {
    vm_pmu_add(&cpu->cells, cpu->separate[number], context->separate[number]);
    context->separate[number] = 0;
  }
}

/* Reports the unreported contexts, each with its amounts. The current one comes last. */
static void report_contexts(TcgBridgeCpu *cpu) {
  uint32_t number;
  cpu->postponed = 0;
  for (number = 1; number <= cpu->context_count; number++) {
    uint32_t index = (cpu->context_index + number) % cpu->context_count;
    TcgBridgeContext *context = &cpu->contexts[index];
    if (!has_unreported(cpu, context) && index != cpu->context_index) continue;
    if (index != cpu->reported_context) {
      cpu->reported_context = index;
      cpu->context = context->context;
      vm_pmu_set_context(cpu->bridge->machine, cpu->number, &cpu->context);
    }
    add_unreported(cpu, context);
  }
}

/* Adds what was executed in the reported context to the totals, except for the last `open` instructions. */
static void add_taken_off(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  if (left == cpu->filled) return;
  add_executed(cpu, taken_off(cpu, left) - open, left & PAIRED_MASK);
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
}

/*
 * Adds the subtracted instructions to the totals, except for the last `open`, which add nothing to the paired signal. Returns how many
 * those are.
 */
static uint64_t settle(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t taken = taken_off(cpu, VM_PMU_LOAD(cpu->countdown));
  if (open > taken) open = taken;
  if (cpu->context_index != cpu->reported_context) {
    keep_unreported(cpu, open);
  } else {
    add_taken_off(cpu, open);
  }
  if (cpu->postponed) report_contexts(cpu);
  return open;
}

void tcg_bridge_fill(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t room = vm_pmu_room(&cpu->cells);
  room = room > open ? room - open : 0;
  /* The instructions up to a deadline are executed as a separate block: its last instruction is the one whose record is demanded. */
  if (room != 0 && (cpu->demand.records & cpu->bridge->supplied_records & VM_PMU_RECORDS_AT_DEADLINE) != 0) room -= 1;
  if (room > MOST_BUDGET) room = MOST_BUDGET;
  VM_PMU_STORE(cpu->countdown, room << TCG_BRIDGE_SHIFT);
  cpu->filled = (room + open) << TCG_BRIDGE_SHIFT;
}

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

/* ---- Execution ---- */

/* Whether two contexts may add up: they differ only in the fields that decide which counters count. */
static bool are_alike(const VmPmuContext *one, const VmPmuContext *other) {
  return one->flags == other->flags && one->control == other->control && one->time_base == other->time_base;
}

/*
 * Stores the context that the CPU and the PMU are in now. Contexts that were reported earlier are kept, unless one of them has the same key
 * and differs: then something has changed that the key does not contain, maybe for the others too.
 */
static void remember(TcgBridgeCpu *cpu, const VmPmuContext *context) {
  uint32_t index;
  for (index = 0; index < cpu->context_count && cpu->contexts[index].key != cpu->key; index++) {
  }
  if (index < cpu->context_count) {
    const VmPmuContext *known = &cpu->contexts[index].context;
    uint64_t other = (known->machine_state ^ context->machine_state) & vm_pmu_sensitivity(&cpu->cells);
    if (known->privilege != context->privilege || other != 0) index = cpu->context_count = 0;
  }
  if (index == TCG_BRIDGE_CONTEXTS || cpu->key == TCG_BRIDGE_KEY_UNKNOWN || !are_alike(&cpu->contexts[0].context, context)) {
    index = cpu->context_count = 0;
  }
  cpu->context_index = cpu->reported_context = index;
  if (index < cpu->context_count) return;
  cpu->contexts[index].key = cpu->key;
  cpu->contexts[index].context = *context;
  memset(cpu->contexts[index].separate, 0, sizeof cpu->contexts[index].separate);
  cpu->contexts[index].instructions = 0;
  cpu->contexts[index].paired = 0;
  cpu->context_count = index + 1;
}

/* A register has been written, or the host has called the PMU: earlier contexts may be out of date. */
static void forget_contexts(TcgBridgeCpu *cpu) {
  cpu->context_count = 0;
  remember(cpu, &cpu->context);
}

void tcg_bridge_report_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = {.size = sizeof(VmPmuContext)}, *reported = &cpu->context;
  cpu->key = cpu->bridge->host.context(cpu->bridge->user, cpu->number, &context);
  remember(cpu, &context);
  /*
   * Field by field, as they have just been written, and no two neighbours in a row: a comparison of both at once would wait for their
   * stores.
   */
  if (context.privilege == reported->privilege && context.machine_state == reported->machine_state && context.flags == reported->flags &&
      context.control == reported->control && context.time_base == reported->time_base && context.size == reported->size) {
    return;
  }
  if (cpu->bridge->companion != NULL && (reported->size == 0 || ((context.flags ^ reported->flags) & VM_PMU_CONTEXT_HALTED) != 0)) {
    vm_pmu_follow_set_halted(cpu->bridge->companion, cpu->number, (context.flags & VM_PMU_CONTEXT_HALTED) != 0);
  }
  *reported = context;
  vm_pmu_set_context(cpu->bridge->machine, cpu->number, &context);
}

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

/* Reports the last completed instruction, once, if it reached a deadline: after its signals, before the deadline is served. */
static void report_record(TcgBridgeCpu *cpu) {
  VmPmuRecord record = {.size = sizeof(VmPmuRecord)};
  uint64_t completed = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  bool is_new = completed != cpu->reported;
  cpu->reported = completed;
  if (!is_new || (cpu->demand.records & cpu->bridge->supplied_records & VM_PMU_RECORDS_AT_DEADLINE) == 0) return;
  if (!tcg_bridge_reached(cpu)) return;
  if (cpu->bridge->host.record(cpu->bridge->user, cpu->number, &record)) vm_pmu_record(cpu->bridge->machine, cpu->number, &record);
}

/* Serves the deadlines that the last instruction has reached. */
static void serve(TcgBridgeCpu *cpu) {
  report_record(cpu);
  vm_pmu_check(cpu->bridge->machine, cpu->number);
}

void tcg_bridge_serve(TcgBridgeCpu *cpu) {
  if (vm_pmu_due(&cpu->cells)) serve(cpu);
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint32_t instructions) {
  uint64_t room, budget;
  bool due;
  settle(cpu, 0);
  due = vm_pmu_due(&cpu->cells);
  if (due) serve(cpu);
  if (!due && vm_pmu_room(&cpu->cells) < instructions) {
    /* A deadline that was kept while its counter was stopped is nearer than necessary. Setting it again costs less than cutting a block. */
    vm_pmu_service(cpu->bridge->machine, cpu->number);
    vm_pmu_check(cpu->bridge->machine, cpu->number);
  }
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
  if (tcg_bridge_poll_interrupt(cpu)) return TCG_BRIDGE_INTERRUPT;
  budget = cpu->filled >> TCG_BRIDGE_SHIFT;
  if (instructions <= budget) return TCG_BRIDGE_GO;
  /*
   * A deadline that has been reached already waits for one more instruction: single cycles are observed by executing single instructions.
   */
  room = vm_pmu_room(&cpu->cells);
  if (room == 0) room = 1;
  room = least(least(room, instructions), MOST_BUDGET);
  if (room > budget) {
    cpu->filled = room << TCG_BRIDGE_SHIFT;
    VM_PMU_STORE(cpu->countdown, cpu->filled);
  }
  return room;
}

/* The CPU continues in a context that was reported earlier. Returns whether the change may be reported later. */
static bool postpone(TcgBridgeCpu *cpu, uint32_t key) {
  uint32_t index, number;
  if (!cpu->may_postpone || !vm_pmu_contexts_add_up(&cpu->cells) || cpu->contexts[cpu->context_index].key != cpu->key) return false;
  /* The instruction that ended the context may have reached a deadline, which is served in that context. */
  if ((int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT <= 0) return false;
  for (index = 0; index < cpu->context_count; index++) {
    if (cpu->contexts[index].key != key) continue;
    if (cpu->context_index != cpu->reported_context) {
      keep_unreported(cpu, 0);
    } else {
      add_taken_off(cpu, 0);
    }
    for (number = 0; number < cpu->separate_count; number++) cpu->separate_base[number] = VM_PMU_LOAD(cpu->totals + cpu->separate[number]);
    cpu->postponed = 1;
    cpu->context_index = index;
    cpu->key = key;
    return true;
  }
  return false;
}

bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key) {
  if (key == cpu->key || !cpu->counting) return false;
  if (cpu->key != TCG_BRIDGE_KEY_UNKNOWN && vm_pmu_sensitivity(&cpu->cells) == 0) {
    cpu->key = key; /* no counter depends on it: the next call to the PMU reports the context first */
  } else if (!postpone(cpu, key)) {
    tcg_bridge_sync(cpu);
  }
  return VM_PMU_LOAD(&cpu->check_needed) != 0;
}

void tcg_bridge_before_interrupt(TcgBridgeCpu *cpu) {
  if (!cpu->counting || (int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT > 0) return;
  settle(cpu, 0);
  tcg_bridge_serve(cpu);
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
  uint64_t paired = -takes & PAIRED_MASK;
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  /* Instructions that have been added to the totals since cannot be taken back. */
  uint64_t taken = taken_off(cpu, left);
  if (instructions == 0 || taken == 0) return;
  VM_PMU_STORE(cpu->countdown, left - paired + (least(instructions, taken) << TCG_BRIDGE_SHIFT));
}

void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record) {
  settle(cpu, 0);
  record->size = sizeof *record;
  vm_pmu_record(cpu->bridge->machine, cpu->number, record);
  cpu->reported = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
}

void tcg_bridge_open(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  tcg_bridge_fill(cpu, 1);
}

void tcg_bridge_settle(TcgBridgeCpu *cpu) { settle(cpu, 0); }

void tcg_bridge_resume(TcgBridgeCpu *cpu) {
  forget_contexts(cpu);
  tcg_bridge_serve(cpu);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
  if (VM_PMU_LOAD(&cpu->check_needed) == 0) return;
  cpu->filled = 0;
  VM_PMU_STORE(cpu->countdown, 0);
}

void tcg_bridge_sync(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  tcg_bridge_serve(cpu);
  tcg_bridge_report_context(cpu);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
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

/* One access, a write if `read` is null. Everything before the accessing instruction is settled; the instruction itself stays open. */
static VmPmuStatus access_register(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *read, uint64_t value) {
  const VmPmuMachine *machine = cpu->bridge->machine;
  uint64_t open = settle(cpu, 1);
  VmPmuStatus status;
  tcg_bridge_report_context(cpu);
  if (read != NULL) {
    status = vm_pmu_read(machine, cpu->number, space, number, read);
  } else {
    status = vm_pmu_write(machine, cpu->number, space, number, value);
    forget_contexts(cpu);
  }
  tcg_bridge_renew_if_changed(cpu);
  if (space == VM_PMU_SPACE_BHRB && status == VM_PMU_STATUS_OK) {
    cpu->history_patience = TCG_BRIDGE_HISTORY_PATIENCE;
    tcg_bridge_choose_again(cpu);
  }
  tcg_bridge_fill(cpu, open);
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

void tcg_bridge_sync_all(TcgBridgeCpu *cpu) {
  memset(&cpu->context, 0, sizeof cpu->context);
  cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
  cpu->context_count = 0;
  cpu->begun = 0;
  cpu->line = UINT64_MAX;
  if (cpu->bridge->companion != NULL) vm_pmu_follow_sync(cpu->bridge->companion, cpu->bridge->machine, cpu->number, NULL);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
}

void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm) {
  settle(cpu, 0);
  vm_pmu_reset(cpu->bridge->machine, cpu->number, warm);
  tcg_bridge_sync_all(cpu);
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
  uint32_t signal = hardware ? VM_PMU_SIGNAL_INTERRUPTS_TAKEN : VM_PMU_SIGNAL_EXCEPTIONS_TAKEN;
  if (!cpu->counting) return;
  settle(cpu, 0);
  /* A deadline that the last instruction has reached is served first. */
  tcg_bridge_serve(cpu);
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) tcg_bridge_report_context(cpu); /* it was halted, and runs again */
  tcg_bridge_count(cpu, signal, 1);
  add_cycles(cpu, 1);
  if (vm_pmu_due(&cpu->cells) || vm_pmu_reached(&cpu->cells, signal)) serve(cpu);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
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

void tcg_bridge_advance(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count) {
  settle(cpu, 0);
  vm_pmu_advance(cpu->bridge->machine, cpu->number, cycles, signals, count);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
}
