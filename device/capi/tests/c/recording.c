/* What is done with a machine is recorded, and happens again. */
#include <string.h>

#include "expect.h"

int main(void) {
  VmPmuMachine *machine = NULL;
  VmPmuRecording *recording = NULL;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  const char *text;
  size_t length;
  uint64_t value, left_out = 7, checked = 0;
  bool is_cut = true;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT(vm_pmu_recording_stop(machine, &recording) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_recording_start(machine, 100));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x4200C0));
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 5);
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_RDPMC, 0, &value));
  EXPECT(value == 5);
  EXPECT_OK(vm_pmu_recording_stop(machine, &recording));
  EXPECT_OK(vm_pmu_recording_text(recording, &text, &length, &left_out, &is_cut));
  EXPECT(left_out == 0 && !is_cut);

  /* Five instructions were retired between the write and the read. */
  char copy[4096];
  EXPECT(length < sizeof copy);
  memcpy(copy, text, length);
  copy[length] = 0;
  EXPECT(strstr(copy, "write PerfEvtSel0 0x4200c0\nfeed instructions_retired=5\nread rdpmc:0x0 = 0x5\n") != NULL);
  EXPECT_OK(vm_pmu_litmus_run(text, length, &checked));
  EXPECT(checked > 1);

  EXPECT(vm_pmu_recording_text(recording, NULL, &length, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_recording_text(recording, &text, &length, NULL, NULL));
  EXPECT_OK(vm_pmu_recording_destroy(recording));
  EXPECT(vm_pmu_recording_destroy(recording) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_recording_destroy(NULL));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  puts("recording: all is well");
  return 0;
}
