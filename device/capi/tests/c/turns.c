/* Two threads of a core of Montecito take turns: an embedder learns of a miss of the third level, changes the threads, and comes back. */
#include "expect.h"

/* The companion's memory answers so long after a load executed; a miss is known so long after that. */
#define MEMORY 200
#define KNOWN 14

static VmPmuMachine *machine;
static VmPmuCompanion *companion;

/* An instruction alone in its group, whose code is at hand. */
static void follow(const VmPmuAccess *access, const uint16_t *read, const uint16_t *written) {
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  instruction.flags = VM_PMU_INSTRUCTION_OPERATION;
  instruction.width = 8;
  instruction.accesses = access;
  instruction.access_count = access != NULL;
  instruction.instruction_class = access != NULL ? VM_PMU_CLASS_LOAD : VM_PMU_CLASS_SIMPLE;
  instruction.read_registers = read;
  instruction.read_register_count = read != NULL;
  instruction.written_registers = written;
  instruction.written_register_count = written != NULL;
  EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
}

/* A load from memory, its use, and four instructions behind them. */
static void load(uint64_t address) {
  static const uint16_t loaded = 4, used = 5;
  VmPmuAccess access = {0};
  access.address = access.physical = address;
  access.bytes = 8;
  follow(&access, NULL, &loaded);
  follow(NULL, &loaded, &used);
  for (int number = 0; number < 4; number++) {
    follow(NULL, NULL, NULL);
  }
}

static uint64_t deliver(void) {
  uint64_t cycles = 0;
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, &cycles));
  return cycles;
}

static bool missed(uint64_t *returns) {
  bool answer = false;
  EXPECT_OK(vm_pmu_follow_third_level_miss(companion, 0, &answer, returns));
  return answer;
}

static void a_delivery_ends_where_a_miss_is_known(void) {
  uint64_t returns = 0, idle = 0;
  bool known = false;
  EXPECT_OK(vm_pmu_follow_watch_third_level(companion, 0, true));
  /* The first load walks for the page. */
  load(0x10000);
  deliver();
  EXPECT(missed(NULL) && !missed(NULL));
  EXPECT(deliver() != 0);
  load(0x10400);
  EXPECT(deliver() != 0);
  EXPECT(missed(&returns) && returns == MEMORY - KNOWN);
  /* The load completed two cycles after it executed; the use has waited since. */
  EXPECT_OK(vm_pmu_follow_idle(companion, 0, &known, &idle));
  EXPECT(known && idle == KNOWN - 2);
}

static void a_thread_comes_back(void) {
  uint64_t idle = 0;
  bool known = false;
  /* The quantum ends ten cycles later, in the wait. */
  EXPECT_OK(vm_pmu_follow_report_at_most(companion, 0, 10));
  EXPECT(deliver() == 10);
  EXPECT_OK(vm_pmu_follow_idle(companion, 0, &known, &idle));
  EXPECT(known && idle == KNOWN - 2 + 10);
  EXPECT_OK(vm_pmu_follow_report_at_most(companion, 0, VM_PMU_ALL_CYCLES));
  /* In the background its data have come: what is left is the change, the groups in flight and the next. */
  EXPECT_OK(vm_pmu_follow_resume(companion, 0, 1000));
  follow(NULL, NULL, NULL);
  follow(NULL, NULL, NULL);
  uint64_t cycles = deliver();
  EXPECT(cycles >= 15 && cycles < 15 + 10);
  EXPECT_OK(vm_pmu_follow_watch_third_level(companion, 0, false));
}

static void misuse(void) {
  VmPmuCompanion *other = NULL;
  bool answer = true;
  uint64_t cycles = 7;
  EXPECT(vm_pmu_follow_third_level_miss(companion, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_idle(companion, 0, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_watch_third_level(companion, 99, true) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_report_at_most(companion, 99, 1) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_resume(companion, 99, 1) == VM_PMU_STATUS_ERROR_RANGE);
  /* Without a pipeline nothing is known, and nothing is written. */
  EXPECT_OK(vm_pmu_companion_create("montecito", NULL, &other));
  EXPECT_OK(vm_pmu_follow_idle(other, 0, &answer, &cycles));
  EXPECT(!answer && cycles == 7);
  answer = true;
  EXPECT_OK(vm_pmu_follow_third_level_miss(other, 0, &answer, &cycles));
  EXPECT(!answer && cycles == 7);
  EXPECT_OK(vm_pmu_companion_destroy(other));
}

int main(void) {
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  options.clock = VM_PMU_CLOCK_OWNER_COMPANION;
  options.flags = VM_PMU_COMPANION_ALWAYS;
  EXPECT_OK(vm_pmu_machine_create("montecito", NULL, &machine));
  EXPECT_OK(vm_pmu_companion_create("montecito", &options, &companion));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, NULL));
  a_delivery_ends_where_a_miss_is_known();
  a_thread_comes_back();
  misuse();
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  puts("turns: all is well");
  return 0;
}
