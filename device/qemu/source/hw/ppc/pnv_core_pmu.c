/*
 * In-memory collection of POWER9's cores and threads, by libvm_pmu.
 *
 * The trace macro of a core has an engine that adds up what the threads of the core count, in memory that PDBAR names for the core and LDBAR
 * for a thread. skiboot writes PDBAR and the macro's mode by XSCOM when Linux calls OPAL_IMC_COUNTERS_INIT, START and STOP; LDBAR is an SPR.
 * skiboot also writes a mask of events, which QEMU ignores: the library counts all events all the time.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "pmu.h"
#include "hw/ppc/pnv.h"
#include "hw/ppc/pnv_core.h"
#include "hw/ppc/pnv_core_pmu.h"
#include "hw/ppc/pnv_xscom.h"
#include "migration/vmstate.h"
#include "system/reset.h"
#if __has_include("hw/core/qdev.h")
#include "hw/core/qdev.h"
#else
#include "hw/qdev-core.h"
#endif
#include <vm_pmu_posting.h>

/* How often a core posts while its engine runs: as often as the nest. What the processor does is not public. */
#define POSTING_NS (500 * SCALE_US)

/* The registers of a core's trace macro, from the first on, and the macros of the four cores of a quad in the addresses of the quad. */
#define HTM_MODE 0x0
#define HTM_PDBAR 0xb
#define HTM_REGISTERS 0xc
static const uint32_t macros[] = { 0x12200, 0x12300, 0x12600, 0x12700 };

/* Of the mode: the engine runs. */
#define HTM_MODE_COLLECTS PPC_BIT(4)

/* Of PDBAR: the address. */
#define HTM_PDBAR_ADDRESS PPC_BITMASK(14, 50)

#define TYPE_PNV_CORE_PMU "pnv-core-pmu"
OBJECT_DECLARE_SIMPLE_TYPE(PnvCorePmu, PNV_CORE_PMU)

struct PnvCorePmu {
    DeviceState parent_obj;
    PnvCore *core;
    MemoryRegion registers;
    uint64_t mode;
    uint64_t pdbar;
    /* PDBAR has been written, and the library does not know yet. */
    bool moved;
    QEMUTimer *posting;
};

static CPUState *thread(PnvCorePmu *pmu, int number)
{
    return CPU(pmu->core->threads[number]);
}

static int thread_count(PnvCorePmu *pmu)
{
    return CPU_CORE(pmu->core)->nr_threads;
}

static void settle(PnvCorePmu *pmu)
{
    for (int number = 0; number < thread_count(pmu); number++) {
        ppc_pmu_settle(thread(pmu, number));
    }
}

/* ---- Postings ---- */

static void wait_for_posting(PnvCorePmu *pmu)
{
    timer_mod(pmu->posting, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + POSTING_NS);
}

/* Each thread of the core does this. */
static void post(CPUState *cs, run_on_cpu_data data)
{
    PnvCorePmu *pmu = data.host_ptr;

    if (!ppc_pmu_posts(cs)) {
        return;
    }
    ppc_pmu_settle(cs);
    ppc_pmu_post(cs);
    if (cs == thread(pmu, 0)) {
        wait_for_posting(pmu);
    }
}

static void posting_is_due(void *opaque)
{
    PnvCorePmu *pmu = opaque;

    for (int number = 0; number < thread_count(pmu); number++) {
        async_run_on_cpu(thread(pmu, number), post, RUN_ON_CPU_HOST_PTR(pmu));
    }
}

/* ---- Registers ---- */

/* The library's engine becomes what the registers say. No thread of the core executes. */
static void obey(PnvCorePmu *pmu)
{
    CPUState *first = thread(pmu, 0);
    VmPmuMachine *machine = ppc_pmu_machine(first);
    uint32_t core = ppc_pmu_core(first);
    bool collects = pmu->mode & HTM_MODE_COLLECTS;

    settle(pmu);
    if (ppc_pmu_posts(first) && (pmu->moved || !collects)) {
        /* A guest that reads memory behind the write finds everything. */
        ppc_pmu_post(first);
        vm_pmu_core_stop(machine, core);
        timer_del(pmu->posting);
    }
    if (pmu->moved) {
        vm_pmu_core_init(machine, core, pmu->pdbar & HTM_PDBAR_ADDRESS);
        pmu->moved = false;
    }
    if (collects && !ppc_pmu_posts(first)) {
        vm_pmu_core_start(machine, core);
        wait_for_posting(pmu);
    }
    settle(pmu);      /* other signals are demanded now */
}

static void obey_exclusively(CPUState *cs, run_on_cpu_data data)
{
    BQL_LOCK_GUARD();
    obey(data.host_ptr);
}

static uint64_t registers_read(void *opaque, hwaddr address, unsigned size)
{
    PnvCorePmu *pmu = opaque;

    switch (address >> 3) {
    case HTM_MODE:
        return pmu->mode;
    case HTM_PDBAR:
        return pmu->pdbar;
    default:
        qemu_log_mask(LOG_UNIMP, "%s: register 0x%" HWADDR_PRIx " of a trace macro\n", __func__, address >> 3);
        return 0;
    }
}

static void registers_write(void *opaque, hwaddr address, uint64_t value, unsigned size)
{
    PnvCorePmu *pmu = opaque;

    switch (address >> 3) {
    case HTM_MODE:
        pmu->mode = value;
        break;
    case HTM_PDBAR:
        pmu->pdbar = value;
        pmu->moved = true;
        break;
    default:
        qemu_log_mask(LOG_UNIMP, "%s: register 0x%" HWADDR_PRIx " of a trace macro\n", __func__, address >> 3);
        return;
    }
    /* When the writing block ends, with all CPUs between blocks: what every thread has counted until then is known. */
    async_safe_run_on_cpu(current_cpu ? current_cpu : thread(pmu, 0), obey_exclusively, RUN_ON_CPU_HOST_PTR(pmu));
}

static const MemoryRegionOps registers_ops = {
    .read = registers_read,
    .write = registers_write,
    .endianness = DEVICE_BIG_ENDIAN,
    .valid = { .min_access_size = 8, .max_access_size = 8 },
    .impl = { .min_access_size = 8, .max_access_size = 8 },
};

/* ---- The device ---- */

static void power_on(void *opaque)
{
    PnvCorePmu *pmu = opaque;

    pmu->mode = 0;
    pmu->pdbar = 0;
    pmu->moved = true;
    obey(pmu);
}

static int post_load(void *opaque, int version)
{
    PnvCorePmu *pmu = opaque;

    if (pmu->mode & HTM_MODE_COLLECTS && !timer_pending(pmu->posting)) {
        wait_for_posting(pmu);      /* it was saved when a posting was due */
    }
    return 0;
}

/* The library's part of the state is in the section of the machine's PMUs. */
static const VMStateDescription vmstate_core_pmu = {
    .name = "vm-pmu-core",
    .version_id = 1,
    .minimum_version_id = 1,
    .post_load = post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(mode, PnvCorePmu),
        VMSTATE_UINT64(pdbar, PnvCorePmu),
        VMSTATE_BOOL(moved, PnvCorePmu),
        VMSTATE_TIMER_PTR(posting, PnvCorePmu),
        VMSTATE_END_OF_LIST()
    },
};

static void pnv_core_pmu_realize(DeviceState *device, Error **errp)
{
    PnvCorePmu *pmu = PNV_CORE_PMU(device);
    hwaddr place = PNV9_XSCOM_EQ_BASE(pmu->core->hwid) + macros[pmu->core->hwid % ARRAY_SIZE(macros)];

    pmu->posting = timer_new_ns(QEMU_CLOCK_VIRTUAL, posting_is_due, pmu);
    pnv_xscom_region_init(&pmu->registers, OBJECT(pmu), &registers_ops, pmu, "xscom-core-pmu", HTM_REGISTERS);
    memory_region_add_subregion_overlap(&pmu->core->chip->xscom, place << 3, &pmu->registers, 1);
    qemu_register_reset(power_on, pmu);
}

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1
static void pnv_core_pmu_class_init(ObjectClass *oc, const void *data)
#else
static void pnv_core_pmu_class_init(ObjectClass *oc, void *data)
#endif
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "POWER9 in-memory collection of a core and its threads";
    dc->realize = pnv_core_pmu_realize;
    dc->vmsd = &vmstate_core_pmu;
    /* A core gets it by pmu=on of its CPUs. */
    dc->user_creatable = false;
    dc->hotpluggable = false;
}

static const TypeInfo pnv_core_pmu_types[] = {
    {
        .name = TYPE_PNV_CORE_PMU,
        .parent = TYPE_DEVICE,
        .instance_size = sizeof(PnvCorePmu),
        .class_init = pnv_core_pmu_class_init,
    },
};

DEFINE_TYPES(pnv_core_pmu_types)

bool pnv_core_pmu_create(PnvChip *chip, Error **errp)
{
    for (int number = 0; number < chip->nr_cores; number++) {
        PnvCore *core = chip->cores[number];
        PnvCorePmu *pmu;
        char name[32];
        bool realized;

        if (!core->threads[0]->pmu) {
            continue;
        }
        pmu = PNV_CORE_PMU(object_new(TYPE_PNV_CORE_PMU));
        pmu->core = core;
        snprintf(name, sizeof(name), "core-pmu[%d]", number);
        object_property_add_child(OBJECT(chip), name, OBJECT(pmu));
        realized = qdev_realize(DEVICE(pmu), NULL, errp);
        object_unref(OBJECT(pmu));
        if (!realized) {
            return false;
        }
    }
    return true;
}
