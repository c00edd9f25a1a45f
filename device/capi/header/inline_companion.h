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
