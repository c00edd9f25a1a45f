#include <stdio.h>
#include <vm_pmu.h>

static void raise_interrupt(void *user, uint32_t thread, uint32_t counter) {
  /* Deliver this thread's performance-counter interrupt as its local APIC specifies. */
  (void)thread, (void)counter;
  *(int *)user += 1;
}

int main(void) {
  int interrupts = 0;
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine;
  const uint32_t retired[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED};
  uint64_t value;

  options.user = &interrupts;
  options.raise = raise_interrupt;
  if (vm_pmu_abi() != VM_PMU_ABI || vm_pmu_machine_create("k8", &options, &machine) != VM_PMU_STATUS_OK) {
    char why[200];
    vm_pmu_last_error(why, sizeof why);
    fprintf(stderr, "no PMU: %s\n", why);
    return 1;
  }
  vm_pmu_set_context_x86(machine, 0, 0, 0x202, 0); /* CPL 0, RFLAGS with IF, CR4 without PCE */

  /* The guest's WRMSR goes to the PMU first; a register that is not the PMU's is unclaimed. */
  if (vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0000080, 0) != VM_PMU_STATUS_FAULT_UNCLAIMED) return 1;
  vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010004, 0 - (uint64_t)7); /* PerfCtr0 */
  vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x005200C0);      /* retired instructions, OS, INT, EN */

  for (int instruction = 1; instruction <= 10; instruction++) {
    vm_pmu_retire(machine, 0, retired, 1, 1); /* an instruction of one cycle */
    if (interrupts != (instruction >= 7)) return 1;
  }
  vm_pmu_read(machine, 0, VM_PMU_SPACE_RDPMC, 0, &value);
  printf("%d\n", (int)value); /* 3 */
  vm_pmu_machine_destroy(machine);
  return value != 3;
}
