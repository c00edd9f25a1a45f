/*
 * The nest of a POWER9 chip counts what a bridge's companion moves: tcg_bridge_nest.c.
 */
#include "expect.h"
#include "region.h"
#include "tcg_bridge_companion.h"
#include "tcg_bridge_nest.h"

#include <string.h>

#define CPUS 2
#define CODE 0x400000
/* Line 16,384, of MBA 0. */
#define DATA 0x200000
#define LINE 128

struct host {
  TcgBridge *bridge;
  VmPmuPlatform *platform;
  VmPmuTraffic *traffic;
};

static uint32_t context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu, (void)context;
  return 0;
}

static void kick(void *user, uint32_t cpu) { tcg_bridge_sync(tcg_bridge_cpu(((struct host *)user)->bridge, cpu)); }

static void build(struct host *host) {
  static const uint32_t supplied[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, VM_PMU_SIGNAL_CYCLES};
  static const VmPmuCompanionOptions companion = {.size = sizeof companion};
  VmPmuChip chip = {.size = sizeof chip, .slot_cycles = SLOT};
  const VmPmuChip *chips[] = {&chip};
  VmPmuPlatformOptions platform = {.size = sizeof platform, .chips = chips, .chip_count = 1};
  TcgBridgeOptions options;
  char why[200];
  memset(&options, 0, sizeof options);
  memset(cells, 0, sizeof cells);
  options.part = "power9";
  options.packages = CPUS;
  options.user = host;
  options.supplied = supplied;
  options.supplied_count = sizeof supplied / sizeof *supplied;
  options.companion = &companion;
  options.host.context = context;
  options.host.kick = kick;
  host->bridge = tcg_bridge_create(&options, why, sizeof why);
  EXPECT(host->bridge != NULL);
  EXPECT_OK(vm_pmu_platform_create(&platform, &host->platform));
  host->traffic = tcg_bridge_nest_begin(host->bridge, host->platform);
  EXPECT(host->traffic != NULL);
}

static void take_apart(struct host *host) {
  tcg_bridge_destroy(host->bridge);
  EXPECT_OK(vm_pmu_traffic_destroy(host->traffic));
  EXPECT_OK(vm_pmu_platform_destroy(host->platform));
}

/* The engine posts from the fourth slot on. */
static void let_the_engine_post(struct host *host) {
  tcg_bridge_nest_flush(host->bridge);
  EXPECT_OK(vm_pmu_platform_advance(host->platform, 4 * SLOT, &memory, NULL));
  tcg_bridge_nest_sync(host->bridge);
  EXPECT_OK(vm_pmu_chip_post(host->platform, 0, &memory, NULL));
}

static uint64_t posted(struct host *host, uint64_t offset) {
  tcg_bridge_nest_flush(host->bridge);
  EXPECT_OK(vm_pmu_chip_post(host->platform, 0, &memory, NULL));
  return cells[offset / 8];
}

/* Whether all CPUs are followed, by blocks; otherwise none is. */
static bool all_followed(struct host *host) {
  uint32_t number, followed = 0;
  for (number = 0; number < CPUS; number++) {
    const TcgBridgeCpu *cpu = tcg_bridge_cpu(host->bridge, number);
    EXPECT(cpu->following != TCG_BRIDGE_FOLLOWS_INSTRUCTIONS);
    followed += cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING;
  }
  EXPECT(followed == 0 || followed == CPUS);
  return followed == CPUS;
}

static void every_cpu_is_followed_while_the_engine_posts(void) {
  struct host host;
  build(&host);
  EXPECT(!all_followed(&host));
  let_the_engine_post(&host);
  EXPECT(all_followed(&host));
  EXPECT_OK(vm_pmu_chip_reset(host.platform, 0));
  tcg_bridge_nest_sync(host.bridge);
  EXPECT(!all_followed(&host));
  take_apart(&host);
}

/* A block of one instruction, at CODE. */
static VmPmuBlock *block;

/* A line of 128 bytes is two blocks of 64: PM_MBA0_READ_BYTES. The line of the code, 32,769, is at another port. */
static void a_line_that_a_cpu_loads_is_read_at_its_port(void) {
  struct host host;
  TcgBridgeCpu *cpu;
  build(&host);
  let_the_engine_post(&host);
  cpu = tcg_bridge_cpu(host.bridge, 1);
  while (!vm_pmu_enter(cpu->countdown, tcg_bridge_takes(1, 0))) tcg_bridge_slow(cpu, 1);
  tcg_bridge_trace_block(cpu, block);
  tcg_bridge_trace_access(cpu, vm_pmu_traced_access(0, VM_PMU_ACCESS_KIND_LOAD, 8, 0), DATA);
  tcg_bridge_complete(cpu, CODE + 4);
  EXPECT(posted(&host, 0x448) == 2);
  take_apart(&host);
}

/* 2,048 lines, 256 at each port. */
static void lines_that_a_device_reads_are_counted(void) {
  struct host host;
  build(&host);
  let_the_engine_post(&host);
  EXPECT(tcg_bridge_watches_devices(host.bridge));
  tcg_bridge_device(host.bridge, 0, 2048 * LINE, false);
  EXPECT(posted(&host, 0x448) == 2 * 256);
  take_apart(&host);
}

static void without_a_companion_there_is_no_traffic(void) {
  VmPmuPlatformOptions none = {.size = sizeof none};
  TcgBridgeOptions options;
  TcgBridge *bridge;
  VmPmuPlatform *platform;
  char why[200];
  memset(&options, 0, sizeof options);
  options.part = "power9";
  options.host.context = context;
  bridge = tcg_bridge_create(&options, why, sizeof why);
  EXPECT(bridge != NULL);
  EXPECT_OK(vm_pmu_platform_create(&none, &platform));
  EXPECT(tcg_bridge_nest_begin(bridge, platform) == NULL);
  tcg_bridge_nest_flush(bridge);
  tcg_bridge_nest_sync(bridge);
  tcg_bridge_destroy(bridge);
  EXPECT_OK(vm_pmu_platform_destroy(platform));
}

int main(void) {
  VmPmuInstruction instruction = {.size = sizeof instruction, .address = CODE + LINE, .physical = CODE + LINE, .bytes = 4};
  EXPECT_OK(vm_pmu_block_create(&block));
  EXPECT_OK(vm_pmu_block_push(block, &instruction));
  every_cpu_is_followed_while_the_engine_posts();
  a_line_that_a_cpu_loads_is_read_at_its_port();
  lines_that_a_device_reads_are_counted();
  without_a_companion_there_is_no_traffic();
  EXPECT_OK(vm_pmu_block_destroy(block));
  puts("all is well");
  return 0;
}
