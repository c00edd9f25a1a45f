/* The boxes that all threads of Knights Landing share. */
#include "expect.h"

/* The first channel of the first memory controller: bus FFh, device 8, function 2. */
#define CHANNEL ((0xFFu << 20) | (8u << 15) | (2u << 12))

static void a_channel_counts_what_happens(void) {
  VmPmuMachine *machine = NULL;
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  uint32_t channel, value;
  uint64_t clocks, dword;
  bool answer;
  options.threads = 8;
  EXPECT_OK(vm_pmu_machine_create("knl", &options, &machine));
  EXPECT_OK(vm_pmu_box_named("mc-dclk0", &channel));
  EXPECT_OK(vm_pmu_pci_read(machine, CHANNEL, 4, &value));
  EXPECT(value == 0x78438086);
  EXPECT_OK(vm_pmu_pci_read(machine, CHANNEL, 2, &value));
  EXPECT(value == 0x8086);
  EXPECT_OK(vm_pmu_pci_read(machine, 0, 4, &value));
  EXPECT(value == UINT32_MAX);
  EXPECT_OK(vm_pmu_boxes_count(machine, &answer));
  EXPECT(!answer);

  EXPECT_OK(vm_pmu_pci_write(machine, CHANNEL | 0xB20, 4, 0x00400103)); /* CAS reads in counter 0 */
  EXPECT_OK(vm_pmu_boxes_count(machine, &answer));
  EXPECT(answer);
  EXPECT_OK(vm_pmu_box_listens(machine, channel, &answer));
  EXPECT(answer);
  EXPECT_OK(vm_pmu_box_inject(machine, channel, 0x03, 0x01, 1, 5, &answer));
  EXPECT(answer);
  EXPECT_OK(vm_pmu_tick(machine, VM_PMU_CLOCK_DCLK, 100));
  EXPECT_OK(vm_pmu_pci_read(machine, CHANNEL | 0xB00, 4, &value));
  EXPECT(value == 5);
  EXPECT_OK(vm_pmu_read(machine, 3, VM_PMU_SPACE_PCI, CHANNEL | 0xB00, &dword));
  EXPECT(dword == 5);
  EXPECT_OK(vm_pmu_tick(machine, VM_PMU_CLOCK_ALL, 20));
  EXPECT_OK(vm_pmu_clocks(machine, VM_PMU_CLOCK_DCLK, &clocks));
  EXPECT(clocks == 120);
  EXPECT_OK(vm_pmu_box_queue(machine, channel, 0x80, 0, 1, NULL));
  EXPECT_OK(vm_pmu_boxes_reset(machine));
  EXPECT_OK(vm_pmu_boxes_count(machine, &answer));
  EXPECT(!answer);

  VmPmuTransaction request = {.size = sizeof(VmPmuTransaction)};
  request.opcode = 0x182;
  request.stage = 2;
  request.clocks = 10;
  EXPECT_OK(vm_pmu_box_transact(machine, 37, &request, &answer));
  EXPECT(!answer);
  EXPECT(vm_pmu_box_transact(machine, 38, &request, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  request.stage = 3;
  EXPECT(vm_pmu_box_transact(machine, 0, &request, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_box_named("cha38", &channel) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(vm_pmu_box_listens(machine, 66, &answer) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_tick(machine, 4, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_pci_read(machine, CHANNEL, 3, &value) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_pci_read(machine, CHANNEL | 1, 2, &value) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_pci_read(machine, 1u << 28, 4, &value) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void the_clocks_tick_beside_the_cpus(void) {
  static const uint64_t usual[3] = {17, 9, 12}, chosen[3] = {28, 7, 0};
  for (int own = 0; own < 2; own++) {
    VmPmuMachine *machine = NULL;
    VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
    if (own) {
      options.flags = VM_PMU_OPTION_FREQUENCIES;
      options.cpu_frequency = 2;
      options.uclk_frequency = 4;
      options.eclk_frequency = 1;
    }
    EXPECT_OK(vm_pmu_machine_create("knl", &options, &machine));
    EXPECT_OK(vm_pmu_boxes_advance(machine, 5));
    EXPECT_OK(vm_pmu_boxes_advance(machine, 9));
    for (uint32_t clock = VM_PMU_CLOCK_UCLK; clock <= VM_PMU_CLOCK_DCLK; clock++) {
      uint64_t clocks;
      EXPECT_OK(vm_pmu_clocks(machine, clock, &clocks));
      EXPECT(clocks == (own ? chosen : usual)[clock]);
    }
    EXPECT_OK(vm_pmu_machine_destroy(machine));
  }
}

/* The IRP: bus 0, device 5, function 6. */
#define IRP ((5u << 15) | (6u << 12))

static void entries_that_are_there_already_count(void) {
  VmPmuMachine *machine = NULL;
  uint32_t irp, value;
  bool answer;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  EXPECT_OK(vm_pmu_box_named("irp", &irp));
  EXPECT_OK(vm_pmu_box_queue(machine, irp, 0x07, 0, 2, &answer));
  EXPECT(!answer);
  EXPECT_OK(vm_pmu_box_set_queue(machine, irp, 0x08, 0, 5, &answer));
  EXPECT_OK(vm_pmu_pci_write(machine, IRP | 0xD8, 4, 0x00400007));
  EXPECT_OK(vm_pmu_pci_write(machine, IRP | 0xDC, 4, 0x00400008));
  EXPECT_OK(vm_pmu_tick(machine, VM_PMU_CLOCK_UCLK, 10));
  EXPECT_OK(vm_pmu_box_set_queue(machine, irp, 0x08, 0, 1, &answer));
  EXPECT(answer);
  EXPECT_OK(vm_pmu_tick(machine, VM_PMU_CLOCK_UCLK, 10));
  EXPECT_OK(vm_pmu_pci_read(machine, IRP | 0xA0, 4, &value));
  EXPECT(value == 40);
  EXPECT_OK(vm_pmu_pci_read(machine, IRP | 0xA8, 4, &value));
  EXPECT(value == 60);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void the_boxes_of_a_unit_follow_each_other(void) {
  static const struct {
    const char *first, *last;
    uint32_t count;
  } units[] = {{"cha0", "cha37", 38}, {"edc-eclk0", "edc-eclk7", 8}, {"edc-uclk0", "edc-uclk7", 8}, {"mc-dclk0", "mc-dclk5", 6}};
  for (size_t unit = 0; unit < sizeof units / sizeof units[0]; unit++) {
    uint32_t first, last;
    EXPECT_OK(vm_pmu_box_named(units[unit].first, &first));
    EXPECT_OK(vm_pmu_box_named(units[unit].last, &last));
    EXPECT(last - first + 1 == units[unit].count);
  }
}

static void other_parts_have_no_boxes(void) {
  VmPmuMachine *machine = NULL;
  bool answer;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT(vm_pmu_boxes_count(machine, &answer) == VM_PMU_STATUS_ERROR_UNSUPPORTED);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  a_channel_counts_what_happens();
  the_clocks_tick_beside_the_cpus();
  entries_that_are_there_already_count();
  the_boxes_of_a_unit_follow_each_other();
  other_parts_have_no_boxes();
  puts("boxes: all is well");
  return 0;
}
