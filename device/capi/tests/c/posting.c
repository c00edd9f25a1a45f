/* POWER9's cores and chips post into the memory of a guest that is an array here; calls start and stop them; a restored one continues to post. */
#include <string.h>

#include "expect.h"

#define RETIRED VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED
#define HOME UINT64_C(0x100000)
#define REGION UINT64_C(0x180000)
#define CORE UINT64_C(0x8000)
#define MEMORY_BYTES UINT64_C(0x400000)
#define SLOT UINT64_C(25600)

/* Big-endian cells, with a hole that can be closed. */
static uint8_t ram[MEMORY_BYTES];
static uint64_t hole;

static uint8_t *cell(uint64_t address) {
  return address % 8 == 0 && address <= MEMORY_BYTES - 8 && address != hole ? ram + address : NULL;
}

static bool load(void *user, uint64_t address, uint64_t *value) {
  const uint8_t *bytes = cell(address);
  (void)user;
  if (!bytes) return false;
  *value = 0;
  for (int place = 0; place < 8; place++) *value = *value << 8 | bytes[place];
  return true;
}

static bool store(void *user, uint64_t address, uint64_t value) {
  uint8_t *bytes = cell(address);
  (void)user;
  if (!bytes) return false;
  for (int place = 7; place >= 0; place--, value >>= 8) bytes[place] = (uint8_t)value;
  return true;
}

static bool add(void *user, uint64_t address, uint64_t amount) {
  uint64_t value;
  *(int *)user += 1;
  return load(user, address, &value) && store(user, address, value + amount);
}

static int additions;
static VmPmuMemory memory = {sizeof(VmPmuMemory), &additions, load, store, add};

static uint64_t at(uint64_t address) {
  uint64_t value = 0;
  EXPECT(load(NULL, address, &value));
  return value;
}

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static void retire(VmPmuMachine *machine, uint64_t instructions) {
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  vm_pmu_add(&cells, RETIRED, instructions);
}

/* CPM_INST is at 20h and counts in steps of 512. */
static void cores_post(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL, *k8 = NULL;
  VmPmuPassed passed = {.size = sizeof(VmPmuPassed)};
  uint64_t cycles;
  bool running, taken;
  options.threads = 4;
  EXPECT_OK(vm_pmu_machine_create("power9", &options, &machine));
  EXPECT_OK(vm_pmu_core_init(machine, 0, CORE));
  EXPECT_OK(vm_pmu_core_set_interval(machine, 0, 1000));
  EXPECT_OK(vm_pmu_core_start(machine, 0));
  EXPECT_OK(vm_pmu_core_running(machine, 0, &running));
  EXPECT(running);
  retire(machine, 5 * 512);
  EXPECT_OK(vm_pmu_core_until_posting(machine, 0, &cycles));
  EXPECT_OK(vm_pmu_core_advance(machine, 0, cycles - 1, &memory, NULL));
  EXPECT(at(CORE + 0x20) == 0);
  EXPECT_OK(vm_pmu_core_advance(machine, 0, 1, &memory, &passed));
  EXPECT(passed.slots == 1 && passed.refused == 0 && at(CORE + 0x20) == 5 && additions > 0);

  hole = CORE + 0x20;
  retire(machine, 512);
  EXPECT_OK(vm_pmu_core_post(machine, 0, &memory, &passed));
  EXPECT(passed.refused >= 1 && passed.refused_address == hole);
  hole = 0;
  EXPECT_OK(vm_pmu_core_post(machine, 0, &memory, &passed));
  EXPECT(passed.refused == 0 && at(CORE + 0x20) == 6);

  EXPECT_OK(vm_pmu_core_inject(machine, 3, 0x20, 512, &taken));
  EXPECT(taken);
  EXPECT_OK(vm_pmu_core_inject(machine, 3, 4, 1, &taken));
  EXPECT(!taken);
  EXPECT_OK(vm_pmu_core_post(machine, 0, &memory, NULL));
  EXPECT(at(CORE + 0x20) == 7);
  EXPECT_OK(vm_pmu_core_stop(machine, 0));
  EXPECT_OK(vm_pmu_core_running(machine, 0, &running));
  EXPECT(!running);

  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &k8));
  EXPECT(vm_pmu_core_start(k8, 0) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("power9"));
  EXPECT(vm_pmu_core_start(machine, 1) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_core_inject(machine, 4, 0x20, 1, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_core_init(NULL, 0, CORE) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_core_running(machine, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_core_post(machine, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuMemory"));
  VmPmuMemory without = memory;
  without.add = NULL;
  EXPECT(vm_pmu_core_post(machine, 0, &without, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("add"));
  passed.size = 1;
  EXPECT(vm_pmu_core_post(machine, 0, &memory, &passed) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuPassed)"));
  EXPECT_OK(vm_pmu_machine_destroy(k8));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static VmPmuPlatform *platform_of(uint32_t id) {
  VmPmuChip chip = {.size = sizeof(VmPmuChip)};
  const VmPmuChip *chips[] = {&chip};
  const uint32_t pirs[] = {0, 1, 2, 3};
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuPlatform *platform = NULL;
  chip.home = HOME;
  chip.id = id;
  chip.slot_cycles = SLOT;
  options.chips = chips;
  options.chip_count = 1;
  options.pirs = pirs;
  options.pir_count = 4;
  EXPECT_OK(vm_pmu_platform_create(&options, &platform));
  return platform;
}

/* The pumps of a group count in steps of 256, and are posted at 8h. */
static void chips_post_and_are_saved(void) {
  VmPmuPlatform *old = platform_of(8), *new = platform_of(8), *other = platform_of(0);
  VmPmuSnapshot *snapshot = NULL;
  VmPmuPassed passed = {.size = sizeof(VmPmuPassed)};
  const uint8_t *bytes;
  size_t length;
  uint32_t pump;
  uint64_t value, cycles;
  bool running;
  EXPECT_OK(vm_pmu_chip_event_named("pm_pb_event_vg_pump", &pump));
  EXPECT(pump == 8);
  EXPECT_OK(vm_pmu_chip_until_slot(old, 8, &cycles));
  EXPECT(cycles == SLOT);
  EXPECT_OK(vm_pmu_platform_advance(old, 4 * SLOT + 100, &memory, &passed));
  EXPECT(passed.slots == 4 && passed.refused == 0);
  EXPECT_OK(vm_pmu_chip_running(old, 8, &running));
  EXPECT(running);
  EXPECT_OK(vm_pmu_chip_add(old, 8, pump, 3 * 256 + 200));
  EXPECT_OK(vm_pmu_chip_save(old, 8, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_bytes(snapshot, &bytes, &length));

  EXPECT(vm_pmu_chip_load(other, 0, bytes, length) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT(vm_pmu_chip_load(new, 8, bytes, length - 1) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT_OK(vm_pmu_chip_load(new, 8, bytes, length));
  EXPECT_OK(vm_pmu_chip_add(new, 8, pump, 56));
  EXPECT_OK(vm_pmu_chip_register(new, 8, pump, &value));
  EXPECT(value >> 48 == 4);
  EXPECT_OK(vm_pmu_chip_post(new, 8, &memory, &passed));
  EXPECT(at(HOME + REGION + pump) == 4);
  EXPECT_OK(vm_pmu_chip_reset(new, 8));
  EXPECT_OK(vm_pmu_chip_running(new, 8, &running));
  EXPECT(!running);

  EXPECT(vm_pmu_chip_add(old, 7, pump, 1) == VM_PMU_STATUS_ERROR_RANGE && told("chip 7"));
  EXPECT(vm_pmu_chip_add(old, 8, 1, 1) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_chip_register(old, 8, 1, &value) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_chip_event_named("PM_NOTHING", &pump) == VM_PMU_STATUS_ERROR_NAME && told("PM_NOTHING"));
  EXPECT(vm_pmu_chip_add(NULL, 8, 8, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_chip_save(old, 8, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_chip_load(old, 8, NULL, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  EXPECT_OK(vm_pmu_platform_destroy(old));
  EXPECT_OK(vm_pmu_platform_destroy(new));
  EXPECT_OK(vm_pmu_platform_destroy(other));
}

static void calls_start_and_stop(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuPlatform *platform = platform_of(0);
  VmPmuMachine *machine = NULL;
  int64_t result = 1;
  memset(ram, 0, sizeof ram);
  options.threads = 4;
  EXPECT_OK(vm_pmu_machine_create("power9", &options, &machine));
  /* The nest's engine has not begun, then it has. */
  EXPECT_OK(vm_pmu_platform_call(platform, NULL, &memory, 150, 1, 0, 0, &result));
  EXPECT(result == -6);
  EXPECT_OK(vm_pmu_platform_boot(platform, &memory, NULL));
  EXPECT_OK(vm_pmu_platform_call(platform, NULL, &memory, 150, 1, 0, 0, &result));
  EXPECT(result == 0);
  EXPECT_OK(vm_pmu_platform_call(platform, NULL, &memory, 150, 1, 4, 0, &result));
  EXPECT(result == -1);
  /* A core: INIT, START, STOP. */
  EXPECT_OK(vm_pmu_platform_call(platform, machine, &memory, 149, 2, CORE, 0, &result));
  EXPECT_OK(vm_pmu_platform_call(platform, machine, &memory, 150, 2, 0, 0, &result));
  retire(machine, 5120);
  EXPECT_OK(vm_pmu_platform_call(platform, machine, &memory, 151, 2, 0, 0, &result));
  EXPECT(result == 0 && at(CORE + 0x20) == 10);
  EXPECT(vm_pmu_platform_call(platform, machine, &memory, 1, 0, 0, 0, &result) == VM_PMU_STATUS_FAULT_UNCLAIMED);
  EXPECT(vm_pmu_platform_call(platform, machine, &memory, 150, 1, 0, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  EXPECT_OK(vm_pmu_platform_destroy(platform));
}

static void platforms_that_cannot_be(void) {
  VmPmuChip first = {.size = sizeof(VmPmuChip)}, second = {.size = sizeof(VmPmuChip)};
  const VmPmuChip *chips[] = {&first, &second};
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuPlatform *platform = NULL;
  EXPECT(vm_pmu_platform_create(NULL, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_platform_create(&options, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.chip_count = 2;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("list of chips"));
  options.chips = chips;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("two chips have the number 0"));
  second.id = 128;
  second.home = HOME;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("chip 128"));
  options.chip_count = 129;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("129 chips"));
  options.chip_count = 0;
  options.pir_count = SIZE_MAX;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("PIRs"));
  chips[0] = NULL;
  options.pir_count = 0;
  options.chip_count = 1;
  EXPECT(vm_pmu_platform_create(&options, &platform) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuChip"));
  EXPECT(platform == NULL);
  EXPECT_OK(vm_pmu_platform_destroy(NULL));
}

static VmPmuPlatform *reentered;
static int refusals;

static bool reentering_add(void *user, uint64_t address, uint64_t amount) {
  uint64_t cycles = 1;
  EXPECT(vm_pmu_chip_until_slot(reentered, 0, &cycles) == VM_PMU_STATUS_ERROR_REENTERED);
  EXPECT(cycles == 1);
  refusals++;
  return add(user, address, amount);
}

/* The lock of the chip is held: a call that took it would not return. */
static void memory_that_calls_the_library_is_refused(void) {
  VmPmuChip chip = {.size = sizeof(VmPmuChip)};
  const VmPmuChip *chips[] = {&chip};
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuMemory reentering = memory;
  uint64_t cycles = 0;
  memset(ram, 0, sizeof ram);
  reentering.add = reentering_add;
  chip.home = HOME;
  chip.slot_cycles = SLOT;
  options.chips = chips;
  options.chip_count = 1;
  EXPECT_OK(vm_pmu_platform_create(&options, &reentered));
  EXPECT_OK(vm_pmu_platform_advance(reentered, 24 * SLOT, &reentering, NULL));
  EXPECT_OK(vm_pmu_chip_post(reentered, 0, &reentering, NULL));
  EXPECT(refusals > 0);
  /* Calls are taken again. */
  EXPECT_OK(vm_pmu_chip_until_slot(reentered, 0, &cycles));
  EXPECT(cycles == SLOT);
  EXPECT_OK(vm_pmu_platform_destroy(reentered));
}

int main(void) {
  cores_post();
  chips_post_and_are_saved();
  calls_start_and_stop();
  platforms_that_cannot_be();
  memory_that_calls_the_library_is_refused();
  puts("posting: all is well");
  return 0;
}
