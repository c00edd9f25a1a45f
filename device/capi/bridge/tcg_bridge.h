/*
 * The code between an emulator in C or C++, in particular a dynamic translator, and vm_pmu.h. Copy the files of this folder into the
 * emulator's tree; those of boxes, of nests and of recordings only if they are used. The book has chapters on QEMU, Bochs, gem5 and Ski.
 *
 * How counting works
 *
 * Each CPU has a cell of 64 bits, the countdown. It holds how many instructions may be executed before the PMU must be called. A block
 * subtracts its instructions at its entry, and is not entered if too few are left:
 *
 *     entry:  left = *countdown - takes                   takes: a constant of the block, tcg_bridge_takes()
 *             left < 0?  call tcg_bridge_slow(), and do what it returns
 *             *countdown = left
 *
 * A block does nothing else. Everything behind it is a VmPmuCpu of the library: it adds the subtracted instructions to the totals when the
 * totals are needed, with one cycle for each instruction. The low bits of the cell count one more signal whose sum in a block is known when
 * the block is translated. This is usually branches, which then cost nothing. Every other signal is one addition where it occurs, by
 * tcg_bridge_count() or the same in generated code, and only where tcg_bridge_wants() says so.
 *
 * If a deadline is within a block, fewer of its instructions are executed: tcg_bridge_slow() returns how many. So an overflow occurs at the
 * exact instruction, however long blocks are. A host that leaves a block in its middle gives back the instructions that were not executed.
 *
 * The bridge adds to a VmPmuCpu what several CPUs of a translator share, blocks and the signals that they add; which of them need counting
 * code, and which must be followed; and the exceptions and interrupts of each architecture.
 *
 * While TcgBridgeCpu::counting is 0, nothing is counted on that CPU, and its blocks need no counting code. A translator makes two kinds of
 * blocks, with the entry and without, and uses the kind that fits.
 *
 * Rules for the host
 *
 * - There is one TcgBridgeCpu per vCPU, used on one host thread at a time. Different ones may be used at the same time.
 * - An instruction that reads or writes registers of the PMU ends its block, and so does one that changes the key of the context. Where the
 *   next block is looked up, the host passes its key to tcg_bridge_context().
 * - A block ends at every control transfer, and where tcg_bridge_limit() says.
 * - Before the host chooses one of its pending interrupts, it calls tcg_bridge_before_interrupt(): the last instruction may have reached a
 *   deadline whose interrupt comes first.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#ifndef TCG_BRIDGE_H
#define TCG_BRIDGE_H

#include <vm_pmu_companion.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The first bit of the number of instructions in the countdown. The bits below it count another signal, to which an instruction adds 3 at
 * most. The amount that a block of up to 512 instructions subtracts is a constant of 31 bits, which fits an instruction on most hosts.
 */
#define TCG_BRIDGE_SHIFT VM_PMU_COUNTDOWN_SHIFT

/* tcg_bridge_enter(): the whole block may be executed. */
#define TCG_BRIDGE_GO UINT64_MAX
/* tcg_bridge_enter(): no instruction of it, until the host has checked its interrupts and whether the block is still valid. */
#define TCG_BRIDGE_INTERRUPT 0

/* A key that no block has: the next call reports the context. */
#define TCG_BRIDGE_KEY_UNKNOWN UINT32_MAX

typedef struct TcgBridge TcgBridge;

/* TcgBridgeCpu::following: nothing; blocks; blocks of one instruction, each of which is reported before the next. */
#define TCG_BRIDGE_FOLLOWS_NOTHING 0
#define TCG_BRIDGE_FOLLOWS_BLOCKS 1
#define TCG_BRIDGE_FOLLOWS_INSTRUCTIONS 2

/* Where the next entry of a trace is written, and the last place at which a block may begin. */
typedef struct TcgBridgeTrace {
  VmPmuTraced *end;
  VmPmuTraced *limit;
} TcgBridgeTrace;

/* The number of pages whose physical addresses are kept for a CPU. */
#define TCG_BRIDGE_PAGES 256

/* A page of 4 KiB, as the host translates it. */
typedef struct TcgBridgePage {
  /* The bridge's own. */
  uint64_t key;
  /* Its physical address; at first its virtual one. */
  uint64_t physical;
  /* VM_PMU_ACCESS_UNCACHED if it is not memory. */
  uint8_t flags;
} TcgBridgePage;

/* The host's functions. `user` is TcgBridgeOptions::user. Each of them may be null, except `context`. */
typedef struct TcgBridgeHost {
  /*
   * The current state of CPU `cpu`: fill in all fields except `size`. Called on the thread of that CPU. Returns the key of the blocks that
   * may be executed in this state: any number that differs between contexts in which other counters may count. On x86 it is the CPL. A
   * halted CPU executes no blocks: its key is TCG_BRIDGE_KEY_UNKNOWN.
   */
  uint32_t (*context)(void *user, uint32_t cpu, VmPmuContext *context);
  /*
   * CPU `cpu` gets one overflow interrupt: see tcg_bridge_lvt() for x86, tcg_bridge_pmv() for IA-64. Maybe called on another CPU's thread.
   */
  void (*interrupt)(void *user, uint32_t cpu);
  /* POWER: the level-triggered requests of CPU `cpu` are now `levels`, VM_PMU_LINE_... Maybe called on another CPU's thread. */
  void (*lines)(void *user, uint32_t cpu, uint32_t levels);
  /*
   * Blocks with counting code do not add every signal that is demanded now: discard all of them before the next one is executed. Called on
   * the thread of some CPU. Blocks that add too many signals are kept, because guests stop and start their counters all the time.
   */
  void (*retranslate)(void *user);
  /* TcgBridgeCpu::counting or following of CPU `cpu` has changed. Called on the thread of that CPU. */
  void (*counting)(void *user, uint32_t cpu);
  /*
   * Another CPU has changed what is counted on CPU `cpu`: make it leave translated code and call tcg_bridge_sync(). Called on any thread.
   */
  void (*kick)(void *user, uint32_t cpu);
  /*
   * A deadline has been reached: fill in all fields except `size` for the last instruction that CPU `cpu` has completed, and return true;
   * or return false. Other records are reported by tcg_bridge_record(). If it is null, the host reports no records, and none are demanded
   * of it.
   */
  bool (*record)(void *user, uint32_t cpu, VmPmuRecord *record);
  /*
   * The page of 4 KiB whose virtual address is page->physical, as CPU `cpu` accesses it in the space that the host has put into bits 56 to 63 of
   * VmPmuTraced::what: write its physical address there, and VM_PMU_ACCESS_UNCACHED into page->flags if it is not memory. It must not fail:
   * leave the page as it is if it is not mapped any more. If null, virtual addresses are physical ones.
   */
  void (*translate)(void *user, uint32_t cpu, uint8_t space, TcgBridgePage *page);
  /*
   * The guest's time in nanoseconds, for guests that take turns with their counters: a CPU then stays followed in turns that do not need it. If
   * null, it does not.
   */
  uint64_t (*clock)(void *user);
  /* An interrupt was due `events` events ago: for the host's log. */
  void (*late)(void *user, uint32_t cpu, uint64_t events);
} TcgBridgeHost;

/* How a bridge is made. Zero is the usual value. */
typedef struct TcgBridgeOptions {
  /* "k8", "knl", "power9", "itanium", "montecito". */
  const char *part;
  /* Its revision, or null. */
  const char *revision;
  /* The number of packages, and of threads in each package; 0 means one. CPU n is thread n. */
  uint32_t packages;
  uint32_t threads;
  /* The largest amount by which any signal grows in one cycle; 0 means 4. */
  uint32_t most;
  /* The signal that the countdown counts in addition to instructions and cycles; 0 for none. */
  uint32_t paired_signal;
  /* The signals that the host counts at all; null and 0 for all. No deadline is set for others. */
  const uint32_t *supplied;
  uint32_t supplied_count;
  /* Signals that grow by 1 in each cycle, which the bridge counts; up to 4. Reference cycles are one where frequencies do not change. */
  const uint32_t *with_cycles;
  uint32_t with_cycles_count;
  /*
   * Signals that grow by 1 at most in an instruction, like instructions and cycles. Their overflows are exact without intermediate checks.
   */
  const uint32_t *single;
  uint32_t single_count;
  /*
   * The kinds of records that the host reports, VM_PMU_RECORDS_...; 0 means all. The others are never demanded: with
   * VM_PMU_RECORDS_AT_DEADLINE alone, blocks need no code for records, and no branch is reported.
   */
  uint32_t records;
  /* Passed to the host's functions. */
  void *user;
  TcgBridgeHost host;
  /*
   * A model that supplies the signals that the host does not count: caches, translation buffers, predictors of the part. Null for none. Where
   * packages and threads are both 0, they are those of the PMUs. A machine whose packages of PMUs are cores or tiles says here what is in a
   * socket, so that other cores of it are not taken for other sockets: see vm_pmu_layout_companion_options(). The PMUs have its tiles and its
   * cluster mode too. The host then calls the functions of tcg_bridge_companion.h while TcgBridgeCpu::following is not 0.
   */
  const VmPmuCompanionOptions *companion;
} TcgBridgeOptions;

/* The number of contexts that are kept by their keys. */
#define TCG_BRIDGE_CONTEXTS 4

/* A state of the CPU that the host has reported. */
typedef struct TcgBridgeContext {
  uint32_t key;
  VmPmuContext context;
} TcgBridgeContext;

/* One vCPU. */
typedef struct TcgBridgeCpu {
  /* The countdown. The host may put it where its generated code reaches it best: tcg_bridge_place(). */
  uint64_t *countdown;
  /* The cells of its totals, 8 bytes each: that of a signal is number tcg_bridge_cell(). */
  uint64_t *totals;
  /* Not 0 when the host should check interrupts and translated blocks before it continues: tcg_bridge_poll_interrupt(). */
  uint64_t check_needed;
  /* Not 0 while something is counted on this CPU: its blocks must have counting code. Changes only on the CPU's own thread. */
  uint32_t counting;
  /* The key last passed to tcg_bridge_context(), or returned by the host with the context. */
  uint32_t key;
  /* The number of the CPU. */
  uint32_t number;
  /* The fields from here on belong to the bridge, but the host may read `demand`, `cells`, `bridge` and `following`. */
  VmPmuCpu *cpu;
  VmPmuCells cells;
  VmPmuDemand demand;
  TcgBridge *bridge;
  /* TCG_BRIDGE_FOLLOWS_...: what is reported to the companion. TcgBridgeHost::counting is called when it changes. */
  uint32_t following;
  /* What the machine's boxes or nests demand of the companion, as this CPU last read it: tcg_bridge_boxes.h, tcg_bridge_nest.h. */
  uint64_t uncore_demand;
  /*
   * Not 0 while taken branches are recorded for POWER's branch history, because the guest has accessed it. It is the number of alerts or
   * ends of recording that remain until branches are no longer recorded; an access of the guest restores it. The next field is not 0 while
   * the PMU demands taken branches.
   */
  uint32_t history_patience;
  uint32_t records_branches;
  /* When something was demanded last that only the companion makes, and when anything was: TcgBridgeHost::clock. */
  uint64_t needed_at;
  uint64_t counted_at;
  /* Not 0 while the CPU is followed although nothing needs it. In all turns it is followed for the signals that one of them needs. */
  uint32_t stays_followed;
  uint64_t needed[VM_PMU_SIGNAL_WORDS];
  /*
   * What the CPU has executed since it last reported to the companion: see tcg_bridge_companion.h. The accesses before `translated` have physical
   * addresses.
   */
  VmPmuTraced *entries;
  VmPmuTraced *translated;
  TcgBridgeTrace *trace;
  TcgBridgeTrace own_trace;
  TcgBridgePage pages[TCG_BRIDGE_PAGES];
  /* The contexts that were reported since a register was last written: `context_count` of them. */
  TcgBridgeContext contexts[TCG_BRIDGE_CONTEXTS];
  uint32_t context_count;
} TcgBridgeCpu;

/* The amount that one instruction of a block adds to TcgBridgeOptions::paired_signal. */
typedef struct TcgBridgePart {
  uint32_t instruction;
  uint32_t amount;
} TcgBridgePart;

/* What is known of a block when it is translated, for hosts that let the bridge keep it. */
typedef struct TcgBridgeBlock {
  /* The amount that its entry subtracts from the countdown. */
  uint64_t takes;
  /* The number of its instructions. */
  uint32_t instructions;
  /* The amounts that its instructions add to the paired signal: part_count of them, in memory of malloc(). */
  TcgBridgePart *parts;
  uint32_t part_count;
  uint32_t part_capacity;
} TcgBridgeBlock;

/* ---- A machine ---- */

/* Makes the PMUs of a machine. Returns null, and a line in `why`, if it fails; `why` may be null with `why_size` 0. */
TcgBridge *tcg_bridge_create(const TcgBridgeOptions *options, char *why, size_t why_size);
/* Frees everything. No CPU runs. */
void tcg_bridge_destroy(TcgBridge *bridge);
/* CPU `number`; null if there is none. The address is valid until tcg_bridge_destroy(). */
TcgBridgeCpu *tcg_bridge_cpu(TcgBridge *bridge, uint32_t number);
/* The library's machine, for the rest of vm_pmu.h: boxes, injection, devices. */
VmPmuMachine *tcg_bridge_machine(TcgBridge *bridge);
/* Its companion; null without one. */
VmPmuCompanion *tcg_bridge_companion(TcgBridge *bridge);
/*
 * Moves the countdown of a CPU into a cell of the host's: 8 bytes that remain until the bridge is destroyed. Call it before the CPU runs.
 */
void tcg_bridge_place(TcgBridgeCpu *cpu, uint64_t *countdown);
/* Whether a demanded signal of a CPU has reached its deadline. */
bool tcg_bridge_reached(const TcgBridgeCpu *cpu);
/* Sets a CPU's PMU to its values after reset: warm is INIT, or a reset with the power on. */
void tcg_bridge_reset(TcgBridgeCpu *cpu, bool warm);

/* ---- When a block is translated ---- */

/* The most instructions that a block may have now: 1 while records of single instructions are demanded, otherwise UINT32_MAX. */
uint32_t tcg_bridge_limit(const TcgBridge *bridge);
/* The records that are demanded and that the host reports, VM_PMU_RECORDS_...: call tcg_bridge_record() after such an instruction. */
uint32_t tcg_bridge_records(const TcgBridge *bridge);
/* Forgets what is no longer demanded: for when the host discards all blocks for a reason of its own. No CPU runs. */
void tcg_bridge_trim(TcgBridge *bridge);
/* Whether code must be generated that counts a signal: a counter follows it, and the countdown does not count it. */
bool tcg_bridge_wants(const TcgBridge *bridge, uint32_t signal);
/* Whether the companion supplies a signal: blocks whose instructions are reported to it do not count the signal. */
bool tcg_bridge_follows(const TcgBridge *bridge, uint32_t signal);
/*
 * The amount that the entry of a block of `instructions` instructions subtracts from the countdown. Together they add `paired` to the
 * paired signal.
 */
static inline uint64_t tcg_bridge_takes(uint32_t instructions, uint32_t paired) {
  return vm_pmu_takes(instructions, paired);
}
/* Begins the description of a block. An earlier description in `block` must have been freed. */
void tcg_bridge_block_begin(TcgBridgeBlock *block);
/* Adds an instruction to the description. */
void tcg_bridge_block_instruction(TcgBridgeBlock *block);
/* The last instruction adds `amount`, 3 at most, to the paired signal. Returns false if there is no memory. */
bool tcg_bridge_block_paired(TcgBridgeBlock *block, uint32_t amount);
/* Frees the memory of a block's description. */
void tcg_bridge_block_free(TcgBridgeBlock *block);

/* ---- When it is executed ---- */

/*
 * To be called before a block of `instructions` instructions if the countdown has too few left: serves deadlines and fills the countdown.
 * Returns TCG_BRIDGE_GO, TCG_BRIDGE_INTERRUPT, or how many of its instructions to execute as a separate block: the next deadline is after
 * them. The countdown suffices for such a block.
 */
uint64_t tcg_bridge_slow(TcgBridgeCpu *cpu, uint32_t instructions);
/*
 * The CPU continues in blocks of this key: reports the context if the key is another and any counter depends on it. Returns true if the
 * host should check its interrupts.
 */
bool tcg_bridge_context(TcgBridgeCpu *cpu, uint32_t key);
/* The block was left after `executed` of its instructions: a fault, or an exit by a helper. No other block may have been entered since. */
void tcg_bridge_left(TcgBridgeCpu *cpu, const TcgBridgeBlock *block, uint32_t executed);
/*
 * The same for a host that keeps no descriptions: the last `instructions` of a block were not executed. `takes` is what its entry
 * subtracted if only the last of its instructions adds to the paired signal; 0 if none does.
 */
void tcg_bridge_take_back(TcgBridgeCpu *cpu, uint64_t takes, uint32_t instructions);
/* Reports a record of the instruction that has just completed, the last of its block. All fields except `size` are filled in. */
void tcg_bridge_record(TcgBridgeCpu *cpu, VmPmuRecord *record);
/*
 * The last instruction of a block without counting code has set TcgBridgeCpu::counting, by tcg_bridge_write(): it is the first that is
 * counted.
 */
void tcg_bridge_open(TcgBridgeCpu *cpu);
/* Adds to the totals what has been subtracted from the countdown, and leaves nothing in it. */
void tcg_bridge_settle(TcgBridgeCpu *cpu);
/* The horizon has been reached: serves deadlines. Returns true if the host should check its interrupts. */
bool tcg_bridge_due(TcgBridgeCpu *cpu);
/* The same, and serves deadlines and reports the context. */
void tcg_bridge_sync(TcgBridgeCpu *cpu);
/*
 * To be called after the host has reported something to the PMU by vm_pmu.h, with everything settled: reads what is demanded from now on,
 * and how far the next deadline is. The next block with counting code is not entered if TcgBridgeCpu::check_needed is not 0.
 */
void tcg_bridge_resume(TcgBridgeCpu *cpu);
/*
 * The host is about to choose one of its pending interrupts, between blocks: serves the deadlines that the last instruction has reached, so
 * that the PMU's interrupt is among them.
 */
void tcg_bridge_before_interrupt(TcgBridgeCpu *cpu);
/* Whether the host should check interrupts and translated blocks. Returns true once for each request. */
bool tcg_bridge_poll_interrupt(TcgBridgeCpu *cpu);

/*
 * Adds `amount` to a signal that blocks do not sum, demanded or not. Interrupts and exceptions are counted by tcg_bridge_taken() instead.
 */
static inline void tcg_bridge_count(TcgBridgeCpu *cpu, uint32_t signal, uint64_t amount) { vm_pmu_add(&cpu->cells, signal, amount); }
/* The number of a signal's cell in TcgBridgeCpu::totals, the same for all CPUs. Every signal has one that tcg_bridge_wants() returns true for. */
static inline uint32_t tcg_bridge_cell(const TcgBridgeCpu *cpu, uint32_t signal) { return cpu->cells.cell_of_signal[signal]; }

/* What translated code does at the entry of a block. Returns what tcg_bridge_slow() returns. */
static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridgeBlock *block);

/*
 * For interpreters: instructions have completed, in `cycles` cycles. Returns true if the host should check its interrupts. Signals that
 * grow with cycles are not added here: the host adds them before.
 */
static inline bool tcg_bridge_retire(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t cycles);

/* ---- Registers ---- */

/* The result of an access. */
typedef enum {
  /* The access is done. */
  TCG_BRIDGE_DONE,
  /* The register is not the PMU's: continue with the host's own. */
  TCG_BRIDGE_NOT_OURS,
  /* No exception, and no effect: mfspr leaves its target unchanged. */
  TCG_BRIDGE_NOTHING,
  /* Raise the exception TcgBridgeException in the guest. */
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
 * A guest's access, with the arguments of vm_pmu_read() and vm_pmu_write(). The accessing instruction is the last of its block, adds
 * nothing to the paired signal, and is counted after the access. If it raises an exception, call tcg_bridge_left() or
 * tcg_bridge_take_back(), as for any instruction that faults. After a write, tcg_bridge_poll_interrupt() says whether other blocks are
 * needed.
 */
TcgBridgeAnswer tcg_bridge_read(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception);
TcgBridgeAnswer tcg_bridge_write(TcgBridgeCpu *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception);

/* ---- Interrupts ---- */

/* What the local APIC must do. */
typedef enum { TCG_BRIDGE_DELIVER_NOTHING, TCG_BRIDGE_DELIVER_VECTOR, TCG_BRIDGE_DELIVER_NMI } TcgBridgeDelivery;

/*
 * How `entry`, the performance counters' entry (offset 340h) of the local vector table, delivers a request. Sets its mask on Intel's parts.
 */
TcgBridgeDelivery tcg_bridge_lvt(const TcgBridge *bridge, uint32_t *entry, bool software_enabled, uint8_t *vector);
/* How PMV (CR73) delivers a request: returns true and a vector to make pending, or false if the request is lost. */
bool tcg_bridge_pmv(uint64_t pmv, uint8_t *vector);
/*
 * The CPU takes an interrupt (`hardware`) or an exception: counts it, with one cycle, at the level that is interrupted. Call it before the
 * CPU's registers change.
 */
void tcg_bridge_taken(TcgBridgeCpu *cpu, bool hardware);

/* ---- Halting ---- */

/*
 * The number of cycles in the states of `signals` until something becomes due: set the host's timer to no more. VM_PMU_NEVER if nothing
 * becomes due. Call tcg_bridge_sync() first, to report the halted context.
 */
uint64_t tcg_bridge_sleep(TcgBridgeCpu *cpu, const uint32_t *signals, uint32_t count);
/* Advances by cycles without instructions, in the states of `signals`, which include the pace. */
void tcg_bridge_advance(TcgBridgeCpu *cpu, uint64_t cycles, const uint32_t *signals, uint32_t count);

/* ---- Saving ---- */

/*
 * The whole state of the PMUs and the companion, in memory of malloc(); null if it fails. No CPU runs, and every instruction has been
 * reported to the companion: tcg_bridge_complete(). Save interrupt controllers afterwards.
 */
uint8_t *tcg_bridge_save(TcgBridge *bridge, size_t *length);
/*
 * Loads a state into a bridge of the same options, or changes nothing and returns false. No CPU runs. A companion's state from a later
 * version of the library may not fit: its caches then stay as they are.
 */
bool tcg_bridge_load(TcgBridge *bridge, const uint8_t *bytes, size_t length);

/* ---- The work of generated code, in C ---- */

static inline uint64_t tcg_bridge_enter(TcgBridgeCpu *cpu, const TcgBridgeBlock *block) {
  if (!vm_pmu_enter(cpu->countdown, block->takes)) {
    uint64_t allowed = tcg_bridge_slow(cpu, block->instructions);
    if (allowed != TCG_BRIDGE_GO) return allowed;
    VM_PMU_STORE(cpu->countdown, VM_PMU_LOAD(cpu->countdown) - block->takes);
  }
  return TCG_BRIDGE_GO;
}

static inline bool tcg_bridge_retire(TcgBridgeCpu *cpu, uint64_t instructions, uint64_t cycles) {
  if (VM_PMU_LOAD(cpu->countdown) != 0) tcg_bridge_settle(cpu);
  vm_pmu_add(&cpu->cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
  vm_pmu_add(&cpu->cells, cpu->cells.pace, cycles);
  return vm_pmu_due(&cpu->cells) && tcg_bridge_due(cpu);
}

#ifdef __cplusplus
}
#endif

#endif
