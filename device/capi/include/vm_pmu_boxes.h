/*
 * vm-pmu: the boxes of Knights Landing's untile.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_BOXES_H
#define VM_PMU_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu_companion.h"

// In VmPmuTransaction::flags: a cache answered it, not memory.
#define VM_PMU_TRANSACTION_HIT (1 << 0)

// In VmPmuTransaction::flags: it belongs to another node; the part has only one.
#define VM_PMU_TRANSACTION_REMOTE (1 << 1)

// In VmPmuTransaction::flags: it is for near memory, as distinguished by filter 1.
#define VM_PMU_TRANSACTION_NEAR_MEMORY (1 << 2)

// In VmPmuTransaction::flags: it is not coherent.
#define VM_PMU_TRANSACTION_NON_COHERENT (1 << 3)

// In VmPmuTransaction::flags: it is isochronous.
#define VM_PMU_TRANSACTION_ISOCHRONOUS (1 << 4)

// A clock of the untile.
enum VmPmuClock
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // UCLK, the untile's.
  VM_PMU_CLOCK_UCLK = 0,
  // ECLK, MCDRAM's.
  VM_PMU_CLOCK_ECLK = 1,
  // DCLK, the DDR memory's.
  VM_PMU_CLOCK_DCLK = 2,
  // All three in step, for an embedder whose clocks run equally fast.
  VM_PMU_CLOCK_ALL = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClock VmPmuClock;
#else
typedef uint32_t VmPmuClock;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A ring of the mesh.
enum VmPmuRing
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Addresses: requests.
  VM_PMU_RING_AD = 0,
  // Acknowledges.
  VM_PMU_RING_AK = 1,
  // Blocks of data.
  VM_PMU_RING_BL = 2,
  // Invalidations: snoops of tiles.
  VM_PMU_RING_IV = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuRing VmPmuRing;
#else
typedef uint32_t VmPmuRing;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Who sends a message at a stop of the mesh.
enum VmPmuAgent
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Agent 0: the CHA, or whatever else is at the stop.
  VM_PMU_AGENT_HOME = 0,
  // Agent 1: the tile's cores.
  VM_PMU_AGENT_CORES = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuAgent VmPmuAgent;
#else
typedef uint32_t VmPmuAgent;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a device does with a line of memory, as Knights Landing's boxes see it.
enum VmPmuDeviceAccess
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // It reads.
  VM_PMU_DEVICE_ACCESS_READ = 0,
  // It writes all of the line.
  VM_PMU_DEVICE_ACCESS_WRITE = 1,
  // It writes a part.
  VM_PMU_DEVICE_ACCESS_PARTIAL_WRITE = 2,
  // It reads and writes at once.
  VM_PMU_DEVICE_ACCESS_ATOMIC = 3,
  // It is about to write: ownership is asked for ahead.
  VM_PMU_DEVICE_ACCESS_PREFETCH = 4,
  // It interrupts (MSI): data that are no memory's.
  VM_PMU_DEVICE_ACCESS_INTERRUPT = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuDeviceAccess VmPmuDeviceAccess;
#else
typedef uint32_t VmPmuDeviceAccess;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// One request at a caching and home agent (CHA).
typedef struct {
  // sizeof(VmPmuTransaction).
  size_t size;
  // With stage 2, after how many clocks it leaves the table of requests.
  uint64_t clocks;
  // VM_PMU_TRANSACTION_...
  uint32_t flags;
  // Its opcode, 10 bits.
  uint16_t opcode;
  // The queue that it came through: 0 IRQ (a tile), 1 an eviction from the snoop filter, 2 PRQ (a device), 3 IPQ (a snoop).
  uint8_t source;
  // Its lookup in the snoop filter: 0 data to read, 1 to write, 2 a snoop from outside, 3 something else.
  uint8_t lookup;
  // The state of the line in the snoop filter: 0 invalid, 1 shared, 2 exclusive, 3 modified.
  uint8_t state;
  // The tile that made it, 0 to 37.
  uint8_t tile;
  // The thread of the tile that made it, 0 to 7.
  uint8_t thread;
  // Its stage: 0 it enters the table of requests, 1 it leaves the table, 2 it enters and leaves after `clocks`, for an embedder that
  // does not follow it.
  uint8_t stage;
} VmPmuTransaction;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes to `number` the number of the box of this name: its unit and its number there, such as "cha12", "mc-dclk5", "ubox". The boxes of
// a unit have consecutive numbers.
VmPmuStatus vm_pmu_box_named(const char *name, uint32_t *number);

// Writes to `listens` whether any counter of box `number` listens to its events (vm_pmu_box_inject()): while none does, they need not be
// reported. Levels of queues, and requests that enter or leave a table, must always be reported.
VmPmuStatus vm_pmu_box_listens(const VmPmuMachine *machine, uint32_t number, bool *listens);

// Event `select` with sub-event `umask` occurs in box `number`, `each` times in every one of the next `clocks` clocks. Writes to `taken`,
// which may be null, whether a counter counts it.
VmPmuStatus vm_pmu_box_inject(const VmPmuMachine *machine,
                              uint32_t number,
                              uint8_t select,
                              uint8_t umask,
                              uint64_t each,
                              uint64_t clocks,
                              bool *taken);

// The queue of event `select` and sub-event `umask` of box `number` has `change` entries more than before; a state (of cycles) that begins
// or ends is one more or less. Always report it: a counter that starts later counts the entries that are there. Writes to `taken`, which
// may be null, whether a counter follows it.
VmPmuStatus vm_pmu_box_queue(const VmPmuMachine *machine, uint32_t number, uint8_t select, uint8_t umask, int64_t change, bool *taken);

// The queue of event `select` and sub-event `umask` of box `number` has `level` entries, whatever was reported before. Writes to `taken`,
// which may be null, whether a counter follows it.
VmPmuStatus vm_pmu_box_set_queue(const VmPmuMachine *machine, uint32_t number, uint8_t select, uint8_t umask, uint64_t level, bool *taken);

// Reports a request at CHA `cha`. Always report that it enters and that it leaves. Writes to `taken`, which may be null, whether a counter
// counts it.
VmPmuStatus vm_pmu_box_transact(const VmPmuMachine *machine, uint32_t cha, const VmPmuTransaction *transaction, bool *taken);

// Writes to `clocks` how far `clock` (VmPmuClock, one of the three) has advanced.
VmPmuStatus vm_pmu_clocks(const VmPmuMachine *machine, uint32_t clock, uint64_t *clocks);

// So many cycles of the CPUs' clock went by: each of the three clocks ticks as often as the machine's frequencies say, exactly, however the
// cycles are cut. Whatever overflows on the way does so at its own tick; interrupts are raised at the end of the cycle in which that is.
VmPmuStatus vm_pmu_boxes_advance(const VmPmuMachine *machine, uint64_t cycles);

// Advances a clock (VmPmuClock) by `clocks`, for an embedder that keeps the clocks itself. Each overflow on the way comes at its own
// clock: its interrupts are raised there, before the rest of the clocks.
VmPmuStatus vm_pmu_tick(const VmPmuMachine *machine, uint32_t clock, uint64_t clocks);

// Writes to `counting` whether any counter of any box counts: while none does, clocks need not advance.
VmPmuStatus vm_pmu_boxes_count(const VmPmuMachine *machine, bool *counting);

// Brings every register of the boxes to its value after power-on.
VmPmuStatus vm_pmu_boxes_reset(const VmPmuMachine *machine);

// A read of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, numbered as VM_PMU_SPACE_PCI is, as on a bus: all ones
// where no function of the PMU is.
VmPmuStatus vm_pmu_pci_read(const VmPmuMachine *machine, uint32_t address, uint32_t bytes, uint32_t *value);

// A write of `bytes` bytes (1, 2 or 4) of PCI configuration space at `address`, as on a bus: ignored where no function of the PMU is.
VmPmuStatus vm_pmu_pci_write(const VmPmuMachine *machine, uint32_t address, uint32_t bytes, uint32_t value);

// Sets whether the follower of thread `thread` keeps requests even while the thread's own PMU does not want them: for other components
// that count them, such as agents of Knights Landing's mesh. It takes effect at the next vm_pmu_follow_sync(), and is in no snapshot.
VmPmuStatus vm_pmu_follow_keep_requests(const VmPmuCompanion *companion, uint32_t thread, bool on);

// Calls `tell`, with `user`, for each request that has left the first-level caches of the core of thread `thread` since the last
// vm_pmu_follow_deliver(), in order. Call it between vm_pmu_follow() and vm_pmu_follow_deliver(), which reports them to the thread's own
// PMU and drops them. Requests are kept, 128 at most, if the thread's demand has VM_PMU_RECORDS_REQUESTS, or after
// vm_pmu_follow_keep_requests().
//
// `tell` is called while the follower is in use: it may call every function except those that follow the same thread, and except
// those that destroy the companion. It must return: no C++ exception and no longjmp may leave it.
VmPmuStatus vm_pmu_follow_requests(const VmPmuCompanion *companion,
                                   uint32_t thread,
                                   void (*tell)(void *user, const VmPmuRequest *request),
                                   void *user);

// Calls `tell`, with `user`, for each request that leaves the first-level caches of the CPU's core, in order, while VM_PMU_RECORDS_REQUESTS is
// watched: for devices of the machine that count them. The PMU gets requests as it demands them. Only with a companion.
//
// `tell` is called on the host thread that uses the CPU, by vm_pmu_cpu_complete(), vm_pmu_cpu_execute_trace() and vm_pmu_cpu_complete_trace(): it
// may call every function except those of this CPU. It must return: no C++ exception and no longjmp may leave it.
VmPmuStatus vm_pmu_cpu_observe_requests(VmPmuCpu *cpu,
                                        void (*tell)(void *user, const VmPmuRequest *request),
                                        void *user);

// Reports `request`, made by thread `thread` (0 to 7) of tile `tile` (0 to 37), to CHA `cha`, which is that of its line
// (vm_pmu_companion_home()). It enters the table of requests and leaves it after its latency in cycles of the CPUs, converted to clocks of
// the untile by the machine's frequencies. Its messages cross the mesh. A request that stays in the tile reaches no CHA. Writes to `taken`, which may be null, whether
// a counter counts it. Opcodes are those of the server parts before this one; an embedder that knows the real ones calls
// vm_pmu_box_transact() instead.
VmPmuStatus vm_pmu_box_request(const VmPmuMachine *machine,
                               uint32_t cha,
                               const VmPmuRequest *request,
                               uint32_t tile,
                               uint32_t thread,
                               bool *taken);

// Writes which box of Knights Landing counts what memory did at `place`, as vm_pmu_companion_take_places() reports it: to `number` the
// number of the box, and to `select` and `umask` its event and sub-event, for vm_pmu_box_inject() with `place->amount`. `amount` is not
// looked at. VM_PMU_STATUS_ERROR_UNSUPPORTED where no box counts it; then nothing is written.
VmPmuStatus vm_pmu_box_of_place(const VmPmuPlace *place, uint32_t *number, uint8_t *select, uint8_t *umask);

// Writes to `listens` whether any counter listens to a stop of the mesh, to M2PCIe or to the IRP: while none does, messages need not be
// reported by vm_pmu_box_carry().
VmPmuStatus vm_pmu_boxes_listen_to_mesh(const VmPmuMachine *machine, bool *listens);

// A message on ring `ring` (VmPmuRing) crosses the mesh from now on, from `agent` (VmPmuAgent) at the stop of box `from` to the stop of box
// `to`. Its route, its waits and what the stops count of it follow from the floor plan and from what crosses the mesh already. Messages of
// requests that vm_pmu_box_request() reports, and of accesses that vm_pmu_box_device() reports, are not reported a second time.
VmPmuStatus vm_pmu_box_carry(const VmPmuMachine *machine, uint32_t from, uint32_t agent, uint32_t to, uint32_t ring);

// A device makes `access` (VmPmuDeviceAccess) to the line at `physical`, which CHA `cha` orders (vm_pmu_companion_home()); a tile has the
// line modified if `modified`, as vm_pmu_companion_device() returns it. The request comes to the CHA by PRQ, its messages cross the mesh, and
// M2PCIe and the IRP count it. Caches learn of it by vm_pmu_companion_device().
VmPmuStatus vm_pmu_box_device(const VmPmuMachine *machine,
                              uint32_t cha,
                              uint32_t access,
                              uint64_t physical,
                              bool modified);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* VM_PMU_BOXES_H */
