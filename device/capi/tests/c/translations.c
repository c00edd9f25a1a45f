/* What the NPU of a POWER9 chip translates for its accelerators is counted by the nest of the chip. */
#include "expect.h"
#include "region.h"

static VmPmuPlatform *platform;
static VmPmuTranslations *translations;

/* What has been posted for an event. */
static uint64_t posted(const char *event) {
  uint32_t offset = 0;
  EXPECT_OK(vm_pmu_chip_event_named(event, &offset));
  EXPECT_OK(vm_pmu_chip_post(platform, 0, &memory, NULL));
  return cells[offset / 8];
}

struct table {
  uint64_t asked, beyond;
};

/* Page n is real page n + 100h, below the end of the table. */
static bool translate(void *user, uint64_t page, uint64_t *real) {
  struct table *table = user;
  table->asked += 1;
  if (page >= table->beyond) return false;
  *real = page + 0x100;
  return true;
}

static void entries_are_read_once(void) {
  struct table table = {0, 64};
  uint64_t real = 0, page = 5;
  bool found;
  for (int time = 0; time < 512; time++) {
    EXPECT_OK(vm_pmu_translations_by_entry(translations, platform, 0, 1, page, translate, &table, &real, &found));
    EXPECT(found && real == 0x105);
  }
  /* The event is posted by 256. */
  EXPECT(table.asked == 1 && posted("PM_ATS_TCE_TRANS_REQ") == 2);
  /* An entry that has changed is read again, and so is one of a device that has changed all of its own. */
  EXPECT_OK(vm_pmu_translations_forget_entry(translations, 1, &page));
  EXPECT_OK(vm_pmu_translations_by_entry(translations, platform, 0, 1, page, translate, &table, &real, &found));
  EXPECT_OK(vm_pmu_translations_forget_entry(translations, 1, NULL));
  EXPECT_OK(vm_pmu_translations_by_entry(translations, platform, 0, 1, page, translate, &table, &real, &found));
  EXPECT(table.asked == 3);
  /* What an entry does not translate is not cached. */
  real = 7;
  EXPECT_OK(vm_pmu_translations_by_entry(translations, platform, 0, 1, 64, translate, &table, &real, &found));
  EXPECT(!found && real == 7 && table.asked == 4);
}

static void shootdowns_go_to_the_accelerators_of_a_process(void) {
  struct table table = {0, UINT64_MAX};
  uint64_t real = 0, page = 0x10;
  uint8_t accelerators = 0;
  bool found, known;
  EXPECT_OK(vm_pmu_translations_bind(translations, 7, 5, &known));
  EXPECT(known);
  EXPECT_OK(vm_pmu_translations_check_out(translations, platform, 0, 7, page, translate, &table, &real, &found));
  EXPECT_OK(vm_pmu_translations_check_out(translations, platform, 0, 7, page, translate, &table, &real, &found));
  EXPECT(found && real == 0x110 && table.asked == 1);
  EXPECT_OK(vm_pmu_translations_invalidate(translations, platform, 0, 7, &page, &accelerators));
  EXPECT(accelerators == 5);
  EXPECT_OK(vm_pmu_translations_check_out(translations, platform, 0, 7, page, translate, &table, &real, &found));
  EXPECT(table.asked == 2);
  EXPECT_OK(vm_pmu_translations_invalidate(translations, platform, 0, 8, NULL, &accelerators));
  EXPECT(accelerators == 0);
  /* Sixteen processes are known. */
  for (uint32_t process = 100; process < 115; process++) EXPECT_OK(vm_pmu_translations_bind(translations, process, 1, NULL));
  EXPECT_OK(vm_pmu_translations_bind(translations, 115, 1, &known));
  EXPECT(!known);
}

static void what_is_cached_is_saved(void) {
  struct table none = {0, 0};
  VmPmuTranslations *other = NULL;
  VmPmuSnapshot *snapshot = NULL;
  const uint8_t *bytes;
  size_t length;
  uint64_t real = 0;
  bool found;
  EXPECT_OK(vm_pmu_translations_save(translations, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_bytes(snapshot, &bytes, &length));
  EXPECT_OK(vm_pmu_translations_create(&other));
  EXPECT(vm_pmu_translations_load(other, bytes, length - 1) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT_OK(vm_pmu_translations_load(other, bytes, length));
  EXPECT_OK(vm_pmu_translations_by_entry(other, platform, 0, 1, 5, translate, &none, &real, &found));
  EXPECT(found && real == 0x105 && none.asked == 0);
  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  EXPECT_OK(vm_pmu_translations_destroy(other));
}

static void misuse(void) {
  uint64_t real;
  bool found;
  EXPECT(vm_pmu_translations_create(NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_translations_by_entry(NULL, platform, 0, 1, 5, translate, NULL, &real, &found) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_translations_by_entry(translations, platform, 1, 1, 5, translate, NULL, &real, &found) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_translations_by_entry(translations, platform, 0, 1, 5, NULL, NULL, &real, &found) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_translations_check_out(translations, platform, 0, 1, 5, translate, NULL, &real, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_translations_bind(NULL, 1, 1, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_translations_destroy(NULL));
}

int main(void) {
  VmPmuChip chip = {.size = sizeof chip};
  const VmPmuChip *each[] = {&chip};
  VmPmuPlatformOptions options = {.size = sizeof options};
  chip.slot_cycles = SLOT;
  options.chips = each;
  options.chip_count = 1;
  EXPECT_OK(vm_pmu_platform_create(&options, &platform));
  EXPECT_OK(vm_pmu_platform_advance(platform, 4 * SLOT, &memory, NULL));
  EXPECT_OK(vm_pmu_chip_post(platform, 0, &memory, NULL));
  EXPECT_OK(vm_pmu_translations_create(&translations));
  entries_are_read_once();
  shootdowns_go_to_the_accelerators_of_a_process();
  what_is_cached_is_saved();
  misuse();
  EXPECT_OK(vm_pmu_translations_destroy(translations));
  EXPECT_OK(vm_pmu_platform_destroy(platform));
  puts("translations: all is well");
  return 0;
}
