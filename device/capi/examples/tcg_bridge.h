/*
 * What a dynamic translator, or any emulator in C or C++, needs between itself and vm_pmu.h. Copy tcg_bridge.h and tcg_bridge.c into the
 * emulator's tree; the book has a chapter each on QEMU, Bochs, gem5 and Ski.
 *
 * How counting works here
 *
 * A block of guest instructions is translated once and executed often, and may be left in its middle by a fault. So what a block adds is
 * *opened* at its entry, and added to the totals later, at the next entry or whenever somebody looks: whoever leaves a block in its
 * middle corrects what is open, and nothing ever has to be taken out of a total. All comparisons are at the entry too:
 *
 *     entry:  totals[n] += open[n]                        for each signal that is summed
 *             totals[pace] + cost > *horizon, or the context's key another?  then call tcg_bridge_slow() and do as it says
 *             open[n] = what this block adds
 *
 * tcg_bridge_enter() is that in C; a translator emits the same loads, additions and stores, relative to its TcgBridgeCpu.
 *
 * A deadline within a block is met by executing less of it: tcg_bridge_slow() returns how much. So an overflow comes at its very
 * instruction, however long blocks are.
 *
 * Rules for the host
 *
 * - One TcgBridgeCpu a virtual CPU, used on one host thread at a time. Different ones may be used at once.
 * - An instruction that reads or writes registers of the PMU ends its block, and so does one that changes the key of the context.
 * - A block ends at every control transfer, and where tcg_bridge_limit() says.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_H
#define TCG_BRIDGE_H

#include <vm_pmu.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most signals that are summed by blocks, the first two among them. */
#define TCG_BRIDGE_SLOTS 16
/* The slot of the pace: what blocks cost in it, cycles. */
#define TCG_BRIDGE_SLOT_PACE 0
/* The slot of retired instructions. */
#define TCG_BRIDGE_SLOT_INSTRUCTIONS 1

/* tcg_bridge_enter(): the whole block may be executed. */
#define TCG_BRIDGE_GO UINT64_MAX
/* tcg_bridge_enter(): nothing of it, before the host has looked at its interrupts and at whether the block is still valid. */
#define TCG_BRIDGE_LOOK 0

/* A key that no block has: whatever comes next tells the context. */
#define TCG_BRIDGE_KEY_UNKNOWN UINT32_MAX

typedef struct TcgBridge TcgBridge;

/* What the bridge asks of the host. `user` is TcgBridgeOptions::user. Each of them may be null, except `context`. */
typedef struct TcgBridgeHost {
  /*
   * The state of CPU `cpu` as it is now: fill in all but `size`. On the thread of that CPU. Returns the key of the blocks that may be
   * executed in this state: any number that differs where what filters does. On x86 that is the CPL. A halted CPU executes none: its
   * key is TCG_BRIDGE_KEY_UNKNOWN.
   */
  uint32_t (*context)(void *user, uint32_t cpu, VmPmuContext *context);
  /* CPU `cpu` gets one overflow interrupt: x86 by tcg_bridge_lvt(), IA-64 by tcg_bridge_pmv(). Perhaps on another CPU's thread. */
  void (*interrupt)(void *user, uint32_t cpu);
  /* POWER: the requests of CPU `cpu` that stay are now `levels`, VM_PMU_LINE_... Perhaps on another CPU's thread. */
  void (*lines)(void *user, uint32_t cpu, uint32_t levels);
  /*
   * Translated blocks do not add everything that is wanted now: throw all of them away before the next is executed. On the thread of some
   * CPU. Blocks that add too much are kept: guests stop and start their counters all the time.
   */
  void (*retranslate)(void *user);
  /*
   * Fill in all but `size` of the last instruction that CPU `cpu` has completed, and return true; or return false. If it is null, no
   * records are told, and none hold up execution.
   */
  bool (*record)(void *user, uint32_t cpu, VmPmuRecord *record);
  /* An interrupt was due `events` events ago: for the host's log. */
  void (*late)(void *user, uint32_t cpu, uint64_t events);
} TcgBridgeHost;

/* How a bridge is made. Zero is the usual. */
typedef struct TcgBridgeOptions {
  /* "k8", "knl", "power9", "itanium", "montecito". */
  const char *part;
  /* Its revision, or null. */
  const char *revision;
  /* Packages, and threads a package; 0 is one. CPU n is thread n. */
  uint32_t packages;
  uint32_t threads;
  /* The most that any signal grows in one cycle; 0 is 4. */
  uint32_t most;
  /* The cycles of an instruction that accesses the PMU; 0 is 1. */
  uint32_t access_cycles;
  /* Signals beside cycles and instructions whose sum in a block is known when it is translated; up to TCG_BRIDGE_SLOTS - 2. */
  const uint32_t *sums;
  uint32_t sum_count;
  /*
   * The kinds of records that TcgBridgeHost::record is called for, VM_PMU_RECORDS_...; 0 is all. The others are not told, and do not hold
   * up execution: with VM_PMU_RECORDS_AT_DEADLINE alone no entry of a block is slow for the sake of records, and none is told of branches.
   */
  uint32_t records;
  /* Handed to the host's functions. */
  void *user;
  TcgBridgeHost host;
} TcgBridgeOptions;

/* One virtual CPU. Generated code uses the fields up to `open`, by offsetof; those of all CPUs lie alike. */
typedef struct TcgBridgeCpu {
  /* The cells of its totals: that of signal n is totals[n]. */
  uint64_t *totals;
  /* The total of the pace before which no deadline can come. Load it anew each time. */
  const uint64_t *horizon;
  /* Not 0 when the host should look at interrupts and translated blocks before it goes on: tcg_bridge_look(). */
  uint64_t look;
  /* The key of the context that the PMU was told last. */
  uint32_t key;
  /* Which CPU it is. */
  uint32_t number;
  /* What the block that is being executed adds, by slot. */
  uint64_t open[TCG_BRIDGE_SLOTS];
  /* What follows is the bridge's. */
  VmPmuCells cells;
  VmPmuDemand demand;
  TcgBridge *bridge;
  uint64_t told;
} TcgBridgeCpu;

/* What one instruction of a block adds to one slot. */
typedef struct TcgBridgePart {
  uint32_t instruction;
  uint32_t slot;
  uint64_t amount;
} TcgBridgePart;

/* What is known of a block when it is translated. */
typedef struct TcgBridgeBlock {
  /* What it adds in all, by slot; sums[TCG_BRIDGE_SLOT_PACE] is its cost. */
  uint64_t sums[TCG_BRIDGE_SLOTS];
  /* The slots that something counts, one bit each: what generated code deals with. */
  uint32_t slots;
  /* The key of the context that it was translated for. */
  uint32_t key;
  /* How many instructions it has. */
  uint32_t instructions;
  /* Not 0 if its entry always goes by tcg_bridge_slow(): tcg_bridge_always(). */
  uint32_t always;
  /* What each instruction adds; part_count of them, in memory of malloc(). */
  TcgBridgePart *parts;
  uint32_t part_count;
  uint32_t part_capacity;
} TcgBridgeBlock;

/* ---- A machine ---- */

/* Makes the PMUs of a machine. Null, and a line in `why`, if that cannot be; `why` may be null with `why_size` 0. */
TcgBridge *tcg_bridge_create(const TcgBridgeOptions *options, char *why, size_t why_size);
/* Gives everything up. No CPU runs. */
void tcg_bridge_destroy(TcgBridge *bridge);
/* CPU `number`; null if there is none. The address holds until tcg_bridge_destroy(). */
TcgBridgeCpu *tcg_bridge_cpu(TcgBridge *bridge, uint32_t number);
/* The machine behind it, for what vm_pmu.h has beside: boxes, injection, devices. */
VmPmuMachine *tcg_bridge_machine(TcgBridge *bridge);
/* Brings a CPU's PMU to its values after reset: warm is INIT, or a reset with the power on. */
void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm);

/* ---- When a block is translated ---- */

/* The most instructions that a block may have at the moment: 1 while single ones are asked for, else UINT32_MAX. */
uint32_t tcg_bridge_limit(const TcgBridge *bridge);
/*
 * Whether the entry of every block must go by tcg_bridge_slow(), so that the last instruction of the block before it can be told: branches,
 * or single instructions, are asked for.
 */
bool tcg_bridge_always(const TcgBridge *bridge);
/* Forgets what was wanted once and is no longer: for when all blocks are thrown away for a reason of the host's own. No CPU runs. */
void tcg_bridge_trim(TcgBridge *bridge);
/* Whether something counts a signal: else no code for it need be made. */
bool tcg_bridge_wants(const TcgBridge *bridge, uint32_t signal);
/* Begins to describe a block for contexts of this key. A block that was described before must have been given up. */
void tcg_bridge_block_begin(TcgBridgeBlock *block, const TcgBridge *bridge, uint32_t key);
/* The next instruction, which takes so many cycles. False if there is no memory. */
bool tcg_bridge_block_instruction(TcgBridgeBlock *block, uint64_t cycles);
/* The instruction adds `amount` to `signal`, one of TcgBridgeOptions::sums. What nothing counts is left out. False: there is no memory. */
bool tcg_bridge_block_add(TcgBridgeBlock *block, const TcgBridge *bridge, uint32_t signal, uint64_t amount);
/* How many of its first instructions cost no more than `room`; at least one. */
uint32_t tcg_bridge_block_fit(const TcgBridgeBlock *block, uint64_t room);
/* Gives the memory of a block's description up. */
void tcg_bridge_block_free(TcgBridgeBlock *block);
/* Calls `emit` for each slot that the generated code of the block's entry deals with: the signal's cell is totals[signal]. */
void tcg_bridge_block_emit(const TcgBridgeBlock *block, const TcgBridge *bridge, void *user,
                           void (*emit)(void *user, uint32_t slot, uint32_t signal, uint64_t amount));

/* ---- When it is executed ---- */

/*
 * What is to be done before a block, by tcg_bridge_enter(), when it does not simply fit: serves deadlines, tells the context. Everything
 * that was open has been added, and nothing is open. Returns TCG_BRIDGE_GO, TCG_BRIDGE_LOOK, or how many cycles there are until the
 * next deadline can come: execute as many of the block's instructions as cost no more, at least one, entered as a block of their own.
 */
uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint64_t cost, uint32_t instructions, uint32_t key);
/* The block was left after `executed` of its instructions: a fault, or an exit by a helper. Nothing else may have been entered since. */
void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed);
/* The same for a host whose blocks sum cycles and instructions only, a cycle each: the last `instructions` of them were not executed. */
void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint32_t instructions);
/* Adds what is open. */
void tcg_bridge_settle(TcgBridgeCpu *cpu);
/* Adds what is open, serves deadlines, tells the context. */
void tcg_bridge_sync(TcgBridgeCpu *cpu);
/* Once each time after it was asked: whether the host should look at interrupts and at translated blocks. */
bool tcg_bridge_look(TcgBridgeCpu *cpu);

/* `amount` more of a signal that blocks do not sum; whether it is wanted or not. */
static inline void tcg_bridge_count(TcgBridgeCpu *cpu, uint32_t signal, uint64_t amount) { vm_pmu_add(&cpu->cells, signal, amount); }

/* What translated code does at the entry of a block, and what tcg_bridge_slow() returns. */
static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridge *bridge, const TcgBridgeBlock *block);

/* For interpreters: instructions have been completed, in so many cycles. True when the host should look at its interrupts. */
static inline bool tcg_bridge_retire(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t cycles);

/* ---- Registers ---- */

/* What comes of an access. */
typedef enum {
  /* It is done. */
  TCG_BRIDGE_DONE,
  /* The register is not the PMU's: go on with the host's own. */
  TCG_BRIDGE_NOT_OURS,
  /* No exception, and nothing is done: mfspr leaves its target as it was. */
  TCG_BRIDGE_NOTHING,
  /* Give the guest TcgBridgeException. */
  TCG_BRIDGE_RAISE
} TcgBridgeAnswer;

/* An exception for the guest. */
typedef struct TcgBridgeException {
  /* x86: the number of the exception, 13 for #GP; POWER and IA-64: the offset of the vector. */
  uint32_t vector;
  /* x86: its error code; IA-64: ISR.code; POWER: the cause for FSCR or HFSCR bits 0:7, with vectors F60h and F80h. */
  uint32_t code;
} TcgBridgeException;

/*
 * A guest's access, as vm_pmu_read() and vm_pmu_write() take it. The accessing instruction has been opened, as the last of its block;
 * it is counted after the access, and should add nothing else to sums. If it raises, say so by tcg_bridge_left() or tcg_bridge_take_back(),
 * as for any instruction that faults.
 * After a write, tcg_bridge_look() tells whether other blocks are needed.
 */
TcgBridgeAnswer tcg_bridge_read(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception);
TcgBridgeAnswer tcg_bridge_write(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception);

/* ---- Interrupts ---- */

/* What the local APIC is to do. */
typedef enum { TCG_BRIDGE_DELIVER_NOTHING, TCG_BRIDGE_DELIVER_VECTOR, TCG_BRIDGE_DELIVER_NMI } TcgBridgeDelivery;

/* What `entry`, the local vector table's for performance counters (offset 340h), says of a request. On Intel's parts its mask is set. */
TcgBridgeDelivery tcg_bridge_lvt(const TcgBridge *bridge, uint32_t *entry, bool software_enabled, uint8_t *vector);
/* What PMV (CR73) says of a request: true, and a vector to make pending; or false, and the request is lost. */
bool tcg_bridge_pmv(uint64_t pmv, uint8_t *vector);
/*
 * The CPU takes an interrupt (`hardware`) or an exception: counts it, with a cycle, at the level that is interrupted. Before its registers
 * change.
 */
void tcg_bridge_taken(TcgBridgeCpu *cpu, bool hardware);

/* ---- Halting ---- */

/*
 * How many cycles may go by in the states of `signals` until something becomes due: arm the host's timer for no more. VM_PMU_NEVER if
 * nothing does. Tell the halted context before, by tcg_bridge_sync().
 */
uint64_t tcg_bridge_sleep(TcgBridgeCpu *cpu, const uint32_t *signals, uint32_t count);
/* So many cycles have gone by without instructions, in the states of `signals`, the pace among them. */
void tcg_bridge_pass(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count);

/* ---- Saving ---- */

/* Everything that the PMUs remember, in memory of malloc(); null if that cannot be. No CPU runs. Save interrupt controllers afterwards. */
uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length);
/* Puts it in place in a bridge of the same options, or changes nothing and returns false. No CPU runs. */
bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length);

/* ---- What generated code does, in C ---- */

/* The signal of a slot. */
uint32_t tcg_bridge_signal(const TcgBridge *bridge, uint32_t slot);

static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridge *bridge, const TcgBridgeBlock *block) {
  uint64_t allowed = TCG_BRIDGE_GO;
  uint32_t slot;
  for (slot = 0; slot < TCG_BRIDGE_SLOTS; slot++) {
    if (block->slots >> slot & 1) {
      vm_pmu_add(&cpu->cells, tcg_bridge_signal(bridge, slot), cpu->open[slot]);
      cpu->open[slot] = 0;
    }
  }
  if (block->always || block->key != cpu->key || vm_pmu_room(&cpu->cells) < block->sums[TCG_BRIDGE_SLOT_PACE]) {
    allowed = tcg_bridge_slow(cpu, block->sums[TCG_BRIDGE_SLOT_PACE], block->instructions, block->key);
  }
  if (allowed == TCG_BRIDGE_GO) {
    for (slot = 0; slot < TCG_BRIDGE_SLOTS; slot++) {
      if (block->slots >> slot & 1) cpu->open[slot] = block->sums[slot];
    }
  }
  return allowed;
}

static inline bool tcg_bridge_retire(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t cycles) {
  vm_pmu_add(&cpu->cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
  vm_pmu_add(&cpu->cells, cpu->cells.pace, cycles);
  return vm_pmu_due(&cpu->cells) && tcg_bridge_slow(cpu, 0, 1, cpu->key) == TCG_BRIDGE_LOOK;
}

#ifdef __cplusplus
}
#endif

#endif
