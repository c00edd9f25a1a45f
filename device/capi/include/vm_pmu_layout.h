/*
 * vm-pmu: the packages, cores and threads of a machine as a person counts them, and what the guest reads of them.
 *
 * Generated from the sources in device/capi/src and device/capi/header: cargo run -p vm-pmu-capi --example header
 *
 * The rules at the top of vm_pmu.h hold.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */

#ifndef VM_PMU_LAYOUT_H
#define VM_PMU_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "vm_pmu_companion.h"

// In VmPmuLayout::flags: memory has buffers with caches, on a part that has them.
#define VM_PMU_LAYOUT_BUFFERED (1 << 0)

// How a Knights Landing shares lines among agents and memory.
enum VmPmuClusterMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // None was chosen: it is quadrant.
  VM_PMU_CLUSTER_MODE_USUAL = 0,
  // Any agent may have the lines of any memory.
  VM_PMU_CLUSTER_MODE_ALL_TO_ALL = 1,
  // An agent is in the half of the die that has the memory of its lines.
  VM_PMU_CLUSTER_MODE_HEMISPHERE = 2,
  // An agent is in the quadrant that has the memory of its lines.
  VM_PMU_CLUSTER_MODE_QUADRANT = 3,
  // Each half of the die is a node, with half of the addresses.
  VM_PMU_CLUSTER_MODE_SNC2 = 4,
  // Each quadrant is a node, with a quarter of the addresses.
  VM_PMU_CLUSTER_MODE_SNC4 = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuClusterMode VmPmuClusterMode;
#else
typedef uint32_t VmPmuClusterMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a Knights Landing uses MCDRAM as.
enum VmPmuMemoryMode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // None was chosen: it is a cache.
  VM_PMU_MEMORY_MODE_USUAL = 0,
  // All of it is a cache of DDR.
  VM_PMU_MEMORY_MODE_CACHE = 1,
  // All of it is memory, at addresses of its own above those of DDR.
  VM_PMU_MEMORY_MODE_FLAT = 2,
  // A quarter of it is a cache of DDR, and the rest is memory.
  VM_PMU_MEMORY_MODE_HYBRID_QUARTER = 3,
  // Half of it is a cache of DDR, and half is memory.
  VM_PMU_MEMORY_MODE_HYBRID_HALF = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum VmPmuMemoryMode VmPmuMemoryMode;
#else
typedef uint32_t VmPmuMemoryMode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a machine looks like. CPUs are counted through the threads of a core, then its cores, then its packages, and a package is what goes
// into a socket. Set `size` to its sizeof; zero means the smallest machine of the part.
typedef struct {
  // sizeof(VmPmuLayout).
  size_t size;
  // How many packages; 0 is one.
  uint32_t packages;
  // How many cores each package has; 0 is one, or those of a tile.
  uint32_t cores;
  // How many threads each core has; 0 is one, or all on Knights Landing.
  uint32_t threads;
  // VM_PMU_LAYOUT_BUFFERED.
  uint32_t flags;
  // How many bytes of physical memory belong to each package, from address 0 up; 0 means that all belong to the first.
  uint64_t memory_per_package;
  // How many packages make a group; 0 is all to the companion, and one to the numbers of POWER9's chips.
  uint32_t packages_per_group;
  // How many more cores each package has that are off and lend their third level, on a part that does so.
  uint32_t lent_cores;
  // Which tiles a Knights Landing has, as many as its cores need: a bit for each of 38 places; 0 is those of the usual part with so many
  // (vm_pmu_tiles_usual()).
  uint64_t tiles;
  // How a Knights Landing shares lines among agents and memory: VmPmuClusterMode. A mode of several nodes divides `memory_per_package`
  // among them.
  uint32_t cluster_mode;
  // What a Knights Landing uses MCDRAM as: VmPmuMemoryMode. What is memory lies above `memory_per_package`.
  uint32_t memory_mode;
  // How many bytes of MCDRAM it has; 0 is 64 MiB, where the part has 16 GiB.
  uint64_t mcdram;
} VmPmuLayout;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes to `tiles` which tiles a usual Knights Landing with `count` of them has: a bit for each place, of which there are 38. Parts of 32,
// 34 and 36 tiles lack some in between; of any other number the first places have tiles. The tile of the n-th bit that is set is package
// n of a machine, beside the CHA with the number of the bit.
VmPmuStatus vm_pmu_tiles_usual(uint32_t count, uint64_t *tiles);

// Writes to `layout`, whose `size` is set, a usual machine of the part of this name, as it was sold: two K8 of two cores, a Knights Landing
// of 68 cores, two POWER9 of 22, two Montecito, two of the first Itanium, with all threads of each core.
VmPmuStatus vm_pmu_layout_usual(const char *part, VmPmuLayout *layout);

// Writes to `cpus` how many CPUs a machine of this layout has.
VmPmuStatus vm_pmu_layout_cpus(const char *part, const VmPmuLayout *layout, uint32_t *cpus);

// Sets `packages`, `threads`, `tiles`, `cluster_mode`, `memory_mode`, `mcdram` and `memory` of `options`, so that vm_pmu_machine_create()
// makes the PMUs of this layout: CPU n has those of thread n. Those of the die are not 0 only on Knights Landing.
VmPmuStatus vm_pmu_layout_options(const char *part, const VmPmuLayout *layout, VmPmuOptions *options);

// Sets what `options` says of the layout, so that vm_pmu_companion_create() makes its companion: it follows CPU n as thread n.
VmPmuStatus vm_pmu_layout_companion_options(const char *part, const VmPmuLayout *layout, VmPmuCompanionOptions *options);

// Changes what CPUID returns in CPU `cpu`, as vm_pmu_cpuid() does, so that it says the layout too: in leaves 1 and 0Bh of Intel, and 1,
// 8000_0001h and 8000_0008h of AMD. The APIC ID of the CPU is then in bits 31:24 of EBX of leaf 1, and whole in EDX of leaf 0Bh.
// VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
VmPmuStatus vm_pmu_layout_cpuid(const char *part,
                                const VmPmuLayout *layout,
                                uint32_t cpu,
                                uint32_t leaf,
                                uint32_t subleaf,
                                uint32_t (*registers)[4]);

// Writes to `pir` what PIR reads in CPU `cpu` of a machine of POWER9, as VmPmuPlatformOptions::pirs takes it; bits from 8 on are the number
// of its chip, VmPmuChip::id. VM_PMU_STATUS_ERROR_UNSUPPORTED for another part.
VmPmuStatus vm_pmu_layout_pir(const char *part, const VmPmuLayout *layout, uint32_t cpu, uint32_t *pir);

// Changes what CPUID returns in `leaf` and `subleaf`, so that the guest finds the PMU of the part of this name and no other. `registers`
// are EAX, EBX, ECX and EDX as they would be otherwise. Leaf 0Ah, vendor and signature become the part's, and bits that announce a PMU of
// other processors are cleared. VM_PMU_STATUS_ERROR_UNSUPPORTED for a part without CPUID.
VmPmuStatus vm_pmu_cpuid(const char *part, uint32_t leaf, uint32_t subleaf, uint32_t (*registers)[4]);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif /* VM_PMU_LAYOUT_H */
