/* The device tree nodes of POWER9's monitors are passed to functions of this program, which write them as text. */
#include <string.h>

#include "expect.h"

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

/* The written text: a line for each node and property, in order. */
struct text {
  char lines[1 << 20];
  size_t length;
  int depth, calls, most;
};

static struct text text;

static bool goes_on(struct text *text) { return ++text->calls <= text->most; }

static void line(struct text *text, const char *name, const char *rest) {
  int length = snprintf(text->lines + text->length, sizeof text->lines - text->length, "%*s%s%s\n", 2 * text->depth, "", name, rest);
  EXPECT(length > 0 && text->length + (size_t)length < sizeof text->lines);
  text->length += (size_t)length;
}

static bool begin_node(void *user, const char *name) {
  struct text *text = user;
  if (!goes_on(text)) return false;
  line(text, name, " {");
  text->depth++;
  return true;
}

/* A value is written as its bytes. */
static bool property(void *user, const char *name, const uint8_t *value, size_t length) {
  struct text *text = user;
  char bytes[1024] = "";
  if (!goes_on(text)) return false;
  EXPECT(3 * length + 2 < sizeof bytes);
  for (size_t place = 0; place < length; place++) sprintf(bytes + 3 * place, " %02x", value[place]);
  line(text, name, bytes);
  return true;
}

static bool end_node(void *user) {
  struct text *text = user;
  if (!goes_on(text)) return false;
  text->depth--;
  EXPECT(text->depth >= 0);
  line(text, "}", "");
  return true;
}

static const VmPmuTreeWriter writer = {sizeof(VmPmuTreeWriter), &text, begin_node, property, end_node};

static void anew(int most) {
  text.length = 0;
  text.lines[0] = 0;
  text.depth = text.calls = 0;
  text.most = most;
}

static bool has(const char *lines) { return strstr(text.lines, lines) != NULL; }

static VmPmuPlatform *platform_of(uint64_t home) {
  VmPmuChip first = {.size = sizeof(VmPmuChip)}, second = {.size = sizeof(VmPmuChip)};
  const VmPmuChip *chips[] = {&first, &second};
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuPlatform *platform = NULL;
  first.home = home;
  second.home = UINT64_C(0x123456700000);
  second.id = 8;
  options.chips = chips;
  options.chip_count = 2;
  EXPECT_OK(vm_pmu_platform_create(&options, &platform));
  return platform;
}

/* The interconnect: the same properties as from firmware, in the same order. */
static void nodes_of_the_nest_are_handed_over(void) {
  VmPmuPlatform *platform = platform_of(0x400000);
  VmPmuCounterNodes nodes = {.size = sizeof(VmPmuCounterNodes)};
  uint32_t next = 0;
  uint64_t address, bytes;
  anew(1 << 20);
  nodes.first_phandle = 0x50;
  EXPECT_OK(vm_pmu_tree_counters(platform, &nodes, &writer, &next));
  EXPECT(text.depth == 0 && next > 0x50);
  EXPECT(strncmp(text.lines, "imc-counters {\n", 15) == 0);
  EXPECT(has("  #address-cells 00 00 00 01\n  #size-cells 00 00 00 01\n  version-id 00 00 00 20\n"));
  EXPECT(has("  powerbus0-events {\n    #address-cells 00 00 00 01\n    #size-cells 00 00 00 01\n    phandle 00 00 00 50\n"));
  /* PM_PB_CYC at 80h, and the unit at 8. */
  EXPECT(has("    event@78 {\n      event-name 43 59 43 00\n      reg 00 00 00 78 00 00 00 08\n      desc "));
  EXPECT(has("  powerbus0@8 {\n"
             "    compatible 69 62 6d 2c 69 6d 63 2d 63 6f 75 6e 74 65 72 73 00\n" /* ibm,imc-counters */
             "    events-prefix 50 4d 5f 50 42 5f 00\n"                             /* PM_PB_ */
             "    scale 32 35 36 00\n"
             "    reg 00 00 00 08 00 00 00 08\n"
             "    events 00 00 00 50\n"
             "    type 00 00 00 10\n"
             "    size 00 04 00 00\n"
             "    offset 00 18 00 00\n"
             "    cb_offset 00 03 fc 00\n"
             "    base-addr 00 00 00 00 00 40 00 00 00 00 12 34 56 70 00 00\n"
             "    chip-id 00 00 00 00 00 00 00 08\n"
             "  }\n"));
  EXPECT(!has("_flexible") && !has("core@") && !has("thread@"));
  EXPECT_OK(vm_pmu_chip_region(platform, 8, &address, &bytes));
  EXPECT(address == UINT64_C(0x123456880000) && bytes == 0x40000);
  EXPECT(vm_pmu_chip_region(platform, 1, &address, &bytes) == VM_PMU_STATUS_ERROR_RANGE);
  EXPECT(vm_pmu_chip_region(platform, 8, NULL, &bytes) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_chip_region(platform, 8, &address, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT_OK(vm_pmu_platform_destroy(platform));
}

static void cores_threads_and_the_other_mode_are_asked_for(void) {
  VmPmuPlatform *platform = platform_of(0x400000);
  VmPmuCounterNodes nodes = {.size = sizeof(VmPmuCounterNodes)};
  uint32_t usual = 0, all = 0;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_counters(platform, NULL, &writer, &usual));
  EXPECT(has("  powerbus0-events {\n    #address-cells 00 00 00 01\n    #size-cells 00 00 00 01\n    phandle 00 00 00 01\n"));
  nodes.flags = VM_PMU_COUNTER_NODES_FLEXIBLE | VM_PMU_COUNTER_NODES_CORE | VM_PMU_COUNTER_NODES_THREAD;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_counters(platform, &nodes, &writer, &all));
  EXPECT(all > usual + 2 && has("powerbus0_flexible@"));
  EXPECT(has("  core@18 {\n") && has("    type 00 00 00 04\n"));
  EXPECT(has("  thread@18 {\n") && has("    type 00 00 00 01\n"));
  EXPECT_OK(vm_pmu_platform_destroy(platform));
}

static void a_catalogue_leaves_chips_to_firmware(void) {
  VmPmuCounterNodes nodes = {.size = sizeof(VmPmuCounterNodes)};
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_catalogue(NULL, &writer));
  /* Its content is in the root. */
  EXPECT(strncmp(text.lines, "compatible ", 11) == 0);
  EXPECT(has("\npowerbus0@8 {\n") && has("\nnx@1d8 {\n") && !has("base-addr") && !has("chip-id"));
  nodes.flags = VM_PMU_COUNTER_NODES_TOLD_BY_NEST;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_catalogue(&nodes, &writer));
  /* The first of the interconnect's events that it reports itself is PM_PB_CYC, at 80h; no memory controller has any. */
  EXPECT(has("\npowerbus0@80 {\n") && has("\nmba0@458 {\n") && !has("\nnx@") && !has("\nmcs01@"));
  nodes.flags = VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION | VM_PMU_COUNTER_NODES_TOLD_BY_NEST;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_catalogue(&nodes, &writer));
  EXPECT(has("\nmba0@448 {\n") && has("\nmcs01@c8 {\n") && !has("\nnx@"));
  nodes.first_phandle = 2;
  EXPECT(vm_pmu_tree_catalogue(&nodes, &writer) == VM_PMU_STATUS_ERROR_ARGUMENT && told("first_phandle"));
  nodes.first_phandle = 1;
  nodes.flags = 1u << 31;
  EXPECT(vm_pmu_tree_catalogue(&nodes, &writer) == VM_PMU_STATUS_ERROR_ARGUMENT && told("0x80000000"));
}

/* Events that are never reported are left out of a machine's own tree, too. */
static void only_what_is_told_is_described(void) {
  VmPmuPlatform *platform = platform_of(0x400000);
  VmPmuCounterNodes nodes = {.size = sizeof(VmPmuCounterNodes)};
  nodes.flags = VM_PMU_COUNTER_NODES_TOLD_BY_NEST;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_counters(platform, &nodes, &writer, NULL));
  EXPECT(has("  powerbus0@80 {\n") && !has("  mcs01@"));
  EXPECT_OK(vm_pmu_platform_destroy(platform));
}

static void the_pmu_of_the_core_is_described(void) {
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_performance_monitor(&writer));
  EXPECT(VM_PMU_TREE_ISA == 0xBB8);
  EXPECT(strcmp(text.lines, "performance-monitor-power9 {\n"
                            "  isa 00 00 0b b8\n"
                            "  usable-privilege 00 00 00 06\n"
                            "  hv-support 00 00 00 00\n"
                            "  os-support 00 00 00 00\n"
                            "}\n") == 0);
  anew(1 << 20);
  EXPECT_OK(vm_pmu_tree_cpu_version(&writer, 0x004E1202));
  EXPECT(strcmp(text.lines, "cpu-version 00 4e 12 02\n") == 0);
}

/* Nothing follows, whichever function stops. */
static void a_function_that_asks_to_stop_is_heard(void) {
  for (int most = 0; most < 6; most++) {
    anew(most);
    EXPECT(vm_pmu_tree_performance_monitor(&writer) == VM_PMU_STATUS_ERROR_STOPPED && told("false"));
    EXPECT(text.calls == most + 1);
  }
  anew(6);
  EXPECT_OK(vm_pmu_tree_performance_monitor(&writer));
  EXPECT(text.calls == 6);
}

static void what_cannot_be_described_writes_nothing(void) {
  VmPmuPlatform *askew = platform_of(0x1238), *platform = platform_of(0);
  VmPmuPlatformOptions options = {.size = sizeof(VmPmuPlatformOptions)};
  VmPmuPlatform *none = NULL;
  VmPmuCounterNodes nodes = {.size = sizeof(VmPmuCounterNodes)};
  VmPmuTreeWriter without = writer;
  uint32_t next = 7;
  anew(1 << 20);
  EXPECT_OK(vm_pmu_platform_create(&options, &none));
  EXPECT(vm_pmu_tree_counters(askew, NULL, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("1 MiB"));
  EXPECT(vm_pmu_tree_counters(none, NULL, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("no chip"));
  nodes.first_phandle = UINT32_MAX;
  EXPECT(vm_pmu_tree_counters(platform, &nodes, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("phandles"));
  nodes.first_phandle = 0;
  nodes.flags = 1u << 6;
  EXPECT(vm_pmu_tree_counters(platform, &nodes, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("flags 0x40"));
  nodes.size = 4;
  EXPECT(vm_pmu_tree_counters(platform, &nodes, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuCounterNodes)"));
  EXPECT(vm_pmu_tree_counters(NULL, NULL, &writer, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("platform"));
  EXPECT(vm_pmu_tree_counters(platform, NULL, NULL, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("VmPmuTreeWriter"));
  without.property = NULL;
  EXPECT(vm_pmu_tree_counters(platform, NULL, &without, &next) == VM_PMU_STATUS_ERROR_ARGUMENT && told("property"));
  EXPECT(vm_pmu_tree_performance_monitor(&without) == VM_PMU_STATUS_ERROR_ARGUMENT && told("property"));
  EXPECT(vm_pmu_tree_cpu_version(&writer, 0x0F000005) == VM_PMU_STATUS_ERROR_ARGUMENT && told("POWER9"));
  EXPECT(text.calls == 0 && next == 7);
  EXPECT_OK(vm_pmu_platform_destroy(askew));
  EXPECT_OK(vm_pmu_platform_destroy(platform));
  EXPECT_OK(vm_pmu_platform_destroy(none));
}

int main(void) {
  nodes_of_the_nest_are_handed_over();
  cores_threads_and_the_other_mode_are_asked_for();
  a_catalogue_leaves_chips_to_firmware();
  only_what_is_told_is_described();
  the_pmu_of_the_core_is_described();
  a_function_that_asks_to_stop_is_heard();
  what_cannot_be_described_writes_nothing();
  puts("tree: all is well");
  return 0;
}
