/*
 * Knights Landing's untile: the boxes of its PMU that are in PCI configuration space.
 *
 * Each function has QEMU's header, followed by the registers that libvm_pmu keeps. The library also determines which functions there are,
 * and their IDs. One of the boxes is on bus 0; all others are on a separate bus without a bridge to it, as on the processor.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/i386/knl-untile.h"
#include "hw/pci/pci_device.h"
#include "hw/pci/pci_host.h"
#include "migration/vmstate.h"
#include "target/i386/cpu.h"
#include "target/i386/tcg/pmu.h"
#include <vm_pmu_boxes.h>

/* The number of the bus with all boxes except the IRP. */
#define BUS_NUMBER 0xFF

/* What a bus returns where no function is. */
#define NOTHING UINT32_MAX

/* ---- A function ---- */

#define TYPE_KNL_UNTILE_FUNCTION "knl-untile-function"
OBJECT_DECLARE_SIMPLE_TYPE(KnlUntileFunction, KNL_UNTILE_FUNCTION)

struct KnlUntileFunction {
    PCIDevice parent_obj;
};

/* The library's number for a place in configuration space. */
static uint32_t place(int bus, uint8_t devfn, uint32_t offset)
{
    return bus << 20 | devfn << 12 | offset;
}

static uint32_t read_config(int bus, uint8_t devfn, uint32_t offset, int bytes)
{
    VmPmuMachine *boxes = x86_pmu_boxes(first_cpu);
    uint32_t value = NOTHING;

    if (boxes) {
        vm_pmu_pci_read(boxes, place(bus, devfn, offset), bytes, &value);
    }
    return value;
}

static uint32_t function_read(PCIDevice *dev, uint32_t offset, int bytes)
{
    if (offset < PCI_CONFIG_HEADER_SIZE) {
        return pci_default_read_config(dev, offset, bytes);
    }
    return read_config(pci_dev_bus_num(dev), dev->devfn, offset, bytes);
}

static void function_write(PCIDevice *dev, uint32_t offset, uint32_t value, int bytes)
{
    VmPmuMachine *boxes;

    if (offset < PCI_CONFIG_HEADER_SIZE) {
        pci_default_write_config(dev, offset, value, bytes);
    } else if ((boxes = x86_pmu_boxes(first_cpu))) {
        vm_pmu_pci_write(boxes, place(pci_dev_bus_num(dev), dev->devfn, offset), bytes, value);
        x86_pmu_boxes_written(first_cpu);
    }
}

static void function_realize(PCIDevice *dev, Error **errp)
{
    static const uint8_t identity[] = { PCI_VENDOR_ID, PCI_DEVICE_ID, PCI_CLASS_DEVICE, PCI_SUBSYSTEM_VENDOR_ID, PCI_SUBSYSTEM_ID };

    for (int i = 0; i < ARRAY_SIZE(identity); i++) {
        pci_set_word(dev->config + identity[i], read_config(pci_dev_bus_num(dev), dev->devfn, identity[i], 2));
    }
    /* Only three bits of the header can be written. As on the processor, there is no interrupt to disable, and no capability. */
    memset(dev->wmask, 0, PCI_CONFIG_HEADER_SIZE);
    pci_set_word(dev->wmask + PCI_COMMAND, PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

/* Its registers are saved with the PMU. */
static const VMStateDescription vmstate_function = {
    .name = TYPE_KNL_UNTILE_FUNCTION,
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, KnlUntileFunction),
        VMSTATE_END_OF_LIST()
    },
};

#if QEMU_VERSION_MAJOR > 10 || QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1
typedef const void *ClassData;
#else
typedef void *ClassData;
#endif

static void function_class_init(ObjectClass *klass, ClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    dc->desc = "function of Knights Landing's untile";
    dc->vmsd = &vmstate_function;
    /* A machine gets them all by pmu=on of its CPUs. */
    dc->user_creatable = false;
    dc->hotpluggable = false;
    pc->realize = function_realize;
    pc->config_read = function_read;
    pc->config_write = function_write;
}

/* ---- The bus ---- */

#define TYPE_KNL_UNTILE_BUS "knl-untile-bus"

static int bus_number(PCIBus *bus)
{
    return BUS_NUMBER;
}

/* The machine's ACPI tables read it from a root bus. */
static void acpi_uid(Object *bus, Visitor *visitor, const char *name, void *opaque, Error **errp)
{
    uint32_t uid = BUS_NUMBER;

    visit_type_uint32(visitor, name, &uid, errp);
}

static void bus_class_init(ObjectClass *klass, ClassData data)
{
    PCI_BUS_CLASS(klass)->bus_num = bus_number;
    /* With its own functions it is full: other devices do not come here. */
    BUS_CLASS(klass)->max_dev = 1;
    object_class_property_add(klass, "acpi_uid", "uint32", acpi_uid, NULL, NULL, NULL);
}

#define TYPE_KNL_UNTILE "knl-untile"

static const char *bus_path(PCIHostState *host, PCIBus *bus)
{
    return "0000:ff";
}

static void untile_class_init(ObjectClass *klass, ClassData data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->desc = "Knights Landing's untile";
    dc->fw_name = "pci";
    dc->user_creatable = false;
    PCI_HOST_BRIDGE_CLASS(klass)->root_bus_path = bus_path;
}

/* ---- The machine's ---- */

/* Creates the functions that the library has on a bus. */
static void populate(PCIBus *bus)
{
    for (int devfn = 0; devfn < PCI_DEVFN_MAX; devfn++) {
        if (read_config(pci_bus_num(bus), devfn, PCI_VENDOR_ID, 4) != NOTHING) {
            pci_realize_and_unref(pci_new_multifunction(devfn, TYPE_KNL_UNTILE_FUNCTION), bus, &error_fatal);
        }
    }
}

void knl_untile_create(PCIBus *root)
{
    DeviceState *untile;
    PCIBus *bus;

    if (!x86_pmu_boxes(first_cpu)) {
        return;
    }
    untile = qdev_new(TYPE_KNL_UNTILE);
    object_property_add_child(qdev_get_machine(), "untile", OBJECT(untile));
    bus = pci_root_bus_new(untile, "untile", root->address_space_mem, root->address_space_io, 0, TYPE_KNL_UNTILE_BUS);
    PCI_HOST_BRIDGE(untile)->bus = bus;
    QLIST_INSERT_HEAD(&root->child, bus, sibling);
    sysbus_realize_and_unref(SYS_BUS_DEVICE(untile), &error_fatal);
    populate(root);
    populate(bus);
}

static const TypeInfo knl_untile_types[] = {
    {
        .name = TYPE_KNL_UNTILE_FUNCTION,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(KnlUntileFunction),
        .class_init = function_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_PCIE_DEVICE },
            { },
        },
    },
    {
        .name = TYPE_KNL_UNTILE_BUS,
        .parent = TYPE_PCIE_BUS,
        .class_init = bus_class_init,
    },
    {
        .name = TYPE_KNL_UNTILE,
        .parent = TYPE_PCI_HOST_BRIDGE,
        .instance_size = sizeof(PCIHostState),
        .class_init = untile_class_init,
    },
};

DEFINE_TYPES(knl_untile_types)
