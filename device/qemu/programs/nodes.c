/*
 * nodes: reads memory of its own node, and of the other one, and prints what was counted in each, as
 *
 *     node lines node-loads node-load-misses
 *
 * It runs on CPU 0 alone. 4 MiB of each node are 65,536 lines of 64 bytes; a walk loads once from each of them. No cache of less than 4 MiB that
 * replaces the line used least recently still has a line when its turn comes again, so that each line is a request to memory in each of the ten walks
 * that are counted. A walk before them is not counted: it writes back what was stored to the pages when they were made.
 *
 * The two events are those that Linux has for every processor: loads of a node, and those that another node answers. What they count besides the
 * program's loads are its few others, and the kernel's.
 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODES 2
#define SIZE (4 << 20)
#define LINE 64
#define WALKS 10

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Memory of one node, with all of its pages there. */
static volatile char *memory_of(int node)
{
    unsigned long nodes = 1UL << node;
    volatile char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    if (syscall(SYS_mbind, memory, SIZE, MPOL_BIND, &nodes, 8 * sizeof nodes, 0) != 0) {
        fail("mbind");
    }
    for (size_t at = 0; at < SIZE; at += LINE) {
        memory[at] = 1;
    }
    return memory;
}

/* A counter of this program for the accesses to nodes, or for those that miss the own one. */
static int counter(uint64_t result, int group)
{
    struct perf_event_attr event = {
        .type = PERF_TYPE_HW_CACHE,
        .size = sizeof event,
        .config = PERF_COUNT_HW_CACHE_NODE | PERF_COUNT_HW_CACHE_OP_READ << 8 | result << 16,
        .disabled = group < 0,
    };
    int file = syscall(SYS_perf_event_open, &event, 0, -1, group, 0);

    if (file < 0) {
        fail("perf_event_open");
    }
    return file;
}

static uint64_t value(int file)
{
    uint64_t count;

    if (read(file, &count, sizeof count) != sizeof count) {
        fail("read");
    }
    return count;
}

static void walk(volatile char *memory, int times)
{
    while (times-- > 0) {
        for (size_t at = 0; at < SIZE; at += LINE) {
            memory[at];
        }
    }
}

int main(void)
{
    cpu_set_t first;

    CPU_ZERO(&first);
    CPU_SET(0, &first);
    if (sched_setaffinity(0, sizeof first, &first) != 0) {
        fail("sched_setaffinity");
    }
    for (int node = 0; node < NODES; node++) {
        volatile char *memory = memory_of(node);
        int accesses = counter(PERF_COUNT_HW_CACHE_RESULT_ACCESS, -1);
        int misses = counter(PERF_COUNT_HW_CACHE_RESULT_MISS, accesses);

        walk(memory, 1);
        ioctl(accesses, PERF_EVENT_IOC_ENABLE, 0);
        walk(memory, WALKS);
        ioctl(accesses, PERF_EVENT_IOC_DISABLE, 0);
        printf("%d %d %llu %llu\n", node, WALKS * (SIZE / LINE), (unsigned long long)value(accesses), (unsigned long long)value(misses));
        close(misses);
        close(accesses);
    }
    return 0;
}
