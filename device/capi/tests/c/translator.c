/*
 * A translator of a toy instruction set, on tcg_bridge.c: for every size of its blocks it counts, is interrupted and reads the same as an
 * interpreter that checks after each instruction.
 */
#include "expect.h"
#include "tcg_bridge.h"

#include <string.h>

#define PERF_EVT_SEL 0xC0010000
#define PERF_CTR 0xC0010004

enum operation { ADD, LOAD, BRANCH, FAULT, SWITCH, ARM, READ };

struct instruction {
  enum operation operation;
  unsigned operand;
};

/* What a guest has observed, and after how many of its instructions. */
struct sight {
  char what;
  unsigned long after;
  uint64_t value;
};

#define PROGRAM 400
#define STEPS 20000
#define LONG_STEPS 100000
#define SIGHTS 40000
#define MOST_BLOCK 64

struct machine {
  struct instruction program[PROGRAM];
  unsigned long select, period, steps;
  /* A device interrupts every so many instructions; 0 for no device. The PMU's interrupt comes before it. */
  unsigned long device_period, device_next;
  /* It programs the PMU when it starts, and not again. */
  bool arms_once;
  /* The CPU. */
  unsigned pc, level, pending;
  uint64_t accumulator;
  unsigned long executed, late, flushes, contexts;
  struct sight *sights;
  unsigned long sight_count;
  /* The translator: a block for each needed address and length. */
  TcgBridge *bridge;
  TcgBridgeCpu *cpu;
  TcgBridgeBlock *blocks[PROGRAM][MOST_BLOCK + 1];
  bool stale;
};

static void see(struct machine *machine, char what, uint64_t value) {
  struct sight sight = {what, machine->executed, value};
  EXPECT(machine->sight_count < SIGHTS);
  machine->sights[machine->sight_count++] = sight;
}

static void write_program(struct machine *machine, unsigned long select, unsigned long period, bool arms_once, unsigned long device_period) {
  uint32_t random = 12345;
  unsigned index;
  memset(machine, 0, sizeof *machine);
  machine->sights = calloc(SIGHTS, sizeof *machine->sights);
  EXPECT(machine->sights != NULL);
  machine->select = select;
  machine->period = period;
  machine->arms_once = arms_once;
  machine->device_period = machine->device_next = device_period;
  machine->steps = arms_once ? LONG_STEPS : STEPS;
  for (index = 0; index < PROGRAM; index++) {
    random = random * 1664525 + 1013904223;
    machine->program[index].operand = random >> 20;
    switch (random >> 27) {
    case 0: case 1: case 2: case 3: case 4: case 5: machine->program[index].operation = LOAD; break;
    case 6: case 7: case 8: case 9: machine->program[index].operation = BRANCH; break;
    case 10: machine->program[index].operation = FAULT; break;
    case 11: machine->program[index].operation = index % 3 == 0 ? SWITCH : ADD; break;
    case 12: machine->program[index].operation = READ; break;
    default: machine->program[index].operation = ADD; break;
    }
  }
  machine->program[0].operation = ARM;
  machine->program[PROGRAM / 2].operation = ARM;
}

static bool arms(const struct machine *machine, const struct instruction *instruction) {
  return instruction->operation == ARM && machine->level == 0 && !(machine->arms_once && machine->executed != 0);
}

/* Whether there is an interrupt, which is then taken. */
static bool takes_interrupt(struct machine *machine) {
  if (machine->pending != 0) {
    see(machine, 'i', machine->pending);
    machine->pending = 0;
    return true;
  }
  if (machine->device_period != 0 && machine->executed >= machine->device_next) {
    see(machine, 'd', machine->device_next);
    machine->device_next += machine->device_period;
    return true;
  }
  return false;
}

static bool ends_block(enum operation operation) { return operation >= BRANCH && operation != FAULT; }

/* Executes the instruction except for counting; returns false if it faults. The caller makes accesses to the PMU. */
static bool execute(struct machine *machine, const struct instruction *instruction, bool *taken) {
  *taken = false;
  if (instruction->operation == FAULT && (machine->accumulator + instruction->operand) % 3 == 0) {
    machine->pc = (machine->pc + 1) % PROGRAM; /* the handler returns to the next instruction */
    machine->accumulator += 1;
    return false;
  }
  machine->executed += 1;
  machine->accumulator = machine->accumulator * 3 + instruction->operand;
  *taken = instruction->operation == BRANCH && machine->accumulator % 5 < 2;
  machine->pc = *taken ? instruction->operand % PROGRAM : (machine->pc + 1) % PROGRAM;
  if (instruction->operation == SWITCH) machine->level = 3 - machine->level;
  return true;
}

/* ---- The interpreter, by vm_pmu.h alone ---- */

static void interpreter_raise(void *user, uint32_t thread, uint32_t counter) {
  (void)thread, (void)counter;
  ((struct machine *)user)->pending += 1;
}

static void interpreter_late(void *user, uint32_t thread, uint64_t events) {
  (void)thread;
  ((struct machine *)user)->late += (unsigned long)events;
}

static void interpret(struct machine *machine) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *pmu;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  uint64_t value;
  options.user = machine;
  options.raise = interpreter_raise;
  options.late = interpreter_late;
  EXPECT_OK(vm_pmu_machine_create("k8", &options, &pmu));
  EXPECT_OK(vm_pmu_cells(pmu, 0, &cells));
  while (machine->executed < machine->steps) {
    const struct instruction *instruction = &machine->program[machine->pc];
    bool taken, retired;
    uint32_t rflags = 0x202;
    EXPECT_OK(vm_pmu_set_context_x86(pmu, 0, machine->level, rflags, 1 << 8));
    if (takes_interrupt(machine)) {
      vm_pmu_add(&cells, VM_PMU_SIGNAL_INTERRUPTS_TAKEN, 1);
      vm_pmu_add(&cells, VM_PMU_SIGNAL_CYCLES, 1);
      EXPECT_OK(vm_pmu_check(pmu, 0));
      continue;
    }
    if (arms(machine, instruction)) {
      EXPECT_OK(vm_pmu_write(pmu, 0, VM_PMU_SPACE_MSR, PERF_CTR, 0 - (uint64_t)machine->period));
      EXPECT_OK(vm_pmu_write(pmu, 0, VM_PMU_SPACE_MSR, PERF_EVT_SEL, machine->select));
    }
    if (instruction->operation == READ) {
      EXPECT_OK(vm_pmu_read(pmu, 0, VM_PMU_SPACE_RDPMC, 0, &value));
      see(machine, 'r', value);
    }
    retired = execute(machine, instruction, &taken);
    vm_pmu_add(&cells, VM_PMU_SIGNAL_CYCLES, 1);
    if (retired) {
      vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
      if (instruction->operation == LOAD) vm_pmu_add(&cells, VM_PMU_SIGNAL_DATA_CACHE_ACCESSES, 1);
      if (instruction->operation == BRANCH) vm_pmu_add(&cells, VM_PMU_SIGNAL_BRANCHES_RETIRED, 1);
      if (taken) vm_pmu_add(&cells, VM_PMU_SIGNAL_BRANCHES_TAKEN, 1);
    } else {
      vm_pmu_add(&cells, VM_PMU_SIGNAL_EXCEPTIONS_TAKEN, 1);
    }
    EXPECT_OK(vm_pmu_check(pmu, 0));
  }
  EXPECT_OK(vm_pmu_set_context_x86(pmu, 0, 0, 0x202, 1 << 8));
  EXPECT_OK(vm_pmu_read(pmu, 0, VM_PMU_SPACE_MSR, PERF_CTR, &value));
  see(machine, 'e', value);
  EXPECT_OK(vm_pmu_machine_destroy(pmu));
}

/* ---- The translator ---- */

static uint32_t host_context(void *user, uint32_t cpu, VmPmuContext *context) {
  struct machine *machine = user;
  EXPECT(cpu == 0);
  machine->contexts += 1;
  context->privilege = machine->level;
  context->machine_state = 0x202;
  context->control = 1 << 8;
  return machine->level;
}

/* Problem state: MSR.PR. */
static uint32_t power_context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu;
  context->privilege = 3;
  context->machine_state = 1 << 14;
  return 3;
}

static void host_interrupt(void *user, uint32_t cpu) {
  EXPECT(cpu == 0);
  ((struct machine *)user)->pending += 1;
}

static void host_retranslate(void *user) { ((struct machine *)user)->stale = true; }

static void build(struct machine *machine) {
  TcgBridgeOptions options;
  char why[200];
  memset(&options, 0, sizeof options);
  options.part = "k8";
  options.paired_signal = VM_PMU_SIGNAL_DATA_CACHE_ACCESSES;
  options.user = machine;
  options.host.context = host_context;
  options.host.interrupt = host_interrupt;
  options.host.retranslate = host_retranslate;
  options.host.late = interpreter_late;
  machine->bridge = tcg_bridge_create(&options, why, sizeof why);
  EXPECT(machine->bridge != NULL);
  machine->cpu = tcg_bridge_cpu(machine->bridge, 0);
  EXPECT(machine->cpu != NULL && tcg_bridge_cpu(machine->bridge, 1) == NULL);
}

static void flush(struct machine *machine) {
  unsigned pc, length;
  for (pc = 0; pc < PROGRAM; pc++) {
    for (length = 0; length <= MOST_BLOCK; length++) {
      if (machine->blocks[pc][length] == NULL) continue;
      tcg_bridge_block_free(machine->blocks[pc][length]);
      free(machine->blocks[pc][length]);
      machine->blocks[pc][length] = NULL;
    }
  }
  machine->stale = false;
  machine->flushes += 1;
}

static const TcgBridgeBlock *translate(struct machine *machine, uint32_t length) {
  TcgBridgeBlock **place = &machine->blocks[machine->pc][length];
  unsigned pc = machine->pc;
  if (*place != NULL) return *place;
  *place = calloc(1, sizeof **place);
  EXPECT(*place != NULL);
  tcg_bridge_block_begin(*place);
  for (;;) {
    enum operation operation = machine->program[pc].operation;
    tcg_bridge_block_instruction(*place);
    if (operation == LOAD) EXPECT(tcg_bridge_block_paired(*place, 1));
    pc = (pc + 1) % PROGRAM;
    if (ends_block(operation) || (*place)->instructions == length) return *place;
  }
}

/* Executes the block, which has been entered unless it has no counting code. */
static void run_block(struct machine *machine, const TcgBridgeBlock *block, bool counting) {
  uint32_t index;
  uint64_t value;
  TcgBridgeException exception;
  for (index = 0; index < block->instructions; index++) {
    const struct instruction *instruction = &machine->program[machine->pc];
    bool taken;
    if (arms(machine, instruction)) {
      EXPECT(tcg_bridge_write(machine->cpu, VM_PMU_SPACE_MSR, PERF_CTR, 0 - (uint64_t)machine->period, &exception) == TCG_BRIDGE_DONE);
      EXPECT(tcg_bridge_write(machine->cpu, VM_PMU_SPACE_MSR, PERF_EVT_SEL, machine->select, &exception) == TCG_BRIDGE_DONE);
      if (!counting && machine->cpu->counting) tcg_bridge_open(machine->cpu);
    }
    if (instruction->operation == READ) {
      EXPECT(tcg_bridge_read(machine->cpu, VM_PMU_SPACE_RDPMC, 0, &value, &exception) == TCG_BRIDGE_DONE);
      see(machine, 'r', value);
    }
    if (!execute(machine, instruction, &taken)) {
      if (counting) tcg_bridge_left(machine->cpu, block, index);
      tcg_bridge_taken(machine->cpu, false);
      return;
    }
    if (instruction->operation == BRANCH && tcg_bridge_wants(machine->bridge, VM_PMU_SIGNAL_BRANCHES_RETIRED)) {
      tcg_bridge_count(machine->cpu, VM_PMU_SIGNAL_BRANCHES_RETIRED, 1);
    }
    if (taken && tcg_bridge_wants(machine->bridge, VM_PMU_SIGNAL_BRANCHES_TAKEN)) {
      tcg_bridge_count(machine->cpu, VM_PMU_SIGNAL_BRANCHES_TAKEN, 1);
    }
  }
}

static void save_and_restore(struct machine *machine) {
  size_t length = 0;
  uint8_t *bytes = tcg_bridge_save(machine->bridge, &length);
  EXPECT(bytes != NULL);
  tcg_bridge_destroy(machine->bridge);
  flush(machine);
  build(machine);
  EXPECT(!tcg_bridge_load(machine->bridge, bytes, length - 1));
  EXPECT(tcg_bridge_load(machine->bridge, bytes, length));
  if (machine->cpu->counting) {
    /* An instruction that is executed before the state is loaded again is not part of it. */
    *machine->cpu->countdown -= tcg_bridge_takes(1, 0);
    EXPECT(tcg_bridge_load(machine->bridge, bytes, length));
  }
  free(bytes);
}

static void translate_and_run(struct machine *machine, uint32_t size, unsigned long save_every, bool always_count) {
  unsigned long entries = 0;
  uint64_t value;
  TcgBridgeException exception;
  build(machine);
  while (machine->executed < machine->steps) {
    const TcgBridgeBlock *block;
    uint64_t allowed = TCG_BRIDGE_GO;
    bool counting;
    uint32_t length = size;
    if (machine->stale) flush(machine);
    tcg_bridge_before_interrupt(machine->cpu);
    if (takes_interrupt(machine)) {
      tcg_bridge_taken(machine->cpu, true);
      continue;
    }
    /* The run ends, and the device interrupts, at the same instruction for every size. */
    if (length > machine->steps - machine->executed) length = (uint32_t)(machine->steps - machine->executed);
    if (machine->device_period != 0 && length > machine->device_next - machine->executed) {
      length = (uint32_t)(machine->device_next - machine->executed);
    }
    if (tcg_bridge_context(machine->cpu, machine->level)) continue;
    block = translate(machine, length);
    counting = always_count || machine->cpu->counting;
    if (counting) allowed = tcg_bridge_enter(machine->cpu, block);
    if (allowed == TCG_BRIDGE_INTERRUPT) continue;
    if (allowed != TCG_BRIDGE_GO) {
      EXPECT(allowed <= block->instructions);
      block = translate(machine, (uint32_t)allowed);
      EXPECT(tcg_bridge_enter(machine->cpu, block) == TCG_BRIDGE_GO);
    }
    run_block(machine, block, counting);
    if (save_every != 0 && ++entries % save_every == 0) save_and_restore(machine);
  }
  machine->level = 0;
  tcg_bridge_sync(machine->cpu);
  EXPECT(tcg_bridge_read(machine->cpu, VM_PMU_SPACE_MSR, PERF_CTR, &value, &exception) == TCG_BRIDGE_DONE);
  see(machine, 'e', value);
  tcg_bridge_destroy(machine->bridge);
  flush(machine);
}

static struct machine interpreted, translated;

static void sees_the_same_if(unsigned long select, unsigned long period, bool arms_once, unsigned long device_period) {
  static const uint32_t sizes[] = {1, 2, 3, 7, 32, MOST_BLOCK};
  static const unsigned long saves[] = {0, 0, 101, 0, 50, 370};
  static const bool always[] = {false, true, true, false, false, false};
  unsigned run;
  unsigned long sight, interrupts = 0;
  write_program(&interpreted, select, period, arms_once, device_period);
  interpret(&interpreted);
  EXPECT(interpreted.late == 0);
  for (run = 0; run < sizeof sizes / sizeof *sizes; run++) {
    write_program(&translated, select, period, arms_once, device_period);
    translate_and_run(&translated, sizes[run], saves[run], always[run]);
    EXPECT(translated.late == 0);
    for (sight = 0; sight < interpreted.sight_count && sight < translated.sight_count; sight++) {
      const struct sight *one = &interpreted.sights[sight], *other = &translated.sights[sight];
      if (one->what != other->what || one->after != other->after || one->value != other->value) {
        fprintf(stderr, "select %lx, period %lu, blocks of %u, sight %lu: %c after %lu of %llx, not %c after %lu of %llx\n", select, period,
                sizes[run], sight, one->what, one->after, (unsigned long long)one->value, other->what, other->after,
                (unsigned long long)other->value);
        exit(1);
      }
      interrupts += one->what == 'i';
    }
    EXPECT(interpreted.sight_count == translated.sight_count);
    /* Once for each selection of the program, not every time that it is selected. */
    EXPECT(saves[run] != 0 || translated.flushes <= 3);
    free(translated.sights);
  }
  EXPECT(interrupts != 0);
  free(interpreted.sights);
}

static void sees_the_same(unsigned long select, unsigned long period) { sees_the_same_if(select, period, false, 0); }

/* ---- What needs no translator ---- */

static void faults_are_the_exceptions_of_their_architecture(void) {
  static struct machine machine;
  TcgBridgeOptions options;
  TcgBridgeException exception;
  TcgBridge *bridge;
  uint64_t value = 0;
  memset(&options, 0, sizeof options);
  options.user = &machine;
  options.host.context = host_context;
  machine.level = 3;

  options.part = "k8";
  bridge = tcg_bridge_create(&options, NULL, 0);
  EXPECT(tcg_bridge_read(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_MSR, 0xC0000080, &value, &exception) == TCG_BRIDGE_NOT_OURS);
  EXPECT(tcg_bridge_read(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_RDPMC, 4, &value, &exception) == TCG_BRIDGE_RAISE);
  EXPECT(exception.vector == 13 && exception.code == 0);
  EXPECT(tcg_bridge_read(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_SPR, 795, &value, &exception) == TCG_BRIDGE_NOT_OURS);
  tcg_bridge_destroy(bridge);

  options.part = "montecito";
  bridge = tcg_bridge_create(&options, NULL, 0);
  EXPECT(tcg_bridge_write(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_PMC, 4, 0, &exception) == TCG_BRIDGE_RAISE);
  EXPECT(exception.vector == 0x5400 && exception.code == 0x10);
  tcg_bridge_destroy(bridge);

  options.part = "power9";
  options.host.context = power_context;
  bridge = tcg_bridge_create(&options, NULL, 0);
  EXPECT(tcg_bridge_write(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_SPR, 795, 0, &exception) == TCG_BRIDGE_RAISE); /* MMCR0 */
  EXPECT(exception.vector == 0x700 && exception.code == 0);
  tcg_bridge_destroy(bridge);
}

static void a_bridge_says_why_it_cannot_be(void) {
  TcgBridgeOptions options;
  char why[200] = "";
  memset(&options, 0, sizeof options);
  options.part = "k8";
  EXPECT(tcg_bridge_create(&options, why, sizeof why) == NULL && strstr(why, "context") != NULL);
  options.host.context = host_context;
  options.part = "k88";
  EXPECT(tcg_bridge_create(&options, why, sizeof why) == NULL && strstr(why, "k88") != NULL);
  options.part = "k8";
  options.paired_signal = 60000;
  EXPECT(tcg_bridge_create(&options, why, sizeof why) == NULL && strstr(why, "paired_signal") != NULL);
}

static void the_vector_tables_say_what_is_delivered(void) {
  static struct machine machine;
  TcgBridgeOptions options;
  TcgBridge *amd, *intel;
  uint32_t entry = 0x400;
  uint8_t vector = 0;
  memset(&options, 0, sizeof options);
  options.user = &machine;
  options.host.context = host_context;
  options.part = "k8";
  amd = tcg_bridge_create(&options, NULL, 0);
  options.part = "knl";
  intel = tcg_bridge_create(&options, NULL, 0);
  EXPECT(tcg_bridge_lvt(amd, &entry, true, &vector) == TCG_BRIDGE_DELIVER_NMI && entry == 0x400);
  EXPECT(tcg_bridge_lvt(amd, &entry, false, &vector) == TCG_BRIDGE_DELIVER_NOTHING);
  EXPECT(tcg_bridge_lvt(intel, &entry, true, &vector) == TCG_BRIDGE_DELIVER_NMI && entry == 0x10400);
  EXPECT(tcg_bridge_lvt(intel, &entry, true, &vector) == TCG_BRIDGE_DELIVER_NOTHING);
  entry = 0xE1;
  EXPECT(tcg_bridge_lvt(amd, &entry, true, &vector) == TCG_BRIDGE_DELIVER_VECTOR && vector == 0xE1);
  EXPECT(tcg_bridge_pmv(0x31, &vector) && vector == 0x31);
  EXPECT(!tcg_bridge_pmv(0x10031, &vector));
  tcg_bridge_destroy(amd);
  tcg_bridge_destroy(intel);
}

static void a_sleep_ends_at_its_deadline(void) {
  static const uint32_t states[] = {VM_PMU_SIGNAL_CYCLES};
  static struct machine machine;
  TcgBridgeException exception;
  build(&machine);
  EXPECT(tcg_bridge_sleep(machine.cpu, states, 1) == VM_PMU_NEVER);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_CTR, 0 - (uint64_t)1000, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_EVT_SEL, 0x520076, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_poll_interrupt(machine.cpu) && !tcg_bridge_poll_interrupt(machine.cpu));
  EXPECT(tcg_bridge_sleep(machine.cpu, states, 1) == 1000);
  tcg_bridge_advance(machine.cpu, 999, states, 1);
  EXPECT(machine.pending == 0);
  tcg_bridge_advance(machine.cpu, 1, states, 1);
  EXPECT(machine.pending == 1 && tcg_bridge_poll_interrupt(machine.cpu));
  tcg_bridge_reset(machine.cpu, false);
  EXPECT(tcg_bridge_sleep(machine.cpu, states, 1) == VM_PMU_NEVER);
  tcg_bridge_destroy(machine.bridge);
}

static void enter(struct machine *machine, unsigned level, const TcgBridgeBlock *block) {
  machine->level = level;
  EXPECT(!tcg_bridge_context(machine->cpu, level));
  EXPECT(tcg_bridge_enter(machine->cpu, block) == TCG_BRIDGE_GO);
}

static void a_level_that_was_told_is_not_told_again_while_the_deadline_is_far(void) {
  static struct machine machine;
  TcgBridgeBlock user = {tcg_bridge_takes(10, 0), 10, NULL, 0, 0}, kernel = {tcg_bridge_takes(7, 0), 7, NULL, 0, 0};
  TcgBridgeException exception;
  uint64_t value = 0;
  unsigned round;
  build(&machine);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_CTR, 0 - (uint64_t)20000, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_EVT_SEL, 0x510076, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_poll_interrupt(machine.cpu));
  enter(&machine, 3, &user);
  enter(&machine, 0, &kernel);
  machine.contexts = 0;
  for (round = 1; round < 500; round++) {
    enter(&machine, 3, &user);
    enter(&machine, 0, &kernel);
  }
  EXPECT(machine.contexts == 0);
  EXPECT(tcg_bridge_read(machine.cpu, VM_PMU_SPACE_RDPMC, 0, &value, &exception) == TCG_BRIDGE_DONE);
  EXPECT(value == ((0 - (uint64_t)15000) & ((UINT64_C(1) << 48) - 1)));
  tcg_bridge_destroy(machine.bridge);
}

static void an_interpreter_retires_one_by_one(void) {
  static struct machine machine;
  TcgBridgeException exception;
  unsigned instruction;
  build(&machine);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_CTR, 0 - (uint64_t)9, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_write(machine.cpu, VM_PMU_SPACE_MSR, PERF_EVT_SEL, 0x5200C0, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_poll_interrupt(machine.cpu));
  for (instruction = 1; instruction <= 9; instruction++) EXPECT(tcg_bridge_retire(machine.cpu, 1, 1) == (instruction == 9));
  EXPECT(machine.pending == 1);
  tcg_bridge_destroy(machine.bridge);
}

/* A POWER9 thread in hypervisor state, interrupts enabled, run latch on. */
struct thread {
  uint64_t address;
  uint32_t levels;
};

static uint32_t thread_context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu;
  context->machine_state = UINT64_C(1) << 60 | 1 << 15;
  context->control = 1;
  return 0;
}

static void thread_lines(void *user, uint32_t cpu, uint32_t levels) {
  EXPECT(cpu == 0);
  ((struct thread *)user)->levels = levels;
}

static bool thread_record(void *user, uint32_t cpu, VmPmuRecord *record) {
  EXPECT(cpu == 0);
  record->address = ((struct thread *)user)->address;
  return true;
}

/* A bridge whose host reports these records, none if `record` is null. Its alerts are on: it wants records of branches, and at the deadline. */
static TcgBridge *alerting(struct thread *thread, bool (*record)(void *, uint32_t, VmPmuRecord *), uint32_t records) {
  TcgBridgeOptions options;
  TcgBridgeException exception;
  TcgBridge *bridge;
  TcgBridgeCpu *cpu;
  memset(&options, 0, sizeof options);
  options.part = "power9";
  options.user = thread;
  options.records = records;
  options.host.context = thread_context;
  options.host.lines = thread_lines;
  options.host.record = record;
  bridge = tcg_bridge_create(&options, NULL, 0);
  cpu = tcg_bridge_cpu(bridge, 0);
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 798, 0x02000000, &exception) == TCG_BRIDGE_DONE);     /* MMCR1: PMC1SEL */
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 787, 0x80000000 - 3, &exception) == TCG_BRIDGE_DONE); /* PMC1 */
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 795, 0x06008000, &exception) == TCG_BRIDGE_DONE);     /* MMCR0: PMAE, FCECE, PMC1CE */
  EXPECT(tcg_bridge_poll_interrupt(cpu));
  return bridge;
}

static void execute_five(TcgBridge *bridge, struct thread *thread, uint64_t sampled) {
  TcgBridgeCpu *cpu = tcg_bridge_cpu(bridge, 0);
  TcgBridgeException exception;
  uint64_t value = 0;
  for (thread->address = 0x1000; thread->address < 0x1014; thread->address += 4) {
    tcg_bridge_retire(cpu, 1, 1);
    EXPECT(thread->levels == (thread->address >= 0x1008 ? VM_PMU_LINE_INTERRUPT : 0u));
  }
  EXPECT(tcg_bridge_read(cpu, VM_PMU_SPACE_SPR, 796, &value, &exception) == TCG_BRIDGE_DONE); /* SIAR */
  EXPECT(value == sampled);
}

static void the_record_of_the_instruction_at_the_deadline_is_told(void) {
  static struct thread thread;
  TcgBridge *bridge = alerting(&thread, thread_record, 0);
  EXPECT(tcg_bridge_limit(bridge) == UINT32_MAX && tcg_bridge_records(bridge) != 0);
  execute_five(bridge, &thread, 0x1008);
  tcg_bridge_destroy(bridge);
}

static void records_that_the_host_leaves_out_hold_nothing_up(void) {
  static struct thread thread;
  TcgBridge *bridge = alerting(&thread, thread_record, VM_PMU_RECORDS_AT_DEADLINE);
  EXPECT(tcg_bridge_limit(bridge) == UINT32_MAX && tcg_bridge_records(bridge) == 0);
  execute_five(bridge, &thread, 0x1008);
  tcg_bridge_destroy(bridge);
}

static void a_host_without_records_is_not_held_up_by_them(void) {
  static struct thread thread;
  TcgBridge *bridge = alerting(&thread, NULL, 0);
  TcgBridgeException exception;
  EXPECT(tcg_bridge_records(bridge) == 0);
  /* MMCRA: random sampling wants every instruction. */
  EXPECT(tcg_bridge_write(tcg_bridge_cpu(bridge, 0), VM_PMU_SPACE_SPR, 786, 1, &exception) == TCG_BRIDGE_DONE);
  EXPECT(tcg_bridge_limit(bridge) == UINT32_MAX && tcg_bridge_records(bridge) == 0);
  execute_five(bridge, &thread, 0);
  tcg_bridge_destroy(bridge);
}

/* Problem state, and privileged state below the hypervisor. */
static uint32_t power_level;

static uint32_t context_of_level(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu;
  context->privilege = power_level;
  context->machine_state = power_level == 3 ? 1 << 14 : 0;
  context->control = 1;
  return power_level;
}

static void go(TcgBridgeCpu *cpu, uint32_t level, const TcgBridgeBlock *block) {
  uint64_t allowed;
  power_level = level;
  tcg_bridge_context(cpu, level);
  while ((allowed = tcg_bridge_enter(cpu, block)) != TCG_BRIDGE_GO) EXPECT(allowed == block->instructions);
}

static void a_system_call_at_the_deadline_is_told_before_its_context_ends(void) {
  static struct thread thread;
  TcgBridgeBlock one = {tcg_bridge_takes(1, 0), 1, NULL, 0, 0};
  TcgBridgeException exception;
  TcgBridgeOptions options;
  TcgBridge *bridge;
  TcgBridgeCpu *cpu;
  uint64_t value = 0;
  unsigned number;
  memset(&options, 0, sizeof options);
  options.part = "power9";
  options.user = &thread;
  options.records = VM_PMU_RECORDS_AT_DEADLINE;
  options.host.context = context_of_level;
  options.host.lines = thread_lines;
  options.host.record = thread_record;
  power_level = 1;
  bridge = tcg_bridge_create(&options, NULL, 0);
  cpu = tcg_bridge_cpu(bridge, 0);
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 798, 0x02000000, &exception) == TCG_BRIDGE_DONE);        /* MMCR1: PMC1SEL */
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 787, 0x80000000 - 9000, &exception) == TCG_BRIDGE_DONE); /* PMC1 */
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_SPR, 795, 0x46008001, &exception) == TCG_BRIDGE_DONE);        /* MMCR0: FCS, PMAE, FCECE, PMC1CE, FCH */
  EXPECT(tcg_bridge_poll_interrupt(cpu));
  thread.address = 0x1000;
  go(cpu, 1, &one);
  /* Both contexts are reported, and again with the deadline near; the last of 9,000 instructions is a system call. */
  for (number = 0; number < 8999; number++) {
    go(cpu, 3, &one);
    if (number % 100 == 0) go(cpu, 1, &one);
  }
  EXPECT(thread.levels == 0);
  thread.address = 0x1234;
  go(cpu, 3, &one);
  power_level = 1;
  EXPECT(tcg_bridge_context(cpu, 1) && thread.levels == VM_PMU_LINE_INTERRUPT);
  EXPECT(tcg_bridge_read(cpu, VM_PMU_SPACE_SPR, 796, &value, &exception) == TCG_BRIDGE_DONE); /* SIAR */
  EXPECT(value == 0x1234);
  tcg_bridge_destroy(bridge);
}

int main(void) {
  a_system_call_at_the_deadline_is_told_before_its_context_ends();
  the_record_of_the_instruction_at_the_deadline_is_told();
  records_that_the_host_leaves_out_hold_nothing_up();
  a_host_without_records_is_not_held_up_by_them();
  faults_are_the_exceptions_of_their_architecture();
  a_bridge_says_why_it_cannot_be();
  the_vector_tables_say_what_is_delivered();
  a_sleep_ends_at_its_deadline();
  a_level_that_was_told_is_not_told_again_while_the_deadline_is_far();
  an_interpreter_retires_one_by_one();
  sees_the_same(0x5300C0, 300);  /* retired instructions, exceptions and interrupts among them */
  sees_the_same(0x5200C0, 7);    /* only at level 0 */
  sees_the_same(0x510076, 100);  /* cycles, above it */
  sees_the_same(0x5300C2, 50);   /* branches */
  sees_the_same(0x5300C4, 1);    /* branches taken */
  sees_the_same(0x530040, 90);   /* accesses to the data cache */
  sees_the_same_if(0x5300C0, 50, false, 5); /* a device interrupts as well, at times at the same instruction */
  sees_the_same_if(0x510076, 6000, true, 0); /* above level 0, far */
  sees_the_same_if(0x520076, 9000, true, 0); /* cycles at level 0 */
  sees_the_same_if(0x520040, 5000, true, 0); /* accesses, which the countdown includes */
  sees_the_same_if(0x5200C2, 4500, true, 0); /* branches, which do not */
  puts("translator: all is well");
  return 0;
}
