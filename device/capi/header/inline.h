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
