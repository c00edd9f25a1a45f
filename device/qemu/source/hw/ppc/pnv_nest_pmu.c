/*
 * The performance monitoring unit of a POWER9 chip's nest, by libvm_pmu: in-memory collection.
 *
 * An engine on the chip, which is part of the OCC's microcode on the processor, adds up the nest's counters in the chip's HOMER. skiboot
 * and Linux communicate with it through a control block there. A catalogue that skiboot takes from the PNOR describes its events to Linux.
 *
 * Linux reads the counters through its mapping of memory. So the HOMER is at the end of the chip's memory, as on the processor, and not
 * after all memory, where QEMU otherwise has it.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "pmu-memory.h"
#include "hw/ppc/pnv.h"
#include "hw/ppc/pnv_core.h"
#include "hw/ppc/pnv_nest_pmu.h"
#include "migration/vmstate.h"
#include "system/reset.h"
#if __has_include("system/address-spaces.h")
#include "system/address-spaces.h"
#else
#include "exec/address-spaces.h"
#endif
#if __has_include("hw/core/qdev.h")
#include "hw/core/qdev.h"
#else
#include "hw/qdev-core.h"
#endif
#include <vm_pmu_posting.h>

/* The nest's clock, and its cycles per nanosecond. */
#define NEST_HERTZ 2000000000ull
#define CYCLES_PER_NS (NEST_HERTZ / NANOSECONDS_PER_SECOND)

/* The engine's slots: at most this many per call; a guest that was held up gets no more. */
#define SLOT_CYCLES 1000000ull
#define SLOTS_OF_A_CALL 24
#define SLOTS_TO_MAKE_UP 2000

/* The most slots that the engine needs to execute a write to the control block. */
#define SLOTS_TO_OBEY 8

/* The offset of the control block in the engine's region. */
#define CONTROL_BLOCK 0x3fc00
#define CONTROL_BLOCK_SIZE 0x30
#define CONTROL_STATUS 0x00
#define CONTROL_COMMAND 0x08
#define STATUS_PAUSED 2

/*
 * The units that QEMU's chip has, the most significant bit first: the interconnect, eight memory controllers and DIMM interfaces, six PCIe host
 * bridges. It has no links to other chips, no NVLinks and no accelerators.
 */
#define UNITS (PPC_BITMASK(0, 16) | PPC_BITMASK(30, 35))

#define TYPE_PNV_NEST_PMU "pnv-nest-pmu"
OBJECT_DECLARE_SIMPLE_TYPE(PnvNestPmu, PNV_NEST_PMU)

struct PnvNestPmu {
    DeviceState parent_obj;
    PnvHomer *homer;
    MemoryRegion control;
    VmPmuPlatform *platform;
    uint32_t chip_id;
    /* The offset of the engine's region in the HOMER. */
    hwaddr region;
    hwaddr region_size;
    /* The timer of the engine's next slot, and the time up to which its cycles are counted. */
    QEMUTimer *slot;
    int64_t last;
    /* The slots that it still runs although it posts nothing. */
    uint32_t slots_left;
    /* Its state, while it is saved or loaded. */
    uint8_t *bytes;
    uint32_t length;
};

/* ---- Memory ---- */

static uint8_t *homer_at(PnvNestPmu *nest, hwaddr offset)
{
    return (uint8_t *)memory_region_get_ram_ptr(&nest->homer->mem) + offset;
}

static uint64_t *cell(PnvNestPmu *nest, uint64_t address)
{
    hwaddr offset = address - nest->homer->base;

    if (offset % 8 || offset >= memory_region_size(&nest->homer->mem)) {
        return NULL;
    }
    return (uint64_t *)homer_at(nest, offset);
}

static void changed(PnvNestPmu *nest, uint64_t address)
{
    memory_region_set_dirty(&nest->homer->mem, address - nest->homer->base, 8);
}

static bool load(void *user, uint64_t address, uint64_t *value)
{
    uint64_t *there = cell(user, address);

    if (!there) {
        return false;
    }
    *value = ppc_pmu_cell_load(there);
    return true;
}

static bool store(void *user, uint64_t address, uint64_t value)
{
    uint64_t *there = cell(user, address);

    if (!there) {
        return false;
    }
    ppc_pmu_cell_store(there, value);
    changed(user, address);
    return true;
}

static bool add(void *user, uint64_t address, uint64_t amount)
{
    uint64_t *there = cell(user, address);

    if (!there) {
        return false;
    }
    ppc_pmu_cell_add(there, amount);
    changed(user, address);
    return true;
}

static VmPmuMemory memory_of(PnvNestPmu *nest)
{
    return (VmPmuMemory) { .size = sizeof(VmPmuMemory), .user = nest, .load = load, .store = store, .add = add };
}

/* ---- Time ---- */

static void pass(PnvNestPmu *nest)
{
    VmPmuMemory memory = memory_of(nest);
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    uint64_t cycles = MAX(now - nest->last, 0) * CYCLES_PER_NS;

    nest->last = now;
    for (int slots = 0; slots < SLOTS_TO_MAKE_UP && cycles > SLOTS_OF_A_CALL * SLOT_CYCLES; slots += SLOTS_OF_A_CALL) {
        vm_pmu_platform_advance(nest->platform, SLOTS_OF_A_CALL * SLOT_CYCLES, &memory, NULL);
        cycles -= SLOTS_OF_A_CALL * SLOT_CYCLES;
    }
    vm_pmu_platform_advance(nest->platform, cycles, &memory, NULL);
}

static void wait_for_slot(PnvNestPmu *nest)
{
    uint64_t cycles = 0;

    vm_pmu_chip_until_slot(nest->platform, nest->chip_id, &cycles);
    timer_mod(nest->slot, nest->last + DIV_ROUND_UP(cycles, CYCLES_PER_NS));
}

/* Whether the engine has reported that it waits for a command, and there is none. */
static bool waits(PnvNestPmu *nest)
{
    uint8_t *control = homer_at(nest, nest->region + CONTROL_BLOCK);

    return ldq_be_p(control + CONTROL_STATUS) == STATUS_PAUSED && ldq_be_p(control + CONTROL_COMMAND) == 0;
}

static void slot_is_due(void *opaque)
{
    PnvNestPmu *nest = opaque;
    bool running = false;

    pass(nest);
    if (nest->slots_left) {
        nest->slots_left--;
    }
    vm_pmu_chip_running(nest->platform, nest->chip_id, &running);
    if (running || (nest->slots_left && !waits(nest))) {
        wait_for_slot(nest);
    } else {
        nest->slots_left = 0;
    }
}

/* ---- The control block ---- */

static uint64_t control_read(void *opaque, hwaddr offset, unsigned size)
{
    PnvNestPmu *nest = opaque;

    return ldn_be_p(homer_at(nest, nest->region + CONTROL_BLOCK + offset), size);
}

/*
 * The engine reads this in every slot, but it runs slots only while it posts or while there may be something new. The time of a stopped
 * engine does not advance: a guest finds what was counted since it started the engine, and a millisecond or two from before it stopped it,
 * but not what a counter of 16 bits kept of an hour between.
 */
static void control_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    PnvNestPmu *nest = opaque;

    stn_be_p(homer_at(nest, nest->region + CONTROL_BLOCK + offset), size, value);
    memory_region_set_dirty(&nest->homer->mem, nest->region + CONTROL_BLOCK + offset, size);
    nest->slots_left = SLOTS_TO_OBEY;
    if (!timer_pending(nest->slot)) {
        nest->last = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        wait_for_slot(nest);
    }
}

static const MemoryRegionOps control_ops = {
    .read = control_read,
    .write = control_write,
    .endianness = DEVICE_BIG_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* ---- The device ---- */

/* The guest finds the engine paused, as host firmware leaves it. */
static void power_on(void *opaque)
{
    PnvNestPmu *nest = opaque;
    VmPmuMemory memory = memory_of(nest);

    timer_del(nest->slot);
    nest->slots_left = 0;
    memset(homer_at(nest, nest->region), 0, nest->region_size);
    memory_region_set_dirty(&nest->homer->mem, nest->region, nest->region_size);
    vm_pmu_chip_reset(nest->platform, nest->chip_id);
    vm_pmu_platform_boot(nest->platform, &memory, NULL);
}

static int pre_save(void *opaque)
{
    PnvNestPmu *nest = opaque;
    VmPmuSnapshot *snapshot = NULL;
    const uint8_t *bytes = NULL;
    size_t length = 0;

    if (vm_pmu_chip_save(nest->platform, nest->chip_id, &snapshot) != VM_PMU_STATUS_OK) {
        return -ENOMEM;
    }
    vm_pmu_snapshot_bytes(snapshot, &bytes, &length);
    g_free(nest->bytes);      /* from the last save */
    nest->bytes = g_memdup2(bytes, length);
    nest->length = length;
    vm_pmu_snapshot_destroy(snapshot);
    return 0;
}

static int pre_load(void *opaque)
{
    PnvNestPmu *nest = opaque;

    g_clear_pointer(&nest->bytes, g_free);
    return 0;
}

static int post_load(void *opaque, int version)
{
    PnvNestPmu *nest = opaque;
    bool fits = vm_pmu_chip_load(nest->platform, nest->chip_id, nest->bytes, nest->length) == VM_PMU_STATUS_OK;

    g_clear_pointer(&nest->bytes, g_free);
    if (!fits) {
        error_report("pmu: the saved state of the nest is of another machine or library: load it where it was saved");
    }
    return fits ? 0 : -EINVAL;
}

static const VMStateDescription vmstate_nest_pmu = {
    .name = "vm-pmu-nest",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = pre_save,
    .pre_load = pre_load,
    .post_load = post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(last, PnvNestPmu),
        VMSTATE_UINT32(slots_left, PnvNestPmu),
        VMSTATE_TIMER_PTR(slot, PnvNestPmu),
        VMSTATE_UINT32(length, PnvNestPmu),
        VMSTATE_VBUFFER_ALLOC_UINT32(bytes, PnvNestPmu, 1, NULL, length),
        VMSTATE_END_OF_LIST()
    },
};

static void pnv_nest_pmu_realize(DeviceState *device, Error **errp)
{
    PnvNestPmu *nest = PNV_NEST_PMU(device);
    VmPmuChip chip = {
        .size = sizeof(chip),
        .home = nest->homer->base,
        .slot_cycles = SLOT_CYCLES,
        .units = UNITS,
        .nest_hertz = NEST_HERTZ,
        .id = nest->chip_id,
    };
    const VmPmuChip *chips[] = { &chip };
    VmPmuPlatformOptions options = { .size = sizeof(options), .chips = chips, .chip_count = ARRAY_SIZE(chips) };
    uint64_t begins, bytes;
    char why[200];

    if (vm_pmu_platform_create(&options, &nest->platform) != VM_PMU_STATUS_OK) {
        vm_pmu_last_error(why, sizeof(why));
        error_setg(errp, "pmu: %s", why);
        return;
    }
    vm_pmu_chip_region(nest->platform, nest->chip_id, &begins, &bytes);
    nest->region = begins - nest->homer->base;
    nest->region_size = bytes;
    nest->slot = timer_new_ns(QEMU_CLOCK_VIRTUAL, slot_is_due, nest);
    memory_region_init_io(&nest->control, OBJECT(nest), &control_ops, nest, "nest-pmu-control", CONTROL_BLOCK_SIZE);
    memory_region_add_subregion_overlap(get_system_memory(), begins + CONTROL_BLOCK, &nest->control, 2);
    qemu_register_reset(power_on, nest);
}

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1
static void pnv_nest_pmu_class_init(ObjectClass *oc, const void *data)
#else
static void pnv_nest_pmu_class_init(ObjectClass *oc, void *data)
#endif
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "POWER9 nest performance monitoring unit";
    dc->realize = pnv_nest_pmu_realize;
    dc->vmsd = &vmstate_nest_pmu;
    /* A chip gets it by pmu=on of its CPUs. */
    dc->user_creatable = false;
    dc->hotpluggable = false;
}

static const TypeInfo pnv_nest_pmu_types[] = {
    {
        .name = TYPE_PNV_NEST_PMU,
        .parent = TYPE_DEVICE,
        .instance_size = sizeof(PnvNestPmu),
        .class_init = pnv_nest_pmu_class_init,
    },
};

DEFINE_TYPES(pnv_nest_pmu_types)

bool pnv_nest_pmu_create(PnvChip *chip, PnvHomer *homer, Error **errp)
{
    uint64_t size = memory_region_size(&homer->mem);
    PnvNestPmu *nest;
    bool realized;

    if (!chip->nr_cores || !chip->cores[0]->threads[0]->pmu) {
        return true;
    }
    if (chip->ram_size < 2 * size) {
        warn_report("pmu: chip %u has no memory to post the counters of its nest to: no chip's can be used", chip->chip_id);
        return true;
    }
    memory_region_del_subregion(get_system_memory(), &homer->mem);
    homer->base = QEMU_ALIGN_DOWN(chip->ram_start + chip->ram_size - size, size);
    memory_region_add_subregion_overlap(get_system_memory(), homer->base, &homer->mem, 1);

    nest = PNV_NEST_PMU(object_new(TYPE_PNV_NEST_PMU));
    nest->homer = homer;
    nest->chip_id = chip->chip_id;
    object_property_add_child(OBJECT(chip), "nest-pmu", OBJECT(nest));
    realized = qdev_realize(DEVICE(nest), NULL, errp);
    object_unref(OBJECT(nest));
    return realized;
}
