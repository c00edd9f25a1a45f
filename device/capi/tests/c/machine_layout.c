/* What a machine looks like is said once: its PMUs, its companion, CPUID and PIRs follow. */
#include "expect.h"

#include <string.h>

/* Two chips of three cores with two of their four threads: the PMUs have six packages, and the companion as many CPUs. */
static void power9(void) {
  VmPmuLayout layout = {.size = sizeof layout};
  layout.packages = 2;
  layout.cores = 3;
  layout.threads = 2;
  uint32_t cpus = 0;
  EXPECT_OK(vm_pmu_layout_cpus("power9", &layout, &cpus));
  EXPECT(cpus == 12);

  VmPmuOptions options = {.size = sizeof options};
  options.records = VM_PMU_RECORDS_NEVER;
  EXPECT_OK(vm_pmu_layout_options("power9", &layout, &options));
  EXPECT(options.packages == 6 && options.threads == 2 && options.records == VM_PMU_RECORDS_NEVER);
  VmPmuMachine *machine = NULL;
  EXPECT_OK(vm_pmu_machine_create("power9", &options, &machine));

  VmPmuCompanionOptions followed = {.size = sizeof followed};
  followed.seed = 7;
  EXPECT_OK(vm_pmu_layout_companion_options("power9", &layout, &followed));
  EXPECT(followed.packages == 2 && followed.threads == 6 && followed.core_threads == 2 && followed.seed == 7);
  VmPmuCompanion *companion = NULL;
  EXPECT_OK(vm_pmu_companion_create("power9", &followed, &companion));

  /* The last: chip 8, core 2, thread 1. */
  uint32_t pir = 0;
  EXPECT_OK(vm_pmu_layout_pir("power9", &layout, 11, &pir));
  EXPECT(pir == (8 << 8 | 2 << 2 | 1));
  EXPECT(vm_pmu_layout_pir("power9", &layout, 12, &pir) == VM_PMU_STATUS_ERROR_RANGE);
  uint32_t registers[4] = {0};
  EXPECT(vm_pmu_layout_cpuid("power9", &layout, 0, 1, 0, &registers) == VM_PMU_STATUS_ERROR_UNSUPPORTED);

  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Two tiles: CPU 5 is thread 1 of core 1, and its x2APIC ID is in EDX of leaf 0Bh. */
static void tiles(void) {
  VmPmuLayout layout = {.size = sizeof layout};
  layout.cores = 4;
  uint32_t registers[4] = {0}, told[4] = {4, 16, 0x201, 5};
  EXPECT_OK(vm_pmu_layout_cpuid("knl", &layout, 5, 0xB, 1, &registers));
  EXPECT(memcmp(registers, told, sizeof told) == 0);
  VmPmuOptions options = {.size = sizeof options};
  EXPECT_OK(vm_pmu_layout_options("knl", &layout, &options));
  EXPECT(options.packages == 2 && options.threads == 8);

  char why[256];
  layout.cores = 3;
  EXPECT(vm_pmu_layout_options("knl", &layout, &options) == VM_PMU_STATUS_ERROR_ARGUMENT);
  vm_pmu_last_error(why, sizeof why);
  EXPECT(strcmp(why, "cores of knl come by 2, so there cannot be 3") == 0);
}

int main(void) {
  power9();
  tiles();
  VmPmuLayout usual = {.size = sizeof usual};
  EXPECT_OK(vm_pmu_layout_usual("k8", &usual));
  EXPECT(usual.packages == 2 && usual.cores == 2 && usual.threads == 1);
  puts("all is well");
  return 0;
}
