/*
 * The performance monitoring units of the nests of POWER9's chips, by libvm_pmu: in-memory collection.
 *
 * An engine on each chip, which is part of the OCC's microcode on the processor, adds up the nest's counters in the chip's HOMER. skiboot
 * and Linux communicate with it through a control block there. A catalogue that skiboot takes from the PNOR describes its events to Linux.
 *
 * While an engine posts, the companion follows all CPUs, and reports what moves between caches, memory and chips. Transfers of devices are
 * reported to the host bridge that they pass.
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
#include "accel/tcg/pmu-target.h"
#include "accel/tcg/tcg_bridge_nest.h"
#include "hw/pci-host/pnv_phb.h"
#include "hw/pci/pci.h"
#include "hw/pci/pci_bus.h"
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
#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
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
 * The units that QEMU's chip has, the most significant bit first: the interconnect, eight memory controllers and DIMM interfaces, three X links if
 * there are other chips, six PCIe host bridges. It has no NVLinks and no accelerators.
 */
#define UNITS (PPC_BITMASK(0, 16) | PPC_BITMASK(30, 35))
#define UNITS_BETWEEN_CHIPS PPC_BITMASK(25, 27)

/* What precedes the saved state of a chip: the bytes that it has moved within it and beyond it, and the length of the state. */
#define HEAD_BYTES 24

/* No chip has more host bridges. */
#define MOST_HOST_BRIDGES 6

#define TYPE_PNV_NEST_PMU "pnv-nest-pmu"
OBJECT_DECLARE_SIMPLE_TYPE(PnvNestPmu, PNV_NEST_PMU)

/* The part of a chip. */
typedef struct Nest {
    PnvNestPmu *pmu;
    PnvHomer *homer;
    MemoryRegion control;
    uint32_t chip_id;
    /* The offset of the engine's region in the HOMER. */
    hwaddr region;
    hwaddr region_size;
} Nest;

struct PnvNestPmu {
    DeviceState parent_obj;
    Nest nests[VM_PMU_MOST_CHIPS];
    uint32_t count;
    /* A chip has no memory to post to, so that no chip's nest can be used. */
    bool is_refused;
    VmPmuPlatform *platform;
    /* A CPU of the machine, and the bridge of all of them. */
    CPUState *cpu;
    TcgBridge *bridge;
    /* What connects the companion to the chips; null without the property `traffic`. */
    VmPmuTraffic *traffic;
    bool has_traffic;
    /* The timer of the engines' next slot, which is the same, and the time up to which their cycles are counted. */
    QEMUTimer *slot;
    int64_t last;
    /* The slots that they still run although they post nothing. */
    uint32_t slots_left;
    /* Their state, while it is saved or loaded: of each chip what has moved, the length of its state, and this. */
    uint8_t *bytes;
    uint32_t length;
};

/* ---- Memory ---- */

static uint8_t *homer_at(Nest *nest, hwaddr offset)
{
    return (uint8_t *)memory_region_get_ram_ptr(&nest->homer->mem) + offset;
}

static Nest *nest_with(PnvNestPmu *pmu, uint64_t address)
{
    for (uint32_t number = 0; number < pmu->count; number++) {
        Nest *nest = &pmu->nests[number];

        if (address - nest->homer->base < memory_region_size(&nest->homer->mem)) {
            return nest;
        }
    }
    return NULL;
}

static uint64_t *cell(PnvNestPmu *pmu, uint64_t address)
{
    Nest *nest = address % 8 ? NULL : nest_with(pmu, address);

    return nest ? (uint64_t *)homer_at(nest, address - nest->homer->base) : NULL;
}

static void changed(PnvNestPmu *pmu, uint64_t address)
{
    Nest *nest = nest_with(pmu, address);

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

static VmPmuMemory memory_of(PnvNestPmu *pmu)
{
    return (VmPmuMemory) { .size = sizeof(VmPmuMemory), .user = pmu, .load = load, .store = store, .add = add };
}

/* ---- Time ---- */

static void pass(PnvNestPmu *pmu)
{
    VmPmuMemory memory = memory_of(pmu);
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    uint64_t cycles = MAX(now - pmu->last, 0) * CYCLES_PER_NS;

    pmu->last = now;
    tcg_bridge_nest_flush(pmu->bridge);
    for (int slots = 0; slots < SLOTS_TO_MAKE_UP && cycles > SLOTS_OF_A_CALL * SLOT_CYCLES; slots += SLOTS_OF_A_CALL) {
        vm_pmu_platform_advance(pmu->platform, SLOTS_OF_A_CALL * SLOT_CYCLES, &memory, NULL);
        cycles -= SLOTS_OF_A_CALL * SLOT_CYCLES;
    }
    vm_pmu_platform_advance(pmu->platform, cycles, &memory, NULL);
    tcg_bridge_nest_sync(pmu->bridge);
}

static void wait_for_slot(PnvNestPmu *pmu)
{
    uint64_t cycles = 0;

    vm_pmu_chip_until_slot(pmu->platform, pmu->nests[0].chip_id, &cycles);
    timer_mod(pmu->slot, pmu->last + DIV_ROUND_UP(cycles, CYCLES_PER_NS));
}

/* Whether an engine posts, or has not reported yet that it waits for a command. */
static bool works(Nest *nest)
{
    uint8_t *control = homer_at(nest, nest->region + CONTROL_BLOCK);
    bool waits = ldq_be_p(control + CONTROL_STATUS) == STATUS_PAUSED && ldq_be_p(control + CONTROL_COMMAND) == 0;
    bool running = false;

    vm_pmu_chip_running(nest->pmu->platform, nest->chip_id, &running);
    return running || (nest->pmu->slots_left && !waits);
}

static void slot_is_due(void *opaque)
{
    PnvNestPmu *pmu = opaque;
    bool goes_on = false;

    pass(pmu);
    if (pmu->slots_left) {
        pmu->slots_left--;
    }
    for (uint32_t number = 0; number < pmu->count; number++) {
        goes_on |= works(&pmu->nests[number]);
    }
    if (goes_on) {
        wait_for_slot(pmu);
    } else {
        pmu->slots_left = 0;
    }
}

/* ---- The control block ---- */

static uint64_t control_read(void *opaque, hwaddr offset, unsigned size)
{
    Nest *nest = opaque;

    return ldn_be_p(homer_at(nest, nest->region + CONTROL_BLOCK + offset), size);
}

/*
 * The engine reads this in every slot, but it runs slots only while it posts or while there may be something new. The time of a stopped
 * engine does not advance: a guest finds what was counted since it started the engine, and a millisecond or two from before it stopped it,
 * but not what a counter of 16 bits kept of an hour between.
 */
static void control_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    Nest *nest = opaque;
    PnvNestPmu *pmu = nest->pmu;

    stn_be_p(homer_at(nest, nest->region + CONTROL_BLOCK + offset), size, value);
    memory_region_set_dirty(&nest->homer->mem, nest->region + CONTROL_BLOCK + offset, size);
    pmu->slots_left = SLOTS_TO_OBEY;
    if (!timer_pending(pmu->slot)) {
        pmu->last = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        wait_for_slot(pmu);
    }
}

static const MemoryRegionOps control_ops = {
    .read = control_read,
    .write = control_write,
    .endianness = DEVICE_BIG_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* ---- PCI ---- */

static PnvPHB *host_bridge_of(Object *owner)
{
    PCIDevice *device = (PCIDevice *)object_dynamic_cast(owner, TYPE_PCI_DEVICE);
    PnvPHB *bridge = device ? (PnvPHB *)object_dynamic_cast(OBJECT(BUS(pci_device_root_bus(device))->parent), TYPE_PNV_PHB) : NULL;

    return bridge && bridge->phb_id < MOST_HOST_BRIDGES ? bridge : NULL;
}

static void transferred(void *opaque, Object *owner, uint64_t address, uint64_t bytes, bool writes)
{
    PnvNestPmu *pmu = opaque;
    PnvPHB *bridge = host_bridge_of(owner);

    if (bridge) {
        vm_pmu_chip_dma(pmu->platform, bridge->chip_id, bridge->phb_id, writes ? VM_PMU_DMA_WRITE : VM_PMU_DMA_READ, address, bytes, 0, NULL);
    }
}

static void loaded_from(void *opaque, Object *owner)
{
    PnvNestPmu *pmu = opaque;
    PnvPHB *bridge = host_bridge_of(owner);

    if (bridge) {
        vm_pmu_chip_loads_answered(pmu->platform, bridge->chip_id, bridge->phb_id, 1);
    }
}

/* ---- The device ---- */

/* The guest finds the engines paused, as host firmware leaves them. */
static void power_on(void *opaque)
{
    PnvNestPmu *pmu = opaque;
    VmPmuMemory memory = memory_of(pmu);

    timer_del(pmu->slot);
    pmu->slots_left = 0;
    for (uint32_t number = 0; number < pmu->count; number++) {
        Nest *nest = &pmu->nests[number];

        memset(homer_at(nest, nest->region), 0, nest->region_size);
        memory_region_set_dirty(&nest->homer->mem, nest->region, nest->region_size);
        vm_pmu_chip_reset(pmu->platform, nest->chip_id);
    }
    vm_pmu_platform_boot(pmu->platform, &memory, NULL);
    tcg_bridge_nest_sync(pmu->bridge);
}

static int pre_save(void *opaque)
{
    PnvNestPmu *pmu = opaque;
    g_autoptr(GByteArray) saved = g_byte_array_new();
    g_autofree VmPmuMoved *moved = g_new0(VmPmuMoved, pmu->count);

    tcg_bridge_nest_flush(pmu->bridge);
    if (pmu->traffic) {
        vm_pmu_traffic_moved(pmu->traffic, moved, pmu->count);
    }
    for (uint32_t number = 0; number < pmu->count; number++) {
        VmPmuSnapshot *snapshot = NULL;
        const uint8_t *bytes = NULL;
        size_t length = 0;
        uint8_t head[HEAD_BYTES];

        if (vm_pmu_chip_save(pmu->platform, pmu->nests[number].chip_id, &snapshot) != VM_PMU_STATUS_OK) {
            return -ENOMEM;
        }
        vm_pmu_snapshot_bytes(snapshot, &bytes, &length);
        stq_le_p(head, moved[number].within);
        stq_le_p(head + 8, moved[number].beyond);
        stq_le_p(head + 16, length);
        g_byte_array_append(saved, head, sizeof(head));
        g_byte_array_append(saved, bytes, length);
        vm_pmu_snapshot_destroy(snapshot);
    }
    g_free(pmu->bytes);      /* from the last save */
    pmu->length = saved->len;
    pmu->bytes = g_byte_array_free(g_steal_pointer(&saved), false);
    return 0;
}

static int pre_load(void *opaque)
{
    PnvNestPmu *pmu = opaque;

    g_clear_pointer(&pmu->bytes, g_free);
    return 0;
}

static bool load_chips(PnvNestPmu *pmu)
{
    g_autofree VmPmuMoved *moved = g_new0(VmPmuMoved, pmu->count);
    const uint8_t *from = pmu->bytes;
    uint64_t left = pmu->length;

    for (uint32_t number = 0; number < pmu->count; number++) {
        uint64_t length;

        if (left < HEAD_BYTES) {
            return false;
        }
        moved[number] = (VmPmuMoved) { ldq_le_p(from), ldq_le_p(from + 8) };
        length = ldq_le_p(from + 16);
        from += HEAD_BYTES;
        left -= HEAD_BYTES;
        if (left < length || vm_pmu_chip_load(pmu->platform, pmu->nests[number].chip_id, from, length) != VM_PMU_STATUS_OK) {
            return false;
        }
        from += length;
        left -= length;
    }
    if (pmu->traffic) {
        vm_pmu_traffic_restore(pmu->traffic, moved, pmu->count);
    }
    return left == 0;
}

static int post_load(void *opaque, int version)
{
    PnvNestPmu *pmu = opaque;
    bool fits = load_chips(pmu);

    g_clear_pointer(&pmu->bytes, g_free);
    if (!fits) {
        error_report("pmu: the saved state of the nests is of another machine or library: load it where it was saved");
        return -EINVAL;
    }
    tcg_bridge_nest_sync(pmu->bridge);
    return 0;
}

static const VMStateDescription vmstate_nest_pmu = {
    .name = "vm-pmu-nest",
    .version_id = 2,
    .minimum_version_id = 2,
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
    PnvNestPmu *pmu = PNV_NEST_PMU(device);
    VmPmuPlatformOptions options = { .size = sizeof(options), .chip_count = pmu->count };
    g_autofree VmPmuChip *chips = g_new0(VmPmuChip, pmu->count);
    g_autofree const VmPmuChip **pointers = g_new0(const VmPmuChip *, pmu->count);
    char why[200];

    for (uint32_t number = 0; number < pmu->count; number++) {
        chips[number] = (VmPmuChip) {
            .size = sizeof(VmPmuChip),
            .home = pmu->nests[number].homer->base,
            .slot_cycles = SLOT_CYCLES,
            .units = UNITS | (pmu->count > 1 ? UNITS_BETWEEN_CHIPS : 0),
            .nest_hertz = NEST_HERTZ,
            .id = pmu->nests[number].chip_id,
        };
        pointers[number] = &chips[number];
    }
    options.chips = pointers;
    if (vm_pmu_platform_create(&options, &pmu->platform) != VM_PMU_STATUS_OK ||
        (pmu->has_traffic && !(pmu->traffic = tcg_bridge_nest_begin(pmu->bridge, pmu->platform)))) {
        vm_pmu_last_error(why, sizeof(why));
        error_setg(errp, "pmu: %s", why);
        return;
    }
    for (uint32_t number = 0; number < pmu->count; number++) {
        Nest *nest = &pmu->nests[number];
        uint64_t begins, bytes;

        vm_pmu_chip_region(pmu->platform, nest->chip_id, &begins, &bytes);
        nest->region = begins - nest->homer->base;
        nest->region_size = bytes;
        memory_region_init_io(&nest->control, OBJECT(pmu), &control_ops, nest, "nest-pmu-control", CONTROL_BLOCK_SIZE);
        memory_region_add_subregion_overlap(get_system_memory(), begins + CONTROL_BLOCK, &nest->control, 2);
    }
    pmu->slot = timer_new_ns(QEMU_CLOCK_VIRTUAL, slot_is_due, pmu);
    tcg_pmu_observe_devices(pmu->cpu, transferred, loaded_from, pmu);
    qemu_register_reset(power_on, pmu);
}

static const Property pnv_nest_pmu_properties[] = {
    DEFINE_PROP_BOOL("traffic", PnvNestPmu, has_traffic, true),
};

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1
static void pnv_nest_pmu_class_init(ObjectClass *oc, const void *data)
#else
static void pnv_nest_pmu_class_init(ObjectClass *oc, void *data)
#endif
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    device_class_set_props(dc, pnv_nest_pmu_properties);
    dc->desc = "performance monitoring units of the nests of POWER9's chips";
    dc->realize = pnv_nest_pmu_realize;
    dc->vmsd = &vmstate_nest_pmu;
    /* A machine gets it by pmu=on of its CPUs. */
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

/* The child "nest-pmu" of the machine, which is made for its first chip. */
static PnvNestPmu *of_machine(void)
{
    Object *machine = qdev_get_machine(), *found = object_resolve_path_component(machine, "nest-pmu");

    if (!found) {
        found = object_new(TYPE_PNV_NEST_PMU);
        object_property_add_child(machine, "nest-pmu", found);
        object_unref(found);
    }
    return PNV_NEST_PMU(found);
}

bool pnv_nest_pmu_create(PnvChip *chip, PnvHomer *homer, Error **errp)
{
    uint64_t size = memory_region_size(&homer->mem);
    PnvNestPmu *pmu;
    Nest *nest;

    if (!chip->nr_cores || !chip->cores[0]->threads[0]->pmu) {
        return true;
    }
    pmu = of_machine();
    pmu->cpu = CPU(chip->cores[0]->threads[0]);
    pmu->bridge = pmu->cpu->pmu->bridge;
    if (pmu->count == VM_PMU_MOST_CHIPS) {
        return true;
    }
    nest = &pmu->nests[pmu->count++];
    nest->pmu = pmu;
    nest->homer = homer;
    nest->chip_id = chip->chip_id;
    if (chip->ram_size < 2 * size) {
        warn_report("pmu: chip %u has no memory to post the counters of its nest to: no chip's can be used", chip->chip_id);
        pmu->is_refused = true;
    } else {
        memory_region_del_subregion(get_system_memory(), &homer->mem);
        homer->base = QEMU_ALIGN_DOWN(chip->ram_start + chip->ram_size - size, size);
        memory_region_add_subregion_overlap(get_system_memory(), homer->base, &homer->mem, 1);
    }
    /* The companion's packages are all chips. */
    return pmu->count < current_machine->smp.sockets || pmu->is_refused || qdev_realize(DEVICE(pmu), NULL, errp);
}
