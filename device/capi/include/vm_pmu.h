/*
 * vm-pmu: performance monitoring units that an emulator or hypervisor attaches. The C interface.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * Rules
 *
 * - A machine is an opaque pointer; its threads, packages and boxes are numbered from 0.
 * - Every function that can fail returns a VmPmuStatus: 0 for success; a positive number for a fault to raise in the guest; or a negative
 *   number for misuse, which changes nothing. vm_pmu_last_error() returns a line that describes the misuse.
 * - Structs that may grow begin with their size. Set it to sizeof of the struct, and set every field that is not needed to zero:
 *       VmPmuOptions options = {.size = sizeof(VmPmuOptions)};
 * - A parameter that is a number listed in an enum (VmPmuSpace, VmPmuSignal) is checked; other numbers are misuse.
 * - A machine, a platform, a companion and a traffic may be used from several host threads at once. Only one host thread may add to the
 *   totals of a guest thread.
 * - These functions do not unwind, and callbacks must not unwind or jump out.
 * - The headers declare every function: this one what an emulator needs first, vm_pmu_companion.h, vm_pmu_layout.h, vm_pmu_boxes.h,
 *   vm_pmu_posting.h, vm_pmu_catalogue.h and vm_pmu_litmus.h the rest. A library that was built without a part or a group of functions does not have those functions; the
 *   book's chapter on the C interface lists them.
 *
 * Pointers
 *
 * Null pointers, misaligned pointers, and lengths larger than the address space are refused. The functions that destroy also refuse what
 * was destroyed before, what is of another kind, and a machine or companion while one of its callbacks runs, unless the address has been
 * given to something new of the same kind. For everything else the caller is responsible, and what it does wrong is undefined behaviour: a
 * machine that was destroyed must not be passed to any other function, nor a companion to one that takes a machine.
 * A pointer to a machine comes from vm_pmu_machine_create(), and the machine has not been destroyed; the same holds for platforms,
 * companions, traffics, translations, recordings and snapshots. A text is UTF-8 and ends with a zero byte. Memory to be written is
 * writable, and is not used by others during the call.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_H
#define VM_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu_signals.h"

// The version of this header, as vm_pmu_version() has it: 0.1.0.
#define VM_PMU_VERSION 1024


// The number of the binary interface: programs and libraries of the same number are compatible.
//
// It changes when a function, a field or a number is removed or changes its meaning. Additions do not change it: functions, signals, and
// fields at the end of structs that begin with their size.
#define VM_PMU_ABI 0

// The most threads of a machine, in all its packages.
#define VM_PMU_MOST_THREADS 16384

// In VmPmuOptions::flags: a counter that one thread uses for a unit of the package stays usable to the others for their own events. The
// K8's manual says that it does not; a driver that assumes it does loses counts unless this is set.
#define VM_PMU_OPTION_SHARE_COUNTERS (1 << 0)

// In VmPmuOptions::flags: irp_bus and memory_bus are set.
#define VM_PMU_OPTION_BUSES (1 << 1)

// In VmPmuOptions::flags: cpu_frequency, uclk_frequency, eclk_frequency and dclk_frequency are set.
#define VM_PMU_OPTION_FREQUENCIES (1 << 2)

// A level in vm_pmu_lines() and the callback of that name. POWER: a performance monitor interrupt exists, taken at vector F00h when
// MSR.EE allows.
#define VM_PMU_LINE_INTERRUPT (1 << 0)

// A level in vm_pmu_lines() and the callback of that name. POWER: an event-based exception exists; the branch is taken when BESCR.GE
// and problem state allow.
#define VM_PMU_LINE_EVENT_BASED_BRANCH (1 << 1)

// In VmPmuCells::cell_of_signal: the part does not have the signal, which is not counted.
#define VM_PMU_NO_CELL UINT16_MAX

// The deadline of a signal that has none.
#define VM_PMU_NEVER UINT64_MAX

// In VmPmuContext::flags: the thread's clock is stopped (HLT, STPCLK); nothing of it counts.
#define VM_PMU_CONTEXT_HALTED (1 << 0)

// In VmPmuContext::flags: the thread waits while its core executes another, where threads take turns (Montecito).
#define VM_PMU_CONTEXT_BACKGROUND (1 << 1)

// In the control word of POWER: CTRL's run latch. PMC5 and PMC6 do not count without it.
#define VM_PMU_POWER_RUN (1 << 0)

// In the control word of POWER: an external interrupt is pending.
#define VM_PMU_POWER_EXTERNAL_PENDING (1 << 1)

// In the control word of POWER: addresses are translated by a radix tree.
#define VM_PMU_POWER_RADIX (1 << 2)

// In the control word of POWER: the lowest bit of the thread's priority, the three bits of PPR[PRI].
#define VM_PMU_POWER_PRIORITY_SHIFT 8

// In the control word of POWER: FSCR[EBB] is 0.
#define VM_PMU_POWER_NO_FSCR_EBB (1 << 20)

// In the control word of POWER: HFSCR[EBB] is 0.
#define VM_PMU_POWER_NO_HFSCR_EBB (1 << 21)

// In the control word of POWER: HFSCR[BHRB] is 0.
#define VM_PMU_POWER_NO_HFSCR_BHRB (1 << 22)

// In the control word of POWER: HFSCR[PM] is 0.
#define VM_PMU_POWER_NO_HFSCR_PM (1 << 23)

// In VmPmuDemand::records: a record is wanted of the instruction at which a deadline is reached.
#define VM_PMU_RECORDS_AT_DEADLINE (1 << 0)

// In VmPmuDemand::records: of every taken branch.
#define VM_PMU_RECORDS_TAKEN_BRANCHES (1 << 1)

// In VmPmuDemand::records: of every control transfer, taken or not.
#define VM_PMU_RECORDS_BRANCHES (1 << 2)

// In VmPmuDemand::records: of every access to memory.
#define VM_PMU_RECORDS_MEMORY (1 << 3)

// In VmPmuDemand::records: of every instruction whose fetch missed a cache or a translation buffer.
#define VM_PMU_RECORDS_FETCHES (1 << 4)

// In VmPmuDemand::records: of every instruction.
#define VM_PMU_RECORDS_EVERY (1 << 5)

// In VmPmuDemand::records: every request that left a core's own caches is wanted, by vm_pmu_request().
#define VM_PMU_RECORDS_REQUESTS (1 << 6)

// In VmPmuOptions::records, in addition to VM_PMU_RECORDS_AT_DEADLINE: the embedder reports records of the accesses whose addresses a
// register keeps in continuous sampling (POWER9's SDAR), so that deadlines may be set for each of them.
#define VM_PMU_RECORDS_SAMPLED_ADDRESSES (1 << 7)

// In VmPmuDemand::records: the records at deadlines have the outcomes of the instructions that random sampling chooses (POWER9's SIER), as
// far as known: the source of data, mispredictions, translations.
#define VM_PMU_RECORDS_SAMPLED_OUTCOMES (1 << 8)

// In VmPmuDemand::records: what table walkers do for a guest under a host is wanted. A companion tells it whose page tables do.
#define VM_PMU_RECORDS_NESTED (1 << 9)

// In VmPmuOptions::records, alone: the embedder never reports a record.
#define VM_PMU_RECORDS_NEVER (1 << 30)

// How many words of 64 bits a set of signals has.
#define VM_PMU_SIGNAL_WORDS 32

// In VmPmuRecord::flags: the branch was taken.
#define VM_PMU_RECORD_TAKEN (1 << 0)

// In VmPmuRecord::flags: the instruction read memory.
#define VM_PMU_RECORD_LOAD (1 << 1)

// In VmPmuRecord::flags: the instruction wrote memory.
#define VM_PMU_RECORD_STORE (1 << 2)

// In VmPmuRecord::flags: the fetch fields describe a miss of the instruction's fetch.
#define VM_PMU_RECORD_FETCH (1 << 3)

// In VmPmuRecord::flags: its first-level instruction cache missed.
#define VM_PMU_RECORD_FETCH_MISS (1 << 4)

// In VmPmuRecord::flags: its line was on its way already.
#define VM_PMU_RECORD_FETCH_PENDING (1 << 5)

// In VmPmuRecord::flags: it was a prefetch, not a demand fetch; its address may be anywhere.
#define VM_PMU_RECORD_FETCH_PREFETCH (1 << 6)

// In VmPmuRecord::flags: reload_source is known.
#define VM_PMU_RECORD_RELOAD_SOURCE (1 << 7)

// In VmPmuRecord::flags: walk_source is known.
#define VM_PMU_RECORD_WALK_SOURCE (1 << 8)

// In VmPmuRecord::flags: another cache that had the line in state T supplied it.
#define VM_PMU_RECORD_TAGGED_INTERVENTION (1 << 9)

// How many stages an instruction has: VmPmuStage.
#define VM_PMU_STAGES 12

// The most signals in VmPmuCpuOptions::growing.
#define VM_PMU_MOST_GROWING 6

// The most signals that a step names, and the most states that hold in it.
#define VM_PMU_MOST_STEP 48

// In VmPmuStep::occasions: it is a control transfer.
#define VM_PMU_OCCASION_BRANCH (1 << 0)

// In VmPmuStep::occasions: a control transfer that was taken.
#define VM_PMU_OCCASION_TAKEN (1 << 1)

// In VmPmuStep::occasions: it accessed memory.
#define VM_PMU_OCCASION_MEMORY (1 << 2)

// In VmPmuStep::occasions: its fetch missed something. A companion knows it by itself.
#define VM_PMU_OCCASION_FETCH (1 << 3)

// The lowest bit of the number of instructions in a countdown: the bits below it count VmPmuCpuOptions::paired_signal. What a block of up
// to 512 instructions subtracts is a constant of 31 bits, which fits into an instruction of most hosts.
#define VM_PMU_COUNTDOWN_SHIFT 21

// The most instructions of a block.
#define VM_PMU_MOST_INSTRUCTIONS (1 << (VM_PMU_COUNTDOWN_SHIFT - 2))

// What a call returns: 0 for success, a positive number for a fault to deliver to the guest, a negative one for misuse.
//
// A fault is not the caller's error: it is the processor's response to what the guest did. vm_pmu_last_error() describes a misuse. Neither
// changes anything. Later versions may return faults and errors that are not listed here.
enum VmPmuStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Success.
  VM_PMU_STATUS_OK = 0,
  // No register of this PMU has the address: it may belong to another component.
  VM_PMU_STATUS_FAULT_UNCLAIMED = 1,
  // x86: a general-protection exception with error code 0, #GP(0).
  VM_PMU_STATUS_FAULT_GENERAL_PROTECTION = 2,
  // POWER: a facility unavailable interrupt, vector F60h, for the performance monitor: FSCR shows cause 3.
  VM_PMU_STATUS_FAULT_FACILITY_PERFORMANCE_MONITOR = 3,
  // POWER: the same for the branch history, cause 4.
  VM_PMU_STATUS_FAULT_FACILITY_BRANCH_HISTORY = 4,
  // POWER: the same for event-based branches, cause 7.
  VM_PMU_STATUS_FAULT_FACILITY_EVENT_BASED_BRANCH = 5,
  // POWER: a hypervisor facility unavailable interrupt, vector F80h, for the performance monitor: HFSCR shows cause 3.
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_PERFORMANCE_MONITOR = 6,
  // POWER: the same for the branch history, cause 4.
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_BRANCH_HISTORY = 7,
  // POWER: the same for event-based branches, cause 7.
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_EVENT_BASED_BRANCH = 8,
  // POWER: a hypervisor emulation assistance interrupt, vector E40h; HEIR holds the instruction.
  VM_PMU_STATUS_FAULT_EMULATION_ASSISTANCE = 9,
  // POWER: a program interrupt of the privileged-instruction type, vector 700h.
  VM_PMU_STATUS_FAULT_PRIVILEGED_INSTRUCTION = 10,
  // POWER: no interrupt; the instruction does nothing, and mfspr leaves its target register unchanged.
  VM_PMU_STATUS_FAULT_NO_OPERATION = 11,
  // IA-64: a privileged operation fault, a general exception at vector 5400h with ISR.code 10h.
  VM_PMU_STATUS_FAULT_PRIVILEGED_OPERATION = 12,
  // IA-64: a reserved register/field fault, a general exception at vector 5400h with ISR.code 30h.
  VM_PMU_STATUS_FAULT_RESERVED_REGISTER_FIELD = 13,
  // A fault that this header has no name for.
  VM_PMU_STATUS_FAULT_OTHER = 255,
  // A pointer is null or misaligned, or a number has no meaning.
  VM_PMU_STATUS_ERROR_ARGUMENT = -1,
  // There is no thread, package, event or box of that number.
  VM_PMU_STATUS_ERROR_RANGE = -2,
  // There is nothing of that name.
  VM_PMU_STATUS_ERROR_NAME = -3,
  // The part does not have what was requested.
  VM_PMU_STATUS_ERROR_UNSUPPORTED = -4,
  // The litmus file cannot be read.
  VM_PMU_STATUS_ERROR_LITMUS_TEXT = -5,
  // An expectation of the litmus file failed.
  VM_PMU_STATUS_ERROR_LITMUS_FAILED = -6,
  // The snapshot is damaged, or of another machine; the machine is unchanged.
  VM_PMU_STATUS_ERROR_SNAPSHOT = -7,
  // A function of the caller stopped the call; what it was given before that stays valid.
  VM_PMU_STATUS_ERROR_STOPPED = -8,
  // A function of VmPmuMemory called the library, which holds a lock while it runs.
  VM_PMU_STATUS_ERROR_REENTERED = -9,
  // The bytes are no instruction, or end before it does.
  VM_PMU_STATUS_ERROR_INSTRUCTION = -10,
  // An internal failure of the library. The machine can still be used; please report the failure.
  VM_PMU_STATUS_ERROR_INTERNAL = -100,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStatus VmPmuStatus;
#else
typedef int32_t VmPmuStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The address spaces in which a guest names registers.
enum VmPmuSpace
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // x86: a model-specific register, by the ECX of RDMSR and WRMSR.
  VM_PMU_SPACE_MSR = 0,
  // x86: a performance counter, by the ECX of RDPMC.
  VM_PMU_SPACE_RDPMC = 1,
  // POWER: a special-purpose register, by the number in mtspr and mfspr.
  VM_PMU_SPACE_SPR = 2,
  // POWER: an entry of the branch history, by the number in mfbhrbe. A write of any value to any entry is clrbhrb.
  VM_PMU_SPACE_BHRB = 3,
  // POWER: the instruction match array, by mtimc and mfimc: number 0.
  VM_PMU_SPACE_IMC = 4,
  // IA-64: `mov pmc[]`, by the whole index register, of which only bits 7:0 matter.
  VM_PMU_SPACE_PMC = 5,
  // IA-64: `mov pmd[]`, likewise.
  VM_PMU_SPACE_PMD = 6,
  // IA-64: `mov ibr[]`, likewise.
  VM_PMU_SPACE_IBR = 7,
  // IA-64: `mov dbr[]`, likewise.
  VM_PMU_SPACE_DBR = 8,
  // A dword of PCI configuration space, numbered as in a memory-mapped one: bus in bits 27:20, device in 19:15, function in 14:12,
  // offset in 11:0, a multiple of 4. vm_pmu_pci_read() and vm_pmu_pci_write() answer as a bus does.
  VM_PMU_SPACE_PCI = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSpace VmPmuSpace;
#else
typedef uint32_t VmPmuSpace;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The kind of a control transfer.
enum VmPmuBranch
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The instruction is not a control transfer.
  VM_PMU_BRANCH_NONE = 0,
  // A conditional near branch.
  VM_PMU_BRANCH_CONDITIONAL = 1,
  // An unconditional near jump to a fixed target.
  VM_PMU_BRANCH_DIRECT_JUMP = 2,
  // A near jump whose target comes from a register or memory.
  VM_PMU_BRANCH_INDIRECT_JUMP = 3,
  // A near call of a fixed target.
  VM_PMU_BRANCH_DIRECT_CALL = 4,
  // A near call whose target comes from a register or memory.
  VM_PMU_BRANCH_INDIRECT_CALL = 5,
  // A near return.
  VM_PMU_BRANCH_RETURN = 6,
  // A far transfer: system call and return, interrupt return, far call and jump; on IA-64 rfi.
  VM_PMU_BRANCH_FAR = 7,
  // A fault or trap left the flow of instructions, for its handler.
  VM_PMU_BRANCH_EXCEPTION = 8,
  // A speculation check failed and went to its recovery code: on IA-64 chk.s, chk.a, fchkf.
  VM_PMU_BRANCH_FAILED_CHECK = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuBranch VmPmuBranch;
#else
typedef uint8_t VmPmuBranch;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a control transfer was predicted.
enum VmPmuPrediction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It was not predicted, or this is not known.
  VM_PMU_PREDICTION_NONE = 0,
  // Direction and target were right.
  VM_PMU_PREDICTION_RIGHT = 1,
  // The direction was wrong.
  VM_PMU_PREDICTION_WRONG_DIRECTION = 2,
  // The direction was right, the target was not.
  VM_PMU_PREDICTION_WRONG_TARGET = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuPrediction VmPmuPrediction;
#else
typedef uint8_t VmPmuPrediction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where the data of a load came from.
enum VmPmuData
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not known.
  VM_PMU_DATA_UNKNOWN = 0,
  // The store buffer of the same thread.
  VM_PMU_DATA_STORE_FORWARD = 1,
  // A cache of the same core, of VmPmuRecord::data_level.
  VM_PMU_DATA_CACHE = 2,
  // A cache of another core of the same package, where the line was clean.
  VM_PMU_DATA_OTHER_CORE = 3,
  // The same, where the line was modified.
  VM_PMU_DATA_OTHER_CORE_MODIFIED = 4,
  // A cache of another package, where the line was clean.
  VM_PMU_DATA_OTHER_PACKAGE = 5,
  // The same, where the line was modified.
  VM_PMU_DATA_OTHER_PACKAGE_MODIFIED = 6,
  // Memory of the same package.
  VM_PMU_DATA_LOCAL_MEMORY = 7,
  // Memory of another package.
  VM_PMU_DATA_REMOTE_MEMORY = 8,
  // A device, or uncacheable memory.
  VM_PMU_DATA_DEVICE = 9,
  // The third level of another core of the same package, where it is told from the levels before it and the line was clean.
  VM_PMU_DATA_OTHER_L3 = 10,
  // The same, where the line was modified.
  VM_PMU_DATA_OTHER_L3_MODIFIED = 11,
  // A third level of the same package that no core uses itself and that keeps lines of the others, where the line was clean.
  VM_PMU_DATA_LENT_L3 = 12,
  // The same, where the line was modified.
  VM_PMU_DATA_LENT_L3_MODIFIED = 13,
  // A cache of a package of another group, where the line was clean.
  VM_PMU_DATA_DISTANT_PACKAGE = 14,
  // The same, where the line was modified.
  VM_PMU_DATA_DISTANT_PACKAGE_MODIFIED = 15,
  // Memory of a package of another group.
  VM_PMU_DATA_DISTANT_MEMORY = 16,
  // A fourth level, in front of memory of the same package.
  VM_PMU_DATA_LOCAL_L4 = 17,
  // A fourth level, in front of memory of another package.
  VM_PMU_DATA_REMOTE_L4 = 18,
  // A fourth level, in front of memory of a package of another group.
  VM_PMU_DATA_DISTANT_L4 = 19,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuData VmPmuData;
#else
typedef uint8_t VmPmuData;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where an address translation was found.
enum VmPmuTranslation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not known.
  VM_PMU_TRANSLATION_UNKNOWN = 0,
  // The first level of translation buffers had it.
  VM_PMU_TRANSLATION_FIRST_LEVEL = 1,
  // The second level had it.
  VM_PMU_TRANSLATION_SECOND_LEVEL = 2,
  // A walk of the page tables by hardware.
  VM_PMU_TRANSLATION_WALK = 3,
  // A fault to software.
  VM_PMU_TRANSLATION_FAULT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuTranslation VmPmuTranslation;
#else
typedef uint8_t VmPmuTranslation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The unit that executed an instruction.
enum VmPmuUnit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not known: derived from branch and memory access; an instruction with neither is fixed point.
  VM_PMU_UNIT_UNKNOWN = 0,
  // The load/store unit; on IA-64 an M slot.
  VM_PMU_UNIT_LOAD_STORE = 1,
  // The branch unit; on IA-64 a B slot.
  VM_PMU_UNIT_BRANCH = 2,
  // Fixed point; on IA-64 an I slot, and the long instruction of an MLX bundle except brl.
  VM_PMU_UNIT_FIXED_POINT = 3,
  // Vector and scalar floating point, decimal; on IA-64 an F slot.
  VM_PMU_UNIT_VECTOR_SCALAR = 4,
  // None: the instruction is finished by the fetch unit.
  VM_PMU_UNIT_FETCH = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuUnit VmPmuUnit;
#else
typedef uint8_t VmPmuUnit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Where an instruction was fetched from.
enum VmPmuFetchSource
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not known, which is taken as the first level.
  VM_PMU_FETCH_SOURCE_UNKNOWN = 0,
  // The first-level instruction cache.
  VM_PMU_FETCH_SOURCE_L1 = 1,
  // The second level.
  VM_PMU_FETCH_SOURCE_L2 = 2,
  // The third level.
  VM_PMU_FETCH_SOURCE_L3 = 3,
  // Beyond the third level.
  VM_PMU_FETCH_SOURCE_BEYOND = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFetchSource VmPmuFetchSource;
#else
typedef uint8_t VmPmuFetchSource;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The outcome of a store in the second-level cache.
enum VmPmuStoreOutcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It is not a store, or this is not known.
  VM_PMU_STORE_OUTCOME_NONE = 0,
  // No machine of the second level was needed.
  VM_PMU_STORE_OUTCOME_DIRECT = 1,
  // It completed in the second level.
  VM_PMU_STORE_OUTCOME_COMPLETED = 2,
  // It completed after another cache supplied modified data.
  VM_PMU_STORE_OUTCOME_INTERVENTION = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStoreOutcome VmPmuStoreOutcome;
#else
typedef uint8_t VmPmuStoreOutcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A command to the fabric between caches.
enum VmPmuFabricCommand
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // None was needed, or this is not known.
  VM_PMU_FABRIC_COMMAND_NONE = 0,
  // Read.
  VM_PMU_FABRIC_COMMAND_READ = 1,
  // Read with intent to modify.
  VM_PMU_FABRIC_COMMAND_READ_TO_MODIFY = 2,
  // Claim a line that is held shared.
  VM_PMU_FABRIC_COMMAND_CLAIM = 3,
  // Invalidate the copies of others.
  VM_PMU_FABRIC_COMMAND_KILL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFabricCommand VmPmuFabricCommand;
#else
typedef uint8_t VmPmuFabricCommand;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why the load/store unit flushed an instruction that was then executed again.
enum VmPmuFlush
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It was not flushed, or this is not known.
  VM_PMU_FLUSH_NONE = 0,
  // A load had its data before an older store of the same bytes knew its address.
  VM_PMU_FLUSH_STORE_HIT_LOAD = 1,
  // The same, where the store has another effective address.
  VM_PMU_FLUSH_ALIAS = 2,
  // A load that reserves met an older one that waited.
  VM_PMU_FLUSH_RESERVATION = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFlush VmPmuFlush;
#else
typedef uint8_t VmPmuFlush;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a request beyond a core's own caches is for.
enum VmPmuRequestKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A line to read data from, for a load.
  VM_PMU_REQUEST_KIND_DATA_READ = 0,
  // The same for a prefetch by the first-level data cache itself.
  VM_PMU_REQUEST_KIND_DATA_READ_PREFETCH = 1,
  // A line for a prefetch instruction that reads.
  VM_PMU_REQUEST_KIND_SOFTWARE_PREFETCH = 2,
  // A line to write, for a store.
  VM_PMU_REQUEST_KIND_OWNERSHIP = 3,
  // A line to write, for a prefetch.
  VM_PMU_REQUEST_KIND_OWNERSHIP_PREFETCH = 4,
  // A line to execute.
  VM_PMU_REQUEST_KIND_CODE = 5,
  // A line to execute, for a prefetch of the second level.
  VM_PMU_REQUEST_KIND_CODE_PREFETCH = 6,
  // Part of a line is read: uncacheable or write-combining memory.
  VM_PMU_REQUEST_KIND_PARTIAL_READ = 7,
  // Part of a line is written: uncacheable, write-through or write-protected memory.
  VM_PMU_REQUEST_KIND_PARTIAL_WRITE = 8,
  // Uncacheable instructions.
  VM_PMU_REQUEST_KIND_UNCACHEABLE_CODE = 9,
  // The bus is locked, or a locked access is split between lines.
  VM_PMU_REQUEST_KIND_BUS_LOCK = 10,
  // A whole line that was combined from streaming stores.
  VM_PMU_REQUEST_KIND_FULL_STREAMING_STORE = 11,
  // Part of a line that was combined from streaming stores.
  VM_PMU_REQUEST_KIND_PARTIAL_STREAMING_STORE = 12,
  // A modified line that a cache displaced: it is written back.
  VM_PMU_REQUEST_KIND_WRITE_BACK = 13,
  // A line to execute, for a prefetch by the first-level instruction cache itself.
  VM_PMU_REQUEST_KIND_CODE_READ_PREFETCH = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuRequestKind VmPmuRequestKind;
#else
typedef uint8_t VmPmuRequestKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The supplier of the data of a request.
enum VmPmuSupplier
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // There is no data, or this is not known.
  VM_PMU_SUPPLIER_UNKNOWN = 0,
  // A cache of the same cluster (on Knights Landing: tile), which had the line modified.
  VM_PMU_SUPPLIER_OWN_CLUSTER_MODIFIED = 1,
  // The same, exclusive.
  VM_PMU_SUPPLIER_OWN_CLUSTER_EXCLUSIVE = 2,
  // The same, shared.
  VM_PMU_SUPPLIER_OWN_CLUSTER_SHARED = 3,
  // The same, shared, as the cache that answers for the line (forward).
  VM_PMU_SUPPLIER_OWN_CLUSTER_FORWARD = 4,
  // A cache of another cluster, near.
  VM_PMU_SUPPLIER_OTHER_CLUSTER = 5,
  // A cache of another cluster, in another quadrant of the mesh.
  VM_PMU_SUPPLIER_OTHER_CLUSTER_FAR = 6,
  // Memory on the package (MCDRAM), near.
  VM_PMU_SUPPLIER_NEAR_MEMORY = 7,
  // Memory on the package, in another quadrant of the mesh.
  VM_PMU_SUPPLIER_NEAR_MEMORY_FAR = 8,
  // Memory outside the package (DDR), near.
  VM_PMU_SUPPLIER_MEMORY = 9,
  // Memory outside the package, in another quadrant of the mesh.
  VM_PMU_SUPPLIER_MEMORY_FAR = 10,
  // A device.
  VM_PMU_SUPPLIER_DEVICE = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSupplier VmPmuSupplier;
#else
typedef uint8_t VmPmuSupplier;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The snoop of other caches for a request.
enum VmPmuSnoop
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // No other cache was snooped.
  VM_PMU_SNOOP_NONE = 0,
  // No other cache had to be snooped.
  VM_PMU_SNOOP_NOT_NEEDED = 1,
  // A cache of another cluster had the line and passed it on.
  VM_PMU_SNOOP_FORWARDED = 2,
  // A cache of another cluster had the line modified.
  VM_PMU_SNOOP_MODIFIED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSnoop VmPmuSnoop;
#else
typedef uint8_t VmPmuSnoop;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A stage of an instruction: its bit in VmPmuRecord::stages, its index in VmPmuRecord::stage_cycles.
enum VmPmuStage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Decoded.
  VM_PMU_STAGE_DECODED = 0,
  // Dispatched.
  VM_PMU_STAGE_DISPATCHED = 1,
  // Issued to its unit.
  VM_PMU_STAGE_ISSUED = 2,
  // A load that missed the first-level data cache.
  VM_PMU_STAGE_FIRST_MISS = 3,
  // Taken up by a machine of the second level.
  VM_PMU_STAGE_SECOND_LEVEL_DISPATCHED = 4,
  // That machine is done.
  VM_PMU_STAGE_SECOND_LEVEL_DONE = 5,
  // The load's data has arrived.
  VM_PMU_STAGE_RELOAD = 6,
  // Next to finish.
  VM_PMU_STAGE_NEXT_TO_FINISH = 7,
  // Finished.
  VM_PMU_STAGE_FINISHED = 8,
  // Next to complete.
  VM_PMU_STAGE_NEXT_TO_COMPLETE = 9,
  // Completed.
  VM_PMU_STAGE_COMPLETED = 10,
  // A store that has left the store queue.
  VM_PMU_STAGE_DRAINED = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStage VmPmuStage;
#else
typedef uint8_t VmPmuStage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A CPU of an emulator, attached to one hardware thread of a machine. Callers only get pointers to it.
typedef struct VmPmuCpu VmPmuCpu;

// A machine: the PMUs of all hardware threads, and what they share. Callers only get pointers to it.
typedef struct VmPmuMachine VmPmuMachine;

// What a machine, a chip or a companion remembers, as bytes. Callers only get pointers to it.
typedef struct VmPmuSnapshot VmPmuSnapshot;

// How a machine is made. Set `size` to its sizeof and leave fields that are not needed at zero: zero always means the default.
//
// The callbacks are called with no lock held, on the host thread that noticed the event, which need not be the one that runs the guest's
// thread: they may call any function of this header except vm_pmu_machine_destroy(). They must return: no C++ exception and no longjmp may
// leave them.
typedef struct {
  // sizeof(VmPmuOptions).
  size_t size;
  // The part's revision by its letter, or null for the default one.
  const char *revision;
  // How many packages; 0 is one. Knights Landing, where a package is a tile, has up to 38.
  uint32_t packages;
  // How many threads a package has; 0 is one. On POWER9 a package is a core, of 1, 2 or 4; on Montecito it is a core of 1 or 2, and the
  // first Itanium has one; on Knights Landing it is a tile, of up to 8, and its threads 0 to 3 are those of its first core.
  uint32_t threads;
  // VM_PMU_OPTION_SHARE_COUNTERS, VM_PMU_OPTION_BUSES, VM_PMU_OPTION_FREQUENCIES.
  uint32_t flags;
  // The signal that sets the pace for vm_pmu_due() and vm_pmu_room(): its total is always kept, demanded or not. Used if pace_most is
  // not 0.
  uint32_t pace_signal;
  // The most that any signal grows while the pace grows by one; 0 means a pace of cycles and a most of 4.
  uint32_t pace_most;
  // Knights Landing: the bus of the IRP, with VM_PMU_OPTION_BUSES; else 0.
  uint8_t irp_bus;
  // Knights Landing: the bus of the memory controllers, MCDRAM controllers and M2PCIe, with VM_PMU_OPTION_BUSES; else FFh.
  uint8_t memory_bus;
  // Zero.
  uint16_t reserved;
  // Passed to the callbacks.
  void *user;
  // Counter `counter` of hardware thread `thread` requests its interrupt, once; or null. On x86 the embedder delivers it as the
  // performance-counter entry of the thread's local APIC says; on IA-64 it makes the vector of PMV pending.
  void (*raise)(void *user, uint32_t thread, uint32_t counter);
  // The requests of a thread that stay raised until the guest removes their cause now have these levels (VM_PMU_LINE_...); or null.
  void (*lines)(void *user, uint32_t thread, uint32_t levels);
  // These pins, one bit each, have toggled at least once; or null.
  void (*pins)(void *user, uint32_t thread, uint32_t pins);
  // An interrupt was due `events` events ago: a deadline was passed, or one instruction brought several events; or null.
  void (*late)(void *user, uint32_t thread, uint64_t events);
  // Knights Landing: the frequency of the CPUs' clock for vm_pmu_boxes_advance(), with VM_PMU_OPTION_FREQUENCIES; else 1400. All four
  // are in the same unit, and only their ratios matter.
  uint32_t cpu_frequency;
  // The same of UCLK; else 1700.
  uint32_t uclk_frequency;
  // The same of ECLK; else 900.
  uint32_t eclk_frequency;
  // The same of DCLK; else 1200.
  uint32_t dclk_frequency;
  // The numbers of the signals that the embedder, with a companion, ever adds to: no deadline is set for any other. Null means all of
  // them. Cycles and pace_signal are always among them. The list is not used after vm_pmu_machine_create().
  const uint32_t *supplied;
  // The numbers of the signals that never grow by more than the pace does, or null: for these the deadline itself is the horizon.
  // pace_signal is one. The list is not used after vm_pmu_machine_create().
  const uint32_t *pace_single;
  // How many signals `supplied` has; 0 means all of them.
  uint32_t supplied_count;
  // How many signals `pace_single` has.
  uint32_t pace_single_count;
  // VM_PMU_RECORDS_...: the kinds of records that the embedder ever reports; 0 means all of them, VM_PMU_RECORDS_NEVER none.
  uint32_t records;
  // How many signals `pace_between_blocks` has.
  uint32_t pace_between_blocks_count;
  // The numbers of the signals that never grow within a block, as interrupts and exceptions do not, or null. The horizon does not
  // include them: after each addition to one, check vm_pmu_reached() for it, and call vm_pmu_check() if it has reached its deadline. The
  // list is not used after vm_pmu_machine_create().
  const uint32_t *pace_between_blocks;
  // Knights Landing: which tiles the die has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all of
  // them, without one tile n is at place n. Package n is the tile of the n-th bit that is set.
  uint64_t tiles;
  // Knights Landing: bytes of DDR, with a cluster mode of several nodes, which have equal parts, one after the other, and with MCDRAM that
  // is memory, which begins behind them.
  uint64_t memory;
  // Knights Landing: VmPmuClusterMode.
  uint32_t cluster_mode;
  // Knights Landing: VmPmuMemoryMode.
  uint32_t memory_mode;
  // Knights Landing: bytes of MCDRAM; 0 is 64 MiB, where the part has 16 GiB.
  uint64_t mcdram;
} VmPmuOptions;

// Where the totals and deadlines of a thread, or of a package's devices, are.
//
// The pointers are valid until the machine is destroyed, and the same at every call: translated code may use them as constants. Cells are
// consecutive 64-bit numbers in the host's byte order, one for each signal that the part has. That of signal n is
// `total_cells[cell_of_signal[n]]`, which vm_pmu_total() finds. It is the same for all threads and devices of a machine, and another for another
// part or in a later library.
//
// One host thread at a time adds to a thread's totals: the one that runs it. A plain addition to memory is enough, it need not be atomic.
// Other host threads may read totals, and may write deadlines and horizon: read those again every time, with a load of 64 bits. In C and
// C++ the functions at the end of this header do so.
typedef struct {
  // sizeof(VmPmuCells).
  size_t size;
  // The totals, to which the embedder adds.
  uint64_t *total_cells;
  // The totals at which vm_pmu_service() must be called, in the same order; VM_PMU_NEVER where there is no deadline. Only to be read.
  const uint64_t *deadline_cells;
  // The total of the pace before which no deadline can come, as long as the embedder keeps to VmPmuOptions::pace_most. Only to be read.
  const uint64_t *horizon;
  // How many signals the library has.
  uint32_t signals;
  // The number of the signal that sets the pace.
  uint32_t pace;
  // The cell of each signal, by the signal's number; VM_PMU_NO_CELL of a signal that the part does not have.
  const uint16_t *cell_of_signal;
  // The total of the pace. Only to be read.
  const uint64_t *pace_total;
  // The two numbers whose sum vm_pmu_epoch() returns, of the thread and of its package: see vm_pmu_epoch_of(). Only to be read. This is
  // the first.
  const uint32_t *own_epoch;
  // The second of the two numbers.
  const uint32_t *package_epoch;
  // The bits of VmPmuContext::machine_state whose changes must be reported at once; all bits if changes of the privilege level must be:
  // see vm_pmu_sensitivity(). Only to be read.
  const uint64_t *sensitivity;
  // Not 0 while contexts may be reported as sums: see vm_pmu_contexts_add_up(). Only to be read.
  const uint32_t *contexts_add_up;
} VmPmuCells;

// The state of a thread that decides what is counted and which accesses are allowed.
typedef struct {
  // sizeof(VmPmuContext).
  size_t size;
  // The privilege level, 0 being the most privileged. x86: CPL; IA-64: PSR.cpl; POWER: 0 hypervisor, 1 privileged, 3 problem state.
  uint32_t privilege;
  // VM_PMU_CONTEXT_HALTED, VM_PMU_CONTEXT_BACKGROUND.
  uint32_t flags;
  // x86: RFLAGS; POWER: MSR; IA-64: PSR.
  uint64_t machine_state;
  // x86: CR4; POWER: VM_PMU_POWER_RUN and the others; IA-64: DCR.
  uint64_t control;
  // POWER: the value of the guest's time base minus the total of the signal time_base_ticks.
  uint64_t time_base;
} VmPmuContext;

// What must be reported at the moment: an embedder may omit the rest.
typedef struct {
  // sizeof(VmPmuDemand).
  size_t size;
  // A number that changes when any other field does.
  uint32_t epoch;
  // VM_PMU_RECORDS_...: which instructions vm_pmu_record() is wanted for.
  uint32_t records;
  // Not 0 if a counter compares single cycles. The deadline of cycles is then one cycle ahead.
  uint32_t per_cycle;
  // Not 0 if nothing is wanted at all.
  uint32_t idle;
  // The signals whose totals counters follow: signal n is bit n % 64 of word n / 64.
  uint64_t signals[VM_PMU_SIGNAL_WORDS];
  // The states whose levels a counter of edges needs, in the same form. Supply them by vm_pmu_supply_levels() before any other event; at
  // all other times this is empty.
  uint64_t levels[VM_PMU_SIGNAL_WORDS];
} VmPmuDemand;

// One completed instruction. A field of zero is not known.
typedef struct {
  // sizeof(VmPmuRecord).
  size_t size;
  // The instruction's effective (virtual) address; on IA-64 that of its bundle.
  uint64_t address;
  // Its encoding: up to eight bytes, 41 bits on IA-64, as a little-endian number.
  uint64_t encoding;
  // Where its branch went, or would have gone.
  uint64_t branch_target;
  // The effective (virtual) address of its access to memory, with VM_PMU_RECORD_LOAD or VM_PMU_RECORD_STORE.
  uint64_t memory_address;
  // The effective (virtual) address that was fetched, with VM_PMU_RECORD_FETCH.
  uint64_t fetch_address;
  // The real address of its data.
  uint64_t real_address;
  // VM_PMU_RECORD_...
  uint32_t flags;
  // VM_PMU_TRAIT_...: its other properties and events.
  uint32_t traits;
  // The cycles from the completion of the instruction before it to its own: 1 if they are not counted.
  uint32_t cycles;
  // From issue to data, in cycles of the thread's clock; 0 if not known.
  uint32_t memory_latency;
  // From the fetch's request to the instructions, in cycles of the thread's clock; 0 if not known.
  uint32_t fetch_latency;
  // Cycles in which it was next to complete but stalled.
  uint32_t stall;
  // When it reached each stage, in cycles of its thread since it was marked.
  uint32_t stage_cycles[VM_PMU_STAGES];
  // The stages that it reached, one bit each; 0 without a pipeline model.
  uint16_t stages;
  // Its slot in the bundle on IA-64, else 0.
  uint8_t slot;
  // VmPmuBranch: its kind of control transfer.
  uint8_t branch;
  // VmPmuPrediction.
  uint8_t prediction;
  // The size of its access to memory in bytes.
  uint8_t memory_size;
  // VmPmuData: where its data came from.
  uint8_t data;
  // With VM_PMU_DATA_CACHE the cache's level, from 1.
  uint8_t data_level;
  // VmPmuTranslation of its access to memory.
  uint8_t memory_translation;
  // VmPmuTranslation of its fetch.
  uint8_t fetch_translation;
  // VmPmuUnit: the unit that executed it.
  uint8_t unit;
  // VmPmuFetchSource: where it was fetched from.
  uint8_t fetch_source;
  // The processor's own code of what reloaded the data cache (POWER9: 5 bits), with VM_PMU_RECORD_RELOAD_SOURCE.
  uint8_t reload_source;
  // The same code for the page-table entry that was loaded, with VM_PMU_RECORD_WALK_SOURCE.
  uint8_t walk_source;
  // VmPmuStoreOutcome of a store.
  uint8_t store_outcome;
  // The binary logarithm of the page's size in bytes; 0 if not known.
  uint8_t page_bits;
  // 4 bits: the reason of its stall (POWER9: SIER.FIN_STALL_REASON).
  uint8_t stall_reason;
  // VM_PMU_LINE_STATE_...: the states that the lines of the last-level cache had before it.
  uint8_t line_states;
  // VmPmuFabricCommand: its command to the fabric.
  uint8_t fabric_command;
  // How often the fabric answered with a retry.
  uint8_t fabric_retries;
  // 3 bits: the scope, as the processor's manual encodes it (POWER9: Table A-7).
  uint8_t fabric_scope;
  // 5 bits: the combined response.
  uint8_t fabric_response;
  // 3 bits: the type of the transaction.
  uint8_t fabric_transaction;
  // 2 bits: how busy the local memory was.
  uint8_t fabric_memory_busy;
  // VmPmuFlush: why its first attempt was flushed.
  uint8_t flush;
} VmPmuRecord;

// One request that left a core's own caches.
typedef struct {
  // sizeof(VmPmuRequest).
  size_t size;
  // The physical address of the line.
  uint64_t physical;
  // From the request to the data, in cycles of the thread's clock; 0 if not known.
  uint32_t latency;
  // VmPmuRequestKind: what it requested.
  uint8_t kind;
  // VmPmuSupplier of the data.
  uint8_t supplier;
  // VmPmuSnoop of other caches.
  uint8_t snoop;
  // One more than the number of the cluster (on Knights Landing: tile) whose cache had the line, if it was another; 0 if not known.
  uint32_t holder;
  // One more than the physical address of the line that a memory-side cache gave up for this one; 0 if there was none or it is not known.
  uint64_t displaced;
} VmPmuRequest;

// A signal that grows with each instruction of a block.
typedef struct {
  // The number of the signal.
  uint32_t signal;
  // How much each instruction adds to it.
  uint32_t amount;
} VmPmuGrowth;

// How a CPU is made. Set `size` to its sizeof and leave fields that are not needed at zero.
typedef struct {
  // sizeof(VmPmuCpuOptions).
  size_t size;
  // What grows with the instructions of blocks, in addition to instructions; VM_PMU_MOST_GROWING at most. An instruction is one cycle
  // unless the list says otherwise.
  const VmPmuGrowth *growing;
  // How many `growing` has.
  uint32_t growing_count;
  // The signal whose sum in a block the countdown counts beside instructions, such as branches; 0 for none.
  uint32_t paired_signal;
  // A VmPmuCompanion that makes what the emulator does not add, or null. The CPU has its follower of this thread until it is destroyed. A
  // library without the feature `companion` refuses one.
  void *companion;
  // The numbers of the signals that the emulator adds itself although the companion could make them, or null.
  const uint32_t *kept;
  // How many `kept` has.
  size_t kept_count;
} VmPmuCpuOptions;

// An instruction that a CPU completed, or another step of it. Set `size` to its sizeof and leave fields that are not needed at zero.
typedef struct {
  // sizeof(VmPmuStep).
  size_t size;
  // The numbers of the signals that grew by one each, VM_PMU_MOST_STEP at most, or null. A signal that occurred twice is named twice.
  const uint32_t *signals;
  // How many `signals` has.
  uint32_t signal_count;
  // How many `states` has.
  uint32_t state_count;
  // The numbers of the emulator's states that hold in every cycle of the step, such as masked interrupts, VM_PMU_MOST_STEP at most, or null:
  // used while a companion makes the cycles.
  const uint32_t *states;
  // The cycles of the step; not added while a companion makes them.
  uint64_t cycles;
  // Passed to `record`.
  void *user;
  // Called where the record of the instruction is wanted: fills in what the emulator knows, all fields except `size`, which are 0 at first, and
  // returns true; or returns false. Null for a step that is no instruction. It may call every function except those of this CPU, and must return.
  bool (*record)(void *user, VmPmuRecord *record);
  // VM_PMU_OCCASION_...: what may cause its record to be wanted, beside a deadline.
  uint32_t occasions;
} VmPmuStep;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The number of the library's binary interface: compare it with VM_PMU_ABI of the header that the program was compiled with.
uint32_t vm_pmu_abi(void);

// The version of the library by semantic versioning: major in bits 31:20, minor in bits 19:10, patch in bits 9:0.
//
// VM_PMU_VERSION is the version of the header.
uint32_t vm_pmu_version(void);

// The version of the library as a text, such as "0.1.0"; it lives as long as the program.
const char *vm_pmu_version_text(void);

// Copies the message of this host thread's last call that returned an error, as one line that ends with a zero byte.
//
// At most `size` bytes are written to `buffer`, including the zero byte; the rest is cut off. With `size` 0 nothing is written, and
// `buffer` may be null. Returns the length of the whole message without the zero byte; 0 if no call has failed yet.
size_t vm_pmu_last_error(char *buffer, size_t size);

// Makes a machine of the part of this name: "k8", "knl", "power9", "itanium", "montecito"; vm_pmu_part_name() lists them.
//
// `options` may be null, for one package of one thread without callbacks. The machine is written to `machine`, and lives until
// vm_pmu_machine_destroy(). It never moves, and nothing is allocated for it later. It may be used from several host threads at once.
//
// Options that the part does not have are refused with VM_PMU_STATUS_ERROR_UNSUPPORTED: a number of threads or packages that it cannot
// have, shared counters on a part other than the K8, buses or frequencies of boxes, tiles or a cluster mode on a part without boxes.
VmPmuStatus vm_pmu_machine_create(const char *name, const VmPmuOptions *options, VmPmuMachine **machine);

// Destroys a machine. Null is allowed and does nothing. While a callback of the machine runs, or it has a VmPmuCpu, this is refused.
//
// No other call may be using the machine. Afterwards neither it nor pointers to its cells may be used.
VmPmuStatus vm_pmu_machine_destroy(VmPmuMachine *machine);

// Writes how many packages the machine has, how many threads in all, and how many bytes it takes. Each of the pointers may be null.
VmPmuStatus vm_pmu_machine_shape(const VmPmuMachine *machine, uint32_t *packages, uint32_t *threads, size_t *bytes);

// Thread `thread` of the guest reads register `number` of address space `space` (VmPmuSpace). The value is written to `value`.
//
// Returns the fault to deliver to the guest instead, if there is one; VM_PMU_STATUS_FAULT_UNCLAIMED when the register is not the PMU's.
// Before the call the totals must include every instruction before the accessing one, and the context must be current.
VmPmuStatus vm_pmu_read(const VmPmuMachine *machine, uint32_t thread, uint32_t space, uint64_t number, uint64_t *value);

// Thread `thread` of the guest writes `value` to register `number` of address space `space` (VmPmuSpace).
//
// Returns as vm_pmu_read() does; with a fault nothing is written. Afterwards the demand may have changed: check vm_pmu_epoch().
VmPmuStatus vm_pmu_write(const VmPmuMachine *machine, uint32_t thread, uint32_t space, uint64_t number, uint64_t value);

// Fills `cells` with where the totals and deadlines of thread `thread` are.
VmPmuStatus vm_pmu_cells(const VmPmuMachine *machine, uint32_t thread, VmPmuCells *cells);

// A deadline of thread `thread` has been reached: counts up to now, delivers what is due, sets new deadlines.
//
// Before it, add all signals of the instruction, and report its record if it is wanted.
VmPmuStatus vm_pmu_service(const VmPmuMachine *machine, uint32_t thread);

// The horizon of thread `thread` has been reached: services it if a deadline has been reached, and moves the horizon on.
VmPmuStatus vm_pmu_check(const VmPmuMachine *machine, uint32_t thread);

// Thread `thread` completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at
// `signals` and `cycles` to the cycles, and services the PMU if a deadline has been reached. A signal that occurred twice is named twice.
// The shortest way for an interpreter; signals that are not demanded may be named too.
VmPmuStatus vm_pmu_retire(const VmPmuMachine *machine, uint32_t thread, const uint32_t *signals, size_t count, uint64_t cycles);

// Lets `cycles` go by, all of the `count` signals at `states` holding in each of them: adds to their totals and services the thread at
// every deadline on the way. The signal of cycles is one of the states.
VmPmuStatus vm_pmu_advance(const VmPmuMachine *machine, uint32_t thread, uint64_t cycles, const uint32_t *states, size_t count);

// Fills `cells` with where the totals and deadlines of the devices of package `package` are: traffic that no thread caused.
//
// One host thread at a time adds to them.
VmPmuStatus vm_pmu_device_cells(const VmPmuMachine *machine, uint32_t package, VmPmuCells *cells);

// A deadline of the devices of package `package` has been reached.
VmPmuStatus vm_pmu_service_devices(const VmPmuMachine *machine, uint32_t package);

// The horizon of the devices of package `package` has been reached: as vm_pmu_check() for a thread.
VmPmuStatus vm_pmu_check_devices(const VmPmuMachine *machine, uint32_t package);

// Thread `thread` enters a new state. Events that were added to the totals before this call occurred in the old one.
VmPmuStatus vm_pmu_set_context(const VmPmuMachine *machine, uint32_t thread, const VmPmuContext *context);

// vm_pmu_set_context() for a running x86 thread with this CPL, RFLAGS and CR4. For one in HLT use vm_pmu_set_context() with
// VM_PMU_CONTEXT_HALTED.
VmPmuStatus vm_pmu_set_context_x86(const VmPmuMachine *machine, uint32_t thread, uint32_t cpl, uint64_t rflags, uint64_t cr4);

// vm_pmu_set_context() for a running POWER thread with this MSR, from which the privilege follows. `control` and `time_base` are as in
// VmPmuContext.
VmPmuStatus vm_pmu_set_context_power(const VmPmuMachine *machine, uint32_t thread, uint64_t msr, uint64_t control, uint64_t time_base);

// vm_pmu_set_context() for a running IA-64 thread in the foreground with this PSR, from which the privilege follows, and this DCR.
VmPmuStatus vm_pmu_set_context_ia64(const VmPmuMachine *machine, uint32_t thread, uint64_t psr, uint64_t dcr);

// Fills `context` with the state of thread `thread` as its PMU knows it.
VmPmuStatus vm_pmu_context(const VmPmuMachine *machine, uint32_t thread, VmPmuContext *context);

// Brings the registers of thread `thread` to their values after a reset: a warm one, with the power on (INIT), or a cold one. Report the
// context afterwards.
VmPmuStatus vm_pmu_reset(const VmPmuMachine *machine, uint32_t thread, bool warm);

// Writes to `levels` which requests of thread `thread` stay raised until the guest removes their cause (VM_PMU_LINE_...).
VmPmuStatus vm_pmu_lines(const VmPmuMachine *machine, uint32_t thread, uint32_t *levels);

// Sets a deadline at every toggle of these pins of thread `thread`, one bit each.
VmPmuStatus vm_pmu_watch_pins(const VmPmuMachine *machine, uint32_t thread, uint32_t pins);

// Writes to `toggles` how often pin `pin` of thread `thread` has toggled; its level is the lowest bit.
VmPmuStatus vm_pmu_pin_toggles(const VmPmuMachine *machine, uint32_t thread, uint32_t pin, uint64_t *toggles);

// Writes to `value` and `mask` which instructions the signal matched_instructions counts: those whose encoding is `value` in the bits of
// `mask`. Writes to `any` whether it counts any. Each of the pointers may be null. When it changes, so does the epoch of the demand.
VmPmuStatus vm_pmu_instruction_match(const VmPmuMachine *machine, uint32_t thread, bool *any, uint64_t *value, uint64_t *mask);

// Fills `demand` with what thread `thread` must report: what its own counters follow, and those of others in the whole package.
VmPmuStatus vm_pmu_demand(const VmPmuMachine *machine, uint32_t thread, VmPmuDemand *demand);

// Writes to `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, the signals that the counters of thread `thread`,
// and those of others in the whole package, follow in vain at the moment, because VmPmuOptions::supplied does not name them. Such counters
// count nothing; an emulator can warn its user.
VmPmuStatus vm_pmu_unsupplied(const VmPmuMachine *machine, uint32_t thread, uint64_t *signals);

// Supplies the levels that VmPmuDemand::levels of thread `thread` asks for: `holding` points to VM_PMU_SIGNAL_WORDS words, in which the
// bits of the states that hold right now are set. A counter that starts within a state then does not take it for an edge. Call it before
// any other event; if it is never called, every state is at rest.
VmPmuStatus vm_pmu_supply_levels(const VmPmuMachine *machine, uint32_t thread, const uint64_t *holding);

// Writes to `epoch` the epoch of thread `thread`'s demand, without taking a lock: a register access of another thread can change it too.
// Compare it once per block.
VmPmuStatus vm_pmu_epoch(const VmPmuMachine *machine, uint32_t thread, uint32_t *epoch);

// Fills `demand` with what the devices of package `package` must report.
VmPmuStatus vm_pmu_device_demand(const VmPmuMachine *machine, uint32_t package, VmPmuDemand *demand);

// An event without a signal occurred in thread `thread` `amount` times (or for `amount` cycles). It is named as a guest would select it:
// the event, and the bits of the unit mask that describe it. Writes to `taken`, which may be null, whether a counter of the thread counted
// it.
VmPmuStatus vm_pmu_inject(const VmPmuMachine *machine, uint32_t thread, uint32_t select, uint32_t umask, uint64_t amount, bool *taken);

// The same for an event of the whole package `package`: every thread of it that has a counter for the event counts it.
VmPmuStatus vm_pmu_inject_package(const VmPmuMachine *machine,
                                  uint32_t package,
                                  uint32_t select,
                                  uint32_t umask,
                                  uint64_t amount,
                                  bool *taken);

// Reports one instruction of thread `thread`, where VmPmuDemand::records asks for it: after its signals have been added and, if it reached
// a deadline, before vm_pmu_service(). More records than are demanded do no harm.
VmPmuStatus vm_pmu_record(const VmPmuMachine *machine, uint32_t thread, const VmPmuRecord *record);

// Reports a request of thread `thread`, where VmPmuDemand::records has VM_PMU_RECORDS_REQUESTS: after the signals of the instruction that
// made it have been added.
VmPmuStatus vm_pmu_request(const VmPmuMachine *machine, uint32_t thread, const VmPmuRequest *request);

// Makes a CPU whose PMU is that of thread `thread` of `machine`. `options` may be null. It lives until vm_pmu_cpu_destroy(), and the machine,
// and the companion if there is one, refuse to be destroyed before.
//
// A CPU calls the PMU when something becomes visible to the guest, and knows what is counted at the moment. An emulator reports what it executes
// in the words that fit it:
//
// - instruction by instruction: vm_pmu_cpu_retire(), or vm_pmu_cpu_complete() for steps that have more to report;
// - in translated blocks: vm_pmu_enter() or the same in generated code, vm_pmu_cpu_refill() when a block does not fit, and
//   vm_pmu_cpu_take_back() when one is left before its end;
// - by a clock of its own: vm_pmu_cpu_advance() and vm_pmu_cpu_until();
// - with a companion: vm_pmu_cpu_execute() before vm_pmu_cpu_complete(), while vm_pmu_cpu_is_followed().
//
// All of them may be mixed. The guest's accesses are vm_pmu_cpu_read() and vm_pmu_cpu_write(), its state is reported by
// vm_pmu_cpu_set_context(). Other calls for the thread of a CPU, as by vm_pmu_inject(), are made within vm_pmu_cpu_access(), or after
// vm_pmu_cpu_sync() where they do not change registers. One host thread at a time uses a CPU; the callbacks of VmPmuOptions are called while
// it is in use, and calls for the same CPU are refused there.
VmPmuStatus vm_pmu_cpu_create(const VmPmuMachine *machine,
                              uint32_t thread,
                              const VmPmuCpuOptions *options,
                              VmPmuCpu **cpu);

// Destroys a CPU. Null is allowed and does nothing. What its blocks have executed is added to the totals.
VmPmuStatus vm_pmu_cpu_destroy(VmPmuCpu *cpu);

// The CPU completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at `signals`
// and `cycles` to the cycles, and serves deadlines. A signal that occurred twice is named twice; VM_PMU_MOST_STEP at most. Signals that are not
// demanded may be named too. While a companion makes the cycles, `cycles` is not added.
VmPmuStatus vm_pmu_cpu_retire(VmPmuCpu *cpu,
                              const uint32_t *signals,
                              size_t count,
                              uint64_t cycles);

// The CPU completed a step: adds what it counts, reports its record where one is wanted, with what the companion knows of it, and serves
// deadlines. Writes to `cycles`, which may be null, how many cycles the companion made: 0 unless it makes them. A record that has a value
// without a meaning is refused: the step is counted nevertheless.
//
// An instruction of a CPU that is followed has been reported by vm_pmu_cpu_execute() before: what the companion made of it comes first. If it was
// entered as a block of its own, the step does not name what the countdown counts.
VmPmuStatus vm_pmu_cpu_complete(VmPmuCpu *cpu,
                                const VmPmuStep *step,
                                uint64_t *cycles);

// Lets `cycles` go by in which nothing else occurs, all of the `count` signals at `states` holding in each of them, and serves every deadline on
// the way: for an emulator with a clock of its own, and for a CPU that waits. The signal of cycles is one of the states while the CPU
// runs; VM_PMU_MOST_STEP at most.
VmPmuStatus vm_pmu_cpu_advance(VmPmuCpu *cpu,
                               uint64_t cycles,
                               const uint32_t *states,
                               size_t count);

// Writes to `cycles` how many cycles may go by in the `count` states at `states` before something becomes due; VM_PMU_NEVER if nothing does.
// For the timer of a CPU that waits.
VmPmuStatus vm_pmu_cpu_until(VmPmuCpu *cpu,
                             const uint32_t *states,
                             size_t count,
                             uint64_t *cycles);

// Writes to `countdown` where the CPU's countdown is: the same until vm_pmu_cpu_place(). Generated code subtracts what vm_pmu_takes() returns for
// its block, calls vm_pmu_cpu_refill() if the difference is negative as a signed number, and otherwise stores it.
VmPmuStatus vm_pmu_cpu_countdown(const VmPmuCpu *cpu,
                                 uint64_t **countdown);

// Moves the countdown to `countdown`, 8 bytes of the caller's that remain until the CPU is destroyed: next to what its generated code uses.
VmPmuStatus vm_pmu_cpu_place(VmPmuCpu *cpu, uint64_t *countdown);

// A block of `instructions` does not fit: serves deadlines, and writes to `allowed` how many of its instructions to enter as a block of their
// own. Such a block fits, and no deadline comes before the last of them. Look for interrupts before it is entered.
VmPmuStatus vm_pmu_cpu_refill(VmPmuCpu *cpu,
                              uint32_t instructions,
                              uint32_t *allowed);

// A block was left before its end: gives back the instructions that were not executed, as vm_pmu_takes() returns for them. What has been added
// to the totals stays there.
VmPmuStatus vm_pmu_cpu_take_back(VmPmuCpu *cpu,
                                 uint64_t takes);

// Writes to `wants` whether the record of the instruction that was last executed is wanted, because it reached a deadline: for blocks, between
// one that ended and vm_pmu_cpu_refill(). If so, vm_pmu_cpu_record() comes next.
VmPmuStatus vm_pmu_cpu_wants_record(VmPmuCpu *cpu,
                                    bool *wants);

// Reports a record that is wanted: for emulators that complete no steps.
VmPmuStatus vm_pmu_cpu_record(VmPmuCpu *cpu, const VmPmuRecord *record);

// Adds to the totals what blocks have executed, and writes to `executed`, which may be null, how many instructions that was. Before the machine
// is saved, and before totals are read.
VmPmuStatus vm_pmu_cpu_settle(VmPmuCpu *cpu,
                              uint64_t *executed);

// Brings everything up to date between two blocks or steps: what blocks have executed is in the totals, deadlines are served, and the demand
// is the current one. Call it before one of several pending interrupts is chosen, if the countdown has no instruction left; and when
// vm_pmu_cpu_is_stale().
VmPmuStatus vm_pmu_cpu_sync(VmPmuCpu *cpu);

// Writes to `stale` whether what is demanded has changed since it was last read, by a register access of this CPU's or another's: a CPU that
// executes blocks asks at their ends.
VmPmuStatus vm_pmu_cpu_is_stale(const VmPmuCpu *cpu,
                                bool *stale);

// Fills `demand` with what the emulator itself must add and report at the moment: what is demanded without what the companion makes. Its epoch
// changes whenever it may have changed, after vm_pmu_cpu_sync(), an access or a step: translated blocks that add signals depend on it. In
// blocks it has the pace too, which the countdown adds.
VmPmuStatus vm_pmu_cpu_demand(const VmPmuCpu *cpu,
                              VmPmuDemand *demand);

// Writes to `followed` whether instructions must be reported by vm_pmu_cpu_execute() at the moment.
VmPmuStatus vm_pmu_cpu_is_followed(const VmPmuCpu *cpu, bool *followed);

// Adds to the totals of `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, and reports `records`, VM_PMU_RECORDS_...,
// even while the PMU does not demand them: for other devices that count what the CPU does. Takes the place of what was watched before.
VmPmuStatus vm_pmu_cpu_watch(VmPmuCpu *cpu,
                             const uint64_t *signals,
                             uint32_t records);

// Leaves `records`, VM_PMU_RECORDS_..., out for a time although they are demanded, 0 at first: for records that cost much and that the guest seldom
// looks at.
VmPmuStatus vm_pmu_cpu_leave_out(VmPmuCpu *cpu,
                                 uint32_t records);

// State `state` of the emulator holds from now on, or no longer: for counters of its edges, which may start within it.
VmPmuStatus vm_pmu_cpu_set_level(VmPmuCpu *cpu, uint32_t state, bool holds);

// The guest reads register `number` of address space `space` (VmPmuSpace). What was executed before has been counted; the accessing
// instruction is counted afterwards, and in a block it is the last and adds nothing to the paired signal. Otherwise as vm_pmu_read().
VmPmuStatus vm_pmu_cpu_read(VmPmuCpu *cpu, uint32_t space, uint64_t number, uint64_t *value);

// The guest writes `value` to register `number` of address space `space` (VmPmuSpace), as in vm_pmu_cpu_read(). With a fault nothing is
// written.
VmPmuStatus vm_pmu_cpu_write(VmPmuCpu *cpu, uint32_t space, uint64_t number, uint64_t value);

// Calls `work` with `user` while the CPU is as at an access of the guest to its PMU: there other functions of this header may be called for its
// thread, except those of the CPU itself. It must return: no C++ exception and no longjmp may leave it.
VmPmuStatus vm_pmu_cpu_access(VmPmuCpu *cpu,
                              void (*work)(void *user),
                              void *user);

// The state of the processor from now on, with whether it is halted. What was reported before occurred in the old one. Where no counter depends
// on a change, or the counts of both states add up, the PMU learns of it later: most changes cost a few comparisons.
VmPmuStatus vm_pmu_cpu_set_context(VmPmuCpu *cpu,
                                   const VmPmuContext *context);

// What the processor's state has become within a block, in fields that no counter depends on, such as flags and a time base: for an emulator that
// reads them only when the guest accesses its PMU, which comes next. The accessing instruction is not counted before.
VmPmuStatus vm_pmu_cpu_refresh_context(VmPmuCpu *cpu,
                                       const VmPmuContext *context);

// The machine has been restored or reset, and so has the companion: reads the context and the demand again. Instructions that blocks have
// executed and that were not settled belong to the state before, and are discarded.
VmPmuStatus vm_pmu_cpu_restored(VmPmuCpu *cpu);

// Saves everything that the machine remembers: its PMUs, the boxes that they share, and what packages post into memory. Options, totals
// and deadlines are not part of it. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
//
// No thread of the guest may run meanwhile. An interrupt that becomes due by saving is raised before this returns: save the interrupt
// controllers afterwards.
VmPmuStatus vm_pmu_save(const VmPmuMachine *machine, VmPmuSnapshot **snapshot);

// Writes to `bytes` and `length` where the bytes of the snapshot are, and how many. They are valid until the snapshot is destroyed.
VmPmuStatus vm_pmu_snapshot_bytes(const VmPmuSnapshot *snapshot, const uint8_t **bytes, size_t *length);

// Destroys a snapshot. Null is allowed and does nothing.
VmPmuStatus vm_pmu_snapshot_destroy(VmPmuSnapshot *snapshot);

// Makes the machine remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a machine of the same part, packages and
// threads, saved by this version of the library or an earlier one.
//
// Events that were added to the totals before are not counted. No thread of the guest may run meanwhile. Check the demand and the lines
// afterwards. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of another machine: then nothing is changed.
VmPmuStatus vm_pmu_load(const VmPmuMachine *machine, const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/*
 * The following does the work of generated code, for interpreters written in C or C++. None of it calls the library.
 */

#if defined(__GNUC__) || defined(__clang__)
#define VM_PMU_LOAD(cell) __atomic_load_n((cell), __ATOMIC_RELAXED)
#define VM_PMU_STORE(cell, value) __atomic_store_n((cell), (value), __ATOMIC_RELAXED)
#define VM_PMU_ACQUIRE(cell) __atomic_load_n((cell), __ATOMIC_ACQUIRE)
#else
#define VM_PMU_LOAD(cell) (*(const volatile uint64_t *)(cell))
#define VM_PMU_STORE(cell, value) ((void)(*(volatile uint64_t *)(cell) = (value)))
#define VM_PMU_ACQUIRE(cell) (*(const volatile uint32_t *)(cell))
#endif

/**
 * Where the total of a signal, below VmPmuCells::signals, is; null if the part does not have the signal. Generated code has it as a constant,
 * and an interpreter keeps it: then an addition is one load, one add and one store.
 */
static inline uint64_t *vm_pmu_total(const VmPmuCells *cells, uint32_t signal) {
  uint16_t cell = cells->cell_of_signal[signal];
  return cell == VM_PMU_NO_CELL ? 0 : cells->total_cells + cell;
}

/**
 * Adds to the total of a signal, below VmPmuCells::signals, and returns the new total; 0 of a signal that the part does not have.
 */
static inline uint64_t vm_pmu_add(const VmPmuCells *cells, uint32_t signal, uint64_t amount) {
  uint64_t *cell = vm_pmu_total(cells, signal), total;
  if (!cell) return 0;
  total = VM_PMU_LOAD(cell) + amount;
  VM_PMU_STORE(cell, total);
  return total;
}

/**
 * The total of a signal at which vm_pmu_service() must be called; VM_PMU_NEVER if it has no deadline.
 */
static inline uint64_t vm_pmu_deadline(const VmPmuCells *cells, uint32_t signal) {
  uint16_t cell = cells->cell_of_signal[signal];
  return cell == VM_PMU_NO_CELL ? VM_PMU_NEVER : VM_PMU_LOAD(cells->deadline_cells + cell);
}

/**
 * Whether the total of a signal has reached its deadline. If so, call vm_pmu_service().
 */
static inline bool vm_pmu_reached(const VmPmuCells *cells, uint32_t signal) {
  const uint64_t *total = vm_pmu_total(cells, signal);
  return total && VM_PMU_LOAD(total) >= vm_pmu_deadline(cells, signal);
}

/**
 * Whether the horizon has been reached: one comparison for any number of counted signals. If so, call vm_pmu_check().
 */
static inline bool vm_pmu_due(const VmPmuCells *cells) {
  return VM_PMU_LOAD(cells->pace_total) >= VM_PMU_LOAD(cells->horizon);
}

/**
 * How far the pace may advance before the horizon. A translated block that adds less to the pace needs no comparison inside it.
 */
static inline uint64_t vm_pmu_room(const VmPmuCells *cells) {
  uint64_t total = VM_PMU_LOAD(cells->pace_total);
  uint64_t horizon = VM_PMU_LOAD(cells->horizon);
  return horizon > total ? horizon - total : 0;
}

/**
 * The value that vm_pmu_epoch() writes, without a call. If another host thread has changed it and then made something visible to this one,
 * the new value is read.
 */
static inline uint32_t vm_pmu_epoch_of(const VmPmuCells *cells) { return VM_PMU_ACQUIRE(cells->own_epoch) + VM_PMU_ACQUIRE(cells->package_epoch); }

/**
 * The bits of VmPmuContext::machine_state whose changes must be reported at once by vm_pmu_set_context(). All bits are set if changes of
 * the privilege level must be reported and no bit represents it. A change of other bits, or of the level if no bit is set, may wait until
 * the next call other than vm_pmu_check(), vm_pmu_service() and vm_pmu_record(). Changes of the other fields are always reported. Read it
 * again each time.
 */
static inline uint64_t vm_pmu_sensitivity(const VmPmuCells *cells) { return VM_PMU_LOAD(cells->sensitivity); }

/**
 * Whether the order of contexts makes no difference until the next deadline, because the counts of each context add up. If so, the embedder
 * may sum what it adds in each context, and report one context after the other with its sums before any other call. This holds for contexts
 * that were reported since the last register access and that differ only in privilege and machine_state. Read it again each time.
 */
static inline bool vm_pmu_contexts_add_up(const VmPmuCells *cells) { return VM_PMU_ACQUIRE(cells->contexts_add_up) != 0; }

/**
 * Whether a counter follows a signal. If not, the signal need not be added.
 */
static inline bool vm_pmu_wants(const VmPmuDemand *demand, uint32_t signal) {
  return signal < 64 * VM_PMU_SIGNAL_WORDS && (demand->signals[signal / 64] >> (signal % 64) & 1) != 0;
}

/**
 * What a block of `instructions` subtracts from the countdown of a VmPmuCpu at its entry. Together they add `paired` to the paired signal, each
 * 3 at most. A constant of the block.
 */
static inline uint64_t vm_pmu_takes(uint32_t instructions, uint32_t paired) {
  return ((uint64_t)instructions << VM_PMU_COUNTDOWN_SHIFT) - paired;
}

/**
 * A block is entered, as generated code does it: subtracts what it takes, and returns whether it may be executed. If not, nothing is subtracted,
 * and vm_pmu_cpu_refill() comes next.
 */
static inline bool vm_pmu_enter(uint64_t *countdown, uint64_t takes) {
  uint64_t left = VM_PMU_LOAD(countdown) - takes;
  if ((int64_t)left < 0) return false;
  VM_PMU_STORE(countdown, left);
  return true;
}

#endif /* VM_PMU_H */
