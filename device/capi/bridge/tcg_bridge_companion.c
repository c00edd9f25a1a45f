/*
 * Reports what a CPU executes to the companion of a bridge: see tcg_bridge_companion.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_companion.h"
#include "tcg_bridge_internal.h"

#include <string.h>

/* Whether a record of the instruction is demanded. */
static bool is_demanded(const TcgBridgeCpu *cpu, const VmPmuOutcome *outcome) {
  uint32_t records = cpu->demand.records;
  if ((records & VM_PMU_RECORDS_EVERY) != 0) return true;
  if ((records & VM_PMU_RECORDS_BRANCHES) != 0 && cpu->instruction.branch != VM_PMU_BRANCH_NONE) return true;
  if (cpu->history_patience != 0 && (records & VM_PMU_RECORDS_TAKEN_BRANCHES) != 0 &&
      (cpu->instruction.flags & VM_PMU_INSTRUCTION_TAKEN) != 0) {
    return true;
  }
  if ((records & VM_PMU_RECORDS_MEMORY) != 0 && cpu->instruction.access_count != 0) return true;
  if ((records & VM_PMU_RECORDS_FETCHES) != 0 && (outcome->flags & VM_PMU_OUTCOME_FETCH) != 0) return true;
  return (records & VM_PMU_RECORDS_AT_DEADLINE) != 0 && tcg_bridge_reached(cpu);
}

/* Fills in the first access, and whether there is a load and a store. */
static void fill_in_access(const TcgBridgeCpu *cpu, const VmPmuOutcome *outcome, VmPmuRecord *record) {
  size_t number;
  if (cpu->instruction.access_count == 0) return;
  record->memory_address = cpu->accesses[0].address;
  record->memory_size = cpu->accesses[0].bytes;
  record->memory_latency = outcome->latency;
  record->data = outcome->data;
  record->data_level = outcome->data_level;
  record->memory_translation = outcome->translation;
  record->page_bits = outcome->page_bits;
  record->walk_source = outcome->walk_source;
  record->flags |= (outcome->flags & VM_PMU_OUTCOME_WALK_SOURCE) != 0 ? VM_PMU_RECORD_WALK_SOURCE : 0;
  record->reload_source = outcome->reload_source;
  record->flags |= (outcome->flags & VM_PMU_OUTCOME_RELOAD_SOURCE) != 0 ? VM_PMU_RECORD_RELOAD_SOURCE : 0;
  record->store_outcome = outcome->store_outcome;
  record->fabric_command = outcome->fabric_command;
  record->fabric_scope = outcome->fabric_scope;
  record->fabric_retries = outcome->fabric_retries;
  for (number = 0; number < cpu->instruction.access_count; number++) {
    record->flags |= cpu->accesses[number].kind == VM_PMU_ACCESS_KIND_STORE ? VM_PMU_RECORD_STORE : VM_PMU_RECORD_LOAD;
  }
}

/* The effects of the instruction have been added to the totals. Its record is reported before deadlines are served. */
static void delivered(void *user, const VmPmuOutcome *outcome) {
  TcgBridgeCpu *cpu = user;
  VmPmuRecord record = {.size = sizeof(VmPmuRecord)};
  if (!is_demanded(cpu, outcome)) return;
  record.address = cpu->instruction.address;
  record.branch = cpu->instruction.branch;
  record.branch_target = cpu->instruction.target;
  record.prediction = outcome->prediction;
  record.fetch_source = outcome->fetch_source;
  record.traits = outcome->traits;
  record.stages = outcome->stages;
  memcpy(record.stage_cycles, outcome->stage_cycles, sizeof record.stage_cycles);
  record.stall = outcome->stall;
  record.stall_reason = outcome->stall_reason;
  if ((cpu->instruction.flags & VM_PMU_INSTRUCTION_TAKEN) != 0) record.flags |= VM_PMU_RECORD_TAKEN;
  fill_in_access(cpu, outcome, &record);
  if ((outcome->flags & VM_PMU_OUTCOME_FETCH) != 0) {
    record.flags |= VM_PMU_RECORD_FETCH;
    record.flags |= (outcome->flags & VM_PMU_OUTCOME_FETCH_MISS) != 0 ? VM_PMU_RECORD_FETCH_MISS : 0;
    record.fetch_address = outcome->fetch_address;
    record.fetch_latency = outcome->fetch_latency;
    record.fetch_translation = outcome->fetch_translation;
  }
  cpu->reported = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  vm_pmu_record(tcg_bridge_machine(cpu->bridge), cpu->number, &record);
}

/* No part has shorter lines of code. */
#define LINE_BITS 6

/* Whether the companion ignores the instruction, and it reaches no deadline. */
static bool is_plain(const TcgBridgeCpu *cpu) {
  const VmPmuInstruction *instruction = &cpu->instruction;
  if (!cpu->skips || instruction->branch != VM_PMU_BRANCH_NONE || instruction->access_count != 0) return false;
  if (instruction->address >> LINE_BITS != cpu->line) return false;
  if ((instruction->address + instruction->bytes - 1) >> LINE_BITS != cpu->line) return false;
  return (int64_t)VM_PMU_LOAD(cpu->countdown) >> TCG_BRIDGE_SHIFT > 0;
}

void tcg_bridge_complete(TcgBridgeCpu *cpu, uint64_t next) {
  VmPmuInstruction *instruction = &cpu->instruction;
  VmPmuCompanion *companion = tcg_bridge_companion(cpu->bridge);
  if (cpu->begun == 0) return;
  cpu->begun = 0;
  if (is_plain(cpu)) return;
  if (instruction->branch != VM_PMU_BRANCH_NONE) {
    instruction->target = next;
    if (next != instruction->address + instruction->bytes) instruction->flags |= VM_PMU_INSTRUCTION_TAKEN;
  }
  tcg_bridge_settle(cpu);
  vm_pmu_follow(companion, cpu->number, instruction);
  if (cpu->box_demand != 0) cpu->bridge->boxes->followed(cpu);
  /* An access may cause it to fetch its line again. */
  cpu->line = instruction->access_count == 0 ? (instruction->address + instruction->bytes - 1) >> LINE_BITS : UINT64_MAX;
  vm_pmu_follow_deliver(companion, tcg_bridge_machine(cpu->bridge), cpu->number, NULL, 0, delivered, cpu, NULL);
  tcg_bridge_resume(cpu);
}

void tcg_bridge_begin(TcgBridgeCpu *cpu, const VmPmuInstruction *instruction) {
  tcg_bridge_complete(cpu, instruction->address);
  if (!cpu->following) return;
  cpu->instruction = *instruction;
  cpu->instruction.size = sizeof cpu->instruction;
  cpu->instruction.accesses = cpu->accesses;
  cpu->instruction.access_count = 0;
  cpu->begun = 1;
}

void tcg_bridge_access(TcgBridgeCpu *cpu, const VmPmuAccess *access) {
  if (cpu->begun == 0) return;
  if (cpu->instruction.access_count == VM_PMU_MOST_ACCESSES) {
    /* A string instruction: its accesses so far are reported, and it continues without being fetched again. */
    vm_pmu_follow(tcg_bridge_companion(cpu->bridge), cpu->number, &cpu->instruction);
    cpu->instruction.access_count = 0;
    cpu->instruction.bytes = 0;
  }
  cpu->accesses[cpu->instruction.access_count++] = *access;
}

void tcg_bridge_cancel(TcgBridgeCpu *cpu) { cpu->begun = 0; }

void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address) {
  VmPmuCompanion *companion = tcg_bridge_companion(cpu->bridge);
  cpu->line = UINT64_MAX;
  if (companion != NULL) vm_pmu_follow_invalidate(companion, cpu->number, what, address);
}
