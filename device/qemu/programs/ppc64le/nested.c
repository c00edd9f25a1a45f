/*
 * nested CODE1 CODE2 CODE3 CODE4: runs a guest of its own, by KVM, that walks its pages in turn, and prints what PMC1 to PMC4 counted in it, each the
 * event of this code, in which no bit is set above the unit and the select but the number of the counter.
 *
 * Guest and host have radix trees. The guest has a page of 2 MiB for its code and 4,096 pages of 4 KiB for data. It loads once from each of them,
 * ten times in turn. A TLB of 1,024 entries that replaces the one used least recently never holds a page when its turn comes again: each load makes a
 * walk, and each walk reads at least the entry of the fourth level, at a real address of the guest that the tree of the host translates, and then
 * translates the page's.
 *
 * The guest counts by itself, as the host's counters do not count in a guest. It returns its counts by a call of the hypervisor that KVM does not know.
 */
#include <endian.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define MIB (1ul << 20)

/* Real addresses of the guest. */
#define MEMORY (64 * MIB)
#define CODE 0x1000
#define PROCESSES (2 * MIB)
#define ROOT (PROCESSES + 0x10000)
#define SECOND (PROCESSES + 0x20000)
#define THIRD (PROCESSES + 0x21000)
#define DATA_THIRD (PROCESSES + 0x22000)
#define FOURTH (PROCESSES + 0x23000)
#define DATA (32 * MIB)

/* Where the guest sees its data. */
#define DATA_ADDRESS (1ul << 30)
#define PAGES 4096
#define TURNS 10

/* Of a table: 512 entries of eight bytes. */
#define ENTRIES 512
#define NINE_BITS 9
#define THIRTEEN_BITS 13

/* Of an entry: it is valid, it is a page, which was used and changed, and the supervisor may do everything. */
#define VALID (1ul << 63)
#define PAGE (VALID | 1ul << 62 | 0x180 | 0xf)

/* Of a tree: addresses of 52 bits. */
#define WHOLE (1ul << 62 | 5 << 5 | THIRTEEN_BITS)

/* Of a partition: its processes have radix trees. */
#define RADIX (1ul << 63)

/* Of a code: the select and the unit; and where MMCR1 has them for PMC1 to PMC4, the most significant first. */
#define SELECT(code) ((code) & 0xff)
#define UNIT(code) ((code) >> 12 & 0xf)
#define SELECT_SHIFT(counter) (8 * (3 - (counter)))
#define UNIT_SHIFT(counter) (48 + 4 * (3 - (counter)))

/* Of MSR: 64 bits, translation of instructions and of data, and little-endian. */
#define MSR (1ul << 63 | 1 << 5 | 1 << 4 | 1)

/* r3: MMCR1, r4: the pages, r5: the first one, r6: the turns. */
asm(".pushsection .rodata\n"
    "code:\n"
    "    li 0, 0\n"
    "    mtspr 787, 0\n"
    "    mtspr 788, 0\n"
    "    mtspr 789, 0\n"
    "    mtspr 790, 0\n"
    "    mtspr 798, 3\n"
    "    li 0, 1\n"
    "    mtspr 795, 0\n"
    "1:  mtctr 4\n"
    "    mr 9, 5\n"
    "2:  ld 10, 0(9)\n"
    "    addi 9, 9, 4096\n"
    "    bdnz 2b\n"
    "    addic. 6, 6, -1\n"
    "    bne 1b\n"
    "    lis 0, 0x8000\n"
    "    mtspr 795, 0\n"
    "    mfspr 4, 787\n"
    "    mfspr 5, 788\n"
    "    mfspr 6, 789\n"
    "    mfspr 7, 790\n"
    "    li 3, 0x7ffc\n"
    "    sc 1\n"
    "code_end:\n"
    ".popsection\n");
extern const char code[], code_end[];

static long done(const char *what, long result)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static void put(char *memory, uint64_t table, uint64_t index, uint64_t entry)
{
    *(uint64_t *)(memory + table + index * 8) = htobe64(entry);
}

static void make_tables(char *memory)
{
    put(memory, PROCESSES, 0, WHOLE | ROOT);
    put(memory, ROOT, 0, VALID | SECOND | NINE_BITS);
    put(memory, SECOND, 0, VALID | THIRD | NINE_BITS);
    put(memory, SECOND, DATA_ADDRESS >> 30, VALID | DATA_THIRD | NINE_BITS);
    put(memory, THIRD, 0, PAGE);
    for (uint64_t table = 0; table < PAGES / ENTRIES; table++) {
        put(memory, DATA_THIRD, table, VALID | (FOURTH + table * ENTRIES * 8) | NINE_BITS);
    }
    for (uint64_t page = 0; page < PAGES; page++) {
        put(memory, FOURTH, page, PAGE | (DATA + page * 4096));
    }
}

int main(int argc, char **argv)
{
    char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct kvm_userspace_memory_region region = { .memory_size = MEMORY, .userspace_addr = (uintptr_t)memory };
    struct kvm_ppc_mmuv3_cfg tables = { .flags = KVM_PPC_MMUV3_RADIX | KVM_PPC_MMUV3_GTSE, .process_table = RADIX | PROCESSES };
    struct kvm_regs registers = { .pc = CODE, .msr = MSR };
    struct kvm_enable_cap papr = { .cap = KVM_CAP_PPC_PAPR };
    int kvm, machine, cpu;
    struct kvm_run *run;

    if (memory == MAP_FAILED || argc != 5) {
        fputs("usage: nested CODE1 CODE2 CODE3 CODE4\n", stderr);
        return 1;
    }
    for (int counter = 0; counter < 4; counter++) {
        uint64_t event = strtoull(argv[counter + 1], NULL, 16);

        registers.gpr[3] |= SELECT(event) << SELECT_SHIFT(counter) | UNIT(event) << UNIT_SHIFT(counter);
    }
    memcpy(memory + CODE, code, code_end - code);
    make_tables(memory);
    registers.gpr[4] = PAGES;
    registers.gpr[5] = DATA_ADDRESS;
    registers.gpr[6] = TURNS;

    kvm = done("/dev/kvm", open("/dev/kvm", O_RDWR));
    machine = done("KVM_CREATE_VM", ioctl(kvm, KVM_CREATE_VM, KVM_VM_PPC_HV));
    done("KVM_PPC_CONFIGURE_V3_MMU", ioctl(machine, KVM_PPC_CONFIGURE_V3_MMU, &tables));
    done("KVM_SET_USER_MEMORY_REGION", ioctl(machine, KVM_SET_USER_MEMORY_REGION, &region));
    cpu = done("KVM_CREATE_VCPU", ioctl(machine, KVM_CREATE_VCPU, 0));
    run = mmap(NULL, done("KVM_GET_VCPU_MMAP_SIZE", ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0)), PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
    if (run == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    done("KVM_ENABLE_CAP", ioctl(cpu, KVM_ENABLE_CAP, &papr));
    done("KVM_SET_REGS", ioctl(cpu, KVM_SET_REGS, &registers));
    done("KVM_RUN", ioctl(cpu, KVM_RUN, 0));
    if (run->exit_reason != KVM_EXIT_PAPR_HCALL) {
        fprintf(stderr, "nested: the guest stopped for reason %u instead of its call\n", run->exit_reason);
        return 1;
    }
    for (int number = 0; number < 4; number++) {
        printf("%lu%c", run->papr_hcall.args[number], number < 3 ? ' ' : '\n');
    }
    return 0;
}
