/* Controllers, channels and interconnects of a companion are counted separately, and reported to a function of this program. */
#include <string.h>

#include "expect.h"

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

struct heard {
  VmPmuCompanion *companion;
  VmPmuPlace places[16];
  VmPmuInterconnect interconnects[4];
  uint32_t count, joined;
};

static void never(void *user, const VmPmuPlace *place) {
  (void)user, (void)place;
  EXPECT(false);
}

static void place(void *user, const VmPmuPlace *place) {
  struct heard *heard = user;
  uint32_t agent;
  EXPECT(place->size >= sizeof(VmPmuPlace) && heard->count < 16);
  heard->places[heard->count++] = *place;
  /* No lock is held, and everything has been taken. */
  EXPECT_OK(vm_pmu_companion_take_places(heard->companion, never, NULL));
  EXPECT_OK(vm_pmu_companion_home(heard->companion, 0, &agent));
  EXPECT_OK(vm_pmu_companion_watch_places(heard->companion, true));
}

static void interconnect(void *user, const VmPmuInterconnect *interconnect) {
  struct heard *heard = user;
  EXPECT(interconnect->size >= sizeof(VmPmuInterconnect) && heard->joined < 4);
  heard->interconnects[heard->joined++] = *interconnect;
}

/* Everything that is reported. */
static struct heard take(VmPmuCompanion *companion) {
  struct heard heard = {0};
  bool has;
  heard.companion = companion;
  EXPECT_OK(vm_pmu_companion_take_places(companion, place, &heard));
  EXPECT_OK(vm_pmu_companion_has_places(companion, &has));
  EXPECT(!has);
  EXPECT_OK(vm_pmu_companion_take_interconnects(companion, interconnect, &heard));
  EXPECT_OK(vm_pmu_companion_has_interconnects(companion, &has));
  EXPECT(!has);
  return heard;
}

static bool is(const VmPmuPlace *place, uint32_t kind, uint32_t controller, uint32_t channel, uint32_t signal, uint64_t amount) {
  return place->kind == kind && place->controller == controller && place->channel == channel && place->signal == signal &&
         place->amount == amount;
}

/* Line 200h belongs to EDC 3, channel 0 of controller 0, and CHA 16. */
static void a_device_reads_a_line_of_knights_landing(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = NULL;
  struct heard heard;
  uint32_t agent;
  bool has;
  EXPECT_OK(vm_pmu_machine_create("knl", NULL, &machine));
  EXPECT_OK(vm_pmu_companion_create("knl", NULL, &companion));
  EXPECT_OK(vm_pmu_companion_home(companion, 0x8000, &agent));
  EXPECT(agent == 16);
  /* Nothing is watched. */
  EXPECT_OK(vm_pmu_companion_device_access(companion, machine, 0, 0x4000, 64, false));
  EXPECT_OK(vm_pmu_companion_has_places(companion, &has));
  EXPECT(!has);
  EXPECT_OK(vm_pmu_companion_take_places(companion, never, NULL));

  EXPECT_OK(vm_pmu_companion_watch_places(companion, true));
  EXPECT_OK(vm_pmu_companion_device_access(companion, machine, 0, 0x8000, 64, false));
  EXPECT_OK(vm_pmu_companion_has_places(companion, &has));
  EXPECT(has);
  heard = take(companion);
  EXPECT(heard.count == 4);
  EXPECT(is(&heard.places[0], VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_NEAR_MEMORY_READS, 1));
  EXPECT(is(&heard.places[1], VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_NEAR_MEMORY_WRITES, 1));
  EXPECT(is(&heard.places[2], VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_MISSES_INVALID, 1));
  EXPECT(is(&heard.places[3], VM_PMU_PLACE_KIND_CHANNEL, 0, 0, VM_PMU_SIGNAL_MEMORY_READS, 1));
  /* Near memory has it now. */
  EXPECT_OK(vm_pmu_companion_device_access(companion, machine, 0, 0x8000, 64, false));
  heard = take(companion);
  EXPECT(heard.count == 2);
  EXPECT(is(&heard.places[0], VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_NEAR_MEMORY_READS, 1));
  EXPECT(is(&heard.places[1], VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_HITS_CLEAN, 1));
  /* Counts that were not taken are dropped. */
  EXPECT_OK(vm_pmu_companion_device_access(companion, machine, 0, 0x8000, 64, false));
  EXPECT_OK(vm_pmu_companion_watch_places(companion, false));
  EXPECT_OK(vm_pmu_companion_take_places(companion, never, NULL));
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Two chips of 1 MiB and eight threads each. */
static VmPmuCompanion *two_chips(void) {
  VmPmuCompanionOptions options = {.size = sizeof(VmPmuCompanionOptions)};
  VmPmuCompanion *companion = NULL;
  options.packages = 2;
  options.threads = 8;
  options.memory_per_package = 1 << 20;
  EXPECT_OK(vm_pmu_companion_create("power9", &options, &companion));
  return companion;
}

/* Consecutive lines go to controllers, channels and ports in turn. */
static void a_device_reads_sixteen_lines_of_power9(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = two_chips();
  struct heard heard;
  options.packages = 2;
  options.threads = 4;
  EXPECT_OK(vm_pmu_machine_create("power9", &options, &machine));
  EXPECT_OK(vm_pmu_companion_watch_places(companion, true));
  EXPECT_OK(vm_pmu_companion_device_access(companion, machine, 0, 0x100000, 2048, false));
  heard = take(companion);
  EXPECT(heard.count == 8);
  for (uint32_t number = 0; number < 8; number++) {
    /* The second chip has controllers 2 and 3. */
    EXPECT(is(&heard.places[number], VM_PMU_PLACE_KIND_CHANNEL, 2 + number / 4, number % 4, VM_PMU_SIGNAL_MEMORY_READS, 2));
  }
  EXPECT(heard.joined == 1 && heard.interconnects[0].package == 1);
  for (int port = 0; port < VM_PMU_PORTS; port++) {
    EXPECT(heard.interconnects[0].requests_within[port] == 4 && heard.interconnects[0].requests_beyond[port] == 0);
  }
  EXPECT(heard.interconnects[0].lines_within == 16 && heard.interconnects[0].lines_beyond == 0);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Nothing is counted, but places are watched: the thread is followed. */
static void a_thread_reads_memory_of_the_other_chip(void) {
  VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = two_chips();
  VmPmuAccess access = {0};
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  bool stale, active;
  struct heard heard;
  options.packages = 4;
  options.threads = 4;
  EXPECT_OK(vm_pmu_machine_create("power9", &options, &machine));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, &active));
  EXPECT_OK(vm_pmu_follow_is_stale(companion, 0, &stale));
  EXPECT(!active && !stale);
  EXPECT_OK(vm_pmu_companion_watch_places(companion, true));
  EXPECT_OK(vm_pmu_follow_is_stale(companion, 0, &stale));
  EXPECT(stale);
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, &active));
  EXPECT_OK(vm_pmu_follow_is_stale(companion, 0, &stale));
  EXPECT(active && !stale);

  access.address = access.physical = 0x100080;
  access.bytes = 8;
  instruction.accesses = &access;
  instruction.access_count = 1;
  EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
  EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, NULL));
  heard = take(companion);
  EXPECT(heard.count == 1 && is(&heard.places[0], VM_PMU_PLACE_KIND_CHANNEL, 3, 0, VM_PMU_SIGNAL_MEMORY_READS, 1));
  EXPECT(heard.joined == 2);
  /* The packages are of one group, joined by the first link: the request goes out, the answer and the line, which is odd, come back. */
  EXPECT(heard.interconnects[0].package == 0 && heard.interconnects[0].requests_to_group[1] == 1);
  EXPECT(heard.interconnects[0].requests_beyond[1] == 0 && heard.interconnects[0].lines_beyond == 1);
  EXPECT(heard.interconnects[0].links[0].sent[1].commands == 1 && heard.interconnects[0].links[0].received[1].lines == 1);
  EXPECT(heard.interconnects[1].package == 1 && heard.interconnects[1].requests_to_group[1] == 0);
  EXPECT(heard.interconnects[1].lines_beyond == 1 && heard.interconnects[1].links[0].sent[1].answers == 1);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* Whether the box of this name counts a signal of a place, by this event and sub-event. */
static bool counts(const char *box, uint32_t kind, uint32_t controller, uint32_t channel, uint32_t signal, uint8_t select, uint8_t umask) {
  VmPmuPlace place = {.size = sizeof place};
  uint32_t expected, number;
  uint8_t events[2];
  place.kind = kind;
  place.controller = controller;
  place.channel = channel;
  place.signal = signal;
  EXPECT_OK(vm_pmu_box_named(box, &expected));
  EXPECT_OK(vm_pmu_box_of_place(&place, &number, &events[0], &events[1]));
  return number == expected && events[0] == select && events[1] == umask;
}

/* Tables 3-1 to 3-3 and 4-1 of the manual: controllers have three channels each, and one of near memory two boxes, by clock. */
static void each_count_of_a_place_has_a_box(void) {
  EXPECT(counts("edc-eclk7", VM_PMU_PLACE_KIND_NEAR_MEMORY, 7, 0, VM_PMU_SIGNAL_NEAR_MEMORY_WRITES, 0x02, 0x01));
  EXPECT(counts("edc-uclk3", VM_PMU_PLACE_KIND_NEAR_MEMORY, 3, 0, VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_MISSES_INVALID, 0x02, 0x10));
  EXPECT(counts("mc-dclk5", VM_PMU_PLACE_KIND_CHANNEL, 1, 2, VM_PMU_SIGNAL_MEMORY_READS, 0x03, 0x01));
}

static void what_has_no_box_is_refused(void) {
  VmPmuPlace place = {.size = sizeof place};
  uint32_t number = 7;
  uint8_t select = 7, umask = 7;
  place.kind = VM_PMU_PLACE_KIND_CHANNEL;
  place.signal = VM_PMU_SIGNAL_NEAR_MEMORY_READS;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, &umask) == VM_PMU_STATUS_ERROR_UNSUPPORTED && told("near_memory_reads"));
  EXPECT(number == 7 && select == 7 && umask == 7);
  place.signal = VM_PMU_SIGNAL_MEMORY_READS;
  place.controller = 2;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, &umask) == VM_PMU_STATUS_ERROR_UNSUPPORTED);
  place.controller = 0;
  place.kind = 2;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, &umask) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuPlaceKind"));
  place.kind = VM_PMU_PLACE_KIND_CHANNEL;
  place.signal = UINT32_MAX;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, &umask) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_box_of_place(NULL, &number, &select, &umask) == VM_PMU_STATUS_ERROR_ARGUMENT);
  place.signal = VM_PMU_SIGNAL_MEMORY_READS;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && number == 7);
  place.size = 8;
  EXPECT(vm_pmu_box_of_place(&place, &number, &select, &umask) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuPlace)"));
}

static void misuse(void) {
  VmPmuCompanion *companion = NULL;
  bool answer;
  EXPECT_OK(vm_pmu_companion_create("k8", NULL, &companion));
  EXPECT(vm_pmu_companion_watch_places(NULL, true) == VM_PMU_STATUS_ERROR_ARGUMENT && told("companion"));
  EXPECT(vm_pmu_companion_has_places(NULL, &answer) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_has_places(companion, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_take_places(NULL, never, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_take_places(companion, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("function"));
  EXPECT(vm_pmu_companion_has_interconnects(companion, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_companion_take_interconnects(companion, NULL, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT && told("function"));
  EXPECT(vm_pmu_companion_home(companion, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_follow_is_stale(companion, 1, &answer) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_follow_is_stale(companion, 0, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
}

int main(void) {
  a_device_reads_a_line_of_knights_landing();
  a_device_reads_sixteen_lines_of_power9();
  a_thread_reads_memory_of_the_other_chip();
  each_count_of_a_place_has_a_box();
  what_has_no_box_is_refused();
  misuse();
  puts("places: all is well");
  return 0;
}
