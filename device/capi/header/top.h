/*
 * vm-pmu: performance monitoring units that an emulator or hypervisor attaches. The C interface.
 *
 * Made from the sources in device/capi/src; to make it anew: cargo run -p vm-pmu-capi --example header
 *
 * Rules
 *
 * - A machine is an opaque pointer; its threads, packages and boxes are numbers within it, from 0 on.
 * - Every function that can fail returns a VmPmuStatus: 0; a positive number, the fault that the guest must be given; or a negative
 *   number, misuse, which leaves everything as it was. vm_pmu_last_error() has a line on what was misused.
 * - Structs that may grow begin with their size. Set it to sizeof of the struct, and every other field that is not needed to zero:
 *       VmPmuOptions options = { sizeof(VmPmuOptions) };
 * - What a function takes as a number and an enum lists (VmPmuSpace, VmPmuSignal) is checked; other numbers are misuse.
 * - A machine, a platform, a companion and a traffic may be used from several host threads at once. Totals are added to by one host thread
 *   a guest's thread.
 * - Nothing unwinds out of these functions, and nothing may unwind or jump out of a callback.
 * - This header declares every function. A library that was built without some part or some group of functions does not have those;
 *   the book's chapter on the C interface lists them.
 *
 * Pointers
 *
 * Null pointers, misaligned ones, and lengths beyond all memory are refused. Beyond that a pointer is what the caller says: a machine is
 * one that vm_pmu_machine_create() made and nobody destroyed, and so are platforms, companions, traffics and snapshots; a text is UTF-8
 * and ends with a zero byte; what is to be written can be written, and nobody else uses it during the call.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
