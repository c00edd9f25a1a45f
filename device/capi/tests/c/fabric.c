/* What joins the packages of a machine, what devices do behind them, and which die a Knights Landing has. */
#include <string.h>

#include "expect.h"

/* The memory of each node of K8. */
#define MEMORY (UINT64_C(1) << 20)
/* Of K8: EN, OS and USR of a PerfEvtSel, with a unit mask and an event select. */
#define SELECT(event, mask) (UINT64_C(0x430000) | (mask) << 8 | (event))
#define PERF_EVT_SEL 0xC0010000
#define PERF_CTR 0xC0010004

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static VmPmuMachine *machine_of(const char *part, uint32_t packages) {
  VmPmuOptions options = {.size = sizeof options};
  VmPmuMachine *machine = NULL;
  options.packages = packages;
  EXPECT_OK(vm_pmu_machine_create(part, &options, &machine));
  return machine;
}

/* Nodes of K8 with one core and 1 MiB each. */
static VmPmuCompanionOptions nodes(uint32_t packages) {
  VmPmuCompanionOptions options = {.size = sizeof options};
  options.packages = packages;
  options.memory_per_package = MEMORY;
  return options;
}

static VmPmuCompanion *companion_of(const char *part, const VmPmuCompanionOptions *options) {
  VmPmuCompanion *companion = NULL;
  EXPECT_OK(vm_pmu_companion_create(part, options, &companion));
  return companion;
}

static bool refused(const VmPmuCompanionOptions *options, const char *part) {
  VmPmuCompanion *companion = NULL;
  return vm_pmu_companion_create("k8", options, &companion) == VM_PMU_STATUS_ERROR_ARGUMENT && companion == NULL && told(part);
}

/* Counter `number` of the first thread counts what `control` selects. */
static void count(const VmPmuMachine *machine, uint32_t number, uint64_t control) {
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, PERF_EVT_SEL + number, control));
}

static uint64_t counted(const VmPmuMachine *machine, uint32_t number) {
  uint64_t value;
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, PERF_CTR + number, &value));
  return value;
}

/* A device behind the first node, whose package of the machine is the first too. Returns the lines that a cache had modified. */
static uint64_t device(const VmPmuCompanion *companion, const VmPmuMachine *machine, uint64_t physical, uint64_t bytes, uint32_t operation) {
  VmPmuDeviceRequest request = {.size = sizeof request};
  uint64_t modified = UINT64_MAX;
  request.physical = physical;
  request.bytes = bytes;
  request.operation = operation;
  EXPECT_OK(vm_pmu_companion_device(companion, machine, 0, &request, &modified));
  return modified;
}

/* E9h of K8: a device of the first node reaches memory of this node and of the other, and I/O of either. */
static void devices_reach_memory_and_io_of_either_node(void) {
  static const VmPmuIoRange ranges[] = {{0xC0000000, 1 << 29, 1, 0}, {0xE0000000, 1 << 29, 0, 0}};
  VmPmuCompanionOptions options = nodes(2);
  VmPmuMachine *machine = machine_of("k8", 2);
  VmPmuCompanion *companion;
  options.io_ranges = ranges;
  options.io_range_count = 2;
  companion = companion_of("k8", &options);
  count(machine, 0, SELECT(0xE9, 0xA2));
  count(machine, 1, SELECT(0xE9, 0x92));
  count(machine, 2, SELECT(0xE9, 0xA1));
  count(machine, 3, SELECT(0xE9, 0x91));
  /* Two lines of the own memory, one of the other's; two accesses to the own I/O, one to the other's. */
  EXPECT(device(companion, machine, 0x8000, 128, VM_PMU_DEVICE_OPERATION_READ) == 0);
  EXPECT(device(companion, machine, MEMORY, 32, VM_PMU_DEVICE_OPERATION_WRITE) == 0);
  device(companion, machine, 0xE0000000, 4, VM_PMU_DEVICE_OPERATION_WRITE);
  device(companion, machine, 0xE0000000, 4, VM_PMU_DEVICE_OPERATION_READ);
  device(companion, machine, 0xC0000000, 4, VM_PMU_DEVICE_OPERATION_WRITE);
  EXPECT(counted(machine, 0) == 2 && counted(machine, 1) == 1 && counted(machine, 2) == 2 && counted(machine, 3) == 1);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* The second line of three is modified in the core's cache. */
static void a_device_is_told_which_lines_were_modified(void) {
  VmPmuCompanionOptions options = {.size = sizeof options};
  VmPmuMachine *machine = machine_of("k8", 1);
  VmPmuCompanion *companion;
  VmPmuInstruction instruction = {.size = sizeof instruction};
  VmPmuAccess access = {0};
  bool active;
  options.flags = VM_PMU_COMPANION_ALWAYS;
  companion = companion_of("k8", &options);
  access.address = access.physical = 0x8040;
  access.bytes = 8;
  access.kind = VM_PMU_ACCESS_KIND_STORE;
  instruction.accesses = &access;
  instruction.access_count = 1;
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, &active));
  EXPECT(active);
  EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, NULL));
  EXPECT(device(companion, machine, 0x8000, 192, VM_PMU_DEVICE_OPERATION_READ) == 1 << 1);
  EXPECT(device(companion, machine, 0x8040, 8, VM_PMU_DEVICE_OPERATION_ATOMIC) == 1);
  EXPECT(device(companion, machine, 0x8040, 64, VM_PMU_DEVICE_OPERATION_INJECT) == 0);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* EEh: two accesses of a device to one page of the aperture, of which the first misses. */
static void accesses_to_the_aperture_are_counted(void) {
  VmPmuCompanionOptions options = {.size = sizeof options};
  VmPmuMachine *machine = machine_of("k8", 1);
  VmPmuCompanion *companion;
  options.aperture = 0xD0000000;
  options.aperture_bytes = 64 << 20;
  companion = companion_of("k8", &options);
  count(machine, 0, SELECT(0xEE, 0x06));
  device(companion, machine, 0xD0001000, 128, VM_PMU_DEVICE_OPERATION_READ);
  EXPECT(counted(machine, 0) == 3);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Four nodes in a square. */
static const VmPmuNodeLink square[] = {{0, 0, 1, 0}, {1, 1, 2, 1}, {2, 0, 3, 0}, {3, 1, 0, 1}};

/* F6h and F7h: the doublewords of commands that the first node sends by its links 0 and 1 when a device of it reads a line of the third. */
static void expect_commands(const VmPmuNodeRoute *route, uint32_t routes, uint64_t first, uint64_t second) {
  VmPmuCompanionOptions options = nodes(4);
  VmPmuMachine *machine = machine_of("k8", 4);
  VmPmuCompanion *companion;
  options.links = square;
  options.link_count = 4;
  options.routes = route;
  options.route_count = routes;
  companion = companion_of("k8", &options);
  count(machine, 0, SELECT(0xF6, 0x01));
  count(machine, 1, SELECT(0xF7, 0x01));
  device(companion, machine, 2 * MEMORY, 64, VM_PMU_DEVICE_OPERATION_READ);
  EXPECT(counted(machine, 0) == first && counted(machine, 1) == second);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void what_is_sent_takes_the_way_that_was_chosen(void) {
  static const VmPmuNodeRoute way = {0, 2, 1, 0};
  /* The request of two doublewords and the end of one: by the second node, whose link has the smaller number, or by the fourth. */
  expect_commands(NULL, 0, 3, 0);
  expect_commands(&way, 1, 0, 3);
}

static void impossible_fabrics_are_refused(void) {
  static const VmPmuNodeLink twice[] = {{0, 0, 1, 0}, {0, 0, 2, 1}}, beyond = {0, 3, 1, 0}, far = {0, 0, 4, 0}, itself = {0, 0, 0, 1};
  static const VmPmuNodeRoute nowhere = {0, 2, 2, 0};
  static const VmPmuIoRange behind = {0, 1, 4, 0};
  VmPmuCompanionOptions options = nodes(4);
  options.links = twice;
  options.link_count = 2;
  EXPECT(refused(&options, "link 0 of package 0 joins two packages"));
  options.link_count = 1;
  options.links = &beyond;
  EXPECT(refused(&options, "no link joins link 3 of package 0"));
  options.links = &far;
  EXPECT(refused(&options, "there are 4 packages"));
  options.links = &itself;
  EXPECT(refused(&options, "no link joins"));
  options.links = square;
  options.link_count = 4;
  options.routes = &nowhere;
  options.route_count = 1;
  EXPECT(refused(&options, "cannot leave by link 2"));
  options.links = NULL;
  EXPECT(refused(&options, "the list of links is null"));
  options = nodes(9);
  options.links = square;
  options.link_count = 4;
  EXPECT(refused(&options, "8 are the most"));
  options = nodes(4);
  options.io_ranges = &behind;
  options.io_range_count = 1;
  EXPECT(refused(&options, "behind package 4"));
  options.io_range_count = 9;
  EXPECT(refused(&options, "9 ranges"));
  options = nodes(1);
  options.tiles = UINT64_C(1) << 38;
  EXPECT(refused(&options, "places 0 to 37"));
  options.tiles = 0;
  options.cluster_mode = 6;
  EXPECT(refused(&options, "VmPmuClusterMode"));
  options.cluster_mode = VM_PMU_CLUSTER_MODE_USUAL;
  options.memory_mode = 5;
  EXPECT(refused(&options, "VmPmuMemoryMode"));
}

static void impossible_devices_are_refused(void) {
  VmPmuCompanionOptions options = nodes(2);
  VmPmuMachine *machine = machine_of("k8", 2);
  VmPmuCompanion *companion = companion_of("k8", &options);
  VmPmuDeviceRequest request = {.size = sizeof request};
  request.bytes = 64;
  request.package = 2;
  EXPECT(vm_pmu_companion_device(companion, machine, 0, &request, NULL) == VM_PMU_STATUS_ERROR_RANGE && told("companion has 2"));
  request.package = 1;
  EXPECT(vm_pmu_companion_device(companion, machine, 2, &request, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  request.operation = 5;
  EXPECT(vm_pmu_companion_device(companion, machine, 0, &request, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuDeviceOperation"));
  EXPECT(vm_pmu_companion_device(companion, machine, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_device(NULL, machine, 0, &request, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  request.operation = VM_PMU_DEVICE_OPERATION_ATOMIC;
  EXPECT_OK(vm_pmu_companion_device(companion, machine, 0, &request, NULL));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Four nodes of a gibibyte: the first of them has CHAs 0 to 9. */
static void a_die_is_said_once_for_boxes_and_companion(void) {
  VmPmuLayout layout = {.size = sizeof layout};
  VmPmuOptions options = {.size = sizeof options};
  VmPmuCompanionOptions followed = {.size = sizeof followed};
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = NULL;
  uint64_t tiles = 0, line;
  uint32_t cha;
  EXPECT_OK(vm_pmu_tiles_usual(38, &tiles));
  EXPECT(tiles == (UINT64_C(1) << 38) - 1);
  layout.cores = 76;
  layout.cluster_mode = VM_PMU_CLUSTER_MODE_SNC4;
  EXPECT(vm_pmu_layout_options("knl", &layout, &options) == VM_PMU_STATUS_ERROR_ARGUMENT);
  layout.memory_per_package = UINT64_C(4) << 30;
  EXPECT_OK(vm_pmu_layout_options("knl", &layout, &options));
  EXPECT_OK(vm_pmu_layout_companion_options("knl", &layout, &followed));
  EXPECT(options.tiles == tiles && options.cluster_mode == VM_PMU_CLUSTER_MODE_SNC4 && options.memory == UINT64_C(4) << 30);
  EXPECT(followed.tiles == tiles && followed.cluster_mode == VM_PMU_CLUSTER_MODE_SNC4);
  EXPECT_OK(vm_pmu_machine_create("knl", &options, &machine));
  EXPECT_OK(vm_pmu_companion_create("knl", &followed, &companion));
  for (line = 0; line < 1000; line++) {
    EXPECT_OK(vm_pmu_companion_home(companion, 64 * line, &cha));
    EXPECT(cha <= 9);
  }
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  /* A part of 68 cores lacks the tiles above and below both memory controllers. */
  EXPECT_OK(vm_pmu_layout_usual("knl", &layout));
  EXPECT_OK(vm_pmu_layout_options("knl", &layout, &options));
  EXPECT(options.tiles == (tiles & ~(UINT64_C(1) << 6 | UINT64_C(1) << 10 | UINT64_C(1) << 27 | UINT64_C(1) << 31)));
  EXPECT(options.cluster_mode == VM_PMU_CLUSTER_MODE_QUADRANT);
  /* Nothing is chosen for a small machine, nor for another part. */
  layout.cores = 2;
  EXPECT_OK(vm_pmu_layout_options("knl", &layout, &options));
  EXPECT(options.tiles == 0 && options.cluster_mode == VM_PMU_CLUSTER_MODE_USUAL);
  layout.tiles = 3;
  EXPECT(vm_pmu_layout_options("knl", &layout, &options) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_tiles_usual(39, &tiles) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options = (VmPmuOptions){.size = sizeof options};
  options.cluster_mode = VM_PMU_CLUSTER_MODE_QUADRANT;
  EXPECT(vm_pmu_machine_create("k8", &options, &machine) == VM_PMU_STATUS_ERROR_UNSUPPORTED);
}

/* A gibibyte of DDR, and all of 16 GiB of MCDRAM above it. */
static void flat_memory_is_said_once_for_boxes_and_companion(void) {
  VmPmuLayout layout = {.size = sizeof layout};
  VmPmuOptions options = {.size = sizeof options};
  VmPmuCompanionOptions followed = {.size = sizeof followed};
  layout.cores = 68;
  layout.memory_mode = VM_PMU_MEMORY_MODE_FLAT;
  layout.mcdram = UINT64_C(16) << 30;
  EXPECT(vm_pmu_layout_options("knl", &layout, &options) == VM_PMU_STATUS_ERROR_ARGUMENT);
  layout.memory_per_package = UINT64_C(1) << 30;
  EXPECT_OK(vm_pmu_layout_options("knl", &layout, &options));
  EXPECT_OK(vm_pmu_layout_companion_options("knl", &layout, &followed));
  EXPECT(options.memory_mode == VM_PMU_MEMORY_MODE_FLAT && options.mcdram == UINT64_C(16) << 30 && options.memory == UINT64_C(1) << 30);
  EXPECT(followed.memory_mode == VM_PMU_MEMORY_MODE_FLAT && followed.mcdram == UINT64_C(16) << 30);
}

/* Of CHA 3's stop: VERT_RING_AD_IN_USE, all ways, in counter 0. */
#define CHA3_CONTROL (0xE01 + 3 * 12)
#define CHA3_COUNTER (0xE08 + 3 * 12)
#define AD_IN_USE 0x00400FA6
/* Bus 0, device 5, function 6: TRANSACTIONS_COUNT_ESEL of the IRP, reads, in counter 0. */
#define IRP_CONTROL (5 << 15 | 6 << 12 | 0xD8)
#define IRP_COUNTER (5 << 15 | 6 << 12 | 0xA0)
#define IRP_READS 0x00400116

static void messages_and_devices_cross_the_mesh(void) {
  VmPmuMachine *machine = machine_of("knl", 1), *other = machine_of("k8", 1);
  uint32_t above, below, ubox, value;
  uint64_t clocks;
  bool listens;
  EXPECT_OK(vm_pmu_box_named("cha0", &above));
  EXPECT_OK(vm_pmu_box_named("cha3", &below));
  EXPECT_OK(vm_pmu_box_named("ubox", &ubox));
  EXPECT_OK(vm_pmu_boxes_listen_to_mesh(machine, &listens));
  EXPECT(!listens);
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, CHA3_CONTROL, AD_IN_USE));
  EXPECT_OK(vm_pmu_boxes_listen_to_mesh(machine, &listens));
  EXPECT(listens);
  /* CHA 3 is below CHA 0. */
  EXPECT_OK(vm_pmu_box_carry(machine, above, VM_PMU_AGENT_CORES, below, VM_PMU_RING_AD));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, CHA3_COUNTER, &clocks));
  EXPECT(clocks == 1);

  EXPECT_OK(vm_pmu_pci_write(machine, IRP_CONTROL, 4, IRP_READS));
  EXPECT_OK(vm_pmu_box_device(machine, 7, VM_PMU_DEVICE_ACCESS_READ, 0x8000, false));
  EXPECT_OK(vm_pmu_pci_read(machine, IRP_COUNTER, 4, &value));
  EXPECT(value == 1);

  EXPECT(vm_pmu_box_carry(machine, above, 2, below, VM_PMU_RING_AD) == VM_PMU_STATUS_ERROR_ARGUMENT && told("agent"));
  EXPECT(vm_pmu_box_carry(machine, above, VM_PMU_AGENT_HOME, below, 4) == VM_PMU_STATUS_ERROR_ARGUMENT && told("ring"));
  EXPECT(vm_pmu_box_carry(machine, above, VM_PMU_AGENT_HOME, ubox, VM_PMU_RING_AD) == VM_PMU_STATUS_ERROR_ARGUMENT && told("stop"));
  EXPECT(vm_pmu_box_device(machine, 38, VM_PMU_DEVICE_ACCESS_READ, 0, false) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_box_device(machine, 0, 6, 0, false) == VM_PMU_STATUS_ERROR_ARGUMENT && told("access"));
  EXPECT(vm_pmu_box_device(other, 0, VM_PMU_DEVICE_ACCESS_READ, 0, false) == VM_PMU_STATUS_ERROR_UNSUPPORTED);
  EXPECT(vm_pmu_boxes_listen_to_mesh(machine, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(other));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  devices_reach_memory_and_io_of_either_node();
  a_device_is_told_which_lines_were_modified();
  accesses_to_the_aperture_are_counted();
  what_is_sent_takes_the_way_that_was_chosen();
  impossible_fabrics_are_refused();
  impossible_devices_are_refused();
  a_die_is_said_once_for_boxes_and_companion();
  flat_memory_is_said_once_for_boxes_and_companion();
  messages_and_devices_cross_the_mesh();
  puts("fabric: all is well");
  return 0;
}
