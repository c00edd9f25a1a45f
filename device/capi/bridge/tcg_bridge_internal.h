/*
 * What the files of the bridge share. Hosts need tcg_bridge.h alone.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_INTERNAL_H
#define TCG_BRIDGE_INTERNAL_H

#include "tcg_bridge.h"

#include <stdatomic.h>

/* The most signals of TcgBridgeOptions::with_cycles, and of single. */
#define TCG_BRIDGE_MOST_CLOCKS 4
#define TCG_BRIDGE_MOST_SINGLE 32

/*
 * POWER9 records taken branches whenever it may alert, so Linux would have every branch of a guest recorded that counts anything. Few guests ever
 * look: they are recorded for those that do, from the first clrbhrb or mfbhrbe on. When an alert has come or recording has ended so often without
 * another, nobody looks any more. A guest that looks with each alert has one a period, and Linux stops its counters now and then between.
 */
#define TCG_BRIDGE_HISTORY_PATIENCE 8

/* The records that nobody but the companion tells. */
#define TCG_BRIDGE_COMPANION_RECORDS (VM_PMU_RECORDS_REQUESTS | VM_PMU_RECORDS_SAMPLED_OUTCOMES)

/* The units of boxes that count what the companion makes. */
#define TCG_BRIDGE_UNITS 4

/* What boxes beside the CPUs have the companion asked for: tcg_bridge_boxes.c, which not every host has. */
typedef struct TcgBridgeBoxes {
  /* Everything is about to be saved, and has been loaded. */
  void (*save)(TcgBridge *bridge);
  void (*load)(TcgBridge *bridge);
  /* The CPU's follower is about to be renewed, and has followed an instruction. */
  void (*renew)(TcgBridgeCpu *cpu);
  void (*followed)(TcgBridgeCpu *cpu);
} TcgBridgeBoxes;

struct TcgBridge {
  VmPmuMachine *machine;
  TcgBridgeHost host;
  void *user;
  TcgBridgeCpu *cpus;
  uint32_t cpu_count;
  /* The part's local APIC sets the mask of its entry when it delivers by it. */
  bool masks_entry;
  /* The signal that the countdown counts in its low bits; 0 for none. */
  uint32_t paired_signal;
  /* Cycles, and the signals that grow with them. */
  uint32_t clocks[1 + TCG_BRIDGE_MOST_CLOCKS];
  uint32_t clock_count;
  /* What blocks add beside, or must once they are retranslated; taken together for all CPUs, as they may share blocks. */
  uint64_t wanted[VM_PMU_SIGNAL_WORDS];
  uint64_t records;
  /* The records that the host tells. */
  uint32_t tells;
  VmPmuCompanion *companion;
  /* Null for none, and what they listen to: not 0 while all CPUs are followed for them. */
  const TcgBridgeBoxes *boxes;
  uint64_t listens;
  /* The first of each unit whose boxes may listen. */
  uint32_t first_boxes[TCG_BRIDGE_UNITS];
  /* The host keeps the clock. */
  bool keeps_clock;
  /* What the companion makes, and what of it the host does not count: instructions are followed for the latter. */
  uint64_t made[VM_PMU_SIGNAL_WORDS];
  uint64_t made_alone[VM_PMU_SIGNAL_WORDS];
  /* The demand of each CPU when it was looked at last. Only with `renewing` held, which is for as long as that takes. */
  VmPmuDemand *demands;
  atomic_flag renewing;
};

/* ---- tcg_bridge.c ---- */

/* The countdown goes on to the horizon. Nothing but `open` instructions has been taken off and not been added. */
void tcg_bridge_fill(TcgBridgeCpu *cpu, uint64_t open);
/* Serves deadlines that have been reached. */
void tcg_bridge_serve(TcgBridgeCpu *cpu);
/* Tells the context as it is now. */
void tcg_bridge_tell_context(TcgBridgeCpu *cpu);
/* The PMU remembers something else than before, and no context that was told. */
void tcg_bridge_sync_all(TcgBridgeCpu *cpu);

/* ---- tcg_bridge_demand.c ---- */

/* What of its instructions the CPU's PMU has to be told from now on. Returns whether that has changed. */
bool tcg_bridge_choose(TcgBridgeCpu *cpu);
/* The same, and lets the host know. */
void tcg_bridge_choose_again(TcgBridgeCpu *cpu);
/* The CPU's PMU, or another of its package, wants something else of it from now on. */
void tcg_bridge_renew(TcgBridgeCpu *cpu);
/* Lets the other CPUs know that this one has changed what is wanted of them. */
void tcg_bridge_kick_others(TcgBridgeCpu *cpu);

static inline void tcg_bridge_renew_if_changed(TcgBridgeCpu *cpu) {
  if (vm_pmu_epoch_of(&cpu->cells) != cpu->demand.epoch) tcg_bridge_renew(cpu);
  if (cpu->heard != VM_PMU_LOAD(&cpu->bridge->listens)) tcg_bridge_choose_again(cpu);
}

#endif
