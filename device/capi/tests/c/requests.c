/* The boxes of mesh and memory count the requests of a tile of Knights Landing and what its memory does. */
#include <string.h>

#include "expect.h"

#define CHA 16 /* that of line 200h */
#define CHA_MSR(offset) (0xE00 + 12 * CHA + (offset))
/* The first channel of the first memory controller: bus FFh, device 8, function 2. */
#define CHANNEL ((0xFFu << 20) | (8u << 15) | (2u << 12))

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

struct seen {
  VmPmuMachine *machine;
  VmPmuCompanion *companion;
  uint32_t requests, taken, channel;
  VmPmuRequest last;
};

static void request(void *user, const VmPmuRequest *request) {
  struct seen *seen = user;
  uint32_t cha;
  bool taken;
  EXPECT(request->size >= sizeof(VmPmuRequest));
  EXPECT_OK(vm_pmu_companion_home(seen->companion, request->physical, &cha));
  EXPECT_OK(vm_pmu_box_request(seen->machine, cha, request, 3, 5, &taken));
  seen->requests++;
  seen->taken += taken;
  seen->last = *request;
}

static void place(void *user, const VmPmuPlace *place) {
  const struct seen *seen = user;
  bool is_first = place->kind == VM_PMU_PLACE_KIND_CHANNEL && place->controller == 0 && place->channel == 0;
  if (is_first && place->signal == VM_PMU_SIGNAL_MEMORY_READS) {
    EXPECT_OK(vm_pmu_box_inject(seen->machine, seen->channel, 0x03, 0x01, 1, place->amount, NULL));
  }
}

static void never(void *user, const VmPmuRequest *request) {
  (void)user, (void)request;
  EXPECT(false);
}

/* Loads eight bytes. */
static void load(struct seen *seen, uint64_t address) {
  VmPmuAccess access = {0};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  access.address = access.physical = address;
  access.bytes = 8;
  instruction.accesses = &access;
  instruction.access_count = 1;
  EXPECT_OK(vm_pmu_follow(seen->companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_requests(seen->companion, 0, request, seen));
  EXPECT_OK(vm_pmu_follow_deliver(seen->companion, seen->machine, 0, NULL, 0, NULL, NULL, NULL));
  /* They have been reported. */
  EXPECT_OK(vm_pmu_follow_requests(seen->companion, 0, never, NULL));
  EXPECT_OK(vm_pmu_companion_take_places(seen->companion, place, seen));
  EXPECT_OK(vm_pmu_tick(seen->machine, VM_PMU_CLOCK_ALL, 1000));
}

static uint64_t at_cha(const struct seen *seen, uint32_t offset) {
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_read(seen->machine, 0, VM_PMU_SPACE_MSR, CHA_MSR(offset), &value));
  return value;
}

static void a_load_that_misses_is_counted_by_a_cha_and_a_channel(void) {
  struct seen seen = {0};
  bool active;
  uint32_t value;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &seen.machine));
  EXPECT_OK(vm_pmu_companion_create("knl", NULL, &seen.companion));
  EXPECT_OK(vm_pmu_box_named("mc-dclk0", &seen.channel));
  /* No requests are wanted. */
  EXPECT_OK(vm_pmu_follow_sync(seen.companion, seen.machine, 0, &active));
  EXPECT(!active);
  load(&seen, 0x4000);
  EXPECT(seen.requests == 0);

  /* The CHA counts insertions into its table, from tiles, of any result; only those of DRd (182h) pass filter 1. */
  EXPECT_OK(vm_pmu_write(seen.machine, 0, VM_PMU_SPACE_MSR, CHA_MSR(6), 0x30422));
  EXPECT_OK(vm_pmu_write(seen.machine, 0, VM_PMU_SPACE_MSR, CHA_MSR(1), 0x403135));
  /* The channel counts CAS reads. */
  EXPECT_OK(vm_pmu_pci_write(seen.machine, CHANNEL | 0xB20, 4, 0x00400103));
  EXPECT_OK(vm_pmu_companion_watch_places(seen.companion, true));
  EXPECT_OK(vm_pmu_follow_keep_requests(seen.companion, 0, true));
  EXPECT_OK(vm_pmu_follow_sync(seen.companion, seen.machine, 0, &active));
  EXPECT(active);
  load(&seen, 0x8000);
  EXPECT(seen.requests == 1 && seen.taken == 1 && seen.last.physical >> 6 == 0x200 && seen.last.latency > 0);
  EXPECT(seen.last.kind == VM_PMU_REQUEST_KIND_DATA_READ);
  EXPECT(seen.last.supplier == VM_PMU_SUPPLIER_MEMORY || seen.last.supplier == VM_PMU_SUPPLIER_MEMORY_FAR);
  EXPECT(at_cha(&seen, 8) == 1);
  EXPECT_OK(vm_pmu_pci_read(seen.machine, CHANNEL | 0xB00, 4, &value));
  EXPECT(value == 1);
  /* The first level has it now: there is no further request. */
  load(&seen, 0x8008);
  EXPECT(seen.requests == 1 && at_cha(&seen, 8) == 1);
  EXPECT_OK(vm_pmu_follow_keep_requests(seen.companion, 0, false));
  EXPECT_OK(vm_pmu_follow_sync(seen.companion, seen.machine, 0, &active));
  load(&seen, 0x10000);
  EXPECT(active && seen.requests == 1);
  EXPECT_OK(vm_pmu_companion_destroy(seen.companion));
  EXPECT_OK(vm_pmu_machine_destroy(seen.machine));
}

/* Bits 36h and 31h: how long requests of tiles are in the table, in its clocks. */
static void a_request_stays_for_its_latency_in_clocks_of_the_untile(void) {
  VmPmuMachine *machine = NULL;
  VmPmuRequest request = {.size = sizeof(VmPmuRequest)};
  uint64_t clocks;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xE01, 0x403136));
  request.latency = 28;
  request.supplier = VM_PMU_SUPPLIER_MEMORY;
  EXPECT_OK(vm_pmu_box_request(machine, 0, &request, 0, 0, NULL));
  EXPECT_OK(vm_pmu_tick(machine, VM_PMU_CLOCK_UCLK, 100));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xE08, &clocks));
  /* A CPU of 1400 MHz, a mesh of 1700. */
  EXPECT(clocks == 34);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Tile 0 reads a line of CHA 6 that tile 3 has, one row above CHA 6: the snoop goes up one hop, if the tile is told. */
static void a_snoop_goes_to_the_tile_that_has_the_line(void) {
  VmPmuMachine *machine = NULL;
  VmPmuRequest request = {.size = sizeof(VmPmuRequest)};
  uint64_t hops;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  /* VERT_RING_IV_IN_USE, up, of CHA 3. */
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xE25, 0x4001AC));
  request.supplier = VM_PMU_SUPPLIER_OTHER_CLUSTER;
  EXPECT_OK(vm_pmu_box_request(machine, 6, &request, 0, 0, NULL));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xE2C, &hops));
  EXPECT(hops == 0);
  request.holder = 3 + 1;
  EXPECT_OK(vm_pmu_box_request(machine, 6, &request, 0, 0, NULL));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xE2C, &hops));
  EXPECT(hops == 1);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void misuse(void) {
  VmPmuMachine *machine = NULL, *k8 = NULL;
  VmPmuCompanion *companion = NULL;
  VmPmuRequest request = {.size = sizeof(VmPmuRequest)};
  bool taken = true;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &k8));
  EXPECT_OK(vm_pmu_companion_create("knl", NULL, &companion));
  EXPECT(vm_pmu_follow_keep_requests(companion, 1, true) == VM_PMU_STATUS_ERROR_RANGE && told("thread 1"));
  EXPECT(vm_pmu_follow_keep_requests(NULL, 0, true) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_requests(companion, 1, never, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_requests(companion, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("function"));
  EXPECT(vm_pmu_box_request(k8, 0, &request, 0, 0, &taken) == VM_PMU_STATUS_ERROR_UNSUPPORTED);
  EXPECT(vm_pmu_box_request(machine, 38, &request, 0, 0, &taken) == VM_PMU_STATUS_ERROR_RANGE && told("CHA 38"));
  EXPECT(vm_pmu_box_request(machine, 0, NULL, 0, 0, &taken) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_box_request(machine, 0, &request, 38, 0, &taken) == VM_PMU_STATUS_ERROR_ARGUMENT && told("tile 38"));
  EXPECT(vm_pmu_box_request(machine, 0, &request, 0, 8, &taken) == VM_PMU_STATUS_ERROR_ARGUMENT && told("thread 8"));
  request.snoop = 4;
  EXPECT(vm_pmu_box_request(machine, 0, &request, 0, 0, &taken) == VM_PMU_STATUS_ERROR_ARGUMENT && told("snoop"));
  EXPECT(taken);
  request.snoop = 0;
  /* A request that the own tile supplied reaches no CHA. */
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xE01, 0x403135));
  EXPECT_OK(vm_pmu_box_request(machine, 0, &request, 0, 0, &taken));
  EXPECT(taken);
  request.supplier = VM_PMU_SUPPLIER_OWN_CLUSTER_SHARED;
  EXPECT_OK(vm_pmu_box_request(machine, 0, &request, 0, 0, &taken));
  EXPECT(!taken);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(k8));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  a_load_that_misses_is_counted_by_a_cha_and_a_channel();
  a_request_stays_for_its_latency_in_clocks_of_the_untile();
  a_snoop_goes_to_the_tile_that_has_the_line();
  misuse();
  puts("requests: all is well");
  return 0;
}
