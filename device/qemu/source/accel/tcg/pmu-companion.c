/*
 * The companion of a machine under TCG: while something that it supplies is counted, what a CPU executes is reported to it.
 *
 * Each block with CF_PMU_FOLLOWED is described to the library when it is translated. When it is executed, its code appends an entry for the
 * block, and one for each access to memory, to the trace of the CPU.
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
    CPUTLBEntryFull *full;
    bool is_ram;

    pmu->target.walk(cpu, address, walk);
    if (walk->levels) {
        return;
    }
    /* Without tables, QEMU's own buffer knows the page. */
    full = entry_of(cpu, address, MMU_DATA_LOAD, cpu_mmu_index(cpu, false), &is_ram);
    if (!full) {
        full = entry_of(cpu, address, MMU_INST_FETCH, cpu_mmu_index(cpu, true), &is_ram);
    }
    if (full && full->lg_page_size > walk->page_bits) {
        walk->page_bits = full->lg_page_size;
    }
}

bool tcg_pmu_nested(void *user, uint32_t number, uint64_t address, VmPmuGuestWalk *guest)
{
    TcgPmu *pmu = user;

    return pmu->target.nested(pmu->cpus[number], address, guest);
}

void tcg_pmu_host(void *user, uint32_t number, uint64_t real, VmPmuHostWalk *host)
{
    TcgPmu *pmu = user;

    pmu->target.host(pmu->cpus[number], real, host);
}

void tcg_pmu_translate(void *user, uint32_t number, uint8_t space, TcgBridgePage *page)
{
    TcgPmu *pmu = user;
    CPUState *cpu = pmu->cpus[number];
    vaddr address = page->physical;
    CPUTLBEntryFull *full;
    bool is_ram;
#ifdef TARGET_I386
    /* A page that is not mapped any more leaves its error code here, while that of a guest's exception may still be needed. */
    int error_code = cpu_env(cpu)->error_code;
#endif

    full = entry_of(cpu, address, MMU_DATA_LOAD, space, &is_ram);
    page->physical = physical(full, address);
    page->flags = full && is_ram ? 0 : VM_PMU_ACCESS_UNCACHED;
#ifdef TARGET_I386
    cpu_env(cpu)->error_code = error_code;
#endif
}

/* ---- When a block is translated ---- */

/* Code that appends an entry to the trace. */
static void gen_append(uint64_t what, TCGv_i64 address)
{
    TCGv_ptr end = tcg_temp_new_ptr();

    tcg_gen_ld_ptr(end, tcg_env, AT(neg.pmu_trace.end));
    tcg_gen_st_i64(tcg_constant_i64(what), end, offsetof(VmPmuTraced, what));
    tcg_gen_st_i64(address, end, offsetof(VmPmuTraced, address));
    tcg_gen_addi_ptr(end, end, sizeof(VmPmuTraced));
    tcg_gen_st_ptr(end, tcg_env, AT(neg.pmu_trace.end));
}

void tcg_pmu_gen_follow(DisasContextBase *db)
{
    gen_append(vm_pmu_traced_block(0), tcg_constant_i64((uintptr_t)db->pmu_block));
}

/* The first access of one of these kinds that the bytes of the current instruction say; or one of the kind `otherwise`. */
#define KIND(kind) (1u << (kind))
#define TOUCHES \
    (KIND(VM_PMU_ACCESS_KIND_PREFETCH_LOAD) | KIND(VM_PMU_ACCESS_KIND_PREFETCH_STORE) | KIND(VM_PMU_ACCESS_KIND_PREFETCH_ONCE) | \
     KIND(VM_PMU_ACCESS_KIND_FLUSH))

static VmPmuDecodedAccess access_of(DisasContextBase *db, uint32_t kinds, uint32_t otherwise)
{
    const TcgPmuTarget *target = &tcg_ctx->cpu->pmu_of_machine->target;
    VmPmuInstruction instruction = { .size = sizeof(instruction) };
    VmPmuDecoded decoded = { .size = sizeof(decoded) };
    uint8_t bytes[TCG_PMU_LONGEST];

    vm_pmu_decode(target->code_mode(db->tb->flags), bytes, tcg_pmu_code(db, bytes), db->pmu_pc, &instruction, &decoded);
    for (uint32_t number = 0; number < decoded.access_count; number++) {
        if (kinds & KIND(decoded.accesses[number].kind)) {
            return decoded.accesses[number];
        }
    }
    return (VmPmuDecodedAccess) { .kind = otherwise };
}

static void gen_access(DisasContextBase *db, TCGTemp *address, TCGArg mmu_index, uint32_t kind, uint32_t bytes, uint32_t flags)
{
    if (tcg_ctx->addr_type == TCG_TYPE_I64) {
        gen_append(vm_pmu_traced_access(db->num_insns - 1, kind, bytes, flags) | (uint64_t)mmu_index << TCG_BRIDGE_SPACE_SHIFT,
                   temp_tcgv_i64(address));
    }
}

void tcg_pmu_gen_follow_access(DisasContextBase *db, TCGTemp *address, TCGArg mmu_index, MemOp memop, bool store, bool locked)
{
    uint32_t loads = KIND(VM_PMU_ACCESS_KIND_LOAD) | KIND(VM_PMU_ACCESS_KIND_FLUSH);
    VmPmuDecodedAccess access = store ? access_of(db, KIND(VM_PMU_ACCESS_KIND_STREAMING_STORE), VM_PMU_ACCESS_KIND_STORE)
                                      : access_of(db, loads, VM_PMU_ACCESS_KIND_LOAD);

    /* POWER's load-and-reserve is locked, though for QEMU it is a load. */
    gen_access(db, address, mmu_index, access.kind, memop_size(memop), access.flags | (locked ? VM_PMU_ACCESS_LOCKED : 0));
}

void tcg_pmu_gen_touch(DisasContextBase *db, TCGTemp *address, TCGArg mmu_index)
{
    if (db->pmu_block) {
        VmPmuDecodedAccess access = access_of(db, TOUCHES, VM_PMU_ACCESS_KIND_LOAD);

        if (access.kind != VM_PMU_ACCESS_KIND_LOAD) {
            gen_access(db, address, mmu_index, access.kind, 1, 0);
        }
    }
}

void tcg_pmu_follow_instruction(DisasContextBase *db)
{
    const TcgPmuTarget *target = &tcg_ctx->cpu->pmu_of_machine->target;
    VmPmuInstruction instruction = { .size = sizeof(instruction) };
    VmPmuDecoded decoded = { .size = sizeof(decoded) };
    uint8_t bytes[TCG_PMU_LONGEST];
    vaddr last = db->pc_next - 1;

    /* Where the bytes cannot be had, it is described by its place alone. */
    vm_pmu_decode(target->code_mode(db->tb->flags), bytes, tcg_pmu_code(db, bytes), db->pmu_pc, &instruction, &decoded);
    instruction.address = db->pmu_pc;
    instruction.physical = physical_code(tcg_ctx->cpu, db->pmu_pc);
    instruction.bytes = db->pc_next - db->pmu_pc;
    instruction.branch = db->pmu_branch;
    instruction.flags &= ~VM_PMU_INSTRUCTION_TAKEN;
    if (db->pmu_branch != VM_PMU_BRANCH_NONE && !db->pmu_conditional) {
        instruction.flags |= VM_PMU_INSTRUCTION_TAKEN;
    }
    if ((last ^ db->pmu_pc) & TARGET_PAGE_MASK) {
        instruction.flags |= VM_PMU_INSTRUCTION_NEXT_PAGE;
        instruction.next_page = physical_code(tcg_ctx->cpu, last) & TARGET_PAGE_MASK;
    }
    vm_pmu_block_push(db->pmu_block, &instruction);
}

/* ---- When it is executed ---- */

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
