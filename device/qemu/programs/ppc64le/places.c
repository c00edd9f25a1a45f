/*
 * places [N]: a process that goes from CPU to CPU, and uses what it left in other caches, N times (1 without an argument).
 *
 * In each turn, on the first CPU and on the first of the second half:
 *
 *   - it changes the protection of 256 pages, by which their entries in the page table are written and all CPUs lose their translations, stores a
 *     line and writes a function in each of them, and then loads more than no cache, its second level, or its third level has;
 *   - on every CPU, beginning with another one each time, it loads from each of these pages and calls the function in it, or calls it first.
 *
 * So lines, code and entries of page tables come from caches of every level of all cores, which have them clean or modified, and from memory. It has
 * no known counts.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 256
#define LINE 128
/* From one page to the next, so that not all lines are in the same set of a cache. */
#define STEP(page) (page + LINE)
#define SECOND_LEVEL (1 << 20)
#define THIRD_LEVEL (12 << 20)

static const uint32_t back = 0x4e800020;
static const size_t spoiled[] = { 0, SECOND_LEVEL, THIRD_LEVEL };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void stay_on(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        fail("sched_setaffinity");
    }
}

static char *map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    return memory;
}

static void load(volatile char *memory, size_t size, size_t step)
{
    for (size_t at = 0; at < size; at += step) {
        memory[at];
    }
}

static void call(char *memory, size_t size, size_t step)
{
    for (size_t at = 0; at < size; at += step) {
        __asm__ volatile("mtctr %0; bctrl" : : "r"(memory + at) : "lr", "ctr", "memory");
    }
}

static void write_all(char *memory, size_t size, size_t step)
{
    if (mprotect(memory, size, PROT_READ) != 0 || mprotect(memory, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        fail("mprotect");
    }
    for (size_t at = 0; at < size; at += step) {
        *(volatile uint32_t *)(memory + at) = back;
        ((volatile char *)memory)[at + LINE] = 1;
        __asm__ volatile("dcbst 0,%0; sync; icbi 0,%0; isync" : : "r"(memory + at) : "memory");
    }
}

int main(int count, char **arguments)
{
    int turns = count > 1 ? atoi(arguments[1]) : 1, cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    size_t page = getpagesize(), step = STEP(page), size = PAGES * step / page * page;
    char *memory = map(size), *rest = map(THIRD_LEVEL);

    for (int turn = 0; turn < turns * 3; turn++) {
        for (int writer = 0; writer < cpus; writer += cpus / 2) {
            stay_on(writer);
            write_all(memory, size - page, step);
            load(rest, spoiled[turn % 3], LINE);
            for (int other = 0; other < cpus; other++) {
                int first = (other + turn) & 1;

                stay_on((writer + turn + other * 5 + 1) % cpus);
                if (first) {
                    call(memory, size - page, step);
                }
                load(memory + LINE, size - page - LINE, step);
                if (!first) {
                    call(memory, size - page, step);
                }
            }
        }
    }
    return 0;
}
