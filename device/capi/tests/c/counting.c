/* An emulator of a CPU that only counts, in C: to an overflow with inline additions, faults, demand, context, injection. */
#include "expect.h"

#define MSR VM_PMU_SPACE_MSR
#define RDPMC VM_PMU_SPACE_RDPMC
#define RETIRED VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED

struct apic {
  unsigned interrupts;
  uint32_t thread;
  uint32_t counter;
};

static void raise_interrupt(void *user, uint32_t thread, uint32_t counter) {
  struct apic *apic = user;
  apic->interrupts += 1;
  apic->thread = thread;
  apic->counter = counter;
}

static VmPmuMachine *two_threads(struct apic *apic) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  uint32_t packages, threads;
  size_t bytes;
  options.threads = 2;
  options.user = apic;
  options.raise = raise_interrupt;
  EXPECT_OK(vm_pmu_machine_create("k8", &options, &machine));
  EXPECT_OK(vm_pmu_machine_shape(machine, &packages, &threads, &bytes));
  EXPECT(packages == 1 && threads == 2 && bytes > 2 * 8 * (size_t)VM_PMU_SIGNAL_CYCLES);
  return machine;
}

static void counts_to_an_overflow(void) {
  struct apic apic = {0, 0, 0};
  VmPmuMachine *machine = two_threads(&apic);
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_cells(machine, 1, &cells));
  EXPECT_OK(vm_pmu_write(machine, 1, MSR, 0xC0010004, 0 - (uint64_t)100));
  EXPECT_OK(vm_pmu_write(machine, 1, MSR, 0xC0010000, 0x005200C0)); /* retired instructions, OS, INT, EN */
  for (unsigned instruction = 1; instruction <= 100; instruction++) {
    vm_pmu_add(&cells, RETIRED, 1);
    if (vm_pmu_reached(&cells, RETIRED)) {
      EXPECT_OK(vm_pmu_service(machine, 1));
    }
    EXPECT(apic.interrupts == (instruction == 100));
  }
  EXPECT(apic.thread == 1 && apic.counter == 0);

  /* As translated code does it: the address of a total is a constant. */
  *vm_pmu_total(&cells, RETIRED) += 5;
  EXPECT_OK(vm_pmu_read(machine, 1, RDPMC, 0, &value));
  EXPECT(value == 5);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void passes_to_an_overflow(void) {
  struct apic apic = {0, 0, 0};
  VmPmuMachine *machine = two_threads(&apic);
  uint32_t states[] = {VM_PMU_SIGNAL_CYCLES};
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010005, 0 - (uint64_t)1000));
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010001, 0x00520076)); /* cycles */
  EXPECT_OK(vm_pmu_advance(machine, 0, 999, states, 1));
  EXPECT(apic.interrupts == 0);
  EXPECT_OK(vm_pmu_advance(machine, 0, 8, states, 1));
  EXPECT(apic.interrupts == 1 && apic.counter == 1);
  EXPECT_OK(vm_pmu_read(machine, 0, RDPMC, 1, &value));
  EXPECT(value == 7);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void answers_with_faults(void) {
  VmPmuMachine *machine = NULL;
  uint64_t value = 77;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT(vm_pmu_read(machine, 0, MSR, 0xC0000080, &value) == VM_PMU_STATUS_FAULT_UNCLAIMED);
  EXPECT(vm_pmu_read(machine, 0, RDPMC, 4, &value) == VM_PMU_STATUS_FAULT_GENERAL_PROTECTION);
  EXPECT(value == 77);

  /* RDPMC above level 0 needs CR4.PCE. */
  EXPECT_OK(vm_pmu_set_context_x86(machine, 0, 3, 0x202, 0));
  EXPECT(vm_pmu_read(machine, 0, RDPMC, 0, &value) == VM_PMU_STATUS_FAULT_GENERAL_PROTECTION);
  EXPECT_OK(vm_pmu_set_context_x86(machine, 0, 3, 0x202, 1 << 8));
  EXPECT_OK(vm_pmu_read(machine, 0, RDPMC, 0, &value));
  EXPECT(value == 0);

  VmPmuContext context = {.size = sizeof(VmPmuContext)};
  EXPECT_OK(vm_pmu_context(machine, 0, &context));
  EXPECT(context.privilege == 3 && context.machine_state == 0x202 && context.control == 1 << 8 && context.flags == 0);
  context.privilege = 0;
  context.flags = VM_PMU_CONTEXT_HALTED;
  EXPECT_OK(vm_pmu_set_context(machine, 0, &context));
  EXPECT_OK(vm_pmu_reset(machine, 0, false));
  EXPECT_OK(vm_pmu_machine_destroy(machine));

  EXPECT_OK(vm_pmu_machine_create("montecito", NULL, &machine));
  EXPECT_OK(vm_pmu_set_context_ia64(machine, 0, (uint64_t)3 << 32, 0));
  EXPECT(vm_pmu_write(machine, 0, VM_PMU_SPACE_PMC, 4, 0) == VM_PMU_STATUS_FAULT_PRIVILEGED_OPERATION);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void tells_the_demand(void) {
  struct apic apic = {0, 0, 0};
  VmPmuMachine *machine = two_threads(&apic);
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  uint32_t before, after;
  bool taken = false;
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT(demand.idle && !vm_pmu_wants(&demand, RETIRED));
  EXPECT_OK(vm_pmu_epoch(machine, 0, &before));
  EXPECT(before == demand.epoch);
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010000, 0x004200C0));
  EXPECT_OK(vm_pmu_epoch(machine, 0, &after));
  EXPECT(before != after && vm_pmu_epoch_of(&cells) == after);
  /* It counts only at level 0, and then at every level. */
  EXPECT(vm_pmu_sensitivity(&cells) == UINT64_MAX);
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010000, 0x004300C0));
  EXPECT(vm_pmu_sensitivity(&cells) == 0);
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT(!demand.idle && vm_pmu_wants(&demand, RETIRED) && !vm_pmu_wants(&demand, VM_PMU_SIGNAL_LOADS));
  EXPECT(!vm_pmu_wants(&demand, 1u << 31));

  /* Bypass counters of the memory controller, which no signal describes. */
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010001, 0x004201E4));
  EXPECT_OK(vm_pmu_inject(machine, 0, 0xE4, 0x01, 3, &taken));
  EXPECT(taken);
  EXPECT_OK(vm_pmu_inject_package(machine, 0, 0xE4, 0x02, 3, &taken));
  EXPECT(!taken);
  EXPECT_OK(vm_pmu_inject_package(machine, 0, 0xE4, 0x01, 4, NULL));
  uint64_t value;
  EXPECT_OK(vm_pmu_read(machine, 0, RDPMC, 1, &value));
  EXPECT(value == 7);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  EXPECT(vm_pmu_abi() == VM_PMU_ABI);
  EXPECT(vm_pmu_version() == VM_PMU_VERSION);
  EXPECT(vm_pmu_version_text()[0] != 0);
  counts_to_an_overflow();
  passes_to_an_overflow();
  answers_with_faults();
  tells_the_demand();
  puts("counting: all is well");
  return 0;
}
