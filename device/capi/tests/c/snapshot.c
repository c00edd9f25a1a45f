/* A machine is saved in the middle of counting, and another one continues to count; damaged bytes are refused. */
#include <string.h>

#include "expect.h"

#define RETIRED VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED

static VmPmuMachine *made(uint32_t threads) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  options.threads = threads;
  EXPECT_OK(vm_pmu_machine_create("k8", &options, &machine));
  return machine;
}

static void add(VmPmuMachine *machine, uint64_t amount) {
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_cells(machine, 1, &cells));
  vm_pmu_add(&cells, RETIRED, amount);
}

static uint64_t counted(VmPmuMachine *machine) {
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_read(machine, 1, VM_PMU_SPACE_RDPMC, 0, &value));
  return value;
}

int main(void) {
  VmPmuMachine *old = made(2), *new = made(2), *other = made(1);
  VmPmuSnapshot *snapshot = NULL;
  const uint8_t *bytes;
  size_t length;
  static uint8_t damaged[1 << 16];
  EXPECT_OK(vm_pmu_write(old, 1, VM_PMU_SPACE_MSR, 0xC0010000, 0x004200C0));
  add(old, 5);
  EXPECT_OK(vm_pmu_save(old, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_bytes(snapshot, &bytes, &length));
  EXPECT(length > 0 && length <= sizeof damaged);

  EXPECT_OK(vm_pmu_load(new, bytes, length));
  add(new, 2);
  EXPECT(counted(new) == 7);

  char message[256];
  memcpy(damaged, bytes, length);
  damaged[length / 2] ^= 1;
  EXPECT(vm_pmu_load(new, damaged, length) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  vm_pmu_last_error(message, sizeof message);
  EXPECT(strstr(message, "checksum") != NULL);
  EXPECT(vm_pmu_load(new, bytes, length - 1) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT(vm_pmu_load(new, bytes, 0) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT(vm_pmu_load(other, bytes, length) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT(vm_pmu_load(new, NULL, length) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_load(NULL, bytes, length) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_save(old, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_snapshot_bytes(NULL, &bytes, &length) == VM_PMU_STATUS_ERROR_ARGUMENT);
  const uint8_t *unchanged = damaged;
  EXPECT(vm_pmu_snapshot_bytes(snapshot, &unchanged, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && unchanged == damaged);
  EXPECT(counted(new) == 7);

  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  EXPECT_OK(vm_pmu_snapshot_destroy(NULL));
  EXPECT_OK(vm_pmu_machine_destroy(old));
  EXPECT_OK(vm_pmu_machine_destroy(new));
  EXPECT_OK(vm_pmu_machine_destroy(other));
  puts("snapshot: all is well");
  return 0;
}
