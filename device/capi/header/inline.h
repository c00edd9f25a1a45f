/*
 * What follows is what generated code does, for interpreters written in C or C++. None of it calls the library.
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
 * Whether the total of a signal has come to its deadline: then call vm_pmu_service().
 */
static inline bool vm_pmu_reached(const VmPmuCells *cells, uint32_t signal) {
  return VM_PMU_LOAD(cells->totals + signal) >= VM_PMU_LOAD(cells->deadlines + signal);
}

/**
 * Whether the horizon has been reached: one comparison, however many signals are counted. Then call vm_pmu_check().
 */
static inline bool vm_pmu_due(const VmPmuCells *cells) {
  return VM_PMU_LOAD(cells->totals + cells->pace) >= VM_PMU_LOAD(cells->horizon);
}

/**
 * How far the pace may go before the horizon: a translated block that costs less needs no comparison within.
 */
static inline uint64_t vm_pmu_room(const VmPmuCells *cells) {
  uint64_t total = VM_PMU_LOAD(cells->totals + cells->pace);
  uint64_t horizon = VM_PMU_LOAD(cells->horizon);
  return horizon > total ? horizon - total : 0;
}

/**
 * What vm_pmu_epoch() writes, without a call. It cannot be seen older than what another host thread made visible after it had changed it.
 */
static inline uint32_t vm_pmu_epoch_of(const VmPmuCells *cells) { return VM_PMU_ACQUIRE(cells->own_epoch) + VM_PMU_ACQUIRE(cells->package_epoch); }

/**
 * What of the context must be told at once: the bits of VmPmuContext::machine_state, all of them where the privilege level must be and none of
 * them says it. A change of other bits, or of the level where there are none, may wait for vm_pmu_set_context() until the next call but vm_pmu_check(),
 * vm_pmu_service() and vm_pmu_record(). What else a context has is told always. It is to be read anew every time.
 */
static inline uint64_t vm_pmu_sensitivity(const VmPmuCells *cells) { return VM_PMU_LOAD(cells->sensitivity); }

/**
 * Whether contexts may come in any order until the next deadline: what is counted in each of them adds up. Then it suffices to tell what went by in each of
 * them in sum, one after the other, before anything else is called. It holds for contexts that were told since a register was accessed last, and that differ in
 * privilege and machine_state alone. It is to be read anew every time.
 */
static inline bool vm_pmu_contexts_add_up(const VmPmuCells *cells) { return VM_PMU_ACQUIRE(cells->contexts_add_up) != 0; }

/**
 * Whether some counter follows a signal: else it need not be added.
 */
static inline bool vm_pmu_wants(const VmPmuDemand *demand, uint32_t signal) {
  return signal < 64 * VM_PMU_SIGNAL_WORDS && (demand->signals[signal / 64] >> (signal % 64) & 1) != 0;
}
