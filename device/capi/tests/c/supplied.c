/* What an embedder supplies, in C: no deadline, demand or record of anything else, and what a companion adds. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define MSR VM_PMU_SPACE_MSR
#define RETIRED VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED
#define CYCLES VM_PMU_SIGNAL_CYCLES
#define MISSES VM_PMU_SIGNAL_DATA_CACHE_MISSES

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static bool has(const uint64_t *signals, uint32_t signal) { return signals[signal / 64] >> (signal % 64) & 1; }

static const uint32_t own[] = {CYCLES, RETIRED};

static VmPmuMachine *make(const char *part, VmPmuOptions options) {
  VmPmuMachine *machine = NULL;
  EXPECT_OK(vm_pmu_machine_create(part, &options, &machine));
  return machine;
}

static void waits_for_nothing_else(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  uint64_t signals[VM_PMU_SIGNAL_WORDS];
  options.supplied = own;
  options.supplied_count = 2;
  VmPmuMachine *machine = make("k8", options);
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010000, 0x00520041)); /* data cache misses, OS, INT, EN */
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT(demand.idle && vm_pmu_deadline(&cells, MISSES) == VM_PMU_NEVER);
  EXPECT_OK(vm_pmu_unsupplied(machine, 0, signals));
  EXPECT(has(signals, MISSES) && !has(signals, RETIRED));
  EXPECT(vm_pmu_unsupplied(machine, 1, signals) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_unsupplied(machine, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static unsigned raised;

static void count_interrupt(void *user, uint32_t thread, uint32_t counter) {
  (void)user, (void)thread, (void)counter;
  raised += 1;
}

/* The event of retired instructions counts interrupts, too. */
static void looks_once_a_period(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  const uint32_t supplied[] = {RETIRED, CYCLES, VM_PMU_SIGNAL_INTERRUPTS_TAKEN};
  unsigned looks = 0;
  options.pace_single = own;
  options.pace_single_count = 2;
  options.pace_between_blocks = &supplied[2];
  options.pace_between_blocks_count = 1;
  options.supplied = supplied;
  options.supplied_count = 3;
  options.raise = count_interrupt;
  VmPmuMachine *machine = make("k8", options);
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010004, 0 - (uint64_t)100000));
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010000, 0x005200C0)); /* retired instructions, OS, INT, EN */
  /* One of the 100,000 events is an interrupt, reported to the machine after the 500th instruction. */
  for (unsigned instruction = 1; instruction <= 99999; instruction++) {
    vm_pmu_add(&cells, RETIRED, 1);
    vm_pmu_add(&cells, CYCLES, 1);
    EXPECT(!vm_pmu_due(&cells) || instruction == 99999);
    if (vm_pmu_due(&cells)) {
      looks += 1;
      EXPECT_OK(vm_pmu_check(machine, 0));
    }
    if (instruction == 500) {
      vm_pmu_add(&cells, VM_PMU_SIGNAL_INTERRUPTS_TAKEN, 1);
      EXPECT(!vm_pmu_due(&cells) && vm_pmu_reached(&cells, VM_PMU_SIGNAL_INTERRUPTS_TAKEN));
      EXPECT_OK(vm_pmu_check(machine, 0));
    }
  }
  EXPECT(looks == 1 && raised == 1);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void demands_only_records_that_are_told(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  const uint64_t sample_enable = 1;
  const uint32_t told[] = {0, VM_PMU_RECORDS_NEVER, VM_PMU_RECORDS_MEMORY, VM_PMU_RECORDS_EVERY};
  for (unsigned index = 0; index < 4; index++) {
    options.records = told[index];
    VmPmuMachine *machine = make("power9", options);
    EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_SPR, 786, sample_enable)); /* MMCRA */
    EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
    /* An embedder that reports everything also knows the outcomes. */
    uint32_t expected = index == 0 ? VM_PMU_RECORDS_AT_DEADLINE | VM_PMU_RECORDS_SAMPLED_OUTCOMES : index == 3 ? VM_PMU_RECORDS_AT_DEADLINE : 0;
    EXPECT(demand.records == expected);
    EXPECT_OK(vm_pmu_machine_destroy(machine));
  }
}

static void knows_what_a_companion_adds(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  uint64_t signals[VM_PMU_SIGNAL_WORDS];
  uint32_t count = 0, again = 0, few[2] = {0, 77};
  EXPECT_OK(vm_pmu_companion_supplied("k8", VM_PMU_CLOCK_OWNER_EMBEDDER, NULL, 0, &count));
  uint32_t *list = calloc(count + 2, sizeof *list);
  EXPECT(count > 0 && list != NULL);
  EXPECT_OK(vm_pmu_companion_supplied("k8", VM_PMU_CLOCK_OWNER_EMBEDDER, list + 2, count, &again));
  EXPECT(again == count && list[count + 1] > list[2]);
  EXPECT_OK(vm_pmu_companion_supplied("k8", VM_PMU_CLOCK_OWNER_EMBEDDER, few, 1, NULL));
  EXPECT(few[0] == list[2] && few[1] == 77);

  list[0] = CYCLES, list[1] = RETIRED;
  options.supplied = list;
  options.supplied_count = count + 2;
  VmPmuMachine *machine = make("k8", options);
  free(list);
  EXPECT_OK(vm_pmu_write(machine, 0, MSR, 0xC0010000, 0x00520041));
  EXPECT_OK(vm_pmu_unsupplied(machine, 0, signals));
  EXPECT(!has(signals, MISSES));
  EXPECT_OK(vm_pmu_machine_destroy(machine));

  EXPECT(vm_pmu_companion_supplied("z80", 0, NULL, 0, &count) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(vm_pmu_companion_supplied("k8", 2, NULL, 0, &count) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_supplied("k8", 0, NULL, 1, &count) == VM_PMU_STATUS_ERROR_ARGUMENT);
}

static void misuse(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  const uint32_t unknown = 1u << 30;
  options.supplied = &unknown;
  options.supplied_count = 1;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_RANGE);
  options.supplied = NULL;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("supplied"));
  options.supplied_count = 0;
  options.pace_single_count = 1;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("pace"));
  options.pace_single_count = 0;
  options.pace_between_blocks_count = 1;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("block"));
  options.pace_between_blocks_count = 0;
  options.records = 1u << 29;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("records"));
  EXPECT(machine == NULL);
}

int main(void) {
  waits_for_nothing_else();
  looks_once_a_period();
  demands_only_records_that_are_told();
  knows_what_a_companion_adds();
  misuse();
  puts("supplied: all is well");
  return 0;
}
