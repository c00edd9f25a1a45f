/*
 * Declarations that the files of the bridge share. Hosts need only tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_INTERNAL_H
#define TCG_BRIDGE_INTERNAL_H

#include "tcg_bridge.h"

#include <vm_pmu_posting.h>

#include <stdatomic.h>

/* The largest numbers of signals in TcgBridgeOptions::with_cycles and single. */
#define TCG_BRIDGE_MOST_CLOCKS 4
#define TCG_BRIDGE_MOST_SINGLE 64

/*
 * POWER9 records taken branches whenever it may alert, so with Linux every branch of a guest that counts anything would be recorded. Few
 * guests ever read the history. Branches are recorded only from the first clrbhrb or mfbhrbe on, until this many alerts or ends of
 * recording have occurred without another such access. A guest that reads the history at each alert has one access per alert, although
 * Linux sometimes stops its counters in between.
 */
#define TCG_BRIDGE_HISTORY_PATIENCE 8

/*
 * A guest that counts more events than it has counters takes turns, and scales what it has counted by time. A followed CPU executes far fewer
 * instructions in the same time, so turns in which it is followed and others would not be alike. Where it has been followed, it therefore stays
 * so for some turns, which last for some milliseconds each, unless nothing is counted for longer than a change of turns takes. In nanoseconds of
 * the guest's time.
 */
#define TCG_BRIDGE_STAYS_FOLLOWED 100000000
#define TCG_BRIDGE_CHANGE_OF_TURNS 1000000

/* The records that only the companion reports. */
#define TCG_BRIDGE_COMPANION_RECORDS (VM_PMU_RECORDS_REQUESTS | VM_PMU_RECORDS_NESTED | VM_PMU_RECORDS_SAMPLED_OUTCOMES)

/* The number of kinds of boxes that count what the companion supplies. */
#define TCG_BRIDGE_UNITS 4

/* What counters outside of cores demand of the companion: what memory does and what moves between caches and chips; and requests. */
#define TCG_BRIDGE_PLACES 1
#define TCG_BRIDGE_REQUESTS 2

/* The functions of tcg_bridge_boxes.c or tcg_bridge_nest.c, which not every host has. */
typedef struct TcgBridgeUncore {
  /* The state is about to be saved. */
  void (*save)(TcgBridge *bridge);
  /* The state has been loaded. */
  void (*load)(TcgBridge *bridge);
  /* Null, or: a device has read or written bytes of lines; bit 0 of `modified` is whether a tile had the first of them modified. */
  void (*device)(TcgBridge *bridge, const VmPmuDeviceRequest *request, uint64_t modified);
} TcgBridgeUncore;

struct TcgBridge {
  VmPmuMachine *machine;
  TcgBridgeHost host;
  void *user;
  TcgBridgeCpu *cpus;
  uint32_t cpu_count;
  /* The part's local APIC sets the mask of the entry when it delivers an interrupt. */
  bool masks_entry;
  /* The signal that the countdown counts in its low bits; 0 for none. */
  uint32_t paired_signal;
  /* The signals that grow with cycles. */
  uint32_t clocks[TCG_BRIDGE_MOST_CLOCKS];
  uint32_t clock_count;
  /* The signals that blocks add by code of their own, now or when they are retranslated. One set for all CPUs, as they may share blocks. */
  uint64_t wanted[VM_PMU_SIGNAL_WORDS];
  uint64_t records;
  /* The records that the host reports. */
  uint32_t supplied_records;
  VmPmuCompanion *companion;
  /* The counters outside of cores, null for none; and what they demand, TCG_BRIDGE_PLACES and ..._REQUESTS: not 0 while all CPUs are followed. */
  const TcgBridgeUncore *uncore;
  uint64_t uncore_demand;
  /* The number of the first box of each kind. */
  uint32_t first_boxes[TCG_BRIDGE_UNITS];
  /* The chips whose nests count, and what connects them to the companion. */
  const VmPmuPlatform *platform;
  VmPmuTraffic *traffic;
  /* How many CPUs are followed. */
  atomic_uint followed;
  /* The companion makes the cycles of CPUs that are followed. */
  bool is_timed;
  /* The signals that the companion supplies; and those of them that the host does not count, for which instructions are followed. */
  uint64_t companion_signals[VM_PMU_SIGNAL_WORDS];
  uint64_t companion_only[VM_PMU_SIGNAL_WORDS];
  /* The demand of each CPU when it was last read. To be used only while `renewing` is held. */
  VmPmuDemand *demands;
  atomic_flag renewing;
};

/* ---- tcg_bridge.c ---- */

/* Reads the context from the host, and reports it. */
void tcg_bridge_report_context(TcgBridgeCpu *cpu);
/* The PMU's state was replaced: it has no context that was reported before. */
void tcg_bridge_restored(TcgBridgeCpu *cpu);

/* ---- tcg_bridge_companion.c ---- */

/* The memory of a CPU's trace; false if there is none. */
bool tcg_bridge_trace_create(TcgBridgeCpu *cpu);
void tcg_bridge_trace_destroy(TcgBridgeCpu *cpu);
/* Drops what the trace has. */
void tcg_bridge_trace_clear(TcgBridgeCpu *cpu);
/* TcgBridgeCpu::following has changed. */
void tcg_bridge_trace_limit(TcgBridgeCpu *cpu);
/* Reports the trace, but for the last instruction of a block that was not left: that is being executed. */
void tcg_bridge_report_before_last(TcgBridgeCpu *cpu);

/* ---- tcg_bridge_demand.c ---- */

/* Decides from the demand whether the CPU's instructions are counted and followed. Returns whether that has changed. */
bool tcg_bridge_choose(TcgBridgeCpu *cpu);
/* The same, and notifies the host of a change. */
void tcg_bridge_choose_again(TcgBridgeCpu *cpu);
/* Reads the CPU's demand, which its PMU or another of its package has changed. */
void tcg_bridge_renew(TcgBridgeCpu *cpu);
/* Kicks all CPUs: what is demanded outside of cores has changed. */
void tcg_bridge_kick_all(TcgBridge *bridge);
/* Kicks the other CPUs whose demand this one has changed. */
void tcg_bridge_kick_others(TcgBridgeCpu *cpu);

/* Does so if it is necessary, and returns whether it was. */
static inline bool tcg_bridge_renew_if_changed(TcgBridgeCpu *cpu) {
  bool renews = vm_pmu_epoch_of(&cpu->cells) != cpu->demand.epoch, chooses = cpu->uncore_demand != VM_PMU_LOAD(&cpu->bridge->uncore_demand);
  if (renews) tcg_bridge_renew(cpu);
  if (chooses) tcg_bridge_choose_again(cpu);
  return renews || chooses;
}

#endif
