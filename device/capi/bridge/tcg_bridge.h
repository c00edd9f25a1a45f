/*
 * What a dynamic translator, or any emulator in C or C++, needs between itself and vm_pmu.h. Copy the files of this folder into the
 * emulator's tree, those of the companion if it is wanted; the book has a chapter each on QEMU, Bochs, gem5 and Ski.
 *
 * How counting works here
 *
 * A CPU has one cell of 64 bits, the countdown. It holds how many instructions may be executed before the PMU must be asked. A block takes
 * its instructions off at its entry, and is not entered if there are not so many left:
 *
 *     entry:  left = *countdown - takes                   takes: a constant of the block, tcg_bridge_takes()
 *             left < 0?  then call tcg_bridge_slow(), and do as it says
 *             *countdown = left
 *
 * That is all that a block does. What has been taken off is added to the totals when somebody looks, and cycles are added with it: each
 * instruction has one. In its low bits the cell also counts one more signal whose sum in a block is known when it is translated: branches,
 * usually, which so cost nothing. Whatever else is counted is one addition where it happens, by tcg_bridge_count() or the same
 * in generated code, and only where tcg_bridge_wants() says so.
 *
 * A deadline within a block is met by executing less of it: tcg_bridge_slow() returns how much. So an overflow comes at its very
 * instruction, however long blocks are. Whoever leaves a block in its middle gives back what was not executed.
 *
 * A change of the context mostly starts and stops counters, and no more: what is counted in each context adds up. While the library says so, the bridge tells
 * such a change to nobody. It keeps what was executed in each context by itself, and tells it when anything else is asked of the PMU.
 *
 * While TcgBridgeCpu::counting is 0, nothing is counted on that CPU, and its blocks need none of this. A translator makes two kinds of
 * blocks, with the entry and without, and takes those that fit.
 *
 * Rules for the host
 *
 * - One TcgBridgeCpu a virtual CPU, used on one host thread at a time. Different ones may be used at once.
 * - An instruction that reads or writes registers of the PMU ends its block, and so does one that changes the key of the context. Where the
 *   next block is looked up, tcg_bridge_context() is told its key.
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

/*
 * Where in the countdown the number of instructions begins. Below it another signal is counted, of which an instruction adds 3 at most. What a
 * block of up to 512 instructions takes off is a constant of 31 bits, which most hosts have in an instruction.
 */
#define TCG_BRIDGE_SHIFT 21

/* tcg_bridge_enter(): the whole block may be executed. */
#define TCG_BRIDGE_GO UINT64_MAX
/* tcg_bridge_enter(): nothing of it, before the host has looked at its interrupts and at whether the block is still valid. */
#define TCG_BRIDGE_INTERRUPT 0

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
   * Blocks with counting code do not add everything that is wanted now: throw all of them away before the next is executed. On the thread
   * of some CPU. Blocks that add too much are kept: guests stop and start their counters all the time.
   */
  void (*retranslate)(void *user);
  /* TcgBridgeCpu::counting or following of CPU `cpu` has changed. On the thread of that CPU. */
  void (*counting)(void *user, uint32_t cpu);
  /* Another CPU has changed what counts on CPU `cpu`: let it leave translated code and call tcg_bridge_sync(). On any thread. */
  void (*kick)(void *user, uint32_t cpu);
  /*
   * A deadline has been reached: fill in all but `size` of the last instruction that CPU `cpu` has completed, and return true; or return
   * false. Other records are told by tcg_bridge_record(). If it is null, no records are told at all, and none hold up execution.
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
  /* The signal that the countdown counts too, besides instructions and cycles; 0 for none. */
  uint32_t paired_signal;
  /* The signals that the host ever counts; null and 0 for all. Nothing waits for the others. */
  const uint32_t *supplied;
  uint32_t supplied_count;
  /* Signals that grow by 1 in each cycle, which the bridge counts; up to 4. Reference cycles are one where clocks do not change. */
  const uint32_t *with_cycles;
  uint32_t with_cycles_count;
  /* Those of which no instruction adds more than 1, as of instructions and cycles: overflows of these are met without looking on the way. */
  const uint32_t *single;
  uint32_t single_count;
  /*
   * The kinds of records that the host tells, VM_PMU_RECORDS_...; 0 is all. The others are never asked for: with VM_PMU_RECORDS_AT_DEADLINE
   * alone, blocks need no code for records, and no branch is told.
   */
  uint32_t records;
  /* Handed to the host's functions. */
  void *user;
  TcgBridgeHost host;
  /*
   * What makes the signals that the host does not: caches, translation buffers, predictors of the part. Null for none. Packages and threads are
   * filled in. The host then calls the functions of tcg_bridge_companion.h while TcgBridgeCpu::following is not 0.
   */
  const VmPmuCompanionOptions *companion;
} TcgBridgeOptions;

/* How many contexts are told apart without a call, and of how many signals beside those of the countdown. */
#define TCG_BRIDGE_STAYS 4
#define TCG_BRIDGE_APART 4

/* A context that the PMU was told, and what has been executed in it that the PMU was not told. */
typedef struct TcgBridgeStay {
  uint32_t key;
  VmPmuContext context;
  uint64_t instructions;
  uint64_t paired;
  uint64_t apart[TCG_BRIDGE_APART];
} TcgBridgeStay;

/* One virtual CPU. */
typedef struct TcgBridgeCpu {
  /* The countdown. The host may put it where its generated code reaches it best: tcg_bridge_place(). */
  uint64_t *countdown;
  /* The cells of its totals: that of signal n is totals[n]. */
  uint64_t *totals;
  /* Not 0 when the host should look at interrupts and translated blocks before it goes on: tcg_bridge_poll_interrupt(). */
  uint64_t look;
  /* Not 0 while something is counted on this CPU: its blocks must have counting code. Changes on its own thread alone. */
  uint32_t counting;
  /* The key that tcg_bridge_context() was told last, or that the host gave with the context. */
  uint32_t key;
  /* Which CPU it is. */
  uint32_t number;
  /* What follows is the bridge's. */
  uint64_t filled;
  uint64_t own;
  VmPmuCells cells;
  VmPmuDemand demand;
  VmPmuContext context;
  TcgBridge *bridge;
  uint64_t told;
  /* Not 0 while the companion must be told each instruction. Changes with, or without, `counting`, and is told by the same function. */
  uint32_t following;
  /* Which of the machine's boxes the companion is asked for on this CPU: tcg_bridge_boxes.h. */
  uint64_t heard;
  /*
   * Not 0 while taken branches are recorded for POWER's branch history: the guest has accessed it, and so many alerts or ends of recording may
   * come until it does again. Beside it, whether they are wanted now.
   */
  uint32_t history;
  uint32_t recorded;
  /*
   * Not 0 if the companion makes nothing of instructions that neither access memory nor branch, while they lie in `line`: the line of code that
   * it was told last. Its number is UINT64_MAX if it may have forgotten that.
   */
  uint32_t skips;
  uint64_t line;
  /* Not 0 if an instruction has begun that the companion was not told yet: the one that follows, with its accesses. */
  uint32_t begun;
  VmPmuInstruction instruction;
  VmPmuAccess accesses[VM_PMU_MOST_ACCESSES];
  /*
   * The contexts that the PMU was told since a register was written: `stay_count`, of which the CPU is in number `stay` and the PMU in number `told_stay`.
   * They may differ while `sums` is not 0: beside the countdown, no more than `apart_count` signals are wanted. Their totals were `base` when the CPU
   * came into a context that the PMU was not told.
   */
  TcgBridgeStay stays[TCG_BRIDGE_STAYS];
  uint32_t stay_count;
  uint32_t stay;
  uint32_t told_stay;
  uint32_t sums;
  uint32_t apart_count;
  uint32_t apart[TCG_BRIDGE_APART];
  uint64_t base[TCG_BRIDGE_APART];
  /* Not 0 while the PMU was not told of changes of the context. */
  uint32_t postponed;
} TcgBridgeCpu;

/* What one instruction of a block adds to TcgBridgeOptions::paired_signal. */
typedef struct TcgBridgePart {
  uint32_t instruction;
  uint32_t amount;
} TcgBridgePart;

/* What is known of a block when it is translated, for hosts that want it kept for them. */
typedef struct TcgBridgeBlock {
  /* What its entry takes off the countdown. */
  uint64_t takes;
  /* How many instructions it has. */
  uint32_t instructions;
  /* What its instructions add to the paired signal; part_count of them, in memory of malloc(). */
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
/* Its companion; null without one. */
VmPmuCompanion *tcg_bridge_companion(TcgBridge *bridge);
/* Puts the countdown of a CPU into a cell of the host's, 8 bytes that stay until the bridge is destroyed. Before the CPU runs. */
void tcg_bridge_place(TcgBridgeCpu *cpu, uint64_t *countdown);
/* Whether something that is wanted of a CPU has come to its deadline. */
bool tcg_bridge_reached(const TcgBridgeCpu *cpu);
/* Brings a CPU's PMU to its values after reset: warm is INIT, or a reset with the power on. */
void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm);

/* ---- When a block is translated ---- */

/* The most instructions that a block may have at the moment: 1 while single ones are asked for, else UINT32_MAX. */
uint32_t tcg_bridge_limit(const TcgBridge *bridge);
/* The records that somebody asks for and the host tells, VM_PMU_RECORDS_...: behind such an instruction, tcg_bridge_record() is called. */
uint32_t tcg_bridge_records(const TcgBridge *bridge);
/* Forgets what was wanted once and is no longer: for when all blocks are thrown away for a reason of the host's own. No CPU runs. */
void tcg_bridge_trim(TcgBridge *bridge);
/* Whether code must be made that counts a signal: something follows it, and the countdown does not count it. */
bool tcg_bridge_wants(const TcgBridge *bridge, uint32_t signal);
/* Whether the companion makes a signal: blocks whose instructions it is told do not count it. */
bool tcg_bridge_follows(const TcgBridge *bridge, uint32_t signal);
/* What the entry of a block of so many instructions takes off the countdown, which add `paired` in all to the paired signal. */
static inline uint64_t tcg_bridge_takes(uint32_t instructions, uint32_t paired) {
  return ((uint64_t)instructions << TCG_BRIDGE_SHIFT) - paired;
}
/* Begins to describe a block. One that was described before must have been given up. */
void tcg_bridge_block_begin(TcgBridgeBlock *block);
/* The next instruction. */
void tcg_bridge_block_instruction(TcgBridgeBlock *block);
/* The instruction adds `amount`, 3 at most, to the paired signal. False: there is no memory. */
bool tcg_bridge_block_paired(TcgBridgeBlock *block, uint32_t amount);
/* Gives the memory of a block's description up. */
void tcg_bridge_block_free(TcgBridgeBlock *block);

/* ---- When it is executed ---- */

/*
 * What is to be done before a block of so many instructions when the countdown has not so many left: serves deadlines, fills the countdown.
 * Returns TCG_BRIDGE_GO, TCG_BRIDGE_INTERRUPT, or how many of its instructions to execute, as a block of their own: the next deadline is behind
 * them. Such a block fits.
 */
uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint32_t instructions);
/*
 * The CPU goes on in blocks of this key: tells the context if it is another and anything depends on that. True when the host should look at its
 * interrupts.
 */
bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key);
/* The block was left after `executed` of its instructions: a fault, or an exit by a helper. Nothing else may have been entered since. */
void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed);
/*
 * The same for a host that keeps no descriptions: the last `instructions` of a block were not executed. `takes` is what its entry took, and
 * the last of its instructions alone adds to the paired signal; 0 where none does.
 */
void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint64_t takes, uint32_t instructions);
/* Tells a record of the instruction that has just been completed, the last of its block. All but `size` is filled in. */
void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record);
/*
 * The last instruction of a block without counting code has set TcgBridgeCpu::counting, by tcg_bridge_write(): it is the first that is
 * counted.
 */
void tcg_bridge_open(TcgBridgeCpu *cpu);
/* Adds to the totals what has been taken off the countdown. */
void tcg_bridge_settle(TcgBridgeCpu *cpu);
/* The same, and serves deadlines and tells the context. */
void tcg_bridge_sync(TcgBridgeCpu *cpu);
/*
 * After the host has told the PMU something by vm_pmu.h, with everything settled: looks at what is wanted from now on, and at how far it is to the
 * next deadline. The next block with counting code is not entered if TcgBridgeCpu::look is not 0.
 */
void tcg_bridge_resume(TcgBridgeCpu *cpu);
/* Once each time after it was asked: whether the host should look at interrupts and at translated blocks. */
bool tcg_bridge_poll_interrupt(TcgBridgeCpu *cpu);

/* `amount` more of a signal that blocks do not sum, whether it is wanted or not. Interrupts and exceptions are tcg_bridge_taken()'s. */
static inline void tcg_bridge_count(TcgBridgeCpu *cpu, uint32_t signal, uint64_t amount) { vm_pmu_add(&cpu->cells, signal, amount); }

/* What translated code does at the entry of a block, and what tcg_bridge_slow() returns. */
static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridgeBlock *block);

/*
 * For interpreters: instructions have been completed, in so many cycles. True when the host should look at its interrupts. Signals that grow
 * with cycles are the host's to add here, before.
 */
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
 * A guest's access, as vm_pmu_read() and vm_pmu_write() take it. The accessing instruction is the last of its block, adds nothing to the
 * paired signal, and is counted after the access. If it raises, say so by tcg_bridge_left() or tcg_bridge_take_back(), as for any instruction that faults.
 * After a write, tcg_bridge_poll_interrupt() tells whether other blocks are needed.
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
void tcg_bridge_advance(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count);

/* ---- Saving ---- */

/*
 * Everything that the PMUs and the companion remember, in memory of malloc(); null if that cannot be. No CPU runs, and the companion has been told
 * everything: tcg_bridge_complete(). Save interrupt controllers afterwards.
 */
uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length);
/*
 * Puts it in place in a bridge of the same options, or changes nothing and returns false. No CPU runs. What a later version of the library has
 * saved of a companion may not fit: its caches are as they were then.
 */
bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length);

/* ---- What generated code does, in C ---- */

static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridgeBlock *block) {
  uint64_t left = VM_PMU_LOAD(cpu->countdown) - block->takes;
  if ((int64_t)left < 0) {
    uint64_t allowed = tcg_bridge_slow(cpu, block->instructions);
    if (allowed != TCG_BRIDGE_GO) return allowed;
    left = VM_PMU_LOAD(cpu->countdown) - block->takes;
  }
  VM_PMU_STORE(cpu->countdown, left);
  return TCG_BRIDGE_GO;
}

static inline bool tcg_bridge_retire(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t cycles) {
  if (cpu->postponed) tcg_bridge_settle(cpu);
  vm_pmu_add(&cpu->cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
  vm_pmu_add(&cpu->cells, cpu->cells.pace, cycles);
  return vm_pmu_due(&cpu->cells) && tcg_bridge_slow(cpu, 0) == TCG_BRIDGE_INTERRUPT;
}

#ifdef __cplusplus
}
#endif

#endif
