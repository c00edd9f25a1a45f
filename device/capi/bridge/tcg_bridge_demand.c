/*
 * The PMUs' demands on translated code: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge_internal.h"

#include <string.h>

/* Records of instructions that end their block, and of instructions anywhere in it. */
#define LAST_RECORDS (VM_PMU_RECORDS_TAKEN_BRANCHES | VM_PMU_RECORDS_BRANCHES)
#define SINGLE_RECORDS (VM_PMU_RECORDS_MEMORY | VM_PMU_RECORDS_FETCHES | VM_PMU_RECORDS_EVERY)

/* Whether anything in the demand must be counted or reported. */
static bool counts(const TcgBridge *bridge, const VmPmuDemand *demand) {
  uint64_t any = demand->records & bridge->supplied_records;
  uint32_t word;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) any |= demand->signals[word];
  return any != 0;
}

static bool has(const uint64_t set[VM_PMU_SIGNAL_WORDS], uint32_t signal) { return (set[signal / 64] >> (signal % 64) & 1) != 0; }

/* Whether blocks need separate code to add a signal. */
static bool is_separate(const TcgBridge *bridge, uint32_t signal) {
  uint32_t clock;
  if (has(bridge->companion_only, signal) || signal == VM_PMU_SIGNAL_CYCLES) return false;
  for (clock = 0; clock < bridge->clock_count; clock++) {
    if (bridge->clocks[clock] == signal) return false;
  }
  return signal != VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED && signal != bridge->paired_signal;
}

/* Whether a signal is demanded that grows as cycles do. */
static bool counts_clocks(const TcgBridge *bridge, const VmPmuDemand *demand) {
  uint32_t clock;
  for (clock = 0; clock < bridge->clock_count; clock++) {
    if (has(demand->signals, bridge->clocks[clock])) return true;
  }
  return false;
}

/* Adds to `needed` what is demanded and only the companion makes. Returns whether there is anything. */
static bool add_needed(const TcgBridge *bridge, const VmPmuDemand *demand, uint64_t needed[VM_PMU_SIGNAL_WORDS]) {
  uint64_t any = demand->records & TCG_BRIDGE_COMPANION_RECORDS;
  uint32_t word;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    any |= demand->signals[word] & bridge->companion_only[word];
    needed[word] |= demand->signals[word] & bridge->companion_only[word];
  }
  if (bridge->is_timed && counts_clocks(bridge, demand)) {
    needed[VM_PMU_SIGNAL_CYCLES / 64] |= UINT64_C(1) << VM_PMU_SIGNAL_CYCLES % 64;
    any = 1;
  }
  return any != 0;
}

/* Keeps in mind what turns need. Returns the signals for which the CPU is followed now, in addition to what is demanded. */
static const uint64_t *needed_in_turns(TcgBridgeCpu *cpu) {
  static const uint64_t none[VM_PMU_SIGNAL_WORDS];
  const TcgBridge *bridge = cpu->bridge;
  uint64_t now = bridge->host.clock != NULL ? bridge->host.clock(bridge->user) : 0;
  if (cpu->counting) cpu->counted_at = now;
  if (bridge->host.clock == NULL || now - cpu->counted_at > TCG_BRIDGE_CHANGE_OF_TURNS || now - cpu->needed_at >= TCG_BRIDGE_STAYS_FOLLOWED) {
    cpu->needed_at = 0;
    memset(cpu->needed, 0, sizeof cpu->needed);
  }
  cpu->stays_followed = 0;
  if (add_needed(bridge, &cpu->demand, cpu->needed)) {
    cpu->needed_at = now;
    return cpu->needed;
  }
  cpu->stays_followed = cpu->needed_at != 0 && counts(bridge, &cpu->demand);
  return cpu->stays_followed ? cpu->needed : none;
}

bool tcg_bridge_choose(TcgBridgeCpu *cpu) {
  TcgBridge *bridge = cpu->bridge;
  uint32_t branches = cpu->demand.records & VM_PMU_RECORDS_TAKEN_BRANCHES, followed = cpu->following, counted = cpu->counting;
  bool following = false, blocks = false;
  cpu->uncore_demand = VM_PMU_LOAD(&bridge->uncore_demand);
  if (bridge->companion != NULL) {
    vm_pmu_cpu_leave_out(cpu->cpu, cpu->history_patience != 0 ? 0 : VM_PMU_RECORDS_TAKEN_BRANCHES);
    vm_pmu_cpu_follow_for(cpu->cpu, bridge->companion_only, TCG_BRIDGE_COMPANION_RECORDS | VM_PMU_RECORDS_TAKEN_BRANCHES);
    vm_pmu_cpu_watch(cpu->cpu, needed_in_turns(cpu), (cpu->uncore_demand & TCG_BRIDGE_REQUESTS) != 0 ? VM_PMU_RECORDS_REQUESTS : 0);
  }
  vm_pmu_cpu_sync(cpu->cpu);
  vm_pmu_cpu_is_followed(cpu->cpu, &following);
  vm_pmu_cpu_traces_blocks(cpu->cpu, &blocks);
  if (cpu->records_branches != 0 && branches == 0 && cpu->history_patience != 0) cpu->history_patience -= 1;
  cpu->records_branches = branches;
  cpu->following = !following ? TCG_BRIDGE_FOLLOWS_NOTHING : blocks ? TCG_BRIDGE_FOLLOWS_BLOCKS : TCG_BRIDGE_FOLLOWS_INSTRUCTIONS;
  if ((cpu->following == TCG_BRIDGE_FOLLOWS_NOTHING) != (followed == TCG_BRIDGE_FOLLOWS_NOTHING)) {
    atomic_fetch_add(&bridge->followed, following ? 1u : -1u);
  }
  cpu->counting = following || counts(bridge, &cpu->demand);
  tcg_bridge_trace_limit(cpu);
  return cpu->counting != counted || cpu->following != followed;
}

/* Adds the signals and records of `demand` that need code in blocks. */
static void join(const TcgBridge *bridge, const VmPmuDemand *demand, uint64_t wanted[VM_PMU_SIGNAL_WORDS], uint64_t *records) {
  uint32_t word, signal;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t left = demand->signals[word];
    for (signal = 64 * word; left != 0; signal++, left >>= 1) {
      if ((left & 1) != 0 && is_separate(bridge, signal)) wanted[word] |= UINT64_C(1) << (signal % 64);
    }
  }
  *records |= demand->records & bridge->supplied_records & (LAST_RECORDS | SINGLE_RECORDS);
}

/*
 * Reads the demand of every CPU whose demand has changed. That of `own`, unless it is null, has just been read. What is no longer demanded
 * is kept, unless `forget`.
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
    for (number = 0; number < bridge->cpu_count; number++) VM_PMU_STORE(&bridge->cpus[number].check_needed, 1);
  }
}

void tcg_bridge_choose_again(TcgBridgeCpu *cpu) {
  if (!tcg_bridge_choose(cpu)) return;
  VM_PMU_STORE(&cpu->check_needed, 1);
  if (cpu->bridge->host.counting != NULL) cpu->bridge->host.counting(cpu->bridge->user, cpu->number);
}

void tcg_bridge_renew(TcgBridgeCpu *cpu) {
  bool ticked = vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS);
  vm_pmu_demand(cpu->bridge->machine, cpu->number, &cpu->demand);
  /* A host need not keep the time base as long as nothing follows it. */
  if (!ticked && vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS)) tcg_bridge_report_context(cpu);
  renew(cpu->bridge, cpu, false);
  tcg_bridge_choose_again(cpu);
}

void tcg_bridge_kick_all(TcgBridge *bridge) {
  uint32_t number;
  for (number = 0; bridge->host.kick != NULL && number < bridge->cpu_count; number++) bridge->host.kick(bridge->user, number);
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
  return signal < 64 * VM_PMU_SIGNAL_WORDS && has(bridge->companion_signals, signal);
}
