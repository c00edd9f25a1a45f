/*
 * The companion of a machine under TCG: while something that it supplies is counted, each instruction is reported to it with its accesses.
 *
 * Blocks with CF_PMU_FOLLOWED have one instruction. Before they subtract it from the countdown they report its address, which also
 * completes the one before. Its accesses are reported after the code that makes them.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "pmu-internal.h"
#include "accel/tcg/tcg_bridge_companion.h"
#include "exec/cpu-common.h"
#include "exec/target_page.h"
#include "cpu.h"
#include "tcg/tcg.h"
#include "tcg/tcg-op-common.h"
#if __has_include("accel/tcg/probe.h")
#include "exec/tlb-flags.h"
#include "accel/tcg/probe.h"
#include "accel/tcg/cpu-mmu-index.h"
#else
#include "exec/exec-all.h"
#endif

#define HELPER_H "accel/tcg/pmu-helper.h"
#include "exec/helper-proto.h.inc"
#include "exec/helper-gen.h.inc"
#include "exec/helper-info.c.inc"
#undef HELPER_H

/* The properties of an instruction that are known when it is translated, as one number. */
typedef union Shape {
    struct {
        uint8_t bytes;
        uint8_t branch;
        /* The branch depends on a condition. */
        bool conditional;
        /* It crosses into another page. */
        bool two_pages;
    };
    uint64_t number;
} Shape;

/* The same for an access. */
typedef union AccessShape {
    struct {
        uint8_t bytes;
        uint8_t mmu_index;
        bool store;
        bool locked;
    };
    uint64_t number;
} AccessShape;

/* The entry of QEMU's own translation buffer for an address; null if the guest may not access it this way. */
static CPUTLBEntryFull *entry_of(CPUState *cpu, vaddr address, MMUAccessType type, int mmu_index, bool *is_ram)
{
    CPUTLBEntryFull *full = NULL;
    int flags = probe_access_full_mmu(cpu_env(cpu), address, 0, type, mmu_index, NULL, &full);

    *is_ram = !(flags & TLB_MMIO);
    return flags & TLB_INVALID_MASK ? NULL : full;
}

static uint64_t physical(const CPUTLBEntryFull *full, vaddr address)
{
    return full ? full->phys_addr | (address & ~TARGET_PAGE_MASK) : address;
}

static uint64_t physical_code(CPUState *cpu, vaddr address)
{
    bool is_ram;

    return physical(entry_of(cpu, address, MMU_INST_FETCH, cpu_mmu_index(cpu, true), &is_ram), address);
}

void tcg_pmu_walk(void *user, uint32_t number, uint64_t address, VmPmuWalk *walk)
{
    TcgPmu *pmu = user;
    CPUState *cpu = pmu->cpus[number];
    bool is_ram;
    CPUTLBEntryFull *full = entry_of(cpu, address, MMU_DATA_LOAD, cpu_mmu_index(cpu, false), &is_ram);

    if (!full) {
        full = entry_of(cpu, address, MMU_INST_FETCH, cpu_mmu_index(cpu, true), &is_ram);
    }
    /* Common code does not know which table entries lead there. */
    if (full && full->lg_page_size > walk->page_bits) {
        walk->page_bits = full->lg_page_size;
    }
}

/* ---- When a block is translated ---- */

void tcg_pmu_gen_follow(DisasContextBase *db)
{
    TCGv_i64 next_page = tcg_temp_new_i64();
    TCGv_i64 shape = tcg_temp_new_i64();

    tcg_gen_mov_i64(next_page, tcg_constant_i64(0));
    db->pmu_next_page = tcg_last_op();
    tcg_gen_mov_i64(shape, tcg_constant_i64(0));
    db->pmu_shape = tcg_last_op();
    gen_helper_pmu_follow(tcg_env, tcg_constant_i64(db->pc_first), tcg_constant_i64(physical_code(tcg_ctx->cpu, db->pc_first)),
                          next_page, shape);
}

void tcg_pmu_end_follow(DisasContextBase *db)
{
    vaddr last = db->pc_next - 1;
    Shape shape = { .number = 0 };

    shape.bytes = db->pc_next - db->pc_first;
    shape.branch = db->pmu_branch;
    shape.conditional = db->pmu_conditional;
    if ((last ^ db->pc_first) & TARGET_PAGE_MASK) {
        shape.two_pages = true;
        tcg_set_insn_param(db->pmu_next_page, 1,
                           tcgv_i64_arg(tcg_constant_i64(physical_code(tcg_ctx->cpu, last) & TARGET_PAGE_MASK)));
    }
    tcg_set_insn_param(db->pmu_shape, 1, tcgv_i64_arg(tcg_constant_i64(shape.number)));
}

void tcg_pmu_gen_follow_access(TCGTemp *address, TCGArg mmu_index, MemOp memop, bool store, bool locked)
{
    AccessShape shape = { .number = 0 };

    shape.bytes = memop_size(memop);
    shape.mmu_index = mmu_index;
    shape.store = store;
    shape.locked = locked;
    if (tcg_ctx->addr_type == TCG_TYPE_I64) {
        gen_helper_pmu_access(tcg_env, temp_tcgv_i64(address), tcg_constant_i64(shape.number));
    }
}

/* ---- When it is executed ---- */

void HELPER(pmu_follow)(CPUArchState *env, uint64_t pc, uint64_t place, uint64_t next_page, uint64_t number)
{
    CPUState *cpu = env_cpu(env);
    Shape shape = { .number = number };
    VmPmuInstruction instruction = { .size = sizeof(instruction) };

    /* The same block may be at several addresses. */
    instruction.address = tcg_cflags_has(cpu, CF_PCREL) ? cpu->cc->get_pc(cpu) : pc;
    instruction.physical = place;
    instruction.bytes = shape.bytes;
    instruction.branch = shape.branch;
    instruction.next_page = next_page;
    instruction.flags = shape.two_pages ? VM_PMU_INSTRUCTION_NEXT_PAGE : 0;
    if (shape.branch != VM_PMU_BRANCH_NONE && !shape.conditional) {
        instruction.flags |= VM_PMU_INSTRUCTION_TAKEN;
    }
    tcg_bridge_begin(cpu->pmu, &instruction);
}

void HELPER(pmu_access)(CPUArchState *env, uint64_t address, uint64_t number)
{
    CPUState *cpu = env_cpu(env);
    AccessShape shape = { .number = number };
    VmPmuAccess access = { .address = address };
    bool is_ram;

    access.physical = physical(entry_of(cpu, address, MMU_DATA_LOAD, shape.mmu_index, &is_ram), address);
    access.bytes = shape.bytes;
    access.kind = shape.store ? VM_PMU_ACCESS_KIND_STORE : VM_PMU_ACCESS_KIND_LOAD;
    access.flags = (shape.locked ? VM_PMU_ACCESS_LOCKED : 0) | (is_ram ? 0 : VM_PMU_ACCESS_UNCACHED);
    tcg_bridge_access(cpu->pmu, &access);
}

void tcg_pmu_forget_all(CPUState *cpu, bool global)
{
    if (cpu->pmu) {
        tcg_bridge_forget(cpu->pmu, global ? VM_PMU_FORGOTTEN_ALL : VM_PMU_FORGOTTEN_NON_GLOBAL, 0);
    }
}

void tcg_pmu_forget_page(CPUState *cpu, vaddr address)
{
    if (cpu->pmu) {
        tcg_bridge_forget(cpu->pmu, VM_PMU_FORGOTTEN_PAGE, address);
    }
}
