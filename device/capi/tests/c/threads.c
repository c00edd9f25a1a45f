/* Host threads that use one machine at once, and that destroy the same one. */
#include <pthread.h>

#include "expect.h"

#define SELECT 0xC0010000
#define COUNTER 0xC0010004
/* PerfEvtSel for retired instructions at every level, with an interrupt, and a counter that is one before its overflow. */
#define COUNTS 0x5300C0
#define FULL UINT64_C(0xFFFFFFFFFFFF)
/* PerfEvtSel for an event of the northbridge, which the cores of a package share. */
#define SHARED 0x4300E0
#define ROUNDS 200

static void *destroy(void *machine) { return vm_pmu_machine_destroy(machine) == VM_PMU_STATUS_OK ? machine : NULL; }

static void threads_that_destroy_the_same(void) {
  for (int round = 0; round < 20; round++) {
    VmPmuMachine *machine = NULL;
    pthread_t threads[8];
    int destroyed = 0;
    EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
    for (int number = 0; number < 8; number++) EXPECT(pthread_create(&threads[number], NULL, destroy, machine) == 0);
    for (int number = 0; number < 8; number++) {
      void *result = NULL;
      EXPECT(pthread_join(threads[number], &result) == 0);
      destroyed += result != NULL;
    }
    EXPECT(destroyed == 1);
  }
}

/* What one host thread does with its thread of a machine that others use. */
typedef struct {
  VmPmuMachine *machine;
  uint32_t thread;
  int raised;
} Runner;

static void raise_by_thread(void *user, uint32_t thread, uint32_t counter) {
  Runner *runners = user;
  (void)counter;
  runners[thread].raised++;
}

static void *run(void *argument) {
  Runner *runner = argument;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_cells(runner->machine, runner->thread, &cells));
  for (int round = 0; round < ROUNDS; round++) {
    VmPmuSnapshot *snapshot = NULL;
    uint64_t value = 0;
    EXPECT_OK(vm_pmu_write(runner->machine, runner->thread, VM_PMU_SPACE_MSR, SELECT + 1, SHARED));
    EXPECT_OK(vm_pmu_write(runner->machine, runner->thread, VM_PMU_SPACE_MSR, COUNTER, FULL));
    EXPECT_OK(vm_pmu_write(runner->machine, runner->thread, VM_PMU_SPACE_MSR, SELECT, COUNTS));
    vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
    if (vm_pmu_reached(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED)) EXPECT_OK(vm_pmu_service(runner->machine, runner->thread));
    EXPECT_OK(vm_pmu_read(runner->machine, runner->thread, VM_PMU_SPACE_MSR, COUNTER, &value));
    EXPECT(value == 0);
    EXPECT_OK(vm_pmu_write(runner->machine, runner->thread, VM_PMU_SPACE_MSR, SELECT + 1, 0));
    /* A look at the other's thread, and at all of the machine. */
    EXPECT_OK(vm_pmu_read(runner->machine, 1 - runner->thread, VM_PMU_SPACE_MSR, SELECT, &value));
    EXPECT_OK(vm_pmu_save(runner->machine, &snapshot));
    EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  }
  return NULL;
}

static void threads_that_use_the_same_machine(void) {
  Runner runners[2] = {{0}, {0}};
  pthread_t threads[2];
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  options.threads = 2;
  options.user = runners;
  options.raise = raise_by_thread;
  EXPECT_OK(vm_pmu_machine_create("k8", &options, &machine));
  for (uint32_t thread = 0; thread < 2; thread++) {
    runners[thread].machine = machine;
    runners[thread].thread = thread;
    EXPECT(pthread_create(&threads[thread], NULL, run, &runners[thread]) == 0);
  }
  for (int thread = 0; thread < 2; thread++) EXPECT(pthread_join(threads[thread], NULL) == 0);
  /* Each write of the counter and one instruction are one overflow. */
  EXPECT(runners[0].raised == ROUNDS && runners[1].raised == ROUNDS);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  threads_that_destroy_the_same();
  threads_that_use_the_same_machine();
  puts("threads: all is well");
  return 0;
}
