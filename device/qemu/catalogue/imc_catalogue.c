/*
 * Writes the catalogue of the nest's events for skiboot, a flattened device tree, to standard output. It has the events that are
 * reported to the nests in QEMU: not those that no part of this project reports.
 *
 * Licensed under either of Apache-2.0 or BSD-3-Clause, at your choice.
 */
#include <libfdt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <vm_pmu_posting.h>

/* The size of skiboot's memory for it. */
#define LARGEST 0x40000

static bool begin_node(void *tree, const char *name) { return fdt_begin_node(tree, name) == 0; }
static bool end_node(void *tree) { return fdt_end_node(tree) == 0; }

static bool property(void *tree, const char *name, const uint8_t *value, size_t length)
{
    return fdt_property(tree, name, value, (int)length) == 0;
}

int main(void)
{
    static uint8_t tree[LARGEST];
    VmPmuTreeWriter writer = { sizeof(writer), tree, begin_node, property, end_node };
    VmPmuCounterNodes nodes = {
        .size = sizeof(nodes),
        .flags = VM_PMU_COUNTER_NODES_TOLD_BY_HOST_BRIDGES | VM_PMU_COUNTER_NODES_CORE | VM_PMU_COUNTER_NODES_THREAD,
    };
    bool written = fdt_create(tree, sizeof(tree)) == 0 && fdt_finish_reservemap(tree) == 0 && begin_node(tree, "") &&
                   vm_pmu_tree_catalogue(&nodes, &writer) == VM_PMU_STATUS_OK && end_node(tree) && fdt_finish(tree) == 0;

    if (!written || fwrite(tree, fdt_totalsize(tree), 1, stdout) != 1 || fflush(stdout) != 0) {
        char why[200] = "";

        vm_pmu_last_error(why, sizeof(why));
        fprintf(stderr, "imc_catalogue: the catalogue cannot be written: %s\n", why);
        return 1;
    }
    return 0;
}
