/*
 * A bridge records what is done with its PMUs, with what its CPU has executed but not yet reported: tcg_bridge_recording.c.
 */
#include "expect.h"
#include "tcg_bridge_recording.h"

#include <string.h>

#define PERF_EVT_SEL0 0xC0010000
/* RETIRED_INSTRUCTIONS, OS, EN. */
#define INSTRUCTIONS 0x4200C0

static uint32_t context(void *user, uint32_t cpu, VmPmuContext *context) {
  (void)user, (void)cpu, (void)context;
  return 0;
}

int main(void) {
  TcgBridgeOptions options;
  TcgBridgeException exception;
  VmPmuRecording *recording;
  const char *text;
  char copy[8192];
  size_t length;
  uint64_t left_out = 7, checked = 0;
  bool is_cut = true;
  memset(&options, 0, sizeof options);
  options.part = "k8";
  options.host.context = context;
  TcgBridge *bridge = tcg_bridge_create(&options, NULL, 0);
  EXPECT(bridge != NULL);
  TcgBridgeCpu *cpu = tcg_bridge_cpu(bridge, 0);
  EXPECT(tcg_bridge_stop_recording(bridge) == NULL);

  EXPECT(tcg_bridge_start_recording(bridge, 100));
  tcg_bridge_context(cpu, 0);
  EXPECT(tcg_bridge_write(cpu, VM_PMU_SPACE_MSR, PERF_EVT_SEL0, INSTRUCTIONS, &exception) == TCG_BRIDGE_DONE);
  tcg_bridge_open(cpu);
  /* The write has changed what blocks must count. */
  tcg_bridge_poll_interrupt(cpu);
  EXPECT(tcg_bridge_slow(cpu, 5) == TCG_BRIDGE_GO);
  *cpu->countdown -= tcg_bridge_takes(5, 0);
  recording = tcg_bridge_stop_recording(bridge);
  EXPECT(recording != NULL);
  EXPECT_OK(vm_pmu_recording_text(recording, &text, &length, &left_out, &is_cut));
  EXPECT(left_out == 0 && !is_cut && length < sizeof copy);
  memcpy(copy, text, length);
  copy[length] = 0;

  /* The instruction that starts the counter is the first that it counts; the block has five more. */
  EXPECT(strstr(copy, "write PerfEvtSel0 0x4200c0\n") != NULL);
  EXPECT(strstr(copy, "read PerfCtr0 = 0x6\n") != NULL);
  EXPECT_OK(vm_pmu_litmus_run(text, length, &checked));
  EXPECT(checked > 1);
  EXPECT_OK(vm_pmu_recording_destroy(recording));
  tcg_bridge_destroy(bridge);
  puts("bridge recording: all is well");
  return 0;
}
