/*
 * vm-pmu: the companion, caches, translation buffers, predictors and timing of a modelled CPU.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_COMPANION_H
#define VM_PMU_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu.h"

// The most packages that are joined by HyperTransport links.
#define VM_PMU_NODES 8

// HyperTransport links of a package.
#define VM_PMU_NODE_LINKS 3

// The most ranges of I/O: the K8's address map has as many.
#define VM_PMU_IO_RANGES 8

// In VmPmuCompanionOptions::flags: every thread is followed even while nothing that the companion supplies is counted, so that caches are
// warm.
#define VM_PMU_COMPANION_ALWAYS (1 << 0)

// In VmPmuCompanionOptions::flags: memory has a buffer with a cache on each channel, a fourth level, on a part that has such buffers.
#define VM_PMU_COMPANION_BUFFERED (1 << 1)

// How many entries of page tables can lead to a page.
#define VM_PMU_WALK_ENTRIES 5

// In VmPmuAccess::flags: it is part of a locked read-modify-write.
#define VM_PMU_ACCESS_LOCKED (1 << 0)

// In VmPmuAccess::flags: it goes to a device, or to memory that is not cached.
#define VM_PMU_ACCESS_UNCACHED (1 << 1)

// In VmPmuInstruction::flags: it is one of the floating-point or vector unit.
#define VM_PMU_INSTRUCTION_FLOATING_POINT (1 << 0)

// In VmPmuInstruction::flags: its transfer left the next sequential address.
#define VM_PMU_INSTRUCTION_TAKEN (1 << 1)

// In VmPmuInstruction::flags: it crosses into a page that does not follow in physical memory, whose address is next_page.
#define VM_PMU_INSTRUCTION_NEXT_PAGE (1 << 2)

// In VmPmuInstruction::flags: the fields from address_registers on say what it works on. Without it, it is taken to need the result of
// the instruction before, and its own to be ready a cycle later.
#define VM_PMU_INSTRUCTION_OPERATION (1 << 3)

// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it works on several elements at once.
#define VM_PMU_INSTRUCTION_PACKED (1 << 4)

// In VmPmuInstruction::flags: it is one of IA-64, with its bundle and slot.
#define VM_PMU_INSTRUCTION_BUNDLE (1 << 5)

// In VmPmuInstruction::flags: it is a taken call or return, whose function_state is told.
#define VM_PMU_INSTRUCTION_FUNCTION_STATE (1 << 6)

// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: it writes the upper half of a vector register, and keeps the lower one.
#define VM_PMU_INSTRUCTION_UPPER (1 << 7)

// In VmPmuInstruction::flags, with VM_PMU_INSTRUCTION_OPERATION: the floating-point unit has to see whether it raises an exception, as an
// operand's exponent is near the end of its range.
#define VM_PMU_INSTRUCTION_MAY_TRAP (1 << 8)

// The most accesses of one instruction: report longer ones in parts.
#define VM_PMU_MOST_ACCESSES 64

// The most registers of a decoded instruction.
#define VM_PMU_MOST_DECODED_REGISTERS 10

// The most signals that vm_pmu_decode_signals() lists of an instruction.
#define VM_PMU_MOST_DECODED_SIGNALS 16

// The most accesses of a decoded instruction that are listed.
#define VM_PMU_MOST_DECODED_ACCESSES 8

// In VmPmuDecoded::flags: its transfer goes to VmPmuInstruction::target whenever it is taken. Without it, the bytes have no target.
#define VM_PMU_DECODED_TARGET (1 << 0)

// In VmPmuDecoded::flags: its transfer depends on a condition.
#define VM_PMU_DECODED_CONDITIONAL (1 << 1)

// In VmPmuDecoded::flags: it makes its accesses any number of times, such as a string instruction with a REP prefix. Each iteration is reported
// as an instruction of its own.
#define VM_PMU_DECODED_REPEATS (1 << 2)

// In VmPmuOutcome::flags: the fetch fields describe a miss of the instruction's fetch.
#define VM_PMU_OUTCOME_FETCH (1 << 0)

// In VmPmuOutcome::flags: its first-level instruction cache missed.
#define VM_PMU_OUTCOME_FETCH_MISS (1 << 1)

// In VmPmuOutcome::flags: its line was on its way already.
#define VM_PMU_OUTCOME_FETCH_PENDING (1 << 2)

// In VmPmuOutcome::flags: it was a prefetch, not a demand fetch.
#define VM_PMU_OUTCOME_FETCH_PREFETCH (1 << 3)

// In VmPmuOutcome::flags: the companion keeps time, and `cycles` is known.
#define VM_PMU_OUTCOME_CYCLES (1 << 4)

// In VmPmuOutcome::flags: `walk_source` is known.
#define VM_PMU_OUTCOME_WALK_SOURCE (1 << 5)

// In VmPmuOutcome::flags: `reload_source` is known.
#define VM_PMU_OUTCOME_RELOAD_SOURCE (1 << 6)

// In VmPmuOutcome::flags: a cache that had the line in state T gave it, for VM_PMU_RECORD_TAGGED_INTERVENTION.
#define VM_PMU_OUTCOME_TAGGED_INTERVENTION (1 << 7)

// The most states that can hold in a delivery.
#define VM_PMU_MOST_HELD 48

// For vm_pmu_follow_report_at_most(): as many cycles as there are.
#define VM_PMU_ALL_CYCLES UINT64_MAX

// The number of ports at which requests begin.
#define VM_PMU_PORTS 4

// The number of links of a package that are counted.
#define VM_PMU_LINKS 3

// The number of channels of memory of a package that count what they are asked for.
#define VM_PMU_CHANNELS 8

// Whose clock counts.
enum VmPmuClockOwner
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The embedder: it adds cycles itself, and the companion reports only events.
  VM_PMU_CLOCK_OWNER_EMBEDDER = 0,
  // The companion: its pipeline decides how many cycles an instruction takes and why. The embedder adds no cycles while the follower
  // is active.
  VM_PMU_CLOCK_OWNER_COMPANION = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClockOwner VmPmuClockOwner;
#else
typedef uint32_t VmPmuClockOwner;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an access does.
enum VmPmuAccessKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It reads.
  VM_PMU_ACCESS_KIND_LOAD = 0,
  // It writes.
  VM_PMU_ACCESS_KIND_STORE = 1,
  // It writes around the caches, through the write-combining buffers.
  VM_PMU_ACCESS_KIND_STREAMING_STORE = 2,
  // It prefetches a line that will be read.
  VM_PMU_ACCESS_KIND_PREFETCH_LOAD = 3,
  // It prefetches a line that will be written.
  VM_PMU_ACCESS_KIND_PREFETCH_STORE = 4,
  // It prefetches a line that will be read once.
  VM_PMU_ACCESS_KIND_PREFETCH_ONCE = 5,
  // It drives a line out of every cache.
  VM_PMU_ACCESS_KIND_FLUSH = 6,
  // The register stack engine reads.
  VM_PMU_ACCESS_KIND_REGISTER_STACK_LOAD = 7,
  // The register stack engine writes.
  VM_PMU_ACCESS_KIND_REGISTER_STACK_STORE = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuAccessKind VmPmuAccessKind;
#else
typedef uint8_t VmPmuAccessKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What an instruction does. It decides which units it needs, and for how long.
//
// An access to memory is no class of its own: an addition that reads memory is Simple with a VmPmuAccess. Only what merely moves between a
// register and memory is a Load or a Store.
enum VmPmuClass
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Integer arithmetic, logic, comparison or move that takes a cycle, apart from accesses.
  VM_PMU_CLASS_SIMPLE = 0,
  // A division of unsigned integers.
  VM_PMU_CLASS_DIVIDE = 1,
  // One that waits until the stores before it are done.
  VM_PMU_CLASS_FENCE = 2,
  // One that waits until everything before it is done, and restarts the pipeline.
  VM_PMU_CLASS_SERIALIZING = 3,
  // Not an instruction: an interrupt or exception that is taken.
  VM_PMU_CLASS_EXCEPTION = 4,
  // It does nothing.
  VM_PMU_CLASS_NOP = 5,
  // It reads memory into a register.
  VM_PMU_CLASS_LOAD = 6,
  // It writes a register to memory.
  VM_PMU_CLASS_STORE = 7,
  // It pushes a value onto the stack.
  VM_PMU_CLASS_PUSH = 8,
  // It pops a value from the stack.
  VM_PMU_CLASS_POP = 9,
  // A jump.
  VM_PMU_CLASS_BRANCH = 10,
  // A call of a procedure.
  VM_PMU_CLASS_CALL = 11,
  // A return from a procedure.
  VM_PMU_CLASS_RETURN = 12,
  // The address of a memory operand, of two sources without scaling at most.
  VM_PMU_CLASS_ADDRESS = 13,
  // The address of a memory operand, of three sources or with scaling.
  VM_PMU_CLASS_ADDRESS_SCALED = 14,
  // A shift or rotation.
  VM_PMU_CLASS_SHIFT = 15,
  // A rotation through the carry.
  VM_PMU_CLASS_ROTATE_THROUGH_CARRY = 16,
  // A shift of two registers.
  VM_PMU_CLASS_DOUBLE_SHIFT = 17,
  // It tests and changes one bit.
  VM_PMU_CLASS_BIT_TEST = 18,
  // It looks for the first or last bit that is set, or counts zeros.
  VM_PMU_CLASS_BIT_SCAN = 19,
  // It counts the bits that are set.
  VM_PMU_CLASS_POPULATION_COUNT = 20,
  // It exchanges two operands.
  VM_PMU_CLASS_EXCHANGE = 21,
  // It compares, and exchanges if equal; or a conditional store of a reservation.
  VM_PMU_CLASS_COMPARE_EXCHANGE = 22,
  // A multiplication of integers.
  VM_PMU_CLASS_MULTIPLY = 23,
  // A multiplication of integers whose product has both halves.
  VM_PMU_CLASS_WIDE_MULTIPLY = 24,
  // A division of signed integers.
  VM_PMU_CLASS_SIGNED_DIVIDE = 25,
  // An iteration of a string instruction.
  VM_PMU_CLASS_STRING = 26,
  // One of the system: registers of control, tables, translations.
  VM_PMU_CLASS_SYSTEM = 27,
  // One in microcode that no other class describes.
  VM_PMU_CLASS_MICROCODE = 28,
  // Addition or subtraction of floating-point numbers.
  VM_PMU_CLASS_FLOAT_ADD = 29,
  // Multiplication of floating-point numbers.
  VM_PMU_CLASS_FLOAT_MULTIPLY = 30,
  // Multiplication and addition in one.
  VM_PMU_CLASS_FLOAT_MULTIPLY_ADD = 31,
  // Division of floating-point numbers.
  VM_PMU_CLASS_FLOAT_DIVIDE = 32,
  // Square root.
  VM_PMU_CLASS_FLOAT_SQUARE_ROOT = 33,
  // Comparison of floating-point numbers, with a result in flags or in a condition register.
  VM_PMU_CLASS_FLOAT_COMPARE = 34,
  // Conversion between formats, or between integers and floating-point numbers.
  VM_PMU_CLASS_FLOAT_CONVERT = 35,
  // Move, sign or selection of floating-point or vector registers.
  VM_PMU_CLASS_FLOAT_MOVE = 36,
  // An estimate of a reciprocal or of its square root.
  VM_PMU_CLASS_FLOAT_ESTIMATE = 37,
  // Decimal or quad-precision arithmetic.
  VM_PMU_CLASS_DECIMAL = 38,
  // Vector arithmetic or logic of integers.
  VM_PMU_CLASS_VECTOR = 39,
  // Vector multiplication of integers.
  VM_PMU_CLASS_VECTOR_MULTIPLY = 40,
  // It moves elements within vectors.
  VM_PMU_CLASS_VECTOR_PERMUTE = 41,
  // A step of encryption or of a checksum.
  VM_PMU_CLASS_CRYPTO = 42,
  // A move from a general to a floating-point or vector register.
  VM_PMU_CLASS_TO_VECTOR = 43,
  // A move from a floating-point or vector to a general register.
  VM_PMU_CLASS_FROM_VECTOR = 44,
  // Extension of a narrower integer by its sign or by zeros.
  VM_PMU_CLASS_EXTEND = 45,
  // A move that a condition decides on.
  VM_PMU_CLASS_CONDITIONAL_MOVE = 46,
  // Addition or subtraction of integers with a carry or borrow from before.
  VM_PMU_CLASS_ADD_WITH_CARRY = 47,
  // It orders accesses, and waits for none.
  VM_PMU_CLASS_LIGHT_FENCE = 48,
  // It orders accesses to devices, and waits until the stores before it are done.
  VM_PMU_CLASS_DEVICE_FENCE = 49,
  // It invalidates translations in every processor.
  VM_PMU_CLASS_TRANSLATION_INVALIDATION = 50,
  // It invalidates segments in every processor, or waits until that is done.
  VM_PMU_CLASS_SEGMENT_INVALIDATION = 51,
  // It pastes a line to an accelerator.
  VM_PMU_CLASS_PASTE = 52,
  // It begins a transaction.
  VM_PMU_CLASS_TRANSACTION_BEGIN = 53,
  // It begins a transaction within another.
  VM_PMU_CLASS_NESTED_TRANSACTION_BEGIN = 54,
  // It ends the outermost transaction.
  VM_PMU_CLASS_TRANSACTION_END = 55,
  // It ends a transaction within another.
  VM_PMU_CLASS_NESTED_TRANSACTION_END = 56,
  // It writes the floating-point status and control register.
  VM_PMU_CLASS_STATUS_WRITE = 57,
  // It cleans or invalidates a line of a cache.
  VM_PMU_CLASS_CACHE_BLOCK = 58,
  // It reads a special register of the load/store unit.
  VM_PMU_CLASS_MEMORY_REGISTER = 59,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClass VmPmuClass;
#else
typedef uint8_t VmPmuClass;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How bytes are read: an instruction set, and a mode of it.
enum VmPmuCodeMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // x86, code of 16 bits.
  VM_PMU_CODE_MODE_X86_BITS16 = 0,
  // x86, code of 32 bits.
  VM_PMU_CODE_MODE_X86_BITS32 = 1,
  // x86, code of 64 bits.
  VM_PMU_CODE_MODE_X86_BITS64 = 2,
  // POWER, with words in little-endian order (MSR.LE is 1).
  VM_PMU_CODE_MODE_POWER_LITTLE_ENDIAN = 3,
  // POWER, with words in big-endian order.
  VM_PMU_CODE_MODE_POWER_BIG_ENDIAN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuCodeMode VmPmuCodeMode;
#else
typedef uint32_t VmPmuCodeMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What the elements of an operand of the floating-point or vector unit are.
enum VmPmuElements
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not told.
  VM_PMU_ELEMENTS_UNTOLD = 0,
  // Integers, of whatever width.
  VM_PMU_ELEMENTS_INTEGERS = 1,
  // Floating-point numbers of single precision.
  VM_PMU_ELEMENTS_SINGLES = 2,
  // Floating-point numbers of double precision.
  VM_PMU_ELEMENTS_DOUBLES = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuElements VmPmuElements;
#else
typedef uint8_t VmPmuElements;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which translations a processor forgets.
enum VmPmuForgotten
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // All of the core.
  VM_PMU_FORGOTTEN_ALL = 0,
  // All except those of global pages.
  VM_PMU_FORGOTTEN_NON_GLOBAL = 1,
  // The translation of the page with the given address.
  VM_PMU_FORGOTTEN_PAGE = 2,
  // The host's translation of the page with the given guest real address, and all that was derived from those of the host.
  VM_PMU_FORGOTTEN_HOST_PAGE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuForgotten VmPmuForgotten;
#else
typedef uint32_t VmPmuForgotten;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A kind of places that are counted separately.
enum VmPmuPlaceKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // A controller of near memory: on Knights Landing an EDC.
  VM_PMU_PLACE_KIND_NEAR_MEMORY = 0,
  // A channel of DRAM.
  VM_PMU_PLACE_KIND_CHANNEL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuPlaceKind VmPmuPlaceKind;
#else
typedef uint32_t VmPmuPlaceKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a device does.
enum VmPmuDeviceOperation
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It reads.
  VM_PMU_DEVICE_OPERATION_READ = 0,
  // It reads what a display is refreshed with.
  VM_PMU_DEVICE_OPERATION_DISPLAY_READ = 1,
  // It writes.
  VM_PMU_DEVICE_OPERATION_WRITE = 2,
  // It has an atomic operation done at the memory.
  VM_PMU_DEVICE_OPERATION_ATOMIC = 3,
  // It writes, and offers whole lines to the caches: a third level of victims whose cores have a copy takes the line instead of memory.
  // Elsewhere it is a write.
  VM_PMU_DEVICE_OPERATION_INJECT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuDeviceOperation VmPmuDeviceOperation;
#else
typedef uint32_t VmPmuDeviceOperation;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The instructions of a translated block: everything about them that does not change from one execution to the next. Callers only get pointers to
// it.
typedef struct VmPmuBlock VmPmuBlock;

// Caches, translation buffers and predictors of a machine, and a follower for each of its threads. Callers only get pointers to it.
typedef struct VmPmuCompanion VmPmuCompanion;

// The table entries that lead to the page of an address. The library sets it to a page of the default size without tables; the embedder
// changes the fields that it knows.
typedef struct {
  // sizeof(VmPmuWalk) of the library: fields beyond it are ignored.
  size_t size;
  // Physical addresses of the table entries that lead to the page, root first.
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  // How many of them there are.
  uint8_t levels;
  // Bits of an address within the page.
  uint8_t page_bits;
  // Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
  uint8_t global;
} VmPmuWalk;

// The tables of a guest whose real addresses the tables of its host translate. The library sets it to a guest that does not translate, at
// real address `address`; the embedder changes the fields that it knows.
typedef struct {
  // sizeof(VmPmuGuestWalk) of the library: fields beyond it are ignored.
  size_t size;
  // The guest real address that the address is translated to.
  uint64_t real;
  // The guest real address of the entry of the guest's process table, which a walk reads before the root, if `has_process_entry` is not 0.
  uint64_t process_entry;
  // Guest real addresses of the table entries that lead to the page, root first.
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  // How many of them there are.
  uint8_t levels;
  // Bits of an address within the guest's page.
  uint8_t page_bits;
  // Not 0 if the translation survives VM_PMU_FORGOTTEN_NON_GLOBAL.
  uint8_t global;
  // Whether there is an entry of a process table.
  uint8_t has_process_entry;
} VmPmuGuestWalk;

// The translation of a guest real address by the tables of the host. The library sets it to the same physical address, in a page of the
// default size without tables.
typedef struct {
  // sizeof(VmPmuHostWalk) of the library: fields beyond it are ignored.
  size_t size;
  // The physical address that the guest real address is translated to.
  uint64_t physical;
  // Physical addresses of the table entries that lead to the page, root first.
  uint64_t entries[VM_PMU_WALK_ENTRIES];
  // How many of them there are.
  uint8_t levels;
  // Bits of an address within the host's page.
  uint8_t page_bits;
} VmPmuHostWalk;

// Physical addresses that are I/O behind a package, on a part that counts I/O by package: the K8.
typedef struct {
  // The first address.
  uint64_t first;
  // How many bytes.
  uint64_t bytes;
  // The package that the devices are behind.
  uint32_t package;
  // Zero.
  uint32_t reserved;
} VmPmuIoRange;

// A HyperTransport link between two packages.
typedef struct {
  // One package, below VM_PMU_NODES.
  uint8_t package;
  // The number of the link there, below VM_PMU_NODE_LINKS.
  uint8_t link;
  // The other package.
  uint8_t other_package;
  // The number of the link there.
  uint8_t other_link;
} VmPmuNodeLink;

// What package `from` sends to package `to` leaves by its link `link`, instead of by a shortest way.
typedef struct {
  // The package that sends.
  uint8_t from;
  // The package that it is for.
  uint8_t to;
  // The link of `from`, which leads to a package.
  uint8_t link;
  // Zero.
  uint8_t reserved;
} VmPmuNodeRoute;

// How a companion is made. Set `size` to its sizeof; zero means the default.
typedef struct {
  // sizeof(VmPmuCompanionOptions).
  size_t size;
  // How many packages; 0 is one.
  uint32_t packages;
  // How many threads a package has; 0 is one. They fill one core after the other.
  uint32_t threads;
  // VmPmuClockOwner.
  uint32_t clock;
  // VM_PMU_COMPANION_ALWAYS.
  uint32_t flags;
  // The seed of random replacement; 0 is the default.
  uint64_t seed;
  // How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
  uint64_t memory_per_package;
  // Passed to `walk`.
  void *user;
  // Called when no translation buffer holds `address`: writes the table entries that lead to its page to `walk`. If null, pages have
  // `page_bits` bits and no table is read. It is called while the thread's follower is in use: it may call every function except those
  // that follow the same thread, and except those that destroy the companion or a machine. It must return: no C++ exception and no
  // longjmp may leave it.
  void (*walk)(void *user, uint32_t thread, uint64_t address, VmPmuWalk *walk);
  // Bits of an address within a page, where `walk` does not say otherwise; 0 is 12.
  uint32_t page_bits;
  // Called when the first level of translation buffers lacks `address`: if the thread is in a guest whose real addresses a host's tables
  // translate, writes the guest's tables to `guest` and returns true; otherwise returns false, and `walk` has all. If null, no guest has a
  // host. The rules of `walk` hold.
  bool (*nested)(void *user, uint32_t thread, uint64_t address, VmPmuGuestWalk *guest);
  // Called for a guest real address that `nested` has told: writes the host's tables for it to `host`. If null, each is its own physical
  // address. The rules of `walk` hold.
  void (*host)(void *user, uint32_t thread, uint64_t real, VmPmuHostWalk *host);
  // How many packages make a group: those of other groups are farther away than those of the own. 0 is all.
  uint32_t packages_per_group;
  // How many further clusters each package has whose cores are off and whose third level is lent to the others, on a part whose third
  // level is one of victims.
  uint32_t lent_clusters;
  // How many threads a core has, where it has fewer than it could; 0 is as many as it could.
  uint32_t core_threads;
  // Which tiles the die of a part with a mesh has, a bit for each of 38 places; 0 means that nothing is chosen: with a cluster mode all
  // of them, without one tiles that fill the quadrants one after the other.
  uint64_t tiles;
  // Physical addresses that are I/O behind a package, on the K8; null if there are none. Uncached accesses outside of them go to memory.
  // Without any, all uncached accesses go to I/O of the first package. The list is not used after vm_pmu_companion_create().
  const VmPmuIoRange *io_ranges;
  // How packages are joined by HyperTransport links, on a part that has such links: the K8. Null is a ladder: packages 2n and 2n + 1 are
  // joined by link 0, and link 2 of a package leads to link 1 of the one two numbers on. What is sent takes a shortest way, and of several
  // the one by the link of the smallest number. The list is not used after vm_pmu_companion_create().
  const VmPmuNodeLink *links;
  // Ways that are taken instead of the shortest ones, over `links`; null if there are none. The list is not used after
  // vm_pmu_companion_create().
  const VmPmuNodeRoute *routes;
  // How many ranges `io_ranges` has: VM_PMU_IO_RANGES at most.
  uint32_t io_range_count;
  // How many links `links` has.
  uint32_t link_count;
  // How many ways `routes` has.
  uint32_t route_count;
  // VmPmuClusterMode, on a part with a mesh: Knights Landing. A mode of several nodes divides `memory_per_package` among them.
  uint32_t cluster_mode;
  // VmPmuMemoryMode, on a part with a mesh. A mode other than a cache puts MCDRAM above `memory_per_package`.
  uint32_t memory_mode;
  // How many bytes of MCDRAM a part with a mesh has; 0 is 64 MiB, where the part has 16 GiB: eight bytes are allocated for each line that
  // is a cache.
  uint64_t mcdram;
  // The first address of the graphics aperture, on a part that has one: the K8.
  uint64_t aperture;
  // How many bytes the graphics aperture has; 0 means that there is none.
  uint64_t aperture_bytes;
} VmPmuCompanionOptions;

// An access by a device, to memory or to I/O of another device (VmPmuCompanionOptions::io_ranges).
typedef struct {
  // sizeof(VmPmuDeviceRequest).
  size_t size;
  // The physical address of the first byte.
  uint64_t physical;
  // How many bytes. At most 4,096 are taken: report a longer transfer in parts.
  uint64_t bytes;
  // The package of the companion that the device is behind.
  uint32_t package;
  // VmPmuDeviceOperation.
  uint32_t operation;
} VmPmuDeviceRequest;

// One access to memory. One that crosses into a page that is not contiguous in physical memory is reported as two.
typedef struct {
  // The virtual address.
  uint64_t address;
  // The physical address of the first byte.
  uint64_t physical;
  // Its size in bytes.
  uint8_t bytes;
  // VmPmuAccessKind.
  uint8_t kind;
  // VM_PMU_ACCESS_...
  uint8_t flags;
  // Zero.
  uint8_t reserved[5];
} VmPmuAccess;

// One executed instruction, or an interrupt or exception that was taken.
//
// Registers have numbers of the embedder's choice below 512; flags, condition fields and predicates are registers too. A register that
// always reads the same is left out.
typedef struct {
  // sizeof(VmPmuInstruction).
  size_t size;
  // Its virtual address.
  uint64_t address;
  // Its physical address.
  uint64_t physical;
  // The physical address of the next page, with VM_PMU_INSTRUCTION_NEXT_PAGE.
  uint64_t next_page;
  // Where its transfer went, or would have gone.
  uint64_t target;
  // What it accesses, in order; null if nothing.
  const VmPmuAccess *accesses;
  // How many accesses: VM_PMU_MOST_ACCESSES at most.
  size_t access_count;
  // VM_PMU_INSTRUCTION_...
  uint32_t flags;
  // Its length in bytes; 0 if nothing was fetched.
  uint8_t bytes;
  // How many slots of a cycle it takes; 0 is one.
  uint8_t micro_ops;
  // VmPmuClass.
  uint8_t instruction_class;
  // How many segment registers it loads.
  uint8_t segment_loads;
  // VmPmuBranch: its kind of control transfer.
  uint8_t branch;
  // The slot of its bundle, 0 to 2, with VM_PMU_INSTRUCTION_BUNDLE; a long instruction is in slot 1.
  uint8_t slot;
  // The 16 bytes of its bundle as two little-endian words, with VM_PMU_INSTRUCTION_BUNDLE.
  uint64_t bundle[2];
  // AR.PFS as a taken call left it or a taken return found it, with VM_PMU_INSTRUCTION_FUNCTION_STATE.
  uint64_t function_state;
  // The registers that addresses are computed from; null if there are none.
  const uint16_t *address_registers;
  // The other registers that it reads, also where it writes a part and the rest is kept; null if there are none.
  const uint16_t *read_registers;
  // The registers that it writes; null if there are none.
  const uint16_t *written_registers;
  // How many address_registers.
  uint8_t address_register_count;
  // How many read_registers.
  uint8_t read_register_count;
  // How many written_registers.
  uint8_t written_register_count;
  // The width of its operands in bytes: of the whole vector where there are several elements, 10 for x87's extended numbers; 0 if it has
  // none.
  uint8_t width;
  // VmPmuElements: of its result, or of its sources if it has none.
  uint8_t elements;
  // How many legacy prefixes it has, on x86.
  uint8_t prefixes;
} VmPmuInstruction;

// An access to memory, as the bytes of an instruction tell it.
typedef struct {
  // Its size in bytes. One of more than 255 is reported in parts.
  uint16_t bytes;
  // VmPmuAccessKind.
  uint8_t kind;
  // VM_PMU_ACCESS_LOCKED, or 0.
  uint8_t flags;
} VmPmuDecodedAccess;

// The facts that the bytes of an instruction tell besides a VmPmuInstruction, and the room for the lists of that. It stays where it is for as long as the
// VmPmuInstruction is used.
typedef struct {
  // sizeof(VmPmuDecoded).
  size_t size;
  // The registers: VmPmuInstruction's three lists are in here.
  uint16_t registers[10];
  // The accesses, loads before stores: access_count of them.
  VmPmuDecodedAccess accesses[8];
  // How many accesses.
  uint8_t access_count;
  // VM_PMU_DECODED_...
  uint8_t flags;
  // VmPmuUnit: the unit that executes it, for VmPmuRecord::unit; not known of x86.
  uint8_t unit;
} VmPmuDecoded;

// The outcome of the last instruction: the fields of a VmPmuRecord other than addresses.
typedef struct {
  // sizeof(VmPmuOutcome) of the library: fields beyond it do not exist.
  size_t size;
  // The address that was fetched, with VM_PMU_OUTCOME_FETCH.
  uint64_t fetch_address;
  // VM_PMU_OUTCOME_...
  uint32_t flags;
  // From issue to data, in cycles: the longest of its accesses.
  uint32_t latency;
  // From the fetch's request to the instructions, in cycles.
  uint32_t fetch_latency;
  // Its cycles, with VM_PMU_OUTCOME_CYCLES.
  uint32_t cycles;
  // VmPmuPrediction.
  uint8_t prediction;
  // VmPmuData: where the data of the longest access came from.
  uint8_t data;
  // With VM_PMU_DATA_CACHE the level of the cache.
  uint8_t data_level;
  // VmPmuTranslation of its first access.
  uint8_t translation;
  // VmPmuTranslation of its fetch.
  uint8_t fetch_translation;
  // VmPmuFetchSource: where its code came from.
  uint8_t fetch_source;
  // With VM_PMU_OUTCOME_WALK_SOURCE the code that POWER9 has for where the last page-table entry of its first access was read.
  uint8_t walk_source;
  // The binary logarithm of the size of that access's page in bytes, if the first level of the translation buffers did not have it;
  // else 0.
  uint8_t page_bits;
  // Cycles after its issue in which it was the oldest that had not finished, with `stages`.
  uint32_t stall;
  // VM_PMU_TRAIT_...: further properties that the pipeline finds, with `stages`.
  uint32_t traits;
  // When it reached each stage, in cycles from its decoding on.
  uint32_t stage_cycles[VM_PMU_STAGES];
  // The stages that it reaches, one bit each, those after its dispatch included. 0 unless the part is POWER9, the companion keeps time and
  // the demand asks for records.
  uint16_t stages;
  // The reason of its stall (POWER9: SIER.FIN_STALL_REASON), with `stages`.
  uint8_t stall_reason;
  // VmPmuStoreOutcome of its store.
  uint8_t store_outcome;
  // VmPmuFabricCommand: what the cluster asked the other caches and memory for, for the longest access.
  uint8_t fabric_command;
  // With VM_PMU_OUTCOME_RELOAD_SOURCE the code that POWER9 has for where the data of the longest access came from.
  uint8_t reload_source;
  // How far that command went and had to go, where the part predicts it: POWER9's SIER.EXT, 0 if nobody else was asked.
  uint8_t fabric_scope;
  // How often it was repeated, each time farther.
  uint8_t fabric_retries;
  // VmPmuFlush: why its first attempt was flushed, with `stages`.
  uint8_t flush;
} VmPmuOutcome;

// An entry of a trace: VmPmuTraced::what is made by vm_pmu_traced_block(), vm_pmu_traced_access() or vm_pmu_traced_left(), and is a constant of
// generated code. Its bits 56 to 63 belong to the emulator.
typedef struct {
  // What it is.
  uint64_t what;
  // Of a block the VmPmuBlock, as a number; the virtual address of an access.
  uint64_t address;
  // The physical address of an access.
  uint64_t physical;
} VmPmuTraced;

// How often a place of memory did something since its last report.
typedef struct {
  // sizeof(VmPmuPlace) of the library: fields behind it are not there.
  size_t size;
  // How often: accesses, never 0.
  uint64_t amount;
  // What it did, as a VmPmuSignal: memory_reads and memory_writes of a channel; near_memory_reads, near_memory_writes and the four of
  // the memory_side_cache of a controller of near memory.
  uint32_t signal;
  // VmPmuPlaceKind.
  uint32_t kind;
  // The controller, from 0 on through all packages.
  uint32_t controller;
  // The channel, from 0 on in its controller; 0 of near memory.
  uint32_t channel;
} VmPmuPlace;

// What half of a link carried in one direction.
typedef struct {
  // Commands, which each package shows its caches and its memory.
  uint64_t commands;
  // Answers of a package to commands.
  uint64_t answers;
  // Lines of data.
  uint64_t lines;
} VmPmuCarried;

// What a link carried, by its halves: the first has the even lines, the second the odd ones.
typedef struct {
  // To the other package.
  VmPmuCarried sent[2];
  // From the other package.
  VmPmuCarried received[2];
} VmPmuLink;

// What a channel of memory is asked for, whoever gives the data in the end.
typedef struct {
  // Reads of lines that are to be written.
  uint64_t owned;
  // Reads of lines by the prefetchers of data.
  uint64_t prefetched;
  // Writes of a part of a line by devices.
  uint64_t partly_written;
  // Atomic operations, done at the memory.
  uint64_t atomics;
  // Rows of DRAM that were opened, on parts whose lines go to channels in turn.
  uint64_t activations;
} VmPmuAsked;

// What the interconnect of a package did since its last report.
//
// A request begins at a cache or device of the package: to read a line, to own it, to write it, or to flush it from every cache.
// Consecutive lines go to the ports in turn.
typedef struct {
  // sizeof(VmPmuInterconnect) of the library: fields behind it are not there.
  size_t size;
  // Requests sent within the package, by port.
  uint64_t requests_within[VM_PMU_PORTS];
  // Requests sent to packages of other groups too, by port: one of them has the memory of the line, or had the line in a cache.
  uint64_t requests_beyond[VM_PMU_PORTS];
  // Lines that moved from one place of the package to another: its caches, its memory, its devices.
  uint64_t lines_within;
  // Lines that came from another package or went there.
  uint64_t lines_beyond;
  // The package.
  uint32_t package;
  // Requests sent to all packages of the group, by port.
  uint64_t requests_to_group[VM_PMU_PORTS];
  // The links to other packages of the group.
  VmPmuLink links[VM_PMU_LINKS];
  // What each channel of memory is asked for, in the order of VM_PMU_PLACE_KIND_CHANNEL.
  VmPmuAsked channels[VM_PMU_CHANNELS];
} VmPmuInterconnect;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes a companion of the part of this name: "k8", "knl", "itanium", "montecito", "power9".
//
// `options` may be null, for one package of one thread. The companion is written to `companion` and lives until
// vm_pmu_companion_destroy(). Later allocations for it are only what vm_pmu_companion_save() returns, and the list of places, at the first
// call that takes them. It may be used from several host threads at once, but only one at a time follows a thread of the guest.
VmPmuStatus vm_pmu_companion_create(const char *name, const VmPmuCompanionOptions *options, VmPmuCompanion **companion);

// Lists the signals that a companion of the part of this name supplies with the VmPmuClockOwner `clock`, for VmPmuOptions::supplied.
// Writes their numbers in order to `signals`, at most `capacity` of them, and to `count`, which may be null, how many there are.
VmPmuStatus vm_pmu_companion_supplied(const char *part, uint32_t clock, uint32_t *signals, uint32_t capacity, uint32_t *count);

// Destroys a companion. Null is allowed and does nothing. While a VmPmuCpu has one of its followers, this is refused.
VmPmuStatus vm_pmu_companion_destroy(VmPmuCompanion *companion);

// Saves everything that the companion and its followers remember, with everything delivered and no thread of the guest running. The
// snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
VmPmuStatus vm_pmu_companion_save(const VmPmuCompanion *companion, VmPmuSnapshot **snapshot);

// Makes the companion and its followers remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a companion that was
// made in the same way. Load the machine first, and call vm_pmu_follow_sync() for each thread afterwards.
//
// VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged, of something else, or saved by a version with another form of companions: then
// nothing is changed, and the embedder can start with cold caches instead.
VmPmuStatus vm_pmu_companion_load(const VmPmuCompanion *companion, const uint8_t *bytes, size_t length);

// A device behind package `request->package` of the companion does what `request` says: caches drop what it writes and answer what it reads.
// The events are added to the totals of the devices of package `counted` of `machine`, and their deadlines are compared. On the K8 that is
// the same package; on POWER9, where a package of the machine is a core, and on Knights Landing, where it is a tile, it is any of those.
// Each line counts as an access. Writes to `modified`, which may be null, which of the lines a cache had modified: bit 0 is the first, and
// 64 lines at most are taken. One host thread at a time calls it for a package.
VmPmuStatus vm_pmu_companion_device(const VmPmuCompanion *companion,
                                    const VmPmuMachine *machine,
                                    uint32_t counted,
                                    const VmPmuDeviceRequest *request,
                                    uint64_t *modified);

// A device of package `package` of `machine`, behind the package that has the memory, reads or writes `bytes` bytes of physical memory from
// `physical` on: caches drop what it writes and answer what it reads. The events are added to the totals of the package's devices, and
// their deadlines are compared. At most 4,096 bytes are taken: report a longer transfer in parts. One host thread at a time calls it for a
// package.
VmPmuStatus vm_pmu_companion_device_access(const VmPmuCompanion *companion,
                                           const VmPmuMachine *machine,
                                           uint32_t package,
                                           uint64_t physical,
                                           uint64_t bytes,
                                           bool writes);

// Decodes the instruction at the start of `count` bytes, whose first is at the virtual address `address`, as the VmPmuCodeMode `mode` says. 15 bytes
// are always enough for x86, 4 for POWER. An emulator calls this once for each instruction that it translates.
//
// Fills `instruction`, whose size is set, so that vm_pmu_follow() and vm_pmu_cpu_execute() can be given it: its length, class, micro-operations,
// registers, kind of transfer and the like. What only the execution tells is then set by the caller: `physical`, `next_page`, the accesses with their
// addresses, `target` without VM_PMU_DECODED_TARGET, and VM_PMU_INSTRUCTION_TAKEN with VM_PMU_DECODED_CONDITIONAL; of others it is set. The lists of
// registers are in `decoded`, whose size is set too.
//
// Registers have these numbers. x86: 0 to 15 the general ones in the order of their encoding (RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15),
// 16 the status flags, 17 the direction flag, 18 to 23 ES, CS, SS, DS, FS, GS, from 24 on x87's stack, from 32 on MMX, from 40 on XMM0 to XMM31,
// from 72 on masks, from 80 on CR, from 96 on DR. POWER: 0 to 31 GPRs, from 32 on VSR 0 to 63, from 96 on the fields of CR, 104 the carry, 105 the
// overflow of XER, 106 LR, 107 CTR, 108 TAR, 109 FPSCR.
//
// VM_PMU_STATUS_ERROR_INSTRUCTION if no instruction is there, or not all of it; nothing is filled then.
VmPmuStatus vm_pmu_decode(uint32_t mode,
                          const uint8_t *bytes,
                          size_t count,
                          uint64_t address,
                          VmPmuInstruction *instruction,
                          VmPmuDecoded *decoded);

// Lists what the instruction at the start of `count` bytes adds to signals of the part of this name whenever it retires, as far as its bytes
// determine it: retired instructions and micro-operations, branches by kind, loads and stores, floating point, vectors, moves and system
// instructions by class. A translator adds these up for each block, and the signals are supplied without following anything.
//
// Of a conditional branch it lists no direction, and nothing that a cache, a translation buffer or a reservation decides. Writes at most `capacity` of
// them to `signals`, no signal twice, and to `length`, which may be null, how many there are: VM_PMU_MOST_DECODED_SIGNALS
// is room for all.
VmPmuStatus vm_pmu_decode_signals(const char *part,
                                  uint32_t mode,
                                  const uint8_t *bytes,
                                  size_t count,
                                  uint64_t address,
                                  VmPmuGrowth *signals,
                                  uint32_t capacity,
                                  uint32_t *length);

// Thread `thread` of the guest executed `instruction`. While its follower is not active, nothing needs to be reported, and reports are
// ignored. Call vm_pmu_follow_deliver() next.
VmPmuStatus vm_pmu_follow(const VmPmuCompanion *companion, uint32_t thread, const VmPmuInstruction *instruction);

// Sets in `holding`, VM_PMU_SIGNAL_WORDS words, the bits of the states that the companion supplies for thread `thread` and that hold right
// now; the other bits stay. For vm_pmu_supply_levels(); the companion knows them while it keeps time.
VmPmuStatus vm_pmu_follow_levels(const VmPmuCompanion *companion, uint32_t thread, uint64_t *holding);

// Adds the events of the follower of thread `thread` since the last call to the thread's totals in `machine`, servicing the PMU at each
// deadline on the way. Writes to `cycles`, which may be null, how many cycles elapsed: 0 unless the companion keeps time.
//
// `events` is called once, after the companion's events have been added, with the outcome of the last instruction. There an embedder adds
// the events that it knows itself, reports the instruction's record where one is wanted, and compares the deadlines of its own events, in
// this order. While vm_pmu_follow_requests() finds requests it leaves out the last: every deadline is compared after they have been
// reported. It may be null. It is called while the follower is in use: it may call every function except those that follow the same thread, and except
// those that destroy the companion or the machine. It must return: no C++ exception and no longjmp may leave it. `held` are `held_count` signals of states that hold in all of these cycles, such as masked interrupts; VM_PMU_MOST_HELD at most.
VmPmuStatus vm_pmu_follow_deliver(const VmPmuCompanion *companion,
                                  const VmPmuMachine *machine,
                                  uint32_t thread,
                                  const uint32_t *held,
                                  size_t held_count,
                                  void (*events)(void *user, const VmPmuOutcome *outcome),
                                  void *user,
                                  uint64_t *cycles);

// The follower of thread `thread` reads what `machine` counts now. Call it at the beginning and whenever vm_pmu_epoch() has changed, with
// everything delivered. Writes to `active`, which may be null, whether instructions need to be reported.
VmPmuStatus vm_pmu_follow_sync(const VmPmuCompanion *companion, const VmPmuMachine *machine, uint32_t thread, bool *active);

// Writes to `stale` whether vm_pmu_companion_watch_places() or vm_pmu_traffic_sync() has changed, since the last vm_pmu_follow_sync(),
// whether places are watched: the next vm_pmu_follow_sync() of thread `thread` takes that into account.
VmPmuStatus vm_pmu_follow_is_stale(const VmPmuCompanion *companion, uint32_t thread, bool *stale);

// Thread `thread` is halted, or runs again. The threads of a core compete where the companion has a model of that: a thread that runs has its
// share of what they have in common, whether it is followed or not. At first no thread runs; one that is followed does from its first
// vm_pmu_follow() on. So call it when the thread halts, and when it goes on.
VmPmuStatus vm_pmu_follow_set_halted(const VmPmuCompanion *companion,
                                     uint32_t thread,
                                     bool halted);

// Writes to `supplies` whether the follower of thread `thread` supplies signal `signal` at the moment: then the embedder must not add it.
VmPmuStatus vm_pmu_follow_supplies(const VmPmuCompanion *companion, uint32_t thread, uint32_t signal, bool *supplies);

// Thread `thread` forgets translations: `what` is a VmPmuForgotten, and `address` the virtual address of VM_PMU_FORGOTTEN_PAGE
// or the guest real address of VM_PMU_FORGOTTEN_HOST_PAGE.
VmPmuStatus vm_pmu_follow_invalidate(const VmPmuCompanion *companion, uint32_t thread, uint32_t what, uint64_t address);

// The CPU executes `instruction`, which is reported to its companion: while vm_pmu_cpu_is_followed().
// vm_pmu_cpu_retire() or vm_pmu_cpu_complete() comes next.
VmPmuStatus vm_pmu_cpu_execute(VmPmuCpu *cpu, const VmPmuInstruction *instruction);

// The CPU forgets translations: `what` is a VmPmuForgotten, and `address` as in vm_pmu_follow_invalidate(). Without a companion this does
// nothing.
VmPmuStatus vm_pmu_cpu_invalidate(VmPmuCpu *cpu, uint32_t what, uint64_t address);

// Chooses what is worth following for, all of it at first: the companion follows while one of `signals`, VM_PMU_SIGNAL_WORDS words in the form
// of VmPmuDemand::signals, or one of `records`, VM_PMU_RECORDS_..., is demanded, and then it makes the others too. For an emulator that executes
// slowly while it is followed: it adds other signals itself as long as it is not, and reports records without the companion's part.
VmPmuStatus vm_pmu_cpu_follow_for(VmPmuCpu *cpu,
                                  const uint64_t *signals,
                                  uint32_t records);

// Makes a block without instructions, when a translator makes one.
VmPmuStatus vm_pmu_block_create(VmPmuBlock **block);

// Adds an instruction to a block, before any trace has the block. Its accesses are left out, and so is where its branch goes. Only the last
// instruction has a branch; VM_PMU_INSTRUCTION_TAKEN says that it is always taken.
VmPmuStatus vm_pmu_block_push(VmPmuBlock *block, const VmPmuInstruction *instruction);

// Writes to `count` how many instructions a block has.
VmPmuStatus vm_pmu_block_length(const VmPmuBlock *block, uint32_t *count);

// Destroys a block, which no trace that is still to be reported has. Null is allowed and does nothing.
VmPmuStatus vm_pmu_block_destroy(VmPmuBlock *block);

// Reports to its companion the blocks that a CPU has executed since the last call: `count` entries at `trace`, while vm_pmu_cpu_is_followed().
// vm_pmu_cpu_complete_trace() comes next. Each block that was entered has an entry, followed by those of the accesses that its instructions have made, in
// order, and by one that says after which of them it was left, if it was not executed to its end.
//
// The last block is complete, and the CPU goes on at `next`, unless it was left. An entry that names no instruction of its block is left out.
//
// Call both before anything else of the CPU is reported: before vm_pmu_cpu_refill(), vm_pmu_cpu_read() and vm_pmu_cpu_write(), before the context
// changes, before an interrupt is taken, before translations are invalidated, and before the machine is saved.
VmPmuStatus vm_pmu_cpu_execute_trace(VmPmuCpu *cpu,
                                     const VmPmuTraced *trace,
                                     size_t count,
                                     uint64_t next);

// The instructions of a trace are complete: adds what they count, reports the record of the last one where it is wanted, and serves deadlines.
// `open` of the instructions that the countdown has are not executed yet: 1 at an access to a register, which is the last instruction of its
// block.
VmPmuStatus vm_pmu_cpu_complete_trace(VmPmuCpu *cpu,
                                      uint32_t open);

// Writes to `whole` whether blocks of several instructions can be traced at the moment: the companion follows the CPU, and needs no instruction
// before the next one is entered. If not, enter instructions one by one while it follows.
VmPmuStatus vm_pmu_cpu_traces_blocks(const VmPmuCpu *cpu,
                                     bool *whole);

// The embedder changes the threads of the core of thread `thread` when one misses the third-level cache, as Montecito does: with its
// pipeline, vm_pmu_follow_deliver() then reports cycles only up to the one in which a miss is known. There the embedder asks for the miss
// by vm_pmu_follow_third_level_miss(); the next delivery goes on. Off at first, and not part of what is saved.
VmPmuStatus vm_pmu_follow_watch_third_level(const VmPmuCompanion *companion, uint32_t thread, bool watched);

// Writes to `missed` whether the last delivery of thread `thread` ended at a miss of the third-level cache that has not been asked for,
// and then to `returns`, which may be null, the cycles until its data come. Each miss is told once.
VmPmuStatus vm_pmu_follow_third_level_miss(const VmPmuCompanion *companion, uint32_t thread, bool *missed, uint64_t *returns);

// While misses of the third-level cache are watched, deliveries of thread `thread` report no more than so many cycles from now on, or as
// many as there are with VM_PMU_ALL_CYCLES. What the thread waits for beyond is not over then, and may go on in the background.
VmPmuStatus vm_pmu_follow_report_at_most(const VmPmuCompanion *companion, uint32_t thread, uint64_t cycles);

// Writes to `known` whether a pipeline that keeps time knows how many cycles ago, at the last delivery, thread `thread` completed an
// instruction, and then to `cycles`, which may be null, how many.
VmPmuStatus vm_pmu_follow_idle(const VmPmuCompanion *companion, uint32_t thread, bool *known, uint64_t *cycles);

// Thread `thread` comes back to the foreground of its core after `background` cycles, in which what it waited for went on. With a pipeline
// the change itself takes the cycles that the part needs, before the next instruction. More than 2^32 cycles count as 2^32.
VmPmuStatus vm_pmu_follow_resume(const VmPmuCompanion *companion, uint32_t thread, uint64_t background);

// Turns on or off that controllers and channels of memory, and interconnects, count separately, for vm_pmu_companion_take_places() and
// vm_pmu_companion_take_interconnects(). While they do, every follower is active from its next vm_pmu_follow_sync() on;
// vm_pmu_follow_is_stale() returns whether that is due. Counts that have not been taken when this changes are dropped.
VmPmuStatus vm_pmu_companion_watch_places(const VmPmuCompanion *companion, bool on);

// Writes to `has` whether any place has something to report.
VmPmuStatus vm_pmu_companion_has_places(const VmPmuCompanion *companion, bool *has);

// Calls `tell`, with `user`, for each place with counts since the last call, once per signal. The order is fixed: package after package,
// near memory before channels, each place's signals in their order. These counts are also in the totals of the threads and devices that
// caused them. If several host threads call this at once, each count is reported to only one of them.
//
// `tell` is called with no lock held: it may call every function except vm_pmu_companion_destroy(). It must return: no C++ exception and
// no longjmp may leave it.
VmPmuStatus vm_pmu_companion_take_places(const VmPmuCompanion *companion, void (*tell)(void *user, const VmPmuPlace *place), void *user);

// Writes to `has` whether any package's interconnect has something to report.
VmPmuStatus vm_pmu_companion_has_interconnects(const VmPmuCompanion *companion, bool *has);

// Calls `tell`, with `user`, for the interconnect of each package that did something since the last call, package after package. As with
// places, it is kept while they are watched, and dropped when that changes.
//
// The rules for the function of vm_pmu_companion_take_places() apply to this one.
VmPmuStatus vm_pmu_companion_take_interconnects(const VmPmuCompanion *companion,
                                                void (*tell)(void *user, const VmPmuInterconnect *interconnect),
                                                void *user);

// Writes to `agent` which agent orders accesses to the line with the physical address `physical`: on Knights Landing the number of one of
// 38 CHAs, as vm_pmu_box_transact() takes it; 0 on other parts.
VmPmuStatus vm_pmu_companion_home(const VmPmuCompanion *companion, uint64_t physical, uint32_t *agent);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/*
 * The following does the work of generated code, for interpreters written in C or C++. None of it calls the library.
 */

/**
 * VmPmuTraced::what of a block that is entered at its instruction number `first`: 0 unless a part of it has been reported before.
 */
static inline uint64_t vm_pmu_traced_block(uint32_t first) { return (uint64_t)first << 32; }

/**
 * VmPmuTraced::what of an access by instruction number `instruction` of its block: VmPmuAccessKind, its size, VM_PMU_ACCESS_....
 */
static inline uint64_t vm_pmu_traced_access(uint32_t instruction, uint8_t kind, uint8_t bytes, uint8_t flags) {
  return (uint64_t)instruction << 32 | (uint64_t)flags << 24 | (uint64_t)bytes << 16 | (uint64_t)kind << 8 | 1;
}

/**
 * VmPmuTraced::what of a block that was left after `executed` of its instructions.
 */
static inline uint64_t vm_pmu_traced_left(uint32_t executed) { return (uint64_t)executed << 32 | 2; }

/** Whether an entry is a block that is entered. */
static inline bool vm_pmu_is_traced_block(const VmPmuTraced *entry) { return (entry->what & 3) == 0; }

/** Whether an entry is an access. */
static inline bool vm_pmu_is_traced_access(const VmPmuTraced *entry) { return (entry->what & 3) == 1; }

/** The kind of the access of an entry that is one, VmPmuAccessKind. */
static inline uint8_t vm_pmu_traced_kind(const VmPmuTraced *entry) { return (uint8_t)(entry->what >> 8); }

#endif /* VM_PMU_COMPANION_H */
