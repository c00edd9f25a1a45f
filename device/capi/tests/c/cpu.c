/*
 * CPUs of emulators by VmPmuCpu: an interpreter, blocks, a clock of one's own, records, and a companion. The numbers are worked out by hand.
 */
#include "expect.h"

#define MSR VM_PMU_SPACE_MSR
#define RDPMC VM_PMU_SPACE_RDPMC
#define PERF_EVT_SEL 0xC0010000
#define PERF_CTR 0xC0010004

static const uint32_t retired[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED};
static const uint32_t cycles[] = {VM_PMU_SIGNAL_CYCLES};

struct apic {
  unsigned interrupts;
  /* The callback uses this CPU if it is not null, which is refused. */
  VmPmuCpu *careless;
};

static void raise_interrupt(void *user, uint32_t thread, uint32_t counter) {
  struct apic *apic = user;
  (void)thread, (void)counter;
  apic->interrupts += 1;
  if (apic->careless != NULL) EXPECT(vm_pmu_cpu_retire(apic->careless, retired, 1, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
}

static VmPmuMachine *machine_of(const char *part, struct apic *apic) {
  static const uint32_t single[] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, VM_PMU_SIGNAL_BRANCHES_RETIRED};
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  options.pace_most = 4;
  options.pace_single = single;
  options.pace_single_count = 2;
  options.user = apic;
  options.raise = raise_interrupt;
  EXPECT_OK(vm_pmu_machine_create(part, &options, &machine));
  return machine;
}

static uint64_t rdpmc(VmPmuCpu *cpu, uint64_t number) {
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_cpu_read(cpu, RDPMC, number, &value));
  return value;
}

/* PerfCtr0: retired instructions of any level, an interrupt after `period`. */
static void count_instructions(VmPmuCpu *cpu, uint64_t period) {
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_CTR, 0 - period));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x005300C0));
}

static void an_interpreter_is_interrupted_at_its_seventh_instruction(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCpu *cpu = NULL;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, NULL, &cpu));
  apic.careless = cpu;
  count_instructions(cpu, 7);
  for (unsigned instruction = 1; instruction <= 10; instruction++) {
    EXPECT_OK(vm_pmu_cpu_retire(cpu, retired, 1, 3));
    EXPECT(apic.interrupts == (instruction >= 7));
  }
  EXPECT(rdpmc(cpu, 0) == 3);
  EXPECT(vm_pmu_machine_destroy(machine) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT(vm_pmu_cpu_destroy(cpu) == VM_PMU_STATUS_ERROR_ARGUMENT); /* it does not live any more */
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Blocks of up to `length` instructions, the last of which is a branch: returns after how many instructions the interrupt comes. */
static unsigned translate(unsigned length, unsigned period, bool own_cell) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCpuOptions options = {.size = sizeof(VmPmuCpuOptions)};
  VmPmuCpu *cpu = NULL;
  uint64_t cell = 99, *countdown = NULL;
  unsigned executed = 0, branches = 0;
  options.paired_signal = VM_PMU_SIGNAL_BRANCHES_RETIRED;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, &options, &cpu));
  if (!own_cell) EXPECT_OK(vm_pmu_cpu_place(cpu, &cell));
  EXPECT_OK(vm_pmu_cpu_countdown(cpu, &countdown));
  EXPECT(own_cell || (countdown == &cell && cell == 0));
  /* The first block has one instruction, the write that starts both counters: it is counted. PerfCtr1 counts branches. */
  uint32_t allowed = 0;
  EXPECT(!vm_pmu_enter(countdown, vm_pmu_takes(1, 0)));
  EXPECT_OK(vm_pmu_cpu_refill(cpu, 1, &allowed));
  EXPECT(allowed == 1 && vm_pmu_enter(countdown, vm_pmu_takes(1, 0)));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL + 1, 0x004300C2));
  count_instructions(cpu, period);
  executed = 1;
  while (apic.interrupts == 0) {
    uint32_t instructions = length;
    if (!vm_pmu_enter(countdown, vm_pmu_takes(length, 1))) {
      EXPECT_OK(vm_pmu_cpu_refill(cpu, length, &instructions));
      if (apic.interrupts != 0) break;
      EXPECT(vm_pmu_enter(countdown, vm_pmu_takes(instructions, instructions == length)));
    }
    executed += instructions;
    branches += instructions == length;
    /* The rest of a cut block is entered as a block of its own. */
    while (instructions < length && apic.interrupts == 0) {
      uint32_t more = length - instructions, next = more;
      if (!vm_pmu_enter(countdown, vm_pmu_takes(more, 1))) {
        EXPECT_OK(vm_pmu_cpu_refill(cpu, more, &next));
        if (apic.interrupts != 0) break;
        EXPECT(vm_pmu_enter(countdown, vm_pmu_takes(next, next == more)));
      }
      executed += next;
      branches += next == more;
      instructions += next;
    }
  }
  EXPECT(rdpmc(cpu, 1) == branches);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  return executed;
}

static void blocks_of_any_length_end_at_the_deadline(void) {
  for (unsigned length = 1; length <= 40; length += 3) {
    EXPECT(translate(length, 25, true) == 25);
    EXPECT(translate(length, 1000, false) == 1000);
  }
}

static void an_instruction_that_was_not_executed_is_given_back(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCpu *cpu = NULL;
  uint64_t *countdown = NULL, executed = 0;
  uint32_t allowed = 0;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, NULL, &cpu));
  EXPECT_OK(vm_pmu_cpu_countdown(cpu, &countdown));
  count_instructions(cpu, 1000);
  EXPECT_OK(vm_pmu_cpu_refill(cpu, 10, &allowed));
  EXPECT(allowed == 10 && vm_pmu_enter(countdown, vm_pmu_takes(10, 0)));
  EXPECT_OK(vm_pmu_cpu_take_back(cpu, vm_pmu_takes(4, 0)));
  EXPECT_OK(vm_pmu_cpu_settle(cpu, &executed));
  EXPECT(executed == 6 && rdpmc(cpu, 0) == (UINT64_C(1) << 48) - 1000 + 6);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* PerfCtr0 counts what level 3 does; of 40 blocks of 10 instructions every second is one of level 3. */
static void each_level_counts_its_own_blocks(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuContext levels[2] = {{.size = sizeof(VmPmuContext)}, {.size = sizeof(VmPmuContext)}};
  VmPmuCpu *cpu = NULL;
  uint64_t *countdown = NULL;
  levels[0].machine_state = levels[1].machine_state = 0x202;
  levels[1].privilege = 3;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, NULL, &cpu));
  EXPECT_OK(vm_pmu_cpu_countdown(cpu, &countdown));
  EXPECT_OK(vm_pmu_cpu_set_context(cpu, &levels[0]));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x004100C0));
  for (unsigned block = 0; block < 40; block++) {
    EXPECT_OK(vm_pmu_cpu_set_context(cpu, &levels[block % 2]));
    while (!vm_pmu_enter(countdown, vm_pmu_takes(10, 0))) {
      uint32_t allowed = 0;
      EXPECT_OK(vm_pmu_cpu_refill(cpu, 10, &allowed));
      EXPECT(allowed == 10);
    }
  }
  EXPECT_OK(vm_pmu_cpu_set_context(cpu, &levels[0]));
  EXPECT(rdpmc(cpu, 0) == 200);
  levels[1].privilege = 4;
  EXPECT(vm_pmu_cpu_set_context(cpu, &levels[1]) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void inject_once(void *user) { EXPECT_OK(vm_pmu_inject(user, 0, 0xE4, 0x01, 3, NULL)); }

static void a_clock_of_its_own_stops_at_the_deadline(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  VmPmuCpu *cpu = NULL;
  uint64_t left = 0;
  bool stale = true;
  uint32_t edition;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, NULL, &cpu));
  EXPECT_OK(vm_pmu_cpu_until(cpu, cycles, 1, &left));
  EXPECT(left == VM_PMU_NEVER);
  EXPECT_OK(vm_pmu_cpu_demand(cpu, &demand));
  EXPECT(demand.idle);
  edition = demand.epoch;
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_CTR, 0 - UINT64_C(1000)));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x00530076));
  EXPECT_OK(vm_pmu_cpu_demand(cpu, &demand));
  EXPECT(vm_pmu_wants(&demand, VM_PMU_SIGNAL_CYCLES) && demand.epoch != edition);
  EXPECT_OK(vm_pmu_cpu_is_stale(cpu, &stale));
  EXPECT(!stale);
  EXPECT_OK(vm_pmu_cpu_advance(cpu, 400, cycles, 1));
  EXPECT_OK(vm_pmu_cpu_until(cpu, cycles, 1, &left));
  EXPECT(left == 600 && apic.interrupts == 0);
  EXPECT_OK(vm_pmu_cpu_advance(cpu, 607, cycles, 1));
  EXPECT(apic.interrupts == 1 && rdpmc(cpu, 0) == 7);

  /* PerfCtr1: bypass counters of the memory controller, which no signal describes. */
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL + 1, 0x004301E4));
  EXPECT_OK(vm_pmu_cpu_access(cpu, inject_once, machine));
  EXPECT(rdpmc(cpu, 1) == 3);
  EXPECT(vm_pmu_cpu_access(cpu, NULL, machine) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

struct instruction {
  uint64_t address;
  uint32_t flags;
  unsigned records;
};

static bool record_of(void *user, VmPmuRecord *record) {
  struct instruction *instruction = user;
  instruction->records += 1;
  record->address = instruction->address;
  record->flags = instruction->flags;
  return true;
}

/* POWER9: PMC1 counts instructions, and SIAR has the address of the one that made it negative. */
static void the_record_of_an_overflow_is_that_of_its_instruction(void) {
  enum { MMCR0 = 795, MMCR1 = 798, PMC1 = 787, SIAR = 796 };
  VmPmuMachine *machine = machine_of("power9", NULL);
  VmPmuContext context = {.size = sizeof(VmPmuContext)};
  struct instruction instruction = {0x1000, 0, 0};
  VmPmuStep step = {.size = sizeof(VmPmuStep)};
  VmPmuCpu *cpu = NULL;
  uint64_t value = 0;
  context.control = VM_PMU_POWER_RUN;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, NULL, &cpu));
  EXPECT_OK(vm_pmu_cpu_set_context(cpu, &context));
  /* PM_INST_CMPL on PMC1 is 02h; PMAE and PMC1CE of MMCR0. */
  EXPECT_OK(vm_pmu_cpu_write(cpu, VM_PMU_SPACE_SPR, MMCR1, UINT64_C(0x02) << 24));
  EXPECT_OK(vm_pmu_cpu_write(cpu, VM_PMU_SPACE_SPR, PMC1, 0x80000000 - 5));
  EXPECT_OK(vm_pmu_cpu_write(cpu, VM_PMU_SPACE_SPR, MMCR0, UINT64_C(1) << 26 | UINT64_C(1) << 15));
  step.signals = retired;
  step.signal_count = 1;
  step.cycles = 1;
  step.user = &instruction;
  step.record = record_of;
  for (; instruction.address < 0x1020; instruction.address += 4) EXPECT_OK(vm_pmu_cpu_complete(cpu, &step, NULL));
  EXPECT_OK(vm_pmu_cpu_read(cpu, VM_PMU_SPACE_SPR, SIAR, &value));
  EXPECT(value == 0x1000 + 4 * 4 && instruction.records == 1);

  /* A record that has no meaning is refused where it is wanted: at the end of another five instructions. */
  EXPECT_OK(vm_pmu_cpu_write(cpu, VM_PMU_SPACE_SPR, PMC1, 0x80000000 - 5));
  EXPECT_OK(vm_pmu_cpu_write(cpu, VM_PMU_SPACE_SPR, MMCR0, UINT64_C(1) << 26 | UINT64_C(1) << 15));
  instruction.flags = UINT32_C(1) << 31;
  for (unsigned number = 0; number < 4; number++) EXPECT_OK(vm_pmu_cpu_complete(cpu, &step, NULL));
  EXPECT(vm_pmu_cpu_complete(cpu, &step, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static VmPmuCompanion *companion_of_k8(uint32_t clock) {
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuCompanion *companion = NULL;
  options.clock = clock;
  EXPECT_OK(vm_pmu_companion_create("k8", &options, &companion));
  return companion;
}

/* A load of every fourth line, twice 32 of them. */
static void load_lines(VmPmuCpu *cpu, uint64_t *passed) {
  for (uint64_t number = 0; number < 64; number++) {
    VmPmuAccess load = {0};
    VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
    VmPmuStep step = {.size = sizeof(VmPmuStep)};
    uint64_t made = 0;
    bool followed = false;
    load.address = load.physical = 0x100000 + 256 * (number % 32);
    load.bytes = 8;
    load.kind = VM_PMU_ACCESS_KIND_LOAD;
    instruction.address = instruction.physical = 0x1000;
    instruction.bytes = 4;
    instruction.accesses = &load;
    instruction.access_count = 1;
    step.signals = retired;
    step.signal_count = 1;
    step.cycles = 1;
    EXPECT_OK(vm_pmu_cpu_is_followed(cpu, &followed));
    EXPECT(followed);
    EXPECT_OK(vm_pmu_cpu_execute(cpu, &instruction));
    EXPECT_OK(vm_pmu_cpu_complete(cpu, &step, &made));
    *passed += made;
  }
}

static void a_companion_makes_misses(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCompanion *companion = companion_of_k8(VM_PMU_CLOCK_OWNER_EMBEDDER);
  VmPmuCpuOptions options = {.size = sizeof(VmPmuCpuOptions)};
  VmPmuSnapshot *saved = NULL;
  VmPmuCpu *cpu = NULL, *other = NULL;
  const uint8_t *bytes = NULL;
  size_t length = 0;
  uint64_t passed = 0;
  options.companion = companion;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, &options, &cpu));
  EXPECT(vm_pmu_cpu_create(machine, 0, &options, &other) == VM_PMU_STATUS_ERROR_ARGUMENT && other == NULL);
  EXPECT(vm_pmu_companion_destroy(companion) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_sync(companion, machine, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x00430041));
  load_lines(cpu, &passed);
  EXPECT(rdpmc(cpu, 0) == 32 && passed == 0);

  /* With its caches, which have the lines, it is saved and loaded. */
  EXPECT_OK(vm_pmu_cpu_settle(cpu, NULL));
  EXPECT_OK(vm_pmu_companion_save(companion, &saved));
  EXPECT_OK(vm_pmu_snapshot_bytes(saved, &bytes, &length));
  EXPECT_OK(vm_pmu_cpu_invalidate(cpu, VM_PMU_FORGOTTEN_ALL, 0));
  EXPECT_OK(vm_pmu_companion_load(companion, bytes, length));
  EXPECT_OK(vm_pmu_cpu_restored(cpu));
  load_lines(cpu, &passed);
  EXPECT(rdpmc(cpu, 0) == 32);
  EXPECT_OK(vm_pmu_snapshot_destroy(saved));

  /* Another CPU goes on with the follower. */
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, &options, &cpu));
  load_lines(cpu, &passed);
  EXPECT(rdpmc(cpu, 0) == 32);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void a_companion_that_keeps_the_time_says_how_much_has_passed(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCompanion *companion = companion_of_k8(VM_PMU_CLOCK_OWNER_COMPANION);
  VmPmuCpuOptions options = {.size = sizeof(VmPmuCpuOptions)};
  VmPmuCpu *cpu = NULL;
  uint64_t passed = 0;
  options.companion = companion;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, &options, &cpu));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x00430076));
  load_lines(cpu, &passed);
  /* No load of a K8 that misses takes less than 20 cycles, and 32 of them do not wait for one another all of the time. */
  EXPECT(rdpmc(cpu, 0) == passed && passed > 64);
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void what_means_nothing_is_refused(void) {
  struct apic apic = {0, NULL};
  VmPmuMachine *machine = machine_of("k8", &apic);
  VmPmuCompanion *companion = NULL;
  VmPmuCpuOptions options = {.size = sizeof(VmPmuCpuOptions)};
  VmPmuGrowth growing[] = {{VM_PMU_SIGNAL_CYCLES, 2}, {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 2}};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  uint32_t unknown[] = {1u << 30}, many[VM_PMU_MOST_STEP + 1] = {0};
  VmPmuCpu *cpu = NULL;
  EXPECT(vm_pmu_cpu_create(machine, 1, NULL, &cpu) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_cpu_create(machine, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.growing = growing;
  options.growing_count = 2;
  EXPECT(vm_pmu_cpu_create(machine, 0, &options, &cpu) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.growing_count = 7;
  EXPECT(vm_pmu_cpu_create(machine, 0, &options, &cpu) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.growing_count = 1;
  EXPECT_OK(vm_pmu_companion_create("knl", NULL, &companion));
  options.companion = companion;
  EXPECT(vm_pmu_cpu_create(machine, 0, &options, &cpu) == VM_PMU_STATUS_ERROR_ARGUMENT && cpu == NULL);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  options.companion = NULL;
  EXPECT_OK(vm_pmu_cpu_create(machine, 0, &options, &cpu));
  EXPECT(vm_pmu_cpu_retire(cpu, unknown, 1, 1) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_cpu_retire(cpu, many, VM_PMU_MOST_STEP + 1, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_cpu_execute(cpu, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_cpu_read(cpu, MSR, 0xC0000080, &(uint64_t){0}) == VM_PMU_STATUS_FAULT_UNCLAIMED);
  EXPECT(vm_pmu_cpu_retire(NULL, retired, 1, 1) == VM_PMU_STATUS_ERROR_ARGUMENT);
  /* Two cycles an instruction, in blocks. */
  uint64_t *countdown = NULL;
  uint32_t allowed = 0;
  EXPECT_OK(vm_pmu_cpu_countdown(cpu, &countdown));
  EXPECT_OK(vm_pmu_cpu_write(cpu, MSR, PERF_EVT_SEL, 0x00430076));
  EXPECT_OK(vm_pmu_cpu_refill(cpu, 5, &allowed));
  EXPECT(allowed == 5 && vm_pmu_enter(countdown, vm_pmu_takes(5, 0)));
  EXPECT(rdpmc(cpu, 0) == 8); /* the fifth instruction is the one that reads */
  EXPECT_OK(vm_pmu_cpu_destroy(cpu));
  EXPECT_OK(vm_pmu_cpu_destroy(NULL));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  an_interpreter_is_interrupted_at_its_seventh_instruction();
  blocks_of_any_length_end_at_the_deadline();
  an_instruction_that_was_not_executed_is_given_back();
  each_level_counts_its_own_blocks();
  a_clock_of_its_own_stops_at_the_deadline();
  the_record_of_an_overflow_is_that_of_its_instruction();
  a_companion_makes_misses();
  a_companion_that_keeps_the_time_says_how_much_has_passed();
  what_means_nothing_is_refused();
  puts("cpu: all is well");
  return 0;
}
