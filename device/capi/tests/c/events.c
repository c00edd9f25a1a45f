/* Looks up what a part can count; reports single instructions and requests. */
#include <string.h>

#include "expect.h"

static bool is(VmPmuText text, const char *expected) {
  return text.length == strlen(expected) && memcmp(text.bytes, expected, text.length) == 0;
}

static void every_part_is_named(void) {
  VmPmuText name;
  bool k8 = false;
  uint32_t number = 0;
  for (; vm_pmu_part_name(number, &name) == VM_PMU_STATUS_OK; number++) {
    k8 = k8 || is(name, "k8");
  }
  EXPECT(k8 && number >= 5);
  EXPECT(vm_pmu_part_name(number, &name) == VM_PMU_STATUS_ERROR_RANGE);
}

static void events_are_found_by_name(void) {
  VmPmuEvent event = {.size = sizeof(VmPmuEvent)};
  VmPmuText name, summary;
  uint32_t signal;
  EXPECT_OK(vm_pmu_event_named("k8", "cpu_clk_unhalted", &event));
  EXPECT(event.select == 0x76 && event.flags == 0 && event.fidelity == VM_PMU_FIDELITY_EXACT);
  EXPECT(event.signal_count == 1 && event.signals[0] == VM_PMU_SIGNAL_CYCLES);
  EXPECT(event.summary.length > 0 && event.section.length > 0 && event.counters == 0xF);

  EXPECT_OK(vm_pmu_event_named("montecito", "L2I_READS.MISS.DMND", &event));
  EXPECT((event.flags & VM_PMU_EVENT_UMASK) != 0 && event.umask == 9 && is(event.name, "L2I_READS.MISS.DMND"));
  EXPECT(vm_pmu_event_named("k8", "NO_SUCH_EVENT", &event) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(vm_pmu_event_named("k8", NULL, &event) == VM_PMU_STATUS_ERROR_ARGUMENT);

  EXPECT_OK(vm_pmu_signal_named("instructions_retired", &signal));
  EXPECT(signal == VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  EXPECT_OK(vm_pmu_signal(signal, &name, &summary));
  EXPECT(is(name, "instructions_retired") && summary.length > 0);
  EXPECT(vm_pmu_signal_named("nothing", &signal) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(vm_pmu_signal(1u << 20, &name, &summary) == VM_PMU_STATUS_ERROR_RANGE);
}

static void a_catalogue_is_read_to_its_end(void) {
  VmPmuEvent event = {.size = sizeof(VmPmuEvent)};
  uint32_t events = 0, masks = 0;
  VmPmuStatus status;
  for (uint32_t number = 0; (status = vm_pmu_event("k8", number, &event)) == VM_PMU_STATUS_OK; number++) {
    *((event.flags & VM_PMU_EVENT_UMASK) != 0 ? &masks : &events) += 1;
  }
  EXPECT(status == VM_PMU_STATUS_ERROR_RANGE && events >= 87 && masks >= 123);
}

/* A counter of edges that starts within a state asks for its level, and counts no edge for it. */
static void levels_are_told_where_they_are_asked_for(void) {
  const unsigned word = VM_PMU_SIGNAL_DECODER_EMPTY_CYCLES / 64;
  const uint64_t bit = (uint64_t)1 << (VM_PMU_SIGNAL_DECODER_EMPTY_CYCLES % 64);
  const uint32_t states[] = {VM_PMU_SIGNAL_CYCLES, VM_PMU_SIGNAL_DECODER_EMPTY_CYCLES};
  for (int told = 0; told < 2; told++) {
    VmPmuMachine *machine = NULL;
    VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
    uint64_t holding[VM_PMU_SIGNAL_WORDS] = {0}, value;
    EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
    /* PerfEvtSel0: decoder empty, edges, OS, EN. */
    EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x4600D0));
    EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
    EXPECT(demand.levels[word] == bit);
    holding[word] = bit;
    if (told) {
      EXPECT_OK(vm_pmu_supply_levels(machine, 0, holding));
      EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
      EXPECT(demand.levels[word] == 0);
    }
    EXPECT_OK(vm_pmu_advance(machine, 0, 5, states, 2));
    EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xC0010004, &value));
    EXPECT(value == (told ? 0 : 1));
    EXPECT(vm_pmu_supply_levels(machine, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
    vm_pmu_machine_destroy(machine);
  }
}

/* Montecito captures advanced loads' checks that fail: data and instruction addresses of the record. */
static void records_are_captured(void) {
  VmPmuMachine *machine = NULL;
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  VmPmuRecord record = {.size = sizeof(VmPmuRecord)};
  uint64_t value;
  EXPECT_OK(vm_pmu_machine_create("montecito", NULL, &machine));
  EXPECT_OK(vm_pmu_set_context_ia64(machine, 0, 1 << 2, 0));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_PMC, 40, 0x02000101));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_PMC, 4, 0x0200C801));
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT((demand.records & (VM_PMU_RECORDS_MEMORY | VM_PMU_RECORDS_EVERY)) != 0);

  record.cycles = 1;
  record.address = 0x4000;
  record.flags = VM_PMU_RECORD_LOAD;
  record.memory_address = 0x1000;
  record.memory_latency = 99;
  record.data = VM_PMU_DATA_CACHE;
  record.data_level = 3;
  record.memory_translation = VM_PMU_TRANSLATION_WALK;
  EXPECT_OK(vm_pmu_record(machine, 0, &record));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_PMD, 4, &value));
  EXPECT(value == 0);
  record.address = 0x4010;
  record.slot = 1;
  record.traits = VM_PMU_TRAIT_ADVANCED_CHECK_FAILED;
  EXPECT_OK(vm_pmu_record(machine, 0, &record));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_PMD, 4, &value));
  EXPECT(value == 1);
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_PMD, 36, &value));
  EXPECT(value == 0x4019);

  /* chk.a accesses nothing. */
  VmPmuRecord check = {.size = sizeof(VmPmuRecord)};
  check.cycles = 1;
  check.address = 0x4020;
  check.slot = 2;
  check.branch = VM_PMU_BRANCH_FAILED_CHECK;
  check.branch_target = 0x8000;
  check.traits = VM_PMU_TRAIT_ADVANCED_CHECK_FAILED;
  EXPECT_OK(vm_pmu_record(machine, 0, &check));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_PMD, 36, &value));
  EXPECT(value == 0x402A);

  check.branch = 10;
  EXPECT(vm_pmu_record(machine, 0, &check) == VM_PMU_STATUS_ERROR_ARGUMENT);
  check.branch = 0;
  check.stages = 1 << 12;
  EXPECT(vm_pmu_record(machine, 0, &check) == VM_PMU_STATUS_ERROR_ARGUMENT);
  check.stages = 0;
  /* Every bit of the traits is one. */
  check.line_states = 1 << 4;
  EXPECT(vm_pmu_record(machine, 0, &check) == VM_PMU_STATUS_ERROR_ARGUMENT);
  check.line_states = 0;
  check.flags = 1u << 31;
  EXPECT(vm_pmu_record(machine, 0, &check) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* MSR_OFFCORE_RESP0 of Knights Landing: data reads that near memory answers with no snoop. */
static void requests_are_counted(void) {
  VmPmuMachine *machine = NULL;
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  VmPmuRequest request = {.size = sizeof(VmPmuRequest)};
  uint64_t value;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0x186, 0x4301B7));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0x1A6, 0x80200001));
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT((demand.records & VM_PMU_RECORDS_REQUESTS) != 0);
  request.kind = VM_PMU_REQUEST_KIND_DATA_READ;
  request.supplier = VM_PMU_SUPPLIER_NEAR_MEMORY;
  EXPECT_OK(vm_pmu_request(machine, 0, &request));
  request.supplier = VM_PMU_SUPPLIER_DEVICE;
  EXPECT_OK(vm_pmu_request(machine, 0, &request));
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_MSR, 0xC1, &value));
  EXPECT(value == 1);
  request.kind = 15;
  EXPECT(vm_pmu_request(machine, 0, &request) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  every_part_is_named();
  events_are_found_by_name();
  a_catalogue_is_read_to_its_end();
  levels_are_told_where_they_are_asked_for();
  records_are_captured();
  requests_are_counted();
  puts("events: all is well");
  return 0;
}
