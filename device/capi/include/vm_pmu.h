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
 * - This header declares every function. A library that was built without a part or a group of functions does not have those functions; the
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

/**
 * The version of this header, as vm_pmu_version() has it: 0.1.0.
 */
#define VM_PMU_VERSION 1024


/**
 * The number of the binary interface: programs and libraries of the same number are compatible.
 *
 * It changes when a function, a field or a number is removed or changes its meaning. Additions do not change it: functions, signals, and
 * fields at the end of structs that begin with their size.
 */
#define VM_PMU_ABI 0

/**
 * The most threads of a machine, in all its packages.
 */
#define VM_PMU_MOST_THREADS 16384

/**
 * In VmPmuOptions::flags: a counter that one thread uses for a unit of the package stays usable to the others for their own events. The
 * K8's manual says that it does not; a driver that assumes it does loses counts unless this is set.
 */
#define VM_PMU_OPTION_SHARE_COUNTERS (1 << 0)

/**
 * In VmPmuOptions::flags: irp_bus and memory_bus are set.
 */
#define VM_PMU_OPTION_BUSES (1 << 1)

/**
 * In VmPmuOptions::flags: cpu_frequency, uclk_frequency, eclk_frequency and dclk_frequency are set.
 */
#define VM_PMU_OPTION_FREQUENCIES (1 << 2)

/**
 * A level in vm_pmu_lines() and the callback of that name. POWER: a performance monitor interrupt exists, taken at vector F00h when
 * MSR.EE allows.
 */
#define VM_PMU_LINE_INTERRUPT (1 << 0)

/**
 * A level in vm_pmu_lines() and the callback of that name. POWER: an event-based exception exists; the branch is taken when BESCR.GE
 * and problem state allow.
 */
#define VM_PMU_LINE_EVENT_BASED_BRANCH (1 << 1)

/**
 * The deadline of a signal that has none.
 */
#define VM_PMU_NEVER UINT64_MAX

/**
 * In VmPmuContext::flags: the thread's clock is stopped (HLT, STPCLK); nothing of it counts.
 */
#define VM_PMU_CONTEXT_HALTED (1 << 0)

/**
 * In VmPmuContext::flags: the thread waits while its core executes another, where threads take turns (Montecito).
 */
#define VM_PMU_CONTEXT_BACKGROUND (1 << 1)

/**
 * In the control word of POWER: CTRL's run latch. PMC5 and PMC6 do not count without it.
 */
#define VM_PMU_POWER_RUN (1 << 0)

/**
 * In the control word of POWER: an external interrupt is pending.
 */
#define VM_PMU_POWER_EXTERNAL_PENDING (1 << 1)

/**
 * In the control word of POWER: addresses are translated by a radix tree.
 */
#define VM_PMU_POWER_RADIX (1 << 2)

/**
 * In the control word of POWER: the lowest bit of the thread's priority, the three bits of PPR[PRI].
 */
#define VM_PMU_POWER_PRIORITY_SHIFT 8

/**
 * In the control word of POWER: FSCR[EBB] is 0.
 */
#define VM_PMU_POWER_NO_FSCR_EBB (1 << 20)

/**
 * In the control word of POWER: HFSCR[EBB] is 0.
 */
#define VM_PMU_POWER_NO_HFSCR_EBB (1 << 21)

/**
 * In the control word of POWER: HFSCR[BHRB] is 0.
 */
#define VM_PMU_POWER_NO_HFSCR_BHRB (1 << 22)

/**
 * In the control word of POWER: HFSCR[PM] is 0.
 */
#define VM_PMU_POWER_NO_HFSCR_PM (1 << 23)

/**
 * How many words of 64 bits a set of signals has.
 */
#define VM_PMU_SIGNAL_WORDS 32

/**
 * In VmPmuDemand::records: a record is wanted of the instruction at which a deadline is reached.
 */
#define VM_PMU_RECORDS_AT_DEADLINE (1 << 0)

/**
 * In VmPmuDemand::records: of every taken branch.
 */
#define VM_PMU_RECORDS_TAKEN_BRANCHES (1 << 1)

/**
 * In VmPmuDemand::records: of every control transfer, taken or not.
 */
#define VM_PMU_RECORDS_BRANCHES (1 << 2)

/**
 * In VmPmuDemand::records: of every access to memory.
 */
#define VM_PMU_RECORDS_MEMORY (1 << 3)

/**
 * In VmPmuDemand::records: of every instruction whose fetch missed a cache or a translation buffer.
 */
#define VM_PMU_RECORDS_FETCHES (1 << 4)

/**
 * In VmPmuDemand::records: of every instruction.
 */
#define VM_PMU_RECORDS_EVERY (1 << 5)

/**
 * In VmPmuDemand::records: every request that left a core's own caches is wanted, by vm_pmu_request().
 */
#define VM_PMU_RECORDS_REQUESTS (1 << 6)

/**
 * In VmPmuOptions::records, in addition to VM_PMU_RECORDS_AT_DEADLINE: the embedder reports records of the accesses whose addresses a
 * register keeps in continuous sampling (POWER9's SDAR), so that deadlines may be set for each of them.
 */
#define VM_PMU_RECORDS_SAMPLED_ADDRESSES (1 << 7)

/**
 * In VmPmuDemand::records: the records at deadlines have the outcomes of the instructions that random sampling chooses (POWER9's SIER), as
 * far as known: the source of data, mispredictions, translations.
 */
#define VM_PMU_RECORDS_SAMPLED_OUTCOMES (1 << 8)

/**
 * In VmPmuDemand::records: what table walkers do for a guest under a host is wanted. A companion tells it whose page tables do.
 */
#define VM_PMU_RECORDS_NESTED (1 << 9)

/**
 * In VmPmuOptions::records, alone: the embedder never reports a record.
 */
#define VM_PMU_RECORDS_NEVER (1 << 30)

/**
 * In VmPmuRecord::flags: the branch was taken.
 */
#define VM_PMU_RECORD_TAKEN (1 << 0)

/**
 * In VmPmuRecord::flags: the instruction read memory.
 */
#define VM_PMU_RECORD_LOAD (1 << 1)

/**
 * In VmPmuRecord::flags: the instruction wrote memory.
 */
#define VM_PMU_RECORD_STORE (1 << 2)

/**
 * In VmPmuRecord::flags: the fetch fields describe a miss of the instruction's fetch.
 */
#define VM_PMU_RECORD_FETCH (1 << 3)

/**
 * In VmPmuRecord::flags: its first-level instruction cache missed.
 */
#define VM_PMU_RECORD_FETCH_MISS (1 << 4)

/**
 * In VmPmuRecord::flags: its line was on its way already.
 */
#define VM_PMU_RECORD_FETCH_PENDING (1 << 5)

/**
 * In VmPmuRecord::flags: it was a prefetch, not a demand fetch; its address may be anywhere.
 */
#define VM_PMU_RECORD_FETCH_PREFETCH (1 << 6)

/**
 * In VmPmuRecord::flags: reload_source is known.
 */
#define VM_PMU_RECORD_RELOAD_SOURCE (1 << 7)

/**
 * In VmPmuRecord::flags: walk_source is known.
 */
#define VM_PMU_RECORD_WALK_SOURCE (1 << 8)

/**
 * In VmPmuRecord::flags: another cache that had the line in state T supplied it.
 */
#define VM_PMU_RECORD_TAGGED_INTERVENTION (1 << 9)

/**
 * How many stages an instruction has: VmPmuStage.
 */
#define VM_PMU_STAGES 12

/**
 * In VmPmuTransaction::flags: a cache answered it, not memory.
 */
#define VM_PMU_TRANSACTION_HIT (1 << 0)

/**
 * In VmPmuTransaction::flags: it belongs to another node; the part has only one.
 */
#define VM_PMU_TRANSACTION_REMOTE (1 << 1)

/**
 * In VmPmuTransaction::flags: it is for near memory, as distinguished by filter 1.
 */
#define VM_PMU_TRANSACTION_NEAR_MEMORY (1 << 2)

/**
 * In VmPmuTransaction::flags: it is not coherent.
 */
#define VM_PMU_TRANSACTION_NON_COHERENT (1 << 3)

/**
 * In VmPmuTransaction::flags: it is isochronous.
 */
#define VM_PMU_TRANSACTION_ISOCHRONOUS (1 << 4)

/**
 * The most chips of a platform: a PIR has seven bits for a chip's number.
 */
#define VM_PMU_MOST_CHIPS 128

/**
 * A device of a host bridge reads memory, in vm_pmu_chip_dma().
 */
#define VM_PMU_DMA_READ 0

/**
 * It writes memory, in vm_pmu_chip_dma().
 */
#define VM_PMU_DMA_WRITE 1

/**
 * The most packages that are joined by HyperTransport links.
 */
#define VM_PMU_NODES 8

/**
 * HyperTransport links of a package.
 */
#define VM_PMU_NODE_LINKS 3

/**
 * The most ranges of I/O: the K8's address map has as many.
 */
#define VM_PMU_IO_RANGES 8

/**
 * In VmPmuCompanionOptions::flags: every thread is followed even while nothing that the companion supplies is counted, so that caches are
 * warm.
 */
#define VM_PMU_COMPANION_ALWAYS (1 << 0)

/**
 * In VmPmuCompanionOptions::flags: memory has a buffer with a cache on each channel, a fourth level, on a part that has such buffers.
 */
#define VM_PMU_COMPANION_BUFFERED (1 << 1)

/**
 * How many entries of page tables can lead to a page.
 */
#define VM_PMU_WALK_ENTRIES 5

/**
 * In VmPmuAccess::flags: it is part of a locked read-modify-write.
 */
#define VM_PMU_ACCESS_LOCKED (1 << 0)

/**
 * In VmPmuAccess::flags: it goes to a device, or to memory that is not cached.
 */
#define VM_PMU_ACCESS_UNCACHED (1 << 1)

/**
 * In VmPmuInstruction::flags: it is one of the floating-point or vector unit.
 */
#define VM_PMU_INSTRUCTION_FLOATING_POINT (1 << 0)

/**
 * In VmPmuInstruction::flags: its transfer left the next sequential address.
 */
#define VM_PMU_INSTRUCTION_TAKEN (1 << 1)

/**
 * In VmPmuInstruction::flags: it crosses into a page that does not follow in physical memory, whose address is next_page.
 */
#define VM_PMU_INSTRUCTION_NEXT_PAGE (1 << 2)

/**
 * In VmPmuInstruction::flags: the fields from address_registers on say what it works on. Without it, it is taken to need the result of
 * the instruction before, and its own to be ready a cycle later.
 */
#define VM_PMU_INSTRUCTION_OPERATION (1 << 3)

/**
 * In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it works on several elements at once.
 */
#define VM_PMU_INSTRUCTION_PACKED (1 << 4)

/**
 * In VmPmuInstruction::flags: it is one of IA-64, with its bundle and slot.
 */
#define VM_PMU_INSTRUCTION_BUNDLE (1 << 5)

/**
 * In VmPmuInstruction::flags: it is a taken call or return, whose function_state is told.
 */
#define VM_PMU_INSTRUCTION_FUNCTION_STATE (1 << 6)

/**
 * In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it writes the upper half of a vector register, and keeps the lower one.
 */
#define VM_PMU_INSTRUCTION_UPPER (1 << 7)

/**
 * In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: the floating-point unit has to see whether it raises an exception, as an
 * operand's exponent is near the end of its range.
 */
#define VM_PMU_INSTRUCTION_MAY_TRAP (1 << 8)

/**
 * The most accesses of one instruction: report longer ones in parts.
 */
#define VM_PMU_MOST_ACCESSES 64

/**
 * In VmPmuOutcome::flags: the fetch fields describe a miss of the instruction's fetch.
 */
#define VM_PMU_OUTCOME_FETCH (1 << 0)

/**
 * In VmPmuOutcome::flags: its first-level instruction cache missed.
 */
#define VM_PMU_OUTCOME_FETCH_MISS (1 << 1)

/**
 * In VmPmuOutcome::flags: its line was on its way already.
 */
#define VM_PMU_OUTCOME_FETCH_PENDING (1 << 2)

/**
 * In VmPmuOutcome::flags: it was a prefetch, not a demand fetch.
 */
#define VM_PMU_OUTCOME_FETCH_PREFETCH (1 << 3)

/**
 * In VmPmuOutcome::flags: the companion keeps time, and `cycles` is known.
 */
#define VM_PMU_OUTCOME_CYCLES (1 << 4)

/**
 * In VmPmuOutcome::flags: `walk_source` is known.
 */
#define VM_PMU_OUTCOME_WALK_SOURCE (1 << 5)

/**
 * In VmPmuOutcome::flags: `reload_source` is known.
 */
#define VM_PMU_OUTCOME_RELOAD_SOURCE (1 << 6)

/**
 * In VmPmuOutcome::flags: a cache that had the line in state T gave it, for VM_PMU_RECORD_TAGGED_INTERVENTION.
 */
#define VM_PMU_OUTCOME_TAGGED_INTERVENTION (1 << 7)

/**
 * The most states that can hold in a delivery.
 */
#define VM_PMU_MOST_HELD 48

/**
 * The most signals in VmPmuCpuOptions::growing.
 */
#define VM_PMU_MOST_GROWING 6

/**
 * The most signals that a step names, and the most states that hold in it.
 */
#define VM_PMU_MOST_STEP 48

/**
 * In VmPmuStep::occasions: it is a control transfer.
 */
#define VM_PMU_OCCASION_BRANCH (1 << 0)

/**
 * In VmPmuStep::occasions: a control transfer that was taken.
 */
#define VM_PMU_OCCASION_TAKEN (1 << 1)

/**
 * In VmPmuStep::occasions: it accessed memory.
 */
#define VM_PMU_OCCASION_MEMORY (1 << 2)

/**
 * In VmPmuStep::occasions: its fetch missed something. A companion knows it by itself.
 */
#define VM_PMU_OCCASION_FETCH (1 << 3)

/**
 * The lowest bit of the number of instructions in a countdown: the bits below it count VmPmuCpuOptions::paired_signal. What a block of up
 * to 512 instructions subtracts is a constant of 31 bits, which fits into an instruction of most hosts.
 */
#define VM_PMU_COUNTDOWN_SHIFT 21

/**
 * The most instructions of a block.
 */
#define VM_PMU_MOST_INSTRUCTIONS (1 << (VM_PMU_COUNTDOWN_SHIFT - 2))

/**
 * For vm_pmu_follow_report_at_most(): as many cycles as there are.
 */
#define VM_PMU_ALL_CYCLES UINT64_MAX

/**
 * The number of ports at which requests begin.
 */
#define VM_PMU_PORTS 4

/**
 * The number of links of a package that are counted.
 */
#define VM_PMU_LINKS 3

/**
 * The number of channels of memory of a package that count what they are asked for.
 */
#define VM_PMU_CHANNELS 8

/**
 * In VmPmuCounterNodes::flags: the postings of the flexible mode are described too, as units called ..._flexible.
 */
#define VM_PMU_COUNTER_NODES_FLEXIBLE (1 << 0)

/**
 * In VmPmuCounterNodes::flags: the cores post their counters (vm_pmu_core_advance()).
 */
#define VM_PMU_COUNTER_NODES_CORE (1 << 1)

/**
 * In VmPmuCounterNodes::flags: the threads post theirs. Linux does not use them unless cores post theirs.
 */
#define VM_PMU_COUNTER_NODES_THREAD (1 << 2)

/**
 * In VmPmuCounterNodes::flags: of the nest, only the events that it reports itself are described: clocks and counts of updates. An event
 * that is never reported would read as zero.
 */
#define VM_PMU_COUNTER_NODES_TOLD_BY_NEST (1 << 3)

/**
 * In VmPmuCounterNodes::flags: of the nest, only those are described and those that a companion's traffic reports
 * (vm_pmu_traffic_flush()).
 */
#define VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION (1 << 4)

/**
 * The property "isa" of the node ibm,powerpc-cpu-features of a POWER9: version 3.0B of the architecture.
 */
#define VM_PMU_TREE_ISA 3000

/**
 * In VmPmuLayout::flags: memory has buffers with caches, on a part that has them.
 */
#define VM_PMU_LAYOUT_BUFFERED (1 << 0)

/**
 * In VmPmuEvent::flags: the entry is a unit mask of an event, and umask has its bits.
 */
#define VM_PMU_EVENT_UMASK (1 << 0)

/**
 * In VmPmuEvent::flags: a fixed counter counts it, which counts nothing else.
 */
#define VM_PMU_EVENT_FIXED (1 << 1)

/**
 * In VmPmuEvent::flags: it is posted into memory, at offset bytes from the start of its region.
 */
#define VM_PMU_EVENT_POSTED (1 << 2)

/**
 * What a call returns: 0 for success, a positive number for a fault to deliver to the guest, a negative one for misuse.
 *
 * A fault is not the caller's error: it is the processor's response to what the guest did. vm_pmu_last_error() describes a misuse. Neither
 * changes anything. Later versions may return faults and errors that are not listed here.
 */
enum VmPmuStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Success.
   */
  VM_PMU_STATUS_OK = 0,
  /**
   * No register of this PMU has the address: it may belong to another component.
   */
  VM_PMU_STATUS_FAULT_UNCLAIMED = 1,
  /**
   * x86: a general-protection exception with error code 0, #GP(0).
   */
  VM_PMU_STATUS_FAULT_GENERAL_PROTECTION = 2,
  /**
   * POWER: a facility unavailable interrupt, vector F60h, for the performance monitor: FSCR shows cause 3.
   */
  VM_PMU_STATUS_FAULT_FACILITY_PERFORMANCE_MONITOR = 3,
  /**
   * POWER: the same for the branch history, cause 4.
   */
  VM_PMU_STATUS_FAULT_FACILITY_BRANCH_HISTORY = 4,
  /**
   * POWER: the same for event-based branches, cause 7.
   */
  VM_PMU_STATUS_FAULT_FACILITY_EVENT_BASED_BRANCH = 5,
  /**
   * POWER: a hypervisor facility unavailable interrupt, vector F80h, for the performance monitor: HFSCR shows cause 3.
   */
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_PERFORMANCE_MONITOR = 6,
  /**
   * POWER: the same for the branch history, cause 4.
   */
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_BRANCH_HISTORY = 7,
  /**
   * POWER: the same for event-based branches, cause 7.
   */
  VM_PMU_STATUS_FAULT_HYPERVISOR_FACILITY_EVENT_BASED_BRANCH = 8,
  /**
   * POWER: a hypervisor emulation assistance interrupt, vector E40h; HEIR holds the instruction.
   */
  VM_PMU_STATUS_FAULT_EMULATION_ASSISTANCE = 9,
  /**
   * POWER: a program interrupt of the privileged-instruction type, vector 700h.
   */
  VM_PMU_STATUS_FAULT_PRIVILEGED_INSTRUCTION = 10,
  /**
   * POWER: no interrupt; the instruction does nothing, and mfspr leaves its target register unchanged.
   */
  VM_PMU_STATUS_FAULT_NO_OPERATION = 11,
  /**
   * IA-64: a privileged operation fault, a general exception at vector 5400h with ISR.code 10h.
   */
  VM_PMU_STATUS_FAULT_PRIVILEGED_OPERATION = 12,
  /**
   * IA-64: a reserved register/field fault, a general exception at vector 5400h with ISR.code 30h.
   */
  VM_PMU_STATUS_FAULT_RESERVED_REGISTER_FIELD = 13,
  /**
   * A fault that this header has no name for.
   */
  VM_PMU_STATUS_FAULT_OTHER = 255,
  /**
   * A pointer is null or misaligned, or a number has no meaning.
   */
  VM_PMU_STATUS_ERROR_ARGUMENT = -1,
  /**
   * There is no thread, package, event or box of that number.
   */
  VM_PMU_STATUS_ERROR_RANGE = -2,
  /**
   * There is nothing of that name.
   */
  VM_PMU_STATUS_ERROR_NAME = -3,
  /**
   * The part does not have what was requested.
   */
  VM_PMU_STATUS_ERROR_UNSUPPORTED = -4,
  /**
   * The litmus file cannot be read.
   */
  VM_PMU_STATUS_ERROR_LITMUS_TEXT = -5,
  /**
   * An expectation of the litmus file failed.
   */
  VM_PMU_STATUS_ERROR_LITMUS_FAILED = -6,
  /**
   * The snapshot is damaged, or of another machine; the machine is unchanged.
   */
  VM_PMU_STATUS_ERROR_SNAPSHOT = -7,
  /**
   * A function of the caller stopped the call; what it was given before that stays valid.
   */
  VM_PMU_STATUS_ERROR_STOPPED = -8,
  /**
   * A function of VmPmuMemory called the library, which holds a lock while it runs.
   */
  VM_PMU_STATUS_ERROR_REENTERED = -9,
  /**
   * An internal failure of the library. The machine can still be used; please report the failure.
   */
  VM_PMU_STATUS_ERROR_INTERNAL = -100,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStatus VmPmuStatus;
#else
typedef int32_t VmPmuStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The address spaces in which a guest names registers.
 */
enum VmPmuSpace
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * x86: a model-specific register, by the ECX of RDMSR and WRMSR.
   */
  VM_PMU_SPACE_MSR = 0,
  /**
   * x86: a performance counter, by the ECX of RDPMC.
   */
  VM_PMU_SPACE_RDPMC = 1,
  /**
   * POWER: a special-purpose register, by the number in mtspr and mfspr.
   */
  VM_PMU_SPACE_SPR = 2,
  /**
   * POWER: an entry of the branch history, by the number in mfbhrbe. A write of any value to any entry is clrbhrb.
   */
  VM_PMU_SPACE_BHRB = 3,
  /**
   * POWER: the instruction match array, by mtimc and mfimc: number 0.
   */
  VM_PMU_SPACE_IMC = 4,
  /**
   * IA-64: `mov pmc[]`, by the whole index register, of which only bits 7:0 matter.
   */
  VM_PMU_SPACE_PMC = 5,
  /**
   * IA-64: `mov pmd[]`, likewise.
   */
  VM_PMU_SPACE_PMD = 6,
  /**
   * IA-64: `mov ibr[]`, likewise.
   */
  VM_PMU_SPACE_IBR = 7,
  /**
   * IA-64: `mov dbr[]`, likewise.
   */
  VM_PMU_SPACE_DBR = 8,
  /**
   * A dword of PCI configuration space, numbered as in a memory-mapped one: bus in bits 27:20, device in 19:15, function in 14:12,
   * offset in 11:0, a multiple of 4. vm_pmu_pci_read() and vm_pmu_pci_write() answer as a bus does.
   */
  VM_PMU_SPACE_PCI = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSpace VmPmuSpace;
#else
typedef uint32_t VmPmuSpace;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of a control transfer.
 */
enum VmPmuBranch
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The instruction is not a control transfer.
   */
  VM_PMU_BRANCH_NONE = 0,
  /**
   * A conditional near branch.
   */
  VM_PMU_BRANCH_CONDITIONAL = 1,
  /**
   * An unconditional near jump to a fixed target.
   */
  VM_PMU_BRANCH_DIRECT_JUMP = 2,
  /**
   * A near jump whose target comes from a register or memory.
   */
  VM_PMU_BRANCH_INDIRECT_JUMP = 3,
  /**
   * A near call of a fixed target.
   */
  VM_PMU_BRANCH_DIRECT_CALL = 4,
  /**
   * A near call whose target comes from a register or memory.
   */
  VM_PMU_BRANCH_INDIRECT_CALL = 5,
  /**
   * A near return.
   */
  VM_PMU_BRANCH_RETURN = 6,
  /**
   * A far transfer: system call and return, interrupt return, far call and jump; on IA-64 rfi.
   */
  VM_PMU_BRANCH_FAR = 7,
  /**
   * A fault or trap left the flow of instructions, for its handler.
   */
  VM_PMU_BRANCH_EXCEPTION = 8,
  /**
   * A speculation check failed and went to its recovery code: on IA-64 chk.s, chk.a, fchkf.
   */
  VM_PMU_BRANCH_FAILED_CHECK = 9,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuBranch VmPmuBranch;
#else
typedef uint8_t VmPmuBranch;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a control transfer was predicted.
 */
enum VmPmuPrediction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It was not predicted, or this is not known.
   */
  VM_PMU_PREDICTION_NONE = 0,
  /**
   * Direction and target were right.
   */
  VM_PMU_PREDICTION_RIGHT = 1,
  /**
   * The direction was wrong.
   */
  VM_PMU_PREDICTION_WRONG_DIRECTION = 2,
  /**
   * The direction was right, the target was not.
   */
  VM_PMU_PREDICTION_WRONG_TARGET = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuPrediction VmPmuPrediction;
#else
typedef uint8_t VmPmuPrediction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where the data of a load came from.
 */
enum VmPmuData
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Not known.
   */
  VM_PMU_DATA_UNKNOWN = 0,
  /**
   * The store buffer of the same thread.
   */
  VM_PMU_DATA_STORE_FORWARD = 1,
  /**
   * A cache of the same core, of VmPmuRecord::data_level.
   */
  VM_PMU_DATA_CACHE = 2,
  /**
   * A cache of another core of the same package, where the line was clean.
   */
  VM_PMU_DATA_OTHER_CORE = 3,
  /**
   * The same, where the line was modified.
   */
  VM_PMU_DATA_OTHER_CORE_MODIFIED = 4,
  /**
   * A cache of another package, where the line was clean.
   */
  VM_PMU_DATA_OTHER_PACKAGE = 5,
  /**
   * The same, where the line was modified.
   */
  VM_PMU_DATA_OTHER_PACKAGE_MODIFIED = 6,
  /**
   * Memory of the same package.
   */
  VM_PMU_DATA_LOCAL_MEMORY = 7,
  /**
   * Memory of another package.
   */
  VM_PMU_DATA_REMOTE_MEMORY = 8,
  /**
   * A device, or uncacheable memory.
   */
  VM_PMU_DATA_DEVICE = 9,
  /**
   * The third level of another core of the same package, where it is told from the levels before it and the line was clean.
   */
  VM_PMU_DATA_OTHER_L3 = 10,
  /**
   * The same, where the line was modified.
   */
  VM_PMU_DATA_OTHER_L3_MODIFIED = 11,
  /**
   * A third level of the same package that no core uses itself and that keeps lines of the others, where the line was clean.
   */
  VM_PMU_DATA_LENT_L3 = 12,
  /**
   * The same, where the line was modified.
   */
  VM_PMU_DATA_LENT_L3_MODIFIED = 13,
  /**
   * A cache of a package of another group, where the line was clean.
   */
  VM_PMU_DATA_DISTANT_PACKAGE = 14,
  /**
   * The same, where the line was modified.
   */
  VM_PMU_DATA_DISTANT_PACKAGE_MODIFIED = 15,
  /**
   * Memory of a package of another group.
   */
  VM_PMU_DATA_DISTANT_MEMORY = 16,
  /**
   * A fourth level, in front of memory of the same package.
   */
  VM_PMU_DATA_LOCAL_L4 = 17,
  /**
   * A fourth level, in front of memory of another package.
   */
  VM_PMU_DATA_REMOTE_L4 = 18,
  /**
   * A fourth level, in front of memory of a package of another group.
   */
  VM_PMU_DATA_DISTANT_L4 = 19,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuData VmPmuData;
#else
typedef uint8_t VmPmuData;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where an address translation was found.
 */
enum VmPmuTranslation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Not known.
   */
  VM_PMU_TRANSLATION_UNKNOWN = 0,
  /**
   * The first level of translation buffers had it.
   */
  VM_PMU_TRANSLATION_FIRST_LEVEL = 1,
  /**
   * The second level had it.
   */
  VM_PMU_TRANSLATION_SECOND_LEVEL = 2,
  /**
   * A walk of the page tables by hardware.
   */
  VM_PMU_TRANSLATION_WALK = 3,
  /**
   * A fault to software.
   */
  VM_PMU_TRANSLATION_FAULT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuTranslation VmPmuTranslation;
#else
typedef uint8_t VmPmuTranslation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The unit that executed an instruction.
 */
enum VmPmuUnit
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Not known: derived from branch and memory access; an instruction with neither is fixed point.
   */
  VM_PMU_UNIT_UNKNOWN = 0,
  /**
   * The load/store unit; on IA-64 an M slot.
   */
  VM_PMU_UNIT_LOAD_STORE = 1,
  /**
   * The branch unit; on IA-64 a B slot.
   */
  VM_PMU_UNIT_BRANCH = 2,
  /**
   * Fixed point; on IA-64 an I slot, and the long instruction of an MLX bundle except brl.
   */
  VM_PMU_UNIT_FIXED_POINT = 3,
  /**
   * Vector and scalar floating point, decimal; on IA-64 an F slot.
   */
  VM_PMU_UNIT_VECTOR_SCALAR = 4,
  /**
   * None: the instruction is finished by the fetch unit.
   */
  VM_PMU_UNIT_FETCH = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuUnit VmPmuUnit;
#else
typedef uint8_t VmPmuUnit;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where an instruction was fetched from.
 */
enum VmPmuFetchSource
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Not known, which is taken as the first level.
   */
  VM_PMU_FETCH_SOURCE_UNKNOWN = 0,
  /**
   * The first-level instruction cache.
   */
  VM_PMU_FETCH_SOURCE_L1 = 1,
  /**
   * The second level.
   */
  VM_PMU_FETCH_SOURCE_L2 = 2,
  /**
   * The third level.
   */
  VM_PMU_FETCH_SOURCE_L3 = 3,
  /**
   * Beyond the third level.
   */
  VM_PMU_FETCH_SOURCE_BEYOND = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFetchSource VmPmuFetchSource;
#else
typedef uint8_t VmPmuFetchSource;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The outcome of a store in the second-level cache.
 */
enum VmPmuStoreOutcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It is not a store, or this is not known.
   */
  VM_PMU_STORE_OUTCOME_NONE = 0,
  /**
   * No machine of the second level was needed.
   */
  VM_PMU_STORE_OUTCOME_DIRECT = 1,
  /**
   * It completed in the second level.
   */
  VM_PMU_STORE_OUTCOME_COMPLETED = 2,
  /**
   * It completed after another cache supplied modified data.
   */
  VM_PMU_STORE_OUTCOME_INTERVENTION = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStoreOutcome VmPmuStoreOutcome;
#else
typedef uint8_t VmPmuStoreOutcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A command to the fabric between caches.
 */
enum VmPmuFabricCommand
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * None was needed, or this is not known.
   */
  VM_PMU_FABRIC_COMMAND_NONE = 0,
  /**
   * Read.
   */
  VM_PMU_FABRIC_COMMAND_READ = 1,
  /**
   * Read with intent to modify.
   */
  VM_PMU_FABRIC_COMMAND_READ_TO_MODIFY = 2,
  /**
   * Claim a line that is held shared.
   */
  VM_PMU_FABRIC_COMMAND_CLAIM = 3,
  /**
   * Invalidate the copies of others.
   */
  VM_PMU_FABRIC_COMMAND_KILL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFabricCommand VmPmuFabricCommand;
#else
typedef uint8_t VmPmuFabricCommand;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Why the load/store unit flushed an instruction that was then executed again.
 */
enum VmPmuFlush
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It was not flushed, or this is not known.
   */
  VM_PMU_FLUSH_NONE = 0,
  /**
   * A load had its data before an older store of the same bytes knew its address.
   */
  VM_PMU_FLUSH_STORE_HIT_LOAD = 1,
  /**
   * The same, where the store has another effective address.
   */
  VM_PMU_FLUSH_ALIAS = 2,
  /**
   * A load that reserves met an older one that waited.
   */
  VM_PMU_FLUSH_RESERVATION = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFlush VmPmuFlush;
#else
typedef uint8_t VmPmuFlush;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a request beyond a core's own caches is for.
 */
enum VmPmuRequestKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * A line to read data from, for a load.
   */
  VM_PMU_REQUEST_KIND_DATA_READ = 0,
  /**
   * The same for a prefetch by the first-level data cache itself.
   */
  VM_PMU_REQUEST_KIND_DATA_READ_PREFETCH = 1,
  /**
   * A line for a prefetch instruction that reads.
   */
  VM_PMU_REQUEST_KIND_SOFTWARE_PREFETCH = 2,
  /**
   * A line to write, for a store.
   */
  VM_PMU_REQUEST_KIND_OWNERSHIP = 3,
  /**
   * A line to write, for a prefetch.
   */
  VM_PMU_REQUEST_KIND_OWNERSHIP_PREFETCH = 4,
  /**
   * A line to execute.
   */
  VM_PMU_REQUEST_KIND_CODE = 5,
  /**
   * A line to execute, for a prefetch of the second level.
   */
  VM_PMU_REQUEST_KIND_CODE_PREFETCH = 6,
  /**
   * Part of a line is read: uncacheable or write-combining memory.
   */
  VM_PMU_REQUEST_KIND_PARTIAL_READ = 7,
  /**
   * Part of a line is written: uncacheable, write-through or write-protected memory.
   */
  VM_PMU_REQUEST_KIND_PARTIAL_WRITE = 8,
  /**
   * Uncacheable instructions.
   */
  VM_PMU_REQUEST_KIND_UNCACHEABLE_CODE = 9,
  /**
   * The bus is locked, or a locked access is split between lines.
   */
  VM_PMU_REQUEST_KIND_BUS_LOCK = 10,
  /**
   * A whole line that was combined from streaming stores.
   */
  VM_PMU_REQUEST_KIND_FULL_STREAMING_STORE = 11,
  /**
   * Part of a line that was combined from streaming stores.
   */
  VM_PMU_REQUEST_KIND_PARTIAL_STREAMING_STORE = 12,
  /**
   * A modified line that a cache displaced: it is written back.
   */
  VM_PMU_REQUEST_KIND_WRITE_BACK = 13,
  /**
   * A line to execute, for a prefetch by the first-level instruction cache itself.
   */
  VM_PMU_REQUEST_KIND_CODE_READ_PREFETCH = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuRequestKind VmPmuRequestKind;
#else
typedef uint8_t VmPmuRequestKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The supplier of the data of a request.
 */
enum VmPmuSupplier
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * There is no data, or this is not known.
   */
  VM_PMU_SUPPLIER_UNKNOWN = 0,
  /**
   * A cache of the same cluster (on Knights Landing: tile), which had the line modified.
   */
  VM_PMU_SUPPLIER_OWN_CLUSTER_MODIFIED = 1,
  /**
   * The same, exclusive.
   */
  VM_PMU_SUPPLIER_OWN_CLUSTER_EXCLUSIVE = 2,
  /**
   * The same, shared.
   */
  VM_PMU_SUPPLIER_OWN_CLUSTER_SHARED = 3,
  /**
   * The same, shared, as the cache that answers for the line (forward).
   */
  VM_PMU_SUPPLIER_OWN_CLUSTER_FORWARD = 4,
  /**
   * A cache of another cluster, near.
   */
  VM_PMU_SUPPLIER_OTHER_CLUSTER = 5,
  /**
   * A cache of another cluster, in another quadrant of the mesh.
   */
  VM_PMU_SUPPLIER_OTHER_CLUSTER_FAR = 6,
  /**
   * Memory on the package (MCDRAM), near.
   */
  VM_PMU_SUPPLIER_NEAR_MEMORY = 7,
  /**
   * Memory on the package, in another quadrant of the mesh.
   */
  VM_PMU_SUPPLIER_NEAR_MEMORY_FAR = 8,
  /**
   * Memory outside the package (DDR), near.
   */
  VM_PMU_SUPPLIER_MEMORY = 9,
  /**
   * Memory outside the package, in another quadrant of the mesh.
   */
  VM_PMU_SUPPLIER_MEMORY_FAR = 10,
  /**
   * A device.
   */
  VM_PMU_SUPPLIER_DEVICE = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSupplier VmPmuSupplier;
#else
typedef uint8_t VmPmuSupplier;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The snoop of other caches for a request.
 */
enum VmPmuSnoop
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * No other cache was snooped.
   */
  VM_PMU_SNOOP_NONE = 0,
  /**
   * No other cache had to be snooped.
   */
  VM_PMU_SNOOP_NOT_NEEDED = 1,
  /**
   * A cache of another cluster had the line and passed it on.
   */
  VM_PMU_SNOOP_FORWARDED = 2,
  /**
   * A cache of another cluster had the line modified.
   */
  VM_PMU_SNOOP_MODIFIED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuSnoop VmPmuSnoop;
#else
typedef uint8_t VmPmuSnoop;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A stage of an instruction: its bit in VmPmuRecord::stages, its index in VmPmuRecord::stage_cycles.
 */
enum VmPmuStage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Decoded.
   */
  VM_PMU_STAGE_DECODED = 0,
  /**
   * Dispatched.
   */
  VM_PMU_STAGE_DISPATCHED = 1,
  /**
   * Issued to its unit.
   */
  VM_PMU_STAGE_ISSUED = 2,
  /**
   * A load that missed the first-level data cache.
   */
  VM_PMU_STAGE_FIRST_MISS = 3,
  /**
   * Taken up by a machine of the second level.
   */
  VM_PMU_STAGE_SECOND_LEVEL_DISPATCHED = 4,
  /**
   * That machine is done.
   */
  VM_PMU_STAGE_SECOND_LEVEL_DONE = 5,
  /**
   * The load's data has arrived.
   */
  VM_PMU_STAGE_RELOAD = 6,
  /**
   * Next to finish.
   */
  VM_PMU_STAGE_NEXT_TO_FINISH = 7,
  /**
   * Finished.
   */
  VM_PMU_STAGE_FINISHED = 8,
  /**
   * Next to complete.
   */
  VM_PMU_STAGE_NEXT_TO_COMPLETE = 9,
  /**
   * Completed.
   */
  VM_PMU_STAGE_COMPLETED = 10,
  /**
   * A store that has left the store queue.
   */
  VM_PMU_STAGE_DRAINED = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuStage VmPmuStage;
#else
typedef uint8_t VmPmuStage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A clock of the untile.
 */
enum VmPmuClock
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * UCLK, the untile's.
   */
  VM_PMU_CLOCK_UCLK = 0,
  /**
   * ECLK, MCDRAM's.
   */
  VM_PMU_CLOCK_ECLK = 1,
  /**
   * DCLK, the DDR memory's.
   */
  VM_PMU_CLOCK_DCLK = 2,
  /**
   * All three in step, for an embedder whose clocks run equally fast.
   */
  VM_PMU_CLOCK_ALL = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClock VmPmuClock;
#else
typedef uint32_t VmPmuClock;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How closely the count of an event matches that of the real part.
 */
enum VmPmuFidelity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Known from the executed instructions, and an engine of this project supplies it.
   */
  VM_PMU_FIDELITY_EXACT = 0,
  /**
   * A component of this project, such as the companion, supplies it, with a difference that VmPmuEvent::rule names.
   */
  VM_PMU_FIDELITY_APPROXIMATE = 1,
  /**
   * No signal describes it: vm_pmu_inject() reports it.
   */
  VM_PMU_FIDELITY_INJECTED = 2,
  /**
   * A signal or a record describes it, but only an embedder can supply that. Ranks between Approximate and Injected.
   */
  VM_PMU_FIDELITY_EMBEDDER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuFidelity VmPmuFidelity;
#else
typedef uint32_t VmPmuFidelity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Whose clock counts.
 */
enum VmPmuClockOwner
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The embedder: it adds cycles itself, and the companion reports only events.
   */
  VM_PMU_CLOCK_OWNER_EMBEDDER = 0,
  /**
   * The companion: its pipeline decides how many cycles an instruction takes and why. The embedder adds no cycles while the follower
   * is active.
   */
  VM_PMU_CLOCK_OWNER_COMPANION = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClockOwner VmPmuClockOwner;
#else
typedef uint32_t VmPmuClockOwner;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an access does.
 */
enum VmPmuAccessKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It reads.
   */
  VM_PMU_ACCESS_KIND_LOAD = 0,
  /**
   * It writes.
   */
  VM_PMU_ACCESS_KIND_STORE = 1,
  /**
   * It writes around the caches, through the write-combining buffers.
   */
  VM_PMU_ACCESS_KIND_STREAMING_STORE = 2,
  /**
   * It prefetches a line that will be read.
   */
  VM_PMU_ACCESS_KIND_PREFETCH_LOAD = 3,
  /**
   * It prefetches a line that will be written.
   */
  VM_PMU_ACCESS_KIND_PREFETCH_STORE = 4,
  /**
   * It prefetches a line that will be read once.
   */
  VM_PMU_ACCESS_KIND_PREFETCH_ONCE = 5,
  /**
   * It drives a line out of every cache.
   */
  VM_PMU_ACCESS_KIND_FLUSH = 6,
  /**
   * The register stack engine reads.
   */
  VM_PMU_ACCESS_KIND_REGISTER_STACK_LOAD = 7,
  /**
   * The register stack engine writes.
   */
  VM_PMU_ACCESS_KIND_REGISTER_STACK_STORE = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuAccessKind VmPmuAccessKind;
#else
typedef uint8_t VmPmuAccessKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What an instruction does. It decides which units it needs, and for how long.
 *
 * An access to memory is no class of its own: an addition that reads memory is Simple with a VmPmuAccess. Only what merely moves between a
 * register and memory is a Load or a Store.
 */
enum VmPmuClass
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Integer arithmetic, logic, comparison or move that takes a cycle, apart from accesses.
   */
  VM_PMU_CLASS_SIMPLE = 0,
  /**
   * A division of unsigned integers.
   */
  VM_PMU_CLASS_DIVIDE = 1,
  /**
   * One that waits until the stores before it are done.
   */
  VM_PMU_CLASS_FENCE = 2,
  /**
   * One that waits until everything before it is done, and restarts the pipeline.
   */
  VM_PMU_CLASS_SERIALIZING = 3,
  /**
   * Not an instruction: an interrupt or exception that is taken.
   */
  VM_PMU_CLASS_EXCEPTION = 4,
  /**
   * It does nothing.
   */
  VM_PMU_CLASS_NOP = 5,
  /**
   * It reads memory into a register.
   */
  VM_PMU_CLASS_LOAD = 6,
  /**
   * It writes a register to memory.
   */
  VM_PMU_CLASS_STORE = 7,
  /**
   * It pushes a value onto the stack.
   */
  VM_PMU_CLASS_PUSH = 8,
  /**
   * It pops a value from the stack.
   */
  VM_PMU_CLASS_POP = 9,
  /**
   * A jump.
   */
  VM_PMU_CLASS_BRANCH = 10,
  /**
   * A call of a procedure.
   */
  VM_PMU_CLASS_CALL = 11,
  /**
   * A return from a procedure.
   */
  VM_PMU_CLASS_RETURN = 12,
  /**
   * The address of a memory operand, of two sources without scaling at most.
   */
  VM_PMU_CLASS_ADDRESS = 13,
  /**
   * The address of a memory operand, of three sources or with scaling.
   */
  VM_PMU_CLASS_ADDRESS_SCALED = 14,
  /**
   * A shift or rotation.
   */
  VM_PMU_CLASS_SHIFT = 15,
  /**
   * A rotation through the carry.
   */
  VM_PMU_CLASS_ROTATE_THROUGH_CARRY = 16,
  /**
   * A shift of two registers.
   */
  VM_PMU_CLASS_DOUBLE_SHIFT = 17,
  /**
   * It tests and changes one bit.
   */
  VM_PMU_CLASS_BIT_TEST = 18,
  /**
   * It looks for the first or last bit that is set, or counts zeros.
   */
  VM_PMU_CLASS_BIT_SCAN = 19,
  /**
   * It counts the bits that are set.
   */
  VM_PMU_CLASS_POPULATION_COUNT = 20,
  /**
   * It exchanges two operands.
   */
  VM_PMU_CLASS_EXCHANGE = 21,
  /**
   * It compares, and exchanges if equal; or a conditional store of a reservation.
   */
  VM_PMU_CLASS_COMPARE_EXCHANGE = 22,
  /**
   * A multiplication of integers.
   */
  VM_PMU_CLASS_MULTIPLY = 23,
  /**
   * A multiplication of integers whose product has both halves.
   */
  VM_PMU_CLASS_WIDE_MULTIPLY = 24,
  /**
   * A division of signed integers.
   */
  VM_PMU_CLASS_SIGNED_DIVIDE = 25,
  /**
   * An iteration of a string instruction.
   */
  VM_PMU_CLASS_STRING = 26,
  /**
   * One of the system: registers of control, tables, translations.
   */
  VM_PMU_CLASS_SYSTEM = 27,
  /**
   * One in microcode that no other class describes.
   */
  VM_PMU_CLASS_MICROCODE = 28,
  /**
   * Addition or subtraction of floating-point numbers.
   */
  VM_PMU_CLASS_FLOAT_ADD = 29,
  /**
   * Multiplication of floating-point numbers.
   */
  VM_PMU_CLASS_FLOAT_MULTIPLY = 30,
  /**
   * Multiplication and addition in one.
   */
  VM_PMU_CLASS_FLOAT_MULTIPLY_ADD = 31,
  /**
   * Division of floating-point numbers.
   */
  VM_PMU_CLASS_FLOAT_DIVIDE = 32,
  /**
   * Square root.
   */
  VM_PMU_CLASS_FLOAT_SQUARE_ROOT = 33,
  /**
   * Comparison of floating-point numbers, with a result in flags or in a condition register.
   */
  VM_PMU_CLASS_FLOAT_COMPARE = 34,
  /**
   * Conversion between formats, or between integers and floating-point numbers.
   */
  VM_PMU_CLASS_FLOAT_CONVERT = 35,
  /**
   * Move, sign or selection of floating-point or vector registers.
   */
  VM_PMU_CLASS_FLOAT_MOVE = 36,
  /**
   * An estimate of a reciprocal or of its square root.
   */
  VM_PMU_CLASS_FLOAT_ESTIMATE = 37,
  /**
   * Decimal or quad-precision arithmetic.
   */
  VM_PMU_CLASS_DECIMAL = 38,
  /**
   * Vector arithmetic or logic of integers.
   */
  VM_PMU_CLASS_VECTOR = 39,
  /**
   * Vector multiplication of integers.
   */
  VM_PMU_CLASS_VECTOR_MULTIPLY = 40,
  /**
   * It moves elements within vectors.
   */
  VM_PMU_CLASS_VECTOR_PERMUTE = 41,
  /**
   * A step of encryption or of a checksum.
   */
  VM_PMU_CLASS_CRYPTO = 42,
  /**
   * A move from a general to a floating-point or vector register.
   */
  VM_PMU_CLASS_TO_VECTOR = 43,
  /**
   * A move from a floating-point or vector to a general register.
   */
  VM_PMU_CLASS_FROM_VECTOR = 44,
  /**
   * Extension of a narrower integer by its sign or by zeros.
   */
  VM_PMU_CLASS_EXTEND = 45,
  /**
   * A move that a condition decides on.
   */
  VM_PMU_CLASS_CONDITIONAL_MOVE = 46,
  /**
   * Addition or subtraction of integers with a carry or borrow from before.
   */
  VM_PMU_CLASS_ADD_WITH_CARRY = 47,
  /**
   * It orders accesses, and waits for none.
   */
  VM_PMU_CLASS_LIGHT_FENCE = 48,
  /**
   * It orders accesses to devices, and waits until the stores before it are done.
   */
  VM_PMU_CLASS_DEVICE_FENCE = 49,
  /**
   * It invalidates translations in every processor.
   */
  VM_PMU_CLASS_TRANSLATION_INVALIDATION = 50,
  /**
   * It invalidates segments in every processor, or waits until that is done.
   */
  VM_PMU_CLASS_SEGMENT_INVALIDATION = 51,
  /**
   * It pastes a line to an accelerator.
   */
  VM_PMU_CLASS_PASTE = 52,
  /**
   * It begins a transaction.
   */
  VM_PMU_CLASS_TRANSACTION_BEGIN = 53,
  /**
   * It begins a transaction within another.
   */
  VM_PMU_CLASS_NESTED_TRANSACTION_BEGIN = 54,
  /**
   * It ends the outermost transaction.
   */
  VM_PMU_CLASS_TRANSACTION_END = 55,
  /**
   * It ends a transaction within another.
   */
  VM_PMU_CLASS_NESTED_TRANSACTION_END = 56,
  /**
   * It writes the floating-point status and control register.
   */
  VM_PMU_CLASS_STATUS_WRITE = 57,
  /**
   * It cleans or invalidates a line of a cache.
   */
  VM_PMU_CLASS_CACHE_BLOCK = 58,
  /**
   * It reads a special register of the load/store unit.
   */
  VM_PMU_CLASS_MEMORY_REGISTER = 59,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClass VmPmuClass;
#else
typedef uint8_t VmPmuClass;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What the elements of an operand of the floating-point or vector unit are.
 */
enum VmPmuElements
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Not told.
   */
  VM_PMU_ELEMENTS_UNTOLD = 0,
  /**
   * Integers, of whatever width.
   */
  VM_PMU_ELEMENTS_INTEGERS = 1,
  /**
   * Floating-point numbers of single precision.
   */
  VM_PMU_ELEMENTS_SINGLES = 2,
  /**
   * Floating-point numbers of double precision.
   */
  VM_PMU_ELEMENTS_DOUBLES = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuElements VmPmuElements;
#else
typedef uint8_t VmPmuElements;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Which translations a processor forgets.
 */
enum VmPmuForgotten
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * All of the core.
   */
  VM_PMU_FORGOTTEN_ALL = 0,
  /**
   * All except those of global pages.
   */
  VM_PMU_FORGOTTEN_NON_GLOBAL = 1,
  /**
   * The translation of the page with the given address.
   */
  VM_PMU_FORGOTTEN_PAGE = 2,
  /**
   * The host's translation of the page with the given guest real address, and all that was derived from those of the host.
   */
  VM_PMU_FORGOTTEN_HOST_PAGE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuForgotten VmPmuForgotten;
#else
typedef uint32_t VmPmuForgotten;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A kind of places that are counted separately.
 */
enum VmPmuPlaceKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * A controller of near memory: on Knights Landing an EDC.
   */
  VM_PMU_PLACE_KIND_NEAR_MEMORY = 0,
  /**
   * A channel of DRAM.
   */
  VM_PMU_PLACE_KIND_CHANNEL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuPlaceKind VmPmuPlaceKind;
#else
typedef uint32_t VmPmuPlaceKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What happens over an NVLink, between a processor and an accelerator.
 */
enum VmPmuNvLinkTransfer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The accelerator reads memory of the processor.
   */
  VM_PMU_NV_LINK_TRANSFER_READS = 0,
  /**
   * The accelerator writes memory of the processor.
   */
  VM_PMU_NV_LINK_TRANSFER_WRITES = 1,
  /**
   * The accelerator has an atomic operation done at memory of the processor.
   */
  VM_PMU_NV_LINK_TRANSFER_ATOMIC = 2,
  /**
   * The same, and gets the former value.
   */
  VM_PMU_NV_LINK_TRANSFER_ATOMIC_RETURNS = 3,
  /**
   * The accelerator gives back a line that it held.
   */
  VM_PMU_NV_LINK_TRANSFER_GIVES_BACK = 4,
  /**
   * The same, with data that it modified.
   */
  VM_PMU_NV_LINK_TRANSFER_GIVES_BACK_MODIFIED = 5,
  /**
   * The processor reads memory of the accelerator.
   */
  VM_PMU_NV_LINK_TRANSFER_IS_READ = 6,
  /**
   * The processor writes memory of the accelerator.
   */
  VM_PMU_NV_LINK_TRANSFER_IS_WRITTEN = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuNvLinkTransfer VmPmuNvLinkTransfer;
#else
typedef uint32_t VmPmuNvLinkTransfer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a Knights Landing shares lines among agents and memory.
 */
enum VmPmuClusterMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * None was chosen: it is quadrant.
   */
  VM_PMU_CLUSTER_MODE_USUAL = 0,
  /**
   * Any agent may have the lines of any memory.
   */
  VM_PMU_CLUSTER_MODE_ALL_TO_ALL = 1,
  /**
   * An agent is in the half of the die that has the memory of its lines.
   */
  VM_PMU_CLUSTER_MODE_HEMISPHERE = 2,
  /**
   * An agent is in the quadrant that has the memory of its lines.
   */
  VM_PMU_CLUSTER_MODE_QUADRANT = 3,
  /**
   * Each half of the die is a node, with half of the addresses.
   */
  VM_PMU_CLUSTER_MODE_SNC2 = 4,
  /**
   * Each quadrant is a node, with a quarter of the addresses.
   */
  VM_PMU_CLUSTER_MODE_SNC4 = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClusterMode VmPmuClusterMode;
#else
typedef uint32_t VmPmuClusterMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a Knights Landing uses MCDRAM as.
 */
enum VmPmuMemoryMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * None was chosen: it is a cache.
   */
  VM_PMU_MEMORY_MODE_USUAL = 0,
  /**
   * All of it is a cache of DDR.
   */
  VM_PMU_MEMORY_MODE_CACHE = 1,
  /**
   * All of it is memory, at addresses of its own above those of DDR.
   */
  VM_PMU_MEMORY_MODE_FLAT = 2,
  /**
   * A quarter of it is a cache of DDR, and the rest is memory.
   */
  VM_PMU_MEMORY_MODE_HYBRID_QUARTER = 3,
  /**
   * Half of it is a cache of DDR, and half is memory.
   */
  VM_PMU_MEMORY_MODE_HYBRID_HALF = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuMemoryMode VmPmuMemoryMode;
#else
typedef uint32_t VmPmuMemoryMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a device does.
 */
enum VmPmuDeviceOperation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It reads.
   */
  VM_PMU_DEVICE_OPERATION_READ = 0,
  /**
   * It reads what a display is refreshed with.
   */
  VM_PMU_DEVICE_OPERATION_DISPLAY_READ = 1,
  /**
   * It writes.
   */
  VM_PMU_DEVICE_OPERATION_WRITE = 2,
  /**
   * It has an atomic operation done at the memory.
   */
  VM_PMU_DEVICE_OPERATION_ATOMIC = 3,
  /**
   * It writes, and offers whole lines to the caches: a third level of victims whose cores have a copy takes the line instead of memory.
   * Elsewhere it is a write.
   */
  VM_PMU_DEVICE_OPERATION_INJECT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuDeviceOperation VmPmuDeviceOperation;
#else
typedef uint32_t VmPmuDeviceOperation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A ring of the mesh.
 */
enum VmPmuRing
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Addresses: requests.
   */
  VM_PMU_RING_AD = 0,
  /**
   * Acknowledges.
   */
  VM_PMU_RING_AK = 1,
  /**
   * Blocks of data.
   */
  VM_PMU_RING_BL = 2,
  /**
   * Invalidations: snoops of tiles.
   */
  VM_PMU_RING_IV = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuRing VmPmuRing;
#else
typedef uint32_t VmPmuRing;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Who sends a message at a stop of the mesh.
 */
enum VmPmuAgent
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Agent 0: the CHA, or whatever else is at the stop.
   */
  VM_PMU_AGENT_HOME = 0,
  /**
   * Agent 1: the tile's cores.
   */
  VM_PMU_AGENT_CORES = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuAgent VmPmuAgent;
#else
typedef uint32_t VmPmuAgent;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a device does with a line of memory, as Knights Landing's boxes see it.
 */
enum VmPmuDeviceAccess
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It reads.
   */
  VM_PMU_DEVICE_ACCESS_READ = 0,
  /**
   * It writes all of the line.
   */
  VM_PMU_DEVICE_ACCESS_WRITE = 1,
  /**
   * It writes a part.
   */
  VM_PMU_DEVICE_ACCESS_PARTIAL_WRITE = 2,
  /**
   * It reads and writes at once.
   */
  VM_PMU_DEVICE_ACCESS_ATOMIC = 3,
  /**
   * It is about to write: ownership is asked for ahead.
   */
  VM_PMU_DEVICE_ACCESS_PREFETCH = 4,
  /**
   * It interrupts (MSI): data that are no memory's.
   */
  VM_PMU_DEVICE_ACCESS_INTERRUPT = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuDeviceAccess VmPmuDeviceAccess;
#else
typedef uint32_t VmPmuDeviceAccess;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Caches, translation buffers and predictors of a machine, and a follower for each of its threads. Callers only get pointers to it.
 */
typedef struct VmPmuCompanion VmPmuCompanion;

/**
 * A CPU of an emulator, attached to one hardware thread of a machine. Callers only get pointers to it.
 */
typedef struct VmPmuCpu VmPmuCpu;

/**
 * A machine: the PMUs of all hardware threads, and what they share. Callers only get pointers to it.
 */
typedef struct VmPmuMachine VmPmuMachine;

/**
 * The chips of a POWER9 machine, and the PIRs by which calls name its threads. Callers only get pointers to it.
 */
typedef struct VmPmuPlatform VmPmuPlatform;

/**
 * A recording, as text. Callers only get pointers to it.
 */
typedef struct VmPmuRecording VmPmuRecording;

/**
 * What a machine, a chip or a companion remembers, as bytes. Callers only get pointers to it.
 */
typedef struct VmPmuSnapshot VmPmuSnapshot;

/**
 * Connects a companion to the chips of a platform: it converts traffic between caches and memory to the events that the nests count.
 * Callers only get pointers to it.
 *
 * Each package of the companion is a chip, in the order in which the platform was given them. Lines that memory reads or writes count as
 * blocks of 64 bytes at the controller and the port that have the line. Requests that leave the caches of a pair of cores, or that a
 * device makes, count as pumps of the scope that they are sent in. 512 bytes of moved lines count as a transfer. X links count commands,
 * answers and data between the chips of a group. It has no pointer to companion or platform: both are given to each call.
 */
typedef struct VmPmuTraffic VmPmuTraffic;

/**
 * What the NPU of one chip has of translations: entries of devices' tables, translations that accelerators have checked out, and which
 * accelerators work for which processes. Callers only get pointers to it. The chip's nest counts what it does.
 */
typedef struct VmPmuTranslations VmPmuTranslations;

/**
 * How a machine is made. Set `size` to its sizeof and leave fields that are not needed at zero: zero always means the default.
 *
 * The callbacks are called with no lock held, on the host thread that noticed the event, which need not be the one that runs the guest's
 * thread: they may call any function of this header except vm_pmu_machine_destroy(). They must return: no C++ exception and no longjmp may
 * leave them.
 */
typedef struct {
  /**
   * sizeof(VmPmuOptions).
   */
  size_t size;
  /**
   * The part's revision by its letter, or null for the default one.
   */
  const char *revision;
  /**
   * How many packages; 0 is one. Knights Landing, where a package is a tile, has up to 38.
   */
  uint32_t packages;
  /**
   * How many threads a package has; 0 is one. On POWER9 a package is a core, of 1, 2 or 4; on Montecito it is a core of 1 or 2, and the
   * first Itanium has one; on Knights Landing it is a tile, of up to 8, and its threads 0 to 3 are those of its first core.
   */
  uint32_t threads;
  /**
   * VM_PMU_OPTION_SHARE_COUNTERS, VM_PMU_OPTION_BUSES, VM_PMU_OPTION_FREQUENCIES.
   */
  uint32_t flags;
  /**
   * The signal that sets the pace for vm_pmu_due() and vm_pmu_room(): its total is always kept, demanded or not. Used if pace_most is
   * not 0.
   */
  uint32_t pace_signal;
  /**
   * The most that any signal grows while the pace grows by one; 0 means a pace of cycles and a most of 4.
   */
  uint32_t pace_most;
  /**
   * Knights Landing: the bus of the IRP, with VM_PMU_OPTION_BUSES; else 0.
   */
  uint8_t irp_bus;
  /**
   * Knights Landing: the bus of the memory controllers, MCDRAM controllers and M2PCIe, with VM_PMU_OPTION_BUSES; else FFh.
   */
  uint8_t memory_bus;
  /**
   * Zero.
   */
  uint16_t reserved;
  /**
   * Passed to the callbacks.
   */
  void *user;
  /**
   * Counter `counter` of hardware thread `thread` requests its interrupt, once; or null. On x86 the embedder delivers it as the
   * performance-counter entry of the thread's local APIC says; on IA-64 it makes the vector of PMV pending.
   */
  void (*raise)(void *user, uint32_t thread, uint32_t counter);
  /**
   * The requests of a thread that stay raised until the guest removes their cause now have these levels (VM_PMU_LINE_...); or null.
   */
  void (*lines)(void *user, uint32_t thread, uint32_t levels);
  /**
   * These pins, one bit each, have toggled at least once; or null.
   */
  void (*pins)(void *user, uint32_t thread, uint32_t pins);
  /**
   * An interrupt was due `events` events ago: a deadline was passed, or one instruction brought several events; or null.
   */
  void (*late)(void *user, uint32_t thread, uint64_t events);
  /**
   * Knights Landing: the frequency of the CPUs' clock for vm_pmu_boxes_advance(), with VM_PMU_OPTION_FREQUENCIES; else 1400. All four
   * are in the same unit, and only their ratios matter.
   */
  uint32_t cpu_frequency;
  /**
   * The same of UCLK; else 1700.
   */
  uint32_t uclk_frequency;
  /**
   * The same of ECLK; else 900.
   */
  uint32_t eclk_frequency;
  /**
   * The same of DCLK; else 1200.
   */
  uint32_t dclk_frequency;
  /**
   * The numbers of the signals that the embedder, with a companion, ever adds to: no deadline is set for any other. Null means all of
   * them. Cycles and pace_signal are always among them. The list is not used after vm_pmu_machine_create().
   */
  const uint32_t *supplied;
  /**
   * The numbers of the signals that never grow by more than the pace does, or null: for these the deadline itself is the horizon.
   * pace_signal is one. The list is not used after vm_pmu_machine_create().
   */
  const uint32_t *pace_single;
  /**
   * How many signals `supplied` has; 0 means all of them.
   */
  uint32_t supplied_count;
  /**
   * How many signals `pace_single` has.
   */
  uint32_t pace_single_count;
  /**
   * VM_PMU_RECORDS_...: the kinds of records that the embedder ever reports; 0 means all of them, VM_PMU_RECORDS_NEVER none.
   */
  uint32_t records;
  /**
   * How many signals `pace_between_blocks` has.
   */
  uint32_t pace_between_blocks_count;
  /**
   * The numbers of the signals that never grow within a block, as interrupts and exceptions do not, or null. The horizon does not
   * include them: after each addition to one, check vm_pmu_reached() for it, and call vm_pmu_check() if it has reached its deadline. The
   * list is not used after vm_pmu_machine_create().
   */
  const uint32_t *pace_between_blocks;
  /**
   * Knights Landing: which tiles the die has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all of
   * them, without one tile n is at place n. Package n is the tile of the n-th bit that is set.
   */
  uint64_t tiles;
  /**
   * Knights Landing: bytes of DDR, with a cluster mode of several nodes, which have equal parts, one after the other, and with MCDRAM that
   * is memory, which begins behind them.
   */
  uint64_t memory;
  /**
   * Knights Landing: VmPmuClusterMode.
   */
  uint32_t cluster_mode;
  /**
   * Knights Landing: VmPmuMemoryMode.
   */
  uint32_t memory_mode;
  /**
   * Knights Landing: bytes of MCDRAM; 0 is 64 MiB, where the part has 16 GiB.
   */
  uint64_t mcdram;
} VmPmuOptions;

/**
 * Where the totals and deadlines of a thread, or of a package's devices, are.
 *
 * The pointers are valid until the machine is destroyed, and the same at every call: translated code may use them as constants. Cells are
 * consecutive 64-bit numbers in the host's byte order; that of signal n is 8 * n bytes from the first. A later library may have more
 * signals, and never moves the existing ones.
 *
 * One host thread at a time adds to a thread's totals: the one that runs it. A plain addition to memory is enough, it need not be atomic.
 * Other host threads may read totals, and may write deadlines and horizon: read those again every time, with a load of 64 bits. In C and
 * C++ the functions at the end of this header do so.
 */
typedef struct {
  /**
   * sizeof(VmPmuCells).
   */
  size_t size;
  /**
   * The totals, to which the embedder adds.
   */
  uint64_t *totals;
  /**
   * The totals at which vm_pmu_service() must be called; VM_PMU_NEVER where there is no deadline. Only to be read.
   */
  const uint64_t *deadlines;
  /**
   * The total of the pace before which no deadline can come, as long as the embedder keeps to VmPmuOptions::pace_most. Only to be read.
   */
  const uint64_t *horizon;
  /**
   * How many cells there are of totals, and of deadlines.
   */
  uint32_t signals;
  /**
   * The number of the signal that sets the pace.
   */
  uint32_t pace;
  /**
   * The two numbers whose sum vm_pmu_epoch() returns, of the thread and of its package: see vm_pmu_epoch_of(). Only to be read. This is
   * the first.
   */
  const uint32_t *own_epoch;
  /**
   * The second of the two numbers.
   */
  const uint32_t *package_epoch;
  /**
   * The bits of VmPmuContext::machine_state whose changes must be reported at once; all bits if changes of the privilege level must be:
   * see vm_pmu_sensitivity(). Only to be read.
   */
  const uint64_t *sensitivity;
  /**
   * Not 0 while contexts may be reported as sums: see vm_pmu_contexts_add_up(). Only to be read.
   */
  const uint32_t *contexts_add_up;
} VmPmuCells;

/**
 * The state of a thread that decides what is counted and which accesses are allowed.
 */
typedef struct {
  /**
   * sizeof(VmPmuContext).
   */
  size_t size;
  /**
   * The privilege level, 0 being the most privileged. x86: CPL; IA-64: PSR.cpl; POWER: 0 hypervisor, 1 privileged, 3 problem state.
   */
  uint32_t privilege;
  /**
   * VM_PMU_CONTEXT_HALTED, VM_PMU_CONTEXT_BACKGROUND.
   */
  uint32_t flags;
  /**
   * x86: RFLAGS; POWER: MSR; IA-64: PSR.
   */
  uint64_t machine_state;
  /**
   * x86: CR4; POWER: VM_PMU_POWER_RUN and the others; IA-64: DCR.
   */
  uint64_t control;
  /**
   * POWER: the value of the guest's time base minus the total of the signal time_base_ticks.
   */
  uint64_t time_base;
} VmPmuContext;

/**
 * What must be reported at the moment: an embedder may omit the rest.
 */
typedef struct {
  /**
   * sizeof(VmPmuDemand).
   */
  size_t size;
  /**
   * A number that changes when any other field does.
   */
  uint32_t epoch;
  /**
   * VM_PMU_RECORDS_...: which instructions vm_pmu_record() is wanted for.
   */
  uint32_t records;
  /**
   * Not 0 if a counter compares single cycles. The deadline of cycles is then one cycle ahead.
   */
  uint32_t per_cycle;
  /**
   * Not 0 if nothing is wanted at all.
   */
  uint32_t idle;
  /**
   * The signals whose totals counters follow: signal n is bit n % 64 of word n / 64.
   */
  uint64_t signals[VM_PMU_SIGNAL_WORDS];
  /**
   * The states whose levels a counter of edges needs, in the same form. Supply them by vm_pmu_supply_levels() before any other event; at
   * all other times this is empty.
   */
  uint64_t levels[VM_PMU_SIGNAL_WORDS];
} VmPmuDemand;

/**
 * One completed instruction. A field of zero is not known.
 */
typedef struct {
  /**
   * sizeof(VmPmuRecord).
   */
  size_t size;
  /**
   * The instruction's effective (virtual) address; on IA-64 that of its bundle.
   */
  uint64_t address;
  /**
   * Its encoding: up to eight bytes, 41 bits on IA-64, as a little-endian number.
   */
  uint64_t encoding;
  /**
   * Where its branch went, or would have gone.
   */
  uint64_t branch_target;
  /**
   * The effective (virtual) address of its access to memory, with VM_PMU_RECORD_LOAD or VM_PMU_RECORD_STORE.
   */
  uint64_t memory_address;
  /**
   * The effective (virtual) address that was fetched, with VM_PMU_RECORD_FETCH.
   */
  uint64_t fetch_address;
  /**
   * The real address of its data.
   */
  uint64_t real_address;
  /**
   * VM_PMU_RECORD_...
   */
  uint32_t flags;
  /**
   * VM_PMU_TRAIT_...: its other properties and events.
   */
  uint32_t traits;
  /**
   * The cycles from the completion of the instruction before it to its own: 1 if they are not counted.
   */
  uint32_t cycles;
  /**
   * From issue to data, in cycles of the thread's clock; 0 if not known.
   */
  uint32_t memory_latency;
  /**
   * From the fetch's request to the instructions, in cycles of the thread's clock; 0 if not known.
   */
  uint32_t fetch_latency;
  /**
   * Cycles in which it was next to complete but stalled.
   */
  uint32_t stall;
  /**
   * When it reached each stage, in cycles of its thread since it was marked.
   */
  uint32_t stage_cycles[VM_PMU_STAGES];
  /**
   * The stages that it reached, one bit each; 0 without a pipeline model.
   */
  uint16_t stages;
  /**
   * Its slot in the bundle on IA-64, else 0.
   */
  uint8_t slot;
  /**
   * VmPmuBranch: its kind of control transfer.
   */
  uint8_t branch;
  /**
   * VmPmuPrediction.
   */
  uint8_t prediction;
  /**
   * The size of its access to memory in bytes.
   */
  uint8_t memory_size;
  /**
   * VmPmuData: where its data came from.
   */
  uint8_t data;
  /**
   * With VM_PMU_DATA_CACHE the cache's level, from 1.
   */
  uint8_t data_level;
  /**
   * VmPmuTranslation of its access to memory.
   */
  uint8_t memory_translation;
  /**
   * VmPmuTranslation of its fetch.
   */
  uint8_t fetch_translation;
  /**
   * VmPmuUnit: the unit that executed it.
   */
  uint8_t unit;
  /**
   * VmPmuFetchSource: where it was fetched from.
   */
  uint8_t fetch_source;
  /**
   * The processor's own code of what reloaded the data cache (POWER9: 5 bits), with VM_PMU_RECORD_RELOAD_SOURCE.
   */
  uint8_t reload_source;
  /**
   * The same code for the page-table entry that was loaded, with VM_PMU_RECORD_WALK_SOURCE.
   */
  uint8_t walk_source;
  /**
   * VmPmuStoreOutcome of a store.
   */
  uint8_t store_outcome;
  /**
   * The binary logarithm of the page's size in bytes; 0 if not known.
   */
  uint8_t page_bits;
  /**
   * 4 bits: the reason of its stall (POWER9: SIER.FIN_STALL_REASON).
   */
  uint8_t stall_reason;
  /**
   * VM_PMU_LINE_STATE_...: the states that the lines of the last-level cache had before it.
   */
  uint8_t line_states;
  /**
   * VmPmuFabricCommand: its command to the fabric.
   */
  uint8_t fabric_command;
  /**
   * How often the fabric answered with a retry.
   */
  uint8_t fabric_retries;
  /**
   * 3 bits: the scope, as the processor's manual encodes it (POWER9: Table A-7).
   */
  uint8_t fabric_scope;
  /**
   * 5 bits: the combined response.
   */
  uint8_t fabric_response;
  /**
   * 3 bits: the type of the transaction.
   */
  uint8_t fabric_transaction;
  /**
   * 2 bits: how busy the local memory was.
   */
  uint8_t fabric_memory_busy;
  /**
   * VmPmuFlush: why its first attempt was flushed.
   */
  uint8_t flush;
} VmPmuRecord;

/**
 * One request that left a core's own caches.
 */
typedef struct {
  /**
   * sizeof(VmPmuRequest).
   */
  size_t size;
  /**
   * The physical address of the line.
   */
  uint64_t physical;
  /**
   * From the request to the data, in cycles of the thread's clock; 0 if not known.
   */
  uint32_t latency;
  /**
   * VmPmuRequestKind: what it requested.
   */
  uint8_t kind;
  /**
   * VmPmuSupplier of the data.
   */
  uint8_t supplier;
  /**
   * VmPmuSnoop of other caches.
   */
  uint8_t snoop;
  /**
   * One more than the number of the cluster (on Knights Landing: tile) whose cache had the line, if it was another; 0 if not known.
   */
  uint32_t holder;
  /**
   * One more than the physical address of the line that a memory-side cache gave up for this one; 0 if there was none or it is not known.
   */
  uint64_t displaced;
} VmPmuRequest;

/**
 * One request at a caching and home agent (CHA).
 */
typedef struct {
  /**
   * sizeof(VmPmuTransaction).
   */
  size_t size;
  /**
   * With stage 2, after how many clocks it leaves the table of requests.
   */
  uint64_t clocks;
  /**
   * VM_PMU_TRANSACTION_...
   */
  uint32_t flags;
  /**
   * Its opcode, 10 bits.
   */
  uint16_t opcode;
  /**
   * The queue that it came through: 0 IRQ (a tile), 1 an eviction from the snoop filter, 2 PRQ (a device), 3 IPQ (a snoop).
   */
  uint8_t source;
  /**
   * Its lookup in the snoop filter: 0 data to read, 1 to write, 2 a snoop from outside, 3 something else.
   */
  uint8_t lookup;
  /**
   * The state of the line in the snoop filter: 0 invalid, 1 shared, 2 exclusive, 3 modified.
   */
  uint8_t state;
  /**
   * The tile that made it, 0 to 37.
   */
  uint8_t tile;
  /**
   * The thread of the tile that made it, 0 to 7.
   */
  uint8_t thread;
  /**
   * Its stage: 0 it enters the table of requests, 1 it leaves the table, 2 it enters and leaves after `clocks`, for an embedder that
   * does not follow it.
   */
  uint8_t stage;
} VmPmuTransaction;

/**
 * The guest's memory: three functions of the embedder, for POWER9's counters that post themselves into it.
 *
 * A cell is eight bytes at an address that is a multiple of 8, and big-endian in the guest's memory; the functions take and give its value
 * as a number. They return false if the guest has no memory there, or the address is not a multiple of 8: the amount is then kept, and
 * added when memory takes it. They are called on the host thread that called the library. While a core posts they may call it. While
 * a chip posts, the chip is locked: a call returns VM_PMU_STATUS_ERROR_REENTERED and does nothing, and waiting for another host thread
 * that calls the library for the chip has no end. They must return: no C++ exception and no longjmp may leave them.
 */
typedef struct {
  /**
   * sizeof(VmPmuMemory).
   */
  size_t size;
  /**
   * Passed to the functions.
   */
  void *user;
  /**
   * Writes the value of the cell at `address` to `value`.
   */
  bool (*load)(void *user, uint64_t address, uint64_t *value);
  /**
   * Stores `value` in the cell at `address`.
   */
  bool (*store)(void *user, uint64_t address, uint64_t value);
  /**
   * Adds `amount` to the cell at `address`, atomically with respect to CPUs of the guest; a sum beyond 64 bits wraps.
   */
  bool (*add)(void *user, uint64_t address, uint64_t amount);
} VmPmuMemory;

/**
 * What posting did.
 */
typedef struct {
  /**
   * sizeof(VmPmuPassed).
   */
  size_t size;
  /**
   * The address of the first access that memory refused, if any.
   */
  uint64_t refused_address;
  /**
   * The slots that the engine missed, because too many were due at once; for a core, the postings that are combined into one.
   */
  uint64_t late;
  /**
   * The slots that the engine ran; for a core, the postings that were made: 0 or 1.
   */
  uint32_t slots;
  /**
   * How many accesses memory refused.
   */
  uint32_t refused;
} VmPmuPassed;

/**
 * How a chip is made. Set `size` to its sizeof; zero means the default of every field except `home` and `id`.
 */
typedef struct {
  /**
   * sizeof(VmPmuChip).
   */
  size_t size;
  /**
   * Its home base in bytes, a multiple of 8: the region that it posts into is at 180000h from there.
   */
  uint64_t home;
  /**
   * The cycles of the nest from one slot of the engine to the next; 0 is the default.
   */
  uint64_t slot_cycles;
  /**
   * The units that it has, one bit each, the most significant being the SMP interconnect; 0 means those of the guide's table 6-10.
   */
  uint64_t units;
  /**
   * The frequency of the nest in hertz; 0 is 2 GHz.
   */
  uint64_t nest_hertz;
  /**
   * The frequency of the host bridges in hertz; 0 is 2 GHz.
   */
  uint64_t host_bridge_hertz;
  /**
   * The frequency of the memory modules in hertz, half of their data rate; 0 is that of DDR4-2667.
   */
  uint64_t memory_hertz;
  /**
   * The number by which the device tree knows it (chip-id): 0 to 127.
   */
  uint32_t id;
} VmPmuChip;

/**
 * How a platform is made.
 */
typedef struct {
  /**
   * sizeof(VmPmuPlatformOptions).
   */
  size_t size;
  /**
   * Pointers to the chips; null if there are none.
   */
  const VmPmuChip *const *chips;
  /**
   * How many chips: VM_PMU_MOST_CHIPS at most.
   */
  size_t chip_count;
  /**
   * The PIRs of the machine's threads, in their order: the number of a thread's chip is in the bits from 8 on, that of its core in bits
   * 2 to 7, its own in bits 0 and 1 (bit 0 is the least significant here); null if there are none.
   */
  const uint32_t *pirs;
  /**
   * How many PIRs: VM_PMU_MOST_THREADS at most.
   */
  size_t pir_count;
} VmPmuPlatformOptions;

/**
 * A function of the embedder that translates page `page`: it writes the real page to `real` and returns true, or returns false where there
 * is no translation. It must return: no C++ exception and no longjmp may leave it.
 */
typedef bool (*VmPmuTranslate)(void *user, uint64_t page, uint64_t *real);

/**
 * The table entries that lead to the page of an address. The library sets it to a page of the default size without tables; the embedder
 * changes the fields that it knows.
 */
typedef struct {
  /**
   * sizeof(VmPmuWalk) of the library: fields beyond it are ignored.
   */
  size_t size;
  /**
   * Physical addresses of the table entries that lead to the page, root first.
   */
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  /**
   * How many of them there are.
   */
  uint8_t levels;
  /**
   * Bits of an address within the page.
   */
  uint8_t page_bits;
  /**
   * Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
   */
  uint8_t global;
} VmPmuWalk;

/**
 * The tables of a guest whose real addresses the tables of its host translate. The library sets it to a guest that does not translate, at
 * real address `address`; the embedder changes the fields that it knows.
 */
typedef struct {
  /**
   * sizeof(VmPmuGuestWalk) of the library: fields beyond it are ignored.
   */
  size_t size;
  /**
   * The guest real address that the address is translated to.
   */
  uint64_t real;
  /**
   * The guest real address of the entry of the guest's process table, which a walk reads before the root, if `has_process_entry` is not 0.
   */
  uint64_t process_entry;
  /**
   * Guest real addresses of the table entries that lead to the page, root first.
   */
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  /**
   * How many of them there are.
   */
  uint8_t levels;
  /**
   * Bits of an address within the guest's page.
   */
  uint8_t page_bits;
  /**
   * Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
   */
  uint8_t global;
  /**
   * Whether there is an entry of a process table.
   */
  uint8_t has_process_entry;
} VmPmuGuestWalk;

/**
 * The translation of a guest real address by the tables of the host. The library sets it to the same physical address, in a page of the
 * default size without tables.
 */
typedef struct {
  /**
   * sizeof(VmPmuHostWalk) of the library: fields beyond it are ignored.
   */
  size_t size;
  /**
   * The physical address that the guest real address is translated to.
   */
  uint64_t physical;
  /**
   * Physical addresses of the table entries that lead to the page, root first.
   */
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  /**
   * How many of them there are.
   */
  uint8_t levels;
  /**
   * Bits of an address within the host's page.
   */
  uint8_t page_bits;
} VmPmuHostWalk;

/**
 * Physical addresses that are I/O behind a package, on a part that counts I/O by package: the K8.
 */
typedef struct {
  /**
   * The first address.
   */
  uint64_t first;
  /**
   * How many bytes.
   */
  uint64_t bytes;
  /**
   * The package that the devices are behind.
   */
  uint32_t package;
  /**
   * Zero.
   */
  uint32_t reserved;
} VmPmuIoRange;

/**
 * A HyperTransport link between two packages.
 */
typedef struct {
  /**
   * One package, below VM_PMU_NODES.
   */
  uint8_t package;
  /**
   * The number of the link there, below VM_PMU_NODE_LINKS.
   */
  uint8_t link;
  /**
   * The other package.
   */
  uint8_t other_package;
  /**
   * The number of the link there.
   */
  uint8_t other_link;
} VmPmuNodeLink;

/**
 * What package `from` sends to package `to` leaves by its link `link`, instead of by a shortest way.
 */
typedef struct {
  /**
   * The package that sends.
   */
  uint8_t from;
  /**
   * The package that it is for.
   */
  uint8_t to;
  /**
   * The link of `from`, which leads to a package.
   */
  uint8_t link;
  /**
   * Zero.
   */
  uint8_t reserved;
} VmPmuNodeRoute;

/**
 * How a companion is made. Set `size` to its sizeof; zero means the default.
 */
typedef struct {
  /**
   * sizeof(VmPmuCompanionOptions).
   */
  size_t size;
  /**
   * How many packages; 0 is one.
   */
  uint32_t packages;
  /**
   * How many threads a package has; 0 is one. They fill one core after the other.
   */
  uint32_t threads;
  /**
   * VmPmuClockOwner.
   */
  uint32_t clock;
  /**
   * VM_PMU_COMPANION_ALWAYS.
   */
  uint32_t flags;
  /**
   * The seed of random replacement; 0 is the default.
   */
  uint64_t seed;
  /**
   * How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
   */
  uint64_t memory_per_package;
  /**
   * Passed to `walk`.
   */
  void *user;
  /**
   * Called when no translation buffer holds `address`: writes the table entries that lead to its page to `walk`. If null, pages have
   * `page_bits` bits and no table is read. It is called while the thread's follower is in use: it may call every function except those
   * that follow the same thread, and except those that destroy the companion or a machine. It must return: no C++ exception and no
   * longjmp may leave it.
   */
  void (*walk)(void *user, uint32_t thread, uint64_t address, VmPmuWalk *walk);
  /**
   * Bits of an address within a page, where `walk` does not say otherwise; 0 is 12.
   */
  uint32_t page_bits;
  /**
   * Called when the first level of translation buffers lacks `address`: if the thread is in a guest whose real addresses a host's tables
   * translate, writes the guest's tables to `guest` and returns true; otherwise returns false, and `walk` has all. If null, no guest has a
   * host. The rules of `walk` hold.
   */
  bool (*nested)(void *user, uint32_t thread, uint64_t address, VmPmuGuestWalk *guest);
  /**
   * Called for a guest real address that `nested` has told: writes the host's tables for it to `host`. If null, each is its own physical
   * address. The rules of `walk` hold.
   */
  void (*host)(void *user, uint32_t thread, uint64_t real, VmPmuHostWalk *host);
  /**
   * How many packages make a group: those of other groups are farther away than those of the own. 0 is all.
   */
  uint32_t packages_per_group;
  /**
   * How many further clusters each package has whose cores are off and whose third level is lent to the others, on a part whose third
   * level is one of victims.
   */
  uint32_t lent_clusters;
  /**
   * How many threads a core has, where it has fewer than it could; 0 is as many as it could.
   */
  uint32_t core_threads;
  /**
   * Which tiles the die of a part with a mesh has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all
   * of them, without one tiles that fill the quadrants one after the other.
   */
  uint64_t tiles;
  /**
   * Physical addresses that are I/O behind a package, on the K8; null if there are none. Uncached accesses outside of them go to memory.
   * Without any, all uncached accesses go to I/O of the first package. The list is not used after vm_pmu_companion_create().
   */
  const VmPmuIoRange *io_ranges;
  /**
   * How packages are joined by HyperTransport links, on a part that has such links: the K8. Null is a ladder: packages 2n and 2n + 1 are
   * joined by link 0, and link 2 of a package leads to link 1 of the one two numbers on. What is sent takes a shortest way, and of several
   * the one by the link of the smallest number. The list is not used after vm_pmu_companion_create().
   */
  const VmPmuNodeLink *links;
  /**
   * Ways that are taken instead of the shortest ones, over `links`; null if there are none. The list is not used after
   * vm_pmu_companion_create().
   */
  const VmPmuNodeRoute *routes;
  /**
   * How many ranges `io_ranges` has: VM_PMU_IO_RANGES at most.
   */
  uint32_t io_range_count;
  /**
   * How many links `links` has.
   */
  uint32_t link_count;
  /**
   * How many ways `routes` has.
   */
  uint32_t route_count;
  /**
   * VmPmuClusterMode, on a part with a mesh: Knights Landing. A mode of several nodes divides `memory_per_package` among them.
   */
  uint32_t cluster_mode;
  /**
   * VmPmuMemoryMode, on a part with a mesh. A mode other than a cache puts MCDRAM above `memory_per_package`.
   */
  uint32_t memory_mode;
  /**
   * How many bytes of MCDRAM a part with a mesh has; 0 is 64 MiB, where the part has 16 GiB: eight bytes are allocated for each line that
   * is a cache.
   */
  uint64_t mcdram;
  /**
   * The first address of the graphics aperture, on a part that has one: the K8.
   */
  uint64_t aperture;
  /**
   * How many bytes the graphics aperture has; 0 means that there is none.
   */
  uint64_t aperture_bytes;
} VmPmuCompanionOptions;

/**
 * An access by a device, to memory or to I/O of another device (VmPmuCompanionOptions::io_ranges).
 */
typedef struct {
  /**
   * sizeof(VmPmuDeviceRequest).
   */
  size_t size;
  /**
   * The physical address of the first byte.
   */
  uint64_t physical;
  /**
   * How many bytes. At most 4,096 are taken: report a longer transfer in parts.
   */
  uint64_t bytes;
  /**
   * The package of the companion that the device is behind.
   */
  uint32_t package;
  /**
   * VmPmuDeviceOperation.
   */
  uint32_t operation;
} VmPmuDeviceRequest;

/**
 * One access to memory. One that crosses into a page that is not contiguous in physical memory is reported as two.
 */
typedef struct {
  /**
   * The virtual address.
   */
  uint64_t address;
  /**
   * The physical address of the first byte.
   */
  uint64_t physical;
  /**
   * Its size in bytes.
   */
  uint8_t bytes;
  /**
   * VmPmuAccessKind.
   */
  uint8_t kind;
  /**
   * VM_PMU_ACCESS_...
   */
  uint8_t flags;
  /**
   * Zero.
   */
  uint8_t reserved[5];
} VmPmuAccess;

/**
 * One executed instruction, or an interrupt or exception that was taken.
 *
 * Registers have numbers of the embedder's choice below 512; flags, condition fields and predicates are registers too. A register that
 * always reads the same is left out.
 */
typedef struct {
  /**
   * sizeof(VmPmuInstruction).
   */
  size_t size;
  /**
   * Its virtual address.
   */
  uint64_t address;
  /**
   * Its physical address.
   */
  uint64_t physical;
  /**
   * The physical address of the next page, with VM_PMU_INSTRUCTION_NEXT_PAGE.
   */
  uint64_t next_page;
  /**
   * Where its transfer went, or would have gone.
   */
  uint64_t target;
  /**
   * What it accesses, in order; null if nothing.
   */
  const VmPmuAccess *accesses;
  /**
   * How many accesses: VM_PMU_MOST_ACCESSES at most.
   */
  size_t access_count;
  /**
   * VM_PMU_INSTRUCTION_...
   */
  uint32_t flags;
  /**
   * Its length in bytes; 0 if nothing was fetched.
   */
  uint8_t bytes;
  /**
   * How many slots of a cycle it takes; 0 is one.
   */
  uint8_t micro_ops;
  /**
   * VmPmuClass.
   */
  uint8_t instruction_class;
  /**
   * How many segment registers it loads.
   */
  uint8_t segment_loads;
  /**
   * VmPmuBranch: its kind of control transfer.
   */
  uint8_t branch;
  /**
   * The slot of its bundle, 0 to 2, with VM_PMU_INSTRUCTION_BUNDLE; a long instruction is in slot 1.
   */
  uint8_t slot;
  /**
   * The 16 bytes of its bundle as two little-endian words, with VM_PMU_INSTRUCTION_BUNDLE.
   */
  uint64_t bundle[2];
  /**
   * AR.PFS as a taken call left it or a taken return found it, with VM_PMU_INSTRUCTION_FUNCTION_STATE.
   */
  uint64_t function_state;
  /**
   * The registers that addresses are computed from; null if there are none.
   */
  const uint16_t *address_registers;
  /**
   * The other registers that it reads, also where it writes a part and the rest is kept; null if there are none.
   */
  const uint16_t *read_registers;
  /**
   * The registers that it writes; null if there are none.
   */
  const uint16_t *written_registers;
  /**
   * How many address_registers.
   */
  uint8_t address_register_count;
  /**
   * How many read_registers.
   */
  uint8_t read_register_count;
  /**
   * How many written_registers.
   */
  uint8_t written_register_count;
  /**
   * The width of its operands in bytes: of the whole vector where there are several elements, 10 for x87's extended numbers; 0 if it has
   * none.
   */
  uint8_t width;
  /**
   * VmPmuElements: of its result, or of its sources if it has none.
   */
  uint8_t elements;
  /**
   * How many legacy prefixes it has, on x86.
   */
  uint8_t prefixes;
} VmPmuInstruction;

/**
 * The outcome of the last instruction: the fields of a VmPmuRecord other than addresses.
 */
typedef struct {
  /**
   * sizeof(VmPmuOutcome) of the library: fields beyond it do not exist.
   */
  size_t size;
  /**
   * The address that was fetched, with VM_PMU_OUTCOME_FETCH.
   */
  uint64_t fetch_address;
  /**
   * VM_PMU_OUTCOME_...
   */
  uint32_t flags;
  /**
   * From issue to data, in cycles: the longest of its accesses.
   */
  uint32_t latency;
  /**
   * From the fetch's request to the instructions, in cycles.
   */
  uint32_t fetch_latency;
  /**
   * Its cycles, with VM_PMU_OUTCOME_CYCLES.
   */
  uint32_t cycles;
  /**
   * VmPmuPrediction.
   */
  uint8_t prediction;
  /**
   * VmPmuData: where the data of the longest access came from.
   */
  uint8_t data;
  /**
   * With VM_PMU_DATA_CACHE the level of the cache.
   */
  uint8_t data_level;
  /**
   * VmPmuTranslation of its first access.
   */
  uint8_t translation;
  /**
   * VmPmuTranslation of its fetch.
   */
  uint8_t fetch_translation;
  /**
   * VmPmuFetchSource: where its code came from.
   */
  uint8_t fetch_source;
  /**
   * With VM_PMU_OUTCOME_WALK_SOURCE the code that POWER9 has for where the last page-table entry of its first access was read.
   */
  uint8_t walk_source;
  /**
   * The binary logarithm of the size of that access's page in bytes, if the first level of the translation buffers did not have it;
   * else 0.
   */
  uint8_t page_bits;
  /**
   * Cycles after its issue in which it was the oldest that had not finished, with `stages`.
   */
  uint32_t stall;
  /**
   * VM_PMU_TRAIT_...: further properties that the pipeline finds, with `stages`.
   */
  uint32_t traits;
  /**
   * When it reached each stage, in cycles from its decoding on.
   */
  uint32_t stage_cycles[VM_PMU_STAGES];
  /**
   * The stages that it reaches, one bit each, those after its dispatch included. 0 unless the part is POWER9, the companion keeps time and
   * the demand asks for records.
   */
  uint16_t stages;
  /**
   * The reason of its stall (POWER9: SIER.FIN_STALL_REASON), with `stages`.
   */
  uint8_t stall_reason;
  /**
   * VmPmuStoreOutcome of its store.
   */
  uint8_t store_outcome;
  /**
   * VmPmuFabricCommand: what the cluster asked the other caches and memory for, for the longest access.
   */
  uint8_t fabric_command;
  /**
   * With VM_PMU_OUTCOME_RELOAD_SOURCE the code that POWER9 has for where the data of the longest access came from.
   */
  uint8_t reload_source;
  /**
   * How far that command went and had to go, where the part predicts it: POWER9's SIER.EXT, 0 if nobody else was asked.
   */
  uint8_t fabric_scope;
  /**
   * How often it was repeated, each time farther.
   */
  uint8_t fabric_retries;
  /**
   * VmPmuFlush: why its first attempt was flushed, with `stages`.
   */
  uint8_t flush;
} VmPmuOutcome;

/**
 * A signal that grows with each instruction of a block.
 */
typedef struct {
  /**
   * The number of the signal.
   */
  uint32_t signal;
  /**
   * How much each instruction adds to it.
   */
  uint32_t amount;
} VmPmuGrowth;

/**
 * How a CPU is made. Set `size` to its sizeof and leave fields that are not needed at zero.
 */
typedef struct {
  /**
   * sizeof(VmPmuCpuOptions).
   */
  size_t size;
  /**
   * What grows with the instructions of blocks, in addition to instructions; VM_PMU_MOST_GROWING at most. An instruction is one cycle
   * unless the list says otherwise.
   */
  const VmPmuGrowth *growing;
  /**
   * How many `growing` has.
   */
  uint32_t growing_count;
  /**
   * The signal whose sum in a block the countdown counts beside instructions, such as branches; 0 for none.
   */
  uint32_t paired_signal;
  /**
   * A VmPmuCompanion that makes what the emulator does not add, or null. The CPU has its follower of this thread until it is destroyed. A
   * library without the feature `companion` refuses one.
   */
  void *companion;
  /**
   * The numbers of the signals that the emulator adds itself although the companion could make them, or null.
   */
  const uint32_t *kept;
  /**
   * How many `kept` has.
   */
  size_t kept_count;
} VmPmuCpuOptions;

/**
 * An instruction that a CPU completed, or another step of it. Set `size` to its sizeof and leave fields that are not needed at zero.
 */
typedef struct {
  /**
   * sizeof(VmPmuStep).
   */
  size_t size;
  /**
   * The numbers of the signals that grew by one each, VM_PMU_MOST_STEP at most, or null. A signal that occurred twice is named twice.
   */
  const uint32_t *signals;
  /**
   * How many `signals` has.
   */
  uint32_t signal_count;
  /**
   * How many `states` has.
   */
  uint32_t state_count;
  /**
   * The numbers of the emulator's states that hold in every cycle of the step, such as masked interrupts, VM_PMU_MOST_STEP at most, or null:
   * used while a companion makes the cycles.
   */
  const uint32_t *states;
  /**
   * The cycles of the step; not added while a companion makes them.
   */
  uint64_t cycles;
  /**
   * Passed to `record`.
   */
  void *user;
  /**
   * Called where the record of the instruction is wanted: fills in what the emulator knows, all fields except `size`, which are 0 at first, and
   * returns true; or returns false. Null for a step that is no instruction. It may call every function except those of this CPU, and must return.
   */
  bool (*record)(void *user, VmPmuRecord *record);
  /**
   * VM_PMU_OCCASION_...: what may cause its record to be wanted, beside a deadline.
   */
  uint32_t occasions;
} VmPmuStep;

/**
 * How often a place of memory did something since its last report.
 */
typedef struct {
  /**
   * sizeof(VmPmuPlace) of the library: fields behind it are not there.
   */
  size_t size;
  /**
   * How often: accesses, never 0.
   */
  uint64_t amount;
  /**
   * What it did, as a VmPmuSignal: memory_reads and memory_writes of a channel; near_memory_reads, near_memory_writes and the four of
   * the memory_side_cache of a controller of near memory.
   */
  uint32_t signal;
  /**
   * VmPmuPlaceKind.
   */
  uint32_t kind;
  /**
   * The controller, from 0 on through all packages.
   */
  uint32_t controller;
  /**
   * The channel, from 0 on in its controller; 0 of near memory.
   */
  uint32_t channel;
} VmPmuPlace;

/**
 * What half of a link carried in one direction.
 */
typedef struct {
  /**
   * Commands, which each package shows its caches and its memory.
   */
  uint64_t commands;
  /**
   * Answers of a package to commands.
   */
  uint64_t answers;
  /**
   * Lines of data.
   */
  uint64_t lines;
} VmPmuCarried;

/**
 * What a link carried, by its halves: the first has the even lines, the second the odd ones.
 */
typedef struct {
  /**
   * To the other package.
   */
  VmPmuCarried sent[2];
  /**
   * From the other package.
   */
  VmPmuCarried received[2];
} VmPmuLink;

/**
 * What a channel of memory is asked for, whoever gives the data in the end.
 */
typedef struct {
  /**
   * Reads of lines that are to be written.
   */
  uint64_t owned;
  /**
   * Reads of lines by the prefetchers of data.
   */
  uint64_t prefetched;
  /**
   * Writes of a part of a line by devices.
   */
  uint64_t partly_written;
  /**
   * Atomic operations, done at the memory.
   */
  uint64_t atomics;
  /**
   * Rows of DRAM that were opened, on parts whose lines go to channels in turn.
   */
  uint64_t activations;
} VmPmuAsked;

/**
 * What the interconnect of a package did since its last report.
 *
 * A request begins at a cache or device of the package: to read a line, to own it, to write it, or to flush it from every cache.
 * Consecutive lines go to the ports in turn.
 */
typedef struct {
  /**
   * sizeof(VmPmuInterconnect) of the library: fields behind it are not there.
   */
  size_t size;
  /**
   * Requests sent within the package, by port.
   */
  uint64_t requests_within[VM_PMU_PORTS];
  /**
   * Requests sent to packages of other groups too, by port: one of them has the memory of the line, or had the line in a cache.
   */
  uint64_t requests_beyond[VM_PMU_PORTS];
  /**
   * Lines that moved from one place of the package to another: its caches, its memory, its devices.
   */
  uint64_t lines_within;
  /**
   * Lines that came from another package or went there.
   */
  uint64_t lines_beyond;
  /**
   * The package.
   */
  uint32_t package;
  /**
   * Requests sent to all packages of the group, by port.
   */
  uint64_t requests_to_group[VM_PMU_PORTS];
  /**
   * The links to other packages of the group.
   */
  VmPmuLink links[VM_PMU_LINKS];
  /**
   * What each channel of memory is asked for, in the order of VM_PMU_PLACE_KIND_CHANNEL.
   */
  VmPmuAsked channels[VM_PMU_CHANNELS];
} VmPmuInterconnect;

/**
 * The bytes that a chip has moved so far, which make its transfers.
 */
typedef struct {
  /**
   * Within the chip.
   */
  uint64_t within;
  /**
   * To other chips or from them.
   */
  uint64_t beyond;
} VmPmuMoved;

/**
 * Which counters that post themselves are described. Set `size` to its sizeof; zero means the default.
 */
typedef struct {
  /**
   * sizeof(VmPmuCounterNodes).
   */
  size_t size;
  /**
   * VM_PMU_COUNTER_NODES_...
   */
  uint32_t flags;
  /**
   * The first phandle that is not taken in the tree, up to FFFFFFFEh; 0 is 1. One is needed for each unit, 56 at most.
   */
  uint32_t first_phandle;
} VmPmuCounterNodes;

/**
 * The writer of a device tree: three functions of the embedder, like those of libfdt for writing in sequence (fdt_begin_node,
 * fdt_property, fdt_end_node). The library calls them for what it writes into the open node.
 *
 * Each returns true to continue. If one returns false, nothing further is written, and the call into the library returns
 * VM_PMU_STATUS_ERROR_STOPPED. They are called with no lock held, and may call every function. They must return: no C++ exception and no
 * longjmp may leave them. Texts and values are valid until they return.
 */
typedef struct {
  /**
   * sizeof(VmPmuTreeWriter).
   */
  size_t size;
  /**
   * Passed to the functions.
   */
  void *user;
  /**
   * Begins a node of this name, which includes its unit address.
   */
  bool (*begin_node)(void *user, const char *name);
  /**
   * Adds a property to the open node: `length` bytes at `value`, in the form of the tree; cells are big-endian, texts end with a zero
   * byte. All properties of a node come before its nodes.
   */
  bool (*property)(void *user, const char *name, const uint8_t *value, size_t length);
  /**
   * Ends the open node that began last.
   */
  bool (*end_node)(void *user);
} VmPmuTreeWriter;

/**
 * What a machine looks like. CPUs are counted through the threads of a core, then its cores, then its packages, and a package is what goes
 * into a socket. Set `size` to its sizeof; zero means the smallest machine of the part.
 */
typedef struct {
  /**
   * sizeof(VmPmuLayout).
   */
  size_t size;
  /**
   * How many packages; 0 is one.
   */
  uint32_t packages;
  /**
   * How many cores each package has; 0 is one, or those of a tile.
   */
  uint32_t cores;
  /**
   * How many threads each core has; 0 is one, or all on Knights Landing.
   */
  uint32_t threads;
  /**
   * VM_PMU_LAYOUT_BUFFERED.
   */
  uint32_t flags;
  /**
   * How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
   */
  uint64_t memory_per_package;
  /**
   * How many packages make a group; 0 is all to the companion, and one to the numbers of POWER9's chips.
   */
  uint32_t packages_per_group;
  /**
   * How many more cores each package has that are off and lend their third level, on a part that does so.
   */
  uint32_t lent_cores;
  /**
   * Which tiles a Knights Landing has, as many as its cores need: a bit for each of 38 places; 0 is those of the usual part with so many
   * (vm_pmu_tiles_usual()).
   */
  uint64_t tiles;
  /**
   * How a Knights Landing shares lines among agents and memory: VmPmuClusterMode. A mode of several nodes divides `memory_per_package`
   * among them.
   */
  uint32_t cluster_mode;
  /**
   * What a Knights Landing uses MCDRAM as: VmPmuMemoryMode. What is memory lies above `memory_per_package`.
   */
  uint32_t memory_mode;
  /**
   * How many bytes of MCDRAM it has; 0 is 64 MiB, where the part has 16 GiB.
   */
  uint64_t mcdram;
} VmPmuLayout;

/**
 * A text that lives as long as the program. It does not end with a zero byte: print it with "%.*s".
 */
typedef struct {
  /**
   * Its bytes, UTF-8.
   */
  const char *bytes;
  /**
   * Their number.
   */
  size_t length;
} VmPmuText;

/**
 * An event of a part, or one unit mask of an event.
 */
typedef struct {
  /**
   * sizeof(VmPmuEvent).
   */
  size_t size;
  /**
   * Its name: EVENT, or EVENT.MASK.
   */
  VmPmuText name;
  /**
   * The unit of the part that it belongs to.
   */
  VmPmuText unit;
  /**
   * What it counts, in one line.
   */
  VmPmuText summary;
  /**
   * How the count differs from the real part's, if it is not exact.
   */
  VmPmuText rule;
  /**
   * The section of the manual.
   */
  VmPmuText section;
  /**
   * The numbers of the signals whose sum it is: signal_count of them, which live as long as the program.
   */
  const uint16_t *signals;
  /**
   * How many there are.
   */
  uint32_t signal_count;
  /**
   * VM_PMU_EVENT_...
   */
  uint32_t flags;
  /**
   * The event select; for a posted event its offset.
   */
  uint32_t select;
  /**
   * The unit mask, with VM_PMU_EVENT_UMASK.
   */
  uint32_t umask;
  /**
   * The offset at which it is posted, with VM_PMU_EVENT_POSTED.
   */
  uint32_t offset;
  /**
   * The counters that can count it, one bit each, by number.
   */
  uint32_t counters;
  /**
   * The most increments in one cycle.
   */
  uint32_t max_per_cycle;
  /**
   * VmPmuFidelity.
   */
  uint32_t fidelity;
} VmPmuEvent;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The number of the library's binary interface: compare it with VM_PMU_ABI of the header that the program was compiled with.
 */
uint32_t vm_pmu_abi(void);

/**
 * The version of the library by semantic versioning: major in bits 31:20, minor in bits 19:10, patch in bits 9:0.
 *
 * VM_PMU_VERSION is the version of the header.
 */
uint32_t vm_pmu_version(void);

/**
 * The version of the library as a text, such as "0.1.0"; it lives as long as the program.
 */
const char *vm_pmu_version_text(void);

/**
 * Copies the message of this host thread's last call that returned an error, as one line that ends with a zero byte.
 *
 * At most `size` bytes are written to `buffer`, including the zero byte; the rest is cut off. With `size` 0 nothing is written, and
 * `buffer` may be null. Returns the length of the whole message without the zero byte; 0 if no call has failed yet.
 */
size_t vm_pmu_last_error(char *buffer, size_t size);

/**
 * Makes a machine of the part of this name: "k8", "knl", "power9", "itanium", "montecito"; vm_pmu_part_name() lists them.
 *
 * `options` may be null, for one package of one thread without callbacks. The machine is written to `machine`, and lives until
 * vm_pmu_machine_destroy(). It never moves, and nothing is allocated for it later. It may be used from several host threads at once.
 *
 * Options that the part does not have are refused with VM_PMU_STATUS_ERROR_UNSUPPORTED: a number of threads or packages that it cannot
 * have, shared counters on a part other than the K8, buses or frequencies of boxes, tiles or a cluster mode on a part without boxes.
 */
VmPmuStatus vm_pmu_machine_create(const char *name, const VmPmuOptions *options, VmPmuMachine **machine);

/**
 * Destroys a machine. Null is allowed and does nothing. While a callback of the machine runs, or it has a VmPmuCpu, this is refused.
 *
 * No other call may be using the machine. Afterwards neither it nor pointers to its cells may be used.
 */
VmPmuStatus vm_pmu_machine_destroy(VmPmuMachine *machine);

/**
 * Writes how many packages the machine has, how many threads in all, and how many bytes it takes. Each of the pointers may be null.
 */
VmPmuStatus vm_pmu_machine_shape(const VmPmuMachine *machine, uint32_t *packages, uint32_t *threads, size_t *bytes);

/**
 * Thread `thread` of the guest reads register `number` of address space `space` (VmPmuSpace). The value is written to `value`.
 *
 * Returns the fault to deliver to the guest instead, if there is one; VM_PMU_STATUS_FAULT_UNCLAIMED when the register is not the PMU's.
 * Before the call the totals must include every instruction before the accessing one, and the context must be current.
 */
VmPmuStatus vm_pmu_read(const VmPmuMachine *machine, uint32_t thread, uint32_t space, uint64_t number, uint64_t *value);

/**
 * Thread `thread` of the guest writes `value` to register `number` of address space `space` (VmPmuSpace).
 *
 * Returns as vm_pmu_read() does; with a fault nothing is written. Afterwards the demand may have changed: check vm_pmu_epoch().
 */
VmPmuStatus vm_pmu_write(const VmPmuMachine *machine, uint32_t thread, uint32_t space, uint64_t number, uint64_t value);

/**
 * Fills `cells` with where the totals and deadlines of thread `thread` are.
 */
VmPmuStatus vm_pmu_cells(const VmPmuMachine *machine, uint32_t thread, VmPmuCells *cells);

/**
 * A deadline of thread `thread` has been reached: counts up to now, delivers what is due, sets new deadlines.
 *
 * Before it, add all signals of the instruction, and report its record if it is wanted.
 */
VmPmuStatus vm_pmu_service(const VmPmuMachine *machine, uint32_t thread);

/**
 * The horizon of thread `thread` has been reached: services it if a deadline has been reached, and moves the horizon on.
 */
VmPmuStatus vm_pmu_check(const VmPmuMachine *machine, uint32_t thread);

/**
 * Thread `thread` completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at
 * `signals` and `cycles` to the cycles, and services the PMU if a deadline has been reached. A signal that occurred twice is named twice.
 * The shortest way for an interpreter; signals that are not demanded may be named too.
 */
VmPmuStatus vm_pmu_retire(const VmPmuMachine *machine, uint32_t thread, const uint32_t *signals, size_t count, uint64_t cycles);

/**
 * Lets `cycles` go by, all of the `count` signals at `states` holding in each of them: adds to their totals and services the thread at
 * every deadline on the way. The signal of cycles is one of the states.
 */
VmPmuStatus vm_pmu_advance(const VmPmuMachine *machine, uint32_t thread, uint64_t cycles, const uint32_t *states, size_t count);

/**
 * Fills `cells` with where the totals and deadlines of the devices of package `package` are: traffic that no thread caused.
 *
 * One host thread at a time adds to them.
 */
VmPmuStatus vm_pmu_device_cells(const VmPmuMachine *machine, uint32_t package, VmPmuCells *cells);

/**
 * A deadline of the devices of package `package` has been reached.
 */
VmPmuStatus vm_pmu_service_devices(const VmPmuMachine *machine, uint32_t package);

/**
 * The horizon of the devices of package `package` has been reached: as vm_pmu_check() for a thread.
 */
VmPmuStatus vm_pmu_check_devices(const VmPmuMachine *machine, uint32_t package);

/**
 * Thread `thread` enters a new state. Events that were added to the totals before this call occurred in the old one.
 */
VmPmuStatus vm_pmu_set_context(const VmPmuMachine *machine, uint32_t thread, const VmPmuContext *context);

/**
 * vm_pmu_set_context() for a running x86 thread with this CPL, RFLAGS and CR4. For one in HLT use vm_pmu_set_context() with
 * VM_PMU_CONTEXT_HALTED.
 */
VmPmuStatus vm_pmu_set_context_x86(const VmPmuMachine *machine, uint32_t thread, uint32_t cpl, uint64_t rflags, uint64_t cr4);

/**
 * vm_pmu_set_context() for a running POWER thread with this MSR, from which the privilege follows. `control` and `time_base` are as in
 * VmPmuContext.
 */
VmPmuStatus vm_pmu_set_context_power(const VmPmuMachine *machine, uint32_t thread, uint64_t msr, uint64_t control, uint64_t time_base);

/**
 * vm_pmu_set_context() for a running IA-64 thread in the foreground with this PSR, from which the privilege follows, and this DCR.
 */
VmPmuStatus vm_pmu_set_context_ia64(const VmPmuMachine *machine, uint32_t thread, uint64_t psr, uint64_t dcr);

/**
 * Fills `context` with the state of thread `thread` as its PMU knows it.
 */
VmPmuStatus vm_pmu_context(const VmPmuMachine *machine, uint32_t thread, VmPmuContext *context);

/**
 * Brings the registers of thread `thread` to their values after a reset: a warm one, with the power on (INIT), or a cold one. Report the
 * context afterwards.
 */
VmPmuStatus vm_pmu_reset(const VmPmuMachine *machine, uint32_t thread, bool warm);

/**
 * Writes to `levels` which requests of thread `thread` stay raised until the guest removes their cause (VM_PMU_LINE_...).
 */
VmPmuStatus vm_pmu_lines(const VmPmuMachine *machine, uint32_t thread, uint32_t *levels);

/**
 * Sets a deadline at every toggle of these pins of thread `thread`, one bit each.
 */
VmPmuStatus vm_pmu_watch_pins(const VmPmuMachine *machine, uint32_t thread, uint32_t pins);

/**
 * Writes to `toggles` how often pin `pin` of thread `thread` has toggled; its level is the lowest bit.
 */
VmPmuStatus vm_pmu_pin_toggles(const VmPmuMachine *machine, uint32_t thread, uint32_t pin, uint64_t *toggles);

/**
 * Writes to `value` and `mask` which instructions the signal matched_instructions counts: those whose encoding is `value` in the bits of
 * `mask`. Writes to `any` whether it counts any. Each of the pointers may be null. When it changes, so does the epoch of the demand.
 */
VmPmuStatus vm_pmu_instruction_match(const VmPmuMachine *machine, uint32_t thread, bool *any, uint64_t *value, uint64_t *mask);

/**
 * Fills `demand` with what thread `thread` must report: what its own counters follow, and those of others in the whole package.
 */
VmPmuStatus vm_pmu_demand(const VmPmuMachine *machine, uint32_t thread, VmPmuDemand *demand);

/**
 * Writes to `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, the signals that the counters of thread `thread`,
 * and those of others in the whole package, follow in vain at the moment, because VmPmuOptions::supplied does not name them. Such counters
 * count nothing; an emulator can warn its user.
 */
VmPmuStatus vm_pmu_unsupplied(const VmPmuMachine *machine, uint32_t thread, uint64_t *signals);

/**
 * Supplies the levels that VmPmuDemand::levels of thread `thread` asks for: `holding` points to VM_PMU_SIGNAL_WORDS words, in which the
 * bits of the states that hold right now are set. A counter that starts within a state then does not take it for an edge. Call it before
 * any other event; if it is never called, every state is at rest.
 */
VmPmuStatus vm_pmu_supply_levels(const VmPmuMachine *machine, uint32_t thread, const uint64_t *holding);

/**
 * Writes to `epoch` the epoch of thread `thread`'s demand, without taking a lock: a register access of another thread can change it too.
 * Compare it once per block.
 */
VmPmuStatus vm_pmu_epoch(const VmPmuMachine *machine, uint32_t thread, uint32_t *epoch);

/**
 * Fills `demand` with what the devices of package `package` must report.
 */
VmPmuStatus vm_pmu_device_demand(const VmPmuMachine *machine, uint32_t package, VmPmuDemand *demand);

/**
 * An event without a signal occurred in thread `thread` `amount` times (or for `amount` cycles). It is named as a guest would select it:
 * the event, and the bits of the unit mask that describe it. Writes to `taken`, which may be null, whether a counter of the thread counted
 * it.
 */
VmPmuStatus vm_pmu_inject(const VmPmuMachine *machine, uint32_t thread, uint32_t select, uint32_t umask, uint64_t amount, bool *taken);

/**
 * The same for an event of the whole package `package`: every thread of it that has a counter for the event counts it.
 */
VmPmuStatus vm_pmu_inject_package(const VmPmuMachine *machine,
                                  uint32_t package,
                                  uint32_t select,
                                  uint32_t umask,
                                  uint64_t amount,
                                  bool *taken);

/**
 * Reports one instruction of thread `thread`, where VmPmuDemand::records asks for it: after its signals have been added and, if it reached
 * a deadline, before vm_pmu_service(). More records than are demanded do no harm.
 */
VmPmuStatus vm_pmu_record(const VmPmuMachine *machine, uint32_t thread, const VmPmuRecord *record);

/**
 * Reports a request of thread `thread`, where VmPmuDemand::records has VM_PMU_RECORDS_REQUESTS: after the signals of the instruction that
 * made it have been added.
 */
VmPmuStatus vm_pmu_request(const VmPmuMachine *machine, uint32_t thread, const VmPmuRequest *request);

/**
 * Writes to `number` the number of the box of this name: its unit and its number there, such as "cha12", "mc-dclk5", "ubox". The boxes of
 * a unit have consecutive numbers.
 */
VmPmuStatus vm_pmu_box_named(const char *name, uint32_t *number);

/**
 * Writes to `listens` whether any counter of box `number` listens to its events (vm_pmu_box_inject()): while none does, they need not be
 * reported. Levels of queues, and requests that enter or leave a table, must always be reported.
 */
VmPmuStatus vm_pmu_box_listens(const VmPmuMachine *machine, uint32_t number, bool *listens);

/**
 * Event `select` with sub-event `umask` occurs in box `number`, `each` times in every one of the next `clocks` clocks. Writes to `taken`,
 * which may be null, whether a counter counts it.
 */
VmPmuStatus vm_pmu_box_inject(const VmPmuMachine *machine,
                              uint32_t number,
                              uint8_t select,
                              uint8_t umask,
                              uint64_t each,
                              uint64_t clocks,
                              bool *taken);

/**
 * The queue of event `select` and sub-event `umask` of box `number` has `change` entries more than before; a state (of cycles) that begins
 * or ends is one more or less. Always report it: a counter that starts later counts the entries that are there. Writes to `taken`, which
 * may be null, whether a counter follows it.
 */
VmPmuStatus vm_pmu_box_queue(const VmPmuMachine *machine, uint32_t number, uint8_t select, uint8_t umask, int64_t change, bool *taken);

/**
 * The queue of event `select` and sub-event `umask` of box `number` has `level` entries, whatever was reported before. Writes to `taken`,
 * which may be null, whether a counter follows it.
 */
VmPmuStatus vm_pmu_box_set_queue(const VmPmuMachine *machine, uint32_t number, uint8_t select, uint8_t umask, uint64_t level, bool *taken);

/**
 * Reports a request at CHA `cha`. Always report that it enters and that it leaves. Writes to `taken`, which may be null, whether a counter
 * counts it.
 */
VmPmuStatus vm_pmu_box_transact(const VmPmuMachine *machine, uint32_t cha, const VmPmuTransaction *transaction, bool *taken);

/**
 * Writes to `clocks` how far `clock` (VmPmuClock, one of the three) has advanced.
 */
VmPmuStatus vm_pmu_clocks(const VmPmuMachine *machine, uint32_t clock, uint64_t *clocks);

/**
 * So many cycles of the CPUs' clock went by: each of the three clocks ticks as often as the machine's frequencies say, exactly, however the
 * cycles are cut. Whatever overflows on the way does so at its own tick; interrupts are raised at the end of the cycle in which that is.
 */
VmPmuStatus vm_pmu_boxes_advance(const VmPmuMachine *machine, uint64_t cycles);

/**
 * Advances a clock (VmPmuClock) by `clocks`, for an embedder that keeps the clocks itself. Each overflow on the way comes at its own
 * clock: its interrupts are raised there, before the rest of the clocks.
 */
VmPmuStatus vm_pmu_tick(const VmPmuMachine *machine, uint32_t clock, uint64_t clocks);

/**
 * Writes to `counting` whether any counter of any box counts: while none does, clocks need not advance.
 */
VmPmuStatus vm_pmu_boxes_count(const VmPmuMachine *machine, bool *counting);

/**
 * Brings every register of the boxes to its value after power-on.
 */
VmPmuStatus vm_pmu_boxes_reset(const VmPmuMachine *machine);

/**
 * A read of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, numbered as VM_PMU_SPACE_PCI is, as on a bus: all ones
 * where no function of the PMU is.
 */
VmPmuStatus vm_pmu_pci_read(const VmPmuMachine *machine, uint32_t address, uint32_t bytes, uint32_t *value);

/**
 * A write of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, as on a bus: ignored where no function of the PMU is.
 */
VmPmuStatus vm_pmu_pci_write(const VmPmuMachine *machine, uint32_t address, uint32_t bytes, uint32_t value);

/**
 * Saves everything that the machine remembers: its PMUs, the boxes that they share, and what packages post into memory. Options, totals
 * and deadlines are not part of it. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
 *
 * No thread of the guest may run meanwhile. An interrupt that becomes due by saving is raised before this returns: save the interrupt
 * controllers afterwards.
 */
VmPmuStatus vm_pmu_save(const VmPmuMachine *machine, VmPmuSnapshot **snapshot);

/**
 * Writes to `bytes` and `length` where the bytes of the snapshot are, and how many. They are valid until the snapshot is destroyed.
 */
VmPmuStatus vm_pmu_snapshot_bytes(const VmPmuSnapshot *snapshot, const uint8_t **bytes, size_t *length);

/**
 * Destroys a snapshot. Null is allowed and does nothing.
 */
VmPmuStatus vm_pmu_snapshot_destroy(VmPmuSnapshot *snapshot);

/**
 * Makes the machine remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a machine of the same part, packages and
 * threads, saved by this version of the library or an earlier one.
 *
 * Events that were added to the totals before are not counted. No thread of the guest may run meanwhile. Check the demand and the lines
 * afterwards. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of another machine: then nothing is changed.
 */
VmPmuStatus vm_pmu_load(const VmPmuMachine *machine, const uint8_t *bytes, size_t length);

/**
 * Core `core` (a package of the machine) posts to memory from `address` on, and its engine is stopped, as by OPAL_IMC_COUNTERS_INIT.
 */
VmPmuStatus vm_pmu_core_init(const VmPmuMachine *machine, uint32_t core, uint64_t address);

/**
 * The engine of core `core` starts: events from now on are counted, and the demand of every thread of the core includes the signals that
 * they follow. Check the demand afterwards.
 */
VmPmuStatus vm_pmu_core_start(const VmPmuMachine *machine, uint32_t core);

/**
 * The engine of core `core` stops. To have all counts in memory, post them first by vm_pmu_core_post().
 */
VmPmuStatus vm_pmu_core_stop(const VmPmuMachine *machine, uint32_t core);

/**
 * Writes to `running` whether the engine of core `core` runs.
 */
VmPmuStatus vm_pmu_core_running(const VmPmuMachine *machine, uint32_t core, bool *running);

/**
 * Core `core` posts every `cycles` of its cycles from now on, at least one.
 */
VmPmuStatus vm_pmu_core_set_interval(const VmPmuMachine *machine, uint32_t core, uint64_t cycles);

/**
 * Writes to `cycles` how many cycles of core `core` there are to its next posting.
 */
VmPmuStatus vm_pmu_core_until_posting(const VmPmuMachine *machine, uint32_t core, uint64_t *cycles);

/**
 * Lets `cycles` of core `core` go by, and posts to `memory` if that comes due. What that did is told in `passed`, which may be null.
 */
VmPmuStatus vm_pmu_core_advance(const VmPmuMachine *machine,
                                uint32_t core,
                                uint64_t cycles,
                                const VmPmuMemory *memory,
                                VmPmuPassed *passed);

/**
 * Posts to `memory` everything that core `core` has counted up to now, if its engine runs. Fills `passed`, which may be null, with the
 * result.
 */
VmPmuStatus vm_pmu_core_post(const VmPmuMachine *machine, uint32_t core, const VmPmuMemory *memory, VmPmuPassed *passed);

/**
 * An event without a signal occurred `amount` times in thread `thread` of the machine: the event that its core posts `offset` bytes from
 * the start of its memory. Writes to `taken`, which may be null, whether it is counted.
 */
VmPmuStatus vm_pmu_core_inject(const VmPmuMachine *machine, uint32_t thread, uint32_t offset, uint64_t amount, bool *taken);

/**
 * Changes what CPUID returns in `leaf` and `subleaf`, so that the guest finds the PMU of the part of this name and no other. `registers`
 * are EAX, EBX, ECX and EDX as they would be otherwise. Leaf 0Ah, vendor and signature become the part's, and bits that announce a PMU of
 * other processors are cleared. VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
 */
VmPmuStatus vm_pmu_cpuid(const char *part, uint32_t leaf, uint32_t subleaf, uint32_t (*registers)[4]);

/**
 * Makes the chips of a POWER9 machine. They are written to `platform` and live until vm_pmu_platform_destroy(). They may be used from
 * several host threads at once.
 */
VmPmuStatus vm_pmu_platform_create(const VmPmuPlatformOptions *options, VmPmuPlatform **platform);

/**
 * Destroys a platform. Null is allowed and does nothing.
 */
VmPmuStatus vm_pmu_platform_destroy(VmPmuPlatform *platform);

/**
 * Lets `cycles` of the nest go by on every chip, whose engines post to `memory` in their slots. What that did, all chips together, is told in
 * `passed`, which may be null.
 */
VmPmuStatus vm_pmu_platform_advance(const VmPmuPlatform *platform,
                                    uint64_t cycles,
                                    const VmPmuMemory *memory,
                                    VmPmuPassed *passed);

/**
 * On every chip, runs the slots after which an operating system finds the engine paused: for a guest that starts after host firmware.
 */
VmPmuStatus vm_pmu_platform_boot(const VmPmuPlatform *platform, const VmPmuMemory *memory, VmPmuPassed *passed);

/**
 * Answers a call of the guest to host firmware: OPAL_IMC_COUNTERS_INIT (149), START (150) or STOP (151), with its first three arguments.
 * The value for the guest's register, such as 0 for OPAL_SUCCESS, is written to `result`.
 *
 * Calls about cores go to those of `machine`, whose threads are those of the PIRs in their order; without a machine (null) they succeed
 * and do nothing. VM_PMU_STATUS_FAULT_UNCLAIMED for every other number: the call belongs to another component.
 */
VmPmuStatus vm_pmu_platform_call(const VmPmuPlatform *platform,
                                 const VmPmuMachine *machine,
                                 const VmPmuMemory *memory,
                                 uint64_t number,
                                 uint64_t first,
                                 uint64_t second,
                                 uint64_t third,
                                 int64_t *result);

/**
 * Writes to `offset` where the counter of the event of this name is posted, in bytes from the start of a chip's region, such as
 * "PM_PB_CYC" or "PM_MCS01_64B_RD_DISP_PORT01": for vm_pmu_chip_add(). Clocks and counts of updates are not such events.
 */
VmPmuStatus vm_pmu_chip_event_named(const char *name, uint32_t *offset);

/**
 * The event that is posted at `offset` occurred `amount` times on chip `chip`. It takes no lock: any host thread may call it at any time.
 */
VmPmuStatus vm_pmu_chip_add(const VmPmuPlatform *platform, uint32_t chip, uint32_t offset, uint64_t amount);

/**
 * Posts to `memory` everything that chip `chip` has counted, if its engine runs: for an embedder that posts when the guest reads. Fills
 * `passed`, which may be null, with the result.
 */
VmPmuStatus vm_pmu_chip_post(const VmPmuPlatform *platform, uint32_t chip, const VmPmuMemory *memory, VmPmuPassed *passed);

/**
 * Writes to `cycles` how many cycles of the nest there are to the next slot of chip `chip`.
 */
VmPmuStatus vm_pmu_chip_until_slot(const VmPmuPlatform *platform, uint32_t chip, uint64_t *cycles);

/**
 * Writes to `running` whether the engine of chip `chip` posts.
 */
VmPmuStatus vm_pmu_chip_running(const VmPmuPlatform *platform, uint32_t chip, bool *running);

/**
 * Writes to `value` the value of the register whose first counter is posted `offset` bytes from the start of the region of chip `chip`.
 */
VmPmuStatus vm_pmu_chip_register(const VmPmuPlatform *platform, uint32_t chip, uint32_t offset, uint64_t *value);

/**
 * Writes to `address` and `bytes` the start and the length of the region that chip `chip` posts into. An operating system must not use it
 * as its own memory, so a device tree must reserve it.
 */
VmPmuStatus vm_pmu_chip_region(const VmPmuPlatform *platform, uint32_t chip, uint64_t *address, uint64_t *bytes);

/**
 * Brings chip `chip` to its state at power-on.
 */
VmPmuStatus vm_pmu_chip_reset(const VmPmuPlatform *platform, uint32_t chip);

/**
 * Saves everything that chip `chip` remembers: counters, engine, clocks, home, units, and totals. What it has posted is in the guest's
 * memory and saved with that. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
 */
VmPmuStatus vm_pmu_chip_save(const VmPmuPlatform *platform, uint32_t chip, VmPmuSnapshot **snapshot);

/**
 * Makes chip `chip` remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a chip of the same number.
 * VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of something else: then nothing is changed.
 */
VmPmuStatus vm_pmu_chip_load(const VmPmuPlatform *platform, uint32_t chip, const uint8_t *bytes, size_t length);

/**
 * A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number reads (VM_PMU_DMA_READ) or writes (VM_PMU_DMA_WRITE)
 * `bytes` of memory from `address` on. It does so by requests that end at multiples of `limit` bytes: Max_Read_Request_Size or
 * Max_Payload_Size, a power of two from 128 to 4096; 0 is 512 for reads and 256 for writes. How many requests that is is told in
 * `requests`, which may be null. The companion is told by itself.
 */
VmPmuStatus vm_pmu_chip_dma(const VmPmuPlatform *platform,
                            uint32_t chip,
                            uint32_t bridge,
                            uint32_t direction,
                            uint64_t address,
                            uint64_t bytes,
                            uint32_t limit,
                            uint64_t *requests);

/**
 * A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number answers `loads` loads of a processor from its registers or
 * memory.
 */
VmPmuStatus vm_pmu_chip_loads_answered(const VmPmuPlatform *platform, uint32_t chip, uint32_t bridge, uint64_t loads);

/**
 * Over NVLink `link`, 0 to 5, of the chip of this number `bytes` from `address` on are transferred in the way of `transfer`, a
 * VmPmuNvLinkTransfer. An atomic operation, and a line that is given back, have no address and no length: both are ignored.
 */
VmPmuStatus vm_pmu_chip_nvlink(const VmPmuPlatform *platform,
                               uint32_t chip,
                               uint32_t link,
                               uint32_t transfer,
                               uint64_t address,
                               uint64_t bytes);

/**
 * Makes the translations of one chip, with nothing cached and no process. They are written to `translations` and live until
 * vm_pmu_translations_destroy(). They may be used from several host threads at once.
 */
VmPmuStatus vm_pmu_translations_create(VmPmuTranslations **translations);

/**
 * Destroys translations. Null is allowed and does nothing.
 */
VmPmuStatus vm_pmu_translations_destroy(VmPmuTranslations *translations);

/**
 * Device `device` addresses page `page`, on chip `chip`: writes to `found` whether a translation control entry (TCE) translates it, and if so
 * its real page to `real`. Where none is cached, `entry` reads it from the device's table, with `user`. It is called with no lock held: it may
 * call every function of this header except vm_pmu_translations_destroy() and vm_pmu_platform_destroy().
 */
VmPmuStatus vm_pmu_translations_by_entry(const VmPmuTranslations *translations,
                                         const VmPmuPlatform *platform,
                                         uint32_t chip,
                                         uint32_t device,
                                         uint64_t page,
                                         VmPmuTranslate entry,
                                         void *user,
                                         uint64_t *real,
                                         bool *found);

/**
 * The entry of the page at `page` in the table of device `device` has changed, or every entry of it if `page` is null.
 */
VmPmuStatus vm_pmu_translations_forget_entry(const VmPmuTranslations *translations, uint32_t device, const uint64_t *page);

/**
 * The accelerators whose bits are set in `accelerators` work for process `process` from now on; none with 0. Writes to `known`, which may be
 * null, whether there was room: 16 processes with accelerators are known.
 */
VmPmuStatus vm_pmu_translations_bind(const VmPmuTranslations *translations,
                                     uint32_t process,
                                     uint8_t accelerators,
                                     bool *known);

/**
 * An accelerator checks out the translation of page `page` of process `process`, on chip `chip`: writes to `found` whether there is one, and
 * if so its real page to `real`. Where it is not checked out already, `walk` walks the tables of the process, with `user`; the rules for `entry`
 * of vm_pmu_translations_by_entry() apply to it.
 */
VmPmuStatus vm_pmu_translations_check_out(const VmPmuTranslations *translations,
                                          const VmPmuPlatform *platform,
                                          uint32_t chip,
                                          uint32_t process,
                                          uint64_t page,
                                          VmPmuTranslate walk,
                                          void *user,
                                          uint64_t *real,
                                          bool *found);

/**
 * A processor invalidates the translation of the page at `page` of process `process` (tlbie), or all of the process if `page` is null, on chip
 * `chip`. Writes to `accelerators`, which may be null, to which of them a shootdown is sent, one bit each.
 */
VmPmuStatus vm_pmu_translations_invalidate(const VmPmuTranslations *translations,
                                           const VmPmuPlatform *platform,
                                           uint32_t chip,
                                           uint32_t process,
                                           const uint64_t *page,
                                           uint8_t *accelerators);

/**
 * Saves everything that the translations remember. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
 */
VmPmuStatus vm_pmu_translations_save(const VmPmuTranslations *translations, VmPmuSnapshot **snapshot);

/**
 * Makes translations remember what was saved, all of it or nothing: `length` bytes at `bytes`. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are
 * damaged or of something else: then nothing is changed.
 */
VmPmuStatus vm_pmu_translations_load(const VmPmuTranslations *translations,
                                     const uint8_t *bytes,
                                     size_t length);

/**
 * Writes to `tiles` which tiles a usual Knights Landing with `count` of them has: a bit for each place, of which there are 38. Parts of 32,
 * 34 and 36 tiles lack some in between; of any other number the first places have tiles. The tile of the n-th bit that is set is package
 * n of a machine, beside the CHA with the number of the bit.
 */
VmPmuStatus vm_pmu_tiles_usual(uint32_t count, uint64_t *tiles);

/**
 * Makes a companion of the part of this name: "k8", "knl", "itanium", "montecito", "power9".
 *
 * `options` may be null, for one package of one thread. The companion is written to `companion` and lives until
 * vm_pmu_companion_destroy(). Later allocations for it are only what vm_pmu_companion_save() returns, and the list of places, at the first
 * call that takes them. It may be used from several host threads at once, but only one at a time follows a thread of the guest.
 */
VmPmuStatus vm_pmu_companion_create(const char *name, const VmPmuCompanionOptions *options, VmPmuCompanion **companion);

/**
 * Lists the signals that a companion of the part of this name supplies with the VmPmuClockOwner `clock`, for VmPmuOptions::supplied.
 * Writes their numbers in order to `signals`, at most `capacity` of them, and to `count`, which may be null, how many there are.
 */
VmPmuStatus vm_pmu_companion_supplied(const char *part, uint32_t clock, uint32_t *signals, uint32_t capacity, uint32_t *count);

/**
 * Destroys a companion. Null is allowed and does nothing. While a VmPmuCpu has one of its followers, this is refused.
 */
VmPmuStatus vm_pmu_companion_destroy(VmPmuCompanion *companion);

/**
 * Saves everything that the companion and its followers remember, with everything delivered and no thread of the guest running. The
 * snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
 */
VmPmuStatus vm_pmu_companion_save(const VmPmuCompanion *companion, VmPmuSnapshot **snapshot);

/**
 * Makes the companion and its followers remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a companion that was
 * made in the same way. Load the machine first, and call vm_pmu_follow_sync() for each thread afterwards.
 *
 * VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged, of something else, or saved by a version with another form of companions: then
 * nothing is changed, and the embedder can start with cold caches instead.
 */
VmPmuStatus vm_pmu_companion_load(const VmPmuCompanion *companion, const uint8_t *bytes, size_t length);

/**
 * A device behind package `request->package` of the companion does what `request` says: caches drop what it writes and answer what it reads.
 * The events are added to the totals of the devices of package `counted` of `machine`, and their deadlines are compared. On the K8 that is
 * the same package; on POWER9, where a package of the machine is a core, and on Knights Landing, where it is a tile, it is any of those.
 * Each line counts as an access. Writes to `modified`, which may be null, which of the lines a cache had modified: bit 0 is the first, and
 * 64 lines at most are taken. One host thread at a time calls it for a package.
 */
VmPmuStatus vm_pmu_companion_device(const VmPmuCompanion *companion,
                                    const VmPmuMachine *machine,
                                    uint32_t counted,
                                    const VmPmuDeviceRequest *request,
                                    uint64_t *modified);

/**
 * A device of package `package` of `machine`, behind the package that has the memory, reads or writes `bytes` bytes of physical memory from
 * `physical` on: caches drop what it writes and answer what it reads. The events are added to the totals of the package's devices, and
 * their deadlines are compared. At most 4,096 bytes are taken: report a longer transfer in parts. One host thread at a time calls it for a
 * package.
 */
VmPmuStatus vm_pmu_companion_device_access(const VmPmuCompanion *companion,
                                           const VmPmuMachine *machine,
                                           uint32_t package,
                                           uint64_t physical,
                                           uint64_t bytes,
                                           bool writes);

/**
 * Thread `thread` of the guest executed `instruction`. While its follower is not active, nothing needs to be reported, and reports are
 * ignored. Call vm_pmu_follow_deliver() next.
 */
VmPmuStatus vm_pmu_follow(const VmPmuCompanion *companion, uint32_t thread, const VmPmuInstruction *instruction);

/**
 * Sets in `holding`, VM_PMU_SIGNAL_WORDS words, the bits of the states that the companion supplies for thread `thread` and that hold right
 * now; the other bits stay. For vm_pmu_supply_levels(); the companion knows them while it keeps time.
 */
VmPmuStatus vm_pmu_follow_levels(const VmPmuCompanion *companion, uint32_t thread, uint64_t *holding);

/**
 * Adds the events of the follower of thread `thread` since the last call to the thread's totals in `machine`, servicing the PMU at each
 * deadline on the way. Writes to `cycles`, which may be null, how many cycles elapsed: 0 unless the companion keeps time.
 *
 * `events` is called once, after the companion's events have been added, with the outcome of the last instruction. There an embedder adds
 * the events that it knows itself, reports the instruction's record where one is wanted, and compares the deadlines of its own events, in
 * this order. While vm_pmu_follow_requests() finds requests it leaves out the last: every deadline is compared after they have been
 * reported. It may be null. It is called while the follower is in use: it may call every function except those that follow the same thread, and except
 * those that destroy the companion or the machine. It must return: no C++ exception and no longjmp may leave it. `held` are `held_count` signals of states that hold in all of these cycles, such as masked interrupts; VM_PMU_MOST_HELD at most.
 */
VmPmuStatus vm_pmu_follow_deliver(const VmPmuCompanion *companion,
                                  const VmPmuMachine *machine,
                                  uint32_t thread,
                                  const uint32_t *held,
                                  size_t held_count,
                                  void (*events)(void *user, const VmPmuOutcome *outcome),
                                  void *user,
                                  uint64_t *cycles);

/**
 * The follower of thread `thread` reads what `machine` counts now. Call it at the beginning and whenever vm_pmu_epoch() has changed, with
 * everything delivered. Writes to `active`, which may be null, whether instructions need to be reported.
 */
VmPmuStatus vm_pmu_follow_sync(const VmPmuCompanion *companion, const VmPmuMachine *machine, uint32_t thread, bool *active);

/**
 * Writes to `stale` whether vm_pmu_companion_watch_places() or vm_pmu_traffic_sync() has changed, since the last vm_pmu_follow_sync(),
 * whether places are watched: the next vm_pmu_follow_sync() of thread `thread` takes that into account.
 */
VmPmuStatus vm_pmu_follow_is_stale(const VmPmuCompanion *companion, uint32_t thread, bool *stale);

/**
 * Thread `thread` is halted, or runs again. The threads of a core compete where the companion has a model of that: a thread that runs has its
 * share of what they have in common, whether it is followed or not. At first no thread runs; one that is followed does from its first
 * vm_pmu_follow() on. So call it when the thread halts, and when it goes on.
 */
VmPmuStatus vm_pmu_follow_set_halted(const VmPmuCompanion *companion,
                                     uint32_t thread,
                                     bool halted);

/**
 * Writes to `supplies` whether the follower of thread `thread` supplies signal `signal` at the moment: then the embedder must not add it.
 */
VmPmuStatus vm_pmu_follow_supplies(const VmPmuCompanion *companion, uint32_t thread, uint32_t signal, bool *supplies);

/**
 * Thread `thread` forgets translations: `what` is a VmPmuForgotten, and `address` the virtual address of VM_PMU_FORGOTTEN_PAGE
 * or the guest real address of VM_PMU_FORGOTTEN_HOST_PAGE.
 */
VmPmuStatus vm_pmu_follow_invalidate(const VmPmuCompanion *companion, uint32_t thread, uint32_t what, uint64_t address);

/**
 * Makes a CPU whose PMU is that of thread `thread` of `machine`. `options` may be null. It lives until vm_pmu_cpu_destroy(), and the machine,
 * and the companion if there is one, refuse to be destroyed before.
 *
 * A CPU calls the PMU when something becomes visible to the guest, and knows what is counted at the moment. An emulator reports what it executes
 * in the words that fit it:
 *
 * - instruction by instruction: vm_pmu_cpu_retire(), or vm_pmu_cpu_complete() for steps that have more to report;
 * - in translated blocks: vm_pmu_enter() or the same in generated code, vm_pmu_cpu_refill() when a block does not fit, and
 *   vm_pmu_cpu_take_back() when one is left before its end;
 * - by a clock of its own: vm_pmu_cpu_advance() and vm_pmu_cpu_until();
 * - with a companion: vm_pmu_cpu_execute() before vm_pmu_cpu_complete(), while vm_pmu_cpu_is_followed().
 *
 * All of them may be mixed. The guest's accesses are vm_pmu_cpu_read() and vm_pmu_cpu_write(), its state is reported by
 * vm_pmu_cpu_set_context(). Other calls for the thread of a CPU, as by vm_pmu_inject(), are made within vm_pmu_cpu_access(), or after
 * vm_pmu_cpu_sync() where they do not change registers. One host thread at a time uses a CPU; the callbacks of VmPmuOptions are called while
 * it is in use, and calls for the same CPU are refused there.
 */
VmPmuStatus vm_pmu_cpu_create(const VmPmuMachine *machine,
                              uint32_t thread,
                              const VmPmuCpuOptions *options,
                              VmPmuCpu **cpu);

/**
 * Destroys a CPU. Null is allowed and does nothing. What its blocks have executed is added to the totals.
 */
VmPmuStatus vm_pmu_cpu_destroy(VmPmuCpu *cpu);

/**
 * The CPU completed an instruction or another step, such as an interrupt that it took: adds one to each of the `count` signals at `signals`
 * and `cycles` to the cycles, and serves deadlines. A signal that occurred twice is named twice; VM_PMU_MOST_STEP at most. Signals that are not
 * demanded may be named too. While a companion makes the cycles, `cycles` is not added.
 */
VmPmuStatus vm_pmu_cpu_retire(VmPmuCpu *cpu,
                              const uint32_t *signals,
                              size_t count,
                              uint64_t cycles);

/**
 * The CPU completed a step: adds what it counts, reports its record where one is wanted, with what the companion knows of it, and serves
 * deadlines. Writes to `cycles`, which may be null, how many cycles the companion made: 0 unless it makes them. A record that has a value
 * without a meaning is refused: the step is counted nevertheless.
 *
 * An instruction of a CPU that is followed has been reported by vm_pmu_cpu_execute() before: what the companion made of it comes first. If it was
 * entered as a block of its own, the step does not name what the countdown counts.
 */
VmPmuStatus vm_pmu_cpu_complete(VmPmuCpu *cpu,
                                const VmPmuStep *step,
                                uint64_t *cycles);

/**
 * The CPU executes `instruction`, which is reported to its companion: while vm_pmu_cpu_is_followed(). vm_pmu_cpu_complete() comes next.
 */
VmPmuStatus vm_pmu_cpu_execute(VmPmuCpu *cpu, const VmPmuInstruction *instruction);

/**
 * Chooses what is worth following for, all of it at first: the companion follows while one of `signals`, VM_PMU_SIGNAL_WORDS words in the form
 * of VmPmuDemand::signals, or one of `records`, VM_PMU_RECORDS_..., is demanded, and then it makes the others too. For an emulator that executes
 * slowly while it is followed: it adds other signals itself as long as it is not, and reports records without the companion's part.
 */
VmPmuStatus vm_pmu_cpu_follow_for(VmPmuCpu *cpu,
                                  const uint64_t *signals,
                                  uint32_t records);

/**
 * The CPU forgets translations: `what` is a VmPmuForgotten, and `address` as in vm_pmu_follow_invalidate(). Without a companion this does
 * nothing.
 */
VmPmuStatus vm_pmu_cpu_invalidate(VmPmuCpu *cpu, uint32_t what, uint64_t address);

/**
 * Lets `cycles` go by in which nothing else occurs, all of the `count` signals at `states` holding in each of them, and serves every deadline on
 * the way: for an emulator with a clock of its own, and for a CPU that waits. The signal of cycles is one of the states while the CPU
 * runs; VM_PMU_MOST_STEP at most.
 */
VmPmuStatus vm_pmu_cpu_advance(VmPmuCpu *cpu,
                               uint64_t cycles,
                               const uint32_t *states,
                               size_t count);

/**
 * Writes to `cycles` how many cycles may go by in the `count` states at `states` before something becomes due; VM_PMU_NEVER if nothing does.
 * For the timer of a CPU that waits.
 */
VmPmuStatus vm_pmu_cpu_until(VmPmuCpu *cpu,
                             const uint32_t *states,
                             size_t count,
                             uint64_t *cycles);

/**
 * Writes to `countdown` where the CPU's countdown is: the same until vm_pmu_cpu_place(). Generated code subtracts what vm_pmu_takes() returns for
 * its block, calls vm_pmu_cpu_refill() if the difference is negative as a signed number, and otherwise stores it.
 */
VmPmuStatus vm_pmu_cpu_countdown(const VmPmuCpu *cpu,
                                 uint64_t **countdown);

/**
 * Moves the countdown to `countdown`, 8 bytes of the caller's that remain until the CPU is destroyed: next to what its generated code uses.
 */
VmPmuStatus vm_pmu_cpu_place(VmPmuCpu *cpu, uint64_t *countdown);

/**
 * A block of `instructions` does not fit: serves deadlines, and writes to `allowed` how many of its instructions to enter as a block of their
 * own. Such a block fits, and no deadline comes before the last of them. Look for interrupts before it is entered.
 */
VmPmuStatus vm_pmu_cpu_refill(VmPmuCpu *cpu,
                              uint32_t instructions,
                              uint32_t *allowed);

/**
 * A block was left before its end: gives back the instructions that were not executed, as vm_pmu_takes() returns for them. What has been added
 * to the totals stays there.
 */
VmPmuStatus vm_pmu_cpu_take_back(VmPmuCpu *cpu,
                                 uint64_t takes);

/**
 * Writes to `wants` whether the record of the instruction that was last executed is wanted, because it reached a deadline: for blocks, between
 * one that ended and vm_pmu_cpu_refill(). If so, vm_pmu_cpu_record() comes next.
 */
VmPmuStatus vm_pmu_cpu_wants_record(VmPmuCpu *cpu,
                                    bool *wants);

/**
 * Reports a record that is wanted: for emulators that complete no steps.
 */
VmPmuStatus vm_pmu_cpu_record(VmPmuCpu *cpu, const VmPmuRecord *record);

/**
 * Adds to the totals what blocks have executed, and writes to `executed`, which may be null, how many instructions that was. Before the machine
 * is saved, and before totals are read.
 */
VmPmuStatus vm_pmu_cpu_settle(VmPmuCpu *cpu,
                              uint64_t *executed);

/**
 * Brings everything up to date between two blocks or steps: what blocks have executed is in the totals, deadlines are served, and the demand
 * is the current one. Call it before one of several pending interrupts is chosen, if the countdown has no instruction left; and when
 * vm_pmu_cpu_is_stale().
 */
VmPmuStatus vm_pmu_cpu_sync(VmPmuCpu *cpu);

/**
 * Writes to `stale` whether what is demanded has changed since it was last read, by a register access of this CPU's or another's: a CPU that
 * executes blocks asks at their ends.
 */
VmPmuStatus vm_pmu_cpu_is_stale(const VmPmuCpu *cpu,
                                bool *stale);

/**
 * Fills `demand` with what the emulator itself must add and report at the moment: what is demanded without what the companion makes. Its epoch
 * changes whenever it may have changed, after vm_pmu_cpu_sync(), an access or a step: translated blocks that add signals depend on it. In
 * blocks it has the pace too, which the countdown adds.
 */
VmPmuStatus vm_pmu_cpu_demand(const VmPmuCpu *cpu,
                              VmPmuDemand *demand);

/**
 * Writes to `followed` whether instructions must be reported by vm_pmu_cpu_execute() at the moment.
 */
VmPmuStatus vm_pmu_cpu_is_followed(const VmPmuCpu *cpu, bool *followed);

/**
 * Adds to the totals of `signals`, VM_PMU_SIGNAL_WORDS words in the form of VmPmuDemand::signals, and reports `records`, VM_PMU_RECORDS_...,
 * even while the PMU does not demand them: for other devices that count what the CPU does. Takes the place of what was watched before.
 */
VmPmuStatus vm_pmu_cpu_watch(VmPmuCpu *cpu,
                             const uint64_t *signals,
                             uint32_t records);

/**
 * Leaves `records`, VM_PMU_RECORDS_..., out for a time although they are demanded, 0 at first: for records that cost much and that the guest seldom
 * looks at.
 */
VmPmuStatus vm_pmu_cpu_leave_out(VmPmuCpu *cpu,
                                 uint32_t records);

/**
 * State `state` of the emulator holds from now on, or no longer: for counters of its edges, which may start within it.
 */
VmPmuStatus vm_pmu_cpu_set_level(VmPmuCpu *cpu, uint32_t state, bool holds);

/**
 * The guest reads register `number` of address space `space` (VmPmuSpace). What was executed before has been counted; the accessing
 * instruction is counted afterwards, and in a block it is the last and adds nothing to the paired signal. Otherwise as vm_pmu_read().
 */
VmPmuStatus vm_pmu_cpu_read(VmPmuCpu *cpu, uint32_t space, uint64_t number, uint64_t *value);

/**
 * The guest writes `value` to register `number` of address space `space` (VmPmuSpace), as in vm_pmu_cpu_read(). With a fault nothing is
 * written.
 */
VmPmuStatus vm_pmu_cpu_write(VmPmuCpu *cpu, uint32_t space, uint64_t number, uint64_t value);

/**
 * Calls `work` with `user` while the CPU is as at an access of the guest to its PMU: there other functions of this header may be called for its
 * thread, except those of the CPU itself. It must return: no C++ exception and no longjmp may leave it.
 */
VmPmuStatus vm_pmu_cpu_access(VmPmuCpu *cpu,
                              void (*work)(void *user),
                              void *user);

/**
 * The state of the processor from now on, with whether it is halted. What was reported before occurred in the old one. Where no counter depends
 * on a change, or the counts of both states add up, the PMU learns of it later: most changes cost a few comparisons.
 */
VmPmuStatus vm_pmu_cpu_set_context(VmPmuCpu *cpu,
                                   const VmPmuContext *context);

/**
 * What the processor's state has become within a block, in fields that no counter depends on, such as flags and a time base: for an emulator that
 * reads them only when the guest accesses its PMU, which comes next. The accessing instruction is not counted before.
 */
VmPmuStatus vm_pmu_cpu_refresh_context(VmPmuCpu *cpu,
                                       const VmPmuContext *context);

/**
 * The machine has been restored or reset, and so has the companion: reads the context and the demand again. Instructions that blocks have
 * executed and that were not settled belong to the state before, and are discarded.
 */
VmPmuStatus vm_pmu_cpu_restored(VmPmuCpu *cpu);

/**
 * The embedder changes the threads of the core of thread `thread` when one misses the third-level cache, as Montecito does: with its
 * pipeline, vm_pmu_follow_deliver() then reports cycles only up to the one in which a miss is known. There the embedder asks for the miss
 * by vm_pmu_follow_third_level_miss(); the next delivery goes on. Off at first, and not part of what is saved.
 */
VmPmuStatus vm_pmu_follow_watch_third_level(const VmPmuCompanion *companion, uint32_t thread, bool watched);

/**
 * Writes to `missed` whether the last delivery of thread `thread` ended at a miss of the third-level cache that has not been asked for,
 * and then to `returns`, which may be null, the cycles until its data come. Each miss is told once.
 */
VmPmuStatus vm_pmu_follow_third_level_miss(const VmPmuCompanion *companion, uint32_t thread, bool *missed, uint64_t *returns);

/**
 * While misses of the third-level cache are watched, deliveries of thread `thread` report no more than so many cycles from now on, or as
 * many as there are with VM_PMU_ALL_CYCLES. What the thread waits for beyond is not over then, and may go on in the background.
 */
VmPmuStatus vm_pmu_follow_report_at_most(const VmPmuCompanion *companion, uint32_t thread, uint64_t cycles);

/**
 * Writes to `known` whether a pipeline that keeps time knows how many cycles ago, at the last delivery, thread `thread` completed an
 * instruction, and then to `cycles`, which may be null, how many.
 */
VmPmuStatus vm_pmu_follow_idle(const VmPmuCompanion *companion, uint32_t thread, bool *known, uint64_t *cycles);

/**
 * Thread `thread` comes back to the foreground of its core after `background` cycles, in which what it waited for went on. With a pipeline
 * the change itself takes the cycles that the part needs, before the next instruction. More than 2^32 cycles count as 2^32.
 */
VmPmuStatus vm_pmu_follow_resume(const VmPmuCompanion *companion, uint32_t thread, uint64_t background);

/**
 * Sets whether the follower of thread `thread` keeps requests even while the thread's own PMU does not want them: for other components
 * that count them, such as agents of Knights Landing's mesh. It takes effect at the next vm_pmu_follow_sync(), and is in no snapshot.
 */
VmPmuStatus vm_pmu_follow_keep_requests(const VmPmuCompanion *companion, uint32_t thread, bool on);

/**
 * Calls `tell`, with `user`, for each request that has left the first-level caches of the core of thread `thread` since the last
 * vm_pmu_follow_deliver(), in order. Call it between vm_pmu_follow() and vm_pmu_follow_deliver(), which reports them to the thread's own
 * PMU and drops them. Requests are kept, 128 at most, if the thread's demand has VM_PMU_RECORDS_REQUESTS, or after
 * vm_pmu_follow_keep_requests().
 *
 * `tell` is called while the follower is in use: it may call every function except those that follow the same thread, and except
 * those that destroy the companion. It must return: no C++ exception and no longjmp may leave it.
 */
VmPmuStatus vm_pmu_follow_requests(const VmPmuCompanion *companion,
                                   uint32_t thread,
                                   void (*tell)(void *user, const VmPmuRequest *request),
                                   void *user);

/**
 * Reports `request`, made by thread `thread` (0 to 7) of tile `tile` (0 to 37), to CHA `cha`, which is that of its line
 * (vm_pmu_companion_home()). It enters the table of requests and leaves it after its latency in cycles of the CPUs, converted to clocks of
 * the untile by the machine's frequencies. Its messages cross the mesh. A request that stays in the tile reaches no CHA. Writes to `taken`, which may be null, whether
 * a counter counts it. Opcodes are those of the server parts before this one; an embedder that knows the real ones calls
 * vm_pmu_box_transact() instead.
 */
VmPmuStatus vm_pmu_box_request(const VmPmuMachine *machine,
                               uint32_t cha,
                               const VmPmuRequest *request,
                               uint32_t tile,
                               uint32_t thread,
                               bool *taken);

/**
 * Turns on or off that controllers and channels of memory, and interconnects, count separately, for vm_pmu_companion_take_places() and
 * vm_pmu_companion_take_interconnects(). While they do, every follower is active from its next vm_pmu_follow_sync() on;
 * vm_pmu_follow_is_stale() returns whether that is due. Counts that have not been taken when this changes are dropped.
 */
VmPmuStatus vm_pmu_companion_watch_places(const VmPmuCompanion *companion, bool on);

/**
 * Writes to `has` whether any place has something to report.
 */
VmPmuStatus vm_pmu_companion_has_places(const VmPmuCompanion *companion, bool *has);

/**
 * Calls `tell`, with `user`, for each place with counts since the last call, once per signal. The order is fixed: package after package,
 * near memory before channels, each place's signals in their order. These counts are also in the totals of the threads and devices that
 * caused them. If several host threads call this at once, each count is reported to only one of them.
 *
 * `tell` is called with no lock held: it may call every function except vm_pmu_companion_destroy(). It must return: no C++ exception and
 * no longjmp may leave it.
 */
VmPmuStatus vm_pmu_companion_take_places(const VmPmuCompanion *companion, void (*tell)(void *user, const VmPmuPlace *place), void *user);

/**
 * Writes to `has` whether any package's interconnect has something to report.
 */
VmPmuStatus vm_pmu_companion_has_interconnects(const VmPmuCompanion *companion, bool *has);

/**
 * Calls `tell`, with `user`, for the interconnect of each package that did something since the last call, package after package. As with
 * places, it is kept while they are watched, and dropped when that changes.
 *
 * The rules for the function of vm_pmu_companion_take_places() apply to this one.
 */
VmPmuStatus vm_pmu_companion_take_interconnects(const VmPmuCompanion *companion,
                                                void (*tell)(void *user, const VmPmuInterconnect *interconnect),
                                                void *user);

/**
 * Writes to `agent` which agent orders accesses to the line with the physical address `physical`: on Knights Landing the number of one of
 * 38 CHAs, as vm_pmu_box_transact() takes it; 0 on other parts.
 */
VmPmuStatus vm_pmu_companion_home(const VmPmuCompanion *companion, uint64_t physical, uint32_t *agent);

/**
 * Writes which box of Knights Landing counts what memory did at `place`, as vm_pmu_companion_take_places() reports it: to `number` the
 * number of the box, and to `select` and `umask` its event and sub-event, for vm_pmu_box_inject() with `place->amount`. `amount` is not
 * looked at. VM_PMU_STATUS_ERROR_UNSUPPORTED where no box counts it; then nothing is written.
 */
VmPmuStatus vm_pmu_box_of_place(const VmPmuPlace *place, uint32_t *number, uint8_t *select, uint8_t *umask);

/**
 * Writes to `listens` whether any counter listens to a stop of the mesh, to M2PCIe or to the IRP: while none does, messages need not be
 * reported by vm_pmu_box_carry().
 */
VmPmuStatus vm_pmu_boxes_listen_to_mesh(const VmPmuMachine *machine, bool *listens);

/**
 * A message on ring `ring` (VmPmuRing) crosses the mesh from now on, from `agent` (VmPmuAgent) at the stop of box `from` to the stop of box
 * `to`. Its route, its waits and what the stops count of it follow from the floor plan and from what crosses the mesh already. Messages of
 * requests that vm_pmu_box_request() reports, and of accesses that vm_pmu_box_device() reports, are not reported a second time.
 */
VmPmuStatus vm_pmu_box_carry(const VmPmuMachine *machine, uint32_t from, uint32_t agent, uint32_t to, uint32_t ring);

/**
 * A device makes `access` (VmPmuDeviceAccess) to the line at `physical`, which CHA `cha` orders (vm_pmu_companion_home()); a tile has the
 * line modified if `modified`, as vm_pmu_companion_device() returns it. The request comes to the CHA by PRQ, its messages cross the mesh, and
 * M2PCIe and the IRP count it. Caches learn of it by vm_pmu_companion_device().
 */
VmPmuStatus vm_pmu_box_device(const VmPmuMachine *machine,
                              uint32_t cha,
                              uint32_t access,
                              uint64_t physical,
                              bool modified);

/**
 * Makes a traffic from `companion`, of power9, to the chips of `platform`, with nothing moved. It is written to `traffic` and lives until
 * vm_pmu_traffic_destroy(). It may be used from several host threads at once.
 */
VmPmuStatus vm_pmu_traffic_create(const VmPmuCompanion *companion, const VmPmuPlatform *platform, VmPmuTraffic **traffic);

/**
 * Destroys a traffic. Null is allowed and does nothing.
 */
VmPmuStatus vm_pmu_traffic_destroy(VmPmuTraffic *traffic);

/**
 * Has the companion watch its places while the engine of any chip posts, and only then. Call it when an engine may have been started or
 * stopped, that is after vm_pmu_platform_boot(), vm_pmu_platform_call() and vm_pmu_platform_advance(). Then call vm_pmu_follow_sync() for
 * each follower that this makes stale (vm_pmu_follow_is_stale()). Writes to `watches`, which may be null, whether places are watched;
 * while they are not, traffic is not counted.
 */
VmPmuStatus vm_pmu_traffic_sync(const VmPmuTraffic *traffic, const VmPmuCompanion *companion, const VmPmuPlatform *platform, bool *watches);

/**
 * Reports to the chips what has moved since the last call. Call it after each access, or after a block of them, and before the nest
 * advances. Any host thread may call it; nothing is reported twice. While nothing has moved it costs two loads.
 */
VmPmuStatus vm_pmu_traffic_flush(const VmPmuTraffic *traffic, const VmPmuCompanion *companion, const VmPmuPlatform *platform);

/**
 * Writes to `moved` what each chip has moved, `count` of them: one for each chip of the platform, in their order. Transfers that are not
 * complete yet are in no chip's snapshot, so save this in addition.
 */
VmPmuStatus vm_pmu_traffic_moved(const VmPmuTraffic *traffic, VmPmuMoved *moved, size_t count);

/**
 * Continues from where vm_pmu_traffic_moved() was called: `count` of `moved`, one for each chip of the platform, in their order.
 */
VmPmuStatus vm_pmu_traffic_restore(const VmPmuTraffic *traffic, const VmPmuMoved *moved, size_t count);

/**
 * Writes the node imc-counters into the open node, which may be any: firmware puts it at the root. It describes the counters that post
 * themselves: a node for each unit of the nest that a chip of `platform` has, with the chips' homes and numbers, and nodes of cores and
 * threads as `nodes` says, which may be null for neither. Writes to `next_phandle`, which may be null, the first phandle that is still
 * free.
 *
 * The tree must reserve the memory that the chips post into (vm_pmu_chip_region()), and a processor's node must name its chip in the
 * property ibm,chip-id: without it Linux opens no event of the nest there.
 *
 * VM_PMU_STATUS_ERROR_ARGUMENT if a chip cannot be described, for example because its home is not a multiple of 1 MiB, or if there are too
 * few phandles: then nothing is written.
 */
VmPmuStatus vm_pmu_tree_counters(const VmPmuPlatform *platform,
                                 const VmPmuCounterNodes *nodes,
                                 const VmPmuTreeWriter *writer,
                                 uint32_t *next_phandle);

/**
 * Writes a catalogue of the counters that post themselves into the open node, which is the root of a separate tree: for firmware that runs
 * in the guest, which loads it from flash (skiboot: partition IMA_CATALOG). It describes every unit, and what `nodes` says, which may be
 * null; first_phandle must be 0 or 1. Firmware removes the units that a chip's control block does not have, and adds the chips.
 */
VmPmuStatus vm_pmu_tree_catalogue(const VmPmuCounterNodes *nodes, const VmPmuTreeWriter *writer);

/**
 * Writes the node performance-monitor-power9 into the open node, which must be /cpus/ibm,powerpc-cpu-features; the latter has the property
 * "isa" with the value VM_PMU_TREE_ISA. If a tree has that node, an operating system finds the PMU of the core by its child
 * performance-monitor-power9, else by the PVR alone.
 */
VmPmuStatus vm_pmu_tree_performance_monitor(const VmPmuTreeWriter *writer);

/**
 * Writes the property cpu-version into the open node, which must be that of a processor (/cpus/PowerPC,POWER9@...): the PVR `version`, of
 * 32 bits, as a guest's mfspr reads it. VM_PMU_STATUS_ERROR_ARGUMENT if it is not that of a POWER9: then nothing is written.
 */
VmPmuStatus vm_pmu_tree_cpu_version(const VmPmuTreeWriter *writer, uint32_t version);

/**
 * Writes to `layout`, whose `size` is set, a usual machine of the part of this name, as it was sold: two K8 of two cores, a Knights Landing
 * of 68 cores, two POWER9 of 22, two Montecito, two of the first Itanium, with all threads of each core.
 */
VmPmuStatus vm_pmu_layout_usual(const char *part, VmPmuLayout *layout);

/**
 * Writes to `cpus` how many CPUs a machine of this layout has.
 */
VmPmuStatus vm_pmu_layout_cpus(const char *part, const VmPmuLayout *layout, uint32_t *cpus);

/**
 * Sets `packages`, `threads`, `tiles`, `cluster_mode`, `memory_mode`, `mcdram` and `memory` of `options`, so that vm_pmu_machine_create()
 * makes the PMUs of this layout: CPU n has those of thread n. Those of the die are not 0 only on Knights Landing.
 */
VmPmuStatus vm_pmu_layout_options(const char *part, const VmPmuLayout *layout, VmPmuOptions *options);

/**
 * Sets what `options` says of the layout, so that vm_pmu_companion_create() makes its companion: it follows CPU n as thread n.
 */
VmPmuStatus vm_pmu_layout_companion_options(const char *part, const VmPmuLayout *layout, VmPmuCompanionOptions *options);

/**
 * Changes what CPUID returns in CPU `cpu`, as vm_pmu_cpuid() does, so that it says the layout too: in leaves 1 and 0Bh of Intel, and 1,
 * 8000_0001h and 8000_0008h of AMD. The APIC ID of the CPU is then in bits 31:24 of EBX of leaf 1, and whole in EDX of leaf 0Bh.
 * VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
 */
VmPmuStatus vm_pmu_layout_cpuid(const char *part,
                                const VmPmuLayout *layout,
                                uint32_t cpu,
                                uint32_t leaf,
                                uint32_t subleaf,
                                uint32_t (*registers)[4]);

/**
 * Writes to `pir` what PIR reads in CPU `cpu` of a machine of POWER9, as VmPmuPlatformOptions::pirs takes it; bits from 8 on are the number
 * of its chip, VmPmuChip::id. VM_PMU_STATUS_ERROR_UNSUPPORTED for another part.
 */
VmPmuStatus vm_pmu_layout_pir(const char *part, const VmPmuLayout *layout, uint32_t cpu, uint32_t *pir);

/**
 * Writes to `name` the name of part `number`, counted from 0. VM_PMU_STATUS_ERROR_RANGE when there are no more.
 */
VmPmuStatus vm_pmu_part_name(uint32_t number, VmPmuText *name);

/**
 * Fills `event` with entry `number` of the catalogue of the part of this name, counted from 0: each event is followed by its unit masks.
 * VM_PMU_STATUS_ERROR_RANGE when there are no more.
 */
VmPmuStatus vm_pmu_event(const char *part, uint32_t number, VmPmuEvent *event);

/**
 * Fills `event` with the event or unit mask of this name, EVENT or EVENT.MASK, in upper or lower case; an event may be named by an alias.
 */
VmPmuStatus vm_pmu_event_named(const char *part, const char *name, VmPmuEvent *event);

/**
 * Writes to `number` the number of the signal of this name, such as "instructions_retired".
 */
VmPmuStatus vm_pmu_signal_named(const char *name, uint32_t *number);

/**
 * Writes to `name` and `summary` the name and the description of signal `number`.
 */
VmPmuStatus vm_pmu_signal(uint32_t number, VmPmuText *name, VmPmuText *summary);

/**
 * Replays a litmus file, the `length` bytes at `text`, on a separate machine. Writes to `checked`, which may be null, how many
 * expectations it checked.
 *
 * VM_PMU_STATUS_ERROR_LITMUS_TEXT when the file cannot be read, VM_PMU_STATUS_ERROR_LITMUS_FAILED when an expectation failed;
 * vm_pmu_last_error() then returns its line, what was observed, and what was expected.
 */
VmPmuStatus vm_pmu_litmus_run(const char *text, size_t length, uint64_t *checked);

/**
 * Starts to record what is done with the machine, up to `most` statements: accesses, what is fed, contexts, injections, records and
 * requests, and what the guest sees. An earlier recording that was not stopped is dropped. A recording allocates memory as it grows, and
 * every call takes longer.
 *
 * VM_PMU_STATUS_ERROR_SNAPSHOT when what the machine remembers cannot be saved: the recording begins with it.
 */
VmPmuStatus vm_pmu_recording_start(const VmPmuMachine *machine, size_t most);

/**
 * Stops recording, and writes to `recording` what was recorded. It lives until vm_pmu_recording_destroy().
 *
 * VM_PMU_STATUS_ERROR_ARGUMENT when the machine does not record.
 */
VmPmuStatus vm_pmu_recording_stop(const VmPmuMachine *machine, VmPmuRecording **recording);

/**
 * Writes to `text` and `length` where the text of the recording is, a litmus file without a byte of value 0 at its end, and how many bytes it
 * has. They are valid until the recording is destroyed. Writes to `left_out`, which may be null, how many calls it lacks, for which litmus
 * files have no statement, and to `is_cut`, which may be null, whether it ends early.
 */
VmPmuStatus vm_pmu_recording_text(const VmPmuRecording *recording,
                                  const char **text,
                                  size_t *length,
                                  uint64_t *left_out,
                                  bool *is_cut);

/**
 * Destroys a recording. Null is allowed and does nothing.
 */
VmPmuStatus vm_pmu_recording_destroy(VmPmuRecording *recording);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/**
 * The signals: what an embedder reports, by the numbers of their cells. A later library may have more, and never
 * renumbers those it has.
 */
typedef enum VmPmuSignal {
  /**
   * Clock cycles of the thread while its clock runs.
   */
  VM_PMU_SIGNAL_CYCLES = 0,
  /**
   * Cycles of the constant-rate reference clock while the thread's clock runs.
   */
  VM_PMU_SIGNAL_REFERENCE_CYCLES = 1,
  /**
   * Ticks of the time base.
   */
  VM_PMU_SIGNAL_TIME_BASE_TICKS = 2,
  /**
   * Cycles in which the thread is halted and its clock stands still.
   */
  VM_PMU_SIGNAL_HALTED_CYCLES = 3,
  /**
   * Instructions that completed, exceptions and interrupts not among them.
   */
  VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED = 4,
  /**
   * Instructions sent to execution, those later discarded among them.
   */
  VM_PMU_SIGNAL_INSTRUCTIONS_DISPATCHED = 5,
  /**
   * Micro-operations that completed.
   */
  VM_PMU_SIGNAL_MICRO_OPS_RETIRED = 6,
  /**
   * Micro-operations sent to execution.
   */
  VM_PMU_SIGNAL_MICRO_OPS_DISPATCHED = 7,
  /**
   * Faults, traps and aborts delivered.
   */
  VM_PMU_SIGNAL_EXCEPTIONS_TAKEN = 8,
  /**
   * Hardware interrupts delivered, of any kind.
   */
  VM_PMU_SIGNAL_INTERRUPTS_TAKEN = 9,
  /**
   * Cycles in which maskable interrupts are disabled.
   */
  VM_PMU_SIGNAL_INTERRUPTS_MASKED_CYCLES = 10,
  /**
   * Times that maskable interrupts became disabled.
   */
  VM_PMU_SIGNAL_INTERRUPTS_MASKED_ENTRIES = 11,
  /**
   * Cycles in which maskable interrupts are disabled and one is pending.
   */
  VM_PMU_SIGNAL_INTERRUPTS_MASKED_PENDING_CYCLES = 12,
  /**
   * Times that an interrupt began to wait because interrupts are disabled.
   */
  VM_PMU_SIGNAL_INTERRUPTS_MASKED_PENDING_ENTRIES = 13,
  /**
   * Near branches completed: jumps, conditional branches, calls and returns.
   */
  VM_PMU_SIGNAL_BRANCHES_RETIRED = 14,
  /**
   * Near branches completed that left the next sequential address.
   */
  VM_PMU_SIGNAL_BRANCHES_TAKEN = 15,
  /**
   * Near branches completed whose direction or target was predicted wrongly.
   */
  VM_PMU_SIGNAL_BRANCHES_MISPREDICTED = 16,
  /**
   * Near branches completed, taken, and predicted wrongly.
   */
  VM_PMU_SIGNAL_BRANCHES_TAKEN_MISPREDICTED = 17,
  /**
   * Conditional near branches completed and taken.
   */
  VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN = 18,
  /**
   * Conditional near branches completed and not taken.
   */
  VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN = 19,
  /**
   * Unconditional near jumps to a fixed target completed.
   */
  VM_PMU_SIGNAL_DIRECT_JUMPS = 20,
  /**
   * Near jumps whose target came from a register or memory completed.
   */
  VM_PMU_SIGNAL_INDIRECT_JUMPS = 21,
  /**
   * Near calls of a fixed target completed.
   */
  VM_PMU_SIGNAL_DIRECT_CALLS = 22,
  /**
   * Near calls whose target came from a register or memory completed.
   */
  VM_PMU_SIGNAL_INDIRECT_CALLS = 23,
  /**
   * Near returns completed.
   */
  VM_PMU_SIGNAL_NEAR_RETURNS = 24,
  /**
   * Far control transfers completed by an instruction: far call, jump and return, system call and return, software interrupt.
   */
  VM_PMU_SIGNAL_FAR_TRANSFERS = 25,
  /**
   * Conditional near branches completed, taken, and predicted not taken.
   */
  VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN_MISPREDICTED = 26,
  /**
   * Conditional near branches completed, not taken, and predicted taken.
   */
  VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN_MISPREDICTED = 27,
  /**
   * Unconditional near jumps completed whose fixed target was predicted wrongly.
   */
  VM_PMU_SIGNAL_DIRECT_JUMPS_MISPREDICTED = 28,
  /**
   * Indirect near jumps completed whose target was predicted wrongly.
   */
  VM_PMU_SIGNAL_INDIRECT_JUMPS_MISPREDICTED = 29,
  /**
   * Near calls completed whose fixed target was predicted wrongly.
   */
  VM_PMU_SIGNAL_DIRECT_CALLS_MISPREDICTED = 30,
  /**
   * Indirect near calls completed whose target was predicted wrongly.
   */
  VM_PMU_SIGNAL_INDIRECT_CALLS_MISPREDICTED = 31,
  /**
   * Near returns completed whose address was predicted wrongly.
   */
  VM_PMU_SIGNAL_NEAR_RETURNS_MISPREDICTED = 32,
  /**
   * Restarts of the pipeline that no misprediction caused.
   */
  VM_PMU_SIGNAL_PIPELINE_RESYNCS = 33,
  /**
   * Restarts of the pipeline because a store hit instructions already fetched.
   */
  VM_PMU_SIGNAL_SELF_MODIFYING_CODE_RESTARTS = 34,
  /**
   * Near returns that took their address from the return address stack.
   */
  VM_PMU_SIGNAL_RETURN_STACK_HITS = 35,
  /**
   * Near calls that pushed the oldest entry off the return address stack.
   */
  VM_PMU_SIGNAL_RETURN_STACK_OVERFLOWS = 36,
  /**
   * Accesses that match debug address register 0.
   */
  VM_PMU_SIGNAL_BREAKPOINT_MATCHES0 = 37,
  /**
   * Accesses that match debug address register 1.
   */
  VM_PMU_SIGNAL_BREAKPOINT_MATCHES1 = 38,
  /**
   * Accesses that match debug address register 2.
   */
  VM_PMU_SIGNAL_BREAKPOINT_MATCHES2 = 39,
  /**
   * Accesses that match debug address register 3.
   */
  VM_PMU_SIGNAL_BREAKPOINT_MATCHES3 = 40,
  /**
   * CPUID instructions completed.
   */
  VM_PMU_SIGNAL_CPUID_INSTRUCTIONS = 41,
  /**
   * Instructions completed that flush one cache line.
   */
  VM_PMU_SIGNAL_CACHE_LINE_FLUSHES = 42,
  /**
   * Atomic read-modify-write instructions executed with the bus or line locked.
   */
  VM_PMU_SIGNAL_LOCKED_INSTRUCTIONS = 43,
  /**
   * Cycles of locked instructions before they are certain to complete.
   */
  VM_PMU_SIGNAL_LOCKED_SPECULATIVE_CYCLES = 44,
  /**
   * Cycles of locked instructions from when they are certain to complete.
   */
  VM_PMU_SIGNAL_LOCKED_FINAL_CYCLES = 45,
  /**
   * Loads of segment register ES.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_ES = 46,
  /**
   * Loads of segment register CS.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_CS = 47,
  /**
   * Loads of segment register SS.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_SS = 48,
  /**
   * Loads of segment register DS.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_DS = 49,
  /**
   * Loads of segment register FS.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_FS = 50,
  /**
   * Loads of segment register GS.
   */
  VM_PMU_SIGNAL_SEGMENT_LOADS_GS = 51,
  /**
   * Prefetch instructions for reading.
   */
  VM_PMU_SIGNAL_PREFETCHES_FOR_LOAD = 52,
  /**
   * Prefetch instructions for writing.
   */
  VM_PMU_SIGNAL_PREFETCHES_FOR_STORE = 53,
  /**
   * Prefetch instructions of data that will not be used again.
   */
  VM_PMU_SIGNAL_PREFETCHES_NON_TEMPORAL = 54,
  /**
   * X87 instructions completed.
   */
  VM_PMU_SIGNAL_X87_INSTRUCTIONS = 55,
  /**
   * MMX and 3DNow! instructions completed.
   */
  VM_PMU_SIGNAL_MMX_INSTRUCTIONS = 56,
  /**
   * Packed SSE and SSE2 instructions completed.
   */
  VM_PMU_SIGNAL_PACKED_SSE_INSTRUCTIONS = 57,
  /**
   * Scalar SSE and SSE2 instructions completed.
   */
  VM_PMU_SIGNAL_SCALAR_SSE_INSTRUCTIONS = 58,
  /**
   * Operations sent to the floating-point adder.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_ADD_OPS = 59,
  /**
   * Operations sent to the floating-point multiplier.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_MULTIPLY_OPS = 60,
  /**
   * Operations sent to the floating-point store pipe.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_STORE_OPS = 61,
  /**
   * Operations with a memory operand sent to the floating-point adder.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_ADD_LOADS = 62,
  /**
   * Operations with a memory operand sent to the floating-point multiplier.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_MULTIPLY_LOADS = 63,
  /**
   * Operations with a memory operand sent to the floating-point store pipe.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_STORE_LOADS = 64,
  /**
   * Floating-point comparisons that write the integer flags.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_FLAG_OPS = 65,
  /**
   * Cycles in which no floating-point operation completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_IDLE_CYCLES = 66,
  /**
   * Load instructions completed.
   */
  VM_PMU_SIGNAL_LOADS = 67,
  /**
   * Store instructions completed.
   */
  VM_PMU_SIGNAL_STORES = 68,
  /**
   * Reads and writes of the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_ACCESSES = 69,
  /**
   * Reads and writes that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_MISSES = 70,
  /**
   * Accesses of locked instructions that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_MISSES_LOCKED = 71,
  /**
   * Lines taken into the first-level data cache from the second level, shared.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_L2_SHARED = 72,
  /**
   * Lines taken into the first-level data cache from the second level, exclusive.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_L2_EXCLUSIVE = 73,
  /**
   * Lines taken into the first-level data cache from the second level, owned.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_L2_OWNED = 74,
  /**
   * Lines taken into the first-level data cache from the second level, modified.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_L2_MODIFIED = 75,
  /**
   * Lines taken into the first-level data cache from the system that arrived invalid.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_SYSTEM_INVALID = 76,
  /**
   * Lines taken into the first-level data cache from the system, shared.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_SYSTEM_SHARED = 77,
  /**
   * Lines taken into the first-level data cache from the system, exclusive.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_SYSTEM_EXCLUSIVE = 78,
  /**
   * Lines taken into the first-level data cache from the system, owned.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_SYSTEM_OWNED = 79,
  /**
   * Lines taken into the first-level data cache from the system, modified.
   */
  VM_PMU_SIGNAL_DATA_CACHE_REFILLS_SYSTEM_MODIFIED = 80,
  /**
   * Lines displaced from the first-level data cache, invalid.
   */
  VM_PMU_SIGNAL_DATA_CACHE_EVICTIONS_INVALID = 81,
  /**
   * Lines displaced from the first-level data cache, shared.
   */
  VM_PMU_SIGNAL_DATA_CACHE_EVICTIONS_SHARED = 82,
  /**
   * Lines displaced from the first-level data cache, exclusive.
   */
  VM_PMU_SIGNAL_DATA_CACHE_EVICTIONS_EXCLUSIVE = 83,
  /**
   * Lines displaced from the first-level data cache, owned.
   */
  VM_PMU_SIGNAL_DATA_CACHE_EVICTIONS_OWNED = 84,
  /**
   * Lines displaced from the first-level data cache, modified.
   */
  VM_PMU_SIGNAL_DATA_CACHE_EVICTIONS_MODIFIED = 85,
  /**
   * Data accesses that cross the width of a data cache access.
   */
  VM_PMU_SIGNAL_MISALIGNED_ACCESSES = 86,
  /**
   * Data accesses that missed the first-level translation buffer and hit the second.
   */
  VM_PMU_SIGNAL_DATA_TLB_L1_MISSES = 87,
  /**
   * Data accesses that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_DATA_TLB_L2_MISSES = 88,
  /**
   * Requests to uncacheable memory.
   */
  VM_PMU_SIGNAL_UNCACHEABLE_REQUESTS = 89,
  /**
   * Write-combining buffers written out, those of streaming stores among them.
   */
  VM_PMU_SIGNAL_WRITE_COMBINING_FLUSHES = 90,
  /**
   * Write-combining buffers of streaming stores written out.
   */
  VM_PMU_SIGNAL_STREAMING_STORE_FLUSHES = 91,
  /**
   * Cycles in which the load/store buffer of missed requests and waiting stores is full.
   */
  VM_PMU_SIGNAL_LOAD_STORE_BUFFER_FULL_CYCLES = 92,
  /**
   * Reads of the first-level instruction cache by the fetcher.
   */
  VM_PMU_SIGNAL_INSTRUCTION_FETCHES = 93,
  /**
   * Fetches that missed the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_MISSES = 94,
  /**
   * Lines taken into the first-level instruction cache from the second level.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_REFILLS_L2 = 95,
  /**
   * Lines taken into the first-level instruction cache from the system.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_REFILLS_SYSTEM = 96,
  /**
   * Fetches that missed the first-level translation buffer and hit the second.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_L1_MISSES = 97,
  /**
   * Fetches that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_L2_MISSES = 98,
  /**
   * Cycles in which the fetcher stands still.
   */
  VM_PMU_SIGNAL_INSTRUCTION_FETCH_STALL_CYCLES = 99,
  /**
   * Reads of the second-level cache for the instruction cache.
   */
  VM_PMU_SIGNAL_L2_REQUESTS_INSTRUCTION = 100,
  /**
   * Reads of the second-level cache for the data cache.
   */
  VM_PMU_SIGNAL_L2_REQUESTS_DATA = 101,
  /**
   * Reads of the second-level cache by page-table walks.
   */
  VM_PMU_SIGNAL_L2_REQUESTS_WALK = 102,
  /**
   * Tag look-ups of the second-level cache by other caches.
   */
  VM_PMU_SIGNAL_L2_REQUESTS_SNOOP = 103,
  /**
   * Reads for the instruction cache that missed the second level.
   */
  VM_PMU_SIGNAL_L2_MISSES_INSTRUCTION = 104,
  /**
   * Reads for the data cache that missed the second level.
   */
  VM_PMU_SIGNAL_L2_MISSES_DATA = 105,
  /**
   * Reads by page-table walks that missed the second level.
   */
  VM_PMU_SIGNAL_L2_MISSES_WALK = 106,
  /**
   * Lines written into the second-level cache.
   */
  VM_PMU_SIGNAL_L2_FILLS = 107,
  /**
   * Modified lines written from the second-level cache to the system.
   */
  VM_PMU_SIGNAL_L2_WRITEBACKS = 108,
  /**
   * Requests by the hardware data prefetcher.
   */
  VM_PMU_SIGNAL_DATA_PREFETCH_ATTEMPTS = 109,
  /**
   * Requests by the hardware data prefetcher whose line was already cached.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_CANCELLED = 110,
  /**
   * Lines the system answered a refill with, exclusive.
   */
  VM_PMU_SIGNAL_SYSTEM_READS_EXCLUSIVE = 111,
  /**
   * Lines the system answered a refill with, modified.
   */
  VM_PMU_SIGNAL_SYSTEM_READS_MODIFIED = 112,
  /**
   * Lines the system answered a refill with, shared.
   */
  VM_PMU_SIGNAL_SYSTEM_READS_SHARED = 113,
  /**
   * Pieces of eight bytes that the processor sent to the system.
   */
  VM_PMU_SIGNAL_SYSTEM_QUADWORDS_WRITTEN = 114,
  /**
   * Cycles in which the decoder has nothing to dispatch.
   */
  VM_PMU_SIGNAL_DECODER_EMPTY_CYCLES = 115,
  /**
   * Cycles in which the decoder has instructions but cannot dispatch.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_CYCLES = 116,
  /**
   * Cycles of dispatch stall while the pipeline drains after a mispredicted branch.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_BRANCH_ABORT_CYCLES = 117,
  /**
   * Cycles of dispatch stall by a serialising operation.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_SERIALIZATION_CYCLES = 118,
  /**
   * Cycles of dispatch stall behind an earlier segment load.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_SEGMENT_LOAD_CYCLES = 119,
  /**
   * Cycles of dispatch stall because the reorder buffer is full.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_REORDER_BUFFER_CYCLES = 120,
  /**
   * Cycles of dispatch stall because a reservation station is full.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_RESERVATION_STATION_CYCLES = 121,
  /**
   * Cycles of dispatch stall because the floating-point scheduler is full.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_FLOATING_POINT_CYCLES = 122,
  /**
   * Cycles of dispatch stall for want of room in the load/store unit.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_LOAD_STORE_CYCLES = 123,
  /**
   * Cycles of dispatch stall until every outstanding request is answered.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_ALL_QUIET_CYCLES = 124,
  /**
   * Cycles of dispatch stall while the pipeline drains for a far transfer or resync.
   */
  VM_PMU_SIGNAL_DISPATCH_STALL_FAR_TRANSFER_CYCLES = 125,
  /**
   * Memory controller accesses to an open page.
   */
  VM_PMU_SIGNAL_DRAM_PAGE_HITS = 126,
  /**
   * Memory controller accesses that opened a page.
   */
  VM_PMU_SIGNAL_DRAM_PAGE_MISSES = 127,
  /**
   * Memory controller accesses that closed one page to open another.
   */
  VM_PMU_SIGNAL_DRAM_PAGE_CONFLICTS = 128,
  /**
   * Requests for a new page when the most pages are already open.
   */
  VM_PMU_SIGNAL_DRAM_PAGE_TABLE_OVERFLOWS = 129,
  /**
   * Turnarounds of the memory bus between chip selects.
   */
  VM_PMU_SIGNAL_DRAM_TURNAROUNDS_CHIP_SELECT = 130,
  /**
   * Turnarounds of the memory bus from reading to writing.
   */
  VM_PMU_SIGNAL_DRAM_TURNAROUNDS_READ_TO_WRITE = 131,
  /**
   * Turnarounds of the memory bus from writing to reading.
   */
  VM_PMU_SIGNAL_DRAM_TURNAROUNDS_WRITE_TO_READ = 132,
  /**
   * Lines written back to the system.
   */
  VM_PMU_SIGNAL_VICTIM_BLOCKS = 133,
  /**
   * Lines requested from the system to be read.
   */
  VM_PMU_SIGNAL_READ_BLOCKS = 134,
  /**
   * Lines requested from the system to be executed.
   */
  VM_PMU_SIGNAL_READ_BLOCKS_SHARED = 135,
  /**
   * Lines requested from the system to be written.
   */
  VM_PMU_SIGNAL_READ_BLOCKS_MODIFIED = 136,
  /**
   * Requests to write a clean line already held.
   */
  VM_PMU_SIGNAL_CHANGES_TO_DIRTY = 137,
  /**
   * Probes of other caches that found nothing.
   */
  VM_PMU_SIGNAL_PROBE_MISSES = 138,
  /**
   * Probes of other caches that found a clean line.
   */
  VM_PMU_SIGNAL_PROBE_HITS_CLEAN = 139,
  /**
   * Probes that found a dirty line and let the memory access go on.
   */
  VM_PMU_SIGNAL_PROBE_HITS_DIRTY = 140,
  /**
   * Probes that found a dirty line and cancelled the memory access.
   */
  VM_PMU_SIGNAL_PROBE_HITS_DIRTY_CANCELLED = 141,
  /**
   * Reads by devices to refresh a display.
   */
  VM_PMU_SIGNAL_UPSTREAM_DISPLAY_READS = 142,
  /**
   * Other reads by devices.
   */
  VM_PMU_SIGNAL_UPSTREAM_READS = 143,
  /**
   * Writes by devices.
   */
  VM_PMU_SIGNAL_UPSTREAM_WRITES = 144,
  /**
   * Cycles in which at least one instruction completed.
   */
  VM_PMU_SIGNAL_RETIREMENT_CYCLES = 145,
  /**
   * Ticks of the processor utilisation register of the thread.
   */
  VM_PMU_SIGNAL_UTILIZATION_TICKS = 146,
  /**
   * Ticks of the scaled processor utilisation register of the thread.
   */
  VM_PMU_SIGNAL_SCALED_UTILIZATION_TICKS = 147,
  /**
   * Changes of the privilege level.
   */
  VM_PMU_SIGNAL_PRIVILEGE_CHANGES = 148,
  /**
   * Times that the core turned to another thread.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES = 149,
  /**
   * Instructions completed that do nothing.
   */
  VM_PMU_SIGNAL_NOPS_RETIRED = 150,
  /**
   * Instructions completed whose qualifying predicate was false.
   */
  VM_PMU_SIGNAL_PREDICATED_OFF_RETIRED = 151,
  /**
   * Instructions handed to the issue ports.
   */
  VM_PMU_SIGNAL_INSTRUCTIONS_DISPERSED = 152,
  /**
   * Micro-operations completed that came from the microcode sequencer.
   */
  VM_PMU_SIGNAL_MICROCODED_OPS_RETIRED = 153,
  /**
   * Scalar vector-unit micro-operations completed.
   */
  VM_PMU_SIGNAL_SCALAR_VECTOR_OPS_RETIRED = 154,
  /**
   * Packed vector-unit micro-operations completed.
   */
  VM_PMU_SIGNAL_PACKED_VECTOR_OPS_RETIRED = 155,
  /**
   * Near branches completed with a target below their own address.
   */
  VM_PMU_SIGNAL_BRANCHES_BACKWARD = 156,
  /**
   * Times that the fetcher was sent to another address by a later stage.
   */
  VM_PMU_SIGNAL_FRONT_END_RESTEERS = 157,
  /**
   * Times that the pipeline discarded instructions it had begun.
   */
  VM_PMU_SIGNAL_PIPELINE_FLUSHES = 158,
  /**
   * Times that the pipeline discarded instructions because of the order of memory accesses.
   */
  VM_PMU_SIGNAL_MEMORY_ORDERING_FLUSHES = 159,
  /**
   * Floating-point operations that needed a slow path.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_ASSISTS = 160,
  /**
   * Operations of the integer units.
   */
  VM_PMU_SIGNAL_INTEGER_OPS = 161,
  /**
   * Operations of the vector units.
   */
  VM_PMU_SIGNAL_VECTOR_OPS = 162,
  /**
   * Vector load instructions completed.
   */
  VM_PMU_SIGNAL_VECTOR_LOADS = 163,
  /**
   * Vector store instructions completed.
   */
  VM_PMU_SIGNAL_VECTOR_STORES = 164,
  /**
   * Scalar floating-point arithmetic instructions completed, neither fused nor divisions or square roots.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_OPS = 165,
  /**
   * Scalar fused multiply-add instructions completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_FUSED_OPS = 166,
  /**
   * Vector double-precision arithmetic instructions completed, neither fused nor divisions or square roots.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_OPS = 167,
  /**
   * Vector double-precision fused multiply-add instructions completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_FUSED_OPS = 168,
  /**
   * Vector single-precision arithmetic instructions completed, neither fused nor divisions or square roots.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_OPS = 169,
  /**
   * Vector single-precision fused multiply-add instructions completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_FUSED_OPS = 170,
  /**
   * Floating-point instructions completed that do no arithmetic.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_MOVES = 171,
  /**
   * Scalar floating-point divisions and square roots completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_DIVIDES = 172,
  /**
   * Floating-point operations completed, a fused multiply-add being two.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_OPERATIONS = 173,
  /**
   * Floating-point results replaced by zero.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_FLUSHES_TO_ZERO = 174,
  /**
   * Load-and-reserve instructions completed.
   */
  VM_PMU_SIGNAL_LOAD_RESERVES = 175,
  /**
   * Store-conditional instructions completed.
   */
  VM_PMU_SIGNAL_STORE_CONDITIONALS = 176,
  /**
   * Store-conditional instructions that did not store.
   */
  VM_PMU_SIGNAL_STORE_CONDITIONALS_FAILED = 177,
  /**
   * Full memory barriers completed.
   */
  VM_PMU_SIGNAL_BARRIERS_FULL = 178,
  /**
   * Lightweight memory barriers completed.
   */
  VM_PMU_SIGNAL_BARRIERS_LIGHT = 179,
  /**
   * Page-table barriers completed.
   */
  VM_PMU_SIGNAL_BARRIERS_TRANSLATION = 180,
  /**
   * Context-synchronising instructions completed.
   */
  VM_PMU_SIGNAL_CONTEXT_SYNCHRONIZATIONS = 181,
  /**
   * Translation invalidations broadcast.
   */
  VM_PMU_SIGNAL_TRANSLATION_INVALIDATIONS = 182,
  /**
   * Translation invalidations received from other processors.
   */
  VM_PMU_SIGNAL_TRANSLATION_INVALIDATIONS_RECEIVED = 183,
  /**
   * No-operations that mark a place for sampling.
   */
  VM_PMU_SIGNAL_PROBE_INSTRUCTIONS = 184,
  /**
   * Instructions completed that the opcode match array matched.
   */
  VM_PMU_SIGNAL_MATCHED_INSTRUCTIONS = 185,
  /**
   * Instructions completed of the classes that take long.
   */
  VM_PMU_SIGNAL_LONG_LATENCY_INSTRUCTIONS = 186,
  /**
   * Outermost transactions begun.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_BEGUN = 187,
  /**
   * Outermost transactions committed.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_COMMITTED = 188,
  /**
   * Transactions aborted.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED = 189,
  /**
   * Transactions aborted because they outgrew what can be tracked.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED_CAPACITY = 190,
  /**
   * Exchange, compare-and-exchange and fetch-and-add instructions completed.
   */
  VM_PMU_SIGNAL_SEMAPHORE_INSTRUCTIONS = 191,
  /**
   * Load instructions completed that went to uncacheable memory.
   */
  VM_PMU_SIGNAL_UNCACHEABLE_LOADS = 192,
  /**
   * Store instructions completed that went to uncacheable memory.
   */
  VM_PMU_SIGNAL_UNCACHEABLE_STORES = 193,
  /**
   * Control-speculative load instructions completed.
   */
  VM_PMU_SIGNAL_SPECULATIVE_LOADS = 194,
  /**
   * Checks of control-speculative values.
   */
  VM_PMU_SIGNAL_SPECULATION_CHECKS = 195,
  /**
   * Checks of control-speculative values that went to recovery.
   */
  VM_PMU_SIGNAL_SPECULATION_CHECKS_FAILED = 196,
  /**
   * Data-speculative (advanced) load instructions completed.
   */
  VM_PMU_SIGNAL_ADVANCED_LOADS = 197,
  /**
   * Checks of advanced loads.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS = 198,
  /**
   * Checks of advanced loads whose entry was gone.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS_FAILED = 199,
  /**
   * Entries of the advanced load address table lost for want of room.
   */
  VM_PMU_SIGNAL_ADVANCED_LOAD_TABLE_OVERFLOWS = 200,
  /**
   * Loads and stores made by the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_ACCESSES = 201,
  /**
   * Cycles in which the pipeline waits for the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_STALL_CYCLES = 202,
  /**
   * Loads that cross a cache line.
   */
  VM_PMU_SIGNAL_LINE_SPLIT_LOADS = 203,
  /**
   * Stores that cross a cache line.
   */
  VM_PMU_SIGNAL_LINE_SPLIT_STORES = 204,
  /**
   * Loads that belong to a locked operation.
   */
  VM_PMU_SIGNAL_LOCKED_LOADS = 205,
  /**
   * Loads that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_LOAD_MISSES = 206,
  /**
   * Stores that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_STORE_MISSES = 207,
  /**
   * Lines prefetched into the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_PREFETCH_FILLS = 208,
  /**
   * Lines of the first-level data cache invalidated from outside.
   */
  VM_PMU_SIGNAL_DATA_CACHE_INVALIDATIONS = 209,
  /**
   * Fetches that hit the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_HITS = 210,
  /**
   * Lines prefetched into the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_PREFETCH_FILLS = 211,
  /**
   * Lines of the first-level instruction cache invalidated from outside.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_INVALIDATIONS = 212,
  /**
   * Loads that the second-level cache answered.
   */
  VM_PMU_SIGNAL_L2_LOAD_HITS = 213,
  /**
   * Loads that missed the second level.
   */
  VM_PMU_SIGNAL_L2_LOAD_MISSES = 214,
  /**
   * Stores that the second-level cache took.
   */
  VM_PMU_SIGNAL_L2_STORE_HITS = 215,
  /**
   * Stores that missed the second level.
   */
  VM_PMU_SIGNAL_L2_STORE_MISSES = 216,
  /**
   * Instruction fetches that the second-level cache answered.
   */
  VM_PMU_SIGNAL_L2_FETCH_HITS = 217,
  /**
   * Instruction fetches that missed the second level.
   */
  VM_PMU_SIGNAL_L2_FETCH_MISSES = 218,
  /**
   * Accesses of the second-level cache.
   */
  VM_PMU_SIGNAL_L2_REFERENCES = 219,
  /**
   * Accesses that missed the second-level cache.
   */
  VM_PMU_SIGNAL_L2_MISSES = 220,
  /**
   * Modified lines displaced from the second-level cache.
   */
  VM_PMU_SIGNAL_L2_CASTOUTS_MODIFIED = 221,
  /**
   * Clean lines displaced from the second-level cache.
   */
  VM_PMU_SIGNAL_L2_CASTOUTS_CLEAN = 222,
  /**
   * Accesses that the third-level cache answered.
   */
  VM_PMU_SIGNAL_L3_HITS = 223,
  /**
   * Accesses that missed the third-level cache.
   */
  VM_PMU_SIGNAL_L3_MISSES = 224,
  /**
   * Accesses of the third-level cache.
   */
  VM_PMU_SIGNAL_L3_REFERENCES = 225,
  /**
   * Reads of the third-level cache.
   */
  VM_PMU_SIGNAL_L3_READS = 226,
  /**
   * Writes of the third-level cache.
   */
  VM_PMU_SIGNAL_L3_WRITES = 227,
  /**
   * Loads that the third-level cache answered.
   */
  VM_PMU_SIGNAL_L3_LOAD_HITS = 228,
  /**
   * Loads that missed the third level.
   */
  VM_PMU_SIGNAL_L3_LOAD_MISSES = 229,
  /**
   * Lines displaced from the third-level cache.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS = 230,
  /**
   * Lines moved in from the level above that were already there.
   */
  VM_PMU_SIGNAL_L3_CASTINS_HIT = 231,
  /**
   * Lines moved in from the level above that were new.
   */
  VM_PMU_SIGNAL_L3_CASTINS_MISS = 232,
  /**
   * Lines read from memory.
   */
  VM_PMU_SIGNAL_MEMORY_READS = 233,
  /**
   * Lines written to memory.
   */
  VM_PMU_SIGNAL_MEMORY_WRITES = 234,
  /**
   * Transactions on the processor bus.
   */
  VM_PMU_SIGNAL_BUS_TRANSACTIONS = 235,
  /**
   * Snoops received from other processors.
   */
  VM_PMU_SIGNAL_SNOOP_REQUESTS = 236,
  /**
   * Loads whose line came from the private second level.
   */
  VM_PMU_SIGNAL_LOADS_FROM_L2 = 237,
  /**
   * Loads whose line came from the private third level.
   */
  VM_PMU_SIGNAL_LOADS_FROM_L3 = 238,
  /**
   * Loads whose line came clean from another core of the package.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_CORE_CLEAN = 239,
  /**
   * Loads whose line came modified from another core of the package.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_CORE_MODIFIED = 240,
  /**
   * Loads whose line came clean from another package's cache.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_PACKAGE_CLEAN = 241,
  /**
   * Loads whose line came modified from another package's cache.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_PACKAGE_MODIFIED = 242,
  /**
   * Loads whose line came from the package's own memory.
   */
  VM_PMU_SIGNAL_LOADS_FROM_LOCAL_MEMORY = 243,
  /**
   * Loads whose line came from another package's memory.
   */
  VM_PMU_SIGNAL_LOADS_FROM_REMOTE_MEMORY = 244,
  /**
   * Loads whose line came from beyond the second level.
   */
  VM_PMU_SIGNAL_LOADS_BEYOND_L2 = 245,
  /**
   * Loads whose line came from beyond the third level.
   */
  VM_PMU_SIGNAL_LOADS_BEYOND_L3 = 246,
  /**
   * Instruction lines from the private second level.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_L2 = 247,
  /**
   * Instruction lines from the private third level.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_L3 = 248,
  /**
   * Instruction lines from another core of the package.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_CORE = 249,
  /**
   * Instruction lines from another package's cache.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_PACKAGE = 250,
  /**
   * Instruction lines from the package's own memory.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_LOCAL_MEMORY = 251,
  /**
   * Instruction lines from another package's memory.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_REMOTE_MEMORY = 252,
  /**
   * Instruction lines from beyond the third level.
   */
  VM_PMU_SIGNAL_FETCHES_BEYOND_L3 = 253,
  /**
   * Page-table entries for data read from the second level.
   */
  VM_PMU_SIGNAL_DATA_WALKS_FROM_L2 = 254,
  /**
   * Page-table entries for data read from the third level.
   */
  VM_PMU_SIGNAL_DATA_WALKS_FROM_L3 = 255,
  /**
   * Page-table entries for data read from another core of the package.
   */
  VM_PMU_SIGNAL_DATA_WALKS_FROM_OTHER_CORE = 256,
  /**
   * Page-table entries for data read from memory.
   */
  VM_PMU_SIGNAL_DATA_WALKS_FROM_MEMORY = 257,
  /**
   * Page-table entries for instructions read from the second level.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_L2 = 258,
  /**
   * Page-table entries for instructions read from the third level.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_L3 = 259,
  /**
   * Page-table entries for instructions read from another core of the package.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_CORE = 260,
  /**
   * Page-table entries for instructions read from memory.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_MEMORY = 261,
  /**
   * Data accesses that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_DATA_TLB_MISSES_ALL = 262,
  /**
   * Fetches that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_MISSES_ALL = 263,
  /**
   * Translations that the second-level buffer had.
   */
  VM_PMU_SIGNAL_TRANSLATION_L2_HITS = 264,
  /**
   * Page-table walks for data.
   */
  VM_PMU_SIGNAL_DATA_WALKS = 265,
  /**
   * Cycles of page-table walks for data.
   */
  VM_PMU_SIGNAL_DATA_WALK_CYCLES = 266,
  /**
   * Page-table walks for instructions.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS = 267,
  /**
   * Cycles of page-table walks for instructions.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALK_CYCLES = 268,
  /**
   * Page-table walks that the walk cache could not shorten.
   */
  VM_PMU_SIGNAL_WALK_CACHE_MISSES = 269,
  /**
   * Data accesses whose segment was not in the segment buffer.
   */
  VM_PMU_SIGNAL_SEGMENT_MISSES_DATA = 270,
  /**
   * Fetches whose segment was not in the segment buffer.
   */
  VM_PMU_SIGNAL_SEGMENT_MISSES_INSTRUCTION = 271,
  /**
   * Translations that a hashed page-table walk put in.
   */
  VM_PMU_SIGNAL_HASH_WALK_INSERTS = 272,
  /**
   * Cycles without an instruction to dispatch.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_CYCLES = 273,
  /**
   * Cycles in which no instruction completed although some are in flight.
   */
  VM_PMU_SIGNAL_STALL_CYCLES = 274,
  /**
   * Cycles of stall behind a load that missed the first-level cache.
   */
  VM_PMU_SIGNAL_STALL_LOAD_MISS_CYCLES = 275,
  /**
   * Cycles of stall behind an execution unit.
   */
  VM_PMU_SIGNAL_STALL_EXECUTION_CYCLES = 276,
  /**
   * Cycles of stall behind the floating-point unit.
   */
  VM_PMU_SIGNAL_STALL_FLOATING_POINT_CYCLES = 277,
  /**
   * Cycles of stall behind a translation.
   */
  VM_PMU_SIGNAL_STALL_TRANSLATION_CYCLES = 278,
  /**
   * Cycles lost to a flush after a misprediction or exception.
   */
  VM_PMU_SIGNAL_STALL_FLUSH_CYCLES = 279,
  /**
   * Cycles of stall behind the register stack engine.
   */
  VM_PMU_SIGNAL_STALL_REGISTER_STACK_CYCLES = 280,
  /**
   * Cycles in which the divider is busy.
   */
  VM_PMU_SIGNAL_DIVIDER_BUSY_CYCLES = 281,
  /**
   * Lines read from memory inside the package.
   */
  VM_PMU_SIGNAL_NEAR_MEMORY_READS = 282,
  /**
   * Lines written to memory inside the package.
   */
  VM_PMU_SIGNAL_NEAR_MEMORY_WRITES = 283,
  /**
   * Accesses that a clean line of the memory-side cache answered.
   */
  VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_HITS_CLEAN = 284,
  /**
   * Accesses that a modified line of the memory-side cache answered.
   */
  VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_HITS_MODIFIED = 285,
  /**
   * Accesses that displaced a clean line of the memory-side cache.
   */
  VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_MISSES_CLEAN = 286,
  /**
   * Accesses that displaced a modified line of the memory-side cache.
   */
  VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_MISSES_MODIFIED = 287,
  /**
   * Cycles of the package's own clock.
   */
  VM_PMU_SIGNAL_PACKAGE_CYCLES = 288,
  /**
   * Cycles of the memory controllers' clock.
   */
  VM_PMU_SIGNAL_MEMORY_CYCLES = 289,
  /**
   * Cycles of the clock of memory inside the package.
   */
  VM_PMU_SIGNAL_NEAR_MEMORY_CYCLES = 290,
  /**
   * Cycles in which any thread of the core runs.
   */
  VM_PMU_SIGNAL_CORE_ACTIVE_CYCLES = 291,
  /**
   * Cycles of the reference clock in which any thread of the core runs.
   */
  VM_PMU_SIGNAL_CORE_ACTIVE_REFERENCE_CYCLES = 292,
  /**
   * Near branches to a relative target completed, not taken and predicted so.
   */
  VM_PMU_SIGNAL_RELATIVE_BRANCHES_NOT_TAKEN_PREDICTED = 293,
  /**
   * Near branches to a relative target completed, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_RELATIVE_BRANCHES_NOT_TAKEN_MISPREDICTED = 294,
  /**
   * Near branches to a relative target completed, taken and predicted in full.
   */
  VM_PMU_SIGNAL_RELATIVE_BRANCHES_TAKEN_PREDICTED = 295,
  /**
   * Near branches to a relative target completed, taken and predicted not taken.
   */
  VM_PMU_SIGNAL_RELATIVE_BRANCHES_TAKEN_MISPREDICTED = 296,
  /**
   * Near branches to a relative target completed, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_RELATIVE_BRANCHES_TAKEN_WRONG_TARGET = 297,
  /**
   * Near returns completed, not taken and predicted so.
   */
  VM_PMU_SIGNAL_RETURN_BRANCHES_NOT_TAKEN_PREDICTED = 298,
  /**
   * Near returns completed, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_RETURN_BRANCHES_NOT_TAKEN_MISPREDICTED = 299,
  /**
   * Near returns completed, taken and predicted in full.
   */
  VM_PMU_SIGNAL_RETURN_BRANCHES_TAKEN_PREDICTED = 300,
  /**
   * Near returns completed, taken and predicted not taken.
   */
  VM_PMU_SIGNAL_RETURN_BRANCHES_TAKEN_MISPREDICTED = 301,
  /**
   * Near returns completed, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_RETURN_BRANCHES_TAKEN_WRONG_TARGET = 302,
  /**
   * Near branches to an indirect target, returns not among them completed, not taken and predicted so.
   */
  VM_PMU_SIGNAL_INDIRECT_BRANCHES_NOT_TAKEN_PREDICTED = 303,
  /**
   * Near branches to an indirect target, returns not among them completed, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_INDIRECT_BRANCHES_NOT_TAKEN_MISPREDICTED = 304,
  /**
   * Near branches to an indirect target, returns not among them completed, taken and predicted in full.
   */
  VM_PMU_SIGNAL_INDIRECT_BRANCHES_TAKEN_PREDICTED = 305,
  /**
   * Near branches to an indirect target, returns not among them completed, taken and predicted not taken.
   */
  VM_PMU_SIGNAL_INDIRECT_BRANCHES_TAKEN_MISPREDICTED = 306,
  /**
   * Near branches to an indirect target, returns not among them completed, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_INDIRECT_BRANCHES_TAKEN_WRONG_TARGET = 307,
  /**
   * Serialising instructions completed.
   */
  VM_PMU_SIGNAL_SERIALIZATIONS_RETIRED = 308,
  /**
   * Integer load instructions completed.
   */
  VM_PMU_SIGNAL_LOADS_INTEGER = 309,
  /**
   * Load instructions completed at a misaligned address.
   */
  VM_PMU_SIGNAL_MISALIGNED_LOADS = 310,
  /**
   * Store instructions completed at a misaligned address.
   */
  VM_PMU_SIGNAL_MISALIGNED_STORES = 311,
  /**
   * References to memory issued.
   */
  VM_PMU_SIGNAL_MEMORY_REFERENCES = 312,
  /**
   * Reads of the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_READS = 313,
  /**
   * Reads that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_READ_MISSES = 314,
  /**
   * Reads of the register stack engine that missed the first-level data cache.
   */
  VM_PMU_SIGNAL_DATA_CACHE_READ_MISSES_REGISTER_STACK = 315,
  /**
   * Translations for data that a page-table walk put in.
   */
  VM_PMU_SIGNAL_DATA_WALK_FILLS = 316,
  /**
   * Translations for instructions that a page-table walk put in.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALK_FILLS = 317,
  /**
   * Lines taken into the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_FILLS = 318,
  /**
   * Requests to prefetch instructions.
   */
  VM_PMU_SIGNAL_INSTRUCTION_PREFETCHES = 319,
  /**
   * Requests to prefetch instructions that missed the first level.
   */
  VM_PMU_SIGNAL_INSTRUCTION_PREFETCH_MISSES = 320,
  /**
   * Demand fetches that the second-level instruction cache answered.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_HITS = 321,
  /**
   * Demand fetches that missed the second-level instruction cache.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_MISSES = 322,
  /**
   * Instruction prefetches that the second-level instruction cache answered.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_HITS = 323,
  /**
   * Instruction prefetches that missed the second-level instruction cache.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_MISSES = 324,
  /**
   * Lines displaced from the second-level instruction cache.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_EVICTIONS = 325,
  /**
   * Snoops that found a line in the second-level instruction cache.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_SNOOP_HITS = 326,
  /**
   * Reads of the second-level data cache.
   */
  VM_PMU_SIGNAL_L2_DATA_READS = 327,
  /**
   * Writes of the second-level data cache.
   */
  VM_PMU_SIGNAL_L2_DATA_WRITES = 328,
  /**
   * Look-ups that the second-level data cache answered.
   */
  VM_PMU_SIGNAL_L2_DATA_LOOKUP_HITS = 329,
  /**
   * Look-ups that missed the second-level data cache.
   */
  VM_PMU_SIGNAL_L2_DATA_LOOKUP_MISSES = 330,
  /**
   * Lines that the second-level data cache asked for.
   */
  VM_PMU_SIGNAL_L2_DATA_LINE_REQUESTS = 331,
  /**
   * Stores that found a shared line in the second-level data cache.
   */
  VM_PMU_SIGNAL_L2_DATA_STORE_HITS_SHARED = 332,
  /**
   * Demand fetches that the third-level cache answered.
   */
  VM_PMU_SIGNAL_L3_INSTRUCTION_DEMAND_HITS = 333,
  /**
   * Demand fetches that missed the third-level cache.
   */
  VM_PMU_SIGNAL_L3_INSTRUCTION_DEMAND_MISSES = 334,
  /**
   * Instruction prefetches that the third-level cache answered.
   */
  VM_PMU_SIGNAL_L3_INSTRUCTION_PREFETCH_HITS = 335,
  /**
   * Instruction prefetches that missed the third-level cache.
   */
  VM_PMU_SIGNAL_L3_INSTRUCTION_PREFETCH_MISSES = 336,
  /**
   * Data reads that the third-level cache answered.
   */
  VM_PMU_SIGNAL_L3_DATA_READ_HITS = 337,
  /**
   * Data reads that missed the third-level cache.
   */
  VM_PMU_SIGNAL_L3_DATA_READ_MISSES = 338,
  /**
   * Data writes that the third-level cache took.
   */
  VM_PMU_SIGNAL_L3_DATA_WRITE_HITS = 339,
  /**
   * Data writes that missed the third-level cache.
   */
  VM_PMU_SIGNAL_L3_DATA_WRITE_MISSES = 340,
  /**
   * Lines written back that the third-level cache held.
   */
  VM_PMU_SIGNAL_L3_WRITEBACK_HITS = 341,
  /**
   * Lines written back that the third-level cache did not hold.
   */
  VM_PMU_SIGNAL_L3_WRITEBACK_MISSES = 342,
  /**
   * Lines put into the third-level cache.
   */
  VM_PMU_SIGNAL_L3_INSERTIONS = 343,
  /**
   * Lines displaced from the third-level cache.
   */
  VM_PMU_SIGNAL_L3_EVICTIONS = 344,
  /**
   * Cycles of the processor bus.
   */
  VM_PMU_SIGNAL_BUS_CYCLES = 345,
  /**
   * Line reads on the bus for data.
   */
  VM_PMU_SIGNAL_BUS_LINE_READS_DATA = 346,
  /**
   * Line reads on the bus for instructions.
   */
  VM_PMU_SIGNAL_BUS_LINE_READS_INSTRUCTION = 347,
  /**
   * Line reads on the bus that ask for ownership.
   */
  VM_PMU_SIGNAL_BUS_OWNERSHIP_READS = 348,
  /**
   * Requests on the bus that only invalidate.
   */
  VM_PMU_SIGNAL_BUS_INVALIDATIONS = 349,
  /**
   * Reads on the bus of less than a line.
   */
  VM_PMU_SIGNAL_BUS_PARTIAL_READS = 350,
  /**
   * Writes on the bus of less than a line.
   */
  VM_PMU_SIGNAL_BUS_PARTIAL_WRITES = 351,
  /**
   * Line writes on the bus.
   */
  VM_PMU_SIGNAL_BUS_LINE_WRITES = 352,
  /**
   * Reads of input/output space on the bus.
   */
  VM_PMU_SIGNAL_BUS_IO_READS = 353,
  /**
   * Writes of input/output space on the bus.
   */
  VM_PMU_SIGNAL_BUS_IO_WRITES = 354,
  /**
   * Line reads on the bus that another cache held clean.
   */
  VM_PMU_SIGNAL_BUS_READS_HIT_CLEAN = 355,
  /**
   * Line reads on the bus that another cache held modified.
   */
  VM_PMU_SIGNAL_BUS_READS_HIT_MODIFIED = 356,
  /**
   * Ownership reads on the bus that another cache held modified.
   */
  VM_PMU_SIGNAL_BUS_OWNERSHIP_READS_HIT_MODIFIED = 357,
  /**
   * Invalidations on the bus that another cache held modified.
   */
  VM_PMU_SIGNAL_BUS_INVALIDATIONS_HIT_MODIFIED = 358,
  /**
   * Cycles of stall behind the memory pipeline.
   */
  VM_PMU_SIGNAL_STALL_MEMORY_CYCLES = 359,
  /**
   * Cycles lost to a flush by an exception.
   */
  VM_PMU_SIGNAL_FLUSH_EXCEPTION_CYCLES = 360,
  /**
   * Cycles lost to a flush by a mispredicted branch.
   */
  VM_PMU_SIGNAL_FLUSH_BRANCH_CYCLES = 361,
  /**
   * Faults by a data breakpoint register.
   */
  VM_PMU_SIGNAL_DATA_BREAKPOINT_FAULTS = 362,
  /**
   * Checks of integer advanced loads.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS_INTEGER = 363,
  /**
   * Checks of floating-point advanced loads.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS_FLOATING_POINT = 364,
  /**
   * Checks of integer advanced loads whose entry was gone.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS_FAILED_INTEGER = 365,
  /**
   * Checks of floating-point advanced loads whose entry was gone.
   */
  VM_PMU_SIGNAL_ADVANCED_CHECKS_FAILED_FLOATING_POINT = 366,
  /**
   * Checks of integer speculative values that went to recovery.
   */
  VM_PMU_SIGNAL_SPECULATION_CHECKS_FAILED_INTEGER = 367,
  /**
   * Checks of floating-point speculative values that went to recovery.
   */
  VM_PMU_SIGNAL_SPECULATION_CHECKS_FAILED_FLOATING_POINT = 368,
  /**
   * Speculative loads that deferred their fault.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS = 369,
  /**
   * Loads made by the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_LOADS = 370,
  /**
   * Stores made by the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_STORES = 371,
  /**
   * Cycles of stall behind a load that the second-level cache answered.
   */
  VM_PMU_SIGNAL_STALL_LOAD_L2_CYCLES = 372,
  /**
   * Cycles of stall behind a load that the third-level cache answered.
   */
  VM_PMU_SIGNAL_STALL_LOAD_L3_CYCLES = 373,
  /**
   * Cycles of stall behind a load that another core of the package answered.
   */
  VM_PMU_SIGNAL_STALL_LOAD_OTHER_CORE_CYCLES = 374,
  /**
   * Cycles of stall behind a load that the package's own memory answered.
   */
  VM_PMU_SIGNAL_STALL_LOAD_LOCAL_MEMORY_CYCLES = 375,
  /**
   * Cycles of stall behind a load that another package's cache or memory answered.
   */
  VM_PMU_SIGNAL_STALL_LOAD_REMOTE_CYCLES = 376,
  /**
   * Cycles of stall because no store can be buffered.
   */
  VM_PMU_SIGNAL_STALL_STORE_BUFFER_CYCLES = 377,
  /**
   * Cycles of stall behind a locked operation.
   */
  VM_PMU_SIGNAL_STALL_LOCKED_CYCLES = 378,
  /**
   * Cycles of stall behind a serialising operation.
   */
  VM_PMU_SIGNAL_STALL_SERIALIZATION_CYCLES = 379,
  /**
   * Cycles without an instruction to dispatch until the second-level cache delivers code.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_L2_CYCLES = 380,
  /**
   * Cycles without an instruction to dispatch until the third-level cache delivers code.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_L3_CYCLES = 381,
  /**
   * Cycles without an instruction to dispatch until code arrives from beyond the caches of the core.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_MEMORY_CYCLES = 382,
  /**
   * Cycles without an instruction to dispatch until the address of code is translated.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_TRANSLATION_CYCLES = 383,
  /**
   * Cycles without an instruction to dispatch because a taken branch moves the fetcher.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_BUBBLE_CYCLES = 384,
  /**
   * Cycles without an instruction to dispatch after a misprediction.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_MISPREDICTION_CYCLES = 385,
  /**
   * Cycles without an instruction to dispatch after an interrupt, an exception or a far transfer.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_EXCEPTION_CYCLES = 386,
  /**
   * Cycles in which nothing is handed to the issue ports.
   */
  VM_PMU_SIGNAL_DISPERSAL_STALL_CYCLES = 387,
  /**
   * Issue slots left empty in cycles that hand something to the issue ports.
   */
  VM_PMU_SIGNAL_SLOTS_NOT_DISPERSED = 388,
  /**
   * Issue slots counted as empty that were not.
   */
  VM_PMU_SIGNAL_SLOTS_OVERCOUNTED = 389,
  /**
   * Store-conditional instructions that stored.
   */
  VM_PMU_SIGNAL_STORE_CONDITIONALS_SUCCEEDED = 390,
  /**
   * Instructions of IA-32 completed by a processor whose own instruction set is another; they are not among `instructions_retired`.
   */
  VM_PMU_SIGNAL_IA32_INSTRUCTIONS_RETIRED = 391,
  /**
   * Changes between two instruction sets, in either direction.
   */
  VM_PMU_SIGNAL_INSTRUCTION_SET_CHANGES = 392,
  /**
   * times that the core turned to its other thread because this one missed the third-level cache
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_THIRD_LEVEL_MISS = 393,
  /**
   * times that the core turned to its other thread because this one's time was up
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_TIMER = 394,
  /**
   * times that the core turned to its other thread because this one gave a hint
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_HINT = 395,
  /**
   * times that the core turned to its other thread because this one went to low power
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_LOW_POWER = 396,
  /**
   * times that the core turned to its other thread for a debugger
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_DEBUG = 397,
  /**
   * instructions completed that affect the register stack: alloc, calls, returns, loadrs, flushrs, cover, rfi with a valid frame
   */
  VM_PMU_SIGNAL_REGISTER_STACK_EVENTS = 398,
  /**
   * bits 2:0 of the number of stacked registers of the current frame, just before each register_stack_events
   */
  VM_PMU_SIGNAL_REGISTER_STACK_FRAME_LOW = 399,
  /**
   * bits 5:3 of that number
   */
  VM_PMU_SIGNAL_REGISTER_STACK_FRAME_MIDDLE = 400,
  /**
   * bit 6 of that number
   */
  VM_PMU_SIGNAL_REGISTER_STACK_FRAME_HIGH = 401,
  /**
   * bits 2:0 of the number of stacked registers not yet written to memory, just before each register_stack_events
   */
  VM_PMU_SIGNAL_REGISTER_STACK_DIRTY_LOW = 402,
  /**
   * bits 5:3 of that number
   */
  VM_PMU_SIGNAL_REGISTER_STACK_DIRTY_MIDDLE = 403,
  /**
   * bit 6 of that number
   */
  VM_PMU_SIGNAL_REGISTER_STACK_DIRTY_HIGH = 404,
  /**
   * Far control transfers completed whose target was predicted wrongly.
   */
  VM_PMU_SIGNAL_FAR_TRANSFERS_MISPREDICTED = 405,
  /**
   * Loads that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_LOAD_TLB_MISSES_ALL = 406,
  /**
   * Loads that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_LOAD_TLB_L2_MISSES = 407,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from the second level.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_L2 = 408,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from the third level.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_L3 = 409,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from another core of the package.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_CORE = 410,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from memory.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_MEMORY = 411,
  /**
   * Page-table entries of upper levels read for instructions.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALK_DIRECTORIES = 412,
  /**
   * Instructions completed that abort or reclaim a transaction, whatever came of them.
   */
  VM_PMU_SIGNAL_TRANSACTION_ABORT_INSTRUCTIONS = 413,
  /**
   * Instructions of two macro-operations completed, the first of which was decoded in position 0.
   */
  VM_PMU_SIGNAL_DOUBLE_OPERATIONS_POSITION0 = 414,
  /**
   * Instructions of two macro-operations completed, the first of which was decoded in position 1.
   */
  VM_PMU_SIGNAL_DOUBLE_OPERATIONS_POSITION1 = 415,
  /**
   * Instructions of two macro-operations completed, the first of which was decoded in position 2.
   */
  VM_PMU_SIGNAL_DOUBLE_OPERATIONS_POSITION2 = 416,
  /**
   * Bundles with a branch that completed, left by one in the first slot.
   */
  VM_PMU_SIGNAL_BRANCH_BUNDLES_TAKEN_SLOT0 = 417,
  /**
   * Bundles with a branch that completed, left by one in the second slot.
   */
  VM_PMU_SIGNAL_BRANCH_BUNDLES_TAKEN_SLOT1 = 418,
  /**
   * Bundles with a branch that completed, left by one in the third slot.
   */
  VM_PMU_SIGNAL_BRANCH_BUNDLES_TAKEN_SLOT2 = 419,
  /**
   * Bundles with a branch that completed, of which none was taken.
   */
  VM_PMU_SIGNAL_BRANCH_BUNDLES_NOT_TAKEN = 420,
  /**
   * Bundles of several branches, left by one of them.
   */
  VM_PMU_SIGNAL_MULTIWAY_BUNDLES_TAKEN = 421,
  /**
   * Bundles of several branches, of which none was taken.
   */
  VM_PMU_SIGNAL_MULTIWAY_BUNDLES_NOT_TAKEN = 422,
  /**
   * Bundles of several branches, left by one of them, all that completed predicted in full.
   */
  VM_PMU_SIGNAL_MULTIWAY_TAKEN_CORRECT = 423,
  /**
   * Bundles of several branches, left by one of them, the direction of one predicted wrongly.
   */
  VM_PMU_SIGNAL_MULTIWAY_TAKEN_WRONG_PATH = 424,
  /**
   * Bundles of several branches, left by one of them, only the target predicted wrongly.
   */
  VM_PMU_SIGNAL_MULTIWAY_TAKEN_WRONG_TARGET = 425,
  /**
   * Bundles of several branches, of which none was taken, all that completed predicted in full.
   */
  VM_PMU_SIGNAL_MULTIWAY_NOT_TAKEN_CORRECT = 426,
  /**
   * Bundles of several branches, of which none was taken, the direction of one predicted wrongly.
   */
  VM_PMU_SIGNAL_MULTIWAY_NOT_TAKEN_WRONG_PATH = 427,
  /**
   * Branches completed that were predicted by a target address register, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_FIRST_STAGE_BRANCHES_NOT_TAKEN_MISPREDICTED = 428,
  /**
   * Branches completed that were predicted by a target address register, taken and predicted in full.
   */
  VM_PMU_SIGNAL_FIRST_STAGE_BRANCHES_TAKEN_PREDICTED = 429,
  /**
   * Branches completed that were predicted by a target address register, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_FIRST_STAGE_BRANCHES_TAKEN_WRONG_TARGET = 430,
  /**
   * Branches completed that were predicted by tables and remembered targets, not taken and predicted so.
   */
  VM_PMU_SIGNAL_SECOND_STAGE_BRANCHES_NOT_TAKEN_PREDICTED = 431,
  /**
   * Branches completed that were predicted by tables and remembered targets, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_SECOND_STAGE_BRANCHES_NOT_TAKEN_MISPREDICTED = 432,
  /**
   * Branches completed that were predicted by tables and remembered targets, taken and predicted in full.
   */
  VM_PMU_SIGNAL_SECOND_STAGE_BRANCHES_TAKEN_PREDICTED = 433,
  /**
   * Branches completed that were predicted by tables and remembered targets, taken and predicted not taken.
   */
  VM_PMU_SIGNAL_SECOND_STAGE_BRANCHES_TAKEN_MISPREDICTED = 434,
  /**
   * Branches completed that were predicted by tables and remembered targets, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_SECOND_STAGE_BRANCHES_TAKEN_WRONG_TARGET = 435,
  /**
   * Branches completed that were predicted by their own encoding, not taken and predicted so.
   */
  VM_PMU_SIGNAL_THIRD_STAGE_BRANCHES_NOT_TAKEN_PREDICTED = 436,
  /**
   * Branches completed that were predicted by their own encoding, not taken and predicted taken.
   */
  VM_PMU_SIGNAL_THIRD_STAGE_BRANCHES_NOT_TAKEN_MISPREDICTED = 437,
  /**
   * Branches completed that were predicted by their own encoding, taken and predicted in full.
   */
  VM_PMU_SIGNAL_THIRD_STAGE_BRANCHES_TAKEN_PREDICTED = 438,
  /**
   * Branches completed that were predicted by their own encoding, taken and predicted not taken.
   */
  VM_PMU_SIGNAL_THIRD_STAGE_BRANCHES_TAKEN_MISPREDICTED = 439,
  /**
   * Branches completed that were predicted by their own encoding, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_THIRD_STAGE_BRANCHES_TAKEN_WRONG_TARGET = 440,
  /**
   * Branches to a relative target completed behind one of the same bundle that was predicted taken, not taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_RELATIVE_BRANCHES_NOT_TAKEN = 441,
  /**
   * Branches to a relative target completed behind one of the same bundle that was predicted taken, taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_RELATIVE_BRANCHES_TAKEN = 442,
  /**
   * Branches that return completed behind one of the same bundle that was predicted taken, not taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_RETURN_BRANCHES_NOT_TAKEN = 443,
  /**
   * Branches that return completed behind one of the same bundle that was predicted taken, taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_RETURN_BRANCHES_TAKEN = 444,
  /**
   * Branches to an indirect target, returns not among them, completed behind one of the same bundle that was predicted taken, not taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_INDIRECT_BRANCHES_NOT_TAKEN = 445,
  /**
   * Branches to an indirect target, returns not among them, completed behind one of the same bundle that was predicted taken, taken.
   */
  VM_PMU_SIGNAL_UNKNOWN_INDIRECT_BRANCHES_TAKEN = 446,
  /**
   * Branches completed in a bundle with a branch in its first slot, predicted in full.
   */
  VM_PMU_SIGNAL_ENCODED_BRANCHES_CORRECT = 447,
  /**
   * Branches completed in a bundle with a branch in its first slot, their direction predicted wrongly.
   */
  VM_PMU_SIGNAL_ENCODED_BRANCHES_WRONG_PATH = 448,
  /**
   * Branches completed in a bundle with a branch in its first slot, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_ENCODED_BRANCHES_WRONG_TARGET = 449,
  /**
   * Branches completed in a bundle that begins with a branch and follows others in the same group, predicted in full.
   */
  VM_PMU_SIGNAL_OVERSUBSCRIBED_BRANCHES_CORRECT = 450,
  /**
   * Branches completed in a bundle that begins with a branch and follows others in the same group, their direction predicted wrongly.
   */
  VM_PMU_SIGNAL_OVERSUBSCRIBED_BRANCHES_WRONG_PATH = 451,
  /**
   * Branches completed in a bundle that begins with a branch and follows others in the same group, taken with the wrong target predicted.
   */
  VM_PMU_SIGNAL_OVERSUBSCRIBED_BRANCHES_WRONG_TARGET = 452,
  /**
   * Returns completed, taken and predicted so, that restored another function state than the call had saved.
   */
  VM_PMU_SIGNAL_RETURN_FRAMES_MISPREDICTED = 453,
  /**
   * Accesses to data in a page of 4 KiB that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_DATA_TLB_MISSES_4K = 454,
  /**
   * Accesses to data in a page of 64 KiB that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_DATA_TLB_MISSES_64K = 455,
  /**
   * Accesses to data in a page of 2 MiB to 16 MiB that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_DATA_TLB_MISSES_2M = 456,
  /**
   * Accesses to data in a page of 1 GiB or more that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_DATA_TLB_MISSES_1G = 457,
  /**
   * Accesses to data in a page of 4 KiB that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_DATA_TLB_L2_MISSES_4K = 458,
  /**
   * Accesses to data in a page of 64 KiB that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_DATA_TLB_L2_MISSES_64K = 459,
  /**
   * Accesses to data in a page of 2 MiB to 16 MiB that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_DATA_TLB_L2_MISSES_2M = 460,
  /**
   * Accesses to data in a page of 1 GiB or more that missed every level of the translation buffers.
   */
  VM_PMU_SIGNAL_DATA_TLB_L2_MISSES_1G = 461,
  /**
   * Fetches from a page of 4 KiB that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_MISSES_4K = 462,
  /**
   * Fetches from a page of 64 KiB that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_MISSES_64K = 463,
  /**
   * Fetches from a page of 2 MiB or more that missed the first-level translation buffer, whatever the next level had.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TLB_MISSES_2M = 464,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from the package's own memory.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_LOCAL_MEMORY = 465,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from another package's memory.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_REMOTE_MEMORY = 466,
  /**
   * Page-table entries for data that a walk ends on, those of upper levels left out, read from another package's cache, modified there.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_PACKAGE_MODIFIED = 467,
  /**
   * Page-table entries for instructions read from the package's own memory.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_LOCAL_MEMORY = 468,
  /**
   * Page-table entries for instructions read from another package's memory.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_REMOTE_MEMORY = 469,
  /**
   * Page-table entries for instructions read from another package's cache, modified there.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_PACKAGE_MODIFIED = 470,
  /**
   * Walks that began below an entry of the first level, counted from the root, because the walk cache had that entry.
   */
  VM_PMU_SIGNAL_WALK_CACHE_HITS_LEVEL1 = 471,
  /**
   * Walks that began below an entry of the second level, counted from the root, because the walk cache had that entry.
   */
  VM_PMU_SIGNAL_WALK_CACHE_HITS_LEVEL2 = 472,
  /**
   * Walks that began below an entry of the third level, counted from the root, because the walk cache had that entry.
   */
  VM_PMU_SIGNAL_WALK_CACHE_HITS_LEVEL3 = 473,
  /**
   * Entries of the first level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL1_FROM_L2 = 474,
  /**
   * Entries of the first level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL1_FROM_L3 = 475,
  /**
   * Entries of the first level of page tables, counted from the root, that lead to a further level, read from beyond the caches of the core.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL1_FROM_BEYOND = 476,
  /**
   * Entries of the second level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL2_FROM_L2 = 477,
  /**
   * Entries of the second level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL2_FROM_L3 = 478,
  /**
   * Entries of the third level of page tables, counted from the root, that lead to a further level, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL3_FROM_L2 = 479,
  /**
   * Entries of the third level of page tables, counted from the root, that lead to a further level, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_DIRECTORIES_LEVEL3_FROM_L3 = 480,
  /**
   * Entries of the second level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL2_FROM_L2 = 481,
  /**
   * Entries of the second level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL2_FROM_L3 = 482,
  /**
   * Entries of the second level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL2_FROM_BEYOND = 483,
  /**
   * Entries of the third level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL3_FROM_L2 = 484,
  /**
   * Entries of the third level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL3_FROM_L3 = 485,
  /**
   * Entries of the third level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL3_FROM_BEYOND = 486,
  /**
   * Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from the second-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL4_FROM_L2 = 487,
  /**
   * Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from the third-level cache.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL4_FROM_L3 = 488,
  /**
   * Entries of the fourth level of page tables, counted from the root, that a walk ends on, read from beyond the caches of the core.
   */
  VM_PMU_SIGNAL_WALK_LEAVES_LEVEL4_FROM_BEYOND = 489,
  /**
   * Lines of data that the prefetcher asked for and that the second-level cache did not have, the third-level cache already had.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_FROM_L3 = 490,
  /**
   * Lines of data that the prefetcher asked for and that the second-level cache did not have, another core of the package answered.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_FROM_OTHER_CORE = 491,
  /**
   * Lines of data that the prefetcher asked for and that the second-level cache did not have, a cache of another package answered.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_FROM_OTHER_PACKAGE = 492,
  /**
   * Lines of data that the prefetcher asked for and that the second-level cache did not have, the package's own memory answered.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_FROM_LOCAL_MEMORY = 493,
  /**
   * Lines of data that the prefetcher asked for and that the second-level cache did not have, another package's memory answered.
   */
  VM_PMU_SIGNAL_DATA_PREFETCHES_FROM_REMOTE_MEMORY = 494,
  /**
   * Instructions completed that begin a transaction inside another.
   */
  VM_PMU_SIGNAL_NESTED_TRANSACTION_BEGINS = 495,
  /**
   * Instructions completed that end a transaction inside another.
   */
  VM_PMU_SIGNAL_NESTED_TRANSACTION_ENDS = 496,
  /**
   * Instructions completed that suspend a transaction.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_SUSPENDED = 497,
  /**
   * Instructions completed that resume a suspended transaction.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_RESUMED = 498,
  /**
   * Loads completed that waited because an earlier store had only part of their bytes.
   */
  VM_PMU_SIGNAL_LOADS_RECYCLED_OVERLAP = 499,
  /**
   * Loads completed that waited because an earlier store to their bytes had no data yet.
   */
  VM_PMU_SIGNAL_LOADS_RECYCLED_DATA = 500,
  /**
   * Loads completed that needed a second try, whatever the reason, once each.
   */
  VM_PMU_SIGNAL_LOADS_RECYCLED = 501,
  /**
   * Stores completed that found no place for their address.
   */
  VM_PMU_SIGNAL_STORES_RECYCLED_ADDRESS = 502,
  /**
   * Stores completed that needed a second try, whatever the reason, once each.
   */
  VM_PMU_SIGNAL_STORES_RECYCLED = 503,
  /**
   * Cycles in which the next micro-operation finds a reservation station full, whether or not another is dispatched.
   */
  VM_PMU_SIGNAL_RESERVATION_STATION_FULL_CYCLES = 504,
  /**
   * Cycles in which the next micro-operation finds the reservation station of memory full, whether or not another is dispatched.
   */
  VM_PMU_SIGNAL_RESERVATION_STATION_FULL_MEMORY_CYCLES = 505,
  /**
   * Flows of microcode begun, those of exceptions and interrupts among them.
   */
  VM_PMU_SIGNAL_MICROCODE_ENTRIES = 506,
  /**
   * Cycles in which a line of code that the instruction cache lacks is on its way, whether or not anything waits for it.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_FILL_PENDING_CYCLES = 507,
  /**
   * Returns completed whose target a later stage of the front end found.
   */
  VM_PMU_SIGNAL_FRONT_END_RESTEERS_RETURNS = 508,
  /**
   * Conditional branches completed whose target a later stage of the front end found.
   */
  VM_PMU_SIGNAL_FRONT_END_RESTEERS_CONDITIONAL = 509,
  /**
   * Loads whose line another core that shares the second-level cache had modified in its first-level cache.
   */
  VM_PMU_SIGNAL_LOADS_FROM_SIBLING_CORE_MODIFIED = 510,
  /**
   * Cycles in which all instructions in flight have finished, and the oldest is about to complete.
   */
  VM_PMU_SIGNAL_ALL_FINISHED_CYCLES = 511,
  /**
   * Cycles in which all instructions in flight have finished, and something keeps the oldest from completing.
   */
  VM_PMU_SIGNAL_THREAD_BLOCKED_CYCLES = 512,
  /**
   * Cycles in which an exception keeps the oldest instruction, which has finished, from completing.
   */
  VM_PMU_SIGNAL_BLOCKED_EXCEPTION_CYCLES = 513,
  /**
   * Cycles without an instruction in flight after a mispredicted branch, whose target missed the first-level instruction cache.
   */
  VM_PMU_SIGNAL_FRONT_END_EMPTY_MISPREDICTION_MISS_CYCLES = 514,
  /**
   * Cycles without an instruction in flight, in which dispatch is held.
   */
  VM_PMU_SIGNAL_EMPTY_HELD_CYCLES = 515,
  /**
   * Cycles without an instruction in flight, in which dispatch is held until everything before has completed.
   */
  VM_PMU_SIGNAL_EMPTY_HELD_SYNCHRONIZATION_CYCLES = 516,
  /**
   * Cycles in which the oldest unfinished instruction has not been issued.
   */
  VM_PMU_SIGNAL_ISSUE_HELD_CYCLES = 517,
  /**
   * Cycles in which the oldest unfinished instruction has not been issued, because another operation took its port.
   */
  VM_PMU_SIGNAL_ISSUE_HELD_ARBITRATION_CYCLES = 518,
  /**
   * Cycles in which the oldest unfinished instruction has not been issued, for another reason than its port.
   */
  VM_PMU_SIGNAL_ISSUE_HELD_OTHER_CYCLES = 519,
  /**
   * Cycles in which the oldest unfinished instruction is one of the fixed-point unit.
   */
  VM_PMU_SIGNAL_STALL_FIXED_CYCLES = 520,
  /**
   * Cycles in which the oldest unfinished instruction is a slow one of the fixed-point unit, such as a division.
   */
  VM_PMU_SIGNAL_STALL_FIXED_LONG_CYCLES = 521,
  /**
   * Cycles in which the oldest unfinished instruction is a scalar floating-point one.
   */
  VM_PMU_SIGNAL_STALL_FLOAT_SCALAR_CYCLES = 522,
  /**
   * Cycles in which the oldest unfinished instruction is a slow scalar floating-point one, such as a division.
   */
  VM_PMU_SIGNAL_STALL_FLOAT_SCALAR_LONG_CYCLES = 523,
  /**
   * Cycles in which the oldest unfinished instruction is a decimal or quad-precision one.
   */
  VM_PMU_SIGNAL_STALL_DECIMAL_CYCLES = 524,
  /**
   * Cycles in which the oldest unfinished instruction is a slow decimal or quad-precision one, such as a division.
   */
  VM_PMU_SIGNAL_STALL_DECIMAL_LONG_CYCLES = 525,
  /**
   * Cycles in which the oldest unfinished instruction is a permutation.
   */
  VM_PMU_SIGNAL_STALL_PERMUTE_CYCLES = 526,
  /**
   * Cycles in which the oldest unfinished instruction is a cryptographic one.
   */
  VM_PMU_SIGNAL_STALL_CRYPTO_CYCLES = 527,
  /**
   * Cycles in which the oldest unfinished instruction works on a vector of integers.
   */
  VM_PMU_SIGNAL_STALL_VECTOR_FIXED_CYCLES = 528,
  /**
   * Cycles in which the oldest unfinished instruction is a slow one of a vector of integers, such as a multiplication.
   */
  VM_PMU_SIGNAL_STALL_VECTOR_FIXED_LONG_CYCLES = 529,
  /**
   * Cycles in which the oldest unfinished instruction works on a vector of floating-point numbers.
   */
  VM_PMU_SIGNAL_STALL_FLOAT_VECTOR_CYCLES = 530,
  /**
   * Cycles in which the oldest unfinished instruction is a slow one of a vector of floating-point numbers, such as a division.
   */
  VM_PMU_SIGNAL_STALL_FLOAT_VECTOR_LONG_CYCLES = 531,
  /**
   * Cycles in which the oldest unfinished instruction is a branch.
   */
  VM_PMU_SIGNAL_STALL_BRANCH_CYCLES = 532,
  /**
   * Cycles in which the oldest unfinished instruction is one that no unit executes.
   */
  VM_PMU_SIGNAL_STALL_DISPATCH_FINISH_CYCLES = 533,
  /**
   * Cycles in which the oldest unfinished instruction is an access that found its slice of the load/store unit taken.
   */
  VM_PMU_SIGNAL_STALL_ADDRESS_ARBITRATION_CYCLES = 534,
  /**
   * Cycles in which the oldest unfinished instruction is an access that waits for a place in the queue for translations.
   */
  VM_PMU_SIGNAL_STALL_TRANSLATION_QUEUE_FULL_CYCLES = 535,
  /**
   * Cycles in which the oldest unfinished instruction is a load that waits for a place in the queue for missing lines.
   */
  VM_PMU_SIGNAL_STALL_MISS_QUEUE_FULL_CYCLES = 536,
  /**
   * Cycles in which the oldest unfinished instruction is a load that waits for the data of a store.
   */
  VM_PMU_SIGNAL_STALL_STORE_DATA_WAIT_CYCLES = 537,
  /**
   * Cycles in which the oldest unfinished instruction is a load that takes its data from a store.
   */
  VM_PMU_SIGNAL_STALL_STORE_FORWARD_CYCLES = 538,
  /**
   * Cycles in which the oldest unfinished instruction is a load that passes through the pipeline.
   */
  VM_PMU_SIGNAL_STALL_LOAD_FINISH_CYCLES = 539,
  /**
   * Cycles in which the oldest unfinished instruction is a load that lies in two slices.
   */
  VM_PMU_SIGNAL_STALL_SPLIT_LOAD_CYCLES = 540,
  /**
   * Cycles in which the oldest unfinished instruction is a load that makes a reservation.
   */
  VM_PMU_SIGNAL_STALL_LOAD_RESERVE_CYCLES = 541,
  /**
   * Cycles in which the oldest unfinished instruction is a store that waits for its data.
   */
  VM_PMU_SIGNAL_STALL_STORE_DATA_CYCLES = 542,
  /**
   * Cycles in which the oldest unfinished instruction is a store that passes through the pipeline.
   */
  VM_PMU_SIGNAL_STALL_STORE_FINISH_CYCLES = 543,
  /**
   * Cycles in which the oldest unfinished instruction is one of the load/store unit that neither loads nor stores.
   */
  VM_PMU_SIGNAL_STALL_LOAD_STORE_OTHER_CYCLES = 544,
  /**
   * Cycles in which dispatch is held because the issue queues are full.
   */
  VM_PMU_SIGNAL_DISPATCH_HELD_ISSUE_QUEUE_CYCLES = 545,
  /**
   * Cycles in which dispatch is held because the history buffer is full.
   */
  VM_PMU_SIGNAL_DISPATCH_HELD_HISTORY_CYCLES = 546,
  /**
   * Cycles in which decode waits for a place in the completion table.
   */
  VM_PMU_SIGNAL_DECODE_HELD_WINDOW_CYCLES = 547,
  /**
   * Cycles in which decode waits for a place in the table of predicted branches.
   */
  VM_PMU_SIGNAL_BRANCH_TABLE_FULL_CYCLES = 548,
  /**
   * Cycles in which fetch waits for a place in the instruction buffer.
   */
  VM_PMU_SIGNAL_FETCH_BUFFER_FULL_CYCLES = 549,
  /**
   * Cycles in which fetch waits for an instruction that flushes what is behind it.
   */
  VM_PMU_SIGNAL_FETCH_STOPPED_CYCLES = 550,
  /**
   * Loads that took their data from a store before the store was written.
   */
  VM_PMU_SIGNAL_LOADS_FORWARDED = 551,
  /**
   * Loads that were launched before the data of a store were there that they need.
   */
  VM_PMU_SIGNAL_REJECTS_STORE_DATA = 552,
  /**
   * Accesses that were launched and lacked their translation.
   */
  VM_PMU_SIGNAL_REJECTS_TRANSLATION = 553,
  /**
   * Loads that missed and found no place in the queue for missing lines.
   */
  VM_PMU_SIGNAL_REJECTS_MISS_QUEUE = 554,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for a general register.
   */
  VM_PMU_SIGNAL_STALL_GENERAL_REGISTERS_CYCLES = 555,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for a general register that no load brings.
   */
  VM_PMU_SIGNAL_STALL_GENERAL_REGISTERS_NO_LOAD_CYCLES = 556,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for a floating-point register.
   */
  VM_PMU_SIGNAL_STALL_FLOATING_REGISTERS_CYCLES = 557,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for a predicate.
   */
  VM_PMU_SIGNAL_STALL_PREDICATES_CYCLES = 558,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for an application or control register.
   */
  VM_PMU_SIGNAL_STALL_SPECIAL_REGISTERS_CYCLES = 559,
  /**
   * Cycles in which the execution stage of an in-order pipeline waits for a predicate, or an application or control register.
   */
  VM_PMU_SIGNAL_STALL_SPECIAL_OR_PREDICATES_CYCLES = 560,
  /**
   * Cycles in which renaming waits for stores of the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_SPILL_STALL_CYCLES = 561,
  /**
   * Cycles in which renaming waits for loads of the register stack engine.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_FILL_STALL_CYCLES = 562,
  /**
   * Cycles in which renaming waits for loads of the register stack engine that `loadrs` asks for.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_LOAD_STALL_CYCLES = 563,
  /**
   * Cycles in which renaming waits for a register of the register stack engine that was written before.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_REGISTER_STALL_CYCLES = 564,
  /**
   * Cycles in which renaming waits for a switch of the bank of general registers.
   */
  VM_PMU_SIGNAL_REGISTER_STACK_BANK_STALL_CYCLES = 565,
  /**
   * Cycles in which an in-order pipeline waits for the first-level data cache, whatever the reason.
   */
  VM_PMU_SIGNAL_STALL_DATA_CACHE_CYCLES = 566,
  /**
   * Cycles in which an in-order pipeline waits because no place is free for another line on its way to the first-level data cache.
   */
  VM_PMU_SIGNAL_STALL_FILL_BUFFER_CYCLES = 567,
  /**
   * Cycles in which an in-order pipeline waits for a walk of page tables for data.
   */
  VM_PMU_SIGNAL_STALL_DATA_WALK_CYCLES = 568,
  /**
   * Cycles in which an in-order pipeline waits while a translation of data comes from the second-level buffer to the first.
   */
  VM_PMU_SIGNAL_STALL_DATA_TRANSFER_CYCLES = 569,
  /**
   * Cycles in which an in-order pipeline waits because a store meets a line that is being written into the first-level data cache.
   */
  VM_PMU_SIGNAL_STALL_FILL_CONFLICT_CYCLES = 570,
  /**
   * Cycles in which an in-order pipeline waits for a serialization of data, until the registers written before are in effect.
   */
  VM_PMU_SIGNAL_STALL_DATA_SERIALIZATION_CYCLES = 571,
  /**
   * Cycles in which an in-order pipeline waits because the queue of the second-level data cache is full.
   */
  VM_PMU_SIGNAL_STALL_SECOND_LEVEL_QUEUE_CYCLES = 572,
  /**
   * Cycles in which an in-order pipeline waits because an access must not pass an ordered one before it.
   */
  VM_PMU_SIGNAL_STALL_ORDERING_CYCLES = 573,
  /**
   * Cycles in which an in-order pipeline waits because a NaT bit is read that was collected just before.
   */
  VM_PMU_SIGNAL_STALL_COLLECTED_NAT_CYCLES = 574,
  /**
   * Cycles in which the front end delivers no bundle after a flush.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_FLUSH_CYCLES = 575,
  /**
   * Cycles in which the front end delivers no bundle because it waits for a translation.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_TRANSLATION_CYCLES = 576,
  /**
   * Cycles in which the front end delivers no bundle because it waits for a line.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_MISS_CYCLES = 577,
  /**
   * Cycles in which the front end delivers no bundle at the end of a counted loop.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_LOOP_CYCLES = 578,
  /**
   * Cycles in which the front end delivers no bundle because a line that it waited for is being written.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_FILL_CYCLES = 579,
  /**
   * Cycles in which the front end delivers no bundle because it turns to the target of a branch.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_BUBBLE_CYCLES = 580,
  /**
   * Cycles in which the front end delivers no bundle because the instruction buffer is full.
   */
  VM_PMU_SIGNAL_FETCH_IDLE_FULL_CYCLES = 581,
  /**
   * Bundles, of two a cycle, that the front end does not deliver after a flush.
   */
  VM_PMU_SIGNAL_FETCH_LOST_FLUSH_BUNDLES = 582,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because it waits for a translation.
   */
  VM_PMU_SIGNAL_FETCH_LOST_TRANSLATION_BUNDLES = 583,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because it waits for a line.
   */
  VM_PMU_SIGNAL_FETCH_LOST_MISS_BUNDLES = 584,
  /**
   * Bundles, of two a cycle, that the front end does not deliver at the end of a counted loop.
   */
  VM_PMU_SIGNAL_FETCH_LOST_LOOP_BUNDLES = 585,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because a line that it waited for is being written.
   */
  VM_PMU_SIGNAL_FETCH_LOST_FILL_BUNDLES = 586,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because it turns to the target of a branch.
   */
  VM_PMU_SIGNAL_FETCH_LOST_BUBBLE_BUNDLES = 587,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because the instruction buffer is full.
   */
  VM_PMU_SIGNAL_FETCH_LOST_FULL_BUNDLES = 588,
  /**
   * Bundles, of two a cycle, that the front end does not deliver because execution enters at the second or leaves after the first.
   */
  VM_PMU_SIGNAL_FETCH_LOST_UNREACHED_BUNDLES = 589,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, after a flush.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_FLUSH_BUNDLES = 590,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, as the front end waits for a translation.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_TRANSLATION_BUNDLES = 591,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, as the front end waits for a line.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_MISS_BUNDLES = 592,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, at the end of a counted loop.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_LOOP_BUNDLES = 593,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, as a line that was waited for is being written.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_FILL_BUNDLES = 594,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, as the front end turns to the target of a branch.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_BUBBLE_BUNDLES = 595,
  /**
   * Bundles, of two a cycle, that dispersal lacks without a stall, behind a taken branch or before the target of one.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_UNREACHED_BUNDLES = 596,
  /**
   * Bundles, of two a cycle, that dispersal lacks, after a flush.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_FLUSH_BUNDLES = 597,
  /**
   * Bundles, of two a cycle, that dispersal lacks, as the front end waits for a translation.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_TRANSLATION_BUNDLES = 598,
  /**
   * Bundles, of two a cycle, that dispersal lacks, as the front end waits for a line.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_MISS_BUNDLES = 599,
  /**
   * Bundles, of two a cycle, that dispersal lacks, at the end of a counted loop.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_LOOP_BUNDLES = 600,
  /**
   * Bundles, of two a cycle, that dispersal lacks, as a line that was waited for is being written.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_FILL_BUNDLES = 601,
  /**
   * Bundles, of two a cycle, that dispersal lacks, as the front end turns to the target of a branch.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_BUBBLE_BUNDLES = 602,
  /**
   * Bundles, of two a cycle, that dispersal lacks, behind a taken branch or before the target of one.
   */
  VM_PMU_SIGNAL_SUPPLY_LOST_IDEAL_UNREACHED_BUNDLES = 603,
  /**
   * Issue slots not used in a cycle in which dispersal does not stall, as a stop ends the group.
   */
  VM_PMU_SIGNAL_SLOTS_NOT_DISPERSED_STOP = 604,
  /**
   * Issue slots not used in a cycle in which dispersal does not stall, as the processor ends the group, as it has no unit left.
   */
  VM_PMU_SIGNAL_SLOTS_NOT_DISPERSED_IMPLICIT = 605,
  /**
   * Issue slots not used in a cycle in which dispersal does not stall, as the front end has no bundle.
   */
  VM_PMU_SIGNAL_SLOTS_NOT_DISPERSED_FRONT_END = 606,
  /**
   * Issue slots not used in a cycle in which dispersal does not stall, as a long instruction takes two, or as they were used before.
   */
  VM_PMU_SIGNAL_SLOTS_NOT_DISPERSED_LONG = 607,
  /**
   * Issue slots that count as not used although they are or were, before a stop in their bundle.
   */
  VM_PMU_SIGNAL_SLOTS_OVERCOUNTED_STOP = 608,
  /**
   * Issue slots that count as not used although they are or were, before the end of a group within their bundle without a stop.
   */
  VM_PMU_SIGNAL_SLOTS_OVERCOUNTED_IMPLICIT = 609,
  /**
   * The pipeline began anew, as another processor wrote to the line of code that was being executed.
   */
  VM_PMU_SIGNAL_INSTRUCTION_STREAM_RESTARTS = 610,
  /**
   * Cycles in which a group of an in-order pipeline completes that no want of units has held back.
   */
  VM_PMU_SIGNAL_INHERENT_EXECUTION_CYCLES = 611,
  /**
   * Cycles in which a group of an in-order pipeline completes that want of units, or a rule of bundles, has split from the one before it.
   */
  VM_PMU_SIGNAL_ISSUE_LIMIT_CYCLES = 612,
  /**
   * Flushes of an in-order pipeline because another unit asked too soon for a parallel result.
   */
  VM_PMU_SIGNAL_FLUSHES_BYPASS = 613,
  /**
   * Flushes of an in-order pipeline for mispredicted branches, exceptions, failed checks and serialization.
   */
  VM_PMU_SIGNAL_FLUSHES_OTHER = 614,
  /**
   * Groups of instructions that a stop of the program ended.
   */
  VM_PMU_SIGNAL_STOPS_DISPERSED = 615,
  /**
   * Groups of instructions that the processor ended, for want of units or by a rule of bundles.
   */
  VM_PMU_SIGNAL_IMPLICIT_STOPS_DISPERSED = 616,
  /**
   * Floating-point operations that complete together, modulo four.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_OPERATIONS_LOW = 617,
  /**
   * Floating-point operations that complete together, in fours.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_OPERATIONS_HIGH = 618,
  /**
   * Advanced loads of general registers, and check loads that keep their entries, which took the place of another entry in the ALAT, or one of its last places as the part counts them.
   */
  VM_PMU_SIGNAL_ADVANCED_LOAD_REPLACEMENTS_INTEGER = 619,
  /**
   * The same of floating-point registers.
   */
  VM_PMU_SIGNAL_ADVANCED_LOAD_REPLACEMENTS_FLOATING_POINT = 620,
  /**
   * Instructions that other threads of the core completed in cycles in which the oldest unfinished instruction of this one had been issued.
   */
  VM_PMU_SIGNAL_INSTRUCTIONS_OTHER_THREADS_STALLED = 621,
  /**
   * Cycles with nothing in flight, as the next instruction waits for a place for the results that it replaces.
   */
  VM_PMU_SIGNAL_EMPTY_HELD_HISTORY_CYCLES = 622,
  /**
   * Cycles with nothing in flight, as the next instruction waits for a place in an issue queue.
   */
  VM_PMU_SIGNAL_EMPTY_HELD_ISSUE_QUEUE_CYCLES = 623,
  /**
   * Cycles with nothing in flight, as a transaction does not begin before the one before has ended.
   */
  VM_PMU_SIGNAL_EMPTY_HELD_TRANSACTION_CYCLES = 624,
  /**
   * Cycles in which dispatch is held for the answer to an invalidation of translations.
   */
  VM_PMU_SIGNAL_DISPATCH_HELD_INVALIDATION_CYCLES = 625,
  /**
   * Cycles in which dispatch is held as a transaction does not begin before the one before has ended.
   */
  VM_PMU_SIGNAL_DISPATCH_HELD_TRANSACTION_CYCLES = 626,
  /**
   * Cycles in which a sixth of the issue queues' entries at most, of all threads of the core, are in use.
   */
  VM_PMU_SIGNAL_ISSUE_QUEUE_LOW_CYCLES = 627,
  /**
   * Cycles in which four fifths of the issue queues' entries at least, of all threads of the core, are in use.
   */
  VM_PMU_SIGNAL_ISSUE_QUEUE_HIGH_CYCLES = 628,
  /**
   * Cycles in which three entries at most of the first recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE0_0_3_CYCLES = 629,
  /**
   * Cycles in which four to six entries of the first recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE0_4_6_CYCLES = 630,
  /**
   * Cycles in which seven to nine entries of the first recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE0_7_9_CYCLES = 631,
  /**
   * Cycles in which ten entries at least of the first recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE0_10_12_CYCLES = 632,
  /**
   * Cycles in which three entries at most of the second recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE1_0_3_CYCLES = 633,
  /**
   * Cycles in which four to six entries of the second recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE1_4_6_CYCLES = 634,
  /**
   * Cycles in which seven to nine entries of the second recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE1_7_9_CYCLES = 635,
  /**
   * Cycles in which ten entries at least of the second recirculation queue are in use.
   */
  VM_PMU_SIGNAL_RECIRCULATION_QUEUE1_10_12_CYCLES = 636,
  /**
   * Cycles in which the oldest unfinished instruction is not issued, as the recirculation queue is full.
   */
  VM_PMU_SIGNAL_ISSUE_HELD_RECIRCULATION_CYCLES = 637,
  /**
   * Stores that the recirculation queues of the core passed on.
   */
  VM_PMU_SIGNAL_STORES_ISSUED = 638,
  /**
   * Cycles in which each slice of the core's queue of stores is full.
   */
  VM_PMU_SIGNAL_STORE_QUEUE_FULL_CYCLES = 639,
  /**
   * Cycles in which a slice of the core's queue of stores is empty.
   */
  VM_PMU_SIGNAL_STORE_QUEUE_SLICE_EMPTY_CYCLES = 640,
  /**
   * Cycles in which the core has neither missed loads nor queued stores.
   */
  VM_PMU_SIGNAL_LOAD_STORE_EMPTY_CYCLES = 641,
  /**
   * Cycles in which the thread has no missed load.
   */
  VM_PMU_SIGNAL_MISS_QUEUE_EMPTY_CYCLES = 642,
  /**
   * Cycles in which the core's queue of missed loads is full.
   */
  VM_PMU_SIGNAL_MISS_QUEUE_FULL_CYCLES = 643,
  /**
   * Cycles in which the queue between that of stores and the second level is full.
   */
  VM_PMU_SIGNAL_SECOND_STORE_QUEUE_FULL_CYCLES = 644,
  /**
   * Cycles in which the first queue of finished loads is full.
   */
  VM_PMU_SIGNAL_FINISHED_LOAD_QUEUE0_FULL_CYCLES = 645,
  /**
   * Cycles in which the second queue of finished loads is full.
   */
  VM_PMU_SIGNAL_FINISHED_LOAD_QUEUE1_FULL_CYCLES = 646,
  /**
   * Cycles in which the thread has the first entry of the queue of stores.
   */
  VM_PMU_SIGNAL_STORE_QUEUE_ENTRY_CYCLES = 647,
  /**
   * Cycles in which the thread has the first entry of the queue of loads.
   */
  VM_PMU_SIGNAL_LOAD_QUEUE_ENTRY_CYCLES = 648,
  /**
   * Cycles in which the thread has the first entry of the queue of missed loads.
   */
  VM_PMU_SIGNAL_MISS_QUEUE_ENTRY_CYCLES = 649,
  /**
   * Cycles in which a barrier is in the queue to the second level.
   */
  VM_PMU_SIGNAL_BARRIER_QUEUED_CYCLES = 650,
  /**
   * Cycles in which every fixed-point unit of the core is at work.
   */
  VM_PMU_SIGNAL_FIXED_UNITS_ALL_BUSY_CYCLES = 651,
  /**
   * Cycles in which no fixed-point unit of the core is at work.
   */
  VM_PMU_SIGNAL_FIXED_UNITS_IDLE_CYCLES = 652,
  /**
   * Cycles in which a fixed-point unit of the core is at work.
   */
  VM_PMU_SIGNAL_FIXED_UNITS_BUSY_CYCLES = 653,
  /**
   * Cycles in which every floating-point unit of the core is at work.
   */
  VM_PMU_SIGNAL_FLOAT_UNITS_ALL_BUSY_CYCLES = 654,
  /**
   * Cycles in which the core's unit of decimal numbers is at work.
   */
  VM_PMU_SIGNAL_DECIMAL_UNIT_BUSY_CYCLES = 655,
  /**
   * Stalls that ended with nothing in flight.
   */
  VM_PMU_SIGNAL_STALLS_ENDED_EMPTY = 656,
  /**
   * Cycles that the oldest instruction waits for a flush of itself.
   */
  VM_PMU_SIGNAL_STALL_OLDEST_FLUSH_CYCLES = 657,
  /**
   * Flushes of the oldest instruction in place of its completion.
   */
  VM_PMU_SIGNAL_OLDEST_FLUSHES = 658,
  /**
   * Cycles that the oldest instruction, which has finished, waits for a flush of any thread.
   */
  VM_PMU_SIGNAL_BLOCKED_FLUSH_CYCLES = 659,
  /**
   * Cycles that the oldest instruction, which has finished, waits as what is behind it is flushed.
   */
  VM_PMU_SIGNAL_BLOCKED_FLUSH_NEXT_CYCLES = 660,
  /**
   * Cycles that the beginning of a nested transaction waits after it has finished.
   */
  VM_PMU_SIGNAL_BLOCKED_NESTED_BEGIN_CYCLES = 661,
  /**
   * Cycles that the end of a nested transaction waits after it has finished.
   */
  VM_PMU_SIGNAL_BLOCKED_NESTED_END_CYCLES = 662,
  /**
   * Cycles that a write of the floating-point status waits after it has finished.
   */
  VM_PMU_SIGNAL_BLOCKED_STATUS_WRITE_CYCLES = 663,
  /**
   * Flushes that the load/store unit asked for.
   */
  VM_PMU_SIGNAL_LOAD_STORE_FLUSHES = 664,
  /**
   * Flushes of what is behind an instruction, which the load/store unit asked for.
   */
  VM_PMU_SIGNAL_LOAD_STORE_FLUSHES_NEXT = 665,
  /**
   * Flushes of loads that had their data before an older store of the same bytes knew its address.
   */
  VM_PMU_SIGNAL_FLUSHES_STORE_HIT_LOAD = 666,
  /**
   * The same, of a store to the same bytes at another virtual address.
   */
  VM_PMU_SIGNAL_FLUSHES_ALIAS = 667,
  /**
   * Flushes of accesses that reserve, behind one that is outstanding.
   */
  VM_PMU_SIGNAL_FLUSHES_RESERVATION = 668,
  /**
   * Loads that were entered into the table of those that wait for older stores.
   */
  VM_PMU_SIGNAL_STORE_HIT_LOAD_ENTRIES = 669,
  /**
   * Loads that found themselves in the table of those that wait for older stores.
   */
  VM_PMU_SIGNAL_STORE_HIT_LOAD_DEPENDENCES = 670,
  /**
   * Flushes at dispatch.
   */
  VM_PMU_SIGNAL_DISPATCH_FLUSHES = 671,
  /**
   * Flushes at dispatch of what waits for older instructions to complete.
   */
  VM_PMU_SIGNAL_DISPATCH_FLUSHES_SCOREBOARD = 672,
  /**
   * Flushes at dispatch of what waits for the answer to an invalidation of translations.
   */
  VM_PMU_SIGNAL_DISPATCH_FLUSHES_INVALIDATION = 673,
  /**
   * Lines of code missed where a predicted branch turned the fetcher to.
   */
  VM_PMU_SIGNAL_FETCH_MISSES_AFTER_PREDICTION = 674,
  /**
   * Lines of code missed where a resolved misprediction turned the fetcher to.
   */
  VM_PMU_SIGNAL_FETCH_MISSES_AFTER_MISPREDICTION = 675,
  /**
   * Stall cycles: the queue of loads is full.
   */
  VM_PMU_SIGNAL_STALL_LOAD_QUEUE_FULL_CYCLES = 676,
  /**
   * Stall cycles: a store that is ready finds the finish of its slice taken.
   */
  VM_PMU_SIGNAL_STALL_STORE_FINISH_ARBITRATION_CYCLES = 677,
  /**
   * Stall cycles: a store that was rejected finds its slice taken.
   */
  VM_PMU_SIGNAL_STALL_STORE_RELAUNCH_CYCLES = 678,
  /**
   * Stall cycles: a load waits as the second level works on its line already.
   */
  VM_PMU_SIGNAL_STALL_LOAD_CONFLICT_CYCLES = 679,
  /**
   * Stall cycles: the end of a transaction is answered.
   */
  VM_PMU_SIGNAL_STALL_TRANSACTION_END_CYCLES = 680,
  /**
   * Cycles in which the end of a transaction waits for its answer, the oldest instruction or not.
   */
  VM_PMU_SIGNAL_TRANSACTION_END_PENDING_CYCLES = 681,
  /**
   * Stall cycles: an invalidation of segments is answered.
   */
  VM_PMU_SIGNAL_STALL_SEGMENT_INVALIDATION_CYCLES = 682,
  /**
   * Stall cycles: an invalidation of translations is answered.
   */
  VM_PMU_SIGNAL_STALL_INVALIDATION_CYCLES = 683,
  /**
   * Stall cycles: a paste to an accelerator is answered.
   */
  VM_PMU_SIGNAL_STALL_PASTE_CYCLES = 684,
  /**
   * Stall cycles: a barrier of input and output is answered.
   */
  VM_PMU_SIGNAL_STALL_ORDERING_BARRIER_CYCLES = 685,
  /**
   * Stall cycles: a register of the load/store unit is read.
   */
  VM_PMU_SIGNAL_STALL_LOAD_STORE_REGISTER_CYCLES = 686,
  /**
   * Loads that waited as the second level worked on a store to their line.
   */
  VM_PMU_SIGNAL_LOADS_BEHIND_STORE = 687,
  /**
   * Stores that waited as the second level worked on another request for their line.
   */
  VM_PMU_SIGNAL_STORES_BEHIND_OTHER = 688,
  /**
   * Operations without data that left the queue to the second level.
   */
  VM_PMU_SIGNAL_NON_DATA_STORES = 689,
  /**
   * Accesses of the first load/store slice with a translation in the first level.
   */
  VM_PMU_SIGNAL_TRANSLATION_HITS_SLICE0 = 690,
  /**
   * Accesses of the second load/store slice with a translation in the first level.
   */
  VM_PMU_SIGNAL_TRANSLATION_HITS_SLICE1 = 691,
  /**
   * Accesses of the third load/store slice with a translation in the first level.
   */
  VM_PMU_SIGNAL_TRANSLATION_HITS_SLICE2 = 692,
  /**
   * Accesses of the fourth load/store slice with a translation in the first level.
   */
  VM_PMU_SIGNAL_TRANSLATION_HITS_SLICE3 = 693,
  /**
   * Loads of 16 bytes of the first load/store slice.
   */
  VM_PMU_SIGNAL_VECTOR_LOADS_SLICE0 = 694,
  /**
   * Loads of 16 bytes of the second load/store slice.
   */
  VM_PMU_SIGNAL_VECTOR_LOADS_SLICE1 = 695,
  /**
   * Loads of 16 bytes of the third load/store slice.
   */
  VM_PMU_SIGNAL_VECTOR_LOADS_SLICE2 = 696,
  /**
   * Loads of 16 bytes of the fourth load/store slice.
   */
  VM_PMU_SIGNAL_VECTOR_LOADS_SLICE3 = 697,
  /**
   * Loads that cross a boundary of eight bytes of the first load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_LOADS_SLICE0 = 698,
  /**
   * Loads that cross a boundary of eight bytes of the second load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_LOADS_SLICE1 = 699,
  /**
   * Loads that cross a boundary of eight bytes of the third load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_LOADS_SLICE2 = 700,
  /**
   * Loads that cross a boundary of eight bytes of the fourth load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_LOADS_SLICE3 = 701,
  /**
   * Stores that cross a boundary of eight bytes of the first load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_STORES_SLICE0 = 702,
  /**
   * Stores that cross a boundary of eight bytes of the second load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_STORES_SLICE1 = 703,
  /**
   * Stores that cross a boundary of eight bytes of the third load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_STORES_SLICE2 = 704,
  /**
   * Stores that cross a boundary of eight bytes of the fourth load/store slice.
   */
  VM_PMU_SIGNAL_MISALIGNED_STORES_SLICE3 = 705,
  /**
   * Loads that the data cache had, of the first load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_HITS_SLICE0 = 706,
  /**
   * Loads that the data cache had, of the second load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_HITS_SLICE1 = 707,
  /**
   * Loads that the data cache had, of the third load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_HITS_SLICE2 = 708,
  /**
   * Loads that the data cache had, of the fourth load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_HITS_SLICE3 = 709,
  /**
   * Loads that the data cache lacked, of the first load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_MISSES_SLICE0 = 710,
  /**
   * Loads that the data cache lacked, of the second load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_MISSES_SLICE1 = 711,
  /**
   * Loads that the data cache lacked, of the third load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_MISSES_SLICE2 = 712,
  /**
   * Loads that the data cache lacked, of the fourth load/store slice.
   */
  VM_PMU_SIGNAL_LOAD_MISSES_SLICE3 = 713,
  /**
   * Loads whose line the second level had from the prefetcher, not used before.
   */
  VM_PMU_SIGNAL_LOADS_FROM_L2_PREFETCHED = 714,
  /**
   * Loads whose line the third level had from the prefetcher, not used before.
   */
  VM_PMU_SIGNAL_LOADS_FROM_L3_PREFETCHED = 715,
  /**
   * Fetches whose line the second level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_L2_PREFETCHED = 716,
  /**
   * Fetches whose line the third level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_L3_PREFETCHED = 717,
  /**
   * Page-table entries read for an instruction's address whose line the second level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_L2_PREFETCHED = 718,
  /**
   * Page-table entries read for an instruction's address whose line the third level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_L3_PREFETCHED = 719,
  /**
   * Last entries of walks for data whose line the second level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_L2_PREFETCHED = 720,
  /**
   * Last entries of walks for data whose line the third level had from the prefetcher of data, not used before.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_L3_PREFETCHED = 721,
  /**
   * Lines that the third level gave up, that the prefetcher had brought and nobody had used.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_PREFETCHED = 722,
  /**
   * Conditional branches whose direction a counter in one of its two weak states predicted.
   */
  VM_PMU_SIGNAL_BRANCHES_WEAKLY_PREDICTED = 723,
  /**
   * Lines of code from another core's caches that had them modified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_CORE_MODIFIED = 724,
  /**
   * Lines of code from another core's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_CORE_CLEAN = 725,
  /**
   * Lines of code from another package's caches that had them modified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_PACKAGE_MODIFIED = 726,
  /**
   * Lines of code from another package's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_PACKAGE_CLEAN = 727,
  /**
   * Page-table entries for code read from another core's caches that had them modified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_CORE_MODIFIED = 728,
  /**
   * Page-table entries for code read from another core's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_CORE_CLEAN = 729,
  /**
   * Page-table entries for code read from another package's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_PACKAGE_CLEAN = 730,
  /**
   * Last page-table entries of walks for data read from another core's caches that had them modified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_CORE_MODIFIED = 731,
  /**
   * Last page-table entries of walks for data read from another core's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_CORE_CLEAN = 732,
  /**
   * Last page-table entries of walks for data read from another package's caches that had them unmodified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_PACKAGE_CLEAN = 733,
  /**
   * Streams of adjacent misses that the prefetcher of data began to follow.
   */
  VM_PMU_SIGNAL_DATA_PREFETCH_STREAMS_BEGUN = 734,
  /**
   * Demand misses of data that continued a stream that the prefetcher follows.
   */
  VM_PMU_SIGNAL_DATA_PREFETCH_STREAM_HITS = 735,
  /**
   * Streams that the prefetcher of data gave up for others before any miss continued them.
   */
  VM_PMU_SIGNAL_DATA_PREFETCH_STREAMS_UNUSED = 736,
  /**
   * Speculative integer loads that were deferred because the page table had no translation.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS_WALK_MISS = 737,
  /**
   * Speculative integer loads that were deferred because the translation buffers missed.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS_TRANSLATION_MISS = 738,
  /**
   * Speculative integer loads that were deferred because their translation would have faulted.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS_TRANSLATION_FAULT = 739,
  /**
   * Speculative integer loads that were deferred because their address was a NaT.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS_NAT = 740,
  /**
   * Speculative integer loads that were deferred because the processor status asked for it.
   */
  VM_PMU_SIGNAL_DEFERRED_LOADS_EXCEPTION_DEFERRAL = 741,
  /**
   * Operations that the floating-point unit held the pipeline for, to see whether they trap, and that did.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_UNSAFE_TRAPPING = 742,
  /**
   * Operations that the floating-point unit held the pipeline for, to see whether they trap, and that did not.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_UNSAFE_PASSING = 743,
  /**
   * Checks of floating-point flags that went to recovery.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_FLAG_CHECKS_FAILED = 744,
  /**
   * Floating-point instructions with a tiny result and no trap of it enabled, whether it became zero or not.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_TINY_RESULTS = 745,
  /**
   * Changes of the threads of a core that were wished and given up because the other thread was halted.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_GATED_LOW_POWER = 746,
  /**
   * Changes of the threads of a core that were held up by what was in the pipeline.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_GATED_PIPELINE = 747,
  /**
   * Changes of the threads of a core that were held up until the thread in the foreground had made progress.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_GATED_PROGRESS = 748,
  /**
   * Cycles of the thread in the foreground in which a change of threads was held up.
   */
  VM_PMU_SIGNAL_THREAD_SWITCH_GATED_CYCLES = 749,
  /**
   * Cycles from the wish to change threads until the thread that comes runs: those in which it is held up, and those of the change.
   */
  VM_PMU_SIGNAL_THREAD_SWITCH_OVERHEAD_CYCLES = 750,
  /**
   * Cycles in which a change of threads was held up by a move to a control, application or indirect register.
   */
  VM_PMU_SIGNAL_THREAD_SWITCH_REGISTER_CYCLES = 751,
  /**
   * Cycles in which a change of threads was held up by anything in the pipeline.
   */
  VM_PMU_SIGNAL_THREAD_SWITCH_STALLED_CYCLES = 752,
  /**
   * Changes of threads decided 4 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_4 = 753,
  /**
   * Changes of threads decided 8 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_8 = 754,
  /**
   * Changes of threads decided 16 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_16 = 755,
  /**
   * Changes of threads decided 32 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_32 = 756,
  /**
   * Changes of threads decided 64 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_64 = 757,
  /**
   * Changes of threads decided 128 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_128 = 758,
  /**
   * Cycles in which the first read machine of the second-level cache works.
   */
  VM_PMU_SIGNAL_SECOND_READ_MACHINE0_CYCLES = 759,
  /**
   * Cycles in which that read machine of the second-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_SECOND_READ_MACHINE_SAMPLE_CYCLES = 760,
  /**
   * Cycles in which the first castout machine of the second-level cache works.
   */
  VM_PMU_SIGNAL_SECOND_CASTOUT_MACHINE0_CYCLES = 761,
  /**
   * Cycles in which that castout machine of the second-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_SECOND_CASTOUT_MACHINE_SAMPLE_CYCLES = 762,
  /**
   * Cycles in which the first read machine of the third-level cache works.
   */
  VM_PMU_SIGNAL_THIRD_READ_MACHINE0_CYCLES = 763,
  /**
   * Cycles in which that read machine of the third-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_THIRD_READ_MACHINE_SAMPLE_CYCLES = 764,
  /**
   * Cycles in which the first prefetch machine of the third-level cache works.
   */
  VM_PMU_SIGNAL_THIRD_PREFETCH_MACHINE0_CYCLES = 765,
  /**
   * Cycles in which that prefetch machine of the third-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_THIRD_PREFETCH_MACHINE_SAMPLE_CYCLES = 766,
  /**
   * Cycles in which the first castout machine of the third-level cache works.
   */
  VM_PMU_SIGNAL_THIRD_CASTOUT_MACHINE0_CYCLES = 767,
  /**
   * Cycles in which that machine of the third-level cache for castins or castouts works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_THIRD_CAST_MACHINE_SAMPLE_CYCLES = 768,
  /**
   * Loads that came to the second-level cache while each of its read machines worked.
   */
  VM_PMU_SIGNAL_LOADS_WITHOUT_MACHINE = 769,
  /**
   * Fetches of code that came to the second-level cache while each of its read machines worked.
   */
  VM_PMU_SIGNAL_FETCHES_WITHOUT_MACHINE = 770,
  /**
   * Stores that came to the second-level cache while each of its read machines worked.
   */
  VM_PMU_SIGNAL_STORES_WITHOUT_MACHINE = 771,
  /**
   * Castouts of the second-level cache while each of its castout machines worked.
   */
  VM_PMU_SIGNAL_CASTOUTS_WITHOUT_MACHINE = 772,
  /**
   * Fetches of code that came to the second-level cache while it got their line for a load or another fetch.
   */
  VM_PMU_SIGNAL_FETCHES_BEHIND_OTHER = 773,
  /**
   * Demand misses of the data cache on a line that a prefetch had asked for and that was still on its way.
   */
  VM_PMU_SIGNAL_LOADS_MERGED_WITH_PREFETCH = 774,
  /**
   * Requests of loads and code on a line that a prefetch machine of the third-level cache was getting.
   */
  VM_PMU_SIGNAL_READS_BEHIND_PREFETCH = 775,
  /**
   * Stores that could not go from the recirculation queue to the queue of stores at once.
   */
  VM_PMU_SIGNAL_STORES_NOT_ACCEPTED = 776,
  /**
   * Stores that slice 0 sent back, to try them again later.
   */
  VM_PMU_SIGNAL_STORE_REJECTS_SLICE0 = 777,
  /**
   * Stores that slice 1 sent back, to try them again later.
   */
  VM_PMU_SIGNAL_STORE_REJECTS_SLICE1 = 778,
  /**
   * Stores that slice 2 sent back, to try them again later.
   */
  VM_PMU_SIGNAL_STORE_REJECTS_SLICE2 = 779,
  /**
   * Stores that slice 3 sent back, to try them again later.
   */
  VM_PMU_SIGNAL_STORE_REJECTS_SLICE3 = 780,
  /**
   * Loads of slice 0 that were held for an older store whose address agreed in part, and which lay elsewhere.
   */
  VM_PMU_SIGNAL_FALSE_STORE_HITS_SLICE0 = 781,
  /**
   * Loads of slice 1 that were held for an older store whose address agreed in part, and which lay elsewhere.
   */
  VM_PMU_SIGNAL_FALSE_STORE_HITS_SLICE1 = 782,
  /**
   * Loads of slice 2 that were held for an older store whose address agreed in part, and which lay elsewhere.
   */
  VM_PMU_SIGNAL_FALSE_STORE_HITS_SLICE2 = 783,
  /**
   * Loads of slice 3 that were held for an older store whose address agreed in part, and which lay elsewhere.
   */
  VM_PMU_SIGNAL_FALSE_STORE_HITS_SLICE3 = 784,
  /**
   * Transactions that failed because another processor accessed their memory outside transactions.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED_NON_TRANSACTIONAL = 785,
  /**
   * Transactions that failed because of a conflict with another transaction.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED_TRANSACTIONAL = 786,
  /**
   * Transactions that failed because their own thread, while they were suspended, stored to what they had accessed, or drove it out.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED_SELF = 787,
  /**
   * Transactions that failed because another processor invalidated a translation that they had used.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_ABORTED_TRANSLATION = 788,
  /**
   * Instructions that made their transaction fail because it may not contain them, whose address is of slice 0.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_DISALLOWED_SLICE0 = 789,
  /**
   * Instructions that made their transaction fail because it may not contain them, whose address is of slice 1.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_DISALLOWED_SLICE1 = 790,
  /**
   * Instructions that made their transaction fail because it may not contain them, whose address is of slice 2.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_DISALLOWED_SLICE2 = 791,
  /**
   * Instructions that made their transaction fail because it may not contain them, whose address is of slice 3.
   */
  VM_PMU_SIGNAL_TRANSACTIONS_DISALLOWED_SLICE3 = 792,
  /**
   * Loads outside transactions that made transactions fail.
   */
  VM_PMU_SIGNAL_LOADS_ABORTING_TRANSACTIONS = 793,
  /**
   * Stores outside transactions that made transactions fail.
   */
  VM_PMU_SIGNAL_STORES_ABORTING_TRANSACTIONS = 794,
  /**
   * Stores within a transaction that made other transactions fail.
   */
  VM_PMU_SIGNAL_TRANSACTIONAL_STORES_ABORTING_OTHERS = 795,
  /**
   * Loads within a transaction that made it fail because of a conflict with another.
   */
  VM_PMU_SIGNAL_TRANSACTIONAL_LOADS_IN_CONFLICT = 796,
  /**
   * Stores within a transaction that made it fail because of a conflict with another.
   */
  VM_PMU_SIGNAL_TRANSACTIONAL_STORES_IN_CONFLICT = 797,
  /**
   * Instructions of transactions that committed, while the thread's run latch was set, at the commit.
   */
  VM_PMU_SIGNAL_TRANSACTION_INSTRUCTIONS_PASSED = 798,
  /**
   * Cycles of transactions that committed, while the thread's run latch was set, at the commit.
   */
  VM_PMU_SIGNAL_TRANSACTION_CYCLES_PASSED = 799,
  /**
   * Pairs of instructions that the decoder made one load or store.
   */
  VM_PMU_SIGNAL_FUSED_DISPLACEMENTS = 800,
  /**
   * Pairs of instructions that the decoder made one load of a constant.
   */
  VM_PMU_SIGNAL_FUSED_CONSTANTS = 801,
  /**
   * Instructions by which software begins the prefetch streams that it has described.
   */
  VM_PMU_SIGNAL_SOFTWARE_STREAMS_BEGUN = 802,
  /**
   * Prefetches of software in slice 0 whose address has no translation in the first-level buffer.
   */
  VM_PMU_SIGNAL_PREFETCH_TRANSLATION_MISSES_SLICE0 = 803,
  /**
   * Prefetches of software in slice 1 whose address has no translation in the first-level buffer.
   */
  VM_PMU_SIGNAL_PREFETCH_TRANSLATION_MISSES_SLICE1 = 804,
  /**
   * Prefetches of software in slice 2 whose address has no translation in the first-level buffer.
   */
  VM_PMU_SIGNAL_PREFETCH_TRANSLATION_MISSES_SLICE2 = 805,
  /**
   * Prefetches of software in slice 3 whose address has no translation in the first-level buffer.
   */
  VM_PMU_SIGNAL_PREFETCH_TRANSLATION_MISSES_SLICE3 = 806,
  /**
   * Lines that a prefetch of software brought into the data cache.
   */
  VM_PMU_SIGNAL_SOFTWARE_PREFETCH_FILLS = 807,
  /**
   * Lines that a prefetch of software brought into the data cache from memory.
   */
  VM_PMU_SIGNAL_SOFTWARE_PREFETCH_FILLS_FROM_MEMORY = 808,
  /**
   * Vector operations that read a register whose halves were last written as elements of different types.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_RETYPES = 809,
  /**
   * Changes of threads decided 256 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_256 = 810,
  /**
   * Changes of threads decided 512 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_512 = 811,
  /**
   * Changes of threads decided 1024 cycles or more after the thread that leaves completed an instruction.
   */
  VM_PMU_SIGNAL_THREAD_SWITCHES_AFTER_1024 = 812,
  /**
   * Requests of the core that the queue of the second-level cache did not take.
   */
  VM_PMU_SIGNAL_SECOND_LEVEL_QUEUE_REJECTS = 813,
  /**
   * Loads whose line came from the third level of another core of the package, which had it unmodified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_L3_CLEAN = 814,
  /**
   * Loads whose line came from the third level of another core of the package, which had it modified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_OTHER_L3_MODIFIED = 815,
  /**
   * Loads whose line came from a third level of the package that is lent to its cores, which had it unmodified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_LENT_L3_CLEAN = 816,
  /**
   * Loads whose line came from a third level of the package that is lent to its cores, which had it modified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_LENT_L3_MODIFIED = 817,
  /**
   * Loads whose line came from a cache of a package of another group, which had it unmodified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_DISTANT_PACKAGE_CLEAN = 818,
  /**
   * Loads whose line came from a cache of a package of another group, which had it modified.
   */
  VM_PMU_SIGNAL_LOADS_FROM_DISTANT_PACKAGE_MODIFIED = 819,
  /**
   * Loads whose line came from the fourth level in front of the package's own memory.
   */
  VM_PMU_SIGNAL_LOADS_FROM_LOCAL_L4 = 820,
  /**
   * Loads whose line came from the fourth level in front of another package's memory.
   */
  VM_PMU_SIGNAL_LOADS_FROM_REMOTE_L4 = 821,
  /**
   * Loads whose line came from the fourth level in front of the memory of a package of another group.
   */
  VM_PMU_SIGNAL_LOADS_FROM_DISTANT_L4 = 822,
  /**
   * Loads whose line came from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_LOADS_FROM_DISTANT_MEMORY = 823,
  /**
   * Lines of code from the third level of another core of the package, which had them unmodified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_L3_CLEAN = 824,
  /**
   * Lines of code from the third level of another core of the package, which had them modified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_OTHER_L3_MODIFIED = 825,
  /**
   * Lines of code from a third level of the package that is lent to its cores, which had them unmodified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_LENT_L3_CLEAN = 826,
  /**
   * Lines of code from a third level of the package that is lent to its cores, which had them modified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_LENT_L3_MODIFIED = 827,
  /**
   * Lines of code from a cache of a package of another group, which had them unmodified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_DISTANT_PACKAGE_CLEAN = 828,
  /**
   * Lines of code from a cache of a package of another group, which had them modified.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_DISTANT_PACKAGE_MODIFIED = 829,
  /**
   * Lines of code from the fourth level in front of the package's own memory.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_LOCAL_L4 = 830,
  /**
   * Lines of code from the fourth level in front of another package's memory.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_REMOTE_L4 = 831,
  /**
   * Lines of code from the fourth level in front of the memory of a package of another group.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_DISTANT_L4 = 832,
  /**
   * Lines of code from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_DISTANT_MEMORY = 833,
  /**
   * Page-table entries for code read from the third level of another core of the package, which had them unmodified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_L3_CLEAN = 834,
  /**
   * Page-table entries for code read from the third level of another core of the package, which had them modified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_OTHER_L3_MODIFIED = 835,
  /**
   * Page-table entries for code read from a third level of the package that is lent to its cores, which had them unmodified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_LENT_L3_CLEAN = 836,
  /**
   * Page-table entries for code read from a third level of the package that is lent to its cores, which had them modified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_LENT_L3_MODIFIED = 837,
  /**
   * Page-table entries for code read from a cache of a package of another group, which had them unmodified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_DISTANT_PACKAGE_CLEAN = 838,
  /**
   * Page-table entries for code read from a cache of a package of another group, which had them modified.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_DISTANT_PACKAGE_MODIFIED = 839,
  /**
   * Page-table entries for code read from the fourth level in front of the package's own memory.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_LOCAL_L4 = 840,
  /**
   * Page-table entries for code read from the fourth level in front of another package's memory.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_REMOTE_L4 = 841,
  /**
   * Page-table entries for code read from the fourth level in front of the memory of a package of another group.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_DISTANT_L4 = 842,
  /**
   * Page-table entries for code read from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_INSTRUCTION_WALKS_FROM_DISTANT_MEMORY = 843,
  /**
   * Last page-table entries of walks for data read from the third level of another core of the package, which had them unmodified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_L3_CLEAN = 844,
  /**
   * Last page-table entries of walks for data read from the third level of another core of the package, which had them modified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_OTHER_L3_MODIFIED = 845,
  /**
   * Last page-table entries of walks for data read from a third level of the package that is lent to its cores, unmodified there.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_LENT_L3_CLEAN = 846,
  /**
   * Last page-table entries of walks for data read from a third level of the package that is lent to its cores, which had them modified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_LENT_L3_MODIFIED = 847,
  /**
   * Last page-table entries of walks for data read from a cache of a package of another group, which had them unmodified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_DISTANT_PACKAGE_CLEAN = 848,
  /**
   * Last page-table entries of walks for data read from a cache of a package of another group, which had them modified.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_DISTANT_PACKAGE_MODIFIED = 849,
  /**
   * Last page-table entries of walks for data read from the fourth level in front of the package's own memory.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_LOCAL_L4 = 850,
  /**
   * Last page-table entries of walks for data read from the fourth level in front of another package's memory.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_REMOTE_L4 = 851,
  /**
   * Last page-table entries of walks for data read from the fourth level in front of the memory of a package of another group.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_DISTANT_L4 = 852,
  /**
   * Last page-table entries of walks for data read from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_DATA_WALK_LEAVES_FROM_DISTANT_MEMORY = 853,
  /**
   * Requests for demand loads that asked the package alone, and rightly so.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_CHIP_RIGHT = 854,
  /**
   * Requests for demand loads that asked the group at first, and rightly so.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_GROUP_RIGHT = 855,
  /**
   * Requests for demand loads that asked the package in vain and then the group.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_GROUP_GROWN = 856,
  /**
   * Requests for demand loads that asked the group where the package would have been enough.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_GROUP_WIDE = 857,
  /**
   * Requests for demand loads that asked the system at first, and rightly so.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_SYSTEM_RIGHT = 858,
  /**
   * Requests for demand loads that asked the package or the group in vain and in the end the system.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_SYSTEM_GROWN = 859,
  /**
   * Requests for demand loads that asked the system where the package or the group would have been enough.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_SYSTEM_WIDE = 860,
  /**
   * Requests for lines of code that asked the package alone, and rightly so.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_CHIP_RIGHT = 861,
  /**
   * Requests for lines of code that asked the group at first, and rightly so.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_GROUP_RIGHT = 862,
  /**
   * Requests for lines of code that asked the package in vain and then the group.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_GROUP_GROWN = 863,
  /**
   * Requests for lines of code that asked the group where the package would have been enough.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_GROUP_WIDE = 864,
  /**
   * Requests for lines of code that asked the system at first, and rightly so.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_SYSTEM_RIGHT = 865,
  /**
   * Requests for lines of code that asked the package or the group in vain and in the end the system.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_SYSTEM_GROWN = 866,
  /**
   * Requests for lines of code that asked the system where the package or the group would have been enough.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_SYSTEM_WIDE = 867,
  /**
   * Requests for page-table entries that asked the package alone, and rightly so.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_CHIP_RIGHT = 868,
  /**
   * Requests for page-table entries that asked the group at first, and rightly so.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_GROUP_RIGHT = 869,
  /**
   * Requests for page-table entries that asked the package in vain and then the group.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_GROUP_GROWN = 870,
  /**
   * Requests for page-table entries that asked the group where the package would have been enough.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_GROUP_WIDE = 871,
  /**
   * Requests for page-table entries that asked the system at first, and rightly so.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_SYSTEM_RIGHT = 872,
  /**
   * Requests for page-table entries that asked the package or the group in vain and in the end the system.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_SYSTEM_GROWN = 873,
  /**
   * Requests for page-table entries that asked the system where the package or the group would have been enough.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_SYSTEM_WIDE = 874,
  /**
   * Requests of the second level for which it guessed the package, rightly.
   */
  VM_PMU_SIGNAL_L2_GUESS_CHIP_RIGHT = 875,
  /**
   * Requests of the second level for which it guessed the package, wrongly.
   */
  VM_PMU_SIGNAL_L2_GUESS_CHIP_WRONG = 876,
  /**
   * Requests of the second level for which it guessed the group, rightly.
   */
  VM_PMU_SIGNAL_L2_GUESS_GROUP_RIGHT = 877,
  /**
   * Requests of the second level for which it guessed the group, wrongly.
   */
  VM_PMU_SIGNAL_L2_GUESS_GROUP_WRONG = 878,
  /**
   * Requests of the second level for which it guessed the system, rightly.
   */
  VM_PMU_SIGNAL_L2_GUESS_SYSTEM_RIGHT = 879,
  /**
   * Requests of the second level for which it guessed the system, wrongly.
   */
  VM_PMU_SIGNAL_L2_GUESS_SYSTEM_WRONG = 880,
  /**
   * Times that the second level asked the package alone.
   */
  VM_PMU_SIGNAL_L2_PUMPS_CHIP = 881,
  /**
   * Times that the second level asked the group.
   */
  VM_PMU_SIGNAL_L2_PUMPS_GROUP = 882,
  /**
   * Times that the second level asked the system.
   */
  VM_PMU_SIGNAL_L2_PUMPS_SYSTEM = 883,
  /**
   * Requests of the prefetcher of data for which the package was guessed, rightly.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_CHIP_RIGHT = 884,
  /**
   * Requests of the prefetcher of data for which the package was guessed, wrongly.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_CHIP_WRONG = 885,
  /**
   * Requests of the prefetcher of data for which the group was guessed, rightly.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_GROUP_RIGHT = 886,
  /**
   * Requests of the prefetcher of data for which the group was guessed where the package was enough.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_GROUP_WIDE = 887,
  /**
   * Requests of the prefetcher of data for which the group was guessed where the system was needed.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_GROUP_NARROW = 888,
  /**
   * Requests of the prefetcher of data for which the system was guessed, rightly.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_SYSTEM_RIGHT = 889,
  /**
   * Requests of the prefetcher of data for which the system was guessed, wrongly.
   */
  VM_PMU_SIGNAL_PREFETCH_GUESS_SYSTEM_WRONG = 890,
  /**
   * Times that the prefetcher of data asked the package alone for a line of even number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_CHIP_EVEN = 891,
  /**
   * Times that the prefetcher of data asked the package alone for a line of odd number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_CHIP_ODD = 892,
  /**
   * Times that the prefetcher of data asked the group for a line of even number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_GROUP_EVEN = 893,
  /**
   * Times that the prefetcher of data asked the group for a line of odd number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_GROUP_ODD = 894,
  /**
   * Times that the prefetcher of data asked the system for a line of even number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_SYSTEM_EVEN = 895,
  /**
   * Times that the prefetcher of data asked the system for a line of odd number.
   */
  VM_PMU_SIGNAL_PREFETCH_PUMPS_SYSTEM_ODD = 896,
  /**
   * Lines of even number that the third level gave up to memory, whether that needed them or not.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_MEMORY_EVEN = 897,
  /**
   * Lines of odd number that the third level gave up to memory, whether that needed them or not.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_MEMORY_ODD = 898,
  /**
   * Lines of even number that the third level gave up to another one of the package, which took their data.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_LATERAL_DATA_EVEN = 899,
  /**
   * Lines of odd number that the third level gave up to another one of the package, which took their data.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_LATERAL_DATA_ODD = 900,
  /**
   * Lines of even number that the third level gave up to another one of the package, which had their data.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_LATERAL_NO_DATA_EVEN = 901,
  /**
   * Lines of odd number that the third level gave up to another one of the package, which had their data.
   */
  VM_PMU_SIGNAL_L3_CASTOUTS_LATERAL_NO_DATA_ODD = 902,
  /**
   * Times that the prefetcher of data asked again, farther away, for a line whose number is 0 modulo 4.
   */
  VM_PMU_SIGNAL_PREFETCH_RETRIES_PORT0 = 903,
  /**
   * Times that the prefetcher of data asked again, farther away, for a line whose number is 1 modulo 4.
   */
  VM_PMU_SIGNAL_PREFETCH_RETRIES_PORT1 = 904,
  /**
   * Times that the prefetcher of data asked again, farther away, for a line whose number is 2 modulo 4.
   */
  VM_PMU_SIGNAL_PREFETCH_RETRIES_PORT2 = 905,
  /**
   * Times that the prefetcher of data asked again, farther away, for a line whose number is 3 modulo 4.
   */
  VM_PMU_SIGNAL_PREFETCH_RETRIES_PORT3 = 906,
  /**
   * Times that the second level asked again, farther away, for a line to be loaded.
   */
  VM_PMU_SIGNAL_L2_RETRIES_LOADS = 907,
  /**
   * Times that the second level asked again, farther away, for a line to be written, or for the permission to write one.
   */
  VM_PMU_SIGNAL_L2_RETRIES_STORES = 908,
  /**
   * Requests for demand loads that asked at first less or more than they needed.
   */
  VM_PMU_SIGNAL_LOAD_SCOPE_WRONG = 909,
  /**
   * Requests for lines of code that asked at first less or more than they needed.
   */
  VM_PMU_SIGNAL_FETCH_SCOPE_WRONG = 910,
  /**
   * Requests for page-table entries that asked at first less or more than they needed.
   */
  VM_PMU_SIGNAL_WALK_SCOPE_WRONG = 911,
  /**
   * Loads whose line came from any fourth level, or from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_LOADS_FROM_L4_AND_DISTANT_MEMORY = 912,
  /**
   * Lines of code from any fourth level, or from the memory of a package of another group.
   */
  VM_PMU_SIGNAL_FETCHES_FROM_L4_AND_DISTANT_MEMORY = 913,
  /**
   * Snoops for a read that found the line modified in the second level.
   */
  VM_PMU_SIGNAL_SNOOPS_L2_MODIFIED_READ = 914,
  /**
   * Snoops for a write that found the line modified in the second level.
   */
  VM_PMU_SIGNAL_SNOOPS_L2_MODIFIED_WRITE = 915,
  /**
   * Snoops for a write that took a line out of the second level that others may have too.
   */
  VM_PMU_SIGNAL_SNOOPS_L2_SHARED_INVALIDATED = 916,
  /**
   * Snoops that found the line in the third level.
   */
  VM_PMU_SIGNAL_SNOOPS_L3_HIT = 917,
  /**
   * Snoops that did not find the line in the third level.
   */
  VM_PMU_SIGNAL_SNOOPS_L3_MISS = 918,
  /**
   * Snoops for a write that took a line out of the third level that others may have too.
   */
  VM_PMU_SIGNAL_SNOOPS_L3_SHARED_INVALIDATED = 919,
  /**
   * Cycles in which the first snoop machine of the second-level cache works.
   */
  VM_PMU_SIGNAL_SECOND_SNOOP_MACHINE0_CYCLES = 920,
  /**
   * Cycles in which that snoop machine of the second-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_SECOND_SNOOP_MACHINE_SAMPLE_CYCLES = 921,
  /**
   * Cycles in which the first snoop machine of the third-level cache works.
   */
  VM_PMU_SIGNAL_THIRD_SNOOP_MACHINE0_CYCLES = 922,
  /**
   * Cycles in which that snoop machine of the third-level cache works which is sampled in its turn.
   */
  VM_PMU_SIGNAL_THIRD_SNOOP_MACHINE_SAMPLE_CYCLES = 923,
  /**
   * Requests of a core to the memory of its own package: for lines and their ownership, write-backs, write-combining buffers.
   */
  VM_PMU_SIGNAL_MEMORY_REQUESTS_LOCAL = 924,
  /**
   * Requests of a core to the memory of another package: for lines and their ownership, write-backs, write-combining buffers.
   */
  VM_PMU_SIGNAL_MEMORY_REQUESTS_REMOTE = 925,
  /**
   * Uncached accesses of a core to I/O of its own package.
   */
  VM_PMU_SIGNAL_IO_REQUESTS_LOCAL = 926,
  /**
   * Uncached accesses of a core to I/O of another package.
   */
  VM_PMU_SIGNAL_IO_REQUESTS_REMOTE = 927,
  /**
   * Uncached accesses of cores of other packages to I/O of this one.
   */
  VM_PMU_SIGNAL_IO_REQUESTS_FROM_REMOTE = 928,
  /**
   * Requests of devices of a package to its own memory.
   */
  VM_PMU_SIGNAL_DEVICE_MEMORY_REQUESTS_LOCAL = 929,
  /**
   * Requests of devices of a package to the memory of another one.
   */
  VM_PMU_SIGNAL_DEVICE_MEMORY_REQUESTS_REMOTE = 930,
  /**
   * Requests of devices of a package to its own I/O.
   */
  VM_PMU_SIGNAL_DEVICE_IO_REQUESTS_LOCAL = 931,
  /**
   * Requests of devices of a package to the I/O of another one.
   */
  VM_PMU_SIGNAL_DEVICE_IO_REQUESTS_REMOTE = 932,
  /**
   * Requests of devices of other packages to the I/O of this one.
   */
  VM_PMU_SIGNAL_DEVICE_IO_REQUESTS_FROM_REMOTE = 933,
  /**
   * Sized writes of bytes that are answered: uncached stores that are no whole doublewords.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_NON_POSTED_BYTES = 934,
  /**
   * Sized writes of doublewords that are answered: uncached stores of whole doublewords.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_NON_POSTED_DOUBLEWORDS = 935,
  /**
   * Sized writes of bytes, at most 32, that are not answered: of devices, and of write-combining buffers that are not full.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_POSTED_BYTES = 936,
  /**
   * Sized writes of blocks that are not answered: of devices, and of write-combining buffers that are full.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_POSTED_DOUBLEWORDS = 937,
  /**
   * Sized reads within a doubleword.
   */
  VM_PMU_SIGNAL_SIZED_READS_BYTES = 938,
  /**
   * Sized reads of more than a doubleword.
   */
  VM_PMU_SIGNAL_SIZED_READS_DOUBLEWORDS = 939,
  /**
   * Commands to read memory, to change it and to write it back in one.
   */
  VM_PMU_SIGNAL_SIZED_READ_MODIFY_WRITES = 940,
  /**
   * Sized writes of 32 bytes to the memory of a package.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_OF_32 = 941,
  /**
   * Sized writes of 64 bytes to the memory of a package.
   */
  VM_PMU_SIGNAL_SIZED_WRITES_OF_64 = 942,
  /**
   * Sized reads of 32 bytes of the memory of a package.
   */
  VM_PMU_SIGNAL_SIZED_READS_OF_32 = 943,
  /**
   * Sized reads of 64 bytes of the memory of a package.
   */
  VM_PMU_SIGNAL_SIZED_READS_OF_64 = 944,
  /**
   * Doublewords of commands that a package sends on its HyperTransport link 0.
   */
  VM_PMU_SIGNAL_LINK0_COMMANDS = 945,
  /**
   * Doublewords of data that a package sends on its HyperTransport link 0.
   */
  VM_PMU_SIGNAL_LINK0_DATA = 946,
  /**
   * Doublewords with which a package gives buffers back on its HyperTransport link 0.
   */
  VM_PMU_SIGNAL_LINK0_RELEASES = 947,
  /**
   * Doublewords that a package could have sent on its HyperTransport link 0 and did not.
   */
  VM_PMU_SIGNAL_LINK0_IDLE = 948,
  /**
   * Doublewords of commands that a package sends on its HyperTransport link 1.
   */
  VM_PMU_SIGNAL_LINK1_COMMANDS = 949,
  /**
   * Doublewords of data that a package sends on its HyperTransport link 1.
   */
  VM_PMU_SIGNAL_LINK1_DATA = 950,
  /**
   * Doublewords with which a package gives buffers back on its HyperTransport link 1.
   */
  VM_PMU_SIGNAL_LINK1_RELEASES = 951,
  /**
   * Doublewords that a package could have sent on its HyperTransport link 1 and did not.
   */
  VM_PMU_SIGNAL_LINK1_IDLE = 952,
  /**
   * Doublewords of commands that a package sends on its HyperTransport link 2.
   */
  VM_PMU_SIGNAL_LINK2_COMMANDS = 953,
  /**
   * Doublewords of data that a package sends on its HyperTransport link 2.
   */
  VM_PMU_SIGNAL_LINK2_DATA = 954,
  /**
   * Doublewords with which a package gives buffers back on its HyperTransport link 2.
   */
  VM_PMU_SIGNAL_LINK2_RELEASES = 955,
  /**
   * Doublewords that a package could have sent on its HyperTransport link 2 and did not.
   */
  VM_PMU_SIGNAL_LINK2_IDLE = 956,
  /**
   * Bus transactions that tell a directory that an unmodified line left the last cache of a core.
   */
  VM_PMU_SIGNAL_BUS_CLEAN_CASTOUTS = 957,
  /**
   * Bus reads of a line that leave it where it is.
   */
  VM_PMU_SIGNAL_BUS_CURRENT_READS = 958,
  /**
   * Snoops to which the core answers that it does not have the line.
   */
  VM_PMU_SIGNAL_SNOOP_ANSWERS_MISS = 959,
  /**
   * Snoops to which the core answers that it has the line unmodified.
   */
  VM_PMU_SIGNAL_SNOOP_ANSWERS_HIT = 960,
  /**
   * Snoops to which the core answers that it has the line modified: it writes it back.
   */
  VM_PMU_SIGNAL_SNOOP_ANSWERS_MODIFIED = 961,
  /**
   * Snoops to which the package answers that none of its cores has the line.
   */
  VM_PMU_SIGNAL_SNOOP_SIGNOFFS_MISS = 962,
  /**
   * Snoops to which the package answers that a core has the line and none has it modified.
   */
  VM_PMU_SIGNAL_SNOOP_SIGNOFFS_HIT = 963,
  /**
   * Snoops to which the package answers that a core has the line modified.
   */
  VM_PMU_SIGNAL_SNOOP_SIGNOFFS_MODIFIED = 964,
  /**
   * Writes of up to eight combined bytes, the first half of sixteen.
   */
  VM_PMU_SIGNAL_COMBINED_WRITES_8_EVEN = 965,
  /**
   * Writes of up to eight combined bytes, the second half of sixteen.
   */
  VM_PMU_SIGNAL_COMBINED_WRITES_8_ODD = 966,
  /**
   * Writes of sixteen combined bytes.
   */
  VM_PMU_SIGNAL_COMBINED_WRITES_16 = 967,
  /**
   * Writes of thirty-two combined bytes.
   */
  VM_PMU_SIGNAL_COMBINED_WRITES_32 = 968,
  /**
   * Bus clocks in which data of a transaction are on the bus.
   */
  VM_PMU_SIGNAL_BUS_DATA_CYCLES = 969,
  /**
   * Lines that came into the second-level cache of data modified, or to be modified at once.
   */
  VM_PMU_SIGNAL_L2_DATA_FILLS_MODIFIED = 970,
  /**
   * Lines that came into the second-level cache of data exclusive.
   */
  VM_PMU_SIGNAL_L2_DATA_FILLS_EXCLUSIVE = 971,
  /**
   * Lines that came into the second-level cache of data shared.
   */
  VM_PMU_SIGNAL_L2_DATA_FILLS_SHARED = 972,
  /**
   * Accesses of a core to the graphics aperture that leave its caches.
   */
  VM_PMU_SIGNAL_APERTURE_ACCESSES = 973,
  /**
   * Accesses of devices of a package to the graphics aperture.
   */
  VM_PMU_SIGNAL_DEVICE_APERTURE_ACCESSES = 974,
  /**
   * Accesses to the graphics aperture whose translation its buffer did not have.
   */
  VM_PMU_SIGNAL_APERTURE_MISSES = 975,
  /**
   * The lower bits of the number of requests between the second level and their answers, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_REQUEST_QUEUE_LOW = 976,
  /**
   * The upper bits of the number of requests between the second level and their answers, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_REQUEST_QUEUE_HIGH = 977,
  /**
   * The lower bits of the number of lines that memory has been asked for and has not begun to send, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_READS_OUTSTANDING_LOW = 978,
  /**
   * The upper bits of the number of lines that memory has been asked for and has not begun to send, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_READS_OUTSTANDING_HIGH = 979,
  /**
   * The lower bits of the number of requests that wait for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_ARBITER_QUEUE_LOW = 980,
  /**
   * The upper bits of the number of requests that wait for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_ARBITER_QUEUE_HIGH = 981,
  /**
   * The lower bits of the number of writes that have not left for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_WRITE_QUEUE_LOW = 982,
  /**
   * The upper bits of the number of writes that have not left for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_WRITE_QUEUE_HIGH = 983,
  /**
   * The lower bits of the number of clean castouts that wait for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_CASTOUT_QUEUE_LOW = 984,
  /**
   * The upper bits of the number of clean castouts that wait for the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_CASTOUT_QUEUE_HIGH = 985,
  /**
   * The lower bits of the number of transactions that are on the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_IN_ORDER_QUEUE_LOW = 986,
  /**
   * The upper bits of the number of transactions that are on the bus, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_IN_ORDER_QUEUE_HIGH = 987,
  /**
   * Bus clocks of bursts of data that follow another burst at once.
   */
  VM_PMU_SIGNAL_BUS_BACK_TO_BACK_CYCLES = 988,
  /**
   * Operations of the second level's queue that are cancelled: recirculations beyond one a cycle, and short ways of accesses that are not aligned.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_RECIRCULATION = 989,
  /**
   * Operations of the second level's queue that are cancelled behind a cancelled store to the same place.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_CANCELLED_STORE = 990,
  /**
   * Operations of the second level's queue that are cancelled by an older store to the same place in the first stage of its pipeline.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_STORE_FIRST_STAGE = 991,
  /**
   * The same, with the store in the second stage.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_STORE_SECOND_STAGE = 992,
  /**
   * The same, with the store in the third stage.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_STORE_THIRD_STAGE = 993,
  /**
   * The same, with the store in the fourth stage.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_STORE_FOURTH_STAGE = 994,
  /**
   * Operations of the second level's queue that are cancelled behind an acquire.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_ACQUIRE = 995,
  /**
   * Operations of the second level's queue that release or act as releases, and are cancelled for an older one.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_RELEASE = 996,
  /**
   * Operations that are cancelled on a way around the second level's queue, for a bank of the data array.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_BANK = 997,
  /**
   * Semaphores in the second level's queue that are cancelled for an older operation.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_SEMAPHORE = 998,
  /**
   * Operations of the second level's queue that are cancelled since more were issued than there are ports.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_OVERSUBSCRIPTION = 999,
  /**
   * Operations of the second level's queue that are cancelled for data that come in.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_FILL = 1000,
  /**
   * Operations of the second level's queue that are cancelled for data that are read to be written back.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_WRITE_BACK = 1001,
  /**
   * Operations of the second level's queue that wait for acceptance or synchronize, and are cancelled for an older one.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_SYNCHRONIZATION = 1002,
  /**
   * Stores in the second level's queue that are cancelled for data that come in.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_FILL_STORE = 1003,
  /**
   * Stores in the second level's queue that are cancelled since the buffer of their data is read for a line that comes in.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS_STORE_DATA = 1004,
  /**
   * Operations of the second level's queue that are cancelled, for whatever reason.
   */
  VM_PMU_SIGNAL_L2_QUEUE_CANCELS = 1005,
  /**
   * Operations of the second level's queue that are cancelled late behind an acquire of their issue group.
   */
  VM_PMU_SIGNAL_L2_QUEUE_LATE_CANCELS_SIBLING = 1006,
  /**
   * Operations that are cancelled late on the short way around the second level's queue, since they act as releases.
   */
  VM_PMU_SIGNAL_L2_QUEUE_LATE_CANCELS_BYPASS = 1007,
  /**
   * Cycles in which the second level's queue is full.
   */
  VM_PMU_SIGNAL_L2_QUEUE_FULL_CYCLES = 1008,
  /**
   * Cycles in which the second level's queue has an operation that releases, or acts as a release.
   */
  VM_PMU_SIGNAL_L2_QUEUE_RELEASE_CYCLES = 1009,
  /**
   * Cycles in which the second level's queue has an acquire.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ACQUIRE_CYCLES = 1010,
  /**
   * Cycles in which all lines that the second level can ask for are on their way.
   */
  VM_PMU_SIGNAL_L2_FILL_BUFFER_FULL_CYCLES = 1011,
  /**
   * Cycles in which the second level has as many modified lines to write back as it can.
   */
  VM_PMU_SIGNAL_L2_VICTIM_BUFFER_FULL_CYCLES = 1012,
  /**
   * Loads that go the short way around the second level's queue.
   */
  VM_PMU_SIGNAL_L2_QUEUE_SHORT_BYPASSES = 1013,
  /**
   * Loads that go the longer way around the second level's queue.
   */
  VM_PMU_SIGNAL_L2_QUEUE_LONG_BYPASSES = 1014,
  /**
   * Misses of the second level that go around its queue to the third.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISS_BYPASSES = 1015,
  /**
   * Ways of misses around the second level's queue that are given up, since the access is none that may take it.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISS_BYPASSES_INVALID = 1016,
  /**
   * Ways of misses around the second level's queue that are given up, for the memory attribute or the order.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISS_BYPASSES_SPECULATIVE = 1017,
  /**
   * Operations that enter the second level's queue as hits.
   */
  VM_PMU_SIGNAL_L2_QUEUE_HITS = 1018,
  /**
   * Operations that hit and are forced to go round the second level's queue again.
   */
  VM_PMU_SIGNAL_L2_QUEUE_HITS_HELD = 1019,
  /**
   * Operations that enter the second level's queue as misses of a line on its way.
   */
  VM_PMU_SIGNAL_L2_QUEUE_FILL_HITS = 1020,
  /**
   * Operations that enter the second level's queue as misses, and behind one that goes round again.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISSES_BEHIND_RECIRCULATION = 1021,
  /**
   * Operations that enter the second level's queue as misses, beside a miss of the same set.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISSES_SAME_SET = 1022,
  /**
   * Operations that enter the second level's queue as misses of a line that another in the queue has missed.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISSES_BEHIND_MISS = 1023,
  /**
   * Operations that enter the second level's queue as misses of a line that was missed a cycle before.
   */
  VM_PMU_SIGNAL_L2_QUEUE_MISSES_ONE_BEHIND_MISS = 1024,
  /**
   * Reads that enter the second level's queue and miss a line that another has missed.
   */
  VM_PMU_SIGNAL_L2_QUEUE_SECONDARY_READS = 1025,
  /**
   * Writes that enter the second level's queue and miss a line that another has missed.
   */
  VM_PMU_SIGNAL_L2_QUEUE_SECONDARY_WRITES = 1026,
  /**
   * Operations of the second level's queue that are sent round again.
   */
  VM_PMU_SIGNAL_L2_QUEUE_RECIRCULATIONS = 1027,
  /**
   * Integer loads that the second level completes.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_INTEGER_LOADS = 1028,
  /**
   * Floating-point loads that the second level completes.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_FLOATING_LOADS = 1029,
  /**
   * Semaphores and stores that read first, completed by the second level.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_MODIFICATIONS = 1030,
  /**
   * Other stores that the second level completes.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_STORES = 1031,
  /**
   * Prefetches that the second level completes.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_PREFETCHES = 1032,
  /**
   * Operations other than loads, stores and prefetches that the second level completes.
   */
  VM_PMU_SIGNAL_L2_QUEUE_ISSUED_OTHERS = 1033,
  /**
   * Loads that waited as the second level got their line for a fetch of code.
   */
  VM_PMU_SIGNAL_LOADS_BEHIND_FETCH = 1034,
  /**
   * Fetches of code that came to the second-level cache while it got their line for a store.
   */
  VM_PMU_SIGNAL_FETCHES_BEHIND_STORE = 1035,
  /**
   * Loads of the first load/store slice whose line the table of predicted ways does not have.
   */
  VM_PMU_SIGNAL_WAY_PREDICTION_MISSES_SLICE0 = 1036,
  /**
   * Loads of the second load/store slice whose line the table of predicted ways does not have.
   */
  VM_PMU_SIGNAL_WAY_PREDICTION_MISSES_SLICE1 = 1037,
  /**
   * Loads of the third load/store slice whose line the table of predicted ways does not have.
   */
  VM_PMU_SIGNAL_WAY_PREDICTION_MISSES_SLICE2 = 1038,
  /**
   * Loads of the fourth load/store slice whose line the table of predicted ways does not have.
   */
  VM_PMU_SIGNAL_WAY_PREDICTION_MISSES_SLICE3 = 1039,
  /**
   * Lines that a device put into the third-level cache of the core.
   */
  VM_PMU_SIGNAL_L3_LINES_INJECTED = 1040,
  /**
   * Cycles in which the first write-inject machine of the third-level cache works.
   */
  VM_PMU_SIGNAL_THIRD_INJECT_MACHINE0_CYCLES = 1041,
  /**
   * Cycles in which the write-inject machine of the third-level cache works that is sampled then.
   */
  VM_PMU_SIGNAL_THIRD_INJECT_MACHINE_SAMPLE_CYCLES = 1042,
  /**
   * Touches of a line that will not be used again, which the second-level cache passed on to the third.
   */
  VM_PMU_SIGNAL_L3_TRANSIENT_PREFETCHES = 1043,
  /**
   * Demand misses of a line that a stream of the prefetcher has asked for, which pass over the one before it.
   */
  VM_PMU_SIGNAL_DATA_PREFETCH_STREAM_HITS_AHEAD = 1044,
  /**
   * Accesses for which the memory-side cache filled a place that had no line.
   */
  VM_PMU_SIGNAL_MEMORY_SIDE_CACHE_MISSES_INVALID = 1045,
  /**
   * Pairs of bundles that came into the front end from beyond the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_PAIRS_RECEIVED = 1046,
  /**
   * Snoops of lines of the first-level instruction cache.
   */
  VM_PMU_SIGNAL_INSTRUCTION_CACHE_SNOOPS = 1047,
  /**
   * Purges of translations for instructions.
   */
  VM_PMU_SIGNAL_INSTRUCTION_TRANSLATION_PURGES = 1048,
  /**
   * Requests to prefetch instructions that follow a branch with a hint to go on with sequential lines.
   */
  VM_PMU_SIGNAL_INSTRUCTION_STREAM_PREFETCHES = 1049,
  /**
   * Fetches of uncacheable code that went to the second-level instruction cache.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_UNCACHEABLE_READS = 1050,
  /**
   * Cycles in which every place for lines of code on their way to the front end is taken.
   */
  VM_PMU_SIGNAL_READ_ADDRESS_BUFFER_FULL_CYCLES = 1051,
  /**
   * Cycles in which at most one place for lines of code on their way to the front end is free.
   */
  VM_PMU_SIGNAL_READ_ADDRESS_BUFFER_NEARLY_FULL_CYCLES = 1052,
  /**
   * Fetches of code whose line is on its way to the front end.
   */
  VM_PMU_SIGNAL_READ_ADDRESS_BUFFER_HITS = 1053,
  /**
   * Fetches that a prefetched line supplies in time and before it is in the first-level instruction cache.
   */
  VM_PMU_SIGNAL_STREAMING_BUFFER_HITS = 1054,
  /**
   * Cycles in which the prefetcher of code waits for a place.
   */
  VM_PMU_SIGNAL_INSTRUCTION_PREFETCH_STALL_CYCLES = 1055,
  /**
   * Look-ups of fetches whose line is on its way to the second-level instruction cache, and which hit at last.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_RECIRCULATES = 1056,
  /**
   * The same of prefetches.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_RECIRCULATES = 1057,
  /**
   * Look-ups of fetches whose line was on its way to the second-level instruction cache, and which missed at last.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_RECIRCULATES_MISSED = 1058,
  /**
   * The same of prefetches.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_RECIRCULATES_MISSED = 1059,
  /**
   * Requests of the second-level instruction cache for fetches that the third level refused.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_REJECTS = 1060,
  /**
   * The same for prefetches.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_REJECTS = 1061,
  /**
   * Look-ups of fetches that the second-level instruction cache gave up although it had the line.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_CONFLICTS = 1062,
  /**
   * The same of prefetches.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_CONFLICTS = 1063,
  /**
   * Look-ups of fetches that the second-level instruction cache gave up because a snoop took the line at the same time.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_DEMAND_CONFLICTS_MISSED = 1064,
  /**
   * The same of prefetches.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_PREFETCH_CONFLICTS_MISSED = 1065,
  /**
   * Look-ups for fetches that were given up because the prefetch before them had been looked up.
   */
  VM_PMU_SIGNAL_L2_INSTRUCTION_SPECULATIVE_ABORTS = 1066,
  /**
   * The lower bits of the number of snoops that a core has not answered, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_SNOOP_QUEUE_LOW = 1067,
  /**
   * The upper bits of the number of snoops that a core has not answered, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_SNOOP_QUEUE_HIGH = 1068,
  /**
   * The lower bits of the number of answers to snoops that the bus has not taken, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_SNOOP_ANSWERS_LOW = 1069,
  /**
   * The upper bits of the number of answers to snoops that the bus has not taken, added up over cycles.
   */
  VM_PMU_SIGNAL_BUS_SNOOP_ANSWERS_HIGH = 1070,
  /**
   * Bus clocks in which a transaction waits for the answers of others to its snoop.
   */
  VM_PMU_SIGNAL_BUS_SNOOP_STALL_CYCLES = 1071,
  /**
   * Writes that have not left for the bus and whose line a snoop asks for.
   */
  VM_PMU_SIGNAL_BUS_WRITE_COLLISIONS = 1072,
  /**
   * Lines that were to be written back, and that are the answer to a snoop instead.
   */
  VM_PMU_SIGNAL_BUS_WRITES_CANCELLED = 1073,
  /**
   * Clean castouts that wait for the bus and whose line a snoop asks for.
   */
  VM_PMU_SIGNAL_BUS_CASTOUT_COLLISIONS = 1074,
  /**
   * Transactions that are on the bus when the core begins another one on their line.
   */
  VM_PMU_SIGNAL_BUS_IN_ORDER_COLLISIONS = 1075,
  /**
   * Operations of the second level's queue that a snoop of their line sends round.
   */
  VM_PMU_SIGNAL_L2_QUEUE_SNOOPED = 1076,
  /**
   * Lines that come into the second level at the time of a snoop for them.
   */
  VM_PMU_SIGNAL_L2_QUEUE_SNOOPED_FILLS = 1077,
  /**
   * Vector divisions and square roots of double precision completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_DIVIDES = 1078,
  /**
   * Vector divisions and square roots of single precision completed.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_DIVIDES = 1079,
  /**
   * Arithmetic instructions of single precision completed, scalar and vector.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_SINGLE_OPS = 1080,
  /**
   * Arithmetic instructions of double or quad precision completed, scalar and vector.
   */
  VM_PMU_SIGNAL_FLOATING_POINT_DOUBLE_OPS = 1081,
} VmPmuSignal;

/*
 * VmPmuRecord::traits: what else an instruction was, and what befell it.
 */
#define VM_PMU_TRAIT_PROBE (UINT32_C(1) << 0)
#define VM_PMU_TRAIT_RESERVE (UINT32_C(1) << 1)
#define VM_PMU_TRAIT_CONDITIONAL (UINT32_C(1) << 2)
#define VM_PMU_TRAIT_CONDITIONAL_FAILED (UINT32_C(1) << 3)
#define VM_PMU_TRAIT_DIVIDE (UINT32_C(1) << 4)
#define VM_PMU_TRAIT_LONG_LATENCY (UINT32_C(1) << 5)
#define VM_PMU_TRAIT_LINK (UINT32_C(1) << 6)
#define VM_PMU_TRAIT_DECIMAL (UINT32_C(1) << 7)
#define VM_PMU_TRAIT_TRANSACTION_END (UINT32_C(1) << 8)
#define VM_PMU_TRAIT_TRANSACTION_FAILED (UINT32_C(1) << 9)
#define VM_PMU_TRAIT_FIRST_TRANSLATION_MISS (UINT32_C(1) << 10)
#define VM_PMU_TRAIT_TRANSLATION_MISS (UINT32_C(1) << 11)
#define VM_PMU_TRAIT_STORE_FORWARDED (UINT32_C(1) << 12)
#define VM_PMU_TRAIT_LOAD_MERGED (UINT32_C(1) << 13)
#define VM_PMU_TRAIT_COUNT_CACHE (UINT32_C(1) << 14)
#define VM_PMU_TRAIT_AFTER_EMPTY (UINT32_C(1) << 15)
#define VM_PMU_TRAIT_SLEW_UP (UINT32_C(1) << 16)
#define VM_PMU_TRAIT_SLEW_DOWN (UINT32_C(1) << 17)
#define VM_PMU_TRAIT_DISCARDED (UINT32_C(1) << 18)
#define VM_PMU_TRAIT_RADIX_RELOAD (UINT32_C(1) << 19)
#define VM_PMU_TRAIT_NONREPEATING (UINT32_C(1) << 20)
#define VM_PMU_TRAIT_MATCHED (UINT32_C(1) << 21)
#define VM_PMU_TRAIT_SECOND_BUNDLE (UINT32_C(1) << 22)
#define VM_PMU_TRAIT_FLUSHED (UINT32_C(1) << 23)
#define VM_PMU_TRAIT_ADVANCED_CHECK_FAILED (UINT32_C(1) << 24)
#define VM_PMU_TRAIT_FLOATING_POINT (UINT32_C(1) << 25)
#define VM_PMU_TRAIT_SEMAPHORE (UINT32_C(1) << 26)
#define VM_PMU_TRAIT_REGISTER_STACK (UINT32_C(1) << 27)
#define VM_PMU_TRAIT_PAGE_WALKER (UINT32_C(1) << 28)
#define VM_PMU_TRAIT_PREDICTED_FIRST (UINT32_C(1) << 29)
#define VM_PMU_TRAIT_PREDICTED_SECOND (UINT32_C(1) << 30)
#define VM_PMU_TRAIT_WEAKLY_PREDICTED (UINT32_C(1) << 31)

/*
 * VmPmuRecord::line_states.
 */
#define VM_PMU_LINE_STATE_INVALID (1 << 0)
#define VM_PMU_LINE_STATE_SHARED (1 << 1)
#define VM_PMU_LINE_STATE_EXCLUSIVE (1 << 2)
#define VM_PMU_LINE_STATE_MODIFIED (1 << 3)

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
 * Adds to the total of a signal, below VmPmuCells::signals, and returns the new total.
 */
static inline uint64_t vm_pmu_add(const VmPmuCells *cells, uint32_t signal, uint64_t amount) {
  uint64_t total = VM_PMU_LOAD(cells->totals + signal) + amount;
  VM_PMU_STORE(cells->totals + signal, total);
  return total;
}

/**
 * Whether the total of a signal has reached its deadline. If so, call vm_pmu_service().
 */
static inline bool vm_pmu_reached(const VmPmuCells *cells, uint32_t signal) {
  return VM_PMU_LOAD(cells->totals + signal) >= VM_PMU_LOAD(cells->deadlines + signal);
}

/**
 * Whether the horizon has been reached: one comparison for any number of counted signals. If so, call vm_pmu_check().
 */
static inline bool vm_pmu_due(const VmPmuCells *cells) {
  return VM_PMU_LOAD(cells->totals + cells->pace) >= VM_PMU_LOAD(cells->horizon);
}

/**
 * How far the pace may advance before the horizon. A translated block that adds less to the pace needs no comparison inside it.
 */
static inline uint64_t vm_pmu_room(const VmPmuCells *cells) {
  uint64_t total = VM_PMU_LOAD(cells->totals + cells->pace);
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
