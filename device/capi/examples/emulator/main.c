#include <stdio.h>
#include <vm_pmu.h>

static void raise_interrupt(void *user, uint32_t thread, uint32_t counter) {
  /* Only make it pending in this thread's local APIC. The handler is entered after the call that has raised it. */
  (void)thread, (void)counter;
  *(int *)user += 1;
}

int main(void) {
  int interrupts = 0;
  VmPmuOptions options = {.size = sizeof(VmPmuOptions), .user = &interrupts, .raise = raise_interrupt};
  VmPmuContext kernel = {.size = sizeof(VmPmuContext), .privilege = 0, .machine_state = 0x202}; /* CPL, RFLAGS with IF; CR4 is 0 */
  const uint32_t retired[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED};
  VmPmuMachine *machine;
  VmPmuCpu *cpu;
  uint64_t value;

  if (vm_pmu_abi() != VM_PMU_ABI || vm_pmu_machine_create("k8", &options, &machine) != VM_PMU_STATUS_OK ||
      vm_pmu_cpu_create(machine, 0, NULL, &cpu) != VM_PMU_STATUS_OK) {
    char why[200];
    vm_pmu_last_error(why, sizeof why);
    fprintf(stderr, "no PMU: %s\n", why);
    return 1;
  }
  vm_pmu_cpu_set_context(cpu, &kernel);

  /* The guest's WRMSR goes to the PMU first; a register that is not the PMU's is unclaimed. */
  if (vm_pmu_cpu_write(cpu, VM_PMU_SPACE_MSR, 0xC0000080, 0) != VM_PMU_STATUS_FAULT_UNCLAIMED) return 1;
  vm_pmu_cpu_write(cpu, VM_PMU_SPACE_MSR, 0xC0010004, 0 - (uint64_t)7); /* PerfCtr0 */
  vm_pmu_cpu_write(cpu, VM_PMU_SPACE_MSR, 0xC0010000, 0x005200C0);      /* retired instructions, OS, INT, EN */

  for (int instruction = 1; instruction <= 10; instruction++) {
    vm_pmu_cpu_retire(cpu, retired, 1, 1); /* an instruction of one cycle */
    if (interrupts != (instruction >= 7)) return 1;
  }
  vm_pmu_cpu_read(cpu, VM_PMU_SPACE_RDPMC, 0, &value);
  printf("%d\n", (int)value); /* 3 */
  vm_pmu_cpu_destroy(cpu);
  vm_pmu_machine_destroy(machine);
  return value != 3;
}
