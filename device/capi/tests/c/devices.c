/* What devices do through a host bridge and an NVLink is counted by the nest of their chip. */
#include "expect.h"
#include "region.h"

/* What has been posted for an event. */
static uint64_t posted(const char *event) {
  uint32_t offset = 0;
  EXPECT_OK(vm_pmu_chip_event_named(event, &offset));
  return cells[offset / 8];
}

int main(void) {
  VmPmuChip chip = {.size = sizeof chip};
  const VmPmuChip *each[] = {&chip};
  VmPmuPlatformOptions options = {.size = sizeof options};
  VmPmuPlatform *platform = NULL;
  uint64_t requests = 0;
  chip.slot_cycles = SLOT;
  options.chips = each;
  options.chip_count = 1;
  EXPECT_OK(vm_pmu_platform_create(&options, &platform));
  EXPECT_OK(vm_pmu_platform_advance(platform, 4 * SLOT, &memory, NULL));
  /* Counters without a prescaler post differences, to what they were at their first posting. */
  EXPECT_OK(vm_pmu_chip_post(platform, 0, &memory, NULL));

  /* 1,024 bytes from a multiple of 512: two reads of 512, four writes of 256, eight of 128. */
  EXPECT_OK(vm_pmu_chip_dma(platform, 0, 2, VM_PMU_DMA_READ, 0x10000, 1024, 0, &requests));
  EXPECT(requests == 2);
  EXPECT_OK(vm_pmu_chip_dma(platform, 0, 2, VM_PMU_DMA_WRITE, 0x10000, 1024, 0, &requests));
  EXPECT(requests == 4);
  EXPECT_OK(vm_pmu_chip_dma(platform, 0, 2, VM_PMU_DMA_WRITE, 0x10000, 1024, 128, NULL));
  EXPECT_OK(vm_pmu_chip_loads_answered(platform, 0, 2, 3));
  /* The accelerator at link 3 reads 512 lines of eight flits, and has 256 atomic operations done whose values it gets. Events of links are
   * posted by 256. */
  EXPECT_OK(vm_pmu_chip_nvlink(platform, 0, 3, VM_PMU_NV_LINK_TRANSFER_READS, 0x10000, 512 * 128));
  for (int number = 0; number < 256; number++) {
    EXPECT_OK(vm_pmu_chip_nvlink(platform, 0, 3, VM_PMU_NV_LINK_TRANSFER_ATOMIC_RETURNS, 0, 0));
  }
  EXPECT_OK(vm_pmu_chip_post(platform, 0, &memory, NULL));
  EXPECT(posted("PM_PHB2_DMA_RD_FROM_PCIE") == 2);
  EXPECT(posted("PM_PHB2_DMA_WR_FROM_PCIE") == 4 + 8);
  EXPECT(posted("PM_NPCQ1_CREQ_BRICK1") == 2 + 1);
  EXPECT(posted("PM_NTL3_TX_DATA_FLIT") == 16 + 1);

  EXPECT(vm_pmu_chip_dma(platform, 0, 6, VM_PMU_DMA_READ, 0, 1, 0, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_chip_dma(platform, 0, 0, VM_PMU_DMA_READ, 0, 1, 100, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_chip_nvlink(platform, 0, 0, 8, 0, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_platform_destroy(platform));
  puts("all is well");
  return 0;
}
