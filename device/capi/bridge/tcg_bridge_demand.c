/*
 * What the PMUs want of translated code: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

/* Records of instructions that end their block, and of those that may be anywhere in it. */
#define LAST_RECORDS (VM_PMU_RECORDS_TAKEN_BRANCHES | VM_PMU_RECORDS_BRANCHES)
#define SINGLE_RECORDS (VM_PMU_RECORDS_MEMORY | VM_PMU_RECORDS_FETCHES | VM_PMU_RECORDS_EVERY)

/* Whether anything of what somebody wants must be counted or told. */
static bool counts(const TcgBridge *bridge, const VmPmuDemand *demand) {
  uint64_t any = demand->records & bridge->tells;
  uint32_t word;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) any |= demand->signals[word];
  return any != 0;
}

/* Whether the companion must be told each instruction. */
static bool follows(const TcgBridge *bridge, const VmPmuDemand *demand, bool history) {
  uint32_t records = TCG_BRIDGE_COMPANION_RECORDS | (history ? VM_PMU_RECORDS_TAKEN_BRANCHES : 0);
  uint64_t any = bridge->companion != NULL ? demand->records & records : 0;
  uint32_t word;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) any |= demand->signals[word] & bridge->made_alone[word];
  return any != 0;
}

static bool has(const uint64_t set[VM_PMU_SIGNAL_WORDS], uint32_t signal) { return (set[signal / 64] >> (signal % 64) & 1) != 0; }

/* Whether blocks add a signal by code of its own. */
static bool is_apart(const TcgBridge *bridge, uint32_t signal) {
  uint32_t clock;
  if (has(bridge->made_alone, signal)) return false;
  for (clock = 0; clock < bridge->clock_count; clock++) {
    if (bridge->clocks[clock] == signal) return false;
  }
  return signal != VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED && signal != bridge->paired_signal;
}

/* Notes what is wanted of blocks beside the countdown. False if it is too much. Interrupts and exceptions are the bridge's own. */
static bool note_apart(TcgBridgeCpu *cpu) {
  uint32_t word, signal;
  cpu->apart_count = 0;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t left = cpu->demand.signals[word];
    for (signal = 64 * word; left != 0; signal++, left >>= 1) {
      bool own = signal == VM_PMU_SIGNAL_INTERRUPTS_TAKEN || signal == VM_PMU_SIGNAL_EXCEPTIONS_TAKEN;
      if ((left & 1) == 0 || own || !is_apart(cpu->bridge, signal)) continue;
      if (cpu->apart_count == TCG_BRIDGE_APART) return false;
      cpu->apart[cpu->apart_count++] = signal;
    }
  }
  return true;
}

bool tcg_bridge_choose(TcgBridgeCpu *cpu) {
  const TcgBridge *bridge = cpu->bridge;
  uint64_t heard = VM_PMU_LOAD(&bridge->listens);
  uint32_t following = heard != 0 || follows(bridge, &cpu->demand, cpu->history != 0), followed = cpu->following;
  uint32_t counting = following || counts(bridge, &cpu->demand);
  bool changed = counting != cpu->counting || following != cpu->following;
  uint32_t recorded = cpu->demand.records & VM_PMU_RECORDS_TAKEN_BRANCHES;
  if (cpu->recorded != 0 && recorded == 0 && cpu->history != 0) cpu->history -= 1;
  cpu->recorded = recorded;
  cpu->heard = heard;
  cpu->counting = counting;
  cpu->following = following;
  cpu->sums = !following && note_apart(cpu);
  if (!following) cpu->begun = 0;
  cpu->line = UINT64_MAX;
  cpu->skips = bridge->keeps_clock && !vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_INSTRUCTION_FETCHES) &&
               (cpu->demand.records & SINGLE_RECORDS) == 0;
  if (followed || following) {
    if (bridge->boxes != NULL) bridge->boxes->renew(cpu);
    vm_pmu_follow_sync(bridge->companion, bridge->machine, cpu->number, NULL);
  }
  return changed;
}

/* What `demand` wants of the blocks beside the countdown. */
static void join(const TcgBridge *bridge, const VmPmuDemand *demand, uint64_t wanted[VM_PMU_SIGNAL_WORDS], uint64_t *records) {
  uint32_t word, signal;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t left = demand->signals[word];
    for (signal = 64 * word; left != 0; signal++, left >>= 1) {
      if ((left & 1) != 0 && is_apart(bridge, signal)) wanted[word] |= UINT64_C(1) << (signal % 64);
    }
  }
  *records |= demand->records & bridge->tells & (LAST_RECORDS | SINGLE_RECORDS);
}

/*
 * Looks at the demand of every CPU that has another; that of `own`, unless it is null, has just been looked at. What is no longer wanted stays,
 * unless it is to be forgotten.
 */
static void renew(TcgBridge *bridge, const TcgBridgeCpu *own, bool forget) {
  uint64_t wanted[VM_PMU_SIGNAL_WORDS] = {0};
  uint64_t records = 0;
  bool more = false;
  uint32_t number, word;
  while (atomic_flag_test_and_set_explicit(&bridge->renewing, memory_order_acquire)) {
  }
  for (number = 0; number < bridge->cpu_count; number++) {
    VmPmuDemand *demand = &bridge->demands[number];
    if (own == &bridge->cpus[number]) {
      *demand = own->demand;
    } else if (vm_pmu_epoch_of(&bridge->cpus[number].cells) != demand->epoch) {
      vm_pmu_demand(bridge->machine, number, demand);
    }
    join(bridge, demand, wanted, &records);
  }
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t before = VM_PMU_LOAD(&bridge->wanted[word]);
    more |= (wanted[word] & ~before) != 0;
    VM_PMU_STORE(&bridge->wanted[word], forget ? wanted[word] : before | wanted[word]);
  }
  more |= (records & ~VM_PMU_LOAD(&bridge->records)) != 0 || forget;
  VM_PMU_STORE(&bridge->records, forget ? records : records | VM_PMU_LOAD(&bridge->records));
  atomic_flag_clear_explicit(&bridge->renewing, memory_order_release);
  if (more && !forget) {
    if (bridge->host.retranslate != NULL) bridge->host.retranslate(bridge->user);
    for (number = 0; number < bridge->cpu_count; number++) VM_PMU_STORE(&bridge->cpus[number].look, 1);
  }
}

void tcg_bridge_choose_again(TcgBridgeCpu *cpu) {
  if (!tcg_bridge_choose(cpu)) return;
  VM_PMU_STORE(&cpu->look, 1);
  if (cpu->bridge->host.counting != NULL) cpu->bridge->host.counting(cpu->bridge->user, cpu->number);
}

void tcg_bridge_renew(TcgBridgeCpu *cpu) {
  bool ticked = vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS);
  vm_pmu_demand(cpu->bridge->machine, cpu->number, &cpu->demand);
  /* A host need not know the time base as long as nothing follows it. */
  if (!ticked && vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS)) tcg_bridge_tell_context(cpu);
  renew(cpu->bridge, cpu, false);
  tcg_bridge_choose_again(cpu);
}

void tcg_bridge_kick_others(TcgBridgeCpu *cpu) {
  TcgBridge *bridge = cpu->bridge;
  uint32_t number;
  for (number = 0; bridge->host.kick != NULL && number < bridge->cpu_count; number++) {
    const TcgBridgeCpu *other = &bridge->cpus[number];
    if (other != cpu && vm_pmu_epoch_of(&other->cells) != VM_PMU_LOAD(&other->demand.epoch)) bridge->host.kick(bridge->user, number);
  }
}

void tcg_bridge_trim(TcgBridge *bridge) { renew(bridge, NULL, true); }

uint32_t tcg_bridge_limit(const TcgBridge *bridge) { return VM_PMU_LOAD(&bridge->records) & SINGLE_RECORDS ? 1 : UINT32_MAX; }

uint32_t tcg_bridge_records(const TcgBridge *bridge) { return (uint32_t)VM_PMU_LOAD(&bridge->records); }

bool tcg_bridge_wants(const TcgBridge *bridge, uint32_t signal) {
  return signal < 64 * VM_PMU_SIGNAL_WORDS && (VM_PMU_LOAD(&bridge->wanted[signal / 64]) >> (signal % 64) & 1) != 0;
}

bool tcg_bridge_follows(const TcgBridge *bridge, uint32_t signal) {
  return signal < 64 * VM_PMU_SIGNAL_WORDS && has(bridge->made, signal);
}
