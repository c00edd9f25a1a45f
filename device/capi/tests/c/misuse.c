/* What a caller can do wrong, and the errors that it gets. */
#include <string.h>

#include "expect.h"

static char message[256];

/* The message of the last error must contain this. */
static bool told(const char *part) {
  size_t length = vm_pmu_last_error(message, sizeof message);
  return length == strlen(message) && strstr(message, part) != NULL;
}

static void machines(void) {
  VmPmuMachine *machine = (VmPmuMachine *)&message;
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  EXPECT(vm_pmu_machine_create("z80", NULL, &machine) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(told("\"z80\"") && told("k8"));
  EXPECT(machine == (VmPmuMachine *)&message); /* nothing is written */
  EXPECT(vm_pmu_machine_create(NULL, NULL, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("name is null"));
  EXPECT(vm_pmu_machine_create("\xff", NULL, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("UTF-8"));
  EXPECT(vm_pmu_machine_create("k8", NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("null"));
  options.size = 0;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuOptions)"));
  options.size = SIZE_MAX;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.size = sizeof options;
  options.packages = 65535;
  options.threads = 65535;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("too many"));
  options.packages = options.threads = 1;
  options.flags = 1u << 31;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("0x80000000"));
  options.flags = 0;
  options.revision = "Z";
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_NAME && told("\"Z\""));
  options.revision = "C";
  options.pace_most = 1;
  options.pace_signal = 1u << 20;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_RANGE && told("signal"));
  EXPECT_OK(vm_pmu_machine_destroy(NULL));
}

/* What the part does not have is refused, and the message says what it has. */
static void what_the_part_does_not_have(void) {
  VmPmuMachine *machine = NULL;
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  options.threads = 5;
  EXPECT(vm_pmu_machine_create("power9", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("1, 2 or 4 threads, not 5"));
  options.threads = 0;
  options.packages = 39;
  EXPECT(vm_pmu_machine_create("knl", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("1 to 38 packages, not 39"));
  options.packages = 0;
  options.flags = VM_PMU_OPTION_SHARE_COUNTERS;
  EXPECT(vm_pmu_machine_create("power9", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("shared counters"));
  options.flags = VM_PMU_OPTION_BUSES;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("leave the buses out"));
  options.flags = VM_PMU_OPTION_FREQUENCIES;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("leave the frequencies out"));
  EXPECT(machine == NULL);
}

/* A program of a later header: values in fields that this library does not know are refused, zeros are not. */
static void longer_structs(void) {
  struct {
    VmPmuOptions known;
    uint64_t more;
  } later;
  VmPmuMachine *machine = NULL;
  memset(&later, 0, sizeof later);
  later.known.size = sizeof later;
  later.more = 1;
  EXPECT(vm_pmu_machine_create("k8", &later.known, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuOptions"));
  later.more = 0;
  EXPECT_OK(vm_pmu_machine_create("k8", &later.known, &machine));

  struct {
    VmPmuDemand known;
    uint64_t more;
  } demand = {{.size = sizeof demand}, 5};
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand.known));
  EXPECT(demand.known.size == sizeof demand && demand.more == 0);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void threads_and_registers(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCells cells = {0};
  uint64_t value;
  uint32_t states[] = {VM_PMU_SIGNAL_CYCLES, 1u << 20};
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT(vm_pmu_read(NULL, 0, VM_PMU_SPACE_MSR, 0xC0010000, &value) == VM_PMU_STATUS_ERROR_ARGUMENT && told("machine is null"));
  EXPECT(vm_pmu_read((VmPmuMachine *)((char *)machine + 1), 0, 0, 0, &value) == VM_PMU_STATUS_ERROR_ARGUMENT && told("multiple of"));
  EXPECT(vm_pmu_read(machine, 1, VM_PMU_SPACE_MSR, 0xC0010000, &value) == VM_PMU_STATUS_ERROR_RANGE && told("thread 1"));
  EXPECT(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("null"));
  EXPECT(vm_pmu_read(machine, 0, 99, 0xC0010000, &value) == VM_PMU_STATUS_ERROR_ARGUMENT && told("address space 99"));
  EXPECT(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, (uint64_t)1 << 32, 0) == VM_PMU_STATUS_ERROR_ARGUMENT && told("32 bits"));
  EXPECT(vm_pmu_cells(machine, 0, &cells) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuCells)"));
  EXPECT(vm_pmu_device_cells(machine, 1, &cells) == VM_PMU_STATUS_ERROR_RANGE && told("package 1"));
  EXPECT(vm_pmu_service(machine, UINT32_MAX) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_advance(machine, 0, 5, states, 2) == VM_PMU_STATUS_ERROR_RANGE && told("signal"));
  EXPECT(vm_pmu_advance(machine, 0, 5, NULL, 2) == VM_PMU_STATUS_ERROR_ARGUMENT && told("null"));
  EXPECT(vm_pmu_advance(machine, 0, 5, states, SIZE_MAX / 2) == VM_PMU_STATUS_ERROR_ARGUMENT && told("no memory"));
  EXPECT(vm_pmu_set_context_x86(machine, 0, 4, 0, 0) == VM_PMU_STATUS_ERROR_ARGUMENT && told("CPL 4"));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* A function that refuses a place of one of its results has written none. */
static void results_are_written_all_or_not_at_all(void) {
  VmPmuMachine *machine = NULL;
  VmPmuText name = {NULL, 99};
  bool any = true;
  uint64_t value = 99;
  uint64_t *odd = (uint64_t *)((char *)&value + 1);
  EXPECT_OK(vm_pmu_machine_create("montecito", NULL, &machine));
  EXPECT(vm_pmu_signal(0, &name, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("summary") && name.length == 99);
  EXPECT(vm_pmu_instruction_match(machine, 0, &any, &value, odd) == VM_PMU_STATUS_ERROR_ARGUMENT && told("mask"));
  EXPECT(any && value == 99);
  EXPECT(vm_pmu_instruction_match(machine, 0, &any, odd, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("value"));
  EXPECT(any);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void messages(void) {
  char small[4] = {'x', 'x', 'x', 'x'};
  EXPECT(vm_pmu_service(NULL, 0) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_last_error(small, sizeof small) > 4 && strcmp(small, "the") == 0);
  EXPECT(vm_pmu_last_error(NULL, 0) > 4);
}

int main(void) {
  machines();
  what_the_part_does_not_have();
  longer_structs();
  threads_and_registers();
  results_are_written_all_or_not_at_all();
  messages();
  puts("misuse: all is well");
  return 0;
}
