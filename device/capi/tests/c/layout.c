/* The binary interface that compiled programs rely on. If one of these checks fails, either VM_PMU_ABI needs a new number, or the change
 * must be undone: only fields after the last one named here may be added. For hosts with 64-bit pointers. */
#include "expect.h"

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)

AT(VmPmuOptions, size, 0);
AT(VmPmuOptions, revision, 8);
AT(VmPmuOptions, packages, 16);
AT(VmPmuOptions, threads, 20);
AT(VmPmuOptions, flags, 24);
AT(VmPmuOptions, pace_signal, 28);
AT(VmPmuOptions, pace_most, 32);
AT(VmPmuOptions, irp_bus, 36);
AT(VmPmuOptions, memory_bus, 37);
AT(VmPmuOptions, reserved, 38);
AT(VmPmuOptions, user, 40);
AT(VmPmuOptions, raise, 48);
AT(VmPmuOptions, lines, 56);
AT(VmPmuOptions, pins, 64);
AT(VmPmuOptions, late, 72);
AT(VmPmuOptions, cpu_frequency, 80);
AT(VmPmuOptions, dclk_frequency, 92);
AT(VmPmuOptions, supplied, 96);
AT(VmPmuOptions, pace_single, 104);
AT(VmPmuOptions, supplied_count, 112);
AT(VmPmuOptions, pace_single_count, 116);
AT(VmPmuOptions, records, 120);
AT(VmPmuOptions, pace_between_blocks_count, 124);
AT(VmPmuOptions, pace_between_blocks, 128);
AT(VmPmuOptions, tiles, 136);
AT(VmPmuOptions, memory, 144);
AT(VmPmuOptions, cluster_mode, 152);
AT(VmPmuOptions, memory_mode, 156);
AT(VmPmuOptions, mcdram, 160);

AT(VmPmuCells, total_cells, 8);
AT(VmPmuCells, deadline_cells, 16);
AT(VmPmuCells, horizon, 24);
AT(VmPmuCells, signals, 32);
AT(VmPmuCells, pace, 36);
AT(VmPmuCells, cell_of_signal, 40);
AT(VmPmuCells, pace_total, 48);

AT(VmPmuContext, privilege, 8);
AT(VmPmuContext, flags, 12);
AT(VmPmuContext, machine_state, 16);
AT(VmPmuContext, control, 24);
AT(VmPmuContext, time_base, 32);

AT(VmPmuDemand, epoch, 8);
AT(VmPmuDemand, records, 12);
AT(VmPmuDemand, per_cycle, 16);
AT(VmPmuDemand, idle, 20);
AT(VmPmuDemand, signals, 24);
AT(VmPmuDemand, levels, 24 + 8 * VM_PMU_SIGNAL_WORDS);
_Static_assert(VM_PMU_SIGNAL_WORDS == 32, "the set of signals");

AT(VmPmuRecord, address, 8);
AT(VmPmuRecord, encoding, 16);
AT(VmPmuRecord, branch_target, 24);
AT(VmPmuRecord, memory_address, 32);
AT(VmPmuRecord, fetch_address, 40);
AT(VmPmuRecord, real_address, 48);
AT(VmPmuRecord, flags, 56);
AT(VmPmuRecord, traits, 60);
AT(VmPmuRecord, cycles, 64);
AT(VmPmuRecord, memory_latency, 68);
AT(VmPmuRecord, fetch_latency, 72);
AT(VmPmuRecord, stall, 76);
AT(VmPmuRecord, stage_cycles, 80);
AT(VmPmuRecord, stages, 128);
AT(VmPmuRecord, slot, 130);
AT(VmPmuRecord, branch, 131);
AT(VmPmuRecord, prediction, 132);
AT(VmPmuRecord, memory_size, 133);
AT(VmPmuRecord, data, 134);
AT(VmPmuRecord, data_level, 135);
AT(VmPmuRecord, memory_translation, 136);
AT(VmPmuRecord, fetch_translation, 137);
AT(VmPmuRecord, unit, 138);
AT(VmPmuRecord, fetch_source, 139);
AT(VmPmuRecord, reload_source, 140);
AT(VmPmuRecord, walk_source, 141);
AT(VmPmuRecord, store_outcome, 142);
AT(VmPmuRecord, page_bits, 143);
AT(VmPmuRecord, stall_reason, 144);
AT(VmPmuRecord, line_states, 145);
AT(VmPmuRecord, fabric_command, 146);
AT(VmPmuRecord, fabric_memory_busy, 151);

AT(VmPmuRequest, physical, 8);
AT(VmPmuRequest, latency, 16);
AT(VmPmuRequest, kind, 20);
AT(VmPmuRequest, supplier, 21);
AT(VmPmuRequest, snoop, 22);
AT(VmPmuRequest, holder, 24);
AT(VmPmuRequest, displaced, 32);

AT(VmPmuTransaction, clocks, 8);
AT(VmPmuTransaction, flags, 16);
AT(VmPmuTransaction, opcode, 20);
AT(VmPmuTransaction, source, 22);
AT(VmPmuTransaction, stage, 27);

AT(VmPmuText, bytes, 0);
AT(VmPmuText, length, 8);
_Static_assert(sizeof(VmPmuText) == 16, "VmPmuText");

AT(VmPmuEvent, name, 8);
AT(VmPmuEvent, section, 72);
AT(VmPmuEvent, signals, 88);
AT(VmPmuEvent, signal_count, 96);
AT(VmPmuEvent, flags, 100);
AT(VmPmuEvent, select, 104);
AT(VmPmuEvent, fidelity, 124);

AT(VmPmuMemory, user, 8);
AT(VmPmuMemory, load, 16);
AT(VmPmuMemory, store, 24);
AT(VmPmuMemory, add, 32);

AT(VmPmuPassed, refused_address, 8);
AT(VmPmuPassed, late, 16);
AT(VmPmuPassed, slots, 24);
AT(VmPmuPassed, refused, 28);

AT(VmPmuChip, home, 8);
AT(VmPmuChip, slot_cycles, 16);
AT(VmPmuChip, units, 24);
AT(VmPmuChip, nest_hertz, 32);
AT(VmPmuChip, host_bridge_hertz, 40);
AT(VmPmuChip, memory_hertz, 48);
AT(VmPmuChip, id, 56);

AT(VmPmuPlatformOptions, chips, 8);
AT(VmPmuPlatformOptions, chip_count, 16);
AT(VmPmuPlatformOptions, pirs, 24);
AT(VmPmuPlatformOptions, pir_count, 32);

AT(VmPmuCompanionOptions, packages, 8);
AT(VmPmuCompanionOptions, threads, 12);
AT(VmPmuCompanionOptions, clock, 16);
AT(VmPmuCompanionOptions, flags, 20);
AT(VmPmuCompanionOptions, seed, 24);
AT(VmPmuCompanionOptions, memory_per_package, 32);
AT(VmPmuCompanionOptions, user, 40);
AT(VmPmuCompanionOptions, walk, 48);
AT(VmPmuCompanionOptions, page_bits, 56);
AT(VmPmuCompanionOptions, nested, 64);
AT(VmPmuCompanionOptions, host, 72);
AT(VmPmuCompanionOptions, packages_per_group, 80);
AT(VmPmuCompanionOptions, lent_clusters, 84);
AT(VmPmuCompanionOptions, core_threads, 88);
AT(VmPmuCompanionOptions, tiles, 96);
AT(VmPmuCompanionOptions, io_ranges, 104);
AT(VmPmuCompanionOptions, links, 112);
AT(VmPmuCompanionOptions, routes, 120);
AT(VmPmuCompanionOptions, io_range_count, 128);
AT(VmPmuCompanionOptions, link_count, 132);
AT(VmPmuCompanionOptions, route_count, 136);
AT(VmPmuCompanionOptions, cluster_mode, 140);
AT(VmPmuCompanionOptions, memory_mode, 144);
AT(VmPmuCompanionOptions, mcdram, 152);
AT(VmPmuCompanionOptions, aperture, 160);
AT(VmPmuCompanionOptions, aperture_bytes, 168);

AT(VmPmuIoRange, first, 0);
AT(VmPmuIoRange, bytes, 8);
AT(VmPmuIoRange, package, 16);
_Static_assert(sizeof(VmPmuIoRange) == 24, "VmPmuIoRange");

AT(VmPmuNodeLink, link, 1);
AT(VmPmuNodeLink, other_package, 2);
AT(VmPmuNodeLink, other_link, 3);
_Static_assert(sizeof(VmPmuNodeLink) == 4, "VmPmuNodeLink");

AT(VmPmuNodeRoute, to, 1);
AT(VmPmuNodeRoute, link, 2);
_Static_assert(sizeof(VmPmuNodeRoute) == 4, "VmPmuNodeRoute");

AT(VmPmuDeviceRequest, physical, 8);
AT(VmPmuDeviceRequest, bytes, 16);
AT(VmPmuDeviceRequest, package, 24);
AT(VmPmuDeviceRequest, operation, 28);

AT(VmPmuLayout, size, 0);
AT(VmPmuLayout, packages, 8);
AT(VmPmuLayout, cores, 12);
AT(VmPmuLayout, threads, 16);
AT(VmPmuLayout, flags, 20);
AT(VmPmuLayout, memory_per_package, 24);
AT(VmPmuLayout, packages_per_group, 32);
AT(VmPmuLayout, lent_cores, 36);
AT(VmPmuLayout, tiles, 40);
AT(VmPmuLayout, cluster_mode, 48);
AT(VmPmuLayout, memory_mode, 52);
AT(VmPmuLayout, mcdram, 56);

AT(VmPmuGuestWalk, real, 8);
AT(VmPmuGuestWalk, process_entry, 16);
AT(VmPmuGuestWalk, entries, 24);
AT(VmPmuGuestWalk, levels, 64);
AT(VmPmuGuestWalk, page_bits, 65);
AT(VmPmuGuestWalk, global, 66);
AT(VmPmuGuestWalk, has_process_entry, 67);

AT(VmPmuHostWalk, physical, 8);
AT(VmPmuHostWalk, entries, 16);
AT(VmPmuHostWalk, levels, 56);
AT(VmPmuHostWalk, page_bits, 57);

AT(VmPmuWalk, entries, 8);
AT(VmPmuWalk, levels, 48);
AT(VmPmuWalk, page_bits, 49);
AT(VmPmuWalk, global, 50);

AT(VmPmuAccess, address, 0);
AT(VmPmuAccess, physical, 8);
AT(VmPmuAccess, bytes, 16);
AT(VmPmuAccess, kind, 17);
AT(VmPmuAccess, flags, 18);
_Static_assert(sizeof(VmPmuAccess) == 24, "VmPmuAccess");

AT(VmPmuInstruction, address, 8);
AT(VmPmuInstruction, physical, 16);
AT(VmPmuInstruction, next_page, 24);
AT(VmPmuInstruction, target, 32);
AT(VmPmuInstruction, accesses, 40);
AT(VmPmuInstruction, access_count, 48);
AT(VmPmuInstruction, flags, 56);
AT(VmPmuInstruction, bytes, 60);
AT(VmPmuInstruction, micro_ops, 61);
AT(VmPmuInstruction, instruction_class, 62);
AT(VmPmuInstruction, segment_loads, 63);
AT(VmPmuInstruction, branch, 64);
AT(VmPmuInstruction, slot, 65);
AT(VmPmuInstruction, bundle, 72);
AT(VmPmuInstruction, function_state, 88);
AT(VmPmuInstruction, address_registers, 96);
AT(VmPmuInstruction, read_registers, 104);
AT(VmPmuInstruction, written_registers, 112);
AT(VmPmuInstruction, address_register_count, 120);
AT(VmPmuInstruction, read_register_count, 121);
AT(VmPmuInstruction, written_register_count, 122);
AT(VmPmuInstruction, width, 123);

AT(VmPmuDecoded, registers, 8);
AT(VmPmuDecoded, accesses, 28);
AT(VmPmuDecoded, access_count, 60);
AT(VmPmuDecoded, flags, 61);
AT(VmPmuDecoded, unit, 62);
_Static_assert(sizeof(VmPmuDecodedAccess) == 4 && VM_PMU_CODE_MODE_POWER_BIG_ENDIAN == 4, "the bytes of instructions");

AT(VmPmuOutcome, fetch_address, 8);
AT(VmPmuOutcome, flags, 16);
AT(VmPmuOutcome, latency, 20);
AT(VmPmuOutcome, fetch_latency, 24);
AT(VmPmuOutcome, cycles, 28);
AT(VmPmuOutcome, prediction, 32);
AT(VmPmuOutcome, data, 33);
AT(VmPmuOutcome, data_level, 34);
AT(VmPmuOutcome, translation, 35);
AT(VmPmuOutcome, fetch_translation, 36);
AT(VmPmuOutcome, fetch_source, 37);
AT(VmPmuOutcome, walk_source, 38);
AT(VmPmuOutcome, page_bits, 39);
AT(VmPmuOutcome, stall, 40);
AT(VmPmuOutcome, traits, 44);
AT(VmPmuOutcome, stage_cycles, 48);
AT(VmPmuOutcome, stages, 96);
AT(VmPmuOutcome, stall_reason, 98);
AT(VmPmuOutcome, store_outcome, 99);
AT(VmPmuOutcome, fabric_command, 100);
AT(VmPmuOutcome, reload_source, 101);
AT(VmPmuOutcome, fabric_scope, 102);
AT(VmPmuOutcome, fabric_retries, 103);

AT(VmPmuPlace, amount, 8);
AT(VmPmuPlace, signal, 16);
AT(VmPmuPlace, kind, 20);
AT(VmPmuPlace, controller, 24);
AT(VmPmuPlace, channel, 28);

AT(VmPmuInterconnect, requests_within, 8);
AT(VmPmuInterconnect, requests_beyond, 40);
AT(VmPmuInterconnect, lines_within, 72);
AT(VmPmuInterconnect, lines_beyond, 80);
AT(VmPmuInterconnect, package, 88);
AT(VmPmuInterconnect, requests_to_group, 96);
AT(VmPmuInterconnect, links, 128);
AT(VmPmuInterconnect, channels, 416);

AT(VmPmuMoved, within, 0);
AT(VmPmuMoved, beyond, 8);
_Static_assert(sizeof(VmPmuMoved) == 16, "VmPmuMoved");

AT(VmPmuTreeWriter, user, 8);
AT(VmPmuTreeWriter, begin_node, 16);
AT(VmPmuTreeWriter, property, 24);
AT(VmPmuTreeWriter, end_node, 32);

AT(VmPmuCounterNodes, flags, 8);
AT(VmPmuCounterNodes, first_phandle, 12);

_Static_assert(sizeof(VmPmuStatus) == 4, "VmPmuStatus");
_Static_assert(VM_PMU_ABI == 0, "the number that these offsets belong to");

/* Numbers stay the same, whatever has been added after them. */
static void signals_keep_their_numbers(void) {
  static const struct {
    const char *name;
    uint32_t number;
  } known[] = {
      {"cycles", 0}, {"instructions_retired", 4}, {"branches_retired", 14}, {"loads", 67}, {"stores", 68}, {"load_tlb_l2_misses", 407}, {"instruction_walk_directories", 412},
  };
  for (size_t place = 0; place < sizeof known / sizeof known[0]; place++) {
    uint32_t number;
    EXPECT_OK(vm_pmu_signal_named(known[place].name, &number));
    EXPECT(number == known[place].number);
  }
}

/* Every cell of the totals is that of its signal, and the cells of the deadlines follow a counter. */
static void cells_are_where_they_are_said_to_be(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  EXPECT(cells.signals > 407 && (uintptr_t)cells.total_cells % 8 == 0);
  for (uint32_t signal = 0; signal < cells.signals; signal++) {
    EXPECT(vm_pmu_deadline(&cells, signal) == VM_PMU_NEVER);
    EXPECT_OK(vm_pmu_advance(machine, 0, signal + 1, &signal, 1));
  }
  uint32_t had = 0;
  for (uint32_t signal = 0; signal < cells.signals; signal++) {
    const uint64_t *total = vm_pmu_total(&cells, signal);
    EXPECT(!total || *total == signal + 1);
    had += total ? 1 : 0;
  }
  EXPECT(had < cells.signals / 4);
  EXPECT(*cells.horizon == VM_PMU_NEVER);
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010004, 0 - (uint64_t)100));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x00520076));
  EXPECT(vm_pmu_deadline(&cells, VM_PMU_SIGNAL_CYCLES) == *vm_pmu_total(&cells, VM_PMU_SIGNAL_CYCLES) + 100);
  EXPECT(cells.pace_total == vm_pmu_total(&cells, cells.pace));
  EXPECT(*cells.horizon > *cells.pace_total && *cells.horizon <= *cells.pace_total + 100);
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

/* What another part counts is not counted, and changes no total of this one. */
static void signals_of_another_part_are_ignored(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCells cells = {.size = sizeof(VmPmuCells)};
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT_OK(vm_pmu_cells(machine, 0, &cells));
  EXPECT(cells.cell_of_signal[VM_PMU_SIGNAL_STALL_DECIMAL_CYCLES] == VM_PMU_NO_CELL); /* POWER9's */
  EXPECT(!vm_pmu_total(&cells, VM_PMU_SIGNAL_STALL_DECIMAL_CYCLES));
  EXPECT(vm_pmu_add(&cells, VM_PMU_SIGNAL_STALL_DECIMAL_CYCLES, 7) == 0 && !vm_pmu_reached(&cells, VM_PMU_SIGNAL_STALL_DECIMAL_CYCLES));
  for (uint32_t signal = 0; signal < cells.signals; signal++) {
    const uint64_t *total = vm_pmu_total(&cells, signal);
    EXPECT(!total || *total == 0);
  }
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

int main(void) {
  signals_keep_their_numbers();
  signals_of_another_part_are_ignored();
  cells_are_where_they_are_said_to_be();
  puts("layout: all is well");
  return 0;
}
