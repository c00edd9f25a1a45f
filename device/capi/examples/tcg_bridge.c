/*
 * What a dynamic translator needs between itself and vm_pmu.h: see tcg_bridge.h.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "tcg_bridge.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most signals of TcgBridgeOptions::with_cycles, and of single. */
#define MOST_CLOCKS 4
#define MOST_SINGLE 32

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
  uint32_t clocks[1 + MOST_CLOCKS];
  uint32_t clock_count;
  /* What blocks add beside, or must once they are retranslated; taken together for all CPUs, as they may share blocks. */
  uint64_t wanted[VM_PMU_SIGNAL_WORDS];
  uint64_t records;
  /* The records that the host tells. */
  uint32_t tells;
  VmPmuCompanion *companion;
  /* The host keeps the clock. */
  bool keeps_clock;
  /* What the companion makes, and what of it the host does not count: instructions are followed for the latter. */
  uint64_t made[VM_PMU_SIGNAL_WORDS];
  uint64_t made_alone[VM_PMU_SIGNAL_WORDS];
  /* The demand of each CPU when it was looked at last. Only with `renewing` held, which is for as long as that takes. */
  VmPmuDemand *demands;
  atomic_flag renewing;
};

/* Records of instructions that end their block, and of those that may be anywhere in it. */
#define LAST_RECORDS (VM_PMU_RECORDS_TAKEN_BRANCHES | VM_PMU_RECORDS_BRANCHES)
#define SINGLE_RECORDS (VM_PMU_RECORDS_MEMORY | VM_PMU_RECORDS_FETCHES | VM_PMU_RECORDS_EVERY)

#define PAIRED_MASK ((UINT64_C(1) << TCG_BRIDGE_SHIFT) - 1)
/* The most that the countdown is filled with: with 3 an instruction, the paired signal does not outgrow its bits. */
#define MOST_BUDGET (UINT64_C(1) << (TCG_BRIDGE_SHIFT - 2))

/* ---- A machine ---- */

static void raised(void *user, uint32_t thread, uint32_t counter) {
  TcgBridge *bridge = user;
  (void)counter;
  if (bridge->host.interrupt != NULL) bridge->host.interrupt(bridge->user, thread);
  VM_PMU_STORE(&bridge->cpus[thread].look, 1);
}

static void lines_changed(void *user, uint32_t thread, uint32_t levels) {
  TcgBridge *bridge = user;
  if (bridge->host.lines != NULL) bridge->host.lines(bridge->user, thread, levels);
  VM_PMU_STORE(&bridge->cpus[thread].look, 1);
}

static void was_late(void *user, uint32_t thread, uint64_t events) {
  TcgBridge *bridge = user;
  if (bridge->host.late != NULL) bridge->host.late(bridge->user, thread, events);
}

/* Whether anything of what somebody wants must be counted or told. */
static bool counts(const TcgBridge *bridge, const VmPmuDemand *demand) {
  uint64_t any = demand->records & bridge->tells;
  uint32_t word;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) any |= demand->signals[word];
  return any != 0;
}

/*
 * POWER9 records taken branches whenever it may alert, so Linux would have every branch of a guest recorded that counts anything. Few guests ever
 * look: they are recorded for those that do, from the first clrbhrb or mfbhrbe on. When recording has ended so often without another, nobody looks any
 * more. A guest that looks with each alert has one a period, and Linux stops its counters now and then between.
 */
#define HISTORY_PATIENCE 8

/* Whether the companion must be told each instruction. */
static bool follows(const TcgBridge *bridge, const VmPmuDemand *demand, bool history) {
  uint32_t records = VM_PMU_RECORDS_REQUESTS | (history ? VM_PMU_RECORDS_TAKEN_BRANCHES : 0);
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

/* What of its instructions the CPU's PMU has to be told from now on. Returns whether that has changed. */
static bool choose(TcgBridgeCpu *cpu) {
  const TcgBridge *bridge = cpu->bridge;
  uint32_t counting = counts(bridge, &cpu->demand), following = follows(bridge, &cpu->demand, cpu->history != 0), followed = cpu->following;
  bool changed = counting != cpu->counting || following != cpu->following;
  uint32_t recorded = cpu->demand.records & VM_PMU_RECORDS_TAKEN_BRANCHES;
  if (cpu->recorded != 0 && recorded == 0 && cpu->history != 0) cpu->history -= 1;
  cpu->recorded = recorded;
  cpu->counting = counting;
  cpu->following = following;
  cpu->sums = !following && note_apart(cpu);
  if (!following) cpu->begun = 0;
  cpu->line = UINT64_MAX;
  cpu->skips = bridge->keeps_clock && !vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_INSTRUCTION_FETCHES) &&
               (cpu->demand.records & SINGLE_RECORDS) == 0;
  if (followed || following) vm_pmu_follow_renew(bridge->companion, bridge->machine, cpu->number, NULL);
  return changed;
}

/* ---- The countdown ---- */

static void add_cycles(TcgBridgeCpu *cpu, uint64_t cycles) {
  uint32_t clock;
  for (clock = 0; clock < cpu->bridge->clock_count; clock++) vm_pmu_add(&cpu->cells, cpu->bridge->clocks[clock], cycles);
}

static void add_executed(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t paired) {
  if (cpu->bridge->paired_signal != 0) vm_pmu_add(&cpu->cells, cpu->bridge->paired_signal, paired);
  vm_pmu_add(&cpu->cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
  add_cycles(cpu, instructions);
}

/* How many instructions have been taken off the countdown, of which `left` is left, and are neither in the totals nor in those of a stay. */
static uint64_t taken_off(const TcgBridgeCpu *cpu, uint64_t left) {
  return (cpu->filled >> TCG_BRIDGE_SHIFT) - (uint64_t)((int64_t)left >> TCG_BRIDGE_SHIFT);
}

/*
 * What was executed in a stay that the PMU was not told goes to that stay, but for the last `open` instructions, which add nothing to the paired signal. What
 * blocks have added to totals is taken out again. Nobody else counts that: contexts add up only where all counters are the thread's own.
 */
static void keep_apart(TcgBridgeCpu *cpu, uint64_t open) {
  TcgBridgeStay *stay = &cpu->stays[cpu->stay];
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  uint32_t number;
  stay->instructions += taken_off(cpu, left) - open;
  stay->paired += left & PAIRED_MASK;
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
  for (number = 0; number < cpu->apart_count; number++) {
    uint64_t *total = cpu->totals + cpu->apart[number];
    stay->apart[number] += VM_PMU_LOAD(total) - cpu->base[number];
    VM_PMU_STORE(total, cpu->base[number]);
  }
}

static bool has_kept(const TcgBridgeCpu *cpu, const TcgBridgeStay *stay) {
  uint64_t any = stay->instructions | stay->paired;
  uint32_t number;
  for (number = 0; number < cpu->apart_count; number++) any |= stay->apart[number];
  return any != 0;
}

static void add_kept(TcgBridgeCpu *cpu, TcgBridgeStay *stay) {
  uint32_t number;
  add_executed(cpu, stay->instructions, stay->paired);
  stay->instructions = 0;
  stay->paired = 0;
  for (number = 0; number < cpu->apart_count; number++) {
    vm_pmu_add(&cpu->cells, cpu->apart[number], stay->apart[number]);
    stay->apart[number] = 0;
  }
}

/* Tells the PMU the contexts that it was not told, with what was executed in each. The present one comes last. */
static void tell_stays(TcgBridgeCpu *cpu) {
  uint32_t number;
  cpu->postponed = 0;
  for (number = 1; number <= cpu->stay_count; number++) {
    uint32_t index = (cpu->stay + number) % cpu->stay_count;
    TcgBridgeStay *stay = &cpu->stays[index];
    if (!has_kept(cpu, stay) && index != cpu->stay) continue;
    if (index != cpu->told_stay) {
      cpu->told_stay = index;
      cpu->context = stay->context;
      vm_pmu_set_context(cpu->bridge->machine, cpu->number, &cpu->context);
    }
    add_kept(cpu, stay);
  }
}

/* The same where the PMU knows the context: what was executed goes to the totals. */
static void add_taken_off(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  if (left == cpu->filled) return;
  add_executed(cpu, taken_off(cpu, left) - open, left & PAIRED_MASK);
  left &= ~PAIRED_MASK;
  VM_PMU_STORE(cpu->countdown, left);
  cpu->filled = left + (open << TCG_BRIDGE_SHIFT);
}

/* Adds what has been taken off to the totals, but for the last `open` instructions, which add nothing to the paired signal. Returns how many those are. */
static uint64_t settle(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t taken = taken_off(cpu, VM_PMU_LOAD(cpu->countdown));
  if (open > taken) open = taken;
  if (cpu->stay != cpu->told_stay) {
    keep_apart(cpu, open);
  } else {
    add_taken_off(cpu, open);
  }
  if (cpu->postponed) tell_stays(cpu);
  return open;
}

/* The countdown goes on to the horizon. Nothing but `open` instructions has been taken off and not been added. */
static void fill(TcgBridgeCpu *cpu, uint64_t open) {
  uint64_t room = vm_pmu_room(&cpu->cells);
  room = room > open ? room - open : 0;
  /* The block that comes to a deadline is executed as one of its own: its last instruction is the one whose record is wanted. */
  if (room != 0 && (cpu->demand.records & cpu->bridge->tells & VM_PMU_RECORDS_AT_DEADLINE) != 0) room -= 1;
  if (room > MOST_BUDGET) room = MOST_BUDGET;
  VM_PMU_STORE(cpu->countdown, room << TCG_BRIDGE_SHIFT);
  cpu->filled = (room + open) << TCG_BRIDGE_SHIFT;
}

static TcgBridge *refuse(TcgBridge *bridge, char *why, size_t why_size, const char *reason) {
  if (why_size > 0) snprintf(why, why_size, "%s", reason);
  tcg_bridge_destroy(bridge);
  return NULL;
}

static void insert(uint64_t set[VM_PMU_SIGNAL_WORDS], uint32_t signal) { set[signal / 64] |= UINT64_C(1) << (signal % 64); }

/* Makes the companion. Adds what it makes to the `count` signals at `supplied`. False if it cannot be made. */
static bool accompany(TcgBridge *bridge, const TcgBridgeOptions *options, uint32_t *supplied, uint32_t *count) {
  VmPmuCompanionOptions companion = *options->companion;
  uint32_t made[64 * VM_PMU_SIGNAL_WORDS];
  uint32_t number, made_count = 0;
  companion.packages = options->packages;
  companion.threads = options->threads;
  bridge->keeps_clock = companion.clock == VM_PMU_CLOCK_OWNER_EMBEDDER;
  if (vm_pmu_companion_create(options->part, &companion, &bridge->companion) != VM_PMU_STATUS_OK ||
      vm_pmu_companion_supplied(options->part, companion.clock, made, 64 * VM_PMU_SIGNAL_WORDS, &made_count) != VM_PMU_STATUS_OK) {
    return false;
  }
  for (number = 0; number < made_count; number++) {
    insert(bridge->made, made[number]);
    insert(bridge->made_alone, made[number]);
    if (*count != 0) supplied[(*count)++] = made[number];
  }
  for (number = 0; number < options->supplied_count; number++) {
    bridge->made_alone[supplied[number] / 64] &= ~(UINT64_C(1) << (supplied[number] % 64));
  }
  return true;
}

TcgBridge *tcg_bridge_create(const TcgBridgeOptions *options, char *why, size_t why_size) {
  VmPmuOptions machine = {sizeof(VmPmuOptions)};
  TcgBridge *bridge;
  uint32_t packages, number;
  char reason[200];
  uint32_t single[1 + MOST_CLOCKS + MOST_SINGLE] = {VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED};
  uint32_t supplied[2 * 64 * VM_PMU_SIGNAL_WORDS], supplied_count = options->supplied_count;
  if (options->with_cycles_count > MOST_CLOCKS) return refuse(NULL, why, why_size, "with_cycles_count is more than 4");
  if (supplied_count > 64 * VM_PMU_SIGNAL_WORDS) return refuse(NULL, why, why_size, "supplied_count is more than there are signals");
  for (number = 0; number < supplied_count; number++) {
    supplied[number] = options->supplied[number];
    if (supplied[number] >= 64 * VM_PMU_SIGNAL_WORDS) return refuse(NULL, why, why_size, "supplied has a number that no signal has");
  }
  if (options->single_count > MOST_SINGLE) return refuse(NULL, why, why_size, "single_count is more than 32");
  for (number = 0; number < options->with_cycles_count; number++) single[1 + number] = options->with_cycles[number];
  for (number = 0; number < options->single_count; number++) single[1 + options->with_cycles_count + number] = options->single[number];
  if (vm_pmu_abi() != VM_PMU_ABI) return refuse(NULL, why, why_size, "libvm_pmu has another interface than vm_pmu.h: compile again");
  if (options->host.context == NULL) return refuse(NULL, why, why_size, "TcgBridgeHost::context is null: it must be a function");
  bridge = calloc(1, sizeof *bridge);
  if (bridge == NULL) return refuse(NULL, why, why_size, "there is no memory for the bridge");
  atomic_flag_clear(&bridge->renewing);
  bridge->host = options->host;
  bridge->user = options->user;
  bridge->paired_signal = options->paired_signal;
  bridge->clocks[0] = VM_PMU_SIGNAL_CYCLES;
  for (number = 0; number < options->with_cycles_count; number++) bridge->clocks[1 + number] = options->with_cycles[number];
  bridge->clock_count = 1 + options->with_cycles_count;
  if (options->host.record != NULL) bridge->tells = options->records != 0 ? options->records : UINT32_MAX;
  bridge->masks_entry = options->part != NULL && strcmp(options->part, "knl") == 0;

  if (options->companion != NULL && !accompany(bridge, options, supplied, &supplied_count)) {
    vm_pmu_last_error(reason, sizeof reason);
    return refuse(bridge, why, why_size, reason);
  }
  machine.revision = options->revision;
  machine.packages = options->packages;
  machine.threads = options->threads;
  machine.pace_signal = VM_PMU_SIGNAL_CYCLES;
  machine.pace_most = options->most != 0 ? options->most : 4;
  machine.pace_single = single;
  machine.pace_single_count = 1 + options->with_cycles_count + options->single_count;
  machine.supplied = supplied;
  machine.supplied_count = supplied_count;
  machine.records = options->host.record != NULL ? options->records : VM_PMU_RECORDS_NEVER;
  /* Requests are told by the companion itself. */
  if (options->companion != NULL && machine.records != 0) {
    machine.records = (options->host.record != NULL ? options->records : 0) | VM_PMU_RECORDS_REQUESTS;
  }
  machine.user = bridge;
  machine.raise = raised;
  machine.lines = lines_changed;
  machine.late = was_late;
  if (vm_pmu_machine_create(options->part, &machine, &bridge->machine) != VM_PMU_STATUS_OK ||
      vm_pmu_machine_shape(bridge->machine, &packages, &bridge->cpu_count, NULL) != VM_PMU_STATUS_OK) {
    vm_pmu_last_error(reason, sizeof reason);
    return refuse(bridge, why, why_size, reason);
  }
  bridge->cpus = calloc(bridge->cpu_count, sizeof *bridge->cpus);
  bridge->demands = calloc(bridge->cpu_count, sizeof *bridge->demands);
  if (bridge->cpus == NULL || bridge->demands == NULL) return refuse(bridge, why, why_size, "there is no memory for the CPUs");
  for (number = 0; number < bridge->cpu_count; number++) {
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    cpu->bridge = bridge;
    cpu->number = number;
    cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
    cpu->cells.size = sizeof cpu->cells;
    cpu->demand.size = sizeof cpu->demand;
    vm_pmu_cells(bridge->machine, number, &cpu->cells);
    vm_pmu_demand(bridge->machine, number, &cpu->demand);
    bridge->demands[number] = cpu->demand;
    cpu->totals = cpu->cells.totals;
    cpu->countdown = &cpu->own;
    choose(cpu);
    fill(cpu, 0);
  }
  for (number = 1; number < bridge->clock_count; number++) {
    if (bridge->clocks[number] >= bridge->cpus->cells.signals) return refuse(bridge, why, why_size, "with_cycles has a number that no signal has");
  }
  if (bridge->paired_signal >= bridge->cpus->cells.signals) {
    return refuse(bridge, why, why_size, "paired_signal is a number that no signal has");
  }
  return bridge;
}

void tcg_bridge_destroy(TcgBridge *bridge) {
  if (bridge == NULL) return;
  vm_pmu_companion_destroy(bridge->companion);
  vm_pmu_machine_destroy(bridge->machine);
  free(bridge->demands);
  free(bridge->cpus);
  free(bridge);
}

TcgBridgeCpu *tcg_bridge_cpu(TcgBridge *bridge, uint32_t number) { return number < bridge->cpu_count ? &bridge->cpus[number] : NULL; }

VmPmuMachine *tcg_bridge_machine(TcgBridge *bridge) { return bridge->machine; }

VmPmuCompanion *tcg_bridge_companion(TcgBridge *bridge) { return bridge->companion; }

void tcg_bridge_place(TcgBridgeCpu *cpu, uint64_t *countdown) {
  VM_PMU_STORE(countdown, VM_PMU_LOAD(cpu->countdown));
  cpu->countdown = countdown;
}

/* ---- Demand ---- */

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

static void tell_context(TcgBridgeCpu *cpu);

static void choose_again(TcgBridgeCpu *cpu) {
  if (!choose(cpu)) return;
  VM_PMU_STORE(&cpu->look, 1);
  if (cpu->bridge->host.counting != NULL) cpu->bridge->host.counting(cpu->bridge->user, cpu->number);
}

/* What this CPU's PMU, or another of its package, wants of it from now on. */
static void renew_if_changed(TcgBridgeCpu *cpu) {
  bool ticked = vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS);
  if (vm_pmu_epoch_of(&cpu->cells) == cpu->demand.epoch) return;
  vm_pmu_demand(cpu->bridge->machine, cpu->number, &cpu->demand);
  /* A host need not know the time base as long as nothing follows it. */
  if (!ticked && vm_pmu_wants(&cpu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS)) tell_context(cpu);
  renew(cpu->bridge, cpu, false);
  choose_again(cpu);
}

/* Lets the other CPUs know that this one has changed what is wanted of them. */
static void kick_others(TcgBridgeCpu *cpu) {
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

/* ---- Blocks ---- */

void tcg_bridge_block_begin(TcgBridgeBlock *block) { memset(block, 0, sizeof *block); }

void tcg_bridge_block_instruction(TcgBridgeBlock *block) {
  block->instructions += 1;
  block->takes += UINT64_C(1) << TCG_BRIDGE_SHIFT;
}

bool tcg_bridge_block_paired(TcgBridgeBlock *block, uint32_t amount) {
  TcgBridgePart part = {block->instructions - 1, amount};
  if (block->part_count == block->part_capacity) {
    uint32_t capacity = block->part_capacity != 0 ? 2 * block->part_capacity : 16;
    TcgBridgePart *parts = realloc(block->parts, capacity * sizeof *parts);
    if (parts == NULL) return false;
    block->parts = parts;
    block->part_capacity = capacity;
  }
  block->parts[block->part_count++] = part;
  block->takes -= amount;
  return true;
}

void tcg_bridge_block_free(TcgBridgeBlock *block) {
  free(block->parts);
  memset(block, 0, sizeof *block);
}

/* ---- Execution ---- */

/* Whether two contexts may add up: they differ in nothing but what decides which counters count. */
static bool are_alike(const VmPmuContext *one, const VmPmuContext *other) {
  return one->flags == other->flags && one->control == other->control && one->time_base == other->time_base;
}

/*
 * The PMU is told, or knows already, that the CPU is in this context now. Others that it was told before are kept, unless this is another one of the same
 * key: then something has changed that the key does not say, and perhaps for them too.
 */
static void remember(TcgBridgeCpu *cpu, const VmPmuContext *context) {
  uint32_t index;
  for (index = 0; index < cpu->stay_count && cpu->stays[index].key != cpu->key; index++) {
  }
  if (index < cpu->stay_count) {
    const VmPmuContext *known = &cpu->stays[index].context;
    uint64_t other = (known->machine_state ^ context->machine_state) & vm_pmu_sensitivity(&cpu->cells);
    if (known->privilege != context->privilege || other != 0) index = cpu->stay_count = 0;
  }
  if (index == TCG_BRIDGE_STAYS || cpu->key == TCG_BRIDGE_KEY_UNKNOWN || !are_alike(&cpu->stays[0].context, context)) index = cpu->stay_count = 0;
  cpu->stay = cpu->told_stay = index;
  if (index < cpu->stay_count) return;
  cpu->stays[index].key = cpu->key;
  cpu->stays[index].context = *context;
  memset(cpu->stays[index].apart, 0, sizeof cpu->stays[index].apart);
  cpu->stays[index].instructions = 0;
  cpu->stays[index].paired = 0;
  cpu->stay_count = index + 1;
}

/* A register has been written, or something was told: contexts told before may not be what they were. */
static void forget_stays(TcgBridgeCpu *cpu) {
  cpu->stay_count = 0;
  remember(cpu, &cpu->context);
}

static void tell_context(TcgBridgeCpu *cpu) {
  VmPmuContext context = {sizeof(VmPmuContext)}, *told = &cpu->context;
  cpu->key = cpu->bridge->host.context(cpu->bridge->user, cpu->number, &context);
  remember(cpu, &context);
  /* Field by field, as they have just been written: comparing more at once would wait for those stores. */
  if (context.privilege == told->privilege && context.flags == told->flags && context.machine_state == told->machine_state &&
      context.control == told->control && context.time_base == told->time_base && context.size == told->size) {
    return;
  }
  *told = context;
  vm_pmu_set_context(cpu->bridge->machine, cpu->number, &context);
}

bool tcg_bridge_reached(const TcgBridgeCpu *cpu) {
  uint32_t word, signal;
  for (word = 0; word < VM_PMU_SIGNAL_WORDS; word++) {
    uint64_t left = cpu->demand.signals[word];
    for (signal = 64 * word; left != 0; signal++, left >>= 1) {
      if ((left & 1) != 0 && vm_pmu_reached(&cpu->cells, signal)) return true;
    }
  }
  return false;
}

/* Tells the instruction that was completed last, once, if it came to a deadline: after its signals, before the deadline is served. */
static void tell_record(TcgBridgeCpu *cpu) {
  VmPmuRecord record = {sizeof(VmPmuRecord)};
  uint64_t completed = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  bool news = completed != cpu->told;
  cpu->told = completed;
  if (!news || (cpu->demand.records & cpu->bridge->tells & VM_PMU_RECORDS_AT_DEADLINE) == 0 || !tcg_bridge_reached(cpu)) return;
  if (cpu->bridge->host.record(cpu->bridge->user, cpu->number, &record)) vm_pmu_record(cpu->bridge->machine, cpu->number, &record);
}

static void serve(TcgBridgeCpu *cpu) {
  if (!vm_pmu_due(&cpu->cells)) return;
  tell_record(cpu);
  vm_pmu_check(cpu->bridge->machine, cpu->number);
}

static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint32_t instructions) {
  uint64_t room, budget;
  settle(cpu, 0);
  serve(cpu);
  renew_if_changed(cpu);
  fill(cpu, 0);
  if (tcg_bridge_look(cpu)) return TCG_BRIDGE_LOOK;
  budget = cpu->filled >> TCG_BRIDGE_SHIFT;
  if (instructions <= budget) return TCG_BRIDGE_GO;
  /* A deadline that is there already waits for one more instruction: single cycles are looked at by executing single instructions. */
  room = vm_pmu_room(&cpu->cells);
  if (room == 0) room = 1;
  room = least(least(room, instructions), MOST_BUDGET);
  if (room > budget) {
    cpu->filled = room << TCG_BRIDGE_SHIFT;
    VM_PMU_STORE(cpu->countdown, cpu->filled);
  }
  return room;
}

/* The CPU goes on in a context that the PMU was told already, if it may be told so later. */
static bool postpone(TcgBridgeCpu *cpu, uint32_t key) {
  uint32_t index, number;
  if (!cpu->sums || !vm_pmu_contexts_add_up(&cpu->cells) || cpu->stays[cpu->stay].key != cpu->key) return false;
  for (index = 0; index < cpu->stay_count; index++) {
    if (cpu->stays[index].key != key) continue;
    if (cpu->stay != cpu->told_stay) {
      keep_apart(cpu, 0);
    } else {
      add_taken_off(cpu, 0);
    }
    for (number = 0; number < cpu->apart_count; number++) cpu->base[number] = VM_PMU_LOAD(cpu->totals + cpu->apart[number]);
    cpu->postponed = 1;
    cpu->stay = index;
    cpu->key = key;
    return true;
  }
  return false;
}

bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key) {
  if (key == cpu->key || !cpu->counting) return false;
  if (cpu->key != TCG_BRIDGE_KEY_UNKNOWN && vm_pmu_sensitivity(&cpu->cells) == 0) {
    cpu->key = key; /* nothing depends on it: what is asked of the PMU next tells the context before */
  } else if (!postpone(cpu, key)) {
    tcg_bridge_sync(cpu);
  }
  return VM_PMU_LOAD(&cpu->look) != 0;
}

bool tcg_bridge_look(TcgBridgeCpu *cpu) {
  bool look = VM_PMU_LOAD(&cpu->look) != 0;
  if (look) VM_PMU_STORE(&cpu->look, 0);
  return look;
}

void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  uint32_t part;
  left += (uint64_t)(block->instructions - executed) << TCG_BRIDGE_SHIFT;
  for (part = block->part_count; part != 0 && block->parts[part - 1].instruction >= executed; part--) {
    left -= block->parts[part - 1].amount;
  }
  VM_PMU_STORE(cpu->countdown, left);
}

void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint64_t takes, uint32_t instructions) {
  uint64_t paired = -takes & PAIRED_MASK;
  uint64_t left = VM_PMU_LOAD(cpu->countdown);
  /* What has been settled meanwhile, and is open no longer, cannot be taken back. */
  uint64_t taken = taken_off(cpu, left);
  if (instructions == 0 || taken == 0) return;
  VM_PMU_STORE(cpu->countdown, left - paired + (least(instructions, taken) << TCG_BRIDGE_SHIFT));
}

void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record) {
  settle(cpu, 0);
  record->size = sizeof *record;
  vm_pmu_record(cpu->bridge->machine, cpu->number, record);
  cpu->told = VM_PMU_LOAD(cpu->totals + VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED);
  renew_if_changed(cpu);
  fill(cpu, 0);
}

void tcg_bridge_open(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  fill(cpu, 1);
}

void tcg_bridge_settle(TcgBridgeCpu *cpu) { settle(cpu, 0); }

void tcg_bridge_resume(TcgBridgeCpu *cpu) {
  forget_stays(cpu);
  serve(cpu);
  renew_if_changed(cpu);
  fill(cpu, 0);
  if (VM_PMU_LOAD(&cpu->look) == 0) return;
  cpu->filled = 0;
  VM_PMU_STORE(cpu->countdown, 0);
}

void tcg_bridge_sync(TcgBridgeCpu *cpu) {
  settle(cpu, 0);
  serve(cpu);
  tell_context(cpu);
  renew_if_changed(cpu);
  fill(cpu, 0);
}

/* ---- Registers ---- */

static TcgBridgeAnswer answer(VmPmuStatus status, uint32_t space, TcgBridgeException *exception) {
  exception->vector = 0;
  exception->code = 0;
  if (status == VM_PMU_STATUS_OK) return TCG_BRIDGE_DONE;
  switch (status) {
  case VM_PMU_STATUS_FAULT_NO_OPERATION: return TCG_BRIDGE_NOTHING;
  case VM_PMU_STATUS_FAULT_GENERAL_PROTECTION: exception->vector = 13; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_PERFORMANCE_MONITOR: exception->vector = 0xF60, exception->code = 3; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_BRANCH_HISTORY: exception->vector = 0xF60, exception->code = 4; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_FACILITY_EVENT_BASED_BRANCH: exception->vector = 0xF60, exception->code = 7; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_PERFORMANCE_MONITOR: exception->vector = 0xF80, exception->code = 3; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_BRANCH_HISTORY: exception->vector = 0xF80, exception->code = 4; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_EVENT_BASED_BRANCH: exception->vector = 0xF80, exception->code = 7; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_EMULATION_ASSISTANCE: exception->vector = 0xE40; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_PRIVILEGED_INSTRUCTION: exception->vector = 0x700; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_PRIVILEGED_OPERATION: exception->vector = 0x5400, exception->code = 0x10; return TCG_BRIDGE_RAISE;
  case VM_PMU_STATUS_FAULT_RESERVED_REGISTER_FIELD: exception->vector = 0x5400, exception->code = 0x30; return TCG_BRIDGE_RAISE;
  default: break;
  }
  /* Unclaimed; or misuse, as a register of another architecture is. */
  if (status <= VM_PMU_STATUS_FAULT_UNCLAIMED) return TCG_BRIDGE_NOT_OURS;
  /* A fault of a later library. */
  if (space == VM_PMU_SPACE_MSR || space == VM_PMU_SPACE_RDPMC) {
    exception->vector = 13;
  } else if (space <= VM_PMU_SPACE_IMC) {
    exception->vector = 0xE40;
  } else {
    exception->vector = 0x5400, exception->code = 0x30;
  }
  return TCG_BRIDGE_RAISE;
}

/* One access, a write if `read` is null, between what is before the accessing instruction and that instruction itself. */
static VmPmuStatus access_register(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *read, uint64_t value) {
  const VmPmuMachine *machine = cpu->bridge->machine;
  uint64_t open = settle(cpu, 1);
  VmPmuStatus status;
  tell_context(cpu);
  if (read != NULL) {
    status = vm_pmu_read(machine, cpu->number, space, number, read);
  } else {
    status = vm_pmu_write(machine, cpu->number, space, number, value);
    forget_stays(cpu);
  }
  renew_if_changed(cpu);
  if (space == VM_PMU_SPACE_BHRB && status == VM_PMU_STATUS_OK) {
    cpu->history = HISTORY_PATIENCE;
    choose_again(cpu);
  }
  fill(cpu, open);
  return status;
}

TcgBridgeAnswer tcg_bridge_read(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception) {
  return answer(access_register(cpu, space, number, value, 0), space, exception);
}

TcgBridgeAnswer tcg_bridge_write(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception) {
  VmPmuStatus status = access_register(cpu, space, number, NULL, value);
  if (status == VM_PMU_STATUS_OK) kick_others(cpu);
  return answer(status, space, exception);
}

/* The PMU remembers something else than before, and no context that was told. */
static void tell_anew(TcgBridgeCpu *cpu) {
  memset(&cpu->context, 0, sizeof cpu->context);
  cpu->key = TCG_BRIDGE_KEY_UNKNOWN;
  cpu->stay_count = 0;
  cpu->begun = 0;
  cpu->line = UINT64_MAX;
  if (cpu->bridge->companion != NULL) vm_pmu_follow_renew(cpu->bridge->companion, cpu->bridge->machine, cpu->number, NULL);
  renew_if_changed(cpu);
  fill(cpu, 0);
}

void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm) {
  settle(cpu, 0);
  vm_pmu_reset(cpu->bridge->machine, cpu->number, warm);
  tell_anew(cpu);
  kick_others(cpu);
}

/* ---- Interrupts ---- */

TcgBridgeDelivery tcg_bridge_lvt(const TcgBridge *bridge, uint32_t *entry, bool software_enabled, uint8_t *vector) {
  uint32_t was = *entry, mode = was >> 8 & 7;
  if (!software_enabled || (was >> 16 & 1) != 0) return TCG_BRIDGE_DELIVER_NOTHING;
  if (bridge->masks_entry) *entry |= UINT32_C(1) << 16;
  *vector = (uint8_t)was;
  if (mode == 4) return TCG_BRIDGE_DELIVER_NMI;
  return mode == 0 && *vector >= 16 ? TCG_BRIDGE_DELIVER_VECTOR : TCG_BRIDGE_DELIVER_NOTHING;
}

bool tcg_bridge_pmv(uint64_t pmv, uint8_t *vector) {
  *vector = (uint8_t)pmv;
  return (pmv >> 16 & 1) == 0;
}

void tcg_bridge_taken(TcgBridgeCpu *cpu, bool hardware) {
  if (!cpu->counting) return;
  settle(cpu, 0);
  /* A deadline that the last instruction has come to is served before anything else happens. */
  serve(cpu);
  if (cpu->key == TCG_BRIDGE_KEY_UNKNOWN) tell_context(cpu); /* it was halted, and is no longer */
  tcg_bridge_count(cpu, hardware ? VM_PMU_SIGNAL_INTERRUPTS_TAKEN : VM_PMU_SIGNAL_EXCEPTIONS_TAKEN, 1);
  add_cycles(cpu, 1);
  serve(cpu);
  renew_if_changed(cpu);
  fill(cpu, 0);
}

/* ---- Halting ---- */

uint64_t tcg_bridge_sleep(TcgBridgeCpu *cpu, const uint32_t *signals, uint32_t count) {
  uint64_t nearest = VM_PMU_NEVER;
  uint32_t index;
  for (index = 0; index < count; index++) {
    uint64_t deadline = VM_PMU_LOAD(cpu->cells.deadlines + signals[index]);
    uint64_t total = VM_PMU_LOAD(cpu->totals + signals[index]);
    if (deadline != VM_PMU_NEVER) nearest = least(nearest, deadline > total ? deadline - total : 0);
  }
  return nearest;
}

void tcg_bridge_pass(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count) {
  settle(cpu, 0);
  vm_pmu_pass(cpu->bridge->machine, cpu->number, cycles, signals, count);
  renew_if_changed(cpu);
  fill(cpu, 0);
}

/* ---- Saving ---- */

/* Behind the bytes of the machine are those of the companion, if there is one; before both, how many the machine has, lowest byte first. */
#define LENGTH_BYTES 8

uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length) {
  VmPmuSnapshot *machine = NULL, *companion = NULL;
  const uint8_t *bytes = NULL, *more = NULL;
  size_t more_length = 0;
  uint8_t *copy = NULL;
  uint32_t number;
  for (number = 0; number < bridge->cpu_count; number++) {
    settle(&bridge->cpus[number], 0);
    serve(&bridge->cpus[number]);
    fill(&bridge->cpus[number], 0);
  }
  if (vm_pmu_save(bridge->machine, &machine) == VM_PMU_STATUS_OK && vm_pmu_snapshot_bytes(machine, &bytes, length) == VM_PMU_STATUS_OK &&
      (bridge->companion == NULL || (vm_pmu_companion_save(bridge->companion, &companion) == VM_PMU_STATUS_OK &&
                                     vm_pmu_snapshot_bytes(companion, &more, &more_length) == VM_PMU_STATUS_OK))) {
    copy = malloc(LENGTH_BYTES + *length + more_length);
  }
  if (copy != NULL) {
    for (number = 0; number < LENGTH_BYTES; number++) copy[number] = (uint8_t)((uint64_t)*length >> 8 * number);
    memcpy(copy + LENGTH_BYTES, bytes, *length);
    if (more_length != 0) memcpy(copy + LENGTH_BYTES + *length, more, more_length);
    *length += LENGTH_BYTES + more_length;
  }
  vm_pmu_snapshot_destroy(companion);
  vm_pmu_snapshot_destroy(machine);
  return copy;
}

bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length) {
  uint64_t machine = 0;
  uint32_t number;
  if (length < LENGTH_BYTES) return false;
  for (number = 0; number < LENGTH_BYTES; number++) machine |= (uint64_t)bytes[number] << 8 * number;
  bytes += LENGTH_BYTES;
  length -= LENGTH_BYTES;
  if (machine > length || (machine == length) != (bridge->companion == NULL)) return false;
  if (vm_pmu_load(bridge->machine, bytes, (size_t)machine) != VM_PMU_STATUS_OK) return false;
  if (bridge->companion != NULL) vm_pmu_companion_load(bridge->companion, bytes + machine, length - (size_t)machine);
  for (number = 0; number < bridge->cpu_count; number++) {
    TcgBridgeCpu *cpu = &bridge->cpus[number];
    uint32_t levels = 0;
    settle(cpu, 0);
    tell_anew(cpu);
    vm_pmu_lines(bridge->machine, number, &levels);
    lines_changed(bridge, number, levels);
  }
  return true;
}
