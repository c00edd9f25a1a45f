/* Handles that are destroyed twice, as another kind or while in use; and callbacks that call the library. */
#include <string.h>

#include "expect.h"

#define SELECT 0xC0010000
#define COUNTER 0xC0010004
/* PerfEvtSel for retired instructions at every level, with an interrupt, and a counter that is one before its overflow. */
#define COUNTS 0x5300C0
#define FULL UINT64_C(0xFFFFFFFFFFFF)

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static void handles_that_are_destroyed_twice(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = NULL;
  VmPmuTranslations *translations = NULL;
  VmPmuSnapshot *snapshot = NULL;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT_OK(vm_pmu_companion_create("k8", NULL, &companion));
  EXPECT_OK(vm_pmu_translations_create(&translations));
  EXPECT_OK(vm_pmu_save(machine, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  EXPECT(vm_pmu_snapshot_destroy(snapshot) == VM_PMU_STATUS_ERROR_ARGUMENT && told("a snapshot"));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  EXPECT(vm_pmu_machine_destroy(machine) == VM_PMU_STATUS_ERROR_ARGUMENT && told("nothing that lives: a machine"));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT(vm_pmu_companion_destroy(companion) == VM_PMU_STATUS_ERROR_ARGUMENT && told("a companion"));
  EXPECT_OK(vm_pmu_translations_destroy(translations));
  EXPECT(vm_pmu_translations_destroy(translations) == VM_PMU_STATUS_ERROR_ARGUMENT && told("translations"));
}

static void handles_of_another_kind(void) {
  VmPmuMachine *machine = NULL;
  uint64_t nothing = 0;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT(vm_pmu_companion_destroy((VmPmuCompanion *)machine) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(told("the handle is of a machine: a companion is needed"));
  EXPECT(vm_pmu_machine_destroy((VmPmuMachine *)&nothing) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_service(machine, 0)); /* it lives */
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* A machine whose callback calls it, and tries to destroy it. */
typedef struct {
  VmPmuMachine *machine;
  int raised;
  VmPmuStatus destroyed;
} Caller;

static void raise_and_call(void *user, uint32_t thread, uint32_t counter) {
  Caller *caller = user;
  uint64_t value = 0;
  VmPmuSnapshot *snapshot = NULL;
  (void)counter;
  caller->raised++;
  EXPECT_OK(vm_pmu_read(caller->machine, thread, VM_PMU_SPACE_MSR, COUNTER, &value));
  EXPECT_OK(vm_pmu_write(caller->machine, thread, VM_PMU_SPACE_MSR, SELECT, 0));
  EXPECT_OK(vm_pmu_service(caller->machine, thread));
  EXPECT_OK(vm_pmu_save(caller->machine, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  caller->destroyed = vm_pmu_machine_destroy(caller->machine);
  EXPECT(told("a callback of the machine is running"));
}

static void callbacks_that_call_the_machine(void) {
  Caller caller = {0};
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  options.user = &caller;
  options.raise = raise_and_call;
  EXPECT_OK(vm_pmu_machine_create("k8", &options, &caller.machine));
  EXPECT_OK(vm_pmu_write(caller.machine, 0, VM_PMU_SPACE_MSR, COUNTER, FULL));
  EXPECT_OK(vm_pmu_write(caller.machine, 0, VM_PMU_SPACE_MSR, SELECT, COUNTS));
  EXPECT_OK(vm_pmu_cells(caller.machine, 0, &cells));
  vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
  EXPECT_OK(vm_pmu_service(caller.machine, 0));
  EXPECT(caller.raised == 1 && caller.destroyed == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(caller.machine));
}

static bool load(void *user, uint64_t address, uint64_t *value) {
  (void)user, (void)address;
  *value = 0;
  return true;
}

static bool store(void *user, uint64_t address, uint64_t value) {
  (void)user, (void)address, (void)value;
  return true;
}

/* Memory that calls the machine that posts there. */
static bool add(void *user, uint64_t address, uint64_t amount) {
  Caller *caller = user;
  bool running = false;
  (void)address, (void)amount;
  caller->raised++;
  EXPECT_OK(vm_pmu_service(caller->machine, 0));
  EXPECT_OK(vm_pmu_core_running(caller->machine, 0, &running));
  EXPECT(running);
  return true;
}

static void memory_that_calls_the_machine(void) {
  Caller caller = {0};
  VmPmuMemory memory = {sizeof(VmPmuMemory), &caller, load, store, add};
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_machine_create("power9", NULL, &caller.machine));
  EXPECT_OK(vm_pmu_core_init(caller.machine, 0, 0x8000));
  EXPECT_OK(vm_pmu_core_start(caller.machine, 0));
  EXPECT_OK(vm_pmu_cells(caller.machine, 0, &cells));
  vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 512);
  EXPECT_OK(vm_pmu_core_post(caller.machine, 0, &memory, NULL));
  EXPECT(caller.raised != 0);
  EXPECT_OK(vm_pmu_machine_destroy(caller.machine));
}

int main(void) {
  handles_that_are_destroyed_twice();
  handles_of_another_kind();
  callbacks_that_call_the_machine();
  memory_that_calls_the_machine();
  puts("careless: all is well");
  return 0;
}
