// A machine in C++: one comparison per block, host threads, levels that stay, devices.
#include <atomic>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

// A struct of the interface, with its size.
template <typename Struct> Struct sized() {
  Struct made = Struct();
  made.size = sizeof(Struct);
  return made;
}

class Machine {
public:
  explicit Machine(const char *part, VmPmuOptions options = sized<VmPmuOptions>()) {
    options.user = this;
    options.raise = [](void *user, uint32_t thread, uint32_t) { static_cast<Machine *>(user)->raised[thread]++; };
    options.lines = [](void *user, uint32_t thread, uint32_t levels) { static_cast<Machine *>(user)->levels[thread] = levels; };
    EXPECT_OK(vm_pmu_machine_create(part, &options, &handle));
  }
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;
  ~Machine() { vm_pmu_machine_destroy(handle); }

  VmPmuCells cells(uint32_t thread) const {
    VmPmuCells told = sized<VmPmuCells>();
    EXPECT_OK(vm_pmu_cells(handle, thread, &told));
    return told;
  }

  uint64_t read(uint32_t thread, VmPmuSpace space, uint64_t number) const {
    uint64_t value = 0;
    EXPECT_OK(vm_pmu_read(handle, thread, space, number, &value));
    return value;
  }

  VmPmuMachine *handle = nullptr;
  std::atomic<unsigned> raised[8] = {};
  std::atomic<uint32_t> levels[8] = {};
};

// One instruction per cycle, in blocks of ten; a block that does not fit is executed instruction by instruction.
void looks_once_a_block() {
  VmPmuOptions options = sized<VmPmuOptions>();
  options.pace_signal = VM_PMU_SIGNAL_CYCLES;
  options.pace_most = 1;
  Machine machine("k8", options);
  VmPmuCells cells = machine.cells(0);
  EXPECT(cells.pace == VM_PMU_SIGNAL_CYCLES);
  EXPECT(vm_pmu_room(&cells) == VM_PMU_NEVER);
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_MSR, 0xC0010004, 0 - uint64_t(1005)));
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x00520076));
  EXPECT(vm_pmu_room(&cells) == 1005);
  auto retire = [&](uint64_t instructions) {
    vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, instructions);
    vm_pmu_add(&cells, VM_PMU_SIGNAL_CYCLES, instructions);
    if (vm_pmu_due(&cells)) {
      EXPECT_OK(vm_pmu_check(machine.handle, 0));
    }
  };
  for (int block = 0; block < 100; block++) {
    EXPECT(vm_pmu_room(&cells) >= 10);
    retire(10);
  }
  EXPECT(machine.raised[0] == 0 && vm_pmu_room(&cells) == 5);
  for (int instruction = 1; instruction <= 10; instruction++) {
    retire(1);
    EXPECT(machine.raised[0] == (instruction >= 5 ? 1u : 0u));
  }
  EXPECT(machine.read(0, VM_PMU_SPACE_RDPMC, 0) == 5);
}

void threads_count_side_by_side() {
  VmPmuOptions options = sized<VmPmuOptions>();
  options.packages = 2;
  options.threads = 2;
  Machine machine("k8", options);
  std::vector<std::thread> hosts;
  for (uint32_t number = 0; number < 4; number++) {
    hosts.emplace_back([&machine, number] {
      VmPmuCells cells = machine.cells(number);
      EXPECT_OK(vm_pmu_write(machine.handle, number, VM_PMU_SPACE_MSR, 0xC0010004, 0 - uint64_t(1000)));
      EXPECT_OK(vm_pmu_write(machine.handle, number, VM_PMU_SPACE_MSR, 0xC0010000, 0x005200C0));
      for (int instruction = 0; instruction < 1500; instruction++) {
        vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
        if (vm_pmu_reached(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED)) {
          EXPECT_OK(vm_pmu_service(machine.handle, number));
        }
      }
      // The message of an error belongs to the host thread that made it.
      EXPECT(vm_pmu_last_error(nullptr, 0) == 0);
    });
  }
  for (std::thread &host : hosts) {
    host.join();
  }
  for (uint32_t number = 0; number < 4; number++) {
    EXPECT(machine.raised[number] == 1);
    EXPECT(machine.read(number, VM_PMU_SPACE_RDPMC, 0) == 500);
  }
}

// A northbridge counter follows both threads of its package, and the devices.
void devices_are_counted_with_their_package() {
  VmPmuOptions options = sized<VmPmuOptions>();
  options.threads = 2;
  Machine machine("k8", options);
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x004240EC));
  VmPmuDemand demand = sized<VmPmuDemand>();
  EXPECT_OK(vm_pmu_device_demand(machine.handle, 0, &demand));
  EXPECT(vm_pmu_wants(&demand, VM_PMU_SIGNAL_UPSTREAM_WRITES));
  VmPmuCells thread = machine.cells(1), devices = sized<VmPmuCells>();
  EXPECT_OK(vm_pmu_device_cells(machine.handle, 0, &devices));
  vm_pmu_add(&thread, VM_PMU_SIGNAL_UPSTREAM_WRITES, 2);
  vm_pmu_add(&devices, VM_PMU_SIGNAL_UPSTREAM_WRITES, 3);
  EXPECT_OK(vm_pmu_service_devices(machine.handle, 0));
  EXPECT_OK(vm_pmu_check_devices(machine.handle, 0));
  EXPECT(machine.read(0, VM_PMU_SPACE_RDPMC, 0) == 5);
}

// PMC5 counts instructions; its overflow is a level that stays until MMCR0 is written.
void levels_stay_until_the_guest_acts() {
  Machine machine("power9");
  EXPECT_OK(vm_pmu_set_context_power(machine.handle, 0, uint64_t(1) << 60, 1, 0));
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_SPR, 791, 0x7FFFFFFE)); // PMC5
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_SPR, 795, 0x04004000)); // MMCR0: PMAE, PMCjCE
  VmPmuCells cells = machine.cells(0);
  for (int instruction = 1; instruction <= 2; instruction++) {
    vm_pmu_add(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED, 1);
    if (vm_pmu_reached(&cells, VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED)) {
      EXPECT_OK(vm_pmu_service(machine.handle, 0));
    }
    EXPECT((machine.levels[0] == VM_PMU_LINE_INTERRUPT) == (instruction == 2));
  }
  uint32_t levels = 0;
  EXPECT_OK(vm_pmu_lines(machine.handle, 0, &levels));
  EXPECT(levels == VM_PMU_LINE_INTERRUPT);
  EXPECT_OK(vm_pmu_write(machine.handle, 0, VM_PMU_SPACE_SPR, 795, 0x80000000)); // frozen, nothing occurred
  EXPECT_OK(vm_pmu_lines(machine.handle, 0, &levels));
  EXPECT(levels == 0 && machine.levels[0] == 0);
}

} // namespace

int main() {
  looks_once_a_block();
  threads_count_side_by_side();
  devices_are_counted_with_their_package();
  levels_stay_until_the_guest_acts();
  puts("machine: all is well");
  return 0;
}
