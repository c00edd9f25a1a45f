/*
 * vm-pmu: POWER9's counters that post themselves into memory, and the device tree nodes that describe them.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_POSTING_H
#define VM_PMU_POSTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu_companion.h"

// The most chips of a platform: a PIR has seven bits for a chip's number.
#define VM_PMU_MOST_CHIPS 128

// A device of a host bridge reads memory, in vm_pmu_chip_dma().
#define VM_PMU_DMA_READ 0

// It writes memory, in vm_pmu_chip_dma().
#define VM_PMU_DMA_WRITE 1

// In VmPmuCounterNodes::flags: the postings of the flexible mode are described too, as units called ..._flexible.
#define VM_PMU_COUNTER_NODES_FLEXIBLE (1 << 0)

// In VmPmuCounterNodes::flags: the cores post their counters (vm_pmu_core_advance()).
#define VM_PMU_COUNTER_NODES_CORE (1 << 1)

// In VmPmuCounterNodes::flags: the threads post theirs. Linux does not use them unless cores post theirs.
#define VM_PMU_COUNTER_NODES_THREAD (1 << 2)

// In VmPmuCounterNodes::flags: of the nest, only the events that it reports itself are described: clocks and counts of updates. Of cores
// and threads, only those of signals. An event that is never reported would read as zero.
#define VM_PMU_COUNTER_NODES_TOLD_BY_NEST (1 << 3)

// In VmPmuCounterNodes::flags: the same, and of the nest also the events that a companion's traffic reports (vm_pmu_traffic_flush()).
#define VM_PMU_COUNTER_NODES_TOLD_BY_COMPANION (1 << 4)

// In VmPmuCounterNodes::flags: the same, and of the nest also the events of PCIe host bridges (vm_pmu_chip_dma(),
// vm_pmu_chip_loads_answered()).
#define VM_PMU_COUNTER_NODES_TOLD_BY_HOST_BRIDGES (1 << 5)

// The property "isa" of the node ibm,powerpc-cpu-features of a POWER9: version 3.0B of the architecture.
#define VM_PMU_TREE_ISA 3000

// What happens over an NVLink, between a processor and an accelerator.
enum VmPmuNvLinkTransfer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // The accelerator reads memory of the processor.
  VM_PMU_NV_LINK_TRANSFER_READS = 0,
  // The accelerator writes memory of the processor.
  VM_PMU_NV_LINK_TRANSFER_WRITES = 1,
  // The accelerator has an atomic operation done at memory of the processor.
  VM_PMU_NV_LINK_TRANSFER_ATOMIC = 2,
  // The same, and gets the former value.
  VM_PMU_NV_LINK_TRANSFER_ATOMIC_RETURNS = 3,
  // The accelerator gives back a line that it held.
  VM_PMU_NV_LINK_TRANSFER_GIVES_BACK = 4,
  // The same, with data that it modified.
  VM_PMU_NV_LINK_TRANSFER_GIVES_BACK_MODIFIED = 5,
  // The processor reads memory of the accelerator.
  VM_PMU_NV_LINK_TRANSFER_IS_READ = 6,
  // The processor writes memory of the accelerator.
  VM_PMU_NV_LINK_TRANSFER_IS_WRITTEN = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuNvLinkTransfer VmPmuNvLinkTransfer;
#else
typedef uint32_t VmPmuNvLinkTransfer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The chips of a POWER9 machine, and the PIRs by which calls name its threads. Callers only get pointers to it.
typedef struct VmPmuPlatform VmPmuPlatform;

// Connects a companion to the chips of a platform: it converts traffic between caches and memory to the events that the nests count.
// Callers only get pointers to it.
//
// Each package of the companion is a chip, in the order in which the platform was given them. Lines that memory reads or writes count as
// blocks of 64 bytes at the controller and the port that have the line. Requests that leave the caches of a pair of cores, or that a
// device makes, count as pumps of the scope that they are sent in. 512 bytes of moved lines count as a transfer. X links count commands,
// answers and data between the chips of a group. It has no pointer to companion or platform: both are given to each call.
typedef struct VmPmuTraffic VmPmuTraffic;

// What the NPU of one chip has of translations: entries of devices' tables, translations that accelerators have checked out, and which
// accelerators work for which processes. Callers only get pointers to it. The chip's nest counts what it does.
typedef struct VmPmuTranslations VmPmuTranslations;

// The guest's memory: three functions of the embedder, for POWER9's counters that post themselves into it.
//
// A cell is eight bytes at an address that is a multiple of 8, and big-endian in the guest's memory; the functions take and give its value
// as a number. They return false if the guest has no memory there, or the address is not a multiple of 8: the amount is then kept, and
// added when memory takes it. They are called on the host thread that called the library. While a core posts they may call it. While
// a chip posts, the chip is locked: a call returns VM_PMU_STATUS_ERROR_REENTERED and does nothing, and waiting for another host thread
// that calls the library for the chip has no end. They must return: no C++ exception and no longjmp may leave them.
typedef struct {
  // sizeof(VmPmuMemory).
  size_t size;
  // Passed to the functions.
  void *user;
  // Writes the value of the cell at `address` to `value`.
  bool (*load)(void *user, uint64_t address, uint64_t *value);
  // Stores `value` in the cell at `address`.
  bool (*store)(void *user, uint64_t address, uint64_t value);
  // Adds `amount` to the cell at `address`, atomically with respect to CPUs of the guest; a sum beyond 64 bits wraps.
  bool (*add)(void *user, uint64_t address, uint64_t amount);
} VmPmuMemory;

// What posting did.
typedef struct {
  // sizeof(VmPmuPassed).
  size_t size;
  // The address of the first access that memory refused, if any.
  uint64_t refused_address;
  // The slots that the engine missed, because too many were due at once; for a core, the postings that are combined into one.
  uint64_t late;
  // The slots that the engine ran; for a core, the postings that were made: 0 or 1.
  uint32_t slots;
  // How many accesses memory refused.
  uint32_t refused;
} VmPmuPassed;

// How a chip is made. Set `size` to its sizeof; zero means the default of every field except `home` and `id`.
typedef struct {
  // sizeof(VmPmuChip).
  size_t size;
  // Its home base in bytes, a multiple of 8: the region that it posts into is at 180000h from there.
  uint64_t home;
  // The cycles of the nest from one slot of the engine to the next; 0 is the default.
  uint64_t slot_cycles;
  // The units that it has, one bit each, the most significant being the SMP interconnect; 0 means those of the guide's table 6-10.
  uint64_t units;
  // The frequency of the nest in hertz; 0 is 2 GHz.
  uint64_t nest_hertz;
  // The frequency of the host bridges in hertz; 0 is 2 GHz.
  uint64_t host_bridge_hertz;
  // The frequency of the memory modules in hertz, half of their data rate; 0 is that of DDR4-2667.
  uint64_t memory_hertz;
  // The number by which the device tree knows it (chip-id): 0 to 127.
  uint32_t id;
} VmPmuChip;

// How a platform is made.
typedef struct {
  // sizeof(VmPmuPlatformOptions).
  size_t size;
  // Pointers to the chips; null if there are none.
  const VmPmuChip *const *chips;
  // How many chips: VM_PMU_MOST_CHIPS at most.
  size_t chip_count;
  // The PIRs of the machine's threads, in their order: the number of a thread's chip is in the bits from 8 on, that of its core in bits
  // 2 to 7, its own in bits 0 and 1 (bit 0 is the least significant here); null if there are none.
  const uint32_t *pirs;
  // How many PIRs: VM_PMU_MOST_THREADS at most.
  size_t pir_count;
} VmPmuPlatformOptions;

// A function of the embedder that translates page `page`: it writes the real page to `real` and returns true, or returns false where there
// is no translation. It must return: no C++ exception and no longjmp may leave it.
typedef bool (*VmPmuTranslate)(void *user, uint64_t page, uint64_t *real);

// The bytes that a chip has moved so far, which make its transfers.
typedef struct {
  // Within the chip.
  uint64_t within;
  // To other chips or from them.
  uint64_t beyond;
} VmPmuMoved;

// Which counters that post themselves are described. Set `size` to its sizeof; zero means the default.
typedef struct {
  // sizeof(VmPmuCounterNodes).
  size_t size;
  // VM_PMU_COUNTER_NODES_...
  uint32_t flags;
  // The first phandle that is not taken in the tree, up to FFFFFFFEh; 0 is 1. One is needed for each unit, 56 at most.
  uint32_t first_phandle;
} VmPmuCounterNodes;

// The writer of a device tree: three functions of the embedder, like those of libfdt for writing in sequence (fdt_begin_node,
// fdt_property, fdt_end_node). The library calls them for what it writes into the open node.
//
// Each returns true to continue. If one returns false, nothing further is written, and the call into the library returns
// VM_PMU_STATUS_ERROR_STOPPED. They are called with no lock held, and may call every function. They must return: no C++ exception and no
// longjmp may leave them. Texts and values are valid until they return.
typedef struct {
  // sizeof(VmPmuTreeWriter).
  size_t size;
  // Passed to the functions.
  void *user;
  // Begins a node of this name, which includes its unit address.
  bool (*begin_node)(void *user, const char *name);
  // Adds a property to the open node: `length` bytes at `value`, in the form of the tree; cells are big-endian, texts end with a zero
  // byte. All properties of a node come before its nodes.
  bool (*property)(void *user, const char *name, const uint8_t *value, size_t length);
  // Ends the open node that began last.
  bool (*end_node)(void *user);
} VmPmuTreeWriter;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Core `core` (a package of the machine) posts to memory from `address` on, and its engine is stopped, as by OPAL_IMC_COUNTERS_INIT.
VmPmuStatus vm_pmu_core_init(const VmPmuMachine *machine, uint32_t core, uint64_t address);

// The engine of core `core` starts: events from now on are counted, and the demand of every thread of the core includes the signals that
// they follow. Check the demand afterwards.
VmPmuStatus vm_pmu_core_start(const VmPmuMachine *machine, uint32_t core);

// The engine of core `core` stops. To have all counts in memory, post them first by vm_pmu_core_post().
VmPmuStatus vm_pmu_core_stop(const VmPmuMachine *machine, uint32_t core);

// Writes to `running` whether the engine of core `core` runs.
VmPmuStatus vm_pmu_core_running(const VmPmuMachine *machine, uint32_t core, bool *running);

// Core `core` posts every `cycles` of its cycles from now on, at least one.
VmPmuStatus vm_pmu_core_set_interval(const VmPmuMachine *machine, uint32_t core, uint64_t cycles);

// Writes to `cycles` how many cycles of core `core` there are to its next posting.
VmPmuStatus vm_pmu_core_until_posting(const VmPmuMachine *machine, uint32_t core, uint64_t *cycles);

// Lets `cycles` of core `core` go by, and posts to `memory` if that comes due. What that did is told in `passed`, which may be null.
VmPmuStatus vm_pmu_core_advance(const VmPmuMachine *machine,
                                uint32_t core,
                                uint64_t cycles,
                                const VmPmuMemory *memory,
                                VmPmuPassed *passed);

// Posts to `memory` everything that core `core` has counted up to now, if its engine runs. Fills `passed`, which may be null, with the
// result.
VmPmuStatus vm_pmu_core_post(const VmPmuMachine *machine, uint32_t core, const VmPmuMemory *memory, VmPmuPassed *passed);

// An event without a signal occurred `amount` times in thread `thread` of the machine: the event that its core posts `offset` bytes from
// the start of its memory. Writes to `taken`, which may be null, whether it is counted.
VmPmuStatus vm_pmu_core_inject(const VmPmuMachine *machine, uint32_t thread, uint32_t offset, uint64_t amount, bool *taken);

// Makes the chips of a POWER9 machine. They are written to `platform` and live until vm_pmu_platform_destroy(). They may be used from
// several host threads at once.
VmPmuStatus vm_pmu_platform_create(const VmPmuPlatformOptions *options, VmPmuPlatform **platform);

// Destroys a platform. Null is allowed and does nothing.
VmPmuStatus vm_pmu_platform_destroy(VmPmuPlatform *platform);

// Lets `cycles` of the nest go by on every chip, whose engines post to `memory` in their slots. What that did, all chips together, is told in
// `passed`, which may be null.
VmPmuStatus vm_pmu_platform_advance(const VmPmuPlatform *platform,
                                    uint64_t cycles,
                                    const VmPmuMemory *memory,
                                    VmPmuPassed *passed);

// On every chip, runs the slots after which an operating system finds the engine paused: for a guest that starts after host firmware.
VmPmuStatus vm_pmu_platform_boot(const VmPmuPlatform *platform, const VmPmuMemory *memory, VmPmuPassed *passed);

// Answers a call of the guest to host firmware: OPAL_IMC_COUNTERS_INIT (149), START (150) or STOP (151), with its first three arguments.
// The value for the guest's register, such as 0 for OPAL_SUCCESS, is written to `result`.
//
// Calls about cores go to those of `machine`, whose threads are those of the PIRs in their order; without a machine (null) they succeed
// and do nothing. VM_PMU_STATUS_FAULT_UNCLAIMED for every other number: the call belongs to another component.
VmPmuStatus vm_pmu_platform_call(const VmPmuPlatform *platform,
                                 const VmPmuMachine *machine,
                                 const VmPmuMemory *memory,
                                 uint64_t number,
                                 uint64_t first,
                                 uint64_t second,
                                 uint64_t third,
                                 int64_t *result);

// Writes to `offset` where the counter of the event of this name is posted, in bytes from the start of a chip's region, such as
// "PM_PB_CYC" or "PM_MCS01_64B_RD_DISP_PORT01": for vm_pmu_chip_add(). Clocks and counts of updates are not such events.
VmPmuStatus vm_pmu_chip_event_named(const char *name, uint32_t *offset);

// The event that is posted at `offset` occurred `amount` times on chip `chip`. It takes no lock: any host thread may call it at any time.
VmPmuStatus vm_pmu_chip_add(const VmPmuPlatform *platform, uint32_t chip, uint32_t offset, uint64_t amount);

// Posts to `memory` everything that chip `chip` has counted, if its engine runs: for an embedder that posts when the guest reads. Fills
// `passed`, which may be null, with the result.
VmPmuStatus vm_pmu_chip_post(const VmPmuPlatform *platform, uint32_t chip, const VmPmuMemory *memory, VmPmuPassed *passed);

// Writes to `cycles` how many cycles of the nest there are to the next slot of chip `chip`.
VmPmuStatus vm_pmu_chip_until_slot(const VmPmuPlatform *platform, uint32_t chip, uint64_t *cycles);

// Writes to `running` whether the engine of chip `chip` posts.
VmPmuStatus vm_pmu_chip_running(const VmPmuPlatform *platform, uint32_t chip, bool *running);

// Writes to `value` the value of the register whose first counter is posted `offset` bytes from the start of the region of chip `chip`.
VmPmuStatus vm_pmu_chip_register(const VmPmuPlatform *platform, uint32_t chip, uint32_t offset, uint64_t *value);

// Writes to `address` and `bytes` the start and the length of the region that chip `chip` posts into. An operating system must not use it
// as its own memory, so a device tree must reserve it.
VmPmuStatus vm_pmu_chip_region(const VmPmuPlatform *platform, uint32_t chip, uint64_t *address, uint64_t *bytes);

// Brings chip `chip` to its state at power-on.
VmPmuStatus vm_pmu_chip_reset(const VmPmuPlatform *platform, uint32_t chip);

// Saves everything that chip `chip` remembers: counters, engine, clocks, home, units, and totals. What it has posted is in the guest's
// memory and saved with that. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
VmPmuStatus vm_pmu_chip_save(const VmPmuPlatform *platform, uint32_t chip, VmPmuSnapshot **snapshot);

// Makes chip `chip` remember what was saved, all of it or nothing: `length` bytes at `bytes`, of a chip of the same number.
// VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are damaged or of something else: then nothing is changed.
VmPmuStatus vm_pmu_chip_load(const VmPmuPlatform *platform, uint32_t chip, const uint8_t *bytes, size_t length);

// A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number reads (VM_PMU_DMA_READ) or writes (VM_PMU_DMA_WRITE)
// `bytes` of memory from `address` on. It does so by requests that end at multiples of `limit` bytes: Max_Read_Request_Size or
// Max_Payload_Size, a power of two from 128 to 4096; 0 is 512 for reads and 256 for writes. How many requests that is is told in
// `requests`, which may be null. The companion is told by itself.
VmPmuStatus vm_pmu_chip_dma(const VmPmuPlatform *platform,
                            uint32_t chip,
                            uint32_t bridge,
                            uint32_t direction,
                            uint64_t address,
                            uint64_t bytes,
                            uint32_t limit,
                            uint64_t *requests);

// A device behind PCIe host bridge `bridge`, 0 to 5, of the chip of this number answers `loads` loads of a processor from its registers or
// memory.
VmPmuStatus vm_pmu_chip_loads_answered(const VmPmuPlatform *platform, uint32_t chip, uint32_t bridge, uint64_t loads);

// Over NVLink `link`, 0 to 5, of the chip of this number `bytes` from `address` on are transferred in the way of `transfer`, a
// VmPmuNvLinkTransfer. An atomic operation, and a line that is given back, have no address and no length: both are ignored.
VmPmuStatus vm_pmu_chip_nvlink(const VmPmuPlatform *platform,
                               uint32_t chip,
                               uint32_t link,
                               uint32_t transfer,
                               uint64_t address,
                               uint64_t bytes);

// Makes the translations of one chip, with nothing cached and no process. They are written to `translations` and live until
// vm_pmu_translations_destroy(). They may be used from several host threads at once.
VmPmuStatus vm_pmu_translations_create(VmPmuTranslations **translations);

// Destroys translations. Null is allowed and does nothing.
VmPmuStatus vm_pmu_translations_destroy(VmPmuTranslations *translations);

// Device `device` addresses page `page`, on chip `chip`: writes to `found` whether a translation control entry (TCE) translates it, and if so
// its real page to `real`. Where none is cached, `entry` reads it from the device's table, with `user`. It is called with no lock held: it may
// call every function of this header except vm_pmu_translations_destroy() and vm_pmu_platform_destroy().
VmPmuStatus vm_pmu_translations_by_entry(const VmPmuTranslations *translations,
                                         const VmPmuPlatform *platform,
                                         uint32_t chip,
                                         uint32_t device,
                                         uint64_t page,
                                         VmPmuTranslate entry,
                                         void *user,
                                         uint64_t *real,
                                         bool *found);

// The entry of the page at `page` in the table of device `device` has changed, or every entry of it if `page` is null.
VmPmuStatus vm_pmu_translations_forget_entry(const VmPmuTranslations *translations, uint32_t device, const uint64_t *page);

// The accelerators whose bits are set in `accelerators` work for process `process` from now on; none with 0. Writes to `known`, which may be
// null, whether there was room: 16 processes with accelerators are known.
VmPmuStatus vm_pmu_translations_bind(const VmPmuTranslations *translations,
                                     uint32_t process,
                                     uint8_t accelerators,
                                     bool *known);

// An accelerator checks out the translation of page `page` of process `process`, on chip `chip`: writes to `found` whether there is one, and
// if so its real page to `real`. Where it is not checked out already, `walk` walks the tables of the process, with `user`; the rules for `entry`
// of vm_pmu_translations_by_entry() apply to it.
VmPmuStatus vm_pmu_translations_check_out(const VmPmuTranslations *translations,
                                          const VmPmuPlatform *platform,
                                          uint32_t chip,
                                          uint32_t process,
                                          uint64_t page,
                                          VmPmuTranslate walk,
                                          void *user,
                                          uint64_t *real,
                                          bool *found);

// A processor invalidates the translation of the page at `page` of process `process` (tlbie), or all of the process if `page` is null, on chip
// `chip`. Writes to `accelerators`, which may be null, to which of them a shootdown is sent, one bit each.
VmPmuStatus vm_pmu_translations_invalidate(const VmPmuTranslations *translations,
                                           const VmPmuPlatform *platform,
                                           uint32_t chip,
                                           uint32_t process,
                                           const uint64_t *page,
                                           uint8_t *accelerators);

// Saves everything that the translations remember. The snapshot is written to `snapshot` and lives until vm_pmu_snapshot_destroy().
VmPmuStatus vm_pmu_translations_save(const VmPmuTranslations *translations, VmPmuSnapshot **snapshot);

// Makes translations remember what was saved, all of it or nothing: `length` bytes at `bytes`. VM_PMU_STATUS_ERROR_SNAPSHOT when the bytes are
// damaged or of something else: then nothing is changed.
VmPmuStatus vm_pmu_translations_load(const VmPmuTranslations *translations,
                                     const uint8_t *bytes,
                                     size_t length);

// Makes a traffic from `companion`, of power9, to the chips of `platform`, with nothing moved. It is written to `traffic` and lives until
// vm_pmu_traffic_destroy(). It may be used from several host threads at once.
VmPmuStatus vm_pmu_traffic_create(const VmPmuCompanion *companion, const VmPmuPlatform *platform, VmPmuTraffic **traffic);

// Destroys a traffic. Null is allowed and does nothing.
VmPmuStatus vm_pmu_traffic_destroy(VmPmuTraffic *traffic);

// Has the companion watch its places while the engine of any chip posts, and only then. Call it when an engine may have been started or
// stopped, that is after vm_pmu_platform_boot(), vm_pmu_platform_call() and vm_pmu_platform_advance(). Then call vm_pmu_follow_sync() for
// each follower that this makes stale (vm_pmu_follow_is_stale()). Writes to `watches`, which may be null, whether places are watched;
// while they are not, traffic is not counted.
VmPmuStatus vm_pmu_traffic_sync(const VmPmuTraffic *traffic, const VmPmuCompanion *companion, const VmPmuPlatform *platform, bool *watches);

// Reports to the chips what has moved since the last call. Call it after each access, or after a block of them, and before the nest
// advances. Any host thread may call it; nothing is reported twice. While nothing has moved it costs two loads.
VmPmuStatus vm_pmu_traffic_flush(const VmPmuTraffic *traffic, const VmPmuCompanion *companion, const VmPmuPlatform *platform);

// Writes to `moved` what each chip has moved, `count` of them: one for each chip of the platform, in their order. Transfers that are not
// complete yet are in no chip's snapshot, so save this in addition.
VmPmuStatus vm_pmu_traffic_moved(const VmPmuTraffic *traffic, VmPmuMoved *moved, size_t count);

// Continues from where vm_pmu_traffic_moved() was called: `count` of `moved`, one for each chip of the platform, in their order.
VmPmuStatus vm_pmu_traffic_restore(const VmPmuTraffic *traffic, const VmPmuMoved *moved, size_t count);

// Writes the node imc-counters into the open node, which may be any: firmware puts it at the root. It describes the counters that post
// themselves: a node for each unit of the nest that a chip of `platform` has, with the chips' homes and numbers, and nodes of cores and
// threads as `nodes` says, which may be null for neither. Writes to `next_phandle`, which may be null, the first phandle that is still
// free.
//
// The tree must reserve the memory that the chips post into (vm_pmu_chip_region()), and a processor's node must name its chip in the
// property ibm,chip-id: without it Linux opens no event of the nest there.
//
// VM_PMU_STATUS_ERROR_ARGUMENT if a chip cannot be described, for example because its home is not a multiple of 1 MiB, or if there are too
// few phandles: then nothing is written.
VmPmuStatus vm_pmu_tree_counters(const VmPmuPlatform *platform,
                                 const VmPmuCounterNodes *nodes,
                                 const VmPmuTreeWriter *writer,
                                 uint32_t *next_phandle);

// Writes a catalogue of the counters that post themselves into the open node, which is the root of a separate tree: for firmware that runs
// in the guest, which loads it from flash (skiboot: partition IMA_CATALOG). It describes every unit, and what `nodes` says, which may be
// null; first_phandle must be 0 or 1. Firmware removes the units that a chip's control block does not have, and adds the chips.
VmPmuStatus vm_pmu_tree_catalogue(const VmPmuCounterNodes *nodes, const VmPmuTreeWriter *writer);

// Writes the node performance-monitor-power9 into the open node, which must be /cpus/ibm,powerpc-cpu-features; the latter has the property
// "isa" with the value VM_PMU_TREE_ISA. If a tree has that node, an operating system finds the PMU of the core by its child
// performance-monitor-power9, else by the PVR alone.
VmPmuStatus vm_pmu_tree_performance_monitor(const VmPmuTreeWriter *writer);

// Writes the property cpu-version into the open node, which must be that of a processor (/cpus/PowerPC,POWER9@...): the PVR `version`, of
// 32 bits, as a guest's mfspr reads it. VM_PMU_STATUS_ERROR_ARGUMENT if it is not that of a POWER9: then nothing is written.
VmPmuStatus vm_pmu_tree_cpu_version(const VmPmuTreeWriter *writer, uint32_t version);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* VM_PMU_POSTING_H */
