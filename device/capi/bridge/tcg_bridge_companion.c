/*
 * Reports what a CPU executes to the companion of a bridge: see tcg_bridge_companion.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_companion.h"
#include "tcg_bridge_internal.h"

#include <string.h>

/* What is known here of the instruction; the library adds what the companion found. */
static bool fill_in(void *user, VmPmuRecord *record) {
  const TcgBridgeCpu *cpu = user;
  const VmPmuInstruction *instruction = &cpu->instruction;
  size_t number;
  record->address = instruction->address;
  record->branch = instruction->branch;
  record->branch_target = instruction->target;
  if ((instruction->flags & VM_PMU_INSTRUCTION_TAKEN) != 0) record->flags |= VM_PMU_RECORD_TAKEN;
  if (instruction->access_count == 0) return true;
  record->memory_address = cpu->accesses[0].address;
  record->memory_size = cpu->accesses[0].bytes;
  for (number = 0; number < instruction->access_count; number++) {
    record->flags |= cpu->accesses[number].kind == VM_PMU_ACCESS_KIND_STORE ? VM_PMU_RECORD_STORE : VM_PMU_RECORD_LOAD;
  }
  return true;
}

static uint32_t occasions(const VmPmuInstruction *instruction) {
  uint32_t occasions = instruction->access_count != 0 ? VM_PMU_OCCASION_MEMORY : 0;
  if (instruction->branch == VM_PMU_BRANCH_NONE) return occasions;
  return occasions | ((instruction->flags & VM_PMU_INSTRUCTION_TAKEN) != 0 ? VM_PMU_OCCASION_TAKEN : VM_PMU_OCCASION_BRANCH);
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
  VmPmuStep step = {.size = sizeof(VmPmuStep), .user = cpu, .record = fill_in};
  if (cpu->begun == 0) return;
  cpu->begun = 0;
  if (is_plain(cpu)) return;
  if (instruction->branch != VM_PMU_BRANCH_NONE) {
    instruction->target = next;
    if (next != instruction->address + instruction->bytes) instruction->flags |= VM_PMU_INSTRUCTION_TAKEN;
  }
  vm_pmu_cpu_execute(cpu->cpu, instruction);
  if (cpu->box_demand != 0) cpu->bridge->boxes->followed(cpu);
  /* An access may cause it to fetch its line again. */
  cpu->line = instruction->access_count == 0 ? (instruction->address + instruction->bytes - 1) >> LINE_BITS : UINT64_MAX;
  step.occasions = occasions(instruction);
  vm_pmu_cpu_complete(cpu->cpu, &step, NULL);
  tcg_bridge_renew_if_changed(cpu);
  if (VM_PMU_LOAD(&cpu->check_needed) != 0) tcg_bridge_settle(cpu);
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
    vm_pmu_cpu_execute(cpu->cpu, &cpu->instruction);
    cpu->instruction.access_count = 0;
    cpu->instruction.bytes = 0;
  }
  cpu->accesses[cpu->instruction.access_count++] = *access;
}

void tcg_bridge_cancel(TcgBridgeCpu *cpu) { cpu->begun = 0; }

void tcg_bridge_forget(TcgBridgeCpu *cpu, uint32_t what, uint64_t address) {
  cpu->line = UINT64_MAX;
  vm_pmu_cpu_invalidate(cpu->cpu, what, address);
}
