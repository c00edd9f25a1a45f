/* Replays the named litmus files, and built-in ones, of which two must fail. */
#include <string.h>

#include "expect.h"

static const char header[] = "title: t\npmu: k8\nsection: s\n";

static void texts(void) {
  char text[256], message[256];
  uint64_t checked = 7;
  snprintf(text, sizeof text, "%swrite PerfCtr0 5\nread PerfCtr0 = 6\n", header);
  EXPECT(vm_pmu_litmus_run(text, strlen(text), &checked) == VM_PMU_STATUS_ERROR_LITMUS_FAILED);
  vm_pmu_last_error(message, sizeof message);
  EXPECT(strncmp(message, "line 5: ", 8) == 0 && strstr(message, "0x6") != NULL && checked == 7);
  snprintf(text, sizeof text, "%sdance\n", header);
  EXPECT(vm_pmu_litmus_run(text, strlen(text), NULL) == VM_PMU_STATUS_ERROR_LITMUS_TEXT);
  /* Two programs, each with one expectation. */
  snprintf(text, sizeof text, "%sread PerfCtr0 = 0\ntitle: u\nread PerfCtr1 = 0\n", header);
  EXPECT_OK(vm_pmu_litmus_run(text, strlen(text), &checked));
  EXPECT(checked == 2);
  EXPECT(vm_pmu_litmus_run(NULL, 5, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_litmus_run("\xff", 1, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
}

int main(int count, char **names) {
  static char text[1 << 20];
  uint64_t all = 0;
  texts();
  EXPECT(count > 1);
  for (int place = 1; place < count; place++) {
    FILE *file = fopen(names[place], "rb");
    EXPECT(file != NULL);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    uint64_t checked = 0;
    EXPECT_OK(vm_pmu_litmus_run(text, length, &checked));
    all += checked;
  }
  EXPECT(all > 0);
  puts("replay: all is well");
  return 0;
}
