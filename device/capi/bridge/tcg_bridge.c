/*
 * What a dynamic translator needs between itself and vm_pmu.h: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

#include <stdlib.h>
#include <string.h>

#define PAIRED_MASK ((UINT64_C(1) << TCG_BRIDGE_SHIFT) - 1)
/* The most that the countdown is filled with: with 3 an instruction, the paired signal does not outgrow its bits. */
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

/* How many instructions have been taken off the countdown, of which `left` is left, and are neither in the totals nor in those of a stay. */
static uint64_t taken_off(const TcgBridgeCpu *cpu, uint64_t left) {
  return (cpu->filled >> TCG_BRIDGE_SHIFT) - (uint64_t)((int64_t)left >> TCG_BRIDGE_SHIFT);
}

/*
 * What was executed in a stay that the PMU was not told goes to that stay, but for the last `open` instructions, which add nothing to the paired signal. What
 * blocks have added to totals is taken out again. Nobody else counts that: contexts add up only where all counters are the thread's own.
 */
static void keep_apart(TcgBridgeCpu *cpu, uint64_t open) {
  TcgBridgeStay *stay = &cpu->stays[cpu->stay];
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  uint32_t number;
  stay->instructions += taken_off(cpu, left) - open;
  stay->paired += left & PAIRED_MASK;
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
  for (number = 0; number < cpu->apart_count; number++) {
    uint64_t *total = cpu->totals + cpu->apart[number];
    stay->apart[number] += VM_PMU_LOAD(total) - cpu->base[number];
    VM_PMU_STORE(total, cpu->base[number]);
  }
}

static bool has_kept(const TcgBridgeCpu *cpu, const TcgBridgeStay *stay) {
  uint64_t any = stay->instructions | stay->paired;
  uint32_t number;
  for (number = 0; number < cpu->apart_count; number++) any |= stay->apart[number];
  return any != 0;
}

static void add_kept(TcgBridgeCpu *cpu, TcgBridgeStay *stay) {
  uint32_t number;
  add_executed(cpu, stay->instructions, stay->paired);
  stay->instructions = 0;
  stay->paired = 0;
  for (number = 0; number < cpu->apart_count; number++) {
    vm_pmu_add(&cpu->cells, cpu->apart[number], stay->apart[number]);
    stay->apart[number] = 0;
  }
}

/* Tells the PMU the contexts that it was not told, with what was executed in each. The present one comes last. */
static void tell_stays(TcgBridgeCpu *cpu) {
  uint32_t number;
  cpu->postponed = 0;
  for (number = 1; number <= cpu->stay_count; number++) {
    uint32_t index = (cpu->stay + number) % cpu->stay_count;
    TcgBridgeStay *stay = &cpu->stays[index];
    if (!has_kept(cpu, stay) && index != cpu->stay) continue;
    if (index != cpu->told_stay) {
      cpu->told_stay = index;
      cpu->context = stay->context;
      vm_pmu_set_context(cpu->bridge->machine, cpu->number, &cpu->context);
    }
    add_kept(cpu, stay);
  }
}

/* The same where the PMU knows the context: what was executed goes to the totals. */
static void add_taken_off(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  if (left == cpu->filled) return;
  add_executed(cpu, taken_off(cpu, left) - open, left & PAIRED_MASK);
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
}

/* Adds what has been taken off to the totals, but for the last `open` instructions, which add nothing to the paired signal. Returns how many those are. */
static uint64_t settle(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t taken = taken_off(cpu, VM_PMU_LOAD(cpu->countdown));
  if (open > taken) open = taken;
  if (cpu->stay != cpu->told_stay) {
    keep_apart(cpu, open);
  } else {
    add_taken_off(cpu, open);
  }
  if (cpu->postponed) tell_stays(cpu);
  return open;
}

void tcg_bridge_fill(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t room = vm_pmu_room(&cpu->cells);
  room = room > open ? room - open : 0;
  /* The block that comes to a deadline is executed as one of its own: its last instruction is the one whose record is wanted. */
  if (room != 0 && (cpu->demand.records & cpu->bridge->tells & VM_PMU_RECORDS_AT_DEADLINE) != 0) room -= 1;
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

/* Whether two contexts may add up: they differ in nothing but what decides which counters count. */
static bool are_alike(const VmPmuContext *one, const VmPmuContext *other) {
  return one->flags == other->flags && one->control == other->control && one->time_base == other->time_base;
}

/*
 * The PMU is told, or knows already, that the CPU is in this context now. Others that it was told before are kept, unless this is another one of the same
 * key: then something has changed that the key does not say, and perhaps for them too.
 */
static void remember(TcgBridgeCpu *cpu, const VmPmuContext *context) {
  uint32_t index;
  for (index = 0; index < cpu->stay_count && cpu->stays[index].key != cpu->key; index++) {
  }
  if (index < cpu->stay_count) {
    const VmPmuContext *known = &cpu->stays[index].context;
    uint64_t other = (known->machine_state ^ context->machine_state) & vm_pmu_sensitivity(&cpu->cells);
    if (known->privilege != context->privilege || other != 0) index = cpu->stay_count = 0;
  }
  if (index == TCG_BRIDGE_STAYS || cpu->key == TCG_BRIDGE_KEY_UNKNOWN || !are_alike(&cpu->stays[0].context, context)) index = cpu->stay_count = 0;
  cpu->stay = cpu->told_stay = index;
  if (index < cpu->stay_count) return;
  cpu->stays[index].key = cpu->key;
  cpu->stays[index].context = *context;
  memset(cpu->stays[index].apart, 0, sizeof cpu->stays[index].apart);
  cpu->stays[index].instructions = 0;
  cpu->stays[index].paired = 0;
  cpu->stay_count = index + 1;
}

/* A register has been written, or something was told: contexts told before may not be what they were. */
static void forget_stays(TcgBridgeCpu *cpu) {
  cpu->stay_count = 0;
  remember(cpu, &cpu->context);
}

void tcg_bridge_tell_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = {sizeof(VmPmuContext)}, *told = &cpu->context;
  cpu->key = cpu->bridge->host.context(cpu->bridge->user, cpu->number, &context);
  remember(cpu, &context);
  /* Field by field, as they have just been written, and no two neighbours in a row: comparing both at once would wait for their stores. */
  if (context.privilege == told->privilege && context.machine_state == told->machine_state && context.flags == told->flags &&
      context.control == told->control && context.time_base == told->time_base && context.size == told->size) {
    return;
  }
  *told = context;
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

/* Tells the instruction that was completed last, once, if it came to a deadline: after its signals, before the deadline is served. */
static void tell_record(TcgBridgeCpu *cpu) {
  VmPmuRecord record = {sizeof(VmPmuRecord)};
  uint64_t completed = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  bool news = completed != cpu->told;
  cpu->told = completed;
  if (!news || (cpu->demand.records & cpu->bridge->tells & VM_PMU_RECORDS_AT_DEADLINE) == 0 || !tcg_bridge_reached(cpu)) return;
  if (cpu->bridge->host.record(cpu->bridge->user, cpu->number, &record)) vm_pmu_record(cpu->bridge->machine, cpu->number, &record);
}

/* Serves the deadlines that the last instruction has come to, if it has. */
static void serve(TcgBridgeCpu *cpu) {
  tell_record(cpu);
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
    /* A deadline that stayed while its counter stood still is nearer than it must be. To set it anew costs less than to cut a block. */
    vm_pmu_service(cpu->bridge->machine, cpu->number);
    vm_pmu_check(cpu->bridge->machine, cpu->number);
  }
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
  if (tcg_bridge_poll_interrupt(cpu)) return TCG_BRIDGE_INTERRUPT;
  budget = cpu->filled >> TCG_BRIDGE_SHIFT;
  if (instructions <= budget) return TCG_BRIDGE_GO;
  /* A deadline that is there already waits for one more instruction: single cycles are looked at by executing single instructions. */
  room = vm_pmu_room(&cpu->cells);
  if (room == 0) room = 1;
  room = least(least(room, instructions), MOST_BUDGET);
  if (room > budget) {
    cpu->filled = room << TCG_BRIDGE_SHIFT;
    VM_PMU_STORE(cpu->countdown, cpu->filled);
  }
  return room;
}

/* The CPU goes on in a context that the PMU was told already, if it may be told so later. */
static bool postpone(TcgBridgeCpu *cpu, uint32_t key) {
  uint32_t index, number;
  if (!cpu->sums || !vm_pmu_contexts_add_up(&cpu->cells) || cpu->stays[cpu->stay].key != cpu->key) return false;
  /* The instruction that ended the context may have come to a deadline: that is served in it. */
  if ((int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT <= 0) return false;
  for (index = 0; index < cpu->stay_count; index++) {
    if (cpu->stays[index].key != key) continue;
    if (cpu->stay != cpu->told_stay) {
      keep_apart(cpu, 0);
    } else {
      add_taken_off(cpu, 0);
    }
    for (number = 0; number < cpu->apart_count; number++) cpu->base[number] = VM_PMU_LOAD(cpu->totals + cpu->apart[number]);
    cpu->postponed = 1;
    cpu->stay = index;
    cpu->key = key;
    return true;
  }
  return false;
}

bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key) {
  if (key == cpu->key || !cpu->counting) return false;
  if (cpu->key != TCG_BRIDGE_KEY_UNKNOWN && vm_pmu_sensitivity(&cpu->cells) == 0) {
    cpu->key = key; /* nothing depends on it: what is asked of the PMU next tells the context before */
  } else if (!postpone(cpu, key)) {
    tcg_bridge_sync(cpu);
  }
  return VM_PMU_LOAD(&cpu->look) != 0;
}

bool tcg_bridge_poll_interrupt(TcgBridgeCpu *cpu) {
  bool look = VM_PMU_LOAD(&cpu->look) != 0;
  if (look) VM_PMU_STORE(&cpu->look, 0);
  return look;
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
  /* What has been settled meanwhile, and is open no longer, cannot be taken back. */
  uint64_t taken = taken_off(cpu, left);
  if (instructions == 0 || taken == 0) return;
  VM_PMU_STORE(cpu->countdown, left - paired + (least(instructions, taken) << TCG_BRIDGE_SHIFT));
}

void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record) {
  settle(cpu, 0);
  record->size = sizeof *record;
  vm_pmu_record(cpu->bridge->machine, cpu->number, record);
  cpu->told = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
}

void tcg_bridge_open(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  tcg_bridge_fill(cpu, 1);
}

void tcg_bridge_settle(TcgBridgeCpu *cpu) { settle(cpu, 0); }

void tcg_bridge_resume(TcgBridgeCpu *cpu) {
  forget_stays(cpu);
  tcg_bridge_serve(cpu);
  tcg_bridge_renew_if_changed(cpu);
  tcg_bridge_fill(cpu, 0);
  if (VM_PMU_LOAD(&cpu->look) == 0) return;
  cpu->filled = 0;
  VM_PMU_STORE(cpu->countdown, 0);
}

void tcg_bridge_sync(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  tcg_bridge_serve(cpu);
  tcg_bridge_tell_context(cpu);
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

/* One access, a write if `read` is null, between what is before the accessing instruction and that instruction itself. */
static VmPmuStatus access_register(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *read, uint64_t value) {
  const VmPmuMachine *machine = cpu->bridge->machine;
  uint64_t open = settle(cpu, 1);
  VmPmuStatus status;
  tcg_bridge_tell_context(cpu);
  if (read != NULL) {
    status = vm_pmu_read(machine, cpu->number, space, number, read);
  } else {
    status = vm_pmu_write(machine, cpu->number, space, number, value);
    forget_stays(cpu);
  }
  tcg_bridge_renew_if_changed(cpu);
  if (space == VM_PMU_SPACE_BHRB && status == VM_PMU_STATUS_OK) {
    cpu->history = TCG_BRIDGE_HISTORY_PATIENCE;
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
  cpu->stay_count = 0;
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
  /* A deadline that the last instruction has come to is served before anything else happens. */
  tcg_bridge_serve(cpu);
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) tcg_bridge_tell_context(cpu); /* it was halted, and is no longer */
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
