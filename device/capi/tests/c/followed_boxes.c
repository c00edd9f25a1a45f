/*
 * Boxes of Knights Landing count the events of a bridge's companion: tcg_bridge_boxes.c.
 */
#include "expect.h"
#include "tcg_bridge_boxes.h"
#include "tcg_bridge_companion.h"

#include <stdlib.h>
#include <string.h>

#define CPUS 2
#define CODE 0x400000
#define DATA 0x800000
/* Far enough from another load that nothing is prefetched. */
#define APART 0x100000

/* Six channels, bus FFh, devices 8 and 9, functions 2 to 4: CAS reads in counter 0. */
#define CHANNELS 6
#define CHANNEL(number) (0xFFu << 20 | (8 + (number) / 3) << 15 | (2 + (number) % 3) << 12)
#define CHANNEL_CONTROL 0xB20
#define CHANNEL_COUNTER 0xB00
#define CAS_READS 0x00400103
#define DCLK_TICKS 0x00400000

#define CHAS 38
#define CHA(number) (0xE00 + 12 * (number))
#define CHA_CONTROL 1
#define CHA_COUNTER 8
/* TOR_INSERTS.IRQ */
#define INSERTS 0x00403135

/* The IRP: bus 0, device 5, function 6. Its event 16h, TRANSACTIONS_COUNT, of reads and of writes; and 13h, COHERENT_OP.RFO. */
#define IRP (5u << 15 | 6u << 12)
#define IRP_CONTROL 0xD8
#define IRP_COUNTER 0xA0
#define READS 0x00400116
#define WRITES 0x00400216
#define OWNED 0x00400813
/* TRANSACTIONS_COUNT of what is neither: interrupts. */
#define OTHERS 0x00402016

struct host {
  TcgBridge *bridge;
  VmPmuMachine *machine;
};

static uint32_t context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu, (void)context;
  return 0;
}

static void kick(void *user, uint32_t cpu) { tcg_bridge_sync(tcg_bridge_cpu(((struct host *)user)->bridge, cpu)); }

static void build(struct host *host) {
  static const uint32_t supplied[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, VM_PMU_SIGNAL_CYCLES};
  static const VmPmuCompanionOptions companion = {.size = sizeof companion};
  TcgBridgeOptions options;
  char why[200];
  memset(&options, 0, sizeof options);
  options.part = "knl";
  options.threads = CPUS;
  options.user = host;
  options.supplied = supplied;
  options.supplied_count = sizeof supplied / sizeof *supplied;
  options.companion = &companion;
  options.host.context = context;
  options.host.kick = kick;
  host->bridge = tcg_bridge_create(&options, why, sizeof why);
  EXPECT(host->bridge != NULL);
  host->machine = tcg_bridge_machine(host->bridge);
  EXPECT(tcg_bridge_boxes_begin(host->bridge));
}

/* A block of one instruction, at CODE. */
static VmPmuBlock *block;

/* One instruction that loads from `address`. */
static void load(struct host *host, uint32_t number, uint64_t address) {
  TcgBridgeCpu *cpu = tcg_bridge_cpu(host->bridge, number);
  while (!vm_pmu_enter(cpu->countdown, tcg_bridge_takes(1, 0))) tcg_bridge_slow(cpu, 1);
  EXPECT(cpu->following == TCG_BRIDGE_FOLLOWS_NOTHING || tcg_bridge_trace_fits(cpu));
  if (cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) {
    tcg_bridge_trace_block(cpu, block);
    tcg_bridge_trace_access(cpu, vm_pmu_traced_access(0, VM_PMU_ACCESS_KIND_LOAD, 8, 0), address);
    EXPECT(tcg_bridge_trace_fits(cpu) == (cpu->following == TCG_BRIDGE_FOLLOWS_BLOCKS));
  }
  tcg_bridge_complete(cpu, CODE + 4);
}

static void program_channels(struct host *host, uint32_t control) {
  uint32_t channel;
  for (channel = 0; channel < CHANNELS; channel++) {
    tcg_bridge_boxes_advance(host->bridge, 14);
    EXPECT_OK(vm_pmu_pci_write(host->machine, CHANNEL(channel) | CHANNEL_CONTROL, 4, control));
    tcg_bridge_boxes_written(host->bridge);
  }
}

static uint32_t of_channels(struct host *host) {
  uint32_t channel, value, sum = 0;
  tcg_bridge_boxes_advance(host->bridge, 14);
  for (channel = 0; channel < CHANNELS; channel++) {
    EXPECT_OK(vm_pmu_pci_read(host->machine, CHANNEL(channel) | CHANNEL_COUNTER, 4, &value));
    sum += value;
  }
  return sum;
}

static bool all_followed(struct host *host) {
  uint32_t number, followed = 0;
  for (number = 0; number < CPUS; number++) {
    const TcgBridgeCpu *cpu = tcg_bridge_cpu(host->bridge, number);
    EXPECT(!cpu->following || cpu->counting);
    followed += cpu->following != 0;
  }
  EXPECT(followed == 0 || followed == CPUS);
  return followed == CPUS;
}

static void every_cpu_is_followed_while_a_channel_counts_accesses(void) {
  struct host host;
  build(&host);
  EXPECT(!all_followed(&host));
  program_channels(&host, DCLK_TICKS);
  EXPECT(!all_followed(&host));
  program_channels(&host, CAS_READS);
  EXPECT(all_followed(&host));
  program_channels(&host, 0);
  EXPECT(!all_followed(&host));
  tcg_bridge_destroy(host.bridge);
}

static void channels_count_the_lines_that_are_read(void) {
  struct host host;
  build(&host);
  program_channels(&host, CAS_READS);
  /* The line of the code, and two of data; the second time they are in a cache. */
  load(&host, 0, DATA);
  load(&host, 0, DATA + APART);
  load(&host, 0, DATA);
  EXPECT(of_channels(&host) == 3);
  /* The other CPU is a thread of the same core: the code is there. */
  load(&host, 1, DATA + 2 * APART);
  EXPECT(of_channels(&host) == 4);
  tcg_bridge_destroy(host.bridge);
}

static void program_chas(struct host *host) {
  TcgBridgeException exception;
  uint32_t cha;
  for (cha = 0; cha < CHAS; cha++) {
    TcgBridgeCpu *cpu = tcg_bridge_cpu(host->bridge, 0);
    EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_MSR, CHA(cha) + CHA_CONTROL, INSERTS, &exception) == TCG_BRIDGE_DONE);
    tcg_bridge_boxes_written(host->bridge);
  }
}

static uint64_t of_chas(struct host *host) {
  uint64_t value, sum = 0;
  uint32_t cha;
  for (cha = 0; cha < CHAS; cha++) {
    EXPECT_OK(vm_pmu_read(host->machine, 0, VM_PMU_SPACE_MSR, CHA(cha) + CHA_COUNTER, &value));
    sum += value;
  }
  return sum;
}

static void chas_count_the_requests_for_their_lines(void) {
  struct host host;
  build(&host);
  program_chas(&host);
  EXPECT(all_followed(&host));
  load(&host, 0, DATA);
  load(&host, 1, DATA + APART);
  EXPECT(of_chas(&host) == 3);
  tcg_bridge_destroy(host.bridge);
}

static void program_irp(struct host *host, uint32_t first, uint32_t second) {
  EXPECT_OK(vm_pmu_pci_write(host->machine, IRP | IRP_CONTROL, 4, first));
  EXPECT_OK(vm_pmu_pci_write(host->machine, IRP | (IRP_CONTROL + 4), 4, second));
  tcg_bridge_boxes_written(host->bridge);
}

static void expect_irp(struct host *host, uint32_t first, uint32_t second) {
  uint32_t value;
  tcg_bridge_boxes_advance(host->bridge, 1000);
  EXPECT_OK(vm_pmu_pci_read(host->machine, IRP | IRP_COUNTER, 4, &value));
  EXPECT(value == first);
  EXPECT_OK(vm_pmu_pci_read(host->machine, IRP | (IRP_COUNTER + 8), 4, &value));
  EXPECT(value == second);
}

static void the_irp_counts_the_lines_that_devices_access(void) {
  struct host host;
  build(&host);
  EXPECT(!tcg_bridge_watches_devices(host.bridge));
  program_irp(&host, READS, WRITES);
  EXPECT(all_followed(&host) && tcg_bridge_watches_devices(host.bridge));
  /* 130 bytes from the middle of a line on are parts of three lines; two pages have 128 lines. */
  tcg_bridge_device(host.bridge, DATA + 32, 130, false);
  tcg_bridge_device(host.bridge, DATA, 2 * 4096, true);
  expect_irp(&host, 3, 128);
  /* Of these writes the first and the last are of a part of a line, whose rest must be read before. */
  program_irp(&host, OWNED, WRITES);
  tcg_bridge_device(host.bridge, DATA + 32, 4096, true);
  expect_irp(&host, 3 + 2, 128 + 65);
  /* An interrupt is no access. */
  program_irp(&host, READS, OTHERS);
  tcg_bridge_boxes_interrupt(host.bridge, 0xFEE00000);
  expect_irp(&host, 3 + 2, 128 + 65 + 1);
  program_irp(&host, 0, 0);
  EXPECT(!all_followed(&host) && !tcg_bridge_watches_devices(host.bridge));
  tcg_bridge_destroy(host.bridge);
}

static void caches_drop_what_a_device_writes(void) {
  struct host host;
  build(&host);
  program_chas(&host);
  load(&host, 0, DATA);
  load(&host, 0, DATA);
  EXPECT(of_chas(&host) == 2);
  tcg_bridge_device(host.bridge, DATA, 8, true);
  load(&host, 0, DATA);
  /* The line, and another one that is prefetched after it. */
  EXPECT(of_chas(&host) > 2);
  tcg_bridge_destroy(host.bridge);
}

static void what_was_not_told_yet_is_saved(void) {
  struct host host, other;
  uint8_t *bytes;
  size_t length;
  build(&host);
  build(&other);
  program_channels(&host, CAS_READS);
  load(&host, 0, DATA);
  bytes = tcg_bridge_save(host.bridge, &length);
  EXPECT(bytes != NULL);
  EXPECT(tcg_bridge_load(other.bridge, bytes, length));
  free(bytes);
  EXPECT(all_followed(&other));
  EXPECT(of_channels(&other) == 2);
  load(&other, 1, DATA + APART);
  EXPECT(of_channels(&other) == 3);
  tcg_bridge_destroy(other.bridge);
  tcg_bridge_destroy(host.bridge);
}

int main(void) {
  VmPmuInstruction instruction = {.size = sizeof instruction, .address = CODE, .physical = CODE, .bytes = 4};
  EXPECT_OK(vm_pmu_block_create(&block));
  EXPECT_OK(vm_pmu_block_push(block, &instruction));
  every_cpu_is_followed_while_a_channel_counts_accesses();
  channels_count_the_lines_that_are_read();
  chas_count_the_requests_for_their_lines();
  the_irp_counts_the_lines_that_devices_access();
  caches_drop_what_a_device_writes();
  what_was_not_told_yet_is_saved();
  EXPECT_OK(vm_pmu_block_destroy(block));
  puts("followed_boxes: all is well");
  return 0;
}
