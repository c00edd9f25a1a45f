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
