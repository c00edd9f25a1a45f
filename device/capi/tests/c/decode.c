/* A translator in C decodes what it translates: a companion follows it with classes and registers, and its blocks have signals. */
#include <string.h>

#include "expect.h"

#define RETIRED VM_PMU_SIGNAL_INSTRUCTIONS_RETIRED

static bool told(const char *part) {
  char message[256];
  vm_pmu_last_error(message, sizeof message);
  return strstr(message, part) != NULL;
}

static const uint8_t add[] = {0x48, 0x03, 0x43, 0x08};              /* add rax, [rbx+8] */
static const uint8_t exchange[] = {0xF0, 0x48, 0x0F, 0xB1, 0x0B};   /* lock cmpxchg [rbx], rcx */
static const uint8_t jump[] = {0x74, 0x10};                         /* je, 16 bytes behind it */
static const uint8_t call[] = {0xE8, 0x00, 0x01, 0x00, 0x00};       /* call, 256 bytes behind it */
static const uint8_t store[] = {0xF3, 0xAA};                        /* rep stosb */
static const uint8_t vectors[] = {0x66, 0x0F, 0x58, 0xC1};          /* addpd xmm0, xmm1 */
static const uint8_t branch[] = {0x42, 0x00, 0xFF, 0xF0};           /* bdnz, 16 bytes before it */

static void decode(uint32_t mode, const uint8_t *bytes, size_t count, VmPmuInstruction *instruction, VmPmuDecoded *decoded) {
  memset(instruction, 0xEE, sizeof *instruction);
  memset(decoded, 0xEE, sizeof *decoded);
  instruction->size = sizeof *instruction;
  decoded->size = sizeof *decoded;
  EXPECT_OK(vm_pmu_decode(mode, bytes, count, 0x1000, instruction, decoded));
}

static void fills_what_a_companion_needs(void) {
  VmPmuInstruction instruction;
  VmPmuDecoded decoded;
  decode(VM_PMU_CODE_MODE_X86_BITS64, add, sizeof add, &instruction, &decoded);
  EXPECT(instruction.address == 0x1000 && instruction.bytes == 4 && instruction.micro_ops == 2);
  EXPECT(instruction.instruction_class == VM_PMU_CLASS_SIMPLE && instruction.width == 8 && instruction.prefixes == 0);
  EXPECT(instruction.flags == VM_PMU_INSTRUCTION_OPERATION && instruction.branch == VM_PMU_BRANCH_NONE);
  EXPECT(instruction.address_register_count == 1 && instruction.address_registers[0] == 3);
  EXPECT(instruction.read_register_count == 1 && instruction.read_registers[0] == 0);
  EXPECT(instruction.written_register_count == 2 && instruction.written_registers[0] + instruction.written_registers[1] == 16);
  EXPECT(instruction.address_registers == decoded.registers && instruction.access_count == 0 && instruction.accesses == NULL);
  EXPECT(decoded.flags == 0 && decoded.access_count == 1);
  EXPECT(decoded.accesses[0].bytes == 8 && decoded.accesses[0].kind == VM_PMU_ACCESS_KIND_LOAD && decoded.accesses[0].flags == 0);

  decode(VM_PMU_CODE_MODE_X86_BITS64, exchange, sizeof exchange, &instruction, &decoded);
  EXPECT(decoded.access_count == 2 && decoded.accesses[1].kind == VM_PMU_ACCESS_KIND_STORE);
  EXPECT(decoded.accesses[0].flags == VM_PMU_ACCESS_LOCKED && decoded.accesses[1].flags == VM_PMU_ACCESS_LOCKED);
  decode(VM_PMU_CODE_MODE_X86_BITS64, vectors, sizeof vectors, &instruction, &decoded);
  EXPECT(instruction.flags == (VM_PMU_INSTRUCTION_OPERATION | VM_PMU_INSTRUCTION_PACKED | VM_PMU_INSTRUCTION_FLOATING_POINT));
  EXPECT(instruction.elements == VM_PMU_ELEMENTS_DOUBLES && instruction.address_registers == NULL);
  decode(VM_PMU_CODE_MODE_X86_BITS64, store, sizeof store, &instruction, &decoded);
  EXPECT(decoded.flags == VM_PMU_DECODED_REPEATS && instruction.instruction_class == VM_PMU_CLASS_STRING && decoded.unit == VM_PMU_UNIT_UNKNOWN);
}

static void says_where_transfers_go(void) {
  VmPmuInstruction instruction;
  VmPmuDecoded decoded;
  decode(VM_PMU_CODE_MODE_X86_BITS64, jump, sizeof jump, &instruction, &decoded);
  EXPECT(instruction.branch == VM_PMU_BRANCH_CONDITIONAL && instruction.target == 0x1012);
  EXPECT(decoded.flags == (VM_PMU_DECODED_TARGET | VM_PMU_DECODED_CONDITIONAL) && !(instruction.flags & VM_PMU_INSTRUCTION_TAKEN));
  decode(VM_PMU_CODE_MODE_X86_BITS32, call, sizeof call, &instruction, &decoded);
  EXPECT(instruction.branch == VM_PMU_BRANCH_DIRECT_CALL && instruction.target == 0x1105 && decoded.flags == VM_PMU_DECODED_TARGET);
  EXPECT(instruction.flags & VM_PMU_INSTRUCTION_TAKEN);
  decode(VM_PMU_CODE_MODE_POWER_BIG_ENDIAN, branch, sizeof branch, &instruction, &decoded);
  EXPECT(instruction.branch == VM_PMU_BRANCH_CONDITIONAL && instruction.target == 0xFF0 && decoded.unit == VM_PMU_UNIT_BRANCH);
  EXPECT(instruction.read_register_count == 1 && instruction.read_registers[0] == 107);
  const uint8_t swapped[] = {0xF0, 0xFF, 0x00, 0x42};
  decode(VM_PMU_CODE_MODE_POWER_LITTLE_ENDIAN, swapped, sizeof swapped, &instruction, &decoded);
  EXPECT(instruction.target == 0xFF0);
}

static uint32_t amount(const VmPmuGrowth *signals, uint32_t length, uint32_t signal) {
  uint32_t total = 0;
  for (uint32_t index = 0; index < length; index++) total += signals[index].signal == signal ? signals[index].amount : 0;
  return total;
}

static void lists_what_a_block_adds(void) {
  VmPmuGrowth signals[16];
  uint32_t length = 0;
  EXPECT_OK(vm_pmu_decode_signals("knl", VM_PMU_CODE_MODE_X86_BITS64, vectors, sizeof vectors, 0, signals, 16, &length));
  EXPECT(amount(signals, length, RETIRED) == 1 && amount(signals, length, VM_PMU_SIGNAL_PACKED_VECTOR_OPS_RETIRED) == 1);
  /* A K8 has another word for it, and a Knights Landing none for that. */
  EXPECT(amount(signals, length, VM_PMU_SIGNAL_PACKED_SSE_INSTRUCTIONS) == 0);
  EXPECT_OK(vm_pmu_decode_signals("k8", VM_PMU_CODE_MODE_X86_BITS64, vectors, sizeof vectors, 0, signals, 16, &length));
  EXPECT(amount(signals, length, VM_PMU_SIGNAL_PACKED_SSE_INSTRUCTIONS) == 1);
  EXPECT_OK(vm_pmu_decode_signals("power9", VM_PMU_CODE_MODE_POWER_BIG_ENDIAN, branch, sizeof branch, 0x1000, signals, 16, &length));
  EXPECT(amount(signals, length, VM_PMU_SIGNAL_BRANCHES_RETIRED) == 1 && amount(signals, length, VM_PMU_SIGNAL_BRANCHES_BACKWARD) == 1);
  EXPECT(amount(signals, length, VM_PMU_SIGNAL_BRANCHES_TAKEN) == 0);
  /* What does not fit is counted. */
  uint32_t again = 0;
  signals[1].signal = 77777;
  EXPECT_OK(vm_pmu_decode_signals("power9", VM_PMU_CODE_MODE_POWER_BIG_ENDIAN, branch, sizeof branch, 0x1000, signals, 1, &again));
  EXPECT(again == length && signals[1].signal == 77777);
}

/* A load of one line twice, by decoded instructions: one miss. */
static void is_followed(void) {
  VmPmuMachine *machine = NULL;
  VmPmuCompanion *companion = NULL;
  VmPmuInstruction instruction;
  VmPmuDecoded decoded;
  uint64_t misses = 0;
  EXPECT_OK(vm_pmu_machine_create("k8", NULL, &machine));
  EXPECT_OK(vm_pmu_write(machine, 0, VM_PMU_SPACE_MSR, 0xC0010000, 0x00420041)); /* DATA_CACHE_MISSES, OS, EN */
  EXPECT_OK(vm_pmu_companion_create("k8", NULL, &companion));
  EXPECT_OK(vm_pmu_follow_sync(companion, machine, 0, NULL));
  for (unsigned round = 0; round < 2; round++) {
    decode(VM_PMU_CODE_MODE_X86_BITS64, add, sizeof add, &instruction, &decoded);
    VmPmuAccess access = {.address = 0x8008, .physical = 0x8008, .bytes = (uint8_t)decoded.accesses[0].bytes, .kind = decoded.accesses[0].kind};
    instruction.physical = instruction.address;
    instruction.accesses = &access;
    instruction.access_count = 1;
    EXPECT_OK(vm_pmu_follow(companion, 0, &instruction));
    EXPECT_OK(vm_pmu_follow_deliver(companion, machine, 0, NULL, 0, NULL, NULL, NULL));
  }
  EXPECT_OK(vm_pmu_read(machine, 0, VM_PMU_SPACE_RDPMC, 0, &misses));
  EXPECT(misses == 1);
  EXPECT_OK(vm_pmu_companion_destroy(companion));
  EXPECT_OK(vm_pmu_machine_destroy(machine));
}

static void misuse(void) {
  VmPmuInstruction instruction = {.size = sizeof(VmPmuInstruction)};
  VmPmuDecoded decoded = {.size = sizeof(VmPmuDecoded)};
  const uint8_t zeros[4] = {0};
  const uint32_t x86 = VM_PMU_CODE_MODE_X86_BITS64, power = VM_PMU_CODE_MODE_POWER_BIG_ENDIAN;
  EXPECT(vm_pmu_decode(x86, add, 2, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_INSTRUCTION && told("end before"));
  EXPECT(vm_pmu_decode(power, zeros, 4, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_INSTRUCTION && told("no instruction"));
  EXPECT(vm_pmu_decode(power, zeros, 3, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_INSTRUCTION);
  EXPECT(vm_pmu_decode(5, zeros, 4, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_ARGUMENT && told("mode"));
  EXPECT(vm_pmu_decode(x86, NULL, 4, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_decode(x86, add, 4, 0, NULL, &decoded) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_decode(x86, add, 4, 0, &instruction, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  decoded.size = 0;
  EXPECT(vm_pmu_decode(x86, add, 4, 0, &instruction, &decoded) == VM_PMU_STATUS_ERROR_ARGUMENT && told("sizeof(VmPmuDecoded)"));
  EXPECT(instruction.bytes == 0);
  VmPmuGrowth signals[1];
  EXPECT(vm_pmu_decode_signals("z80", x86, add, 4, 0, signals, 1, NULL) == VM_PMU_STATUS_ERROR_NAME);
  EXPECT(vm_pmu_decode_signals("k8", x86, add, 4, 0, NULL, 1, NULL) == VM_PMU_STATUS_ERROR_ARGUMENT);
  EXPECT(vm_pmu_decode_signals("k8", x86, add, 1, 0, signals, 1, NULL) == VM_PMU_STATUS_ERROR_INSTRUCTION);
}

int main(void) {
  fills_what_a_companion_needs();
  says_where_transfers_go();
  lists_what_a_block_adds();
  is_followed();
  misuse();
  puts("decode: all is well");
  return 0;
}
