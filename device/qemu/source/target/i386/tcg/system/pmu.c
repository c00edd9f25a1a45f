/*
 * The performance monitoring unit of an x86 CPU under TCG: AMD K8 or Knights Landing.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "hw/i386/apic.h"
#include "hw/i386/x86.h"
#include "system/reset.h"
#include "accel/tcg/pmu-target.h"
#include "accel/tcg/tcg_bridge_boxes.h"
#include <vm_pmu_layout.h>
#include "exec/translator.h"
#include "tcg/helper-tcg.h"
#include "tcg/pmu.h"
#if __has_include("hw/core/boards.h")
#include "hw/core/boards.h"
#else
#include "hw/boards.h"
#endif

/* The signals to which an instruction adds 1 at most. */
#define SINGLE_SIGNALS \
    VM_PMU_SIGNAL_BRANCHES_RETIRED, \
    VM_PMU_SIGNAL_BRANCHES_TAKEN, \
    VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN, \
    VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN, \
    VM_PMU_SIGNAL_DIRECT_JUMPS, \
    VM_PMU_SIGNAL_INDIRECT_JUMPS, \
    VM_PMU_SIGNAL_DIRECT_CALLS, \
    VM_PMU_SIGNAL_INDIRECT_CALLS, \
    VM_PMU_SIGNAL_NEAR_RETURNS, \
    VM_PMU_SIGNAL_FAR_TRANSFERS, \
    VM_PMU_SIGNAL_INTERRUPTS_TAKEN, \
    VM_PMU_SIGNAL_EXCEPTIONS_TAKEN

/* What the bytes of an instruction say that it adds: 1 at most, except to micro-operations. */
#define DECODED_SIGNALS \
    VM_PMU_SIGNAL_SEGMENT_LOADS_ES, \
    VM_PMU_SIGNAL_SEGMENT_LOADS_CS, \
    VM_PMU_SIGNAL_SEGMENT_LOADS_SS, \
    VM_PMU_SIGNAL_SEGMENT_LOADS_DS, \
    VM_PMU_SIGNAL_SEGMENT_LOADS_FS, \
    VM_PMU_SIGNAL_SEGMENT_LOADS_GS, \
    VM_PMU_SIGNAL_CPUID_INSTRUCTIONS, \
    VM_PMU_SIGNAL_CACHE_LINE_FLUSHES, \
    VM_PMU_SIGNAL_LOCKED_INSTRUCTIONS, \
    VM_PMU_SIGNAL_PREFETCHES_NON_TEMPORAL, \
    VM_PMU_SIGNAL_PREFETCHES_FOR_STORE, \
    VM_PMU_SIGNAL_PREFETCHES_FOR_LOAD, \
    VM_PMU_SIGNAL_PACKED_VECTOR_OPS_RETIRED, \
    VM_PMU_SIGNAL_SCALAR_VECTOR_OPS_RETIRED, \
    VM_PMU_SIGNAL_X87_INSTRUCTIONS, \
    VM_PMU_SIGNAL_MMX_INSTRUCTIONS, \
    VM_PMU_SIGNAL_PACKED_SSE_INSTRUCTIONS, \
    VM_PMU_SIGNAL_SCALAR_SSE_INSTRUCTIONS
#define MICRO_OPERATIONS \
    VM_PMU_SIGNAL_MICRO_OPS_RETIRED, \
    VM_PMU_SIGNAL_MICROCODED_OPS_RETIRED
/* Microcode that reads and writes memory. */
#define MOST_MICRO_OPERATIONS 10

static const uint32_t decoded[] = { DECODED_SIGNALS, MICRO_OPERATIONS };

static const uint32_t single[] = { SINGLE_SIGNALS, DECODED_SIGNALS };

/* The signals that QEMU's translator counts; the model does not expect others. */
static const uint32_t supplied[] = {
    SINGLE_SIGNALS,
    DECODED_SIGNALS,
    MICRO_OPERATIONS,
    VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED,
    VM_PMU_SIGNAL_CYCLES,
    VM_PMU_SIGNAL_REFERENCE_CYCLES,
    VM_PMU_SIGNAL_LOADS,
    VM_PMU_SIGNAL_STORES,
    VM_PMU_SIGNAL_DATA_CACHE_ACCESSES,
};

/* The signals that an access to memory adds to. */
static const uint32_t loads[] = { VM_PMU_SIGNAL_LOADS, VM_PMU_SIGNAL_DATA_CACHE_ACCESSES };
static const uint32_t stores[] = { VM_PMU_SIGNAL_STORES, VM_PMU_SIGNAL_DATA_CACHE_ACCESSES };

/* Clocks do not change their frequency here. */
static const uint32_t with_cycles[] = { VM_PMU_SIGNAL_REFERENCE_CYCLES };

/* ---- Functions that the bridge calls ---- */

static uint32_t context(void *user, uint32_t number, VmPmuContext *context)
{
    CPUState *cs = current_cpu && current_cpu->cpu_index == number ? current_cpu : qemu_get_cpu(number);
    CPUX86State *env = cpu_env(cs);

    context->privilege = env->hflags & HF_CPL_MASK;
    context->machine_state = env->eflags & (IF_MASK | VM_MASK);
    context->control = env->cr[4];
    context->flags = cs->halted ? VM_PMU_CONTEXT_HALTED : 0;
    return cs->halted ? TCG_BRIDGE_KEY_UNKNOWN : context->privilege;
}

static void interrupt(void *user, uint32_t number)
{
    X86CPU *cpu = X86_CPU(qemu_get_cpu(number));

    BQL_LOCK_GUARD();
    apic_deliver_performance(cpu->apic_state, IS_INTEL_CPU(&cpu->env));
}

static uint32_t code_mode(uint32_t flags)
{
    if (flags & HF_CS64_MASK) {
        return VM_PMU_CODE_MODE_X86_BITS64;
    }
    return flags & HF_CS32_MASK ? VM_PMU_CODE_MODE_X86_BITS32 : VM_PMU_CODE_MODE_X86_BITS16;
}

static uint64_t physical(uint64_t offset)
{
    X86MachineState *machine = X86_MACHINE(current_machine);

    return offset < machine->below_4g_mem_size ? offset : offset - machine->below_4g_mem_size + machine->above_4g_mem_start;
}

/* Bits of table entries. */
#define ENTRY_TABLE 0x000ffffffffff000ull

static void walk(CPUState *cs, uint64_t address, VmPmuWalk *walk)
{
    CPUX86State *env = cpu_env(cs);
    bool is_long = env->hflags & HF_LMA_MASK, is_wide = env->cr[4] & CR4_PAE_MASK;
    unsigned bits = is_wide ? 9 : 10;
    uint64_t table = env->cr[3] & (is_wide && !is_long ? ~0x1full : ENTRY_TABLE);

    if (!(env->cr[0] & CR0_PG_MASK)) {
        return;
    }
    for (int level = is_long ? 4 : is_wide ? 3 : 2; level > 0; level--) {
        unsigned shift = 12 + bits * (level - 1);
        uint64_t at = table + (address >> shift & ((1u << bits) - 1)) * (is_wide ? 8 : 4);
        uint64_t entry = is_wide ? address_space_ldq_le(cs->as, at, MEMTXATTRS_UNSPECIFIED, NULL)
                                 : address_space_ldl_le(cs->as, at, MEMTXATTRS_UNSPECIFIED, NULL);
        bool is_large = level == 3 ? is_long : level == 2 && (is_wide || env->cr[4] & CR4_PSE_MASK);

        if (!(entry & PG_PRESENT_MASK)) {
            return;
        }
        walk->entries[walk->levels++] = at;
        if (level == 1 || (is_large && entry & PG_PSE_MASK)) {
            walk->page_bits = shift;
            walk->global = (entry & PG_GLOBAL_MASK) != 0 && env->cr[4] & CR4_PGE_MASK;
        }
        if (is_large && entry & PG_PSE_MASK) {
            return;
        }
        table = entry & ENTRY_TABLE;
    }
}

/* ---- The CPU ---- */

static const char *part_of(CPUX86State *env)
{
    uint32_t family = (env->cpuid_version >> 8 & 0xf) + (env->cpuid_version >> 20 & 0xff);
    uint32_t model = (env->cpuid_version >> 4 & 0xf) | (env->cpuid_version >> 12 & 0xf0);

    if (IS_AMD_CPU(env) && family == 15) {
        return "k8";
    }
    /* Knights Landing, and Knights Mill, which has the same PMU. */
    return IS_INTEL_CPU(env) && family == 6 && (model == 0x57 || model == 0x85) ? "knl" : NULL;
}

/*
 * How many of the CPUs form a package. All cores of a K8, which are those of a socket, share one northbridge. A tile of Knights Landing has up to eight threads: the
 * largest number that divides the number of CPUs.
 */
static unsigned package_threads(const char *part, unsigned cpus, unsigned sockets)
{
    unsigned threads = cpus / sockets;

    if (strcmp(part, "knl") == 0) {
        threads = MIN(cpus, 8);
        while (cpus % threads != 0) {
            threads--;
        }
    }
    return threads;
}

static bool has_boxes(CPUState *cs)
{
    return cs->pmu && IS_INTEL_CPU(cpu_env(cs));
}

static void power_on(void *opaque)
{
    CPUState *cs = opaque;

    tcg_pmu_reset(cs, false);
    if (cs == first_cpu && has_boxes(cs)) {
        vm_pmu_boxes_reset(tcg_bridge_machine(cs->pmu->bridge));
        tcg_bridge_boxes_written(cs->pmu->bridge);
    }
}

bool x86_pmu_attach(CPUState *cs, Error **errp)
{
    MachineState *machine = MACHINE(qdev_get_machine());
    TcgPmuTarget target = {
        .key_mask = HF_CPL_MASK,
        .loads = loads,
        .load_count = ARRAY_SIZE(loads),
        .stores = stores,
        .store_count = ARRAY_SIZE(stores),
        .code_mode = code_mode,
        .physical = physical,
        .walk = walk,
        .decoded = decoded,
        .decoded_count = ARRAY_SIZE(decoded),
    };
    const char *part = part_of(cpu_env(cs));

    if (!part && object_dynamic_cast(OBJECT(cs), X86_CPU_TYPE_NAME("max"))) {
        return true;      /* -cpu max enables everything that is available */
    }
    if (!part) {
        error_setg(errp, "pmu=on: under TCG there is a PMU for AMD family 15, as -cpu Opteron_G1, and for Intel family 6 model 87, "
                   "Knights Landing");
        return false;
    }
    target.options.part = part;
    target.options.threads = package_threads(part, machine->smp.max_cpus, machine->smp.sockets);
    target.options.packages = machine->smp.max_cpus / target.options.threads;
    target.options.most = MOST_MICRO_OPERATIONS;
    target.options.paired_signal = VM_PMU_SIGNAL_BRANCHES_RETIRED;
    target.options.supplied = supplied;
    target.options.supplied_count = ARRAY_SIZE(supplied);
    target.options.with_cycles = with_cycles;
    target.options.with_cycles_count = ARRAY_SIZE(with_cycles);
    target.options.single = single;
    target.options.single_count = ARRAY_SIZE(single);
    target.options.host.context = context;
    target.options.host.interrupt = interrupt;
    if (!tcg_pmu_attach(cs, &target, errp)) {
        return false;
    }
    if (has_boxes(cs)) {
        tcg_bridge_boxes_begin(cs->pmu->bridge);
    }
    qemu_register_reset(power_on, cs);
    return true;
}

void x86_pmu_reset(CPUState *cs, bool warm)
{
    tcg_pmu_reset(cs, warm);
}

void x86_pmu_taken(CPUX86State *env, bool hardware)
{
    tcg_pmu_taken(env_cpu(env), hardware);
}

void x86_pmu_not_completed(CPUX86State *env)
{
    tcg_pmu_not_completed(env_cpu(env));
}

void x86_pmu_halted(CPUX86State *env)
{
    tcg_pmu_sync(env_cpu(env));
}

/* The library's clock of the CPUs, 1400 MHz: 7 cycles in 5 ns. */
#define CYCLES 7
#define NANOSECONDS 5

/* The clocks of boxes are those of the machine's time. They run while CPUs sleep, and are advanced when they are read. */
VmPmuMachine *x86_pmu_boxes(CPUState *cs)
{
    if (!has_boxes(cs)) {
        return NULL;
    }
    tcg_bridge_boxes_advance(cs->pmu->bridge, CYCLES * tcg_pmu_elapsed(cs, NANOSECONDS));
    return tcg_bridge_machine(cs->pmu->bridge);
}

void x86_pmu_boxes_written(CPUState *cs)
{
    tcg_bridge_boxes_written(cs->pmu->bridge);
}

void x86_pmu_interrupt_message(uint64_t address)
{
    if (has_boxes(first_cpu)) {
        tcg_bridge_boxes_interrupt(first_cpu->pmu->bridge, address);
    }
}

void x86_pmu_cpuid(CPUState *cs, uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    uint32_t registers[4] = { 0 };

    vm_pmu_cpuid(part_of(cpu_env(cs)), 0xA, 0, &registers);
    *eax = registers[0];
    *ebx = registers[1];
    *ecx = registers[2];
    *edx = registers[3];
}

/* ---- Registers ---- */

/* The range of the registers of Knights Landing's boxes, and of a few others. */
#define FIRST_BOX_MSR 0x700
#define END_OF_BOX_MSRS 0x1000

static bool is_of_boxes(CPUX86State *env)
{
    uint32_t number = env->regs[R_ECX];

    return number >= FIRST_BOX_MSR && number < END_OF_BOX_MSRS && has_boxes(env_cpu(env));
}

static void advance_boxes(CPUX86State *env)
{
    if (is_of_boxes(env)) {
        BQL_LOCK_GUARD();
        x86_pmu_boxes(env_cpu(env));
    }
}

/* Raises the PMU's exception, if any; false if the register is not the PMU's. */
static bool finish(CPUX86State *env, TcgBridgeAnswer answer, TcgBridgeException exception, uintptr_t ra)
{
    if (answer == TCG_BRIDGE_RAISE) {
        raise_exception_err_ra(env, exception.vector, exception.code, ra);
    }
    return answer != TCG_BRIDGE_NOT_OURS;
}

static bool read_register(CPUX86State *env, uint32_t space, uintptr_t ra)
{
    TcgBridgeException exception = { 0 };
    uint64_t value = 0;
    TcgBridgeAnswer answer;

    answer = tcg_pmu_read(env_cpu(env), space, (uint32_t)env->regs[R_ECX], &value, &exception);

    if (!finish(env, answer, exception, ra)) {
        return false;
    }
    env->regs[R_EAX] = (uint32_t)value;
    env->regs[R_EDX] = value >> 32;
    return true;
}

bool x86_pmu_rdmsr(CPUX86State *env, uintptr_t ra)
{
    advance_boxes(env);
    return read_register(env, VM_PMU_SPACE_MSR, ra);
}

bool x86_pmu_rdpmc(CPUX86State *env, uintptr_t ra)
{
    if (!env_cpu(env)->pmu) {
        return false;
    }
    cpu_svm_check_intercept_param(env, SVM_EXIT_RDPMC, 0, ra);
    return read_register(env, VM_PMU_SPACE_RDPMC, ra);
}

bool x86_pmu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra)
{
    TcgBridgeException exception = { 0 };
    TcgBridgeAnswer answer;

    advance_boxes(env);
    answer = tcg_pmu_write(env_cpu(env), VM_PMU_SPACE_MSR, (uint32_t)env->regs[R_ECX], value, &exception);
    if (answer == TCG_BRIDGE_DONE && is_of_boxes(env)) {
        BQL_LOCK_GUARD();
        x86_pmu_boxes_written(env_cpu(env));
    }
    return finish(env, answer, exception, ra);
}

/* ---- Branches ---- */

void x86_pmu_far(CPUX86State *env)
{
    tcg_pmu_count(env_cpu(env), VM_PMU_SIGNAL_FAR_TRANSFERS, 1);
}

void x86_pmu_gen_taken(DisasContextBase *db, X86PmuBranch kind)
{
    static const uint32_t kinds[] = {
        [X86_PMU_CONDITIONAL] = VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_TAKEN,
        [X86_PMU_DIRECT_JUMP] = VM_PMU_SIGNAL_DIRECT_JUMPS,
        [X86_PMU_INDIRECT_JUMP] = VM_PMU_SIGNAL_INDIRECT_JUMPS,
        [X86_PMU_DIRECT_CALL] = VM_PMU_SIGNAL_DIRECT_CALLS,
        [X86_PMU_INDIRECT_CALL] = VM_PMU_SIGNAL_INDIRECT_CALLS,
        [X86_PMU_RETURN] = VM_PMU_SIGNAL_NEAR_RETURNS,
    };
    static const uint8_t branches[] = {
        [X86_PMU_CONDITIONAL] = VM_PMU_BRANCH_CONDITIONAL,
        [X86_PMU_DIRECT_JUMP] = VM_PMU_BRANCH_DIRECT_JUMP,
        [X86_PMU_INDIRECT_JUMP] = VM_PMU_BRANCH_INDIRECT_JUMP,
        [X86_PMU_DIRECT_CALL] = VM_PMU_BRANCH_DIRECT_CALL,
        [X86_PMU_INDIRECT_CALL] = VM_PMU_BRANCH_INDIRECT_CALL,
        [X86_PMU_RETURN] = VM_PMU_BRANCH_RETURN,
    };

    tcg_pmu_branch(db, branches[kind], kind == X86_PMU_CONDITIONAL);
    tcg_pmu_gen_count(db, kinds[kind]);
    tcg_pmu_gen_count(db, VM_PMU_SIGNAL_BRANCHES_TAKEN);
}

void x86_pmu_gen_not_taken(DisasContextBase *db)
{
    tcg_pmu_branch(db, VM_PMU_BRANCH_CONDITIONAL, true);
    tcg_pmu_gen_count(db, VM_PMU_SIGNAL_CONDITIONAL_BRANCHES_NOT_TAKEN);
}
