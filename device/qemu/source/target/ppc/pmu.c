/*
 * The performance monitoring unit of a POWER9 CPU under TCG, by libvm_pmu. It replaces power8-pmu.c.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "cpu.h"
#include "internal.h"
#include "helper_regs.h"
#include "mmu-book3s-v3.h"
#include "spr_common.h"
#include "accel/tcg/pmu-target.h"
#include "exec/translator.h"
#include "exec/helper-proto.h"
#include "hw/ppc/ppc.h"
#include "qemu/error-report.h"
#include "qemu/host-utils.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "system/reset.h"
#include "tcg/tcg-op-common.h"
#if __has_include("hw/core/boards.h")
#include "hw/core/boards.h"
#else
#include "hw/boards.h"
#endif
#if __has_include("accel/tcg/getpc.h")
#include "accel/tcg/getpc.h"
#else
#include "exec/exec-all.h"
#endif
#include "pmu.h"
#include "pmu-memory.h"
#if __has_include("system/address-spaces.h")
#include "system/address-spaces.h"
#else
#include "exec/address-spaces.h"
#endif
#include <vm_pmu_posting.h>

/* The signals to which an instruction adds 1 at most. */
#define SINGLE_SIGNALS \
    VM_PMU_SIGNAL_BRANCHES_RETIRED, \
    VM_PMU_SIGNAL_BRANCHES_TAKEN, \
    VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN, \
    VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN, \
    VM_PMU_SIGNAL_STORE_CONDITIONALS_SUCCEEDED, \
    VM_PMU_SIGNAL_STORE_CONDITIONALS_FAILED, \
    VM_PMU_SIGNAL_INTERRUPTS_TAKEN, \
    VM_PMU_SIGNAL_EXCEPTIONS_TAKEN

/* What the word of an instruction says that it adds, 1 at most. */
#define DECODED_SIGNALS \
    VM_PMU_SIGNAL_INSTRUCTIONS_DISPATCHED, \
    VM_PMU_SIGNAL_MICRO_OPS_RETIRED, \
    VM_PMU_SIGNAL_MICRO_OPS_DISPATCHED, \
    VM_PMU_SIGNAL_PROBE_INSTRUCTIONS, \
    VM_PMU_SIGNAL_LONG_LATENCY_INSTRUCTIONS, \
    VM_PMU_SIGNAL_TRANSACTION_ABORT_INSTRUCTIONS, \
    VM_PMU_SIGNAL_DIRECT_JUMPS, \
    VM_PMU_SIGNAL_INDIRECT_JUMPS, \
    VM_PMU_SIGNAL_DIRECT_CALLS, \
    VM_PMU_SIGNAL_INDIRECT_CALLS, \
    VM_PMU_SIGNAL_NEAR_RETURNS, \
    VM_PMU_SIGNAL_BRANCHES_BACKWARD, \
    VM_PMU_SIGNAL_INTEGER_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_OPERATIONS, \
    VM_PMU_SIGNAL_FLOATING_POINT_MOVES, \
    VM_PMU_SIGNAL_FLOATING_POINT_SINGLE_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_DOUBLE_OPS, \
    VM_PMU_SIGNAL_VECTOR_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_FUSED_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_SCALAR_DIVIDES, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_FUSED_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_DOUBLE_DIVIDES, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_FUSED_OPS, \
    VM_PMU_SIGNAL_FLOATING_POINT_VECTOR_SINGLE_DIVIDES, \
    VM_PMU_SIGNAL_BARRIERS_FULL, \
    VM_PMU_SIGNAL_BARRIERS_LIGHT, \
    VM_PMU_SIGNAL_BARRIERS_TRANSLATION, \
    VM_PMU_SIGNAL_CONTEXT_SYNCHRONIZATIONS, \
    VM_PMU_SIGNAL_PREFETCHES_FOR_LOAD, \
    VM_PMU_SIGNAL_PREFETCHES_FOR_STORE, \
    VM_PMU_SIGNAL_CACHE_LINE_FLUSHES, \
    VM_PMU_SIGNAL_TRANSLATION_INVALIDATIONS, \
    VM_PMU_SIGNAL_LOAD_RESERVES, \
    VM_PMU_SIGNAL_STORE_CONDITIONALS, \
    VM_PMU_SIGNAL_VECTOR_LOADS, \
    VM_PMU_SIGNAL_VECTOR_STORES

static const uint32_t decoded[] = { DECODED_SIGNALS };

static const uint32_t single[] = { SINGLE_SIGNALS, DECODED_SIGNALS };

/* The signals that QEMU's translator counts; the model does not expect others. */
static const uint32_t supplied[] = {
    SINGLE_SIGNALS,
    DECODED_SIGNALS,
    VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED,
    VM_PMU_SIGNAL_CYCLES,
    VM_PMU_SIGNAL_TIME_BASE_TICKS,
    VM_PMU_SIGNAL_LOADS,
    VM_PMU_SIGNAL_STORES,
};

/* The signals that an access to memory adds to. */
static const uint32_t loads[] = { VM_PMU_SIGNAL_LOADS };
static const uint32_t stores[] = { VM_PMU_SIGNAL_STORES };

static const uint32_t ticks_signal = VM_PMU_SIGNAL_TIME_BASE_TICKS;

/* The bits of MSR in a block's key. */
#define IN_KEY (1ull << MSR_PR | 1ull << MSR_HV)
#define HAS_HYPERVISOR(env) (((env)->msr_mask & MSR_HVB) != 0)

/* ---- Functions that the bridge calls ---- */

static CPUState *cpu_of(uint32_t number)
{
    return current_cpu && current_cpu->cpu_index == number ? current_cpu : qemu_get_cpu(number);
}

/* The ticks since the last call. The time base minus the total of ticks is constant unless a guest writes the time base. */
static uint64_t elapsed_ticks(CPUState *cs, bool followed)
{
    uint64_t now = cpu_ppc_load_tbl(cpu_env(cs));
    uint64_t elapsed = now - cs->pmu_time_base - *vm_pmu_total(&cs->pmu->cells, VM_PMU_SIGNAL_TIME_BASE_TICKS);

    if (!followed || (int64_t)elapsed < 0 || elapsed > 1ull << 40) {
        cs->pmu_time_base += elapsed;      /* ticks were not followed, or the guest has written it */
        return 0;
    }
    return elapsed;
}

/* A guest can request an alert at every second tick, too often for any timer of the host. */
#define LEAST_TICK_NS 10000

/* Sets the timer to the next deadline of ticks, if there is one. */
static void arm_tick(CPUState *cs)
{
    uint64_t ticks = tcg_bridge_sleep(cs->pmu, &ticks_signal, 1);
    uint64_t ns;

    if (ticks == VM_PMU_NEVER) {
        timer_del(cs->pmu_tick);
    } else {
        ns = muldiv64_round_up(MIN(ticks, 1ull << 40), NANOSECONDS_PER_SECOND, cpu_env(cs)->tb_env->tb_freq);
        timer_mod(cs->pmu_tick, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + MAX(ns, LEAST_TICK_NS));
    }
}

static void advance_ticks(CPUState *cs, run_on_cpu_data data)
{
    if (cs->pmu_ticks) {
        tcg_bridge_advance(cs->pmu, elapsed_ticks(cs, true), &ticks_signal, 1);
        arm_tick(cs);
    }
}

static void tick_is_due(void *opaque)
{
    async_run_on_cpu(opaque, advance_ticks, RUN_ON_CPU_NULL);
}

/*
 * Adds the ticks since the last ones. While nothing follows ticks, none are added and the host's clock is not read; when something starts
 * to follow them, the context is reported once more.
 */
static uint64_t time_base(CPUState *cs)
{
    bool ticked = cs->pmu_ticks;

    cs->pmu_ticks = vm_pmu_wants(&cs->pmu->demand, VM_PMU_SIGNAL_TIME_BASE_TICKS);
    if (cs->pmu_ticks) {
        *vm_pmu_total(&cs->pmu->cells, VM_PMU_SIGNAL_TIME_BASE_TICKS) += elapsed_ticks(cs, ticked);
        arm_tick(cs);
    }
    return cs->pmu_time_base;
}

static uint32_t context(void *user, uint32_t number, VmPmuContext *context)
{
    CPUState *cs = cpu_of(number);
    CPUPPCState *env = cpu_env(cs);
    uint64_t control = (env->spr[SPR_PPR] >> 50 & 7) << VM_PMU_POWER_PRIORITY_SHIFT;

    control |= env->spr[SPR_CTRL] & CTRL_RUN ? VM_PMU_POWER_RUN : 0;
    control |= env->pending_interrupts & PPC_INTERRUPT_EXT ? VM_PMU_POWER_EXTERNAL_PENDING : 0;
    control |= env->spr[SPR_LPCR] & LPCR_HR ? VM_PMU_POWER_RADIX : 0;
    control |= env->spr[SPR_FSCR] & 1ull << FSCR_EBB ? 0 : VM_PMU_POWER_NO_FSCR_EBB;
    if (HAS_HYPERVISOR(env)) {      /* pseries has no hypervisor state, and its HFSCR is never written */
        control |= env->spr[SPR_HFSCR] & 1ull << FSCR_EBB ? 0 : VM_PMU_POWER_NO_HFSCR_EBB;
        control |= env->spr[SPR_HFSCR] & 1ull << HFSCR_BHRB ? 0 : VM_PMU_POWER_NO_HFSCR_BHRB;
        control |= env->spr[SPR_HFSCR] & PPC_BIT(60) ? 0 : VM_PMU_POWER_NO_HFSCR_PM;
    }
    context->privilege = FIELD_EX64(env->msr, MSR, PR) ? 3 : FIELD_EX64_HV(env->msr) ? 0 : 1;
    context->machine_state = env->msr;
    context->control = control;
    context->time_base = time_base(cs);
    context->flags = cs->halted ? VM_PMU_CONTEXT_HALTED : 0;
    return cs->halted ? TCG_BRIDGE_KEY_UNKNOWN : env->hflags & cs->pmu_key_mask;
}

static void lines(void *user, uint32_t number, uint32_t levels)
{
    PowerPCCPU *cpu = POWERPC_CPU(cpu_of(number));

    ppc_set_irq(cpu, PPC_INTERRUPT_PERFM, (levels & VM_PMU_LINE_INTERRUPT) != 0);
    ppc_set_irq(cpu, PPC_INTERRUPT_EBB, (levels & VM_PMU_LINE_EVENT_BASED_BRANCH) != 0);
}

static bool record(void *user, uint32_t number, VmPmuRecord *record)
{
    CPUState *cs = cpu_of(number);

    record->address = cs->pmu_last;
    record->unit = cs->pmu_unit;
    for (int store = 0; store < 2; store++) {
        if (cs->pmu_accesses[store].by == cs->pmu_last) {
            record->flags |= store ? VM_PMU_RECORD_STORE : VM_PMU_RECORD_LOAD;
            record->memory_address = cs->pmu_accesses[store].address;
        }
    }
    return true;
}

/*
 * The radix tables of Power ISA 3.0B, Book III, 5.7.10: which quarter of the addresses a process has, the table of processes, the description of a
 * tree, and an entry.
 */
#define QUADRANT 0xc000000000000000ull
#define REAL_BITS 60
#define PROCESS_TABLE 0x0ffffffffffff000ull
#define PROCESS_ENTRY_BYTES 16
#define TABLE 0x0fffffffffffff00ull
#define TABLE_BITS 0x1f
#define ENTRY_VALID (1ull << 63)
#define ENTRY_LEAF (1ull << 62)
#define ENTRY_PAGE 0x01fffffffffff000ull

static uint64_t doubleword(CPUState *cs, uint64_t address)
{
    return address_space_ldq_be(cs->as, address, MEMTXATTRS_UNSPECIFIED, NULL);
}

/*
 * Follows a tree to an address: the entries, the page, and the real address. The addresses in a guest's tree are real addresses of the guest,
 * which the tree `host` translates; 0 is no host. False where there is no page.
 */
static bool descend(CPUState *cs, uint64_t tree, uint64_t host, uint64_t address, VmPmuWalk *walk, uint64_t *real)
{
    unsigned left = 31 + ((tree >> 58 & 0x18) | (tree >> 5 & 7));      /* RTS: bits 1:2 and 56:58 */
    uint64_t entry = tree;

    address &= MAKE_64BIT_MASK(0, left);
    for (walk->levels = 0; walk->levels < VM_PMU_WALK_ENTRIES;) {
        unsigned bits = entry & TABLE_BITS;
        VmPmuWalk of_table;
        uint64_t at;

        if (bits == 0 || bits > left) {
            return false;
        }
        at = (entry & TABLE) + (address >> (left - bits) & MAKE_64BIT_MASK(0, bits)) * 8;
        walk->entries[walk->levels++] = at;
        if (host && !descend(cs, host, 0, at, &of_table, &at)) {
            return false;
        }
        entry = doubleword(cs, at);
        if (!(entry & ENTRY_VALID)) {
            return false;
        }
        left -= bits;
        if (entry & ENTRY_LEAF) {
            uint64_t within = MAKE_64BIT_MASK(0, left);

            walk->page_bits = left;
            *real = (entry & ENTRY_PAGE & ~within) | (address & within);
            return true;
        }
    }
    return false;
}

/* Whether real addresses of the CPU are those of a guest, which a host in the machine translates. */
static bool is_guest(PowerPCCPU *cpu)
{
    return cpu->vhyp ? vhyp_cpu_in_nested(cpu) : !FIELD_EX64_HV(cpu->env.msr);
}

/* The partition whose addresses the CPU uses, if its tables are radix trees. */
static bool partition_of(PowerPCCPU *cpu, ppc_v3_pate_t *partition)
{
    uint64_t number = cpu->vhyp || is_guest(cpu) ? cpu->env.spr[SPR_LPIDR] : 0;
    bool found = cpu->vhyp ? cpu->vhyp_class->get_pate(cpu->vhyp, cpu, number, partition) : ppc64_v3_get_pate(cpu, number, partition);

    return found && partition->dw0 & PATE0_HR;
}

static bool is_translated(CPUPPCState *env)
{
    return env->msr & (1ull << MSR_IR | 1ull << MSR_DR);
}

/* Where the entry of the process that has an address is; false if none has. */
static bool process_of(CPUPPCState *env, uint64_t address, const ppc_v3_pate_t *partition, uint64_t *entry)
{
    bool is_process = (address & QUADRANT) == 0;

    *entry = (partition->dw1 & PROCESS_TABLE) + (is_process ? env->spr[SPR_BOOKS_PID] : 0) * PROCESS_ENTRY_BYTES;
    return is_process || (address & QUADRANT) == QUADRANT;
}

static void walk(CPUState *cs, uint64_t address, VmPmuWalk *walk)
{
    PowerPCCPU *cpu = POWERPC_CPU(cs);
    ppc_v3_pate_t partition;
    uint64_t process, real;

    if (!is_translated(&cpu->env) || is_guest(cpu) || !partition_of(cpu, &partition) ||
        !process_of(&cpu->env, address, &partition, &process) ||
        !descend(cs, doubleword(cs, process), 0, address, walk, &real)) {
        walk->levels = 0;
    }
}

static bool nested(CPUState *cs, uint64_t address, VmPmuGuestWalk *guest)
{
    PowerPCCPU *cpu = POWERPC_CPU(cs);
    VmPmuWalk walk = { 0 };
    ppc_v3_pate_t partition;
    uint64_t at;

    if (!is_guest(cpu) || !partition_of(cpu, &partition)) {
        return false;
    }
    if (!is_translated(&cpu->env)) {
        guest->real = address & MAKE_64BIT_MASK(0, REAL_BITS);
        return true;
    }
    if (!process_of(&cpu->env, address, &partition, &guest->process_entry) ||
        !descend(cs, partition.dw0, 0, guest->process_entry, &walk, &at) ||
        !descend(cs, doubleword(cs, at), partition.dw0, address, &walk, &guest->real)) {
        return false;
    }
    guest->has_process_entry = true;
    memcpy(guest->entries, walk.entries, sizeof(guest->entries));
    guest->levels = walk.levels;
    guest->page_bits = walk.page_bits;
    return true;
}

static void host(CPUState *cs, uint64_t real, VmPmuHostWalk *host)
{
    VmPmuWalk walk = { 0 };
    ppc_v3_pate_t partition;

    if (partition_of(POWERPC_CPU(cs), &partition) && descend(cs, partition.dw0, 0, real, &walk, &host->physical)) {
        memcpy(host->entries, walk.entries, sizeof(host->entries));
        host->levels = walk.levels;
        host->page_bits = walk.page_bits;
    }
}

/* ---- What a core posts into memory ---- */

/* The cell at an address of the guest, and its place in a region; null where the guest has no memory. Called in an RCU critical section. */
static uint64_t *cell(uint64_t address, MemoryRegion **region, hwaddr *offset)
{
    hwaddr length = sizeof(uint64_t);

    *region = address_space_translate(&address_space_memory, address, offset, &length, true, MEMTXATTRS_UNSPECIFIED);
    if (address % sizeof(uint64_t) || length < sizeof(uint64_t) || !memory_region_is_ram(*region) || (*region)->readonly) {
        return NULL;
    }
    return (uint64_t *)((uint8_t *)memory_region_get_ram_ptr(*region) + *offset);
}

static bool load(void *user, uint64_t address, uint64_t *value)
{
    MemoryRegion *region;
    hwaddr offset;
    uint64_t *there;

    RCU_READ_LOCK_GUARD();
    there = cell(address, &region, &offset);
    if (there) {
        *value = ppc_pmu_cell_load(there);
    }
    return there;
}

static bool store(void *user, uint64_t address, uint64_t value)
{
    MemoryRegion *region;
    hwaddr offset;
    uint64_t *there;

    RCU_READ_LOCK_GUARD();
    there = cell(address, &region, &offset);
    if (there) {
        ppc_pmu_cell_store(there, value);
        memory_region_set_dirty(region, offset, sizeof(value));
    }
    return there;
}

static bool add(void *user, uint64_t address, uint64_t amount)
{
    MemoryRegion *region;
    hwaddr offset;
    uint64_t *there;

    RCU_READ_LOCK_GUARD();
    there = cell(address, &region, &offset);
    if (there) {
        ppc_pmu_cell_add(there, amount);
        memory_region_set_dirty(region, offset, sizeof(amount));
    }
    return there;
}

/* A package of the library's machine is a core. */
uint32_t ppc_pmu_core(CPUState *cs)
{
    return cs->cpu_index / MACHINE(qdev_get_machine())->smp.threads;
}

VmPmuMachine *ppc_pmu_machine(CPUState *cs)
{
    return tcg_bridge_machine(cs->pmu->bridge);
}

void ppc_pmu_settle(CPUState *cs)
{
    tcg_pmu_complete(cs);
    tcg_bridge_sync(cs->pmu);
}

bool ppc_pmu_posts(CPUState *cs)
{
    bool running = false;

    vm_pmu_core_running(ppc_pmu_machine(cs), ppc_pmu_core(cs), &running);
    return running;
}

void ppc_pmu_post(CPUState *cs)
{
    VmPmuMemory memory = { .size = sizeof(memory), .load = load, .store = store, .add = add };

    vm_pmu_core_post(ppc_pmu_machine(cs), ppc_pmu_core(cs), &memory, NULL);
}

/* ---- The CPU ---- */

static void power_on(void *opaque)
{
    tcg_pmu_reset(opaque, false);
}

bool ppc_pmu_fits(PowerPCCPU *cpu, Error **errp)
{
    if (cpu->pmu && POWERPC_CPU_GET_CLASS(cpu)->excp_model != POWERPC_EXCP_POWER9) {
        error_setg(errp, "pmu=on: under TCG there is a PMU for POWER9, as -cpu power9");
        return false;
    }
    return true;
}

static uint32_t code_mode(uint32_t flags)
{
    return flags & 1u << HFLAGS_LE ? VM_PMU_CODE_MODE_POWER_LITTLE_ENDIAN : VM_PMU_CODE_MODE_POWER_BIG_ENDIAN;
}

/* powernv divides its memory among its chips evenly, if each has 1 GiB at least. */
static uint64_t memory_of_chip(MachineState *machine)
{
    uint64_t bytes = machine->ram_size / machine->smp.sockets;

    if (machine->smp.sockets == 1 || !object_dynamic_cast(OBJECT(machine), "powernv-machine")) {
        return 0;
    }
    if (bytes < GiB) {
        warn_report("pmu: all memory counts as that of the first chip: give the machine %u GiB", machine->smp.sockets);
        return 0;
    }
    return QEMU_ALIGN_DOWN(bytes, MiB);
}

bool ppc_pmu_attach(PowerPCCPU *cpu, Error **errp)
{
    MachineState *machine = MACHINE(qdev_get_machine());
    CPUState *cs = CPU(cpu);
    unsigned threads = machine->smp.threads;
    TcgPmuTarget target = {
        .key_mask = 1u << HFLAGS_PR | 1u << HFLAGS_HV,
        .loads = loads,
        .load_count = ARRAY_SIZE(loads),
        .stores = stores,
        .store_count = ARRAY_SIZE(stores),
        .code_mode = code_mode,
        .walk = walk,
        .nested = nested,
        .host = host,
        .decoded = decoded,
        .decoded_count = ARRAY_SIZE(decoded),
    };

    if (!cpu->pmu) {
        return true;
    }
    target.core_threads = threads;
    target.memory_per_package = memory_of_chip(machine);
    target.options.part = "power9";
    target.options.threads = threads;
    target.options.packages = machine->smp.max_cpus / threads;
    target.options.supplied = supplied;
    target.options.supplied_count = ARRAY_SIZE(supplied);
    target.options.single = single;
    target.options.single_count = ARRAY_SIZE(single);
    target.options.paired_signal = VM_PMU_SIGNAL_BRANCHES_RETIRED;
    target.options.records = VM_PMU_RECORDS_AT_DEADLINE | VM_PMU_RECORDS_TAKEN_BRANCHES;
    target.options.host.context = context;
    target.options.host.lines = lines;
    target.options.host.record = record;
    if (!tcg_pmu_attach(cs, &target, errp)) {
        return false;
    }
    cs->pmu_tick = timer_new_ns(QEMU_CLOCK_VIRTUAL, tick_is_due, cs);
    qemu_register_reset(power_on, cs);
    return true;
}

void ppc_pmu_msr(CPUPPCState *env, target_ulong value)
{
    CPUState *cs = env_cpu(env);

    /* Changes of the key are noticed when the next block is looked up. */
    if (cs->pmu && cs->pmu->counting && ((env->msr ^ value) & ~IN_KEY & vm_pmu_sensitivity(&cs->pmu->cells))) {
        cs->pmu->key = TCG_BRIDGE_KEY_UNKNOWN;
    }
}

void ppc_pmu_sync(CPUState *cs)
{
    tcg_pmu_sync(cs);
}

void ppc_pmu_exception(CPUState *cs, int exception)
{
    if (exception != POWERPC_EXCP_SYSCALL && exception != POWERPC_EXCP_SYSCALL_VECTORED) {
        tcg_pmu_taken(cs, false);
    }
}

void ppc_pmu_not_completed(CPUPPCState *env, uint32_t exception)
{
    /* These complete, and sc and scv are counted; stop continues at the next address. */
    if (exception != POWERPC_EXCP_SYSCALL && exception != POWERPC_EXCP_SYSCALL_VECTORED && exception != EXCP_HLT) {
        tcg_pmu_not_completed(env_cpu(env));
    }
}

/* ---- Event-based branches ---- */

/* BESCR belongs to the PMU. QEMU reads a copy, on any thread. */
static void copy_bescr(CPUPPCState *env)
{
    TcgBridgeException exception;
    uint64_t value = env->spr[SPR_BESCR];

    tcg_pmu_read(env_cpu(env), VM_PMU_SPACE_SPR, SPR_BESCR, &value, &exception);
    env->spr[SPR_BESCR] = value;
    ppc_maybe_interrupt(env);
}

/* SPR_BESCRS sets bits, SPR_BESCRR clears them. */
static void change_bescr(CPUPPCState *env, uint32_t sprn, uint64_t bits)
{
    TcgBridgeException exception;

    tcg_pmu_write(env_cpu(env), VM_PMU_SPACE_SPR, sprn, bits, &exception);
    copy_bescr(env);
}

void ppc_pmu_deliver(CPUPPCState *env, int interrupt)
{
    CPUState *cs = env_cpu(env);

    if (!cs->pmu) {
        return;
    }
    if (interrupt == PPC_INTERRUPT_EBB) {
        tcg_bridge_sync(cs->pmu);      /* the access below is not an instruction's */
        copy_bescr(env);
        /* The request stays until the guest removes its cause. */
    } else {
        tcg_pmu_taken(cs, true);
    }
}

void ppc_pmu_branched(CPUPPCState *env)
{
    if (env_cpu(env)->pmu) {
        change_bescr(env, SPR_BESCRR, BESCR_GE);
    }
}

bool ppc_pmu_rfebb(CPUPPCState *env, bool enabled)
{
    if (!env_cpu(env)->pmu) {
        return false;
    }
    change_bescr(env, enabled ? SPR_BESCRS : SPR_BESCRR, BESCR_GE);
    return true;
}

/* ---- Registers ---- */

G_NORETURN static void raise_fault(CPUPPCState *env, TcgBridgeException exception, uint32_t sprn, uintptr_t ra)
{
    switch (exception.vector) {
    case 0xF60:
    case 0xF80:
        ppc_pmu_raise_facility(env, exception.vector == 0xF80, sprn, exception.code, ra);
    case 0xE40:
        raise_exception_err_ra(env, POWERPC_EXCP_HV_EMU, POWERPC_EXCP_PRIV | POWERPC_EXCP_PRIV_REG, ra);
    default:
        raise_exception_err_ra(env, POWERPC_EXCP_PROGRAM, POWERPC_EXCP_PRIV, ra);
    }
}

target_ulong helper_pmu_mfspr(CPUPPCState *env, uint32_t sprn, target_ulong old)
{
    TcgBridgeException exception;
    uint64_t value = old;

    if (tcg_pmu_read(env_cpu(env), VM_PMU_SPACE_SPR, sprn, &value, &exception) == TCG_BRIDGE_RAISE) {
        raise_fault(env, exception, sprn, GETPC());
    }
    return value;      /* the old value if the access has no effect */
}

void helper_pmu_mtspr(CPUPPCState *env, uint32_t sprn, target_ulong value)
{
    TcgBridgeException exception;

    if (sprn == SPR_LDBAR && ppc_pmu_posts(env_cpu(env))) {
        /* Linux reads what the thread has counted right behind a write that disables LDBAR. */
        tcg_bridge_sync(env_cpu(env)->pmu);
        ppc_pmu_post(env_cpu(env));
    }
    if (tcg_pmu_write(env_cpu(env), VM_PMU_SPACE_SPR, sprn, value, &exception) == TCG_BRIDGE_RAISE) {
        raise_fault(env, exception, sprn, GETPC());
    }
    if (env_cpu(env)->pmu_ticks) {
        arm_tick(env_cpu(env));
    }
    if (sprn >= SPR_BESCRS && sprn <= SPR_BESCR) {
        copy_bescr(env);
    }
}

/* A register outside the PMU that is part of its context has changed. */
void helper_pmu_context(CPUPPCState *env)
{
    tcg_pmu_sync(env_cpu(env));
    ppc_maybe_interrupt(env);      /* an event-based branch may be possible now */
}

bool ppc_pmu_mfbhrbe(CPUPPCState *env, uint32_t entry, uint64_t *value, uintptr_t ra)
{
    TcgBridgeException exception;

    if (!env_cpu(env)->pmu) {
        return false;
    }
    *value = 0;
    if (tcg_pmu_read(env_cpu(env), VM_PMU_SPACE_BHRB, entry, value, &exception) == TCG_BRIDGE_RAISE) {
        raise_fault(env, exception, 0, ra);
    }
    return true;
}

bool ppc_pmu_clrbhrb(CPUPPCState *env, uintptr_t ra)
{
    TcgBridgeException exception;

    if (!env_cpu(env)->pmu) {
        return false;
    }
    if (tcg_pmu_write(env_cpu(env), VM_PMU_SPACE_BHRB, 0, 0, &exception) == TCG_BRIDGE_RAISE) {
        raise_fault(env, exception, 0, ra);
    }
    return true;
}

void ppc_pmu_route(CPUPPCState *env)
{
    if (!env_cpu(env)->pmu) {
        return;
    }
    for (int number = 768; number <= SPR_MMCRC; number++) {
        ppc_spr_t *spr = &env->spr_cb[number];

        /* EBBHR and EBBRR stay QEMU's. */
        if (number <= SPR_BESCRRU || number == SPR_BESCR || number >= SPR_LDBAR) {
            spr->uea_read = spr->oea_read = spr->hea_read = spr_read_pmu;
            spr->uea_write = spr->oea_write = spr->hea_write = spr_write_pmu;
        }
    }
    env->spr_cb[SPR_FSCR].oea_write = env->spr_cb[SPR_FSCR].hea_write = spr_write_pmu_context;
    env->spr_cb[SPR_HFSCR].hea_write = spr_write_pmu_context;
}

/* ---- Branches ---- */

void ppc_pmu_gen_branch(DisasContextBase *db, PpcPmuTarget target, bool link, bool conditional)
{
    static const uint8_t calls[] = { VM_PMU_BRANCH_DIRECT_CALL, VM_PMU_BRANCH_INDIRECT_CALL, VM_PMU_BRANCH_INDIRECT_CALL };
    static const uint8_t jumps[] = { VM_PMU_BRANCH_DIRECT_JUMP, VM_PMU_BRANCH_RETURN, VM_PMU_BRANCH_INDIRECT_JUMP };

    if (conditional && target == PPC_PMU_DIRECT) {
        tcg_pmu_branch(db, VM_PMU_BRANCH_CONDITIONAL, true);
        tcg_pmu_gen_count(db, VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN);
    } else {
        tcg_pmu_branch(db, link ? calls[target] : jumps[target], conditional);
    }
}

void ppc_pmu_gen_not_taken(DisasContextBase *db, PpcPmuTarget target)
{
    tcg_pmu_gen_decoded(db);
    if (target == PPC_PMU_DIRECT) {
        tcg_pmu_gen_count(db, VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN);
    }
}

void ppc_pmu_gen_conditional_store(DisasContextBase *db, TCGTemp *field)
{
    TCGv_i64 stored = tcg_temp_new_i64(), failed = tcg_temp_new_i64();

    tcg_gen_extu_i32_i64(stored, temp_tcgv_i32(field));
    tcg_gen_extract_i64(stored, stored, CRF_EQ_BIT, 1);
    tcg_gen_xori_i64(failed, stored, 1);
    tcg_pmu_gen_count_by(db, VM_PMU_SIGNAL_STORE_CONDITIONALS_SUCCEEDED, tcgv_i64_temp(stored));
    tcg_pmu_gen_count_by(db, VM_PMU_SIGNAL_STORE_CONDITIONALS_FAILED, tcgv_i64_temp(failed));
}

void ppc_pmu_gen_taken(DisasContextBase *db)
{
    tcg_pmu_gen_count(db, VM_PMU_SIGNAL_BRANCHES_TAKEN);
}
