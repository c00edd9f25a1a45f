/* The nest of a chip counts a companion's traffic between caches and memory, posts it, and saves it with incomplete transfers. */
#include <string.h>

#include "expect.h"
#include "region.h"

#define HOME UINT64_C(0)
#define LINE 128

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

/* Platforms with that many chips. */
static VmPmuPlatform *platform_of(size_t count) {
  VmPmuChip chips[2] = {{.size = sizeof(VmPmuChip)}, {.size = sizeof(VmPmuChip)}};
  const VmPmuChip *each[] = {&chips[0], &chips[1]};
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuPlatform *platform = NULL;
  chips[0].home = HOME;
  chips[1].home = REGION_END;
  chips[1].id = 8;
  chips[0].slot_cycles = chips[1].slot_cycles = SLOT;
  options.chips = each;
  options.chip_count = count;
  EXPECT_OK(vm_pmu_platform_create(&options, &platform));
  return platform;
}

struct rig {
  VmPmuMachine *machine;
  VmPmuPlatform *platform;
  VmPmuCompanion *companion;
  VmPmuTraffic *traffic;
};

/* A chip whose engine posts, and its traffic. */
static struct rig made(void) {
  struct rig rig = {0};
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  bool watches, stale, active;
  memset(cells, 0, sizeof cells);
  options.threads = 8;
  rig.platform = platform_of(1);
  EXPECT_OK(vm_pmu_machine_create("power9", NULL, &rig.machine));
  EXPECT_OK(vm_pmu_companion_create("power9", &options, &rig.companion));
  EXPECT_OK(vm_pmu_traffic_create(rig.companion, rig.platform, &rig.traffic));
  /* Nothing is followed while no engine posts. */
  EXPECT_OK(vm_pmu_traffic_sync(rig.traffic, rig.companion, rig.platform, &watches));
  EXPECT(!watches);
  EXPECT_OK(vm_pmu_platform_advance(rig.platform, 4 * SLOT, &memory, NULL));
  EXPECT_OK(vm_pmu_traffic_sync(rig.traffic, rig.companion, rig.platform, &watches));
  EXPECT(watches);
  EXPECT_OK(vm_pmu_follow_is_stale(rig.companion, 0, &stale));
  EXPECT(stale);
  EXPECT_OK(vm_pmu_follow_sync(rig.companion, rig.machine, 0, &active));
  EXPECT(active);
  /* Counters without a prescaler post differences, to what they were at their first posting. */
  EXPECT_OK(vm_pmu_chip_post(rig.platform, 0, &memory, NULL));
  return rig;
}

static void taken_apart(struct rig *rig) {
  EXPECT_OK(vm_pmu_traffic_destroy(rig->traffic));
  EXPECT_OK(vm_pmu_companion_destroy(rig->companion));
  EXPECT_OK(vm_pmu_platform_destroy(rig->platform));
  EXPECT_OK(vm_pmu_machine_destroy(rig->machine));
}

/* A device reads `count` lines from line `first` on. */
static void read_lines(const struct rig *rig, uint64_t first, uint64_t count) {
  for (uint64_t line = first; line < first + count; line++) {
    EXPECT_OK(vm_pmu_companion_device_access(rig->companion, rig->machine, 0, line * LINE, LINE, false));
  }
  EXPECT_OK(vm_pmu_traffic_flush(rig->traffic, rig->companion, rig->platform));
}

static uint64_t posted(const struct rig *rig, uint64_t offset) {
  EXPECT_OK(vm_pmu_chip_post(rig->platform, 0, &memory, NULL));
  return cells[offset / 8];
}

/* 2,048 lines, 256 at each port. A posted count is 256 of them, except at the ports. */
static void lines_of_memory_are_counted_by_the_nest(void) {
  struct rig rig = made();
  uint32_t offset;
  read_lines(&rig, 512, 2048);
  EXPECT_OK(vm_pmu_chip_event_named("PM_MBA0_READ_BYTES", &offset));
  EXPECT(offset == 0x448 && posted(&rig, offset) == 2 * 256); /* two blocks per line */
  EXPECT(posted(&rig, 0x450) == 0);                           /* PM_MBA0_WRITE_BYTES */
  EXPECT(posted(&rig, 0xD0) == 4);                            /* PM_MCS01_64B_RD_DISP_PORT01: 1,024 blocks */
  EXPECT(posted(&rig, 0x10) == 8);                            /* PM_PB_EVENT_LNS_PUMP: 2,048 requests */
  EXPECT(posted(&rig, 0x90) == 4);                            /* those of ports 0 and 1 */
  EXPECT(posted(&rig, 0xA8) == 2);                            /* PM_PB_INT_DATA_XFER: 512 transfers of four lines */
  EXPECT(posted(&rig, 0x18) == 0);                            /* none went to another chip */
  taken_apart(&rig);
}

/* A transfer is four lines, and a posted count is 256 transfers. Three lines are moved before, the others after. */
static void what_fills_no_transfer_is_saved(void) {
  struct rig old = made();
  VmPmuMoved moved = {7, 7};
  struct rig new;
  read_lines(&old, 0, 3);
  EXPECT_OK(vm_pmu_traffic_moved(old.traffic, &moved, 1));
  EXPECT(moved.within == 3 * LINE && moved.beyond == 0);
  taken_apart(&old);
  new = made();
  read_lines(&new, 0, 4 * 256 - 3);
  EXPECT(posted(&new, 0xA8) == 0);
  taken_apart(&new);
  new = made();
  EXPECT_OK(vm_pmu_traffic_restore(new.traffic, &moved, 1));
  read_lines(&new, 0, 4 * 256 - 3);
  EXPECT(posted(&new, 0xA8) == 1);
  taken_apart(&new);
}

static void misuse(void) {
  struct rig rig = made();
  VmPmuPlatform *two = platform_of(2);
  VmPmuTraffic *traffic = NULL;
  VmPmuMoved moved[2] = {{0, 0}, {0, 0}};
  EXPECT(vm_pmu_traffic_create(NULL, rig.platform, &traffic) == VM_PMU_STATUS_ERROR_ARGUMENT && told("companion"));
  EXPECT(vm_pmu_traffic_create(rig.companion, NULL, &traffic) == VM_PMU_STATUS_ERROR_ARGUMENT && told("platform"));
  EXPECT(vm_pmu_traffic_create(rig.companion, rig.platform, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  VmPmuCompanion *other = NULL;
  EXPECT_OK(vm_pmu_companion_create("k8", NULL, &other));
  EXPECT(vm_pmu_traffic_create(other, rig.platform, &traffic) == VM_PMU_STATUS_ERROR_ARGUMENT && told("companion is of k8"));
  EXPECT_OK(vm_pmu_companion_destroy(other));
  EXPECT(traffic == NULL);
  EXPECT(vm_pmu_traffic_flush(rig.traffic, rig.companion, two) == VM_PMU_STATUS_ERROR_ARGUMENT && told("2 chips"));
  EXPECT(vm_pmu_traffic_sync(rig.traffic, rig.companion, two, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("2 chips"));
  EXPECT(vm_pmu_traffic_sync(NULL, rig.companion, rig.platform, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("traffic"));
  EXPECT_OK(vm_pmu_traffic_sync(rig.traffic, rig.companion, rig.platform, NULL));
  EXPECT(vm_pmu_traffic_moved(rig.traffic, moved, 2) == VM_PMU_STATUS_ERROR_ARGUMENT && told("one for each chip"));
  EXPECT(vm_pmu_traffic_moved(rig.traffic, NULL, 1) == VM_PMU_STATUS_ERROR_ARGUMENT && told("moved"));
  EXPECT(vm_pmu_traffic_restore(rig.traffic, moved, 0) == VM_PMU_STATUS_ERROR_ARGUMENT && told("one for each chip"));
  EXPECT(vm_pmu_traffic_restore(rig.traffic, NULL, 1) == VM_PMU_STATUS_ERROR_ARGUMENT && told("moved"));
  EXPECT_OK(vm_pmu_traffic_destroy(NULL));
  EXPECT_OK(vm_pmu_platform_destroy(two));
  taken_apart(&rig);
}

int main(void) {
  lines_of_memory_are_counted_by_the_nest();
  what_fills_no_transfer_is_saved();
  misuse();
  puts("traffic: all is well");
  return 0;
}
