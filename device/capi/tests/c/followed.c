/*
 * A host without caches reports what it executes to the bridge's companion: tcg_bridge_companion.c.
 */
#include "expect.h"
#include "tcg_bridge_companion.h"

#include <string.h>

#define PERF_EVT_SEL 0xC0010000
#define PERF_CTR 0xC0010004
/* PerfEvtSel: OS, INT, EN. */
#define ENABLED 0x520000
#define DATA_CACHE_MISSES (ENABLED | 0x41)
#define DATA_CACHE_ACCESSES (ENABLED | 0x40)
#define RETIRED_INSTRUCTIONS (ENABLED | 0xC0)
#define MISPREDICTED_BRANCHES (ENABLED | 0xC3)

#define CODE 0x400000
#define DATA 0x800000
#define LINE 64
#define POWER_LINE 128

#define MOST_BLOCKS 2048

/* A block of one instruction, as a translator keeps it. */
struct translated {
  uint64_t address;
  uint32_t flags;
  uint8_t branch;
  VmPmuBlock *block;
};

struct host {
  TcgBridge *bridge;
  TcgBridgeCpu *cpu;
  unsigned interrupts;
  /* The last notifications of TcgBridgeCpu::counting or following. */
  unsigned changes;
  struct translated blocks[MOST_BLOCKS];
  unsigned block_count;
  /* How many pages have been translated, and how far physical addresses are from virtual ones. */
  unsigned translations;
  uint64_t distance;
  /* The guest's time in nanoseconds. */
  uint64_t now;
};

static uint32_t context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user;
  EXPECT(cpu == 0);
  context->machine_state = 0x202;
  return 0;
}

static void interrupt(void *user, uint32_t cpu) {
  EXPECT(cpu == 0);
  ((struct host *)user)->interrupts += 1;
}

static void changed(void *user, uint32_t cpu) {
  EXPECT(cpu == 0);
  ((struct host *)user)->changes += 1;
}

static void translate(void *user, uint32_t cpu, uint8_t space, TcgBridgePage *page) {
  struct host *host = user;
  EXPECT(cpu == 0 && space == 7);
  host->translations += 1;
  page->physical += host->distance;
}

static uint64_t guest_clock(void *user) { return ((struct host *)user)->now; }

static void build(struct host *host) {
  static const uint32_t supplied[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, VM_PMU_SIGNAL_CYCLES, VM_PMU_SIGNAL_DATA_CACHE_ACCESSES};
  static const VmPmuCompanionOptions companion = {.size = sizeof companion};
  TcgBridgeOptions options;
  char why[200];
  memset(&options, 0, sizeof options);
  memset(host, 0, sizeof *host);
  options.part = "k8";
  options.user = host;
  options.supplied = supplied;
  options.supplied_count = sizeof supplied / sizeof *supplied;
  options.companion = &companion;
  options.host.context = context;
  options.host.interrupt = interrupt;
  options.host.counting = changed;
  options.host.translate = translate;
  options.host.clock = guest_clock;
  host->bridge = tcg_bridge_create(&options, why, sizeof why);
  EXPECT(host->bridge != NULL);
  host->cpu = tcg_bridge_cpu(host->bridge, 0);
}

static void destroy(struct host *host) {
  tcg_bridge_destroy(host->bridge);
  while (host->block_count != 0) vm_pmu_block_destroy(host->blocks[--host->block_count].block);
}

static void write_register(struct host *host, uint64_t number, uint64_t value) {
  TcgBridgeException exception;
  EXPECT(tcg_bridge_write(host->cpu, VM_PMU_SPACE_MSR, number, value, &exception) == TCG_BRIDGE_DONE);
}

static uint64_t counted(struct host *host) {
  TcgBridgeException exception;
  uint64_t value = 0;
  EXPECT(tcg_bridge_read(host->cpu, VM_PMU_SPACE_MSR, PERF_CTR, &value, &exception) == TCG_BRIDGE_DONE);
  return value;
}

static void push(VmPmuBlock *block, uint64_t address, uint8_t branch, uint32_t flags) {
  VmPmuInstruction instruction;
  memset(&instruction, 0, sizeof instruction);
  instruction.size = sizeof instruction;
  instruction.address = address;
  instruction.physical = address;
  instruction.bytes = 4;
  instruction.branch = branch;
  instruction.flags = flags;
  EXPECT(vm_pmu_block_push(block, &instruction) == VM_PMU_STATUS_OK);
}

/* The entry of a block at `address`, until the host may execute it. */
static void enter(struct host *host, uint64_t address, const VmPmuBlock *block) {
  uint32_t length = 0;
  EXPECT(vm_pmu_block_length(block, &length) == VM_PMU_STATUS_OK);
  while (!tcg_bridge_trace_fits(host->cpu) || !vm_pmu_enter(host->cpu->countdown, tcg_bridge_takes(length, 0))) {
    tcg_bridge_complete(host->cpu, address);
    if (!vm_pmu_enter(host->cpu->countdown, tcg_bridge_takes(length, 0))) {
      tcg_bridge_slow(host->cpu, length);
    } else {
      break;
    }
  }
  if (host->cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_trace_block(host->cpu, block);
}

static void begin_flagged(struct host *host, uint64_t address, uint8_t branch, uint32_t flags) {
  struct translated *known = host->blocks;
  while (known != host->blocks + host->block_count && (known->address != address || known->branch != branch || known->flags != flags)) known++;
  if (known == host->blocks + host->block_count) {
    EXPECT(host->block_count++ < MOST_BLOCKS);
    *known = (struct translated){address, flags, branch, NULL};
    EXPECT(vm_pmu_block_create(&known->block) == VM_PMU_STATUS_OK);
    push(known->block, address, branch, flags);
  }
  enter(host, address, known->block);
}

static void begin(struct host *host, uint64_t address, uint8_t branch) { begin_flagged(host, address, branch, 0); }

/* Instruction `number` of the block reads 8 bytes. */
static void reads_in(struct host *host, uint32_t number, uint64_t address) {
  uint64_t what = vm_pmu_traced_access(number, VM_PMU_ACCESS_KIND_LOAD, 8, 0) | UINT64_C(7) << TCG_BRIDGE_SPACE_SHIFT;
  if (host->cpu->following != TCG_BRIDGE_FOLLOWS_NOTHING) tcg_bridge_trace_access(host->cpu, what, address);
}

static void reads(struct host *host, uint64_t address) { reads_in(host, 0, address); }

static void load(struct host *host, uint64_t address) {
  begin(host, CODE, VM_PMU_BRANCH_NONE);
  reads(host, address);
}

/* Loads from that many lines, one after the other. */
static void walk(struct host *host, unsigned lines) {
  unsigned line;
  for (line = 0; line < lines; line++) load(host, DATA + LINE * line);
  tcg_bridge_complete(host->cpu, CODE + 4);
}

static void instructions_are_followed_while_something_is_counted_that_the_companion_makes(void) {
  struct host host;
  build(&host);
  EXPECT(!host.cpu->counting && !host.cpu->following);
  write_register(&host, PERF_EVT_SEL, RETIRED_INSTRUCTIONS);
  EXPECT(host.cpu->counting && !host.cpu->following && host.changes == 1);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_ACCESSES);
  EXPECT(host.cpu->counting && !host.cpu->following && host.changes == 1);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  EXPECT(host.cpu->counting && host.cpu->following && host.changes == 2);
  EXPECT(tcg_bridge_follows(host.bridge, VM_PMU_SIGNAL_DATA_CACHE_ACCESSES));
  EXPECT(!tcg_bridge_follows(host.bridge, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED));
  write_register(&host, PERF_EVT_SEL, 0);
  EXPECT(!host.cpu->counting && !host.cpu->following && host.changes == 3);
  destroy(&host);
}

/* Linux takes turns every 4 ms with events that are more than there are counters. */
static void a_cpu_stays_followed_in_turns_that_do_not_need_it(void) {
  struct host host;
  build(&host);
  host.now = 1000000000;
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  host.now += 4000000;
  write_register(&host, PERF_EVT_SEL, RETIRED_INSTRUCTIONS);
  EXPECT(host.cpu->following == TCG_BRIDGE_FOLLOWS_BLOCKS);
  /* The counters are off while Linux changes turns. */
  write_register(&host, PERF_EVT_SEL, 0);
  EXPECT(!host.cpu->following);
  host.now += 50000;
  write_register(&host, PERF_EVT_SEL, RETIRED_INSTRUCTIONS);
  EXPECT(host.cpu->following);
  /* It counts nothing else for a tenth of a second: there are no turns. */
  host.now += 100000000;
  tcg_bridge_poll_interrupt(host.cpu);
  tcg_bridge_slow(host.cpu, 1);
  EXPECT(host.cpu->counting && !host.cpu->following);
  destroy(&host);
}

static void a_cpu_on_which_nothing_was_counted_for_a_time_is_not_followed_for_what_was_counted_before(void) {
  struct host host;
  build(&host);
  host.now = 1000000000;
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  write_register(&host, PERF_EVT_SEL, 0);
  host.now += 2000000;
  write_register(&host, PERF_EVT_SEL, RETIRED_INSTRUCTIONS);
  EXPECT(host.cpu->counting && !host.cpu->following);
  destroy(&host);
}

static void each_line_misses_once(void) {
  struct host host;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  walk(&host, 100);
  EXPECT(counted(&host) == 100);
  walk(&host, 100);
  EXPECT(counted(&host) == 100);
  destroy(&host);
}

static void one_instruction_may_access_any_number_of_lines(void) {
  struct host host;
  unsigned line;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  begin(&host, CODE, VM_PMU_BRANCH_NONE);
  for (line = 0; line < 200; line++) reads(&host, DATA + LINE * line);
  tcg_bridge_complete(host.cpu, CODE + 4);
  EXPECT(counted(&host) == 200);
  destroy(&host);
}

/* Event 81h: misses of lines of code in the instruction cache. */
static void plain_instructions_miss_where_their_line_begins(void) {
  struct host host;
  unsigned instruction;
  build(&host);
  write_register(&host, PERF_EVT_SEL, ENABLED | 0x81);
  for (instruction = 0; instruction < 100 * LINE / 4; instruction++) begin(&host, CODE + 4 * instruction, VM_PMU_BRANCH_NONE);
  tcg_bridge_complete(host.cpu, CODE + 100 * LINE);
  EXPECT(counted(&host) == 100);
  destroy(&host);
}

static void what_the_companion_makes_the_host_need_not_count(void) {
  struct host host;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_ACCESSES);
  write_register(&host, PERF_EVT_SEL + 1, DATA_CACHE_MISSES);
  walk(&host, 100);
  EXPECT(counted(&host) == 100);
  destroy(&host);
}

static void an_overflow_comes_before_the_next_instruction_is_entered(void) {
  struct host host;
  TcgBridgeBlock block;
  unsigned line;
  build(&host);
  write_register(&host, PERF_CTR, 0 - (uint64_t)10);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  EXPECT(tcg_bridge_poll_interrupt(host.cpu));
  for (line = 0; line < 10; line++) {
    load(&host, DATA + LINE * line);
    EXPECT(host.interrupts == 0);
  }
  tcg_bridge_complete(host.cpu, CODE + 4);
  EXPECT(host.interrupts == 1);
  tcg_bridge_block_begin(&block);
  tcg_bridge_block_instruction(&block);
  EXPECT(tcg_bridge_enter(host.cpu, &block) == TCG_BRIDGE_INTERRUPT);
  destroy(&host);
}

static void an_instruction_that_is_not_executed_leaves_no_trace(void) {
  struct host host;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  load(&host, DATA);
  tcg_bridge_cancel(host.cpu);
  tcg_bridge_complete(host.cpu, CODE);
  EXPECT(counted(&host) == 0);
  walk(&host, 1);
  EXPECT(counted(&host) == 1);
  destroy(&host);
}

static void a_branch_is_taken_if_the_next_instruction_is_elsewhere(void) {
  struct host host;
  unsigned round;
  uint64_t warm;
  build(&host);
  write_register(&host, PERF_EVT_SEL, MISPREDICTED_BRANCHES);
  /* A loop of two instructions: when the predictor knows its branch as taken, it is right each time. */
  for (round = 0; round < 1000; round++) {
    begin(&host, CODE, VM_PMU_BRANCH_NONE);
    begin(&host, CODE + 4, VM_PMU_BRANCH_CONDITIONAL);
  }
  tcg_bridge_complete(host.cpu, CODE);
  warm = counted(&host);
  EXPECT(warm < 20);
  /* It continues after its branch: that was not predicted. */
  begin(&host, CODE + 4, VM_PMU_BRANCH_CONDITIONAL);
  tcg_bridge_complete(host.cpu, CODE + 8);
  EXPECT(counted(&host) == warm + 1);
  destroy(&host);
}

/* ---- Blocks of several instructions ---- */

#define LENGTH 5

static VmPmuBlock *make_block(uint8_t branch) {
  VmPmuBlock *block = NULL;
  unsigned number;
  EXPECT(vm_pmu_block_create(&block) == VM_PMU_STATUS_OK);
  for (number = 0; number < LENGTH; number++) push(block, CODE + 4 * number, number == LENGTH - 1 ? branch : VM_PMU_BRANCH_NONE, 0);
  return block;
}

static void a_trace_has_many_blocks(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_CONDITIONAL);
  unsigned round;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  write_register(&host, PERF_EVT_SEL + 1, RETIRED_INSTRUCTIONS);
  for (round = 0; round < 300; round++) {
    enter(&host, CODE, block);
    reads_in(&host, 1, DATA + LINE * round);
    reads_in(&host, 3, DATA + LINE * round + 8);
  }
  /* 900 entries. */
  EXPECT(host.cpu->trace->end - host.cpu->entries == 900);
  tcg_bridge_complete(host.cpu, CODE + 4 * LENGTH);
  EXPECT(host.cpu->trace->end == host.cpu->entries);
  EXPECT(counted(&host) == 300);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void a_trace_that_is_full_is_reported_before_the_next_block(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_CONDITIONAL);
  unsigned round;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  for (round = 0; round < 3000; round++) {
    enter(&host, CODE, block);
    reads_in(&host, 2, DATA + LINE * round);
  }
  EXPECT(host.cpu->trace->end - host.cpu->entries < 1024 + 2);
  tcg_bridge_complete(host.cpu, CODE + 4 * LENGTH);
  EXPECT(counted(&host) == 3000);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void what_a_block_did_not_execute_is_not_followed(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_CONDITIONAL);
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  enter(&host, CODE, block);
  reads_in(&host, 0, DATA);
  reads_in(&host, 2, DATA + LINE);
  /* Instruction 3 reads, and then faults: nothing of it has happened. */
  reads_in(&host, 3, DATA + 2 * LINE);
  tcg_bridge_take_back(host.cpu, 0, 2);
  tcg_bridge_trace_left(host.cpu, 3);
  tcg_bridge_complete(host.cpu, CODE + 0x100);
  EXPECT(counted(&host) == 2);
  /* A block of which nothing was executed. */
  enter(&host, CODE, block);
  tcg_bridge_take_back(host.cpu, 0, LENGTH);
  tcg_bridge_trace_left(host.cpu, 0);
  tcg_bridge_complete(host.cpu, CODE + 0x100);
  EXPECT(counted(&host) == 2);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void a_register_is_read_by_the_last_instruction_of_a_block(void) {
  struct host host;
  TcgBridgeException exception;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_NONE);
  uint64_t before, value = 0;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  write_register(&host, PERF_EVT_SEL + 1, RETIRED_INSTRUCTIONS);
  EXPECT(tcg_bridge_read(host.cpu, VM_PMU_SPACE_MSR, PERF_CTR + 1, &before, &exception) == TCG_BRIDGE_DONE);
  enter(&host, CODE, block);
  reads_in(&host, 1, DATA);
  reads_in(&host, 3, DATA + LINE);
  EXPECT(counted(&host) == 2);
  EXPECT(tcg_bridge_read(host.cpu, VM_PMU_SPACE_MSR, PERF_CTR + 1, &value, &exception) == TCG_BRIDGE_DONE);
  EXPECT(value == before + LENGTH - 1);
  /* The reading instruction pops its result from the stack. */
  reads_in(&host, 4, DATA + 2 * LINE);
  tcg_bridge_complete(host.cpu, CODE + 4 * LENGTH);
  EXPECT(counted(&host) == 3);
  EXPECT(tcg_bridge_read(host.cpu, VM_PMU_SPACE_MSR, PERF_CTR + 1, &value, &exception) == TCG_BRIDGE_DONE);
  EXPECT(value == before + LENGTH);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void addresses_are_translated_as_they_were_when_they_were_accessed(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_CONDITIONAL);
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  enter(&host, CODE, block);
  reads_in(&host, 0, DATA);
  reads_in(&host, 1, DATA + LINE);
  tcg_bridge_translations_change(host.cpu);
  EXPECT(host.translations == 1);
  host.distance = 0x10000000;
  /* The same lines of another page. */
  reads_in(&host, 2, DATA);
  reads_in(&host, 3, DATA + LINE);
  tcg_bridge_complete(host.cpu, CODE + 4 * LENGTH);
  EXPECT(host.translations == 2);
  EXPECT(counted(&host) == 4);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void the_last_instruction_of_a_block_invalidates_translations_after_those_before_it(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_NONE);
  build(&host);
  /* Event 46h: an address that neither level of the data's translation buffer has. */
  write_register(&host, PERF_EVT_SEL, ENABLED | 0x46);
  enter(&host, CODE, block);
  reads_in(&host, 0, DATA);
  reads_in(&host, 1, DATA + 8);
  tcg_bridge_forget(host.cpu, VM_PMU_FORGOTTEN_ALL, 0);
  reads_in(&host, 4, DATA + 16);
  tcg_bridge_complete(host.cpu, CODE + 4 * LENGTH);
  EXPECT(counted(&host) == 2);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

/* Three misses to go: instructions are executed singly, and the third load reaches the deadline. */
static void a_block_that_could_reach_a_deadline_is_executed_in_parts(void) {
  struct host host;
  VmPmuBlock *block = make_block(VM_PMU_BRANCH_CONDITIONAL);
  build(&host);
  write_register(&host, PERF_CTR, 0 - (uint64_t)3);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  tcg_bridge_poll_interrupt(host.cpu);
  EXPECT(host.cpu->following == TCG_BRIDGE_FOLLOWS_BLOCKS);
  EXPECT(tcg_bridge_slow(host.cpu, LENGTH) == 1);
  destroy(&host);
  vm_pmu_block_destroy(block);
}

static void instructions_are_counted_by_the_countdown_meanwhile(void) {
  struct host host;
  build(&host);
  write_register(&host, PERF_EVT_SEL, RETIRED_INSTRUCTIONS);
  write_register(&host, PERF_EVT_SEL + 1, DATA_CACHE_MISSES);
  EXPECT(tcg_bridge_poll_interrupt(host.cpu));
  uint64_t before = counted(&host);
  walk(&host, 100);
  EXPECT(counted(&host) == before + 100);
  destroy(&host);
}

static void caches_are_saved_with_the_counters(void) {
  struct host host;
  uint8_t *bytes;
  size_t length = 0;
  build(&host);
  write_register(&host, PERF_EVT_SEL, DATA_CACHE_MISSES);
  walk(&host, 50);
  bytes = tcg_bridge_save(host.bridge, &length);
  EXPECT(bytes != NULL);
  destroy(&host);
  build(&host);
  EXPECT(!tcg_bridge_load(host.bridge, bytes, 7));
  EXPECT(tcg_bridge_load(host.bridge, bytes, length));
  free(bytes);
  EXPECT(host.cpu->following);
  walk(&host, 60);
  EXPECT(counted(&host) == 60);
  destroy(&host);
}

/* ---- POWER9: the record of a sampled miss ---- */

static uint32_t privileged(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu;
  context->machine_state = UINT64_C(1) << 60 | 1 << 15;
  context->control = 1;
  return 0;
}

static bool no_record(void *user, uint32_t cpu, VmPmuRecord *record) {
  (void)user, (void)cpu, (void)record;
  return false;
}

static void write_spr(TcgBridgeCpu *cpu, uint32_t number, uint64_t value) {
  TcgBridgeException exception;
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, number, value, &exception) == TCG_BRIDGE_DONE);
}

static uint64_t read_spr(TcgBridgeCpu *cpu, uint32_t number) {
  TcgBridgeException exception;
  uint64_t value = 0;
  EXPECT(tcg_bridge_read(cpu, VM_PMU_SPACE_SPR, number, &value, &exception) == TCG_BRIDGE_DONE);
  return value;
}

static void build_power(struct host *host) {
  static const VmPmuCompanionOptions companion = {.size = sizeof companion};
  static const uint32_t supplied[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, VM_PMU_SIGNAL_CYCLES, VM_PMU_SIGNAL_LOADS};
  TcgBridgeOptions options;
  memset(&options, 0, sizeof options);
  memset(host, 0, sizeof *host);
  options.part = "power9";
  options.user = host;
  options.supplied = supplied;
  options.supplied_count = sizeof supplied / sizeof *supplied;
  options.records = VM_PMU_RECORDS_AT_DEADLINE | VM_PMU_RECORDS_TAKEN_BRANCHES;
  options.companion = &companion;
  options.host.context = privileged;
  options.host.record = no_record;
  host->bridge = tcg_bridge_create(&options, NULL, 0);
  EXPECT(host->bridge != NULL);
  host->cpu = tcg_bridge_cpu(host->bridge, 0);
}

#define MMCR0 795
#define PMAE 0x04000000

static uint64_t history_entry(struct host *host, unsigned number) {
  TcgBridgeException exception;
  uint64_t value = 1;
  EXPECT(tcg_bridge_read(host->cpu, VM_PMU_SPACE_BHRB, number, &value, &exception) == TCG_BRIDGE_DONE);
  return value;
}

static void take_branch(struct host *host) {
  begin(host, CODE, VM_PMU_BRANCH_CONDITIONAL);
  tcg_bridge_complete(host->cpu, CODE + 0x1000);
}

static void branches_are_recorded_for_guests_that_look_at_their_history(void) {
  struct host host;
  TcgBridgeException exception;
  build_power(&host);
  write_spr(host.cpu, MMCR0, PMAE);
  EXPECT(host.cpu->counting && !host.cpu->following);
  /* clrbhrb */
  EXPECT(tcg_bridge_write(host.cpu, VM_PMU_SPACE_BHRB, 0, 0, &exception) == TCG_BRIDGE_DONE);
  EXPECT(host.cpu->following && tcg_bridge_poll_interrupt(host.cpu));
  take_branch(&host);
  write_spr(host.cpu, MMCR0, 0);
  EXPECT(!host.cpu->following);
  /* P: the predictor had never seen it. */
  EXPECT(history_entry(&host, 0) == (CODE | 1) && history_entry(&host, 1) == 0);
  destroy(&host);
}

static void a_return_whose_condition_fails_is_not_taken(void) {
  struct host host;
  build_power(&host);
  history_entry(&host, 0);
  write_spr(host.cpu, MMCR0, PMAE);
  begin(&host, CODE, VM_PMU_BRANCH_RETURN);
  tcg_bridge_complete(host.cpu, CODE + 4);
  write_spr(host.cpu, MMCR0, 0);
  EXPECT(history_entry(&host, 0) == 0);
  destroy(&host);
}

static void a_jump_to_the_next_instruction_is_taken(void) {
  struct host host;
  build_power(&host);
  history_entry(&host, 0);
  write_spr(host.cpu, MMCR0, PMAE);
  begin_flagged(&host, CODE, VM_PMU_BRANCH_DIRECT_JUMP, VM_PMU_INSTRUCTION_TAKEN);
  tcg_bridge_complete(host.cpu, CODE + 4);
  write_spr(host.cpu, MMCR0, 0);
  EXPECT((history_entry(&host, 0) & ~UINT64_C(3)) == CODE);
  destroy(&host);
}

static void branches_are_no_longer_recorded_when_nobody_looks_any_more(void) {
  struct host host;
  unsigned times;
  build_power(&host);
  history_entry(&host, 0);
  for (times = 0; times < 8; times++) {
    write_spr(host.cpu, MMCR0, PMAE);
    EXPECT(host.cpu->following);
    write_spr(host.cpu, MMCR0, 0);
  }
  write_spr(host.cpu, MMCR0, PMAE);
  EXPECT(host.cpu->counting && !host.cpu->following);
  destroy(&host);
}

/* A handler freezes all counters and releases them: that does not change the demand. */
static void branches_are_no_longer_recorded_when_nobody_looks_at_samples(void) {
  struct host host;
  unsigned samples, instruction;
  build_power(&host);
  history_entry(&host, 0);
  write_spr(host.cpu, 798, 0x02);   /* MMCR1: PMC4SEL, completed instructions */
  write_spr(host.cpu, 795, 0x06004000); /* MMCR0: PMAE, FCECE, PMCjCE */
  begin(&host, CODE, VM_PMU_BRANCH_NONE); /* PMC1-4 do not count in the cycle after a write of MMCR1 */
  tcg_bridge_complete(host.cpu, CODE + 4);
  for (samples = 0; samples < 8; samples++) {
    EXPECT(host.cpu->following);
    write_spr(host.cpu, 790, 0x80000000 - 10); /* PMC4 */
    write_spr(host.cpu, 795, 0x06004000);
    for (instruction = 0; instruction < 10; instruction++) begin(&host, CODE, VM_PMU_BRANCH_NONE);
    tcg_bridge_complete(host.cpu, CODE + 4);
    tcg_bridge_sync(host.cpu);
    EXPECT((read_spr(host.cpu, 795) & 0x80) != 0); /* PMAO */
  }
  EXPECT(host.cpu->counting && !host.cpu->following);
  destroy(&host);
}

static void an_alert_at_a_miss_keeps_the_load_and_its_address(void) {
  struct host host;
  unsigned line;
  build_power(&host);

  write_spr(host.cpu, 786, UINT64_C(1) << 43); /* MMCRA: SDAR_MODE 10, as Linux has it always */
  write_spr(host.cpu, 798, 0x02);              /* MMCR1: PMC4SEL, completed instructions */
  write_spr(host.cpu, 795, 0x06004000);        /* MMCR0: PMAE, FCECE, PMCjCE */
  EXPECT(host.cpu->counting && !host.cpu->following);

  write_spr(host.cpu, 795, UINT64_C(1) << 31); /* FC */
  write_spr(host.cpu, 798, 0xF0);              /* PM_LD_MISS_L1 */
  write_spr(host.cpu, 790, 0x80000000 - 3);    /* PMC4 */
  write_spr(host.cpu, 795, 0x06004000);
  EXPECT(host.cpu->following);
  for (line = 0; line < 4; line++) load(&host, DATA + POWER_LINE * line);
  tcg_bridge_complete(host.cpu, CODE + 4);
  EXPECT((read_spr(host.cpu, 795) & 0x80) != 0); /* PMAO */
  EXPECT(read_spr(host.cpu, 796) == CODE && read_spr(host.cpu, 797) == DATA + 2 * POWER_LINE);
  destroy(&host);
}

/* Samples a load as Linux's event mem-loads does, among loads of `lines` lines by turns. Returns SIER. */
static uint64_t sample_a_load(struct host *host, unsigned lines) {
  unsigned number;
  build_power(host);
  write_spr(host->cpu, 786, 0x51);           /* MMCRA: SAMPLE_ENABLE, RAND_SAMP_ELIG loads */
  write_spr(host->cpu, 798, 0xE0);           /* MMCR1: PMC4SEL, the sampled instruction has completed */
  write_spr(host->cpu, 790, 0x80000000 - 4); /* PMC4 */
  write_spr(host->cpu, 795, 0x06004000);     /* MMCR0: PMAE, FCECE, PMCjCE */
  EXPECT(host->cpu->following);
  EXPECT(tcg_bridge_wants(host->bridge, VM_PMU_SIGNAL_LOADS) && !tcg_bridge_follows(host->bridge, VM_PMU_SIGNAL_LOADS));
  for (number = 0; number < 4 * 64 + 1; number++) {
    load(host, DATA + POWER_LINE * (1009 * number % lines));
    tcg_bridge_count(host->cpu, VM_PMU_SIGNAL_LOADS, 1);
  }
  tcg_bridge_complete(host->cpu, CODE + 4);
  EXPECT((read_spr(host->cpu, 795) & 0x80) != 0); /* PMAO */
  EXPECT((read_spr(host->cpu, 797) - DATA) % POWER_LINE == 0);
  return read_spr(host->cpu, 784);
}

/* SIER bits 46:48, 1 is a load; bits 60:62, 1 is the first-level cache, 2 the second, 3 the third. */
static void a_sampled_load_says_where_its_data_came_from(void) {
  struct host host;
  uint64_t sier = sample_a_load(&host, 1);
  EXPECT((sier >> 15 & 7) == 1 && (sier >> 1 & 7) == 1);
  destroy(&host);
  sier = sample_a_load(&host, 1 << 16); /* each of 257 lines for the first time, in an unpredictable order: from memory */
  EXPECT((sier >> 15 & 7) == 1 && (sier >> 1 & 7) > 3);
  write_spr(host.cpu, 786, 0);
  EXPECT(!host.cpu->following);
  destroy(&host);
}

int main(void) {
  instructions_are_followed_while_something_is_counted_that_the_companion_makes();
  a_cpu_stays_followed_in_turns_that_do_not_need_it();
  a_cpu_on_which_nothing_was_counted_for_a_time_is_not_followed_for_what_was_counted_before();
  each_line_misses_once();
  one_instruction_may_access_any_number_of_lines();
  plain_instructions_miss_where_their_line_begins();
  what_the_companion_makes_the_host_need_not_count();
  an_overflow_comes_before_the_next_instruction_is_entered();
  an_instruction_that_is_not_executed_leaves_no_trace();
  a_branch_is_taken_if_the_next_instruction_is_elsewhere();
  a_trace_has_many_blocks();
  a_trace_that_is_full_is_reported_before_the_next_block();
  what_a_block_did_not_execute_is_not_followed();
  a_register_is_read_by_the_last_instruction_of_a_block();
  addresses_are_translated_as_they_were_when_they_were_accessed();
  the_last_instruction_of_a_block_invalidates_translations_after_those_before_it();
  a_block_that_could_reach_a_deadline_is_executed_in_parts();
  instructions_are_counted_by_the_countdown_meanwhile();
  caches_are_saved_with_the_counters();
  an_alert_at_a_miss_keeps_the_load_and_its_address();
  a_sampled_load_says_where_its_data_came_from();
  branches_are_recorded_for_guests_that_look_at_their_history();
  a_return_whose_condition_fails_is_not_taken();
  a_jump_to_the_next_instruction_is_taken();
  branches_are_no_longer_recorded_when_nobody_looks_any_more();
  branches_are_no_longer_recorded_when_nobody_looks_at_samples();
  puts("followed: all is well");
  return 0;
}
