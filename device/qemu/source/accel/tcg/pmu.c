/*
 * The performance monitoring units of a machine under TCG: libvm_pmu, behind its bridge for translators.
 *
 * Blocks come in two kinds. Those with CF_PMU subtract their instructions from a countdown at their entry, and leave for the main loop when
 * it runs out; a CPU executes them while something is counted on it. The others have no code for the PMU.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#if __has_include("hw/core/boards.h")
#include "hw/core/boards.h"
#else
#include "hw/boards.h"
#endif
#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
#endif
#include "pmu-internal.h"
#include "accel/tcg/tcg_bridge_companion.h"
#include "accel/tcg/tcg_bridge_recording.h"
#if __has_include("system/memory.h")
#include "system/address-spaces.h"
#include "system/memory.h"
#else
#include "exec/address-spaces.h"
#include "exec/memory.h"
#endif
#include "exec/tb-flush.h"
#include "exec/target_page.h"
#include "migration/vmstate.h"
#include "system/numa.h"
#include "system/system.h"
#include "tcg/tcg.h"
#include "tcg/tcg-op-common.h"

/* ---- When a block is translated ---- */

/* The block with CF_PMU that this thread translates. */
static __thread DisasContextBase *translated;

/* A block for the library's description. */
static VmPmuBlock *new_block(TcgPmu *pmu)
{
    VmPmuBlock *block = NULL;

    vm_pmu_block_create(&block);
    QEMU_LOCK_GUARD(&pmu->blocks_lock);
    g_ptr_array_add(pmu->blocks, block);
    return block;
}

/* Whether a signal is demanded that is counted by what the bytes of instructions say. */
static bool wants_decoded(const TcgPmu *pmu)
{
    for (uint32_t i = 0; i < pmu->target.decoded_count; i++) {
        if (tcg_bridge_wants(pmu->bridge, pmu->target.decoded[i])) {
            return true;
        }
    }
    return false;
}

static bool is_decoded(const TcgPmuTarget *target, uint32_t signal)
{
    for (uint32_t i = 0; i < target->decoded_count; i++) {
        if (target->decoded[i] == signal) {
            return true;
        }
    }
    return false;
}

/* Code that makes a number negative if it is, or if the trace has no room for a block. */
static TCGv_i64 gen_stop_if_full(TCGv_i64 stop)
{
    TCGv_i64 end = tcg_temp_new_i64();
    TCGv_i64 room = tcg_temp_new_i64();

    tcg_gen_ld_i64(end, tcg_env, AT(neg.pmu_trace.end));
    tcg_gen_ld_i64(room, tcg_env, AT(neg.pmu_trace.limit));
    tcg_gen_sub_i64(room, room, end);
    tcg_gen_or_i64(room, room, stop);
    return room;
}

TCGOp *tcg_pmu_gen_start(DisasContextBase *db, uint32_t cflags)
{
    TCGv_i64 left = tcg_temp_new_i64();
    TCGLabel *leave = NULL;
    TCGv_i32 count = NULL;
    TCGOp *icount_op = NULL;

    translated = db;
    db->pmu_pc = db->pc_first;
    db->pmu_decodes = wants_decoded(tcg_ctx->cpu->pmu_of_machine);
    if (cflags & CF_PMU_FOLLOWED) {
        db->pmu_block = new_block(tcg_ctx->cpu->pmu_of_machine);
        db->max_insns = MIN(db->max_insns, TCG_BRIDGE_MOST_TRACED);
    }
    tcg_gen_ld_i64(left, tcg_env, AT(neg.pmu_countdown));
    tcg_gen_sub_i64(left, left, tcg_constant_i64(0));      /* tcg_pmu_gen_end() sets the constant */
    db->pmu_takes = tcg_last_op();
    if (!(cflags & CF_NOIRQ)) {
        TCGv_i64 stop = left;

        leave = gen_new_label();
        if (!(cflags & CF_USE_ICOUNT)) {
            /* A request to leave is the sign of another word: one branch tests both. */
            stop = tcg_temp_new_i64();
            tcg_gen_ld32s_i64(stop, tcg_env, AT(neg.icount_decr.u32));
            tcg_gen_or_i64(stop, stop, left);
        }
        if (db->pmu_block) {
            stop = gen_stop_if_full(stop);
        }
        tcg_gen_brcondi_i64(TCG_COND_LT, stop, 0, leave);
    }
    if (cflags & CF_USE_ICOUNT) {
        count = tcg_temp_new_i32();
        tcg_gen_ld_i32(count, tcg_env, AT(neg.icount_decr.u32));
        tcg_gen_sub_i32(count, count, tcg_constant_i32(0));
        icount_op = tcg_last_op();
        if (leave) {
            tcg_gen_brcondi_i32(TCG_COND_LT, count, 0, leave);
        }
        tcg_gen_st16_i32(count, tcg_env, AT(neg.icount_decr.u16.low));
    }
    tcg_gen_st_i64(left, tcg_env, AT(neg.pmu_countdown));
    if (db->pmu_block) {
        tcg_pmu_gen_follow(db);
    }
    if ((cflags & CF_COUNT_MASK) && !(cflags & (CF_PCREL | CF_PMU_FOLLOWED))) {
        /* A block that ends at a deadline stores where that was. */
        TCGv_i64 last = tcg_temp_new_i64();
        TCGv_i32 unit = tcg_temp_new_i32();

        tcg_gen_mov_i64(last, tcg_constant_i64(0));
        db->pmu_last = tcg_last_op();
        tcg_gen_st_i64(last, tcg_env, AT(pmu_last));
        tcg_gen_mov_i32(unit, tcg_constant_i32(0));
        db->pmu_unit = tcg_last_op();
        tcg_gen_st_i32(unit, tcg_env, AT(pmu_unit));
        for (int store = 0; store < 2; store++) {
            tcg_gen_st_i64(tcg_constant_i64(-1), tcg_env, AT(pmu_accesses[store].by));
        }
    }
    tcg_ctx->exitreq_label = leave;
    return icount_op;
}

void tcg_pmu_gen_end(DisasContextBase *db)
{
    translated = NULL;
    if (!db->pmu_takes) {
        return;
    }
    db->tb->pmu_takes = tcg_bridge_takes(db->num_insns, db->pmu_branches);
    tcg_set_insn_param(db->pmu_takes, 2, tcgv_i64_arg(tcg_constant_i64(db->tb->pmu_takes)));
    if (db->pmu_last) {
        uint64_t last = tcg_get_insn_start_param(db->insn_start, 0);

        tcg_set_insn_param(db->pmu_last, 1, tcgv_i64_arg(tcg_constant_i64(last)));
        tcg_set_insn_param(db->pmu_unit, 1, tcgv_i32_arg(tcg_constant_i32(db->pmu_last_unit)));
    }
}

/* The unit that executes the instruction that was translated last. */
static uint32_t unit_of(DisasContextBase *db)
{
    VmPmuInstruction instruction = { .size = sizeof(instruction) };
    VmPmuDecoded decoded = { .size = sizeof(decoded), .unit = VM_PMU_UNIT_UNKNOWN };
    uint8_t bytes[TCG_PMU_LONGEST];
    uint32_t mode = tcg_ctx->cpu->pmu_of_machine->target.code_mode(db->tb->flags);

    vm_pmu_decode(mode, bytes, tcg_pmu_code(db, bytes), db->pmu_pc, &instruction, &decoded);
    return decoded.unit;
}

void tcg_pmu_end_instruction(DisasContextBase *db)
{
    if (!db->pmu_takes || db->num_insns == db->pmu_ended) {
        return;      /* the last one turned out not to belong to the block */
    }
    if (db->pmu_counted != db->num_insns && db->is_jmp != DISAS_NORETURN) {
        tcg_pmu_gen_decoded(db);
    }
    if (db->pmu_block) {
        tcg_pmu_follow_instruction(db);
    }
    if (db->pmu_last && tcg_ctx->cpu->pmu_of_machine->target.options.records & VM_PMU_RECORDS_AT_DEADLINE) {
        db->pmu_last_unit = unit_of(db);
    }
    db->pmu_ended = db->num_insns;
    db->pmu_pc = db->pc_next;
}

void tcg_pmu_end_block(DisasContextBase *db)
{
    if (db->pmu_block && db->is_jmp == DISAS_NEXT) {
        db->is_jmp = DISAS_TOO_MANY;
    }
}

/* Code that adds to a signal, if something follows it. */
static void gen_add(DisasContextBase *db, uint32_t signal, TCGv_i64 amount)
{
    TCGv_ptr totals;
    TCGv_i64 total;
    TcgBridge *bridge;
    uint32_t cell;

    if (!db->pmu_takes) {
        return;
    }
    bridge = tcg_ctx->cpu->pmu_of_machine->bridge;
    if (!tcg_bridge_wants(bridge, signal)) {
        return;
    }
    if (db->pmu_block && tcg_bridge_follows(bridge, signal)) {
        return;      /* the companion counts it */
    }
    cell = tcg_bridge_cell(tcg_ctx->cpu->pmu, signal);
    totals = tcg_temp_new_ptr();
    total = tcg_temp_new_i64();
    tcg_gen_ld_ptr(totals, tcg_env, AT(pmu_totals));
    tcg_gen_ld_i64(total, totals, 8 * cell);
    tcg_gen_add_i64(total, total, amount);
    tcg_gen_st_i64(total, totals, 8 * cell);
}

size_t tcg_pmu_code(const DisasContextBase *db, uint8_t bytes[TCG_PMU_LONGEST])
{
    size_t offset = db->pmu_pc - db->pc_first, second = -(db->pc_first | TARGET_PAGE_MASK), count = 0;

    if (db->host_addr[0] && offset < second) {
        count = MIN(TCG_PMU_LONGEST, second - offset);
        memcpy(bytes, db->host_addr[0] + offset, count);
    }
    if (db->host_addr[1] && offset + count >= second) {
        memcpy(bytes + count, db->host_addr[1] + (offset + count - second), TCG_PMU_LONGEST - count);
        count = TCG_PMU_LONGEST;
    }
    return count;
}

void tcg_pmu_gen_decoded(DisasContextBase *db)
{
    const TcgPmuTarget *target;
    VmPmuGrowth growth[VM_PMU_MOST_DECODED_SIGNALS];
    uint8_t bytes[TCG_PMU_LONGEST];
    uint32_t count = 0;

    if (!db->pmu_takes || !db->pmu_decodes) {
        return;
    }
    db->pmu_counted = db->num_insns;
    target = &tcg_ctx->cpu->pmu_of_machine->target;
    vm_pmu_decode_signals(target->options.part, target->code_mode(db->tb->flags), bytes, tcg_pmu_code(db, bytes), db->pmu_pc, growth,
                          ARRAY_SIZE(growth), &count);
    for (uint32_t i = 0; i < MIN(count, ARRAY_SIZE(growth)); i++) {
        if (is_decoded(target, growth[i].signal)) {
            gen_add(db, growth[i].signal, tcg_constant_i64(growth[i].amount));
        }
    }
}

void tcg_pmu_gen_count(DisasContextBase *db, uint32_t signal)
{
    gen_add(db, signal, tcg_constant_i64(1));
}

void tcg_pmu_gen_count_by(DisasContextBase *db, uint32_t signal, TCGTemp *amount)
{
    gen_add(db, signal, temp_tcgv_i64(amount));
}

/* In a block that ends at a deadline: the first load and the first store of an instruction are reported with it. */
static void gen_address(DisasContextBase *db, TCGTemp *address, bool store)
{
    if (!db->pmu_last || db->pmu_accessed[store] == db->insn_start || tcg_ctx->addr_type != TCG_TYPE_I64) {
        return;
    }
    db->pmu_accessed[store] = db->insn_start;
    tcg_gen_st_i64(tcg_constant_i64(tcg_get_insn_start_param(db->insn_start, 0)), tcg_env, AT(pmu_accesses[store].by));
    tcg_gen_st_i64(temp_tcgv_i64(address), tcg_env, AT(pmu_accesses[store].address));
}

/* An access of any kind. */
static void gen_access(TCGTemp *address, TCGArg mmu_index, MemOp memop, bool store, bool locked)
{
    const TcgPmuTarget *target;

    if (!translated) {
        return;
    }
    target = &tcg_ctx->cpu->pmu_of_machine->target;
    gen_address(translated, address, store);
    if (translated->pmu_block) {
        tcg_pmu_gen_follow_access(translated, address, mmu_index, memop, store, locked);
    }
    for (int i = 0; i < (store ? target->store_count : target->load_count); i++) {
        tcg_pmu_gen_count(translated, store ? target->stores[i] : target->loads[i]);
    }
}

void tcg_pmu_gen_access(TCGTemp *address, TCGArg mmu_index, MemOp memop, bool store)
{
    gen_access(address, mmu_index, memop, store, false);
}

void tcg_pmu_gen_atomic(TCGTemp *address, TCGArg mmu_index, MemOp memop, bool locked)
{
    gen_access(address, mmu_index, memop, false, locked);
    gen_access(address, mmu_index, memop, true, locked);
}

void tcg_pmu_gen_not_retired(DisasContextBase *db)
{
    TCGv_i64 left;

    if (!db->pmu_takes) {
        return;
    }
    left = tcg_temp_new_i64();
    tcg_gen_ld_i64(left, tcg_env, AT(neg.pmu_countdown));
    tcg_gen_addi_i64(left, left, 1ull << TCG_BRIDGE_SHIFT);
    tcg_gen_st_i64(left, tcg_env, AT(neg.pmu_countdown));
}

void tcg_pmu_branch(DisasContextBase *db, uint32_t kind, bool conditional)
{
    tcg_pmu_gen_decoded(db);
    db->pmu_branches = 1;
    db->pmu_branch = kind;
    db->pmu_conditional = conditional;
}

/* ---- In the main loop ---- */

void tcg_pmu_change_context(CPUState *cpu, uint32_t key)
{
    tcg_pmu_complete(cpu);      /* in the old context */
    tcg_bridge_context(cpu->pmu, key);
}

void tcg_pmu_serve(CPUState *cpu)
{
    tcg_pmu_complete(cpu);
    tcg_bridge_before_interrupt(cpu->pmu);
}

bool tcg_pmu_expired(CPUState *cpu, TranslationBlock *tb)
{
    uint64_t allowed;

    bool full = tb_cflags(tb) & CF_PMU_FOLLOWED && !tcg_bridge_trace_fits(cpu->pmu);

    if (!(tb_cflags(tb) & CF_PMU) || (!full && (int64_t)(cpu->neg.pmu_countdown - tb->pmu_takes) >= 0)) {
        return false;
    }
    tcg_pmu_complete(cpu);
    if ((int64_t)(cpu->neg.pmu_countdown - tb->pmu_takes) >= 0) {
        return true;
    }
    allowed = tcg_bridge_slow(cpu->pmu, tb->icount);
    if ((allowed == TCG_BRIDGE_GO || allowed == TCG_BRIDGE_INTERRUPT) && !(tb_cflags(tb) & (CF_COUNT_MASK | CF_PMU_FOLLOWED)) &&
        (int64_t)cpu->neg.pmu_countdown >> TCG_BRIDGE_SHIFT == tb->icount &&
        cpu->pmu->demand.records & cpu->pmu_of_machine->target.options.records & VM_PMU_RECORDS_AT_DEADLINE) {
        allowed = tb->icount;      /* its last instruction may reach a deadline: a block with a count stores where that was */
    }
    if (allowed != TCG_BRIDGE_GO && allowed != TCG_BRIDGE_INTERRUPT) {
        cpu->cflags_next_tb = (tb_cflags(tb) & ~(CF_COUNT_MASK | CF_INVALID)) | MIN(allowed, CF_COUNT_MASK);
    }
    return true;
}

void tcg_pmu_restore(CPUState *cpu, TranslationBlock *tb, int insns_left)
{
    if (tb_cflags(tb) & CF_PMU) {
        tcg_bridge_take_back(cpu->pmu, tb->pmu_takes, insns_left);
    }
    if (tb_cflags(tb) & CF_PMU_FOLLOWED) {
        tcg_bridge_trace_left(cpu->pmu, tb->icount - insns_left);
    }
}

void tcg_pmu_complete(CPUState *cpu)
{
    tcg_bridge_complete(cpu->pmu, cpu->cc->get_pc(cpu));
}

void tcg_pmu_translations_change(CPUState *cpu)
{
    if (cpu->pmu) {
        tcg_bridge_translations_change(cpu->pmu);
    }
}

/* ---- Registers ---- */

/* An instruction that starts the counting is the first that is counted. */
static void opened(CPUState *cpu, bool counted)
{
    if (!counted && cpu->pmu->counting) {
        tcg_bridge_open(cpu->pmu);
    }
}

TcgBridgeAnswer tcg_pmu_read(CPUState *cpu, uint32_t space, uint64_t number, uint64_t *value, TcgBridgeException *exception)
{
    if (!cpu->pmu) {
        return TCG_BRIDGE_NOT_OURS;
    }
    return tcg_bridge_read(cpu->pmu, space, number, value, exception);
}

TcgBridgeAnswer tcg_pmu_write(CPUState *cpu, uint32_t space, uint64_t number, uint64_t value, TcgBridgeException *exception)
{
    TcgBridgeAnswer answer;
    bool counted;

    if (!cpu->pmu) {
        return TCG_BRIDGE_NOT_OURS;
    }
    counted = cpu->pmu->counting;
    answer = tcg_bridge_write(cpu->pmu, space, number, value, exception);
    if (answer == TCG_BRIDGE_DONE) {
        opened(cpu, counted);
    }
    return answer;
}

void tcg_pmu_reset(CPUState *cpu, bool warm)
{
    if (cpu->pmu) {
        tcg_bridge_reset(cpu->pmu, warm);
    }
}

/* ---- Time ---- */

uint64_t tcg_pmu_elapsed(CPUState *cpu, uint64_t unit)
{
    TcgPmu *pmu = cpu->pmu_of_machine;
    uint64_t units = (qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - pmu->last) / unit;

    pmu->last += units * unit;
    return units;
}

/* ---- Functions that the bridge calls ---- */

static void retranslate(void *user)
{
    CPUState *cpu = current_cpu ? current_cpu : first_cpu;

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 2
    queue_tb_flush(cpu);
#else
    tb_flush(cpu);
#endif
}

static void counting(void *user, uint32_t number)
{
    TcgPmu *pmu = user;
    CPUState *cpu = pmu->cpus[number];

    if (!cpu) {
        return;
    }
    cpu->tcg_cflags &= ~(CF_PMU | CF_PMU_FOLLOWED | CF_COUNT_MASK);
    if (cpu->pmu->counting) {
        cpu->tcg_cflags |= CF_PMU;
    }
    if (cpu->pmu->following != TCG_BRIDGE_FOLLOWS_NOTHING) {
        cpu->tcg_cflags |= CF_PMU_FOLLOWED | (cpu->pmu->following == TCG_BRIDGE_FOLLOWS_INSTRUCTIONS);
    }
    /* A block that is described to the library is at one address. */
    if (cpu->tcg_cflags & CF_PMU_FOLLOWED) {
        cpu->pmu_relative |= cpu->tcg_cflags & CF_PCREL;
        cpu->tcg_cflags &= ~CF_PCREL;
    } else {
        cpu->tcg_cflags |= cpu->pmu_relative;
        cpu->pmu_relative = 0;
    }
}

static void sync_work(CPUState *cpu, run_on_cpu_data data)
{
    tcg_pmu_complete(cpu);
    tcg_bridge_sync(cpu->pmu);
}

static void kick(void *user, uint32_t number)
{
    TcgPmu *pmu = user;

    if (pmu->cpus[number]) {
        async_run_on_cpu(pmu->cpus[number], sync_work, RUN_ON_CPU_NULL);
    }
}

static uint64_t guest_clock(void *user)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void late(void *user, uint32_t number, uint64_t events)
{
    qemu_log_mask(LOG_UNIMP, "pmu: an interrupt of CPU %u was due %" PRIu64 " events ago\n", number, events);
}

static void complete_all(TcgPmu *pmu)
{
    for (uint32_t number = 0; number < pmu->cpu_count; number++) {
        if (pmu->cpus[number]) {
            tcg_pmu_complete(pmu->cpus[number]);
        }
    }
}

void tcg_pmu_discard_blocks(void)
{
    TcgPmu *pmu = first_cpu->pmu_of_machine;
    GPtrArray *blocks;

    if (!pmu) {
        return;
    }
    complete_all(pmu);
    blocks = pmu->blocks;
    pmu->blocks = g_ptr_array_new();
    for (guint number = 0; number < blocks->len; number++) {
        vm_pmu_block_destroy(g_ptr_array_index(blocks, number));
    }
    g_ptr_array_free(blocks, true);
}

/* ---- Devices ---- */

void tcg_pmu_device(MemoryRegion *region, uint64_t offset, uint64_t bytes, bool writes)
{
    MemoryRegion *ram = current_machine ? current_machine->ram : NULL;
    TcgPmu *pmu = first_cpu ? first_cpu->pmu_of_machine : NULL;

    /* Devices of a thread of their own are left out: they do not have the lock. */
    if (!ram || !pmu || !bql_locked() || !tcg_bridge_watches_devices(pmu->bridge)) {
        return;
    }
    if (region->container == ram) {     /* memory of a node */
        offset += region->addr;
    } else if (region != ram) {
        return;
    }
    tcg_bridge_device(pmu->bridge, pmu->target.physical ? pmu->target.physical(offset) : offset, bytes, writes);
}

void tcg_pmu_observe_devices(CPUState *cpu, TcgPmuTransferred transferred, TcgPmuLoaded loaded, void *opaque)
{
    TcgPmu *pmu = cpu->pmu_of_machine;

    pmu->observer = opaque;
    pmu->transferred = transferred;
    pmu->loaded = loaded;
}

void tcg_pmu_transfer(AddressSpace *space, uint64_t address, uint64_t bytes, bool writes)
{
    TcgPmu *pmu = first_cpu ? first_cpu->pmu_of_machine : NULL;

    if (space != &address_space_memory && pmu && pmu->transferred && bql_locked()) {
        pmu->transferred(pmu->observer, memory_region_owner(space->root), address, bytes, writes);
    }
}

void tcg_pmu_device_load(MemoryRegion *region)
{
    TcgPmu *pmu = first_cpu ? first_cpu->pmu_of_machine : NULL;

    if (pmu && pmu->loaded) {
        pmu->loaded(pmu->observer, memory_region_owner(region));
    }
}

/* ---- Recordings ---- */

/* Begins a recording, if one is wanted, with what the PMUs remember. No CPU executes. */
static bool start_recording(TcgPmu *pmu, char *why, size_t why_size)
{
    if (!pmu->record || tcg_bridge_start_recording(pmu->bridge, pmu->record_most)) {
        return true;
    }
    vm_pmu_last_error(why, why_size);
    return false;
}

/* Writes the recording when QEMU ends. */
static void write_recording(Notifier *notifier, void *data)
{
    TcgPmu *pmu = container_of(notifier, TcgPmu, exit);
    VmPmuRecording *recording;
    const char *text = NULL;
    size_t length = 0;
    uint64_t left_out = 0;
    bool is_cut = false;
    bool locked = bql_locked();
    GError *error = NULL;

    if (!locked) {
        bql_lock();
    }
    complete_all(pmu);
    recording = tcg_bridge_stop_recording(pmu->bridge);
    if (!locked) {
        bql_unlock();
    }
    if (!recording || vm_pmu_recording_text(recording, &text, &length, &left_out, &is_cut) != VM_PMU_STATUS_OK) {
        error_report("pmu: there is no recording for %s", pmu->record);
    } else if (!g_file_set_contents(pmu->record, text, length, &error)) {
        error_report("pmu: the recording cannot be written: %s", error->message);
        g_error_free(error);
    } else if (is_cut) {
        warn_report("pmu: the recording %s ends early, after %" PRIu64 " statements: record-most sets how many are kept",
                    pmu->record, pmu->record_most);
    }
    if (left_out) {
        warn_report("pmu: the recording %s lacks %" PRIu64 " calls for which there are no statements", pmu->record, left_out);
    }
    vm_pmu_recording_destroy(recording);
}

/* ---- The machine ---- */

static int pre_save(void *opaque)
{
    TcgPmu *pmu = opaque;
    size_t length = 0;

    complete_all(pmu);
    free(pmu->bytes);      /* from the last save */
    pmu->bytes = tcg_bridge_save(pmu->bridge, &length);
    pmu->length = length;
    return pmu->bytes ? 0 : -ENOMEM;
}

static int pre_load(void *opaque)
{
    TcgPmu *pmu = opaque;

    free(pmu->bytes);      /* from the last save: loading allocates again */
    pmu->bytes = NULL;
    return 0;
}

static int post_load(void *opaque, int version)
{
    TcgPmu *pmu = opaque;
    bool fits = tcg_bridge_load(pmu->bridge, pmu->bytes, pmu->length);
    char why[200];

    g_free(pmu->bytes);
    pmu->bytes = NULL;
    if (!fits) {
        error_report("pmu: the saved state is of another machine or library: load it where it was saved");
    } else if (!start_recording(pmu, why, sizeof(why))) {
        warn_report("pmu: there is no recording: %s", why);
    }
    return fits ? 0 : -EINVAL;
}

static const VMStateDescription vmstate_pmu = {
    .name = "vm-pmu",
    .version_id = 2,
    .minimum_version_id = 2,
    .pre_save = pre_save,
    .pre_load = pre_load,
    .post_load = post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(last, TcgPmu),
        VMSTATE_UINT32(length, TcgPmu),
        VMSTATE_VBUFFER_ALLOC_UINT32(bytes, TcgPmu, 1, NULL, length),
        VMSTATE_END_OF_LIST()
    },
};

/*
 * The bytes of memory that belong to each socket, from address 0 up: if QEMU has a NUMA node for each socket, and all of them have as much.
 * Otherwise all memory belongs to the first socket.
 */
static uint64_t memory_per_package(const TcgPmuTarget *target, const MachineState *machine)
{
    const NumaState *numa = machine->numa_state;
    int node;

    if (!numa || numa->num_nodes < 2) {
        return target->memory_per_package;
    }
    for (node = 0; node < numa->num_nodes; node++) {
        if (numa->num_nodes != machine->smp.sockets || numa->nodes[node].node_mem != numa->nodes[0].node_mem) {
            warn_report("pmu: all memory counts as that of the first socket: give each of the %u sockets a NUMA node, all of one size",
                        machine->smp.sockets);
            return 0;
        }
    }
    return numa->nodes[0].node_mem;
}

static void tcg_pmu_realize(DeviceState *device, Error **errp)
{
    TcgPmu *pmu = TCG_PMU(device);
    TcgBridgeOptions options = pmu->target.options;
    MachineState *machine = MACHINE(qdev_get_machine());
    VmPmuCompanionOptions companion = {
        .size = sizeof(companion),
        .packages = machine->smp.sockets,
        .threads = machine->smp.max_cpus / machine->smp.sockets,
        .core_threads = pmu->target.core_threads,
        .memory_per_package = memory_per_package(&pmu->target, machine),
        .user = pmu,
        .walk = tcg_pmu_walk,
        .nested = pmu->target.nested ? tcg_pmu_nested : NULL,
        .host = pmu->target.host ? tcg_pmu_host : NULL,
        .page_bits = TARGET_PAGE_BITS,
    };
    char why[200];

    if (pmu->time && strcmp(pmu->time, "companion") == 0) {
        companion.clock = VM_PMU_CLOCK_OWNER_COMPANION;
    } else if (pmu->time && strcmp(pmu->time, "instructions") != 0) {
        error_setg(errp, "pmu: pmu-time=%s is neither instructions nor companion", pmu->time);
        return;
    }
    options.user = pmu;
    options.host.retranslate = retranslate;
    options.host.counting = counting;
    options.host.kick = kick;
    options.host.late = late;
    options.host.clock = guest_clock;
    options.host.translate = tcg_pmu_translate;
    pmu->blocks = g_ptr_array_new();
    qemu_mutex_init(&pmu->blocks_lock);
    options.companion = &companion;
    pmu->bridge = tcg_bridge_create(&options, why, sizeof(why));
    if (!pmu->bridge) {
        error_setg(errp, "pmu: %s", why);
        return;
    }
    pmu->cpu_count = MAX(options.packages, 1) * MAX(options.threads, 1);
    pmu->cpus = g_new0(CPUState *, pmu->cpu_count);
    if (!start_recording(pmu, why, sizeof(why))) {
        error_setg(errp, "pmu: there is no recording: %s", why);
        return;
    }
    if (pmu->record) {
        pmu->exit.notify = write_recording;
        qemu_add_exit_notifier(&pmu->exit);
    }
}

static const Property tcg_pmu_properties[] = {
    DEFINE_PROP_STRING("record", TcgPmu, record),
    DEFINE_PROP_UINT64("record-most", TcgPmu, record_most, 1000000),
    DEFINE_PROP_STRING("pmu-time", TcgPmu, time),
};

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1
static void tcg_pmu_class_init(ObjectClass *oc, const void *data)
#else
static void tcg_pmu_class_init(ObjectClass *oc, void *data)
#endif
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "performance monitoring units under TCG";
    dc->realize = tcg_pmu_realize;
    device_class_set_props(dc, tcg_pmu_properties);
    dc->vmsd = &vmstate_pmu;
    /* A machine gets it by pmu=on of its CPUs. */
    dc->user_creatable = false;
    dc->hotpluggable = false;
}

static const TypeInfo tcg_pmu_types[] = {
    {
        .name = TYPE_TCG_PMU,
        .parent = TYPE_DEVICE,
        .instance_size = sizeof(TcgPmu),
        .class_init = tcg_pmu_class_init,
    },
};

DEFINE_TYPES(tcg_pmu_types)

/* The PMUs of the machine; the first of its CPUs makes them. */
static TcgPmu *of_machine(const TcgPmuTarget *target, Error **errp)
{
    Object *machine = qdev_get_machine();
    Object *there = object_resolve_path_component(machine, "pmu");
    TcgPmu *pmu;

    if (there) {
        return TCG_PMU(there);
    }
    pmu = TCG_PMU(object_new(TYPE_TCG_PMU));
    object_property_add_child(machine, "pmu", OBJECT(pmu));
    object_unref(OBJECT(pmu));
    pmu->target = *target;
    if (!qdev_realize(DEVICE(pmu), NULL, errp)) {
        object_unparent(OBJECT(pmu));
        return NULL;
    }
    return pmu;
}

bool tcg_pmu_attach(CPUState *cpu, const TcgPmuTarget *target, Error **errp)
{
    TcgPmu *pmu = of_machine(target, errp);

    if (!pmu) {
        return false;
    }
    if (cpu->cpu_index < 0 || cpu->cpu_index >= pmu->cpu_count) {
        error_setg(errp, "pmu: there is none for CPU %d: the machine was made for %u", cpu->cpu_index, pmu->cpu_count);
        return false;
    }
    pmu->cpus[cpu->cpu_index] = cpu;
    cpu->pmu_of_machine = pmu;
    cpu->pmu = tcg_bridge_cpu(pmu->bridge, cpu->cpu_index);
    cpu->pmu_totals = cpu->pmu->totals;
    cpu->pmu_key_mask = target->key_mask;
    cpu->pmu_key = &cpu->pmu->key;
    tcg_bridge_place(cpu->pmu, &cpu->neg.pmu_countdown);
    tcg_bridge_place_trace(cpu->pmu, (TcgBridgeTrace *)&cpu->neg.pmu_trace);
    counting(pmu, cpu->cpu_index);
    return true;
}
