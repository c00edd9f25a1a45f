/* A companion of a K8 follows an emulator without caches: misses are counted, translations walked, and a restored one is as warm as the saved one. */
#include <string.h>

#include "expect.h"

#define MISSES UINT64_C(0x00420041) /* DATA_CACHE_MISSES, OS, EN */

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static VmPmuMachine *counting(uint64_t select) {
  VmPmuMachine *machine = NULL;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, select));
  return machine;
}

static uint64_t counted(VmPmuMachine *machine) {
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_RDPMC, 0, &value));
  return value;
}

struct seen {
  VmPmuCompanion *companion;
  VmPmuMachine *machine;
  int events, walks, hits;
};

static void events(void *user, const VmPmuOutcome *outcome) {
  struct seen *seen = user;
  bool supplies;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT(outcome->size >= sizeof(VmPmuOutcome));
  EXPECT_OK(vm_pmu_cells(seen->machine, 0, &cells));
  vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
  seen->events++;
  seen->hits += outcome->data == VM_PMU_DATA_CACHE && outcome->data_level == 1;
  /* The follower is in use. */
  EXPECT(vm_pmu_follow_supplies(seen->companion, 0, 0, &supplies) == VM_PMU_STATUS_ERROR_ARGUMENT && told("in use"));
}

static void walk(void *user, uint32_t thread, uint64_t address, VmPmuWalk *walk) {
  struct seen *seen = user;
  EXPECT(thread == 0 && walk->size >= sizeof(VmPmuWalk) && walk->levels == 0 && walk->page_bits == 12);
  walk->levels = 1;
  walk->entries[0] = 0x10000 + (address >> 12) * 8;
  walk->global = (uint8_t)(address >> 12 == 8);
  seen->walks += address >> 12 >= 8; /* those of data */
}

/* Loads eight bytes. */
static void load(struct seen *seen, uint64_t address) {
  VmPmuAccess access = {0};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  access.address = access.physical = address;
  access.bytes = 8;
  instruction.address = instruction.physical = 0x1000;
  instruction.bytes = 4;
  instruction.accesses = &access;
  instruction.access_count = 1;
  EXPECT_OK(vm_pmu_follow(seen->companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_deliver(seen->companion, seen->machine, 0, NULL, 0, events, seen, NULL));
}

static VmPmuCompanion *made(struct seen *seen) {
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  bool active = false, supplies = false;
  options.user = seen;
  options.walk = walk;
  seen->machine = counting(MISSES);
  EXPECT_OK(vm_pmu_companion_create("k8", &options, &seen->companion));
  EXPECT_OK(vm_pmu_follow_sync(seen->companion, seen->machine, 0, &active));
  EXPECT_OK(vm_pmu_follow_supplies(seen->companion, 0, VM_PMU_SIGNAL_DATA_CACHE_MISSES, &supplies));
  EXPECT(active && supplies);
  return seen->companion;
}

static void four_loads_from_one_line_miss_once(void) {
  struct seen seen = {0};
  made(&seen);
  for (uint64_t place = 0; place < 4; place++) load(&seen, 0x8000 + 8 * place);
  EXPECT(counted(seen.machine) == 1 && seen.events == 4 && seen.hits == 3 && seen.walks == 1);
  load(&seen, 0x9000);
  EXPECT(counted(seen.machine) == 2 && seen.walks == 2);
  /* The first page is global, the second is not. */
  EXPECT_OK(vm_pmu_follow_invalidate(seen.companion, 0, VM_PMU_FORGOTTEN_NON_GLOBAL, 0));
  load(&seen, 0x8000);
  EXPECT(seen.walks == 2);
  load(&seen, 0x9000);
  EXPECT(seen.walks == 3);
  EXPECT_OK(vm_pmu_follow_invalidate(seen.companion, 0, VM_PMU_FORGOTTEN_PAGE, 0x8000));
  EXPECT_OK(vm_pmu_follow_set_halted(seen.companion, 0, true));
  EXPECT_OK(vm_pmu_follow_set_halted(seen.companion, 0, false));
  load(&seen, 0x8000);
  EXPECT(seen.walks == 4);
  /* A device writes the line: it misses again. */
  EXPECT_OK(vm_pmu_companion_device_access(seen.companion, seen.machine, 0, 0x8000, 64, true));
  load(&seen, 0x8000);
  EXPECT(counted(seen.machine) == 3);
  EXPECT_OK(vm_pmu_companion_destroy(seen.companion));
  EXPECT_OK(vm_pmu_machine_destroy(seen.machine));
}

static void what_is_saved_goes_on_as_warm(void) {
  struct seen old = {0}, new = {0};
  VmPmuSnapshot *snapshot = NULL;
  const uint8_t *bytes;
  size_t length;
  made(&old);
  made(&new);
  load(&old, 0x8000);
  EXPECT_OK(vm_pmu_companion_save(old.companion, &snapshot));
  EXPECT_OK(vm_pmu_snapshot_bytes(snapshot, &bytes, &length));
  EXPECT(vm_pmu_companion_load(new.companion, bytes, length - 1) == VM_PMU_STATUS_ERROR_SNAPSHOT);
  EXPECT(vm_pmu_load(new.machine, bytes, length) == VM_PMU_STATUS_ERROR_SNAPSHOT && told("companion"));
  EXPECT_OK(vm_pmu_companion_load(new.companion, bytes, length));
  EXPECT_OK(vm_pmu_follow_sync(new.companion, new.machine, 0, NULL));
  load(&new, 0x8008);
  EXPECT(counted(new.machine) == 0 && new.hits == 1 && new.walks == 0);
  EXPECT_OK(vm_pmu_snapshot_destroy(snapshot));
  EXPECT_OK(vm_pmu_companion_destroy(old.companion));
  EXPECT_OK(vm_pmu_companion_destroy(new.companion));
  EXPECT_OK(vm_pmu_machine_destroy(old.machine));
  EXPECT_OK(vm_pmu_machine_destroy(new.machine));
}

static void the_companion_keeps_the_clock(void) {
  VmPmuMachine *machine = counting(0x00420076); /* cycles */
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  VmPmuCompanion *companion = NULL;
  uint64_t cycles = 0, holding[VM_PMU_SIGNAL_WORDS] = {0};
  const uint32_t held[] = {VM_PMU_SIGNAL_INTERRUPTS_MASKED_CYCLES};
  options.clock = VM_PMU_CLOCK_OWNER_COMPANION;
  options.flags = VM_PMU_COMPANION_ALWAYS;
  EXPECT_OK(vm_pmu_companion_create("k8", &options, &companion));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, NULL));
  instruction.bytes = 4;
  /* Three instructions are dispatched together. */
  for (int number = 0; number < 3; number++) {
    EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
  }
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, held, 1, NULL, NULL, &cycles));
  EXPECT(cycles > 0 && counted(machine) == cycles);
  /* No operation of the floating-point unit completes, nothing stalls, and bits that the caller has set stay. */
  instruction.instruction_class = VM_PMU_CLASS_SERIALIZING;
  EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, held, 1, NULL, NULL, NULL));
  holding[0] = 1;
  EXPECT_OK(vm_pmu_follow_levels(companion, 0, holding));
  EXPECT((holding[VM_PMU_SIGNAL_FLOATING_POINT_IDLE_CYCLES / 64] >> (VM_PMU_SIGNAL_FLOATING_POINT_IDLE_CYCLES % 64) & 1) == 1);
  EXPECT((holding[VM_PMU_SIGNAL_DISPATCH_STALL_CYCLES / 64] >> (VM_PMU_SIGNAL_DISPATCH_STALL_CYCLES % 64) & 1) == 0);
  EXPECT((holding[0] & 1) == 1);
  EXPECT(vm_pmu_follow_levels(companion, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* How many cycles an instruction of this class takes on a companion of its own, as a struct of `size` bytes. */
static uint64_t taken(uint8_t instruction_class, bool operation, size_t size) {
  static const uint16_t addresses[] = {3}, reads[] = {0, 2}, writes[] = {0, 2, 16};
  VmPmuMachine *machine = counting(0x00420076); /* cycles */
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuInstruction instruction = {.size = size};
  VmPmuCompanion *companion = NULL;
  uint64_t cycles = 0;
  options.clock = VM_PMU_CLOCK_OWNER_COMPANION;
  options.flags = VM_PMU_COMPANION_ALWAYS;
  EXPECT_OK(vm_pmu_companion_create("k8", &options, &companion));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, NULL));
  instruction.bytes = 4;
  instruction.instruction_class = instruction_class;
  if (operation) {
    instruction.flags = VM_PMU_INSTRUCTION_OPERATION | VM_PMU_INSTRUCTION_PACKED;
    instruction.address_registers = addresses;
    instruction.read_registers = reads;
    instruction.written_registers = writes;
    instruction.address_register_count = 1;
    instruction.read_register_count = 2;
    instruction.written_register_count = 3;
    instruction.width = 8;
  }
  EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, &cycles));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
  return cycles;
}

static void an_instruction_says_what_it_works_on(void) {
  const size_t whole = sizeof(VmPmuInstruction), first = offsetof(VmPmuInstruction, address_registers);
  uint64_t simple = taken(VM_PMU_CLASS_SIMPLE, false, whole), division = taken(VM_PMU_CLASS_DIVIDE, false, whole);
  EXPECT(simple < division);
  /* With a width: of eight bytes in place of four, and a cycle more with a sign. */
  uint64_t wide = taken(VM_PMU_CLASS_DIVIDE, true, whole);
  EXPECT(division < wide && taken(VM_PMU_CLASS_SIGNED_DIVIDE, true, whole) == wide + 1);
  EXPECT(taken(VM_PMU_CLASS_ADD_WITH_CARRY, true, whole) == simple);
  /* Who was compiled before there were registers. */
  EXPECT(taken(VM_PMU_CLASS_DIVIDE, false, first) == division);
}

/* One table at 64 KiB leads to pages of 4 KiB, which lie 4 MiB further in the guest's own memory. */
static bool nested(void *user, uint32_t thread, uint64_t address, VmPmuGuestWalk *guest) {
  EXPECT(user == NULL && thread == 0 && guest->size >= sizeof(VmPmuGuestWalk) && guest->levels == 0 && guest->real == address);
  guest->levels = 1;
  guest->entries[0] = 0x10000 + (address >> 12) * 8;
  guest->page_bits = 12;
  guest->real = address + (4 << 20);
  return true;
}

/* One table at 16 MiB leads to pages of 2 MiB. */
static void host(void *user, uint32_t thread, uint64_t real, VmPmuHostWalk *host) {
  EXPECT(user == NULL && thread == 0 && host->size >= sizeof(VmPmuHostWalk) && host->levels == 0 && host->physical == real);
  host->levels = 1;
  host->entries[0] = (16 << 20) + (real >> 21) * 8;
  host->page_bits = 21;
}

static uint64_t read_spr(VmPmuMachine *machine, uint32_t number) {
  uint64_t value = 0;
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_SPR, number, &value));
  return value;
}

static void a_guest_has_a_host(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = NULL;
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuDemand demand = {.size = sizeof(VmPmuDemand)};
  options.nested = nested;
  options.host = host;
  EXPECT_OK(vm_pmu_machine_create("power9", NULL, &machine));
  /* PMC1 and PMC2: look-ups of walks, and those that miss (809Ch, 809Eh). MMCR0 lets them count. */
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_SPR, 798, UINT64_C(0x880000009c9e0000)));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_SPR, 795, 0));
  EXPECT_OK(vm_pmu_demand(machine, 0, &demand));
  EXPECT(demand.records == VM_PMU_RECORDS_NESTED);
  EXPECT_OK(vm_pmu_companion_create("power9", &options, &companion));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, NULL));
  for (uint64_t page = 0; page < 2; page++) {
    VmPmuAccess access = {0};
    VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
    access.address = page << 12;
    access.physical = access.address + (4 << 20);
    access.bytes = 8;
    instruction.accesses = &access;
    instruction.access_count = 1;
    EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
    EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, NULL));
    /* The table's entry, and the page: the first time neither host page is known. */
    EXPECT(read_spr(machine, 787) == 2 * (page + 1) && read_spr(machine, 788) == 2);
  }
  EXPECT_OK(vm_pmu_follow_invalidate(companion, 0, VM_PMU_FORGOTTEN_HOST_PAGE, 4 << 20));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void misuse(void) {
  VmPmuMachine *machine = counting(MISSES);
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  VmPmuAccess access = {0};
  VmPmuCompanion *companion = NULL;
  const uint32_t unknown[] = {1u << 30};
  EXPECT(vm_pmu_companion_create("z80", NULL, &companion) == VM_PMU_STATUS_ERROR_NAME && told("montecito"));
  EXPECT(vm_pmu_companion_create("k8", NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  options.clock = 2;
  EXPECT(vm_pmu_companion_create("k8", &options, &companion) == VM_PMU_STATUS_ERROR_ARGUMENT && told("clock"));
  options.clock = 0;
  options.page_bits = 64;
  EXPECT(vm_pmu_companion_create("k8", &options, &companion) == VM_PMU_STATUS_ERROR_ARGUMENT && told("page_bits"));
  options.page_bits = 0;
  options.flags = VM_PMU_COMPANION_BUFFERED << 1;
  EXPECT(vm_pmu_companion_create("k8", &options, &companion) == VM_PMU_STATUS_ERROR_ARGUMENT && told("flags"));
  options.flags = 0;
  options.threads = options.packages = 65535;
  EXPECT(vm_pmu_companion_create("k8", &options, &companion) == VM_PMU_STATUS_ERROR_ARGUMENT && told("too many"));
  EXPECT(companion == NULL);
  EXPECT_OK(vm_pmu_companion_create("k8", NULL, &companion));
  EXPECT(vm_pmu_follow(companion, 1, &instruction) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow(NULL, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow(companion, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  instruction.access_count = 1;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("list of accesses"));
  instruction.accesses = &access;
  instruction.access_count = SIZE_MAX;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("too many"));
  instruction.access_count = 1;
  access.kind = 9;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("kind"));
  access.kind = 0;
  access.flags = 4;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("access"));
  access.flags = 0;
  instruction.instruction_class = VM_PMU_CLASS_MEMORY_REGISTER + 1;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("class"));
  instruction.instruction_class = 0;
  instruction.flags = VM_PMU_INSTRUCTION_OPERATION;
  instruction.read_register_count = 1;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("read_registers"));
  instruction.flags = 1u << 31;
  EXPECT(vm_pmu_follow(companion, 0, &instruction) == VM_PMU_STATUS_ERROR_ARGUMENT && told("flags"));
  EXPECT(vm_pmu_follow_deliver(companion, machine, 0, unknown, 1, NULL, NULL, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_deliver(companion, machine, 0, unknown, 49, NULL, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_deliver(companion, machine, 1, NULL, 0, NULL, NULL, NULL) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_invalidate(companion, 0, 4, 0) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_set_halted(companion, 99, true) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_sync(companion, NULL, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_device_access(companion, machine, 1, 0, 1, false) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_companion_save(companion, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  VmPmuMachine *other = NULL;
  EXPECT_OK(vm_pmu_machine_create("power9", NULL, &other));
  EXPECT(vm_pmu_follow_sync(companion, other, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("of k8 and the machine of power9"));
  EXPECT(vm_pmu_follow_deliver(companion, other, 0, NULL, 0, NULL, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("one part"));
  EXPECT(vm_pmu_companion_device_access(companion, other, 0, 0, 1, false) == VM_PMU_STATUS_ERROR_ARGUMENT && told("one part"));
  EXPECT_OK(vm_pmu_machine_destroy(other));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_companion_destroy(NULL));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  four_loads_from_one_line_miss_once();
  what_is_saved_goes_on_as_warm();
  the_companion_keeps_the_clock();
  an_instruction_says_what_it_works_on();
  a_guest_has_a_host();
  misuse();
  puts("companion: all is well");
  return 0;
}
